-- SPDX-License-Identifier: MIT
--
-- The study pattern: its counts, words that are hard for the rung of two at once.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=30011 -p every=16 "

describe("the study pattern", function()
  if not support.program() then return pending "needs the program" end

  it("counts four words in all of its rungs", function()
    local run = support.study_passes("pattern", QUICK)
    local rungs = {}
    for _, r in ipairs(run.record.records) do
      if r.group == "ladder" then rungs[#rungs + 1] = r.rung end
      assert.are.equal(30011, r.bytes)
    end
    assert.are.same({ "library copy", "a byte per thread", "a word per thread", "16 bytes", "is there any?",
                      "two words at once", "a word per thread, four counts", "two at once, four counts" }, rungs)
    support.has_checks(run, { "two words at once, every = 16, n = 1003, u32",
                              "is there any?, every = 0, n = 270007, u32",
                              "two at once, four counts, every = 16, n = 5, u32" })
  end)

  it("counts words whose differences are even, and overlapping ones", function()
    support.study_passes("pattern", QUICK .. "-p 'words=abab baba bbbb fbbb' -p rungs=6,8 -p parts=ladder")
  end)

  it("rejects what is not four words", function()
    for _, words in ipairs { "that that have from", "that with have", "that with have fro5" } do
      local run = support.study("pattern", QUICK .. ("-p 'words=%s'"):format(words))
      assert.are.equal(2, run.status, run.output)
      assert.is_truthy(run.output:find("four different words of four letters", 1, true), run.output)
      assert.is_truthy(run.output:find("got '" .. words, 1, true), run.output)
    end
  end)
end)
