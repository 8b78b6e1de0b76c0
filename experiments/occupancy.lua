-- SPDX-License-Identifier: MIT
--
-- occupancy: how many threads must a multiprocessor hold?
--
-- A copy with 1 to 8 loads in flight per thread, whose blocks are limited by shared memory that they do not use; 32
-- numbers sorted in registers, whose blocks are limited by the registers, and registers by launch bounds and by the
-- compiler's option; Oxford's three cases, 4 blocks of 512 threads, 12 of 128 and 4 of 128 "fat" ones. T_tot = 2 arrays
-- / t. `warps` is computed by the rules of the device's architecture: active warps per multiprocessor. The last part
-- compares them with what the blocks count, and computes them for offline targets. See docs/studies/occupancy.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local COLUMN <const>, REACH <const>, PIECE <const>, EACH <const> = 32, 16, 11264, 16 -- as in the kernels

local study, p, gpu = mw.study {
  question = "how many threads must a multiprocessor hold?", kernels = "occupancy.cu", rate = "T_tot", output = "y",
  course = { week = 5.2, level = 2, hours = 3, about = "warps against loads in flight",
             without_gpu = "the calculator, for offline targets" },
  type = "f32", level = "library copy", seconds = { 0.02, gpu = 0.05 },
  units = { spilled = "B", in_flight = "B", latency = "s" },
  odd = { { n = 100003 } },
  params = {
    { "n", 1 << 20, "elements of both arrays", gpu = 1 << 28, min = COLUMN, max = 1 << 30 },
    { "shared", { 0 }, "KiB of shared memory that a block of the copy asks for",
      gpu = { 0, 31, 36, 44, 55, 74, 112, 220 }, min = 0, max = 227 },
    { "archs", { "sm_75", "sm_86", "sm_90" }, "architectures of the last chart, without a GPU" },
    { "patience", 1000, "how often a block looks whether all have come", gpu = 100000, min = 1 },
  },
}

function study.arrays(c)
  local x = c.dev:array("f32", c.n + 2 * REACH):random(7)
  return { x = x, y = c.dev:array("f32", c.n), source = x:view(1, c.n), columns = c.n // COLUMN }
end

-- ---- what is right ----------------------------------------------------------------------------------
local function both(c) return 8 * c.n end

study:library("source", "y")
study:answer("sorted", { bytes = both, tolerance = function() return { absolute = 0 } end, cell = function(c, at, i)
  local column = {}
  for k = 1, COLUMN do column[k] = at.x((i - 1) % c.columns + 1 + (k - 1) * c.columns) end
  table.sort(column)
  return column[(i - 1) // c.columns + 1]
end })
study:answer("filtered", { bytes = both, tolerance = function(c) return { absolute = 8 * c.eps } end,
  cell = function(_, at, i)
    local sum = 0
    for k = 0, 2 * REACH do sum = sum + (REACH + 1 - math.abs(k - REACH)) / (REACH + 1) ^ 2 * at.x(i + k) end
    return sum
  end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- What a multiprocessor holds of a kernel at once.
local function held(c, kernel, threads, shared, how)
  local k = c:kernel(kernel, how)
  local attributes, blocks = k:attributes(), k:occupancy(threads, shared or 0).blocks
  return { blocks = blocks, warps = blocks * ceil_div(threads, 32), registers = gpu and attributes.registers or nil,
           spilled = attributes.spill_loads,
           occupancy = blocks * threads / c.dev:properties().max_threads_per_multiprocessor }
end

for i, loads in ipairs { 1, 2, 4, 8 } do
  local function shared(c) return c.shared * 1024 end
  study:rung { i, ("%d load%s"):format(loads, loads > 1 and "s" or ""), answer = "copy", block = 256,
    kernel = ("flight<%d>"):format(loads), over = { "n" }, each = loads, shared = function(c) return shared(c) end,
    when = function(c) return c.shared ~= nil end, fields = function(c)
      local fields = held(c, ("flight<%d>"):format(loads), 256, shared(c))
      fields.in_flight = fields.warps * 32 * 4 * loads
      return fields
    end }
end

local function sorted(number, name, kernel, compile)
  study:rung { number, name, answer = "sorted", block = 256, kernel = kernel, over = { "columns" }, compile = compile,
               fields = function(c) return held(c, kernel, 256, 0, { compile = compile }) end }
end
sorted(5, "as compiled", "sorted<%s>")
for i, blocks in ipairs { 6, 8 } do
  sorted(5 + i, ("bounds: %d blocks"):format(blocks), ("sorted_bounded<%d>"):format(blocks))
end
sorted(8, "at most 32 registers", "sorted<%s>", { max_registers = 32 })
sorted(9, "at most 24 registers", "sorted<%s>", { max_registers = 24 })

-- `limit`: KiB of shared memory that leaves room for fewer blocks.
local function filter(number, name, kernel, threads, each, limit)
  local bytes = gpu and (limit or 0) * 1024 or 0
  study:rung { number, name, answer = "filtered", file = "filter.cu", block = threads, kernel = kernel,
               grid = function(c) return ceil_div(c.n, each) end, shared = function() return bytes end,
               fields = function(c) return held(c, kernel, threads, bytes, { file = "filter.cu" }) end }
end
filter(10, "4 x 512, shared memory", "filter_big", 512, PIECE)
filter(11, "12 x 128", "filter_small", 128, 128)
filter(12, "4 x 128, fat threads", "filter_fat", 128, 128 * EACH, 52)
filter(13, "fat threads, no limit", "filter_fat", 128, 128 * EACH)

-- ---- parts ------------------------------------------------------------------------------------------
local SHARE <const> = { "share", title = "of the copy", unit = "%", digits = 3 }
local OCCUPANCY <const> = { "occupancy", unit = "%", digits = 3 }

study:part { "flight", cases = { { n = p.n, shared = p.shared } }, odd = { { n = 100003, shared = { 0, 8 } } },
  rungs = { "copy" }, rows = "all",
  derive = function(records, c) -- by Little's law; where the rate is below the copy's, that of memory
    for _, r in ipairs(gpu and records or {}) do
      r.latency = r.in_flight and r.in_flight * c.dev:properties().multiprocessors / (r.T_tot / 2)
    end
  end,
  table = { "rung", { "shared", title = "shared (KiB)" }, "blocks", "warps", OCCUPANCY, "in_flight", "latency",
            "T_tot", SHARE },
  charts = { not gpu and { kind = "ladder" } or -- whose cores hold one block each
             { x = "warps", by = "rung", xlabel = "active warps per multiprocessor",
               of = function(r) return r.rung ~= "library copy" end } } }

study:part { "registers", cases = { { n = p.n // COLUMN * COLUMN } }, odd = { { n = 1003 * COLUMN } },
  rungs = { "library copy", "sorted" }, charts = { { kind = "ladder", logx = not gpu } },
  table = { { "number", title = "no." }, "rung", "registers", "spilled", "warps", OCCUPANCY, "t", "T_tot", SHARE },
  ratios = { "bounds: 6 blocks / as compiled", "bounds: 8 blocks / as compiled",
             "at most 32 registers / bounds: 8 blocks", "at most 24 registers / as compiled" } }

study:part { "cases", cases = { { n = p.n } }, rungs = { "library copy", "filtered" },
  charts = { { kind = "ladder", logx = not gpu } },
  table = { { "number", title = "no." }, "rung", "registers", "blocks", "warps", OCCUPANCY, "t", "T_tot", SHARE },
  ratios = { "4 x 512, shared memory / 12 x 128", "4 x 128, fat threads / 12 x 128",
             "fat threads, no limit / 4 x 128, fat threads" } }

-- By the rules, and as counted by blocks that wait for each other; none may be held beyond the rules.
local function count(dev, module)
  local kernel, counts, records = module.count_blocks, dev:array("u32", 2), {}
  for _, threads in ipairs { 32, 64, 128, 256, 512, 1024 } do
    local blocks = kernel:occupancy(threads).blocks
    local most = blocks * dev:properties().multiprocessors
    counts:fill(0)
    kernel:prepare { grid = 2 * most, block = threads }(counts, most, p.patience)
    local counted = counts:get(2)
    mw.check(counts:fill(math.max(counted, most)), most, { name = ("blocks of %d threads at once"):format(threads) })
    records[#records + 1] = mw.record { group = "rules", threads = threads, blocks = blocks, at_once = most,
                                        counted = counted }
  end
  mw.table { "threads", "blocks", { "at_once", title = "on the device" }, "counted", records = records,
             title = "occupancy: blocks per multiprocessor, and how many blocks ran at once" }
end

-- For offline targets, if the CUDA toolkit is installed.
local function compute(module)
  local records = {}
  for _, arch in ipairs(p.archs) do
    for threads = 32, 1024, 32 do
      local ok, found = pcall(mw.occupancy, { module:kernel "sorted<float>", arch = arch, block = threads })
      if not ok then return mw.remark("Nothing is computed for %s: %s", arch, found.text) end
      records[#records + 1] = mw.record { group = "architectures", arch = arch, threads = threads, kernel = "sorted",
                                          blocks = found.blocks, warps = found.blocks * (threads // 32),
                                          limit = found.limit, device = "cuda:" .. arch }
    end
  end
  mw.plot { records = records, x = "threads", y = "warps", by = "arch", points = false, xlabel = "threads per block",
            name = "occupancy-architectures", title = "occupancy: active warps of the sorting kernel, computed" }
end

study:part { "rules", run = function()
  local module = study.dev:module { file = "occupancy.cu", templates = { "sorted<float>" } }
  count(study.dev, module)
  compute(module)
end }
return study
