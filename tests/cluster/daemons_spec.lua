-- SPDX-License-Identifier: MIT
--
-- The cluster that the other specs here begin: it runs arrays, its daemons come back, and none outlives its test.

local cluster = require "tests.support.cluster"
local labs = require "tests.support.labs"
local support = require "tests.support"
local it = cluster.it

describe("a cluster", function()
  it("runs each element of an array once", function()
    cluster.with({ cpus = 8, settings = { "MaxArraySize=20" } }, function(c)
      local status, output = c:shell(("cd %s && sbatch --array=0-9 --output=%%a.out --wrap 'echo $SLURM_ARRAY_TASK_ID'")
        :format(c.folder))
      assert.are.equal(0, status, output)
      c:drain()
      for i = 0, 9 do assert.are.equal(i .. "\n", support.read(("%s/%d.out"):format(c.folder, i))) end
      status, output = c:shell "sbatch --array=0-20 --wrap true"
      assert.are.equal(1, status)
      assert.is_truthy(output:find("Invalid job array specification", 1, true), output)
    end)
  end)

  it("has several nodes", function()
    cluster.with({ nodes = 3 }, function(c)
      local _, output = c:shell "srun -N 3 printenv SLURMD_NODENAME | sort"
      assert.are.equal("node1\nnode2\nnode3\n", output)
    end)
  end)

  it("goes on with a job when its daemons are killed", function()
    cluster.with({}, function(c)
      local job = "touch began; until [ -e go ]; do sleep 0.1; done; echo whole"
      c:shell(("cd %s && sbatch --no-requeue --output=job.out --wrap '%s'"):format(c.folder, job))
      support.eventually("a job", function() return c:shell(("test -e %s/began"):format(c.folder)) == 0 end)
      -- A controller stores states seconds after they change; one that has not stored that a job runs starts it again.
      c:shell(("touch %s/mark; scontrol update jobid=1 comment=mark"):format(c.folder))
      c:await(("[ %s/state/job_state -nt %s/mark ]"):format(c.folder, c.folder))
      for _, name in ipairs { "node1", "slurmctld" } do
        local before = c:pid(name)
        c:kill(name)
        support.eventually(name, function() return c:pid(name) ~= before end)
      end
      c:await "scontrol ping"
      support.write(c.folder .. "/go", "")
      c:drain()
      assert.are.equal("whole\n", support.read(c.folder .. "/job.out"))
    end)
  end)

  it("ends with a test that is killed", function()
    support.with_folder(function(folder)
      support.write(folder .. "/killed.lua", [[
        require("tests.support.cluster").with({}, function(c)
          c:shell("sbatch --output=/dev/null --wrap 'sleep 1000'; srun true")
          local file = assert(io.open(arg[1], "w"))
          for _, name in ipairs { "munged", "slurmctld", "node1" } do file:write(c:pid(name), " ") end
          file:close()
          os.execute("kill -KILL $PPID")
        end)]])
      local status = labs.shell(("%s run %s/killed.lua -- %s/pids"):format(labs.quoted(labs.program), folder, folder))
      assert.are.equal(137, status)
      for pid in support.read(folder .. "/pids"):gmatch "%d+" do
        support.eventually("the end of " .. pid, function() return labs.shell("kill -0 " .. pid) ~= 0 end)
      end
    end)
  end)
end)
