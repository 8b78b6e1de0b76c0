-- SPDX-License-Identifier: MIT
--
-- Random nodes (cuda.lua) without nodes in them: values of other threads, and variables and objects that live across
-- barriers. In a list of { construct, weight, make, barriers }: make(k, scope) gives a list of nodes, or nil where
-- there can be none; barriers: it has one.

local statements = require "tests.generator.statements"
local cuda = require "tests.generator.cuda"
local context = require "tests.generator.context"
local any, chance = context.any, context.chance
local text, declare, barrier, group = cuda.text, cuda.declare, cuda.barrier, cuda.group
local random = math.random

local MAKERS = {}

local function maker(construct, weight, make, barriers)
  MAKERS[#MAKERS + 1] = { construct = construct, weight = weight, make = make, barriers = barriers }
end

-- ---- values of other threads ---------------------------------------------------------------------

-- s[t] = ...; barrier; x += s[other]; barrier
local function exchange(k, scope)
  local s = any(k.shared)
  local other = any { ("(t + %du) %% %du"):format(random(k.threads - 1), k.threads), ("%du - t"):format(k.threads - 1) }
  return { group { text("%s[t] = %s;", s, any(scope.targets)), barrier(),
    text("%s %s %s[%s];", any(scope.targets), any { "+=", "^=", "=" }, s, other), barrier() } }
end
maker(nil, 14, exchange, true)

local GATHERS = {
  function(v) local by = random(31) return ("__shfl_xor_sync(~0u, %s, %d)"):format(v, by), "shfl_xor", by end,
  function(v) local by = random(16) return ("__shfl_down_sync(~0u, %s, %d)"):format(v, by), "shfl_down", by end,
  function(v) local by = random(16) return ("__shfl_up_sync(~0u, %s, %d)"):format(v, by), "shfl_up", by end,
  function(v) local by = random(0, 31) return ("__shfl_sync(~0u, %s, %d)"):format(v, by), "shfl", by end,
  function(v) return ("__ballot_sync(~0u, %s & 1u)"):format(v), "ballot", 0, "%s & 1u" end,
  function(v) return ("__syncthreads_count(%s & 1u)"):format(v), "count", 0, "%s & 1u" end,
}

maker("warp operation", 5, function(k, scope)
  if k.left then return end
  local value = ("(%s)"):format(scope:expression())
  local made, rule, by, as = any(GATHERS)(value)
  return { { kind = "gather", target = any(scope.targets), op = any { "=", "+=", "^=" }, cuda = made,
    value = (as or "%s"):format(value), rule = ("%s(%du)"):format(rule, by) } }
end, true)

-- ---- variables ----------------------------------------------------------------------------------

maker(nil, 6, function(k, scope)
  local name = k:name_of "x"
  local node = declare("unsigned", name, chance(60) and random(9) .. "u" or scope:expression())
  scope:add_target(name)
  return { node }
end)

maker(nil, 4, function(k, scope)
  local name = k:name_of "u"
  local node = declare("unsigned", name, k:expression(scope.values, true))
  scope:add_target(name, true)
  return { node }
end)

maker(nil, 3, function(k, scope)
  local target = any(scope.uniforms)
  return target and { text("%s %s %s;", target, any { "=", "+=", "^=" }, k:expression(scope.values, true)) }
end)

maker("reference", 5, function(k, scope)
  local name, a, b = k:name_of "r", any(scope.targets), any(scope.targets)
  local init = chance(50) and a or ("%s ? %s : %s"):format(statements.condition(k, scope), a, b)
  local node = declare("unsigned", name, init, { reference = true, spelled = chance(30) and "auto" or nil })
  scope:add_target(name)
  return { node, text("%s += %s;", name, scope:expression()) }
end)

maker("pointer", 3, function(k, scope)
  local name = k:name_of "p"
  local node = declare("unsigned *", name, "&" .. any(scope.targets), { spelled = "unsigned *" })
  scope:add_target("*" .. name)
  return { node, text("*%s = %s;", name, scope:expression()) }
end)

maker("lambda", 4, function(k, scope)
  local f, p = k:name_of "f", k:name_of "p"
  local inner = scope:child()
  inner:see(p, false)
  if chance(50) then
    local again = ("auto %s = [&](unsigned %s) { %s }"):format(f, p, statements.list(k, inner, 1, 2))
    return { { kind = "declare", name = f, again = again }, text("%s(%s);", f, scope:expression()) }
  end
  local again = ("auto %s = [](unsigned %s) { return %s * 3u + %s; }"):format(f, p, p, k:thread())
  scope:see(f .. "(3u)", false, "lambda")
  return { { kind = "declare", name = f, again = again } }
end)

maker("function pointer", 4, function(k, scope)
  local f, name = k:global "f", k:name_of "p"
  k:front(("__device__ unsigned %s() { return %s; }"):format(f, k:thread()))
  local type = k:global "fp"
  k:front(("typedef unsigned (*%s)();"):format(type))
  local auto = chance(40)
  local node = declare(auto and ("decltype(&%s)"):format(f) or type, name, f, { spelled = auto and "auto" or nil })
  scope:see(name .. "()", false, "function pointer")
  return { node, text("%s += %s();", any(scope.targets), name) }
end)

-- A lambda that stands in a function or in a class, not in the kernel.
maker("lambda of a function", 5, function(k, scope)
  local f, p, q, l = k:global "make", k:name_of "p", k:name_of "q", k:name_of "l"
  k:tag "lambda"
  if chance(50) then
    local made = "__device__ auto %s(unsigned %s) { return [%s](unsigned %s) { return %s * 3u + %s + %s; }; }"
    k:front(made:format(f, p, p, q, p, q, k:thread()))
    scope:see(l .. "(2u)", false)
    local init = ("%s(%s)"):format(f, scope:expression(true))
    return { declare(("decltype(%s(0u))"):format(f), l, init, { spelled = "auto" }),
      text("%s ^= %s(3u);", any(scope.targets), l) }
  end
  local class = "struct %s { unsigned v; __device__ %s() { auto %s = [&] { v = %s; }; %s(); } };"
  k:front(class:format(f, f, q, k:thread(), q))
  scope:see(l .. ".v", false)
  return { declare(f, l, "", { form = "" }), text("%s += %s.v;", any(scope.targets), l) }
end)

-- A class of the body that names no coordinate itself.
maker("class of a body", 5, function(k, scope)
  local f, L, l, p = k:global "me", k:global "L", k:name_of "l", k:name_of "p"
  k:tag "local class"
  local class, init
  if chance(50) then
    k:front(("__device__ unsigned %s() { return %s; }"):format(f, k:thread()))
    class = ("struct %s { unsigned v; __device__ %s(unsigned %s) : v(%s ^ %s()) {} };"):format(L, L, p, p, f)
    init = ("(%s)"):format(scope:expression(true))
  else
    k:tag "inheritance"
    k:front(("struct %s { unsigned v; __device__ %s() : v(%s) {} };"):format(f, f, k:thread()))
    class, init = ("struct %s : %s { unsigned w; };"):format(L, f), ""
  end
  scope:see(l .. ".v", false)
  return { { kind = "class", text = class }, declare(L, l, init, { form = "" }),
    text("%s += %s.v;", any(scope.targets), l) }
end)

-- ---- objects ------------------------------------------------------------------------------------

local function object(k, scope, uniform)
  local C, name = scope:class(uniform), k:name_of "c"
  if uniform and C.place and #scope.uniforms == 0 then return end
  local init, form = scope:init(C, uniform)
  local node = { kind = "declare", type = C.type, spelled = C.spelled, name = name, init = init, form = form,
    destroys = C.destroys }
  scope:add_object(name, C)
  return node, C, name
end

maker("object", 22, function(k, scope)
  local node = object(k, scope)
  local list = { node }
  for _ = 1, random(2) do list[#list + 1] = text("%s", scope:object_statement()) end
  return list
end)

maker("object", 5, function(k, scope)
  local node = object(k, scope, true)
  return node and { node, text("%s", scope:object_statement(true) or ";") }
end)

maker("object", 4, function(_, scope)
  local text_ = scope:object_statement(true)
  return text_ and #scope.uniforms > 0 and { { kind = "text", text = text_ } }
end)

maker("object", 4, function(k, scope)
  local C, name = scope:class(), k:name_of "c"
  if not C.empty or C.place then return end
  scope:init(C)
  scope:add_object(name .. "[1]", C)
  return { { kind = "declare", type = C.type, spelled = C.spelled, name = name, count = 2, destroys = nil, init = "" },
    text("%s", scope:object_statement()) }
end)

-- An aggregate in a variable of the device, which nobody changes, and one for each thread in shared memory.
maker("device object", 7, function(k, scope)
  local C, name = scope:class(chance(20), { plain = true }), k:global "dev"
  local function numbers()
    local list = {}
    for i = 1, #C.own do list[i] = random(99) .. "u" end
    return "{" .. table.concat(list, ", ") .. "}"
  end
  for _, construct in ipairs(C.constructs) do k:tag(construct) end
  local memory = any { "__device__", "__constant__" }
  k:front(("%s %s %s[2] = { %s, %s };"):format(memory, C.spelled, name, numbers(), numbers()))
  local list = {}
  for _ = 1, 2 do
    local value = any(C.values)
    k:tag(value.construct)
    list[#list + 1] = text("%s ^= %s;", any(scope.targets), value.text(("%s[%du]"):format(name, random(0, 1)),
      function() return scope:expression() end))
  end
  return list
end)

maker("shared object", 6, function(k, scope)
  if k.left then return end
  local C, name = scope:class(false, { plain = true }), k:name_of "sc"
  for _, construct in ipairs(C.constructs) do k:tag(construct) end
  local list = { { kind = "shared", type = C.spelled, name = name .. "_" .. k.name, count = k.threads, fixed = true } }
  for _, own in ipairs(C.own) do
    list[#list + 1] = text("%s_%s[t].%s = %s;", name, k.name, own, scope:expression())
  end
  local what, value = any(C.changes), any(C.values)
  if what then
    k:tag(what.construct)
    list[#list + 1] = text("%s", what.text(("%s_%s[t]"):format(name, k.name), function() return scope:expression() end))
  end
  k:tag(value.construct)
  list[#list + 1] = barrier()
  list[#list + 1] = text("%s ^= %s;", any(scope.targets), value.text(("%s_%s[(t + %du) %% %du]"):format(name, k.name,
    random(k.threads - 1), k.threads), function() return scope:expression() end))
  list[#list + 1] = barrier()
  return { group(list) }
end, true)

local STACK = [[
struct %s {
  unsigned e[%d];
  __device__ void put(unsigned q) { e[%s] = q; }
  __device__ unsigned get(unsigned by) const { return e[(%s + by) %% %du]; }
};]]

maker("shared object", 4, function(k, scope)
  if k.left then return end
  local S, name = k:global "S", k:name_of "st" .. "_" .. k.name
  k:front(STACK:format(S, k.threads, k.index, k.index, k.threads))
  local spelled = S
  if k:may("alias", 50) then
    spelled = k:global "A"
    k:tag "alias"
    k:front(("using %s = %s;"):format(spelled, S))
  end
  return { group { { kind = "shared", type = spelled, name = name, fixed = true },
    text("%s.put(%s);", name, scope:expression()), barrier(),
    text("%s += %s.get(%du);", any(scope.targets), name, random(k.threads - 1)), barrier() } }
end, true)

return { makers = MAKERS, exchange = exchange }
