-- SPDX-License-Identifier: MIT
--
-- What a rung launches: lists with functions in them, graphs, kernels that no rung launches, sources that are text.
-- As in the step of a solver, whose host waits for a maximum, and in loops over a mesh, whose kernels are generated.

local small_study = require "tests.support.small_study"

local changed, has = small_study.changed, small_study.has

local KERNELS <const> = [[
template <typename T> __global__ void largest(T *most, const T *x, int n) {
  *most = 0;
  for (int i = 0; i < n; i++) *most = x[i] > *most ? x[i] : *most;
}
template <typename T, bool MORE> __global__ void scaled(T *y, const T *x, T most, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = MORE ? y[i] + x[i] / most : x[i] / most;
}
extern "C" __global__ void ended(float *y, int *late, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && y[i] > 4) *late = 1;
  if (i < n) y[i]++;
}
template <typename T> __global__ void begun(T *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i % 7 + 1;
}
]]

local STUDY <const> = [[
local mw = require "moonwarp"
local study, p = mw.study { question = "does a wait cost?", kernels = "saxpy.cu", rate = "T_eff", output = "y",
  type = "f32", odd = { { n = 77 } }, params = { { "n", 1000, "elements" }, { "kind", "begun", "a kernel" } },
  also = function(given) return { given.kind .. "<%s>" } end }
local function over(c) return { block = 64, grid = mw.ceil_div(c.n, 64) } end
function study.arrays(c)
  local x = c.dev:array(c.type, c.n)
  c:launch("begun<%s>", over(c), { x = x })()
  return { x = x, y = c:array(c.n), most = c:array(1) }
end
study:answer("step", { bytes = "x y", start = function(c) c.most:fill(0) end,
  cell = function(c, at, i) return 2 * at.x(i) / math.min(7, c.n) end })
local function step(c, more)
  local scratch = c:array(c.n) -- none while kernels are planned
  return { { "largest<%s>", { block = 1, grid = c:resident("largest<%s>", 1) > 0 and 1 }, { most = c.most } },
           function() c.known = c.most:get(1) end,
           { "scaled<%s,false>", over(c), { y = scratch, most = function() return c.known end } },
           { "scaled<%s,false>", over(c), { most = function() return c.known end } }, more or nil }
end
study:rung { 1, "the host waits", launches = function(c)
  return step(c, { "scaled<%s,true>", over(c), { most = function() return c.known end } })
end }
study:part { "all", cases = { { n = p.n } } }
]]

small_study.describe("a list of launches", KERNELS, function(run, passes)
  it("may have functions in it, and all its kernels are in one module with those that no rung launches", function()
    local made = passes(STUDY .. [[
      study:finally(function()
        for _, plan in pairs(study.state.plans) do table.sort(plan.templates) print(table.unpack(plan.templates)) end
      end)
      return study]], "--quiet")
    assert.are.equal("begun<float>\tlargest<float>\tscaled<float,false>\tscaled<float,true>\n", made.output)
    assert.are.equal(1, #made.record.records)
  end)

  -- Modules of one file have device variables of their own: what a script wrote into one was not in the other.
  it("is in the module of those that say nothing of fast math, if it says there is none", function()
    local made = passes(STUDY .. [[
      study:rung { 2, "as it is", fast_math = false, launches = function(c)
        return step(c, { "scaled<%s,true>", over(c), { most = function() return c.known end } })
      end }
      study:finally(function()
        local count = 0
        for _ in pairs(study.state.plans) do count = count + 1 end
        print(count)
      end)
      return study]], "--quiet")
    assert.are.equal("1\n", made.output)
  end)

  it("that cannot do without the case's arrays is compiled when it is launched", function()
    passes(changed(STUDY, "local scratch = c:array(c.n)", "local scratch = c:keep(c.x:clone())") .. "return study")
  end)

  it("says why the device cannot, or what it must be", function()
    local cannot = changed(STUDY, "return step(c, {", "if c.most then return nil, 'it is Monday' end return step(c, {")
    has(passes(cannot .. "return study").remarks, "Not measured: the host waits (it is Monday).")
    local made = run(changed(STUDY, "function() c.known =", "5, function() c.known =") .. "return study")
    has(made.output, "mine.lua:20: rung 1 'the host waits', launches: must return a list of { kernel, { block =, "
      .. "grid = }, arguments } and functions, or nil and why the device cannot")
  end)

  it("says which names 'also' takes", function()
    local text = STUDY:gsub("also = function.- end }", "also = { 5 } }") .. "return study"
    has(run(text).output, "mine.lua:2: mw.study: option 'also' must be a list such as { \"peaks<%s>\" }, got one with "
      .. "a number in it")
  end)
end)

small_study.describe("a rung with 'graph'", KERNELS, function(run, passes)
  local GRAPH <const> = STUDY .. [[
study:rung { 2, "a graph", graph = true, stream = STREAM, launches = function(c)
  local how, more = over(c), { most = math.min(7, c.n) }
  how.stream = STREAM and c:stream() or nil
  return { { "scaled<%s,false>", how, more }, { "scaled<%s,true>", how, more } }
end, observe = function(c, go)
  c.y:fill(0)
  go()
  return { again = c.y:get(1) }
end }
return study]]

  it("is captured once, and replayed in its stream", function()
    for _, stream in ipairs { "false", "true" } do
      local made = passes((GRAPH:gsub("STREAM", stream)))
      assert.are.equal("a graph", made.record.records[2].rung)
      assert.is_near(2 / 7, made.record.records[2].again, 1e-6)
    end
  end)

  it("queues its work without waiting", function()
    local text = changed(STUDY, '{ 1, "the host waits",', '{ 1, "the host waits", graph = true,') .. "return study"
    local made = run(text)
    assert.are.equal(1, made.status)
    has(made.output, "mine.lua:20: rung 1 'the host waits', graph: mine.lua:16: a stream is being captured: you can "
      .. "move bytes between an array and the script after the capture has ended")
  end)
end)

small_study.describe("a rung whose source is text", KERNELS, function(run, passes)
  local GENERATED <const> = STUDY .. [[
local function made(c, block)
  return ('extern "C" __global__ void made(float *y, const float *x, int n) { int i = blockIdx.x * %d + threadIdx.x;'
    .. ' if (i < n) y[i] = 2 * x[i] / %d; }'):format(block, math.min(7, c.n))
end
study:rung { 2, "generated", kernel = "made", source = made, blocks = { 32, 64 }, over = { "n" } }
study:part { "count", cases = { { n = p.n } }, rungs = { "generated" },
             counters = { "sectors_per_request", at = { n = 256 } }, table = { "block" } }
return study]]

  it("is compiled, checked and counted as one of a file", function()
    local made = passes(GENERATED)
    assert.are.equal(5, #made.record.records)
    assert.are.equal(4, made.record.records[5].sectors_per_request)
    made = run(changed(GENERATED, 'kernel = "made"', 'kernel = "mode"'))
    assert.are.equal(1, made.status)
    has(made.output, "mine.lua:28: rung 2 'generated': module 'source' has no kernel 'mode'; it has: made; did you "
      .. "mean 'made'?")
  end)
end)

small_study.describe("the shares of a part", KERNELS, function(_, passes)
  it("are those of each kernel of its lists, alone, times its launches", function()
    local made = passes(changed(STUDY, "cases = { { n = p.n } }", "cases = { { n = p.n } }, shares = true")
      .. 'study:rung { 2, "one kernel", make = function(c) return function() c.y:fill(0) end end, mistake = true }\n'
      .. "return study")
    local by, sum = {}, 0
    for _, r in ipairs(made.record.records) do
      if r.kernel then by[r.kernel], sum = r, sum + r.share end
    end
    assert.is_near(1, sum, 1e-12)
    local scaled = by["scaled<float,false>"] -- two launches that differ: their times have no interval together
    assert.are.same({ 2, "all", "the host waits", "s" },
      { scaled.launches, scaled.group, scaled.rung, scaled.units.together })
    assert.is_near(2 * scaled.t, scaled.together, 1e-15)
    has(made.output, "mine all, n = 1000, f32: the kernels of 'the host waits', measured on ")
    assert.is_truthy(made.files["mine-all-kernels.dat"])
  end)

  it("are of launches that differ in anything, each begun anew where the answer is, and on its own device", function()
    local made = passes [[
local mw = require "moonwarp"
local study = mw.study { question = "what takes the time?", kernels = "saxpy.cu", output = "y", type = "f32",
  odd = { { n = 77 } }, seconds = { 0.001, gpu = 0.001 } }
local late = mw.device():zeros("i32", 1)
function study.arrays(c) return { y = c:array(c.n) } end
study:answer("ended", { bytes = "y", restart = true, cell = function(_, _, i) return i <= 32 and 5 or 2 end,
  start = function(_, out) out:fill(1) end })
study:rung { 1, "launches", launches = function(c)
  local there = c:keep(mw.device "cpu:1":full(1, "f32", c.n))
  local how = { block = 64, grid = mw.ceil_div(c.n, 64) }
  local some = { n = 32, late = late }
  return { { "ended", how, some }, { "ended", how, some }, { "ended", { block = 32, grid = 1 }, some },
           { "ended", how, { late = late } }, { "ended", { block = 64, grid = 1, device = "cpu:1" },
             { y = there, late = c:keep(mw.device "cpu:1":zeros("i32", 1)), n = 1 } } }
end }
study:part { "all", cases = { { n = 100 } }, shares = true }
study:finally(function() print("late", late:get(1)) end)
return study]]
    has(made.output, "late\t0")
    local here, there = made.record.records[2], made.record.records[3]
    assert.are.same({ "ended", 4, "ended, cpu:1", 1, "cpu:1" },
      { here.kernel, here.launches, there.kernel, there.launches, there.device })
    assert.is_near(4 * here.t, here.together, 1e-15)
    assert.is_near(there.t.median, there.together.value, 1e-15)
  end)
end)
