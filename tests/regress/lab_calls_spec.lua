-- SPDX-License-Identifier: MIT
--
-- Labs shared the user's keyrings with each other and with the host, and held System V memory that no limit counted:
-- such system calls are refused, of programs for 32 bits as well. What MPI, debuggers and profilers call is not.

local support = require "tests.support"
local labs = require "tests.support.labs"
local found, host = pcall(require, "moonwarp.host")

if not (found and host.has_filter and host.has_filter()) then
  describe("a lab's system calls", function() pending "needs the program, built with libseccomp" end)
  return
end

local SOURCE <const> = support.core.home() .. "/tests/regress/sandbox/calls.c"

describe("a lab's system calls", function()
  local has_compiler = os.execute "command -v cc >/dev/null"

  labs.it_sandboxed("are refused where they lead out of the sandbox", function()
    if not has_compiler then pending "needs cc" end
    labs.with({ { "a", "", 'os.execute "./calls; cat /proc/keys /proc/key-users"' } }, function(folder, batch)
      assert(os.execute(("cc -std=gnu11 -D_GNU_SOURCE -o %s/calls %s"):format(folder, labs.quoted(SOURCE))))
      local status, output, result = batch "labs.lua --sandbox require"
      assert.are.equal(0, status, output)
      local said = support.read(("%s/%s/a-cpu/output.txt"):format(folder, result.folder))
      assert.is_truthy(said:find "^x86%-64 tried\n", said)
      for line in said:gmatch "[^\n]+" do
        assert.is_truthy(line:find " tried$" or line:find "^cat: .*Permission denied$", line)
      end
    end)
  end)
end)
