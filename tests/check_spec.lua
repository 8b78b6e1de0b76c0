-- SPDX-License-Identifier: MIT
--
-- mw.check: what counts as right, what the report says, mistakes.

local support = require "tests.support"
local core, mw = support.core, support.mw
local fails = support.fails

-- Failures that a spec provokes are not the suite's.
local function quietly(got, expected, options)
  local before = core.options.failed_checks
  options = options or {}
  options.quiet = true
  local ok, report = mw.check(got, expected, options)
  core.options.failed_checks = before
  return ok, report
end

describe("mw.check", function()
  support.each_device(function(dev)
    it("takes arrays, tables, numbers and functions of the indices", function()
      local a <close> = dev:array("i32", { { 11, 21, 31 }, { 12, 22, 32 } })
      local same <close> = a:clone()
      assert.is_true(mw.check(a, same))
      assert.is_true(mw.check(a, { { 11, 21, 31 }, { 12, 22, 32 } }))
      assert.is_true(mw.check(a, function(i, j) return 10 * i + j end))
      a:fill(5)
      assert.is_true(mw.check(a, 5))
    end)

    it("names the first wrong elements with their indices, x first", function()
      local a <close> = dev:zeros("f64", 4, 3)
      a:set(2, 3, 7.5)
      a:set(4, 1, -1)
      local ok, report = quietly(a, 0, { name = "T" })
      assert.is_false(ok)
      assert.are.equal(2, report.wrong)
      assert.are.equal(12, report.count)
      assert.are.same({ 4, 1 }, report.first[1].index)
      assert.are.equal(-1, report.first[1].got)
      assert.are.same({ 2, 3 }, report.first[2].index)
      assert.are.equal(7.5, report.max_abs)
      assert.are.equal("check T: 2 of 12 elements are wrong\n  [4, 1]: expected 0, got -1\n"
        .. "  [2, 3]: expected 0, got 7.5\n  largest error 7.50, relative 0; tolerance 0 + 8.88e-16 of the value "
        .. "(f64 rounding)", tostring(report):match "^(.-%(f64 rounding%))")
    end)

    it("shows as many as asked for and counts the rest", function()
      local a <close> = dev:zeros("i32", 100)
      local _, report = quietly(a, 1, { most = 2 })
      assert.are.equal(2, #report.first)
      assert.is_truthy(tostring(report):find("and 98 more", 1, true))
    end)

    it("names NaN, and takes it where it is expected", function()
      local a <close> = dev:array("f32", { 1, 0 / 0 })
      local _, report = quietly(a, { 1, 2 })
      assert.is_truthy(tostring(report):find("[2]: expected 2, got nan (never written?)", 1, true))
      assert.is_true(quietly(a, { 1, 0 / 0 }))
      assert.is_false((quietly(a, { 0 / 0, 0 / 0 })))
    end)

    it("sees that nothing was written", function()
      local a <close> = dev:array("f64", 8)
      local ok, report = quietly(a, 0)
      assert.is_false(ok)
      assert.are.equal(8, report.wrong)
    end)

    it("is exact for integers, tolerant for floats, exact when told", function()
      local i <close> = dev:array("i64", { math.maxinteger })
      assert.is_false((quietly(i, { math.maxinteger - 1 })))
      local f <close> = dev:array("f64", { 1 + 2.0 ^ -52 })
      assert.is_true(quietly(f, 1))
      assert.is_false((quietly(f, 1, { exact = true })))
      assert.is_false((quietly(f, 1 + 2.0 ^ -48)))
    end)

    it("knows the length of sums", function()
      local f <close> = dev:array("f32", { 1000.01, 1e-5 })
      local expected = { 1000, 0 }
      assert.is_false((quietly(f, expected)))
      local ok, report = quietly(f, expected, { sum = 1 << 20 })
      assert.is_true(ok)
      assert.are.equal("f32 sums of 1048576 terms", report.tolerance_why)
    end)

    it("tells rounding from a bug", function()
      local f <close> = dev:array("f32", { 1 + 2.0 ^ -18 })
      local _, report = quietly(f, 1)
      assert.is_truthy(tostring(report):find("of rounding's size", 1, true))
      f:fill(2)
      _, report = quietly(f, 1)
      assert.is_nil(tostring(report):find("of rounding's size", 1, true))
    end)

    it("takes given tolerances", function()
      local f <close> = dev:array("f64", { 1.05, 20.5 })
      assert.is_true(quietly(f, { 1, 20 }, { relative = 0.06 }))
      assert.is_true(quietly(f, { 1, 20 }, { absolute = 0.6 }))
      assert.is_false((quietly(f, { 1, 20 }, { absolute = 0.1 })))
    end)

    it("counts failures for the exit code and writes to standard error", function()
      local a <close> = dev:zeros("i32", 1)
      local before = core.options.failed_checks
      core.options.failed_checks = nil
      mw.check(a, 1, { quiet = true })
      mw.check(a, 2, { quiet = true })
      local counted = core.options.failed_checks
      core.options.failed_checks = before
      assert.are.equal(2, counted)
    end)

    it("refuses what cannot be compared", function()
      local a <close> = dev:zeros("f32", 4)
      local b <close> = dev:zeros("f64", 4)
      local c <close> = dev:zeros("f32", 2, 2)
      fails(function() mw.check(1, a) end, "mw.check: an array is wanted, got number")
      fails(function() mw.check(a, "x") end,
        "mw.check: the expected values must be an array, a table, a number or a function, got string")
      fails(function() mw.check(a, b) end, "mw.check: got an array of f32, expected one of f64")
      fails(function() mw.check(a, c) end, "mw.check: the shapes differ: got 4, expected 2 x 2")
      fails(function() mw.check(a, 0, { tolerance = 1 }) end,
        "mw.check: unknown option 'tolerance'; it takes absolute, exact, most, name, quiet, relative, sum")
      fails(function() mw.check(a, 0, { sum = -1 }) end,
        "mw.check: option 'sum' must be a finite number >= 0, got -1")
    end)
  end)
end)
