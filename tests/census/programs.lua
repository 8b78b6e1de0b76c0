-- SPDX-License-Identifier: MIT
--
-- Runs the whole programs of a list on the CPU device, each by `moonwarp run`, and prints a line with tabs for each:
-- how it ended, seconds, repository, path, and the message or the last line of its output. Then how many ended right.
--
--   moonwarp run tests/census/programs.lua -- LIST CLONES [SECONDS [PATTERN]]
--
-- CLONES holds a clone of each repository, OWNER+NAME, at the commit listed. A program ended right if its status is
-- 0 within SECONDS (60), and its own check, where it has one, prints no failure; of one that fails by intent, if its
-- status is another or moonwarp says what is wrong. A header that is not beside a program is looked for in its
-- repository. PATTERN of Lua chooses programs.

local files = require "moonwarp.base.files"
local path = require "moonwarp.base.path"

local list, clones, seconds, pattern = arg[1], arg[2], tonumber(arg[3] or 60), arg[4] or ""
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

-- How many characters two paths begin with alike.
local function alike(one, other)
  local count = 0
  while count < #one and one:byte(count + 1) == other:byte(count + 1) do count = count + 1 end
  return count
end

-- The folder of the repository that has a header, so that "dir/x.h" is found below it, the nearest to a folder; nil if
-- none has.
local function folder_of(root, folder, header)
  local best
  for _, found in ipairs(lines_of(("find %s -path %s"):format(path.word(root), path.word("*/" .. header)))) do
    if not best or alike(found, folder) > alike(best, folder) then best = found end
  end
  return best and best:sub(1, -#header - 2)
end

local function includes_of(root, folder, text)
  local words = {}
  for header in text:gmatch '#%s*include%s*[<"]([^>"]+)[>"]' do
    local is_there = files.read(folder .. "/" .. header)
    local where = not is_there and header:find "%.%a+$" and folder_of(root, folder, header)
    if where then words[#words + 1] = "-I " .. path.word(where) end
  end
  return table.concat(words, " ")
end

-- fails: the program is there to show an error.
local function verdict(lines, fails)
  local status = tonumber(table.remove(lines):match "%d+$")
  if fails and status ~= 0 then return "right", "" end
  for i, line in ipairs(lines) do
    local is_told = line:find "^moonwarp: "
    if is_told and fails then return "right", "" end
    if is_told and status ~= 0 then return "refused", line .. " " .. (lines[i + 1] or "") end
  end
  if fails then return "unseen", "" end
  if status == 124 then return "slow", "" end
  if status ~= 0 then return "status " .. status, lines[#lines] or "" end
  for _, line in ipairs(lines) do
    for _, failure in ipairs(FAILURES) do
      if line:find(failure) then return "wrong", line:sub(1, 200) end
    end
  end
  return "right", lines[#lines] or ""
end

local function run(repository, name, words, fails)
  local root = clones .. "/" .. repository:gsub("/", "+")
  local folder, file = (root .. "/" .. name):match "^(.*)/([^/]*)$"
  local text = files.read(folder .. "/" .. file)
  if not text then return "missing", 0, "" end
  local clock = os.time()
  local lines = lines_of(("cd %s && timeout %d %s run %s %s -- %s </dev/null 2>&1; s=$?; echo; echo status $s"):format(
    path.word(folder), seconds, moonwarp, path.word(file), includes_of(root, folder, text),
    words))
  local how, why = verdict(lines, fails)
  return how, os.time() - clock, why
end

local right, all = 0, 0
for line in io.lines(list) do
  local repository, name, words, ends = (line .. "\t\t"):match "^([^#\t]+)\t%x+\t([^\t]+)\t([^\t]*)\t([^\t]*)"
  if repository and (repository .. "/" .. name):find(pattern) then
    local how, took, why = run(repository, name, words, ends == "fails")
    all, right = all + 1, right + (how == "right" and 1 or 0)
    print(table.concat({ how, took, repository, name, (why:gsub("\t", " ")) }, "\t"))
    io.stdout:flush()
  end
end
print(("%d of %d programs ended right"):format(right, all))
