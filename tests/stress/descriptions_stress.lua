-- SPDX-License-Identifier: MIT
--
-- What files may say of themselves: $FILES (800) with descriptions that are changed (tests/support/damage.lua), each in
-- its own process as `moonwarp list` starts it. Every one is a description or an error of its file, under its own name,
-- whose text a terminal does not obey. $SEED makes it repeatable.

local damage = require "tests.support.damage"
local json = require "moonwarp.base.json"
local list = require "moonwarp.cli.list"
local studies = require "moonwarp.lab.studies"
local support = require "tests.support"

local FILES <const>, AT_ONCE <const> = math.tointeger(tonumber(os.getenv "FILES" or 800)), 40
local random = damage.random(math.tointeger(tonumber(os.getenv "SEED" or 1)))

local SAY <const> = 'require("moonwarp.base.json").stored = function() return %q end\nrequire("moonwarp").study {}\n'

local function answer_of(whole)
  local text = json.encode(damage.changed(whole, random))
  return random(3) == 1 and damage.text(text, random) or text
end

support.with_folder(function(folder)
  local whole, errors, described = studies.describe({ "memcopy" })[1], 0, 0
  whole.name, whole.path = nil, nil
  for first = 1, FILES, AT_ONCE do
    local names = {}
    for i = first, math.min(FILES, first + AT_ONCE - 1) do
      names[#names + 1] = ("%s/s%d.lua"):format(folder, i)
      support.write(names[#names], SAY:format(answer_of(whole)))
    end
    for i, study in ipairs(studies.describe(names)) do
      local fault = damage.fault(function() print(list.text(study, true)) end)
      assert(not fault, ("%s\n%s"):format(fault, support.read(names[i])))
      assert(study.path == names[i] and study.name == names[i]:match "([^/]+)%.lua$", support.read(names[i]))
      errors, described = errors + (study.error and 1 or 0), described + (study.error and 0 or 1)
    end
  end
  print(("%d files: %d described, %d refused"):format(errors + described, described, errors))
  assert(errors > 0 and described > 0)
end)
