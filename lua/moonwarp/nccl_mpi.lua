-- SPDX-License-Identifier: MIT
--
-- The calls of moonwarp.nccl through MPI, for a job in which not every rank has its own GPU. A call waits for the
-- array's stream, and is done when it returns, or at the end of its group.

local calls = require "moonwarp.mpi_calls"
local failure = require "moonwarp.base.failure"
local memory = require "moonwarp.nccl_memory"

local ranks = {}

-- The call from one array to another, or in place where `from` is nil; count: elements, as MPI counts them.
local function run(self, o, kind, out, from, count)
  if kind:find "reduce" and (out or from):dtype():find "f16$" then
    failure.invalid("%s: f16 and bf16 are reduced only on CUDA devices, got %s", o.name, tostring(out or from))
  end
  calls.collective("nccl." .. o.name, kind, "groups", o[1], out, from, count)
  if o.op == "avg" and out then
    memory.divide(self, 1, o[1].stream or self.list[1]:default_stream(), out, self.count)
  end
end

-- The call in the memory of `out`, after this rank's input was copied to element `at`, where MPI reads it.
local function in_place(self, o, kind, out, input, at, count)
  local own = #input == #out and out or out:view(at, #input)
  if own:address() ~= input:address() then own:copy(input, { stream = o[1].stream }) end
  run(self, o, kind, out, nil, count)
end

function ranks.all_reduce(self, o, outs, ins)
  in_place(self, o, "all_reduce", outs[1], ins[1], 1, #outs[1])
end

function ranks.reduce(self, o, outs, ins)
  if calls.place.rank ~= (o.root or 0) then return run(self, o, "reduce", nil, ins[1], #ins[1]) end
  in_place(self, o, "reduce", outs[1], ins[1], 1, #outs[1])
end

function ranks.all_gather(self, o, outs, ins)
  local count = #ins[1]
  in_place(self, o, "all_gather", outs[1], ins[1], calls.place.rank * count + 1, count)
end

-- From one array to another; an input that shares memory with the result is copied first.
local function apart(self, o, kind, out, input, count)
  local first = input:address()
  local shares = first < out:address() + out:nbytes() and out:address() < first + input:nbytes()
  local copy <close> = shares and input:device():array(input:dtype(), #input)
  run(self, o, kind, out, copy and copy:copy(input, { stream = o[1].stream }) or input, count)
end

function ranks.reduce_scatter(self, o, outs, ins)
  apart(self, o, "reduce_scatter", outs[1], ins[1], #outs[1])
end

function ranks.all_to_all(self, o, outs, ins)
  apart(self, o, "all_to_all", outs[1], ins[1], #ins[1] // self.count)
end

function ranks.broadcast(self, o, xs) in_place(self, o, "broadcast", xs[1], xs[1], 1, #xs[1]) end

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
