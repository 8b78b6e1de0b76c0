-- SPDX-License-Identifier: MIT
--
-- What runs once stored wrongly, or so that it could not be read.

local support = require "tests.support"
local session = require "moonwarp.session"
local store = require "moonwarp.results.store"
local mw = support.mw

local function with_output(body)
  support.with_folder(function(folder)
    local first = #session.current.records
    local ok, message = pcall(support.into, folder, body)
    for i = #session.current.records, first + 1, -1 do session.current.records[i] = nil end
    if not ok then error(message, 0) end
  end)
end

local function with_run(script, body)
  support.with_folder(function(folder)
    support.write(folder .. "/s.lua", script)
    local pipe <close> = assert(io.popen(("cd '%s' && '%s' run s.lua --device cpu --out out 2>&1"):format(folder,
      support.program())))
    body(folder, pipe:read "a")
  end)
end

describe("a record", function()
  -- Bytes that are no UTF-8 and numbers that JSON does not have made a journal that could not be read.
  it("keeps what a script may well give, and can read it again", function()
    with_output(function()
      mw.record { device = "cpu", t = { median = 3 }, bad = "\xff\xfe", nan = 0 / 0, list = { 1, 0 / 0, 3 } }
      mw.record { device = "cpu", x = 1.5 }
      mw.table { "x", "nan", quiet = true }
      local stored = assert(store.read(session.current:finish { status = "complete", exit = 0 }))
      assert.are.equal("\u{FFFD}\u{FFFD}", stored.records[1].bad)
      assert.are.same({ 1, false, 3 }, { math.tointeger(stored.records[1].list[1]), stored.records[1].list[2],
        math.tointeger(stored.records[1].list[3]) })
      assert.is_nil(stored.records[1].nan)
      assert.are.equal(2, #stored.tables[1].columns[1].numbers)
    end)
  end)
end)

describe("a run", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  -- The results went to the script's new folder, the source was the changed one, and os.exit left a journal.
  it("keeps what ran, wherever the script goes and whatever becomes of its file", function()
    with_run([[
      local mw = require "moonwarp"
      local file = io.open("s.lua", "a")
      file:write "-- changed"
      file:close()
      mw.record { device = "cpu", i = 1 }
      require("lfs").chdir "/"
      mw.record { device = "cpu", i = 2 }
      mw.plot { x = "i", y = "i", pictures = false, quiet = true, name = "p" }
      os.exit(0)
    ]], function(folder, output)
      local made = support.run(folder .. "/out")
      local stored = assert(store.read(made))
      assert.are.equal("complete", stored.status, output)
      assert.are.equal(2, #stored.records)
      assert.is_true(stored.seconds > 0)
      assert.is_nil(support.read(made .. "/source/s.lua"):find "changed$")
      assert.is_truthy(support.read(made .. "/p.dat"))
    end)
  end)
end)
