-- SPDX-License-Identifier: MIT
--
-- Features of CUDA's dialect and of PTX that public kernels use, on the CPU device.

local support = require "tests.support"
local core, fails_with = support.core, support.fails_with

describe("the CPU device", function()
  local dev
  before_each(function() dev = core.device "cpu" end)

  it("takes calls of member templates that lack the word template", function()
    local m <close> = dev:module { source = [[
      template <int N> struct window {
        int base;
        template <int BY> __device__ int scaled(int x) const { return base + N * BY * x; }
        __device__ int twice(int x) const { return this->scaled<2>(x); }
      };
      template <int N> __device__ int use(const window<N> &w, const window<N> *p, int x) {
        return w.scaled<3>(x) + p->scaled<1>(x) + w.twice(x);
      }
      __global__ void k(int *out) {
        const window<5> w = {1000};
        out[threadIdx.x] = use<5>(w, &w, threadIdx.x);
      }
    ]] }
    local out <close> = dev:zeros("i32", 4)
    m.k:launch(1, 4, out)
    for i = 0, 3 do assert.are.equal(3000 + 30 * i, out:get(i + 1)) end
  end)

  it("sees writes of names in brackets", function()
    local m <close> = dev:module { source = [[
      #define SET(a, b) (a) = (b)
      __global__ void k(int *out) {
        __shared__ int s[32];
        int i = threadIdx.x, n, up = 0;
        SET(n, 3 * i);
        s[i] = n;
        ++(up);
        __syncthreads();
        ((n)) += 1;
        out[i] = n + up + s[31 - i];
      }
    ]] }
    local out <close> = dev:zeros("i32", 32)
    m.k:launch(1, 32, out)
    for i = 1, 32 do assert.are.equal(3 * 31 + 2, out:get(i)) end
  end)

  it("takes all arguments of a parameter pack", function()
    local m <close> = dev:module { source = [[
      template <class... T> __global__ void k(int *out, T... x) { out[threadIdx.x] = (int)(1000 * (x + ... + 0)); }
    ]], templates = { "k<int, float, short>", "k<>" } }
    local out <close> = dev:zeros("i32", 1)
    local sum = m:kernel "k<int, float, short>"
    assert.are.equal("k<int, float, short>(int *out, int x, float x, short x)", sum:signature())
    sum:launch(1, 1, out, 2, 0.5, 3)
    assert.are.equal(5500, out:get(1))
    fails_with(function() sum:launch(1, 1, out, 2) end, "4 arguments")
    m:kernel("k<>"):launch(1, 1, out)
    assert.are.equal(0, out:get(1))
  end)

  it("copies an argument that the kernel changes as bytes, whatever operator= its class has", function()
    local m <close> = dev:module { source = [[
      struct range {
        int first;
        range &operator=(const range &); // the host's
      };
      __global__ void k(int *out, range r) {
        r.first += threadIdx.x;
        __syncthreads();
        out[threadIdx.x] = r.first;
      }
    ]] }
    local out <close> = dev:zeros("i32", 32)
    m.k:launch(1, 32, out, string.pack("i4", 7))
    assert.are.equal("split", m.k:engine())
    for i = 0, 31 do assert.are.equal(7 + i, out:get(i + 1)) end
  end)

  it("takes kernels that are noexcept, by each engine and standard", function()
    for _, standard in ipairs { "c++14", "c++17" } do
      for _, engine in ipairs { "auto", "split", "fiber" } do
        local m <close> = dev:module { engine = engine, std = standard, templates = { "turn<int>" }, source = [[
          __device__ int next(int x) noexcept { return x + 1; }
          __global__ void count(int *x, int n) noexcept { x[threadIdx.x] = next(n); }
          __attribute__((nothrow)) __global__ void quiet(int *x) { x[threadIdx.x] += 1; }
          template <class T> __global__ void turn(T *x) noexcept {
            __shared__ T s[32];
            s[threadIdx.x] = x[threadIdx.x] + threadIdx.x;
            __syncthreads();
            x[threadIdx.x] = s[31 - threadIdx.x];
          }
        ]] }
        local x <close> = dev:zeros("i32", 32)
        m.count:launch(1, 32, x, 4)
        m.quiet:launch(1, 32, x)
        m:kernel "turn<int>":launch(1, 32, x)
        for i = 0, 31 do assert.are.equal(6 + 31 - i, x:get(i + 1)) end
      end
    end
  end)

  it("prefers the file's own function to one that CUDA removed", function()
    local m <close> = dev:module { source = [[
      __device__ float2 __shfl_down(float2 v, unsigned by, unsigned width = 32) {
        return {__shfl_down_sync(~0u, v.x, by, width), __shfl_down_sync(~0u, v.y, by, width)};
      }
      __global__ void k(int *out) {
        const float2 v = __shfl_down(make_float2(threadIdx.x, 100), 16);
        out[threadIdx.x] = (int)(v.x + v.y);
      }
    ]] }
    local out <close> = dev:zeros("i32", 32)
    m.k:launch(1, 32, out)
    assert.are.equal(116, out:get(1))
  end)

  it("converts between the two-byte numbers", function()
    local m <close> = dev:module { source = [[
      #include <cuda_bf16.h>
      #include <cuda_fp16.h>
      __global__ void k(float *out) {
        const __nv_bfloat16 b = 1.0078125f;
        const __half h = 1.0009765625f;
        out[0] = static_cast<__half>(b);
        out[1] = static_cast<__nv_bfloat16>(h);
      }
    ]] }
    local out <close> = dev:zeros("f32", 2)
    m.k:launch(1, 1, out)
    assert.are.same({ 1.0078125, 1 }, out:totable())
  end)

  it("names the PTX instruction that it does not have, and where", function()
    for statement, what in pairs {
      ['asm volatile("activemask.b32 %0;" : "=r"(x[0]));'] = "'activemask.b32'",
      ['asm("{ .reg .u32 t; mov.u32 t, 3; addc.u32 %0, t, t; }" : "=r"(x[0]));'] = "'addc.u32'",
      ['asm("add.sat.s32 %0, %1, %1;" : "=r"(x[0]) : "r"(x[1]));'] = "'add.sat.s32'",
      ['asm("mov.u32 %0, %pm0;" : "=r"(x[0]));'] = "'mov.u32'",
    } do
      fails_with(function() dev:module { source = "__global__ void k(int *x) {\n" .. statement .. "\n}\n",
                                             name = "a.cu" } end,
        "a.cu:2: the CPU device has no inline PTX (asm) with " .. what .. "; use the CUDA device")
    end
  end)

  it("keeps an asm statement's reads and writes in sight of its analyses", function()
    local m <close> = dev:module { source = [[
      __global__ void k(int *out) {
        __shared__ int s[64];
        int i = threadIdx.x, n;
        asm("mad.lo.s32 %0, %1, 3, 1;" : "=r"(n) : "r"(i));
        s[i] = n;
        __syncthreads();
        if (n > 100) asm("sub.s32 %0, %1, 100;" : "=r"(n) : "r"(n));
        out[i] = n + s[63 - i];
      }
    ]] }
    local out <close> = dev:zeros("i32", 64)
    m.k:launch(1, 64, out)
    assert.are.equal("split", m.k:engine())
    for i = 0, 63 do
      local n = 3 * i + 1
      assert.are.equal((n > 100 and n - 100 or n) + 3 * (63 - i) + 1, out:get(i + 1))
    end
  end)
end)
