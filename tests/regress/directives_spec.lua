-- SPDX-License-Identifier: MIT
--
-- The CPU device read a source without macros by another preprocessor than one with them, and took an #if without its
-- #endif, an unknown directive and a macro with too many arguments without a word.

local support = require "tests.support"
local mw = support.mw

local KERNEL = "\n__global__ void k(int *x) { x[0] = VALUE; }\n"

local WRONG = {
  ["#define VALUE 1\n#if 1"] = "x.cu:2: an #if without an #endif",
  ["#define VALUE 1\n#else"] = "x.cu:2: an #else or #elif without an #if before it",
  ["#define VALUE 1\n#if 1\n#else\n#elif 1\n#endif"] = "x.cu:4: an #else or #elif without an #if before it",
  ["#define VALUE 1\n#endif"] = "x.cu:2: an #endif without an #if before it",
  ["#define VALUE 1\n#defin N 2"] = "x.cu:2: a directive that is none of C++",
  ["#define VALUE 1\n#define 3"] = "x.cu:2: a #define without a name, or with parameters that are none",
  ["#define F(x) x\n#define VALUE F(1, 2)"] = "x.cu:3: a macro is called with more or fewer arguments than it has",
  ["#define VALUE 1\n#error not for this device"] = "x.cu:2: #error not for this device",
  ["#define VALUE missing\n#line 50 \"y.cu\""] = "y.cu:50: use of undeclared identifier 'missing'",
}

local RIGHT = {
  ["#if __CUDACC_VER_MAJOR__ >= 12 && defined(__GNUC__) && __cplusplus >= 201703L\n#define VALUE 7\n#endif"] = 7,
  ["#ifdef __has_include\n#if __has_include(<cstddef>) && !__has_include(<no.h>)\n#define VALUE 8\n#endif\n#endif"] = 8,
  ["#define F() 9\n#define G(x, ...) x\n#define VALUE G(F())"] = 9,
  ["#define L _Pragma(\"unroll 4\")\n#define VALUE [] { int n = 0; L for (int i = 0; i < 8; i++) n++; return n; }()"] =
    8,
}

describe("a directive", function()
  local dev
  setup(function() dev = mw.device "cpu" end)
  teardown(function() dev:close() end)

  for text, message in pairs(WRONG) do
    it("that is wrong is an error: " .. text:gsub("\n", " "), function()
      local ok, failure = pcall(dev.module, dev, { source = text .. KERNEL, name = "x.cu" })
      assert.is_false(ok)
      local said = failure.text:gsub("'missing' was not declared.*", "use of undeclared identifier 'missing'")
      assert.is_truthy(said:find(message, 1, true), failure.text)
    end)
  end

  for text, value in pairs(RIGHT) do
    it("has its meaning: " .. text:gsub("\n", " "), function()
      local m <close> = dev:module { source = text .. KERNEL, name = "x.cu" }
      local x <close> = dev:zeros("i32", 1)
      m.k:launch(1, 1, x)
      assert.are.equal(value, x:totable()[1])
    end)
  end
end)
