-- SPDX-License-Identifier: MIT
--
-- What moonwarp batch --slurm adds to a job array: the time of trivial labs as a batch, from the command to the summary
-- of --resume behind the empty queue, over the time of the same commands by a bare sbatch --array, from sbatch to the
-- empty queue. Both on a Slurm cluster of two cores that this script starts (tests/cluster.lua), in turn. To reach: at
-- most 1.2.

local mw = require "moonwarp"
local core = require "moonwarp.core"
local cluster = require "tests.cluster"
local labs = require "tests.labs"
local support = require "tests.support"

local count = mw.arg("labs", 200, "labs of a batch")
local rounds = mw.arg("rounds", 1, "times of each")

local MOST <const> = 1.2

local problem = cluster.obstacle()
if problem then mw.skip(problem) end

local CURRICULUM <const> = [[
local labs = {}
for i = 1, %d do labs[i] = { name = "lab" .. i, script = "lab.lua", devices = "cpu" } end
return { name = "trivial", labs = labs }
]]

-- The command of a lab, as an element of a bare array.
local BARE <const> = "%s run lab.lua --device cpu --out bare/$SLURM_ARRAY_TASK_ID"

local ratios = {}

local function expect(status, output)
  if status ~= 0 then error(output) end
end

local function time(fn)
  local start = core.clock()
  fn()
  return core.clock() - start
end

local function measure(c)
  local program = labs.quoted(labs.program)
  local function shell(command)
    expect(c:shell(("export MOONWARP_CACHE=%s/cache; cd %s; %s"):format(c.folder, c.folder, command)))
  end
  local function drain()
    repeat os.execute "sleep 0.2" until select(2, c:shell "squeue -h") == ""
  end
  support.write(c.folder .. "/lab.lua", 'local mw = require "moonwarp"\nmw.check(mw.device():zeros("i32", 4), 0)\n')
  support.write(c.folder .. "/labs.lua", CURRICULUM:format(count))
  for round = 1, rounds do
    local bare = time(function()
      shell(("sbatch --array=1-%d --output=/dev/null --wrap=%s"):format(count, labs.quoted(BARE:format(program))))
      drain()
    end)
    local own = time(function()
      shell(("%s batch labs.lua --slurm --sandbox off --out out"):format(program))
      drain()
      shell(("%s batch --resume --out out"):format(program))
    end)
    ratios[#ratios + 1] = own / bare
    mw.record { round = round, bare = bare, batch = own, ratio = own / bare, units = { bare = "s", batch = "s" } }
  end
end

cluster.with({}, measure)
mw.table { "round", "bare", "batch", { "ratio", digits = 3 }, title = ("%d trivial labs"):format(count) }
table.sort(ratios)
local median = ratios[(#ratios + 1) // 2]
mw.remark("A batch takes %.2f times as long as a bare array; at most %.1f is wanted: %s.", median, MOST,
  median <= MOST and "reached" or "missed")
