-- SPDX-License-Identifier: MIT
--
-- moonwarp report: what the page holds, that nothing of a record becomes markup, that no run is too
-- broken for it, and how large it is. How it looks and acts is tests/browser's matter.

local support = require "tests.support"
local axis = require "moonwarp.report.axis"
local bars = require "moonwarp.report.bars"
local figure = require "moonwarp.report.figure"
local html = require "moonwarp.report.html"
local material = require "moonwarp.report.material"
local page = require "moonwarp.report.page"
local picture = require "moonwarp.report.picture"
local placing = require "moonwarp.report.placing"
local runs = require "tests.report_runs"
local strip = require "moonwarp.report.strip"
local svg = require "moonwarp.report.svg"

local function has(text, part)
  assert.is_truthy(text:find(part, 1, true), ("'%s' is not in the page"):format(part))
end

local function lacks(text, part)
  assert.is_nil(text:find(part, 1, true), ("'%s' is in the page"):format(part))
end

local function count(text, part)
  local times, at = 0, 1
  while true do
    local first, last = text:find(part, at, true)
    if not first then return times end
    times, at = times + 1, last + 1
  end
end

local function drawn(words, options)
  return page.draw(material.gather(words), options or {})
end

-- The page of runs that are written to a folder of their own.
local function page_of(list, options)
  local text
  support.with_folder(function(folder)
    for i, run in ipairs(list) do runs.write(("%s/%s/%03d"):format(folder, run.study, i), run) end
    text = drawn({ folder }, options)
  end)
  return text
end

describe("markup", function()
  it("escapes what is text, and joins what is markup", function()
    assert.are.equal('<p class=note title="a &quot;b&quot;">1 &lt; 2<b>x</b></p>',
      html.p { class = "note", title = 'a "b"', "1 < 2", html.b { "x" } }.text)
  end)

  it("writes attributes in one order, true ones without a value, false ones not", function()
    assert.are.equal("<details aria-label=x open>y</details>",
      html.details { open = true, aria_label = "x", hidden = false, "y" }.text)
  end)

  it("replaces what is not UTF-8, and control characters", function()
    assert.are.equal("a\u{FFFD}b\u{FFFD}é\u{FFFD}", html.escape "a\xFFb\1é\xC3")
  end)
end)

describe("an axis", function()
  local function labels(made)
    local list = {}
    for i, tick in ipairs(made.ticks) do list[i] = tick.label end
    return table.concat(list, " ")
  end

  it("has powers of two on a base of two, long ones as powers", function()
    assert.are.equal("32 64 128 256 512 1024", labels(axis.along(32, 1024, 2, 430)))
    assert.are.equal("2²⁰ 2²¹ 2²²", labels(axis.along(1 << 20, 1 << 22, 2, 430)))
  end)

  it("writes all its powers one way", function()
    assert.are.equal("2⁻⁴ 2⁻² 2⁰ 2² 2⁴ 2⁶ 2⁸ 2¹⁰", labels(axis.along(1 / 16, 1024, 2, 430)))
    assert.are.equal("0.125 0.25 0.5 1 2", labels(axis.along(1 / 8, 2, 2, 430)))
    assert.are.equal("10⁰ 10² 10⁴ 10⁶ 10⁸", labels(axis.along(1, 1e8, 10, 200)))
  end)

  it("marks whole numbers alone where there are no others", function()
    assert.are.equal("1 2 3", labels(axis.along(1, 3, nil, 430, true)))
    assert.are.equal("1 1.5 2 2.5 3", labels(axis.along(1, 3, nil, 200)))
    assert.are.equal("0 1 2", labels(axis.along(1, 1, nil, 430, true)))
    assert.are.equal("0 10 20 30", labels(axis.along(0, 39, nil, 200, true)))
  end)

  it("has steps of 1, 2 and 5 on a short logarithmic one", function()
    assert.are.equal("2 5 10 20 50", labels(axis.along(2, 60, 10, 430)))
  end)

  it("begins at 0 upwards, and leaves out labels that would touch", function()
    assert.are.equal("0 50 100 150", labels(axis.up(12, 145, nil, 226)))
    local last = -math.huge
    for _, tick in ipairs(axis.along(1, 123456789, nil, 200).ticks) do
      local half = axis.width(tick.label) / 2
      assert.is_true(tick.at * 200 - half > last)
      last = tick.at * 200 + half
    end
  end)

  it("takes one value, and negative ones", function()
    assert.is_true(#axis.along(5, 5, 2, 430).ticks >= 1)
    local y = axis.up(-3.2, 4, nil, 226)
    assert.is_true(y.low <= -3.2 and y.high >= 4)
  end)
end)

describe("a figure", function()
  local function chart(name, unit, scale)
    return { name = "rate", title = "rate, " .. name, device = name, xlabel = "n", ylabel = ("T (%s)"):format(unit),
             series = { { name = "copy", points = { { x = 1, y = 2 * scale }, { x = 2, y = 4 * scale, low = 3 * scale,
               high = 5 * scale } } } }, levels = { { value = 6 * scale, label = "peak" } } }
  end

  local function run(tag, ...) return { tag = tag, charts = { ... } } end

  it("has the charts of one name and axes, in the larger unit", function()
    local list = figure.of { run("A", chart("A", "GB/s", 1)), run("B", chart("B", "TB/s", 0.001)) }
    assert.are.equal(1, #list)
    assert.are.equal("rate", list[1].title)
    assert.are.equal("T (TB/s)", list[1].ylabel)
    assert.are.equal("A", list[1].series[1].name)
    assert.is_true(math.abs(list[1].series[1].points[2].high - 0.005) < 1e-12)
    assert.are.equal("peak · B", list[1].levels[2].label)
  end)

  it("keeps other axes apart", function()
    local other = chart("B", "GB/s", 1)
    other.logx = 2
    assert.are.equal(2, #figure.of { run("A", chart("A", "GB/s", 1)), run("B", other) })
    assert.are.equal(2, #figure.of { run("A", chart("A", "GB/s", 1)), run("B", chart("B", "s", 1)) })
  end)

  it("is logarithmic where runs are far apart, and says so", function()
    local list = figure.of { run("A", chart("A", "GB/s", 1)), run("B", chart("B", "GB/s", 100)) }
    assert.are.equal(10, list[1].logy)
    assert.is_truthy(list[1].note:find "logarithmic")
  end)

  it("begins anew before its series cannot be told apart", function()
    local list = {}
    for i = 1, 25 do list[i] = run("run " .. i, chart("A", "GB/s", 1)) end
    local made = figure.of(list)
    assert.are.equal(3, #made)
    assert.are.equal("rate (3 of 3)", made[3].title)
  end)

  it("leaves out points that are none", function()
    local one = chart("A", "GB/s", 1)
    one.logy = 10
    one.series[1].points = { { x = 1, y = 0 }, { x = 1, y = 0 / 0 }, { x = "1", y = 2 }, 7, { x = 2, y = 3 } }
    one.series[2] = { name = "none", points = {} }
    local made = figure.of { run("A", one) }
    assert.are.equal(1, #made[1].series)
    assert.are.equal(1, #made[1].series[1].points)
  end)

  it("is drawn with a title for each point, bars, and dashed levels", function()
    local text = svg.figure(figure.of({ run("A", chart("A", "GB/s", 1)) })[1]).text
    assert.are.equal(2, count(text, "<title>copy"))
    has(text, "T: 4 GB/s\nfrom 3 GB/s to 5 GB/s")
    has(text, "class=bar")
    has(text, 'class="level d1"')
    lacks(text, "nan")
  end)

  it("joins points by lines, unless they stand alone", function()
    local one, alone = chart("A", "GB/s", 1), chart("A", "GB/s", 1)
    alone.style = "points"
    has(svg.figure(figure.of({ run("A", one) })[1]).text, "class=line")
    local text = svg.figure(figure.of({ run("A", alone) })[1]).text
    lacks(text, "class=line")
    assert.are.equal(2, count(text, "<title>copy"))
    assert.are.equal(3, count(text, "<use ")) -- and one in the legend
  end)

  it("without a point says so", function()
    local one = chart("A", "GB/s", 1)
    one.series = {}
    has(svg.figure(figure.of({ run("A", one) })[1]).text, "no point that can be drawn")
  end)
end)

describe("a ladder of a report", function()
  local function chart(unit, scale)
    return { kind = "ladder", name = "rungs", title = "rungs", xlabel = "T", unit = unit, levels = {
      { value = 4e9 * scale, label = "copy = 100 %" } }, bars = {
        { name = "naive", value = 1e9 * scale, low = 0.9e9 * scale, high = 1.2e9 * scale, share = 0.25,
          marks = { { value = 2e9, label = "P100, source" } } },
        { name = "tiled", value = 3e9 * scale } } }
  end

  local function text_of(...)
    local list = {}
    for i, one in ipairs { ... } do list[i] = { tag = "run " .. i, charts = { one } } end
    local made = figure.of(list)
    assert.are.equal(1, #made)
    return bars.figure(made[1]).text, made[1]
  end

  it("has names, bars with their exact values, shares, whiskers, levels and marks", function()
    local text = text_of(chart("B/s", 1))
    assert.are.equal(2, count(text, "<rect "))
    for _, part in ipairs { "<title>naive\nT: 1.0000 GB/s\nfrom 900.00 MB/s to 1.2000 GB/s\nshare: 25.0 %</title>",
      "<title>tiled\nT: 3.0000 GB/s</title>", "<title>P100, source\nnaive\nT: 2.0000 GB/s</title>",
      ">naive</text>", ">1.00 GB/s</text>", ">25 %</text>", ">T (GB/s)</text>", "class=whisker",
      '"level d1"', "<span>copy = 100 %</span>", "<span>P100, source</span>", "<span class=under>run 1</span>" } do
      has(text, part)
    end
    assert.are.equal(1, count(text, "class=whisker"))
    lacks(text, "nan")
  end)

  it("has the bars of several runs side by side, and a source's mark once", function()
    local text = text_of(chart("B/s", 1), chart("B/s", 2))
    assert.are.equal(1, count(text, ">naive</text>"))
    assert.are.equal(4 + 2, count(text, "<rect ")) -- and the legend's
    assert.are.equal(1, count(text, "<title>P100, source"))
    has(text, "<title>naive · run 2\nT: 2.0000 GB/s")
    has(text, "<span>run 2: copy = 100 %</span>")
  end)

  it("is logarithmic where runs are far apart, and says so", function()
    local text, made = text_of(chart("B/s", 1), chart("B/s", 100))
    assert.are.equal(10, made.logx)
    has(text, "logarithmic, because the runs are far apart")
  end)

  it("keeps units and other kinds of charts apart, and begins anew before it is too long", function()
    local other = chart("s", 1)
    local pie = { kind = "pie", name = "rungs" }
    local a, b = { tag = "A", charts = { chart("B/s", 1), pie } }, { tag = "B", charts = { other } }
    assert.are.equal(2, #figure.of { a, b })
    local long = chart("B/s", 1)
    for i = 1, 40 do long.bars[i] = { name = "rung " .. i, value = i } end
    local made = figure.of { { tag = "A", charts = { long } }, { tag = "B", charts = { long } } }
    assert.are.equal("rungs (2 of 2)", made[2].title)
  end)

  it("without a bar says so", function()
    local one = chart("B/s", 1)
    one.bars = { { name = "a", value = "1" } }
    has((text_of(one)), "no bar that can be drawn")
  end)
end)

describe("labels of levels", function()
  local frame = { x0 = 0, x1 = 400, y0 = 0, y1 = 200 }

  it("stand above their lines, over no other label", function()
    local made = placing.labels({ { y = 100, label = "one" }, { y = 104, label = "two" } }, {}, frame)
    assert.are.equal(2, #made)
    assert.is_true(math.abs(made[1].y - made[2].y) >= 13)
  end)

  it("are left to the legend where there is no room", function()
    local path = {}
    for x = 0, 400, 10 do path[#path + 1] = { x, x % 20 == 0 and 80 or 120 } end
    assert.are.equal(0, #placing.labels({ { y = 100, label = "peak" } }, { path }, frame))
  end)
end)

describe("a strip", function()
  it("has a bar for each bin that was hit, and the interval", function()
    local result = { median = 1, low = 0.999, high = 1.001, samples = { 0.99, 1, 1, 1.01, 7 } }
    local text = strip.draw(result, 0.02, "words").text
    has(text, "<title>words</title>")
    has(text, "class=iv")
    lacks(text, "nan")
  end)

  it("is not drawn without samples", function()
    assert.is_nil(strip.draw({ median = 1, samples = {} }, 0.02, ""))
    assert.is_nil(strip.draw({ median = 0, samples = { 0 } }, 0.02, ""))
  end)
end)

describe("a picture", function()
  it("is base64 as RFC 4648 has it", function()
    local vectors = { [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==", fooba = "Zm9vYmE=",
                      foobar = "Zm9vYmFy" }
    for bytes, text in pairs(vectors) do assert.are.equal(text, picture.base64(bytes)) end
  end)

  it("is embedded with its size, or said to be too large or absent", function()
    support.with_folder(function(folder)
      local run = { folder = folder, tag = "A" }
      support.write(folder .. "/film.gif", "GIF89a" .. ("<I2I2"):pack(64, 32) .. "....")
      local text = picture.figure(run, { name = "film", title = "a film" }, picture.budget()).text
      has(text, "data:image/gif;base64,R0lGODlh")
      has(text, "height=32 src=")
      has(picture.figure(run, { name = "film" }, { left = 3 }).text,
        "Left out, too large for a report: film.gif (14 B)")
      has(picture.figure(run, { name = "none" }, picture.budget()).text, "There is no picture file")
      has(picture.figure(run, { name = "../x" }, picture.budget()).text, "There is no picture file")
    end)
  end)
end)

describe("a report", function()
  it("has a summary, a section a study, and all of a run", function()
    local first, second = runs.make(1), runs.make(2)
    local text = page_of { first, second }
    for _, part in ipairs { '<section id=summary>', "<section id=study-memcopy>", "<section id=study-stencil>",
      "href=#study-memcopy-run-1", "<html lang=en>", "2 runs of 2 studies", html.escape(first.remarks[1].text),
      "36 measurements with their samples", "570.86", "1.980 GHz", "512.0 GiB", "41 to 63 °C",
      "idle, power cap", "700 W", "0123abc", "moonwarp run memcopy -p n=4096" } do
      has(text, part)
    end
    assert.are.equal(2, count(text, "class=chart"))
    assert.are.equal(72, count(text, "class=strip"))
  end)

  it("asks for nothing", function()
    local text = page_of { runs.make(1) }
    has(text, "default-src &#39;none&#39;")
    for _, part in ipairs { "http:", "https:", "<link", "@import", "src=\"/", "fetch(" } do lacks(text, part) end
  end)

  it("escapes all that a record holds", function()
    local evil = [[</script><script>alert(1)</script><b a="x' onload=y>]]
    local run = runs.make(1)
    for _, name in ipairs { "study", "device_name", "device", "status", "message", "moonwarp", "lab" } do
      run[name] = evil
    end
    run.argv, run.params, run.environment = { evil }, { [evil] = { evil } }, { [evil] = evil }
    run.remarks[1].text, run.checks = evil, { { what = evil, ok = false, text = evil } }
    run.tables[1].name, run.tables[1].notes = evil, { evil }
    run.tables[1].columns[1].heading, run.tables[1].columns[1].texts[1] = evil, evil
    local chart = run.charts[1]
    chart.title, chart.xlabel, chart.ylabel, chart.name = evil, evil, evil, evil
    chart.series[1].name, chart.levels[1].label = evil, evil
    local ladder = run.charts[2]
    ladder.title, ladder.xlabel, ladder.name, ladder.unit, ladder.levels[1].label = evil, evil, evil, evil, evil
    ladder.bars[1].name, ladder.bars[4].marks[1].label = evil, evil
    run.pictures = { { name = evil, title = evil } }
    run.records[1].rung, run.records[1].t.flags, run.records[1].t.alarms = evil, { evil }, { { what = evil } }
    run.records[1].t.warnings = { { cause = evil } }
    local text
    support.with_folder(function(folder)
      runs.write(folder .. "/one", run)
      text = drawn({ folder }, { title = evil })
    end)
    lacks(text, "<script>alert")
    lacks(text, [[<b a="x']])
    assert.are.equal(2, count(text, "<script>"))
    assert.are.equal(2, count(text, "</script>"))
  end)

  it("shows runs on two devices beside each other", function()
    local text = page_of { runs.make(1), runs.make(7) }
    assert.are.equal(1, count(text, "class=chart"))
    has(text, "library copy · AMD EPYC")
    has(text, "library copy · NVIDIA H200")
  end)

  it("shows failed checks, messages, flags and alarms", function()
    local text = page_of { runs.spoil(runs.make(1), "check failed"), runs.spoil(runs.make(2), "failed"),
      runs.spoil(runs.make(3), "flagged") }
    for _, part in ipairs { "A check failed", "B[17, 3] is 0.25, wanted 0.5", "x.lua:12: &lt;/script&gt;",
      "throttled: thermal", "above the device&#39;s peak; 5.1 TB/s of 4.8 TB/s; make the array larger", "share of peak",
      "1 failed check, 1 alarm" } do
      has(text, part)
    end
  end)

  it("takes runs that are unfinished, broken or absent", function()
    support.with_folder(function(folder)
      runs.fill(folder, 5)
      assert(os.execute(("mkdir -p '%s/broken' '%s/empty' '%s/odd'"):format(folder, folder, folder)))
      support.write(folder .. "/broken/record.json", "{ no JSON")
      support.write(folder .. "/odd/record.json", [==[{"schema":"moonwarp-record/1","records":[{"t":{"median":1,
        "samples":["a",null,{}]}},7],"charts":[1,{"series":{"a":1}},{"series":[{"points":[{"x":1}]}]},
        {"kind":"ladder","levels":5,
        "bars":[7,{"name":1},{"value":2,"low":"x","marks":[{"value":1},3]},{"value":-1}]},
        {"kind":"ladder","logx":"x"},{"kind":"ladder","logx":10,"bars":[{"value":0,"name":"n"}]},{"kind":7}],
        "tables":{"a":1},
        "checks":"x","remarks":[{}],"pictures":[{}],"environment":[[[[[[[1]]]]]]]}]==])
      local text = drawn { folder, folder .. "/empty", "/no/such/folder" }
      for _, part in ipairs { "unfinished", "it was killed, or still goes on", "5 measurements with their samples",
        "/broken</code>: it holds no record that can be read", "/empty</code>: there is no run in it",
        "/no/such/folder</code>: there is no run in it", "interrupted" } do
        has(text, part)
      end
      lacks(text, "cannot be shown")
    end)
  end)

  it("of nothing is a page too", function()
    support.with_folder(function(folder)
      local text = drawn { folder }
      has(text, "There is no run to report.")
      has(text, "</html>")
    end)
  end)

  it("names a run once, however often it is given", function()
    support.with_folder(function(folder)
      runs.write(folder .. "/one", runs.make(1))
      has(drawn { folder, folder .. "/one", folder .. "/" }, "1 run of 1 study")
    end)
  end)

  it("reads what batches say, whatever it is", function()
    support.with_folder(function(folder)
      assert(os.execute(("mkdir -p '%s/batch/a' '%s/batch/b'"):format(folder, folder)))
      support.write(folder .. "/batch/a/batch.json", [[{"name":"<night>","jobs":2,"labs":[
        {"lab":"copy","status":"passed","exit":0,"seconds":1.5},
        {"lab":"sum","status":"failed","message":null,"gates":[{"ok":true},{"ok":false}] }] }]])
      support.write(folder .. "/batch/a/journal.jsonl", '{"kind":"begin","id":"more"}\n{"kind":"end","id":"third",'
        .. '"verdict":"timed out","message":"it <hung>","peak":1048576}\n{"kind":"pause"}\n{"ki')
      support.write(folder .. "/batch/b/journal.jsonl", "")
      support.write(folder .. "/batch/b/batch.json", "{")
      local text = drawn { folder }
      lacks(text, "there is no run in it")
      for _, part in ipairs { "Batch &lt;night&gt;", ">copy<", "1.50 s", "1 of 2", "cannot be read",
        "timed out", "it &lt;hung&gt;", "1.00 MiB", "interrupted", "unfinished", "There is no run to report." } do
        has(text, part)
      end
    end)
  end)

  it("has a sign for every verdict of a lab", function()
    local function badge(word) return html.join({ require("moonwarp.report.status").badge(word) }).text end
    local bad = { "check failed", "gate failed", "failed", "crashed", "timed out", "out of memory", "too much output",
                  "too many processes", "killed" }
    for _, word in ipairs(bad) do has(badge(word), 'class="badge bad"') end
    for _, word in ipairs { "skipped", "not run" } do has(badge(word), 'class="badge calm"') end
  end)

  it("of 50 runs is under 5 MB, without their samples", function()
    support.with_folder(function(folder)
      runs.fill(folder, 50)
      local text = drawn { folder }
      assert.is_true(#text < 5e6, ("%d bytes"):format(#text))
      lacks(text, "samples&quot;")
    end)
  end)

  it("of very many runs leaves out the measurements of the oldest", function()
    support.with_folder(function(folder)
      local first = runs.make(1, 5)
      for i = 1, 115 do
        first.date = ("2026-01-%02dT%02d:00:00Z"):format(i // 24 + 1, i % 24)
        runs.write(("%s/%03d"):format(folder, i), first)
      end
      local text = drawn { folder }
      assert.are.equal(4, count(text, "36 measurements are left out"))
      assert.are.equal(111 * 36, count(text, "class=strip"))
    end)
  end)

  it("is the same for the same runs", function()
    local function without_time(text) return (text:gsub("%d+%-%d+%-%d+ %d+:%d+ UTC", ""):gsub("/tmp/[^<]*", "")) end
    assert.are.equal(without_time(page_of { runs.make(1) }), without_time(page_of { runs.make(1) }))
  end)
end)

describe("a comparison", function()
  local NAME <const> = "moonwarp.results.compare"
  local before

  before_each(function()
    before = package.loaded[NAME]
    package.loaded[NAME] = { runs = function(a, b)
      return { { key = "k", label = "copy", a = a.records[1].t, b = b.records[1].t.median, ratio = 1.25, low = 1.2,
                 high = 1.3, verdict = "slower" }, { key = "l", verdict = "same" } }
    end }
  end)

  after_each(function() package.loaded[NAME] = before end)

  local function earlier_of(number)
    local run = runs.make(number)
    run.folder = "/earlier"
    return { run }
  end

  it("has the verdicts in words with signs", function()
    local text = page_of({ runs.make(1) }, { earlier = earlier_of(1) })
    for _, part in ipairs { "▼ </span>slower", "= </span>same", "1.250 (1.200 to 1.300)", "against earlier",
      "Against the run of 2026-03-02" } do
      has(text, part)
    end
  end)

  it("is made for the newest run, beside one with the same parameters", function()
    local old, new, other, same = runs.make(1), runs.make(1), runs.make(1), runs.make(1)
    new.date, other.params, other.folder, same.folder = "2026-03-20T00:00:00Z", { n = { "7" } }, "/x", "/y"
    other.date, same.date = "2026-02-02T00:00:00Z", "2026-02-01T00:00:00Z"
    local text = page_of({ old, new }, { earlier = { same, other } })
    assert.are.equal(1, count(text, "<h4>Against the run of 2026-02-01"))
    assert.are.equal(1, count(text, "<h4>Against the run of"))
  end)

  it("says where there is no earlier run, or none can be compared", function()
    has(page_of({ runs.make(1) }, { earlier = earlier_of(2) }), "No earlier run of this study on this device")
    package.loaded[NAME] = { runs = function() error("strange <samples>", 0) end }
    has(page_of({ runs.make(1) }, { earlier = earlier_of(1) }), "cannot be compared: strange &lt;samples&gt;")
  end)
end)

describe("the command", function()
  local function moonwarp(words)
    local program = support.program()
    if not program then pending "the program was not built" end
    local pipe = assert(io.popen(("'%s' report %s 2>&1; echo status $?"):format(program, words)))
    local text = pipe:read "a"
    pipe:close()
    return text
  end

  it("writes one file and says what is in it", function()
    support.with_folder(function(folder)
      runs.write(folder .. "/one", runs.make(1))
      local output = moonwarp(("'%s' --output '%s/r.html' --title 'A < B'"):format(folder, folder))
      assert.is_truthy(output:find("^report: .*/r%.html, 1 run, [%d.]+ kB\nstatus 0"), output)
      local text = support.read(folder .. "/r.html")
      has(text, "<title>A &lt; B</title>")
      assert.are.equal(1, #support.files(folder .. "/one"))
    end)
  end)

  it("says what is missing and goes on", function()
    support.with_folder(function(folder)
      local output = moonwarp(("'%s/none' --output '%s/r.html'"):format(folder, folder))
      has(output, "/none: there is no run in it\n")
      has(output, "status 0")
    end)
  end)

  it("says what is wrong with its words", function()
    has(moonwarp "", "moonwarp: report wants a folder with runs, as out\nstatus 2")
    has(moonwarp "out --against /nowhere", "moonwarp: option '--against': there is no run in /nowhere\nstatus 2")
    has(moonwarp "/nowhere --output /nowhere/r.html", "moonwarp: the report cannot be written: /nowhere/r.html.part: "
      .. "No such file or directory; choose another place with --output FILE\nstatus 1")
  end)
end)
