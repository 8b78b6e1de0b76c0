-- SPDX-License-Identifier: MIT
--
-- Examples of a page of docs/: kernels with a script, what moonwarp prints for them, and the remedy. An example is a
-- file of kernels (```cpp, "// tiles.cu"), the end of its script (```lua; the page's first one begins every script),
-- what is printed (```text), the remedy (```diff of them) and, on some pages, what is printed then (```text). One
-- without kernels begins with its script, "-- copies.lua".

local assert = require "luassert"
local labs = require "tests.support.labs"
local support = require "tests.support"

local page = {}

local function new_example(name)
  return { name = name, files = {}, printed = {} }
end

--- The examples of a page, in order.
---@param text string
---@return table[]  name; files: name to text; remedy; printed: { { text =, from =, to = (where it stands) }, ... }
function page.examples(text)
  local list, now, start = {}, nil, nil
  for language, from, body, to in text:gmatch "\n```(%a+)\n()(.-)()\n```" do
    local name = body:match "^%S+ ([%w_]+)%.%a+\n"
    if language == "cpp" or language == "lua" and start and name then now = new_example(name) end
    if language == "cpp" then now.files[name .. ".cu"] = body .. "\n" end
    if language == "lua" and start then
      now.files[now.name .. ".lua"] = start .. body .. "\n"
      list[#list + 1] = now
    elseif language == "lua" then
      start = body .. "\n"
    elseif language == "text" then
      table.insert(now.printed, { text = body, from = from, to = to - 1 })
    elseif language == "diff" then
      now.remedy = body
    end
  end
  return list
end

-- Where a line stands in a text; the line must be there once.
local function place_of(text, line)
  local from, to = ("\n" .. text):find("\n" .. line .. "\n", 1, true)
  return from, from and to - 1
end

--- The files with the changes of the remedy: "-" lines go, "+" lines come in their place or after the line before them.
---@param example table
---@return table<string, string>
function page.mended(example)
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

--- What `moonwarp run` prints for an example on the CPU device.
---@param option string    "--check"
---@param name string      of the example
---@param files table<string, string>
---@param left_out string[]  patterns of lines that every run prints
---@return string
function page.run(option, name, files, left_out)
  local output
  support.with_folder(function(folder)
    for file, text in pairs(files) do support.write(folder .. "/" .. file, text) end
    local _
    _, output = labs.shell(("cd %s && %s run %s --device cpu %s.lua </dev/null"):format(labs.quoted(folder),
      labs.quoted(labs.program), option, name))
  end)
  local lines = {}
  for line in output:gmatch "[^\n]+" do
    local is_left_out = false
    for _, pattern in ipairs(left_out) do is_left_out = is_left_out or line:find(pattern) ~= nil end
    if not is_left_out then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

--- A page with other printed texts.
---@param text string
---@param printed fun(example: table, which: integer): string
---@return string
function page.update(text, printed)
  local examples = page.examples(text)
  for i = #examples, 1, -1 do
    local one = examples[i]
    for which = #one.printed, 1, -1 do
      local place = one.printed[which]
      text = text:sub(1, place.from - 1) .. printed(one, which) .. text:sub(place.to + 1)
    end
  end
  return text
end

return page
