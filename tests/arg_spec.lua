-- SPDX-License-Identifier: MIT
--
-- Parameters: converted to the default's type, refused by name.

local support = require "tests.support"
local arg = require "moonwarp.arg"
local core, mw = support.core, support.mw
local fails = support.fails

local function given(params, body)
  local before = core.options.params
  core.options.params = params
  local ok, message = pcall(body)
  core.options.params = before
  for i = #arg.declared, 1, -1 do arg.declared[i] = nil end
  if not ok then error(message, 0) end
end

describe("mw.arg", function()
  it("gives the default where nothing is said", function()
    given(nil, function() assert.are.equal(7, mw.arg("n", 7)) end)
    given({ m = { "1" } }, function() assert.are.equal("x", mw.arg("n", "x")) end)
  end)

  it("converts to the default's type", function()
    given({ n = { "2^12" }, m = { "1e3" }, s = { "5" }, t = { "yes" }, f = { "2" } }, function()
      assert.are.equal("integer", math.type(mw.arg("n", 1)))
      assert.are.equal(4096, mw.arg("n", 1))
      assert.are.equal(1000, mw.arg("m", 1))
      assert.are.equal("5", mw.arg("s", ""))
      assert.is_true(mw.arg("t", false))
      assert.are.equal(2, mw.arg("f", 0.5))
    end)
  end)

  it("takes a list where the default is one", function()
    given({ n = { "1", "2", "4" } }, function() assert.are.same({ 1, 2, 4 }, mw.arg("n", { 8 })) end)
    given(nil, function() assert.are.same({ 8 }, mw.arg("n", { 8 })) end)
  end)

  it("remembers what was declared", function()
    given({ n = { "3" } }, function()
      mw.arg("n", 1, "how many")
      mw.arg("n", 1, "how many")
      assert.are.same({ { name = "n", default = 1, help = "how many", value = 3 } }, arg.declared)
      assert.are.same({ n = 3 }, arg.values())
    end)
  end)

  it("refuses texts that do not fit", function()
    given({ n = { "abc" }, f = { "x" }, b = { "maybe" }, m = { "1.5" } }, function()
      fails(function() mw.arg("n", 1) end, "parameter 'n' must be an integer, got 'abc'")
      fails(function() mw.arg("m", 1) end, "parameter 'm' must be an integer, got '1.5'")
      fails(function() mw.arg("f", 1.5) end, "parameter 'f' must be a number, got 'x'")
      fails(function() mw.arg("b", true) end, "parameter 'b' must be true or false, got 'maybe'")
    end)
  end)

  it("refuses names and defaults of the wrong type", function()
    fails(function() mw.arg(1, 1) end, "mw.arg: the name must be a string, got number")
    fails(function() mw.arg("n", 1, 2) end, "mw.arg: the help must be a string, got number")
    fails(function() mw.arg("n") end, "mw.arg: the default of 'n' must be a number, string, boolean or a list of "
      .. "those, got nil")
  end)
end)
