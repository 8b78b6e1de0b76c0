-- SPDX-License-Identifier: MIT
--
-- What labs may leave instead of records (tests/support/damage.lua): $RECORDS (100000) of them through the reader in
-- this process, each hundredth through a batch's verdict with its table and JUnit text, history, export, compare and
-- plot, each thousandth through a report. None may raise an error of Lua's own, print what a terminal obeys, or pass
-- though it is not in order. $SEED makes it repeatable.

local damage = require "tests.support.damage"
local support = require "tests.support"
local store = require "moonwarp.results.store"

local RECORDS <const> = math.tointeger(tonumber(os.getenv "RECORDS" or 100000))
local BY_COMMANDS <const>, BY_REPORT <const>, MOST <const> = 100, 1000, 10

local random = damage.random(math.tointeger(tonumber(os.getenv "SEED" or 1)))
local count, faults = { read = 0, refused = 0 }, 0

local function check(number, attempt, bad, whole)
  local run, problem
  local fault = damage.fault(function() run, problem = store.read(bad) end)
  count[run and "read" or "refused"] = count[run and "read" or "refused"] + 1
  if fault or not (run or problem) then return fault or "neither a run nor a problem" end
  if number % BY_COMMANDS == 0 then
    local ending
    fault, ending = damage.by_batch(attempt)
    if not run and ending and ending.verdict ~= "failed" then fault = "its lab " .. ending.verdict end
    fault = fault or damage.by_commands(bad, whole)
  end
  return fault or number % BY_REPORT == 0 and damage.by_report { bad, whole } or nil
end

support.with_folder(function(folder)
  local record, lines, whole = damage.whole(folder)
  local attempt, bad = folder .. "/attempt", folder .. "/attempt/s/1"
  os.execute(("mkdir -p '%s'"):format(bad))
  for number = 1, RECORDS do
    local name, text = damage.file(record, lines, random)
    for _, one in ipairs { "record.json", "journal.jsonl" } do os.remove(("%s/%s"):format(bad, one)) end
    support.write(("%s/%s"):format(bad, name), text)
    local fault = check(number, attempt, bad, whole)
    if fault then
      faults = faults + 1
      print(("%d, %s: %s\n%s"):format(number, name, fault, text))
      if faults == MOST then break end
    end
  end
end)

print(("%d read, %d refused; %d faults"):format(count.read, count.refused, faults))
assert(faults == 0 and count.read > 0 and count.refused > 0)
