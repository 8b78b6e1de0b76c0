-- SPDX-License-Identifier: MIT
--
-- Checks of values that are not finite. A NaN said "largest error 0"; any value met an expected infinity, because
-- its tolerance is infinite as well.

local session = require "moonwarp.session"
local support = require "tests.support"
local mw = support.mw

local INF <const>, NAN <const> = math.huge, 0 / 0

-- got, expected, whether it is right, the largest error
local CASES <const> = {
  { 1, 1, true, 0 }, { NAN, NAN, true, 0 }, { INF, INF, true, 0 }, { -INF, -INF, true, 0 },
  { 5, INF, false, INF }, { 5, -INF, false, INF }, { INF, 5, false, INF }, { INF, -INF, false, INF },
  { NAN, 5, false, NAN }, { 5, NAN, false, NAN }, { NAN, INF, false, NAN }, { INF, NAN, false, NAN },
}

local function same(a, b) return a == b or a ~= a and b ~= b end

describe("a check", function()
  support.each_device(function(dev)
    for _, dtype in ipairs { "f64", "f32", "f16", "bf16" } do
      it("of infinities and NaN in " .. dtype, function()
        local before = session.current.failed_checks
        for _, case in ipairs(CASES) do
          local got <close> = dev:array(dtype, { 1, case[1], 2 })
          local ok, report = mw.check(got, { 1, case[2], 2 }, { quiet = true })
          local what = ("%s for %s"):format(case[1], case[2])
          assert.are.equal(case[3], ok, what)
          assert.is_true(same(case[4], report.max_abs), what)
        end
        session.current.failed_checks = before
      end)
    end

    it("says that the largest error is no number", function()
      local before = session.current.failed_checks
      local got <close> = dev:array("f32", { 1, NAN, 3.5 })
      local _, report = mw.check(got, { 1, 2, 3 }, { quiet = true, name = "y" })
      session.current.failed_checks = before
      assert.are.equal("check y: 2 of 3 elements are wrong\n  [2]: expected 2, got nan (never written?)\n"
        .. "  [3]: expected 3, got 3.5\n  largest error nan, relative nan; tolerance 0 + 4.77e-07 of the value "
        .. "(f32 rounding)", tostring(report))
    end)

    it("of what is no value is an error with its place", function()
      local got <close> = dev:zeros("f32", 2, 2)
      support.fails(function() mw.check(got, function(i, j) return i + j < 4 and 0 or nil end) end,
        "mw.check: the function must return a number, got nil for [2, 2]")
      support.fails(function() mw.check(got, { 1, 2, 3 }) end,
        "mw.check: what is expected: the table's shape is not the array's, nor is it flat with as many values")
    end)

    it("of large integers is exact", function()
      local before = session.current.failed_checks
      local got <close> = dev:array("i64", { math.maxinteger, 2 })
      assert.is_false((mw.check(got, { math.maxinteger - 1, 2 }, { quiet = true })))
      session.current.failed_checks = before
    end)
  end)
end)
