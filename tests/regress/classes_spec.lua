-- SPDX-License-Identifier: MIT
--
-- Kernels of plain C++ used to compute wrong numbers without a word: what reads the thread's index, or changes a
-- variable, in a constructor, an operator, a conversion or behind a reference was taken for the same in all threads.
--
-- Here kernels are compiled without optimisation, in three of four frames, of which each compiler takes some; the two
-- of a case share a module, and by fibers 40 kernels do. That takes about 90 s of a core for each compiler.
-- tests/stress/classes_stress.lua runs every kernel in every frame, alone and as users do, by each compiler.

local run = require("tests.regress.classes.probes").run

-- Engines of the first file's 240 kernels: fibers for all would be right, and slow. What a pointer to a data member
-- names is not known: it takes fibers.
local SPLIT, LOOP = 108, 114

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

local COMPILERS = {}
for _, compiler in ipairs { "clang++", "g++" } do
  if there(compiler) then COMPILERS[#COMPILERS + 1] = compiler end
end
local FIRST, SECOND = COMPILERS[1], COMPILERS[2] or COMPILERS[1]

local function is_right(output)
  local sums = 0
  for wrong, broken in output:gmatch "(%d+) wrong of %d+ cases, (%d+) broken" do
    assert.is_true(tonumber(wrong) == 0 and tonumber(broken) == 0, output:sub(-8000))
    sums = sums + 1
  end
  assert.are.equal(7, sums)
end

describe("plain C++ has the right values", function()
  it("in a kernel, by engines that are no slower than need be, with " .. FIRST, function()
    local output = run(FIRST, "--brief --engines auto --frames plain,barriers --per case")
    is_right(output)
    local split, loop = output:match "first by auto:[^\n]- (%d+) split, (%d+) loop"
    assert.is_true(tonumber(split) >= SPLIT and tonumber(loop) >= LOOP, output:sub(-1000))
  end)

  it("in a function with barriers, with " .. SECOND, function()
    is_right(run(SECOND, "--brief --engines auto --frames turning"))
  end)

  for _, compiler in ipairs(COMPILERS) do
    it("by fibers, with " .. compiler, function()
      is_right(run(compiler, "--brief --engines fiber --per 40"))
    end)
  end
end)
