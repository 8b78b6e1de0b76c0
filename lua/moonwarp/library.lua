-- SPDX-License-Identifier: MIT
--
-- Functions of libraries, from tables. A table (moonwarp.blas, ...) names a library of each device and its functions:
--
--   library.new {
--     name = "moonwarp.blas",
--     cuda = { library = "libcublas.so.13 libcublas.so.12", flags = { 0, 1 }, explain = "cublasGetStatusString",
--              open = "cublasCreate_v2(&self)", close = "cublasDestroy_v2(self)",
--              follow = "cublasSetStream_v2(self, queue)" },
--     cpu = { library = "libopenblas.so.0", flags = { 111, 112 }, install = "apt-get install libopenblas0" },
--     functions = { axpy = {
--       help = "y = alpha * x + y",
--       arrays = { { "y", "n", writes = true, reads = true }, { "x", "n" } },
--       options = { { "alpha", 1 } },
--       types = { ["f32 f32"] = { real = "f32", cuda = { letter = "S" }, cpu = { letter = "s" } } },
--       cuda = "cublas?axpy_v2(self, n, &alpha, x, 1, y, 1)",
--       cpu = "cblas_?axpy(n, alpha, x, 1, y, 1) -> none" } } }
--
-- A library: `library` are names of files, of which the first that loads is taken, or a function that returns them.
-- `open` makes a handle of a device at its first call (self), `follow` tells it the stream, `close` ends it. `explain`
-- is the function that names a status, `flags` what C takes for false and true, `install` what a message advises.
--
-- Arrays: a name and its sides. Sides are letters that unify over the arrays of a call: "m k", "m+1", "2 n" (a number is
-- itself), "m n batch?" (may be absent: the array then belongs to all items). `writes`; `reads` is true, false or the
-- option that decides, and is true where nothing is written. `partly`: not every element is read (a triangle).
-- `swap`: the option that exchanges the first two sides. `in_place`: it may be the array that is read. `wide`: its sides
-- may be above 2^31 - 1. `keeps`: of what makes an object: the object uses the array until it is closed.
--
-- Options: a name and the standard value. `integer`: it is one. `flags`: as above, for this option, or by device
-- ({ cuda = { 0, 1 }, cpu = { 141, 142 } }). `values`: one of these words, { philox = 161, ... }. Real numbers are of the
-- type `real` of the row of types.
--
-- Types: a row for each combination of element types, with `real`, `letter`, and integers by the names of operands; what
-- is in its `cuda` or `cpu` is for that device (`library` and `calls` too); false there: the device cannot do it.
--
-- Limits: { { "n", least = 3 }, { "x.count", multiple = 2 } }: of operands, by integers or other operands (least, most,
-- multiple).
--
-- Calls of a device: a call as C writes it, or { one = calls, many = call, size = calls, unit = 1, close = calls }, or a
-- function of Lua that does it by kernels of our own. `one` is made for each item, unless it takes `batch`; `many`, where
-- there are several, for all at once. `size` says at once how many bytes (of `unit`, or elements of the first array)
-- `work` needs; what it leaves in its words, the others find there. `close` is called at the end, also after an error;
-- a call whose first operand is 0 is left out.
--
-- Operands: an integer; an array (its address); A.rows, A.columns (its first two sides), A.items (elements from one item
-- to the next), A.count, A.type (CUDA's number of its type); a side; an option; self; queue (the stream); work; workers
-- (the device's multiprocessors); a name of the row of types; a word that a call before has set. &x passes a pointer to
-- it. A ? in a function's name is the row's letter. What a call returns is a status, unless "-> none", or "-> x" (kept in
-- the word x), or "=> x" (stored as the array's first element: a real, or an int).
--
-- Objects (plans, generators, prepared matrices): a row with `makes`, the object's name. Its `one` sets self, its `close`
-- and `follow` are as a library's; the object keeps its words, options and sides, and a row with `object = "plan"` takes
-- such an object first and may use them as operands: its arrays have the object's sides. `call` is such a row for
-- plan(out, in). `words = { "rank", "n", of = function(options, ...) return 1, 8 end }` are further words, by the options
-- with their standard values and the arrays. A row without arrays is given the device first. Instead of an object, a
-- function takes a table of our own, whose method of the same name it calls.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local library = { all = {} } -- all: the tables, for tests and documentation

local WORD, REAL, POINTER = 0, 1, 2       -- as core/bind/native.c has them
local IGNORED, STATUS, VALUE, STORED = 0, 1, 2, 3
local PARTS = { rows = 1, columns = 2, items = 3, count = 4 } -- words of an array
local CUDA_TYPES = { f32 = 0, f64 = 1, f16 = 2, i8 = 3, u8 = 8, i32 = 10, bf16 = 14 }
local SIZES = { f32 = 4, f64 = 8 }
local keys = 0

-- ---- a frame: which word is what ---------------------------------------------------------------------

local function new_frame()
  return { count = 4, at = { self = 0, queue = 1, work = 2 }, fixed = {}, real = {} }
end

local function word(frame, name, size)
  local at = frame.count
  frame.at[name], frame.count = at, at + (size or 1)
  return at
end

local function constant(frame, value)
  local at = word(frame, "=" .. tostring(value))
  lists.append(frame.fixed, { at, value })
  return at
end

local function operand(frame, text, call)
  local name, by_address = text:gsub("^&", "")
  local value = math.tointeger(tonumber(name)) or frame.values[name]
  local array, part = name:match "^(%w+)%.(%w+)$"
  local at
  if value then
    at = frame.at["=" .. value] or constant(frame, value)
  elseif part == "type" then
    return operand(frame, tostring(CUDA_TYPES[frame.dtypes[array]]), call)
  elseif array then
    at = frame.at[array] + PARTS[part]
  else
    at = frame.at[name] or word(frame, name)
  end
  return by_address == 1 and POINTER or frame.real[name] and REAL or WORD, at
end

-- "cublasCreate_v2(&self)", with its function of C.
local function call(frame, opened, text)
  local name, operands, rest = text:match "^([%w_?]+)(%b())%s*(.*)$"
  name = name:gsub("?", frame.values.letter or "")
  local made = { name = name, result = STATUS, to = 0 }
  made["function"] = core.symbol(opened.handle, name)
  if not made["function"] then failure.raise_as("unsupported", "%s lacks the function %s", opened.names, name) end
  for one in operands:sub(2, -2):gmatch "[^,%s]+" do
    local kind, at = operand(frame, one, text)
    made[#made + 1], made[#made + 2] = kind, at
  end
  local stored = rest:match "^=> (%w+)$"
  if stored then
    made.result, made.to = STORED, frame.at[stored]
    return made
  end
  local to = rest:match "^%-> (%w+)$"
  if to == "none" then
    made.result = IGNORED
  elseif to then
    made.result, made.to = VALUE, frame.at[to] or word(frame, to)
  end
  return made
end

-- ---- libraries ---------------------------------------------------------------------------------------

-- Opened at first use; where it is absent, the message says what was looked for and which package has it.
local function open(self, backend)
  local side = self.sides[backend]
  if not side then
    failure.raise_as("unsupported", "%s: there is no library for devices of '%s'", self.name, backend)
  end
  if not side.opened then
    local handle, reason = core.shared(side.library)
    if not handle then
      failure.raise_as("unsupported", "%s: %s; %s", self.name, reason, side.install or "it is part of the CUDA toolkit")
    end
    side.opened = { handle = handle, names = side.library,
                    explain = side.explain and core.symbol(handle, side.explain) }
  end
  return side, side.opened
end

local function object_description(self, backend, what, values)
  local _, opened = open(self, backend)
  local frame = new_frame()
  frame.values = values or {}
  for _, name in ipairs(lists.keys(frame.values)) do
    if type(frame.values[name]) == "table" then -- words of their own, to be pointed to
      local words = frame.values[name]
      local at = word(frame, name, #words)
      frame.values[name] = nil
      for i, v in ipairs(words) do lists.append(frame.fixed, { at + i - 1, v }) end
    end
  end
  local calls = {}
  for i, text in ipairs(type(what.open) == "table" and what.open or { what.open }) do
    calls[i] = call(frame, opened, text)
  end
  local follow, close = what.follow, what.close
  return { name = self.name, calls = calls, close = close and call(frame, opened, close),
           follow = follow and call(frame, opened, follow), explain = opened.explain, words = frame.count,
           fixed = frame.fixed, arrays = {}, options = {} }
end

--- Makes an object that a library keeps: a plan, a generator.
---@param self table      the library
---@param dev device
---@param what table      open (calls), close, follow, for the device
---@param values table    integers by the names of operands; a table is words to be pointed to
function library.object(self, dev, backend, what, values)
  return core.library_object(dev, object_description(self, backend, what, values))
end

-- ---- functions ---------------------------------------------------------------------------------------

local function type_row(row, name, arrays)
  local dtypes = {}
  for i = 1, #row.arrays do dtypes[i] = arrays[i] and arrays[i]:dtype() or "nothing" end
  local found = row.types[table.concat(dtypes, " ")]
  if not found then
    local names = lists.map(row.arrays, function(a) return a[1] end)
    failure.invalid("%s(%s): arrays of %s expected, got %s", name, table.concat(names, ", "),
                    table.concat(lists.keys(row.types), "; or "), table.concat(dtypes, " "))
  end
  return found, dtypes
end

local function describe_arrays(frame, row, dtypes, flags)
  return lists.map(row.arrays, function(a)
    local out = { name = a[1], at = word(frame, a[1], 5), dtype = frame.dtypes[a[1]], writes = a.writes and 1 or 0,
                  reads = a.reads == nil and (a.writes and -1 or 0) or a.reads == true and 0 or nil, optional = 0 }
    for side, plus, mark in a[2]:gmatch "(%w+)%+?(%d*)(%??)" do -- "m", "m+1", "batch?"
      out[#out + 1] = (frame.at[side] or word(frame, side)) + 256 * (tonumber(plus) or 0)
      if mark == "?" then out.optional = out.optional + 1 end
    end
    out.swap, out.yes = a.swap, flags and flags[2]
    return out
  end), dtypes
end

local function describe_options(frame, row, found, flags)
  return lists.map(row.options or {}, function(o)
    local name, default = o[1], o[2]
    local kind = type(default) == "boolean" and "boolean" or math.type(default) == "integer" and o.integer and "integer"
      or found.real
    frame.real[name] = kind == "f32" or kind == "f64"
    local values = o.flags or flags or { 0, 1 }
    return { name = name, default = default, kind = kind, at = word(frame, name), no = values[1], yes = values[2] }
  end)
end

-- What core/bind/native.c makes a variant of.
local function describe(self, name, row, backend, arrays)
  local found, dtypes = type_row(row, name, arrays)
  local by = type(row[backend]) == "function" and row[backend] or nil
  local side, opened = self.sides[backend], {} -- by: kernels of our own
  if not by then side, opened = open(self, backend) end
  local calls = found[backend] and found[backend].calls or row[backend]
  if not calls or found[backend] == false then
    failure.raise_as("unsupported", "%s of %s: the library of the %s device has no such function", name,
      table.concat(dtypes, " "), backend)
  end
  local frame = new_frame()
  frame.values = lists.merged(found, found[backend] or {})
  frame.dtypes = {}
  for i, a in ipairs(row.arrays) do frame.dtypes[a[1]] = dtypes[i] end
  local out = { name = name, key = not row.object and side.key or nil, explain = opened.explain, fixed = frame.fixed }
  out.options = describe_options(frame, row, found, side.flags)
  out.arrays = describe_arrays(frame, row, dtypes, side.flags)
  for i, a in ipairs(row.arrays) do
    if a.swap then out.arrays[i].swap = frame.at[a.swap] end
    if type(a.reads) == "string" then out.arrays[i].reads = frame.at[a.reads] end
    if a.in_place then out.arrays[i].reads = -2 end
  end
  calls = (type(calls) == "string" or by) and { one = calls } or calls
  out.calls, out.plain = {}, calls.many and 1 or 0
  if calls.size then -- an integer, which the library writes as an int or a size_t
    local texts = type(calls.size) == "table" and calls.size or { calls.size }
    out.sizes = lists.map(texts, function(text) return call(frame, opened, text) end)
    out.unit, out.size = calls.unit or SIZES[dtypes[1]], frame.at.size
  end
  if by then
    out.by, out.calls, out.words = by, {}, frame.count
    return out
  end
  local texts = lists.append({ calls.many }, type(calls.one) == "table" and calls.one or { calls.one })
  out.calls = lists.map(texts, function(text) return call(frame, opened, text) end)
  -- a call that takes the number of items is for all of them
  local takes_all = not calls.many and table.concat(texts, " "):find "%f[%w]batch%f[%W]"
  out.many, out.words = not takes_all and frame.at.batch or 0, frame.count
  return out
end

--- A library of functions, from its table.
---@param self table  name, cuda, cpu (library, install, open, close, follow, explain, flags), functions
---@return table      the functions by name
function library.new(self)
  keys = keys + 1
  library.all[keys] = self
  self.sides = { cuda = self.cuda, cpu = self.cpu }
  for _, side in pairs(self.sides) do side.key = side.open and keys or nil end
  local function open_handle(device, backend)
    local side = open(self, backend)
    core.library_handle(device, side.key, object_description(self, backend, side))
  end
  local out = {}
  for name, row in pairs(self.functions) do
    out[name] = core.routine(name, row.object or false,
      function(backend, ...) return describe(self, name, row, backend, { ... }) end, open_handle)
  end
  return out
end

return library
