-- SPDX-License-Identifier: MIT
--
-- sort: how fast can keys be put in order, and what does a result on the host cost a burst of launches?
--
-- Keys of 32 bits, unsigned: a bitonic network; four passes of 8 bits, whose counts are scanned between the launches;
-- the same in one sweep, where tiles look back (kernels/sort.cu). Next to them CUB's SortKeys, the level
-- where nvcc is (moonwarp.cub). The rate is n / t. Then CUB's and Thrust's sum within a burst of launches. See
-- docs/studies/sort.md.

local mw = require "moonwarp"
local cub = require "moonwarp.cub"
local ceil_div = mw.ceil_div

local TILE <const>, DIGITS <const>, PART <const> = 8192, 256, 2048 -- as in kernels/sort.cu

local study, p, gpu = mw.study {
  question = "how fast can keys be put in order, and what does a result on the host cost a burst of launches?",
  course = { week = 7.3, level = 3, hours = 4, about = "radix sort, and CUB beside it",
             without_gpu = "results" },
  kernels = "sort.cu", rate = { "keys", work = function(c) return c.n end }, units = { keys = "1/s" }, output = "y",
  type = "u32", level = "CUB", seconds = { 0.02, gpu = 0.05 }, odd = { { n = { 1, 33, 32707 } } },
  params = {
    { "n", 1 << 16, "keys", gpu = 1 << 28, min = 1, max = 1 << 29 },
    { "smallest", 1 << 13, "fewest keys of the sweep", gpu = 1 << 16, min = 1 },
    { "burst", 20, "launches in a burst, each before a sum", min = 1, max = 10000 },
  },
}

function study.arrays(c)
  local function array(count) return c.dev:array("u32", count) end
  c.tiles = ceil_div(c.n, TILE)
  return { x = array(c.n):random { seed = 1, max = 0xffffffff }, y = array(c.n), other = array(c.n),
           words = array(c.tiles * DIGITS), bins = array(4 * DIGITS + 4) } -- four histograms and four tickets
end

-- ---- what is right ----------------------------------------------------------------------------------
local function by_host(c)
  local keys = c.x:totable()
  table.sort(keys)
  return keys
end

-- Keys whose order is known: the multiples of a number, each once.
local PRIME <const> = 2654435761

local function prove(c, go, check)
  local how = { block = 256, grid = ceil_div(c.n, 256) }
  local function multiples(x, step) c:launch("multiples", how, { x = x, scale = 0xffffffff // c.n, step = step })() end
  multiples(c.x, PRIME)
  c.y:fill(0)
  go()
  multiples(c.other, 1)
  check(c.y, c.other)
  c.x:random { seed = 1, max = 0xffffffff }
end

study:answer("sorted", { host = by_host, prove = prove, tolerance = function() return { absolute = 0 } end })

-- ---- the rungs --------------------------------------------------------------------------------------
local function bytes_bound(bytes) -- each key so many bytes of main memory
  return function(c)
    local peak = c.dev:properties().peak_bandwidth
    return peak and peak / bytes
  end
end

study:rung { 1, "bitonic", launches = function(c)
  local blocks = ceil_div(c.n, PART)
  local whole = { block = PART // 2, grid = blocks }
  local list, run = { { "bitonic_part<true>", whole } }, PART
  while run < c.n do
    local distance = run
    while distance >= PART do
      local pairs_there = ceil_div(c.n, 2 * distance) * distance
      list[#list + 1] = { "bitonic_round", { block = 256, grid = ceil_div(pairs_there, 256) },
                          { distance = distance, mirrors = distance == run and 1 or 0 } }
      distance = distance // 2
    end
    list[#list + 1] = { "bitonic_part<false>", whole, { x = c.y } }
    run = 2 * run
  end
  return list
end }

local function part(c, name, first, count) -- of an array; there is none while kernels are collected
  return c[name] and c[name] ~= mw.null and c:keep(c[name]:view(first, count)) or mw.null
end

-- Four passes, to and fro: what each launches between x and y.
local function passes(c, pass)
  local list = {}
  for i = 0, 3 do
    local to = i % 2 == 0 and c.other or c.y
    local from = i == 0 and c.x or i % 2 == 0 and c.y or c.other
    for _, one in ipairs(pass(i, { x = from, y = to, shift = 8 * i })) do list[#list + 1] = one end
  end
  return list
end

study:rung { 2, "radix, counts scanned", bound = bytes_bound(48), launches = function(c)
  local by_tile = { block = 512, grid = c.tiles }
  return passes(c, function(_, arguments)
    arguments.starts, arguments.counts, arguments.ticket = c.bins, c.words, mw.null
    return { { "radix_count", by_tile, arguments }, { "radix_rows", { block = DIGITS, grid = DIGITS }, arguments },
             { "radix_starts", { block = DIGITS, grid = 1 } }, { "radix_pass<false>", by_tile, arguments } }
  end)
end }

study:rung { 3, "radix, one sweep", bound = bytes_bound(36), launches = function(c)
  local some = math.min(ceil_div(c.n, 256), 8 * c.dev:properties().multiprocessors)
  local list = passes(c, function(i, arguments)
    arguments.starts, arguments.ticket = part(c, "bins", i * DIGITS + 1, DIGITS), part(c, "bins", 4 * DIGITS + i + 1, 1)
    return { function() c.words:fill(0) end, { "radix_pass<true>", { block = 512, grid = c.tiles }, arguments } }
  end)
  return { function() c.bins:fill(0) end, { "radix_histogram", { block = 256, grid = some } },
           { "radix_starts", { block = DIGITS, grid = 4 } }, table.unpack(list) }
end }

study:rung { 4, "CUB", always = true, when = function() return gpu end, make = function(c)
  local function go() cub.sort_keys(c.y, c.x) end
  local is_there, problem = pcall(go)
  if not is_there then return nil, problem.text end
  return go
end }

-- ---- parts ------------------------------------------------------------------------------------------
local SHARE = { "share", title = "of CUB", unit = "%", digits = 3 }
study:part { "ladder", cases = { { n = p.n } }, charts = { { kind = "ladder" } },
  table = { { "number", title = "no." }, "rung", "t", "keys",
            { "of_bound", title = "of the bound", unit = "%", digits = 3 }, SHARE },
  ratios = { "radix, counts scanned / bitonic", "radix, one sweep / radix, counts scanned", "radix, one sweep / CUB" } }
study:part { "lengths", cases = { { n = mw.geometric(p.n, math.min(p.smallest, p.n), 8) } }, rows = "all",
  table = { "rung", "n", "t", "keys", SHARE }, charts = { { x = "n", logx = 2, logy = 10 } } }

-- A burst: short kernels, each followed by the sum of what it wrote. `queued`: until the host has handed all over.
local BURST <const> = 1 << 25 -- elements: the device takes longer than the host does to queue it

local function burst_of(x, sums, sum)
  for i = 1, p.burst do
    x:fill(i)
    sum(sums[i], x)
  end
end

study:part { "burst", run = function()
  if not gpu then return mw.remark "The part burst needs a GPU: CUB and Thrust are CUDA's." end
  local dev, records, sums = mw.device(), {}, {}
  local x, all = dev:array("f32", BURST), dev:array("f32", p.burst)
  for i = 1, p.burst do sums[i] = all:view(i, 1) end
  local is_there, problem = pcall(cub.reduce, sums[1], x)
  if not is_there then return mw.remark("Not measured: %s", problem.text) end
  for _, way in ipairs { { "CUB", cub.reduce }, { "Thrust", cub.thrust_reduce } } do
    local queued, done
    for _ = 1, 20 do -- the least of 20
      dev:synchronize()
      local start = mw.clock()
      burst_of(x, sums, way[2])
      local handed_over = mw.clock() - start
      dev:synchronize()
      queued, done = math.min(queued or math.huge, handed_over), math.min(done or math.huge, mw.clock() - start)
    end
    mw.check(all, function(i) return i * BURST end, { name = "burst, " .. way[1] })
    records[#records + 1] = mw.record { group = "burst", how = way[1], launches = p.burst, queued = queued, done = done,
                                        units = { queued = "s", done = "s" } }
  end
  mw.table { "how", "launches", "queued", "done", records = records, title = "a burst of launches, each with a sum" }
end }
return study
