-- SPDX-License-Identifier: MIT
--
-- Memory that no process has mapped, as in files of memfd_create, was no memory for a lab's limit.

local support = require "tests.support"
local labs = require "tests.support.labs"
local found, host = pcall(require, "moonwarp.host")

if not (found and host.spawn) or os.execute "command -v cc >/dev/null" == nil then
  describe("memory that is held", function() pending "needs the program and cc" end)
  return
end

local SOURCE <const> = support.core.home() .. "/tests/regress/sandbox/hold.c"
local LIMIT <const> = 160 << 20

-- How a process ended that held memory under a limit; with a folder it is counted by a group of the kernel, too, where
-- one can be made.
local function ending_of(words, counted)
  local ending
  support.with_folder(function(folder)
    assert(os.execute(("cc -std=gnu11 -D_GNU_SOURCE -o %s/hold %s"):format(folder, labs.quoted(SOURCE))))
    local child <close> = host.spawn { argv = { "/bin/sh", "-c", ("exec %s/hold %s"):format(folder, words) },
                                       folder = counted and folder or nil, memory = LIMIT, log = folder .. "/log" }
    repeat
      host.wait({ child }, 10)
      ending = child:poll()
    until ending
  end)
  return ending
end

-- A group of the kernel: the folder of ours, or nil.
local function group()
  local name = support.read("/proc/self/cgroup"):match ":memory:([^\n]*)"
  local place = name and "/sys/fs/cgroup/memory" .. name
  if not place or not os.execute(("mkdir %s/moonwarp-try 2>/dev/null"):format(place)) then return nil end
  os.execute(("rmdir %s/moonwarp-try"):format(place))
  return place
end

describe("memory that is held", function()
  it("in a file without a name has a limit", function()
    for _, counted in ipairs { false, true } do
      local ending = ending_of("file 256 1000", counted)
      assert.are.equal("memory", ending.reason)
      assert.is_true(ending.peak > LIMIT)
    end
  end)

  it("and mapped is counted once", function()
    for _, counted in ipairs { false, true } do
      local ending = ending_of("mapped 100 0.3", counted)
      assert.are.equal("0 0", ("%d %d"):format(ending.exit, ending.signal))
    end
  end)

  local it_counted = group() and it or pending

  it_counted("where only the kernel sees it has a limit", function()
    for _, way in ipairs { "unseen", "sent", "anonymous" } do
      assert.are.equal("memory", ending_of(way .. " 256 1000", true).reason, way)
    end
    local _, left = labs.shell(("ls -d %s/moonwarp-[0-9]*"):format(group()))
    for pid in left:gmatch "moonwarp%-(%d+)" do -- of other tests
      assert.is_truthy(require("lfs").attributes("/proc/" .. pid), left)
    end
  end)

  -- A user without root had the limit without what only the kernel sees, and was not told so.
  local users <const> = labs.users()
  local it_user = group() and users[2] and it or pending

  it_user("is counted for a user whom the system gives a group, and else said not to be", function()
    local list = { { "held", 'memory_limit = "160 MiB"', ('os.execute "%s/hold anonymous 256 1000"') } }
    support.with_folder(function(folder)
      assert(os.execute(("cc -std=gnu11 -D_GNU_SOURCE -o %s/hold %s && chmod 755 %s"):format(folder,
        labs.quoted(SOURCE), folder)))
      list[1][3] = list[1][3]:format(folder)
      local own <const> = group() .. "/moonwarp-given"
      local enter <const> = ("mkdir -p %s && chown -R 65534 %s && echo $$ >%s/cgroup.procs && "):format(own, own, own)
      labs.with(list, function(place, batch)
        local _, output, result = batch("labs.lua --sandbox off", enter .. users[2].as(place))
        assert.are.equal("out of memory", result.labs[1].verdict, output)
        assert.is_nil(output:find("memory_limit does not count", 1, true), output)
      end)
      os.execute("rmdir " .. own)
    end)
    labs.with({ { "a", 'memory_limit = "160 MiB"', "" } }, function(place, batch)
      local status, output = batch("labs.lua --sandbox off", users[2].as(place))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("moonwarp: memory_limit does not count files in /tmp and /dev/shm of a sandbox, and "
        .. "shared memory that no process has touched lately: no control group can be made here; in systemd-run --user "
        .. "--scope there may be one\n", 1, true), output)
      status, output = batch "labs.lua --sandbox off"
      assert.are.equal(0, status, output)
      assert.is_nil(output:find("memory_limit does not", 1, true), output)
    end)
  end)
end)
