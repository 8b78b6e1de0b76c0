-- SPDX-License-Identifier: MIT
--
-- require "moonwarp": the C half (moonwarp.core) with its Lua half. A script sees this table and
-- the objects it gives out.

local core = require "moonwarp.core"
local arg = require "moonwarp.arg"
local array = require "moonwarp.array"
local bench = require "moonwarp.measure.bench"
local check = require "moonwarp.measure.check"
local environment = require "moonwarp.measure.environment"
local film = require "moonwarp.plot.film"
local integer = require "moonwarp.base.integer"
local ladder = require "moonwarp.plot.ladder"
local module = require "moonwarp.module"
local nearest = require "moonwarp.base.nearest"
local occupancy = require "moonwarp.measure.occupancy"
local api = require "moonwarp.base.api"
local plot = require "moonwarp.plot.plot"
local quantity = require "moonwarp.measure.quantity"
local record = require "moonwarp.results.record"
local remark = require "moonwarp.results.remark"
local roofline = require "moonwarp.plot.roofline"
local session = require "moonwarp.session"
local show = require "moonwarp.base.show"
local skip = require "moonwarp.skip"
local study = require "moonwarp.study"
local tables = require "moonwarp.plot.table"
local timeline = require "moonwarp.plot.timeline"

-- What other libraries call our methods.
local HINTS = {
  array = { size = "shape", count = "shape", length = "shape", tolist = "totable", read = "totable",
            download = "totable", write = "upload", free = "close", destroy = "close" },
  device = { sync = "synchronize", malloc = "array", compile = "module", destroy = "close" },
  event = { sync = "synchronize", elapsed = "since" },
  kernel = { run = "launch", call = "launch", attrs = "attributes" },
  stream = { sync = "synchronize", destroy = "close" },
}

local function explain_index(key)
  if math.type(key) ~= "integer" then return nil end
  return ("an element is read with get: a:get(%d); a:totable() reads all"):format(key)
end

local function explain_device(key)
  if type(key) ~= "string" or not rawget(core.methods.device, key) then return nil end
  return ("moonwarp has no '%s', a device has: mw.device():%s(...)"):format(key, key)
end

array.install(core.methods)
module.install(core.methods)
core.result.__tostring = show.fields
for class, methods in pairs(core.methods) do
  local article = class:match("^[aeiou]") and "an " or "a "
  if class ~= "module" then -- its fields are kernels
    nearest.guard(methods, article .. class, HINTS[class], class == "array" and explain_index or nil)
  end
end

local mw = {
  version = core.version,
  null = core.null, -- the null pointer, as an argument of a launch
  devices = core.devices,
  type = function(...) return core.type(...) or quantity.is(...) and "quantity" or nil end,
  poll = core.poll,
  occupancy = api.func("mw.occupancy", 1, occupancy.query),
  arg = api.func("mw.arg", 4, arg.get),
  bench = api.func("mw.bench", 2, bench.run),
  check = api.func("mw.check", 3, check.run),
  environment = api.func("mw.environment", 1, environment.collect),
  roofline = api.func("mw.roofline", 1, roofline.draw),
  record = api.func("mw.record", 1, record.write),
  plot = api.func("mw.plot", 1, plot.draw),
  ladder = api.func("mw.ladder", 1, ladder.draw),
  film = api.func("mw.film", 1, film.new),
  timeline = api.func("mw.timeline", 1, timeline.draw),
  table = api.func("mw.table", 1, tables.print),
  remark = remark.say,
  skip = api.func("mw.skip", 1, skip.raise),
  study = api.func("mw.study", 1, study.new),
  run = api.func("mw.run", 1, study.start),
  ceil_div = api.func("mw.ceil_div", 2, integer.ceil_div),
  geometric = api.func("mw.geometric", 3, integer.geometric),
}

--- Opens a device. Without an id: the one chosen with --device or $MOONWARP_DEVICE, else the first
--- usable CUDA device, else the CPU. The same id gives the same handle.
---@param id string?        "cpu", "cuda", "cuda:1", "cuda:sm_90" (an architecture without a GPU:
---                           compiles only)
---@return userdata device  raises the reason if there is no such device
mw.device = api.func("mw.device", 1, function(id)
  return session.current:open_device(id)
end)

nearest.guard(mw, "moonwarp", { open = "device", benchmark = "bench" }, explain_device)
return mw
