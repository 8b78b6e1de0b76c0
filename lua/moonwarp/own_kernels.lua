-- SPDX-License-Identifier: MIT
--
-- The library's own kernels, kernels/moonwarp/*.cu: a module a file and device, compiled when it is
-- first needed and kept with the device.
-- Depends on moonwarp.core.

local core = require "moonwarp.core"

local own_kernels = {}

-- By device; an ephemeron table, so that modules go with their device.
local modules = setmetatable({}, { __mode = "k" })

--- The module of a file.
---@param device userdata
---@param file string     as in "moonwarp/array.cu"
---@return userdata module
function own_kernels.module(device, file)
  local known = modules[device] or {}
  modules[device] = known
  if not known[file] or core.type(known[file]) ~= "module" then
    -- a * b + c is not fused, so that all devices round alike
    known[file] = device:module { file = file, contract = false }
  end
  return known[file]
end

--- Closes the modules of a device; called before the device is closed.
---@param device userdata
function own_kernels.release(device)
  for _, module in pairs(modules[device] or {}) do
    if core.type(module) == "module" then module:close() end
  end
  modules[device] = nil
end

return own_kernels
