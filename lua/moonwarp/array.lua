-- SPDX-License-Identifier: MIT
--
-- The Lua half of arrays: filling by kernels, clones, NumPy files. The methods are added to those of moonwarp.core.
-- Random numbers are counter-based, so that an element's value depends on the seed and its index alone: the same on
-- every device.
-- Depends on moonwarp.core, fields, npy, kernels/moonwarp/array.cu.

local core = require "moonwarp.core"
local fields = require "moonwarp.fields"
local npy = require "moonwarp.npy"

local array = {}

local C_TYPES = {
  f16 = "__half", bf16 = "__nv_bfloat16", f32 = "float", f64 = "double",
  i8 = "signed char", i16 = "short", i32 = "int", i64 = "long long",
  u8 = "unsigned char", u16 = "unsigned short", u32 = "unsigned int", u64 = "unsigned long long",
}

local IS_FLOAT = { f16 = true, bf16 = true, f32 = true, f64 = true }

-- string.pack formats of what fill takes; f16 and bf16 have none.
local PACK = { f32 = "<f", f64 = "<d", i8 = "<i1", i16 = "<i2", i32 = "<i4", i64 = "<i8",
               u8 = "<I1", u16 = "<I2", u32 = "<I4", u64 = "<i8" }

local BLOCK = 256
local CHUNK = 1 << 22 -- elements a step when reading and writing files

-- ---- the helper kernels of a device ------------------------------------------------------------------------------------

-- By device; an ephemeron table, so a module goes with its device.
local modules = setmetatable({}, { __mode = "k" })

local function module_of(device)
  local known = modules[device]
  if known and core.type(known) == "module" then return known end
  -- a * b + c is not fused, so that both devices round alike
  known = device:module { file = "moonwarp/array.cu", contract = false }
  modules[device] = known
  return known
end

--- Closes the helper kernels of a device; called before the device is closed.
---@param device userdata
function array.release(device)
  local known = modules[device]
  modules[device] = nil
  if known and core.type(known) == "module" then known:close() end
end

local function on_device(self)
  return self:space() == "device" or self:space() == "global" or self:space() == "managed"
    or self:device():id() == "cpu"
end

-- Runs a helper kernel over the array; a host array of a GPU goes by way of its memory.
local function run_kernel(self, name, ...)
  local device, count = self:device(), #self
  local kernel = module_of(device):kernel(("%s<%s>"):format(name, C_TYPES[self:dtype()]))
  local grid = math.min((count + BLOCK - 1) // BLOCK, 1 << 20)
  if on_device(self) then
    kernel:launch(grid, BLOCK, self, ...)
    return self
  end
  local staged <close> = device:empty(self:dtype(), self:shape())
  kernel:launch(grid, BLOCK, staged, ...)
  return self:copy(staged)
end

-- ---- filling ---------------------------------------------------------------------------------------------------------------

local function check_number(who, position, value)
  if type(value) ~= "number" then
    error(("bad argument #%d to '%s' (number expected, got %s)"):format(position, who, core.type(value) or type(value)),
      3)
  end
end

--- Sets every element to a value.
---@param self userdata
---@param value number  checked against the element type as in set
---@return userdata self
function array.fill(self, value)
  check_number("fill", 1, value)
  self:set(table.unpack(array.first_index(self, value)))
  return run_kernel(self, "fill", self:get(table.unpack(array.first_index(self))), #self)
end

return array
