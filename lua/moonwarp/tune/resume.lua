-- SPDX-License-Identifier: MIT
--
-- What a tuning that was killed, interrupted or failed has left: the rows of its run. They hold for the same script,
-- kernels, parameters and device.

local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local store = require "moonwarp.results.store"

local resume = {}

local BROKEN <const> = lists.set { "unfinished", "interrupted", "failed" }

-- The newest run of this script before the session's own.
local function newest(session)
  local own = session.run and session.run.folder
  local found = lists.map(store.below(("%s/%s"):format(session:out(), session:script()), 1), function(folder)
    return folder ~= own and folder or nil
  end)
  return found[#found]
end

local function is_same(a, b)
  return json.encode(a or {}) == json.encode(b or {})
end

-- Why what a run has measured does not hold for this one; nil if it does.
local function problem_of(session, run, device)
  if not BROKEN[run.status] then return "it has come to its end" end
  if run.device_name ~= device:name() then return "it was on " .. tostring(run.device_name) end
  if not is_same(run.params, next(session.given) and session.given) then return "its parameters were others" end
  for _, source in ipairs(run.sources or {}) do
    if files.read(source.from) ~= files.read_below(run, "source/" .. source.name) then
      return source.from .. " has changed"
    end
  end
end

--- The rows of a tuning that did not come to its end: those of its name in a pass with the same parameters.
---@param session table
---@param device userdata
---@param name string           of the tuning
---@param which boolean|string  true: of the newest run of the script, if there is one; else its folder
---@return table<string, table>? rows   records by the variants' texts; nil and why not
---@return string? reason
function resume.rows(session, device, name, which)
  local folder = which == true and newest(session) or which
  if folder == true then return nil, "there is no earlier run" end
  local run, problem = store.read(folder)
  problem = problem or problem_of(session, run, device)
  if problem and which ~= true then failure.invalid("mw.tune: %s cannot be resumed: %s", folder, problem) end
  if problem then return nil, ("%s: %s"):format(folder, problem) end
  local rows, params = {}, session:values()
  for _, one in ipairs(run.records) do
    if one.tuning == name and one.stage == "search" and is_same(one.params, params) then rows[one.variant] = one end
  end
  return rows
end

return resume
