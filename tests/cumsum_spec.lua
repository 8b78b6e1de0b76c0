-- SPDX-License-Identifier: MIT
--
-- The kernels of cumsum.cu and scan.cu at awkward sizes against sums worked out here, and the study of them.

local support = require "tests.support"
local core, mw = support.core, support.mw

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

-- Kernel, what it gives (0: a copy), block, grid, and its arguments behind B and A.
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
  { "cumsum_shared<%s>", 1, 32, NY * NZ, { NX } },
  { "cumsum_broadcast<%s>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_shuffle<%s>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_rows<%s,1>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_rows<%s,4>", 1, { 32, 3 }, ceil_div(NY * NZ, 3), ROWS },
  { "cumsum_tile<%s,2,4>", 2, { 32, 4 }, { 3, NZ }, { NX, NY } },
  { "cumsum_tile<%s,2,4>", 3, { 32, 4 }, ceil_div(NX * NY, 32), { NX * NY, NZ } },
}

local function names_of(list, ty)
  local names = {}
  for i, launch in ipairs(list) do names[i] = launch[1]:format(CPP[ty]) end
  return names
end

local function check_launches(dev, engine, ty)
  local A <close> = dev:array(ty, NX * NY * NZ):random(3)
  local B <close> = dev:array(ty, #A)
  local values, wanted = A:totable(), { [0] = A }
  for dim = 1, 3 do wanted[dim] = sums_of(values, dim) end
  local m <close> = dev:module { file = "cumsum.cu", engine = engine, templates = names_of(LAUNCHES, ty) }
  for _, launch in ipairs(LAUNCHES) do
    local name, dim, block, grid, arguments = table.unpack(launch)
    B:fill(0 / 0)
    m[name:format(CPP[ty])]:launch(grid, block, B, A, table.unpack(arguments))
    right(("%s %s, %s"):format(name, ty, engine), B, wanted[dim],
      dim == 0 and { exact = true } or { relative = 4 * EPS[ty] * math.sqrt(NX) })
  end
end

support.each_device(function(dev, id)
  for _, variant in ipairs(variants_of(id)) do
    local engine, ty = table.unpack(variant)
    it(("cumsum.cu copies and adds up along every dimension, %s, engine %s"):format(ty, engine), function()
      check_launches(dev, engine, ty)
    end)
  end

  it("cumsum_paced adds up along z again and again, with whole vectors and without", function()
    local m <close> = dev:module "cumsum.cu"
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

  it("cumsum_rows takes rows of whole vectors and of one element", function()
    local m <close> = dev:module "cumsum.cu"
    for _, nx in ipairs { 1, 4, 96, 129 } do
      local A <close> = dev:full(1, "f32", nx, 5)
      local B <close> = dev:array("f32", nx, 5)
      m["cumsum_rows<float,4>"]:launch(3, { 32, 2 }, B, A, nx, 5)
      right("rows of " .. nx, B, function(i) return i end, { exact = true })
    end
  end)
end)

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

local function check_scans(dev, engine, ty, sizes)
  local T = CPP[ty]
  local m <close> = dev:module { file = "scan.cu", engine = engine, templates = names_of({ { "scan_tiles<%s>" },
    { "scan_totals<%s>" }, { "scan_add<%s>" }, { "scan_once<%s,64,2>" }, { "scan_rounds<%s,64,2>" } }, ty) }
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

support.each_device(function(dev, id)
  for _, variant in ipairs(variants_of(id)) do
    local engine, ty = table.unpack(variant)
    it(("scan.cu adds up an array of any length, %s, engine %s"):format(ty, engine), function()
      check_scans(dev, engine, ty, { 1, 511, 512, 20011 })
    end)
  end

  it("scan_rounds gives the same bits from run to run", function()
    local m <close> = dev:module "scan.cu"
    local n = 30011
    local x <close> = dev:array("f32", n):random(1)
    local first <close> = dev:array("f32", n)
    local second <close> = dev:array("f32", n)
    one_pass(m, "float", first, x, n, 3)
    one_pass(m, "float", second, x, n, 3)
    right("second run", second, first, { exact = true })
  end)
end)

-- ---- the study ------------------------------------------------------------------------------------

describe("the study cumsum", function()
  local program = support.program()
  if not program then
    pending "needs the program"
    return
  end

  local function study(folder, words)
    local pipe = io.popen(("'%s' run cumsum -p types=f64 -p seconds=0 %s --out '%s' 2>&1 </dev/null")
      :format(program, words, folder))
    local output = pipe:read "a"
    local _, _, status = pipe:close()
    return status, output
  end

  it("runs, checks every rung and leaves its files", function()
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=24 -p length=5000")
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("Task 10: ", 1, true), output)
      local record = assert(require("moonwarp.results.store").read(support.run(folder)))
      if record.device == "cpu" then assert.is_nil(output:find("P100", 1, true), output) end -- of a GPU and 512^3
      for _, name in ipairs { "record.json", "remarks.txt", "cumsum-ladder-f64.gp", "cumsum-sizes.gp",
                              "cumsum-scan-f64.gp" } do
        assert.is_truthy(#support.read(support.run(folder) .. "/" .. name) > 0, name)
      end
      for _, chart in ipairs(record.device == "cpu" and record.charts or {}) do
        assert.are.equal(2, #chart.levels, chart.name) -- the triad and the fastest copy
        assert.is_true(chart.levels[1].value >= chart.levels[2].value, chart.name)
      end
    end)
  end)

  it("measures the rungs that were asked for beside two copies, and tells of no others", function()
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=24 -p parts=ladder,sizes -p rungs=3,12")
      assert.are.equal(0, status, output)
      local record = assert(require("moonwarp.results.store").read(support.run(folder)))
      local seen = {}
      for _, r in ipairs(record.records) do seen[r.rung] = true end
      assert.are.same({ ["library copy"] = true, ["copy, 16 bytes a thread"] = true, ["dim 3, a register"] = true,
                        ["dim 2, tiles"] = true }, seen)
      for _, check in ipairs(record.checks) do assert.is_nil(check.what:find("dim 1", 1, true), check.what) end
      assert.is_truthy(output:find("cumsum, f64: rung 12 over the size", 1, true), output)
      assert.is_truthy(output:find("The fastest sums of this run: dim 2 ", 1, true), output)
      for _, words in ipairs { "made from", "Along x", "along x", "Task 10", "dim 1" } do
        assert.is_nil(output:find(words, 1, true), output)
      end
    end)
  end)

  it("shows the copies where the device takes none of the rungs that were asked for", function()
    if core.device():id() ~= "cpu" then return end -- 4 threads a block: too many blocks to be in pace there
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=64 -p parts=ladder,sizes -p rungs=14 -p threads=4")
      assert.are.equal(0, status, output)
      local record = assert(require("moonwarp.results.store").read(support.run(folder)))
      assert.are.equal("cumsum-sizes", record.charts[1].name)
      assert.are.equal(0, #record.remarks)
    end)
  end)

  it("takes blocks that some of its kernels do not take, and leaves those out", function()
    support.with_folder(function(folder)
      for _, threads in ipairs { 4, 1024 } do
        local status, output = study(folder, "-p n=24 -p parts=ladder -p threads=" .. threads)
        assert.are.equal(0, status, output)
      end
    end)
  end)

  -- The study looks for its kernels in the working folder first.
  local function study_with(change, words)
    local file, from, to = table.unpack(change)
    local output, status
    support.with_folder(function(folder)
      support.write(folder .. "/vector16.cuh", support.read(core.home() .. "/kernels/vector16.cuh"))
      local text = support.read(core.home() .. "/kernels/" .. file)
      local first, last = text:find(from, 1, true)
      support.write(folder .. "/" .. file, text:sub(1, first - 1) .. to .. text:sub(last + 1))
      local command = "cd '%s' && '%s' run cumsum --device cpu --quiet -p n=8 -p length=4096 -p seconds=0 "
        .. "-p types=f64 %s 2>&1 </dev/null"
      local pipe = io.popen(command:format(folder, program, words))
      output = pipe:read "a"
      status = select(3, pipe:close())
    end)
    return status, output
  end

  it("finds what is not carried on from one pass to the next, however small the cube", function()
    local changes = {
      ["dim 1, 16-byte loads"] = { "cumsum.cu", "carry += __shfl_sync(0xffffffff, sum[v], 31);",
                                   "carry = __shfl_sync(0xffffffff, sum[v], 31);", "ladder" },
      ["dim 2, tiles"] = { "cumsum.cu", "turn ^= 1;", "turn ^= 1; carry = 0;", "ladder" },
      ["three launches"] = { "scan.cu", "carry = last;", "carry = 0;", "scan" },
    }
    for rung, change in pairs(changes) do
      local status, output = study_with(change, "-p parts=" .. change[4])
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("check " .. rung, 1, true), output)
    end
  end)

  it("takes no level from a triad that is wrong", function()
    local status, output = study_with({ "triad.cu", "B[i] = A[i] + s * C[i]", "B[i] = A[i]" },
      "-p parts=sizes -p rungs=1")
    assert.are.equal(3, status, output)
    assert.is_truthy(output:find("check triad, 512 elements", 1, true), output)
  end)

  it("sweeps the size of a small cube", function()
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=8 -p parts=sizes")
      assert.are.equal(0, status, output)
    end)
  end)

  it("refuses what no device takes before it measures", function()
    support.with_folder(function(folder)
      for words, message in pairs {
        ["-p bx=64 -p by=32"] = "parameter 'by' must be a number from 1 to 16, got '32'",
        ["-p rungs=15"] = "parameter 'rungs' must be a number from 1 to 14, got '15'",
        ["-p warps=33"] = "parameter 'warps' must be a number from 1 to 32, got '33'",
        ["-p pace_lag=3000000000"] = "parameter 'pace_lag' must be a number from 1 to 2048, got '3000000000'",
      } do
        local status, output = study(folder, words)
        assert.are.equal(2, status, output)
        assert.is_truthy(output:find(message, 1, true), output)
      end
    end)
  end)
end)

-- ---- its words ------------------------------------------------------------------------------------

describe("the words of the study cumsum", function()
  local folder = core.home() .. "/experiments/cumsum/"
  local measurement = assert(loadfile(folder .. "measurement.lua"))({})
  local say = assert(loadfile(folder .. "words.lua"))({ n = 512, measurement = measurement })

  local DIMS = { [3] = 3, [5] = 2, [8] = 1, [9] = 1, [10] = 1, [11] = 1, [12] = 2, [13] = 3, [14] = 3 }

  -- What is said of { number = rate as a part of the library's copy }.
  local function said(rates)
    local records = { { rung = "library copy", T_eff = 1e9, share = 1 } }
    for number, rate in pairs(rates) do
      records[#records + 1] = { rung = "rung " .. number, number = number, dim = DIMS[number], T_eff = rate * 1e9,
                                share = rate }
    end
    return table.concat(say.ladder(records), "\n")
  end

  it("tell of no rung that was not measured", function()
    for a = 1, 14 do
      for b = a, 14 do
        local text = said { [a] = 0.5, [b] = 0.4 }
        for dim = 1, 3 do
          local summed = DIMS[a] == dim or DIMS[b] == dim
          assert.are.equal(summed, text:find("dim " .. dim, 1, true) ~= nil, text)
        end
        assert.are.equal(b == 10 or a == 10, text:find("Task 10", 1, true) ~= nil, text)
      end
    end
    assert.are.equal("", said { [1] = 0.5, [2] = 0.5, [4] = 0.5, [7] = 0.5 })
    assert.is_truthy(said({ [4] = 0.5, [5] = 0.4, [2] = 0.3 }):find(
      "is 20.0 % slower than the copy that it was made from along y: ", 1, true))
    assert.is_truthy(said({ [7] = 0.8, [8] = 0.4, [10] = 0.8 }):find("The sum along x through shared memory is 2.0 "
      .. "times slower than a warp a row's copy, by five doubling steps as fast as it.", 1, true))
  end)

  it("do not tell of a sum that is much faster than its copy as hidden", function()
    local function has(words, rates)
      local text = said(rates)
      assert.is_truthy(text:find(words, 1, true), text)
    end
    has("beside reading and writing is hidden behind them.", { [2] = 0.5, [3] = 0.49, [4] = 0.5, [5] = 0.51 })
    has("is not all hidden behind them here.", { [2] = 0.5, [3] = 0.4, [4] = 0.5, [5] = 0.51 })
    has("34.0 % faster than it along y: a sum that is faster than its copy says that more than ",
      { [2] = 0.5, [3] = 0.4, [4] = 0.5, [5] = 0.67 })
  end)

  it("have digits enough for a small share, and for what is left to gain", function()
    local function task(share) return said({ [10] = share }):match "Task 10: [^\n]+" end
    local AS = "Task 10: doubling steps reach %s of the fastest copy (library copy), so %s."
    assert.are.equal(AS:format("0.043 %", "they could be 2326 times as fast at most"), task(0.00043))
    assert.are.equal(AS:format("5.2 %", "they could be 19 times as fast at most"), task(0.0517))
    assert.are.equal(AS:format("51.7 %", "they could be 1.9 times as fast at most"), task(0.517))
    assert.are.equal(AS:format("98.0 %", "there is little left to gain"), task(0.98))
    local copy, slow = { T_eff = 1e11 }, { T_eff = 5e7, share = 0.0005, elements = 4096 }
    local text = say.scan("f64", { copy, slow, slow, slow })
    assert.is_truthy(text:find("reaches 0.05 % of the library's copy.", 1, true), text)
  end)
end)

-- ---- what others measured -------------------------------------------------------------------------

describe("the charts of the study cumsum", function()
  local folder = core.home() .. "/experiments/cumsum/"
  local measurement = assert(loadfile(folder .. "measurement.lua"))({})

  -- The labels of levels and series.
  local function labels_of(spec)
    local labels = {}
    for _, line in ipairs(spec.lines) do labels[#labels + 1] = line.label end
    for _, r in ipairs(spec.records) do labels[#labels + 1] = r.series end
    return labels
  end

  -- What a GPU would show of { number = dim }, which nobody measured: labels by the charts' names, and
  -- the columns of the ladder's table.
  local function shown(rungs, ty)
    local charts = assert(loadfile(folder .. "charts.lua"))({ n = 512, gpu = true, measurement = measurement,
      dev = { peak_bandwidth = function() return 5e12 end } })
    local records = { { rung = "library copy", T_eff = 4e12, share = 1, elements = 4096, bytes = 32768 } }
    for number, dim in pairs(rungs) do
      records[#records + 1] = { rung = "rung " .. number, number = number, dim = dim, T_eff = 1e12, share = 0.25,
                                p100 = ty == "f64" and 5e11 or nil }
    end
    local labels, columns, plot, tabulate = {}, nil, mw.plot, mw.table
    function mw.plot(spec) labels[spec.name] = labels_of(spec) end
    function mw.table(spec) columns = columns or spec end
    charts.ladder(ty, records)
    charts.scan(ty, records, records)
    mw.plot, mw.table = plot, tabulate
    return labels, columns
  end

  it("say source in each label of what others measured", function()
    local charts, columns = shown({ [3] = 3, [5] = 2, [8] = 1 }, "f64")
    local sources = 0
    for _, labels in pairs(charts) do
      for _, label in ipairs(labels) do
        local theirs = label:find "[PH]%d00" ~= nil
        assert.are.equal(theirs, label:find("source", 1, true) ~= nil, label)
        sources = sources + (theirs and 1 or 0)
      end
    end
    assert.are.equal(4 + 3 + 3 * 4 + 1, sources) -- levels and points of rungs, points of dimensions, CUB
    assert.are.equal("P100 (source)", columns[#columns].title)
  end)

  it("show sources along measured dimensions alone, and none beside another type", function()
    local charts = shown({ [5] = 2 }, "f64")
    assert.are.equal(6, #charts["cumsum-dims"]) -- four sources, the rung, the fastest copy
    for _, label in ipairs(charts["cumsum-ladder-f64"]) do
      assert.is_nil(label:find "dim [13], source", label)
    end
    assert.is_nil(shown({ [2] = false }, "f64")["cumsum-dims"])
    charts = shown({ [5] = 2 }, "f32")
    assert.is_nil(charts["cumsum-dims"])
    for _, label in ipairs(charts["cumsum-ladder-f32"]) do assert.is_nil(label:find("source", 1, true)) end
  end)
end)
