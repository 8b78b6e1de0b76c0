-- SPDX-License-Identifier: MIT
--
-- Ends of random numbers that an integer type cannot hold: the numbers had wrapped.

local support = require "tests.support"

describe("random within an integer type", function() support.each_device(function(dev)
  for _, case in ipairs { { "i8", { max = 1000 }, "option 'max' is 1000, i8 holds -128 to 127" },
                          { "u16", { min = -1 }, "option 'min' is -1, u16 holds 0 to 65535" } } do
    it("rejects an end that it cannot hold, " .. case[1], function()
      local a <close> = dev:zeros(case[1], 4)
      support.fails(function() a:random(case[2]) end, "random: " .. case[3])
    end)
  end
end) end)
