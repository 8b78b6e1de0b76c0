-- SPDX-License-Identifier: MIT
--
-- Every rung of stencil.cu, in both types, by every engine that takes it, on fields that no block divides, against
-- steps worked out in Lua. The study: studies/stencil_spec.lua.

local support = require "tests.support"
local mw = support.mw

local LAM, DT, BY_DX, BY_DY = 1.0, 0.1, 1.1, 0.9
local TYPES = { f64 = { real = "double", size = 8, eps = 2.0 ^ -52 },
                f32 = { real = "float", size = 4, eps = 2.0 ^ -23 } }

-- Even, odd, a multiple of what 16 bytes hold or not, narrower than a strip, wider than two.
local SIZES = { { 64, 32 }, { 67, 43 }, { 130, 21 }, { 5, 9 }, { 3, 3 }, { 1, 4 }, { 252, 17 } }

local STEPS = {
  { "diffusion" }, { "diffusion_triad", triad = true },
  { "diffusion_staged", triad = true, tile = 0 }, { "diffusion_halo", triad = true, tile = 2 },
  { "diffusion_filled", triad = true, tile = 2 }, { "diffusion_shared", tile = 2 },
  { "diffusion_march<1>", tall = 1 }, { "diffusion_march<5>", tall = 5 }, { "diffusion_vector", wide = true },
}
local LEVELS = { auto = { 1, 3, 8 }, fiber = { 2 } }

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- the host: rows of numbers ------------------------------------------------------------------------------------

local function host_step(t, ci, triad)
  local out = {}
  for j, row in ipairs(t) do
    out[j] = table.move(row, 1, #row, 1, {})
    for i = 2, j > 1 and j < #t and #row - 1 or 0 do
      local laplace = (row[i - 1] - 2 * row[i] + row[i + 1]) * BY_DX ^ 2
        + (t[j - 1][i] - 2 * row[i] + t[j + 1][i]) * BY_DY ^ 2
      out[j][i] = row[i] + DT * ci[j][i] * (triad and 1 or LAM * laplace)
    end
  end
  return out
end

local function host_steps(t, ci, k)
  for _ = 1, k do t = host_step(t, ci) end
  return t
end

-- ---- the device ---------------------------------------------------------------------------------------------------

-- Fields of one size and type, closed when the block ends.
local function with_fields(dev, kind, nx, ny, body)
  local T <close> = dev:array(kind, nx, ny):random(1)
  local Ci <close> = dev:array(kind, nx, ny):random(2)
  local T2 <close> = dev:array(kind, nx, ny)
  body(T2, T, Ci, T:totable(), Ci:totable())
end

local function right(got, wanted, eps, name)
  local ok, report = mw.check(got, wanted, { absolute = eps, quiet = true, name = name })
  assert.is_true(ok, ("%s: %s"):format(name, tostring(report)))
end

local function launch_step(m, rung, kind, bx, by, T2, T, Ci)
  local nx, ny = T:shape()
  local size = TYPES[kind].size
  local tile = rung.tile and (bx + rung.tile) * (by + rung.tile) * size or 0
  m:kernel(rung[1]):prepare {
    block = { bx, by }, shared = tile,
    grid = { ceil_div(nx, bx * (rung.wide and 16 // size or 1)), ceil_div(ny, by * (rung.tall or 1)) },
  }(T2, T, Ci, LAM, DT, BY_DX, BY_DY, nx, ny)
end

local function launch_levels(m, k, kind, warps, rows, T2, T, Ci)
  local nx, ny = T:shape()
  local columns = 16 // TYPES[kind].size
  local strips = ceil_div(nx, 32 * columns - 2 * (ceil_div(k, columns) * columns))
  m:kernel(("diffusion_levels<%d>"):format(k)):prepare {
    block = 32 * warps, grid = { ceil_div(strips, warps), ceil_div(ny, rows) },
  }(T2, T, Ci, LAM, DT, BY_DX, BY_DY, nx, ny, rows)
end

local function each_module(dev, id, body)
  for kind, type_of in pairs(TYPES) do
    for _, engine in ipairs(id == "cpu" and { "auto", "fiber" } or { "auto" }) do
      local templates = { "diffusion_march<1>", "diffusion_march<5>" }
      for _, k in ipairs(LEVELS[engine]) do templates[#templates + 1] = ("diffusion_levels<%d>"):format(k) end
      local m <close> = dev:module { file = "stencil.cu", engine = engine, defines = { REAL = type_of.real },
                                     templates = templates }
      body(m, kind, type_of.eps, engine)
    end
  end
end

describe("stencil.cu", function() support.each_device(function(dev, id)
  it("makes every single step as the host does, and does not write the border", function()
    each_module(dev, id, function(m, kind, eps, engine)
      for _, size in ipairs(SIZES) do
        with_fields(dev, kind, size[1], size[2], function(T2, T, Ci, t, ci)
          local wanted = { [true] = host_step(t, ci, true), [false] = host_step(t, ci) }
          for _, rung in ipairs(STEPS) do
            T2:copy(T)
            launch_step(m, rung, kind, 16, 4, T2, T, Ci)
            right(T2, wanted[rung.triad == true], 8 * eps,
              ("%s, %s, %d x %d, engine %s"):format(rung[1], kind, size[1], size[2], engine))
            T2:fill(0 / 0)
            launch_step(m, rung, kind, 32, 2, T2, T, Ci)
            local corner = T2:get(1, 1)
            assert.is_true(corner ~= corner, rung[1] .. " writes the border")
          end
        end)
      end
    end)
  end)

  it("makes k steps of the host in a pass of k levels", function()
    each_module(dev, id, function(m, kind, eps, engine)
      for _, size in ipairs(SIZES) do
        with_fields(dev, kind, size[1], size[2], function(T2, T, Ci, t, ci)
          for _, k in ipairs(LEVELS[engine]) do
            for _, shape in ipairs { { 2, 512 }, { 1, 6 } } do
              T2:fill(0 / 0)
              launch_levels(m, k, kind, shape[1], shape[2], T2, T, Ci)
              right(T2, host_steps(t, ci, k), 8 * eps * k, ("%d levels, %s, %d x %d, %d rows, engine %s"):format(
                k, kind, size[1], size[2], shape[2], engine))
            end
          end
        end)
      end
    end)
  end)
end) end)
