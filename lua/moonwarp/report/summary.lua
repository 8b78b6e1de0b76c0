-- SPDX-License-Identifier: MIT
--
-- The head of a report: one row per run, the named folders without a run, and the batches.

local batch = require "moonwarp.report.labs"
local card = require "moonwarp.report.card"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local material = require "moonwarp.report.material"
local overlay = require "moonwarp.plot.overlay"
local sheet = require "moonwarp.base.sheet"
local status = require "moonwarp.report.status"
local tables = require "moonwarp.report.table"

local summary = {}

-- ---- the runs -----------------------------------------------------------------------------------

local function verdict_words(run)
  local counts = run.verdicts
  if not counts then return "–" end
  local parts = lists.map({ "slower", "faster", "unclear" }, function(verdict)
    return counts[verdict] > 0
      and { html.span { class = "word", status.badge(verdict), (" %d"):format(counts[verdict]) }, " " } or nil
  end)
  if #parts > 0 then return html.join(parts) end
  return counts.same > 0 and status.badge("same") or "–"
end

local function count_cell(list)
  local times = status.sum(list)
  return { times > 0 and tostring(times) or "–", value = times }
end

local SHORT <const> = 24 -- letters of a device's name that are not broken

local COLUMNS = {
  { heading = "study", cell = function(run) return html.a { href = "#" .. run.anchor, run.study } end },
  { heading = "device", cell = function(run)
    local name = overlay.is_checked(run) and run.device or run.device_name or run.device or "none"
    return #name <= SHORT and html.span { class = "word", name } or name
  end },
  { heading = "date (UTC)", cell = function(run)
    return html.span { class = "word", (material.when(run):gsub(":%d+ UTC$", "")) }
  end },
  { heading = "status", cell = function(run) return status.badge(run.status) end },
  { heading = "passed", number = true, cell = function(run) return tostring(run.found.passed) end },
  { heading = "failed", number = true, cell = function(run)
    local count = #run.found.failed
    return { html.span { class = count > 0 and "bad strong", tostring(count) }, value = count }
  end },
  { heading = "measured", number = true, compared = false, cell = function(run)
    return tostring(#run.found.measurements)
  end },
  { heading = "flags", number = true, cell = function(run) return count_cell(run.found.flags) end },
  { heading = "alarms", number = true, cell = function(run) return count_cell(run.found.alarms) end },
  { heading = "seconds", number = true, cell = function(run)
    local seconds = run.seconds
    return type(seconds) == "number" and { ("%.1f"):format(seconds), value = seconds } or "–"
  end },
  { heading = "against earlier", compared = true, cell = verdict_words },
}

-- With a comparison the optional columns are left out, so that the page is not wider.
local function runs_table(runs, compared)
  return tables.draw("runs", sheet.of(lists.filter(COLUMNS, function(column)
    return column.compared == nil or column.compared == compared
  end), runs))
end

local function amount(count, one, many)
  return ("%d %s"):format(count, count == 1 and one or many)
end

-- What became of runs, in words; each run is counted once.
local ENDS = { { "complete", "complete" }, { "check failed", "with a failed check" }, { "failed", "failed" },
               { "interrupted", "interrupted" }, { "unfinished", "unfinished" }, { "ended", "ended" } }

local function ends_of(runs)
  local counts = {}
  for _, run in ipairs(runs) do counts[run.status] = (counts[run.status] or 0) + 1 end
  local parts = lists.map(ENDS, function(ending)
    return counts[ending[1]] and ("%d %s"):format(counts[ending[1]], ending[2]) or nil
  end)
  return table.concat(parts, ", ")
end

-- The report in one sentence.
local function sentence(runs, studies)
  local failed, alarms = 0, 0
  for _, run in ipairs(runs) do
    failed = failed + #run.found.failed
    alarms = alarms + status.sum(run.found.alarms)
  end
  return ("%s of %s: %s; %s, %s."):format(amount(#runs, "run", "runs"), amount(#studies, "study", "studies"),
    ends_of(runs), amount(failed, "failed check", "failed checks"), amount(alarms, "alarm", "alarms"))
end

local function missing(list)
  local rows = lists.map(list, function(one)
    return html.li { status.badge(one.word), " ", html.code { one.folder }, ": ", tostring(one.reason) }
  end)
  return #rows > 0 and html.div { html.h3 { "Not there, or not readable" }, html.ul { class = "missing", rows } }
end

--- The section with all runs, and the batches.
---@param found table       of material.gather, prepared
---@param compared boolean  whether there is something to compare with
---@return table markup
function summary.draw(found, compared)
  local batches = lists.map(found.batches, function(one)
    return card.guarded("the batch " .. one.folder, batch.draw, one, found.runs)
  end)
  local empty = #found.runs == 0
  return html.section { id = "summary", html.h2 { "Summary" },
    html.p { class = empty and "note", empty and "There is no run to report." or sentence(found.runs, found.studies) },
    batches, #batches > 0 and not empty and html.h3 { "Runs" },
    not empty and runs_table(found.runs, compared), missing(found.missing) }
end

return summary
