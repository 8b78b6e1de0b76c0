-- SPDX-License-Identifier: MIT
--
-- Expressions of C as Lua's. A value is { code =, type =, level =, lo =, hi = }: its text, C's type, how tightly its
-- outermost operator binds in Lua, and the numbers it lies between, by which // may stand for C's division.
--
-- A value of a float type is a float in Lua, rounded as its type is; `raw` is the text of one before it is rounded.

local types = require "moonwarp.port.types"

local expression = {}

local ATOM <const>, UNARY <const>, PRODUCT <const>, SUM <const>, SHIFT <const> = 13, 11, 10, 9, 7
local TEST <const>, BOTH <const>, EITHER <const> = 3, 2, 1
local LEVELS <const> = { ["*"] = PRODUCT, ["/"] = PRODUCT, ["%"] = PRODUCT, ["+"] = SUM, ["-"] = SUM, ["<<"] = SHIFT,
                         [">>"] = SHIFT, ["&"] = 6, ["^"] = 5, ["|"] = 4 }
local COMPARED <const> = { ["<"] = "<", [">"] = ">", ["<="] = "<=", [">="] = ">=", ["=="] = "==", ["!="] = "~=" }
local EXACT <const> = 2.0 ^ 24 -- integers up to here are floats

-- What C's headers and CUDA's name.
local KNOWN <const> = {
  RAND_MAX = { "2147483647", "i32" }, EXIT_SUCCESS = { "0", "i32" }, EXIT_FAILURE = { "1", "i32" },
  M_PI = { "math.pi", "f64" }, INT_MAX = { "2147483647", "i32" }, CLOCKS_PER_SEC = { "1000000", "i64" },
  NULL = { "nil", "null" }, nullptr = { "nil", "null" }, ["true"] = { "true", "bool" }, ["false"] = { "false", "bool" },
  stderr = { "io.stderr", "file" }, stdout = { "io.stdout", "file" },
}

--- Leaves the statement that is read untranslated.
function expression.unread() error({ is_unread = true }, 0) end

local unread = expression.unread

--- A value.
---@param code string
---@param kind table
---@param level integer?
---@param lo number?
---@param hi number?
---@return table
function expression.value(code, kind, level, lo, hi)
  local least, most = kind.lo or -math.huge, kind.hi or math.huge
  if not lo or lo < least or hi > most and least == 0 then lo = least end
  hi = math.min(hi or most, most)
  return { code = code, type = kind, level = level or ATOM, lo = lo, hi = hi }
end

local value = expression.value

local function at_level(v, level) return v.level < level and "(" .. v.code .. ")" or v.code end

local function boolean(is_true) return value(tostring(is_true), types.bool) end

--- A number as a test has it; its code is "true" or "false" where it is always so.
---@param v table
---@return table
function expression.test(v)
  if v.type == types.bool then return v end
  if v.type == types.status then return boolean(false) end
  if v.type.is_integer and v.lo == v.hi and tonumber(v.code) then return boolean(v.lo ~= 0) end
  if v.type.kind == "number" then return value(at_level(v, TEST + 1) .. " ~= 0", types.bool, TEST) end
  if v.type.kind == "pointer" or v.type.kind == "string" then return value(v.code .. " ~= nil", types.bool, TEST) end
  return unread()
end

local function is_single(number) return string.unpack("f", string.pack("f", number)) == number end

-- A value as a float; a number that is one needs no rounding.
local function rounded(v)
  if tonumber(v.code) and is_single(tonumber(v.code)) then return value(v.code, types.f32, ATOM, v.lo, v.hi) end
  local made = value("f32(" .. v.code .. ")", types.f32)
  made.raw = v.code
  return made
end

local function to_float(v, to)
  local is_literal = v.code:find "^%-?%d+$"
  local code = is_literal and v.code .. ".0" or at_level(v, SUM) .. " + 0.0"
  local made = value(code, to, is_literal and v.level or SUM, v.lo, v.hi)
  if to == types.f64 or v.hi <= EXACT and v.lo >= -EXACT then return made end
  return rounded(v)
end

local function to_integer(v, to)
  if not v.type.is_integer then return value(v.whole or "int(" .. v.code .. ")", to) end
  if v.lo >= to.lo and v.hi <= to.hi or to == types.i64 then return value(v.code, to, v.level, v.lo, v.hi) end
  if to == types.u64 then return value("natural(" .. v.code .. ")", to) end
  if to.lo == 0 then return value(("%s & 0x%x"):format(at_level(v, 6), math.tointeger(to.hi)), to, 6) end
  if to == types.i32 then return value("i32(" .. v.code .. ")", to) end
  return unread()
end

local function in_number(v, to)
  if to == types.bool then return expression.test(v) end
  if v.type == types.bool then v = value(("(%s and 1 or 0)"):format(v.code), types.i32, ATOM, 0, 1) end
  if to.is_integer then
    local made = to_integer(v, to)
    made.elements, made.each = v.elements, v.each
    return made
  end
  if v.type.is_integer then return to_float(v, to) end
  return to == types.f32 and rounded(v) or value(v.code, to, v.level)
end

--- A value in another type.
---@param v table
---@param to table
---@return table
function expression.convert(v, to)
  local from = v.type
  if from == to then return v end
  if from.kind == "number" and to.kind == "number" then return in_number(v, to) end
  if v.make then return v.make(to) end
  local is_null = from == types.null and (to.kind == "pointer" or to.kind == "list")
  local is_array = (from.kind == "vector" or from.kind == "pointer") and (to.kind == "pointer" or to.kind == from.kind)
  if is_null or is_array and (from.of == to.of or from.of == types.void or to.of == types.void) then return v end
  if from.kind == "list" and to.kind == "list" and from.of.kind == to.of.kind then return v end
  if to == types.stream and (v.code == "0" or from == types.null) then return value("dev:default_stream()", to) end
  if to == types.dim3 and from.kind == "number" then return value(("{ x = %s, y = 1, z = 1 }"):format(v.code), to) end
  return unread()
end

local convert = expression.convert

-- An operand of a computation in a float type: integers are converted by Lua, where one of both is a float.
local function operand(v, to, other)
  if to.is_integer or not v.type.is_integer or other.type.is_integer or v.type == types.bool then
    return convert(v, to)
  end
  local exact = to == types.f64 or v.hi <= EXACT and v.lo >= -EXACT
  return exact and not v.code:find "^%d+$" and v or convert(v, to)
end

-- The numbers that a result lies between; nil: any.
local function bounds(op, a, b)
  if op == "+" then return a.lo + b.lo, a.hi + b.hi end
  if op == "-" then return a.lo - b.hi, a.hi - b.lo end
  if a.lo < 0 or b.lo < 0 then return nil end
  if op == "*" then return a.lo * b.lo, a.hi * b.hi end
  if op == "/" then return a.lo // math.max(b.hi, 1), a.hi // math.max(b.lo, 1) end
  if op == "<<" and b.hi < 64 then return a.lo * 2.0 ^ b.lo, a.hi * 2.0 ^ b.hi end
  if op == "%" or op == "&" then return 0, math.min(a.hi, b.hi) end
  if op == ">>" then return 0, a.hi end
end

-- n * sizeof(float): how many elements of how many bytes each.
local function multiplied(made, a, b)
  local sized, times = a.elements and a or b, a.elements and b or a
  if not sized.elements or times.elements then return made end
  made.each = sized.each
  made.elements = sized.elements.code == "1" and times or expression.arithmetic("*", times, sized.elements)
  return made
end

--- A number that C computes of two.
---@param op string
---@param a table
---@param b table
---@return table
function expression.arithmetic(op, a, b)
  if a.type.kind ~= "number" or b.type.kind ~= "number" or not LEVELS[op] then return unread() end
  local shifts = op == "<<" or op == ">>"
  local kind = types.common(a.type, shifts and types.i32 or b.type)
  local level = LEVELS[op]
  if not kind.is_integer then
    if level < SUM or op == "%" then return unread() end
    local left, right = operand(a, kind, b), operand(b, kind, a)
    local made = value(("%s %s %s"):format(at_level(left, level), op, at_level(right, level + 1)), kind, level)
    return kind == types.f32 and rounded(made) or made
  end
  if op == "+" and a.code == "0" and kind == types.i64 then return value(b.code, kind, b.level, b.lo, b.hi) end
  local wraps = kind == types.u64 and (op == "+" or op == "-" or op == "*") -- the same as of signed numbers
  if a.type == types.bool or not wraps then a = convert(a, kind) end
  if b.type == types.bool or not wraps then b = convert(b, shifts and types.i32 or kind) end
  local lo, hi = bounds(op, a, b)
  local made
  if (op == "/" or op == "%") and (a.lo < 0 or b.lo < 0) then
    local call = op == "%" and "math.fmod" or "quotient"
    made = value(("%s(%s, %s)"):format(call, a.code, b.code), types.i64)
  else
    if op == ">>" and a.lo < 0 then return unread() end
    local sign = op == "/" and "//" or op == "^" and "~" or op
    made = value(("%s %s %s"):format(at_level(a, level), sign, at_level(b, level + 1)), types.i64, level, lo, hi)
  end
  made = kind.lo < 0 and value(made.code, kind, made.level, lo, hi) or convert(made, kind) -- no int overflows in C
  return op == "*" and multiplied(made, a, b) or made
end

--- The product of some numbers.
---@param list table[]
---@return table
function expression.product(list)
  local total = list[1]
  for i = 2, #list do total = expression.arithmetic("*", total, list[i]) end
  return total
end

-- ---- by kind ------------------------------------------------------------------------------------

local read = {}

--- The value of an expression.
---@param it table
---@param e table
---@return table
function expression.read(it, e) return (read[e.kind] or unread)(it, e) end

--- The same in a type.
---@param it table
---@param e table
---@param to table
---@return table
function expression.as(it, e, to)
  local made = convert(expression.read(it, e), to)
  return made.code and made or unread()
end

--- How many elements or blocks there are: a call of moonwarp's that is given less than 1 raises an error.
---@param it table
---@param e table
---@return string code
function expression.count(it, e)
  local v = expression.read(it, e)
  return v.type.is_integer and v.type ~= types.bool and v.code or convert(v, types.i64).code
end

-- What stands between the quotes of a token, where Lua has C's escapes.
local function inner(text)
  local body = text:match "^['\"](.*)['\"]$" or unread()
  if body:find "\\[^abfnrtv\\'\"0]" or body:find "\\0%d" then return unread() end
  return body == '"' and '\\"' or body
end

function read.string(it, e)
  local parts = {}
  for i = e.first, e.last do parts[#parts + 1] = inner(it.tokens[i]) end
  local text = table.concat(parts)
  local made = value('"' .. text .. '"', types.string)
  made.text = text
  return made
end

function read.number(it, e)
  local text = it.tokens[e.op]
  if KNOWN[text] then return value(KNOWN[text][1], types[KNOWN[text][2]]) end
  if text:find "^'" then
    local byte = load("return " .. text)():byte()
    return { code = tostring(byte), type = types.char, level = ATOM, lo = byte, hi = byte, text = inner(text) }
  end
  local digits, suffix = text:lower():match "^(0x%x-)([ul]*)$"
  if not digits then digits, suffix = text:lower():match "^(%d+)([ul]*)$" end
  if digits then
    local number = digits:find "^0%d" and tonumber(digits, 8) or tonumber(digits)
    local wide = suffix:find "l" or number > (suffix:find "u" and 0xffffffff or 0x7fffffff)
    local kind = types[(suffix:find "u" and "u" or "i") .. (wide and "64" or "32")]
    return value(digits:find "^0%d" and tostring(number) or digits, kind, ATOM, number, number)
  end
  local real, single = text:lower():match "^([%d.]+e?[-+]?%d*)(f?)$"
  local number = tonumber(real) or unread()
  local made = value(real:gsub("^%.", "0."):gsub("%.$", ".0"):gsub("%.e", ".0e"), types.f64, ATOM, number, number)
  return single == "f" and rounded(made) or made
end

function read.name(it, e)
  local name = it.tokens[e.op]
  if e.op + 1 <= e.last then return unread() end
  local symbol = it:find(name)
  if not symbol then
    if name == "cudaSuccess" then return { type = types.status } end
    return KNOWN[name] and value(KNOWN[name][1], types[KNOWN[name][2]]) or unread()
  end
  if not symbol.type then return unread() end
  if symbol.type == types.status then return { type = types.status } end
  it.touched[symbol] = true
  local made = value(symbol.code or symbol.name, symbol.type, symbol.level, symbol.lo, symbol.hi)
  made.symbol = symbol
  if symbol.elements and it:is_stable(symbol.elements.code) then
    made.elements, made.each = symbol.elements, symbol.each
  end
  return made
end

function read.brackets(it, e) return expression.read(it, e.a) end

function read.cast(it, e)
  if #e.list ~= 1 and not e.a then return unread() end
  local to = it:type_between(e.first, (e.a or e.list[1]).first - 1, true) or unread()
  if to == types.dim3 then return expression.dims(it, e.list) end
  local v = expression.read(it, e.a or e.list[1])
  return to == types.void and v or convert(v, to)
end

--- dim3's three numbers.
---@param it table
---@param list table[]
---@return table
function expression.dims(it, list)
  local one = #list == 1 and expression.read(it, list[1])
  if one and one.type == types.dim3 then return one end
  local codes = {}
  for i = 1, 3 do codes[i] = list[i] and expression.as(it, list[i], types.u32).code or "1" end
  return value(("{ x = %s, y = %s, z = %s }"):format(table.unpack(codes)), types.dim3)
end

function read.new(it, e)
  local of = it:type_between(e.first + 1, math.min(e.op - 1, e.last)) or unread()
  if it.tokens[e.op] ~= "[" or #e.list ~= 1 then return unread() end
  local elements = expression.count(it, e.list[1])
  return { type = { kind = "memory" },
           make = function(to) return to.of == of and it.array("pageable", of, elements) or unread() end }
end

-- What sizeof x, sizeof(x), sizeof(*x) or sizeof(x[0]) is about: the type of the variable, or of what it points to.
local function sized(it, e)
  local text = it:text(e.first, e.last):gsub("[()]", " ")
  local star, name, index = text:match "^sizeof +(%*?) *([%w_]+) *(%[? ?%w* ?%]?) *$"
  local symbol = name and it:find(name)
  local kind = symbol and symbol.type or unread()
  if star == "" and index == "" then return kind end
  return not kind.dims and kind.of or unread()
end

read["sizeof"] = function(it, e)
  local of = it:type_between(e.first, e.last, true) or sized(it, e)
  local total = of.sizes and expression.product(of.sizes) or value("1", types.u64, ATOM, 1, 1)
  local bytes = of.sizes and of.of.bytes or of.bytes or (of.kind == "pointer" or of.kind == "list") and 8 or unread()
  local each = value(tostring(bytes), types.u64, ATOM, bytes, bytes)
  local made = of.sizes and expression.arithmetic("*", total, each) or each
  made.elements, made.each = total, bytes
  return made
end

function read.conditional(it, e)
  local test = expression.test(expression.read(it, e.a))
  if test.code == "true" then return expression.read(it, e.b) end
  if test.code == "false" then return expression.read(it, e.c) end
  it.frozen = it.frozen + 1
  local yes, no = expression.read(it, e.b), expression.read(it, e.c)
  it.frozen = it.frozen - 1
  local kind = yes.type
  if kind.kind == "number" and no.type ~= kind then kind = types.common(kind, no.type) end
  if kind == types.bool or kind.kind == "pointer" or kind.kind == "status" then return unread() end
  yes, no = convert(yes, kind), convert(no, kind)
  return value(("%s and %s or %s"):format(at_level(test, BOTH), at_level(yes, BOTH + 1), at_level(no, EITHER)), kind,
    EITHER, math.min(yes.lo, no.lo), math.max(yes.hi, no.hi))
end

-- ---- operators ----------------------------------------------------------------------------------

function read.unary(it, e)
  local op = it.tokens[e.op]
  if op == "*" or op == "&" then return it:element(e) end
  local v = expression.read(it, e.a)
  if op == "!" then
    v = expression.test(v)
    if v.code == "true" or v.code == "false" then return boolean(v.code == "false") end
    return value("not " .. at_level(v, UNARY), types.bool, UNARY)
  end
  if v.type.kind ~= "number" then return unread() end
  if op == "+" then return v end
  if op ~= "-" then return unread() end
  if v.type.lo == 0 then return expression.arithmetic("-", value("0", types.i32, ATOM, 0, 0), v) end
  local kind = v.type.is_integer and types.common(v.type, types.i32) or v.type
  return value("-" .. at_level(v, UNARY + 1), kind, UNARY, -v.hi, -v.lo)
end

local function both(it, e, op)
  local left = expression.test(expression.read(it, e.a))
  local decides, passes = "false", "true"
  if op == "||" then decides, passes = passes, decides end
  if left.code == decides then return left end
  local may_skip = left.code ~= passes and 1 or 0
  it.frozen = it.frozen + may_skip
  local right = expression.test(expression.read(it, e.b))
  it.frozen = it.frozen - may_skip
  if left.code == passes then return right end
  if right.code == passes then return left end
  local level = op == "&&" and BOTH or EITHER
  return value(("%s %s %s"):format(at_level(left, level), op == "&&" and "and" or "or", at_level(right, level + 1)),
    types.bool, level)
end

local function compared(op, a, b)
  local is_status = a.type == types.status or b.type == types.status
  if is_status then -- cudaSuccess against itself, or against 0
    if op ~= "==" and op ~= "!=" or not (a.type == b.type or (a.code or b.code) == "0") then return unread() end
    return boolean(op == "==")
  end
  if a.type.kind == "number" and b.type.kind == "number" then
    if a.type ~= b.type or a.type == types.bool and op ~= "==" and op ~= "!=" then
      local kind = types.common(a.type, b.type)
      a, b = operand(a, kind, b), operand(b, kind, a)
    end
  elseif a.type ~= types.null and b.type ~= types.null or op ~= "==" and op ~= "!=" then
    return unread()
  end
  return value(("%s %s %s"):format(at_level(a, TEST + 1), COMPARED[op], at_level(b, TEST + 1)), types.bool, TEST)
end

function read.binary(it, e)
  local op = it.tokens[e.op]
  if op == "&&" or op == "||" then return both(it, e, op) end
  if op == ">" and it.tokens[e.op + 1] == ">" and e.b.first == e.op + 2 then op = ">>" end
  local a, b = expression.read(it, e.a), expression.read(it, e.b)
  if COMPARED[op] then return compared(op, a, b) end
  local left = a.type.kind == "pointer" or a.type.kind == "vector"
  if left and b.type.is_integer then return it:element(e) end
  return expression.arithmetic(op, a, b)
end

function read.index(it, e) return it:element(e) end

read.member = read.index

function read.call(it, e) return it:call(e) or unread() end

return expression
