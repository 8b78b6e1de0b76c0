-- SPDX-License-Identifier: MIT
--
-- Stored runs: comparing, exporting, drawing again, running again.

local damage = require "tests.support.damage"
local support = require "tests.support"
local compare = require "moonwarp.results.compare"
local drawn = require "moonwarp.plot.figure"
local kinds = require "moonwarp.plot.kinds"
local export = require "moonwarp.results.export"
local json = require "moonwarp.base.json"
local measurement = require "moonwarp.results.measurement"
local overlay = require "moonwarp.plot.overlay"
local stats = require "moonwarp.measure.stats"
local store = require "moonwarp.results.store"

-- ---- material -------------------------------------------------------------------------------------

-- A sequence of numbers in (-1, 1) that is the same in every test run (P. L'Ecuyer's multiplier 48271).
local function noise(seed)
  local state = seed
  return function()
    state = state * 48271 % 2147483647
    return 2 * state / 2147483647 - 1
  end
end

local function samples_about(center, spread, count, seed)
  local next_noise, list = noise(seed), {}
  for i = 1, count do list[i] = center * (1 + spread * (next_noise() + next_noise() + next_noise()) / 3) end
  return list
end

local function result_of(samples)
  local result = stats.summary(samples)
  result.samples = samples
  return result
end

-- { { rung, center }, ... } as a run, each with so many samples.
local function run_of(rungs, seed, fields, samples)
  local run = { schema = "moonwarp-record/1", study = "ladder", device = "cpu", device_name = "C",
                date = "2026-01-02T03:04:05Z", status = "complete", exit = 0, records = {}, charts = {},
                sources = {}, checks = {},
                tables = {}, remarks = {}, pictures = {} }
  for i, rung in ipairs(rungs) do
    run.records[i] = { rung = rung[1], n = 4096, T_tot = 1e9 / rung[2], device = "cpu", device_name = "C",
                       date = run.date, params = { type = "f64" }, chosen = { "n", "rung" },
                       t = result_of(samples_about(rung[2], 0.01, samples or 200, seed + i)) }
  end
  for key, value in pairs(fields or {}) do run[key] = value end
  for _, record in ipairs(run.records) do record.device, record.device_name = run.device, run.device_name end
  return run
end

local function verdicts(result)
  local list = {}
  for _, row in ipairs(result) do list[#list + 1] = row.label .. " " .. row.verdict end
  return table.concat(list, ", ")
end

-- ---- comparing ------------------------------------------------------------------------------------

describe("compare", function()
  it("reports what is slower, faster and the same", function()
    local a = run_of({ { "naive", 1e-3 }, { "shared", 2e-3 }, { "vector", 3e-3 } }, 1)
    local b = run_of({ { "naive", 1.2e-3 }, { "shared", 1.5e-3 }, { "vector", 3.01e-3 } }, 77)
    local result = compare.runs(a, b, 0.02)
    assert.are.equal("naive slower, shared faster, vector same", verdicts(result))
    assert.are.same({ same = 1, faster = 1, slower = 1, changed = 0, unclear = 0 }, result.counts)
    assert.is_true(result[1].low <= result[1].ratio and result[1].ratio <= result[1].high)
    assert.is_true(math.abs(result[1].ratio - 1.2) < 0.01)
  end)

  it("does not decide what the samples do not", function()
    local wide = result_of(samples_about(1e-3, 0.6, 12, 5))
    local other = result_of(samples_about(1.06e-3, 0.6, 12, 9))
    local effect = compare.effect(wide.samples, other.samples)
    assert.are.equal("unclear", compare.verdict(effect, 0.02))
  end)

  it("is not sure of a difference that a drift inside of one run could make", function()
    local a, b = {}, {}
    for i = 1, 200 do
      a[i] = 1e-3 * (1 + 0.2 * i / 200)
      b[i] = 1.06e-3 * (1 + 0.2 * i / 200)
    end
    local narrow, effect = stats.effect(b, a), compare.effect(a, b)
    assert.is_true(effect.high - effect.low > 1.5 * (narrow.high - narrow.low))
    assert.are.equal("unclear", compare.verdict(effect, 0.02))
  end)

  it("takes what runs of one thing differ by from several of each", function()
    -- Each run is sure of its own time; the library's copy differs by 10 % from run to run, the kernel by none.
    local function runs(factor, offset)
      local list = {}
      for i, own in ipairs { 1, 1.1, 0.95 } do
        list[i] = run_of({ { "kernel", factor * 1e-3 }, { "copy", factor * own * 1e-3 } }, offset + i)
      end
      return list
    end
    local a, same, slow = runs(1, 0), runs(1.04, 40), runs(1.4, 80)
    assert.are.equal("kernel slower, copy slower", verdicts(compare.runs(a[3], same[2], 0.02)))
    assert.are.equal("kernel slower, copy unclear", verdicts(compare.several(a, same, 0.02)))
    assert.are.equal("kernel slower, copy slower", verdicts(compare.several(a, slow, 0.02)))
    assert.are.equal("kernel same, copy unclear", verdicts(compare.several(a, runs(1, 120), 0.02)))
  end)

  it("has the interval of Student's t between runs", function()
    -- exp of 0 +- 4.303 sqrt(0.02 / 2 (1 / 2 + 1 / 2)): two runs each, 0.1 about their means
    local e = math.exp(0.1)
    local effect = compare.between({ 1 / math.sqrt(e), math.sqrt(e) }, { 1 / math.sqrt(e), math.sqrt(e) })
    local half = 4.303 * math.sqrt(0.01 / 2)
    assert.is_true(math.abs(effect.ratio - 1) < 1e-12 and math.abs(math.log(effect.high) - half) < 1e-12
      and math.abs(math.log(effect.low) + half) < 1e-12)
  end)

  it("does not count fractions of a microsecond on a GPU", function()
    local gpu = { device = "cuda:0", device_name = "G" }
    local a, b = run_of({ { "naive", 3e-6 }, { "shared", 1e-4 } }, 1, gpu), run_of({ { "naive", 3.2e-6 },
      { "shared", 1.06e-4 } }, 9, gpu)
    assert.are.equal("naive same, shared slower", verdicts(compare.runs(a, b)))
  end)

  it("does not trust a difference that something else made", function()
    local a = run_of({ { "naive", 1e-3 }, { "shared", 1e-3 } }, 1)
    local b = run_of({ { "naive", 1.2e-3 }, { "shared", 1e-3 } }, 9)
    for _, flag in ipairs { "busy host", "throttled: power", "clock fell" } do
      b.records[1].t.flags = { "noisy", flag }
      for threshold, verdict in pairs { [0.1] = "unclear", [0.02] = "slower" } do -- beyond three times that
        local result = compare.runs(a, b, threshold)
        assert.are.equal("naive " .. verdict .. ", shared same", verdicts(result))
        assert.are.equal(flag, result[1].why)
      end
    end
    b.records[1].t.flags = { "noisy", "outliers" }
    assert.are.equal("naive slower, shared same", verdicts(compare.runs(a, b, 0.02)))
  end)

  it("decides nothing from a few samples, and judges cold and graph times too", function()
    local a, b = run_of({ { "naive", 1e-3 } }, 1), run_of({ { "naive", 1e-3 } }, 9)
    a.records[1].t.cold, b.records[1].t.cold = result_of(samples_about(2e-3, 0.01, 50, 3)),
      result_of(samples_about(3e-3, 0.01, 50, 4))
    assert.are.equal("t same, t cold slower", verdicts(compare.runs(a, b)))
    a.records[1].t.cold, b.records[1].t.cold = nil, nil
    b.records[1].t = result_of { 1.2e-3, 1.2e-3, 1.2e-3 }
    local result = compare.runs(a, b)
    assert.are.same({ "unclear", "few samples" }, { result[1].verdict, result[1].why })
  end)

  it("distinguishes devices of one run", function()
    local rungs = { { "naive", 1e-3 }, { "naive", 1e-5 } }
    local a, b = run_of(rungs, 1), run_of(rungs, 9)
    for _, run in ipairs { a, b } do run.records[2].device = "cuda:0" end
    table.remove(b.records, 1)
    b.records[2] = run_of({ { "naive", 1e-3 } }, 4).records[1]
    assert.are.equal("cpu: naive | t", (measurement.of(a)[1].key:gsub("n = 4096, ", ""):gsub(", f64", "")))
    assert.are.equal(0, #compare.runs(a, b).missing)
    assert.are.equal(2, compare.runs(a, b).counts.same)
  end)

  it("lists what only one run has", function()
    local a, b = run_of({ { "one", 1e-3 }, { "two", 1e-3 } }, 1), run_of({ { "two", 1e-3 }, { "three", 1e-3 } }, 3)
    local result = compare.runs(a, b, 0.05)
    assert.are.equal("two same", verdicts(result))
    assert.are.same({ "one" }, result.missing)
    assert.are.same({ "three" }, result.new)
  end)

  it("keeps two measurements of one name apart by their order", function()
    local run = run_of({ { "same", 1e-3 }, { "same", 2e-3 } }, 1)
    local list = measurement.of(run)
    assert.are.equal(list[1].key .. " #2", list[2].key)
  end)

  it("knows measurements by what was chosen, not by what was measured", function()
    local list = measurement.of(run_of({ { "naive", 1e-3 } }, 1))
    assert.are.equal("n = 4096, naive, f64 | t", list[1].key)
    assert.are.equal("t", list[1].label) -- nothing else differs within the run
  end)
end)

-- ---- exporting ------------------------------------------------------------------------------------

describe("export", function()
  local run = run_of({ { 'a "b", c|d', 1e-3 }, { "e", 2e-3 } }, 1)

  it("writes CSV with quotes where needed", function()
    local lines = {}
    for line in export.csv({ run }):gmatch "([^\r]*)\r\n" do lines[#lines + 1] = line end
    assert.are.equal(3, #lines)
    assert.is_truthy(lines[1]:find("study,device,device_name,date,n,rung,type,T_tot,t,t.high,t.low,", 1, true))
    assert.is_truthy(lines[2]:find('ladder,cpu,C,2026-01-02T03:04:05Z,4096,"a ""b"", c|d",f64,', 1, true))
  end)

  it("writes Markdown with units", function()
    local text = export.md { run }
    assert.is_truthy(text:find('| a "b", c\\|d |', 1, true), text)
    assert.is_truthy(text:find("1000.0 µs", 1, true), text)
  end)

  it("writes JSON that holds every sample", function()
    local decoded = require("cjson").decode(export.json { run })
    assert.are.equal(200, #decoded[1].records[2].t.samples)
    assert.are.equal("[]\n", export.json {})
  end)

  it("writes columns that say what is missing", function()
    local short = run_of({ { "e", 2e-3 } }, 1)
    short.records[1].T_tot = nil
    local text = export.dat { run, short }
    assert.is_truthy(text:find '\n"study" "device"')
    assert.is_truthy(text:find(' "f64" ? ', 1, true), text)
  end)
end)

-- ---- damaged records ------------------------------------------------------------------------------

describe("a damaged record", function()
  local whole = run_of({ { "naive", 1e-3 } }, 1, {
    charts = { { name = "c", title = "T", xlabel = "x", ylabel = "y", device = "d", script = "s", date = "d",
                 levels = {}, series = { { name = "T", points = { { x = 1, y = 2 } } } } },
               { kind = "ladder", name = "l", title = "T", xlabel = "x", unit = "s", device = "d", script = "s",
                 date = "d", levels = { { value = 1, label = "v" } },
                 bars = { { name = "a", value = 1, low = 1, high = 2, share = 1,
                            marks = { { value = 1, label = "m" } } }, { name = "b", value = 2 } } } },
    remarks = { { text = "so" } },
  }, 20)

  it("is rejected with its place, or does no harm", function()
    local random = damage.random(4711)
    support.with_folder(function(folder)
      local rejected = 0
      for _ = 1, 300 do
        support.write(folder .. "/record.json", json.encode(damage.changed(whole, random)))
        local read, problem = store.read(folder)
        if read then
          for _, form in ipairs { "csv", "md", "dat", "json" } do export[form] { read } end
          compare.runs(whole, read)
          for _, figure in ipairs(overlay.charts { whole, read }) do
            kinds.of(figure).text(figure)
            drawn.files(figure, folder .. "/drawn", kinds.of(figure).drawing(figure))
          end
        else
          assert.is_truthy(problem:find(folder, 1, true))
          rejected = rejected + 1
        end
      end
      assert.is_true(rejected > 100)
      for key, junk in pairs { flags = { true }, samples = { 1e-3, "x" }, median = false } do
        local run = damage.copy(whole)
        local result = run.records[1].t
        result.cold = damage.copy(result)
        result.cold[key] = junk
        support.write(folder .. "/record.json", json.encode(run))
        assert.is_truthy(select(2, store.read(folder)):find("records[1].t.cold." .. key, 1, true))
      end
      local run = damage.copy(whole)
      run.charts[1].title = 7
      support.write(folder .. "/record.json", json.encode(run))
      assert.are.equal(folder .. " has a record that is not in order: charts[1].title must be a string, got number",
        select(2, store.read(folder)))
    end)
  end)
end)

-- ---- overlays -------------------------------------------------------------------------------------

local function chart_of(name, unit, factor, label)
  return { name = name, title = "T against n, C (cpu)", xlabel = "n", ylabel = label or "T", xunit = "", unit = unit,
           levels = { { value = 5 * factor, label = "peak" } }, device = "C (cpu)", script = "s", date = "d",
           series = { { name = "T", points = { { x = 1, y = 2 * factor }, { x = 2, y = 3 * factor } } } } }
end

describe("charts of several runs", function()
  it("are one, in base units", function()
    local a = run_of({}, 1, { charts = { chart_of("T-n", "B/s", 1e9), chart_of("other", "s", 1) } })
    local b = run_of({}, 2, { device_name = "G", charts = { chart_of("T-n", "B/s", 1e12) } })
    local figures = overlay.charts { a, b }
    assert.are.equal(2, #figures)
    assert.are.equal("B/s", figures[1].unit)
    assert.are.same({ "C", "G" }, { figures[1].series[1].name, figures[1].series[2].name })
    assert.are.equal(3e9, figures[1].series[1].points[2].y)
    assert.are.equal(3e12, figures[1].series[2].points[2].y)
    assert.are.equal(5e9, figures[1].levels[1].value)
    assert.are.equal("T against n, C, G", figures[1].title)
  end)

  it("are brought to base units where moonwarp 0.3 wrote them", function()
    for label, wanted in pairs { ["T (GB/s)"] = { "T", "B/s", 3e9 }, ["t (µs)"] = { "t", "s", 3 * 1e-6 },
      ["size (MiB)"] = { "size", "iB", 3 * 2.0 ^ 20 }, ["rate (G/s)"] = { "rate", "1/s", 3e9 },
      ["share (%)"] = { "share", "%", 0.03 }, ["T (of all)"] = { "T (of all)", "", 3 }, T = { "T", "", 3 } } do
      local old = chart_of("T-n", nil, 1, label)
      local made = overlay.charts({ run_of({}, 1, { charts = { old } }) })[1]
      assert.are.same(wanted, { made.ylabel, made.unit, made.series[1].points[2].y })
      assert.are.equal(made.series[1].points[2].y / 3 * 5, made.levels[1].value)
    end
  end)

  it("of one device are told apart by their dates", function()
    local a = run_of({}, 1, { charts = { chart_of("T-n", "", 1) } })
    local b = run_of({}, 2, { date = "2026-01-09T03:04:05Z", charts = { chart_of("T-n", "", 1) } })
    local figures = overlay.charts { a, b }
    assert.are.equal("2026-01-09 03:04:05", figures[1].series[2].name)
  end)

  it("are logarithmic if the runs are far apart, and say so", function()
    local function of(factor)
      return overlay.charts { run_of({}, 1, { charts = { chart_of("T-n", "B/s", 1) } }),
        run_of({}, 2, { charts = { chart_of("T-n", "B/s", factor) } }) }[1]
    end
    assert.is_nil(of(19).logy)
    local far = of(21)
    assert.are.equal(10, far.logy)
    assert.is_truthy(far.note:find "logarithmic")
  end)

  it("of other quantities or axes stay apart", function()
    local log = chart_of("T-n", "B/s", 1)
    log.logx = 2
    local list = { log, chart_of("T-n", "B/s", 1), chart_of("T-n", "s", 1, "t"), chart_of("T-n", nil, 1, "t (ms)") }
    local runs = {}
    for i, chart in ipairs(list) do runs[i] = run_of({}, i, { charts = { chart } }) end
    local names = {}
    for i, figure in ipairs(overlay.charts(runs)) do names[i] = ("%s %s"):format(figure.name, figure.ylabel) end
    assert.are.same({ "T-n T", "T-n-2 T", "T-n-3 t" }, names)
  end)

  it("begin anew before there are too many series, if there is a bound", function()
    local runs = {}
    for i = 1, 25 do runs[i] = run_of({}, i, { charts = { chart_of("T-n", "", 1) } }) end
    local figures, alone = overlay.charts(runs, 12)
    assert.are.equal(3, #figures)
    assert.are.equal("T-n-3", figures[3].name)
    assert.are.same({ false, false, { run = runs[25], name = "T-n" } }, alone)
    assert.are.equal(1, #overlay.charts(runs))
  end)
end)

-- ---- the commands ---------------------------------------------------------------------------------

local program = support.program()

local function moonwarp(folder, words)
  local pipe = io.popen(("cd '%s' && '%s' %s 2>&1; echo status $?"):format(folder, program, words))
  local output = pipe:read "a"
  pipe:close()
  local text, status = output:match "^(.-)status (%d+)\n$"
  return math.tointeger(tonumber(status)), text
end

local function stored(folder, name, run)
  os.execute(("mkdir -p '%s/out/ladder/%s'"):format(folder, name))
  support.write(("%s/out/ladder/%s/record.json"):format(folder, name), json.encode(run))
end

describe("the commands about stored runs", function()
  if not program then
    pending "needs the program"
    return
  end

  local function with_runs(body)
    support.with_folder(function(folder)
      stored(folder, "1", run_of({ { "naive", 1e-3 }, { "shared", 2e-3 } }, 1,
        { charts = { chart_of("T-n", "", 1) } }))
      stored(folder, "2", run_of({ { "naive", 1.5e-3 }, { "shared", 2e-3 } }, 9,
        { date = "2026-01-09T03:04:05Z", charts = { chart_of("T-n", "", 1) } }))
      body(folder)
    end)
  end

  it("compare gates by its status", function()
    with_runs(function(folder)
      local status, output = moonwarp(folder, "compare out/ladder/1 out/ladder/2")
      assert.are.equal(5, status, output)
      assert.is_truthy(output:find("1 same (within 10 %), 0 faster, 1 slower, 0 unclear", 1, true), output)
      assert.are.equal(0, (moonwarp(folder, "compare out/ladder/2 out/ladder/1")))
      assert.are.equal(0, (moonwarp(folder, "compare out/ladder/1 out/ladder/2 --threshold 60")))
      local _, text = moonwarp(folder, "compare out/ladder/1 out/ladder/2 --json")
      local result = require("cjson").decode(text)
      assert.are.equal("slower", result.measurements[1].verdict)
      assert.is_truthy(text:find('"missing":[],', 1, true), text) -- it was {}
    end)
  end)

  it("compare says why no measurement is in both, and what to do", function()
    local A <const> = { { "naive", 1e-3 }, { "shared", 2e-3 } }
    local function changed(fields, change)
      local run = run_of(A, 9, fields)
      for i, record in ipairs(run.records) do change(record, i) end
      return run
    end
    local old = { moonwarp = "0.3.0" }
    for _, case in ipairs {
      { changed({ study = "stencil" }, function(r) r.n = 64 end),
        "A is a run of 'ladder' and B of 'stencil'; compare two runs of one study" },
      { run_of({}, 9), "B has none: its script records no result of mw.bench and no number with a unit" },
      { changed({}, function(r) r.params = { type = "f32", pace = 3 } end),
        "parameters differ: pace (A: absent; B: 3), type (A: f64; B: f32); run it again with those of A: "
          .. "moonwarp run ladder -p type=f64" },
      { changed({}, function(r, i) r.rung = "rung " .. i end),
        "records differ: rung (A: naive, shared; B: rung 1, rung 2); give what is the same the same names" },
      { changed({}, function(r) r.time, r.t = r.t, nil end),
        "records differ: the name of the result (A: t; B: time); give what is the same the same names" },
      { changed({}, function(r) r.n, r.params = 64, { type = "f32" } end),
        "parameters differ: type (A: f64; B: f32); run it again with those of A: moonwarp run ladder -p type=f64; "
          .. "records differ: n (A: 4096; B: 64); give what is the same the same names" },
      { changed({ moonwarp = "0.4.0" }, function(r, i) r.rung, r.params = "rung " .. i, { type = "f32" } end),
        "names changed in 0.4.0, and A is of moonwarp 0.3.0, B of 0.4.0; measure both with one version", old },
      { changed({ moonwarp = "0.4.0" }, function(r) r.params = { type = "f32" } end),
        "parameters differ: type (A: f64; B: f32); run it again with those of A: moonwarp run ladder -p type=f64",
        old },
      { changed({}, function(r, i) r.n, r.rung = 4096 + i % 2, A[i][1] end),
        "what was chosen is the same by itself and never together; moonwarp export A B --csv shows it",
        { records = changed({}, function(r, i) r.n = 4097 - i % 2 end).records } },
    } do
      support.with_folder(function(folder)
        stored(folder, "1", run_of(A, 1, case[3]))
        stored(folder, "2", case[1])
        local status, output = moonwarp(folder, "compare out/ladder/1 out/ladder/2")
        assert.are.equal(5, status, output)
        assert.are.equal("no measurement is in both: " .. case[2], output:match "[^\n]*\n[^\n]*\n([^\n]*)\n$")
        local _, text = moonwarp(folder, "compare out/ladder/1 out/ladder/2 --json")
        assert.are.equal(case[2], require("cjson").decode(text).apart)
      end)
    end
  end)

  it("reject what is not a run, and the same run twice", function()
    with_runs(function(folder)
      local function rejected(words, text)
        local status, output = moonwarp(folder, words)
        assert.are.equal(2, status, output)
        assert.is_truthy(output:find(text, 1, true), output)
      end
      rejected("compare out/ladder/1", "compare wants two runs")
      rejected("compare ladder out/ladder/2", "name the same run")
      rejected("compare ladder nothing", "there is no run in 'nothing'")
      rejected("compare a b --threshold x", "option '--threshold' wants a percentage")
      rejected("export", "export wants a run")
      rejected("export ladder --csv --md", "options '--csv' and '--md' exclude each other")
      rejected("plot ladder --only zz", "no chart has 'zz' in its name or title; there is T-n")
      rejected("history ladder --only zz", "no measurement has 'zz' in its name")
      rejected("history ladder --device h200", "no run is of a device with 'h200' in its name")
      rejected("rerun out/ladder/1", "kept no script")
      support.write(folder .. "/out/ladder/2/record.json", "{ half")
      rejected("export out/ladder/2", "out/ladder/2 holds no record that can be read")
      local status, output = moonwarp(folder, "export ladder --md")
      assert.are.equal(0, status)
      assert.is_truthy(output:find("note: left out: out/ladder/2 holds no record that can be read", 1, true), output)
      assert.is_truthy(output:find("naive", 1, true), output)
    end)
  end)

  it("plot lays runs over each other", function()
    with_runs(function(folder)
      local status, output = moonwarp(folder, "plot ladder --terminal")
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("2026-01-02 03:04", 1, true) and output:find("2026-01-09 03:04", 1, true), output)
      assert.is_nil(output:find("written", 1, true))
      moonwarp(folder, "plot ladder")
      assert.is_truthy(support.read(folder .. "/out/plots/T-n.gp"):find("2026-01-09", 1, true))
    end)
  end)

  it("history shows every run of a measurement", function()
    with_runs(function(folder)
      local status, output = moonwarp(folder, "history ladder --only naive --svg")
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("%+%d+%.%d %%%s+▁█"), output)
      local _, rows = support.read(folder .. "/out/plots/history-ladder.dat"):gsub("\n%d+ [%d.]+ [%d.]+ [%d.]+", "")
      assert.are.equal(2, rows)
    end)
  end)

  it("rerun makes a run again from what it kept", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[
        local mw = require "moonwarp"
        local n = mw.arg("n", 4)
        local x <close> = mw.device():full(3, "i32", n)
        mw.device():module("double.cu").twice:launch(1, n, x)
        mw.record { n = n, first = x:get(1), word = arg[1] }
      ]])
      support.write(folder .. "/double.cu", "__global__ void twice(int *x) { x[threadIdx.x] *= 2; }\n")
      local status, output = moonwarp(folder, "run s.lua --device cpu -p n=3,5 -- hello")
      assert.are.equal(0, status, output)
      os.execute(("rm '%s/s.lua' '%s/double.cu'"):format(folder, folder))
      local first = support.run(folder .. "/out")
      status, output = moonwarp(folder, ("rerun '%s'"):format(first))
      assert.are.equal(0, status, output)
      moonwarp(folder, ("rerun '%s' -p n=7"):format(first))
      local runs = support.runs(folder .. "/out")
      assert.are.equal(3, #runs)
      local seen = {}
      for i, name in ipairs(runs) do
        local run = store.read(name)
        seen[i] = {}
        for j, record in ipairs(run.records) do
          seen[i][j] = ("%d %d %s"):format(record.n, record.first, record.word)
        end
        if i > 1 then assert.are.equal(first, run.rerun_of) end
      end
      assert.are.same({ { "3 6 hello", "5 6 hello" }, { "3 6 hello", "5 6 hello" }, { "7 6 hello" } }, seen)
    end)
  end)
end)
