-- SPDX-License-Identifier: MIT
--
-- moonwarp run --slurm: the combinations of a sweep as the labs of a batch, each an element of a job array, whose
-- passes become one run when the array is over (join.lua). The batch lies in OUT/batch as others do, so that moonwarp
-- batch --resume collects a sweep too.

local core = require "moonwarp.core"
local exit = require "moonwarp.base.exit"
local join = require "moonwarp.sweep.join"
local ledger = require "moonwarp.lab.ledger"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.base.options"
local parameter_words = require "moonwarp.base.parameter"
local passes = require "moonwarp.sweep.passes"
local path = require "moonwarp.base.path"
local studies = require "moonwarp.lab.studies"
local verdict = require "moonwarp.lab.verdict"

local array = {}

-- ---- the combinations ---------------------------------------------------------------------------

-- Parameters of a study that take a list; those of a plain script are known only when it runs.
local function taking_lists(script, parameters)
  local known, found = studies.describe({ script })[1].params, {}
  local names = lists.map(known or {}, function(parameter) return parameter.name end)
  for _, parameter in ipairs(known and parameters or {}) do
    if not lists.has(names, parameter.name) then
      options.fail("unknown parameter '%s'; %s", parameter.name, nearest.hint(parameter.name, names))
    end
  end
  for _, parameter in ipairs(known or {}) do found[parameter.name] = type(parameter.default) == "table" end
  return found
end

-- The numbers of the combinations that differ.
local function numbers_of(script, parameters)
  local whole, numbers = taking_lists(script, parameters), {}
  for number = 1, passes.count(parameters) do
    local picks = passes.picked(parameters, number)
    local again = lists.find(parameters, function(one) return whole[one.name] and picks[one.name] > 1 end)
    if not again then numbers[#numbers + 1] = number end
  end
  return numbers
end

local function words_of(parsed, number)
  local words = { "--pass", ("%d"):format(number) }
  if parsed.quiet then words[#words + 1] = "--quiet" end
  if parsed.counters then
    words[#words + 1] = "--counters" .. (#parsed.counters > 0 and "=" .. table.concat(parsed.counters, ",") or "")
  end
  if parsed.check then words[#words + 1] = "--check=" .. require("moonwarp.measure.checking").words(parsed.check) end
  return words
end

local KEPT <const> = { "p", "json", "quiet", "device", "check", "counters" }

--- A sweep's combinations as labs, and what the batch keeps of the command line for its end.
---@param script string
---@param parsed table  of moonwarp run
---@return table curriculum  as of lab/curriculum.lua
---@return table more        fields of batch.json
function array.curriculum(script, parsed)
  local name, numbers = path.safe(path.study(script)), numbers_of(script, parameter_words.read(parsed.p))
  local count = #parsed.words - (parsed.rest and #parsed.rest + 1 or 0) -- those of sbatch are nothing to rerun
  local own = { words = table.move(parsed.words, 1, count, 1, {}) }
  for _, key in ipairs(KEPT) do own[key] = parsed[key] end
  return { name = name, path = script, labs = lists.map(numbers, function(number)
    return { name = ("%s-%d"):format(name, number), study = name, path = script, params = parsed.p or {},
             words = words_of(parsed, number), tags = {}, needs = {}, gates = {}, retries = 0,
             devices = parsed.device and { parsed.device } or select(2, core.device_forms()) }
  end) }, { sandbox = "off", sweep = own }
end

-- ---- its end ------------------------------------------------------------------------------------

-- Why a combination has left nothing.
local function message_of(result)
  if not result then return "killed" end
  if not verdict.kind(result.verdict) then return "the script left by os.exit" end
  return result.message and ("%s: %s"):format(result.verdict, result.message) or result.verdict
end

--- Makes one run of a sweep whose batch is over.
---@param running table  the batch
---@return integer status
function array.join(running)
  local head = running.book.head
  local parts = lists.map(running.steps, function(step)
    local state = running.states[step.id]
    return { number = math.tointeger(tonumber(step.name:match "%d+$")), message = message_of(state.result),
             fails = verdict.kind((state.result or {}).verdict) == "failure",
             is_killed = not state.result or state.result.verdict == "killed",
             folder = ("%s/%s"):format(running.folder, ledger.place(step.id, math.max(1, state.attempts))) }
  end)
  local folder = running.book.folder
  local parsed = lists.merged(head.sweep, { out = folder:match "^(.*)/batch/[^/]+$" })
  local status = join.run(head.curriculum, parsed, parts)
  if not running:is_complete() then
    exit.complain("to run again what was killed: moonwarp batch --resume %s", path.word(folder))
  end
  return status
end

return array
