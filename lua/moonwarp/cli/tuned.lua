-- SPDX-License-Identifier: MIT
--
-- moonwarp tuned list|export|forget: the best values that tunings have found.

local fields = require "moonwarp.results.fields"
local lists = require "moonwarp.base.lists"
local objective = require "moonwarp.tune.objective"
local options = require "moonwarp.base.options"
local sheet = require "moonwarp.base.sheet"
local store = require "moonwarp.tune.store"
local units = require "moonwarp.base.units"

local tuned = { most = 2, least = 1, wants = "tuned wants list, export or forget" }

tuned.usage = [[
usage: moonwarp tuned list|export [KERNEL]
       moonwarp tuned forget KERNEL|all

The best values that tunings have found, by kernel, device and size. KERNEL is a file, the study of
that name, or a file and a name as list shows it. MOONWARP_TUNED names the file (else
$XDG_CONFIG_HOME/moonwarp/tuned.json, else ~/.config/moonwarp/tuned.json); export prints it as JSON.]]

tuned.example = "moonwarp tuned list stencil.cu"

local ACTIONS = {}

-- A kernel is "stencil.cu:naive"; its file is "stencil.cu", and that of the study stencil.
local function is_of(entry, kernel)
  local file = entry.kernel:match "^(.-):[^/]*$"
  return not kernel or entry.kernel == kernel or file == kernel or file == kernel .. ".cu"
end

-- A kernel without an entry, where others have one, is mistyped.
local function check_kernel(entries, kernel)
  local names = {}
  for _, entry in ipairs(entries) do
    if is_of(entry, kernel) then return end
    lists.append(names, { entry.kernel, entry.kernel:match "^(.-):[^/]*$" })
  end
  if #names > 0 then options.fail_unknown("kernel", kernel, lists.unique(names)) end
end

local function of_kernel(kernel)
  local entries = store.read()
  check_kernel(entries, kernel)
  return lists.filter(entries, function(entry) return is_of(entry, kernel) end)
end

local COLUMNS <const> = {
  { heading = "kernel", cell = "kernel" }, { heading = "device", cell = "device" },
  { heading = "size", cell = function(entry) return fields.text(entry.size) end },
  { heading = "best", cell = function(entry) return fields.text(entry.values) end },
  { heading = "measured", number = true, cell = function(entry)
    return units.format(entry.value, objective.UNITS[entry.objective] or "")
  end },
}

function ACTIONS.list(kernel)
  local entries = of_kernel(kernel)
  if #entries == 0 then print(kernel and ("no entries of '%s'"):format(kernel) or "no entries") end
  sheet.print(COLUMNS, entries)
end

function ACTIONS.export(kernel)
  io.write(store.text(of_kernel(kernel)))
end

function ACTIONS.forget(kernel)
  if not kernel then options.fail "tuned forget wants a kernel as list shows it, or all" end
  local count
  store.change(function(entries)
    if kernel ~= "all" then check_kernel(entries, kernel) end
    local left = lists.filter(entries, function(entry) return kernel ~= "all" and not is_of(entry, kernel) end)
    count = #entries - #left
    return left
  end)
  print(units.count(count, "entry", "entries") .. " forgotten")
end

--- The command.
---@param parsed table
function tuned.run(parsed)
  if not ACTIONS[parsed[1]] then options.fail_unknown("action", parsed[1], lists.keys(ACTIONS)) end
  ACTIONS[parsed[1]](parsed[2])
end

return tuned
