-- SPDX-License-Identifier: MIT
--
-- A site: what sbatch is to be told on a cluster, whatever the batch. A Lua file that returns a table; what a command
-- line says comes after it, and wins. docs/lab.md lists the fields.

local files = require "moonwarp.base.files"
local form = require "moonwarp.base.schema"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"

local site = {}

local FORM <const> = { options = "table", modules = form.list "string", setup = form.list "string", cache = "string",
                       labs_per_job = "integer", array_limit = "integer", mpirun = form.list "string" }
local RANGES <const> = { labs_per_job = { 1, 10000 }, array_limit = { 1, 1000000 } }

-- What moonwarp itself says to sbatch, or what would part the jobs from their batch.
local REFUSED <const> = { "--array", "--job-name", "--output", "--error", "--chdir", "--wrap", "--parsable",
                          "--open-mode", "--requeue", "--ntasks", "--test-only", "--clusters", "--quiet", "--wait" }
local SHORT <const> = { a = "--array", J = "--job-name", o = "--output", e = "--error", D = "--chdir", n = "--ntasks",
                        M = "--clusters", Q = "--quiet", W = "--wait" }

-- sbatch takes long options cut short.
local function check_word(word, where)
  local name = word:match "^%-%-%a[^=]*"
  local refused = SHORT[word:match "^%-(%a)"] or name and lists.find(REFUSED, function(one)
    return one:sub(1, #name) == name
  end)
  if refused then options.fail("%s: %s is not for jobs of moonwarp, which has to find them again", where, refused) end
  if word:find "%c" then options.fail("%s: an option of sbatch is one line, got '%s'", where, word) end
end

-- { partition = "gpu", gpus_per_node = 1, exclusive = true, "--mem=4G" } as words of sbatch.
local function words_of(given, where)
  return lists.map(lists.keys(given), function(key)
    local value = given[key]
    if not lists.has({ "string", "number", "boolean" }, type(value)) then
      options.fail("%s: an option of sbatch is a text, a number or true, got a %s", where, type(value))
    end
    local name = math.type(key) ~= "integer" and "--" .. tostring(key):gsub("_", "-")
    return not name and tostring(value) or value == true and name or value and ("%s=%s"):format(name, value) or nil
  end)
end

--- Reads a site file. An error in it is a usage error.
---@param path string
---@return table  of the fields that are set
function site.load(path)
  local given = options.load(path, 'a site file returns a table, as in return { options = { partition = "gpu" } }')
  for _, name in ipairs { "modules", "setup", "mpirun" } do given[name] = given[name] and lists.of(given[name]) end
  local ok, problem = pcall(function()
    form.options(path, given, FORM)
    form.check_numbers(path, given, RANGES)
  end)
  if not ok then options.fail("%s", problem.text) end
  given.options = words_of(given.options or {}, path)
  for _, word in ipairs(given.options) do check_word(word, path) end
  return given
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
  local words = lists.map({ "partition", "gres", "time", "account" }, function(name)
    return parsed[name] and ("--%s=%s"):format(name, parsed[name])
  end)
  if parsed.rest and parsed.rest[1] and parsed.rest[1]:sub(1, 1) ~= "-" then
    options.fail("after -- come options of sbatch, as in -- --exclusive --mem=4G; got '%s'", parsed.rest[1])
  end
  lists.append(words, parsed.rest)
  for _, word in ipairs(words) do check_word(word, "options of sbatch") end
  return words
end

--- A site as a batch keeps it: the file of --site or the user's own, and the command line.
---@param parsed table  site (a file), array_limit, and as of site.words
---@return table        options (words of sbatch), modules, setup, cache, labs_per_job, array_limit
function site.of(parsed)
  local path = parsed.site or own_file()
  local found = lists.merged({ options = {}, modules = {}, setup = {}, labs_per_job = 1 }, path and site.load(path))
  lists.append(found.options, site.words(parsed))
  found.array_limit = parsed.array_limit or found.array_limit
  return found
end

return site
