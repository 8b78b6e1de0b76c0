-- SPDX-License-Identifier: MIT
--
-- Random kernels with classes give what their own model says, in every engine and with each compiler that is there
-- (tests/generator), and those that exchange values too; check mode finds the races that are put into these
-- (tests/generator/order). What costs most is left to `make stress`: clang++ compiles without optimisation here, and
-- g++ no split form of what is chosen to be a loop. $MOONWARP_FUZZ_SEED: other kernels.

local support = require "tests.support"
local core = support.core

local COUNT = 80
local ORDERED = 8
local LEAST = 4 -- kernels of each construct: 5 %

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

local compilers = {}
if there "clang++" then compilers[1] = { core.home() .. "/tests/cxx-o0", "split=1" } end
if there "g++" then compilers[#compilers + 1] = { "g++", "split=0" } end

describe("random kernels with classes", function()
  for _, chosen in ipairs(compilers) do
    local compiler, split = table.unpack(chosen)
    it("are computed as their model says with " .. compiler:match "[^/]*$", function()
      local seed = tonumber(os.getenv "MOONWARP_FUZZ_SEED") or 1
      local code = ("arg = { '%d', '%d', '%s' }\ndofile(%q)\n"):format(seed, COUNT, split,
        core.home() .. "/tests/generator/run.lua")
      local status, output = support.child(code, { limit = 800, env = { MOONWARP_CXX = compiler } })
      local words = ("seed %d: %s"):format(seed, output:sub(-8000))
      assert.are.equal(0, status, words)
      assert.is_truthy(output:find(("done %d wrong 0 broken 0"):format(COUNT), 1, true), words)
      for construct, kernels in output:gmatch "\n([%a+ ]-) +(%d+) +%d+%%" do
        assert.is_true(tonumber(kernels) >= LEAST, ("%s is in %s kernels\n%s"):format(construct, kernels, words))
      end
    end)
  end
end)

describe("random kernels that exchange values, and their mutants,", function()
  for _, chosen in ipairs(compilers) do
    local compiler = chosen[1]
    it("are judged as their model says with " .. compiler:match "[^/]*$", function()
      local seed = tonumber(os.getenv "MOONWARP_FUZZ_SEED") or 1
      local code = ("arg = { '%d', '%d' }\ndofile(%q)\n"):format(seed, ORDERED,
        core.home() .. "/tests/generator/order/run.lua")
      local status, output = support.child(code, { limit = 800, env = { MOONWARP_CXX = compiler } })
      local words = ("seed %d: %s"):format(seed, output:sub(-8000))
      assert.are.equal(0, status, words)
      assert.is_truthy(output:find(("done %d wrong 0 false 0 racy %%d+ missed 0"):format(ORDERED)), words)
    end)
  end
end)
