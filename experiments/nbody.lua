-- SPDX-License-Identifier: MIT
--
-- nbody: what limits a computation that is all arithmetic, and how far can its cost be cut?
--
-- The gravitational potential of n bodies, f32, n^2 interactions: direct, through shared memory with the
-- source's literal 1.0 and with 1.0f, by rsqrtf, several bodies per thread, fast math, each pair once
-- (kernels/nbody.cu). The rate is n^2 / t, whatever a rung saves. The same over several devices, each with some of the
-- bodies, whose tiles go round in a ring. How the bodies move: orbits.lua.
--
-- What others measured: S. Boerm, "Simulation and High-Performance Computing", part 16 (Kiel, 7.10.2020). Its
-- times have no unit and its GPU no name: as milliseconds they may be a GPU's. See docs/studies/nbody.md.

local mw = require "moonwarp"

-- One root per interaction: 16 per cycle and multiprocessor. Only a GPU reports both.
local function roots(dev)
  local properties = dev:properties()
  local clock = dev:kind() == "gpu" and properties.clock
  return clock and { value = 16 * clock * properties.multiprocessors, label = "a root per interaction" } or nil
end

local study, p, gpu = mw.study {
  question = "what limits a computation that is all arithmetic, and how far can its cost be cut?",
  course = { week = 8.3, level = 2, hours = 3, about = "what limits arithmetic",
             without_gpu = "results and errors" },
  kernels = "nbody.cu", rate = { "interactions", work = function(c) return c.bodies ^ 2 end },
  units = { interactions = "1/s" }, output = "phi",
  type = "f32", level = "direct", peak = roots, seconds = { 0.03, gpu = 0.05 },
  odd = function(v) return { { bodies = 509 }, { bodies = 80 * v.lane + 1 } } end, -- 2.5 groups of the pairs'
  params = {
    { "smallest", 1024, "fewest bodies of the sweep", gpu = 16384, min = 1, max = 1 << 24 },
    { "largest", 8192, "most bodies of the sweep, which halves them", gpu = 262144, min = 1, max = 1 << 24 },
    { "n", 4096, "bodies, for fast math, shapes and copies", gpu = 65536, min = 1, max = 1 << 24 },
    { "block", 64, "threads per block if a thread has several bodies", gpu = 256, min = 32, max = 1024 },
    { "own", 4, "bodies per thread in these kernels", min = 1, max = 16 },
    { "lane", 8, "bodies per lane if each pair is computed once", gpu = 16, min = 1, max = 16 },
    { "samples", 12, "bodies whose potential the host computes", min = 1, max = 4096 },
    { "devices", 2, "most devices of the ring; 0: all that reach each other", min = 0, max = 16,
      check = function(v) return v == 1 and "two or more" or nil end },
  },
}

-- Uniform in the unit cube. An element depends only on its place: the first n are always the same.
function study.arrays(c)
  local made = { n = c.bodies, phi = c.dev:array(c.type, c.bodies) }
  for k, name in ipairs { "x", "y", "z", "m" } do made[name] = c.dev:array(c.type, c.bodies):random(k) end
  return made
end

-- ---- what is right --------------------------------------------------------------------------------------
-- Bodies spread over all, the first and the last among them: { i, value = its potential }, and the values.
local function spread(c, count)
  local n, x, y, z, m = c.bodies, c.x:totable(), c.y:totable(), c.z:totable(), c.m:totable()
  local list, values = {}, {}
  for k = 1, count do
    local i = count == 1 and n or 1 + (k - 1) * (n - 1) // (count - 1)
    local xi, yi, zi, sum = x[i], y[i], z[i], 0.0
    for j = 1, n do
      local dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
      if j ~= i then sum = sum + m[j] / math.sqrt(dx * dx + dy * dy + dz * dz) end
    end
    list[k], values[k] = { i, value = -sum }, -sum
  end
  return list, values
end

local function samples(c)
  c.samples = c.samples or spread(c, math.min(p.samples, c.bodies))
  return c.samples
end

study:answer("potential", { spot = samples, host = function(c) return select(2, spread(c, c.bodies)) end,
                            tolerance = function(c) return { sum = c.bodies } end })

-- The samples' largest relative error, in units of the last place of an f32 of 1.
local function error_of(c)
  local worst = 0.0
  for _, s in ipairs(samples(c)) do worst = math.max(worst, math.abs(c.phi:get(s[1]) / s.value - 1)) end
  return { error = worst / c.eps }
end

-- ---- the rungs: as written, with fast math, in other shapes ---------------------------------------------
local fast, gains, shapes, memory = {}, {}, { "direct" }, { "direct" } -- names

local function rung(number, name, is_fast, how)
  study:rung { number, name, always = name == "direct", kernel = how.kernel, block = how.block or 256,
               over = { "bodies" }, each = how.each, launches = how.launches, fast_math = is_fast, observe = error_of,
               fields = { fast_math = is_fast, each = how.each, unroll = how.unroll } }
end

local function both(number, name, how, fast_number)
  local fast_name = name .. ", fast math"
  rung(number, name, false, how)
  rung(fast_number or number, fast_name, true, how)
  table.move({ name, fast_name }, 1, 2, #fast + 1, fast)
  gains[#gains + 1] = ("%s / %s"):format(fast_name, name)
end

local function wide(each, unroll)
  local kernel = ("potential_wide<%d,%d,%d>"):format(p.block, each, unroll)
  return { kernel = kernel, block = p.block, each = each, unroll = unroll }
end

-- Adds to phi, so it clears it first, which is part of its time. So many parts share the half circle that
-- there are 64 warps per multiprocessor, but each has two times 32 bodies to compute.
local function pairs_once(each)
  local kernel = ("potential_pairs<%d>"):format(each)
  return { block = 32, each = each, launches = function(c, block)
    local groups = mw.ceil_div(c.bodies, 32 * each)
    local parts = math.min(64 * c.dev:properties().multiprocessors // groups, groups * each // 4, 65535)
    return { function() c.phi:fill(0) end, { kernel, { block = block, grid = { groups, math.max(1, parts) } } } }
  end }
end

local SHARED <const>, own = "potential_shared<float>", ("%d bodies per thread"):format(p.own)
both(1, "direct", { kernel = "potential_direct<float>" })
rung(1, "direct, 1.0", false, { kernel = "potential_direct<double>" })
both(2, "shared memory, 1.0", { kernel = "potential_shared<double>" })
both(3, "shared memory, 1.0f", { kernel = SHARED })
both(4, "rsqrtf", { kernel = "potential_tiled" })
both(5, own, wide(p.own, 8), 6)
both(7, "each pair once", pairs_once(p.lane))

-- Bodies per thread, and how often its loop is unrolled; or bodies per lane.
for _, s in ipairs { { 1, 1 }, { 1, 8 }, { 2, 8 }, { 4, 1 }, { 4, 8 }, { 8, 8 }, { 4 }, { 8 }, { 16 } } do
  local name = s[2] and "%d per thread, unrolled %d" or "pairs, %d per lane"
  shapes[#shapes + 1] = name:format(table.unpack(s))
  rung(s[2] and 6 or 7, shapes[#shapes], true, s[2] and wide(s[1], s[2]) or pairs_once(s[1]))
end

-- From numbers on the host to numbers on the host; or only the kernel, with its bodies copied once.
local function phase(c, name, kind)
  local host, device, is_managed = {}, {}, kind == "managed"
  for _, field in ipairs { "phi", "x", "y", "z", "m" } do
    host[field] = c:keep(c.dev[kind](c.dev, c.type, c.bodies))
    device[field] = is_managed and host[field] or c:array(c.bodies)
  end
  local texts = { x = c.x:bytes(), y = c.y:bytes(), z = c.z:bytes(), m = c.m:bytes() }
  local function bring()
    for field, text in pairs(texts) do
      host[field]:upload(text)
      if not is_managed then device[field]:copy(host[field]) end
    end
  end
  local go = c:launch(SHARED, { block = 256, grid = mw.ceil_div(c.bodies, 256) }, device)
  local is_alone = name:find "alone"
  c[name] = is_alone and device.phi or host.phi
  if is_alone then bring() return go end
  return function()
    bring()
    go()
    if not is_managed then host.phi:copy(device.phi) end
    return host.phi:bytes()
  end
end

for _, way in ipairs { "managed", "copies, pageable", "copies, pinned" } do
  local kind <const> = way:match "%a+$"
  for _, name in ipairs { way, way .. ", kernel alone" } do
    memory[#memory + 1] = name
    study:rung { 8, name, output = name, kernel = SHARED, make = function(c) return phase(c, name, kind) end,
                 when = function(c) return kind ~= "managed" or c.dev:properties().managed end }
  end
end

-- ---- a ring of devices ------------------------------------------------------------------------------------
-- Each device has some bodies, and computes their potential from the tile of bodies at hand: its own first. Meanwhile
-- that tile is copied to the next device, where it is the tile of the next step.

local devices -- this one and others that it reaches; of a CPU device without such, parts of the processor

local function ring_of(dev)
  if devices then return devices end
  devices = { dev }
  for _, peer in ipairs(dev:peers()) do
    if peer.access and (p.devices == 0 or #devices < p.devices) then devices[#devices + 1] = mw.device(peer.id) end
  end
  local count = math.max(2, p.devices)
  for i = 1, not gpu and not devices[2] and count or 0 do
    devices[i] = mw.device(("cpu:%d/%d"):format(i - 1, count))
  end
  return devices
end

-- A device's place in the ring: its bodies, two tiles for what comes by, streams for kernels and copies, and events.
local function station(c, list, d)
  local dev, first = list[d], c.bodies * (d - 1) // #list
  local count, most = c.bodies * d // #list - first, mw.ceil_div(c.bodies, #list)
  local at = { first = first, count = count, phi = c:keep(dev:array("f32", count)) }
  for i = 1, 3 do at[i] = c:keep(dev:array("f32", 4 * most)) end -- its own, then what comes by in turn
  for k, name in ipairs { "x", "y", "z", "m" } do
    at[1]:copy(c[name], { from = first + 1, to = (k - 1) * count + 1, count = count })
  end
  at.main, at.lane = c:keep(dev:stream()), c:keep(dev:stream())
  at.computed, at.sent = dev:event { timing = false }, dev:event { timing = false }
  at.kernel = dev:module "nbody.cu":kernel "potential_tile"
  at.go = at.kernel:prepare { grid = mw.ceil_div(count, 256), block = 256, stream = at.main }
  return at
end

local function tile_of(step) return step == 0 and 1 or 2 + step % 2 end

-- With is_hidden a step copies while it computes, else after that.
local function step_of(ring, step, is_hidden)
  local size = #ring
  local function near(d, by) return ring[(d - 1 + by) % size + 1] end
  for d, at in ipairs(ring) do
    local before = near(d, -1)
    if step > 0 then -- the tile has come, and what it overwrites next was used
      at.main:wait(before.sent)
      for _, event in ipairs { before.sent, near(d, 1).sent, near(d, 1).computed } do at.lane:wait(event) end
    end
  end
  for d, at in ipairs(ring) do
    local tile, count = at[tile_of(step)], near(d, -step).count
    at.go(at.phi, at[1], tile, at.count, count, step == 0 and 1 or 0)
    at.main:record(at.computed)
    if not is_hidden then at.lane:wait(at.computed) end
    if step < size - 1 then near(d, 1)[tile_of(step + 1)]:copy(tile, { count = 4 * count, stream = at.lane }) end
  end
  for _, at in ipairs(ring) do at.lane:record(at.sent) end
end

local function ring_rung(name, is_hidden, is_alone)
  study:rung { 9, name, answer = "potential", observe = error_of,
    when = function(c) return is_alone or #ring_of(c.dev) > 1 end,
    fields = function(c) return { devices = is_alone and 1 or #ring_of(c.dev) } end,
    make = function(c)
      local list, ring = is_alone and { ring_of(c.dev)[1] } or ring_of(c.dev), {}
      for d in ipairs(list) do ring[d] = station(c, list, d) end
      local default, begun = c.dev:default_stream(), c.dev:event { timing = false }
      return function()
        default:record(begun)
        for _, at in ipairs(ring) do
          at.main:wait(begun)
          at.lane:wait(begun)
        end
        for step = 0, #ring - 1 do step_of(ring, step, is_hidden) end
        for _, at in ipairs(ring) do
          c.phi:copy(at.phi, { to = at.first + 1, stream = at.main })
          at.main:record(at.computed)
          default:wait(at.computed)
        end
      end
    end }
end

ring_rung("one device", false, true)
ring_rung("ring, copies after", false)
ring_rung("ring", true)

-- ---- what others measured, and the parts ----------------------------------------------------------------
local KIEL = { -- bodies = { direct, through shared memory }, as milliseconds
  [16384] = { 6.1, 6.3 }, [32768] = { 12.5, 12.2 }, [65536] = { 52.5, 48.4 }, [131072] = { 199.1, 183.2 },
  [262144] = { 719.6, 645.7 }, [524288] = { 2759.3, 2427.3 },
}

for i, name in ipairs { "direct, 1.0", "shared memory, 1.0" } do
  local word = name:match "%a+"
  study:source { "Kiel 2020 as ms, " .. word, field = "kiel_" .. word, when = gpu, values = {
    [name] = function(c) return KIEL[c.bodies] and c.bodies ^ 2 / (KIEL[c.bodies][i] * 1e-3) end } }
end

local at_n, sizes = { { bodies = p.n } }, mw.geometric(math.max(p.smallest, p.largest), p.smallest)

local RATE, ERROR = { "interactions", title = "n^2 / t" }, { "error", title = "error, eps", digits = 2 }
local OVER = { "share", title = "over direct", unit = "", digits = 3 }
local PEAK = { "of_peak", title = "of a root each", unit = "%", digits = 3 }

study:part { "ladder", cases = { { bodies = sizes } }, rows = "all", rungs = { "direct", "direct, 1.0",
    "shared memory, 1.0", "shared memory, 1.0f", "rsqrtf", own, own .. ", fast math", "each pair once, fast math" },
  table = { "rung", "bodies", "t", RATE, OVER, PEAK, ERROR },
  charts = { { kind = "ladder" }, -- and two charts with a few lines each
    { x = "bodies", logx = 2, logy = 10, of = function(r) return not r.rung:find "1.0$" and r.number ~= 5 end },
    { x = "bodies", logx = 2, logy = 10, name = "shared", of = function(r) return r.number <= 3 end } },
  ratios = { "shared memory, 1.0f / direct", "direct, 1.0 / direct",
             "shared memory, 1.0 / shared memory, 1.0f", "shared memory, 1.0 / direct, 1.0", "rsqrtf / direct",
             "best potential / direct" } }

study:part { "fast", cases = at_n, rungs = fast, ratios = gains, table = { "rung", "t", RATE, OVER, ERROR } }
study:part { "shapes", cases = at_n, rungs = shapes, charts = { { kind = "ladder" } },
  table = { "rung", { "each", title = "bodies per thread" }, "unroll", "t", RATE, OVER, ERROR } }
study:part { "ring", cases = at_n, rungs = { "one device", "ring, copies after", "ring" }, level = "one device",
  table = { "rung", "devices", "t", RATE, { "share", title = "over one device", unit = "", digits = 4 }, ERROR } }
study:part { "memory", cases = at_n, rungs = memory, clock = "host", table = { "rung", "t", RATE },
  ratios = { "managed / managed, kernel alone", "copies, pageable / copies, pageable, kernel alone",
             "copies, pinned / copies, pinned, kernel alone" } }
return study
