-- SPDX-License-Identifier: MIT
--
-- The form of stored objects as data, and whether one has it: what reads files that were cut short,
-- edited or made by another program can then rely on it. A rule is the name of a type ("number",
-- "string?" where it may be absent, "integer", "any") or made by form.list, map or fields. Keys
-- that are not named are let through.
-- Depends on nothing.

local form = {}

--- A list whose elements have this form.
---@param of any  a rule
---@return table rule
function form.list(of) return { list = of } end

--- An object whose values all have this form.
---@param of any
---@return table rule
function form.map(of) return { map = of } end

--- An object with these keys, each with a form of its own.
---@param of table<string, any>
---@return table rule
function form.fields(of) return { fields = of } end

--- The same rule, of what may be absent.
---@param rule table
---@return table rule
function form.optional(rule)
  local copy = { optional = true }
  for key, value in pairs(rule) do copy[key] = value end
  return copy
end

local WORDS = { table = "list or object", integer = "whole number" }

local check

local function check_list(value, rule, where, least)
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  if count ~= #value then return where .. " must be a list" end
  if count < (least or 0) then return ("%s must have an element at least"):format(where) end
  for i, one in ipairs(value) do
    local problem = check(one, rule, ("%s[%d]"):format(where, i))
    if problem then return problem end
  end
end

local function check_fields(value, rules, where)
  for name, rule in pairs(rules) do
    local problem = check(value[name], rule, where == "" and name or ("%s.%s"):format(where, name))
    if problem then return problem end
  end
end

local function check_map(value, rule, where)
  for name, one in pairs(value) do
    if type(name) ~= "string" then return where .. " must be an object, not a list" end
    local problem = check(one, rule, ("%s.%s"):format(where, name))
    if problem then return problem end
  end
end

local function check_type(value, wanted, where)
  local kind = wanted == "integer" and math.type(value) or type(value)
  if kind == wanted then return nil end
  local shown = kind == "float" and ("%.14g"):format(value) or type(value)
  return ("%s must be a %s, got %s"):format(where == "" and "it" or where, WORDS[wanted] or wanted, shown)
end

function check(value, rule, where)
  local optional = type(rule) == "table" and rule.optional or type(rule) == "string" and rule:sub(-1) == "?"
  if value == nil and optional or rule == "any" then return nil end
  local wanted = type(rule) == "table" and "table" or rule:match("^%a+")
  local problem = check_type(value, wanted, where)
  if problem or wanted ~= "table" then return problem end
  if rule.list then return check_list(value, rule.list, where, rule.least) end
  return rule.map and check_map(value, rule.map, where) or rule.fields and check_fields(value, rule.fields, where)
end

--- What of an object has not the form; nil where all has.
---@param value any
---@param rule any
---@param where string?   the object's own place, before those in it; else none
---@return string? problem  "charts[1].title must be a string, got number"
function form.problem(value, rule, where)
  return check(value, rule, where or "")
end

return form
