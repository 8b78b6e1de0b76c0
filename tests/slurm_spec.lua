-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm, without Slurm: tests/slurm/stand_in.sh under the names of its commands runs the elements of
-- job arrays as processes. What may go wrong between a submitter, a queue and a shared file system is made to.

local support = require "tests.support"
if not pcall(require, "moonwarp.host") then
  describe("a batch on Slurm", function() pending "needs the program" end)
  return
end

local cjson = require "cjson"
local core = require "moonwarp.core"
local labs = require "tests.labs"

local quoted, shell = labs.quoted, labs.shell

local COMMANDS = { "sbatch", "squeue", "scancel", "scontrol", "sacct", "srun", "slurmctld" }
local SITE = "return { poll = 0.05, patience = 0.2, probe = false }"

-- $1 is the folder: the stand-ins come first on PATH.
local ENVIRONMENT = "env -u SLURM_JOB_ID STAND_IN=%s/queue PATH=%s/bin:$PATH HOME=%s MOONWARP_CACHE=%s/cache"

local function environment(folder)
  return ENVIRONMENT:format(folder, folder, folder, folder)
end

local function stand_in(folder)
  assert(shell(("mkdir -p %s/bin %s/queue"):format(folder, folder)) == 0)
  for _, name in ipairs(COMMANDS) do
    require("lfs").link(core.home() .. "/tests/slurm/stand_in.sh", ("%s/bin/%s"):format(folder, name), true)
  end
  support.write(folder .. "/site.lua", SITE)
  os.execute(("%s slurmctld $PPID >/dev/null 2>&1 </dev/null &"):format(environment(folder)))
end

-- Jobs that a test left are ended with its folder.
local function end_jobs(folder)
  shell(("cd %s/queue && touch stop && for job in [0-9]*; do STAND_IN=$PWD ../bin/scancel $job; done"):format(folder))
end

-- Labs in a folder with stand-ins; body(folder, batch, put): batch(words) returns status, output and result; put(name,
-- text) writes a file of the queue, nil removes it.
local function with_slurm(list, body)
  labs.with(list, function(folder, run)
    stand_in(folder)
    local function batch(words)
      words = words or "labs.lua --slurm --site site.lua"
      return run(words .. (words:find("--sandbox", 1, true) and "" or " --sandbox off"),
        environment(folder) .. " timeout -k 5 120")
    end
    local function resume(words)
      return run("--resume " .. (words or ""), environment(folder) .. " timeout -k 5 120")
    end
    local function put(name, text)
      if text then support.write(folder .. "/queue/" .. name, text) else os.remove(folder .. "/queue/" .. name) end
    end
    local ok, problem = xpcall(body, debug.traceback, folder, batch, put, resume)
    end_jobs(folder)
    if not ok then error(problem, 0) end
  end)
end

local function contains(output, ...)
  for _, text in ipairs { ... } do assert.is_truthy(output:find(text, 1, true), text .. "\nis not in\n" .. output) end
end

local function verdicts(result)
  local words = {}
  for i, row in ipairs(result.labs) do words[i] = row.verdict end
  return table.concat(words, " ")
end

-- A lab that leaves a mark when it begins; one that says so to the stand-in as well, and waits for a file.
local MARK = 'local f = assert(io.open("marks", "a")) f:write(os.getenv "MOONWARP_LAB", " ") f:close()\n'
local BEGUN = 'os.execute "touch $STAND_IN/begun-$SLURM_ARRAY_TASK_ID"\n'
local WAIT = MARK .. BEGUN .. 'os.execute "until [ -e again ]; do sleep 0.02; done"\n'
local RECORD = MARK .. 'mw.record { device = "cpu", x = 1 } mw.check(mw.device():zeros("i32", 2), 0)'

local function marks(folder)
  return support.read(folder .. "/marks")
end

-- Of a batch whose submitter gets a signal once a condition of the shell holds.
local function signalled(folder, signal, condition, words)
  local command = ("cd %s && exec %s %s batch %s --out out --json r.json --sandbox off"):format(quoted(folder),
    environment(folder), quoted(labs.program), words or "labs.lua --slurm --site site.lua")
  return support.signalled(command, signal, { condition })
end

describe("a batch on Slurm", function()
  it("has the verdicts, the statuses, JUnit and the report of a local one", function()
    local list = { { "a", "", RECORD }, { "b", "", 'mw.check(mw.device():zeros("i32", 2), 1)' },
                   { "c", 'needs = "a", check = true', RECORD }, { "d", 'needs = "b"', RECORD },
                   { "e", "time_limit = 0.5", 'os.execute "sleep 1000"' }, { "f", "", "os.exit(7)" } }
    with_slurm(list, function(folder, batch)
      local function rows(words)
        local status, output, result = batch(words .. " --junit r.xml")
        local shown = { status, support.read(folder .. "/r.xml"):match 'tests=.- skipped="%d+"' }
        for _, row in ipairs(result.labs) do
          shown[#shown + 1] = ("%s %s %s"):format(row.id, row.verdict, row.message)
        end
        return table.concat(shown, "\n"), output, result
      end
      local here = rows "labs.lua"
      local there, output, result = rows "labs.lua --slurm --site site.lua"
      assert.are.equal(here, there)
      contains(output, "job 1: 4 elements", "job 2: 2 elements", "job 3: 1 element ", "[7/7] ")
      assert.are.equal("complete", result.status)
      assert.are.equal("node1", result.labs[1].node)
      local status, said = shell(("cd %s && %s report %s --output r.html"):format(folder, quoted(labs.program),
        result.folder))
      assert.are.equal(0, status, said)
      contains(support.read(folder .. "/r.html"), "check failed", "timed out")
    end)
  end)

  it("says that a lab had a part of its node, in its record too", function()
    with_slurm({ { "a", "", RECORD .. ' mw.bench(function() end, { samples = 3 })' } }, function(folder, batch)
      local status, output, result = batch()
      assert.are.equal(0, status, output)
      local cores = require("moonwarp.measure.environment").machine().cores
      if cores == 1 then pending "one core is the whole machine" end
      contains(output, "1 lab had only a part of a node, so other jobs may have disturbed the timings")
      assert.is_true(result.labs[1].shared)
      local run = ("%s/%s/%s"):format(folder, result.folder, result.labs[1].run)
      assert.are.same({ job = "11", node = "node1", cores = 1, of = cores, shared = true },
        cjson.decode(support.read(run .. "/record.json")).environment.slurm)
      support.write(folder .. "/site.lua", (SITE:gsub("return {", "return { options = { exclusive = true },")))
      result = select(3, batch())
      assert.is_nil(result.labs[1].shared)
    end)
  end)

  it("puts labs into as many arrays as MaxArraySize wants, or several into a job", function()
    local list = {}
    for i = 1, 5 do list[i] = { "lab" .. i, "", MARK } end
    with_slurm(list, function(folder, batch, put)
      put("size", "3")
      local status, output = batch "labs.lua --slurm --site site.lua --array-limit 1"
      assert.are.equal(0, status, output)
      contains(output, "job 1: 2 elements, at most 1 at a time", "job 3: 1 element,")
      contains(support.read(folder .. "/queue/1/script"), "#SBATCH --array=1-2%1\n", "#SBATCH --no-requeue\n")
      contains(support.read(folder .. "/queue/1/words"), "--job-name=mw-", " --array=1-2%1 ", " --no-requeue ")
      support.write(folder .. "/site.lua", (SITE:gsub("return {", "return { labs_per_job = 3,")))
      status, output = batch()
      assert.are.equal(0, status, output)
      contains(output, "job 4: 2 elements (")
      assert.are.equal("lab1 lab2 lab3 lab4 lab5 ", marks(folder):sub(-25))
    end)
  end)

  it("starts the tasks of a lab with srun, which a local batch skips", function()
    local list = { { "m", "tasks = 2", MARK .. 'mw.record { device = "cpu", rank = os.getenv "SLURM_PROCID" }' } }
    with_slurm(list, function(folder, batch)
      local status, output, result = batch()
      assert.are.equal(0, status, output)
      assert.are.equal("m m ", marks(folder))
      contains(support.read(folder .. "/queue/1/script"), "#SBATCH --ntasks=2\n")
      contains(support.read(("%s/%s/%s/record.json"):format(folder, result.folder, result.labs[1].run)), '"rank":"0"')
      local rejected, said = batch "labs.lua --slurm --site site.lua --sandbox require"
      assert.are.equal(2, rejected)
      contains(said, "lab 'm' has 2 tasks, which run without a sandbox; --sandbox require excludes it")
      status, output, result = batch "labs.lua"
      assert.are.equal(0, status, output)
      assert.are.equal("it wants 2 tasks, which only moonwarp batch --slurm starts", result.labs[1].message)
    end)
  end)
end)

describe("a job that ends before its lab", function()
  -- What an element left, what the queue and the accounting say, and what is said of it.
  local function ended(files, message)
    with_slurm({ { "a", "", WAIT }, { "b", "", MARK } }, function(folder, batch, put, resume)
      for name, text in pairs(files) do put(name, text) end
      local status, output, result = batch()
      assert.are.equal(1, status, output)
      assert.are.equal("killed passed", verdicts(result), output)
      assert.are.equal("incomplete", result.status)
      contains(result.labs[1].message, message)
      contains(output, "to go on: moonwarp batch --resume out/batch/")
      support.write(folder .. "/again", "")
      put("forget")
      status, output, result = resume "--gres gpu:1"
      assert.are.equal(0, status, output)
      assert.are.equal("passed passed", verdicts(result))
      assert.are.equal(2, result.labs[1].attempts)
      assert.are.equal("a b a ", marks(folder))
      contains(support.read(folder .. "/queue/2/script"), "#SBATCH --gres=gpu:1\n")
    end)
  end

  it("is killed by what squeue says", function()
    ended({ ["end-1"] = "TIMEOUT" }, "its job's time limit (--time) ended it (Slurm: TIMEOUT, job 1_1 on node1)")
  end)

  it("is killed by what sacct says", function()
    ended({ ["end-1"] = "FAILED", forget = "", accounting = "1_1|OUT_OF_MEMORY\n1_2|COMPLETED\n" },
      "its job's memory limit (--mem) ended it (Slurm: OUT_OF_MEMORY, job 1_1)")
  end)

  it("is killed by what its output shows", function()
    ended({ ["end-1"] = "FAILED", forget = "",
            ["trace-1"] = "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-11-22 DUE TO NODE FAILURE ***\n" },
      "its node failed (Slurm: NODE_FAIL, job 1_1)")
  end)

  it("says that a module cannot be loaded", function()
    with_slurm({ { "a", "", MARK } }, function(folder, batch)
      support.write(folder .. "/site.lua", (SITE:gsub("return {", [[return { modules = "nope/1",]])))
      local status, output, result = batch()
      assert.are.equal(1, status, output)
      contains(result.labs[1].message, "before it began, its job failed: ", " (Slurm: FAILED, job 1_1 on node1)")
    end)
  end)

  it("is killed by an unknown hand", function()
    ended({ ["end-1"] = "FAILED", forget = "" }, "its job left the queue without a verdict (job 1_1)")
  end)

  it("and is told so before, ends its lab in order", function()
    local script = 'mw.record { device = "cpu", x = 1 }\n' .. MARK
      .. 'io.popen("kill -INT $(cat $STAND_IN/1/running)"):close() while true do end'
    with_slurm({ { "a", "", script }, { "b", "", MARK } }, function(folder, batch)
      local status, output, result = batch()
      assert.are.equal(1, status, output)
      assert.are.equal("killed passed", verdicts(result), output)
      assert.are.equal("its job's time limit was near", result.labs[1].message)
      contains(support.read(("%s/%s/%s/record.json"):format(folder, result.folder, result.labs[1].run)),
        '"status":"interrupted"')
    end)
  end)

  it("is killed by the limit of its memory though its element lived", function()
    with_slurm({ { "a", "", 'os.execute "kill -KILL $PPID"' }, { "b", "", 'os.execute "kill -KILL $PPID"' } },
      function(_, batch, put)
        put("state-1", "OUT_OF_MEMORY")
        local status, output, result = batch()
        assert.are.equal(1, status, output)
        assert.are.equal("killed crashed", verdicts(result), output)
        assert.are.equal("its job's memory limit (--mem) ended it", result.labs[1].message)
      end)
  end)

  it("is cancelled without a verdict of the lab", function()
    local cancelled = MARK .. 'os.execute "cd $STAND_IN && ../bin/scancel 1; sleep 1000"'
    with_slurm({ { "a", "", cancelled }, { "b", "", MARK } }, function(_, batch)
      local status, output, result = batch()
      assert.are.equal(1, status, output)
      assert.are.equal("killed killed", verdicts(result), output)
      contains(result.labs[2].message, "before it began, its job was cancelled (Slurm: CANCELLED, job 1_2 on node1)")
    end)
  end)

  it("says which folder it cannot make, also when Slurm has begun it again", function()
    with_slurm({ { "a", "", MARK } }, function(folder, batch)
      batch "labs.lua --slurm --site site.lua --dry-run"
      support.write(folder .. "/full.lua", [[
        require("lfs").mkdir = function() return nil, "No space left on device", 28 end
        require("moonwarp.slurm.element").run(arg[1], 1, 1)]])
      for _, restart in ipairs { 0, 1 } do
        local status, output = shell(("cd %s && SLURM_RESTART_COUNT=%d timeout 60 %s run full.lua -- out/batch/*")
          :format(folder, restart, quoted(labs.program)))
        assert.are.equal(1, status, output)
        contains(output, "/a-cpu cannot be made: No space left on device")
      end
    end)
  end)

  it("has the lab's verdict if the lab had ended", function()
    -- Where the note would be is a folder: the element fails, but the supervisor has left how the lab ended.
    local script = MARK .. 'require("lfs").mkdir(require("moonwarp.session").current:out() .. "/../slurm/a-cpu.end")'
    with_slurm({ { "a", "", script } }, function(folder, batch)
      local status, output, result = batch()
      assert.are.equal(0, status, output)
      assert.are.equal("passed", verdicts(result))
      contains(support.read(folder .. "/" .. result.folder .. "/slurm/array-1-1.txt"), "a note cannot be written")
    end)
  end)
end)

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

describe("a probe", function()
  local function probed(body)
    with_slurm({ { "a", 'devices = { "cuda", "cpu" }', MARK } }, function(folder, batch, put)
      support.write(folder .. "/site.lua", (SITE:gsub("false", "true")))
      body(folder, batch, put)
    end)
  end

  it("says which devices a node has, once for all batches", function()
    probed(function(folder, batch)
      local _, output = batch "labs.lua --slurm --site site.lua --device cpu"
      contains(output, "probe: job 1 asks a node for moonwarp, this folder and its devices", "1 passed")
      _, output = batch "labs.lua --slurm --site site.lua --device cpu"
      assert.is_nil(output:find("probe", 1, true), output)
      _, output = batch "labs.lua --slurm --site site.lua --device cpu --partition other"
      contains(output, "probe: job 4 asks")
      assert.are.same({}, require("moonwarp.base.files").entries(folder .. "/out/batch/probe"))
    end)
  end)

  it("says that a node does not see the folder, before anything is queued", function()
    probed(function(folder, batch, put)
      put("blind", "")
      local status, output = batch()
      assert.are.equal(2, status, output)
      contains(output, "the probe, job 1 on node1 (FAILED), left no answer in ", "the node does not see this folder; "
        .. "--out DIR names one on a file system that nodes share")
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)

  it("says why its job ended, and that squeue does not answer", function()
    probed(function(folder, batch, put)
      put("hold", "")
      put("down", "squeue: error: no controller")
      os.execute(("(until [ -e %s/queue/asked ]; do sleep 0.02; done; %s scancel 1; rm -f %s/queue/down) &"):format(
        folder, environment(folder), folder))
      local status, output = batch()
      assert.are.equal(2, status, output)
      contains(output, "squeue does not answer: no controller; waiting for the probe",
        "the probe, job 1 on node1 (CANCELLED), left no answer: its job was cancelled")
    end)
  end)

  it("comes after the mistakes that are known without it", function()
    probed(function(_, batch)
      local status, output = batch "labs.lua --slurm --site site.lua --only nope"
      assert.are.equal(2, status, output)
      assert.are.equal("moonwarp: option '--only': no lab has the name or the tag 'nope'; there is a\n", output)
    end)
  end)

  it("is cancelled by Ctrl-C", function()
    probed(function(folder, _, put)
      put("hold", "")
      local status, output = signalled(folder, "INT", ("[ -e %s/queue/1/name ]"):format(folder))
      assert.are.equal(130, status, output)
      assert.are.equal("CANCELLED\n", support.read(folder .. "/queue/1/state/1"))
      assert.are.same({}, require("moonwarp.base.files").entries(folder .. "/out/batch"))
    end)
  end)

  it("says that a node has no moonwarp", function()
    probed(function(folder, batch)
      local real, own = labs.program, folder .. "/moonwarp"
      assert(shell(("cp %s %s"):format(quoted(real), own)) == 0)
      support.write(folder .. "/site.lua", (SITE:gsub("false", ('true, setup = "rm %s"'):format(own))))
      labs.program = own
      local status, output = batch()
      labs.program = real
      assert.are.equal(2, status, output)
      contains(output, "moonwarp does not run on node node1: there is no " .. own, "install it where nodes see it")
      assert.is_nil(io.open(folder .. "/queue/2/name"))
    end)
  end)
end)

describe("a site file", function()
  local function load(text)
    local result
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", text)
      local ok, value = pcall(require("moonwarp.slurm.site").load, folder .. "/s.lua")
      result = ok and value or value.text:gsub(folder:gsub("%p", "%%%0") .. "/", "")
    end)
    return result
  end

  it("is words of sbatch and a few settings", function()
    local site = load [[return { options = { partition = "gpu", gpus_per_node = 1, exclusive = true, "--mem=4G" },
      modules = "cuda/12.4", cache = "/tmp/$USER/moonwarp", labs_per_job = 4, patience = "1 min" }]]
    assert.are.same({ "--mem=4G", "--exclusive", "--gpus-per-node=1", "--partition=gpu" }, site.options)
    assert.are.same({ "cuda/12.4" }, site.modules)
    assert.are.equal(60, site.patience)
  end)

  it("of the documentation is one", function()
    local text, count = support.read(core.home() .. "/docs/lab.md"), 0
    for example in text:gmatch "```lua\n(return {\n  options.-)```" do
      local site = load(example)
      assert.are.equal("table", type(site), site)
      count = count + 1
    end
    assert.are.equal(2, count)
  end)

  it("is rejected with every mistake and its line", function()
    assert.are.equal("s.lua:2: labs_per_job must be a whole number from 1 to 10000, got 0\n"
      .. "s.lua:3: unknown field 'module'; did you mean 'modules'?", load [[return { options = {},
      labs_per_job = 0,
      module = "x" }]])
    assert.are.equal("s.lua:1: options must be a table, as in { partition = \"gpu\", exclusive = true, \"--mem=4G\" }, "
      .. "got another table", load [[return { options = { partition = {} } }]])
    assert.are.equal("s.lua:2: unexpected symbol near '='", load "return {\n = 1 }")
    assert.are.equal("s.lua raises what is no message", load "error {}")
    contains(load "return 5", "s.lua: a site file returns a table")
  end)

  it("is the user's own without --site", function()
    with_slurm({ { "a", "", MARK } }, function(folder, batch)
      assert(shell(("mkdir -p %s/.config/moonwarp"):format(folder)) == 0)
      support.write(folder .. "/.config/moonwarp/slurm.lua", (SITE:gsub("return {", [[return { modules = "cuda/12",
        setup = "echo site", cache = "$HOME/own cache",]])))
      local status, output = batch "labs.lua --slurm --dry-run"
      assert.are.equal(0, status, output)
      contains(output, "module load 'cuda/12' || exit 1\necho site\nexport MOONWARP_CACHE=\"$HOME/own cache\"\n")
    end)
  end)
end)
