-- SPDX-License-Identifier: MIT
--
-- A script that fails after it has replaced io.stderr: the program had ended with status 1 and no message.

local support = require "tests.support"

if not support.program() then return end

describe("the program's message", function()
  for _, name in ipairs { "stderr", "stdout" } do
    it("is printed although a script has replaced io." .. name, function()
      local code = ("io.%s = { write = function() end, flush = function() end } error 'it failed'"):format(name)
      local pipe = io.popen(('%s -e "%s" 2>&1'):format(support.program(), code))
      local output = pipe:read "a"
      local _, _, status = pipe:close()
      assert.are.equal(1, status)
      assert.is_truthy(output:find("moonwarp: (-e):1: it failed", 1, true), output)
    end)
  end
end)
