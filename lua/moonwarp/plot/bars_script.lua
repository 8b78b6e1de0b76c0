-- SPDX-License-Identifier: MIT
--
-- A ladder as gnuplot draws it: horizontal bars with their names above them, error bars, values and
-- shares in columns at the right, levels as dashed vertical lines, marks as points. The more bars, the
-- higher the picture.

local bars = require "moonwarp.plot.bars"
local gnuplot = require "moonwarp.plot.gnuplot"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local script = {}

local shortened = gnuplot.shortened

-- Letters of a name, below the x axis and of a level, and of the title.
local MOST_NAME <const>, MOST_LABEL <const>, MOST_TITLE <const> = 62, 60, 58
local TICKS <const> = 5 -- about
-- px: a name, a bar, with the gap below it, the air around them.
local NAME <const>, BAR <const>, STEP <const>, AIR <const> = 17, 13, 15, 5
local ROW <const> = 15 -- px: a level's label
local LETTER <const>, WIDE_LETTER <const> = 7, 8 -- px, at most; in wide fonts
local LEFT <const>, SIDE <const> = 18, 4 -- px: left of the frame, right of the columns

-- The rows of levels' labels above the bars, by level: labels in the right half end at their lines, and the rightmost
-- is on top; those in the left half begin there, and the leftmost is the first of them. So no line crosses another's
-- label.
local function rows_of(l)
  local rows = lists.map(l.levels, function(level)
    return { value = level.value, is_right = l.axis.at(level.value / l.scale.factor) > 0.5 }
  end)
  local order = table.move(rows, 1, #rows, 1, {})
  table.sort(order, function(a, b)
    if a.is_right ~= b.is_right then return a.is_right end
    if a.is_right then return a.value > b.value end
    return a.value < b.value
  end)
  for number, row in ipairs(order) do row.number = number end
  return rows
end

-- Values and shares stand in columns right of the frame. l.left, l.right, l.shares: px, where the frame begins and
-- ends, and where values end.
local function set_columns(l)
  local value, share = 0, 0
  for _, one in ipairs(l.places) do
    one.texts = bars.texts(one.bar, l, "")
    value, share = math.max(value, #one.texts[1]), math.max(share, #one.texts[3])
  end
  l.shares = gnuplot.WIDTH - SIDE - (share > 0 and share * LETTER + 12 or 0)
  l.left, l.right = LEFT, l.shares - value * LETTER - 10
end

-- What all parts of a script are made from: the ladder with its axis's range and scale (the unit of the largest
-- value, or on a logarithmic axis of the one in its middle); where each bar's middle is along y, as places count from
-- the top and bars of one name share one; and px from one place to the next, and of the body.
local function laid_out(ladder)
  local l = setmetatable({ ladder = ladder, runs = ladder.runs or { "bars" }, places = {} }, { __index = ladder })
  local low, high = bars.range(ladder)
  l.levels, l.base, l.groups, l.marked, l.numbers = bars.levels(ladder), bars.base(ladder), bars.groups(ladder),
    bars.labels(ladder)
  l.scale = units.choose(ladder.unit, l.base and math.sqrt(low * high) or high)
  l.low, l.high = low / l.scale.factor, high / l.scale.factor
  l.axis = ticks.axis(l.low, l.high, l.base, TICKS, true)
  l.rows = rows_of(l)
  l.pitch = NAME + STEP * #l.runs + AIR
  l.body = l.pitch * #l.groups + AIR + ROW * #ladder.levels
  l.top = (STEP * #l.runs / 2 - ROW * #ladder.levels) / l.pitch
  for place, group in ipairs(l.groups) do
    for i, bar in ipairs(group) do
      table.insert(l.places, { bar = bar, y = place + STEP / l.pitch * (i - (#group + 1) / 2) })
    end
  end
  set_columns(l)
  return l
end

-- ---- data ---------------------------------------------------------------------------------------

local function number(value, factor)
  return value and ("%.10g"):format(value / factor) or "?"
end

-- A level's line goes from its label to the last bar. It leaves out the names that it would cross: a blank line of data
-- ends a piece of it.
local function line_of(l, i)
  local value = l.levels[i].value / l.scale.factor
  local at, list = number(value, 1), {}
  local function add(y) list[#list + 1] = ("%.4g %s"):format(y, at) end
  add(l.top + (l.rows[i].number - 1) * ROW / l.pitch)
  for place, group in ipairs(l.groups) do
    local below = place - STEP * #group / 2 / l.pitch
    local width = math.min(utf8.len(group.name) or #group.name, MOST_NAME) * LETTER
    if l.axis.at(value) * (l.right - l.left) < width + LETTER then
      add(below - NAME / l.pitch)
      list[#list + 1] = ""
      add(below)
    end
  end
  add(#l.groups + 1)
  return list
end

-- One block of bars per run, then one of points per label of marks, then one of a line per level.
local function blocks_of(l)
  local value = units.label(l.xlabel, l.scale)
  local function points(name) return { name = name, columns = { "place from the top", value, "name" } } end
  local list = lists.append(lists.map(l.runs, function(run) return { name = run } end), lists.map(l.marked, points))
  for _, one in ipairs(l.places) do
    local bar, block, name = one.bar, list[one.bar.run or 1], gnuplot.column(one.bar.name)
    local low, high = bar.low and bar.high and bar.low, bar.low and bar.high
    if low then block.spread = true end
    table.insert(block, ("%.6g %s %s %s %s %.4g %s"):format(one.y, number(bar.value, l.scale.factor),
      number(low, l.scale.factor), number(high, l.scale.factor), number(bar.share, 0.01), BAR / l.pitch / 2, name))
    for _, mark in ipairs(bar.marks or {}) do
      table.insert(list[#l.runs + l.numbers[mark.label]],
        ("%.6g %s %s"):format(one.y, number(mark.value, l.scale.factor), name))
    end
  end
  for i, level in ipairs(l.levels) do
    list[#list + 1] = lists.append({ name = level.label, columns = { "place from the top", value } }, line_of(l, i))
  end
  return list
end

-- What points show: the name, what else distinguishes them, and the value.
local function told(l, format, name)
  return gnuplot.told({ format, ("%s: %%.5g %s"):format(gnuplot.constant(l.xlabel), gnuplot.constant(l.scale.name)) },
    name .. ", $2")
end

-- The text of a column that not all bars have.
local function if_there(column, text)
  return ('(strcol(%d) eq "?" ? "" : %s)'):format(column, text)
end

local function told_bar(l, run)
  local format = l.ladder.runs and "%s · " .. gnuplot.constant(run) or "%s"
  return table.concat({ told(l, format, "strcol(7)"),
    if_there(3, gnuplot.told({ "", "from %.5g to %.5g " .. gnuplot.constant(l.scale.name) }, "$3, $4")),
    if_there(5, gnuplot.told({ "", "share: %.3g %%" }, "$5")) }, ".")
end

-- ---- commands -----------------------------------------------------------------------------------

-- Names stand above their bars, at the left end; values and shares right of the frame.
local function add_texts(add, l)
  for place, group in ipairs(l.groups) do
    add("set label %s at graph 0, first %.6g left offset character 0.4, 0 front", shortened(group.name, MOST_NAME),
      place - (STEP * #group / 2 + NAME / 2 - 1) / l.pitch)
  end
  for _, one in ipairs(l.places) do
    local format = "set label %s at screen %.4f, first %.6g right"
    add(format, gnuplot.quote(one.texts[1]), l.shares / gnuplot.WIDTH, one.y)
    if one.bar.share then add(format, gnuplot.quote(one.texts[3]), 1 - SIDE / gnuplot.WIDTH, one.y) end
  end
  add("set lmargin at screen %.4f", l.left / gnuplot.WIDTH)
  add("set rmargin at screen %.4f", l.right / gnuplot.WIDTH)
end

-- In its row above the bars a level's label ends or begins at its line, and is cut where the picture ends.
local function add_level_labels(add, l)
  for i, level in ipairs(l.levels) do
    local row = l.rows[i]
    local x = l.left + l.axis.at(level.value / l.scale.factor) * (l.right - l.left)
    local room = (row.is_right and x or gnuplot.WIDTH - x) // WIDE_LETTER - 1
    add("set label %s at first %.10g, first %.6g %s offset character %s, 0 textcolor rgb '%s' front",
      shortened(level.label, math.max(1, math.min(MOST_LABEL, room))), level.value / l.scale.factor,
      l.top + (row.number - 0.5) * ROW / l.pitch,
      row.is_right and "right" or "left", row.is_right and "-0.5" or "0.5", palette.level_colour(i))
  end
end

local function add_axis(add, l)
  local marks = lists.map(l.axis.ticks, function(value, i) return ("'%s' %.10g"):format(l.axis.labels[i], value) end)
  if l.base then add("set logscale x %g", l.base) end
  add("set xtics (%s)", table.concat(marks, ", "))
  local air = l.base and (l.high / l.low) ^ 0.02 or 1.02 -- what ends at the frame is seen to end
  add("set xrange [%.10g:%.10g<*]", l.low, l.high * air)
end

-- The settings, and the height of the picture.
local function settings_of(l)
  local list, add = gnuplot.list()
  add("set xlabel %s", shortened(units.label(l.xlabel, l.scale), MOST_LABEL))
  add("unset grid\nset grid xtics lt 1 lw 1 lc rgb '%s'", palette.colour "grid")
  add "unset ytics"
  local height = gnuplot.frame(add, l.body, lists.append(lists.append({}, l.ladder.runs), l.marked))
  add("set yrange [%.6g:%.6g]", l.top + l.body / l.pitch, l.top)
  add_axis(add, l)
  add_texts(add, l)
  add_level_labels(add, l)
  return list, height
end

local function plots_of(l, blocks)
  local list, add = gnuplot.list()
  local function data(i) return ("data index %d"):format(i - 1) end
  for i, run in ipairs(l.runs) do
    add("%s using 2:1:(%.10g):2:($1-$6):($1+$6) with boxxyerror %s fs solid 1 noborder %s", data(i), l.low,
      palette.series(i):gsub(" dt.*", ""), l.ladder.runs and "title " .. shortened(run) or "notitle")
    if blocks[i].spread then
      add("%s using 2:1:3:4 with xerrorbars lc rgb '%s' lw 1.2 ps 0 notitle", data(i), palette.colour "text")
    end
    add(gnuplot.hover(data(i), "2:1", told_bar(l, run)))
  end
  for i in ipairs(l.levels) do
    add("%s using 2:1 with lines %s notitle", data(#l.runs + #l.marked + i), palette.level(i))
  end
  for i, label in ipairs(l.marked) do
    add("%s using 2:1 with points %s title %s", data(#l.runs + i), palette.mark(i), shortened(label))
    add(gnuplot.hover(data(#l.runs + i), "2:1", told(l, gnuplot.constant(label) .. "\n%s", "strcol(3)")))
  end
  return list
end

--- A ladder as gnuplot draws it.
---@param ladder table
---@return table drawing  of gnuplot.script
function script.drawing(ladder)
  local l = laid_out(ladder)
  local blocks, settings, height = blocks_of(l), settings_of(l)
  return { what = "block", blocks = blocks, settings = settings, plots = plots_of(l, blocks), height = height,
    most_title = MOST_TITLE,
    columns = { "place from the top", units.label(l.xlabel, l.scale), "low", "high", "share (%)",
      "half of the height", "name" } }
end

return script
