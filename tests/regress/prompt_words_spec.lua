-- SPDX-License-Identifier: MIT
--
-- The prompt's own words, help and the ways to leave, and what it prints of calls that print.
-- luacheck: std +busted

local support = require "tests.support"

-- What the prompt prints for these lines; results go to a folder that goes.
local function prompt(...)
  local lines, output = table.concat({ ... }, "\n"), nil
  support.with_folder(function(folder)
    support.write(folder .. "/lines", lines .. "\n")
    local pipe <close> = assert(io.popen(("cd '%s' && '%s' repl <lines 2>&1"):format(folder, support.program())))
    output = pipe:read "a"
  end)
  return output
end

local function count(text, part)
  local _, times = text:gsub(part:gsub("%p", "%%%0"), "")
  return times
end

describe("prompt", function()
  if not support.program() then return pending "needs the program" end

  it("shows a table and a chart once", function()
    local output = prompt('for i = 1, 3 do mw.record { n = i, v = 2.0 * i } end',
      'mw.table { "n", "v", title = "a table" }', 'mw.plot { x = "n", y = "v", title = "a chart", pictures = false }',
      'mw.remark "a remark"', 'mw.check(mw.device "cpu":zeros("f32", 4), 1, { name = "a check" })')
    assert.are.equal(1, count(output, "a check"), output)
    assert.are.equal(1, count(output, "\nfalse\n"), output)
    assert.are.equal(1, count(output, "a table"), output)
    assert.are.equal(1, count(output, "a chart"), output)
    assert.are.equal(1, count(output, "a remark"), output)
    assert.is_nil(output:find("\\n", 1, true), output)
  end)

  -- Their texts were compared with what was printed: in colour, or without the letters that the locale lacks.
  it("shows a chart once at a terminal, and where the locale is ASCII", function()
    local chart = 'mw.plot { x = "n", y = {"v", "w"}, title = "the chart", pictures = false, records = '
      .. '{ { n = 1, v = 1, w = 2 }, { n = 2, v = 2, w = 1 } } }'
    local span = 'mw.timeline { title = "the spans", pictures = false, spans = '
      .. '{ { lane = "l", kind = "k", from = 0, to = 1e-6 } } }'
    for _, environment in ipairs { "LC_ALL=C.UTF-8 TERM=xterm", "LC_ALL=C TERM=xterm" } do
      support.with_folder(function(folder)
        support.write(folder .. "/lines", chart .. "\n" .. span .. '\nprint "the end"\n')
        local line = "cd '%s' && env -u NO_COLOR %s '%s' repl <lines"
        local command = line:format(folder, environment, support.program())
        local screen = support.typed(command, { { "the end", "" } })
        assert.are.equal(1, count(screen, "the chart"), screen)
        assert.are.equal(1, count(screen, "the spans"), screen)
      end)
    end
  end)

  -- Their runs were "ended", and nothing said where they are.
  it("completes its run and names the folder at the end", function()
    support.with_folder(function(folder)
      support.write(folder .. "/lines", 'mw.record { v = 2.5 }\nmw.check(mw.device "cpu":zeros("f32", 4), 1)\n')
      local command = ("cd '%s' && '%s' repl <lines 2>&1"):format(folder, support.program())
      local pipe <close> = assert(io.popen(command))
      assert.is_truthy(pipe:read("a"):find("\nresults: out/script/", 1, true))
      local run = require("moonwarp.results.store").read(support.runs(folder)[1])
      assert.are.equal("check failed", run.status)
      assert.are.equal(0, run.exit)
    end)
  end)

  it("keeps the lines of lists and of code in help", function()
    local output = prompt 'help "study"'
    assert.is_truthy(output:find("\n2. It runs every rung", 1, true), output)
    assert.is_truthy(output:find("\n  a loop (wrong: it differs", 1, true), output)
  end)

  it("shows a value that a call returns and did not print", function()
    assert.are.equal("b\nc\n", prompt('(function() print "b" return "c" end)()'))
    assert.are.equal("5\n5\n", prompt('(function() print(5) return 5 end)()'))
    assert.are.equal("1\tnil\ttwo\n", prompt '1, nil, "two"')
  end)

  for _, word in ipairs { "exit", "quit", "q", "exit()", "quit ( )" } do
    it("leaves at " .. word, function() assert.are.equal("1\n", prompt("1", word, "2")) end)
  end

  it("shows a variable that is named as a word", function()
    assert.are.equal("5\n5\n", prompt("q = 5", "q", "exit = q", "exit"))
  end)

  -- what is typed, what the answer begins with, what else it has
  local cases = {
    { 'help', "mw is moonwarp", "exit, quit, q" },
    { 'help()', "mw is moonwarp", "bench" },
    { 'help(mw)', "`require \"moonwarp\"`" },
    { 'help mw', "`require \"moonwarp\"`" },
    { 'help(mw.bench)', "mw.bench(f[, options])", "min_time" },
    { 'help "bench"', "mw.bench(f[, options])", "min_time" },
    { 'help bench', "mw.bench(f[, options])", "min_time" },
    { 'help mw.bench', "mw.bench(f[, options])", "min_time" },
    { 'help(mw.device "cpu")', "One GPU, or the CPU device", "dev:array" },
    { 'help(mw.device "cpu".array)', "dev:array(dtype", "0xFF" },
    { 'help "dev:array"', "dev:array(dtype", "0xFF" },
    { 'help "bench_options"', "When to stop", "min_time" },
    { 'help "bensh"', "help has nothing about 'bensh'; did you mean 'bench'?" },
    { 'help(nothing)', "help takes a function or an object of moonwarp", "got nil" },
    { 'help(7)', "help takes a function or an object of moonwarp", "got number" },
    { 'help ""', "help has nothing about ''" },
  }
  for _, case in ipairs(cases) do
    it("answers " .. case[1], function()
      local output = prompt(case[1])
      assert.are.equal(case[2]:gsub("`", ""), output:sub(1, #case[2]:gsub("`", "")), output)
      assert.is_truthy(not case[3] or output:find(case[3], 1, true), output)
    end)
  end

  it("has help on every function and method", function()
    local missing = prompt([[for name, f in pairs(mw) do if type(f) == "function" then help(f) end end]],
      [[for _, class in pairs(require "moonwarp.core".methods) do
        for name, f in pairs(class) do if type(f) == "function" and name:sub(1, 2) ~= "__" then help(f) end end
      end]])
    assert.is_nil(missing:find("help has nothing", 1, true), missing)
    assert.is_nil(missing:find("help takes", 1, true), missing)
  end)
end)
