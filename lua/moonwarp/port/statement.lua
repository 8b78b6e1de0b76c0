-- SPDX-License-Identifier: MIT
--
-- Statements of C as Lua's. What cannot be read becomes a comment with its lines, and what it may change is not known
-- from there on: a later statement that uses it is preceded by an error that says so.

local calls = require "moonwarp.port.calls"
local expression = require "moonwarp.port.expression"
local lists = require "moonwarp.base.lists"
local output = require "moonwarp.port.output"
local place = require "moonwarp.port.place"
local types = require "moonwarp.port.types"

local statement = {}

local unread, value = expression.unread, expression.value
local JUMPS <const> = lists.set { "return", "break", "continue", "goto", "exit", "abort", "throw", "assert" }
local PRINTS <const> = lists.set { "cout", "cerr", "printf", "fprintf", "puts" }

-- ---- what is left -------------------------------------------------------------------------------

-- An error of the script's, at a line of the program.
local function stop(it, line, text) return ("error(%q, 0)"):format(("%s:%d: %s"):format(it.file, line, text)) end

-- Does it print, and no more?
local function is_output(it, s)
  local e = s.kind == "expr" and s.test
  while e and e.kind == "binary" and it.tokens[e.op] == "<<" do e = e.a end
  if e and e.kind == "call" then e = e.a end
  return e and PRINTS[it.tokens[e.op]]
end

-- May another name be the same memory?
local function is_shared(symbol)
  local kind = symbol.type and symbol.type.kind
  return symbol.escaped or kind == "pointer" or kind == "list" or kind == "struct"
end

-- A variable is not what it was; after a line that the script may pass, it is not known.
local function forget(it, symbol, line)
  if symbol.is_const or symbol.type == types.status then return end
  symbol.unknown = line and { line = line, scope = it.scope }
  symbol.lo, symbol.hi, symbol.count, symbol.is_fixed = nil, nil, nil, false
end

-- What a statement that is left names is not known any more; where that may be memory, no memory is. True: it names
-- something.
local function forget_named(it, s, line)
  local names, shared, prints = false, false, is_output(it, s)
  for i = s.first, s.last do
    local symbol = it:find(it.tokens[i])
    if symbol and (symbol.type == types.cout or not prints and not symbol.is_const) then
      names, shared = true, shared or is_shared(symbol)
      symbol.escaped = symbol.type ~= types.cout
      forget(it, symbol, line)
    end
    for _, of_device in pairs(it.tokens[i] == "<<<" and it.symbols or {}) do forget(it, of_device, line) end
  end
  local scope = shared and it.scope
  while scope do
    for _, symbol in pairs(scope.symbols) do if is_shared(symbol) then forget(it, symbol, line) end end
    scope = scope.up
  end
  return names
end

-- A comment instead of a statement. In a function or a loop it stops the script: callers, and the statements before it
-- in the next turn, do not know of it. So do calls of functions that the program has: they may do anything.
local function leave(it, s)
  local stops, line = it.fn ~= nil or it.label ~= nil and not is_output(it, s), it:line(s.first)
  for i = s.first, s.last do
    local name, own = it.tokens[i], it.functions[it.tokens[i]]
    local inside = (name == "break" or name == "continue") and s.kind ~= "if" and s.kind ~= "block" and s.kind ~= name
    stops = stops or JUMPS[name] and not inside or own and own.bodies > 0
  end
  local first, escaped = #it.out + 1, forget_named(it, s, not stops and line or nil)
  for _, text in ipairs(it:source_of(s.first, s.last)) do it:emit("-- " .. text) end
  it.out[first].left = 1
  if stops then it:emit(stop(it, line, "this has not been translated")) end
  for _, one in ipairs(s.declared or {}) do
    local kind = it:type_of(one)
    it:declare(it.tokens[one.name], kind == types.status and kind or nil).escaped = escaped
  end
end

local function is_within(scope, outer)
  while scope and scope ~= outer do scope = scope.up end
  return scope ~= nil
end

-- Puts errors before the lines from `mark` on for what they use and nobody knows: one for each line that was left.
local function settle(it, mark, line)
  local named = {}
  for symbol in pairs(it.fn and {} or it.touched) do
    if symbol.unknown then named[symbol.name] = symbol end
  end
  local told = {}
  for _, name in ipairs(lists.keys(named)) do
    local since = named[name].unknown
    local why = ("'%s' is needed here, and line %d, which may change it, has not been translated"):format(name,
      since.line)
    if not told[since.line] then table.insert(it.out, mark + 1, { it.depth, stop(it, line, why) }) end
    told[since.line] = true
    if is_within(since.scope, it.scope) then named[name].unknown = nil end
  end
  it.touched = {}
end

-- ---- declarations -------------------------------------------------------------------------------

local function array_of(it, one, kind, sizes)
  local total = expression.product(sizes)
  local list = one.init and (one.init.kind == "braces" and one.init.list or unread()) or {}
  local is_zero = #list == 0 or #list == 1 and it.tokens[list[1].op] == "0"
  if is_zero then
    return calls.array("pageable", kind, (total or unread()).code, one.init ~= nil or it.scope == it.globals)
  end
  if #sizes > 1 or total and total.lo ~= #list then return unread() end
  local codes = {}
  for i, e in ipairs(list) do codes[i] = expression.as(it, e, kind).code end
  local made = calls.array("pageable", kind, "{ " .. table.concat(codes, ", ") .. " }")
  made.count = tostring(#list)
  return made
end

-- float a[N][M] = { ... }; of pointers, streams and the like a table.
local function sized(it, one, kind)
  if kind.kind ~= "number" then
    return (one.init or kind.kind == "struct") and unread() or value("{}", { kind = "list", of = kind })
  end
  local sizes = {}
  for i, e in ipairs(one.sizes) do sizes[i] = e and expression.as(it, e, types.u64) or nil end
  if #sizes < #one.sizes and #one.sizes > 1 then return unread() end
  local made = array_of(it, one, kind, sizes)
  local given = tonumber(made.count)
  made.type = { kind = "pointer", of = kind, dims = #sizes > 1 and sizes or nil,
                sizes = #sizes > 0 and sizes or { value(made.count, types.u64, nil, given, given) } }
  return made
end

local function vector_of(it, one, kind)
  local init = one.init or unread()
  local list = init.list or {}
  local made
  if init.kind == "cast" and not init.a and #list > 0 then
    made = calls.array("pageable", kind.of, expression.count(it, list[1]), not list[2])
    if list[2] then made.code = ("%s:fill(%s)"):format(made.code, expression.as(it, list[2], kind.of).code) end
  else
    made = expression.as(it, init, kind)
    if made.symbol then made = value(made.code .. ":clone()", kind) end
  end
  made.type = kind
  return made
end

-- The value of a variable without one in C; nil: none.
local function empty(it, kind)
  if kind == types.dim3 then return value("{ x = 1, y = 1, z = 1 }", kind) end
  if kind.kind == "struct" then return value("{}", kind) end
  if kind.kind ~= "number" or it.scope ~= it.globals then return nil end
  return value(kind == types.bool and "false" or kind.is_integer and "0" or "0.0", kind)
end

-- The value that a declaration gives; nil: none yet.
local function initial(it, one, kind)
  local init = one.init
  if #one.sizes > 0 then return sized(it, one, kind) end
  if kind.kind == "vector" then return vector_of(it, one, kind) end
  if not init then return empty(it, kind) end
  local is_call = init.kind == "cast" and not init.a -- int n(5)
  if kind == types.dim3 and (init.kind == "braces" or is_call) then
    return statement.own(expression.dims(it, init.list))
  elseif is_call and #init.list == 1 and kind.kind ~= "struct" then
    return expression.as(it, init.list[1], kind)
  end
  if kind.kind == "pointer" and kind.of == types.char and init.kind ~= "cast" then -- char *name = argv[1]
    local given = expression.read(it, init)
    if given.type == types.string then return given end
  end
  local v = statement.own(expression.as(it, init, kind))
  return v.code ~= "nil" and v or nil
end

--- A value that a variable may keep: not another variable's table, which C copies.
---@param v table
---@return table
function statement.own(v)
  return v.symbol and (v.type == types.dim3 or v.type.kind == "struct") and unread() or v
end

local function declare_one(it, one, bare)
  local v
  local name, kind = it.tokens[one.name], it:type_of(one) or unread()
  if one.is_static or kind == types.void or it.tokens[one.signs] == "&" then return unread() end
  if kind == types.status or kind == types.auto then
    v = one.init and expression.read(it, one.init)
    if not v or v.type == types.status then return it:declare(name, types.status) end
    if kind == types.status or v.make or v.type == types.null then return unread() end
    v = v.type.kind == "vector" and vector_of(it, one, v.type) or statement.own(v)
  else
    v = initial(it, one, kind)
  end
  local symbol = it:declare(name, v and v.type.kind ~= "null" and v.type or kind)
  if not v then
    bare[#bare + 1] = symbol.name
    return
  end
  local is_const = it:text(one.first, one.last):find "%f[%a]const"
  it:initialize(symbol, v, is_const, it.tokens[one.name + 1] == "=" and 1 or 0)
  it:emit(("local %s%s = %s"):format(symbol.name, symbol.is_const and " <const>" or "", v.code))
end

local by = {}

function by.declare(it, s)
  local bare = {}
  for _, one in ipairs(s.declared) do declare_one(it, one, bare) end
  if #bare > 0 then it:emit("local " .. table.concat(bare, ", ")) end
end

-- ---- expressions --------------------------------------------------------------------------------

-- x += 1: of a place, what an operator makes of it.
local function change(it, e, op, by_what)
  local one = place.of(it, e)
  if one.type.kind ~= "number" or one.type == types.bool then return unread() end
  local made = expression.arithmetic(op, value(one.code, one.type), by_what)
  it:assign(one, expression.convert(made, one.type))
end

local function assign(it, e)
  local op, to, from = it.tokens[e.op], e.a, e.b
  if op ~= "=" then return change(it, to, op:sub(1, -2), expression.read(it, from)) end
  local symbol = to.kind == "name" and it:find(it.tokens[to.op])
  if symbol and symbol.type == types.status then return expression.read(it, from).type ~= types.status and unread() end
  local one = place.of(it, to)
  if to.kind == "name" then it:renewed(symbol) end
  if one.type.dims or one.type.kind == "vector" then return unread() end
  it:assign(one, statement.own(expression.as(it, from, one.type)))
end

local function effect(it, e)
  local op = it.tokens[e.op]
  if e.kind == "brackets" then return effect(it, e.a) end
  if e.kind == "assign" then return assign(it, e) end
  if e.kind == "number" or e.kind == "cast" and it.tokens[e.first + 1] == "void" then return end -- (void)x
  if op == "++" or op == "--" then return change(it, e.a, op:sub(1, 1), value("1", types.i32, nil, 1, 1)) end
  if e.kind == "binary" and op == "," then
    effect(it, e.a)
    return effect(it, e.b)
  elseif e.kind == "binary" and op == "<<" then
    return output.stream(it, e)
  elseif e.kind == "unknown" and it.tokens[e.first] == "delete" then
    local symbol = e.last <= e.first + 3 and it:find(it.tokens[e.last]) or unread()
    if not symbol.type or symbol.type.kind ~= "pointer" then return unread() end
    it.touched[symbol] = true
    return it:emit(symbol.name .. ":close()")
  end
  local v
  if e.kind == "call" then v = it:call(e) else v = expression.read(it, e) end
  if v and v.type ~= types.status and not v.is_done then it:emit(v.is_call and v.code or unread()) end
end

function by.expr(it, s) effect(it, s.test) end

-- ---- blocks -------------------------------------------------------------------------------------

local function child(it, s)
  it:open()
  for _, one in ipairs(s.kind == "block" and s.body or { s }) do statement.read(it, one) end
  it:close()
end

-- Of a block that declares nothing in Lua only the lines are left.
function by.block(it, s)
  local first = #it.out + 1
  it:emit "do"
  child(it, s)
  for i = first, #it.out do
    if it.out[i][1] == it.depth + 1 and it.out[i][2]:find "^local " then return it:emit "end" end
  end
  table.remove(it.out, first)
  for i = first, #it.out do it.out[i][1] = it.out[i][1] - 1 end
end

-- What runs sometimes, or more than once.
local function branch(it, s)
  it.nesting = it.nesting + 1
  child(it, s)
  it.nesting = it.nesting - 1
end

by["if"] = function(it, s)
  if s.head then return unread() end
  local mark = #it.out
  local test = expression.test(expression.read(it, s.test))
  settle(it, mark, it:line(s.first))
  if test.code == "true" or test.code == "false" then
    local taken = test.code == "true" and s.child or test.code == "false" and s.otherwise
    return taken and by.block(it, taken)
  end
  it:emit(("if %s then"):format(test.code))
  branch(it, s.child)
  if s.otherwise then
    it:emit "else"
    branch(it, s.otherwise)
  end
  it:emit "end"
end

local LOOPS <const> = lists.set { "for", "while", "do" }

-- Is there a statement of a kind in it, which is not a loop's of its own?
local function has(s, kind)
  if s.kind == kind then return true end
  for _, one in ipairs(s.body or {}) do if has(one, kind) then return true end end
  if LOOPS[s.kind] then return false end
  return s.child and has(s.child, kind) or s.otherwise and has(s.otherwise, kind) or false
end

-- The body of a loop, where `continue` goes to the end; each: what is written after it.
local function body(it, s, each)
  local goes_on, outer = has(s, "continue"), it.label
  local wraps = each and (goes_on or has(s, "declare"))
  it.label = outer and outer .. "_" or "continue"
  if wraps then
    it.depth = it.depth + 1
    it:emit "do"
  end
  branch(it, s)
  if wraps then
    it:emit "end"
    it.depth = it.depth - 1
  end
  it.depth = it.depth + 1
  if goes_on then it:emit(("::%s::"):format(it.label)) end
  if each then each() end
  it.depth, it.label = it.depth - 1, outer
end

local PLAIN <const> = lists.set { "+", "-", "*", "/", "(", ")", ".", "size", "sizeof" }

-- Is an expression the same in each turn of a loop?
local function is_fixed(it, e, loop)
  for i = e.first, e.last do
    local word = it.tokens[i]
    local symbol = it:find(word)
    if symbol and (it:changes(loop, word) or symbol.type and symbol.type.kind == "pointer") then return false end
    if not (symbol or PLAIN[word] or word:find "^%d") then return false end
  end
  return true
end

-- for (int i = a; i < b; i += c) as Lua has it: the variable, its type, and its three numbers.
local function counted(it, s)
  local head, test, e = s.head and s.head[1], s.test, s.step
  local one = head and head.kind == "declare" and #head.declared == 1 and head.declared[1]
  if not (one and one.init and test and test.kind == "binary" and e and e.a) then return nil end
  local name, op, sign, kind = it.tokens[one.name], it.tokens[test.op], it.tokens[e.op], it:type_of(one)
  local is_of_it = it.tokens[test.a.op] == name and test.a.kind == "name" and it.tokens[e.a.op] == name
  local is_up = (op == "<" or op == "<=") and (sign == "++" or sign == "+=" and is_fixed(it, e.b, s))
  if not (kind and kind.is_integer and is_of_it and is_up and is_fixed(it, test.b, s)) or it:changes(s.child, name) then
    return nil
  end
  local by_one = value("1", types.i64, nil, 1, 1)
  local width = sign == "++" and by_one or expression.as(it, e.b, types.i64)
  local from, to = expression.as(it, one.init, kind), expression.read(it, test.b)
  if width.lo < 1 or not to.type.is_integer or to.type.lo == 0 and from.lo < 0 then return nil end
  to = value(to.code, types.i64, to.level, to.lo, to.hi)
  return name, kind, from, op == "<" and expression.arithmetic("-", to, by_one) or to, width
end

by["for"] = function(it, s)
  local mark = #it.out
  local name, kind, from, to, width = counted(it, s)
  if not name then
    it:emit "do"
    it:open()
    for _, one in ipairs(s.head or {}) do
      if one.kind ~= "type" then (by[one.kind] or unread)(it, one) end
    end
    by["while"](it, s, mark)
    it:close()
    return it:emit "end"
  end
  settle(it, mark, it:line(s.first))
  it:open()
  local symbol = it:declare(name, kind)
  symbol.lo, symbol.hi, symbol.is_fixed = from.lo, to.hi, true
  it.depth = it.depth - 1
  local step = width.code ~= "1" and ", " .. width.code or ""
  it:emit(("for %s = %s, %s%s do"):format(symbol.name, from.code, to.code, step))
  body(it, s.child)
  it:emit "end"
  it.depth = it.depth + 1
  it:close()
end

by["while"] = function(it, s, mark)
  if s.kind == "while" and s.head then return unread() end
  mark = mark or #it.out
  it.frozen = it.frozen + 1
  local test = s.test and expression.test(expression.read(it, s.test)) or { code = "true" }
  it.frozen = it.frozen - 1
  settle(it, mark, it:line(s.first))
  it:emit(("while %s do"):format(test.code))
  body(it, s.child, s.step and function() effect(it, s.step) end)
  it:emit "end"
end

-- do { ... } while (0), as macros are written.
by["do"] = function(it, s)
  local token = it.tokens[s.test.op]
  if token ~= "0" and token ~= "false" or has(s.child, "continue") or has(s.child, "break") then return unread() end
  by.block(it, s.child)
end

-- ---- jumps --------------------------------------------------------------------------------------

by["break"] = function(it) it:emit "break" end
by["continue"] = function(it) it:emit("goto " .. (it.label or unread())) end

by["return"] = function(it, s)
  local v = s.test and expression.read(it, s.test)
  local to = it.fn and it.fn.type or types.i32
  if not v or v.type == types.status and (to == types.status or not it.fn) then return it:emit "do return end" end
  local code = statement.own(expression.as(it, s.test, to)).code
  if it.fn then return it:emit(("do return %s end"):format(code)) end
  it:emit(code == "0" and "do return end" or ("os.exit(%s)"):format(code))
end

function by.type() end

--- Leaves out a return at the end of a function, which then ends anyway.
---@param out table[]
---@return table[] out
function statement.end_function(out)
  local last = out[#out]
  if last and last[2] == "do return end" then out[#out] = nil end
  if last and last[2]:find "^do return .* end$" then last[2] = last[2]:match "^do (.*) end$" end
  return out
end

local STATE <const> = { "scope", "depth", "nesting", "frozen", "label" }

--- Writes a statement, or a comment in its place.
---@param it table
---@param s table
function statement.read(it, s)
  local mark, state = #it.out, {}
  for _, field in ipairs(STATE) do state[field] = it[field] end
  it.touched = {}
  local ok, problem = pcall(by[s.kind] or unread, it, s)
  if ok then
    settle(it, mark, it:line(s.first))
    local line = it.out[mark + 1]
    if line and s.kind ~= "block" then line.done = (line.done or 0) + 1 end
    return line and it:remark(mark, s.first)
  end
  if type(problem) ~= "table" or not problem.is_unread then error(problem, 0) end
  for _, field in ipairs(STATE) do it[field] = state[field] end
  for i = #it.out, mark + 1, -1 do it.out[i] = nil end
  leave(it, s)
  it.touched = {}
end

return statement
