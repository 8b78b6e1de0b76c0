-- SPDX-License-Identifier: MIT
--
-- One run in a report: what became of it, what it concluded, what failed, its tables, measurements and
-- environment. Each part is drawn apart from the others: one that a strange record spoils says so, and
-- the rest is shown.

local comparison = require "moonwarp.report.comparison"
local facts = require "moonwarp.report.facts"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local material = require "moonwarp.report.material"
local measured = require "moonwarp.report.measured"
local path = require "moonwarp.base.path"
local source = require "moonwarp.report.source"
local state = require "moonwarp.report.state"
local status = require "moonwarp.report.status"
local tables = require "moonwarp.report.table"
local units = require "moonwarp.base.units"

local card = {}

--- Markup of a part, or a line that says why it cannot be shown.
---@param what string
---@param draw function
---@return any
function card.guarded(what, draw, ...)
  local results = table.pack(pcall(draw, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  return html.p { class = "note bad", ("%s cannot be shown: %s"):format(what, tostring(results[2])) }
end

-- ---- parts --------------------------------------------------------------------------------------

local function quoted(words)
  local list = lists.map(words or {}, function(word)
    return word:match("^[%w%-_./=,:+]+$") and word or path.quote(word)
  end)
  return #list > 0 and "moonwarp " .. table.concat(list, " ") or nil
end

local function params_of(run)
  local list = lists.map(facts.list(run.params), function(pair) return table.concat(pair, " = ") end)
  return #list > 0 and table.concat(list, "; ")
end

local function overview(run, found)
  local seconds, command = run.seconds, quoted(run.argv)
  return facts.draw {
    { "began", material.when(run) },
    { "took", seconds and units.format(seconds + 0.0, "s", 3) },
    { "checks", ("%d passed, %d failed"):format(found.passed, #found.failed) },
    { "parameters", params_of(run) },
    { "command", command and html.code { command } },
    { "run again of", run.rerun_of },
    { "lab", run.lab },
    { "alarms", #found.alarms > 0 and html.join(status.badges(found.alarms, "bad")) },
    { "flags", #found.flags > 0 and html.join(status.badges(found.flags, "warn")) },
    { "folder", html.code { run.folder } },
  }
end

local ENDINGS = {
  unfinished = "This run noted no end: it was killed, or still goes on. What it had measured until then is shown.",
  interrupted = "This run was interrupted. What it had measured until then is shown.",
}

local function ending(run)
  return { ENDINGS[run.status] and html.p { class = "note warn", ENDINGS[run.status] },
    run.message and html.pre { class = "message", run.message } }
end

local function remarks(run)
  return #run.remarks > 0 and html.ul { class = "remarks",
    lists.map(run.remarks, function(remark) return html.li { remark.text } end) }
end

local function warnings(run)
  local list = run.warnings or {}
  return #list > 0 and html.details { html.summary { units.count(#list, "warning"), " of the compiler" },
    html.ul { lists.map(list, function(one)
      return html.li { ("%s:%d: %s"):format(one.file, one.line, one.text), one.source and html.pre { one.source } }
    end) } }
end

local function failed_check(check)
  local names = { "wrong", "count", "max_abs", "absolute", "max_rel", "relative" }
  local parts = lists.map(names, function(name)
    local value = check[name]
    return type(value) == "number" and ("%s %s"):format(name:gsub("_", " "), units.digits(value)) or nil
  end)
  return html.li { html.b { check.what or "a check" }, #parts > 0 and
    (" (%s)"):format(table.concat(parts, ", ")), check.text and html.pre { check.text } }
end

local function failed_checks(found)
  local count = #found.failed
  return count > 0 and html.div { class = "failed", html.h4 { count == 1 and "A check failed"
    or count .. " checks failed" }, html.ul { lists.map(found.failed, failed_check) } }
end

local function measurements(run, found)
  if not run.counted_only then return measured.draw(found.measurements) end
  local words = "%d measurements are left out, since newer runs have many; a report of only this run shows them."
  return html.p { class = "note", words:format(#found.measurements) }
end

-- What the run says elsewhere already.
local SAID = { argv = true, date = true, moonwarp = true }

local function environment(run, found)
  local kept = {}
  for name, value in pairs(run.environment) do kept[name] = not SAID[name] and value or nil end
  local list = facts.list(kept)
  lists.append(list, state.of(found.measurements))
  if run.moonwarp then table.insert(list, 1, { "moonwarp", tostring(run.moonwarp) }) end
  if run.device then table.insert(list, 1, { "device", ("%s (%s)"):format(run.device_name or "?", run.device) }) end
  if #list == 0 then return html.p { class = "note", "The run noted nothing of its environment." } end
  return html.details { html.summary { "Environment" }, facts.draw(list, "wide") }
end

-- ---- the card -----------------------------------------------------------------------------------

--- A run's card.
---@param run table
---@param is_open boolean  whether it is unfolded
---@param sources table    of source.store
---@return table markup
function card.draw(run, is_open, sources)
  local found = run.found
  return html.details { class = "run", id = run.anchor, open = is_open,
    html.summary { html.h3 { run.tag }, " ", status.badge(run.status),
      #found.failed > 0 and html.span { class = "count bad", (" %d failed"):format(#found.failed) } },
    card.guarded("the overview", overview, run, found), ending(run), remarks(run), failed_checks(found),
    warnings(run),
    run.versus,
    lists.map(run.tables, function(one) return card.guarded("a table", tables.recorded, one) end),
    card.guarded("the measurements", measurements, run, found),
    card.guarded("the source", source.draw, run, sources),
    card.guarded("the environment", environment, run, found) }
end

--- Looks through a run before it is drawn: what the summary and its card both say.
---@param run table
---@param earlier table[]|false|nil   runs of --against
function card.prepare(run, earlier)
  local ok, found = pcall(status.of, run)
  local alarm = "its record cannot be read in full"
  run.found = ok and found or { failed = {}, passed = 0, flags = {}, measurements = {},
                                alarms = { alarm, [alarm] = 1 } }
  run.versus, run.verdicts = card.guarded("the comparison", comparison.draw, run, earlier)
end

return card
