-- SPDX-License-Identifier: MIT
--
-- One number out of an array, or out of two: dev:sum, dev:min, dev:max, dev:norm, dev:dot. Blocks of
-- kernels/moonwarp/reductions.cu leave parts, the last one joins them, and one element comes back.

local api = require "moonwarp.base.api"
local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local integer = require "moonwarp.base.integer"
local own_kernels = require "moonwarp.own_kernels"
local schema = require "moonwarp.base.schema"

local reduce = {}

local FILE = "moonwarp/reductions.cu"
local MOST_PARTS = 4096
local PIECE_BYTES = 32768 -- the least that a block is worth
local THREADS = 256       -- of a block on a GPU
local TILE = 2048         -- vectors that such a block has in flight
local LANES = 32          -- of a thread on the CPU device

-- Whether values are joined as floats.
local function is_float(dtype, op)
  return op == "NORM" or dtype:find("f", 1, true) ~= nil
end

-- The kernel, its block, in what units a piece counts (elements, or vectors of 16 bytes), and of how many
-- of these a piece is a multiple.
local function plan(device, x, y, op)
  local cpp, width = dtypes[x:dtype()].cpp, dtypes[x:dtype()].size
  if device:kind() ~= "gpu" then return ("reduce_lanes<%s,%s>"):format(cpp, op), 1, 1, LANES end
  local is_aligned = (x:address() | y:address()) % 16 == 0
  return ("reduce_wide<%s,%s,%s>"):format(cpp, op, is_aligned), THREADS, 16 // width, TILE
end

-- Memory that the device's kernels do not reach is copied there, for the length of a block.
local function reached(device, array)
  if not array or array:space() ~= "pageable" or device:properties().pageable_access then return array, nil end
  local staged = device:empty(array:dtype(), #array):copy(array)
  return staged, staged
end

-- second: of "DOT" only.
local function value_of(device, first, second, op)
  local x, _ <close> = reached(device, first)
  local y, _ <close> = reached(device, second)
  y = y or x
  local name, block, unit, grain = plan(device, x, y, op)
  local units, wanted = integer.ceil_div(#x, unit), integer.ceil_div(x:nbytes(), PIECE_BYTES)
  local piece = integer.ceil_div(integer.ceil_div(units, math.min(MOST_PARTS, wanted)), grain) * grain
  local kernel = own_kernels.kernel(device, FILE, name)
  local bits = own_kernels.with_room(device, "parts", "u64", 2 + MOST_PARTS, function(room)
    kernel:launch(integer.ceil_div(units, piece), block, room, x, y, #x, piece)
    return room:get(2)
  end)
  return is_float(x:dtype(), op) and ("<d"):unpack(("<j"):pack(bits)) or bits
end

local function check_array(device, who, position, value)
  if core.type(value) ~= "array" then
    failure.invalid("bad argument #%d to '%s' (array expected, got %s)", position, who, schema.kind(value))
  elseif value:device() ~= device then
    failure.invalid("bad argument #%d to '%s' (%s is not on %s: copy it there, or ask its own device)", position, who,
      tostring(value), device:id())
  end
  return value
end

--- The sum of all elements.
---@param device userdata
---@param x userdata       of any element type
---@return number          joined in f64; of integers an integer, which wraps at 64 bits
function reduce.sum(device, x)
  return value_of(device, check_array(device, "sum", 1, x), nil, "SUM")
end

--- The least element.
---@param device userdata
---@param x userdata
---@return number  NaNs are skipped; inf if there is nothing else
function reduce.min(device, x)
  return value_of(device, check_array(device, "min", 1, x), nil, "MIN")
end

--- The greatest element.
---@param device userdata
---@param x userdata
---@return number  NaNs are skipped; -inf if there is nothing else
function reduce.max(device, x)
  return value_of(device, check_array(device, "max", 1, x), nil, "MAX")
end

--- The Euclidean norm, over all dimensions.
---@param device userdata
---@param x userdata
---@return number  the root of the sum of the squares in f64
function reduce.norm(device, x)
  return math.sqrt(value_of(device, check_array(device, "norm", 1, x), nil, "NORM"))
end

--- The sum of the products of two arrays' elements.
---@param device userdata
---@param x userdata
---@param y userdata   of the same type and shape
---@return number      as of a sum
function reduce.dot(device, x, y)
  check_array(device, "dot", 1, x)
  check_array(device, "dot", 2, y)
  local shapes = { table.concat({ x:shape() }, " x "), table.concat({ y:shape() }, " x ") }
  if x:dtype() ~= y:dtype() or shapes[1] ~= shapes[2] then
    failure.invalid("bad argument #2 to 'dot' (array<%s>[%s] expected, got array<%s>[%s])", x:dtype(), shapes[1],
      y:dtype(), shapes[2])
  end
  return value_of(device, x, y, "DOT")
end

--- Adds the methods of devices.
---@param methods table  core.methods
function reduce.install(methods)
  for name, count in pairs { sum = 1, min = 1, max = 1, norm = 1, dot = 2 } do
    methods.device[name] = api.method("device", name, count, reduce[name])
  end
end

return reduce
