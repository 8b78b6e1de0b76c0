-- SPDX-License-Identifier: MIT
--
-- One text of a lab ended a batch for good: 40,000 blanks in the name of a study took 16 seconds, 4 MB days, in one
-- call of the pattern matcher, which Ctrl-C does not end. So did a journal whose last line did not end, brackets in a
-- script, comments in a picture, and a source of line feeds in a report. No text of what is stored may have more than
-- 64 KiB now, and what reads texts takes a time that grows as they do, which tests/stress/texts_stress.lua measures: a
-- reader whose time grows as the square does comes to no end here.

local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local sheet = require "moonwarp.base.sheet"
local store = require "moonwarp.results.store"
local support = require "tests.support"
local texts = require "tests.support.texts"
local utf8text = require "moonwarp.base.utf8text"

if not support.program() then
  describe("a long text", function() pending "needs the program" end)
  return
end

local FUNCTIONS <const> = {
  trim = utf8text.trim, ["trim_end"] = utf8text.trim_end, line = utf8text.line,
  lines = function(text) for _ in utf8text.lines(text) do end end,
  spans = function(text) for _ in utf8text.spans(text, "<!--", "-->") do end end,
  columns = function(text) sheet.lines { columns = { {} }, rows = { { text } } } end,
  ["a finding"] = function(text)
    require("moonwarp.measure.findings").reason { parties = { { text = "// moonwarp: race-ok" .. text } } }
  end,
  ["a kernel's name"] = function(text) require("moonwarp.tools.tool").kernel_name(text .. "(int)") end,
  ["a parameter's help"] = function(text)
    require("moonwarp.cli.list").text { question = "q", name = "n",
      params = { { name = "p", default = 1, help = text } } }
  end,
  ["a field's name"] = function(text) require("moonwarp.results.fields").unit({ [text] = 1 }, text) end,
  ["a line of the prompt"] = function(text) require("moonwarp.prompt.complete").line(text) end,
  ["a part of a sweep"] = function(text) require("moonwarp.base.literal").value(("{ %q }"):format(text)) end,
}

describe("64 KiB of blanks, brackets or the like", function()
  it("are read by each reader", function()
    support.with_folder(function(folder)
      for _, kind in ipairs(texts.KINDS) do
        local text = texts.of(kind, texts.EACH)
        for name, prepare in pairs(texts.STRICT) do assert.is_nil(prepare(folder, { text })(), name) end
        for _, prepare in pairs(texts.LENIENT) do prepare(folder, { text })() end
        for _, read in pairs(FUNCTIONS) do read(text) end
      end
    end)
  end)

  it("are cleaned as they were", function()
    for given, wanted in pairs { ["  a b \t\n"] = "a b", [" \n "] = "", [""] = "", ["a"] = "a", ["\na\nb"] = "a\nb" } do
      assert.are.equal(wanted, utf8text.trim(given))
      assert.are.equal(given:gsub("%s+$", ""), utf8text.trim_end(given))
    end
    assert.are.equal("a b c  d", utf8text.line "a \n\t b\tc  d")
    local found = {}
    for line in utf8text.lines "a\n\nb\nc" do found[#found + 1] = line end
    assert.are.same({ "a", "", "b" }, found)
    found = {}
    for first, inside, last in utf8text.spans("x<!--a-->b<!--c", "<!--", "-->") do
      found[#found + 1] = ("%d %s %d"):format(first, inside, last)
    end
    assert.are.same({ "2 a 9" }, found)
    local values = require("moonwarp.base.parameter").read { [[n=a,b\,c,\\,\d,,e\]] }[1].values
    assert.are.same({ "a", "b,c", [[\]], [[\d]], "", [[e\]] }, values)
  end)
end)

describe("a text of more than 64 KiB", function()
  local LONG <const> = ("x"):rep(json.MOST_TEXT + 1)

  it("is refused in a word by what reads stored texts", function()
    support.with_folder(function(folder)
      for name, prepare in pairs(texts.STRICT) do
        local reason = prepare(folder, { LONG })()
        assert.is_truthy(reason and (reason:find("a text has more than 64 KiB, the most that is read of one", 1, true)
          or reason:find("option '-p' takes 65536 bytes at most, got 65540", 1, true)), name)
      end
    end)
    assert.is_nil(json.decode(('{"%s":1}'):format(LONG)))
    assert.are.same({ LONG:sub(2) }, json.decode(('["%s"]'):format(LONG:sub(2))))
  end)

  it("is cut where moonwarp writes it, which says so", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[local mw = require "moonwarp"
        local text = ("\u{e9}"):rep(1 << 20)
        mw.record { device = "cpu", x = text, [text] = 1 }
        mw.remark(text)]])
      local status, output = labs.shell(("cd %s && %s run s.lua --quiet --json r.json"):format(labs.quoted(folder),
        labs.quoted(labs.program)))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("note: a text of a record has more than 64 KiB: the record keeps its beginning\n", 1,
        true), output)
      local run = assert(store.read(support.run(folder .. "/out")))
      local text = run.records[1].x
      assert.are.equal("\u{e9}... (cut: 2097152 bytes)", text:sub(-#"\u{e9}... (cut: 2097152 bytes)"))
      assert.is_true(#text <= json.MOST_TEXT and #text > json.MOST_TEXT - 4 and utf8.len(text) ~= nil)
      assert.are.equal(text, run.remarks[1].text)
      assert.are.equal(1, run.records[1][text])
      assert.is_true(#support.read(folder .. "/r.json") > 2 << 20) -- which is not read back
    end)
  end)

  it("ends no batch, and is refused in a curriculum", function()
    local left = [[
      local folder = require("moonwarp.session").current:out() .. "/s/20260101-000000-cpu"
      os.execute("mkdir -p '" .. folder .. "'")
      local file = assert(io.open(folder .. "/%s", "w"))
      file:write(%s)
      file:close()]]
    local FORM <const> = [['{"schema":"moonwarp-record/1","study":"a' .. (" "):rep(%d) .. 'x","status":"complete",'
      .. '"exit":0,"records":[],"checks":[],"charts":[],"tables":[],"remarks":[],"pictures":[],"sources":[]}']]
    local list = { { "short", "", left:format("record.json", FORM:format(60000)) },
                   { "long", "", left:format("record.json", FORM:format(8 << 20)) },
                   { "cut", "", left:format("journal.jsonl", "(' '):rep(8 << 20)") } }
    labs.with(list, function(folder, batch)
      for _, user in ipairs(labs.users()) do
        local _, output, result = batch("labs.lua", user.as(folder))
        assert.are.same({ "passed", "failed", "failed" }, { result.labs[1].verdict, result.labs[2].verdict,
          result.labs[3].verdict }, output)
        assert.is_truthy(result.labs[2].message:find("record.json: a text has more than 64 KiB", 1, true))
      end
      support.write(folder .. "/labs.lua", [[return { { name = "a", script = "short.lua",
        params = { n = ("x"):rep(70000) } } }]])
      local status, said = batch "labs.lua --sandbox off --device cpu"
      assert.are.equal(2, status, said:sub(1, 500))
      assert.is_truthy(said:find("labs.lua: a text has more than 65536 bytes", 1, true), said:sub(-500))
    end)
  end)
end)
