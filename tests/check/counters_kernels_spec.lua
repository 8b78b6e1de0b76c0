-- SPDX-License-Identifier: MIT
--
-- Structural counters of the CPU device against arithmetic: the kernels of tests/kernels/counters.cu.

local cases = require "tests.support.counters_cases"
local lists = require "moonwarp.base.lists"
local support = require "tests.support"
local core, mw = support.core, support.mw

local KERNELS <const> = core.home() .. "/tests/kernels/counters.cu"

-- "load_sectors 128, wanted 64": what is not as expected.
local function differences(counted, expected)
  return table.concat(lists.map(lists.keys(expected), function(name)
    local have, wanted = counted[name], expected[name]
    return have ~= wanted and ("%s %s, wanted %d"):format(name, tostring(have), wanted) or nil
  end), "; ")
end

describe("structural counters of the CPU device", function()
  local device = mw.device("cpu", { check = { counters = true } })
  local module = device:module { file = KERNELS }

  for _, case in ipairs(cases) do
    it("are those of arithmetic: " .. case.name, function()
      local arguments = case.arguments(device)
      module:kernel(case.kernel):launch(case.grid, case.block, table.unpack(arguments))
      device:synchronize()
      local launches = device:counters()
      assert.are.equal("", differences(launches[#launches], case.expected))
    end)
  end
end)
