-- SPDX-License-Identifier: MIT
--
-- The airfoil program on moonwarp.mesh: sets, maps, data and the loops of a grid, and its time step.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local mesh = require "moonwarp.mesh"

local flow = {}

-- The numbers of OP2's source, floats also where the rest is double.
local function as_float(x) return (string.unpack("f", string.pack("f", x))) end

local function constants()
  local gam = as_float(1.4)
  local gm1, u = gam - 1, math.sqrt(gam) * as_float(0.4) -- Mach 0.4; pressure and density are 1
  return { gam = gam, gm1 = gm1, cfl = as_float(0.9), eps = as_float(0.05), qinf0 = 1, qinf1 = u, qinf2 = 0,
           qinf3 = 1 / gm1 + 0.5 * u * u }
end

flow.constants = constants()

local BINS <const> = 1024 -- of sums over cells: adding one by one in each, where rounding matters less than in one

-- The loops of a stage, in order; save_soln comes before the first of two.
local STAGE <const> = { "adt_calc", "res_calc", "bres_calc", "clear", "update" }

-- Numbers of a field with `dim` of them per element, element after element, in the layout.
local function laid_out(packed, n, dim, layout)
  if layout == "aos" then return packed end
  local out = {}
  for d = 0, dim - 1 do
    for k = 0, n - 1 do out[d * n + k + 1] = packed[k * dim + d + 1] end
  end
  return out
end

-- The bin of each cell, kept with the grid.
local function bins_of(g)
  g.bin = g.bin or {}
  for k = #g.bin, g.cells - 1 do g.bin[k + 1] = k % BINS end
end

--- The arrays of a grid on a device: maps, places, data.
---@param dev userdata
---@param g table        of grid.naca0012
---@param type string    "f32", "f64"
---@param layout string  "aos", "soa"
---@return table
function flow.arrays(dev, g, type, layout)
  bins_of(g)
  local a = { x = dev:array(type, laid_out(g.x, g.nodes, 2, layout)), bound = dev:array("i32", g.bound),
              adt = dev:array(type, g.cells), rms = dev:zeros(type, 1), totals = dev:zeros(type, 8 * BINS),
              noise = dev:array(type, g.cells):random(1) }
  for _, name in ipairs { "pcell", "pedge", "pecell", "pbedge", "pbecell", "bin" } do
    a[name] = dev:array("i32", g[name])
  end
  for _, name in ipairs { "q", "qold", "res" } do a[name] = dev:array(type, 4 * g.cells) end
  return a
end

--- A mesh with the grid's sets, maps and data, as fields of a table.
---@param dev userdata
---@param g table
---@param a table        of flow.arrays
---@param type string
---@param layout string
---@param contract boolean?  of mesh.new
---@return table
function flow.mesh(dev, g, a, type, layout, contract)
  local text = assert(files.read(core.home() .. "/kernels/airfoil.cuh"))
  local m = mesh.new(dev, { type = type, layout = layout, constants = flow.constants, kernels = text,
                             contract = contract })
  local f = { mesh = m, arrays = a }
  for _, name in ipairs { "nodes", "cells", "edges", "bedges" } do f[name] = m:set(name, g[name]) end
  local function map(name, from, to, arity) f[name] = m:map(name, from, to, arity, a[name]) end
  map("pcell", f.cells, f.nodes, 4)
  map("pedge", f.edges, f.nodes, 2)
  map("pecell", f.edges, f.cells, 2)
  map("pbedge", f.bedges, f.nodes, 2)
  map("pbecell", f.bedges, f.cells, 1)
  f.bins = m:set("bins", BINS)
  map("bin", f.cells, f.bins, 1)
  local function dat(name, set, dim) f[name] = m:dat(name, set, dim, a[name]) end
  dat("x", f.nodes, 2)
  dat("bound", f.bedges, 1)
  dat("adt", f.cells, 1)
  dat("noise", f.cells, 1)
  for _, name in ipairs { "q", "qold", "res" } do dat(name, f.cells, 4) end
  f.rms, f.one = m:global("rms", 1, a.rms), m:set("one", 1)
  f.rms_before = m:dat("rms_before", f.one, 1, a.rms)
  return f
end

-- The set and the arguments of each loop.
local function arguments(f, name)
  local x, q, adt, res, read, inc = f.x, f.q, f.adt, f.res, "read", "inc"
  if name == "save_soln" then
    return f.cells, { { q, read }, { f.qold, "write" } }
  elseif name == "adt_calc" then
    return f.cells, { { x, f.pcell, 1, read }, { x, f.pcell, 2, read }, { x, f.pcell, 3, read },
                      { x, f.pcell, 4, read }, { q, read }, { adt, "write" } }
  elseif name == "res_calc" then
    return f.edges, { { x, f.pedge, 1, read }, { x, f.pedge, 2, read }, { q, f.pecell, 1, read },
                      { q, f.pecell, 2, read }, { adt, f.pecell, 1, read }, { adt, f.pecell, 2, read },
                      { res, f.pecell, 1, inc }, { res, f.pecell, 2, inc } }
  elseif name == "bres_calc" then
    return f.bedges, { { x, f.pbedge, 1, read }, { x, f.pbedge, 2, read }, { q, f.pbecell, 1, read },
                       { adt, f.pbecell, 1, read }, { res, f.pbecell, 1, inc }, { f.bound, read } }
  end
  if name == "clear" then return f.one, { { f.rms_before, "write" } } end
  return f.cells, { { f.qold, read }, { q, "write" }, { res, "rw" }, { adt, read }, { f.rms, inc } }
end

--- A loop of the program as launches, by the name of its kernel.
---@param f table          of flow.mesh
---@param name string
---@param options table?   of par_loop
---@return table loop
function flow.loop(f, name, options)
  local set, args = arguments(f, name)
  return f.mesh:loop(set, name, args, options)
end

--- A step as a list of launches.
---@param loops table   of flow.loop, by the kernels' names
---@return table list
function flow.step(loops)
  local list = table.move(loops.save_soln.launches, 1, #loops.save_soln.launches, 1, {})
  for _ = 1, 2 do
    for _, name in ipairs(STAGE) do table.move(loops[name].launches, 1, #loops[name].launches, #list + 1, list) end
  end
  return list
end

--- Compiles what is before and after the flow: f.begin(), the undisturbed flow; f.disturb(), one that is nowhere the
--- same; f.lost(), what flows out of all cells together over how much flows, of each of the four values: 0 but for
--- rounding, for what leaves a cell enters its neighbour.
function flow.prepare(f)
  local m, totals, total = f.mesh, f.arrays.totals
  local sum, size = m:dat("sum", f.bins, 4, totals:view(1, 4 * BINS)),
    m:dat("size", f.bins, 4, totals:view(4 * BINS + 1, 4 * BINS))
  f.begin, f.disturb, total = m:compile {
    m:loop(f.cells, "undisturbed", { { f.q, "write" }, { f.res, "write" } }),
    m:loop(f.cells, "disturb", { { f.noise, "read" }, { f.q, "write" }, { f.adt, "write" } }),
    m:loop(f.cells, "total", { { f.res, "read" }, { sum, f.bin, 1, "inc" }, { size, f.bin, 1, "inc" } }) }
  function f.lost()
    totals:fill(0)
    total()
    local list, flows, sizes = totals:totable(), { 0, 0, 0, 0 }, { 0, 0, 0, 0 }
    for k = 0, 4 * BINS - 1 do
      local d = m.layout == "soa" and k // BINS + 1 or k % 4 + 1
      flows[d], sizes[d] = flows[d] + list[k + 1], sizes[d] + list[4 * BINS + k + 1]
    end
    for d = 1, 4 do flows[d] = flows[d] / sizes[d] end
    return flows
  end
end

--- The residual of the last stage: the root of the mean square of the cells' changes.
function flow.residual(f) return math.sqrt(f.rms.array:get(1) / f.cells.n) end

--- What is seen of a flow: the pressure at points, by the cells that they are in, NaN where they are in none, and the
--- pressure coefficient at the edges of the boundary.
---@param f table
---@param cells table     cells from 0, or false
---@param width integer
---@param height integer
---@return userdata picture
---@return function paint          makes the picture
---@return function coefficients   returns a list
function flow.views(f, cells, width, height)
  local m, dev, where, body = f.mesh, f.mesh.dev, {}, {}
  for i, cell in ipairs(cells) do where[i], body[i] = cell or 0, cell and 0 or 1 end
  local picture, cp = dev:array(m.type, width, height), dev:array(m.type, f.bedges.n)
  local points = m:set("points", #cells)
  local within = m:map("within", points, f.cells, 1, dev:array("i32", where))
  local paint, coefficient = m:compile {
    m:loop(points, "paint", { { f.q, within, 1, "read" },
                              { m:dat("is_body", points, 1, dev:array("i32", body)), "read" },
                              { m:dat("picture", points, 1, picture), "write" } }),
    m:loop(f.bedges, "coefficient", { { f.q, f.pbecell, 1, "read" }, { m:dat("cp", f.bedges, 1, cp), "write" } }) }
  return picture, paint, function()
    coefficient()
    return cp:totable()
  end
end

return flow
