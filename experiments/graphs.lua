-- SPDX-License-Identifier: MIT
--
-- graphs: what does starting a kernel cost, and where does a graph pay?
--
-- Steps that take as good as no time, started one by one, in a queue, by a graph, by a kernel, and within one launch.
-- `launches` is steps per second of the host's time, to the end of the last step. Then the same for longer steps and
-- for fewer; and how many launches the queue takes before the host has to wait. About 1024 can be queued: B. Ocampo
-- and M. de Mayo, "Parallel Computing, lab 4: CUDA" (undated), fullburst. See docs/studies/graphs.md.

local mw = require "moonwarp"
local core = require "moonwarp.core"
local ceil_div = mw.ceil_div

local study, p = mw.study {
  question = "what does starting a kernel cost, and where does a graph pay?",
  course = { week = 9.4, level = 1, hours = 2, about = "what a launch costs",
             without_gpu = "how to capture and replay" },
  kernels = "graphs.cu", rate = { "launches", work = function(c) return c.steps end }, type = "i32", output = "x",
  level = "a graph", seconds = { 0.02, gpu = 0.03 }, units = { launches = "1/s", built = "s" },
  odd = { { n = 1001, steps = 6 }, { n = 1, steps = 2 }, { n = 257, steps = 40 } },
  params = {
    { "steps", 256, "steps of a run, an even number", min = 2, max = 1 << 20,
      check = function(v) return v % 2 == 1 and "even: the last step then writes x" or nil end },
    { "n", 256, "elements of a short step", min = 1 },
    { "longest", 1 << 16, "elements of the longest step", gpu = 1 << 24, min = 256 },
    { "queued", 512, "launches that are to fill the queue", gpu = 2048, min = 128, max = 1 << 16 },
    { "rounds", 2000, "rounds of a kernel that fills it", gpu = 20000, min = 1 },
  },
}

local BLOCK = 256
local NESTED = 'extern "C" __global__ void turn_nested(int *x, int *y, int n, int steps, int blocks);'

function study.arrays(c)
  return { x = c:array(c.n), y = c:array(c.n) }
end

-- ---- what is right ----------------------------------------------------------------------------------
study:answer("ring", { start = function(c) c.x:linspace(0, c.n - 1) end,
                       cell = function(c, _, i) return (i - 1 + c.steps) % c.n + c.steps end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- The launches of two steps, to y and back.
local function both(c)
  local how = { block = BLOCK, grid = math.min(ceil_div(c.n, BLOCK), 65535) }
  return c:launch("turn", how, { to = c.y, from = c.x }), c:launch("turn", how, { to = c.x, from = c.y })
end

local function queued(c)
  local there, back = both(c)
  return function()
    for _ = 1, c.steps, 2 do there(); back() end
  end
end

local function waited(c)
  local there, back = both(c)
  return function()
    for _ = 1, c.steps, 2 do
      there()
      c.dev:synchronize()
      back()
      c.dev:synchronize()
    end
  end
end

study:rung { 1, "each waited for", kernel = { "turn" }, make = waited }
study:rung { 2, "queued", kernel = { "turn" }, make = queued }
study:rung { 3, "a graph", kernel = { "turn" }, make = queued, graph = true, observe = function(c, go)
  local start = mw.clock()
  study:launcher("a graph", c) -- makes another one
  local built = mw.clock() - start
  go()
  return { built = built }
end }

study:rung { 4, "one launch, a grid", kernel = "turn_grid", block = BLOCK, cooperative = true,
  grid = function(c) return math.min(ceil_div(c.n, BLOCK), c:resident("turn_grid", BLOCK)) end }
study:rung { 5, "one launch, a block", kernel = "turn_block", block = 1024, grid = function() return 1 end }

-- Launches by a kernel need the device's own runtime, which nvcc links.
local function nested_module(dev)
  local path, target = os.tmpname(), dev:properties().compute_capability
  local command = "nvcc -rdc=true -dlink -cubin -arch=sm_%s -o %s '%s/kernels/graphs.cu' -lcudadevrt 2>&1"
  local pipe <close> = io.popen(command:format(tostring(target):gsub("%.", ""), path, core.home()))
  local words = pipe:read "a"
  local ok, module = pcall(dev.module, dev, { cubin = path, source = NESTED })
  os.remove(path)
  if ok then return module end
  return nil, words ~= "" and words:match "^[^\n]*" or tostring(module)
end

local nested -- the module, and why not; made once

study:rung { 6, "by the device", when = function(c) return c.gpu end, make = function(c)
  nested = nested or table.pack(nested_module(c.dev))
  if not nested[1] then return nil, nested[2] end
  local go = nested[1]:kernel "turn_nested":prepare { grid = 1, block = 1 }
  return function() go(c.x, c.y, c.n, c.steps, math.min(ceil_div(c.n, BLOCK), 65535)) end
end }

-- ---- parts ------------------------------------------------------------------------------------------
local columns = { { "number", title = "no." }, "rung", "t", "launches", { "share", title = "of the graph", digits = 3 },
                  { "built", title = "made in" } }

study:part { "short", cases = { { n = p.n, steps = p.steps } }, clock = "host", batch = 1, table = columns,
  charts = { { kind = "ladder" } },
  ratios = { "queued / each waited for", "a graph / queued", "one launch, a grid / a graph",
             "one launch, a block / a graph", "by the device / a graph" } }

study:part { "long", cases = { { n = mw.geometric(p.n, p.longest, 8), steps = math.min(p.steps, 64) } }, clock = "host",
  batch = 1, rungs = { "queued", "a graph", "one launch, a grid" },
  charts = { { x = "n", logx = 2, logy = 10, xlabel = "elements of a step", title = "longer steps" } } }

study:part { "few", cases = { { n = p.n, steps = mw.geometric(2, p.steps) } }, clock = "host", batch = 1,
  rungs = { "queued", "a graph", "one launch, a block" },
  charts = { { x = "steps", logx = 2, logy = 10, xlabel = "steps", title = "fewer steps" } } }

-- ---- the queue --------------------------------------------------------------------------------------
local NEXT = 64 -- launches that together take half as long as their kernels: the host waits, and was not interrupted

-- The time of a kernel, and when each of many launches of it has returned on the host's clock.
local function queueing(dev)
  local out <close> = dev:array("u32", 32)
  local go, returned = dev:module "graphs.cu".busy:prepare { grid = 1, block = 32 }, { [0] = 0.0 }
  local function launch() go(out, p.rounds) end
  local kernel = mw.bench(launch, { device = dev, clock = "host", batch = 1, quiet = true, max_time = 0.05 }).min
  local start = mw.clock()
  for i = 1, p.queued do
    launch()
    returned[i] = mw.clock() - start
  end
  dev:synchronize()
  return kernel, returned
end

-- How many launches return before the host waits for kernels to end; nil: all of them.
local function knee(kernel, returned)
  local from = 0
  while from + NEXT <= #returned and returned[from + NEXT] - returned[from] < NEXT * kernel / 2 do from = from + 1 end
  if from + NEXT > #returned then return nil end
  while returned[from + 1] - returned[from] < kernel / 2 do from = from + 1 end
  return from
end

study:part { "queue", run = function()
  if study.dev:properties().checks then return end -- nothing is timed
  local kernel, returned = queueing(study.dev)
  local records, full = {}, knee(kernel, returned)
  local step = math.max(1, p.queued // 128)
  for i = step, p.queued, step do
    records[#records + 1] = mw.record { group = "queue", queue = i, host = returned[i], kernel = kernel, full = full,
                                        units = { host = "s", kernel = "s" } }
  end
  mw.plot { x = "queue", y = "host", records = records, points = false, name = "graphs-queue",
            title = "graphs queue: when a launch returns", xlabel = "launches" }
  mw.remark("Launches of a kernel of %.3g us: %s.", kernel * 1e6, not full and p.queued .. " fit into the queue"
    or full == 0 and "each returns when its kernel has ended" or ("the host waits from number %d on"):format(full + 1))
end }
return study
