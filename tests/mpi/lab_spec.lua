-- SPDX-License-Identifier: MIT
--
-- Labs of MPI: mpirun starts their ranks, in a sandbox where there can be one, and in a job of Slurm.

local cluster = require "tests.support.cluster"
local labs = require "tests.support.labs"
local mpi = require "tests.support.mpi"
local support = require "tests.support"
local it = mpi.it

local RANKS <const> = [[
  local mpi, nccl = require "moonwarp.mpi", require "moonwarp.nccl"
  local dev = mw.device()
  local x = dev:full(mpi.rank(), "f64", 100000)
  mw.check(nccl.communicator():all_reduce({ x })[1], mpi.size() * (mpi.size() - 1) / 2)
  mw.record { ranks = mpi.size() }]]

-- What names this MPI: the site's file says which mpirun.
local function environment(folder)
  labs.shell(("mkdir -p %s/config/moonwarp"):format(folder))
  support.write(folder .. "/config/moonwarp/slurm.lua", ("return { mpirun = %q }"):format(
    mpi.mpirun(1):match "mpirun%S*"))
  return ("env XDG_CONFIG_HOME=%s/config %s"):format(folder, mpi.mpirun(1):match "MOONWARP_MPICC=%S+")
end

describe("a lab of MPI", function()
  it("runs as ranks, also in check mode, one of which may fail it", function()
    labs.with({ { "good", "tasks = 4, mpi = true, check = {}", RANKS },
                { "bad", "tasks = 2, mpi = true", RANKS .. " mw.check(dev:zeros('i32', 1), mpi.rank())" },
                { "one", "mpi = true", RANKS } }, function(folder, batch)
      local status, output, result = batch("labs.lua", environment(folder))
      assert.are.equal(3, status, output)
      local words = {}
      for i, row in ipairs(result.labs) do words[i] = row.id .. " " .. row.verdict end
      assert.are.equal("good-cpu-check passed, good-cpu passed, bad-cpu check failed, one-cpu passed",
        table.concat(words, ", "), output)
      local got = {}
      for _, run in ipairs(mpi.runs(folder)) do
        for _, record in ipairs(run.records) do got[record.ranks] = (got[record.ranks] or 0) + 1 end
      end
      assert.are.same({ 1, 2, nil, 8 }, got)
    end)
  end)

  it("leaves no rank behind at its time limit", function()
    labs.with({ { "endless", "tasks = 2, mpi = true, time_limit = 5", "while true do end" } }, function(folder, batch)
      local _, output, result = batch("labs.lua", environment(folder))
      assert.are.equal("timed out", result.labs[1].verdict, output)
      mpi.none_left(folder)
    end)
  end)

  it("says what mpi takes", function()
    labs.with({ { "a", "mpi = 2", RANKS } }, function(_, batch)
      local status, output = batch()
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("mpi must be true or false, got 2", 1, true), output)
    end)
  end)

  if cluster.obstacle() then return end
  it("runs as ranks on a cluster", function()
    cluster.with({ cpus = 4 }, function(c)
      labs.with({ { "m", "tasks = 2, mpi = true", RANKS } }, function(folder, batch)
        local before = ("%s SLURM_CONF=%s/slurm.conf MOONWARP_CACHE=%s/cache timeout -k 5 300"):format(
          environment(folder), c.folder, folder)
        local status, output = labs.shell(("cd %s && %s %s batch labs.lua --slurm --out out"):format(
          labs.quoted(folder), before, labs.quoted(labs.program)))
        assert.are.equal(0, status, output)
        c:drain()
        local result
        status, output, result = batch("--resume", before)
        local said = select(2, labs.shell(("cat %s/out/batch/*/m-cpu/output.txt"):format(folder)))
        assert.are.equal(0, status, output .. said)
        assert.are.equal("passed", result.labs[1].verdict)
        assert.are.equal(2, mpi.runs(folder)[1].records[2].ranks)
      end)
    end)
  end)
end)
