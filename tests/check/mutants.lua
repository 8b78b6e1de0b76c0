-- SPDX-License-Identifier: MIT
--
-- Mutants of the project's kernels: each has one change of one line, from a fixed list of kinds. A mutant: { file,
-- line, kind, before, after, text, rung }: file is an entry of mutants.files, text the whole file, rung one that has
-- the change, or nil.

local core = require "moonwarp.core"

local mutants = {}

-- Functions of reduce.cu, and a rung that has each.
local REDUCTIONS <const> = { reduce_tree = 1, reduce_strided = 2, reduce_dynamic = 3, reduce_down = 4,
  reduce_butterfly = 5, reduce_shuffle = 6, reduce_parts = 7, reduce_atomic = 9, reduce_cas = 10, reduce_lock = 11,
  reduce_last = 12, reduce_once = 13, join_block = 7, atomic_lower = 9, atomic_raise = 9, atomic_join = 9, swap_in = 10,
  join_items = 13, gather_vectors = 13, comes_last = 12, finish = 12 }

-- The files, and the studies that check each, with the parameters that make them small. rungs: by function, where one
-- rung is enough.
mutants.files = {
  { file = "cumsum.cu", studies = { cumsum = "-p types=f32" } },
  { file = "memcopy.cu", studies = { memcopy = "" } },
  { file = "nbody.cu", studies = { nbody = "", orbits = "" } },
  { file = "reduce.cu", studies = { reduction = "" }, rungs = REDUCTIONS },
  { file = "scan.cu", studies = { scan = "-p types=f32" } },
  { file = "stencil.cu", studies = { stencil = "" } },
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

-- { kind, pattern, what it becomes }: every place of the pattern is a mutant.
local CHANGES <const> = {
  { "barrier removed", "__syncthreads%(%);", ";" },
  { "barrier removed", "[%w_]+%.sync%(%);", ";" },
  { "barrier removed", "[%w_:]+%(%)%.sync%(%);", ";" },
  { "barrier for a warp", "__syncthreads%(%);", "__syncwarp();" },
  { "warp sync removed", "__syncwarp%([^()]*%);", ";" },
  { "fence removed", "__threadfence%(%);", ";" },
  { "fence of the block", "__threadfence%(%);", "__threadfence_block();" },
  { "atomic made plain", "%f[%w_]atomic(%u%a+)%(", "plain_%1(" },
  { "bound loosened", " < ", " <= " },
  { "bound loosened", " <= ", " < 1 + " },
  { "bound loosened", " > ", " >= " },
  { "bound loosened", " >= ", " + 1 >= " },
  { "index shifted", "%b[]", function(index) return "[" .. index:sub(2, -2) .. " + 1]" end },
}

-- A line that declares an array, or names a template's parameters, has no index and no bound.
local function is_declaration(line)
  return line:match "^%s*extern" or line:match "__shared__" or line:match "^%s*#" or line:match "^%s*template"
    or line:match "^%s*enum" or line:match "^%s*typedef" or line:match "^%s*const%s+[%w_]+%s+[%w_]+%b[]"
    or line:match "^%s*[%u][%w_]*%s+[%w_]+%b[]" or line:match "^%s*%l[%w_]*%s+[%w_]+%b[][;,]"
end

local function code_of(line) return (line:gsub("//.*", "")) end

-- The rung that has the function of a line; nil: any may.
local function rung_of(file, lines, at)
  for i = at, 1, -1 do
    if lines[i]:match "^[%w_].*%(" then
      for name in lines[i]:gmatch "([%w_]+)%(" do
        if file.rungs and file.rungs[name] then return file.rungs[name] end
      end
      return nil
    end
  end
end

local function add(list, file, lines, at, kind, first, last, after)
  local line = lines[at]
  local changed = line:sub(1, first - 1) .. after .. line:sub(last + 1)
  local copy = table.move(lines, 1, #lines, 1, {})
  copy[at] = changed
  list[#list + 1] = { file = file, line = at, kind = kind, before = line, after = changed,
                      rung = rung_of(file, lines, at),
                      text = (kind == "atomic made plain" and PLAIN or "") .. table.concat(copy, "\n") .. "\n" }
end

local function add_line(list, file, lines, at)
  local code = code_of(lines[at])
  for _, change in ipairs(CHANGES) do
    local kind, pattern, after = table.unpack(change)
    local first, last = code:find(pattern)
    while first and not ((kind:match "bound" or kind:match "index") and is_declaration(code)) do
      add(list, file, lines, at, kind, first, last, (code:sub(first, last):gsub(pattern, after, 1)))
      first, last = code:find(pattern, last + 1)
    end
  end
end

-- Of these kinds there are many: one of so many is taken.
local EVERY <const> = { ["bound loosened"] = 4, ["index shifted"] = 6 }

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

return mutants
