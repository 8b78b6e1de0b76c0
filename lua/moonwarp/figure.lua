-- SPDX-License-Identifier: MIT
--
-- What every kind of picture shares: where it is from, its files, and the line that says what was
-- written.
-- Depends on moonwarp.core, gnuplot, path, recent, results.run, sweep.

local core = require "moonwarp.core"
local gnuplot = require "moonwarp.gnuplot"
local path = require "moonwarp.path"
local recent = require "moonwarp.recent"
local run = require "moonwarp.results.run"
local sweep = require "moonwarp.sweep"

local figure = {}

--- A name or title of what one pass of a sweep leaves.
---@param text string
---@param between string  ", "
---@param pass string?    "n = 1024"; nil: no sweep
---@return string
function figure.of_pass(text, between, pass)
  return pass and text .. between .. pass or text
end

--- Name, title, device, script and date of a picture that is not made from records.
---@param spec table           name, title, device (a device; the one opened last where absent)
---@param kind string          "film": the default name's last part
---@param columns string[]     names of the data's columns, with units
---@return table
function figure.describe(spec, kind, columns)
  local device = spec.device or recent.device()
  local where = device and ("%s (%s)"):format(device:name(), device:id()) or "no device"
  return {
    name = path.safe(figure.of_pass(spec.name or ("%s-%s"):format(path.script(), kind), "-", sweep.pass())),
    title = ("%s, %s"):format(figure.of_pass(spec.title or kind, ", ", sweep.pass()), where),
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

-- The endings of what was made, in the order that it is told in.
local function files_of(made)
  local endings = {}
  for ending, name in pairs(made) do
    if type(name) == "string" and name:sub(-#ending - 1) == "." .. ending then
      endings[#endings + 1] = ending
    end
  end
  table.sort(endings)
  return endings
end

--- Draws the pictures of a script in the run's folder, and says what is there.
---@param spec table      quiet
---@param about table     name
---@param made table      dat and gp; svg, png and so on are added, or reason where there are none
---@param more string[]?  endings of further pictures
function figure.draw(spec, about, made, more)
  local ok, reason = gnuplot.run(run.folder(), about.name .. ".gp")
  if not ok then
    made.reason = reason
    figure.say(spec, ("written: %s/%s.dat, .gp; no pictures: %s"):format(run.folder(), about.name, reason))
    return
  end
  for _, ending in ipairs(table.move(more or {}, 1, #(more or {}), 3, { "svg", "png" })) do
    local name = run.file(("%s.%s"):format(about.name, ending))
    if exists(name) then made[ending] = name end
  end
  figure.say(spec, ("written: %s/%s.%s"):format(run.folder(), about.name,
    table.concat(files_of(made), ", .")))
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
    dat = gnuplot.write(run.file(about.name .. ".dat"), gnuplot.header(about) .. "\n" .. data .. "\n"),
    gp = gnuplot.write(run.file(about.name .. ".gp"), script),
  }
  if spec.pictures == false then return made end
  figure.draw(spec, about, made, more)
  run.note("picture", { name = about.name, title = about.title, files = files_of(made) })
  return made
end

return figure
