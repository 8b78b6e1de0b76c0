-- SPDX-License-Identifier: MIT
--
-- UTF-8 text, and the files and JSON that records are made of.

local labs = require "tests.support.labs"
local support = require "tests.support"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local utf8text = require "moonwarp.base.utf8text"

local BROKEN <const> = "a\xffb" -- not UTF-8: three bytes

describe("utf8text", function()
  it("counts characters, and the bytes of what is not UTF-8", function()
    assert.equal(3, utf8text.count "µ±x")
    assert.equal(3, utf8text.count(BROKEN))
    assert.equal(0, utf8text.count "")
  end)

  it("pads and cuts by letters", function()
    assert.equal("µs  |", utf8text.left("µs", 4) .. "|")
    assert.equal("  µs", utf8text.right("µs", 4))
    assert.equal("long", utf8text.left("long", 2))
    assert.equal("µµ…", utf8text.cut("µµµµ", 3, "…"))
    assert.equal("µµµ", utf8text.cut("µµµ", 3, "…"))
    assert.equal("a\xff~", utf8text.cut("a\xffbcd", 3, "~"))
    assert.equal(5, utf8text.widest({ "ab", "µµµµµ" }, 3))
    assert.equal(7, utf8text.widest({ "ab" }, 7))
  end)

  it("leaves out the middle of what is too long", function()
    assert.equal("µs", utf8text.shorten("µs", 2, "…"))
    assert.equal("abµ…yz", utf8text.shorten("abµdefwxyz", 6, "…"))
    assert.equal("ab..z", utf8text.shorten("abcdefwxyz", 5, ".."))
    assert.equal("a…", utf8text.shorten("abc", 2, "…"))
    assert.equal("a\xff~e", utf8text.shorten("a\xffbcde", 4, "~"))
  end)

  it("makes any bytes UTF-8", function()
    assert.equal("a\u{FFFD}b", utf8text.valid(BROKEN))
    assert.equal("a?b", utf8text.valid(BROKEN, "?"))
    assert.equal("\u{FFFD}\u{FFFD}", utf8text.valid "\xc3\xc3")
    assert.equal("µ", utf8text.valid "µ")
    math.randomseed(7)
    for _ = 1, 500 do
      local bytes = {}
      for i = 1, math.random(0, 12) do bytes[i] = string.char(math.random(0, 255)) end
      local text = table.concat(bytes)
      assert.is_truthy(utf8.len(utf8text.valid(text)))
      assert.is_nil(utf8text.clean(text):find "[%z\1-\8\11\12\14-\31\127]")
    end
  end)

  it("lets charts and tables have names of any bytes", function()
    local chart = require "moonwarp.plot.chart"
    local text = chart.draw { title = BROKEN, xlabel = BROKEN, ylabel = BROKEN, width = 60, height = 8, levels = {},
                              series = { { name = BROKEN, points = { { x = 1, y = 1 }, { x = 2, y = 2 } } } } }
    assert.is_truthy(text:find(BROKEN, 1, true))
  end)
end)

describe("json", function()
  it("reads what it wrote", function()
    local value = { name = "µ \"quoted\"\n", count = 12, rate = 0.1, list = { 1, 2.5, "x" },
                    flags = { yes = true, no = false } }
    assert.same(value, json.decode(json.encode(value)))
    assert.equal("integer", math.type(json.decode "[3]"[1]))
    assert.equal("float", math.type(json.decode "[3.5]"[1]))
  end)

  it("takes null as absent, and as false in a list", function()
    assert.same({ a = 1 }, json.decode '{"a":1,"b":null}')
    assert.same({ 1, false, 3 }, json.decode "[1,null,3]")
    assert.is_nil((json.decode "null"))
  end)

  it("writes a list that is empty as one", function()
    assert.are.equal('{"a":[],"b":{}}', json.encode { a = json.as_list {}, b = {} })
  end)

  it("says why a text is none", function()
    local value, reason = json.decode "{\"a\":"
    assert.is_nil(value)
    assert.is_truthy(reason:find "Expected")
  end)

  it("reads the whole lines of a journal", function()
    assert.same({ { a = 1 }, { b = 2 } }, json.lines '{"a":1}\nnot json\n7\n{"b":2}\n{"c":')
  end)
end)

describe("files", function()
  it("writes, replaces and reads", function()
    support.with_folder(function(folder)
      local name = folder .. "/a"
      assert.is_nil(files.write(name, "one"))
      assert.is_nil(files.replace(name, "two\0three"))
      assert.equal("two\0three", files.read(name))
      assert.is_nil(files.read(name .. ".part"))
    end)
  end)

  -- A private file became one that all may read.
  it("keeps a file's permissions", function()
    support.with_folder(function(folder)
      local name = folder .. "/a"
      assert.is_nil(files.write(name, "one"))
      assert(os.execute(("chmod 600 '%s'"):format(name)))
      assert.is_nil(files.replace(name, "two"))
      assert.are.equal("rw-------", (require("lfs").attributes(name, "permissions")))
      assert.are.equal("two", files.read(name))
    end)
  end)

  -- It looked as fast as it could.
  it("pauses between two looks for a lock", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[
        local file = assert(io.open(arg[1], "a"))
        assert(require "lfs".lock(file, "w"))
        print "locked"
        io.stdout:flush()
        while require "lfs".attributes(arg[2]) do require "moonwarp.core".pause(0.01) end]])
      support.write(folder .. "/held", "")
      local other = assert(io.popen(("%s run %s/s.lua -- %s.lock %s"):format(labs.quoted(labs.program), folder,
        folder .. "/a", folder .. "/held")))
      assert.are.equal("locked", other:read "l")
      local core, pauses = require "moonwarp.core", {}
      local pause = core.pause
      core.pause = function(seconds)
        pauses[#pauses + 1] = seconds
        if #pauses == 3 then
          os.remove(folder .. "/held")
          other:close() -- when it has ended
        end
      end
      local got, lock = pcall(files.lock, folder .. "/a")
      core.pause = pause
      assert.is_true(got, lock)
      lock:close()
      assert.are.equal(3, #pauses)
      for _, seconds in ipairs(pauses) do assert.is_true(seconds >= 0.001) end
    end)
  end)

  it("says what was not written, and leaves the old", function()
    support.with_folder(function(folder)
      local reason = files.replace(folder .. "/none/a", "x")
      assert.is_truthy(reason:find(folder .. "/none/a", 1, true))
      assert(require("lfs").mkdir(folder .. "/taken"))
      assert.is_truthy(files.replace(folder .. "/taken", "x"))
      assert.is_nil(files.read(folder .. "/taken.part"))
      local text, why = files.read(folder .. "/nothing")
      assert.is_nil(text)
      assert.is_truthy(why:find "nothing")
    end)
  end)
end)
