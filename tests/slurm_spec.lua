-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm, without Slurm: verdicts, jobs that end before their lab, and site files. What becomes of a
-- submission when something fails is in slurm_submission_spec.lua.

local support = require "tests.support"
if not pcall(require, "moonwarp.host") then
  describe("a batch on Slurm", function() pending "needs the program" end)
  return
end

local cjson = require "cjson"
local core = require "moonwarp.core"
local labs = require "tests.labs"
local slurm = require "tests.slurm"

local quoted, shell = labs.quoted, labs.shell
local contains, marks, verdicts, with_slurm = slurm.contains, slurm.marks, slurm.verdicts, slurm.with
local MARK, RECORD, WAIT, WORDS = slurm.MARK, slurm.RECORD, slurm.WAIT, slurm.WORDS

describe("a batch on Slurm", function()
  it("has the verdicts, the statuses, JUnit and the report of a local one", function()
    local list = { { "a", "", RECORD }, { "b", "", 'mw.check(mw.device():zeros("i32", 2), 1)' },
                   { "c", 'needs = "a", check = true', RECORD }, { "d", 'needs = "b"', RECORD },
                   { "e", "time_limit = 0.5", 'os.execute "sleep 1000"' }, { "f", "", "os.exit(7)" } }
    slurm.with(list, function(folder, calls)
      local function rows(status, result)
        local shown = { status, support.read(folder .. "/r.xml"):match 'tests=.- skipped="%d+"' }
        for _, row in ipairs(result.labs) do
          shown[#shown + 1] = ("%s %s %s"):format(row.id, row.verdict, row.message)
        end
        return table.concat(shown, "\n")
      end
      local here = rows((shell(("cd %s && %s batch labs.lua --sandbox off --out near --junit r.xml --json r.json")
        :format(quoted(folder), quoted(labs.program)))), cjson.decode(support.read(folder .. "/r.json")))
      local status, output = calls.submit()
      assert.are.equal(0, status, output)
      contains(output, "job 1: 4 elements; scancel 1 cancels it\n", "job 2: 2 elements; ", "job 3: 1 element; ",
        "\nmoonwarp batch --resume out/batch/")
      slurm.drain(folder)
      local result
      status, output, result = calls.resume "--junit r.xml"
      assert.are.equal(here, rows(status, result))
      contains(output, "[7/7] ")
      assert.are.equal("complete", result.status)
      assert.are.equal("node1", result.labs[1].node)
      local said
      status, said = shell(("cd %s && %s report %s --output r.html"):format(folder, quoted(labs.program),
        result.folder))
      assert.are.equal(0, status, said)
      contains(support.read(folder .. "/r.html"), "check failed", "timed out")
    end)
  end)

  it("says that a lab had a part of its node, in its record too", function()
    with_slurm({ { "a", "", RECORD .. ' mw.bench(function() end, { samples = 3 })' } }, function(folder, calls)
      local status, output, result = calls.batch()
      assert.are.equal(0, status, output)
      local cores = require("moonwarp.measure.environment").machine().cores
      if cores == 1 then pending "one core is the whole machine" end
      contains(output, "1 lab had only a part of a node, so other jobs may have disturbed the timings")
      assert.is_true(result.labs[1].shared)
      local run = ("%s/%s/%s"):format(folder, result.folder, result.labs[1].run)
      assert.are.same({ job = "11", node = "node1", cores = 1, of = cores, shared = true },
        cjson.decode(support.read(run .. "/record.json")).environment.slurm)
      support.write(folder .. "/site.lua", "return { options = { exclusive = true } }")
      result = select(3, calls.batch(WORDS .. " --site site.lua"))
      assert.is_nil(result.labs[1].shared)
    end)
  end)

  it("puts labs into as many arrays as MaxArraySize wants, or several into a job", function()
    local list = {}
    for i = 1, 5 do list[i] = { "lab" .. i, "", MARK } end
    with_slurm(list, function(folder, calls)
      calls.put("size", "3")
      local status, output = calls.batch(WORDS .. " --array-limit 1")
      assert.are.equal(0, status, output)
      contains(output, "job 1: 2 elements, at most 1 at a time; ", "job 3: 1 element,")
      contains(support.read(folder .. "/queue/1/script"), "#SBATCH --array=1-2%1\n", "#SBATCH --no-requeue\n")
      contains(support.read(folder .. "/queue/1/words"), "--job-name=mw-", " --array=1-2%1 ", " --no-requeue ")
      support.write(folder .. "/site.lua", "return { labs_per_job = 3 }")
      status, output = calls.batch(WORDS .. " --site site.lua")
      assert.are.equal(0, status, output)
      contains(output, "job 4: 2 elements; ")
      assert.are.equal("lab1 lab2 lab3 lab4 lab5 ", marks(folder):sub(-25))
    end)
  end)

  it("starts the tasks of a lab with srun, which a local batch skips", function()
    local list = { { "m", "tasks = 2", MARK .. 'mw.record { device = "cpu", rank = os.getenv "SLURM_PROCID" }' } }
    with_slurm(list, function(folder, calls)
      local status, output, result = calls.batch()
      assert.are.equal(0, status, output)
      assert.are.equal("m m ", marks(folder))
      contains(support.read(folder .. "/queue/1/script"), "#SBATCH --ntasks=2\n")
      contains(support.read(("%s/%s/%s/record.json"):format(folder, result.folder, result.labs[1].run)), '"rank":"0"')
      status, output = calls.submit "labs.lua --slurm --sandbox require"
      assert.are.equal(2, status, output)
      contains(output, "lab 'm' has 2 tasks, which run without a sandbox; --sandbox require excludes it")
      status, output = calls.submit "labs.lua --sandbox off"
      assert.are.equal(0, status, output)
      contains(output, "it wants 2 tasks, which only moonwarp batch --slurm starts")
    end)
  end)

  it("skips a lab that has none of its devices", function()
    with_slurm({ { "a", "", MARK } }, function(folder, calls)
      local status, output = calls.batch(WORDS .. " --device cuda")
      assert.are.equal(0, status, output)
      contains(output, "a: skipped: none of its devices is usable there")
      assert.is_nil(io.open(folder .. "/queue/1/name"))
    end)
  end)
end)

describe("a job that ends before its lab", function()
  it("is killed: where its output is, and what tells the reason; a later --resume queues it again", function()
    with_slurm({ { "a", "", WAIT }, { "b", "", MARK } }, function(folder, calls)
      calls.put("end-1", "TIMEOUT")
      local status, output, result = calls.batch()
      assert.are.equal(1, status, output)
      assert.are.equal("killed passed", verdicts(result), output)
      assert.are.equal("incomplete", result.status)
      local file = result.labs[1].message:match("^its job left no verdict; its output is in (%S+), and "
        .. "sacct %-%-jobs=1_1 %-%-format=JobID,State,ExitCode,Elapsed,MaxRSS,NodeList tells the reason$")
      assert.are.equal(result.folder .. "/slurm/array-1-1.txt", file)
      assert.is_truthy(io.open(folder .. "/" .. file))
      assert.is_nil(io.open(folder .. "/queue/2/name"))
      contains(output, "to go on: moonwarp batch --resume out/batch/")
      support.write(folder .. "/again", "")
      status, output, result = calls.resume "--gres gpu:1"
      assert.are.equal(1, status, output)
      assert.are.equal("queued passed", verdicts(result))
      contains(output, "job 2: 1 element; scancel 2 cancels it")
      slurm.drain(folder)
      status, output, result = calls.resume()
      assert.are.equal(0, status, output)
      assert.are.equal("passed passed", verdicts(result))
      assert.are.equal(2, result.labs[1].attempts)
      assert.are.equal("a b a ", marks(folder))
      contains(support.read(folder .. "/queue/2/script"), "#SBATCH --gres=gpu:1\n")
    end)
  end)

  it("is killed in a further attempt at its lab", function()
    local script = 'if not io.open "once" then io.open("once", "w"):close() error "first" end\n' .. WAIT
    with_slurm({ { "a", "retries = 1", script } }, function(folder, calls)
      calls.put("end-1", "NODE_FAIL")
      local status, output, result = calls.batch()
      assert.are.equal(1, status, output)
      assert.are.equal("killed", verdicts(result), output)
      contains(output, "a on cpu: failed, ", "a on cpu: killed: its job left no verdict; ")
      support.write(folder .. "/again", "")
      calls.resume()
      slurm.drain(folder)
      status, output, result = calls.resume()
      assert.are.equal(0, status, output)
      assert.are.equal(3, result.labs[1].attempts)
    end)
  end)

  it("says in its output that a module cannot be loaded", function()
    with_slurm({ { "a", "", MARK } }, function(folder, calls)
      support.write(folder .. "/site.lua", [[return { modules = "nope/1" }]])
      local status, output, result = calls.batch(WORDS .. " --site site.lua")
      assert.are.equal(1, status, output)
      contains(support.read(("%s/%s"):format(folder, result.labs[1].message:match "in (%S+),")), "module")
    end)
  end)

  it("and is told so before, ends its lab in order", function()
    local script = 'mw.record { device = "cpu", x = 1 }\n' .. MARK
      .. 'io.popen("kill -INT $(cat $STAND_IN/1/running)"):close() while true do end'
    with_slurm({ { "a", "", script }, { "b", "", MARK } }, function(folder, calls)
      local status, output, result = calls.batch()
      assert.are.equal(1, status, output)
      assert.are.equal("killed passed", verdicts(result), output)
      assert.are.equal("its job's time limit was near", result.labs[1].message)
      contains(support.read(("%s/%s/%s/record.json"):format(folder, result.folder, result.labs[1].run)),
        '"status":"interrupted"')
    end)
  end)

  it("is cancelled without a verdict of the lab", function()
    local cancelled = MARK .. 'os.execute "cd $STAND_IN && ../bin/scancel 1; sleep 1000"'
    with_slurm({ { "a", "", cancelled }, { "b", "", MARK } }, function(_, calls)
      local status, output, result = calls.batch()
      assert.are.equal(1, status, output)
      assert.are.equal("killed killed", verdicts(result), output)
      contains(result.labs[1].message, "its job was told to end: cancelled or preempted")
      contains(result.labs[2].message, "its job left no verdict; ")
    end)
  end)

  it("runs no lab in a folder that it cannot make", function()
    with_slurm({ { "a", "", MARK } }, function(folder, calls)
      calls.submit(WORDS .. " --dry-run")
      support.write(folder .. "/full.lua", [[
        require("lfs").mkdir = function() return nil, "No space left on device", 28 end
        require("moonwarp.slurm.element").run(arg[1], 1, 1)]])
      local status, output = shell(("cd %s && timeout 60 %s run full.lua -- out/batch/*"):format(folder,
        quoted(labs.program)))
      assert.are.equal(0, status, output)
      contains(output, "a-cpu: not run here: out/batch/", "/a-cpu: No space left on device")
    end)
  end)

  it("has the lab's verdict if the lab had ended", function()
    -- Where the note would be is a folder: the element fails, but the supervisor has left how the lab ended.
    local script = MARK .. 'require("lfs").mkdir(require("moonwarp.session").current:out() .. "/../slurm/a-cpu.end")'
    with_slurm({ { "a", "", script } }, function(folder, calls)
      local status, output, result = calls.batch()
      assert.are.equal(0, status, output)
      assert.are.equal("passed", verdicts(result))
      contains(support.read(folder .. "/" .. result.folder .. "/slurm/array-1-1.txt"), "a note cannot be written")
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
      modules = "cuda/12.4", cache = "/tmp/$USER/moonwarp", labs_per_job = 4 }]]
    assert.are.same({ "--mem=4G", "--exclusive", "--gpus-per-node=1", "--partition=gpu" }, site.options)
    assert.are.same({ "cuda/12.4" }, site.modules)
    assert.are.equal(4, site.labs_per_job)
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

  it("is rejected with its mistake", function()
    for text, problem in pairs {
      ["return { labs_per_job = 0 }"] = "s.lua: option 'labs_per_job' must be at least 1, got 0",
      ["return { modules = { 1 } }"] = "s.lua: option 'modules'[1] must be a string, got number",
      ["return { module = 'x' }"] = "s.lua: unknown option 'module'; did you mean 'modules'?",
      ["return { options = { partition = {} } }"] =
        "s.lua: an option of sbatch is a text, a number or true, got a table",
      ["return { options = { array = 1 } }"] =
        "s.lua: --array is not for jobs of moonwarp, which has to find them again",
      ["return {\n = 1 }"] = "s.lua:2: unexpected symbol near '='",
      ["error {}"] = "the script raised a table value, not a message",
      ["return 5"] = 's.lua: a site file returns a table, as in return { options = { partition = "gpu" } }, this '
        .. "returns number",
    } do
      assert.are.equal(problem, load(text))
    end
  end)

  it("is the user's own without --site", function()
    with_slurm({ { "a", "", MARK } }, function(folder, calls)
      assert(shell(("mkdir -p %s/.config/moonwarp"):format(folder)) == 0)
      support.write(folder .. "/.config/moonwarp/slurm.lua", [[return { modules = "cuda/12",
        setup = "echo site", cache = "$HOME/own cache" }]])
      local status, output = calls.submit "labs.lua --slurm --dry-run"
      assert.are.equal(0, status, output)
      contains(output, "module load 'cuda/12' || exit 1\necho site\nexport MOONWARP_CACHE=\"$HOME/own cache\"\n")
    end)
  end)
end)
