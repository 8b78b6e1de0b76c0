-- SPDX-License-Identifier: MIT
--
-- The bytes between an array of the CPU device and the inaccessible areas beside it: writes there are found after the
-- launch, by a pattern that is NaN for floats.

local session = require "moonwarp.session"
local support = require "tests.support"
local mw = support.mw

local TYPES <const> = {
  f16 = "__half", bf16 = "__nv_bfloat16", f32 = "float", f64 = "double",
  i8 = "signed char", i32 = "int", u16 = "unsigned short", i64 = "long long",
}
local WIDTH <const> = { f16 = 2, bf16 = 2, f32 = 4, f64 = 8, i8 = 1, i32 = 4, u16 = 2, i64 = 8 }

-- Some of them in one module: put_f32, twice_f32, get_f32.
local function source()
  local lines = { "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" }
  for dtype, T in pairs(TYPES) do
    lines[#lines + 1] = ([[
      __global__ void put_NAME(T *a, int i) { a[i] = (T)1; }
      __global__ void twice_NAME(T *a, int i) { a[i] = a[i] * (T)2; }
      __global__ void get_NAME(T *out, const T *a, int i) { out[0] = a[i]; out[1] = a[i] + (T)1; }
    ]]):gsub("%f[%w]T%f[%W]", T):gsub("NAME", dtype)
  end
  return table.concat(lines)
end

describe("the bytes beside an array", function()
  support.no_leaks()
  local dev = mw.device "cpu"
  local m

  setup(function() m = dev:module { source = source() } end)
  teardown(function() m:close() end)

  -- An update in place reads first: where the inaccessible area begins, that is found.
  local function fails_at(a, n, i, launch, name)
    local width = WIDTH[a:dtype()]
    local place = i == n and "just past the end" or ("%d byte%s before the start"):format(-i * width,
      -i * width == 1 and "" or "s")
    support.fails_with(launch, " outside every array: block (0,0,0), thread (0,0,0), " .. place, name,
      ("an array of %d bytes (offset %d; index %d, it has %d elements"):format(n * width, i * width, i, n))
  end

  for dtype in pairs(TYPES) do
    it("keep what " .. dtype .. " writes there from going unseen", function()
      for _, n in ipairs { 101, 1001, 1000 } do
        local a <close> = dev:zeros(dtype, n)
        for _, i in ipairs { n, -1, -2, -64 } do
          for _, kernel in ipairs { m["put_" .. dtype], m["twice_" .. dtype] } do
            fails_at(a, n, i, function() kernel:launch(1, 1, a, i) end, "parameter 1 'a'")
          end
        end
        m["put_" .. dtype]:launch(1, 1, a, 0) -- the pattern is whole again
        m["put_" .. dtype]:launch(1, 1, a, n - 1)
      end
    end)
  end

  -- Behind an array whose size is not a multiple of 16, and in front of one that does not begin where its page does.
  it("are NaN for a float, so that the result's check fails", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      local a <close> = dev:zeros(dtype, 101)
      local out <close> = dev:zeros(dtype, 2)
      for _, i in ipairs { 101, -1, -101 } do
        m["get_" .. dtype]:launch(1, 1, out, a, i)
        for k = 1, 2 do assert.are_not.equal(out:get(k), out:get(k), dtype .. " at " .. i) end
        local before = session.current.failed_checks -- a failure that is provoked is not the suite's
        assert.is_false((mw.check(out, 0, { quiet = true, absolute = 1e300 })))
        session.current.failed_checks = before
      end
    end
  end)

  it("name the thread and block that wrote in front", function()
    local shift <close> = dev:module { source = [[
      __global__ void shift(float *b, const float *a, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) b[i - 1] = a[i];
      }
      __global__ void meet(float *b, int at) {
        __shared__ float s[32];
        s[threadIdx.x] = 1;
        __syncthreads();
        if (blockIdx.x == 1 && threadIdx.x == 9) b[at] = s[31 - threadIdx.x];
      }
    ]] }
    local a <close> = dev:zeros("f32", 1000)
    local b <close> = dev:zeros("f32", 1000)
    support.fails_with(function() shift.shift:launch(8, 128, b, a, 1000) end, "block (0,0,0), thread (0,0,0)",
      "4 bytes before the start of parameter 1 'b'")
    support.fails_with(function() shift.meet:launch(3, 32, b, -5) end, "block (1,0,0), thread (9,0,0)",
      "20 bytes before the start of parameter 1 'b'", "index -5")
  end)

  -- The second array's pattern stayed broken, and the next launch that took it failed.
  it("are whole after an error, of all arrays", function()
    local both <close> = dev:module { source = [[
      __global__ void both(int *a, int *b, int i) { a[i] = 1; b[i] = 1; }
    ]] }
    local a <close> = dev:zeros("i32", 5)
    local b <close> = dev:zeros("i32", 5)
    support.fails_with(function() both.both:launch(1, 1, a, b, 5) end, "parameter 1 'a'")
    both.both:launch(1, 1, b, b, 4)
    assert.are.equal(1, b:get(5))
  end)
end)
