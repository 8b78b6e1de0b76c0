-- SPDX-License-Identifier: MIT
--
-- What compare and history know of stored runs: every number with a unit, and which of them a selection means.

local support = require "tests.support"
local compare = require "moonwarp.results.compare"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"

-- A run with these records, whose whole numbers and texts were chosen.
local function run_of(records, device)
  local run = { schema = "moonwarp-record/1", study = "numbers", device = device or "cpu", device_name = "C",
                date = "2026-01-02T03:04:05Z", status = "complete", exit = 0, records = records, charts = {},
                sources = {}, checks = {}, tables = {}, remarks = {}, pictures = {} }
  for _, record in ipairs(records) do
    record.device, record.device_name, record.chosen = run.device, run.device_name, {}
    for name, value in pairs(record) do
      local is_chosen = math.type(value) == "integer" or name == "rung"
      if is_chosen then table.insert(record.chosen, name) end
    end
  end
  return run
end

local function verdict(a, b, device)
  local result = compare.runs(run_of({ a }, device), run_of({ b }, device))
  assert.are.equal(1, #result)
  return result[1].verdict .. (result[1].why and ": " .. result[1].why or "")
end

local function quantity(value) return { value = value, low = 0.99 * value, high = 1.01 * value } end

describe("a recorded number", function()
  -- Only results of mw.bench were compared.
  it("is judged by its interval", function()
    local speed = { rate = "flop/s" }
    local function rate(value) return { rate = quantity(value), units = speed } end
    assert.are.equal("faster", verdict(rate(1e9), rate(2e9)))
    assert.are.equal("slower", verdict(rate(2e9), rate(1e9)))
    assert.are.equal("same", verdict(rate(1e9), rate(1.01e9)))
    assert.are.equal("unclear", verdict(rate(1e9), rate(1.1e9)))
    assert.are.equal("slower", verdict({ seconds = quantity(1) }, { seconds = quantity(2) }))
    local function power(value) return { power = quantity(value), units = { power = "W" } } end
    assert.are.equal("changed", verdict(power(1), power(2)))
  end)

  -- A rung 14 times slower was "unclear", and the status 0, because its host was busy.
  it("is slower on a busy host if it is far slower, by its samples and by a rate beside them", function()
    local function timed(median, flag)
      local samples = {}
      for i = 1, 50 do samples[i] = median * (1 + (i % 5) / 1e4) end
      return { t = { median = median, low = median, high = median, samples = samples, flags = { flag } },
               pace = { value = 1 / median, low = 0.999 / median, high = 1.001 / median }, units = { pace = "1/s" } }
    end
    for ratio, wanted in pairs { [14] = "slower", [1.31] = "slower", [1.2] = "unclear", [1.05] = "same",
                                 [0.8] = "unclear", [0.5] = "faster" } do
      local result = compare.runs(run_of { timed(1e-3) }, run_of { timed(ratio * 1e-3, "busy host") })
      assert.are.same({ "pace", wanted, "t", wanted }, { result[1].label, result[1].verdict, result[2].label,
        result[2].verdict }, ratio)
      assert.are.equal(wanted ~= "same" and "busy host" or nil, result[1].why)
      local quiet = compare.runs(run_of { timed(1e-3) }, run_of { timed(ratio * 1e-3) })
      assert.are.equal(quiet[1].verdict, quiet[2].verdict)
    end
  end)

  it("is the same or changed if it is a plain number", function()
    assert.are.equal("changed: no samples", verdict({ T_tot = 1e9 }, { T_tot = 1.5e9 }))
    assert.are.equal("same", verdict({ T_tot = 1e9 }, { T_tot = 1.15e9 }))
    assert.are.equal("changed: no samples", verdict({ T_tot = 1e9 }, { T_tot = 1.15e9 }, "cuda:0"))
    assert.are.equal("changed: not positive", verdict({ seconds = 0.0 }, { seconds = 1.5 }))
    local whole = { rate = "1/s" }
    assert.are.equal("changed: no samples", verdict({ rate = 100, units = whole }, { rate = 300, units = whole }))
  end)

  it("is none without a unit, or if it was chosen", function()
    for _, record in ipairs { { error = 1e-7 }, { n = 4096, bytes = 1 << 20 }, { rate = 5.0 }, { t = "text" } } do
      assert.are.same({}, measurement.of(run_of { record }))
    end
  end)

  it("is the benchmark's if its name has a unit and the record has a benchmark", function()
    local t = { median = 1e-3, low = 1e-3, high = 1e-3, samples = { 1e-3 } }
    assert.are.equal(1, #measurement.of(run_of { { t = t, T_tot = 1e9 } }))
    assert.are.equal(1, #measurement.of(run_of { { t = t, T_tot = 1e9, units = { T_tot = "B/s" } } })) -- of a study
    assert.are.equal(2, #measurement.of(run_of { { t = t, own = 1e9, units = { own = "B/s" } } }))
  end)
end)

-- A record as studies write them.
local function study_record(rung, number, threads, seconds, n)
  return { study = "numbers", group = "ladder", rung = rung, series = rung, number = number, threads = threads,
           block = tostring(threads), t = { median = 1e-3, low = 1e-3, high = 1e-3, samples = { 1e-3, 1e-3 } },
           T_tot = 1e9, units = { T_tot = "B/s" }, params = { seconds = seconds, rungs = { "1", "2" }, n = n } }
end

local function study_run(seconds, n)
  local run = run_of { study_record("naive", 1, 64, seconds, n), study_record("naive", 1, 256, seconds, n),
                       study_record("tiled", 2, 64, seconds, n) }
  for _, record in ipairs(run.records) do lists.append(record.chosen, { "series", "group", "block" }) end
  return run
end

describe("the name of a measurement", function()
  -- It was "64, number = 1, naive, naive, threads = 64", then "64, naive".
  it("leaves out what a text in it tells as well", function()
    local labels = lists.map(measurement.of(study_run(0.1, 4)), function(one) return one.label end)
    assert.are.same({ "block = 64, naive", "block = 256, naive", "block = 64, tiled" }, labels)
  end)

  -- compare judged how long a search had taken.
  it("is no row of a tuning's course", function()
    local list = measurement.of(run_of { { tuning = "a loop", variant = "bx = 8", best = 1e-3, elapsed = 2.5,
      joules = 3.5, units = { best = "s", elapsed = "s", joules = "J" } } })
    assert.are.same({ "joules" }, lists.map(list, function(one) return one.field end))
  end)

  it("keeps numbers that no text tells", function()
    local labels = lists.map(measurement.of(run_of { { rung = "x", n = 1, v = 2.0, units = { v = "s" } },
      { rung = "x", n = 2, v = 2.0, units = { v = "s" } } }), function(one) return one.label end)
    assert.are.same({ "n = 1, v", "n = 2, v" }, labels)
  end)
end)

-- "measure longer" was the advice, and with another `seconds` no measurement was in both.
describe("a measurement of a study", function()
  it("is the same however long it was measured", function()
    assert.are.equal(3, #compare.runs(study_run(0.1, 4), study_run(0.5, 4)))
    assert.are.equal(0, #compare.runs(study_run(0.1, 4), study_run(0.1, 5)))
  end)
end)

describe("a selection of measurements", function()
  local list = measurement.of(run_of {
    { rung = "shared tile", block = 2, T_tot = 1e9 }, { rung = "shared tile", block = 16, T_tot = 1e9 },
    { rung = "shared", block = 256, n = 2, T_tot = 1e9 } })

  -- `block = 2` was three words, each of which block = 16, n = 2 has somewhere.
  it("means whole choices and words", function()
    for text, wanted in pairs {
      ["block = 2"] = "1", ["block=2"] = "1", ["block = 16"] = "2", ["shared"] = "123", ["tile"] = "12", ["til"] = "",
      ["tile block = 16"] = "2", ["tile, block = 16"] = "2", ["2"] = "13", ["5"] = "", ["256"] = "3", ["n = 2"] = "3",
      ["rung = shared"] = "3", ["T_tot"] = "123", ["T"] = "", ["block = 25"] = "", ["lock = 2"] = "",
    } do
      local found = ""
      for i, one in ipairs(list) do
        if measurement.matches(one, text) then found = found .. i end
      end
      assert.are.equal(wanted, found, text)
    end
  end)
end)

local program = support.program()
if not program then
  pending "needs the program"
  return
end

local function store(folder, name, run)
  os.execute(("mkdir -p '%s/%s'"):format(folder, name))
  support.write(("%s/%s/record.json"):format(folder, name), json.encode(run))
end

local function output_of(folder, words)
  local pipe <close> = io.popen(("cd '%s' && '%s' %s 2>&1"):format(folder, program, words))
  return pipe:read "a"
end

describe("the comparison of numbers", function()
  -- A plain number that differed by 15 % was "same (within 10 %)", and a ratio of negative ones "-nan %".
  it("says within what a number is the same, in straight columns", function()
    support.with_folder(function(folder)
      for name, value in pairs { a = 1.0, b = 1.15 } do
        store(folder, name, run_of { { rung = "x", T_tot = 1e9 * value }, { rung = "y", seconds = -value } })
      end
      local output = output_of(folder, "compare a b --all")
      assert.is_truthy(output:find([[
   measurement           A           B  B over A
=  x, T_tot     1.000 GB/s  1.150 GB/s   +15.0 %  same
~  y, seconds         -1 s    -1.150 s         -  changed: not positive
2 measurements: 1 same (within 10 %, without samples 20 %), 0 faster, 0 slower, 0 unclear, 1 changed
]], 1, true), output)
      store(folder, "c", run_of { { rung = "x", T_tot = 1e300 } })
      output = output_of(folder, "compare a c")
      assert.is_truthy(output:find("  +1.0e+293 %  ", 1, true), output)
      assert.is_truthy(output_of(folder, "report b --against a --output r.html"):find("1 run", 1, true))
      assert.is_nil(support.read(folder .. "/r.html"):find(">nan<", 1, true))
      output = output_of(folder, "compare a b --threshold 16")
      assert.is_truthy(output:find("1 same (within 16 %)", 1, true), output)
    end)
  end)
end)

describe("the comparison of several runs", function()
  -- Of the runs of one side only the newest was held against the other side's device.
  it("takes the newest of each side, and says that their devices differ", function()
    support.with_folder(function(folder)
      for side, values in pairs { a = { 9, 1, 1.01, 0.99 }, b = { 1.3, 1.31, 1.29 } } do
        for i, value in ipairs(values) do
          local run = run_of { { rung = "x", seconds = quantity(value) } }
          run.date = ("2026-11-0%dT00:00:00Z"):format(i)
          run.device_name = side == "a" and i == 2 and "another" or "one"
          store(folder, ("%s/%d"):format(side, i), run)
        end
      end
      local output = output_of(folder, "compare a b --runs 3; echo status $?")
      assert.is_nil(output:find("a/1", 1, true), output)
      assert.is_truthy(output:find("note: these runs were measured on different devices\n", 1, true), output)
      assert.is_truthy(output:find("  +30.0 %", 1, true), output)
      assert.are.equal("status 5", output:match "(status %d+)\n$", output)
      assert.is_nil(output_of(folder, "compare a b --runs 2"):find("different devices", 1, true))
      assert.are.equal("moonwarp: 'b' holds 3 runs, 4 are wanted\n", output_of(folder, "compare a b --runs 4"))
    end)
  end)
end)

describe("the status of a comparison", function()
  -- What was not clear had status 0, and a test machine took it for no slower.
  it("is 6 with --strict where something is unclear, and 5 where something is slower", function()
    support.with_folder(function(folder)
      local function speed(rung, value) return { rung = rung, seconds = quantity(value) } end
      store(folder, "a", run_of { speed("x", 1), speed("y", 1) })
      store(folder, "same", run_of { speed("x", 1.01), speed("y", 1) })
      store(folder, "unclear", run_of { speed("x", 1.1), speed("y", 1) })
      store(folder, "slower", run_of { speed("x", 1.1), speed("y", 2) })
      for name, statuses in pairs { same = { 0, 0 }, unclear = { 0, 6 }, slower = { 5, 5 } } do
        for i, option in ipairs { "", " --strict" } do
          local said = output_of(folder, ("compare a %s%s; echo status $?"):format(name, option))
          assert.are.equal(("status %d"):format(statuses[i]), said:match "(status %d+)\n$", said)
        end
      end
    end)
  end)
end)

describe("the history of numbers", function()
  -- Rows of runs with other parameters had the same name.
  it("names what differs between the runs", function()
    support.with_folder(function(folder)
      for i, n in ipairs { 4, 5 } do store(folder, "out/numbers/" .. i, study_run(0.1, n)) end
      local output = output_of(folder, "history numbers")
      assert.is_truthy(output:find("\nblock = 64, n = 4, tiled +1 "), output)
      assert.is_truthy(output:find("\nblock = 64, n = 5, tiled +1 "), output)
      for i, n in ipairs { 6, 7 } do store(folder, "out/numbers/later" .. i, study_run(0.1, n)) end
      output = output_of(folder, "history numbers --svg") -- which drew nothing, without a word
      assert.is_truthy(output:find("12 measurements match, 6 at most fit into one chart", 1, true), output)
    end)
  end)

  -- A change of -0.8 % was drawn from the highest bar to the lowest.
  it("has a course and a chart for each unit, small changes low", function()
    support.with_folder(function(folder)
      for i, value in ipairs { 1.0, 0.992, 0.996 } do
        local run = run_of { { power = 300 * i + 0.5, T_tot = 1e9 * value, units = { power = "W" } } }
        run.date = ("2026-01-0%dT03:04:05Z"):format(i)
        store(folder, ("out/numbers/%d"):format(i), run)
      end
      local output = output_of(folder, "history numbers --svg")
      assert.is_truthy(output:find("T_tot +3 +1.000 GB/s +996.0 MB/s +%-0.4 %%  ▁▁▁\n"), output)
      assert.is_truthy(output:find("power +3 .*▁▅█\n"), output)
      local drawn = table.concat(support.files(folder .. "/out/plots"), " ")
      assert.is_truthy(drawn:find("history-numbers-T_tot.dat", 1, true), drawn)
      assert.is_truthy(drawn:find("history-numbers-power.dat", 1, true), drawn)
    end)
  end)
end)
