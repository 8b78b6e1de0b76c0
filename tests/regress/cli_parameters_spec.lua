-- SPDX-License-Identifier: MIT
--
-- Parameters on the command line that were read as something else. It starts $MOONWARP_PROGRAM itself.

local labs = require "tests.support.labs"
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

  -- Its first measurement was over, and in a sweep those of all passes, before its name was looked at.
  it("is rejected before anything is measured", function()
    local status, output = run("mw.arg('k', 1) mw.bench(function() print 'measured' end)", "n=1")
    assert.are.equal(2, status)
    assert.are.equal("moonwarp: unknown parameter 'n'; there is k; a script asks for its parameters before its first "
      .. "measurement, at (-e):1\n", output)
  end)
end)
