-- SPDX-License-Identifier: MIT
--
-- moonwarp list: the studies, their titles and parameters.
-- Depends on cli.options, cli.studies, json, letters.

local letters = require "moonwarp.letters"
local options = require "moonwarp.cli.options"
local studies = require "moonwarp.cli.studies"

local list = {}

local SPECS = { { flag = "--json", help = "as JSON" } }

local USAGE = [[
usage: moonwarp list [STUDY|FILE.lua...] [--json]

The studies in experiments/, or those that are named, each with its title and its parameters.]]

local MOST_WORDS, WIDTH = 100, 26

-- A default as -p takes it, and what is left to say of one that the script computes.
local function default_of(text)
  local values = text:match "^{%s*(.-)%s*}$"
  if values then return (values:gsub("%s*,%s*", ","):gsub("[\"']", "")) end
  if tonumber(text) or text == "true" or text == "false" then return text end
  if text:match "^([\"']).*%1$" then return text:sub(2, -2) end
  local gpu, other = text:match "^gpu and (.-) or (.+)$"
  return "...", gpu and ("%s on a GPU, else %s"):format(gpu, other) or text
end

--- A study, its title and its parameters, a line each.
---@param study table  of studies.read
---@return string
function list.text(study)
  local lines = { ("%-14s %s"):format(study.name, study.title) }
  for _, parameter in ipairs(study.parameters) do
    local default, computed = default_of(parameter.default)
    local setting = letters.left(("-p %s=%s"):format(parameter.name, default), WIDTH)
    local help = computed and ("%s (%s)"):format(parameter.help or "", computed) or parameter.help or ""
    lines[#lines + 1] = (("    %s %s"):format(setting, help):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

--- The command.
---@param words string[]
---@return integer status
function list.run(words)
  local parsed = options.parse(words, SPECS, MOST_WORDS)
  if parsed.help then
    print(options.help(USAGE, SPECS))
    return 0
  end
  local all = {}
  for i, word in ipairs(#parsed > 0 and parsed or studies.names()) do all[i] = studies.read(word) end
  if parsed.json then
    print(require("moonwarp.json").encode(all))
    return 0
  end
  for _, study in ipairs(all) do print(list.text(study)) end
  return 0
end

return list
