-- SPDX-License-Identifier: MIT
--
-- mw.check: what counts as right, what the report says, mistakes.

local comparison = require "moonwarp.measure.comparison"
local session = require "moonwarp.session"
local support = require "tests.support"
local core, mw = support.core, support.mw
local fails = support.fails

-- Failures that a spec provokes are not the suite's.
local function quietly(got, expected, options)
  local before = session.current.failed_checks
  options = options or {}
  options.quiet = true
  local ok, report = mw.check(got, expected, options)
  session.current.failed_checks = before
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

    it("names NaN, and takes it if it is expected", function()
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

    it("distinguishes rounding from a bug", function()
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
      local before = session.current.failed_checks
      session.current.failed_checks = 0
      mw.check(a, 1, { quiet = true })
      mw.check(a, 2, { quiet = true })
      local counted = session.current.failed_checks
      session.current.failed_checks = before
      assert.are.equal(2, counted)
    end)

    -- A GPU compares large arrays by itself; the host's rules are the rules.
    it("has the same opinion on the device as on the host", function()
      for _, dtype in ipairs { "f32", "f64", "i32", "u32", "i64", "u64" } do
        local is_float, n = dtype:find "^f" ~= nil, 5003
        local a <close> = dev:array(dtype, n):random(1)
        local b <close> = a:clone()
        local function agree(absolute, relative)
          local host = core.compare(a, b, absolute, relative, 0)
          local own = comparison.on_device(a, b, absolute, relative)
          local what = ("%s, %g + %g"):format(dtype, absolute, relative)
          assert.are.equal(host.wrong == 0, own ~= nil, what)
          if own then
            assert.are.same({ host.max_absolute, host.max_relative }, { own.max_absolute, own.max_relative }, what)
          end
        end
        agree(0, 0)
        if is_float then
          for i = 10, 4000 do b:set(i, b:get(i) * (1 + i * 1e-6)) end
          for i, value in ipairs { 0 / 0, 1 / 0, -1 / 0, 0.0 } do
            a:set(i, value)
            b:set(i, value)
          end
          b:set(4, -0.0)
          for _, tolerance in ipairs { { 0, 0 }, { 1e-2, 0 }, { 0, 5e-3 }, { 1e-9, 3e-3 } } do
            agree(table.unpack(tolerance))
          end
          for _, value in ipairs { 0 / 0, 1 / 0 } do -- on one side
            b:set(n, value)
            agree(1e300, 0)
          end
        else
          b:set(n, 7)
          a:set(n, 8)
          for _, tolerance in ipairs { { 0, 0 }, { 1, 0 }, { 0, 0.1 }, { 0, 0.2 } } do
            agree(table.unpack(tolerance))
          end
        end
      end
    end)

    it("brings what is on the host to its device", function()
      for _, space in ipairs { "array", "pinned", "pageable" } do
        local a <close> = dev[space](dev, "f32", 3, 5):linspace(0, 14)
        local near <close> = comparison.near(a)
        assert.are.same({ "device", 15, 14.0 }, { near:space(), #near, near:get(15) }, space)
        a:set(3, 5, -1)
        assert.are.equal(space == "array" and -1.0 or 14.0, near:get(15), space)
      end
    end)

    it("finds one wrong element of many", function()
      local a <close> = dev:array("f32", 1 << 19):linspace(0, 1)
      local b <close> = a:clone()
      assert.is_true(quietly(a, b))
      b:set(400001, 5)
      local ok, report = quietly(a, b)
      assert.are.same({ false, 1, 400001 }, { ok, report.wrong, report.first[1].index[1] })
    end)

    it("rejects what cannot be compared", function()
      local a <close> = dev:zeros("f32", 4)
      local b <close> = dev:zeros("f64", 4)
      local c <close> = dev:zeros("f32", 2, 2)
      fails(function() mw.check(1, a) end, "mw.check: an array or a truth value is wanted, got number")
      fails(function() mw.check(a, "x") end,
        "mw.check: the expected values must be an array, a table, a number or a function, got string")
      fails(function() mw.check(a, b) end, "mw.check: got an array of f32, expected one of f64")
      fails(function() mw.check(a, c) end, "mw.check: the shapes differ: got 4, expected 2 x 2")
      fails(function() mw.check(a, 0, { tolerance = 1 }) end,
        "mw.check: unknown option 'tolerance'; it takes absolute, exact, most, name, quiet, relative, rms, sum")
      fails(function() mw.check(a, 0, { sum = -1 }) end,
        "mw.check: option 'sum' must be at least 0, got -1")
    end)
  end)
end)
