-- SPDX-License-Identifier: MIT
--
-- The measured figures are read by a schema, and the page has each of them in one line.

local support = require "tests.support"

local HOME <const> = support.core.home()
local measurements = assert(loadfile(HOME .. "/docs/generate/measurements.lua"))()

-- The problems of one figure that is right but for what `change` has; false takes a field away.
local function problems_of(change)
  local record = { what = "a copy over C's, time", value = "1.05", device = "here", date = "2026-11-21",
    command = "tests/bench/cpu_openmp.lua" }
  for field, value in pairs(change) do record[field] = value or nil end
  local section = { name = "one", title = "One", figures = { record } }
  local data = { devices = { { "here", "a machine" } }, sections = { section } }
  return measurements.problems(data, HOME)
end

local function about(problem)
  return { "docs/measurements/one.lua, figure 1: " .. problem }
end

describe("the measured figures", function()
  it("are what the schema allows", function()
    assert.are.same({}, measurements.problems(measurements.load(HOME .. "/docs"), HOME))
  end)

  it("need what was measured, a value, a device, a date and a command", function()
    assert.are.same({}, problems_of {})
    for _, field in ipairs { "what", "value", "device", "date", "command" } do
      assert.are.same(about("has no " .. field), problems_of { [field] = false })
    end
  end)

  it("have no other fields, no other devices, and no records that are not there", function()
    assert.are.same(about "target: there is no such field", problems_of { target = "at most 1.10" })
    assert.are.same(about "device 'there' is not in docs/measurements.lua", problems_of { device = "there" })
    assert.are.same(about "there is no file docs/records/none.txt", problems_of { record = "docs/records/none.txt" })
    assert.are.same({}, problems_of { record = "docs/records/2026-11-21-h200/launch.txt" })
  end)

  it("have days as dates, texts of one line, and notes of at most two sentences", function()
    assert.are.same(about "date: a day as 2026-11-21 is wanted, got '21.11.2026'", problems_of { date = "21.11.2026" })
    assert.are.same(about "date: a day as 2026-11-21 is wanted, got '2026-13-01'", problems_of { date = "2026-13-01" })
    assert.are.same(about "value: a text is wanted", problems_of { value = 1.05 })
    assert.are.same(about "unit: a text is wanted", problems_of { unit = "" })
    assert.are.same(about "what: a text without line breaks and | is wanted", problems_of { what = "a\nb" })
    assert.are.same(about "unit: at most 12 characters, got 13", problems_of { unit = "nanoseconds/s" })
    assert.are.same(about "note: at most 2 sentences, got 3", problems_of { note = "One. Two. Three." })
  end)

  it("are rows of five columns, in order, with their notes below", function()
    local figures = {
      { what = "a", value = "1", unit = "us", wanted = "at most 2", device = "here", date = "2026-11-21",
        version = "0.2.0", command = "make bench", record = "docs/records/x.txt", note = "Memory limits it." },
      { what = "b", value = "3", device = "here", date = "2026-11-22", command = "make bench" },
    }
    local data = { title = "Figures", text = "Text.", devices = { { "here", "a machine" } },
      sections = { { title = "One", figures = figures } } }
    local _, from = measurements.page(data):find("## One\n", 1, true)
    assert.are.equal([[

| figure | value | wanted | measured | command |
|---|---|---|---|---|
| a (1) | 1 us | at most 2 | [here, 2026-11-21, 0.2.0](records/x.txt) | make bench |
| b | 3 |  | here, 2026-11-22 | make bench |

1. Memory limits it.
]], measurements.page(data):sub(from + 1))
  end)
end)
