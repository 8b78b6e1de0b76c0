-- SPDX-License-Identifier: MIT
--
-- Data files and gnuplot scripts, and running gnuplot if it is installed. Every drawing is data:
--   columns    names of the data's columns, with units
--   levels     { value =, label = } to be named in the files' headers; may be absent
--   what       what a block of data is: "series"
--   blocks     { name =, line, ... }; columns = of its own, false if it is a matrix
--   settings   lines of commands after the common style
--   plots      the parts of the plot command; `data` is the name of the data
--   height     of a chart, px; absent: a wide picture
--   ratio      height over width of a wide picture; may be absent
--   caption    of the title; may be absent
--   after      further commands after the pictures; may be absent
-- A script draws the .dat file next to it, or holds the data itself, with the style of plots/base.gp in it. Points
-- show their values as hypertext, which gnuplot computes from the columns: in a browser by gnuplot's own script in
-- the SVG file, and in the report by the report's.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local utf8text = require "moonwarp.base.utf8text"

local gnuplot = {}

-- A chart is as narrow as a column of the report, so that its letters are as large there. px.
gnuplot.WIDTH, gnuplot.HEAD, gnuplot.FONT = 500, 50, 12
local HEAD <const>, LABELS <const>, FOOT <const>, KEY_ROW <const> = gnuplot.HEAD, 54, 66, 18
local WIDE_WIDTH <const>, WIDE_RATIO <const>, PNG_WIDTH <const>, LETTER <const> = 640, 0.625, 1125, 7.2
local MOST_TITLE <const>, MOST_KEY <const> = 70, 50 -- letters of a line, and of a name in the key
local MOST_WORDS <const> = 300 -- of gnuplot's own

--- How long gnuplot may take for the pictures of one script, s. Of a film it draws every frame.
gnuplot.LIMIT = 120

-- ---- texts --------------------------------------------------------------------------------------

-- One line of comment for any text: after a line's end gnuplot would read the rest as commands,
-- `...` among them, which a shell runs.
local function comment(format, ...)
  return "# " .. format:format(...):gsub("%c+", " ")
end

local function octal(letter)
  return ("\\%03o"):format(letter:byte())
end

-- In quotation marks gnuplot gives `date` to the shell, unless its signs are numbers.
local function in_marks(text)
  return '"' .. text:gsub('[%c"\\`]', octal) .. '"'
end

--- A text as gnuplot's literal string, on one line. gnuplot misreads '' at the beginning of one in apostrophes.
---@param text string
---@return string
function gnuplot.quote(text)
  text = utf8text.clean(text):gsub("%c+", " ")
  return text:find("'", 1, true) and in_marks(text) or "'" .. text .. "'"
end

--- The same of a text without its middle, where it is too long.
---@param text string
---@param width integer?  letters; else those of a name in the key
---@return string
function gnuplot.shortened(text, width)
  return gnuplot.quote(utf8text.shorten(text, width or MOST_KEY, "…"))
end

local UNSAFE = { ["'"] = "’", ['"'] = "”", ["\\"] = "∖" } -- gnuplot does not escape them in an SVG's attributes

local function safe(text)
  return (utf8text.clean(text):gsub("%c+", " "):gsub("['\"\\]", UNSAFE))
end

--- A text in quotation marks, as a column of the data.
---@param text string
---@return string
function gnuplot.column(text)
  return ('"%s"'):format(safe(text))
end

--- A point's hypertext as gnuplot computes it: the lines are a format, in which texts have gone through
--- gnuplot.constant.
---@param lines string[]   "naive", "n: %.6g MiB"
---@param values string    of the format: "$1, $2"
---@return string
function gnuplot.told(lines, values)
  return ("sprintf(%s, %s)"):format(in_marks(table.concat(lines, "\n")), values)
end

--- A text as part of such a format.
---@param text string
---@return string
function gnuplot.constant(text)
  return (safe(text):gsub("%%", "%%%%"))
end

-- ---- data ---------------------------------------------------------------------------------------

-- What heads every data file and script: what, on which device, by what, when.
local function header(about, drawing)
  local lines = {
    comment("%s", about.title), comment("device: %s", about.device), comment("script: %s", about.script),
    comment("date: %s", about.date), "# moonwarp " .. core.version .. ", " .. _VERSION,
  }
  return table.concat(lists.append(lines, lists.map(drawing.levels or {}, function(level)
    return comment("level: %.10g %s", level.value, level.label)
  end)), "\n")
end

-- Two blank lines between blocks: gnuplot's index counts them from 0. The names of the columns are the first line of
-- each, as columnhead() wants them.
local function blocks(drawing)
  return table.concat(lists.map(drawing.blocks, function(block, i)
    local columns = block.columns
    if columns == nil then columns = drawing.columns end
    local lines = { comment("%s %d: %s", drawing.what, i - 1, block.name) }
    if columns then lines[2] = table.concat(lists.map(columns, gnuplot.column), " ") end
    return table.concat(lists.append(lines, block), "\n")
  end), "\n\n\n")
end

--- The text of the .dat file: a commented header, then one block of columns a series.
---@param about table    title, device, script, date
---@param drawing table
---@return string
function gnuplot.data(about, drawing)
  return header(about, drawing) .. "\n" .. blocks(drawing) .. "\n"
end

-- ---- commands -----------------------------------------------------------------------------------

--- A list of commands, and a function that adds one: add("set xrange [%g:%g]", low, high).
---@return string[] list
---@return fun(format: string, ...) add   without values the text is taken as it is
function gnuplot.list()
  local list = {}
  return list, function(format, ...) list[#list + 1] = select("#", ...) > 0 and format:format(...) or format end
end

--- The plot that gives points their hypertext: an invisible disc over each.
---@param data string   "data index 0"
---@param using string  columns of their places: "1:2"
---@param told string   of gnuplot.told
---@return string
function gnuplot.hover(data, using, told)
  return ("%s using %s:(%s) with labels hypertext point pt 7 ps 1.2 lc rgb '#ff000000' notitle"):format(data, using,
    told)
end

--- Sets what is around a chart's axes: the title above, the labels of the x axis and the key below.
---@param add fun(...)     of gnuplot.list
---@param body number      height of the axes, px
---@param names string[]   in the key
---@return integer height  of the picture, px
function gnuplot.frame(add, body, names)
  local entry = math.min(utf8text.widest(names), MOST_KEY) * LETTER + 70 -- px
  local rows = math.ceil(#names / math.max(1, math.floor(0.82 * gnuplot.WIDTH / entry)))
  local below = FOOT + rows * KEY_ROW
  local height = math.floor(HEAD + body + below + 0.5)
  add("set tmargin at screen %.4f\nset bmargin at screen %.4f", 1 - HEAD / height, below / height)
  if rows == 0 then add "unset key" return height end
  add("set key at screen 0.5, screen %.4f center top vertical maxrows %d", (below - LABELS) / height, rows)
  return height
end

--- The command that sets a picture's title, in which the device has its own line.
---@param about table      title, device
---@param caption string?  of a frame, after the title
---@param most integer?    letters of a line, where the axes do not span the picture
---@return string
function gnuplot.title(about, caption, most)
  local ending, lines = ", " .. tostring(about.device), { about.title }
  if about.title:sub(-#ending) == ending then lines = { about.title:sub(1, -#ending - 1), about.device } end
  if caption then lines[1] = ("%s, %s"):format(lines[1], caption) end
  lines = lists.map(lines, function(line) return gnuplot.shortened(line, most or MOST_TITLE) end)
  return "set title " .. table.concat(lines, ".\"\\n\".")
end

local function base_style()
  local name = core.home() .. "/plots/base.gp"
  local text, reason = files.read(name)
  if not text then failure.raise_as("io", "mw.plot: the style of all charts is missing: %s", reason) end
  return (text:gsub("%f[$]%$(%l+)", palette.colour))
end

--- The text of a .gp file, which writes NAME.svg and NAME.png next to itself. The PNG is the same picture
--- with more pixels.
---@param about table       name, title, device, script, date
---@param drawing table
---@param is_alone boolean? it holds its data; else it draws NAME.dat next to it
---@return string
function gnuplot.script(about, drawing, is_alone)
  local width, height, mouse = WIDE_WIDTH, math.floor(WIDE_WIDTH * (drawing.ratio or WIDE_RATIO) + 0.5), ""
  if drawing.height then width, height = gnuplot.WIDTH, drawing.height end
  local plots = "plot " .. table.concat(drawing.plots, ", \\\n     ")
  if plots:find("hypertext", 1, true) then mouse = "standalone mousing " end
  local scale = PNG_WIDTH / width
  return table.concat({
    header(about, drawing), comment("draws %s.svg and %s.png: gnuplot %s.gp", about.name, about.name, about.name), "",
    is_alone and ("$data << END_OF_DATA\n%s\nEND_OF_DATA\ndata = '$data'"):format(blocks(drawing))
      or "data = " .. gnuplot.quote(about.name .. ".dat"), "",
    base_style(), gnuplot.title(about, drawing.caption, drawing.most_title), table.concat(drawing.settings, "\n"), "",
    ("set terminal svg size %d,%d dynamic %snoenhanced font 'Helvetica,%d' background rgb 'white'"):format(width,
      height, mouse, gnuplot.FONT),
    ("set output %s"):format(gnuplot.quote(about.name .. ".svg")),
    plots,
    "if (exists('svg_only')) { unset output; exit }",
    "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {",
    ("  set terminal pngcairo size %d,%d noenhanced font 'Helvetica,%d' fontscale %.3g linewidth %.3g pointscale %.3g")
      :format(PNG_WIDTH, height * PNG_WIDTH // width, gnuplot.FONT * 3 // 4, scale, scale, scale),
    "} else {",
    ("  set terminal png size %d,%d noenhanced"):format(PNG_WIDTH, height * PNG_WIDTH // width),
    "}",
    ("set output %s"):format(gnuplot.quote(about.name .. ".png")), "replot", "unset output", drawing.after,
  }, "\n") .. "\n"
end

-- ---- files --------------------------------------------------------------------------------------

-- gnuplot reports no error if the disk is full: a picture is complete if it has the end of its format.
local function is_whole(name, ending)
  local file <close> = io.open(name, "rb")
  return file ~= nil and file:seek("end", -16) ~= nil and file:read("a"):find(ending, 1, true) ~= nil
end

local function missing()
  if os.execute("command -v gnuplot >/dev/null 2>&1") then return nil end
  return "gnuplot is not installed (on Debian and Ubuntu: apt install gnuplot-nox)"
end

-- Runs gnuplot in a folder, without the user's or the folder's own settings (-d); nil, or why there are no pictures.
local function run(folder, script, first)
  local words = lists.append({ "gnuplot", "-d", "-e", "cd " .. in_marks(folder) }, first or {})
  local status, output = core.process(lists.append(words, { script }), gnuplot.LIMIT)
  if status == 0 then return nil end
  if not status then return output end
  output = utf8text.clean(output):gsub("%s+", " ")
  local what = status > 128 and ("was killed by signal %d"):format(status - 128) or "failed"
  return ("gnuplot %s: %s"):format(what, utf8text.cut(output:gsub("^ ", ""), MOST_WORDS, "…"))
end

--- Runs gnuplot on a script in its folder, which is to leave an SVG and a PNG of the same name.
---@param folder string
---@param script string    as in "copy.gp"
---@return boolean ok
---@return string? reason  "gnuplot is not installed", that it did not end, or gnuplot's own words
function gnuplot.run(folder, script)
  local reason = missing() or run(folder, script)
  if reason then return false, reason end
  local base = folder .. "/" .. script:gsub("%.gp$", "")
  if is_whole(base .. ".svg", "</svg>") and is_whole(base .. ".png", "IEND") then return true end
  return false, ("gnuplot left no whole pictures in %s: is the disk full?"):format(folder)
end

--- Draws only the SVG file of a script; one that gnuplot rejects has none.
---@param folder string
---@param script string    as in "copy.gp"
---@return string? reason  why there is no file
function gnuplot.svg(folder, script)
  local reason = missing() or run(folder, script, { "-e", "svg_only=1" })
  if reason then os.remove(("%s/%s.svg"):format(folder, script:gsub("%.gp$", ""))) end
  return reason
end

return gnuplot
