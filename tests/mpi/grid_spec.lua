-- SPDX-License-Identifier: MIT
--
-- mw.grid over the ranks of an MPI job: the same bits as one rank without it, on every division.

local grids = require "tests.support.grids"
local labs = require "tests.support.labs"
local mpi = require "tests.support.mpi"
local support = require "tests.support"
local it = mpi.it

local CASES <const> = [[
  run { 23, type = "f32", halo = 2, periodic = true }
  run { 11, 9, type = "f64", halo = 1, periodic = { true, false } }
  run { 13, 6, type = "f32", halo = 1, dims = { size, 1 }, periodic = true }
  run { 7, 6, 11, type = "f64", halo = { 0, 0, 1 } }
  run { 9, 7, 11, type = "f64", halo = 2, periodic = true }
  assert(#mw.findings() == 0)
]]

-- The lines about grids that a job of so many ranks printed, of each rank.
local function said(ranks, words)
  local list = {}
  for line in mpi.lines(ranks, grids.PRELUDE .. CASES, words):gmatch "[^\n]+" do
    if line:find "same bits" then list[#list + 1] = line end
  end
  return table.concat(list, "\n")
end

local function printed(ranks, lines)
  local list = {}
  for rank = 0, ranks - 1 do
    for _, line in ipairs(lines) do list[#list + 1] = ("[%d] %s\tsame bits"):format(rank, line) end
  end
  table.sort(list)
  return table.concat(list, "\n")
end

describe("mw.grid over ranks", function()
  it("gives the bits of one rank to 2", function()
    assert.are.equal(printed(2, { "grid of 23 cells in 2 parts", "grid of 11 x 9 cells in 1 x 2 parts",
      "grid of 13 x 6 cells in 2 x 1 parts", "grid of 7 x 6 x 11 cells in 1 x 1 x 2 parts",
      "grid of 9 x 7 x 11 cells in 1 x 1 x 2 parts" }), said(2))
  end)

  it("gives the bits of one rank to 4, in check mode", function()
    assert.are.equal(printed(4, { "grid of 23 cells in 4 parts", "grid of 11 x 9 cells in 2 x 2 parts",
      "grid of 13 x 6 cells in 4 x 1 parts", "grid of 7 x 6 x 11 cells in 1 x 1 x 4 parts",
      "grid of 9 x 7 x 11 cells in 1 x 2 x 2 parts" }), said(4, "--check"))
  end)

  it("computes multi-gpu's heat, every rank's part right", function()
    support.with_folder(function(folder)
      local words = "run multi-gpu --mpi --device cpu --out out -p parts=weak,strong -p sides=8 -p strong=16 -p steps=2"
      local status, output = labs.shell(("cd %s && %s %s %s </dev/null"):format(labs.quoted(folder), mpi.mpirun(3),
        labs.quoted(labs.program), words))
      assert.are.equal(0, status, output)
      local found = {}
      for _, r in ipairs(mpi.runs(folder)[1].records) do found[r.group .. ", " .. r.rung] = r.used end
      assert.are.same({ ["weak, alone, device 1"] = 3, ["weak, alone, in parts"] = 3, ["weak, exchange after"] = 3,
                        ["weak, overlap"] = 3, ["strong, overlap"] = 3 }, found)
    end)
  end)

  it("sends by a rank to itself, and gathers at rank 0 alone", function()
    assert.are.equal("[0] 1 2 3 1 2 3\n[1] nothing", mpi.lines(2, [[
      local comm <close> = require "moonwarp.nccl".communicator()
      local grid <close> = mw.grid { 3, 2, comm = comm, dims = { 1, 2 }, periodic = true }
      local A = grid:array "i16"
      for x = 1, 3 do A[1]:set(x + 1, 2, x) end
      grid:exchange(A)
      assert(A[1]:get(1, 2) == 3 and A[1]:get(5, 3) == 1)
      local whole = grid:gather(A)
      print(whole and table.concat(whole:view(1, 6):totable(), " ") or "nothing")]]))
  end)

  it("says what is wrong with a grid of a job", function()
    for text, message in pairs {
      ["mw.grid { 8, 8 }"] = "mw.grid: the job has 2 ranks: comm = nccl.communicator() divides the grid over them, and "
        .. "devices = { mw.device() } gives each rank a whole one",
      ["mw.grid { 8, 8 + 2 * rank, comm = comm }"] = "rank 0 makes mw.grid, a grid of 8 x 8 cells in 1 x 2 parts, halo "
        .. "1 x 1, periodic false x false, via copies, and rank 1 mw.grid, a grid of 8 x 10 cells in 1 x 2 parts, halo",
      ["local g = mw.grid { 8, 8, comm = comm } local A = g:array 'f32' g:exchange(A) A[1]:close() g:exchange(A)"] =
        "exchange: an array of part 1, on cpu:0/2, is wanted, got closed array",
      ["local x = dev:zeros('f64', 100) if rank == 1 then mpi.send(x, 0) else local due = mpi.irecv(x, 1) x:close() "
        .. "due:wait() end"] = "rank 0: mpi.irecv from rank 1: its array was closed before it was done;",
    } do
      local output = mpi.lines(2, ("local comm <const> = require('moonwarp.nccl').communicator() "
        .. "print(select(2, pcall(function() %s end)))"):format(text))
      assert.is_truthy(output:find(message, 1, true), output)
    end
  end)
end)
