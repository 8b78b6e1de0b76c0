-- SPDX-License-Identifier: MIT
--
-- A linear read through a 2-D texture over the same interpolation written out, clamped and with a border: weights of 8
-- bits, four loads. To reach on the CPU device: at most 2.

local mw = require "moonwarp"

local on = mw.arg("on", "all", "the device measured, such as cuda:0")

local N, MOST = 1024, 2

local SOURCE = [=[
__global__ void by_texture(cudaTextureObject_t t, const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(t, x[i], y[i]);
}
// The place between texels in 256ths.
__device__ int place(float x, int side) { return (int)(fminf(fmaxf(x * 256 - 128, 0.0f), (side - 1) * 256) + 0.5f); }
__global__ void by_hand(const float *a, const float *x, const float *y, float *out, int n, int nx, int ny) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  int u = place(x[k], nx), v = place(y[k], ny), i = u >> 8, j = v >> 8;
  float p = (u & 255) / 256.0f, q = (v & 255) / 256.0f;
  int right = min(i + 1, nx - 1), below = min(j + 1, ny - 1);
  float first = (1 - p) * a[j * nx + i] + p * a[j * nx + right];
  float second = (1 - p) * a[below * nx + i] + p * a[below * nx + right];
  out[k] = (1 - q) * first + q * second;
}
// Outside is 0.
__device__ int wide_place(float x, int side) {
  return (int)(fminf(fmaxf(x * 256 - 128, -256.0f), side * 256) + 256.5f) - 256;
}
__device__ float texel(const float *a, int i, int j, int nx, int ny) {
  return i >= 0 && i < nx && j >= 0 && j < ny ? a[j * nx + i] : 0;
}
__global__ void by_hand_border(const float *a, const float *x, const float *y, float *out, int n, int nx, int ny) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  int u = wide_place(x[k], nx), v = wide_place(y[k], ny), i = u >> 8, j = v >> 8;
  float p = (u & 255) / 256.0f, q = (v & 255) / 256.0f;
  float first = (1 - p) * texel(a, i, j, nx, ny) + p * texel(a, i + 1, j, nx, ny);
  float second = (1 - p) * texel(a, i, j + 1, nx, ny) + p * texel(a, i + 1, j + 1, nx, ny);
  out[k] = (1 - q) * first + q * second;
}]=]

-- Near its own texel each, as in advection.
local function places(dev, along)
  local list = {}
  for k = 0, N * N - 1 do list[k + 1] = (along == "x" and k % N or k // N) + math.random() end
  return dev:array("f32", list)
end

local function measure(dev, address, by_hand)
  local m <close> = dev:module { source = SOURCE }
  local image <close> = dev:empty("f32", N, N):random(1)
  local t <close> = dev:texture(image, { filter = "linear", address = address })
  local x <close> = places(dev, "x")
  local y <close> = places(dev, "y")
  local got <close> = dev:array("f32", N * N)
  local want <close> = dev:array("f32", N * N)
  local read <close> = m.by_texture:prepare { grid = N * N // 256, block = 256 }
  local mix <close> = m:kernel(by_hand):prepare { grid = N * N // 256, block = 256 }
  local times = mw.bench {
    hand = function() mix(image, x, y, want, N * N, N, N) end,
    texture = function() read(t, x, y, got, N * N) end,
  }
  assert(mw.check(got, want, { absolute = 2 / 256 }))
  local ratio = times.texture.median / times.hand.median
  print(("  %-7s %-6s texture %8.1f us  by hand %8.1f us  ratio %.2f  to reach: at most %g  %s"):format(dev:id(),
    address, times.texture.median * 1e6, times.hand.median * 1e6, ratio, MOST, ratio <= MOST and "reached" or "missed"))
end

for _, entry in ipairs(mw.devices()) do
  if entry.usable and (on == "all" or on == entry.id) then
    local dev = mw.device(entry.id)
    measure(dev, "clamp", "by_hand")
    measure(dev, "border", "by_hand_border")
  end
end
