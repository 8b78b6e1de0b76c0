-- SPDX-License-Identifier: MIT
--
-- The calls of moonwarp.nccl through MPI, for the ranks of a job that have no GPU each. A call begins when the array's
-- stream has come so far, and is done when it returns, or with its group.

local calls = require "moonwarp.mpi_calls"
local failure = require "moonwarp.base.failure"
local memory = require "moonwarp.nccl_memory"

local ranks = {}

-- x: the array whose elements are counted; out and from: the memory that MPI writes and reads.
local function run(o, kind, x, count, out, from)
  calls.collective("nccl." .. o.name, kind, "groups", out, from, count, x:dtype(), o.op or "sum", o.root or 0)
end

-- The call in the memory of out, which has this rank's input where MPI looks for it: `at` is its first element.
local function in_place(self, o, kind, out, input, at, count)
  local stream = o[1].stream or self.list[1]:default_stream()
  local own = #input == #out and out or out:view(at, #input)
  if own:address() ~= input:address() then own:copy(input, { stream = stream }) end
  local where = calls.memory(out, stream, true)
  run(o, kind, out, count, where)
  calls.settle(out, where, stream, true)
  if o.op == "avg" then memory.divide(self, 1, stream, out, self.count) end
end

local function check_type(name, x)
  if x:dtype():find "f16$" then
    failure.invalid("%s: f16 and bf16 are reduced only on CUDA devices, got %s", name, tostring(x))
  end
end

function ranks.all_reduce(self, o, outs, ins)
  check_type(o.name, outs[1])
  in_place(self, o, "all_reduce", outs[1], ins[1], 1, #outs[1])
end

function ranks.reduce(self, o, outs, ins)
  check_type(o.name, outs[1])
  if calls.place.rank == (o.root or 0) then
    return in_place(self, o, "reduce", outs[1], ins[1], 1, #outs[1])
  end
  local from = calls.memory(ins[1], o[1].stream, true)
  run(o, "reduce", ins[1], #ins[1], nil, from)
  calls.settle(ins[1], from, o[1].stream, false)
end

function ranks.all_gather(self, o, outs, ins)
  local count = #ins[1]
  in_place(self, o, "all_gather", outs[1], ins[1], calls.place.rank * count + 1, count)
end

-- From one array to another; what shares memory with the result is copied before.
local function apart(self, o, kind, out, input, count)
  local stream, first = o[1].stream, input:address()
  local shares = first < out:address() + out:nbytes() and out:address() < first + input:nbytes()
  local copy <close> = shares and input:device():array(input:dtype(), #input)
  if copy then input = copy:copy(input, { stream = stream }) end
  local from, to = calls.memory(input, stream, true), calls.memory(out, stream, false)
  run(o, kind, out, count, to, from)
  calls.settle(input, from, stream, false)
  calls.settle(out, to, stream, true)
  if o.op == "avg" then memory.divide(self, 1, stream or self.list[1]:default_stream(), out, self.count) end
end

function ranks.reduce_scatter(self, o, outs, ins)
  check_type(o.name, outs[1])
  apart(self, o, "reduce_scatter", outs[1], ins[1], #outs[1])
end

function ranks.all_to_all(self, o, outs, ins)
  apart(self, o, "all_to_all", outs[1], ins[1], #ins[1] // self.count)
end

function ranks.broadcast(self, o, xs)
  in_place(self, o, "broadcast", xs[1], xs[1], 1, #xs[1])
end

-- ---- sends and receives -------------------------------------------------------------------------

local function begin(self, x, o, kind)
  local one = calls.transfer("nccl." .. kind, kind, "groups", x, o.peer, o)
  if self.due then table.insert(self.due, one) else calls.finish(one) end
end

function ranks.send(self, _, x, o) begin(self, x, o, "send") end
function ranks.recv(self, _, x, o) begin(self, x, o, "recv") end

function ranks.group(self, body)
  if self.due then return body() end -- in another group
  local due = {}
  self.due = due
  local _ <close> = setmetatable({}, { __close = function() self.due = nil end })
  body()
  for _, one in ipairs(due) do calls.finish(one) end
end

function ranks.close() end

return ranks
