-- SPDX-License-Identifier: MIT
--
-- Dynamic symbols: the module and the program export Lua's names and none of their own, the program also the calls that
-- compiled CUDA programs make.

local support = require "tests.support"

-- The names a file exports, in order. Versioned ones are the C library's variables, such as stdout@GLIBC_2.2.5, which
-- the linker copies into a program.
local function exported(file)
  local pipe = assert(io.popen(("LC_ALL=C nm -D --defined-only '%s' 2>&1"):format(file)))
  local names = {}
  for line in pipe:lines() do
    local name = line:match "^%x+ %a (%S+)$" or line
    if not name:find "@GLIBC" then names[#names + 1] = name end
  end
  pipe:close()
  return names
end

-- What core/runtime is to a CUDA program's host part: cudaMalloc is moonwarp_cudaMalloc, abort is wrapped.
local function is_runtime(name) return name:find "^moonwarp_" or name:find "^__wrap_" end

local function is_lua(name) return name:find "^lua_" or name:find "^luaL_" or name:find "^luaopen_" end

local function lacks_nm() return not os.execute "command -v nm >/dev/null" end

describe("dynamic symbols", function()
  it("of the module are its two openers", function()
    local module = package.searchpath("moonwarp", package.cpath)
    if not module then pending "the module is not built" end
    if lacks_nm() then pending "needs nm" end
    assert.are.equal("luaopen_moonwarp luaopen_moonwarp_core", table.concat(exported(module), " "))
  end)

  it("of the program are Lua's API", function()
    local program = support.program()
    if not program then pending "needs the program" end
    if lacks_nm() then pending "needs nm" end
    local names, openers, others = exported(program), {}, {}
    for _, name in ipairs(names) do
      if name:find "^luaopen_moonwarp" then openers[#openers + 1] = name end
      if not is_lua(name) and not is_runtime(name) then others[#others + 1] = name end
    end
    assert.are.equal("", table.concat(others, " "))
    assert.are.equal("luaopen_moonwarp luaopen_moonwarp_core", table.concat(openers, " "))
  end)

  it("of the program are what a C module needs", function()
    local program = support.program()
    if not program then pending "needs the program" end
    local status, output = support.child("assert(require 'lfs')", { lua = ("'%s' run"):format(program) })
    assert.are.equal(0, status, output)
  end)
end)
