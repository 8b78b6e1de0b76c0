-- SPDX-License-Identifier: MIT
--
-- The types of a program's host part, as far as a script has something that stands for them:
--
--   number    i32, f64, bool, ...    a number of Lua's, or a boolean
--   pointer   float *, float[4]      an array of moonwarp's, or a view of one; of: what it points to
--   vector    std::vector<float>     an array, which is a value: copied where it is assigned
--   list      float *[2]             a table by C's indices, from 0 on
--   struct                           a table by the members' names
--   status    cudaError_t            nothing: moonwarp raises an error where a call fails, so each is cudaSuccess
--
-- and string, dim3, event, stream, void. What has none is nil: a statement that needs it is not translated.

local lists = require "moonwarp.base.lists"

local types = {}

local function integer(name, bits, signed)
  local hi = 2.0 ^ (signed and bits - 1 or bits) - 1
  return { kind = "number", name = name, bytes = bits // 8, is_integer = true, lo = signed and -hi - 1 or 0.0, hi = hi }
end

for _, bits in ipairs { 8, 16, 32, 64 } do
  types["i" .. bits], types["u" .. bits] = integer("i" .. bits, bits, true), integer("u" .. bits, bits, false)
end
types.char = integer("i8", 8, true)
types.bool = { kind = "number", name = "bool", bytes = 1, is_integer = true, lo = 0.0, hi = 1.0 }
for bits = 32, 64, 32 do
  types["f" .. bits] = { kind = "number", name = "f" .. bits, bytes = bits // 8, lo = -math.huge, hi = math.huge }
end
for _, kind in ipairs { "string", "dim3", "event", "stream", "status", "void", "null", "file", "cout", "auto" } do
  types[kind] = { kind = kind }
end

local function structure(of, members)
  local fields = {}
  for name, own in pairs(members) do fields[#fields + 1] = { name = name, own = own, type = of } end
  return { kind = "struct", fields = fields }
end

types.timeval = structure(types.i64, { tv_sec = "tv_sec", tv_usec = "tv_usec" })
types.timezone = structure(types.i32, {})
-- Members of cudaDeviceProp that dev:properties() has, by the names there.
types.properties = structure(types.u64, { totalGlobalMem = "memory_total", sharedMemPerBlock = "shared_per_block" })
lists.append(types.properties.fields, structure(types.i32, { multiProcessorCount = "multiprocessors",
  warpSize = "warp_size", maxThreadsPerBlock = "max_threads_per_block" }).fields)
lists.append(types.properties.fields, structure(types.string, { name = "name" }).fields)

local NAMED <const> = {
  float = "f32", double = "f64", bool = "bool", size_t = "u64", uint64_t = "u64", int64_t = "i64", uint32_t = "u32",
  int32_t = "i32", uint16_t = "u16", int16_t = "i16", uint8_t = "u8", int8_t = "i8", uint = "u32", clock_t = "i64",
  time_t = "i64", string = "string", dim3 = "dim3", cudaEvent_t = "event", cudaStream_t = "stream",
  cudaError_t = "status", cudaError = "status", void = "void", cudaDeviceProp = "properties", timeval = "timeval",
  timezone = "timezone", auto = "auto",
}
local WORDS <const> = lists.set { "unsigned", "signed", "char", "short", "int", "long" }
local PASSED <const> = lists.set { "static", "constexpr", "inline", "volatile", "register", "struct", "extern", "std",
                                   "::", "__restrict__", "__host__", "&", "__forceinline__" }

-- unsigned long int, by which of the words are there.
local function spelled(has)
  if has.char and not (has.signed or has.unsigned) then return types.char end
  local bits = has.char and 8 or has.short and 16 or has.long and 64 or 32
  return types[(has.unsigned and "u" or "i") .. bits]
end

--- A pointer to a type; of pointers, and of what no array holds, a list.
---@param of table
---@return table
function types.pointer(of)
  local holds = of.kind == "number" or of.kind == "void"
  return { kind = holds and "pointer" or "list", of = of }
end

--- The type that words of C++ give.
---@param words string[]
---@param named table<string, table>   types of the program's own
---@return table?
function types.read(words, named)
  local has, found, stars, is_const, at = {}, nil, 0, false, 1
  while at <= #words do
    local word = words[at]
    if word == "*" then
      stars = stars + 1
    elseif word == "const" then
      is_const = is_const or stars == 0
    elseif WORDS[word] then
      has[word] = true
    elseif word == "vector" then
      local last = words[#words] == "&" and #words - 1 or #words
      local of = words[last] == ">" and types.read({ table.unpack(words, at + 2, last - 1) }, named)
      return of and of.kind == "number" and of ~= types.bool and { kind = "vector", of = of } or nil
    elseif not PASSED[word] then
      if found then return nil end
      found = named[word] or types[NAMED[word]]
      if not found then return nil end
    end
    at = at + 1
  end
  if next(has) and found then return nil end
  found = found or next(has) and spelled(has)
  local is_text = found == types.char and is_const
  for star = 1, stars do
    found = found and (star == 1 and is_text and types.string or types.pointer(found))
  end
  return found or nil
end

--- The type in which C computes with two numbers.
---@param a table
---@param b table
---@return table
function types.common(a, b)
  for _, one in ipairs { "f64", "f32", "u64", "i64", "u32" } do
    if a == types[one] or b == types[one] then return types[one] end
  end
  return types.i32
end

return types
