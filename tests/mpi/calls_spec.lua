-- SPDX-License-Identifier: MIT
--
-- moonwarp.mpi between 2 and 4 ranks: values, arrays, requests, and what is said of mistakes.

local mpi = require "tests.support.mpi"
local support = require "tests.support"
local it = mpi.it

-- "[0] a\n[1] a" for so many ranks, where each prints the same or what text(rank) says.
local function each(ranks, text)
  local lines = {}
  for rank = 0, ranks - 1 do
    lines[rank + 1] = ("[%d] %s"):format(rank, type(text) == "function" and text(rank) or text)
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

describe("moonwarp.mpi", function()
  for _, ranks in ipairs { 2, 4 } do
    it(("knows the place of each of %d ranks"):format(ranks), function()
      assert.are.equal(each(ranks, function(rank)
        return ("%d %d %d %d cpu:%d/%d direct"):format(rank, ranks, rank, ranks, rank, ranks)
      end), mpi.lines(ranks, [[print(("%d %d %d %d %s %s"):format(rank, size, mpi.local_rank(), mpi.local_size(),
        dev:id(), mpi.how(dev)))]]))
    end)

    it(("collects values of %d ranks"):format(ranks), function()
      local last = ranks - 1
      assert.are.equal(each(ranks, function(rank)
        local all = {}
        for i = 0, last do all[i + 1] = i * 10 end
        local text = table.concat(all, " ")
        return ("%s | %s | nil false x\n%d 1.5 | %d %d 0 %d"):format(rank == last and text or "nil", text, last,
          last * ranks / 2, ranks, last):gsub("\n", "; ")
      end), mpi.lines(ranks, [[
        local at = mpi.gather(rank * 10, { root = size - 1 })
        local b = mpi.broadcast({ n = rank, 1.5 }, { root = size - 1 })
        local odd = mpi.all_gather({ rank == 0 and "x" or nil, rank ~= 0 })
        local sum = mpi.all_reduce { a = rank, b = 1 }
        print(("%s | %s | %s %s %s; %d %s | %d %d %d %d"):format(at and table.concat(at, " ") or "nil",
          table.concat(mpi.all_gather(rank * 10), " "), mpi.broadcast(nil), mpi.broadcast(false), odd[1][1], b.n, b[1],
          sum.a, sum.b, mpi.all_reduce(rank, { op = "min" }), mpi.all_reduce(rank, { op = "max" })))]]))
    end)

    it(("moves arrays between %d ranks, in check mode as well"):format(ranks), function()
      for _, words in ipairs { "", "--check" } do
        local output = mpi.lines(ranks, [[
          local right, left = (rank + 1) % size, (rank - 1) % size
          local x, y = dev:full(rank + 0.5, "f64", 3, 2), dev:zeros("f64", 3, 2)
          local due = { mpi.irecv(y, left, { tag = 1 }), mpi.isend(x, right, { tag = 1 }) }
          for _, one in ipairs(due) do one:wait() end
          assert(due[1]:test() and tostring(due[1]) == "mpi.irecv from rank " .. left .. ", done")
          mw.check(y, left + 0.5)
          if rank == 0 then mpi.send(x, 1) mpi.send("text", 1) end
          if rank == 1 then
            mw.check(mpi.recv(y, 0), 0.5)
            assert(mpi.recv(0) == "text")
          end
          local s = dev:stream()
          mw.check(mpi.all_reduce(dev:full(rank, "i32", 5), { stream = s }), size * (size - 1) // 2)
          mw.check(mpi.all_reduce(dev:full(rank, "f32", 5), { op = "max" }), size - 1)
          mw.check(mpi.broadcast(dev:full(rank, "u8", 5), { root = 1 }), 1)
          local all = mpi.all_gather(dev:full(rank, "i64", 2), { into = dev:zeros("i64", 2 * size) })
          for i = 0, size - 1 do assert(all:get(2 * i + 1) == i) end
          local into = rank == 0 and dev:zeros("f16", size) or nil
          local got = mpi.gather(dev:full(rank, "f16", 1), { into = into })
          assert((got ~= nil) == (rank == 0) and (rank > 0 or got:get(size) == size - 1))
          mpi.barrier()]], words)
        assert.are.equal(words == "" and "" or "[0] check mode: no errors found", output)
      end
    end)
  end

  it("sends texts of any length and bytes", function()
    assert.are.equal("[1] true", mpi.lines(2, [=[
      local text = ("\0\n\"]]\r\255"):rep(200000)
      if rank == 0 then mpi.send({ text, { -0.0, math.huge, 1 / 3, math.mininteger } }, 1) return end
      local got = mpi.recv(0)
      print(got[1] == text and got[2][2] == math.huge and got[2][3] == 1 / 3 and got[2][4] == math.mininteger)]=]))
  end)

  it("keeps what is sent and what is gathered apart", function()
    assert.are.equal("[0] 0 1 sent; 0 1; 2", mpi.lines(2, [[
      if rank == 1 then mpi.send("sent", 0) mpi.send("later", 0, { tag = 32767 }) end
      local all = mpi.gather(rank)
      local everywhere, sum = mpi.all_gather(rank), mpi.all_reduce(1)
      if rank == 0 then
        print(("%s %s; %s; %d"):format(table.concat(all, " "), mpi.recv(1), table.concat(everywhere, " "), sum))
        assert(mpi.recv(1, { tag = 32767 }) == "later")
      end]]))
  end)

  it("compares the collective calls of ranks", function()
    for call, message in pairs {
      ["mpi.all_reduce(dev:zeros(rank == 0 and 'f32' or 'i32', 4))"] =
        "mpi.all_reduce of 4 elements of f32, sum, and rank 1 mpi.all_reduce of 4 elements of i32, sum",
      ["mpi.broadcast(dev:zeros('f32', 2 + 2 * rank))"] =
        "mpi.broadcast of 2 elements of f32, root 0, and rank 1 mpi.broadcast of 4 elements of f32, root 0",
      ["mpi.all_reduce(dev:zeros('f32', 4), { op = rank == 0 and 'max' or 'min' })"] =
        "mpi.all_reduce of 4 elements of f32, max, and rank 1 mpi.all_reduce of 4 elements of f32, min",
      ["mpi.all_gather(dev:zeros('f32', 1 + rank), { into = dev:zeros('f32', 2 + 2 * rank) })"] =
        "mpi.all_gather of 1 element of f32, and rank 1 mpi.all_gather of 2 elements of f32",
      ["comm:broadcast { dev:zeros(rank == 0 and 'f32' or 'f64', 4) }"] =
        "nccl.broadcast of 4 elements of f32, root 0, and rank 1 nccl.broadcast of 4 elements of f64, root 0",
      ["comm:all_reduce { dev:zeros('f32', 4 + 4 * rank) }"] =
        "nccl.all_reduce of 4 elements of f32, sum, and rank 1 nccl.all_reduce of 8 elements of f32, sum",
      ["if rank == 0 then mpi.barrier() else mpi.broadcast(1, { root = 1 }) end"] =
        "mpi.barrier, and rank 1 mpi.broadcast of a value, root 1",
      ["if rank == 0 then mpi.gather(1) else mpi.all_reduce(1) end"] =
        "mpi.gather of values, root 0, and rank 1 mpi.all_reduce of values, sum",
      ["if rank == 1 then comm:all_reduce { dev:zeros('f32', 4) } else mpi.all_gather(1) end"] =
        "mpi.all_gather of values, and rank 1 nccl.all_reduce of 4 elements of f32, sum",
      ["if rank == 0 then mw.bench(function() end) else mpi.barrier() end"] = "mw.bench, and rank 1 mpi.barrier",
      ["mw.bench(function() if rank == 1 then mpi.barrier() end end, { samples = 2, batch = 1 })"] =
        "mw.bench, after a sample, and rank 1 mpi.barrier",
      ["mw.bench { a = print, [rank == 0 and 'b' or 'c'] = print }"] =
        "mw.bench of a, b, and rank 1 mw.bench of a, c",
    } do
      local output = mpi.lines(2, ("local comm <const> = require('moonwarp.nccl').communicator() mpi.barrier()"
        .. "print(select(2, pcall(function() %s end)))"):format(call))
      local wanted = "all ranks make the same collective calls in the same order: as number %d rank 0 makes " .. message
      for rank = 0, 1 do
        local line = output:match(("%%[%d%%] [^\n]*"):format(rank))
        assert.are.equal(wanted:format(tonumber(line:match "as number (%d+)")), line:match "all ranks make.*", call)
      end
    end
  end)

  it("ends a job whose ranks do not make the same calls", function()
    for _, text in ipairs { "if rank == 0 then mpi.barrier() else mpi.broadcast(1, { root = 2 }) end",
                            "if rank == 1 then mw.bench(function() end) else mpi.barrier() end" } do
      support.with_folder(function(folder)
        local status, output = mpi.run(folder, 3, text)
        assert.are.equal(1, status, output)
        assert.are.equal(1, select(2, output:gsub("all ranks make the same collective calls", "")), output)
      end)
    end
  end)

  it("says that a rank waits for itself", function()
    for _, call in ipairs { "mpi.send(dev:zeros('f64', 1000000), rank)", "mpi.recv(dev:zeros('f64', 10), rank)",
                            "mpi.recv(rank)", "mpi.send(('x'):rep(8000000), rank)" } do
      local output = mpi.lines(2, ("print(select(2, pcall(function() %s end))) mpi.barrier()"):format(call))
      for rank = 0, 1 do
        assert.is_truthy(output:find(("%%[%d%%] .*: the rank would wait for itself; begin both"):format(rank)), output)
      end
    end
    assert.are.equal("[0] 7.0\n[1] 7.0", mpi.lines(2, [[
      local x, y = dev:full(7, "f64", 1000000), dev:zeros("f64", 1000000)
      local due = { mpi.irecv(y, rank), mpi.isend(x, rank) }
      for _, one in ipairs(due) do one:wait() end
      print(y:get(1000000))]]))
  end)

  it("lets a NaN lose in max and min, whichever rank has it", function()
    for who = 0, 2 do
      assert.are.equal("", mpi.lines(3, ("local who <const> = %d "):format(who) .. [[
        local comm <close>, nan = require("moonwarp.nccl").communicator(), 0 / 0
        for _, op in ipairs { "max", "min" } do
          local wanted = rank == who and nan or rank
          local right = op == "max" and (who == 2 and 1 or 2) or who == 0 and 1 or 0
          for _, dtype in ipairs { "f32", "f64" } do
            assert(mpi.all_reduce(dev:full(wanted, dtype, 1), { op = op }):get(1) == right)
            assert(comm:all_reduce({ dev:full(wanted, dtype, 1) }, nil, { op = op })[1]:get(1) == right)
          end
          assert(mpi.all_reduce(wanted, { op = op }) == right)
          assert(mpi.all_reduce(nan, { op = op }) ~= mpi.all_reduce(nan, { op = op }))
        end]]))
    end
  end)

  it("says what is wrong with what it is given", function()
    local output = mpi.lines(1, [[
      local x = dev:zeros("f32", 4)
      local function try(f, ...) print((tostring(select(2, pcall(f, ...))):gsub("^%S+: ", ""))) end
      try(mpi.send, 1, 1)
      try(mpi.send, print, 0)
      local loop = {}
      loop[1] = loop
      try(mpi.send, loop, 0)
      try(mpi.recv, x, -1)
      try(mpi.isend, 1, 0)
      try(mpi.send, 1, 0, { tag = 40000 })
      try(mpi.all_reduce, 1, { op = "summ" })
      try(mpi.all_reduce, "a")
      try(mpi.all_reduce, loop)
      try(mpi.all_reduce, nil)
      try(mpi.all_reduce, dev:zeros("f16", 2))
      try(mpi.broadcast, 1, { root = 1 })
      try(mpi.gather, x, { into = dev:zeros("f32", 3) })
      try(mpi.gather, x)
      try(mpi.barrier, 1)
      try(function() return mpi.allreduce end)
      try(function()
        local due = mpi.irecv(dev:zeros("f32", 8), 0)
        mpi.send(x, 0)
        due:wait()
      end)]])
    for _, text in ipairs {
      "mpi.send: the peer is a rank from 0 to 0, got 1",
      "mpi.send: numbers, texts, truth values and tables of them are sent, got function",
      "mpi.send: a table is in itself, or too deep",
      "mpi.recv: the peer is a rank from 0 to 0, got -1",
      "mpi.isend: an array expected, got number",
      "mpi.send: tag must be from 0 to 32767, got 40000",
      "mpi.all_reduce: there is no op 'summ'; did you mean 'sum'?",
      "mpi.all_reduce: MPI has no f16; convert, or use moonwarp.nccl on CUDA devices",
      "mpi.all_reduce: an array, a number, or a table of numbers is wanted, got string",
      "mpi.all_reduce: an array, a number, or a table of numbers is wanted, got nil",
      "mpi.broadcast: root is a rank from 0 to 0, got 1",
      "mpi.gather: option 'into' must have 4 elements of f32, got array<f32>[3] cpu",
      "mpi.gather: option 'into' is an array, got nil",
      "mpi.barrier takes no arguments, got 1",
      "moonwarp.mpi has no 'allreduce'; did you mean 'all_reduce'?",
      "rank 0: mpi.irecv from rank 0: 16 bytes came for array<f32>[8] cpu, which has 32",
    } do
      assert.is_truthy(output:find(text, 1, true), text .. "\nin\n" .. output)
    end
  end)

  it("combines numbers with nothing else", function()
    assert.is_truthy(mpi.lines(2, [[print(select(2, pcall(mpi.all_reduce, rank == 0 and 1 or { 1 })))]]):find(
      "numbers, or tables of numbers with the same keys, of all ranks expected, got number and table", 1, true))
  end)
end)
