-- SPDX-License-Identifier: MIT
--
-- A case: one size and type with its arrays; what a function of a description gets as c. Arrays and
-- scalars in it carry the names of the kernels' parameters, so that a launch takes its arguments by
-- name:
--   c = { nx = 67, ny = 33, type = "f64", A = array, B = array, ... }
--   c:launch("memcopy", { block = { 32, 8 }, grid = { 3, 5 } })    memcopy(B, A, nx, ny)
-- Fields: dev, p, gpu, sides (as they were given), type, eps (the distance from 1 to the type's next
-- number), vector (elements of a 16-byte access), the sides, and what study.arrays and the part's
-- arrays return.

local core = require "moonwarp.core"
local bench = require "moonwarp.measure.bench"
local blame = require "moonwarp.study.blame"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local integer = require "moonwarp.base.integer"
local lists = require "moonwarp.base.lists"
local modules = require "moonwarp.study.modules"
local schema = require "moonwarp.base.schema"

local case = {}

local Case = {}
Case.__index = Case
Case.__name = "case"

case.methods = Case

-- ---- cases --------------------------------------------------------------------------------------

--- The type of a case whose sides name none: the study's, the parameter type, the first of types, or f64.
---@param study table
---@param sides table
---@return string
function case.type_of(study, sides)
  return sides.type or study.head.type or study.p.type or study.p.types and study.p.types[1] or "f64"
end

-- Fields of a case that are not a description's to set.
local OWN = lists.set { "study", "dev", "p", "gpu", "sides", "kept", "is_empty", "type" }

--- Rejects what a description cannot call a field of a case.
---@param name any
function case.check_name(name)
  if type(name) ~= "string" then failure.invalid("names are wanted, as in { x = array }, got a %s", type(name)) end
  if OWN[name] or Case[name] then failure.invalid("'%s' is a case's own; take another name", name) end
end

--- A study as its cases see it on another device: with modules of that device.
---@param study table
---@param dev userdata
---@return table view
function case.view(study, dev)
  local state = { plans = {}, views = study.state.views, kinds = study.state.kinds }
  local own = { dev = dev, gpu = dev:kind() == "gpu", state = state }
  return setmetatable(own, { __index = study })
end

--- The same, made once for each device. Where nothing is timed all is done on the study's own.
---@param study table
---@param id string?   of the device; else the study's own
---@return table? view  nil and why for a GPU that there is not
---@return string? reason
function case.on(study, id)
  local dev = study.dev
  if id and not dev:properties().checks then
    local done, found = failure.catch(core.device, id)
    local word = not done and failure.status(found) == "no_device" and core.device_word(id)
    if word and word.kind == "gpu" then return nil, failure.text(found) end
    dev = done and found or error(found, 0)
  end
  if dev == study.dev then return study end
  local views = study.state.views
  local view = views[dev:id()] or case.view(study, dev)
  views[dev:id()], view.state.in_fibers = view, study.state.in_fibers
  view.state.plans = lists.entry({}, study.state.kinds, view.gpu, view.state.plans) -- the same code, compiled once
  return view
end

--- A case without its arrays.
---@param study table
---@param sides table
---@return table
function case.bare(study, sides)
  local c = setmetatable({ study = study, dev = study.dev, p = study.p, gpu = study.gpu, sides = sides, kept = {} },
    Case)
  c.type = case.type_of(study, sides)
  blame.unknown(study.head, nil, "there is no type", c.type, dtypes)
  c.eps, c.vector = dtypes[c.type].eps or 0, 16 // dtypes[c.type].size
  for name, value in pairs(sides) do
    if name ~= "type" then c[name] = value end
  end
  return c
end

-- The same case with the modules of another device, if an id is given; its arrays are still those of this one.
local function elsewhere(c, id)
  local rung, study, reason = c.study.state.rung, case.on(c.study, id)
  if not study then return nil, reason end
  if study ~= c.study and rung and rung.graph then
    failure.invalid("a graph is of one device: leave out 'graph', or 'device' of the launch")
  end
  return id and c:with { study = study, dev = study.dev, gpu = study.gpu } or c
end

local function null() return core.null end

local LAUNCH <const> = { block = "any", grid = "any", shared = "number", cooperative = "boolean", carveout = "number",
                         cache = "string", stream = "stream", file = "string", source = "string",
                         fast_math = "boolean", compile = "table", device = "string" }

-- A launch's errors are reported before anything is counted with it.
local function check_launch(name, how)
  modules.check_name(name)
  local who = ("kernel '%s'"):format(name)
  if type(how) ~= "table" then failure.invalid("%s: a launch is { block =, grid = }, got %s", who, type(how)) end
  schema.options(who, how, LAUNCH)
  for _, key in ipairs { "block", "grid" } do
    local sizes = lists.of(how[key])
    for _, size in ipairs(sizes) do
      if type(size) ~= "number" or #sizes > 3 then
        failure.invalid("%s: '%s' must be an integer, {x, y, z} or {x =, y =, z =}, got %s", who, key,
          #sizes > 3 and #sizes .. " numbers" or type(size))
      end
    end
  end
end

-- The methods of a case whose launches only plan their kernels.
local PLANNED <const> = { array = null, full = null }

function PLANNED:launch(name, how)
  check_launch(name, how)
  local on = elsewhere(self, how.device)
  if on then modules.plan(on, name, how) end
  return null
end

function PLANNED:resident(name, _, _, how)
  modules.plan(self, name, how or {})
  return 1
end

--- A case whose launches only plan their kernels, before there are arrays; to be closed.
---@param study table
---@param sides table
---@return table
function case.planned(study, sides)
  return case.bare(study, sides):with(PLANNED)
end

-- What a case closes of what its functions return, and a launch may take besides numbers.
local MEMORY = { array = true, texture = true, surface = true }

-- What a function of the description returns, by the names that the kernels' parameters have.
local function add_arrays(c, make)
  local fields = make(c)
  if fields == nil then -- it may set only sides
    c.is_empty = true
    return
  end
  if type(fields) ~= "table" then
    failure.invalid("must return a table such as { x = array, a = 2 }, got %s", type(fields))
  end
  for name, value in pairs(fields) do
    case.check_name(name)
    c[name] = MEMORY[core.type(value)] and c:keep(value) or value
  end
end

--- A case with its arrays, to be closed.
---@param study table
---@param sides table
---@param part table?   whose arrays it has as well
---@return table
function case.new(study, sides, part)
  local c <close> = case.bare(study, sides)
  if study.arrays then blame.on({ at = study.head.at, title = "study.arrays" }, nil, add_arrays, c, study.arrays) end
  if part and part.arrays then blame.on(part, "arrays", add_arrays, c, part.arrays) end
  local whole = c:with {}
  c.kept = {} -- they are the whole one's now
  return whole
end

--- Keeps an array, a graph or a stream until the case is closed.
---@param object userdata
---@return userdata object  the same
function Case:keep(object)
  if not core.type(object) then failure.invalid("c:keep: an array is wanted, got %s", type(object)) end
  self.kept[#self.kept + 1] = object
  return object
end

--- A new array of the case's type, closed with it.
function Case:array(...) return self:keep(self.dev:array(self.type, ...)) end

--- The same, filled with a value.
function Case:full(value, ...) return self:keep(self.dev:full(value, self.type, ...)) end

--- A `__device__` or `__constant__` variable of the study's kernels, as an array.
---@param name string
---@param how table?   file, source, fast_math, as of a launch
---@return userdata array
function Case:variable(name, how) return modules.variable(self, name, how or {}) end

--- A kernel of the study's modules, for its attributes and its occupancy.
---@param name string   %s in it is the case's type in C++
---@param how table?    file, source, fast_math, compile, as of a launch
---@return userdata
function Case:kernel(name, how) return modules.kernel(self, name, how or {}) end

--- The rate of so much work per cycle of each multiprocessor: a bound, for fields of records.
---@param amount number   per cycle and multiprocessor
---@return number?        per second; nil on the CPU device, whose cores have no such cycle
function Case:per_cycle(amount)
  local properties = self.dev:properties()
  return self.gpu and properties.clock and amount * properties.multiprocessors * properties.clock or nil
end

--- A stream of the study, which waits for the default stream and is waited for by it; what a rung with
--- `stream = true` works in.
---@return userdata
function Case:stream()
  local study = self.study
  study.state.stream = study.state.stream or study.dev:stream { blocking = true }
  return study.state.stream
end

--- The same case with other fields, for launches whose arguments have other names.
---@param more table
---@return table
function Case:with(more)
  if type(more) ~= "table" then failure.invalid("c:with: a table of fields is wanted, got %s", type(more)) end
  return setmetatable(lists.merged(self, more), Case)
end

--- Closes what the case keeps.
function Case:close()
  for _, object in ipairs(self.kept) do
    if not core.type(object):find "^closed" then object:close() end -- c:array keeps what study.arrays returns as well
  end
  self.kept = {}
end

Case.__close = Case.close

-- ---- launches -----------------------------------------------------------------------------------

--- Why a case may have no array of a name; nil if none is known.
---@param c table
---@return string?
function case.hint(c)
  if not c.study.arrays then return "the study has no function study.arrays(c)" end
  return c.is_empty and "study.arrays returns nothing" or nil
end

-- What a launch can take from the case: memory and numbers.
local function known_fields(c)
  return table.concat(lists.filter(lists.keys(c), function(name)
    return type(c[name]) == "number" or MEMORY[core.type(c[name])]
  end), ", ")
end

-- The arguments of a kernel, by its parameters' names.
local function arguments(kernel, c, more)
  local args, names = {}, kernel:parameters()
  for i, name in ipairs(names) do
    local value = more[name]
    if value == nil then value = rawget(c, name) end
    if value == nil then
      failure.invalid("kernel '%s', parameter %d '%s': the case has no field of that name; it has %s; %s",
        kernel:name(), i, name, known_fields(c), case.hint(c) or "give it with 'args'")
    end
    args[i] = value
  end
  return args, #names
end

--- The threads of a block, the blocks of a grid.
---@param sizes integer|integer[]
---@return integer
function case.product(sizes)
  local n = 1
  for _, size in ipairs(lists.of(sizes)) do n = n * size end
  return n
end

local function most_at_once(c, kernel, threads, shared)
  return kernel:occupancy(threads, shared or 0).blocks * c.dev:properties().multiprocessors
end

--- How many blocks of a kernel the device holds at once.
---@param name string       of the kernel
---@param threads integer   a block
---@param shared integer?   bytes of dynamic shared memory per block
---@param how table?        file, source, fast_math, compile, as of a launch
---@return integer
function Case:resident(name, threads, shared, how)
  return most_at_once(self, modules.kernel(self, name, how or {}), threads, shared)
end

-- The most blocks of a cooperative launch on the CPU device, whose blocks need not run at once.
local CPU_COOPERATIVE = 256

-- Why the device rejects a launch, or nil.
local function obstacle(c, kernel, how)
  local threads, most = case.product(how.block), kernel:attributes().max_threads
  if threads > most then return ("blocks of %d threads, the kernel takes %d"):format(threads, most) end
  local limits = c.dev:properties().max_grid
  for i, blocks in ipairs(lists.of(how.grid)) do
    if blocks > limits[i] then
      return ("%d blocks along dimension %d, the device takes %d"):format(blocks, i, limits[i])
    end
  end
  if not how.cooperative then return nil end
  local held = c.gpu and most_at_once(c, kernel, threads, how.shared) or CPU_COOPERATIVE
  local blocks = case.product(how.grid)
  if blocks > held then return ("%d blocks at once, the device holds %d"):format(blocks, held) end
end

local KEPT = { "block", "grid", "shared", "cooperative", "carveout", "cache", "stream" }

--- A launch with its arguments by name, ready to be made: from `more`, else from the case. An argument
--- that is a function is called with every launch.
---@param name string    of the kernel; %s in it is the case's type in C++
---@param how table      block, grid, shared, cooperative, carveout, cache, stream; file, source, fast_math and compile,
---                        where not the study's; device: the id of another one, which its arrays are of
---@param more table?    arguments by the parameters' names
---@return function? go  nil if the device does not take it
---@return string? reason
function Case:launch(name, how, more)
  check_launch(name, how)
  local c, missing = elsewhere(self, how.device)
  if not c then return nil, missing end
  local kernel = modules.kernel(c, name, how)
  local reason = obstacle(c, kernel, how)
  if reason then return nil, reason end
  if more ~= nil and type(more) ~= "table" then
    failure.invalid("kernel '%s': arguments are a table by the parameters' names, as in { a = 2 }, got %s",
      kernel:name(), core.type(more) or type(more))
  end
  local shape = {}
  for _, key in ipairs(KEPT) do shape[key] = how[key] end
  local go, args, count = kernel:prepare(shape), arguments(kernel, c, more or {})
  local changing = {}
  for i = 1, count do
    if type(args[i]) == "function" then changing[i] = args[i] end
  end
  if not next(changing) then return function() go(table.unpack(args, 1, count)) end end
  return function()
    for i, fn in pairs(changing) do args[i] = fn() end
    go(table.unpack(args, 1, count))
  end
end

local function is_callable(value)
  return type(value) == "function" or core.type(value) == "launch"
end

--- Several launches in order.
---@param list table[]   of { kernel, how, arguments }, as Case:launch takes them, and of functions
---@return function? go  nil if the device rejects one of them
---@return string? reason
function Case:launches(list)
  local goes = {}
  if type(list) ~= "table" or #list == 0 then
    failure.invalid("c:launches: a list of { kernel, { block =, grid = }, arguments } and functions is wanted")
  end
  for i, one in ipairs(list) do
    local go, reason = one, nil
    if not is_callable(one) then go, reason = self:launch(table.unpack(lists.of(one), 1, 3)) end
    if not go then return nil, reason end
    goes[i] = go
  end
  if #goes == 1 then return goes[1] end
  return function()
    for _, go in ipairs(goes) do go() end
  end
end

-- ---- launches of rungs ---------------------------------------------------------------------------

--- A value of a description, or what its function returns.
---@param value any
---@param ... any   the function's arguments
---@return any
function case.called(value, ...)
  if type(value) == "function" then return value(...) end
  return value
end

-- over: names of the case's sides, or numbers, one per dimension; each: elements per thread.
local function grid_over(rung, c, block)
  local shape, each, grid = lists.of(block), lists.of(case.called(rung.each, c, block)), {}
  for i, side in ipairs(rung.over) do
    local count = type(side) == "number" and side or c[side]
    if math.type(count) ~= "integer" then
      blame.fail(rung, "over", count == nil and "the case has no side '%s'"
        or "side '%s' must be an integer, got %s", side, count)
    end
    local many = each[i] or 1
    if math.type(many) ~= "integer" or many < 1 then
      blame.fail(rung, "each", "elements per thread must be an integer of at least 1, got %s; for several "
        .. "threads per element count threads: c.lanes = 32 * c.n in study.arrays, and over = { \"lanes\" }", many)
    end
    grid[i] = integer.ceil_div(count, (shape[i] or 1) * many)
  end
  return grid
end

--- The blocks that a rung has on an odd case; none if it is not for the case.
---@param rung table
---@param c table
---@return any[]
function case.blocks(rung, c)
  if rung.when and not rung.when(c) then return {} end
  return lists.append(lists.append({}, rung.blocks), rung.odd_blocks)
end

--- The block of a variant on a case.
---@param c table
---@param block any   of rung.blocks
---@return any
function case.block_of(c, block)
  return case.called(block, c) or nil
end

-- How a rung launches, with its module where a launch names no other.
local function in_module(rung, c, block, how)
  return lists.merged({ file = rung.file, source = case.called(rung.source, c, block), fast_math = rung.fast_math,
                        compile = rung.compile }, how)
end

-- The only launch of a rung that is a kernel over its sides.
local function one_launch(rung, c, block)
  local grid
  if rung.grid then grid = rung.grid(c, block) else grid = grid_over(rung, c, block) end
  local how = { block = block, grid = grid, shared = rung.shared and rung.shared(c, block),
                cooperative = rung.cooperative, carveout = rung.carveout, cache = rung.cache }
  local name, args = case.called(rung.kernel, c, block), case.called(rung.args, c, block)
  how = in_module(rung, c, block, how)
  if type(args) == "table" then
    local kernel = modules.kernel(c, name, how)
    local known = lists.set(kernel:parameters())
    for key in pairs(args) do
      blame.unknown(rung, "args", ("kernel '%s' has no parameter"):format(kernel:name()), key, known)
    end
  end
  return { name, how, args }
end

local function launches_of(rung, c, block)
  local list, reason = rung.launches(c, block)
  if list == nil and type(reason) == "string" then return nil, reason end
  return lists.map(type(list) == "table" and #list > 0 and list or { false }, function(one)
    if is_callable(one) then return one end
    if type(one) == "table" and type(one[2]) == "table" then
      return { one[1], in_module(rung, c, block, one[2]), one[3] }
    end
    blame.fail(rung, "launches", "must return a list of { kernel, { block =, grid = }, arguments } and functions, or "
      .. "nil and why the device cannot")
  end)
end

local function made(rung, c, block)
  local go, reason = rung.make(c, block, rung)
  if is_callable(go) or go == nil and type(reason) == "string" then return go, reason end
  blame.fail(rung, "make", "must return a function, or nil and why the device cannot, got %s",
    go == nil and "nothing" or core.type(go) or type(go))
end

-- Replays what a call queues.
local function as_graph(rung, c, go)
  local stream = rung.stream and c:stream() or nil
  local graph = c:keep(bench.captured(go, c.dev, stream))
  return function() graph:launch(stream) end
end

local function queued(rung, c, block)
  if rung.make then return made(rung, c, block) end
  if not rung.launches then return c:launches { one_launch(rung, c, block) } end
  local list, reason = launches_of(rung, c, block)
  if not list then return nil, reason end
  return c:launches(list)
end

local function launcher_of(rung, c, block)
  local go, reason = queued(rung, c, block)
  return go and rung.graph and blame.on(rung, "graph", as_graph, rung, c, go) or go, reason
end

--- The launches of a variant, without the functions between them, by the kernels' full names; none if it is no list.
---@param rung table
---@param c table
---@param block any   of rung.blocks
---@return table[] list   of { kernel, how, arguments }
function case.launches(rung, c, block)
  local list = rung.launches and not rung.make and launches_of(rung, c, case.block_of(c, block)) or {}
  return lists.map(list, function(one)
    return not is_callable(one) and { modules.full_name(c, one[1]), one[2], one[3] } or nil
  end)
end

--- A function that runs a variant once; nil and a reason if the device cannot.
---@param rung table
---@param c table
---@param block any   of rung.blocks
---@return function? go
---@return string? reason
function case.launcher(rung, c, block)
  local state = c.study.state
  state.rung = rung -- whose kernels are asked for
  local _ <close> = setmetatable({}, { __close = function() state.rung = nil end })
  return blame.on(rung, nil, launcher_of, rung, c, case.block_of(c, block))
end

-- Of a list that cannot be made without the case's arrays: its kernels are compiled when they are first launched.
local NEEDS_ARRAYS <const> = { invalid = true, script = true }

local function plan(rung, c, block)
  for _, name in ipairs(lists.of(case.called(rung.kernel, c, block))) do
    modules.plan(c, name, in_module(rung, c, block))
  end
  if not rung.launches then return end
  local done, problem = failure.catch(function() c:launches(launches_of(rung, c, block) or { null }) end)
  if not done and not NEEDS_ARRAYS[failure.status(problem)] then error(problem, 0) end
end

--- Plans the kernels of a variant, before the case has its arrays.
---@param rung table
---@param c table     a planned case
---@param block any   of rung.blocks
function case.plan(rung, c, block)
  blame.on(rung, nil, plan, rung, c, case.block_of(c, block))
end

return case
