-- SPDX-License-Identifier: MIT
--
-- Modules: sources, options, the compiler's log, variables, templates.

local support = require "tests.support"
local core, mw = support.core, support.mw
local fails, fails_as, fails_with = support.fails, support.fails_as, support.fails_with

local BASIC = support.kernel_file "basic.cu"
local VARIABLES = support.kernel_file "variables.cu"
local WRITE_N = "__global__ void write_n(int *x) { x[0] = N; }\n"

support.each_device("a module", function(dev, id)
  local function run(module, name, count)
    local x <close> = dev:zeros("i32", count or 1)
    module[name]:launch(1, 1, x)
    return x:get(1)
  end

  describe("made from a file", function()
    it("is found by path and in kernels/", function()
      local a <close> = dev:module(BASIC)
      local b <close> = dev:module "triad.cu"
      assert.are.equal("module", mw.type(a))
      assert.are.equal(("module '%s' %s"):format(BASIC, id), tostring(a))
      assert.are.equal(dev, a:device())
      assert.are.same({ "triad" }, b:kernels())
      assert.are.equal("kernel", mw.type(b.triad))
    end)

    it("lists its plain kernels in the order of the source", function()
      local m <close> = dev:module(support.kernel_file "faults.cu")
      assert.are.same({ "write_at", "read_at", "one_thread", "barrier_and_fault", "null_pointer", "divergent", "divide",
                        "recursion", "trap", "asserted", "works", "once", "large_array", "constant_null",
                        "large_plain" }, m:kernels())
    end)

    it("says where it looked for a missing file", function()
      local problem = fails(function() dev:module "nowhere.cu" end, "cannot read the kernel file 'nowhere.cu': looked "
        .. "in the working folder, beside the script and in " .. core.home() .. "/kernels")
      assert.are.equal("io", problem.status)
      fails_with(function() dev:module(core.home() .. "/kernels") end, "is a folder, not a file")
    end)

    it("finds what the file includes beside it and in other folders", function()
      support.with_folder(function(folder)
        assert(os.execute(("mkdir '%s/more'"):format(folder)))
        support.write(folder .. "/near.cuh", "#define NEAR 40\n")
        support.write(folder .. "/more/far.cuh", "#define FAR 2\n")
        support.write(folder .. "/k.cu",
          '#include "near.cuh"\n#include <far.cuh>\n__global__ void k(int *x) { x[0] = NEAR + FAR; }\n')
        local m <close> = dev:module { file = folder .. "/k.cu", includes = { folder .. "/more" } }
        assert.are.equal(42, run(m, "k"))
      end)
    end)
  end)

  describe("with kernels of one name", function()
    local SOURCE <const> = [[
__global__ void color(unsigned char *, const float *);
__global__ void color(uchar4 *, const float *);
namespace lab { __global__ void color(uchar4 *x, const float *v) { x[threadIdx.x].z = 4 * v[threadIdx.x]; } }
__global__ void color(unsigned char *x, const float *v) { if (*__func__ == 'c') x[threadIdx.x] = v[threadIdx.x]; }
__global__ void color(uchar4 *x, const float *v) {
  __shared__ float all[4];
  all[3 - threadIdx.x] = v[threadIdx.x];
  __syncthreads();
  x[threadIdx.x].y = all[threadIdx.x];
}
template <class T> __global__ void some(T *x) { x[0] = 1; }
__global__ void some(int *x) { x[0] = 2; }
__device__ int of_device(int x) { return x + 3; }
__global__ void of_device(int *x) { x[0] = of_device(0); }
]]

    it("has each by its parameters' types", function()
      local m <close> = dev:module { source = SOURCE, name = "x.cu" }
      local v <close> = dev:array("f32", { 1, 2, 3, 4 })
      for name, expected in pairs {
        ["color(unsigned char *, const float *)"] = { 1, 2, 3, 4, 0, 0, 0, 0 },
        ["color( uchar4*,const float* )"] = { 0, 4, 0, 0, 0, 3, 0, 0 },
        ["lab::color(uchar4 *, const float *)"] = { 0, 0, 4, 0, 0, 0, 8, 0 },
      } do
        local x <close> = dev:zeros("u8", 16)
        m:kernel(name):launch(1, 4, x, v)
        assert.are.same(expected, x:view(1, 8):totable(), name)
      end
      assert.are.equal(m:kernel "lab::color", m:kernel "lab::color")
      assert.are.equal("color(uchar4 *x, const float *v)", m:kernel "color(uchar4 *, const float *)":signature())
    end)

    it("lists them where a name means several", function()
      local m <close> = dev:module { source = SOURCE, name = "x.cu" }
      local _, problem = fails_with(function() m:kernel "color" end, "is overloaded: give one whole signature: ")
      assert.are.equal("invalid", problem.status)
      for _, one in ipairs { "color(unsigned char *, const float *)", "color(uchar4 *, const float *)" } do
        assert.is_truthy(problem.text:find(one, 1, true), problem.text)
      end
      assert.is_nil(problem.text:find "lab::")
      fails_as("not_found", function() m:kernel "color(int *)" end, "has no kernel 'color(int *)'")
      local once = 0
      for _, name in ipairs(m:kernels()) do once = once + (name == "color" and 1 or 0) end
      assert.are.equal(1, once)
    end)

    it("has a template and a function of the device apart from a kernel of its name", function()
      local m <close> = dev:module { source = SOURCE }
      local x <close> = dev:zeros("i32", 1)
      for name, expected in pairs { some = 2, ["some<int>"] = 1, ["some(int *)"] = 2, of_device = 3 } do
        m:kernel(name):launch(1, 1, x)
        assert.are.equal(expected, x:get(1), name)
      end
    end)
  end)

  describe("made from source", function()
    it("takes only macros of one line", function()
      for _, value in ipairs { "3\n4", "3\r", "3\\", "3\0" } do
        for _, defines in ipairs { { N = value }, { "N=" .. value } } do
          support.fails_with(function() dev:module { source = WRITE_N, defines = defines } end,
            "option 'defines': macro 'N' is more than one line, ends with a \\ or has a NUL")
        end
      end
    end)

    it("takes defines in both forms", function()
      local a <close> = dev:module { source = WRITE_N, defines = { N = 3 } }
      local b <close> = dev:module { source = WRITE_N, defines = { "N=4" } }
      local c <close> = dev:module { source = "#ifdef ON\n" .. WRITE_N .. "#endif\n#ifdef OFF\n#error off\n#endif\n",
                                     defines = { "N=5", ON = true, OFF = false } }
      assert.are.equal(3, run(a, "write_n"))
      assert.are.equal(4, run(b, "write_n"))
      assert.are.equal(5, run(c, "write_n"))
    end)

    it("leaves the caller's tables as they were", function()
      local defines = { N = 3, FLAG = true }
      local options = { source = WRITE_N, defines = defines }
      local m <close> = dev:module(options)
      assert.are.same({ N = 3, FLAG = true }, defines)
      assert.are.equal(defines, options.defines)
      assert.are.equal("table", type(m:options()))
      local again <close> = dev:module(m:options())
      assert.are.equal(3, run(again, "write_n"))
    end)

    it("goes by the name it is given", function()
      local m <close> = dev:module { source = WRITE_N, defines = { N = 1 }, name = "my kernel" }
      assert.are.equal(("module 'my kernel' %s"):format(id), tostring(m))
    end)

    it("takes the other options", function()
      local m <close> = dev:module { source = WRITE_N, defines = { N = 6 }, std = "c++17", fast_math = true,
                                     contract = false, max_registers = 64, line_info = true, engine = "auto",
                                     ptxas = { "-dlcm=cg" }, includes = {}, templates = {}, cache = false }
      assert.are.equal(6, run(m, "write_n"))
      assert.is_false(m:from_cache())
    end)
  end)

  describe("rejects options", function()
    it("that it has not, with the nearest name", function()
      fails(function() dev:module { source = "", define = {} } end, "bad argument #1 to 'module' (unknown option "
        .. "'define'; did you mean 'defines'?)")
      fails(function() dev:module { source = "", colour = {} } end, "bad argument #1 to 'module' (unknown option "
        .. "'colour'; it takes file, source, name, defines, includes, std, fast_math, contract, max_registers, "
        .. "ptxas, line_info, engine, templates, cache, warnings, cubin, ptx, fatbin)")
    end)

    it("of the wrong kind", function()
      fails(function() dev:module {} end, "a module is made from either 'file' or 'source': give one of them")
      fails(function() dev:module { source = "", file = "" } end,
        "a module is made from either 'file' or 'source': give one of them")
      fails(function() dev:module(1) end,
        "bad argument #1 to 'module' (options expected, such as { file = ... }, got 1)")
      fails(function() dev:module() end,
        "bad argument #1 to 'module' (options expected, such as { file = ... }, got no value)")
      fails(function() dev:module("a", 1) end, "'module' takes 1 argument at most, got 2")
      fails(function() dev:module { source = "", fast_math = 1 } end,
        "bad argument #1 to 'module' (option 'fast_math' is true or false, got 1)")
      fails(function() dev:module { source = "", max_registers = 256 } end,
        "bad argument #1 to 'module' (option 'max_registers' is an integer from 0 to 255, got 256)")
      fails(function() dev:module { source = "", std = 17 } end,
        "bad argument #1 to 'module' (option 'std' is a string, got 17)")
      fails(function() dev:module { source = "", engine = "warp" } end,
        "bad argument #1 to 'module' (option 'engine' is auto, loop, split or fiber, got 'warp')")
      fails(function() dev:module { source = "", ptxas = { "dlcm=cg" } } end,
        "option 'ptxas' is a list such as { \"-dlcm=cg\" }, one option each, got 'dlcm=cg'")
      fails(function() dev:module { source = "", ptxas = { "-dlcm cg" } } end,
        "option 'ptxas' is a list such as { \"-dlcm=cg\" }, one option each, got '-dlcm cg'")
      fails(function() dev:module { source = "", includes = "x" } end,
        "option 'includes' is a list of strings, got string")
      fails(function() dev:module { source = "", templates = { "a", 2 } } end,
        "option 'templates' is a list of strings, item 2 is a number")
      fails(function() dev:module { source = "", defines = "N=3" } end, "option 'defines' is a table, got string")
    end)

    it("that the compiler rejects", function()
      fails_with(function() dev:module { source = "", std = "c++1998" } end, "c++1998")
    end)
  end)

  describe("with a mistake in its source", function()
    it("raises with the user's file and line and the compiler's words", function()
      support.with_folder(function(folder)
        local path = folder .. "/wrong.cu"
        support.write(path, "__global__ void k(int *x) {\n  x[0] = undefined_thing;\n}\n")
        local message = fails_as("compile", function() dev:module(path) end, "wrong.cu", "undefined_thing")
        assert.is_truthy(message:find("wrong%.cu[:%(]2"), message)
      end)
    end)

    it("raises with the name that the source was given", function()
      local message = fails_with(function()
        dev:module { name = "mine", source = "\n\n__global__ void k(int *x) { x[0] = 1 }\n" }
      end, "mine")
      assert.is_truthy(message:find("mine[:%(]3"), message)
    end)

    it("is rejected for a missing include", function()
      fails_with(function() dev:module { source = '#include "nowhere.cuh"\n' } end, "nowhere.cuh")
    end)

  end)

  it("keeps the compiler's warnings", function()
    local m <close> = dev:module { source = "__global__ void k(int *x) { x[0] = 1; }\n" }
    assert.are.equal("string", type(m:log()))
  end)

  describe("has kernels", function()
    it("that are its fields and one object a name", function()
      local m <close> = dev:module(BASIC)
      assert.are.equal(m.scale, m:kernel "scale")
      assert.are.equal(m.scale, m.scale)
      assert.are_not.equal(m.scale, m.add)
    end)

    it("and rejects others with the nearest name", function()
      local m <close> = dev:module(BASIC)
      fails_with(function() return m.scael end, "scael", "did you mean 'scale'?")
      fails_as("not_found", function() m:kernel "qqqqqqqqqqqq" end, "qqqqqqqqqqqq")
      fails(function() return m[1] end, "a kernel's name expected, got number")
      fails(function() m:kernel() end, "bad argument #1 to 'kernel' (string expected, got no value)")
    end)

    it("that outlive its handle", function()
      local m = dev:module(BASIC)
      local scale = m.scale
      m:close()
      local x <close> = dev:array("f32", { 1, 2, 3 })
      scale:launch(1, 3, x, 2, 3)
      assert.are.same({ 2.0, 4.0, 6.0 }, x:totable())
      scale:close()
    end)
  end)

  describe("has templates", function()
    it("that are instantiated by name", function()
      local m <close> = dev:module(BASIC)
      local f <close> = dev:array("f32", { 1, 2 })
      local i <close> = dev:array("i32", { 3, 4 })
      m:kernel "twice<float>":launch(1, 2, f, 2)
      m:kernel "twice<int>":launch(1, 2, i, 2)
      assert.are.same({ 2.0, 4.0 }, f:totable())
      assert.are.same({ 6, 8 }, i:totable())
      m:kernel "constant<9>":launch(1, 2, i)
      assert.are.same({ 9, 9 }, i:totable())
      assert.are.equal("twice<float>", m:kernel "twice<float>":name())
      assert.are.equal(m:kernel "twice<float>", m:kernel "twice<float>")
    end)

    it("that may be named when it is made", function()
      local m <close> = dev:module { file = BASIC, templates = { "twice<double>" } }
      local d <close> = dev:array("f64", { 1.5 })
      m:kernel "twice<double>":launch(1, 1, d, 1)
      assert.are.equal(3.0, d:get(1))
    end)

    it("and rejects those that cannot be", function()
      local m <close> = dev:module(BASIC)
      fails_with(function() m:kernel "twice<no_such_type>" end, "no_such_type")
      fails_with(function() m:kernel "thrice<int>" end, "thrice<int>")
      fails_with(function() m:kernel "twice" end, "twice")
    end)
  end)

  describe("has variables", function()
    it("of constant memory that are set and seen by kernels", function()
      local m <close> = dev:module(VARIABLES)
      local out <close> = dev:zeros("f32", 4)
      m.use_factors:launch(1, 4, out)
      assert.are.same({ 1.0, 2.0, 3.0, 4.0 }, out:totable())
      local factors <close> = m:variable "factors"
      assert.are.equal("f32", factors:dtype())
      assert.are.equal(4, #factors)
      assert.are.equal("global", factors:space())
      factors:upload { 5, 6, 7, 8 }
      m.use_factors:launch(1, 4, out)
      assert.are.same({ 5.0, 6.0, 7.0, 8.0 }, out:totable())
    end)

    it("of global memory that are read back", function()
      local m <close> = dev:module(VARIABLES)
      m.count_up:launch(2, 3)
      local counter <close> = m:variable "counter"
      assert.are.same({ 6 }, counter:totable())
      m.fill_table:launch(1, 8, 10)
      local values <close> = m:variable "table"
      assert.are.same({ 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0 }, values:totable())
      local flag <close> = m:variable "flag"
      assert.are.equal("u8", flag:dtype())
      assert.are.equal(7, flag:get(1))
    end)

    it("of its own", function()
      local a <close> = dev:module(VARIABLES)
      local b <close> = dev:module(VARIABLES)
      a.count_up:launch(1, 5)
      local x <close> = a:variable "counter"
      local y <close> = b:variable "counter"
      assert.are.equal(5, x:get(1))
      assert.are.equal(0, y:get(1))
      b.count_up:launch(1, 2)
      assert.are.equal(5, x:get(1))
      assert.are.equal(2, y:get(1))
    end)

    it("that all its kernels share, whatever engine runs them", function()
      local m <close> = dev:module { source = [[
        __device__ int total;
        __global__ void plain() { atomicAdd(&total, 1); }
        __global__ void barrier() {
          __shared__ int s;
          if (threadIdx.x == 0) s = 10;
          __syncthreads();
          atomicAdd(&total, s);
        }
        __global__ void odd(int *x) {
          if (threadIdx.x < 2) { x[0] = 1; }
          unsigned m = __ballot_sync(__activemask(), 1);
          if (m) atomicAdd(&total, 100);
        }
      ]] }
      local x <close> = dev:zeros("i32", 1)
      m.plain:launch(1, 2)
      m.barrier:launch(1, 2)
      m.odd:launch(1, 2, x)
      local total <close> = m:variable "total"
      assert.are.equal(2 + 20 + 200, total:get(1))
    end)

    it("that go with template kernels named when it is made", function()
      local m <close> = dev:module { file = VARIABLES, templates = { "add_to_counter<short>" } }
      m:kernel "add_to_counter<short>":launch(1, 2, 20)
      m.count_up:launch(1, 2)
      assert.are.equal(42, m:get "counter")
      if id == "cpu" then
        fails_with(function() m:kernel "add_to_counter<long>" end, "has device variables",
          'list it in templates = {"add_to_counter<long>"}')
      end
    end)

    it("that live as long as their array", function()
      local m = dev:module(VARIABLES)
      local counter <close> = m:variable "counter"
      m.count_up:launch(1, 1)
      m:close()
      m = nil
      collectgarbage()
      assert.is_nil(m)
      assert.are.equal(1, counter:get(1))
    end)

    it("and rejects others", function()
      local m <close> = dev:module(VARIABLES)
      fails_with(function() m:variable "factor" end, "factor")
      fails(function() m:variable() end, "bad argument #1 to 'variable' (string expected, got no value)")
    end)

    it("that are got and set as values", function()
      local m <close> = dev:module(VARIABLES)
      m:set("counter", 41)
      m.count_up:launch(1, 1)
      assert.are.equal(42, m:get "counter")
      m:set("factors", { 9, 8, 7, 6 })
      assert.are.same({ 9.0, 8.0, 7.0, 6.0 }, m:get "factors")
    end)

  end)

  describe("has the texts", function()
    it("that are the device's", function()
      local m <close> = dev:module { source = "__global__ void k(int *x) { x[0] = 1; }\n" }
      if id == "cpu" then
        assert.is_truthy(m:cpp():find("k", 1, true))
        fails_as("unsupported", function() m:ptx() end, "cuda")
        fails_with(function() m:sass() end, "cuda")
      else
        assert.is_truthy(m:ptx():find(".visible .entry", 1, true))
        assert.is_truthy(m:cpp():find("k", 1, true))
      end
    end)
  end)

  describe("when closed", function()
    it("rejects every later use", function()
      local m = dev:module(BASIC)
      m:close()
      assert.are.equal("module (closed)", tostring(m))
      assert.are.equal("closed module", mw.type(m))
      fails(function() m:close() end, "calling 'close' on bad self (attempt to use a closed module)")
      fails(function() return m.scale end, "attempt to use a closed module")
      for _, name in ipairs { "kernel", "kernels", "variable", "log", "device", "from_cache", "ptx", "sass", "cpp",
                              "options" } do
        fails_with(function() m[name](m, "scale") end, "(attempt to use a closed module)")
      end
    end)
  end)

  if id == "cpu" then
    it("rejects by name what the CPU device cannot do", function()
      for what, source in pairs {
        asm = '__global__ void k(int *x) { asm("griddepcontrol.wait;"); }',
        cub = "#include <cub/cub.cuh>\n__global__ void k(int *x) { cub::BlockRadixSort<int, 32, 1> s; x[0] = 1; }",
        child = "__global__ void k(int *x) { k<<<1, 1>>>(x); }",
      } do
        local message = fails_with(function() dev:module { source = source .. "\n" } end,
          what == "child" and "no device of moonwarp has them: launch from Lua" or "CUDA device")
        assert.is_string(message, what)
      end
    end)
  end
end)
