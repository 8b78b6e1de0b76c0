-- SPDX-License-Identifier: MIT
--
-- Figures of stored runs on the terminal and in files, for the commands that draw: charts of records, and pictures
-- (timelines, films), which have their folder and the name of their data next to what record.json has.

local figures = require "moonwarp.plot.figure"
local gnuplot = require "moonwarp.plot.gnuplot"
local kinds = require "moonwarp.plot.kinds"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local paths = require "moonwarp.base.path"
local session = require "moonwarp.session"

local drawing = {}

-- ---- pictures -----------------------------------------------------------------------------------

--- The pictures of runs that can be drawn again; those of moonwarp 0.5 and before have only their files.
---@param runs table[]
---@return table[] figures
function drawing.pictures(runs)
  local list = {}
  for _, run in ipairs(runs) do
    lists.append(list, lists.map(run.pictures, function(picture)
      if not kinds.named[picture.kind] then return nil end
      return lists.merged(picture, { folder = run.folder, identity = run.identity,
                                     data = paths.safe(picture.name) .. ".dat" })
    end))
  end
  return list
end

-- ---- all figures --------------------------------------------------------------------------------

--- Prints a figure as a chart, or a film's title.
---@param figure table
function drawing.show(figure)
  figures.say(session.current, {}, kinds.of(figure).text(figure))
end

--- Writes NAME.dat and NAME.gp into a folder, draws NAME.svg and NAME.png if gnuplot is installed, and says
--- so.
---@param figure table
---@param folder string     made if needed
---@param is_alone boolean? NAME.gp holds its data
---@return string? svg      its path; nil if there are no pictures
function drawing.write(figure, folder, is_alone)
  local problem = paths.make(folder)
  if problem then options.fail("%s", problem) end
  local base = ("%s/%s"):format(folder, figure.name)
  local own <const>, guard = paths.temporary() -- a link that a lab has left would lead elsewhere; mv replaces it
  local _ <close> = guard
  figures.files(figure, ("%s/%s"):format(own, figure.name), kinds.of(figure).drawing(figure), is_alone)
  local ok, reason = gnuplot.run(own, figure.name .. ".gp")
  if not os.execute(("mv -f %s/* %s/"):format(paths.quote(own), paths.quote(folder))) then
    options.fail("no chart can be written into %s", folder)
  end
  print(ok and ("written: %s.dat, .gp, .png, .svg"):format(base)
    or ("written: %s.dat, .gp; no pictures: %s"):format(base, reason))
  return ok and base .. ".svg" or nil
end

--- Opens a picture or a page with whatever the desktop opens it with, and does not wait for it.
---@param name string
function drawing.open(name)
  local command = ("command -v xdg-open >/dev/null && { xdg-open %s >/dev/null 2>&1 & }"):format(paths.quote(name))
  if not os.execute(command) then
    print(("open %s yourself: xdg-open is not installed or failed"):format(name))
  end
end

return drawing
