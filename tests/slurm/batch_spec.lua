-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm, without Slurm: verdicts, jobs that end before their lab, probes and site files. What a
-- submitter does when something fails is in slurm/submitter_spec.lua.

local support = require "tests.support"
if not pcall(require, "moonwarp.host") then
  describe("a batch on Slurm", function() pending "needs the program" end)
  return
end

local cjson = require "cjson"
local core = require "moonwarp.core"
local labs = require "tests.support.labs"
local slurm = require "tests.support.slurm"

local quoted, shell = labs.quoted, labs.shell
local contains, environment, marks, signalled, verdicts, with_slurm = slurm.contains, slurm.environment, slurm.marks,
  slurm.signalled, slurm.verdicts, slurm.with
local MARK, RECORD, SITE, WAIT = slurm.MARK, slurm.RECORD, slurm.SITE, slurm.WAIT

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
