-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --slurm --sandbox require: where the submitting machine had no bubblewrap, it described labs without a
-- sandbox. `require` holds wherever a lab's text runs.

local support = require "tests.support"
if not pcall(require, "moonwarp.host") then
  describe("a required sandbox on a cluster", function() pending "needs the program" end)
  return
end

local lfs = require "lfs"
local slurm = require "tests.support.slurm"

local REQUIRED <const> = "labs.lua --slurm --sandbox require"
local SCRIPT <const> = 'os.execute "echo x >>ran"\nlocal n = mw.arg("n", 1)'
local PROBLEM <const> = "labs cannot run in a sandbox here: bwrap: not permitted"

-- Neither the machine that submits nor its nodes can make a sandbox.
local function forbid(folder)
  support.write(folder .. "/bin/bwrap", "#!/bin/sh\necho bwrap: not permitted >&2; exit 1\n")
  assert(os.execute(("chmod +x %s/bin/bwrap"):format(folder)))
end

describe("a required sandbox on a cluster", function()
  it("is required where labs are described", function()
    slurm.with({ { "a", "params = { n = 1 }", SCRIPT } }, function(folder, calls)
      forbid(folder)
      local status, output = calls.submit(REQUIRED)
      assert.are.equal(2, status, output)
      slurm.contains(output, PROBLEM, "--sandbox off is for labs that you trust")
      assert.is_nil(lfs.attributes(folder .. "/ran"))
      assert.is_nil(lfs.attributes(folder .. "/queue/1"))
    end)
  end)

  it("is required on the node", function()
    slurm.with({ { "a", "", SCRIPT } }, function(folder, calls)
      forbid(folder)
      local status, output, result = calls.batch(REQUIRED)
      assert.are.equal(1, status, output)
      assert.are.equal("killed", slurm.verdicts(result), output)
      slurm.contains(support.read(folder .. "/" .. result.labs[1].message:match "in (%S+),"), PROBLEM)
      assert.is_nil(lfs.attributes(folder .. "/ran"))
    end)
  end)

  it("is not given up by --resume, which the nodes do not hear", function()
    slurm.with({ { "a", "", SCRIPT } }, function(folder, calls)
      forbid(folder)
      calls.submit(REQUIRED)
      slurm.drain(folder)
      local status, output = calls.resume "--sandbox off"
      assert.are.equal(2, status, output)
      slurm.contains(output, "option '--sandbox': --resume keeps that of the batch, 'require'")
      assert.is_nil(lfs.attributes(folder .. "/ran"))
    end)
  end)

  it("that is not required is missed with a word", function()
    slurm.with({ { "a", "params = { n = 1 }", SCRIPT } }, function(folder, calls)
      forbid(folder)
      local status, output = calls.batch "labs.lua --slurm --sandbox auto"
      assert.are.equal(0, status, output)
      slurm.contains(output, "labs are described without a sandbox: bwrap: not permitted\n",
        "\nlabs ran without a sandbox: bwrap: not permitted\n")
    end)
  end)
end)
