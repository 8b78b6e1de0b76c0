-- SPDX-License-Identifier: MIT
--
-- Entries kept for the user between runs, in a file of JSON: { "schema": NAME, KEY: [ entry, ... ] }. An environment
-- variable names the file; else it is in $XDG_CONFIG_HOME/moonwarp, or in ~/.config/moonwarp.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"

local kept = {}
kept.__index = kept

--- A file that is kept.
---@param about table   variable (that names the file), file (its name without that), schema (its name), key (of the
---                     entries), entry (what one has, of base/schema.lua), order (keys of one that lead)
---@return table
function kept.new(about)
  about.form = schema.fields { schema = "string", [about.key] = schema.list(about.entry) }
  return setmetatable(about, kept)
end

--- Where it is.
---@return string
function kept:path()
  local own, folder = os.getenv(self.variable), os.getenv "XDG_CONFIG_HOME"
  if own and own ~= "" then return own end
  if not folder or folder:sub(1, 1) ~= "/" then folder = (os.getenv "HOME" or "") .. "/.config" end
  return ("%s/moonwarp/%s"):format(folder, self.file)
end

--- All entries: none, where there is no file or an empty one.
---@return table[]
function kept:read()
  local name = self:path()
  local text, reason = files.read(name)
  if not text and require("lfs").attributes(name, "mode") then
    failure.raise_as("io", "%s cannot be read: %s", name, (reason:gsub("^.*: ", "")))
  end
  if not text or text == "" then return {} end
  local value, problem = json.decode(text)
  problem = problem or schema.problem(value, self.form)
    or value.schema ~= self.schema and ("its schema is not " .. self.schema) or nil
  if problem then failure.raise_as("io", "%s cannot be read: %s; remove it, or mend it", name, problem) end
  return value[self.key]
end

--- Entries as the file has them.
---@param entries table[]
---@return string
function kept:text(entries)
  local lines = lists.map(entries, function(entry) return json.encode(entry, self.order) end)
  local list = #lines > 0 and ("\n%s\n"):format(table.concat(lines, ",\n")) or ""
  return ('{"schema": "%s", "%s": [%s]}\n'):format(self.schema, self.key, list)
end

--- Changes the entries, which no other process does meanwhile.
---@param fn fun(entries: table[]): table[]   what there is, and what there shall be
function kept:change(fn)
  local name = self:path()
  local folder = name:match "^(.*)/"
  local problem = folder and core.make_folder(folder)
  if problem then failure.raise_as("io", "cannot make the folder %s: %s", folder, problem) end
  local _ <close> = files.lock(name)
  problem = files.replace(name, self:text(fn(self:read())))
  if problem then failure.raise_as("io", "%s", problem) end
end

return kept
