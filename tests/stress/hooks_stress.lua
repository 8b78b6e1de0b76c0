-- SPDX-License-Identifier: MIT
--
-- hooks_stress.lua: uses of the whole API that a debug hook cuts short. Each is run with a hook that raises at its n-th
-- call or return, for every n: once, or from there on, so that nothing is closed; or that closes, there or by a
-- finalizer, what the use works with. It is caught in the use's own coroutine, or ends that, which is closed or left to
-- the collector. After it the device works, no capture is in progress, and in the end nothing is left open. $CALLS cuts
-- in all (1000000), orders by $SEED. After $SECONDS_MOST (800 s) no more are begun.

local core = require "moonwarp.core"
local mw = require "moonwarp"

local CALLS = math.tointeger(tonumber(os.getenv "CALLS" or 1000000))
local MOST = tonumber(os.getenv "SECONDS_MOST" or 800)
local CHECKED_EVERY <const>, LEFT_EVERY <const>, PLACES <const> = 16, 4096, 200

math.randomseed(math.tointeger(tonumber(os.getenv "SEED" or 1)))

local dev = mw.device "cpu"
local m = dev:module(core.home() .. "/tests/kernels/basic.cu")
local x = dev:zeros("i32", 4) -- what the checks count in
local counted = 0

-- ---- what is used -------------------------------------------------------------------------------

local pool = {} -- what the running use has made, and may be closed under it

local function keep(object)
  pool[#pool + 1] = object
  return object
end

local function close_one()
  local object = pool[math.random(#pool)]
  if object then pcall(object.close, object) end
end

local function array(count) return keep(dev:zeros("i32", count or 8)) end

local uses = {
  function() -- arrays
    local a = array()
    a:set(1, 5)
    a:upload { 1, 2, 3, 4, 5, 6, 7, 8 }
    local b = keep(a:view(2, 4))
    local c = keep(keep(b:reshape(2, 2)):slice(1))
    return c:get(1), b:totable(), a:bytes(), tostring(c), keep(a:readonly()):is_readonly(), a:device(), #a
  end,
  function() -- of tables and texts
    local a = keep(dev:array("f32", { { 1, 2 }, { 3, 4 } }))
    local b = keep(dev:pinned("f32", ("x"):rep(16)))
    local c <close> = keep(dev:managed("f32", 4))
    local d <close> = keep(dev:pageable("f32", 4))
    b:copy(keep(a:reshape(4)), setmetatable({}, { __index = { from = 2, to = 1 } }))
    c:copy(b)
    d:copy(c, { count = 2 })
    return a:totable(), core.compare(b, c, 0, 0, 3), core.largest(b)
  end,
  function() -- launches
    local a, s = array(), keep(dev:stream())
    local k = keep(m.increment)
    local go = keep(k:prepare { grid = 1, block = 8, stream = s })
    go(a, 8)
    go:grid(1)
    k:launch(1, { 8, 1 }, a, 8)
    s:synchronize()
    return go:kernel(), go:block(), tostring(go), tostring(k), pcall(go, a)
  end,
  function() -- what kernels say
    local k = keep(m.add)
    return k:attributes(), k:parameters(), k:signature(), k:engine(), k:occupancy(32), m:kernels(),
      k:suggest { shared = function(threads) return threads end }, k:name(), k:device()
  end,
  function() -- streams and events
    local s <close> = keep(dev:stream { blocking = false })
    local e = keep(s:record())
    local f = keep(dev:event())
    s:callback(function() close_one() end)
    f:record()
    dev:default_stream():wait(e)
    s:wait(f)
    s:synchronize()
    return e:query(), f:since(f), s:query(), core.poll(), tostring(s), tostring(e)
  end,
  function() -- a capture
    local a = array()
    local g <close> = keep(dev:capture(function(s)
      m.increment:launch(1, 8, a, 8)
      s:record():close()
      keep(dev:zeros("i32", 16))
    end))
    g:launch()
    g:update(1, a, 4)
    g:launch()
    return g:nodes(), g:dot(), tostring(g), a:get(1)
  end,
  function() -- a capture in several streams
    local a, b, other = array(), array(), keep(dev:stream { blocking = false })
    local fork <close> = keep(dev:event { timing = false })
    local join <close> = keep(dev:event { timing = false })
    local g = keep(dev:capture(function(s)
      other:wait(s:record(fork))
      local _ <close> = setmetatable({}, { __close = function() a:nbytes() end })
      a:copy(b, { stream = other })
      keep(m.increment:prepare { grid = 1, block = 8, stream = other })(a, 8)
      s:wait(other:record(join))
    end))
    g:launch(other)
    local outer <close> = keep(dev:capture(function(s) g:launch(s) end))
    other:synchronize()
    return outer:nodes()
  end,
  function() -- a capture in coroutines, and one that fails
    local a = array()
    local co = coroutine.wrap(function()
      local g <close> = keep(dev:capture(function()
        coroutine.wrap(function() m.increment:launch(1, 8, a, 8) end)()
      end))
      coroutine.yield(g:nodes())
    end)
    co()
    pcall(dev.capture, dev, function() a:get(1) end)
    return coroutine.resume(coroutine.create(function() dev:capture(function() error "on purpose" end) end))
  end,
  function() -- the device
    local again = mw.device "cpu"
    return again:properties(), again:state(), again:memory(), again:findings(), again:synchronize(), tostring(again),
      core.findings(), core.races(), core.live(), mw.devices()
  end,
  function() -- the Lua half
    local a = array(64)
    a:fill(3)
    a:linspace(1, 64)
    mw.range("range", function() return dev:sum(a) end)
    return a:clone():close()
  end,
  function() -- a measurement
    local a = array()
    return mw.bench(function() m.increment:launch(1, 8, a, 8) end, { samples = 1, batch = 1, quiet = true,
                                                                      graph = math.random(2) == 1 })
  end,
}

-- A module takes a thousand times as long as other calls.
local function use_module()
  local mine = keep(dev:module(core.home() .. "/tests/kernels/variables.cu"))
  local v = keep(mine:variable "counter")
  return v:get(1), mine:kernels(), mine:log(), tostring(mine)
end

-- ---- cutting short ------------------------------------------------------------------------------

local WAYS <const> = { "once", "on", "close" }
local CATCHES <const> = { "caught", "closed", "left" }

local left, way, events

local function hook()
  events = events + 1
  left = left - 1
  if left > 0 or left < 0 and way ~= "on" then return end
  if way == "close" then close_one() else error("cut short", 0) end
end

-- Garbage whose finalizers close something.
local function litter()
  for _ = 1, math.random(8) do setmetatable({}, { __gc = close_one }) end
end

-- Runs a use up to the n-th event; how many there were.
local function cut(use, n, catch)
  left, events, pool = n, 0, {}
  local co = coroutine.create(catch == "caught" and function() return pcall(use) end or use)
  debug.sethook(co, hook, "cr")
  if math.random(8) == 1 then litter() end
  coroutine.resume(co)
  if catch == "closed" then coroutine.close(co) end
  return events
end

local function check()
  pool = {}
  m.increment:launch(1, 1, x, 1)
  counted = counted + 1
  assert(x:get(1) == counted, "a launch was lost, or came twice")
  dev:capture(function() m.increment:launch(1, 1, x, 1) end):close()
end

local function collect()
  pool = {}
  collectgarbage()
  collectgarbage()
  dev:synchronize()
  core.poll()
  return core.live()
end

way = "once"
for _, use in ipairs(uses) do cut(use, math.maxinteger, "caught") end
cut(use_module, math.maxinteger, "caught")
local before, done, start = collect(), 0, core.clock()

local function check_left()
  local now = collect()
  for class, count in pairs(before) do
    assert(now[class] <= count, ("%d objects of class %s are left open, %d were"):format(now[class], class, count))
  end
end

local function is_over() return done >= CALLS or core.clock() - start > MOST end

-- Of a long use a part of the places, others each time.
local function cut_everywhere(use)
  way = WAYS[math.random(#WAYS)]
  local catch = CATCHES[math.random(#CATCHES)]
  local stride = cut(use, math.maxinteger, catch) // PLACES + 1
  local n = math.random(stride)
  while not is_over() and cut(use, n, catch) >= n do
    n, done = n + stride, done + 1
    if done % CHECKED_EVERY == 0 then check() end
    if done % LEFT_EVERY == 0 then check_left() end
  end
end

local round = 0
while not is_over() do
  round = round + 1
  if round % 16 == 0 then collectgarbage("incremental", 1, 1000, 4) else collectgarbage "generational" end
  for _, use in ipairs(uses) do cut_everywhere(use) end
  if round % 32 == 1 then cut_everywhere(use_module) end
end
check()
check_left()
print(("%d uses cut short, %d s"):format(done, (core.clock() - start) // 1))
