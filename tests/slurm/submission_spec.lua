-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm, without Slurm: no lab is queued twice and no verdict lost, whatever sbatch, squeue and the
-- file system do; what sbatch rejects.

local support = require "tests.support"
if not pcall(require, "moonwarp.host") then
  describe("a submission", function() pending "needs the program" end)
  return
end

local labs = require "tests.support.labs"
local slurm = require "tests.support.slurm"

local quoted, shell = labs.quoted, labs.shell
local contains, environment, marks, verdicts, with_slurm = slurm.contains, slurm.environment, slurm.marks,
  slurm.verdicts, slurm.with
local MARK, WAIT = slurm.MARK, slurm.WAIT

local LATE <const> = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"

describe("a submission", function()
  local function two(body)
    with_slurm({ { "a", "", WAIT }, { "b", "", MARK } }, body)
  end

  local function await(folder, name)
    support.eventually(name, function() return io.open(folder .. "/queue/" .. name) end)
  end

  -- What comes of a batch whose jobs are there.
  local function goes_on(folder, resume, wanted)
    support.write(folder .. "/again", "")
    slurm.drain(folder)
    local status, output, result = resume()
    assert.are.equal(0, status, output)
    assert.are.equal("passed passed", verdicts(result), output)
    assert.are.equal(wanted or "a b ", marks(folder))
    return output, result
  end

  it("queues nothing that is in the queue, and says so", function()
    two(function(folder, calls)
      local status, output = calls.submit()
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("^job 1: 2 elements; scancel 1 cancels it\n"
        .. "moonwarp batch %-%-resume out/batch/[%w-]+ collects the results\n$"), output)
      await(folder, "begun-1")
      local result
      status, output, result = calls.resume()
      assert.are.equal(1, status, output)
      assert.are.equal("queued queued", verdicts(result))
      contains(output, "2 queued in ", "to go on: moonwarp batch --resume out/batch/")
      result = select(2, goes_on(folder, calls.resume))
      assert.are.equal(1, result.labs[1].attempts)
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)

  it("finds a job by its name where sbatch says that it has not queued it", function()
    for _, is_over in ipairs { false, true } do
      two(function(folder, calls)
        calls.put("late", LATE)
        local status, output = calls.submit()
        assert.are.equal(2, status, output)
        contains(output, "sbatch does not queue /", "/array-1.sh: Batch job submission failed: Socket timed out")
        if is_over then support.write(folder .. "/again", "") slurm.drain(folder) end
        if not is_over then calls.resume() end
        goes_on(folder, calls.resume)
        assert.is_nil(io.open(folder .. "/queue/2/name"))
      end)
    end
  end)

  it("runs a lab once though two jobs have it", function()
    two(function(folder, calls)
      -- The queue does not know the first job, which runs together with the second.
      calls.put("hold", "")
      calls.put("hide", "1")
      calls.put("late", LATE)
      calls.submit()
      calls.put "late"
      local status, output = calls.resume()
      assert.are.equal(1, status, output)
      contains(output, "job 2: 2 elements; ")
      calls.put "hold"
      support.write(folder .. "/again", "")
      slurm.drain(folder)
      local result
      status, output, result = calls.resume()
      assert.are.equal(0, status, output)
      assert.are.equal("passed passed", verdicts(result), output)
      assert.is_truthy(marks(folder) == "a b " or marks(folder) == "b a ", marks(folder))
      local _, said = shell(("cat %s/out/batch/*/slurm/*.txt"):format(folder))
      contains(said, "a-cpu: not run here: ", "b-cpu: not run here: ", "/b-cpu: File exists\n")
    end)
  end)

  it("runs a lab once though Slurm begins its element again", function()
    two(function(folder, calls)
      calls.put("twice", "")
      calls.submit()
      goes_on(folder, calls.resume)
    end)
  end)

  it("queues nothing while squeue does not answer", function()
    two(function(folder, calls)
      calls.submit()
      await(folder, "begun-1")
      calls.put("down", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
      local status, output, result = calls.resume()
      assert.are.equal(1, status, output)
      assert.are.equal("queued queued", verdicts(result))
      contains(output, "squeue does not answer: Unable to contact slurm controller (connect failure); nothing is "
        .. "queued before it does")
      goes_on(folder, calls.resume) -- all have their verdicts
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)

  it("takes a verdict that comes after its lab was given up", function()
    with_slurm({ { "a", "", WAIT } }, function(folder, calls)
      calls.put("early", "")
      calls.submit()
      await(folder, "begun-1")
      local status, output, result = calls.resume()
      assert.are.equal(1, status, output)
      assert.are.equal("killed", verdicts(result))
      support.write(folder .. "/again", "")
      local note = ("%s/%s/slurm/a-cpu.end"):format(folder, result.folder)
      support.eventually("the verdict", function() return io.open(note) end)
      status, output, result = calls.resume()
      assert.are.equal(0, status, output)
      assert.are.equal("passed", verdicts(result))
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)

  it("queues labs whose needs are in the queue behind them", function()
    with_slurm({ { "a", "", WAIT }, { "b", 'needs = "a"', MARK } }, function(folder, calls)
      calls.put("reject-2", "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy")
      local status, output = calls.submit()
      assert.are.equal(2, status, output)
      contains(output, "job 1: 1 element; scancel 1 cancels it\n", "moonwarp: sbatch does not queue /",
        "/array-2.sh: Batch job submission failed: Job violates accounting/QOS policy; moonwarp batch --resume out/")
      calls.put "reject-2"
      status, output = calls.resume()
      assert.are.equal(1, status, output)
      contains(support.read(folder .. "/queue/2/words"), " --dependency=afterany:1 ")
      goes_on(folder, calls.resume)
    end)
  end)

  it("comes back to a batch that was moved to a name of any kind", function()
    two(function(folder, calls)
      calls.put("hold", "")
      calls.submit()
      shell(("cd %s && %s scancel 1; mv out/batch/* 'out/batch/mine,old'"):format(folder, environment(folder)))
      calls.put "hold"
      local function resume() return calls.resume "'out/batch/mine,old'" end
      local status, output = resume()
      assert.are.equal(1, status, output)
      resume()
      goes_on(folder, resume)
      contains(support.read(folder .. "/queue/2/name"), "mw-mine-old-")
    end)
  end)

  it("prints a script that runs by hand and nothing else, with --dry-run", function()
    two(function(folder, calls)
      local command = "cd %s && %s %s batch labs.lua --slurm --out 'out;own' --sandbox off --dry-run 2>said"
      local status, text = shell(command:format(quoted(folder), environment(folder), quoted(labs.program)))
      assert.are.equal(0, status, text)
      assert.is_nil(io.open(folder .. "/queue/1/name"))
      local script, place = support.read(folder .. "/said"):match "nothing is queued: sbatch (%b'') .*%-%-resume (%b'')"
      assert.is_truthy(io.open(script:sub(2, -2)), script)
      local function resume(words) return calls.resume(words or place) end
      contains(select(2, shell(("cd %s && %s %s batch --resume --out out 2>&1"):format(quoted(folder),
        environment(folder), quoted(labs.program)))), "there is no unfinished batch in out/batch")
      contains(select(2, resume()), place:sub(2, -2) .. " is a dry run, of which --resume queues nothing")
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
    with_slurm({ { "a", "", MARK } }, function(_, calls)
      if put_text then calls.put("reject", put_text) end
      local status, output = calls.submit("labs.lua " .. words)
      assert.are.equal(2, status, output)
      contains(output, text)
    end)
  end

  it("is said in its words", function()
    fails("--slurm --partition nope", "array-1.sh: invalid partition specified: nope; moonwarp batch",
      "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed")
    fails("--slurm --time x", "array-1.sh: unrecognized option '--foo'; ",
      "sbatch: unrecognized option '--foo'\nTry \"sbatch --help\" for more information")
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
    fails("--slurm --json r.json", "option '--json': with --slurm the outcome is known to --resume, which takes it")
    fails("--slurm --array-limit 0", "option '--array-limit' wants a whole number from 1 to 1000000, got '0'")
    for word, name in pairs { ["--array=1"] = "--array", ["--outp=x"] = "--output", ["-Mother"] = "--clusters",
                              ["--wait"] = "--wait" } do
      fails("--slurm -- " .. word, ("options of sbatch: %s is not for jobs of moonwarp, which has to find them again")
        :format(name))
    end
    fails("--slurm -- gpu", "after -- come options of sbatch, as in -- --exclusive --mem=4G; got 'gpu'")
  end)

  it("is nothing where there is no sbatch", function()
    labs.with({ { "a", "", "" } }, function(folder)
      assert(shell(("mkdir %s/bin; for f in sh mkdir test; do ln -s $(command -v $f) %s/bin; done"):format(folder,
        folder)) == 0)
      local status, output = shell(("cd %s && PATH=%s/bin HOME=%s %s batch labs.lua --slurm"):format(folder, folder,
        folder, quoted(labs.program)))
      assert.are.equal(2, status, output)
      contains(output, "there is no sbatch on PATH: --slurm wants a machine from which jobs are submitted")
    end)
  end)
end)
