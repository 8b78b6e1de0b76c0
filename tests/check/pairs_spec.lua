-- SPDX-License-Identifier: MIT
--
-- Pairs of kernels that were written without a look at check mode: the fault is found, its legal twin gives no finding.
-- One that is not found stands in tests/check/pairs.lua as `missed`, and fails here as soon as it is found.
-- `make check` takes some of the files, `make stress` all by each compiler.
-- luacheck: std +busted

local core = require "moonwarp.core"
local mw = require "moonwarp"
local pairs_of = require "tests.check.pairs"
local session = require "moonwarp.session"
local support = require "tests.support"
local twins = require "tests.check.twins"

local SAMPLE <const> = { "collectives", "fences" }
local WIDTHS <const> = { 1, 7, 8, 12, 17, 24, 31, 32, 33, 40, 48, 56, 63, 64 }

local function chosen_names()
  if not support.whole then return SAMPLE end
  local names = {}
  for name in pairs(pairs_of) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Why the device's compiler misses the fault; nil: it does not.
local function missed(row, dev)
  local why = row[6] and row[6].missed
  if type(why) ~= "table" then return why end
  return why[dev:properties().driver:match "clang" or "g++"]
end

local function judge(row, dev, strict, faulty)
  local _, message = twins.launch(dev, faulty, row)
  local errors, warnings = twins.told(dev)
  if missed(row, dev) or (row[6] and row[6].strict == "only" and not strict) then
    assert.are.same({}, errors, "found now: take 'missed' out of tests/check/pairs.lua")
    return
  end
  assert(twins.is_found(row, strict, errors, warnings), "not found" .. (message and ", but: " .. message or ""))
  assert.is_nil(twins.other_kind(row, errors, warnings))
end

local function judge_legal(row, dev, legal)
  local _, message = twins.launch(dev, legal, row)
  assert.are.same({}, (twins.told(dev)))
  assert.is_nil(message)
end

-- The twins of a file are compiled once for a device, where the first test wants them. Strictly their lines are others:
-- what was told of a line keeps being a warning.
local function compiled(dev, name, other, strict)
  local module
  return function()
    local source = (strict and "\n" or "") .. twins.text(name, other)
    module = module or dev:module { source = source, templates = twins.templates(pairs_of[name]) }
    return module
  end
end

local function describe_file(name, dev, strict)
  local legal, faulty = compiled(dev, name, "faulty", strict), compiled(dev, name, "legal", strict)
  for _, row in ipairs(pairs_of[name]) do
    local options = row[6] or {}
    if not strict or options.strict then
      it("in " .. row[1] .. " of " .. name .. ".cu", function() judge(row, dev, strict, faulty()) end)
      it("not in the twin of " .. row[1] .. " of " .. name .. ".cu", function() judge_legal(row, dev, legal()) end)
    end
  end
end

local function describe_all(what, check)
  describe(what, function()
    local before = session.current.settle_findings
    setup(function() session.current.settle_findings = function() end end) -- the faults are wanted: they fail no run
    teardown(function() session.current.settle_findings = before end)
    local dev = mw.device("cpu", { check = check })
    for _, name in ipairs(chosen_names()) do describe_file(name, dev, check == "strict") end
  end)
end

describe_all("check mode finds the fault", true)
describe_all("check mode finds it strictly", "strict")

-- clang++ calls no hook for an access of 3, 5, 6 or 7 bytes, and bit-fields of these widths hid races.
describe("check mode finds races of bit-fields", function()
  local before = session.current.settle_findings
  setup(function() session.current.settle_findings = function() end end)
  teardown(function() session.current.settle_findings = before end)

  it("of 1 to 64 bits, alone and with a neighbour, in shared and in global memory", function()
    local dev, names = mw.device("cpu", { check = true }), {}
    twins.told(dev)
    for width = 1, support.whole and 64 or #WIDTHS do
      names[width] = ("width<%d>"):format(support.whole and width or WIDTHS[width])
    end
    local m <close> = dev:module { file = core.home() .. "/tests/check/widths.cu", templates = names }
    for _, name in ipairs(names) do
      local out <close> = dev:zeros("u64", 64)
      local p <close> = dev:zeros("u64", 4)
      local q <close> = dev:zeros("u64", 4)
      m:kernel(name):launch(1, 64, out, p, q)
      local kinds = {}
      for i, one in ipairs((select(3, twins.told(dev)))) do
        assert.is_truthy(one.parties[1].text:find("// race", 1, true), name .. ": " .. tostring(one))
        kinds[i] = one.kind:match "shared" or one.kind:match "global"
      end
      table.sort(kinds)
      assert.are.same({ "global", "global", "shared", "shared" }, kinds, name)
      assert.are.equal(10, out:get(1), name)
    end
  end)
end)
