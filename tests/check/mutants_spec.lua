-- SPDX-License-Identifier: MIT
--
-- Mutants of the project's kernels, one of each kind, as tests/check/mutant_score.lua judges all of them; in
-- `make stress`, but for their list.

local judge = require "tests.check.judge"
local mutants = require "tests.check.mutants"
local support = require "tests.support"

-- The first of a kind in a file whose line, as it was, has the text.
local function mutant_of(kind, file, text)
  for _, mutant in ipairs(mutants.list(true)) do
    if mutant.kind == kind and mutant.file == file and mutant.before:find(text, 1, true) then return mutant end
  end
  error(("no mutant '%s' of '%s' in %s"):format(kind, text, file))
end

local FOUND <const> = {
  { "barrier removed", "scan.cu", "__syncthreads();" },
  { "barrier for a warp", "scan.cu", "__syncthreads();" },
  { "atomic made plain", "scan.cu", "atomicAdd(ticket, 1u)" },
  { "bound loosened", "scan.cu", "if (i < n) y[i] = sum;" },
  { "index shifted", "scan.cu", "i < n ? x[i] : (T)0, part" },
  { "fence removed", "reduce.cu", "__threadfence();" },
  { "fence of the block", "reduce.cu", "__threadfence();" },
}

-- The second barrier of scan_of_block: those of its callers are enough.
local function needless()
  for _, mutant in ipairs(mutants.list(true)) do
    if mutant.file == "scan.cu" and mutant.text:find("\n  ;\n  return before + value;", 1, true) then return mutant end
  end
end

describe("mutants of the kernels", function()
  it("are at least 150, and all are different", function()
    local seen, count = {}, 0
    for _, mutant in ipairs(mutants.list()) do
      assert.is_nil(seen[mutant.text])
      seen[mutant.text], count = true, count + 1
    end
    assert.is_true(count >= 150)
  end)

  if not support.whole then return end

  for _, one in ipairs(FOUND) do
    it(("are found: %s in %s"):format(one[1], one[2]), function()
      support.with_folder(function(folder)
        judge.open(folder)
        assert.is_truthy(judge.check(mutant_of(table.unpack(one))):find "^found ")
      end)
    end)
  end

  it("are equivalent where all threads access memory alike", function()
    if os.getenv "SANITIZED" then return end -- the digest is of addresses, which the sanitizer changes
    support.with_folder(function(folder)
      judge.open(folder)
      local mutant = needless()
      assert.are.equal("none", judge.check(mutant))
      assert.is_true(judge.is_equivalent(mutant))
      assert.is_false(judge.is_equivalent(mutant_of(table.unpack(FOUND[5]))))
    end)
  end)
end)
