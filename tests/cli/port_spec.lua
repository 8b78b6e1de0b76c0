-- SPDX-License-Identifier: MIT
--
-- moonwarp port: the script of a program prints what the program prints, or says where it was not translated.

local lfs = require "lfs"

local labs = require "tests.support.labs"
local support = require "tests.support"

if not support.program() then
  describe("moonwarp port", function() pending "needs the program" end)
  return
end

local function in_folder(test)
  support.with_folder(function(folder)
    test(function(words)
      return labs.shell(("cd %s && %s %s </dev/null"):format(labs.quoted(folder), labs.quoted(labs.program), words))
    end, folder)
  end)
end

-- What each program is about; the words that both are run with.
local PROGRAMS <const> = {
  { "arrays and a macro that checks", "", [[
#include <cstdio>
#include <cstdlib>
#define N 1000
#define CHECK(call)                                                        \
  do {                                                                     \
    cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                             \
    }                                                                      \
  } while (0)
__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  const int threads = 256, blocks = (N + threads - 1) / threads;
  float *a = (float *)malloc(N * sizeof(float)), *b = (float *)malloc(N * sizeof(float)), *c = new float[N];
  for (int i = 0; i < N; i++) {
    a[i] = i * 0.1f;
    b[i] = 1.0f / (i + 1);
  }
  float *da, *db, *dc;
  CHECK(cudaMalloc((void **)&da, N * sizeof(float)));
  CHECK(cudaMalloc((void **)&db, N * sizeof(float)));
  CHECK(cudaMalloc(&dc, sizeof(float) * N));
  CHECK(cudaMemcpy(da, a, N * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b, N * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dc, 0, N * sizeof(float)));
  add<<<blocks, threads>>>(da, db, dc, N);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(c, dc, N * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  double sum = 0;
  for (int i = 0; i < N; ++i) {
    if (c[i] != a[i] + b[i]) wrong++;
    sum += c[i];
  }
  printf("%d wrong, sum %.9f, %g of %d (100%%)\n", wrong, sum, c[N - 1], N);
  free(a); free(b); delete[] c;
  cudaFree(da); cudaFree(db); cudaFree(dc);
  return wrong == 0 ? 0 : 1;
}
]] },
  { "events and vectors", "", [[
#include <iostream>
#include <vector>
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
int main() {
  int n = 1 << 10;
  std::vector<float> x(n), y(n, 2.0f), z = y;
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i) / 7;
  float *dx, *dy, ms = -1;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, &y[0], n * sizeof(float), cudaMemcpyHostToDevice);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  saxpy<<<(n + 255) / 256, 256>>>(n, 0.3f, dx, dy);
  cudaEventRecord(stop, 0);
  cudaEventSynchronize(stop);
  cudaEventElapsedTime(&ms, start, stop);
  cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  float most = 0, total = 0;
  for (int i = 0; i < n; i++) most = std::max(most, std::abs(y[i] - (0.3f * x[i] + z[i])));
  for (int i = 0; i < n; i++) {
    total += y[i];
    y[i] *= 2;
  }
  std::cout << (ms >= 0 ? "timed" : "not timed") << ", most " << most << ", total " << total << ' ' << y[n - 1];
  std::cout << std::endl;
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}
]] },
  { "dynamic shared memory and sizes that shrink", "", [[
#include <cstdio>
__global__ void sum(const int *in, int *out, int n) {
  extern __shared__ int part[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
int main(void) {
  const int n = 5000, block = 128;
  int host[n], result = -1, left = n;
  for (int i = 0; i < n; i++) host[i] = i % 11 - 3;
  int *in, *out;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  while (left > 1) {
    int blocks = (left + block - 1) / block;
    sum<<<blocks, block, block * sizeof(int)>>>(in, out, left);
    int *swap = in;
    in = out;
    out = swap;
    left = blocks;
  }
  cudaMemcpy(&result, in, sizeof(int), cudaMemcpyDeviceToHost);
  int expected = 0, odd = -7 / 2, rest = -7 % 3;
  for (int i = n - 1; i >= 0; i--) expected += host[i];
  printf("%d %d %d %d\n", result, expected, odd, rest);
  return 0;
}
]] },
  { "dim3, a template and arrays of two dimensions", "", [[
#include <stdio.h>
#include <stdlib.h>
#define WIDTH 48
#define TILE (WIDTH / 3)
template <int T> __global__ void multiply(const float *a, const float *b, float *c, int n) {
  __shared__ float x[T][T], y[T][T];
  int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < T; i++) sum += x[threadIdx.y][i] * y[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
float a[WIDTH][WIDTH], b[WIDTH][WIDTH], c[WIDTH][WIDTH];
void fill(float *x, int n, float by) {
  for (int i = 0; i < n; i++) x[i] = (i % 9) * by;
}
int main() {
  float *da, *db, *dc;
  const size_t bytes = WIDTH * WIDTH * sizeof(float);
  int errors = 0;
  for (int i = 0; i < WIDTH; i++)
    for (int j = 0; j < WIDTH; j++) {
      a[i][j] = i - j;
      b[i][j] = i == j;
    }
  cudaMalloc(&da, bytes);
  cudaMalloc(&db, bytes);
  cudaMalloc(&dc, bytes);
  cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice);
  dim3 block(TILE, TILE), grid((WIDTH + block.x - 1) / block.x, WIDTH / TILE);
  multiply<TILE><<<grid, block>>>(da, db, dc, WIDTH);
  cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < WIDTH; i++) {
    for (int j = 0; j < WIDTH; j++) {
      if (c[i][j] == a[i][j]) continue;
      errors++;
      if (errors > 10) break;
    }
  }
  float *more = (float *)malloc(bytes);
  fill(more, WIDTH * WIDTH, 0.1f);
  printf("%d errors, grid %ux%u, %f\n", errors, grid.x, grid.y, more[13]);
}
]] },
  { "constant memory and variables of the device", "", [[
#include <cstdio>
__constant__ float weights[3];
__constant__ int offset;
__device__ int count;
__global__ void blur(const float *in, float *out, int n) {
  int i = threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = weights[0] * in[i - 1] + weights[1] * in[i] + weights[2] * in[i + 1] + offset;
  if (i == 0) out[i] = -1;
  if (i == n - 1) out[i] = -2;
  atomicAdd(&count, 1);
}
int main() {
  float w[] = {0.25f, 0.5f, 0.25f}, in[64], out[64], *din, *dout;
  int five = 5, zero = 0, n = sizeof(in) / sizeof(in[0]), launched;
  for (int i = 0; i < n; i++) in[i] = i * i;
  cudaMemcpyToSymbol(weights, w, sizeof(w));
  cudaMemcpyToSymbol(offset, &five, sizeof(int));
  cudaMemcpyToSymbol(count, &zero, sizeof(zero));
  cudaMalloc(&din, sizeof(in));
  cudaMalloc(&dout, sizeof(out));
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  blur<<<1, n>>>(din, dout, n);
  cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&launched, count, sizeof(int));
  printf("%g %g %g %d\n", out[0], out[1], out[63], launched);
}
]] },
  { "streams with parts of arrays", "", [[
#include <cstdio>
__global__ void twice(int *x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 2; }
int main() {
  const int parts = 4, n = 4000, each = n / parts;
  int *host, *device;
  cudaStream_t streams[parts];
  cudaEvent_t done;
  cudaMallocHost(&host, n * sizeof(int));
  cudaMalloc(&device, n * sizeof(int));
  cudaEventCreate(&done);
  for (int i = 0; i < n; i++) host[i] = i;
  for (int i = 0; i < parts; i++) {
    int first = i * each;
    cudaStreamCreate(&streams[i]);
    cudaMemcpyAsync(device + first, host + first, each * sizeof(int), cudaMemcpyHostToDevice, streams[i]);
    twice<<<1, 64, 0, streams[i]>>>(&device[first], each);
    cudaMemcpyAsync(&host[first], &device[first], each * sizeof(int), cudaMemcpyDeviceToHost, streams[i]);
  }
  cudaEventRecord(done, streams[0]);
  cudaStreamWaitEvent(streams[1], done, 0);
  for (int i = 0; i < parts; i++) {
    cudaStreamSynchronize(streams[i]);
    cudaStreamDestroy(streams[i]);
  }
  long long sum = 0;
  for (int i = 0; i < n; i++) sum += host[i];
  printf("%lld\n", sum);
}
]] },
  { "two kernels in a loop", "", [[
#include <cstdio>
#include <utility>
__global__ void step(const double *from, double *to, int n) {
  int i = threadIdx.x;
  to[i] = i == 0 || i == n - 1 ? from[i] : (from[i - 1] + from[i + 1]) / 2;
}
__global__ void scale(double *x, double by) { x[threadIdx.x] *= by; }
int main() {
  const int n = 32;
  double *now, *next, host[n] = {0};
  host[0] = 100;
  cudaMallocManaged(&now, n * sizeof(double));
  cudaMallocManaged(&next, n * sizeof(double));
  for (int i = 0; i < n; i++) now[i] = host[i];
  int turn;
  for (turn = 1; turn <= 64; turn *= 2) {
    for (int k = 0; k < turn; ++k) {
      step<<<1, n>>>(now, next, n);
      std::swap(now, next);
    }
    scale<<<1, n>>>(now, 0.99);
    cudaDeviceSynchronize();
    if (now[1] < 1e-9) break;
  }
  printf("%d %.12g %.12g\n", turn, now[1], now[n / 2]);
}
]] },
  { "structures", "", [[
#include <cstdio>
typedef float real;
struct range { int first, count; };
typedef struct { real scale; struct { int x; } other; } unread;
struct job { float scale; int *out; unsigned count; };
__global__ void run(job it, range part) {
  if (threadIdx.x < it.count) it.out[threadIdx.x] = (int)(it.scale * (part.first + threadIdx.x));
}
int main() {
  job it;
  real third = 1.0 / 3;
  range part;
  part.first = 3;
  part.count = 4;
  part.count = part.count + 5;
  it.scale = 1.5;
  it.count = part.count;
  cudaMalloc(&it.out, it.count * sizeof(int));
  run<<<1, 32>>>(it, part);
  int host[9], all = 0;
  cudaMemcpy(host, it.out, 9 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 9; i++) all = all * 3 + host[i];
  unsigned hash = 2166136261u;
  for (int i = 0; i < 9; i++) hash = (hash ^ host[i]) * 16777619u;
  printf("%.9f %d %u %d\n", third, all, hash, it.scale > 1 && !part.first ? 1 : 2);
}
]] },
  { "functions that check and functions that compute", "", [[
#include <cstdio>
#include <cstdlib>
#include <cmath>
int calls = 0;
const float limit = 1e-6f;
inline cudaError_t check(cudaError_t result, const char *what) {
  if (result != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
    exit(-1);
  }
  return result;
}
__global__ void root(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = sqrtf(x[threadIdx.x]); }
bool is_near(float a, float b) {
  calls++;
  return fabs(a - b) <= limit * fmaxf(fabs(a), 1.0f);
}
float compare(const float *x, int n) {
  float most = 0;
  for (int i = 0; i < n; i++) {
    if (!is_near(x[i], sqrtf((float)i))) return -1;
    most = x[i] > most ? x[i] : most;
  }
  return most;
}
int main() {
  int n = 30;
  size_t bytes = n * sizeof(float);
  float *x = (float *)malloc(n * sizeof(float)), *dx = NULL;
  cudaError_t err = cudaSuccess;
  err = cudaMalloc((void **)&dx, bytes);
  if (err != cudaSuccess) {
    fprintf(stderr, "no memory\n");
    exit(EXIT_FAILURE);
  }
  for (int i = 0; i < n; i++) x[i] = i;
  check(cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice), "copy");
  root<<<1, 32>>>(dx, n);
  auto waited = cudaDeviceSynchronize();
  if (waited || cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 1;
  check(cudaMemcpy(x, dx, bytes, cudaMemcpyDeviceToHost), "back");
  const float most = compare(x, n);
  printf("%.6f after %d calls, %d blocks, %s\n", most, calls, (int)ceil((float)n / 8), dx ? "there" : "nowhere");
  cudaFree(dx);
  exit(3);
}
]] },
  { "sizes that a name has twice", "", [[
#include <cstdio>
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
int main() {
  int n = 8, host[8] = {0}, *x;
  size_t bytes = n * sizeof(int);
  cudaMalloc(&x, bytes);
  cudaMemset(x, 0, bytes);
  for (int i = 0; i < n; i++) host[i] = i + 1;
  if (host[0] == 1) {
    int n = 3, *y;
    cudaMalloc(&y, bytes);
    cudaMemcpy(x, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(y, x, bytes, cudaMemcpyDeviceToDevice);
    twice<<<1, 8>>>(y);
    cudaMemcpy(host, y, bytes, cudaMemcpyDeviceToHost);
  }
  printf("%d %d %d %d\n", host[0], host[2], host[3], host[7]);
}
]] },
  { "words of the command line", "-- 12 0.5 x", [[
#include <cstdio>
#include <cstdlib>
__global__ void fill(float *x, float by) { x[blockIdx.x] = by * blockIdx.x; }
int main(int argc, char **argv) {
  if (argc < 3) {
    printf("two words are wanted\n");
    return 2;
  }
  int n = atoi(argv[1]), n8 = (n + 7) / 8 * 8, end = -n / 5;
  float by = atof(argv[2]), last;
  char *name = argv[3];
  float *x;
  cudaMalloc(&x, n8 * sizeof(float));
  fill<<<n8, 1>>>(x, by);
  cudaMemcpy(&last, x + n8 - 1, sizeof(float), cudaMemcpyDeviceToHost);
  while (n8 > n) n8--;
  printf("%d %5.2f|%-4s|%c%3d %x\n", end, last, name, 'a', n8, end);
  return n8;
}
]] },
}


-- Statements of a main after a line that is not translated, and the errors that the script has: each by its line, and
-- what it is about.
local PARTS <const> = {
  { "what a call of a library may change",
    "  library(h, n);\n  int m = 3;\n  printf(\"%d\\n\", h[0] + m);\n  h[1] = 2;",
    { [[9: 'h' is needed here, and line 7, which may change it, has not been translated]] } },
  { "memory with two names", "  int *same = h;\n  library(same);\n  h[0] = 1;",
    { [[9: 'h' is needed here, and line 8, which may change it, has not been translated]] } },
  { "what a loop leaves for its next turn", "  for (int i = 0; i < n; i++) {\n    h[i] = i;\n    library(h);\n  }",
    { "9: this has not been translated" } },
  { "one branch of two", "  if (n > 3) library(h); else h[0] = 1;\n  h[2] = 1;",
    { [[7: 'h' is needed here, and line 7, which may change it, has not been translated]],
      [[8: 'h' is needed here, and line 7, which may change it, has not been translated]] } },
  { "a value that is written anew", "  library(&n);\n  n = 4;\n  n++;", {} },
  { "what may jump", "  if (library(n)) return 1;\n  n++;", { "7: this has not been translated" } },
  { "a function that may end the program", "  usage(library(n));\n  int m = 2;",
    { "7: this has not been translated" } },
  { "a function with a line that is not", "  outer(h);\n  n++;", { "5: this has not been translated" } },
  { "a variable of the device", "  fill<<<library(1), 32>>>(h);\n  cudaMemcpyFromSymbol(&n, seen, sizeof(n));",
    { [[8: 'seen' is needed here, and line 7, which may change it, has not been translated]] } },
  { "what only prints", "  printf(\"%p\\n\", h);\n  h[0] = n;", {} },
  { "std::cout, which keeps its form", "  std::cout << std::setprecision(3) << n;\n  std::cout << n;",
    { [[8: 'cout' is needed here, and line 7, which may change it, has not been translated]] } },
}

local BEFORE <const> = [[
__device__ int seen;
__global__ void fill(int *x) { x[threadIdx.x] = seen; }
int library(...);
void usage(int code) { exit(code); }
void outer(int *x) { library(x); }
int main() { int n = 32, *h = (int *)malloc(n * sizeof(int));
]]

describe("moonwarp port", function()
  for _, one in ipairs(PROGRAMS) do
    it("translates " .. one[1], function()
      in_folder(function(moonwarp, folder)
        support.write(folder .. "/p.cu", one[3])
        local status, output = moonwarp "port p.cu --out p.lua"
        assert.are.equal(0, status, output)
        local script = support.read(folder .. "/p.lua")
        assert.is_truthy(output:find("^moonwarp: 'p.cu': %d+ statements translated, no comments in place of any; "
          .. "to run it: moonwarp run p.lua\n$"), output .. script)
        local wanted, shown = moonwarp("run p.cu --device cpu " .. one[2])
        local got, printed = moonwarp("run p.lua --device cpu --quiet " .. one[2])
        assert.are.equal(shown, printed, script)
        assert.are.equal(wanted, got, script)
      end)
    end)
  end

  for _, one in ipairs(PARTS) do
    it("stops where it has to: " .. one[1], function()
      in_folder(function(moonwarp, folder)
        support.write(folder .. "/p.cu", BEFORE .. one[2] .. "\n}\n")
        local status, script = moonwarp "port p.cu 2>err"
        assert.are.equal(0, status, script)
        assert.is_truthy(support.read(folder .. "/err"):find "comments in place of %d\n$", script)
        local errors = {}
        for text in script:gmatch 'error%("p.cu:([^"]*)", 0%)' do errors[#errors + 1] = text end
        assert.are.same(one[3], errors, script)
        assert.is_truthy(script:find "\n *%-%- p.cu:%d+: ", script)
        assert.is_truthy(load(script), script)
      end)
    end)
  end

  it("keeps what it cannot read, and the script says why it stops", function()
    in_folder(function(moonwarp, folder)
      support.write(folder .. "/p.cu", BEFORE .. '  printf("%d\\n", n);\n  library(h,\n          n);\n  h[0] = 1;\n}\n')
      moonwarp "port p.cu --out p.lua"
      assert.is_truthy(support.read(folder .. "/p.lua"):find("\n-- p.cu:8: library(h,\n--           n);\n", 1, true))
      local status, output = moonwarp "run p.lua --device cpu"
      assert.are.equal(1, status)
      local why = "'h' is needed here, and line 8, which may change it, has not been translated"
      assert.is_truthy(output:find("^32\nmoonwarp: p.cu:10: " .. why .. "\n"), output)
    end)
  end)

  it("writes what docs/programs.md shows", function()
    in_folder(function(moonwarp, folder)
      local page = support.read(support.core.home() .. "/docs/programs.md")
      support.write(folder .. "/dot.cu", page:match "```cpp\n(.-)```")
      assert.are.equal(page:match "```lua\n(%-%- The host part.-)```", (select(2, moonwarp "port dot.cu 2>err")))
      moonwarp "port dot.cu --out dot.lua"
      local status, output = moonwarp "run dot.lua --device cpu --quiet -- 5000"
      assert.are.equal("30000, expected 30000\n", output)
      assert.are.equal(0, status)
    end)
  end)

  it("reads macros and headers as they are given", function()
    in_folder(function(moonwarp, folder)
      lfs.mkdir(folder .. "/more")
      support.write(folder .. "/more/own.h", "#define BLOCK 4\nstatic int twice(int n) { return 2 * n; }\n")
      support.write(folder .. "/p.cu", [[
#include "own.h"
#ifndef N
#define N 7
#endif
__global__ void k() { if (threadIdx.x == BLOCK - 1) printf("%d\n", N); }
int main() {
#if N == 5
  k<<<1, BLOCK>>>();
#else
  another();
#endif
  printf("%d\n", twice(N));
  return cudaDeviceSynchronize();
}
]])
      local script = select(2, moonwarp "port p.cu -I more -D N=5 --out p.lua") and support.read(folder .. "/p.lua")
      local module = 'dev:module { file = "p.cu", includes = { "more" }, defines = { "N=5" } }'
      assert.is_truthy(script:find(module, 1, true), script)
      assert.is_truthy(script:find("\nlocal N <const> = 5\n", 1, true), script)
      assert.are.equal("5\n10\n", select(2, moonwarp "run p.lua --device cpu"))
    end)
  end)

  it("says what it cannot do", function()
    in_folder(function(moonwarp, folder)
      support.write(folder .. "/nomain.cu", "__global__ void k() {}\n")
      support.write(folder .. "/nokernel.cu", "int main() { return 0; }\n")
      support.write(folder .. "/open.cu", "__global__ void k() {}\nint main() {\n")
      support.write(folder .. "/notes.txt", "")
      support.write(folder .. "/there.lua", "mine")
      support.write(folder .. "/p.cu", BEFORE .. "}\n")
      for words, message in pairs {
        ["port"] = "port wants a CUDA program, as in moonwarp port program.cu --out program.lua",
        ["port none.cu"] = "none.cu: No such file or directory",
        ["port notes.txt"] = "'notes.txt' is no CUDA program: port wants a file in C++, as in program.cu",
        ["port p.cu q.cu"] = "'q.cu' is one word too many",
        ["port nomain.cu"] = "'nomain.cu' has no main: moonwarp new nomain nomain.cu writes a script that runs its "
          .. "kernels",
        ["port nokernel.cu"] = "'nokernel.cu' has a main and no kernel: port takes the file with both",
        ["port open.cu"] = "open.cu:2: a bracket has no partner",
        ["port p.cu --out there.lua"] = "there is a 'there.lua' already; take another name",
        ["port p.cu --out no/p.lua"] = "no/p.lua: No such file or directory",
      } do
        local status, output = moonwarp(words)
        assert.are.equal("moonwarp: " .. message .. "\n", output)
        assert.are.equal(2, status, output)
      end
      assert.are.equal("mine", support.read(folder .. "/there.lua"))
    end)
  end)
end)
