-- SPDX-License-Identifier: MIT
--
-- The calls of moonwarp.nccl on CPU devices, which access each other's memory: copies and kernels in the streams of the
-- devices, which wait for one another before and after. A sum begins with the rank's own part, then takes the others in
-- order.

local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local integer = require "moonwarp.base.integer"
local lists = require "moonwarp.base.lists"
local own_kernels = require "moonwarp.own_kernels"

local memory = {}

local BLOCK <const> = 256

--- Checks that the devices reach each other.
---@param self table  the communicator
function memory.open(self)
  local first = self.list[1]
  for i = 2, #self.list do
    local id = self.list[i]:id()
    local peer = lists.find(first:peers(), function(one) return one.id == id and one.access end)
    if not peer then
      failure.invalid("nccl.communicator: %s does not reach %s; dev:peers() lists what it reaches",
        first:id(), id)
    end
  end
  self.streams = lists.map(self.list, function(dev) return dev:default_stream() end)
end

-- Later work in each stream waits for earlier work in all of them.
local function meet(streams)
  local main = streams[1]
  for i = 2, #streams do main:wait(streams[i]:record()) end
  local met = main:record()
  for i = 2, #streams do streams[i]:wait(met) end
end

-- body(i, stream) for each rank in its own stream, between two points where all streams wait for each other.
local function together(self, o, body)
  local streams = o.streams or self.streams
  meet(streams)
  for i, stream in ipairs(streams) do body(i, stream) end
  meet(streams)
end

local function launch(self, i, stream, x, name, ...)
  local kernel = own_kernels.kernel(self.list[i], "moonwarp/nccl.cu", name)
  kernel:prepare { grid = integer.ceil_div(#x, BLOCK), block = BLOCK, stream = stream }(x, ...)
end

--- x = x / by, in the stream.
function memory.divide(self, rank, stream, x, by)
  launch(self, rank, stream, x, ("divide<%s>"):format(dtypes[x:dtype()].cpp), by, #x)
end

-- out = the operation over the inputs, from element `first` on; out may be that part of the rank's own input.
local function reduce(self, rank, stream, o, out, ins, first)
  local count, cpp = #out, dtypes[out:dtype()].cpp
  if cpp == dtypes.f16.cpp or cpp == dtypes.bf16.cpp then
    failure.invalid("%s: f16 and bf16 are reduced only on CUDA devices, got %s", o.name, tostring(out))
  end
  if out ~= ins[rank] then out:copy(ins[rank], { from = first, count = count, stream = stream }) end
  for i, input in ipairs(ins) do
    if i ~= rank then
      local part = #input == count and input or input:view(first, count)
      launch(self, rank, stream, out, ("combine<%s, moonwarp::%s>"):format(cpp, (o.op or "sum"):upper()), part, count)
    end
  end
  if o.op == "avg" then memory.divide(self, rank, stream, out, #ins) end
end

local function copy(x, from, stream)
  if x ~= from then x:copy(from, { stream = stream }) end
end

-- The first rank's result is copied to the others.
function memory.all_reduce(self, o, outs, ins)
  local streams = o.streams or self.streams
  meet(streams)
  reduce(self, 1, streams[1], o, outs[1], ins, 1)
  together(self, o, function(i, stream) copy(outs[i], outs[1], stream) end)
end

function memory.reduce(self, o, outs, ins)
  together(self, o, function(i, stream)
    if i == (o.root or 0) + 1 then reduce(self, i, stream, o, outs[i], ins, 1) end
  end)
end

function memory.reduce_scatter(self, o, outs, ins)
  together(self, o, function(i, stream) reduce(self, i, stream, o, outs[i], ins, (i - 1) * #outs[i] + 1) end)
end

function memory.broadcast(self, o, xs)
  together(self, o, function(i, stream) copy(xs[i], xs[(o.root or 0) + 1], stream) end)
end

function memory.all_gather(self, o, outs, ins)
  together(self, o, function(i, stream)
    for k, input in ipairs(ins) do outs[i]:copy(input, { to = (k - 1) * #input + 1, stream = stream }) end
  end)
end

function memory.all_to_all(self, o, outs, ins)
  local count = #ins[1] // self.count
  together(self, o, function(i, stream)
    for k, input in ipairs(ins) do
      outs[i]:copy(input, { from = (i - 1) * count + 1, to = (k - 1) * count + 1, count = count, stream = stream })
    end
  end)
end

-- ---- sends and receives ------------------------------------------------------------------------------

function memory.send(self, i, x, o)
  lists.append(self.sent, { { from = i, to = o.peer + 1, x = x, stream = o.stream or self.streams[i] } })
end

function memory.recv(self, i, x, o)
  lists.append(self.due, { { from = o.peer + 1, to = i, x = x, stream = o.stream or self.streams[i] } })
end

local function take_sent(self, due)
  for i, one in ipairs(self.sent) do
    if one.from == due.from and one.to == due.to then return table.remove(self.sent, i) end
  end
end

-- Each receive takes the first matching send.
local function deliver(self)
  for _, due in ipairs(self.due) do
    local sent = take_sent(self, due)
    if not sent or #sent.x ~= #due.x or sent.x:dtype() ~= due.x:dtype() then
      failure.invalid("recv: rank %d expects %s of rank %d, which sends %s", due.to - 1, tostring(due.x), due.from - 1,
        sent and tostring(sent.x) or "nothing in this group")
    end
    due.stream:wait(sent.stream:record())
    due.x:copy(sent.x, { stream = due.stream })
    sent.stream:wait(due.stream:record())
  end
  local left = self.sent[1]
  if left then
    failure.invalid("send: rank %d sends %s to rank %d, which receives nothing of it in this group", left.from - 1,
      tostring(left.x), left.to - 1)
  end
end

function memory.group(self, body)
  if self.sent then return body() end -- in another group
  self.sent, self.due = {}, {}
  local _ <close> = setmetatable({}, { __close = function() self.sent, self.due = nil, nil end })
  body()
  deliver(self)
end

function memory.close() end

return memory
