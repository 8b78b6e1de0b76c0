-- SPDX-License-Identifier: MIT
--
-- moonwarp run --slurm: a sweep as a job array becomes the run that it is locally. $MOONWARP_PROGRAM is what was built.

local cluster = require "tests.support.cluster"
local labs = require "tests.support.labs"
local support = require "tests.support"
local it = cluster.it

local SCRIPT <const> = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local n, by = mw.arg("n", 1), mw.arg("by", 0.5)
print("pass", n, by)
if n == 2 then mw.skip "even" end
mw.record { x = n * 2.0, y = n / by }
if n == 4 then dev:array("f32", -1) end
mw.check(dev:zeros("i32", 2), 0)
mw.table { "x", { "y", digits = 3 } }
mw.plot { x = "n", y = "y", name = "line", pictures = false }
]]

-- A cluster with a script s.lua in its folder, a function that runs a command of moonwarp there, and one that does so
-- with a command that queues jobs, waits for their end and collects.
local function with(script, body)
  cluster.with({ cpus = 8 }, function(c)
    support.write(c.folder .. "/s.lua", script)
    local function moonwarp(words)
      return c:shell(("cd %s; export MOONWARP_CACHE=%s/cache; %s %s </dev/null"):format(c.folder, c.folder,
        labs.quoted(labs.program), words))
    end
    body(c, moonwarp, function(words)
      local status, said = moonwarp(words)
      assert.are.equal(0, status, said)
      c:drain()
      local output
      status, output = moonwarp(said:match "moonwarp (batch %-%-resume %S+) collects the results\n$")
      return status, output, said
    end)
  end)
end

-- What is shown from the first line of a pass on, without the names of runs.
local function shown(output)
  local lines = {}
  for line in ("\n" .. output):match "\n(pass\t.*)":gmatch "[^\n]+" do
    lines[#lines + 1] = line:gsub("%w+/s/[%w%-]+", "RUN")
  end
  table.sort(lines) -- what a local sweep writes to standard error comes apart
  return lines
end

local function tables_of(folder)
  local run = support.run(folder)
  return assert(require("moonwarp.results.store").read(run)).tables
end

describe("a sweep on a cluster", function()
  it("is the run that it is in one process", function()
    with(SCRIPT, function(c, moonwarp, collected)
      support.write(c.folder .. "/site.lua", "return { labs_per_job = 3 }\n")
      local words = "run s.lua -p n=3,2,4,1 -p by=1,2 --device cpu"
      local status, output, said = collected(words
        .. " --slurm --site site.lua --out far --json far.json -- --mem=100M")
      assert.are.equal(3, status, output)
      assert.is_truthy(said:find("^job 1: 3 elements; scancel 1 cancels it\n"), said)
      local local_status, local_output = moonwarp(words .. " --out near --json near.json")
      assert.are.equal(local_status, status)
      assert.are.same(shown(local_output), shown(output))
      assert.are.same(tables_of(c.folder .. "/near"), tables_of(c.folder .. "/far/s"))
      assert.are.equal(select(2, support.read(c.folder .. "/near.json"):gsub("\n", "")),
        select(2, support.read(c.folder .. "/far.json"):gsub("\n", "")))
      local far = assert(require("moonwarp.results.store").read(support.run(c.folder .. "/far/s")))
      assert.are.equal("far.json", far.argv[#far.argv]) -- options of sbatch are no words for the script
      local _, history = moonwarp "history s --out far"
      assert.is_nil(history:find("\n   2", 1, true), history) -- one run
      status, output = moonwarp "batch --resume far/batch/*"
      assert.is_truthy(output:find("^moonwarp: nothing of far/batch/[%w-]+ is left to run\n"), output)
      assert.are.equal(1, status) -- of a batch with a lab that failed
      assert.are.equal(1, #support.runs(c.folder .. "/far/s"))
    end)
  end)

  it("says an element that was killed as a pass that failed; --resume runs it again", function()
    local script = SCRIPT .. [[if n == 3 and not io.open "go" then
      os.execute "scancel --full --signal=KILL ${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
      while true do end -- a lab that waits for a child may outlive the child, and pass
    end]]
    with(script, function(c, moonwarp, collected)
      local status, output = collected "run s.lua -p n=1,3,5 --device cpu --slurm"
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("moonwarp: n = 3 failed: killed: its job ", 1, true), output)
      assert.is_truthy(output:find("moonwarp: a pass failed", 1, true), output)
      assert.is_truthy(output:find("\nmoonwarp: to run again what was killed: moonwarp batch --resume out/", 1, true),
        output)
      support.write(c.folder .. "/go", "")
      status, output = moonwarp "batch --resume"
      assert.are.equal(1, status, output)
      assert.is_truthy(output:find "job %d+: 1 element; scancel %d+ cancels it\n", output)
      c:drain()
      status, output = moonwarp "batch --resume"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("\n1  2.000  2.00\n3  6.000  6.00\n5  10.00  10.0\n", 1, true), output)
      assert.are.equal(2, #support.runs(c.folder .. "/out/s"))
    end)
  end)

  it("writes its script with --dry-run, and queues nothing; by hand the script does the same", function()
    with(SCRIPT, function(c, moonwarp)
      local status, output = moonwarp "run s.lua -p n=1,3 --device cpu --slurm --dry-run -- --mem=100M"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("#SBATCH --array=1-2\n", 1, true), output)
      assert.is_truthy(output:find("#SBATCH --mem=100M\n", 1, true), output)
      local place = output:match "%-%-resume (%S+)"
      assert.are.equal("", select(2, c:shell "squeue -h --states=all"))
      c:shell(("cd %s; sbatch %s/slurm/array-1.sh"):format(c.folder, place))
      c:drain()
      status, output = moonwarp("batch --resume " .. place)
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("\n1  2.000  2.00\n3  6.000  6.00\n", 1, true), output)
    end)
  end)

  it("rejects what is not for it, and queues no mistake", function()
    local program = labs.quoted(labs.program)
    local _, output = labs.shell(program .. " run memcopy --gres gpu:1")
    assert.are.equal("moonwarp: option '--gres' is for --slurm\n", output)
    _, output = labs.shell(program .. " run memcopy --pass 1 --slurm")
    assert.are.equal("moonwarp: option '--pass': --slurm runs all combinations\n", output)
    _, output = labs.shell(program .. " run memcopy -p nn=1,2 --slurm")
    assert.are.equal("moonwarp: unknown parameter 'nn'; did you mean 'n'?\n", output)
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", "local = 1")
      local status
      status, output = labs.shell(("%s run %s/s.lua --slurm"):format(program, folder))
      assert.are.equal(1, status, output)
      assert.is_truthy(output:find("<name> expected", 1, true), output)
    end)
  end)
end)
