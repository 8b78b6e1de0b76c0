-- SPDX-License-Identifier: MIT
--
-- Kernels that C++ tells apart by their parameters were refused on the CPU device. And a kernel's parameter was copied
-- and destroyed there by the host's functions, where the device has its bits alone.

local support = require "tests.support"
local fails_as = support.fails_as

local SOURCE <const> = [[
struct mark { int x; };
__global__ void fill(int *a, const mark m) { a[threadIdx.x] = m.x; }
__global__ void fill(float *a, const mark m) { __shared__ float s; s = m.x; __syncthreads(); a[threadIdx.x] = s / 2; }
__global__ void one(int *a) { a[threadIdx.x] = 1; }
]]

local COUNTED <const> = [[
#include <nowhere.h>
struct counted {
  int *at;
  explicit counted(int *to);
  counted(const counted &other) : at(other.at + 1) { }
  ~counted();
};
counted::~counted() { at[0] = -1; }
__global__ void store(counted c) { c.at[threadIdx.x] = threadIdx.x; }
__global__ void turn(counted c) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  c.at[threadIdx.x] = s[31 - threadIdx.x];
}
]]

support.each_device("overloaded kernels", function(dev, _, runs)
  runs("are found by their signatures", function()
    local m <close> = dev:module { source = SOURCE, name = "x.cu" }
    local floats <close> = dev:zeros("f32", 4)
    local integers <close> = dev:zeros("i32", 4)
    local mark = string.pack("i4", 7)
    m:kernel "fill(int *, mark)":launch(1, 4, integers, mark)
    m:kernel "fill(float*,mark)":launch(1, 4, floats, mark)
    assert.are.same({ 7, 7, 7, 7 }, integers:totable())
    assert.are.same({ 3.5, 3.5, 3.5, 3.5 }, floats:totable())
    fails_as("invalid", function() m:kernel "fill" end, "overloaded: give one whole signature: fill(")
    fails_as("not_found", function() m:kernel "fill(double *, mark)" end, "no kernel 'fill(double *, mark)'")
    local names = m:kernels()
    table.sort(names)
    assert.are.same({ "fill", "one" }, names)
  end)
end)

support.each_device("a parameter of a class that the host copies and destroys", function(dev, _, runs)
  runs("is bits on the device", function()
    local m <close> = dev:module { source = COUNTED, name = "x.cu" }
    local a <close> = dev:zeros("i32", 32)
    local wanted = {}
    for _, name in ipairs { "store", "turn" } do
      m:kernel(name):launch(1, 32, string.pack("J", a:address()))
      for i = 1, 32 do wanted[i] = name == "store" and i - 1 or 32 - i end
      assert.are.same(wanted, a:totable(), name)
      assert.are_not.equal("fiber", m:kernel(name):engine())
    end
  end)
end)
