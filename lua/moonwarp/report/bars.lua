-- SPDX-License-Identifier: MIT
--
-- A ladder as inline SVG with its legend: a name above its bar, or above the bars of several runs; value
-- and share right of each. Bars tell their exact values as points do: by a marker at their end, which
-- shows when it is told about.
-- Depends on ladder.bars, letters, units, report.axis, report.html, report.svg.

local axis = require "moonwarp.report.axis"
local html = require "moonwarp.report.html"
local ladders = require "moonwarp.plot.ladder.bars"
local utf8text = require "moonwarp.base.utf8text"
local svg = require "moonwarp.report.svg"
local units = require "moonwarp.base.units"

local bars = {}

local WIDTH <const>, TOP <const>, BOTTOM <const>, LEFT <const> = 480, 6, 44, 8
local NAME_HEIGHT <const>, BAR_HEIGHT <const>, GAP <const>, BETWEEN <const> = 17, 13, 2, 5
local MOST_NAME <const> = 58 -- letters
local DIGITS <const> = 5
local px = svg.px

-- ---- places -------------------------------------------------------------------------------------

-- Where each name and each bar stands, and how high all is.
local function rows_of(ladder)
  local rows, y = {}, TOP
  for _, group in ipairs(ladders.groups(ladder)) do
    local row = { name = group.name, y = y + NAME_HEIGHT - 4 }
    y = y + NAME_HEIGHT
    for _, bar in ipairs(group) do
      row[#row + 1] = { bar = bar, y = y, texts = ladders.texts(bar, ladder, "±") }
      y = y + BAR_HEIGHT + GAP
    end
    rows[#rows + 1] = row
    y = y + BETWEEN
  end
  return rows, y
end

-- The columns of values and shares.
local function text_widths(rows)
  local value, share = 0, 0
  for _, row in ipairs(rows) do
    for _, one in ipairs(row) do
      value = math.max(value, axis.width(one.texts[1]))
      if one.texts[3] ~= "" then share = math.max(share, axis.width(one.texts[3]) + 6) end
    end
  end
  return value, share
end

local function place(ladder)
  local rows, bottom = rows_of(ladder)
  local value, share = text_widths(rows)
  local low, high = ladders.range(ladder)
  local scale = units.choose(ladder.unit, ladder.logx and math.sqrt(low * high) or high)
  local right = WIDTH - 4 - value - share - 10
  local x = axis.along(low / scale.factor, high / scale.factor, ladder.logx, right - LEFT)
  local left = math.max(LEFT, x.ticks[1] and axis.width(x.ticks[1].label) / 2 or 0) -- a label may stand there
  local function to_x(number)
    return left + math.max(0, math.min(1, x.at(number / scale.factor))) * (right - left)
  end
  return { rows = rows, bottom = bottom, left = left, right = right, value_at = WIDTH - 4 - share,
           share_at = WIDTH - 4, x = x, scale = scale, to_x = to_x }
end

-- ---- what is drawn ------------------------------------------------------------------------------

local function draw_axis(ladder, at)
  local grid, parts = {}, {}
  for i, tick in ipairs(at.x.ticks) do
    local x = at.to_x(tick.value * at.scale.factor)
    grid[i] = ("M%s %dV%s"):format(px(x), TOP, px(at.bottom))
    parts[i] = html.text { x = px(x), y = px(at.bottom + 17), class = "tx", tick.label }
  end
  return { html.path { class = "grid", d = table.concat(grid) },
    html.path { class = "frame", d = ("M%s %dV%sH%s"):format(px(at.left), TOP, px(at.bottom), px(at.right)) }, parts,
    html.text { class = "tx al", x = px((at.left + at.right) / 2), y = px(at.bottom + BOTTOM - 8),
      units.label(ladder.xlabel, at.scale) } }
end

local function title_of(bar, ladder)
  local function amount(value) return units.format(value + 0.0, ladder.unit, DIGITS) end
  local lines = { ladder.runs and ("%s · %s"):format(bar.name, ladder.runs[bar.run]) or bar.name,
                  ("%s: %s"):format(ladder.xlabel, amount(bar.value)) }
  if bar.low then lines[#lines + 1] = ("from %s to %s"):format(amount(bar.low), amount(bar.high)) end
  if bar.share then lines[#lines + 1] = ("share: %s %%"):format(units.digits(100.0 * bar.share, 3)) end
  return table.concat(lines, "\n")
end

local function whisker(one, at)
  local low, high, middle = at.to_x(one.bar.low), at.to_x(one.bar.high), one.y + BAR_HEIGHT / 2
  return html.path { class = "whisker", d = ("M%s %sH%sM%s %sv6M%s %sv6"):format(px(low), px(middle), px(high),
    px(low), px(middle - 3), px(high), px(middle - 3)) }
end

-- A group of bars a run, so that arrows go down one run's bars and across to the next run.
local function draw_bars(ladder, at)
  local groups, whiskers = {}, {}
  for run = 1, #(ladder.runs or { "" }) do
    local colour, marker = svg.look(run)
    local parts = { class = colour .. " bars" }
    for _, row in ipairs(at.rows) do
      for _, one in ipairs(row) do
        if (one.bar.run or 1) == run then
          local x = at.to_x(one.bar.value)
          parts[#parts + 1] = html.rect { x = px(at.left), y = px(one.y), width = px(x - at.left), height = BAR_HEIGHT }
          parts[#parts + 1] = html.use { href = marker, x = px(x), y = px(one.y + BAR_HEIGHT / 2),
            html.title { title_of(one.bar, ladder) } }
          if one.bar.low then whiskers[#whiskers + 1] = whisker(one, at) end
        end
      end
    end
    groups[run] = html.g(parts)
  end
  return { groups, whiskers }
end

local function draw_marks(ladder, at)
  local groups, labels, numbers = {}, ladders.labels(ladder)
  for i in ipairs(labels) do groups[i] = { class = svg.look(#(ladder.runs or { "" }) + i) } end
  for _, row in ipairs(at.rows) do
    for _, one in ipairs(row) do
      for _, mark in ipairs(one.bar.marks or {}) do
        local number = numbers[mark.label]
        local _, marker = svg.look(#(ladder.runs or { "" }) + number)
        local words = ("%s\n%s\n%s: %s"):format(mark.label, one.bar.name, ladder.xlabel,
          units.format(mark.value + 0.0, ladder.unit, DIGITS))
        table.insert(groups[number], html.use { href = marker, x = px(at.to_x(mark.value)),
          y = px(one.y + BAR_HEIGHT / 2), html.title { words } })
      end
    end
  end
  for i, group in ipairs(groups) do groups[i] = html.g(group) end
  return groups
end

local function draw_levels(ladder, at)
  local lines = {}
  for i, level in ipairs(ladder.levels) do
    lines[i] = html.path { class = svg.dash(i), d = ("M%s %dV%s"):format(px(at.to_x(level.value)), TOP,
      px(at.bottom)), html.title { level.label } }
  end
  return lines
end

local function draw_texts(at)
  local texts = {}
  for _, row in ipairs(at.rows) do
    texts[#texts + 1] = html.text { class = "nm", x = px(at.left + 2), y = px(row.y),
      utf8text.shorten(row.name, MOST_NAME, "…") }
    for _, one in ipairs(row) do
      local y = px(one.y + BAR_HEIGHT - 2.5)
      texts[#texts + 1] = html.text { class = "end", x = px(at.value_at), y = y, one.texts[1] }
      texts[#texts + 1] = one.texts[3] ~= "" and html.text { class = "end", x = px(at.share_at), y = y, one.texts[3] }
        or nil
    end
  end
  return texts
end

-- ---- the whole ----------------------------------------------------------------------------------

local function legend(ladder)
  local items, runs, labels = {}, ladder.runs or {}, ladders.labels(ladder)
  for i, label in ipairs(runs) do
    local sign = html.rect { x = 3, y = 1, width = 20, height = 10 }
    items[#items + 1] = html.li { class = (svg.look(i)), svg.key(false, sign), html.span { label } }
  end
  for i, level in ipairs(ladder.levels) do
    items[#items + 1] = html.li { svg.key(svg.dash(i), false), html.span { level.label } }
  end
  for i, label in ipairs(labels) do
    local colour, marker = svg.look(math.max(1, #runs) + i)
    items[#items + 1] = html.li { class = colour, svg.key(false, html.use { href = marker, x = "13", y = "6" }),
      html.span { label } }
  end
  return #items > 0 and html.ul { class = "legend", items }
end

--- A ladder with its title and legend; one line of text where it has no bars.
---@param ladder table   of report.figure
---@return table markup
function bars.figure(ladder)
  local caption = svg.caption(ladder)
  if #ladder.bars == 0 then
    return html.figure { caption, html.p { class = "note", "This chart has no bar that can be drawn." } }
  end
  local at = place(ladder)
  return html.figure { caption, html.svg { class = "chart ladder", viewBox = ("0 0 %d %d"):format(WIDTH,
      math.ceil(at.bottom + BOTTOM)), role = "group", aria_label = ("%s: %s"):format(ladder.title, ladder.xlabel),
      draw_axis(ladder, at), draw_bars(ladder, at), draw_levels(ladder, at), draw_marks(ladder, at), draw_texts(at) },
    legend(ladder) }
end

return bars
