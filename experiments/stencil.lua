-- SPDX-License-Identifier: MIT
--
-- stencil: how near to main memory's peak is a step of 2-D heat diffusion, and how does a solver get
-- beyond it?
--
-- The rungs, numbered as in kernels/stencil.cu: 1 the naive step; lecture 10's way to shared memory in
-- small steps (2 derivatives removed, which leaves a triad; 3 T staged in shared memory; 4 a halo
-- allocated; 5 the halo read; 6 derivatives back); then 7 registers (a thread marches down rows),
-- 8 16-byte accesses, and 9 temporal blocking, K steps a pass. Block shapes and K are swept.
-- A film of a Gaussian that spreads, and a mode whose decay is known.
-- T_eff = steps * A_eff / t with A_eff = (2 * 1 + 1) arrays: T is read and written, Ci is read. The
-- peak is the best triad of this run.
--
-- What others measured, in f64 (the column and dashed lines called "source"):
--   Tesla P100, 16384 x 16384: rungs 2 to 6 as the text of ETH Zurich's lecture 10 has them ("Solving
--   PDEs in parallel on GPUs", 2023); rung 1, for which it has none, as the same exercise's solution
--   has it in its best block, 32 x 8 (notebook 3 of github.com/omlins/julia-gpu-course-2023, whose
--   stored output has 540 and 531 for rungs 5 and 6)
--   H200 (CUDA C++, for this project; not shown): naive 32 x 4 4242 GB/s

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

-- At most as many rows as a grid has blocks along y: blocks of one row are among the shapes.
local n = mw.arg("n", gpu and 16384 or 2048, "points along each side of the four square arrays",
  { min = 8, max = 65535 })
local kind = mw.arg("type", "f64", "of the elements", { choices = { "f32", "f64" } })
local seconds = mw.arg("seconds", gpu and 0.1 or 0.03,
  "least time of a measurement; three times that at most", { min = 0, max = 3600 })
local rungs = mw.arg("rungs", { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, "which rungs to measure; 2, the triad, always is",
  { min = 1, max = 9 })

-- The blocks that a text stands for: 32x4 for itself, 32 for all 32 x 2^k from a warp on. None where no
-- device takes it.
local function blocks_of(text)
  local most, list = 1024, {}
  local bx, by = text:match "^(%d+)x(%d+)$"
  bx, by = tonumber(bx or text:match "^%d+$"), tonumber(by)
  for k = 0, bx and (by and 0 or 10) or -1 do
    local height = by or 1 << k
    local fits = math.max(bx, height) <= most and bx * height <= most -- each, lest the product overflows
    if fits and bx * height >= (by and 1 or 32) then list[#list + 1] = { bx, height } end
  end
  return list
end

local shapes = mw.arg("shapes", { "8", "16", "32", "64", "256" },
  "blocks of the naive step: 32x4, or 32 for all that are 32 wide; other rungs have those of one width",
  { check = function(text)
    return #blocks_of(text) == 0 and "a block of 1 to 1024 threads such as 32x4, or a width such as 32" or nil
  end })
local levels = mw.arg("levels", { 1, 2, 4, 8 }, "steps a pass of temporal blocking", { min = 1, max = 12 })
local rows = mw.arg("rows", 512, "rows of a warp, temporal blocking", { min = 1 })
local march = mw.arg("march", 8, "rows of a thread, the marching rung", { min = 1, max = 64 })
local side = mw.arg("side", 96, "points along each side of the film's field", { min = 8, max = 512 })
local frames = mw.arg("frames", 40, "of the film", { min = 2, max = 500 })

local size = kind == "f64" and 8 or 4
local eps = kind == "f64" and 2.0 ^ -52 or 2.0 ^ -23
local columns = 16 // size -- of a 16-byte access
local known = gpu and kind == "f64" or nil -- beside the CPU device's rates the sources' would say nothing

local wanted = { [2] = true } -- what others are shares of
for _, number in ipairs(rungs) do wanted[number] = true end
if not wanted[9] then levels = {} end

-- Each shape once, and the width in which rungs are compared: 32 where it is among them.
local blocks, width = {}, nil
for _, text in ipairs(shapes) do
  for _, block in ipairs(blocks_of(text)) do
    local name = table.concat(block, " x ")
    if not blocks[name] then blocks[#blocks + 1], blocks[name] = block, true end
    if block[1] == 32 or not width then width = block[1] end
  end
end

local MARCH, LEVELS = ("diffusion_march<%d>"):format(march), "diffusion_levels<%d>"
local templates = { wanted[7] and MARCH } -- named at once: one compilation
for _, k in ipairs(levels) do templates[#templates + 1] = LEVELS:format(k) end
local kernels = dev:module { file = "stencil.cu", templates = templates,
                             defines = { REAL = kind == "f64" and "double" or "float" } }

-- Coefficients of the measured steps: stable, and not the same along x and y.
local LAM, DT, BY_DX, BY_DY = 1.0, 0.1, 1.1, 0.9

local T, Ci = dev:array(kind, n, n):random(1), dev:array(kind, n, n):random(2)
local T2, R = dev:array(kind, n, n), dev:array(kind, n, n)

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- launches -----------------------------------------------------------------------------------

local NONE, TILE, HALO = 0, 1, 2
-- p100: what the sources measured.
local RUNGS = {
  { name = "naive", kernel = "diffusion", shared = NONE, p100 = 525e9 },
  { name = "triad: no derivatives", kernel = "diffusion_triad", shared = NONE, triad = true, p100 = 561e9 },
  { name = "T in shared memory", kernel = "diffusion_staged", shared = TILE, triad = true, p100 = 561e9 },
  { name = "halo allocated", kernel = "diffusion_halo", shared = HALO, triad = true, p100 = 561e9 },
  { name = "halo read", kernel = "diffusion_filled", shared = HALO, triad = true, p100 = 538e9 },
  { name = "diffusion, shared memory", kernel = "diffusion_shared", shared = HALO, p100 = 538e9 },
  { name = "rows in registers", kernel = MARCH, tall = march },
  { name = "16 bytes a thread", kernel = "diffusion_vector", wide = columns },
}
local NAIVE, TRIAD = RUNGS[1], RUNGS[2]
for number, rung in ipairs(RUNGS) do rung.number = number end

local function shared_bytes(rung, bx, by)
  if rung.shared == TILE then return bx * by * size end
  return rung.shared == HALO and (bx + 2) * (by + 2) * size or 0
end

-- One step from `from` to `to`, nx x ny, in blocks of bx x by.
local function step(rung, bx, by, nx, ny)
  local go = kernels:kernel(rung.kernel):prepare {
    block = { bx, by }, shared = shared_bytes(rung, bx, by),
    grid = { ceil_div(nx, bx * (rung.wide or 1)), ceil_div(ny, by * (rung.tall or 1)) } }
  return function(to, from, ci, dt, by_dx, by_dy)
    go(to, from, ci, LAM, dt or DT, by_dx or BY_DX, by_dy or BY_DY, nx, ny)
  end
end

local function levels_name(k)
  return ("%d step%s a pass"):format(k, k > 1 and "s" or "")
end

-- k steps in one pass.
local function pass(k, nx, ny)
  local warps, halo = 2, ceil_div(k, columns) * columns
  local strips = ceil_div(nx, 32 * columns - 2 * halo)
  local go = kernels:kernel(LEVELS:format(k)):prepare {
    block = 32 * warps, grid = { ceil_div(strips, warps), ceil_div(ny, rows) } }
  return function(to, from, ci, dt, by_dx, by_dy)
    go(to, from, ci, LAM, dt or DT, by_dx or BY_DX, by_dy or BY_DY, nx, ny, rows)
  end
end

-- k naive steps from `from` between the arrays a and b; returns the one with the result, and the other.
local function naive_steps(k, from, a, b, ci)
  local go = step(NAIVE, 32, 8, from:shape())
  a:copy(from)
  b:copy(from)
  go(a, from, ci)
  for _ = 2, k do
    go(b, a, ci)
    a, b = b, a
  end
  return a, b
end

-- ---- what is right ------------------------------------------------------------------------------

-- T2 of one cell on the host: the discrete heat equation itself, with the sum of second differences.
local function host_cell(value, ci, i, j, triad)
  local c = value(i, j)
  if triad then return c + DT * ci(i, j) end
  local along_x = (value(i - 1, j) - 2 * c + value(i + 1, j)) * BY_DX ^ 2
  local along_y = (value(i, j - 1) - 2 * c + value(i, j + 1)) * BY_DY ^ 2
  return c + DT * LAM * ci(i, j) * (along_x + along_y)
end

-- Rounding of a step: the field is below 1 and the step no more than an average of neighbours, so an
-- element differs by a few eps, and k steps by k times that.
local function tolerance(k)
  return 8 * eps * k
end

-- The rows T after a step on the host; the border stays.
local function host_step(rows_of_T, rows_of_Ci, triad)
  local function value(i, j) return rows_of_T[j][i] end
  local function ci(i, j) return rows_of_Ci[j][i] end
  local out = {}
  for j, row in ipairs(rows_of_T) do
    out[j] = table.move(row, 1, #row, 1, {})
    for i = 2, j > 1 and j < #rows_of_T and #row - 1 or 0 do
      out[j][i] = host_cell(value, ci, i, j, triad)
    end
  end
  return out
end

-- Every rung that is wanted, the two that others are held against, and every number of steps a pass,
-- every element, on a field that no block divides. A single step leaves the border alone, which is NaN
-- in its output; a pass writes all of it.
local function check_small(nx, ny)
  local a <close> = dev:array(kind, nx, ny):random(3)
  local c <close> = dev:array(kind, nx, ny):random(4)
  local start, rates = a:totable(), c:totable()
  local out <close> = dev:array(kind, nx, ny)
  local where = (", %d x %d"):format(nx, ny)
  local right = { [true] = host_step(start, rates, true), [false] = host_step(start, rates, false) }
  for number, rung in ipairs(RUNGS) do
    if wanted[number] or rung == NAIVE then
      out:fill(0 / 0)
      step(rung, 16, 8, nx, ny)(out, a, c)
      local expected = right[rung.triad == true]
      mw.check(out, function(i, j)
        if i == 1 or i == nx or j == 1 or j == ny then return 0 / 0 end
        return expected[j][i]
      end, { absolute = tolerance(1), name = rung.name .. where })
    end
  end
  local after = { [0] = start }
  for k = 1, math.max(0, table.unpack(levels)) do after[k] = host_step(after[k - 1], rates, false) end
  for _, k in ipairs(levels) do
    out:fill(0 / 0)
    pass(k, nx, ny)(out, a, c)
    mw.check(out, after[k], { absolute = tolerance(k), name = levels_name(k) .. where })
  end
end

-- Samples of the measured size: cells beside the corners, and others spread over the field.
local function check_samples(got, rung)
  local function value(i, j) return T:get(i, j) end
  local function ci(i, j) return Ci:get(i, j) end
  local cells = { { 2, 2 }, { n - 1, 2 }, { 2, n - 1 }, { n - 1, n - 1 } }
  for k = 1, 60 do cells[#cells + 1] = { 2 + k * 7919 % (n - 2), 2 + k * 104729 % (n - 2) } end
  local want = {}
  local have <close> = dev:array(kind, #cells)
  for k, at in ipairs(cells) do
    want[k] = host_cell(value, ci, at[1], at[2], rung.triad)
    have:set(k, got:get(at[1], at[2]))
  end
  mw.check(have, want, { absolute = tolerance(1), name = rung.name .. ", samples" })
end

-- ---- measuring ----------------------------------------------------------------------------------

local function bench(fn, name, bytes)
  return mw.bench(fn, { min_time = seconds, max_time = 3 * seconds, device = dev, name = name,
                        bytes = bytes })
end

local checked, BAND = {}, 128

-- A rung in full, the first time. In another block shape a large field is checked in three bands of
-- rows, since the whole of it takes longer to compare on the host than to measure.
local function check(to, reference, fields)
  local options = { absolute = tolerance(fields.steps), name = ("%s, block %s"):format(fields.rung, fields.block) }
  if not checked[fields.rung] or #to <= 1 << 24 then
    checked[fields.rung] = true
    mw.check(to, reference, options)
    return
  end
  for _, row in ipairs { 0, n // 2, n - BAND } do
    local got <close> = to:view(row * n + 1, n, BAND)
    local expected <close> = reference:view(row * n + 1, n, BAND)
    mw.check(got, expected, options)
  end
end

-- Runs on poison, checks against the reference, benches and records.
local function measure(group, fields, to, reference, fn)
  to:fill(0 / 0)
  fn()
  check(to, reference, fields)
  local t = bench(fn, fields.rung, 3 * T:nbytes()) -- a pass, however many steps it makes
  fields.study, fields.group, fields.type, fields.t = "stencil", group, kind, t
  fields.T_eff = fields.steps * 3 * T:nbytes() / t.median
  return mw.record(fields)
end

local function measure_step(group, rung, bx, by, series)
  local go = step(rung, bx, by, n, n)
  return measure(group, { number = rung.number, rung = rung.name, block = ("%d x %d"):format(bx, by),
                          threads = bx * by, steps = 1, series = series }, T2, R,
                 function() go(T2, T, Ci) end)
end

-- The blocks that a kernel takes: it may have a limit of its own.
local function each_block(rung, body)
  local most = kernels:kernel(rung.kernel):attributes().max_threads
  for _, block in ipairs(blocks) do
    if block[1] * block[2] <= most then body(block[1], block[2]) end
  end
end

-- Nil where there is none.
local function best(records)
  local most = records[1]
  for _, r in ipairs(records) do
    if r.T_eff > most.T_eff then most = r end
  end
  return most
end

-- ---- the rungs: blocks of one width, and for the naive step all ------------------------------------

check_small(67, 43) -- rows begin anywhere
check_small(68, 41) -- rows begin on a boundary of 16 bytes

-- What `rung` and those that compute the same are held against, in R.
local function reference(rung)
  R:fill(0 / 0)
  step(rung, 32, 8, n, n)(R, T, Ci)
  check_samples(R, rung)
end

local best_of, threads = {}, {} -- records: by a rung's number, and for the chart

-- Blocks of the one width; returns the records.
local function sweep(number)
  local rung, mine = RUNGS[number], {}
  each_block(rung, function(bx, by)
    if bx == width then mine[#mine + 1] = measure_step("threads", rung, bx, by, rung.name) end
  end)
  table.move(mine, 1, #mine, #threads + 1, threads)
  best_of[number] = best(mine)
  return mine
end

reference(TRIAD)
local triads = sweep(2)
local peak_by = best(triads).threads // width
for number = 3, 5 do
  if wanted[number] then best_of[number] = measure_step("rungs", RUNGS[number], width, peak_by) end
end

reference(NAIVE)
local naive = {}
for i, r in ipairs(wanted[1] and sweep(1) or {}) do
  naive[i] = setmetatable({ series = ("%d wide"):format(width) }, { __index = r })
end
for _, number in ipairs { 6, 8 } do
  if wanted[number] then sweep(number) end
end
if wanted[7] then best_of[7] = measure_step("rungs", RUNGS[7], 128, 1) end
if wanted[1] then
  each_block(NAIVE, function(bx, by)
    if bx ~= width then
      naive[#naive + 1] = measure_step("shapes", NAIVE, bx, by, ("%d wide"):format(bx))
    end
  end)
end
best_of[1] = best(naive)
local worst_shape = naive[1]
for _, r in ipairs(naive) do
  if r.T_eff < worst_shape.T_eff then worst_shape = r end
end

-- ---- temporal blocking --------------------------------------------------------------------------

local passes = {}
for _, k in ipairs(levels) do
  local result, other = naive_steps(k, T, T2, R, Ci)
  local go = pass(k, n, n)
  passes[#passes + 1] = measure("levels", { number = 9, rung = levels_name(k),
    block = "64", threads = 64, steps = k, series = "temporal blocking" }, other, result,
    function() go(other, T, Ci) end)
end
local deepest = best(passes)

-- The triad again, lest a slow moment at the beginning makes everything else look good.
reference(TRIAD)
local before = best(triads)
local again = measure_step("rungs", TRIAD, width, peak_by)
local drift = math.abs(again.T_eff / before.T_eff - 1)
triads[#triads + 1] = again
local peak = best(triads)
best_of[2] = peak
local ladder = {}
for number = 1, #RUNGS do ladder[#ladder + 1] = best_of[number] end
table.move(passes, 1, #passes, #ladder + 1, ladder)

for _, r in ipairs(ladder) do
  r.share = r.T_eff / peak.T_eff
  r.left = r.steps == 1 and math.max(0, peak.T_eff / r.T_eff - 1) or nil
  r.p100 = known and RUNGS[r.number] and RUNGS[r.number].p100
end

-- ---- the physics, on a small field --------------------------------------------------------------

-- The lecture's lam, heat capacity, square of 10 x 10 and dt, on side x side points.
local function small_setting(ci)
  local d = 10 / (side - 1)
  return { by_d = 1 / d, d = d, dt = d * d / LAM / ci / 4.1, ci = dev:full(ci, kind, side, side) }
end

-- What takes k steps on it: the deepest pass, or the naive step where no pass is measured.
local function solver(k)
  return deepest and pass(k, side, side) or step(NAIVE, 32, 8, side, side)
end

-- sin * sin keeps its shape and loses the same factor with every step.
local function check_mode(k, steps)
  local s = small_setting(0.5)
  local wave = math.pi / (side - 1)
  local factor = 1 - 8 * s.dt * 0.5 * LAM * s.by_d ^ 2 * math.sin(wave / 2) ^ 2
  local start = {}
  for j = 1, side do
    start[j] = {}
    for i = 1, side do start[j][i] = math.sin(wave * (i - 1)) * math.sin(wave * (j - 1)) end
  end
  local from = dev:array(kind, start)
  local to = from:clone()
  local many = k > 1 and solver(k) or step(NAIVE, 32, 8, side, side)
  for _ = 1, steps // k do
    many(to, from, s.ci, s.dt, s.by_d, s.by_d)
    from, to = to, from
  end
  mw.check(from, function(i, j) return start[j][i] * factor ^ (steps // k * k) end,
    { absolute = tolerance(steps), name = ("decay of a mode, %d steps a pass"):format(k) })
  return factor
end

-- Least and greatest element; NaN where one is NaN, which math.min would pass over.
local function extremes(array)
  local low, high = math.huge, -math.huge
  for _, row in ipairs(array:totable()) do
    for _, value in ipairs(row) do
      if value ~= value then return value, value end
      low, high = math.min(low, value), math.max(high, value)
    end
  end
  return low, high
end

-- A Gaussian spreads; nothing gets colder than the coldest or hotter than the hottest cell was.
local function shoot(k, passes_a_frame)
  local s = small_setting(0.5)
  local start = {}
  for j = 1, side do
    start[j] = {}
    for i = 1, side do
      local x, y = (i - 1) * s.d - 5, (j - 1) * s.d - 5
      start[j][i] = 10 * math.exp(-(x / 2) ^ 2 - (y / 2) ^ 2)
    end
  end
  local from = dev:array(kind, start)
  local to, go = from:clone(), solver(k)
  local film = mw.film { name = "stencil-film", title = "stencil: heat diffusion", low = 0, high = 10,
                         label = "T", device = dev, delay = 0.1 }
  local low, high = extremes(from)
  local allowed, first_high, steps = 10 * tolerance(1), high, 0
  for frame = 1, frames do
    film:add(from, ("t = %.2f s"):format(steps * s.dt))
    for _ = 1, frame < frames and passes_a_frame or 0 do
      go(to, from, s.ci, s.dt, s.by_d, s.by_d)
      from, to, steps = to, from, steps + k
    end
    local now_low, now_high = extremes(from)
    if not (now_low >= low - allowed and now_high <= high + allowed) then -- not a NaN either
      error(("the maximum principle is hurt at step %d: %g to %g, before %g to %g"):format(steps, now_low,
        now_high, low, high), 0)
    end
    low, high = now_low, now_high
  end
  film:draw()
  return { steps = steps, t = steps * s.dt, from = first_high, to = high }
end

local depth = deepest and deepest.steps or 1
local factor = check_mode(1, 240)
if depth > 1 then check_mode(depth, 240) end

-- ---- what it shows ------------------------------------------------------------------------------

mw.table { { "number", title = "no." }, "rung", "block", "steps", "t", "T_eff",
           { "share", title = "of the triad", unit = "%", digits = 3 },
           { "left", title = "faster at most by", unit = "%", digits = 2 },
           known and { "p100", title = "P100 (source)", unit = "B/s" } or nil,
           title = "stencil, " .. kind, records = ladder }

local singles = {}
for _, number in ipairs { 1, 6, 7, 8 } do singles[#singles + 1] = best_of[number] end
local first, shared, single = best_of[1], best_of[6], best(singles)
local top = { value = peak.T_eff, label = "best triad" }
local p100 = {}
if known then
  p100[1] = { value = TRIAD.p100, label = "P100 triad and staged, source" }
  p100[2] = shared and { value = RUNGS[6].p100, label = "P100 from shared memory, source" }
end
mw.plot { x = "threads", y = "T_eff", by = "series", logx = 2, records = threads, peak = top, lines = p100,
          title = ("stencil: T_eff of blocks %d wide"):format(width), xlabel = "threads a block",
          name = "stencil-threads" }
if first then
  mw.plot { x = "threads", y = "T_eff", by = "series", logx = 2, records = naive, peak = top,
            title = "stencil: T_eff of the naive step by the block's shape", xlabel = "threads a block",
            name = "stencil-shapes" }
end
if deepest then
  mw.plot { x = "steps", y = "T_eff", by = "series", logx = 2, records = passes, peak = top,
            lines = { single and { value = single.T_eff, label = #singles > 1 and "best single step" or single.rung } },
            title = "stencil: T_eff of temporal blocking", xlabel = "steps a pass", name = "stencil-levels" }
end
local film = shoot(depth, math.max(1, 8 // depth))

local function against(a, b)
  local percent = 100 * (a / b - 1)
  return ("%.1f %% %s than"):format(math.abs(percent), percent < 0 and "slower" or "faster")
end

-- The single steps, each sentence where what it tells of was measured.
local words = {}
if first then
  words[1] = ("The naive step reaches %.0f %% of the triad, %s."):format(100 * first.share,
    first.share < 1 and ("so a step that moves every number once is at most %.0f %% faster"):format(
      100 * first.left) or "so there is nothing left to gain for a single step")
end
if first and shared then
  words[#words + 1] = ("The version from shared memory is %s the naive one: %s."):format(
    against(shared.T_eff, first.T_eff),
    shared.T_eff > 1.02 * first.T_eff and "here the caches alone do not hold the halo"
      or "the caches hold the rows that neighbours share anyway, and the tile costs instructions and a barrier")
end
if #singles > 1 then
  words[#words + 1] = ("The best single step%s is '%s' in blocks of %s, with %.1f %% of the triad."):format(
    #singles < 4 and " of those measured" or "", single.rung, single.block, 100 * single.share)
elseif single and not first then
  words[1] = ("'%s' in blocks of %s has %.1f %% of the triad."):format(single.rung, single.block, 100 * single.share)
end
if #words > 0 then mw.remark("%s", table.concat(words, " ")) end
if #naive > 1 then
  mw.remark("The block's shape changes the naive step by a factor of %.2f: %s is best, %s worst.",
    first.T_eff / worst_shape.T_eff, first.block, worst_shape.block)
end
if deepest then
  mw.remark("Temporal blocking with %d step%s a pass has a T_eff of %.2f times the triad's%s; that is %.0f %% of "
    .. "what %d step%s for one pass over memory would give, the rest goes into %s.", depth, depth > 1 and "s" or "",
    deepest.share, deepest.share > 1 and ", which no single step can reach" or "", 100 * deepest.share / depth, depth,
    depth > 1 and "s" or "", gpu and "arithmetic and halos"
      or "arithmetic, halos and the exchanges between lanes, which cost memory accesses on a CPU")
end
mw.remark("The same triad had %.1f GB/s at the beginning and %.1f GB/s at the end, so the machine's pace changed by "
  .. "%.1f %% on the way: %s.", before.T_eff / 1e9, again.T_eff / 1e9, 100 * drift,
  drift < 0.05 and "larger differences than that are the kernels'"
    or "rungs that differ by less are not told apart, and steps in a chart may be the machine's; run it again")
mw.remark("Physics: a mode sin x sin of %d x %d points decayed by the factor %.6f a step, as the discrete "
  .. "equation says, within rounding; the Gaussian's top fell from %.2f to %.2f in %d steps (%.1f s) and no "
  .. "cell left the range of the step before.", side, side, factor, film.from, film.to, film.steps, film.t)
