-- SPDX-License-Identifier: MIT
--
-- The folders of the cache and of compilations, where something went wrong in them before. Each test has a folder of
-- its own, so it works in child processes.

local support = require "tests.support"

local KERNEL = [[
  local dev = require "moonwarp".device "cpu"
  local x = dev:zeros("i32", 1)
  local m <close> = dev:module { source = "__global__ void k(int *x) { x[0] = 3; }" }
  m.k:launch(1, 1, x)
  assert(x:get(1) == 3)
]]

local STAT = [[
  local stat = require "moonwarp.core".cache_stat()
  print(stat.hits, stat.misses, stat.bytes, stat.folder)
]]

local function stat(env)
  local hits, misses, bytes, folder = support.child_passes(STAT, { env = env }):match "^(%d+)\t(%d+)\t(%d+)\t([^\n]*)"
  return { hits = tonumber(hits), misses = tonumber(misses), bytes = tonumber(bytes), folder = folder }
end

describe("the folder of the cache", function()
  -- Its counters were taken as they came: billions of hits, or none ever again.
  it("has its counters begun anew where they are damaged", function()
    support.with_folder(function(folder)
      local env = { MOONWARP_CACHE = folder .. "/cache" }
      support.child_passes(KERNEL, { env = env })
      local right = stat(env)
      assert.is_true(right.misses > 0)
      for _, damage in ipairs { ("\255"):rep(24), "garbage", "", ("x"):rep(24), ("\0"):rep(100) } do
        support.write(folder .. "/cache/counters-1", damage)
        local seen = stat(env)
        assert.are.same({ 0, 0, right.bytes }, { seen.hits, seen.misses, seen.bytes })
      end
      support.child_passes(KERNEL, { env = env })
      local later = stat(env)
      assert.is_true(later.hits > 0 and later.hits < 100)
      assert.are.equal(0, later.misses)
    end)
  end)

  -- A process waited for a pipe for ever.
  it("may hold pipes, links, folders and devices in place of files", function()
    support.with_folder(function(folder)
      local env, cache = { MOONWARP_CACHE = folder .. "/cache" }, folder .. "/cache"
      support.write(folder .. "/mine", "mine")
      for _, make in ipairs { "mkfifo", "mkdir", "ln -s ../../mine", "ln -s /dev/zero", "ln -s loop",
                              "truncate -s 1T" } do
        os.execute(("rm -rf '%s'"):format(cache))
        support.child_passes(KERNEL, { env = env })
        for _, file in ipairs(support.files(cache)) do
          os.execute(("rm '%s' && %s '%s'"):format(file, make, file))
        end
        os.execute(("rm -f '%s/lock' && %s '%s/lock'"):format(cache, make, cache))
        support.child_passes(KERNEL, { env = env })
        support.child_passes(KERNEL, { env = env })
        assert.are.equal("mine", support.read(folder .. "/mine"))
      end
    end)
  end)

  it("may have its counters locked by a stopped process", function()
    support.with_folder(function(folder)
      local env = { MOONWARP_CACHE = folder .. "/cache" }
      support.child_passes(KERNEL, { env = env })
      local holder = io.popen(("exec flock '%s/cache/counters-1' sh -c 'echo $$; exec sleep 1000'"):format(folder))
      local pid = holder:read "l"
      support.child_passes(KERNEL, { env = env })
      os.execute("kill " .. pid)
      holder:close()
    end)
  end)

  -- A relative one made a cache in whatever folder a script was started.
  it("is in no XDG_CACHE_HOME that is not absolute", function()
    support.with_folder(function(folder)
      local env = { MOONWARP_CACHE = "", XDG_CACHE_HOME = "relative", HOME = folder }
      assert.are.equal(folder .. "/.cache/moonwarp", stat(env).folder)
      env.XDG_CACHE_HOME = folder .. "/xdg"
      assert.are.equal(folder .. "/xdg/moonwarp", stat(env).folder)
    end)
  end)
end)

describe("the folder of a compilation that was killed", function()
  -- It stayed for ever.
  it("is removed by the next one, and no other", function()
    support.with_folder(function(folder)
      support.write(folder .. "/slow", '#!/bin/sh\ncase "$*" in *unit.so*) kill -9 $PPID;; esac\nexec c++ "$@"\n')
      os.execute(("chmod +x '%s/slow'; mkdir '%s/tmp' '%s/tmp/moonwarp-unit-mine00'"):format(folder, folder, folder))
      support.write(folder .. "/tmp/moonwarp-unit-mine00/work", "mine")
      local function compile(compiler)
        return support.child(KERNEL, { env = { MOONWARP_CACHE = folder .. "/cache", MOONWARP_CXX = compiler,
          TMPDIR = folder .. "/tmp" } })
      end
      local function folders()
        local pipe <close> = assert(io.popen(("cd '%s/tmp' && ls -d moonwarp-unit-*"):format(folder)))
        return select(2, pipe:read "a":gsub("\n", ""))
      end
      assert.are.equal(137, (compile(folder .. "/slow")))
      assert.are.equal(2, folders())
      local status, output = compile "c++"
      assert.are.equal(0, status, output)
      assert.are.equal(1, folders())
      assert.are.equal("mine", support.read(folder .. "/tmp/moonwarp-unit-mine00/work"))
    end)
  end)
end)
