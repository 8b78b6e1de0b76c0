-- SPDX-License-Identifier: MIT
--
-- moonwarp plot DIR...: the figures of stored runs again, several runs on one chart.

local drawing = require "moonwarp.cli.drawing"
local kinds = require "moonwarp.plot.kinds"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local runs = require "moonwarp.cli.runs"
local session = require "moonwarp.session"
local ticks = require "moonwarp.plot.ticks"

local plot = { least = 1, wants = "plot wants a run; moonwarp plot --help says which" }

plot.options = {
  { flag = "--terminal", help = "on the terminal only; no files" },
  { flag = "--open", help = "open the pictures" },
  { flag = "--only", show = "WORD", value = "a word", help = "figures with the word in their name or title" },
  { flag = "--logx", help = "a logarithmic x axis" },
  { flag = "--logy", help = "values on a logarithmic axis" },
  { flag = "--one-file", key = "one_file", help = "NAME.gp holds its data; else it draws NAME.dat" },
  { flag = "--to", show = "DIR", value = "a folder",
    help = "where files go; else the run's folder, or out/plots for several runs" },
  runs.OUT,
}

plot.usage = [[
usage: moonwarp plot DIR|STUDY... [options]

Draws the charts, timelines and films of a stored run again. With several runs, charts of one name become one chart: a
CPU beside a GPU, last week beside today. DIR is a run's folder or one with runs below it, STUDY all
of its runs in out.]]

plot.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp plot memcopy --only ladder --terminal]]

local function figures_of(list, only)
  local overlay = require "moonwarp.plot.overlay"
  local all = overlay.apart(lists.append((overlay.charts(list)), drawing.pictures(list)))
  local figures = lists.map(all, function(figure)
    local words = ("%s\n%s"):format(figure.name, figure.title):lower()
    return (not only or words:find(only:lower(), 1, true)) and figure or nil
  end)
  if #figures > 0 then return figures end
  if #all == 0 then options.fail("%s has no charts: its script calls no mw.plot", list[1].folder) end
  options.fail("no chart has '%s' in its name or title; there is %s", only, table.concat(lists.map(all,
    function(figure) return ("%s (%s)"):format(figure.name, figure.title) end), ", "))
end

local function with_axes(figure, parsed)
  local axis, x, y = kinds.of(figure).axis, parsed.logx and 10 or nil, parsed.logy and 10 or nil
  local log = axis == "logx" and { logx = y } or { logx = x, logy = y } -- where the values lie along x
  if not axis or next(log) == nil then return figure end -- a picture has none
  local made = lists.merged(figure, log)
  if made.series and ticks.extent(made).x0 == math.huge then
    options.fail("chart '%s' has no point above 0, which a logarithmic axis needs", figure.name)
  end
  return made
end

local function folder_for(list, parsed)
  if parsed.to then return parsed.to end
  return #list == 1 and list[1].folder or session.current:out() .. "/plots"
end

--- The command.
---@param parsed table
---@return integer? status
function plot.run(parsed)
  local list = runs.all(parsed)
  for _, figure in ipairs(figures_of(list, parsed.only)) do
    figure = with_axes(figure, parsed)
    drawing.show(figure)
    local svg = not parsed.terminal and drawing.write(figure, folder_for(list, parsed), parsed.one_file)
    if svg and parsed.open then drawing.open(svg) end
  end
end

return plot
