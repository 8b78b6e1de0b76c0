-- SPDX-License-Identifier: MIT
--
-- What a study's file may say of itself: one that put '{"params":5}' on its last line stopped the batch before it
-- began.

local labs = require "tests.support.labs"
local support = require "tests.support"

if not support.program() then
  describe("a hostile description", function() pending "needs the program" end)
  return
end

local ORDER <const> = "its description is not in order: "

-- What a file answers, and what is said of it.
local ANSWERS <const> = {
  { '{"params":5}', ORDER .. "params must be a table, got number" },
  { '{"params":[5],"question":"q"}', ORDER .. "params[1] must be a table, got number" },
  { '{"params":[{"name":7}],"question":"q"}', ORDER .. "params[1].name must be a string, got number" },
  { '{"params":{"n":1},"question":"q"}', ORDER .. "params must be a list" },
  { '{"params":[],"question":{}}', ORDER .. "question must be a string, got table" },
  { '{"params":[],"question":"q","rungs":[{}]}', ORDER .. "rungs[1].name must be a string, got nil" },
  { '{"params":[],"question":"q","rungs":[{"name":"x","number":1e999}]}', "it ended before it was described" },
  { '{"params":[]}', ORDER .. "it must have a question and params" },
  { '{"plain":"yes"}', ORDER .. "plain must be a boolean, got string" },
  { '{"error":[]}', ORDER .. "error must be a string, got table" },
  { "[]", ORDER .. "it must have a question and params" },
  { "7", "it ended before it was described" },
  { "null", "it ended before it was described" },
  { ("["):rep(5000), "it ended before it was described" },
  { '{"error":"\\u001b[2J\\r2 passed\\nin 0.1 s"}', "?[2J?2 passed in 0.1 s" },
}

local SAY <const> = 'require("moonwarp.base.json").stored = function() return %q end\nrequire("moonwarp").study {}\n'

describe("a description that is not in order", function()
  it("is its file's error, and stops nothing", function()
    support.with_folder(function(folder)
      local words = {}
      for i, one in ipairs(ANSWERS) do
        words[i] = ("s%d.lua"):format(i)
        support.write(("%s/%s"):format(folder, words[i]), SAY:format(one[1]))
      end
      local status, output = labs.shell(("cd %s && %s list %s"):format(labs.quoted(folder), labs.quoted(labs.program),
        table.concat(words, " ")))
      assert.are.equal(1, status)
      local number = 0
      for line in output:gmatch "[^\n]+" do
        number = number + 1
        assert.is_truthy(line:find(("^s%d +cannot be described: "):format(number)), line)
        assert.is_truthy(line:find(ANSWERS[number][2], 1, true), line)
      end
      assert.are.equal(#ANSWERS, number, output)
    end)
  end)

  it("costs no other lab of a batch", function()
    local list = {}
    for i, one in ipairs(ANSWERS) do list[i] = { "lab" .. i, "params = { n = 1 }", SAY:format(one[1]) } end
    list[#list + 1] = { "fine", "params = { n = 2 }", 'assert(mw.arg("n", 1) == 2)' }
    labs.with(list, function(_, batch)
      local _, output, result = batch()
      assert.is_table(result, output)
      assert.are.equal("passed", result.labs[#list].verdict)
    end)
  end)

  it("is not what a file prints, or puts in the place of standard output", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[
local said = io.stdout
io.stdout = { write = function() said:write '{"params":5}\n' end, flush = function() end }
os.exit = function() end
print '{"params":5}'
require("moonwarp").device "cpu"]])
      local status, output = labs.shell(("cd %s && %s list s.lua"):format(labs.quoted(folder),
        labs.quoted(labs.program)))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("s%s+a plain script: its parameters are known when it runs"), output)
    end)
  end)

  it("names no other file than its own", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua",
        SAY:format '{"question":"q","params":[],"name":"memcopy","path":"/etc/passwd"}')
      local _, output = labs.shell(("cd %s && %s list --json s.lua"):format(labs.quoted(folder),
        labs.quoted(labs.program)))
      assert.is_truthy(output:find('"name":"s"', 1, true) and output:find('"path":"s.lua"', 1, true), output)
    end)
  end)
end)
