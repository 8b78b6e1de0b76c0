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
-- `open` makes a handle of a device at its first call (self), `follow` tells it the stream, `close` ends it.
-- `explain` is the function that names a status, `flags` what C takes for false and true, `install` what a message
-- advises.
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

local WORD <const>, REAL <const>, POINTER <const> = 0, 1, 2 -- as core/bind/native.h has them
local IGNORED <const>, STATUS <const>, VALUE <const>, STORED <const> = 0, 1, 2, 3
local PARTS <const> = { rows = 1, columns = 2, items = 3, count = 4 } -- words of an array
local CUDA_TYPES <const> = { f32 = 0, f64 = 1, f16 = 2, i8 = 3, u8 = 8, i32 = 10, u32 = 12, bf16 = 14, i64 = 24 }
local SIZES <const> = { f64 = 8, i64 = 8, u64 = 8, f16 = 2, bf16 = 2, i16 = 2, u16 = 2, i8 = 1, u8 = 1 } -- others: 4

local function listed(value)
  return type(value) == "table" and value or { value }
end

-- ---- a frame: which word is what ---------------------------------------------------------------------

-- at: words by name; fixed: { word, value, ... }; real: options that are passed in registers for reals.
local function new_layout(values)
  return { count = 4, at = { self = 0, queue = 1, work = 2, size = 3 }, fixed = {}, real = {}, values = values,
           dtypes = {}, known = {}, sides = {} }
end

-- That of an object, to which a call of it adds words of its own.
local function extended(base, values)
  local out = lists.merged(base, { fixed = {}, sides = {}, known = {}, values = lists.merged(base.values, values) })
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
  if stored then return STORED, layout.at[stored], layout.dtypes[stored] end
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

local function describe_call(layout, opened, text)
  local name, operands, rest = library.parts(text, layout.values.letter)
  local out = { name = name, call = core.symbol(opened.handle, name) }
  if not out.call then failure.raise_as("unsupported", "%s has no function %s", opened.path, name) end
  for _, one in ipairs(operands) do
    local at, kind = operand(layout, one)
    lists.append(out, { kind, at })
  end
  out.result, out.to, out.dtype = result_of(layout, rest)
  return out
end

local function describe_calls(layout, opened, texts)
  return lists.map(listed(texts), function(text) return describe_call(layout, opened, text) end)
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

local function explain_of(side, opened)
  return side.explain and core.symbol(opened.handle, side.explain)
end

-- What the device's handle is made by; nil where the library needs none.
local function handle_of(self, side, workers)
  return side.open and function()
    local opened = open(self, side, {})
    local layout = new_layout { workers = workers }
    local calls, closing = describe_calls(layout, opened, side.open), describe_calls(layout, opened, side.close)
    return { name = self.name, library = self.name, calls = calls, closing = closing,
             follow = side.follow and describe_call(layout, opened, side.follow),
             explain = explain_of(side, opened), words = layout.count, fixed = layout.fixed, known = {} }
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

local function describe_side(layout, side, plus)
  local number = math.tointeger(tonumber(side))
  if number then lists.append(layout.known, { constant(layout, number) }) end
  if not number then layout.sides[side] = true end
  return { number and constant(layout, number) or layout.at[side] or word(layout, side), tonumber(plus) or 0 }
end

-- Options come first: what is swapped or read may depend on them.
local function describe_arrays(layout, row, yes)
  return lists.map(row.arrays, function(a)
    local out = lists.merged(a, { name = a[1], dtype = layout.dtypes[a[1]], optional = 0, yes = yes })
    out[1], out[2] = nil, nil
    out.at = word(layout, a[1], 5)
    for side, plus, mark in a[2]:gmatch "(%w+)%+?(%d*)(%??)" do -- "m", "m+1", "batch?"
      out[#out + 1] = describe_side(layout, side, plus)
      if mark == "?" then out.optional = out.optional + 1 end
    end
    local reads = a.reads
    if reads == nil then reads = not a.writes end
    out.reads = type(reads) == "string" and layout.at[reads] or reads and 0 or -1
    out.swap = a.swap and layout.at[a.swap]
    return out
  end)
end

local function kind_of(option, real)
  local default = option[2]
  if option.values then return "choice", option.values[default] end
  if type(default) == "boolean" then return "boolean", default end
  return option.integer and "integer" or real or "f64", default
end

local function describe_options(layout, row, found, side, backend)
  return lists.map(row.options or {}, function(o)
    local kind, default = kind_of(o, found.real)
    local flags = o.flags and (o.flags[backend] or o.flags) or side.flags or { 0, 1 }
    layout.real[o[1]] = kind == "f32" or kind == "f64"
    return { name = o[1], default = default, kind = kind, at = word(layout, o[1]), no = flags[1], yes = flags[2],
             choices = o.values and lists.map(lists.keys(o.values), function(name)
               return { name = name, value = o.values[name] }
             end) }
  end)
end

local function describe_limits(layout, row)
  return lists.map(row.limits or {}, function(limit)
    local out = { name = limit[1], at = operand(layout, limit[1]) }
    for _, kind in ipairs { "least", "most", "multiple" } do
      if limit[kind] then out[kind] = operand(layout, tostring(limit[kind])) end
    end
    return out
  end)
end

-- Whether one of the calls is for all items at once.
local function takes_batch(texts)
  return lists.find(texts, function(text) return lists.has(select(2, library.parts(text)), "batch") end) ~= nil
end

local function add_calls(out, layout, opened, calls, dtypes)
  calls = (type(calls) == "string" or calls[1]) and { one = calls } or calls
  out.sizes = calls.size and describe_calls(layout, opened, calls.size)
  out.unit = calls.unit or SIZES[dtypes[1]] or 4
  local one = listed(calls.one or calls.open)
  out.calls = describe_calls(layout, opened, lists.append({ calls.many }, one))
  out.plain = calls.many and 1 or 0
  out.closing = calls.close and describe_calls(layout, opened, calls.close)
  out.follow = calls.follow and describe_call(layout, opened, calls.follow)
  out.many = layout.sides.batch and (calls.many or not takes_batch(one)) and layout.at.batch or 0
end

-- What core/bind/native_table.c makes a variant of.
local function describe(self, row, name, backend, workers, base, arrays)
  local found, dtypes = type_row(row, name, arrays)
  local side = self[backend] or {}
  local here = found[backend]
  local calls = here and here.calls or row[backend]
  if not calls or here == false then
    failure.raise_as("unsupported", "%s of %s: the library of the %s device has no such function", name,
      table.concat(dtypes, " "), backend)
  end
  local values = lists.merged({ workers = workers }, lists.merged(found, here or {}))
  local layout = base and extended(base, values) or new_layout(values)
  for i, a in ipairs(row.arrays) do layout.dtypes[a[1]] = dtypes[i] end
  local out = { name = row.makes or name, library = self.name, layout = layout, fixed = layout.fixed,
                known = layout.known, by_kernels = type(calls) == "function" }
  out.options = describe_options(layout, row, found, side, backend)
  out.arrays = describe_arrays(layout, row, (side.flags or { 0, 1 })[2])
  if row.words then
    out.extra, out.nextra = layout.count, #row.words
    for _, one in ipairs(row.words) do word(layout, one) end
  end
  out.limits = describe_limits(layout, row)
  if not out.by_kernels then
    local opened = open(self, side, here or {})
    add_calls(out, layout, opened, calls, dtypes)
    out.explain, out.key, out.handle = explain_of(side, opened), -self.number, handle_of(self, side, workers)
  end
  out.words = layout.count
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
  for _, backend in ipairs { "cuda", "cpu" } do
    by[backend] = type(row[backend]) == "function" and row[backend] or nil
  end
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
