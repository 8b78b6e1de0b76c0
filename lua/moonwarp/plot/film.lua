-- SPDX-License-Identifier: MIT
--
-- A field over time: frames are added while a script computes, then drawn as an animated GIF, with the last
-- frame as a picture (SVG, PNG). A frame of a 2-D field is a heat map, that of a 1-D field a line. A picture is a film
-- of one frame. A live film shows its frames at the terminal as well.

local chart = require "moonwarp.plot.chart"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local figure = require "moonwarp.plot.figure"
local gnuplot = require "moonwarp.plot.gnuplot"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local session = require "moonwarp.session"
local units = require "moonwarp.base.units"

local film = {}

local SPEC = {
  name = "string", title = "string", xlabel = "string", ylabel = "string", label = "string",
  low = "number", high = "number", delay = "number", device = "device", quiet = "boolean",
  pictures = "boolean", x = "table", y = "table", aspect = "number", marks = "table", live = "boolean",
}
local MARK <const> = { x = "number", y = "number", label = "string" }
local ASPECTS <const> = { 0.05, 20 }
local PACE <const> = 0.05 -- s at least between frames at the terminal
local SHADES <const> = " .:-=+*#%@"
local MOST_POINTS = 1 << 18
local DELAY = 0.08 -- s between frames
-- px: a picture, the field in it, and what is above and below the field.
local WIDTH <const>, FIELD <const>, AROUND <const>, LEAST_HEIGHT <const>, MOST_HEIGHT <const> = 640, 490, 100, 80, 540
local STRIP <const> = 4 -- a field of more than so many times its width in height fills its frame
-- Of a line: height over width of its picture, and the room above and below it.
local LINE_RATIO <const>, AIR <const> = 0.625, 0.03

local film_type = {}
film_type.__index = film_type
film_type.__name = "film"

-- Whether x or y says what the first and the last element stand for.
local function is_range(range)
  local low, high = range[1], range[2]
  return type(low) == "number" and type(high) == "number" and low - low == 0 and high - high == 0 and low ~= high
end

local function checked(who, spec)
  local options = schema.options(who, spec, SPEC)
  if options.low and options.high and options.high <= options.low then
    failure.invalid("%s: option 'high' must be above 'low', got %g and %g", who, options.high, options.low)
  end
  for _, axis in ipairs { "x", "y" } do
    if options[axis] and not is_range(options[axis]) then
      failure.invalid("%s: option '%s' must be what the first and the last element stand for, as { 0, 2.5 }", who, axis)
    end
  end
  local aspect = options.aspect
  if aspect and not (aspect >= ASPECTS[1] and aspect <= ASPECTS[2]) then
    failure.invalid("%s: option 'aspect' must be height over width, from %g to %g, got %g", who, ASPECTS[1], ASPECTS[2],
      aspect)
  end
  for i, mark in ipairs(options.marks or {}) do
    schema.options(("%s: mark %d"):format(who, i), mark, MARK)
    if not (mark.x and mark.y) then failure.invalid("%s: mark %d needs x and y", who, i) end
  end
  return options
end

--- Begins a film of a 1-D or 2-D field.
--- Options: name (of the files), title, xlabel, ylabel, label (of the colours, or of a line's values, with
--- unit), low and high (the range of the values; that of the frames if absent), delay (s between frames),
--- device (named in the title), quiet, pictures; x and y (what the first and the last element along an axis stand for),
--- aspect (height over width of the field), marks (points { x =, y =, label = }), live (frames at the terminal, too).
---@param spec table?
---@return table film  with the methods add and draw
function film.new(spec)
  local options = checked("mw.film", spec)
  local is_live = options.live and not (options.quiet or session.current.options.quiet) and chart.is_screen()
  return setmetatable({ spec = options, frames = {}, kind = "film", shown = is_live and -math.huge or nil }, film_type)
end

-- gnuplot leaves out values that are not numbers; it has no word for infinity.
local function numbers(row)
  local words = {}
  for i, value in ipairs(row) do
    words[i] = value - value == 0 and ("%.6g"):format(value) or "nan"
  end
  return table.concat(words, " ")
end

-- The sides of an array that a film can show; that of a line is one row of its elements.
local function sides_of(self, array)
  if core.type(array) ~= "array" then
    failure.invalid("film:add: an array is wanted, got %s", core.type(array) or type(array))
  end
  local nx, ny, deep = array:shape()
  if deep then failure.invalid("film:add: a 1-D or 2-D array is wanted") end
  local shape = ny and ("%d x %d elements"):format(nx, ny) or units.count(nx, "element")
  if nx < 2 or ny and ny < 2 then
    failure.invalid("film:add: the array has %s, a picture needs %s at least", shape, ny and "2 x 2" or "2")
  end
  if nx * (ny or 1) > MOST_POINTS then
    failure.invalid("film:add: the array has %s, a frame shows %d at most; film a smaller field or a view", shape,
      MOST_POINTS)
  end
  if self.ny and (self.ny > 1) ~= (ny ~= nil) then
    failure.invalid("film:add: the film has %s frames, got an array of %s", ny and "1-D" or "2-D", shape)
  end
  return nx, ny or 1
end

-- ---- at the terminal ----------------------------------------------------------------------------

--- A frame in shades of grey, as lines of text.
---@param rows table[]     of numbers
---@param width integer    letters
---@param low number       darkest
---@param high number
---@return string[]
function film.shades(rows, width, low, high)
  local nx, ny = #rows[1], #rows
  width = math.min(width, nx)
  local height = math.max(1, math.min(ny, math.floor(width * ny / nx / 2 + 0.5))) -- a letter is twice as high as wide
  local lines = {}
  for iy = 1, height do
    local row, signs = rows[1 + (iy - 1) * ny // height], {}
    for ix = 1, width do
      local value = row[1 + (ix - 1) * nx // width]
      local share = high > low and (value - low) / (high - low) or 0
      local shade = share == share and math.floor(math.max(0, math.min(1, share)) * (#SHADES - 1) + 0.5) + 1
      signs[ix] = shade and SHADES:sub(shade, shade) or "?"
    end
    lines[height + 1 - iy] = table.concat(signs) -- y goes upwards
  end
  return lines
end

-- Over the frame before it, as long as nobody else has written.
local function show(self, rows, caption)
  if core.clock() - self.shown < PACE then return end
  local low, high = self.spec.low or self.low or 0, self.spec.high or self.high or 0
  local lines = film.shades(rows, chart.size() - 1, low, high)
  table.insert(lines, caption)
  io.stdout:write(self.height and ("\27[%dA"):format(self.height) or "")
  for _, line in ipairs(lines) do io.stdout:write(line, "\27[K\n") end
  io.stdout:flush()
  self.shown, self.height = core.clock(), #lines
end

-- ---- frames -------------------------------------------------------------------------------------

--- Adds the field as it is now.
---@param array userdata  1-D or 2-D, 2^18 elements at most: a frame is a picture
---@param caption string? as in "t = 0.25 s"
---@return table self
function film_type:add(array, caption)
  local nx, ny = sides_of(self, array)
  local lines, values = {}, array:totable()
  local rows = ny > 1 and values or { values }
  for iy, row in ipairs(rows) do
    lines[iy] = numbers(row)
    for _, value in ipairs(row) do
      if value - value == 0 then -- neither NaN nor infinite
        self.low = math.min(self.low or value, value)
        self.high = math.max(self.high or value, value)
      end
    end
  end
  lines.name = tostring(caption or ("frame %d"):format(#self.frames + 1)):gsub("%s+", " ")
  self.nx, self.ny = math.max(nx, self.nx or 0), math.max(ny, self.ny or 0)
  table.insert(self.frames, lines)
  if self.shown and ny > 1 then show(self, rows, lines.name) end
  return self
end

-- One scale for all frames, on which a line does not touch the frame; gnuplot rejects an empty range.
local function range_of(self)
  local low, high = self.low or 0, self.high or 1
  local room = math.max(1, math.abs(low) / 1000) -- where all values are equal
  local air = self.ny == 1 and (high > low and AIR * (high - low) or room) or 0
  low, high = self.spec.low or low - air, self.spec.high or high + air
  if high <= low then high = low + math.max(room, math.abs(low) / 1000) end
  return low, high
end

-- ---- for gnuplot --------------------------------------------------------------------------------

-- Height over width of a picture that the field fills. The scales of both axes are the same, but in a strip and where
-- they are not of elements.
local function shape_of(picture)
  if picture.ny == 1 and not picture.aspect then return LINE_RATIO, false end
  local shape = picture.aspect or picture.ny / picture.nx
  local height = math.max(LEAST_HEIGHT, math.min(FIELD * shape, MOST_HEIGHT)) + AROUND
  local is_equal = not (picture.aspect or picture.x or picture.y)
  return height / WIDTH, is_equal and shape >= LEAST_HEIGHT / FIELD and shape <= STRIP
end

-- gnuplot's column with what element $n, from 0, along an axis stands for.
local function place(column, range, count)
  if not (range and range[1] and range[2]) then return ("%d"):format(column) end
  return ("(%.17g + $%d * %.17g)"):format(range[1], column, (range[2] - range[1]) / (count - 1))
end

local function add_marks(add, picture)
  local colour = picture.ny == 1 and "black" or "white"
  for i, mark in ipairs(picture.marks or {}) do
    add("set label %d %s at first %.17g, first %.17g point pt 6 ps 1.5 lw 2 lc rgb '%s' tc rgb '%s' offset 0.9,0.5 "
      .. "front", i, gnuplot.shortened(mark.label or ""), mark.x, mark.y, colour, colour)
  end
end

local function settings(picture, is_equal)
  local list, add = gnuplot.list()
  add(is_equal and "set size ratio -1" or "set size noratio")
  add "unset key\nset autoscale fix"
  add("set xlabel %s", gnuplot.shortened(picture.xlabel))
  add("set ylabel %s", gnuplot.shortened(picture.ylabel))
  add_marks(add, picture)
  if picture.ny == 1 then
    add("set yrange [%.10g:%.10g]", picture.low, picture.high)
    return list
  end
  add "unset grid"
  add "set palette defined (0 '#000004', 0.25 '#420a68', 0.5 '#932667', 0.75 '#dd513a', 0.9 '#fca50a', 1 '#fcffa4')"
  add("set cbrange [%.10g:%.10g]", picture.low, picture.high)
  add("set cblabel %s", gnuplot.shortened(picture.label))
  return list
end

-- The commands that draw a frame, by its number from 1.
local function image(picture, i)
  local data = ("data index %d matrix"):format(i - 1)
  local x = place(1, picture.x, picture.nx)
  if picture.ny > 1 then return ("%s using %s:%s:3 with image"):format(data, x, place(2, picture.y, picture.ny)) end
  return ("%s using %s:3 with lines lw 2 lc rgb '%s'"):format(data, x, palette.colour "k1")
end

-- After the still pictures: the same plot once per frame.
local function animation(picture, frames, ratio)
  local list, add = gnuplot.list()
  add "if (strstrt(GPVAL_TERMINALS, 'gif') > 0) {"
  add("set terminal gif animate delay %d loop 0 optimize size %d,%d noenhanced font 'Helvetica,11'",
    math.max(1, math.floor(picture.delay * 100 + 0.5)), WIDTH, math.floor(ratio * WIDTH))
  add("set output %s", gnuplot.quote(picture.name .. ".gif"))
  for i, frame in ipairs(frames) do
    add("%s\nplot %s", gnuplot.title(picture, frame.name), image(picture, i))
  end
  add "unset output\n}"
  return table.concat(list, "\n")
end

--- A film as gnuplot draws it.
---@param picture table   as record.json has it
---@param frames table[]  of film.frames
---@return table drawing  of gnuplot.script
function film.drawing(picture, frames)
  local ratio, is_equal = shape_of(picture)
  local is_film = picture.kind == "film"
  return { columns = false, what = "frame", blocks = frames, caption = is_film and frames[#frames].name or nil,
    ratio = ratio, settings = settings(picture, is_equal), plots = { image(picture, #frames) },
    after = is_film and animation(picture, frames, ratio) or nil }
end

--- The frames that a film's data file holds: lines of numbers, and no others, which a script would take for commands.
---@param text string     of NAME.dat
---@return table[] frames { name = caption, line, ... }
function film.frames(text)
  local frames = {}
  for line in text:gmatch "[^\n]+" do
    local caption, frame = line:match "^# frame %d+: (.*)$", frames[#frames]
    if caption then
      frames[#frames + 1] = { name = caption }
    elseif frame and not line:find "[^%d%s.e+na-]" then
      frame[#frame + 1] = line
    end
  end
  return frames
end

--- Draws one field as it is now.
---@param array userdata  1-D or 2-D, 2^18 elements at most
---@param spec table?     options of film.new, without delay and live
---@return table made     paths: dat, gp, svg, png; reason where there are no pictures
function film.picture(array, spec)
  local one = setmetatable({ spec = checked("mw.picture", spec), frames = {}, kind = "picture" }, film_type)
  return one:add(array, "as it is"):draw()
end

--- Writes NAME.dat, NAME.gp and, if gnuplot is installed, NAME.gif (all frames), NAME.svg and
--- NAME.png (the last one).
---@return table made  paths: dat, gp, svg, png, gif; reason where there are no pictures
function film_type:draw()
  if #self.frames == 0 then failure.invalid("film:draw: there is no frame; film:add(array) adds one") end
  local spec, kind, low, high = self.spec, self.kind, range_of(self)
  local ylabel = spec.ylabel or self.ny == 1 and (spec.label or "") or spec.y and "y" or "iy"
  local picture = lists.merged(figure.describe(spec, kind), { kind = kind, nx = self.nx, ny = self.ny, low = low,
    high = high, xlabel = spec.xlabel or spec.x and "x" or "ix", ylabel = ylabel, label = spec.label or "",
    delay = spec.delay or DELAY, x = spec.x, y = spec.y, aspect = spec.aspect, marks = spec.marks })
  return figure.write(spec, picture, film.drawing(picture, self.frames), kind == "film" and "gif" or nil)
end

return film
