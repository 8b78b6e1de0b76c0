-- SPDX-License-Identifier: MIT
--
-- montecarlo: where do a billion random paths get their random numbers from?
--
-- An option that pays max(first - second, 0) at the end of two prices with correlated steps: the mean over paths of
-- 2 normals a step (kernels/montecarlo.cu). How fast normals are made and stored; paths that read them, step by step or
-- path by path, or draw them where they use them; and how the error falls with the number of paths, by random numbers
-- and by Sobol's points. `normals` is normals per second. The host computes any normal and any path anew, from Philox
-- of its own; the option's value is W. Margrabe's (1978). After M. Giles and W. Armour, "CUDA Programming on NVIDIA
-- GPUs" (Oxford), practical 2. See docs/studies/montecarlo.md.

local mw = require "moonwarp"
local rand = require "moonwarp.rand"

local RATE, VOLATILITY, RHO, SEED, LAYERS, RUNS <const> = 0.05, 0.2, 0.5, 2026, 128, 16
local BLOCK <const> = 256

local study, p, gpu = mw.study {
  question = "where do a billion random paths get their random numbers from?", kernels = "montecarlo.cu",
  course = { week = 10.2, level = 2, hours = 3, about = "random numbers, in memory or made where needed",
             without_gpu = "error against the number of paths" },
  rate = { "normals", work = function(c) return 2 * c.steps * c.paths end }, units = { normals = "1/s" },
  type = "f32", output = "value", level = "store", seconds = { 0.02, gpu = 0.05 },
  odd = { { paths = 301, steps = 6 }, { paths = 17, steps = 2 } },
  params = {
    { "paths", 1 << 13, "of the prices", gpu = 1 << 20, min = RUNS, max = 1 << 26 },
    { "steps", 100, "of a path, an even number", min = 2, max = 1 << 12,
      check = function(n) return n % 2 == 1 and "an even number" or nil end },
    { "each", 5, "draws of a thread that stores normals by step", min = 1 },
    { "most", 1 << 18, "paths of the last part, which begins at 1024", gpu = 1 << 26, min = 1 << 10, max = 1 << 28 },
  },
}

-- ---- the ziggurat's layers, of equal areas -----------------------------------------------------------
local WIDTH, HEIGHT = {}, {}
do
  local area, edge = 9.91256303526217e-3, 3.442619855899 -- Marsaglia and Tsang's, for 128 layers
  local function curve(x) return math.exp(-0.5 * x * x) end
  WIDTH[0], WIDTH[1], WIDTH[LAYERS] = area / curve(edge), edge, 0.0
  for k = 2, LAYERS - 1 do WIDTH[k] = math.sqrt(-2 * math.log(area / WIDTH[k - 1] + curve(WIDTH[k - 1]))) end
  for k = 0, LAYERS do HEIGHT[k] = curve(WIDTH[k]) end
end

local OPTION <const> = { RATE - VOLATILITY ^ 2 / 2, VOLATILITY, RHO, math.sqrt(1 - RHO ^ 2), math.exp(-RATE) }
local FAST <const> = { "fused, Box-Muller, fast", "stored by path, fast", "stored by step, fast" }
local PLAIN <const> = { "fused, Box-Muller", "fused, inverse", "fused, ziggurat", "Sobol" }

local function has_any(names)
  for _, name in ipairs(names) do if study:has(name) then return true end end
end

function study.arrays(c)
  c.draws, c.run, c.quads = c.steps // 2, math.max(1, c.paths // RUNS), c.paths * c.steps // 2
  -- on a GPU a variable that no kernel uses does not exist
  if has_any(PLAIN) then c:variable("option"):upload(OPTION) end
  if has_any(FAST) then c:variable("option", { fast_math = true }):upload(OPTION) end
  if study:has "ziggurat" or study:has "fused, ziggurat" then
    c:variable("width"):upload(table.move(WIDTH, 0, LAYERS, 1, {}))
    c:variable("height"):upload(table.move(HEIGHT, 0, LAYERS, 1, {}))
  end
  return { z = c:array(c.paths, 2 * c.steps), value = c:array(c.paths), count = c.quads }
end

-- ---- the same on the host ----------------------------------------------------------------------------
local function f32(x) return (string.unpack("f", string.pack("f", x))) end
local function multiplied(a, b) return a * b >> 32, a * b & 0xffffffff end

-- Philox4x32-10: the words of a draw.
local function philox(draw, path, extra)
  local a, b, c, d, key, other = draw, extra or 0, path, 0, SEED, 0
  for _ = 1, 10 do
    local high, low = multiplied(0xD2511F53, a)
    local up, down = multiplied(0xCD9E8D57, c)
    a, b, c, d = up ~ b ~ key, down, high ~ d ~ other, low
    key, other = key + 0x9E3779B9 & 0xffffffff, other + 0xBB67AE85 & 0xffffffff
  end
  return a, b, c, d
end

local function uniform(word) return f32(f32(word) * 2.0 ^ -32 + 2.0 ^ -33) end -- as the kernels round it

local host = {} -- by method: the normal number k of four

function host.box_muller(draw, path, k)
  local words = { philox(draw, path) }
  local root, angle = math.sqrt(-2 * math.log(uniform(words[k - 1 | 1]))), 2 * math.pi * uniform(words[(k - 1 | 1) + 1])
  return root * (k % 2 == 1 and math.sin(angle) or math.cos(angle))
end

-- x with the distribution's value `below` at -x, by Newton's method; its series is G. Marsaglia's (2004).
local function quantile(below)
  local x, step = 0.0, 1.0
  while step > 1e-9 do
    local term, sum, k, density = x, x, 1, math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    while term > 1e-17 * sum do
      k = k + 2
      term = term * x * x / k
      sum = sum + term
    end
    step = (0.5 - density * sum - below) / density
    x = x + step
  end
  return x
end

local function inverse(word)
  local upper = word >> 31 == 1
  local x = quantile(((upper and ~word & 0xffffffff or word) + 0.5) * 2.0 ^ -32)
  return upper and x or -x
end

function host.inverse(draw, path, k) return inverse((select(k, philox(draw, path)))) end

function host.ziggurat(draw, path, k)
  local word, extra = select(k, philox(draw, path)), k
  while true do
    local layer = word % LAYERS
    local other = word - layer + LAYERS // 2
    local x = (other >= 1 << 31 and other - (1 << 32) or other) * 2.0 ^ -31 * WIDTH[layer]
    if math.abs(x) < WIDTH[layer + 1] then return x end
    local first, second = philox(draw, path, extra)
    if layer > 0 then
      local y = HEIGHT[layer] + uniform(first) * (HEIGHT[layer + 1] - HEIGHT[layer])
      if y < math.exp(-0.5 * x * x) then return x end
      word, extra = second, extra + 4
    else
      local beyond = -math.log(uniform(first)) / WIDTH[1]
      while -2 * math.log(uniform(second)) <= beyond * beyond do
        extra = extra + 4
        first, second = philox(draw, path, extra)
        beyond = -math.log(uniform(first)) / WIDTH[1]
      end
      return x < 0 and -WIDTH[1] - beyond or WIDTH[1] + beyond
    end
  end
end

-- What a path is worth whose normals have these sums.
local function worth(sum, other, steps)
  local mean, spread = RATE - VOLATILITY ^ 2 / 2, VOLATILITY / math.sqrt(steps)
  local first = math.exp(mean + spread * sum)
  local second = math.exp(mean + spread * (RHO * sum + math.sqrt(1 - RHO ^ 2) * other))
  return math.exp(-RATE) * math.max(first - second, 0.0)
end

local function path_of(method, path, steps)
  local sums = { 0.0, 0.0 }
  for k = 0, 2 * steps - 1 do
    sums[k % 2 + 1] = sums[k % 2 + 1] + host[method](k // 4, path, k % 4 + 1)
  end
  return worth(sums[1], sums[2], steps)
end

local function point_of(run, path)
  local index, shift = path % run, { philox(0, path // run) }
  local gray, first, second, direction = index ~ index >> 1, 0, 0, 1 << 31
  for bit = 0, 31 do
    if gray >> bit & 1 == 1 then first, second = first | 1 << 31 - bit, second ~ direction end
    direction = direction ~ direction >> 1
  end
  return worth(inverse(first ~ shift[1]), inverse(second ~ shift[2]), 1)
end

-- Of prices that both begin at 1: 2 Phi(d) - 1, d half the deviation of their ratio's logarithm.
local function exact()
  local d = VOLATILITY * math.sqrt(2 - 2 * RHO) / 2
  local sum, term, k = d, d, 1
  while term > 1e-17 do
    k = k + 2
    term = term * d * d / k
    sum = sum + term
  end
  return 2 * sum * math.exp(-0.5 * d * d) / math.sqrt(2 * math.pi)
end

-- ---- what is right -----------------------------------------------------------------------------------
local function tolerance(_, rung) return { absolute = rung.name:find "fast" and 2e-3 or 1e-5 } end

study:answer("zeros", { output = "z", cell = function() return 0 end })
for method, numbers in pairs(host) do
  study:answer(method, { output = "z", tolerance = tolerance,
    cell = function(_, _, i, j) return numbers((j - 1) // 4, i - 1, (j - 1) % 4 + 1) end })
  study:answer("paths, " .. method, { tolerance = tolerance,
    cell = function(c, _, i) return path_of(method, i - 1, c.steps) end })
end
-- In cuRAND's order: four numbers of each of 65536 subsequences, then the next four. They go on from call to call.
study:answer("library", { output = "z", tolerance = tolerance,
  start = function(c, z)
    z:fill(0 / 0)
    c.generator = rand.generator(c.dev, { seed = SEED })
  end,
  cell = function(c, _, i, j)
    local at = (j - 1) * c.paths + i - 1
    return host.box_muller(at // 4 // 65536, at // 4 % 65536, at % 4 + 1)
  end })
study:answer("points", { tolerance = tolerance, work = function(c) return 2 * c.paths end,
                         cell = function(c, _, i) return point_of(c.run, i - 1) end })

-- ---- the rungs ---------------------------------------------------------------------------------------
study:rung { "store", answer = "zeros", always = true, kernel = "store", block = BLOCK, over = { "quads" } }

-- The greatest error of the first normals.
local function error_of(method)
  return function(c)
    local first <close>, worst = c.z:view(1, math.min(c.paths, 4096)), 0.0
    for i, z in ipairs(first:totable()) do worst = math.max(worst, math.abs(z - host[method](0, i - 1, 1))) end
    return { worst = worst }
  end
end

local METHODS = { { "Box-Muller", "box_muller", "BOX_MULLER" },
                  { "Box-Muller, fast", "box_muller", "BOX_MULLER_FAST", true },
                  { "inverse", "inverse", "INVERSE" }, { "ziggurat", "ziggurat", "ZIGGURAT" } }

-- Of all draws of its path a thread has p.each, so that what depends on the path alone is computed once for these.
local function grid(c) return { mw.ceil_div(c.paths, BLOCK), mw.ceil_div(c.steps // 2, p.each) } end

for i, one in ipairs(METHODS) do
  study:rung { i, one[1], answer = one[2], kernel = ("normals<%s,BY_STEP>"):format(one[3]), block = BLOCK, grid = grid,
               fast_math = one[4], observe = error_of(one[2]) }
end

study:rung { 12, "rand.normal", answer = "library", make = function(c)
  local ok, problem = pcall(rand.generator, c.dev)
  if not ok then return nil, problem.text end
  return function() rand.normal(c.generator, c.z) end
end }

-- The mean over all paths, its distance from the value, and half of its interval of 95 %.
local function price(c, _, rung, check)
  local mean = c.dev:sum(c.value) / c.paths
  local half
  if rung.name == "Sobol" then
    local squares = 0.0
    for run = 0, RUNS - 1 do
      local part <close> = c.value:view(run * c.run + 1, c.run)
      squares = squares + (c.dev:sum(part) / c.run - mean) ^ 2
    end
    half = 2.131 * math.sqrt(squares / (RUNS - 1) / RUNS) -- Student's, of 15 degrees of freedom
  else
    half = 1.96 * math.sqrt((c.dev:dot(c.value, c.value) / c.paths - mean ^ 2) / c.paths)
  end
  check({ mean }, { exact() }, { name = "the option's value", absolute = 3 * half })
  return { price = mean, distance = math.abs(mean - exact()), half = half }
end

local function stored(number, name, layout)
  local kernel = "stored_" .. layout:lower()
  study:rung { number, name, answer = "paths, box_muller", observe = price, block = BLOCK,
    launches = function(c)
      local all <const> = mw.ceil_div(c.paths * c.steps // 2, BLOCK)
      return { { ("normals<BOX_MULLER_FAST,%s>"):format(layout),
                 { block = BLOCK, grid = layout == "BY_STEP" and grid(c) or all, fast_math = true } },
               { kernel, { block = BLOCK, grid = mw.ceil_div(c.paths, BLOCK), fast_math = true } } }
    end }
end
stored(5, "stored by path, fast", "BY_PATH")
stored(6, "stored by step, fast", "BY_STEP")

-- Cycles of a multiprocessor for a draw, four normals, and the two steps that take them: 18 products and 17 exclusive
-- ors of three words, at 64 per cycle; 8 special functions, at 16; and 68 instructions in all, at 128.
local DRAW <const> = math.max(35 / 64, 8 / 16, 68 / 128)

for i, one in ipairs(METHODS) do
  study:rung { 6 + i, "fused, " .. one[1], answer = "paths, " .. one[2], kernel = ("fused<%s>"):format(one[3]),
               block = BLOCK, over = { "paths" }, observe = price, fast_math = one[4],
               bound = function(c) return gpu and one[3] == "BOX_MULLER_FAST" and c:per_cycle(4 / DRAW) or nil end }
end
study:rung { 11, "Sobol", answer = "points", kernel = "sobol", block = BLOCK, over = { "paths" }, observe = price }

-- ---- parts -------------------------------------------------------------------------------------------
local SHARE <const> = { "share", title = "of the store", unit = "%", digits = 3 }
local WORST <const> = { "worst", title = "largest error", digits = 2 }
local at_p = { { paths = p.paths, steps = p.steps } }

study:part { "normals", cases = at_p, rungs = { "zeros", "box_muller", "inverse", "ziggurat", "library" },
  table = { "rung", "t", "normals", SHARE, WORST }, charts = { { kind = "ladder" } },
  ratios = { "Box-Muller, fast / store", "Box-Muller, fast / Box-Muller", "inverse / Box-Muller, fast",
             "ziggurat / Box-Muller, fast", "Box-Muller, fast / rand.normal" } }

study:part { "paths", cases = at_p, shares = true,
  rungs = { "store", "paths, box_muller", "paths, inverse", "paths, ziggurat" },
  table = { "rung", "t", "normals", SHARE, { "of_bound", unit = "%", digits = 3 }, "price", "half" },
  charts = { { kind = "ladder" } },
  ratios = { "fused, Box-Muller, fast / stored by step, fast", "stored by step, fast / stored by path, fast",
             "fused, ziggurat / fused, Box-Muller, fast" } }

study:part { "error", cases = { { paths = mw.geometric(p.most, 1 << 10, 4), steps = 2 } }, rows = "all",
  rungs = { "fused, Box-Muller, fast", "Sobol" },
  table = { "rung", "paths", "t", "price", { "distance", title = "error" }, { "half", title = "95 %, +-" } },
  charts = { { x = "paths", y = "half", logx = 2, logy = 10, ylabel = "half of the interval of 95 %" },
             { x = "t", y = "half", logx = 10, logy = 10, name = "time", xlabel = "time",
               ylabel = "half of the interval of 95 %" } } }
return study
