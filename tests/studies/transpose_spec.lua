-- SPDX-License-Identifier: MIT
--
-- The study transpose: its bank conflicts.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=128 "
local RUNGS <const> = {
  "library copy", "copy, in blocks", "rows to columns", "columns to rows", "a tile", "a tile, padded",
  "a tile, swizzled", "16 bytes, tiles of 128 B", "16 bytes, tiles of 256 B", "16 bytes, along B's rows",
  "16 bytes, 256 x 512 B", "copy, pieces of 512 B",
}

-- What a study says of its rungs in the first part, by name.
local function by_rung(run)
  local found, names = {}, {}
  for _, r in ipairs(run.record.records) do
    if r.group == "ladder" and not found[r.rung] then found[r.rung], names[#names + 1] = r, r.rung end
  end
  return found, names
end

describe("the study transpose", function()
  if not support.program() then return pending "needs the program" end

  it("runs all of its rungs, and counts their bank conflicts", function()
    local run = support.study_passes("transpose", QUICK .. "-p types=f32")
    local found, names = by_rung(run)
    assert.are.same(RUNGS, names)
    for i, rung in ipairs(RUNGS) do
      local one = found[rung]
      local is_tile = i >= 5 and i <= 7
      assert.are.equal(is_tile and 0 or nil, one.shared_store_conflicts_per_request, rung)
      assert.are.equal(is_tile and (i == 5 and 31 or 0) or nil, one.shared_load_conflicts_per_request, rung)
      assert.are.equal(2 * one.bytes, one.t.bytes)
    end
    support.has_checks(run, { "rows to columns, block 8 x 32, nx = 67, ny = 33, f32",
                              "16 bytes, 256 x 512 B, nx = 132, ny = 268, f32",
                              "copy, pieces of 512 B, nx = 384, ny = 33, f32",
                              "16 bytes, along B's rows, nx = 127, ny = 127, f32, beside 'rows to columns'" })
  end)

  it("has half the conflicts in f64, whose accesses go by half warps", function()
    local found = by_rung(support.study_passes("transpose", QUICK .. "-p types=f64 -p parts=ladder -p rungs=5,6"))
    assert.are.equal(30, found["a tile"].shared_load_conflicts_per_request) -- 32 passes, where 2 are needed
    assert.are.equal(4 / 34, found["a tile"].shared_efficiency)
    assert.are.equal(0, found["a tile, padded"].shared_load_conflicts_per_request)
  end)
end)
