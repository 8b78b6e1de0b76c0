-- SPDX-License-Identifier: MIT
--
-- Kernels that are hard to split: the automatic choice and the fibers give
-- the same results, and the choice is the expected one.

local mw = require "moonwarp"
local support = require "tests.support"

local THREADS = 64

local function results(dev, source, engine)
  local module <close> = dev:module { source = source, name = "tricky.cu", engine = engine }
  local input <close> = dev:array("i32", THREADS)
  local out <close> = dev:zeros("i32", THREADS)
  local values = {}
  for i = 1, THREADS do values[i] = i * 7919 % 101 end
  input:upload(values)
  local kernel = module:kernel "k"
  kernel:launch(1, THREADS, out, input, THREADS)
  return out:totable(), (kernel:engine())
end

local HEAD = "__global__ void k(int *out, const int *in, int n) { int t = threadIdx.x; "
local cases = {
  { "a variable declared with its struct", "fiber", HEAD .. [[ __shared__ int s[64];
    struct P { int a; int b; } p = { in[t], t }; s[t] = p.a; __syncthreads();
    p.b += s[(t + 1) % n]; __syncthreads(); out[t] = p.a + p.b; }]] },
  { "a variable declared with its union", "fiber", HEAD .. [[ __shared__ int s[64];
    union { int i; float f; } u; u.i = in[t]; s[t] = u.i; __syncthreads(); out[t] = u.i + s[(t + 1) % n]; }]] },
  { "a variable declared with its enum", "fiber", HEAD .. [[ __shared__ int s[64];
    enum { A, B } e = (t & 1) ? A : B; s[t] = in[t]; __syncthreads();
    out[t] = s[(t + 1) % n] + (e == A ? 1000 : 0); }]] },
  { "a type of its own", "split", HEAD .. [[ __shared__ int s[64]; struct P { int a; int b; };
    P p = { in[t], t }; s[t] = p.a; __syncthreads(); p.b += s[(t + 1) % n]; out[t] = p.b; }]] },
  { "a helper that keeps shared memory between calls", "split", [[
    __device__ int h(int v) { __shared__ int q[64]; if (v) q[threadIdx.x] = v; else q[threadIdx.x] += 1;
      __syncthreads(); int r = q[(threadIdx.x + 1) % 64]; __syncthreads(); return r; }
    ]] .. HEAD .. [[ int a = h(in[t] + 1); out[t] = a + h(0); }]] },
  { "a helper that keeps shared memory between the rounds of a loop", "split", [[
    __device__ int h(int v) { __shared__ int q[64]; if (v) q[threadIdx.x] = v; else q[threadIdx.x] += 1;
      __syncthreads(); int r = q[(threadIdx.x + 1) % 64]; __syncthreads(); return r; }
    ]] .. HEAD .. [[ int a = 0; for (int i = 0; i < 5; i++) { int z = h(i == 0 ? in[t] + 1 : 0); a = a * 3 + z; }
    out[t] = a + h(0); }]] },
  { "instances of a template helper with shared memory of their own", "split", [[
    template <class T> __device__ T sum(T v) { const int W = 32; __shared__ T part[W], more[2 * W];
      int l = threadIdx.x % 32, w = threadIdx.x / 32;
      for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
      if (!l) part[w] = v; __syncthreads();
      T r = 0; for (int i = 0; i < blockDim.x / 32; i++) r += part[i]; more[l] = r; __syncthreads();
      return more[0]; }
    ]] .. HEAD .. [[ int a = sum(in[t]); int b = sum(in[t] * t); float c = sum(1.5f * t);
    out[t] = a + 3 * b + (int)c; }]] },
  { "shared memory declared inside of a loop", "split", HEAD .. [[ int a = 0;
    for (int i = 0; i < 4; i++) { __shared__ int s[64]; if (i == 0) s[t] = in[t]; __syncthreads();
      a += s[(t + i) % n]; __syncthreads(); s[t] += i; }
    out[t] = a; }]] },
  { "variables of a branch beside one with a barrier", "split", HEAD .. [[ __shared__ int s[64]; int v = 1;
    s[t] = in[t];
    if (n > 10) { int a = t; float b = 2; a += b; v = a; } else { __syncthreads(); v = s[(t + 1) % n]; }
    __syncthreads(); out[t] = v + s[63 - t]; }]] },
  { "variables of a branch beside one with a shuffle", "split", HEAD .. [[ int v = in[t];
    if (t < 32) { int a = t; a += 2; v = a; } else { v += __shfl_xor_sync(~0u, v, 1); }
    out[t] = v; }]] },
  { "conditions that change a variable", "split", HEAD .. [[ __shared__ int s[64]; s[t] = in[t];
    for (int i = 0; i++ < 3; ) { __syncthreads(); int v = s[(t + i) % n]; __syncthreads(); s[t] += v; }
    int m = 4;
    while (m-- > 0) { __syncthreads(); int v = s[(t + m) % n]; __syncthreads(); s[t] += v * m; }
    do { __syncthreads(); int v = s[(t + m + 1) % n]; __syncthreads(); s[t] += v * m; } while (++m < 3);
    out[t] = s[t] + m; }]] },
  { "shared memory whose struct has no name", "split", HEAD .. [[ __shared__ struct { int a[64]; float b; } s, r[2];
    s.a[t] = in[t]; r[1].a[t] = t; __syncthreads(); out[t] = s.a[63 - t] + r[1].a[(t + 1) % n]; }]] },
  { "shared memory that is a union", "split", HEAD .. [[ __shared__ union U { int a[64]; float b[64]; } s;
    s.a[t] = in[t]; __syncthreads(); out[t] = s.a[63 - t]; }]] },
  { "a pointer to a function by typedef", "loop", "typedef int (*op)(int, int);\n" ..
    "__device__ int add(int a, int b) { return a + b; }\n" .. HEAD .. "op f = add; out[t] = f(in[t], n); }" },
  { "a helper whose parameter has the kernel's name", "split", [[
    __device__ int h(int k) { __shared__ int s[64]; s[threadIdx.x] = k; __syncthreads(); return s[63 - threadIdx.x]; }
    ]] .. HEAD .. [[ out[t] = h(in[t]); }]] },
  { "elements that all read under conditions of their own", "split", HEAD .. [[ __shared__ int s[64], r[64];
    s[t] = in[t]; r[t] = t; __syncthreads(); int sum = 0;
    for (int k = 0; k < 64; k++) { if (s[k] > in[t]) sum += r[k] * t; else if (t & 1) sum -= s[k]; }
    for (int k = 1; k < 64; k += 3) sum += t > k ? r[k] : 0;
    __syncthreads(); for (int k = 0; k < 64; k++) if (k == t) r[k] = sum + r[k];
    __syncthreads(); for (int k = 0; k < 80; k++) if (k < n) sum += s[k] ^ r[k];
    out[t] = sum; }]] },
  { "a range-based for", "fiber", [[
    struct S { int a[3] = { 1, 2, 3 };
      __device__ int *begin() { return a; } __device__ int *end() { return a + 3; } };
    ]] .. HEAD .. [[ __shared__ int s[64]; int sum = 0; s[t] = in[t];
    for (int i : S()) { __syncthreads(); sum += s[(t + i) % n]; }
    out[t] = sum; }]] },
  { "shuffles by more than a warp", "split", HEAD .. [[ int v = in[t];
    out[t] = __shfl_down_sync(~0u, v, 33) + 3 * __shfl_up_sync(~0u, v, 40, 16); }]] },
  { "two loops over one name", "split", HEAD .. [[ __shared__ int s[64]; int sum = 0;
    for (int i = t; i < n; i += blockDim.x) sum += in[i];
    s[t] = sum; __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) { int i = t + d; if (t < d) s[t] += s[i]; __syncthreads(); }
    out[t] = s[0]; }]] },
  { "an early return", "split", HEAD .. [[ __shared__ int s[64]; if (t >= 50) return;
    s[t] = in[t]; __syncthreads(); out[t] = s[49 - t]; }]] },
  { "a shuffle under a condition of whole warps", "split", HEAD .. [[ __shared__ int s[64]; s[t] = in[t];
    __syncthreads(); if (t < 32) { int v = s[t] + s[t + 32]; v += __shfl_xor_sync(~0u, v, 16); s[t] = v; }
    __syncthreads(); out[t] = s[t]; }]] },
}

describe("kernels that are hard to split", function()
  support.no_leaks()
  for _, case in ipairs(cases) do
    local name, expected, source = table.unpack(case)
    it("agree with fibers: " .. name, function()
      local dev = mw.device "cpu"
      local values, engine = results(dev, source, "auto")
      assert.are.same(results(dev, source, "fiber"), values)
      assert.are.equal(expected, engine)
    end)
  end
end)
