-- SPDX-License-Identifier: MIT
--
-- tuning: does a search find the best variant of a kernel, and the same one each time?
--
-- Four kernels whose blocks, elements per thread and tiles are open. First each in one shape; then all variants, and
-- searches that try a quarter of them at most, several times: what they find compared with the best of all, and whether
-- it is the best or one that is announced as tied with it. See docs/studies/tuning.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local study, p = mw.study {
  question = "does a search find the best variant of a kernel, and the same one each time?",
  course = { week = 11.2, level = 2, hours = 3, about = "the best of hundreds of variants",
             without_gpu = "spaces of a few variants" },
  kernels = "tuning.cu", rate = "T_eff", seconds = { 0.005, gpu = 0.003 }, type = "f32",
  odd = { { nx = 67, ny = 43, n = 37, length = 1003 }, { nx = 132, ny = 70, n = 50, length = 20001 } },
  params = {
    { "side", 512, "points along each side of the stencil's and the transposition's arrays", gpu = 8192, min = 8 },
    { "n", 128, "rows and columns of the matrices", gpu = 1024, min = 8 },
    { "length", 1 << 18, "elements of the sum", gpu = 1 << 26, min = 1 },
    { "searches", { "groups" }, "searches to compare",
      choices = { "groups", "random", "local", "annealing", "halving" } },
    { "repeats", 1, "tunings by each search", gpu = 2, min = 1, max = 100 },
    { "small", true, "spaces of a few variants", gpu = false },
  },
}

function study.arrays(c)
  local function plane() return c.dev:array("f32", c.nx, c.ny) end
  local function matrix(seed) return c.dev:array("f32", c.n, c.n):random(seed) end
  return { T1 = plane():random(1), T2 = plane(), B = c.dev:array("f32", c.ny, c.nx), a = 0.1,
           M = matrix(2), N = matrix(3), C = c.dev:array("f32", c.n, c.n), x = c.dev:array("f32", c.length):random(4),
           sum = c.dev:array("f32", 1), parts = c.dev:array("f32", 1 << 16), ticket = c.dev:zeros("u32", 1) }
end

-- ---- what is right ----------------------------------------------------------------------------------
study:answer("step", { output = "T2", bytes = "T1 T2", tolerance = function(c) return { absolute = 8 * c.eps } end,
  cell = function(c, at, i, j)
    local here = at.T1(i, j)
    if i == 1 or j == 1 or i == c.nx or j == c.ny then return here end
    return here + c.a * (at.T1(i - 1, j) + at.T1(i + 1, j) + at.T1(i, j - 1) + at.T1(i, j + 1) - 4 * here)
  end })
study:answer("product", { output = "C", bytes = "M N C",
  tolerance = function(c) return { absolute = c.eps * c.n ^ 1.5 } end, -- n products below 1
  cell = function(c, at, i, j)
    local sum = 0.0
    for k = 1, c.n do sum = sum + at.M(k, j) * at.N(i, k) end
    return sum
  end })
study:answer("sum", { output = "sum", bytes = "x", tolerance = function(c) return { sum = c.length } end,
  host = function(c) return c.dev:sum(c.x) end })
study:answer("transposed", { output = "B", bytes = "T1 B", tolerance = function() return { absolute = 0 } end,
  cell = function(_, at, i, j) return at.T1(j, i) end })

-- ---- the kernels and their spaces -------------------------------------------------------------------
-- Values of a parameter, the simplest first; on the CPU device some of them.
local function values(all, some) return p.small and some or all end
local function between(value, low, high) return value >= low and value <= high end

study:rung { 1, "stencil", kernel = "diffuse<%s,1,0>", answer = "step", block = { 32, 8 }, over = { "nx", "ny" },
  space = { { "bx", values({ 8, 16, 32, 64, 128, 256, 512 }, { 32, 128 }) },
            { "by", values({ 1, 2, 4, 8, 16, 32 }, { 1, 8 }) },
            { "rows", values({ 1, 2, 4, 8 }, { 1, 4 }) }, { "ldg", values({ 0, 1 }, { 0 }) } },
  groups = { { "bx", "by" }, { "rows", "ldg" } }, start = { bx = 32, by = 8, rows = 1, ldg = 0 },
  where = function(v) return between(v.bx * v.by, 32, 1024) end,
  variant = function(v)
    return { kernel = ("diffuse<%%s,%d,%d>"):format(v.rows, v.ldg), block = { v.bx, v.by }, each = { 1, v.rows } }
  end }

-- down x along elements per thread, from tiles of so many columns of A.
local function product(block, down, along, depth)
  return { kernel = ("product<%d,%d,%d>"):format(down, along, depth), block = block,
           shared = function(_, b) return 4 * depth * (down * b[2] + along * b[1]) end,
           grid = function(c, b) return { ceil_div(c.n, along * b[1]), ceil_div(c.n, down * b[2]) } end }
end

local rung = product({ 16, 16 }, 4, 4, 8)
rung[1], rung[2], rung.answer, rung.args = 2, "matrix product", "product", function(c) return { A = c.M, B = c.N } end
rung.space = { { "bx", values({ 8, 16, 32 }, { 16 }) }, { "by", values({ 8, 16, 32 }, { 8, 16 }) },
               { "down", values({ 2, 4, 8 }, { 4 }) }, { "along", values({ 2, 4, 8 }, { 2, 4 }) },
               { "depth", values({ 8, 16, 32 }, { 8 }) } }
rung.groups = { { "bx", "by", "depth" }, { "down", "along" } } -- block and depth share the copying and the memory
rung.start = { bx = 16, by = 16, down = 4, along = 4, depth = 8 }
rung.where = function(v) return 4 * v.depth * (v.down * v.by + v.along * v.bx) <= 48 << 10 end
rung.variant = function(v) return product({ v.bx, v.by }, v.down, v.along, v.depth) end
study:rung(rung)

local function blocks_of(c, block, waves)
  return math.max(1, math.min(waves * c.dev:properties().multiprocessors, ceil_div(c.length, block), 1 << 16))
end

study:rung { 3, "reduction", kernel = "add<1,1>", answer = "sum", block = 256,
  grid = function(c, block) return blocks_of(c, block, 4) end,
  args = function(c) return { n = c.length } end,
  space = { { "block", values({ 64, 128, 256, 512, 1024 }, { 128, 256 }) }, { "waves", values({ 1, 2, 4, 8 }, { 4 }) },
            { "vector", values({ 1, 2, 4 }, { 1, 4 }) }, { "unroll", values({ 1, 2, 4, 8 }, { 1 }) } },
  groups = { { "block", "waves" }, { "vector", "unroll" } },
  start = { block = 256, waves = 4, vector = 1, unroll = 1 },
  variant = function(v)
    return { kernel = ("add<%d,%d>"):format(v.vector, v.unroll), block = v.block,
             grid = function(c, block) return blocks_of(c, block, v.waves) end }
  end }

local function tiles(c, side) return ceil_div(c.nx, side) * ceil_div(c.ny, side) end

study:rung { 4, "transposition", kernel = "turn<%s,32,1,1,ROWS_OF_A>", answer = "transposed", block = { 32, 8 },
  args = function(c) return { A = c.T1 } end, grid = function(c) return tiles(c, 32) end,
  space = { { "tile", values({ 16, 32, 64 }, { 16, 32 }) }, { "by", values({ 1, 2, 4, 8, 16, 32 }, { 4, 8 }) },
            { "pad", values({ 0, 1, 2 }, { 1 }) }, { "unroll", values({ 1, 4 }, { 1 }) },
            { "order", values({ "ROWS_OF_A", "ROWS_OF_B", "DIAGONALS" }, { "ROWS_OF_A", "ROWS_OF_B" }) } },
  groups = { { "tile", "by" }, { "order", "pad" }, { "unroll" } },
  start = { tile = 32, by = 8, pad = 1, unroll = 1, order = "ROWS_OF_A" },
  where = function(v) return v.by <= v.tile and v.tile * v.by <= 1024 end,
  variant = function(v)
    return { kernel = ("turn<%%s,%d,%d,%d,%s>"):format(v.tile, v.pad, v.unroll, v.order), block = { v.tile, v.by },
             grid = function(c) return tiles(c, v.tile) end }
  end }

-- ---- in one shape -----------------------------------------------------------------------------------
local sides = { nx = p.side, ny = p.side, n = p.n, length = p.length }
study:part { "as written", cases = { sides }, table = { { "number", title = "no." }, "rung", "block", "t", "T_eff" } }

-- ---- searches and all variants -------------------------------------------------------------------
-- A variant's time over the least of a tuning, measured in turn where it is one of the best.
local function share_of(all, number)
  for _, row in ipairs { all.best, table.unpack(all.ties) } do
    if row.number == number then return 1 / row.ratio.value end
  end
  for _, row in ipairs(all.rows) do
    if row.number == number then return all.best.value / row.value end
  end
end

local function is_among(result, number)
  for _, row in ipairs { result.best, table.unpack(result.ties) } do
    if row.number == number then return true end
  end
  return false
end

-- Tunings by one search: how many variants they try at most, the least share, how often the first one's ties have the
-- best.
local function repeated(name, search, all, history)
  local first, found = nil, { tried = 0, share = 1, same = 0, ties = 0 }
  for seed = 1, p.repeats do
    local one = study:tune(name, sides, { search = search, seed = seed, most = math.max(4, all.size // 4), quiet = true,
                                          name = ("%s, %s %d"):format(name, search, seed), min_time = p.seconds })
    if not first then table.move(one.history, 1, #one.history, #history + 1, history) end
    first = first or one
    found.tried, found.ties = math.max(found.tried, one.tried), math.max(found.ties, #one.ties)
    found.share = math.min(found.share, share_of(all, one.best.number))
    found.same = found.same + (is_among(first, one.best.number) and 1 or 0)
  end
  found.same = ("%d of %d"):format(found.same, p.repeats)
  return found
end

local rows = {}

local function note(name, search, all, found)
  rows[#rows + 1] = mw.record { kernel = name, search = search, variants = all.size + 0.0, tried = found.tried + 0.0,
    found = found.share, same = found.same, tied = found.ties + 0.0, least = all.best.value, units = { least = "s" } }
end

local function compare(name)
  local all = study:tune(name, sides, { search = "brute force", name = name .. ", all", quiet = true,
                                        min_time = p.seconds })
  local history = table.move(all.history, 1, #all.history, 1, {})
  note(name, "brute force", all, { tried = all.tried, share = 1.0, ties = #all.ties })
  for _, search in ipairs(p.searches) do
    note(name, search, all, repeated(name, search, all, history))
  end
  mw.plot { x = "evaluation", y = "best", by = "tuning", records = history, points = false, logx = 2,
            name = "tuning-" .. name:gsub(" ", "-"), title = name .. ": best so far", xlabel = "variants" }
end

study:part { "tuned", run = function()
  for _, name in ipairs { "stencil", "matrix product", "reduction", "transposition" } do
    if study:has(name) then compare(name) end
  end
  mw.table { "kernel", "search", "variants", "tried", { "found", title = "of the best", unit = "%" }, "same",
             { "tied", title = "ties" }, { "least", title = "best" }, records = rows,
             title = "what searches find beside the best of all variants" }
end }

return study
