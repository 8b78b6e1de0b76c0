-- SPDX-License-Identifier: MIT
--
-- Functions that read ::threadIdx again after a store: each round of a thread loop sets that one place, and a compiler
-- that was promised a loop without dependences took what the last thread had left there. The kernel is a generated one
-- (tests/generator), reduced.

local support = require "tests.support"
local mw = support.mw

local SOURCE <const> = [[
__device__ unsigned turn(unsigned p) { return p + threadIdx.x; }
struct index { unsigned x; __device__ index() : x(threadIdx.x) {} };
struct made { unsigned v; __device__ made() { auto make = [&] { v = turn(24u); }; make(); } };
__global__ void k(unsigned *out, unsigned *g, unsigned *h, const unsigned *in, unsigned n, unsigned w) {
  index own;
  unsigned t = own.x;
  unsigned i = blockIdx.x * 32u + t;
  unsigned *m = h + 2u * i;
  unsigned a = t, b = w, u = 5u;
  unsigned loc[4] = { 1u, 2u, n, in[i + 1u] };
  __shared__ unsigned s[32];
  s[t] = in[i + 1u];
  __shared__ unsigned r[64];
  r[2u * t + 0u] = 3u;
  r[2u * t + 1u] = 4u;
  __syncthreads();
  unsigned x = 3u;
  made last;
  m[(m[(turn(8u) % 2u)] % 2u)] = t; x = m[(turn(8u) % 2u)];
  out[i] = a ^ b * 3u ^ w * 5u ^ loc[2] * 7u ^ x * 9u ^ u * 11u ^ r[2u * t + 0u] * 13u ^ r[2u * t + 1u] * 15u
         ^ loc[0] * 17u ^ loc[1] * 19u ^ loc[3] * 23u;
}]]

describe("a function that reads threadIdx after a store", function()
  it("reads its own thread's", function()
    local dev <const>, left = mw.device "cpu", {}
    for _, engine in ipairs { "fiber", "auto" } do
      local numbers = {}
      for i = 1, 192 do numbers[i] = i * 48271 + 5 end
      local m <close> = dev:module { source = SOURCE, engine = engine }
      local out <close>, h, input = dev:zeros("u32", 64), dev:array("u32", numbers), dev:array("u32", numbers)
      m.k:launch(2, 32, out, h, h, input, 3, 1)
      left[engine] = out:totable()
      h:close()
      input:close()
    end
    assert.are.same(left.fiber, left.auto)
  end)
end)
