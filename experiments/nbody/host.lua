-- SPDX-License-Identifier: MIT
--
-- The forces and the two bodies' paths once more, on the host in f64, by the formulas alone: what the
-- kernels of the motion are held against.

local host = {}

-- Acceleration and potential of body i, and the sums of their terms' sizes, by x and m alone.
function host.pull(m, x, count, softening, i)
  local ax, ay, az, phi, force = 0.0, 0.0, 0.0, 0.0, 0.0
  for j = 1, count do
    local dx, dy, dz = x[j] - x[i], x[count + j] - x[count + i], x[2 * count + j] - x[2 * count + i]
    local square = dx * dx + dy * dy + dz * dz + softening ^ 2
    if j ~= i then
      local f = m[j] * square ^ -1.5
      ax, ay, az = ax + f * dx, ay + f * dy, az + f * dz
      phi, force = phi - m[j] / math.sqrt(square), force + m[j] / square
    end
  end
  return ax, ay, az, phi, force
end

-- The two bodies by the formulas of the method, in f64; look(x) follows each step.
function host.path(system, method, dt, steps, look)
  local x, v = table.move(system.x, 1, 6, 1, {}), table.move(system.v, 1, 6, 1, {})
  local function pull()
    local a = {}
    for i = 1, 2 do a[i], a[2 + i], a[4 + i] = host.pull(system.m, x, 2, 0, i) end
    return a
  end
  local a, before = pull(), method == "leapfrog" and dt / 2 or 0
  for _ = 1, steps do
    for k = 1, 6 do
      v[k] = v[k] + before * a[k]
      x[k] = x[k] + dt * v[k]
      if method == "Euler" then v[k] = v[k] + dt * a[k] end
    end
    a = pull()
    for k = 1, 6 do v[k] = v[k] + before * a[k] end
    if look then look(x) end
  end
  return x
end

-- By how much an error of the start grows, measured with one of 1e-7 in x or in v.
function host.growth(system, method, dt, steps)
  local path, most = {}, 1.0
  host.path(system, method, dt, steps, function(x) path[#path + 1] = table.move(x, 1, 6, 1, {}) end)
  for _, what in ipairs { "x", "v" } do
    local other, step = setmetatable({ [what] = {} }, { __index = system }), 0
    for k = 1, 6 do other[what][k] = system[what][k] * (1 + 1e-7 * (k % 2)) end
    host.path(other, method, dt, steps, function(x)
      step = step + 1
      for k = 1, 6 do most = math.max(most, math.abs(x[k] - path[step][k]) / 1e-7) end
    end)
  end
  return most
end

return host
