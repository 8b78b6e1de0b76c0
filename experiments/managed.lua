-- SPDX-License-Identifier: MIT
--
-- managed: what does memory cost that moves by itself, and what do prefetches and advice save?
--
-- A trip takes an array from the host to a kernel and back: by copies, prefetches, or over the bus where it lies. Then
-- the host writes to some pages before each kernel, to one or to all. Then prefetches in either direction, and at last
-- the first and the second touch of either side. T_tot = 2 arrays / t, of the host's time. After S. Boerm, "Simulation
-- and High-Performance Computing", part 16 (Kiel, 2020), and practical 1 of M. Giles and W. Armour (Oxford). See
-- docs/studies/managed.md.

local mw = require "moonwarp"

local PAGE, BLOCK = 1024, 256 -- elements of 4 KiB; threads

local study, p = mw.study {
  question = "what does memory cost that moves by itself, and what do prefetches save?", kernels = "streams.cu",
  course = { week = 9.5, level = 2, hours = 2, about = "memory that moves by itself",
             without_gpu = "how to use it" },
  rate = "T_tot", type = "f32", level = "explicit, pinned", seconds = { 0.03, gpu = 0.06 },
  peak = function() end, -- that of the device's memory bounds nothing that crosses the bus
  odd = { { n = 5003 }, { n = 5003, touched = 3 } },
  params = {
    { "n", 1 << 22, "elements", gpu = 1 << 26, min = 4096, max = 1 << 32 },
    { "part", 1 << 20, "elements of the part 'touched'", gpu = 1 << 22, min = 4096, max = 1 << 30 },
    { "pages", 256, "pages of 4 KiB that the host touches at most", gpu = 4096, min = 1,
      check = function(v) return v > 1 << 20 and "at most 2^20" or nil end },
  },
}

-- ---- what is right ----------------------------------------------------------------------------------
-- The elements that the host touches, from 1 on: as many as `touched`, as far apart as fits.
local function stride_of(c) return math.max(1, c.n // c.touched) end

local function is_touched(c, i)
  return c.touched and (i - 1) % stride_of(c) == 0 and (i - 1) // stride_of(c) < c.touched
end

study:answer("1 - x", { cell = function(c, at, i) return is_touched(c, i) and 0.75 or 1 - at.given(i) end,
  start = function(c, out) out:copy(c.given) end, tolerance = function(c) return { absolute = c.eps } end,
  bytes = function(c) return 2 * c.given:nbytes() end })

function study.arrays(c)
  local dev, fields = c.dev, { given = c:array(c.n):random(1), d = c:array(c.n) }
  for _, name in ipairs { "managed", "prefetched", "remote" } do fields[name] = dev:managed(c.type, c.n) end
  fields.pageable, fields.pinned = dev:pageable(c.type, c.n), dev:pinned(c.type, c.n)
  local has = dev:properties()
  if has.concurrent_managed_access then
    fields.remote:advise { preferred_location = "host", accessed_by = "device" }
  end
  fields.registered = dev:pageable(c.type, c.n)
  if has.host_register then fields.registered:register() end
  return fields
end

-- ---- the rungs --------------------------------------------------------------------------------------
-- What a rung needs of the device, and why it is left out without it.
local NEEDS = { concurrent_managed_access = "the device has no concurrent managed access",
                host_register = "the device cannot register host memory" }

local function touch(c, host)
  for k = 0, (c.touched or 0) - 1 do c[host]:set(1 + k * stride_of(c), 0.25) end
end

local function computing(c, array, stream)
  return c:launch("iterate<float>", { block = BLOCK, grid = mw.ceil_div(#array, BLOCK), stream = stream },
    { out = array, ["in"] = array, a = -1, b = 1, rounds = 1, n = #array })
end

-- The host touches its array; `into` takes it to the kernel's array and `back` fetches that.
local function trip(number, name, host, on, into, back, needs)
  study:rung { number, name, output = host, launches = function(c)
    if needs and not c.dev:properties()[needs] then return nil, NEEDS[needs] end
    return { function() touch(c, host); if into then into(c) end end, computing(c, c[on]),
             function() if back then back(c) end end }
  end, when = host == "managed" and function(c) return c.touched ~= nil end or nil }
end

local function by_copies(number, host, needs)
  trip(number, "explicit, " .. host, host, "d", function(c) c.d:copy(c[host]) end, function(c) c[host]:copy(c.d) end,
    needs)
end

by_copies(1, "pinned")
by_copies(1, "registered", "host_register")
by_copies(1, "pageable")
trip(2, "managed", "managed", "managed")
trip(3, "managed, prefetched", "prefetched", "prefetched", function(c) c.prefetched:prefetch() end,
  function(c) c.prefetched:prefetch "host" end, "concurrent_managed_access")
trip(4, "managed, kept on the host", "remote", "remote", nil, nil, "concurrent_managed_access")
trip(5, "zero-copy, pinned", "pinned", "pinned")
trip(5, "zero-copy, registered", "registered", "registered", nil, nil, "host_register")

-- ---- parts ------------------------------------------------------------------------------------------
study:part { "trip", cases = { { n = p.n } }, clock = "host", batch = 1, rows = "all", charts = { { kind = "ladder" } },
  table = { { "number", title = "no." }, "rung", "t", "T_tot", { "share", unit = "%", digits = 3 } },
  ratios = { "managed, prefetched / explicit, pinned", "zero-copy, pinned / explicit, pinned",
             "explicit, registered / explicit, pinned" } }

study:part { "touched", cases = { { n = p.part, touched = mw.geometric(math.min(p.pages, p.part), 1, 8) } },
  clock = "host", batch = 1,
  charts = { { x = "touched", logx = 2, logy = 10, by = "rung", title = "by the pages that the host writes to",
               xlabel = "pages of 4 KiB before each kernel" } },
  rungs = { "explicit, pinned", "managed", "managed, prefetched", "managed, kept on the host", "zero-copy, pinned" } }

-- ---- a prefetch ---------------------------------------------------------------------------------------
-- The host's time for the call alone, and until the pages are there.
local function prefetch(x, to, round)
  study.dev:synchronize()
  local start = mw.clock()
  x:prefetch(to)
  local call = mw.clock() - start
  study.dev:synchronize()
  return mw.record { group = "prefetch", to = to, round = round, call = call, done = mw.clock() - start,
                     units = { call = "s", done = "s" } }
end

study:part { "prefetch", run = function()
  if not study.dev:properties().concurrent_managed_access then return mw.remark(NEEDS.concurrent_managed_access) end
  local x <close> = study.dev:managed("f32", p.n)
  local records = {}
  for round = 1, 3 do
    for _, to in ipairs { "device", "host" } do records[#records + 1] = prefetch(x, to, round) end
  end
  mw.table { "to", "round", "call", "done", records = records,
             title = ("managed prefetch, %d elements"):format(p.n) }
end }

-- ---- first and second touch -------------------------------------------------------------------------
local HINTS = {
  { "no hint" },
  { "prefetched", function(x) x:prefetch() end, function(x) x:prefetch "host" end },
  { "kept on the host", function(x) x:advise { preferred_location = "host", accessed_by = "device" } end },
  { "read mostly", function(x) x:advise { read_mostly = true } end },
}

local function seconds_of(dev, action)
  dev:synchronize()
  local start = mw.clock()
  action()
  dev:synchronize()
  return mw.clock() - start
end

-- The kernel reads x and writes `out` only, so that copies of what is read mostly may stay.
local function touches(dev, kernel, before_kernel, before_host)
  local x <close> = dev:managed("f32", p.part) -- the host fills it
  local out <close> = dev:array("f32", p.part)
  local function by_kernel() kernel(out, x, -1, 1, 1, p.part) end
  local function by_host()
    for k = 1, p.part, math.max(PAGE, p.part // p.pages) do x:get(k) end
  end
  if before_kernel then before_kernel(x) end
  local first, second = seconds_of(dev, by_kernel), seconds_of(dev, by_kernel)
  if before_host then before_host(x) end
  return { kernel_first = first, kernel_second = second, host_first = seconds_of(dev, by_host),
           host_second = seconds_of(dev, by_host) }
end

study:part { "first touch", run = function()
  local dev, records = study.dev, {}
  local module = dev:module { file = "streams.cu", templates = { "iterate<float>" } }
  local kernel = module:kernel "iterate<float>":prepare { block = BLOCK, grid = mw.ceil_div(p.part, BLOCK) }
  touches(dev, kernel) -- what is compiled or allocated at first
  for i, hint in ipairs(HINTS) do
    if i == 1 or dev:properties().concurrent_managed_access then
      local fields = touches(dev, kernel, hint[2], hint[3])
      fields.group, fields.hint = "first touch", hint[1]
      fields.units = { kernel_first = "s", kernel_second = "s", host_first = "s", host_second = "s" }
      records[#records + 1] = mw.record(fields)
    end
  end
  mw.table { "hint", { "kernel_first", title = "kernel, first" }, { "kernel_second", title = "second" },
             { "host_first", title = "host, first" }, { "host_second", title = "second" }, records = records,
             title = ("managed first touch, %d elements"):format(p.part) }
end }
return study
