-- SPDX-License-Identifier: MIT
--
-- mw.bench's alarms: each fires for a function that earns it and is silent for one that does not;
-- what was declared becomes rates; a run with an alarm ends with status 3.

local session = require "moonwarp.session"
local support = require "tests.support"
local alarm = require "moonwarp.measure.alarm"
local clocks = require "moonwarp.measure.clock"
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
__global__ void bytes(unsigned char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (unsigned char)i;
}
// Ends when the host says so, or long after.
__global__ void held(volatile int *let_go) {
  for (long long i = 0; i < 1ll << 36 && *let_go == 0; i++) {}
}]]

local N = 1000
local CALL <const> = 1e-5 -- seconds that a call takes by the test's own clock

-- The names of the alarms; the count of failed checks is put back.
local function names_of(fn, options)
  options.samples, options.quiet = options.samples or 3, true
  local before = session.current.failed_checks
  local ok, t
  support.with_clock(function(pass)
    ok, t = pcall(mw.bench, function()
      pass(CALL)
      fn()
    end, options)
  end)
  local raised = session.current.failed_checks - before
  session.current.failed_checks = before
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

describe("an alarm", function()
  support.each_device(function(dev, id)
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
      if id == "cpu" then assert.is_true(math.abs(t.median / CALL - 1) < 1e-3, t.median) end
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
      if not dev:peak_bandwidth() then session.current.ceilings[id] = { bandwidth = 1e9 } end
      local cached = names_of(work, { device = dev, bytes = 8e9, input = x, output = y })
      local large = names_of(work, { device = dev, bytes = 8e12 })
      session.current.ceilings[id] = nil
      assert.are.same({ "", "above_peak" }, { cached, large })
    end)

    -- The least of many short samples is one that nothing else came into.
    it("is raised faster than a launch can be", function()
      local options = { device = dev, bytes = 8, samples = 200, batch = 100, quiet = true }
      local before = session.current.failed_checks
      local t = mw.bench(function() end, options)
      options.bytes = nil
      local silent = mw.bench(function() end, options) -- said nothing of the device
      session.current.failed_checks = before
      local alarms = {}
      for i, entry in ipairs(t.alarms) do alarms[i] = entry.name end
      assert.is_truthy(table.concat(alarms, " "):find("too_fast", 1, true), table.concat(alarms, " "))
      assert.is_truthy(t.alarms[1].cause:find("a launch that does nothing", 1, true), t.alarms[1].cause)
      assert.are.same({}, silent.alarms)
    end)

    -- Four looks at the clock a try: before and after the calls, then before and after the wait for the device. At the
    -- third the kernel is let go if it still runs, and then the fourth is a thousand seconds later.
    it("is raised if the device works on after the clock has stopped", function()
      local there <close> = dev:stream { blocking = false }
      local here <close> = dev:stream { blocking = false }
      local let_go <close> = dev:pinned("i32", { 0 })
      local held <close> = m.held:prepare { grid = 1, block = 1, stream = there }
      local copied <close> = m.same:prepare { grid = 4, block = 256, stream = there }
      local done <close> = dev:event()
      local function late()
        let_go:set(1, 0)
        held(let_go)
        there:record(done)
      end
      local function in_time()
        copied(y, x, N)
        there:record(done)
      end
      local function names_by(stream, fn)
        local looks, now, works, real = 0, 0, false, core.clock
        local clock <close> = clocks.events(dev, stream)
        local result, before = { alarms = {} }, session.current.failed_checks
        core.clock = function()
          looks = looks + 1
          if looks % 4 == 3 then
            works = not done:query()
            let_go:set(1, 1)
          elseif looks % 4 == 0 and works then
            now = now + 1000
          end
          return now
        end
        local ok, problem = pcall(alarm.check, result, { session = session.current, device = dev, clock = clock,
          main = { fn = fn, batch = 1, lead = 1 } }, { quiet = true })
        core.clock, session.current.failed_checks = real, before
        assert.is_true(ok, problem)
        return result.alarms[1] and result.alarms[1].name
      end
      assert.are.equal("not_synchronised", names_by(here, late))
      assert.is_nil(names_by(there, in_time))
    end)

    it("is raised where nothing, or not all, is written", function()
      local names, t = names_of(function() go(y, x, N - 3) end, { device = dev, output = y })
      assert.are.equal("not_written", names)
      assert.is_truthy(t.alarms[1].cause:find("3 of 1000 elements of array<f32>[1000]", 1, true), t.alarms[1].cause)
      local part <close> = y:view(1, N - 3)
      assert.are.equal("", (names_of(function() go(y, x, N - 3) end, { device = dev, output = part })))
      assert.are.equal("not_written", (names_of(function() go(x, y, 0) end, { device = dev, output = { x, y } })))
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

    it("is raised if the output is the input", function()
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

describe("an alarm that cannot be judged", function()
  it("is rejected with what was declared", function()
    local dev = mw.device "cpu"
    local x <close> = dev:zeros("f32", 4)
    local function with(options) return function() mw.bench(function() end, options) end end
    fails(with { bytes = -1 }, "mw.bench: option 'bytes' must be at least 0, got -1")
    fails(with { output = 3 }, "mw.bench: option 'output' must be an array or table, got number")
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
