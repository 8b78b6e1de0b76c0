-- SPDX-License-Identifier: MIT
--
-- The Lua half of modules: device variables as plain values.

local api = require "moonwarp.base.api"
local failure = require "moonwarp.base.failure"

local module = {}

--- A __device__ or __constant__ variable as a value.
---@param m userdata     the module
---@param name string    the variable's name in the source
---@return any value     a number where it is one element, else a list
local function get(m, name)
  local view <close> = m:variable(name)
  if #view == 1 then return view:get(1) end
  return view:totable()
end

-- In the variable's own words: upload speaks of an array that the script never made.
local function check_size(name, view, value)
  local whole, got = #view, rawlen(value)
  if type(value) == "string" then whole = view:nbytes() end
  if got == whole then return end
  failure.invalid(type(value) == "string"
    and "variable '%s' has %d bytes: a string of that many expected, got one of %d"
    or "variable '%s' has %d elements: a flat table of that many expected, got one of %d", name, whole, got)
end

--- Sets a __device__ or __constant__ variable; kernels launched later see it.
---@param m userdata     the module
---@param name string    the variable's name in the source
---@param value any      a number where it is one element, else a list of as many, or packed bytes
---@return userdata m    the module
local function set(m, name, value)
  local view <close> = m:variable(name)
  if type(value) == "number" and #view == 1 then
    view:set(1, value)
  elseif type(value) == "table" or type(value) == "string" then
    check_size(name, view, value)
    view:upload(value)
  else
    failure.invalid("variable '%s' has %d elements: a %s expected, got %s", name, #view,
      #view == 1 and "number" or "table of that many", type(value))
  end
  return m
end

--- Adds the methods.
---@param methods table core.methods
function module.install(methods)
  methods.module.get = api.method("module", "get", 1, get)
  methods.module.set = api.method("module", "set", 2, set)
end

return module
