-- SPDX-License-Identifier: MIT
--
-- What a program says of its variables before any of it is translated: who assigns what to them, between which numbers
-- they then lie, which memory may be the same, what may end the program. Methods of a translator (script.lua).

local calls = require "moonwarp.port.calls"
local expression = require "moonwarp.port.expression"
local lists = require "moonwarp.base.lists"
local output = require "moonwarp.port.output"

local facts = {}

local ASSIGNS <const> = lists.set { "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--" }
local ENDS <const> = lists.set { "exit", "abort", "throw", "_exit", "terminate" }

-- ---- noting -------------------------------------------------------------------------------------

-- Names that stand in one expression with another, which may be the same memory.
local function note_beside(self, name, e)
  self.beside[name] = self.beside[name] or {}
  for i = e.first, e.last do
    local other = self.tokens[i]
    if other ~= name and other:find "^[%a_]" then
      self.beside[name][other] = true
      self.beside[other] = self.beside[other] or {}
      self.beside[other][name] = true
    end
  end
end

-- An assignment to a name: e = an expression, grows = one of 0 or more is added, or not known.
local function add(self, owner, name, what)
  what.owner = owner
  for _, all in ipairs { owner.assigned, self.everywhere } do
    all[name] = all[name] or {}
    table.insert(all[name], what)
  end
  if what.e then note_beside(self, name, what.e) end
end

-- A call that changes no variable that it is given by its name.
local function is_known(name) return name ~= "swap" and (calls[name] or output[name] or name:find "^cuda") end

-- Is an argument of a function of the program's a copy of what is given?
local function is_by_value(self, callee, i)
  local declared = callee.kind == "name" and self.functions[self.tokens[callee.op]]
  local formal = declared and #declared.all == 1 and declared.formals[i]
  return formal and formal.name and self.tokens[formal.name - 1] ~= "&" or false
end

local function first_name(self, e)
  while e.a do e = e.a end
  return self.tokens[e.op]
end

local function note_changes(self, owner, e)
  local op = self.tokens[e.op]
  local to = e.a and e.a.kind == "name" and self.tokens[e.a.op]
  if to and e.kind == "assign" then
    add(self, owner, to, op == "=" and { e = e.b } or { grows = op == "+=" and e.b })
  elseif e.kind == "assign" then -- s.p = q; d[i] = q;
    add(self, owner, first_name(self, e), {})
    note_beside(self, first_name(self, e), e)
  elseif to and op == "++" then
    add(self, owner, to, { grows = true })
  elseif to and (op == "--" or e.kind == "unary" and op == "&") then
    add(self, owner, to, {})
  elseif e.kind == "unknown" or e.kind == "lambda" then
    for i = e.first, e.last do add(self, owner, self.tokens[i], {}) end
  elseif e.kind == "binary" and op == ">" and e.b.kind == "name" then -- std::cin >> n
    add(self, owner, self.tokens[e.b.op], {})
  elseif e.kind == "call" and not (e.a.kind == "launch" or e.a.kind == "name" and is_known(self.tokens[e.a.op])) then
    for i, one in ipairs(e.list) do
      if one.kind == "name" and not is_by_value(self, e.a, i) then add(self, owner, self.tokens[one.op], {}) end
    end
    if self.tokens[e.a.op] == "swap" then note_beside(self, self.tokens[e.list[1].op], e) end
  end
end

local function note_expression(self, owner, e)
  note_changes(self, owner, e)
  for _, one in ipairs { e.a or false, e.b or false, e.c or false } do
    if one then note_expression(self, owner, one) end
  end
  for _, one in ipairs(e.list or {}) do note_expression(self, owner, one) end
end

local function note_declared(self, owner, one)
  local name = self.tokens[one.name]
  owner.own[name] = true
  owner.assigned[name] = owner.assigned[name] or {}
  self.everywhere[name] = self.everywhere[name] or {}
  if self.tokens[one.signs] == "&" then add(self, owner, name, {}) end
  if not one.init then return end
  add(self, owner, name, { e = one.init })
  note_expression(self, owner, one.init)
end

local function note_statement(self, owner, s)
  if s.kind == "unknown" or s.kind == "try" then
    note_changes(self, owner, { kind = "unknown", first = s.first, last = s.last, op = s.first })
  end
  for _, one in ipairs(s.declared or {}) do note_declared(self, owner, one) end
  for _, e in ipairs { s.test or false, s.step or false } do
    if e then note_expression(self, owner, e) end
  end
  for _, list in ipairs { s.body or {}, s.head or {}, { s.child }, { s.otherwise } } do
    for _, one in ipairs(list) do note_statement(self, owner, one) end
  end
end

--- Notes what a declaration says: of variables, or a function.
---@param declared table
function facts:note(declared)
  declared.assigned, declared.own = {}, {}
  for _, formal in ipairs(declared.formals or {}) do
    local name = formal.name and self.tokens[formal.name]
    if name then
      declared.own[name] = true
      add(self, declared, name, {})
    end
  end
  for _, s in ipairs(declared.body) do note_statement(self, declared, s) end
  if declared.kind == "variables" then declared.own = {} end -- everyone's
end

-- ---- asking -------------------------------------------------------------------------------------

-- All that is assigned to a name, as a function sees it.
local function assigned(self, owner, name)
  return owner and owner.own[name] and owner.assigned[name] or self.everywhere[name] or {}
end

--- All that is assigned to a variable of the function that is translated.
---@param name string
---@return table[]
function facts:assignments(name) return assigned(self, self.owner, name) end

local range_of_list

local function range_of(self, owner, e)
  if e.kind == "brackets" then return range_of(self, owner, e.a) end
  if e.kind == "name" then return range_of_list(self, assigned(self, owner, self.tokens[e.op])) end
  if e.kind == "number" then
    local number, kind = expression.literal(self.tokens[e.op])
    if number and kind.is_integer then return number + 0.0, number + 0.0 end
  elseif e.kind == "sizeof" then
    return 1.0, 65536.0
  elseif e.kind == "binary" then
    local a, b = {}, {}
    a.lo, a.hi = range_of(self, owner, e.a)
    b.lo, b.hi = range_of(self, owner, e.b)
    if a.lo and b.lo then return expression.bounds(self.tokens[e.op], a, b) end
  elseif e.kind == "cast" and (e.a or #e.list == 1) then
    return range_of(self, owner, e.a or e.list[1])
  elseif e.kind == "call" and e.a.kind == "member" and self.tokens[e.a.op] == "size" then
    return 0.0, 2.0 ^ 53
  end
end

function range_of_list(self, list)
  local known = self.ranges[list]
  if #list == 0 or known == false then return nil end
  if known then return known[1], known[2] end
  self.ranges[list] = false
  local lo, hi = math.huge, -math.huge
  for _, one in ipairs(list) do
    local from, to = nil, math.huge
    if one.e then
      from, to = range_of(self, one.owner, one.e)
    elseif one.grows then
      from = one.grows == true and 0 or range_of(self, one.owner, one.grows)
      if not from or from < 0 then return nil end
      from = lo
    end
    if not from then return nil end
    lo, hi = math.min(lo, from), math.max(hi, to)
  end
  self.ranges[list] = { lo, hi }
  return lo, hi
end

--- Between which numbers a variable's always lies; nil: that is not known.
---@param name string?
---@return number?
---@return number?
function facts:range(name)
  if not name then return nil end
  return range_of_list(self, self:assignments(name))
end

--- May a statement change a variable?
---@param s table
---@param name string
---@return boolean
function facts:changes(s, name)
  local is_global = self.globals.symbols[name] and not self.globals.symbols[name].is_const
  for i = s.first, s.last do
    local word, before = self.tokens[i], self.tokens[i - 1]
    if word == name and before ~= "." and before ~= "->" then
      if ASSIGNS[self.tokens[i + 1]] or before == "++" or before == "--" or before == "&" then return true end
      local member = self.tokens[i + 1] == "." and ASSIGNS[self.tokens[i + 3]]
      if member then return true end
    elseif is_global and self.functions[word] then
      return true
    end
  end
  return false
end

--- Are the names in a text of variables that are assigned to once?
---@param code string
---@return boolean
function facts:is_stable(code)
  for name in code:gmatch "%f[%a_][%a_][%w_]*" do
    if #self:assignments(name) > 1 then return false end
  end
  return true
end

--- May a function of the program's end it?
---@param name string
---@return boolean
function facts:may_end(name)
  local declared = self.functions[name]
  if not declared or declared.ends ~= nil then return declared and declared.ends or false end
  declared.ends = false
  for i = declared.first, declared.last do
    local word = self.tokens[i]
    declared.ends = declared.ends or ENDS[word] or self:may_end(word)
  end
  return declared.ends
end

-- ---- what is not known any more -----------------------------------------------------------------

local function is_memory(symbol)
  local kind = symbol and symbol.type and symbol.type.kind
  return kind == "pointer" or kind == "list" or kind == "struct" or symbol and not symbol.type
end

--- A variable is not known from a line on, nor are those whose memory may be the same.
---@param name string
---@param line integer
function facts:taint(name, line)
  local symbol = self:find(name)
  if not symbol or symbol.is_const then return end
  self.tainted[name] = line
  for other in pairs(is_memory(symbol) and self.beside[name] or {}) do
    if self.tainted[other] ~= line and is_memory(self:find(other)) then self:taint(other, line) end
  end
end

return facts
