-- SPDX-License-Identifier: MIT
--
-- A script that computes on a grid and without it, for devices of one process and for ranks.
--
-- run(o): some steps of a stencil that reads corners, too, both ways, which must give the same bits. o: sizes, ids of
-- devices or none for the ranks of a job, type, halo, periodic, dims, via.

local PRELUDE <const> = [[
  local mw = require "moonwarp"
  local nccl = require "moonwarp.nccl"
  local SOURCE <const> = [=[
    __device__ long long wrapped(int at, int n, int is_periodic) {
      if (is_periodic) return (at % n + n) % n;
      return at < 0 || at >= n ? -1 : at;
    }
    // every cell of the box: the weighted sum of all that are up to r* away
    template <class T> __global__ void parts(T *out, const T *in, int sx, int sy, int fx, int fy, int fz, int nx,
                                             int ny, int nz, int rx, int ry, int rz) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= nx * ny * nz) return;
      const int x = fx + i % nx, y = fy + i / nx % ny, z = fz + i / nx / ny;
      T sum = 0;
      for (int c = -rz; c <= rz; c++) for (int b = -ry; b <= ry; b++) for (int a = -rx; a <= rx; a++)
        sum = sum * T(0.75) + in[x + a + (y + b) * sx + (long long)(z + c) * sx * sy];
      out[x + y * sx + (long long)z * sx * sy] = sum * T(0.01);
    }
    template <class T> __global__ void whole(T *out, const T *in, int nx, int ny, int nz, int rx, int ry, int rz,
                                             int px, int py, int pz) {
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
    local devices = o.ids and opened(o.ids) or { mw.device() }
    local comm <close> = not o.ids and nccl.communicator() or o.via and nccl.communicator(devices) or nil
    local grid <close> = mw.grid { o[1], o[2], o[3], devices = not comm and devices or nil, comm = comm, via = o.via,
                                   halo = o.halo, periodic = o.periodic, dims = o.dims }
    local first = devices[1]:array(o.type, grid.size[1] * grid.size[2] * grid.size[3]):random(7)
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
      if got then mw.check(got:view(1, #got), want, { exact = true, name = way .. " on " .. tostring(grid) }) end
    end
    print(grid, "same bits")
  end
]]

return { PRELUDE = PRELUDE }
