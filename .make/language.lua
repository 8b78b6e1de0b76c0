-- SPDX-License-Identifier: MIT
--
-- language.lua [ROOT]: whether texts are as readers of manuals know them. The program fails where
--   - a sentence of README.md or docs/tutorial.md has more than 30 words, or a page is longer than it may be;
--   - a comment was torn: a line of one or two words between a long line and another one;
--   - a source or a page has "an element a thread", or the like, for "an element per thread";
--   - comments have one of WORDS more often than it says.

local root = arg[1] or "."

local MOST_WORDS <const> = 30
local PAGES <const> = { "README.md", "docs/tutorial.md" }
local LENGTHS <const> = { { "README.md", lines = 85, words = 800 }, { "docs/architecture.md", words = 2200 } }
local MOST_CHANGES <const> = 15 -- lines of CHANGELOG.md for a release, without headings
local SOURCES <const> = { "core", "lua", "kernels", "experiments" }
local TEXTS <const> = { "README.md", "CONTRIBUTING.md", "docs", "core", "lua", "kernels", "experiments" }
local LONG <const>, NEXT <const> = 90, 20 -- characters of the lines around a torn one

-- Phrases that manuals of C, CUDA and Lua do not use, or not so often, and how many comments may have in 10,000 words.
local WORDS <const> = {
  { "behind", 2 }, { "beside", 0 }, { "what is", 17 }, { "whose", 15 }, { "is none", 1.6 }, { "are none", 0.4 },
  { "worth", 0.7 }, { "nobody", 1 }, { "go on with", 0 }, { "goes on with", 0 }, { "gone on with", 0 },
  { "to whom", 0 }, { "for its sake", 0 }, { "how manieth", 0 }, { "no one's", 0 }, { "of which", 4.5 },
  { "in front of", 0.1 }, { "stands", 5.5 }, { "told", 3.6 },
}

-- Of what there is so much, and of what: "two rows a thread" are two rows per thread.
local COUNTED <const> = [[ element elements cell cells row rows byte bytes word words pair pairs lane lanes operation
  operations barrier barriers body bodies launch launches piece pieces iteration iterations sample samples channel
  channels node ]]
local EACH <const> = " thread lane warp rank pass step launch piece "

-- ---- sentences ----------------------------------------------------------------------------------------------------

-- The paragraphs, items and cells of a page, without its code; a link is its text.
local function paragraphs(page)
  local text = ("\n" .. page .. "\n"):gsub("\n```.-\n```", "\n"):gsub("!?%[([^%]]*)%]%b()", "%1")
  text = text:gsub("|", "\n\n"):gsub("\n(%s*[-*] )", "\n\n%1"):gsub("\n(%s*%d+%. )", "\n\n%1"):gsub("\n#", "\n\n#")
  local list = {}
  for one in (text .. "\n\n"):gmatch "(.-)\n%s*\n" do list[#list + 1] = one:gsub("%s+", " ") end
  return list
end

local function check_sentences(path, page, report)
  for _, paragraph in ipairs(paragraphs(page)) do
    for sentence in (paragraph:gsub("([.?!][)\"']?) ", "%1\n") .. "\n"):gmatch "(.-)\n" do
      local _, count = sentence:gsub("%S*%w%S*", "")
      if count > MOST_WORDS then
        report(("%s: a sentence has %d words, %d at most: %s"):format(path, count, MOST_WORDS, sentence))
      end
    end
  end
end

local function check_length(page, text, report)
  local counts = { lines = select(2, text:gsub("\n", "")), words = select(2, text:gsub("%S+", "")) }
  for _, unit in ipairs { "lines", "words" } do
    if page[unit] and counts[unit] > page[unit] then
      report(("%s: %d %s, %d at most"):format(page[1], counts[unit], unit, page[unit]))
    end
  end
end

local function check_changes(text, report)
  local release, count = nil, 0
  for line in (text .. "\n## \n"):gmatch "(.-)\n" do
    local heading <const> = line:match "^## (.*)"
    if heading then
      if release and count > MOST_CHANGES then
        report(("CHANGELOG.md: %d lines for %s, %d at most"):format(count, release, MOST_CHANGES))
      end
      release, count = heading, 0
    elseif line:find "%S" and not line:find "^#" then
      count = count + 1
    end
  end
end

-- ---- comments -----------------------------------------------------------------------------------------------------

local COMMENTS <const> = {
  lua = { "^%-%-%[(=*)%[.-%]%1%]", "^%-%-[^\n]*" },
  c = { "^//[^\n]*", "^/%*.-%*/" },
}

local function comment_end(text, at, language)
  for _, pattern in ipairs(COMMENTS[language]) do
    local _, to = text:find(pattern, at)
    if to then return to end
  end
end

local function quotes_end(text, at)
  local quote <const> = text:sub(at, at)
  local to = at + 1
  while to < #text and not text:find("^[" .. quote .. "\n]", to) do
    to = to + (text:sub(to, to) == "\\" and 2 or 1)
  end
  return to
end

-- The words of all comments of a source, in lower case.
local function comments_of(text, language)
  local list, at = {}, text:find "[\"'/%-%[]"
  while at do
    local to = comment_end(text, at, language)
    if to then
      list[#list + 1] = text:sub(at, to):gsub("\n[%s*-]*", " ")
    elseif text:find("^[\"']", at) then
      to = quotes_end(text, at)
    elseif language == "lua" then
      to = select(2, text:find("^%[(=*)%[.-%]%1%]", at))
    end
    at = text:find("[\"'/%-%[]", (to or at) + 1)
  end
  return (table.concat(list, "\n"):lower():gsub("%s+", " "))
end

local LINE <const> = { lua = "^%s*%-%-+ ?(.*)$", c = "^%s*[/*]?[/*] ?(.*)$" }

-- A short line that ends no sentence, and no column of a list.
local function is_torn(line, before, after, form)
  local text <const> = line:match(form)
  if not text or #before < LONG or #after < NEXT or not before:find(form) or not after:find(form) then return false end
  local _, count = text:gsub("%S+", "")
  return (count == 1 or count == 2) and not text:find "^  " and not text:find "[.:;?!/]$" and not text:find "[@}{;-]"
end

local function check_lines(path, text, language, report)
  local before, line, number = "", "", 0
  for after in (text .. "\n"):gmatch "(.-)\n" do
    if is_torn(line, before, after, LINE[language]) then
      report(("%s:%d: a comment is torn: %s"):format(path, number, line))
    end
    before, line, number = line, after, number + 1
  end
end

-- "word a thread" in a line, wherever it begins.
local function check_per(path, text, report)
  local number = 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local at, before, after = line:match "()%f[%w](%w+) an? (%w+)"
    while at do
      if COUNTED:find("%s" .. before .. "%s") and EACH:find(" " .. after .. " ", 1, true)
        and not line:find("[Hh]ow many " .. before) and not line:find("which " .. before) then
        report(("%s:%d: write '%s per %s'"):format(path, number, before, after))
      end
      at, before, after = line:match("()%f[%w](%w+) an? (%w+)", at + 1)
    end
  end
end

local function check_words(counts, report)
  for _, one in ipairs(WORDS) do
    local phrase, count <const> = one[1], counts[one[1]]
    local most <const> = one[2] * counts.words // 10000
    if count > most then
      report(("comments have '%s' %d times, %d at most: write it as a manual does"):format(phrase, count, most))
    end
  end
end

-- Adds how often a source has each of WORDS, as whole words.
local function count_words(counts, comments)
  counts.words = counts.words + select(2, comments:gsub("%S+", ""))
  for _, one in ipairs(WORDS) do
    local _, count = comments:gsub("%f[%w]" .. one[1] .. "%f[%W]", "")
    counts[one[1]] = (counts[one[1]] or 0) + count
  end
end

-- ---- files --------------------------------------------------------------------------------------------------------

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- The files below some paths whose names have one of these endings, by path from the root, with the ending.
local function files_of(paths, endings)
  local found, command = {}, ("cd '%s' && find %s -type f | LC_ALL=C sort"):format(root, table.concat(paths, " "))
  local pipe <close> = assert(io.popen(command))
  for path in pipe:lines() do
    local ending <const> = path:match "%.(%a+)$"
    if ending and (" " .. endings .. " "):find(" " .. ending .. " ", 1, true) and not path:find "^docs/records" then
      found[#found + 1] = { path = path, language = ending == "lua" and "lua" or "c",
                            text = read(("%s/%s"):format(root, path)) }
    end
  end
  return found
end

local problems, counts = 0, { words = 0 }
local function report(text)
  problems = problems + 1
  io.stderr:write("language: ", text, "\n")
end

for _, page in ipairs(PAGES) do check_sentences(page, read(("%s/%s"):format(root, page)), report) end
for _, page in ipairs(LENGTHS) do check_length(page, read(("%s/%s"):format(root, page[1])), report) end
check_changes(read(root .. "/CHANGELOG.md"), report)
for _, one in ipairs(files_of(SOURCES, "lua c h cu cuh cpp")) do
  count_words(counts, comments_of(one.text, one.language))
  check_lines(one.path, one.text, one.language, report)
end
for _, one in ipairs(files_of(TEXTS, "lua c h cu cuh cpp md")) do check_per(one.path, one.text, report) end
check_words(counts, report)
os.exit(problems == 0)
