-- SPDX-License-Identifier: MIT
--
-- Long job arrays on a Slurm cluster (tests/cluster.lua). A sweep of 100 values: its table, its records and its exit
-- status are those of a sweep in one process. A batch of which every second lab meets the time limit of its job:
-- --resume runs those again and no others. $VALUES and $LABS set their numbers.

local cluster = require "tests.cluster"
local json = require "moonwarp.base.json"
local labs = require "tests.labs"
local store = require "moonwarp.results.store"
local support = require "tests.support"

local values = math.tointeger(tonumber(os.getenv "VALUES" or 100))
local count = math.tointeger(tonumber(os.getenv "LABS" or 8))

local obstacle = cluster.obstacle()
if obstacle then require("moonwarp").skip(obstacle) end

local function run(c, words)
  return c:shell(("cd %s; export MOONWARP_CACHE=%s/cache; %s %s"):format(c.folder, c.folder, labs.quoted(labs.program),
    words))
end

-- Queues jobs, waits for their end, and collects.
local function collected(c, words)
  local status, said = run(c, words)
  assert(status == 0, said)
  c:drain()
  return run(c, said:match "moonwarp (batch %-%-resume %S+) collects the results\n$")
end

local function same(what, wanted, got)
  if wanted ~= got then error(("%s differ:\n%s\n%s"):format(what, wanted, got), 0) end
end

-- ---- a sweep --------------------------------------------------------------------------------------

local SWEPT <const> = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local n = mw.arg("n", 1)
if n % 10 == 0 then dev:array("f32", -n) end
mw.record { half = n / 2, square = n * n * 1.0, kind = "k" .. n % 3 }
mw.check(dev:zeros("i32", n), 0)
mw.table { "half", "square", "kind" }
mw.plot { x = "n", y = "square", by = "kind", name = "squares" }
]]

-- What a run has but for times, dates and places.
local function content_of(folder)
  local found = store.below(folder)
  assert(#found == 1, #found .. " runs in " .. folder)
  local record = assert(store.read(found[1]))
  for _, name in ipairs { "date", "seconds", "argv", "environment", "folder", "identity" } do record[name] = nil end
  return (json.encode(record):gsub("%d+%-%d+%-%d+[ T]%d+:[%d:]+", "DATE"))
end

local function table_in(output)
  return assert(output:match "\n(records, measured on .-)\n +square against n", output)
end

local function sweep(c)
  local list = {}
  for i = 1, values do list[i] = i end
  local words = "run s.lua --device cpu -p n=" .. table.concat(list, ",")
  support.write(c.folder .. "/s.lua", SWEPT)
  local status, output = collected(c, words .. " --slurm --out far")
  local near_status, near = run(c, words .. " --out near")
  same("exit statuses", near_status, status)
  same("tables", table_in(near), table_in(output))
  same("records", content_of(c.folder .. "/near"), content_of(c.folder .. "/far/s"))
  print(("   a sweep of %d values: the same table, records and status %d"):format(values, status))
end

-- ---- a time limit ---------------------------------------------------------------------------------

-- A lab of an even number ends only when the folder has a file "go". Each run leaves a file.
local SLOW <const> = [[
local mw = require "moonwarp"
local number = mw.arg("number", 1)
os.execute("mktemp ran-" .. number .. "-XXXXXX >/dev/null")
mw.check(mw.device():zeros("i32", 4), 0)
if number % 2 == 0 and not io.open "go" then os.execute "sleep 600" end
]]

local CURRICULUM <const> = [[
local labs = {}
for i = 1, %d do labs[i] = { name = "lab" .. i, script = "slow.lua", devices = "cpu", params = { number = i } } end
return { name = "slow", labs = labs }
]]

local function times_run(c, number)
  local _, output = labs.shell(("ls %s/ran-%d-* | wc -l"):format(c.folder, number))
  return tonumber(output)
end

local function limited(c)
  support.write(c.folder .. "/slow.lua", SLOW)
  support.write(c.folder .. "/labs.lua", CURRICULUM:format(count))
  local status, output = collected(c, "batch labs.lua --slurm --sandbox off --time 1")
  assert(status == 1, output)
  local _, cut = output:gsub("cpu: killed: its job's time limit", "")
  same("killed labs", count // 2, cut)
  support.write(c.folder .. "/go", "")
  run(c, "batch --resume")
  c:drain()
  status, output = run(c, "batch --resume")
  assert(status == 0, output)
  for i = 1, count do same(("times that lab %d ran"):format(i), i % 2 == 0 and 2 or 1, times_run(c, i)) end
  print(("   %d of %d labs met their job's time limit; --resume ran those and no others"):format(cut, count))
end

cluster.with({ cpus = 2 }, sweep)
cluster.with({ cpus = count }, limited)
