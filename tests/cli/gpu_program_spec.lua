-- SPDX-License-Identifier: MIT
--
-- moonwarp run program.cu on a real GPU, by nvcc; what is the same on the CPU device is whole_program_spec's.

local labs = require "tests.support.labs"
local support = require "tests.support"

local gpu
for _, dev in ipairs(support.devices()) do gpu = gpu or dev:id():find "^cuda" and dev end
if not gpu or not require("moonwarp.tools.tool").program "nvcc" or not support.program() then
  describe("whole programs on a GPU", function() pending "needs a GPU, nvcc and the program" end)
  return
end

local MAIN <const> = [[
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "scale.h"
void fill(int *x, int n);
extern "C" int halved(int);
__constant__ int factor;
__global__ void scale(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * factor + SHIFT;
}
int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1000, three = 3;
  int more = 0, devices = 0, sum = 0, *x;
  if (scanf("%d", &more) == 1) printf("read %d\n", more);
  std::vector<int> host(n);
  cudaMalloc(&x, n * sizeof *x);
  fill(x, n);
  cudaMemcpyToSymbol(factor, &three, sizeof three);
  scale<<<blocks_of(n), 128>>>(x, n);
  cudaGetDeviceCount(&devices);
  cudaMemcpy(host.data(), x, n * sizeof *x, cudaMemcpyDeviceToHost);
  for (int value : host) sum += value;
  printf("%d of %d on %d: %s\n", halved(sum), n, devices, cudaGetErrorString(cudaGetLastError()));
  for (int i = 2; i < argc; i++) printf("word '%s'\n", argv[i]);
  fprintf(stderr, "to the other stream\n");
  return 7;
}
]]

local FILL <const> = [[
__global__ void count(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}
void fill(int *x, int n) { count<<<(n + 255) / 256, 256>>>(x, n); }
]]

describe("a whole program on a GPU", function()
  local folder

  setup(function()
    local pipe <close> = assert(io.popen "mktemp -d")
    folder = pipe:read "l"
    assert(require("lfs").mkdir(folder .. "/more"))
    support.write(folder .. "/main.cu", MAIN)
    support.write(folder .. "/fill.cu", FILL)
    support.write(folder .. "/halved.c", "int halved(int x) { return x / 2; }\n")
    support.write(folder .. "/more/scale.h", "static inline int blocks_of(int n) { return (n + 127) / 128; }\n")
    local page = support.read(support.core.home() .. "/docs/programs.md")
    support.write(folder .. "/dot.cu", page:match "```cpp\n(.-)```")
  end)
  teardown(function() os.execute("rm -rf " .. labs.quoted(folder)) end)

  local function moonwarp(words, input)
    return labs.shell(("cd %s && %s %s %s"):format(labs.quoted(folder), input and ("echo %s |"):format(input) or
      "</dev/null", labs.quoted(labs.program), words))
  end

  it("has several sources, macros, headers, words, input, output and an exit status of its own", function()
    local status, output = moonwarp("run main.cu fill.cu halved.c -I more -DSHIFT=4 --device cuda "
      .. "-- 2000 'two words' --check", "42")
    -- The sum of 3 i + 4 for i below 2000 is 6005000.
    assert.are.equal("read 42\n3002500 of 2000 on 1: no error\nword 'two words'\nword '--check'\n", (output:gsub(
      "to the other stream\n", "")))
    assert.are.equal(7, status)
  end)

  -- The kernel of the page has a race; with its barrier it is right.
  it("goes to the GPU without --device, and in check mode to the CPU device", function()
    local text = support.read(folder .. "/dot.cu")
    support.write(folder .. "/mended.cu", (text:gsub("(\n  for %(int half)", "\n  __syncthreads();%1")
      :gsub("int n = argc", "cudaDeviceProp p;\n  cudaGetDeviceProperties(&p, 0);\n  puts(p.name);\n  %0")))
    local status, output = moonwarp "run mended.cu -- 5000"
    assert.are.equal(gpu:name() .. "\n30000, expected 30000\n", output)
    assert.are.equal(0, status)
    status, output = moonwarp "run dot.cu --check"
    assert.is_truthy(output:find("race in shared memory: kernel 'dot'", 1, true), output)
    assert.are_not.equal(0, status)
    status, output = moonwarp "run dot.cu --device cuda --check"
    assert.are.equal("moonwarp: option '--check' of a program is of the CPU device: --device cpu\n", output)
    assert.are.equal(2, status)
  end)

  it("tells what its kernels do wrong by the runtime's own errors", function()
    support.write(folder .. "/wrong.cu", [[
#include <cstdio>
__global__ void k(int *x) { *x = 1; }
int main() {
  k<<<1, 2048>>>(nullptr);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  k<<<1, 1>>>(nullptr);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
]])
    local status, output = moonwarp "run wrong.cu"
    assert.is_truthy(output:find "^invalid [a-z ]*argument\nan illegal memory access was encountered\n$", output)
    assert.are.equal(0, status)
  end)

  it("says in nvcc's words and its own what does not compile", function()
    support.write(folder .. "/bad.cu", "__global__ void k(int *x) {\n  *x = missing;\n}\nint main() { return 0; }\n")
    local status, output = moonwarp "run bad.cu --device cuda"
    assert.is_truthy(output:find("bad.cu(2): error: identifier \"missing\" is undefined", 1, true), output)
    assert.is_truthy(output:find "moonwarp: nvcc does not compile 'bad%.cu': exit status %d+\n$", output)
    assert.are.equal(1, status)
    status, output = moonwarp "run main.cu halved.c -I more -DSHIFT=4"
    assert.is_truthy(output:find "undefined reference to `fill", output)
    assert.are.equal(1, status)
  end)

  it("is compared with what it is to print", function()
    support.write(folder .. "/good.txt", "read 42\n9 of 3 on 1: no error\n")
    support.write(folder .. "/in.txt", "42\n")
    local command = "run main.cu fill.cu halved.c -I more -DSHIFT=3 --device cuda --input in.txt --expected good.txt"
    -- 3 (0 + 1 + 2) + 3 * 3 is 18; the program's own status comes first.
    local status, output = moonwarp(command .. " -- 3")
    assert.is_truthy(output:find("9 of 3 on 1: no error", 1, true), output)
    assert.are.equal(7, status)
    support.write(folder .. "/quiet.cu", "#include <cstdio>\nint main() { int x = 0; (void)!scanf(\"%d\", &x); "
      .. "printf(\"%d\\n\", x); }\n")
    status, output = moonwarp "run quiet.cu --device cuda --input in.txt --expected good.txt"
    assert.is_truthy(output:find("line 1 of the output is '42', expected 'read 42'", 1, true), output)
    assert.are.equal(3, status)
  end)
end)
