-- SPDX-License-Identifier: MIT
--
-- Cooperative groups on the CPU device over what they stand for: the same kernel with the block's and a tile's members,
-- and with __syncthreads() and warp operations, both by the split engine, in one process, in turn. CPU time, of all
-- threads; the results are equal. To reach: at most 1.05.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 1 << 20, "numbers")
local rounds = mw.arg("rounds", 41, "samples of each")
local seconds = mw.arg("seconds", 0.02, "least time of a sample")

local MOST <const> = 1.05
local THREADS <const> = 256

local HEAD <const> = [[
  #include <cooperative_groups.h>
  #include <cooperative_groups/reduce.h>
  namespace cg = cooperative_groups;
  __global__ void k(float *out, const float *in) {
    __shared__ float s[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = in[i];
]]

local BLOCK <const> = "const cg::thread_block block = cg::this_thread_block();\n"
local TILE <const> = BLOCK .. "const auto tile = cg::tiled_partition<32>(block);\n"

local TREE <const> = [[
  s[t] = v;
  %s
  for (int d = 128; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; %s }
  out[i] = s[0] + v;
]]

-- name, the groups' own, what they stand for
local cases <const> = {
  { "cg::sync(block)", BLOCK .. TREE:gsub("%%s", "cg::sync(block);"), TREE:gsub("%%s", "__syncthreads();") },
  { "block.sync()", BLOCK .. TREE:gsub("%%s", "block.sync();"), TREE:gsub("%%s", "__syncthreads();") },
  { "tile.sync()",
    TILE .. "for (int d = 1; d < 32; d *= 2) { s[t] = v; tile.sync(); v += s[t ^ d]; tile.sync(); } out[i] = v;",
    "for (int d = 1; d < 32; d *= 2) { s[t] = v; __syncwarp(); v += s[t ^ d]; __syncwarp(); } out[i] = v;" },
  { "tile.shfl_down()", TILE .. "for (int d = 16; d > 0; d /= 2) v += tile.shfl_down(v, d); out[i] = v;",
    "for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d); out[i] = v;" },
  { "tile.shfl()", TILE .. "for (int d = 0; d < 8; d++) v += tile.shfl(v, d); out[i] = v;",
    "for (int d = 0; d < 8; d++) v += __shfl_sync(0xffffffff, v, d); out[i] = v;" },
  { "cg::reduce(tile)", TILE .. "out[i] = cg::reduce(tile, v, cg::plus<float>());",
    "for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d); out[i] = v;" },
  { "tile.any(), all()", TILE .. "out[i] = tile.any(v > 0.99f) + 2 * tile.all(v > 0.01f);",
    "out[i] = __any_sync(0xffffffff, v > 0.99f) + 2 * __all_sync(0xffffffff, v > 0.01f);" },
  { "tile.ballot()", TILE .. "out[i] = __popc(tile.ballot(v > 0.5f));",
    "out[i] = __popc(__ballot_sync(0xffffffff, v > 0.5f));" },
}

local dev <const> = mw.device "cpu"
local input <const> = dev:array("f32", n):random(1)

local function open(body)
  local kernel <const> = dev:module({ source = HEAD .. body .. "}\n", name = "groups.cu" }).k
  local out <const> = dev:zeros("f32", n)
  assert(kernel:engine() == "split", select(2, kernel:engine()))
  local go <const> = kernel:prepare { grid = n // THREADS, block = THREADS }
  return function() go(out, input) end, out
end

-- CPU seconds of a call.
local function time(fn, batch)
  local begin <const> = os.clock()
  for _ = 1, batch do fn() end
  return (os.clock() - begin) / batch
end

local function measure(name, ours, theirs)
  local first <const>, got <const> = open(ours)
  local second <const>, expected <const> = open(theirs)
  first()
  second()
  mw.check(got, expected, { exact = true, quiet = true })
  local batch <const> = math.max(1, math.ceil(seconds / time(second, 1)))
  local a <const>, b <const>, ratios <const> = {}, {}, {}
  for i = 1, rounds do
    a[i], b[i] = time(first, batch), time(second, batch)
    ratios[i] = a[i] / b[i]
  end
  local ratio <const> = lab.median(ratios)
  print(("  %-18s %8.3f ms   over %8.3f ms   ratio %.2f   %s"):format(name, lab.median(a) * 1e3, lab.median(b) * 1e3,
    ratio, ratio <= MOST and "reached" or "missed"))
end

print(("f32 %d, %s, CPU time, %d rounds; to reach: at most %.2f"):format(n, dev:name(), rounds, MOST))
for _, case in ipairs(cases) do measure(table.unpack(case)) end
