-- SPDX-License-Identifier: MIT
--
-- moonwarp list: the studies, their titles and parameters.

local options = require "moonwarp.cli.options"
local studies = require "moonwarp.cli.studies"

local list = {}

local SPECS = { { flag = "--json", help = "as JSON" } }

local USAGE = [[
usage: moonwarp list [--json]

The studies in experiments/, each with its title and its parameters.]]

-- A default that the script computes is not shown.
local function shown(default)
  local is_word = default == "true" or default == "false" or default:match("^[\"'{]")
  return (tonumber(default) or is_word) and default or "..."
end

local function print_study(study)
  print(("%-14s %s"):format(study.name, study.title))
  for _, parameter in ipairs(study.parameters) do
    local setting = ("-p %s=%s"):format(parameter.name, shown(parameter.default))
    print(("    %-34s %s"):format(setting, parameter.help or ""):match("^(.-)%s*$"))
  end
end

--- The command.
---@param words string[]
---@return integer status
function list.run(words)
  local parsed = options.parse(words, SPECS, 0)
  if parsed.help then
    print(options.help(USAGE, SPECS))
    return 0
  end
  local all = {}
  for i, name in ipairs(studies.names()) do all[i] = studies.read(name) end
  if parsed.json then
    print(require("moonwarp.json").encode(all))
    return 0
  end
  for _, study in ipairs(all) do print_study(study) end
  return 0
end

return list
