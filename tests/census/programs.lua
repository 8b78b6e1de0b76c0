-- SPDX-License-Identifier: MIT
--
-- Runs the whole programs of a list on the CPU device, each by `moonwarp run`, and prints a line with tabs for each:
-- how it ended, seconds, repository, path, and the message or the last line of its output. Then how many ended right.
--
--   moonwarp run tests/census/programs.lua -- LIST CLONES [SECONDS [PART/PARTS]]
--
-- CLONES holds a clone of each repository, OWNER+NAME, at the commit listed. A program ended right if its status is
-- 0 within SECONDS (60), moonwarp had nothing to say, and its own check, where it has one, prints no failure. A header
-- that is not beside a program is looked for in its repository.

local files = require "moonwarp.base.files"
local path = require "moonwarp.base.path"

local list, clones, seconds, part = arg[1], arg[2], tonumber(arg[3] or 60), arg[4] or "1/1"
local moonwarp = os.getenv "MOONWARP_PROGRAM" or "moonwarp"

-- What programs print where their results are wrong.
local FAILURES = { "FAIL", "[Mm]ismatch", "not match", "[Ii]ncorrect", "[Ww]rong", "Error at", "ERROR", "CUDA error",
                   "Error:", "not equal", "unequal", "do NOT", "doesn't match" }

local function lines_of(command)
  local pipe <close> = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  return lines
end

-- The folder of a header in the repository, so that "dir/x.h" is found below it; nil if it is nowhere.
local function folder_of(root, header)
  local found = lines_of(("cd %s && find . -path %s | head -1"):format(path.word(root), path.word("*/" .. header)))[1]
  return found and root .. "/" .. found:sub(3, -#header - 2)
end

local function includes_of(root, folder, text)
  local words = {}
  for header in text:gmatch '#%s*include%s*[<"]([^>"]+)[>"]' do
    local is_there = files.read(folder .. "/" .. header)
    local where = not is_there and header:find "%.%a+$" and folder_of(root, header)
    if where then words[#words + 1] = "-I " .. path.word(where) end
  end
  return table.concat(words, " ")
end

local function verdict(lines)
  local status = tonumber(table.remove(lines):match "%d+$")
  local output = table.concat(lines, "\n")
  for i, line in ipairs(lines) do
    if line:find "^moonwarp: " then return status == 0 and "told" or "refused", line .. " " .. (lines[i + 1] or "") end
  end
  if status == 124 then return "slow", "" end
  if status ~= 0 then return "status " .. status, lines[#lines] or "" end
  for _, pattern in ipairs(FAILURES) do
    local found = output:match("[^\n]*" .. pattern .. "[^\n]*")
    if found then return "wrong", found end
  end
  return "right", lines[#lines] or ""
end

local function run(repository, name)
  local root = clones .. "/" .. repository:gsub("/", "+")
  local folder, file = (root .. "/" .. name):match "^(.*)/([^/]*)$"
  local text = files.read(folder .. "/" .. file)
  if not text then return "missing", 0, "" end
  local clock = os.time()
  local lines = lines_of(("cd %s && timeout %d %s run %s %s </dev/null 2>&1; s=$?; echo; echo status $s"):format(
    path.word(folder), seconds, moonwarp, path.word(file), includes_of(root, folder, text)))
  local how, why = verdict(lines)
  return how, os.time() - clock, why
end

local number, of = part:match "^(%d+)/(%d+)$"
local right, all, at = 0, 0, 0
for line in io.lines(list) do
  local repository, name = line:match "^([^#\t]+)\t%x+\t([^\t]+)"
  at = at + (repository and 1 or 0)
  if repository and at % of == number % of then
    local how, took, why = run(repository, name)
    all, right = all + 1, right + (how == "right" and 1 or 0)
    print(table.concat({ how, took, repository, name, (why:gsub("\t", " ")) }, "\t"))
    io.stdout:flush()
  end
end
print(("%d of %d programs ended right"):format(right, all))
