-- SPDX-License-Identifier: MIT
--
-- Random kernels with classes give what their own model says, in every engine and with each compiler that is there
-- (tests/generator). What costs most is left to `make stress`: kernels by the thousand, those that exchange values, and
-- the races in them that check mode finds (tests/generator/order). clang++ compiles without optimisation here, and g++
-- no split form of what is chosen to be a loop. $MOONWARP_FUZZ_SEED: other kernels.

local generate = require("tests.generator.kernel").generate
local support = require "tests.support"
local core = support.core

local GENERATED, LEAST = 400, 12 -- kernels, and how many of them have a construct: 3 %
local CONSTRUCTS = [[alias; barrier helper; class as a condition; class of a body; class template; conditional target;
  constructor; conversion; converting constructor; copy constructor; CRTP; default argument; default member
  initialiser; delegating constructor; dependent type; destructor; device object; early exit; enumeration with an
  operator; function pointer; functor; goto; inheritance; lambda; lambda of a function; literal; local class; loop
  around a barrier; member; member initialiser; member pointer; nested helper; operator; pointer; pointer member;
  reference; reference member; shared object; switch; two bases; vector type with an operator; virtual method; warp
  operation]]

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

local compilers = {}
if there "clang++" then compilers[1] = { core.home() .. "/tests/cxx-o0", 40, "split=1" } end
if there "g++" then compilers[#compilers + 1] = { "g++", 16, "split=0" } end

describe("random kernels with classes", function()
  it("have each construct, and no other", function()
    local count = {}
    for number = 1, GENERATED do
      for construct in pairs(generate(1, number).tags) do count[construct] = (count[construct] or 0) + 1 end
    end
    for construct in (CONSTRUCTS .. ";"):gsub("%s+", " "):gmatch " ?(.-);" do
      assert.is_true((count[construct] or 0) >= LEAST, construct .. ": " .. tostring(count[construct]))
      count[construct] = nil
    end
    assert.are.same({}, count)
  end)

  for _, chosen in ipairs(compilers) do
    local compiler, count, split = table.unpack(chosen)
    it("are computed as their model says with " .. compiler:match "[^/]*$", function()
      local seed = tonumber(os.getenv "MOONWARP_FUZZ_SEED") or 1
      local code = ("arg = { '%d', '%d', '%s' }\ndofile(%q)\n"):format(seed, count, split,
        core.home() .. "/tests/generator/random_kernels.lua")
      local status, output = support.child(code, { limit = 800, env = { MOONWARP_CXX = compiler } })
      local words = ("seed %d: %s"):format(seed, output:sub(-8000))
      assert.are.equal(0, status, words)
      assert.is_truthy(output:find(("done %d wrong 0 broken 0"):format(count), 1, true), words)
    end)
  end
end)
