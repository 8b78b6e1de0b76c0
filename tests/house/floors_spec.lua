-- SPDX-License-Identifier: MIT
--
-- The floors of core/ and lua/ (.make/floors.lua, .make/requires.lua): a circle of files or folders is found in
-- compiled symbols and in requires, and named.

local support = require "tests.support"
local core = support.core

local CC = os.getenv "CC" or "cc"
local LUA = os.getenv "STOCK_LUA" or "lua5.4"

local has_tools = require("lfs").attributes(core.home() .. "/.make/floors.lua") ~= nil
for _, tool in ipairs { "nm", CC, LUA:match "%S+$" } do
  has_tools = has_tools and os.execute(("command -v %s >/dev/null"):format(tool))
end

-- Compiles sources by path and runs the tool on them: its status and what it printed.
local function floors_of(sources, environment)
  local pipe = assert(io.popen "mktemp -d")
  local folder = pipe:read "l"
  pipe:close()
  for path, text in pairs(sources) do
    local object = "build/obj/" .. path:gsub("c$", "o")
    os.execute(("cd '%s' && mkdir -p $(dirname %s) $(dirname %s)"):format(folder, path, object))
    local file <close> = assert(io.open(folder .. "/" .. path, "w"))
    file:write(text)
    file:flush()
    assert(path:find "%.lua$" or os.execute(("cd '%s' && %s -c -o %s %s"):format(folder, CC, object, path)))
  end
  pipe = assert(io.popen(("cd '%s' && %s %s '%s/.make/floors.lua' build --print 2>&1; echo status $?"):format(
    folder, environment or "", LUA, core.home())))
  local output = pipe:read "a"
  pipe:close()
  os.execute(("rm -r '%s'"):format(folder))
  return math.tointeger(output:match "status (%d+)\n$"), output
end

describe("floors", function()
  if not has_tools then
    pending "they need nm, a C compiler, a stock interpreter and the sources"
    return
  end

  it("are the levels of files that stand on each other", function()
    local status, output = floors_of {
      ["core/low/a.c"] = "int a(void) { return 1; }\n",
      ["core/low/b.c"] = "int a(void);\nint b(void) { return a(); }\n",
      ["core/high/c.c"] = "int b(void);\nint printf(const char *, ...);\nint c(void) { return printf(\"\") + b(); }\n",
    }
    assert.are.equal(0, status, output)
    assert.are.equal(" 3  high/c.c\n 2  low/b.c\n 1  low/a.c\n 2  high\n 1  low\nstatus 0\n", output)
  end)

  it("name files that reach each other, and by what", function()
    local status, output = floors_of {
      ["core/x/a.c"] = "int b(void);\nint a(void) { return b(); }\n",
      ["core/x/b.c"] = "__attribute__((weak)) int c(void);\nint b(void) { return c(); }\n",
      ["core/x/c.c"] = "int a(void);\nint c(void) { return a(); }\n",
    }
    assert.are.equal(1, status, output)
    assert.is_truthy(output:find("3 files reach each other:\n  core/x/a.c -> core/x/b.c: b\n"
      .. "  core/x/b.c -> core/x/c.c: c\n  core/x/c.c -> core/x/a.c: a\n", 1, true), output)
  end)

  it("are not told without nm", function()
    local status, output = floors_of({ ["core/x/a.c"] = "int a;\n" }, "NM=/nowhere/nm")
    assert.are.equal(1, status, output)
    assert.is_truthy(output:find("nm does not run", 1, true), output)
  end)

  it("name folders that reach each other, of files that do not", function()
    local status, output = floors_of {
      ["core/x/a.c"] = "int b(void);\nint a(void) { return b(); }\n",
      ["core/y/b.c"] = "int b(void) { return 1; }\nint d;\n",
      ["core/y/c.c"] = "extern int e;\nint c(void) { return e; }\n",
      ["core/x/e.c"] = "int e = 2;\n",
    }
    assert.are.equal(1, status, output)
    assert.is_truthy(output:find("2 folders reach each other:\n  core/x -> core/y: b\n  core/y -> core/x: e\n", 1,
      true), output)
    assert.is_nil(output:find("files reach", 1, true))
  end)

  local function of_lua(sources)
    local all = { ["core/low/a.c"] = "int a;\n" }
    for file, text in pairs(sources) do all["lua/moonwarp/" .. file] = text end
    local _, output = floors_of(all)
    return output
  end

  it("are those of what Lua's files require, inside functions and in pieces too", function()
    local output = of_lua {
      ["base/a.lua"] = "-- require \"moonwarp.base.b\"\nreturn [[require 'moonwarp.base.b']]\n",
      ["base/b.lua"] = "local a = require('moonwarp.base.a')\n",
      ["lab/c.lua"] = "return function(name) return require(\"moonwarp.base.\" .. name) end\n",
      ["blas.lua"] = "pcall(require, 'moonwarp.base.b')\n",
    }
    assert.is_truthy(output:find(" 3  blas lab/c\n 2  base/b\n 1  base/a\n 2  blas lab\n 1  base\n", 1, true), output)
    assert.is_nil(output:find("reach each other", 1, true))
    assert.is_nil(output:find("against the order", 1, true))
  end)

  it("name files of Lua that reach each other, and requires against the order", function()
    local output = of_lua {
      ["base/a.lua"] = "return function() return require 'moonwarp.base.b' end\n",
      ["base/b.lua"] = "local a = require 'moonwarp.base.a'\nlocal c = require \"moonwarp.lab.c\"\n",
      ["lab/c.lua"] = "return require('moonwarp.session') . current\n",
      ["session.lua"] = "return {}\n",
      ["odd/d.lua"] = "local session = {}\nsession.current = {}\n",
    }
    assert.is_truthy(output:find("against the order of .make/requires.lua:\n  base/b -> lab/c\n"
      .. "  lab/c: session.current\n  odd/d: is on no floor\n  odd/d: session.current\n", 1, true), output)
    assert.is_truthy(output:find("2 files reach each other:\n  base/a -> base/b: require\n", 1, true), output)
  end)
end)
