-- SPDX-License-Identifier: MIT
--
-- Random numbers by cuRAND: on CUDA devices by the GPU, on the CPU device by its generators for the host; but Philox's
-- there by a kernel of our own (kernels/moonwarp/rand.cu), with the same numbers and without libcurand.
--
--   local g = rand.generator(dev, { kind = "philox", seed = 7 })
--   rand.normal(g, x, { mean = 0, deviation = 1 })

local api = require "moonwarp.base.api"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local integer = require "moonwarp.base.integer"
local library = require "moonwarp.library"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local own_kernels = require "moonwarp.own_kernels"
local schema = require "moonwarp.base.schema"

local SEED <const> = "curandSetPseudoRandomGeneratorSeed(self, seed)"
local OFFSET <const> = "curandSetGeneratorOffset(self, offset)"
local DIMENSIONS <const> = "curandSetQuasiRandomGeneratorDimensions(self, dimensions)"

-- What makes a generator of some kinds, and what it has to be told.
local function generator(kinds, options, ...)
  local close <const> = "curandDestroyGenerator(self)"
  return {
    makes = "generator", arrays = {}, options = lists.append({ { "kind", next(kinds), values = kinds } }, options),
    limits = lists.map(options, function(o) return { o[1], least = o.least, most = o.most } end),
    cuda = { one = { "curandCreateGenerator(&self, kind)", ... }, close = close,
             follow = "curandSetStream(self, queue)" },
    cpu = { one = { "curandCreateGeneratorHost(&self, kind)", ... }, close = close },
  }
end

local PSEUDO <const>, TWISTER <const> = { philox = 161, xorwow = 101, mrg32k3a = 121 }, { mt19937 = 142 }
local QUASI <const> = { sobol = 201, ["scrambled sobol"] = 202 }
local SEEDED <const>, LATER <const> = { "seed", 0, integer = true }, { "offset", 0, integer = true, least = 0 }
local POINTS <const> = { "dimensions", 1, integer = true, least = 1, most = 20000 }

local MEAN <const>, DEVIATION <const> = { "mean", 0.0 }, { "deviation", 1.0 }
local REALS <const> = { f32 = { real = "f32", letter = "" }, f64 = { real = "f64", letter = "Double" } }

local function draws(help, call, options, types)
  return { help = help, object = "generator", options = options, types = types or REALS, cuda = call, cpu = call,
           arrays = { { "x", "n n2? n3? n4?", writes = true, wide = true } } }
end

local functions = library.new {
  name = "moonwarp.rand",
  cuda = { library = "libcurand.so.10" },
  cpu = { library = "libcurand.so.10", install = "pip install nvidia-curand, or the CUDA toolkit" },
  functions = {
    pseudo = generator(PSEUDO, { SEEDED, LATER }, SEED, OFFSET),
    twister = generator(TWISTER, { SEEDED }, SEED),
    quasi = generator(QUASI, { POINTS, LATER }, DIMENSIONS, OFFSET),
    uniform = draws("numbers above 0 and up to 1", "curandGenerateUniform?(self, x, x.count)"),
    normal = draws("normal numbers", "curandGenerateNormal?(self, x, x.count, mean, deviation)", { MEAN, DEVIATION }),
    log_normal = draws("numbers whose logarithms are normal",
      "curandGenerateLogNormal?(self, x, x.count, mean, deviation)", { MEAN, DEVIATION }),
    poisson = draws("counts of events, of which there are `mean` on average",
      "curandGeneratePoisson(self, x, x.count, mean)", { { "mean", 1.0 } }, { u32 = { real = "f64" } }),
  },
}

-- ---- Philox on the CPU device ------------------------------------------------------------------------
local Philox = {}
Philox.__index = Philox
Philox.__tostring = function(self) return ("generator philox %s"):format(self.device:id()) end

local function own_draw(name, kind, names)
  return function(self, x, options)
    if core.type(x) ~= "array" then failure.invalid("%s: an array expected, got %s", name, core.type(x) or type(x)) end
    local o = schema.options(name, options, lists.merged({ stream = "userdata" }, names))
    local type_name = ({ f32 = "float", f64 = "double" })[x:dtype()]
    if not type_name then failure.invalid("%s(x): arrays of f32; or f64 expected, got %s", name, x:dtype()) end
    local count = #x
    local instance = ("draw<%s,moonwarp::%s>"):format(type_name, kind)
    local kernel = own_kernels.kernel(self.device, "moonwarp/rand.cu", instance)
    local threads = (self.place + count + 3) // 4 - self.place // 4
    kernel:prepare { grid = integer.ceil_div(threads, 128), block = 128, stream = o.stream }(
      x, count, self.place, self.origin, self.seed, o.mean or 0.0, o.deviation or 1.0)
    self.place = self.place + count
    return x
  end
end

local NAMES <const> = { mean = "number", deviation = "number" }
Philox.uniform = own_draw("uniform", "UNIFORM", {})
Philox.normal = own_draw("normal", "NORMAL", NAMES)
Philox.log_normal = own_draw("log_normal", "LOG_NORMAL", NAMES)

function Philox.poisson()
  failure.raise_as("unsupported", "poisson: the CPU device has none of kind 'philox'; give the generator another kind")
end

function Philox.close() end
Philox.__close = Philox.close

-- ---- generators --------------------------------------------------------------------------------------

local ROWS = {}
for name, kinds in pairs { pseudo = PSEUDO, twister = TWISTER, quasi = QUASI } do
  for kind in pairs(kinds) do ROWS[kind] = name end
end

local rand = { uniform = functions.uniform, normal = functions.normal, log_normal = functions.log_normal,
               poisson = functions.poisson }

--- A generator: its numbers go on from call to call.
---@param dev device
---@param options table?  kind ("philox"), seed (0), offset (0); of quasi-random kinds dimensions (1), offset
---@return any
rand.generator = api.func("rand.generator", 2, function(dev, options)
  local o = lists.merged({ kind = "philox" }, options)
  if not ROWS[o.kind] then
    failure.invalid("rand.generator: there is no kind '%s'; %s", tostring(o.kind), nearest.hint(o.kind, ROWS))
  end
  if o.kind ~= "philox" or dev:kind() == "gpu" then return functions[ROWS[o.kind]](dev, o) end
  schema.options("rand.generator", o, { kind = "string", seed = "number", offset = "number" })
  local offset = o.offset or 0
  return setmetatable({ device = dev, seed = o.seed or 0, place = offset, origin = offset // 4 }, Philox)
end)

return rand
