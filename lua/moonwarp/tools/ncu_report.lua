-- SPDX-License-Identifier: MIT
--
-- What ncu has counted, as launches with structural counters (counters.lua). Three pages of its report are read, as
-- comma-separated values:
--   raw                 a row per launch, with its metrics
--   source, sass        a row per instruction of each launch, with metrics of its own
--   source, cuda,sass   the same below each line of the source
-- Totals are of the first page, but for lanes, their bytes and barriers. Lines are the sums over their instructions:
-- the second page has a table for each launch, the third says which line an instruction is of.

local counter_names = require "moonwarp.measure.counter_names"
local lists = require "moonwarp.base.lists"
local utf8text = require "moonwarp.base.utf8text"
local tool = require "moonwarp.tools.tool"

local ncu_report = {}

-- Counters that are sums of metrics of a launch. Those with "sass" in their names are counted by instructions that ncu
-- adds to the kernel: of stores that all lanes skip by a predicate the hardware counts some.
local TOTALS <const> = {
  load_requests = { "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum" },
  load_sectors = { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" },
  store_requests = { "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" },
  store_sectors = { "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" },
  shared_load_requests = { "smsp__sass_inst_executed_op_shared_ld.sum" },
  shared_load_wavefronts = { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum" },
  shared_load_conflicts = { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum" },
  shared_store_requests = { "smsp__sass_inst_executed_op_shared_st.sum" },
  shared_store_wavefronts = { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum" },
  shared_store_conflicts = { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum" },
  atomic_requests = { "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                      "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum" },
  shared_atomic_requests = { "smsp__sass_inst_executed_op_shared_atom.sum" },
}
local REQUESTS <const> = { "load_requests", "store_requests", "shared_load_requests", "shared_store_requests",
                           "atomic_requests", "shared_atomic_requests" }
-- Those that are sums over its instructions, and all of a line.
local BY_INSTRUCTION <const> = { "lanes", "barriers", "load_lane_bytes", "store_lane_bytes", "atomic_lanes" }
local NONE <const> = { requests = 0 }
for _, name in ipairs(lists.append(lists.keys(TOTALS), BY_INSTRUCTION)) do NONE[name] = 0 end
local SHAPE <const> = { grid = "launch__grid_dim_", block = "launch__block_dim_" }

-- Metrics of an instruction; of a launch they are the sums.
local INSTRUCTION <const> = {
  executed = "inst_executed",
  lanes = "thread_inst_executed_true",
  sectors = "memory_l2_theoretical_sectors_global",
  wavefronts = "memory_l1_wavefronts_shared",
  ideal = "memory_l1_wavefronts_shared_ideal",
}

-- What the instructions of SASS do, by the first part of their names. LD, ST and ATOM find out at run time whether an
-- address is of shared memory.
local OPERATIONS <const> = {
  LDG = "load", LD = "load", STG = "store", ST = "store", RED = "atomic", REDG = "atomic", ATOMG = "atomic",
  ATOM = "atomic", LDS = "shared_load", LDSM = "shared_load", STS = "shared_store", STSM = "shared_store",
  ATOMS = "shared_atomic", BAR = "barrier",
}
local NO_LINES <const> = "its page 'source' has no lines: cubins and PTX have them with nvcc's option -lineinfo"
local GENERIC <const> = lists.set { "LD", "ST", "ATOM" }

--- The metrics of instructions, for ncu's option --metrics.
---@return string[]
function ncu_report.instruction_metrics()
  return lists.map(lists.keys(INSTRUCTION), function(name) return INSTRUCTION[name] end)
end

--- Metrics of the hardware, which a GPU or a version of ncu may not have.
---@return string[]
function ncu_report.hardware_metrics()
  local names = {}
  for _, one in ipairs(counter_names.hardware) do lists.append(names, one.metrics) end
  return lists.unique(names)
end

--- The other metrics that are read.
---@return string[]
function ncu_report.metrics()
  local names = ncu_report.instruction_metrics()
  for _, list in pairs(TOTALS) do lists.append(names, list) end
  for _, prefix in pairs(SHAPE) do
    for axis in ("xyz"):gmatch "." do names[#names + 1] = prefix .. axis end
  end
  table.sort(names)
  return names
end

-- ---- comma-separated values ---------------------------------------------------------------------

-- The fields of a line, without one that is cut off; nil if the line is no row of a table. "" in quotes is a quote.
local function fields_of(line)
  if line:sub(1, 1) ~= '"' then return nil end
  local fields, at = {}, 1
  while line:sub(at, at) == '"' do
    local last = at
    repeat
      last = line:find('"', last + 1, true)
      local is_pair = last and line:sub(last + 1, last + 1) == '"'
      if is_pair then last = last + 1 end
    until not is_pair
    if not last then return fields end
    fields[#fields + 1] = line:sub(at + 1, last - 1):gsub('""', '"')
    at = last + 2
  end
  return fields
end

local function rows_of(text)
  local next_line = text:gmatch "[^\n]+" -- a line of a source may end with "\r"
  return function()
    for line in next_line do
      local fields = fields_of(line)
      if fields then return fields end
    end
  end
end

-- A count, which may have separators of thousands and decimals: "1,015,808", "32.000000". Nil of "n/a" and "-".
local function count_of(text)
  local number = text and tonumber((text:gsub("[,' ]", ""):gsub("\u{a0}", ""):gsub("\u{202f}", "")))
  return number and math.tointeger(number + 0.5 - (number + 0.5) % 1)
end

local function column(header, name)
  for at, title in ipairs(header) do
    if title == name then return at end
  end
end

-- What tells a launch from others on both pages: its kernel, and the sums over its instructions.
local function identity(kernel, sums)
  return table.concat(lists.append({ tool.kernel_name(kernel) }, lists.map(lists.keys(INSTRUCTION), function(name)
    return sums[name] or 0
  end)), "\0")
end

-- ---- launches -----------------------------------------------------------------------------------

-- "(256, 1, 1)"
local function shape_of(row, title, prefix)
  local shape = { (row[title] or ""):match "^%((%d+), (%d+), (%d+)%)$" }
  if #shape == 0 then shape = { row[prefix .. "x"] or "1", row[prefix .. "y"] or "1", row[prefix .. "z"] or "1" } end
  return lists.map(shape, count_of)
end

local SECONDS <const> = { second = 1, s = 1, msecond = 1e-3, ms = 1e-3, usecond = 1e-6, us = 1e-6 }

-- What the hardware has counted: of several metrics the sum of those that are known.
local function add_hardware(launch, row, units)
  for _, one in ipairs(counter_names.hardware) do
    for _, metric in ipairs(one.metrics) do
      local count = count_of(row[metric])
      local scale = one.unit == "s" and SECONDS[units[metric]] or one.scale or 1
      if count then launch[one.name] = (launch[one.name] or 0) + count * scale end
    end
  end
end

-- Metrics that were asked for by name.
local function asked_of(row, names)
  local values = {}
  for _, name in ipairs(names) do values[name] = tonumber(((row[name] or ""):gsub(",", ""))) end
  return next(values) and values
end

local function launch_of(row, units, asked)
  local launch = { kernel = tool.kernel_name(row["Kernel Name"]), source = "ncu", lines = {},
                   device = row.Device or "0", grid = shape_of(row, "Grid Size", SHAPE.grid),
                   block = shape_of(row, "Block Size", SHAPE.block) }
  for name, metrics in pairs(TOTALS) do
    local values = lists.map(metrics, function(metric) return count_of(row[metric]) end)
    if #values == #metrics then launch[name] = values[1] + (values[2] or 0) end
  end
  local requests = lists.map(REQUESTS, function(name) return launch[name] end)
  if #requests == #REQUESTS then
    launch.requests = 0
    for _, count in ipairs(requests) do launch.requests = launch.requests + count end
  end
  add_hardware(launch, row, units)
  launch.metrics = asked_of(row, asked)
  return launch
end

local function identity_of(row)
  local sums = {}
  for name, metric in pairs(INSTRUCTION) do sums[name] = count_of(row[metric]) end
  return identity(row["Kernel Name"], sums)
end

-- The fields of a row by their titles, the first of each.
local function named(header, fields)
  local row = {}
  for at, title in ipairs(header) do row[title] = row[title] or fields[at] end
  return row
end

-- The launches of the raw page, and what tells each from others; the row below the header has units.
local function read_raw(text, asked)
  local header, units, launches, identities = nil, {}, {}, {}
  for fields in rows_of(text) do
    if fields[1] == "ID" and column(fields, "Kernel Name") then
      header = fields
    elseif header and fields[1] ~= "" then
      if #fields ~= #header then return nil, "a row of its page 'raw' is not whole" end
      local row = named(header, fields)
      launches[#launches + 1], identities[#identities + 1] = launch_of(row, units, asked), identity_of(row)
    elseif header then
      units = named(header, fields)
    end
  end
  if not header then return nil, "its page 'raw' has no table" end
  return launches, identities
end

-- ---- instructions -------------------------------------------------------------------------------

-- The bytes of each lane: of LDG.E.128 16, of LDG.E.U8 1.
local function bytes_of(word)
  for part in word:gmatch "%.([%w_]+)" do
    local bits = part:match "^[US]?(%d+)$"
    if bits then return bits // 8 end
  end
  return 4
end

-- What an instruction adds to which counters.
local function counters_of(sass, got)
  local word = sass:gsub("^@!?U?P%w+%s+", ""):match "^%S+" or ""
  local name = word:match "^%u+[%u%d]*"
  local kind, lanes = OPERATIONS[name], got.lanes or 0
  if not kind or (got.executed or 0) == 0 then return nil end
  if kind == "barrier" then return { barriers = got.executed } end
  if lanes == 0 then return nil end
  if GENERIC[name] and (got.sectors or 0) == 0 then
    if (got.wavefronts or 0) == 0 then return nil end -- of local memory
    kind = "shared_" .. kind
  end
  local counted = { [kind .. "_requests"] = got.executed, requests = got.executed, lanes = lanes }
  if kind == "load" or kind == "store" then
    counted[kind .. "_sectors"], counted[kind .. "_lane_bytes"] = got.sectors or 0, lanes * bytes_of(word)
  end
  if kind == "atomic" then counted.atomic_lanes = lanes end
  if kind == "shared_load" or kind == "shared_store" then
    counted[kind .. "_wavefronts"] = got.wavefronts or 0
    counted[kind .. "_conflicts"] = math.max(0, (got.wavefronts or 0) - (got.ideal or 0))
  end
  return counted
end

local function columns_of(header)
  local columns = {}
  for name, metric in pairs(INSTRUCTION) do columns[name] = column(header, metric) end
  return columns
end

-- The page source of a view: calls visit(place, address, sass, row, columns) for each instruction. place: name (of the
-- kernel), file, line, block: the number of its table.
local function each_instruction(text, visit)
  local place, columns, at, width = { block = 0 }, nil, nil, 0
  for row in rows_of(text) do
    local address = column(row, "Address")
    if row[1] == "File Path" then
      place.file = row[2]
    elseif row[1] == "Function Name" or row[1] == "Kernel Name" then
      place.name = row[2]
    elseif address and row[address + 1] == "Source" then
      at, columns, width, place.line, place.block = address, columns_of(row), #row, nil, place.block + 1
    elseif at and at > 1 and row[1] ~= "" then
      place.line = math.tointeger(tonumber(row[1]))
    elseif at and #row == width and row[at]:find "^0x" then
      visit(place, row[at], utf8text.trim(row[at + 1]), row, columns)
    end
  end
end

local function key_of(place, address, sass)
  return table.concat({ place.name or "", address, sass }, "\0")
end

-- The inner one of two lines of an instruction: ncu lists that of a function which was inlined under its calls as well.
-- A function is before what calls it, and a file that it is included from is listed first.
local function inner(a, b)
  return a and a.file == b.file and a.line < b.line and a or b
end

-- The one line of an instruction in several launches. Code of a module that was closed may have made room for other
-- code: an instruction that would be of two lines is of neither.
local function same(a, b)
  return a == nil and b or a and a.file == b.file and a.line == b.line and a
end

-- The lines of instructions; false of one that has none for certain. A launch has a table for each file.
local function read_places(text)
  local places, own, files, last = {}, {}, {}, { block = 0 }
  local function end_launch()
    for key, found in pairs(own) do places[key] = same(places[key], found) end
    own, files = {}, {}
  end
  each_instruction(text, function(place, address, sass)
    if place.block ~= last.block and (place.name ~= last.name or files[place.file]) then end_launch() end
    last = { block = place.block, name = place.name }
    if not (place.file and place.line) then return end
    local key = key_of(place, address, sass)
    files[place.file], own[key] = true, inner(own[key], { file = place.file, line = place.line })
  end)
  end_launch()
  return places
end

local function add(into, counted)
  for name, value in pairs(counted) do into[name] = (into[name] or 0) + value end
end

-- The tables of the view sass: identity, total, lines.
local function read_tables(text, places)
  local list = {}
  each_instruction(text, function(place, address, sass, row, columns)
    local one = list[place.block] or { name = place.name, sums = {}, total = lists.merged(NONE), lines = {} }
    list[place.block] = one
    local got = {}
    for name, at in pairs(columns) do got[name] = count_of(row[at]) end
    add(one.sums, got)
    local counted, where = counters_of(sass, got), places[key_of(place, address, sass)]
    if not counted then return end
    add(one.total, counted)
    if not where then return end
    add(lists.entry(one.lines, one.lines, where.file .. "\0" .. where.line, lists.merged(NONE, where)), counted)
  end)
  for _, one in ipairs(list) do one.identity = identity(one.name or "", one.sums) end
  return list
end

local function in_order(a, b)
  if a.file ~= b.file then return a.file < b.file end
  return a.line < b.line
end

-- Neighbours that are alike: identity, first, count.
local function runs_of(identities)
  local runs = {}
  for at, one in ipairs(identities) do
    local last = runs[#runs]
    if last and last.identity == one then
      last.count = last.count + 1
    else
      runs[#runs + 1] = { identity = one, first = at, count = 1 }
    end
  end
  return runs
end

-- The table of each launch; nil if they are not of the same launches. Ncu prints the tables of the kernels at the
-- beginning of a report twice.
local function tables_of(identities, list)
  local runs, found = runs_of(lists.map(list, function(one) return one.identity end)), {}
  local launched = runs_of(identities)
  if #launched ~= #runs then return nil end
  for at, run in ipairs(launched) do
    local printed = runs[at]
    if printed.identity ~= run.identity or printed.count < run.count then return nil end
    for i = 0, run.count - 1 do found[#found + 1] = list[printed.first + i * printed.count // run.count] end
  end
  return found
end

-- ---- the report ---------------------------------------------------------------------------------

--- What ncu has counted.
---@param raw string    the page raw
---@param sass string   the page source in the view sass
---@param lines string  the same in the view cuda,sass
---@param asked string[]?   metrics that were asked for by name
---@return table[]? launches  of counters.lua, device is the number of the GPU; nil if a page is not whole
---@return string? problem    why; or why no lines are known
function ncu_report.read(raw, sass, lines, asked)
  local launches, identities = read_raw(raw, asked or {})
  if not launches then return nil, identities end
  local places = read_places(lines)
  local list = tables_of(identities, read_tables(sass, places))
  if not list then
    return launches, "the launches of its page 'source' are not those of its page 'raw': lines are not known"
  end
  for i, launch in ipairs(launches) do
    for _, name in ipairs(BY_INSTRUCTION) do launch[name] = list[i].total[name] end
    launch.lines = lists.append({}, list[i].lines)
    table.sort(launch.lines, in_order)
  end
  return launches, #launches > 0 and not next(places) and NO_LINES or nil
end

return ncu_report
