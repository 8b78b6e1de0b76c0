-- SPDX-License-Identifier: MIT
--
-- What a random statement may name where it stands: values, variables that a thread may change, objects.

local class = require "tests.generator.class"
local context = require "tests.generator.context"
local any, chance = context.any, context.chance
local random = math.random
local scope = {}
scope.__index = scope

function scope.new(k)
  return setmetatable({ k = k, values = k:globals(), targets = {}, uniforms = {}, objects = {} }, scope)
end

-- Where something can be declared that the rest does not see.
function scope:child()
  local function copy(list) return { table.unpack(list) } end
  return setmetatable({ k = self.k, values = copy(self.values), targets = copy(self.targets),
    uniforms = copy(self.uniforms), objects = copy(self.objects), places = self.places }, scope)
end

function scope:see(text, uniform, construct)
  self.values[#self.values + 1] = { text = text, uniform = uniform or false, construct = construct }
end

-- A variable. A uniform one is only changed where all threads are, by what is the same for all.
function scope:add_target(name, uniform)
  local list = uniform and self.uniforms or self.targets
  list[#list + 1] = name
  self:see(name, uniform)
end

-- An element of an array or record that only this thread has, often one that its data choose.
function scope:place()
  local place = any(self.places)
  local form, size = table.unpack(place)
  if chance(70) then return form:format(random(0, size - 1) .. "u"), form, size end
  return form:format(("(%s %% %du)"):format(self.k:leaf({ table.unpack(self.values, 1, 3) }, false), size)), form, size
end

-- An expression; a quiet one mostly has nothing that is a thread's own, so that only hidden things make it so.
function scope:expression(uniform)
  if not uniform and chance(50) then uniform = true end
  return self.k:expression(self.values, uniform)
end

local function argument_of(self, uniform)
  local plain = {}
  for _, value in ipairs(self.values) do
    if type(value.text) == "string" then plain[#plain + 1] = value end
  end
  return function() return self.k:expression(plain, uniform or chance(60), 1) end
end

-- A class with something to its objects: a new one, or one that is there.
function scope:class(uniform, o)
  local k = self.k
  local fitting = {}
  for _, C in ipairs(k.classes) do
    if (C.uniform or false) == (uniform or false) and not o then fitting[#fitting + 1] = C end
  end
  if #fitting > 0 and chance(50) then return any(fitting) end
  local C = class.new(k, { uniform = uniform, plain = o and o.plain })
  if not o then k.classes[#k.classes + 1] = C end
  return C
end

-- How an object of a class is declared here: spelled type, init and form of a node.
function scope:init(C, uniform)
  local k = self.k
  for _, construct in ipairs(C.constructs) do k:tag(construct) end
  local argument = argument_of(self, uniform)
  if C.empty and chance(60) then return "" end
  local init = C.init(argument, any(uniform and self.uniforms or self.targets))
  if init == "()" then return "{}" end
  if init:sub(1, 1) == "{" and chance(50) then return init, "=" end
  if C.converts and not C.copies and chance(25) then
    k:tag "converting constructor"
    return k:expression({}, uniform, 1), "="
  end
  return init
end

-- An object that was declared.
function scope:add_object(name, C)
  local object = { name = name, class = C, uniform = C.uniform }
  self.objects[#self.objects + 1] = object
  for _, value in ipairs(C.values) do
    self:see(function() return value.text(name, argument_of(self, C.uniform)) end, C.uniform, value.construct)
  end
end

-- A statement about an object: of a uniform one if `uniform`, else of a thread's.
function scope:object_statement(uniform)
  local fitting = {}
  for _, object in ipairs(self.objects) do
    if (object.uniform or false) == (uniform or false) then fitting[#fitting + 1] = object end
  end
  local object, target = any(fitting), any(uniform and self.uniforms or self.targets)
  if not (object and target) then return end
  local C = object.class
  local list = chance(60) and #C.writes > 0 and C.writes or #C.changes > 0 and chance(70) and C.changes
  local what = list and any(list)
  if what then
    self.k:tag(what.construct)
    return what.text(object.name, argument_of(self, uniform), target)
  end
  local value = any(C.values)
  self.k:tag(value.construct)
  local text = value.text(object.name, argument_of(self, uniform), target)
  if C.counts and chance(50) then
    self.k:tag "conversion"
    text = object.name
  end
  return ("%s %s %s;"):format(target, any { "=", "+=", "^=" }, text)
end

return scope
