-- SPDX-License-Identifier: MIT
--
-- mw.ladder: its text in the terminal, its files, what it keeps, what it rejects; ladders of several runs.

local support = require "tests.support"
local bars = require "moonwarp.plot.bars"
local files = require "moonwarp.plot.bars_script"
local form = require "moonwarp.results.record_schema"
local gnuplot = require "moonwarp.plot.gnuplot"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local overlay = require "moonwarp.plot.overlay"
local store = require "moonwarp.results.store"
local text = require "moonwarp.plot.bars_text"
local mw, fails = support.mw, support.fails

local ROWS = {
  { rung = "library copy", T_eff = 4.2e12, low = 4.179e12, high = 4.221e12, share = 1 },
  { rung = "dim 1, broadcasts", T_eff = 1.1e12, low = 1.045e12, high = 1.155e12, share = 0.262 },
  { rung = "one thread in all", T_eff = 1e8, low = 0.99e8, high = 1.01e8, share = 1e8 / 4.2e12 },
  { rung = "naive", T_eff = 8.4e11, share = 0.2 },
}
for _, row in ipairs(ROWS) do row.device, row.device_name = "cuda:0", "NVIDIA H200" end

local SOURCE <const>, OTHER <const> = "P100, same rung, source", "H200, CUDA C++, source"

-- The defaults name fields of intervals and shares that some of the records have.
local function spec_of(more)
  local spec = { x = "T_eff", by = "rung", low = "low", high = "high", share = "share", records = ROWS, quiet = true,
                 level = { value = 4.2e12, label = "library copy" }, title = "cumsum", name = "rungs",
                 marks = { { bar = "naive", value = 4.2e11, label = SOURCE },
                           { bar = "dim 1, broadcasts", value = 1.3e12, label = SOURCE },
                           { bar = "naive", value = 2.1e12, label = OTHER } }, pictures = false }
  for key, value in pairs(more or {}) do spec[key] = value or nil end
  for _, name in ipairs { "low", "high", "share" } do
    local has_it = lists.find(spec.records, function(row) return type(row) ~= "table" or row[name] end)
    spec[name] = has_it and spec[name] or nil
  end
  return spec
end

local function with_ladder(more, body)
  support.with_folder(function(folder)
    body(support.into(folder, mw.ladder, spec_of(more)), folder)
  end)
end

-- The ladder that a run's record holds.
local function ladder_of(more)
  local chart
  with_ladder(more, function(_, folder)
    local record = assert(store.read(support.run(folder)))
    assert.are.equal(1, #record.charts)
    chart = record.charts[1]
  end)
  return chart
end

local function has_gnuplot()
  return os.execute "command -v gnuplot >/dev/null 2>&1"
end

-- What gnuplot says to a script: nothing, where all is well.
local function words_of_gnuplot(ladder)
  local words
  support.with_folder(function(folder)
    support.write(("%s/%s.gp"):format(folder, ladder.name), gnuplot.script(ladder, files.drawing(ladder), true))
    local pipe <close> = io.popen(("cd '%s' && gnuplot %s.gp 2>&1"):format(folder, ladder.name))
    words = pipe:read "a"
    assert.are.equal("\x89PNG", support.read(("%s/%s.png"):format(folder, ladder.name)):sub(1, 4))
    assert.is_truthy(support.read(("%s/%s.svg"):format(folder, ladder.name)):find("</svg>", 1, true))
  end)
  return words
end

local function widest(words)
  local most = 0
  for line in words:gmatch "[^\n]+" do most = math.max(most, utf8.len(line)) end
  return most
end

describe("a ladder in the terminal", function()
  it("has a bar a record, its value, half of its interval, its share, levels and marks", function()
    assert.are.equal([[
cumsum, NVIDIA H200 (cuda:0)
T_eff
library copy      █████████████████████████████████╎  4.20 TB/s ±0.50 %    100 %
dim 1, broadcasts ████████▉ P                      ╎  1.10 TB/s  ±5.0 %     26 %
one thread in all ▏                                ╎   100 MB/s  ±1.0 % 0.0024 %
naive             ███P██▊         H                ╎   840 GB/s             20 %
╎ library copy (4.200 TB/s) = 100 %   P P100, same rung, source
H H200, CUDA C++, source]], text.draw(ladder_of(), { width = 80, unicode = true }))
  end)

  it("is plain ASCII if the locale is", function()
    assert.are.equal([[
cumsum, NVIDIA H200 (cuda:0)
T_eff
library copy      ################################|  4.20 TB/s +-0.50 %    100 %
dim 1, broadcasts ######### P                     |  1.10 TB/s  +-5.0 %     26 %
one thread in all                                 |   100 MB/s  +-1.0 % 0.0024 %
naive             ###P###         H               |   840 GB/s              20 %
| library copy (4.200 TB/s) = 100 %   P P100, same rung, source
H H200, CUDA C++, source]], text.draw(ladder_of(), { width = 80, unicode = false }))
  end)

  it("leaves out intervals and the middles of names where there is little room", function()
    assert.are.equal([[
cumsum, NVIDIA H200 (cuda:0)
T_eff
libr…copy █████████╎  4.20 TB/s    100 %
dim …asts ██▋P     ╎  1.10 TB/s     26 %
one … all ▏        ╎   100 MB/s 0.0024 %
naive     P█  H    ╎   840 GB/s     20 %
╎ library copy (4.200 TB/s) = 100 %
P P100, same rung, source
H H200, CUDA C++, source]], text.draw(ladder_of(), { width = 40, unicode = true }))
  end)

  it("says where a logarithmic axis begins", function()
    assert.are.equal([[
cumsum, NVIDIA H200 (cuda:0)
T_eff (logarithmic, from 10.0 MB/s)
library copy      ███████████████████████████████╎ 4.20 TB/s
dim 1, broadcasts ███████████████████████████▊   ╎ 1.10 TB/s
one thread in all █████▌                         ╎  100 MB/s
naive             ███████████████████████████▏   ╎  840 GB/s
╎ library copy (4.200 TB/s)]], text.draw(ladder_of { logx = true, marks = false, share = false, low = false },
      { width = 60, unicode = true }))
  end)

  it("is never wider than the terminal", function()
    local long = ("name "):rep(30)
    local ladder = { kind = "ladder", title = long, xlabel = long, unit = "", levels = { { value = 1, label = long } },
                     bars = { { name = long, value = 123456789012345678, low = 1, high = 1e30, share = 1e9,
                                marks = { { value = 1, label = long } } } } }
    for _, unicode in ipairs { true, false } do
      for _, width in ipairs { 40, 41, 80, 120 } do
        assert.are.equal(width, widest(text.draw(ladder, { width = width, unicode = unicode })))
      end
    end
  end)

  it("draws nothing as nothing, and tiny values as the least", function()
    local ladder = ladder_of { records = { { rung = "none", T_eff = 0 }, { rung = "little", T_eff = 1 },
      { rung = "all", T_eff = 1e9 } }, marks = false, level = false }
    assert.are.equal([[
cumsum, no device
T_eff
none                               0 B/s
little ▏                        1.00 B/s
all    ██████████████████████  1.00 GB/s]], text.draw(ladder, { width = 40, unicode = true }))
  end)

  it("gives each label of marks its own letter, and two marks at a place two cells", function()
    local marks = {}
    for i, label in ipairs { "Paper", "P", "p", "1", "", "é" } do
      marks[i] = { bar = "naive", value = 4.2e12, label = label }
    end
    local ladder = ladder_of { marks = marks, level = false, share = false, low = false }
    local words = text.draw(ladder, { width = 60, unicode = false })
    assert.is_truthy(words:find("\nnaive             ######                    CB1pAP  840 GB/s\n", 1, true), words)
    assert.is_truthy(words:find("\nP Paper   A P   p p   1 1   B    C é", 1, true), words)
  end)
end)

describe("mw.ladder", function()
  it("writes columns under a commented header", function()
    with_ladder({ lines = { { value = 4.8e12, label = "peak" } } }, function(made)
      local data = support.read(made.dat)
      assert.are.equal([[
# block 0: bars
"place from the top" "T_eff (TB/s)" "low" "high" "share (%)" "half of the height" "name"
1 4.2 4.179 4.221 100 0.1757 "library copy"
2 1.1 1.045 1.155 26.2 0.1757 "dim 1, broadcasts"
3 0.0001 9.9e-05 0.000101 0.002380952381 0.1757 "one thread in all"
4 0.84 ? ? 20 0.1757 "naive"


# block 1: P100, same rung, source
"place from the top" "T_eff (TB/s)" "name"
2 1.3 "dim 1, broadcasts"
4 0.42 "naive"


# block 2: H200, CUDA C++, source
"place from the top" "T_eff (TB/s)" "name"
4 2.1 "naive"


# block 3: library copy (4.200 TB/s) = 100 %
"place from the top" "T_eff (TB/s)"
-0.2027 4.2
5 4.2


# block 4: peak (4.800 TB/s)
"place from the top" "T_eff (TB/s)"
-0.6081 4.8
5 4.8
]], data:match "(# block 0.*)$")
      assert.is_truthy(data:find("# device: NVIDIA H200 (cuda:0)\n", 1, true))
      assert.is_nil(made.png)
    end)
  end)

  it("writes a script that gnuplot takes without a word, for one bar and for many", function()
    if not has_gnuplot() then
      pending("needs gnuplot")
      return
    end
    local many = {}
    for i = 1, 60 do many[i] = { rung = ("It's \"rung\" `%d`"):format(i), T_eff = 1e9 * i, share = i / 60 } end
    for _, more in ipairs { {}, { logx = 10 }, { records = { ROWS[4] }, marks = false, level = false, low = false },
      { records = many, marks = false, low = false, logx = 2 }, { records = many, marks = false, lines = { 6e10 } } } do
      assert.are.equal("", words_of_gnuplot(ladder_of(more)))
    end
  end)

  it("makes the picture as high as its bars need", function()
    local function height(count)
      local list = {}
      for i = 1, count do list[i] = { rung = i, T_eff = i } end
      local ladder = ladder_of { records = list, marks = false, level = false }
      local script = gnuplot.script(ladder, files.drawing(ladder))
      return tonumber(script:match "svg size 500,(%d+)"), tonumber(script:match "pngcairo size 1125,(%d+)")
    end
    assert.are.same({ 158, 355 }, { height(1) })
    assert.are.same({ 158 + 59 * 37, (158 + 59 * 37) * 1125 // 500 }, { height(60) })
  end)

  it("draws pictures where gnuplot is installed", function()
    if not has_gnuplot() then
      pending("needs gnuplot")
      return
    end
    with_ladder({ pictures = true }, function(made)
      assert.is_nil(made.reason)
      assert.are.equal("\x89PNG", support.read(made.png):sub(1, 4))
      assert.is_truthy(support.read(made.svg):find("dim 1, broadcasts", 1, true))
    end)
  end)

  it("keeps all that is needed to draw it again, in base units", function()
    local ladder = ladder_of { records = { ROWS[2], ROWS[4] }, logx = true }
    assert.are.equal(10, ladder.logx)
    ladder.date, ladder.script, ladder.logx = nil, nil, nil
    assert.are.same({
      kind = "ladder", name = "rungs", title = "cumsum, NVIDIA H200 (cuda:0)", xlabel = "T_eff", unit = "B/s",
      device = "NVIDIA H200 (cuda:0)", levels = { { value = 4.2e12, label = "library copy (4.200 TB/s) = 100 %" } },
      bars = { { name = "dim 1, broadcasts", value = 1.1e12, low = 1.045e12, high = 1.155e12, share = 0.262,
                 marks = { { value = 1.3e12, label = SOURCE } } },
               { name = "naive", value = 8.4e11, share = 0.2,
                 marks = { { value = 4.2e11, label = SOURCE }, { value = 2.1e12, label = OTHER } } } },
    }, ladder)
  end)

  it("joins the fields of a name that a record has, lists as sizes", function()
    local ladder = ladder_of { by = { "rung", "block", "t.mode" }, marks = false, records = {
      { rung = "copy", T_eff = 1 }, { rung = "tiled", block = { 32, 8 }, T_eff = 1, t = { mode = "hot" } },
      { rung = 3, block = true, T_eff = 1 }, { other = 1, T_eff = 1 }, { rung = "two\nlines", T_eff = 1 } } }
    local names = {}
    for i, bar in ipairs(ladder.bars) do names[i] = bar.name end
    assert.are.same({ "copy", "tiled, 32 x 8, hot", "3, true", "two lines" }, names)
  end)

  it("leaves out records that an axis cannot show, and marks and levels too", function()
    local rows = { { rung = "a", T_eff = -1 }, { rung = "b", T_eff = 0 / 0 }, { rung = "c", T_eff = "1" },
                   { rung = "d", T_eff = 0 }, { rung = "e", T_eff = 1 } }
    local function names(more)
      more.records, more.marks = rows, { { bar = "e", value = 0, label = "m" } }
      local ladder, list = ladder_of(more), {}
      for i, bar in ipairs(ladder.bars) do list[i] = bar.name end
      return table.concat(list, " "), #ladder.levels, #(ladder.bars[#list].marks or {})
    end
    assert.are.same({ "d e", 1, 1 }, { names { level = 0 } })
    assert.are.same({ "e", 0, 0 }, { names { level = 0, logx = 2 } })
  end)

  it("makes each combination of a sweep a bar, unless its name shows them", function()
    local rows = {}
    for _, n in ipairs { 64, 7 } do
      for _, rung in ipairs { "naive", "tiled" } do
        rows[#rows + 1] = { params = { n = n }, n = n, rung = rung, y = n }
      end
    end
    local function names(by)
      local ladder, list = ladder_of { x = "y", by = by, records = rows, level = false,
        marks = by == "rung" and { { bar = "naive", value = 9, label = "m" } } or false }, {}
      for i, bar in ipairs(ladder.bars) do list[i] = bar.name .. (bar.marks and " *" or "") end
      return list
    end
    assert.are.same({ "naive, n = 64 *", "tiled, n = 64", "naive, n = 7 *", "tiled, n = 7" }, names "rung")
    assert.are.same({ "naive, 64", "tiled, 64", "naive, 7", "tiled, 7" }, names { "rung", "n" })
  end)

  it("is drawn by the last pass of a sweep, and in each pass of its own records", function()
    support.with_folder(function(folder)
      local output = support.child_passes(([[
        local mw, current = require "moonwarp", require("moonwarp.session").current
        current.options.out = %q
        current.given, current.pass = { n = { "1", "2" } }, { n = { "1" } }
        mw.arg("n", 1)
        local r = mw.record { rung = "a", y = 1 }
        current.more = true
        local made = mw.ladder { x = "y", by = "rung", quiet = true }
        print(made.reason, made.gp, made.chart:match "[^\n]*$")
        made = mw.ladder { x = "y", by = "rung", records = { r }, quiet = true, name = "L", pictures = false }
        print(made.dat:match "[^/]*$", made.chart:match "^[^\n]*")
      ]]):format(folder), { env = { LC_ALL = "C", COLUMNS = 40 } })
      output = output:gsub("results: [^\n]*\n?", "") -- only of the program
      assert.are.equal("the sweep goes on; its last run draws\tnil\ta ################################  1.00\n"
        .. "L-n-1.dat\ty by rung, n = 1, no device\n", output)
    end)
  end)

  it("says what is wrong with its options", function()
    local function rejected(more, message)
      fails(function() mw.ladder(spec_of(more)) end, "mw.ladder: " .. message)
    end
    fails(function() mw.ladder(1) end, "mw.ladder: options must be a table, got number")
    rejected({ x = false }, "option 'x' is needed: the field that a bar's length shows")
    rejected({ by = false }, "option 'by' is needed: the field, or list of fields, that names a bar")
    rejected({ by = {} }, "option 'by' names no field, which would name a bar")
    rejected({ by = { "rung", 2 } }, "option 'by'[2] must be a string, got number")
    rejected({ by = 2 }, "option 'by' must be a table, got number")
    rejected({ x = 1 }, "option 'x' must be a string, got number")
    rejected({ mark = {} }, "unknown option 'mark'; did you mean 'marks'?")
    rejected({ records = { ROWS[1], 5 } }, "option 'records'[2] must be a table, got number")
    rejected({ logx = 1 }, "option 'logx' must be a base of at least 1.01, as 2 or 10, got 1")
    rejected({ level = { label = "x" } }, "a line must be a number or { value = number, label = text }")
    rejected({ level = { value = 1, lable = "x" } }, "a line: unknown option 'lable'; did you mean 'label'?")
    rejected({ lines = { value = 1 } }, "option 'lines' must be a list")
  end)

  it("says which field no record has", function()
    local function rejected(more, message)
      fails(function() mw.ladder(spec_of(more)) end, "mw.ladder: " .. message)
    end
    rejected({ x = "T_ef" }, "no record has a field 'T_ef'; did you mean 'T_eff'?")
    rejected({ x = "rung" }, "no record has 'rung' as a number of at least 0")
    rejected({ x = "rung", logx = true }, "no record has 'rung' as a number above 0")
    rejected({ by = { "rung", "rong" } }, "no record has a field 'rong'; did you mean 'rung'?")
    rejected({ records = {} }, "there are no records; mw.record makes them")
  end)

  it("says what is wrong with a mark", function()
    local function rejected(marks, message)
      fails(function() mw.ladder(spec_of { marks = marks }) end, "mw.ladder: " .. message)
    end
    rejected({ 1 }, "option 'marks'[1] must be a table, got number")
    rejected({ { bar = "naive", value = 1 } }, "option 'marks'[1].label must be a string, got nil")
    rejected({ { bar = "naive", value = "1", label = "a" } }, "option 'marks'[1].value must be a number, got string")
    rejected({ { bar = "naiv", value = 1, label = "a" } }, "a mark names no bar: 'naiv'; did you mean 'naive'?")
    rejected({ { bar = "CUB", value = 1, label = "a" } },
      "a mark names no bar: 'CUB'; there is dim 1, broadcasts, library copy, naive, one thread in all")
  end)

  it("names the script's line in a mistake", function()
    for _, more in ipairs { { x = false }, { by = { 1 } }, { level = { label = "x" } }, { x = "none" },
      { marks = { { bar = "none", value = 1, label = "a" } } }, { marks = { { bar = "naive" } } }, { logx = 1 } } do
      local _, message = pcall(function() mw.ladder(spec_of(more)) end)
      assert.is_truthy(tostring(message):find("^[^\n]*ladder_spec%.lua:%d+: "), tostring(message))
    end
  end)
end)

describe("ladders of several runs", function()
  local function run_of(device, factor, more)
    local list = {}
    for i, row in ipairs(ROWS) do
      list[i] = { name = row.rung, value = row.T_eff * factor, low = row.low and row.low * factor,
                  high = row.high and row.high * factor, share = row.share }
    end
    list[4].marks = { { value = 4.2e11, label = SOURCE } }
    local chart = { kind = "ladder", name = "rungs", title = ("cumsum, %s (%s)"):format(device, device), unit = "B/s",
                    xlabel = "T_eff", device = device, script = "s", date = "d", bars = list,
                    levels = { { value = 4.2e12 * factor, label = "copy = 100 %" } } }
    for key, value in pairs(more or {}) do chart[key] = value end
    return { device_name = device, date = "2026-01-02T03:04:05Z", charts = { chart } }
  end

  it("stand side by side by name, what only one has below, each source's mark once", function()
    local a, b = run_of("A", 1), run_of("B", 0.5)
    table.remove(a.charts[1].bars, 2)
    local made = overlay.charts { a, b }
    assert.are.equal(1, #made)
    assert.are.equal("cumsum, A, B", made[1].title)
    assert.are.equal([[
cumsum, A, B
T_eff
library copy      ███████████┊███████████╎  4.20 TB/s ±0.50 %    100 %
                  ▓▓▓▓▓▓▓▓▓▓▓┊           ╎  2.10 TB/s ±0.50 %    100 %
one thread in all ▏          ┊           ╎   100 MB/s  ±1.0 % 0.0024 %
                             ┊           ╎  50.0 MB/s  ±1.0 % 0.0024 %
naive             ██P█▊      ┊           ╎   840 GB/s             20 %
                  ▓▓         ┊           ╎   420 GB/s             20 %
dim 1, broadcasts ▓▓▓        ┊           ╎   550 GB/s  ±5.0 %     26 %
█ A   ▓ B   ╎ A: copy = 100 %   ┊ B: copy = 100 %
P P100, same rung, source]], text.draw(made[1], { width = 70, unicode = true }))
    if has_gnuplot() then assert.are.equal("", words_of_gnuplot(made[1])) end
  end)

  it("keep two bars of one name in a run apart", function()
    local function one(first, second)
      return { bars = { { name = "a", value = first }, { name = "a", value = second } }, levels = {} }
    end
    local merged = bars.merge({}, { one(1, 2), one(3, 4) }, { "A", "B" })
    local values, groups = {}, bars.groups(merged)
    for i, bar in ipairs(merged.bars) do values[i] = bar.value end
    assert.are.same({ 1, 3, 2, 4 }, values)
    assert.are.equal(2, #groups)
  end)

  it("are no one chart with another kind or unit of the same name, nor in one file", function()
    local plot = { name = "rungs", title = "T", xlabel = "x", ylabel = "y", device = "d", script = "s", date = "d",
                   levels = {}, series = { { name = "T", points = { { x = 1, y = 2 } } } } }
    local made = overlay.charts { run_of("A", 1), run_of("B", 1, { unit = "s" }), { charts = { plot } } }
    local names = {}
    for i, figure in ipairs(made) do names[i] = ("%s %s %s"):format(figure.name, figure.kind, figure.unit) end
    assert.are.same({ "rungs ladder B/s", "rungs-2 ladder s", "rungs-3 nil " }, names)
  end)

  it("pass over a kind of chart that they do not know", function()
    local run = run_of("A", 1)
    table.insert(run.charts, 1, { kind = "pie", name = "p", title = "P", device = "d", script = "s", date = "d" })
    assert.are.equal("rungs", overlay.charts({ run })[1].name)
    local record = { schema = "s", study = "s", status = "complete", records = {}, checks = {}, tables = {},
                     remarks = {}, pictures = {}, sources = {}, charts = run.charts }
    assert.is_nil(form.problem(record))
    run.charts[2].bars[1].value = "1"
    assert.are.equal("charts[2].bars[1].value must be a number, got string", form.problem(record))
    run.charts[2].bars = {}
    assert.are.equal("charts[2].bars must have an element at least", form.problem(record))
  end)

  it("are drawn by the command, and reported", function()
    local program = support.program()
    if not program then
      pending "needs the program"
      return
    end
    support.with_folder(function(folder)
      for i, run in ipairs { run_of("A", 1), run_of("B", 0.5) } do
        run.schema, run.study, run.status, run.device = "moonwarp-record/1", "s", "complete", "cpu"
        for _, name in ipairs { "records", "checks", "tables", "remarks", "pictures", "sources" } do
          run[name] = setmetatable({}, json.list)
        end
        os.execute(("mkdir -p '%s/s/%d'"):format(folder, i))
        support.write(("%s/s/%d/record.json"):format(folder, i), json.encode(run))
      end
      local function moonwarp(words)
        local pipe <close> = io.popen(("cd '%s' && COLUMNS=70 LC_ALL=C '%s' %s 2>&1"):format(folder, program, words))
        return pipe:read "a"
      end
      local output = moonwarp "plot s/1 s/2 --to drawn"
      assert.is_truthy(output:find("\nnaive             ##P##", 1, true), output)
      assert.is_truthy(support.read(folder .. "/drawn/rungs.gp"):find("boxxyerror", 1, true))
      assert.is_truthy(moonwarp("report s --output r.html"):find("report: r.html, 2 runs", 1, true))
      local page = support.read(folder .. "/r.html")
      assert.is_truthy(page:find(has_gnuplot() and 'class="chart ladder"' or "Drawn in letters", 1, true))
      assert.is_truthy(moonwarp("export s --json"):find('"kind":"ladder"', 1, true))
    end)
  end)
end)
