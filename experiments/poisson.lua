-- SPDX-License-Identifier: MIT
--
-- poisson: by which method is the Poisson equation solved in the shortest time?
--
-- By Fourier transforms (moonwarp.fft: cuFFT, or FFTW on the CPU device), compared with those two transforms alone, in
-- 2-D and in 3-D; then in 2-D by multigrid, by conjugate gradients and by transforms, until the error is the same.
-- `unknowns` is unknowns per second, from the right side to the solution. See docs/studies/poisson.md.

local mw = require "moonwarp"
local blas = require "moonwarp.blas"
local fft = require "moonwarp.fft"
local ceil_div = mw.ceil_div

local study, p = mw.study {
  question = "by which method is the Poisson equation solved in the shortest time?", kernels = "poisson.cu",
  course = { week = 11.5, level = 2, hours = 3, about = "which method",
             without_gpu = "iterations and error of each method" },
  rate = { "unknowns", work = function(c) return #c.u end }, units = { unknowns = "1/s" }, output = "u",
  level = "two transforms", seconds = { 0.02, gpu = 0.05 }, also = { "apply<%s>", "shift<%s>" },
  params = {
    { "plane", 128, "points along each side in 2-D, by transforms", gpu = 8192, min = 1, max = 32768 },
    { "cube", 24, "points along each side in 3-D", gpu = 512, min = 1, max = 1024 },
    { "side", 64, "points along each side for all methods, a power of 2", gpu = 1024, min = 4, max = 8192,
      check = function(n) return n & (n - 1) ~= 0 and "a power of 2" or nil end },
    { "targets", { 2, 6 }, "digits to reach: the error is 10^-digits of the solution's norm", gpu = { 2, 4, 6, 8, 10 },
      min = 1, max = 11 },
    { "type", "f64", "of the elements in 2-D and 3-D; to the same error it is f64", choices = { "f32", "f64" } },
  },
}

local ROWS, BLOCK = 4, { 32, 8 }
local function grid(nx, ny, nz) return { ceil_div(nx, 32), ceil_div(ny, 8), nz or 1 } end
local function depth(c) return c.nz or 1 end
local function field(c)
  if depth(c) > 1 then return c:array(c.nx, c.ny, c.nz) end
  return c:array(c.nx, c.ny)
end

-- The known solution is random; f is A times it.
function study.arrays(c)
  local n = c.nx * c.ny * depth(c)
  local made = { known = field(c):random(1), f = field(c), u = field(c), nz = depth(c) }
  c:launch("shift<%s>", { block = 256, grid = ceil_div(n, 256) },
    { u = made.known, mean = c.dev:sum(made.known) / n, n = n })()
  c:launch("apply<%s>", { block = BLOCK, grid = grid(c.nx, c.ny, made.nz) },
    { f = made.f, u = made.known, nz = made.nz })()
  if c.digits then made.r, made.d, made.q, made.sums = field(c), field(c), field(c), c.dev:array("f64", 3) end
  return made
end

-- ---- what is right ----------------------------------------------------------------------------------
-- Rounding of f grows with the square of the longest wave; its share of all waves falls with the number of points.
local function tolerance(c)
  return { absolute = 8 * c.eps * math.max(c.nx, c.ny, depth(c)) + (c.digits and 10 ^ (1 - c.digits) or 0) }
end
local function begin(c, u)
  u:fill(0)
  if not c.digits then return end
  c.r:copy(c.f)
  c.d:copy(c.f)
  c.sums:upload { c.dev:dot(c.f, c.f), 0, 0 }
end
local function known(c) return c.known end
study:answer("solution", { host = known, reference = known, start = begin, restart = true, tolerance = tolerance })

-- to += factor * from
local function add(to, from, factor) return blas.axpy(to:view(1, #to), from:view(1, #from), { alpha = factor }) end
local function scaled(c)
  local all = field(c):fill(0)
  add(all, c.known, #all)
  return all
end
study:answer("there and back", { host = scaled, reference = scaled,
  tolerance = function(c) return { absolute = 64 * c.eps * #c.u } end })

-- ---- Fourier transforms -----------------------------------------------------------------------------
-- 4 sin^2(pi i / n) of the waves 0 to count - 1
local function eigenvalues(c, n, count)
  local list = {}
  for i = 0, count - 1 do list[i + 1] = 4 * math.sin(math.pi * i / n) ^ 2 end
  return c:keep(c.dev:array(c.type, list))
end

local function transforms(c)
  local half, sides = c.nx // 2 + 1, { c.u:shape() }
  sides[1] = half
  local X = c:array(2, table.unpack(sides))
  return X, half, fft.plan(X, c.u), fft.plan(c.u, X)
end

study:rung { 1, "two transforms", answer = "there and back", make = function(c)
  local X, _, forward, back = transforms(c)
  return function()
    forward(X, c.known)
    back(c.u, X)
  end
end }
study:rung { 2, "by transforms", answer = "solution", kernel = { ("divide<%%s,%d>"):format(ROWS) }, make = function(c)
  local X, half, forward, back = transforms(c)
  local divide = c:launch(("divide<%%s,%d>"):format(ROWS),
    { block = BLOCK, grid = grid(half, ceil_div(c.ny, ROWS), c.nz) },
    { spectrum = X, half = half, scale = 1 / #c.u, ex = eigenvalues(c, c.nx, half), ey = eigenvalues(c, c.ny, c.ny),
      ez = eigenvalues(c, c.nz, c.nz) })
  return function()
    forward(X, c.f)
    divide()
    back(c.u, X)
  end
end }

-- ---- until the error is small -----------------------------------------------------------------------
-- Repeats an iteration from the start until the error is that of c.digits; returns how often, and the launches of that.
local function repeated(c, once)
  local error, count, size = c:array(#c.u), 0, c.dev:norm(c.known)
  begin(c, c.u)
  repeat
    local more = math.max(1, count // 16)
    for _ = 1, more do once() end
    count = count + more
    error:copy(c.u:view(1, #c.u))
    add(error, c.known, -1)
  until c.dev:norm(error) <= 10 ^ -c.digits * size or count > 64 * math.max(c.nx, c.ny)
  return function()
    for _ = 1, count do once() end
  end, { iterations = count }
end

-- A V-cycle from a level on, as launches: u of the finest level begins with what it has, of the others with 0.
local function cycle(c, list, u, f, nx, ny, is_fine)
  local function launch(kernel, arguments, x, y)
    arguments.nx, arguments.ny = nx, ny
    list[#list + 1] = c:launch(kernel, { block = BLOCK, grid = grid(x or nx, y or ny) }, arguments)
  end
  local v = c:array(nx, ny)
  local function smooth() -- twice, and back in u
    launch("smooth<%s>", { to = v, from = u, f = f })
    launch("smooth<%s>", { to = u, from = v, f = f })
  end
  if is_fine then
    smooth()
  else
    launch("smooth_zero<%s>", { to = v, f = f })
    launch("smooth<%s>", { to = u, from = v, f = f })
  end
  if math.min(nx, ny) > 2 then
    local coarse, right = c:array(nx // 2, ny // 2), c:array(nx // 2, ny // 2)
    launch("coarse_right<%s>", { coarse = right, u = u, f = f }, nx // 2, ny // 2)
    cycle(c, list, coarse, right, nx // 2, ny // 2)
    launch("correct<%s>", { u = u, coarse = coarse })
  else
    for _ = 1, 4 do smooth() end
  end
  smooth()
end

local function multigrid(c)
  local list = {}
  cycle(c, list, c.u, c.f, c.nx, c.ny, true)
  return repeated(c, function()
    for _, go in ipairs(list) do go() end
  end)
end

local MULTIGRID <const> = { "smooth<%s>", "smooth_zero<%s>", "coarse_right<%s>", "correct<%s>" }
local function until_small(number, name, kernels, make)
  for i, is_graph in ipairs { false, true } do
    study:rung { number + i - 1, is_graph and name .. ", in a graph" or name, answer = "solution", kernel = kernels,
                 make = make, graph = is_graph, when = function(c) return c.digits ~= nil end,
                 fields = function(_, _, made) return made end }
  end
end
until_small(3, "multigrid", MULTIGRID, multigrid)
until_small(5, "conjugate gradients", { "apply_dot<%s>" }, function(c)
  local vectors = { block = 256, grid = ceil_div(#c.u, 1024), file = "sparse.cu" }
  local arguments, how = { x = c.u, m = #c.u }, { block = BLOCK, grid = grid(c.nx, c.ny) }
  local apply, update = c:launch("apply_dot<%s>", how), c:launch("cg_update<%s>", vectors, arguments)
  local direction = c:launch("direction<%s>", vectors, arguments)
  local next_one = c:launch("next", { block = 1, grid = 1, file = "sparse.cu" })
  return repeated(c, function()
    apply()
    update()
    direction()
    next_one()
  end)
end)

-- ---- parts ------------------------------------------------------------------------------------------
local SHOWN = { { "number", title = "no." }, "rung", "digits", "iterations", "t", "unknowns",
                { "share", title = "of two transforms", unit = "%", digits = 3 }, "error_rms" }
local function by_transforms(name, case, odd)
  study:part { name, cases = { case }, odd = odd, rungs = { "two transforms", "by transforms" }, table = SHOWN,
               charts = { { kind = "ladder" } }, ratios = { "by transforms / two transforms" } }
end
by_transforms("2-D", { nx = p.plane, ny = p.plane }, { { nx = 6, ny = { 1, 5, 16 } }, { nx = 35, ny = 4 } })
by_transforms("3-D", { nx = p.cube, ny = p.cube, nz = p.cube },
  { { nx = 6, ny = 5, nz = { 2, 7 } }, { nx = 9, ny = 4, nz = 3 } })
study:part { "error", cases = { { nx = p.side, ny = p.side, digits = p.targets, type = "f64" } }, error = true,
  odd = { { nx = { 4, 16 }, ny = 16, digits = 3, type = "f64" }, { nx = 64, ny = 32, digits = 5, type = "f64" } },
  table = SHOWN, rows = "all",
  rungs = { "by transforms", "multigrid", "multigrid, in a graph", "conjugate gradients",
            "conjugate gradients, in a graph" },
  charts = { { x = "digits", y = "t", by = "rung", logy = 10, xlabel = "digits of the solution" } } }
return study
