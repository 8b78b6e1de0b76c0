-- SPDX-License-Identifier: MIT
--
-- Arrays: making, asking, views, elements, files.

local support = require "tests.support"
local core, mw = support.core, support.mw
local fails, fails_as, fails_with = support.fails, support.fails_as, support.fails_with

local EXTREMES = {
  f16 = { 0.0, 1.5, -2.0, 65504.0, 2.0 ^ -24 },
  bf16 = { 0.0, 1.5, -2.0, 3.0 * 2.0 ^ 100, 2.0 ^ -120 },
  f32 = { 0.0, 0.1 + 0.0, -1e30, 16777217.0, 1e-45 },
  f64 = { 0.0, 0.1, -1e300, 2.0 ^ 53 + 2.0, 5e-324 },
  i8 = { 0, 127, -128 }, i16 = { 0, 32767, -32768 },
  i32 = { 0, 2147483647, -2147483648 }, i64 = { 0, math.maxinteger, math.mininteger },
  u8 = { 0, 255 }, u16 = { 0, 65535 }, u32 = { 0, 4294967295 }, u64 = { 0, math.maxinteger, -1 },
}
local DTYPES = { "f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" }
local WIDTH = { f16 = 2, bf16 = 2, f32 = 4, f64 = 8, i8 = 1, i16 = 2, i32 = 4, i64 = 8,
                u8 = 1, u16 = 2, u32 = 4, u64 = 8 }
local SPACES = { device = "array", pinned = "pinned", pageable = "pageable", managed = "managed" }

local function is_nan(value) return value ~= value end

local function single(value) return (string.unpack("<f", string.pack("<f", value))) end

local function each_device(noun, body)
  describe(noun, function() support.each_device(body) end)
end

each_device("an array made from a table", function(dev)
  for _, dtype in ipairs(DTYPES) do
    local values = EXTREMES[dtype]
    it("keeps the extremes of " .. dtype, function()
      local a <close> = dev:array(dtype, values)
      assert.are.equal(dtype, a:dtype())
      assert.are.equal(#values, #a)
      assert.are.equal(#values * WIDTH[dtype], a:nbytes())
      local expected = values
      if dtype == "f32" then
        expected = {}
        for i, value in ipairs(values) do expected[i] = single(value) end
      end
      assert.are.same(expected, a:totable())
      for i, value in ipairs(expected) do assert.are.equal(value, a:get(i)) end
    end)
  end

  it("takes the shape from the nesting, the outermost table being the slowest", function()
    local a <close> = dev:array("i32", { { { 1, 2 }, { 3, 4 }, { 5, 6 } } })
    assert.are.same({ 2, 3, 1 }, { a:shape() })
    assert.are.equal(3, a:dims())
    assert.are.equal(5, a:get(1, 3, 1))
    assert.are.equal(5, a:get(5))
    assert.are.same({ { { 1, 2 }, { 3, 4 }, { 5, 6 } } }, a:totable())
  end)

  it("rejects ragged, empty and deep tables by name", function()
    fails(function() dev:array("i32", { 1, 2 }, 2) end,
      "bad argument #3 to 'array' (a table's nesting gives the shape, no sizes go with it)")
    fails(function() dev:array("i32", { { 1, 2 }, { 3 } }) end,
      "element [2] of the table: 2 values expected as in the first one, got 1")
    fails(function() dev:array("i32", { { 1, 2 }, 3 }) end,
      "element [2] of the table: 2 values expected as in the first one, got number")
    fails(function() dev:array("i32", {}) end,
      "an array from a table needs at least one element in every dimension")
    fails(function() dev:array("i32", { {} }) end,
      "an array from a table needs at least one element in every dimension")
    fails(function() dev:array("i32", { { { { { 1 } } } } }) end,
      "an array has at most 4 dimensions, the table is nested deeper")
    local loop = {}
    loop[1] = loop
    fails(function() dev:array("i32", loop) end,
      "an array has at most 4 dimensions, the table is nested deeper")
  end)

  it("names the element that does not fit", function()
    fails(function() dev:array("u8", { { 1, 2 }, { 3, 300 } }) end,
      "element [2][2] of the table: u8 holds an integer from 0 to 255, got 300")
    fails(function() dev:array("i32", { 1, 2.5 }) end,
      "element [2] of the table: i32 holds an integer from -2147483648 to 2147483647, got 2.5")
    fails(function() dev:array("f32", { 1, "2" }) end,
      "element [2] of the table: f32 holds a number, got string '2'")
    fails(function() dev:array("f32", { 1, { 2 } }) end,
      "element [2] of the table: f32 holds a number, got table of 1")
  end)

  it("rejects a table whose shared rows stand for more bytes than there are", function()
    local level = {}
    for i = 1, 65536 do level[i] = 0 end
    for _ = 1, 3 do
      local outer = {}
      for i = 1, 65536 do outer[i] = level end
      level = outer
    end
    fails_with(function() dev:array("f64", level) end, "more bytes than an address can count")
  end)
end)

each_device("an array made from a string", function(dev)
  it("takes packed bytes, flat or in a shape", function()
    local bytes = string.pack("<i4i4i4i4", 1, -2, 3, -4)
    local a <close> = dev:array("i32", bytes)
    local b <close> = dev:array("i32", bytes, 2, 2)
    assert.are.same({ 1, -2, 3, -4 }, a:totable())
    assert.are.same({ { 1, -2 }, { 3, -4 } }, b:totable())
    assert.are.equal(bytes, b:bytes())
  end)

  it("rejects a length that does not fit", function()
    fails(function() dev:array("i32", "12345") end,
      "bad argument #2 to 'array' (the string has 5 bytes, which is not a whole number of i32 elements of 4 bytes)")
    fails(function() dev:array("i32", "12345678", 3) end,
      "bad argument #2 to 'array' (the string has 8 bytes, 3 elements of i32 need 12)")
    fails(function() dev:array("u8", "") end,
      "bad argument #2 to 'array' (the string is empty, an array has at least one element)")
  end)
end)

each_device("an array made by size", function(dev, id)
  it("has 1 to 4 dimensions, x first", function()
    for dims = 1, 4 do
      local sizes = table.move({ 3, 2, 4, 5 }, 1, dims, 1, {})
      local a <close> = dev:zeros("u16", table.unpack(sizes))
      assert.are.equal(dims, a:dims())
      assert.are.same(sizes, { a:shape() })
      local count = 1
      for _, size in ipairs(sizes) do count = count * size end
      assert.are.equal(count, #a)
      assert.are.equal(2 * count, a:nbytes())
      assert.are.equal(0, a:get(count))
    end
  end)

  it("shows what was never written", function()
    local f, i, u = dev:array("f64", 3), dev:array("i16", 3), dev:array("u8", 3)
    local h = dev:array("f16", 3)
    for k = 1, 3 do
      assert.is_true(is_nan(f:get(k)) and is_nan(h:get(k)))
      assert.are.equal(-1, i:get(k))
      assert.are.equal(255, u:get(k))
    end
  end)

  it("lies in the memory that was asked for", function()
    for space, maker in pairs(SPACES) do
      local a <close> = dev[maker](dev, "f32", { 1, 2, 3 })
      local b <close> = dev[maker](dev, "i32", 2)
      assert.are.equal(space, a:space())
      assert.are.equal(dev, a:device())
      assert.are.same({ 1.0, 2.0, 3.0 }, a:totable())
      assert.are.same({ -1, -1 }, b:totable())
      local place = space == "device" and id or id .. ", " .. space
      assert.are.equal("array<f32>[3] " .. place, tostring(a))
      assert.are.equal(0, a:address() % 16)
    end
  end)

  it("is filled with one value by full", function()
    local a <close> = dev:full(2.5, "f32", 2, 2)
    assert.are.same({ { 2.5, 2.5 }, { 2.5, 2.5 } }, a:totable())
  end)

  it("needs a known type and a possible size", function()
    fails(function() dev:array("f33", 3) end, "bad argument #1 to 'array' (no element type 'f33'; "
      .. "did you mean 'f32'?: f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32 or u64 expected)")
    fails_with(function() dev:array("float", 3) end, "no element type 'float'; did you mean 'f32'?: f16")
    fails_with(function() dev:array("int64", 3) end, "no element type 'int64'; did you mean 'i64'?: f16")
    fails(function() dev:zeros("quaternion", 3) end, "bad argument #1 to 'zeros' (no element type "
      .. "'quaternion': f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32 or u64 expected)")
    fails(function() dev:zeros() end, "bad argument #1 to 'zeros' (string expected, got no value)")
    fails(function() dev:zeros "f32" end, "an array needs its size: one to four integers, x first")
    fails(function() dev:zeros("f32", 1, 1, 1, 1, 1) end, "an array has at most 4 dimensions, got 5")
    fails(function() dev:zeros("f32", 0) end,
      "bad argument #2 to 'zeros' (a size of at least 1 expected, got 0)")
    fails(function() dev:zeros("f32", 4, -1) end,
      "bad argument #3 to 'zeros' (a size of at least 1 expected, got -1)")
    fails(function() dev:zeros("f32", 1.5) end,
      "bad argument #2 to 'zeros' (an integer expected, got 1.5)")
    fails(function() dev:zeros("f32", 0 / 0) end,
      "bad argument #2 to 'zeros' (an integer expected, got nan)")
    fails(function() dev:zeros("f64", 1 << 40, 1 << 40) end,
      "bad argument #3 to 'zeros' (the array would have more bytes than an address can count)")
    fails(function() dev:full(300, "u8", 2) end,
      "bad argument #1 to 'fill' (u8 holds an integer from 0 to 255, got 300)")
    fails(function() dev:zeros("f64", math.maxinteger) end,
      "bad argument #2 to 'zeros' (the array would have more bytes than an address can count)")
    fails(function() dev:zeros("f64", true) end,
      "bad argument #2 to 'zeros' (an integer expected, got true)")
  end)

  it("says what was wanted, free and there when the memory does not suffice", function()
    fails_as("no_memory", function() dev:empty("u8", 1 << 46) end, "out of ", "memory", "wanted ", "free ",
      " on " .. id)
    local a <close> = dev:zeros("f32", 4)
    assert.are.equal(0.0, a:get(4))
  end)
end)

each_device("the elements of an array", function(dev)
  it("are read and written by indices or by one position", function()
    local a <close> = dev:zeros("f32", 4, 3)
    assert.are.equal(a, a:set(2, 3, 7.5))
    a:set(1, 42)
    assert.are.equal(7.5, a:get(2, 3))
    assert.are.equal(7.5, a:get(10))
    assert.are.equal(42.0, a:get(1, 1))
  end)

  it("are asked for within the bounds", function()
    local a <close> = dev:zeros("f32", 4, 3)
    fails(function() a:get(5, 1) end, "bad argument #1 to 'get' (index from 1 to 4 expected, got 5)")
    fails(function() a:get(1, 0) end, "bad argument #2 to 'get' (index from 1 to 3 expected, got 0)")
    fails(function() a:get(13) end, "bad argument #1 to 'get' (index from 1 to 12 expected, got 13)")
    fails(function() a:get(1, 1, 1) end, "the array has 2 dimensions, got 3 indices")
    fails(function() a:get() end, "the array has 2 dimensions, got 0 indices")
    fails(function() a:get(1.5, 1) end,
      "bad argument #1 to 'get' (an integer expected, got 1.5)")
    fails(function() a:set(1) end, "set takes the indices and then the value")
    fails(function() a:set(4, 4, 0) end,
      "bad argument #2 to 'set' (index from 1 to 3 expected, got 4)")
    fails(function() a:set(1, 1, "x") end, "bad argument #3 to 'set' (f32 holds a number, got string 'x')")
    local b <close> = dev:zeros("i8", 2)
    fails(function() b:set(1, 128) end,
      "bad argument #2 to 'set' (i8 holds an integer from -128 to 127, got 128)")
    assert.are.equal(0, b:get(1))
  end)

  it("convert as the type does", function()
    local f <close> = dev:zeros("f16", 1)
    f:set(1, 1e6)
    assert.are.equal(math.huge, f:get(1))
    f:set(1, 0 / 0)
    assert.is_true(is_nan(f:get(1)))
    f:set(1, 1.0 + 2.0 ^ -11) -- half way between two numbers: to the even one
    assert.are.equal(1.0, f:get(1))
    local i <close> = dev:zeros("i32", 1)
    i:set(1, 3.0)
    assert.are.equal(3, i:get(1))
  end)
end)

each_device("views of an array", function(dev)
  it("share the memory", function()
    local a <close> = dev:array("i32", { { 1, 2, 3 }, { 4, 5, 6 } })
    local flat <close> = a:reshape(6)
    local row <close> = a:slice(2)
    local part <close> = a:view(2, 2, 2)
    assert.are.same({ 1, 2, 3, 4, 5, 6 }, flat:totable())
    assert.are.same({ 4, 5, 6 }, row:totable())
    assert.are.same({ { 2, 3 }, { 4, 5 } }, part:totable())
    row:set(1, 40)
    assert.are.equal(40, a:get(1, 2))
    assert.are.equal(40, part:get(1, 2))
    assert.are.equal(a:address() + 12, row:address())
    local element <close> = flat:slice(6)
    assert.are.same({ 6 }, element:totable())
  end)

  it("live on when the array is closed", function()
    local a = dev:array("i32", { 1, 2, 3 })
    local v <close> = a:view(2, 2)
    a:close()
    assert.are.same({ 2, 3 }, v:totable())
  end)

  it("stay inside", function()
    local a <close> = dev:zeros("i32", 3, 2)
    fails(function() a:view(0, 1) end,
      "bad argument #1 to 'view' (first element from 1 to 6 expected, got 0)")
    fails(function() a:view(7, 1) end,
      "bad argument #1 to 'view' (first element from 1 to 6 expected, got 7)")
    fails(function() a:view(5, 3) end, "bad argument #2 to 'view' "
      .. "(a view of 3 elements from element 5 on does not fit into the array's 6)")
    fails(function() a:reshape(4) end,
      "bad argument #1 to 'reshape' (the new shape has 4 elements, the array has 6)")
    fails(function() a:slice(3) end, "bad argument #1 to 'slice' (a slice from 1 to 2 expected, got 3)")
    fails(function() a:view(1) end, "an array needs its size: one to four integers, x first")
    fails(function() a:view(1, math.maxinteger) end,
      "bad argument #2 to 'view' (the array would have more bytes than an address can count)")
  end)

  it("may be read-only", function()
    local a <close> = dev:array("i32", { 1, 2 })
    local r <close> = a:readonly()
    local v <close> = r:view(1, 1)
    assert.is_true(r:is_readonly() and v:is_readonly())
    assert.is_false(a:is_readonly())
    for _, name in ipairs { "set", "upload", "copy", "fill", "linspace", "random" } do
      fails_with(function() r[name](r, 1) end, "(the array is a read-only view)")
    end
    a:set(1, 9)
    assert.are.equal(9, r:get(1))
  end)
end)

each_device("the contents of an array", function(dev)
  it("are filled, in every kind of memory and of any length", function()
    for _, maker in pairs(SPACES) do
      for _, count in ipairs { 1, 2, 3, 255, 1000 } do
        local a <close> = dev[maker](dev, "i16", count)
        assert.are.equal(a, a:fill(-7))
        assert.are.equal(-7, a:get(1))
        assert.are.equal(-7, a:get(count))
        assert.are.equal(string.pack("<i2", -7):rep(count), a:bytes())
      end
    end
  end)

  it("are filled inside a view alone", function()
    local a <close> = dev:zeros("f64", 6)
    local v <close> = a:view(3, 2)
    v:fill(1.5)
    assert.are.same({ 0.0, 0.0, 1.5, 1.5, 0.0, 0.0 }, a:totable())
  end)

  it("reject what the type cannot hold", function()
    local a <close> = dev:zeros("u8", 4)
    fails_with(function() a:fill(256) end, "256", "from 0 to 255")
    fails(function() a:fill "x" end, "bad argument #1 to 'fill' (number expected, got string)")
    fails(function() a:linspace(1) end, "bad argument #2 to 'linspace' (number expected, got nil)")
    assert.are.same({ 0, 0, 0, 0 }, a:totable())
  end)

  it("are uploaded from tables and strings of the whole size", function()
    local a <close> = dev:zeros("i32", 2, 2)
    assert.are.equal(a, a:upload { { 1, 2 }, { 3, 4 } })
    assert.are.same({ { 1, 2 }, { 3, 4 } }, a:totable())
    a:upload { 5, 6, 7, 8 }
    assert.are.same({ { 5, 6 }, { 7, 8 } }, a:totable())
    a:upload(string.pack("<i4i4i4i4", 9, 10, 11, 12))
    assert.are.same({ { 9, 10 }, { 11, 12 } }, a:totable())
    fails(function() a:upload { 1, 2 } end, "bad argument #1 to 'upload' "
      .. "(the table's shape is not the array's, nor is it flat with as many values)")
    fails(function() a:upload { { 1 }, { 2 }, { 3 }, { 4 } } end, "bad argument #1 to 'upload' "
      .. "(the table's shape is not the array's, nor is it flat with as many values)")
    fails(function() a:upload "1234" end, "bad argument #1 to 'upload' (16 bytes expected, got 4)")
    fails(function() a:upload() end,
      "bad argument #1 to 'upload' (string expected, got no value)")
    fails(function() a:upload("x", 1) end, "'upload' takes 1 argument at most, got 2")
    assert.are.same({ { 9, 10 }, { 11, 12 } }, a:totable())
  end)

  it("are cloned with type, shape and kind of memory", function()
    for _, maker in pairs(SPACES) do
      local a <close> = dev[maker](dev, "u16", { { 1, 2 }, { 3, 4 } })
      local b <close> = a:clone()
      assert.are.equal(a:space(), b:space())
      assert.are.same({ { 1, 2 }, { 3, 4 } }, b:totable())
      a:set(1, 9)
      assert.are.equal(1, b:get(1))
    end
  end)
end)

each_device("NumPy files", function(dev)
  it("come back as they were saved", function()
    support.with_folder(function(folder)
      local path = folder .. "/a.npy"
      for _, dtype in ipairs { "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" } do
        local a <close> = dev:array(dtype, { { 1, 2, 3 }, { 4, 5, 6 } })
        assert.are.equal(a, a:save(path))
        local b <close> = dev:load(path)
        assert.are.equal(dtype, b:dtype())
        assert.are.same({ 3, 2 }, { b:shape() })
        assert.are.equal(a:bytes(), b:bytes())
      end
    end)
  end)

  it("have the header that NumPy writes, x being the last index there", function()
    support.with_folder(function(folder)
      local path = folder .. "/a.npy"
      local a <close> = dev:zeros("f32", 5, 3)
      a:save(path)
      local text = support.read(path)
      assert.are.equal("\x93NUMPY\1\0", text:sub(1, 8))
      assert.is_truthy(text:find("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }", 1, true))
      assert.are.equal(0, (#text - a:nbytes()) % 64)
    end)
  end)

  it("are rejected with the path and the reason", function()
    support.with_folder(function(folder)
      local path = folder .. "/bad.npy"
      fails_with(function() dev:load(path) end, path, "No such file")
      support.write(path, "hello")
      fails(function() dev:load(path) end, path .. ": not a .npy file")
      local a <close> = dev:zeros("i32", 100)
      a:save(path)
      support.write(path, support.read(path):sub(1, -5))
      fails(function() dev:load(path) end, path .. ": the file ends after 99 of 100 elements")
      local b <close> = dev:zeros("bf16", 1)
      fails_with(function() b:save(path) end, "NumPy has no bf16")
      fails(function() a:save "/dev/full" end, "/dev/full: No space left on device")
      fails_with(function() a:save(folder .. "/no/such/folder.npy") end, "No such file")
      fails(function() dev:load(1 == 1) end, "bad argument #1 to 'load' (string expected, got boolean)")
    end)
  end)
end)

each_device("closing an array", function(dev)
  it("gives the memory back at once and rejects every later use", function()
    local a = dev:zeros("f32", 4)
    local live = core.live().array
    a:close()
    assert.are.equal(live - 1, core.live().array)
    assert.are.equal("array (closed)", tostring(a))
    assert.are.equal("closed array", mw.type(a))
    fails(function() a:close() end, "calling 'close' on bad self (attempt to use a closed array)")
    for _, name in ipairs { "dtype", "shape", "nbytes", "get", "set", "view", "totable", "bytes", "copy", "space",
                            "device", "address", "slice", "reshape", "readonly", "upload" } do
      fails_with(function() a[name](a, 1, 1) end, "(attempt to use a closed array)")
    end
    fails(function() return #a end, "bad argument #1 to 'len' (attempt to use a closed array)")
    for _, name in ipairs { "fill", "linspace", "random", "clone" } do
      fails_with(function() a[name](a, 1, 1) end, "attempt to use a closed array")
    end
  end)

  it("happens at the end of a scope, also by an error", function()
    local inside
    local ok = pcall(function()
      local a <close> = dev:zeros("f32", 4)
      inside = a
      error "on purpose"
    end)
    assert.is_false(ok)
    assert.are.equal("closed array", mw.type(inside))
  end)

  it("rejects what is not an array", function()
    local a <close> = dev:zeros("f32", 4)
    local colon = "; methods take a colon, as in array:%s(...))"
    local function rejected(name, object, got)
      fails(function() a[name](object) end, ("bad argument #1 to '%s' (array expected, got %s"):format(name, got)
        .. colon:format(name))
    end
    for _, name in ipairs { "nbytes", "close", "fill" } do
      rejected(name, dev, "device")
      rejected(name, 1, "number")
      rejected(name, {}, "table")
    end
    rejected("nbytes", io.stdout, "FILE*")
    rejected("close", io.stdout, "FILE*")
    assert.is_truthy(io.stdout:write "")
  end)
end)

each_device("an array", function(dev)
  it("hides its metatable", function()
    local a <close> = dev:zeros("f32", 1)
    assert.are.equal("array", getmetatable(a))
    assert.is_false((pcall(setmetatable, a, {})))
  end)
end)
