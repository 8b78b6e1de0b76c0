-- SPDX-License-Identifier: MIT
--
-- fourier-search: how fast is a spectrum compared with the responses of accelerated pulsars, and what bounds it?
--
-- A pulsar in orbit drifts in frequency: its line is smeared over bins. Overlap-save convolution of the spectrum with a
-- template for each drift, by launches with cuFFT between them or our own transforms, and in one kernel. The rate is
-- bins * templates / t, each form at its own best length of segments. Then the way from a series to an accelerated
-- pulsar. See docs/studies/fourier-search.md.

local mw = require "moonwarp"
local fft = require "moonwarp.fft"
local ceil_div = mw.ceil_div

local study, p, gpu = mw.study {
  question = "how fast is a spectrum compared with the responses of accelerated pulsars, and what bounds it?",
  kernels = "fourier-search.cu", rate = { "bins", work = function(c) return c.n * c.templates end },
  units = { bins = "1/s" }, output = "power", type = "f32", level = "cuFFT launches", seconds = { 0.05, gpu = 0.1 },
  also = { "responses", "observe", "peaks" },
  odd = { { n = 333, templates = 5 }, { n = 601, templates = 3 } },
  params = {
    { "n", 1 << 14, "bins of the spectrum, half as many as samples", gpu = 1 << 21, min = 1024, max = 1 << 23 },
    { "most", 32, "bins of the largest drift", gpu = 192, min = 4 },
    { "step", 4, "bins of drift from a template to the next", min = 1 },
    { "lengths", { 256 }, "bins of a segment, with 4 elements per thread", gpu = { 1024, 4096 },
      choices = { 256, 1024, 4096 } },
    { "long", 256, "the same, with 16 elements per thread", gpu = 4096, choices = { 256, 4096 } },
    { "half", 64, "bins of a template on each side", gpu = 256, min = 16,
      max = function(p) return math.min(p.long, table.unpack(p.lengths)) // 2 - 1 end },
    { "split", 1, "blocks that share the templates of a segment", gpu = 4, min = 1 },
    { "harmonics", 4, "that are added at most", gpu = 8, choices = { 1, 2, 4, 8 } },
    { "line", 24, "power of each of the pulsar's harmonics, of noise of 1", min = 0 },
    { "z", 6, "bins that the pulsar's frequency drifts" },
    { "all", false, "bfloat16 with 16 elements per thread, too, which a CPU compiles for 20 s", gpu = true },
    { "seed", 1, "of the first sky" },
    { "seeds", 3, "skies that are searched", gpu = 20, min = 1 },
  },
}

local function kept(N) return N - 2 * p.half end
local function wide(N) return N / kept(N) end -- bins that are computed for each that is kept

-- Arrays of a case: two numbers of a complex one lie side by side.
function study.arrays(c)
  local taps = 2 * p.half + 1
  local a = c.dev:array("f32", 2 * taps, c.templates)
  c:launch("responses", { block = 128, grid = { ceil_div(taps, 128), c.templates } },
    { a = a, half = p.half, step = p.step })()
  return { a = a, half = p.half, x = c.dev:array("f32", 2 * c.n):random { seed = 1, kind = "normal", sd = 0.5 ^ 0.5 },
           power = c:array(c.n, c.templates), surprise = c:array(c.n, c.templates),
           most = c.dev:array("u8", c.n, c.templates), series = c:array(2 * c.n):random { seed = 2, kind = "normal" },
           spectrum = c.dev:array("f32", 2, c.n + 1) }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- Of a bin and a template's row, both from 1 on.
local function power_at(c, r, z)
  local first, last = math.max(1, r - p.half), math.min(c.n, r + p.half)
  local count, tap = 2 * (last - first + 1), 2 * ((z - 1) * (2 * p.half + 1) + first - r + p.half) + 1
  local x, a, re, im = c.x:view(2 * first - 1, count):totable(), c.a:view(tap, count):totable(), 0, 0
  for i = 1, count, 2 do
    re, im = re + x[i] * a[i] + x[i + 1] * a[i + 1], im + x[i + 1] * a[i] - x[i] * a[i + 1]
  end
  return re * re + im * im
end

-- An answer in a plane: each element is value(c, r, z); at the measured size at some places.
local function in_plane(name, value, spec)
  function spec.host(c) return function(r, z) return value(c, r, z) end end
  function spec.spot(c)
    local list = {}
    for k = 0, 31 do
      local r, z = 1 + k * (c.n - 1) // 31, 1 + k * 7 % 32 * (c.templates - 1) // 31
      list[k + 1] = { r, z, value = value(c, r, z) }
    end
    return list
  end
  study:answer(name, spec)
end

-- Powers of noise have mean 1. bfloat16 rounds to 2^-9 in each exchange, packed arithmetic in each operation.
in_plane("powers", power_at, { bytes = "x power", tolerance = function(_, rung, first)
  local is_short = rung.name:find "bfloat16" or first and first.name:find "bfloat16"
  return is_short and { absolute = 0.3, relative = 0.1 } or { absolute = 1e-4, relative = 1e-4 }
end })

-- ---- launches ---------------------------------------------------------------------------------------
-- Segments of N bins. parts_of returns lists that make the spectra of templates and of segments, in any order, and the
-- way back.
local function by_launches(c, N, parts_of)
  local drifts, more = c.templates // 2 + 1, { size = N, count = ceil_div(c.n, kept(N)) }
  more.segments, more.spectra = c:array(2, N, more.count), c:array(2, N, drifts)
  more.products = c:array(2, N, more.count * c.templates)
  local function step(kernel, ny, nz)
    return { kernel, { block = 256, grid = { ceil_div(N, 256), ny, nz or 1 } }, more }
  end
  local templates, segments, back = parts_of(more, drifts, step)
  c:launches(templates)()
  local rest = { step("multiply", more.count, drifts), back, step("powers", more.count, c.templates) }
  return c:launches(table.move(rest, 1, 3, #segments + 1, segments))
end

local function transform(array, is_inverse)
  local plan = fft.plan(array, array, { dims = 1, inverse = is_inverse })
  return function() plan(array, array) end
end

local function own(kernel, N, E) return ("%s<%d,%d>"):format(kernel, N, E) end
local function room(N, E) return N // E * (E + 1) end -- elements of shared memory for an exchange
local function own_step(kernel, N, E, count, more)
  return { own(kernel, N, E), { block = N // E, grid = count, shared = 16 * room(N, E) }, more }
end
local function spread(names, E, lengths)
  local list = {}
  for _, N in ipairs(lengths) do
    for _, name in ipairs(names) do list[#list + 1] = own(name, N, E) end
  end
  return list
end

-- A rung whose variants are lengths of segments: `per` bins for each thread of a block.
local function rung(number, name, lengths, per, spec)
  local make, bound = spec.make, spec.bound
  spec[1], spec[2], spec.answer, spec.blocks = number, name, "powers", {}
  for i, N in ipairs(lengths) do spec.blocks[i] = N // per end
  function spec.make(c, block) return make(c, per * block) end
  function spec.fields(_, block) return { segment = per * block } end
  function spec.bound(c, _, fields) return bound(c, fields.segment) end
  study:rung(spec)
end

local function launches_bound(c, N) return gpu and c.dev:peak_bandwidth() / (24 * wide(N) + 12) or nil end
local LIBRARY <const> = gpu and { 1024, 2048, 4096, 8192, 16384 } or { p.lengths[1], 4 * p.lengths[1] }
rung(1, "cuFFT launches", LIBRARY, 16, { kernel = { "cut_segments" }, bound = launches_bound,
  make = function(c, N)
    return by_launches(c, N, function(more, drifts, step)
      return { step("pad_templates", drifts), transform(more.spectra) },
             { step("cut_segments", more.count), transform(more.segments) }, transform(more.products, true)
    end)
  end })
rung(2, "own launches", p.lengths, 4, { bound = launches_bound,
  kernel = spread({ "template_spectra", "segments_forward", "segments_inverse" }, 4, p.lengths),
  make = function(c, N)
    return by_launches(c, N, function(more, drifts)
      return { own_step("template_spectra", N, 4, drifts, more) },
             { own_step("segments_forward", N, 4, more.count, more) },
             own_step("segments_inverse", N, 4, more.count * c.templates, more)
    end)
  end })

-- ---- one kernel -------------------------------------------------------------------------------------
-- What a bin takes of a multiprocessor. Bytes of shared memory and cache: an exchange is a write and a read, a spectrum
-- a read. Instructions: 3 for each radix-2 stage (the first pass saves some), 2 for an exchange, 4 for the product, 2
-- for the power, a load and a store; more to convert; half of the arithmetic where numbers are packed.
local KINDS <const> = { { "float", "complex", size = 8, convert = 0, arithmetic = 1 },
                        { "bfloat16", "__nv_bfloat162", size = 4, convert = 3, arithmetic = 1 },
                        { "packed bfloat16", "both", size = 8, convert = 0, arithmetic = 0.5 } }
local function fused_bound(kind, E)
  return function(c, N)
    local exchanges, stages = math.log(N, E) - 1, math.log(N, 2)
    local bytes = (2 * exchanges + 1) * kind.size * kind.arithmetic
    local instructions = (3 * stages - (E == 4 and 2 or 2.75) + 2 * exchanges + 5) * kind.arithmetic + 3
                         + kind.convert * (exchanges + 0.7)
    return c:per_cycle(128 / (bytes * wide(N))), c:per_cycle(128 / (instructions * wide(N))),
           gpu and c.dev:peak_bandwidth() / 4 or nil
  end
end

local function fused(number, kind, E, lengths)
  local kernels, convert = spread({ "template_spectra" }, E, lengths), ("convert<%s>"):format(kind[2])
  local function name_of(N) return ("search_fused<%d,%d,%s>"):format(N, E, kind[2]) end
  for _, N in ipairs(lengths) do table.move({ convert, name_of(N) }, 1, 2, #kernels + 1, kernels) end
  rung(number, ("%s, %d per thread"):format(kind[1], E), lengths, E, {
    kernel = kernels, bound = fused_bound(kind, E),
    make = function(c, N)
      local count = N * (c.templates // 2 + 1)
      local whole, held = c:array(2 * count), c:keep(c.dev:array("bf16", kind.size // 2 * count))
      c:launches { own_step("template_spectra", N, E, c.templates // 2 + 1, { spectra = whole }),
        { convert, { block = 256, grid = ceil_div(count, 256) }, { held = held, spectra = whole, count = count } } }()
      return c:launch(name_of(N), { block = N // E, grid = { ceil_div(c.n, kept(N)), p.split },
                                    shared = 2 * kind.size * room(N, E) }, { spectra = held })
    end })
end
for i, kind in ipairs(KINDS) do
  fused(2 * i + 1, kind, 4, p.lengths)
  if p.all or i == 1 then fused(2 * i + 2, kind, 16, { p.long }) end
end

-- ---- the other stages -------------------------------------------------------------------------------
local function surprise_at(c, r, z)
  local sum, best, middle = 0, -math.huge, c.templates // 2
  for level = 0, math.log(p.harmonics, 2) // 1 do
    local h, term, tail = 1 << level, 1, 1
    for k = 1, h, h > 1 and 2 or 1 do
      local bin, drift = (2 * (r - 1) * k + h) // (2 * h), middle + math.floor((z - 1 - middle) * k / h + 0.5)
      sum = sum + c.noise:get(math.min(bin, c.n - 1) + 1, drift + 1)
    end
    for j = 1, h - 1 do
      term = term * sum / j
      tail = tail + term
    end
    best = math.max(best, sum - math.log(tail))
  end
  return best
end

local harmonic = ("harmonic_sum<%d>"):format(p.harmonics)
in_plane("harmonics", surprise_at, { output = "surprise", bytes = "power surprise",
  tolerance = function() return { absolute = 1e-4, relative = 1e-4 } end })
study:rung { 9, "harmonic sum", answer = "harmonics", kernel = harmonic, block = 256,
  args = function(c) return { power = c.noise } end,
  grid = function(c) return { ceil_div(c.n, 256), c.templates } end }

-- ---- parts ------------------------------------------------------------------------------------------
local SIZE <const> = { { n = p.n, templates = 2 * (p.most // p.step) + 1 } }
study:part { "ladder", cases = SIZE, rungs = { "powers" }, rows = "best", error = true,
  table = { { "number", title = "no." }, "rung", "segment", "t", "bins", "bound",
            { "of_bound", unit = "%", digits = 3 }, { "share", title = "of cuFFT launches", digits = 3 },
            { "error_rms", title = "rms error", digits = 2 } },
  charts = { { kind = "ladder" } },
  ratios = { "float, 4 per thread / own launches", "float, 16 per thread / cuFFT launches",
             "bfloat16, 4 per thread / float, 4 per thread", "packed bfloat16, 4 per thread / float, 4 per thread",
             p.all and "packed bfloat16, 16 per thread / float, 16 per thread" or nil } }

study:part { "energy", cases = SIZE, rungs = { "powers" }, blocks = "best", energy = true, units = { call = "s" },
  derive = function(records) for _, r in ipairs(records) do r.call = r.t.median end end,
  table = { "rung", "segment", "t", "joules", "power", "idle_power" },
  charts = { { x = "call", y = "joules", by = "rung", name = "energy", title = "of a search", logx = true, logy = true,
               xlabel = "time", ylabel = "energy" } } }

study:part { "harmonics", cases = SIZE, rungs = { "harmonics" }, level = "harmonic sum",
  arrays = function(c) return { noise = c:array(c.n, c.templates):random(4) } end, table = { "rung", "t", "bins" } }

-- ---- from the series to the pulsar ------------------------------------------------------------------
local THRESHOLD <const>, MOST <const> = 20, 4096
local BINS <const> = p.n / p.harmonics * 0.61 // 1 + 0.2 -- of the pulsar's frequency

-- A series with a pulsar, and its spectrum.
local function observe(c, seed, long)
  local noise <close> = c.dev:array("f32", 2 * c.n):random { seed = seed, kind = "normal" }
  c:launch("observe", { block = 256, grid = ceil_div(2 * c.n, 256) }, { noise = noise, length = 2 * c.n, bins = BINS,
    drift = p.z, height = 2 * (p.line / (2 * c.n)) ^ 0.5, harmonics = p.harmonics })()
  long(c.spectrum, c.series)
end

-- The highest peak of the plane: its surprise, place, bin and drift of the first harmonic; how many peaks there are.
local function search(c, go)
  go()
  c:launch(harmonic, { block = 256, grid = { ceil_div(c.n, 256), c.templates } })()
  local count <close> = c.dev:zeros("u32", 1)
  local places <close> = c.dev:array("i32", MOST)
  local heights <close> = c.dev:zeros("f32", MOST)
  c:launch("peaks", { block = 256, grid = { ceil_div(c.n, 256), c.templates } },
    { count = count, places = places, heights = heights, edge = p.half, threshold = THRESHOLD, size = MOST })()
  local found = { peaks = count:get(1), surprise = 0, at = 0 }
  for i, height in ipairs(heights:totable()) do
    if height > found.surprise then found.surprise, found.at = height, places:get(i) end
  end
  found.r, found.row = found.at % c.n, found.at // c.n
  local h = c.most:get(found.r + 1, found.row + 1)
  found.bin, found.drift = found.r / h, (found.row - c.templates // 2) * p.step / h
  return found
end

-- The plane around a bin.
local function picture(c, found)
  local list, across = {}, math.min(c.n, 128)
  local from = math.max(1, math.min(c.n - across + 1, found.r - across // 2))
  for z = 1, c.templates do list[z] = c.surprise:view((z - 1) * c.n + from, across):totable() end
  mw.picture(c:keep(c.dev:array("f32", list)), { name = "fourier-search-plane", low = 0, aspect = 0.6, device = c.dev,
    title = "fourier-search: an accelerated pulsar", xlabel = "bins from " .. found.r, ylabel = "drift (bins)",
    label = "surprise", x = { from - 1.5 - found.r, from - 1.5 - found.r + across },
    y = { -p.most - p.step / 2, p.most + p.step / 2 },
    marks = { { x = 0, y = (found.row - c.templates // 2) * p.step, label = "found" } } })
  mw.remark("The row of drift 0, which is the periodicity search, has nothing above %.1f.",
    c.dev:max(c.surprise:view(c.n * (c.templates // 2) + p.half, c.n - 2 * p.half)))
end

-- Searches all skies by a rung.
local function skies(c, name, long)
  local go, hits, first, least = study:launcher(name, c), 0, nil, math.huge
  for seed = p.seed, p.seed + p.seeds - 1 do
    observe(c, seed, long)
    local found = search(c, go)
    if not first and not name:find "packed" then picture(c, found) end
    local is_found = math.abs(found.bin - BINS) <= 1 and math.abs(found.drift - p.z) <= p.step
    hits, least, first = hits + (is_found and 1 or 0), math.min(least, found.surprise), first or found
  end
  mw.remark("%s: %d peaks above %d; the highest, %.1f, at bin %.2f and drift %.2f: the pulsar has %.1f and %g. Found "
    .. "within a template in %d of %d skies, at %.1f at least; 8 sigma are 35.", name, first.peaks, THRESHOLD,
    first.surprise, first.bin, first.drift, BINS, p.z, hits, p.seeds, least)
  mw.record { group = "pulsar", rung = name, found = hits, skies = p.seeds, surprise = least }
  mw.check(hits == p.seeds, nil, { name = "the pulsar at its template, " .. name })
end

study:part { "pulsar", run = function()
  local c <close> = study:case(SIZE[1])
  c.x = c.spectrum:view(1, 2 * c.n)
  local long <close> = fft.plan(c.spectrum, c.series)
  mw.remark("The long transform takes %s.", mw.bench(function() long(c.spectrum, c.series) end, { max_time = 0.5 }))
  for _, name in ipairs { "float, 16 per thread", "packed bfloat16, 4 per thread" } do
    if study:has(name) then skies(c, name, long) end
  end
end }
return study
