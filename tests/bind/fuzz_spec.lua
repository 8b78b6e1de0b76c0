-- SPDX-License-Identifier: MIT
--
-- At least 20 000 random bad calls at the whole API, in a process of its own: no crash, no hang, no leak. The seed is
-- $MOONWARP_FUZZ_SEED, else 1; a failure names it and the call that was under way.

local support = require "tests.support"
local core = support.core

local CALLS = 60000

describe("random arguments", function()
  for _, dev in ipairs(support.devices()) do
    it("do no harm on " .. dev:id(), function()
      local seed = tonumber(os.getenv "MOONWARP_FUZZ_SEED") or 1
      support.with_folder(function(folder)
        local code = ("arg = { %q, '%d', '%d' }\ndofile(%q)\n"):format(dev:id(), seed, CALLS,
          core.home() .. "/tests/support/fuzz.lua")
        local status, output = support.child(code, { folder = folder, limit = 800 })
        local under_way = support.read(folder .. "/last")
        local words = ("seed %d, status %d, during: %s\n%s"):format(seed, status, under_way, output:sub(-2000))
        assert.are.equal(0, status, words)
        assert.is_truthy(output:find(("done %d"):format(CALLS), 1, true), words)
      end)
    end)
  end
end)
