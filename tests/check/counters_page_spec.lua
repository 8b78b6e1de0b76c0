-- SPDX-License-Identifier: MIT
--
-- docs/counters.md: what is printed for each of its kernels, and once it is mended. After a change of the table,
-- `make docs-findings` writes what is printed into the page.
-- luacheck: std +busted

local core = require "moonwarp.core"
local page = require "tests.support.page"
local support = require "tests.support"

local PAGE <const> = core.home() .. "/docs/counters.md"
local LEFT_OUT <const> = { "^results: ", "^structural counters, ", "^check mode: no errors found" }

local function printed(example, which)
  local files = which == 1 and example.files or page.mended(example)
  return page.run("--counters", example.name, files, LEFT_OUT)
end

describe("docs/counters.md", function()
  if not support.program() then return pending "needs the program" end
  if os.getenv "UPDATE" then support.write(PAGE, page.update(support.read(PAGE), printed)) end

  for _, example in ipairs(page.examples(support.read(PAGE))) do
    it("says what is counted for " .. example.name, function()
      assert.are.equal(2, #example.printed)
      assert.are.equal(example.printed[1].text, printed(example, 1))
    end)

    it("mends " .. example.name, function()
      assert.are.equal(example.printed[2].text, printed(example, 2))
    end)
  end
end)
