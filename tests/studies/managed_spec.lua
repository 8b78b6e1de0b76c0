-- SPDX-License-Identifier: MIT
--
-- The study managed: what it checks and leaves.

local support = require "tests.support"

describe("the study managed", function()
  if not support.program() then return pending "needs the program" end

  it("takes each kind of memory to a kernel and back, with and without the host's writes", function()
    local run = support.study_passes("managed", "--device cpu -p n=5000 -p part=8192 -p pages=9")
    local rungs, touched, hints, moves = {}, {}, {}, {}
    for _, r in ipairs(run.record.records) do
      if r.group == "trip" then rungs[#rungs + 1] = r.rung end
      if r.group == "touched" then touched[r.rung] = math.max(touched[r.rung] or 0, r.touched) end
      if r.group == "prefetch" then
        moves[#moves + 1] = r.to
        assert.is_true(r.call > 0 and r.done > r.call)
      end
      if r.group == "first touch" then
        hints[#hints + 1] = r.hint
        assert.is_true(r.kernel_first > 0 and r.kernel_second > 0 and r.host_first > 0 and r.host_second > 0)
      end
    end
    assert.are.same({ "explicit, pinned", "explicit, registered", "explicit, pageable", "managed, prefetched",
                      "managed, kept on the host", "zero-copy, pinned", "zero-copy, registered" }, rungs)
    assert.are.same({ ["explicit, pinned"] = 9, managed = 9, ["managed, prefetched"] = 9,
                      ["managed, kept on the host"] = 9, ["zero-copy, pinned"] = 9 }, touched)
    assert.are.same({ "no hint", "prefetched", "kept on the host", "read mostly" }, hints)
    assert.are.same({ "device", "host", "device", "host", "device", "host" }, moves)
  end)
end)
