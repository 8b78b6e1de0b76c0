-- SPDX-License-Identifier: MIT
--
-- moonwarp run program.cu: the program's output, input, words and exit status are its own; what goes wrong is told with
-- its files and lines.

local lfs = require "lfs"

local fake = require "tests.support.fake"
local labs = require "tests.support.labs"
local support = require "tests.support"

if not support.program() then
  describe("whole programs", function() pending "needs the program" end)
  return
end

-- One program, whose first word says what it does: it is compiled once.
local SOURCE <const> = [[
#include <cassert>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include "scale.h"
__constant__ float factor;
static __device__ int hits;
namespace lab { __device__ float twice(float x) { return 2 * x; } }
template <class T, int Add> __global__ void plus(T *x, int) { atomicAdd(&hits, 1); x[threadIdx.x] += Add; }
__global__ void scale(float *x, point p) { x[threadIdx.x] = lab::twice(x[threadIdx.x]) * factor + p.y; }
extern "C" __global__ void beyond(float *x) { x[threadIdx.x + 64] = 1; }
struct farewell { ~farewell() { printf("farewell\n"); } } at_the_end;
#define CALL(x) do { cudaError_t e_ = x; if (e_) printf("%d: %s\n", __LINE__, cudaGetErrorString(e_)); } while (0)
int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  std::vector<float> host(32, 1.f);
  float *x, f = 3;
  int count = 5, *at;
  if (what == "segv") *(volatile int *)argv = *(volatile int *)8;
  if (what == "exit") exit(4);
  if (what == "input") { char word[20]; return scanf("%19s", word) == 1 && !strcmp(word, "hello") ? 5 : 6; }
  CALL(cudaMalloc(&x, sizeof(float) * 32));
  CALL(cudaMemcpy(x, host.data(), 128, cudaMemcpyHostToDevice));
  CALL(cudaMemcpyToSymbol(factor, &f, sizeof f));
  if (what == "beyond" || what == "assert") {
    beyond<<<1, 32>>>(x);
    assert(what != "assert");
    CALL(cudaDeviceSynchronize());
    CALL(cudaGetLastError());
    return 0;
  }
  if (what == "grid") {
    scale<<<1, 2048>>>(x, point{0, 0});
    CALL(cudaGetLastError());
    return 0;
  }
  CALL(cudaGetSymbolAddress((void **)&at, hits));
  CALL(cudaMemcpy(at, &count, sizeof count, cudaMemcpyHostToDevice));
  plus<float, 1><<<1, 32>>>(x, 0);
  scale<<<dim3(1), 32, 0, 0>>>(x, point{1, SHIFT});
  CALL(cudaMemcpy(host.data(), x, 128, cudaMemcpyDeviceToHost));
  CALL(cudaMemcpyFromSymbol(&count, hits, sizeof count));
  printf("%s %g %g %d\n", what.c_str(), host[0], host[31], count);
  return 0;
}
]]

local MIXED <const> = [[
#include <thread>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
namespace cg = cooperative_groups;
extern "C" int helper(int);
struct next {
  __host__ __device__ int operator()(int x) const { return x + 1; }
  __device__ int own() const { return threadIdx.x; }
};
template <class T, class F> __global__ void __launch_bounds__(128) apply(T *x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}
__global__ void init(curandState *s) { curand_init(1, threadIdx.x, 0, &s[threadIdx.x]); }
__global__ void draw(curandState *s, float *x) { x[threadIdx.x] = curand_uniform(&s[threadIdx.x]); }
typedef int (*step)(int);
__device__ int ten(int x) { return x + 10; }
__device__ step steps[2] = {ten, ten}, alone = ten;
__constant__ int sized[] = {1, 2}, weight = 3;
__global__ void add(int *x) {
  if (cg::this_thread_block().thread_rank() == 0) *x = steps[1](*x) + sized[1] + weight - (alone(0) - 5);
}
template <class T> __global__ void halves(T *h) { h[threadIdx.x] = __hadd(h[threadIdx.x], __float2half(1.f)); }
struct counted {
  int *data, copies = 0;
  explicit counted(int *d) : data(d) {}
  counted(const counted &other) : data(other.data), copies(other.copies + 1) {}
  ~counted() { if (copies > 1) *data = -1; }
};
__global__ void store(counted c, int v) { *c.data += v + 10 * c.copies; }
__global__ void store(counted c, float v) { *c.data += 2 * v; }
class solver {
 public:
  explicit solver(int n) : n_(n) { cudaMallocManaged(&x_, n * sizeof(int)); cudaStreamCreate(&s_); }
  ~solver() { cudaFree(x_); cudaStreamDestroy(s_); }
  int run() {
    for (int i = 0; i < n_; i++) x_[i] = i;
    apply<int, next><<<(n_ + 127) / 128, 128, 0, s_>>>(x_, n_, next());
    cudaStreamSynchronize(s_);
    return x_[n_ - 1];
  }
 private:
  int *x_, n_;
  cudaStream_t s_;
};
int main() {
  int right = 0, *n;
  std::thread threads[3];
  bool ended[3] = {};
  for (int t = 0; t < 3; t++) threads[t] = std::thread([&ended, t] { ended[t] = solver(300 + t).run() == 300 + t; });
  for (auto &thread : threads) thread.join();
  for (bool end : ended) right += end;
  printf("threads %d\n", right == 3);
  curandState *states;
  float *x;
  cudaMalloc(&states, 32 * sizeof *states);
  cudaMallocManaged(&x, 128);
  init<<<1, 32>>>(states);
  draw<<<1, 32>>>(states, x);
  cudaDeviceSynchronize();
  printf("draw %d\n", x[0] > 0.6747f && x[0] < 0.6749f);
  half h[2] = {__float2half(1.5f), __float2half(2.f)}, *d;
  cudaMalloc((void **)&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  halves<<<1, 2>> >(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("half %g %g\n", __half2float(h[0]), (float)h[1]);
  cudaMallocManaged(&n, sizeof(int));
  void (*kernel)(int *) = add, *arguments[] = {&n};
  *n = 0;
  kernel<<<1, 1>>>(n);
  cudaLaunchKernel((void *)add, dim3(1), dim3(1), arguments, 0, nullptr);
  cudaLaunchKernel(add, 1, 1, arguments);
  cudaDeviceSynchronize();
  printf("pointers %d %d\n", *n, helper(3));
  *n = 0;
  store<<<1, 1>>>(counted(n), 1);
  store<<<1, 1>>>(counted(n), 2.f);
  cudaDeviceSynchronize();
  printf("counted %d\n", *n);
  apply<<<1, 10>>>(x, 10, [] __host__ __device__ (float v) { return v; });
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
]]

local HEADER <const> = "#pragma once\nstruct point { float x, y; };\n"

describe("a whole program", function()
  local folder

  setup(function()
    local pipe <close> = assert(io.popen "mktemp -d")
    folder = pipe:read "l"
    support.write(folder .. "/all.cu", SOURCE)
    assert(lfs.mkdir(folder .. "/more"))
    support.write(folder .. "/more/scale.h", HEADER)
  end)
  teardown(function() os.execute("rm -rf " .. labs.quoted(folder)) end)

  local function moonwarp(words, input)
    return labs.shell(("cd %s && %s MOONWARP_CXX=%s %s %s"):format(labs.quoted(folder),
      input and ("echo %s |"):format(input) or "</dev/null", labs.quoted(support.core.home() .. "/tests/cxx-o0"),
      labs.quoted(labs.program), words))
  end

  local function expect(status, text, words, input)
    local got, output = moonwarp(words, input)
    assert.are.equal(text, output)
    assert.are.equal(status, got)
  end

  local function all(word, more)
    return ("run all.cu -I more -DSHIFT=7 --device cpu %s -- %s"):format(more or "", word)
  end

  it("computes, with templates, device variables, macros and headers, and leaves no folder", function()
    expect(0, "plain 19 19 37\nfarewell\n", all "plain")
    assert.is_nil(lfs.attributes(folder .. "/out"))
  end)

  -- The inner launch took what the outer one had been given, which then was none, and the status was 0.
  it("launches kernels in the arguments of a launch, and tells a call that is no launch", function()
    support.write(folder .. "/nested.cu", "#include <cstdio>\n__global__ void fill(int *x, int v) { *x = v; }\n"
      .. "__global__ void add(int *x, const int *y) { *x += *y; }\n"
      .. "int *made(int v) { int *x; cudaMallocManaged(&x, 4); fill<<<1, 1>>>(x, v); return x; }\n"
      .. "int main(int count, char **) {\n  int *x = made(1);\n  add<<<1, 1>>>(x, made(2));\n"
      .. "  if (count > 1) fill(x, 9);\n  cudaDeviceSynchronize();\n  printf(\"%d\\n\", *x);\n}\n")
    expect(0, "3\n", "run nested.cu --device cpu")
    expect(1, "moonwarp: kernel 'fill' is called without <<<grid, block>>>, and is not launched\n3\n",
      "run nested.cu --device cpu -- call")
  end)

  -- It waited for itself for ever.
  it("has no calls of CUDA in a function that a stream calls", function()
    support.write(folder .. "/back.cu", "#include <cstdio>\n__global__ void k(int *x) { *x = 1; }\nint *x;\n"
      .. "void plain(void *) {\n  int *y;\n  k<<<1, 1>>>(x);\n"
      .. "  printf(\"%s\\n\", cudaGetErrorString(cudaMalloc(&y, 4)));\n}\n"
      .. "void back(cudaStream_t, cudaError_t, void *) { printf(\"%s\\n\", cudaGetErrorName(cudaFree(x))); }\n"
      .. "int main() {\n  cudaStream_t s;\n  cudaMallocManaged(&x, 4);\n  cudaStreamCreate(&s);\n  *x = 0;\n"
      .. "  cudaLaunchHostFunc(s, plain, nullptr);\n  cudaStreamAddCallback(s, back, nullptr, 0);\n"
      .. "  printf(\"%s %d\\n\", cudaGetErrorString(cudaStreamSynchronize(s)), *x);\n"
      .. "  cudaStreamDestroy(s);\n}\n")
    local told = "moonwarp: a function that a stream calls (cudaLaunchHostFunc, cudaStreamAddCallback) may not call "
      .. "CUDA\n"
    expect(0, told:rep(2) .. "operation not permitted\n" .. told .. "cudaErrorNotPermitted\nno error 0\n",
      "run back.cu --device cpu")
  end)

  it("has its own input and exit status", function()
    expect(4, "farewell\n", all "exit")
    expect(5, "farewell\n", all "input", "hello")
    expect(6, "farewell\n", all "input", "goodbye")
  end)

  it("tells a fault of a kernel with the line of its launch, and then ends badly", function()
    local line = select(2, SOURCE:match "^(.*)beyond<<<":gsub("\n", "")) + 1
    expect(1, ("moonwarp: all.cu:%d: kernel 'beyond' wrote outside every array: block (0,0,0), thread (0,0,0), "
      .. "128 bytes past the end of parameter 1 'x', an array of 128 bytes (offset 256; index 64, it has 32 elements); "
      .. "--check names the line\n%d: an illegal memory access was encountered\n"
      .. "%d: an illegal memory access was encountered\nfarewell\n"):format(line, line + 2, line + 3), all "beyond")
  end)

  it("tells a launch that no device takes", function()
    local line = select(2, SOURCE:match "^(.*)scale<<<1, 2048":gsub("\n", "")) + 1
    expect(0, ("moonwarp: all.cu:%d: kernel 'scale' is not launched: block 2048x1x1 has 2048 threads, 1 to 1024 "
      .. "are possible\n%d: invalid configuration argument\nfarewell\n"):format(line, line + 1), all "grid")
  end)

  it("says how its host part crashed", function()
    local status, output = moonwarp(all "segv")
    assert.are.equal("moonwarp: the host part of 'all.cu' ended by SIGSEGV: it used memory that it does not have\n",
      (output:gsub("sh: .*", ""):gsub("Segmentation fault.*", "")))
    assert.are.equal(139, status)
  end)

  it("is judged in check mode, also where an assertion ends it", function()
    local wrong = select(2, SOURCE:match "^(.*)x%[threadIdx.x %+ 64%]":gsub("\n", "")) + 1
    local found = ("  all.cu:%d  "):format(wrong)
    local status, output = moonwarp(all("plain", "--check"))
    assert.are.equal("plain 19 19 37\nfarewell\ncheck mode: no errors found\n", output)
    assert.are.equal(0, status)
    status, output = moonwarp(all("assert", "--check"))
    assert.is_truthy(output:find("Assertion `what != \"assert\"' failed.", 1, true), output)
    assert.is_truthy(output:find(found, 1, true), output)
    assert.are.equal(134, status)
    status, output = moonwarp(all("beyond", "--check"))
    assert.is_truthy(output:find(found, 1, true), output)
    assert.are_not.equal(0, status)
    assert.is_nil(lfs.attributes(folder .. "/out"))
  end)

  it("is what docs/programs.md shows", function()
    local page = support.read(support.core.home() .. "/docs/programs.md")
    support.write(folder .. "/dot.cu", page:match "```cpp\n(.-)```")
    local status, output = moonwarp "run dot.cu --device cpu --check"
    local shown = page:match "```\n(race in shared memory.-)```"
    assert.is_truthy(output:find(shown, 1, true), output)
    assert.are_not.equal(0, status)
    support.write(folder .. "/dot.lua", "return { { name = 'dot', program = 'dot.cu', check = true } }")
    output = select(2, moonwarp "batch dot.lua --device cpu --out labs")
    assert.is_truthy(output:find("dot-cpu-check: failed: race in shared memory: kernel 'dot'", 1, true), output)
  end)

  it("names what is missing, in the user's own lines", function()
    support.write(folder .. "/nomain.cu", "__global__ void k(int *x) {}\nvoid f() { k<<<1, 1>>>(nullptr); }\n")
    expect(2, "moonwarp: 'nomain.cu' has no main: moonwarp new nomain nomain.cu writes a script that runs its kernels; "
      .. "of a program all sources are given\n", "run nomain.cu")
    support.write(folder .. "/call.cu", "__global__ void k(int *x) {}\nint main() {\n  cudaIpcOpen(1);\n}\n")
    local status, output = moonwarp "run call.cu --device cpu"
    assert.is_truthy(output:find("^moonwarp: compiling the host part of 'call.cu' failed: call.cu:3: "), output)
    assert.is_truthy(output:find("; 'cudaIpcOpen' is not among the runtime's calls that the CPU device has", 1, true),
      output)
    assert.are.equal(1, status)
    expect(2, "moonwarp: option '-p' is of scripts; 'all.cu' is a program\n", "run all.cu -p n=3")
    expect(2, "moonwarp: unknown command 'all.cu'; to run it: moonwarp run all.cu\n", "all.cu")
    expect(2, "moonwarp: option '-I' is of a program, as in moonwarp run x.cu\n", "run memcopy -I more")
  end)

  it("knows threads, halves, cuRAND's states, groups, classes, pointers to kernels and overloads", function()
    support.write(folder .. "/mixed.cu", MIXED)
    support.write(folder .. "/helper.c", "int helper(int x) { return x * 14; }\n")
    local status, output = moonwarp "run mixed.cu helper.c --device cpu"
    local lines = {}
    for line in output:gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.are.equal("threads 1\ndraw 1\nhalf 2.5 3\npointers 30 42\ncounted 5",
      table.concat(lines, "\n", 1, 5), output)
    assert.is_truthy(lines[6]:find "^moonwarp: mixed.cu:%d+: kernel 'apply': its template arguments have no", output)
    assert.are.equal("invalid device function", lines[7])
    assert.are.equal(1, status)
  end)

  it("launches each of several kernels of one name, templates of halves too", function()
    support.write(folder .. "/overloads.cu", [[
#include <cstdio>
#include <cuda_fp16.h>
struct step { int n; };
__global__ void color(unsigned char *, const float *);
namespace lab { __global__ void add(int *x) { *x += 1; } __global__ void add(int *x, step s) { *x += s.n; } }
__global__ void add(int *x) { *x += 1000; }
static __global__ void only(int *x) { *x += 10; }
static __global__ void only(float *x) { *x = 5; }
template <class T> __global__ void put(T *x, float value) { *x = T(value); }
__global__ void put(__half *x, int value) { *x = __int2half_rn(value + 1); }
__global__ void color(unsigned char *x, const float *) { x[threadIdx.x] = 1; }
__global__ void color(uchar4 *x, const float *) { x[threadIdx.x].y = 2; }
int main() {
  int *x;
  __half *h;
  cudaMallocManaged(&x, 64), cudaMallocManaged(&h, 64);
  lab::add<<<1, 1>>>(x), lab::add<<<1, 1>>>(x, step{200}), add<<<1, 1>>>(x), only<<<1, 1>>>(x);
  color<<<1, 2>>>((unsigned char *)(x + 4), nullptr);
  void (*second)(uchar4 *, const float *) = color;
  second<<<1, 2>>>((uchar4 *)(x + 6), nullptr);
  put<<<1, 1>>>(h, 2.5f), put<<<1, 1>>>(h + 1, 6);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%d %x %x %x %g %g\n", x[0], x[4], x[6], x[7], __half2float(h[0]), __half2float(h[1]));
}
]])
    expect(0, "no error\n1211 101 200 200 2.5 7\n", "run overloads.cu --device cpu")
  end)

  it("may have several sources", function()
    support.write(folder .. "/one.cu", "void fill(int *x);\n#include <cstdio>\nint main() {\n  int *x;\n"
      .. "  cudaMallocManaged(&x, 8);\n  fill(x);\n  cudaDeviceSynchronize();\n"
      .. "  printf(\"%d %d\\n\", x[0], x[1]);\n}\n")
    support.write(folder .. "/two.cu", "__global__ void set(int *x) { x[threadIdx.x] = threadIdx.x + 1; }\n"
      .. "void fill(int *x) { set<<<1, 2>>>(x); }\n")
    expect(0, "1 2\n", "run one.cu two.cu --device cpu")
    expect(1, "moonwarp: nothing defines 'fill', which 'one.cu' uses: give all sources of the program, libraries by "
      .. "-l\n", "run one.cu --device cpu")
  end)

  -- The compilers' notes, which say why, and the way out were not told.
  it("is told why its host part does not compile", function()
    for name, one in pairs {
      ["header.cu"] = { "#include <cstdio>\n#include \"none.h\"\nint main() {}\n", ":2: ",
        "; %-I names a folder of the program's headers" },
      ["fit.cu"] = { "#include <cstdio>\nint main() {\n  int *x;\n  cudaMalloc(x, 4);\n}\n",
        ":4: no matching function ", "'void ?%*%*'" },
      ["kernel.cpp"] = { "__global__ void k(int *x) {}\nint main() {}\n", ":1: ",
        "; a source with kernels has a name that ends in %.cu\n" },
    } do
      support.write(folder .. "/" .. name, one[1])
      local status, output = moonwarp(("run %s --device cpu"):format(name))
      assert.is_truthy(output:find(("^moonwarp: compiling the host part of '%s' failed: %s%s"):format(name, name,
        one[2])), output)
      assert.is_truthy(output:match "^[^\n]*\n":find(one[3]), output)
      assert.are.equal(1, status)
    end
    support.write(folder .. "/main.cu", "int main() {}\n")
    support.write(folder .. "/again.cpp", "int main() {}\n")
    expect(1, "moonwarp: linking 'main.cu' failed: more than one source defines 'main'\n",
      "run main.cu again.cpp --device cpu")
  end)

  it("is a lab, with input and expected output", function()
    support.write(folder .. "/echo.cu", "#include <cstdio>\n__global__ void twice(int *x) { *x *= 2; }\nint main() {\n"
      .. "  int *x;\n  cudaMallocManaged(&x, 4);\n  if (scanf(\"%d\", x) != 1) return 2;\n  twice<<<1, 1>>>(x);\n"
      .. "  cudaDeviceSynchronize();\n  printf(\"%d \\n\\n\", *x);\n}\n")
    support.write(folder .. "/in.txt", "21\n")
    support.write(folder .. "/good.txt", "42\n")
    support.write(folder .. "/bad.txt", "42\n43\n")
    support.write(folder .. "/labs.lua", [[local function lab(name, expected)
      return { name = name, program = "echo.cu", input = "in.txt", expected = expected, time_limit = 600 }
    end
    return { lab("good", "good.txt"), lab("bad", "bad.txt") }]])
    local status, output = moonwarp "batch labs.lua --device cpu --out labs"
    assert.is_truthy(output:find("good on cpu: passed", 1, true), output)
    assert.is_nil(output:find("nothing checked", 1, true), output)
    assert.is_truthy(output:find("bad-cpu: check failed: line 2 of the output is missing, expected '43'", 1, true),
      output)
    assert.are_not.equal(0, status)
    expect(2, "moonwarp: option '--expected' is of a program, as in moonwarp run x.cu\n",
      "run memcopy --expected in.txt")
  end)

  -- Empty lines did not count, so that another line was named. All that a program prints was kept in a file without a
  -- limit.
  it("has its lines compared while it prints", function()
    support.write(folder .. "/lines.cu", "#include <cstdio>\nint main(int count, char **) {\n"
      .. "  printf(\"\\na \\n\\n\\nb\\n\\n\");\n  while (count > 1) puts(\"more\");\n}\n")
    local printed = "\na \n\n\nb\n\n"
    for expected, said in pairs {
      ["\na\n\n\nb"] = "", ["\na\n\nb"] = "line 4 of the output is '', expected 'b'",
      ["\na\n\n\nb\n\nc\n"] = "line 6 of the output is missing, expected ''",
      ["\na\n"] = "line 3 of the output is '', expected no more",
    } do
      support.write(folder .. "/lines.txt", expected)
      expect(said == "" and 0 or 3, printed .. (said == "" and "" or ("moonwarp: %s\n"):format(said)),
        "run lines.cu --device cpu --expected lines.txt")
    end
    local _, output = moonwarp "run lines.cu --device cpu --expected lines.txt -- on | head -n 7"
    assert.are.equal(printed .. "more\n", (output:gsub("moonwarp: [^\n]*\n", "")))
    support.write(folder .. "/flood.cu", "#include <cstdio>\nint main() { for (;;) puts(\"42\"); }\n")
    support.write(folder .. "/flood.lua", [[return { { name = "flood", program = "flood.cu", expected = "good.txt",
      time_limit = 3600, output_limit = "1 MiB" } }]])
    output = select(2, moonwarp "batch flood.lua --device cpu --out labs")
    assert.is_truthy(output:find("flood-cpu: too much output: it printed more than 1.00 MiB", 1, true), output)
    expect(2, "moonwarp: cannot read the file of --input: none: No such file or directory\n",
      "run lines.cu --device cpu --input none")
  end)

  it("is nvcc's on a GPU", function()
    if not fake.is_possible() then pending "needs the sources of the fake driver" end
    support.write(folder .. "/any.cu", "int main() { return 0; }\n")
    assert(lfs.mkdir(folder .. "/bin"))
    support.write(folder .. "/bin/made", "#!/bin/sh\necho program $CUDA_VISIBLE_DEVICES $*\nexit 9\n")
    support.write(folder .. "/bin/nvcc", "#!/bin/sh\necho nvcc $1 $4 $5 >&2\ncp bin/made $3\nchmod +x $3\n")
    os.execute(("chmod +x %s/bin/nvcc"):format(labs.quoted(folder)))
    local function run(words, env)
      return labs.shell(("cd %s && MOONWARP_LIBCUDA=%s MOONWARP_LIBNVML=%s PATH=$PWD/bin:$PATH %s %s "
        .. "%s"):format(labs.quoted(folder), fake.library(), fake.library(), env or "", labs.quoted(labs.program),
        words))
    end
    local status, output = run "run any.cu -D N=3 -- a b"
    assert.are.equal("nvcc -arch=native -DN=3 any.cu\nprogram 0 a b\n", output)
    assert.are.equal(9, status)
    status, output = run "run any.cu --device cuda --check"
    assert.are.equal("moonwarp: option '--check' of a program is of the CPU device: --device cpu\n", output)
    assert.are.equal(2, status)
    -- The fake driver has one device and does not read the variable.
    output = select(2, run("run any.cu", "CUDA_VISIBLE_DEVICES=GPU-7,2"))
    assert.is_truthy(output:find("program GPU-7\n", 1, true), output)
    support.write(folder .. "/bin/nvcc", "#!/bin/sh\necho 'any.cu(1): error: no'\nexit 2\n")
    status, output = run "run any.cu"
    assert.are.equal("any.cu(1): error: no\nmoonwarp: nvcc does not compile 'any.cu': exit status 2\n", output)
    assert.are.equal(1, status)
    local without = [[-e 'require("moonwarp.tools.tool").program = function() end
      os.exit(require("moonwarp.cli.program").run { "any.cu", words = { "any.cu" }, rest = {}%s })']]
    local why = "nvcc, which compiles programs for a GPU, is neither on $PATH nor in the CUDA toolkit: "
    status, output = run(without:format "")
    assert.are.equal("moonwarp: " .. why .. "'any.cu' runs on the CPU device\n", output)
    assert.are.equal(0, status)
    status, output = run(without:format ', device = "cuda"')
    assert.is_truthy(output:find(why .. "--device cpu runs 'any.cu' without it", 1, true), output)
    assert.are_not.equal(0, status)
  end)
end)
