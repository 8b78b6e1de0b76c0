-- SPDX-License-Identifier: MIT
--
-- Two other users of par_loop: the product of a sparse matrix and a vector, whose elements increment their row, and a
-- graph's Laplacian, whose edges increment both ends: y[i] = sum over i's edges of w (u[i] - u[j]).

local mesh = require "moonwarp.mesh"

local users = {}

local KERNELS <const> = [[
__device__ inline void spmv(const REAL A[1], const REAL u[1], REAL y[1]) { y[0] += A[0] * u[0]; }
__device__ inline void laplacian(const REAL w[1], const REAL u1[1], const REAL u2[1], REAL y1[1], REAL y2[1]) {
  REAL flow = w[0] * (u1[0] - u2[0]);
  y1[0] += flow;
  y2[0] -= flow;
}
]]
local WAYS <const> = {
  { 21, "atomics", { by = "atomics" } }, { 22, "a node per thread", { by = "owner" } },
  { 23, "staged, a node per thread", { by = "staged", blocks = "owner", threads = "owner" } },
}
local EACH <const> = 7 -- elements of a row; edges per node

local known = {} -- maps, by the nodes

-- Where the edges of n nodes lead: most are near, as after a renumbering, and of each node one is anywhere.
local function ends_of(n)
  local first, second, seed = {}, {}, 1
  for e = 0, EACH * n - 1 do
    seed = seed * 6364136223846793005 + 1442695040888963407
    local any = seed >> 33
    first[e + 1], second[e + 1] = e // EACH, e % EACH == 0 and any % n or (e // EACH + any % 61 - 30) % n
  end
  known[n] = table.move(second, 1, #second, #first + 1, first)
  return known[n]
end

--- The arrays of a case with the sides user ("spmv", "laplacian") and nodes.
function users.arrays(c)
  local n, edges = c.nodes, EACH * c.nodes
  local a = { ends = c.dev:array("i32", known[n] or ends_of(n)), w = c.dev:array(c.type, edges):random(1),
              u = c.dev:array(c.type, n):random(2), y = c.dev:array(c.type, n),
              q = c.dev:array(c.type, n):random(3), qold = c.dev:array(c.type, n) } -- q, qold: of the library's copy
  local m = mesh.new(c.dev, { type = c.type, kernels = KERNELS })
  local edge_set, node_set = m:set("edges", edges), m:set("nodes", n)
  c.edges, c.mesh = edges, m
  c.parts = { set = edge_set, ends = m:map("ends", edge_set, node_set, 2, a.ends), w = m:dat("w", edge_set, 1, a.w),
              u = m:dat("u", node_set, 1, a.u), y = m:dat("y", node_set, 1, a.y) }
  return a
end

local function loop(c, user, how, block)
  local of = c.parts
  local w, first, second = { of.w, "read" }, { of.u, of.ends, 1, "read" }, { of.u, of.ends, 2, "read" }
  local args = user == "spmv" and { w, second, { of.y, of.ends, 1, "inc" } }
    or { w, first, second, { of.y, of.ends, 1, "inc" }, { of.y, of.ends, 2, "inc" } }
  local options = { block = block, name = (user .. " " .. how[2]):gsub("%W+", "_") }
  for key, value in pairs(how[3]) do options[key] = value end
  return c.mesh:loop(of.set, user, args, options)
end

-- Of both users, by their names: one module for all.
local function loops_of(c, block)
  local loops, all = {}, {}
  for _, user in ipairs { "spmv", "laplacian" } do
    loops[user] = {}
    for i, how in ipairs(WAYS) do
      loops[user][i] = loop(c, user, how, block)
      all[#all + 1] = loops[user][i]
    end
  end
  c.mesh:join(all)
  return loops
end

local function by_host(c)
  local ends, w, u, y = c.ends:totable(), c.w:totable(), c.u:totable(), {}
  for i = 1, c.nodes do y[i] = 0.0 end
  for e = 1, c.edges do
    local a, b = ends[e] + 1, ends[e + c.edges] + 1
    if c.user == "spmv" then
      y[a] = y[a] + w[e] * u[b]
    else
      local flow = w[e] * (u[a] - u[b])
      y[a], y[b] = y[a] + flow, y[b] - flow
    end
  end
  return y
end

--- Adds the answers and rungs to a study.
function users.describe(study)
  study:answer("product", { host = by_host, output = "y", needs = { "product, atomics" },
    start = function(_, out) out:fill(0) end,
    reference = function(c, launcher)
      launcher("product, atomics", c)()
      return c.y
    end,
    bytes = function(c) return c.ends:nbytes() + c.w:nbytes() + c.u:nbytes() + 2 * c.y:nbytes() end,
    tolerance = function(c) return { absolute = 256 * c.eps } end })
  for i, how in ipairs(WAYS) do
    study:rung { how[1], "product, " .. how[2], answer = "product", block = 128,
                 launches = function(c, block) return loops_of(c, block)[c.user][i].launches end }
  end
end

--- Adds the part to a study.
function users.parts(study)
  local both, p = { "spmv", "laplacian" }, study.p
  study:part { "users", cases = { { user = both, nodes = p.nodes, type = p.type } }, each = "user",
    odd = { { user = both, nodes = 301 } }, rungs = { "library copy", "product" },
    table = { { "number", title = "no." }, "rung", "user", "t", "T_eff",
              { "share", title = "of the copy", unit = "%", digits = 3 } } }
end

return users
