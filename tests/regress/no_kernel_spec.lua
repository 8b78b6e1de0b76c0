-- SPDX-License-Identifier: MIT
--
-- A program's main file without kernels used to say only that there are none, and the files beside it have them.

local support = require "tests.support"
local mw = support.mw

describe("a file without kernels", function()
  it("names the files beside it that have some", function()
    support.with_folder(function(folder)
      support.write(folder .. "/main.cu", "#include <vector>\nint main() { std::vector<int> x; }\n")
      support.write(folder .. "/plain.cu", "__device__ int half(int x) { return x / 2; }\n")
      support.write(folder .. "/one.cu", "__global__ void one(int *x) { *x = 1; }\n")
      support.write(folder .. "/two.cuh", "template <class T> __global__ void two(T *x) { *x = 2; }\n")
      support.write(folder .. "/notes.txt", "__global__\n")
      local dev = mw.device "cpu"
      local ok, problem = pcall(dev.module, dev, folder .. "/main.cu")
      assert.is_false(ok)
      assert.is_truthy(problem.text:find("there is no kernel, a __global__ function, in it; kernels are in 'one.cu', "
        .. "'two.cuh' beside it", 1, true), problem.text)
      local plain = dev:module(folder .. "/plain.cu")
      ok, problem = pcall(plain.kernel, plain, "one")
      assert.is_false(ok)
      assert.is_truthy(problem.text:find("kernels are in 'one.cu', 'two.cuh' beside it", 1, true), problem.text)
    end)
  end)
end)
