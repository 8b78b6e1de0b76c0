-- SPDX-License-Identifier: MIT
--
-- moonwarp plot DIR...: the charts of stored runs again, several runs on one chart.

local drawing = require "moonwarp.cli.drawing"
local options = require "moonwarp.cli.options"
local runs = require "moonwarp.cli.runs"
local session = require "moonwarp.session"

local plot = { least = 1, wants = "plot wants a run; moonwarp plot --help says which" }

plot.options = {
  { flag = "--terminal", help = "on the terminal only; no files" },
  { flag = "--open", help = "open the pictures" },
  { flag = "--only", show = "WORD", value = "a word", help = "charts with the word in their name" },
  { flag = "--to", show = "DIR", value = "a folder",
    help = "where files go; else the run's folder, or out/plots for several runs" },
  runs.OUT,
}

plot.usage = [[
usage: moonwarp plot DIR|STUDY... [options]

Draws the charts of a stored run again. With several runs, charts of one name become one chart: a
CPU beside a GPU, last week beside today. DIR is a run's folder or one with runs below it, STUDY all
of its runs in out.]]

plot.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp plot memcopy --only ladder --terminal]]

local function figures_of(list, only)
  local figures, names = {}, {}
  for _, figure in ipairs(require("moonwarp.results.overlay").charts(list)) do
    names[#names + 1] = figure.name
    if not only or figure.name:find(only, 1, true) then figures[#figures + 1] = figure end
  end
  if #figures > 0 then return figures end
  if #names == 0 then options.fail("%s has no charts: its script calls no mw.plot", list[1].folder) end
  options.fail("no chart has '%s' in its name; there is %s", only, table.concat(names, ", "))
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
    drawing.show(figure)
    local svg = not parsed.terminal and drawing.write(figure, folder_for(list, parsed))
    if svg and parsed.open then drawing.open(svg) end
  end
end

return plot
