-- SPDX-License-Identifier: MIT
--
-- A step of the study fluid by one thread of Lua in double precision, which all versions are compared with. Fields are
-- lists by rows: cell (x, y) is number y * (n + 2) + x. `p` has the study's parameters.

local host = {}
local NONE <const>, VERTICAL <const>, HORIZONTAL <const> = 0, 1, 2

local function bound(box, f, wall)
  local n, ny, w = box.n, box.ny, box.n + 2
  local sx, sy = wall == VERTICAL and -1 or 1, wall == HORIZONTAL and -1 or 1
  for j = 1, ny do f[j * w], f[j * w + n + 1] = sx * f[j * w + 1], sx * f[j * w + n] end
  for i = 1, n do f[i], f[(ny + 1) * w + i] = sy * f[w + i], sy * f[ny * w + i] end
  for _, corner in ipairs { { 0, 1, w }, { n + 1, -1, w }, { (ny + 1) * w, 1, -w }, { (ny + 2) * w - 1, -1, -w } } do
    local k, dx, dy = table.unpack(corner)
    f[k] = 0.5 * (f[k + dx] + f[k + dy])
  end
end

local function relax(p, box, f, f0, a, whole, wall)
  local w = box.n + 2
  for half = 0, 2 * p.iterations - 1 do
    for y = 1, box.ny do
      for k = y * w + 1 + (half + y + 1) % 2, y * w + box.n, 2 do
        f[k] = (f0[k] + a * (f[k - w] + f[k - 1] + f[k + 1] + f[k + w])) / whole
      end
    end
    if half % 2 == 1 then bound(box, f, wall) end
  end
end

local function inner(box, fn)
  for y = 1, box.ny do
    for x = 1, box.n do fn(y * (box.n + 2) + x, x, y) end
  end
end

local function project(p, box, u, v, q, div)
  local n, w = box.n, box.n + 2
  inner(box, function(k) div[k], q[k] = -0.5 * (u[k + 1] - u[k - 1] + v[k + w] - v[k - w]) / n, 0 end)
  bound(box, div, NONE)
  bound(box, q, NONE)
  relax(p, box, q, div, 1, 4, NONE)
  inner(box, function(k)
    u[k], v[k] = u[k] - 0.5 * n * (q[k + 1] - q[k - 1]), v[k] - 0.5 * n * (q[k + w] - q[k - w])
  end)
  bound(box, u, VERTICAL)
  bound(box, v, HORIZONTAL)
end

local function advect(p, box, d, d0, u, v, wall)
  local n, ny, w = box.n, box.ny, box.n + 2
  inner(box, function(k, x, y)
    local fx = math.min(math.max(x - p.dt * n * u[k], 0.5), n + 0.5)
    local fy = math.min(math.max(y - p.dt * n * v[k], 0.5), ny + 0.5)
    local i, j = math.floor(fx), math.floor(fy)
    local s, t, at = fx - i, fy - j, j * w + i
    d[k] = (1 - s) * ((1 - t) * d0[at] + t * d0[at + w]) + s * ((1 - t) * d0[at + 1] + t * d0[at + 1 + w])
  end)
  bound(box, d, wall)
end

local function react(p, box, u, v, d)
  local speed, smoke, w = 0, 0, box.n + 2
  for k = 0, w * (box.ny + 2) - 1 do
    speed, smoke = math.max(speed, u[k] ^ 2 + v[k] ^ 2), math.max(smoke, d[k])
    u[k], v[k], d[k] = 0, 0, 0
  end
  local half_x, half_y = box.n // 2, box.ny // 2
  local function push(x, y, along_x, along_y, source)
    local k = y * w + x
    if speed < 0.0000005 then u[k], v[k] = along_x * p.force, along_y * p.force end
    if smoke < 1 then d[k] = source * p.source end
  end
  push(half_x, half_y, 10, 10, 10)
  for y = 64, box.ny - 1, 64 do
    for x = 64, box.n - 1, 64 do
      push(x, y, 1000 * (half_y - y) / half_y, 1000 * (half_x - x) / half_x, 1000)
    end
  end
end

--- All elements of c.state after a step from what the arrays of a case hold, as mw.check takes them.
---@param p table   parameters
---@param c table   the case: n, ny, pitch; u, v, d, u0, v0, d0
---@return function
function host.step(p, c)
  local w, f, flat = c.n + 2, {}, {}
  local function place(k) -- in the array, where red and black cells are apart
    local x, y = k % w, k // w
    return (2 * y + (x + y) % 2) * c.pitch + (x + 7) // 2 + 1
  end
  for _, name in ipairs { "u", "v", "d", "u0", "v0", "d0" } do
    flat[name], f[name] = c[name]:view(1, #c[name]):totable(), {}
    for k = 0, w * (c.ny + 2) - 1 do f[name][k] = flat[name][place(k)] end
  end
  react(p, c, f.u0, f.v0, f.d0)
  for _, one in ipairs { { "u", p.visc, VERTICAL }, { "v", p.visc, HORIZONTAL }, { "d", p.diff, NONE } } do
    local x, x0, a = f[one[1]], f[one[1] .. "0"], p.dt * one[2] * c.n * c.n
    for k = 0, w * (c.ny + 2) - 1 do x[k] = x[k] + p.dt * x0[k] end
    relax(p, c, x0, x, a, 1 + 4 * a, one[3])
  end
  project(p, c, f.u0, f.v0, f.u, f.v)
  advect(p, c, f.u, f.u0, f.u0, f.v0, VERTICAL)
  advect(p, c, f.v, f.v0, f.u0, f.v0, HORIZONTAL)
  project(p, c, f.u, f.v, f.u0, f.v0)
  advect(p, c, f.d, f.d0, f.u, f.v, NONE)
  for _, name in ipairs { "u", "v", "d" } do
    for k = 0, w * (c.ny + 2) - 1 do flat[name][place(k)] = f[name][k] end
  end
  local of = { flat.u, flat.v, flat.d }
  return function(i, colour, row, field) return of[field][(2 * (row - 1) + colour - 1) * c.pitch + i] end
end

return host
