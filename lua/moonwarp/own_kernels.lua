-- SPDX-License-Identifier: MIT
--
-- The library's own kernels, kernels/moonwarp/*.cu: one module per file and device, compiled when it is
-- first needed and kept with the device, as are arrays that these kernels need again and again.

local core = require "moonwarp.core"

local own_kernels = {}

-- By device, modules and arrays by their names; an ephemeron table, so that they go with their device.
local kept = setmetatable({}, { __mode = "k" })

local function kept_of(device)
  kept[device] = kept[device] or {}
  return kept[device]
end

--- The module of a file.
---@param device userdata
---@param file string     as in "moonwarp/array.cu"
---@return userdata module
function own_kernels.module(device, file)
  local known = kept_of(device)
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

--- Calls a function with an array of zeros, or with what the last such call left in it. An error drops the array.
---@param device userdata
---@param name string     of the array
---@param dtype string
---@param count integer
---@param fn fun(array: userdata): any
---@return any result     of the function
function own_kernels.with_room(device, name, dtype, count, fn)
  local known = kept_of(device)
  local room = known[name] or device:zeros(dtype, count)
  known[name] = nil -- until the function has returned
  local result = fn(room)
  known[name] = room
  return result
end

--- Closes the modules and arrays of a device; called before the device is closed.
---@param device userdata
function own_kernels.release(device)
  for _, object in pairs(kept_of(device)) do object:close() end
  kept[device] = nil
end

return own_kernels
