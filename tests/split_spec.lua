-- SPDX-License-Identifier: MIT
--
-- Kernels whose splitting once went wrong, or easily could: the automatic choice and the fibers give
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
  { "a helper that keeps shared memory between calls", "fiber", [[
    __device__ int h(int v) { __shared__ int q[64]; if (v) q[threadIdx.x] = v; else q[threadIdx.x] += 1;
      __syncthreads(); int r = q[(threadIdx.x + 1) % 64]; __syncthreads(); return r; }
    ]] .. HEAD .. [[ int a = h(in[t] + 1); out[t] = a + h(0); }]] },
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
