-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm on a Slurm cluster: verdicts as of a local batch, jobs that Slurm ends, tasks, rejections.

local cluster = require "tests.support.cluster"
local labs = require "tests.support.labs"
local support = require "tests.support"
local it, quoted = cluster.it, labs.quoted

local SITE = "return { poll = 0.5, patience = 5 }"
local RECORD = 'mw.record { device = "cpu", x = 1 } mw.check(mw.device():zeros("i32", 2), %d)'
local MARK = 'local f = assert(io.open("marks", "a")) f:write(os.getenv "MOONWARP_LAB", " ") f:close()\n'
local WAIT = MARK .. 'assert(os.execute "until [ -e again ]; do sleep 0.05; done")'

-- With variables of a user's that say other things to sbatch and squeue.
local function words_of(c, folder)
  return ("SBATCH_ARRAY_INX=7 SBATCH_JOB_NAME=other SQUEUE_PARTITION=none SLURM_CONF=%s/slurm.conf "
    .. "MOONWARP_CACHE=%s/cache"):format(c.folder, folder)
end

-- Labs on a cluster: body(folder, batch, c); batch(words) returns status, output and result.
local function with_labs(list, body)
  cluster.with({}, function(c)
    labs.with(list, function(folder, run)
      support.write(folder .. "/site.lua", SITE)
      body(folder, function(words) return run(words, words_of(c, folder) .. " timeout -k 5 300") end, c)
    end)
  end)
end

local function verdicts(result)
  local words = {}
  for i, row in ipairs(result.labs) do words[i] = row.id .. " " .. row.verdict end
  return table.concat(words, ", ")
end

describe("a batch on a cluster", function()
  it("has the verdicts of a local one", function()
    local list = { { "a", "", RECORD:format(0) }, { "b", "", RECORD:format(1) },
                   { "c", 'needs = "a"', RECORD:format(0) }, { "d", 'needs = "b"', RECORD:format(0) },
                   { "e", "time_limit = 0.5", 'os.execute "sleep 1000"' }, { "f", "retries = 1", "os.exit(7)" } }
    with_labs(list, function(_, batch)
      local here, _, local_result = batch "labs.lua"
      local there, output, result = batch "labs.lua --slurm --site site.lua"
      assert.are.equal(here, there, output)
      assert.are.equal(verdicts(local_result), verdicts(result), output)
      assert.are.equal(2, result.labs[6].attempts)
      assert.are.equal("node1", result.labs[1].node)
      assert.is_truthy(output:find("probe: job 1 asks", 1, true), output)
    end)
  end)

  it("runs again what was cancelled, and nothing else", function()
    with_labs({ { "a", "", MARK }, { "b", "", WAIT }, { "c", "", WAIT } }, function(folder, batch, c)
      os.execute(("(until grep -q b %s/marks && grep -q c %s/marks; do sleep 0.1; done; "
        .. "SLURM_CONF=%s/slurm.conf scancel 2) 2>/dev/null &"):format(folder, folder, c.folder))
      local status, output, result = batch "labs.lua --slurm --site site.lua --sandbox off"
      assert.are.equal(1, status, output)
      assert.are.equal("a-cpu passed, b-cpu killed, c-cpu killed", verdicts(result), output)
      support.write(folder .. "/again", "")
      status, output, result = batch "--resume"
      assert.are.equal(0, status, output)
      assert.are.equal("a-cpu passed, b-cpu passed, c-cpu passed", verdicts(result), output)
      local marks = support.read(folder .. "/marks")
      assert.are.equal(1, select(2, marks:gsub("a", "")))
      assert.are.equal(#"a b c b c ", #marks)
    end)
  end)

  it("goes on after its submitter was killed", function()
    with_labs({ { "a", "", WAIT }, { "b", "", WAIT }, { "c", "", MARK } }, function(folder, batch, c)
      local command = ("cd %s && exec env %s %s batch labs.lua --slurm --site site.lua --sandbox off --out out"):format(
        quoted(folder), words_of(c, folder), quoted(labs.program))
      assert.are.equal(137, support.signalled(command, "KILL", { ("grep -q b %s/marks"):format(folder) }))
      support.write(folder .. "/again", "")
      local status, output, result = batch "--resume"
      assert.are.equal(0, status, output)
      assert.are.equal("a-cpu passed, b-cpu passed, c-cpu passed", verdicts(result), output)
      assert.are.equal(#"a b c ", #support.read(folder .. "/marks"))
    end)
  end)

  it("lies in a folder of any name", function()
    with_labs({ { "a", "", MARK } }, function(folder, _, c)
      local own = folder .. "/ü 'b' \"50%j%%a\" $HOME"
      local batch = ("%s %s batch labs.lua --slurm --site site.lua --sandbox off"):format(words_of(c, folder),
        quoted(labs.program))
      local status, output = labs.shell(("mkdir %s && cd %s && cp ../*.lua . && %s"):format(quoted(own), quoted(own),
        batch))
      assert.are.equal(0, status, output)
      assert.are.equal("a ", support.read(own .. "/marks"))
      assert.are.equal("a-cpu: passed\n", select(2, labs.shell(("cat %s/out/batch/*/slurm/array-1-1.txt"):format(
        quoted(own)))))
    end)
  end)

  it("starts several tasks", function()
    with_labs({ { "m", "tasks = 2", MARK .. "assert(os.getenv 'SLURM_NTASKS' == '2')" } }, function(folder, batch)
      local status, output = batch "labs.lua --slurm --site site.lua"
      assert.are.equal(0, status, output)
      assert.are.equal("m m ", support.read(folder .. "/marks"))
    end)
  end)

  it("says what sbatch rejects in its words", function()
    with_labs({ { "a", "", MARK } }, function(_, batch)
      local function rejected(words, text)
        local status, output = batch("labs.lua --slurm --site site.lua " .. words)
        assert.are.equal(2, status, output)
        assert.is_truthy(output:find(text, 1, true), output)
      end
      rejected("--partition nope", "sbatch rejects the job: invalid partition specified: nope")
      rejected("--time soon", "sbatch rejects the job: Invalid --time specification")
      rejected("--gres nope:1", "sbatch rejects the job: Invalid generic resource (gres)")
    end)
  end)
end)
