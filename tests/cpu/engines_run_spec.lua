-- SPDX-License-Identifier: MIT
--
-- moonwarp run --engines: each launch of the CPU device by its own engine and by fibers, compared. $MOONWARP_PROGRAM is
-- what was built. Engines that are wrong are made here: MW_SELF is a null pointer in the form of a kernel that loop and
-- split run, and none in that of fibers (core/backend/cpu/shim/entry.h).

local support = require "tests.support"
local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"

local HEAD <const> = [[
#define FAST (MW_SELF == nullptr)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
]]

-- A script that has `dev` and `m`, run with further words. Status and output.
local function run(kernels, script, words, environment)
  local status, output
  support.with_folder(function(folder)
    support.write(folder .. "/k.cu", HEAD .. kernels)
    support.write(folder .. "/s.lua",
      'local mw = require "moonwarp"\nlocal dev = mw.device()\nlocal m = dev:module "k.cu"\n' .. script)
    status, output = labs.shell(("cd %s && %s %s run --engines %s s.lua </dev/null"):format(labs.quoted(folder),
      environment or "MOONWARP_DEVICE=cpu", labs.quoted(labs.program), words or ""))
  end)
  return status, output
end

local function has(output, ...)
  for _, text in ipairs { ... } do
    assert.is_truthy(output:find(text, 1, true), ("'%s' is not in: %s"):format(text, output))
  end
end

local function finds_nothing(kernels, script, ...)
  local status, output = run(kernels, script)
  assert.are.equal(0, status, output)
  has(output, "no difference", ...)
  assert.is_nil(output:find("warning:", 1, true), output)
end

local function finds(kernels, script, ...)
  local status, output = run(kernels, script)
  assert.are.equal(3, status, output)
  has(output, "engine difference: ", ...)
end

local function depends(kernels, script, ...)
  local status, output = run(kernels, script)
  assert.are.equal(0, status, output)
  has(output, "warning: depends on order: ", "no difference", ...)
end

describe("moonwarp run --engines", function()
  if not support.program() then return pending "needs the program" end

  it("names kernel, launch, array, element, values, block and thread of a difference", function()
    finds([[__global__ void k(int *b, int *a) { a[I] = 10 * I + (FAST && I > 4); b[I] = I; }]], [[
      local a, b = dev:zeros("i32", 8), dev:zeros("i32", 8)
      m.k:launch(2, 4, b, b)
      m.k:launch(2, 4, b, a)
      print(table.concat(a:totable(), " "))]],
      "0 10 20 30 40 51 61 71\n", "kernel 'k', parameter 2 'a', index 5, launch 2: got 51 by loop, wanted 50 by fibers",
      "3 of 8 differ\n  write by block (1,0,0), thread (1,0,0)\n", "2 launches compared: 1 difference",
      "moonwarp: --engines found a difference")
  end)

  it("says what docs/cpu-device.md shows", function()
    local page = support.read(support.core.home() .. "/docs/cpu-device.md")
    local shown = page:match "%$ moonwarp run %-%-engines fill%.lua\n(.-)\n\n"
    local _, output = run("__global__ void fill(int *a) { a[I] = FAST ? I | 3 : I; }",
      'm.fill:launch(2, 4, dev:array("i32", 8))')
    for line in (shown .. "\n"):gmatch " *(.-)\n" do has(output, line) end
    has(page, "engines: 12 launches compared, 3 already by fibers, 1 cooperative: no difference")
  end)

  it("finds the same in split kernels, and in device variables", function()
    finds([[
      __device__ float total[3];
      __constant__ int unused = 1;
      __global__ void k(int n) {
        __shared__ float s[32];
        s[threadIdx.x] = n;
        __syncthreads();
        if (threadIdx.x < 3) total[threadIdx.x] += s[31 - threadIdx.x] + (FAST && threadIdx.x == 2);
      }]], [[
      assert(m.k:engine() == "split")
      m.k:launch(1, 32, 5)
      m.k:launch(1, 32, 5)
      print(table.concat(m:variable "total":totable(), " "))]],
      "10.0 10.0 12.0\n",
      "device variable 'total', index 2, launch 1: got 6 by split, wanted 5 by fibers; 1 of 3 differ",
      "write by block (0,0,0), thread (2,0,0)\n  2 times;")
  end)

  it("does not name a thread where fibers leave the element as it was", function()
    finds("__global__ void k(int *a) { if (I == 3 && FAST) a[I] = 1; }", 'm.k:launch(1, 32, dev:zeros("i32", 32))',
      "index 3, launch 1: got 1 by loop, wanted 0 by fibers; 1 of 32 differ\n  1 time; fibers leave it as it was;")
  end)

  it("puts back all memory before each run, and leaves what the engine has left", function()
    finds_nothing([[
      __device__ int calls; __constant__ int step = 2;
      __global__ void add(int *a, int *b, int *c, int *d, int *other) {
        a[I] += step; b[I] += step; c[I] += step; d[I] += step;
        if (I == 0) { calls++; (*other)++; }
      }]], [[
      local other = dev:module { source = "__device__ int other; __global__ void k() {}" }
      local arrays = { dev:zeros("i32", 64), dev:managed("i32", 64), dev:pinned("i32", 64), dev:pageable("i32", 64) }
      for i, a in ipairs(arrays) do a:fill(i) end
      for _ = 1, 3 do m.add:launch(2, 32, arrays[1], arrays[2], arrays[3], arrays[4], other:variable "other") end
      for i, a in ipairs(arrays) do assert(mw.check(a, 6 + i)) end
      print(m:variable "calls":get(1), other:variable "other":get(1))]],
      "3\t3\n", "3 launches compared")
  end)

  it("tells apart what depends on the order of threads", function()
    depends([[
      __global__ void sum(float *s, const float *x) { atomicAdd(s, x[I]); }
      __global__ void place(int *count, int *list) { list[atomicAdd(count, 1)] = I; }
      __global__ void race(int *last) { *last = I; }]], [[
      local x = dev:array("f32", 1024):random(1)
      m.sum:launch(32, 32, dev:zeros("f32", 1), x)
      m.place:launch(33, 31, dev:zeros("i32", 1), dev:zeros("i32", 1023))
      m.race:launch(1, 32, dev:zeros("i32", 1))]],
      "kernel 'sum', parameter 1 's', index 0, launch 2: 1 of 1 differ between orders of threads",
      "kernel 'place', parameter 2 'list', index 0, launch 3:", "kernel 'race', parameter 1 'last'",
      "1 time; not compared: ")
  end)

  it("runs a block's threads in reverse as well where they meet", function()
    depends([[
      __global__ void k(int *a) {
        __shared__ int last;
        last = threadIdx.x;
        __syncthreads();
        a[threadIdx.x] = last;
      }]], [[
      assert(m.k:engine() == "split")
      m.k:launch(1, 1024, dev:zeros("i32", 1024))]], "1024 of 1024 differ")
  end)

  -- A few elements are the same in a few orders, where three threads share three places.
  it("does not tell what is left of an array that depends on the order", function()
    depends([[__global__ void places(int *count, int *list) {
      const int cell = I / 3;
      list[3 * cell + (atomicAdd(&count[cell], 1) + FAST) % 3] = I;
    }]], 'm.places:launch(96, 256, dev:zeros("i32", 8192), dev:zeros("i32", 24576))', "24576 of 24576 differ")
  end)

  it("finds a difference beside what depends on the order", function()
    finds("__global__ void k(int *a, int *last) { a[I] = I + FAST; *last = I; }",
      'm.k:launch(4, 8, dev:zeros("i32", 32), dev:zeros("i32", 1))',
      "parameter 1 'a', index 0", "warning: depends on order: kernel 'k', parameter 2 'last'")
  end)

  it("lets floats be rounded by the choice of fused products, unless the module says no", function()
    local kernels = [[
      __global__ void near(float *a, double *b) { a[I] = 1 + FAST * 1e-6f; b[I] = 1 + FAST * 2e-15; }
      __global__ void far(float *a) { a[I] = 1 + FAST * 4e-6f; }
      __global__ void small(float *a) { a[I] = I ? 1000 : 1e-3f * (1 + FAST * 1e-2f); }
      __global__ void sums(float *a) { a[I] = 1 + FAST * 1e-4f; }
      __global__ void nans(float *a, double *b) { a[I] = FAST ? NAN : -NAN; b[I] = NAN; }
      __global__ void bits(float *a) { ((int *)a)[I] = 7 + FAST; }]]
    finds_nothing(kernels, [[
      local a, b = dev:zeros("f32", 32), dev:zeros("f64", 32)
      m.near:launch(1, 32, a, b)
      m.small:launch(1, 32, a)
      m.nans:launch(1, 32, a, b)
      dev:module { file = "k.cu", fast_math = true }.sums:launch(1, 32, a)]])
    for _, launch in ipairs { "m.far:launch(1, 32, a)", "m.sums:launch(1, 32, a)", "m.bits:launch(1, 32, a)",
                              "exact.near:launch(1, 32, a, b)" } do
      finds(kernels, 'local exact = dev:module { file = "k.cu", contract = false }\n'
        .. 'local a, b = dev:zeros("f32", 32), dev:zeros("f64", 32)\n' .. launch, "parameter 1 'a', index 0")
    end
  end)

  it("prints what kernels print once", function()
    local _, output = run('__global__ void k() { printf("thread %d\\n", threadIdx.x); }', "m.k:launch(1, 4)")
    local _, times = output:gsub("thread %d", "")
    assert.are.equal(4, times, output)
  end)

  it("leaves faults and failed assertions of the launch as they are", function()
    local status, output = run("__global__ void k(int *a) { assert(a[I] == 0); a[I + 4096] = 1; }", [[
      local a = dev:zeros("i32", 32)
      local ok, message = pcall(m.k.launch, m.k, 1, 32, a)
      print(message.text:match "wrote outside every array: block .-, thread .-,")
      a:fill(1)
      print((select(2, pcall(m.k.launch, m.k, 1, 32, a))).text:match "assert.*")]])
    assert.are.equal(0, status, output)
    has(output, "wrote outside every array: block (0,0,0), thread", " == 0) at k.cu:3",
      "0 launches compared: no difference")
  end)

  it("finds a fault of fibers that the engine does not have", function()
    finds("__global__ void k(int *a) { a[I] = 1; if (!FAST && I == 3) __trap(); }",
      'm.k:launch(1, 32, dev:zeros("i32", 32))', "kernel 'k', launch 1: fibers end with an error: kernel 'k': ",
      "thread (3,0,0)")
    depends("__global__ void k(int *a) { if (a[4] == 0 && !FAST && I == 3) __trap(); a[I] = 1; }",
      'm.k:launch(1, 32, dev:zeros("i32", 32))', "fibers end with an error")
  end)

  it("says where a source names a clock", function()
    depends("__global__ void k(long long *a) { a[I] = clock64(); }", 'm.k:launch(1, 32, dev:zeros("i64", 32))',
      "32 of 32 differ between orders of threads", "the source reads a clock; not compared")
  end)

  it("runs streams one after the other, and compares graphs node by node", function()
    finds("__global__ void k(int *a, int n) { a[I] = a[I] * 2 + n + (FAST && n == 2); }", [[
      local a, one, other = dev:zeros("i32", 32), dev:stream(), dev:stream()
      m.k:prepare { grid = 1, block = 32, stream = one }(a, 1)
      m.k:prepare { grid = 1, block = 32, stream = other }(a, 1)
      assert(one:query() and other:query() and a:get(1) == 3)
      local graph = dev:capture(function(s)
        for n = 1, 2 do m.k:prepare { grid = 1, block = 32, stream = s }(a, n) end
      end)
      assert(a:get(1) == 3)
      for _ = 1, 2 do graph:launch(other) end
      print(a:get(1))]],
      "73\n", "index 0, launch 4: got 17 by loop, wanted 16 by fibers", "2 times;", "6 launches compared: 1 difference")
  end)

  it("counts launches by fibers and cooperative ones, which it does not compare", function()
    finds_nothing([[
      #include <cooperative_groups.h>
      __global__ void k(int *a) { a[I] = I; }
      __global__ void together(int *a) { a[I] = I; cooperative_groups::this_grid().sync(); a[I]++; }]], [[
      local a = dev:zeros("i32", 64)
      local fibers = dev:module { source = "__global__ void f(int *a) { a[threadIdx.x] = 1; }", engine = "fiber" }
      m.k:launch(2, 32, a)
      for _ = 1, 3 do fibers.f:launch(1, 32, a) end
      m.together:prepare { grid = 2, block = 32, cooperative = true }(a)]],
      "engines: 1 launch compared, 3 already by fibers, 1 cooperative: no difference")
  end)

  it("counts launches whose fiber form does not compile", function()
    support.with_folder(function(folder)
      local compiler = folder .. "/cxx"
      support.write(compiler, [=[
#!/bin/sh
cat >"$0.$$"
if grep -q 'define MW_FIBER' "$0.$$"; then
  echo '<stdin>:1:1: error: no fibers' >&2
  exit 1
fi
exec "$(command -v clang++ || command -v g++)" "$@" <"$0.$$"
]=])
      assert(os.execute("chmod +x " .. labs.quoted(compiler)))
      local status, output = run("__global__ void k(int *a) { a[I] = FAST; }",
        'm.k:launch(1, 32, dev:zeros("i32", 32)) -- its own compiler', "--device cpu",
        "MOONWARP_CXX=" .. labs.quoted(compiler))
      assert.are.equal(0, status, output)
      has(output, "engines: 0 launches compared, 1 without a fiber form: no difference")
    end)
  end)

  it("lets variables, arrays and arguments hold addresses, each in the form that runs", function()
    finds_nothing([[
      typedef int (*op)(int);
      static __device__ int up(int x) { return x + 1; }
      static __device__ int down(int x) { return x - 1; }
      __device__ int table[64], more[64];
      __device__ int *where = table;
      __device__ op ops[2] = { up, down };
      __device__ const int fixed[2] = { 5, 6 };
      __device__ const char *const names[2] = { "a", "b" };
      __global__ void put(void **p) { if (I == 0) { p[0] = more; p[1] = (void *)ops[1]; where = table + 32; } }
      __global__ void use(void **p, int *t, int *a) {
        where[threadIdx.x] = ops[threadIdx.x & 1](100);
        ((int *)p[0])[threadIdx.x] += ((op)p[1])(7) + names[threadIdx.x & 1][0];
        t[threadIdx.x] += fixed[threadIdx.x & 1];
        a[threadIdx.x] = where[threadIdx.x] + more[threadIdx.x];
      }]], [[
      assert(m.put:engine() == "loop" and m.use:engine() == "loop")
      local p, a = dev:zeros("u64", 2), dev:zeros("i32", 32)
      m.put:launch(1, 32, p)
      for _ = 1, 2 do m.use:launch(1, 32, p, m:variable "table", a) end
      print(a:get(1), a:get(2), a:get(32), m:variable "table":get(1), m:variable "table":get(33))]],
      "307\t307\t307\t10\t101\n", "3 launches compared")
  end)

  it("goes on where a block waits for an earlier one that comes later in the other order", function()
    finds_nothing([[
      __global__ void k(int *flag, int *out) {
        const int zero = 0;
        if (threadIdx.x == 0 && blockIdx.x) while (atomicAdd(flag + blockIdx.x - 1, zero) == 0);
        __syncthreads();
        if (threadIdx.x == 0) { __threadfence(); atomicExch(flag + blockIdx.x, 1); }
        out[I] = I;
      }]], [[
      m.k:launch(6, 32, dev:zeros("i32", 6), dev:zeros("i32", 192))]])
  end)

  it("times nothing, and says so in the record", function()
    local status, output = run("__global__ void k(int *a) { a[I]++; }", [[
      local a = dev:zeros("i32", 32)
      local result = mw.bench(function() m.k:launch(1, 32, a) end)
      print(result.n, result.median ~= result.median, a:get(1))
      mw.record { t = result }]])
    assert.are.equal(0, status, output)
    has(output, "0\ttrue\t1\n", "1 launch compared")
  end)

  it("keeps findings in the record, and rerun compares again", function()
    support.with_folder(function(folder)
      support.write(folder .. "/k.cu", HEAD .. "__global__ void k(int *a) { a[I] = FAST; }")
      support.write(folder .. "/s.lua", [[
        local mw = require "moonwarp"
        local dev = mw.device()
        local k, a = dev:module "k.cu".k, dev:zeros("i32", 32)
        mw.record { t = mw.bench(function() k:launch(1, 32, a) end) }]])
      local shell = ("cd %s && %s %%s </dev/null"):format(labs.quoted(folder), labs.quoted(labs.program))
      assert.are.equal(3, (labs.shell(shell:format "run --engines s.lua --device cpu --out o")))
      local place = support.run(folder .. "/o")
      local record = assert(json.decode(support.read(place .. "/record.json")))
      assert.are.equal("cpu:engines 0", ("%s %d"):format(record.device, record.records[1].t.n))
      assert.is_nil(record.records[1].t.median)
      assert.are.equal("engine difference", record.findings[1].kind)
      assert.are.equal("check failed", record.status)
      local status, output = labs.shell(shell:format("rerun " .. labs.quoted(place)))
      assert.are.equal(3, status, output)
      has(output, "engines: 1 launch compared: 1 difference")
    end)
  end)

  it("is of the CPU device, and a mode of its own", function()
    local kernels = "__global__ void k() {}"
    for words, text in pairs {
      ["--check"] = "options '--engines' and '--check' do not go together",
      ["--counters"] = "options '--engines' and '--counters' do not go together",
      ["--slurm"] = "options '--engines' and '--slurm' do not go together",
      ["--device cuda"] = "option '--engines' compares the engines of the CPU device, got --device cuda",
    } do
      local status, output = run(kernels, "", words)
      assert.are.equal(2, status, output)
      has(output, text)
    end
    local status, output = run(kernels, "", "", "MOONWARP_DEVICE=cuda:1")
    assert.are.equal(1, status, output)
    has(output, "--engines compares the engines of the CPU device, got 'cuda:1'; use --device cpu")
    status, output = run(kernels, 'mw.device("cpu", { check = true })')
    assert.are.equal(1, status, output)
    has(output, "run the script without --engines for that")
  end)

  it("opens the device that compares for every name of the CPU device", function()
    local _, output = run("__global__ void k() {}", [[
      print(mw.device "cpu":id(), mw.device "cpu" == dev, dev:properties().checks)]], "--device cpu")
    has(output, "cpu:engines\ttrue\ttrue\n", "engines: 0 launches compared: no difference")
    local _, none = labs.shell(("%s -e 'print(1)' --engines --device cpu"):format(labs.quoted(labs.program)))
    has(none, "engines: no launch was compared: the script opens no CPU device")
  end)
end)

describe("a fault in a kernel with const device variables", function()
  it("is told, and the process goes on", function()
    support.child_passes [[
      local mw = require "moonwarp"
      local dev = mw.device "cpu"
      local k = dev:module { source = [=[
        __device__ const char *const names[2] = { "a", "b" };
        __device__ const int table[3] = { 1, 2, 3 };
        __global__ void k(int *a, int i) { a[i + threadIdx.x] = names[threadIdx.x & 1][0] + table[threadIdx.x % 3]; }
      ]=] }.k
      local a = dev:zeros("i32", 1024)
      local ok, message = pcall(k.launch, k, 1, 8, a, 1024)
      assert(not ok and tostring(message):find("thread (0,0,0)", 1, true), message)
    ]]
  end)
end)
