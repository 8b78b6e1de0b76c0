-- SPDX-License-Identifier: MIT
--
-- mw.bench's alarms: each fires for a function that earns it and is silent for one that does not;
-- what was declared becomes rates; a run with an alarm ends with status 3.

local support = require "tests.support"
local core, mw, fails = support.core, support.mw, support.fails

local SOURCE = [[
__global__ void twice(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void same(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void add(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
__global__ void bytes(unsigned char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (unsigned char)i;
}
__global__ void slow(float *x, int steps) {
  float y = x[0];
  for (int i = 0; i < steps; i++) y = y * 0.999f + 0.001f;
  x[0] = y;
}]]

local N = 1000

-- The names of the alarms; the count of failed checks is put back.
local function names_of(fn, options)
  options.samples, options.quiet = options.samples or 3, true
  local before = core.options.failed_checks
  local ok, t = pcall(mw.bench, fn, options)
  local raised = (core.options.failed_checks or 0) - (before or 0)
  core.options.failed_checks = before
  assert.is_true(ok, t)
  local names = {}
  for i, entry in ipairs(t.alarms) do
    names[i] = entry.name
    assert.is_true(#entry.cause > 20 and #entry.remedy > 20)
    assert.is_nil(entry.cause:find "%.$" or entry.remedy:find "%.$")
  end
  assert.are.equal(#names, raised)
  return table.concat(names, " "), t
end

support.each_device(function(dev)
  describe("an alarm", function()
    local m, x, y, go, same

    before_each(function()
      m = dev:module { source = SOURCE }
      x, y = dev:array("f32", N):linspace(1, 2), dev:array("f32", N)
      go = m.twice:prepare { grid = 4, block = 256 }
      same = m.same:prepare { grid = 4, block = 256 }
    end)

    after_each(function()
      for _, object in ipairs { go, same, x, y, m } do object:close() end
    end)

    local function work() go(y, x, N) end

    it("is silent for a function that does what it says", function()
      local names, t = names_of(work, { device = dev, output = y, input = x, bytes = 8 * N, flops = N })
      assert.are.equal("", names)
      assert.are.equal(4, y:get(N))
      assert.are.equal(8 * N / t.median, t.throughput)
      assert.are.equal(N / t.median, t.rate)
      assert.are.equal(0.125, t.intensity)
    end)

    it("is raised above the peak", function()
      local names, t = names_of(work, { device = dev, bytes = 8 * N, peak = 1 })
      assert.are.equal("above_peak", names)
      assert.is_true(t.peak_share > 1)
      assert.is_truthy(t.alarms[1].cause:find("is more than the peak given of 1 B/s", 1, true), t.alarms[1].cause)
      assert.are.equal("above_peak", (names_of(work, { device = dev, flops = N, peak_flops = 1 })))
      assert.are.equal("", (names_of(work, { device = dev, bytes = 8 * N, peak = 1e15, flops = N,
        peak_flops = 1e17 })))
    end)

    it("is not raised for what stays in a cache", function()
      if not dev:peak_bandwidth() then return end
      assert.are.equal("", (names_of(work, { device = dev, bytes = 8e9, input = x, output = y })))
      assert.are.equal("above_peak", (names_of(work, { device = dev, bytes = 8e12 })))
    end)

    it("is raised faster than a launch can be", function()
      local names, t = names_of(function() end, { device = dev, bytes = 8, samples = 25 })
      assert.is_truthy(names:find("too_fast", 1, true), names)
      assert.is_truthy(t.alarms[1].cause:find("a launch that does nothing", 1, true), t.alarms[1].cause)
      assert.are.equal("", (names_of(function() end, { device = dev }))) -- said nothing of the device
    end)

    it("is raised where the device works on after the clock has stopped", function()
      local there <close> = dev:stream { blocking = false }
      local here <close> = dev:stream { blocking = false }
      local slow <close> = m.slow:prepare { grid = 1, block = 1, stream = there }
      local steps = dev:id() == "cpu" and 5000000 or 200000
      local function late() slow(x, steps) end
      local names = names_of(late, { stream = here, clock = "device", batch = 1 })
      assert.are.equal("not_synchronised", names)
      dev:synchronize()
      assert.are.equal("", (names_of(late, { stream = there, clock = "device", batch = 1 })))
    end)

    it("is raised where nothing, or not all, is written", function()
      local names, t = names_of(function() go(y, x, N - 3) end, { device = dev, output = y })
      assert.are.equal("not_written", names)
      assert.is_truthy(t.alarms[1].cause:find("3 of 1000 elements of array<f32>[1000]", 1, true), t.alarms[1].cause)
      local part <close> = y:view(1, N - 3)
      assert.are.equal("", (names_of(function() go(y, x, N - 3) end, { device = dev, output = part })))
      assert.are.equal("not_written", (names_of(function() go(x, y, 0) end, { device = dev, output = { x, y } })))
    end)

    it("sees through a setup that writes the output", function()
      local function clear() y:fill(0) end
      local function nothing() go(y, x, 0) end
      assert.are.equal("not_written", (names_of(nothing, { device = dev, output = y, setup = clear })))
      local names, t = names_of(function() go(y, x, N - 3) end, { device = dev, output = y, setup = clear })
      assert.are.equal("not_written", names)
      assert.are.equal("3", t.alarms[1].cause:match "^%d+")
      assert.are.equal("", (names_of(work, { device = dev, output = y, setup = clear })))
    end)

    it("is not raised for a sum that the pattern swallows", function()
      local add <close> = m.add:prepare { grid = 4, block = 256 }
      local function sum() add(y, x, N) end
      assert.are.equal("", (names_of(sum, { device = dev, output = y, setup = function() y:fill(0) end })))
      assert.are.equal("", (names_of(sum, { device = dev, output = y })))
    end)

    it("leaves an output that was not written as it was", function()
      y:fill(7)
      names_of(function() go(y, x, 10) end, { device = dev, output = y })
      assert.are.equal(7, y:get(11))
      assert.are.equal(2, y:get(1))
    end)

    it("is not raised for bytes that hold the pattern by chance", function()
      local n = 100000
      local b <close> = dev:array("u8", n)
      local fill <close> = m.bytes:prepare { grid = 400, block = 256 }
      assert.are.equal("", (names_of(function() fill(b, n) end, { device = dev, output = b })))
      local names, t = names_of(function() fill(b, n - 500) end, { device = dev, output = b })
      assert.are.equal("not_written", names)
      local count = math.tointeger(tonumber(t.alarms[1].cause:match "^%d+"))
      assert.are.equal(500, count)
    end)

    it("is raised where the output is the input", function()
      local function copy() same(y, x, N) end
      assert.are.equal("copied", (names_of(copy, { device = dev, output = y, input = x })))
      assert.are.equal("", (names_of(copy, { device = dev, output = y, input = x, copies = true })))
      assert.are.equal("", (names_of(work, { device = dev, output = y, input = x })))
      x:fill(3) -- one value throughout proves nothing
      assert.are.equal("", (names_of(copy, { device = dev, output = y, input = x })))
      assert.are.equal("", (names_of(function() go(y, y, N) end, { device = dev, input = y })))
    end)

    it("gives back what it used, after an error too", function()
      local calls = 0
      fails(function()
        mw.bench(function()
          calls = calls + 1
          if calls > 4 then error("enough", 0) end
          go(y, x, N)
        end, { device = dev, samples = 3, output = y })
      end, "enough")
    end)
  end)
end)

describe("what is declared", function()
  it("must make sense", function()
    local dev = mw.device "cpu"
    local x <close> = dev:zeros("f32", 4)
    local function with(options) return function() mw.bench(function() end, options) end end
    fails(with { bytes = -1 }, "mw.bench: option 'bytes' must be at least 0, got -1")
    fails(with { output = 3 }, "mw.bench: option 'output' must be a array or table, got number")
    fails(with { input = { x, 3 } },
      "mw.bench: option 'input' must be an array or a list of arrays, element 2 is a number")
    local view <close> = x:readonly()
    fails(with { output = view }, ("mw.bench: option 'output': %s is a read-only view; give the array that is "
      .. "written"):format(tostring(view)))
  end)
end)

describe("a run with an alarm", function()
  if not support.program() then return end
  it("says so and ends with status 3", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[
        local mw = require "moonwarp"
        local x = mw.device "cpu":zeros("f32", 10)
        mw.bench(function() x:get(1) end, { samples = 3, output = x, name = "nothing" })]])
      local command = ("'%s' run '%s/s.lua' --out '%s' 2>&1; echo status $?"):format(support.program(), folder, folder)
      local pipe <close> = io.popen(command)
      local output = pipe:read "a"
      assert.is_truthy(output:find("mw.bench: nothing: 10 of 10 elements of array<f32>[10] cpu are not written by a "
        .. "call; see that the grid covers the array, or declare as output the view that is written; an array that is "
        .. "read as well is none", 1, true), output)
      assert.is_truthy(output:find("status 3", 1, true), output)
    end)
  end)
end)
