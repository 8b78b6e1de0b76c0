-- SPDX-License-Identifier: MIT
--
-- moonwarp run --mpi: one run of all ranks, and how a job ends.

local labs = require "tests.support.labs"
local mpi = require "tests.support.mpi"
local support = require "tests.support"
local it = mpi.it

local function with_job(ranks, text, words, body)
  support.with_folder(function(folder)
    local status, output = mpi.run(folder, ranks, text, words)
    body(status, output, mpi.runs(folder), folder)
    mpi.none_left(folder)
  end)
end

local function count(text, part)
  local found, at = 0, 1
  while true do
    local from, to = text:find(part, at, true)
    if not from then return found end
    found, at = found + 1, to + 1
  end
end

-- Starts a job whose rank 0 writes a file when all go on for ever, and ends it by body(pid of mpirun).
local function with_endless(ranks, body)
  support.with_folder(function(folder)
    support.write(folder .. "/job.lua", [[
      local mw, mpi = require "moonwarp", require "moonwarp.mpi"
      mw.record { device = mw.device(), x = mpi.rank() }
      mpi.barrier()
      if mpi.rank() == 0 then local f = assert(io.open("begun", "w")) f:close() end
      if mpi.rank() % 2 == 1 then mpi.recv(0) end
      while true do end]])
    labs.shell(("cd %s && { %s %s run job.lua --mpi --device cpu --out out </dev/null >log 2>&1 & echo $! >pid; }")
      :format(labs.quoted(folder), mpi.mpirun(ranks), labs.quoted(labs.program)))
    support.eventually("a job", function() return labs.shell(("test -e %s/begun"):format(folder)) == 0 end)
    body(support.read(folder .. "/pid"):match "%d+", folder)
    mpi.none_left(folder)
    local runs = mpi.runs(folder)
    assert.are.equal(1, #runs)
    assert.are.equal(0, runs[1].records[1].x)
    assert.are_not.equal("complete", runs[1].status)
  end)
end

describe("an MPI job", function()
  for _, ranks in ipairs { 2, 4 } do
    it(("of %d ranks is one run"):format(ranks), function()
      with_job(ranks, [[
        mw.record { x = rank * 10 }
        if rank == 1 then mw.remark "seen" end
        mw.check(dev:zeros("i32", 2), 0)
        mw.table { "x" }
        print("by rank", rank)
        mw.record { x = rank * 10 + 1 }]], nil, function(status, output, runs)
        assert.are.equal(0, status, output)
        assert.are.equal(1, #runs)
        local got = {}
        for i, one in ipairs(runs[1].records) do got[i] = ("%d:%d"):format(one.rank, one.x) end
        assert.are.equal(ranks == 2 and "0:0 0:1 1:10 1:11" or "0:0 0:1 1:10 1:11 2:20 2:21 3:30 3:31",
          table.concat(got, " "))
        assert.are.equal("complete", runs[1].status)
        assert.are.equal("rank", runs[1].records[#got].chosen[1])
        assert.are.equal(("cpu:1/%d"):format(ranks), runs[1].records[3].device)
        assert.are.equal(ranks, #runs[1].checks)
        assert.are.equal("seen", runs[1].remarks[1].text)
        assert.is_truthy(runs[1].environment.mpi:find(("^%d ranks, "):format(ranks)))
        for rank = 0, ranks - 1 do
          assert.are.equal(1, count(output, ("[%d] by rank\t%d\n"):format(rank, rank)), output)
        end
        assert.are.equal(1, count(output, "[0] results: "), output)
        assert.are.equal(1, count(output, "results: "), output)
      end)
    end)

    it(("of %d ranks ends with the first message"):format(ranks), function()
      local last = ranks - 1
      with_job(ranks, [[
        mw.record { x = rank }
        mpi.barrier()
        if rank == size - 1 then error("no luck", 0) end
        mpi.recv(size - 1)]], nil, function(status, output, runs)
        assert.are.equal(1, status, output)
        assert.are.equal(1, count(output, "moonwarp: no luck"), output)
        assert.are.equal(1, count(output, "moonwarp: "), output)
        assert.is_truthy(output:find(("[%d] moonwarp: no luck\n"):format(last), 1, true), output)
        assert.are.equal("failed", runs[1].status)
        assert.is_truthy(runs[1].message:find "^no luck")
        assert.are.equal(2, #runs[1].records)
        assert.are.equal(last, runs[1].records[2].x)
      end)
    end)

    it(("says what all of %d ranks fail with once"):format(ranks), function()
      with_job(ranks, "mpi.barrier() error('all', 0)", nil, function(status, output)
        assert.are.equal(1, status, output)
        assert.are.equal(1, count(output, "moonwarp: all"), output)
      end)
    end)
  end

  it("ends though another rank does not listen", function()
    with_job(2, [[
      mw.record { x = rank }
      if rank == 1 then error("deaf", 0) end
      while true do end]], nil, function(status, output, runs)
      assert.are.equal(1, status, output)
      assert.are.equal(1, count(output, "[1] moonwarp: deaf\n"), output)
      assert.are.equal(1, count(output, "moonwarp: "), output)
      -- OpenMPI lets rank 0 close the run.
      assert.are.equal(mpi.name == "openmpi" and "failed" or "unfinished", runs[1].status)
    end)
  end)

  it("has the exit status of one process", function()
    with_job(2, "mw.record { x = 1 } mw.check(dev:zeros('i32', 2), rank)", nil, function(status, output, runs)
      assert.are.equal(3, status, output)
      assert.are.equal(1, count(output, "[0] moonwarp: a check failed\n"), output)
      assert.are.equal("check failed", runs[1].status)
    end)
    with_job(2, "if rank == 1 then mw.device 'cuda:99' end mpi.barrier()", nil, function(status, output)
      assert.are.equal(4, status, output)
    end)
    with_job(2, "mw.arg('n', 1)", "-p m=1", function(status, output)
      assert.are.equal(2, status, output)
      assert.are.equal(1, count(output, "unknown parameter 'm'"), output)
    end)
    with_job(2, "mw.record { x = 1 } os.exit(rank == 1 and 7 or 0)", nil, function(status, output)
      assert.are.equal(7, status, output)
    end)
  end)

  it("tells who waits for a rank whose script has ended", function()
    for _, waits in ipairs { 0, 1 } do
      with_job(2, ("if rank == %d then mpi.recv(1 - rank) end"):format(waits), nil, function(status, output)
        assert.are.equal(1, status, output)
        local text = "rank %d: mpi.recv from rank %d: rank %d has ended its script, and takes no part"
        assert.are.equal(1, count(output, text:format(waits, 1 - waits, 1 - waits)), output)
      end)
    end
  end)

  it("tells who waits in a collective call for a rank whose script has ended, wherever the others wait", function()
    for call, ended in pairs { ["mpi.barrier()"] = 2, ["mw.bench(function() end)"] = 0,
                               ["mpi.broadcast(1, { root = 2 })"] = 1, ["mpi.recv(rank + 1)"] = 2 } do
      with_job(3, ("if rank ~= %d then %s end"):format(ended, call), nil, function(status, output)
        assert.are.equal(1, status, output)
        local text = ("rank %d has ended its script, and takes no part"):format(ended)
        assert.are.equal(1, count(output, text), output)
      end)
    end
  end)

  it("sweeps", function()
    local text = "mw.record { n = mw.arg('n', 1), all = mpi.all_reduce(rank) }"
    with_job(2, text, "-p n=1,2,3", function(status, output, runs)
      assert.are.equal(0, status, output)
      assert.are.equal(6, #runs[1].records)
      assert.are.equal(1, count(output, "passed 3 of 3"), output)
    end)
  end)

  it("ends where one rank skips a pass of a sweep", function()
    local text = "local n = mw.arg('n', 1) if rank == 1 and n == 2 then mw.skip 'too large' end mpi.all_reduce(n)"
    with_job(2, text, "-p n=1,2,3", function(status, output)
      assert.are.equal(1, status, output)
      assert.are.equal(1, count(output, "n = 2, skipped: too large; a sweep of 2 ranks has all its passes, so leave"),
        output)
    end)
  end)

  it("is one of a rank without mpirun, and says no prefix", function()
    support.with_folder(function(folder)
      support.write(folder .. "/job.lua", [[local mpi = require "moonwarp.mpi" print(mpi.rank(), mpi.size())]])
      local mpicc = mpi.mpirun(1):match "MOONWARP_MPICC=%S+"
      assert.are.equal("0\t1\n", select(2, labs.shell(("%s %s run %s/job.lua --mpi --device cpu"):format(mpicc,
        labs.quoted(labs.program), folder))))
    end)
  end)

  it("is refused where it cannot be", function()
    support.with_folder(function(folder)
      support.write(folder .. "/job.lua", [[print(require "moonwarp.mpi".rank())]])
      local function refused(before, words, status, text)
        local got, output = labs.shell(("%s %s run %s/job.lua %s"):format(before, labs.quoted(labs.program), folder,
          words))
        assert.are.equal(status, got, output)
        assert.is_truthy(output:find(text, 1, true), output)
      end
      refused("", "", 1, "mpi.rank: the run is no MPI job; start it with --mpi, as in mpirun -n 4 ")
      refused("env MOONWARP_MPICC=/no/such/mpicc", "--mpi", 1, "MOONWARP_MPICC is '/no/such/mpicc', where there is no")
      refused("env MOONWARP_MPICC=false", "--mpi", 1, "does not compile the shim over MPI")
      refused(mpi.mpirun(1):gsub(" %S*mpirun.*", "") .. " PMI_SIZE=3", "--mpi", 1,
        "mpirun has started 3 processes, which are no job of ")
      refused("", "--mpi --pass 1", 2, "options '--mpi' and '--pass' do not go together")
    end)
  end)

  it("keeps what other ranks write in the run's folder", function()
    with_job(2, "mw.record { x = rank } mw.record { x = 2 } mw.plot { x = 'x', y = 'x', name = 'line' }", nil,
      function(status, output, runs, folder)
        assert.are.equal(0, status, output)
        assert.are.equal(1, #runs)
        for _, place in ipairs { "", "rank-1/" } do
          assert.are.equal(0, labs.shell(("test -e %s/out/job/*/%sline.dat"):format(labs.quoted(folder), place)))
        end
        assert.are.equal("1\n", select(2, labs.shell(("ls %s/out/job | wc -l"):format(labs.quoted(folder)))))
      end)
  end)

  it("says that processes run apart, once", function()
    support.with_folder(function(folder)
      support.write(folder .. "/job.lua", "print 'ran'")
      local status, output = labs.shell(("cd %s && %s %s run job.lua --device cpu --out out </dev/null"):format(
        labs.quoted(folder), mpi.mpirun(3), labs.quoted(labs.program)))
      assert.are.equal(0, status, output)
      assert.are.equal(1, count(output, "moonwarp: 3 processes were started, and each runs the script by itself; with "
        .. "--mpi they are the ranks of one job\n"), output)
      assert.are.equal(3, count(output, "ran\n"), output)
    end)
  end)

  it("begins each line with the rank before the job is there", function()
    with_job(2, "", "--pass 1", function(status, output)
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("%[[01]%] moonwarp: options '%-%-mpi' and '%-%-pass' do not go together"), output)
      assert.is_nil(output:find "\nmoonwarp: ")
    end)
  end)

  it("shows a line that has no end yet", function()
    support.with_folder(function(folder)
      support.write(folder .. "/job.lua", [[
        io.write "half" io.flush()
        local function there() local f = io.open "go" if f then f:close() end return f end
        while not there() do end
        print " whole"]])
      labs.shell(("cd %s && { %s %s run job.lua --mpi --device cpu </dev/null >log 2>&1 & }"):format(
        labs.quoted(folder), mpi.mpirun(2), labs.quoted(labs.program)))
      support.eventually("a line without its end", function()
        return count(support.read(folder .. "/log"), "] half") == 2
      end)
      support.write(folder .. "/go", "")
      support.eventually("its end", function() return count(support.read(folder .. "/log"), " whole\n") == 2 end)
      mpi.none_left(folder)
    end)
  end)

  it("ends by Ctrl-C", function()
    with_endless(4, function(pid, folder)
      labs.shell("kill -INT " .. pid)
      mpi.none_left(folder)
      assert.is_true(count(support.read(folder .. "/log"), "moonwarp: interrupted") <= 1)
    end)
  end)

  it("says once where it was interrupted", function()
    for _, who in ipairs { "rank == 1", "true" } do
      with_job(2, ([[mw.record { x = 1 }
        if %s then os.execute "kill -INT $PPID" while true do end end
        mpi.recv(1)]]):format(who), nil, function(status, output, runs)
        assert.are.equal(130, status, output)
        assert.are.equal(1, count(output, ": interrupted\n"), output)
        assert.are.equal("interrupted", runs[1].status)
      end)
    end
  end)

  it("ends when a rank or mpirun is killed", function()
    with_endless(4, function(_, folder)
      labs.shell(("kill -KILL $(pgrep -f 'run job.lua.*' | while read p; do [ $(readlink /proc/$p/cwd) = %s ] && "
        .. "grep -zq '_RANK=2' /proc/$p/environ && echo $p; done)"):format(labs.quoted(folder)))
    end)
    with_endless(2, function(pid) labs.shell("kill -KILL " .. pid) end)
  end)
end)
