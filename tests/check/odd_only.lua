-- SPDX-License-Identifier: MIT
--
-- Required in front of a study's text: the study runs its odd cases only, and prints what came of them, a line each:
-- "wrong RUNG WHY" and "finding KIND KERNEL PLACES"; warnings are not counted.

local check = require "moonwarp.measure.check"
local measure = require "moonwarp.study.measure"
local show = require "moonwarp.study.show"
local runner = require "moonwarp.study.runner"

local function nothing() end

local function places(finding)
  local list = {}
  for i, party in ipairs(finding.parties) do list[i] = ("%s:%s"):format(party.file or "?", party.line or "?") end
  return table.concat(list, " ")
end

measure.case, show.part = nothing, nothing

-- The bits of a result.
local function digest_of(text)
  local sum = 0
  for at = 1, #text - 7, 8 do
    sum = (sum ~ string.unpack("j", text, at)) * 0x9E3779B97F4A7C15
    sum = sum ~ sum >> 29
  end
  return ("%x %d"):format(sum, #text)
end

if os.getenv "MUTANT_DIGEST" then
  local compare = check.run
  function check.run(session, got, ...)
    print("result", digest_of(got:bytes()))
    return compare(session, got, ...)
  end
end

local run = runner.run

function runner.run(study)
  for _, part in ipairs(study.part_list) do part.run = part.run and nothing end
  study.last = nil
  local ok, message = pcall(run, study)
  for rung, why in pairs(study.state.wrong) do print("wrong", rung.name, (tostring(why):gsub("%s+", " "))) end
  for _, finding in ipairs(study.dev:findings()) do
    if not finding.intended and not finding.warning then
      print("finding", finding.kind, finding.kernel, places(finding))
    end
  end
  if not ok then print("error", (tostring(message):gsub("%s+", " "))) end
  os.exit(0, true)
end
