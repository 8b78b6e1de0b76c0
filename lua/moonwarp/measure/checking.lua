-- SPDX-License-Identifier: MIT
--
-- How check mode judges: the words of --check=strict,seed:7,blocks:64, the same as a table, and as a lab of a
-- curriculum has them.
--   strict    what GPUs since Volta permit is reported as well
--   seed      of the order in which threads and blocks run; else in order
--   blocks    how many blocks of a launch are run, a sample; else all
--   schedule  in how many orders by seeds each launch is run, with preemption; the first one's is seed, else 1
--   counters  what warps ask of memory is counted (dev:counters)

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"

local checking = {}

local NAMES <const> = { "strict", "schedule", "seed", "blocks", "counters" }
local EXAMPLES = { strict = "strict", schedule = "schedule:16", seed = "seed:7", blocks = "blocks:64",
  counters = "counters" }
local MOST <const> = { schedule = 1000 }
local SWITCHES <const> = { strict = true, counters = true }

local FORMS <const> = "strict, schedule:16, seed:7, blocks:64 or counters, joined by commas"

-- "seed:7" is 7, "seed:x" the text "x", "strict" true.
local function value_of(text)
  if not text then return true end
  return text:match "^%d+$" and math.tointeger(tonumber(text)) or text
end

-- "strict,seed:7" as a table.
local function split(text)
  local mode = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    local name, value = word:match "^([^:]*):?(.*)$"
    if mode[name] ~= nil then return nil, ("'%s' is given twice"):format(name) end
    mode[name] = value_of(word:match ":" and value)
  end
  return mode
end

local function problem_of(name, value)
  if not EXAMPLES[name] then
    local hint = nearest.hint(name, EXAMPLES, FORMS .. " is wanted")
    return ("unknown word '%s'; %s"):format(tostring(name), hint)
  end
  if SWITCHES[name] then
    return type(value) ~= "boolean" and ("%s is on or off, got '%s'"):format(name, tostring(value)) or nil
  end
  if math.type(value) == "integer" and value >= 1 then
    local most = MOST[name] or value
    return value > most and ("%s wants at most %d, got %d"):format(name, most, value) or nil
  end
  return ("%s wants a whole number from 1, as in %s%s"):format(name, EXAMPLES[name],
    value ~= true and (", got '%s'"):format(tostring(value)) or "")
end

-- A sample or counts of several orders would be of none.
local function clash_of(mode)
  local other = mode.schedule and (mode.blocks and "blocks" or mode.counters and "counters")
  return other and ("schedule and %s do not go together: leave out one"):format(other) or nil
end

--- Reads how to judge.
---@param given boolean|string|table   true, "strict,seed:7" or { strict = true, seed = 7, blocks = 64 }
---@return table? mode      strict, schedule, seed, blocks, counters: those that are given
---@return string? problem
function checking.read(given)
  if given == true or given == "" then return {} end
  local mode, problem = given, nil
  if type(given) == "string" then mode, problem = split(given) end
  if problem then return nil, problem end
  if type(mode) ~= "table" then return nil, ("true, a table or a text is wanted, got %s"):format(type(given)) end
  for _, name in ipairs(lists.keys(mode)) do
    problem = problem_of(name, mode[name])
    if problem then return nil, problem end
  end
  problem = clash_of(mode)
  if problem then return nil, problem end
  return lists.merged({}, mode)
end

--- The option check of a function: nil for none or false; raises errors in it.
---@param who string
---@param given any
---@return table?
function checking.option(who, given)
  if given == nil or given == false then return nil end
  local mode, problem = checking.read(given)
  if problem then failure.invalid("%s: option 'check': %s", who, problem) end
  return mode
end

--- The words of a mode: "strict,seed:7", or "".
---@param mode table
---@return string
function checking.words(mode)
  return table.concat(lists.map(NAMES, function(name)
    if not mode[name] then return nil end
    return mode[name] == true and name or ("%s:%d"):format(name, mode[name])
  end), ",")
end

--- Whether launches of a device in check mode have left out blocks, so that results are not whole.
---@param device userdata?
---@return boolean
function checking.is_sampled(device)
  return device ~= nil and lists.find(core.findings(), function(one)
    return one.kind == "sampled" and one.device == device:id()
  end) ~= nil
end

--- Whether a device of a backend can be used.
---@param backend string
---@return boolean
function checking.is_usable(backend)
  return lists.find(core.devices(), function(entry)
    return entry.usable and core.device_word(entry.id).backend == backend
  end) ~= nil
end

--- The best backend with GPUs that can be used, or the best one without GPUs that has check mode.
---@param is_gpu boolean
---@return string? name
function checking.backend(is_gpu)
  local _, names = core.device_forms()
  return lists.find(names, function(name)
    local word = core.device_word(name)
    return word.checks and (word.kind == "gpu") == is_gpu and checking.is_usable(name)
  end)
end

--- Whether nothing is timed on a device: it is in check mode, where each access of a kernel is judged, or compares its
--- engines.
---@param device userdata?
---@return boolean
function checking.is_on(device)
  return device ~= nil and device:properties().checks
end

return checking
