-- SPDX-License-Identifier: MIT
--
-- A batch of 200 labs as a job array on a Slurm cluster of two cores (tests/cluster.lua): the commands that queue and
-- collect it are killed at ten random moments, slurmd is killed twice, slurmctld once. No verdict may be lost, no lab
-- may have two, every lab that ran twice is said, and no job stays. $LABS sets their number, $KILLS that of the killed
-- commands, $SEED repeats the moments as far as a machine can.

local cluster = require "tests.cluster"
local core = require "moonwarp.core"
local host = require "moonwarp.host"
local json = require "moonwarp.base.json"
local labs = require "tests.labs"
local support = require "tests.support"

local count = math.tointeger(tonumber(os.getenv "LABS" or 200))
local kills = math.tointeger(tonumber(os.getenv "KILLS" or 10))
math.randomseed(math.tointeger(tonumber(os.getenv "SEED" or 1)))

local PATIENCE <const> = 600 -- seconds that the labs may take in all
local LONGEST <const> = 10   -- seconds between two kills
local AWAY <const> = 0.5     -- seconds after which a command is killed, at most
local REGISTER <const> = 20  -- seconds after which nodes are asked to register

-- A lab leaves a file for each time that it ran, beside its verdict.
local LAB <const> = [[
local mw = require "moonwarp"
local number = mw.arg("number", 1)
local mark = io.popen(("mktemp %%s/ran-%%d-XXXXXX"):format(%q, number))
mark:close()
mw.check(mw.device():zeros("i32", 4), 0)
]]

local CURRICULUM <const> = [[
local labs = {}
for i = 1, %d do
  labs[i] = { name = "lab" .. i, script = "lab.lua", devices = "cpu", time_limit = 300, params = { number = i } }
end
return { name = "stress", defaults = { checks = 1 }, labs = labs }
]]

local problem = cluster.obstacle()
if problem then require("moonwarp").skip(problem) end

-- ---- a command ------------------------------------------------------------------------------------

local function start(c, words)
  local command = ("cd %s; echo $$ >pid; export SLURM_CONF=%s/slurm.conf MOONWARP_CACHE=%s/cache; exec %s batch %s "
    .. "--out out"):format(c.folder, c.folder, c.folder, labs.quoted(labs.program), words)
  return host.spawn { argv = { "/bin/sh", "-c", command }, log = c.folder .. "/said.txt" }
end

-- Waits for the end of a command, or so many seconds; how it ended.
local function await(child, seconds)
  local limit = core.clock() + seconds
  repeat
    host.wait({ child }, math.max(0, math.min(0.1, limit - core.clock())))
    local ending = child:poll()
    if ending then return ending end
  until core.clock() >= limit
end

-- ---- what came of it ------------------------------------------------------------------------------

local function journal(c)
  local _, files = labs.shell("ls " .. c.folder .. "/out/batch/*/journal.jsonl")
  local name = assert(files:match "^(%S+)\n$", "one batch is wanted, there are: " .. files)
  return json.lines(support.read(name))
end

-- The verdicts of each lab that count, and how often it began, by id.
local function verdicts(lines)
  local by_id = {}
  for _, line in ipairs(lines) do
    if line.kind == "end" then
      local own = by_id[line.id] or { counted = 0, cut = 0 }
      by_id[line.id] = own
      local is_cut = line.verdict == "killed" or line.verdict == "interrupted"
      own[is_cut and "cut" or "counted"] = own[is_cut and "cut" or "counted"] + 1
      own.passed = own.passed or line.verdict == "passed"
    end
  end
  return by_id
end

local function times_run(c, number)
  local _, output = labs.shell(("ls %s/ran-%d-* 2>/dev/null | wc -l"):format(c.folder, number))
  return tonumber(output)
end

local function judge(c)
  local by_id, lost, twice, repeated, unsaid = verdicts(journal(c)), 0, 0, 0, 0
  for i = 1, count do
    local id = ("lab%d-cpu"):format(i)
    local own = by_id[id] or { counted = 0, cut = 0 }
    if own.counted == 0 or not own.passed then lost = lost + 1 print(id, "no verdict") end
    if own.counted > 1 then twice = twice + 1 print(id, own.counted .. " verdicts") end
    if times_run(c, i) > 1 then
      repeated = repeated + 1
      if own.cut == 0 then unsaid = unsaid + 1 print(id, "ran again, which nothing says") end
    end
  end
  print(("   %d labs: %d without a verdict, %d with two, %d ran again, of which %d are not said"):format(count, lost,
    twice, repeated, unsaid))
  return lost + twice + unsaid
end

-- ---- the storm ------------------------------------------------------------------------------------

-- Kinds in a random order, as many as wanted of each.
local function storm()
  local kinds = { "node1", "node1", "slurmctld" }
  for _ = 1, kills do kinds[#kinds + 1] = "command" end
  for i = #kinds, 2, -1 do
    local j = math.random(i)
    kinds[i], kinds[j] = kinds[j], kinds[i]
  end
  return kinds
end

-- A command whose batch was not begun when it was killed has nothing to continue.
local function continued(c)
  local found = labs.shell("ls " .. c.folder .. "/out/batch/*/batch.json >/dev/null 2>&1") == 0
  return found and "--resume" or "labs.lua --slurm --sandbox off"
end

-- Kills the command that continues the batch, or a daemon, one after the other.
local function disturb(c)
  for _, kind in ipairs(storm()) do
    if kind == "command" then
      local child = start(c, continued(c))
      if not await(child, math.random() * AWAY) then
        labs.shell("kill -KILL " .. support.read(c.folder .. "/pid"):match "%d+")
        await(child, PATIENCE)
      end
    else
      c:kill(kind)
    end
    os.execute(("sleep %g"):format(math.random() * LONGEST))
  end
end

-- Collects until the batch is complete. A controller that was killed takes jobs for running whose end it has not
-- stored, until their node registers again. By itself that takes minutes; an administrator's reconfigure asks for it.
local function finish(c)
  local began, asked = core.clock(), core.clock()
  while core.clock() - began < PATIENCE do
    assert(await(start(c, continued(c)), PATIENCE), "a command does not end")
    local lines = journal(c)
    if lines[#lines].kind == "finish" then return end
    if core.clock() - asked > REGISTER then
      c:shell "scontrol reconfigure"
      asked = core.clock()
    end
    os.execute "sleep 2"
  end
  error("it is not complete: " .. support.read(c.folder .. "/said.txt"))
end

local wrong
cluster.with({ settings = { "MaxArraySize=1001" } }, function(c)
  support.write(c.folder .. "/lab.lua", LAB:format(c.folder))
  support.write(c.folder .. "/labs.lua", CURRICULUM:format(count))
  disturb(c)
  finish(c)
  wrong = judge(c)
  local _, left = c:shell "squeue -h"
  if left ~= "" then wrong = wrong + 1 print("left in the queue: " .. left) end
end)
assert(wrong == 0, "verdicts are wrong")
