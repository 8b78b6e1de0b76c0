-- SPDX-License-Identifier: MIT
--
-- The compilers' warnings: which are shown, with the place in the user's file, by clang++, g++ and NVRTC; that they are
-- printed once, from the cache too, and are in the record and its report.

local support = require "tests.support"
local mw = support.mw
local material = require "moonwarp.report.material"
local page = require "moonwarp.report.page"
local session = require "moonwarp.session"
local store = require "moonwarp.results.store"

local targets = { "cpu" }
-- By the other compiler of the CPU device (tests/check.sh) NVRTC would say the same.
if support.has_nvrtc() and not os.getenv "CXX_O0" then targets[2] = "cuda:sm_90" end

-- Each line that ends in // warns is warned of, and no other.
local cases = {
  { "an assignment as a condition", [[
__global__ void k(int *a, int n) {
  if (n = 3) a[0] = 1; // warns
  if (n == 3) a[1] = 2;
}]] },
  { "a kernel with barriers", [[
__global__ void k(int *a, int n) {
  __shared__ int s[32];
  extern __shared__ int more[];
  s[threadIdx.x] = more[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 4; i++) {
    int sum = s[i] + more[i];
    __syncthreads();
    if (n = 3) s[threadIdx.x] = sum; // warns
    __syncthreads();
  }
  s[1] == 2; // warns
  if (n > 4)
    for (int i = 0; i < n; i++) a[i] += s[i];
  a[threadIdx.x] = __shfl_down_sync(0xffffffff, s[threadIdx.x], 1);
}]] },
  { "sizes of shared memory, whose statement has more", [[
__global__ void k(int *a) {
  const int W = 8, D = 4;
  __shared__ int s[W], r[W];
  s[threadIdx.x] = r[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[threadIdx.x] + r[0] + D;
}]] },
  { "functions", [=[
[[nodiscard]] __device__ int half(int x) { return x / 2; }
__device__ int sign(int x) { if (x > 0) return 1; } // warns
template <class T> __device__ T twice(T x) {
  T none;
  return x + none; // warns
}
__global__ void k(int *a) {
  half(a[0]); // warns
  a[0] = sign(a[1]) + twice(a[2]);
}]=] },
  { "a template", [[
template <int N> __global__ void k(int *a) {
  if (a[0] = N) a[1] = 1 << N; // warns
}]], { templates = { "k<3>" } } },
  { "a directive", [[
#warning "look here" // warns
__global__ void k(int *a) { a[0] = 1; }]] },
  { "a file with host code", [[
#include <vector>
#include <iostream>
__global__ void k(int *a, int n) {
  if (n = 3) a[0] = 1; // warns
}
int main() { std::vector<int> v; int unused; std::cout << v.size(); }]] },
  { "numbers narrowed in braces", [[
__global__ void k(int *a, unsigned n) {
  int v[] = {n, 1}; // warns
  unsigned u[] = {-1, 1}; // warns
  a[0] = v[0] + (int)u[1];
}]] },
  { "an unused variable", [[
__global__ void k(int *a) {
  int unused = 3; // warns
  a[0] = 1;
}]] },
  { "nothing", [[
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <stdint.h>
#define INLINE __device__ __forceinline__
static const int BLOCK = 4;
struct pair { float x, y; };
INLINE float never(float x) { return x; }
INLINE pair swapped(pair p) { return {p.y, p.x}; }
__constant__ float table[4];
__device__ int counter, only_for_the_host, set = 3;
__global__ void k(pair *p, const float *__restrict__ q, unsigned n) {
  __shared__ float s[64];
  const int i = threadIdx.x;
  s[i] = q[i];
  #pragma unroll
  for (int j = 0; j < n; j++) atomicAdd(&counter, j);
  __syncthreads();
  for (int h = 16; h > 0; h /= 2) {
    if (i < h) s[i] += s[i + h];
    __syncthreads();
  }
  p[i] = swapped({s[0], table[i % BLOCK] * __half2float(__float2half(s[i]))});
  cooperative_groups::this_thread_block().sync();
  int base;
  if (i % 32 == 0) base = atomicAdd(&counter, 32);
  base = __shfl_sync(0xffffffff, base, 0);
  p[base + i].x = 1;
}
__global__ void plain(float *a, int64_t n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = sqrtf(a[i]);
}]] },
}

-- The numbers of the lines that are marked.
local function marked(text)
  local list, number = {}, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    if line:match "// warns$" then list[#list + 1] = number end
  end
  return list
end

-- The lines that a log warns of, each once; checks the form.
local function warned(log, name)
  local list, has = {}, {}
  for file, number in log:gmatch "(%S+):(%d+): warning: [^\n]+" do
    assert.are.equal(name, file)
    number = math.tointeger(number)
    if not has[number] then list[#list + 1] = number end
    has[number] = true
  end
  table.sort(list)
  return list
end

describe("warnings of compilers", function()
  for _, id in ipairs(targets) do
    local device = mw.device(id)
    for _, case in ipairs(cases) do
      it(("by %s: %s"):format(id, case[1]), function()
        local options = { source = case[2], name = "case.cu", warnings = false }
        for key, value in pairs(case[3] or {}) do options[key] = value end
        local m <close> = device:module(options)
        assert.are.same(marked(case[2]), warned(m:log(), "case.cu"), m:log())
      end)
    end

    it("by " .. id .. ": in a header of the user's, with its line", function()
      support.with_folder(function(folder)
        support.write(folder .. "/part.cuh", "\n__device__ int three(int n) { if (n = 3) return 1; return 0; }\n")
        local source = '#include "part.cuh"\n__global__ void k(int *a) { a[0] = three(a[1]); }\n'
        support.write(folder .. "/whole.cu", source)
        local m <close> = device:module { file = folder .. "/whole.cu", warnings = false }
        assert.is_truthy(m:log():find("/part.cuh:2: warning: ", 1, true), m:log())
        assert.is_truthy(m:log():find("\n  __device__ int three(int n) { if (n = 3)", 1, true), m:log())
      end)
    end)

  end

  -- By NVRTC: cuda/nvrtc_spec.lua. By the other compiler in `make stress`.
  local all = (support.whole or not os.getenv "CXX_O0") and it or pending
  all("by cpu: none of moonwarp's kernels", function()
    for path in io.popen(("ls '%s'/kernels/*.cu '%s'/tests/kernels/*.cu"):format(support.core.home(),
      support.core.home())):lines() do
      local made, m = pcall(function() return mw.device("cpu"):module { file = path, warnings = false } end)
      if not made then
        assert.are.equal("unsupported", m.status, path) -- ceiling_tensor.cu is for GPUs
      else
        assert.are.equal("", m:log(), path)
        m:close()
      end
    end
  end)

  it("of every engine are the same", function()
    local logs = {}
    for i, engine in ipairs { "split", "fiber" } do
      local m <close> = mw.device("cpu"):module { source = cases[2][2], engine = engine, warnings = false }
      logs[i] = m:log()
    end
    assert.are.equal(logs[1], logs[2])
    for _, check in ipairs { "strict", "counters" } do
      local m <close> = mw.device("cpu", { check = check }):module { source = cases[2][2], warnings = false }
      assert.are.same(warned(logs[1], "source"), warned(m:log(), "source"), check)
    end
  end)
end)

describe("warnings of a module", function()
  local SCRIPT = [[
    local mw = require "moonwarp"
    local dev = mw.device "%s"
    local options = { source = "__global__ void k(int *a, int n) {\n  if (n = 3) a[0] = 1;\n}\n"
      .. "template <class T> __global__ void t(T *a) {\n  if (a[0] = 0) a[1] = 1;\n}\n", name = "x.cu", warnings = %s }
    local m = dev:module(options)
    print("cached", m:from_cache(), dev:module(options):from_cache())
    print(m:kernel "t<float>")]]

  for _, id in ipairs(targets) do
    it("are printed once in a process, from the cache too, by " .. id, function()
      support.with_folder(function(folder)
        local env = { MOONWARP_CACHE = folder }
        for run = 1, 2 do
          local output = support.child_passes(SCRIPT:format(id, "true"), { env = env })
          local _, count = output:gsub("x%.cu:2: warning: [^\n]+\n  if %(n = 3%) a%[0%] = 1;\n", "")
          assert.are.equal(1, count, output)
          _, count = output:gsub("x%.cu:5: warning: [^\n]+\n  if %(a%[0%] = 0%) a%[1%] = 1;\n", "")
          assert.are.equal(1, count, output)
          assert.is_truthy(output:find("cached\t" .. tostring(run == 2) .. "\ttrue", 1, true), output)
        end
        local output = support.child_passes(SCRIPT:format(id, "false"), { env = env })
        assert.is_nil(output:find("warning", 1, true), output)
      end)
    end)
  end

  it("are in the record of each run, and in its report", function()
    support.with_folder(function(folder)
      for _ = 1, 2 do
        support.into(folder, function()
          local source = "__global__ void k(int *a) {\n  if (a[0] = 3) a[1] = 4;\n}"
          for _ = 1, 2 do mw.device("cpu"):module({ source = source, name = "r.cu" }):close() end
          mw.record { name = "x", value = 1 }
        end)
      end
      for _, path in ipairs(support.runs(folder)) do
        local run = store.read(path)
        assert.are.equal(1, #run.warnings)
        local one = run.warnings[1]
        assert.are.same({ "r.cu", 2, "if (a[0] = 3) a[1] = 4;" }, { one.file, one.line, one.source })
        assert.is_truthy(one.text:find("assignment", 1, true))
      end
      local html = page.draw(material.gather({ folder }, "out"), {})
      assert.is_truthy(html:find("r.cu:2: ", 1, true))
      assert.is_truthy(html:find("1 warning of the compiler", 1, true))
    end)
    assert.are.equal(0, session.current.failed_checks - session.current.failed_before)
  end)
end)
