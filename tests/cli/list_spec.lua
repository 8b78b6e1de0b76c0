-- SPDX-License-Identifier: MIT
--
-- What files say of themselves: moonwarp list, moonwarp run FILE --help, the parameters of a curriculum's labs.
-- $MOONWARP_PROGRAM is what was built.

local support = require "tests.support"
local labs = require "tests.support.labs"
local cjson = require "cjson"
local quoted, shell = labs.quoted, labs.shell

local STUDY = [[
#!/usr/bin/env moonwarp
local mw = require "moonwarp"
print "noise"
local study, p = mw.study {
  question = "is it quick?", seconds = { 0.25, gpu = 0.5 }, odd = { { n = 5 } },
  params = { { "n", 1 << 10, "elements", gpu = 1 << 20, min = 1 },
             { "tile", { "32", "8x8" }, "blocks", kind = "blocks" }, { "name", "a,b", "a text" } },
}
function study.arrays(c) return { A = c.dev:full(1, "f32", c.n), B = c.dev:array("f32", c.n) } end
study:library("A", "B")
study:rung { 2, #p.tile .. " blocks", answer = "copy", make = function(c) return function() c.B:copy(c.A) end end }
study:part { "ladder", cases = { { n = mw.ceil_div(p.n, 2) } } }
return study
]]

local SHOWN = [[
mine           is it quick?
    -p n=1024                  elements (1048576 on a GPU)
    -p tile=32,8x8             blocks
    -p name=a\,b               a text
    -p seconds=0.25            least time of a measurement; three times that at most (0.5 on a GPU)
    -p rungs=2                 which rungs to measure, by number or name; 'library copy' always
]]
local RUNGS = "    rung     library copy\n    rung 2   7 blocks\n"

-- Writes files into a folder and works there: body(words) runs the program and returns status and output.
local function with_files(files, body)
  support.with_folder(function(folder)
    for name, text in pairs(files) do support.write(("%s/%s.lua"):format(folder, name), text) end
    body(function(words)
      return shell(("cd %s && %s %s </dev/null"):format(quoted(folder), quoted(labs.program), words))
    end, folder)
  end)
end

-- A study's file with a text in place of another, or a further line after mw.study.
local function changed(from, to)
  local at, last = STUDY:find(from, 1, true)
  return STUDY:sub(1, at - 1) .. to .. STUDY:sub(last + 1)
end

describe("moonwarp list", function()
  it("lists a study's question, parameters and rungs, as run --help does", function()
    with_files({ mine = STUDY }, function(run)
      assert.are.same({ 0, SHOWN .. RUNGS }, { run "list mine.lua" })
      local status, help = run "run mine.lua --help"
      assert.are.equal(0, status)
      assert.are.equal("\n\n" .. SHOWN .. RUNGS, help:sub(-#SHOWN - #RUNGS - 2))
    end)
  end)

  -- A long value moved the words of its line only.
  it("has the words of all parameters in one column", function()
    local status, output = shell(("%s list cumsum"):format(quoted(labs.program)))
    assert.are.equal(0, status)
    local at = output:find("points along", 1, true) - output:find("    -p n=", 1, true)
    for _, text in ipairs { "element types", "rows per block" } do
      local line = output:match("\n([^\n]*" .. text .. ")")
      assert.are.equal(at, line:find(text, 1, true) - 1, line)
    end
  end)

  it("lists all studies, without their rungs", function()
    local status, output = shell(quoted(labs.program) .. " list")
    assert.are.equal(0, status, output)
    for _, name in ipairs { "cumsum", "memcopy", "nbody", "reduction", "stencil", "streams" } do
      assert.is_truthy(("\n" .. output):find(("\n%-14s "):format(name), 1, true), output)
    end
    assert.is_truthy(output:find("    -p n=4096                  points along each side", 1, true), output)
    assert.is_nil(output:find("    rung ", 1, true), output)
  end)

  it("knows a plain script by its first call that a study cannot make", function()
    with_files({ kept = "", plain = "local mw = require 'moonwarp' local n = mw.arg('n', 1) print(n) mw.device()" },
      function(run)
        local line = "plain          a plain script: its parameters are known when it runs\n"
        assert.are.same({ 0, line }, { run "list plain.lua" })
        assert.are.equal("\n\n" .. line, (select(2, run "run plain.lua --help"):sub(-#line - 2)))
        assert.are.same({ 0, "kept           a plain script: its parameters are known when it runs\n" },
          { run "list kept.lua" })
      end)
  end)

  it("describes a file that runs its study itself", function()
    for _, ending in ipairs { "study:run()", "mw.run(study)", "assert(mw.run(study), 'a check failed')" } do
      with_files({ mine = changed("return study", ending) }, function(run)
        assert.are.same({ 0, SHOWN .. RUNGS }, { run "list mine.lua" }, ending)
      end)
    end
  end)

  it("describes a study that may skip", function()
    with_files({ mine = changed("study:library", "mw.skip 'needs a GPU' study:library") }, function(run)
      local status, output = run "list mine.lua"
      assert.are.equal(0, status, output)
      assert.are.equal(SHOWN:match "^(.-)    %-p rungs", output)
    end)
  end)

  it("gives JSON", function()
    with_files({ mine = STUDY, plain = "", broken = "error 'boom'" }, function(run)
      local status, output = run "list mine.lua plain.lua broken.lua --json"
      assert.are.equal(1, status)
      local mine, plain, broken = table.unpack((cjson.decode(output)))
      assert.are.same({ name = "n", default = 1024, gpu = 1048576, help = "elements", list = false, min = 1 },
        mine.params[1])
      assert.are.same({ "mine", "mine.lua", "is it quick?", "7 blocks", "ladder" },
        { mine.name, mine.path, mine.question, mine.rungs[2].name, mine.parts[1] })
      assert.are.same({ name = "plain", path = "plain.lua", plain = true }, plain)
      assert.are.same({ name = "broken", path = "broken.lua", error = "broken.lua:1: boom" }, broken)
    end)
  end)
end)

-- Files that cannot be described, and what is said of them.
local BROKEN = {
  { "loops", "while true do pcall(function() while true do end end) end", "it was still running after 0:10" },
  { "floods", "while true do print(('x'):rep(1000)) end", "it printed more than 1.00 MiB" },
  { "crashes", "package.loadlib('libc.so.6', 'abort')()", "killed by signal 6 (SIGABRT)" },
  { "fails", "local x = nil\nprint(x.y)", "fails.lua:2: attempt to index a nil value (local 'x')" },
  { "object", "error(setmetatable({}, { __tostring = function() return 'own\\nwords' end }))", "own" },
  { "syntax", "x =", "syntax.lua:1: unexpected symbol near <eof>" },
  { "pretends", "print '{\"plain\":true}' error 'no'", "pretends.lua:1: no" },
  { "typo", changed("make =", "maek ="),
    "typo.lua:11: rung 2 '7 blocks': unknown option 'maek'; did you mean 'make'?" },
  { "lost", changed("return study", ""), "lost.lua:4: the file must end with 'return study'" },
  { "wrong", changed("answer = \"copy\"", "answer = \"cpoy\""),
    "wrong.lua:11: rung 2 '7 blocks': there is no answer 'cpoy'; did you mean 'copy'?" },
}

describe("a file that cannot be described", function()
  it("does not keep the others from it", function()
    local files, words = { mine = STUDY }, {}
    for i, one in ipairs(BROKEN) do files[one[1]], words[i] = one[2], one[1] .. ".lua" end
    with_files(files, function(run)
      local status, output = run(("list %s mine.lua"):format(table.concat(words, " ")))
      assert.are.equal(1, status, output)
      for _, one in ipairs(BROKEN) do
        local line = ("%-14s cannot be described: %s"):format(one[1], one[3])
        assert.is_truthy(("\n" .. output):find("\n" .. line, 1, true), ("no '%s' in:\n%s"):format(line, output))
      end
      assert.are.equal(SHOWN .. RUNGS, output:sub(-#SHOWN - #RUNGS))
    end)
  end)
end)

describe("a file that holds too much", function()
  it("is ended for that", function()
    support.with_folder(function(folder)
      local file = folder .. "/eats.lua"
      support.write(file, "local t = {} for i = 1, 12 do t[i] = ('x'):rep(64 << 20) end while true do end")
      local unhurried = { seconds = 3600 } -- else a slow machine says that it ran too long
      local described = require("moonwarp.lab.studies").describe({ file }, { unhurried })
      assert.are.equal("its processes held more than 512 MiB", described[1].error)
    end)
  end)
end)

-- What a plain script does before anything shows that it is one; nothing of it happens.
local EFFECTS = {
  "os.execute 'touch made'", "os.exit(7)", "os.remove 'kept'", "os.rename('kept', 'made')", "os.tmpname()",
  "io.popen 'touch made'", "io.open('made', 'w')", "io.open('kept', 'a')", "io.open('kept', 'r+b')", "io.output 'made'",
  "require('lfs').mkdir 'made'", "require('lfs').touch 'made'", "mw.record { x = 1 }", "mw.bench(print)",
  "mw.plot { x = 'x', y = 'y' }", "mw.remark 'x'", "mw.skip 'x'", "mw.device()",
  "require('moonwarp.core').device 'cpu'",
}

describe("a plain script that is listed", function()
  it("has no effect, whatever it catches", function()
    local files, words = {}, {}
    for i, effect in ipairs(EFFECTS) do
      files["e" .. i] = ("local mw = require 'moonwarp' pcall(function() %s end) error 'caught'"):format(effect)
      words[i] = ("e%d.lua"):format(i)
    end
    with_files(files, function(run, folder)
      support.write(folder .. "/kept", "kept")
      local status, output = run("list " .. table.concat(words, " "))
      assert.are.equal(0, status, output)
      assert.are.equal(#EFFECTS, select(2, output:gsub("a plain script: its parameters are known when it runs\n", "")))
      assert.are.same({ 0, "kept\nkept\n" }, { shell(("cd %s && ls -d made kept out 2>/dev/null; cat kept; echo")
        :format(quoted(folder))) })
    end)
  end)

  it("may read", function()
    with_files({ reads = "error(io.open(arg[0], 'r'):read 'l', 0)" }, function(run)
      assert.are.same({ 1, "reads          cannot be described: error(io.open(arg[0], 'r'):read 'l', 0)\n" },
        { run "list reads.lua" })
    end)
  end)
end)

describe("a study's file", function()
  it("is described without a device", function()
    local look = "assert(require('moonwarp.core').live().device == 0)\nstudy:library"
    with_files({ mine = changed("study:library", look) }, function(run)
      assert.are.same({ 0, SHOWN .. RUNGS }, { run "list mine.lua" })
    end)
  end)

  it("describes, and does nothing else", function()
    for call, problem in pairs {
      ["mw.device()"] = "mw.device: a study's file describes; a device is the runner's, c.dev in its functions",
      ["mw.bench(print)"] = "mw.bench: a study's file describes; its functions may call this",
      ["os.remove 'x'"] = "os.remove: a study's file describes; its functions may call this",
      ["io.open('x', 'w')"] = "io.open: a study's file describes; its functions may call this",
      ["pcall(mw.arg, 'k', 1)"] = "mw.arg: a study's file describes; its parameters are the params of mw.study",
    } do
      with_files({ mine = changed("study:library", call .. "\nstudy:library") }, function(run)
        assert.are.same({ 1, ("mine           cannot be described: mine.lua:10: %s\n"):format(problem) },
          { run "list mine.lua" })
      end)
    end
    with_files({ mine = changed("local study", "local k = mw.arg('k', 1)\nlocal study") }, function(run)
      assert.are.same({ 1, "mine           cannot be described: mine.lua:4: mw.arg: a study's file describes; its "
        .. "parameters are the params of mw.study\n" }, { run "list mine.lua" })
    end)
  end)

  it("is run with a sweep, by what it returns", function()
    with_files({ mine = STUDY, lost = changed("return study", "") }, function(run)
      local status, output = run "run mine.lua --device cpu --out out --quiet -p n=64,128 -p seconds=0"
      assert.are.same({ 0, "noise\nnoise\n" }, { status, output })
      status, output = run "run mine.lua --device cpu --out out -p m=1"
      assert.are.equal(2, status)
      local problem = "moonwarp: unknown parameter 'm'; there is n, tile, name, seconds, rungs\n"
      assert.is_truthy(output:find(problem, 1, true), output)
      status, output = run "run lost.lua --device cpu --out out"
      assert.are.equal(1, status)
      assert.is_truthy(output:find("lost.lua:4: the file must end with 'return study'", 1, true), output)
    end)
  end)
end)

describe("a curriculum", function()
  it("is rejected for parameters that a study does not have", function()
    local head = 'return { { name = "a", script = "mine.lua", devices = "cpu", params = { n = 8, %s } },\n'
    local rest = '{ name = "b", script = "plain.lua", devices = "cpu", params = { any = 1 } },\n'
      .. '{ name = "c", script = "broken.lua", devices = "cpu", params = { any = 1 } } }'
    local files = { mine = STUDY, plain = "", broken = "error 'x'", labs = head:format "nmae = 'x', other = 1" .. rest,
                    right = head:format "name = 'x', seconds = 0, rungs = 2" .. rest }
    with_files(files, function(run)
      local status, output = run "batch labs.lua --dry-run"
      assert.are.equal(2, status)
      assert.are.equal("moonwarp: labs.lua: lab 'a': the study has no parameter 'nmae'; did you mean 'name'?\n"
        .. "labs.lua: lab 'a': the study has no parameter 'other'; there is n, tile, name, seconds, rungs\n",
        (output:gsub("moonwarp: labs [^\n]*\n", ""))) -- are described without a sandbox, where there is none
      status, output = run "batch right.lua --dry-run"
      assert.are.equal(0, status, output)
    end)
  end)
end)
