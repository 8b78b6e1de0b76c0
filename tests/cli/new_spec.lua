-- SPDX-License-Identifier: MIT
--
-- moonwarp new: the script that it writes says what the signature of a kernel says, runs as it is, and never that
-- anything was right before it has an answer.

local labs = require "tests.support.labs"
local support = require "tests.support"

if not support.program() then
  describe("moonwarp new", function() pending "needs the program" end)
  return
end

-- Calls `body` with a function that runs the program in a new folder, and with the folder.
local function in_folder(body)
  support.with_folder(function(folder)
    body(function(words)
      return labs.shell(("cd %s && MOONWARP_CXX=%s %s %s </dev/null"):format(labs.quoted(folder),
        labs.quoted(support.core.home() .. "/tests/cxx-o0"), labs.quoted(labs.program), words))
    end, folder)
  end)
end

-- Runs the script that there is, quickly; the status and the output.
local function quick(moonwarp, words)
  return moonwarp("run mine.lua --device cpu -p n=4096 --out out " .. words)
end

local function rewrite(folder, from, to)
  local text = support.read(folder .. "/mine.lua")
  local first, last = text:find(from, 1, true)
  assert.is_truthy(first, text)
  support.write(folder .. "/mine.lua", text:sub(1, first - 1) .. to .. text:sub(last + 1))
end

describe("moonwarp new", function()
  local SIGNATURES <const> = [[
#include <cuda_fp16.h>
struct pair { int a, b; };
__global__ void plain(float *x) {}
__global__ void sizes(double *out, const double *in, int rows, int columns, int steps, bool whole) {}
__global__ void kinds(unsigned char *c, const float4 *v, const __half *h, const unsigned *at, volatile int *flag,
                      size_t n, pair p, void *any, float3 d, float, long long mw) {}
__global__ void cube(float *u, int nx, int ny, int nz) {}
__global__ void bare() {}
template <class T> __global__ void generic(T *x) {}]]

  local LINES <const> = {
    plain = { "local n = mw.arg(\"n\", 1 << 18)\nlocal x = dev:zeros(\"f32\", n)\n\n", "local bytes = x:nbytes() --",
              "what an element of x must be", "go(x)\n" },
    sizes = { [[
local rows = mw.arg("rows", 512)
local columns = mw.arg("columns", 512)
local out = dev:zeros("f64", rows, columns)
local in_2 = dev:array("f64", rows, columns):random(2)
local steps = 1
local whole = true

]], "grid = { mw.ceil_div(rows, block[1]), mw.ceil_div(columns, block[2]) }", "= function(i, j) return 0 end",
              "go(out, in_2, rows, columns, steps, whole)\n", "-- sizes(double *out, const double *in, int rows, " },
    kinds = { [[
local n = mw.arg("n", 1 << 18)
local c = dev:zeros("u8", n)
local v = dev:array("f32", 4 * n):random(2)
local h = dev:array("f16", n):random(3)
local at_4 = dev:zeros("u32", n)
local flag = dev:zeros("i32", n)
local p = nil -- fill in: struct
local any = nil -- fill in: void*
local d = nil -- fill in: f32x3
local _10 = 2
local mw_11 = 1

]] },
    cube = { "{ 32, 8, 4 }", "mw.ceil_div(nz, block[3])", "function(i, j, k)" },
    bare = { "local bytes = 0 --", "go()\n" },
  }

  it("reads a signature", function()
    in_folder(function(moonwarp, folder)
      support.write(folder .. "/k.cu", SIGNATURES)
      for name, lines in pairs(LINES) do
        local status, output = moonwarp("new " .. name .. " k.cu")
        assert.are.equal(0, status, output)
        assert.are.equal(("written: %s.lua\nkernel %s; to run it: moonwarp run %s.lua\n"):format(name, name, name),
          output)
        local text = support.read(("%s/%s.lua"):format(folder, name))
        assert.is_nil(text:find("$", 1, true), text)
        for _, line in ipairs(lines) do assert.is_truthy(text:find(line, 1, true), line .. " is not in: " .. text) end
      end
    end)
  end)

  it("writes a script that runs, and that says what it has not checked", function()
    in_folder(function(moonwarp, folder)
      assert.are.equal("written: mine.cu\nwritten: mine.lua\nkernel mine; to run it: moonwarp run mine.lua\n",
        select(2, moonwarp "new mine"))
      for words, said in pairs { [""] = "nothing was checked: 'expected' is to be filled in\n",
                                 ["--check"] = "check mode: no errors found\n" } do
        local status, output = quick(moonwarp, words)
        assert.are.equal(0, status, output)
        assert.is_truthy(output:find(said, 1, true), output)
        assert.is_nil(output:find "passed" or output:find "right", output)
      end
      rewrite(folder, "local expected -- = function(i) return 0 end",
        "local expected = function(i) return a * x:get(i) end")
      local status, output = quick(moonwarp, "--check")
      assert.are.equal(0, status, output)
      assert.is_nil(output:find("nothing was checked", 1, true), output)
      rewrite(folder, "return a * x:get(i)", "return x:get(i)")
      status, output = quick(moonwarp, "--check")
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("4096 of 4096 elements are wrong", 1, true), output)
    end)
  end)

  local SMALLER <const> = { strided = "-p n=4096", triad = "-p nx=40 -p ny=40", diffusion_naive = "-p nx=40 -p ny=40",
                            reduce_dynamic = "-p n=4096" }

  -- All of kernels/ are in tests/stress/new_stress.sh.
  it("runs kernels of the project, or says what to fill in", function()
    in_folder(function(moonwarp)
      for kernel, wanted in pairs { strided = 0, triad = 0, diffusion_naive = 0, reduce_dynamic = 1 } do
        local file = ({ strided = "access", diffusion_naive = "stencil", reduce_dynamic = "reduce" })[kernel] or kernel
        assert.are.equal(0, (moonwarp(("new %s %s.cu"):format(kernel, file))))
        local status, output = moonwarp(("run %s.lua --check --device cpu --quiet --out out %s"):format(kernel,
          SMALLER[kernel]))
        assert.are.equal(wanted, status, output)
        if wanted == 1 then assert.is_truthy(output:find("prepare has shared = bytes", 1, true), output) end
        assert.is_nil(output:find "passed", output)
      end
    end)
  end)

  it("says what it cannot do", function()
    in_folder(function(moonwarp, folder)
      support.write(folder .. "/k.cu", "__global__ void first() {}\n__global__ void second() {}")
      support.write(folder .. "/t.cu", "template <class T> __global__ void t(T *x) {}")
      support.write(folder .. "/there.lua", "")
      support.write(folder .. "/here.cu", "")
      for words, message in pairs {
        ["new"] = "new wants a name, as in moonwarp new saxpy saxpy.cu",
        ["new 'a b'"] = "a name is of letters, digits, - and _, got 'a b'",
        ["new there k.cu"] = "there is a 'there.lua' already; take another name",
        ["new here"] = "there is a 'here.cu' already; take another name",
        ["new t t.cu"] = "'t.cu' has no plain kernel; of a template a script has instances, as in "
          .. "module:kernel \"f<float>\" or \"f<32>\"",
        ["run k.cu"] = "'k.cu' has no main: moonwarp new k k.cu writes a script that runs its kernels; of a program "
          .. "all sources are given",
        ["nwe"] = "unknown command 'nwe'; did you mean 'new'?",
      } do
        local status, output = moonwarp(words)
        assert.are.equal(2, status, output)
        assert.are.equal("moonwarp: " .. message .. "\n", output)
      end
      local output = select(2, moonwarp "new other k.cu")
      assert.is_truthy(output:find "\nkernel first; ", output)
      assert.is_truthy(output:find("'k.cu' has no plain kernel 'other'; the first is taken, of first, second", 1, true))
      support.write(folder .. "/s.cu", "__global__ void s(int *print) { extern __shared__ int x[]; *print = x[0]; }")
      moonwarp "new s s.cu"
      local script = support.read(folder .. "/s.lua")
      assert.is_truthy(script:find("local print_1 = ", 1, true), script)
      assert.is_truthy(script:find("return 16 * threads", 1, true), script)
    end)
  end)
end)
