-- SPDX-License-Identifier: MIT
--
-- Parameters: converted to the default's type, rejected by name.

local session = require "moonwarp.session"
local support = require "tests.support"
local arg = require "moonwarp.base.parameter"
local mw = support.mw
local fails = support.fails

local function given(params, body)
  local before = session.current
  session.begin().pass = params or {}
  local ok, message = pcall(body)
  session.current = before
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

  it("takes a list if the default is one", function()
    given({ n = { "1", "2", "4" } }, function() assert.are.same({ 1, 2, 4 }, mw.arg("n", { 8 })) end)
    given(nil, function() assert.are.same({ 8 }, mw.arg("n", { 8 })) end)
  end)

  it("remembers what was declared", function()
    given({ n = { "3" } }, function()
      mw.arg("n", 1, "how many")
      mw.arg("n", 1, "how many")
      assert.are.same({ { name = "n", default = 1, help = "how many", value = 3 } }, session.current.declared)
      assert.are.same({ n = 3 }, session.current:values())
    end)
  end)

  it("rejects texts that do not fit", function()
    given({ n = { "abc" }, f = { "x" }, b = { "maybe" }, m = { "1.5" } }, function()
      fails(function() mw.arg("n", 1) end, "parameter 'n' must be an integer, got 'abc'")
      fails(function() mw.arg("m", 1) end, "parameter 'm' must be an integer, got '1.5'")
      fails(function() mw.arg("f", 1.5) end, "parameter 'f' must be a number, got 'x'")
      fails(function() mw.arg("b", true) end, "parameter 'b' must be true or false, got 'maybe'")
    end)
  end)

  it("rejects texts beyond the limits", function()
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

  it("rejects what a function of the script does not take, in words of the script", function()
    local limits = { check = function(value) return value % 2 == 1 and "an even number" or nil end }
    given({ n = { "8" }, m = { "7" }, l = { "2", "5" } }, function()
      assert.are.equal(8, mw.arg("n", 3, nil, limits)) -- a default is the script's own affair
      fails(function() mw.arg("m", 2, nil, limits) end, "parameter 'm' must be an even number, got '7'")
      fails(function() mw.arg("l", { 2 }, nil, limits) end, "parameter 'l' must be an even number, got '5'")
    end)
    fails(function() mw.arg("n", 1, nil, { check = "even" }) end,
      "mw.arg: option 'check' must be a function, got string")
  end)

  it("takes one value if no sweep can be", function()
    given({ n = { "1", "2" } }, function()
      fails(function() mw.arg("n", 1) end, "parameter 'n' must be one value here, got '1,2'")
    end)
  end)

  it("gives blocks of threads", function()
    local kind = { kind = "blocks" }
    given({ a = { "32x4", "8x8x4", "32x4", "8x8x1", "8x8", "1024", "256" }, b = { "8" }, c = { "1024x1" } }, function()
      assert.are.same({ { 32, 4 }, { 8, 8, 4 }, { 8, 8 }, { 1024, 1 }, { 256, 1 }, { 256, 2 }, { 256, 4 } },
        mw.arg("a", { "1" }, nil, kind))
      assert.are.same({ { 8, 4 }, { 8, 8 }, { 8, 16 }, { 8, 32 }, { 8, 64 }, { 8, 128 } },
        mw.arg("b", { "32" }, nil, kind))
      assert.are.same({ { 1024, 1 } }, mw.arg("c", { "32" }, nil, kind))
      assert.are.same({ { 1, 1 }, { 32, 1 }, { 32, 2 }, { 32, 4 }, { 32, 8 }, { 32, 16 }, { 32, 32 } },
        mw.arg("shapes", { "1x1", "32" }, nil, kind))
      assert.are.same({ "1x1", "32" }, session.current:values().shapes)
      assert.are.same({ "8" }, session.current:values().b)
    end)
    for _, text in ipairs { "", "x", "0", "0x4", "32x", "32x64", "2048", "1x2048", "8x8x32", "1x1x1x1", "-32", "3.5",
                            "4294967296x4294967296", "9223372036854775808" } do
      given({ b = { text } }, function()
        fails(function() mw.arg("b", { "32" }, nil, kind) end,
          ("parameter 'b' must be a block of 1 to 1024 threads such as 32x4, or a width such as 32, got '%s'")
            :format(text))
      end)
    end
    local wanted = "mw.arg: the default of 'b' must be a list of texts such as { \"1x1\", \"32\" }, got "
    fails(function() mw.arg("b", "32x4", nil, kind) end, wanted .. "string")
    fails(function() mw.arg("b", { 32 }, nil, kind) end, wanted .. "integer")
    fails(function() mw.arg("b", { "32", "none" }, nil, kind) end, wanted .. "'none'")
    fails(function() mw.arg("b", { "32" }, nil, { kind = "block" }) end,
      "mw.arg: unknown kind 'block'; did you mean 'blocks'?")
    fails(function() mw.arg("b", { "32" }, nil, { kind = "sizes" }) end,
      "mw.arg: unknown kind 'sizes'; there is blocks")
  end)

  it("gives its values as -p takes them", function()
    assert.are.equal("x\\,y\\\\", arg.text "x,y\\")
    assert.are.equal("1024,0.1,true,1e+20", arg.text { 1024, 0.1, true, 1e20 })
    assert.are.equal(1 / 3, tonumber(arg.text(1 / 3)))
  end)

  it("rejects names and defaults of the wrong type", function()
    fails(function() mw.arg(1, 1) end, "mw.arg: the name must be a string, got number")
    fails(function() mw.arg("n", 1, 2) end, "mw.arg: the help must be a string, got number")
    fails(function() mw.arg("n") end, "mw.arg: the default of 'n' must be a number, string, boolean or a list of "
      .. "those, got nil")
  end)
end)
