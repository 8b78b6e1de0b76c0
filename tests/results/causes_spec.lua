-- SPDX-License-Identifier: MIT
--
-- What bounds a piece of work (results/causes.lua), from counters and ceilings as an H200 has them: of each cause one
-- that it bounds. The bounds of real kernels are in tests/explain.

local causes = require "moonwarp.results.causes"
local counters = require "moonwarp.measure.counters"
local lists = require "moonwarp.base.lists"

local CEILINGS <const> = { read = 4.3e12, triad = 4.2e12, read_l2 = 6e12, triad_l2 = 5e12, read_l1 = 25e12,
  shared = 30e12, f32 = 60e12, f64 = 30e12, tensor_f16 = 600e12, rsqrt_f32 = 4e12, atomic = 2e12, atomic_same = 2e9,
  launch = 2e-6, blocks = 2e9, to_device = 55e9, to_host = 55e9 }
local PROCESSORS <const>, CLOCK <const> = 132, 1.9e9
local T <const> = 1e-3

-- A call of one launch that takes a millisecond; counted: what is not 0.
local function of(counted, more)
  local all = {}
  for _, one in ipairs(counters.list) do all[one.name] = 0 end
  all.instructions, all.thread_instructions = 1000, 32000
  all.load_bytes, all.store_bytes = nil, nil -- ncu has none
  all = lists.merged(all, counted)
  for _, figure in ipairs(counters.figures) do all[figure.name] = counters.value(all, figure.name) end
  local launch = { kernel = "k", grid = { 4096, 1, 1 }, block = { 256, 1, 1 }, count = 1, counted = all, blocks = 8,
                   occupancy = 1.0, limit = "threads: a multiprocessor holds 2048, which is 8 blocks of 256" }
  return lists.merged({ name = "k", t = T, launches = { launch }, copies = {}, is_gpu = true, ceilings = CEILINGS,
                        device = { multiprocessors = PROCESSORS, clock_max = CLOCK } }, more)
end

local function first(one)
  local found = causes.of(one)
  return found[1] and ("%s %.2f"):format(found[1].cause, found[1].share), found[1] and found[1].evidence, found
end

local function launch_of(one, more)
  one.launches = { lists.merged(one.launches[1], more) }
  return one
end

local ALL_ISSUED <const> = 4 * PROCESSORS * CLOCK * T // 1 | 0

describe("what bounds a kernel", function()
  for name, case in pairs {
    ["memory, of reads and writes"] = { of { dram_read_bytes = 2e9, dram_write_bytes = 2e9 }, "memory 0.95" },
    ["memory, of reads"] = { of { dram_read_bytes = 4.3e9 // 1 }, "memory 1.00" },
    ["the second-level cache"] = { of { l2_read_bytes = 5.7e9 // 1, dram_read_bytes = 1e7 }, "l2 0.95" },
    ["the first-level caches"] = { of { l1_bytes = 20e9, l2_read_bytes = 1e9 }, "l1 0.80" },
    ["shared memory"] = { of { shared_load_wavefronts = 30e9 // 128 }, "shared 1.00" },
    ["bank conflicts"] = { of { shared_load_wavefronts = 30e9 // 128, shared_load_conflicts = 29e9 // 128 },
      "conflicts 0.97" },
    ["scattered accesses"] = { of { load_requests = 1e6 // 1, load_sectors = 32e6 // 1, load_lane_bytes = 128e6 // 1,
      dram_read_bytes = 4e9 }, "uncoalesced 0.90" },
    ["operations in f64"] = { of { f64_fma = 14e9, instructions = 600e6 // 1, thread_instructions = 19200e6 // 1 },
      "f64 0.93" },
    ["operations in f32"] = { of { f32_fma = 28e9, instructions = 0.93 * ALL_ISSUED // 1,
      thread_instructions = 32 * (0.93 * ALL_ISSUED // 1) }, "f32 0.93" },
    ["instructions"] = { of { f32_add = 14e9, f32_mul = 14e9, instructions = 0.93 * ALL_ISSUED // 1,
      thread_instructions = 32 * (0.93 * ALL_ISSUED // 1) }, "issue 0.93" },
    ["tensor cores"] = { of { tensor_f16 = 540e9 }, "tensor_f16 0.90" },
    ["special functions"] = { of { special_instructions = 4e9 // 32 }, "special 1.00" },
    ["divergence"] = { of { f32_fma = 14e9, instructions = 0.93 * ALL_ISSUED // 1,
      thread_instructions = 16 * (0.93 * ALL_ISSUED // 1) }, "divergence 0.47" },
    ["atomics"] = { of { atomic_lanes = 1.8e9 // 1, l2_atomic_sectors = 0.225e9 // 1,
      l2_slice_atomic_sectors = 3e6 // 1 }, "atomics 0.90" },
    ["contention"] = { of { atomic_lanes = 1.8e6 // 1, l2_atomic_sectors = 1.8e6 // 1,
      l2_slice_atomic_sectors = 1.8e6 // 1 }, "contention 0.90" },
    ["latency"] = { of { dram_read_bytes = 1e8 }, "latency 0.98" },
    ["copies"] = { of({}, { copies = { to_device = 27.5e6 // 1, to_host = 22e6 // 1 } }), "transfers 0.90" },
    ["launches"] = { launch_of(of(), { count = 480, grid = { 132, 1, 1 } }), "launch 0.96" },
    ["beginnings of blocks"] = { launch_of(of(), { grid = { 1000, 1000, 2 } }), "blocks 1.00" },
    ["a small grid"] = { launch_of(of(), { grid = { 16, 1, 1 } }), "grid 1.00" },
    ["occupancy"] = { launch_of(of(), { blocks = 2, occupancy = 0.0625,
      limit = "shared memory: 103424 bytes per block allow 2 blocks" }), "occupancy 1.00" },
  } do
    it("is " .. name, function()
      local words, evidence = first(case[1])
      assert.are.equal(case[2], words)
      assert.is_truthy(evidence:find "%d", evidence)
    end)
  end

  it("has evidence with its numbers", function()
    local _, evidence = first(of { dram_read_bytes = 2e9, dram_write_bytes = 2e9 })
    assert.are.equal("4.00 TB/s of 4.20 TB/s (triad), counted by ncu", evidence)
    _, evidence = first(of { load_requests = 1e6 // 1, load_sectors = 32e6 // 1, load_lane_bytes = 128e6 // 1,
      dram_read_bytes = 4e9 })
    assert.are.equal("4.00 TB/s of 4.30 TB/s (read), counted by ncu; 97 % of the bytes are not asked for: 32 sectors "
      .. "per load, 4 needed", evidence)
    _, evidence = first(launch_of(of(), { blocks = 2, occupancy = 0.0625,
      limit = "shared memory: 103424 bytes per block allow 2 blocks" }))
    assert.are.equal("6 % of the threads that a multiprocessor can hold (shared memory: 103424 bytes per block allow 2 "
      .. "blocks); nothing is busy more than 0 % of the time", evidence)
  end)

  it("is told in order of effect", function()
    local _, _, found = first(of { dram_read_bytes = 1.72e9 // 1, special_instructions = 1e9 // 32 })
    assert.are.same({ "latency", "memory", "special" }, lists.map(found, function(one) return one.cause end))
    for _, one in ipairs(found) do
      assert.are.equal("string", type(one.try))
      assert.is_truthy(require("moonwarp.base.files").exists(require("moonwarp.core").home() .. "/experiments/"
        .. one.study .. ".lua"))
    end
  end)

  it("is not told of what has no number", function()
    local one = of()
    one.launches[1].counted = nil
    assert.are.same({}, (causes.of(one)))
    one.ceilings, one.bytes = {}, 1e9
    local found, lacks = causes.of(one)
    assert.are.same({ {}, { "blocks", "launch", "triad" } }, { found, lacks })
    assert.are.same({}, (causes.of(of({ dram_read_bytes = 1e8 }, { ceilings = {} })))) -- latency, as far as is known
  end)

  it("is by declared bytes and operations where nothing was counted", function()
    local one = of({}, { bytes = 3.78e9, flops = 1e9, record = { type = "f64" } })
    one.launches[1].counted = nil
    local words, evidence = first(one)
    assert.are.equal("memory 0.90", words)
    assert.are.equal("3.78 TB/s of 4.20 TB/s (triad), by the bytes that are declared", evidence)
    one.bytes = 4.9e9 -- more than memory gives
    assert.are.equal("l2 0.98", (first(one)))
  end)
end)

describe("the rules", function()
  it("name studies that there are, and each cause once", function()
    local seen = {}
    for _, rule in ipairs(causes.rules) do
      assert.is_nil(seen[rule.cause])
      seen[rule.cause] = true
      assert.is_true(require("moonwarp.base.files").exists(require("moonwarp.core").home() .. "/experiments/"
        .. rule.study .. ".lua"), rule.study)
    end
  end)
end)
