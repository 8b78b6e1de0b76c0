-- SPDX-License-Identifier: MIT
--
-- Random statements without barriers: text that the CUDA and the model share.

local context = require "tests.generator.context"
local any, chance = context.any, context.chance
local random = math.random
local statements = {}

local MAKERS = {}

-- make(k, scope, depth) gives a statement, or nil where there can be none.
local function maker(construct, weight, make)
  MAKERS[#MAKERS + 1] = { construct = construct, weight = weight, make = make }
end

local function assignment(scope)
  return ("%s %s %s;"):format(any(scope.targets), any { "=", "+=", "^=", "+=" }, scope:expression())
end

local function two_targets(scope)
  local a = any(scope.targets)
  for _ = 1, 4 do
    local b = any(scope.targets)
    if b ~= a then return a, b end
  end
  return a, a
end

-- A condition of numbers or of an object.
function statements.condition(k, scope, uniform)
  local fitting = {}
  for _, object in ipairs(scope.objects) do
    if object.class.condition and (object.uniform or not uniform) then fitting[#fitting + 1] = object end
  end
  if #fitting > 0 and chance(80) then
    k:tag "class as a condition"
    k:tag "conversion"
    return any(fitting).name
  end
  return k:condition(scope.values, uniform)
end

-- Several statements for a place in braces.
function statements.list(k, scope, number, depth)
  local list = {}
  for i = 1, number do list[i] = statements.one(k, scope, depth + 1) end
  return table.concat(list, " ")
end

-- ---- plain ones ---------------------------------------------------------------------------------

maker(nil, 12, function(_, scope) return assignment(scope) end)

maker(nil, 8, function(_, scope)
  return scope.places and ("%s %s %s;"):format((scope:place()), any { "=", "+=", "^=" }, scope:expression())
end)

-- An element that what was stored just before chooses.
maker(nil, 3, function(_, scope)
  if not scope.places then return end
  local first, form, size = scope:place()
  return ("%s = t; %s = %s;"):format(form:format(("(%s %% %du)"):format(first, size)), any(scope.targets), first)
end)

maker(nil, 6, function(k, scope, depth)
  local no = chance(40) and (" else { %s }"):format(statements.list(k, scope, 1, depth)) or ""
  return ("if (%s) { %s }%s"):format(statements.condition(k, scope), statements.list(k, scope, random(2), depth), no)
end)

maker(nil, 4, function(k, scope, depth)
  local i = k:name_of "i"
  local inner = scope:child()
  inner:see(i, true)
  local bound = any { "3u", k:leaf(scope.values, true) .. " % 4u" }
  return ("for (unsigned %s = 0; %s < %s; %s++) { %s }"):format(i, i, bound, i,
    statements.list(k, inner, random(2), depth))
end)

maker("early exit", 5, function(k, scope, depth)
  local i = k:name_of "i"
  local inner = scope:child()
  inner:see(i, false)
  return ("for (unsigned %s = 0; %s < %s %% 5u; %s++) { %s if (%s) %s; %s }"):format(i, i, scope:expression(), i,
    statements.list(k, inner, 1, depth), statements.condition(k, inner), any { "break", "continue" },
    statements.list(k, inner, 1, depth))
end)

maker("switch", 5, function(k, scope, depth)
  local function body() return statements.list(k, scope, 1, depth) end
  local head = chance(50) and k:leaf(scope.values, false) or scope:expression()
  return ("switch (%s %% 4u) { case 0: %s break; case 1: %s case 2: %s %s default: %s }"):format(head, body(), body(),
    body(), any { "break;", "" }, body())
end)

-- ---- jumps --------------------------------------------------------------------------------------

maker("goto", 5, function(k, scope, depth)
  local label, i = k:name_of "again", k:name_of "i"
  local inner = scope:child()
  inner:see(i, false)
  local bound = chance(50) and k:thread() or scope:expression()
  return ("{ unsigned %s = 0; %s: if (%s < %s %% 5u) { %s %s++; goto %s; } }"):format(i, label, i, bound,
    statements.list(k, inner, 1, depth + 1), i, label)
end)

maker("goto", 4, function(k, scope, depth)
  local label = k:name_of "skip"
  return ("{ if (%s) goto %s; %s %s: %s }"):format(statements.condition(k, scope), label,
    statements.list(k, scope, random(2), depth + 1), label, assignment(scope))
end)

-- ---- variables changed by other ways ---------------------------------------------------------------

maker("conditional target", 5, function(k, scope)
  local a, b = two_targets(scope)
  local condition = statements.condition(k, scope, chance(50))
  return any { "(%s ? %s : %s) = %s;", "(%s ? %s : %s) ^= %s;" }:format(condition, a, b,
    chance(50) and k:thread() or scope:expression())
end)

maker("conditional target", 2, function(k, scope)
  local a, b = two_targets(scope)
  local i = k:name_of "i"
  return ("for (unsigned %s = 0; %s < %s %% 6u; %s++) (%s ? %s : %s)++;"):format(i, i, k:thread(), i,
    statements.condition(k, scope, chance(50)), a, b)
end)

maker("reference", 4, function(k, scope)
  local r = k:name_of "r"
  local type = any { "unsigned", "auto", "volatile unsigned" }
  return ("{ %s &%s = %s; %s += %s; }"):format(type, r, any(scope.targets), r, scope:expression())
end)

maker("reference", 3, function(k, scope)
  local r, a, b = k:name_of "r", two_targets(scope)
  return ("{ unsigned &%s = %s ? %s : %s; %s ^= %s; }"):format(r, statements.condition(k, scope), a, b, r,
    scope:expression())
end)

maker("reference", 3, function(k, scope)
  local f, p = k:global "same", k:name_of "p"
  k:front(("__device__ unsigned &%s(unsigned &%s) { return %s; }"):format(f, p, p))
  return ("%s(%s) %s %s;"):format(f, any(scope.targets), any { "=", "+=" }, scope:expression())
end)

maker("reference", 3, function(k, scope)
  local q = k:name_of "q"
  return ("{ decltype((%s)) %s = %s; %s = %s; }"):format(any(scope.targets), q, any(scope.targets), q, k:thread())
end)

maker("reference", 2, function(k, scope)
  local q = k:name_of "q"
  return ("{ const auto &%s = threadIdx; %s += %s.x; }"):format(q, any(scope.targets), q)
end)

maker("pointer", 3, function(k, scope)
  local p, q = k:name_of "p", k:name_of "p"
  return ("{ unsigned *%s = %s, **%s = &%s; **%s = %s; }"):format(p, "&" .. any(scope.targets), q, p, q,
    scope:expression())
end)

maker("lambda", 5, function(k, scope, depth)
  local f, p = k:name_of "f", k:name_of "p"
  local inner = scope:child()
  inner:see(p, false)
  local made = ("auto %s = [&](%s %s) { %s return %s; };"):format(f, any { "unsigned", "auto" }, p,
    statements.list(k, inner, 1, depth + 1), inner:expression())
  return ("{ %s %s(%s); unsigned %s_ = %s(3u); %s += %s_; }"):format(made, f, scope:expression(), f, f,
    any(scope.targets), f)
end)

maker("lambda", 3, function(k, scope)
  return ("%s ^= [&] { if (%s) return %s; return %s; }();"):format(any(scope.targets), statements.condition(k, scope),
    "(unsigned)" .. scope:expression(), "(unsigned)" .. scope:expression())
end)

maker("lambda", 3, function(k, scope)
  local c, f = k:name_of "c", k:name_of "f"
  return ("{ auto %s = [%s = %s]() mutable { %s += %s; return %s; }; %s(); %s = %s(); }"):format(f, c, "0u", c,
    k:thread(), c, f, any(scope.targets), f)
end)

-- ---- functions ----------------------------------------------------------------------------------

local function own_function(k)
  if #k.functions < 3 then k:add_function(chance(60)) end
  return any(k.functions).name
end

local function pointer_type(k)
  if not k.pointer then
    k.pointer = k:global "fp"
    k:front(any { "typedef unsigned (*%s)(unsigned);", "using %s = unsigned (*)(unsigned);" }:format(k.pointer))
  end
  return k.pointer
end

-- A device variable's initialiser takes the address of a function that stands in front of it.
local POINTERS = {
  function(k, scope)
    local p = k:name_of "p"
    return ("{ %s %s = %s; %s += %s(%s); }"):format(chance(50) and pointer_type(k) or "auto", p, own_function(k),
      any(scope.targets), p, scope:expression())
  end,
  function(k, scope)
    local p, type = k:name_of "p", pointer_type(k)
    return ("{ const %s %s[2] = { %s, %s }; %s += %s[%s & 1u](%s); }"):format(type, p, own_function(k), own_function(k),
      any(scope.targets), p, scope:expression(), scope:expression())
  end,
  function(k, scope)
    if not k.rare["device object"] then return end
    k:tag "device object"
    local p, type = k:global "table", pointer_type(k)
    k:front(("__device__ %s %s[2] = { %s, %s };"):format(type, p, own_function(k), own_function(k)))
    return ("%s ^= %s[%s & 1u](%s);"):format(any(scope.targets), p, scope:expression(), scope:expression())
  end,
  function(k, scope)
    local f, p, q = k:global "call", k:name_of "p", k:name_of "p"
    k:front(("__device__ unsigned %s(%s %s, unsigned %s) { return %s(%s); }"):format(f, pointer_type(k), p, q, p, q))
    return ("%s ^= %s(%s, %s);"):format(any(scope.targets), f, own_function(k), scope:expression())
  end,
  function(k, scope)
    local f = k:global "call"
    k:front(("template <unsigned (*F)(unsigned)> __device__ unsigned %s() { return F(3u); }"):format(f))
    return ("%s ^= %s<%s>();"):format(any(scope.targets), f, own_function(k))
  end,
  function(k, scope)
    local f, p, q = k:global "put", k:name_of "p", k:name_of "q"
    k:front(("__device__ void %s(unsigned &%s) { %s ^= %s; }"):format(f, p, p, k:thread()))
    return ("{ void (*%s)(unsigned &) = %s; %s(%s); }"):format(q, f, q, any(scope.targets))
  end,
}
maker("function pointer", 9, function(k, scope) return any(POINTERS)(k, scope) end)

local HELPERS = {
  "__device__ void %s(unsigned &%s) { %s += %s; }",
  "template <class T> __device__ void %s(T &%s) { %s += %s; }",
  "template <class... T> __device__ void %s(T &...%s) { ((%s += %s), ...); }",
}

maker("nested helper", 7, function(k, scope)
  local f, g, p = k:global "in", k:global "by", k:name_of "p"
  k:front(any(HELPERS):format(f, p, p, chance(70) and k:thread() or "7u"))
  local outer = "__device__ void %s(unsigned &%s) { if (%s %% 3u) { %s(%s); return; } %s ^= %s; }"
  k:front(outer:format(g, p, k:thread(), f, p, p, k:thread()))
  return ("%s(%s);"):format(g, any(scope.targets))
end)

maker("nested helper", 5, function(k, scope)
  local f, r, p = k:global "put", k:global "ur", k:name_of "p"
  k:tag "alias"
  k:front(("typedef unsigned &%s; __device__ void %s(%s %s) { %s = %s; }"):format(r, f, r, p, p, k:thread()))
  return ("%s(%s);"):format(f, any(scope.targets))
end)

maker("nested helper", 3, function(k, scope)
  local f, p = k:global "put", k:name_of "p"
  k:front(("template <class T> __device__ void %s(T %s) { %s ^= %s; }"):format(f, p, p, k:thread()))
  return ("%s<unsigned &>(%s);"):format(f, any(scope.targets))
end)

maker("default argument", 4, function(k, scope)
  local f, p = k:global "d", k:name_of "p"
  k:front(("__device__ unsigned %s(unsigned %s = %s) { return %s * 3u; }"):format(f, p, k:thread(), p))
  return ("%s += %s();"):format(any(scope.targets), f)
end)

-- ---- objects ------------------------------------------------------------------------------------

maker("object", 14, function(_, scope) return scope:object_statement() end)

maker("object", 6, function(k, scope, depth)
  local C, name = scope:class(chance(20)), k:name_of "c"
  if C.uniform and C.place then return end
  local init, form = scope:init(C, C.uniform)
  local inner = scope:child()
  inner:add_object(name, C)
  return ("{ %s %s%s%s; %s }"):format(C.spelled, name, form == "=" and " = " or "", init,
    statements.list(k, inner, random(2), depth + 1))
end)

local function functor_class(k)
  for _, C in ipairs(k.classes) do
    if C.functor and not C.uniform and not C.place then return C end
  end
  local C = { id = k:global "F", constructs = {} }
  local p = k:name_of "p"
  k:front(("struct %s { __device__ unsigned operator()(unsigned %s) const { return %s + %s; } };"):format(C.id, p, p,
    k:thread()))
  C.spelled, C.functor, C.empty, C.init = C.id, true, true, function() return "()" end
  return C
end

maker("functor", 6, function(k, scope)
  local C, f, p, q = functor_class(k), k:global "apply", k:name_of "p", k:name_of "p"
  for _, construct in ipairs(C.constructs) do k:tag(construct) end
  if C.empty and chance(50) then
    k:front(("template <class F> __device__ unsigned %s(unsigned %s) { F %s; return %s(%s); }"):format(f, p, q, q, p))
    return ("%s += %s<%s>(%s);"):format(any(scope.targets), f, C.spelled, scope:expression())
  end
  k:front(("template <class F> __device__ unsigned %s(F %s, unsigned %s) { return %s(%s); }"):format(f, q, p, q, p))
  local made = C.spelled .. C.init(function() return scope:expression() end)
  return ("%s += %s(%s, %s);"):format(any(scope.targets), f, made, scope:expression())
end)

maker("class template", 4, function(k, scope)
  local f, tr, p, q = k:global "use", k:global "Tr", k:name_of "p", k:name_of "q"
  local C = functor_class(k)
  if not C.empty then return end
  for _, construct in ipairs(C.constructs) do k:tag(construct) end
  k:tag "dependent type"
  k:tag "functor"
  k:front(("template <class T> struct %s { typedef T type; };"):format(tr))
  local user = "template <class T> __device__ unsigned %s(unsigned %s) { typename T::type %s; return %s(%s); }"
  k:front(user:format(f, p, q, q, p))
  return ("%s += %s<%s<%s>>(%s);"):format(any(scope.targets), f, tr, C.spelled, scope:expression())
end)

local LOCAL_CLASSES = {
  "struct %s { unsigned v; __device__ %s(unsigned %s) : v(%s ^ %s) {} } %s(%s);",
  "struct %s { unsigned v; __device__ %s(unsigned %s) : v(%s ^ %s) {} }; %s(%s);",
}

maker("local class", 4, function(k, scope)
  local L, l, p = k:name_of "L", k:name_of "l", k:name_of "p"
  local which = random(2)
  local object = which == 2 and L .. " " .. l or l
  local text = LOCAL_CLASSES[which]:format(L, L, p, p, k:thread(), object, scope:expression())
  return ("{ %s %s += %s.v; }"):format(text, any(scope.targets), l)
end)

-- ---- other things of a program's own -------------------------------------------------------------

maker("enumeration with an operator", 4, function(k, scope)
  local E, e, p = k:global "E", k:global "e", k:name_of "p"
  k:front(("enum %s { %s };\n__device__ unsigned operator+(%s, unsigned %s) { return %s ^ %s; }"):format(E, e, E, p, p,
    k:thread()))
  return ("%s += %s + %s;"):format(any(scope.targets), e, scope:expression())
end)

maker("vector type with an operator", 4, function(k, scope)
  local type, v, w = k:global "U", k:name_of "v", k:name_of "w"
  -- Operators of uint2 alone would be every kernel's of the file.
  local text = "struct %s : uint2 {};\n"
    .. "__device__ uint2 operator*(%s %s, uint2 %s) { return make_uint2(%s.x * %s.y, %s); }"
  k:front(text:format(type, type, v, w, v, w, k:thread()))
  local use = "{ %s %s; %s.x = 3u, %s.y = 4u; uint2 %s = make_uint2(5u, 6u); %s ^= (%s * %s).%s; }"
  return use:format(type, v, v, v, w, any(scope.targets), v, w, any { "x", "y" })
end)

maker("literal", 4, function(k, scope)
  local name = "_" .. k:global "l"
  local text = "__device__ unsigned operator\"\"%s(unsigned long long v) { return (unsigned)v + %s; }"
  k:front(text:format(name, k:thread()))
  return ("%s ^= %d%s;"):format(any(scope.targets), random(9), name)
end)

maker("member pointer", 4, function(k, scope)
  local M, p, f, o = k:global "M", k:name_of "p", k:name_of "f", k:name_of "o"
  local text = "struct %s { unsigned v; __device__ unsigned get(unsigned %s) const { return v * %s + %s; } };"
  k:front(text:format(M, p, p, k:thread()))
  return ("{ %s %s{%s}; unsigned (%s::*%s)(unsigned) const = &%s::get; %s += (%s.*%s)(%s); }"):format(M, o,
    scope:expression(true), M, f, M, any(scope.targets), o, f, scope:expression())
end)

-- ---- the choice ---------------------------------------------------------------------------------

local ALWAYS = { object = true, [""] = true }

function statements.one(k, scope, depth)
  if depth > 2 then return assignment(scope) end
  local candidate = k:choose(MAKERS, ALWAYS)
  local text = candidate.make(k, scope, depth)
  if not text then return assignment(scope) end
  if candidate.construct ~= "object" then k:tag(candidate.construct) end
  return text
end

return statements
