-- SPDX-License-Identifier: MIT
--
-- Fourier transforms: cuFFT on CUDA devices, FFTW on the CPU device, both without a factor: there and back is n times
-- the input. A complex array is one of f32 or f64 whose first side is 2: {2, nx, ny}. A plan is made for two arrays and
-- is called with them, or with others of those sides:
--
--   local forward, back = fft.plan(X, x), fft.plan(x, X)   -- x real of {nx, ny}, X of {2, nx // 2 + 1, ny}
--   forward(X, x)

local api = require "moonwarp.base.api"
local failure = require "moonwarp.base.failure"
local library = require "moonwarp.library"

local COMPLEX <const>, HALF <const>, REAL <const> = "2 x y? z?", "2 h y? z?", "x y? z?"
local ESTIMATE <const>, UNALIGNED <const> = 64, 2 -- FFTW's: plan without trying, for arrays at any address

local function product(list, first, last)
  local p = 1
  for d = first, last do p = p * list[d] end
  return p
end

-- A plan's words: how many sides are transformed, their lengths, the last first and two in a word, as ints; how many
-- transforms; and how far one is from the next in both arrays.
local function words_of(kind)
  return function(options, out, input)
    local sides = { (kind == "c2r" and out or input):shape() }
    if kind == "c2c" then table.remove(sides, 1) end
    local rank = options.dims > 0 and options.dims or math.min(#sides, 3)
    if rank > math.min(#sides, 3) then
      failure.invalid("fft.plan: option 'dims' is %d at most, got %d", math.min(#sides, 3), rank)
    end
    local n = {}
    for d = 1, rank do n[d] = sides[rank + 1 - d] end
    local whole = product(sides, 1, rank)
    local half = whole // sides[1] * (sides[1] // 2 + 1)
    return rank, n[1] | (n[2] or 0) << 32, n[3] or 0, product(sides, rank + 1, #sides),
           kind == "c2r" and half or whole, kind == "r2c" and half or whole
  end
end

-- Plans of a kind: from which sides to which, cuFFT's numbers and names for both types, FFTW's name, and whether it
-- has a direction. FFTW and cuFFT overwrite the input of c2r.
local function plans(kind, from, to, cufft, fftw, sign)
  local may_be_one, is_lost = kind == "c2c", kind == "c2r"
  local arrays = { { "out", to, writes = true, in_place = may_be_one },
                   { "in", from, reads = true, writes = is_lost } }
  local function types(f32, f64)
    return {
      ["f32 f32"] = { cuda = f32, cpu = { letter = "f", library = "libfftw3f.so.3",
                                          install = "apt-get install libfftw3-single3" } },
      ["f64 f64"] = { cuda = f64, cpu = { letter = "", library = "libfftw3.so.3",
                                          install = "apt-get install libfftw3-double3" } } }
  end
  return {
    makes = "plan", arrays = arrays, types = types({ kind = cufft[1] }, { kind = cufft[3] }),
    options = { { "dims", 0, integer = true }, sign and { "inverse", false, flags = { -1, 1 } } },
    words = { "rank", "n", "third", "batch", "idist", "odist", of = words_of(kind) },
    cuda = { one = "cufftPlanMany(&self, rank, &n, 0, 1, 0, 0, 1, 0, kind, batch)", close = "cufftDestroy(self)",
             follow = "cufftSetStream(self, queue)" },
    cpu = { one = ("fftw?_plan_many_%s(rank, &n, batch, in, 0, 1, idist, out, 0, 1, odist%s, %d) -> self"):format(fftw,
              sign and ", inverse" or "", ESTIMATE | UNALIGNED),
            close = "fftw?_destroy_plan(self) -> none" },
    call = {
      arrays = arrays, types = types({ letter = cufft[2] }, { letter = cufft[4] }),
      cuda = "cufftExec?(self, in, out" .. (sign and ", inverse)" or ")"),
      cpu = ("fftw?_execute_%s(self, in, out) -> none"):format(fftw),
    },
  }
end

local functions = library.new {
  name = "moonwarp.fft",
  cuda = { library = "libcufft.so.12 libcufft.so.11" },
  cpu = { library = "libfftw3.so.3" },
  functions = {
    c2c = plans("c2c", COMPLEX, COMPLEX, { 0x29, "C2C", 0x69, "Z2Z" }, "dft", true),
    r2c = plans("r2c", REAL, HALF, { 0x2a, "R2C", 0x6a, "D2Z" }, "dft_r2c"),
    c2r = plans("c2r", HALF, REAL, { 0x2c, "C2R", 0x6c, "Z2D" }, "dft_c2r"),
  },
}

-- Whether `complex` are the sides of what a real transform of these makes.
local function is_half(complex, real)
  if complex[1] ~= 2 or #complex ~= #real + 1 or complex[2] ~= real[1] // 2 + 1 then return false end
  for d = 2, #real do if complex[d + 1] ~= real[d] then return false end end
  return true
end

local fft = {}

--- A plan for two arrays: real to complex, complex to real, or complex to complex.
---@param out array
---@param input array       may be out, of a complex transform
---@param options table?    dims (how many sides are transformed, the others are a batch; all); inverse (false)
---@return any plan
fft.plan = api.func("fft.plan", 3, function(out, input, options)
  local o, i = { out:shape() }, { input:shape() }
  local kind = is_half(o, i) and "r2c" or is_half(i, o) and "c2r"
    or table.concat(o, " ") == table.concat(i, " ") and o[1] == 2 and #o > 1 and "c2c"
  if not kind then
    failure.invalid("fft.plan: arrays of {2, nx, ...} and {2, nx, ...}, or of {nx, ...} and {2, nx // 2 + 1, ...} " ..
      "expected, got {%s} and {%s}", table.concat(o, ", "), table.concat(i, ", "))
  end
  return functions[kind](out, input, options)
end)

return fft
