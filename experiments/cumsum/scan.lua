-- SPDX-License-Identifier: MIT
--
-- The scans of one long array: by three launches, in one pass with look-back, and in rounds. A chunk
-- that is called with the study's settings and returns scans(type), which gives all records and those
-- of the longest array.

local mw = require "moonwarp"

local set = ...
local dev, length, scan_block, scan_loads = set.dev, set.length, set.scan_block, set.scan_loads

local measurement = set.measurement
local CPP, VECTORS = measurement.CPP, measurement.VECTORS
local ceil_div, tolerance = measurement.ceil_div, measurement.tolerance

local ONCE = ("scan_once<%%s,%d,%d>"):format(scan_block, scan_loads)
local ROUNDS = ("scan_rounds<%%s,%d,%d>"):format(scan_block, scan_loads)
local scan = measurement.module_of("scan.cu", { "scan_tiles<%s>", "scan_totals<%s>", "scan_add<%s>", ONCE, ROUNDS })

-- Each is { name, function(y, x), additions in a row }, made for arrays of one length.

local function three_launches(ty, count, block)
  block = block or 1024
  local blocks = ceil_div(count, block)
  local totals = dev:array(ty, blocks)
  local shape = { block = block, grid = blocks }
  local tiles = scan[("scan_tiles<%s>"):format(CPP[ty])]:prepare(shape)
  local sums = scan[("scan_totals<%s>"):format(CPP[ty])]:prepare { block = block, grid = 1 }
  local add = scan[("scan_add<%s>"):format(CPP[ty])]:prepare(shape)
  return { "three launches", function(y, x)
    tiles(y, totals, x, count)
    sums(totals, blocks)
    add(y, totals, count)
  end, 100 + blocks // block }
end

-- Status words and ticket, and what clears them before each scan.
local function bookkeeping(ty, tiles)
  local words = ty == "f32" and tiles or 2 * tiles
  local status, ticket = dev:array("u64", words), dev:array("u32", 1)
  local go = scan.scan_clear:prepare { block = 256, grid = ceil_div(words, 256) }
  return status, ticket, function() go(status, words, ticket) end
end

local function with_look_back(ty, count)
  local tiles = ceil_div(count, scan_block * scan_loads * VECTORS[ty])
  local status, ticket, clear = bookkeeping(ty, tiles)
  local kernel = scan[ONCE:format(CPP[ty])]
  local go = kernel:prepare { block = scan_block, grid = tiles }
  return { "one pass, look-back", function(y, x)
    clear()
    go(y, x, count, status, ticket)
  end, 100 + tiles // 32 }
end

-- As many blocks as run at once.
local function resident(kernel)
  local blocks = set.processors * kernel:occupancy(scan_block).blocks
  return set.gpu and blocks or math.min(blocks, set.gang)
end

local function in_rounds(ty, count)
  local tiles = ceil_div(count, scan_block * scan_loads * VECTORS[ty])
  local status, _, clear = bookkeeping(ty, tiles)
  local kernel = scan[ROUNDS:format(CPP[ty])]
  local grid = math.min(tiles, resident(kernel))
  local go = kernel:prepare { block = scan_block, grid = grid, cooperative = true }
  return { "one pass, in rounds", function(y, x)
    clear()
    go(y, x, count, status)
  end, 100 + tiles // grid }
end

local SCANS = { three_launches, with_look_back, in_rounds }

-- Small blocks: more totals than one of them takes at once, so that the scan of the totals has a carry.
local function small_blocks(ty, count) return three_launches(ty, count, 64) end

-- Every scan of an odd length, every element, against the host.
local function check_small_scan(ty)
  local count = 100003
  local x <close> = dev:array(ty, count):random(5)
  local y <close> = dev:array(ty, count)
  local sums = set.host.cumsum(x:totable(), { nx = count, ny = 1, nz = 1 }, 1)
  for _, make in ipairs { small_blocks, table.unpack(SCANS) } do
    local name, go, additions = table.unpack(make(ty, count))
    y:fill(0 / 0)
    go(y, x)
    mw.check(y, sums, tolerance(ty, additions, ("%s, %d %s"):format(name, count, ty)))
  end
end

-- A scan of ones is 1, 2, 3 ...
local function check_ones(entry, y, ty)
  local name, go, additions = table.unpack(entry)
  local ones <close> = dev:full(1, ty, #y)
  local counted <close> = dev:array(ty, #y):linspace(1, #y)
  y:fill(0 / 0)
  go(y, ones)
  mw.check(y, counted, tolerance(ty, additions, ("%s, ones, %s"):format(name, ty)))
end

-- The first scan is held against 1, 2, 3 ...; the others against it, on random numbers.
local function measure_scans(ty, count)
  local x <close> = dev:array(ty, count):random(1)
  local y <close> = dev:array(ty, count)
  local expected <close> = dev:array(ty, count)
  local records = { measurement.library("scan", y, x, { type = ty, elements = count }) }
  local first
  for _, make in ipairs(SCANS) do
    local entry = make(ty, count)
    local name, go, additions = table.unpack(entry)
    if not first then check_ones(entry, y, ty) end
    y:fill(0 / 0)
    local t = measurement.bench(function() go(y, x) end, 2 * y:nbytes())
    if not first then expected:copy(y) end
    first = first or additions
    mw.check(y, expected, tolerance(ty, first + additions, ("%s, %d %s"):format(name, count, ty)))
    records[#records + 1] = measurement.keep({ group = "scan", rung = name, series = name, type = ty,
                                   elements = count }, y, t)
  end
  for _, r in ipairs(records) do r.share = r.T_eff / records[1].T_eff end
  return records
end

return function(ty)
  check_small_scan(ty)
  local all, longest, count = {}, nil, length
  while count >= 4096 and count >= length // 4096 do
    local records = measure_scans(ty, count)
    longest = longest or records
    table.move(records, 1, #records, #all + 1, all)
    count = count // 8
  end
  return all, longest
end
