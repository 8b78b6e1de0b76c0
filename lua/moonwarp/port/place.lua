-- SPDX-License-Identifier: MIT
--
-- What C assigns to, and what it points to: variables, elements and members. A place is { code =, type =, set = }: how
-- it is read, and the line that writes a text to it; symbol: of a variable; rounds: an array's element is rounded as
-- its type is.

local expression = require "moonwarp.port.expression"
local types = require "moonwarp.port.types"

local place = {}

local unread, value = expression.unread, expression.value

--- An index from 1 on, of one from 0 on; of none the first.
---@param v table?
---@return string
function place.counted(v)
  local number = math.tointeger(tonumber(v and v.code or 0))
  return number and tostring(number + 1) or v.level < 9 and ("(%s) + 1"):format(v.code) or v.code .. " + 1"
end

local pointed

-- The array of a[i][j] or *p, and the element's number: i * M + j of float a[N][M]; or a list's member alone.
local function indexed(it, e)
  if e.kind == "brackets" then return indexed(it, e.a) end
  if e.kind == "unary" then
    local base, offset = pointed(it, e.a)
    return base.type.dims and unread() or base, offset
  end
  local chain = {}
  while e.kind == "index" do
    table.insert(chain, 1, expression.read(it, e.b))
    e = e.a
  end
  local base, offset = expression.read(it, e), nil
  if base.type.kind == "list" then
    base = value(("%s[%s]"):format(base.code, table.remove(chain, 1).code), base.type.of)
    if #chain == 0 then return base, nil, true end
  end
  local sizes = base.type.dims or { false }
  if base.type.kind ~= "pointer" and base.type.kind ~= "vector" or #chain ~= #sizes then return unread() end
  for i, index in ipairs(chain) do
    offset = offset and expression.arithmetic("*", offset, sizes[i])
    offset = offset and expression.arithmetic("+", offset, index) or index
  end
  return base, offset.code ~= "0" and offset or nil
end

-- The array that a pointer is one into, and how far it points: p + n - 1, &p[i].
function pointed(it, e)
  local op = it.tokens[e.op]
  if e.kind == "brackets" then return pointed(it, e.a) end
  if e.kind == "binary" and (op == "+" or op == "-") then
    local base, offset = pointed(it, e.a)
    local more = expression.as(it, base.type.dims and unread() or e.b, types.i64)
    return base, expression.arithmetic(op, offset or value("0", types.i64, nil, 0, 0), more)
  end
  if e.kind == "unary" and op == "&" then
    local base, offset, is_member = indexed(it, e.a.kind == "index" and e.a or unread())
    return is_member and unread() or base, offset
  end
  local base = expression.read(it, e)
  return (base.type.kind == "pointer" or base.type.kind == "vector") and base or unread()
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
    local symbol = expression.read(it, e).symbol
    return symbol and not symbol.is_const and plain(symbol.name, symbol.type, symbol) or unread()
  elseif e.kind == "index" or e.kind == "unary" and it.tokens[e.op] == "*" then
    local base, offset, is_member = indexed(it, e)
    if is_member then return plain(base.code, base.type) end
    local kind, index = base.type.of, place.counted(offset)
    if kind.kind ~= "number" or kind == types.bool then return unread() end
    return { code = ("%s:get(%s)"):format(base.code, index), type = kind, rounds = kind == types.f32,
             set = function(code) return ("%s:set(%s, %s)"):format(base.code, index, code) end }
  elseif e.kind == "member" then
    local base, name = expression.read(it, e.a), it.tokens[e.op]
    if base.type == types.dim3 then
      local side = plain(base.code .. "." .. name, types.u32)
      side.lo, side.hi = 1, 2147483647 -- what a launch takes
      return side
    end
    for _, field in ipairs(base.type.fields or {}) do
      if field.name == name and field.type then return plain(base.code .. "." .. (field.own or name), field.type) end
    end
  end
  return unread()
end

--- A value read from a place; of a pointer past some elements of an array, a view.
---@param it table
---@param e table
---@return table
function place.read(it, e)
  if e.kind ~= "binary" and it.tokens[e.op] ~= "&" then
    local one = place.of(it, e)
    return value(one.code, one.type, nil, one.lo, one.hi)
  end
  local base, offset = pointed(it, e)
  if base.type.dims or base.type.of.kind ~= "number" then return unread() end
  if not offset then return value(base.code, types.pointer(base.type.of)) end
  local past = offset.level < 10 and "(" .. offset.code .. ")" or offset.code
  return value(("%s:view(%s, #%s - %s)"):format(base.code, place.counted(offset), base.code, past),
    types.pointer(base.type.of))
end

--- The expression without casts and parentheses around it.
---@param e table
---@return table
function place.bare(e)
  while e.kind == "brackets" or e.kind == "cast" and (e.a or #e.list == 1) do e = e.a or e.list[1] end
  return e
end

--- The variable, element or member whose address an argument is: &p, (void **)&p.
---@param it table
---@param e table
---@return table
function place.target(it, e)
  e = place.bare(e)
  if e.kind ~= "unary" or it.tokens[e.op] ~= "&" then return unread() end
  local one = place.of(it, place.bare(e.a))
  if one.symbol then it:renewed(one.symbol) end
  return one
end

--- Where a copy begins or ends: { array =, offset = }, or the place of a variable alone.
---@param it table
---@param e table
---@return table
function place.side(it, e)
  e = place.bare(e)
  local inner = e.kind == "unary" and it.tokens[e.op] == "&" and place.bare(e.a)
  if inner and inner.kind ~= "index" then return { place = place.of(it, inner) } end
  local base, offset = pointed(it, e)
  return offset and (base.type.of.kind ~= "number" or base.type.dims and not inner) and unread()
    or { array = base, offset = offset }
end

return place
