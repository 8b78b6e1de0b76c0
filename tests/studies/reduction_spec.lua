-- SPDX-License-Identifier: MIT
--
-- The study reduction: what it measures, checks and leaves. Its kernels: cpu/reduction_kernels_spec.lua.

local support = require "tests.support"

local FEW = "--device cpu -p per=4 -p per_once=2 -p repeats=2 "
local QUICK = FEW .. "-p n=20011 "
local TREES = { "reduce_tree", "reduce_strided", "reduce_dynamic", "reduce_last_warp", "reduce_down",
                "reduce_butterfly", "reduce_shuffle" }
local JOINS = { "host", "second launch", "atomic", "compare and swap", "lock", "last block", "16 bytes, last block",
                "integers" }

-- The rungs of each part and the charts of a run, in order, each once.
local function parts_of(record)
  local parts, seen, charts = {}, {}, {}
  for _, r in ipairs(record.records) do
    local list = parts[r.group] or {}
    parts[r.group] = list
    if r.number and not seen[r.group .. r.rung] then list[#list + 1] = r.rung end
    seen[r.group .. r.rung] = true
  end
  for i, chart in ipairs(record.charts) do charts[i] = chart.name end
  return parts, charts
end

local function records_where(record, fields)
  local list = {}
  for _, r in ipairs(record.records) do
    local fits = true
    for name, value in pairs(fields) do fits = fits and r[name] == value end
    if fits then list[#list + 1] = r end
  end
  return list
end

describe("the study reduction", function()
  if not support.program() then return pending "needs the program" end

  it("measures, checks and shows all of its rungs", function()
    local run = support.study_passes("reduction", QUICK .. "-p types=f32 -p ops=sum,length,dot")
    local parts, charts = parts_of(run.record)
    assert.are.same({ tree = TREES, grid = JOINS,
      threads = { "reduce_dynamic", "reduce_butterfly", "reduce_shuffle", "16 bytes, last block" },
      blocks = { "atomic", "lock", "last block", "16 bytes, last block" },
      size = { "host", "second launch", "atomic", "lock", "last block", "16 bytes, last block" } }, parts)
    assert.are.same({ "reduction-tree-one-element-per-thread", "reduction-tree-4-blocks-per-multiprocessor",
                      "reduction-grid-f32", "reduction-threads", "reduction-blocks", "reduction-size" }, charts)
    support.has_checks(run, { "reduce_dynamic, blocks = 37, n = 100003, sum, threads = 97, f32",
        "reduce_down, blocks = 37, n = 100003, sum, threads = 96, f32", "lock, blocks = 37, n = 100003, length, f32",
        "last block, n = 33, sum, f32: its lock or ticket", "16 bytes, last block, n = 20011, sum, f32: results",
        "reduce_tree, one element per thread, n = 20011, sum, f32, beside the host",
        "atomic, n = 20011, sum, per = 64, f32, after its timing, beside the host" })
    local checked = support.checks(run)
    assert.is_true(checked["integers, n = 20011, sum, f32: results"]) -- no order matters
    assert.is_nil(checked["atomic, n = 20011, sum, f32: results"]) -- it promises no order
    assert.is_true(checked["atomic, n = 20011, length, f32: results"])
    for _, r in ipairs(records_where(run.record, { group = "grid", op = "length", rung = "host" })) do
      assert.are.same({ 160088, 160088, 1 }, { r.bytes, r.t.bytes, r.results })
      assert.is_near(r.T_tot, 160088 / r.t.median, 1)
    end
    for _, copy in ipairs(records_where(run.record, { rung = "library copy" })) do
      assert.are.equal(1, copy.share)
      assert.is_near(copy.bytes, copy.t.bytes, 8) -- as many as the others move
    end
  end)

  it("has types after the first only in sums on the CPU device, but for two rungs", function()
    local run = support.study_passes("reduction", QUICK .. "-p parts=grid -p types=f32,f64 -p ops=min -p rungs=9,10,14")
    local list = {}
    for i, r in ipairs(run.record.records) do list[i] = r.type .. " " .. r.rung end
    assert.are.same({ "f32 library copy", "f32 second launch", "f32 atomic", "f32 16 bytes, last block",
                      "f64 library copy", "f64 second launch", "f64 16 bytes, last block" }, list)
  end)

  it("knows the answer for a handful of elements", function()
    support.study_passes("reduction", FEW .. "-p types=f64 -p n=1,3 -p parts=tree,grid -p rungs=1,4,6,9,12,14")
  end)
end)
