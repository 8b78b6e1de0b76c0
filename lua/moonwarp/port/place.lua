-- SPDX-License-Identifier: MIT
--
-- What C assigns to, and what it takes the address of: variables, elements and members. A place is { code =, type =,
-- set = }: how it is read, and the line that writes a text to it; symbol: of a variable; rounds: an array's element is
-- rounded as its type is.

local expression = require "moonwarp.port.expression"
local types = require "moonwarp.port.types"

local place = {}

local unread, value = expression.unread, expression.value

--- An index from 1 on, of one from 0 on.
---@param v table
---@return string
function place.counted(v)
  local number = math.tointeger(tonumber(v.code))
  return number and tostring(number + 1) or v.level < 9 and ("(%s) + 1"):format(v.code) or v.code .. " + 1"
end

local function is_array(v) return v.type.kind == "pointer" or v.type.kind == "vector" end

-- Which array an index expression is about, and which element of it: a[i][j] of float a[N][M] is number i * M + j.
local function indexed(it, e)
  if e.kind == "brackets" then return indexed(it, e.a) end
  if e.kind == "unary" then return expression.read(it, e.a), value("0", types.i32, nil, 0, 0) end
  local chain = {}
  while e.kind == "index" do
    table.insert(chain, 1, expression.read(it, e.b))
    e = e.a
  end
  local base = expression.read(it, e)
  if base.type.kind == "list" then
    local one = table.remove(chain, 1)
    base = value(("%s[%s]"):format(base.code, one.code), base.type.of)
    if #chain == 0 then return base end
  end
  local sizes = base.type.dims or {}
  if not is_array(base) or #chain ~= math.max(#sizes, 1) then return unread() end
  local offset = chain[1]
  for i = 2, #chain do
    offset = expression.arithmetic(it, "+", expression.arithmetic(it, "*", offset, sizes[i]), chain[i])
  end
  return base, offset
end

local function of_element(base, index)
  local kind = base.type.of
  if kind.kind ~= "number" or kind == types.bool then return unread() end
  return { code = ("%s:get(%s)"):format(base.code, index), type = kind, rounds = kind == types.f32,
           set = function(code) return ("%s:set(%s, %s)"):format(base.code, index, code) end }
end

local function plain(code, kind, symbol)
  return { code = code, type = kind, symbol = symbol, set = function(text) return code .. " = " .. text end }
end

--- The place that an expression names.
---@param it table
---@param e table
---@return table
function place.of(it, e)
  if e.kind == "brackets" then return place.of(it, e.a) end
  if e.kind == "name" then
    local v = expression.read(it, e)
    local symbol = v.symbol
    if not symbol or symbol.is_const then return unread() end
    return plain(symbol.name, symbol.type, symbol)
  elseif e.kind == "index" or e.kind == "unary" and it.tokens[e.op] == "*" then
    local base, offset = indexed(it, e)
    if not offset then return plain(base.code, base.type) end
    return of_element(base, place.counted(offset))
  elseif e.kind == "member" then
    local base, name = expression.read(it, e.a), it.tokens[e.op]
    if base.type == types.dim3 then return plain(base.code .. "." .. name, types.u32) end
    for _, field in ipairs(base.type.fields or {}) do
      if field.name == name and field.type then
        return plain(("%s.%s"):format(base.code, field.own or name), field.type)
      end
    end
  end
  return unread()
end

--- A value read from a place, or the address of one.
---@param it table
---@param e table
---@return table
function place.read(it, e)
  if e.kind == "unary" and it.tokens[e.op] == "&" then
    local base, offset = indexed(it, e.a)
    if not offset or e.a.kind == "name" then return unread() end
    return place.from(base, offset)
  end
  local one = place.of(it, e)
  return value(one.code, one.type)
end

--- A pointer past some elements of an array: a view.
---@param base table
---@param offset table
---@return table
function place.from(base, offset)
  if base.type.dims or not is_array(base) or base.type.of.kind ~= "number" then return unread() end
  if offset.code == "0" then return value(base.code, types.pointer(base.type.of)) end
  local past = offset.level < 10 and "(" .. offset.code .. ")" or offset.code
  return value(("%s:view(%s, #%s - %s)"):format(base.code, place.counted(offset), base.code, past),
    types.pointer(base.type.of))
end

-- The pointer that a sum begins with, and how far past it the sum is: p + n - 1.
local function summed(it, e)
  local op = it.tokens[e.op]
  if e.kind == "brackets" then return summed(it, e.a) end
  if e.kind ~= "binary" or op ~= "+" and op ~= "-" then return expression.read(it, e), nil end
  local base, offset = summed(it, e.a)
  local more = expression.convert(it, expression.read(it, e.b), types.i64)
  if not is_array(base) then return unread() end
  return base, expression.arithmetic(it, op, offset or value("0", types.i64, nil, 0, 0), more)
end

--- The value of a pointer and what is added to it.
---@param it table
---@param e table
---@return table
function place.sum(it, e)
  local base, offset = summed(it, e)
  return place.from(base, offset)
end

-- The expression without casts and parentheses around it.
local function bare(e)
  while e.kind == "brackets" or e.kind == "cast" and (e.a or #e.list == 1) do e = e.a or e.list[1] end
  return e
end

place.bare = bare

--- The variable, element or member whose address an argument is: &p, (void **)&p.
---@param it table
---@param e table
---@return table
function place.target(it, e)
  e = bare(e)
  if e.kind ~= "unary" or it.tokens[e.op] ~= "&" then return unread() end
  local inner = bare(e.a)
  local one = place.of(it, inner)
  if inner.kind == "name" then it:renewed(one.symbol) end
  return one
end

--- Where a copy begins or ends: { array =, offset = }, or the place of a variable alone.
---@param it table
---@param e table
---@return table
function place.side(it, e)
  e = bare(e)
  if e.kind == "unary" and it.tokens[e.op] == "&" then
    local inner = bare(e.a)
    if inner.kind ~= "index" then return { place = place.of(it, inner) } end
    local base, offset = indexed(it, inner)
    if not offset then return { place = place.of(it, inner) } end
    if offset.code ~= "0" and base.type.of.kind ~= "number" then return unread() end
    return { array = base, offset = offset.code ~= "0" and offset or nil }
  elseif e.kind == "binary" then
    local base, offset = summed(it, e)
    return base.type.of.kind == "number" and not base.type.dims and { array = base, offset = offset } or unread()
  end
  local array = expression.read(it, e)
  return is_array(array) and { array = array } or unread()
end

return place
