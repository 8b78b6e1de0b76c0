-- SPDX-License-Identifier: MIT
--
-- The study airfoil: what it measures, and which wrong kernels and plans its checks find.

local support = require "tests.support"
local core = support.core

local QUICK <const> = "--device cpu -p I=12 -p nodes=300 -p steps=3 "

describe("the study airfoil", function()
  if not support.program() then return pending "needs the program" end

  it("counts each dataset once and increments twice, and tells OP2's diagnostics", function()
    local run = support.study_passes("airfoil", QUICK .. "-p parts=ladder,loops,plans -p rungs=2,4,10,11,12")
    local bytes, told = {}, nil
    for _, r in ipairs(run.record.records) do
      if r.t and r.T_eff then bytes[r.rung] = math.floor(r.T_eff * r.t.median + 0.5) end
      if r.group == "diagnostics" and r.numbering == "made" then told = r end
    end
    local cells, nodes, edges = 648, 37 * 19, 35 * 18 + 36 * 17 + 12
    assert.are.equal(8 * (2 * nodes + 13 * cells) + 16 * edges, bytes["a cell per thread"])
    assert.are.equal(64 * cells, bytes["save_soln, direct"])
    assert.are.equal(8 * (2 * nodes + 5 * cells) + 16 * cells, bytes["adt_calc, direct"])
    assert.are.equal((edges + 127) // 128, told.blocks)
    assert.is_true(told.block_colours > 1 and told.reuse > 1 and told.used_MB < told.total_MB)
  end)

  it("draws the pressure on the airfoil, and tells the residual", function()
    local run = support.study_passes("airfoil", QUICK .. "-p parts=flow")
    local chord, residual = 0, nil
    for _, r in ipairs(run.record.records) do
      chord = chord + (r.group == "chord" and 1 or 0)
      residual = r.residual or residual
    end
    assert.are.equal(12, chord)
    assert.is_true(residual > 0 and residual < 0.1)
    assert.is_truthy(run.files["airfoil-pressure.dat"] and run.files["airfoil-chord.dat"])
  end)

  it("gives the bits of one device over two, each with redundant cells", function()
    local run = support.study_passes("airfoil", QUICK .. "-p parts=devices")
    local own, copies = 0, 0
    for _, r in ipairs(run.record.records) do own, copies = own + r.own, copies + r.copies end
    assert.are.equal(648, own)
    assert.are.equal(72, copies) -- a row of 36 cells at each side
    assert.are.equal("q of two devices", run.record.checks[1].what)
  end)

  it("finds a flux that a cell gets and its neighbour does not lose", function()
    support.with_folder(function(folder)
      local copy = folder .. "/airfoil"
      assert(os.execute(("cp -r '%s/experiments/airfoil' '%s'"):format(core.home(), copy)))
      support.write(copy .. "/airfoil.cuh", support.changed_kernels("airfoil.cuh",
        { "res2[k] -= f[k];", "res2[k] -= REAL(0.999) * f[k];" }))
      local flow = support.read(copy .. "/flow.lua"):gsub('core.home%(%) .. "/kernels/airfoil.cuh"',
        ("%q"):format(copy .. "/airfoil.cuh"))
      support.write(copy .. "/flow.lua", flow)
      local run = support.study(copy, QUICK .. "-p parts=ladder -p rungs=2")
      assert.are.equal(3, run.status, run.output)
      local failed = {}
      for _, one in ipairs(run.record.checks) do failed[#failed + 1] = not one.ok and one.what or nil end
      failed = table.concat(failed, "; ")
      assert.is_truthy(failed:find("what flows out of all cells", 1, true), failed)
      assert.is_truthy(failed:find("atomics, I = 9", 1, true), failed)
    end)
  end)
end)
