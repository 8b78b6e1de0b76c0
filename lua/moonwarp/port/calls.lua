-- SPDX-License-Identifier: MIT
--
-- Calls of the runtime's and of C's that a script has something for, by their names: functions of the translator and
-- the arguments, which give a value; or write lines and give none, or of CUDA's calls cudaSuccess.

local expression = require "moonwarp.port.expression"
local place = require "moonwarp.port.place"
local types = require "moonwarp.port.types"

local calls = {}

local unread, value = expression.unread, expression.value

-- ---- memory -------------------------------------------------------------------------------------

-- How many elements an expression in bytes is: n of n * sizeof(float).
local function count(it, e, of)
  local v, bytes = expression.read(it, e), of.bytes
  if v.type.kind ~= "number" or not v.type.is_integer then return unread() end
  if v.each == bytes then return v.elements.code end
  if bytes == 1 then return v.code end
  if v.lo == v.hi and v.lo % bytes == 0 and tonumber(v.code) then return ("%d"):format(v.lo // bytes) end
  return expression.arithmetic("/", v, value(tostring(bytes), types.u64, nil, bytes, bytes)).code
end

--- An array of a type, of as many elements: the value that makes it.
---@param how string   a method of devices
---@param of table     what its elements are
---@param elements string
---@param zero boolean?   all of them 0
---@return table
function calls.array(how, of, elements, zero)
  if of.kind ~= "number" or of == types.bool then return unread() end
  local code = ('dev:%s("%s", %s)%s'):format(how, of.name, elements, zero and ":fill(0)" or "")
  local made = value(code, types.pointer(of))
  made.count = elements
  return made
end

-- Writes that a pointer, &p, is a new array.
local function allocates(how)
  return function(it, list)
    local one = place.target(it, list[1])
    if one.type.kind ~= "pointer" or one.type.dims then return unread() end
    it:assign(one, calls.array(how, one.type.of, count(it, list[2], one.type.of)))
  end
end

function calls.malloc(it, list)
  local function make(to)
    if to.kind == "list" and to.of.kind ~= "struct" then return value("{}", to) end
    return calls.array("pageable", to.of, count(it, list[1], to.of))
  end
  return { type = { kind = "memory" }, make = make }
end

function calls.free(it, list)
  local v = expression.read(it, place.bare(list[1]))
  if v.type.kind == "list" or v.type == types.null then return end
  if v.type.kind ~= "pointer" or v.type.dims then return unread() end
  it:emit(v.code .. ":close()")
end

-- ---- copies -------------------------------------------------------------------------------------

local function stream_of(it, e)
  local code = e and expression.as(it, e, types.stream).code
  return code ~= "dev:default_stream()" and code or nil
end

local function is_whole(it, side, elements)
  local symbol = side.array.symbol
  return not side.offset and symbol and symbol.count == elements and it:is_stable(elements)
end

-- a:copy(b, { ... }) of one part of an array to a part of another.
local function copy_arrays(it, to, from, bytes, stream)
  if to.array.type.of ~= from.array.type.of then return unread() end
  local n, words = count(it, bytes, to.array.type.of), {}
  if from.offset then words[#words + 1] = "from = " .. place.counted(from.offset) end
  if to.offset then words[#words + 1] = "to = " .. place.counted(to.offset) end
  if not (is_whole(it, to, n) and is_whole(it, from, n)) then words[#words + 1] = "count = " .. n end
  if stream then words[#words + 1] = "stream = " .. stream end
  local options = #words > 0 and (", { %s }"):format(table.concat(words, ", ")) or ""
  it:emit(("%s:copy(%s%s)"):format(to.array.code, from.array.code, options))
end

-- A copy between an array's element and a variable alone, which is of the same type and size.
local function copy_one(it, to, from, bytes, stream)
  local array, one = to.array and to or from, to.place or from.place
  local size, index = expression.read(it, bytes), place.counted(array.offset)
  if one.type.kind ~= "number" or one.type == types.bool or array.array.type.of ~= one.type or size.lo ~= size.hi
    or size.lo ~= one.type.bytes then return unread() end
  if stream then it:emit(stream .. ":synchronize()") end
  if to.array then return it:emit(("%s:set(%s, %s)"):format(to.array.code, index, from.place.code)) end
  it:assign(to.place, value(("%s:get(%s)"):format(from.array.code, index), one.type))
end

local function copy(it, to, from, bytes, stream)
  if to.place and from.place then return unread() end
  local make = (to.place or from.place) and copy_one or copy_arrays
  make(it, to, from, bytes, stream)
end

function calls.memcpy(it, list, _, stream)
  copy(it, place.side(it, list[1]), place.side(it, list[2]), list[3], stream)
end

function calls.memset(it, list, _, stream)
  local side, byte = place.side(it, list[1]), expression.read(it, list[2])
  local of = side.array and side.array.type.of or unread()
  local n = count(it, list[3], of)
  if byte.lo ~= 0 or byte.hi ~= 0 then return unread() end
  local part = is_whole(it, side, n) and "" or (":view(%s, %s)"):format(
    place.counted(side.offset), n)
  if stream then it:emit(stream .. ":synchronize()") end
  it:emit(("%s%s:fill(0)"):format(side.array.code, part))
end

-- A __constant__ or __device__ variable, as cudaMemcpyToSymbol has it.
local function symbol_side(it, e, offset)
  local symbol = it.symbols[it.tokens[place.bare(e).op]] or unread()
  if offset and it.tokens[offset.op] ~= "0" then return unread() end
  it.touched[symbol] = true
  return { array = value(('mod:variable "%s"'):format(symbol.name), types.pointer(symbol.type)) }
end

-- ---- CUDA's -------------------------------------------------------------------------------------

local cuda = { cudaMalloc = allocates "empty", cudaMallocManaged = allocates "managed",
               cudaMallocHost = allocates "pinned", cudaHostAlloc = allocates "pinned", cudaFree = calls.free,
               cudaFreeHost = calls.free, cudaMemcpy = calls.memcpy, cudaMemset = calls.memset }

function cuda.cudaMemcpyAsync(it, list) calls.memcpy(it, list, nil, stream_of(it, list[5])) end
function cuda.cudaMemsetAsync(it, list) calls.memset(it, list, nil, stream_of(it, list[4])) end
function cuda.cudaMemcpyToSymbol(it, list)
  copy(it, symbol_side(it, list[1], list[4]), place.side(it, list[2]), list[3])
end
function cuda.cudaMemcpyFromSymbol(it, list)
  copy(it, place.side(it, list[1]), symbol_side(it, list[2], list[4]), list[3])
end

for _, name in ipairs { "cudaGetLastError", "cudaPeekAtLastError", "cudaDeviceReset", "cudaDeviceSetCacheConfig",
                        "cudaFuncSetCacheConfig", "cudaMemPrefetchAsync" } do
  cuda[name] = function() end
end

-- What a variable whose address is given becomes.
for name, made in pairs { cudaStreamCreate = { types.stream, "dev:stream()" }, cudaGetDevice = { types.i32, "0" },
                          cudaEventCreate = { types.event, "dev:event()" }, cudaGetDeviceCount = { types.i32, "1" },
                          cudaGetDeviceProperties = { types.properties, "dev:properties()" } } do
  cuda[name] = function(it, list)
    local one = place.target(it, list[1])
    if one.type ~= made[1] or list[2] and cuda.cudaSetDevice(it, { list[2] }) then return unread() end
    it:assign(one, value(made[2], one.type))
  end
end

function cuda.cudaSetDevice(it, list)
  local v = expression.read(it, list[1])
  return (v.lo ~= 0 or v.hi ~= 0) and unread() or nil
end

function cuda.cudaEventRecord(it, list)
  it:emit(("%s:record(%s)"):format(expression.as(it, list[1], types.event).code, stream_of(it, list[2]) or ""))
end
function cuda.cudaEventElapsedTime(it, list)
  local one = place.target(it, list[1])
  local from, to = expression.as(it, list[2], types.event), expression.as(it, list[3], types.event)
  local since = value(("1000 * %s:since(%s)"):format(to.code, from.code), types.f64, 10)
  it:assign(one, expression.convert(since, one.type))
end

-- Lines of a call's arguments, by their types.
local LINES <const> = {
  cudaDeviceSynchronize = { "dev:synchronize()" }, cudaThreadSynchronize = { "dev:synchronize()" },
  cudaStreamSynchronize = { "%s:synchronize()", "stream" }, cudaStreamDestroy = { "%s:close()", "stream" },
  cudaEventSynchronize = { "%s:synchronize()", "event" }, cudaEventDestroy = { "%s:close()", "event" },
  cudaStreamWaitEvent = { "%s:wait(%s)", "stream", "event" }, cudaEventQuery = { "%s:query()", "event" },
  srand = { "math.randomseed(%s)", "u32" }, exit = { "os.exit(%s)", "i32" },
}
for name, line in pairs(LINES) do
  local into = name:find "^%l+$" and calls or cuda
  into[name] = function(it, list)
    local args = {}
    for i = 2, #line do args[i - 1] = expression.as(it, list[i - 1], types[line[i]]).code end
    it:emit(line[1]:format(table.unpack(args)))
  end
end

for name, call in pairs(cuda) do
  calls[name] = function(it, list)
    call(it, list)
    return { type = types.status }
  end
end

function calls.cudaGetErrorString() return value('"no error"', types.string) end

-- ---- C's ----------------------------------------------------------------------------------------

local EXACT <const> = { fabs = true, fmin = true, fmax = true, ceil = true, floor = true }
local MATH <const> = {
  sqrt = "math.sqrt(%s)", exp = "math.exp(%s)", log = "math.log(%s)", sin = "math.sin(%s)", cos = "math.cos(%s)",
  tan = "math.tan(%s)", log2 = "math.log(%s, 2)", log10 = "math.log(%s, 10)", pow = "(%s) ^ (%s)",
  fabs = "math.abs(%s)", ceil = "math.ceil(%s)", floor = "math.floor(%s)", fmin = "math.min(%s, %s)",
  fmax = "math.max(%s, %s)", fmod = "math.fmod(%s, %s)",
}

-- sqrt, sqrtf, and sqrt of a float as C++ has it.
local function real(name, of)
  return function(it, list)
    local args, kind = {}, of
    for i, e in ipairs(list) do
      local v = expression.read(it, e)
      kind = kind or (v.type == types.f32 and name ~= "pow" and types.f32 or types.f64)
      args[i] = expression.convert(v, kind).code
    end
    local made = value(MATH[name]:format(table.unpack(args)), types.f64)
    if name == "ceil" or name == "floor" then
      made.whole, made.code, made.level = made.code, made.code .. " + 0.0", 9
    end
    if EXACT[name] then made.type = kind end
    return expression.convert(made, kind)
  end
end
for name in pairs(MATH) do calls[name], calls[name .. "f"] = real(name), real(name, types.f32) end

function calls.abs(it, list)
  local v = expression.read(it, list[1])
  if not v.type.is_integer then return calls.fabs(it, list) end
  return value("math.abs(" .. v.code .. ")", types.common(v.type, types.i32), nil, 0, math.max(v.hi, -v.lo))
end

for _, name in ipairs { "min", "max" } do
  calls[name] = function(it, list)
    local a, b = expression.read(it, list[1]), expression.read(it, list[2])
    if a.type ~= b.type or a.type.kind ~= "number" or #list > 2 then return unread() end
    local most = math[name]
    return value(("math.%s(%s, %s)"):format(name, a.code, b.code), a.type, nil, most(a.lo, b.lo), most(a.hi, b.hi))
  end
end

function calls.rand() return value("rand()", types.i32, nil, 0, 2147483647.0) end
function calls.time() return value("os.time()", types.i64, nil, 0, 2.0 ^ 53) end
function calls.clock() return value("int(os.clock() * 1e6)", types.i64, nil, 0, 2.0 ^ 53) end

for name, kind in pairs { atoi = types.i32, atof = types.f64 } do
  calls[name] = function(it, list)
    return value(("%s(%s)"):format(name, expression.as(it, list[1], types.string).code), kind)
  end
end
calls.stoi = calls.atoi

function calls.gettimeofday(it, list)
  it:assign(place.target(it, list[1]), value("timeval()", types.timeval))
  local made = value("0", types.i32, nil, 0, 0)
  made.is_done = true
  return made
end

function calls.assert(it, list)
  local test = expression.test(expression.read(it, list[1]))
  if test.code ~= "true" then it:emit(("assert(%s)"):format(test.code)) end
end

function calls.swap(it, list)
  local a, b = place.of(it, list[1]), place.of(it, list[2])
  if a.type ~= b.type and a.type.of ~= b.type.of or not (a.symbol and b.symbol) then return unread() end
  it:emit(("%s, %s = %s, %s"):format(a.code, b.code, b.code, a.code))
end

--- What v.size() and the like give.
---@param v table
---@param name string
---@return table
function calls.member(v, name)
  if v.type.kind == "string" and name == "c_str" then return v end
  if v.type.kind ~= "vector" then return unread() end
  if name == "size" then return value("#" .. v.code, types.u64, 11, 0, 2.0 ^ 53) end
  if name ~= "data" then return unread() end
  local made = value(v.code, types.pointer(v.type.of))
  made.symbol = v.symbol
  return made
end

return calls
