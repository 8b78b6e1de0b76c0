-- SPDX-License-Identifier: MIT
--
-- What a tuning has found, in words, as a table and as charts: the best so far against variants and against time, and a
-- heat map of two parameters.

local film = require "moonwarp.plot.film"
local lists = require "moonwarp.base.lists"
local objective = require "moonwarp.tune.objective"
local path = require "moonwarp.base.path"
local plot = require "moonwarp.plot.plot"
local remark = require "moonwarp.results.remark"
local tables = require "moonwarp.plot.table"
local units = require "moonwarp.base.units"

local show = {}

local MOST <const> = 8 -- ties and reasons that are told

-- ---- words --------------------------------------------------------------------------------------

local function listed(list)
  local rest = #list - MOST
  return table.concat(list, "; ", 1, math.min(#list, MOST)) .. (rest > 0 and ("; %d more"):format(rest) or "")
end

-- Reasons, the most frequent first, each with how many variants it is of and one of them.
local function reasons(job, rows)
  local list, by_text = {}, {}
  for _, row in ipairs(rows) do
    if row.reason then
      local one = lists.entry(list, by_text, row.reason, { text = row.reason, count = 0, row = row })
      one.count = one.count + 1
    end
  end
  table.sort(list, function(a, b) return a.count > b.count or a.count == b.count and a.row.number < b.row.number end)
  return lists.map(list, function(one)
    return ("%s (%s%s)"):format(one.text, job.space:text(one.row.number),
      one.count > 1 and (" and %d more"):format(one.count - 1) or "")
  end)
end

local function value_text(job, row)
  return units.format(row.value, objective.UNITS[job.objectives[1]])
end

--- A result in words.
---@param job table
---@param result table
---@return string
function show.text(job, result)
  local parts, left_out = {}, reasons(job, result.rows)
  if result.best then
    parts[1] = ("%s: the best of %d variants is %s: %s; %d were tried in %s."):format(result.name, result.size,
      job.space:text(result.best.number), value_text(job, result.best), result.tried,
      units.format(result.seconds, "s", 3))
    parts[2] = #result.ties == 0 and "No other is as good."
      or ("Tied with it, as ratios to the least value: %s. Of those nearest to it, it is the simplest."):format(listed(
        lists.map(result.ties, function(row)
          return ("%s (%s to %s)"):format(job.space:text(row.number), units.digits(row.ratio.low, 4),
            units.digits(row.ratio.high, 4))
        end)))
  else
    parts[1] = ("%s: %d of %d variants were tried, %s."):format(result.name, result.tried, result.size,
      result.is_checked and "and not timed" or "and none can be used")
  end
  if #left_out > 0 then parts[#parts + 1] = ("Left out: %s."):format(listed(left_out)) end
  return table.concat(parts, " ")
end

-- ---- pictures -----------------------------------------------------------------------------------

-- Two parameters that are looked at together: the first group of two, else the first two.
local function plane_of(space)
  local group = lists.find(space.groups, function(one) return #one == 2 end) or { 1, 2 }
  local x, y = space.parameters[group[1]], space.parameters[group[2]]
  return x and y and #x.values > 1 and #y.values > 1 and group or nil
end

-- The least value of those that agree in both parameters; NaN if none.
local function heat_of(job, result, group)
  local nx, ny = #job.space.parameters[group[1]].values, #job.space.parameters[group[2]].values
  local rows = {}
  for j = 1, ny do
    rows[j] = {}
    for i = 1, nx do rows[j][i] = 0 / 0 end
  end
  for _, row in ipairs(result.rows) do
    local places = job.space.places[row.number]
    local i, j = places[group[1]], places[group[2]]
    if row.value then rows[j][i] = math.min(row.value, rows[j][i] == rows[j][i] and rows[j][i] or math.huge) end
  end
  return rows, nx, ny
end

local function axis_of(parameter)
  return ("%s: %s"):format(parameter.name, table.concat(lists.map(parameter.values, tostring), ", "))
end

local function draw_map(session, job, result)
  local group = plane_of(job.space)
  if not group then return end
  local rows, nx, ny = heat_of(job, result, group)
  local array <close> = job.device:array("f64", nx, ny)
  array:upload(rows)
  film.still(session, array, { name = path.chart(result.name .. "-map"), label = job.objectives[1], quiet = true,
    title = result.name .. ": the best of each pair of values", device = job.device,
    xlabel = axis_of(job.space.parameters[group[1]]), ylabel = axis_of(job.space.parameters[group[2]]) })
end

local function draw_history(session, result)
  local rows = lists.map(result.history, function(entry) return entry.best and entry or nil end)
  if #rows < 2 then return end
  for _, x in ipairs { "evaluation", "elapsed" } do
    plot.draw(session, { x = x, y = "best", records = rows, points = false, quiet = x == "elapsed",
      name = path.chart(("%s-%s"):format(result.name, x)), title = result.name .. ": best so far",
      xlabel = x == "evaluation" and "variants" or "time" })
  end
end

local function print_table(session, job, result)
  local rows = lists.map(lists.append({ result.best }, result.front or result.ties), function(row)
    return lists.merged(row.v, { t = row.t, joules = row.energy, error = row.error, ratio = row.ratio,
                                 device = job.device:id(), device_name = job.device:name(),
                                 units = row.energy and { joules = "J" } or nil })
  end)
  local columns = lists.map(job.space.parameters, function(parameter) return parameter.name end)
  lists.append(columns, { "t" })
  for _, name in ipairs { "joules", "error" } do
    if rows[1][name] then columns[#columns + 1] = name end
  end
  tables.print(session, lists.merged(columns, { records = rows,
    title = result.name .. (result.front and ": the best, and the front of both" or ": the best and its ties")
  }))
end

--- Prints and draws a result.
---@param session table
---@param job table
---@param result table
---@param quiet boolean?   only the words are kept
function show.result(session, job, result, quiet)
  local text = show.text(job, result)
  if quiet then return remark.keep(session, text) end
  remark.say(session, "%s", text)
  if not result.best then return end
  print_table(session, job, result)
  draw_history(session, result)
  draw_map(session, job, result)
end

return show
