-- SPDX-License-Identifier: MIT
--
-- The session: what it owns, and how its run ends, whichever way the script leaves.

local session = require "moonwarp.session"
local support = require "tests.support"
local store = require "moonwarp.results.store"
local mw = support.mw

-- A session of its own, whose results go to a folder.
local function in_session(body)
  support.with_folder(function(folder)
    local before = session.current
    local mine = session.begin { out = folder, script = "some/study.lua" }
    local ok, message = xpcall(body, debug.traceback, mine, folder)
    mine:finish { status = "complete" }
    session.current = before
    if not ok then error(message, 0) end
  end)
end

describe("a session", function()
  it("owns parameters, records, failed checks and the device opened last", function()
    local dev <close> = mw.device "cpu"
    in_session(function(mine)
      assert.is_nil(mine:device())
      mine.pass = { n = { "3" } }
      assert.are.equal(3, mw.arg("n", 1))
      mw.record { device = "cpu", n = 3 }
      mw.check(dev:full(1, "i32", 4), 2, { quiet = true })
      assert.are.same({ 1, 1, 1 }, { #mine.declared, #mine.records, mine.failed_checks })
      assert.are.equal(mw.device "cpu", mine:device())
    end)
    in_session(function(mine)
      assert.are.same({ 0, 0, 0 }, { #mine.declared, #mine.records, mine.failed_checks })
      assert.are.equal(1, mw.arg("n", 1))
    end)
  end)

  it("begins another run if the script or the place changes", function()
    in_session(function(mine, folder)
      mw.record { device = "cpu", i = 1 }
      local first = mine:folder()
      mine.options.script = "some/other.lua"
      mw.record { device = "cpu", i = 2 }
      assert.are.equal("complete", assert(store.read(first)).status)
      assert.are.equal(folder .. "/other/", mine:folder():match "^(.*/)")
    end)
  end)

  it("ends each run by its own checks", function()
    in_session(function(mine)
      local folders = {}
      for i, value in ipairs { 2, 1 } do -- the first one is wrong
        mine.options.script = ("some/%d.lua"):format(i)
        mw.record { device = "cpu", i = i }
        mw.check(mw.device "cpu":full(1, "i32", 4), value, { quiet = true })
        folders[i] = mine:folder()
      end
      mine:finish(mine:ending())
      local first, second = assert(store.read(folders[1])), assert(store.read(folders[2]))
      assert.are.same({ "check failed", 3, "complete", 0 }, { first.status, first.exit, second.status, second.exit })
    end)
  end)

  it("keeps what makes no run until a result does", function()
    in_session(function(mine)
      mine:mention("remark", { text = "before" })
      assert.is_nil(mine.run)
      mw.record { device = "cpu" }
      local made = mine:finish { status = "complete" }
      assert.are.equal("before", assert(store.read(made)).remarks[1].text)
      assert.is_nil((mine:finish { status = "complete" }))
    end)
  end)
end)

local function run_of(script, lua, body)
  support.with_folder(function(folder)
    support.write(folder .. "/s.lua", "local mw = require 'moonwarp'\nmw.record { device = 'cpu', x = 1 }\n" .. script)
    local pipe <close> = assert(io.popen(("cd '%s' && %s s.lua 2>&1; echo status $?"):format(folder, lua)))
    body(pipe:read "a", support.run(folder .. "/out"))
  end)
end

describe("a run that the script leaves", function()
  local program = support.program()
  if not program then
    pending "needs the program"
    return
  end

  for script, wanted in pairs {
    ["os.exit(0)"] = { 0, "complete" }, ["os.exit(true)"] = { 0, "complete" }, ["os.exit(7)"] = { 7, "failed" },
    ["os.exit(false)"] = { 1, "failed" }, ["coroutine.wrap(function() os.exit(3) end)()"] = { 3, "failed" },
    ["pcall(os.exit, 4)"] = { 4, "failed" }, ["os.exit(300)"] = { 44, "failed" },
    ["mw.check(mw.device('cpu'):full(1, 'i32', 1), 2) os.exit(0)"] = { 3, "check failed" },
    ["os.exit(5, true)"] = { 5, "failed" }, ["os.exit(0, true)"] = { 0, "complete" },
  } do
    it("by " .. script .. " is " .. wanted[2], function()
      run_of(script, ("'%s' run"):format(program), function(output, folder)
        local stored = assert(store.read(folder))
        assert.are.same({ wanted[2], 1 }, { stored.status, #stored.records })
        assert.are.equal(wanted[1], stored.exit)
        assert.is_truthy(output:find("status " .. wanted[1], 1, true), output)
        assert.is_nil(io.open(folder .. "/journal.jsonl"))
      end)
    end)
  end

  it("by os.exit in another interpreter has its journal", function()
    local stock = support.stock_interpreter()
    if not stock then return end
    run_of("os.exit(0)", stock, function(output, folder)
      local stored = assert(store.read(folder))
      assert.are.same({ "unfinished", 1 }, { stored.status, #stored.records })
      assert.is_truthy(output:find("status 0", 1, true), output)
    end)
  end)
end)

describe("a traceback", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  -- The script's own lines, from where it failed, whatever of the library lies between.
  for call in pairs {
    ["mw.bench(broken, { samples = 1, batch = 1 })"] = true,
    ["mw.bench({ a = broken }, { samples = 1, batch = 1 })"] = true,
    ["mw.check(mw.device('cpu'):full(1, 'i32', 2), broken)"] = true,
  } do
    it("has all lines of the script through " .. call:match "^[%w.]+", function()
      local status, output = support.child(("local mw = require 'moonwarp'\nlocal function broken()\n  local t\n"
        .. "  return t.x\nend\n%s\n"):format(call))
      assert.are.equal(1, status, output)
      assert.is_truthy(output:find ":4: attempt to index a nil value %(local 't'%)", output)
      assert.is_truthy(output:find "\n  [^\n]*:4: in [^\n]*\n", output)
      assert.is_truthy(output:find "\n  [^\n]*:6: in main chunk\n", output)
    end)
  end

  for mistake, words in pairs {
    ["t.x = 1"] = "s.lua:5: attempt to index a nil value",
    ["error({}, t)"] = "the script raised a table value, not a message\n",
    ["error(nil, t)"] = "the script raised a nil value, not a message\n",
    ["error(setmetatable({}, { __tostring = function() return 'mine' end }), t)"] = "mine\n",
  } do
    it("has them through a study, whose entry is named first, for " .. mistake, function()
      support.with_folder(function(folder)
        support.write(folder .. "/s.lua", ([[
          local mw = require "moonwarp"
          local study = mw.study { question = "?" }
          study:finally(function()
            local t
            %s
          end)
          return study]]):format(mistake))
        local pipe <close> = assert(io.popen(("cd '%s' && '%s' run s.lua --device cpu 2>&1"):format(folder,
          support.program())))
        local output = pipe:read "a"
        assert.is_truthy(output:find("moonwarp: s.lua:3: finally, its function: " .. words, 1, true), output)
        assert.is_truthy(output:find("\n  s.lua:5: in ", 1, true), output)
      end)
    end)
  end
end)
