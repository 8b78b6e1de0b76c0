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
  { "a queue of work", [[ int i; while ((i = atomicAdd(flag, 1)) < n) out[i] = 1; ]] },
  { "a bounded wait", [[ volatile int *f = flag; int i = 0; while (*f == 0 && i < 10) i++; out[t] = 1; ]] },
}

-- The single-pass scan with decoupled look-back of D. Merrill and M. Garland (2016), a block an element of 64.
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

local function run(dev, source, engine)
  local m <close> = dev:module { source = source, name = "wait.cu", engine = engine }
  local out <close> = dev:zeros("i32", THREADS)
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
      local engine, why = run(dev, helpers .. HEAD .. body .. "out[t] = 1; }")
      assert.are.equal("fiber", engine)
      assert.is_truthy(why:find "^the loop at wait.cu:%d waits for what another thread writes$", why)
    end)
  end

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
