-- SPDX-License-Identifier: MIT
--
-- The loops of airfoil on the host, one element after the other, from the arrays of a case: what is right. A field is a
-- table by element from 0; of q, qold and res it holds lists of four numbers.

local flow = require "flow"

local host = {}

local C = flow.constants

-- A field of a case with `dim` numbers per element; those with one number are numbers.
local function field(c, name, n, dim)
  local list, out = c[name]:totable(), {}
  for e = 0, n - 1 do
    if dim == 1 then
      out[e] = list[e + 1]
    else
      out[e] = {}
      for d = 0, dim - 1 do out[e][d + 1] = list[(c.layout == "soa" and d * n + e or e * dim + d) + 1] end
    end
  end
  return out
end

--- A field as a list in the layout of the case.
function host.listed(c, values, dim)
  local out, n = {}, #values + 1
  for e = 0, n - 1 do
    for d = 0, dim - 1 do
      out[(c.layout == "soa" and d * n + e or e * dim + d) + 1] = dim == 1 and values[e] or values[e][d + 1]
    end
  end
  return out
end

local function flux(dx, dy, q1, q2, mu)
  local over1, over2 = 1 / q1[1], 1 / q2[1]
  local p1 = C.gm1 * (q1[4] - 0.5 * over1 * (q1[2] ^ 2 + q1[3] ^ 2))
  local p2 = C.gm1 * (q2[4] - 0.5 * over2 * (q2[2] ^ 2 + q2[3] ^ 2))
  local v1, v2 = over1 * (q1[2] * dy - q1[3] * dx), over2 * (q2[2] * dy - q2[3] * dx)
  return { 0.5 * (v1 * q1[1] + v2 * q2[1]) + mu * (q1[1] - q2[1]),
           0.5 * (v1 * q1[2] + p1 * dy + v2 * q2[2] + p2 * dy) + mu * (q1[2] - q2[2]),
           0.5 * (v1 * q1[3] - p1 * dx + v2 * q2[3] - p2 * dx) + mu * (q1[3] - q2[3]),
           0.5 * (v1 * (q1[4] + p1) + v2 * (q2[4] + p2)) + mu * (q1[4] - q2[4]) }, p1
end

-- Column k, from 1, of element e, of a map with n elements.
local function at(map, k, n, e) return map[(k - 1) * n + e + 1] end

--- Adds what res_calc does.
function host.res_calc(c, q, adt, res)
  local g, x = c.grid, field(c, "x", c.grid.nodes, 2)
  for e = 0, g.edges - 1 do
    local a, b = x[at(g.pedge, 1, g.edges, e)], x[at(g.pedge, 2, g.edges, e)]
    local c1, c2 = at(g.pecell, 1, g.edges, e), at(g.pecell, 2, g.edges, e)
    local f = flux(a[1] - b[1], a[2] - b[2], q[c1], q[c2], 0.5 * (adt[c1] + adt[c2]) * C.eps)
    for k = 1, 4 do res[c1][k], res[c2][k] = res[c1][k] + f[k], res[c2][k] - f[k] end
  end
  return res
end

--- Adds what bres_calc does.
function host.bres_calc(c, q, adt, res)
  local g, x, far = c.grid, field(c, "x", c.grid.nodes, 2), { C.qinf0, C.qinf1, C.qinf2, C.qinf3 }
  for e = 0, g.bedges - 1 do
    local a, b, own = x[at(g.pbedge, 1, g.bedges, e)], x[at(g.pbedge, 2, g.bedges, e)], g.pbecell[e + 1]
    local dx, dy = a[1] - b[1], a[2] - b[2]
    local f, p = flux(dx, dy, q[own], far, adt[own] * C.eps)
    if g.bound[e + 1] == 1 then f = { 0, p * dy, -p * dx, 0 } end
    for k = 1, 4 do res[own][k] = res[own][k] + f[k] end
  end
  return res
end

--- What adt_calc makes of q.
function host.adt_calc(c, q)
  local g, x, adt = c.grid, field(c, "x", c.grid.nodes, 2), {}
  for e = 0, g.cells - 1 do
    local r, sum = q[e], 0.0
    local u, v = r[2] / r[1], r[3] / r[1]
    local speed = math.sqrt(C.gam * C.gm1 * (r[4] / r[1] - 0.5 * (u * u + v * v)))
    for k = 1, 4 do
      local a, b = x[at(g.pcell, k, g.cells, e)], x[at(g.pcell, k % 4 + 1, g.cells, e)]
      local dx, dy = b[1] - a[1], b[2] - a[2]
      sum = sum + math.abs(u * dy - v * dx) + speed * math.sqrt(dx * dx + dy * dy)
    end
    adt[e] = sum / C.cfl
  end
  return adt
end

--- What update makes of qold and res.
function host.update(c, qold, res, adt)
  local q = {}
  for e = 0, c.grid.cells - 1 do
    q[e] = {}
    for k = 1, 4 do q[e][k] = qold[e][k] - res[e][k] / adt[e] end
  end
  return q
end

--- A field of a case's cells by its name.
function host.cells(c, name) return field(c, name, c.grid.cells, name:find "^adt" and 1 or 4) end

--- Zeros, four per cell.
function host.zeros(c)
  local out = {}
  for e = 0, c.grid.cells - 1 do out[e] = { 0.0, 0.0, 0.0, 0.0 } end
  return out
end

--- A whole step from q.
function host.step(c, old)
  local q = old
  for _ = 1, 2 do
    local adt = host.adt_calc(c, q)
    q = host.update(c, old, host.bres_calc(c, q, adt, host.res_calc(c, q, adt, host.zeros(c))), adt)
  end
  return q
end

return host
