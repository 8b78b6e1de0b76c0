-- SPDX-License-Identifier: MIT
--
-- A variable that only one lane has set is handed over by all: the usual form of an atomic for a warp. clang++ took an
-- argument for defined, and every lane for the one.
-- luacheck: std +busted

local support = require "tests.support"

local KERNEL = [[
__device__ __noinline__ int first(unsigned active, int value, int leader) {
  return __shfl_sync(active, value, leader);
}
__global__ void count(int *total, int *from) {
  const unsigned active = __activemask();
  const int leader = __ffs(active) - 1;
  int base;
  if (threadIdx.x % 32 == leader) base = atomicAdd(total, __popc(active));
  from[threadIdx.x] = first(active, base, leader);
}
]]

support.each_device("an argument that one lane has set", function(dev, _, runs)
  runs("is what that lane has set", function()
    local total, from = dev:zeros("i32", 1), dev:array("i32", 96)
    local m <close> = dev:module { source = KERNEL }
    m.count:launch(1, 96, total, from)
    assert.are.equal(96, total:get(1))
    local seen = {}
    for i = 1, 96 do
      assert.are.equal(from:get((i - 1) // 32 * 32 + 1), from:get(i))
      seen[from:get(i)] = true
    end
    assert.are.same({ [0] = true, [32] = true, [64] = true }, seen)
    total:close()
    from:close()
  end)
end)
