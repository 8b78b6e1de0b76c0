-- SPDX-License-Identifier: MIT
--
-- The Lua half of arrays: filling by kernels, clones, NumPy files. The methods are added to those
-- of moonwarp.core. Random numbers are counter-based, so that an element's value depends on the
-- seed and its index only: the same on every device.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"
local own_kernels = require "moonwarp.own_kernels"
local npy = require "moonwarp.base.npy"
local api = require "moonwarp.base.api"

local array = {}

local CHUNK = 1 << 22 -- elements per step when reading and writing files

-- ---- the helper kernels of a device -------------------------------------------------------------

-- Memory that a kernel cannot write, or not fast: the host's, and constants.
local function is_remote(self)
  local space = self:space()
  return space == "pinned" or space == "pageable" or space == "global"
end

-- Runs a helper kernel over the array; remote memory is filled by way of the device's.
local function run_kernel(self, name, ...)
  local device, dtype = self:device(), self:dtype()
  local staged <close> = is_remote(self) and device:empty(dtype, self:shape()) or nil
  local instance = ("%s<%s>"):format(name, dtypes[dtype].cpp)
  own_kernels.launch(device, "moonwarp/array.cu", instance, #self, staged or self, ...)
  core.filled(staged or self)
  return staged and self:copy(staged) or self
end

-- The kernels write through a plain pointer, which a read-only view does not give.
local function check_writable(self, who)
  if self:is_readonly() then
    failure.invalid("bad argument #1 to '%s' (the array is a read-only view)", who)
  end
end

local function check_argument(who, position, value, wanted)
  if type(value) == wanted then return end
  failure.invalid("bad argument #%d to '%s' (%s expected, got %s)", position, who, wanted, schema.kind(value))
end

-- ---- filling ------------------------------------------------------------------------------------

-- Sets one element, then copies the filled part after itself until the array is full: no compiler is
-- needed.
local function fill_by_doubling(self, value)
  self:set(1, value)
  local done, count = 1, #self
  while done < count do
    local more = math.min(done, count - done)
    self:copy(self, { from = 1, to = done + 1, count = more })
    done = done + more
  end
  return self
end

--- Sets every element to a value.
---@param self userdata
---@param value number    converted to the element type as by set
---@return userdata self
function array.fill(self, value)
  check_writable(self, "fill")
  check_argument("fill", 1, value, "number")
  local problem = core.misfit(self:dtype(), value)
  if problem then
    failure.invalid("bad argument #1 to 'fill' (%s holds %s)", self:dtype(), problem)
  end
  if is_remote(self) or self:device():kind() ~= "gpu" then return fill_by_doubling(self, value) end
  return run_kernel(self, "fill", value, #self)
end

--- Equally spaced values; both ends are in.
---@param self userdata
---@param from number    the first element
---@param to number      the last element
---@return userdata self
function array.linspace(self, from, to)
  check_writable(self, "linspace")
  check_argument("linspace", 1, from, "number")
  check_argument("linspace", 2, to, "number")
  return run_kernel(self, "linspace", from, to, #self)
end

local RANDOM = { seed = "number", kind = "string", min = "number", max = "number", mean = "number",
                 sd = "number", offset = "number" }

local function random_options(given)
  if type(given) == "number" or given == nil then given = { seed = given } end
  if type(given) ~= "table" then
    failure.invalid("random: a seed or a table of options expected, got %s", schema.kind(given))
  end
  local options = schema.options("random", given, RANDOM)
  local seed = math.tointeger(options.seed or 0)
  if not seed then
    failure.invalid("random: the seed must be an integer, got %s", options.seed)
  end
  local offset = math.tointeger(options.offset or 0)
  if not offset or offset < 0 then
    failure.invalid("random: option 'offset' must be an integer >= 0, got %s", options.offset)
  end
  return options, seed, offset
end

local function check_finite(options)
  for _, name in ipairs { "min", "max", "mean", "sd" } do
    local value = options[name]
    if value and (value ~= value or math.abs(value) == math.huge) then
      failure.invalid("random: option '%s' must be a finite number, got %s", name, value)
    end
  end
  schema.check_numbers("random", options, { sd = { 0 } })
end

-- Floats for the two ends of an integer type: 2^64 - 1 is not a Lua integer. A number outside would wrap.
local function check_held(dtype, name, value)
  local bits = tonumber(dtype:sub(2))
  local signed = dtype:sub(1, 1) == "i"
  local low, high = signed and -2.0 ^ (bits - 1) or 0.0, 2.0 ^ (signed and bits - 1 or bits) - 1
  if value < low or value > high then
    failure.invalid("random: option '%s' is %s, %s holds %.0f to %.0f", name, value, dtype, low, high)
  end
end

--- Random numbers by a counter-based generator (Philox; see kernels/moonwarp/array.cu): the same
--- for one seed on every device, whatever the array's shape.
--- Options: seed (0), kind ("uniform"; "normal"), min and max of uniform numbers (0 and 1; 0 and 99
--- for integer types, both ends in), mean and sd of normal ones (0 and 1), offset (numbers of the
--- sequence to skip).
---@param self userdata
---@param options integer|table|nil  a seed, or the options
---@return userdata self
function array.random(self, options)
  check_writable(self, "random")
  local given, seed, offset = random_options(options)
  check_finite(given)
  local kind = given.kind or "uniform"
  if kind == "normal" then
    local mean, sd = given.mean or 0.0, given.sd or 1.0
    return run_kernel(self, "random_normal", seed, offset, mean, sd, #self)
  elseif kind ~= "uniform" then
    failure.invalid("random: option 'kind' must be 'uniform' or 'normal', got '%s'", kind)
  end
  local is_float = self:dtype():find("f", 1, true) ~= nil
  local min, max = given.min or 0.0, given.max or (is_float and 1.0 or 99.0)
  if min > max then
    failure.invalid("random: option 'min' is %s, which is above max, %s", min, max)
  end
  if not is_float then
    check_held(self:dtype(), "min", min)
    check_held(self:dtype(), "max", max)
  end
  return run_kernel(self, "random_uniform", seed, offset, min, max, #self)
end

-- ---- scattered elements -------------------------------------------------------------------------

--- Reads elements that do not lie side by side, at once.
---@param self userdata
---@param places integer[]   each counts through the whole array from 1, x fastest
---@return number[] values   in the order of the places
function array.gather(self, places)
  check_argument("gather", 1, places, "table")
  for i, place in ipairs(places) do
    if math.type(place) ~= "integer" or place < 1 or place > #self then
      failure.invalid("bad argument #1 to 'gather' (place %d is an integer from 1 to %d, got %s)", i, #self,
        math.type(place) and place or type(place))
    end
  end
  if #lists.keys(places) > #places then
    failure.invalid("bad argument #1 to 'gather' (a list of places is wanted, got one with names or holes)")
  end
  if is_remote(self) or #places == 0 then return lists.map(places, function(place) return self:get(place) end) end
  local at <close> = self:device():array("u64", places)
  local found <close> = self:device():empty(self:dtype(), #places)
  local instance = ("gather<%s>"):format(dtypes[self:dtype()].cpp)
  own_kernels.launch(self:device(), "moonwarp/array.cu", instance, #places, found, self, at, #places)
  return found:totable()
end

-- ---- clones -------------------------------------------------------------------------------------

local MAKERS = { device = "empty", pinned = "pinned", pageable = "pageable", managed = "managed",
  global = "empty" }

--- A new array of the same type, shape, contents and kind of memory.
---@param self userdata
---@return userdata
function array.clone(self)
  local device = self:device()
  return device[MAKERS[self:space()]](device, self:dtype(), self:shape()):copy(self)
end

--- An array with every element set to a value: dev:full(value, dtype, n1, ...).
---@param device userdata
---@param value number
---@param dtype string
---@param ... integer      sizes, x first
---@return userdata
function array.full(device, value, dtype, ...)
  check_argument("full", 1, value, "number")
  return device:empty(dtype, ...):fill(value)
end

-- ---- NumPy files --------------------------------------------------------------------------------

local function reversed(list)
  local out = {}
  for i = #list, 1, -1 do out[#out + 1] = list[i] end
  return out
end

local function write_elements(file, self)
  local count = #self
  for first = 1, count, CHUNK do
    local part <close> = self:view(first, math.min(CHUNK, count - first + 1))
    local written, reason = file:write(part:bytes())
    if not written then return nil, reason end
  end
  return true
end

local function write_file(file, header, self)
  local handle <close> = file
  local written, reason = handle:write(header)
  if written then written, reason = write_elements(handle, self) end
  if written then written, reason = handle:close() end
  return written, reason
end

-- What was written in part must not look whole. It is not removed: the name may be a device's.
local function empty(name)
  local file = io.open(name, "wb")
  if file then file:close() end
end

--- Writes a NumPy .npy file; the shape is turned round, so that a[k][j][i] in Python is a:get(i, j,
--- k) here.
---@param self userdata   not bf16, which NumPy does not know
---@param name string
---@return userdata self
function array.save(self, name)
  check_argument("save", 1, name, "string")
  local header, reason = npy.header(self:dtype(), reversed { self:shape() })
  if not header then failure.invalid("%s: %s", name, reason) end
  local file, cause = io.open(name, "wb")
  if not file then failure.raise_as("io", "%s", cause) end
  local is_whole = false
  local _ <close> = setmetatable({}, { __close = function() if not is_whole then empty(name) end end })
  is_whole, cause = write_file(file, header, self)
  if not is_whole then failure.raise_as("io", "%s: %s", name, cause) end
  return self
end

local function read_elements(file, name, self)
  local count = #self
  local width = self:nbytes() // count
  for first = 1, count, CHUNK do
    local part <close> = self:view(first, math.min(CHUNK, count - first + 1))
    local bytes = file:read(#part * width) or ""
    if #bytes < #part * width then
      failure.raise_as("io", "%s: the file ends after %d of %d elements", name, first - 1 + #bytes // width, count)
    end
    part:upload(bytes)
  end
end

--- Reads a NumPy .npy file into a new array; the shape is turned round, so that x, the last index
--- in Python, is the first one here.
---@param device userdata
---@param name string
---@return userdata
function array.load(device, name)
  check_argument("load", 1, name, "string")
  local file <close>, cause = io.open(name, "rb")
  if not file then failure.raise_as("io", "%s", cause) end
  local header, reason = npy.read(file)
  if not header then failure.invalid("%s: %s", name, reason) end
  local made = device:empty(header.dtype, table.unpack(reversed(header.shape)))
  read_elements(file, name, made)
  return made
end

--- Adds the Lua half to the classes of moonwarp.core.
---@param methods table  core.methods
function array.install(methods)
  local most = { clone = 0, fill = 1, gather = 1, linspace = 2, random = 1, save = 1 }
  for name, count in pairs(most) do
    methods.array[name] = api.method("array", name, count, array[name])
  end
  for name, count in pairs { full = math.maxinteger, load = 1 } do -- array.empty counts full's sizes
    methods.device[name] = api.method("device", name, count, array[name])
  end
  local close = methods.device.close
  methods.device.close = api.method("device", "close", 0, function(device)
    own_kernels.release(device)
    return close(device)
  end)
end

return array
