-- SPDX-License-Identifier: MIT
--
-- What ncu has counted, as launches with structural counters (counters.lua). Three pages of its report are read, as
-- comma-separated values:
--   raw                 a row per launch, with its metrics
--   source, sass        a row per instruction of each launch, with metrics of its own
--   source, cuda,sass   the same below each line of the source
-- Totals are of the first page, but for lanes and barriers. Lines are the sums over their instructions: the second page
-- says where a launch begins, the third which line an instruction is of.

local lists = require "moonwarp.base.lists"
local tool = require "moonwarp.measure.tool"

local ncu_report = {}

-- Counters that are sums of metrics of a launch.
local TOTALS <const> = {
  load_requests = { "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum" },
  load_sectors = { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" },
  store_requests = { "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" },
  store_sectors = { "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" },
  shared_load_requests = { "smsp__inst_executed_op_shared_ld_pred_on_any.sum" },
  shared_load_wavefronts = { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum" },
  shared_load_conflicts = { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum" },
  shared_store_requests = { "smsp__inst_executed_op_shared_st_pred_on_any.sum" },
  shared_store_wavefronts = { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum" },
  shared_store_conflicts = { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum" },
  atomic_requests = { "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                      "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum" },
  shared_atomic_requests = { "smsp__inst_executed_op_shared_atom_pred_on_any.sum" },
}
local REQUESTS <const> = { "load_requests", "store_requests", "shared_load_requests", "shared_store_requests",
                           "atomic_requests", "shared_atomic_requests" }
local SHAPE <const> = { grid = "launch__grid_dim_", block = "launch__block_dim_" }

-- Metrics of an instruction, and the titles of their columns.
local INSTRUCTION <const> = {
  executed = { "inst_executed", "Instructions Executed" },
  lanes = { "thread_inst_executed_true", "Predicated-On Thread Instructions Executed" },
  sectors = { "memory_l2_theoretical_sectors_global", "L2 Theoretical Sectors Global" },
  wavefronts = { "memory_l1_wavefronts_shared", "L1 Wavefronts Shared" },
  ideal = { "memory_l1_wavefronts_shared_ideal", "L1 Wavefronts Shared Ideal" },
}

-- What the instructions of SASS do, by the first part of their names. LD, ST and ATOM find out at run time whether an
-- address is of shared memory.
local OPERATIONS <const> = {
  LDG = "load", LD = "load", STG = "store", ST = "store", RED = "atomic", REDG = "atomic", ATOMG = "atomic",
  ATOM = "atomic", LDS = "shared_load", LDSM = "shared_load", STS = "shared_store", STSM = "shared_store",
  ATOMS = "shared_atomic", BAR = "barrier",
}
local GENERIC <const> = lists.set { "LD", "ST", "ATOM" }

--- The metrics of instructions, for ncu's option --metrics.
---@return string[]
function ncu_report.instruction_metrics()
  return lists.map(lists.keys(INSTRUCTION), function(name) return INSTRUCTION[name][1] end)
end

--- All metrics that are read.
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

-- The fields of a line; nil of a line that is none of a table. "" in quotes is a quote.
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
    if not last then return nil end
    fields[#fields + 1] = line:sub(at + 1, last - 1):gsub('""', '"')
    at = last + 2
  end
  return fields
end

local function rows_of(text)
  local next_line = text:gmatch "[^\r\n]+"
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

local function column(header, names)
  for at, title in ipairs(header) do
    if lists.has(names, title) then return at end
  end
end

-- ---- launches -----------------------------------------------------------------------------------

-- "(256, 1, 1)"
local function shape_of(row, title, prefix)
  local shape = { (row[title] or ""):match "^%((%d+), (%d+), (%d+)%)$" }
  if #shape == 0 then shape = { row[prefix .. "x"] or "1", row[prefix .. "y"] or "1", row[prefix .. "z"] or "1" } end
  return lists.map(shape, count_of)
end

local function launch_of(row)
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
  return launch
end

-- The launches of the raw page; the row below the header has units.
local function read_raw(text)
  local header, launches = nil, {}
  for fields in rows_of(text) do
    if fields[1] == "ID" then
      header = fields
    elseif header and fields[1] ~= "" then
      if #fields ~= #header then return nil, "a row of its page 'raw' is not whole" end
      local row = {}
      for at, title in ipairs(header) do row[title] = row[title] or fields[at] end
      launches[#launches + 1] = launch_of(row)
    end
  end
  if not header then return nil, "its page 'raw' has no table" end
  return launches
end

-- ---- instructions -------------------------------------------------------------------------------

-- What an instruction adds to which counters.
local function counters_of(sass, got)
  local name = sass:gsub("^@!?U?P%w+%s+", ""):match "^%u+[%u%d]*" or ""
  local kind, lanes = OPERATIONS[name], got.lanes or 0
  if not kind or (got.executed or 0) == 0 then return nil end
  if kind == "barrier" then return { barriers = got.executed } end
  if lanes == 0 then return nil end
  if GENERIC[name] and (got.sectors or 0) == 0 then
    if (got.wavefronts or 0) == 0 then return nil end -- of local memory
    kind = "shared_" .. kind
  end
  local counted = { [kind .. "_requests"] = got.executed, requests = got.executed, lanes = lanes }
  if kind == "load" or kind == "store" then counted[kind .. "_sectors"] = got.sectors or 0 end
  if kind == "shared_load" or kind == "shared_store" then
    counted[kind .. "_wavefronts"] = got.wavefronts or 0
    counted[kind .. "_conflicts"] = math.max(0, (got.wavefronts or 0) - (got.ideal or 0))
  end
  return counted
end

local function columns_of(header)
  local columns = {}
  for name, titles in pairs(INSTRUCTION) do columns[name] = column(header, titles) end
  return columns
end

-- The page source of a view: calls visit(place, address, sass, row, columns) for each instruction. place: name (of the
-- kernel), file, line, block: the number of its table.
local function each_instruction(text, visit)
  local place, columns, at = { block = 0 }, nil, nil
  for row in rows_of(text) do
    local address = column(row, { "Address" })
    if row[1] == "File Path" then
      place.file = row[2]
    elseif row[1] == "Function Name" or row[1] == "Kernel Name" then
      place.name = row[2]
    elseif address and row[address + 1] == "Source" then
      at, columns, place.line, place.block = address, columns_of(row), nil, place.block + 1
    elseif at and at > 1 and row[1] ~= "" then
      place.line = math.tointeger(tonumber(row[1]))
    elseif at and row[at] and row[at]:find "^0x" then
      visit(place, row[at], row[at + 1]:match "^%s*(.-)%s*$", row, columns)
    end
  end
end

-- An instruction is known by its kernel as well, unless the view gives the name of the function that was inlined.
local function keys_of(place, address, sass)
  return { table.concat({ place.name or "", address, sass }, "\0"), address .. "\0" .. sass }
end

-- The lines of instructions. Code of a module that was closed may have made room for other code: an instruction that
-- would be of two lines is of neither.
local function read_places(text)
  local places = {}
  each_instruction(text, function(place, address, sass)
    local new = place.file and place.line and { file = place.file, line = place.line }
    for _, key in ipairs(keys_of(place, address, sass)) do
      local known = places[key]
      local is_other = known and new and (known.file ~= new.file or known.line ~= new.line)
      places[key] = known == nil and new or not is_other and known
    end
  end)
  return places
end

local function place_in(places, keys)
  local found = places[keys[1]]
  if found == nil then return places[keys[2]] end
  return found
end

local function add(into, counted)
  for name, value in pairs(counted) do into[name] = (into[name] or 0) + value end
end

-- The tables of the view sass, in the order of launches: name, total, lines.
local function read_tables(text, places)
  local list = {}
  each_instruction(text, function(place, address, sass, row, columns)
    local one = list[place.block] or { name = place.name, total = { lanes = 0, barriers = 0 }, lines = {} }
    list[place.block] = one
    local got = {}
    for name, at in pairs(columns) do got[name] = count_of(row[at]) end
    local counted, where = counters_of(sass, got), place_in(places, keys_of(place, address, sass))
    if not counted then return end
    add(one.total, counted)
    if not where then return end
    add(lists.entry(one.lines, one.lines, where.file .. "\0" .. where.line, { file = where.file, line = where.line }),
      counted)
  end)
  return list
end

local function in_order(a, b)
  if a.file ~= b.file then return a.file < b.file end
  return a.line < b.line
end

-- Whether each table is that of the launch in its place.
local function is_same(launches, list)
  if #launches ~= #list then return false end
  for i, launch in ipairs(launches) do
    if tool.kernel_name(list[i].name or "") ~= launch.kernel then return false end
  end
  return true
end

-- ---- the report ---------------------------------------------------------------------------------

--- What ncu has counted.
---@param raw string    the page raw
---@param sass string   the page source in the view sass
---@param lines string  the same in the view cuda,sass
---@return table[]? launches  of counters.lua, device is the number of the GPU; nil if a page is not whole
---@return string? problem    why; or why no lines are known
function ncu_report.read(raw, sass, lines)
  local launches, problem = read_raw(raw)
  if not launches then return nil, problem end
  local list = read_tables(sass, read_places(lines))
  if not is_same(launches, list) then
    return launches, ("its page 'source' has %d launches, its page 'raw' %d: lines are not known"):format(#list,
      #launches)
  end
  for i, launch in ipairs(launches) do
    launch.lanes, launch.barriers, launch.lines = list[i].total.lanes, list[i].total.barriers,
      lists.append({}, list[i].lines)
    table.sort(launch.lines, in_order)
  end
  return launches
end

return ncu_report
