-- SPDX-License-Identifier: MIT
--
-- fluid: how fast can smoke be stepped on a GPU, and what does each idea of a lab report gain?
--
-- Every version of the report, those that failed included, then what it did not get to. A call is one step: react,
-- add_source, diffuse, project, advect, with 5 relaxations of 20 red-black iterations (step.lua). `ns` is the time per
-- cell, as the report has it; shares are of stepburst, the report's best; `moved` is what a version must move, by
-- counting, and `of_bound` its share of a copy of the same arrays. Each version is compared with the host (host.lua)
-- in small boxes, and with stepburst at the measured size. After B. Ocampo and M. de Mayo, "Parallel Computing, lab 4:
-- CUDA" (undated), and J. Stam, "Stable Fluids" (1999). See docs/studies/fluid.md.

local mw = require "moonwarp"
local cub = require "moonwarp.cub"
local host = require "host"
local step = require "step"
local relax = step.relax

local function even(v) return v % 2 == 1 and "even" or nil end
local study, p, gpu
study, p, gpu = mw.study {
  question = "how fast can smoke be stepped, and what does each idea of a lab report gain?",
  kernels = "fluid.cu", rate = { "cells", work = function(c) return c.n * c.ny end }, type = "f32", output = "state",
  units = { cells = "1/s", ns = "s", moved = "B" }, level = "stepburst", seconds = { 0.005, gpu = 0.05 },
  odd = function() -- at rest and without smoke, or not; the last ones for rows in registers
    return { { n = 70, ny = 67, still = 1 }, { n = 394, ny = 13, still = 0 },
             { n = gpu and 128 or 64, ny = 21, still = 1 }, gpu and { n = 512, ny = 13, still = 0 } or nil }
  end,
  also = { "relax_hidden<true>", "relax_hidden<false>" },
  params = {
    { "n", 64, "inner cells along each side, even", gpu = 2048, min = 8, max = 16384, check = even },
    { "sizes", { 32, 64 }, "sides of the sweep", gpu = { 128, 512, 2048, 4096, 8192 }, min = 8, max = 16384 },
    { "host", 128, "side up to which the host's threads are measured", gpu = 512, min = 8 },
    { "iterations", 20, "of a relaxation, red and black", min = 10, max = 200 },
    { "dt", 0.1, "time step" }, { "visc", 1e-5, "viscosity" }, { "diff", 1e-6, "diffusion of the smoke" },
    { "force", 0.005, "of react" }, { "push", 4, "force of the film, times that" }, { "source", 0.1, "of react" },
    { "levels", { 2 }, "iterations per pass", gpu = { 5, 10 }, min = 1, max = 10 },
    { "wide", { 2 }, "pairs per lane of these", gpu = { 4, 2 }, min = 2, max = 4, check = even },
    { "rows", 0, "rows per warp of these; 0: so few that the device holds all warps at once", min = 0, check = even },
    { "band", { 8 }, "rows per block of those in registers", min = 2, check = even },
    { "count", 5, "iterations per launch of these", min = 1 },
    { "thrust", false, "Thrust's maximum as well, which nvcc compiles for half a minute, once" },
    { "split", 0.5, "share of the rows on the other device", gpu = 0.02, min = 0, max = 1 },
    { "side", 192, "cells along each side of the film", gpu = 510, min = 8, max = 510, check = even },
    { "frames", 12, "of the film, 5 steps each", gpu = 60, min = 1, max = 1000 },
    { "live", false, "show the film in the terminal as well" },
  },
}
local BESIDE <const> = gpu and "cpu" or "cpu:1" -- the device next to the study's

-- ---- the arrays: u, v, d, and u0, v0, d0, which hold sources, p and the divergence ----------------------
function study.arrays(c)
  c.ny, c.pitch = c.ny or c.n, step.pitch(c)
  c.count = 2 * (c.ny + 2) * c.pitch
  local function fields(dev, dtype)
    local all = c:keep(dev:array(dtype, c.pitch, 2, c.ny + 2, 3))
    return all, { all:slice(1), all:slice(2), all:slice(3) }
  end
  local beside = c.dev:properties().checks and c.dev or mw.device(BESIDE)
  local state, now = fields(c.dev, "f32")
  local prev, before = fields(c.dev, "f32")
  c.u, c.v, c.d, c.u0, c.v0, c.d0 = now[1], now[2], now[3], before[1], before[2], before[3]
  c.away, c.far = fields(beside, "f32")
  c.spare, c.half = select(2, fields(c.dev, "f32")), select(2, fields(c.dev, "f16"))
  c.resting = c:keep(beside:array("f32", 2))
  return { state = state, prev = prev:random(3), most = c:array(2), rows = c:array(c.n + 2, c.ny + 2),
           rows0 = c:array(c.n + 2, c.ny + 2), found = c.dev:zeros("i32", 1), dt = p.dt, force = p.force,
           source = p.source, iterations = p.iterations }
end

-- A field that is rough everywhere: the problem shows, and no number is so small that a CPU slows down.
local function begin(c)
  c.state:random { seed = 1, min = -0.5, max = 0.5 }
  c.d:random { seed = 2 }
  c.prev:random { seed = 3, max = c.still == 1 and 1e-5 or 2 }
end

study:library("prev", "state")
study:answer("step", { start = begin, needs = { "stepburst" },
  tolerance = function(c, rung) -- values are below 10; a place is good to n eps, and a rough field as much
    local side = math.max(c.n, c.ny) + 2
    return { absolute = rung.number == 21 and 1e-3 * (side + 50) or 64 * c.eps * side }
  end,
  host = function(c)
    begin(c)
    return host.step(p, c)
  end,
  reference = function(c, launcher)
    launcher("stepburst", c)()
    return c:keep(c.state:clone())
  end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- o: of step.of, moved (bytes per cell of the relaxations), and further fields of the rung.
local REST <const>, FOLDED <const> = 172, 136 -- bytes per cell and step besides the relaxations; with sources folded
local function rung(number, name, how, o)
  o = o or {}
  local spec = step.with(o, { number, name, answer = "step", stream = o.streams,
    launches = function(c) return step.of(c, how, o) end,
    fields = { moved = (o.moved or 60 * p.iterations) + (o.adds and FOLDED or REST) } })
  for _, own in ipairs { "queued", "streams", "adds", "maxima", "react", "moved" } do spec[own] = nil end
  study:rung(spec)
end
local plain = relax.halves "relax"
local function of_blocks(nx, ny, rows, pairs, cache) -- a block's sides, what a thread has
  return function(c, all)
    local how = step.over(mw.ceil_div(c.n // 2, pairs or 1), mw.ceil_div(all, rows or 1), { nx, ny })
    return step.with(how, { cache = cache })
  end
end
local function is_small(c) return c.n <= p.host end
local function is_copied(c) return c.n <= 4096 end -- beyond it the copies take too long

rung(1, "one thread, rows as they are", relax.rows, { device = "cpu:1", when = is_small, moved = 120 * p.iterations })
local vectors = relax.halves "relax_toggle<false,false,false,1>"
rung(1, "one thread", vectors, { device = "cpu:1", when = is_small })
rung(1, "all cores", vectors, { device = "cpu", when = is_small })
rung(2, "rows as they are", relax.rows, { moved = 120 * p.iterations })
rung(3, "reactburst", plain, { when = is_copied, react = function(t) -- by the host, where its arrays go and come back
  local c, there = t.c, t.c.far or {}
  local args = { u0 = there[1], v0 = there[2], d0 = there[3], most = c.resting, u = mw.null, v = mw.null, d = mw.null }
  t.act(function() c.away:copy(c.prev) end)
  t.add("rest", { block = 2, grid = 1, device = BESIDE }, args)
  t.add("maxima", { block = 256, grid = 1, device = BESIDE }, args)
  t.add("react<false>", step.with(step.over(step.pitch(c), 2 * (t.ny + 2)), { device = BESIDE }), args)
  t.act(function() c.prev:copy(c.away) end)
end })
rung(4, "threacburst", plain, { when = is_copied, maxima = function(t) -- its arrays go to the host and back
  t.line("maxima", {}, { grid = 64 })
  t.act(function() t.c.prev:copy(t.c.away:copy(t.c.prev)) end)
end })
rung(5, "stepburst", plain)
local function is_gpu(c) return c.gpu end -- the CPU device takes long to compile CUB, and has no Thrust
rung(6, "stepburst, CUB", plain, { when = is_gpu, maxima = function(t)
  t.line("maxima_cub", {}, { file = "fluid_cub.cu", grid = 1024 })
end })
rung(6, "stepburst, Thrust", plain, { when = function(c) return c.gpu and p.thrust end, maxima = function(t)
  local c, squares = t.c, t.c.spare and t.c.spare[1]
  t.line("speeds", { squares = squares })
  t.act(function()
    cub.thrust_max(c.most:view(1, 1), squares:view(1, t.count))
    cub.thrust_max(c.most:view(2, 1), c.d0:view(1, t.count))
  end)
end })
rung(7, "fullburst", plain, { queued = true })
rung(8, "streamburst", plain, { streams = true })
rung(9, "graphburst", plain, { graph = true })
rung(9, "graphburst, three streams", plain, { graph = true, streams = true })
rung(10, "stepburst-tex", relax.texture(2))
rung(10, "stepburst-tex, its rows", relax.texture(0), { mistake = true, measure = true })
rung(11, "stepburst-shmem", relax.halves "relax_shared<32,8>")
rung(12, "stepburst-occupancy", relax.halves("relax", function(c)
  return { block = { 32, 8 }, grid = step.held(c, "relax") }
end))
rung(12, "grid as the source has it", relax.halves("relax", function(c) -- div_round_up(width, n) blocks along x: one
  return { block = { 16, 16 }, grid = { 1, math.max(1, c.n // 16) } }
end))
for _, one in ipairs { { "no grid loop", "relax_toggle<false,false,false,1>" },
                       { "/ c", "relax_toggle<true,false,false,1>" },
                       { "__ldg", "relax_toggle<false,true,false,1>" },
                       { "__stwt", "relax_toggle<false,false,true,1>" },
                       { "four rows", "relax_toggle<false,false,false,4>", of_blocks(32, 8, 4) },
                       { "8 x 8", "relax", of_blocks(8, 8) },
                       { "L1 preferred", "relax", of_blocks(32, 8, 1, 1, "l1") } } do
  rung(13, "roae: " .. one[1], relax.halves(one[2], one[3]), { when = one[1]:find "^__" and is_gpu or nil })
end
rung(13, "roae: fast math", relax.halves "relax_toggle<true,false,false,1>",
  { fast_math = true, when = is_gpu })
rung(14, "onekernel", relax.one_kernel("relax_grid<true>", 0))
rung(14, "onekernel, no barriers", relax.one_kernel("relax_grid<false>", 0), { mistake = true, measure = true })
rung(15, "onekernel-shmem", relax.one_kernel("relax_tiles<8>", 8))
rung(16, "stepburst-shidden", relax.halves(function(k) return ("relax_hidden<%s>"):format(k == 1) end,
  of_blocks(16, 16)), { mistake = true, measure = true })

-- What the report did not get to.
rung(17, "no set_bnd between", relax.halves("relax_bounds", nil, nil, true), { graph = true })
rung(18, "four pairs and two rows per thread", relax.halves("relax_wide<2>", of_blocks(32, 8, 2, 4), nil, true),
  { graph = true, streams = true })
for _, K in ipairs(p.levels) do
  for _, W in ipairs(p.wide) do
    local name, moved = ("%d per pass, %d pairs per lane"):format(K, W), 60 * p.iterations // K
    local function fits() return p.iterations % K == 0 end
    rung(20, name .. ", sources folded", relax.levels(K, W, "float"),
      { graph = true, streams = true, adds = true, moved = moved, when = fits })
    if K == p.levels[1] and W == p.wide[1] then
      rung(19, name, relax.levels(K, W, "float"), { graph = true, moved = moved, when = fits })
      rung(21, name .. ", x0 in 16 bits", relax.levels(K, W, "__half"),
        { graph = true, moved = 50 * p.iterations // K + 30, when = fits })
    end
  end
end
local function in_registers(number, rows, own, count)
  local how, fits = relax.band(own, count)
  rung(number, rows .. " rows in a block's registers", how, { graph = true, streams = true, adds = true,
    moved = 60 * p.iterations // count, when = fits })
end
in_registers(22, "all", nil, p.iterations)
for _, own in ipairs(p.band) do in_registers(23, own, own, p.count) end
rung(24, "rows split with the host", relax.split(BESIDE, p.split), { when = is_copied })

-- ---- parts ------------------------------------------------------------------------------------------
local sweep = {} -- the records of all sizes
local function derive(records, c)
  local copy
  for _, r in ipairs(records) do copy = r.rung == "library copy" and 2 * c.prev:nbytes() / r.t.median or copy end
  for _, r in ipairs(records) do
    if r.moved then r.ns = 1 / r.cells end
    if r.moved and copy then r.bound, r.of_bound = copy / r.moved, r.cells * r.moved / copy end
    if r.group == "sizes" then sweep[#sweep + 1] = r end
  end
end
local function part(name, cases, more)
  study:part(step.with({ name, cases = cases, clock = "host", batch = 1, derive = derive, error = true, table =
    { { "number", title = "no." }, "n", "rung", "t", { "ns", title = "per cell" },
      { "share", title = "of stepburst", digits = 3 }, "moved",
      { "of_bound", title = "of a copy", unit = "%", digits = 2 }, { "error", digits = 2 } } }, more))
end
local function is_right(one) return not one.mistake end

part("ladder", { { n = p.n } }, { charts = { { kind = "ladder" } }, rungs = is_right,
  ratios = { "stepburst / reactburst", "graphburst / fullburst", "onekernel / stepburst", "best step / stepburst" } })
part("wrong", { { n = p.n } }, { rungs = function(one) return one.mistake or one.name == "stepburst" end,
  odd = { { n = 10, ny = 4, still = 0 } } }) -- how fast it is, and how far off: the report has such speeds
local SWEPT <const> = { [1] = true, [5] = true, [9] = true, [17] = true, [18] = gpu, [20] = true, [21] = gpu,
                        [22] = true, [23] = true } -- by number
part("sizes", { { n = p.sizes } }, { rows = "all",
  rungs = function(one) return is_right(one) and SWEPT[one.number] or one.name == "library copy" end,
  charts = { { x = "n", y = "ns", logx = 2, logy = 10, xlabel = "cells along each side",
               of = function(r) return r.ns ~= nil end } } })
part("shares", { { n = gpu and { p.n, 8192 } or p.n } }, { shares = true, rungs = { "fullburst" } })
require "pictures"(study, p, gpu, sweep)
return study
