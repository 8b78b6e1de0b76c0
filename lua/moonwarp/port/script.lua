-- SPDX-License-Identifier: MIT
--
-- A script of the host part of a CUDA program: main, the functions that it calls, the variables and constants that
-- these use (core/bind/host_tree.c reads them). Functions of Lua that it needs stand before it.

local calls = require "moonwarp.port.calls"
local core = require "moonwarp.core"
local expression = require "moonwarp.port.expression"
local lists = require "moonwarp.base.lists"
local output = require "moonwarp.port.output"
local place = require "moonwarp.port.place"
local statement = require "moonwarp.port.statement"
local types = require "moonwarp.port.types"

local unread, value = expression.unread, expression.value

local script = { array = calls.array }
script.__index = script

local HELPERS <const> = {
  f32 = 'f32(x) return (string.unpack("f", string.pack("f", x))) end -- rounded as a float is',
  int = "int(x) return x < 0 and math.ceil(x) or math.floor(x) end -- a float or double as an integer",
  i32 = "i32(x) return (x + 0x80000000 & 0xffffffff) - 0x80000000 end -- of 64 bits, as an int",
  natural = 'natural(x) return x >= 0 and x or error("an unsigned number below zero", 2) end',
  quotient = "quotient(a, b) return (a - math.fmod(a, b)) // b end -- as C divides, towards zero",
  rand = "rand() return math.random(0, 2147483647) end -- other numbers than C's",
  atoi = 'atoi(text) return math.tointeger(tonumber(text:match "^%s*[+-]?%d+")) or 0 end',
  timeval = "timeval() return { tv_sec = mw.clock() // 1 | 0, tv_usec = mw.clock() % 1 * 1e6 // 1 | 0 } end",
  atof = 'atof(text) return (tonumber(text:match "^%s*[%d.eE+-]+") or 0) + 0.0 end',
}

-- Names that a script has of its own, and Lua's.
local RESERVED <const> = lists.set(lists.append(lists.keys(HELPERS), { "and", "elseif", "end", "function", "in",
  "local", "nil", "not", "or", "repeat", "then", "until", "mw", "dev", "mod", "arg", "math", "string", "io", "os",
  "error", "assert", "tonumber" }))

local METHODS <const> = lists.set { "kernel", "kernels", "variable", "get", "set", "log", "ptx", "sass", "cpp",
  "options", "device", "from_cache", "close" }

local ASSIGNS <const> = lists.set { "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--" }

-- ---- writing ------------------------------------------------------------------------------------

function script:emit(text)
  if self.frozen > 0 then return unread() end
  self.out[#self.out + 1] = { self.depth, text }
end

function script:open()
  self.scope, self.depth = { symbols = {}, up = self.scope }, self.depth + 1
end

function script:close() self.scope, self.depth = self.scope.up, self.depth - 1 end

function script:line(token) return self.lines[token] or 0 end

function script:text(first, last) return table.concat(self.tokens, " ", first, last) end

-- The program's own lines of some tokens; of some that do not fill them, or come from elsewhere, the tokens.
function script:source_of(first, last)
  local from, to = self:line(first), self:line(last)
  local whole = from > 0 and self.lines[first - 1] ~= from and self.lines[last + 1] ~= to
  if not whole then return { ("%s:%d: %s"):format(self.file, from, self:text(first, last)) } end
  local made = {}
  for i = from, to do made[#made + 1] = (self.source[i] or ""):gsub("%s+$", "") end
  made[1] = ("%s:%d: %s"):format(self.file, from, (made[1] or ""):gsub("^%s+", ""))
  return made
end

-- Puts before the lines from `mark` on the comment that the program has there, and an empty line where it has one.
function script:remark(mark, first)
  local at = self:line(first)
  if self.lines[first - 1] == at then return end
  while at > 1 and self.source[at - 1]:find "^%s*//" do
    at = at - 1
    local text = "--" .. self.source[at]:match "^%s*//(.-)%s*$"
    table.insert(self.out, mark + 1, { self.depth, text, is_remark = true })
  end
  if mark > 0 and at > 1 and self.source[at - 1]:find "^%s*$" then
    table.insert(self.out, mark + 1, { 0, "", is_remark = true })
  end
end

-- ---- names --------------------------------------------------------------------------------------

function script:find(name)
  local scope = self.scope
  while scope do
    if scope.symbols[name] then return scope.symbols[name] end
    scope = scope.up
  end
end

function script:declare(name, kind)
  local symbol = { name = RESERVED[name] and name .. "_" or name, word = name, type = kind, nesting = self.nesting }
  local owner = self.owner or self.whole
  owner.declared = owner.declared or {}
  symbol.is_again, owner.declared[name] = owner.declared[name] or self:find(name) ~= nil, true
  self.scope.symbols[name] = symbol
  return symbol
end

-- A variable that is written without a look at what it was.
function script:renewed(symbol)
  self.touched[symbol] = nil
  if symbol.unknown and symbol.unknown.scope == self.scope then symbol.unknown = nil end
end

-- How often tokens change each name, as far as one sees it there. Kept with what they are of.
local function changes_of(self, span)
  if span.changes then return span.changes end
  local tokens, made = self.tokens, {}
  span.changes = made
  for i = span.first, span.last do
    local word, before, after = tokens[i], tokens[i - 1], tokens[i + 1]
    local is_input = before == ">" and tokens[i - 2] == ">" -- std::cin >> n
    local is_swapped = before == "(" and tokens[i - 2] == "swap" or before == "," and tokens[i - 4] == "swap"
    local is_changed = ASSIGNS[after] or after == "." and ASSIGNS[tokens[i + 3]] or before == "++" or before == "--"
      or before == "&" or is_input or is_swapped
    if is_changed and before ~= "." and before ~= "->" then made[word] = (made[word] or 0) + 1 end
    if self.functions[word] then made["()"] = 1 end
  end
  return made
end

--- May a part of the program change a variable?
---@param span table   with first and last
---@param name string
---@return boolean
function script:changes(span, name)
  local made, global = changes_of(self, span), self.globals.symbols[name]
  return made[name] ~= nil or made["()"] ~= nil and global ~= nil and not global.is_const
end

-- How often a variable is changed where it can be.
function script:times_changed(symbol)
  local is_global = self.globals.symbols[symbol.word] == symbol
  return changes_of(self, is_global and self.whole or self.owner)[symbol.word] or 0
end

--- Notes the value of a variable: what it is for good, if it is not changed but `times`, where it is declared.
---@param symbol table
---@param v table
---@param is_const any
---@param times integer
function script:initialize(symbol, v, is_const, times)
  local changed = self:times_changed(symbol)
  symbol.count = changed <= 1 and v.count or nil
  symbol.is_const = is_const and symbol.type.kind == "number"
  symbol.is_fixed = is_const or changed <= times
  if not symbol.is_fixed then return end
  symbol.lo, symbol.hi = v.lo, v.hi
  symbol.elements, symbol.each = v.elements, v.each
end

--- Are all names in a text of variables that do not change, and whose names no other has?
---@param code string
---@return boolean
function script:is_stable(code)
  for name in code:gmatch "%f[%a_][%a_][%w_]*" do
    local symbol = self:find(name)
    if not symbol or not symbol.is_fixed or symbol.is_again then return false end
  end
  return true
end

--- Writes a value to a place.
---@param one table
---@param v table
function script:assign(one, v)
  local symbol = one.symbol
  if symbol then
    symbol.count = symbol.nesting == self.nesting and self:times_changed(symbol) <= 1 and v.count or nil
  end
  self:emit(one.set(one.rounds and v.raw or v.code))
end

-- ---- types --------------------------------------------------------------------------------------

--- The type that tokens give; plain: of a cast, with brackets and the words of C++ around it.
---@return table?
function script:type_between(first, last, plain, signs, signs_last)
  local words = {}
  for i = first, last do
    local word = self.tokens[i]
    local passed = plain and (word == "(" or word == ")" or word:find "_cast$" or word == "sizeof"
      or word == "<" and self.tokens[i - 1]:find "_cast$" or word == ">" and self.tokens[i + 1] == "(")
    if not passed then words[#words + 1] = word end
  end
  for i = signs or 1, signs_last or 0 do words[#words + 1] = self.tokens[i] end
  return types.read(words, self.named)
end

--- The type of a variable that is declared.
---@param one table
---@return table?
function script:type_of(one) return self:type_between(one.first, one.last, false, one.signs, one.name - 1) end

-- ---- expressions that need more than their operands ---------------------------------------------

function script:element(e) return place.read(self, e) end

local function kernel_of(self, callee)
  local name = self.tokens[callee.op]
  local kernel = callee.kind == "name" and self.kernels[name] or unread()
  if callee.op == callee.last then
    if kernel.is_template then return unread() end
    return callee.first == callee.op and not METHODS[name] and not RESERVED[name] and "mod." .. name
      or ('mod:kernel "%s"'):format(self:text(callee.first, callee.last):gsub(" ", "")), kernel
  end
  local words = {}
  for i = callee.first, callee.last do
    local symbol = i > callee.op and self:find(self.tokens[i]) or {}
    words[#words + 1] = symbol.lo and symbol.lo == symbol.hi and ("%d"):format(symbol.lo) or self.tokens[i]
  end
  local instance = table.concat(words, " "):gsub(" ?([<>,:]) ?", "%1"):gsub(",", ", ")
  if not lists.has(self.templates, instance) then table.insert(self.templates, instance) end
  return ('mod:kernel "%s"'):format(instance), kernel
end

local function dims_of(self, e)
  local v = expression.read(self, e)
  return v.type == types.dim3 and v.code or expression.count(self, e)
end

local function launch(self, e)
  local kernel, declared = kernel_of(self, e.a.a)
  local list, args = e.a.list, {}
  for i, one in ipairs(e.list) do
    local formal = declared.formals[i] or unread()
    local wanted = not declared.is_template and formal.name and self:type_between(formal.first, formal.name - 1)
    local v = expression.read(self, one)
    if wanted and wanted.kind == "number" then v = expression.convert(v, wanted) end
    args[i] = v.code == "nil" and "mw.null" or v.code or unread()
  end
  local grid, block = dims_of(self, list[1]), dims_of(self, list[2] or unread())
  local words = { "grid = " .. grid, "block = " .. block }
  local shared = list[3] and expression.as(self, list[3], types.u64).code or "0"
  local stream = list[4] and expression.as(self, list[4], types.stream).code or "dev:default_stream()"
  if shared ~= "0" then words[#words + 1] = "shared = " .. shared end
  if stream ~= "dev:default_stream()" then words[#words + 1] = "stream = " .. stream end
  local given = table.concat(args, ", ")
  self:emit(#words > 2 and ("%s:prepare { %s }(%s)"):format(kernel, table.concat(words, ", "), given)
    or ("%s:launch(%s)"):format(kernel, table.concat({ grid, block, table.unpack(args) }, ", ")))
end

local write_function

local function call_own(self, name, e)
  local fn = write_function(self, name)
  if not fn or #fn.formals ~= #e.list then return unread() end
  local args = {}
  for i, one in ipairs(e.list) do args[i] = statement.own(expression.as(self, one, fn.formals[i])).code end
  for symbol in pairs(fn.touches) do self.touched[symbol] = true end
  local made = value(("%s(%s)"):format(fn.name, table.concat(args, ", ")), fn.type)
  made.is_call = true
  if fn.type == types.status then
    self:emit(made.code)
    return { type = types.status }
  end
  return made
end

-- check(cudaMalloc(...), __FILE__, __LINE__): moonwarp raises an error where the call fails.
local function checked(self, e)
  for i = 2, #e.list do
    if e.list[i].kind ~= "number" and e.list[i].kind ~= "string" and e.list[i].kind ~= "name" then return unread() end
  end
  local v = e.list[1] and expression.read(self, e.list[1])
  return v and v.type == types.status and v or unread()
end

--- A call: its value; nil of one that has none.
function script:call(e)
  local callee = e.a
  if callee.kind == "launch" then return launch(self, e) end
  if callee.kind == "member" and #e.list == 0 then
    return calls.member(expression.read(self, callee.a), self.tokens[callee.op])
  end
  local name = self.tokens[callee.op]
  local cast = #e.list == 1 and self:type_between(callee.first, callee.last, true)
  if cast and cast.kind == "number" then return expression.convert(expression.read(self, e.list[1]), cast) end
  if callee.kind ~= "name" then return unread() end
  if name == "dim3" then return expression.dims(self, e.list) end
  local own, known = self.functions[name], output[name] or calls[name]
  if own and not own.checks then return call_own(self, name, e) end
  if known and not own then return known(self, e.list, e) end
  return checked(self, e)
end

-- ---- functions ----------------------------------------------------------------------------------

-- The type of what a function is given; nil: a script's has nothing for it, such as what is written back.
local function formal_type(self, formal)
  local last = formal.name or formal.last
  local kind = formal.name and self:type_between(formal.first, last - 1)
  local by_reference, dims = self.tokens[last - 1] == "&", formal.last - last
  if not kind or dims > 3 or dims == 3 and self.tokens[last + 2] == "]" then return nil end
  if dims > 0 then return types.pointer(kind) end
  local is_const = self:text(formal.first, last):find "%f[%w]const%f[%W]"
  local fits = kind.kind == "vector" and by_reference or kind.kind ~= "vector" and kind.kind ~= "struct"
    and not by_reference or by_reference and is_const
  return fits and kind or nil
end

local KEPT <const> = { "out", "scope", "depth", "nesting", "touched", "fn", "frozen", "label", "owner" }

-- Writes a function's statements; names: what it is given is called.
local function write_body(self, declared, formals, fn)
  local kept, names = {}, {}
  for _, field in ipairs(KEPT) do kept[field] = self[field] end
  self.out, self.scope, self.depth, self.frozen, self.label = {}, self.globals, -1, 0, nil
  self.fn, self.owner = fn, declared
  self:open()
  for i, kind in ipairs(formals) do
    local symbol = self:declare(self.tokens[declared.formals[i].name], kind)
    symbol.is_fixed, names[i] = self:times_changed(symbol) == 0, symbol.name
    if not fn then symbol.code, symbol.level = i == 1 and "#arg + 1" or "arg", i == 1 and 9 or nil end
  end
  self:open()
  self.depth = fn and 1 or 0
  for _, one in ipairs(declared.body) do statement.read(self, one) end
  local out = statement.end_function(self.out)
  for _, field in ipairs(KEPT) do self[field] = kept[field] end
  return out, table.concat(names, ", ")
end

-- A function of the program's as one of the script's, once; nil: it cannot be one.
function write_function(self, name)
  local declared = self.functions[name]
  if declared.written ~= nil then -- itself, or one before it
    return (declared.is_done or declared.written == self.fn) and declared.written or nil
  end
  declared.written = false
  local fn = { name = RESERVED[name] and name .. "_" or name, formals = {}, touches = {},
               type = self:type_between(declared.first, declared.name - 1) }
  if declared.bodies ~= 1 or declared.is_template or not fn.type or fn.type.kind == "struct" then return nil end
  for i, formal in ipairs(declared.formals) do fn.formals[i] = formal_type(self, formal) end
  if #fn.formals ~= #declared.formals then return nil end
  declared.written = fn
  local out, names = write_body(self, declared, fn.formals, fn)
  declared.is_done = true
  for i = declared.first, declared.last do
    local symbol = self.globals.symbols[self.tokens[i]]
    if symbol then fn.touches[symbol] = true end
  end
  local lines = lists.append({ { 0, ("local function %s(%s)"):format(fn.name, names) } }, out)
  table.insert(self.written, { names = { fn.name }, lines = lists.append(lines, { { 0, "end" }, { 0, "" } }) })
  return fn
end

-- ---- declarations -------------------------------------------------------------------------------

local function structure_of(self, declared)
  local fields = {}
  for _, one in ipairs(declared.body) do
    if one.kind ~= "declare" then return nil end
    for _, member in ipairs(one.declared) do
      local kind = self:type_of(member)
      fields[#fields + 1] = { name = self.tokens[member.name], type = #member.sizes == 0 and kind or nil }
    end
  end
  return { kind = "struct", fields = fields }
end

local by = {}

-- struct P { ... }; typedef float real; using real = float;
function by.class(self, declared)
  local first, last, tokens, named = declared.first, declared.last - 1, self.tokens, self.named
  local made = declared.body and structure_of(self, declared)
  if made and declared.name then named[tokens[declared.name]] = made end
  if tokens[first] == "typedef" then
    named[tokens[last]] = made or not declared.body and self:type_between(first + 1, last - 1) or nil
  elseif tokens[first] == "using" and tokens[first + 2] == "=" then
    named[tokens[first + 1]] = self:type_between(first + 3, last)
  end
end

-- Variables of the device, and what their elements are.
function by.symbols(self, declared)
  for _, s in ipairs(declared.body) do
    for _, one in ipairs(s.declared or {}) do
      local words = lists.filter({ table.unpack(self.tokens, one.first, one.last) }, function(word)
        return not word:find "^__"
      end)
      local name, of = self.tokens[one.name], types.read(words, self.named)
      self.symbols[name] = of and { name = name, type = of }
    end
  end
end

function by.kernel(self, declared)
  local name = self.tokens[declared.name]
  if declared.body or not self.kernels[name] then self.kernels[name] = declared end
end

by["function"] = function(self, declared)
  local name, first = self.tokens[declared.name], declared.formals[1]
  local known = self.functions[name]
  declared.bodies = (known and known.bodies or 0) + (declared.body and 1 or 0)
  if known and not declared.body then return end
  declared.checks = first and first.name and self:type_between(first.first, first.name - 1) == types.status
  self.functions[name] = declared
end

function by.device(self, declared)
  if self:text(declared.first, declared.name):find "__host__" then by["function"](self, declared) end
end

function by.variables(self, declared) lists.append(self.variables, declared.body) end

-- ---- all of it ----------------------------------------------------------------------------------

local function module_of(self, order)
  local function quoted(list)
    return table.concat(lists.map(list, function(word) return ("%q"):format(word) end), ", ")
  end
  local words = { ("file = %q"):format(self.file) }
  for _, field in ipairs { "includes", "defines" } do
    if order[field] then words[#words + 1] = ("%s = { %s }"):format(field, quoted(order[field])) end
  end
  if #self.templates > 0 then words[#words + 1] = ("templates = { %s }"):format(quoted(self.templates)) end
  return #words == 1 and ("dev:module(%q)"):format(self.file) or ("dev:module { %s }"):format(table.concat(words, ", "))
end

-- Puts before lines those that they need: of the last of some parts first, which may need others itself.
local function with_needed(lines, parts)
  local words = {}
  local function note(list)
    for _, line in ipairs(list) do
      for word, call in (line.is_remark and "" or line[2]):gmatch "([%a_][%w_]*)(%(?)" do
        words[word], words[word .. call] = true, true
      end
    end
  end
  note(lines)
  for i = #parts, 1, -1 do
    if lists.find(parts[i].names, function(name) return words[name] end) then
      note(parts[i].lines)
      lines = lists.append(lists.append({}, parts[i].lines), lines)
    elseif parts[i].names[1] == nil and #lines > 0 and lines[1][2] ~= "" then
      table.insert(lines, 1, { 0, "" })
    end
  end
  return lines
end

-- local a; a = 1: as one line, where the second is the first that names it.
local function joined(lines)
  local bare, made = {}, {}
  for _, line in ipairs(lines) do
    local depth, text = line[1], line[2]
    local first = text:match "^([%a_][%w_]*) = "
    for name, one in pairs(bare) do if depth < one[1] and text ~= "" then bare[name] = nil end end
    for word in (line.is_remark and "" or text):gmatch "[%a_][%w_]*" do
      local one = bare[word]
      bare[word] = nil
      if one and word == first and one[1] == depth and not text:find("[^%w_]" .. word .. "%f[^%w_]") then
        one[2] = (one[2] .. ","):gsub(" " .. word .. ",", "", 1):gsub(",$", "")
        line[2] = "local " .. text
      end
    end
    for name in (text:match "^local ([%w_, ]+)$" or ""):gmatch "[%w_]+" do bare[name] = line end
  end
  for _, line in ipairs(lines) do
    while line[2] == "local" and #made > 0 and made[#made].is_remark do made[#made] = nil end
    if line[2] ~= "local" then made[#made + 1] = line end
  end
  while #made > 0 and made[#made][2] == "" do made[#made] = nil end
  return made
end

-- Variables and constants outside of functions, and functions of Lua: parts of a script that it may need.
local function read_parts(self)
  local parts = {}
  for _, name in ipairs(lists.keys(HELPERS)) do
    parts[#parts + 1] = { names = { name .. "(" }, lines = { { 0, "local function " .. HELPERS[name] } } }
  end
  parts[#parts + 1] = { names = {} }
  for _, s in ipairs(self.variables) do
    self.out = {}
    statement.read(self, s)
    local names = lists.map(s.declared or {}, function(one) return self.tokens[one.name] end)
    if #names > 0 then parts[#parts + 1] = { names = names, lines = self.out } end
  end
  parts[#parts + 1] = { names = {} }
  return parts
end

--- The script of a program's host part.
---@param order table   file, text, folder, includes, defines
---@return table made   text, translated, left: numbers of statements; or missing: "main" or "kernel"; or wrong: why
function script.make(order)
  local tree = core.program.tree(order)
  if tree.wrong then return { wrong = tree.wrong } end
  local self = setmetatable({
    file = order.file, tokens = tree.tokens, lines = tree.lines, source = {}, -- the program
    out = {}, depth = 0, nesting = 0, frozen = 0, touched = {}, -- what is being written
    templates = {}, written = {}, -- of the script
    named = {}, symbols = {}, kernels = {}, functions = {}, variables = {}, -- of the program
    globals = { symbols = {} }, whole = { first = 1, last = #tree.tokens },
  }, script)
  for line in order.text:gmatch "([^\n]*)\n?" do table.insert(self.source, line) end
  self.scope = self.globals
  self:declare("cout", types.cout).code, self:declare("cerr", types.cout).code = "io.stdout", "io.stderr"
  for _, one in ipairs(tree.declarations) do by[one.kind](self, one) end
  local main = self.functions.main
  if not main or not main.body then return { missing = "main" } end
  if not next(self.kernels) then return { missing = "kernel" } end
  local parts, kinds = read_parts(self), {}
  if #main.formals >= 2 then kinds = { types.i32, { kind = "list", of = types.string } } end
  local lines = write_body(self, main, kinds)
  lines = with_needed(lines, lists.append(parts, self.written))
  local text, made = { 'local mw = require "moonwarp"', "", "local dev = mw.device()",
                       "local mod = " .. module_of(self, order), "" }, { translated = 0, left = 0 }
  for _, line in ipairs(joined(lines)) do
    text[#text + 1] = line[2] ~= "" and ("  "):rep(line[1]) .. line[2] or ""
    made.translated, made.left = made.translated + (line.done or 0), made.left + (line.left or 0)
  end
  made.text = table.concat(text, "\n") .. "\n"
  return made
end

return script
