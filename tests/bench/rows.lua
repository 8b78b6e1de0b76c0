-- SPDX-License-Identifier: MIT
--
-- A block for each row of a matrix on the CPU device, where the row is shorter than the block: 64 columns with 128 and
-- with 256 threads over as many columns as threads, in turn. The vector has exactly as many elements as the matrix has
-- columns: behind it is an inaccessible area. To reach: at most 2 times.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local rows = mw.arg("rows", 16384, "rows")
local columns = mw.arg("n", 64, "columns of the short rows")
local rounds = mw.arg("rounds", 21, "samples of each")

local HEAD <const> = [[
  __global__ void k(float *y, const float *A, const float *x, int n) {
    const int t = threadIdx.x;
    A += (size_t)blockIdx.x * n;
    float s = 0;
]]
local TREE <const> = [[
    __shared__ float part[256];
    part[t] = s;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
      if (t < k) part[t] += part[t + k];
      __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = part[0];
]]
local ALONE <const> = "y[blockIdx.x * blockDim.x + t] = s;\n"
local STRIDE <const> = "for (int j = t; j < n; j += blockDim.x) s += A[j] * x[j];\n"

local cases <const> = {
  { "a block-stride loop, a tree", STRIDE .. TREE },
  { "a block-stride loop, no barrier", STRIDE .. ALONE },
  { "a bounds check, a tree", "if (t < n) s = A[t] * x[t];\n" .. TREE },
}

local dev <const> = mw.device "cpu"

local function call(kernel, n, threads)
  local A <const>, x <const> = dev:array("f32", n * rows):random(1), dev:array("f32", n):random(2)
  local y <const> = dev:zeros("f32", rows * threads)
  local go <const> = kernel:prepare { grid = rows, block = threads }
  return function() go(y, A, x, n) end
end

print(("%d rows, %s"):format(rows, dev:name()))
for _, case in ipairs(cases) do
  local kernel <const> = dev:module({ source = HEAD .. case[2] .. "}\n" }).k
  for _, threads in ipairs { 128, 256 } do
    local medians <const> = lab.alternate({ call(kernel, columns, threads), call(kernel, threads, threads) }, rounds)
    lab.compare { name = ("%s, %d"):format(case[1], threads), ours = medians[1],
                  other_name = threads .. " columns", other = medians[2], ratio = medians[1] / medians[2], most = 2 }
  end
end
