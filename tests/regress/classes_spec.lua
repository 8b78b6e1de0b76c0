-- SPDX-License-Identifier: MIT
--
-- Kernels of plain C++ used to compute wrong numbers without a word: what reads the thread's index, or changes a
-- variable, in a constructor, an operator, a conversion or behind a reference was taken for the same in all threads.
--
-- Here kernels are compiled without optimisation, each case in one of three frames, and some kernels share a module.
-- tests/stress/classes_stress.lua runs every case in every frame, alone and as users do, by each engine and compiler.

local probes = require "tests.regress.classes.probes"

-- Kernels of language.lua, one for each case, that run by an engine that is not slow.
local SPLIT, LOOP = 59, 33

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

local COMPILER = there "clang++" and "clang++" or "g++"

local function is_right(output)
  local sums = 0
  for wrong, broken in output:gmatch "(%d+) wrong of %d+ cases, (%d+) broken" do
    assert.is_true(tonumber(wrong) == 0 and tonumber(broken) == 0, output:sub(-8000))
    sums = sums + 1
  end
  assert.are.equal(#probes.FILES, sums)
end

describe("plain C++ has the right values", function()
  it("by engines that are no slower than need be, with " .. COMPILER, function()
    local output = probes.run(COMPILER, "--brief --sample --engines auto --frames plain,barriers,turning --per 8")
    is_right(output)
    local split, loop = output:match "language by auto:[^\n]- (%d+) split, (%d+) loop"
    assert.is_true(tonumber(split) >= SPLIT and tonumber(loop) >= LOOP, output:sub(-1000))
  end)
end)
