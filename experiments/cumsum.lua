-- SPDX-License-Identifier: MIT
--
-- cumsum: what does a running sum cost beyond the copy that it must be anyway?
--
-- A sum along a dimension reads each element once and writes it once, as a copy does. The ladder
-- (kernels/cumsum.cu) begins with copies, whose loops run along z, y and x, and turns each into a
-- sum: in a register where neighbouring threads have neighbouring columns; through shared memory,
-- by broadcasts and by doubling steps where they share a row. Then what the fastest kernel for each
-- dimension reaches, over the size of the cube; then one long array (kernels/scan.cu) by three
-- launches, in one pass with look-back, and in rounds.
-- T_tot of a copy, T_eff of a sum = 2 * bytes(A) / t. The bound is the fastest copy of the run.
--
-- What others measured (columns, dashed lines and series called "source"):
--   Tesla P100, 512^3 f64 (ETH Zurich, "Solving PDEs in parallel on GPUs", notebook of ten tasks)
--   H200, 512^3 f64, torch.cumsum and CuPy, and CUB's DeviceScan of 2^28 (for this project)

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local n = mw.arg("n", gpu and 512 or 160, "points along each side of the cube", { min = 8, max = 2048 })
local length = mw.arg("length", gpu and 1 << 26 or 1 << 18, "elements of the longest 1-D array",
  { min = 4096, max = 1 << 31 })
local types = mw.arg("types", { "f64", "f32" }, "element types", { choices = { "f64", "f32" } })
local parts = mw.arg("parts", { "ladder", "sizes", "scan" }, "what to run",
  { choices = { "ladder", "sizes", "scan" } })
local seconds = mw.arg("seconds", gpu and 0.05 or 0.02, "least time of a measurement; three times that at most",
  { min = 0, max = 3600 })
local bx = mw.arg("bx", 32, "block of the kernels over x and y: threads along x", { min = 1, max = 1024 })
local by = mw.arg("by", math.min(8, 1024 // bx), "and along y; 1024 threads in all at most",
  { min = 1, max = 1024 // bx })
local threads = mw.arg("threads", 256, "block of the kernels over columns (blocks in pace: 256 at most)",
  { min = 1, max = 1024 })
local warps = mw.arg("warps", 1, "rows a block of the kernels with a warp a row", { min = 1, max = 32 })
local loads = mw.arg("loads", 4, "loads in flight a lane of cumsum_rows", { min = 1, max = 16 })
local tile_rows = mw.arg("tile_rows", 8, "rows a warp of cumsum_tile", { min = 1, max = 32 })
local tile_warps = mw.arg("tile_warps", 16, "warps a block of cumsum_tile", { min = 1, max = 32 })
local pace_planes = mw.arg("pace_planes", 4, "planes in flight a thread of cumsum_paced", { min = 1, max = 32 })
local pace_lag = mw.arg("pace_lag", 3, "stages that its blocks may be apart", { min = 1, max = 2048 })
local scan_block = mw.arg("scan_block", gpu and 512 or 128, "block of the 1-D scans in one pass",
  { choices = { 32, 64, 128, 256, 512, 1024 } })
local scan_loads = mw.arg("scan_loads", 8, "loads in flight a thread of them", { min = 1, max = 16 })

local processors = dev:properties().multiprocessors
local CPU_GANG = 256 -- the most blocks of a cooperative launch there
local cumsum, scan -- modules, see below
local CPP = { f64 = "double", f32 = "float" }
local EPS = { f64 = 2.0 ^ -52, f32 = 2.0 ^ -23 }
local VECTORS = { f32 = 4, f64 = 2 } -- elements of a 16-byte load
local LONG = 2 * math.max(32 * VECTORS.f32 * loads, tile_rows * tile_warps) + 77 -- two passes of any rung and a part

local function ceil_div(a, b)
  return (a + b - 1) // b
end

local function has(list, value)
  for _, entry in ipairs(list) do
    if entry == value then return true end
  end
  return false
end

-- All terms are positive, so the error of a sum is relative to it, and grows with the square root
-- of the additions in a row.
local function tolerance(ty, additions, name)
  return { relative = 4 * EPS[ty] * math.sqrt(additions), name = name }
end

-- ---- the ladder: how each kernel is launched ----------------------------------------------------
-- A launcher takes a kernel's name and a shape { nx, ny, nz } and returns function(B, A).

-- The kernel made ready, or nil where the device does not take so many threads or blocks.
local function prepared(name, block, grid, cooperative)
  local k = cumsum[name]
  local shape = type(block) == "table" and block or { block }
  if shape[1] * (shape[2] or 1) > k:attributes().max_threads then return nil end
  for i, blocks in ipairs(type(grid) == "table" and grid or { grid }) do
    if blocks > dev:properties().max_grid[i] then return nil end
  end
  return k:prepare { block = block, grid = grid, cooperative = cooperative }
end

-- grid(s) gives the grid over a shape, arguments(s) what the kernel takes behind B and A.
local function over(block, grid, arguments)
  return function(name, s)
    local go, rest = prepared(name, block, grid(s)), { arguments(s) }
    return go and function(B, A) go(B, A, table.unpack(rest)) end
  end
end

local function sides(s) return s.nx, s.ny, s.nz end
local function rows_of(s) return s.nx, s.ny * s.nz end
local function count_of(s) return s.nx * s.ny * s.nz end

local over_rows = over({ 32, warps }, function(s) return ceil_div(s.ny * s.nz, warps) end, rows_of)
local row_a_block = over(32, function(s) return s.ny * s.nz end, function(s) return s.nx end)
local over_vectors = over(threads, function(s) return ceil_div(count_of(s), threads * VECTORS[s.ty]) end, count_of)
local tiles_y = over({ 32, tile_warps }, function(s) return { ceil_div(s.nx, 32), s.nz } end,
  function(s) return s.nx, s.ny end)
local tiles_z = over({ 32, tile_warps }, function(s) return ceil_div(s.nx * s.ny, 32) end,
  function(s) return s.nx * s.ny, s.nz end)
local along_z = over({ bx, by }, function(s) return { ceil_div(s.nx, bx), ceil_div(s.ny, by) } end, sides)
local along_y = over(threads, function(s) return { ceil_div(s.nx, threads), 1, s.nz } end, sides)

-- All columns at once, or nil where the device cannot hold them.
local function paced(name, s)
  local inner, block = s.nx * s.ny, math.min(threads, 256)
  local grid = ceil_div(inner, block * VECTORS[s.ty])
  local most = gpu and cumsum[name]:occupancy(block).blocks * processors or CPU_GANG
  local go = grid <= most and prepared(name, block, grid, true)
  if not go then return nil end
  local stages, runs = dev:zeros("u32", ceil_div(s.nz, pace_planes)), 0
  return function(B, A)
    runs = runs + 1
    go(B, A, inner, s.nz, stages, runs, pace_lag)
  end
end

-- dim: along which it adds up; none: a copy. p100: what the source measured, in GB/s.
local LADDER = {
  { kernel = "copy_3d<%s>", name = "copy, an element a thread", p100 = 538,
    launcher = over({ bx, by }, function(s) return { ceil_div(s.nx, bx), ceil_div(s.ny, by), s.nz }
    end, sides) },
  { kernel = "copy_z<%s>", name = "copy along z", p100 = 515, launcher = along_z },
  { kernel = "cumsum_z<%s>", name = "dim 3, a register", dim = 3, p100 = 516, launcher = along_z },
  { kernel = "copy_y<%s>", name = "copy along y", p100 = 511, launcher = along_y },
  { kernel = "cumsum_y<%s>", name = "dim 2, a register", dim = 2, p100 = 510, launcher = along_y },
  { kernel = "copy_x<%s>", name = "copy along x, strided", p100 = 36.6,
    launcher = over({ 1, threads }, function(s) return { 1, ceil_div(s.ny, threads), s.nz } end, sides) },
  { kernel = "copy_x32<%s>", name = "copy along x, 32 wide", p100 = 525, launcher = over_rows },
  { kernel = "cumsum_shared<%s>", name = "dim 1, shared memory", dim = 1, p100 = 336, launcher = row_a_block },
  { kernel = "cumsum_broadcast<%s>", name = "dim 1, broadcasts", dim = 1, p100 = 163, launcher = over_rows },
  { kernel = "cumsum_shuffle<%s>", name = "dim 1, doubling steps", dim = 1, p100 = 523, launcher = over_rows },
  { kernel = ("cumsum_rows<%%s,%d>"):format(loads), name = "dim 1, 16-byte loads", dim = 1,
    launcher = over_rows, best = true },
  { kernel = ("cumsum_tile<%%s,%d,%d>"):format(tile_rows, tile_warps), name = "dim 2, tiles",
    dim = 2, launcher = tiles_y, best = true },
  { kernel = ("cumsum_tile<%%s,%d,%d>"):format(tile_rows, tile_warps), name = "dim 3, tiles",
    dim = 3, launcher = tiles_z },
  { kernel = ("cumsum_paced<%%s,%d>"):format(pace_planes), name = "dim 3, blocks in pace", dim = 3,
    launcher = paced, best = true },
}
for number, rung in ipairs(LADDER) do rung.number = number end
local WIDE = { kernel = "copy_wide<%s>", name = "copy, 16 bytes a thread", launcher = over_vectors }

-- All kernels of the run are named at once: one compilation a file, instead of one a kernel.
local function module_of(file, patterns)
  local names = {}
  for _, ty in ipairs(types) do
    for _, pattern in ipairs(patterns) do
      local name = pattern:format(CPP[ty])
      if not has(names, name) then names[#names + 1] = name end
    end
  end
  return dev:module { file = file, templates = names }
end

if has(parts, "ladder") or has(parts, "sizes") then
  local patterns = { WIDE.kernel }
  for i, rung in ipairs(LADDER) do patterns[i + 1] = rung.kernel end
  cumsum = module_of("cumsum.cu", patterns)
end
local ONCE = ("scan_once<%%s,%d,%d>"):format(scan_block, scan_loads)
local ROUNDS = ("scan_rounds<%%s,%d,%d>"):format(scan_block, scan_loads)
if has(parts, "scan") then
  scan = module_of("scan.cu", { "scan_tiles<%s>", "scan_totals<%s>", "scan_add<%s>", ONCE, ROUNDS })
end

local function launch_of(rung, s)
  return rung.launcher(rung.kernel:format(CPP[s.ty]), s)
end

-- ---- checking -----------------------------------------------------------------------------------

-- Sums along a dimension of a flat table, x first; in f64 with what each addition loses put back
-- (W. Kahan, 1965), so that the reference is nearer to the truth than what is held against it.
local function host_cumsum(values, s, dim)
  local stride = dim == 1 and 1 or dim == 2 and s.nx or s.nx * s.ny
  local count = dim == 1 and s.nx or dim == 2 and s.ny or s.nz
  local sums, lost = {}, {}
  for i = 1, #values do
    local first = (i - 1) // stride % count == 0
    local before = first and 0.0 or sums[i - stride]
    local term = values[i] - (first and 0.0 or lost[i - stride])
    local sum = before + term
    sums[i], lost[i] = sum, sum - before - term
  end
  return sums
end

-- Every rung that fits, every element, on a box, against the host.
local function check_box(ty, nx, ny, nz)
  local s = { ty = ty, nx = nx, ny = ny, nz = nz }
  local A <close> = dev:array(ty, s.nx * s.ny * s.nz):random(7)
  local B <close> = dev:array(ty, #A)
  local values, sums = A:totable(), {}
  for dim = 1, 3 do sums[dim] = host_cumsum(values, s, dim) end
  for _, rung in ipairs { WIDE, table.unpack(LADDER) } do
    B:fill(0 / 0)
    local go = launch_of(rung, s)
    local options = rung.dim and tolerance(ty, math.max(nx, ny, nz)) or { exact = true }
    options.name = ("%s, %d x %d x %d, %s"):format(rung.name, s.nx, s.ny, s.nz, ty)
    if go then
      go(B, A)
      mw.check(B, rung.dim and sums[rung.dim] or A, options)
    end
  end
end

-- A box with odd sides; and as a rung that takes all of a side in one pass carries nothing to a next one, others that
-- are long along one dimension.
local function check_small(ty)
  for _, box in ipairs { { 67, 43, 29 }, { LONG, 3, 5 }, { 3, LONG, 5 }, { 3, 5, LONG } } do
    check_box(ty, table.unpack(box))
  end
end

-- Where line `number` along dim begins, as a position in memory, and the step from point to point.
local function line_of(s, dim, number)
  local i = number * 7919 % s.nx
  local j, k = number * 104729 % s.ny, number * 1299709 % s.nz
  if dim == 1 then return (k * s.ny + j) * s.nx, 1, s.nx end
  if dim == 2 then return k * s.ny * s.nx + i, s.nx, s.ny end
  return j * s.nx + i, s.nx * s.ny, s.nz
end

-- A few lines of the measured size against the host.
local function check_lines(name, B, A, s, dim)
  local got, expected = {}, {}
  for number = 1, 5 do
    local first, step, count = line_of(s, dim, number)
    local sum = 0.0
    for k = 0, count - 1 do
      sum = sum + A:get(1 + first + k * step)
      got[#got + 1], expected[#expected + 1] = B:get(1 + first + k * step), sum
    end
  end
  mw.check(dev:array(s.ty, got), expected, tolerance(s.ty, #got // 5, ("%s, 5 lines, %s"):format(name, s.ty)))
end

-- ---- measuring ----------------------------------------------------------------------------------

local function bench(fn, bytes)
  return mw.bench(fn, { min_time = seconds, max_time = 3 * seconds, device = dev, bytes = bytes })
end

local function keep(values, to, t)
  values.study, values.bytes, values.t = "cumsum", to:nbytes(), t
  values.T_eff = 2 * to:nbytes() / t.median
  return mw.record(values)
end

local function library(group, B, A, fields)
  B:fill(0 / 0)
  local stream = gpu and dev:default_stream() or nil
  local t = bench(function() B:copy(A, { stream = stream }) end, 2 * B:nbytes())
  mw.check(B, A, { exact = true, name = "library copy" })
  fields.group, fields.rung, fields.series = group, "library copy", "library copy"
  return keep(fields, B, t)
end

-- refs: for each dimension the result of the first rung that adds up along it, which the host has
-- looked at; the others are held against it in full.
local function check_cube(rung, B, A, s, refs)
  local dim = rung.dim
  local name = ("%s, %s"):format(rung.name, s.ty)
  if not dim then return mw.check(B, A, { exact = true, name = name }) end
  if refs[dim] then return mw.check(B, refs[dim], tolerance(s.ty, n, name)) end
  check_lines(rung.name, B, A, s, dim)
  refs[dim] = B:clone()
end

-- nil where the device cannot run the rung at this size.
local function measure(group, rung, B, A, s, refs)
  local go = launch_of(rung, s)
  if not go then return nil end
  B:fill(0 / 0)
  local t = bench(function() go(B, A) end, 2 * B:nbytes())
  check_cube(rung, B, A, s, refs)
  return keep({ group = group, rung = rung.name, number = rung.number, type = s.ty, side = s.nx,
                dim = rung.dim, best = rung.best,
                p100 = rung.p100 and s.ty == "f64" and rung.p100 * 1e9 or nil,
                series = rung.dim and ("sum, dim %d"):format(rung.dim) or "copy" }, B, t)
end

local function cube(ty, side)
  local A = dev:array(ty, side, side, side):random(1)
  return A, dev:array(ty, side, side, side), { ty = ty, nx = side, ny = side, nz = side }
end

local function close_all(list)
  for _, array in pairs(list) do array:close() end
end

local function fastest(records, test)
  local best
  for _, r in ipairs(records) do
    if test(r) and not (best and best.T_eff >= r.T_eff) then best = r end
  end
  return best
end

local function is_copy(r) return not r.dim end

local function ladder(ty)
  check_small(ty)
  local A, B, s = cube(ty, n)
  local refs = {}
  local records = { library("ladder", B, A, { type = ty, side = n }),
                    measure("ladder", WIDE, B, A, s, refs) }
  for _, rung in ipairs(LADDER) do
    records[#records + 1] = measure("ladder", rung, B, A, s, refs)
  end
  close_all { A, B }
  close_all(refs)
  local top = fastest(records, is_copy).T_eff
  for _, r in ipairs(records) do r.share = r.T_eff / top end
  return records
end

-- The fastest rung of each dimension over the size of the cube.
local function sizes(ty)
  local records, side = {}, n
  while side >= 8 and side >= n // 16 do
    local A, B, s = cube(ty, side)
    local refs = {}
    records[#records + 1] = measure("sizes", WIDE, B, A, s, refs)
    for _, rung in ipairs(LADDER) do
      if rung.best then records[#records + 1] = measure("sizes", rung, B, A, s, refs) end
    end
    close_all { A, B }
    close_all(refs)
    side = side // 2
  end
  return records
end

-- ---- the 1-D scans ------------------------------------------------------------------------------
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
  local blocks = processors * kernel:occupancy(scan_block).blocks
  return gpu and blocks or math.min(blocks, CPU_GANG)
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
  local sums = host_cumsum(x:totable(), { nx = count, ny = 1, nz = 1 }, 1)
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
  local records = { library("scan", y, x, { type = ty, elements = count }) }
  local first
  for _, make in ipairs(SCANS) do
    local entry = make(ty, count)
    local name, go, additions = table.unpack(entry)
    if not first then check_ones(entry, y, ty) end
    y:fill(0 / 0)
    local t = bench(function() go(y, x) end, 2 * y:nbytes())
    if not first then expected:copy(y) end
    first = first or additions
    mw.check(y, expected, tolerance(ty, first + additions, ("%s, %d %s"):format(name, count, ty)))
    records[#records + 1] = keep({ group = "scan", rung = name, series = name, type = ty,
                                   elements = count }, y, t)
  end
  for _, r in ipairs(records) do r.share = r.T_eff / records[1].T_eff end
  return records
end

local function scans(ty)
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

-- ---- what it shows ------------------------------------------------------------------------------

-- T_tot of the triad on arrays of so many bytes.
local function triad(bytes)
  local count = math.min(bytes // 8, 1 << 30)
  local A <close> = dev:array("f64", count):random(1)
  local B <close> = dev:array("f64", count)
  local C <close> = dev:full(1, "f64", count)
  local go = dev:module("triad.cu").triad:prepare { block = { 256, 1 }, grid = { ceil_div(count, 256), 1 } }
  return bench(function() go(B, A, C, 2, count, 1) end, 3 * 8 * count).throughput
end

-- The level to reach, and others: the data sheet's where the device tells it; else the triad of the
-- same size, unless that copy was faster, which then is the level, and not called peak. at: of what
-- size, where the chart shows several.
local function top_level(copy, at)
  local function level(value, label) return { value = value, label = label .. (at and ", " .. at or "") } end
  local peak, fast = dev:peak_bandwidth(), level(copy.T_eff, "fastest: " .. copy.rung)
  if peak then return { value = peak, label = "theoretical peak of memory" }, { fast } end
  local rate = triad(copy.bytes)
  if rate > copy.T_eff then return level(rate, "peak: triad, 3 arrays"), { fast } end
  return fast, { level(rate, "triad, 3 arrays") }
end

local function named(records, name)
  for _, r in ipairs(records) do
    if r.rung == name then return r end
  end
end

-- a beside b in words: "3.2 % faster than"
local function beside(a, b)
  local gain = a.T_eff / b.T_eff - 1
  if math.abs(gain) < 0.005 then return "as fast as" end
  if gain >= 1 then return ("%.1f times as fast as"):format(gain + 1) end
  if gain <= -0.5 then return ("%.1f times slower than"):format(1 / (gain + 1)) end
  return ("%.1f %% %s than"):format(100 * math.abs(gain), gain > 0 and "faster" or "slower")
end

local function remark_on_ladder(records)
  local function r(number) return named(records, LADDER[number].name) end
  local copy = fastest(records, is_copy)
  mw.remark("The sum in a register is %s the copy that it was made from along z, and %s it along y: "
    .. "what it does beside reading and writing is %s.", beside(r(3), r(2)), beside(r(5), r(4)),
    math.min(r(3).T_eff / r(2).T_eff, r(5).T_eff / r(4).T_eff) > 0.95 and "hidden by memory"
      or "not all hidden by memory here")
  mw.remark("Along x a thread a row reads with a stride of %d elements and is %s a warp a row. From there, "
    .. "the sum through shared memory is %s that copy, by 32 broadcasts %s it, by five doubling steps "
    .. "%s it.", n, beside(r(6), r(7)), beside(r(8), r(7)), beside(r(9), r(7)), beside(r(10), r(7)))
  mw.remark("Task 10: doubling steps reach %.1f %% of the fastest copy (%s), so they could be %.2g times "
    .. "as fast at most.", 100 * r(10).share, copy.rung, 1 / r(10).share)
  local best = {}
  for dim = 1, 3 do best[dim] = fastest(records, function(q) return q.dim == dim end) end
  mw.remark("The fastest sums: dim 1 %.1f %% of the fastest copy (%s), dim 2 %.1f %% (%s), dim 3 %.1f %% "
    .. "(%s).", 100 * best[1].share, best[1].rung, 100 * best[2].share, best[2].rung,
    100 * best[3].share, best[3].rung)
end

local function remark_on_scan(ty, longest)
  local function r(number) return longest[number + 1] end
  mw.remark("A scan of %d %s: one pass with look-back is %s three launches, which write and read the "
    .. "result once more than needed; in rounds it is %s with look-back and reaches %.1f %% of the "
    .. "library's copy.", r(1).elements, ty, beside(r(2), r(1)), beside(r(3), r(2)), 100 * r(3).share)
end

-- In GB/s, along dim 1, 2, 3 of 512^3 f64; "best rung" are the notebook's own kernels.
local SOURCES = { { name = "H200 torch.cumsum", 2928, 3870, 3942 }, { name = "H200 CuPy", 769, 433, 411 },
                  { name = "P100 best rung", 523, 510, 516 },
                  { name = "P100 CUDA.cumsum!", 109, 112, 43 } }
local CUB = { f64 = 3300, f32 = 3112 } -- 2^28 elements, H200: tests/bench/scan.lua

-- Sources are drawn on a GPU, where they are of like scale. A few of them among the rungs: lines that
-- can be told apart; all of them in the chart of dimensions, beside the fastest rung of each.
local function add_sources(levels)
  for _, at in ipairs { { 1, 1 }, { 2, 1 }, { 4, 2 }, { 4, 3 } } do
    local source = SOURCES[at[1]]
    levels[#levels + 1] = { value = source[at[2]] * 1e9, label = ("%s dim %d, source"):format(source.name, at[2]) }
  end
end

local function show_dimensions(records, top, levels)
  local points = {}
  for dim = 1, 3 do
    local best = fastest(records, function(r) return r.dim == dim end)
    points[#points + 1] = setmetatable({ series = "fastest rung" }, { __index = best })
    for _, source in ipairs(SOURCES) do
      points[#points + 1] = { dim = dim, T_eff = source[dim] * 1e9, series = source.name .. ", source" }
    end
  end
  mw.plot { x = "dim", y = "T_eff", by = "series", logy = true, records = points, peak = top, lines = levels,
            title = ("cumsum, %d^3 f64 (sources: 512^3)"):format(n), xlabel = "summed along dimension",
            ylabel = "T = 2 bytes(A) / t", name = "cumsum-dims", quiet = true }
end

local function show_ladder(ty, records)
  local columns = { { "number", title = "rung" }, { "rung", title = "what" }, "t", { "T_eff", title = "T" },
    { "share", title = "of the fastest copy", unit = "%", digits = 3 },
    title = ("cumsum, %d x %d x %d %s"):format(n, n, n, ty), records = records }
  if gpu and ty == "f64" then columns[#columns + 1] = { "p100", title = "P100 (source)", unit = "B/s" } end
  mw.table(columns)
  local top, levels = top_level(fastest(records, is_copy))
  local points = table.move(records, 1, #records, 1, {})
  if gpu and ty == "f64" then
    show_dimensions(records, top, levels)
    add_sources(levels)
    for _, r in ipairs(records) do
      points[#points + 1] = { number = r.number, T_eff = r.p100, series = "P100, same rung, source" }
    end
  end
  mw.plot { x = "number", y = "T_eff", by = "series", logy = true, records = points, peak = top,
            lines = levels, title = ("cumsum, %d^3 %s: the rungs"):format(n, ty),
            xlabel = "rung (numbers as in the table)", ylabel = "T = 2 bytes(A) / t",
            name = "cumsum-ladder-" .. ty }
  remark_on_ladder(records)
end

local function show_scan(ty, all, longest)
  mw.table { "rung", { "elements", title = "n" }, "t", "T_eff",
             { "share", title = "of the copy", unit = "%", digits = 3 },
             title = "scan of one array, " .. ty, records = longest }
  local top, levels = top_level(longest[1], ("%d elements"):format(longest[1].elements))
  if gpu then levels = { { value = CUB[ty] * 1e9, label = "H200 CUB, 2^28 elements, source" } } end
  mw.plot { x = "bytes", y = "T_eff", by = "series", logx = 2, logy = true, records = all,
            peak = top, lines = levels,
            title = ("scan of one array, %s"):format(ty), xlabel = "bytes of the array",
            name = "cumsum-scan-" .. ty }
  remark_on_scan(ty, longest)
end

if has(parts, "ladder") then
  for _, ty in ipairs(types) do show_ladder(ty, ladder(ty)) end
end
if has(parts, "sizes") then
  local ty = types[1]
  local records = sizes(ty)
  local top, levels = top_level(records[1], ("%d^3"):format(n))
  mw.plot { x = "side", y = "T_eff", by = "series", logx = 2, records = records, peak = top, lines = levels,
            title = ("cumsum, %s: the fastest rungs over the size"):format(ty),
            xlabel = "points along each side of the cube", logy = true, name = "cumsum-sizes" }
end
if has(parts, "scan") then
  for _, ty in ipairs(types) do show_scan(ty, scans(ty)) end
end
