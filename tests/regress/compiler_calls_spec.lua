-- SPDX-License-Identifier: MIT
--
-- How often the CPU device starts the compiler for one file: a process costs clang++ 25 ms before it reads anything.
-- luacheck: std +busted

local support = require "tests.support"

-- Notes the kind of each call: what it makes, or that it only preprocesses or reads. clang++ is asked for the linker's
-- command once, and both for their macros; $MUTE: it does not answer the first.
local COMPILER = [[
#!/bin/sh
case " $* " in
  *" --version "*) ;;
  *" -### "*) test -z "$MUTE" || exit 1 ;;
  *" -dM "*) echo macros >>"$CALLS" ;;
  *" -E "*) echo preprocess >>"$CALLS" ;;
  *" -fsyntax-only "*|*" /dev/null "*) echo read >>"$CALLS" ;;
  *" -c "*) echo compile >>"$CALLS" ;;
  *) echo link >>"$CALLS" ;;
esac
exec %s "$@"
]]

local HOST_FILE = [[
#include <vector>
#include <cfloat>
#define SIZE 4
__global__ void k(float *x) { if (threadIdx.x < SIZE) x[threadIdx.x] = FLT_MAX; }
int main() { std::vector<float> v(SIZE); k<<<1, 1>>>(v.data()); }
]]

local BARRIER = [[
__device__ int late(int n) { int unused = n; __syncthreads(); return n; }
template <class T> __global__ void shared(T *x) {
  __shared__ T s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  T y;
  if (x[0] = 3) y = s[31 - threadIdx.x];
  x[threadIdx.x] = s[31 - threadIdx.x] + late(0);
}
]]

local LOOP = [[
__global__ void turned(float *x) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[31 - threadIdx.x];
}
template <class T> __global__ void loop(T *x) {
  __shared__ T own[32];
  int unused = 1;
  own[threadIdx.x] = 1;
  x[threadIdx.x] = own[threadIdx.x];
}
]]

local LOAD = [[
  local dev = require "moonwarp".device "cpu"
  local m <close> = dev:module { source = %q, name = "x.cu", templates = { %s } }
]]

local function compiler_write(folder, compiler)
  support.write(folder .. "/c++", COMPILER:format(compiler))
  os.execute(("chmod +x '%s/c++'"):format(folder))
end

-- What a load in a new process started and wrote.
local function calls_of(folder, source, templates, mute)
  support.write(folder .. "/calls", "")
  local status, text = support.child(LOAD:format(source, templates or ""),
    { env = { MOONWARP_CACHE = folder .. "/cache", MOONWARP_CXX = folder .. "/c++", CALLS = folder .. "/calls",
      MUTE = mute or "" } })
  assert.are.equal(0, status, text)
  return support.read(folder .. "/calls"):gsub("\n", " "), text
end

describe("the compiler", function()
  for _, name in ipairs { "clang++", "g++" } do
    if os.execute("command -v " .. name .. " >/dev/null") then
      local calls_once = name == "g++" and "link " or "compile "

      it("is asked for its macros once, and preprocesses no file: " .. name, function()
        support.with_folder(function(folder)
          compiler_write(folder, name)
          assert.are.equal("macros " .. calls_once, (calls_of(folder, HOST_FILE)))
          assert.are.equal("", (calls_of(folder, HOST_FILE)))
          assert.are.equal(calls_once, (calls_of(folder, "#define N 3\n" .. LOOP)))
        end)
      end)

      it("links if it does not say how: " .. name, function()
        support.with_folder(function(folder)
          compiler_write(folder, name)
          assert.are.equal("macros link ", (calls_of(folder, HOST_FILE, nil, "yes")))
        end)
      end)

      it("warns of a template beside a split kernel for what is written: " .. name, function()
        support.with_folder(function(folder)
          compiler_write(folder, name)
          local _, text = calls_of(folder, LOOP, "'loop<float>'")
          assert.is_truthy(text:find("x.cu:9: warning: unused variable", 1, true), text)
          assert.are.equal(1, select(2, text:gsub("warning: ", "")), text)
        end)
      end)

      it("warns of the text as it was written: " .. name, function()
        support.with_folder(function(folder)
          compiler_write(folder, name)
          local calls, text = calls_of(folder, BARRIER, "'shared<float>'")
          assert.are.equal("macros " .. calls_once, calls)
          assert.is_truthy(text:find("x.cu:1: warning: unused variable", 1, true), text)
          local _, count = text:gsub("x.cu:7: warning: [^\n]*parenthes[ei]s", "")
          assert.are.equal(1, count, text)
          assert.is_nil(text:find("mw_", 1, true), text)
        end)
      end)
    end
  end
end)
