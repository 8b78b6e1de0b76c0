-- SPDX-License-Identifier: MIT
--
-- moonwarp ceilings: what a device gives at most, measured once and kept.

local ceiling = require "moonwarp.measure.ceiling"
local devices = require "moonwarp.tools.device"
local kinds = require "moonwarp.measure.ceiling_kinds"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local session = require "moonwarp.session"
local units = require "moonwarp.base.units"

local ceilings = {}

ceilings.options = {
  { flag = "--device", value = "a device", show = "ID", help = "else the first usable GPU, else the CPU",
    check = function(text) return options.device(text, true) end },
  { flag = "--again", help = "also measure those that are kept" },
}

ceilings.usage = [[
usage: moonwarp ceilings [NAME...] [--device ID] [--again]

Prints the most that a device gives: of memories, arithmetic, launches and buses, or of those named. Missing ones are
measured, all in a minute or two on a quiet machine, and kept by device name, driver and version of moonwarp.
MOONWARP_CEILINGS names the file (else $XDG_CONFIG_HOME/moonwarp/ceilings.json, else
~/.config/moonwarp/ceilings.json).]]

ceilings.example = "moonwarp ceilings launch --device cpu"

ceilings.notes = [[
exit status: 0 done, 1 a kernel of moonwarp computes what is wrong, 2 wrong use, 4 no such device,
130 interrupted]]

-- "757 M additions/s"; of few "13 additions/s"
local function rate_of(row)
  local text = units.format(row.value, row.unit, 3)
  if not row.things then return text end
  return (text:gsub(" (%S+)/s$", function(prefix)
    return (" %s%s/s"):format(prefix == "1" and "" or prefix .. " ", row.things)
  end))
end

local function line_of(row)
  local value = row.value and rate_of(row) or "none"
  local sheet = row.sheet and (", data sheet %s"):format(units.format(row.sheet, row.unit, 3)) or ""
  return ("%-12s %-19s %s%s"):format(row.name, value, row.reason or row.about, sheet)
end

local function check_names(names)
  local known = lists.map(kinds.list, function(one) return one.name end)
  for _, name in ipairs(names) do
    if not lists.set(known)[name] then options.fail_unknown("ceiling", name, known) end
  end
end

--- The command.
---@param parsed table
function ceilings.run(parsed)
  local names = parsed[1] and table.move(parsed, 1, #parsed, 1, {})
  check_names(names or {})
  require "moonwarp" -- which adds what the measurements call to arrays and devices
  session.begin { device = parsed.device }
  local device = devices.open(session.current, parsed.device)
  local rows, problem = ceiling.all(session.current, device, names, parsed.again)
  print(("%s (%s)"):format(device:id(), device:name()))
  for _, row in ipairs(rows) do print(line_of(row)) end
  if not problem then print("kept in " .. ceiling.file:path()) end
end

return ceilings
