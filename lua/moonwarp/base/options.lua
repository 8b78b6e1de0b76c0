-- SPDX-License-Identifier: MIT
--
-- Options of a command: a list of specs is the parser, and the help text. Errors in a
-- command line is raised as an error of status "usage", which base/exit.lua turns into exit status 2.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"

local options = {}

--- Raises a usage error.
---@param text string   a format
function options.fail(text, ...)
  failure.raise_as("usage", text, ...)
end

--- Raises: no such word, and the nearest that there is, or a hint, or all of them.
---@param kind string     "option", "command"
---@param word string
---@param names string[]
---@param hint string?
function options.fail_unknown(kind, word, names, hint)
  options.fail("unknown %s '%s'; %s", kind, word, nearest.hint(word, names, hint))
end

--- The word of --device, if it has the form of a device's id.
---@param text string
---@param real boolean?  no architecture without a device
---@return string text
function options.device(text, real)
  local says = core.device_word(text)
  if says and not (real and says.offline) then return text end
  if text:lower() == "gpu" then options.fail("unknown device '%s'; a GPU is cuda, or cuda:0", text) end
  local forms, names = core.device_forms()
  options.fail_unknown("device", text, names, ("devices are %s; moonwarp info lists them"):format(forms))
end

-- ---- options of commands that queue jobs ---------------------------------------------------------

local MOST_ELEMENTS <const> = 1000000

local function check_limit(text)
  local number = math.tointeger(tonumber(text))
  if number and number >= 1 and number <= MOST_ELEMENTS then return number end
  options.fail("option '--array-limit' wants a whole number from 1 to %d, got '%s'", MOST_ELEMENTS, text)
end

options.SLURM = {
  { flag = "--slurm", help = "queue a job array, an element for each, and end; words after -- are options of sbatch" },
  { flag = "--partition", show = "NAME", value = "a partition", help = "of the cluster, as sbatch has it" },
  { flag = "--gres", show = "LIST", value = "a list of resources", help = "of each job, as in gpu:1" },
  { flag = "--time", show = "TIME", value = "a time", help = "limit of each job" },
  { flag = "--account", show = "NAME", value = "an account", help = "that the jobs are charged to" },
  { flag = "--array-limit", key = "array_limit", show = "N", value = "a number", check = check_limit,
    help = "jobs of an array at a time; else as many as Slurm starts" },
  { flag = "--site", show = "FILE", value = "a file",
    help = "the cluster's settings; else ~/.config/moonwarp/slurm.lua" },
}

--- Rejects these options where no job is queued.
---@param parsed table
function options.reject_slurm(parsed)
  for _, name in ipairs { "partition", "gres", "time", "account", "array_limit", "site" } do
    if parsed[name] then options.fail("option '--%s' is for --slurm", (name:gsub("_", "-"))) end
  end
end

-- ---- a file next to the command line --------------------------------------------------------------

--- The table that a Lua file returns, which belongs to a command line. An error in it is a usage error.
---@param path string
---@param wanted string  "a curriculum returns a table of labs"
---@return table
function options.load(path, wanted)
  local chunk, problem = loadfile(path, "t", setmetatable({}, { __index = _G }))
  if not chunk then options.fail("%s", problem) end
  local ok, value = failure.catch(chunk)
  if not ok then options.fail("%s", tostring(value)) end
  if type(value) == "table" then return value end
  options.fail("%s: %s, this returns %s", path, wanted, core.type(value) or type(value))
end

-- ---- reading a command line ----------------------------------------------------------------------

local function spec_of(specs, flag)
  local found = lists.find(specs, function(spec) return spec.flag == flag end)
  if found then return found end
  local flags = lists.map(specs, function(spec) return spec.flag end)
  options.fail_unknown("option", flag, lists.append(flags, { "--help" }))
end

local function value_for(spec, given, words, at)
  if not spec.value then
    if given then options.fail("option '%s' takes no value", spec.flag) end
    return true, at
  end
  if given or spec.optional then return given or "", at end
  if words[at + 1] == nil then options.fail("option '%s' wants %s", spec.flag, spec.value) end
  return words[at + 1], at + 1
end

local function store(into, spec, value)
  local key = spec.key or spec.flag:gsub("^%-+", "")
  if spec.check then value = spec.check(value) end
  if spec.many then
    into[key] = into[key] or {}
    table.insert(into[key], value)
  elseif into[key] ~= nil then
    options.fail("option '%s' is given twice", spec.flag)
  else
    into[key] = value
  end
end

-- -pn=64 or -Isrc: the flag and its value; nil if it is a flag alone.
local function joined(specs, word)
  local flag, given = word:match "^(%-%a)(.+)$"
  local spec = flag and lists.find(specs, function(one) return one.flag == flag end)
  if spec and spec.joined or given and given:find("=", 1, true) then return flag, given end
end

-- The way out for one word too many.
local function surplus_hint(first, word, specs, more)
  if more and first:find(more) then
    return ("; a program's arguments come after --, as in moonwarp run %s -- %s"):format(first, word)
  end
  local pair = word:match "^[%a_][%w_]*=" and lists.find(specs, function(spec) return spec.flag == "-p" end)
  return pair and "; a parameter is set by -p " .. word or ""
end

--- Reads the words of a command: what the specs know becomes fields, the rest the list part. Words
--- after "--" are left for the script, in the field rest.
---@param words string[]
---@param specs table[]    { flag = "--out", value = "a folder", help = ..., many =, check =, optional = }; an optional
---                         value comes after "=" and may be left out: ""; joined: it may follow at once, as in -Isrc
---@param most integer     words besides options
---@param more string?     a pattern of words that are not counted
---@return table parsed    words: what was read; help: print the help text instead
function options.parse(words, specs, most, more)
  local parsed, at = { words = words }, 1
  while at <= #words do
    local word = words[at]
    if word == "--" then
      parsed.rest = table.move(words, at + 1, #words, 1, {})
      break
    elseif word == "--help" or word == "-h" then
      parsed.help = true
    elseif word:match("^%-.") then
      local flag, given = word:match("^(%-%-[^=]+)=(.*)$")
      if not flag then flag, given = joined(specs, word) end
      local spec = spec_of(specs, flag or word)
      local value
      value, at = value_for(spec, given, words, at)
      store(parsed, spec, value)
    else
      parsed[#parsed + 1] = word
      if #parsed > most and not (more and word:find(more)) then
        options.fail("'%s' is one word too many%s", word, surplus_hint(parsed[1], word, specs, more))
      end
    end
    at = at + 1
  end
  return parsed
end

--- The help text of a command.
---@param command table    as of options.execute
---@return string
function options.help(command)
  local lines, specs = { command.usage }, command.options or {}
  if #specs > 0 then lines[#lines + 1] = "\noptions:" end
  for _, spec in ipairs(specs) do
    local show = spec.value and (spec.optional and "" or " ") .. (spec.show or spec.value:upper()) or ""
    lines[#lines + 1] = ("  %-22s %s"):format(spec.flag .. show, spec.help)
  end
  lines[#lines + 1] = command.notes and "\n" .. command.notes
  lines[#lines + 1] = command.example and "\nexample:\n  " .. command.example:gsub("\n", "\n  ")
  return table.concat(lines, "\n")
end

--- Runs a command, or prints its help.
---@param command table    usage, options (specs), notes, example (of the help); least and most (words besides options),
---                         more (a pattern of words that are not counted), wants (the message for too few);
---                         run(parsed), which returns a status, nil for 0; help(parsed), called after the help text
---@param words string[]
---@return integer status
function options.execute(command, words)
  local specs = command.options or {}
  local parsed = options.parse(words, specs, command.most or math.huge, command.more)
  if parsed.help then
    print(options.help(command))
    if command.help then command.help(parsed) end
    return 0
  end
  if #parsed < (command.least or 0) then options.fail("%s", command.wants) end
  return command.run(parsed) or 0
end

return options
