-- SPDX-License-Identifier: MIT
--
-- What moonwarp.mpi, moonwarp.nccl and the run of the job (sweep/ranks.lua) share: waits that Ctrl-C and the end of the
-- job interrupt, texts of any length, arrays in memory that MPI can access. Each message belongs to one of five spaces
-- ("arrays", "values", "gathered", "job", "groups"), so that those of a script and of the library are never confused.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local launcher = require "moonwarp.base.launcher"
local lists = require "moonwarp.base.lists"
local literal = require "moonwarp.base.literal"
local units = require "moonwarp.base.units"

local calls = {}

local LOOK_SECONDS <const> = 0.01 -- of a test, before the job is looked at

-- If mpirun belongs to another MPI than the library, each process is a job of one rank.
local function check_launcher(place)
  local _, started = launcher.place()
  if place.size == 1 and started > 1 then
    failure.raise_as("unsupported", "mpirun has started %d processes, which are no job of %s: mpirun and mpicc are of "
      .. "two MPIs; put both of one first on PATH, or set MOONWARP_MPICC to the mpicc of that mpirun", started,
      place.version)
  end
end

--- Opens MPI at the first call.
---@return table place  rank, size, local_rank, local_size, takes_cuda, version
function calls.open()
  if not calls.place then
    local place = core.mpi.open(core.version)
    check_launcher(place)
    calls.place = place
  end
  return calls.place
end

-- ---- waiting ------------------------------------------------------------------------------------

--- Called during a wait, with the operation and its peer, if it has one. It may raise an error.
function calls.look() end

local function checked(who, ok, ...)
  if ok then return ... end
  local problem = ...
  if failure.status(problem) == "interrupted" then error(problem, 0) end
  failure.raise_as("driver", "rank %d: %s: %s", calls.place.rank, who, failure.text(problem))
end

local MATES <const> = { send = "recv", recv = "send" }
local own = {} -- sends of this rank to itself, and receives: how many of a kind, space and tag have begun

-- MPI keeps the order: the tenth send matches the tenth receive.
local function note_own(request, kind, space, tag)
  local key, mate = kind .. space .. (tag or 0), MATES[kind] .. space .. (tag or 0)
  own[key] = (own[key] or 0) + 1
  request.number, request.mate = own[key], mate
end

--- Begins a call.
---@param who string  "recv from rank 3", for messages
---@param ... any     of core.mpi.post: kind, space, out, in, count, type, op, peer, tag
---@return table request  for calls.test and calls.await
function calls.post(who, ...)
  local kind, space, peer, tag = ..., select(2, ...), select(8, ...)
  local request = { raw = checked(who, pcall(core.mpi.post, ...)), who = who, peer = MATES[kind] and peer }
  if request.peer == calls.place.rank then note_own(request, kind, space, tag) end
  return request
end

--- Whether a call is done.
---@param request table
---@param seconds number  to wait for it
---@return integer? bytes  received; nil: not yet
function calls.test(request, seconds)
  return checked(request.who, pcall(core.mpi.test, request.raw, seconds))
end

--- Waits until a call is done.
---@param request table
---@return integer bytes
function calls.await(request)
  local bytes = calls.test(request, LOOK_SECONDS)
  while not bytes do
    if request.mate and (own[request.mate] or 0) < request.number then
      failure.invalid("rank %d: %s: the rank would wait for itself; begin both, with mpi.irecv and mpi.isend, and wait "
        .. "after that", request.peer, request.who)
    end
    calls.look(request.who, request.peer)
    bytes = calls.test(request, LOOK_SECONDS)
  end
  return bytes
end

function calls.run(...) return calls.await(calls.post(...)) end

-- ---- texts --------------------------------------------------------------------------------------

local HEAD <const> = "<I8"
local HEAD_BYTES <const> = 8

--- Begins to send a text: its length, then itself.
---@return table[] requests
function calls.send_text(who, space, text, peer, tag)
  return { calls.post(who, "send", space, nil, HEAD:pack(#text), HEAD_BYTES, "u8", nil, peer, tag),
           calls.post(who, "send", space, nil, text, #text, "u8", nil, peer, tag) }
end

--- Begins to receive a text.
---@return table letter  call: the request of its length
function calls.expect_text(who, space, peer, tag)
  local head = core.mpi.buffer(HEAD_BYTES)
  return { head = head, space = space, peer = peer, tag = tag,
           call = calls.post(who, "recv", space, head, nil, HEAD_BYTES, "u8", nil, peer, tag) }
end

--- The text, after its length has come. The sender has begun both, so that nothing else is looked at.
function calls.take_text(letter)
  local bytes = HEAD:unpack(core.mpi.text(letter.head, HEAD_BYTES))
  local body = core.mpi.buffer(bytes)
  local call = calls.post(letter.call.who, "recv", letter.space, body, nil, bytes, "u8", nil, letter.peer, letter.tag)
  repeat until calls.test(call, LOOK_SECONDS)
  return core.mpi.text(body, bytes)
end

function calls.recv_text(...)
  local letter = calls.expect_text(...)
  calls.await(letter.call)
  return calls.take_text(letter)
end

local function broadcast_bytes(who, space, text, bytes, root)
  local buffer = core.mpi.buffer(bytes, text)
  calls.run(who, "broadcast", space, buffer, nil, bytes, "u8", nil, root)
  return core.mpi.text(buffer, bytes)
end

--- The root's text, on all ranks.
---@param text string?  the root's
function calls.broadcast_text(who, space, text, root)
  local head = broadcast_bytes(who, space, text and HEAD:pack(#text), HEAD_BYTES, root)
  return broadcast_bytes(who, space, text, (HEAD:unpack(head)), root)
end

--- On the root, the texts of all ranks in order; nil on the others.
function calls.gather_texts(who, space, text, root)
  local place, all = calls.place, {}
  if place.rank ~= root then
    for _, request in ipairs(calls.send_text(who, space, text, root, 0)) do calls.await(request) end
    return nil
  end
  for rank = 0, place.size - 1 do
    all[rank + 1] = rank == root and text or calls.recv_text(("%s, of rank %d"):format(who, rank), space, rank, 0)
  end
  return all
end

--- The texts of all ranks in order, on all ranks.
function calls.all_gather_texts(who, space, text)
  local all = calls.gather_texts(who, space, text, 0)
  local whole = all and table.concat(lists.map(all, function(one) return string.pack("<s8", one) end))
  local at, out = 1, {}
  whole = calls.broadcast_text(who, space, whole, 0)
  for i = 1, calls.place.size do out[i], at = string.unpack("<s8", whole, at) end
  return out
end

-- ---- collective calls ---------------------------------------------------------------------------

local met = 0 -- how many calls of the job

-- FNV-1a of 32 bits (G. Fowler, L. C. Noll, K.-P. Vo).
local function hash(text)
  local h = 0x811c9dc5
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x01000193 & 0xffffffff end
  return h
end

--- Before any collective call, all ranks compare what they are about to call. In MPI, two different calls may wait for
--- ever, or one may read the bytes of the other.
---@param own_call string  the call, as messages show it
function calls.meet(own_call)
  met = met + 1
  local h = hash(own_call)
  local extremes = core.mpi.buffer(16, ("dd"):pack(h, -h))
  calls.run(own_call, "all_reduce", "gathered", extremes, nil, 2, "f64", "max")
  local most, least = ("dd"):unpack(core.mpi.text(extremes, 16))
  if most == -least then return end
  local all = calls.all_gather_texts(own_call, "gathered", own_call)
  for i, one in ipairs(all) do
    if one ~= all[1] then
      failure.invalid("all ranks make the same collective calls in the same order: as number %d rank 0 makes %s, and "
        .. "rank %d %s", met, all[1], i - 1, one)
    end
  end
end

-- ---- values -------------------------------------------------------------------------------------

local DEEP <const> = 50
local PLAIN <const> = lists.set { "nil", "boolean", "number", "string", "table" }

local function check_value(who, value, depth)
  local kind = core.type(value) or type(value)
  if not PLAIN[kind] then
    failure.invalid("%s: numbers, texts, truth values and tables of them are sent, got %s", who, kind)
  end
  if kind ~= "table" then return end
  if depth > DEEP then failure.invalid("%s: a table is in itself, or too deep", who) end
  for key, one in pairs(value) do
    if type(key) == "table" then failure.invalid("%s: a table is the key of another", who) end
    check_value(who, key, depth + 1)
    check_value(who, one, depth + 1)
  end
end

--- A value as a text; a value of another type is an error.
function calls.packed(who, value)
  check_value(who, value, 1)
  return literal.text { value }
end

--- The value of such a text. literal.value runs nothing, whoever wrote the text.
function calls.unpacked(who, text)
  local value = literal.value(text)
  if type(value) ~= "table" then failure.raise_as("driver", "%s: what came is no value of a rank", who) end
  return value[1]
end

-- ---- arrays -------------------------------------------------------------------------------------

local WEAK <const> = { __mode = "k" }
local direct, free = setmetatable({}, WEAK), setmetatable({}, WEAK) -- by device; free: staging arrays by their kind

--- Whether MPI accesses the memory of a device's arrays. In check mode received data is copied, so that the copy is
--- recorded.
function calls.is_direct(device)
  if direct[device] == nil then
    direct[device] = device:kind() ~= "gpu" and not device:properties().checks or calls.place.takes_cuda > 0
  end
  return direct[device]
end

local function kind_of(x) return ("%s %d"):format(x:dtype(), #x) end

--- Memory for MPI, after the stream's work is done: the array itself, or an array in pinned memory.
---@param x userdata
---@param stream userdata?
---@param reads boolean     whether its elements are wanted there
---@return userdata memory
function calls.memory(x, stream, reads)
  local device, memory = x:device(), x
  stream = stream or device:default_stream()
  if not calls.is_direct(device) then
    free[device] = free[device] or {}
    memory = table.remove(free[device][kind_of(x)] or {}) or device:pinned(x:dtype(), #x)
    if reads then memory:copy(x, { stream = stream }) end
  end
  stream:synchronize()
  return memory
end

--- Copies what was received into the array, if memory is a staging array, and keeps that for the next call.
function calls.settle(x, memory, stream, writes)
  if memory == x then return end
  local device = x:device()
  stream = stream or device:default_stream()
  if writes then
    x:copy(memory, { stream = stream })
    stream:synchronize()
  end
  local kept = free[device]
  kept[kind_of(x)] = lists.append(kept[kind_of(x)] or {}, { memory })
end

local OPERATIONS <const> = lists.set { "all_reduce", "reduce", "reduce_scatter" } -- have an operation
local ROOTS <const> = lists.set { "broadcast", "reduce", "gather" }

--- Makes a collective call on arrays, after all ranks have compared it.
---@param name string    of the script's function
---@param kind string    as core.mpi.post has it
---@param space string
---@param o table        stream, op ("sum"), root (0)
---@param out userdata?  the array that this rank's result is written to
---@param from userdata? the array that is read, else it is out
---@param count integer  elements that this rank sends to, or receives of, each
function calls.collective(name, kind, space, o, out, from, count)
  local op, root, dtype = o.op or "sum", o.root or 0, (out or from):dtype()
  local call = ("%s of %s of %s"):format(name, units.count(count, "element"), dtype)
  if OPERATIONS[kind] then call = ("%s, %s"):format(call, op) end
  if ROOTS[kind] then call = ("%s, root %d"):format(call, root) end
  calls.meet(call)
  local reads = not from and (kind ~= "broadcast" or calls.place.rank == root)
  local to, read = out and calls.memory(out, o.stream, reads), from and calls.memory(from, o.stream, true)
  calls.run(name, kind, space, to, read, count, dtype, op ~= "avg" and op or "sum", root)
  if from then calls.settle(from, read, o.stream, false) end
  if out then calls.settle(out, to, o.stream, true) end
end

-- ---- from rank to rank --------------------------------------------------------------------------

--- Begins to send or to receive an array.
---@param name string  of the script's function
---@param kind string  "send", "recv"
---@return table transfer  for calls.finish; call: the request
function calls.transfer(name, kind, space, x, peer, o)
  local receives = kind == "recv"
  local memory = calls.memory(x, o.stream, not receives)
  local who = ("%s %s rank %d"):format(name, receives and "from" or "to", peer)
  local out, from = memory, nil
  if not receives then out, from = nil, memory end
  return { x = x, memory = memory, stream = o.stream, receives = receives,
           call = calls.post(who, kind, space, out, from, #x, x:dtype(), nil, peer, o.tag) }
end

--- Completes a transfer, once.
---@param self table
---@param bytes integer?  that have come; else they are waited for
function calls.finish(self, bytes)
  if self.bytes then return end
  self.bytes = bytes or calls.await(self.call)
  if core.type(self.x) ~= "array" then
    failure.invalid("rank %d: %s: its array was closed before it was done; close it after wait()", calls.place.rank,
      self.call.who)
  end
  calls.settle(self.x, self.memory, self.stream, self.receives)
  if self.receives and self.bytes ~= self.x:nbytes() then
    failure.invalid("rank %d: %s: %d bytes came for %s, which has %d", calls.place.rank, self.call.who, self.bytes,
      tostring(self.x), self.x:nbytes())
  end
end

return calls
