-- SPDX-License-Identifier: MIT
--
-- moonwarp roofline: kernels of a stored run under the roofs that are kept of its device, by what ncu has counted, by
-- what is declared, and by the requests of warps.

local counters = require "moonwarp.measure.counters"
local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local report = require "moonwarp.tools.ncu_report"
local support = require "tests.support"

local CEILINGS <const> = [[{"schema": "moonwarp-ceilings/1", "ceilings": [
{"device": "H", "driver": "d", "multiprocessors": 2, "moonwarp": "0", "date": "2026-01-01T00:00:00Z",
 "values": {"triad": 1e12, "triad_l2": 4e12, "f32": 4e13, "f64": 2e13}}]}]]

-- A result of mw.bench whose call launches a kernel with these blocks.
local function result(t, kernel, grid, more)
  local one = { median = t, samples = { t }, n = 1, launches = { { kernel = kernel, grid = { grid, 1, 1 },
    block = { 256, 1, 1 }, shared = 0, count = 1 } } }
  for key, value in pairs(more or {}) do one[key] = value end
  return one
end

-- A launch as ncu's pages have it, read by the parser: columns of page raw.
local function counted(kernel, grid, columns)
  local titles = { "ID", "Kernel Name", "Block Size", "Grid Size" }
  local row = { "0", "void " .. kernel .. "(float *)", "(256, 1, 1)", ("(%d, 1, 1)"):format(grid) }
  for name, value in pairs(columns) do titles[#titles + 1], row[#row + 1] = name, tostring(value) end
  local function line(cells) return '"' .. table.concat(cells, '","') .. '"\n' end
  return report.read(line(titles) .. line(row), "", "")[1]
end

local OPERATION <const> = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"

local function columns(dram, l2, adds, fused)
  return { ["dram__bytes_read.sum"] = dram // 2, ["dram__bytes_write.sum"] = dram // 2, ["inst_executed"] = 1000,
           ["thread_inst_executed_true"] = 32000, ["lts__t_sectors_srcunit_tex_op_read.sum"] = l2 // 32,
           ["lts__t_sectors_srcunit_tex_op_write.sum"] = 0, [OPERATION:format "fadd"] = adds,
           [OPERATION:format "fmul"] = 0, [OPERATION:format "ffma"] = fused }
end

-- The folder of a run with these records and launches that were counted.
local function stored(folder, records, launches)
  local rows = counters.by_configuration(launches)
  for _, row in ipairs(rows) do row.device = "cuda:0" end
  support.write(folder .. "/record.json", json.encode { schema = "moonwarp-record/1", study = "s", status = "complete",
    device = "cuda:0", device_name = "H", date = "2026-01-02T00:00:00Z", records = records, counters = rows,
    checks = setmetatable({}, json.list), charts = setmetatable({}, json.list),
    tables = setmetatable({}, json.list), remarks = setmetatable({}, json.list),
    pictures = setmetatable({}, json.list), sources = setmetatable({}, json.list) })
end

local function record(version, t)
  return { version = version, t = t, device = "cuda:0", chosen = { "version" } }
end

local function with_run(body)
  support.with_folder(function(folder)
    support.write(folder .. "/c.json", CEILINGS)
    stored(folder, {
      record("slim", result(1e-3, "slim<true, 4>", 64)),
      record("fat", result(1e-3, "fat<SUM>", 64)),
      record("said", result(1e-3, "said", 64, { bytes = 2e9, flops = 1e9 })),
      record("asked", result(1e-3, "asked", 64, { flops = 1e9 })),
      record("copy", result(1e-3, "copy", 64)) }, {
      counted("slim<(bool)1, (int)4>", 64, columns(900000000, 1800000000, 100000000, 100000000)),
      counted("fat<0>", 64, columns(1000000, 2000000, 0, 18000000000)),
      counted("copy", 64, columns(900000000, 900000000, 0, 0)),
      { kernel = "asked", grid = { 64, 1, 1 }, block = { 256, 1, 1 }, source = "cpu", lines = {},
        load_sectors = 10000000, store_sectors = 5000000 } })
    body(function(words)
      return labs.shell(("cd %s && MOONWARP_CEILINGS=c.json %s roofline %s 2>&1 </dev/null"):format(
        labs.quoted(folder), labs.quoted(labs.program), words))
    end, folder)
  end)
end

describe("moonwarp roofline", function()
  it("places kernels by what was counted, declared or asked for", function()
    with_run(function(run)
      local status, output = run "."
      assert.are.equal(0, status, output)
      for _, line in ipairs {
        "slim%s+ncu%s+f32%s+0%.333%s+0%.167%s+300 Gflop/s%s+90 %%%s+memory\n",
        "fat%s+ncu%s+f32%s+36000%s+18000%s+36%.0 Tflop/s%s+90 %%%s+compute\n",
        "said%s+declared%s+f32%s+0%.500%s+%-%s+1%.00 Tflop/s%s+50 %%%s+L2\n",
        "asked%s+requests%s+f32%s+2%.08%s+%-%s+1%.00 Tflop/s%s+48 %%%s+memory\n",
        "not placed: copy: its operations are not known, or none\n", "roof f32", "roof L2", "said, data from a cache",
      } do
        assert.is_truthy(output:find(line), ("%s is not in\n%s"):format(line, output))
      end
    end)
  end)

  it("draws the names of kernels at their points", function()
    with_run(function(run, folder)
      local status, output = run ". --svg --only slim"
      assert.are.equal(0, status, output)
      local script = support.read(folder .. "/out/plots/roofline-s.gp")
      assert.is_truthy(script:find("set label 'slim' at first ", 1, true), script)
      assert.is_truthy(script:find("title 'roof f32'", 1, true), script)
      assert.is_nil(script:find("title 'slim'", 1, true), script)
    end)
  end)

  it("says which ceilings it wants, and which kernels it cannot place", function()
    with_run(function(run, folder)
      local status, output = run ". --only copy"
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("no kernel can be placed; copy: its operations are not known, or none", 1, true))
      os.remove(folder .. "/c.json")
      status, output = run "."
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("the ceilings of H are not kept: moonwarp ceilings triad triad_l2 f32 f64", 1, true))
    end)
  end)
end)
