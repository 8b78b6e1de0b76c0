-- SPDX-License-Identifier: MIT
--
-- Structural counters: what the accesses of a launch are made of, counted by a device in check mode or by ncu. They
-- depend on the kernel, its launch and its data, but not on the machine. counter_names.lua has their names.
-- A launch is a table { kernel =, launch =, device =, grid =, block =, source = "cpu" or "ncu", the counters, lines = {
-- { file =, line =, text =, the counters }, ... } }. A counter that is absent is not known.

local core = require "moonwarp.core"
local checking = require "moonwarp.measure.checking"
local counter_names = require "moonwarp.measure.counter_names"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local place = require "moonwarp.measure.tool_place"

local SECTOR <const> = counter_names.SECTOR

local counters = { list = counter_names.list, figures = counter_names.figures, SECTOR = SECTOR }

-- ---- names and values -----------------------------------------------------------------------------

-- The sum of some counters, less those with a "-"; nil if one is not known.
local function sum(values, names)
  local total = 0
  for sign, name in names:gmatch "(%-?)([%w_]+)" do
    if not values[name] then return nil end
    total = sign == "" and total + values[name] or total - values[name]
  end
  return total
end

local known = {}
for _, one in ipairs(lists.append(lists.append({}, counters.list), counters.figures)) do known[one.name] = one end

--- Errors in a name; nil of one that is known.
---@param name any
---@return string?
function counters.problem(name)
  if known[name] then return nil end
  return ("there is no counter '%s'; %s"):format(tostring(name), nearest.hint(tostring(name), known,
    "docs/counters.md has their names"))
end

--- The base unit of a counter or a figure.
---@param name string
---@return string
function counters.unit(name) return known[name].unit or "" end

--- The heading of its column.
---@param name string
---@return string
function counters.title(name) return known[name].title or (name:gsub("_", " ")) end

--- The device that counts if nothing else is said: the CPU device in check mode. It does not become the session's last.
---@return userdata device
function counters.device()
  return core.device(checking.backend(false), { counters = true })
end

--- A counter, or the figure computed from some.
---@param counted table   the counters of a launch, of several, or of a line
---@param name string
---@return number? value   nil if it is not known, or there is nothing that it is of
---@return string? reason  why, as the end of a sentence about a kernel: "makes no access to shared memory"
function counters.value(values, name)
  local figure = known[name]
  local over = sum(values, figure.over or name)
  local under = 1
  if figure.under then under = sum(values, figure.under) end
  if over and under and under > 0 then return figure.under and over / ((figure.scale or 1) * under) or over end
  if over and under then return nil, "makes no access " .. figure.what end
  return nil, ("has no '%s': %s does not count it"):format(name, values.source == "ncu" and "ncu" or "the device")
end

-- ---- launches of this process -------------------------------------------------------------------

local reported = {} -- by ncu

--- Adds launches that a device does not count itself.
---@param list table[]
function counters.add(list)
  lists.append(reported, list)
end

--- Those launches of a list that are not of the library's own kernels, which fill and compare arrays.
---@param list table[]
---@return table[]
function counters.of_scripts(list)
  return lists.filter(list, function(launch) return not launch.kernel:find "^moonwarp::" end)
end

--- The launches that have been counted in this process: by devices, then by ncu.
---@return table[]
function counters.all()
  return lists.append(counters.of_scripts(core.counters()), lists.map(reported, place.named))
end

--- The launches counted since counts were taken.
---@param counts table<string, integer>   by device; {}: since the beginning
---@return table[] launches
---@return table<string, integer> counts  of now
function counters.since(counts)
  local number = {}
  return lists.map(counters.all(), function(launch)
    number[launch.device] = (number[launch.device] or 0) + 1
    return number[launch.device] > (counts[launch.device] or 0) and launch or nil
  end), number
end

-- ---- sums ---------------------------------------------------------------------------------------

-- Adds counters to those of a total.
local function add(total, values)
  for _, one in ipairs(counters.list) do
    local value, have = values[one.name], total[one.name]
    if value and have then value = one.most and math.max(have, value) or have + value end
    total[one.name] = value or have
  end
end

--- The sums over launches: one table of counters.
---@param launches table[]
---@return table counted
function counters.total(launches)
  local total = {}
  for _, launch in ipairs(launches) do add(total, launch) end
  return total
end

-- One list of lines, by file and line, from several. Modules made of texts may have different ones at the same place.
-- Ncu does not know all that a device in check mode does: of a line that both have counted the first one's is taken.
local function joined_lines(list)
  local lines, by_place, source = {}, {}, {}
  for _, one in ipairs(list) do
    for _, line in ipairs(one.lines) do
      local key = ("%s\0%d\0%s"):format(line.file, line.line, line.text or "")
      local joined = lists.entry(lines, by_place, key, { file = line.file, line = line.line, text = line.text })
      source[joined] = source[joined] or one.source
      if source[joined] == one.source then add(joined, line) end
    end
  end
  table.sort(lines, function(a, b)
    if a.file ~= b.file then return a.file < b.file end
    if a.line ~= b.line then return a.line < b.line end
    return (a.text or "") < (b.text or "")
  end)
  return lines
end

-- Metrics of ncu by name: those of several launches are added up if they are sums, else their mean counts.
local function metrics_of(group)
  local total, launches = {}, 0
  for _, one in ipairs(group) do
    local count = one.launches or 1
    for name, value in pairs(one.metrics or {}) do
      total[name] = (total[name] or 0) + (name:find "%.sum$" and value or value * count)
    end
    launches = launches + count
  end
  for name, value in pairs(total) do total[name] = name:find "%.sum$" and value or value / launches end
  return next(total) and total
end

local ALIKE <const> = 1.02 -- times as many instructions

-- Whether launches do different things, by their instructions; nil: they do not, or it is not known.
local function differ(group)
  local least, most = math.huge, 0
  for _, one in ipairs(group) do
    if one.varies then return true end
    local count = one.instructions and one.instructions / (one.launches or 1)
    if count then least, most = math.min(least, count), math.max(most, count) end
  end
  return most > ALIKE * least or nil
end

-- The sums over launches, or rows of such sums, that have the same fields, and the figures; in the order of the first.
local function folded(list, fields)
  local groups, by_key = {}, {}
  for _, one in ipairs(list) do
    local values = lists.map(fields, function(field) return table.concat(lists.of(one[field]), ",") end)
    local key = table.concat(values, "\0")
    table.insert(lists.entry(groups, by_key, key, {}), one)
  end
  return lists.map(groups, function(group)
    local row = counters.total(group)
    for _, field in ipairs(fields) do row[field] = group[1][field] end
    row.launches, row.lines, row.metrics = 0, joined_lines(group), metrics_of(group) or nil
    row.varies = differ(group)
    for _, one in ipairs(group) do row.launches = row.launches + (one.launches or 1) end
    for _, figure in ipairs(counters.figures) do row[figure.name] = counters.value(row, figure.name) end
    return row
  end)
end

--- Launches by kernel and configuration, with sums and figures.
---@param list table[]   launches
---@return table[] rows  kernel, device, source, grid, block, launches (how many), the counters, the figures, lines
function counters.by_configuration(list)
  return folded(list, { "kernel", "device", "source", "grid", "block" })
end

--- The same by kernel and block only.
---@param list table[]   launches, or rows of counters.by_configuration
---@return table[] rows
function counters.by_block(list)
  return folded(list, { "kernel", "device", "source", "block" })
end

-- ---- what lines cost ----------------------------------------------------------------------------

-- Sectors of the loads or stores, and how many hold the bytes that are asked for, one per request at least: where only
-- the bytes of each lane are known as many as these fill, but not more than there are.
local function sectors_of(values, kind)
  local requests, sectors = values[kind .. "_requests"] or 0, values[kind .. "_sectors"] or 0
  local bytes = values[kind .. "_bytes"] or values[kind .. "_lane_bytes"]
  return requests, sectors, bytes and math.min(math.max(bytes / SECTOR, requests), sectors) or sectors
end

local function per_request(count, requests)
  return (("%.1f"):format(count / requests):gsub("%.0$", ""))
end

--- Sectors of loads and stores that hold no byte which is asked for, of how many, and words for them.
---@param counted table
---@return number unused
---@return number sectors
---@return string? words   "32 sectors per load, 4 needed"
function counters.excess_sectors(values)
  local unused, all, words = 0, 0, {}
  for _, kind in ipairs { "load", "store" } do
    local requests, sectors, needed = sectors_of(values, kind)
    unused, all = unused + sectors - needed, all + sectors
    if sectors > needed then
      words[#words + 1] = ("%s sectors per %s, %s needed"):format(per_request(sectors, requests), kind,
        per_request(needed, requests))
    end
  end
  return unused, all, #words > 0 and table.concat(words, "; ") or nil
end

--- What accesses move beyond what they need: sectors that hold no byte which is asked for, and passes due to bank
--- conflicts.
---@param counted table    of a line, or of a kernel
---@return number excess
---@return number moved    all sectors and passes
---@return string[] words  "store: 32 sectors per request, 4 needed", of what costs anything
function counters.excess(values)
  local excess, moved, words = 0, 0, {}
  for _, kind in ipairs { "load", "store" } do
    local requests, sectors, needed = sectors_of(values, kind)
    excess, moved = excess + sectors - needed, moved + sectors
    if sectors > needed then
      words[#words + 1] = ("%s: %s sectors per request, %s needed"):format(kind, per_request(sectors, requests),
        per_request(needed, requests))
    end
  end
  for _, kind in ipairs { "shared_load", "shared_store" } do
    local conflicts = values[kind .. "_conflicts"] or 0
    excess, moved = excess + conflicts, moved + (values[kind .. "_wavefronts"] or 0)
    if conflicts > 0 then
      words[#words + 1] = ("%s: %s conflicts per request"):format(kind:gsub("_", " "),
        per_request(conflicts, values[kind .. "_requests"]))
    end
  end
  return excess, moved, words
end

--- The lines of several rows, each once: the same lines of several kernels are one.
---@param rows table[]
---@return table[] lines
counters.lines = joined_lines

return counters
