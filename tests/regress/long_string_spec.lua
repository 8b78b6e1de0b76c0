-- SPDX-License-Identifier: MIT
--
-- A kernel that holds ]] in a text [[ ... ]]: Lua's message was about what follows the text.

local support = require "tests.support"
local syntax = require "moonwarp.base.syntax"
local mw = support.mw

local HINT = "the text that [[ begins in line 2 ends at the first ]], in line 4: a text that holds ]] goes between [=[ "
  .. "and ]=]"
local SCRIPT = [=[
local mw = require "moonwarp"
local m = mw.device "cpu":module { source = [[
__global__ void count(int *h, const int *x) {
  atomicAdd(&h[x[threadIdx.x]], 1);
}
]] }
]=]

local function problem_of(text) return select(2, load(text, "=script")) end

describe("a text with a mistake", function()
  it("has a hint, if it ends early", function()
    assert.is_truthy(syntax.explain(SCRIPT, problem_of(SCRIPT)):find(HINT, 1, true))
  end)

  it("has a hint in a script and in mw.run", function()
    support.with_folder(function(folder)
      local path = folder .. "/script.lua"
      support.write(path, SCRIPT)
      support.fails_with(function() mw.run(path) end, HINT)
      if not support.program() then return end
      local pipe = io.popen(("%s run %s 2>&1"):format(support.program(), path))
      local output = pipe:read "a"
      pipe:close()
      assert.is_truthy(output:find(HINT, 1, true), output)
    end)
  end)

  it("has none if the error is elsewhere, or the text is no kernel", function()
    for _, text in ipairs { "local x = [[ __global__ ]]\n\n\nlocal = 1", "local x = [[ a[b[1]] ]]", "x = 1 1",
                            "local s = [=[ __global__ x[y[1]] ]=]\nlocal = 2\n" } do
      local problem = problem_of(text)
      local explained = syntax.explain(text, problem)
      assert.are.equal(problem, explained:sub(1, #problem))
      assert.is_nil(explained:find(HINT, 1, true))
    end
  end)

  it("is shown with the line of the mistake, if it has several", function()
    assert.are.equal("script:2: unexpected symbol near '='\n      local x = = 3",
      syntax.explain("local y\n  local x = = 3\n", "script:2: unexpected symbol near '='"))
    assert.are.equal("(-e):1: unexpected symbol near '='",
      syntax.explain("x = = 3", "(-e):1: unexpected symbol near '='"))
    assert.are.equal("s:1: what\n      " .. ("x"):rep(199) .. "…",
      syntax.explain(("x"):rep(65536) .. "\n", "s:1: what"))
  end)
end)
