-- SPDX-License-Identifier: MIT
--
-- Statements of C as Lua's. What cannot be read becomes a comment with its lines, and what it may change is not known
-- from there on: a later statement that uses it is preceded by an error that says so.

local calls = require "moonwarp.port.calls"
local expression = require "moonwarp.port.expression"
local lists = require "moonwarp.base.lists"
local place = require "moonwarp.port.place"
local types = require "moonwarp.port.types"

local statement = {}

local unread, value = expression.unread, expression.value
local JUMPS <const> = lists.set { "return", "break", "continue", "goto", "exit", "abort", "throw", "assert" }

-- ---- what is left -------------------------------------------------------------------------------

local function nodes(s)
  local count = s.kind ~= "block" and s.kind ~= "type" and 1 or 0
  for _, one in ipairs(s.body or {}) do count = count + nodes(one) end
  for _, one in ipairs { s.child or false, s.otherwise or false } do count = count + (one and nodes(one) or 0) end
  return count
end

-- An error of the script's, at a line of the program.
local function stop(it, line, text) return ("error(%q, 0)"):format(("%s:%d: %s"):format(it.file, line, text)) end

-- Does it print, and no more?
local function is_output(it, s)
  local e = s.kind == "expr" and s.test
  while e and e.kind == "binary" and it.tokens[e.op] == "<<" do e = e.a end
  local name = e and e.kind == "call" and e.a.kind == "name" and it.tokens[e.a.op] or e and it.tokens[e.op]
  return name == "cout" or name == "cerr" or name == "printf" or name == "fprintf" or name == "puts"
end

-- A comment instead of a statement. In a function it stops the script: its callers do not know of it.
local function leave(it, s)
  local jumps, line, prints = it.fn ~= nil, it:line(s.first), is_output(it, s)
  for i = s.first, s.last do
    local name = it.tokens[i]
    if name == "cout" then it.tainted.cout = line end
    if not prints then it:taint(name, line) end
    if it.functions[name] then
      for global in pairs(it.globals.symbols) do it:taint(global, line) end
    end
    if it.functions[name] or name == "<<<" then
      for symbol in pairs(it.symbols) do it.tainted[symbol] = line end
    end
    local inside = (name == "break" or name == "continue") and s.kind ~= "if" and s.kind ~= "block" and s.kind ~= name
    jumps = jumps or JUMPS[name] and not inside or it:may_end(name)
  end
  for _, text in ipairs(it:source_of(s.first, s.last)) do it:emit("-- " .. text) end
  it.left = it.left + nodes(s)
  if jumps then it:emit(stop(it, line, "this has not been translated")) end
  for _, one in ipairs(s.declared or {}) do
    local kind = it:type_of(one)
    it:declare(it.tokens[one.name], kind == types.status and kind or nil)
  end
end

-- Puts an error before the lines from `mark` on for what they use and nobody knows.
local function settle(it, mark, line)
  for name in pairs(it.touched) do
    local since = it.tainted[name]
    if since then
      local why = ("'%s' is needed here, and line %d, which may change it, has not been translated"):format(name, since)
      table.insert(it.out, mark + 1, { it.depth, stop(it, line, why) })
      it.tainted[name] = nil
    end
  end
  it.touched = {}
end

local function copied(list)
  local made = {}
  for key, one in pairs(list) do made[key] = one end
  return made
end

local function merge(into, list)
  for key, one in pairs(list) do into[key] = one end
end

-- ---- declarations -------------------------------------------------------------------------------

local function array_of(it, one, kind, sizes)
  local total = sizes[1]
  for i = 2, #sizes do total = expression.arithmetic(it, "*", total, sizes[i]) end
  local list = one.init and (one.init.kind == "braces" and one.init.list or unread()) or {}
  local is_zero = #list == 0 or #list == 1 and it.tokens[list[1].op] == "0"
  if not is_zero and (#sizes > 1 or not total and #list == 0 or total and total.lo ~= #list) then return unread() end
  if is_zero then
    return calls.array("pageable", kind, (total or unread()).code, one.init ~= nil or it.scope == it.globals)
  end
  local codes = {}
  for i, e in ipairs(list) do codes[i] = expression.as(it, e, kind).code end
  local made = calls.array("pageable", kind, "{ " .. table.concat(codes, ", ") .. " }")
  made.count = tostring(#list)
  return made
end

local function sizes_of(it, one)
  local sizes = {}
  for i, e in ipairs(one.sizes) do sizes[i] = e and expression.as(it, e, types.u64) or nil end
  return #sizes == #one.sizes and sizes or #one.sizes == 1 and {} or unread()
end

local function vector_of(it, one, kind)
  local init = one.init or unread()
  local list = init.list or {}
  if init.kind == "cast" and not init.a and #list > 0 then
    local made = calls.array("pageable", kind.of, expression.count(it, list[1]), not list[2])
    if list[2] then made.code = ("%s:fill(%s)"):format(made.code, expression.as(it, list[2], kind.of).code) end
    made.type = kind
    return made
  elseif init.kind == "braces" and #list > 0 then
    return array_of(it, one, kind.of, {})
  end
  local v = expression.convert(it, expression.read(it, init), kind)
  return v.symbol and value(v.code .. ":clone()", kind) or v
end

-- The value that a declaration gives; nil: none yet.
local function initial(it, one, kind)
  local init = one.init
  if #one.sizes > 0 then
    if kind.kind == "number" or kind.kind == "struct" then
      local sizes = sizes_of(it, one)
      local made = array_of(it, one, kind, sizes)
      made.type = types.pointer(kind)
      made.type.dims = #sizes > 1 and sizes or nil
      local given = tonumber(made.count)
      made.type.sizes = #sizes > 0 and sizes or { value(made.count, types.u64, nil, given, given) }
      return made
    end
    if init and (init.kind ~= "braces" or #init.list > 0) then return unread() end
    return value("{}", { kind = "list", of = kind })
  elseif kind.kind == "vector" then
    return vector_of(it, one, kind)
  elseif not init then
    if kind == types.dim3 then return value("{ x = 1, y = 1, z = 1 }", kind) end
    if kind.kind == "number" and it.scope == it.globals then
      return value(kind == types.bool and "false" or kind.is_integer and "0" or "0.0", kind)
    end
    return kind.kind == "struct" and value("{}", kind) or nil
  elseif kind == types.dim3 and (init.kind == "braces" or init.kind == "cast" and not init.a) then
    return statement.own(expression.dims(it, init.list))
  elseif init.kind == "cast" and not init.a and #init.list == 1 and kind.kind ~= "struct" then
    return expression.as(it, init.list[1], kind) -- int n(5)
  end
  local is_text = kind.kind == "pointer" and kind.of == types.char and init.kind ~= "cast" -- char *name = argv[1]
  local given = is_text and expression.read(it, init)
  if given and given.type == types.string then return given end
  local v = statement.own(expression.as(it, init, kind))
  if v.code == "nil" then return nil end
  return v
end

--- A value that a variable may keep: of what is a table another one, as C copies it.
---@param v table
---@return table
function statement.own(v)
  if not v.symbol or v.type ~= types.dim3 and v.type.kind ~= "struct" then return v end
  if v.type.kind == "struct" then return unread() end
  return value(("{ x = %s.x, y = %s.y, z = %s.z }"):format(v.code, v.code, v.code), v.type)
end

local function declared_type(it, one)
  local is_auto = it.tokens[one.last] == "auto" or it.tokens[one.first] == "auto"
  if not is_auto then return it:type_of(one) end
  local mark = #it.out
  local v = one.init and expression.read(it, one.init)
  for i = #it.out, mark + 1, -1 do it.out[i] = nil end -- it is read once more
  if v and v.known ~= nil then return types.bool end
  if not v or v.type.kind == "memory" or v.type.kind == "null" or v.marks then return nil end
  return v.type
end

local function declare_one(it, one, bare)
  local name = it.tokens[one.name]
  local kind = declared_type(it, one) or unread()
  if one.is_static or kind == types.void or kind.kind == "lanes" then return unread() end
  if kind == types.status then
    if one.init and expression.read(it, one.init).type ~= types.status then return unread() end
    return it:declare(name, kind)
  end
  local v = initial(it, one, kind)
  local symbol = it:declare(name, v and v.type.kind ~= "null" and v.type or kind)
  if not v then
    bare[#bare + 1] = symbol.name
    return
  end
  symbol.count = v.count
  symbol.sides = #it:assignments(name) == 1 and v.sides or nil
  symbol.is_const = kind.kind == "number" and #it:assignments(name) == 1
    and (table.concat(it.tokens, " ", one.first, one.last)):find "%f[%a]const"
  it:emit(("local %s%s = %s"):format(symbol.name, symbol.is_const and " <const>" or "", v.code))
end

local by = {}

function by.declare(it, s)
  local bare = {}
  for _, one in ipairs(s.declared) do declare_one(it, one, bare) end
  if #bare > 0 then it:emit("local " .. table.concat(bare, ", ")) end
end

-- ---- expressions --------------------------------------------------------------------------------

local function step(it, e, op)
  local one = place.of(it, e)
  if one.type.kind ~= "number" or one.type == types.bool then return unread() end
  local now = value(one.code, one.type, nil, it:range(one.symbol and it.tokens[e.op]))
  local made = expression.arithmetic(it, op, now, value("1", types.i32, nil, 1, 1))
  it:emit(one.set(expression.convert(it, made, one.type).code))
end

local assign
function assign(it, e)
  local op = it.tokens[e.op]
  if e.b.kind == "assign" then -- a = b = 0
    assign(it, e.b)
    e = { op = e.op, a = e.a, b = e.b.a }
  end
  local symbol = e.a.kind == "name" and it:find(it.tokens[e.a.op])
  if symbol and symbol.type == types.status then
    return op == "=" and expression.read(it, e.b).type == types.status or unread()
  end
  local one = place.of(it, e.a)
  if op == "=" then
    if symbol then it:renewed(it.tokens[e.a.op]) end
    if one.type.dims or one.type.kind == "vector" then return unread() end
    return it:assign(one, statement.own(expression.as(it, e.b, one.type)))
  end
  local now = value(one.code, one.type, nil, it:range(one.symbol and it.tokens[e.a.op]))
  local made = expression.arithmetic(it, op:sub(1, -2), now, expression.read(it, e.b))
  it:assign(one, expression.convert(it, made, one.type))
end

local function effect(it, e)
  if e.kind == "brackets" then return effect(it, e.a) end
  if e.kind == "assign" then return assign(it, e) end
  if (e.kind == "postfix" or e.kind == "unary") and it.tokens[e.op]:find "^[+-][+-]$" then
    return step(it, e.a, it.tokens[e.op]:sub(1, 1))
  elseif e.kind == "binary" and it.tokens[e.op] == "," then
    effect(it, e.a)
    return effect(it, e.b)
  elseif e.kind == "binary" and it.tokens[e.op] == "<<" then
    return it:print_stream(e)
  elseif e.kind == "unknown" and it.tokens[e.first] == "delete" then
    local name = it.tokens[e.last]
    local symbol = e.last <= e.first + 3 and it:find(name) or unread()
    if not symbol.type or symbol.type.kind ~= "pointer" then return unread() end
    it.touched[name] = true
    return it:emit(symbol.name .. ":close()")
  elseif e.kind == "number" or e.kind == "cast" and it.tokens[e.first + 1] == "void" then -- (void)x
    return nil
  end
  local v = e.kind == "call" and it:call(e) or expression.read(it, e)
  if v == true or v.type == types.status then return nil end
  return v.is_call and it:emit(v.code) or not v.is_call and unread() or nil
end

function by.expr(it, s) effect(it, s.test) end

-- ---- blocks -------------------------------------------------------------------------------------

local function child(it, s)
  it:open()
  if s.kind == "block" then
    for _, one in ipairs(s.body) do statement.read(it, one) end
  else
    statement.read(it, s)
  end
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

by["if"] = function(it, s)
  if s.head then return unread() end
  local mark = #it.out
  local test = expression.test(expression.read(it, s.test))
  settle(it, mark, it:line(s.first))
  if test.known ~= nil then
    local taken = s.child
    if not test.known then taken = s.otherwise end
    if taken then by.block(it, taken) end
    return
  end
  it:emit(("if %s then"):format(test.code))
  local before = copied(it.tainted)
  child(it, s.child)
  if s.otherwise then
    local after = it.tainted
    it.tainted = before
    it:emit "else"
    child(it, s.otherwise)
    merge(it.tainted, after)
  else
    merge(it.tainted, before)
  end
  it:emit "end"
end

local LOOPS <const> = lists.set { "for", "while", "do", "range" }

-- Is there a statement of a kind in it, which is not a loop's of its own?
local function has(s, kind)
  if s.kind == kind then return true end
  for _, one in ipairs(s.body or {}) do if has(one, kind) then return true end end
  if LOOPS[s.kind] then return false end
  return s.child and has(s.child, kind) or s.otherwise and has(s.otherwise, kind) or false
end

local function body_once(it, s, first, each)
  local goes_on, outer = has(s, "continue"), it.label
  local wraps = each and (goes_on or has(s, "declare"))
  it.label = outer and outer .. "_" or "continue"
  it:open()
  if first then first() end
  if wraps then it:emit "do" else it.depth = it.depth - 1 end
  child(it, s)
  if wraps then it:emit "end" else it.depth = it.depth + 1 end
  if goes_on then it:emit(("::%s::"):format(it.label)) end
  if each then each() end
  it:close()
  it.label = outer
end

-- The body of a loop, where `continue` goes to the end; first and each: what is written before and after it. What it
-- leaves untranslated is not known in its next turn either, so it is then read again.
local function body(it, s, first, each)
  local before, length, translated, left = copied(it.tainted), #it.out, it.translated, it.left
  body_once(it, s, first, each)
  local grown = false
  for name in pairs(it.tainted) do grown = grown or not before[name] end
  if grown then
    for i = #it.out, length + 1, -1 do it.out[i] = nil end
    it.translated, it.left = translated, left
    body_once(it, s, first, each)
  end
  merge(it.tainted, before)
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

-- for (int i = a; i < b; i += c) as Lua has it: the variable's name, and the texts of its three numbers.
local function counted(it, s)
  local head, test, e = s.head and s.head[1], s.test, s.step
  local one = head and head.kind == "declare" and #head.declared == 1 and head.declared[1]
  if not (one and one.init and test and test.kind == "binary" and e) then return nil end
  local name, op = it.tokens[one.name], it.tokens[test.op]
  local kind = it:type_of(one)
  if not kind or not kind.is_integer or test.a.kind ~= "name" or it.tokens[test.a.op] ~= name then return nil end
  if not is_fixed(it, test.b, s) or it:changes(s.child, name) then return nil end
  local sign = it.tokens[e.op]
  if not e.a or e.a.kind ~= "name" or it.tokens[e.a.op] ~= name then return nil end
  local up, by_one = sign:find "^%+" ~= nil, sign == "++" or sign == "--"
  if not sign:find "^[+-][+-=]$" or not op:find(up and "^<=?$" or "^>=?$") then return nil end
  local width = value("1", types.i32, nil, 1, 1)
  if not by_one then
    if not is_fixed(it, e.b, s) then return nil end
    width = expression.as(it, e.b, types.i64)
    if width.lo < 1 then return nil end
  end
  if not up and kind.lo == 0 then return nil end
  local from, to = expression.as(it, one.init, kind), expression.read(it, test.b)
  if not to.type.is_integer or to.type.lo == 0 and from.lo < 0 then return nil end
  if #op == 1 then
    local limit = value(to.code, types.i64, to.level, to.lo, to.hi)
    to = expression.arithmetic(it, up and "-" or "+", limit, value("1", types.i64, nil, 1, 1))
  end
  local step_code = width.level < 11 and "(" .. width.code .. ")" or width.code
  local tail = up and by_one and "" or (up and ", " or ", -") .. step_code
  return name, kind, ("%s, %s%s"):format(from.code, to.code, tail)
end

by["for"] = function(it, s)
  local mark = #it.out
  local name, kind, numbers = counted(it, s)
  if name then
    settle(it, mark, it:line(s.first))
    it:open()
    local symbol = it:declare(name, kind)
    it.depth = it.depth - 1
    it:emit(("for %s = %s do"):format(symbol.name, numbers))
    body(it, s.child)
    it.depth = it.depth + 1
    it:close()
    return it:emit "end"
  end
  it:emit "do"
  it:open()
  for _, one in ipairs(s.head or {}) do
    if one.kind ~= "type" then (by[one.kind] or unread)(it, one) end
  end
  by["while"](it, s, mark)
  it:close()
  it:emit "end"
end

by["while"] = function(it, s, mark)
  if s.kind == "while" and s.head then return unread() end
  mark = mark or #it.out
  it.frozen = it.frozen + 1
  local test = s.test and expression.test(expression.read(it, s.test)) or { code = "true" }
  it.frozen = it.frozen - 1
  if test.code == nil then return unread() end
  settle(it, mark, it:line(s.first))
  it:emit(("while %s do"):format(test.code))
  body(it, s.child, nil, s.step and function()
    local at = #it.out
    effect(it, s.step)
    settle(it, at, it:line(s.first))
  end)
  it:emit "end"
end

by["do"] = function(it, s)
  local token = it.tokens[s.test.op]
  if s.test.kind == "number" and (token == "0" or token == "false") and not has(s.child, "continue") then
    if has(s.child, "break") then return unread() end
    return by.block(it, s.child) -- as macros are written
  end
  if has(s.child, "continue") then return unread() end
  it:emit "repeat"
  body(it, s.child)
  it.frozen = it.frozen + 1
  local test = expression.test(expression.read(it, s.test))
  it.frozen = it.frozen - 1
  settle(it, #it.out, it:line(s.first))
  it:emit(("until not (%s)"):format(test.code or unread()))
end

by["range"] = function(it, s)
  local one = s.head and s.head[1].kind == "declare" and s.head[1].declared[1] or unread()
  local mark = #it.out
  local v = expression.read(it, s.test)
  if v.type.kind ~= "vector" or not v.symbol then return unread() end
  settle(it, mark, it:line(s.first))
  local name = it.tokens[one.name]
  it:open()
  local symbol = it:declare(name, v.type.of)
  local index = symbol.name .. "_at"
  local by_reference = it.tokens[one.name - 1] == "&"
  if by_reference then
    symbol.element, symbol.index, symbol.code = v, index, ("%s:get(%s)"):format(v.code, index)
  end
  it.depth = it.depth - 1
  it:emit(("for %s = 1, #%s do"):format(index, v.code))
  body(it, s.child, not by_reference and function()
    it:emit(("local %s = %s:get(%s)"):format(symbol.name, v.code, index))
  end)
  it.depth = it.depth + 1
  it:close()
  it:emit "end"
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
function statement.end_function(out)
  local last = out[#out]
  if last and last[2] == "do return end" then out[#out] = nil end
  if last and last[2]:find "^do return .* end$" then last[2] = last[2]:match "^do (.*) end$" end
end

--- Writes a statement, or a comment in its place.
---@param it table
---@param s table
function statement.read(it, s)
  local mark, state = #it.out, { it.scope, it.depth, it.frozen, it.tainted, it.translated, it.left, it.label }
  local before = copied(it.tainted)
  it.touched = {}
  local ok, problem = pcall(by[s.kind] or unread, it, s)
  if ok then
    settle(it, mark, it:line(s.first))
    it.translated = it.translated + (s.kind == "block" and 0 or s.kind == "type" and 0 or 1)
    return
  end
  if type(problem) ~= "table" or not problem.is_unread then error(problem, 0) end
  it.scope, it.depth, it.frozen, it.tainted, it.translated, it.left, it.label = table.unpack(state, 1, 7)
  it.tainted = before
  for i = #it.out, mark + 1, -1 do it.out[i] = nil end
  leave(it, s)
  it.touched = {}
end

return statement
