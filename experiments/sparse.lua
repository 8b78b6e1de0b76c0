-- SPDX-License-Identifier: MIT
--
-- sparse: how near does a product with a sparse matrix come to the memory's rate, and what does a solver make of it?
--
-- y = A x by a thread per row, a warp per row, rows of one length, rows staged in shared memory, and equal shares of
-- rows and elements; on the matrix of a 2-D Poisson equation, and on one whose rows' lengths follow a power law. Y = AX
-- of eight columns. A triangular solve by levels. Conjugate gradients, with dot products of their own or fused, launch
-- by launch or in a graph. T_eff = bytes of the arrays, each once, / t; an iteration of conjugate gradients counts as
-- the fused one. Shares are of the library (moonwarp.sparse: cuSPARSE), or of the copy. See docs/studies/sparse.md.

local mw = require "moonwarp"
local sparse = require "moonwarp.sparse"
local ceil_div = mw.ceil_div

local study, p = mw.study {
  question = "how near does a sparse matrix come to the memory's rate, and what does a solver make of it?",
  course = { week = 11.4, level = 2, hours = 4, about = "formats, and a solver of few launches",
             without_gpu = "results, iterations" },
  kernels = "sparse.cu", rate = "T_eff", output = "y", level = "library copy",
  seconds = { 0.02, gpu = 0.05 }, also = { "poisson<%s>", "to_ell<%s>", "merge_starts" },
  params = {
    { "side", 96, "points along each side of the Poisson equation's square", gpu = 4096, min = 1, max = 16384 },
    { "rows", 1 << 13, "rows of the matrix whose lengths follow a power law", gpu = 1 << 21, min = 1, max = 1 << 24 },
    { "steps", 10, "iterations of conjugate gradients", gpu = 20, min = 1 },
    { "triangle", 48, "points along each side of the triangular system's square", gpu = 512, min = 1, max = 2048 },
    { "type", "f64", "of the elements", choices = { "f32", "f64" } },
  },
}

local BLOCK, TILE, PIECE, COLUMNS = 256, 256 * 7, 256 * 4, 8 -- as in the kernels
local function rows(c) return c.rows or c.side * c.side end
local function per_row(c, block) return ceil_div(rows(c), block) end

-- ---- matrices ---------------------------------------------------------------------------------------
-- -u'' on a square, or its lower triangle.
local function poisson(c, is_lower)
  local s = c.side
  local elements = is_lower and 3 * s * s - 2 * s or 5 * s * s - 4 * s
  local made = { offsets = c.dev:array("i32", c.m + 1), columns = c.dev:array("i32", elements),
                 values = c:array(elements), side = s, lower = is_lower and 1 or 0 }
  c:launch("poisson<%s>", { block = BLOCK, grid = ceil_div(c.m + 1, BLOCK) }, made)()
  return made
end

-- Row lengths 7.2 m^0.7 rank^-0.7 - 7, about 17 on average, in no order; a seventh of the rows is empty.
local function power_law(c)
  local offsets, at = {}, 0
  for r = 0, c.m - 1 do
    offsets[r + 1] = at
    at = at + math.max(r == 0 and 1 or 0, math.floor(7.2 * (c.m / (1 + (r * 1000003 + c.m // 3) % c.m)) ^ 0.7 - 7))
  end
  offsets[c.m + 1] = at
  return { offsets = c.dev:array("i32", offsets), columns = c.dev:array("i32", at):random { seed = 3, max = c.m - 1 },
           values = c:array(at):random(4) }
end

-- The rows in order of their levels, and where each level begins. A row is one level behind the last one it needs,
-- which on a square are the neighbours above and to the left: the levels are diagonals.
local function levels_of(c)
  local starts, order, side = { 0 }, {}, c.side
  for l = 0, 2 * side - 2 do
    for j = math.max(0, l - side + 1), math.min(l, side - 1) do order[#order + 1] = j * side + l - j end
    starts[l + 2] = #order
  end
  return starts, c.dev:array("i32", order)
end

-- A solution, and the right side for it: the matrix times it.
local function times(c, made)
  local y = c:array(c.m)
  local arguments = { y = y, x = c:array(c.m):random(2), offsets = made.offsets, columns = made.columns,
                      values = made.values }
  c:launch("spmv_thread<%s>", { block = BLOCK, grid = per_row(c, BLOCK) }, arguments)()
  return arguments.x, y
end

function study.arrays(c)
  c.m = rows(c)
  local made = c.rows and power_law(c) or poisson(c, c.what == "triangle")
  made.x, made.y, c.elements = c:array(c.m):random(1), c:array(c.m), #made.columns
  if c.what == "columns" then
    made.X, made.Y = c:array(c.m, COLUMNS):random(1), c:array(c.m, COLUMNS)
  elseif c.what == "triangle" then
    c.starts, made.order = levels_of(c)
    made.level_starts, c.levels = c.dev:array("i32", c.starts), #c.starts - 1
    made.known, made.x = times(c, made)
  elseif c.what == "CG" then
    made.known, made.b = times(c, made)
    made.r, made.d, made.sums = c:array(c.m), c:array(c.m), c.dev:array("f64", 3)
  end
  return made
end

-- ---- what is right ----------------------------------------------------------------------------------
local function matrix_bytes(c) return c.offsets:nbytes() + c.columns:nbytes() + c.values:nbytes() end
local function row_sum(at, row, x)
  local sum = 0.0
  for i = at.offsets(row) + 1, at.offsets(row + 1) do sum = sum + at.values(i) * x(at.columns(i) + 1) end
  return sum
end

study:library(1, "x", "y")
study:answer("product", { cell = function(_, at, r) return row_sum(at, r, at.x) end,
  bytes = function(c) return matrix_bytes(c) + c.x:nbytes() + c.y:nbytes() end,
  tolerance = function(c) return { absolute = 64 * c.eps, relative = 1024 * c.eps } end })
study:answer("columns", { output = "Y",
  cell = function(_, at, r, k) return row_sum(at, r, function(column) return at.X(column, k) end) end,
  bytes = function(c) return matrix_bytes(c) + c.X:nbytes() + c.Y:nbytes() end,
  tolerance = function(c) return { absolute = 64 * c.eps } end })

local function known(c) return c.known end
study:answer("triangle", { host = known, needs = { "a thread per row" },
  tolerance = function(c) return { absolute = 256 * c.eps } end,
  bytes = function(c) return matrix_bytes(c) + c.x:nbytes() + c.y:nbytes() end })

local function begin(c, x)
  x:fill(0)
  c.r:copy(c.b)
  c.d:copy(c.b)
  c.sums:upload { c.dev:dot(c.b, c.b), 0, 0 }
end
study:answer("CG", { host = known, output = "x", start = begin, restart = true,
  needs = { "CG, an operation per kernel", "a thread per row" },
  tolerance = function(c) return { absolute = 1e5 * c.eps } end,
  reference = function(c, launcher)
    launcher("CG, an operation per kernel", c)()
    return c:keep(c.x:clone())
  end,
  bytes = function(c) return c.steps * (matrix_bytes(c) + 11 * c.x:nbytes()) end })

-- ---- products and the triangle ----------------------------------------------------------------------
local function rung(number, name, answer, how)
  how[1], how[2], how.answer = number, name, answer
  if answer ~= "product" then how.when = function(c) return c.what == answer end end
  study:rung(how)
end
local function each_row(kernel) return { kernel = kernel, block = BLOCK, grid = per_row } end
local function rows_how(c) return { block = BLOCK, grid = per_row(c, BLOCK) } end

rung(2, "a thread per row", "product", each_row "spmv_thread<%s>")
rung(3, "a warp per row", "product", { kernel = "spmv_warp<%s>", block = BLOCK,
                                     grid = function(c, block) return ceil_div(32 * rows(c), block) end })
rung(4, "rows of one length", "product", { when = function(c) return c.side ~= nil end, launches = function(c)
  local arguments = { width = 5 }
  if c.m then -- made once
    arguments.ell_columns, arguments.ell_values = c:keep(c.dev:array("i32", 5 * c.m)), c:array(5 * c.m)
    c:launch("to_ell<%s>", rows_how(c), arguments)()
  end
  return { { "spmv_ell<%s>", rows_how(c), arguments } }
end })
rung(5, "staged", "product", each_row "spmv_staged<%s>")
rung(6, "merged", "product", { launches = function(c)
  local tiles = ceil_div(rows(c) + (c.elements or 1), TILE)
  local arguments, how = { tiles = tiles, left = c:array(tiles) }, { block = BLOCK, grid = ceil_div(tiles + 1, BLOCK) }
  if c.m then -- made once
    arguments.starts = c:keep(c.dev:array("i32", tiles + 1))
    c:launch("merge_starts", how, arguments)()
  end
  local list = { { "spmv_merge<%s>", { block = BLOCK, grid = tiles }, arguments } }
  if tiles > 1 or not c.m then list[2] = { "merge_left<%s>", how, arguments } end
  return list
end })
rung(7, "library", "product", { make = function(c)
  return function() sparse.spmv(c.y, c.offsets, c.columns, c.values, c.x) end
end })

rung(8, "a product per column", "columns", { launches = function(c)
  local list = {}
  for k = 0, COLUMNS - 1 do
    local function column(array) return array and array:view(k * c.m + 1, c.m) or mw.null end
    list[k + 1] = { "spmv_thread<%s>", rows_how(c), { y = column(c.Y), x = column(c.X) } }
  end
  return list
end })
rung(9, "all columns", "columns", each_row(("spmm_thread<%%s,%d>"):format(COLUMNS)))
rung(10, "library, all columns", "columns", { make = function(c)
  return function() sparse.spmm(c.Y, c.offsets, c.columns, c.values, c.X) end
end })

local function by_levels(c)
  local list, starts = {}, c.starts or { 0, 1 }
  for l = 1, #starts - 1 do
    list[l] = { "solve_level<%s>", { block = 128, grid = ceil_div(starts[l + 1] - starts[l], 128) },
                { rows = c.order or mw.null, begin = starts[l], ["end"] = starts[l + 1] } }
  end
  return list
end
rung(11, "a launch per level", "triangle", { launches = by_levels })
rung(12, "a graph of them", "triangle", { launches = by_levels, graph = true })
rung(13, "levels in a launch", "triangle", { kernel = "solve_grid<%s>", block = 128, cooperative = true,
  args = function(c) return { rows = c.order } end,
  grid = function(c) return math.min(ceil_div(c.side, 128), c:resident("solve_grid<%s>", 128)) end })
rung(14, "library, triangle", "triangle", { make = function(c)
  return function() sparse.spsv(c.y, c.offsets, c.columns, c.values, c.x) end
end })

-- ---- conjugate gradients ----------------------------------------------------------------------------
local function pieces(c) return { block = BLOCK, grid = per_row(c, PIECE) } end
local function iterations(kernels)
  return function(c)
    local list = {}
    for _ = 1, c.steps do
      for _, one in ipairs(kernels(c, c.y)) do list[#list + 1] = one end
      list[#list + 1] = { "next", { block = 1, grid = 1 } }
    end
    return list
  end
end

local apart = iterations(function(c, q)
  return { { "spmv_staged<%s>", rows_how(c), { y = q, x = c.d } }, { "dot<%s>", pieces(c), { a = c.d, b = q, to = 1 } },
           { "add<%s>", pieces(c), { y = c.x, x = c.d, sign = 1 } },
           { "add<%s>", pieces(c), { y = c.r, x = q, sign = -1 } },
           { "dot<%s>", pieces(c), { a = c.r, b = c.r, to = 2 } }, { "direction<%s>", pieces(c) } }
end)
local fused = iterations(function(c, q)
  return { { "cg_product<%s>", rows_how(c), { q = q } }, { "cg_update<%s>", pieces(c), { q = q } },
           { "direction<%s>", pieces(c) } }
end)
-- The library's product, and scalars that the host computes: each dot product ends a burst of launches.
rung(15, "CG, scalars by the host", "CG", { kernel = { "add<%s>", "direction<%s>" }, make = function(c)
  local forward = c:launch("add<%s>", pieces(c), { y = c.x, x = c.d, sign = 1 })
  local back = c:launch("add<%s>", pieces(c), { y = c.r, x = c.y, sign = -1 })
  local turn = c:launch("direction<%s>", pieces(c))
  return function()
    local rr = c.dev:dot(c.r, c.r)
    for _ = 1, c.steps do
      sparse.spmv(c.y, c.offsets, c.columns, c.values, c.d)
      c.sums:upload { rr, c.dev:dot(c.d, c.y), 0 }
      forward()
      back()
      local after = c.dev:dot(c.r, c.r)
      c.sums:upload { rr, 0, after }
      turn()
      rr = after
    end
  end
end })
rung(16, "CG, an operation per kernel", "CG", { launches = apart })
rung(17, "CG, fused", "CG", { launches = fused })
rung(18, "CG, fused, in a graph", "CG", { launches = fused, graph = true })

-- ---- parts ------------------------------------------------------------------------------------------
local COLUMNS_SHOWN = { { "number", title = "no." }, "rung", "t", "T_eff", { "share", unit = "%", digits = 3 } }
local function part(name, case, odd, level, rungs, ratios)
  study:part { name, cases = { case }, odd = odd, level = level, rungs = rungs, ratios = ratios, table = COLUMNS_SHOWN,
               charts = { { kind = "ladder" } } }
end
-- So many iterations solve these: there are as many distinct eigenvalues, or the error is one of rounding by then.
local ODD_CG <const> = { { side = 3, steps = 5, what = "CG" }, { side = 17, steps = 70, what = "CG" } }
local PRODUCTS <const> = { "library copy", "product" }
part("Poisson", { side = p.side }, { { side = { 1, 2, 17, 40 } } }, "library", PRODUCTS,
  { "best product / library copy", "staged / library" })
part("power law", { rows = p.rows }, { { rows = { 1, 100, 3000 } } }, "library", PRODUCTS, { "merged / library" })
part("columns", { side = p.side, what = "columns" }, { { side = { 1, 17 }, what = "columns" } }, "a product per column",
  { "library copy", "columns" })
part("triangle", { side = p.triangle, what = "triangle" }, { { side = { 1, 7, 30 }, what = "triangle" } },
  "a launch per level", { "triangle" })
part("CG", { side = p.side, steps = p.steps, what = "CG" }, ODD_CG, "library copy", { "library copy", "CG" },
  { "CG, fused / CG, an operation per kernel", "CG, fused / library copy" })
return study
