-- SPDX-License-Identifier: MIT
--
-- The flow over two devices: cells in order, half of them each. A device owns its cells, and computes those faces and
-- cells of the other that its own ones need: owner computes, with redundant cells. After each stage it gets their q.

local mw, mesh = require "moonwarp", require "moonwarp.mesh"
local flow = require "flow"

local devices = {}

local MAPS <const> = { pcell = { "cells", "nodes" }, pedge = { "edges", "nodes" }, pecell = { "edges", "cells" },
                       pbedge = { "bedges", "nodes" }, pbecell = { "bedges", "cells" } }
local SETS <const> = { "cells", "nodes", "edges", "bedges" }

-- Contiguous cells of about the same number for each of so many parts.
local function divided(g, count)
  local spec = { sets = {}, target = "cells", owners = {}, maps = {} }
  for _, name in ipairs(SETS) do spec.sets[name] = g[name] end
  for name, ends in pairs(MAPS) do spec.maps[name] = { ends[1], ends[2], g[name] } end
  for cell = 0, g.cells - 1 do spec.owners[cell + 1] = cell * count // g.cells + 1 end
  return mesh.partition(spec)
end

-- A part as a grid of its own.
local function grid_of(g, part)
  local out = { x = {}, bound = {} }
  for name, list in pairs(part.sets) do out[name] = #list end
  for name, numbers in pairs(part.maps) do out[name] = numbers end
  for i, node in ipairs(part.sets.nodes) do out.x[2 * i - 1], out.x[2 * i] = g.x[2 * node + 1], g.x[2 * node + 2] end
  for i, edge in ipairs(part.sets.bedges) do out.bound[i] = g.bound[edge + 1] end
  return out
end

-- The program on a grid of which the first `own` cells are updated. Sums of a cell have the same order on all devices,
-- and each operation is rounded by itself, so that the bits are the same.
local function program(dev, g, own, type)
  local f = flow.mesh(dev, g, flow.arrays(dev, g, type, "aos"), type, "aos", false)
  flow.prepare(f)
  f.begin()
  local owned, m = { cells = f.mesh:set("own", own) }, f.mesh
  for _, name in ipairs { "q", "qold", "res", "adt" } do
    owned[name] = m:dat("own_" .. name, owned.cells, f[name].dim, f[name].array:view(1, f[name].dim * own))
  end
  setmetatable(owned, { __index = f })
  f.save, f.adt_calc, f.res_calc, f.bres_calc, f.clear, f.update = m:compile {
    flow.loop(owned, "save_soln"), flow.loop(f, "adt_calc"), flow.loop(f, "res_calc", { by = "owner" }),
    flow.loop(f, "bres_calc", { by = "owner" }), flow.loop(f, "clear"), flow.loop(owned, "update") }
  return f
end

-- A step of several programs, each loop on all devices before the next.
local function stepper(programs, exchange)
  local function all(name) for _, f in ipairs(programs) do f[name]() end end
  return function()
    all "save"
    for _ = 1, 2 do
      for _, name in ipairs { "adt_calc", "res_calc", "bres_calc", "clear", "update" } do all(name) end
      exchange()
    end
  end
end

-- One device and two: GPUs where there is a second one, else the CPU device and its halves.
local function opened(dev)
  local is_gpu = dev:kind() == "gpu"
  for _, peer in ipairs(is_gpu and dev:peers() or {}) do
    if peer.access then return dev, { dev, mw.device(peer.id) } end
  end
  return is_gpu and mw.device "cpu" or dev, { mw.device "cpu:0/2", mw.device "cpu:1/2" }
end

local function squares(programs)
  local sum = 0
  for _, f in ipairs(programs) do sum = sum + f.rms.array:get(1) end
  return sum
end

--- Runs some steps on one device and on two, and compares: the same bits of q, and the residual to rounding.
---@param own userdata     the study's device
---@param g table          of grid.naca0012
---@param type string
---@param steps integer
function devices.run(own, g, type, steps)
  local dev, list = opened(own)
  local parts, programs, dats = divided(g, 2), {}, {}
  local alone = program(dev, g, g.cells, type)
  for i, part in ipairs(parts) do
    programs[i] = program(list[i], grid_of(g, part), part.own, type)
    dats[i] = programs[i].q
  end
  local step, step_alone = stepper(programs, mesh.exchange(parts, dats)), stepper({ alone }, function() end)
  for _ = 1, steps do
    step()
    step_alone()
  end
  local first = 1
  for i, part in ipairs(parts) do
    local n = 4 * part.own
    mw.check(dats[i].array:view(1, n), alone.q.array:view(first, n):totable(),
      { absolute = 0, name = "q of two devices" })
    first = first + n
  end
  local sum, other = squares(programs), squares { alone }
  mw.check(dev:array("f64", { sum }), { other }, { relative = 1e3 * (type == "f64" and 2^-53 or 2^-24),
                                                   name = "the residual of two devices" })
  local function step_both()
    step()
    list[2]:synchronize() -- the clock waits for the first
  end
  local t = mw.bench({ alone = step_alone, two = step_both }, { device = list[1], clock = "host", samples = 10 })
  local records = {}
  for i, part in ipairs(parts) do
    records[i] = mw.record { study = "airfoil", group = "devices", part = list[i]:id(), own = part.own,
      copies = #part.sets.cells - part.own, edges = #part.sets.edges, t = t.two, alone = t.alone, device = dev,
      redundant_edges = #parts[1].sets.edges + #parts[2].sets.edges - g.edges }
  end
  mw.table { "part", "own", "copies", "edges", { "redundant_edges", title = "redundant edges" },
             { "alone", title = "step on one" }, { "t", title = "step on two" }, records = records,
             title = ("airfoil: %d cells over two devices"):format(g.cells) }
end

return devices
