-- SPDX-License-Identifier: MIT
--
-- A 2-D field over time: frames are added while a script computes, then drawn as an animated GIF, with
-- the last frame as a heat map (SVG, PNG).

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local figure = require "moonwarp.plot.figure"
local gnuplot = require "moonwarp.plot.gnuplot"
local lists = require "moonwarp.base.lists"

local film = {}

local SPEC = {
  name = "string", title = "string", xlabel = "string", ylabel = "string", label = "string",
  low = "number", high = "number", delay = "number", device = "device", quiet = "boolean",
  pictures = "boolean",
}
local MOST_POINTS = 1 << 18
local DELAY = 0.08 -- s between frames
-- px: a picture, the field in it, and what is above and below the field.
local WIDTH <const>, FIELD <const>, AROUND <const>, LEAST_HEIGHT <const>, MOST_HEIGHT <const> = 640, 490, 100, 80, 540
local STRIP <const> = 4 -- a field of more than so many times its width in height fills its frame

local film_type = {}
film_type.__index = film_type
film_type.__name = "film"

--- Begins a film of a 2-D field.
--- Options: name (of the files), title, xlabel, ylabel, label (of the colours, with unit), low and high
--- (the colours' range; that of the frames if absent), delay (s between frames), device (named in the
--- title), quiet, pictures.
---@param spec table?
---@return table film  with the methods add and draw
function film.new(spec)
  local options = schema.options("mw.film", spec, SPEC)
  if options.low and options.high and options.high <= options.low then
    failure.invalid("mw.film: option 'high' must be above 'low', got %g and %g", options.high, options.low)
  end
  return setmetatable({ spec = options, frames = {} }, film_type)
end

-- gnuplot leaves out values that are not numbers; it has no word for infinity.
local function numbers(row)
  local words = {}
  for i, value in ipairs(row) do
    words[i] = value - value == 0 and ("%.6g"):format(value) or "nan"
  end
  return table.concat(words, " ")
end

--- Adds the field as it is now.
---@param array userdata  2-D, 2^18 elements at most: a frame is a picture
---@param caption string? as in "t = 0.25 s"
---@return table self
function film_type:add(array, caption)
  if core.type(array) ~= "array" then
    failure.invalid("film:add: an array is wanted, got %s", core.type(array) or type(array))
  end
  local nx, ny, deep = array:shape()
  if not ny or deep then failure.invalid("film:add: a 2-D array is wanted") end
  if nx < 2 or ny < 2 then
    failure.invalid("film:add: the array has %d x %d elements, a picture needs 2 x 2 at least", nx, ny)
  end
  if nx * ny > MOST_POINTS then
    failure.invalid("film:add: the array has %d x %d elements, a frame shows %d at most; "
      .. "film a smaller field or a view", nx, ny, MOST_POINTS)
  end
  local lines = {}
  for iy, row in ipairs(array:totable()) do
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
  return self
end

-- One colour scale for all frames; gnuplot rejects an empty range.
local function range_of(self)
  local low, high = self.spec.low or self.low or 0, self.spec.high or self.high or 1
  if high <= low then high = low + 1 end
  return low, high
end

-- ---- for gnuplot --------------------------------------------------------------------------------

-- Height over width of the field, and of a picture that it fills; the scales of both axes are the same, but in a strip.
local function shape_of(picture)
  local shape = picture.ny / picture.nx
  local height = math.max(LEAST_HEIGHT, math.min(FIELD * shape, MOST_HEIGHT)) + AROUND
  return height / WIDTH, shape >= LEAST_HEIGHT / FIELD and shape <= STRIP
end

local function settings(picture, is_equal)
  local list, add = gnuplot.list()
  add(is_equal and "set size ratio -1" or "set size noratio")
  add "unset grid\nunset key\nset autoscale fix"
  add "set palette defined (0 '#000004', 0.25 '#420a68', 0.5 '#932667', 0.75 '#dd513a', 0.9 '#fca50a', 1 '#fcffa4')"
  add("set cbrange [%.10g:%.10g]", picture.low, picture.high)
  add("set xlabel %s", gnuplot.shortened(picture.xlabel))
  add("set ylabel %s", gnuplot.shortened(picture.ylabel))
  add("set cblabel %s", gnuplot.shortened(picture.label))
  return list
end

-- The commands that draw a frame, by its number from 1.
local function image(i)
  return ("data index %d matrix with image"):format(i - 1)
end

-- After the still pictures: the same plot once per frame.
local function animation(picture, frames, ratio)
  local list, add = gnuplot.list()
  add "if (strstrt(GPVAL_TERMINALS, 'gif') > 0) {"
  add("set terminal gif animate delay %d loop 0 optimize size %d,%d noenhanced font 'Helvetica,11'",
    math.max(1, math.floor(picture.delay * 100 + 0.5)), WIDTH, math.floor(ratio * WIDTH))
  add("set output %s", gnuplot.quote(picture.name .. ".gif"))
  for i, frame in ipairs(frames) do
    add("%s\nplot %s", gnuplot.title(picture, frame.name), image(i))
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
  return { columns = false, what = "frame", blocks = frames, caption = frames[#frames].name, ratio = ratio,
    settings = settings(picture, is_equal), plots = { image(#frames) }, after = animation(picture, frames, ratio) }
end

--- The frames that a film's data file holds.
---@param text string     of NAME.dat
---@return table[] frames { name = caption, line, ... }
function film.frames(text)
  local frames = {}
  for caption, lines in text:gmatch "# frame %d+: ([^\n]*)\n([^#]*)" do
    local frame = { name = caption }
    for line in lines:gmatch "[^\n]+" do frame[#frame + 1] = line end
    frames[#frames + 1] = frame
  end
  return frames
end

--- Writes NAME.dat, NAME.gp and, if gnuplot is installed, NAME.gif (all frames), NAME.svg and
--- NAME.png (the last one).
---@return table made  paths: dat, gp, svg, png, gif; reason where there are no pictures
function film_type:draw()
  if #self.frames == 0 then failure.invalid("film:draw: there is no frame; film:add(array) adds one") end
  local spec, low, high = self.spec, range_of(self)
  local picture = lists.merged(figure.describe(spec, "film"), { kind = "film", nx = self.nx, ny = self.ny, low = low,
    high = high, xlabel = spec.xlabel or "ix", ylabel = spec.ylabel or "iy", label = spec.label or "",
    delay = spec.delay or DELAY })
  return figure.write(spec, picture, film.drawing(picture, self.frames), "gif")
end

return film
