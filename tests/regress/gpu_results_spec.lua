-- SPDX-License-Identifier: MIT
--
-- Public kernels rely on results that CUDA leaves undefined and every GPU gives: they come out the same on the CPU
-- device, and check mode finds them.
-- luacheck: std +busted

local support = require "tests.support"
local findings = require "moonwarp.measure.findings"
local lists = require "moonwarp.base.lists"
local session = require "moonwarp.session"
local mw = support.mw

local THREADS <const> = 80

-- As cuda-samples' reduce7 sums the warps' parts: the lanes that the mask leaves out count for nothing.
local SUM <const> = [[
  __device__ int warp_sum(unsigned mask, int v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(mask, v, d);
    return v;
  }
  __global__ void k(int *out, const int *in) {
    __shared__ int part[32];
    const int t = threadIdx.x, warps = (blockDim.x + 31) / 32;
    int v = warp_sum(0xffffffff, in[t]);
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    const unsigned ballot = __ballot_sync(0xffffffff, t < warps);
    if (t < warps) {
      v = warp_sum(ballot, part[t]);
      if (t == 0) out[0] = v;
    }
  }]]

-- Tiles of 8 lanes, each with its own mask: their neighbours take part and give 0 all the same.
local TILES <const> = [[
  __global__ void k(int *out, const int *in) {
    const int t = threadIdx.x;
    const unsigned m = 0xffu << (t & 24);
    out[t] = __shfl_down_sync(m, in[t], 4) + 1000 * __shfl_up_sync(m, in[t], 4)
      + 1000000 * __shfl_xor_sync(m, in[t], 8);
  }]]

-- Rodinia's histogram1024: a thread writes until its own value stays.
local HISTOGRAM <const> = [[
  __device__ void add(volatile unsigned *h, unsigned b, unsigned tag) {
    unsigned c;
    do {
      c = tag | ((h[b] & 0x07ffffff) + 1);
      h[b] = c;
    } while (h[b] != c);
  }
  __global__ void k(int *out, const int *in) {
    __shared__ unsigned h[80];
    const int t = threadIdx.x;
    h[t] = 0;
    __syncthreads();
    for (int i = 0; i < 50; i++) add(h, in[t] % 8, t << 27);
    __syncthreads();
    out[t] = h[t] & 0x07ffffff;
  }]]

-- As llm.c's softmax: no barrier between what all warps read of part[0] and what the first warp writes there. Warps
-- keep step between warp operations.
local WARPS <const> = [[
  __device__ int warp_max(int v) {
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
  }
  __global__ void k(int *out, const int *in) {
    __shared__ int part[32];
    const int t = threadIdx.x, w = t / 32;
    int v = warp_max(in[t]);
    if (t % 32 == 0) part[w] = v;
    __syncthreads();
    if (t == 0) part[0] = max(part[0], max(part[1], part[2]));
    __syncthreads();
    const int most = part[0];
    v = warp_max(most - in[t]);
    if (t % 32 == 0) part[w] = v;
    __syncthreads();
    out[t] = 1000 * most + part[w];
  }]]

-- The first lane writes and the others read, without __syncwarp() between: lanes follow each other.
local LANES <const> = [[
  __global__ void k(int *out, const int *in) {
    __shared__ int first[3];
    const int t = threadIdx.x, v = __shfl_down_sync(0xffffffff, in[t], 1);
    if (t % 32 == 0) first[t / 32] = v;
    out[t] = first[t / 32];
  }]]

local input <const> = {}
for i = 1, THREADS do input[i] = i * 7919 % 101 end

local function results(dev, source, engine)
  local module <close> = dev:module { source = source, name = "gpu.cu", engine = engine }
  local a <close> = dev:array("i32", THREADS)
  local out <close> = dev:zeros("i32", THREADS)
  a:upload(input)
  module.k:launch(1, THREADS, out, a)
  return out:totable()
end

-- What thread i, from 1, gets from a lane of its warp: its own value where the warp ends.
local function of_tile(i, lane)
  local own <const> = (i - 1) % 32
  if lane < 0 or lane > 31 then return input[i] end
  return lane // 8 == own // 8 and input[i + lane - own] or 0
end

local function expected()
  local sum, tiles, counts, warps, lanes = { 0 }, {}, {}, {}, {}
  local most <const> = math.max(table.unpack(input))
  for i = 1, THREADS do
    sum[i], counts[i] = 0, 0
    local warp <const> = (i - 1) // 32 * 32
    warps[i] = 1001 * most - math.min(table.unpack(input, warp + 1, math.min(warp + 32, THREADS)))
    lanes[i] = input[warp + 2]
    tiles[i] = of_tile(i, (i - 1) % 32 + 4) + 1000 * of_tile(i, (i - 1) % 32 - 4)
  end
  for i = 1, THREADS do
    sum[1] = sum[1] + input[i]
    counts[input[i] % 8 + 1] = counts[input[i] % 8 + 1] + 50
  end
  return { [SUM] = sum, [TILES] = tiles, [HISTOGRAM] = counts, [WARPS] = warps, [LANES] = lanes }
end

describe("what CUDA leaves undefined comes out as on a GPU:", function()
  support.no_leaks()
  local want <const> = expected()
  for name, source in pairs { ["a shuffle from a lane outside the mask"] = SUM, ["tiles by masks"] = TILES,
                              ["a volatile write that stays"] = HISTOGRAM,
                              ["warps without a barrier between them"] = WARPS,
                              ["lanes without a barrier between them"] = LANES } do
    it(name, function()
      local dev <const> = mw.device "cpu"
      for _, engine in ipairs { "split", "fiber" } do
        assert.are.same(want[source], results(dev, source, engine), engine)
      end
    end)
  end
end)

describe("check mode finds", function()
  session.current.settle_findings = function() end -- the findings are wanted: they fail no run

  local function found_in(source)
    local dev <const> = mw.device("cpu", { check = true })
    local before <const> = findings.counts()
    results(dev, source)
    local titles <const> = lists.map(findings.since(before), function(one) return one.kind .. ": " .. one.object end)
    return table.concat(titles, "\n")
  end

  it("a shuffle from a lane outside the mask", function()
    local found = found_in(SUM)
    assert.is_truthy(found:find("which does not take part", 1, true), found)
  end)

  it("a missing barrier between warps, and between lanes", function()
    for _, source in ipairs { WARPS, LANES } do
      local found = found_in(source)
      assert.is_truthy(found:find("race in shared memory", 1, true), found)
    end
  end)

  it("a volatile write that asks whether it stays", function()
    local found = found_in(HISTOGRAM)
    assert.is_truthy(found:find("race in shared memory", 1, true), found)
  end)
end)
