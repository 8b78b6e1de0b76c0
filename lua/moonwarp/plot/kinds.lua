-- SPDX-License-Identifier: MIT
--
-- The kinds of charts of records, by the word that a stored chart has: whoever shows, stores or compares charts asks
-- here. A new kind is a file that draws it and an entry of this list (results/record_schema.lua may have its form).
--
--   text(about, size)            the chart in letters; size: width, unicode, colour
--   drawing(about)               of gnuplot.script
--   merge(into, charts, labels)  charts of several runs as one
--   values(chart)                the numbers that its value axis shows
--   axis                         what makes that axis logarithmic: "logx" or "logy"; log(x, y): its options, where the
--                                user asks for logarithmic axes
--   weight(chart)                the room that it takes of a figure of several runs, in series
--   words(chart)                 what it shows, as a label
--   class                        of its figure in a report

local bars = require "moonwarp.plot.bars"
local bars_script = require "moonwarp.plot.bars_script"
local bars_text = require "moonwarp.plot.bars_text"
local chart = require "moonwarp.plot.chart"
local lists = require "moonwarp.base.lists"
local series = require "moonwarp.plot.series"

local BARS_A_SERIES <const> = 6 -- a ladder's bars take so much less room than series

local KINDS <const> = {
  ladder = {
    text = bars_text.draw, drawing = bars_script.drawing, merge = bars.merge, axis = "logx", class = "chart ladder",
    values = function(ladder) return lists.map(ladder.bars, function(bar) return bar.value end) end,
    log = function(_, y) return { logx = y } end, -- the values lie along x
    weight = function(ladder) return #ladder.bars / BARS_A_SERIES end,
    words = function(ladder) return ladder.xlabel end,
  },
  plot = {
    text = chart.draw, drawing = series.drawing, merge = series.merge, axis = "logy", class = "chart",
    values = function(about)
      local all = {}
      for _, one in ipairs(about.series) do
        lists.append(all, lists.map(one.points, function(point) return point.y end))
      end
      return all
    end,
    log = function(x, y) return { logx = x, logy = y } end,
    weight = function(about) return #about.series end,
    words = function(about) return ("%s against %s"):format(about.ylabel, about.xlabel) end,
  },
}

local kinds = {}

--- The kind of a chart; nil: none that is known.
---@param about table  as record.json has it
---@return table?
function kinds.of(about)
  return KINDS[about.kind or "plot"]
end

return kinds
