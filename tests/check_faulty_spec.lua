-- SPDX-License-Identifier: MIT
--
-- Check mode finds the mistake in kernels that have one, names its line, and finds nothing else: check/faulty.lua.
-- luacheck: std +busted

local cases = require "tests.check.cases"

describe("check mode finds", function()
  local dev = cases.device()
  for _, group in ipairs(require "tests.check.faulty") do
    local module, marks
    setup(function() module, marks = cases.module(dev, group.file), cases.marks(group.file) end)
    for _, case in ipairs(group.cases) do
      local test = case.missed and pending or it
      test(("%s of %s"):format(case[1], group.file), function()
        assert.are.same({}, cases.differences(marks[case[1]], cases.run(dev, module, case)))
      end)
    end
  end
end)
