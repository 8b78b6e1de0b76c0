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
local ENDS <const> = lists.set { "exit", "abort", "throw", "_exit", "terminate" }

-- ---- writing ------------------------------------------------------------------------------------

function script:emit(text)
  if self.frozen > 0 then return unread() end
  self.out[#self.out + 1] = { self.depth, text }
end

function script:helper(name)
  self.helpers[name] = true
  return name
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
local function times_changed(self, symbol)
  local is_global = self.globals.symbols[symbol.word] == symbol
  return changes_of(self, is_global and self.whole or self.owner)[symbol.word] or 0
end

--- Notes the value of a variable: what it is for good, if it is not changed but `times`, where it is declared.
---@param symbol table
---@param v table
---@param is_const any
---@param times integer
function script:initialize(symbol, v, is_const, times)
  local changed = times_changed(self, symbol)
  symbol.count = changed <= 1 and v.count or nil
  symbol.is_const = is_const and symbol.type.kind == "number"
  symbol.is_fixed = is_const or changed <= times
  if not symbol.is_fixed then return end
  symbol.lo, symbol.hi = v.lo, v.hi
  if v.elements and self:is_stable(v.elements.code) then symbol.elements, symbol.each = v.elements, v.each end
end

--- Are all names in a text of variables that do not change?
---@param code string
---@return boolean
function script:is_stable(code)
  for name in code:gmatch "%f[%a_][%a_][%w_]*" do
    local symbol = self:find(name)
    if not symbol or not symbol.is_fixed then return false end
  end
  return true
end

--- May a function of the program's end it?
---@param name string
---@return boolean
function script:may_end(name)
  local declared = self.functions[name]
  if not declared or declared.ends ~= nil then return declared and declared.ends or false end
  declared.ends = false
  for i = declared.first, declared.last do
    local word = self.tokens[i]
    declared.ends = declared.ends or ENDS[word] or self:may_end(word)
  end
  return declared.ends
end

--- Writes a value to a place.
---@param one table
---@param v table
function script:assign(one, v)
  local symbol = one.symbol
  if symbol then
    symbol.count = symbol.nesting == self.nesting and times_changed(self, symbol) <= 1 and v.count or nil
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
function script:member(e) return place.read(self, e) end
function script:sum(e) return place.sum(self, e) end

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
    if wanted and wanted.kind == "number" then v = expression.convert(self, v, wanted) end
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
  if cast and cast.kind == "number" then return expression.convert(self, expression.read(self, e.list[1]), cast) end
  if callee.kind ~= "name" then return unread() end
  if name == "dim3" then return expression.dims(self, e.list) end
  local own, known = self.functions[name], output[name] or calls[name]
  if own and not own.checks then return call_own(self, name, e) end
  if known and not own then return known(self, e.list, e) end
  return checked(self, e)
end

-- ---- functions ----------------------------------------------------------------------------------

local function formals_of(self, declared)
  local made = {}
  for i, formal in ipairs(declared.formals) do
    local last = formal.name or formal.last
    local is_array = formal.name and self.tokens[formal.name + 1] == "["
    local kind = formal.name and self:type_between(formal.first, last - 1)
    if is_array and kind and formal.last == formal.name + 2 + (self.tokens[formal.name + 2] ~= "]" and 1 or 0) then
      kind = types.pointer(kind)
    elseif is_array then
      kind = nil
    end
    local by_reference = self.tokens[last - 1] == "&"
    local is_const = self:text(formal.first, last):find "%f[%w]const%f[%W]"
    if by_reference and not is_const and kind and kind.kind ~= "vector" then kind = nil end
    if not by_reference and kind and (kind.kind == "vector" or kind.kind == "struct") then kind = nil end
    if not kind then return nil end
    made[i] = kind
  end
  return made
end

local function result_of(self, declared)
  local kind = self:type_between(declared.first, declared.name - 1)
  return kind and kind.kind ~= "struct" and kind or nil
end

-- Writes the statements of a function's body in a scope of its own.
local function write_body(self, declared, formals, names)
  self:open()
  for i, kind in ipairs(formals) do
    local name = self.tokens[declared.formals[i].name]
    local symbol = self:declare(name, kind)
    symbol.is_fixed, names[i] = times_changed(self, symbol) == 0, symbol.name
  end
  self:open()
  self.depth = self.depth - 1
  for _, one in ipairs(declared.body) do statement.read(self, one) end
end

local KEPT <const> = { "out", "scope", "depth", "nesting", "touched", "fn", "frozen", "label", "owner" }

-- A function of the program's as one of the script's, once; nil: it cannot be one.
function write_function(self, name)
  local declared = self.functions[name]
  if declared.written ~= nil then
    return (declared.is_done or declared.written == self.fn) and declared.written or nil -- itself, or one before it
  end
  local formals = #declared.all == 1 and not declared.is_template and declared.body and formals_of(self, declared)
  local result = formals and result_of(self, declared)
  declared.written = false
  if not result then return nil end
  local fn = { name = RESERVED[name] and name .. "_" or name, formals = formals, type = result, touches = {} }
  local kept = {}
  for _, field in ipairs(KEPT) do kept[field] = self[field] end
  self.out, self.scope, self.depth, self.fn, self.frozen = {}, self.globals, 0, fn, 0
  self.label, self.owner = nil, declared
  declared.written = fn
  local names = {}
  write_body(self, declared, formals, names)
  declared.is_done = true
  for i = declared.first, declared.last do
    local symbol = self.globals.symbols[self.tokens[i]]
    if symbol then fn.touches[symbol] = true end
  end
  statement.end_function(self.out)
  table.insert(self.written, { ("local function %s(%s)"):format(fn.name, table.concat(names, ", ")), self.out })
  for _, field in ipairs(KEPT) do self[field] = kept[field] end
  return fn
end

-- ---- all of it ----------------------------------------------------------------------------------

local function structure_of(self, declared)
  local fields = {}
  for _, one in ipairs(declared.body or {}) do
    if one.kind ~= "declare" then return nil end
    for _, member in ipairs(one.declared) do
      local kind = self:type_of(member)
      fields[#fields + 1] = { name = self.tokens[member.name], type = #member.sizes == 0 and kind or nil }
    end
  end
  return declared.body and { kind = "struct", fields = fields, bytes = types.size(fields) }
end

-- The types that a declaration names: struct P { ... }; typedef float real; using real = float;
local function name_types(self, declared)
  local first, last, tokens = declared.first, declared.last - 1, self.tokens
  local is_using, is_typedef = tokens[first] == "using", tokens[first] == "typedef"
  if declared.body then
    local made = structure_of(self, declared)
    if declared.name then self.named[tokens[declared.name]] = made end
    if is_typedef then self.named[tokens[last]] = made end
  elseif is_typedef then
    self.named[tokens[last]] = self:type_between(first + 1, last - 1)
  elseif is_using and tokens[first + 2] == "=" then
    self.named[tokens[first + 1]] = self:type_between(first + 3, last)
  end
end

-- Device variables by their names, and what their elements are.
local function name_symbols(self, declared)
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

local function add_function(self, declared)
  local name = self.tokens[declared.name]
  local known = self.functions[name]
  if known then
    table.insert(known.all, declared.body and declared or nil)
    if known.body or not declared.body then return end
  end
  declared.all = declared.body and { declared } or {}
  local first = declared.formals[1]
  declared.checks = first and first.name and self:type_between(first.first, first.name - 1) == types.status
  self.functions[name] = declared
end

local function read_declarations(self, declarations)
  for _, one in ipairs(declarations) do
    local is_both = one.kind == "device" and self:text(one.first, one.name):find "__host__"
    if one.kind == "class" then
      name_types(self, one)
    elseif one.kind == "symbols" then
      name_symbols(self, one)
    elseif one.kind == "kernel" then
      local known = self.kernels[self.tokens[one.name]]
      if not known or one.body then self.kernels[self.tokens[one.name]] = one end
    elseif one.kind == "function" or is_both then
      add_function(self, one)
    end
  end
end

-- Variables and constants outside of functions: their lines, by the names that each declares.
local function read_globals(self, declarations)
  for _, one in ipairs(declarations) do
    for _, s in ipairs(one.kind == "variables" and one.body or {}) do
      self.out = {}
      local counts = { self.translated, self.left }
      self.touched = {}
      statement.read(self, s)
      local names = lists.map(s.declared or {}, function(each) return self.tokens[each.name] end)
      table.insert(self.variables, { names = names, statement = s, lines = self.out,
                                     translated = self.translated - counts[1], left = self.left - counts[2] })
      self.translated, self.left = table.unpack(counts)
    end
  end
end

-- Which of these the script needs: those that main and its functions name, and those that they name.
local function needed_globals(self, declareds)
  local wanted, made = {}, {}
  local function want(first, last)
    for i = first, last do wanted[self.tokens[i]] = true end
  end
  for _, declared in ipairs(declareds) do want(declared.first, declared.last) end
  for i = #self.variables, 1, -1 do
    local one = self.variables[i]
    if lists.find(one.names, function(name) return wanted[name] end) then
      want(one.statement.first, one.statement.last)
      table.insert(made, 1, one)
    end
  end
  return made
end

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

local function indented(lines, depth)
  return lists.map(lines, function(line) return ("  "):rep(line[1] + depth) .. line[2] end)
end

-- All lines of the script.
local function assemble(self, order, main)
  local module = "local mod = " .. module_of(self, order)
  local text = { 'local mw = require "moonwarp"', "", "local dev = mw.device()", module, "" }
  for _, name in ipairs(lists.keys(self.helpers)) do text[#text + 1] = "local function " .. HELPERS[name] end
  if next(self.helpers) then text[#text + 1] = "" end
  for _, one in ipairs(self.needed) do lists.append(text, indented(one.lines, 0)) end
  if #self.needed > 0 then text[#text + 1] = "" end
  for _, fn in ipairs(self.written) do
    lists.append(lists.append(text, { fn[1] }), indented(fn[2], 0))
    lists.append(text, { "end", "" })
  end
  statement.end_function(main)
  return table.concat(lists.append(text, indented(main, 0)), "\n") .. "\n"
end

--- The script of a program's host part.
---@param order table   file, text, folder, includes, defines
---@return table made   text, translated, left: numbers of statements; or missing: "main" or "kernel"; or wrong: why
function script.make(order)
  local tree = core.program.tree(order)
  if tree.wrong then return { wrong = tree.wrong } end
  local self = setmetatable({
    file = order.file, tokens = tree.tokens, lines = tree.lines, source = {}, -- the program
    out = {}, depth = 0, nesting = 0, frozen = 0, touched = {}, forgotten = 0, -- what is being written
    translated = 0, left = 0,
    helpers = {}, templates = {}, written = {}, variables = {}, needed = {}, -- of the script
    named = {}, symbols = {}, kernels = {}, functions = {}, whole = { first = 1, last = #tree.tokens }, -- of the program
  }, script)
  for line in order.text:gmatch "([^\n]*)\n?" do table.insert(self.source, line) end
  self.globals = { symbols = {} }
  self.scope = self.globals
  self:declare("cout", types.cout).code, self:declare("cerr", types.cout).code = "io.stdout", "io.stderr"
  read_declarations(self, tree.declarations)
  read_globals(self, tree.declarations)
  local main = self.functions.main
  if not main or not main.body then return { missing = "main" } end
  if not next(self.kernels) then return { missing = "kernel" } end
  self.out, self.depth, self.owner = {}, -1, main
  self:open()
  local formals = main.formals
  if #formals >= 2 then
    local count, words = self.tokens[formals[1].name], self.tokens[formals[2].name]
    self:declare(count, types.i32).code = "#arg + 1"
    self.scope.symbols[count].level = 9
    self:declare(words, { kind = "list", of = types.string }).code = "arg"
  end
  self:open()
  self.depth = 0
  for _, s in ipairs(main.body) do statement.read(self, s) end
  local declareds = { main }
  for _, one in pairs(self.functions) do if one.is_done then table.insert(declareds, one) end end
  self.needed = needed_globals(self, declareds)
  for _, one in ipairs(self.needed) do
    self.translated, self.left = self.translated + one.translated, self.left + one.left
  end
  return { text = assemble(self, order, self.out), translated = self.translated, left = self.left }
end

return script
