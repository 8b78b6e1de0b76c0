-- SPDX-License-Identifier: MIT
--
-- What every kind of picture shares: its levels, what a sweep makes of it, where it is from, its
-- files, and the line that says what was written. A chart of records is drawn by its kind: bars of a
-- ladder, else series along axes.
-- Depends on moonwarp.core, chart, schema, gnuplot, ladder.script, ladder.text, path, session,
-- session, sweep, ticks, units.

local chart = require "moonwarp.plot.chart"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local gnuplot = require "moonwarp.plot.gnuplot"
local path = require "moonwarp.base.path"
local session = require "moonwarp.session"
local script = require "moonwarp.plot.ladder.script"
local sweep = require "moonwarp.plot.sweep"
local text = require "moonwarp.plot.ladder.text"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local figure = {}

-- ---- options that charts of records share -------------------------------------------------------

local LINE = { value = "number", label = "string" }

--- Whether a value is a number that an axis can show.
---@param value any
---@param base number?  of a logarithmic axis
---@return boolean
function figure.is_number(value, base)
  return type(value) == "number" and ticks.holds(value, base)
end

--- The base of a logarithmic axis; true stands for 10.
---@param log number|boolean|nil
---@return number?
function figure.base_of(log)
  if log == true then return 10 end
  return log or nil
end

--- Refuses what is no base.
---@param who string  "mw.plot"
---@param name string the option
---@param log number|boolean|nil
function figure.check_base(who, name, log)
  if type(log) == "number" and not (log >= 1.01 and log < math.huge) then
    failure.invalid("%s: option '%s' must be a base of at least 1.01, as 2 or 10, got %s", who, name, log)
  end
end

--- The lines at levels: that of an option of its own, and those of a list. A logarithmic axis may be
--- unable to show some, which are left out.
---@param who string       "mw.plot"
---@param first any        a number, { value =, label = }, or nil
---@param label string     of first where it has none
---@param lines table?     a list of such
---@param base number?     of the axis
---@param unit string      of the values
---@return table[] levels  { value =, label = "peak (4.800 TB/s)" }
function figure.levels(who, first, label, lines, base, unit)
  local list = {}
  local function add(given, name)
    if type(given) == "number" then given = { value = given, label = name } end
    if type(given) ~= "table" or not figure.is_number(given.value) then
      failure.invalid(who .. ": a line must be a number or { value = number, label = text }")
    end
    schema.options(who .. ": a line", given, LINE)
    if not ticks.holds(given.value, base) then return end
    local words = ("%s (%s)"):format(given.label or name, units.format(given.value, unit))
    list[#list + 1] = { value = given.value, label = words }
  end
  if first then add(first, label) end
  local count = #(lines or {})
  for key in pairs(lines or {}) do
    if math.type(key) ~= "integer" or key > count then
      failure.invalid("%s: option 'lines' must be a list of lines, got the key '%s'", who, key)
    end
  end
  for _, line in ipairs(lines or {}) do add(line, "line") end
  return list
end

--- The parameters of a sweep that records differ in, but for those that the chart's fields show.
---@param entries table[]
---@param shown string[]  fields, as "n" or "params.n"
---@return string[]
function figure.varying(entries, shown)
  local set, names = {}, {}
  for _, field in ipairs(shown) do set[field] = true end
  for _, name in ipairs(sweep.varying(entries)) do
    if not (set[name] or set["params." .. name]) then names[#names + 1] = name end
  end
  return names
end

--- Which pass of a sweep a chart of one pass's own records is of, or the next one would replace it.
---@param spec table  records
---@param entries table[]
---@return string?
function figure.pass_of(spec, entries)
  return spec.records and #sweep.varying(entries) == 0 and sweep.pass() or nil
end

-- ---- from the figure to its files ---------------------------------------------------------------

--- A name or title of what one pass of a sweep leaves.
---@param words string
---@param between string  ", "
---@param pass string?    "n = 1024"; nil: no sweep
---@return string
function figure.of_pass(words, between, pass)
  return pass and words .. between .. pass or words
end

--- A chart of records as text.
---@param about table  as record.json has it
---@param size table?  width (letters), unicode; what is left out is the terminal's
---@return string
function figure.text(about, size)
  if about.kind == "ladder" then return text.draw(about, size) end
  return chart.draw(setmetatable({ width = size and size.width, unicode = size and size.unicode }, { __index = about }))
end

--- Writes the .dat and .gp files of a chart of records.
---@param about table
---@param base string  path without ending
---@return string dat
---@return string gp
function figure.files(about, base)
  local writer = about.kind == "ladder" and script or gnuplot
  return gnuplot.write(base .. ".dat", writer.data(about)), gnuplot.write(base .. ".gp", writer.script(about))
end

--- Shows a chart of records and keeps it: in the terminal, in the run's record, in files. In a sweep
--- the session's records are drawn in the last pass.
---@param spec table   records, quiet, pictures
---@param about table  the chart, as record.json has it
---@return table made  chart, dat, gp, svg, png; reason: why there are no pictures
function figure.leave(spec, about)
  local made = { chart = figure.text(about) }
  if session.current.more and not spec.records then
    made.reason = "the sweep goes on; its last run draws"
    return made
  end
  session.current:note("chart", about)
  made.dat, made.gp = figure.files(about, session.current:file(about.name))
  figure.say(spec, made.chart)
  if spec.pictures ~= false then figure.draw(spec, about, made) end
  return made
end

--- Name, title, device, script and date of a picture that is not made from records.
---@param spec table           name, title, device (a device; the one opened last where absent)
---@param kind string          "film": the default name's last part
---@param columns string[]     names of the data's columns, with units
---@return table
function figure.describe(spec, kind, columns)
  local device = spec.device or session.current:device()
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
---@param words string
function figure.say(spec, words)
  if not spec.quiet and not session.current.options.quiet then print(words) end
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
  local ok, reason = gnuplot.run(session.current:folder(), about.name .. ".gp")
  if not ok then
    made.reason = reason
    figure.say(spec, ("written: %s/%s.dat, .gp; no pictures: %s"):format(session.current:folder(), about.name, reason))
    return
  end
  for _, ending in ipairs(table.move(more or {}, 1, #(more or {}), 3, { "svg", "png" })) do
    local name = session.current:file(("%s.%s"):format(about.name, ending))
    if exists(name) then made[ending] = name end
  end
  figure.say(spec, ("written: %s/%s.%s"):format(session.current:folder(), about.name,
    table.concat(files_of(made), ", .")))
end

--- Writes NAME.dat and NAME.gp, draws the pictures where gnuplot is, and says what is there.
---@param spec table      quiet, pictures (false: none)
---@param about table     what figure.describe gave
---@param data string     text of the .dat file below its header
---@param commands string text of the .gp file
---@param more string[]?  endings of further pictures that the script draws where gnuplot can: "gif"
---@return table made     dat, gp, svg, png and so on: paths; reason: why there are no pictures
function figure.write(spec, about, data, commands, more)
  local made = {
    dat = gnuplot.write(session.current:file(about.name .. ".dat"), gnuplot.header(about) .. "\n" .. data .. "\n"),
    gp = gnuplot.write(session.current:file(about.name .. ".gp"), commands),
  }
  if spec.pictures == false then return made end
  figure.draw(spec, about, made, more)
  session.current:note("picture", { name = about.name, title = about.title, files = files_of(made) })
  return made
end

return figure
