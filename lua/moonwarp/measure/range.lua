-- SPDX-License-Identifier: MIT
--
-- Named ranges of time, which Nsight Systems and Nsight Compute show and filter by (core/base/nvtx.c).
-- Without a profiler they cost a call.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"

local range = {}

local opened = setmetatable({}, { __close = core.range_pop })

--- Begins a range, which ends with the block of the returned value: local _ <close> = range.open "name".
---@param name string
---@return table opened
function range.open(name)
  core.range_push(name)
  return opened
end

--- Calls a function within a range.
---@param name string     what profilers show
---@param f function
---@param ... any         its arguments
---@return any ...        what it returns
function range.run(name, f, ...)
  if type(name) ~= "string" then
    failure.invalid("bad argument #1 to 'range' (string expected, got %s)", schema.kind(name))
  elseif type(f) ~= "function" and core.type(f) ~= "launch" then
    failure.invalid("bad argument #2 to 'range' (function expected, got %s)", schema.kind(f))
  end
  local _ <close> = range.open(name)
  return f(...)
end

return range
