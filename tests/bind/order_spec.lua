-- SPDX-License-Identifier: MIT
--
-- Races between copies and the script through streams and events: patterns that are right have none, each missing
-- synchronisation is one. All run in a process of their own, on the CPU device and on CUDA over the fake driver.

local fake = require "tests.support.fake"
local cases = require "tests.support.order_cases"
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
local function wanted(text, verbs)
  local lines = {}
  for name in text:gmatch 'case%("(.-)"' do
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
      local output = run(prelude .. cases.right)
      assert.are.same(wanted(cases.right), printed(output))
      assert.is_nil(output:find("warning", 1, true), output)
    end)

    it("has one race for each missing synchronisation, on " .. id, function()
      local output = run(prelude .. cases.wrong)
      assert.are.same(wanted(cases.wrong, cases.verbs), printed(output))
      assert.are.equal(#cases.verbs + 1, select(2, output:gsub("moonwarp: warning: race between operations: ", "")))
    end)

    it("has races with what a kernel fills, on " .. id, function()
      if id ~= "cpu" and not support.has_nvrtc() then
        pending "needs NVRTC"
        return
      end
      local verbs = { "filled, read by a copy", "written by a copy, filled" }
      assert.are.same(wanted(cases.filled, verbs), printed(run(prelude .. cases.filled)))
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
      it("lets only its stream order a copy between two devices", function()
        local output = fake.run([[
          local first, second = mw.device "cuda:0", mw.device "cuda:1"
          local a, b = first:zeros("f32", 16), second:zeros("f32", 16)
          local s, t = first:stream { blocking = false }, second:stream { blocking = false }
          b:copy(a, { stream = s })
          t:wait(s:record())
          b:copy(b:view(9, 8), { count = 8, stream = t })
          t:synchronize()
          b:get(1)
          b:copy(a)
          b:get(1)
          print(#core.races())
          b:copy(a, { stream = s })
          b:get(1)
          print(#core.races())
        ]], { MOCK_CUDA_DEVICES = 2 })
        assert.is_truthy(output:match "^0\nmoonwarp: .*\n1\n$", output)
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
    local output = support.child_passes(prelude .. cases.checked.wrong .. "\nmw.findings { expected = true }")
    assert.are.same(wanted(cases.checked.wrong, cases.checked.verbs), printed(output))
    output = support.child_passes(prelude .. cases.checked.right)
    assert.are.same(wanted(cases.checked.right), printed(output))
  end)
end)
