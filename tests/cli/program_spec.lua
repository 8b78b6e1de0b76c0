-- SPDX-License-Identifier: MIT
--
-- The program: words, options, exit statuses, sweeps, Ctrl-C, the prompt. $MOONWARP_PROGRAM is what was built.

local support = require "tests.support"
local labs = require "tests.support.labs"
local PROGRAM, quoted, shell = labs.program, labs.quoted, labs.shell

local function moonwarp(...)
  local words = { quoted(PROGRAM) }
  for _, word in ipairs { ... } do words[#words + 1] = quoted(word) end
  return shell("</dev/null " .. table.concat(words, " "))
end

local function expect(status, text, ...)
  local got, output = moonwarp(...)
  assert.are.equal(status, got, output)
  assert.are.equal(text, output)
end

local function expect_part(status, part, ...)
  local got, output = moonwarp(...)
  assert.are.equal(status, got, output)
  assert.is_truthy(output:find(part, 1, true), output)
end

-- Runs a script from a file in a folder of its own, with further words.
local function run_script(text, ...)
  local words, status, output = { ... }, nil, nil
  support.with_folder(function(folder)
    local file = folder .. "/script.lua"
    support.write(file, text)
    status, output = moonwarp("run", file, "--out", folder .. "/out", table.unpack(words))
    output = output:gsub(folder:gsub("%p", "%%%0"), "FOLDER")
  end)
  return status, output
end

describe("the command line", function()
  it("explains its words", function()
    expect_part(0, "usage:", "--help")
    expect_part(0, "--device ID", "run", "--help")
    expect_part(0, "usage: moonwarp list", "list", "--help")
    expect_part(0, "usage: moonwarp info", "info", "--help")
    expect_part(0, "usage: moonwarp repl", "repl", "--help")
    expect_part(0, "stat|clear", "cache", "--help")
    expect_part(0, "usage: moonwarp -e CODE", "-e", "--help")
    expect(0, "moonwarp " .. support.core.version .. "\n", "--version")
  end)

  it("rejects unknown words with the nearest known one", function()
    expect(2, "moonwarp: unknown command 'rnu'; did you mean 'run'?\n", "rnu")
    expect(2, "moonwarp: unknown command 'xyzzy'; moonwarp --help lists them\n", "xyzzy")
    expect(2, "moonwarp: unknown command 'mine.lua'; to run it: moonwarp run mine.lua\n", "mine.lua")
    expect(2, "moonwarp: unknown option '--verison'; did you mean '--version'?\n", "--verison")
    expect(2, "moonwarp: unknown option '--dveice'; did you mean '--device'?\n", "run", "x.lua", "--dveice", "cpu")
    expect(2, "moonwarp: unknown study 'memcpoy'; did you mean 'memcopy'?\n", "run", "memcpoy")
    expect(2, "moonwarp: unknown action 'claer'; did you mean 'clear'?\n", "cache", "claer")
    expect(2, "moonwarp: unknown device 'cdua'; did you mean 'cuda'?\n", "-e", "", "--device", "cdua")
    expect(2, "moonwarp: there is no file 'no/such.lua'\n", "run", "no/such.lua")
  end)

  it("rejects what is missing or too much", function()
    expect(2, "moonwarp: a command is wanted; moonwarp --help lists them\n")
    expect(2, "moonwarp: run wants a study or a file; moonwarp list names the studies\n", "run")
    expect(2, "moonwarp: option '-e' wants a piece of Lua\n", "-e")
    expect(2, "moonwarp: option '--out' wants a folder\n", "-e", "", "--out")
    expect(2, "moonwarp: option '--quiet' takes no value\n", "-e", "", "--quiet=1")
    expect(2, "moonwarp: option '--device' is given twice\n", "-e", "", "--device", "cpu", "--device=cpu")
    expect(2, "moonwarp: option '-p' wants name=value, got 'n'\n", "-e", "", "-p", "n")
    expect(2, "moonwarp: parameter 'n' is given twice; a list is -p n=1,2\n", "-e", "", "-p", "n=1", "-p", "n=2")
    expect_part(2, "moonwarp: unknown study 'memcpy'; did you mean 'memcopy'?", "list", "memcpy")
    expect_part(2, "moonwarp: unknown study 'memcpy'; did you mean 'memcopy'?", "run", "memcpy", "--help")
    expect(2, "moonwarp: cache wants stat or clear\n", "cache")
  end)
end)

describe("the exit status", function()
  it("is 0 when done", function()
    expect(0, "", "-e", "")
    expect(0, "3\ta\tb\n", "-e", "print(1 + 2, ...)", "--", "a", "b")
  end)

  it("is 1 for an error, with the user's lines", function()
    expect(1, "moonwarp: (-e):1: unexpected symbol near <eof>\n", "-e", "x =")
    local status, output = run_script "local function f(t)\n  return t.x.y\nend\nlocal y = f {}\nprint(y)\n"
    assert.are.equal(1, status)
    assert.are.equal([[
moonwarp: FOLDER/script.lua:2: attempt to index a nil value (field 'x')
  FOLDER/script.lua:2: in f
      return t.x.y
  FOLDER/script.lua:4: in main chunk
      local y = f {}
]], output)
  end)

  it("is 1 for an error of another kind", function()
    expect_part(1, "moonwarp: the script raised a table value, not a message", "-e", "error {}")
    expect_part(1, "moonwarp: (-e):1: module 'moonwrap' not found:\n\tno field package.preload['moonwrap']\n\t"
      .. "did you mean 'moonwarp'?\n", "-e", "require 'moonwrap'")
    expect_part(1, "moonwarp: own words", "-e",
      "error(setmetatable({}, { __tostring = function() return 'own words' end }))")
  end)

  it("is 3 when a check failed, and the script goes on", function()
    local status, output = run_script [[
      local mw = require "moonwarp"
      local dev = mw.device "cpu"
      mw.check(dev:full(1, "i32", 4), dev:full(2, "i32", 4))
      print "went on"
    ]]
    assert.are.equal(3, status, output)
    assert.is_truthy(output:find("went on", 1, true))
    assert.is_truthy(output:find("moonwarp: a check failed", 1, true))
  end)

  it("is 4 without such a device", function()
    expect_part(4, "moonwarp: (-e):1: ", "-e", "mw.device()", "--device", "cuda:99")
    expect_part(4, "moonwarp: (-e):1: ", "-e", "mw.device 'cuda:99'")
    expect_part(4, "moonwarp: no luck: (-e):1: ", "-e",
      "local _, e = pcall(mw.device, 'cuda:99') e.text, e.where = 'no luck: ' .. e, nil error(e)")
    expect_part(1, "moonwarp: no luck: (-e):1: ", "-e",
      "local _, e = pcall(mw.device, 'cuda:99') error('no luck: ' .. e, 0)")
    expect_part(1, "moonwarp: another error", "-e", "pcall(mw.device, 'cuda:99') error('another error', 0)")
  end)
end)

describe("the output folder", function()
  it("is tried before the script starts", function()
    support.with_folder(function(folder)
      support.write(folder .. "/file", "")
      expect(2, ("moonwarp: cannot make the output folder %s/file: File exists; choose another with --out DIR\n")
        :format(folder), "-e", "print(1)", "--out", folder .. "/file")
      expect(0, "1\n", "-e", "print(1)", "--out", folder .. "/a/b")
    end)
    expect_part(2, "moonwarp: cannot make the output folder /proc/nowhere: ", "-e", "print(1)", "--out",
      "/proc/nowhere")
  end)
end)

describe("parameters", function()
  local SCRIPT = [[
    local mw = require "moonwarp"
    print(mw.arg("n", 1), mw.arg("by", 2), mw.arg("name", "x"))
  ]]

  it("are set", function()
    local status, output = run_script(SCRIPT, "-p", "n=8", "-p", "name=a\\,b")
    assert.are.equal(0, status, output)
    assert.are.equal("8\t2\ta,b\n", output)
  end)

  it("sweep over the product of their values, the last fastest", function()
    local _, output = run_script(SCRIPT, "-p", "n=1,2", "-p", "by=3,4")
    assert.are.equal("1\t3\tx\n1\t4\tx\n2\t3\tx\n2\t4\tx\n", output)
  end)

  it("take all values if the default is a list", function()
    local _, output = run_script([[
      local mw = require "moonwarp"
      print(table.concat(mw.arg("sizes", { 1, 2 }), "+"), mw.arg("n", 1))
    ]], "-p", "sizes=4,8,16", "-p", "n=1,2")
    assert.are.equal("4+8+16\t1\n4+8+16\t2\n", output)
  end)

  it("that the script does not ask for are rejected at its end", function()
    local status, output = run_script(SCRIPT, "-p", "naem=q")
    assert.are.equal(2, status)
    assert.are.equal("1\t2\tx\nmoonwarp: unknown parameter 'naem'; did you mean 'name'?\n", output)
    status, output = run_script(SCRIPT, "-p", "z=1", "-p", "a=1")
    assert.are.equal(2, status)
    assert.are.equal("1\t2\tx\nmoonwarp: unknown parameter 'a'; there is n, by, name\n", output)
    expect(2, "1\nmoonwarp: unknown parameter 'n'; the script asks for none with mw.arg\n", "-e", "print(1)", "-p",
      "n=1")
  end)

  it("that the script does not ask for are rejected at its first measurement", function()
    for _, call in ipairs { "mw.bench(print)", "mw.record { x = 1 }" } do
      local script = ('local mw = require "moonwarp"\nmw.arg("n", 1)\n%s\nprint "measured"\n'):format(call)
      local status, output = run_script(script, "-p", "m=1")
      assert.are.equal(2, status)
      assert.are.equal("moonwarp: unknown parameter 'm'; there is n; a script asks for its parameters before its first "
        .. "measurement, at FOLDER/script.lua:3\n", output)
    end
    expect_part(2, "moonwarp: unknown parameter 'z'; the script asks for none with mw.arg; a script asks for its "
      .. "parameters before its first measurement, at (-e):1\n", "-e", "mw.bench(print) mw.arg('z', 1)", "-p", "z=1")
    expect_part(2, "moonwarp: unknown parameter 'm'; there is n, type, smallest, shapes, vector_block, seconds, rungs, "
      .. "parts\n", "run", "memcopy", "-p", "m=1", "--device", "cpu")
  end)

  it("are known however a script asks for them", function()
    for _, text in ipairs { "local get = mw.arg print(get('name', 'x'))", "print(mw['arg']('name', 'x'))",
                            "print(load('return mw.arg(\"name\", \"x\")')())" } do
      expect(0, "q\nr\n", "-e", text, "-p", "name=q,r")
    end
  end)

  it("that only some passes ask for are swept there", function()
    expect(0, "a\nb\t1\nb\t2\nc\n", "-e",
      "local kind = mw.arg('kind', 'a') if kind == 'b' then print(kind, mw.arg('n', 0)) else print(kind) end",
      "-p", "kind=a,b,c", "-p", "n=1,2")
  end)

  it("tell what comes before the last pass", function()
    local code = "mw.arg('n', 1) mw.record { x = 1 } print(require('moonwarp.session').current.more)"
    support.with_folder(function(folder)
      expect(0, "true\ntrue\nfalse\n", "-e", code, "-p", "n=1,2,3", "--quiet", "--out", folder)
      expect(0, "false\n", "-e", code, "-p", "n=1", "--quiet", "--out", folder)
    end)
  end)

  it("that do not fit are rejected", function()
    local status, output = run_script(SCRIPT, "-p", "n=many")
    assert.are.equal(2, status)
    assert.is_truthy(output:find("parameter 'n' must be an integer, got 'many'", 1, true), output)
  end)

  it("that do not fit are rejected in the first run of a sweep", function()
    local status, output = run_script(SCRIPT, "-p", "n=1,2,many")
    assert.are.equal(2, status)
    assert.is_nil(output:find("1\t2\tx", 1, true), output)
    assert.is_truthy(output:find("parameter 'n' must be an integer, got 'many'", 1, true), output)
  end)

  it("of memcopy are rejected beyond its limits", function()
    expect_part(2, "parameter 'n' must be a number from 256 to 65535, got '8'", "run", "memcopy", "-p", "n=512,8",
      "--device", "cpu")
  end)

  it("do not write the file of --json if they are wrong", function()
    support.with_folder(function(folder)
      support.write(folder .. "/r.jsonl", "old\n")
      for _, code in ipairs { "", "mw.record { x = 1 }" } do
        expect_part(2, "unknown parameter 'n'", "-e", code, "-p", "n=1", "--json", folder .. "/r.jsonl")
        assert.are.equal("old\n", support.read(folder .. "/r.jsonl"))
      end
      expect(0, "", "-e", "", "--json", folder .. "/r.jsonl")
      assert.are.equal("", support.read(folder .. "/r.jsonl"))
    end)
  end)

  it("meet in one file of records", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[
        local mw = require "moonwarp"
        mw.record { n = mw.arg("n", 1) }
      ]])
      support.write(folder .. "/r.jsonl", "old\n")
      local status, output = moonwarp("run", folder .. "/s.lua", "--out", folder, "-p", "n=5,6", "--json",
        folder .. "/r.jsonl")
      assert.are.equal(0, status, output)
      local _, lines = support.read(folder .. "/r.jsonl"):gsub("\n", "")
      assert.are.equal(2, lines)
      assert.is_truthy(support.read(folder .. "/r.jsonl"):find('"n":6', 1, true))
    end)
  end)
end)

describe("moonwarp info", function()
  it("lists devices, tools and the cache", function()
    local status, output = moonwarp "info"
    assert.are.equal(0, status)
    for _, word in ipairs { "devices\n", "  cpu ", "  cuda", "C++ compiler", "gnuplot", "\nlibraries\n",
                           "threads per block, at most  1024\n", "  moonwarp.blas   cpu ", "\ncache\n" } do
      assert.is_truthy(output:find(word, 1, true), word .. " is not in: " .. output)
    end
  end)

  it("gives JSON", function()
    local _, output = moonwarp("info", "--json")
    local info = assert(require("cjson").decode(output))
    local by_id = {}
    for _, device in ipairs(info.devices) do by_id[device.id] = device end
    assert.is_true(by_id.cpu.usable)
    assert.are.equal(32, by_id.cpu.properties.warp_size)
    assert.is_string(info.cache.folder)
    for _, library in ipairs(info.libraries) do assert.is_string(library.path or library.reason) end
    if by_id.cuda then assert.is_string(by_id.cuda.reason) end
  end)
end)

describe("moonwarp cache", function()
  it("reports on the cache and clears it", function()
    support.with_folder(function(folder)
      local env = ("MOONWARP_CACHE=%s/cache %s "):format(folder, quoted(PROGRAM))
      local _, output = shell(env .. "cache stat")
      local text = "folder   %s/cache\nentries  0, 0 B of at most 1.00 GiB\nhits     0, misses 0\n"
      assert.are.equal(text:format(folder),
        output)
      _, output = shell(env .. "cache clear")
      assert.are.equal("0 entries removed\n", output)
    end)
  end)
end)

describe("Ctrl-C", function()
  -- SIGINT, when the code says that it runs.
  local function interrupted(code)
    local status, output = support.signalled(("exec %s -e %s"):format(quoted(PROGRAM),
      quoted('io.stderr:write "running\\n"; ' .. code)), "INT", { "grep -q running $D/output" })
    return status, output:gsub("^running\n", "")
  end

  it("ends a script with a message, its variables closed", function()
    local status, output = interrupted [[
      local t <close> = setmetatable({}, { __close = function() print "closed" end })
      while true do end]]
    assert.are.equal(130, status, output)
    assert.is_truthy(output:find("^closed\nmoonwarp: %(%-e%):2: interrupted\n  %(%-e%):2: in main chunk\n"), output)
  end)

  it("ends a script that runs in a coroutine, or catches errors in a loop", function()
    assert.are.equal(130, (interrupted "coroutine.wrap(function() while true do end end)()"))
    assert.are.equal(130, (interrupted [[coroutine.resume(coroutine.create(function() while true do end end))
      print 'on']]))
    assert.are.equal(130, (interrupted "while true do pcall(function() while true do end end) end"))
  end)

  it("ends coroutines in coroutines, of which any may catch the error, and there may be many", function()
    for _, code in ipairs {
      [[local function deep(n)
          return coroutine.wrap(function() if n == 0 then while true do end end deep(n - 1)() end)
        end
        deep(20)()]],
      [[coroutine.wrap(function()
          while true do coroutine.resume(coroutine.create(function() while true do end end)) end
        end)()]],
      [[while true do coroutine.resume(coroutine.create(function() pcall(function() while true do end end) end)) end]],
      [[local kept = {}
        for i = 1, 10000 do kept[i] = coroutine.wrap(function() coroutine.yield() while true do end end) kept[i]() end
        for i = 1, 5000 do kept[i] = nil end
        collectgarbage()
        kept[7777]()]],
      [[for _ in coroutine.wrap(function() while true do coroutine.yield(1) end end) do coroutine.wrap(print) end]],
    } do
      local status, output = interrupted(code)
      assert.are.equal(130, status, output)
      assert.is_truthy(output:find("interrupted", 1, true), output)
    end
  end)

  it("leaves Lua's own functions as they are", function()
    expect_part(0, "nil\tnil\n", "-e",
      "print(debug.getupvalue(coroutine.resume, 1), (debug.getupvalue(coroutine.wrap, 1)))")
  end)

  it("ends a benchmark and a kernel on the CPU device", function()
    local status, output = interrupted [[
      local dev = mw.device "cpu"
      mw.bench(function() end, { min_time = 60, max_time = 60 })]]
    assert.are.equal(130, status, output)
    assert.is_truthy(output:find("interrupted", 1, true), output)
    status, output = interrupted [[
      local dev = mw.device "cpu"
      local k = dev:module { source = "__global__ void spin(volatile int *x) { while (*x == 0) { } }" }:kernel "spin"
      local x = dev:zeros("i32", 1)
      k:launch(1, 1, x)
      dev:synchronize()]]
    assert.is_truthy(output:find("interrupted", 1, true), output)
    assert.are.equal(130, status, output)
  end)
end)

describe("the prompt", function()
  local function typed(text)
    local status, output
    support.with_folder(function(folder)
      support.write(folder .. "/typed", text)
      status, output = shell(("%s repl <%s/typed"):format(quoted(PROGRAM), folder))
    end)
    return status, output
  end

  it("prints expressions, goes on after errors, reads statements over several lines", function()
    local status, output = typed [[
x = 5
x + 1, "a", nil
= { 1, b = "two", {} }
for i = 1, 2 do
  print(i)
end
error "no"
mw.version == require("moonwarp.core").version
]]
    assert.are.equal(0, status)
    assert.are.equal('6\ta\tnil\n{ 1, {}, b = "two" }\n1\n2\n(prompt):1: no\n  (prompt):1: in main chunk\ntrue\n',
      output)
  end)

  -- A terminal, by script(1): what is typed goes through the line editor.
  local function at_terminal(folder, steps)
    return support.typed(("HOME=%s XDG_STATE_HOME=%s/state TERM=xterm %s repl"):format(folder, folder,
      quoted(PROGRAM)), steps)
  end

  it("completes names at a terminal and keeps a private history", function()
    support.with_folder(function(folder)
      local output = at_terminal(folder, { { "> ", [[print(mw.vers\t .. "!")\n]] },
                                           { support.core.version .. "!", "\\004" } })
      assert.is_truthy(output:find(support.core.version .. "!", 1, true), output)
      local _, mode = shell(("stat -c %%a %s/state/moonwarp/history"):format(folder))
      assert.are.equal("600\n", mode)
      assert.is_truthy(support.read(folder .. "/state/moonwarp/history"):find("mw.version", 1, true))
    end)
  end)

  it("gives up a line, or what runs, at Ctrl-C", function()
    support.with_folder(function(folder)
      local output = at_terminal(folder, { { "> ", "nonsense(" }, { "nonsense(", "\\003" },
        { "> ", [[print("be" .. "gun") while true do end\n]] }, { "begun", "\\003" },
        { "> ", "6 * 7\\n" }, { "42", "\\004" } })
      assert.is_truthy(output:find("interrupted", 1, true), output)
      assert.is_truthy(output:find("42", 1, true), output)
      assert.is_nil(output:find("unexpected", 1, true), output)
    end)
  end)
end)

describe("completion at the prompt", function()
  local complete = require("moonwarp.prompt.complete").line

  it("finds globals, keywords, fields and methods", function()
    assert.are.equal("le", (complete "whi"))
    assert.are.equal("at(", (complete "x = string.form"))
    _G.cli_spec_object = setmetatable({}, { __index = { measure = print, size = 1 } })
    assert.are.equal("asure(", (complete "cli_spec_object:me"))
    assert.are.equal("ize", (complete "cli_spec_object.s"))
    assert.are.equal("", (complete "cli_spec_object:s"))
    _G.cli_spec_object = nil
  end)

  it("lists if there are several, and calls nothing", function()
    local insert, list = complete "string.gm"
    assert.are.equal("atch(", insert)
    assert.is_nil(list)
    insert, list = complete "table."
    assert.are.equal("", insert)
    assert.is_truthy(list:find("concat%s+insert"))
    _G.cli_spec_object = setmetatable({}, { __index = function() error "called" end })
    assert.are.equal("", (complete "cli_spec_object.x.y"))
    _G.cli_spec_object = nil
  end)
end)

describe("the start of the program", function()
  it("opens no device", function()
    expect(0, "0\n", "-e", "print(require('moonwarp.core').live().device)")
  end)

  it("loads what is asked for and no more", function()
    local list = "n = 0 for name in pairs(package.loaded) do n = n + (name:find '^moonwarp' and 1 or 0) end print(n)"
    local _, output = shell(("%s -e %s"):format(quoted(PROGRAM), quoted(list)))
    assert.is_true(tonumber(output) <= 12, output)
  end)
end)
