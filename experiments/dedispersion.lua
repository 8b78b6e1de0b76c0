-- SPDX-License-Identifier: MIT
--
-- dedispersion: how many dispersions of a radio telescope's data can be tried in real time, and what bounds it?
--
-- Brute force: for each trial the channels are added at the times at which a pulse of this dispersion arrives in each.
-- A byte from global memory, from shared memory, two samples per word, four samples per word, four channels per word by
-- dp4a, and tensor cores. The rate is adds = channels * times * dms / t, shares are of the direct form, `bound` is what
-- the loads allow. Then the way from a synthetic sky to a pulsar: zero-DM filter, dedispersion in two ranges, the
-- second in half of the samples, single pulses by boxcars, a picture. See docs/studies/dedispersion.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local CHANNELS <const>, GROUPS <const>, TRIALS <const> = 8, 4, 16 -- staged at once; of a tensor core's tile
local HIGH <const>, LOW <const> = 1550, 1250                      -- MHz
local SECOND <const> = 20000                                      -- samples per second, the lecture's for the SKA
local CENTRE <const>, SD <const> = 100, 16                        -- of the noise, in units of a sample

local study, p, gpu = mw.study {
  question = "how many dispersions can be tried in real time, and what bounds it?", kernels = "dedispersion.cu",
  rate = { "adds", work = function(c) return c.channels * c.times * c.dms end }, output = "out", type = "f32",
  units = { adds = "1/s", call = "s", beam = "W" }, level = "direct", seconds = { 0.05, gpu = 0.1 },
  also = { "delays", "observe", "row_statistics", "squares" },
  odd = { { channels = 37, times = 301, dms = 19, step = 1.3 }, { channels = 72, times = 270, dms = 20, step = 0.4 },
          { channels = 300, times = 130, dms = 5, step = 1.5, saturated = true } }, -- sums of 16 bits are unloaded
  params = {
    { "channels", 256, "frequency channels", gpu = 4096, min = 4, max = 8192 },
    { "times", 2048, "samples of each trial", gpu = 1 << 15, min = 256 },
    { "dms", 64, "trial dispersions", gpu = 1024, min = 2, max = 8192 },
    { "step", 1.0, "samples of delay over the band from a trial to the next", min = 0.01, max = 16 },
    { "warps", 8, "warps per block, in shared memory", gpu = 16, choices = { 1, 2, 4, 8, 16, 32 } },
    { "each", 2, "trials per thread, in shared memory", gpu = 4, min = 1, max = 8 },
    { "loads", 4, "loads per thread and trial", min = 1, max = 16 },
    { "words", 1, "of four times that a thread has in registers", gpu = 4, min = 1, max = 8 },
    { "patterns", 10, "of shifts in a group of four channels, at most", gpu = 8, min = 1, max = 16 },
    { "columns", 16, "times that a warp has on tensor cores, in eights", min = 1, max = 32 },
    { "tiles", 8, "warps per block on tensor cores", choices = { 1, 2, 4, 8, 16 } },
    { "snr", 8, "signal to noise of one of the pulsar's pulses, before the filter", min = 0 },
    { "astroaccelerate", "", "AstroAccelerate's aa_device_dedispersion_kernel.cu, to be measured beside (GPU)" },
    { "macros", "4x14x8x64", "its UNROLLS, SNUMREG, SDIVINT, SDIVINDM", check = function(text)
      return not text:find "^%d+x%d+x%d+x%d+$" and "four numbers, as in 4x14x8x64" or nil
    end },
    { "seed", 1, "of the first sky" },
    { "seeds", 2, "skies that are searched", gpu = 20, min = 1 },
  },
}
local TILE <const> = p.warps * p.each
local function sides(times, first) -- first: the first trial, 0 by default
  return { channels = p.channels, times = times, dms = p.dms, step = p.step, first = first }
end
local SIZE <const> = sides(p.times)

-- ---- delays -----------------------------------------------------------------------------------------
-- Of trial d and channel i, both from 1 on, in samples.
local function shift(c, d, i) return math.floor(((c.first or 0) + d - 1) * c.step * c.part[i] + 0.5) end

-- Samples that a tile of trials needs of a channel beyond those of one trial, at most.
local function span_of(c, tile) return math.ceil((tile - 1) * c.step) + 4 end

function study.arrays(c)
  c.part = {} -- the delay of each channel over that of the highest, in parts of the lowest's
  for i = 1, c.channels do
    local f = HIGH + (LOW - HIGH) * (i - 1) / (c.channels - 1)
    c.part[i] = (f ^ -2 - HIGH ^ -2) / (LOW ^ -2 - HIGH ^ -2)
  end
  c.stride = ceil_div(c.times + shift(c, c.dms, c.channels) + 16, 8) * 8
  local x, levels = c.dev:array("u8", c.stride, c.channels), {}
  if c.saturated then x:fill(255) else x:random { seed = 1, max = 255 } end
  for d = 1, c.dms do levels[2 * d - 1], levels[2 * d] = 0.5, 3.5 end
  local shifts = c.dev:array("u16", c.channels, c.dms)
  c:launch("delays", { block = 256, grid = { ceil_div(c.channels, 256), c.dms } },
    { shifts = shifts, part = c:keep(c.dev:array("f64", c.part)), first = c.first or 0 })()
  return { x = x, out = c:array(c.times, c.dms), y = c.dev:array("u8", c.stride, c.channels), shifts = shifts,
           mean = c.dev:array("i32", c.stride), statistics = c:array(2, c.dms), best = c:array(c.times, c.dms),
           levels = c.dev:array("f32", levels),
           width = c.dev:array("u8", c.times, c.dms), noise = c:array(c.times, c.dms):random(3), centre = CENTRE,
           binned = c.stride // 2, half = c.dev:array("u8", c.stride // 2, c.channels),
           near = c.dev:array("u8", TRIALS, c.channels, ceil_div(c.dms, TRIALS)) }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- An answer: each element is value(c, get, i, j, known), where get(places) are samples of x, and `known` is a table to
-- keep what several elements need. At the measured size sixteen of them.
local function answered(name, value, spec)
  function spec.host(c)
    local x, known = c.x:totable(), {}
    local function get(places)
      for k, place in ipairs(places) do places[k] = x[(place - 1) // c.stride + 1][(place - 1) % c.stride + 1] end
      return places
    end
    return function(i, j) return value(c, get, i, j, known) end
  end
  function spec.spot(c)
    local list, nx, ny = {}, c[spec.output or "out"]:shape()
    for k = 0, 15 do
      local i, j = 1 + k * (nx - 1) // 15, 1 + k * 7 % 16 * (ny - 1) // 15
      list[k + 1] = { i, j, value = value(c, function(places) return c.x:gather(places) end, i, j, {}) }
    end
    return list
  end
  spec.tolerance = spec.tolerance or function() return { absolute = 0 } end
  study:answer(name, spec)
end

-- The sum over all channels at time t, each channel i at its own delay(i).
local function sum_of(c, get, t, delay)
  local places, sum = {}, 0
  for i = 1, c.channels do places[i] = (i - 1) * c.stride + t + delay(i) end
  for _, v in ipairs(get(places)) do sum = sum + v end
  return sum
end

answered("sums", function(c, get, t, d) return sum_of(c, get, t, function(i) return shift(c, d, i) end) end,
  { bytes = "x out" })

-- ---- the rungs --------------------------------------------------------------------------------------
-- adds: of a multiprocessor in a cycle, as the head of the kernels says.
local function rung(number, name, adds, spec)
  spec[1], spec[2], spec.answer = number, name, "sums"
  function spec.bound(c) return c:per_cycle(type(adds) == "function" and adds(c) or adds) end
  study:rung(spec)
end

local function in_global(number, name, kernel, times, adds)
  rung(number, name, adds, { kernel = kernel, blocks = gpu and { { 32, 8 }, { 128, 2 } } or { { 32, 8 } },
    grid = function(c, block) return { ceil_div(c.times, block[1] * times), ceil_div(c.dms, block[2]) } end })
end

-- `samples` of a channel in a word, which is staged as often.
local function tiled(number, name, kernel, samples)
  local function width(c) return ceil_div(32 * samples * p.loads + span_of(c, TILE) + 8, 8) * 8 end
  rung(number, name, 32 * samples, { kernel = ("%s<%d,%d,%d>"):format(kernel, p.loads, p.each, p.warps),
    block = { 32, p.warps }, args = function(c) return { width = width(c) } end,
    grid = function(c) return { ceil_div(c.times, 32 * samples * p.loads), ceil_div(c.dms, TILE) } end,
    shared = function(c) return CHANNELS * (width(c) * (samples == 1 and 1 or 4) + 4 * TILE) end })
end

in_global(1, "direct", "dedisperse_direct", 1, 8)
in_global(2, "direct, times in registers", ("dedisperse_registers<%d>"):format(p.words), 4 * p.words, 32)
tiled(3, "shared memory", "dedisperse_shared", 1)
tiled(4, "two samples per word", "dedisperse_pairs", 2)
tiled(5, "four samples per word", "dedisperse_quads", 4)

local grouped = ("dedisperse_groups<%d,%d,%d,%d>"):format(p.loads, p.each, p.warps, p.patterns)
local planned = ("plan_groups<%d>"):format(p.patterns)
rung(6, "four channels per word", 128, { kernel = { planned, grouped }, block = { 32, p.warps }, make = function(c, by)
  local groups, tiles = ceil_div(c.channels, 4), ceil_div(c.dms, TILE)
  local width, limits = ceil_div(32 * p.loads + span_of(c, TILE) + 4, 4) * 4, c.dev:zeros("i32", 2)
  local plan = { limits = c:keep(limits), counts = c:keep(c.dev:array("u8", groups, tiles)), tile = TILE, width = width,
                 patterns = c:keep(c.dev:array("i32", 4 * (p.patterns + 1), groups, tiles)),
                 offsets = c:keep(c.dev:array("u16", TILE, groups, tiles)) }
  c:launch(planned, { block = 64, grid = { ceil_div(groups, 64), tiles } }, plan)()
  local most, spread = limits:get(1), limits:get(2)
  if most > p.patterns then
    return nil, ("%d patterns in a group; give them with -p patterns="):format(most)
  elseif spread > 7 then
    return nil, ("shifts of a group are %d samples apart; take more channels"):format(spread)
  end
  return c:launch(grouped, { block = by, grid = { ceil_div(c.times, 32 * p.loads), tiles },
    shared = GROUPS * 4 * (p.patterns * width + TILE) }, plan)
end })

-- A product is 16 trials, 8 times and 8, 4, 2 channels or one, whose shifts in a tile are less than 4, 8, 16, 32 apart.
-- The two loads of a lane take two cycles; of 16 and 32 shifts one is known from another product.
local function tensor_adds(c)
  local cycles = 0
  for _, part in ipairs(c.part) do
    local apart, shifts = math.ceil((TRIALS - 1) * c.step * part), 4
    while shifts <= apart do shifts = 2 * shifts end
    cycles = cycles + shifts / 32 * (shifts < 16 and 2 or 1)
  end
  return TRIALS * 8 * c.channels / cycles
end

rung(7, "tensor cores", tensor_adds, { block = { 32, p.tiles },
  when = function(c)
    return gpu and tonumber(c.dev:properties().compute_capability) >= 8 and c.step * (TRIALS - 1) <= 31
  end,
  launches = function(c, block)
    local tile = TRIALS * p.tiles
    local J = math.max(3, ceil_div(8 * p.columns + span_of(c, tile) + 40, 128)) -- words of a channel at most, over 32
    return { { "tile_shifts", { block = 256, grid = { ceil_div(c.channels, 256), ceil_div(c.dms, TRIALS) } } },
             { ("dedisperse_tensor<%d,%d,%d>"):format(p.columns, p.tiles, J),
               { block = block, grid = { ceil_div(c.times, 8 * p.columns), ceil_div(c.dms, tile) },
                 shared = 32 * (4 * (4 * (32 * J + 8) + 4) + tile) } } }
  end })

-- ---- AstroAccelerate's own kernel -------------------------------------------------------------------
-- Of a file that is given, under its own licence. It truncates two shifts, that of a tile's first trial and the rest,
-- in f32, and divides the sums by the channels. Whole tiles only.
local WIDEN <const> = [[
__global__ void widen(ushort *wide, const unsigned char *x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) wide[i] = x[i];
}
]]
local function beside(path)
  local unrolls, each, width, tile = p.macros:match "(%d+)x(%d+)x(%d+)x(%d+)"
  local file <close> = assert(io.open(path))
  local source = ("typedef unsigned short ushort;\n#define UNROLLS %s\n#define SNUMREG %s\n#define SDIVINT %s\n"
    .. "#define SDIVINDM %s\n#define SFDIVINDM (float)SDIVINDM\n#define ARRAYSIZE (SDIVINT * SDIVINDM)\n")
    :format(unrolls, each, width, tile) .. WIDEN .. file:read "a":match "(__device__ __shared__ ushort2.-)//%-+ wrapper"
  width, tile = math.tointeger(width), math.tointeger(tile)
  local across = 2 * each * width | 0
  local function f32(v) return (string.unpack("f", string.pack("f", v))) end
  answered("their sums", function(c, get, t, d)
    local rest = (d - 1) % tile
    return sum_of(c, get, t, function(i)
      local part = f32(c.part[i])
      return f32(part * f32((d - 1 - rest) * c.step)) // 1 + f32(part * f32(rest * c.step)) // 1 | 0
    end) / c.channels
  end, { output = "theirs", bytes = "x theirs", tolerance = function() return { relative = 1e-6 } end,
         work = function(c) return c.channels * (c.times // across * across) * c.dms end })
  study:rung { 11, "AstroAccelerate", answer = "their sums", block = { width, tile },
    make = function(c, block)
      local wide, count = c:keep(c.dev:zeros("u16", #c.x + 2 * width * tile)), #c.x
      c:launch("widen", { source = source, block = 256, grid = ceil_div(count, 256) }, { wide = wide, count = count })()
      local function variable(name) return c:variable(name, { source = source }) end
      variable "i_nsamp":fill(c.stride)
      variable "i_nchans":fill(c.channels)
      variable "i_t_processed_s":fill(c.times // across * across)
      variable "dm_shifts":view(1, c.channels):upload(c.part)
      return c:launch("shared_dedisperse_kernel", { source = source, block = block,
        grid = { c.times // across, c.dms // tile } },
        { bin = 1, d_input = wide, d_output = c.theirs, mstartdm = 0, mdmstep = c.step })
    end }
  study:part { "AstroAccelerate", cases = { SIZE },
    odd = { { channels = 8 * unrolls | 0, times = 3 * across, dms = tile, step = 0.25 } },
    rungs = { "sums", "their sums" }, blocks = "best", level = "AstroAccelerate",
    arrays = function(c) return { theirs = c:array(c.times // across * across, c.dms) } end,
    table = { "rung", "block", "t", "adds", { "share", title = "of AstroAccelerate", digits = 3 } },
    ratios = { "best sums / AstroAccelerate", "four channels per word / AstroAccelerate" } }
end

-- ---- the other stages -------------------------------------------------------------------------------
answered("filtered", function(c, get, t, i, means)
  means[t] = means[t] or (sum_of(c, get, t, function() return 0 end) + c.channels // 2) // c.channels
  return math.max(0, math.min(255, get { (i - 1) * c.stride + t }[1] - means[t] + CENTRE))
end, { output = "y", bytes = function(c) return 3 * #c.x end })
local function filter(c)
  return c:launches { { "zero_dm_mean", { block = { 32, 16 }, grid = ceil_div(c.stride // 4, 32) } },
                      { "zero_dm_subtract", { block = 256, grid = { ceil_div(c.stride // 4, 256), c.channels } } } }
end
study:rung { 8, "zero-DM filter", answer = "filtered", kernel = { "zero_dm_mean", "zero_dm_subtract" }, make = filter }

answered("halved", function(c, get, t, i)
  local at = (i - 1) * c.stride + 2 * t
  return (get { at - 1 }[1] + get { at }[1] + 1) // 2
end, { output = "half", bytes = function(c) return 1.5 * #c.x end })
study:rung { 9, "time binning", answer = "halved", kernel = "bin_times", block = 256,
  args = function(c) return { y = c.half } end,
  grid = function(c) return { ceil_div(ceil_div(c.binned, 4), 256), c.channels } end }

-- Boxcars over rows of noise of mean 1/2; the host adds each anew.
local LEVELS <const> = 6
answered("pulses", function(c, _, t, d)
  local many, most, sum = math.min(1 << LEVELS - 1, c.times - t + 1), -math.huge, 0
  local row = c.noise:view((d - 1) * c.times + t, many):totable()
  for k = 1, 1 << LEVELS - 1 do
    sum = sum + ((row[k] or 0.5) - 0.5) * 3.5
    if k & k - 1 == 0 then most = math.max(most, sum / k ^ 0.5) end
  end
  return most
end, { output = "best", bytes = function(c) return 9 * c.times * c.dms end,
       tolerance = function() return { absolute = 1e-4 } end })
local boxcars = ("boxcars<%d>"):format(LEVELS)
study:rung { 10, "boxcars", answer = "pulses", kernel = boxcars, block = 256,
  args = function(c) return { out = c.noise, statistics = c.levels } end,
  grid = function(c) return { ceil_div(c.times, 256), c.dms } end }

-- ---- parts ------------------------------------------------------------------------------------------
local function derive(records, c) -- call: seconds of a launch; beam: W of a telescope's beam in real time
  for _, r in ipairs(records) do
    r.call, r.real_time = r.t.median, c.times / SECOND / r.t.median
    r.beam = r.power and r.power / r.real_time
  end
end
local REAL <const> = { "real_time", title = "times real time", digits = 3 }

study:part { "ladder", cases = { SIZE }, rungs = { "sums" }, rows = "best", derive = derive,
  table = { { "number", title = "no." }, "rung", "block", "t", "adds", "bound",
            { "of_bound", unit = "%", digits = 3 }, { "share", title = "of direct", digits = 3 }, REAL },
  charts = { { kind = "ladder" } },
  ratios = { "two samples per word / direct", "four samples per word / direct", "four channels per word / direct",
             "tensor cores / four channels per word", "best sums / direct, times in registers" } }

if gpu and p.astroaccelerate ~= "" then beside(p.astroaccelerate) end

study:part { "energy", cases = { SIZE }, rungs = { "sums" }, blocks = "best", energy = true, derive = derive,
  table = { "rung", "t", "joules", "power", "idle_power", { "beam", title = "a beam" } },
  charts = { { x = "call", y = "joules", by = "rung", name = "energy", title = "of the sums", logx = true, logy = true,
               xlabel = "time", ylabel = "energy" } } }

study:part { "stages", cases = { SIZE }, rungs = { "filtered", "halved", "pulses" }, rate = "T_eff", level = {},
  derive = derive, table = { "rung", "t", "T_eff", REAL } }

-- ---- from the sky to the pulsar ---------------------------------------------------------------------
local WIDTH <const>, PERIOD <const> = 8, 701                      -- samples
local BURST <const> = 60                                          -- of interference, in units of a sample
local DM <const> = 1 / (4148.808 * (LOW ^ -2 - HIGH ^ -2) * SECOND) -- pc/cm^3 of a sample of delay over the band

-- A sky with a pulsar whose delay is that of trial `at`, into x, and filtered into y. burst: interference's.
local function observe(c, at, seed, burst)
  local delay = {}
  for i = 1, c.channels do delay[i] = math.floor(at * c.step * c.part[i] + 0.5) end
  local noise <close> = c.dev:array("f32", c.stride, c.channels):random { seed = seed, kind = "normal" }
  c:launch("observe", { block = 256, grid = { ceil_div(c.stride, 256), c.channels } },
    { noise = noise, delay = c:keep(c.dev:array("u16", delay)), level = CENTRE, sd = SD, pulse = WIDTH,
      period = PERIOD, begin = 150, burst = burst, height = p.snr * SD / (c.channels * WIDTH) ^ 0.5 })()
  filter(c)()
end

-- The strongest single pulse of all trials and times: snr, trial, time, width; `plane` has the strongest of each of
-- its squares.
local function search(c, rung_name)
  study:launcher(rung_name, c)()
  c:launch("row_statistics", { block = 256, grid = c.dms })()
  c:launch(boxcars, { block = 256, grid = { ceil_div(c.times, 256), c.dms } })()
  local every, down = ceil_div(c.times, 320), ceil_div(c.dms, 128)
  local nx, ny = ceil_div(c.times, every), ceil_div(c.dms, down)
  local plane, strongest = c:keep(c:array(nx, ny)), c:keep(c.dev:zeros("u64", 1))
  c:launch("squares", { block = 64, grid = { ceil_div(nx, 64), ny } },
    { small = plane, strongest = strongest, every = every, down = down, nx = nx })()
  local snr, at = string.unpack("f", string.pack("I4", strongest:get(1) >> 32)), strongest:get(1) & 0xffffffff
  return { snr = snr, trial = at // c.times, time = at % c.times + 1, width = 1 << c.width:gather { at + 1 }[1],
           plane = plane }
end

local function say(how, at, found, scale)
  mw.remark("%s: the pulsar of trial %d (%.2f pc/cm3) is found at trial %d, time %d, with a signal to noise of %.1f, "
    .. "%d samples wide.", how, at, at * p.step * DM, found.trial, scale * found.time, found.snr, scale * found.width)
  mw.record { group = "pulsar", how = how, at = at, trial = found.trial, snr = found.snr, seed = p.seed }
end

-- Found is what is within a pulse's width of its trial.
local function skies(how, at, scale, found_in)
  local hits = 0
  for seed = p.seed, p.seed + p.seeds - 1 do
    local found = found_in(seed)
    if seed == p.seed then say(how, at, found, scale) end
    hits = hits + (math.abs(found.trial - at) <= scale * WIDTH / p.step and 1 or 0)
  end
  mw.remark("%s: found in %d of %d skies.", how, hits, p.seeds)
  mw.record { group = "skies", how = how, found = hits, skies = p.seeds }
  mw.check(hits == p.seeds, nil, { name = how .. ": the pulsar is found at its trial" })
end

study:part { "pulsar", run = function()
  local rung_name = gpu and study:has "tensor cores" and "tensor cores" or "direct, times in registers"
  local at, c <close> = p.dms * 5 // 8, study:case(SIZE)
  local filtered = c:with { x = c.y }
  observe(c, at, p.seed, 0)
  local whole, less = search(c, rung_name).snr, search(filtered, rung_name).snr
  mw.remark("Without interference the filter takes %.0f %% of the pulse: %.1f of %.1f are left; width over delay is "
    .. "%.0f %%.", 100 * (1 - less / whole), less, whole, 100 * WIDTH / (at * p.step))
  observe(c, at, p.seed, BURST)
  say("without the zero-DM filter", at, search(c, rung_name), 1)
  skies("with it", at, 1, function(seed)
    observe(c, at, seed, BURST)
    local found = search(filtered, rung_name)
    local picture = { name = "dedispersion-plane", title = "dedispersion: single pulses", low = 0, aspect = 0.6,
      xlabel = "time (samples)", ylabel = "trial", label = "signal to noise", x = { 0, p.times }, y = { 0, p.dms },
      marks = { { x = found.time, y = found.trial, label = "found" } }, device = c.dev }
    if seed == p.seed then mw.picture(found.plane, picture) end
    return found
  end)

  -- A pulsar beyond the last trial: half of the samples, so that each trial is two.
  local far <close> = study:case(sides(p.times, 2 * p.dms)) -- its samples reach the other's last trial
  local half <close>, beyond = study:case(sides(p.times // 2, p.dms // 2)), p.dms + p.dms // 2
  half.x, half.stride = far.half, far.binned
  skies("in half of the samples", beyond, 2, function(seed)
    observe(far, beyond, seed, BURST)
    far:launch("bin_times", { block = 256, grid = { ceil_div(ceil_div(far.binned, 4), 256), far.channels } },
      { x = far.y, y = far.half })()
    local found = search(half, rung_name)
    found.trial = 2 * (p.dms // 2 + found.trial)
    return found
  end)
end }
return study
