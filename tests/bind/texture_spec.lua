-- SPDX-License-Identifier: MIT
--
-- Textures and surfaces on each device. What is expected is computed here, from the rules of the CUDA C++ Programming
-- Guide, "Texture Fetching"; point reads have the same bits on each device, linear ones are within a bound.

local support = require "tests.support"
local mw = support.mw
local fails = support.fails_with

support.warm()

local function load(dev)
  return support.runs_kernels(dev) and dev:module { file = support.kernel_file "texture.cu", templates = {
    "fetch<float>", "fetch<int>", "fetch<unsigned short>", "fetch<signed char>", "fetch<float2>", "read_1d<float>",
    "read_2d<float>", "read_2d<uchar4>", "read_3d<float>" } }
end

-- ---- the rules ----------------------------------------------------------------------------------

-- The texel (from 0) that stands for number i of n; nil: outside of a border.
local function addressed(i, n, address)
  if i >= 0 and i < n then return i end
  if address == "border" then return nil end
  if address == "wrap" then return i % n end
  if address == "mirror" then
    i = i % (2 * n)
    return i < n and i or 2 * n - 1 - i
  end
  return i < 0 and 0 or n - 1
end

-- Along an axis: two texels and the second's weight, in 256ths.
local function along(x, n, address, how)
  if how.normalised then x = x * n end
  if how.filter ~= "linear" then
    local i = addressed(math.floor(x), n, address)
    return i, i, 0
  end
  local fixed = math.floor((x - 0.5) * 256 + 0.5)
  local i, part = fixed // 256, fixed % 256 / 256
  return addressed(i, n, address), addressed(i + 1, n, address), part
end

-- value(i, j, k): of a texel; at: up to three coordinates, side: as many.
local function read(value, side, at, how)
  local first, second, part = {}, {}, {}
  for d = 1, 3 do
    local address = type(how.address) == "table" and how.address[d] or how.address or "clamp"
    if side[d] then
      first[d], second[d], part[d] = along(at[d], side[d], address, how)
    else
      first[d], second[d], part[d] = 0, 0, 0
    end
  end
  local sum = 0
  for corner = 0, 7 do
    local weight, texel = 1, {}
    for d = 1, 3 do
      local high = corner >> (d - 1) & 1 == 1
      weight = weight * (high and part[d] or 1 - part[d])
      texel[d] = (high and second or first)[d]
    end
    local inside = texel[1] and texel[2] and texel[3]
    if weight > 0 and inside then sum = sum + weight * value(texel[1], texel[2], texel[3]) end
  end
  return sum
end

-- ---- images and places ----------------------------------------------------------------------------

-- Values in 0..99 without a pattern that a wrong texel could hide in.
local function hash(i, j, k) return (i * 37 + j * 59 + k * 83 + i * j * 7) % 100 end

local function image(dev, side, dtype)
  local values = {}
  for k = 0, (side[3] or 1) - 1 do
    for j = 0, (side[2] or 1) - 1 do
      for i = 0, side[1] - 1 do values[#values + 1] = hash(i, j, k) end
    end
  end
  local flat <close> = dev:array(dtype or "f32", values)
  return flat:reshape(table.unpack(side))
end

-- Places from below 0 to beyond the end, in steps of eighths of a texel; point reads keep off the border of two texels,
-- where normalised coordinates are rounded as the device likes.
local function places(side, how)
  local axes, count = {}, 240
  for d, n in ipairs(side) do
    axes[d] = {}
    for i = 1, count do
      local eighths = (i * (7 + 4 * d) + 5 * d) % (24 * n) - 8 * n
      if how.normalised and how.filter ~= "linear" and eighths % 8 == 0 then eighths = eighths + 4 end
      axes[d][i] = eighths / 8 / (how.normalised and n or 1)
    end
  end
  return axes, count
end

local function label(side, how)
  local address = type(how.address) == "table" and table.concat(how.address, "/") or how.address or "clamp"
  return ("%s %s %s%s"):format(table.concat(side, " x "), how.filter or "point", address,
    how.normalised and " normalised" or "")
end

-- Launches the kernel at the places; `between`: further arguments after them.
local function launch(dev, kernel, texture, axes, count, between)
  local arrays <close> = setmetatable({}, { __close = function(list) for _, a in ipairs(list) do a:close() end end })
  local args = { texture }
  for d, axis in ipairs(axes) do
    arrays[d] = dev:array("f32", axis)
    args[#args + 1] = arrays[d]
  end
  args[#args + 1] = between
  local out <close> = dev:array("f32", count)
  args[#args + 1] = out
  args[#args + 1] = count
  kernel:launch((count + 63) // 64, 64, table.unpack(args))
  return out:totable()
end

-- Linear reads: the stated bound, of what the texels differ by at most.
local BOUND = 99 / 256

local function check_read(dev, kernel, texture, side, how, value, between)
  local axes, count = places(side, how)
  local got = launch(dev, kernel, texture, axes, count, between)
  for i = 1, count do
    local at = {}
    for d in ipairs(side) do at[d] = axes[d][i] end
    local expected = read(value, side, at, how)
    local most = how.filter == "linear" and #side * BOUND or 0
    if math.abs(got[i] - expected) > most then
      error(("%s at %s: expected %s, got %s"):format(label(side, how), table.concat(at, ", "), expected, got[i]))
    end
  end
end

-- Every filter, address and kind of coordinates that CUDA has.
local function each_way(body)
  for _, filter in ipairs { "point", "linear" } do
    for _, address in ipairs { "clamp", "border", "wrap", "mirror" } do
      for _, normalised in ipairs { false, true } do
        local repeats = address == "wrap" or address == "mirror"
        if normalised or not repeats then
          body { filter = filter, address = address, normalised = normalised }
        end
      end
    end
  end
end

local function with(how, more)
  local out = {}
  for k, v in pairs(how) do out[k] = v end
  for k, v in pairs(more) do out[k] = v end
  return out
end

-- ---- textures -------------------------------------------------------------------------------------

support.each_device("textures", function(dev, id, runs)
  local m = load(dev)
  teardown(function() if m then m:close() end end)

  runs("read linear memory by number, and 0 outside of it", function()
    for dtype, name in pairs { f32 = "float", i32 = "int", u16 = "unsigned short", i8 = "signed char" } do
      local a <close> = dev:array(dtype, { 3, 1, 4, 1, 5, 9, 2, 6 })
      local t <close> = dev:texture(a)
      local out <close> = dev:array(dtype, 12)
      m["fetch<" .. name .. ">"]:launch(1, 32, t, -2, out, 12)
      local want = { 0, 0, 3, 1, 4, 1, 5, 9, 2, 6, 0, 0 }
      for i = 1, 12 do assert.are.equal(want[i], out:get(i) // 1, dtype) end
    end
  end)

  runs("read vectors of two and four components", function()
    local a <close> = dev:array("f32", { { 1, 2 }, { 3, 4 }, { 5, 6 } })
    local t <close> = dev:texture(a, { components = 2 })
    local out <close> = dev:array("f32", 6)
    m["fetch<float2>"]:launch(1, 32, t, 0, out, 3)
    assert.are.same({ 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 }, out:totable())
    local b <close> = dev:array("u8", { { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } } })
    local u <close> = dev:texture(b, { components = 4 })
    local x <close> = dev:array("f32", { 1.5 })
    local y <close> = dev:array("f32", { 0.5 })
    local four <close> = dev:array("u8", 4)
    m["read_2d<uchar4>"]:launch(1, 32, u, x, y, four, 1)
    assert.are.same({ 5, 6, 7, 8 }, four:totable())
  end)

  runs("read what a kernel has written to their array", function()
    local a <close> = dev:zeros("f32", 8, 4)
    local t <close> = dev:texture(a, { kind = "pitched" })
    a:reshape(32):upload(image(dev, { 8, 4 }):reshape(32):totable())
    check_read(dev, m["read_2d<float>"], t, { 8, 4 }, {}, hash)
  end)

  runs("read arrays of one to three sides by every rule", function()
    each_way(function(how)
      for _, case in ipairs { { { 8 }, "1d" }, { { 5, 4 }, "2d" }, { { 8, 3 }, "pitched" }, { { 4, 3, 5 }, "3d" } } do
        local side, kind = case[1], case[2]
        local a <close> = image(dev, side)
        local t <close> = dev:texture(a, with(how, { kind = kind }))
        check_read(dev, m["read_" .. #side .. "d<float>"], t, side, how, hash)
      end
    end)
  end)

  runs("have an address for each side", function()
    local how = { filter = "linear", normalised = true, address = { "wrap", "mirror" } }
    local a <close> = image(dev, { 8, 4 })
    local t <close> = dev:texture(a, how)
    check_read(dev, m["read_2d<float>"], t, { 8, 4 }, how, hash)
  end)

  runs("read layers, outside of them the last", function()
    each_way(function(how)
      local a <close> = image(dev, { 8, 3 })
      local b <close> = image(dev, { 4, 5, 3 })
      local t <close> = dev:texture(a, with(how, { kind = "1d layered" }))
      local u <close> = dev:texture(b, with(how, { kind = "2d layered" }))
      for layer, taken in pairs { [-1] = 2, [1] = 1, [7] = 2 } do
        check_read(dev, m.read_1d_layered, t, { 8 }, how, function(i) return hash(i, taken, 0) end, layer)
        check_read(dev, m.read_2d_layered, u, { 4, 5 }, how, function(i, j) return hash(i, j, taken) end, layer)
      end
    end)
  end)

  runs("read a cube map by direction", function()
    local a <close> = image(dev, { 4, 4, 6 })
    local t <close> = dev:texture(a, { kind = "cube" })
    -- the largest coordinate; the other two as the guide's table has them: s / m and t / m
    local faces = {
      function(s, u) return 1, -u, -s end, function(s, u) return -1, -u, s end,
      function(s, u) return s, 1, u end, function(s, u) return s, -1, -u end,
      function(s, u) return s, -u, 1 end, function(s, u) return -s, -u, -1 end,
    }
    local axes, expected = { {}, {}, {} }, {}
    for face, direction in ipairs(faces) do
      for i = 0, 3 do
        for j = 0, 3 do
          local x, y, z = direction((i + 0.5) / 2 - 1, (j + 0.5) / 2 - 1)
          table.insert(axes[1], 3 * x)
          table.insert(axes[2], 3 * y)
          table.insert(axes[3], 3 * z)
          expected[#expected + 1] = hash(i, j, face - 1) + 0.0
        end
      end
    end
    assert.are.same(expected, launch(dev, m.read_cube, t, axes, #expected))
  end)

  runs("do not mix what has no weight", function()
    local a <close> = dev:array("f32", { 1, 0 / 0, 3, math.huge })
    local t <close> = dev:texture(a, { kind = "1d", filter = "linear" })
    local u <close> = dev:texture(a:reshape(4, 1), { filter = "linear" })
    local axes, expected = { { 0.5, 2.5, 3.5 } }, { 1.0, 3.0, math.huge }
    assert.are.same(expected, launch(dev, m["read_1d<float>"], t, axes, 3))
    axes[2] = { 0.5, 0.5, 0.25 }
    assert.are.same(expected, launch(dev, m["read_2d<float>"], u, axes, 3))
  end)

  runs("take a coordinate that is none for the first texel, and repeat one just below 0 as the last", function()
    local a <close> = dev:array("f32", { 1, 2, 3, 4, 5, 6, 7 })
    local t <close> = dev:texture(a, { kind = "1d", normalised = true, address = "wrap" })
    local axes = { { 1, -1e-9, 1e10, 0 / 0 } }
    assert.are.same({ 1.0, 7.0, 1.0, 1.0 }, launch(dev, m["read_1d<float>"], t, axes, 4))
  end)

  runs("gather a component of four texels", function()
    local a <close> = dev:array("f32", { { { 1, 10 }, { 2, 20 }, { 3, 30 } }, { { 4, 40 }, { 5, 50 }, { 6, 60 } } })
    local t <close> = dev:texture(a, { components = 2 })
    local x <close> = dev:array("f32", { 1, 2.25 })
    local y <close> = dev:array("f32", { 1, 1.25 })
    local out <close> = dev:array("f32", 8)
    m.gather_0:launch(1, 32, t, x, y, out, 2)
    assert.are.same({ 4.0, 5.0, 2.0, 1.0, 5.0, 6.0, 3.0, 2.0 }, out:totable())
    m.gather_1:launch(1, 32, t, x, y, out, 2)
    assert.are.same({ 40.0, 50.0, 20.0, 10.0, 50.0, 60.0, 30.0, 20.0 }, out:totable())
  end)

  runs("read small integers as numbers from 0 or -1 to 1, and f16 as f32", function()
    for dtype, most in pairs { u8 = 255, u16 = 65535, i8 = 127, i16 = 32767 } do
      local least = dtype:sub(1, 1) == "i" and -most - 1 or 0
      local values = { least, least + 1, 0, 1, 77, 100, most - 1, most }
      local a <close> = dev:array(dtype, values)
      local t <close> = dev:texture(a, { read = "normalised float" })
      local out <close> = dev:array("f32", 8)
      m["fetch<float>"]:launch(1, 32, t, 0, out, 8)
      for i, v in ipairs(values) do
        local expected = string.unpack("f", string.pack("f", math.max(v / most, -1)))
        assert.are.equal(expected, out:get(i), dtype .. " " .. v)
      end
    end
    local halves = { 0.5, -2, 65504, 2 ^ -24, 0, 1 / 3, math.huge, -0.0 }
    local a <close> = dev:array("f16", halves)
    local t <close> = dev:texture(a)
    local out <close> = dev:array("f32", 8)
    m["fetch<float>"]:launch(1, 32, t, 0, out, 8)
    assert.are.same(a:totable(), out:totable())
  end)

  runs("mix normalised floats and f16", function()
    local how = { filter = "linear", address = "border" }
    for dtype, scale in pairs { u8 = 255, f16 = 1 } do
      local a <close> = image(dev, { 6, 5 }, dtype)
      local t <close> = dev:texture(a, with(how, { read = dtype == "u8" and "normalised float" or nil }))
      check_read(dev, m["read_2d<float>"], t, { 6, 5 }, how, function(i, j, k) return hash(i, j, k) / scale end)
    end
  end)

  runs("keep their array's values of when they were made, until they are copied again", function()
    local a <close> = dev:array("f32", { { 1, 2 }, { 3, 4 } })
    local t <close> = dev:texture(a)
    a:upload { { 5, 6 }, { 7, 8 } }
    local axes = { { 0.5, 1.5 }, { 0.5, 1.5 } }
    assert.are.same({ 1.0, 4.0 }, launch(dev, m["read_2d<float>"], t, axes, 2))
    assert.are.equal(t, t:copy_from(a))
    assert.are.same({ 5.0, 8.0 }, launch(dev, m["read_2d<float>"], t, axes, 2))
  end)

  runs("live as long as a launch, a graph or another texture needs them", function()
    local a = dev:array("f32", { 1, 2, 3 })
    local t = dev:texture(a)
    local out <close> = dev:array("f32", 3)
    a:close()
    local s <close> = dev:stream()
    local go <close> = m["fetch<float>"]:prepare { grid = 1, block = 32, stream = s }
    go(t, 0, out, 3)
    local g <close> = dev:capture(function() m["fetch<float>"]:launch(1, 32, t, 1, out, 2) end)
    t:close()
    s:synchronize()
    assert.are.same({ 1.0, 2.0, 3.0 }, out:totable())
    g:launch()
    dev:synchronize()
    assert.are.same({ 2.0, 3.0, 3.0 }, out:totable())
    fails(function() go(t, 0, out, 3) end, "parameter 1 't' is cudaTextureObject_t: the texture is closed")
  end)

  runs("are what a parameter of their type takes, and nothing else", function()
    local a <close> = dev:array("f32", { { 1, 2 } })
    local t <close> = dev:texture(a)
    local s <close> = dev:surface(a)
    local kinds = select(2, m.two:parameters())
    assert.are.same({ "texture", "surface" }, kinds)
    assert.are.equal("two(cudaTextureObject_t from, cudaSurfaceObject_t to)", m.two:signature())
    local wrong = {
      { a, s, "parameter 1 'from' is cudaTextureObject_t: a texture of " .. id ..
        " expected (dev:texture makes one), got array<f32>[2 x 1] " .. id },
      { s, s, "parameter 1 'from' is cudaTextureObject_t: a texture of " },
      { 1, s, "(dev:texture makes one), got 1" },
      { mw.null, s, "a texture of " },
      { t, t, "parameter 2 'to' is cudaSurfaceObject_t: a surface of " .. id .. " expected (dev:surface makes" },
      { t, a, "parameter 2 'to' is cudaSurfaceObject_t: a surface of " },
    }
    for _, case in ipairs(wrong) do
      fails(function() m.two:launch(1, 2, case[1], case[2]) end, case[3])
    end
    local out <close> = dev:array("f32", 2)
    fails(function() m["fetch<float>"]:launch(1, 2, t, 0, t, 2) end,
      "parameter 3 'out' is float *: an array expected, got texture<f32 x 1>[2 x 1 x 1] 2d " .. id)
    m.two:launch(1, 2, t, s)
    s:copy_to(out)
    assert.are.same({ 1.0, 2.0 }, out:totable())
  end)

  it("say what is wrong with their array and options", function()
    local a <close> = dev:zeros("f32", 8, 4)
    local b <close> = dev:zeros("i32", 8, 4)
    local line <close> = dev:zeros("f32", 8)
    local double <close> = dev:zeros("f64", 8)
    local cases = {
      { a, { filter = "cubic" }, "option 'filter' is point or linear, got 'cubic'" },
      { a, { address = "repeat" }, "option 'address' is wrap, clamp, mirror, border or a list of them" },
      { a, { address = "wrap" }, "option 'address': wrap needs normalised = true" },
      { a, { address = { "clamp" } }, "option 'address': a list of 2 expected, got table of 1" },
      { a, { read = "normalised float" }, "integers of 8 or 16 bits are read as normalised floats, not f32" },
      { b, { filter = "linear" }, "i32 elements need read = \"normalised float\", which 32 bits do not have" },
      { a, { kind = "3d" }, "kind '3d' takes an array of 3 sides, the components not counted, got 2" },
      { a, { kind = "cubes" }, "option 'kind' is linear, pitched, 1d, 2d, 3d, 1d layered, 2d layered or cube" },
      { a, { components = 3 }, "option 'components' is 1, 2 or 4, got 3" },
      { a, { components = 2 }, "components = 2: a first side of 2 expected, got 8" },
      { a, { mipmap = true }, "unknown option 'mipmap'" },
      { line, { filter = "linear" }, "linear memory is read by the number of a texel" },
      { line, { address = "border" }, "option 'address' is not of linear memory" },
      { double, nil, "an array of f16, f32, or integers of up to 32 bits expected, got one of f64" },
      { 1, nil, "array expected, got number" },
    }
    for _, case in ipairs(cases) do
      fails(function() dev:texture(case[1], case[2]) end, case[3])
    end
    local cube <close> = dev:zeros("f32", 4, 4, 5)
    local odd <close> = dev:zeros("f32", 5, 4)
    fails(function() dev:texture(cube, { kind = "cube" }) end, "six square faces, n x n x 6, got 4 x 4 x 5")
    fails(function() dev:texture(odd, { kind = "pitched" }) end, "rows of a multiple of 32 bytes, got 20")
    local view <close> = line:view(2, 4)
    fails(function() dev:texture(view) end, "begins at a multiple of 512 bytes of its array, got 4")
    fails(function() dev:surface(line, { kind = "linear" }) end, "option 'kind' is 1d, 2d, 3d")
    local page <close> = dev:pageable("f32", 8)
    fails(function() dev:texture(page) end, "an array in device, managed or pinned memory of " .. id .. " expected")
    local t <close> = dev:texture(line)
    fails(function() t:copy_from(line) end, "a texture of kind 'linear' reads its array itself")
    local s <close> = dev:surface(a)
    fails(function() s:copy_to(line) end, "32 elements of f32 expected, got 8 of f32")
    local fixed <close> = a:readonly()
    fails(function() s:copy_to(fixed) end, "the array is read-only")
    fails(function() dev:texture(s, { kind = "2d" }) end, "a texture of a surface has its kind and components")
  end)
end)

-- ---- surfaces -------------------------------------------------------------------------------------

support.each_device("surfaces", function(dev, _, runs)
  local m = load(dev)
  teardown(function() if m then m:close() end end)

  -- Whether 100 has come to each element that `raised` says.
  local function check_raised(side, kind, kernel, args, raised)
    local a <close> = image(dev, side)
    local s <close> = dev:surface(a, { kind = kind })
    local count = #a
    m[kernel]:launch((count + 63) // 64, 64, s, table.unpack(args))
    local before = a:reshape(count):totable()
    s:copy_to(a)
    for i, v in ipairs(a:reshape(count):totable()) do
      assert.are.equal(before[i] + (raised(i - 1) and 100 or 0), v, kind .. " " .. i)
    end
  end

  runs("are read and written by kernels, and copied to arrays", function()
    local function all() return true end
    check_raised({ 9 }, "1d", "raise_1d", { 9 }, all)
    check_raised({ 9, 5 }, "2d", "raise_2d", { 9, 5 }, all)
    check_raised({ 5, 4, 3 }, "3d", "raise_3d", { 5, 4, 3 }, all)
    check_raised({ 7, 3 }, "1d layered", "raise_layer_1d", { 7, 1 }, function(i) return i // 7 == 1 end)
    check_raised({ 4, 3, 3 }, "2d layered", "raise_layer_2d", { 4, 3, 2 }, function(i) return i // 12 == 2 end)
    check_raised({ 3, 3, 6 }, "cube", "raise_face", { 3, 5 }, function(i) return i // 9 == 5 end)
  end)

  runs("are read outside as the boundary mode says", function()
    local a <close> = dev:array("f32", { { 1, 2, 3 } })
    local s <close> = dev:surface(a)
    local clamped <close> = dev:array("f32", 3)
    local zero <close> = dev:array("f32", 3)
    m.shift:launch(1, 32, s, clamped, zero, 3)
    assert.are.same({ 2.0, 3.0, 3.0 }, clamped:totable())
    assert.are.same({ 2.0, 3.0, 0.0 }, zero:totable())
  end)

  runs("are read by textures of them, in order of a stream and in graphs", function()
    local a <close> = image(dev, { 8, 4 })
    local s <close> = dev:surface(a)
    local t <close> = dev:texture(s)
    m.raise_2d:launch(1, 64, s, 8, 4)
    check_read(dev, m["read_2d<float>"], t, { 8, 4 }, {}, function(i, j) return hash(i, j, 0) + 100 end)
    local b <close> = dev:zeros("f32", 32)
    local g <close> = dev:capture(function()
      m.raise_2d:launch(1, 64, s, 8, 4)
      s:copy_to(b)
    end)
    s:close()
    g:launch()
    g:launch()
    dev:synchronize()
    assert.are.equal(hash(1, 0, 0) + 300.0, b:get(2))
  end)

  runs("work in kernels with barriers", function()
    local a <close> = image(dev, { 32, 2 })
    local t <close> = dev:texture(a)
    local out <close> = dev:array("f32", 64)
    m.stencil:launch(2, 32, t, out)
    for i = 0, 63 do
      local x, y = i % 32, i // 32
      assert.are.equal(hash((x + 1) % 32, y, 0) + hash((x + 31) % 32, y, 0), out:get(i + 1))
    end
  end)
end)
