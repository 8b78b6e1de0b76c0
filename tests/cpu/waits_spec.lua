-- SPDX-License-Identifier: MIT
--
-- Loops in which a thread waits for what another one writes: threads that run one after the other would never leave
-- them, so the CPU device runs these kernels in fibers, and only these.

local support = require "tests.support"
local mw = support.mw
local fails_with = support.fails_with

local THREADS = 64
local HEAD = "__global__ void k(int *out, int *flag, int n) { int t = threadIdx.x; "

-- Each ends with 1 in every element of out.
local waiting = {
  { "a volatile flag", "", [[ volatile int *f = flag;
    if (t == 0) { while (*f == 0) ; } else if (t == 63) *f = 1; ]] },
  { "an atomic read", "", [[ if (t == 0) while (atomicAdd(flag, 0) == 0) { } if (t == 5) atomicExch(flag, 1); ]] },
  { "an atomic read of an unsigned value", "",
    [[ unsigned *f = (unsigned *)flag; if (t == 0) while (atomicAdd(f, 0u) == 0) { }
    if (t == 5) atomicExch(f, 1u); ]] },
  { "a value read in the body", "", [[ if (t == 0) { int v; do { v = *(volatile int *)flag; } while (v == 0); }
    if (t == 5) atomicExch(flag, 1); ]] },
  { "an endless loop", "", [[ if (t == 0) for (;;) { if (atomicOr(flag, 0)) break; }
    if (t == 5) atomicExch(flag, 1); ]] },
  { "a helper that reads", "__device__ int load(const int *p) { return *(const volatile int *)p; }\n",
    [[ if (t == 0) { int v; while ((v = load(flag)) == 0); } if (t == 5) atomicExch(flag, 1); ]] },
  { "turns from the last thread to the first", "",
    [[ while (atomicAdd(flag, 0) != n - 1 - t); __threadfence(); atomicAdd(flag, 1); ]] },
  { "an acquiring load", "", [[ if (t == 0) while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE) == 0);
    if (t == 5) __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE); ]] },
  { "a barrier behind the loop", "", [[ if (t < 32) while (atomicMax(flag, 0) == 0);
    if (t == 40) atomicExch(flag, 1); __syncthreads(); ]] },
}

-- More of them, in one module: helpers, then what a thread that waits does. Thread 63 sets the flag at the end. For
-- check mode some are races.
local forms = {
  { "an acquiring load of PTX", "",
    [[ int v; do { asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); }
       while (v == 0); ]] },
  { "a volatile load of PTX", "",
    [[ int v = 0; while (v != 1) asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(flag)); ]] },
  { "a relaxed load of PTX", "",
    [[ unsigned v = 0; for (;;) { asm("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(flag)); if (v) break; } ]] },
  { "PTX in a helper of a helper",
    [[ __device__ int ld(const int *p) { int v; asm("ld.acquire.gpu.s32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
       __device__ bool is(const int *p, int wanted) { return ld(p) >= wanted; } ]], [[ while (!is(flag, 1)); ]] },
  { "PTX in a helper with a reference",
    [[ __device__ void ld(int &v, const int *p) { asm("ld.acquire.gpu.s32 %0, [%1];" : "=r"(v) : "l"(p)); } ]],
    [[ int v; do { ld(v, flag); } while (v == 0); ]] },
  { "an atomic of PTX that adds 0", "",
    [[ int v; do { asm("atom.acquire.gpu.add.u32 %0, [%1], 0;" : "=r"(v) : "l"(flag)); } while (v == 0); ]] },
  { "a pause that grows", "", [[ unsigned ns = 8; while (true) { int v;
    asm("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(flag)); if (v) break; __nanosleep(ns);
    if (ns < 256) ns *= 2; } ]] },
  { "a compare-and-swap of what it waits for", "", [[ while (atomicCAS(flag, 1, 2) != 1); ]] },
  { "an exchange", "", [[ while (atomicExch(flag, 0) == 0); ]] },
  { "the compiler's atomics, by a pointer", "",
    [[ int v; do { __nv_atomic_load(flag, &v, __NV_ATOMIC_ACQUIRE); } while (v == 0); ]] },
  { "a method", "struct gate { volatile int a; __device__ bool open() const { return a != 0; } };",
    [[ gate &g = *(gate *)flag; while (!g.open()); ]] },
  { "a method that calls another", "struct gate { int a; __device__ int load() { return *(volatile int *)&a; }\n"
    .. "__device__ void wait() { while (load() == 0) { } } };", [[ ((gate *)flag)->wait(); ]] },
  { "a load past the cache", "", [[ int v = __ldcg(flag);
    while (v == 0) { __threadfence(); v = __ldcg(flag); } ]], race = true },
  { "a helper that writes through a pointer", "__device__ void peek(volatile int *x, int *v) { *v = *x; }",
    [[ int v = 0; while (v == 0) peek(flag, &v); ]] },
  { "a helper with a variable", "__device__ int peek(int *x) { int v = *(volatile int *)x; return v; }",
    [[ while (peek(flag) == 0); ]] },
  { "a template", "template <class T> __device__ T peek(T *x) { return *(volatile T *)x; }",
    [[ while (peek<int>(flag) == 0); ]] },
  { "a lambda", "", [[ auto peek = [&] { return *(volatile int *)flag; }; while (peek() == 0); ]] },
  { "a lambda with a parameter", "", [[ auto wait = [](volatile int *f) { while (*f == 0); }; wait(flag); ]] },
  { "a block with a value", "", [[ while (({ volatile int *f = flag; *f; }) == 0); ]] },
  { "a method with a parameter", "struct gate { __device__ void wait(volatile int *f) { while (*f == 0); } };",
    [[ gate g; g.wait(flag); ]] },
  { "a class in the body", "", [[ struct gate { volatile int a; }; gate *g = (gate *)flag; while (!g->a); ]] },
  { "a volatile type", "typedef volatile int word;", [[ word *f = flag; while (*f == 0); ]] },
  { "a pointer by a cast", "", [[ auto f = const_cast<volatile int *>(flag); while (!*f); ]] },
  { "a variable initialised in brackets", "",
    [[ bool go; do { int v(*(volatile int *)flag); go = v == 0; } while (go); ]] },
  { "a variable that says it is done", "",
    [[ bool done = false; while (!done) { if (*(volatile int *)flag) done = true; } ]] },
  { "a variable computed from the flag", "",
    [[ bool wait = true; while (wait) { int v = atomicOr(flag, 0); wait = v == 0; } ]] },
  { "a switch", "",
    [[ bool go = true; while (go) switch (*(volatile int *)flag) { case 0: break; default: go = false; } ]] },
  { "continue", "", [[ while (true) { if (*(volatile int *)flag == 0) continue; break; } ]] },
  { "goto", "", [[ again: if (*(volatile int *)flag == 0) goto again; ]] },
  { "a sum of flags", "", [[ volatile int *f = flag; int sum;
    do { sum = 0; for (int i = 0; i < 3; i++) sum += f[i]; } while (sum == 0); ]] },
  { "flags one after the other", "", [[ volatile int *f = flag; int i = 0; while (i < 1) { if (f[i]) i++; } ]] },
  { "plain memory behind a fence", "", [[ while (*flag == 0) __threadfence(); ]],
    race = true },
  { "plain memory behind a pause", "", [[ while (flag[0] == 0) __nanosleep(100); ]], race = true },
  { "plain memory behind a compiler's barrier", "", [[ while (*flag == 0) asm volatile("" ::: "memory"); ]],
    race = true },
  { "work of its own between two looks", "", [[ volatile int *f = flag;
    while (*f == 0) { int i = atomicAdd(flag + 1, 1);
      if (i < 100) for (int k = 0; k < 9; k++) if (k == i) break; } ]] },
  { "a look at one after the other, each taken by compare and swap", "",
    [[ int i = 0; while (i < 1) { if (atomicCAS(flag + i, 1, 2) == 1) i++; } ]] },
  { "an addition of 0.0f", "", [[ while (atomicAdd((float *)flag, 0.0f) == 0.0f); ]] },
}

-- These make their own way.
local moving = {
  { "a lock that is given back", [[ while (atomicCAS(flag, 0, 1) != 0); out[t] = 1; atomicExch(flag, 0); ]] },
  { "a lock that is tried for", [[ bool done = false; while (!done) { if (atomicCAS(flag, 0, 1) == 0) {
    out[t] = 1; __threadfence(); atomicExch(flag, 0); done = true; } } ]] },
  { "a lock of the compiler's atomics", [[ int none = 0;
    while (!__nv_atomic_compare_exchange_n(flag, &none, 1, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED)) none = 0;
    out[t] = 1; __nv_atomic_exchange_n(flag, 0, __NV_ATOMIC_RELEASE); ]] },
  { "compare and swap", [[ int old = flag[0], assumed;
    do { assumed = old; old = atomicCAS(flag, assumed, assumed + t); } while (assumed != old); out[t] = 1; ]] },
  { "compare and swap of a volatile value", [[ while (true) { int old = *(volatile int *)flag;
    if (atomicCAS(flag, old, old + t) == old) break; } out[t] = 1; ]] },
  { "an element at the front of a list", [[ int old; do { old = *flag; } while (atomicCAS(flag, old, t) != old);
    out[t] = 1; ]] },
  { "a place in a hash table", [[ int *keys = out + n; int at = t % 7;
    while (true) { int was = atomicCAS(&keys[at], 0, t + 1);
      if (was == 0 || was == t + 1) { out[t] = 1; return; } at = (at + 1) % n; } ]] },
  { "the end of a chain", [[ int *next = out + n, at = 0;
    while (true) { int is = atomicCAS(&next[at], 0, t + 1); if (is == 0) break; else at = is; } out[t] = 1; ]] },
  { "trees that become one", [[ int *up = out + n, a = t, b = 0; bool done;
    do { if (a < b) { int old = atomicMin(&up[b], a); done = old == b; b = old; }
      else if (b < a) { int old = atomicMin(&up[a], b); done = old == a || old == b; a = old; }
      else done = true; } while (!done); out[t] = 1; ]] },
  { "what climbs a tree until it comes first", [[ int *seen = out + n, at = t + 1; out[t] = 1;
    while (at > 1) { at /= 2; __threadfence(); if (atomicCAS(&seen[at], 0, 1) == 0) return; } ]] },
  { "a maximum whose value is not used", [[ int at = t; while (at >= 0) { atomicMax(flag, at); at = at - 5; }
    out[t] = 1; ]] },
  { "a wait for so many looks", [[ volatile int *f = flag; while (*f == 0 && n-- > 0) ; out[t] = 1; ]] },
  { "a queue of work", [[ int i; while ((i = atomicAdd(flag, 1)) < n) out[i] = 1; ]] },
  { "a name that is volatile elsewhere", [[ { volatile int f = 1; out[t] = f; } int f = 0; while (f == 0) f = n; ]] },
  { "a bounded wait", [[ volatile int *f = flag; int i = 0; while (*f == 0 && i < 10) i++; out[t] = 1; ]] },
}

-- The single-pass scan with decoupled look-back of D. Merrill and M. Garland (2016), a block per element of 64.
local SCAN = [[
__device__ int ticket;
__global__ void scan(int *out, const int *in, volatile int *state, volatile int *value) {
  __shared__ int part[64], base, block;
  int t = threadIdx.x;
  if (t == 0) block = atomicAdd(&ticket, 1);
  __syncthreads();
  part[t] = in[block * 64 + t];
  for (int d = 1; d < 64; d *= 2) {
    __syncthreads();
    int v = t >= d ? part[t - d] : 0;
    __syncthreads();
    part[t] += v;
  }
  __syncthreads();
  if (t == 0) {
    value[2 * block] = part[63];
    __threadfence();
    state[block] = 1;
    int sum = 0;
    for (int before = block - 1; before >= 0; before--) {
      int s;
      do { s = state[before]; } while (s == 0);
      __threadfence();
      sum += value[2 * before + (s == 2)];
      if (s == 2) break;
    }
    base = sum;
    value[2 * block + 1] = sum + part[63];
    __threadfence();
    state[block] = 2;
  }
  __syncthreads();
  out[block * 64 + t] = base + part[t];
}
]]

local function forms_source()
  local text = {}
  for i, form in ipairs(forms) do
    local _, helpers, body = table.unpack(form)
    table.insert(text, ("namespace n%d { %s\n__global__ void k%d(int *out, int *flag) { int t = threadIdx.x; "
      .. "if (t == 0) { %s } if (t == 63) { __threadfence(); atomicExch(flag, 1); } out[t] = 1; } }\n")
      :format(i, helpers, i, body))
  end
  return table.concat(text)
end

-- One that hangs fails here, before it is launched.
local function run(dev, source, engine, expected)
  local m <close> = dev:module { source = source, name = "wait.cu", engine = engine }
  if expected then assert.are.equal(expected, (m.k:engine())) end
  local out <close> = dev:zeros("i32", 2 * THREADS + 1)
  local flag <close> = dev:zeros("i32", 1)
  m.k:launch(1, THREADS, out, flag, THREADS)
  for i = 1, THREADS do assert.are.equal(1, out:get(i)) end
  return m.k:engine()
end

describe("threads that wait for each other", function()
  support.no_leaks()

  for _, case in ipairs(waiting) do
    local name, helpers, body = table.unpack(case)
    it("come to an end in fibers: " .. name, function()
      local dev = mw.device "cpu"
      local _, why = run(dev, helpers .. HEAD .. body .. "out[t] = 1; }", nil, "fiber")
      assert.is_truthy(why:find "^the loop at wait.cu:%d waits for what another thread writes$", why)
    end)
  end

  it("come to an end in fibers, whatever form the loop has", function()
    for _, id in ipairs { "cpu", "cpu:check" } do
      local dev = mw.device(id)
      local m <close> = dev:module { source = forms_source() }
      local out <close> = dev:zeros("i32", THREADS)
      local flag <close> = dev:zeros("i32", 4)
      for i, form in ipairs(forms) do
        local k <close> = m:kernel(("n%d::k%d"):format(i, i))
        assert.are.equal("fiber", (k:engine()), form[1])
        out:fill(0)
        flag:fill(0)
        if id == "cpu" or not form.race then
          k:launch(1, THREADS, out, flag)
          for _, got in ipairs(out:totable()) do assert.are.equal(1, got, form[1]) end
        end
      end
    end
  end)

  it("are not found in every loop: threads that run one after the other end with an error", function()
    local source = HEAD .. "const int zero = 0; if (t == 0) while (atomicAdd(flag, zero) == 0); atomicExch(flag, 1);"
      .. "out[t] = 1; }"
    support.child_passes(([[
      local mw = require "moonwarp"
      local source = %q
      local dev = mw.device "cpu"
      local out, flag = dev:zeros("i32", 64), dev:zeros("i32", 1)
      local k = dev:module { source = source, name = "wait.cu" }.k
      assert(k:engine() == "loop")
      local ok, message = pcall(k.launch, k, 1, 64, out, flag, 64)
      assert(not ok)
      assert(tostring(message):find("kernel 'k', block (0,0,0): a thread has been in the loop at wait.cu:1 for 2^28 "
        .. 'rounds, and seems to wait for another thread; engine = "fiber" lets the others run', 1, true), message)
      flag:fill(0)
      dev:module { source = source, engine = "fiber" }.k:launch(1, 64, out, flag, 64)
      assert(out:get(64) == 1)
      k = dev:module { source = "__global__ void k(volatile int *f) { int i = 0; "
        .. "while (i < 1) { if (f[i] == 0) continue; i++; } if (threadIdx.x == 1) *f = 1; }" }.k
      flag:fill(0)
      assert(not pcall(k.launch, k, 1, 2, flag))
    ]]):format(source))
  end)

  it("may be of later blocks: a barrier of the grid made of atomics", function()
    support.child_passes [[
      local mw = require "moonwarp"
      local source = "__device__ unsigned count; __global__ void k(int *out, int *in) {"
        .. "in[blockIdx.x] = blockIdx.x; __syncthreads();"
        .. "if (threadIdx.x == 0) { __threadfence(); atomicAdd(&count, 1);"
        .. "while (*(volatile unsigned *)&count < gridDim.x); __threadfence(); } __syncthreads();"
        .. "out[blockIdx.x] = in[(blockIdx.x + 1) % gridDim.x]; }"
      for _, id in ipairs { "cpu", "cpu:check" } do
        local dev = mw.device(id)
        local blocks = 60
        local out, from = dev:zeros("i32", blocks), dev:zeros("i32", blocks)
        dev:module { source = source }.k:launch(blocks, 1, out, from)
        for b = 1, blocks do assert(out:get(b) == b % blocks) end
      end
    ]]
  end)

  for _, case in ipairs(moving) do
    local name, body = table.unpack(case)
    it("are not suspected: " .. name, function()
      local dev = mw.device "cpu"
      assert.are.equal("loop", (run(dev, HEAD .. body .. "}")))
      run(dev, HEAD .. body .. "}", "fiber")
    end)
  end

  it("are rejected by an engine that would never end", function()
    fails_with(function()
      mw.device("cpu"):module { source = HEAD .. "while (atomicAdd(flag, 0) == 0); }", engine = "loop" }
    end, "kernel 'k' cannot run with engine 'loop': the loop at source:1 waits for what another thread writes")
  end)

  it("may be of other blocks: a scan with decoupled look-back", function()
    local dev = mw.device "cpu"
    local blocks = 300
    for _, engine in ipairs { "auto", "fiber" } do
      local m <close> = dev:module { source = SCAN, engine = engine }
      local values, sum = {}, 0
      for i = 1, 64 * blocks do values[i] = i * 7919 % 101 end
      local data <close> = dev:array("i32", values)
      local out <close> = dev:array("i32", 64 * blocks)
      local state <close> = dev:zeros("i32", blocks)
      local value <close> = dev:zeros("i32", 2 * blocks)
      m.scan:launch(blocks, 64, out, data, state, value)
      local got = out:totable()
      for i = 1, #values do
        sum = sum + values[i]
        if got[i] ~= sum then error(("element %d is %d, not %d"):format(i, got[i], sum)) end
      end
    end
  end)
end)
