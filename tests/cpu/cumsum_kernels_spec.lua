-- SPDX-License-Identifier: MIT
--
-- The kernels of cumsum.cu and scan.cu at awkward sizes against sums worked out here. The study:
-- studies/cumsum_spec.lua.

local support = require "tests.support"
local mw = support.mw

local CPP = { f64 = "double", f32 = "float" }
local EPS = { f64 = 2.0 ^ -52, f32 = 2.0 ^ -23 }

support.warm()

local function ceil_div(a, b)
  return (a + b - 1) // b
end

local function right(name, got, wanted, options)
  options.quiet = true
  local ok, report = mw.check(got, wanted, options)
  assert.is_true(ok, name .. ": " .. tostring(report))
end

-- Engine and element type: fibers run the same text for every type, so one type is enough there.
local function variants_of(id)
  local list = { { "auto", "f64" }, { "auto", "f32" } }
  if id == "cpu" then list[3] = { "fiber", "f32" } end
  return list
end

-- ---- three dimensions -----------------------------------------------------------------------------

local NX, NY, NZ = 71, 19, 13

-- Running sums of a flat table along a dimension, x first.
local function sums_of(values, dim)
  local stride = ({ 1, NX, NX * NY })[dim]
  local count = ({ NX, NY, NZ })[dim]
  local sums = {}
  for i = 0, #values - 1 do
    local first = i // stride % count == 0
    sums[i + 1] = values[i + 1] + (first and 0.0 or sums[i + 1 - stride])
  end
  return sums
end

-- Kernel, what it gives (0: a copy), block, grid, and its arguments after B and A.
local CUBE = { NX, NY, NZ }
local ROWS = { NX, NY * NZ }
local LAUNCHES = {
  { "copy_wide<%s>", 0, 64, ceil_div(NX * NY * NZ, 64 * 2), { NX * NY * NZ } },
  { "copy_3d<%s>", 0, { 32, 4 }, { 3, 5, NZ }, CUBE },
  { "copy_z<%s>", 0, { 32, 4 }, { 3, 5 }, CUBE },
  { "copy_y<%s>", 0, 64, { 2, 1, NZ }, CUBE },
  { "copy_x<%s>", 0, { 1, 16 }, { 1, 2, NZ }, CUBE },
  { "copy_x32<%s>", 0, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_z<%s>", 3, { 32, 4 }, { 3, 5 }, CUBE },
  { "cumsum_y<%s>", 2, 64, { 2, 1, NZ }, CUBE },
  { "cumsum_shared<%s,32>", 1, 32, NY * NZ, { NX } },
  { "cumsum_broadcast<%s,32>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_chunks<%s,32>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_chunks<%s,8>", 1, { 8, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_shuffle<%s>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_rows<%s,1>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_rows<%s,4>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_tile<%s,2,4>", 2, { 32, 4 }, { 3, NZ }, { NX, NY } },
  { "cumsum_tile<%s,2,4>", 3, { 32, 4 }, ceil_div(NX * NY, 32), { NX * NY, NZ } },
}

-- With the kernels of the names, for every type that the engine is tested with: one run of the compiler.
local function module_of(dev, file, engine, names)
  local templates = {}
  for _, variant in ipairs(variants_of(dev:id())) do
    for _, name in ipairs(variant[1] == engine and names or {}) do
      templates[#templates + 1] = name:format(CPP[variant[2]])
    end
  end
  return dev:module { file = file, engine = engine, templates = templates }
end

local function cumsum_of(dev, engine)
  local names, seen = { engine == "auto" and "cumsum_paced<%s,4>" or nil }, {}
  for _, launch in ipairs(LAUNCHES) do
    if not seen[launch[1]] then names[#names + 1] = launch[1] end
    seen[launch[1]] = true
  end
  return module_of(dev, "cumsum.cu", engine, names)
end

local function check_launches(dev, engine, ty)
  local A <close> = dev:array(ty, NX * NY * NZ):random(3)
  local B <close> = dev:array(ty, #A)
  local values, wanted = A:totable(), { [0] = A }
  for dim = 1, 3 do wanted[dim] = sums_of(values, dim) end
  local m <close> = cumsum_of(dev, engine)
  for _, launch in ipairs(LAUNCHES) do
    local name, dim, block, grid, arguments = table.unpack(launch)
    B:fill(0 / 0)
    m[name:format(CPP[ty])]:launch(grid, block, B, A, table.unpack(arguments))
    right(("%s %s, %s"):format(name, ty, engine), B, wanted[dim],
      dim == 0 and { exact = true } or { relative = 4 * EPS[ty] * math.sqrt(NX) })
  end
end

describe("cumsum.cu", function() support.each_device(function(dev, id)
  for _, variant in ipairs(variants_of(id)) do
    local engine, ty = table.unpack(variant)
    it(("copies and adds up along every dimension, %s, engine %s"):format(ty, engine), function()
      check_launches(dev, engine, ty)
    end)
  end

  it("adds up along z with blocks in pace, again and again, with whole vectors and without", function()
    local m <close> = cumsum_of(dev, "auto")
    for _, shape in ipairs { { 8, 6, 21 }, { 7, 5, 3 }, { 33, 1, 64 } } do
      local inner, nz = shape[1] * shape[2], shape[3]
      local A <close> = dev:full(1, "f64", inner, nz)
      local B <close> = dev:array("f64", inner, nz)
      local stages <close> = dev:zeros("u32", ceil_div(nz, 4))
      local go = m["cumsum_paced<double,4>"]:prepare { grid = ceil_div(inner, 64), block = 32, cooperative = true }
      for run = 1, 3 do
        B:fill(0 / 0)
        go(B, A, inner, nz, stages, run, 1)
        right(("%d planes of %d"):format(nz, inner), B, function(_, k) return k end, { exact = true })
      end
    end
  end)

  it("adds up rows of whole vectors and of one element", function()
    local m <close> = cumsum_of(dev, "auto")
    for _, nx in ipairs { 1, 4, 96, 129 } do
      local A <close> = dev:full(1, "f32", nx, 5)
      local B <close> = dev:array("f32", nx, 5)
      m["cumsum_rows<float,4>"]:launch(3, { 32, 2 }, B, A, nx, 5)
      right("rows of " .. nx, B, function(i) return i end, { exact = true })
    end
  end)
end) end)

-- ---- one dimension --------------------------------------------------------------------------------
-- Whole numbers, so that every order of summation gives the same bits.

local function numbers(count)
  local values, sums, sum = {}, {}, 0
  for i = 1, count do
    values[i] = (i * 7919 + 13) % 31 - 11
    sum = sum + values[i]
    sums[i] = sum
  end
  return values, sums
end

local function three_launches(m, T, y, x, n)
  local block = 96
  local blocks = ceil_div(n, block)
  local totals <close> = x:device():array(x:dtype(), blocks)
  m[("scan_tiles<%s>"):format(T)]:launch(blocks, block, y, totals, x, n)
  m[("scan_totals<%s>"):format(T)]:launch(1, 64, totals, blocks)
  m[("scan_add<%s>"):format(T)]:launch(blocks, block, y, totals, n)
end

local function one_pass(m, T, y, x, n, rounds)
  local dev, block, loads = x:device(), 64, 2
  local tiles = ceil_div(n, block * loads * (T == "float" and 4 or 2))
  -- full of what an earlier scan may have left
  local status <close> = dev:full((2 << 32) + 5, "u64", 2 * tiles)
  local ticket <close> = dev:full(5, "u32", 1)
  m.scan_clear:launch(ceil_div(2 * tiles, 64), 64, status, 2 * tiles, ticket)
  if rounds then
    m[("scan_rounds<%s,64,2>"):format(T)]:prepare { grid = math.min(tiles, rounds), block = block,
                                                    cooperative = true }(y, x, n, status)
  else
    m[("scan_once<%s,64,2>"):format(T)]:launch(tiles, block, y, x, n, status, ticket)
  end
  dev:synchronize()
end

local function scan_of(dev, engine)
  return module_of(dev, "scan.cu", engine, { "scan_tiles<%s>", "scan_totals<%s>", "scan_add<%s>", "scan_once<%s,64,2>",
                                            "scan_rounds<%s,64,2>" })
end

local function check_scans(dev, engine, ty, sizes)
  local T = CPP[ty]
  local m <close> = scan_of(dev, engine)
  for _, n in ipairs(sizes) do
    local values, sums = numbers(n)
    local x <close> = dev:array(ty, values)
    local y <close> = dev:array(ty, n)
    local function holds(name, scan, rounds)
      y:fill(0 / 0)
      scan(m, T, y, x, n, rounds)
      right(("%s, %d %s, %s"):format(name, n, ty, engine), y, sums, { exact = true })
    end
    holds("three launches", three_launches)
    holds("look-back", one_pass)
    holds("one block in rounds", one_pass, 1)
    holds("three blocks in rounds", one_pass, 3)
  end
end

describe("scan.cu", function() support.each_device(function(dev, id)
  for _, variant in ipairs(variants_of(id)) do
    local engine, ty = table.unpack(variant)
    it(("adds up an array of any length, %s, engine %s"):format(ty, engine), function()
      check_scans(dev, engine, ty, { 1, 511, 512, 20011 })
    end)
  end

  it("gives the same bits in rounds from run to run", function()
    local m <close> = scan_of(dev, "auto")
    local n = 30011
    local x <close> = dev:array("f32", n):random(1)
    local first <close> = dev:array("f32", n)
    local second <close> = dev:array("f32", n)
    one_pass(m, "float", first, x, n, 3)
    one_pass(m, "float", second, x, n, 3)
    right("second run", second, first, { exact = true })
  end)
end) end)
