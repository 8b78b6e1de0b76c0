-- SPDX-License-Identifier: MIT
return {
  title = "texture",
  owner = "texture",
  self = "t",
  about = [[
An image that kernels read by coordinates, with what a GPU's texture units do besides: addresses outside of the image, a mix of
neighbouring texels, integers as numbers from 0 to 1. `dev:texture` makes it of an array; a kernel's parameter of type
`cudaTextureObject_t` takes it, and nothing else.

| kind | sides | read by | reads |
|---|---|---|---|
| `"linear"`, of an array of one side | n | `tex1Dfetch<T>(t, i)` | the array itself |
| `"pitched"` | nx, ny | `tex2D<T>(t, x, y)` | the array itself |
| `"1d"` | n | `tex1D<T>(t, x)` | a copy in the device's own layout |
| `"2d"`, of an array of two | nx, ny | `tex2D<T>(t, x, y)`, `tex2Dgather<T4>(t, x, y, component)` | a copy |
| `"3d"`, of an array of three | nx, ny, nz | `tex3D<T>(t, x, y, z)` | a copy |
| `"1d layered"` | n, layers | `tex1DLayered<T>(t, x, layer)` | a copy |
| `"2d layered"` | nx, ny, layers | `tex2DLayered<T>(t, x, y, layer)` | a copy |
| `"cube"` | n, n, 6 faces | `texCubemap<T>(t, x, y, z)` | a copy |

A texel has 1, 2 or 4 components; with `components = 4` they are a first side of the array, which counts as none of these.
Elements are f32, f16, or integers of up to 32 bits. `T` is the type of the elements: `float4` of four components of f32, f16 or
normalised floats, `uchar4` of u8. On a GPU a texture does not see what the same launch writes.

Where a read falls, as the CUDA C++ Programming Guide has it ("Texture Fetching"):

| rule | what is read |
|---|---|
| coordinates | texel i covers i to i + 1; normalised ones are multiplied by the side, so that the image is 0 to 1 |
| point | texel floor(x) |
| linear | texels i and i + 1 in each side with weights 1 - f and f, where i + f is x - 1/2 rounded to 1/256 |
| clamp | outside of the image the nearest texel |
| border | outside 0 |
| wrap | the image again and again; only with normalised coordinates |
| mirror | every other time reversed; only with normalised coordinates |
| layer | an integer; outside the last |
| cube | the face that the direction (x, y, z) meets; at its edge clamped |
| normalised float | v / 255 or v / 65535; of signed ones v / 127 or v / 32767, at least -1 |

Point reads have the same bits on every device, unless a normalised coordinate falls on the border of two texels, to within its rounding. Linear
ones may differ by 1/256 of the greatest difference of the texels that are mixed, for each side, and by rounding: where several sides are mixed, a GPU
rounds the products of weights as well. A texel without weight is not read. The CUDA device knows a parameter by the name
`cudaTextureObject_t`, not by a typedef of it. There are no mip maps (`tex2DLod`, `tex2DGrad`), no layered cube maps and no sparse textures.

In check mode a read counts as one of each texel that it needs, of the line that has it. Structural counters of the CPU device have these
among the loads of global memory; ncu does not.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"]],
  entries = {
    {
      name = "copy_from", forms = { "t:copy_from(array[, { stream = s }])" },
      about = [[Has the texture read the array's present values; not of kind linear or pitched, which read their array itself. Without a stream it
is complete when the call returns.]],
      params = { { "array", "array", "of as many elements of the same type" },
        { "options", "image_copy_options", "", optional = true } },
      returns = { { "texture", "the texture itself" } },
      errors = { "a texture of kind '<kind>' reads its array itself: write to that",
        "<n> elements of <dtype> expected, got <n> of <dtype>",
        "an array in device, managed or pinned memory of <id> expected, got <array>" },
      since = "0.11.0",
      example = [[
local m = dev:module { source = [=[
  __global__ void between(cudaTextureObject_t t, float *out) { out[0] = tex1D<float>(t, 1.0f); }
]=] }
local a, out = dev:array("f32", { 1, 2, 3 }), dev:array("f32", 1)
local t = dev:texture(a, { kind = "1d", filter = "linear" })
m.between:launch(1, 1, t, out)
print(out:get(1)) --> 1.5
a:upload { 5, 6, 7 }
t:copy_from(a)
m.between:launch(1, 1, t, out)
print(out:get(1)) --> 5.5]],
    },
    { name = "device", forms = { "t:device()" }, about = [[The device that it belongs to.]],
      returns = { { "device", "a handle of it" } }, since = "0.11.0" },
  },
}
