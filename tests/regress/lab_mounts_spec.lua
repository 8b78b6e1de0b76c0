-- SPDX-License-Identifier: MIT
--
-- A file system that the machine mounted while a lab ran appeared in its sandbox, and could be written.

local support = require "tests.support"
local labs = require "tests.support.labs"

if not support.program() then
  describe("mounts", function() pending "needs the program" end)
  return
end

-- The machine, as systemd sets it up: what is mounted comes to all that do not keep it out.
local MACHINE <const> = "unshare -m --propagation shared"

-- While the lab waits, a file system is mounted below its working folder.
local MOUNTS <const> = [[
(until [ -e out/batch/*/a-cpu/begun ]; do sleep 0.02; done
 mount -t tmpfs none later && touch later/there mounted) &
"$@"; status=$?; wait; umount later; exit $status]]

local LAB <const> = [[
local own = require("moonwarp.session").current:out()
os.execute("touch " .. own .. "/begun; until [ -e mounted ]; do sleep 0.02; done")
os.execute "ls later; touch later/written && echo written"]]

describe("a file system that is mounted while a lab runs", function()
  local can_mount = labs.shell(MACHINE .. " mount -t tmpfs none /mnt") == 0
  local it_can = can_mount and labs.it_sandboxed or pending

  it_can("is not in its sandbox", function()
    labs.with({ { "a", "", LAB } }, function(folder)
      support.write(folder .. "/mounts.sh", MOUNTS)
      local status, output = labs.shell(("cd %s && mkdir later && %s sh mounts.sh %s batch labs.lua --sandbox require")
        :format(labs.quoted(folder), MACHINE, labs.quoted(labs.program)))
      assert.are.equal(0, status, output)
      local _, said = labs.shell(("cat %s/out/batch/*/a-cpu/output.txt"):format(folder))
      assert.is_nil(said:find "there", said)
      assert.is_nil(said:find "\nwritten", said)
      assert.is_truthy(said:find "touch: .*later/written", said)
    end)
  end)
end)
