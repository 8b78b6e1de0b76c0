-- SPDX-License-Identifier: MIT
--
-- Check mode finds nothing in legal kernels, however dangerous they look: tests/check/legal.lua.
-- luacheck: std +busted

local cases = require "tests.check.cases"

describe("check mode finds nothing in", function()
  local dev = cases.device()
  for _, group in ipairs(require "tests.check.legal") do
    local module
    before_each(function() module = module or cases.module(dev, group.file) end)
    for _, case in ipairs(group.cases) do
      it(("%s of %s"):format(case[1], group.file), function()
        local findings, problem = cases.run(dev, module, case)
        local texts = {}
        for i, finding in ipairs(findings) do texts[i] = cases.text(finding) end
        assert.are.same({}, texts)
        assert.is_nil(problem)
      end)
    end
  end
end)
