-- SPDX-License-Identifier: MIT
--
-- No code of a source runs while its module loads on the CPU device: initialisers that are code, constructors and
-- resolvers are errors of compiling, as they are in CUDA. Nor do kernels reach functions of the host.

local support = require "tests.support"
local mw = support.mw
local fails_as = support.fails_as

describe("a module that loads", function()
  support.no_leaks()
  local dev = mw.device "cpu"

  local function load(text, body)
    local source = ("%s\n__global__ void k(int *x) { x[0] = 1; %s }"):format(text, body or "")
    local m <close> = dev:module { source = source }
    local x <close> = dev:zeros("i32", 2)
    m.k:launch(1, 1, x)
    return x:get(1)
  end

  -- The kernel does not need it.
  local function without_variable(text, name)
    local m <close> = dev:module { source = text .. "\n__global__ void k(int *x) { x[0] = 1; }" }
    local x <close> = dev:zeros("i32", 1)
    m.k:launch(1, 1, x)
    assert.are.equal(1, x:get(1))
    fails_as("compile", function() m:variable(name) end, "variable '" .. name .. "' cannot be compiled")
  end

  -- The first ended the process, the second did not end and ignored Ctrl-C.
  it("runs no initialisers", function()
    for variable, text in pairs {
      null = "__device__ int f() { return *(volatile int *)8; }\n__device__ int null = f();",
      loop = "__device__ int f() { volatile int go = 1; while (go); return 1; }\n__device__ int loop = f();",
      pure = "__device__ int f() { return 3; }\n__device__ int pure = f();",
      vector = "\n__constant__ float4 vector = make_float4(1, 2, 3, 4);",
      object = "struct S { int x; __device__ S() { x = *(volatile int *)8; } };\n__device__ S object;",
      inner = "namespace a { __device__ int f() { return 3; }\n__device__ int inner = f(); }",
    } do
      local message = fails_as("compile", function() dev:module { source = text } end,
        "source:2: variable '" .. variable .. "' is not initialised by a constant")
      assert.is_truthy(message:find("constexpr functions", 1, true))
      without_variable(text, variable)
    end
  end)

  it("runs no constructors, destructors or resolvers", function()
    for _, text in ipairs {
      "__attribute__((constructor)) __device__ void bad() { while (1); }",
      "__attribute__((destructor, used)) static __device__ void bad() { *(volatile int *)0 = 1; }",
    } do
      fails_as("compile", function() load(text, "bad();") end, "would run while the module loads: function bad")
      assert.are.equal(1, load(text)) -- what no kernel needs is left out
    end
    local text = "struct S { int x; __device__ ~S() { *(volatile int *)8 = x; } }; __device__ S s;"
    if dev:properties().driver:find "^g%+%+" then -- which does not say where
      fails_as("compile", function() load(text) end, "destructors of static variables")
    else
      without_variable(text, "s")
    end
    fails_as("compile", function()
      load("__device__ int f() { return *(volatile int *)8; } struct S { static inline int x = f(); };", "x[1] = S::x;")
    end)
  end)

  it("has what constants initialise", function()
    assert.are.equal(1, load [[
      struct empty { float re, im; __device__ empty() {} };
      struct pair { int a, b; __device__ constexpr pair(int a, int b) : a(a), b(b) {} };
      __device__ constexpr int twice(int x) { return 2 * x; }
      __constant__ empty c[16];
      __device__ pair p(1, 2), q{3, 4}, r = pair(5, twice(3));
      __device__ int a = 3, *b = &a, table[] = { 1, 2, 3 };
      __constant__ float third = 1.0f / 3;
      __device__ constexpr float half_of = 0.5f;
    ]])
  end)

  it("calls nothing of the host", function()
    local gone = "which no device code defines: kernels cannot call functions of the host"
    for name, call in pairs { raise = "raise(9)", syscall = "syscall(39)", sleep = "sleep(1)" } do
      local text = ([[extern "C" __device__ int %s(int);]]):format(name)
      local ok, problem = pcall(load, text, "x[1] = " .. call .. ";")
      assert.is_false(ok)
      assert.are.equal("compile", problem.status)
      local message = tostring(problem)
      assert.is_truthy(message:find(gone, 1, true) or message:find("function body not available", 1, true)
                       or message:find(("'%s' is declared (source:1) and not defined"):format(name), 1, true), message)
    end
  end)
end)

describe("a kernel that ends the process", function()
  support.no_leaks()

  -- abort was SIGABRT, exit the end of the script.
  it("ends its launch only", function()
    local dev = mw.device "cpu"
    local x <close> = dev:zeros("i32", 64)
    for call, said in pairs {
      ["__builtin_abort()"] = "abort() was called",
      ["std::abort()"] = "abort() was called",
      ["exit(3)"] = "exit() was called",
      ["__builtin_trap()"] = "ran into a trap",
      ["__trap()"] = "__trap() at source:2",
      ["assert(x == nullptr)"] = "assert(x == nullptr) at source:2",
    } do
      for _, engine in ipairs { "auto", "fiber" } do
        local source = [[#include <cstdlib>
          __global__ void k(int *x) { if (blockIdx.x == 1 && threadIdx.x == 5) %s; x[threadIdx.x] = 1; }]]
        local m <close> = dev:module { engine = engine, source = source:format(call) }
        fails_as("fault", function()
          m.k:launch(2, 32, x)
          dev:synchronize()
        end, "kernel 'k'", "block (1,0,0), thread (5,0,0)", said)
      end
    end
  end)
end)
