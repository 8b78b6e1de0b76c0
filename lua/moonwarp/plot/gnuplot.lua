-- SPDX-License-Identifier: MIT
--
-- Data files and gnuplot scripts of a figure, and running gnuplot where it is installed. Charts of
-- records are written here (see plot.lua); film.lua, timeline.lua and ladder/script.lua bring their
-- own commands.
-- A script holds its data and the style of plots/base.gp, so that it draws anywhere by itself.
-- Depends on moonwarp.core (home, version), files, path, ticks.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local path = require "moonwarp.base.path"
local ticks = require "moonwarp.plot.ticks"

local gnuplot = {}

local function column_names(figure)
  local names = figure.columns or { figure.xlabel, figure.ylabel }
  if figure.spread then names = { names[1], names[2], "low", "high" } end
  local quoted = {}
  for i, name in ipairs(names) do quoted[i] = '"' .. name:gsub('"', "'") .. '"' end
  return table.concat(quoted, " ")
end

local function point_line(point, spread)
  local line = ("%.10g %.10g"):format(point.x, point.y)
  if not spread then return line end
  return ("%s %.10g %.10g"):format(line, point.low or point.y, point.high or point.y)
end

-- A line of comment whatever the text: behind a line's end gnuplot would take the rest for commands,
-- `...` among them, which a shell runs.
local function comment(format, ...)
  return "# " .. format:format(...):gsub("%c+", " ")
end

--- Blocks of columns, two blank lines between: gnuplot's index counts them from 0.
---@param list table[]  { name =, [i] = line }
---@param what string   "series"
---@return string
function gnuplot.blocks(list, what)
  local parts = {}
  for i, one in ipairs(list) do
    parts[i] = ("%s\n%s"):format(comment("%s %d: %s", what, i - 1, one.name), table.concat(one, "\n"))
  end
  return table.concat(parts, "\n\n\n")
end

local function blocks(figure)
  local list = {}
  for i, one in ipairs(figure.series) do
    list[i] = { name = one.name }
    for j, point in ipairs(one.points) do list[i][j] = point_line(point, figure.spread) end
  end
  return gnuplot.blocks(list, "series")
end

--- The comment that heads every data file and script: what, on which device, by what, when, units.
---@param figure table  title, device, script, date, columns (names with units) or xlabel and ylabel,
---                     levels (optional)
---@return string
function gnuplot.header(figure)
  local lines = {
    comment("%s", figure.title),
    comment("device: %s", figure.device),
    comment("script: %s", figure.script),
    "# date: " .. figure.date,
    "# moonwarp " .. core.version .. ", " .. _VERSION,
    comment("columns: %s", column_names(figure)),
  }
  for _, level in ipairs(figure.levels or {}) do
    lines[#lines + 1] = comment("level: %.10g %s", level.value, level.label)
  end
  return table.concat(lines, "\n")
end

--- The text of the .dat file: a commented header, then one block of columns a series.
---@param figure table
---@return string
function gnuplot.data(figure)
  return gnuplot.header(figure) .. "\n" .. blocks(figure) .. "\n"
end

--- A text as gnuplot's literal string.
---@param text string
---@return string
function gnuplot.quote(text)
  return "'" .. text:gsub("'", "''"):gsub("%c+", " ") .. "'"
end

local quoted = gnuplot.quote

-- Least and greatest x of what the axis can show; nil where that is nothing.
local function extent(figure)
  local low, high = math.huge, -math.huge
  for _, one in ipairs(figure.series) do
    for _, point in ipairs(one.points) do
      if ticks.holds(point.x, figure.logx) then low, high = math.min(low, point.x), math.max(high, point.x) end
    end
  end
  if low <= high then return low, high end
end

-- Ticks at powers of 2 along x: from the one at or below the least point, as gnuplot sets none below
-- the first; one a doubling where that leaves room for labels, else one in so many.
local function doubling_ticks(low, high)
  local first = math.floor(math.log(low, 2) + 1e-9)
  local stride = math.max(1, math.ceil((math.log(high, 2) - first) / 13))
  return ("set xtics %.10g,%.10g"):format(2.0 ^ first, 2.0 ^ stride)
end

local function log_ticks(figure)
  local low, high = extent(figure)
  if not low then return "set xtics auto" end
  local range
  if low == high then -- levels are drawn between the least and the greatest x
    low, high = low / figure.logx, high * figure.logx
    range = ("set xrange [%.10g:%.10g]"):format(low, high)
  end
  local marks = figure.logx == 2 and doubling_ticks(low, high) or nil
  return range and marks and range .. "\n" .. marks or range or marks
end

-- A tick for each of the whole numbers at which all points lie, where they are few: rungs, dimensions.
-- There is room beside points that stand alone: one on the frame would be taken for a part of it.
local function count_ticks(figure)
  local low, high = extent(figure)
  local few = not figure.square and low and low < high and high - low <= 20
  if not (few and ticks.are_whole(figure.series)) then return nil end
  if figure.style ~= "points" then return "set xtics 1" end
  return ("set xtics 1\nset xrange [%g:%g]"):format(low - 0.5, high + 0.5)
end

local function has_negative(figure)
  for _, one in ipairs(figure.series) do
    for _, point in ipairs(one.points) do
      if point.y < 0 then return true end
    end
  end
  return false
end

-- gnuplot would label a logarithmic axis with powers; the plain number says more to a reader.
local function axis_commands(name, base, label, figure)
  local lines = { ("set %slabel %s noenhanced"):format(name, quoted(label)) }
  if base then lines[#lines + 1] = ("set logscale %s %g"):format(name, base) end
  if base then lines[#lines + 1] = ("set format %s '%%.6g'"):format(name) end
  if name == "x" then lines[#lines + 1] = (base and log_ticks or count_ticks)(figure) end
  local from_zero = name == "y" and not base and not figure.square and not has_negative(figure)
  if from_zero then lines[#lines + 1] = "set yrange [0:*]" end
  return table.concat(lines, "\n")
end

local function series_commands(figure)
  local parts = {}
  for i, one in ipairs(figure.series) do
    local data, style = ("$data index %d"):format(i - 1), (i - 1) % 6 + 1
    if figure.spread then
      parts[#parts + 1] = ("%s using 1:2:3:4 with yerrorbars ls %d lw 1.2 ps 0 notitle"):format(data, style)
    end
    parts[#parts + 1] = ("%s using 1:2 with %s ls %d title %s"):format(data,
      figure.style or "linespoints", style, quoted(one.name))
  end
  for i, level in ipairs(figure.levels) do
    parts[#parts + 1] = ("%.10g with lines ls %d title %s"):format(level.value, 10 + (i - 1) % 6,
      quoted(level.label))
  end
  return "plot " .. table.concat(parts, ", \\\n     ")
end

local function base_style()
  local name = core.home() .. "/plots/base.gp"
  local text, reason = files.read(name)
  return text or error("mw.plot: the style of all charts is missing: " .. reason, 0)
end

--- The text of a .gp file, which holds its data and writes NAME.svg and NAME.png beside itself.
---@param figure table    name, title, and what gnuplot.header takes
---@param data string     of the block $data
---@param commands string settings of this chart, behind the common style
---@param draw string     the plot command
---@param height integer?  of the SVG; the PNG is a quarter larger
---@return string
function gnuplot.frame(figure, data, commands, draw, height)
  height = height or 560
  return table.concat({
    gnuplot.header(figure), ("# draws %s.svg and %s.png: gnuplot %s.gp"):format(figure.name, figure.name,
      figure.name), "",
    "$data << END_OF_DATA", data, "END_OF_DATA", "",
    base_style(),
    "set title " .. quoted(figure.title),
    commands, "",
    ("set terminal svg size 900,%d dynamic font 'Helvetica,15' background rgb 'white'"):format(height),
    ("set output %s"):format(quoted(figure.name .. ".svg")),
    draw,
    "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {",
    ("  set terminal pngcairo size 1125,%d font 'Helvetica,14'"):format(height * 5 // 4),
    "} else {",
    ("  set terminal png size 1125,%d"):format(height * 5 // 4),
    "}",
    ("set output %s"):format(quoted(figure.name .. ".png")),
    "replot",
    "unset output",
  }, "\n") .. "\n"
end

--- The text of the .gp file of a chart of records.
---@param figure table
---@return string
function gnuplot.script(figure)
  local axes = { axis_commands("x", figure.logx, figure.xlabel, figure),
                 axis_commands("y", figure.logy, figure.ylabel, figure) }
  if figure.square then axes[#axes + 1] = "set size ratio -1" end
  return gnuplot.frame(figure, blocks(figure), table.concat(axes, "\n"), series_commands(figure))
end

--- Writes a text file; raises with path and reason where it cannot.
---@param name string
---@param text string
---@return string name
function gnuplot.write(name, text)
  local reason = files.write(name, text)
  if reason then error("cannot write " .. reason, 0) end
  return name
end

-- gnuplot says nothing where the disk is full: the pictures are there when they end as such files do.
local function is_whole(name, ending)
  local file <close> = io.open(name, "rb")
  return file ~= nil and file:seek("end", -16) ~= nil and file:read("a"):find(ending, 1, true) ~= nil
end

--- Runs gnuplot on a script in its folder, which is to leave an SVG and a PNG of the same name.
---@param folder string
---@param script string    as in "copy.gp"
---@return boolean ok
---@return string? reason  "gnuplot is not installed", or gnuplot's own words
function gnuplot.run(folder, script)
  if not os.execute("command -v gnuplot >/dev/null 2>&1") then
    return false, "gnuplot is not installed (on Debian and Ubuntu: apt install gnuplot-nox)"
  end
  local command = ("cd %s && gnuplot %s 2>&1"):format(path.quote(folder), path.quote(script))
  local pipe, reason = io.popen(command)
  if not pipe then return false, reason end
  local words = pipe:read("a")
  if not pipe:close() then return false, "gnuplot failed: " .. words:gsub("%s+", " ") end
  local base = folder .. "/" .. script:gsub("%.gp$", "")
  if is_whole(base .. ".svg", "</svg>") and is_whole(base .. ".png", "IEND") then return true end
  return false, ("gnuplot left no whole pictures in %s: is the disk full?"):format(folder)
end

return gnuplot
