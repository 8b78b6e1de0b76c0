-- SPDX-License-Identifier: MIT
--
-- divergence: what does it cost when the threads of a warp do different things?
--
-- Threads or warps that go several ways; a branch of an instruction; a list with a few expensive elements; a
-- boundary; then how threads agree: by atomic operations, votes and counts, in shared and in global memory.
-- The rate is elements / t. See docs/studies/divergence.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local PERIOD <const>, BLOCK <const> = 65537, 256 -- a prime: no block walks it in step

local study, p = mw.study {
  question = "what does it cost when threads do different things, and how do they agree on who does what?",
  course = { week = 4.1, level = 1, hours = 3, about = "warps, votes, lists",
             without_gpu = "active lanes by counters" },
  kernels = "divergence.cu", rate = { "elements", work = function(c) return c.count or c.n end }, output = "y",
  type = "f32", level = "library copy", odd = { { n = 10007, fraction = 0.2 }, { n = 45, fraction = 1 } },
  seconds = { 0.02, gpu = 0.02 }, units = { elements = "1/s" },
  params = {
    { "n", 1 << 18, "elements of parts branch, list, count and atomics", gpu = 1 << 26, min = 1024, max = 1 << 30 },
    { "side", 1024, "points along each side of part boundary", gpu = 8192, min = 3, max = 32768 },
    { "steps", 255, "multiplications and additions of what is expensive", gpu = 1023, min = 1 },
    { "fractions", { 0.01, 0.03, 0.1, 0.3, 1 }, "of the expensive elements in the list", min = 0, max = 1 },
    { "bins", { 1, 8, 64, 512 }, "addresses of part atomics", min = 1, max = 1024 },
  },
}

-- The numbers of the first period come again and again, so that the host can count them.
local function repeating(c, ...)
  local x, have = c:array(...):random(3), PERIOD
  local flat <const> = c.nx and x:view(1, #x) or x
  while have < #x do
    flat:copy(flat, { to = have + 1, count = math.min(have, #x - have) })
    have = 2 * have
  end
  return x
end

-- An odd number of steps v = 2 - v.
function study.arrays(c)
  c.steps, c.a, c.b, c.fraction = (c.steps or p.steps) | 1, -1, 2, c.fraction or 0.5
  c.count = c.nx and c.nx * c.nx or c.n
  local sides = c.nx and { c.nx, c.nx } or { c.n }
  return { x = repeating(c, table.unpack(sides)), y = c:array(table.unpack(sides)) }
end

study:library("x", "y")
local function close_to(c) return { absolute = 2 * c.eps } end

-- ---- ways and branches ------------------------------------------------------------------------------
study:answer("steps", { cell = function(_, at, i) return 2 - at.x(i) end, tolerance = close_to })
study:rung { 1, "threads differ", kernel = "branches<false>", answer = "steps", block = 1024, over = { "n" } }
study:rung { 1, "warps differ", kernel = "branches<true>", answer = "steps", block = 1024, over = { "n" } }

study:answer("root", { tolerance = close_to, cell = function(c, at, i)
  local x = at.x(i)
  return x < c.fraction and x - 2 or x ^ 0.5
end })
study:rung { 2, "if and else", kernel = "root_branch", answer = "root", block = BLOCK, over = { "n" } }
study:rung { 2, "a choice", kernel = "root_select", answer = "root", block = BLOCK, over = { "n" } }

-- ---- a list -----------------------------------------------------------------------------------------
study:answer("list", { tolerance = close_to, cell = function(c, at, i)
  local x = at.x(i)
  return (x < c.fraction and 2 or 1) - x
end })
study:rung { 3, "a branch", kernel = "list_branch", answer = "list", block = BLOCK, over = { "n" } }

-- Launches that build lists, then those that work through them.
local function lists(name, build, ...)
  local through = { ... }
  study:rung { name == "two lists" and 4 or 5, name, answer = "list", block = BLOCK, launches = function(c, block)
    local all = { block = block, grid = ceil_div(c.n, block) }
    local some = { block = block, grid = math.min(all.grid, 8 * c.dev:properties().multiprocessors) }
    local list = { { "list_begin", { block = 2, grid = 1 } }, { build, all } }
    for _, kernel in ipairs(through) do list[#list + 1] = { kernel, some } end
    return list
  end }
end
lists("two lists", "list_two", "list_work", "list_rest")
lists("a list, by element", "list_build<ELEMENT>", "list_work")
lists("a list, by warp", "list_build<WARP>", "list_work")
lists("a list, by block", "list_build<BLOCK>", "list_work")
study:rung { 6, "a list in each block", kernel = "list_in_block", answer = "list", block = BLOCK, over = { "n" } }

-- ---- a boundary -------------------------------------------------------------------------------------
study:answer("boundary", { tolerance = close_to, cell = function(c, at, i, j)
  if i == 1 or i == c.nx or j == 1 or j == c.nx then return 2 - at.x(i, j) end
  return (at.x(i - 1, j) + at.x(i + 1, j) + at.x(i, j - 1) + at.x(i, j + 1)) / 4
end })
study:rung { 7, "one kernel", kernel = "edge_branch", answer = "boundary", block = { 32, 8 }, over = { "nx", "nx" } }
study:rung { 8, "two kernels", answer = "boundary", block = { 32, 8 }, launches = function(c, block)
  return { { "inner", { block = block, grid = { ceil_div(c.nx, 32), ceil_div(c.nx, 8) } } },
           { "edges", { block = BLOCK, grid = ceil_div(4 * (c.nx - 1), BLOCK) } } }
end }

-- ---- agreeing ---------------------------------------------------------------------------------------
local function to_zero(_, out) out:fill(0) end

study:answer("count", { output = "total", start = to_zero, host = function(c)
  local count = 0
  for i, x in ipairs(c.x:view(1, math.min(c.n, PERIOD)):totable()) do
    if x < c.fraction then count = count + (c.n - i) // PERIOD + 1 end
  end
  return { count }
end })
for _, by in ipairs { "element", "shared", "warp", "block" } do
  study:rung { 9, "count by " .. by, kernel = ("count<%s>"):format(by:upper()), answer = "count", block = BLOCK,
               over = { "n" } }
end

study:answer("bins", { output = "total", start = to_zero,
  host = function(c) return function(bin) return (c.n - bin) // c.many + 1 end end })
for _, place in ipairs { "global", "shared" } do
  study:rung { 10, place, kernel = ("bins<%s>"):format(place == "shared"), answer = "bins", block = BLOCK,
    grid = function(c, block) return math.min(ceil_div(c.n, block), 8 * c.dev:properties().multiprocessors) end }
end

-- ---- parts ------------------------------------------------------------------------------------------
local share = { "share", title = "of the copy", unit = "%", digits = 3 }

local function total(c) return { total = c.dev:zeros("u32", c.many or 1) } end

study:part { "ways", cases = { { n = p.n // 16, ways = { 1, 2, 4, 8, 16, 32 } } }, rungs = { "steps" }, rows = "all",
  odd = { { n = 10007, ways = { 1, 7, 32 } } },
  derive = function(records, c)
    for _, r in ipairs(records) do r.bound = r.rung == "threads differ" and 1 / c.ways or 1.0 end
  end,
  level = "warps differ",
  table = { "rung", "ways", "t", "elements", { "share", title = "of warps differ", unit = "%", digits = 3 },
            { "bound", unit = "%" } },
  charts = { { x = "ways", logx = 2, logy = 10, title = "rate by ways" } } }

study:part { "branch", cases = { { n = p.n, fraction = 0.5 } }, rungs = { "library copy", "root" },
  table = { "rung", "t", "elements", share } }

study:part { "list", cases = { { n = p.n, fraction = p.fractions } }, rungs = { "library copy", "list" }, rows = "all",
  arrays = function(c)
    local function indices(n) return c.dev:array("u32", n) end
    return { list = indices(c.n), others = indices(c.n), counts = indices(2) }
  end,
  derive = function(records, c) -- warps with an expensive element, and those that a full list needs
    for _, r in ipairs(records) do
      r.warps = r.rung == "a branch" and 1 - (1 - c.fraction) ^ 32 or r.number and c.fraction or nil
    end
  end,
  table = { "rung", { "fraction", unit = "%" }, { "warps", title = "warps busy", unit = "%", digits = 3 }, "t",
            "elements", share },
  charts = { { x = "fraction", logx = 10, logy = 10, title = "rate by fraction",
               xlabel = "fraction of the expensive" } } }

study:part { "boundary", cases = { { nx = p.side, steps = { 1, p.steps } } }, rungs = { "library copy", "boundary" },
  odd = { { nx = 67, steps = 3 } }, rows = "all", table = { "rung", "steps", "t", "elements", share },
  ratios = { "two kernels / one kernel" } }

study:part { "count", cases = { { n = p.n } }, rungs = { "library copy", "count" }, arrays = total,
  table = { "rung", "t", "elements", share }, charts = { { kind = "ladder" } } }

study:part { "atomics", cases = { { n = p.n, many = p.bins } }, rungs = { "bins" }, arrays = total, rows = "all",
  odd = { { n = 10007, many = { 1, 7, 64, 512 } } }, level = "shared",
  table = { "rung", "many", "t", "elements", { "share", title = "of shared", unit = "%", digits = 3 } },
  charts = { { x = "many", logx = 2, logy = 10, title = "rate by addresses", xlabel = "addresses" } } }
return study
