-- SPDX-License-Identifier: MIT
--
-- The studies laplace and laplace3: what they check, measure and leave.

local support = require "tests.support"
local mw = support.mw

local SMALL <const>, SOLID <const> = "--device cpu -p n=70 -p rows=9 ", "--device cpu -p n=20 -p planes=7 -p period=5 "

-- Each check is right in one block at least.
local function assert_checked(run, list)
  local checks = {}
  for _, one in ipairs(run.record.checks) do
    local name = one.what:gsub(", block [%dx ]+,", ",")
    checks[name] = checks[name] or one.ok
  end
  for _, what in ipairs(list) do assert.is_true(checks[what], what) end
end

describe("the study laplace", function()
  if not support.program() then return pending "needs the program" end

  it("checks each rung on the lecture's small grids, and finds the slide's mistake", function()
    local run = support.study_passes("laplace", SMALL .. "-p shapes=64x8 -p levels=3")
    assert_checked(run, {
      "a cell per thread, one warp, nx = 8, ny = 4, f32", "16 bytes per thread, two warps, nx = 8, ny = 8, f32",
      "3 steps per pass, less than a block, nx = 5, ny = 3, f32", "the slide's guard: its mistake is found" })
    for _, r in ipairs(run.record.records) do assert.are_not.equal("the slide's guard", r.rung) end
  end)

  it("counts the sectors that a block reads, and the steps of a pass", function()
    local run = support.study_passes("laplace", "--device cpu -p n=1536 -p parts=square -p rungs=1,5 -p levels=2 "
      .. "-p shapes=512x1,64x8,8x64", { optimised = true })
    local sectors = {}
    for _, r in ipairs(run.record.records) do
      sectors[r.block or ""] = r.number == 1 and r.sectors or nil
      if r.steps then assert.is_near(2 * 2 * r.bytes, r.T_eff * r.t.median, 1e-3 * r.bytes) end
    end
    assert.are.same({ ["512 x 1"] = 194 / 512, ["64 x 8"] = 96 / 512, ["8 x 64"] = 194 / 512 }, sectors)
  end)
end)

support.each_device("a step of laplace3 in several launches", function(dev, _, runs)
  runs("is that of one cell per thread, and has the sums of all blocks", function()
    local NX <const>, NY <const>, NZ <const>, SHARE <const>, MOST <const> = 20, 21, 9, 8, 3
    local blocks = mw.ceil_div(NX // 4 * mw.ceil_div(NY, 2), SHARE)
    local m <close> = dev:module { file = "laplace.cu", templates = { "laplace3_wide<true,true>" } }
    local u1 <close> = dev:array("f32", NX, NY, NZ):random(1)
    local u2 <close> = dev:zeros("f32", NX, NY, NZ)
    local plain <close> = dev:zeros("f32", NX, NY, NZ)
    local sums <close> = dev:zeros("f64", blocks)
    m.laplace3:launch({ 1, NY, NZ }, 32, plain, u1, NX, NY, NZ)
    for first = 0, blocks - 1, MOST do
      local go = m:kernel "laplace3_wide<true,true>":prepare { grid = math.min(MOST, blocks - first), block = 32,
                                                               cooperative = true }
      go(u2, u1, sums, NX, NY, NZ, first * SHARE, SHARE, 2)
    end
    local n, change = NX * NY * NZ, 0.0
    local before, after = u1:reshape(n):totable(), u2:reshape(n):totable()
    for i = 1, n do change = change + (after[i] - before[i]) ^ 2 end
    assert.are.same(plain:reshape(n):totable(), after)
    assert.is_near(change, dev:sum(sums), 1e-5 * change)
  end)
end)

describe("the study laplace3", function()
  if not support.program() then return pending "needs the program" end

  it("checks each rung on the lecture's small grids, and the change", function()
    assert_checked(support.study_passes("laplace3", SOLID .. "-p depths=2"), {
      "columns, two blocks, nx = 16, ny = 4, nz = 3, f32",
      "2 steps, two rows per thread, nx = 131, ny = 7, nz = 9, f32",
      "the change in the same pass, nx = 20, ny = 20, nz = 20, f32: its change" })
  end)
end)
