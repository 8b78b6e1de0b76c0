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

-- Names of functions that read threadIdx, in all ways in which one may be used.
local USES <const> = {
  { "declared before, and by ::", "__device__ int turn(); __device__ int turn() { return threadIdx.x; }",
    "::turn() + turn()" },
  { "overloads, one of a library's name", "struct F { int v; }; __device__ int min(F a, F b)"
    .. " { return a.v < b.v ? threadIdx.x : 9; }", "min(F{1}, F{2}) + min(5, 3)" },
  { "(void), packs and templates", "namespace ns { __device__ inline int me(void) { return threadIdx.x; }"
    .. " template <int N, class... A> __device__ int sum(A... a) { return (me() + ... + a) * N; } }",
    "ns::sum<2>(1, 2) + ns::sum<1>() + ns::me()" },
  { "recursion", "__device__ int rec(int n) { return n ? rec(n - 1) + 1 : threadIdx.x; }", "rec(3)" },
  { "a function as an argument", "__device__ int plus(int x) { return x + threadIdx.x; }"
    .. " __device__ int twice(int (*f)(int)) { return f(2); }", "twice(plus) + plus(1)" },
  { "an explicit specialisation", "template <class T> __device__ T gen(T x) { return x + threadIdx.x; }"
    .. " template <> __device__ float gen<float>(float x) { return x - threadIdx.x; }", "gen(1) + (int)gen(1.5f)" },
  { "methods and members", "__device__ int turn() { return threadIdx.x; } struct S { int v = turn();"
    .. " static __device__ int of() { return threadIdx.x; } __device__ int get() const { return v + turn(); } };",
    "S::of() + S().get()" },
  { "a default argument", "__device__ int turn() { return threadIdx.x; }"
    .. " __device__ int other(int x = turn()) { return x; }", "other() + other(1) + turn()" },
  { "an operator", "struct P { int v; }; __device__ int operator+(P a, int b) { return a.v + b + threadIdx.x; }",
    "P{1} + 2" },
  { "lambdas", "__device__ int turn() { return threadIdx.x; } __device__ int lam(int n)"
    .. " { auto f = [&](int k) { return k + (int)threadIdx.x; }; return f(n); }", "[] { return turn() + lam(1); }()" },
  { "one that returns a lambda", "__device__ auto make(int k) { return [k] { return k + (int)threadIdx.x; }; }",
    "make(2)()" },
  { "a local class", "__device__ int turn() { return threadIdx.x; } __device__ int loc()"
    .. " { struct L { __device__ int f() { return turn(); } }; return L().f() + turn(); }", "loc()" },
  { "the whole index", "__device__ int x_of(uint3 t) { return t.x; } __device__ int me() { return x_of(threadIdx); }",
    "me() + x_of(threadIdx)" },
  { "an overload that a namespace hides", "__device__ int me(int x) { return x + threadIdx.x; } namespace q {"
    .. " __device__ int me(float x) { return -1; } __device__ int up() { return me(1); } }", "q::up()" },
  { "an overload that comes after a template", "__device__ int f(float x) { return (int)(x * 2); }"
    .. " template <class T> __device__ int g(T x) { return f(x); }"
    .. " __device__ int f(int x) { return x + threadIdx.x; }", "g(5)" },
  { "an overload of a library's function", "__device__ int pow(int x, int n) { int r = threadIdx.x;"
    .. " while (n--) r *= x; return r; } __device__ float fp(float x) { return pow(x, 2.0f); }",
    "pow(2, 3) + (int)fp(3.f)" },
  { "a method of a nested class", "__device__ int turn() { return threadIdx.x; } struct A { struct B { int v;"
    .. " __device__ int &turn() { return v; } __device__ int get() { return turn(); } }; B b; };",
    "A{{3}}.b.get() + turn()" },
}
local USE <const> = "%s\n__global__ void k(int *a, int *b) {\n  a[b[0]] = 7;\n"
  .. "  a[blockIdx.x * 16 + threadIdx.x] = %s;\n}\n"
local BARRIER <const> = USE:gsub("= 7;", "%0 __syncthreads();")

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

  for _, use in ipairs(USES) do
    it("has its own thread's: " .. use[1], function()
      local dev <const> = mw.device "cpu"
      local zero <close> = dev:zeros("i32", 1)
      for _, text in ipairs { USE, BARRIER } do
        local left = {}
        for _, engine in ipairs { "fiber", "auto" } do
          local m <close> = dev:module { source = text:format(use[2], use[3]), engine = engine }
          local a <close> = dev:zeros("i32", 48)
          m.k:launch(3, 16, a, zero)
          left[engine] = a:totable()
        end
        assert.are.same(left.fiber, left.auto)
      end
    end)
  end
end)
