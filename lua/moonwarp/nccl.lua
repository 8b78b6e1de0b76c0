-- SPDX-License-Identifier: MIT
--
-- Collective operations of several devices, by NCCL on CUDA devices. On CPU devices the same calls work in memory, so
-- that scripts need no change.
--
--   local comm = nccl.communicator { mw.device "cuda:0", mw.device "cuda:1" }
--   comm:all_reduce({ y0, y1 }, { x0, x1 }, { streams = { s0, s1 } })
--
-- Ranks count from 0, as in NCCL. Each call takes an array per device of this process, in the communicator's order.

local api = require "moonwarp.base.api"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local library = require "moonwarp.library"
local lists = require "moonwarp.base.lists"
local memory = require "moonwarp.nccl_memory"
local nearest = require "moonwarp.base.nearest"
local schema = require "moonwarp.base.schema"

local OPERATIONS <const> = { "op", "sum", values = { sum = 0, prod = 1, max = 2, min = 3, avg = 4 } }
local ROOT <const> = { "root", 0, integer = true }
local SIDES <const> = "n n2? n3? n4?"

-- For each element type, the types of so many arrays and NCCL's number of the type.
local function types(count)
  local out = {}
  for code, name in pairs { [0] = "i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16" } do
    out[(name .. " "):rep(count - 1) .. name] = { type = code }
  end
  return out
end

local function both(call, more)
  return { object = "communicator", types = types(2), options = more, cuda = call,
           arrays = { { "out", SIDES, writes = true, in_place = true, wide = true },
                      { "in", "m m2? m3? m4?", wide = true } } }
end

local function single(call, writes, more)
  return { object = "communicator", types = types(1), options = more, cuda = call,
           arrays = { { "x", SIDES, reads = true, writes = writes, wide = true } } }
end

local rows = {
  all_reduce = both("ncclAllReduce(in, out, in.count, type, op, self, queue)", { OPERATIONS }),
  reduce = both("ncclReduce(in, out, in.count, type, op, root, self, queue)", { OPERATIONS, ROOT }),
  all_gather = both "ncclAllGather(in, out, in.count, type, self, queue)",
  reduce_scatter = both("ncclReduceScatter(in, out, out.count, type, op, self, queue)", { OPERATIONS }),
}

local functions = library.new {
  name = "moonwarp.nccl",
  cuda = { library = "libnccl.so.2", explain = "ncclGetErrorString",
           install = "apt-get install libnccl2, or pip install nvidia-nccl-cu13" },
  functions = lists.merged(rows, {
    init = { arrays = { { "handles", "n", writes = true }, { "devices", "n" } }, types = { ["u64 i32"] = {} },
             cuda = "ncclCommInitAll(handles, n, devices)" },
    unique = { arrays = { { "id", "16", writes = true } }, types = { u64 = {} }, cuda = "ncclGetUniqueId(id)" },
    join = { makes = "communicator", arrays = { { "id", "16" } }, types = { u64 = {} },
             options = { { "ranks", 1, integer = true }, { "rank", 0, integer = true } },
             cuda = { one = "ncclCommInitRankScalable(&self, ranks, rank, 1, id, 0)",
                      close = "ncclCommDestroy(self)" } },
    member = { makes = "communicator", arrays = { { "handle", "1" } }, types = { u64 = {} },
               cuda = { one = "memcpy(&self, handle, 8) -> none", close = "ncclCommDestroy(self)" } },
    group_start = { object = "communicator", cuda = "ncclGroupStart()" },
    group_end = { object = "communicator", cuda = "ncclGroupEnd()" },
    broadcast = single("ncclBroadcast(x, x, x.count, type, root, self, queue)", true, { ROOT }),
    send = single("ncclSend(x, x.count, type, peer, self, queue)", false, { { "peer", 0, integer = true } }),
    recv = single("ncclRecv(x, x.count, type, peer, self, queue)", true, { { "peer", 0, integer = true } }),
  }),
}

-- ---- on CUDA devices ---------------------------------------------------------------------------------

local nccl_calls = {}

-- NCCL's handles, one per device; each is an object of its device, whose end destroys it.
local function members_of(devices)
  local handles = devices[1]:pinned("u64", #devices)
  functions.init(handles, devices[1]:pinned("i32", lists.map(devices, function(dev)
    return math.tointeger(dev:id():match ":(%d+)$") or 0
  end)))
  return lists.map(devices, function(dev, i) return functions.member(dev:pinned("u64", { handles:get(i) })) end)
end

local group_guard = { __close = function(self, problem)
  if problem then pcall(functions.group_end, self.first) else functions.group_end(self.first) end
end }

function nccl_calls.group(self, body)
  functions.group_start(self.members[1])
  local _ <close> = self.guard
  body()
end

for name in pairs(rows) do
  local call = functions[name]
  nccl_calls[name] = function(self, o, outs, ins)
    nccl_calls.group(self, function()
      for i, member in ipairs(self.members) do call(member, outs[i], ins[i], o[i]) end
    end)
  end
end

function nccl_calls.broadcast(self, o, xs)
  nccl_calls.group(self, function()
    for i, member in ipairs(self.members) do functions.broadcast(member, xs[i], o[i]) end
  end)
end

-- By sends and receives, which every version of NCCL has.
function nccl_calls.all_to_all(self, o, outs, ins)
  nccl_calls.group(self, function()
    for i, member in ipairs(self.members) do
      local count = #ins[i] // self.count
      for r = 0, self.count - 1 do
        local last = { peer = r, stream = o[i].stream }
        functions.send(member, ins[i]:view(r * count + 1, count), last)
        functions.recv(member, outs[i]:view(r * count + 1, count), last)
      end
    end
  end)
end

function nccl_calls.send(self, i, x, o) functions.send(self.members[i], x, o) end
function nccl_calls.recv(self, i, x, o) functions.recv(self.members[i], x, o) end

function nccl_calls.close(self)
  for _, member in ipairs(self.members) do member:close() end
end

local NONE <const>, WEAK <const> = {}, { __mode = "k" }

-- ---- communicators -----------------------------------------------------------------------------------

local Communicator = { __name = "communicator" }
Communicator.__index = Communicator

function Communicator:__tostring()
  return ("communicator of %s"):format(table.concat(self.ids, ", "))
end

-- What is known of an array of the communicator: its place, element type and number of elements.
local function facts_of(self, name, which, i, x)
  local place = core.type(x) == "array" and self.places[x:device()]
  if not place then
    failure.invalid("%s: %s[%d] is an array of %s, got %s", name, which, i, self.ids[i],
      core.type(x) == "array" and tostring(x) or core.type(x) or type(x))
  end
  self.known[x] = { place = place, dtype = x:dtype(), count = #x }
  return self.known[x]
end

-- Every rank needs an array on its device, of one type and length. An error inside a group would hang the others.
local function check_arrays(self, name, which, xs)
  if type(xs) ~= "table" then failure.invalid("%s: %s: a list of arrays expected, got %s", name, which, type(xs)) end
  if which == "ins" and type(next(xs)) == "string" then
    failure.invalid("%s: ins: a list of arrays expected, got options, which are the third argument", name)
  end
  local list, known, first = self.list, self.known, nil
  if #xs > #list then
    failure.invalid("%s: %s are %d arrays, one for each of the %d devices is wanted", name, which, #xs, #list)
  end
  for i = 1, #list do
    local x = xs[i]
    local facts = x and known[x] or facts_of(self, name, which, i, x)
    first = first or facts
    if facts.place ~= i then
      failure.invalid("%s: %s[%d] is an array of %s, got %s", name, which, i, self.ids[i], tostring(x))
    end
    if facts.dtype ~= first.dtype or #x ~= first.count then -- or it is closed
      failure.invalid("%s: %s[%d] is %s, and %s[1] %s: one type and length for all", name, which, i, tostring(x), which,
        tostring(xs[1]))
    end
  end
  return first
end

-- Checks both lists: one type, and in_times elements of an output for out_times of an input.
local function check_both(self, name, outs, ins, out_times, in_times)
  local out, input = check_arrays(self, name, "outs", outs), check_arrays(self, name, "ins", ins)
  if out.dtype ~= input.dtype or out.count * in_times ~= input.count * out_times then
    failure.invalid("%s: ins are %s, and outs %s: the type must be the same, and outs must have %d elements", name,
      tostring(ins[1]), tostring(outs[1]), input.count * out_times // in_times)
  end
end

local function method(name, body)
  Communicator[name] = function(self, a, b, c)
    if getmetatable(self) ~= Communicator or not self.calls then
      failure.invalid("%s: an open communicator expected; methods take a colon, as in comm:%s(...)", name, name)
    end
    return body(self, a, b, c)
  end
end

local function check_options(self, name, o, allowed)
  schema.options(name, o, allowed)
  if o.op and not OPERATIONS.values[o.op] then
    failure.invalid("%s: there is no op '%s'; %s", name, o.op, nearest.hint(o.op, OPERATIONS.values))
  end
  if o.root and (o.root < 0 or o.root >= self.count) then
    failure.invalid("%s: root is a rank from 0 to %d, got %d", name, self.count - 1, o.root)
  end
  if o.streams and #o.streams ~= #self.list then
    failure.invalid("%s: streams are a list of one stream for each of the %d devices", name, #self.list)
  end
end

local function is_split_of(kept, name, o)
  local streams = o.streams or NONE
  for i = 1, #kept do if kept[i].stream ~= streams[i] then return false end end
  return kept.name == name and kept.op == o.op and kept.root == o.root and kept.streams == o.streams
end

-- The options of a call for each rank. They are kept with the table, so that a table that is used again costs less.
local function split(self, name, o, allowed)
  o = o or NONE
  local kept = self.split[o]
  if kept and is_split_of(kept, name, o) then return kept end
  check_options(self, name, o, allowed)
  kept = { name = name, op = o.op, root = o.root, streams = o.streams }
  for i = 1, #self.list do kept[i] = { op = o.op, root = o.root, stream = (o.streams or NONE)[i] } end
  self.split[o] = kept
  return kept
end

local function reducer(name, out_times, in_times, allowed)
  method(name, function(self, outs, ins, o)
    o = split(self, name, o, allowed)
    ins = ins or outs
    check_both(self, name, outs, ins, out_times or self.count, in_times or self.count)
    self.calls[name](self, o, outs, ins)
    return outs
  end)
end

reducer("all_reduce", 1, 1, { op = "string", streams = "table" })
reducer("reduce", 1, 1, { op = "string", root = "integer", streams = "table" })
reducer("all_gather", nil, 1, { streams = "table" })
reducer("reduce_scatter", 1, nil, { op = "string", streams = "table" })

method("broadcast", function(self, xs, o)
  o = split(self, "broadcast", o, { root = "integer", streams = "table" })
  check_arrays(self, "broadcast", "xs", xs)
  self.calls.broadcast(self, o, xs)
  return xs
end)

-- One rank may write what another still has to read.
local function check_apart(name, outs, ins)
  for i, out in ipairs(outs) do
    local to, from = out:address(), ins[i]:address()
    if to < from + ins[i]:nbytes() and from < to + out:nbytes() then
      failure.invalid("%s: outs[%d] and ins[%d] share memory: it does not work in place, give other arrays as outs",
        name, i, i)
    end
  end
end

method("all_to_all", function(self, outs, ins, o)
  o = split(self, "all_to_all", o, { streams = "table" })
  check_both(self, "all_to_all", outs, ins, 1, 1)
  check_apart("all_to_all", outs, ins)
  if #ins[1] % self.count ~= 0 then
    failure.invalid("all_to_all: %d elements are not a multiple of the %d ranks", #ins[1], self.count)
  end
  self.calls.all_to_all(self, o, outs, ins)
  return outs
end)

local MESSAGE <const> = { stream = "stream" }

-- A send or a receive; the array's device tells which rank makes the call.
local function transfer(name)
  method(name, function(self, x, peer, o)
    local i = core.type(x) == "array" and self.places[x:device()]
    if not i then
      failure.invalid("%s: an array of one of the communicator's devices expected, got %s", name, tostring(x))
    end
    if math.type(peer) ~= "integer" or peer < 0 or peer >= self.count then
      failure.invalid("%s: a rank from 0 to %d expected, got %s", name, self.count - 1, tostring(peer))
    end
    if #self.list > 1 and not self.grouped then
      failure.invalid("%s: of several devices of one process, a send and its receive belong in one comm:group(f)", name)
    end
    self.calls[name](self, i, x, { peer = peer, stream = schema.options(name, o, MESSAGE).stream })
    return x
  end)
end

transfer "send"
transfer "recv"

method("group", function(self, body)
  if type(body) ~= "function" then failure.invalid("group: a function expected, got %s", type(body)) end
  local before = self.grouped
  self.grouped = true
  local _ <close> = setmetatable({}, { __close = function() self.grouped = before end })
  self.calls.group(self, body)
end)

method("ranks", function(self) return self.count end)
method("rank", function(self) return self.first end)
method("devices", function(self) return { table.unpack(self.list) } end)

function Communicator:close()
  if self.calls then self.calls.close(self) end
  self.calls = nil
end

Communicator.__close = Communicator.close

local nccl = { methods = Communicator } -- for documentation

local function new_communicator(devices, count)
  return setmetatable({ list = { table.unpack(devices) }, count = count, first = 0, places = {},
                        known = setmetatable({}, WEAK), ids = lists.map(devices, function(dev) return dev:id() end),
                        split = setmetatable({}, WEAK) }, Communicator)
end

local function use_nccl(self, members)
  self.calls, self.members = nccl_calls, members
  self.guard = setmetatable({ first = members[1] }, group_guard)
end

-- NCCL needs a GPU for each rank.
local function have_own_gpus(dev)
  local mpi <const> = require "moonwarp.mpi"
  local all = mpi.all_gather(dev:kind() == "gpu" and dev:properties().uuid or "")
  return #lists.unique(all, function(uuid) return uuid end) == #all and not lists.has(all, "")
end

-- The communicator of the ranks of an MPI job, each with its device.
local function communicator_of_job()
  local mpi <const>, dev = require "moonwarp.mpi", require("moonwarp").device()
  local self = new_communicator({ dev }, mpi.size())
  self.places[dev], self.first, self.meet = 1, mpi.rank(), require("moonwarp.mpi_calls").meet
  if not have_own_gpus(dev) then
    self.calls = require "moonwarp.nccl_mpi"
    return self
  end
  local id = dev:pinned("u64", 16)
  if mpi.rank() == 0 then functions.unique(id) end
  id:upload(mpi.broadcast(id:totable()))
  use_nccl(self, { functions.join(dev, id, { ranks = self.count, rank = mpi.rank() }) })
  return self
end

--- A communicator of devices of this process, whose ranks are their places in the list. Without devices, that of the
--- ranks of an MPI job, each with the device that mw.device() returns.
---@param devices device[]?   all of one kind, each once
---@return any communicator
nccl.communicator = api.func("nccl.communicator", 1, function(devices)
  if devices == nil then return communicator_of_job() end
  if type(devices) ~= "table" or #devices == 0 then
    failure.invalid("nccl.communicator: a list of devices expected, got %s", core.type(devices) or type(devices))
  end
  for i = 1, #devices do -- there may be a hole
    local dev = devices[i]
    if core.type(dev) ~= "device" or dev:kind() ~= devices[1]:kind() then
      failure.invalid("nccl.communicator: devices of one kind expected, got %s as number %d", tostring(dev), i)
    end
  end
  local self = new_communicator(devices, #devices)
  for i, dev in ipairs(devices) do
    if self.places[dev] then
      failure.invalid("nccl.communicator: each device once expected, got %s as number %d and %d", dev:id(),
        self.places[dev], i)
    end
    self.places[dev] = i
  end
  if devices[1]:kind() == "gpu" then
    use_nccl(self, members_of(devices))
  else
    self.calls = memory
    memory.open(self)
  end
  return self
end)

return nccl
