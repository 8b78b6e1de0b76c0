-- SPDX-License-Identifier: MIT
--
-- moonwarp list: the studies, their questions and parameters.

local lists = require "moonwarp.base.lists"
local parameter = require "moonwarp.base.parameter"
local sheet = require "moonwarp.base.sheet"
local utf8text = require "moonwarp.base.utf8text"
local studies = require "moonwarp.lab.studies"

local list = { most = 100 }

list.options = { { flag = "--json", help = "as JSON" } }

list.usage = [[
usage: moonwarp list [STUDY|FILE.lua...] [--json]

The studies in experiments/, each with its question and its parameters, or those that are named,
with their rungs too. Exit status 1 if one of them cannot be described.]]

list.example = "moonwarp list nbody"

local NAME <const> = 14 -- letters

-- A parameter, and what it is for.
local COLUMNS <const> = {
  { width = 26, cell = function(one) return ("-p %s=%s"):format(one.name, parameter.text(one.default)) end },
  { gap = " ", cell = function(one)
    local gpu = one.gpu ~= nil and ("(%s on a GPU)"):format(parameter.text(one.gpu)) or nil
    return table.concat({ one.help or gpu, one.help and gpu }, " ")
  end },
}

local function named(study, text)
  return utf8text.left(study.name, NAME) .. " " .. text
end

--- A study, its question and its parameters, a line each.
---@param study table      of studies.describe
---@param whole boolean?   with its rungs
---@return string
function list.text(study, whole)
  if study.error then return named(study, "cannot be described: " .. study.error) end
  if study.plain then return named(study, "a plain script: its parameters are known when it runs") end
  local lines = lists.append({ named(study, study.question) },
    sheet.lines(sheet.of(COLUMNS, study.params), { indent = "    " }))
  for _, rung in ipairs(whole and study.rungs or {}) do
    lines[#lines + 1] = ("    rung %-3s %s"):format(rung.number or "", rung.name)
  end
  return table.concat(lines, "\n")
end

--- The command.
---@param parsed table
---@return integer? status
function list.run(parsed)
  local asked, status = #parsed > 0, 0
  local all = studies.describe(asked and parsed or studies.names())
  for _, study in ipairs(all) do
    if study.error then status = 1 end
    if not parsed.json then print(list.text(study, asked)) end
  end
  if parsed.json then print(require("moonwarp.base.json").encode(all)) end
  return status
end

return list
