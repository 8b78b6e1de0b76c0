-- SPDX-License-Identifier: MIT
--
-- The study histogram: its counts for every kind of data, the passes it computes, and mistakes that its checks find.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=30011 -p blocks=256 "

describe("the study histogram", function()
  if not support.program() then return pending "needs the program" end

  it("counts bytes of every kind in all of its rungs", function()
    local run = support.study_passes("histogram", QUICK)
    local rungs, passes, charts = {}, {}, {}
    for _, r in ipairs(run.record.records) do
      if r.group == "ladder" and r.data == "skewed" then rungs[#rungs + 1] = r.rung end
      if r.group == "copies" and r.rung == "copies" and r.data == "one value" then passes[r.copies] = r.passes end
      if r.rung == "a table per lane" then assert.are.equal(1, r.passes) end
      assert.are.equal(30011, r.bytes)
    end
    for i, chart in ipairs(run.record.charts) do charts[i] = chart.name end
    assert.are.same({ "library copy", "global memory", "a table", "a table, 16 bytes", "a table per warp",
                      "merged by warps", "8 tables", "a table per lane", "8 bits per thread", "a table, weighted",
                      "a table per lane, weighted", "a table, global memory" }, rungs)
    assert.are.same({ 32, 16, [4] = 8, [8] = 4, [16] = 2, [32] = 1 }, passes)
    assert.are.same({ "histogram-ladder-uniform", "histogram-ladder-skewed", "histogram-ladder-one-value",
                      "histogram-copies" }, charts)
    support.has_checks(run, { "merged by warps, uniform, n = 527, u32", "a table, uniform, n = 1, u32",
                              "8 bits per thread, one value, most = 2, n = 100003, u32",
                              "copies, copies = 16, uniform, n = 20001, u32" })
  end)

  it("counts what is left of 16 bytes in grids of fewer threads", function()
    support.study_passes("histogram", "--device cpu -p n=15 -p data=uniform -p parts=ladder -p blocks=1,7 -p rungs=4,8")
  end)

  it("finds counters that wrap, a table that is not added, and what is left of 512 bytes", function()
    local run = support.study("histogram", QUICK .. "-p parts=ladder -p rungs=6,7,9", { kernels = {
      ["histogram.cu"] = support.changed_kernels("histogram.cu", { "if (has_wrapped[k])", "if (false)" },
        { "add_tables(bins, tables, COPIES, 1, COPIES)", "add_tables(bins, tables, COPIES - 1, 1, COPIES)" },
        { "i = whole * 16 + INDEX; i < n", "i = whole * 16 + INDEX; i + 1 < n" }) } })
    assert.are.equal(3, run.status, run.output)
    for _, wrong in ipairs { "merged by warps", "8 tables", "8 bits per thread" } do
      assert.is_truthy(run.remarks:find(wrong .. " (differs from the host", 1, true), run.remarks)
    end
  end)
end)
