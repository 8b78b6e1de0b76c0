-- SPDX-License-Identifier: MIT
--
-- What a program prints: printf and its like, and std::cout, as io.write of a format of Lua's.

local expression = require "moonwarp.port.expression"
local types = require "moonwarp.port.types"

local output = {}

local unread = expression.unread

-- Writes to a file a format with values.
local function write(it, target, format, args)
  local text = #args == 0 and ('"%s"'):format(format:gsub("%%%%", "%%"), nil)
    or ('("%s"):format(%s)'):format(format, table.concat(args, ", "))
  it:emit(("%s(%s)"):format(target == "io.stdout" and "io.write" or target .. ":write", text))
end

-- One conversion of printf's: what Lua has for it, and the value's text.
local function converted(it, flags, letter, e)
  local v = expression.convert(expression.read(it, e), letter == "s" and types.string
    or letter:find "[feEgGaA]" and types.f64 or types.i64)
  local code = v.code
  if letter:find "[uxXo]" and v.lo < 0 then
    if v.lo < -2147483648 then return unread() end
    code = ("%s & 0xffffffff"):format(v.level < 6 and "(" .. code .. ")" or code)
  end
  return "%" .. flags .. (letter == "u" and "d" or letter == "i" and "d" or letter), code
end

local function formatted(it, target, list, first)
  local literal = expression.read(it, list[first] or unread())
  local args, at = {}, first
  local format = (literal.text or unread()):gsub("%%([-+ #0]*%d*%.?%d*)([hlzjt]*)(.)", function(flags, _, letter)
    if letter == "%" then return "%%" end
    at = at + 1
    if not letter:find "[diuxXocsfFeEgGaA]" or not list[at] then return unread() end
    local made, code = converted(it, flags, letter, list[at])
    args[#args + 1] = code
    return made
  end)
  if at ~= #list then return unread() end
  write(it, target, format, args)
end

function output.printf(it, list) formatted(it, "io.stdout", list, 1) end

function output.fprintf(it, list)
  local file = expression.read(it, list[1])
  formatted(it, file.type.kind == "file" and file.code or unread(), list, 2)
end

function output.puts(it, list)
  write(it, "io.stdout", "%s\\n", { expression.as(it, list[1], types.string).code })
end

function output.fflush() end

-- What std::cout writes for a value: as %g for numbers with a fraction.
local function shown(it, e, args)
  local name = e.kind == "name" and it.tokens[e.op]
  if name == "endl" then return "\\n" end
  if name == "flush" then return "" end
  local v = expression.read(it, e)
  if v.text then return (v.text:gsub("%%", "%%%%")) end
  if v.type == types.bool then v = expression.convert(v, types.i32) end
  if v.type.kind ~= "string" and v.type.kind ~= "number" or v.type.bytes == 1 then return unread() end -- a character
  args[#args + 1] = v.code
  return v.type.kind == "string" and "%s" or v.type.is_integer and "%d" or "%g"
end

--- std::cout << a << b.
---@param it table
---@param e table
function output.stream(it, e)
  local items = {}
  while e.kind == "binary" and it.tokens[e.op] == "<<" do
    table.insert(items, 1, e.b)
    e = e.a
  end
  local file = expression.read(it, e)
  if file.type ~= types.cout then return unread() end
  local args, parts = {}, {}
  for i, item in ipairs(items) do parts[i] = shown(it, item, args) end
  write(it, file.code, table.concat(parts), args)
end

return output
