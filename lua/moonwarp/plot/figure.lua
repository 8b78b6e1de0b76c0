-- SPDX-License-Identifier: MIT
--
-- What every kind of picture shares: its levels, what a sweep makes of it, where it is from, its
-- files, and the line that says what was written. A chart of records is drawn by its kind (kinds.lua).

local chart = require "moonwarp.plot.chart"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local fields = require "moonwarp.results.fields"
local files = require "moonwarp.base.files"
local schema = require "moonwarp.base.schema"
local gnuplot = require "moonwarp.plot.gnuplot"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"
local quantity = require "moonwarp.measure.quantity"
local sweep = require "moonwarp.plot.sweep"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"
local utf8text = require "moonwarp.base.utf8text"

local figure = {}

--- The form of levels and marks of a stored chart.
figure.LABELLED = schema.fields { value = "number", label = "string" }

-- ---- options that charts of records share -------------------------------------------------------

local LINE = { value = "number table", label = "string" }

--- Whether a value is a number that an axis can show.
---@param value any
---@param base number?  of a logarithmic axis
---@return boolean
function figure.is_number(value, base)
  return type(value) == "number" and ticks.holds(value, base)
end

--- The base of a logarithmic axis; true means 10.
---@param log number|boolean|nil
---@return number?
function figure.base_of(log)
  if log == true then return 10 end
  return log or nil
end

local function check_limits(who, spec, axis)
  local least, most, base = axis .. "min", axis .. "max", spec["log" .. axis]
  for _, name in ipairs { least, most } do
    local value = spec[name]
    if value and not figure.is_number(value, base) then
      failure.invalid("%s: option '%s' must be a number%s, got %s", who, name,
        base and " above 0 on a logarithmic axis" or " that an axis can show", value)
    end
  end
  if spec[least] and spec[most] and spec[least] >= spec[most] then
    failure.invalid("%s: option '%s' must be below '%s', got %s and %s", who, least, most, spec[least], spec[most])
  end
end

--- Rejects options of a chart of records that it cannot have.
---@param who string      "mw.plot"
---@param spec any
---@param rules table     of schema.options
---@param needed table[]  { name, what it is } of those that must be there
function figure.check(who, spec, rules, needed)
  schema.options(who, spec, rules)
  for _, option in ipairs(needed) do
    if not (spec and spec[option[1]]) then
      failure.invalid("%s: option '%s' is needed: %s", who, option[1], option[2])
    end
  end
  for _, name in ipairs { "logx", "logy" } do
    local base = spec[name]
    if type(base) == "number" and not (base >= 1.01 and base < math.huge) then
      failure.invalid("%s: option '%s' must be a base of at least 1.01, as 2 or 10, got %s", who, name, base)
    end
  end
  for _, axis in ipairs { "x", "y" } do check_limits(who, spec, axis) end
end

--- The lines at levels: that of an option of its own, and those of a list. A logarithmic axis may be
--- unable to show some, which are left out.
---@param who string       "mw.plot"
---@param first any        a number, quantity or result of mw.bench, { value = such, label = }, or nil
---@param label string     of first where it has none
---@param lines table?     a list of such
---@param base number?     of the axis
---@param unit string      of the values
---@return table[] levels  { value =, label = "peak (4.800 TB/s)" }
function figure.levels(who, first, label, lines, base, unit)
  return lists.map(lists.append(first and { first } or {}, lines or {}), function(given, i)
    local name = first and i == 1 and label or "line"
    local value = quantity.read(given)
    if not value and type(given) == "table" then
      schema.options(who .. ": a line", given, LINE)
      value, name = quantity.read(given.value), given.label or name
    end
    if not figure.is_number(value) then
      failure.invalid(who .. ": a line must be a number or { value = number, label = text }")
    end
    local words = ("%s (%s)"):format(name, units.format(value, unit))
    return ticks.holds(value, base) and { value = value, label = words } or nil
  end)
end

--- Rejects fields of a chart that no record has.
---@param who string        "mw.plot"
---@param spec table
---@param names string[]    options that name a field, or a list of them
---@param entries table[]
function figure.check_fields(who, spec, names, entries)
  local named = {}
  for _, name in ipairs(names) do lists.append(named, spec[name] and lists.of(spec[name])) end
  fields.check(who, named, entries)
end

--- The parameters of a sweep that records differ in, but for those that the chart's fields show.
---@param entries table[]
---@param shown string[]  fields, as "n" or "params.n"
---@return string[]
function figure.varying(entries, shown)
  local set = lists.set(shown)
  return lists.filter(sweep.varying(entries), function(name) return not (set[name] or set["params." .. name]) end)
end

--- What every picture says of itself: its files' name, title, device, script and date. In a sweep a picture of one
--- pass, or of one pass's own records, says which, or the next one would replace it. Pictures of one name are told
--- apart by a number, unless one is drawn again: with the same fields and title.
---@param session table
---@param spec table       name, title
---@param name string      where spec has none, as title
---@param title string
---@param device string    "NVIDIA H200 (cuda:0)"
---@param entries table[]  records that it shows; {}: of none
---@param number any?      see figure.describe
---@return table
function figure.about(session, spec, name, title, device, entries, number)
  local pass = (spec.records or #entries == 0) and #sweep.varying(entries) == 0 and session:pass_words()
  local kind = name
  name, title = spec.name or ("%s-%s"):format(session:script(), name), spec.title or title
  if pass then name, title = ("%s-%s"):format(name, pass), ("%s, %s"):format(title, pass) end
  local own = session:picture_name(path.chart(name), ("%s\0%s\0%s\0%s"):format(kind, name, title, number))
  return { name = own, title = ("%s, %s"):format(title, device), device = device, script = session:script(),
           date = os.date "!%Y-%m-%d %H:%M UTC" }
end

--- The same of a picture that is not made from records.
---@param session table
---@param spec table   name, title, device (a device; the one opened last where absent)
---@param kind string  "film"
---@param number any   what tells it from others without a name
---@return table
function figure.describe(session, spec, kind, number)
  local device = spec.device or session:device()
  local where = device and ("%s (%s)"):format(device:name(), device:id()) or "no device"
  return figure.about(session, spec, kind, kind, where, {}, number)
end

--- Why there is no chart.
figure.NOT_TIMED = "nothing is timed in check mode or with --engines"

--- Of records made in check mode there is no chart, since nothing is timed: what is left of one. Else nil.
---@param entries table[]
---@return table? made
function figure.none_of(entries)
  local function is_timed(entry) return not (entry.device and (core.device_word(entry.device) or {}).checked) end
  if #entries == 0 or lists.find(entries, is_timed) then return nil end
  return { chart = "", reason = figure.NOT_TIMED }
end

-- ---- from the figure to its files ---------------------------------------------------------------

--- Prints unless the script, or --quiet, asked for silence.
---@param session table
---@param spec table   quiet
---@param words string
---@param result any?  what the call returns, if the words say the same
function figure.say(session, spec, words, result)
  if spec.quiet or session.options.quiet then return end
  local _, unicode = chart.size()
  print(unicode and words or utf8text.ascii(words))
  session:note_shown(result)
end

--- Writes the .dat and .gp files of a picture.
---@param about table       of figure.about; a chart of records as record.json has it
---@param base string       path without ending
---@param drawing table     of gnuplot.script
---@param is_alone boolean? the .gp holds its data
---@return table made       dat, gp: paths
function figure.files(about, base, drawing, is_alone)
  return { dat = files.put(base .. ".dat", gnuplot.data(about, drawing)),
           gp = files.put(base .. ".gp", gnuplot.script(about, drawing, is_alone)) }
end

-- Draws the pictures of a script, and prints which files exist.
local function draw(session, spec, about, made, endings)
  local ok, reason = gnuplot.run(session:folder(), about.name .. ".gp")
  local there, tail = { "dat", "gp" }, ""
  if ok then
    for _, ending in ipairs(endings) do
      local name = session:file(("%s.%s"):format(about.name, ending))
      if files.read(name) then made[ending], there[#there + 1] = name, ending end
    end
    table.sort(there)
  else
    made.reason, tail = reason, "; no pictures: " .. reason
  end
  figure.say(session, spec, ("written: %s/%s.%s%s"):format(session:folder(), about.name, table.concat(there, ", ."),
    tail))
  return there
end

--- Writes NAME.dat and NAME.gp, draws the pictures if gnuplot is installed, and says what is there.
---@param session table
---@param spec table      quiet, pictures (false: none)
---@param about table     of figure.describe; what else draws it again, as record.json has it
---@param drawing table   of gnuplot.script
---@param more string?    the ending of a further picture that the script draws where gnuplot can: "gif"
---@return table made     dat, gp, svg, png and so on: paths; reason: why there are no pictures
function figure.write(session, spec, about, drawing, more)
  local made = figure.files(about, session:file(about.name), drawing)
  if spec.pictures == false then return made end
  local there = draw(session, spec, about, made, { "png", "svg", more })
  session:note("picture", lists.merged(about, { files = there }))
  return made
end

--- Shows a chart of records and keeps it: in the terminal, in the run's record, in files. In a sweep
--- the session's records are drawn in the last pass.
---@param session table
---@param what string  the function of mw that is called
---@param kind table   of kinds.lua
---@param spec table   what that was called with: records, quiet, pictures
---@param about table  the chart, as record.json has it
---@return table made  chart, dat, gp, svg, png; reason: why there are no pictures
function figure.leave(session, what, kind, spec, about)
  local words = kind.text(about, { colour = false })
  if session.more and not spec.records then
    session:leave_to_last(what, spec)
    return { chart = words, reason = "the sweep goes on; its last run draws" }
  end
  session:note("chart", about)
  local made = figure.files(about, session:file(about.name), kind.drawing(about))
  made.chart = words
  figure.say(session, spec, kind.text(about), made)
  if spec.pictures ~= false then draw(session, spec, about, made, { "png", "svg" }) end
  return made
end

return figure
