-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm, without Slurm: a submitter that is killed, interrupted or kept waiting; what sbatch rejects.

local support = require "tests.support"
if not pcall(require, "moonwarp.host") then
  describe("a submitter", function() pending "needs the program" end)
  return
end

local labs = require "tests.support.labs"
local slurm = require "tests.support.slurm"

local quoted, shell = labs.quoted, labs.shell
local contains, environment, marks, signalled, verdicts, with_slurm = slurm.contains, slurm.environment, slurm.marks,
  slurm.signalled, slurm.verdicts, slurm.with
local MARK, SITE, WAIT = slurm.MARK, slurm.SITE, slurm.WAIT

describe("a submitter", function()
  local function two(body)
    with_slurm({ { "a", "", WAIT }, { "b", "", MARK } }, body)
  end

  -- What comes of a batch whose first submitter is gone.
  local function goes_on(folder, resume, wanted)
    support.write(folder .. "/again", "")
    local status, output, result = resume()
    assert.are.equal(0, status, output)
    assert.are.equal("passed passed", verdicts(result), output)
    assert.are.equal(wanted or "a b ", marks(folder))
    return output, result
  end

  it("that is killed while its jobs run loses nothing", function()
    two(function(folder, _, _, resume)
      assert.are.equal(137, signalled(folder, "KILL", ("[ -e %s/queue/begun-1 ]"):format(folder)))
      local _, result = goes_on(folder, resume)
      assert.are.equal(1, result.labs[1].attempts)
    end)
  end)

  it("that is killed before it knows the job's number finds the job by its name", function()
    two(function(folder, _, put, resume)
      support.write(folder .. "/site.lua", (SITE:gsub("0.2", "600")))
      put("late", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
      put("hide", "1")
      assert.are.equal(137, signalled(folder, "KILL", ("[ -e %s/queue/begun-1 ]"):format(folder)))
      put("hide")
      goes_on(folder, resume)
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)

  it("finds a job that sbatch says it has not queued", function()
    two(function(folder, batch, put)
      put("late", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
      support.write(folder .. "/again", "")
      local status, output = batch()
      assert.are.equal(0, status, output)
      assert.are.equal("a b ", marks(folder))
    end)
  end)

  it("runs a lab once though two jobs have it", function()
    two(function(folder, _, put, resume)
      -- The queue does not know the first job, which runs together with the second.
      put("hold", "")
      put("hide", "1")
      put("late", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
      local status, output = signalled(folder, "KILL", "false")
      assert.are.equal(1, status, output)
      contains(output, "sbatch does not say whether mw-", "is queued: Batch job submission failed: Socket timed out")
      put("late")
      os.execute(("(until [ -e %s/queue/2/name ]; do sleep 0.02; done; rm %s/queue/hold) &"):format(folder, folder))
      support.write(folder .. "/again", "")
      local result
      status, output, result = resume()
      assert.are.equal(0, status, output)
      assert.are.equal("passed passed", verdicts(result), output)
      assert.is_truthy(marks(folder) == "a b " or marks(folder) == "b a ", marks(folder))
      support.eventually("both jobs are over", function()
        return shell(("grep -q -e PENDING -e RUNNING %s/queue/*/state/*"):format(folder)) == 1
      end)
      local _, said = shell(("cat %s/out/batch/*/slurm/*.txt"):format(folder))
      contains(said, "a-cpu: not run again: ", "b-cpu: not run again: ")
    end)
  end)

  it("waits for verdicts while squeue does not answer", function()
    two(function(folder, batch, put)
      put("down", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
      support.write(folder .. "/a.lua", 'local mw = require "moonwarp"\n' .. MARK .. 'os.execute "sleep 0.5"')
      local status, output = batch()
      assert.are.equal(0, status, output)
      contains(output, "squeue does not answer: slurm_load_jobs error: Unable to contact slurm controller")
    end)
  end)

  it("says that a lab began again", function()
    two(function(folder, batch, put)
      put("twice", "")
      put("end-1", "RUNNING")
      os.execute(("(until grep -q 'a a' %s/marks; do sleep 0.02; done; touch %s/again) 2>/dev/null &"):format(folder,
        folder))
      local status, output, result = batch()
      assert.are.equal(0, status, output)
      assert.are.equal("passed passed", verdicts(result), output)
      assert.are.equal(2, result.labs[1].attempts)
      contains(output, "a on cpu: killed: its job was begun again: the lab runs once more", "attempt 2")
      assert.are.equal("a a b ", marks(folder))
    end)
  end)

  it("says how late a verdict was", function()
    -- The job leaves the queue while its lab still runs, until the submitter has looked again.
    local script = 'os.execute "cd $STAND_IN; until [ -e looks ] && [ $(wc -l <looks) -ge 3 ]; do sleep 0.02; done"'
    with_slurm({ { "a", "", script } }, function(folder, batch, put)
      support.write(folder .. "/site.lua", (SITE:gsub("0.2", "600")))
      put("early", "")
      local status, output = batch()
      assert.are.equal(0, status, output)
      contains(output, "1 verdict came after its job had left the queue, the latest by ",
        "; the site's patience is 10:00")
    end)
  end)

  it("takes a verdict that comes after it was given up", function()
    with_slurm({ { "a", "", WAIT } }, function(folder, batch, put, resume)
      put("early", "")
      local status, output, result = batch()
      assert.are.equal(1, status, output)
      contains(result.labs[1].message, "its job ended, but no verdict was to be seen for 0.2 s (Slurm: COMPLETED")
      support.write(folder .. "/again", "")
      local note = ("%s/%s/slurm/a-cpu.end"):format(folder, result.folder)
      support.eventually("the verdict", function() return io.open(note) end)
      status, output, result = resume()
      assert.are.equal(0, status, output)
      assert.are.equal("passed", verdicts(result))
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)

  it("leaves its jobs at Ctrl-C, and comes back", function()
    two(function(folder, _, _, resume)
      local status, output = signalled(folder, "INT", ("[ -e %s/queue/begun-1 ]"):format(folder))
      assert.are.equal(130, status, output)
      contains(output, "the jobs stay in the queue; moonwarp batch --resume out/batch/", "scancel 1 cancels them")
      goes_on(folder, resume)
    end)
  end)

  it("knows its jobs though Ctrl-C comes while sbatch queues them", function()
    two(function(folder, _, put, resume)
      put("slow", "")
      local status, output = signalled(folder, "INT", ("cd %s/queue && [ -e 1/after ] && { (sleep 0.5; rm slow) & }")
        :format(folder))
      assert.are.equal(130, status, output)
      contains(output, "job 1: 2 elements", "the jobs stay in the queue; moonwarp batch --resume out/batch/")
      goes_on(folder, resume)
    end)
  end)

  it("asks at a terminal, and cancels", function()
    two(function(folder)
      local command = ("cd %s && exec %s %s batch labs.lua --slurm --site site.lua --sandbox off"):format(
        quoted(folder), environment(folder), quoted(labs.program))
      local screen = support.typed(command, { { "a on cpu", "\\003" }, { "[leave/cancel]", "c\\r" } })
      contains(screen, "the jobs are cancelled")
      assert.are.equal("CANCELLED\n", support.read(folder .. "/queue/1/state/1"))
    end)
  end)

  it("comes back to a batch that was moved to a name of any kind", function()
    two(function(folder, _, put, resume)
      put("hold", "")
      signalled(folder, "KILL", ("[ -e %s/queue/1/name ]"):format(folder))
      shell(("cd %s && %s scancel 1; mv out/batch/* 'out/batch/mine,old'"):format(folder, environment(folder)))
      put "hold"
      goes_on(folder, function() return resume "'out/batch/mine,old'" end)
      contains(support.read(folder .. "/queue/2/name"), "mw-mine-old-")
    end)
  end)

  it("prints a script that runs by hand and nothing else, with --dry-run", function()
    two(function(folder, _, _, resume)
      local command = "cd %s && %s %s batch labs.lua --slurm --site site.lua --out out --sandbox off --dry-run 2>said"
      local status, text = shell(command:format(quoted(folder), environment(folder), quoted(labs.program)))
      assert.are.equal(0, status, text)
      contains(support.read(folder .. "/said"), "nothing is queued: sbatch ")
      assert.is_nil(io.open(folder .. "/queue/1/name"))
      support.write(folder .. "/job.sh", text)
      assert.are.equal(0, (shell(("cd / && %s sbatch %s/job.sh"):format(environment(folder), folder))))
      goes_on(folder, resume)
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)
end)

describe("what sbatch rejects", function()
  local function fails(words, text, put_text)
    with_slurm({ { "a", "", MARK } }, function(_, batch, put)
      if put_text then put("reject", put_text) end
      local status, output = batch("labs.lua " .. words)
      assert.are.equal(2, status, output)
      contains(output, text)
    end)
  end

  it("is said in its words", function()
    fails("--slurm --site site.lua --partition nope", "array-1.sh: invalid partition specified: nope; moonwarp batch",
      "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed")
    fails("--slurm --site site.lua --time x", "array-1.sh: unrecognized option '--foo'; ",
      "sbatch: unrecognized option '--foo'\nTry \"sbatch --help\" for more information")
  end)

  it("leaves the jobs before it in the queue, which is said", function()
    with_slurm({ { "a", "", WAIT }, { "b", 'needs = "a"', MARK } }, function(folder, batch, put, resume)
      put("reject-2", "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy")
      local status, output = batch()
      assert.are.equal(2, status, output)
      contains(output, "the jobs stay in the queue; moonwarp batch --resume out/batch/", "scancel 1 cancels them",
        "array-2.sh: Batch job submission failed: Job violates accounting/QOS policy; moonwarp batch --resume")
      put "reject-2"
      support.write(folder .. "/again", "")
      status, output = resume()
      assert.are.equal(0, status, output)
      assert.are.equal("a b ", marks(folder))
    end)
  end)

  it("is a folder's name that it would read in another way", function()
    with_slurm({ { "a", "", MARK } }, function(folder)
      for name, what in pairs { ["a\\b"] = "backslash", ["a\nb"] = "control character" } do
        local status, output = shell(("cd %s && %s %s batch labs.lua --slurm --out %s"):format(folder,
          environment(folder), quoted(labs.program), quoted(name)))
        assert.are.equal(2, status, output)
        contains(output, ("/%s has a %s, which sbatch does not take in names; "):format(name:gsub("\n", "?"), what))
        assert.is_nil(require("lfs").attributes(folder .. "/" .. name))
      end
    end)
  end)

  it("is not only what it rejects", function()
    fails("--partition gpu", "option '--partition' is for --slurm")
    fails("--slurm --jobs 2", "option '--jobs': with --slurm it is --array-limit that says how many jobs run at a time")
    fails("--slurm --array-limit 0", "option '--array-limit' wants a whole number from 1 to 1000000, got '0'")
    fails("--slurm -- --array=1", "options of sbatch: moonwarp itself sets --array")
    fails("--slurm -- --outp=x", "options of sbatch: moonwarp itself sets --output") -- as sbatch takes it
    fails("--slurm -- -Mother", "options of sbatch: --clusters is not for moonwarp: squeue does not know of it; ")
    fails("--slurm -- --wait", "options of sbatch: --wait is not for moonwarp: moonwarp itself waits for its jobs")
    fails("--slurm -- gpu", "after -- come options of sbatch, as in -- --exclusive --mem=4G; got 'gpu'")
  end)

  it("is nothing where there is no sbatch", function()
    labs.with({ { "a", "", "" } }, function(folder, batch)
      assert(shell(("mkdir %s/bin; for f in sh mkdir test; do ln -s $(command -v $f) %s/bin; done"):format(folder,
        folder)) == 0)
      local status, output = batch("labs.lua --slurm", ("PATH=%s/bin HOME=%s"):format(folder, folder))
      assert.are.equal(2, status, output)
      contains(output, "there is no sbatch on PATH: --slurm wants a machine from which jobs are submitted")
    end)
  end)
end)
