-- SPDX-License-Identifier: MIT
--
-- moonwarp run fuzz.lua -- DEVICE SEED CALLS: throws random arguments at every function, method and metamethod of the
-- library, in a process of its own (bind/fuzz_spec.lua starts it in a folder). Every call may raise an error or
-- succeed; none may crash, hang or leak. The file "last" holds the call under way, for whoever looks at a crash.

local core = require "moonwarp.core"
local session = require "moonwarp.session"
local mw = require "moonwarp"

local id, seed, calls = arg[1], math.tointeger(tonumber(arg[2])), math.tointeger(tonumber(arg[3]))
math.randomseed(seed)

local random = math.random

local function any(list) return list[random(#list)] end

-- ---- values -----------------------------------------------------------------------------------------------------

local NUMBERS = { 0, 1, 2, 3, 4, 7, 8, 9, -1, -2, 1.0, 2.0, 0.5, 1.5, -0.0, 0 / 0, 1 / 0, -1 / 0, 2 ^ 31, 1 << 31,
                  1 << 32, 1 << 45, 2 ^ 53, 2 ^ 63, 1e300, math.maxinteger, math.mininteger, 255, 256, 1024, 1025 }
local STRINGS = { "", "f32", "f64", "i32", "u8", "bf16", "f31", "scale", "scalars", "scael", "nothing", "counter",
                  "cpu", "cuda:9", "sm_90", "x", "a\0b", ("y"):rep(300), "12345678", "/dev/null/file",
                  "%s%n", "-1" }
local KEYS = { "grid", "block", "shared", "stream", "cooperative", "from", "to", "count", "timing", "blocking", "name",
               "priority", "seed", "kind", "min", "max", "offset", "file", "sourc", "defines", "engine", "cache",
               "relative", "sum", "most", "quiet", "exact", "x", "y", 1, 2, true, 1.5 }

local KERNELS = "basic.cu"
local pool, closed = {}, {}

local function boom() error "from a random function" end

-- Closes some objects, as what a script's function may do while a method runs.
local function close_some(...)
  for _ = 1, random(3) do
    local object = #pool > 0 and any(pool)
    if object and core.type(object) ~= "device" and object.close then pcall(object.close, object) end
  end
  if random(4) == 1 then collectgarbage() end
  return ...
end

local FUNCTIONS = { function() end, boom, function(...) return ... end, function() return -1 end, print and type,
                    close_some, function(s) if mw.type(s) == "stream" then s:close() end end }

-- Metatables of option tables and values.
local METATABLES = { { __index = close_some }, { __index = boom }, { __tostring = function() return "text" end },
                     { __tostring = function() close_some() return "text" end }, { __tostring = boom },
                     { __pairs = boom }, { __len = function() return 3 end }, { __index = { grid = 1, block = 1 } } }

local function value(depth)
  local kind = random(12)
  if kind <= 3 then return any(NUMBERS) end
  if kind == 4 then return any(STRINGS) end
  if kind <= 7 and #pool > 0 then return any(pool) end
  if kind == 8 and #closed > 0 then return any(closed) end
  if kind == 9 then return any { true, false } end
  if kind == 10 then return any(FUNCTIONS) end
  if kind == 11 and (depth or 0) < 3 then
    local made = {}
    for i = 1, random(0, 3) do
      if random(2) == 1 then made[i] = value((depth or 0) + 1) else made[any(KEYS)] = value((depth or 0) + 1) end
    end
    return random(8) == 1 and setmetatable(made, any(METATABLES)) or made
  end
  return any { io.stdout, core.null or false, coroutine.create(boom), mw, core, debug.getmetatable(io.stdout) }
end

local function values(most)
  local list = { n = random(0, most) }
  for i = 1, list.n do if random(8) > 1 then list[i] = value() end end
  return list
end

-- ---- objects ----------------------------------------------------------------------------------------------------

local function fill_pool()
  pool, closed = {}, {}
  local dev = mw.device(id)
  local m = dev:module(core.home() .. "/tests/kernels/" .. KERNELS)
  local s = dev:stream()
  local x, y = dev:zeros("f32", 8), dev:array("i32", { { 1, 2 }, { 3, 4 } })
  local go = m.nothing:prepare { grid = 1, block = 1 }
  for _, object in ipairs {
    dev, m, s, x, y, go, m.nothing, m.scalars, m.vectors, m.by_value, m.is_null, m.bounded, dev:default_stream(),
    dev:event(), s:record(), dev:capture(function() m.nothing:launch(1, 1) end), x:readonly(), y:reshape(4),
    dev:pinned("f64", 3), dev:pageable("u8", 5), dev:managed("i64", 2), dev:zeros("f64", 16), dev:zeros("u64", 2),
    m.scalars:prepare { grid = 1, block = 2, stream = s },
  } do pool[#pool + 1] = object end
  for _, object in ipairs { dev:zeros("f32", 2), dev:stream(), dev:event(), dev:capture(function() end),
                            m.scalars:prepare { grid = 1, block = 1 }, dev:module { source = "" } } do
    object:close()
    closed[#closed + 1] = object
  end
end

-- ---- calls ------------------------------------------------------------------------------------------------------

-- Each costs a compiler's run, so there are only some.
local budget = { module = 40, kernel = 200, occupancy = 30, bench = 3, plot = 40, ladder = 40, film = 20,
                 timeline = 20, roofline = 1, environment = 3, linspace = 100, random = 100 }
-- Other sessions' kernels; any program; leaves launches in any table.
local FORBIDDEN = { cache_clear = true, process = true, trace = true }
local last = assert(io.open("last", "w"))
local STDERR, QUIET = io.stderr, { write = function() end }

local function note(what, arguments)
  local words = { what }
  for i = 1, arguments.n do
    local argument = arguments[i]
    words[#words + 1] = type(argument) == "table" and "table" or type(argument) == "string" and ("%q"):format(argument)
      or tostring(select(2, pcall(tostring, argument)))
  end
  last:seek "set"
  last:write(table.concat(words, " "), (" "):rep(100), "\n")
  last:flush()
end

local function throw(what, fn, arguments)
  note(what, arguments)
  rawset(io, "stderr", QUIET) -- mw.check reports there
  local ok, message = pcall(fn, table.unpack(arguments, 1, arguments.n))
  rawset(io, "stderr", STDERR)
  if ok and mw.type(message) and #pool < 200 then pool[#pool + 1] = message end
  return ok, message
end

local function affordable(name)
  if not budget[name] then return true end
  budget[name] = budget[name] - 1
  return budget[name] >= 0
end

local CLASSES, METHODS = {}, {}
for class, methods in pairs(core.methods) do
  CLASSES[#CLASSES + 1] = class
  METHODS[class] = {}
  for name in pairs(methods) do table.insert(METHODS[class], name) end
  table.sort(METHODS[class])
end
table.sort(CLASSES)

local function method_call()
  local object = random(6) == 1 and any(closed) or any(pool)
  local class = mw.type(object):gsub("closed ", "")
  if random(10) == 1 then class = any(CLASSES) end -- a method of another class
  local name = any(METHODS[class])
  if name == "close" and random(20) > 1 then return end
  if not affordable(name) then return end
  local arguments = values(5)
  if random(8) > 1 then
    table.insert(arguments, 1, object)
    arguments.n = arguments.n + 1
  end
  return throw(class .. ":" .. name, core.methods[class][name], arguments)
end

local function library_call(library, title)
  local names = {}
  for name, fn in pairs(library) do
    if type(fn) == "function" and not FORBIDDEN[name] then names[#names + 1] = name end
  end
  table.sort(names)
  local name = any(names)
  if not affordable(name) then return end
  return throw(title .. "." .. name, library[name], values(4))
end

local METAMETHODS = { "__gc", "__close", "__tostring", "__index", "__newindex", "__len", "__call", "__concat", "__add",
                      "__lt", "__pairs" }

local function metamethod_call()
  local name = any(METAMETHODS)
  local fn = debug.getmetatable(any(pool))[name]
  if type(fn) ~= "function" then return end
  local arguments = values(4)
  -- closing the pool's own objects in this way would soon leave nothing to test
  if (name == "__gc" or name == "__close") and mw.type(arguments[1]) and random(20) > 1 then return end
  return throw(name, fn, arguments)
end

local OPERATORS = {
  function(a, b) return a[b] end,
  function(a, b) a[b] = b end,
  function(a) return #a end,
  function(a, b) return a == b, a ~= b end,
  function(a, ...) return a(...) end,
  function(a, b) return a .. b end,
  function(a, b) return a + b end,
  function(a, b) return a < b end,
  function(a) return tostring(a), mw.type(a) end,
  function(a) return getmetatable(a).x end,
  function(a, b) return setmetatable(a, b) end,
}

local function operation()
  local arguments = values(4)
  arguments[1], arguments.n = any(pool), math.max(arguments.n, 1)
  return throw("operator", any(OPERATORS), arguments)
end

-- What the debug library lets a script do to an object; a metatable is put back, or the object would be lost.
local function debugging()
  local object, other = any(pool), any(pool)
  if type(object) ~= "userdata" then return end
  if random(2) == 1 then
    return throw("setuservalue", debug.setuservalue, { object, value(), random(3), n = 3 })
  end
  local own = debug.getmetatable(object)
  debug.setmetatable(object, debug.getmetatable(other))
  throw("metatable", any(OPERATORS), { object, value(), n = 2 })
  debug.setmetatable(object, own)
end

local done = 0
for i = 1, calls do
  if i % 400 == 1 then fill_pool() end
  local kind = random(20)
  if kind <= 12 then method_call()
  elseif kind <= 14 then library_call(mw, "mw")
  elseif kind <= 16 then library_call(core, "core")
  elseif kind <= 17 then metamethod_call()
  elseif kind <= 18 then debugging()
  else operation() end
  done = done + 1
end

-- ---- what is left -------------------------------------------------------------------------------------------------

assert(io.type(io.stdout) == "file", "the fuzzer closed the standard output")
pool, closed = {}, {}
core.trace() -- a list that was given to it holds what was launched
session.current.failed_checks = 0 -- the results were random, not wrong
session.current:finish { status = "complete", exit = 0 }
session.begin()
mw = nil
for name in pairs(package.loaded) do
  if name:find "^moonwarp" and name ~= "moonwarp.core" then package.loaded[name] = nil end
end
local dev = core.device(id)
pcall(dev.synchronize, dev)
pcall(core.poll)
collectgarbage()
collectgarbage()
-- a device still works
local x = dev:array("i32", { 1, 2, 3 })
assert(x:get(3) == 3)
x:close()
dev:close()
collectgarbage()
collectgarbage()
for class, count in pairs(core.live()) do
  if class ~= "device" then assert(count == 0, ("%d open objects of class %s are left"):format(count, class)) end
end
print(("done %d"):format(done))
