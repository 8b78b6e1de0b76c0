-- SPDX-License-Identifier: MIT
--
-- A random class: its text goes in front of the kernel; what can be done with its objects is in three lists:
--   values   expressions of an object, which change nothing
--   changes  statements that change it, or what it refers to
--   writes   statements that change another variable
-- Each is { construct = , text = function(object, expression, target) }; expression() gives an argument.

local members = require "tests.generator.members"
local context = require "tests.generator.context"
local any, chance = context.any, context.chance
local random = math.random

-- The body of a constructor, an operator, ...: an expression over what is there.
local function spot(C, extra)
  local values = { table.unpack(C.fields) }
  for _, value in ipairs(extra or {}) do values[#values + 1] = { text = value, uniform = true } end
  for _, value in ipairs(C.k:globals()) do values[#values + 1] = value end
  return C.k:expression(values, C.uniform, 1)
end

local function line(C, format, ...) C.lines[#C.lines + 1] = format:format(...) end

-- ---- what it is made of -------------------------------------------------------------------------

local function add_base(C, o)
  local k = C.k
  if o.plain then return end
  if k:may("inheritance", 25) and (o.base or 0) < 2 then
    local inner = { uniform = C.uniform, base = (o.base or 0) + 1 }
    C.bases[1] = C.new(k, inner)
    if k:may("two bases", 40) or (k.only == "inheritance" and chance(40)) then
      C.bases[2] = C.new(k, inner)
      C.tag "two bases"
    end
    C.tag "inheritance"
  elseif k:may("CRTP", 15) then
    C.crtp = members.crtp(C)
  elseif k:may("virtual method", 15) then
    C.virtual = members.virtual(C)
  end
  for _, base in ipairs(C.bases) do
    C.heads[#C.heads + 1] = base.type
    for _, construct in ipairs(base.constructs) do C.tag(construct) end
    for _, field in ipairs(base.fields) do C.fields[#C.fields + 1] = field end
    for _, value in ipairs(base.values) do
      if value.method then C.values[#C.values + 1] = value end
    end
  end
end

-- Members, some with initialisers of their own.
local function add_fields(C, o)
  local k = C.k
  C.defaults = not o.plain and k:may("default member initialiser", 30)
  for _ = 1, random(1, 2) do
    local name = k:name_of "m"
    line(C, "%s %s%s;", C.word, name, C.defaults and " = " .. spot(C) or "")
    C.own[#C.own + 1] = name
    C.fields[#C.fields + 1] = { text = name, uniform = true }
  end
  if C.defaults then C.tag "default member initialiser" end
  if o.plain or o.base then return end
  local by = k:may("reference member", 35) and "reference" or k:may("pointer member", 15) and "pointer"
    or k.only == "destructor" and "reference"
  if not by then return end
  C.place = { by = by, name = k:name_of "r" }
  C.place.text = by == "reference" and C.place.name or "*" .. C.place.name
  line(C, by == "reference" and "unsigned &%s;" or "unsigned *%s;", C.place.name)
  C.tag(by .. " member")
end

local function add_object(C, o)
  if C.k.only or o.plain or o.base or not chance(10) then return end
  local inner = C.new(C.k, { uniform = C.uniform, base = 2 })
  local name = C.k:name_of "q"
  line(C, "%s %s;", inner.type, name)
  C.own_object = { name = name, class = inner }
  for _, value in ipairs(inner.values) do
    if value.method then
      C.values[#C.values + 1] = { construct = value.construct, method = true, text = function(object, expression)
        return value.text(object .. "." .. name, expression)
      end }
    end
  end
end

-- ---- constructors -------------------------------------------------------------------------------

-- Code that reads no member: those that follow are not set yet.
local function early_spot(C, arguments)
  return spot({ k = C.k, uniform = C.uniform, fields = {} }, arguments)
end

-- `: a(...), b(...)` and assignments, which together set every member.
local function initialisers(C, arguments, place)
  local list, body = {}, {}
  local function argument() return early_spot(C, arguments) end
  for _, base in ipairs(C.bases) do
    if not base.empty or chance(30) then list[#list + 1] = base.type .. base.init(argument) end
  end
  if place then list[#list + 1] = ("%s(%s)"):format(C.place.name, place) end
  local inner = C.own_object
  if inner and not (inner.class.empty and chance(30)) then
    list[#list + 1] = inner.name .. inner.class.init(argument)
  end
  for _, name in ipairs(C.own) do
    if C.k:may("member initialiser", 50) then
      C.tag "member initialiser"
      list[#list + 1] = ("%s(%s)"):format(name, argument())
    elseif not (C.defaults and chance(50)) then
      body[#body + 1] = ("%s = %s;"):format(name, argument())
    end
  end
  return #list > 0 and " : " .. table.concat(list, ", ") or "", table.concat(body, " ")
end

local function argument_constructor(C)
  local k = C.k
  local p, q, r = k:name_of "p", k:name_of "p", k:name_of "p"
  local list = { ("unsigned %s"):format(p) }
  local arguments = { p }
  if C.place then table.insert(list, 1, C.place.by == "reference" and "unsigned &" .. r or "unsigned *" .. r) end
  local default = k:may("default argument", 40)
  if default then
    C.tag "default argument"
    list[#list + 1] = ("unsigned %s = %s"):format(q, early_spot(C))
    arguments[2] = q
  end
  local init, body = initialisers(C, arguments, C.place and r)
  line(C, "__device__ %s(%s)%s { %s }", C.id, table.concat(list, ", "), init, body)
  C.tag "constructor"
  C.init = function(expression, target)
    local words = { expression() }
    if C.place then table.insert(words, 1, (C.place.by == "pointer" and "&" or "") .. target) end
    if default and chance(40) then words[#words + 1] = expression() end
    return ("(%s)"):format(table.concat(words, ", "))
  end
  C.converts = not C.place
  if not C.place and k:may("delegating constructor", 30) then
    line(C, "__device__ %s() : %s(%s) {}", C.id, C.id, early_spot(C))
    C.tag "delegating constructor"
    C.empty = true
  end
end

local function empty_constructor(C)
  local init, body = initialisers(C, {})
  line(C, "__device__ %s()%s { %s }", C.id, init, body)
  C.tag "constructor"
  C.empty = true
  C.init = function() return any { "()", "{}" } end
end

local function no_constructor(C)
  C.empty = C.defaults and not C.place
  C.aggregate = true
  C.init = function(expression, target)
    local words = {}
    if C.defaults and not C.place then return "{}" end
    for i = 1, #C.own do words[i] = expression() end
    if C.place then words[#words + 1] = (C.place.by == "pointer" and "&" or "") .. target end
    return ("{%s}"):format(table.concat(words, ", "))
  end
end

local function add_constructors(C, o)
  local k = C.k
  local simple = #C.bases == 0 and not C.crtp and not C.virtual and not C.own_object
  local wanted = k:may("constructor", 80) or k.only == "member initialiser" or k.only == "delegating constructor"
    or k.only == "converting constructor" or k.only == "copy constructor" or k.only == "default argument"
  if o.plain or (simple and not wanted) then return no_constructor(C) end
  local empty = not C.place and not (k.only == "delegating constructor" or k.only == "default argument"
    or k.only == "converting constructor")
  if empty and chance(o.base and 70 or 40) then empty_constructor(C) else argument_constructor(C) end
  if not C.place and k:may("copy constructor", 18) then
    local sum = {}
    for i, name in ipairs(C.own) do sum[i] = ("%s(o.%s + %s)"):format(name, name, early_spot(C)) end
    if #C.bases == 0 and not C.own_object and not C.virtual and not C.crtp then
      line(C, "__device__ %s(const %s &o) : %s {}", C.id, C.id, table.concat(sum, ", "))
      C.copies = true
      C.tag "copy constructor"
    end
  end
end

local function add_destructor(C, o)
  if not C.place or o.base or not C.k:may("destructor", 50) then return end
  line(C, "__device__ ~%s() { %s %s %s; }", C.id, C.place.text, any { "=", "+=", "^=" }, spot(C))
  C.tag "destructor"
  C.destroys = true
end

-- ---- the whole ----------------------------------------------------------------------------------

local function text_of(C)
  local heads = C.heads
  if C.crtp then heads[#heads + 1] = ("%s<%s>"):format(C.crtp, C.template and C.id .. "<T, N>" or C.id) end
  if C.virtual then heads[#heads + 1] = C.virtual end
  for i, head in ipairs(heads) do heads[i] = "public " .. head end
  local keyword = chance(80) and "struct %s%s {\n  %s\n};" or "class %s%s {\npublic:\n  %s\n};"
  local from = #heads > 0 and " : " .. table.concat(heads, ", ") or ""
  local text = keyword:format(C.id, from, table.concat(C.lines, "\n  "))
  return (C.template and "template <class T, unsigned N> " or "") .. text
end

local ALIASES = {
  function(type, name) return ("typedef %s %s;"):format(type, name), name end,
  function(type, name) return ("using %s = %s;"):format(name, type), name end,
  function(type, name) return ("struct %s { typedef %s type; };"):format(name, type), name .. "::type" end,
  function(type, name) return ("template <class Q> struct %s { using type = Q; };"):format(name),
    ("%s<%s>::type"):format(name, type) end,
}

local function add_alias(C)
  local k = C.k
  C.spelled = C.type
  if not k:may("alias", 30) then return end
  local text, spelled = any(ALIASES)(C.type, k:global "A")
  k:front(text)
  C.spelled = spelled
  C.tag "alias"
end

-- A class. o.uniform: nothing in it reads the thread's index; o.plain: an aggregate of numbers, for shared memory and
-- device variables; o.base: can be a base or a
-- member, at that depth.
local function new(k, o)
  local C = { k = k, id = k:global "C", uniform = o.uniform, lines = {}, fields = {}, own = {}, bases = {}, heads = {},
    values = {}, changes = {}, writes = {}, constructs = {}, word = "unsigned", new = new }
  function C.tag(construct) C.constructs[#C.constructs + 1] = construct end
  C.template = not o.base and k:may("class template", 25)
  C.type = C.id
  if C.template then
    C.word = "T"
    C.fields[1] = { text = "N", uniform = true }
    C.type = ("%s<unsigned, %du>"):format(C.id, random(2, 9))
    C.tag "class template"
  end
  add_base(C, o)
  add_object(C, o)
  add_fields(C, o)
  add_constructors(C, o)
  if C.place and not o.base then C.fields[#C.fields + 1] = { text = C.place.text, uniform = true } end
  add_destructor(C, o)
  members.add(C, o, spot, line)
  k:front(text_of(C))
  if C.after then k:front(C.after) end
  add_alias(C)
  return C
end

return { new = new }
