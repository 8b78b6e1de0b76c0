-- SPDX-License-Identifier: MIT
--
-- Headers of NumPy files: what is written, what is read, what is rejected with the way out.

local support = require "tests.support"
local npy = require "moonwarp.base.npy"

-- What numpy.save writes for numpy.zeros((2, 3), "<f4"), header only.
local NUMPY = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

local function padded(text)
  return text .. (" "):rep(127 - #text) .. "\n"
end

local function read(bytes)
  local name = os.tmpname()
  support.write(name, bytes)
  local file <close> = assert(io.open(name, "rb"))
  os.remove(name)
  return npy.read(file)
end

local function header(descr, fortran, shape)
  local text = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n"):format(descr, fortran, shape)
  return "\x93NUMPY\1\0" .. string.pack("<I2", #text) .. text
end

describe("a .npy header", function()
  it("is what NumPy itself writes", function()
    assert.are.equal(padded(NUMPY), npy.header("f32", { 2, 3 }))
  end)

  it("is a multiple of 64 bytes long and reads back", function()
    for _, dtype in ipairs { "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" } do
      for _, shape in ipairs { { 7 }, { 2, 3 }, { 4, 5, 6 }, { 1, 2, 3, 100000 } } do
        local bytes = npy.header(dtype, shape)
        assert.are.equal(0, #bytes % 64)
        local back = assert(read(bytes))
        assert.are.equal(dtype, back.dtype)
        assert.are.same(shape, back.shape)
      end
    end
  end)

  it("is read in versions 2 and 3", function()
    local text = "{'descr': '<i2', 'fortran_order': False, 'shape': (5,), }\n"
    for version = 2, 3 do
      local back = assert(read("\x93NUMPY" .. string.char(version, 0) .. string.pack("<I4", #text) .. text))
      assert.are.same({ dtype = "i16", shape = { 5 }, count = 5 }, back)
    end
  end)

  it("of a scalar has one element, of booleans has u8", function()
    assert.are.same({ dtype = "f64", shape = { 1 }, count = 1 }, read(header("<f8", "False", "()")))
    assert.are.equal("u8", read(header("|b1", "False", "(3,)")).dtype)
    assert.are.same({ 3, 4 }, read(header("<f4", "False", "(3L, 4L)")).shape)
  end)

  it("in Fortran order is taken for one dimension only", function()
    assert.are.same({ 9 }, read(header("<f8", "True", "(9,)")).shape)
    local none, reason = read(header("<f8", "True", "(3, 3)"))
    assert.is_nil(none)
    assert.are.equal("the array is in Fortran order; in NumPy: numpy.ascontiguousarray(a)", reason)
  end)

  it("is rejected with a reason", function()
    local cases = {
      [""] = "not a .npy file",
      ["PK\3\4 something else"] = "not a .npy file",
      ["\x93NUMPY\9\0"] = "version 9 of the format is not known",
      ["\x93NUMPY\1\0\255\0{"] = "the file ends inside its header",
      [header(">f4", "False", "(2,)")] =
        "big-endian elements (>f4); in NumPy: a.astype(a.dtype.newbyteorder('<'))",
      [header("<c16", "False", "(2,)")] =
        "elements of type '<c16' have no type here; f2, f4, f8, i1 to i8 and u1 to u8 do",
      [header("<f4", "False", "(1, 1, 1, 1, 1)")] = "5 dimensions; 1 to 4 are possible",
      [header("<f4", "False", "(0,)")] = "the array has no elements",
      [header("<f4", "False", "(2, -1)")] = "a size of -1 in its shape",
      [header("<f4", "False", "(99999999999999999999,)")] = "the shape (99999999999999999999,) is none",
      [header("<f4", "False", "(two,)")] = "the shape (two,) is none",
      [(header("x", "False", "(2,)"):gsub("'x'", "[('a', '<f4'), ('b', '<i4')]"))] =
        "structured elements; in NumPy: save each field on its own, as a['name']",
      [header("<U3", "False", "(2,)")] =
        "elements of type '<U3' have no type here; f2, f4, f8, i1 to i8 and u1 to u8 do",
      [header("|O", "False", "(2,)")] =
        "elements of type '|O' have no type here; f2, f4, f8, i1 to i8 and u1 to u8 do",
      ["\x93NUMPY\1\0\3\0{}\n"] = "the header lacks descr, fortran_order or shape",
    }
    for bytes, expected in pairs(cases) do
      local none, reason = read(bytes)
      assert.is_nil(none)
      assert.are.equal(expected, reason)
    end
  end)

  it("has no bf16", function()
    local none, reason = npy.header("bf16", { 2 })
    assert.is_nil(none)
    assert.are.equal("NumPy has no bf16; copy into an array of f32 first", reason)
  end)
end)
