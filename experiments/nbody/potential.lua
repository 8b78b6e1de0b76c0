-- SPDX-License-Identifier: MIT
--
-- The potential: bodies, the host's reference, the rungs, fast math, shapes, memory. A chunk that
-- is called with the study's settings and returns what init.lua runs.

local mw = require "moonwarp"
local core = require "moonwarp.core"

local set = ...
local dev, n, seconds = set.dev, set.n, set.seconds

local function wide_name(threads, each, unroll)
  return ("potential_wide<%d,%d,%d>"):format(threads, each, unroll)
end

local function pairs_name(each)
  return ("potential_pairs<%d>"):format(each)
end

-- Bodies a thread and unrolling, and bodies a lane, that are measured with fast math.
local SHAPES, LANES = { { 1, 1 }, { 1, 8 }, { 2, 8 }, { 4, 1 }, { 4, 8 }, { 8, 8 } }, { 4, 8, 16 }

-- All at once: one run of the compiler for each of the two modules.
local function module_of(fast_math)
  local names, seen = {}, {}
  local function add(name)
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  for _, name in ipairs { "potential_shared<double>", "potential_shared<float>", pairs_name(set.lane),
                          wide_name(set.block, set.own, 8) } do
    add(name)
  end
  for _, shape in ipairs(fast_math and SHAPES or {}) do add(wide_name(set.block, shape[1], shape[2])) end
  for _, each in ipairs(fast_math and LANES or {}) do add(pairs_name(each)) end
  return dev:module { file = "nbody.cu", fast_math = fast_math, templates = names }
end

local exact, fast = module_of(false), module_of(true)

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- bodies and their potential on the host -----------------------------------------------------

-- Uniform in the unit cube. An element depends on its place alone: the first n never change.
local largest = math.max(n, set.largest)
local bodies = {}
for k = 1, 4 do bodies[k] = dev:array("f32", largest):random(k) end
local phi, first_phi = dev:array("f32", largest), dev:array("f32", largest)
local on_host = {}
for k = 1, 4 do on_host[k] = bodies[k]:totable() end

local function host_potential(i, count)
  local xs, ys, zs, ms = table.unpack(on_host)
  local x, y, z, sum = xs[i], ys[i], zs[i], 0.0
  for j = 1, count do
    local dx, dy, dz = xs[j] - x, ys[j] - y, zs[j] - z
    if j ~= i then sum = sum + ms[j] / math.sqrt(dx * dx + dy * dy + dz * dz) end
  end
  return -sum
end

-- Bodies spread over all, the first and the last among them: { { i, potential }, ... }.
local truths = {}
local function truth(count)
  if truths[count] then return truths[count] end
  local list, several = {}, math.min(set.samples, count)
  for k = 1, several do
    local i = several == 1 and count or 1 + (k - 1) * (count - 1) // (several - 1)
    list[k] = { i, host_potential(i, count) }
  end
  truths[count] = list
  return list
end

-- The largest relative error among the sampled bodies, in units of the last place of an f32 of 1.
local function error_of(count)
  local worst = 0.0
  for _, known in ipairs(truth(count)) do
    local wrong = math.abs(phi:get(known[1]) / known[2] - 1)
    if wrong ~= wrong then return wrong end
    worst = math.max(worst, wrong)
  end
  return worst * 2 ^ 23
end

-- ---- the rungs ----------------------------------------------------------------------------------

-- A launch of one thread a body in blocks of 256.
local function plain(mod, name)
  return function(count)
    return mod:kernel(name):prepare { block = 256, grid = ceil_div(count, 256) }
  end
end

local function wide(mod, threads, each, unroll)
  return function(count)
    return mod:kernel(wide_name(threads, each, unroll)):prepare { block = threads,
      grid = ceil_div(count, threads * each) }
  end
end

-- Adds to phi, so it clears it first, which is part of its time. The half circle is shared among so
-- many parts that there are 64 warps a multiprocessor, but each has two times 32 bodies to meet.
local function pairs_once(mod, each)
  return function(count)
    local groups = ceil_div(count, 32 * each)
    local wanted = 64 * dev:properties().multiprocessors // groups
    local parts = math.max(1, math.min(wanted, groups * each // 4, 65535))
    local go = mod:kernel(pairs_name(each)):prepare { block = 32,
      grid = { groups, parts } }
    return function(out, ...)
      out:fill(0)
      go(out, ...)
    end
  end
end

local LADDER = {
  { "direct", plain(exact, "potential_direct") },
  { "shared memory, 1.0", plain(exact, "potential_shared<double>") },
  { "shared memory, 1.0f", plain(exact, "potential_shared<float>") },
  { "rsqrtf", plain(exact, "potential_tiled") },
  { ("%d bodies a thread"):format(set.own), wide(exact, set.block, set.own, 8) },
  { ("%d bodies a thread, fast math"):format(set.own), wide(fast, set.block, set.own, 8) },
  { "each pair once, fast math", pairs_once(fast, set.lane) },
}

-- What a launch is called with for the first `count` bodies, the potential first.
local function arguments(count)
  local list = { phi:view(1, count) }
  for k = 1, 4 do list[k + 1] = bodies[k]:view(1, count) end
  list[6] = count
  return list
end

-- Benches one rung for `count` bodies; phi is poisoned before.
local function measure(group, rung, prepare, count, fields)
  local args, go = arguments(count), prepare(count)
  phi:fill(0 / 0)
  local t = mw.bench(function() go(table.unpack(args, 1, 6)) end,
    { min_time = seconds, max_time = 3 * seconds, device = dev })
  local r = { study = "nbody", group = group, rung = rung, bodies = count, t = t,
              interactions = count * count / t.median, error = error_of(count) }
  for key, value in pairs(fields or {}) do r[key] = value end
  return mw.record(r)
end

-- The direct rung is held against the host where the host knows the potential, all others against
-- the direct rung everywhere.
local function check_first(count, name)
  local got, expected = {}, {}
  for k, known in ipairs(truth(count)) do got[k], expected[k] = phi:get(known[1]), known[2] end
  local seen <close> = dev:array("f32", got)
  mw.check(seen, expected, { sum = count, name = name .. ", sampled bodies" })
  first_phi:copy(phi)
end

local function check_next(count, name)
  mw.check(phi:view(1, count), first_phi:view(1, count), { sum = count, name = name })
end

-- Every rung at a size that suits no block, against the host in full: one of few bodies, and one of two and a half
-- groups of the last rung, since all measured sizes make an even number of them.
local function check_awkward(count)
  local expected, args = {}, arguments(count)
  for i = 1, count do expected[i] = host_potential(i, count) end
  for _, rung in ipairs(LADDER) do
    phi:fill(0 / 0)
    rung[2](count)(table.unpack(args, 1, 6))
    mw.check(args[1], expected, { sum = count, name = ("%s, %d bodies"):format(rung[1], count) })
  end
end

local function run_ladder(count)
  local list = {}
  for number, rung in ipairs(LADDER) do
    local wanted = number == 1
    for _, one in ipairs(set.rungs) do wanted = wanted or one == number end
    if wanted then
      local r = measure("rungs", rung[1], rung[2], count, { number = number })
      if number == 1 then check_first(count, rung[1]) else check_next(count, rung[1]) end
      list[#list + 1] = r
    end
  end
  return list
end

-- ---- what fast math changes, and the shapes of the last rungs -----------------------------------

local function run_fast()
  local KERNELS = {
    { "direct", "potential_direct" }, { "shared memory, 1.0", "potential_shared<double>" },
    { "shared memory, 1.0f", "potential_shared<float>" }, { "rsqrtf", "potential_tiled" },
  }
  local list = {}
  local function both(name, make)
    local a = measure("fast", name, make(exact), n, { fast_math = false })
    local b = measure("fast", name, make(fast), n, { fast_math = true })
    check_next(n, name .. ", fast math")
    list[#list + 1] = { rung = name, device = a.device, device_name = a.device_name,
                        exact = a.interactions, fast = b.interactions,
                        gain = b.interactions / a.interactions,
                        exact_error = a.error, fast_error = b.error }
  end
  for _, one in ipairs(KERNELS) do
    both(one[1], function(mod) return plain(mod, one[2]) end)
  end
  both(LADDER[5][1], function(mod) return wide(mod, set.block, set.own, 8) end)
  both("each pair once", function(mod) return pairs_once(mod, set.lane) end)
  return list
end

local function run_shapes()
  local list = {}
  local function add(kind, prepare, each, unroll)
    list[#list + 1] = measure("shapes", kind, prepare, n, { each = each, unroll = unroll })
    check_next(n, ("%s, %d bodies"):format(kind, each))
  end
  for _, shape in ipairs(SHAPES) do
    add("several bodies a thread", wide(fast, set.block, shape[1], shape[2]), shape[1], shape[2])
  end
  for _, each in ipairs(LANES) do add("each pair once", pairs_once(fast, each), each) end
  return list
end

-- ---- memory: the whole phase, from numbers on the host to numbers on the host -------------------

-- A way is arrays that the host fills, arrays that the kernel uses, and what moves between.
local function phase(way, kind, direct)
  local host, args, texts = {}, {}, {}
  for k = 0, 4 do
    host[k] = dev[kind](dev, "f32", n)
    args[k + 1] = direct and host[k] or dev:array("f32", n)
    if k > 0 then texts[k] = bodies[k]:view(1, n):bytes() end
  end
  args[6] = n
  local go = plain(exact, "potential_shared<float>")(n)
  local function kernel()
    go(table.unpack(args, 1, 6))
    dev:synchronize()
  end
  local function whole()
    for k = 1, 4 do
      host[k]:upload(texts[k])
      if not direct then args[k + 1]:copy(host[k]) end
    end
    go(table.unpack(args, 1, 6))
    if not direct then host[0]:copy(args[1]) end
    return host[0]:bytes()
  end
  local function close()
    mw.check(host[0], first_phi:view(1, n), { sum = n, name = way })
    for k = 0, 4 do
      host[k]:close()
      if not direct then args[k + 1]:close() end
    end
  end
  return { way = way, runs = { whole, kernel }, seconds = { {}, {} }, close = close }
end

local function median(list)
  table.sort(list)
  return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

-- All ways, whole and kernel alone, in turn, so that a slow moment of the machine meets all of them.
local function time_in_turn(phases)
  local round, spent = 0, 0
  repeat
    for _, p in ipairs(phases) do
      for k, run in ipairs(p.runs) do
        local start = core.clock()
        run()
        local took = core.clock() - start
        if round > 0 then p.seconds[k][round], spent = took, spent + took end -- the first warms up
      end
    end
    round = round + 1
  until round > 5 and spent >= 2 * seconds * #phases
end

local function run_memory()
  local phases, list = {}, {}
  if dev:properties().managed then phases[1] = phase("managed", "managed", true) end
  phases[#phases + 1] = phase("copies, pageable", "pageable")
  phases[#phases + 1] = phase("copies, pinned", "pinned")
  dev:synchronize()
  time_in_turn(phases)
  for k, p in ipairs(phases) do
    p.close()
    local t, kernel = median(p.seconds[1]), median(p.seconds[2])
    list[k] = mw.record { study = "nbody", group = "memory", rung = p.way, bodies = n, t = t,
                          samples = #p.seconds[1], kernel = kernel, overhead = 1 - kernel / t }
  end
  return list
end

-- The direct rung for n bodies, which what follows is held against.
local function prepare_first()
  phi:fill(0 / 0)
  LADDER[1][2](n)(table.unpack(arguments(n), 1, 6))
  check_first(n, LADDER[1][1])
end

local function check()
  for _, count in ipairs { 509, 80 * set.lane + 1 } do check_awkward(math.min(count, largest)) end
end

return { check = check, ladder = run_ladder,
         first = prepare_first, fast = run_fast, shapes = run_shapes, memory = run_memory }
