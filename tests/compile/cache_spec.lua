-- SPDX-License-Identifier: MIT
--
-- The cache of compiled code as a script sees it. Each test has a folder of its own, so it works in child processes.
-- What it does with bytes, however damaged, is in c/test_cache.c.

local support = require "tests.support"

local SOURCE = '#include "n.cuh"\n__global__ void k(int *x) { x[0] = N; }\n'

-- A child that compiles k.cu of the folder for the device and prints from_cache and what the kernel writes.
local BODY = [[
  local mw = require "moonwarp"
  local dev = mw.device(%q)
  local x = dev:zeros("i32", 1)
  local function compile(options)
    options.file = %q
    local m = dev:module(options)
    m.k:launch(1, 1, x)
    print(m:from_cache(), x:get(1))
  end
]]

for _, dev in ipairs(support.devices()) do
  local id = dev:id()

  -- Compiles in one process, once with each of the options; returns what was printed.
  local function compile(folder, cache, ...)
    local lines = { BODY:format(id, folder .. "/k.cu") }
    for _, options in ipairs(select("#", ...) > 0 and { ... } or { "{}" }) do
      lines[#lines + 1] = ("compile(%s)"):format(options)
    end
    return support.child_passes(table.concat(lines, "\n"), { env = { MOONWARP_CACHE = folder .. cache } })
  end

  local function with_source(body)
    support.with_folder(function(folder)
      support.write(folder .. "/k.cu", SOURCE)
      support.write(folder .. "/n.cuh", "#define N 1\n")
      body(folder)
    end)
  end

  describe("the cache on " .. id, function()
    it("gives the second process what the first compiled, unless source, header or option changed", function()
      with_source(function(folder)
        assert.are.equal("false\t1\n", compile(folder, "/cache"))
        assert.are.equal("true\t1\n", compile(folder, "/cache"))
        support.write(folder .. "/n.cuh", "#define N 2\n")
        assert.are.equal("false\t2\ntrue\t2\nfalse\t2\ntrue\t2\n", compile(folder, "/cache", "{}", "{}",
          "{ defines = { A = 1 } }", "{ defines = { A = 1 } }"))
        support.write(folder .. "/k.cu", SOURCE:gsub("N;", "N + 10;"))
        assert.are.equal("false\t12\n", compile(folder, "/cache"))
        support.write(folder .. "/n.cuh", "#define N 1\n")
        support.write(folder .. "/k.cu", SOURCE)
        assert.are.equal("true\t1\n", compile(folder, "/cache"))
      end)
    end)

    it("is passed by when told so", function()
      with_source(function(folder)
        assert.are.equal("false\t1\nfalse\t1\n", compile(folder, "/cache", "{}", "{ cache = false }"))
      end)
    end)

    it("rebuilds damaged entries", function()
      with_source(function(folder)
        compile(folder, "/cache")
        for _, path in ipairs(support.files(folder .. "/cache")) do
          local text = support.read(path)
          if #text > 256 then support.write(path, text:sub(1, #text // 2)) end
        end
        assert.are.equal("false\t1\ntrue\t1\n", compile(folder, "/cache", "{}", "{}"))
      end)
    end)

    it("that cannot be written is a warning, not a failure", function()
      with_source(function(folder)
        support.write(folder .. "/file", "")
        local output = compile(folder, "/file/cache")
        assert.is_truthy(output:find("false\t1\n", 1, true), output)
        local _, warnings = output:gsub("warning: compiled code is not cached", "")
        assert.are.equal(1, warnings, output)
      end)
    end)

    it("is shared by processes that run at once, private, counted and cleared", function()
      with_source(function(folder)
        support.write(folder .. "/child.lua", BODY:format(id, folder .. "/k.cu") .. "compile {}")
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
        assert.are.equal("true\t1\n", compile(folder, "/cache"))
        for _, path in ipairs(support.files(folder .. "/cache")) do
          assert.is_falsy(path:sub(#folder):find "tmp", path .. " was left behind")
        end
        output = support.child_passes([[
          local core = require "moonwarp.core"
          local stat = core.cache_stat()
          print(stat.folder, stat.entries > 0, stat.bytes > 0, stat.bytes <= stat.bound, stat.problem)
          print(stat.hits > 0, stat.misses > 0)
          print(core.cache_clear() > 0)
          stat = core.cache_stat()
          print(stat.entries, stat.bytes, stat.hits, stat.misses)
          local pipe = io.popen("stat -c %a '" .. stat.folder .. "'")
          print(pipe:read "l")
        ]], { env = { MOONWARP_CACHE = folder .. "/cache" } })
        assert.are.equal(folder .. "/cache\ttrue\ttrue\ttrue\tnil\ntrue\ttrue\ntrue\n0\t0\t0\t0\n700\n", output)
      end)
    end)
  end)
end

-- Kernels number `from` to `to` on the CPU device, and what they write; then what the cache holds.
local MANY = [[
  local mw = require "moonwarp"
  local core = require "moonwarp.core"
  local dev = mw.device "cpu"
  local x = dev:zeros("i32", 1)
  for i = %d, %d do
    local m <close> = dev:module { source = ("__global__ void k(int *x) { x[0] = %%d; }"):format(i) }
    m.k:launch(1, 1, x)
    assert(x:get(1) == i)
  end
  local stat = core.cache_stat()
  print(stat.bytes, stat.bound, stat.entries)
]]

describe("the cache", function()
  it("stays within its bound and keeps what was used last", function()
    support.with_folder(function(folder)
      local bound <const> = 60000 -- two kernels and a half, and the macros of a compiler
      local env = { MOONWARP_CACHE = folder .. "/cache", MOONWARP_CACHE_MAX = bound }
      local output = support.child_passes(MANY:format(1, 5), { env = env })
      local bytes, told = output:match "^(%d+)\t(%d+)\t%d+\n$"
      assert.are.equal(bound, tonumber(told))
      assert.is_true(tonumber(bytes) > bound / 4 and tonumber(bytes) <= bound, output)
      local hits = [[
        local core = require "moonwarp.core"
        local before = core.cache_stat()
        %s
        local after = core.cache_stat()
        print(after.hits > before.hits, after.misses - before.misses)]]
      output = support.child_passes(hits:format(MANY:format(5, 5)), { env = env })
      assert.is_truthy(output:find("true\t0\n", 1, true), output)
    end)
  end)
end)
