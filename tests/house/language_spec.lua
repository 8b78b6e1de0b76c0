-- SPDX-License-Identifier: MIT
--
-- What .make/language.lua finds in pages and comments: long sentences, torn comments, "a row a thread", and words that
-- comments had before.

local support = require "tests.support"

local LUA <const> = os.getenv "STOCK_LUA" or "lua5.4"
local TOOL <const> = support.core.home() .. "/.make/language.lua"
local FILES <const> = { "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/tutorial.md", "docs/architecture.md",
  "core/a.c", "lua/a.lua", "kernels/a.cu", "experiments/a.lua" }
local THIRTY <const> = ("word "):rep(30):sub(1, -2)

-- What the tool says of a project with these texts in place of empty ones.
local function found(texts)
  local list = {}
  support.with_folder(function(folder)
    os.execute(("cd '%s' && mkdir -p docs core lua kernels experiments"):format(folder))
    for _, path in ipairs(FILES) do support.write(("%s/%s"):format(folder, path), texts[path] or "\n") end
    local pipe <close> = assert(io.popen(("%s '%s' '%s' 2>&1"):format(LUA, TOOL, folder)))
    for line in pipe:lines() do
      list[#list + 1] = line
    end
  end)
  return list
end

local has_tool = require("lfs").attributes(TOOL) ~= nil
  and os.execute(("command -v %s >/dev/null"):format(LUA:match "%S+$"))

describe("language.lua", function()
  if not has_tool then
    pending "it needs a stock interpreter and the sources"
    return
  end

  it("finds sentences of more than 30 words in README.md and the tutorial, and none in code", function()
    assert.are.same({}, found { ["README.md"] = ("%s. Again %s.\n"):format(THIRTY, THIRTY:sub(6)) })
    assert.are.same({ ("language: docs/tutorial.md: a sentence has 31 words, 30 at most: One %s."):format(THIRTY) },
      found { ["docs/tutorial.md"] = ("Short. One %s.\n\n```lua\n%s %s\n```\n"):format(THIRTY, THIRTY, THIRTY) })
  end)

  it("finds pages and releases that are too long", function()
    local changes = "# A\n\n## 0.2.0\n\n### Added\n\n%s\n## 0.1.0\n\n%s"
    assert.are.same({ "language: README.md: 86 lines, 85 at most",
      "language: docs/architecture.md: 2201 words, 2200 at most",
      "language: CHANGELOG.md: 16 lines for 0.2.0, 15 at most" },
      found { ["README.md"] = ("a.\n"):rep(86), ["docs/architecture.md"] = ("a "):rep(2201) .. "\n",
        ["CHANGELOG.md"] = changes:format(("- a\n"):rep(16), ("- a\n"):rep(15)) })
  end)

  it("finds comments that were torn, and none whose sentence ends there", function()
    local long = (" * %s\n"):format(THIRTY:sub(1, 90))
    assert.are.same({ "language: core/a.c:3: a comment is torn:  * and so" },
      found { ["core/a.c"] = "/* A\n" .. long .. " * and so\n" .. long .. " */\n" })
    assert.are.same({}, found { ["core/a.c"] = "/* A\n" .. long .. " * and so.\n" .. long .. " */\n" })
  end)

  it("finds what wants a 'per'", function()
    assert.are.same({ "language: README.md:3: write 'cell per thread'",
      "language: kernels/a.cu:1: write 'rows per thread'" },
      found { ["kernels/a.cu"] = "// two rows a thread, or\n// how many rows a thread takes\n",
        ["README.md"] = "\n\nA cell a thread.\n" })
  end)

  it("counts words in comments only", function()
    assert.are.same({ "language: comments have 'beside' 2 times, 0 at most: write it as a manual does" },
      found { ["lua/a.lua"] = "local beside = 'beside' -- beside\n--[[ Beside\nit ]]\n",
        ["core/a.c"] = "int beside; /* besides */ char *s = \"// beside\";\n" })
  end)

  it("finds nothing here", function()
    local pipe = assert(io.popen(("%s '%s' '%s' 2>&1"):format(LUA, TOOL, support.core.home())))
    local output = pipe:read "a"
    pipe:close()
    assert.are.equal("", output)
  end)
end)
