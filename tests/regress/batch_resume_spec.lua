-- SPDX-License-Identifier: MIT
--
-- moonwarp batch --resume on files that are not as a batch left them, and the seconds that it adds up. Each fault here
-- was there once.

local support = require "tests.support"
local labs = require "tests.support.labs"

local TWO <const> = { { "a", "", "" }, { "b", 'needs = "a"', "" } }

-- body(resume, place, finished): resume() returns status, output and result of --resume; finished has the texts of a
-- batch that has run.
local function with_finished(body)
  labs.with(TWO, function(folder, batch)
    local _, _, result = batch()
    local place = ("%s/%s/"):format(folder, result.folder)
    local finished = { folder = result.folder, head = support.read(place .. "batch.json"),
                       journal = support.read(place .. "journal.jsonl") }
    body(function() return batch("--resume " .. result.folder) end, place, finished)
  end)
end

describe("a resumed batch", function()
  -- Each of these was an error of Lua in the middle of the program, or ran labs in other folders.
  it("rejects a plan that is not in order, and names the field", function()
    with_finished(function(resume, place, finished)
      for _, case in ipairs {
        { '"retries":0', '"retries":"x"', "steps[1].retries must be an integer, got string" },
        { '"steps"', '"stairs"', "steps must be a table, got nil" },
        { '"id":"b%-cpu"', '"id":"a-cpu"', "steps[2]: id 'a-cpu' is there twice" },
        { '"id":"a%-cpu"', '"id":"../a"', "steps[1]: id must be of letters, digits, - and _" },
        { '"needs":%["a%-cpu"%]', '"needs":["c-cpu"]', "steps[2]: needs 'c-cpu', which is not an earlier step" },
      } do
        local text, count = finished.head:gsub(case[1], case[2], 1)
        assert.are.equal(1, count, case[1])
        support.write(place .. "batch.json", text)
        local status, output = resume()
        assert.are.equal(2, status, output)
        assert.are.equal(case[3], output:match "is not in order: ([^\n]*)")
      end
    end)
  end)

  -- Such a line, too, was an error of Lua.
  it("leaves out a line of its journal that is not in order, and says so", function()
    with_finished(function(resume, place, finished)
      local note = ("note: %s/journal.jsonl: a line is left out: "):format(finished.folder)
      for _, case in ipairs {
        { '{"kind":"begin","date":"x","id":"a-cpu"}', "attempt must be an integer, got nil" },
        { '{"kind":"begin","date":"x","id":"a-cpu","attempt":0}', "attempt must be at least 1, got 0" },
        { '{"kind":"end","date":"x","id":"b-cpu","attempt":1,"verdict":"passed","exit":1.5}',
          "exit must be an integer, got 1.5" },
        { '{"kind":["pause"]}', "" }, { "[1]", "" }, { "{}", "" },
      } do
        support.write(place .. "journal.jsonl", case[1] .. "\n" .. finished.journal)
        local status, output = resume()
        assert.are.equal(0, status, output)
        assert.is_truthy(output:find(note .. case[2], 1, true), output)
        assert.is_truthy(output:find("is left to run", 1, true), output)
      end
    end)
  end)

  it("judges a lab whose end it did not see by its supervisor's note", function()
    with_finished(function(resume, place, finished)
      local cut, count = finished.journal:gsub('{"kind":"end"[^\n]*"b%-cpu"[^\n]*\n{"kind":"finish".*$', "")
      assert.are.equal(1, count)
      local function resumed(ended)
        support.write(place .. "journal.jsonl", cut)
        support.write(place .. "b-cpu.ended", ended)
        return resume()
      end
      -- A note that says nothing: the lab runs again.
      local status, output, result = resumed "exit x\nsignal 0\nreason 7\nseconds y\n"
      assert.are.equal(0, status, output)
      assert.are.equal(2, result.labs[2].attempts)
      -- A limit that the lab does not have was compared with nil.
      status, output, result = resumed "exit 0\nsignal 9\nreason memory\nseconds 1\n"
      assert.are.equal(1, status, output)
      assert.are.equal("its processes held more than its limit", result.labs[2].message)
    end)
  end)

  -- The seconds were those of the last part alone.
  it("counts the seconds of every part, of a killed one to its last line", function()
    if not pcall(require, "moonwarp.host") then
      pending "the program has a ledger, the module has none"
      return
    end
    local ledger = require "moonwarp.lab.ledger"
    local function at(kind, time, seconds)
      return { kind = kind, date = ("2026-03-29T%sZ"):format(time), seconds = seconds }
    end
    for _, case in ipairs {
      { 0 },
      { 2.5, at("begin", "00:59:00"), at("end", "00:59:02", 2), at("finish", "00:59:02", 2.5) },
      { 63.5, at("begin", "00:59:00"), at("end", "01:00:02", 9), at("resume", "05:00:00"),
        at("finish", "05:00:02", 1.5) },
      { 4.0, at("pause", "00:59:03", 2.5), at("resume", "05:00:00"), at("finish", "05:00:02", 1.5) },
    } do
      local lines = table.move(case, 2, #case, 1, {})
      assert.are.equal(case[1], ledger.seconds { head = { date = "2026-03-29T00:59:00Z" }, lines = lines })
    end
  end)

  -- Its result was written anew.
  it("leaves a finished one as it is", function()
    with_finished(function(resume, place, finished)
      local text = support.read(place .. "result.json") .. "\n"
      support.write(place .. "result.json", text)
      local status, output = resume()
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find(("moonwarp: nothing of %s is left to run\n"):format(finished.folder), 1, true),
        output)
      assert.are.equal(text, support.read(place .. "result.json"))
    end)
  end)
end)
