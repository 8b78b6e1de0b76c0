-- SPDX-License-Identifier: MIT
--
-- The tables of docs/cpu-device.md: a kernel for each mistake, whether the CPU device finds it always, and whether
-- check mode does.
-- luacheck: std +busted

local support = require "tests.support"
local mw = support.mw
local findings = require "moonwarp.measure.findings"
local lists = require "moonwarp.base.lists"
local session = require "moonwarp.session"

local THREAD = "block (0,0,0), thread (0,0,0)"
local SHARED_ROWS = "__shared__ int s[4][9]; for (int k = 0; k <= 4; k++) if (threadIdx.x < 9) s[k][threadIdx.x] = n;"
  .. " __syncthreads(); a[threadIdx.x] = s[1][threadIdx.x % 9];"
local ELSEWHERE = "if (threadIdx.x < 16) a[threadIdx.x] = __shfl_sync(0xffffffffu, n, 0);\n __syncthreads(); a[0] = 1;"
local START, END = "before the start of parameter 1 'a'", "past the end of parameter 1 'a'"

-- { mistake, body of the kernel f(float *a, int n, float *b), what the error has, what check mode's has or of which
-- kind one of its findings is, options }; false: it is not found. The array has `n` elements, a grid of one block of 32
-- threads runs. options: n, engine, shared, before (text in front of the kernel), close, optimised (it is found without
-- the compiler's optimisation).
local MISTAKES = {
  -- outside an array; one of 1024 elements has whole pages
  { "write past the end, whole pages", "a[n] = 1;", "just " .. END, "bounds" },
  { "write past the end", "a[n] = 1;", "just " .. END, "bounds", { n = 1001 } },
  { "write before the start, whole pages", "a[-1] = 1;", "4 bytes " .. START, "bounds" },
  { "write before the start", "a[-1] = 1;", "4 bytes " .. START, "bounds", { n = 1000 } },
  { "write 512 bytes before the start", "a[-128] = 1;", "512 bytes " .. START, "bounds", { n = 100 } },
  { "write farther before the start, whole pages", "a[-129] = 1;", "516 bytes " .. START, "bounds" },
  { "write farther before the start", "a[-129] = 1;", false, "bounds", { n = 100 } },
  { "read past the end, whole pages", "a[0] = a[n];", "just " .. END, "bounds" },
  { "read past the end", "a[0] = a[n];", false, "bounds", { n = 1001 } },
  { "read past the padding", "a[0] = a[n + 3];", "12 bytes " .. END, "bounds", { n = 1001 } },
  { "read before the start, whole pages", "a[0] = a[-1];", "4 bytes " .. START, "bounds" },
  { "read before the start", "a[0] = a[-1];", false, "bounds", { n = 1000 } },
  { "access before the page of the start", "a[-100] = 1;", "400 bytes " .. START, "bounds", { n = 1000 } },
  { "far outside", "a[n * 1000000] = 1;", "outside every array", "bounds" },
  { "in another array", "if (threadIdx.x == 0) a[b - a] = 1;", false, false },
  { "wrong element", "if (threadIdx.x == 0) a[threadIdx.x + 32] = 1;", false, false },
  { "closed array", "a[0] = 1;", "the array is closed", "the array is closed", { close = true } },

  -- in other memory
  { "null pointer", "float *p = 0; p[n - 1024] = 1;", "through a null pointer", "bounds" },
  { "dynamic shared memory, 16 bytes on", "s[threadIdx.x + 32] = 1; a[0] = s[0];", "of dynamic shared memory", "bounds",
    { shared = 116, before = "extern __shared__ float s[];" } },
  { "dynamic shared memory", "if (threadIdx.x == 0) s[29] = 1;", false, "bounds",
    { shared = 116, before = "extern __shared__ float s[];" } },
  { "dynamic shared memory, before its start", "s[-1] = 1;", false, "bounds",
    { shared = 116, before = "extern __shared__ float s[];" } },
  { "static shared memory, past all of it",
    "__shared__ float s[32]; s[threadIdx.x + n - 992] = 1; __syncthreads(); a[threadIdx.x] = s[threadIdx.x];",
    "wrote outside its shared memory", "index" },
  { "static shared memory in its padding", SHARED_ROWS, false, "index", { optimised = true } },
  { "static shared memory in its padding, engine fiber", SHARED_ROWS,
    "just past the end of the 144 bytes of static shared", "index", { engine = "fiber" } },
  { "static shared memory in its padding, engine loop",
    "__shared__ float s[33]; if (threadIdx.x == 0) s[n - 989] = 1; a[0] = s[0];", false, "index" },
  { "static shared memory past its padding, engine loop",
    "__shared__ float s[33]; if (threadIdx.x == 0) s[n - 988] = 1; a[0] = s[0];",
    "12 bytes past the end of the 132 bytes of static shared", "index" },
  { "static shared memory past its padding, engine split",
    "__shared__ float s[32]; if (threadIdx.x == 0) s[n - 984] = 1; __syncthreads(); a[0] = s[0];", false, "index" },
  { "static shared array into another",
    "__shared__ float s[32], t[32]; s[threadIdx.x] = t[threadIdx.x] = 0; s[n - 990] = 1; __syncthreads(); a[0] = t[2];",
    false, "index", { engine = "fiber" } },
  { "local array",
    "volatile float s[8]; for (int i = 0; i < n - 984; i++) s[i] = 1; a[threadIdx.x] = s[threadIdx.x % 8];",
    "overran a local array", "index" },
  { "device variable into another", "c[n - 1020] = 1; a[0] = d[0];", false, "index",
    { before = "__device__ float c[4]; __device__ float d[4];" } },
  { "misaligned word", "*(int *)((char *)a + n - 1023) = 1;", false, "misaligned" },
  { "const", "const float *c = a; ((float *)c)[threadIdx.x] = 1;", false, false },
  { "recursion", "a[0] = r(n * 1000);", "overflowed its worker's stack", "overflowed its worker's stack", { before =
    "__device__ int r(int n) { volatile int x[64]; x[n % 64] = n; return n ? r(n - 1) + x[n % 64] : 0; }" } },

  -- what other threads do
  { "race in shared memory", "__shared__ float s[32]; s[threadIdx.x] = 1; a[threadIdx.x] = s[31 - threadIdx.x];", false,
    "race in shared memory" },
  { "race in an array", "a[0] += 1;", false, "race in global memory" },
  { "lanes of a warp in step", "__shared__ volatile float s[64]; int t = threadIdx.x; s[t] = s[t + 32] = 1;"
    .. " __syncthreads(); for (int h = 16; h; h /= 2) s[t] += s[t + h]; a[t] = s[t];", false, "warp-synchronous" },
  { "copy that is not waited for", "__shared__ float s[32]; int t = threadIdx.x;"
    .. " __pipeline_memcpy_async(&s[t], &a[t], 4); __pipeline_commit();"
    .. " __syncthreads(); a[t] = s[31 - t];", false, "race in shared memory",
    { before = "#include <cuda_pipeline_primitives.h>\n" } },
  { "shared memory that was not set", "__shared__ float s[32]; a[threadIdx.x] = s[threadIdx.x];", false,
    "uninitialised" },
  { "array that was not set", "b[threadIdx.x] = a[threadIdx.x];", false, "uninitialised" },
  { "barrier of a part", "if (threadIdx.x < 16) __syncthreads();\n a[threadIdx.x] = 2; __syncthreads();",
    "barrier divergence", "barrier; " },
  { "barrier of a part, the last one", "if (threadIdx.x < 16) __syncthreads(); a[threadIdx.x] = 2;", false, false },
  { "mask", "a[threadIdx.x] = __shfl_sync(1u, (int)threadIdx.x, 0);", "mask 0x00000001 does not name the calling lane",
    "mask 0x00000001 does not name the calling lane" },
  { "mask of lanes that wait elsewhere", ELSEWHERE, false, "barrier divergence" },
  { "mask of lanes that wait elsewhere, engine fiber", ELSEWHERE, "barrier divergence", "barrier divergence",
    { engine = "fiber" } },

  -- other faults
  { "division by zero", "a[0] = 5 / (n - 1024);", "divided an integer by zero", "divided an integer by zero" },
  { "assert", "assert(n == 1);", "assert(n == 1)", "assert(n == 1)", { before = "#include <cassert>" } },
  { "trap", "__trap();", "__trap()", "__trap()" },
  { "abort", "abort();", "abort()", "abort()", { before = "#include <cstdlib>" } },
  { "float that does not fit", "if (threadIdx.x == 0) a[0] = (int)(n * 1e20f);", false, false },
}

local function launch(dev, case)
  local how = case[5] or {}
  local n = how.n or 1024
  local a <close> = dev:array("f32", n)
  local b <close> = dev:zeros("f32", n)
  if case[1] ~= "array that was not set" then a:fill(0) end
  local source = ("%s\n__global__ void f(float *a, int n, float *b) { %s }"):format(how.before or "", case[2])
  local m <close> = dev:module { source = source, engine = how.engine }
  if how.close then a:close() end
  m.f:prepare { grid = 1, block = 32, shared = how.shared }(a, n, b)
  dev:synchronize()
end

describe("the CPU device", function()
  local dev = mw.device "cpu"

  local is_optimised = not (os.getenv "MOONWARP_CXX" or ""):find "cxx%-o0$"

  for _, case in ipairs(MISTAKES) do
    local test = (is_optimised or not (case[5] or {}).optimised) and it or pending
    test((case[3] and "finds: " or "does not find: ") .. case[1], function()
      if not case[3] then return launch(dev, case) end
      support.fails_with(function() launch(dev, case) end, case[3])
    end)
  end

  for _, body in ipairs { "a[i] *= 2", "a[i] += 1", "a[i] = 0", "a[i] = a[i - 1]" } do
    it("names the element that was written by " .. body, function()
      local case = { "", ("int i = n + threadIdx.x; if (i == n) %s;"):format(body), nil, nil, { n = 101 } }
      support.fails_with(function() launch(dev, case) end, "(offset 404; index 101, it has 101 elements)")
    end)
  end

  it("names the thread", function() support.fails_with(function() launch(dev, MISTAKES[1]) end, THREAD) end)
end)

describe("check mode", function()
  session.current.settle_findings = function() end -- the mistakes are wanted: they fail no run
  local dev = mw.device("cpu", { check = true })

  -- The kinds of the errors found, and the launch's error.
  local function found(case)
    local before = findings.counts()
    local _, message = pcall(launch, dev, case)
    local kinds = lists.map(findings.since(before), function(one) return not one.warning and one.kind or nil end)
    return kinds, message and message.text
  end

  for _, case in ipairs(MISTAKES) do
    it((case[4] and "finds: " or "does not find: ") .. case[1], function()
      local kinds, message = found(case)
      local seen = table.concat(kinds, "; ") .. "; " .. (message or "")
      if case[4] then
        assert.is_truthy(seen:find(case[4], 1, true), seen)
      else
        assert.are.equal("; ", seen)
      end
    end)
  end
end)
