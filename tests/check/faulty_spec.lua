-- SPDX-License-Identifier: MIT
--
-- Check mode finds the mistake in kernels that have one, names its line, and finds nothing else: check/faulty.lua.
-- luacheck: std +busted

local cases = require "tests.check.cases"
local session = require "moonwarp.session"

describe("check mode finds", function()
  session.current.settle_findings = function() end -- the mistakes are wanted: they fail no run
  local dev = cases.device()
  for _, group in ipairs(require "tests.check.faulty") do
    local module, marks
    before_each(function()
      module, marks = module or cases.module(dev, group.file), marks or cases.marks(group.file)
    end)
    for _, case in ipairs(group.cases) do
      local test = case.missed and pending or it
      test(("%s of %s"):format(case[1], group.file), function()
        assert.are.same({}, cases.differences(marks[case[1]], cases.run(dev, module, case)))
      end)
    end
  end
end)
