-- SPDX-License-Identifier: MIT
--
-- Random nodes (cuda.lua): what lives across barriers, and control around them.

local statements = require "tests.generator.statements"
local context = require "tests.generator.context"
local any, chance = context.any, context.chance
local random = math.random
local nodes = {}

local MAKERS = {}

-- make(k, scope, depth) gives a list of nodes, or nil where there can be none. barriers: it has one.
local function maker(construct, weight, make, barriers)
  MAKERS[#MAKERS + 1] = { construct = construct, weight = weight, make = make, barriers = barriers }
end

local function text(...) return { kind = "text", text = (...):format(select(2, ...)) } end
local function barrier() return { kind = "barrier", fixed = true } end
local function group(list) return { kind = "block", group = true, nodes = list } end

-- ---- values of other threads ---------------------------------------------------------------------

-- s[t] = ...; barrier; x += s[other]; barrier
local function exchange(k, scope)
  local s = any(k.shared)
  local other = any { ("(t + %du) %% %du"):format(random(k.threads - 1), k.threads), ("%du - t"):format(k.threads - 1) }
  return { group { text("%s[t] = %s;", s, any(scope.targets)), barrier(),
    text("%s %s %s[%s];", any(scope.targets), any { "+=", "^=", "=" }, s, other), barrier() } }
end
maker(nil, 14, exchange, true)
nodes.exchange = exchange

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

local function declare(type, name, init, more)
  local node = { kind = "declare", type = type, name = name, init = init, form = "=" }
  for key, value in pairs(more or {}) do node[key] = value end
  return node
end

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
    k:front(("__device__ auto %s(unsigned %s) { return [%s](unsigned %s) { return %s * 3u + %s + %s; }; }"):format(f, p, p,
      q, p, q, k:thread()))
    scope:see(l .. "(2u)", false)
    return { declare(("decltype(%s(0u))"):format(f), l, ("%s(%s)"):format(f, scope:expression(true)), { spelled = "auto" }),
      text("%s ^= %s(3u);", any(scope.targets), l) }
  end
  k:front(("struct %s { unsigned v; __device__ %s() { auto %s = [&] { v = %s; }; %s(); } };"):format(f, f, q, k:thread(), q))
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
  return { { kind = "class", text = class }, declare(L, l, init, { form = "" }), text("%s += %s.v;", any(scope.targets), l) }
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

maker("object", 4, function(k, scope)
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
  k:front(("%s %s %s[2] = { %s, %s };"):format(any { "__device__", "__constant__" }, C.spelled, name, numbers(), numbers()))
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

-- ---- control ------------------------------------------------------------------------------------

maker("block", 6, function(k, scope, depth)
  return { { kind = "block", nodes = nodes.list(k, scope:child(), random(2, 3), depth + 1) } }
end)

maker("branch", 4, function(k, scope, depth)
  return { { kind = "branch", condition = statements.condition(k, scope, true),
    yes = nodes.list(k, scope:child(), 2, depth + 1), no = chance(30) and nodes.list(k, scope:child(), 1, depth + 1) or {} } }
end)

maker("switch", 4, function(k, scope, depth)
  local cases = {}
  for i, label in ipairs { "case 0", "case 1", "default" } do
    cases[i] = { label = label, nodes = nodes.list(k, scope:child(), 1, depth + 1), falls = i == 3 or chance(50) }
  end
  return { { kind = "switch", head = k:leaf(scope.values, true) .. " % 3u", cases = cases } }
end)

-- What counts a loop around barriers: a number, an iterator of a class whose other member is each thread's own, ...
local COUNTER = [[
struct %s {
  unsigned i, sum;
  __device__ %s(unsigned q) : i(q), sum(0) {}
  __device__ %s &operator++() { i++; sum += %s; return *this; }
  __device__ bool operator!=(const %s &o) const { return i != o.i; }
  __device__ bool operator<(unsigned q) const { return i < q; }
  __device__ explicit operator bool() const { return i < 3; }
  __device__ unsigned operator*() const { return i; }
};]]

local function counter_class(k)
  local C = k:global "I"
  k:tag "operator"
  k:tag "constructor"
  k:front(COUNTER:format(C, C, C, k:thread(), C))
  return C
end

local LOOPS = {
  function(k, scope, inner)
    local i = k:name_of "i"
    inner:see(i, true)
    local bound = chance(50) and random(2, 3) .. "u" or ("%s %% 3u"):format(k:leaf(scope.values, true))
    return { form = "for", declare = declare("unsigned", i, "0u"), condition = ("%s < %s"):format(i, bound),
      step = i .. "++" }
  end,
  function(k, _, inner)
    local C, i = counter_class(k), k:name_of "i"
    inner:see("*" .. i, true, "operator")
    inner:see(i .. ".sum", false)
    return { form = "for", declare = declare(C, i, any { "{0u}", "(0u)", "(1u)" }, { form = "" }), condition = any {
      ("%s < 3u"):format(i), i }, step = "++" .. i }
  end,
  function(k, _, inner)
    local C, i, q, R = counter_class(k), k:name_of "i", k:name_of "q", k:global "R"
    k:front(("struct %s { unsigned n; __device__ %s begin() const { return %s(0u); }"
      .. " __device__ %s end() const { return %s(n); } };"):format(R, C, C, C, C))
    inner:see(q, true)
    local last = random(2, 3)
    return { form = "range", head = ("unsigned %s : %s{%du}"):format(q, R, last), before = { declare(C, i, "0u") },
      first = { declare("unsigned", q, "*" .. i) }, condition = ("%s != %s(%du)"):format(i, C, last), step = "++" .. i }
  end,
}

-- A loop whose count stands in front of it.
local function counted(form)
  return function(k, _, inner)
    local i = k:name_of "i"
    inner:see(i, true)
    return { form = form, condition = ("++%s < %du"):format(i, random(2, 3)), label = k:name_of "again" },
      declare("unsigned", i, "0u")
  end
end
for _, form in ipairs { "while", "do" } do LOOPS[#LOOPS + 1] = counted(form) end

local function loop(k, scope, depth, choice)
  local inner = scope:child()
  local node, front = choice(k, scope, inner)
  if node.form == "goto" then k:tag "goto" end
  node.kind, node.nodes = "loop", nodes.list(k, inner, 2, depth + 1)
  if node.form ~= "goto" and chance(30) then
    k:tag "early exit"
    table.insert(node.nodes, random(#node.nodes + 1), { kind = "jump", what = any { "break", "continue" },
      condition = statements.condition(k, scope, true) })
  end
  return { { kind = "block", nodes = front and { front, node } or { node }, fixed = true } }
end

maker("loop around a barrier", 12, function(k, scope, depth) return loop(k, scope, depth, any(LOOPS)) end, true)
maker("goto", 3, function(k, scope, depth) return loop(k, scope, depth, counted "goto") end, true)

-- A thread's own loop whose label stands among the statements of the body.
maker("goto", 4, function(k, scope)
  local label, x = k:name_of "again", k:name_of "x"
  scope:add_target(x)
  return { group { declare("unsigned", x, "0u"),
    text("%s: if (%s < %s %% 9u) { %s++; goto %s; }", label, x, k:thread(), x, label) } }
end)

maker("early exit", 5, function(k, scope, depth)
  if depth > 0 then return end
  k.left = true
  return { { kind = "leave", condition = statements.condition(k, scope), text = ("out[i] = %s;"):format(
    scope:expression()) } }
end)

-- ---- functions with barriers -------------------------------------------------------------------------

local function parameters_of(k, C)
  local list = { { type = "unsigned *", name = "s", spelled = "unsigned *" }, { type = "unsigned", name = "v" } }
  if chance(60) then list[#list + 1] = { type = "unsigned", name = "r", reference = true } end
  if C then list[#list + 1] = { type = C.type, spelled = C.spelled, name = "c" } end
  k.helper_depth = (k.helper_depth or 0) + 1
  return list
end

-- A function that exchanges by shared memory; its own index comes from a function or a class.
local function callee(k)
  local index = k:global "me"
  k:front(("__device__ unsigned %s() { return %s; }"):format(index, k.index))
  local f = { name = k:global "bar", parameters = parameters_of(k), nodes = {} }
  local inner = require("tests.generator.scope").new(k)
  inner:add_target "v"
  if f.parameters[3] then inner:add_target "r" end
  local list = f.nodes
  list[1] = declare("unsigned", "h", index .. "()", { fixed = true })
  list[2] = { kind = "block", group = true, nodes = nodes.without_barriers(k, inner, random(2)) }
  list[3] = text("s[h] = v;")
  list[4] = barrier()
  list[5] = text("v = s[(h + %du) %% %du];", random(k.threads - 1), k.threads)
  list[6] = barrier()
  if k.helper_depth < 2 and chance(40) then
    list[7] = nodes.call(k, inner, "s")
    k:tag "nested helper"
  end
  list[#list + 1] = text("%s", statements.one(k, inner, 2))
  f.result = "v"
  k:front(f)
  return f
end

function nodes.call(k, scope, shared)
  local f = callee(k)
  local arguments = { shared or any(k.shared), scope:expression() }
  local target = any(scope.targets)
  for i = 3, #f.parameters do
    arguments[i] = target
    for _ = 1, 5 do if arguments[i] == target then arguments[i] = any(scope.targets) end end
  end
  k:tag "barrier helper"
  return { kind = "call", callee = f, arguments = arguments, target = target, op = "=" }
end

maker("barrier helper", 7, function(k, scope)
  if (k.helper_depth or 0) > 1 then return end
  return { nodes.call(k, scope) }
end, true)

-- ---- the choice ---------------------------------------------------------------------------------

local ALWAYS = { object = true, block = true, branch = true, [""] = true }

function nodes.one(k, scope, depth)
  if depth < 3 and chance(70) then
    local candidate = k:choose(MAKERS, ALWAYS)
    local list = candidate.make(k, scope, depth)
    if list then
      if not ALWAYS[candidate.construct or ""] then k:tag(candidate.construct) end
      return list
    end
  end
  return { text("%s", statements.one(k, scope, depth)) }
end

function nodes.list(k, scope, number, depth)
  local list = {}
  for _ = 1, number do
    for _, node in ipairs(nodes.one(k, scope, depth)) do list[#list + 1] = node end
  end
  return list
end

-- For the body of a function: variables, objects, statements.
function nodes.without_barriers(k, scope, number)
  local barriers = k.barriers
  k.barriers = false
  local list = nodes.list(k, scope, number, 1)
  k.barriers = barriers
  return list
end

return nodes
