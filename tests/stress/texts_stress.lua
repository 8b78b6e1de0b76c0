-- SPDX-License-Identifier: MIT
--
-- 16 MiB of blanks, tabs, line feeds, letters and brackets through each reader of what others write
-- (tests/support/texts.lua): as one text, and as 256 texts; and 32 MiB. Seconds of the processor, of which a reader may
-- take 2 for 16 MiB, and 2.5 times as many for twice that. The commands that read runs are eleven, and get a quarter.

local damage = require "tests.support.damage"
local json = require "moonwarp.base.json"
local support = require "tests.support"
local texts = require "tests.support.texts"

local MOST <const>, GROWTH <const>, SHORT <const> = 2.0, 2.5, 0.2
local COUNT <const> = 256

local faults = 0
io.stdout:setvbuf "line"

local function told(fault, ...)
  faults = faults + 1
  print("  " .. fault:format(...))
end

local function many(kind, count)
  local list = {}
  for i = 1, count do list[i] = texts.of(kind, texts.EACH) end
  return list
end

-- What JSON has to escape twice as long would make a file of more than it may have.
local function count_of(kind, name) return kind == "feeds" and name:find "journal" and COUNT // 2 or COUNT end

local function judge(name, kind, prepare, folder, is_one, wants_reason)
  local times, reasons = {}, {}
  for i = 1, 2 do
    local count = count_of(kind, name) * i
    local list = is_one and { texts.of(kind, count * texts.EACH) } or many(kind, count)
    times[i], reasons[i] = texts.seconds(prepare, folder, list)
  end
  local words = ("%-22s %-9s %-5s %6.2f s %6.2f s  %s"):format(name, kind, is_one and "one" or "many", times[1],
    times[2], (reasons[1] or "is read"):gsub("^.*holds no", "holds no"):sub(1, 90))
  print(words)
  if times[1] > MOST then told("more than %g s", MOST) end
  if times[2] > GROWTH * math.max(times[1], SHORT) then told("more than %g times as much for twice as much", GROWTH) end
  if wants_reason ~= nil and (reasons[1] ~= nil) ~= wants_reason then told(wants_reason and "taken" or "refused") end
end

-- Each text in a value, and what has it by which key.
local function visit(value, see)
  for key, inner in pairs(value) do
    if type(inner) == "table" then visit(inner, see) elseif type(inner) == "string" then see(value, key) end
  end
end

-- Each text of a record is a long one in turn.
local function judge_places(record, folder, whole)
  local count = 0
  visit(record, function(owner, key)
    local kept, kind = owner[key], texts.KINDS[count % #texts.KINDS + 1]
    count, owner[key] = count + 1, texts.of(kind, texts.EACH)
    support.write(folder .. "/record.json", json.encode(record))
    owner[key] = kept
    local begun = os.clock()
    local fault = damage.by_commands(folder, whole) or damage.by_report { folder, whole }
    local seconds = os.clock() - begun
    if fault or seconds > MOST then told("%s of %s: %.2f s %s", key, kind, seconds, fault or "") end
  end)
  print(("each of %d texts of a record"):format(count))
end

support.with_folder(function(root)
  local record, _, whole = damage.whole(root)
  local folder = root .. "/attempt"
  os.execute(("mkdir -p '%s'"):format(folder))
  judge_places(record, folder, whole)
  for i = 1, 5 do
    local kind = texts.KINDS[i]
    for name, prepare in pairs(texts.STRICT) do
      judge(name, kind, prepare, folder, true, true)
      judge(name, kind, prepare, folder, false, false)
    end
    for name, prepare in pairs(texts.LENIENT) do
      judge(name, kind, prepare, folder, true)
      judge(name, kind, prepare, folder, false)
    end
    for name, prepare in pairs(texts.COMMANDS) do
      local seconds = texts.seconds(prepare, folder, many(kind, COUNT // 4), whole)
      print(("%-22s %-9s %-5s %6.2f s"):format(name, kind, "many", seconds))
      if seconds > (name == "report" and MOST or 11 * MOST) / 4 then told("more than %g s a command", MOST / 4) end
    end
  end
end)

print(("%d faults"):format(faults))
assert(faults == 0)
