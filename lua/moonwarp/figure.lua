-- SPDX-License-Identifier: MIT
--
-- What every kind of picture shares: where it is from, its files, and the line that says what was
-- written. Depends on moonwarp.core, gnuplot, path, record, recent.

local core = require "moonwarp.core"
local gnuplot = require "moonwarp.gnuplot"
local path = require "moonwarp.path"
local recent = require "moonwarp.recent"

local figure = {}

--- Name, title, device, script and date of a picture that is not made from records.
---@param spec table           name, title, device (a device; the one opened last where absent)
---@param kind string          "film": the default name's last part
---@param columns string[]     names of the data's columns, with units
---@return table
function figure.describe(spec, kind, columns)
  local device = spec.device or recent.device()
  local where = device and ("%s (%s)"):format(device:name(), device:id()) or "no device"
  return {
    name = path.safe(spec.name or ("%s-%s"):format(path.script(), kind)),
    title = ("%s, %s"):format(spec.title or kind, where),
    device = where, script = path.script(), date = os.date("!%Y-%m-%d %H:%M UTC"),
    columns = columns,
  }
end

--- Prints unless the script, or --quiet, asked for silence.
---@param spec table  quiet
---@param text string
function figure.say(spec, text)
  if not spec.quiet and not core.options.quiet then print(text) end
end

local function exists(name)
  local file <close> = io.open(name, "rb")
  return file ~= nil
end

--- Writes NAME.dat and NAME.gp, draws the pictures where gnuplot is, and says what is there.
---@param spec table      quiet, pictures (false: none)
---@param about table     what figure.describe gave
---@param data string     text of the .dat file below its header
---@param script string   text of the .gp file
---@param more string[]?  endings of further pictures that the script draws where gnuplot can: "gif"
---@return table made     dat, gp, svg, png and so on: paths; reason: why there are no pictures
function figure.write(spec, about, data, script, more)
  local made = {
    dat = gnuplot.write(path.out(about.name .. ".dat"), gnuplot.header(about) .. "\n" .. data .. "\n"),
    gp = gnuplot.write(path.out(about.name .. ".gp"), script),
  }
  if spec.pictures == false then return made end
  local ok, reason = gnuplot.run(path.out(""):gsub("/$", ""), about.name .. ".gp")
  if not ok then
    made.reason = reason
    figure.say(spec, ("%s and %s are written; no pictures: %s"):format(made.dat, made.gp, reason))
    return made
  end
  local names = { made.dat, made.gp }
  for _, ending in ipairs(table.move(more or {}, 1, #(more or {}), 3, { "svg", "png" })) do
    local name = path.out(("%s.%s"):format(about.name, ending))
    if exists(name) then
      made[ending] = name
      names[#names + 1] = name
    end
  end
  figure.say(spec, "written: " .. table.concat(names, ", "))
  return made
end

return figure
