-- SPDX-License-Identifier: MIT
--
-- gemm: how near does a kernel of one's own come to the library's matrix product, and what does precision cost?
--
-- C = A B by a ladder of kernels (kernels/gemm.cu): an element per thread, tiles in shared memory, 8 x 8 elements a
-- thread, accesses of 16 bytes, two tiles in turn; and by tensor cores, of wmma and of mma.sync, in six precisions.
-- Next to each the library's product of the same types (moonwarp.blas), which is the level. Then time against error,
-- sizes, also with copies and compared with the processor, and small products. See docs/studies/gemm.md.

local mw = require "moonwarp"
local blas = require "moonwarp.blas"
local ceil_div = mw.ceil_div

-- type: of A and B; out: of C; eps: half the distance of factors near 1, 0 if they are taken as they are; sum: the same
-- of the sums; flop: of tensor cores, a cycle and multiprocessor of compute capability 9.0
local PRECISIONS = {
  f32 = { type = "f32", out = "f32", eps = 0, sum = 2^-24 },
  tf32 = { type = "f32", out = "f32", eps = 2^-11, sum = 2^-24, flop = 2048, factor = "nvcuda::wmma::precision::tf32" },
  f16 = { type = "f16", out = "f32", eps = 0, sum = 2^-24, flop = 4096, factor = "__half" },
  bf16 = { type = "bf16", out = "f32", eps = 0, sum = 2^-24, flop = 4096, factor = "__nv_bfloat16" },
  i8 = { type = "i8", out = "i32", eps = 0, sum = 0, flop = 8192, factor = "signed char" },
  f64 = { type = "f64", out = "f64", eps = 0, sum = 2^-53, flop = 256, factor = "double" },
}
local NAMES = { "f32", "tf32", "f16", "bf16", "i8", "f64" }

local function case(precision, m, n, k)
  return { precision = precision, type = PRECISIONS[precision].type, m = m, n = n, k = k }
end

local function odd(p) -- of those that are measured; the first with rows of whole 16 bytes
  local list, chosen = {}, "f32 f64 " .. table.concat(p.precisions, " ")
  for _, name in ipairs(NAMES) do
    local has = chosen:find("%f[%w]" .. name)
    if has then list[#list + 1], list[#list + 2] = case(name, 130, 131, 32), case(name, 67, 33, 45) end
  end
  return list
end

local study, p, gpu = mw.study {
  question = "how near does a kernel come to the library's matrix product, and what does precision cost?",
  course = { week = 10.1, level = 2, hours = 5, about = "tiles, registers, tensor cores, precision",
             without_gpu = "results, error by precision" },
  kernels = "gemm.cu", rate = { "rate", work = function(c) return 2 * c.m * c.n * c.k end },
  units = { rate = "flop/s" }, output = "C", level = { "library", "library, B by columns" },
  seconds = { 0.01, gpu = 0.02 }, odd = odd, also = { "gemm_exact<%s>", "by_columns<%s>" },
  params = {
    { "n", 256, "rows and columns of the matrices", gpu = 4096, min = 16, max = 32768 },
    { "sizes", { 64, 128, 256 }, "sizes of the sweep", min = 16,
      gpu = { 32, 64, 128, 256, 512, 1024, 2048, 4096 } },
    { "precisions", { "f32", "tf32", "f16", "f64" }, "of the part cores", gpu = NAMES, choices = NAMES },
    { "items", 500, "products of 16 x 16 in a batch", gpu = 10000, min = 1 },
  },
}

-- A row of a matrix is the array's first side.
function study.arrays(c)
  local most = c.type == "i8" and 127 or 1
  local function array(columns, rows, seed)
    return c.dev:array(c.type, columns, rows):random { seed = seed, min = -most, max = most }
  end
  c.kind = PRECISIONS[c.precision]
  return { A = array(c.k, c.m, 1), B = array(c.n, c.k, 2), C = c.dev:array(c.kind.out, c.n, c.m),
           E = c.dev:array(c.kind.out, c.n, c.m) }
end

local function element_each(c, kernel, out, columns, rows)
  c:launch(kernel, { block = { 32, 8 }, grid = { ceil_div(columns, 32), ceil_div(rows, 8) } }, { Bt = out })()
  return out
end

local function by_columns(c) -- B, made once
  c.Bt = c.Bt or element_each(c, "by_columns<%s>", c:array(c.k, c.n), c.n, c.k)
  return c.Bt
end

-- ---- what is right ----------------------------------------------------------------------------------
-- The same product, summed in f64. Sums of k random terms of both signs grow with its root, their rounding errors with
-- k at most.
study:answer("product", {
  reference = function(c) return element_each(c, "gemm_exact<%s>", c.E, c.n, c.m) end,
  cell = function(c, at, column, row)
    local sum = 0.0
    for i = 1, c.k do sum = sum + at.A(i, row) * at.B(column, i) end
    return sum
  end,
  tolerance = function(c) return { absolute = 8 * (c.kind.eps * math.sqrt(c.k) + c.kind.sum * c.k) } end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- The bound: so many flop per cycle and multiprocessor, as of shared memory's rate, else of the units that multiply.
local function rung(number, name, precisions, how, flop)
  local when = how.when
  how[1], how[2] = number, name
  how.when = function(c) return (" " .. precisions .. " "):find(" " .. c.precision .. " ") and (not when or when(c)) end
  how.bound = function(c)
    local cores = number > 5 and PRECISIONS[c.precision].flop
    local is_known = not cores or c.dev:properties().compute_capability == "9.0"
    return is_known and c:per_cycle(flop or cores or c.type == "f64" and 128 or 256) or nil
  end
  study:rung(how)
end

local function over(c, width, height) return { ceil_div(c.n, width), ceil_div(c.m, height) } end
local function tiles(c) return over(c, 128, 128) end
local CORES <const> = "tf32 f16 bf16 i8 f64"
rung(1, "an element per thread", "f32 f64", { kernel = "gemm_naive<%s>", block = { 32, 8 }, over = { "n", "m" } }, 32)
rung(2, "a tile in shared memory", "f32 f64",
     { kernel = "gemm_tile<%s,32>", block = { 32, 32 }, over = { "n", "m" } }, 32)
rung(3, "8 x 8 per thread", "f32 f64", { kernel = "gemm_registers<%s>", block = 256, grid = tiles })
rung(4, "16 bytes per access", "f32", { kernel = "gemm_vectors", block = 256, grid = tiles })
rung(5, "two tiles in turn", "f32", { kernel = "gemm_double", block = 256, grid = tiles })

-- On the CPU device lanes take turns: a smaller product is enough.
rung(6, "tensor cores, wmma", CORES, { block = 256, grid = tiles,
  kernel = function(c) return ("gemm_wmma<%s_cores,%s>"):format(c.precision, PRECISIONS[c.precision].factor) end,
  sides = function(c) return not gpu and c.m * c.n * c.k > 1 << 21 and case(c.precision, 128, 128, 64) or nil end })

-- PTX that only GPUs have; rows begin at 16 bytes. Sides of a block and of a warp, tiles at once, a strip of blocks.
local function shape(c) return c.type == "f64" and { 128, 128, 64, 32, 4, 8 } or { 256, 128, 64, 64, 4, 4 } end
rung(7, "tensor cores, mma.sync", CORES, { block = 256,
  kernel = function(c) return ("gemm_mma<%s_mma,%s>"):format(c.precision, table.concat(shape(c), ",")) end,
  grid = function(c) return over(c, shape(c)[2], shape(c)[1]) end,
  shared = function(c) return (shape(c)[1] + shape(c)[2]) * 128 * shape(c)[5] end,
  args = function(c) return { Bt = by_columns(c) } end, when = function(c) return gpu and c.k % 16 == 0 end })

-- The library stores by columns, so it sees the transposed matrices: C' = B' A'.
local function library(number, name, factor, options, when, device)
  rung(number, name, device and "f32" or "f32 " .. CORES, { always = name == "library", when = when, device = device,
    make = function(c)
      local B, how = factor(c), { tf32 = c.precision == "tf32" or nil, ta = options.ta }
      local function go() blas.gemm(c.C, B, c.A, how) end
      local is_there, problem = pcall(go)
      if not is_there then return nil, problem.text end
      return go
    end })
end

library(8, "library", function(c) return c.B end, {}, function(c) return gpu or c.precision:find "^f[36]" end)
library(9, "library, B by columns", by_columns, { ta = true }, function() return gpu end)

-- From which size on does the GPU pay, if the matrices lie in host memory? Both copies are part of its time.
rung(10, "library, with both copies", "f32", { stream = true, output = "back", when = function() return gpu end,
  make = function(c)
    local queue, pinned, there = { stream = c:stream() }, {}, { A = c:array(c.k, c.m), B = c:array(c.n, c.k), C = c.C }
    for name in pairs(there) do pinned[name] = c:keep(c.dev:pinned("f32", c[name]:shape())):copy(c[name]) end
    c.back = pinned.C
    return function()
      there.A:copy(pinned.A, queue)
      there.B:copy(pinned.B, queue)
      blas.gemm(there.C, there.B, there.A, queue)
      pinned.C:copy(there.C, queue)
    end
  end })
library(11, "library, the processor", function(c) return c.B end, {}, function(c) return c.m * c.n * c.k <= 1 << 33 end,
        "cpu")

-- ---- parts ------------------------------------------------------------------------------------------
local SHARE = { "share", title = "of the library", unit = "%", digits = 3 }
local BOUND = { "of_bound", title = "of the bound", unit = "%", digits = 3 }

study:part { "ladder", cases = { case("f32", p.n, p.n, p.n), case("f64", p.n, p.n, p.n) }, each = "type",
  rungs = function(r) return r.number < 6 or r.number == 8 or r.number == 9 end,
  table = { { "number", title = "no." }, "rung", "t", "rate", BOUND, SHARE }, charts = { { kind = "ladder" } },
  ratios = { "a tile in shared memory / an element per thread", "8 x 8 per thread / a tile in shared memory",
             "16 bytes per access / 8 x 8 per thread", "two tiles in turn / 16 bytes per access",
             "two tiles in turn / library" } }

local cores, sweep = {}, {}
for i, name in ipairs(p.precisions) do cores[i] = case(name, p.n, p.n, p.n) end
for _, name in ipairs(gpu and { "f32", "f16" } or { "f32" }) do
  for _, n in ipairs(p.sizes) do sweep[#sweep + 1] = case(name, n, n, n) end
end

-- Errors relative to the root mean square of C: its elements are sums of k products of numbers that are uniform.
local function relative(records, c)
  local size = math.sqrt(c.k) * (c.type == "i8" and 128 or 1)^2 / 3
  for _, r in ipairs(records) do r.relative = r.error_rms and r.error_rms / size end
end

study:part { "cores", cases = cores, rows = "all", error = true, derive = relative,
  rungs = function(r) return r.number >= 5 and r.number < 10 end,
  table = { "precision", "rung", "t", "rate", BOUND, SHARE, { "relative", title = "error", digits = 2 } },
  charts = { { x = "relative", logx = 10, logy = 10, by = "rung", name = "error", xlabel = "error, relative to C",
               points = "alone", of = function(r) return (r.relative or 0) > 0 end } } }

study:part { "sizes", cases = sweep, rows = "all", each = "precision",
  rungs = { "8 x 8 per thread", "two tiles in turn", "tensor cores, mma.sync", "library", "library, with both copies",
            "library, the processor" },
  table = { "rung", "n", "t", "rate", SHARE }, charts = { { x = "n", logx = 2, logy = 10 } } }

-- Many small products: one call for all, a call each, in one stream and in eight, and the calls in a graph.
local function products(dev)
  local function array(seed) return dev:array("f32", 16, 16, p.items):random(seed) end
  local A, B, C, right, each, streams = array(1), array(2), array(3), array(4), {}, {}
  for i = 1, p.items do
    local function one(a) return a:view(256 * (i - 1) + 1, 256):reshape(16, 16) end
    each[i] = { one(C), one(B), one(A) }
  end
  for i = 1, 8 do streams[i] = { stream = dev:stream() } end
  local function all(options)
    for i, v in ipairs(each) do blas.gemm(v[1], v[2], v[3], options and options[i % 8 + 1]) end
  end
  blas.gemm(right, B, A)
  local graph = dev:capture(function() all() end)
  local list = { { "one call", function() blas.gemm(C, B, A) end }, { "a call each", function() all() end },
                 { "a call each, 8 streams", function() all(streams) end },
                 { "the calls in a graph", function() graph:launch() end } }
  for _, way in ipairs(list) do
    C:fill(0 / 0)
    way[2]()
    dev:synchronize()
    mw.check(C, right, { sum = 16, name = "batch, " .. way[1] })
  end
  return mw.bench(list, { min_time = p.seconds, max_time = 3 * p.seconds })
end

study:part { "batch", run = function()
  local is_there, times = pcall(products, mw.device())
  if not is_there then return mw.remark("Not measured: %s", times.text) end
  local records = {}
  for i, t in ipairs(times) do
    records[i] = mw.record { group = "batch", how = t.name, items = p.items, t = t, rate = 2 * 16^3 * p.items / t,
                             units = { rate = "flop/s" } }
  end
  mw.table { "how", "items", "t", "rate", records = records, title = "products of 16 x 16" }
end }
return study
