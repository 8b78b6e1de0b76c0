-- SPDX-License-Identifier: MIT
--
-- Random kernels give the same results in the engine that is chosen for them as in fibers, with each compiler that is
-- there. $MOONWARP_FUZZ_SEED: other kernels.

local support = require "tests.support"
local core = support.core

local COUNT = 40

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

describe("the engines", function()
  for _, compiler in ipairs { "clang++", "g++" } do
    if there(compiler) then
      it("agree about random kernels with " .. compiler, function()
        local seed = tonumber(os.getenv "MOONWARP_FUZZ_SEED") or 1
        local script = core.home() .. "/tests/differential.lua"
        local code = ("arg = { '%d', '%d' }\ndofile(%q)\n"):format(seed, COUNT, script)
        local status, output = support.child(code, { limit = 800, env = { MOONWARP_CXX = compiler } })
        local words = ("seed %d: %s"):format(seed, output:sub(-4000))
        assert.are.equal(0, status, words)
        assert.is_truthy(output:find(("done %d wrong 0"):format(COUNT), 1, true), words)
      end)
    end
  end
end)
