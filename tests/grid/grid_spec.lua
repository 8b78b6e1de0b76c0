-- SPDX-License-Identifier: MIT
--
-- mw.grid on CPU devices: the same bits as one device without it, for divisions in one to three dimensions, with a
-- stencil that reads corners, too; what it refuses; and the ways of faces on the fake driver.

local fake = require "tests.support.fake"
local support = require "tests.support"
local mw, fails = support.mw, support.fails

-- run(o): `steps` steps of a stencil on a grid and without it; o: sizes, ids, type, halo, periodic, dims, via.
local PRELUDE <const> = [[
  local mw = require "moonwarp"
  local nccl = require "moonwarp.nccl"
  local SOURCE <const> = [=[
    __device__ long long wrapped(int at, int n, int is_periodic) {
      if (is_periodic) return (at % n + n) % n;
      return at < 0 || at >= n ? -1 : at;
    }
    // every cell of the box: the weighted sum of all that are up to r* away
    template <class T> __global__ void parts(T *out, const T *in, int sx, int sy, int fx, int fy, int fz, int nx, int ny,
                                             int nz, int rx, int ry, int rz) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= nx * ny * nz) return;
      const int x = fx + i % nx, y = fy + i / nx % ny, z = fz + i / nx / ny;
      T sum = 0;
      for (int c = -rz; c <= rz; c++) for (int b = -ry; b <= ry; b++) for (int a = -rx; a <= rx; a++)
        sum = sum * T(0.75) + in[x + a + (y + b) * sx + (long long)(z + c) * sx * sy];
      out[x + y * sx + (long long)z * sx * sy] = sum * T(0.01);
    }
    template <class T> __global__ void whole(T *out, const T *in, int nx, int ny, int nz, int rx, int ry, int rz, int px,
                                             int py, int pz) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= nx * ny * nz) return;
      const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
      T sum = 0;
      for (int c = -rz; c <= rz; c++) for (int b = -ry; b <= ry; b++) for (int a = -rx; a <= rx; a++) {
        const long long k = wrapped(x + a, nx, px), m = wrapped(y + b, ny, py), l = wrapped(z + c, nz, pz);
        sum = sum * T(0.75) + (k < 0 || m < 0 || l < 0 ? T(0) : in[k + m * nx + l * nx * ny]);
      }
      out[i] = sum * T(0.01);
    }
  ]=]
  local STEPS <const> = 4

  local function opened(ids)
    local list = {}
    for id in ids:gmatch "%S+" do list[#list + 1] = mw.device(id) end
    return list
  end

  local function number(flag) return flag and 1 or 0 end

  local function by_one(dev, o, grid, first)
    local n, h, p, cpp = grid.size, grid.halo, grid.periodic, o.type == "f64" and "double" or "float"
    local kernel = dev:module { source = SOURCE, contract = false }:kernel("whole<" .. cpp .. ">")
    local a, b = dev:array(o.type, #first):copy(first), dev:array(o.type, #first)
    for _ = 1, STEPS do
      kernel:launch(mw.ceil_div(#a, 64), 64, b, a, n[1], n[2], n[3], h[1], h[2], h[3], number(p[1]), number(p[2]),
                    number(p[3]))
      a, b = b, a
    end
    return a
  end

  -- The cells of a part from the whole, by the script.
  local function scatter(grid, arrays, first)
    for i, part in ipairs(grid.parts) do
      local flat, s, h, f, n = {}, part.shape, grid.halo, part.first, grid.size
      for k = 1, #arrays[i] do flat[k] = 0 end
      for z = 0, part.size[3] - 1 do for y = 0, part.size[2] - 1 do for x = 0, part.size[1] - 1 do
        flat[x + h[1] + s[1] * (y + h[2] + s[2] * (z + h[3])) + 1] =
          first[x + f[1] + n[1] * (y + f[2] + n[2] * (z + f[3])) + 1]
      end end end
      arrays[i]:view(1, #flat):upload(flat)
    end
  end

  local function launcher(grid, o, out, from)
    local cpp, h = o.type == "f64" and "double" or "float", grid.halo
    return function(part, boxes, stream)
      local kernel = part.device:module { source = SOURCE, contract = false }:kernel("parts<" .. cpp .. ">")
      local go = {}
      for i, box in ipairs(boxes) do
        local f, n = box.first, box.size
        go[i] = kernel:prepare { grid = mw.ceil_div(n[1] * n[2] * n[3], 64), block = 64, stream = stream }
      end
      local y, x, s = out[part.number], from[part.number], part.shape
      return function()
        for i, box in ipairs(boxes) do
          local f, n = box.first, box.size
          go[i](y, x, s[1], s[2], f[1], f[2], f[3], n[1], n[2], n[3], h[1], h[2], h[3])
        end
      end
    end
  end

  local function run(o)
    local devices = opened(o.ids)
    local comm <close> = o.via and nccl.communicator(devices) or nil
    local grid <close> = mw.grid { o[1], o[2], o[3], devices = not comm and devices or nil, comm = comm, via = o.via,
                                   halo = o.halo, periodic = o.periodic, dims = o.dims }
    local first = mw.device(o.ids:match "%S+"):array(o.type, grid.size[1] * grid.size[2] * grid.size[3]):random(7)
    local want = by_one(devices[1], o, grid, first)
    for _, way in ipairs { "step", "overlap" } do
      local A, B = grid:array(o.type), grid:array(o.type)
      scatter(grid, A, first:totable())
      grid:exchange(A)
      local there, back = grid[way](grid, launcher(grid, o, B, A), B), grid[way](grid, launcher(grid, o, A, B), A)
      for _ = 1, STEPS // 2 do
        there()
        back()
      end
      local got = grid:gather(A)
      mw.check(got:view(1, #got), want, { exact = true, name = way .. " on " .. tostring(grid) })
    end
    print(grid, "same bits")
  end
]]

local TWO <const>, THREE <const> = "cpu:0/2 cpu:1/2", "cpu:0/3 cpu:1/3 cpu:2/3"
local EIGHT <const> = "cpu:0/2 cpu:1/2 cpu:0/2 cpu:1/2 cpu:0/2 cpu:1/2 cpu:0/2 cpu:1/2"

-- Odd sizes, all dimensions, both types, halos of 1 and 2, periodic and not.
local CASES <const> = {
  { "1 x 1", [[{ 37, ids = TWO, type = "f64", halo = 1 }]] },
  { "1-D, three", [[{ 23, ids = THREE, type = "f32", halo = 2, periodic = true }]] },
  { "2-D", [[{ 11, 9, ids = TWO, type = "f64", halo = 1, periodic = { true, false } }]] },
  { "2-D along x", [[{ 13, 6, ids = THREE, type = "f32", halo = 1, dims = { 3, 1 }, periodic = true }]] },
  { "planes", [[{ 7, 6, 11, ids = THREE, type = "f64", halo = { 0, 0, 1 } }]] },
  { "planes, thin", [[{ 5, 4, 7, ids = THREE, type = "f64", halo = { 0, 0, 2 }, periodic = { false, false, true } }]] },
  { "3-D along y", [[{ 5, 9, 4, ids = TWO, type = "f32", halo = 2, dims = { 1, 2, 1 }, periodic = { true, true } }]] },
  { "3-D", [[{ 9, 7, 11, ids = EIGHT, type = "f64", halo = 2, periodic = true }]] },
  { "3-D, bounded", [[{ 7, 6, 5, ids = EIGHT, type = "f32", halo = 1 }]] },
}

local function script(cases, ids)
  local lines = { PRELUDE }
  for _, case in ipairs(cases) do lines[#lines + 1] = "run " .. case[2] end
  local text = table.concat(lines, "\n"):gsub("ids = (%u+)", function(name)
    local list = { TWO = TWO, THREE = THREE, EIGHT = EIGHT }
    return ("ids = %q"):format(ids(list[name]))
  end)
  return text .. "\nprint(#mw.findings() .. ' findings')"
end

local function as_it_is(list) return list end
local function in_check_mode(list) return (list:gsub("cpu:", "cpu:check:")) end

local function count(text, what) return select(2, text:gsub(what, "")) end

describe("mw.grid", function()
  it("gives the same bits as one device", function()
    local output = support.child_passes(script(CASES, as_it_is))
    assert.are.equal(#CASES, count(output, "same bits"), output)
    assert.is_truthy(output:find("grid of 9 x 7 x 11 cells in 2 x 2 x 2 parts", 1, true), output)
  end)

  it("is in order by check mode", function()
    local output = support.child_passes(script(CASES, in_check_mode))
    assert.are.equal(#CASES, count(output, "same bits"), output)
    assert.is_truthy(output:find("\n0 findings", 1, true), output)
  end)

  it("sends faces by a communicator", function()
    local cases = {}
    for _, case in ipairs(CASES) do
      if not case[2]:find "EIGHT" then cases[#cases + 1] = { case[1], (case[2]:gsub("ids =", "via = 'comm', ids =")) } end
    end
    local output = support.child_passes(script(cases, in_check_mode))
    assert.are.equal(#cases, count(output, "same bits"), output)
    assert.is_truthy(output:find("\n0 findings", 1, true), output)
  end)
end)
