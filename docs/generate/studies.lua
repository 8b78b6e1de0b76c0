-- SPDX-License-Identifier: MIT
--
-- The tables of docs/studies/README.md, docs/course.md and kernels/README.md: from what studies say of themselves, and
-- from the files of kernels/. A page has them between two comments, <!-- NAME: make docs --> and <!-- end -->.

local calls = require "generate.calls"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local sheet = require "moonwarp.base.sheet"
local studies = require "moonwarp.lab.studies"
local utf8text = require "moonwarp.base.utf8text"

local tables = {}

-- ---- studies ------------------------------------------------------------------------------------

-- Those of the course in its order, then the others. Plain scripts ask no question.
local function all_studies()
  local list = lists.map(studies.describe(studies.names()), function(one)
    if one.error then failure.raise_as("script", "%s cannot be described: %s", one.name, one.error) end
    return not one.plain and one or nil
  end)
  table.sort(list, function(a, b)
    local one, other = a.course and a.course.week or math.huge, b.course and b.course.week or math.huge
    if one ~= other then return one < other end
    return a.name < b.name
  end)
  return list
end

-- Its page, seen from one in `from`; a study may have none.
local function link(home, one, from)
  local is_there = files.exists(("%s/docs/studies/%s.md"):format(home, one.name))
  return is_there and ("[%s](%s%s.md)"):format(one.name, from, one.name) or one.name
end

local function questions(home, list)
  return sheet.md(sheet.of({
    { heading = "study", cell = function(one) return link(home, one, "") end },
    { heading = "question", cell = function(one) return one.question end },
  }, list))
end

local function weeks(home, list)
  local last = 0
  local in_course = lists.map(list, function(one) return one.course and one or nil end)
  local made = sheet.of({
    { heading = "week", number = true, cell = function(one)
      local week, before = one.course.week // 1 | 0, last
      last = week
      return { week ~= before and week or "" }
    end },
    { heading = "study", cell = function(one)
      return ("%s: %s"):format(link(home, one, "studies/"), one.course.about)
    end },
    { heading = "level", number = true, cell = function(one) return one.course.level end },
    { heading = "hours", number = true, cell = function(one) return one.course.hours end },
    { heading = "without a GPU", cell = function(one) return one.course.without_gpu end },
  }, in_course)
  table.insert(made.rows, { last + 1, "a project, from the list below", 3, 12, false })
  return sheet.md(made)
end

local function projects(home, list)
  local names = lists.map(list, function(one) return not one.course and link(home, one, "studies/") or nil end)
  return ("Projects: %s.\n"):format(table.concat(names, ", "))
end

-- ---- kernels ------------------------------------------------------------------------------------

local function files_below(home, place, pattern)
  return lists.map(files.entries(("%s/%s"):format(home, place)), function(entry)
    return entry:find(pattern) and ("%s/%s"):format(place, entry) or nil
  end)
end

-- The text of C++ without its comments.
local function code_of(text)
  return (text:gsub("/%*.-%*/", " "):gsub("//[^\n]*", ""))
end

-- The kernels of a text, in order: a name that has "<>" is a template's.
local function kernels_of(text)
  local code, list = code_of(text), {}
  for before, rest in code:gmatch "([^;{}]*)__global__([^;{}]*)" do
    local name = rest:gsub("__launch_bounds__%b()", ""):match "void%s+([%w_]+)%s*%("
    list[#list + 1] = name and name .. (before:find "template" and "<>" or "") or nil
  end
  return table.concat(lists.unique(list), ", ")
end

-- The first sentence of the comment at the head of a file, without the file's name before it.
local function about(text, name)
  local head = text:gsub("^[^\n]*SPDX[^\n]*\n", "")
  local words = {}
  for line in head:gmatch "[^\n]*" do
    local said = line:match "^%s*[/*]+%s?(.*)$"
    if not said then break end
    said = utf8text.trim((said:gsub("%*/$", "")))
    if said == "" and #words > 0 then break end
    if said ~= "" then words[#words + 1] = said end
  end
  local all = table.concat(words, " ")
  if all:sub(1, #name + 2) == name .. ": " then all = all:sub(#name + 3) end
  return all:match "^(.-[^.]%.)%f[%s%z]%s*%f[%u%z]" or all
end

-- Which files of some name one of kernels/: its study, another file of kernels, the library.
local function users(home, name, all)
  local list, own = {}, "kernels/" .. name
  for _, path in ipairs(all) do
    local text = files.read(("%s/%s"):format(home, path)) or ""
    if path ~= own and (text:find(('"%s"'):format(name), 1, true) or text:find(('/%s"'):format(own), 1, true)) then
      list[#list + 1] = path:match "^experiments/([%w_-]+)" or path
    end
  end
  return table.concat(lists.unique(list), ", ")
end

local function kernel_files(home)
  local own = lists.append(files_below(home, "kernels", "%.cuh?$"), files_below(home, "kernels/moonwarp", "%.cuh?$"))
  local all = lists.append({}, own)
  for _, place in ipairs { "experiments", "experiments/airfoil", "experiments/fluid", "lua/moonwarp",
                           "lua/moonwarp/measure", "lua/moonwarp/mesh" } do
    lists.append(all, files_below(home, place, "%.lua$"))
  end
  local function text_of(path) return files.read(("%s/%s"):format(home, path)) end
  return sheet.md(sheet.of({
    { heading = "file", cell = function(path) return path:match "^kernels/(.*)$" end },
    { heading = "what it is", cell = function(path) return about(text_of(path), path:match "([^/]*)%.%w+$") end },
    { heading = "kernels", cell = function(path) return kernels_of(text_of(path)) end },
    { heading = "used by", cell = function(path) return users(home, path:match "^kernels/(.*)$", all) end },
  }, own))
end

-- ---- pages --------------------------------------------------------------------------------------

-- A page with another text at a place.
local function with(page, name, text)
  local opening, closing = ("<!-- %s: make docs -->\n"):format(name), "<!-- end -->"
  local _, from = page:find(opening, 1, true)
  local to = from and page:find(closing, from, true)
  if not to then error(("no place for %s: %s ... %s"):format(name, opening, closing)) end
  return page:sub(1, from) .. text .. page:sub(to)
end

--- The pages with their tables as they are now.
---@param home string
---@return table[]  path, text
function tables.pages(home)
  local list = all_studies()
  local function page(path, places)
    local text = files.read(("%s/%s"):format(home, path))
    for _, place in ipairs(places) do text = with(text, place[1], place[2](home, list)) end
    return { path = ("%s/%s"):format(home, path), text = text }
  end
  return { page("docs/studies/README.md", { { "studies", questions } }),
           page("docs/course.md", { { "weeks", weeks }, { "projects", projects } }),
           page("kernels/README.md", { { "files", kernel_files } }),
           page("docs/programs.md", { { "calls", calls.table } }) }
end

return tables
