-- SPDX-License-Identifier: MIT
--
-- The study access: what it measures and derives, and that its checks find kernels that miss elements.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=4096 -p steps=2 "

describe("the study access", function()
  if not support.program() then return pending "needs the program" end

  it("measures all of its rungs in their parts, and leaves its charts", function()
    local run = support.study_passes("access", QUICK .. "-p strides=1,2,8,1000 -p offsets=0,8,31")
    local counts, charts, sectors = {}, {}, {}
    for _, r in ipairs(run.record.records) do
      counts[r.group] = (counts[r.group] or 0) + 1
      if r.stride or r.offset then sectors[("%s %d"):format(r.rung, r.stride or r.offset)] = r.sectors_per_request end
    end
    for i, chart in ipairs(run.record.charts) do charts[i] = chart.name end
    assert.are.same({ stride = 8, offset = 6, width = 6, loads = 30, half = 4, constants = 10, ["local"] = 10 }, counts)
    assert.are.same({ "access-stride", "access-width", "access-loads-per", "access-half", "access-constants",
                      "access-local-3", "access-local-16" }, charts)
    assert.are.same({ ["strided 1"] = 4.0, ["strided 2"] = 8.0, ["strided 8"] = 32.0, ["strided 1000"] = 32.0,
                      ["shifted 0"] = 4.0, ["shifted 8"] = 4.0, ["shifted 31"] = 5.0 }, sectors)
    local checked = {}
    for _, one in ipairs(run.record.checks) do checked[one.what] = one.ok end
    for _, what in ipairs { "strided, n = 10007, stride = 1000, f32", "shifted, n = 10007, offset = 31, f32",
                            "half2, n = 67, f16", "16 bytes a thread, n = 67, f32",
                            "shared, each lane its own, n = 10007, f32", "local memory, m = 16, n = 1003, f32" } do
      assert.is_true(checked[what], what)
    end
  end)

  it("takes no offset beyond its smallest array", function()
    support.study_passes("access", "--device cpu -p n=1024 -p parts=offset -p offsets=256")
    local run = support.study("access", QUICK .. "-p parts=offset -p offsets=257")
    assert.is_truthy(run.output:find("parameter 'offsets' must be a number from 0 to 256", 1, true), run.output)
  end)

  it("finds kernels that leave out elements, or take another's coefficient", function()
    local kernels = support.changed_kernels("access.cu",
      { "  if (i < n) y[i] = x[i];\n}", "  if (i + 1 < n) y[i] = x[i];\n}" }, -- strided
      { "else if (INDEX == whole)", "else if (INDEX < 0)" },                  -- by
      { "else y[i] = __low2half(v);", "" },                                   -- half2_steps
      { "int column = OWN ?", "int column = false ?" })                       -- polynomial
    local run = support.study("access", QUICK .. "-p strides=3 -p parts=stride,width,half,constants",
      { kernels = { ["access.cu"] = kernels } })
    assert.are.equal(3, run.status, run.output)
    local wrong = {}
    for name in run.remarks:match("Not measured: (.*)$"):gmatch "([%w, ]+) %(differs" do
      wrong[#wrong + 1] = name:match "^%s*(.*)"
    end
    assert.are.same({ "strided", "8 bytes a thread", "16 bytes a thread", "half2", "constant, each lane its own",
                      "global, each lane its own", "shared, each lane its own" }, wrong)
  end)
end)
