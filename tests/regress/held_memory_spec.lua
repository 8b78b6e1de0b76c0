-- SPDX-License-Identifier: MIT
--
-- Memory that no process has mapped, as in files of memfd_create, was no memory for a lab's limit.

local support = require "tests.support"
local labs = require "tests.labs"
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
    for _, way in ipairs { "unseen", "sent" } do
      assert.are.equal("memory", ending_of(way .. " 256 1000", true).reason, way)
    end
    local _, left = labs.shell(("ls -d %s/moonwarp-[0-9]*"):format(group()))
    for pid in left:gmatch "moonwarp%-(%d+)" do -- of other tests
      assert.is_truthy(require("lfs").attributes("/proc/" .. pid), left)
    end
  end)
end)
