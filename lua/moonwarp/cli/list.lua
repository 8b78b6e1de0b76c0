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
local LEAST <const>, MOST <const> = 26, 44 -- letters of a parameter; a longer one moves its own words only

local function word_of(one) return ("-p %s=%s"):format(one.name, parameter.text(one.default)) end

local function words_of(one)
  local gpu = one.gpu ~= nil and ("(%s on a GPU)"):format(parameter.text(one.gpu)) or nil
  return table.concat({ one.help or gpu, one.help and gpu }, " ")
end

-- Parameters, and what each is for.
local function columns_of(params)
  local width = LEAST
  for _, one in ipairs(params) do
    local own = utf8text.count(word_of(one))
    width = own <= MOST and math.max(width, own) or width
  end
  return { { width = width, cell = word_of }, { gap = " ", cell = words_of } }
end

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
    sheet.lines(sheet.of(columns_of(study.params), study.params), { indent = "    " }))
  for _, rung in ipairs(whole and study.rungs or {}) do
    lines[#lines + 1] = ("    rung %-3s %s"):format(rung.number or "", rung.name)
  end
  return table.concat(lines, "\n")
end

local function as_json(all)
  local json = require "moonwarp.base.json"
  for _, study in ipairs(all) do
    for _, key in ipairs { "params", "rungs", "parts" } do
      if study[key] then json.as_list(study[key]) end
    end
  end
  return json.encode(json.as_list(all))
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
  if parsed.json then print(as_json(all)) end
  return status
end

return list
