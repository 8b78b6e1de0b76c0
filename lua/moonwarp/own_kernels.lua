-- SPDX-License-Identifier: MIT
--
-- The library's own kernels, kernels/moonwarp/*.cu: one module per file and device, compiled when it is
-- first needed and kept with the device.

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

--- A kernel of a file. All are in the namespace moonwarp, by which they are told from a script's.
---@param device userdata
---@param file string
---@param name string     as in "fill<float>"
---@return userdata kernel
function own_kernels.kernel(device, file, name)
  return own_kernels.module(device, file):kernel("moonwarp::" .. name)
end

local BLOCK = 256

--- Launches a kernel of a file with one thread per element.
---@param device userdata
---@param file string
---@param name string     of the kernel, as in "fill<float>"
---@param count integer
---@param ... any         the kernel's arguments
function own_kernels.launch(device, file, name, count, ...)
  own_kernels.kernel(device, file, name):launch((count + BLOCK - 1) // BLOCK, BLOCK, ...)
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
