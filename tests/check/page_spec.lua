-- SPDX-License-Identifier: MIT
--
-- docs/check.md: each of its kernels prints what stands below it, and nothing once it is mended. The first one is in
-- the tutorial as well. After a change of messages, `make docs-findings` writes what is printed into both pages.
-- luacheck: std +busted

local core = require "moonwarp.core"
local page = require "tests.support.page"
local support = require "tests.support"

local PAGE <const>, TUTORIAL <const> = core.home() .. "/docs/check.md", core.home() .. "/docs/tutorial.md"

local function printed_by(name, files)
  return page.run("--check", name, files, { "^results: ", "^moonwarp: check mode found " })
end

local function printed(example) return printed_by(example.name, example.files) end

local function update(text)
  local first, tutorial = page.examples(text)[1], support.read(TUTORIAL)
  local before, after = tutorial:match "^(.*\n```text\n)race in .-(\n```.*)$"
  support.write(TUTORIAL, before .. printed(first) .. after)
  support.write(PAGE, page.update(text, printed))
end

-- How many loads a source has is the compiler's affair.
local function uncounted(text) return (text:gsub("%d+ times?;", "N times;")) end

describe("docs/check.md", function()
  if not support.program() then return pending "needs the program" end
  if os.getenv "UPDATE" then update(support.read(PAGE)) end
  local examples = page.examples(support.read(PAGE))

  it("begins with the example of the tutorial", function()
    local tutorial, first = support.read(TUTORIAL), examples[1]
    assert.is_truthy(tutorial:find("```cpp\n" .. first.files["tiles.cu"] .. "```", 1, true))
    assert.is_truthy(tutorial:find("```text\n" .. first.printed[1].text .. "\n```", 1, true))
  end)

  for _, example in ipairs(examples) do
    it("says what is printed for " .. example.name, function()
      assert.are.equal(uncounted(example.printed[1].text), uncounted(printed(example)))
    end)
    if example.remedy then
      it("mends " .. example.name, function()
        assert.are.equal("check mode: no errors found", printed_by(example.name, page.mended(example)))
      end)
    end
  end
end)
