-- SPDX-License-Identifier: MIT
--
-- The first access of a thread to the thread-local variables of a module allocates them. clang++ keeps values in vector
-- registers 16 to 31 over that, which a C library's memset uses: a kernel's constants were gone in its first launch,
-- where the allocation wrote to the memory.

local support = require "tests.support"

it("a kernel's first launch keeps its constants while its thread-local memory is allocated", function()
  local printed = support.child_passes([[
    local dev = require "moonwarp".device "cpu"
    for n = 1, 3 do
      local low, high = {}, {}
      for i = 1, n do low[i], high[i] = -i, i end
      for _, dtype in ipairs { "i16", "i32", "i64", "f32", "f64" } do
        local a <close>, b = dev:array(dtype, high), dev:array(dtype, low)
        assert(dev:min(a) == 1 and dev:max(b) == -1 and dev:sum(a) == n * (n + 1) // 2, dtype .. " of " .. n)
        b:close()
      end
    end
    print "right"
  ]], { env = { GLIBC_TUNABLES = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=66" } })
  assert.are.equal("right", (printed:match "%S+"))
end)
