-- SPDX-License-Identifier: MIT
--
-- Twenty kernels with the cause that bounds each, and an experiment that shows it without any counter:
--   lever   the same result, or as much of it, with less of what bounds the kernel: the time falls
--   other   less of something else, or other threads: the time stays
-- moonwarp run tests/explain/set.lua runs the experiments and prints what they show; -p parts=kernels runs the
-- kernels alone, for moonwarp explain. judge.lua holds one against the other.

local mw = require "moonwarp"
local parts = mw.arg("parts", "all", "all, or only the kernels", { choices = { "all", "kernels" } })
local dev = mw.device()
local gpu = dev:kind() == "gpu"
local seconds = mw.arg("seconds", gpu and 0.03 or 0.1, "least time of a measurement")
local small = mw.arg("small", false, "little work: tries the kernels, measures nothing")

local FALLS <const>, STAYS <const> = 0.75, 0.85 -- a lever's time over the kernel's at most, another's at least
local BLOCK <const>, EACH <const> = 256, 16
local PROCESSORS <const> = dev:properties().multiprocessors
local STEPS <const> = small and 64 or gpu and 4096 or 2048
local FULL <const> = (gpu and 8 or 4) * PROCESSORS -- blocks that fill the device

-- As many at least as the threads of the largest grid.
local n = math.max(mw.arg("n", gpu and 1 << 26 or 1 << 22, "elements of the largest arrays"), 4 * FULL * BLOCK)

local module = dev:module "kernels.cu"
local ones = { f32 = dev:empty("f32", n):fill(1), f64 = dev:empty("f64", n // 2):fill(1),
               u16 = dev:empty("u16", n):fill(1) }
local out = { f32 = dev:empty("f32", n), f64 = dev:empty("f64", n // 2), u16 = dev:empty("u16", n) }
local host = { from = dev:pinned("f32", n // 4):fill(1), to = dev:pinned("f32", n // 4) }

-- ---- launches -------------------------------------------------------------------------------------------------------

-- A launch of blocks of 256, unless another is given. value: of each element that is written. threads: of the grid.
local function launch(kernel, grid, args, about)
  about = about or {}
  local block = about.block or BLOCK
  local go = module:kernel(kernel):prepare { grid = grid, block = block, shared = about.shared }
  local to = out[about.type or "f32"]
  return { run = function() go(to, table.unpack(args)) end, to = to, count = grid * block, value = about.value or 1,
           kernel = kernel, bytes = about.bytes, flops = about.flops, before = about.before }
end

local function elements(kernel, type, size, count, about)
  about = about or {}
  return launch(kernel, count // BLOCK, { ones[type] },
    { type = type, bytes = 2 * size * count, value = about.value, flops = about.flops })
end

local function chains(type, count, grid, steps, block)
  return launch(("chains<%s,%d>"):format(type == "f64" and "double" or "float", count), grid, { 1, 0, steps },
    { block = block, value = count, flops = 2 * count * steps * grid * (block or BLOCK) })
end

local function special(is_root)
  return launch(("special<%s>"):format(is_root), FULL, { 1, STEPS // 4 }, { value = 8 })
end

local function window(bytes)
  local times = small and 1 or gpu and 64 or 256
  return launch("window", 4 * FULL, { ones.f32, math.min(bytes // 4, n) - 1, times },
    { value = EACH * times })
end

local function shared_sum(reuse)
  local times = STEPS // 4
  return launch(("shared_sum<%d>"):format(reuse), FULL, { 1, times }, { value = EACH * times })
end

local function columns(width)
  local times = math.max(1, STEPS // 16)
  return launch(("columns<%d>"):format(width), FULL, { 1, times }, { value = EACH * times })
end

local function strided(stride)
  return launch("strided", n // BLOCK, { ones.f32, stride, n }, { bytes = 8 * n })
end

local next_of = dev:empty("u32", n // 4)
module.ring:launch(n // 4 // BLOCK, BLOCK, next_of, 1048583 % (n // 4), n // 4)

-- grid blocks of one warp follow lists.
local function chase(grid, steps)
  return launch("chase", grid, { next_of, n // 4, steps }, { block = 32, bytes = 4 * grid * steps })
end

local function divergent(by)
  return launch("divergent", FULL, { 1, 0, STEPS, by }, { value = 8 })
end

local function stride_copy(shared)
  return launch("stride_copy", 32 * PROCESSORS, { ones.f32, n }, { block = 64, shared = shared, bytes = 8 * n })
end

local function blocks_of(threads)
  local count = n // 16
  return launch("copy<float>", count // threads, { ones.f32 }, { block = threads, bytes = 8 * count })
end

local counts = dev:empty("f32", 1 << 16)

-- `each` additions a thread to so many numbers, `sum` of them at a time. Ncu tells launches of a kernel apart by grid
-- and block alone.
local function count(sum, numbers, each, grid)
  local go = module:kernel(("count<%d>"):format(sum)):prepare { grid = grid, block = BLOCK }
  return { run = function() go(counts, ones.f32, numbers - 1, each) end, to = counts, count = numbers,
           value = grid * BLOCK * each / numbers, kernel = ("count<%d>"):format(sum),
           before = function() counts:fill(0) end }
end

local function launches(number, grid)
  local go = module:kernel "copy<float>":prepare { grid = grid, block = BLOCK }
  return { run = function() for _ = 1, number do go(out.f32, ones.f32) end end, to = out.f32, count = grid * BLOCK,
           value = 1, kernel = "copy<float>", bytes = 8 * number * grid * BLOCK }
end

local near = dev:empty("f32", n // 4)

local function transfers(are_there)
  local go = module:kernel "copy<float>":prepare { grid = n // 4 // BLOCK, block = BLOCK }
  near:fill(1)
  return { kernel = "copy<float>", to = are_there and host.to or out.f32, count = n // 4, value = 1,
    bytes = 2 * n, run = function()
      if are_there then near:copy(host.from) end
      go(out.f32, near)
      if are_there then host.to:copy(out.f32, { count = n // 4 }) end
    end }
end

-- ---- the set --------------------------------------------------------------------------------------------------------

local few, many, several, each = PROCESSORS, 8 * PROCESSORS, gpu and 64 or small and 16 or 512, gpu and 512 or 64

-- name, cause; make: the kernel; lever and other: what they change, and that
local SET <const> = {
  { "stream", "memory", function() return elements("copy<double>", "f64", 8, n // 2) end,
    { "half the bytes", function() return elements("copy<float>", "f32", 4, n // 2) end } },
  { "polynomial", "memory",
    function() return elements("polynomial<float,16>", "f32", 4, n, { value = 16, flops = 32 * n }) end,
    { "half the bytes", function() return elements("polynomial<unsigned short,16>", "u16", 2, n, { value = 16 }) end },
    { "a sixteenth of the operations", function() return elements("polynomial<float,1>", "f32", 4, n) end } },
  { "double", "f64", function() return chains("f64", 8, FULL, STEPS) end,
    { "the operations in f32", function() return chains("f32", 8, FULL, STEPS) end },
    { "twice the blocks of half the steps", function() return chains("f64", 8, 2 * FULL, STEPS // 2) end } },
  { "single", "f32", function() return chains("f32", 8, FULL, STEPS) end,
    { "half the operations", function() return chains("f32", 8, FULL, STEPS // 2) end },
    { "twice the blocks of half the steps", function() return chains("f32", 8, 2 * FULL, STEPS // 2) end } },
  { "unfused", "issue", function()
      return launch("unfused<8>", FULL, { 1, 0, STEPS }, { value = 8, flops = 16 * STEPS * FULL * BLOCK })
    end, { "one instruction instead of two", function() return chains("f32", 8, FULL, STEPS) end },
    { "twice the blocks of half the steps", function()
      return launch("unfused<8>", 2 * FULL, { 1, 0, STEPS // 2 }, { value = 8 })
    end } },
  { "special", "special", function() return special(true) end,
    { "products instead of roots", function() return special(false) end } },
  { "chain", "latency", function() return chains("f32", 1, few, STEPS, 32) end,
    { "eight chains of an eighth of the steps", function() return chains("f32", 8, few, STEPS // 8, 32) end } },
  { "chase", "latency", function() return chase(few, STEPS // 4) end,
    { "eight times the blocks, an eighth of the steps", function() return chase(many, STEPS // 32) end } },
  { "second level", "l2", function() return window(gpu and 16 << 20 or 1 << 20) end,
    { "the same reads of 16 KiB", function() return window(16 << 10) end } },
  { "shared", "shared", function() return shared_sum(1) end,
    { "a quarter of the reads, the same sums", function() return shared_sum(4) end } },
  { "columns", "conflicts", function() return columns(32) end,
    { "rows of 33 words", function() return columns(33) end } },
  { "strided", "uncoalesced", function() return strided(16) end,
    { "the same elements side by side", function() return strided(1) end } },
  { "divergent", "divergence", function() return divergent(0) end,
    { "by warps instead of lanes", function() return divergent(5) end } },
  { "one counter", "contention", function() return count(1, 1, 32, 512) end,
    { "65536 counters", function() return count(1, 1 << 16, 32, 512) end } },
  { "counters", "atomics", function() return count(1, 1 << 16, each, 1024) end,
    { "four added up first", function() return count(4, 1 << 16, each, 1024) end } },
  { "launches", "launch", function() return launches(several, 1) end,
    { "one launch for all", function() return launches(1, several) end } },
  { "tiny blocks", "blocks", function() return blocks_of(32) end,
    { "a thirty-second of the blocks", function() return blocks_of(1024) end } },
  { "held", "occupancy", function() return stride_copy(100 << 10) end,
    { "without the shared memory", function() return stride_copy(0) end } },
  { "small grid", "grid", function() return chains("f32", 8, 16, STEPS) end,
    { "eight times the blocks, an eighth of the steps", function() return chains("f32", 8, 128, STEPS // 8) end } },
  { "transfers", "transfers", function() return transfers(true) end,
    { "data that stays on the device", function() return transfers(false) end } },
}

-- The CPU device has no warps, banks or room for blocks, and a core's vectors and caches are others: these say nothing
-- of it.
local NOT_CPU <const> = { chase = true, columns = true, divergent = true, double = true, held = true,
                          polynomial = true, ["second level"] = true, shared = true, ["small grid"] = true,
                          strided = true, ["tiny blocks"] = true, unfused = true }

-- ---- running --------------------------------------------------------------------------------------------------------

local function right(form, name)
  if form.before then form.before() end
  form.run()
  local written <close> = form.to:view(1, form.count)
  mw.check(written, form.value, { exact = true, name = name, quiet = true })
end

local function measure(name, form, role)
  if parts == "all" then right(form, ("%s, %s"):format(name, role)) end
  return mw.bench(form.run, { name = name, min_time = seconds, max_time = 1, noise = 0.02, quiet = true,
                              bytes = form.bytes, flops = form.flops, samples = small and 2 or nil })
end

for _, one in ipairs(SET) do
  local name, cause, make, lever, other = table.unpack(one)
  if gpu or small or not NOT_CPU[name] then
    local form = make()
    local record = { name = name, cause = cause, kernel = form.kernel, t = measure(name, form, "kernel") }
    if parts == "all" then
      record.lever, record.other = lever[1], other and other[1]
      record.falls = measure(name, lever[2](), lever[1]).median / record.t.median
      record.stays = other and measure(name, other[2](), other[1]).median / record.t.median
      record.shown = record.falls <= FALLS and (not record.stays or record.stays >= STAYS)
    end
    mw.record(record)
  end
end
if parts == "all" and not small then
  mw.table { "name", "cause", { "t", digits = 3 }, { "falls", digits = 2, title = "with the lever" }, "lever",
             { "stays", digits = 2, title = "with the other" }, "other", "shown" }
end
