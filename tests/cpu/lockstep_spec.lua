-- SPDX-License-Identifier: MIT
--
-- Code of before Volta that counts on the lanes of a warp to run in step, through volatile memory and without
-- __syncwarp(): it is right on GPUs in practice, and was wrong on the CPU device in every engine. Check mode tells of
-- it.
--
-- Where a lane waits for another one (`waiting`, `turns`, `locked`) a GPU is not asked: on an H200 `waiting` does not
-- end, as lane 1 waits behind the branch for lane 0, though since Volta each lane is to go on. The steps hold there
-- because a warp whose lanes are together takes each instruction at once, and because ptxas brings lanes together
-- behind a branch: a GPU or a ptxas that does not may fail them, and the code of before Volta with them.

local support = require "tests.support"
local findings = require "moonwarp.measure.findings"
local session = require "moonwarp.session"
local mw = support.mw

-- Steps on s, of which a block has 128; the first 32 threads take them. OP is their operation, of distances 32 to 1.
local forms = {
  { name = "compound", op = "s[t] += s[t + D];" },
  { name = "written_out", op = "s[t] = s[t] + s[t + D];" },
  { name = "carried", op = "s[t] = v + s[t + D]; v = s[t];", type = "unsigned" },
  { name = "chain", op = "s[t] = v = v + s[t + D];", type = "double" },
  { name = "read_before", op = "{ int other = s[t + D]; s[t] = v = v + other; }" },
  { name = "by_shift", op = "*(s + t) += *(s + t + D);" },
  { name = "by_cast", op = "((volatile int *)p)[t] += ((volatile int *)p)[t + D];", plain = true },
  { name = "by_pointer", op = "q[t] += q[t + D];", plain = true, own = "volatile int *q = p;" },
  { name = "by_pointer_itself", op = "*q += q[D];", plain = true, own = "volatile int *const volatile q = p + t;" },
  { name = "by_typedef", op = "q[t] += q[t + D];", plain = true, own = "word *q = p;" },
  { name = "by_reference", op = "{ volatile int &mine = p[t], &other = p[t + D]; mine = mine + other; }",
    plain = true },
  { name = "of_pairs", op = "q[t].y += q[t + D].y;", own = "volatile int2 *q = pairs; q[t].y = s[t]; "
    .. "q[t + 32].y = s[t + 32]; q[t + 64].y = s[t + 64];", tail = "s[t] = q[t].y;" },
  { name = "min_max", op = "s[t] = max(s[t], s[t + D]);", largest = true },
  { name = "under_condition", op = "if (s[t] < s[t + D]) s[t] = s[t + D];", largest = true },
  { name = "helper", steps = "reduce(p, t);", plain = true },
  { name = "instance", steps = "reduce_any<int>(p, t);", plain = true },
  { name = "method", steps = "reducer r; r.reduce(p, t);", plain = true, engine = "fiber" },
  { name = "loop", steps = "for (int d = 32; d > 0; d >>= 1) s[t] += s[t + d];" },
  { name = "narrowing_loop", steps = "for (int d = 32; d > 0; d >>= 1) if (t < d) s[t] += s[t + d];" },
  { name = "in_global_memory", op = "q[t] += q[t + D];", own = "volatile int *q = x + 128 * blockIdx.x;",
    tail = "s[t] = q[t];" },
}

local DISTANCES = { 32, 16, 8, 4, 2, 1 }

local function unrolled(op)
  local text = {}
  for k, d in ipairs(DISTANCES) do text[k] = op:gsub("D", d) end
  return table.concat(text, "\n")
end

local HEAD = [[
typedef volatile int word;
__device__ void reduce(volatile int *s, int t) { ]] .. unrolled "s[t] += s[t + D];" .. [[ }
template <class T> __device__ void reduce_any(volatile T *s, int t) { ]] .. unrolled "s[t] += s[t + D];" .. [[ }
struct reducer { __device__ void reduce(volatile int *s, int t) { ]] .. unrolled "s[t] += s[t + D];" .. [[ } };
// Each lane has the sum of those up to it.
__global__ void scan(int *out, int *x) {
  __shared__ volatile int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t % 32 >= 1) s[t] = s[t - 1] + s[t];
  if (t % 32 >= 2) s[t] = s[t - 2] + s[t];
  if (t % 32 >= 4) s[t] = s[t - 4] + s[t];
  if (t % 32 >= 8) s[t] = s[t - 8] + s[t];
  if (t % 32 >= 16) s[t] = s[t - 16] + s[t];
  out[t] = s[t];
}
// Odd lanes take another way, then all turn their values round.
__global__ void turned(int *out, int *x) {
  __shared__ volatile int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t % 2) { for (int k = 0; k < t % 5; k++) s[t] = s[t] + 1; }
  s[t] = s[t ^ 31];
  out[t] = s[t];
}
// Written in one statement, read in the next.
__global__ void exchanged(int *out, int *x) {
  __shared__ volatile int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  out[t] = s[t ^ 31];
}
// Lane 0 waits for what lane 1 sets, among steps.
__global__ void waiting(int *out, int *x) {
  __shared__ volatile int s[128], flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  s[t] = x[t];
  __syncthreads();
  if (t == 0) { while (flag == 0) { } }
  if (t == 1) { s[0] = s[2] + s[3]; flag = s[1] + 1; }
  __syncthreads();
  s[t] = s[t ^ 1];
  out[t] = s[t];
}
// Each lane waits for the one before it.
__global__ void turns(int *out, int *x) {
  __shared__ volatile int ready[33], sum[33];
  int t = threadIdx.x;
  ready[t] = t == 0;
  sum[t] = 0;
  __syncwarp();
  while (!ready[t]) { }
  if (t < 31) {
    sum[t + 1] = sum[t] + x[t];
    ready[t + 1] = 1;
  }
  out[t] = sum[t];
}
__device__ void add(volatile int *x, int t) { x[64] = x[64] + x[t]; }
// Each thread takes the lock for a helper that counts on the lanes in step.
__global__ void locked(int *out, int *x, int *lock) {
  int t = threadIdx.x;
  bool done = false;
  while (!done)
    if (atomicCAS(lock, 0, 1) == 0) {
      add(x, t);
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  out[t] = t;
}
]]

local function kernel_of(form)
  local elements = form.plain and "int p[128]" or ("volatile %s s[128]"):format(form.type or "int")
  local s = form.plain and "p" or "s"
  return ([[
__global__ void %s(int *out, int *x) {
  __shared__ %s;
  __shared__ int2 pairs[128];
  int t = threadIdx.x;
  pairs[t].x = 0;
  %s[t] = x[128 * blockIdx.x + t];
  __syncthreads();
  if (t < 32) {
    %s v = %s[t];
    %s
    %s
    %s
    (void)v;
  }
  if (t < 32) out[64 * blockIdx.x + t] = %s[t];
}
]]):format(form.name, elements, s, form.type or "int", s, form.own or "", form.steps or unrolled(form.op),
    form.tail or "", s)
end

local source = HEAD
for _, form in ipairs(forms) do source = source .. kernel_of(form) end

local BLOCKS = 2

local function start(i) return i * 37 % 101 end

-- Element t of a block, 0 to 63, after all steps: each step's values come of those of the step before.
local function expected(form, block)
  local s = {}
  for t = 0, 127 do s[t] = start(128 * block + t) end
  for _, d in ipairs(DISTANCES) do
    local of = {}
    for t = 0, 31 do of[t] = form.largest and math.max(s[t], s[t + d]) or s[t] + s[t + d] end
    for t = 0, form.name == "narrowing_loop" and d - 1 or 31 do s[t] = of[t] end
  end
  return s
end

local function input(dev)
  local x = dev:zeros("i32", 128 * BLOCKS)
  for i = 0, 128 * BLOCKS - 1 do x:set(i + 1, start(i)) end
  return x
end

local ways = { { "auto", {} }, { "fiber", { engine = "fiber" } }, { "check mode", {}, { check = true } } }
for _, dev in ipairs(support.devices()) do
  if dev:id():find "^cuda" then ways[#ways + 1] = { dev:id(), {}, gpu = dev } end
end

for _, way in ipairs(ways) do
  local waits = way.gpu and pending or it
  describe("lanes of a warp that pass values through volatile memory, by " .. way[1], function()
    session.current.settle_findings = function() end -- what check mode finds is wanted: it fails no run
    local dev, m
    setup(function()
      dev = way.gpu or mw.device("cpu", way[3])
      m = dev:module { source = source, name = "steps.cu", engine = way[2].engine, warnings = false }
    end)
    teardown(function() m:close() end)

    for _, form in ipairs(forms) do
      it("read before any writes: " .. form.name, function()
        local x <close> = input(dev)
        local out <close> = dev:zeros("i32", 64 * BLOCKS)
        local before = findings.counts()
        m[form.name]:launch(BLOCKS, 128, out, x)
        for block = 0, BLOCKS - 1 do
          local s = expected(form, block)
          for t = 0, 31 do assert.are.equal(s[t], out:get(64 * block + t + 1), t) end
        end
        if way[3] then assert.are.equal("warp-synchronous", findings.since(before)[1].kind) end
        if way[1] == "auto" then assert.are.equal(form.engine or "split", (m[form.name]:engine())) end
      end)
    end

    it("take their steps in every warp", function()
      local x <close> = input(dev)
      local out <close> = dev:zeros("i32", 128)
      m.scan:launch(1, 128, out, x)
      local sum
      for t = 0, 127 do
        sum = (t % 32 == 0 and 0 or sum) + start(t)
        assert.are.equal(sum, out:get(t + 1), t)
      end
    end)

    it("come together again after different ways", function()
      local x <close> = input(dev)
      local out <close> = dev:zeros("i32", 96)
      m.turned:launch(1, 96, out, x)
      for t = 0, 95 do
        local from = t ~ 31
        assert.are.equal(start(from) + (from % 2) * (from % 5), out:get(t + 1), t)
      end
    end)

    it("read what was written in the statement before", function()
      local x <close> = input(dev)
      local out <close> = dev:zeros("i32", 96)
      m.exchanged:launch(1, 96, out, x)
      for t = 0, 95 do assert.are.equal(start(t ~ 31), out:get(t + 1), t) end
    end)

    waits("are not waited for where they wait themselves", function()
      local x <close> = input(dev)
      local out <close> = dev:zeros("i32", 64)
      m.waiting:launch(1, 64, out, x)
      for t = 0, 63 do
        local from = t ~ 1
        assert.are.equal(from == 0 and start(2) + start(3) or start(from), out:get(t + 1), t)
      end
    end)

    waits("take turns", function()
      local x <close> = input(dev)
      local out <close> = dev:zeros("i32", 32)
      m.turns:launch(1, 32, out, x)
      local sum = 0
      for t = 0, 31 do
        assert.are.equal(sum, out:get(t + 1), t)
        sum = sum + start(t)
      end
    end)

    waits("take a lock one after the other", function()
      local x <close> = input(dev)
      local out <close> = dev:zeros("i32", 64)
      local lock <close> = dev:zeros("i32", 1)
      local sum = start(64)
      for i = 0, 63 do sum = sum + start(i) end
      m.locked:launch(1, 64, out, x, lock)
      assert.are.equal(sum, x:get(65))
    end)
  end)
end

describe("the note on lanes that run in step", function()
  local BODY = "__global__ void k(int *x) { __shared__ volatile int s[64]; int t = threadIdx.x;\ns[t] = x[t];\n%s\n"
    .. "x[t] = s[t]; }"

  local function warned(body)
    local told = {}
    local warn = session.warn
    session.warn = function(text) told[#told + 1] = text end
    mw.device("cpu"):module({ source = BODY:format(body), name = "steps.cu", cache = false }):close()
    session.warn = warn
    return table.concat(told)
  end

  it("comes once, with the line of the first step", function()
    local text = warned "s[t] += s[(t + 1) % 64];\ns[t] += s[(t + 2) % 64];"
    local _, count = text:gsub("put __syncwarp%(%) between the steps", "")
    assert.are.equal(1, count, text)
    local place = "steps.cu:3: warning: lanes of a warp pass each other values through volatile memory alone"
    assert.is_truthy(text:find(place, 1, true), text)
  end)

  for _, body in ipairs { "s[t] += s[(t + 1) % 64]; __syncwarp();", "s[t] += s[(t + 1) % 64]; __syncthreads();",
    "s[t] += 1;", "s[t] += s[(t + 1) % 64]; __threadfence_block();",
    "for (int d = 1; d < 4; d++) { s[t] += s[(t + d) % 64]; __syncwarp(); } __syncwarp();" } do
    it("is not of " .. body, function() assert.are.equal("", warned(body)) end)
  end
end)
