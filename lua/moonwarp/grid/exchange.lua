-- SPDX-License-Identifier: MIT
--
-- The exchange of halos, one dimension after the other. A face that is contiguous in memory is copied. For others a
-- kernel stores into the neighbour's array or, if the device cannot access it, the face is packed, copied and unpacked.
-- Between processes, or everywhere with via = "comm", packed faces are sent and received.

local dtypes = require "moonwarp.base.dtypes"
local integer = require "moonwarp.base.integer"
local lists = require "moonwarp.base.lists"
local own_kernels = require "moonwarp.own_kernels"
local parts = require "moonwarp.grid.parts"

local exchange = {}

local BLOCK <const> = 256

-- ---- boxes -------------------------------------------------------------------------------------------

--- A copy of a box by a kernel, as a function.
---@param device userdata
---@param stream userdata?
---@param to table      array; part and box, or of a buffer none
---@param from table
---@param size integer[]
---@return function
function exchange.box(device, stream, to, from, size)
  local n, x, y = size[1] * size[2] * size[3], to.array, from.array
  local kernel = own_kernels.kernel(device, "moonwarp/grid.cu", ("copy_box<%s>"):format(dtypes[x:dtype()].cpp))
  local go = kernel:prepare { grid = integer.ceil_div(n, BLOCK), block = BLOCK, stream = stream }
  local function place(one)
    if one.part then return parts.place(one.part, one.box) end
    return 0, size[1], size[1] * size[2]
  end
  local first, row, plane = place(to)
  local from_first, from_row, from_plane = place(from)
  return function() go(x, y, first, row, plane, from_first, from_row, from_plane, size[1], size[2], n) end
end

-- ---- messages ----------------------------------------------------------------------------------------

-- Whether a face is contiguous in memory.
local function is_whole(box, k)
  for j = k + 1, 3 do if box.size[j] > 1 then return false end end
  return true
end

local function reaches(device, other)
  return device == other or lists.find(device:peers(), function(peer) return peer.id == other:id() and peer.access end)
end

-- The face of an array at a side, 1 or 2, and the halo of the neighbour at that side which it fills.
local function face_of(grid, part, k, side)
  return parts.face(grid, part, k, side == 1 and grid.halo[k] or part.size[k])
end

local function halo_of(grid, part, k, side)
  return parts.face(grid, part, k, side == 1 and grid.halo[k] + part.size[k] or 0)
end

-- The number of a part of this process whose arrays this one writes directly.
local function here(grid, part, rank)
  return (grid.via ~= "comm" or rank == part.rank) and grid.places[rank]
end

local function add_local(phase, k, from, to, i, j, streams)
  local stream = streams[i]
  if is_whole(from.box, k) then
    local o = { from = parts.place(from.part, from.box) + 1, to = parts.place(to.part, to.box) + 1,
                count = parts.count(from.box), stream = stream }
    lists.append(phase.sends[i], { function() to.array:copy(from.array, o) end })
  elseif reaches(from.part.device, to.part.device) then
    lists.append(phase.sends[i], { exchange.box(from.part.device, stream, to, from, from.box.size) })
  else
    local dtype, count = from.array:dtype(), parts.count(from.box)
    local packed, arrived = from.part.device:empty(dtype, count), to.part.device:empty(dtype, count)
    lists.append(phase.sends[i], { exchange.box(from.part.device, stream, { array = packed }, from, from.box.size),
                                   function() arrived:copy(packed, { stream = stream }) end })
    lists.append(phase.takes[j], { exchange.box(to.part.device, streams[j], to, { array = arrived }, to.box.size) })
  end
end

-- The data of a face to send or receive: the face itself if contiguous, or a buffer.
local function piece_of(one, k)
  local count = parts.count(one.box)
  if is_whole(one.box, k) then return one.array:view(parts.place(one.part, one.box) + 1, count), false end
  return one.part.device:empty(one.array:dtype(), count), true
end

local function add_send(grid, phase, k, from, rank, stream)
  local piece, is_buffer = piece_of(from, k)
  if is_buffer then
    lists.append(phase.sends[from.part.number], {
      exchange.box(from.part.device, stream, { array = piece }, from, from.box.size) })
  end
  local o = { stream = stream }
  lists.append(phase.posts, { function() grid.comm:send(piece, rank, o) end })
end

local function add_receive(grid, phase, k, to, rank, stream)
  local piece, is_buffer = piece_of(to, k)
  if is_buffer then
    lists.append(phase.takes[to.part.number], {
      exchange.box(to.part.device, stream, to, { array = piece }, to.box.size) })
  end
  local o = { stream = stream }
  lists.append(phase.posts, { function() grid.comm:recv(piece, rank, o) end })
end

-- The face of one side of a part, and the halo of the other side. Each rank goes through the sides in this order, so
-- that messages between the same two ranks are received in the order in which they were sent.
local function add_side(grid, phase, k, side, part, arrays, streams)
  local function at(number, box)
    return { part = grid.parts[number], array = arrays[number], box = box(grid, grid.parts[number], k, side) }
  end
  local i, to, from = part.number, part.neighbours[k][side], part.neighbours[k][3 - side]
  local j = to and here(grid, part, to)
  if j then
    add_local(phase, k, at(i, face_of), at(j, halo_of), i, j, streams)
  elseif to then
    add_send(grid, phase, k, at(i, face_of), to, streams[i])
  end
  if from and not here(grid, part, from) then add_receive(grid, phase, k, at(i, halo_of), from, streams[i]) end
end

local function each(list) for _, f in ipairs(list) do f() end end

--- A plan to exchange the halos of some arrays: for each dimension what each part does before and after the parts wait
--- for each other, and the messages between.
---@param grid table
---@param arrays userdata[]   one for each part
---@param streams userdata[]  the same
---@return table plan
function exchange.plan(grid, arrays, streams)
  local plan = { arrays = { table.unpack(arrays) } }
  for k = 1, 3 do
    local phase = { posts = {}, sends = {}, takes = {} }
    for i in ipairs(grid.parts) do phase.sends[i], phase.takes[i] = {}, {} end
    for side = 1, 2 do
      for _, part in ipairs(grid.parts) do add_side(grid, phase, k, side, part, plan.arrays, streams) end
    end
    local posts = phase.posts
    phase.post = posts[1] and function() grid.comm:group(function() each(posts) end) end
    plan[k] = phase
  end
  return plan
end

-- ---- running -----------------------------------------------------------------------------------------

--- The parts here that a part exchanges with along each dimension, apart from itself.
---@param grid table
---@param part table
---@return integer[][] numbers  of parts, for each dimension
function exchange.beside(grid, part)
  return lists.map(part.neighbours, function(sides)
    local found = {}
    for _, rank in ipairs(sides) do
      local j = rank and here(grid, part, rank)
      if j and j ~= part.number and not lists.has(found, j) then found[#found + 1] = j end
    end
    return found
  end)
end

-- Each stream waits for those of its part's neighbours along a dimension.
local function meet(grid, streams, k, events)
  for i, stream in ipairs(streams) do stream:record(events[i]) end
  for i, stream in ipairs(streams) do
    for _, j in ipairs(grid.parts[i].beside[k]) do stream:wait(events[j]) end
  end
end

--- Queues an exchange. A neighbour may write a part's halos as soon as its event in `ready` is reached.
---@param grid table
---@param plans table[]
---@param streams userdata[]  those of the plans
---@param ready userdata[]    events, which were recorded
function exchange.run(grid, plans, streams, ready)
  for i, part in ipairs(grid.parts) do
    for k = 1, 3 do for _, j in ipairs(part.beside[k]) do streams[i]:wait(ready[j]) end end
  end
  for k = 1, 3 do
    if grid.exchanged[k] then
      for _, plan in ipairs(plans) do
        for _, sends in ipairs(plan[k].sends) do each(sends) end
        if plan[k].post then plan[k].post() end
      end
      meet(grid, streams, k, grid.sent)
      for _, plan in ipairs(plans) do for _, takes in ipairs(plan[k].takes) do each(takes) end end
    end
  end
end

return exchange
