-- SPDX-License-Identifier: MIT
--
-- Error values: their fields, their text, and what a stock interpreter and the program print of one that is not caught.

local support = require "tests.support"
local core, mw = support.core, support.mw

local function failure(fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  return e
end

describe("an error value", function()
  local dev = mw.device "cpu"

  it("has a status, a text and the script's line", function()
    local e = failure(function() mw.device "nowhere" end)
    assert.are.equal("error", mw.type(e))
    assert.are.equal("no_device", e.status)
    assert.is_truthy(e.text:find("^no device 'nowhere': "))
    assert.is_truthy(e.where:find "error_spec%.lua:18$", e.where)
    assert.is_nil(e.log)
  end)

  it("is its message as a text", function()
    local e = failure(core.raise, "io", "no such file")
    assert.are.equal(e.where .. ": no such file", tostring(e))
    assert.are.equal("so: " .. tostring(e), "so: " .. e)
    assert.are.equal(tostring(e) .. tostring(e), e .. e)
    assert.are.equal(tostring(e) .. 1, e .. 1)
    e.where = nil
    assert.are.equal("no such file", ("%s"):format(e))
  end)

  it("holds the compiler's log", function()
    local e = failure(function() dev:module { source = "__global__ void k(int *x) { x[0] = missing; }\n" } end)
    assert.are.equal("compile", e.status)
    assert.is_truthy(e.log:find("missing", 1, true))
    assert.are.equal(("%s: %s\n%s"):format(e.where, e.text, e.log), tostring(e))
    assert.are.equal("place: text\nlog", (tostring(failure(core.raise, "io", "text", "log")):gsub("^.-: ", "place: ")))
  end)

  it("is of misuse what Lua's own functions say", function()
    local a <close> = dev:zeros("f32", 4)
    local cases = {
      { function() a:get "x" end, "bad argument #1 to 'get' (an integer expected, got string 'x')" },
      { function() a.get(a, "x") end, "bad argument #2 to 'get' (an integer expected, got string 'x')" },
      { function() core.device {} end, "bad argument #1 to 'device' (string expected, got table)" },
      { function() dev:capture(io.stdout) end, "bad argument #1 to 'capture' (function expected, got FILE*)" },
      { function() core.compare(dev, a) end, "bad argument #1 to 'compare' (array expected, got device)" },
      { function() core.type() end, "bad argument #1 to 'type' (value expected)" },
    }
    for _, case in ipairs(cases) do
      local e = failure(case[1])
      assert.are.same({ "invalid", case[2] }, { e.status, e.text })
    end
    assert.are.equal("bad argument #2 to 'get' (an integer expected, got string 'x')", failure(a.get, a, "x").text)
    assert.are.equal("bad argument #1 to 'device' (string expected, got table)", failure(core.device, {}).text)
  end)

  it("goes through other functions as it is", function()
    local first = failure(core.raise, "fault", "it broke")
    assert.are.equal(first, failure(error, first))
    assert.are.equal(first, failure(coroutine.wrap(function() error(first) end)))
    assert.are.equal(first, failure(dev.capture, dev, function() error(first, 0) end))
    assert.are.equal(first, select(2, xpcall(error, debug.traceback, first)))
  end)

  it("is not an object of another kind", function()
    assert.is_nil(core.type {})
    assert.is_nil(core.type(setmetatable({}, {})))
    assert.is_nil(core.type "text")
  end)

  it("reads well if it is not caught", function()
    local code = "local mw = require 'moonwarp'\nmw.device 'nowhere'\n"
    local status, output = support.child(code)
    assert.are_not.equal(0, status)
    assert.is_truthy(output:find ".lua:2: no device 'nowhere': ", output)
    assert.is_nil(output:find("table: 0x", 1, true), output)
    local stock = support.stock_interpreter()
    if stock then
      status, output = support.child(code, { lua = stock })
      assert.are.equal(1, status, output)
      assert.is_truthy(output:find ": [^\n]*%.lua:2: no device 'nowhere': ", output)
    end
  end)
end)
