-- SPDX-License-Identifier: MIT
--
-- A whole program of 100 lines: its first run, with an empty cache, against g++ -O2 of its host text alone: the
-- program without the lines that end in "// device"; and its run from the cache. The best of several rounds of each.
--
--   moonwarp run tests/bench/program.lua [-- ROUNDS]

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local path = require "moonwarp.base.path"

local rounds = tonumber(arg[1] or 5)
local moonwarp = os.getenv "MOONWARP_PROGRAM" or "moonwarp"

local PROGRAM <const> = [[
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#define TILE 16

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t error = (call);                                                          \
    if (error != cudaSuccess) {                                                          \
      std::cerr << __FILE__ << ":" << __LINE__ << ": " << cudaGetErrorString(error) << "\n"; \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (0)

__global__ void multiply(const float *a, const float *b, float *c, int n) { // device
  __shared__ float ta[TILE][TILE], tb[TILE][TILE]; // device
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y; // device
  float sum = 0; // device
  for (int t = 0; t < (n + TILE - 1) / TILE; t++) { // device
    int ax = t * TILE + threadIdx.x, by = t * TILE + threadIdx.y; // device
    ta[threadIdx.y][threadIdx.x] = y < n && ax < n ? a[y * n + ax] : 0; // device
    tb[threadIdx.y][threadIdx.x] = by < n && x < n ? b[by * n + x] : 0; // device
    __syncthreads(); // device
    for (int k = 0; k < TILE; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x]; // device
    __syncthreads(); // device
  } // device
  if (x < n && y < n) c[y * n + x] = sum; // device
} // device

// A square matrix of the host.
class Matrix {
 public:
  explicit Matrix(int n) : side(n), values(n * n) {}
  void fill(unsigned seed) {
    for (float &value : values) {
      seed = seed * 1664525u + 1013904223u;
      value = (seed >> 8) / 16777216.0f - 0.5f;
    }
  }
  float *data() { return values.data(); }
  size_t bytes() const { return values.size() * sizeof(float); }
  float at(int row, int column) const { return values[row * side + column]; }

 private:
  int side;
  std::vector<float> values;
};

// Wall time.
static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The largest difference from the product that the host computes in double precision.
static double largest_error(const Matrix &a, const Matrix &b, const Matrix &c, int n) {
  double worst = 0;
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a.at(y, k) * b.at(k, x);
      worst = std::fmax(worst, std::fabs(sum - c.at(y, x)));
    }
  return worst;
}

// The words: the side of the matrices, and a name to print.

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string name = argc > 2 ? argv[2] : "product";
  Matrix a(n), b(n), c(n);
  a.fill(1);
  b.fill(2);
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.bytes()));
  CHECK(cudaMalloc(&db, b.bytes()));
  CHECK(cudaMalloc(&dc, c.bytes()));
  CHECK(cudaMemcpy(da, a.data(), a.bytes(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.bytes(), cudaMemcpyHostToDevice));


  dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
  double began = seconds();
  multiply<<<grid, block>>>(da, db, dc, n); // device
  CHECK(cudaDeviceSynchronize());
  double took = seconds() - began;
  CHECK(cudaMemcpy(c.data(), dc, c.bytes(), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  double error = largest_error(a, b, c, n);
  std::cout << name << ": " << n << " x " << n << ", largest error " << error << "\n";
  std::fprintf(stderr, "%g ms\n", 1e3 * took);
  return error < 1e-3 ? 0 : 1;
}
]]

local folder <const>, _ <close> = path.temporary()
local program, host, cache = folder .. "/program.cu", folder .. "/host.cpp", folder .. "/cache"
files.write(program, PROGRAM)
files.write(host, (("#include <cuda_runtime.h>\n" .. PROGRAM):gsub("[^\n]*// device\n", "")))

local function time(command)
  local began = core.clock()
  assert(os.execute(command .. " >/dev/null 2>&1"), command)
  return core.clock() - began
end

local run = ("MOONWARP_CACHE=%s %s run %s --device cpu"):format(cache, moonwarp, program)
local best = {}
local function note(name, seconds) best[name] = math.min(best[name] or math.huge, seconds) end
for _ = 1, rounds do
  os.execute("rm -rf " .. cache)
  note("host", time(("g++ -O2 -c -I%s/core/runtime/include %s -o %s/host.o"):format(core.home(), host, folder)))
  note("first", time(run))
  note("cached", time(run))
end
print(("g++ -O2 of the host text %.3f s\nfirst run %.3f s, %.2f times that\nfrom the cache %.3f s"):format(best.host,
  best.first, best.first / best.host, best.cached))
