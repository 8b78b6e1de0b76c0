-- SPDX-License-Identifier: MIT
--
-- docs/check.md: each of its kernels prints what stands below it, and nothing once it is mended. The first one is in
-- the tutorial as well. After a change of messages, `make docs-findings` writes what is printed into both pages.
--
-- An example is a file of kernels (```cpp, "// tiles.cu"), the end of its script (```lua; the page's first one begins
-- every script), what is printed (```text) and the remedy (```diff of them). One without kernels begins with its
-- script, "-- copies.lua".
-- luacheck: std +busted

local core = require "moonwarp.core"
local labs = require "tests.labs"
local support = require "tests.support"

local PAGE <const>, TUTORIAL <const> = core.home() .. "/docs/check.md", core.home() .. "/docs/tutorial.md"

-- ---- the page -----------------------------------------------------------------------------------

local function new_example(name)
  return { name = name, files = {} }
end

-- The examples in order; each knows where its printed text stands.
local function read_examples(page)
  local list, now, start = {}, nil, nil
  for language, from, text, to in page:gmatch "\n```(%a+)\n()(.-)()\n```" do
    local name = text:match "^%S+ ([%w_]+)%.%a+\n"
    if language == "cpp" or language == "lua" and start and name then now = new_example(name) end
    if language == "cpp" then now.files[name .. ".cu"] = text .. "\n" end
    if language == "lua" and start then
      now.files[now.name .. ".lua"] = start .. text .. "\n"
      list[#list + 1] = now
    elseif language == "lua" then
      start = text .. "\n"
    elseif language == "text" then
      now.printed, now.from, now.to = text, from, to - 1
    elseif language == "diff" then
      now.remedy = text
    end
  end
  return list
end

-- Where a line stands in a text; the line must be there once.
local function place_of(text, line)
  local from, to = ("\n" .. text):find("\n" .. line .. "\n", 1, true)
  return from, from and to - 1
end

-- The files with the changes of a diff: "-" lines go, "+" lines come in their place or after the line before them.
local function mended(example)
  local files, file, at = {}, nil, nil
  for name, text in pairs(example.files) do files[name] = text end
  for sign, line in (example.remedy .. "\n"):gmatch "([-+ ])(.-)\n" do
    if sign == "+" then
      assert.is_truthy(file, "a diff begins with a line of a file")
      files[file] = files[file]:sub(1, at) .. line .. "\n" .. files[file]:sub(at + 1)
      at = at + #line + 1
    else
      file = nil
      for name, text in pairs(files) do
        local from, to = place_of(text, line)
        if from then file, at, files[name] = name, sign == " " and to or from - 1, text end
        if from and sign == "-" then files[name] = text:sub(1, from - 1) .. text:sub(to + 1) end
      end
      assert.is_truthy(file, example.name .. ": no such line: " .. line)
    end
  end
  return files
end

-- ---- what is printed ----------------------------------------------------------------------------

-- Without the lines that end each run.
local function printed_by(name, files)
  local output
  support.with_folder(function(folder)
    for file, text in pairs(files) do support.write(folder .. "/" .. file, text) end
    local _
    _, output = labs.shell(("cd %s && %s run --check --device cpu %s.lua </dev/null"):format(labs.quoted(folder),
      labs.quoted(labs.program), name))
  end)
  local lines = {}
  for line in output:gmatch "[^\n]+" do
    if not (line:find "^results: " or line:find "^moonwarp: check mode found ") then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

local function update(page, examples)
  local first, tutorial = examples[1], support.read(TUTORIAL)
  local before, after = tutorial:match "^(.*\n```text\n)race in .-(\n```.*)$"
  support.write(TUTORIAL, before .. printed_by(first.name, first.files) .. after)
  for i = #examples, 1, -1 do
    local one = examples[i]
    page = page:sub(1, one.from - 1) .. printed_by(one.name, one.files) .. page:sub(one.to + 1)
  end
  support.write(PAGE, page)
end

-- How many loads a source has is the compiler's affair.
local function uncounted(text) return (text:gsub("%d+ times?;", "N times;")) end

describe("docs/check.md", function()
  if not support.program() then return pending "needs the program" end
  local page = support.read(PAGE)
  local examples = read_examples(page)
  if os.getenv "UPDATE" then
    update(page, examples)
    examples = read_examples(support.read(PAGE))
  end

  it("begins with the example of the tutorial", function()
    local tutorial, first = support.read(TUTORIAL), examples[1]
    assert.is_truthy(tutorial:find("```cpp\n" .. first.files["tiles.cu"] .. "```", 1, true))
    assert.is_truthy(tutorial:find("```text\n" .. first.printed .. "\n```", 1, true))
  end)

  for _, example in ipairs(examples) do
    it("says what is printed for " .. example.name, function()
      assert.are.equal(uncounted(example.printed), uncounted(printed_by(example.name, example.files)))
    end)
    if example.remedy then
      it("mends " .. example.name, function()
        assert.are.equal("check mode: no errors found", printed_by(example.name, mended(example)))
      end)
    end
  end
end)
