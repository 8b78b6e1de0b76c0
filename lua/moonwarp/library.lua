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
-- `open` makes a handle of a device at its first call (self), `follow` tells it the stream (on the CPU device before
-- each call), `close` ends it. `explain` is the function that names a status, `flags` what C takes for false and
-- true, `install` what a message advises.
--
-- Arrays: a name and its sides. Sides are letters that unify over the arrays of a call: "m k", "m+1", "2 n" (a number
-- is itself), "m n batch?" (may be absent: the array then belongs to all items). `writes`; `reads` is true, false or
-- the option that decides, and is true where nothing is written. `partly`: not every element is read (a triangle).
-- `swap`: the option that exchanges the first two sides. `in_place`: it may be the array that is read. `wide`: its
-- sides may be above 2^31 - 1. `keeps`: of what makes an object: the object uses the array until it is closed.
--
-- Options: a name and the standard value. `integer`: it is one. `flags`: as above, for this option, or by device ({
-- cuda = { 0, 1 }, cpu = { 141, 142 } }). `values`: one of these words, { philox = 161, ... }. Real numbers are of
-- the type `real` of the row of types.
--
-- Types: a row for each combination of element types, with `real`, `letter`, and integers by the names of operands;
-- what is in its `cuda` or `cpu` is for that device (`library` and `calls` too); false there: the device cannot do
-- it.
--
-- Limits: { { "n", least = 3 }, { "x.count", multiple = 2 } }: of operands, by integers or other operands (least,
-- most, multiple).
--
-- Calls of a device: a call as C writes it, or { one = calls, many = call, size = calls, unit = 1, close = calls },
-- or a function of Lua that does it by kernels of our own. `one` is made for each item, unless it takes `batch`;
-- `many`, where there are several, for all at once. `size` says at once how many bytes (of `unit`, or elements of the
-- first array) `work` needs; what it leaves in its words, the others find there. `close` is called at the end, also
-- after an error; a call whose first operand is 0 is left out.
--
-- Operands: an integer; an array (its address); A.rows, A.columns (its first two sides), A.items (elements from one
-- item to the next), A.count, A.type (CUDA's number of its type); a side; an option; self; queue (the stream); work;
-- workers (the device's multiprocessors); a name of the row of types; a word that a call before has set. &x passes a
-- pointer to it. A ? in a function's name is the row's letter. What a call returns is a status, unless "-> none", or
-- "-> x" (kept in the word x), or "=> x" (stored as the array's first element: a real, or an int).
--
-- Objects (plans, generators, prepared matrices): a row with `makes`, the object's name. Its `one` sets self, its
-- `close` and `follow` are as a library's; the object keeps its words, options and sides, and a row with `object =
-- "plan"` takes such an object first and may use them as operands: its arrays have the object's sides. `call` is such
-- a row for plan(out, in). `words = { "rank", "n", of = function(options, ...) return 1, 8 end }` are further words,
-- by the options with their standard values and the arrays. A row without arrays is given the device first. Instead
-- of an object, a function takes a table of our own, whose method of the same name it calls.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local library = { all = {} } -- all: the tables, for tests and documentation

-- As core/bind/native.h has them, with the order of what is in its structs.
local WORD <const>, REAL <const>, POINTER <const> = 0, 1, 2
local IGNORED <const>, STATUS <const>, VALUE <const>, STORED <const> = 0, 1, 2, 3
local KINDS <const> = { boolean = 0, integer = 1, choice = 2, f32 = 3, f64 = 4 }
local NEVER <const>, ALWAYS <const> = -1, 0
local PARTS <const> = { rows = 1, columns = 2, items = 3, count = 4 } -- words of an array
local CUDA_TYPES <const> = { f32 = 0, f64 = 1, f16 = 2, i8 = 3, u8 = 8, i32 = 10, u32 = 12, bf16 = 14, i64 = 24 }
local SIZES <const> = { f64 = 8, i64 = 8, u64 = 8, f16 = 2, bf16 = 2, i16 = 2, u16 = 2, i8 = 1, u8 = 1 } -- others: 4

-- ---- a frame: which word is what ---------------------------------------------------------------------

-- at: words by name; fixed: { word, value, ... }; real: options that are passed in registers for reals.
local function new_layout(values)
  return { count = 4, at = { self = 0, queue = 1, work = 2, size = 3 }, fixed = {}, real = {}, values = values,
           dtypes = {}, known = {}, sides = {}, absent = {} }
end

-- That of an object, to which a call of it adds words of its own.
local function extended(base, values)
  local out = lists.merged(base, { fixed = {}, sides = {}, known = {}, absent = {} })
  out.values = lists.merged(base.values, values)
  for _, part in ipairs { "at", "real", "dtypes" } do out[part] = lists.merged(base[part], {}) end
  for name in pairs(base.sides) do lists.append(out.known, { base.at[name] }) end
  return out
end

local function word(layout, name, size)
  local at = layout.count
  layout.at[name], layout.count = at, at + (size or 1)
  return at
end

local function constant(layout, value)
  local name = "=" .. value
  if not layout.at[name] then lists.append(layout.fixed, { word(layout, name), value }) end
  return layout.at[name]
end

-- The word of an operand, and how it is passed.
local function operand(layout, text)
  local name, by_address = text:gsub("^&", "")
  local value = math.tointeger(tonumber(name)) or math.tointeger(layout.values[name])
  local array, part = name:match "^([%a_][%w_]*)%.(%a+)$"
  if part == "type" then value = CUDA_TYPES[layout.dtypes[array]] end
  if value then return constant(layout, value), by_address == 1 and POINTER or WORD end
  local at = array and layout.at[array] + PARTS[part] or layout.at[name] or word(layout, name)
  return at, by_address == 1 and POINTER or layout.real[name] and REAL or WORD
end

local function result_of(layout, rest)
  local stored, kept = rest:match "^=> ([%a_][%w_]*)$", rest:match "^%-> ([%a_][%w_]*)$"
  if stored then return STORED, layout.at[stored] end
  if kept and kept ~= "none" then return VALUE, (operand(layout, kept)) end
  return kept and IGNORED or STATUS, 0
end

--- The parts of a call as a table writes it.
---@param text string      "cublasCreate_v2(&self)"
---@param letter string?   for the ? in its name
---@return string name, string[] operands, string rest
function library.parts(text, letter)
  local name, inside, rest = text:match "^([%w_?]+)(%b())%s*(.*)$"
  local operands = {}
  for one in inside:sub(2, -2):gmatch "[^,%s]+" do lists.append(operands, { one }) end
  return (name:gsub("?", letter or "")), operands, rest
end

-- Each with its operands, its name first: a list.
local function describe_calls(layout, texts)
  return lists.map(lists.of(texts), function(text)
    local name, operands, rest = library.parts(text, layout.values.letter)
    local list = {}
    for _, one in ipairs(operands) do
      local at, kind = operand(layout, one)
      lists.append(list, { kind, at })
    end
    local result, to = result_of(layout, rest)
    return lists.append({ name, result, to, #operands }, list)
  end)
end

-- ---- libraries ---------------------------------------------------------------------------------------

local opened_by_names = {} -- those that were found: handle, path

-- Opened at the first use; where it is absent, the message says what was looked for and what has it.
local function open(self, side, more)
  local names = more.library or side.library
  if not names then failure.raise_as("unsupported", "%s: there is no library for this device", self.name) end
  if type(names) == "function" then names = names() end
  if not opened_by_names[names] then
    local handle, text = core.shared(names)
    if not handle then
      failure.raise_as("unsupported", "%s: %s; %s", self.name, text,
        more.install or side.install or "it is part of the CUDA toolkit")
    end
    opened_by_names[names] = { handle = handle, path = text }
  end
  return opened_by_names[names]
end

-- What makes the device's handle; nil where the library needs none.
local function handle_of(self, side, workers)
  return side.open and function()
    local layout = new_layout { workers = workers }
    local out = { library = self.name, handle = open(self, side, {}).handle, explain = side.explain, dtypes = {},
                  calls = describe_calls(layout, side.open), closing = describe_calls(layout, side.close),
                  follow = describe_calls(layout, side.follow), fixed = layout.fixed, known = {} }
    out.variant = { self.name, layout.count, 1 }
    return out
  end
end

-- ---- functions ---------------------------------------------------------------------------------------

local function type_row(row, name, arrays)
  local dtypes = lists.map(arrays, function(array) return array:dtype() end)
  local key = table.concat(dtypes, " ")
  local found = row.types and row.types[key]
  if #arrays < #row.arrays then
    failure.invalid("%s takes %s and options, got %d", name, units.count(#row.arrays, "array"), #arrays)
  end
  if not found and (row.types or #row.arrays ~= #arrays) then
    local names = lists.map(row.arrays, function(a) return a[1] end)
    failure.invalid("%s(%s): arrays of %s expected, got %s", name, table.concat(names, ", "),
                    table.concat(lists.keys(row.types or {}), "; or "), key)
  end
  return found or {}, dtypes
end

-- A side's word, and what it has beyond that.
local function describe_side(layout, side, plus, is_optional)
  local number = math.tointeger(tonumber(side))
  local at = number and constant(layout, number) or layout.at[side] or word(layout, side)
  if number then lists.append(layout.known, { at }) else layout.sides[side] = true end
  if is_optional and not lists.has(layout.absent, at) then lists.append(layout.absent, { at }) end
  return { at, tonumber(plus) or 0 }
end

-- Options come first: what is swapped or read may depend on them.
local function describe_arrays(layout, row, yes)
  return lists.map(row.arrays, function(a)
    local at, sides, optional, dims = word(layout, a[1], 5), {}, 0, 0
    for side, plus, mark in a[2]:gmatch "(%w+)%+?(%d*)(%??)" do -- "m", "m+1", "batch?"
      lists.append(sides, describe_side(layout, side, plus, mark == "?"))
      optional, dims = optional + #mark, dims + 1
    end
    local reads = a.reads
    if reads == nil then reads = not a.writes end
    reads = type(reads) == "string" and layout.at[reads] or reads and ALWAYS or NEVER
    local function flag(name) return a[name] and 1 or 0 end
    return lists.append({ a[1], at, optional, a.swap and layout.at[a.swap] or NEVER, yes, reads, flag "writes",
                          flag "in_place", flag "partly", flag "wide", flag "keeps", dims }, sides)
  end)
end

local function kind_of(option, real)
  if option.values then return "choice" end
  if type(option[2]) == "boolean" then return "boolean" end
  return option.integer and "integer" or real or "f64"
end

-- A number as the word of a register has it.
local function bits_of(kind, value)
  if kind == "f32" then return (string.unpack("<I4", string.pack("<f", value))) end
  return kind == "f64" and string.unpack("<i8", string.pack("<d", value)) or value
end

local function describe_options(layout, row, found, side, backend)
  local choices = {}
  return lists.map(row.options or {}, function(o)
    local name, default, kind = o[1], o[2], kind_of(o, found.real)
    local flags = o.flags and (o.flags[backend] or o.flags) or side.flags or { 0, 1 }
    local at, names = word(layout, name), lists.keys(o.values or {})
    layout.real[name] = kind == "f32" or kind == "f64"
    if kind == "boolean" then default = default and flags[2] or flags[1] end
    lists.append(layout.fixed, { at, bits_of(kind, o.values and o.values[default] or default) })
    local first = #choices
    for _, choice in ipairs(names) do lists.append(choices, { { choice, o.values[choice] } }) end
    return { name, KINDS[kind], at, flags[1], flags[2], first, #names }
  end), choices
end

local function describe_limits(layout, row)
  return lists.map(row.limits or {}, function(limit)
    local function at(kind) return limit[kind] and operand(layout, tostring(limit[kind])) or 0 end
    return { limit[1], operand(layout, limit[1]), at "least", at "most", at "multiple" }
  end)
end

-- Whether one of the calls is for all items at once.
local function takes_batch(texts)
  return lists.find(texts, function(text) return lists.has(select(2, library.parts(text)), "batch") end) ~= nil
end

-- The calls, and what the variant says of them: unit, many, plain.
local function add_calls(out, layout, calls, dtypes)
  calls = (type(calls) == "string" or calls[1]) and { one = calls } or calls
  local one = lists.of(calls.one)
  out.sizes, out.closing = describe_calls(layout, calls.size), describe_calls(layout, calls.close)
  out.calls = describe_calls(layout, lists.append({ calls.many }, one))
  out.follow = describe_calls(layout, calls.follow)
  local repeats = layout.sides.batch and (calls.many or not takes_batch(one))
  return calls.unit or SIZES[dtypes[1]] or 4, repeats and layout.at.batch or 0, calls.many and 1 or 0
end

-- What core/bind/native_table.c makes a variant of.
local function describe(self, row, name, backend, workers, base, arrays)
  local found, dtypes = type_row(row, name, arrays)
  local side, here = self[backend] or {}, found[backend]
  local calls = here and here.calls or row[backend]
  if not calls or here == false then
    failure.raise_as("unsupported", "%s of %s: the library of the %s device has no such function", name,
      table.concat(dtypes, " "), backend)
  end
  local values = lists.merged({ workers = workers }, lists.merged(found, here or {}))
  local layout = base and extended(base, values) or new_layout(values)
  for i, a in ipairs(row.arrays) do layout.dtypes[a[1]] = dtypes[i] end
  local out = { library = self.name, layout = layout, fixed = layout.fixed, known = layout.known, dtypes = dtypes }
  out.options, out.choices = describe_options(layout, row, found, side, backend)
  out.arrays = describe_arrays(layout, row, (side.flags or { 0, 1 })[2])
  local extra, words = layout.count, row.words or {}
  for _, one in ipairs(words) do word(layout, one) end
  out.limits = describe_limits(layout, row)
  local is_by_kernels, unit, many, plain = type(calls) == "function", 1, 0, 0
  if not is_by_kernels then
    out.handle, out.explain = open(self, side, here or {}).handle, side.explain
    out.key, out.open = -self.number, handle_of(self, side, workers)
    unit, many, plain = add_calls(out, layout, calls, dtypes)
  end
  out.variant = { row.makes or name, layout.count, unit, many, plain, extra, #words, is_by_kernels and 1 or 0,
                  #layout.absent, table.unpack(layout.absent) }
  return out
end

-- The row's function of Lua, with options that are not given at their standard values.
local function words_of(row)
  return row.words and row.words.of and function(options, ...)
    local all = {}
    for _, o in ipairs(row.options or {}) do all[o[1]] = o[2] end
    return row.words.of(lists.merged(all, options or {}), ...)
  end
end

local function new_routine(self, name, row)
  local by = {}
  row.arrays = row.arrays or {}
  for backend, part in pairs(row) do by[backend] = type(part) == "function" and part or nil end
  return core.routine {
    name = name, makes = row.makes, takes = row.object, by = by, words = words_of(row),
    call = row.call and new_routine(self, row.makes, lists.merged(row.call, { object = row.makes })),
    describe = function(backend, workers, base, ...)
      if base and base.makes ~= row.object then
        failure.invalid("%s: a %s expected, got a %s", name, row.object, base.makes)
      end
      local out = describe(self, row, name, backend, workers, base, { ... })
      out.layout.makes = row.makes
      return out
    end }
end

--- A library of functions, from its table.
---@param self table  name, cuda, cpu, functions
---@return table      the functions by name
function library.new(self)
  self.number = #library.all + 1
  library.all[self.number] = self
  local out = {}
  for name, row in pairs(self.functions) do out[name] = new_routine(self, name, row) end
  return out
end

return library
