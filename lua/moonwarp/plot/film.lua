-- SPDX-License-Identifier: MIT
--
-- A field over time: frames are added while a script computes, then drawn as an animated GIF, with the last
-- frame as a picture (SVG, PNG). A frame of a 2-D field is a heat map, that of a 1-D field a line. A still picture is
-- a film of one frame, without the GIF. A live film is shown in the terminal as well.

local core = require "moonwarp.core"
local chart = require "moonwarp.plot.chart"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local schema = require "moonwarp.base.schema"
local figure = require "moonwarp.plot.figure"
local gnuplot = require "moonwarp.plot.gnuplot"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local units = require "moonwarp.base.units"
local utf8text = require "moonwarp.base.utf8text"

local ENDS <const> = { list = "number", least = 2, optional = true } -- of an axis

local film = { name = "film", text = function(picture) return picture.title end, form = schema.fields {
  nx = "number", ny = "number", low = "number", high = "number", xlabel = "string", ylabel = "string",
  label = "string", delay = "number?", device = "string", x = ENDS, y = ENDS, aspect = "number?",
  marks = schema.optional(schema.list(schema.fields { x = "number", y = "number", label = "string?" })),
} }

local RANGE = schema.optional(schema.list "number")
local STILL = {
  name = "string", title = "string", xlabel = "string", ylabel = "string", label = "string",
  low = "number", high = "number", x = RANGE, y = RANGE, aspect = "number",
  marks = film.form.fields.marks, device = "device", quiet = "boolean", pictures = "boolean",
}
local SPEC = lists.merged(STILL, { delay = "number", live = "boolean" })
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

local films = 0

local function new(session, who, add, spec, rules)
  local options = schema.options(who, spec, rules)
  if options.low and options.high and options.high <= options.low then
    failure.invalid("%s: option 'high' must be above 'low', got %g and %g", who, options.high, options.low)
  end
  for _, name in ipairs { "x", "y" } do
    local ends = options[name]
    if ends and not (#ends == 2 and ends[1] ~= ends[2] and math.abs(ends[2] - ends[1]) < math.huge) then
      failure.invalid("%s: option '%s' must be { first, last }, the places of the first and the last element", who,
        name)
    end
  end
  schema.check_numbers(who, options, { aspect = { 0.05, 20 }, delay = { 0 } })
  for i, mark in ipairs(options.marks or {}) do
    if mark.x - mark.x ~= 0 or mark.y - mark.y ~= 0 then
      failure.invalid("%s: option 'marks'[%d] must be a place, with finite x and y", who, i)
    end
  end
  films = films + 1
  return setmetatable({ session = session, spec = options, frames = {}, who = add,
                        number = not options.name and films }, film_type)
end

--- Begins a film of a 1-D or 2-D field.
--- Options: name (of the files), title, xlabel, ylabel, label (of the colours, or of a line's values, with
--- unit), low and high (the range of the values; that of the frames if absent), x and y (the places of the first and
--- the last element), aspect (height over width), marks (points), delay (s between frames), live, device (named in
--- the title), quiet, pictures.
---@param session table
---@param spec table?
---@return table film  with the methods add and draw
function film.draw(session, spec)
  return new(session, "mw.film", "film:add", spec, SPEC)
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
    failure.invalid("%s: an array is wanted, got %s", self.who, core.type(array) or type(array))
  end
  local nx, ny, deep = array:shape()
  if deep then failure.invalid("%s: a 1-D or 2-D array is wanted", self.who) end
  local shape = ny and ("%d x %d elements"):format(nx, ny) or units.count(nx, "element")
  if nx < 2 or ny and ny < 2 then
    failure.invalid("%s: the array has %s, a picture needs %s at least", self.who, shape, ny and "2 x 2" or "2")
  end
  if nx * (ny or 1) > MOST_POINTS then
    failure.invalid("%s: the array has %s, a frame shows %d at most; film a smaller field or a view", self.who,
      shape, MOST_POINTS)
  end
  if self.ny and (self.ny > 1) ~= (ny ~= nil) then
    failure.invalid("%s: the film has %s frames, got an array of %s", self.who, ny and "1-D" or "2-D", shape)
  end
  return nx, ny or 1
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

-- ---- in the terminal ----------------------------------------------------------------------------

-- From nothing to full: a cell of a heat map by its value, one of a line by how much of it lies below the line.
local RAMPS <const> = {
  [true] = { map = { " ", "░", "▒", "▓", "█" }, line = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" } },
  [false] = { map = { " ", ".", ":", "+", "#" }, line = { " ", ".", ":", "|" } },
}
local PAUSE <const>, MOST_ROWS <const> = 0.1, 24 -- s between frames in the terminal, lines of one

--- A field in letters, about twice as high as they are wide; the first row is at the bottom.
---@param rows table[]    of numbers; one row is a line
---@param low number      of the scale
---@param high number
---@param shape number    height over width
---@param size table      width, height (letters, lines at most), unicode
---@return string[] lines
function film.letters(rows, low, high, shape, size)
  local ny, nx = #rows, #rows[1]
  local width = math.max(1, math.min(size.width, math.floor(2 * size.height / shape)))
  local height, lines = math.max(1, math.min(size.height, math.floor(width * shape / 2 + 0.5))), {}
  local ramp = RAMPS[size.unicode or false][ny > 1 and "map" or "line"]
  for line = 1, height do
    local cells, row = {}, rows[math.floor((height - line + 0.5) / height * ny) + 1]
    for column = 1, width do
      local part = ((row[math.floor((column - 0.5) / width * nx) + 1] or 0 / 0) - low) / (high - low)
      if ny == 1 then part = part * height - (height - line) end
      cells[column] = part == part and ramp[math.floor(math.max(0, math.min(part, 1)) * (#ramp - 1) + 0.5) + 1] or " "
    end
    lines[line] = table.concat(cells)
  end
  return lines
end

local last -- the film whose frame is the last thing in the terminal, as far as this is known

-- What a script prints, and what is said of its checks, stays below the frame before it.
local function watch_output()
  local methods = getmetatable(io.stdout).__index
  for _, one in ipairs { { _G, "print" }, { io, "write" }, { methods, "write" } } do
    local of, name = one[1], one[2]
    local write = of[name]
    of[name] = function(first, ...)
      if of ~= methods or first == io.stdout or first == io.stderr then last = nil end
      return write(first, ...)
    end
  end
  watch_output = function() end
end

-- Draws the last frame over the one before, unless that was a moment ago.
local function show(self, now)
  local columns, lines = chart.screen()
  if not columns or self.spec.quiet or self.session.options.quiet then return self end
  if self.shown_at and now - self.shown_at < PAUSE then return self end
  local _, unicode = chart.size()
  local size = { width = math.max(1, columns - 1), height = math.max(1, math.min(MOST_ROWS, lines - 3)),
    unicode = unicode }
  local shape = self.spec.aspect or self.ny > 1 and self.ny / self.nx or LINE_RATIO
  local low, high = range_of(self)
  local text = film.letters(self.values, low, high, shape, size)
  local caption = utf8text.cut(utf8text.clean(self.frames[#self.frames].name):gsub("%c", ""), size.width, "")
  table.insert(text, 1, unicode and caption or utf8text.ascii(caption))
  watch_output()
  io.write(last == self and ("\r\27[%dA\27[J"):format(self.drawn) or "", table.concat(text, "\n"), "\n")
  io.flush()
  self.shown_at, self.drawn, last = now, #text, self
  return self
end

--- Adds the field as it is now.
---@param array userdata  1-D or 2-D, 2^18 elements at most: a frame is a picture
---@param caption string? as in "t = 0.25 s"
---@return table self
function film_type:add(array, caption)
  local nx, ny = sides_of(self, array)
  local lines, values = {}, array:totable()
  values = ny > 1 and values or { values }
  for iy, row in ipairs(values) do
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
  self.values = values
  return self.spec.live and show(self, core.clock()) or self
end

-- ---- for gnuplot --------------------------------------------------------------------------------

-- Height over width of a picture, and of the field in it, nil where it fills its picture: the elements are squares, but
-- in a strip.
local function shape_of(picture)
  if picture.ny == 1 and not picture.aspect then return LINE_RATIO end
  local shape = picture.aspect or picture.ny / picture.nx
  local height = math.max(LEAST_HEIGHT, math.min(FIELD * shape, MOST_HEIGHT)) + AROUND
  local is_kept = picture.aspect or shape >= LEAST_HEIGHT / FIELD and shape <= STRIP
  return height / WIDTH, is_kept and shape
end

-- The place of the element `from` an axis begins with, and the step to the next.
local function steps_of(ends, count)
  if not ends then return 0, 1 end
  return ends[1], (ends[2] - ends[1]) / math.max(1, count - 1)
end

-- Points with labels, which lie towards the middle; on a heat map in a colour that its palette lacks.
local function add_marks(add, picture)
  local begin, step = steps_of(picture.x, picture.nx)
  local colour = picture.ny > 1 and "#00e5ff" or palette.colour "k2"
  for _, mark in ipairs(picture.marks or {}) do
    local is_right = ((mark.x - begin) / step > picture.nx / 2) == (step > 0) -- an axis may fall
    add("set label %s at first %.10g, first %.10g %s offset %d,0 front textcolor rgb '%s' point pt 6 ps 2 lw 2 "
      .. "lc rgb '%s'", gnuplot.shortened(mark.label or ""), mark.x, mark.y, is_right and "right" or "left",
      is_right and -2 or 2, colour, colour)
  end
end

local function settings(picture, shape)
  local list, add = gnuplot.list()
  add(shape and ("set size ratio %.6g"):format(shape) or "set size noratio")
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
  local function place(ends, count, column)
    local begin, step = steps_of(ends, count)
    return ends and ("(%.10g+%.10g*$%d)"):format(begin, step, column) or column
  end
  local x, y = place(picture.x, picture.nx, 1), place(picture.y, picture.ny, 2)
  if picture.ny > 1 then return ("%s using %s:%s:3 with image"):format(data, x, y) end
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
---@param picture table    as record.json has it
---@param frames table[]?  of film.frames; else those of its file: folder, data
---@return table drawing   of gnuplot.script
function film.drawing(picture, frames)
  frames = frames or film.frames(files.read_below(picture, picture.data) or "")
  if #frames == 0 then
    failure.raise_as("usage", "%s/%s has no frames of a film", picture.folder, picture.data)
  end
  local ratio, shape = shape_of(picture)
  return { columns = false, what = "frame", blocks = frames, caption = picture.delay and frames[#frames].name,
    ratio = ratio, settings = settings(picture, shape), plots = { image(picture, #frames) },
    after = picture.delay and animation(picture, frames, ratio) }
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

local function write(self, kind, delay)
  local spec, low, high = self.spec, range_of(self)
  local ylabel = spec.ylabel or self.ny == 1 and (spec.label or "") or "iy"
  local about = figure.describe(self.session, spec, kind, self.number)
  local picture = lists.merged(about, { kind = "film", nx = self.nx, ny = self.ny, low = low, high = high,
    xlabel = spec.xlabel or "ix", ylabel = ylabel, label = spec.label or "", x = spec.x, y = spec.y,
    aspect = spec.aspect, marks = spec.marks, delay = delay })
  return figure.write(self.session, spec, picture, film.drawing(picture, self.frames), delay and "gif")
end

--- Writes NAME.dat, NAME.gp and, if gnuplot is installed, NAME.gif (all frames), NAME.svg and
--- NAME.png (the last one).
---@return table made  paths: dat, gp, svg, png, gif; reason where there are no pictures
function film_type:draw()
  if #self.frames == 0 then failure.invalid("film:draw: there is no frame; film:add(array) adds one") end
  if self.spec.live then show(self, math.huge) end
  return write(self, "film", self.spec.delay or DELAY)
end

--- Draws a field as it is now: NAME.dat, NAME.gp and, if gnuplot is installed, NAME.svg and NAME.png.
---@param session table
---@param array userdata  1-D or 2-D, as of a film
---@param spec table?     as of film.draw, without delay and live
---@return table made     paths: dat, gp, svg, png; reason where there are no pictures
function film.still(session, array, spec)
  return write(new(session, "mw.picture", "mw.picture", spec, STILL):add(array), "picture")
end

return film
