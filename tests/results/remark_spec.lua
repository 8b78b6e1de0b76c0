-- SPDX-License-Identifier: MIT
--
-- mw.remark: paragraphs computed from numbers, printed and kept.

local session = require "moonwarp.session"
local support = require "tests.support"
local mw = support.mw
local fails = support.fails

-- In a process of its own: the paragraphs of a run gather in one file.
local function remarks(code)
  local output, text
  support.with_folder(function(folder)
    output = support.child_passes(([[
      local mw = require "moonwarp"
      local session = require "moonwarp.session"
      local options = session.current.options
      options.out, options.script = %q, "some/study.lua"
    ]]):format(folder .. "/out") .. code)
    local made = support.run(folder .. "/out")
    text = support.read(made .. "/remarks.txt")
    output = output:gsub("results: [^\n]*\n?", "")
  end)
  return output, text
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

describe("mw.remark", function()
  it("prints a paragraph and keeps all of a run in one file", function()
    local output, text = remarks [[
      local text = mw.remark("The vector copy is %.0f %% faster than %s.", 12.4, "v1")
      print(text == "The vector copy is 12 % faster than v1.")
      mw.remark "The second one."
    ]]
    assert.are.equal("The vector copy is 12 % faster than v1.\n\ntrue\nThe second one.\n", (output:gsub("\n+$", "\n")))
    assert.are.equal("The vector copy is 12 % faster than v1.\n\nThe second one.\n", text)
  end)

  it("wraps at 96 columns, whatever line ends and spaces the text has", function()
    local _, text = remarks [[mw.remark(("word \n "):rep(60) .. ("x"):rep(150) .. " end")]]
    local lines = lines_of(text)
    assert.are.equal(6, #lines)
    for i = 1, 3 do assert.is_true(#lines[i] <= 96, lines[i]) end
    assert.are.equal(("word "):rep(19):sub(1, -2), lines[1])
    assert.are.equal("word word word", lines[4])
    assert.are.equal(("x"):rep(150), lines[5])
    assert.are.equal("end", lines[6])
  end)

  it("counts letters, not bytes", function()
    local _, text = remarks [[mw.remark(("µs "):rep(32))]]
    assert.are.equal(("µs "):rep(32):sub(1, -2) .. "\n", text)
  end)

  it("is silent with --quiet, and still writes", function()
    local output, text = remarks [[
      options.quiet = true
      mw.remark "nobody reads this"
    ]]
    assert.are.equal("", (output:gsub("%s", "")))
    assert.are.equal("nobody reads this\n", text)
  end)

  it("says what is wrong with a text and its values, at the script's line", function()
    fails(function() mw.remark(3) end, "mw.remark: a text is wanted, got number")
    fails(function() mw.remark() end, "mw.remark: a text is wanted, got nil")
    fails(function() mw.remark("%d of %d", 1) end, "mw.remark: bad argument #3 to 'string.format' (no value)")
    fails(function() mw.remark("%d", 1.5) end,
      "mw.remark: bad argument #2 to 'string.format' (number has no integer representation)")
    local _, message = pcall(function() mw.remark("%d", {}) end)
    assert.is_truthy(tostring(message):find("remark_spec%.lua:%d+: mw%.remark: bad argument #2 to 'string.format' "
      .. "%(number expected, got table%)"), tostring(message))
  end)

  it("names the file that it cannot write", function()
    support.with_folder(function(folder)
      local made, ok, message
      support.into(folder, function()
        made = session.current:folder()
        os.execute(("mkdir '%s/remarks.txt'"):format(made))
        session.current.options.quiet = true
        ok, message = pcall(mw.remark, "a text")
        session.current.options.quiet = nil
      end)
      assert.is_false(ok)
      assert.are.equal(("cannot write %s/remarks.txt: Is a directory"):format(made), message.text)
    end)
  end)
end)
