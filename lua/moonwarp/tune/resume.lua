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

local MOST <const> = 20 -- runs that are looked at

local function is_same(a, b)
  return json.encode(a or {}) == json.encode(b or {})
end

-- Values by name without the parameter that names the folder: it is another one in each run.
local function without_folder(values, folder)
  local kept = {}
  for name, value in pairs(values) do
    if lists.of(value)[1] ~= folder then kept[name] = value end
  end
  return kept
end

-- The same of a run that was given, or not, what the session has for the folder.
local function like(values, all, kept)
  local own = {}
  for name, value in pairs(values or {}) do
    if all[name] == nil or kept[name] ~= nil then own[name] = value end
  end
  return own
end

-- Why what a run has measured does not hold for this one; nil if it does. Of a folder that is named the script, where
-- its name may be, may have changed.
local function problem_of(session, run, device, is_named)
  local given = without_folder(session.given, run.folder)
  if run.device_name ~= device:name() then return "it was on " .. tostring(run.device_name) end
  if not is_same(like(run.params, session.given, given), given) then return "its parameters were others" end
  for _, source in ipairs(run.sources or {}) do
    local is_script = is_named and source.from == session:script_file()
    if not is_script and files.read(source.from) ~= files.read_below(run, "source/" .. source.name) then
      return source.from .. " has changed"
    end
  end
end

-- The rows of a run that are of the tuning in a pass with the same parameters; the last of each variant.
local function rows_of(session, run, name)
  local values = session:values()
  local params = without_folder(values, run.folder)
  local rows = {}
  for _, one in ipairs(run.records) do
    if one.tuning == name and one.variant and is_same(like(one.params, values, params), params) then
      rows[one.variant] = one
    end
  end
  return next(rows) and rows
end

-- The rows of a folder, or why not.
local function read(session, device, name, folder, is_named)
  local run, problem = store.read(folder)
  if not run then return nil, problem end
  problem = problem_of(session, run, device, is_named)
  local rows = not problem and rows_of(session, run, name)
  if rows and BROKEN[run.status] then return rows, folder end
  problem = problem or not rows and "it has no rows of this tuning" or "it has come to its end"
  return nil, ("%s: %s"):format(folder, problem), rows ~= nil and rows ~= false
end

-- The newest run of this script before the session's own that has rows of the tuning and fits.
local function newest(session, device, name)
  local own = session.run and session.run.folder
  local all = store.below(("%s/%s"):format(session:out(), session:script()), 1)
  local first
  for i = #all, math.max(1, #all - MOST), -1 do
    if all[i] ~= own then
      local rows, reason, is_over = read(session, device, name, all[i])
      first = first or reason
      if rows or is_over then return rows, reason end
    end
  end
  return nil, first or "there is no earlier run"
end

--- The rows of a tuning that did not come to its end: those of its name in a pass with the same parameters.
---@param session table
---@param device userdata
---@param name string           of the tuning
---@param which boolean|string  true: of the newest run of the script that has some, if there is one; else its folder
---@return table<string, table>? rows   records by the variants' texts; nil and why not
---@return string reason        or the folder
function resume.rows(session, device, name, which)
  if which == true then return newest(session, device, name) end
  local rows, reason = read(session, device, name, which, true)
  if not rows then failure.invalid("mw.tune: cannot resume: %s", reason) end
  return rows, reason
end

return resume
