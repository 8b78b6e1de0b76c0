-- SPDX-License-Identifier: MIT
--
-- require "moonwarp": the C half (moonwarp.core) with its Lua half. A script sees this table and
-- the objects it gives out.

local core = require "moonwarp.core"
local arg = require "moonwarp.arg"
local array = require "moonwarp.array"
local banks = require "moonwarp.measure.banks"
local bench = require "moonwarp.measure.bench"
local ceiling = require "moonwarp.measure.ceiling"
local check = require "moonwarp.measure.check"
local checking = require "moonwarp.measure.checking"
local devices = require "moonwarp.tools.device"
local environment = require "moonwarp.measure.environment"
local film = require "moonwarp.plot.film"
local findings = require "moonwarp.measure.findings"
local grid = require "moonwarp.grid"
local integer = require "moonwarp.base.integer"
local kinds = require "moonwarp.plot.kinds"
local lists = require "moonwarp.base.lists"
local module = require "moonwarp.module"
local nearest = require "moonwarp.base.nearest"
local occupancy = require "moonwarp.measure.occupancy"
local api = require "moonwarp.base.api"
local quantity = require "moonwarp.measure.quantity"
local range = require "moonwarp.measure.range"
local record = require "moonwarp.results.record"
local reduce = require "moonwarp.reduce"
local remark = require "moonwarp.results.remark"
local schema = require "moonwarp.base.schema"
local session = require "moonwarp.session"
local show = require "moonwarp.base.show"
local skip = require "moonwarp.skip"
local study = require "moonwarp.study"
local tables = require "moonwarp.plot.table"
local tune = require "moonwarp.tune"

-- A function of the library, given the current session.
local function here(f)
  return function(...) return f(session.current, ...) end
end

-- What other libraries call our methods.
local HINTS = {
  array = { size = "shape", count = "shape", length = "shape", tolist = "totable", read = "totable",
            download = "totable", write = "upload", free = "close", destroy = "close", zero = "fill", host = "totable",
            cpu = "totable", numpy = "totable", item = "get" },
  device = { sync = "synchronize", malloc = "array", compile = "module", kernel = "module", ones = "full",
             destroy = "close" },
  event = { sync = "synchronize", elapsed = "since", wait = "synchronize" },
  graph = { replay = "launch", run = "launch" },
  kernel = { run = "launch", call = "launch", attrs = "attributes" },
  stream = { sync = "synchronize", destroy = "close" },
}

-- What other libraries compute with arrays.
local COMPUTED = { abs = true, add = true, argmax = true, argmin = true, div = true, map = true, mean = true,
                   mul = true, reduce = true, sort = true, sub = true, transpose = true }

local function with_article(class)
  return (class:match("^[aeiou]") and "an " or "a ") .. class
end

local function explain_array(key)
  if math.type(key) == "integer" then
    return ("an element is read with get: a:get(%d); a:totable() reads all"):format(key)
  elseif key == "print" or key == "show" then
    return ("an array has no '%s'; print(a) names it, a:totable() gives its elements"):format(key)
  elseif key == "equals" or key == "compare" or key == "allclose" then
    return ("an array has no '%s'; mw.check(got, expected) compares elements"):format(key)
  end
end

-- A computation, or a method of another class.
local function explain_method(class, key)
  if type(key) ~= "string" or HINTS[class] and HINTS[class][key] then return nil end
  local who = with_article(class)
  if class == "launch" and (key == "run" or key == "launch" or key == "call") then
    return ("a launch has no '%s'; it is called with the kernel's arguments: go(...)"):format(key)
  elseif COMPUTED[key] and (class == "array" or class == "device") then
    return ("%s has no '%s'; a kernel computes on the device, a:totable() gives the elements to the script"):format(who,
      key)
  end
  local others = lists.filter(lists.keys(core.methods), function(other) return rawget(core.methods[other], key) end)
  if #others > 0 then
    return ("%s has no '%s', which is a method of %s"):format(who, key, table.concat(others, ", "))
  end
end

local function explain_device(key)
  if type(key) ~= "string" then return nil end
  local name = HINTS.device[key] or key
  if not rawget(core.methods.device, name) then return nil end
  return ("moonwarp has no '%s', a device has: mw.device():%s(...)"):format(key, name)
end

array.install(core.methods)
reduce.install(core.methods)
module.install(core.methods)
findings.install(core.methods)
core.methods.device.ceiling = api.method("device", "ceiling", 1, function(device, name)
  return ceiling.value(session.current, device, name)
end)
core.result.__tostring = show.fields
for class, methods in pairs(core.methods) do
  if class ~= "module" then -- its fields are kernels
    nearest.guard(methods, with_article(class), HINTS[class], function(key)
      return class == "array" and explain_array(key) or explain_method(class, key)
    end)
  end
end

local mw = {
  version = core.version,
  null = core.null, -- the null pointer, as an argument of a launch
  devices = core.devices,
  type = function(...) return core.type(...) or quantity.is(...) and "quantity" or nil end,
  poll = core.poll,
  clock = core.clock,
  occupancy = api.func("mw.occupancy", 1, occupancy.query),
  arg = api.func("mw.arg", 4, arg.get),
  bench = api.func("mw.bench", 2, here(bench.run)),
  check = api.func("mw.check", 3, here(check.run)),
  environment = api.func("mw.environment", 1, function(device)
    return environment.collect(device, session.current.options.script)
  end),
  range = api.func("mw.range", math.maxinteger, range.run),
  record = api.func("mw.record", 1, here(record.write)),
  picture = api.func("mw.picture", 2, here(film.still)),
  table = api.func("mw.table", 1, here(tables.print)),
  remark = here(remark.say),
  tune = api.func("mw.tune", 1, here(tune.run)),
  tuned = api.func("mw.tuned", 3, here(tune.tuned)),
  skip = api.func("mw.skip", 1, skip.raise),
  study = api.func("mw.study", 1, study.new),
  run = api.func("mw.run", 1, study.start),
  bank_conflict = api.func("mw.bank_conflict", 2, banks.conflict),
  ceil_div = api.func("mw.ceil_div", 2, integer.ceil_div),
  geometric = api.func("mw.geometric", 3, integer.geometric),
}

for _, kind in ipairs(kinds.all) do mw[kind.name] = api.func("mw." .. kind.name, 1, here(kind.draw)) end

--- Opens a device. Without an id: the one chosen with --device or $MOONWARP_DEVICE, else the first
--- usable CUDA device, else the CPU. The same id gives the same handle.
---@param id string?        "cpu", "cuda", "cuda:1", "cuda:sm_90" (an architecture without a GPU:
---                           compiles only)
---@param options table?    check (true: in check mode, as with --check; the CPU device has it; "strict,seed:7" or
---                           { strict = true, seed = 7, blocks = 64 }: how it judges)
---@return userdata device  raises the reason if there is no such device
mw.device = api.func("mw.device", 2, function(id, options)
  local given = schema.options("mw.device", options, { check = "boolean string table" })
  return devices.open(session.current, id, checking.option("mw.device", given.check))
end)

--- A box of cells divided over devices, or over the ranks of a communicator, with the exchange of halos.
---@param spec table   { nx[, ny[, nz]], devices = { ... } or comm = ..., dims =, halo =, periodic =, via = }
---@return table grid  of grid.lua
mw.grid = api.func("mw.grid", 1, function(spec) return grid.new(spec, mw.device, session.current.job) end)

--- What check mode has found since the session began, on every device, the closed ones as well.
---@param options table?     expected (true: what no such call has returned before; it fails no run)
---@return table[] findings  as of dev:findings()
mw.findings = api.func("mw.findings", 1, function(options)
  local is_expected = schema.options("mw.findings", options, { expected = "boolean" }).expected
  return is_expected and session.current:expect_findings() or session.current:findings()
end)

--- What the launches of devices that count were made of since the session began, by kernel and configuration.
---@return table[] counters  of measure/counters.lua
mw.counters = api.func("mw.counters", 0, function()
  return require("moonwarp.plot.counter_table").list(session.current, session.current:counters())
end)

nearest.guard(mw, "moonwarp", { open = "device", benchmark = "bench", assert = "check" }, explain_device)
return mw
