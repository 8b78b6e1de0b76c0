-- SPDX-License-Identifier: MIT
--
-- The cache of compiled code as a script sees it. Each test has a folder of its own, so it works in child processes.

local support = require "tests.support"

local SOURCE = '#include "n.cuh"\n__global__ void k(int *x) { x[0] = N; }\n'

-- A child that compiles k.cu of the folder for the device and prints from_cache and what the kernel writes.
local BODY = [[
  local mw = require "moonwarp"
  local core = require "moonwarp.core"
  local dev = mw.device(%q)
  local x = dev:zeros("i32", 1)
  local function compile(options)
    options.file = %q
    local m = dev:module(options)
    m.k:launch(1, 1, x)
    print(m:from_cache(), x:get(1))
    return m
  end
  local before = core.cache_stat()
  compile(%s)
  local after = core.cache_stat()
  assert(after.hits + after.misses > before.hits + before.misses)
]]

for _, dev in ipairs(support.devices()) do
  local id = dev:id()

  local function compile(folder, options, env)
    local code = BODY:format(id, folder .. "/k.cu", options or "{}")
    env = env or {}
    env.MOONWARP_CACHE = env.MOONWARP_CACHE or folder .. "/cache"
    return support.child_passes(code, { env = env })
  end

  local function with_source(body)
    support.with_folder(function(folder)
      support.write(folder .. "/k.cu", SOURCE)
      support.write(folder .. "/n.cuh", "#define N 1\n")
      body(folder)
    end)
  end

  describe("the cache on " .. id, function()
    it("gives the second process what the first compiled", function()
      with_source(function(folder)
        assert.are.equal("false\t1\n", compile(folder))
        assert.are.equal("true\t1\n", compile(folder))
      end)
    end)

    it("notices a changed header, source and option", function()
      with_source(function(folder)
        compile(folder)
        support.write(folder .. "/n.cuh", "#define N 2\n")
        assert.are.equal("false\t2\n", compile(folder))
        assert.are.equal("true\t2\n", compile(folder))
        support.write(folder .. "/k.cu", SOURCE:gsub("N;", "N + 10;"))
        assert.are.equal("false\t12\n", compile(folder))
        assert.are.equal("false\t12\n", compile(folder, "{ fast_math = true }"))
        assert.are.equal("false\t12\n", compile(folder, "{ defines = { A = 1 } }"))
        assert.are.equal("false\t12\n", compile(folder, "{ defines = { A = 2 } }"))
        assert.are.equal("true\t12\n", compile(folder, "{ defines = { A = 1 } }"))
        support.write(folder .. "/n.cuh", "#define N 1\n")
        support.write(folder .. "/k.cu", SOURCE)
        assert.are.equal("true\t1\n", compile(folder))
      end)
    end)

    it("is passed by when told so", function()
      with_source(function(folder)
        compile(folder)
        local code = BODY:format(id, folder .. "/k.cu", "{ cache = false }"):gsub("assert%b()", "")
        local output = support.child_passes(code, { env = { MOONWARP_CACHE = folder .. "/cache" } })
        assert.are.equal("false\t1\n", output)
      end)
    end)

    it("rebuilds corrupt, cut and empty entries", function()
      with_source(function(folder)
        compile(folder)
        local function spoil(how)
          for _, path in ipairs(support.files(folder .. "/cache")) do
            local text = support.read(path)
            if #text > 256 then support.write(path, how(text)) end
          end
          assert.are.equal("false\t1\n", compile(folder))
          assert.are.equal("true\t1\n", compile(folder))
        end
        spoil(function(text) return text:sub(1, #text // 2) end)
        spoil(function(text)
          local middle = #text // 2
          return text:sub(1, middle - 1) .. string.char(text:byte(middle) ~ 255) .. text:sub(middle + 1)
        end)
        spoil(function() return "" end)
        spoil(function(text) return ("\0"):rep(#text) end)
      end)
    end)

    it("that cannot be written is a warning, not a failure", function()
      with_source(function(folder)
        support.write(folder .. "/file", "")
        local code = BODY:format(id, folder .. "/k.cu", "{}"):gsub("assert%b()", "")
        local output = support.child_passes(code, { env = { MOONWARP_CACHE = folder .. "/file/cache" } })
        assert.is_truthy(output:find("false\t1\n", 1, true), output)
        local _, warnings = output:gsub("warning: compiled code is not cached", "")
        assert.are.equal(1, warnings, output)
      end)
    end)

    it("is shared by processes that run at once", function()
      with_source(function(folder)
        local code = BODY:format(id, folder .. "/k.cu", "{}")
        support.write(folder .. "/child.lua", code)
        local lua = os.getenv "MOONWARP_TEST_LUA" or "lua5.4"
        local one = ("MOONWARP_CACHE='%s/cache' %s '%s/child.lua' 2>&1"):format(folder, lua, folder)
        local pipe = assert(io.popen(("(%s) & (%s) & (%s) & wait"):format(one, one, one)))
        local output = pipe:read "a"
        pipe:close()
        local right = 0
        for line in output:gmatch "[^\n]+" do
          assert.is_truthy(line == "true\t1" or line == "false\t1", output)
          right = right + 1
        end
        assert.are.equal(3, right)
        assert.are.equal("true\t1\n", compile(folder))
        for _, path in ipairs(support.files(folder .. "/cache")) do
          assert.is_falsy(path:sub(#folder):find "tmp", path .. " was left behind")
        end
      end)
    end)

    it("is private, counted and cleared", function()
      with_source(function(folder)
        compile(folder)
        local output = support.child_passes([[
          local core = require "moonwarp.core"
          local stat = core.cache_stat()
          print(stat.folder, stat.entries > 0, stat.bytes > 0, stat.bytes <= stat.bound, stat.problem)
          print(core.cache_clear() > 0)
          stat = core.cache_stat()
          print(stat.entries, stat.bytes, stat.hits, stat.misses)
          local pipe = io.popen("stat -c %a '" .. stat.folder .. "'")
          print(pipe:read "l")
        ]], { env = { MOONWARP_CACHE = folder .. "/cache" } })
        assert.are.equal(folder .. "/cache\ttrue\ttrue\ttrue\tnil\ntrue\n0\t0\t0\t0\n700\n", output)
        assert.are.equal("false\t1\n", compile(folder))
      end)
    end)
  end)
end

-- A child that compiles kernels number `from` to `to` on the CPU device and checks what they write.
local MANY = [[
  local mw = require "moonwarp"
  local dev = mw.device "cpu"
  local x = dev:zeros("i32", 1)
  for i = %d, %d do
    local m <close> = dev:module { source = ("__global__ void k(int *x) { x[0] = %%d; }"):format(i) }
    m.k:launch(1, 1, x)
    assert(x:get(1) == i)
  end
]]

local STAT = [[
  local stat = require "moonwarp.core".cache_stat()
  print(stat.hits, stat.misses, stat.bytes, stat.bound, stat.folder)
]]

describe("the cache", function()
  local function stat(env)
    local hits, misses, bytes, bound, folder = support.child_passes(STAT, { env = env })
      :match "^(%d+)\t(%d+)\t(%d+)\t(%d+)\t([^\n]*)"
    return { hits = tonumber(hits), misses = tonumber(misses), bytes = tonumber(bytes), bound = tonumber(bound),
      folder = folder }
  end

  it("stays within its bound while several processes fill it", function()
    support.with_folder(function(folder)
      local lua, children = os.getenv "MOONWARP_TEST_LUA" or "lua5.4", {}
      for i = 0, 2 do
        local script = ("%s/%d.lua"):format(folder, i)
        support.write(script, MANY:format(8 * i + 1, 8 * i + 14))
        children[#children + 1] = ("(MOONWARP_CACHE='%s/cache' MOONWARP_CACHE_MAX=200000 %s '%s' 2>&1)"):format(folder,
          lua, script)
      end
      local pipe = assert(io.popen(table.concat(children, " & ") .. " & wait"))
      assert.are.equal("", pipe:read "a")
      pipe:close()
      local env = { MOONWARP_CACHE = folder .. "/cache", MOONWARP_CACHE_MAX = 200000 }
      local seen = stat(env)
      assert.is_true(seen.bytes > 50000 and seen.bytes <= 200000, ("%d bytes"):format(seen.bytes))
      assert.are.equal(200000, seen.bound)
      -- what was used last is still there
      support.child_passes(MANY:format(30, 30), { env = env })
      local before = stat(env)
      support.child_passes(MANY:format(30, 30), { env = env })
      local after = stat(env)
      assert.is_true(after.hits > before.hits)
      assert.are.equal(before.misses, after.misses)
    end)
  end)

  it("counts anew where its counters are damaged", function()
    support.with_folder(function(folder)
      local env = { MOONWARP_CACHE = folder .. "/cache" }
      support.child_passes(MANY:format(1, 2), { env = env })
      local right = stat(env)
      assert.is_true(right.misses > 0)
      for _, damage in ipairs { ("\255"):rep(24), "garbage", "", ("x"):rep(24), ("\0"):rep(100) } do
        support.write(folder .. "/cache/counters-1", damage)
        local seen = stat(env)
        assert.are.same({ 0, 0, right.bytes }, { seen.hits, seen.misses, seen.bytes })
      end
      support.child_passes(MANY:format(1, 2), { env = env })
      local later = stat(env)
      assert.is_true(later.hits > 0 and later.hits < 100)
      assert.are.equal(0, later.misses)
    end)
  end)

  it("ignores an XDG_CACHE_HOME that is not absolute", function()
    support.with_folder(function(folder)
      local env = { MOONWARP_CACHE = "", XDG_CACHE_HOME = "relative", HOME = folder }
      assert.are.equal(folder .. "/.cache/moonwarp", stat(env).folder)
      env.XDG_CACHE_HOME = folder .. "/xdg"
      assert.are.equal(folder .. "/xdg/moonwarp", stat(env).folder)
    end)
  end)
end)

describe("a compilation that is killed", function()
  it("leaves a folder that the next one removes", function()
    support.with_folder(function(folder)
      support.write(folder .. "/slow", '#!/bin/sh\ncase "$*" in *unit.so*) kill -9 $PPID;; esac\nexec c++ "$@"\n')
      os.execute(("chmod +x '%s/slow'; mkdir '%s/tmp' '%s/tmp/moonwarp-unit-mine00'"):format(folder, folder, folder))
      support.write(folder .. "/tmp/moonwarp-unit-mine00/work", "mine")
      local function compile(compiler)
        return support.child(MANY:format(1, 1), { env = { MOONWARP_CACHE = folder .. "/cache", MOONWARP_CXX = compiler,
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
