-- SPDX-License-Identifier: MIT
--
-- What ranks do together: moonwarp.nccl's calls on CPU devices through MPI, and benchmarks, which all ranks end alike.

local mpi = require "tests.support.mpi"
local it = mpi.it

describe("nccl.communicator() of a job", function()
  local CALLS <const> = [[
    local nccl = require "moonwarp.nccl"
    local comm <close> = nccl.communicator()
    local last, s = size - 1, dev:stream()
    local o = { streams = { s } }
    local function full(value, n, dtype) return dev:full(value, dtype or "f32", n) end
    local function sum(f) local out = 0 for r = 0, last do out = out + f(r) end return out end
    assert(comm:ranks() == size and comm:devices()[1] == dev)
    for _, dtype in ipairs { "f32", "f64", "i8", "u8", "i32", "u32", "i64", "u64" } do
      local wanted = { sum = sum(function(r) return r + 1 end), max = size, min = 1, avg = (size + 1) / 2,
                       prod = 1 }
      for r = 1, size do wanted.prod = wanted.prod * r end
      for _, op in ipairs { "sum", "prod", "max", "min", "avg" } do -- alike at all ranks
        local value = wanted[op]
        local x = { full(rank + 1, 3, dtype) }
        local out = comm:all_reduce({ full(0, 3, dtype) }, x, { op = op, streams = o.streams })
        mw.check(out[1], op == "avg" and dtype:find "^[iu]" and value // 1 or value)
      end
    end
    mw.check(comm:all_reduce({ full(rank, 2) })[1], sum(function(r) return r end))
    mw.check(comm:reduce({ full(-1, 2) }, { full(2, 2) }, { root = last })[1], rank == last and 2 * size or -1)
    mw.check(comm:broadcast({ full(rank, 2) }, { root = last })[1], last)
    local all = comm:all_gather({ full(0, 2 * size) }, { full(rank, 2) }, o)[1]
    s:synchronize()
    for r = 0, last do mw.check(all:view(2 * r + 1, 2), r) end
    all:fill(-1)
    comm:all_gather({ all }, { all:view(2 * rank + 1, 2):fill(rank) })
    for r = 0, last do mw.check(all:view(2 * r + 1, 2), r) end
    for r = 0, last do all:view(2 * r + 1, 2):fill(r) end
    mw.check(comm:reduce_scatter({ full(0, 2) }, { all })[1], rank * size)
    mw.check(comm:reduce_scatter({ all:view(2 * rank + 1, 2) }, { all }, { op = "avg" })[1], rank)
    local x, y = dev:zeros("i32", 3 * size), dev:zeros("i32", 3 * size)
    for r = 0, last do x:view(3 * r + 1, 3):fill(100 * rank + r) end
    comm:all_to_all({ y }, { x }, o)
    s:synchronize()
    for r = 0, last do mw.check(y:view(3 * r + 1, 3), 100 * r + rank) end
    local got = full(0, 4)
    comm:group(function()
      comm:send(full(rank, 4), (rank + 1) % size, { stream = s })
      comm:recv(got, (rank - 1) % size, { stream = s })
    end)
    mw.check(got, (rank - 1) % size)
    if rank == 0 then comm:send(full(7, 4), 1) elseif rank == 1 then mw.check(comm:recv(got, 0), 7) end
    local function try(f, ...) return (tostring(select(2, pcall(f, ...))):gsub("^%S+: ", "")) end
    local f16 = { full(1, 2, "f16") }
    assert(try(comm.all_reduce, comm, f16):find("f16 and bf16 are reduced only on CUDA devices", 1, true))
    assert(try(comm.send, comm, x, size):find(("send: a rank from 0 to %d expected, got %d"):format(last, size)))
    assert(try(comm.send, comm, x, 0, { sream = s }):find "send: unknown option 'sream'; did you mean 'stream'")
    assert(try(comm.recv, comm, x, 0, 7):find("recv: options must be a table, got number", 1, true))
    assert(try(comm.broadcast, comm, { x }, { root = size }):find("broadcast: root is a rank from 0 to " .. last))
    mpi.barrier()]]

  for _, ranks in ipairs { 1, 2, 4 } do
    it(("makes all calls for %d ranks"):format(ranks), function()
      local script = ranks > 1 and CALLS or CALLS:gsub("if rank == 0 then comm:send.-end\n", "")
      assert.are.equal("", mpi.lines(ranks, script))
      assert.are.equal(ranks > 1 and "[0] check mode: no errors found" or "check mode: no errors found",
        mpi.lines(ranks, script, "--check"))
    end)
  end
end)

describe("a benchmark of a job", function()
  it("has the same samples, turns and batches at all ranks, the slowest rank's", function()
    for _, ranks in ipairs { 2, 4 } do
      assert.are.equal("", mpi.lines(ranks, [[
        local x = dev:zeros("f64", 1000)
        local function work() mpi.barrier() for _ = 1, 1 + 5 * rank do x:fill(1) end end
        local function same(t, name)
          local all = mpi.all_gather { t.samples, t.batch, t.turns or {}, t.median }
          for _, one in ipairs(all) do
            assert(#one[1] == #t.samples and one[2] == t.batch and one[4] == t.median, name)
            for i, s in ipairs(one[1]) do assert(s == t.samples[i], name) end
            for i, s in ipairs(one[3]) do assert(s == t.turns[i], name) end
          end
        end
        same(mw.bench(work, { min_time = 0.02, max_time = 0.1 }), "bench")
        same(mw.bench(work, { min_time = 10, max_time = 0.05, noise = 0 }), "time limit")
        same(mw.bench(work, { samples = 7, cold = true }).cold, "cold")
        for _, t in ipairs(mw.bench({ a = work, b = mpi.barrier }, { min_time = 0.02, max_time = 0.1 })) do
          same(t, t.name)
        end
        local t = mw.bench(work, { samples = 3, energy = true, output = x })
        local why = t.warnings[#t.warnings].cause
        assert(why == "its energy is not measured: ranks of a job would lose step", why)
        if rank == 1 then mw.bench(function() x:fill(2) end, { collective = false, samples = 3 }) end
        mpi.barrier()]]))
    end
  end)

  it("ends with the error of one rank", function()
    require("tests.support").with_folder(function(folder)
      local status, output = mpi.run(folder, 2, [[
        local calls = 0
        mw.bench(function() calls = calls + 1 if rank == 1 and calls == 9 then error("ninth", 0) end end)]])
      assert.are.equal(1, status, output)
      assert.are.equal(1, select(2, output:gsub("moonwarp: ninth", "")), output)
    end)
  end)
end)
