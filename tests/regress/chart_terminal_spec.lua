-- SPDX-License-Identifier: MIT
--
-- Charts, timelines and tables in a terminal: its width, its colours, its letters.

local support = require "tests.support"
local chart = require "moonwarp.plot.chart"
local timeline = require "moonwarp.plot.timeline"

local CHART = { title = "T", xlabel = "x", ylabel = "y", levels = { { value = 35, label = "peak (35.0)" } },
                series = { { name = "a", points = { { x = 1, y = 10 }, { x = 4, y = 20 } } },
                           { name = "b", points = { { x = 1, y = 5 }, { x = 4, y = 8 } } } } }
local TIMELINE = { title = "T", lanes = { "stream 1", "stream 2" }, kinds = { "copy", "kernel" }, spans = {
  { lane = 1, kind = 1, from = 0, to = 1 }, { lane = 2, kind = 2, from = 1, to = 3 } } }
local ESCAPES = "\27%[[%d;]*m"

local SCRIPT = [[
local mw = require "moonwarp"
mw.table { "x", { "t", unit = "s" }, records = { { x = 1, t = 2e-6 } } }
mw.plot { x = "x", y = "y", by = "n", name = "c", pictures = false,
          records = { { x = 1, y = 1, n = "a" }, { x = 2, y = 2, n = "b" }, { x = 3, y = 3, n = "b" } } }
mw.timeline { name = "t", pictures = false, spans = { { lane = "l", kind = "copy", from = 0, to = 1 } } }
]]

-- The screen of a terminal of so many columns that the script runs in.
local function screen(columns, environment)
  local text
  support.with_folder(function(folder)
    support.write(folder .. "/s.lua", SCRIPT)
    local command = ("stty cols %d; cd %s && env -u COLUMNS -u NO_COLOR %s '%s' run s.lua --device cpu; echo the end")
      :format(columns, folder, environment, support.program())
    text = support.typed(command, { { "the end", "" } })
  end)
  return (text:gsub("\r", ""):match "\n(.*)the end\n")
end

local function widest(text)
  local most = 0
  for line in text:gsub(ESCAPES, ""):gmatch "[^\n]+" do
    if not line:find("written: ", 1, true) then most = math.max(most, utf8.len(line) or #line) end
  end
  return most
end

describe("a chart in a terminal", function()
  -- Only $COLUMNS counted, which a shell does not export; a timeline had 99 columns.
  it("has the terminal's width", function()
    for _, columns in ipairs { 60, 100 } do
      assert.are.equal(columns, widest(screen(columns, "TERM=xterm LC_ALL=C.UTF-8")))
    end
  end)

  it("is in colour, unless NO_COLOR is set or the terminal is dumb", function()
    assert.is_truthy(screen(80, "TERM=xterm LC_ALL=C.UTF-8"):find(ESCAPES))
    assert.is_nil(screen(80, "TERM=xterm NO_COLOR=1"):find(ESCAPES))
    assert.is_nil(screen(80, "TERM=dumb"):find(ESCAPES))
  end)

  it("is in ASCII if the locale is, as are tables", function()
    local text = screen(80, "TERM=xterm LC_ALL=C")
    assert.is_truthy(text:find("t (us)", 1, true), text)
    assert.is_nil(text:find "[\x80-\xff]")
  end)
end)

describe("a chart in letters", function()
  it("fits any width, in colour too", function()
    for width = 40, 120, 20 do
      for _, unicode in ipairs { true, false } do
        for _, colour in ipairs { true, false } do
          local size = { width = width, unicode = unicode, colour = colour }
          for _, text in ipairs { chart.draw(CHART, size), timeline.text(TIMELINE, size) } do
            assert.is_true(widest(text) <= width, text)
            assert.are.equal(colour, text:find(ESCAPES) ~= nil)
          end
        end
      end
    end
  end)

  it("has the same letters in colour and without", function()
    for _, draw in ipairs { function(size) return chart.draw(CHART, size) end,
                            function(size) return timeline.text(TIMELINE, size) end } do
      local plain = draw { width = 60, unicode = true, colour = false }
      assert.are.equal(plain, (draw { width = 60, unicode = true, colour = true }:gsub(ESCAPES, "")))
    end
  end)

  -- All levels looked the same, and were named in the legend only.
  it("names levels at the end of their lines", function()
    local text = chart.draw(CHART, { width = 60, unicode = true, colour = false })
    assert.is_truthy(text:find("╌╌╌ peak (35.0)\n", 1, true), text)
    assert.is_truthy(text:find("\n +● a   ■ b$"), text)
  end)
end)
