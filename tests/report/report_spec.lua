-- SPDX-License-Identifier: MIT
--
-- moonwarp report: what the page holds, that nothing of a record becomes markup, that no run is too
-- broken for it, and how large it is. How it looks and acts is tests/browser's matter.

local support = require "tests.support"
local embed = require "moonwarp.report.embed"
local figure = require "moonwarp.report.figure"
local html = require "moonwarp.report.html"
local material = require "moonwarp.report.material"
local page = require "moonwarp.report.page"
local palette = require "moonwarp.plot.palette"
local picture = require "moonwarp.report.picture"
local runs = require "tests.support.report_runs"
local strip = require "moonwarp.report.strip"

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
  return page.draw(material.gather(words, "out"), options or {})
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

local function has_gnuplot()
  return os.execute "command -v gnuplot >/dev/null 2>&1"
end

-- A picture as gnuplot writes it, with this inside.
local function picture_of(inside)
  return ('<?xml version="1.0"?>\n<svg width="9" viewBox="0 0 500 300">\n<title>Gnuplot</title>\n<desc>Produced by '
    .. 'GNUPLOT 5.4 patchlevel 4 </desc>\n%s\n</svg>\n'):format(inside)
end

local function embedded(inside)
  local made = embed.draw(picture_of(inside), "label", "f1-", "chart")
  return made and made.text:match "^<svg [^>]*>(.*)</svg>$"
end

describe("a palette", function()
  it("has no two colours alike on light ground, since the report knows them by it", function()
    local names, colours = palette.names(), 0
    for _ in pairs(names) do colours = colours + 1 end
    assert.are.equal(colours, select(2, palette.css():gsub("%-%-%w+:", "")))
    assert.are.equal("k1", names[palette.colour "k1"])
  end)

  it("gives 64 series looks that all differ, eight of them without dashes", function()
    local seen, plain = {}, 0
    for i = 1, 64 do
      local look = palette.series(i)
      assert.is_nil(seen[look])
      seen[look] = true
      if look:find("dt 1 ", 1, true) and i <= 8 then plain = plain + 1 end
    end
    assert.are.equal(8, plain)
  end)
end)

describe("a picture of gnuplot's in a page", function()
  it("has the page's colours and letters, its own ids, and no empty groups", function()
    assert.are.equal('<defs><circle r="1" id="f1-gpPt5"></circle></defs><g fill="none" stroke="var(--k1)"><path '
      .. 'd="M1,2 L3.5,4"></path><use transform="translate(1,2)" color="var(--text)" href="#f1-gpPt5"></use>'
      .. "<text>a &lt; b</text></g>", embedded [[
<defs> <circle id='gpPt5' r = '1'/> <filter id='greybox'><feFlood flood-color='white'/></filter></defs>
<g fill="none"> <use xlink:href='#gpPt5' transform='translate(1,2) scale(0.00)' color='#FFFFFF'/></g>
<g fill="none" stroke="rgb(  0, 114, 178)" stroke-linecap="butt"><path d='M1.00,2.00
  L3.50,4.00  ' class="x"/><use xlink:href='#gpPt5' transform='translate(1,2)' color='black'/>
<text><tspan font-family="Helvetica" >a &lt; b</tspan></text></g>]])
  end)

  it("loses its ground, and its title with the room for it", function()
    local text = embed.draw(picture_of('<rect x="0" y="0" width="500" height="300" fill="#ffffff"/><g '
      .. 'fill="rgb(27,31,37)"><text>the title</text></g><text>rest</text>'), "a < b", "f1-", "chart ladder").text
    assert.are.equal('<svg aria-label="a &lt; b" class="chart ladder" role=group viewBox="0 38 500 262"><text>rest'
      .. "</text></svg>", text)
  end)

  it("shows its hypertext as titles, and knows curves and their entries in the key", function()
    assert.are.equal('<g class="curve"><title>copy</title><g class="entry"><text>copy</text></g></g><g class="rest">'
      .. '<g class="point"><title>a &amp; b\nn: 1 &lt; 2</title><use href="#f1-gpPt1"></use></g></g>', embedded [[
<g id="gnuplot_plot_1" ><title>copy</title><g id="gnuplot_plot_1_keyentry" visibility="visible" onclick="x(evt)">
<text>copy</text></g></g>
<g id="gnuplot_plot_2" ><title>gnuplot_plot_2</title>
<g onmousemove="gnuplot_svg.showHypertext(evt,'a &amp; b\nn: 1 &lt; 2')" onmouseout="x()"><title> </title>
<use xlink:href='#gpPt1'/></g></g>]])
  end)

  it("brings no script, no address and no other element, whoever has written it", function()
    for inside, wanted in pairs {
      ["<script>alert(1)</script><g onclick='x(1)' fill='url(http://x)'><text>t</text></g>"] = "<g><text>t</text></g>",
      ["<script><![CDATA[ </script><text>x</text> ]]></script>"] = "",
      ["<use xlink:href='http://x#gpPt1' href='javascript:x'/><use xlink:href='#other'/>"] = "<use></use><use></use>",
      ["<foreignObject><text>x</text></foreignObject><style>*{}</style><image href='x'/>"] = "",
      ["<text onload=\"x\" style=\"a\" x=\"1;2\" y=\"&quot;\">a > b</text>"] = "<text>a &gt; b</text>",
      ["<g onmousemove=\"gnuplot_svg.showHypertext(evt,'<script>x</script>')\"><title> </title></g>"] =
        '<g class="point"><title>&lt;script&gt;x&lt;/script&gt;</title></g>',
      ["<!-- <script> --><text>t</text>"] = "<text>t</text>",
      ["<SCRIPT>alert(1)</SCRIPT><sVg><text>x</text></sVg>"] = "",
    } do
      assert.are.equal(wanted, embedded(inside), inside)
    end
  end)

  it("is absent if it is incomplete or another's", function()
    for _, inside in ipairs { "<text>a < b</text>", "<g fill='none>", "<g fill=none>", "<g>", "<", "</svg></p>" } do
      assert.is_nil(embedded(inside), inside)
    end
    assert.is_nil(embed.draw('<svg viewBox="0 0 1 1"><text>x</text></svg>', "", "", ""))
  end)
end)

describe("the charts of a report", function()
  local function study(...) return { runs = { ... } } end

  local function run_of(number, folder)
    local run = runs.make(number)
    run.folder, run.tag = folder or "/none", "run " .. number
    return run
  end

  local function texts_of(one)
    figure.draw { one }
    local list = {}
    for i, made in ipairs(one.figures) do list[i] = made.text end
    return list
  end

  it("are a run's own pictures", function()
    support.with_folder(function(folder)
      local run = run_of(1, folder)
      support.write(folder .. "/memcopy-threads.svg",
        picture_of "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'x')\"><title> </title><text>its own</text></g>")
      local texts = texts_of(study(run))
      assert.are.equal(2, #texts)
      has(texts[1], "its own")
      has(texts[1], "<span class=under>run 1</span>")
      has(texts[1], "<b>memcopy: T_tot against threads per block</b>")
    end)
  end)

  it("are drawn from the record without a picture, or with none that shows its values", function()
    if not has_gnuplot() then
      pending "needs gnuplot"
      return
    end
    support.with_folder(function(folder)
      for _, text in ipairs { picture_of "<text>old</text>", "<b>showHypertext", "" } do
        support.write(folder .. "/memcopy-threads.svg", text)
        local texts = texts_of(study(run_of(1, folder)))
        lacks(texts[1], "old")
        assert.are.equal(18, count(texts[1], 'class="point"'))
        has(texts[1], "<title>library copy\nthreads per block: 32\nT_tot: ")
        assert.are.equal(3, count(texts[1], 'class="curve"'))
        has(texts[2], 'class="chart ladder"')
        assert.are.equal(6 + 1, count(texts[2], 'class="point"'))
        has(texts[2], "<title>P100, same rung, source\nshared memory\nT_tot: ")
      end
    end)
  end)

  it("of several runs are one, with their ids apart", function()
    if not has_gnuplot() then
      pending "needs gnuplot"
      return
    end
    local texts = texts_of(study(run_of(1), run_of(7)))
    assert.are.equal(2, #texts)
    has(texts[1], "<title>run 1: library copy\n")
    has(texts[1], "logarithmic, because the runs are far apart")
    has(texts[1], "1024</text>") -- and along x, in powers of 2
    has(texts[1], 'id="f1-gpPt')
    has(texts[2], 'id="f2-gpPt')
    assert.are.equal(12 + 2, count(texts[2], 'class="point"'))
  end)

  it("are drawn in letters where gnuplot cannot draw them, and say why", function()
    local gnuplot = require "moonwarp.plot.gnuplot"
    local svg = gnuplot.svg
    gnuplot.svg = function() return "gnuplot is not installed" end
    local texts = texts_of(study(run_of(1)))
    gnuplot.svg = svg
    has(texts[1], "<pre aria-label")
    has(texts[1], "● library copy")
    has(texts[1], "Drawn in letters: gnuplot is not installed.")
    has(texts[2], "one warp in all")
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
  it("is embedded with its size, or said to be too large or absent", function()
    support.with_folder(function(folder)
      local run = { folder = folder, tag = "A" }
      support.write(folder .. "/film.gif", "GIF89a" .. ("<I2I2"):pack(64, 32) .. "....")
      local text = picture.figure(run, { name = "film", title = "a film" }, picture.budget()).text
      has(text, "data:image/gif;base64,R0lGODlh")
      has(text, "height=32 src=")
      has(picture.figure(run, { name = "film" }, { left = 3 }).text,
        "Left out, too large for a report: film.gif (14 B)")
      has(picture.figure(run, { name = "none" }, picture.budget()).text, "has no picture file")
      has(picture.figure(run, { name = "../x" }, picture.budget()).text, "has no picture file")
    end)
  end)
end)

describe("a report", function()
  it("has a summary, a section per study, and all of a run", function()
    local first, second = runs.make(1), runs.make(2)
    local text = page_of { first, second }
    for _, part in ipairs { '<section id=summary>', "<section id=study-memcopy>", "<section id=study-stencil>",
      "href=#study-memcopy-run-1", "<html lang=en>", "2 runs of 2 studies", html.escape(first.remarks[1].text),
      "36 measurements with their samples", "570.86", "1.980 GHz", "512.0 GiB", "41 to 63 °C",
      "idle, power cap", "700 W", "0123abc", "moonwarp run memcopy -p n=4096" } do
      has(text, part)
    end
    assert.are.equal(4, count(text, "<figure>"))
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
    assert.are.equal(2, count(text, "<figure>"))
    has(text, "AMD EPYC: library copy")
    has(text, "NVIDIA H200: library copy")
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
        "/broken</code>: it holds no record that can be read", "/empty</code>: it holds no run",
        "/no/such/folder</code>: there is no such folder", "interrupted" } do
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

  it("reads anything that a batch may hold", function()
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
      lacks(text, "it holds no run")
      for _, part in ipairs { "Batch &lt;night&gt;", ">copy<", "1.50 s", "1 of 2", "cannot be read",
        "timed out", "it &lt;hung&gt;", "1.00 MiB", "interrupted", "unfinished", "There is no run to report." } do
        has(text, part)
      end
    end)
  end)

  it("shows of a lab that passed after a resume nothing of its first try", function()
    support.with_folder(function(folder)
      assert(os.execute(("mkdir -p '%s/batch/a'"):format(folder)))
      support.write(folder .. "/batch/a/batch.json", '{"name":"night","steps":[{"id":"sum"}]}')
      support.write(folder .. "/batch/a/journal.jsonl", '{"kind":"begin","id":"sum"}\n{"kind":"end","id":"sum",'
        .. '"verdict":"killed","message":"killed with the batch"}\n{"kind":"resume"}\n{"kind":"begin","id":"sum"}\n'
        .. '{"kind":"end","id":"sum","verdict":"passed"}\n{"kind":"finish"}\n')
      local text = drawn { folder }
      has(text, ">passed<")
      lacks(text, "killed with the batch")
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
    local function seconds(run, number) return { value = run.records[number].t.median, unit = "s" } end
    package.loaded[NAME] = { runs = function(a, b)
      return { missing = { "gone" }, new = {}, counts = { slower = 1, same = 1, faster = 0, unclear = 0, changed = 0 },
        { key = "k", label = "copy", a = seconds(a, 1), b = seconds(b, 1), ratio = 1.25, low = 1.2, high = 1.3,
          verdict = "slower" },
        { key = "l", label = "triad", a = seconds(a, 2), b = seconds(b, 2), ratio = 1, low = 0.99, high = 1.01,
          verdict = "same" } }
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
      "Against the run of 2026-03-02", "Only in the earlier run: gone." } do
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

  it("says if there is no earlier run, or none can be compared", function()
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

  it("says what is missing and continues", function()
    support.with_folder(function(folder)
      runs.write(folder .. "/one", runs.make(1))
      local output = moonwarp(("'%s/none' '%s/one' --output '%s/r.html'"):format(folder, folder, folder))
      has(output, "/none: there is no such folder\n")
      has(output, "status 1")
    end)
  end)

  it("rejects wrong words", function()
    has(moonwarp "", "moonwarp: report wants a folder with runs, as out\nstatus 2")
    has(moonwarp "out --against /nowhere", "moonwarp: option '--against': /nowhere: there is no such folder\nstatus 2")
    support.with_folder(function(folder)
      runs.write(folder .. "/one", runs.make(1))
      has(moonwarp(("'%s' --output /nowhere/r.html"):format(folder)), "moonwarp: the report cannot be written: "
        .. "/nowhere/r.html.part: No such file or directory; choose another place with --output FILE\nstatus 1")
    end)
  end)
end)
