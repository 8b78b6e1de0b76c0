-- SPDX-License-Identifier: MIT
--
-- Random numbers by cuRAND's host API: on CUDA devices by the GPU, on the CPU device by the same library's generators
-- for the host, with the same numbers; where there is no libcurand, kernels/moonwarp/rand.cu draws the same.
--
--   local g = rand.generator(dev, { kind = "philox", seed = 7 })
--   rand.normal(g, x, { mean = 0, deviation = 1 })

local api = require "moonwarp.base.api"
local failure = require "moonwarp.base.failure"
local library = require "moonwarp.library"
local nearest = require "moonwarp.base.nearest"
local schema = require "moonwarp.base.schema"

local NAMES = "libcurand.so.10"
local KINDS = { xorwow = 101, mrg32k3a = 121, philox = 161, sobol32 = 201, ["scrambled sobol32"] = 202 }
local SEED = "curandSetPseudoRandomGeneratorSeed(self, seed)"
local OFFSET = "curandSetGeneratorOffset(self, offset)"
local DIMENSIONS = "curandSetQuasiRandomGeneratorDimensions(self, dimensions)"

local function both(text) return { cuda = text, cpu = text } end

local function row(text, help, options)
  local out = both(text)
  out.help, out.object, out.options = help, true, options
  out.arrays = { { "x", "n n2? n3? n4?", writes = true } }
  out.types = { f32 = { real = "f32", letter = "" }, f64 = { real = "f64", letter = "Double" } }
  return out
end

local self = {
  name = "moonwarp.rand",
  cuda = { library = NAMES, new = { close = "curandDestroyGenerator(self)", follow = "curandSetStream(self, queue)" } },
  cpu = { library = NAMES, new = { close = "curandDestroyGenerator(self)" },
          install = "pip install nvidia-curand, or the CUDA toolkit" },
  functions = {
    uniform = row("curandGenerateUniform?(self, x, x.count)", "above 0 and up to 1"),
    normal = row("curandGenerateNormal?(self, x, x.count, mean, deviation)",
                 "an even number of them, of pseudo-random kinds",
                 { { "mean", 0.0 }, { "deviation", 1.0 } }),
  },
}
local rand = library.new(self)

--- A generator: its numbers go on from call to call.
---@param dev device
---@param options table?  kind ("philox"), seed (0), offset (0), dimensions (1; of quasi-random kinds)
rand.generator = api.func("rand.generator", 2, function(dev, options)
  local o = schema.options("rand.generator", options, {
    kind = "string", seed = "number", offset = "number", dimensions = "number" })
  local kind, backend = KINDS[o.kind or "philox"], dev:id():match "^%a+"
  if not kind then failure.invalid("rand.generator: there is no kind '%s'; %s", o.kind, nearest.hint(o.kind, KINDS)) end
  local place = self[backend].new
  local create = backend == "cpu" and "curandCreateGeneratorHost(&self, kind)" or "curandCreateGenerator(&self, kind)"
  return library.object(self, dev, backend,
    { open = { create, kind < 200 and SEED or DIMENSIONS, OFFSET }, close = place.close, follow = place.follow },
    { kind = kind, seed = o.seed or 0, offset = o.offset or 0, dimensions = o.dimensions or 1 })
end)

return rand
