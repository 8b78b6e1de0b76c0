-- SPDX-License-Identifier: MIT
--
-- Calls of the runtime's and of C's that a script has something for, by their names: functions of the translator and
-- the arguments. Each gives a value, or writes lines and gives none: true, or of CUDA's calls cudaSuccess.

local expression = require "moonwarp.port.expression"
local place = require "moonwarp.port.place"
local types = require "moonwarp.port.types"

local calls = {}

local unread, value = expression.unread, expression.value

-- ---- memory -------------------------------------------------------------------------------------

-- How an array's elements are made of a type's: the name of one, and its bytes.
local function unit_of(of)
  if of.kind == "number" and of ~= types.bool then return of.name, of.bytes end
  if of.kind == "lanes" then return of.dtype, of.bytes // of.lanes end
  if of.kind == "struct" then return "u8", 1 end
  return unread()
end

-- How many elements an expression in bytes is: n of n * sizeof(float).
local function count_of(it, e, bytes)
  e = place.bare(e)
  if e.kind == "binary" and it.tokens[e.op] == "*" then
    local left = count_of(it, e.a, bytes)
    if left then return left.code == "1" and expression.read(it, e.b)
      or expression.arithmetic(it, "*", left, expression.read(it, e.b)) end
    local right = count_of(it, e.b, bytes)
    return right and (right.code == "1" and expression.read(it, e.a)
      or expression.arithmetic(it, "*", expression.read(it, e.a), right))
  end
  local v = expression.read(it, e)
  if v.elements and v.each == bytes then return v.elements end
  local is_number = e.kind == "sizeof" or e.kind == "number"
  local times = is_number and v.lo == v.hi and v.lo % bytes == 0 and math.tointeger(v.lo // bytes)
  return times and value(tostring(times), types.u64, nil, times, times) or nil
end

local function count(it, e, bytes)
  local v = count_of(it, e, bytes) or expression.arithmetic(it, "/", expression.read(it, e),
    value(tostring(bytes), types.u64, nil, bytes, bytes))
  if bytes == 1 then v.code = v.code:gsub(" // 1$", "") end
  if not v.type.is_integer then return unread() end
  return v
end

--- An array of a type, of as many elements: the value that makes it.
---@param how string   a method of devices
---@param of table     what its elements are
---@param elements string
---@param zero boolean?   all of them 0
---@return table
function calls.array(how, of, elements, zero)
  local made = value(('dev:%s("%s", %s)%s'):format(how, unit_of(of), elements, zero and ":fill(0)" or ""),
    types.pointer(of))
  made.count = elements
  return made
end

local function allocated(it, how, of, bytes)
  local _, each = unit_of(of)
  return calls.array(how, of, count(it, bytes, each).code)
end

-- Writes that a pointer, &p, is a new array.
local function allocate(it, how, pointer, bytes)
  local one = place.target(it, pointer)
  if one.type.kind ~= "pointer" or one.type.dims then return unread() end
  it:assign(one, allocated(it, how, one.type.of, bytes))
end

local function memory(how, bytes_of)
  return function(it, list)
    local made = { type = { kind = "memory" } }
    function made.make(to)
      if how == "calloc" then
        local _, each = unit_of(to.of)
        local n, times = expression.read(it, list[1]), count(it, list[2], each)
        if times.code ~= "1" then n = expression.arithmetic(it, "*", n, times) end
        return calls.array("pageable", to.of, n.type.is_integer and n.code or unread(), true)
      end
      return allocated(it, how, to.of, bytes_of or list[1])
    end
    return made
  end
end

calls.malloc, calls.calloc = memory "pageable", memory "calloc"

local function release(it, list)
  local v = expression.read(it, place.bare(list[1]))
  if v.type.kind == "list" then return true end
  if v.type == types.null or v.code == "0" then return true end
  if v.type.kind ~= "pointer" or v.type.dims then return unread() end
  it:emit(v.code .. ":close()")
  return true
end

calls.free = release

-- ---- copies -------------------------------------------------------------------------------------

local function is_whole(it, side, elements)
  local symbol = side.array.symbol
  return not side.offset and symbol and symbol.count == elements and it:is_stable(elements)
end

-- a:copy(b, { ... }) of one part of an array to a part of another.
local function copy_arrays(it, to, from, bytes, stream)
  if to.array.type.of ~= from.array.type.of then return unread() end
  local _, each = unit_of(to.array.type.of)
  local n, words = count(it, bytes, each), {}
  if from.offset then words[#words + 1] = "from = " .. place.counted(from.offset) end
  if to.offset then words[#words + 1] = "to = " .. place.counted(to.offset) end
  if not (is_whole(it, to, n.code) and is_whole(it, from, n.code)) then words[#words + 1] = "count = " .. n.code end
  if stream and stream.code ~= "dev:default_stream()" then words[#words + 1] = "stream = " .. stream.code end
  local options = #words > 0 and (", { %s }"):format(table.concat(words, ", ")) or ""
  it:emit(("%s:copy(%s%s)"):format(to.array.code, from.array.code, options))
end

-- Of a copy to or from a variable alone, its size.
local function check_one(it, bytes, kind)
  local size = expression.read(it, bytes)
  if kind.kind ~= "number" or kind == types.bool or size.lo ~= kind.bytes or size.hi ~= kind.bytes then unread() end
end

local function copy(it, to, from, bytes, stream)
  if to.place and from.array then
    check_one(it, bytes, to.place.type)
    if from.array.type.of ~= to.place.type then return unread() end
    if stream then it:emit(stream.code .. ":synchronize()") end
    local index = from.offset and place.counted(from.offset) or "1"
    it:assign(to.place, value(("%s:get(%s)"):format(from.array.code, index), to.place.type))
  elseif from.place and to.array then
    check_one(it, bytes, from.place.type)
    if to.array.type.of ~= from.place.type or stream then return unread() end
    it:emit(("%s:set(%s, %s)"):format(to.array.code, to.offset and place.counted(to.offset) or "1", from.place.code))
  elseif to.array and from.array then
    copy_arrays(it, to, from, bytes, stream)
  else
    return unread()
  end
end

local function stream_of(it, e) return e and expression.as(it, e, types.stream) end

local function fill(it, list, stream)
  local side, byte = place.side(it, list[1]), expression.read(it, list[2])
  local of = side.array and side.array.type.of or unread()
  local _, each = unit_of(of)
  local n = count(it, list[3], each)
  local one = byte.lo == 0 and byte.hi == 0 and "0" or byte.lo == byte.hi and of.lo and of.lo < 0
    and (byte.lo == -1 or byte.lo == 255) and of.is_integer and "-1" or unread()
  local whole = is_whole(it, side, n.code)
  if stream and stream.code ~= "dev:default_stream()" then it:emit(stream.code .. ":synchronize()") end
  it:emit(whole and ("%s:fill(%s)"):format(side.array.code, one) or ("%s:view(%s, %s):fill(%s)"):format(
    side.array.code, side.offset and place.counted(side.offset) or "1", n.code, one))
end

function calls.memset(it, list)
  fill(it, list)
  return true
end

function calls.memcpy(it, list)
  copy(it, place.side(it, list[1]), place.side(it, list[2]), list[3])
  return true
end

-- A __constant__ or __device__ variable, as cudaMemcpyToSymbol has it.
local function symbol_side(it, e)
  local name = it.tokens[place.bare(e).op]
  local of = it.symbols[name] or unread()
  it.touched[name] = true
  return { array = value(('mod:variable "%s"'):format(name), types.pointer(of)) }
end

local function no_offset(it, e)
  local v = e and expression.read(it, e)
  if v and not (v.lo == 0 and v.hi == 0) then unread() end
end

-- ---- CUDA's -------------------------------------------------------------------------------------

local cuda = {}

function cuda.cudaMalloc(it, list) allocate(it, "empty", list[1], list[2]) end
function cuda.cudaMallocManaged(it, list) allocate(it, "managed", list[1], list[2]) end
function cuda.cudaMallocHost(it, list) allocate(it, "pinned", list[1], list[2]) end
cuda.cudaHostAlloc = cuda.cudaMallocHost
function cuda.cudaFree(it, list) release(it, list) end
cuda.cudaFreeHost = cuda.cudaFree

function cuda.cudaMemcpy(it, list) copy(it, place.side(it, list[1]), place.side(it, list[2]), list[3]) end
function cuda.cudaMemcpyAsync(it, list)
  copy(it, place.side(it, list[1]), place.side(it, list[2]), list[3], stream_of(it, list[5]))
end
function cuda.cudaMemset(it, list) fill(it, list) end
function cuda.cudaMemsetAsync(it, list) fill(it, list, stream_of(it, list[4])) end

function cuda.cudaMemcpyToSymbol(it, list)
  no_offset(it, list[4])
  copy(it, symbol_side(it, list[1]), place.side(it, list[2]), list[3])
end
function cuda.cudaMemcpyFromSymbol(it, list)
  no_offset(it, list[4])
  copy(it, place.side(it, list[1]), symbol_side(it, list[2]), list[3])
end

function cuda.cudaDeviceSynchronize(it) it:emit "dev:synchronize()" end
cuda.cudaThreadSynchronize = cuda.cudaDeviceSynchronize

local function nothing() end

for _, name in ipairs { "cudaGetLastError", "cudaPeekAtLastError", "cudaDeviceReset", "cudaDeviceSetCacheConfig",
                        "cudaFuncSetCacheConfig", "cudaProfilerStart", "cudaProfilerStop", "cudaMemPrefetchAsync",
                        "cudaMemAdvise" } do cuda[name] = nothing end

function cuda.cudaSetDevice(it, list) no_offset(it, list[1]) end
function cuda.cudaGetDevice(it, list) it:assign(place.target(it, list[1]), value("0", types.i32)) end
function cuda.cudaGetDeviceCount(it, list) it:assign(place.target(it, list[1]), value("1", types.i32)) end
function cuda.cudaGetDeviceProperties(it, list)
  no_offset(it, list[2])
  local one = place.target(it, list[1])
  it:assign(one, value(one.type == types.properties and "dev:properties()" or unread(), one.type))
end
function cuda.cudaEventQuery(it, list) it:emit(expression.as(it, list[1], types.event).code .. ":query()") end

local function makes(kind, code)
  return function(it, list)
    local one = place.target(it, list[1])
    if one.type ~= kind then return unread() end
    it:assign(one, value(code, kind))
  end
end

cuda.cudaStreamCreate = makes(types.stream, "dev:stream()")
cuda.cudaEventCreate = makes(types.event, "dev:event()")

function cuda.cudaStreamCreateWithFlags(it, list)
  local flag = it.tokens[list[2].op]
  makes(types.stream, flag == "cudaStreamNonBlocking" and "dev:stream { blocking = false }"
    or flag == "cudaStreamDefault" and "dev:stream()" or unread())(it, list)
end
function cuda.cudaEventCreateWithFlags(it, list)
  local flag = it.tokens[list[2].op]
  makes(types.event, flag == "cudaEventDisableTiming" and "dev:event { timing = false }"
    or flag == "cudaEventDefault" and "dev:event()" or unread())(it, list)
end

local function method(kind, name)
  return function(it, list) it:emit(("%s:%s()"):format(expression.as(it, list[1], kind).code, name)) end
end

cuda.cudaStreamSynchronize = method(types.stream, "synchronize")
cuda.cudaStreamDestroy = method(types.stream, "close")
cuda.cudaEventSynchronize = method(types.event, "synchronize")
cuda.cudaEventDestroy = method(types.event, "close")

function cuda.cudaEventRecord(it, list)
  local stream = stream_of(it, list[2])
  local given = stream and stream.code ~= "dev:default_stream()" and stream.code or ""
  it:emit(("%s:record(%s)"):format(expression.as(it, list[1], types.event).code, given))
end
function cuda.cudaStreamWaitEvent(it, list)
  it:emit(("%s:wait(%s)"):format(stream_of(it, list[1]).code, expression.as(it, list[2], types.event).code))
end
function cuda.cudaEventElapsedTime(it, list)
  local one = place.target(it, list[1])
  local from, to = expression.as(it, list[2], types.event), expression.as(it, list[3], types.event)
  local since = value(("1000 * %s:since(%s)"):format(to.code, from.code), types.f64, 10)
  it:assign(one, expression.convert(it, since, one.type))
end

for name, call in pairs(cuda) do
  calls[name] = function(it, list)
    call(it, list)
    return { type = types.status }
  end
end

function calls.cudaGetErrorString() return value('"no error"', types.string) end

-- ---- C's ----------------------------------------------------------------------------------------

local function real(code, single)
  local of = single and types.f32 or types.f64
  return function(it, list)
    local args = {}
    for i, e in ipairs(list) do args[i] = expression.as(it, e, of).code end
    local made = value(code:format(table.unpack(args)), types.f64)
    local rounds = code:find "ceil" or code:find "floor"
    local is_exact = rounds or code:find "m[ai][xn]" or code:find "abs"
    if rounds then
      made.whole, made.code, made.level = made.code, made.code .. " + 0.0", 9
    end
    if not single then return made end
    if not is_exact then return expression.convert(it, made, types.f32) end
    made.type = types.f32
    return made
  end
end

for name, code in pairs { sqrt = "math.sqrt(%s)", exp = "math.exp(%s)", log = "math.log(%s)", sin = "math.sin(%s)",
                          cos = "math.cos(%s)", tan = "math.tan(%s)", log2 = "math.log(%s, 2)",
                          log10 = "math.log(%s, 10)",
                          pow = "(%s) ^ (%s)", fabs = "math.abs(%s)", ceil = "math.ceil(%s)", floor = "math.floor(%s)",
                          fmin = "math.min(%s, %s)", fmax = "math.max(%s, %s)", fmod = "math.fmod(%s, %s)" } do
  calls[name], calls[name .. "f"] = real(code), real(code, true)
end

-- Of C++'s overloads, by the type of the argument.
for _, name in ipairs { "sqrt", "exp", "log", "sin", "cos", "fabs", "abs", "ceil", "floor", "pow" } do
  local double, single = calls[name], calls[name .. "f"]
  calls[name] = function(it, list)
    local v = expression.read(it, list[1])
    if name == "abs" and v.type.is_integer then
      return value("math.abs(" .. v.code .. ")", types.common(v.type, types.i32), nil, 0, math.max(v.hi, -v.lo))
    end
    if name == "abs" then double, single = calls.fabs, calls.fabsf end
    return (v.type == types.f32 and name ~= "pow" and single or double)(it, list)
  end
end

for _, name in ipairs { "min", "max" } do
  calls[name] = function(it, list)
    local a, b = expression.read(it, list[1]), expression.read(it, list[2])
    if a.type ~= b.type or a.type.kind ~= "number" or #list > 2 then return unread() end
    local most = math[name]
    return value(("math.%s(%s, %s)"):format(name, a.code, b.code), a.type, nil, most(a.lo, b.lo), most(a.hi, b.hi))
  end
end

function calls.rand(it) return value(it:helper "rand" .. "()", types.i32, nil, 0, 2147483647.0) end
calls.random = calls.rand
function calls.srand(it, list)
  it:emit(("math.randomseed(%s)"):format(expression.as(it, list[1], types.u32).code))
  return true
end
function calls.time() return value("os.time()", types.i64, nil, 0, 2.0 ^ 53) end
function calls.clock(it) return value(it:helper "int" .. "(os.clock() * 1e6)", types.i64, nil, 0, 2.0 ^ 53) end

local function parsed(kind, helper)
  return function(it, list)
    local made = value(("%s(%s)"):format(it:helper(helper), expression.as(it, list[1], types.string).code), kind)
    return made
  end
end
calls.atoi, calls.atol, calls.atoll, calls.stoi = parsed(types.i32, "atoi"), parsed(types.i64, "atoi"),
  parsed(types.i64, "atoi"), parsed(types.i32, "atoi")
calls.atof = parsed(types.f64, "atof")

function calls.gettimeofday(it, list)
  it:assign(place.target(it, list[1]), value(it:helper "timeval" .. "()", types.timeval))
  return value("0", types.i32, nil, 0, 0)
end

function calls.exit(it, list)
  it:emit(("os.exit(%s)"):format(expression.as(it, list[1], types.i32).code))
  return true
end
function calls.assert(it, list, e)
  local test = expression.test(expression.read(it, list[1]))
  if test.known == nil then it:emit(("assert(%s, %q)"):format(test.code, it:text(e.first, e.last))) end
  return test.known ~= false and true or unread()
end
function calls.swap(it, list)
  local a, b = place.of(it, list[1]), place.of(it, list[2])
  if a.type ~= b.type and a.type.of ~= b.type.of or not (a.symbol and b.symbol) then return unread() end
  it:emit(("%s, %s = %s, %s"):format(a.code, b.code, b.code, a.code))
  a.symbol.count, b.symbol.count = b.symbol.count, a.symbol.count
  return true
end

local UNITS <const> = { seconds = "1", milliseconds = "1e3", microseconds = "1e6", nanoseconds = "1e9" }

function calls.duration_cast(it, list, e)
  local v, made = expression.read(it, list[1]), nil
  for i = e.a.op, e.a.last do
    local times = UNITS[it.tokens[i]]
    if times and v.type.kind == "span" then
      made = value(("%s(%s * (%s))"):format(it:helper "int", times, v.code), { kind = "span", of = types.i64 })
    end
  end
  return made or unread()
end

-- ---- vectors ------------------------------------------------------------------------------------

--- What v.size() and the like give.
---@param v table
---@param name string
---@return table
function calls.member(v, name)
  if v.type.kind == "string" and name == "c_str" then return v end
  if v.type.kind == "span" and name == "count" then
    local code = v.type.milli and ("1000 * (%s)"):format(v.code) or v.code
    return value(code, v.type.of or unread(), v.type.milli and 10 or v.level)
  end
  if v.type.kind ~= "vector" then return unread() end
  if name == "size" then return value("#" .. v.code, types.u64, 11, 0, 2.0 ^ 53) end
  if name == "data" or name == "begin" or name == "end" then
    local made = value(v.code, types.pointer(v.type.of))
    made.symbol, made.marks = v.symbol, name
    return made
  end
  return unread()
end

function calls.fill(it, list)
  local from, to = expression.read(it, list[1]), expression.read(it, list[2])
  if from.marks ~= "begin" or to.marks ~= "end" or from.code ~= to.code then return unread() end
  it:emit(("%s:fill(%s)"):format(from.code, expression.as(it, list[3], from.type.of).code))
  return true
end

-- generate(v.begin(), v.end(), [] { return rand() % 100; })
function calls.generate(it, list)
  local from, to = expression.read(it, list[1]), expression.read(it, list[2])
  local body = list[3] and list[3].body or unread()
  local one = #body.body == 1 and body.body[1].kind == "return" and body.body[1].test or unread()
  if from.marks ~= "begin" or to.marks ~= "end" or from.code ~= to.code then return unread() end
  local made = expression.as(it, one, from.type.of)
  it:emit(("for i = 1, #%s do %s:set(i, %s) end"):format(from.code, from.code, made.code))
  return true
end

for _, name in ipairs { "begin", "end" } do -- of std
  calls[name] = function(it, list) return calls.member(expression.read(it, list[1]), name) end
end

return calls
