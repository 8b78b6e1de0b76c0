-- SPDX-License-Identifier: MIT
--
-- What a batch will run, in order: a step is a lab on a device, or its pass in check mode.

local core = require "moonwarp.core"
local counter_gate = require "moonwarp.lab.counter_gate"
local devices = require "moonwarp.lab.devices"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.base.options"
local sanitizer = require "moonwarp.tools.sanitizer"

local plan = {}

local KEPT = { "title", "study", "script", "program", "input", "expected", "path", "params", "words", "tags",
               "time_limit", "memory_limit", "output_limit", "disk_limit", "files", "processes", "tasks", "mpi", "env",
               "retries", "checks", "gates" }

-- ---- which labs ---------------------------------------------------------------------------------

local function has_tag(lab, word)
  return lab.name == word or lists.has(lab.tags, word)
end

local function fail_nothing(word, labs)
  local known = {}
  for _, lab in ipairs(labs) do lists.append(known, { lab.name, table.unpack(lab.tags) }) end
  options.fail("option '--only': no lab has the name or the tag '%s'; %s", word,
    nearest.hint(word, lists.unique(known)))
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
    local meant = lists.filter(labs, function(lab) return has_tag(lab, word) end)
    if #meant == 0 then fail_nothing(word, labs) end
    for _, lab in ipairs(meant) do want(lab) end
  end
  return lists.filter(labs, function(lab) return wanted[lab] end)
end

-- ---- on which devices ---------------------------------------------------------------------------

-- "cuda" takes every GPU, "cuda:1" that one.
local function takes(lab, id)
  for _, word in ipairs(lab.devices) do
    if word == id or devices.id(word) == id or word == core.device_word(id).backend then return true end
  end
  return false
end

-- All that were asked for, else the first that is usable.
local function devices_of(lab, asked, found)
  local ids = lists.map(asked or lab.devices, devices.id)
  if asked then return lists.filter(ids, function(id) return takes(lab, id) end) end
  return { lists.find(ids, function(id) return found[id].usable end) }
end

local function all_words(labs)
  local words = {}
  for _, lab in ipairs(labs) do lists.append(words, lab.devices) end
  return words
end

-- ---- steps --------------------------------------------------------------------------------------

local function gates_on(gates, id)
  return lists.filter(gates, function(one) return not one.devices or takes({ devices = lists.of(one.devices) }, id) end)
end

local function new_step(lab, id, fits)
  local step = { name = lab.name, device = id, needs = {} }
  step.id = ("%s-%s"):format(lab.name, (id or "none"):gsub(":", "-"))
  for _, key in ipairs(KEPT) do step[key] = lab[key] end
  step.gates = id and lists.filter(gates_on(lab.gates, id), function(one) return fits(one) end) or {}
  if step.tasks == 1 then step.tasks = nil end -- as every lab
  return step
end

-- The device of a check pass: the CPU, which finds the most. A lab that does not run there is checked on the GPU which
-- times it, if the tools are there.
local function checking_device(lab, id, found)
  local says, _, names = id and core.device_word(id), core.device_forms()
  local cpu = lists.find(names, function(name) return core.device_word(name).kind == "cpu" end)
  local is_first = says and says.checks and says.id == says.backend .. ":0"
  if is_first and lab.check.words == "" and not takes(lab, cpu) and sanitizer.program() then
    found[says.checks] = found[id] -- one GPU, one lock
    return says.checks
  end
  return core.device_word(cpu).checks
end

-- Of a lab that asks for it: a pass in check mode before the lab is timed, in which gates on counters are judged.
local function check_step(lab, id, found)
  local step = new_step(lab, checking_device(lab, id, found), counter_gate.is)
  step.params, step.check = lab.check.params, lab.check.words
  step.checks, step.tasks, step.retries = nil, step.mpi and step.tasks or nil, 0
  return step
end

local function is_timed(one) return not counter_gate.is(one) end

-- A lab needs another on its own device if that runs there, else on any.
local function needs_of(lab, id, ids_by_name)
  local list = {}
  for _, need in ipairs(lab.needs) do
    local there = ids_by_name[need]
    local same = there[id or "none"]
    lists.append(list, same and { same } or there)
  end
  return list
end

--- The steps of a batch, each after the steps it needs. A lab that no device takes is a step without a
--- device, which is skipped.
---@param curriculum table
---@param asked { only: string[]?, devices: string[]?, found: table<string, table>? }  found: what is known of the
---       devices of another machine; else those of this one are asked
---@return table[] steps
---@return table<string, table> found  of devices.look
function plan.make(curriculum, asked)
  local labs = chosen(curriculum.labs, asked.only)
  local found = asked.found or devices.look(asked.devices or all_words(labs))
  local steps, ids = {}, {}
  for _, lab in ipairs(labs) do
    local here = devices_of(lab, asked.devices, found)
    ids[lab.name] = {}
    local check = lab.check and check_step(lab, here[1], found)
    if check then
      check.needs = needs_of(lab, check.device, ids)
      steps[#steps + 1] = check
    end
    for i = 1, math.max(1, #here) do
      local step = new_step(lab, here[i], is_timed)
      step.needs = lists.append(needs_of(lab, here[i], ids), check and { check.id })
      steps[#steps + 1] = step
      table.insert(ids[lab.name], step.id)
      ids[lab.name][here[i] or "none"] = step.id
    end
  end
  return steps, found
end

return plan
