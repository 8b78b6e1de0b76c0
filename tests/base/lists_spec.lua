-- SPDX-License-Identifier: MIT
--
-- Lists, keys and folders as all of the Lua half walks them.

local support = require "tests.support"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"

describe("lists", function()
  it("are mapped, and an element of which nothing is made is left out", function()
    local halves = lists.map({ 1, 2, 3, 4 }, function(value, place)
      return value % 2 == 0 and ("%d at %d"):format(value // 2, place) or nil
    end)
    assert.are.same({ "1 at 2", "2 at 4" }, halves)
    assert.are.same({}, lists.map({}, tostring))
    assert.are.same({ 2, 4 }, lists.filter({ 1, 2, 3, 4 }, function(value) return value % 2 == 0 end))
  end)

  it("are searched, appended and freed of what comes twice", function()
    assert.are.equal("bb", lists.find({ "a", "bb", "cc" }, function(word) return #word == 2 end))
    assert.is_nil(lists.find({ "a" }, function() return false end))
    assert.are.same({ 1, 2, 3 }, lists.append({ 1 }, { 2, 3 }))
    assert.are.same({ 2, 1 }, lists.unique { 2, 1, 2, 1 })
    assert.are.same({ "a", "bb" }, lists.unique({ "a", "bb", "c" }, function(word) return #word end))
  end)

  it("get an entry for each key once", function()
    local list, by_key = {}, {}
    for _, word in ipairs { "a", "b", "a" } do
      table.insert(lists.entry(list, by_key, word, { word }), #list)
    end
    assert.are.same({ { "a", 1, 2 }, { "b", 2 } }, list)
    assert.are.same({ a = list[1], b = list[2] }, by_key)
  end)

  it("of keys have numbers first and in their order", function()
    assert.are.same({ 2, 10, "1z", "a" }, lists.keys { a = 1, ["1z"] = 1, [10] = 1, [2] = 1 })
  end)
end)

describe("files", function()
  it("are listed by name, and those that are hidden left out", function()
    support.with_folder(function(folder)
      for _, name in ipairs { "b", "a", ".c" } do assert.is_nil(files.write(folder .. "/" .. name, name)) end
      assert.are.same({ "a", "b" }, files.entries(folder))
      assert.are.same({}, files.entries(folder .. "/a"))
      assert.is_true(files.exists(folder .. "/a"))
      assert.is_false(files.exists(folder))
      assert.is_nil(files.write(folder .. "/a", "+", "ab"))
      assert.are.equal("a+", files.read(folder .. "/a"))
    end)
  end)
end)
