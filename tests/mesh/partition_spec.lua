-- SPDX-License-Identifier: MIT
--
-- A mesh over several devices: what each part has, and that loops with exchanges compute what one device would.

local mesh = require "moonwarp.mesh"
local support = require "tests.support"
local mw = support.mw

local KERNELS <const> = [[
__device__ void flow(const REAL w[1], const REAL u1[2], const REAL u2[2], REAL y1[2], REAL y2[2]) {
  for (int k = 0; k < 2; k++) {
    y1[k] += w[0] * u2[k] + k;
    y2[k] -= w[0] * u1[k];
  }
}
__device__ void add(const REAL y[2], REAL u[2]) { for (int k = 0; k < 2; k++) u[k] += y[k]; }
]]
local NODES <const>, EDGES <const> = 23, 61

-- Edges between nodes near and far, the first column before the second one.
local function ends()
  local list = {}
  for e = 0, EDGES - 1 do
    list[e + 1] = e * 5 % NODES
    list[EDGES + e + 1] = (e * 5 + 1 + e % 7) % NODES
  end
  return list
end

local function weight(e) return e % 3 - 1.0 end
local function start(node, k) return node * 2.0 + k end

local function by_host(steps)
  local list, u = ends(), {}
  for i = 0, 2 * NODES - 1 do u[i + 1] = start(i // 2, i % 2) end
  for _ = 1, steps do
    local y = {}
    for i = 1, 2 * NODES do y[i] = 0 end
    for e = 0, EDGES - 1 do
      for k = 1, 2 do
        local a, b = 2 * list[e + 1] + k, 2 * list[EDGES + e + 1] + k
        y[a], y[b] = y[a] + weight(e) * u[b] + (k - 1), y[b] - weight(e) * u[a]
      end
    end
    for i = 1, 2 * NODES do u[i] = u[i] + y[i] end
  end
  return u
end

-- The part's mesh: its loops, and u.
local function program(dev, part)
  local m, nodes, edges, w, u = mesh.new(dev, { kernels = KERNELS }), part.sets.nodes, part.sets.edges, {}, {}
  for i, e in ipairs(edges) do w[i] = weight(e) end
  for i, node in ipairs(nodes) do u[2 * i - 1], u[2 * i] = start(node, 0), start(node, 1) end
  local all, own = m:set("nodes", #nodes), m:set("own", part.own)
  local y = dev:zeros("f64", 2 * #nodes)
  local f = { u = m:dat("u", all, 2, dev:array("f64", u)) }
  local lines = m:set("edges", #edges)
  local map = m:map("ends", lines, all, 2, dev:array("i32", part.maps.ends))
  local u_dat, y_dat = f.u, m:dat("y", all, 2, y)
  local flow, add = m:compile {
    m:loop(lines, "flow", { { m:dat("w", lines, 1, dev:array("f64", w)), "read" }, { u_dat, map, 1, "read" },
      { u_dat, map, 2, "read" }, { y_dat, map, 1, "inc" }, { y_dat, map, 2, "inc" } }),
    m:loop(own, "add", { { m:dat("own_y", own, 2, y:view(1, 2 * part.own)), "read" },
      { m:dat("own_u", own, 2, u_dat.array:view(1, 2 * part.own)), "rw" } }) }
  function f.step()
    y:fill(0)
    flow()
    add()
  end
  return f
end

local function spec(owners)
  return { sets = { nodes = NODES, edges = EDGES }, target = "nodes", owners = owners,
           maps = { ends = { "edges", "nodes", ends() } } }
end

local function owners_of(owner)
  local list = {}
  for node = 0, NODES - 1 do list[node + 1] = owner(node) end
  return list
end

describe("mesh.partition", function()
  for name, owner in pairs {
    ["in a row"] = function(node) return node * 3 // NODES + 1 end,
    ["in turn"] = function(node) return node % 3 + 1 end,
    ["one of one part"] = function(node) return node == 7 and 2 or node == 8 and 3 or 1 end,
  } do
    it("computes what one device would, nodes " .. name, function()
      local parts, programs, dats = mesh.partition(spec(owners_of(owner))), {}, {}
      for i, part in ipairs(parts) do
        programs[i] = program(mw.device(("cpu:%d/3"):format(i - 1)), part)
        dats[i] = programs[i].u
      end
      local exchange, wanted = mesh.exchange(parts, dats), by_host(4)
      for _ = 1, 4 do
        for _, one in ipairs(programs) do one.step() end
        exchange()
      end
      for i, part in ipairs(parts) do
        local got = dats[i].array:totable()
        for k, node in ipairs(part.sets.nodes) do -- the copies as well
          for d = 1, 2 do assert.are.equal(wanted[2 * node + d], got[2 * (k - 1) + d]) end
        end
      end
    end)
  end

  it("gives each part its targets, then copies by their owners, and elements at a border to both", function()
    local parts = mesh.partition { sets = { cells = 6, edges = 5, nodes = 7 }, target = "cells",
      owners = { 2, 2, 1, 1, 3, 3 },
      maps = { sides = { "edges", "cells", { 0, 1, 2, 3, 4, 1, 2, 3, 4, 5 } },
               corners = { "cells", "nodes", { 0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6 } } } }
    assert.are.same({ cells = { 2, 3, 1, 4 }, edges = { 1, 2, 3 }, nodes = { 1, 2, 3, 4, 5 } }, parts[1].sets)
    assert.are.same({ cells = { 0, 1, 2 }, edges = { 0, 1 }, nodes = { 0, 1, 2, 3 } }, parts[2].sets)
    assert.are.same({ { part = 2, first = 2, count = 1 }, { part = 3, first = 3, count = 1 } }, parts[1].copies)
    assert.are.same({ sides = { 2, 0, 1, 0, 1, 3 }, corners = { 1, 2, 0, 3, 2, 3, 1, 4 } }, parts[1].maps)
    assert.are.same({ 2, 2, 2 }, { parts[1].own, parts[2].own, parts[3].own })
  end)

  it("says what is wrong with what it is given", function()
    local function refused(text, change)
      local o = spec(owners_of(function(node) return node < 10 and 1 or 2 end))
      change(o)
      local _, problem = pcall(mesh.partition, o)
      assert.is_truthy(tostring(problem):find(text, 1, true), tostring(problem))
    end
    refused("mesh.partition: option 'owners' is wanted", function(o) o.owners = nil end)
    refused("mesh.partition: the target 'cells' is none of the sets", function(o) o.target = "cells" end)
    refused("mesh.partition: 'nodes' has 23 elements, got 22 owners", function(o) table.remove(o.owners) end)
    refused("mesh.partition: an owner is a part from 1 on, got 0", function(o) o.owners[3] = 0 end)
    refused("mesh.partition: part 3 owns nothing", function(o) o.owners[3] = 4 end)
    refused("mesh.partition: map 'ends': { set, set, numbers } of two of the sets is wanted", function(o)
      o.maps.ends[2] = "cells"
    end)
    refused("mesh.partition: map 'ends': 121 numbers are no columns of the 61 elements of 'edges'", function(o)
      table.remove(o.maps.ends[3])
    end)
    refused("mesh.partition: map 'ends' leads to element 23: 'nodes' has 0 to 22", function(o)
      o.maps.ends[3][5] = 23
    end)
    refused("mesh.partition: map 'same': elements of 'nodes' are divided by the targets", function(o)
      o.maps.same = { "nodes", "nodes", owners_of(math.abs) }
    end)
    refused("mesh.partition: map 'back': elements of 'nodes' are divided by the targets 'nodes' that they lead to, and "
      .. "those of 'edges' by what leads to them", function(o)
      o.maps.back = { "nodes", "edges", owners_of(math.abs) }
    end)
  end)

  it("says what is wrong with dats to exchange", function()
    local parts = mesh.partition(spec(owners_of(function(node) return node < 10 and 1 or 2 end)))
    local dats = {}
    for i, part in ipairs(parts) do
      local dev = mw.device(("cpu:%d/2"):format(i - 1))
      local m, n = mesh.new(dev, { layout = i == 1 and "aos" or "soa" }), #part.sets.nodes
      dats[i] = m:dat("u", m:set("nodes", n), 2, dev:zeros("f64", 2 * n))
    end
    local function refused(text, ...)
      local _, problem = pcall(mesh.exchange, parts, ...)
      assert.is_truthy(tostring(problem):find(text, 1, true), tostring(problem))
    end
    refused("mesh.exchange: 2 dats, one for each part, are wanted, got 1", { dats[1] })
    refused("mesh.exchange: a dat of part 2 is wanted, got number", { dats[1], 2 })
    refused("mesh.exchange: dat 'u' of part 2: 2 values of f64 per element in \"aos\" are wanted", dats)
    dats[1].array:close()
    refused("mesh.exchange: a dat of part 1 is wanted, got table", dats)
  end)
end)
