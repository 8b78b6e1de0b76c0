-- SPDX-License-Identifier: MIT
--
-- Every rung of stencil.cu, in both types, by every engine that takes it, on fields that no block divides, against
-- steps worked out in Lua; and the study through the program.

local support = require "tests.support"
local mw = support.mw

local LAM, DT, BY_DX, BY_DY = 1.0, 0.1, 1.1, 0.9
local TYPES = { f64 = { real = "double", size = 8, eps = 2.0 ^ -52 },
                f32 = { real = "float", size = 4, eps = 2.0 ^ -23 } }

-- Even, odd, a multiple of what 16 bytes hold or not, narrower than a strip, wider than two.
local SIZES = { { 64, 32 }, { 67, 43 }, { 130, 21 }, { 5, 9 }, { 3, 3 }, { 1, 4 }, { 252, 17 } }

local STEPS = {
  { "diffusion" }, { "diffusion_triad", triad = true },
  { "diffusion_staged", triad = true, tile = 0 }, { "diffusion_halo", triad = true, tile = 2 },
  { "diffusion_filled", triad = true, tile = 2 }, { "diffusion_shared", tile = 2 },
  { "diffusion_march<1>", tall = 1 }, { "diffusion_march<5>", tall = 5 }, { "diffusion_vector", wide = true },
}
local LEVELS = { auto = { 1, 3, 8 }, fiber = { 2 } }

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- the host: rows of numbers ------------------------------------------------------------------------------------

local function host_step(t, ci, triad)
  local out = {}
  for j, row in ipairs(t) do
    out[j] = table.move(row, 1, #row, 1, {})
    for i = 2, j > 1 and j < #t and #row - 1 or 0 do
      local laplace = (row[i - 1] - 2 * row[i] + row[i + 1]) * BY_DX ^ 2
        + (t[j - 1][i] - 2 * row[i] + t[j + 1][i]) * BY_DY ^ 2
      out[j][i] = row[i] + DT * ci[j][i] * (triad and 1 or LAM * laplace)
    end
  end
  return out
end

local function host_steps(t, ci, k)
  for _ = 1, k do t = host_step(t, ci) end
  return t
end

-- ---- the device ---------------------------------------------------------------------------------------------------

-- Fields of one size and type, closed when the block ends.
local function with_fields(dev, kind, nx, ny, body)
  local T <close> = dev:array(kind, nx, ny):random(1)
  local Ci <close> = dev:array(kind, nx, ny):random(2)
  local T2 <close> = dev:array(kind, nx, ny)
  body(T2, T, Ci, T:totable(), Ci:totable())
end

local function right(got, wanted, eps, name)
  local ok, report = mw.check(got, wanted, { absolute = eps, quiet = true, name = name })
  assert.is_true(ok, ("%s: %s"):format(name, tostring(report)))
end

local function launch_step(m, rung, kind, bx, by, T2, T, Ci)
  local nx, ny = T:shape()
  local size = TYPES[kind].size
  local tile = rung.tile and (bx + rung.tile) * (by + rung.tile) * size or 0
  m:kernel(rung[1]):prepare {
    block = { bx, by }, shared = tile,
    grid = { ceil_div(nx, bx * (rung.wide and 16 // size or 1)), ceil_div(ny, by * (rung.tall or 1)) },
  }(T2, T, Ci, LAM, DT, BY_DX, BY_DY, nx, ny)
end

local function launch_levels(m, k, kind, warps, rows, T2, T, Ci)
  local nx, ny = T:shape()
  local columns = 16 // TYPES[kind].size
  local strips = ceil_div(nx, 32 * columns - 2 * (ceil_div(k, columns) * columns))
  m:kernel(("diffusion_levels<%d>"):format(k)):prepare {
    block = 32 * warps, grid = { ceil_div(strips, warps), ceil_div(ny, rows) },
  }(T2, T, Ci, LAM, DT, BY_DX, BY_DY, nx, ny, rows)
end

local function each_module(dev, id, body)
  for kind, type_of in pairs(TYPES) do
    for _, engine in ipairs(id == "cpu" and { "auto", "fiber" } or { "auto" }) do
      local templates = { "diffusion_march<1>", "diffusion_march<5>" }
      for _, k in ipairs(LEVELS[engine]) do templates[#templates + 1] = ("diffusion_levels<%d>"):format(k) end
      local m <close> = dev:module { file = "stencil.cu", engine = engine, defines = { REAL = type_of.real },
                                     templates = templates }
      body(m, kind, type_of.eps, engine)
    end
  end
end

support.each_device(function(dev, id)
  it("stencil.cu: every single step is that of the host, and leaves the border alone", function()
    each_module(dev, id, function(m, kind, eps, engine)
      for _, size in ipairs(SIZES) do
        with_fields(dev, kind, size[1], size[2], function(T2, T, Ci, t, ci)
          local wanted = { [true] = host_step(t, ci, true), [false] = host_step(t, ci) }
          for _, rung in ipairs(STEPS) do
            T2:copy(T)
            launch_step(m, rung, kind, 16, 4, T2, T, Ci)
            right(T2, wanted[rung.triad == true], 8 * eps,
              ("%s, %s, %d x %d, engine %s"):format(rung[1], kind, size[1], size[2], engine))
            T2:fill(0 / 0)
            launch_step(m, rung, kind, 32, 2, T2, T, Ci)
            local corner = T2:get(1, 1)
            assert.is_true(corner ~= corner, rung[1] .. " writes the border")
          end
        end)
      end
    end)
  end)

  it("stencil.cu: a pass of k levels is k steps of the host", function()
    each_module(dev, id, function(m, kind, eps, engine)
      for _, size in ipairs(SIZES) do
        with_fields(dev, kind, size[1], size[2], function(T2, T, Ci, t, ci)
          for _, k in ipairs(LEVELS[engine]) do
            for _, shape in ipairs { { 2, 512 }, { 1, 6 } } do
              T2:fill(0 / 0)
              launch_levels(m, k, kind, shape[1], shape[2], T2, T, Ci)
              right(T2, host_steps(t, ci, k), 8 * eps * k, ("%d levels, %s, %d x %d, %d rows a warp, engine %s"):format(
                k, kind, size[1], size[2], shape[2], engine))
            end
          end
        end)
      end
    end)
  end)
end)

describe("the stencil study", function()
  -- Its kernels are compiled once more by the program: the sizes are as small as the study is whole with.
  local function study(kind, n)
    support.with_folder(function(folder)
      local command = ("'%s' run stencil --device cpu --out '%s' -p type=%s -p n=%d -p seconds=0 -p levels=1,3 "
        .. "-p side=17 -p frames=3 -p rows=9 </dev/null 2>&1"):format(support.program() or "build/moonwarp", folder,
        kind, n)
      local pipe = assert(io.popen(command))
      local output = pipe:read "a"
      local _, _, status = pipe:close()
      assert.are.equal(0, status, output)
      for _, title in ipairs { "naive", "halo read", "16 bytes a thread", "3 steps a pass", "Physics:" } do
        assert.is_truthy(output:find(title, 1, true), title)
      end
      for _, name in ipairs { "record.json", "remarks.txt", "stencil-threads.gp", "stencil-shapes.dat",
                              "stencil-levels.dat", "stencil-film.dat" } do
        assert.is_true(#support.read(support.run(folder) .. "/" .. name) > 0, name)
      end
      local checked = {}
      for _, one in ipairs(assert(require("moonwarp.results.store").read(support.run(folder))).checks) do
        checked[one.what] = one.ok
      end
      for _, rung in ipairs { "naive", "triad: no derivatives", "T in shared memory", "halo allocated", "halo read",
                              "diffusion, shared memory", "rows in registers", "16 bytes a thread", "1 step a pass",
                              "3 steps a pass" } do
        assert.is_true(checked[rung .. ", 67 x 43"] and checked[rung .. ", 68 x 41"], rung)
      end
    end)
  end

  -- The record of a run of some rungs, and what it printed.
  local function part_of(words)
    local output, record
    support.with_folder(function(folder)
      local pipe = assert(io.popen(("'%s' run stencil --device cpu --out '%s' -p n=40 -p seconds=0 -p side=17 "
        .. "-p frames=2 %s </dev/null 2>&1"):format(support.program() or "build/moonwarp", folder, words)))
      output = pipe:read "a"
      local _, _, status = pipe:close()
      assert.are.equal(0, status, output)
      record = assert(require("moonwarp.results.store").read(support.run(folder)))
    end)
    return record, output
  end

  -- The rungs of a run's table with their blocks, and its charts with their series.
  local function summary(record)
    local rows, charts = {}, {}
    local number, rung, block = table.unpack(record.tables[1].columns)
    for i, text in ipairs(number.texts) do rows[i] = ("%s %s %s"):format(text, rung.texts[i], block.texts[i]) end
    for i, chart in ipairs(record.charts) do
      local series = {}
      for k, one in ipairs(chart.series) do series[k] = one.name end
      charts[i] = chart.name .. ": " .. table.concat(series, ", ")
    end
    return rows, charts
  end

  it("runs any of its rungs, and tells of no others", function()
    local record, output = part_of "-p rungs=8,3 -p shapes=16x4"
    local rows, charts = summary(record)
    assert.are.same({ "2 triad: no derivatives 16 x 4", "3 T in shared memory 16 x 4", "8 16 bytes a thread 16 x 4" },
      rows)
    assert.are.same({ "stencil-threads: triad: no derivatives, 16 bytes a thread" }, charts)
    assert.is_truthy(output:find("'16 bytes a thread' in blocks of 16 x 4 has", 1, true), output)
    for _, words in ipairs { "The naive step", "shared memory is", "best single step", "Temporal", "block's shape" } do
      assert.is_nil(output:find(words, 1, true), words)
    end
    for _, one in ipairs(record.checks) do -- the naive step is what rung 8 is held against
      assert.is_nil(one.what:find "^halo" or one.what:find "^rows" or one.what:find "^%d+ steps? a pass", one.what)
    end

    rows, charts = summary((part_of "-p rungs=2"))
    assert.are.same({ "2 triad: no derivatives" }, { (rows[1]:gsub(" %d+ x %d+$", "")) })
    assert.are.same({ "stencil-threads: triad: no derivatives" }, charts)
  end)

  it("sweeps the shapes that are asked for, and compares rungs in those of one width", function()
    local record, output = part_of "-p rungs=1,6,9 -p levels=2 -p shapes=7x5,16,16x16,32x2,32x3"
    local blocks = {}
    for _, r in ipairs(record.records) do
      local list = blocks[r.number] or {}
      blocks[r.number], list[#list + 1] = list, r.block
    end
    assert.are.same({ "32 x 2", "32 x 3", "7 x 5", "16 x 2", "16 x 4", "16 x 8", "16 x 16", "16 x 32", "16 x 64" },
      blocks[1])
    assert.are.same({ "32 x 2", "32 x 3" }, blocks[6])
    assert.are.same({ "64" }, blocks[9])
    local _, charts = summary(record)
    assert.are.same({ "stencil-threads: triad: no derivatives, naive, diffusion, shared memory",
                      "stencil-shapes: 32 wide, 7 wide, 16 wide", "stencil-levels: temporal blocking" }, charts)
    assert.is_truthy(output:find("step of those measured is", 1, true), output)
  end)

  it("refuses rungs that there are not and blocks that no device takes", function()
    local BLOCK = "parameter 'shapes' must be a block of 1 to 1024 threads such as 32x4, or a width such as 32, "
      .. "got '%s'"
    local wrong = { ["rungs=10"] = "parameter 'rungs' must be a number from 1 to 9, got '10'",
                    ["rungs=naive"] = "parameter 'rungs' must be an integer, got 'naive'" }
    for _, text in ipairs { "32x64", "0x4", "0", "1025", "32x", "32 x 4", "square", "9223372036854775807x2" } do
      wrong["shapes=8,'" .. text .. "'"] = BLOCK:format(text)
    end
    for words, message in pairs(wrong) do
      local pipe = assert(io.popen(("'%s' run stencil --device cpu -p %s </dev/null 2>&1"):format(support.program()
        or "build/moonwarp", words)))
      local output = pipe:read "a"
      local _, _, status = pipe:close()
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find(message, 1, true), output)
    end
  end)

  it("runs in f64", function() study("f64", 40) end)
  it("runs in f32 on an odd field", function() study("f32", 37) end)

  it("refuses more rows than a grid has blocks", function()
    local command = ("'%s' run stencil --device cpu -p n=65536 </dev/null 2>&1"):format(support.program()
      or "build/moonwarp")
    local pipe = assert(io.popen(command))
    local output = pipe:read "a"
    local _, _, status = pipe:close()
    assert.are.equal(2, status, output)
    assert.is_truthy(output:find("parameter 'n' must be a number from 8 to 65535, got '65536'", 1, true), output)
  end)
end)
