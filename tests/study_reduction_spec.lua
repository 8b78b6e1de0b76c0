-- SPDX-License-Identifier: MIT
--
-- The study reduction: what it measures, leaves and says.

local support = require "tests.support"

local QUICK = "--device cpu -p types=f32 -p ops=sum -p per=4 -p per_once=2 "

describe("the study reduction", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("runs, checks and leaves its files", function()
    local run = support.study_passes("reduction", QUICK .. "-p n=20011", { optimised = true })
    assert.is_truthy(run.remarks:find("Same bits: of 10 runs each", 1, true), run.remarks)
    for _, name in ipairs { "record.json", "remarks.txt", "reduction-size.dat", "reduction-threads.gp",
                            "reduction-blocks.dat" } do
      assert.is_truthy(run.files[name], name)
    end
  end)

  local LADDER = { "reduce_tree", "reduce_strided", "reduce_dynamic", "reduce_down", "reduce_butterfly",
                   "reduce_shuffle", "host", "second launch", "atomic", "compare and swap", "lock", "last block",
                   "16 bytes, last block" }

  local function measured_in(run)
    local list, seen = {}, {}
    for _, r in ipairs(run.record.records) do
      assert.are.equal(LADDER[r.number], r.method)
      if not seen[r.number] then list[#list + 1] = r.number end
      seen[r.number] = true
    end
    table.sort(list)
    return table.concat(list, " ")
  end

  -- Of each subset: what is measured, what is drawn, what is said, and what must not be.
  it("takes any of its rungs, and says nothing of the others", function()
    local cases = {
      { "1", "1", {}, { "the halving tree takes" }, { "strided", "Over the grid", "Same bits" } },
      { "4", "1 4", {}, { "shuffles down takes" }, { "strided", "elements 'reduce" } },
      { "6,2", "1 2 6", { "threads" }, { "the same two take" }, { "Same bits" } },
      { "10", "10", {}, { "'compare and swap' (sum of f32) has", "Same bits" }, { "Within a block", "slowest" } },
      { "9,8,9", "8 9", { "blocks", "size" }, { "is the quickest with" }, { "Within a block", "'lock'", "'host'" } },
      { "13", "13", { "threads", "blocks", "size" }, { "last block' takes" }, { "Within a block", "slowest" } },
    }
    for _, case in ipairs(cases) do
      local run = support.study_passes("reduction", QUICK .. "-p n=20011 -p rungs=" .. case[1])
      assert.are.equal(case[2], measured_in(run))
      local drawn = {}
      for name in pairs(run.files) do drawn[#drawn + 1] = name:match "^reduction%-(%w+)%.dat$" end
      table.sort(drawn)
      table.sort(case[3])
      assert.are.same(case[3], drawn)
      for _, text in ipairs(case[4]) do assert.is_truthy(run.remarks:find(text, 1, true), run.remarks) end
      for _, text in ipairs(case[5]) do assert.is_nil(run.remarks:find(text, 1, true), run.remarks) end
    end
  end)

  it("refuses a rung that is none", function()
    local run = support.study("reduction", "--device cpu -p rungs=14")
    assert.are.equal(2, run.status, run.output)
    assert.is_truthy(run.output:find("parameter 'rungs' must be a number from 1 to 13, got '14'", 1, true), run.output)
  end)

  it("knows the answer for a handful of elements", function()
    support.study_passes("reduction", QUICK .. "-p n=1,3", { optimised = true })
  end)
end)
