-- SPDX-License-Identifier: MIT
--
-- access: what do the ways to reach an element cost, against a copy?
--
-- Seven parts over kernels/access.cu: neighbours that lie apart; lines that begin elsewhere; bytes of an access; loads
-- in flight; pairs of halves; where constants live; where a small array lives. Each moves every element once in and
-- once out: T_tot = 2 * bytes(x) / t, and shares are of the library's copy of as many bytes, measured in turn.
-- What branches, votes and atomics cost is the study divergence. See docs/studies/access.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local TERMS, LANES, BLOCK = 64, 32, 256 -- the first two as in the kernels

local study, p = mw.study {
  question = "what does it cost to reach an element: from where, how wide, and how many at once?",
  course = { week = 3.1, level = 1, hours = 3, about = "strides, widths, kinds of memory",
             without_gpu = "sectors and bank conflicts by counters" },
  kernels = "access.cu", rate = "T_tot", output = "y", type = "f32", level = "library copy",
  odd = { { n = 10007 }, { n = 67 } }, seconds = { 0.02, gpu = 0.02 },
  params = {
    { "n", 1 << 22, "elements of parts stride and width; the others have fewer", gpu = 1 << 28, min = 1024,
      max = 1 << 30 },
    { "strides", { 1, 2, 4, 8, 16, 32, 1000 }, "elements between neighbouring threads", min = 1 },
    { "offsets", { 0, 1, 2, 4, 8, 16, 31 }, "elements before the first one of a warp", min = 0,
      max = 256 },
    { "steps", 15, "multiplications and additions of part half", gpu = 255, min = 1 },
  },
}
local SOME <const> = p.n // 4

-- A case has n elements, or m planes of them.
function study.arrays(c)
  local function array() return c.m and c:array(c.n, c.m) or c:array(c.n) end
  return { x = array():random(3), y = array() }
end

study:library("x", "y")

-- ---- copies -----------------------------------------------------------------------------------------
study:rung { 1, "strided", kernel = "strided", answer = "copy", block = BLOCK, when = function(c) return c.stride end,
  grid = function(c, block) return { ceil_div(ceil_div(c.n, c.stride), block), c.stride } end }
study:rung { 2, "shifted", kernel = "shifted", answer = "copy", block = BLOCK, over = { "n" },
  when = function(c) return c.offset end }

for _, one in ipairs { { 1, "unsigned char" }, { 2, "unsigned short" }, { 4, "float" }, { 8, "float2" },
                       { 16, "float4" } } do
  local bytes, type = one[1], one[2]
  study:rung { 3, bytes == 1 and "1 byte per thread" or bytes .. " bytes per thread", kernel = ("by<%s>"):format(type),
    answer = "copy", block = BLOCK, fields = { access = bytes },
    grid = function(c, block) return ceil_div(4 * c.n, bytes * block) end }
end

-- With few threads the loads that each has in flight decide.
local function blocks_of(c, block)
  return math.min(ceil_div(c.n, block), (c.per or 8) * c.dev:properties().multiprocessors)
end
for i, one in ipairs { { "one by one", "in_order<1>" }, { "four in order", "in_order<4>" },
                       { "four in order, restrict", "in_order_restrict<4>" }, { "four loads first", "loads_first<4>" },
                       { "sixteen loads first", "loads_first<16>" } } do
  study:rung { 3 + i, one[1], kernel = one[2], answer = "copy", block = 128, grid = blocks_of }
end

-- ---- arithmetic -------------------------------------------------------------------------------------
-- An odd number of steps v = 1 - v. In f16 the first one rounds; the others are exact.
study:answer("steps", { bytes = "x y", cell = function(_, at, i) return 1 - at.x(i) end,
  tolerance = function(c) return { absolute = c.eps } end })
for i, kernel in ipairs { "half_steps", "half2_steps", "float_steps" } do
  study:rung { 8 + i, ({ "half", "half2", "float between" })[i], kernel = kernel, answer = "steps", block = BLOCK,
    over = { "n" }, each = kernel == "half2_steps" and 2 or 1,
    args = { a = -1, b = 1, steps = p.steps | 1 } }
end

local function term(k, lane) return (k % 2 == 0 and 1 or -1) / (k + 1) * (1 + lane / LANES) end

local function coefficients()
  local list = {}
  for j = 0, TERMS * LANES - 1 do list[j + 1] = term(j // LANES, j % LANES) end
  return list
end

-- Horner's rule; is_own: by the lane's coefficients.
local function polynomial(is_own)
  return { bytes = "x y", tolerance = function(c) return { absolute = 16 * c.eps } end,
    cell = function(_, at, i)
      local x, lane, sum = at.x(i), is_own and (i - 1) % LANES or 0, 0.0
      for k = 0, TERMS - 1 do sum = sum * x + term(k, lane) end
      return sum
    end }
end
study:answer("the same", polynomial(false))
study:answer("its own", polynomial(true))

local function with_constants(number, name, kernel, answer)
  study:rung { number, name, kernel = kernel, answer = answer, block = BLOCK, grid = blocks_of }
end
for i, place in ipairs { "constant", "global", "shared" } do
  with_constants(11 + i, place, ("polynomial<%s,false>"):format(place:upper()), "the same")
  with_constants(11 + i, place .. ", each lane its own", ("polynomial<%s,true>"):format(place:upper()), "its own")
end
with_constants(15, "in the code", "polynomial<LITERAL,false>", "the same")
with_constants(16, "y[i] as the sum", "in_place", "the same")
with_constants(16, "y[i] as the sum, restrict", "in_place_restrict", "the same")

-- ---- small arrays -----------------------------------------------------------------------------------
study:answer("matrix", { bytes = "x y", tolerance = function(c) return { absolute = 8 * c.eps } end,
  cell = function(c, at, i, k)
    local sum = 0.0
    for j = 1, c.m do sum = sum + at.x(i, j) / (k + j - 1) end
    return sum
  end })

local function hilbert()
  local list = {}
  for at = 0, 255 do list[at + 1] = 1 / (at // 16 + at % 16 + 1) end
  return list
end

study:rung { 17, "registers", kernel = function(c) return ("product_registers<%d>"):format(c.m) end,
  answer = "matrix", block = BLOCK, over = { "n" } }
study:rung { 18, "local memory", kernel = "product_local", answer = "matrix", block = BLOCK, over = { "n" } }
for _, by in ipairs { { "shared, a column per thread", "false" }, { "shared, a row per thread", "true" } } do
  study:rung { 19, by[1], kernel = ("product_shared<%s>"):format(by[2]), answer = "matrix", block = BLOCK,
    over = { "n" }, shared = function(c, block) return 4 * c.m * block end }
end

-- ---- parts ------------------------------------------------------------------------------------------
local share = { "share", title = "of the copy", unit = "%", digits = 3 }

-- The bytes used of the sectors are the bound.
study:part { "stride", cases = { { n = p.n, stride = p.strides } }, rungs = { "library copy", "strided" },
  odd = { { n = 10007, stride = { 1, 3, 32, 1000 } } }, rows = "all",
  counters = { "sectors_per_request", "load_efficiency", at = { n = 128000 } },
  table = { "rung", "stride", { "sectors_per_request", title = "sectors", digits = 3 },
            { "load_efficiency", title = "bound", digits = 3 }, "t", "T_tot", share },
  charts = { { x = "stride", logx = 2, logy = 10, title = "T_tot by stride",
               xlabel = "elements between neighbouring threads",
               of = function(r) return r.rung == "strided" end } } }

study:part { "offset", cases = { { n = SOME, offset = p.offsets } }, rungs = { "library copy", "shifted" },
  odd = { { n = 10007, offset = { 0, 1, 31 } } }, counters = { "sectors_per_request", at = { n = 4096 } },
  table = { "rung", "offset", { "sectors_per_request", title = "sectors", digits = 3 }, "t", "T_tot", share },
  rows = "all" }

study:part { "width", cases = { { n = p.n } }, rungs = function(one) return (one.number or 3) == 3 end,
  counters = { "sectors_per_request", at = { n = 4096 } },
  table = { "rung", "t", "T_tot", share }, charts = { { kind = "ladder" } },
  ratios = { "16 bytes per thread / library copy", "1 byte per thread / 4 bytes per thread" } }

study:part { "loads", cases = { { n = SOME, per = { 1, 2, 4, 8, 16 } } },
  rungs = function(one) return not one.number or one.number > 3 and one.number < 9 end,
  charts = { { x = "per", logx = 2, title = "T_tot by threads",
               xlabel = "blocks of 128 threads per multiprocessor" } },
  table = { "rung", "per", "t", "T_tot", share }, rows = "all" }

study:part { "half", cases = { { n = SOME, type = "f16" } }, rungs = { "library copy", "steps" },
  table = { "rung", "t", "T_tot", share }, charts = { { kind = "ladder" } },
  ratios = { "half2 / half", "half2 / float between" } }

study:part { "constants", cases = { { n = SOME // 4 } }, rungs = { "library copy", "the same", "its own" },
  arrays = function(c) -- on a GPU a variable that no kernel uses does not exist
    local is_used = study:has "constant" or study:has "constant, each lane its own"
    if is_used then c:variable("terms_constant"):upload(coefficients()) end
    return { terms = c.dev:array("f32", coefficients()) }
  end,
  table = { "number", "rung", "t", "T_tot", share }, charts = { { kind = "ladder" } },
  ratios = { "constant / in the code", "constant / constant, each lane its own",
             "y[i] as the sum, restrict / y[i] as the sum" } }

study:part { "local", cases = { { n = SOME // 4, m = { 3, 16 } } }, rungs = { "library copy", "matrix" }, each = "m",
  odd = { { n = 1003, m = { 3, 16 } } },
  arrays = function(c) c:variable("matrix"):upload(hilbert()) end,
  counters = { "sectors_per_request", "shared_conflicts_per_request", at = { n = 4096 } },
  table = { "rung", "m", "t", "T_tot", share }, charts = { { kind = "ladder" } },
  ratios = { "registers / local memory", "shared, a column per thread / shared, a row per thread" } }
return study
