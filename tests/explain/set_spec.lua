-- SPDX-License-Identifier: MIT
--
-- The kernels whose bounds are known compute what they should, and so do their controls, in check mode. What bounds
-- them is measured: moonwarp run tests/explain/set.lua.

local labs = require "tests.support.labs"
local support = require "tests.support"

describe("the kernels of explain's set", function()
  it("are right, and free of races", function()
    support.with_folder(function(folder)
      local status, output = labs.shell(("%s run %s --device cpu --check -p small=true -p n=65536 "
        .. "--quiet --out %s 2>&1 </dev/null"):format(labs.quoted(labs.program),
        labs.quoted(support.core.home() .. "/tests/explain/set.lua"), labs.quoted(folder)))
      assert.equal("", status == 0 and "" or output)
    end)
  end)
end)
