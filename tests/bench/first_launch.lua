-- SPDX-License-Identifier: MIT
--
-- The first launch of a new kernel of 20 lines: compiled, loaded, launched, finished; and the same again from the
-- cache on disk. To reach: 120 ms and 5 ms, on the CPU device with g++ and on CUDA.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local rounds = mw.arg("rounds", 7, "kernels compiled")

-- %s: a number that no kernel had before, so that nothing is found in the cache.
local SOURCE = [[
// kernel %s
__device__ float weight(float distance) {
  return 1.0f / (1.0f + distance * distance);
}

__global__ void smooth(float *out, const float *in, int n, float scale) {
  __shared__ float tile[258];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = threadIdx.x + 1;
  tile[at] = i < n ? in[i] : 0.0f;
  if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
  if (threadIdx.x == blockDim.x - 1) tile[at + 1] = i + 1 < n ? in[i + 1] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int k = -1; k <= 1; k++) {
    sum += weight((float)k) * tile[at + k];
  }
  if (i < n) out[i] = scale * sum;
}
// end of kernel %s
]]

local function launch_seconds(dev, source, x, y)
  local start = core.clock()
  local module <close> = dev:module { source = source, name = "smooth.cu" }
  module:kernel("smooth"):launch(4, 256, y, x, 1024, 0.5)
  dev:synchronize()
  return core.clock() - start, module:from_cache()
end

local function measure(dev, name)
  local x, y = dev:array("f32", 1024):fill(1), dev:array("f32", 1024)
  local new, cached = {}, {}
  for i = 0, rounds do -- round 0 also loads the compiler and is not counted
    local mark = ("%d-%d-%d"):format(os.time(), math.floor(core.clock() * 1e9), i)
    local source = SOURCE:gsub("%%s", mark)
    new[i] = launch_seconds(dev, source, x, y)
    local hit
    cached[i], hit = launch_seconds(dev, source, x, y)
    if not hit then print("  note: the second compilation did not come from the cache") end
  end
  lab.bound("first launch, " .. name, lab.median(new), 0.120, "s")
  lab.bound("from the cache, " .. name, lab.median(cached), 0.005, "s")
end

lab.setenv("MOONWARP_CXX", "g++")
measure(mw.device "cpu", "CPU device, g++")
local cuda = lab.device(mw, "cuda")
if cuda then measure(cuda, cuda:name()) end
