-- SPDX-License-Identifier: MIT
--
-- Charts of numbers and texts that once broke them.

local support = require "tests.support"
local chart = require "moonwarp.plot.chart"
local mw = support.mw
local fails = support.fails

local function with_plot(spec, body)
  support.with_folder(function(folder)
    spec.quiet = true
    body(support.into(folder, mw.plot, spec), folder)
  end)
end

describe("a chart", function()
  -- Levels had no length, since they reach from the least x to the greatest.
  it("leaves room for its levels beside a single x", function()
    local rows = { { device = "cpu", x = 256, y = 1 } }
    with_plot({ x = "x", y = "y", logx = 2, records = rows, pictures = false, peak = 2 }, function(made)
      local text = support.read(made.gp)
      assert.is_truthy(text:find(
        "set xtics ('256' 256, '512' 512)\n", 1, true) and text:find "\n251.6%d+ 0\n520.9%d+ %S+\n", text)
    end)
  end)

  -- gnuplot rejected the script for a level or a bar that a logarithm does not know.
  it("leaves out what an axis cannot show", function()
    local rows = { { x = 0, y = 1 }, { x = 1, y = 0 / 0 }, { x = 2, y = 5 }, { x = 4 }, { y = 1 } }
    with_plot({ x = "x", y = "y", logx = 2, records = rows, pictures = false }, function(made)
      assert.is_truthy(support.read(made.dat):find('# series 0: y\n"x" "y"\n2 5\n$'))
    end)
    rows = { { x = 1, y = 1e308 }, { x = 2, y = 5e-324 }, { x = 3, y = 7, e = "?" }, { x = 4, y = 8, e = 9 } }
    with_plot({ x = "x", y = "y", low = "e", high = "e", logy = 10, records = rows, pictures = false, peak = 0,
                lines = { { value = -1, label = "below" }, 100 } }, function(made)
      assert.is_truthy(support.read(made.dat):find('# series 0: y\n"x" "y" "low" "high"\n3 7 7 7\n4 8 9 9\n$'))
      local script = support.read(made.gp)
      assert.is_truthy(script:find("set label 'line (100)'", 1, true))
      assert.is_nil(script:find("peak", 1, true))
      assert.is_nil(script:find("below", 1, true))
    end)
  end)

  -- Steps between ticks were too small to add up to anything: counting them never ended, and filled the memory.
  it("draws values that differ in their last digits, and leaves out what no axis can hold", function()
    local least, next_to_1 = 2.0 ^ -1074, 1 + 2.0 ^ -52
    for _, pair in ipairs { { 1, next_to_1 }, { 0, least }, { -1, -next_to_1 }, { 2 ^ 60, 2 ^ 60 + 256 },
                            { -1e300, 1e300 }, { 5, 5 } } do
      for _, base in ipairs { false, 2, 1e200 } do
        if not base or pair[1] > 0 then
          for _, rows in ipairs { { { x = pair[1], y = 1 }, { x = pair[2], y = 2 } },
                                  { { x = 1, y = pair[1] }, { x = 2, y = pair[2] } } } do
            with_plot({ x = "x", y = "y", logx = base, logy = base, records = rows, pictures = false }, function(made)
              assert.is_truthy(made.chart:find("y against x", 1, true))
            end)
          end
        end
      end
    end
    fails(function() mw.plot { x = "x", y = "y", records = { { x = 1e308, y = 1 }, { x = 1, y = -1e308 } } } end,
      "mw.plot: no record has both 'x' and 'y' as numbers")
  end)

  -- The second line was a command to gnuplot, and what stood in backquotes there one to the shell.
  it("keeps a text of several lines within its comment, away from gnuplot and the shell", function()
    local text = "a\n`touch ran`\r\nset output 'ran'"
    local rows = { { x = 1, y = 2, name = text } }
    local spec = { x = "x", y = "y", by = "name", title = text, peak = { value = 1, label = text }, records = rows }
    with_plot(spec, function(made, folder)
      folder = support.run(folder)
      assert.is_nil(io.open(folder .. "/ran"))
      for _, path in ipairs { made.dat, made.gp } do
        assert.is_falsy(("\n" .. support.read(path)):find("\n%s*`") or support.read(path):find("\nset output 'ran'"))
      end
      assert.is_true(made.png ~= nil or not (os.execute "command -v gnuplot >/dev/null 2>&1"))
    end)
  end)

  -- They ran out of the picture, or had no row.
  it("has a row in its key for a name of any length", function()
    local long = ("length "):rep(12)
    local rows = { { x = 1, y = 2, name = long }, { x = 1, y = 3, name = "" } }
    local peak = { value = 1, label = long }
    with_plot({ x = "x", y = "y", by = "name", peak = peak, pictures = false, records = rows }, function(made)
      local script = support.read(made.gp)
      for title in script:gmatch " title '([^']*)'" do assert.is_true(utf8.len(title) <= 50, title) end
      assert.is_truthy(script:find("title 'length length length leng…", 1, true), script)
      assert.is_truthy(script:find("title 'series 2'", 1, true))
      assert.is_truthy(script:find(('"%s\\012x: %%.6g'):format(long), 1, true))
      assert.is_truthy(support.read(made.dat):find("# series 0: " .. long, 1, true))
    end)
  end)

  -- The date of a stored run stood in the script as it was, so that a record could give gnuplot commands.
  it("keeps a stored run's texts within their comments", function()
    local gnuplot = require "moonwarp.plot.gnuplot"
    local evil = "2026\nsystem 'touch ran'\n"
    local about = { name = evil, title = evil, device = evil, script = evil, date = evil, xlabel = evil,
      ylabel = evil, xunit = evil, unit = evil, style = evil, levels = { { value = 1, label = evil } },
      series = { { name = evil, points = { { x = 1, y = 2 } } } } }
    local text = gnuplot.script(about, require("moonwarp.plot.series").drawing(about))
    assert.is_nil(text:find "\nsystem")
  end)
end)

describe("the terminal's chart", function()
  local function draw(spec)
    spec.unicode, spec.title, spec.xlabel, spec.ylabel, spec.width, spec.height = true, "T", "x", "y (GB/s)", 40, 8
    return chart.draw(spec, spec)
  end

  -- Its ticks were as endless.
  it("stands a stored chart with what its axes cannot show", function()
    local points = { { x = 0, y = 10 }, { x = 1e308, y = 1 }, { x = -1e308, y = 2 }, { x = 2, y = 3 } }
    local levels = { { value = 0, label = "none" }, { value = math.huge, label = "all" } }
    for _, log in ipairs { false, 2 } do
      local text = draw { logx = log or nil, logy = log or nil, levels = levels,
                          series = { { name = "s", points = points } } }
      assert.is_truthy(text:find("●", 1, true))
      assert.is_nil(text:find("all", 1, true))
      assert.are.equal(not log, text:find("none", 1, true) ~= nil)
    end
    for _, value in ipairs { 1e17, -1e300, 1e300 } do
      local series = { { name = "s", points = { { x = value, y = value } } } }
      assert.is_truthy(draw({ levels = {}, series = series }):find("●", 1, true))
    end
  end)
end)
