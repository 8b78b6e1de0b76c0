-- SPDX-License-Identifier: MIT
--
-- What CUDA files use without saying where it comes from, and spellings that nvcc takes: on the CPU device and by
-- NVRTC. Each kernel k stores a number in out[1]; where it cannot run, it is compiled.

local forms = require "tests.cpu.forms"
local support = require "tests.support"
local mw = support.mw

local DEVICE = "__global__ void k(%s) { %s }"

-- name, the kernel's number, declarations, the kernel's text, more parameters, more arguments
local cases = {
  { "extern in front of the type of dynamic shared memory", 7, "",
    "extern double __shared__ s[]; s[threadIdx.x] = 7; __syncthreads(); out[threadIdx.x] = (int)s[5];" },
  { "__shared__ arrays of constant sizes", 6, "const int wide = 4; enum { HIGH = 2 };",
    "const int low = wide / 2; constexpr int n = 3; enum { DEEP = 2 }; __shared__ int s[low][HIGH]; "
      .. "__shared__ int r[n + sizeof threadIdx]; __shared__ int q[DEEP]; "
      .. "s[1][1] = 1; r[2] = 2; q[1] = 3; out[threadIdx.x] = s[1][1] + r[2] + q[1];" },
  { "__shared__ behind the type", 9, "",
    "float __shared__ s[32]; s[threadIdx.x] = 9; __syncthreads(); out[threadIdx.x] = (int)s[31];" },
  { "const and volatile beside it", 4, "",
    "volatile int __shared__ s[32], t; s[threadIdx.x] = 4; t = 1; __syncthreads(); out[1] = s[3] * t;" },
  { "extern in front of the type, outside of kernels", 6, "extern float __shared__ s[];",
    "s[threadIdx.x] = 6; __syncthreads(); out[1] = (int)s[30];" },
  { "uint, ushort, ulong", 12, "__device__ uint f(ushort a, ulong b) { return (uint)(a * b); }",
    "out[1] = (int)f(3, 4);" },
  { "a uint of the file's own", 8, "typedef unsigned long long uint;", "out[1] = (int)sizeof(uint);" },
  { "CUDART_VERSION", 1, "", "out[1] = CUDART_VERSION >= 12000 && CUDART_VERSION < 20000;" },
  { "CUDART_VERSION in the preprocessor", 1, "#if CUDART_VERSION >= 9000\n#define N 1\n#else\n#define N 0\n#endif",
    "out[1] = N;" },
  { "a CUDART_VERSION of the file's own", 9000, "#define CUDART_VERSION 9000", "out[1] = CUDART_VERSION;" },
  { "CUDA_VERSION", 1, "#if CUDA_VERSION >= 9000\n#define N 1\n#else\n#define N 0\n#endif", "out[1] = N;" },
  { "__CUDACC_VER_MAJOR__", 1,
    "#if __CUDACC_VER_MAJOR__ >= 12 && defined(__CUDACC_VER_MINOR__) && defined(__CUDACC_VER_BUILD__)\n" ..
    "#define N 1\n#else\n#define N 0\n#endif", "out[1] = N;" },
  { "M_PI", 314, "", "out[1] = (int)(100 * M_PI);" },
  { "an M_PI of the file's own", 300, "#define M_PI 3.0", "out[1] = (int)(100 * M_PI);" },
  { "an M_PI that is a constant", 300, "const double M_PI = 3.0;", "out[1] = (int)(100 * M_PI);" },
  { "int64_t and its like", 23, "", "out[1] = (int)(sizeof(int64_t) + sizeof(uint64_t) + sizeof(int32_t) + " ..
    "sizeof(uint16_t) + sizeof(uint8_t));" },
  { "uint64_t and its like as long", 9, "#include <cstdint>\ntemplate <class T> struct is { enum { N = 0 }; };\n" ..
    "template <> struct is<unsigned long> { enum { N = 1 }; };\ntemplate <> struct is<long> { enum { N = 2 }; };\n" ..
    "template <> struct is<unsigned long long> { enum { N = 4 }; };",
    "size_t size = 0; uint64_t *p = &size; out[1] = is<uint64_t>::N + is<uintptr_t>::N + is<int64_t>::N + " ..
    "is<unsigned long long>::N + is<std::uint64_t>::N + (int)*p;" },
  { "waiting for the grid before", 1, "",
    "cudaTriggerProgrammaticLaunchCompletion(); cudaGridDependencySynchronize(); out[1] = 1;" },
  { "UINT64_C and its like", 14, "#include <stdint.h>",
    "out[1] = (int)(sizeof(UINT64_C(1)) + sizeof(INT32_C(1)) + INT8_C(2)) * (UINT64_C(3) - INT64_C(4) > 0);" },
  { "limits of types", 1, "", "out[1] = INT_MAX == 2147483647 && FLT_MAX > 1e38f && UINT_MAX == 4294967295u;" },
  { "NULL", 1, "", "int *p = NULL; out[1] = p == NULL;" },
  { "cooperative_groups::synchronize", 3, "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;",
    "__shared__ int s; s = 3; cooperative_groups::synchronize(cg::this_thread_block()); out[1] = s;" },
  { "block_tile_memory", 32, "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;",
    "__shared__ cg::block_tile_memory<64> m; auto b = cg::this_thread_block(m); b.sync(); out[1] = b.size(); " },
  { "sync without its namespace", 3, "#include <cooperative_groups.h>\nusing namespace cooperative_groups;",
    "__shared__ int s; thread_block b = this_thread_block(); s = 3; sync(b); out[1] = s;" },
  { "using namespace in front of shared memory", 4,
    "namespace lab { template <class T> struct row { T at[32]; }; }\nnamespace far { struct cell { int v; }; }",
    "using namespace lab; __shared__ row<int> s; { using namespace far; __shared__ cell c; c.v = 1; s.at[2] = c.v; }"
      .. " s.at[threadIdx.x] = 3; __syncthreads(); out[1] = s.at[9] + 1;" },
  { "shared memory of a lambda", 31, "", "auto f = [&](int v) { constexpr int N = 32; __shared__ int s[N]; "
    .. "s[threadIdx.x] = v; __syncthreads(); return s[31 - threadIdx.x]; }; out[threadIdx.x] = f(threadIdx.x + 1);" },
  { "[[nodiscard]] on a function", 5, "[[nodiscard]] __device__ int f(int x) { return x + 1; }", "out[1] = f(4);" },
  { "[[nodiscard]] on a template", 5, "template <class T> [[nodiscard]] __device__ T f(T x) { return x + 1; }",
    "out[1] = f(4);" },
  { "[[nodiscard]] behind the qualifiers", 5,
    "template <class T> __host__ __device__ [[nodiscard]] constexpr T f(T x) { return x + 1; }", "out[1] = f(4);" },
  { "[[nodiscard]] on a class", 5,
    "struct [[nodiscard]] S { int x; };\ntemplate <int N> struct [[nodiscard]] T { int x; };\n" ..
    "[[nodiscard]] __device__ S f() { return {4}; }", "T<1> t = {1}; out[1] = f().x + t.x;" },
  { "attributes of variables and parameters", 5,
    "__device__ int f([[maybe_unused]] int a, int b) { [[maybe_unused]] int c = 2; return b; }", "out[1] = f(1, 5);" },
  { "methods of the host beside the device's", 9, [[
#include <cstdio>
struct V {
  float x;
  __host__ V(float a) : x(a) { printf("host"); }
  __device__ V(int a) : x((float)a) {}
  __host__ float twice() const { return 2 * x; }
  __device__ float twice(int by) const { return by * x; }
  __host__ friend V operator+(const V &a, const V &b) { return V(a.x + b.x); }
};
struct M { int *p; __host__ M(int n) { p = new int[n]; } __host__ ~M() { delete[] p; } __device__ M() {} };
static inline __host__ int id(int x) { return x; }
static inline __device__ int id(unsigned x) { return x + 1; }]], "V v(2); out[1] = (int)v.twice(3) + id(2u);" },
  { "enum parameters", 2, "enum Color { RED, GREEN, BLUE };", "out[1] = c == BLUE ? 2 : 0;", "enum Color c", 2 },
  { "parameters of an enum class", 1, "enum class Mode : unsigned char { A, B };", "out[1] = m == Mode::B;",
    "Mode m", 1 },
  { "a class with virtual functions", 11, [[
struct Shape { __device__ virtual int area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape {
  int side;
  __device__ Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Line : Square {
  __device__ Line() : Square(1) {}
  __device__ int area() const override { return 2; }
};]],
    "Square q(3); Line l; const Shape *s = threadIdx.x ? &q : &l; out[threadIdx.x] = s->area() + 2;" },
  { "__host__ __device__ constants", 6,
    "__host__ __device__ const int A = 2;\n__host__ __device__ constexpr int B = 1;\n"
      .. "__device__ const int C[2] = {1, 3};",
    "out[1] = A + B + C[(threadIdx.x & 0) | 1];" },
  { "std::printf", 5, "#include <cstdio>", 'if (threadIdx.x > 99) std::printf("%d", 1); out[1] = 5;' },
  { "register variables", 5, "", "register int i = 5; out[1] = i;" },
  { "a kernel declared with other parameters", 5, "__global__ void k(float, float);\n__global__ void k(int *out);",
    "out[1] = 5;" },
  { "the multiprocessor as PTX", 1, "", 'unsigned m; asm("mov.u32 %0, %%smid;" : "=r"(m)); out[1] = m < 1024;' },
  { "static constants of the host", 7,
    "static const int A = 3;\nconst float B = 4.0f;\nstatic constexpr int C[] = {0, 9};",
    "out[1] = A + (int)B + C[0];" },
}

-- Runs each kernel of a module: how many of them fibers run.
local function forms_run(dev, options)
  local fibers, wanted = 0, {}
  for i = 1, 64 do wanted[i] = 64 - i end
  local m <close> = dev:module(options)
  for _, name in ipairs(m:kernels()) do
    local a <close> = dev:zeros("i32", 64)
    m[name]:prepare { grid = 1, block = 64, shared = 256 }(a, 5)
    assert.are.same(wanted, a:totable(), name)
    if m[name]:engine() == "fiber" then fibers = fibers + 1 end
  end
  return fibers
end

local function source(case)
  return ("%s\n" .. DEVICE .. "\n"):format(case[3], "int *out" .. (case[5] and ", " .. case[5] or ""), case[4])
end

support.each_device("what CUDA files use", function(dev, _, runs)
  for _, case in ipairs(cases) do
    runs(case[1], function()
      local out <close> = dev:zeros("i32", 32)
      local m <close> = dev:module { source = source(case), name = "case.cu" }
      m.k:prepare { grid = 1, block = 32, shared = 1024 }(table.unpack { out, case[6] })
      assert.are.equal(case[2], out:get(2))
    end)
  end
end)

support.each_device("what nvcc takes", function(dev, _, runs)
  for kind, options in pairs(forms) do
    runs("of a " .. kind, function() forms_run(dev, options) end)
  end
end)

describe("what nvcc takes", function()
  it("takes no slower engine than need be", function()
    local dev = mw.device "cpu"
    assert.is_true(forms_run(dev, forms.shared) <= 14)
    assert.is_true(forms_run(dev, forms.class) <= 2)
    assert.are.equal(0, forms_run(dev, forms.variable))
  end)

  it("runs in check mode, without a finding", function()
    local dev = mw.device("cpu", { check = true })
    for _, options in pairs(forms) do forms_run(dev, options) end
    assert.are.same({}, dev:findings())
  end)
end)

describe("what CUDA files use, by NVRTC", function()
  local has, why = support.has_nvrtc()
  for _, case in ipairs(cases) do
    (has and it or pending)(case[1], function()
      local m <close> = mw.device("cuda:sm_90"):module { source = source(case), name = "case.cu" }
      assert.are.same({ "k" }, m:kernels())
    end, why)
  end
  for kind, options in pairs(forms) do
    (has and it or pending)("what nvcc takes of a " .. kind, function()
      local m <close> = mw.device("cuda:sm_90"):module(options)
      assert.is_true(#m:kernels() > 0)
      for _, name in ipairs(m:kernels()) do assert.are.equal("kernel", mw.type(m:kernel(name))) end
    end, why)
  end
end)
