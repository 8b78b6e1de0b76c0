-- SPDX-License-Identifier: MIT
--
-- CUDA's built-ins, by the self-checking kernels of tests/shim, on every device and by every engine.

local support = require "tests.support"
local core = support.core

local FILES = {}
for _, path in ipairs(support.files(core.home() .. "/tests/shim")) do
  if path:find "%.cu$" then FILES[#FILES + 1] = path end
end

describe("CUDA's built-ins", function()
  it("have checks in tests/shim", function() assert.is_true(#FILES >= 1) end)
end)

-- Kernels that ask for a launch of their own (see the head of groups.cu).
local OWN = {
  check_grid_sync = { cooperative = true },
  check_short_warp = { block = { 40, 1, 1 } },
}

support.each_device("CUDA's built-ins", function(dev, id)
  for _, path in ipairs(FILES) do
    for _, engine in ipairs(id == "cpu" and { "auto", "fiber" } or { "auto" }) do
      it(("are right in %s by engine %s"):format(path:match "[^/]*$", engine), function()
        local m <close> = dev:module { file = path, engine = engine }
        assert.is_true(#m:kernels() >= 3)
        local wrong <close> = dev:zeros("i32", 2)
        for _, name in ipairs(m:kernels()) do
          if name:find "^check_" then
            wrong:fill(0)
            local own = OWN[name] or {}
            m[name]:prepare { grid = { 2, 2 }, block = own.block or { 64, 2, 2 }, cooperative = own.cooperative }(wrong)
            dev:synchronize()
            assert.are.equal(0, wrong:get(1), ("%s by %s: %d checks failed, one at line %d"):format(name,
              m[name]:engine(), wrong:get(1), wrong:get(2)))
          end
        end
      end)
    end
  end
end)

-- What is generated of a source, by the compiler and options that are at work.
local function generated(dev, source)
  local m <close> = dev:module { source = source, name = "plain.cu", cache = false }
  return (m:cpp():gsub("%s+", " "))
end

describe("a unit", function()
  local dev
  before_each(function() dev = core.device "cpu" end)

  it("includes the families of functions that its text mentions", function()
    for text, header in pairs { ["atomicAdd(p, 1)"] = "atomic", ["*p = __vadd4(1, 2)"] = "packed",
                                ["*p = __float_as_int(1.0f)"] = "convert", ["*p = (int)__fadd_rz(1, 2)"] = "rounded",
                                ["*p = (int)erfcinv(0.5)"] = "special" } do
      local cpp = generated(dev, ("__global__ void k(int *p) { %s; }"):format(text))
      assert.is_truthy(cpp:find(('#include <moonwarp/%s.h>'):format(header), 1, true), text)
    end
    local cpp = generated(dev, "__global__ void k(int *p) { *p = min(*p, (int)sqrtf(2.0f)); }")
    assert.is_nil(cpp:find("moonwarp/", 1, true))
  end)

  it("is the same whether or not the preprocessor has read its text", function()
    for _, body in ipairs {
      "// one\n/* two\n three */ y[i] = x[i]; /**/ y[i] += '\"' > '/' ? 1 : 2; // four \"",
      "#pragma unroll 4 // five\nfor (int k = 0; k < 4; k++) y[i] += x[k]; __syncthreads();\n#  pragma unroll\n"
        .. "for (int k = 0; k < 4; k++) y[i] += x[k];",
      '#pragma unroll\nfor (int k = 0; k < 4; k++) printf("/* %d // \\" #define\\n", i);',
      'y[i] = R"(\n#if " )"[0] + 1\'0e-3f + .5f;', "y[i] = __LINE__ + i+++i;",
    } do
      local text = "namespace { __device__ float f(float v) { return v; } }\n__global__ void k(float *y, float *x)\n"
        .. ("{\nint i = threadIdx.x;\n%s\ny[i] = f(y[i]);\n}\n"):format(body)
      assert.are.equal(generated(dev, text .. "#define LAST\n"), generated(dev, text), body)
    end
  end)

  it("keeps what the preprocessor says of a text without directives", function()
    support.fails_with(function() generated(dev, "__global__ void k(float *y) { y[0] = 1; }\n/* no end") end, "comment")
    local m <close> = dev:module { source = "__global__ void k(int *y) { y[0] = __CUDA_ARCH__; }", name = "arch.cu" }
    local y <close> = dev:zeros("i32", 1)
    m.k:launch(1, 1, y)
    assert.are.equal(800, y:get(1))
  end)
end)
