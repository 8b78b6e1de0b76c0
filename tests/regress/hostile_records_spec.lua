-- SPDX-License-Identifier: MIT
--
-- What a lab leaves instead of a record. One line of a journal ended the batch, each --resume of it, and history,
-- export, compare and plot; a record that was not in order counted as none, so that its lab passed.

local cjson = require "cjson"
local damage = require "tests.support.damage"
local labs = require "tests.support.labs"
local store = require "moonwarp.results.store"
local support = require "tests.support"

if not support.program() then
  describe("a hostile record", function() pending "needs the program" end)
  return
end

-- ---- in a batch -----------------------------------------------------------------------------------

local RUN <const> = '{"kind":"run","value":{"schema":"moonwarp-record/1","study":"s"}}'

-- Lines of journals, and what is said of them.
local LINES <const> = {
  { '{"kind":"slice"}', "line 2: value must be a table, got nil" },
  { '{"kind":"slice","value":{"contender":1,"samples":[1]}}', "record must be a table in a contender's first turn" },
  { '{"kind":"slice","value":{"contender":1,"record":{}}}', "value.samples must be a table, got nil" },
  { '{"kind":"slice","value":{"contender":1,"record":{},"samples":[]}}', "samples must have an element at least" },
  { '{"kind":"slice","value":{"contender":1,"record":{},"samples":["1"]}}', "value.samples[1] must be a number" },
  { '{"kind":"slice","value":{"contender":1,"record":{},"samples":[1],"work":{"T":"x"}}}', "work.T must be a number" },
  { '{"kind":"slices_dropped","value":{"contender":3}}', "contender 3 has no turn before" },
  { '{"kind":"slices_dropped"}', "value must be a table, got nil" },
  { '{"kind":"record","value":{},"contender":3}', "contender 3 has no turn before" },
  { '{"kind":"record","value":7}', "value must be a table, got number" },
  { '{"kind":"run","value":{"records":7}}\n{"kind":"check","value":{}}', "checks[1].ok must be a boolean, got nil" },
  { '{"kind":"chart","value":{"name":7}}', "charts[1]" },
  { '{"kind":["chart"],"value":{}}', "line 2: kind must be a string, got table" },
  { '{"kind":"record","value":{"t":{"median":1e999,"samples":[1]}}}', "a number is too large" },
  { '{"kind":"end","value":{"status":"complete","exit":"0"}}', "exit must be an integer, got string" },
  { "7", "line 2" },
}

local WRITE <const> = [[
local folder = require("moonwarp.session").current:out() .. "/s/1"
os.execute("mkdir -p '" .. folder .. "'")
local function write(name, text)
  local file <close> = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
end
]]

local function lab_of(number, name, text)
  return { "lab" .. number, "", WRITE .. ("write(%q, %q)"):format(name, text) }
end

describe("a batch", function()
  it("takes a journal or a record that is not in order for its lab's failure", function()
    local list = {}
    for i, line in ipairs(LINES) do list[i] = lab_of(i, "journal.jsonl", ("%s\n%s\n"):format(RUN, line[1])) end
    list[#list + 1] = lab_of(#list + 1, "record.json", '{"schema":"moonwarp-record/1","checks":[{"ok":false}]}')
    list[#list + 1] = { "large", "", WRITE .. 'write("record.json", (" "):rep((16 << 20) + 1) .. "{}")' }
    list[#list + 1] = { "last", "", "mw.record { device = 'cpu', x = 1 }" }
    labs.with(list, function(folder, batch)
      local status, output, result = batch()
      assert.are.equal(1, status)
      assert.are.equal(#list, #result.labs, output)
      for i, line in ipairs(LINES) do
        local message = result.labs[i].message
        assert.are.equal("failed", result.labs[i].verdict)
        assert.is_truthy(message:find "^its run holds no record that can be read: journal.jsonl: "
          or message:find "^its run has a record that is not in order: ", message)
        assert.is_truthy(message:find(line[2], 1, true), message)
      end
      assert.is_truthy(result.labs[#LINES + 1].message:find("is not in order: ", 1, true))
      assert.is_truthy(result.labs[#LINES + 2].message:find("16.0 MiB, and 16.0 MiB at most are read", 1, true))
      assert.are.equal("passed", result.labs[#list].verdict)
      -- What reads it afterwards says which runs it leaves out.
      for _, words in ipairs { "history", "export", "plot --terminal", "report" } do
        local _, text = labs.shell(("cd %s && %s %s out"):format(labs.quoted(folder), labs.quoted(labs.program), words))
        assert.is_nil(text:find "attempt to", text)
        assert.is_truthy(text:find("lab1", 1, true), text)
      end
    end)
  end)

  it("goes on with labs whose journals are not in order", function()
    local list = { lab_of(1, "journal.jsonl", RUN .. '\n{"kind":"slice"}\n'), { "lab2", "", "" } }
    labs.with(list, function(folder, batch)
      local _, _, result = batch()
      local place = ("%s/%s/"):format(folder, result.folder)
      local text = support.read(place .. "journal.jsonl")
      os.remove(place .. "lab1-cpu.ended")
      for _, kind in ipairs { "end", "finish" } do text = text:gsub(('[^\n]*"%s"[^\n]*\n'):format(kind), "") end
      support.write(place .. "journal.jsonl", text)
      local status, output = batch "--resume"
      assert.are.equal(1, status)
      assert.is_truthy(output:find("line 2: value must be a table, got nil", 1, true), output)
    end)
  end)
end)

-- ---- on a terminal --------------------------------------------------------------------------------

describe("a lab's last words", function()
  it("clear no line of a batch and write none", function()
    local words = [["\27[2J\27[1A\r\u{9b}2J\u{202e}2 passed in 0.1 s\n[1/1] forged on cpu: passed\n"]]
    labs.with({
      { "error", "", ("error(%s, 0)"):format(words) },
      { "exit", "", ("io.stderr:write(%s) os.exit(7)"):format(words) },
      { "check", "", ('mw.check(mw.device():zeros("i32", 2), 1, %s)'):format(words) },
      { "named", "", WRITE .. 'os.execute("mkdir \'" .. folder .. "/../2\27[2J\'")' },
    }, function(folder, batch)
      local _, output, result = batch "--junit j.xml labs.lua"
      assert.is_table(result, output)
      for _, text in ipairs { output, support.read(folder .. "/j.xml") } do
        assert.is_nil(text:find "[%z\1-\8\11-\31\127]", text)
        assert.is_nil(text:find "\xc2[\x80-\x9f]")
        assert.is_nil(text:find "\xe2\x80[\xaa-\xae]")
      end
      assert.is_nil(output:find "\n%[1/1%]", output)
    end)
  end)
end)

-- ---- in one process -------------------------------------------------------------------------------

describe("a damaged run", function()
  it("is read or refused, and no reader fails or lets a terminal obey it", function()
    support.with_folder(function(folder)
      local record, lines, whole = damage.whole(folder)
      local random, attempt = damage.random(7), folder .. "/attempt"
      local bad, count = attempt .. "/s/1", { read = 0, refused = 0 }
      os.execute(("mkdir -p '%s'"):format(bad))
      for number = 1, 120 do -- 100000 in tests/stress
        local name, text = damage.file(record, lines, random)
        for _, one in ipairs { "record.json", "journal.jsonl" } do os.remove(("%s/%s"):format(bad, one)) end
        support.write(("%s/%s"):format(bad, name), text)
        local run, problem = store.read(bad)
        count[run and "read" or "refused"] = count[run and "read" or "refused"] + 1
        local fault, ending = damage.by_batch(attempt)
        fault = fault or number <= 20 and damage.by_commands(bad, whole)
          or number <= 2 and damage.by_report { bad, whole }
        if fault then error(("%s\n%s: %s"):format(fault, name, text), 0) end
        assert.is_true(run ~= nil or type(problem) == "string" and ending.verdict == "failed", ending.verdict)
      end
      assert.is_true(count.read > 15 and count.refused > 15, cjson.encode(count))
    end)
  end)
end)

-- ---- files that lead elsewhere ----------------------------------------------------------------------

describe("a report", function()
  -- "source" was a link to a folder, a picture a link to a file or a pipe, which nothing ever wrote into.
  it("has no file from outside of a run, and waits for none", function()
    support.with_folder(function(folder)
      local record, _, run = damage.whole(folder)
      support.write(folder .. "/secret.svg", "<svg>showHypertext SECRET</svg>")
      os.execute(("cd '%s' && rm -rf source && mkdir ../../elsewhere && ln -s ../../elsewhere source && "
        .. "ln -sf '%s/secret.svg' line.svg && ln -s '%s/secret.svg' spans.svg && mkfifo film.gif bars.svg; "
        .. "cp '%s/secret.svg' ../../elsewhere/whole.lua"):format(run, folder, folder, folder))
      assert.is_truthy(record.sources[1].name == "whole.lua")
      local material = require("moonwarp.report.material").gather({ run }, "out")
      local page = require("moonwarp.report.page").draw(material, {})
      assert.is_nil(page:find("SECRET", 1, true))
    end)
  end)
end)
