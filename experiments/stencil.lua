-- SPDX-License-Identifier: MIT
--
-- stencil: how close to the memory's rate is a step of heat diffusion, and how can a solver exceed it?
--
-- Rungs 2 to 6 are the small steps to shared memory of ETH Zurich's lecture 10, "Solving PDEs in parallel on
-- GPUs" (2023): a triad without derivatives, T in a tile, with a halo, the halo read, derivatives back.
-- T_eff = steps * 3 arrays / t: T is read and written, Ci is read. Shares are of the best triad.
--
-- What others measured, 16384 x 16384 f64: Tesla P100, rungs 2 to 6 as the lecture's text has them, and the
-- naive step in blocks of 32 x 8 as the same exercise's solution has it (notebook 3 of
-- github.com/omlins/julia-gpu-course-2023); H200, CUDA C++, for this project. See docs/studies/stencil.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div
local study, p, gpu = mw.study {
  question = "how close to the memory's rate is a step of heat diffusion, and can a solver exceed it?",
  course = { week = 6.1, level = 2, hours = 4, about = "a floor in bytes, and how several steps go below it",
             without_gpu = "results, bytes, sectors" },
  kernels = "stencil.cu", rate = "T_eff", output = "T2", level = "triad", seconds = { 0.03, gpu = 0.1 },
  odd = { { nx = 67, ny = 43 }, { nx = 68, ny = 41 } }, -- rows that begin anywhere, and on 16 bytes
  defines = function(type) return { REAL = type == "f64" and "double" or "float" } end,
  params = {
    { "n", 2048, "points along each side of the square arrays", gpu = 16384, min = 8, max = 65535 },
    { "type", "f64", "of the elements", choices = { "f32", "f64" } },
    { "shapes", { "8", "16", "32", "64", "256" },
      "blocks of the naive step; other rungs have those of one width", kind = "blocks" },
    { "levels", { 1, 2, 4, 8 }, "steps per pass of temporal blocking", min = 1, max = 12 },
    { "rows", 512, "rows per warp of temporal blocking", min = 1 },
    { "march", 8, "rows per thread of the marching rung", min = 1, max = 64 },
    { "side", 96, "points along each side of the film's field", min = 8, max = 512 },
    { "frames", 40, "of the film", min = 2, max = 500 },
  },
}

-- The coefficients are stable, and not the same along x and y. Names as in the kernels.
function study.arrays(c)
  local function array() return c.dev:array(c.type, c.nx, c.ny) end
  return { T = array():random(1), Ci = array():random(2), T2 = array(), lam = 1.0, dt = 0.1, _dx = 1.1,
           _dy = 0.9 }
end

-- ---- what is right ----------------------------------------------------------------------------------
local function on_border(c, i, j) return i == 1 or j == 1 or i == c.nx or j == c.ny end

-- A cell after one step; the kernels do not write the border, so it stays NaN.
local function step_of(c, at, i, j)
  if on_border(c, i, j) then return 0 / 0 end
  local m = at.T(i, j)
  return m + c.dt * c.lam * at.Ci(i, j) * ((at.T(i - 1, j) - 2 * m + at.T(i + 1, j)) * c._dx ^ 2
    + (at.T(i, j - 1) - 2 * m + at.T(i, j + 1)) * c._dy ^ 2)
end

local function triad_of(c, at, i, j)
  return on_border(c, i, j) and 0 / 0 or at.T(i, j) + c.dt * at.Ci(i, j)
end

-- The field is below 1 and a step no more than an average of neighbours: a few eps per step.
local function tolerance(steps) return function(c) return { absolute = 8 * c.eps * steps } end end

study:answer("step", { cell = step_of, bytes = "T Ci T2", tolerance = tolerance(1) })
study:answer("triad", { cell = triad_of, bytes = "T Ci T2", tolerance = tolerance(1) })

for _, k in ipairs(p.levels) do
  study:answer(k .. " steps", { steps = k, of = "step", from = "T", needs = { "naive" }, tolerance = tolerance(k) })
end

-- ---- the rungs --------------------------------------------------------------------------------------
-- Rungs are compared in blocks of one width: 32 where it is among the shapes.
local width, one_width = p.shapes[1][1], {}
for _, block in ipairs(p.shapes) do width = block[1] == 32 and 32 or width end
for _, block in ipairs(p.shapes) do one_width[#one_width + 1] = block[1] == width and block or nil end

local function tile(halo)
  return function(c, block) return (block[1] + halo) * (block[2] + halo) * (c.type == "f64" and 8 or 4) end
end

-- A rung that makes one step per pass.
local function single(spec)
  spec.blocks, spec.over, spec.fields = spec.blocks or one_width, { "nx", "ny" }, { steps = 1 }
  study:rung(spec)
end

-- For moonwarp tune: blocks of 32 to 1024 threads, and what the compiler and the cache may do.
local SIDES <const> = { { "bx", { 8, 16, 32, 64, 128, 256, 512 } }, { "by", { 1, 2, 4, 8, 16, 32, 64 } } }
local function is_block(v) return v.bx * v.by >= 32 and v.bx * v.by <= 1024 end

single { 1, "naive", kernel = "diffusion", answer = "step", blocks = p.shapes,
         space = { SIDES[1], SIDES[2], { "cache", { "none", "l1", "shared", "equal" } },
                   { "fast_math", { false, true } } },
         groups = { { "bx", "by" }, { "cache", "fast_math" } }, where = is_block,
         variant = function(v)
           return { block = { v.bx, v.by }, cache = v.cache, fast_math = v.fast_math }
         end }
single { 2, "triad", kernel = "diffusion_triad", answer = "triad", always = true }
single { 3, "T in shared memory", kernel = "diffusion_staged", answer = "triad", shared = tile(0) }
single { 4, "halo allocated", kernel = "diffusion_halo", answer = "triad", shared = tile(2) }
single { 5, "halo read", kernel = "diffusion_filled", answer = "triad", shared = tile(2) }
single { 6, "diffusion, shared memory", kernel = "diffusion_shared", answer = "step", shared = tile(2) }
single { 7, "rows in registers", kernel = ("diffusion_march<%d>"):format(p.march), answer = "step",
         blocks = { { 128, 1 } }, each = { 1, p.march },
         space = { SIDES[1], SIDES[2], { "march", { 2, 4, 8, 16, 32 } } },
         groups = { { "bx", "by" }, { "march" } }, where = is_block,
         variant = function(v)
           return { kernel = ("diffusion_march<%d>"):format(v.march), block = { v.bx, v.by }, each = { 1, v.march } }
         end }
single { 8, "16 bytes per thread", kernel = "diffusion_vector", answer = "step",
         each = function(c) return { c.vector, 1 } end }

local function pass_name(k) return k == 1 and "1 step per pass" or k .. " steps per pass" end

local WARPS, deepest = 2, pass_name(math.max(table.unpack(p.levels)))
for _, k in ipairs(p.levels) do
  study:rung { 9, pass_name(k), kernel = ("diffusion_levels<%d>"):format(k),
    answer = k .. " steps", block = 32 * WARPS, fields = { steps = k }, series = "temporal blocking",
    args = { rows = p.rows }, grid = function(c)
      local halo = ceil_div(k, c.vector) * c.vector
      local strips = ceil_div(c.nx, 32 * c.vector - 2 * halo)
      return { ceil_div(strips, WARPS), ceil_div(c.ny, p.rows) }
    end }
end

-- ---- what others measured ---------------------------------------------------------------------------
local function known(c) return gpu and c.type == "f64" and c.nx == 16384 end
study:source { "P100", field = "p100", when = known, values = { naive = { ["32 x 8"] = 525e9 }, triad = 561e9,
  ["T in shared memory"] = 561e9, ["halo allocated"] = 561e9, ["halo read"] = 538e9,
  ["diffusion, shared memory"] = 538e9 } }
study:source { "H200", field = "h200", when = known, values = { naive = { ["32 x 4"] = 4242e9 } } }

-- ---- the part ---------------------------------------------------------------------------------------
local function is_of_one_width(r) return r.number < 9 and r.block:match "^%d+" == tostring(width) end

study:part { "ladder", cases = { { nx = p.n, ny = p.n } }, rows = "best",
  table = { { "number", title = "no." }, "rung", "block", "steps", "t", "T_eff",
            { "share", title = "of the triad", unit = "%", digits = 3 } },
  charts = { { kind = "ladder" },
             { x = "threads", logx = 2, xlabel = "threads per block", title = ("blocks %d wide"):format(width),
               of = is_of_one_width },
             { x = "threads", logx = 2, xlabel = "threads per block", name = "shapes",
               title = "the naive step by the block's shape", of = function(r) return r.number == 1 end,
               by = function(r) return r.block:match "^%d+" .. " wide" end },
             { x = "steps", logx = 2, xlabel = "steps per pass", title = "temporal blocking",
               of = function(r) return r.number == 9 end } },
  ratios = { "naive / triad", "diffusion, shared memory / naive", "best step / triad",
             deepest .. " / triad" } }

-- ---- the physics, on a small field ------------------------------------------------------------------
-- A function that takes a pass of a rung from one array to another, or back, in turn, and returns what it wrote.
local function in_turn(rung, c, from, to)
  local go = study:launcher(rung, c:with { T = from, T2 = to })
  local back = study:launcher(rung, c:with { T = to, T2 = from })
  return function()
    go()
    go, back, from, to = back, go, to, from
    return from
  end
end

-- The lecture's square of 10 x 10, heat capacity 2 and time step, with a field that begins as value(x, y), and a
-- function for a pass of a rung from T to T2, or back.
local function small_field(rung, value)
  local c, d, rows = study:case { nx = p.side, ny = p.side }, 10 / (p.side - 1), {}
  c.dt, c._dx, c._dy = d * d / 0.5 / 4.1, 1 / d, 1 / d
  for j = 1, p.side do
    rows[j] = {}
    for i = 1, p.side do rows[j][i] = value((i - 1) * d, (j - 1) * d) end
  end
  for _, array in ipairs { c.T, c.T2 } do array:upload(rows) end
  c.Ci:fill(0.5)
  return c, rows, in_turn(rung, c, c.T, c.T2)
end

-- sin x sin keeps its shape and loses the same factor with every step.
local function check_decay(rung, k)
  local wave, out = math.pi / 10, nil
  local function mode(x, y) return math.sin(wave * x) * math.sin(wave * y) end
  local c <close>, start, pass = small_field(rung, mode)
  local factor = 1 - 4 * c.dt * c._dx ^ 2 * math.sin(wave / c._dx / 2) ^ 2
  for _ = 1, 240 // k do out = pass() end
  mw.check(out, function(i, j) return start[j][i] * factor ^ (240 // k * k) end,
    { absolute = 8 * c.eps * 240, name = "decay of a mode, " .. rung })
end

-- A Gaussian spreads; no cell leaves the range of the frame before (the maximum principle).
local function draw_film(rung, k)
  local function gaussian(x, y) return 10 * math.exp(-((x - 5) ^ 2 + (y - 5) ^ 2) / 4) end
  local c <close>, _, pass = small_field(rung, gaussian)
  local film = mw.film { name = "stencil-film", title = "stencil: heat diffusion", low = 0, high = 10,
                         label = "T", device = c.dev, delay = 0.1 }
  local passes, now, low, high = math.max(1, 8 // k), c.T, 0, 10
  for frame = 0, p.frames - 1 do
    for _ = 1, frame > 0 and passes or 0 do now = pass() end
    local rows = now:totable()
    mw.check(now, function(i, j) return math.max(low, math.min(high, rows[j][i])) end,
      { absolute = 80 * c.eps, name = ("maximum principle, frame %d"):format(frame) })
    low, high = math.huge, -math.huge
    for _, row in ipairs(rows) do
      low, high = math.min(low, table.unpack(row)), math.max(high, table.unpack(row))
    end
    film:add(now, ("t = %.2f s"):format(frame * passes * k * c.dt))
  end
  film:draw()
end

study:finally(function()
  local rung, most = "naive", 1
  check_decay(rung, most)
  for _, k in ipairs(p.levels) do
    if study:has(pass_name(k)) then
      check_decay(pass_name(k), k)
      if k > most then rung, most = pass_name(k), k end
    end
  end
  draw_film(rung, most)
end)
return study
