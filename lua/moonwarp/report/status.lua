-- SPDX-License-Identifier: MIT
--
-- The status of runs, in words with a sign, and the problems of a run: failed checks, flags and
-- alarms of the run and of its measurements.

local facts = require "moonwarp.report.facts"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"

local status = {}

local LOOKS = {
  complete = { "good", "✓" }, passed = { "good", "✓" }, done = { "good", "✓" }, same = { "calm", "=" },
  ["check failed"] = { "bad", "✗" }, failed = { "bad", "✗" }, interrupted = { "warn", "‖" },
  ["gate failed"] = { "bad", "✗" }, ["timed out"] = { "bad", "✗" }, ["out of memory"] = { "bad", "✗" },
  ["too much output"] = { "bad", "✗" }, ["too many processes"] = { "bad", "✗" }, killed = { "bad", "✗" },
  crashed = { "bad", "✗" }, skipped = { "calm", "–" }, ["not run"] = { "calm", "–" },
  unfinished = { "warn", "…" }, missing = { "bad", "?" }, unreadable = { "bad", "?" },
  faster = { "good", "▲" }, slower = { "bad", "▼" }, unclear = { "calm", "?" }, changed = { "warn", "≠" },
}

--- A word with its sign and colour. Flags come by the thousand: their sign is in the style sheet.
---@param word string
---@param look string?   "good", "warn", "bad" or "calm", where the word is not known
---@return table markup
function status.badge(word, look)
  local known = LOOKS[word]
  if not known then return html.span { class = ("badge flag %s"):format(look or "calm"), word } end
  return html.span { class = "badge " .. known[1], html.span { aria_hidden = "true", known[2] .. " " }, word }
end

local function add_all(counts, values)
  for _, value in ipairs(facts.table(values)) do
    local words = facts.words(value)
    if not counts[words] then counts[#counts + 1] = words end
    counts[words] = (counts[words] or 0) + 1
  end
end

--- The flags of a result but those that only say that there is an alarm.
---@param result table
---@return table
function status.flags(result)
  return lists.filter(facts.table(result.flags), function(flag) return not facts.words(flag):find("^alarm: ") end)
end

--- What is to be known of a run: failed (checks), passed, flags and alarms (texts, each once, with how
--- often by text), measurements.
---@param run table
---@return table
function status.of(run)
  local found = { failed = {}, passed = 0, flags = {}, alarms = {}, measurements = measurement.benchmarks(run) }
  for _, check in ipairs(run.checks) do
    if check.ok == true then found.passed = found.passed + 1 else table.insert(found.failed, check) end
  end
  add_all(found.flags, run.flags)
  add_all(found.alarms, run.alarms)
  for _, one in ipairs(found.measurements) do
    add_all(found.flags, status.flags(one.result))
    add_all(found.alarms, one.result.alarms)
  end
  return found
end

--- Whether a run did not go well.
---@param run table   with what status.of found
---@return boolean
function status.is_bad(run)
  return run.status ~= "complete" or #run.found.failed > 0
end

--- How often texts came in all.
---@param counts table   of status.of: flags or alarms
---@return integer
function status.sum(counts)
  local times = 0
  for _, words in ipairs(counts) do times = times + counts[words] end
  return times
end

--- Texts with how often they came, as badges.
---@param counts table   of status.of: flags or alarms
---@param look string
---@return table[] markup
function status.badges(counts, look)
  return lists.map(counts, function(words)
    local times = counts[words] > 1 and (" × %d"):format(counts[words]) or ""
    return { status.badge(words .. times, look), " " }
  end)
end

return status
