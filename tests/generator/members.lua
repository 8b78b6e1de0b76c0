-- SPDX-License-Identifier: MIT
--
-- Members of a random class that are called: methods, operators, conversions, virtual ones. Each maker writes its text
-- into the class (or behind it) and says how it is used.

local context = require "tests.generator.context"
local any = context.any
local members = {}

-- A member of the class that may be assigned.
local function field(C) return any(C.own) end

local function value(C, construct, text, method)
  C.values[#C.values + 1] = { construct = construct, text = text, method = method }
end

local function change(C, construct, text) C.changes[#C.changes + 1] = { construct = construct, text = text } end

local function write(C, construct, text) C.writes[#C.writes + 1] = { construct = construct, text = text } end

-- ---- makers -------------------------------------------------------------------------------------
-- { construct, percent, plain = may be in an aggregate of shared memory, make(C, spot, line) }. A class has at most one
-- of a group.

local MAKERS = {}

local function maker(construct, percent, group, make)
  MAKERS[#MAKERS + 1] = { construct = construct, percent = percent, group = group, make = make }
end

local function binary(sign)
  return function(C, spot, line)
    local p = C.k:name_of "p"
    line(C, "__device__ unsigned operator%s(unsigned %s) const { return %s; }", sign, p, spot(C, { p }))
    value(C, "operator", function(object, expression) return ("(%s %s %s)"):format(object, sign, expression()) end)
  end
end

for _, sign in ipairs { "+", "-", "*", "^", "%" } do maker("operator", 9, sign, binary(sign)) end

local function friend_binary(C, spot, line)
  local p, c = C.k:name_of "p", C.k:name_of "c"
  line(C, "friend __device__ unsigned operator/(const %s &%s, unsigned %s) { return %s.%s + (%s); }", C.id, c, p, c,
    field(C), spot({ k = C.k, uniform = C.uniform, fields = {} }, { p }))
  value(C, "operator", function(object, expression) return ("(%s / %s)"):format(object, expression()) end)
end
maker("operator", 15, "/", friend_binary)

local function of_two(C, spot, line)
  local c = C.k:name_of "c"
  line(C, "__device__ unsigned operator|(const %s &%s) const { return %s.%s ^ (%s); }", C.id, c, c, field(C), spot(C))
  value(C, "operator", function(object) return ("(%s | %s)"):format(object, object) end)
end
maker("operator", 10, "|", of_two)

for _, sign in ipairs { "-", "~", "*" } do
  maker("operator", 9, "unary", function(C, spot, line)
    line(C, "__device__ unsigned operator%s() const { return %s; }", sign, spot(C))
    value(C, "operator", function(object) return ("(%s%s)"):format(sign, object) end)
  end)
end

for _, sign in ipairs { "<", ">", "==", "!=" } do
  maker("operator", 9, sign, function(C, spot, line)
    local p = C.k:name_of "p"
    line(C, "__device__ bool operator%s(unsigned %s) const { return (%s) %% 3u == 1u; }", sign, p, spot(C, { p }))
    value(C, "operator", function(object, expression)
      return ("(unsigned)(%s %s %s)"):format(object, sign, expression())
    end)
  end)
end

maker("operator", 15, "[]", function(C, spot, line)
  local p = C.k:name_of "p"
  line(C, "__device__ unsigned operator[](unsigned %s) const { return %s; }", p, spot(C, { p }))
  value(C, "operator", function(object, expression) return ("%s[%s]"):format(object, expression()) end)
end)

maker("operator", 10, "[]", function(C, spot, line)
  local p = C.k:name_of "p"
  line(C, "__device__ %s &operator[](unsigned %s) { return (%s) & 1u ? %s : %s; }", C.word, p, spot(C, { p }), field(C),
    field(C))
  change(C, "operator", function(object, expression)
    return ("%s[%s] += %s;"):format(object, expression(), expression())
  end)
end)

maker("functor", 20, "()", function(C, spot, line)
  local p = C.k:name_of "p"
  line(C, "__device__ unsigned operator()(unsigned %s) const { return %s; }", p, spot(C, { p }))
  C.functor = true
  value(C, "functor", function(object, expression) return ("%s(%s)"):format(object, expression()) end)
end)

maker("functor", 12, "()", function(C, spot, line)
  local p = C.k:name_of "p"
  line(C, "__device__ void operator()(unsigned &%s) const { %s = %s; }", p, p, spot(C, { p }))
  write(C, "functor", function(object, _, target) return ("%s(%s);"):format(object, target) end)
end)

for _, sign in ipairs { "+=", "^=", "<<" } do
  maker("operator", 9, sign, function(C, spot, line)
    local p = C.k:name_of "p"
    line(C, "__device__ %s &operator%s(unsigned %s) { %s = %s; return *this; }", C.id, sign, p, field(C),
      spot(C, { p }))
    change(C, "operator", function(object, expression) return ("%s %s %s;"):format(object, sign, expression()) end)
  end)
end

maker("operator", 15, "++", function(C, spot, line)
  line(C, "__device__ %s &operator++() { %s += %s; return *this; }", C.id, field(C), spot(C))
  change(C, "operator", function(object) return ("++%s;"):format(object) end)
end)

maker("operator", 10, "++", function(C, spot, line)
  line(C, "__device__ void operator++(int) { %s += %s; }", field(C), spot(C))
  change(C, "operator", function(object) return object .. "++;" end)
end)

maker("operator", 12, "=", function(C, spot, line)
  local p = C.k:name_of "p"
  line(C, "__device__ void operator=(unsigned %s) { %s = %s; }", p, field(C), spot(C, { p }))
  change(C, "operator", function(object, expression) return ("%s = %s;"):format(object, expression()) end)
end)

-- The operand on the right is what changes.
for _, sign in ipairs { ">>", "-=", "*=" } do
  maker("operator", 9, sign, function(C, spot, line)
    local p = C.k:name_of "p"
    line(C, "__device__ void operator%s(unsigned &%s) const { %s = %s; }", sign, p, p, spot(C, { p }))
    write(C, "operator", function(object, _, target) return ("%s %s %s;"):format(object, sign, target) end)
  end)
end

maker("conversion", 25, "unsigned", function(C, spot, line)
  line(C, "__device__ operator unsigned() const { return %s; }", spot(C))
  value(C, "conversion", function(object) return any { "(unsigned)%s", "(0u ^ %s)", "(+%s)" }:format(object) end)
  C.counts = true
end)

maker("conversion", 50, "bool", function(C, spot, line)
  line(C, "__device__ explicit operator bool() const { return (%s) & 1u; }", spot(C))
  value(C, "conversion", function(object, expression)
    return ("(%s ? %s : %s)"):format(object, expression(), expression())
  end)
  C.condition = true
end)

maker("member", 60, "method", function(C, spot, line)
  local p, name = C.k:name_of "p", C.k:name_of "get"
  line(C, "__device__ unsigned %s(unsigned %s) const { return %s; }", name, p, spot(C, { p }))
  value(C, "member", function(object, expression) return ("%s.%s(%s)"):format(object, name, expression()) end, true)
end)

maker("member", 30, "set", function(C, spot, line)
  local p, name = C.k:name_of "p", C.k:name_of "set"
  line(C, "__device__ %s &%s(unsigned %s) { %s = %s; return *this; }", C.id, name, p, field(C), spot(C, { p }))
  change(C, "member", function(object, expression)
    return ("%s.%s(%s).%s(%s);"):format(object, name, expression(), name, expression())
  end)
end)

maker("member", 20, "put", function(C, spot, line)
  local p, name = C.k:name_of "p", C.k:name_of "put"
  line(C, "__device__ void %s(unsigned &%s) const { %s = %s; }", name, p, p, spot(C, { p }))
  write(C, "member", function(object, _, target) return ("%s.%s(%s);"):format(object, name, target) end)
end)

maker("member", 15, "static", function(C, spot, line)
  local p, name = C.k:name_of "p", C.k:name_of "of"
  line(C, "static __device__ unsigned %s(unsigned %s) { return %s; }", name, p,
    spot({ k = C.k, uniform = C.uniform, fields = {} }, { p }))
  value(C, "member", function(_, expression) return ("%s::%s(%s)"):format(C.spelled, name, expression()) end)
end)

-- ---- what belongs to a place, to bases and to the class itself -------------------------------------

local function add_place(C, spot, line)
  local p, name = C.k:name_of "p", C.k:name_of "store"
  line(C, "__device__ void %s(unsigned %s) const { %s = %s; }", name, p, C.place.text, spot(C, { p }))
  change(C, C.place.by .. " member", function(object, expression)
    return ("%s.%s(%s);"):format(object, name, expression())
  end)
  if C.place.by == "reference" then
    change(C, "reference member", function(object, expression)
      return ("%s.%s ^= %s;"):format(object, C.place.name, expression())
    end)
  end
end

-- template <class D> struct Base { ... static_cast<const D *>(this)->own(...) }; its name.
function members.crtp(C)
  local base, call, own, p = C.k:global "R", C.k:name_of "call", C.k:name_of "own", C.k:name_of "p"
  local text = "template <class D> struct %s { __device__ unsigned %s(unsigned %s) const {"
    .. " return static_cast<const D *>(this)->%s(%s) ^ 3u; } };"
  C.k:front(text:format(base, call, p, own, p))
  C.own_method = own
  C.tag "CRTP"
  value(C, "CRTP", function(object, expression) return ("%s.%s(%s)"):format(object, call, expression()) end)
  return base
end

-- struct Base { virtual unsigned own(unsigned) const }; its name.
function members.virtual(C)
  local base, own, p = C.k:global "V", C.k:name_of "own", C.k:name_of "p"
  C.k:front(("struct %s { __device__ virtual unsigned %s(unsigned %s) const { return %s; } };"):format(base, own, p, p))
  C.own_method = own
  C.tag "virtual method"
  value(C, "virtual method", function(object, expression)
    return any { "((const %s &)%s).%s(%s)", "((const %s *)&%s)->%s(%s)" }:format(base, object, own, expression())
  end)
  return base
end

local function add_own_method(C, spot, line)
  local p = C.k:name_of "p"
  line(C, "__device__ unsigned %s(unsigned %s) const%s { return %s; }", C.own_method, p,
    C.virtual and " override" or "", spot(C, { p }))
end

-- Objects of the class without a name.
local function add_temporaries(C)
  if C.place then return end
  value(C, C.aggregate and "member" or "constructor", function(_, expression)
    return ("%s%s.%s"):format(C.spelled, C.init(expression), field(C))
  end)
  if C.converts and C.k:may("converting constructor", 60) then
    local name = C.k:global "take"
    local c = C.k:name_of "c"
    C.after = ("__device__ unsigned %s(%s %s) { return %s.%s * 5u; }"):format(name, C.type, c, c, field(C))
    value(C, "converting constructor", function(_, expression) return ("%s(%s)"):format(name, expression()) end)
  end
  if C.copies then
    value(C, "copy constructor", function(object) return ("%s(%s).%s"):format(C.type, object, field(C)) end)
  end
end

local function reads_a_member(C)
  local name = field(C)
  value(C, nil, function(object) return ("%s.%s"):format(object, name) end)
end

function members.add(C, o, spot, line)
  local k, groups = C.k, {}
  reads_a_member(C)
  if C.own_method then add_own_method(C, spot, line) end
  if C.place then add_place(C, spot, line) end
  for _, candidate in ipairs(MAKERS) do
    local fits = not o.base or candidate.construct == "member"
    if fits and not groups[candidate.group] and (k:may(candidate.construct, candidate.percent)
      and (not k.only or context.chance(candidate.percent * 2))) then
      groups[candidate.group] = true
      candidate.make(C, spot, line)
    end
  end
  if not o.base then add_temporaries(C) end
end

return members
