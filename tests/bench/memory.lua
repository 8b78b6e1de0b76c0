-- SPDX-License-Identifier: MIT
--
-- Resident memory of an idle host with the CPU device open. To reach: at most 16 MiB. The process
-- that runs this script is the host measured; what it shares with other processes (the C library)
-- counts too.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local dev = mw.device "cpu"
dev:synchronize()
collectgarbage()
collectgarbage()

local file <close> = assert(io.open "/proc/self/status")
local kilobytes = tonumber(file:read("a"):match "VmRSS:%s*(%d+)")
lab.bound("resident memory, one CPU device", kilobytes / 1024, 16, "MiB")
