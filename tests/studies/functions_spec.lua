-- SPDX-License-Identifier: MIT
--
-- The study functions: its errors beside those that are known.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=100 -p steps=2 -p doubles=300 "

describe("the study functions", function()
  if not support.program() then return pending "needs the program" end

  it("measures rates, and finds errors", function()
    local run = support.study_passes("functions", QUICK .. "-p every=1048573")
    local rates, errors = 0, {}
    for _, r in ipairs(run.record.records) do
      if r.group == "rates" then
        rates = rates + 1
        assert.is_near(200 / r.t.median, r.values, 1e-9 * r.values)
      else
        errors[("%s, %s, %s"):format(r.rung, r.type, r.range)] = r
      end
    end
    assert.are.equal(21, rates)
    -- 4097 numbers of f32, less those with the bits of a NaN.
    assert.are.equal(4081, errors["sqrt, f32, all"].tried)
    assert.is_true(errors["sqrt, f32, all"].ulp <= 0.5 and errors["sqrt, f32, all"].wrong == 0)
    assert.is_true(errors["exp, f32, all"].ulp > 0.45 and errors["exp, f32, all"].ulp < 2)
    local f64 = errors["rsqrt, f64, [-4, 4]"] -- where there are cc and MPFR
    assert.is_true(f64 == nil and run.remarks:find("libmpfr", 1, true) ~= nil or f64.ulp < 2 and f64.tried == 300)
  end)
end)
