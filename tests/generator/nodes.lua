-- SPDX-License-Identifier: MIT
--
-- Random lists of nodes (cuda.lua): those of locals.lua, control around barriers, functions with barriers.

local locals = require "tests.generator.locals"
local statements = require "tests.generator.statements"
local cuda = require "tests.generator.cuda"
local context = require "tests.generator.context"
local new_scope = require("tests.generator.scope").new
local any, chance = context.any, context.chance
local text, declare, barrier, group = cuda.text, cuda.declare, cuda.barrier, cuda.group
local random = math.random
local nodes = {}

local MAKERS = { table.unpack(locals.makers) }

local function maker(construct, weight, make, barriers)
  MAKERS[#MAKERS + 1] = { construct = construct, weight = weight, make = make, barriers = barriers }
end

-- ---- control ------------------------------------------------------------------------------------

maker("block", 6, function(k, scope, depth)
  return { { kind = "block", nodes = nodes.list(k, scope:child(), random(2, 3), depth + 1) } }
end)

maker("branch", 4, function(k, scope, depth)
  return { { kind = "branch", condition = statements.condition(k, scope, true),
    yes = nodes.list(k, scope:child(), 2, depth + 1),
    no = chance(30) and nodes.list(k, scope:child(), 1, depth + 1) or {} } }
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
  local inner = new_scope(k)
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
