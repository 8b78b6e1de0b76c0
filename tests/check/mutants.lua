-- SPDX-License-Identifier: MIT
--
-- Mutants of the project's kernels: each has one change of one line, from a fixed list of kinds. A mutant: { file,
-- line, kind, before, after, text, study, params }: text is the whole file, study and params are what runs the line.

local core = require "moonwarp.core"

local mutants = {}

-- The files, and by function what runs it: the study, and the rungs of it that are enough.
mutants.files = {
  { file = "cumsum.cu", study = "cumsum", params = "-p types=f32", rungs = {
    load16 = "12,15", store16 = "12,15", copy_wide = "1", copy_3d = "1", copy_z = "2", cumsum_z = "3", copy_y = "4",
    cumsum_y = "5", copy_x = "6", copy_x32 = "7", cumsum_shared = "8", cumsum_broadcast = "9", cumsum_chunks = "10",
    cumsum_shuffle = "11", cumsum_rows = "12", load_column = "13,14", cumsum_tile = "13,14", keep_pace = "15",
    cumsum_paced = "15", threads_of_warp = "9,10" } },
  { file = "memcopy.cu", study = "memcopy", rungs = {} },
  { file = "nbody.cu", study = "nbody", rungs = {
    body_of = "3,6", inverse_distance = "6", potential_direct = "1", potential_shared = "3", potential_tiled = "4",
    potential_wide = "6", potential_pairs = "7" }, others = { accelerations = "orbits", advance = "orbits" } },
  { file = "reduce.cu", study = "reduction", rungs = {
    piece = "1", gather = "1,5", none = "8", join = "8", gather_items = "8", join_warp = "8", join_block = "8",
    atomic_lower = "10", atomic_raise = "10", atomic_join = "10", swap_in = "11", join_items = "14",
    gather_vectors = "14", comes_last = "13", finish = "13", reduce_tree = "1", reduce_strided = "2",
    reduce_dynamic = "3", reduce_last_warp = "4", reduce_down = "5", reduce_butterfly = "6", reduce_shuffle = "7",
    reduce_parts = "8,9", reduce_begin = "10", reduce_atomic = "10", reduce_cas = "11", reduce_lock = "12",
    reduce_last = "13", reduce_once = "14" } },
  { file = "scan.cu", study = "scan", rungs = {
    scan_of_warp = "1", sum_of_warp = "2,3", place = "2", is_full = "2", load_tile = "2", store_tile = "2",
    scan_part = "2", sum_of_block = "2", publish = "2", peek = "2", look_back = "2", sum_between = "3",
    scan_of_block = "1", scan_tiles = "1", scan_totals = "1", scan_add = "1", scan_clear = "2", scan_once = "2",
    scan_rounds = "3" } },
  { file = "stencil.cu", study = "stencil", rungs = {} },
}

-- What stands for an atomic function: the same without atomicity.
local PLAIN <const> = ""
  .. "template <class T, class V> __device__ T plain_Add(T *p, V v) { T o = *p; *p = o + v; return o; } "
  .. "template <class T, class V> __device__ T plain_Sub(T *p, V v) { T o = *p; *p = o - v; return o; } "
  .. "template <class T, class V> __device__ T plain_Min(T *p, V v) { T o = *p; *p = v < o ? v : o; return o; } "
  .. "template <class T, class V> __device__ T plain_Max(T *p, V v) { T o = *p; *p = v > o ? v : o; return o; } "
  .. "template <class T, class V> __device__ T plain_Or(T *p, V v) { T o = *p; *p = o | v; return o; } "
  .. "template <class T, class V> __device__ T plain_Exch(T *p, V v) { T o = *p; *p = v; return o; } "
  .. "template <class T, class C, class V> __device__ T plain_CAS(T *p, C c, V v) { T o = *p; if (o == c) *p = v; "
  .. "return o; } "

-- { kind, pattern, what it becomes, and in a line that returns }: every place of the pattern is a mutant.
local CHANGES <const> = {
  { "barrier removed", "__syncthreads%(%);", ";" },
  { "barrier removed", "[%w_]+%.sync%(%);", ";" },
  { "barrier removed", "[%w_:]+%(%)%.sync%(%);", ";" },
  { "barrier for a warp", "__syncthreads%(%);", "__syncwarp();" },
  { "warp sync removed", "__syncwarp%([^()]*%);", ";" },
  { "fence removed", "__threadfence%(%);", ";" },
  { "fence of the block", "__threadfence%(%);", "__threadfence_block();" },
  { "atomic made plain", "%f[%w_]atomic(%u%a+)%(", "plain_%1(" },
  { "bound loosened", " < ", " <= ", " < -1 + " },
  { "bound loosened", " <= ", " <= 1 + ", " < " },
  { "bound loosened", " > ", " >= ", " > 1 + " },
  { "bound loosened", " >= ", " >= -1 + ", " > " },
  { "index shifted", "%b[]", function(index) return "[" .. index:sub(2, -2) .. " + 1]" end },
}

-- A line that declares an array, or names a template's parameters, has no index and no bound.
local function is_declaration(line)
  return line:match "^%s*extern" or line:match "__shared__" or line:match "^%s*#" or line:match "^%s*template"
    or line:match "^%s*enum" or line:match "^%s*typedef" or line:match "^%s*const%s+[%w_]+%s+[%w_]+%b[]"
    or line:match "^%s*[%u][%w_]*%s+[%w_]+%b[]" or line:match "^%s*%l[%w_]*%s+[%w_]+%b[][;,]"
end

local function code_of(line) return (line:gsub("//.*", "")) end

-- The first line of the function around a line, and its name if the file's list has it.
local function function_of(file, lines, at)
  local first = at
  while first > 1 and not (lines[first]:match "^[%a_]" and lines[first]:find "%(") do first = first - 1 end
  for i = first, at do
    for name in lines[i]:gmatch "([%w_]+)%(" do
      if file.rungs[name] or file.others and file.others[name] then return first, name end
    end
    if lines[i]:find "{" then break end
  end
  return first
end

-- The study that runs the line, and its parameters.
local function run_of(file, lines, at)
  local first, name = function_of(file, lines, at)
  local study, params = file.others and file.others[name], file.params or ""
  if study then return study, "" end
  if file.rungs[name] then params = params .. " -p rungs=" .. file.rungs[name] end
  if file.study == "reduction" then
    params = params .. (lines[first]:find "double" and " -p types=f64" or " -p types=f32")
      .. " -p ops=sum,min,max,length,dot"
  end
  return file.study, params
end

local function add(list, file, lines, at, kind, first, last, after)
  local line = lines[at]
  local changed = line:sub(1, first - 1) .. after .. line:sub(last + 1)
  local copy = table.move(lines, 1, #lines, 1, {})
  copy[at] = changed
  local study, params = run_of(file, lines, at)
  list[#list + 1] = { file = file.file, line = at, kind = kind, before = line, after = changed, study = study,
                      params = params,
                      text = (kind == "atomic made plain" and PLAIN or "") .. table.concat(copy, "\n") .. "\n" }
end

local function add_line(list, file, lines, at)
  local code = code_of(lines[at])
  for _, change in ipairs(CHANGES) do
    local kind, pattern, after, in_guard = table.unpack(change)
    if in_guard and code:find "return;" then after = in_guard end
    local first, last = code:find(pattern)
    while first and not ((kind:match "bound" or kind:match "index") and is_declaration(code)) do
      add(list, file, lines, at, kind, first, last, (code:sub(first, last):gsub(pattern, after, 1)))
      first, last = code:find(pattern, last + 1)
    end
  end
end

-- Of these kinds there are many: one of so many is taken.
local EVERY <const> = { ["bound loosened"] = 4, ["index shifted"] = 3 }

-- The rare kinds first.
local function sample(list)
  local count, some, many = {}, {}, {}
  for _, mutant in ipairs(list) do
    local kind = mutant.kind
    count[kind] = (count[kind] or 0) + 1
    if not EVERY[kind] then
      some[#some + 1] = mutant
    elseif count[kind] % EVERY[kind] == 0 then
      many[#many + 1] = mutant
    end
  end
  return table.move(many, 1, #many, #some + 1, some)
end

--- The mutants, in a fixed order.
---@param all boolean?   not a sample of them
---@return table[]
function mutants.list(all)
  local list = {}
  for _, entry in ipairs(mutants.files) do
    local lines = {}
    for line in io.lines(core.home() .. "/kernels/" .. entry.file) do lines[#lines + 1] = line end
    for at = 1, #lines do add_line(list, entry, lines, at) end
  end
  return all and list or sample(list)
end

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- The kernels as they are, to be run as a mutant is.
---@param mutant table
---@return table
function mutants.original(mutant)
  return { kind = "as it is", file = mutant.file, line = 0, study = mutant.study, params = mutant.params, after = "",
           text = read(("%s/kernels/%s"):format(core.home(), mutant.file)) }
end

--- Writes what runs a mutant into a folder: all kernels, and its study as study.lua, which runs the odd cases only.
---@param mutant table   with `text` of the original file: the original
---@param folder string  there already
function mutants.write(mutant, folder)
  local home = core.home()
  os.execute(("cp %s/kernels/*.cu %s/kernels/*.cuh '%s'"):format(home, home, folder))
  write(folder .. "/" .. mutant.file, mutant.text)
  write(folder .. "/study.lua",
    'require "tests.check.odd_only" ' .. read(("%s/experiments/%s.lua"):format(home, mutant.study)))
end

return mutants
