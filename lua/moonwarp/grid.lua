-- SPDX-License-Identifier: MIT
--
-- mw.grid: a box of cells divided over devices, or over the ranks of a communicator, in a Cartesian arrangement, as
-- ImplicitGlobalGrid.jl (S. Omlin and L. Raess) has it: each part has arrays with a halo around its own cells, which an
-- exchange fills with the neighbours' cells.
--
-- Each part has two streams: `main`, and the urgent `outer`, in which a step with overlap computes its border and
-- exchanges it. Both wait for the default stream, and it for them.
--
-- grid/parts.lua divides the box, grid/exchange.lua moves faces. docs/api/grid.md

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local exchange = require "moonwarp.grid.exchange"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local parts = require "moonwarp.grid.parts"
local schema = require "moonwarp.base.schema"

local grid = {}
local Grid = { __name = "grid" }
Grid.__index = Grid

local invalid = failure.invalid
local RULES <const> = { devices = "table", comm = "any", dims = "table", halo = "integer table",
                        periodic = "boolean table", via = "string" }
local MOST <const> = (1 << 31) - 1 -- cells along a side
local WEAK <const> = { __mode = "k" }

-- ---- a new grid --------------------------------------------------------------------------------------

-- A value for each dimension, given once or as a list; `rest` for dimensions that the grid does not have.
local function each_of(name, given, count, rest, is_right, wanted)
  local out = { rest, rest, rest }
  if type(given) == "table" and #given > count then
    invalid("mw.grid: '%s' has %d values, the grid %d dimension%s", name, #given, count, count == 1 and "" or "s")
  end
  for k = 1, count do
    local value = given
    if type(given) == "table" then value = given[k] end
    if value == nil then value = rest end
    if not is_right(value) then
      invalid("mw.grid: '%s' of dimension %d must be %s, got %s", name, k, wanted, tostring(value))
    end
    out[k] = value
  end
  return out
end

local function is_count(value) return math.type(value) == "integer" and value >= 0 and value <= MOST end

local function sizes_of(spec)
  local size = table.move(spec, 1, #spec, 1, {})
  if #size < 1 or #size > 3 then
    invalid("mw.grid: one to three sizes are wanted, as in mw.grid { 512, 512, 512 }, got %d", #size)
  end
  for k, n in ipairs(size) do
    if not is_count(n) or n == 0 then invalid("mw.grid: size %d must be a number of cells, got %s", k, tostring(n)) end
  end
  return { size[1], size[2] or 1, size[3] or 1 }, #size
end

-- The devices of this process, the rank of the first, and how many ranks there are.
local function ranks_of(o, default, job)
  local comm = o.comm
  if job and job.size > 1 and not (comm or o.devices) then
    invalid("mw.grid: the job has %d ranks: comm = nccl.communicator() divides the grid over them, and devices = { "
      .. "mw.device() } gives each rank a whole one", job.size)
  end
  if comm ~= nil and (getmetatable(comm) or {}).__name ~= "communicator" then
    invalid("mw.grid: option 'comm' is a communicator of moonwarp.nccl, got %s", schema.kind(comm))
  end
  if comm and o.devices then invalid "mw.grid: either 'devices' or 'comm', which has its own" end
  if o.via ~= nil and o.via ~= "comm" and o.via ~= "copies" or o.via == "comm" and not comm then
    invalid("mw.grid: option 'via' is \"copies\", or with a communicator \"comm\", got '%s'", o.via)
  end
  local devices = comm and comm:devices() or o.devices or { default() }
  if #devices == 0 then invalid "mw.grid: a list of devices is wanted, got none" end
  for i = 1, #devices do
    if core.type(devices[i]) ~= "device" or devices[i]:is_offline() then
      invalid("mw.grid: device %d must be one that runs kernels, got %s", i, tostring(devices[i]))
    end
  end
  return devices, comm and comm:rank() or 0, comm and comm:ranks() or #devices
end

-- The streams of a part of this process.
local function equip(part, device)
  local _, urgent = device:priorities()
  part.device = device
  part.main, part.outer = device:stream(), device:stream { priority = urgent }
  return part
end

local function marks(self)
  return lists.map(self.parts, function(part) return part.device:event { timing = false } end)
end

-- What must be the same on all ranks.
local function words_of(self)
  local function list(values) return table.concat(lists.map(values, tostring), " x ", 1, self.dimensions) end
  return ("%s, halo %s, periodic %s, via %s"):format(self, list(self.halo), list(self.periodic), self.via)
end

--- A grid of cells, over devices or over the ranks of a communicator.
---@param spec table       { nx[, ny[, nz]] }, and options: devices or comm, dims, halo, periodic, via
---@param default function gives the device if the options have none
---@param job table?       of MPI that this process is a rank of
---@return table grid
function grid.new(spec, default, job)
  if type(spec) ~= "table" then invalid("mw.grid: a table is wanted, as in mw.grid { 64, 64 }, got %s", type(spec)) end
  local size, dimensions = sizes_of(spec)
  local given = {}
  for name, value in pairs(spec) do if math.type(name) ~= "integer" then given[name] = value end end
  local o = lists.merged({ halo = 1, dims = {}, periodic = false }, schema.options("mw.grid", given, RULES))
  local devices, first_rank, count = ranks_of(o, default, job)
  local self = setmetatable({ size = size, dimensions = dimensions, comm = o.comm or false,
    via = o.via or "copies", is_apart = false,
    halo = each_of("halo", o.halo, dimensions, 0, is_count, "a number of cells"),
    periodic = each_of("periodic", o.periodic, dimensions, false, function(v) return type(v) == "boolean" end,
      "true or false"), ranks = count, parts = {}, places = {}, plans = {} }, Grid)
  local dims = each_of("dims", o.dims, dimensions, 0, is_count, "a number of parts, or 0")
  for k = dimensions + 1, 3 do dims[k] = 1 end
  self.dims = parts.dims(count, dims, self.halo, dimensions)
  parts.check(self)
  if self.comm and self.comm.meet then self.comm.meet("mw.grid, a " .. words_of(self)) end
  for i, device in ipairs(devices) do
    local part = equip(parts.of(self, first_rank + i - 1), device)
    part.number, self.parts[i], self.places[part.rank] = i, part, i
  end
  for _, part in ipairs(self.parts) do part.beside = exchange.beside(self, part) end
  self.exchanged = lists.map(self.dims, function(d, k) return self.halo[k] > 0 and (d > 1 or self.periodic[k]) end)
  self.begun, self.ready, self.sent, self.bordered = marks(self), marks(self), marks(self), marks(self)
  self.mains = lists.map(self.parts, function(part) return part.main end)
  self.outers = lists.map(self.parts, function(part) return part.outer end)
  self.plans[self.mains], self.plans[self.outers] = setmetatable({}, WEAK), setmetatable({}, WEAK)
  return self
end

function Grid:__tostring()
  return ("grid of %s cells in %s parts"):format(table.concat(self.size, " x ", 1, self.dimensions),
    table.concat(self.dims, " x ", 1, self.dimensions))
end

-- ---- arrays ------------------------------------------------------------------------------------------

local function shape_of(self, part) return table.unpack(part.shape, 1, self.dimensions) end

local function check_open(self, who)
  if not self.mains then invalid("%s: the grid is closed", who) end
end

--- An array of zeros, with halos, for each part of this process.
---@param dtype string
---@return userdata[] arrays
function Grid:array(dtype)
  check_open(self, "array")
  if not dtypes[dtype] then invalid("array: an element type is wanted, as \"f32\", got %s", tostring(dtype)) end
  return lists.map(self.parts, function(part) return part.device:zeros(dtype, shape_of(self, part)) end)
end

local function check_arrays(self, who, arrays)
  if type(arrays) ~= "table" or #arrays ~= #self.parts then
    invalid("%s: a list of arrays, one for each of %d parts, is wanted, as grid:array makes it, got %s", who,
      #self.parts, type(arrays) == "table" and "a list of " .. #arrays or schema.kind(arrays))
  end
  for i, part in ipairs(self.parts) do
    local array = arrays[i]
    if core.type(array) ~= "array" or array:device() ~= part.device then
      invalid("%s: an array of part %d, on %s, is wanted, got %s", who, i, part.device:id(),
        core.type(array) == "array" and tostring(array) or schema.kind(array))
    end
    local count = part.shape[1] * part.shape[2] * part.shape[3]
    if #array ~= count or array:dtype() ~= arrays[1]:dtype() then
      invalid("%s: part %d has %s cells of %s with its halo, got %s: an array of another grid?", who, i,
        table.concat(part.shape, " x ", 1, self.dimensions), arrays[1]:dtype(), tostring(array))
    end
  end
end

local function is_plan_of(plan, arrays)
  if #plan.arrays ~= #arrays then return false end
  for i, array in ipairs(plan.arrays) do
    if array ~= arrays[i] or core.type(array) ~= "array" then return false end -- or it is closed
  end
  return true
end

-- Plans are kept with the lists of arrays, as long as these hold the same open arrays. A list that is nil is an error.
local function plans_of(self, who, streams, ...)
  local kept, given, plans = self.plans[streams], { ... }, {}
  for i = 1, math.max(1, select("#", ...)) do
    local arrays = given[i]
    local plan = kept[arrays]
    if not plan or not is_plan_of(plan, arrays) then
      check_arrays(self, who, arrays)
      plan = exchange.plan(self, arrays, streams)
      kept[arrays] = plan
    end
    plans[i] = plan
  end
  return plans
end

-- ---- steps -------------------------------------------------------------------------------------------

-- The main streams wait for what a step with overlap queued in the others.
local function join(self)
  if not self.is_apart then return end
  for _, part in ipairs(self.parts) do
    part.outer:record(self.begun[part.number])
    part.main:wait(self.begun[part.number])
  end
  self.is_apart = false
end

local function exchange_now(self, plans)
  for i, part in ipairs(self.parts) do part.main:record(self.ready[i]) end
  exchange.run(self, plans, self.mains, self.ready)
end

--- Fills the halos of arrays with the neighbours' cells, in order with what the default streams hold.
---@param ... userdata[]   lists of arrays, one for each part
---@return table grid
function Grid:exchange(...)
  check_open(self, "exchange")
  local plans = plans_of(self, "exchange", self.mains, ...)
  join(self)
  exchange_now(self, plans)
  return self
end

-- The function that launches the cells of some boxes.
local function launched(who, launch, part, boxes, stream)
  if not boxes[1] then return function() end end
  local go = launch(part, boxes, stream)
  if type(go) ~= "function" then
    invalid("%s: the function must return one that launches what it was given, got %s", who, schema.kind(go))
  end
  return go
end

local function check_launch(self, who, launch)
  check_open(self, who)
  if type(launch) ~= "function" then
    invalid("%s: a function launch(part, boxes, stream) is wanted, got %s", who, schema.kind(launch))
  end
end

--- A function that computes all cells of all parts, then exchanges halos.
---@param launch function  launch(part, boxes, stream): gives a function that queues the cells of the boxes there
---@param ... userdata[]   arrays with halos to exchange
---@return function step
function Grid:step(launch, ...)
  check_launch(self, "step", launch)
  local plans = plans_of(self, "step", self.mains, ...)
  local all = lists.map(self.parts, function(part)
    return launched("step", launch, part, { parts.whole(self, part) }, part.main)
  end)
  return function()
    check_open(self, "step")
    join(self)
    for _, go in ipairs(all) do go() end
    exchange_now(self, plans)
  end
end

--- The same, but computes the cells that neighbours need first, and exchanges them while it computes the others.
---@param launch function
---@param ... userdata[]
---@return function step
function Grid:overlap(launch, ...)
  check_launch(self, "overlap", launch)
  local plans = plans_of(self, "overlap", self.outers, ...)
  local border, inner = {}, {}
  for i, part in ipairs(self.parts) do
    local boxes, rest = parts.border(self, part)
    border[i] = launched("overlap", launch, part, boxes, part.outer)
    inner[i] = launched("overlap", launch, part, { rest }, part.main)
  end
  return function()
    check_open(self, "overlap")
    for i, part in ipairs(self.parts) do
      part.main:record(self.begun[i])
      part.outer:wait(self.begun[i])
      part.outer:record(self.ready[i])
      border[i]()
      part.outer:record(self.bordered[i])
      inner[i]()
      part.main:wait(self.bordered[i])
    end
    exchange.run(self, plans, self.outers, self.ready)
    self.is_apart = true
  end
end

--- All streams of the grid. A step waits for work that was queued in all of them, and work that waits for all of them
--- comes after the step.
---@return userdata[] streams
function Grid:streams()
  check_open(self, "streams")
  return lists.append({ table.unpack(self.mains) }, self.outers)
end

-- ---- what the script sees of it ----------------------------------------------------------------------

--- The cells of a part in the whole grid, from 0.
---@param number integer?    of the part here, else 1
---@return integer[] first   for each dimension
---@return integer[] last
function Grid:local_range(number)
  local part = self.parts[number or 1]
  if not part then invalid("local_range: a part from 1 to %d is wanted, got %s", #self.parts, tostring(number)) end
  local first = { table.unpack(part.first, 1, self.dimensions) }
  return first, lists.map(first, function(at, k) return at + part.size[k] - 1 end)
end

-- A part's own cells without halos, on its device.
local function own_cells(self, part, array)
  local box = parts.whole(self, part)
  local packed = part.device:empty(array:dtype(), parts.count(box))
  exchange.box(part.device, nil, { array = packed }, { array = array, part = part, box = box }, box.size)()
  return packed
end

-- Copies a part's cells to their places, in the longest contiguous pieces.
local function place(self, whole, part, cells)
  local size, n = part.size, self.size
  local rows = size[1] < n[1] and size[2] or 1
  local planes = (rows > 1 or size[2] < n[2]) and size[3] or 1
  local count = #cells // (rows * planes)
  for z = 0, planes - 1 do
    for y = 0, rows - 1 do
      local to = part.first[1] + n[1] * (part.first[2] + y + n[2] * (part.first[3] + z))
      whole:copy(cells, { from = (z * rows + y) * count + 1, to = to + 1, count = count })
    end
  end
end

--- All cells in one array of the host, on rank 0. Each process calls it.
---@param arrays userdata[]
---@return userdata? whole   pageable; nil in the other processes
function Grid:gather(arrays)
  check_open(self, "gather")
  check_arrays(self, "gather", arrays)
  join(self)
  local root, dtype = self.parts[1], arrays[1]:dtype()
  local whole = self.places[0] and root.device:pageable(dtype, table.unpack(self.size, 1, self.dimensions))
  for rank = 0, self.ranks - 1 do
    local number = self.places[rank]
    local part = number and self.parts[number] or parts.of(self, rank)
    local cells = number and own_cells(self, part, arrays[number])
      or whole and root.device:empty(dtype, parts.count(parts.whole(self, part)))
    if whole and not number then
      self.comm:group(function() self.comm:recv(cells, rank) end)
    elseif number and not whole then
      self.comm:group(function() self.comm:send(cells, 0) end)
    end
    if whole then place(self, whole, part, root.device:pageable(dtype, #cells):copy(cells)) end
  end
  return whole or nil
end

--- Closes the streams; arrays belong to the script.
function Grid:close()
  for _, part in ipairs(self.mains and self.parts or {}) do
    part.main:close()
    part.outer:close()
  end
  self.mains, self.outers, self.plans = false, false, {}
end

Grid.__close = Grid.close
grid.methods = Grid
nearest.guard(Grid, "a grid")

return grid
