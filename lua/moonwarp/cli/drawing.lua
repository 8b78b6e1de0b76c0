-- SPDX-License-Identifier: MIT
--
-- Figures of stored runs on the terminal and in files, for the commands that draw.

local figures = require "moonwarp.plot.figure"
local gnuplot = require "moonwarp.plot.gnuplot"
local options = require "moonwarp.cli.options"
local path = require "moonwarp.base.path"

local drawing = {}

--- Prints a figure as a chart.
---@param figure table
function drawing.show(figure)
  print(figures.text(figure))
end

--- Writes NAME.dat and NAME.gp into a folder, draws NAME.svg and NAME.png if gnuplot is installed, and says
--- so.
---@param figure table
---@param folder string   made if needed
---@return string? svg    its path; nil if there are no pictures
function drawing.write(figure, folder)
  local problem = path.make(folder)
  if problem then options.fail("%s", problem) end
  local base = ("%s/%s"):format(folder, figure.name)
  figures.files(figure, base)
  local ok, reason = gnuplot.run(folder, figure.name .. ".gp")
  print(ok and ("written: %s.dat, .gp, .png, .svg"):format(base)
    or ("written: %s.dat, .gp; no pictures: %s"):format(base, reason))
  return ok and base .. ".svg" or nil
end

--- Opens a picture or a page with whatever the desktop opens it with, and does not wait for it.
---@param name string
function drawing.open(name)
  local command = ("command -v xdg-open >/dev/null && { xdg-open %s >/dev/null 2>&1 & }"):format(path.quote(name))
  if not os.execute(command) then
    print(("open %s yourself: xdg-open is not installed or failed"):format(name))
  end
end

return drawing
