-- SPDX-License-Identifier: MIT
--
-- Launches of the project's own kernels, for a comparison of what compilers make of the same source: file, kernel,
-- grid, block, shared, arguments(device); differs: by text, the lines of which NVRTC makes other accesses than the CPU
-- device's compilers, and why. A line that is in one of the compilers' code only may be equal.

local N <const>, SIDE <const> = 8192, 128

local function floats(device, count) return device:zeros("f32", count) end

-- Arrays of n floats, as many as there are letters, then further arguments.
local function vectors(count, ...)
  local more = { ... }
  return function(device)
    local list = {}
    for i = 1, count do list[i] = floats(device, N) end
    return table.move(more, 1, #more, #list + 1, list)
  end
end

local function matrices(dtype, count, ...)
  local more = { ... }
  return function(device)
    local list = {}
    for i = 1, count do list[i] = device:zeros(dtype, SIDE * SIDE) end
    return table.move(more, 1, #more, #list + 1, list)
  end
end

local PLANE <const> = { SIDE // 32, SIDE // 8 }
local ROWS <const>, TILES <const> = { 32, 8 }, { SIDE // 32, SIDE // 32 }

-- In each warp every second lane has a value below 0.5.
local function halves(device)
  local values = {}
  for i = 1, N do values[i] = i % 2 end
  return { floats(device, N), device:array("f32", values), N, 0.5 }
end

local KEPT <const> = "x[i] is loaded once and kept in a register"
local SIDES <const> = "the stores of both sides of the branch are two, or joined to one, which is of no line"
local MOVED <const> = "x[i], y[i] and z[i] do not change in the loop: they are loaded in front of it"

local function bins(device)
  return { device:zeros("u32", 256), device:zeros("u8", N), N }
end

return {
  { file = "first-kernels.cu", kernel = "add", grid = 32, block = 256, arguments = vectors(3, N) },
  { file = "first-kernels.cu", kernel = "count<true>", grid = 32, block = 256,
    arguments = function(device) return { device:zeros("i32", 1) } end,
    differs = { ["if (ATOMIC) atomicAdd(counter, 1);"] = "one lane adds for its warp, as all add to one address" } },
  { file = "memcopy.cu", kernel = "memcopy", grid = PLANE, block = ROWS, arguments = matrices("f64", 2, SIDE, SIDE) },
  { file = "transpose.cu", kernel = "transpose_read<float>", grid = PLANE, block = ROWS,
    arguments = matrices("f32", 2, SIDE, SIDE) },
  { file = "transpose.cu", kernel = "transpose_tile<float,0>", grid = TILES, block = ROWS,
    arguments = matrices("f32", 2, SIDE, SIDE) },
  { file = "transpose.cu", kernel = "transpose_swizzled<float>", grid = TILES, block = ROWS,
    arguments = matrices("f32", 2, SIDE, SIDE) },
  { file = "laplace.cu", kernel = "laplace2<float>", grid = PLANE, block = ROWS,
    arguments = matrices("f32", 2, SIDE, SIDE), differs = {
      ["u2[i] = u1[i];"] = SIDES,
      ["u2[i] = (FACTOR)0.25 * (u1[i - 1] + u1[i + 1] + u1[i - nx] + u1[i + nx]);"] = SIDES } },
  { file = "stencil.cu", kernel = "diffusion", grid = PLANE, block = ROWS,
    arguments = matrices("f64", 3, 1.0, 0.1, 1.0, 1.0, SIDE, SIDE) },
  { file = "stencil.cu", kernel = "diffusion_shared", grid = PLANE, block = ROWS, shared = 34 * 10 * 8,
    arguments = matrices("f64", 3, 1.0, 0.1, 1.0, 1.0, SIDE, SIDE) },
  { file = "reduce.cu", kernel = "reduce_tree", grid = 8, block = 256, arguments = vectors(2, N) },
  { file = "reduce.cu", kernel = "reduce_strided", grid = 8, block = 256, arguments = vectors(2, N) },
  { file = "cumsum.cu", kernel = "copy_z<float>", grid = { 1, 4 }, block = ROWS, arguments = vectors(2, 32, 32, 8) },
  { file = "nbody.cu", kernel = "potential_direct<float>", grid = 2, block = 128, arguments = vectors(5, 256),
    differs = { ["for (int j = 0; j < n; j++) {"] = MOVED,
                ["float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];"] = MOVED } },
  { file = "divergence.cu", kernel = "root_branch", grid = 32, block = 256, arguments = halves,
    differs = { ["if (x[i] < fraction) y[i] = x[i] - 2.0f;"] = KEPT .. "; " .. SIDES,
                ["else y[i] = sqrtf(x[i]);"] = KEPT .. "; " .. SIDES } },
  { file = "divergence.cu", kernel = "root_select", grid = 32, block = 256, arguments = halves,
    differs = { ["float low = x[i] - 2.0f, high = sqrtf(x[i]);"] = KEPT,
                ["y[i] = x[i] < fraction ? low : high;"] = KEPT } },
  { file = "histogram.cu", kernel = "histogram_bytes", grid = 8, block = 256, arguments = bins },
  { file = "access.cu", kernel = "shifted", grid = 32, block = 256, arguments = vectors(2, N, 3) },
  { file = "access.cu", kernel = "by<float4>", grid = 8, block = 256, arguments = vectors(2, N) },
  { file = "access.cu", kernel = "in_order<4>", grid = 4, block = 256, arguments = vectors(2, N) },
}
