-- SPDX-License-Identifier: MIT
--
-- The colours, shapes and dashes of all charts: gnuplot's, the terminal's and the report's. Colours of
-- series are those of M. Okabe and K. Ito, "Color universal design" (2008), darkened until each has a
-- contrast of 3:1 on its ground; shapes and dashes distinguish series without them.

local lists = require "moonwarp.base.lists"

local palette = {}

-- On light ground, on dark ground. No two of the first column are the same: the report knows them by it.
local COLOURS = {
  ground = { "#ffffff", "#14171b" }, text = { "#1b1f24", "#e6e9ed" }, soft = { "#57606a", "#a4adb8" },
  rule = { "#d3d9e0", "#3a424c" }, grid = { "#e6e9ed", "#292f37" }, title = { "#1b1f25", "#e6e9ed" },
  k1 = { "#0072b2", "#56b4e9" }, k2 = { "#d04f00", "#ff8a3d" }, k3 = { "#00805b", "#2fc79a" },
  k4 = { "#a8408a", "#e48cc8" }, k5 = { "#8a6500", "#e6c34a" }, k6 = { "#30363d", "#dfe3e8" },
  k7 = { "#3587c7", "#8fa8ff" }, k8 = { "#7a3b10", "#d69a72" },
  l1 = { "#000000", "#ffffff" }, l2 = { "#666666", "#b4bdc7" }, l3 = { "#882255", "#f08fc0" },
  l4 = { "#117733", "#8fdc9c" },
}
local SERIES <const>, LEVELS <const> = 8, 4

-- gnuplot's point type and its size, the terminal's letter with Unicode and without.
local SHAPES = {
  { 7, 0.7, "●", "o" }, { 5, 0.7, "■", "x" }, { 9, 0.9, "▲", "+" }, { 13, 0.85, "◆", "*" }, { 11, 0.9, "▼", "#" },
  { 6, 0.8, "○", "@" }, { 4, 0.7, "□", "%" }, { 15, 0.9, "★", "&" },
}

-- The second round of colours begins one shape further on, with another dash: no pair comes twice in 64.
local function look_of(i)
  local round = (i - 1) // SERIES
  return (i - 1) % SERIES + 1, SHAPES[(i - 1 + round) % #SHAPES + 1], round % 4 + 1
end

--- A series' line and points, as gnuplot's plot command has them.
---@param i integer
---@return string  "lc rgb '#0072b2' dt 1 pt 7 ps 0.7"
function palette.series(i)
  local colour, shape, dash = look_of(i)
  return ("lc rgb '%s' dt %d pt %d ps %g"):format(COLOURS["k" .. colour][1], dash, shape[1], shape[2])
end

--- Points that others measured: on any bar, so without a colour of their own.
---@param i integer
---@return string
function palette.mark(i)
  local shape = SHAPES[(i + 1) % #SHAPES + 1]
  return ("lc rgb '%s' pt %d ps %g"):format(COLOURS.text[1], shape[1], shape[2])
end

--- The colour of a level's label.
---@param i integer
---@return string
function palette.level_colour(i)
  return COLOURS["l" .. (i - 1) % LEVELS + 1][1]
end

--- A level's line.
---@param i integer
---@return string
function palette.level(i)
  return ("lc rgb '%s' dt %d lw 1.3"):format(palette.level_colour(i), (i - 1) % 4 + 2)
end

--- A series' marker in the terminal.
---@param i integer
---@param unicode boolean
---@return string
function palette.marker(i, unicode)
  local _, shape = look_of(i)
  return shape[unicode and 3 or 4]
end

-- The nearest of a terminal's 256 colours that have a contrast of 3:1 on black and on white.
local PAINTS <const> = { 32, 166, 29, 169, 136, 244, 68, 131 }

--- A text in a series' colour, for a terminal.
---@param text string
---@param i integer
---@return string
function palette.paint(text, i)
  return ("\27[38;5;%dm%s\27[0m"):format(PAINTS[(look_of(i))], text)
end

--- A colour on light ground: "#0072b2".
---@param name string  "text", "grid", "k1", ...
---@return string
function palette.colour(name)
  return COLOURS[name][1]
end

--- The colours as CSS variables, which follow the page's color-scheme.
---@return string  ":root { --grid: light-dark(#e6e9ed, #292f37); ... }"
function palette.css()
  local lines = lists.map(lists.keys(COLOURS), function(name)
    return ("--%s: light-dark(%s, %s);"):format(name, COLOURS[name][1], COLOURS[name][2])
  end)
  return (":root { %s }\n"):format(table.concat(lines, " "))
end

--- What colours of a gnuplot picture are here.
---@return table<string, string> names  by "#0072b2"
function palette.names()
  local names = {}
  for name, colours in pairs(COLOURS) do names[colours[1]] = name end
  return names
end

return palette
