-- SPDX-License-Identifier: MIT
--
-- moonwarp explain: what a run's launches are, its evidence and what is missing.

local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local support = require "tests.support"

local SCRIPT <const> = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local m = dev:module "k.cu"
local y, h = dev:array("f32", 1 << 16), dev:pinned("f32", 1 << 16)
h:fill(1)
local go = m.f:prepare { grid = 256, block = 256 }
local t = mw.bench(function()
  y:copy(h)
  go(y, 1)
  m.f:launch(1, { 32, 2 }, y, 2)
  go(y, 3)
end, { samples = 2, name = "filling", bytes = 2^18, flops = 2^16 })
mw.record { t = t }
]]
local KERNEL <const> = "__global__ void f(float *y, float a) { y[blockIdx.x * blockDim.x + threadIdx.x] = a; }\n"

local CEILINGS <const> = [[{"schema": "moonwarp-ceilings/1", "ceilings": [
{"device": "%s", "driver": "d", "multiprocessors": 2, "moonwarp": "0", "date": "2026-01-01T00:00:00Z",
 "values": {"triad": 1, "f32": 1, "launch": 10, "blocks": 1e15}},
{"device": "%s", "driver": "d", "multiprocessors": 2, "moonwarp": "0", "date": "2025-01-01T00:00:00Z",
 "values": {"triad": 1e30}}]}]]

-- body(run, folder): run(words, the file of ceilings) gives status and output in the folder, where s.lua has run.
local function with_run(body)
  support.with_folder(function(folder)
    support.write(folder .. "/s.lua", SCRIPT)
    support.write(folder .. "/k.cu", KERNEL)
    local name = support.core.device "cpu":name()
    support.write(folder .. "/c.json", CEILINGS:format(name, name))
    local function run(words, ceilings)
      return labs.shell(("cd %s && MOONWARP_CEILINGS=%s %s %s 2>&1 </dev/null"):format(labs.quoted(folder),
        ceilings or "none.json", labs.quoted(labs.program), words))
    end
    local status, output = run "run s.lua --quiet"
    assert.are.equal(0, status, output)
    body(run, folder)
  end)
end

describe("moonwarp explain", function()
  it("tells a run's kernels, causes and what is not known", function()
    with_run(function(run, folder)
      local stored = json.decode(support.read(support.run(folder .. "/out") .. "/record.json"))
      local t = stored.records[1].t
      assert.are.same({ to_device = 4 << 16 }, t.copies)
      assert.are.same({ "f", { 256, 1, 1 }, { 256, 1, 1 }, 2, 0 }, { t.launches[1].kernel, t.launches[1].grid,
        t.launches[1].block, t.launches[1].count, t.launches[1].shared })
      local second = t.launches[2]
      assert.are.same({ { 1, 1, 1 }, { 32, 2, 1 }, 1 }, { second.grid, second.block, second.count })
      local status, output = run("explain s --json", "c.json")
      assert.are.equal(0, status, output)
      local found = assert(json.decode(output))
      assert.are.same({ "filling", { "f, grid 256, block 256, 2 times", "f, grid 1, block 32 x 2" } },
        { found.work[1].name, found.work[1].kernels })
      local causes = {}
      for _, one in ipairs(found.work[1].causes) do causes[#causes + 1] = one.cause end
      table.sort(causes)
      assert.are.same({ "f32", "launch" }, causes) -- more bytes than memory gives, and no ceiling of a cache
      status, output = run "explain k.cu"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("filling: ", 1, true), output)
      assert.is_truthy(output:find("moonwarp ceilings blocks f32 launch to_device triad\n", 1, true), output)
    end)
  end)

  it("wants a run that has times, and a file that a run has used", function()
    with_run(function(run)
      local status, output = run "explain other.cu"
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("no run in out has used other.cu: ", 1, true), output)
      status, output = run "explain s --only nothing"
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("no kernel has 'nothing' in its name", 1, true), output)
      assert.are.equal(2, (run "explain"))
    end)
  end)
end)
