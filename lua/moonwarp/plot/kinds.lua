-- SPDX-License-Identifier: MIT
--
-- The kinds of charts and pictures, by the word that a stored one has: whoever shows, stores or compares them asks
-- here. A new kind is a file, and its place in the list below. The file returns a table with
--
--   name                         the word, and the function of mw that draws one
--   draw(session, spec)          that function; of a film it begins one
--   text(about, size)            the chart in letters; size: width, unicode, colour
--   drawing(about)               of gnuplot.script
--   form                         of base/schema: what record.json has of it beyond what all have
--   problem(about, where)        the mistake in one of that form, or nil; may be absent
--
-- and, of a chart of records (figure.leave), what a figure of several runs needs of it:
--
--   merge(into, charts, labels)  charts of several runs as one
--   values(chart)                the numbers that its value axis shows
--   axis                         what makes that axis logarithmic: "logx" or "logy"
--   weight(chart)                the room that it takes of a figure of several runs, in series
--   words(chart)                 what it shows, as a label
--   class                        of its figure in a report

local film = require "moonwarp.plot.film"
local ladder = require "moonwarp.plot.ladder"
local plot = require "moonwarp.plot.plot"
local roofline = require "moonwarp.plot.roofline"
local schema = require "moonwarp.results.record_schema"
local timeline = require "moonwarp.plot.timeline"

local kinds = { all = { plot, ladder, film, timeline, roofline }, named = {} }

for _, kind in ipairs(kinds.all) do
  kinds.named[kind.name], schema.kinds[kind.name] = kind, kind
end

--- The kind of a chart or a picture; nil: none that is known.
---@param about table  as record.json has it
---@return table?
function kinds.of(about)
  return kinds.named[about.kind or "plot"]
end

return kinds
