-- SPDX-License-Identifier: MIT
--
-- A study in a report: its charts with all runs on them, its pictures, then a card for each run.

local card = require "moonwarp.report.card"
local html = require "moonwarp.report.html"
local picture = require "moonwarp.report.picture"
local status = require "moonwarp.report.status"

local section = {}

local FEW <const> = 6 -- runs of a report that are all unfolded; else the newest of each study, and bad ones

-- In a report of many runs the newest of each device shows its pictures; the others' lie in their
-- folders and look the same.
local function illustrated(study, count)
  local list, seen = {}, {}
  for i = #study.runs, 1, -1 do
    local run = study.runs[i]
    local device = run.device_name or ""
    if count <= FEW or not seen[device] and #run.pictures > 0 then
      table.insert(list, 1, run)
      seen[device] = true
    end
  end
  return list
end

--- The section of a study.
---@param study table     of material.gather, prepared; figures of report.figure
---@param options table   budget (of picture.budget), sources (of source.store), count (runs of the report)
---@return table markup
function section.draw(study, options)
  local figures, cards = study.figures, {}
  for _, run in ipairs(illustrated(study, options.count)) do
    for _, one in ipairs(run.pictures) do
      figures[#figures + 1] = card.guarded("a picture", picture.figure, run, one, options.budget)
    end
  end
  for i, run in ipairs(study.runs) do
    local open = options.count <= FEW or i == #study.runs or status.is_bad(run) or #run.found.alarms > 0
    cards[i] = card.draw(run, open, options.sources)
  end
  return html.section { id = study.anchor, html.h2 { study.name },
    #figures > 0 and html.div { class = "figures", figures }, cards }
end

return section
