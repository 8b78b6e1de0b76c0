-- SPDX-License-Identifier: MIT
--
-- Kernels that an engine of the CPU device, or a compiler behind it, gave other results than CUDA does.

local support = require "tests.support"
local mw = support.mw
local fails_with = support.fails_with

-- Loads of a record used to move above a store of the same thread: clang++ in split, g++ in a loop.
local RECORDS = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local source = [=[
__global__ void pointer(unsigned *out, unsigned *loc) {
  int t = threadIdx.x;
  unsigned *m = loc + 4 * t;
  m[m[1] & 3] = t;
  out[t] = m[3];
}
__global__ void subscript(unsigned *out, unsigned *loc) {
  int t = threadIdx.x;
  loc[4 * t + (loc[4 * t + 1] & 3)] = t;
  out[t] = loc[4 * t + 3];
}
__global__ void stores(unsigned *out, unsigned *loc) {
  int t = threadIdx.x;
  unsigned at = loc[4 * t + 1] & 3;
  loc[4 * t + 3] = 1000;
  loc[4 * t + at] = t;
  loc[4 * t + 2] = 0;
  out[t] = at == 2 ? t : loc[4 * t + at] == t ? loc[4 * t + 3] : 7777;
}
__global__ void referred(unsigned *out, unsigned *loc) {
  unsigned *m = loc + 4 * threadIdx.x, &x = m[m[1] & 3], &y = m[3];
  x = threadIdx.x;
  out[threadIdx.x] = y;
}
__global__ void kept(unsigned *out, unsigned *loc) {
  unsigned (*m)[4] = (unsigned (*)[4])loc, &x = m[threadIdx.x][m[threadIdx.x][1] & 3], (&row)[4] = m[threadIdx.x];
  __syncthreads();
  x = threadIdx.x;
  out[threadIdx.x] = row[3];
  __syncthreads();
  out[threadIdx.x] += 0 * x + 0 * row[0];
}
struct Q { unsigned &p; };
__global__ void member(unsigned *out, unsigned *loc) {
  unsigned *m = loc + 4 * threadIdx.x;
  Q q{loc[4 * threadIdx.x + (loc[4 * threadIdx.x + 1] & 3)]};
  q.p = threadIdx.x;
  out[threadIdx.x] = m[3];
}
__device__ unsigned put(unsigned *m, unsigned v) { m[m[1] & 3] = v; return m[3]; }
__global__ void helper(unsigned *out, unsigned *loc) { out[threadIdx.x] = put(loc + 4 * threadIdx.x, threadIdx.x); }
__global__ void local(unsigned *out, unsigned *in) {
  int t = threadIdx.x;
  unsigned loc[4];
  for (int i = 0; i < 4; ++i) loc[i] = in[4 * t + i];
  __syncthreads();
  loc[loc[1] & 3] = t;
  unsigned d = loc[3];
  __syncthreads();
  out[t] = d + 0 * loc[0];
}]=]
local values = {}
for i = 1, 1024 do values[i] = (i * 7 + i // 5) % 64 end
for _, name in ipairs { "pointer", "subscript", "stores", "helper", "local", "referred", "kept", "member" } do
  local found = {}
  for _, engine in ipairs { "fiber", "auto" } do
    local module = dev:module { source = source, engine = engine, name = "records.cu" }
    local a, o = dev:array("u32", values), dev:zeros("u32", 256)
    module[name]:launch(1, 256, o, a)
    found[engine] = table.concat(o:totable(), " ")
    assert(engine == "fiber" or module[name]:engine() ~= "fiber")
  end
  assert(found.fiber == found.auto, name)
end

-- In a method, by g++.
local methods = dev:module { name = "methods.cu", source = [=[
struct view {
  unsigned *p, *q;
  __device__ unsigned put(int i) { unsigned r = p[4 * i + 1]; q[4 * i + 3] = r + 1; return r + p[4 * i + 3]; }
};
__global__ void method(unsigned *out, unsigned *p, unsigned *q) {
  view v = {p, q};
  out[threadIdx.x] = v.put(threadIdx.x);
}]=] }
local a, o = dev:zeros("u32", 1024), dev:zeros("u32", 256)
methods.method:launch(1, 256, o, a, a)
for i, value in ipairs(o:totable()) do assert(value == 1, i) end
assert(methods.method:engine() == "loop")
]]

-- Compilers took loops without an end out. Nothing lets these go: what follows them would be seen at once.
local ENDLESS = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
for _, body in ipairs { "while (o[0] == 0);", "while (o[0] == 0) { __syncthreads(); }" } do
  local module = dev:module { name = "endless.cu",
    source = "__global__ void k(int *o) { ((volatile int *)o)[1] = 1; " .. body .. " o[2] = 1; }" }
  local stream, o = dev:stream { blocking = false }, dev:pinned("i32", { 0, 0, 0 })
  module.k:prepare { grid = 1, block = 1, stream = stream }(o)
  while o:get(2) == 0 do end
  local from = os.clock()
  repeat until os.clock() > from + 0.1
  assert(not stream:query() and o:get(3) == 0, body)
end
print "run on"
os.exit(0, false)
]]

describe("a kernel", function()
  for _, compiler in ipairs { "clang++", "g++" } do
    if os.execute("command -v " .. compiler .. " >/dev/null 2>&1") then
      it("reads a record after what it stored there, with " .. compiler, function()
        support.child_passes(RECORDS, { env = { MOONWARP_CXX = compiler } })
      end)

      it("keeps a loop without an end, with " .. compiler, function()
        assert.are.equal("run on\n", support.child_passes(ENDLESS, { env = { MOONWARP_CXX = compiler } }))
      end)
    end
  end

  -- The whole module fell back to fibers, with an error of the compiler's that nobody saw.
  it("goes to fibers alone where its split form does not compile", function()
    local dev = mw.device "cpu"
    local source = [[
      struct large { int a[4096]; };
      __global__ void bad(int *out) { int t = threadIdx.x; large b; b.a[t] = t; __syncthreads();
        b.a[t + 1] = 5; __syncthreads(); out[t] = b.a[t]; }
      __global__ void good(int *out) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __syncthreads();
        out[t] = s[63 - t]; }]]
    local reason = "its split form did not compile: a variable that lives across barriers is too large"
    for _, variables in ipairs { "", "__device__ int v;\n" } do
      for _ = 1, 2 do -- compiled, and from the cache
        local m <close> = dev:module { source = variables .. source }
        local out <close> = dev:array("i32", 64)
        m.bad:launch(1, 64, out)
        assert.are.equal(63, out:get(64))
        local engine, why = m.bad:engine()
        assert.are.equal("fiber", engine)
        assert.is_truthy(why:find(reason, 1, true), why)
        m.good:launch(1, 64, out)
        assert.are.equal(0, out:get(64))
        assert.are.equal(variables == "" and "split" or "fiber", (m.good:engine()))
      end
    end
    fails_with(function() dev:module { source = "__global__ void k(int *x) { __syncthreads(); x[0] = wrong; }" } end,
      "wrong")
  end)

  it("barriers behind a function that is an argument of the template", function()
    local source = [[
      using reverse_fn = void (*)(int *, int);
      __device__ void reverse(int *p, int n) {
        __shared__ int s[64];
        s[threadIdx.x] = p[threadIdx.x];
        __syncthreads();
        p[threadIdx.x] = s[n - 1 - threadIdx.x];
      }
      template <reverse_fn f> __global__ void k(int *p, int n) { f(p, n); }
      template <reverse_fn f> __device__ void twice(int *p, int n) { f(p, n); f(p, n); f(p, n); }
      template <reverse_fn f> __global__ void k3(int *p, int n) { twice<f>(p, n); }]]
    local dev <const> = mw.device "cpu"
    for _, name in ipairs { "k<reverse>", "k3<reverse>" } do
      local m <close> = dev:module { source = source }
      local k = m:kernel(name)
      local p <close> = dev:empty("i32", 64):linspace(1, 64)
      k:launch(1, 64, p, 64)
      assert.are.equal(64, p:get(1))
      local engine, why = k:engine()
      assert.are.equal("fiber", engine)
      assert.is_truthy(why:find("what 'f' stands for at source:", 1, true), why)
    end
  end)

  it("a parameter called dim3", function()
    local source = [[
      __global__ void k(int *out, int dim3) {
        out[blockIdx.x * blockDim.x + threadIdx.x] = dim3 * gridDim.x + 7;
      }]]
    for _, engine in ipairs { "loop", "split", "fiber" } do
      local m <close> = mw.device("cpu"):module { source = source, engine = engine }
      local out <close> = mw.device("cpu"):zeros("i32", 64)
      m.k:launch(2, 32, out, 10)
      assert.are.equal(27, out:get(64))
    end
  end)

  -- A template was run by fibers, 30 times slower, where its T was a class and its split form had asked whether it is.
  it("a template's T that is a class, split", function()
    local source = [[
      struct pair { float at[2]; };
      struct own {
        float a, b;
        __device__ own() : a(threadIdx.x), b(0) {}
        __device__ own(float x) : a(x), b(x + threadIdx.x) {}
        __device__ operator float() const { return a + b; }
      };
      template <class T> __global__ void cast(float *out) {
        extern __shared__ double room[];
        T *part = (T *)room;
        part[threadIdx.x].at[0] = threadIdx.x;
        part[threadIdx.x].at[1] = 1;
        __syncthreads();
        out[threadIdx.x] = part[63 - threadIdx.x].at[0] + part[0].at[1];
      }
      template <class T> __global__ void made(float *out) {
        __shared__ float s[64];
        float n = 3;
        T t(n);
        T u = n * 2;
        s[threadIdx.x] = t;
        __syncthreads();
        out[threadIdx.x] = s[63 - threadIdx.x] + (float)u;
      }]]
    local dev <const> = mw.device "cpu"
    local m <close> = dev:module { source = source }
    for name, expected in pairs { ["cast<pair>"] = { 64, 63, 1 }, ["made<own>"] = { 81, 81, 81 },
                                  ["made<float>"] = { 9, 9, 9 } } do
      local k, out <close> = m:kernel(name), dev:zeros("f32", 64)
      k:prepare { grid = 1, block = 64, shared = 64 * 8 }(out)
      assert.are.same(expected, { out:get(1), out:get(2), out:get(64) }, name)
      assert.are.equal("split", (k:engine()), name)
    end
  end)
end)
