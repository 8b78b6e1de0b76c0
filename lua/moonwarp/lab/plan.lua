-- SPDX-License-Identifier: MIT
--
-- What a batch will run, in order: a step is a lab on a device.
-- Depends on moonwarp.core (device_word), cli.options (fail), lab.devices, lists, nearest.

local core = require "moonwarp.core"
local devices = require "moonwarp.lab.devices"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.cli.options"

local plan = {}

local KEPT = { "title", "study", "script", "path", "params", "tags", "time_limit", "memory_limit", "output_limit",
               "processes", "retries", "gates" }

-- ---- which labs ---------------------------------------------------------------------------------

local function has_tag(lab, word)
  return lab.name == word or lists.has(lab.tags, word)
end

local function fail_nothing(word, labs)
  local known = {}
  for _, lab in ipairs(labs) do
    for _, name in ipairs { lab.name, table.unpack(lab.tags) } do
      if not lists.has(known, name) then known[#known + 1] = name end
    end
  end
  options.fail("option '--only': no lab has the name or the tag '%s'; %s", word, nearest.hint(word, known))
end

-- The labs asked for, with what they need.
local function chosen(labs, only)
  if not only then return labs end
  local by_name, wanted = {}, {}
  for _, lab in ipairs(labs) do by_name[lab.name] = lab end
  local function want(lab)
    if wanted[lab] then return end
    wanted[lab] = true
    for _, need in ipairs(lab.needs) do want(by_name[need]) end
  end
  for _, word in ipairs(only) do
    local any = false
    for _, lab in ipairs(labs) do
      if has_tag(lab, word) then
        any = true
        want(lab)
      end
    end
    if not any then fail_nothing(word, labs) end
  end
  local list = {}
  for _, lab in ipairs(labs) do list[#list + 1] = wanted[lab] and lab or nil end
  return list
end

-- ---- on which devices ---------------------------------------------------------------------------

-- "cuda" takes every GPU, "cuda:1" that one.
local function takes(lab, id)
  for _, word in ipairs(lab.devices) do
    if word == id or devices.id(word) == id or word == core.device_word(id).backend then return true end
  end
  return false
end

local function first_usable(lab, found)
  for _, word in ipairs(lab.devices) do
    local id = devices.id(word)
    if found[id].usable then return { id } end
  end
  return {}
end

local function devices_of(lab, asked, found)
  if not asked then return first_usable(lab, found) end
  local list = {}
  for _, word in ipairs(asked) do
    local id = devices.id(word)
    if takes(lab, id) then list[#list + 1] = id end
  end
  return list
end

local function all_words(labs, asked)
  if asked then return asked end
  local words = {}
  for _, lab in ipairs(labs) do table.move(lab.devices, 1, #lab.devices, #words + 1, words) end
  return words
end

-- ---- steps --------------------------------------------------------------------------------------

local function gates_on(gates, id)
  local list = {}
  for _, one in ipairs(gates) do
    local words = type(one.devices) == "string" and { one.devices } or one.devices
    if not words or takes({ devices = words }, id) then list[#list + 1] = one end
  end
  return list
end

local function new_step(lab, id)
  local step = { name = lab.name, device = id, needs = {} }
  step.id = ("%s-%s"):format(lab.name, (id or "none"):gsub(":", "-"))
  for _, key in ipairs(KEPT) do step[key] = lab[key] end
  step.gates = id and gates_on(lab.gates, id) or {}
  return step
end

-- A lab needs another on its own device, where that runs there, else on any.
local function needs_of(lab, id, ids_by_name)
  local list = {}
  for _, need in ipairs(lab.needs) do
    local there = ids_by_name[need]
    local same = there[id or "none"]
    for _, one in ipairs(same and { same } or there) do list[#list + 1] = one end
  end
  return list
end

--- The steps of a batch, each behind what it needs. A lab that no device takes is a step without a
--- device, which is skipped.
---@param curriculum table
---@param asked { only: string[]?, devices: string[]? }
---@return table[] steps
---@return table<string, table> found  of devices.look
function plan.make(curriculum, asked)
  local labs = chosen(curriculum.labs, asked.only)
  local found = devices.look(all_words(labs, asked.devices))
  local steps, ids = {}, {}
  for _, lab in ipairs(labs) do
    local here = devices_of(lab, asked.devices, found)
    ids[lab.name] = {}
    for i = 1, math.max(1, #here) do
      local step = new_step(lab, here[i])
      step.needs = needs_of(lab, here[i], ids)
      steps[#steps + 1] = step
      table.insert(ids[lab.name], step.id)
      ids[lab.name][here[i] or "none"] = step.id
    end
  end
  return steps, found
end

return plan
