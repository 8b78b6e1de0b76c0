-- SPDX-License-Identifier: MIT
--
-- CUDA's built-ins, by the self-checking kernels of tests/shim, on every device and by every engine.

local support = require "tests.support"
local core = support.core

local FILES = {}
for _, path in ipairs(support.files(core.home() .. "/tests/shim")) do
  if path:find "%.cu$" then FILES[#FILES + 1] = path end
end

describe("CUDA's built-ins", function()
  it("have checks in tests/shim", function() assert.is_true(#FILES >= 1) end)
end)

-- Kernels that ask for a launch of their own (see the head of groups.cu).
local OWN = {
  check_grid_sync = { cooperative = true },
  check_short_warp = { block = { 40, 1, 1 } },
}

support.each_device("CUDA's built-ins", function(dev, id)
  for _, path in ipairs(FILES) do
    for _, engine in ipairs(id == "cpu" and { "auto", "fiber" } or { "auto" }) do
      it(("are right in %s by engine %s"):format(path:match "[^/]*$", engine), function()
        local m <close> = dev:module { file = path, engine = engine }
        assert.is_true(#m:kernels() >= 3)
        local wrong <close> = dev:zeros("i32", 2)
        for _, name in ipairs(m:kernels()) do
          if name:find "^check_" then
            wrong:fill(0)
            local own = OWN[name] or {}
            m[name]:prepare { grid = { 2, 2 }, block = own.block or { 64, 2, 2 }, cooperative = own.cooperative }(wrong)
            dev:synchronize()
            assert.are.equal(0, wrong:get(1), ("%s by %s: %d checks failed, one at line %d"):format(name,
              m[name]:engine(), wrong:get(1), wrong:get(2)))
          end
        end
      end)
    end
  end
end)
