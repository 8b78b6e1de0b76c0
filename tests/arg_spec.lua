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

  it("refuses texts beyond the limits", function()
    local range, kinds = { min = 1, max = 8 }, { choices = { "random", "sorted", 3 } }
    given({ n = { "9" }, f = { "0.5" }, k = { "sortde" }, i = { "1e30" }, l = { "1", "0" }, m = { "9" } }, function()
      fails(function() mw.arg("n", 1, nil, range) end, "parameter 'n' must be a number from 1 to 8, got '9'")
      fails(function() mw.arg("f", 1.5, nil, { min = 1 }) end,
        "parameter 'f' must be a number of at least 1, got '0.5'")
      fails(function() mw.arg("m", 1, nil, { max = 8 }) end, "parameter 'm' must be a number of at most 8, got '9'")
      fails(function() mw.arg("l", { 1 }, nil, range) end, "parameter 'l' must be a number from 1 to 8, got '0'")
      fails(function() mw.arg("k", "random", nil, kinds) end,
        "parameter 'k' must be one of random, sorted, 3, got 'sortde'; did you mean 'sorted'?")
      fails(function() mw.arg("i", 1) end, "parameter 'i' must be an integer of less than 2^63, got '1e30'")
    end)
    given({ n = { "8" }, k = { "sorted" } }, function()
      assert.are.equal(8, mw.arg("n", 1, nil, range))
      assert.are.equal("sorted", mw.arg("k", "random", nil, kinds))
    end)
    fails(function() mw.arg("n", 1, nil, { mni = 1 }) end, "mw.arg: unknown option 'mni'; did you mean 'min'?")
    fails(function() mw.arg("n", 1, nil, 1) end, "mw.arg: options must be a table, got number")
  end)

  it("refuses what a function of the script does not take, in words of the script", function()
    local limits = { check = function(value) return value % 2 == 1 and "an even number" or nil end }
    given({ n = { "8" }, m = { "7" }, l = { "2", "5" } }, function()
      assert.are.equal(8, mw.arg("n", 3, nil, limits)) -- a default is the script's own affair
      fails(function() mw.arg("m", 2, nil, limits) end, "parameter 'm' must be an even number, got '7'")
      fails(function() mw.arg("l", { 2 }, nil, limits) end, "parameter 'l' must be an even number, got '5'")
    end)
    fails(function() mw.arg("n", 1, nil, { check = "even" }) end,
      "mw.arg: option 'check' must be a function, got string")
  end)

  it("refuses names and defaults of the wrong type", function()
    fails(function() mw.arg(1, 1) end, "mw.arg: the name must be a string, got number")
    fails(function() mw.arg("n", 1, 2) end, "mw.arg: the help must be a string, got number")
    fails(function() mw.arg("n") end, "mw.arg: the default of 'n' must be a number, string, boolean or a list of "
      .. "those, got nil")
  end)
end)
