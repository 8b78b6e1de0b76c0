-- SPDX-License-Identifier: MIT
--
-- mw.plot: the data file, the gnuplot script, the pictures, the terminal's chart.

local session = require "moonwarp.session"
local support = require "tests.support"
local chart = require "moonwarp.plot.chart"
local series = require "moonwarp.plot.series"
local core, mw = support.core, support.mw
local fails = support.fails

local ROWS = {}
for _, row in ipairs { { 32, 302 }, { 64, 480 }, { 256, 561 }, { 1024, 540 } } do
  for i, kind in ipairs { "copy", "triad" } do
    ROWS[#ROWS + 1] = { device = "cuda:0", device_name = "Tesla P100", threads = row[1], kind = kind,
                        T_tot = row[2] * (i == 1 and 1e9 or 9e8) }
  end
end

local function with_plot(spec, body)
  support.with_folder(function(folder)
    spec.x, spec.y, spec.records, spec.quiet = spec.x or "threads", spec.y or "T_tot", spec.records or ROWS, true
    body(support.into(folder, mw.plot, spec), folder)
  end)
end

local function has_gnuplot()
  return os.execute "command -v gnuplot >/dev/null 2>&1"
end

describe("mw.plot", function()
  it("writes columns under a commented header with units, device and date", function()
    with_plot({ by = "kind", logx = 2, peak = 732e9, pictures = false }, function(made)
      local text = support.read(made.dat)
      assert.is_truthy(text:find("# device: Tesla P100 (cuda:0)\n", 1, true))
      assert.is_truthy(text:find("# moonwarp " .. core.version .. ", Lua 5.4\n", 1, true))
      assert.is_truthy(text:find("# date: %d%d%d%d%-%d%d%-%d%d"))
      local heads = '"threads" "%s, T_tot (GB/s)"\n'

      assert.is_truthy(text:find("# series 0: copy\n" .. heads:format "copy"
        .. "32 302\n64 480\n256 561\n1024 540\n\n\n"
        .. "# series 1: triad\n" .. heads:format "triad" .. "32 271.8\n", 1, true))
      assert.is_truthy(text:find("# level: 732 peak (732.0 GB/s)\n", 1, true))
    end)
  end)

  it("marks an axis of powers of 2 at powers of 2, wherever it begins", function()
    with_plot({ logx = 2, pictures = false }, function(made)
      assert.is_truthy(support.read(made.gp):find("set xtics ('32' 32, '64' 64, ", 1, true))
    end)
  end)

  it("marks it below 1 as well, and at fewer powers if there are many", function()
    for _, case in ipairs { { 0.07, 900, "('0.125' 0.125, '0.5' 0.5, '2' 2, " }, { 0.3, 700, "('0.5' 0.5, '1' 1, " },
                            { 3, 5, "('3' 3, '3.5' 3.5, '4' 4, " } } do
      local rows = { { device = "cpu", x = case[2], y = 1 }, { device = "cpu", x = case[1], y = 2 } }
      with_plot({ x = "x", y = "y", logx = 2, records = rows, pictures = false }, function(made)
        assert.is_truthy(support.read(made.gp):find(case[3], 1, true), support.read(made.gp))
      end)
    end
  end)

  it("marks whole numbers only if an axis counts", function()
    for _, case in ipairs { { 3, true }, { 2.5, false }, { 40, false } } do
      local rows = { { device = "cpu", x = 1, y = 1 }, { device = "cpu", x = case[1], y = 2 } }
      with_plot({ x = "x", y = "y", records = rows, pictures = false }, function(made)
        local found = support.read(made.gp):find("set xtics ('1' 1, '2' 2, '3' 3)", 1, true)
        assert.are.equal(case[2], found ~= nil, case[1])
      end)
    end
  end)

  it("leaves room beside isolated points on such an axis", function()
    local rows = { { device = "cpu", x = 1, y = 1 }, { device = "cpu", x = 3, y = 2 } }
    for points, room in pairs { [true] = false, alone = true } do
      with_plot({ x = "x", y = "y", records = rows, points = points, pictures = false }, function(made)
        assert.are.equal(room, support.read(made.gp):find "\n0.5 0\n3.5 2\n" ~= nil)
      end)
    end
  end)

  it("has two labelled ticks at least on a logarithmic axis, 1, 2 and 5 below two decades", function()
    for _, case in ipairs { { 10, 3, 40, "('5' 5, '10' 10, '20' 20)" }, { 10, 3, 4, "('3' 3, '3.5' 3.5, '4' 4)" },
                            { 10, 1, 1000, "('1' 1, '10' 10, '100' 100, '1000' 1000)" },
                            { 2, 200, 300, "('200' 200, '250' 250, '300' 300)" } } do
      local rows = { { device = "cpu", x = case[2], y = 1 }, { device = "cpu", x = case[3], y = 2 } }
      with_plot({ x = "x", y = "y", logx = case[1], records = rows, pictures = false }, function(made)
        local script = support.read(made.gp)
        assert.is_truthy(script:find("set xtics " .. case[4] .. "\n", 1, true), script)
      end)
    end
  end)

  it("shows the error bars of series at one x beside each other", function()
    local rows = {}
    for i, kind in ipairs { "a", "b", "a", "b" } do
      rows[i] = { device = "cpu", x = i <= 2 and 1 or 101, y = 4, low = 3, high = 5, kind = kind }
    end
    local spec = { x = "x", y = "y", by = "kind", low = "low", high = "high", records = rows, pictures = false }
    with_plot(spec, function(made)
      local script = support.read(made.gp)
      for i, at in ipairs { "-0.315", "0.315" } do
        assert.is_truthy(script:find(("data index %d using ($3 < $4 ? $1+%s : NaN):2:3:4 with yerrorbars"):format(i - 1,
          at), 1, true), script)
        assert.is_truthy(script:find(("data index %d using ($1+%s):2 with linespoints"):format(i - 1, at), 1, true))
      end
    end)
  end)

  it("writes powers of 2 on an axis of counts in full", function()
    with_plot({ logx = 2, pictures = false }, function(made)
      assert.is_truthy(support.read(made.gp):find("'1024' 1024)\n", 1, true))
    end)
  end)

  it("draws points with lines, only lines and only points", function()
    for points, style in pairs { [true] = "linespoints", [false] = "lines", alone = "points" } do
      with_plot({ points = points, by = "kind", pictures = false }, function(made)
        assert.is_truthy(support.read(made.gp):find(("using 1:2 with %s lw 2 lc rgb '#0072b2' dt 1 pt 7 ps 0.7 title")
          :format(style), 1, true))
      end)
    end
  end)

  it("gives each of many series its own look", function()
    local rows, looks, count = {}, {}, 0
    for i = 1, 20 do rows[i] = { device = "cpu", x = 1, y = i, by = i } end
    with_plot({ x = "x", y = "y", by = "by", records = rows, pictures = false }, function(made)
      for look in support.read(made.gp):gmatch "linespoints lw 2 (.-) title" do
        assert.is_nil(looks[look])
        looks[look], count = true, count + 1
      end
    end)
    assert.are.equal(20, count)
  end)

  it("shows the values of points as hypertext, whatever is in their names, and of some if there are many", function()
    local rows = { { device = "cpu", x = 1, y = 2e9, name = [[it's "a\b" <i> 50 % `x`]] } }
    local spec = { x = "x", y = "y", by = "name", unit = "B/s", records = rows }
    with_plot(spec, function(made)
      assert.is_truthy(support.read(made.gp):find(
        [[sprintf("it’s ”a∖b” <i> 50 %% \140x\140\012x: %.6g\012y: %.6g GB/s", $1, $2)]], 1, true))
      local svg = made.svg and support.read(made.svg)
      if svg then
        assert.is_truthy(svg:find([[showHypertext(evt,'it’s ”a∖b” &lt;i> 50 % `x`\nx: 1\ny: 2 GB/s')]], 1, true))
        assert.is_truthy(svg:find("var gnuplot_svg", 1, true) or svg:find("gnuplot_svg = function", 1, true))
      end
    end)
    for i = 1, 400 do rows[i] = { device = "cpu", x = i, y = 1, name = "n" } end
    spec.pictures = false
    with_plot(spec, function(made)
      assert.is_truthy(support.read(made.gp):find("index 0 every 3 using 1:2:(sprintf(", 1, true))
    end)
  end)

  it("writes a script that draws the data file beside it", function()
    with_plot({ name = "alone", pictures = false }, function(made, folder)
      assert.is_nil(made.png)
      if not has_gnuplot() then
        pending("needs gnuplot")
        return
      end
      folder = support.run(folder)
      assert.is_true(os.execute(("cd %s && gnuplot alone.gp 2>/dev/null"):format(folder)))
      assert.are.equal("\x89PNG", support.read(folder .. "/alone.png"):sub(1, 4))
      assert.is_truthy(support.read(folder .. "/alone.svg"):find("</svg>", 1, true))
    end)
  end)

  it("draws pictures where gnuplot is installed", function()
    if not has_gnuplot() then
      pending("needs gnuplot")
      return
    end
    with_plot({ title = "It's \"quoted\" $x", low = "T_tot", high = "T_tot", y = { "T_tot" } }, function(made)
      assert.is_nil(made.reason)
      assert.are.equal("\x89PNG", support.read(made.png):sub(1, 4))
    end)
  end)

  it("does without gnuplot, and says so", function()
    support.with_folder(function(folder)
      -- a PATH with what the child and the library need, and no gnuplot
      for _, tool in ipairs { "env", "timeout", "mkdir", "sh", "lua5.4" } do
        os.execute(("ln -s \"$(command -v %s)\" '%s/' 2>/dev/null"):format(tool, folder))
      end
      local output = support.child_passes(([[
        local mw = require "moonwarp"
        require("moonwarp.session").current.options.out = %q
        mw.record { device = "cpu", x = 1, y = 2 }
        local made = mw.plot { x = "x", y = "y", name = "p" }
        assert(made.gp and made.dat and not made.png)
      ]]):format(folder), { env = { PATH = folder } })
      assert.is_truthy(output:find("no pictures: gnuplot is not installed", 1, true), output)
      assert.is_truthy(support.read(support.run(folder) .. "/p.gp"):find("data = 'p.dat'", 1, true))
    end)
  end)

  it("names the device in its title", function()
    with_plot({ title = "ladder", pictures = false }, function(made)
      assert.is_truthy(made.chart:find("ladder, Tesla P100 (cuda:0)", 1, true))
    end)
  end)

  it("makes each combination of a sweep a series, and leaves the drawing to its last run", function()
    local rows = {}
    for _, n in ipairs { 1024, 2048 } do
      rows[#rows + 1] = { params = { n = n, name = "a" }, x = 1, y = n }
      rows[#rows + 1] = { params = { n = n, name = "a" }, x = 2, y = 2 * n }
    end
    with_plot({ x = "x", y = "y", records = rows, pictures = false }, function(made)
      local text = support.read(made.dat)
      assert.is_truthy(text:find('# series 0: n = 1024\n"x" "n = 1024, y"\n1 1024\n2 2048\n\n\n# series 1: n = 2048\n',
        1, true))
    end)
  end)

  it("keeps the combinations of a sweep apart within each group, unless an axis shows them", function()
    local rows = {}
    for _, n in ipairs { 64, 7 } do
      for _, kind in ipairs { "copy", "triad" } do
        for x = 1, 2 do rows[#rows + 1] = { params = { n = n }, n = n, x = x, y = n * x, kind = kind } end
      end
    end
    with_plot({ x = "x", y = "y", by = "kind", records = rows, pictures = false }, function(made)
      local text = support.read(made.dat)
      assert.is_truthy(text:find('copy, n = 64\n"x" "copy, n = 64, y"\n1 64\n2 128\n\n\n# series 1: triad, n = 64\n',
        1, true))
      assert.is_truthy(text:find('# series 2: copy, n = 7\n"x" "copy, n = 7, y"\n1 7\n2 14\n\n\n', 1,
        true))
    end)
    for _, x in ipairs { "n", "params.n" } do
      with_plot({ x = x, y = "y", by = "kind", records = rows, pictures = false }, function(made)
        assert.is_truthy(support.read(made.dat):find(("# series 0: copy\n\"%s\" \"copy, y\"\n7 "):format(x), 1, true))
      end)
    end
  end)

  it("leaves a chart for every pass of a sweep that draws its own records", function()
    support.with_folder(function(folder)
      local names = {}
      for _, n in ipairs { "300", "400" } do
        session.current.given = { n = { "300", "400" }, k = { "1", "2" } }
        session.current.pass = { n = { n }, k = { "1", "2" } }
        local spec = { x = "threads", y = "T_tot", records = ROWS, quiet = true, pictures = false, name = "one",
                       title = "T" }
        local made = support.into(folder, mw.plot, spec)
        names[#names + 1] = made.dat:match "[^/]*$"
        assert.is_truthy(support.read(made.gp):find("T, n = " .. n, 1, true))
        local columns = { "threads", records = ROWS, quiet = true, title = "T" }
        assert.is_truthy(mw.table(columns):find("T, n = " .. n, 1, true))
      end
      session.current.given, session.current.pass = {}, {}
      assert.are.same({ "one-n-300.dat", "one-n-400.dat" }, names)
    end)
  end)

  it("begins at 0 only where nothing is below", function()
    for y, from_zero in pairs { [3] = true, [-3] = false } do
      with_plot({ x = "x", y = "y", records = { { x = 1, y = 1 }, { x = 2, y = y } }, pictures = false }, function(made)
        assert.are.equal(from_zero, support.read(made.gp):find "$frame << [^\n]+\n%S+ 0\n" ~= nil)
      end)
    end
  end)

  it("rejects invalid lines", function()
    local spec = { x = "x", y = "y", records = { { x = 1, y = 2 } } }
    local function rejected(key, value, message)
      fails(function()
        mw.plot { x = "x", y = "y", records = spec.records, [key] = value }
      end, "mw.plot: " .. message)
    end
    rejected("peak", { label = "x" }, "a line must be a number or { value = number, label = text }")
    rejected("peak", { value = 1, lable = "x" }, "a line: unknown option 'lable'; did you mean 'label'?")
    rejected("lines", { { value = 1, lable = "x" } }, "a line: unknown option 'lable'; did you mean 'label'?")
    rejected("lines", { value = 1 }, "option 'lines' must be a list")
  end)

  it("rejects what it cannot draw", function()
    fails(function() mw.plot(1) end, "mw.plot: options must be a table, got number")
    fails(function() mw.plot { y = "y" } end, "mw.plot: option 'x' is needed: the field along the x axis")
    fails(function() mw.plot { x = "x", y = "y", logx = 1 } end,
      "mw.plot: option 'logx' must be a base of at least 1.01, as 2 or 10, got 1")
    fails(function() mw.plot { x = "x", y = "y", points = "all" } end,
      "mw.plot: option 'points' must be true, false or 'alone', got 'all'")
    fails(function() mw.plot { x = "x", y = "y", records = {} } end,
      "mw.plot: there are no records; mw.record makes them")
    fails(function() mw.plot { x = "x", y = "y", color = "red" } end,
      "mw.plot: unknown option 'color'; it takes by, high, lines, logx, logy, low, name, peak, pictures, points, "
      .. "quiet, records, square, title, unit, x, xlabel, xmax, xmin, xunit, y, ylabel, ymax, ymin")
  end)
end)

describe("a stored chart", function()
  it("holds base units, and the axes choose theirs", function()
    with_plot({ by = "kind", logx = 2, peak = 732e9, pictures = false }, function(_, folder)
      local stored = require("moonwarp.results.store").read(support.run(folder)).charts[1]
      assert.are.same({ "threads", "T_tot", "", "B/s" }, { stored.xlabel, stored.ylabel, stored.xunit, stored.unit })
      assert.are.same({ 302e9, 732e9 }, { stored.series[1].points[1].y, stored.levels[1].value })
      local fitted = series.fitted(stored)
      assert.are.same({ "T_tot (GB/s)", 302.0, 732.0 },
        { fitted.ylabel, fitted.series[1].points[1].y, fitted.levels[1].value })
    end)
  end)
end)

describe("the terminal's chart", function()
  local function draw(more)
    local spec = { series = { { name = "copy", points = { { x = 1, y = 10 }, { x = 4, y = 40 } } } },
                   levels = { { value = 50, label = "peak" } }, title = "T", xlabel = "x", ylabel = "y (GB/s)",
                   width = 40, height = 8 }
    for key, value in pairs(more) do spec[key] = value end
    return chart.draw(spec, spec)
  end

  it("has markers, a level, labels and a legend in its width", function()
    for _, unicode in ipairs { true, false } do
      local text = draw { unicode = unicode, logx = 2 }
      for line in text:gmatch "[^\n]+" do assert.is_true(utf8.len(line) <= 40, line) end
      assert.is_truthy(text:find("y (GB/s)", 1, true))
      assert.is_truthy(text:find(unicode and "╌╌╌ peak\n" or "--- peak\n", 1, true), text)
      assert.is_nil(text:find("copy", 1, true)) -- a single series needs no name
      assert.is_truthy(text:find("1%s+2%s+4"))
    end
  end)

  it("keeps the longest labels of its legend in its width", function()
    local text = draw { unicode = true, levels = { { value = 50, label = ("peak "):rep(20) .. "end" } } }
    assert.is_truthy(text:find("\n    ╌╌╌ peak peak peak…eak peak peak end$"), text)
    for line in text:gmatch "[^\n]+" do assert.is_true(utf8.len(line) <= 40, line) end
  end)

  it("joins points by lines, unless they are isolated", function()
    local DOTS = "\xe2[\xa0-\xa3]" -- U+2800 to U+28FF
    assert.is_truthy(draw({ unicode = true }):find(DOTS))
    local alone = draw { unicode = true, style = "points" }
    assert.is_nil(alone:find(DOTS))
    assert.are.equal(2, select(2, alone:gsub("●", "")))
  end)

  it("is plain ASCII if the locale is", function()
    assert.is_nil(draw({ unicode = false }):find "[\x80-\xff]")
  end)

  it("marks only whole numbers if there are no others", function()
    local function marks(...)
      local points = {}
      for i, x in ipairs { ... } do points[i] = { x = x, y = 1 } end
      local text = draw { unicode = true, levels = {}, width = 60, series = { { name = "s", points = points } } }
      return text:match("┴[^\n]*\n([^\n]*)\n"):gsub("^%s+", ""):gsub("%s+", " ")
    end
    assert.are.equal("1 2 3", (marks(1, 2, 3)))
    assert.are.equal("0 1 2", (marks(1)))
    assert.are.equal("1 1.2 1.4 1.6 1.8 2 2.2 2.4", (marks(1, 2.5)))
  end)

  it("stands one point, and none", function()
    assert.is_truthy(draw { series = { { name = "a", points = { { x = 3, y = 3 } } } } })
    assert.are.equal("", draw { series = { { name = "a", points = {} } }, levels = {} })
  end)
end)
