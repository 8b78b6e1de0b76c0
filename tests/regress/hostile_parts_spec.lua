-- SPDX-License-Identifier: MIT
--
-- What a pass of a sweep, an element of a job array or a tool of compute-sanitizer may leave instead of what is read:
-- text that was run as Lua and never ended, a folder that is not the pass's own, notes of another form, logs that are
-- cut.

local damage = require "tests.damage"
local json = require "moonwarp.base.json"
local literal = require "moonwarp.base.literal"
local notes = require "moonwarp.slurm.notes"
local support = require "tests.support"

describe("what a pass has left", function()
  if not support.program() then
    pending "needs the program"
    return
  end
  local part = require "moonwarp.sweep.part"

  local function left_by(text, body)
    support.with_folder(function(folder)
      support.write(folder .. "/pass.lua", text)
      body(part.read { number = 1, folder = folder, message = "it was killed" }, folder)
    end)
  end

  local whole = { ended = { outcome = "done" }, put_off = {}, found = 0, failed_checks = 0, lines = {} }

  local function with(fields)
    local made = {}
    for key, value in pairs(whole) do made[key] = value end
    for key, value in pairs(fields) do made[key] = value end
    return literal.text(made)
  end

  it("is data, and no program", function()
    for _, text in ipairs { "(function() while true do end end)()", '("x"):rep(1 << 40)', "--[[\n]] {}", "[[x]]",
                            '--"\n("x"):rep(1 << 40) --"', "{ a = b }", "{ f() }", '#"x"', "nil" } do
      left_by(text, function(left) assert.are.equal("it was killed", left.ended.message, text) end)
    end
    for _, value in ipairs { { a = { 1, 2.5, "x\n\"\\\0\r\u{e9}", true, { [3] = false } }, ["a b"] = -1 }, "--[[", "(",
                             0x7p60, -0.1, 1e300, math.huge, -math.huge, math.mininteger, "0x1p3 nil" } do
      assert.are.same(value, literal.value(literal.text(value)))
    end
    assert.is_true(literal.value(literal.text(0 / 0)) ~= literal.value(literal.text(0 / 0)))
  end)

  it("has a form", function()
    left_by(with {}, function(left) assert.are.equal("done", left.ended.outcome) end)
    for problem, fields in pairs {
      ["ended.outcome must be a string, got nil"] = { ended = {} },
      ["nothing shows '../x'"] = { put_off = { { what = "../x", spec = {}, records = 1 } } },
      ["line 1: kind must be a string, got nil"] = { lines = { {} } },
      ["contender 1 has no turn before"] = { lines = { { kind = "slices_dropped", value = { contender = 1 } } } },
      ["records[1].device must be a string, got number"] = { lines = { { kind = "record", value = { device = 7 } } } },
      ["found must be an integer, got string"] = { found = "x" },
      ["pass.n must be a table, got number"] = { pass = { n = 1 } },
    } do
      left_by(with(fields), function(left)
        assert.are.equal("failed", left.ended.outcome)
        assert.is_truthy(left.ended.message:find("what it has left is not in order: ", 1, true), left.ended.message)
        assert.is_truthy(left.ended.message:find(problem, 1, true), left.ended.message)
      end)
    end
  end)

  it("is in its own folder", function()
    left_by(with { folder = "/etc" }, function(left) assert.is_nil(left.folder) end)
  end)
end)

describe("a note of a job array", function()
  local WHOLE <const> = {
    ["a.end"] = { kind = "end", date = "2026-01-01T00:00:00Z", id = "a", attempt = 1, verdict = "passed" },
    ["array-1.json"] = { elements = { { { id = "a", needs = {}, attempt = 1, tries = 1 } } } },
  }

  it("is read as a whole, or not", function()
    support.with_folder(function(folder)
      require("lfs").mkdir(notes.file(folder))
      local random, refused = damage.random(3), 0
      for name, value in pairs(WHOLE) do
        notes.write(folder, name, value)
        assert.are.same(value, (notes.read(folder, name)))
        for _ = 1, 200 do
          notes.write(folder, name, damage.text(json.encode(damage.changed(value, random)), random))
          local fault = damage.fault(function()
            local note, problem = notes.read(folder, name)
            refused = refused + (problem and 1 or 0)
            assert(not problem == (note ~= nil), "neither, or both")
          end)
          assert.is_nil(fault)
        end
      end
      assert.is_nil(notes.read(folder, "b.end"))
      assert.is_true(refused > 100)
    end)
  end)
end)

describe("a log of compute-sanitizer", function()
  local LOG <const> = [[
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at behind(int *, int)+0xc0 in /a/k.cu:70
=========     by thread (1,0,0) in block (2,0,0)
=========     Access to 0x7f0000000404 is out of bounds
=========     and is 5 bytes after the nearest allocation at 0x7f0000000000 of size 1,024 bytes
=========
========= Error: Race reported between Write access at k(int *)+0x90 in /a/k.cu:7
=========     and Read access at k(int *)+0x80 in /a/k.cu:8 [12 hazards]
=========
========= ERROR SUMMARY: 2 errors
]]

  it("that is damaged is read as far as it goes", function()
    local report, random = require "moonwarp.tools.sanitizer_report", damage.random(5)
    local device = { id = function() return "cuda:0" end }
    assert.are.equal(2, #report.read(LOG, device))
    for _, count in ipairs { ",", "99999999999999999999", "0" } do
      assert.is_nil((report.read(LOG:gsub("SUMMARY: 2", "SUMMARY: " .. count), device)))
    end
    for _ = 1, 3000 do
      local text = damage.text(LOG, random)
      for line in LOG:gmatch "[^\n]+\n" do
        if random(12) == 1 then text = text:gsub(line:gsub("%p", "%%%0"), "") end
      end
      local fault = damage.fault(function() report.read(text, device) end)
      assert.is_nil(fault, ("%s\n%s"):format(fault, text))
    end
  end)
end)
