-- SPDX-License-Identifier: MIT
--
-- What may bound a piece of work (work.lua), as a table of rules: data, but for how each finds its evidence. A rule has
--   cause   a word
--   find    (one) gives the share of the time that the cause takes by itself, 0 to 1, and the evidence in words; nil:
--           it has no part, or is not known
--   saves   what is asked for in vain, as bank conflicts are: it comes before what only takes as long
--   try     what a student could try
--   study   the study that shows it
-- The time that a resource takes by itself is what it was asked for over what it gives at most (dev:ceiling), so a
-- share near 1 is a bound. The time in which nothing is busy is latency, where no ceiling is missing.

local counters = require "moonwarp.measure.counters"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"
local work = require "moonwarp.results.work"

local causes = {}

local WARP <const>, PASS <const> = 32, 128 -- lanes; bytes of a pass over shared memory
local ISSUED <const> = 4 -- instructions a cycle of a multiprocessor, since compute capability 5.0
local FEW_WRITTEN <const> = 0.05 -- of the bytes: then the ceiling is that of reading
local ABOVE <const> = 1.1 -- times a ceiling; less is the noise of what was measured
local HELD <const> = 0.5 -- occupancy below this may be too little

-- ---- evidence -----------------------------------------------------------------------------------

local function percent(share) return ("%.0f %%"):format(100 * share) end

-- The share of the time that an amount takes at a ceiling; nil where one of them is not known. How: whose word it is.
local function share_of(one, amount, ceiling, unit, how)
  local most = one.ceilings[ceiling]
  if not (amount and amount > 0) then return nil end
  if not most then
    one.lacks[ceiling] = true
    return nil
  end
  local rate = amount / one.t
  return rate / most, ("%s of %s (%s)%s"):format(units.format(rate, unit, 3), units.format(most, unit, 3), ceiling,
    how or "")
end

-- As much of a share as a part of it.
local function part_of(share, part, text, ...)
  if not share or part <= 0 then return nil end
  return share * part, text:format(...)
end

-- ---- memories -----------------------------------------------------------------------------------

-- Which of two ceilings fits: that of reads, or of reads and writes.
local function mixed(read, written, reads, both)
  return written < FEW_WRITTEN * (read + written) and reads or both
end

local DECLARED <const> = ", by the bytes that are declared"

-- Declared bytes beyond what memory gives are a cache's.
local function is_cached(one)
  local most = one.ceilings.triad
  return most and one.bytes and not work.is_counted(one) and one.bytes / one.t > ABOVE * most
end

local function dram(one)
  local read, written = work.counted(one, "dram_read_bytes"), work.counted(one, "dram_write_bytes")
  if read and written then
    return share_of(one, read + written, mixed(read, written, "read", "triad"), "B/s", ", counted by ncu")
  end
  if work.is_counted(one) or is_cached(one) then return nil end
  return share_of(one, one.bytes, "triad", "B/s", DECLARED)
end

local function second_level(one)
  local read, written = work.counted(one, "l2_read_bytes"), work.counted(one, "l2_write_bytes")
  if not (read and written) then return share_of(one, is_cached(one) and one.bytes, "triad_l2", "B/s", DECLARED) end
  return share_of(one, read + written, mixed(read, written, "read_l2", "triad_l2"), "B/s", ", counted by ncu")
end

local function first_level(one)
  return share_of(one, work.counted(one, "l1_bytes"), "read_l1", "B/s", ", counted by ncu")
end

local LEVELS <const> = { dram, second_level, first_level }

-- Sectors of loads and stores that hold nothing which is asked for, over all; and the words for them.
local function unneeded(one)
  local unused, sectors, text = 0, 0, nil
  for _, launch in ipairs(one.launches or {}) do
    if not launch.counted then return 0 end
    local more, all, words = counters.excess_sectors(launch.counted)
    unused, sectors, text = unused + more * launch.count, sectors + all * launch.count, text or words
  end
  return sectors > 0 and unused / sectors or 0, text
end

-- Of what memory moves the part that is not asked for: of DRAM no more than what lies beyond the needed sectors.
local function scattered_part(one, level)
  local part, text = unneeded(one)
  if level ~= dram or part == 0 then return part, text end
  local sectors = (work.counted(one, "load_sectors") or 0) + (work.counted(one, "store_sectors") or 0)
  local moved = work.counted(one, "dram_bytes") or 0
  return moved > 0 and math.max(0, 1 - sectors * (1 - part) * counters.SECTOR / moved) or 0, text
end

-- What a level takes beyond what scattered accesses cost.
local function of_level(level)
  return function(one)
    local share, text = level(one)
    if not share then return nil end
    return share * (1 - (scattered_part(one, level))), text
  end
end

local function scattered(one)
  local most, found = 0, nil
  for _, level in ipairs(LEVELS) do
    local share, text = level(one)
    local part, words = scattered_part(one, level)
    if share and share * part > most then
      most, found = share * part, ("%s; %s of the bytes are not asked for: %s"):format(text, percent(part), words)
    end
  end
  return found and most, found
end

-- ---- shared memory ------------------------------------------------------------------------------

local function passes(one)
  local loads, stores = work.counted(one, "shared_load_wavefronts"), work.counted(one, "shared_store_wavefronts")
  return loads and stores and loads + stores
end

local function conflict_part(one)
  local all = passes(one)
  local loads, stores = work.counted(one, "shared_load_conflicts"), work.counted(one, "shared_store_conflicts")
  return all and all > 0 and loads and stores and math.min(1, (loads + stores) / all) or 0
end

local function all_passes(one)
  local count = passes(one)
  return share_of(one, count and count * PASS, "shared", "B/s", ", by passes")
end

local function shared(one)
  local share, text = all_passes(one)
  return share and share * (1 - conflict_part(one)), text
end

local function conflicts(one)
  local part, share = conflict_part(one), all_passes(one)
  return part_of(share, part, "%s of the passes over shared memory are due to bank conflicts, and passes take %s of "
    .. "the time", percent(part), percent(share or 0))
end

-- ---- instructions -------------------------------------------------------------------------------

-- Lanes that take part in an instruction, of 32.
local function lanes(one)
  local count, all = work.counted(one, "instructions"), work.counted(one, "thread_instructions")
  return count and count > 0 and all and all / count or WARP
end

-- Instructions over those that all multiprocessors begin.
local function issue_share(one)
  local count, about = work.counted(one, "instructions"), one.device
  if not (count and about.multiprocessors and about.clock_max) then return nil end
  return count / (ISSUED * about.multiprocessors * about.clock_max * one.t)
end

local function operations(type)
  return function(one)
    local counted = work.counted(one, type .. "_operations")
    if counted then return share_of(one, counted, type, "flop/s", ", counted by ncu") end
    local declared = one.result and one.result.dtype or one.record and one.record.type or "f32"
    return share_of(one, declared == type and one.flops, type, "flop/s", ", by the operations that are declared")
  end
end

local function tensor(type)
  return function(one) return share_of(one, work.counted(one, "tensor_" .. type), "tensor_" .. type, "flop/s") end
end

-- Multiply-adds do what can be done with an instruction; the rest of what is issued may be too much.
local function issue(one)
  local share = issue_share(one)
  if not share then return nil end
  local fused = (work.counted(one, "f32_fma") or 0) + (work.counted(one, "f64_fma") or 0)
  local part = math.max(0, 1 - fused / lanes(one) / work.counted(one, "instructions"))
  return part_of(share * lanes(one) / WARP, part,
    "%s instructions are %s of what all multiprocessors begin; %s of them are no multiply-adds",
    units.format(work.counted(one, "instructions") / one.t, "1/s", 3), percent(share), percent(part))
end

local function divergence(one)
  local share, active = issue_share(one), lanes(one)
  return part_of(share, 1 - active / WARP,
    "%s of 32 lanes take part in an instruction, and instructions take %s of the time",
    units.digits(active + 0.0, 3), percent(share or 0))
end

local function special(one)
  local count = work.counted(one, "special_instructions")
  return share_of(one, count and count * WARP, "rsqrt_f32", "1/s", ", counted by ncu")
end

-- ---- atomics ------------------------------------------------------------------------------------

local FEW_SLICES <const> = 0.25 -- of the atomic operations in one slice of the L2 cache, of 48 and more

-- The part of the atomic operations that the busiest slice of the L2 cache has, which those on one address share.
local function slice_part(one)
  local all, most = work.counted(one, "l2_atomic_sectors"), work.counted(one, "l2_slice_atomic_sectors")
  return all and all > 0 and most and math.min(1, most / all) or 0
end

local function atomics(one)
  if slice_part(one) >= FEW_SLICES then return nil end
  return share_of(one, work.counted(one, "atomic_lanes"), "atomic", "1/s", ", counted by ncu")
end

local function contention(one)
  local part = slice_part(one)
  if part < FEW_SLICES then return nil end
  local share, text = share_of(one, work.counted(one, "atomic_lanes"), "atomic_same", "1/s")
  return share, text and ("%s; one slice of the L2 cache has %s of them"):format(text, percent(part))
end

-- ---- launches and transfers ---------------------------------------------------------------------

local function sum_over(one, value_of)
  local sum = 0
  for _, launch in ipairs(one.launches or {}) do sum = sum + launch.count * value_of(launch) end
  return sum
end

local function blocks_in(launch) return launch.grid[1] * (launch.grid[2] or 1) * (launch.grid[3] or 1) end

local function launches(one)
  local count, each = sum_over(one, function() return 1 end), one.ceilings.launch
  if count == 0 then return nil end
  if not each then
    one.lacks.launch = true
    return nil
  end
  return count * each / one.t, ("%s; one of many takes %s (launch)"):format(units.count(count, "launch", "launches"),
    units.format(each, "s", 3))
end

local function block_starts(one)
  return share_of(one, sum_over(one, blocks_in), "blocks", "1/s", ", of blocks that begin")
end

local function transfers(one)
  local seconds, parts = 0, {}
  for _, way in ipairs { "to_device", "to_host" } do
    local share, text = share_of(one, one.copies[way], way, "B/s")
    if share then
      seconds = seconds + share
      local to = way:gsub("_", " the ")
      parts[#parts + 1] = ("%s copied %s, %s"):format(units.format(one.copies[way], "B", 3), to, text)
    end
  end
  return #parts > 0 and seconds or nil, table.concat(parts, "; ")
end

-- ---- what waits ---------------------------------------------------------------------------------

-- The share of the time in which the busiest resource is idle.
local function idle(one) return math.max(0, 1 - one.busy) end

local function grid(one)
  local all, most = sum_over(one, blocks_in), one.device.multiprocessors
  local count = sum_over(one, function() return 1 end)
  if not one.is_gpu or count == 0 or not most or all / count >= most then return nil end
  return idle(one), ("%s on %d multiprocessors; nothing is busy more than %s of the time"):format(
    units.count(all // count, "block"), most, percent(one.busy))
end

-- The launch whose blocks a multiprocessor holds too few of, by registers or shared memory.
local function held_few(one)
  return lists.find(one.launches or {}, function(launch)
    local is_limited = launch.limit and (launch.limit:find "^registers" or launch.limit:find "^shared memory")
    local rooms = (launch.blocks or 0) * (one.device.multiprocessors or math.huge)
    return is_limited and launch.occupancy < HELD and blocks_in(launch) >= rooms
  end)
end

local function occupancy(one)
  local few = held_few(one)
  if not few then return nil end
  return idle(one), ("%s of the threads that a multiprocessor can hold (%s); nothing is busy more than %s of the time")
    :format(percent(few.occupancy), few.limit, percent(one.busy))
end

local function latency(one)
  if not work.is_counted(one) or grid(one) or occupancy(one) then return nil end
  local warps, cycles = work.counted(one, "active_warps"), work.counted(one, "active_cycles")
  local held = warps and cycles and cycles > 0 and ("; %s warps on a multiprocessor"):format(units.digits(
    warps / cycles, 2)) or ""
  return idle(one), ("nothing is busy more than %s of the time%s"):format(percent(one.busy), held)
end

-- ---- the rules ----------------------------------------------------------------------------------

local function rule(cause, find, try, study, more)
  return lists.merged({ cause = cause, find = find, try = try, study = study }, more)
end

local SAVES <const>, WAITS <const> = { saves = true }, { waits = true }

-- waits: judged last, by how busy the others are.
causes.rules = {
  rule("memory", of_level(dram), "move fewer bytes: keep what is used again in registers or shared memory, join "
    .. "kernels, take a narrower type", "stencil"),
  rule("uncoalesced", scattered, "let neighbouring threads access neighbouring elements: another order of the data, "
    .. "an array per member, a tile in shared memory", "transpose", SAVES),
  rule("l2", of_level(second_level), "read less often what other blocks have read: tiles in shared memory, more "
    .. "results per thread", "gemm"),
  rule("l1", of_level(first_level), "keep in registers what a thread reads again; read 16 bytes at once", "access"),
  rule("shared", shared, "use a value that was read from shared memory several times: more results per thread", "gemm"),
  rule("conflicts", conflicts, "make rows of a tile a word longer, or permute its columns", "transpose", SAVES),
  rule("f64", operations "f64", "fewer operations, or f32 where the error allows it", "gemm"),
  rule("f32", operations "f32", "fewer operations: take out of loops what does not change; tensor cores for products "
    .. "of matrices", "nbody"),
  rule("tensor_f16", tensor "f16", "fewer products, or a narrower type", "gemm"),
  rule("tensor_tf32", tensor "tf32", "f16 where the error allows it", "gemm"),
  rule("tensor_f64", tensor "f64", "tf32 or f32 where the error allows it", "gemm"),
  rule("special", special, "fewer roots, quotients and exponentials; the fast ones where the error allows it",
    "functions"),
  rule("issue", issue, "fewer instructions: multiply-adds, 16 bytes at once, unrolled loops, indices outside of them",
    "tuning"),
  rule("divergence", divergence, "let the threads of a warp take the same path: sort or divide the data", "divergence",
    SAVES),
  rule("atomics", atomics, "add up in registers or shared memory first", "histogram"),
  rule("contention", contention, "a counter per block or warp, which are added up at the end", "histogram", SAVES),
  rule("transfers", transfers, "leave data on the device; pinned memory; copy in one stream while another computes",
    "streams"),
  rule("launch", launches, "one launch for several, or a graph of them", "graphs"),
  rule("blocks", block_starts, "larger blocks, and several elements per thread", "memcopy"),
  rule("grid", grid, "more blocks, with less work each", "small-problems", WAITS),
  rule("occupancy", occupancy, "fewer registers or less shared memory per block; another block size", "occupancy",
    WAITS),
  rule("latency", latency, "more that is independent: several elements or sums per thread, more warps",
    "reduction", WAITS),
}

local LEAST <const> = 0.05 -- of the time: less is not told

local function found_by(one, wanted)
  local list = {}
  for at, each in ipairs(causes.rules) do
    local share, evidence
    if (each.waits or false) == wanted then share, evidence = each.find(one) end
    if share and share == share then
      list[#list + 1] = { cause = each.cause, share = math.min(share, 1.0), evidence = evidence, try = each.try,
                          study = each.study, saves = each.saves, at = at }
    end
  end
  return list
end

-- What is asked for in vain counts twice: it can be left out.
local function weight(found) return found.share * (found.saves and 2 or 1) end

--- What bounds a piece of work, the greatest effect first.
---@param one table       of work.of
---@return table[] found  cause, share (of the time, 1 is all), evidence, try, study
---@return string[] lacks ceilings that are not kept
function causes.of(one)
  one.lacks, one.busy = {}, 0
  local list = found_by(one, false)
  local shares = lists.map(list, function(found) return found.share end)
  for _, whole in ipairs { dram, second_level, first_level, all_passes, issue_share } do
    shares[#shares + 1] = (whole(one))
  end
  for _, share in ipairs(shares) do one.busy = math.min(1, math.max(one.busy, share)) end
  -- What waits is what nothing else takes: without a ceiling, how busy that is is not known.
  if not next(one.lacks) then lists.append(list, found_by(one, true)) end
  list = lists.filter(list, function(found) return found.share >= LEAST end)
  table.sort(list, function(a, b)
    if weight(a) ~= weight(b) then return weight(a) > weight(b) end
    return a.at < b.at
  end)
  return list, lists.keys(one.lacks)
end

return causes
