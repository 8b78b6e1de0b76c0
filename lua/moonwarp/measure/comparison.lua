-- SPDX-License-Identifier: MIT
--
-- Two arrays, element by element. Large ones are compared in a GPU's memory if one of them is there:
-- 2 GiB take a millisecond, and more than a second by way of the host; one of the host's is copied there
-- first. The device only counts; if an element is wrong, the host compares again and says which.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local own_kernels = require "moonwarp.own_kernels"

local comparison = {}

local LARGE = 1 << 18 -- elements
local BLOCK, EACH, WAVES = 256, 8, 16 -- least elements per thread, most blocks per multiprocessor

-- Non-negative numbers are kept as their bits.
local function number_of(bits)
  return (string.unpack("d", string.pack("i8", bits)))
end

--- Compares by a kernel of the arrays' device.
---@param got userdata
---@param expected userdata   of the same device, type and count
---@param absolute number
---@param relative number
---@return table? found       as of comparison.run where nothing is wrong, else nil
function comparison.on_device(got, expected, absolute, relative)
  local device, dtype, count = got:device(), got:dtype(), #got
  local kernel = own_kernels.kernel(device, "moonwarp/compare.cu", ("compare<%s>"):format(dtypes[dtype].cpp))
  local blocks = math.min((count + BLOCK * EACH - 1) // (BLOCK * EACH), WAVES * device:properties().multiprocessors)
  local exact = dtype:find "^f" == nil and absolute == 0 and relative == 0
  local found <close> = device:zeros("u64", 4)
  device:synchronize() -- they may have been written in a stream that the default one does not wait for
  kernel:launch(blocks, BLOCK, found, got, expected, absolute, relative, exact and 1 or 0, count)
  local wrong, most, most_relative, squares = table.unpack(found:totable())
  if wrong ~= 0 then return nil end
  return { wrong = 0, first = {}, max_absolute = number_of(most), max_relative = number_of(most_relative),
           rms = math.sqrt(number_of(squares) / count) }
end

-- Whether one is in a GPU's memory and the other there or the same device's on the host.
local function are_near_gpu(got, expected)
  local device = got:device()
  return device:kind() == "gpu" and rawequal(device, expected:device())
    and (got:space() == "device" or expected:space() == "device")
end

--- The array where its device's kernels read it fast: a view, or a copy of one of the host's.
---@param array userdata
---@return userdata? near  to be closed; nil if the device has no room for a copy
function comparison.near(array)
  local device, count = array:device(), #array
  if array:space() == "device" then return array:view(1, count) end
  device:synchronize() -- it may have been written in a stream that the default one does not wait for
  local has_room, copy = pcall(device.empty, device, array:dtype(), count)
  local flat <close> = array:view(1, count)
  return has_room and copy:copy(flat) or nil
end

--- Compares two arrays of one type and count. An element is right when |got - expected| <= absolute +
--- relative * |expected|; equal bits are right, and NaN if NaN is expected.
---@param got userdata
---@param expected userdata
---@param absolute number
---@param relative number
---@param most integer       elements that are told
---@param rms boolean?       whether the root of the mean square of the errors is wanted
---@return table found       wrong (how many), first ({ index from 0, expected, got } of the first ones),
---                          max_absolute, max_relative, rms
function comparison.run(got, expected, absolute, relative, most, rms)
  if #got >= LARGE and dtypes[got:dtype()].size >= 4 and are_near_gpu(got, expected) then
    local a <close> = comparison.near(got)
    local b <close> = comparison.near(expected)
    local found = a and b and comparison.on_device(a, b, absolute, relative)
    if found then return found end
  end
  return core.compare(got, expected, absolute, relative, most, rms)
end

return comparison
