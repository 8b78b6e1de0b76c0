-- SPDX-License-Identifier: MIT
--
-- Files with host code: the kernels of a .cu file that holds a whole program.

local support = require "tests.support"
local mw = support.mw

-- The host code uses what no device has: the standard library, the CUDA runtime, a header that is nowhere.
local PROGRAM = [[
#include <vector>
#include <iostream>
#include <nowhere/at/all.h>
#include "helper_nowhere.h"
using namespace std;
#define CHECK(call) do { if ((call) != cudaSuccess) { std::cerr << #call << std::endl; exit(1); } } while (0)
#define KERNEL(name, type) extern "C" __global__ void name##_##type(type *x, int n)
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
static FILE *report;
int counter = 0;
std::vector<float> results;
const int STEP = 3;
const float table[] = { 1.0f, 2.0f };
enum side { LEFT = 1, RIGHT };
typedef enum { LOW = 10, HIGH = 20 } level;

struct timer {
  std::vector<double> laps;
  cudaEvent_t begin;
  void start() { CHECK(cudaEventRecord(begin)); }
};

class point {
 public:
  float x, y;
  cudaStream_t stream;
  point(float a, float b) : x(a), y(b) { counter++; }
  void print() const { std::cout << x << std::endl; }
  friend std::ostream &operator<<(std::ostream &to, const point &p) { return to << p.x; }
  __host__ __device__ float sum() const { return x + y; }
};

namespace lab {
namespace {
template <class T> __device__ T twice(T x);
template <> __device__ int twice<int>(int x) { return 2 * x; }
template <> __device__ float twice<float>(float x) { return 2 * x + 0.5f; }
}
void run(std::vector<int> &values) { values.push_back(1); }
struct base { int n; base() {} };
template <class T> struct pair_of { T a, b; };
}

KERNEL(add, int)
{
  int i = INDEX;
  if (i < n) x[i] = lab::twice(x[i]) + STEP + RIGHT + HIGH;
}

__global__ void sums(point *p, float *out) {
  lab::base b;
  b.n = 0;
  out[threadIdx.x] = p[threadIdx.x].sum() + lab::twice(1.0f);
}
template <class T> __global__ void swap_all(lab::pair_of<T> *p) { T a = p[0].a; p[0].a = p[0].b; p[0].b = a; }

template <class T> void launch(T *x) { swap_all<T><<<1, 1>>>(x); }

int main(int argc, char **argv) {
  int *x;
  CHECK(cudaMalloc(&x, 4 * sizeof *x));
  add_int<<<1, 4>>>(x, 4);
  for (auto &r : results) std::cout << r << "\n";
  return 0;
}
]]

local function describe_device(name, dev)
  describe("on " .. name, function()
    support.no_leaks()

    it("leaves host code out", function()
      local m <close> = dev:module { source = PROGRAM, name = "program.cu" }
      assert.are.same({ "add_int", "sums" }, m:kernels())
      assert.are.equal("add_int(int *x, int n)", m.add_int:signature())
      local text = m:cpp():gsub('#include "[^"\n]*"', "") -- a folder may have any name
      for _, word in ipairs { "main", "vector", "timer", "print", "launch", "ostream", "counter", "table" } do
        assert.is_nil(text:find("%f[%w_]" .. word .. "%f[^%w_]"), word)
      end
    end)

    it("knows the numbers of 16 bits that headers of host libraries bring in", function()
      local source = "#include <cublas_v2.h>\ncublasHandle_t handle;\n" ..
                     "__global__ void k(float *x, __nv_bfloat16 *y, half *z) { *x = (float)*y + __half2float(*z); }\n"
      local m <close> = dev:module { source = source, name = "program.cu" }
      assert.are.equal("k(float *x, __nv_bfloat16 *y, __half *z)", m.k:signature())
    end)

    it("takes an #include of cooperative groups in several places", function()
      local include = "#include <cooperative_groups.h>\n"
      local m <close> = dev:module { source = "#include <vector>\n" .. include .. include
        .. "using namespace cooperative_groups;\n__global__ void k(int *x) { sync(this_thread_block()); x[0] = 1; }\n" }
      assert.is_truthy(m:kernel "k")
    end)

    it("knows constants that are computed from others", function()
      local m <close> = dev:module { source = "#include <vector>\nconst float THREE = 3.0f;\n"
        .. "static const float THIRD = 1.0 / THREE;\nnamespace lab { const double MINUS = -THIRD, TWO = 2; }\n"
        .. "__global__ void k(float *x) { x[0] = THIRD * THREE; x[1] = lab::MINUS * lab::TWO; }\n" }
      assert.is_truthy(m:kernel "k")
    end)

    -- A bracket in front of a class's { made a variable of the host of it, which was left out.
    it("keeps classes with attributes and of arrays", function()
      local m <close> = dev:module { source = "#include <vector>\nstd::vector<int> host;\n"
        .. "struct [[nodiscard]] two { int v[2]; };\nenum [[maybe_unused]] side : int { LEFT, RIGHT };\n"
        .. "template <class T> struct last;\ntemplate <class T> struct last<T[2]> { static const int at = RIGHT; };\n"
        .. "__global__ void k(two *x) { x[0].v[last<int[2]>::at] = 1; }\n" }
      assert.is_truthy(m:kernel "k")
    end)

    it("instantiates a template with a type that no kernel names", function()
      local source = PROGRAM .. "struct odd { float v[3]; };\nstruct host { std::vector<int> v; };\n"
      local m <close> = dev:module { source = source, name = "program.cu" }
      assert.are.equal("kernel", mw.type(m:kernel "swap_all<odd>"))
    end)

    -- The namespace of the instance's name is that of device code as well.
    it("leaves out instances of the host's templates", function()
      local source = "#include <vector>\nnamespace lab {\n__device__ int two();\n"
        .. "template <class T> void run(std::vector<T> x);\n}\n__device__ int lab::two() { return 2; }\n"
        .. "__global__ void k(int *x) { x[0] = lab::two(); }\n"
        .. "template <class T> void lab::run(std::vector<T> x) { k<<<1, 1>>>(x.data()); }\n"
        .. "template void lab::run<int>(std::vector<int> x);\n"
      local m <close> = dev:module { source = source }
      assert.are.equal("kernel", mw.type(m:kernel "k"))
    end)

    it("leaves a class's allocation to the device", function()
      local source = "#include <iostream>\nstruct managed {\n"
        .. "  void *operator new(size_t n) { void *p; cudaMallocManaged(&p, n); return p; }\n"
        .. "  void operator delete(void *p) { cudaFree(p); }\n};\n"
        .. "struct shape : managed {\n"
        .. "  __host__ __device__ virtual float area() = 0; __host__ __device__ virtual ~shape() {} };\n"
        .. "struct disc : shape { float r; __host__ __device__ float area() { return 3 * r * r; } };\n"
        .. "__global__ void k(float *x) { disc d; d.r = 2; shape *s = &d; x[0] = s->area(); }\n"
      local m <close> = dev:module { source = source }
      assert.are.same({ "k" }, m:kernels())
      assert.are.equal("kernel", mw.type(m:kernel "k"))
    end)

    it("leaves a source as it is that compiles without that", function()
      local source = "__device__ int unused(int x) { return x; }\n__global__ void k(int *x) { x[0] = 1; }\n"
      local m <close> = dev:module { source = source }
      assert.is_truthy(m:cpp():find("unused", 1, true))
    end)

    it("keeps the lines of mistakes", function()
      local source = "#include <vector>\n#define TWO(x) \\\n  ((x) + \\\n  2)\nint main() {}\n"
        .. "__global__ void k(int *x) {\n  x[0] = TWO(\n    1);\n  x[1] = missing;\n}\n"
      local message = support.fails_as("compile", function() dev:module { source = source, name = "x.cu" } end,
        "missing")
      assert.is_truthy(message:find "x%.cu[:%(]9", message)
    end)

    it("shows no line that is longer than a screen", function()
      local source = ("#include <vector>\n__global__ void k(int *x) { x[0] = 0%s; missing(); }\n")
        :format((" + 1"):rep(5000))
      local message = support.fails_as("compile", function() dev:module { source = source, name = "x.cu" } end,
        "missing")
      assert.is_true(#message < 1000)
    end)

    it("says of what was left out why", function()
      local source = "#include <vector>\nint limit = 4;\nint half(int x) { return x / 2; }\n"
        .. "__global__ void k(int *x) { x[0] = %s; }\n"
      for use, why in pairs {
        ["half(x[0])"] = "'half' is left out: a function without __device__ (x.cu:3)",
        ["limit"] = "'limit' is left out: a variable of the host, neither __device__, __constant__ nor const (x.cu:2)",
      } do
        support.fails_as("compile", function() dev:module { source = source:format(use), name = "x.cu" } end, why)
      end
    end)

    it("names a bracket, quote or comment that is not closed", function()
      local host = "#include <vector>\n%s\n__global__ void k(int *x) { x[0] = 1; }\n"
      for code, line in pairs {
        ["int main() {\n  std::vector<int> v(3);\n  for (int i = 0; i < 3; i++ { v[i] = i; }\n}"] =
          "x.cu:4: error: a bracket has no partner\n"
          .. "    4 |   for (int i = 0; i < 3; i++ { v[i] = i; }\n      |       ^\n",
        ["int f() { return 1; } }"] = "x.cu:2: error: a bracket has no partner\n",
        ["auto s = \"open;"] = "x.cu:2: error: a quote is not closed\n    2 | auto s = \"open;\n      |          ^\n",
        ["/* begun"] = "x.cu:2: error: a comment is not closed\n    2 | /* begun\n      | ^\n",
      } do
        local problem = support.fails_as("compile", function()
          dev:module { source = host:format(code), name = "x.cu" }
        end, line:match "^([^\n]*)":gsub(" error:", "", 1))
        assert.is_truthy(problem:find(line, 1, true), problem)
      end
    end)

    it("says that a file has no kernel", function()
      support.fails_as("compile", function()
        dev:module { source = "#include <vector>\nint main() { return 0; }\n", name = "x.cu" }
      end, "compiling 'x.cu' failed: there is no kernel, a __global__ function, in it")
    end)

    it("ends files that include themselves", function()
      support.with_folder(function(folder)
        support.write(folder .. "/a.h", "#include \"b.h\"\n__device__ int f() { return 1; }\n")
        support.write(folder .. "/b.h", "#include \"a.h\"\n")
        support.write(folder .. "/k.cu", "#include <vector>\n#include \"a.h\"\n"
          .. "__global__ void k(int *x) { x[0] = f(); }\n")
        support.fails_as("compile", function() dev:module { file = folder .. "/k.cu" } end,
          "an #include that never ends")
      end)
    end)

    it("knows the other spelling of #", function()
      local source = "%:include <vector>\n%:define JOIN(a, b) a %:%: b\n"
        .. "__global__ void k(int *x) { x[0] = JOIN(4, 2); }\n"
      local m <close> = dev:module { source = source }
      assert.are.same({ "k" }, m:kernels())
    end)

    it("reads the user's own headers and the options' macros", function()
      support.with_folder(function(folder)
        assert(os.execute(("mkdir '%s/more'"):format(folder)))
        support.write(folder .. "/near.h", "\xef\xbb\xbf#pragma once\n"
          .. "#include <map>\n#include <far.h>\n#include \"near.h\"\n"
          .. "inline void host(std::map<int, int> &m) { m[0] = 1; }\n"
          .. "__device__ inline int near() { return far_away(); }\n")
        support.write(folder .. "/more/far.h", "#ifndef FAR\n#define FAR\n#if WHERE > 1 && !defined(NOT)\n"
          .. "__device__ inline int far_away() { return WHERE; }\n#else\n#error wrong branch\n#endif\n#endif\n")
        support.write(folder .. "/k.cu", "#include \"near.h\"\n__global__ void k(int *x) { x[0] = near(); }\n")
        local options = { file = folder .. "/k.cu", includes = { folder .. "/more" }, defines = { WHERE = 42 } }
        local m <close> = dev:module(options)
        assert.are.same({ "k" }, m:kernels())
        assert.is_truthy(m:cpp():find("42", 1, true))
        support.fails_with(function() dev:module { file = folder .. "/k.cu", includes = { folder .. "/more" } } end,
          "wrong branch")
      end)
    end)

    it("knows what a header of the user's declares of a source that compiles as it is", function()
      support.with_folder(function(folder)
        support.write(folder .. "/more.h", "enum color { RED, GREEN };\n"
          .. "namespace lab { __global__ void fill(float *to, int count) { to[0] = count; } }\n")
        support.write(folder .. "/k.cu", "#include \"more.h\"\n"
          .. "__global__ void k(int *x, color c) { x[0] = c == GREEN ? 3 : 4; }\n")
        local m <close> = dev:module { file = folder .. "/k.cu" }
        assert.are.equal("fill(float *to, int count)", (m:kernel("lab::fill"):signature():gsub("^lab::", "")))
        support.fails_as("not_found", function() m:kernel "other::fill" end, "no kernel 'other::fill'")
        if dev:is_offline() then return end
        local x <close> = dev:zeros("i32", 1)
        m.k:launch(1, 1, x, 1)
        assert.are.equal(3, x:get(1))
      end)
    end)
  end)
end

describe("a file with host code", function()
  local cpu = mw.device "cpu"
  describe_device("cpu", cpu)
  local available, reason = support.has_nvrtc()
  if available then
    describe_device("cuda:sm_90", mw.device "cuda:sm_90")
  else
    pending("is not compiled for a GPU: " .. tostring(reason):match "[^\n]*")
  end

  it("marks the words of mistakes, not the columns of generated text", function()
    local function log_of(body)
      local source = "#define LOAD(i) (x[i] + bias)\n__global__ void k(float *x) {\n" .. body .. "\n}\n"
      return select(2, pcall(cpu.module, cpu, { source = source, name = "x.cu" })).log
    end
    assert.is_truthy(log_of "\tx[0] = LOAD(1) * scael(2);":find(
      "    3 | \tx[0] = LOAD(1) * scael(2);\n      | \t                 ^~~~~\n", 1, true))
    assert.is_truthy(log_of "  x[0] = threadidx.x;":find(
      "    3 |   x[0] = threadidx.x;\n      |          ^~~~~~~~~\n", 1, true))
    assert.is_truthy(log_of "  x[0] = __shfl_xor(x[1], 1);":find(
      "error: __shfl_xor is gone from CUDA since sm_70: use __shfl_xor_sync with a mask\n"
      .. "    3 |   x[0] = __shfl_xor(x[1], 1);\n      |          ^~~~~~~~~~\n", 1, true))
    for _, body in ipairs { "x[0] = threadidx.x;", "return 1;", "int i = 0\nx[i] = 1;", "x[0] = missing;" } do
      local log = log_of(body)
      assert.is_truthy(log:find "^x%.cu:[34]: error: ", log)
      assert.is_nil(log:find "x%.cu:%d+:%d", log)
      for _, generated in ipairs { "_mw", "declared here", "In function" } do
        assert.is_nil(log:find(generated, 1, true), log)
      end
    end
  end)

  it("blames the kernel for what does not compile in generated code", function()
    local m <close> = cpu:module { source = "__global__ void good(int *x) { x[0] = 1; }\n"
      .. "__global__ void bad(int &x) { x = 1; }\n", name = "x.cu" }
    assert.are.same({ "good", "bad" }, m:kernels())
    local message = support.fails_as("compile", function() m:kernel "bad" end, "x.cu:2: ")
    for _, hidden in ipairs { "<stdin>", "entry.h", "moonwarp:" } do
      assert.is_nil(message:find(hidden, 1, true), message)
    end
  end)

  it("computes", function()
    local m <close> = cpu:module { source = PROGRAM, name = "program.cu" }
    local x <close> = cpu:zeros("i32", 5)
    x:fill(100)
    m.add_int:launch(1, 8, x, 4)
    assert.are.same({ 225, 225, 225, 225, 100 }, { x:get(1), x:get(2), x:get(3), x:get(4), x:get(5) })
  end)
end)
