-- SPDX-License-Identifier: MIT
--
-- Data files and gnuplot scripts of a figure, and running gnuplot where it is installed. Charts of
-- records are written here (see plot.lua); film.lua, timeline.lua and ladder/script.lua bring their
-- own commands.
-- A script holds its data and the style of plots/base.gp, so that it draws anywhere by itself. Points of
-- charts tell their values as hypertext: in a browser by gnuplot's own script in the SVG file, and in the
-- report by the report's.
-- Depends on moonwarp.core (home, version), files, palette, path, ticks, utf8text.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local palette = require "moonwarp.plot.palette"
local path = require "moonwarp.base.path"
local ticks = require "moonwarp.plot.ticks"
local utf8text = require "moonwarp.base.utf8text"

local gnuplot = {}

-- A chart is as narrow as a column of the report, so that its letters are as large there. px.
gnuplot.WIDTH, gnuplot.HEAD = 500, 50
local BODY <const>, KEY_ROW <const>, LETTER <const> = 268, 18, 7.2
local MOST_TITLE <const> = 64 -- letters of a line
local MOST_TOLD <const> = 150 -- points of a series that tell their values
local STYLES = { lines = true, points = true, linespoints = true }

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

-- "T_tot (GB/s)" as "T_tot: %.6g GB/s".
local function format_of(label)
  local name, unit = label:match "^(.-) %((%S+)%)$"
  local function plain(text) return (text:gsub("%%", "%%%%")) end
  return ("%s: %%.6g%s"):format(plain(name or label), unit and " " .. plain(unit) or "")
end

-- With `told` what a point tells stands in a column more.
local function blocks(figure, told)
  local list, x, y = {}, format_of(figure.xlabel), format_of(figure.ylabel)
  for i, one in ipairs(figure.series) do
    list[i] = { name = one.name }
    for j, point in ipairs(one.points) do
      local words = { one.name, x:format(point.x), y:format(point.y) }
      if point.low and point.high then words[4] = ("from %.6g to %.6g"):format(point.low, point.high) end
      list[i][j] = point_line(point, figure.spread) .. (told and " " .. gnuplot.told(words) or "")
    end
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
    comment("date: %s", figure.date),
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

local UNSAFE = { ["'"] = "’", ['"'] = "”", ["\\"] = "∖" } -- gnuplot does not escape them in an SVG's attributes

--- What a point tells, as a column of its line.
---@param lines string[]
---@return string  "naive\nT_eff: 4.2 TB/s", with quotation marks and the escape
function gnuplot.told(lines)
  local list = {}
  for i, line in ipairs(lines) do list[i] = line:gsub("%c+", " "):gsub("['\"\\]", UNSAFE) end
  return '"' .. table.concat(list, "\\n") .. '"'
end

--- The plot that makes points tell something: an invisible disc over each.
---@param data string     "$data index 0"
---@param using string    columns of their places: "1:2"
---@param column integer  of what they tell
---@return string
function gnuplot.hover(data, using, column)
  return ("%s using %s:(strcol(%d)) with labels hypertext point pt 7 ps 1.2 lc rgb '#ff000000' notitle"):format(data,
    using, column)
end

-- Ticks at powers of 2 along x: from the one at or below the least point, as gnuplot sets none below
-- the first; one a doubling where that leaves room for labels, else one in so many.
local function doubling_ticks(low, high)
  local first = math.floor(math.log(low, 2) + 1e-9)
  local stride = math.max(1, math.ceil((math.log(high, 2) - first) / 7))
  return ("set xtics %.10g,%.10g"):format(2.0 ^ first, 2.0 ^ stride)
end

local function log_ticks(figure, e)
  local low, high = e.x0, e.x1
  if low > high then return "set xtics auto" end
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
local function count_ticks(figure, e)
  local few = not figure.square and e.x0 < e.x1 and e.x1 - e.x0 <= 20
  if not (few and ticks.are_whole(figure.series)) then return nil end
  if figure.style ~= "points" then return "set xtics 1" end
  return ("set xtics 1\nset xrange [%g:%g]"):format(e.x0 - 0.5, e.x1 + 0.5)
end

-- gnuplot would label a logarithmic axis with powers; the plain number says more to a reader.
local function axis_commands(name, base, label, figure, e)
  local lines = { ("set %slabel %s noenhanced"):format(name, quoted(label)) }
  if base then lines[#lines + 1] = ("set logscale %s %g"):format(name, base) end
  if base then lines[#lines + 1] = ("set format %s '%%.6g'"):format(name) end
  if name == "x" then lines[#lines + 1] = (base and log_ticks or count_ticks)(figure, e) end
  local from_zero = name == "y" and not base and not figure.square and e.y0 >= 0
  if from_zero then lines[#lines + 1] = "set yrange [0:*]" end
  return table.concat(lines, "\n")
end

local function series_commands(figure)
  local parts, style = {}, STYLES[figure.style] and figure.style or "linespoints"
  for i, one in ipairs(figure.series) do
    local data, look = ("$data index %d"):format(i - 1), palette.series(i)
    local every = #one.points > MOST_TOLD and (" every %d"):format(math.ceil(#one.points / MOST_TOLD)) or ""
    parts[#parts + 1] = ("%s using 1:2 with %s lw 2 %s title %s"):format(data, style, look, quoted(one.name))
    if figure.spread then
      parts[#parts + 1] = ("%s using 1:2:3:4 with yerrorbars %s dt 1 ps 0 notitle"):format(data,
        look:gsub(" dt.*", ""))
    end
    parts[#parts + 1] = gnuplot.hover(data .. every, "1:2", figure.spread and 5 or 3)
  end
  for i, level in ipairs(figure.levels) do
    parts[#parts + 1] = ("%.10g with lines %s title %s"):format(level.value, palette.level(i), quoted(level.label))
  end
  return "plot " .. table.concat(parts, ", \\\n     ")
end

--- How many rows a key takes, and of how many columns: as many as have room below the axes.
---@param names string[]
---@return integer rows
---@return integer columns
function gnuplot.key(names)
  local columns = math.max(1, math.floor(0.82 * gnuplot.WIDTH / (utf8text.widest(names) * LETTER + 70)))
  return math.ceil(#names / columns), columns
end

-- The device has a line of its own.
local function title_command(figure)
  local ending, lines = ", " .. tostring(figure.device), { figure.title }
  if figure.title:sub(-#ending) == ending then lines = { figure.title:sub(1, -#ending - 1), figure.device } end
  for i, line in ipairs(lines) do lines[i] = quoted(utf8text.shorten(line, MOST_TITLE, "…")) end
  return "set title " .. table.concat(lines, ".\"\\n\".")
end

local function base_style()
  local name = core.home() .. "/plots/base.gp"
  local text, reason = files.read(name)
  if not text then failure.raise_as("io", "mw.plot: the style of all charts is missing: %s", reason) end
  return (text:gsub("%f[$]%$(%l+)", palette.colour))
end

--- What a figure that is no chart is drawn as: without hypertext, wide.
gnuplot.WIDE = { width = 640, height = 400, font = 12 }

--- The text of a .gp file, which holds its data and writes NAME.svg and NAME.png beside itself. The PNG
--- is the same picture with more pixels.
---@param figure table    name, title, and what gnuplot.header takes
---@param data string     of the block $data
---@param commands string settings of this chart, behind the common style
---@param draw string     the plot command
---@param size table      width, height, font (px); hover (whether points have hypertext)
---@return string
function gnuplot.frame(figure, data, commands, draw, size)
  local width, height = 1125, size.height * 1125 // size.width
  local scale = width / size.width
  return table.concat({
    gnuplot.header(figure),
    comment("draws %s.svg and %s.png: gnuplot %s.gp", figure.name, figure.name, figure.name), "",
    "$data << END_OF_DATA", data, "END_OF_DATA", "",
    base_style(),
    title_command(figure),
    commands, "",
    ("set terminal svg size %d,%d dynamic %sfont 'Helvetica,%d' background rgb 'white'"):format(size.width,
      size.height, size.hover and "standalone mousing " or "", size.font),
    ("set output %s"):format(quoted(figure.name .. ".svg")),
    draw,
    "if (exists('svg_only')) { unset output; exit }",
    "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {",
    ("  set terminal pngcairo size %d,%d font 'Helvetica,%d' fontscale %.3g linewidth %.3g pointscale %.3g"):format(
      width, height, size.font * 3 // 4, scale, scale, scale),
    "} else {",
    ("  set terminal png size %d,%d"):format(width, height),
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
  local names = {}
  for _, list in ipairs { figure.series, figure.levels } do
    for _, one in ipairs(list) do names[#names + 1] = one.name or one.label end
  end
  local rows, columns = gnuplot.key(names)
  local e = ticks.extent(figure.series, figure.logx, figure.logy)
  local shape = (e.y1 - e.y0) / (e.x1 - e.x0) -- of a plane with one scale; NaN of a single point
  local body = figure.square and shape == shape and math.floor(math.max(BODY // 2, math.min(420, 400 * shape))) + 60
  local height = gnuplot.HEAD + (body or BODY) + rows * KEY_ROW
  local lines = { axis_commands("x", figure.logx, figure.xlabel, figure, e),
                  axis_commands("y", figure.logy, figure.ylabel, figure, e),
                  ("set key maxcols %d"):format(columns),
                  ("set tmargin at screen %.4f"):format(1 - gnuplot.HEAD / height) }
  if figure.square then lines[#lines + 1] = "set size ratio -1" end
  return gnuplot.frame(figure, blocks(figure, true), table.concat(lines, "\n"), series_commands(figure),
    { width = gnuplot.WIDTH, height = height, font = 12, hover = true })
end

--- Writes a text file; raises with path and reason where it cannot.
---@param name string
---@param text string
---@return string name
function gnuplot.write(name, text)
  local reason = files.write(name, text)
  if reason then failure.raise_as("io", "cannot write " .. reason) end
  return name
end

-- gnuplot says nothing where the disk is full: the pictures are there when they end as such files do.
local function is_whole(name, ending)
  local file <close> = io.open(name, "rb")
  return file ~= nil and file:seek("end", -16) ~= nil and file:read("a"):find(ending, 1, true) ~= nil
end

local function missing()
  if os.execute("command -v gnuplot >/dev/null 2>&1") then return nil end
  return "gnuplot is not installed (on Debian and Ubuntu: apt install gnuplot-nox)"
end

-- What a command in a folder says; nil where it succeeds.
local function run(folder, command)
  local pipe, reason = io.popen(("cd %s && %s"):format(path.quote(folder), command))
  if not pipe then return reason end
  local words = pipe:read("a")
  if not pipe:close() then return "gnuplot failed: " .. words:gsub("%s+", " ") end
end

--- Runs gnuplot on a script in its folder, which is to leave an SVG and a PNG of the same name.
---@param folder string
---@param script string    as in "copy.gp"
---@return boolean ok
---@return string? reason  "gnuplot is not installed", or gnuplot's own words
function gnuplot.run(folder, script)
  local reason = missing() or run(folder, ("gnuplot %s 2>&1"):format(path.quote(script)))
  if reason then return false, reason end
  local base = folder .. "/" .. script:gsub("%.gp$", "")
  if is_whole(base .. ".svg", "</svg>") and is_whole(base .. ".png", "IEND") then return true end
  return false, ("gnuplot left no whole pictures in %s: is the disk full?"):format(folder)
end

--- Draws the SVG files alone of all scripts in a folder; what gnuplot refuses has none.
---@param folder string
---@return string? reason  why there are none at all
function gnuplot.svgs(folder)
  return missing() or run(folder,
    "for one in *.gp; do gnuplot -e svg_only=1 $one || rm -f ${one%.gp}.svg; done 2>/dev/null; true")
end

return gnuplot
