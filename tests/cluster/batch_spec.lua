-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm on a Slurm cluster: verdicts as of a local batch, jobs that Slurm ends, tasks, rejections.

local cluster = require "tests.cluster"
local labs = require "tests.labs"
local support = require "tests.support"
local it, quoted = cluster.it, labs.quoted

local RECORD = 'mw.record { device = "cpu", x = 1 } mw.check(mw.device():zeros("i32", 2), %d)'
local MARK = 'local f = assert(io.open("marks", "a")) f:write(os.getenv "MOONWARP_LAB", " ") f:close()\n'
local WAIT = MARK .. 'assert(os.execute "until [ -e again ]; do sleep 0.05; done")'

-- With variables of a user's that say other things to sbatch and squeue.
local function words_of(c, folder)
  return ("SBATCH_ARRAY_INX=7 SBATCH_JOB_NAME=other SQUEUE_PARTITION=none SLURM_CONF=%s/slurm.conf "
    .. "MOONWARP_CACHE=%s/cache"):format(c.folder, folder)
end

-- Labs on a cluster: body(folder, calls, c, run_here); submit(words) returns status and output, resume() the result
-- too; batch does both, with the end of the jobs between them.
local function with_labs(list, body)
  cluster.with({}, function(c)
    labs.with(list, function(folder, run)
      local calls, words = {}, words_of(c, folder) .. " timeout -k 5 300"
      function calls.submit(more)
        return labs.shell(("cd %s && env %s %s batch labs.lua --slurm %s --out out"):format(quoted(folder), words,
          quoted(labs.program), more or "--sandbox off"))
      end
      function calls.resume() return run("--resume", words) end
      function calls.batch(more)
        local status, output = calls.submit(more)
        assert.are.equal(0, status, output)
        c:drain()
        return calls.resume()
      end
      body(folder, calls, c, function() return run("labs.lua", words) end)
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
    with_labs(list, function(_, calls, _, run_here)
      local here, _, local_result = run_here()
      local there, output, result = calls.batch ""
      assert.are.equal(here, there, output)
      assert.are.equal(verdicts(local_result), verdicts(result), output)
      assert.are.equal(2, result.labs[6].attempts)
      assert.are.equal("node1", result.labs[1].node)
    end)
  end)

  it("queues nothing that is in the queue; then what was cancelled, and nothing else", function()
    with_labs({ { "a", "", MARK }, { "b", "", WAIT }, { "c", "", WAIT } }, function(folder, calls, c)
      local status, output = calls.submit()
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find "^job 1: 3 elements; scancel 1 cancels it\nmoonwarp batch %-%-resume out/batch/",
        output)
      support.eventually("two labs", function()
        return labs.shell(("grep -q b %s/marks && grep -q c %s/marks"):format(folder, folder)) == 0
      end)
      local result
      status, output, result = calls.resume()
      assert.are.equal(1, status, output)
      assert.are.equal("a-cpu passed, b-cpu queued, c-cpu queued", verdicts(result), output)
      c:shell "scancel 1"
      c:drain()
      status, output, result = calls.resume()
      assert.are.equal(1, status, output)
      assert.are.equal("a-cpu passed, b-cpu killed, c-cpu killed", verdicts(result), output)
      support.write(folder .. "/again", "")
      output, result = select(2, calls.resume())
      assert.are.equal("a-cpu passed, b-cpu queued, c-cpu queued", verdicts(result), output)
      c:drain()
      status, output, result = calls.resume()
      assert.are.equal(0, status, output)
      assert.are.equal("a-cpu passed, b-cpu passed, c-cpu passed", verdicts(result), output)
      local marks = support.read(folder .. "/marks")
      assert.are.equal(1, select(2, marks:gsub("a", "")))
      assert.are.equal(#"a b c b c ", #marks)
    end)
  end)

  it("says where the output of an element without a verdict is, and what tells the reason", function()
    -- The lab kills its element, the parent of its supervisor.
    local script = MARK .. [[os.execute "p() { cut -d' ' -f4 /proc/$1/stat; }; kill -KILL $(p $(p $PPID))"
      while true do end]]
    with_labs({ { "a", "", script } }, function(folder, calls)
      local status, output, result = calls.batch()
      assert.are.equal(1, status, output)
      local file, command = result.labs[1].message:match "its output is in (%S+), and (sacct .-) tells the reason"
      assert.are.equal("sacct --jobs=1_1 --format=JobID,State,ExitCode,Elapsed,MaxRSS,NodeList", command, output)
      assert.is_truthy(io.open(folder .. "/" .. file), output)
    end)
  end)

  it("lies in a folder of any name", function()
    with_labs({ { "a", "", MARK } }, function(folder, _, c)
      local own = folder .. "/ü 'b' \"50%j%%a\" $HOME"
      local batch = ("%s %s batch labs.lua --slurm --sandbox off"):format(words_of(c, folder), quoted(labs.program))
      local status, output = labs.shell(("mkdir %s && cd %s && cp ../*.lua . && %s"):format(quoted(own), quoted(own),
        batch))
      assert.are.equal(0, status, output)
      c:drain()
      assert.are.equal("a ", support.read(own .. "/marks"))
      assert.are.equal("a-cpu: passed\n", select(2, labs.shell(("cat %s/out/batch/*/slurm/array-1-1.txt"):format(
        quoted(own)))))
    end)
  end)

  it("starts several tasks", function()
    with_labs({ { "m", "tasks = 2", MARK .. "assert(os.getenv 'SLURM_NTASKS' == '2')" } }, function(folder, calls)
      local status, output = calls.batch()
      assert.are.equal(0, status, output)
      assert.are.equal("m m ", support.read(folder .. "/marks"))
    end)
  end)

  it("says what sbatch rejects in its words", function()
    with_labs({ { "a", "", MARK } }, function(_, calls)
      local function rejected(words, text)
        local status, output = calls.submit(words)
        assert.are.equal(2, status, output)
        local wanted = "/array-1.sh: " .. text .. "; moonwarp batch --resume out/batch/"
        assert.is_truthy(output:find(wanted, 1, true), output)
      end
      rejected("--partition nope", "invalid partition specified: nope")
      rejected("--time soon", "Invalid --time specification")
      rejected("--gres nope:1", "Invalid generic resource (gres) specification")
    end)
  end)
end)
