-- SPDX-License-Identifier: MIT
--
-- Races between copies and the script through streams and events: patterns that are right have none, each missing
-- synchronisation is one. All run in a process of their own, on the CPU device and on CUDA over the fake driver.

local fake = require "tests.fake"
local support = require "tests.support"

-- A case is a function of fresh arrays and streams: d, e on the device, p, q pinned, 16 elements each; s, t
-- non-blocking streams, b, c blocking ones. It prints its name and the races that it has.
local PRELUDE = [[
  local mw = require "moonwarp"
  local core = require "moonwarp.core"
  local dev = mw.device(DEVICE)
  local function case(name, body)
    local before = #core.races()
    local x = { d = dev:zeros("f32", 16), e = dev:zeros("f32", 16), p = dev:pinned("f32", 16),
                q = dev:pinned("f32", 16), s = dev:stream { blocking = false }, t = dev:stream { blocking = false },
                b = dev:stream(), c = dev:stream() }
    dev:synchronize()
    body(x, x.d, x.e, x.p, x.q)
    dev:synchronize()
    for _, object in pairs(x) do object:close() end
    local found = {}
    for i = before + 1, #core.races() do
      local race = core.races()[i]
      found[#found + 1] = race.parties[1].verb .. ", " .. race.parties[2].verb
    end
    print(name .. ": " .. (found[1] and table.concat(found, "; ") or "none"))
  end
]]

local RIGHT = [[
  case("a stream synchronised", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    x.s:synchronize()
    return p:get(1), p:set(2, 1), p:totable()
  end)
  case("a stream queried until it is done", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    repeat until x.s:query()
    p:upload(("\0"):rep(64))
  end)
  case("an event synchronised", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    x.s:record():synchronize()
    p:bytes()
  end)
  case("an event queried until it is reached", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    local event = x.s:record()
    repeat until event:query()
    p:get(1)
  end)
  case("events whose time was taken", function(x, d, e, p)
    local start = x.s:record()
    p:copy(d, { stream = x.s })
    local stop = x.s:record()
    local ok
    repeat ok = pcall(stop.since, stop, start) until ok
    p:get(1)
  end)
  case("a callback that ran", function(x, d, e, p)
    local first
    p:copy(d, { stream = x.s })
    x.s:callback(function() first = p:get(1) end)
    repeat mw.poll() until first
    p:set(1, first)
  end)
  case("the device synchronised, a stream closed before", function(x, d, e, p)
    local other = dev:stream { blocking = false }
    p:copy(d, { stream = other })
    other:close()
    dev:synchronize()
    p:get(1)
  end)
  case("a stream that waits", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    x.t:wait(x.s:record())
    e:copy(d, { stream = x.t })
  end)
  case("a stream that waits for one that waits", function(x, d, e, p, q)
    d:copy(p, { stream = x.s })
    x.b:wait(x.s:record())
    x.t:wait(x.b:record())
    q:copy(d, { stream = x.t })
    x.t:synchronize()
    q:get(1)
    p:set(1, 0)
  end)
  case("one stream's own order", function(x, d, e, p, q)
    d:copy(p, { stream = x.s })
    d:copy(q, { stream = x.s })
    p:copy(d, { stream = x.s })
  end)
  case("disjoint parts", function(x, d, e, p)
    d:copy(p, { count = 8, stream = x.s })
    d:copy(p, { from = 9, to = 9, count = 8, stream = x.t })
    d:view(9, 8):copy(p:view(1, 8), { stream = x.t })
    e:set(1, 1)
  end)
  case("two that read", function(x, d, e, p, q)
    p:copy(d, { stream = x.s })
    q:copy(d, { stream = x.t })
    d:get(1)
  end)
  case("what the script writes first", function(x, d, e, p)
    p:set(1, 1)
    d:copy(p, { stream = x.s })
    return p:get(1)
  end)
  case("blocking streams and the default stream", function(x, d, e, p)
    d:copy(p, { stream = x.b })
    d:get(1)
    p:set(1, 1)
    e:copy(p, { stream = x.b })
    d:copy(e)
  end)
  case("blocking streams around the default stream's work", function(x, d, e, p)
    d:copy(p, { stream = x.b })
    dev:zeros("f32", 16)
    e:copy(d, { stream = x.c })
    local event = dev:default_stream():record()
    x.s:wait(event)
    p:copy(d, { stream = x.s })
  end)
  case("a blocking stream made after the default stream's work", function(x, d, e, p)
    local graph <close> = dev:capture(function() d:copy(p) end)
    graph:launch()
    local made <close> = dev:stream()
    e:copy(d, { stream = made })
  end)
  case("the per-thread default stream", function(x, d, e, p)
    d:copy(p, { stream = dev:default_stream "per-thread" })
    dev:zeros("f32", 16)
    e:copy(d, { stream = x.b })
  end)
  case("the default stream that waits", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    dev:default_stream():wait(x.s:record())
    d:totable()
    p:get(1)
  end)
  case("the default stream synchronised", function(x, d, e, p)
    p:copy(d, { stream = x.b })
    dev:default_stream():synchronize()
    p:get(1)
  end)
  case("an array that is closed while a copy reads it", function(x, d, e, p)
    for _ = 1, 20 do
      local other = dev:array("f32", 16)
      other:copy(p, { stream = x.b })
      other:close()
    end
  end)
  case("two buffers in turn", function(x, d, e, p, q)
    local done = {}
    for i = 1, 200 do
      local buffer, stream = i % 2 == 0 and p or q, i % 2 == 0 and x.s or x.t
      if done[i - 2] then done[i - 2]:synchronize() end
      buffer:set(1, i)
      d:copy(buffer, { from = 1, to = i % 2 == 0 and 1 or 9, count = 8, stream = stream })
      done[i] = stream:record()
    end
  end)
  case("more pieces than are remembered", function(x)
    local long, host = dev:zeros("f32", 1000), dev:pinned("f32", 1000)
    for i = 1, 1000 do host:copy(long, { from = i, to = i, count = 1, stream = i % 2 == 0 and x.s or x.t }) end
    x.s:synchronize()
    x.t:synchronize()
    host:totable()
  end)
  case("more streams than are told apart", function(x, d, e, p)
    local streams = {}
    for i = 1, 150 do
      streams[i] = dev:stream { blocking = i % 3 == 0 }
      p:copy(d, { from = i % 16 + 1, to = i % 16 + 1, count = 1, stream = streams[i] })
      if i > 1 then streams[i]:wait(streams[i - 1]:record()) end
      streams[i]:synchronize()
      p:get(i % 16 + 1)
      if i % 5 == 0 then streams[i - 1]:close() end
    end
  end)
  case("a graph with all its edges", function(x, d, e, p, q)
    local graph <close> = dev:capture(function(main)
      d:copy(p)
      local fork = main:record()
      x.s:wait(fork)
      x.t:wait(fork)
      e:copy(d, { count = 8, stream = x.s })
      e:copy(d, { from = 9, to = 9, count = 8, stream = x.t })
      main:wait(x.s:record())
      main:wait(x.t:record())
      q:copy(e)
    end)
    for _ = 1, 3 do graph:launch(x.s) end
    x.t:wait(x.s:record())
    e:copy(q, { stream = x.t })
    x.t:synchronize()
    q:get(1)
    graph:launch()
    dev:default_stream():synchronize()
    p:set(1, 1)
  end)
  case("a stream after its capture", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    x.s:synchronize()
    local graph <close> = dev:capture(function(main)
      x.s:wait(main:record())
      d:copy(e, { stream = x.s })
      main:wait(x.s:record())
    end)
    d:set(1, 1)
    p:copy(d, { stream = x.s })
    x.s:synchronize()
    p:get(1)
  end)
  case("another device", function(x, d)
    local other <close> = mw.device "cpu":pinned("f32", 16)
    d:copy(other, { stream = x.s })
    x.s:synchronize()
    other:copy(d)
    other:set(1, 1)
  end)
]]

local WRONG = [[
  case("the script reads what a copy writes", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    p:get(1)
  end)
  case("the script writes what a copy reads", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    p:set(16, 1)
  end)
  case("the script reads a table", function(x, d, e, p)
    p:view(5, 1):copy(d, { count = 1, stream = x.b })
    p:totable()
  end)
  case("a copy by the script", function(x, d, e, p, q)
    p:copy(d, { stream = x.b })
    q:copy(p)
  end)
  case("another stream synchronised", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    x.t:synchronize()
    p:get(1)
  end)
  case("an event recorded too early", function(x, d, e, p)
    local event = x.s:record()
    p:copy(d, { stream = x.s })
    event:synchronize()
    p:get(1)
  end)
  case("a callback that came before", function(x, d, e, p)
    local ran
    x.s:callback(function() ran = true end)
    p:copy(d, { stream = x.s })
    repeat mw.poll() until ran
    p:get(1)
  end)
  case("a closed stream", function(x, d, e, p)
    local other = dev:stream { blocking = false }
    p:copy(d, { stream = other })
    other:close()
    p:get(1)
  end)
  case("a stream reads what another writes", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    e:copy(d, { stream = x.t })
  end)
  case("a stream writes what another reads", function(x, d, e, p, q)
    p:copy(d, { stream = x.s })
    d:copy(q, { stream = x.t })
  end)
  case("two streams write", function(x, d, e, p, q)
    d:copy(p, { stream = x.s })
    d:copy(q, { stream = x.t })
  end)
  case("parts that share one element", function(x, d, e, p, q)
    d:copy(p, { count = 9, stream = x.s })
    d:view(9, 8):copy(q:view(9, 8), { stream = x.t })
  end)
  case("two blocking streams", function(x, d, e, p)
    d:copy(p, { stream = x.b })
    e:copy(d, { stream = x.c })
  end)
  case("a wait the wrong way round", function(x, d, e, p)
    x.t:wait(x.s:record())
    d:copy(p, { stream = x.s })
    e:copy(d, { stream = x.t })
  end)
  case("the default stream and one that it does not wait for", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    d:get(1)
  end)
  case("a copy in the default stream", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    e:copy(d)
  end)
  case("two pieces in turn without a wait", function(x, d, e, p)
    for i = 1, 10 do
      p:set(1, i)
      d:copy(p, { stream = x.s })
    end
  end)
  case("a write that its own stream has read since", function(x, d, e, p, q)
    d:copy(p, { stream = x.s })
    q:copy(d, { stream = x.s })
    e:copy(d, { stream = x.t })
  end)
  case("two that write, one of them waited for", function(x, d, e, p)
    p:copy(d, { stream = x.s })
    p:copy(e, { stream = x.t })
    x.t:synchronize()
    p:get(1)
  end)
  case("a launched graph", function(x, d, e, p)
    local graph <close> = dev:capture(function() p:copy(d) end)
    graph:launch(x.s)
    p:get(1)
  end)
  case("graphs in two streams", function(x, d, e, p)
    local graph <close> = dev:capture(function() d:copy(p) end)
    graph:launch(x.s)
    graph:launch(x.t)
  end)
  case("a graph without an edge", function(x, d, e, p, q)
    local good <close> = dev:capture(function(main)
      d:copy(p)
      x.s:wait(main:record())
      d:copy(q, { stream = x.s })
      main:wait(x.s:record())
    end)
    local bad <close> = dev:capture(function(main)
      x.s:wait(main:record())
      d:copy(p)
      d:copy(q, { stream = x.s })
      main:wait(x.s:record())
    end)
  end)
]]

local CHECKED = [[
  local m = dev:module { source = "__global__ void put(float *x, float v, int n) {"
    .. " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = v; }"
    .. "__global__ void copy(float *y, const float *x, int n) {"
    .. " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
    .. "__global__ void count(float *x) { atomicAdd(x, 1.0f); }"
    .. "__global__ void every_other(float *x, int first) { x[2 * threadIdx.x + first] = 1; }" }
  local function on(stream, name) return m[name]:prepare { grid = 1, block = 8, stream = stream } end
  case("two launches", function(x, d, e)
    on(x.s, "put")(d, 1, 8)
    on(x.t, "copy")(e, d, 8)
  end)
  case("two launches that write", function(x, d)
    on(x.b, "put")(d, 1, 8)
    on(x.c, "put")(d, 2, 1)
  end)
  case("a launch and the script", function(x, d, e, p)
    on(nil, "put")(p, 1, 8)
    p:get(1)
  end)
  case("a copy and a launch", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    on(x.t, "count")(d)
  end)
  case("a launch and a copy", function(x, d, e, p)
    on(x.s, "copy")(e, d, 8)
    d:copy(p, { stream = x.t })
  end)
  case("a launch in the default stream", function(x, d, e)
    on(nil, "put")(d, 1, 8)
    on(x.s, "copy")(e, d, 8)
  end)
]]

local CHECKED_VERBS = {
  "written by kernel 'put', read by kernel 'copy'", "written by kernel 'put', written by kernel 'put'",
  "written by kernel 'put', read by the script", "written by a copy, updated by kernel 'count'",
  "read by kernel 'copy', written by a copy", "written by kernel 'put', read by kernel 'copy'",
}

local CHECKED_RIGHT = CHECKED:match "^.-\n  local function.-\n" .. [[
  case("a stream that waits", function(x, d, e)
    on(x.s, "put")(d, 1, 8)
    x.t:wait(x.s:record())
    on(x.t, "copy")(e, d, 8)
  end)
  case("parts of an array", function(x, d)
    on(x.s, "put")(d, 1, 8)
    on(x.t, "put")(d:view(9, 8), 1, 8)
  end)
  case("every other element", function(x, d)
    on(x.s, "every_other")(d, 0)
    on(x.t, "every_other")(d, 1)
  end)
  case("threads that do nothing", function(x, d, e, p)
    on(x.s, "put")(d, 1, 4)
    d:copy(p, { to = 5, count = 4, stream = x.t })
  end)
  case("atomic operations", function(x, d)
    on(x.s, "count")(d)
    on(x.t, "count")(d)
  end)
  case("the default stream and blocking ones", function(x, d, e)
    on(x.b, "put")(d, 1, 8)
    on(nil, "put")(d, 1, 8)
    on(x.c, "copy")(e, d, 8)
    e:totable()
  end)
  case("a launch waited for", function(x, d, e, p)
    on(nil, "put")(p, 1, 8)
    dev:synchronize()
    p:get(1)
  end)
]]

local FILLED = [[
  case("filled in the default stream", function(x, d, e, p)
    d:linspace(0, 1)
    p:copy(d, { stream = x.s })
  end)
  case("filled in another stream's time", function(x, d, e, p)
    d:copy(p, { stream = x.s })
    d:random(1)
  end)
]]

local VERBS = {
  "written by a copy, read by the script", "read by a copy, written by the script",
  "written by a copy, read by the script", "written by a copy, read by the script",
  "written by a copy, read by the script", "written by a copy, read by the script",
  "written by a copy, read by the script", "written by a copy, read by the script",
  "written by a copy, read by a copy", "read by a copy, written by a copy",
  "written by a copy, written by a copy", "written by a copy, written by a copy",
  "written by a copy, read by a copy", "written by a copy, read by a copy",
  "written by a copy, read by the script", "written by a copy, read by a copy",
  "read by a copy, written by the script", "written by a copy, read by a copy",
  "written by a copy, written by a copy; written by a copy, read by the script",
  "written by a copy, read by the script", "written by a copy, written by a copy",
  "written by a copy, written by a copy",
}

local FIELDS = [[
  local s, t = dev:stream { blocking = false }, dev:stream { blocking = false }
  local d, p = dev:zeros("f64", 16), dev:pinned("f64", 16)
  dev:synchronize()
  for i = 1, 3 do
    p:view(5, 8):copy(d:view(1, 8), { stream = s })
    p:set(6, i)
  end
  dev:synchronize()
  local races = core.races()
  local race = races[1]
  local first, second = race.parties[1], race.parties[2]
  print(#races, race.kind, race.count, race.object, race.intended)
  print(first.verb, first.line, first.text, first.bytes, first.stream:match "^stream 1, made at .*%.lua:%d+$" ~= nil)
  print(second.verb, second.line - first.line, second.text, second.bytes, second.stream)
  print(race.remedy, first.file == second.file, first.file:match "%.lua$")
]]

-- The warnings go where the output goes.
local function printed(output)
  local lines = {}
  for line in output:gmatch "[^\n]+" do
    local name, found = line:match "^(%l[^:]*): (%l.*)$"
    if name and name ~= "moonwarp" and name ~= "results" then lines[#lines + 1] = name .. ": " .. found end
  end
  return lines
end

-- What the cases of the text have to print.
local function wanted(cases, verbs)
  local lines = {}
  for name in cases:gmatch 'case%("(.-)"' do
    lines[#lines + 1] = name .. ": " .. (verbs and verbs[#lines + 1] or "none")
  end
  return lines
end

local DEVICES = { cpu = support.child_passes }
if fake.is_possible() then DEVICES["cuda:0"] = fake.run end

describe("the order of operations", function()
  for id, run in pairs(DEVICES) do
    local prelude = ("local DEVICE = %q\n"):format(id) .. PRELUDE

    it("has no race where all is ordered, on " .. id, function()
      local output = run(prelude .. RIGHT)
      assert.are.same(wanted(RIGHT), printed(output))
      assert.is_nil(output:find("warning", 1, true), output)
    end)

    it("has one race for each missing synchronisation, on " .. id, function()
      local output = run(prelude .. WRONG)
      assert.are.same(wanted(WRONG, VERBS), printed(output))
      assert.are.equal(#VERBS + 1, select(2, output:gsub("moonwarp: warning: race between operations: ", "")))
    end)

    it("has races with what a kernel fills, on " .. id, function()
      if id ~= "cpu" and not support.has_nvrtc() then
        pending "needs NVRTC"
        return
      end
      local verbs = { "filled, read by a copy", "written by a copy, filled" }
      assert.are.same(wanted(FILLED, verbs), printed(run(prelude .. FILLED)))
    end)

    it("counts a race that a line says is intended, without a warning, on " .. id, function()
      local output = run(prelude .. [[
        local d, p = dev:zeros("f32", 16), dev:pinned("f32", 16)
        local s = dev:stream()
        for _ = 1, 2 do
          p:copy(d, { stream = s }) -- moonwarp: race-ok a guess will do
          p:get(1)
        end
        s:synchronize()
        print(#core.races(), core.races()[1].intended, core.races()[1].count)
      ]])
      assert.are.equal("1\ttrue\t2\n", output)
    end)

    if id ~= "cpu" then
      it("orders a copy between two devices before the other's default stream", function()
        local output = fake.run([[
          local first, second = mw.device "cuda:0", mw.device "cuda:1"
          local a, b = first:zeros("f32", 16), second:zeros("f32", 16)
          local s, t = first:stream { blocking = false }, second:stream { blocking = false }
          b:copy(a, { stream = s })
          b:get(1)
          print(#core.races())
          b:copy(a, { stream = s })
          b:copy(b:view(9, 8), { count = 8, stream = t })
          print(#core.races())
        ]], { MOCK_CUDA_DEVICES = 2 })
        assert.is_truthy(output:match "^0\nmoonwarp: .*\n[12]\n$", output)
      end)
    end

    it("names both parties of a race once, and counts it, on " .. id, function()
      local output = run(prelude .. FIELDS)
      local warning, fields = output:match "^(moonwarp: .-\n)(%d.*)$"
      assert.is_not_nil(warning, output)
      assert.is_nil(fields:find("warning", 1, true), output)
      local object = ("element 6 of a pinned array<f64> of %s"):format(id)
      local remedy = "synchronize the stream, or an event recorded in it, before the script touches the array"
      local lines = {}
      for line in fields:gmatch "[^\n]+" do lines[#lines + 1] = line end
      assert.are.equal("1\trace between operations\t3\t" .. object .. "\tfalse", lines[1])
      local copy = "^written by a copy\t%d+\tp:view%(5, 8%):copy%(d:view%(1, 8%), { stream = s }%)\t64\ttrue$"
      assert.is_truthy(lines[2]:match(copy), lines[2])
      assert.are.equal("written by the script\t1\tp:set(6, i)\t8\tnil", lines[3])
      assert.are.equal(remedy .. "\ttrue\t.lua", lines[4])
      for _, text in ipairs { "nothing orders two accesses of " .. object .. "\n", "  written by a copy at ",
                              ", in stream 1, made at ", "\n    p:set(6, i)\n", "\n  " .. remedy .. "\n" } do
        assert.is_truthy(warning:find(text, 1, true), warning)
      end
    end)
  end

  local RACE <const> = [[
    local d, p = dev:zeros("f64", 16), dev:pinned("f64", 16)
    local s = dev:stream { blocking = false }
    dev:synchronize()
    p:view(5, 8):copy(d:view(1, 8), { stream = s })
    p:set(6, 1) %s
    dev:synchronize()
    local one = mw.findings()[1]
    print(#mw.findings(), #dev:findings(), one.kind, one.device, one.warning, one.intended, one.kernel, one.count)
    local m = one.memory
    print(m.kind, m.index, m.elements, one.object, one.parties[1].stream:match "^stream 1, ", one.parties[2].stream)
  ]]

  -- With a race, on a device; what was printed as a warning at once, and as a finding at the end.
  local function raced(id, mark)
    local status, output = support.child(("local DEVICE = %q\n"):format(id) .. PRELUDE .. RACE:format(mark or ""))
    local function has(text) return output:find(text, 1, true) ~= nil end
    return status, output, has "moonwarp: warning: race between operations: nothing orders",
      has "\nrace between operations: element 6 of a pinned array<f64> of " and
      has "  written by a copy     in stream 1, made"
  end

  it("is part of the findings: of a normal run a warning that fails nothing", function()
    local status, output, warned, told = raced "cpu"
    assert.are.same({ 0, true, false }, { status, warned, told }, output)
    assert.is_truthy(output:find("1\t1\trace between operations\tcpu\ttrue\tfalse\tnil\t1\n", 1, true), output)
    local memory = "array\t5\t1\telement 6 of a pinned array<f64> of cpu\tstream 1, \tnil\n"
    assert.is_truthy(output:find(memory, 1, true), output)
  end)

  it("is part of the findings: in check mode an error, told at the end", function()
    local status, output, warned, told = raced "cpu:check"
    assert.are.same({ support.program() and 3 or 0, false, true }, { status, warned, told }, output)
    assert.is_truthy(output:find("1\t1\trace between operations\tcpu:check\tfalse\tfalse\tnil\t1\n", 1, true), output)
  end)

  it("is intended where a line says so, in check mode too", function()
    local status, output, warned, told = raced("cpu:check", "-- moonwarp: race-ok a guess")
    assert.are.same({ 0, false, false }, { status, warned, told }, output)
    assert.is_truthy(output:find "\nintended race between operations: [^\n]*%.lua:%d+, 1 time: a guess\n", output)
  end)

  it("has launches in check mode, by the bytes that they touched", function()
    local prelude = 'local DEVICE = "cpu:check"\n' .. PRELUDE
    assert.are.same(wanted(CHECKED, CHECKED_VERBS), printed(support.child_passes(prelude .. CHECKED
      .. "\nmw.findings { expected = true }")))
    local output = support.child_passes(prelude .. CHECKED_RIGHT)
    assert.are.same(wanted(CHECKED_RIGHT), printed(output))
  end)
end)
