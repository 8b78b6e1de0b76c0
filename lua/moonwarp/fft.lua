-- SPDX-License-Identifier: MIT
--
-- Fourier transforms: cuFFT on CUDA devices, FFTW on the CPU device, both without a factor: there and back is n times
-- the input. A complex array is one of f32 or f64 whose first side is 2: {2, nx, ny}. A plan is made for arrays of
-- some sides and is called with them, or with others of those sides:
--
--   local forward, back = fft.plan(X, x), fft.plan(x, X)   -- x real of {nx, ny}, X of {2, nx // 2 + 1, ny}
--   forward(X, x)

local api = require "moonwarp.base.api"
local failure = require "moonwarp.base.failure"
local library = require "moonwarp.library"
local schema = require "moonwarp.base.schema"

local KINDS = { c2c = { f32 = 0x29, f64 = 0x69 }, r2c = { f32 = 0x2a, f64 = 0x6a }, c2r = { f32 = 0x2c, f64 = 0x6c } }
local FFTW = { f32 = "fftwf", f64 = "fftw" }
local EXECUTE = { c2c = { f32 = "C2C", f64 = "Z2Z" }, r2c = { f32 = "R2C", f64 = "D2Z" },
                  c2r = { f32 = "C2R", f64 = "Z2D" } }
local FFTW_KIND = { c2c = "dft", r2c = "dft_r2c", c2r = "dft_c2r" }

-- One library a kind and type: their functions differ in name and in what they take.
local function make(kind, dtype)
  local cufft = kind == "c2c" and "cufftExec%s(self, in, out, direction)" or "cufftExec%s(self, in, out)"
  local arrays = { { "out", "o1 o2? o3? o4?", writes = true, in_place = true }, { "in", "i1 i2? i3? i4?" } }
  local function execute(direction)
    return { object = true, arrays = arrays, types = { [dtype .. " " .. dtype] = { direction = direction } },
             cuda = cufft:format(EXECUTE[kind][dtype]),
             cpu = ("%s_execute_%s(self, in, out) -> none"):format(FFTW[dtype], FFTW_KIND[kind]) }
  end
  return {
    name = "moonwarp.fft",
    cuda = { library = "libcufft.so.12 libcufft.so.11", new = {
      open = "cufftPlanMany(&self, rank, &n, 0, 1, 0, 0, 1, 0, kind, batch)", close = "cufftDestroy(self)",
      follow = "cufftSetStream(self, queue)" } },
    cpu = { library = dtype == "f32" and "libfftw3f.so.3" or "libfftw3.so.3",
            install = "apt-get install libfftw3-" .. (dtype == "f32" and "single3" or "double3"),
            new = {
      open = ("%s_plan_many_%s(rank, &n, batch, in, 0, 1, idist, out, 0, 1, odist%s, flags) -> self")
        :format(FFTW[dtype], FFTW_KIND[kind], kind == "c2c" and ", direction" or ""),
      close = FFTW[dtype] .. "_destroy_plan(self) -> none" } },
    functions = {
      forward = execute(-1), inverse = execute(1),
    },
  }
end

local made = {}
local function of(kind, dtype)
  local name = kind .. dtype
  if not made[name] then
    local self = make(kind, dtype)
    made[name] = { self = self, calls = library.new(self) }
  end
  return made[name]
end

-- The kind and the real sides: complex arrays have 2 first.
local function kind_of(out, input)
  local o, i = { out:shape() }, { input:shape() }
  local function is_half(complex, real)
    if complex[1] ~= 2 or #complex ~= #real + 1 or complex[2] ~= real[1] // 2 + 1 then return false end
    for d = 2, #real do if complex[d + 1] ~= real[d] then return false end end
    return true
  end
  if is_half(o, i) then return "r2c", i end
  if is_half(i, o) then return "c2r", o end
  if table.concat(o, " ") == table.concat(i, " ") and o[1] == 2 and #o > 1 then
    return "c2c", table.move(o, 2, #o, 1, {})
  end
  failure.invalid("fft.plan: arrays of {2, nx, ...} and {2, nx, ...}, "
    .. "or of {nx, ...} and {2, nx // 2 + 1, ...} expected, got {%s} and {%s}",
    table.concat(o, ", "), table.concat(i, ", "))
end

local function product(list, first, last)
  local p = 1
  for d = first, last do p = p * list[d] end
  return p
end

local Plan = {}
Plan.__index = Plan
Plan.__close = function(self) self.object:close() end
Plan.__tostring = function(self) return ("plan %s of %s"):format(self.kind, table.concat(self.sides, " x ")) end

--- Transforms: out = F(in), of arrays with the plan's sides and types.
Plan.__call = function(self, out, input, options)
  if #out ~= self.out or #input ~= self.input then
    failure.invalid("%s: arrays of %d and %d numbers expected, got %d and %d", tostring(self), self.out, self.input,
      #out, #input)
  end
  if (out == input) ~= self.in_place then
    failure.invalid("%s: it was made for %s", tostring(self), self.in_place and "one array" or "two arrays")
  end
  return self.execute(self.object, out, input, options)
end

function Plan:close() self.object:close() end

local fft = {}

--- A plan for two arrays: real to complex, complex to real, or complex to complex.
---@param out array
---@param input array       may be out, of a complex transform
---@param options table?    inverse (false), dims (how many sides are transformed, the others are a batch; all)
---@return table plan
fft.plan = api.func("fft.plan", 3, function(out, input, options)
  local o = schema.options("fft.plan", options, { inverse = "boolean", dims = "number" })
  local kind, sides = kind_of(out, input)
  local rank, dtype, dev = o.dims or math.min(#sides, 3), input:dtype(), out:device()
  if not FFTW[dtype] then failure.invalid("fft.plan: arrays of f32 or f64 expected, got %s", dtype) end
  local n, real, half = {}, product(sides, 1, rank), sides[1] // 2 + 1
  for d = 1, rank do n[d] = sides[rank + 1 - d] end
  local complex = kind == "c2c" and real or real // sides[1] * half
  local it, backend = of(kind, dtype), dev:id():match "^%a+"
  local place = it.self[backend]
  local inverse = o.inverse or kind == "c2r"
  local object = library.object(it.self, dev, backend, place.new, {
    rank = rank, n = { n[1] | (n[2] or 0) << 32, n[3] or 0 }, batch = product(sides, rank + 1, #sides),
    kind = KINDS[kind][dtype], idist = kind == "r2c" and real or complex, odist = kind == "c2r" and real or complex,
    direction = inverse and 1 or -1, flags = 64 | 2,
    ["in"] = 64, out = out == input and 64 or 128 }) -- FFTW only asks whether they are one
  return setmetatable({ object = object, kind = kind, sides = sides, in_place = out == input,
                        out = #out, input = #input,
                        execute = it.calls[inverse and "inverse" or "forward"] }, Plan)
end)

return fft
