-- SPDX-License-Identifier: MIT
--
-- The charts of a study's runs: gnuplot's. A chart of one run is the picture that it left in its folder; one
-- of several runs, or one that has no picture of this kind, is drawn now, from the records. Without gnuplot
-- it is the terminal's chart, and says so.

local embed = require "moonwarp.report.embed"
local figures = require "moonwarp.plot.figure"
local files = require "moonwarp.base.files"
local gnuplot = require "moonwarp.plot.gnuplot"
local html = require "moonwarp.report.html"
local kinds = require "moonwarp.plot.kinds"
local lists = require "moonwarp.base.lists"
local overlay = require "moonwarp.plot.overlay"
local path = require "moonwarp.base.path"

local figure = {}

local MOST_SERIES <const> = 10 -- of several runs; a single run has no limit
local MOST_BYTES <const> = 1 << 20 -- of a picture
local TEXT = { width = 78, unicode = true }

--- A title without the device at its end, which is shown beneath it or in the legend.
---@param title any
---@param device any   as the title ends: "NVIDIA H200 (cuda:0)"
---@return string
function figure.title(title, device)
  title = tostring(title)
  local ending = type(device) == "string" and ", " .. device
  return ending and title:sub(-#ending) == ending and title:sub(1, -#ending - 1) or title
end

-- What is told of a chart next to its picture.
local function described(chart, source, number)
  local title = figure.title(chart.title, chart.device)
  local kind = kinds.of(chart)
  return { chart = chart, source = source, title = title, label = ("%s: %s"):format(title, kind.words(chart)),
           prefix = ("f%d-"):format(number), class = kind.class }
end

local function embedded(one, text)
  return #text <= MOST_BYTES and embed.draw(text, one.label, one.prefix, one.class) or nil
end

-- A picture from before points told their values is drawn again.
local function own_picture(one)
  local text = one.source and files.read_below(one.source.run, one.source.name .. ".svg", MOST_BYTES)
  return text and text:find("showHypertext", 1, true) and embedded(one, text)
end

-- Draws what has no picture, all in one folder, which goes afterwards.
local function draw(list)
  local pipe = assert(io.popen "mktemp -d 2>&1")
  local folder = pipe:read "l" -- or why not
  if not pipe:close() then
    for _, one in ipairs(list) do one.reason = folder end
    return
  end
  for i, one in ipairs(list) do
    local chart = lists.merged(one.chart, { name = tostring(i) })
    local ok, reason = pcall(function()
      figures.files(chart, ("%s/%d"):format(folder, i), kinds.of(chart).drawing(chart))
    end)
    one.reason = not ok and tostring(reason) or gnuplot.svg(folder, i .. ".gp")
    local text = files.read(("%s/%d.svg"):format(folder, i))
    one.picture = text and embedded(one, text)
    one.reason = one.reason or "gnuplot left no whole picture"
  end
  os.execute("rm -rf " .. path.quote(folder))
end

-- The terminal's chart, in a page, whose caption has its title.
local function in_letters(one)
  local ok, text = pcall(kinds.of(one.chart).text, lists.merged(one.chart, { title = "" }), TEXT)
  text = ok and text:gsub("^%s*\n", "") or ""
  return { text ~= "" and html.pre { class = "letters", role = "img", aria_label = one.label, text },
    html.p { class = "note", ("Drawn in letters: %s."):format(one.reason) } }
end

local function markup(one)
  local tag, note = one.source and one.source.run.tag, one.chart.note
  local caption = html.figcaption { html.b { one.title }, tag and html.span { class = "under", tag },
    note and html.span { class = "under", note } }
  return html.figure { caption, one.picture or in_letters(one) }
end

--- The charts of studies.
---@param studies table[]  with runs, which have tags; each gets `figures`, a list of markup
function figure.draw(studies)
  local all, undrawn = {}, {}
  for _, study in ipairs(studies) do
    study.figures = {}
    local charts, alone = overlay.charts(study.runs, MOST_SERIES)
    for i, chart in ipairs(charts) do
      local one = described(chart, alone[i], #all + 1)
      all[#all + 1] = { study = study, one = one }
      one.picture = own_picture(one)
      if not one.picture then undrawn[#undrawn + 1] = one end
    end
  end
  if #undrawn > 0 then draw(undrawn) end
  for _, entry in ipairs(all) do table.insert(entry.study.figures, markup(entry.one)) end
end

return figure
