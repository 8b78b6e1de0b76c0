-- SPDX-License-Identifier: MIT
--
-- The ranks of a job that mpirun has started, through the MPI of the machine.
--
--   mpirun -n 4 moonwarp run script.lua --mpi
--
--   local mpi = require "moonwarp.mpi"
--   local all = mpi.gather(mpi.rank() * 10)                       -- numbers, texts, tables
--   mpi.irecv(halo, left):wait()                                  -- arrays of any device
--
-- Ranks count from 0, as in MPI. What a rank receives is data, and is never run.

local core = require "moonwarp.core"
local api = require "moonwarp.base.api"
local calls = require "moonwarp.mpi_calls"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local schema = require "moonwarp.base.schema"

local mpi = {}

local TAGS <const> = 32767 -- the least that MPI guarantees
local OPS <const> = lists.set { "sum", "prod", "max", "min" }

-- ---- what a script gives ------------------------------------------------------------------------

local function place_of(name)
  if not calls.place then
    failure.raise_as("unsupported", "%s: the run is no MPI job; start it with --mpi, as in mpirun -n 4 moonwarp run "
      .. "SCRIPT --mpi", name)
  end
  return calls.place
end

local function check_rank(name, what, rank)
  local last = calls.place.size - 1
  if math.type(rank) ~= "integer" or rank < 0 or rank > last then
    failure.invalid("%s: %s is a rank from 0 to %d, got %s", name, what, last, tostring(rank))
  end
  return rank
end

local FORMS <const> = { tag = "integer", stream = "stream", op = "string", root = "integer", into = "array" }

-- The options of a call with their defaults; allowed: their names.
local function options_of(name, given, allowed)
  local rules = {}
  for _, one in ipairs(allowed) do rules[one] = FORMS[one] end
  local o = lists.merged({ op = "sum", root = 0 }, schema.options(name, given, rules))
  if not OPS[o.op] then
    failure.invalid("%s: there is no op '%s'; %s", name, o.op, nearest.hint(o.op, OPS))
  end
  check_rank(name, "root", o.root)
  if o.tag and (o.tag < 0 or o.tag > TAGS) then
    failure.invalid("%s: tag must be from 0 to %d, got %d", name, TAGS, o.tag)
  end
  return o
end

local function is_array(x) return core.type(x) == "array" end

local function check_array(name, what, x, count, dtype)
  if not is_array(x) then failure.invalid("%s: %s is an array, got %s", name, what, schema.kind(x)) end
  if count and (#x ~= count or x:dtype() ~= dtype) then
    failure.invalid("%s: %s must have %d elements of %s, got %s", name, what, count, dtype, tostring(x))
  end
  if x:is_readonly() then failure.invalid("%s: %s is a read-only view", name, what) end
end

-- Adds a function that needs a job.
local function func(name, most, body)
  local full = "mpi." .. name
  mpi[name] = api.func(full, most, function(...)
    place_of(full)
    return body(full, ...)
  end)
end

-- ---- the job ------------------------------------------------------------------------------------

for _, name in ipairs { "rank", "size", "local_rank", "local_size", "version" } do
  func(name, 0, function() return calls.place[name] end)
end

func("how", 1, function(name, device)
  if core.type(device) ~= "device" then failure.invalid("%s: a device expected, got %s", name, schema.kind(device)) end
  return calls.is_direct(device) and "direct" or "staged"
end)

func("barrier", 0, calls.meet)

-- ---- collective calls ---------------------------------------------------------------------------

-- Each rank's array becomes the result.
local function array_in_place(name, kind, x, o)
  check_array(name, "what all ranks give", x)
  calls.collective(name, kind, "arrays", o, x, nil, #x)
  return x
end

func("broadcast", 2, function(name, value, options)
  local o = options_of(name, options, { "root", "stream" })
  if is_array(value) then return array_in_place(name, "broadcast", value, o) end
  calls.meet(("%s of a value, root %d"):format(name, o.root))
  local own = calls.place.rank == o.root and calls.packed(name, value) or nil
  return calls.unpacked(name, calls.broadcast_text(name, "values", own, o.root))
end)

-- What all ranks give, on the root, or on all ranks if root is nil: in one array, or as a list of values.
local function gathered(name, kind, x, o, root, how)
  local has_result = not root or calls.place.rank == root
  if is_array(x) then
    local into = has_result and o.into or nil
    if has_result then check_array(name, "option 'into'", into, #x * calls.place.size, x:dtype()) end
    calls.collective(name, kind, "arrays", o, into, x, #x)
    return into
  end
  local own = calls.packed(name, x)
  calls.meet(name .. " of values" .. how)
  local texts = calls[kind .. "_texts"](name, "gathered", own, root)
  return texts and lists.map(texts, function(text) return calls.unpacked(name, text) end)
end

func("gather", 2, function(name, x, options)
  local o = options_of(name, options, { "root", "into", "stream" })
  return gathered(name, "gather", x, o, o.root, ", root " .. o.root)
end)

func("all_gather", 2, function(name, x, options)
  return gathered(name, "all_gather", x, options_of(name, options, { "into", "stream" }), nil, "")
end)

-- A NaN loses against a number, as in C's fmax.
local COMBINE <const> = { sum = function(a, b) return a + b end, prod = function(a, b) return a * b end,
                          max = function(a, b) return (b > a or a ~= a) and b or a end,
                          min = function(a, b) return (b < a or a ~= a) and b or a end }

-- Numbers, or tables of them with the same keys.
local function combined(name, a, b, op)
  if type(a) == "number" and type(b) == "number" then return COMBINE[op](a, b) end
  if type(a) ~= "table" or type(b) ~= "table" then
    failure.invalid("%s: numbers, or tables of numbers with the same keys, of all ranks expected, got %s and %s", name,
      type(a), type(b))
  end
  local out = {}
  for key in pairs(lists.merged(a, b)) do out[key] = combined(name, a[key], b[key], op) end
  return out
end

-- In a job of one rank, nothing is combined that would find a mistake.
local function check_numbers(name, value)
  if type(value) == "number" then return end
  if type(value) ~= "table" then
    failure.invalid("%s: an array, a number, or a table of numbers is wanted, got %s", name, schema.kind(value))
  end
  for _, one in pairs(value) do check_numbers(name, one) end
end

-- Each rank combines the values in the order of ranks, so that all have the same result.
func("all_reduce", 2, function(name, value, options)
  local o = options_of(name, options, { "op", "stream" })
  if is_array(value) then
    local dtype = value:dtype()
    if dtype:find "f16$" then
      failure.invalid("%s: MPI has no %s; convert, or use moonwarp.nccl on CUDA devices", name, dtype)
    end
    return array_in_place(name, "all_reduce", value, o)
  end
  local all = gathered(name, "all_gather", value, o, nil, ", " .. o.op)
  local result = all[1]
  check_numbers(name, result)
  for i = 2, #all do result = combined(name, result, all[i], o.op) end
  return result
end)

-- ---- from rank to rank --------------------------------------------------------------------------

local Request = { __name = "mpi request" }
Request.__index = Request

function Request:__tostring() return ("%s, %s"):format(self.call.who, self.bytes and "done" or "under way") end

--- Waits until the transfer is done and the array may be used again.
---@return userdata array
function Request:wait()
  calls.finish(self)
  return self.x
end

--- Whether the transfer is done; does not wait.
---@return boolean
function Request:test()
  local bytes = self.bytes or calls.test(self.call, 0)
  if bytes then calls.finish(self, bytes) end
  return bytes ~= nil
end

mpi.request = Request -- for documentation

local function begin(name, kind, x, peer, o)
  check_rank(name, "the peer", peer)
  if kind == "recv" then check_array(name, "what is received", x) end
  return setmetatable(calls.transfer(name, kind, "arrays", x, peer, o), Request)
end

local P2P <const> = { "tag", "stream" }

for name, kind in pairs { isend = "send", irecv = "recv" } do
  func(name, 3, function(full, x, peer, options)
    if not is_array(x) then failure.invalid("%s: an array expected, got %s", full, schema.kind(x)) end
    return begin(full, kind, x, peer, options_of(full, options, P2P))
  end)
end

func("send", 3, function(name, x, peer, options)
  local o = options_of(name, options, P2P)
  if is_array(x) then
    begin(name, "send", x, peer, o):wait()
    return
  end
  local who = ("%s to rank %d"):format(name, check_rank(name, "the peer", peer))
  for _, one in ipairs(calls.send_text(who, "values", calls.packed(name, x), peer, o.tag)) do calls.await(one) end
end)

func("recv", 3, function(name, x, peer, options)
  if is_array(x) then return begin(name, "recv", x, peer, options_of(name, options, P2P)):wait() end
  local from = check_rank(name, "the peer", x)
  local o = options_of(name, peer, P2P)
  local who = ("%s from rank %d"):format(name, from)
  return calls.unpacked(who, calls.recv_text(who, "values", from, o.tag))
end)

nearest.guard(mpi, "moonwarp.mpi", { allreduce = "all_reduce", allgather = "all_gather", bcast = "broadcast",
                                     Barrier = "barrier" })
return mpi
