-- SPDX-License-Identifier: MIT
--
-- What moonwarp itself takes: its start, over that of /bin/true; the interval of a median of many
-- samples; a record. To reach: 10 ms, 5 ms, 0.1 ms.

local mw = require "moonwarp"
local core = require "moonwarp.core"
local session = require "moonwarp.session"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local rounds = mw.arg("rounds", 21, "starts")
local records = mw.arg("records", 2000, "records kept")

local function seconds_of(body, ...)
  local start = core.clock()
  body(...)
  return core.clock() - start
end

local program <const> = ("exec '%s' -e ''"):format(require("moonwarp.host").program())
local starts, bare = {}, {}
for i = 1, rounds do
  bare[i] = seconds_of(os.execute, "exec /bin/true")
  starts[i] = seconds_of(os.execute, program)
end
lab.bound("start of the program", lab.median(starts) - lab.median(bare), 0.010, "s")

local bootstrap = require "moonwarp.measure.bootstrap"
for _, n in ipairs { 99999, 100000 } do
  local samples, times = {}, {}
  for i = 1, n do samples[i] = i end
  for i = 1, 9 do times[i] = seconds_of(bootstrap.interval, samples) end
  lab.bound(("interval of the median, %d samples"):format(n), lab.median(times), 0.005, "s")
end

-- A record each time, as a study with a table of its points keeps them.
session.current.options.quiet = true
mw.record { device = "cpu", point = 0 }
local times = {}
for i = 1, records do times[i] = seconds_of(mw.record, { device = "cpu", point = i, T_tot = 100.0 + i }) end
lab.bound("a record", lab.median(times), 0.0001, "s")
