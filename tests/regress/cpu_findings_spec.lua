-- SPDX-License-Identifier: MIT
--
-- The tables of docs/cpu-device.md: a kernel for each mistake, and whether the CPU device finds it.
-- luacheck: std +busted

local support = require "tests.support"
local mw = support.mw

local THREAD = "block (0,0,0), thread (0,0,0)"
local SHARED_ROWS = "__shared__ int s[4][9]; for (int k = 0; k <= 4; k++) if (threadIdx.x < 9) s[k][threadIdx.x] = n;"
  .. " __syncthreads(); a[threadIdx.x] = s[1][threadIdx.x % 9];"
local ELSEWHERE = "if (threadIdx.x < 16) a[threadIdx.x] = __shfl_sync(0xffffffffu, n, 0);\n __syncthreads(); a[0] = 1;"

-- { mistake, body of the kernel f(float *a, int n), what the message has, options }; the array has `n` elements, a grid
-- of one block of 32 threads runs. options: n, engine, shared, before (text in front of the kernel), close.
local FOUND = {
  { "write past the end", "a[n] = 1;", "just past the end of parameter 1 'a'" },
  { "write past the end of an odd size", "a[n] = 1;", "just past the end of parameter 1 'a'", { n = 1001 } },
  { "read past the end", "a[0] = a[n];", "just past the end of parameter 1 'a'" },
  { "read beyond the padding", "a[0] = a[n + 3];", "12 bytes past the end", { n = 1001 } },
  { "access before the start", "a[-1] = 1;", "4 bytes before the start of parameter 1 'a'" },
  { "write before the start, within the page", "a[-1] = 1;", "4 bytes before the start of parameter 1 'a'",
    { n = 1000 } },
  { "access before the page of the start", "a[-100] = 1;", "400 bytes before the start", { n = 1000 } },
  { "null pointer", "float *p = 0; p[n - 1024] = 1;", "through a null pointer" },
  { "dynamic shared memory", "s[threadIdx.x + 32] = 1; a[0] = s[0];", "of dynamic shared memory",
    { shared = 128, before = "extern __shared__ float s[];" } },
  { "static shared memory",
    "__shared__ float s[32]; s[threadIdx.x + n - 992] = 1; __syncthreads(); a[threadIdx.x] = s[threadIdx.x];",
    "wrote outside its shared memory" },
  { "local array",
    "volatile float s[8]; for (int i = 0; i < n - 984; i++) s[i] = 1; a[threadIdx.x] = s[threadIdx.x % 8];",
    "overran a local array" },
  { "recursion", "a[0] = r(n * 1000);", "overflowed its worker's stack", { before =
    "__device__ int r(int n) { volatile int x[64]; x[n % 64] = n; return n ? r(n - 1) + x[n % 64] : 0; }" } },
  { "division by zero", "a[0] = 5 / (n - 1024);", "divided an integer by zero" },
  { "barrier of a part", "if (threadIdx.x < 16) __syncthreads();\n a[threadIdx.x] = 2; __syncthreads();",
    "barrier divergence" },
  { "assert", "assert(n == 1);", "assert(n == 1)", { before = "#include <cassert>" } },
  { "trap", "__trap();", "__trap()" },
  { "abort", "abort();", "abort()", { before = "#include <cstdlib>" } },
  { "closed array", "a[0] = 1;", "the array is closed", { close = true } },
  { "mask", "a[threadIdx.x] = __shfl_sync(1u, (int)threadIdx.x, 0);",
    "mask 0x00000001 does not name the calling lane" },
  { "static shared memory in its padding, engine fiber", SHARED_ROWS,
    "just past the end of the 144 bytes of static shared", { engine = "fiber" } },
  { "mask of lanes that wait elsewhere, engine fiber", ELSEWHERE, "barrier divergence", { engine = "fiber" } },
}

local NOT_FOUND = {
  { "read of the padding", "a[0] = a[n];", nil, { n = 1001 } },
  { "read before the start, within the page", "a[0] = a[-1];", nil, { n = 1000 } },
  { "write far before the start, within the page", "a[-129] = 1;", nil, { n = 100 } },
  { "static shared memory in its padding", SHARED_ROWS },
  { "mask of lanes that wait elsewhere", ELSEWHERE },
  { "wrong element", "a[threadIdx.x + 32] = 1;" },
  { "another array", "a[b - a] = 1;" },
  { "race in shared memory", "__shared__ float s[32]; s[threadIdx.x] = 1; a[threadIdx.x] = s[31 - threadIdx.x];" },
  { "race in an array", "a[0] += 1;" },
  { "shared memory that was not set", "__shared__ float s[32]; a[threadIdx.x] = s[threadIdx.x];" },
  { "barrier of a part, the last one", "if (threadIdx.x < 16) __syncthreads(); a[threadIdx.x] = 2;" },
  { "const", "const float *c = a; ((float *)c)[0] = 1;" },
  { "static shared array into another",
    "__shared__ float s[32], t[32]; s[threadIdx.x] = t[threadIdx.x] = 0; s[n - 990] = 1; __syncthreads(); a[0] = t[2];",
    nil, { engine = "fiber" } },
  { "device variable into another", "c[n - 1020] = 1; a[0] = d[0];", nil,
    { before = "__device__ float c[4]; __device__ float d[4];" } },
  { "float that does not fit", "a[0] = (int)(n * 1e20f);" },
}

local function launch(case)
  local how = case[4] or {}
  local dev, n = mw.device "cpu", how.n or 1024
  local a <close> = dev:zeros("f32", n)
  local b <close> = dev:zeros("f32", n)
  local source = ("%s\n__global__ void f(float *a, int n, float *b) { %s }"):format(how.before or "", case[2])
  local m <close> = dev:module { source = source, engine = how.engine }
  if how.close then a:close() end
  m.f:prepare { grid = 1, block = 32, shared = how.shared }(a, n, b)
  dev:synchronize()
end

describe("the CPU device", function()
  for _, case in ipairs(FOUND) do
    it("finds: " .. case[1], function() support.fails_with(function() launch(case) end, case[3]) end)
  end

  it("names the thread", function() support.fails_with(function() launch(FOUND[1]) end, THREAD) end)

  for _, case in ipairs(NOT_FOUND) do
    it("does not find: " .. case[1], function() launch(case) end)
  end
end)
