-- SPDX-License-Identifier: MIT
--
-- functions: how fast and how exact are the functions of CUDA's library?
--
-- exp, log, sin, sqrt, rsqrt, a division and tanh in f32, in f32 with fast math, and in f64: how many a second, next to
-- what the special function units allow, and their largest errors, in units in the last place. Of f32 every number is
-- tried on a GPU, of f64 random ones compared with MPFR's values. See docs/studies/functions.md.

local mw = require "moonwarp"
local core = require "moonwarp.core"
local ceil_div = mw.ceil_div

local study, p, gpu = mw.study {
  question = "how fast and how exact are exp, log, sin, sqrt, rsqrt, division and tanh?", kernels = "functions.cu",
  course = { week = 8.2, level = 1, hours = 2, about = "cost and error of exp, log, sin, sqrt",
             without_gpu = "errors of the C library" },
  rate = { "values", work = function(c) return c.n * c.steps end }, output = "y", seconds = { 0.01, gpu = 0.02 },
  odd = { { n = 1003, steps = 3, type = { "f32", "f64" } } }, units = { values = "1/s" },
  params = {
    { "n", 1 << 14, "threads", gpu = 1 << 22, min = 1, max = 1 << 26 },
    { "steps", 16, "values per thread", gpu = 64, min = 1, max = 4096 },
    { "every", 12289, "tries every so manyth f32 number, in the order of their bits", gpu = 1, min = 1,
      max = 1 << 20 },
    { "doubles", 20000, "f64 numbers that are tried", gpu = 1000000, min = 1, max = 10000000 },
  },
}

local SMALL <const>, RANGES <const> = 4.0, { { "all", math.huge }, { "[-4, 4]", 4.0 } } -- whose errors are looked for

function study.arrays(c)
  return { x = c:array(c.n):random(5), y = c:array(c.n) }
end

-- ---- the rungs --------------------------------------------------------------------------------------
-- Lua's own function, which is the C library's; what the host may differ by, in rounding errors of the type.
local FUNCTIONS <const> = {
  { "exp", math.exp }, { "log", math.log }, { "sin", math.sin }, { "sqrt", math.sqrt },
  { "rsqrt", function(x) return 1 / math.sqrt(x) end }, { "div", function(x) return 3 / x end },
  { "tanh", function(x) return 1 - 2 / (math.exp(2 * x) + 1) end },
}

local function add(number, name, fn)
  study:answer(name, { cell = function(c, at, i)
    local sum, x = 0.0, at.x(i) + 0.5
    for k = 0, c.steps - 1 do sum = sum + fn(x + k / 64) end
    return sum
  end, tolerance = function(c, rung)
    local each = c.type == "f32" and rung.fast_math and 0x1p-10 or 64 * c.eps -- tanh.approx has 2^-11
    return { absolute = c.steps * each, relative = 0 }
  end })
  for _, is_fast in ipairs { false, true } do
    study:rung { number, is_fast and name .. ", fast math" or name, answer = name, block = 256, over = { "n" },
      kernel = ("rates<f_%s,%%s>"):format(name), fast_math = is_fast,
      when = function(c) return not is_fast or c.type == "f32" end,
      bound = function(c) return is_fast and c:per_cycle(16) or nil end,
      fields = { fast_math = is_fast } }
  end
end
for i, one in ipairs(FUNCTIONS) do add(i, one[1], one[2]) end

study:part { "rates", cases = { { n = p.n, steps = p.steps, type = { "f32", "f64" } } }, each = "type",
  table = { { "number", title = "no." }, "rung", "t", "values", "bound", { "of_bound", unit = "%", digits = 3 } },
  charts = { { kind = "ladder", logx = not gpu } },
  ratios = { "exp, fast math / exp", "log, fast math / log", "sin, fast math / sin", "sqrt, fast math / sqrt",
             "rsqrt, fast math / rsqrt", "div, fast math / div", "tanh, fast math / tanh" } }

-- ---- errors -----------------------------------------------------------------------------------------
local rows = {}

local function add_row(row)
  rows[#rows + 1] = mw.record(row)
  return rows[#rows]
end

-- Of f32: the largest error of a function over the numbers of a range, and at which it is.
local function try_f32(module, name, is_fast, range)
  local worst <close> = module:device():zeros("u64", 3)
  module:kernel(("errors<f_%s>"):format(name)):launch(gpu and 2048 or 16, 256, worst:view(1, 1), worst:view(2, 1),
    worst:view(3, 1), -range[2], range[2], p.every)
  local most, wrong, seen = worst:get(1), worst:get(2), worst:get(3)
  return add_row { group = "errors", rung = is_fast and name .. ", fast math" or name, type = "f32",
                   range = range[1], ulp = (string.unpack("f", string.pack("I4", most >> 32 & 0xffffffff))),
                   at = (string.unpack("f", string.pack("I4", most & 0xffffffff))), wrong = wrong / seen, tried = seen }
end

-- The program that compares f64 with MPFR, or nil and why not.
local function judge_in(folder)
  local source, program = core.home() .. "/kernels/functions/exact.c", folder .. "/exact"
  local command = ("cc -O2 -o '%s' '%s' -lmpfr -lgmp -lm >/dev/null 2>&1"):format(program, source)
  if os.execute(command) then return program end
  return nil, "The errors of f64 are left out: they need a C compiler and MPFR (Debian's libmpfr-dev)."
end

-- Of f64: of random numbers in [-SMALL, SMALL], or [0, SMALL] where that is the function's domain.
local function try_f64(module, folder, program, name)
  local dev, least = module:device(), (name == "exp" or name == "sin" or name == "tanh") and -SMALL or 0x1p-20
  local pairs_of <close> = dev:array("f64", 2, p.doubles):random(7)
  module:kernel(("values<f_%s>"):format(name)):launch(ceil_div(p.doubles, 256), 256, pairs_of, least, SMALL, p.doubles)
  local file <close> = assert(io.open(folder .. "/pairs", "wb"))
  file:write(pairs_of:bytes())
  file:flush()
  local pipe <close> = io.popen(("'%s' %s < '%s/pairs'"):format(program, name, folder))
  local ulp, at, wrong = pipe:read("n", "n", "n")
  add_row { group = "errors", rung = name, type = "f64", range = RANGES[2][1], ulp = ulp, at = at,
            wrong = wrong / p.doubles, tried = p.doubles }
end

local function new_folder()
  local path = os.tmpname()
  os.remove(path)
  assert(os.execute(("mkdir -m 700 '%s'"):format(path)))
  return setmetatable({ path = path }, { __close = function() os.execute(("rm -rf '%s'"):format(path)) end })
end

study:part { "errors", run = function()
  local names, folder <close> = {}, new_folder()
  for i, one in ipairs(FUNCTIONS) do names[i] = ("errors<f_%s>"):format(one[1]) end
  for _, is_fast in ipairs { false, true } do
    local module <close> = study.dev:module { file = "functions.cu", templates = names, fast_math = is_fast }
    for _, one in ipairs(FUNCTIONS) do
      for _, range in ipairs(RANGES) do
        local row = try_f32(module, one[1], is_fast, range)
        if not is_fast then mw.check(row.ulp <= 4, nil, { name = row.rung .. ", an error of at most 4 ulp" }) end
      end
    end
  end
  local program, problem = judge_in(folder.path)
  if not program then return mw.remark(problem) end
  for i, one in ipairs(FUNCTIONS) do names[i] = ("values<f_%s>"):format(one[1]) end
  local module <close> = study.dev:module { file = "functions.cu", templates = names }
  for _, one in ipairs(FUNCTIONS) do try_f64(module, folder.path, program, one[1]) end
end }

study:finally(function()
  if #rows == 0 then return end
  mw.table { "rung", "type", "range", "tried", { "ulp", title = "error (ulp)", digits = 3 },
             { "at", digits = 4 }, { "wrong", title = "not the nearest", unit = "%", digits = 3 },
             records = rows, title = "functions: errors" }
end)
return study
