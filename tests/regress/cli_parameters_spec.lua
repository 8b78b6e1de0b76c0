-- SPDX-License-Identifier: MIT
--
-- Parameters on the command line that were read as something else. It starts $MOONWARP_PROGRAM itself.

local labs = require "tests.labs"
local quoted, shell = labs.quoted, labs.shell

-- Runs code with a parameter.
local function run(code, parameter)
  return shell(("%s -e %s -p %s </dev/null"):format(quoted(labs.program), quoted(code), quoted(parameter)))
end

describe("a parameter on the command line", function()
  -- A backslash before a comma was the only one that could be given: there was no way to end a value with one.
  it("may hold backslashes", function()
    for word, values in pairs {
      ["c\\d"] = "c\\d\n", ["c\\\\d"] = "c\\d\n", ["x\\\\\\,y"] = "x\\,y\n", ["end\\"] = "end\\\n",
      ["a\\\\,b"] = "a\\\nb\n",
    } do
      assert.are.same({ 0, values }, { run('print(mw.arg("name", "x"))', "name=" .. word) })
    end
  end)

  -- It was refused as unknown.
  it("may be one that the script names but does not reach", function()
    for _, code in ipairs { "if false then mw.arg('n', 1) end", "if false then mw.arg('n', 1) end load('')" } do
      assert.are.same({ 0, "" }, { run(code, "n=1") })
    end
  end)
end)
