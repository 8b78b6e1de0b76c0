-- SPDX-License-Identifier: MIT
--
-- Code that nvcc has compiled: cubins, PTX and fat binaries as modules. On a GPU they run; an offline target reads
-- cubins; the other devices name the way out.

local fake = require "tests.support.fake"
local support = require "tests.support"
local mw = support.mw
local fails, fails_as = support.fails, support.fails_as

local SOURCE = [[
__constant__ float offset[1];
__global__ void fill(float *x, float value, int n) { if (threadIdx.x < n) x[threadIdx.x] = value + offset[0]; }
template <typename T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
template __global__ void scale<double>(double *, double);
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
]]
local VARIABLE = "__constant__ float offset[1];\n"
local DECLARED = 'extern "C" __global__ void saxpy(int n, float a, const float *x, float *y);'

local has_nvcc = os.execute "nvcc --version >/dev/null 2>&1" == true
local with_nvcc = has_nvcc and describe or pending

-- What nvcc makes of the source with these options, in a folder for the length of the function.
local function compiled(options, body)
  support.with_folder(function(folder)
    support.write(folder .. "/k.cu", SOURCE)
    local made = folder .. "/k.out"
    assert(os.execute(("nvcc %s -o %s %s/k.cu"):format(options, made, folder)))
    body(made, folder)
  end)
end

with_nvcc("a cubin on an offline target", function()
  local dev = support.has_nvrtc() and mw.device "cuda:sm_90"
  if not dev then return end
  support.no_leaks()

  it("has its kernels by name, with what the code and the mangled names say", function()
    compiled("-arch=sm_90 -cubin", function(path)
      local m <close> = dev:module { cubin = path }
      local names = m:kernels()
      table.sort(names)
      assert.are.same({ "fill", "saxpy", "scale<double>" }, names)
      assert.are.equal("fill(float *, float, int)", m.fill:signature())
      assert.are.equal("scale<double>(double *, double)", m:kernel "scale<double>":signature())
      assert.are.equal("saxpy(4 bytes, 4 bytes, void *, void *)", m.saxpy:signature())
      assert.is_true(m.fill:attributes().registers > 0)
      assert.is_nil(m.fill:attributes().spill_stores)
      assert.is_true(m.fill:occupancy(256).blocks > 0)
      assert.are.same({ false, "", "" }, { m:from_cache(), m:log(), m:cpp() })
      fails_as("unsupported", function() m:ptx() end, "was loaded as code of sm_90, which has no PTX")
      fails_as("not_found", function() m:kernel "scale" end, "did you mean 'scale<double>'?")
      fails_as("not_found", function() m:kernel "scale<float>" end, "has no kernel 'scale<float>'; it has: ")
    end)
  end)

  it("has the types and names of its parameters from declarations, or from its source", function()
    compiled("-arch=sm_90 -cubin", function(path, folder)
      local declared <close> = dev:module { cubin = path, source = DECLARED, name = "mine" }
      assert.are.equal("module 'mine' cuda:sm_90", tostring(declared))
      assert.are.equal("saxpy(int n, float a, const float *x, float *y)", declared.saxpy:signature())
      local beside <close> = dev:module { cubin = path, file = folder .. "/k.cu" }
      assert.are.equal("saxpy(int n, float a, const float *x, float *y)", beside.saxpy:signature())
      assert.are.equal("fill(float *x, float value, int n)", beside.fill:signature())
      assert.are.same({ "fill", "saxpy", "scale<double>" }, beside:kernels())
    end)
  end)

  it("may be a string, and the fitting part of a fat binary", function()
    compiled("-arch=sm_90 -cubin", function(path)
      local m <close> = dev:module { cubin = support.read(path) }
      assert.are.equal("module 'cubin' cuda:sm_90", tostring(m))
    end)
    local both = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"
    compiled(both .. " -gencode arch=compute_90,code=compute_90 -fatbin", function(path)
      local m <close> = dev:module { fatbin = path }
      assert.are.equal("fill(float *, float, int)", m.fill:signature())
      local ampere <close> = mw.device "cuda:sm_86":module { fatbin = path }
      assert.are.equal(3, #ampere:kernels())
      fails_as("invalid", function() mw.device "cuda:sm_100":module { fatbin = path } end,
        "has code for sm_80, sm_90, which cuda:sm_100 (sm_100) does not run: compile it with nvcc -arch=sm_100")
      local whole = support.read(path)
      for _, size in ipairs { 16, 40, 100, #whole // 2 } do -- damaged
        fails_as("invalid", function() dev:module { fatbin = whole:sub(1, size) } end, "fatbin")
      end
    end)
  end)

  it("is for the architecture", function()
    compiled("-arch=sm_90 -cubin", function(path)
      fails_as("invalid", function() mw.device "cuda:sm_80":module { cubin = path } end,
        "has code for sm_90, which cuda:sm_80 (sm_80) does not run: compile it with nvcc -arch=sm_80")
    end)
  end)

  it("is none of the other things that nvcc makes", function()
    compiled("-arch=sm_90 -cubin", function(path)
      fails_as("invalid", function() dev:module { ptx = path } end, "is a cubin: give it as 'cubin'")
      fails_as("invalid", function() dev:module { cubin = support.read(path):sub(1, 200) } end,
        "'cubin' is damaged: its code cannot be read")
    end)
    compiled("-arch=sm_90 -ptx", function(path)
      fails_as("invalid", function() dev:module { cubin = path } end, "is PTX: give it as 'ptx'")
      fails_as("unsupported", function() dev:module { ptx = path } end,
        "cuda:sm_90 has no driver, which compiles PTX: compile ", "with ptxas -arch=sm_90")
    end)
    compiled("-arch=sm_90 -c", function(path)
      fails_as("invalid", function() dev:module { cubin = path } end,
        "is an object of the host: nvcc -cubin makes a cubin, cuobjdump -xelf all takes those of an object out")
    end)
    fails_as("invalid", function() dev:module { cubin = "no\nsuch thing" } end,
      "option 'cubin': 'cubin' is not code that nvcc makes")
  end)
end)

support.each_device("compiled code", function(dev, id)
  it("takes no option of a compiler", function()
    fails(function() dev:module { cubin = "k.cubin", defines = {} } end, "bad argument #1 to 'module' (unknown option "
      .. "'defines'; it takes cubin, ptx, fatbin, file, source, name, warnings)")
    fails(function() dev:module { cubin = "nowhere.cubin", ptx = "nowhere.ptx" } end,
      "a module is loaded from one of 'cubin', 'ptx' and 'fatbin', got 'cubin' and 'ptx'")
    fails(function() dev:module { cubin = "" } end, "option 'cubin' is a path or the code itself, got an empty string")
    support.fails_with(function() dev:module { cubin = "nowhere.cubin" } end,
      "cannot read the kernel file 'nowhere.cubin'")
  end)

  if dev:kind() ~= "gpu" then
    it("is of a GPU", function()
      fails_as("unsupported", function() dev:module { ptx = ".target sm_90\n", name = "k.ptx" } end,
        "'k.ptx' is code of a GPU, which " .. id
          .. " does not run: compile its source there, dev:module { file = ... }")
    end)
    return
  end

  it("runs", function()
    local made <close> = dev:module { source = SOURCE }
    local m <close> = dev:module { ptx = made:ptx(), source = VARIABLE .. DECLARED }
    m:set("offset", 1)
    local x <close> = dev:array("f32", { 1, 2, 3 })
    local y <close> = dev:zeros("f32", 3)
    m.fill:launch(1, 32, y, 0.5, 3)
    m.saxpy:launch(1, 32, 3, 10, x, y)
    assert.are.same({ 11.5, 21.5, 31.5 }, y:totable())
    local z <close> = dev:array("f64", { 1, 2 })
    m:kernel "scale<double>":launch(1, 2, z, 3)
    assert.are.same({ 3.0, 6.0 }, z:totable())
    assert.is_true(m.fill:attributes().registers > 0)
    fails_as("unsupported", function() m:sass() end, "the driver compiles the PTX")
  end)

  local runs_cubin = has_nvcc and it or pending
  runs_cubin("runs as a cubin and as a fat binary", function()
    local arch = "-arch=" .. dev:properties().arch
    for form, option in pairs { cubin = "-cubin", fatbin = "-fatbin" } do
      compiled(arch .. " " .. option, function(path)
        local m <close> = dev:module { [form] = path, source = VARIABLE .. DECLARED }
        m:set("offset", 0)
        local x <close> = dev:array("f32", { 1, 2, 3 })
        local y <close> = dev:zeros("f32", 3)
        m.saxpy:launch(1, 32, 3, 2, x, y)
        assert.are.same({ 2.0, 4.0, 6.0 }, y:totable())
      end)
    end
  end)
end)

local has_cuda = support.core.device_word "cuda" and fake.is_possible() and support.has_nvrtc()
local over_mock = has_cuda and describe or pending

over_mock("the CUDA device over a fake driver", function()
  it("loads PTX, finds its kernels and gives the text back", function()
    local output = fake.run [[
      local source = "__global__ void fill(float *x, float value, int n) { x[threadIdx.x] = value; }"
      local ptx = mw.device "cuda:sm_80":module { source = source }:ptx()
      local dev = mw.device "cuda:0"
      local m, x = dev:module { ptx = ptx, name = "k.ptx" }, dev:zeros("f32", 4)
      m.fill:launch(1, 4, x, 7, 4)
      print(m.fill:signature(), x:get(4), m:ptx() == ptx, m)
      print(select(2, pcall(m.sass, m)).text)
    ]]
    assert.are.equal("fill(float *, float, int)\t7.0\ttrue\tmodule 'k.ptx' cuda:0\n"
      .. "SASS: the driver compiles the PTX of 'k.ptx', and keeps the code to itself\n", output)
  end)

  it("says what the driver says of code that it does not load", function()
    local output = fake.run([[
      local dev = mw.device "cuda:0"
      local ok, problem = pcall(dev.module, dev, { ptx = ".target sm_90\n", name = "k.ptx" })
      print(problem.status, problem.text)
    ]], { MOCK_CUDA_FAIL = "cuModuleLoadDataEx:218:1" })
    assert.are.equal("driver\tloading 'k.ptx' for sm_90 failed: cuModuleLoadDataEx: CUDA_ERROR_218 (218): a failure of "
      .. "the mock\n", output)
  end)
end)
