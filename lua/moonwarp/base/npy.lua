-- SPDX-License-Identifier: MIT
--
-- The NumPy .npy format, versions 1.0 to 3.0 (NEP 1 and numpy.lib.format): headers only, no device.
-- Shapes here are in NumPy's order, the slowest dimension first; array.lua turns them round.

local npy = {}

local MAGIC = "\x93NUMPY"

local TO_DESCR = {
  f16 = "<f2", f32 = "<f4", f64 = "<f8", i8 = "|i1", i16 = "<i2", i32 = "<i4", i64 = "<i8",
  u8 = "|u1", u16 = "<u2", u32 = "<u4", u64 = "<u8",
}

local FROM_DESCR = { ["|b1"] = "u8" }
for dtype, descr in pairs(TO_DESCR) do FROM_DESCR[descr] = dtype end
FROM_DESCR["<i1"], FROM_DESCR["<u1"] = "i8", "u8"

local function shape_text(shape)
  return #shape == 1 and ("(%d,)"):format(shape[1]) or "(" .. table.concat(shape, ", ") .. ")"
end

--- The header of a file, padded so that the data begins at a multiple of 64 bytes.
---@param dtype string      as in "f32"
---@param shape integer[]   slowest dimension first
---@return string? header   nil if NumPy has no such type
---@return string? reason
function npy.header(dtype, shape)
  local descr = TO_DESCR[dtype]
  if not descr then return nil,
    ("NumPy has no %s; copy into an array of f32 first"):format(dtype) end
  local text = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }"):format(descr,
    shape_text(shape))
  local padding = -(#MAGIC + 4 + #text + 1) % 64
  text = text .. (" "):rep(padding) .. "\n"
  return MAGIC .. "\1\0" .. string.pack("<I2", #text) .. text
end

-- The sizes, or nil if one is none.
local function read_shape(text)
  local shape = {}
  for number in text:gmatch("[^%s(),]+") do
    local size = math.tointeger(tonumber((number:gsub("L$", "")))) -- Python 2 wrote 3L
    if not size then return nil end
    shape[#shape + 1] = size
  end
  return shape
end

-- The header's text, or nil and the reason.
local function read_text(file)
  local start = file:read(8)
  if not start or #start < 8 or start:sub(1, 6) ~= MAGIC then return nil, "not a .npy file" end
  local major = start:byte(7)
  if major < 1 or major > 3 then return nil,
    ("version %d of the format is not known"):format(major) end
  local width = major == 1 and 2 or 4
  local size = file:read(width)
  if not size or #size < width then return nil, "the file ends inside its header" end
  local length = string.unpack("<I" .. width, size)
  local text = length <= 1 << 20 and file:read(length)
  if not text or #text < length then return nil, "the file ends inside its header" end
  return text
end

local function dtype_of(descr)
  if FROM_DESCR[descr] then return FROM_DESCR[descr] end
  if descr:sub(1, 1) == ">" then
    return nil, ("big-endian elements (%s); in NumPy: a.astype(a.dtype.newbyteorder('<'))"):format(descr)
  end
  return nil, ("elements of type '%s' have no type here; f2, f4, f8, i1 to i8 and u1 to u8 do"):format(descr)
end

local function check_shape(shape, fortran)
  if fortran == "True" and #shape > 1 then
    return "the array is in Fortran order; in NumPy: numpy.ascontiguousarray(a)"
  end
  if #shape > 4 then return ("%d dimensions; 1 to 4 are possible"):format(#shape) end
  for _, size in ipairs(shape) do
    if size == 0 then return "the array has no elements" end
    if size < 0 then return ("a size of %d in its shape"):format(size) end
  end
end

--- Reads a header; the file is then at the first byte of data.
---@param file file*        opened for reading, at its start
---@return table? header    dtype, shape (slowest dimension first; { 1 } for a scalar), count
---@return string? reason
function npy.read(file)
  local text, reason = read_text(file)
  if not text then return nil, reason end
  local descr = text:match("'descr'%s*:%s*'([^']*)'")
  local fortran = text:match("'fortran_order'%s*:%s*(%a+)")
  local inside = text:match("'shape'%s*:%s*(%b())")
  if text:find("'descr'%s*:%s*%[") then return nil,
    "structured elements; in NumPy: save each field on its own, as a['name']" end
  if not (descr and fortran and inside) then return nil,
    "the header lacks descr, fortran_order or shape" end
  local dtype, cause = dtype_of(descr)
  if not dtype then return nil, cause end
  local shape = read_shape(inside)
  if not shape then return nil, ("the shape %s is none"):format(inside) end
  if #shape == 0 then shape = { 1 } end
  cause = check_shape(shape, fortran)
  if cause then return nil, cause end
  local count = 1
  for _, size in ipairs(shape) do count = count * size end
  return { dtype = dtype, shape = shape, count = count }
end

return npy
