-- SPDX-License-Identifier: MIT
--
-- Required in front of a study's text: the study runs its odd cases only, and prints what came of them, a line each:
-- "wrong RUNG WHY" and "finding KIND KERNEL PLACES".

local measure = require "moonwarp.study.measure"
local show = require "moonwarp.study.show"
local runner = require "moonwarp.study.run"

local function nothing() end

local function places(finding)
  local list = {}
  for i, party in ipairs(finding.parties) do list[i] = ("%s:%s"):format(party.file or "?", party.line or "?") end
  return table.concat(list, " ")
end

measure.case, show.part = nothing, nothing

local run = runner.run

function runner.run(study)
  for _, part in ipairs(study.part_list) do part.run = part.run and nothing end
  study.last = nil
  local ok, message = pcall(run, study)
  for rung, why in pairs(study.state.wrong) do print("wrong", rung.name, (tostring(why):gsub("%s+", " "))) end
  for _, finding in ipairs(study.dev:findings()) do print("finding", finding.kind, finding.kernel, places(finding)) end
  if not ok then print("error", (tostring(message):gsub("%s+", " "))) end
  os.exit(0, true)
end
