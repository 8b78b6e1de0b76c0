-- SPDX-License-Identifier: MIT
--
-- A site: what sbatch is to be told on a cluster, whatever the batch. A Lua file that returns a table, checked as a
-- whole; what a command line says comes after it, and wins. docs/lab.md lists the fields.

local amount = require "moonwarp.lab.amount"
local files = require "moonwarp.base.files"
local form = require "moonwarp.base.schema"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.base.options"

local site = {}

local MOST_LABS = 10000

-- ---- values of fields: each returns what the site gets, or nil and what is wanted ---------------

local field = {}

local function text(value)
  return type(value) == "string" and value ~= "" and not value:find "%c" and value or nil, "a text of one line"
end

local function texts(value)
  local list = lists.of(value)
  local fitting = lists.map(list, function(one) return (text(one)) end)
  if #fitting == #list and #list > 0 and not next(lists.named(list)) then return list end
  return nil, "a text of one line or a list of them"
end

local function seconds(value)
  return amount.seconds(value), 'a time, as in 10 or "1 min"'
end

local function whole(value)
  local number = math.tointeger(value)
  if number and number >= 1 and number <= MOST_LABS then return number end
  return nil, ("a whole number from 1 to %d"):format(MOST_LABS)
end

field.modules, field.setup, field.cache = texts, texts, text
field.patience, field.poll, field.warning = seconds, seconds, seconds
field.labs_per_job, field.array_limit = whole, whole

-- { partition = "gpu", gpus_per_node = 1, exclusive = true, "--mem=4G" } as words of sbatch.
function field.options(value)
  local wanted = 'a table, as in { partition = "gpu", exclusive = true, "--mem=4G" }'
  if type(value) ~= "table" then return nil, wanted end
  local words = {}
  for _, key in ipairs(lists.keys(value)) do
    local given, name = value[key], type(key) == "string" and "--" .. key:gsub("_", "-")
    local is_plain = type(given) == "number" or text(given)
    if not name and text(given) and given:find "^%-" then
      words[#words + 1] = given
    elseif name and given == true then
      words[#words + 1] = name
    elseif name and is_plain then
      words[#words + 1] = ("%s=%s"):format(name, given)
    elseif not (name and given == false) then
      return nil, wanted
    end
  end
  return words
end

function field.probe(value)
  if type(value) == "boolean" then return value end
  return nil, "true or false"
end

local NAMES = lists.keys(field)

local HINTS = { modules_to_load = "modules", module = "modules", labs = "labs_per_job", limit = "array_limit",
                sbatch = "options", partition = "options", account = "options", gres = "options", time = "options",
                cache_folder = "cache", commands = "setup" }

--- What a site is without a file.
site.DEFAULTS = { options = {}, modules = {}, setup = {}, patience = 30, poll = 10, warning = 10, labs_per_job = 1,
                  probe = true }

-- ---- the file -----------------------------------------------------------------------------------

-- The line of a file in which a field is set.
local function line_of(source, key)
  local at = source:find("%f[%w_]" .. key:gsub("%W", "%%%0") .. "%s*=") or 1
  return 1 + select(2, source:sub(1, at):gsub("\n", ""))
end

local function run_file(path)
  local source, reason = files.read(path)
  if not source then options.fail("the site file cannot be read: %s", reason) end
  local chunk, problem = load(source, "@" .. path, "t", setmetatable({}, { __index = _G }))
  if not chunk then options.fail("%s", problem) end
  local ok, value = pcall(chunk)
  if not ok then options.fail("%s", type(value) == "string" and value or path .. " raises what is no message") end
  if type(value) ~= "table" then
    options.fail("%s: a site file returns a table, as in return { options = { partition = \"gpu\" } }; this returns %s",
      path, form.kind(value))
  end
  return value, source
end

local function problem_of(key, value)
  if not field[key] then
    return ("unknown field '%s'; %s"):format(tostring(key), nearest.hint(HINTS[key] or tostring(key), NAMES))
  end
  local fits, wanted = field[key](value)
  if fits == nil then
    return ("%s must be %s, got %s"):format(key, wanted, type(value) == "table" and "another table" or tostring(value))
  end
end

--- Reads a site file. What is wrong with it is a usage error, one line per mistake, with the file's line.
---@param path string
---@return table  of the fields that are set
function site.load(path)
  local given, source = run_file(path)
  local read, problems = {}, {}
  for _, key in ipairs(lists.keys(given)) do
    local problem = problem_of(key, given[key])
    if problem then
      problems[#problems + 1] = ("%s:%d: %s"):format(path, line_of(source, tostring(key)), problem)
    else
      read[key] = (field[key](given[key]))
    end
  end
  if #problems > 0 then options.fail("%s", table.concat(problems, "\n")) end
  return read
end

-- What moonwarp itself says to sbatch: another value would part the jobs from their batch.
local RESERVED = { "--array", "-a", "--job-name", "-J", "--output", "-o", "--error", "-e", "--chdir", "-D", "--wrap",
                   "--parsable", "--open-mode", "--requeue", "--ntasks", "-n", "--test-only" }

-- What keeps moonwarp from its jobs.
local REJECTED = {
  ["--clusters"] = "squeue does not know of it; the variable SLURM_CLUSTERS names a cluster to all commands of Slurm",
  ["--quiet"] = "sbatch has to say the number of a job", ["--wait"] = "moonwarp itself waits for its jobs",
}
local SHORT = { ["-M"] = "--clusters", ["-Q"] = "--quiet", ["-W"] = "--wait" }

-- The one of a list that an option is; sbatch takes long ones cut short.
local function named(name, all)
  return lists.find(all, function(one)
    return one == name or name:find "^%-%-%a" and one:sub(1, #name) == name
  end)
end

local function check_word(word, where)
  local name = word:match "^%-%-[^=]+" or word:match "^%-%a" or ""
  local own, rejected = named(name, RESERVED), SHORT[name] or named(name, lists.keys(REJECTED))
  if own then options.fail("%s: moonwarp itself sets %s", where, own) end
  if rejected then options.fail("%s: %s is not for moonwarp: %s", where, rejected, REJECTED[rejected]) end
  if word:find "%c" then options.fail("%s: an option of sbatch is one line, got '%s'", where, word) end
end

-- The user's own file, if there is one.
local function own_file()
  local folder = os.getenv "XDG_CONFIG_HOME"
  if not folder or folder:sub(1, 1) ~= "/" then folder = (os.getenv "HOME" or "") .. "/.config" end
  local path = folder .. "/moonwarp/slurm.lua"
  return files.exists(path) and path or nil
end

--- The words of sbatch on a command line: --partition and others that the command knows, then those after "--".
---@param parsed table  partition, gres, time, account, rest
---@return string[]
function site.words(parsed)
  local words = {}
  for _, name in ipairs { "partition", "gres", "time", "account" } do
    if parsed[name] then words[#words + 1] = ("--%s=%s"):format(name, parsed[name]) end
  end
  if parsed.rest and parsed.rest[1] and parsed.rest[1]:sub(1, 1) ~= "-" then
    options.fail("after -- come options of sbatch, as in -- --exclusive --mem=4G; got '%s'", parsed.rest[1])
  end
  lists.append(words, parsed.rest)
  for _, word in ipairs(words) do check_word(word, "options of sbatch") end
  return words
end

--- A site as a batch keeps it: the defaults, the file of --site or the user's own, and the command line.
---@param parsed table  site (a file), array_limit, and as of site.words
---@return table
function site.of(parsed)
  local path = parsed.site or own_file()
  local found = lists.merged(site.DEFAULTS, path and site.load(path))
  for _, word in ipairs(found.options) do check_word(word, path) end
  found.options = lists.append(lists.append({}, found.options), site.words(parsed))
  found.array_limit = parsed.array_limit or found.array_limit
  return found
end

return site
