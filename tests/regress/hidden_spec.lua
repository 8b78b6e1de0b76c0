-- SPDX-License-Identifier: MIT
--
-- A source used to be able to switch check mode off, by no_sanitize and its like, or to keep accesses from it: by types
-- and functions of the compilers, by what libm writes through pointers, by inline PTX, and by names of moonwarp's own.
-- hidden/kernels.lua has kernels that hide a mistake: each is found or refused. hidden/legal.lua has what is taken: it
-- runs, and is judged. Here some of both, by one compiler; all by each in `make stress`.

local labs = require "tests.support.labs"
local support = require "tests.support"
local core = support.core

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

local COMPILERS <const> = support.whole and { "clang++", "g++" } or { there "clang++" and "clang++" or "g++" }
local EVERY <const> = support.whole and 1 or 12

-- The last line says how many of the cases are as wanted; a cache of its own, as its entries go by the compiler's path.
local function run(compiler, kind)
  local script = core.home() .. "/tests/regress/hidden/hidden_kernels.lua"
  local output
  support.with_folder(function(folder)
    output = support.child_passes(("arg = { %q, 'every=%d' }\ndofile(%q)\n"):format(kind, EVERY, script),
      { limit = 400, env = { MOONWARP_CXX = compiler, MOONWARP_CACHE = folder } })
  end)
  return output
end

describe("check mode", function()
  for _, compiler in ipairs(COMPILERS) do
    local test = there(compiler) and it or pending
    for kind, does in pairs { kernels = "finds or refuses what a kernel hides", legal = "judges what hides nothing" } do
      test(does .. ", with " .. compiler, function()
        local output = run(compiler, kind)
        local right, all = output:match "(%d+) of (%d+) as wanted"
        assert.is_true(right ~= nil and right == all and tonumber(all) > 100 // EVERY, output:sub(-8000))
      end)
    end
  end
end)

describe("a lab with check = true", function()
  local SCRIPT = [[
    local dev = mw.device()
    local m = dev:module { name = "k.cu",
      source = '__attribute__((no_sanitize("thread"))) __global__ void f(int *a) { a[0] += threadIdx.x; }' }
    m.f:launch(1, 64, dev:zeros("i32", 1))
    mw.check(dev:zeros("f32", 1), 0)]]

  it("cannot switch check mode off by its kernel", function()
    labs.with({ { "judged", "check = true", SCRIPT }, { "timed", "check = false", SCRIPT } }, function(_, batch)
      local _, output, result = batch()
      local rows = {}
      for _, row in ipairs(result.labs) do rows[row.id] = row end
      assert.are.equal("skipped passed", rows["judged-cpu"].verdict .. " " .. rows["timed-cpu"].verdict, output)
      local message = rows["judged-cpu-check"].message
      local wanted = "k.cu:1: check mode does not know that the attribute 'no_sanitize'"
      assert.is_truthy(message:find(wanted, 1, true), message)
    end)
  end)
end)
