-- SPDX-License-Identifier: MIT
--
-- A gate judged the medians alone: whether a lab passed that is as good as its gate wants was a matter of luck. Such a
-- lab is measured again once, and then it is "unclear", which is no pass.

local support = require "tests.support"
local labs = require "tests.labs"

if not support.program() then
  describe("an unclear gate", function() pending "needs the program" end)
  return
end

local slurm = require "tests.slurm"

-- A lab whose rate has the ends low[i] and high[i] in its i-th attempt; the gate wants 1.
local function lab(name, fields, low, high)
  return { name, 'gates = { record = { rung = "a" }, field = "T_tot", at_least = 1, of = { rung = "b" } },' .. fields,
           ([[
    local attempt = tonumber(require("moonwarp.session").current:out():match "%%.(%%d+)$" or 1)
    local low, high = ({ %s })[attempt], ({ %s })[attempt]
    mw.record { device = "cpu", rung = "b", T_tot = 1.0 }
    mw.record { device = "cpu", rung = "a", T_tot = { value = (low + high) / 2, low = low, high = high } }
    ]]):format(low, high) }
end

local LABS <const> = {
  lab("clear", "", "1.1", "1.2"), lab("stays", "", "0.9, 0.95", "1.1, 1.1"), lab("clears", "", "0.9, 1.0", "1.1, 1.1"),
  lab("fails", "", "0.9, 0.8", "1.1, 0.9"), lab("bad", "", "0.8", "0.9"),
  lab("patient", "retries = 2", "0.9, 0.8, 0.9", "1.1, 0.9, 1.1"), lab("behind", 'needs = "stays"', "1", "1"),
}

local WANTED <const> = { "clear passed 1", "stays unclear 2", "clears passed 2", "fails gate failed 2",
                         "bad gate failed 1", "patient unclear 3", "behind skipped 0" }

local function outcomes(result)
  local list = {}
  for i, row in ipairs(result.labs) do list[i] = ("%s %s %d"):format(row.name, row.verdict, row.attempts) end
  return list
end

describe("a gate whose bound lies in the interval", function()
  it("is measured again once, and then is unclear, for the table, JUnit, the report and --resume", function()
    labs.with(LABS, function(folder, batch)
      local status, output, result = batch "labs.lua --junit r.xml"
      assert.are.equal(3, status, output)
      assert.are.same(WANTED, outcomes(result))
      slurm.contains(output, "stays-cpu: unclear: T_tot of rung = a is 1.02 of rung = b, wanted at least 1, which lies "
        .. "in its interval, 0.95 to 1.1: measure longer, or on a quieter machine",
        "behind-cpu: skipped: it needs stays-cpu, which did not pass (unclear)")
      slurm.contains(support.read(folder .. "/r.xml"), 'tests="7" failures="4" errors="0" skipped="1"',
        'type="unclear"', "stays-cpu: gate unclear: ")
      local _, said = labs.shell(("cd %s && %s report %s --output r.html"):format(labs.quoted(folder),
        labs.quoted(labs.program), result.folder))
      assert.is_truthy(support.read(folder .. "/r.html"):find("unclear", 1, true), said)
      -- Killed before its end: what has a verdict keeps it.
      local journal = ("%s/%s/journal.jsonl"):format(folder, result.folder)
      support.write(journal, (support.read(journal):gsub('[^\n]*"kind":"finish"[^\n]*\n$', "")))
      status, output, result = batch "--resume"
      assert.are.equal(3, status, output)
      assert.are.same(WANTED, outcomes(result))
    end)
  end)

  it("is alone enough for status 3, and is the same on a cluster", function()
    slurm.with({ LABS[2], LABS[3], LABS[6] }, function(_, calls)
      local status, output, result = calls.batch()
      assert.are.equal(3, status, output)
      assert.are.same({ WANTED[2], WANTED[3], WANTED[6] }, outcomes(result))
    end)
  end)
end)
