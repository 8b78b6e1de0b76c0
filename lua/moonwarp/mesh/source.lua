-- SPDX-License-Identifier: MIT
--
-- The CUDA C++ of a loop over an unstructured mesh. In it dat_q is all of q, map_pecell a map, n_cells a set's size,
-- s_q what a block has of q in shared memory, at_pecell_2 where column 2 leads, v_q1 what the user's function gets as
-- q1. No size of a mesh is in it.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"

local source = {}

local function text_of(name) return assert(files.read(("%s/kernels/moonwarp/%s"):format(core.home(), name))) end
local function add(lines, text, ...) lines[#lines + 1] = text:format(...) end
local function declared(dat, name) return ("%s %s[%d] = {};"):format(dtypes[dat.type].cpp, name, dat.dim) end

local forms = {}
for name, text in text_of "mesh_forms.cuh":gmatch "//%- (%w+):[^\n]*\n(.-)\n\n" do forms[name] = text end

-- A form of kernels/moonwarp/mesh_forms.cuh; its holes get a text or a list of lines.
local function form(name, values)
  return (forms[name]:gsub("( *)%$(%a+)", function(indent, hole)
    local value = values[hole] or ""
    local text = type(value) == "table" and table.concat(value, "\n") or tostring(value)
    return indent .. text:gsub("\n", "\n" .. indent)
  end))
end

-- Moves an element's values between `own` and all of a dat, or of what a block has of it through a map.
local function move(what, own, dat, at, map)
  return ("%s<%s, %d>(%s, %s_%s, %s_%s, %s);"):format(what, map and "true" or "SOA", dat.dim, own, map and "s" or "dat",
    dat.name, map and "room" or "n", (map or dat.set).name, at)
end

-- An element: its values, the user's function, what it leaves. read(argument): how a value is read through a map, or
-- nil and the name of what has it; inc(argument): what is done with an increment through a map, whose value is declared
-- in the second list.
local function element(loop, read, inc)
  local before, begin, names, after = {}, {}, {}, {}
  for i, a in ipairs(loop.args) do
    local dat, access, known = a.dat, a.access, nil
    local is_inc = a.map and access == "inc"
    if is_inc then
      begin[#begin + 1], after[#after + 1] = declared(dat, a.own), inc(a)
    elseif a.map then
      before[#before + 1], known = read(a)
    elseif dat.is_global then
      known = access == "read" and "dat_" .. dat.name or a.own
    else
      if access == "read" or access == "rw" then before[#before + 1] = move("get", a.own, dat, "e") end
      if access ~= "read" then after[#after + 1] = move(access == "inc" and "plus" or "put", a.own, dat, "e") end
    end
    names[i] = known or a.own
    if not known and not is_inc then table.insert(before, 1, declared(dat, a.own)) end
  end
  add(before, "(::%s)(%s);", loop.kernel, table.concat(names, ", "))
  return lists.append(before, after), begin
end

-- What is before sums over all elements, and after.
local function sums(loop)
  return lists.map(loop.sums, function(a) return declared(a.dat, a.own) end), lists.map(loop.sums, function(a)
    return ("for (int d = 0; d < %d; d++) add_block(&dat_%s[d], %s[d]);"):format(a.dat.dim, a.dat.name, a.own)
  end)
end

-- Where the columns of an element lead.
local function leads(loop, text)
  return lists.map(loop.ends, function(one)
    return text:format(one.name, one.map.name, one.column - 1, "n_" .. loop.set.name)
  end)
end

function source.elements(loop, o)
  local is_coloured = o.by == "colours"
  local body, declarations = element(loop, function(a) return move("get", a.own, a.dat, a.at) end, function(a)
    return move(is_coloured and "plus" or "plus_atomic", a.own, a.dat, a.at)
  end)
  local places, begin, finish = leads(loop, "const int %s = map_%s[%d * %s + e];"), sums(loop)
  return form("elements", { e = is_coloured and "order[first + i]" or "i", begin = begin, finish = finish,
                            body = lists.append(lists.append(places, declarations), body) })
end

-- ---- a target per thread ----------------------------------------------------------------------------
-- Where place k of a column's elements leads, from tables or from those of a block. 65535 and -1 are none.
local function place_text(loop, p, side, one)
  if not p.own then
    local from = ("from_%d_%s[k * many + t]"):format(side.column, one.name)
    return not p.is_near and from or one == side.ends[1] and ("place(%s, t)"):format(from) or "t + " .. from
  end
  local of = one.map and ("slots_%s[%d * all + "):format(one.map.name, one.column - 1) or "elements["
  return ("is_here ? (int)%s(%d + k) * n_%s + t] : %d"):format(of, side.begin, loop.inc.to.name,
    one.map and 65535 or -1)
end

-- A column's elements, whose increments of other columns are left out.
local function side_text(loop, p, side, name)
  local c, first, is_first = side.column, side.ends[1], name == "side"
  local guard = is_first and not p.own and ("at_%d[k][0] < 0 ? 0 : "):format(c) or "" -- an element that is there again
  local body, declarations = element(loop, function(a)
    if a.map == loop.inc and a.column == c then return nil, "own_" .. a.dat.name end
    return move("get", a.own, a.dat, a.at, p.own and a.map)
  end, function(a)
    return a.column == c and ("for (int d = 0; d < %d; d++) sum_%s[d] += %s%s[d];"):format(a.dat.dim, a.dat.name, guard,
      a.own) or nil
  end)
  local places = lists.map(side.ends, function(one, j)
    local at = is_first and ("at_%d[k][%d]"):format(c, j - 1) or place_text(loop, p, side, one)
    return ("%s = %s%s"):format(one.name, at, is_first and j == 1 and not p.own and " & 0x3fffffff" or "")
  end)
  local stop = ("if (%s %s) break;"):format(first.name, p.own and first.map and "== 65535" or "< 0")
  local more = p.own and "if (is_here)" or ("if (at_%d[%d][0] >= 1 << 30)"):format(c, side.rows - 1)
  return form(name, { c = c, rows = side.rows, places = table.concat(places, ", "), first = first.name, more = more,
    stop = (p.own or not is_first) and stop, body = lists.append(declarations, body) })
end

-- What a target's thread does before a barrier, and after.
local function targets(loop, p)
  local begin, own, more, finish, here = {}, {}, {}, {}, p.own and "if (is_here) " or ""
  for _, side in ipairs(p.sides) do
    add(begin, "int at_%d[%d][%d];", side.column, side.rows, #side.ends)
    for j, one in ipairs(side.ends) do
      add(begin, "for (int k = 0; k < %d; k++) at_%d[k][%d] = %s;", side.rows, side.column, j - 1,
        place_text(loop, p, side, one))
    end
  end
  local read = lists.map(loop.args, function(a)
    return a.map == loop.inc and a.access == "read" and lists.has(loop.columns, a.column) and a.dat or nil
  end)
  for _, dat in ipairs(lists.unique(read)) do
    local name, at, map = "own_" .. dat.name, p.own and "threadIdx.x" or "t", p.own and loop.inc
    lists.append(own, { declared(dat, name), here .. move("get", name, dat, at, map) })
  end
  for _, dat in ipairs(loop.added) do
    local name = "sum_" .. dat.name
    lists.append(begin, { declared(dat, name), here .. move("get", name, dat, "t") })
    finish[#finish + 1] = here .. move("put", name, dat, "t")
  end
  for _, side in ipairs(p.sides) do
    own[#own + 1] = side_text(loop, p, side, "side")
    more[#more + 1] = side.most > side.rows and side_text(loop, p, side, "more") or nil
  end
  return begin, lists.append(lists.append(own, more), finish)
end

function source.owner(loop, _, p)
  local begin, body = targets(loop, p)
  return form("owner", { begin = begin, body = body })
end

-- ---- mini-partitions in shared memory ---------------------------------------------------------------
local function rounds(loop, o)
  local is_coloured, is_owner, incs = loop.inc and o.threads == "colours", o.blocks == "owner", {}
  local body, before = element(loop, function(a) return move("get", a.own, a.dat, a.at, a.map) end, function(a)
    local sum = move(is_coloured and "plus" or "plus_atomic", a.own, a.dat, a.at, a.map)
    incs[#incs + 1] = is_owner and ("if (%s < own_here) %s"):format(a.at, sum) or sum
  end)
  for _, one in ipairs(loop.ends) do add(before, "int %s = 0;", one.name) end
  body = lists.append(leads(loop, "%s = slots_%s[%d * all + p];"), body)
  if not is_coloured then lists.append(body, incs) end
  return form("rounds", { here = is_owner and "many_of[b]" or ("min(part, n_%s - b * part)"):format(loop.set.name),
    e = is_owner and "elements[p]" or "p", before = before, body = body,
    add = is_coloured and form("colours", { add = incs }) })
end

-- All that a block has of a map: what is fetched in front, and what is added to the dats at last.
local function stage(loop, o, map)
  local fetch, flush, name, is_owned = {}, {}, map.name, o.blocks == "owner" and map == loop.inc
  for _, dat in ipairs(loop.staged[map]) do
    local own, is_added = "v_" .. dat.name, lists.has(loop.added, dat)
    lists.append(fetch, { declared(dat, own), is_added and "" or move("get", own, dat, "t"),
                          move("put", own, dat, "k", map) })
    lists.append(flush, is_added and { declared(dat, own), move("get", own, dat, "k", map),
                                       move(o.blocks == "atomics" and "plus_atomic" or "plus", own, dat, "t") } or {})
  end
  local count, list = ("count_%s[b]"):format(name), ("list_%s[b * stride_%s + k"):format(name, name)
  local begin = form("targets", { body = fetch, ["end"] = (is_owned and "own_here + " or "") .. count,
    t = is_owned and "k < own_here ? b * own + k : " .. list .. " - own_here]" or list .. "]" })
  return begin, #flush > 0 and form("targets", { body = flush, ["end"] = is_owned and "own_here" or count,
                                                 t = is_owned and "b * own + k" or list .. "]" }) or nil
end

function source.staged(loop, o, p)
  local begin, at, body = {}, "pool"
  local sum, finish = sums(loop)
  for _, one in ipairs(loop.in_order) do -- those of 8 bytes first
    local cpp, dat = dtypes[one.dat.type].cpp, one.dat
    add(begin, "%s *s_%s = (%s *)(%s);", cpp, dat.name, cpp, at)
    at = ("s_%s + %d * room_%s"):format(dat.name, dat.dim, one.map.name)
  end
  add(begin, "const int b = %s;", o.blocks == "colours" and "order[first + blockIdx.x]" or "blockIdx.x")
  if p.own then add(begin, "const int own_here = min(own, n_%s - b * own);", loop.inc.to.name) end
  if p.sides then
    add(begin, "const int t = b * own + threadIdx.x;\nconst bool is_here = threadIdx.x < own_here;")
    local more
    more, body = targets(loop, p)
    lists.append(begin, more)
  else
    body = { rounds(loop, o) }
    if loop.inc and o.threads == "atomics" then body[2] = "__syncthreads();" end
    lists.append(begin, sum)
  end
  for _, map in ipairs(loop.maps) do begin[#begin + 1], body[#body + 1] = stage(loop, o, map) end
  return form("staged", { begin = begin, body = body, finish = finish })
end

-- ---- the whole --------------------------------------------------------------------------------------
--- A kernel, with its parameters and what a function above has made.
function source.kernel(name, parameters, body)
  return ("__global__ void %s(%s) {\n%s\n}\n"):format(name, table.concat(parameters, ",\n    "),
    ("  " .. body:gsub("\n", "\n  ")):gsub("\n%s*%f[\n]", ""))
end

--- A whole source: types and constants, the user's functions, kernels.
function source.whole(mesh, kernels)
  local lines = { text_of "mesh.cuh" }
  add(lines, "typedef %s REAL;\nconstexpr bool SOA = %s;", dtypes[mesh.type].cpp, mesh.layout == "soa")
  for _, name in ipairs(lists.keys(mesh.constants)) do
    add(lines, "constexpr REAL %s = %a;", name, mesh.constants[name])
  end
  return table.concat(lists.append(lists.append(lines, { mesh.kernels }), kernels), "\n")
end

return source
