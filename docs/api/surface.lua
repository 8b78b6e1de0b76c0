-- SPDX-License-Identifier: MIT
return {
  title = "surface",
  owner = "surface",
  self = "s",
  about = [[
An image in the device's own layout that kernels read and write by integer coordinates. `dev:surface` makes it with an array's
values; a kernel's parameter of type `cudaSurfaceObject_t` takes it, and nothing else. `dev:texture(surface)` reads it as a texture, from the next launch on.

Its kinds are those of a [texture](texture.md), without linear and pitched memory. The first coordinate is in bytes:
`surf2Dread<float>(s, 4 * x, y)`, `surf2Dwrite(value, s, 4 * x, y)`; likewise `surf1D`, `surf3D`, `surf1DLayered`, `surf2DLayered`
and `surfCubemap`. A place outside of the surface ends the launch with an error; with `cudaBoundaryModeClamp` as last argument it is the
nearest place, with `cudaBoundaryModeZero` 0 is read and nothing written.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"]],
  entries = {
    {
      name = "copy_to", forms = { "s:copy_to(array[, { stream = s }])" },
      about = [[Copies the values to an array, after the launches queued before. Without a stream it is complete when the call returns.]],
      params = { { "array", "array", "of as many elements of the same type" },
        { "options", "image_copy_options", "", optional = true } },
      returns = { { "surface", "the surface itself" } },
      errors = { "<n> elements of <dtype> expected, got <n> of <dtype>", "the array is read-only",
        "an array in device, managed or pinned memory of <id> expected, got <array>" },
      since = "0.11.0",
      example = [[
local m = dev:module { source = [=[
  __global__ void number(cudaSurfaceObject_t s, int nx) {
    surf2Dwrite((float)(blockIdx.x * nx + threadIdx.x), s, 4 * threadIdx.x, blockIdx.x);
  }
]=] }
local a = dev:zeros("f32", 4, 2)
local s = dev:surface(a)
m.number:launch(2, 4, s, 4)
s:copy_to(a)
print(a:get(4, 2)) --> 7.0]],
    },
    {
      name = "copy_from", forms = { "s:copy_from(array[, { stream = s }])" },
      about = [[Copies the array's values to the surface; as `copy_to`.]],
      params = { { "array", "array", "of as many elements of the same type" },
        { "options", "image_copy_options", "", optional = true } },
      returns = { { "surface", "the surface itself" } },
      errors = { "<n> elements of <dtype> expected, got <n> of <dtype>" },
      since = "0.11.0",
    },
    { name = "device", forms = { "s:device()" }, about = [[The device that it belongs to.]],
      returns = { { "device", "a handle of it" } }, since = "0.11.0" },
  },
}
