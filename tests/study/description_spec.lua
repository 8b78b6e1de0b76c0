-- SPDX-License-Identifier: MIT
--
-- What is said of mistakes in the description of a study.

local small_study = require "tests.support.small_study"
local support = require "tests.support"

local STUDY = small_study.TEXT
local changed, run = small_study.changed, small_study.run

describe("a mistake in a study's description", function()
  if not support.program() then return pending "needs the program" end

  -- What is exchanged in the study, and the message: the first line of the program's output after its name.
  local MISTAKES = {
    { 'question = "does', 'qestion = "does',
      "mine.lua:2: mw.study: unknown option 'qestion'; did you mean 'question'?" },
    { '"elements", gpu', '"elements", gpus', "mine.lua:2: parameter 'n': unknown option 'gpus'; did you mean 'gpu'?" },
    { '{ "n", 100000, "elements", ', '{ "n", ', "mine.lua:2: parameter 1 must be { name, default, help, ... }, " },
    { 'kernel = "saxpy_loop", block', 'kernal = "saxpy_loop", block',
      "mine.lua:18: rung 2 'a loop': unknown option 'kernal'; did you mean 'kernel'?" },
    { '{ 2, "a loop"', '{ 2, "an element per thread"',
      "mine.lua:18: rung 2 'an element per thread': there is a rung of that name already" },
    { 'kernel = "saxpy_loop", block', 'block', "mine.lua:18: rung 2 'a loop': needs 'kernel', 'launches' or 'make'" },
    { 'over = { "n" }, each = 16', 'each = 16', "mine.lua:18: rung 2 'a loop': needs 'over' or 'grid'" },
    { '{ 2, "a loop"', '{ 2, 3',
      "mine.lua:18: a rung begins with its number and its name, as in { 1, \"naive\", ... }, or with its name" },
    { 'block = 64,', 'block = 64, answer = "saxpi",',
      "mine.lua:18: rung 2 'a loop': there is no answer 'saxpi'; did you mean 'saxpy'?" },
    { 'level = "library copy"', 'level = "copi"',
      "mine.lua:2: mw.study, level: there is no rung or answer 'copi'; did you mean 'copy'?" },
    { 'bytes = function(c) return 3 * c.x:nbytes() end,', '',
      "mine.lua:12: answer 'saxpy': needs 'bytes', from which 'T_eff' is made: names of arrays as \"A B\", or "
        .. "a function" },
    { '["a loop"] = 4e12', '["a lop"] = 4e12',
      "mine.lua:19: source 'H200': there is no rung or answer 'a lop'; did you mean 'a loop'?" },
    { '"block", "t"', '"blok", "t"',
      "mine.lua:20: part 'ladder', table: no record has a field 'blok'; did you mean 'block'?" },
    { 'kind = "ladder"', 'kind = "bars"',
      "mine.lua:20: part 'ladder', chart 1, kind: there is no kind of chart 'bars'; there is ladder, plot" },
    { 'charts = { { kind = "ladder" } }', 'charts = { { x = "thread" } }',
      "mine.lua:20: part 'ladder', chart 1, x: no record has a field 'thread'; did you mean 'threads'?" },
    { '"a loop / an element per thread"', '"a loop / an elemen per thread"',
      "mine.lua:20: part 'ladder', ratios: there is no rung 'an elemen per thread'; did you mean 'an element "
        .. "per thread'?" },
    { '"best saxpy / library copy"', '"best saxpi / library copy"',
      "mine.lua:20: part 'ladder', ratios: there is no answer 'saxpi'; did you mean 'saxpy'?" },
    { 'table = {', 'rungs = { "loop" }, table = {',
      "mine.lua:20: part 'ladder', rungs: there is no rung or answer 'loop'; did you mean 'a loop'?" },
    { 'return study', '', "mine.lua:2: the file must end with 'return study'" },
    { 'question = "does', 'course = { week = 3 }, question = "does',
      "mine.lua:2: mw.study: option 'course'.about must be a string, got nil" },
    { 'local study, p', 'mw.study { question = "another?" } local study, p',
      "mine.lua:2: the file must end with 'return study'; the one that it returns is another" },
    -- brackets that were forgotten: what has names in it counts as an empty list
    { 'cases = { { n = p.n, type = "f32" } }', 'cases = { n = p.n, type = "f32" }', "mine.lua:20: part 'ladder': "
      .. "option 'cases' must be a list such as { { n = p.n } }, got a table with the name '" },
    { 'odd = { { n = 1001 }, { n = 13 } }', 'odd = { n = 1001 }',
      "mine.lua:2: mw.study: option 'odd' must be a list such as { { n = 1001 } }, got a table with the name 'n'" },
    { 'odd = { { n = 1001 }, { n = 13 } }', 'odd = {}',
      "mine.lua:2: mw.study: option 'odd' must be a list such as { { n = 1001 } }, got an empty one" },
    { 'odd = { { n = 1001 }, { n = 13 } }', 'odd = function() return { n = 1001 } end',
      "mine.lua:2: mw.study, odd: must return a list of sides such as { { n = 1001 } }" },
    { 'charts = { { kind = "ladder" } }', 'charts = { kind = "ladder" }', "mine.lua:20: part 'ladder': option "
      .. "'charts' must be a list such as { { kind = \"ladder\" } }, got a table with the name 'kind'" },
    { 'blocks = p.shapes', 'blocks = {}', "mine.lua:17: rung 1 'an element per thread': option 'blocks' must be a list "
      .. "such as { 256, { 32, 8 } }, got an empty one" },
    { 'table = {', 'rungs = { 2 }, table = {',
      "mine.lua:20: part 'ladder': option 'rungs' must be a list such as { \"naive\" }, got one with a number in it" },
    { 'block = 64', 'block = "64x1"',
      "mine.lua:18: rung 2 'a loop': a block is its threads as in 256 or { 32, 8 }, got string '64x1'" },
    { 'block = 64', 'block = 0',
      "mine.lua:18: rung 2 'a loop': a block is its threads as in 256 or { 32, 8 }, got number '0'" },
    { '{ "shapes"', '{ "n", 5, "again" }, { "shapes"',
      "mine.lua:2: parameter 'n': there is one of that name already" },
    { '{ "shapes"', '{ "rungs", 5, "of a ladder" }, { "shapes"',
      "mine.lua:2: parameter 'rungs': the runner has one of that name" },
    { 'rate = "T_eff"', 'rate = { work = print }', "mine.lua:2: mw.study: option 'rate' must be a field as in "
      .. "\"T_eff\", or { \"rate\", work = function(c, rung) }" },
    { 'field = "h200"', 'field = "share"', "mine.lua:19: source 'H200', field: records have a 'share' of their own" },
    { 'table = {', 'each = "m", table = {',
      "mine.lua:20: part 'ladder', each: no case has a side 'm'; there is n, type" },
    { 'cases = { { n = p.n,', 'cases = { { n = p.n, p = 1,',
      "mine.lua:20: part 'ladder', cases: 'p' is a case's own; take another name" },
    { 'type = "f32" }', 'type = "f23" }', "mine.lua:2: mw.study: there is no type 'f23'; did you mean 'f32'?" },
    { 'function study.arrays(c)', 'study.arrays = 5 local function f(c)',
      "mine.lua:8: study.arrays must be a function, got number" },
    -- the runner's own value took the parameter's place in every record
    { '{ "shapes"', '{ "share", 7, "of it" }, { "shapes"',
      "mine.lua:2: parameter 'share': records have a 'share' of their own; take another name" },
    { '{ "shapes"', '{ "T_eff", 7, "of it" }, { "shapes"',
      "mine.lua:2: parameter 'T_eff': records have a 'T_eff' of their own; take another name" },
    { 'cases = { { n = p.n,', 'cases = { { n = p.n, drift = 1,',
      "mine.lua:20: part 'ladder', cases: records have a 'drift' of their own; take another name" },
    { 'over = { "n" }, each = 16', 'over = { "n" }, odd_blocks = { { 32, 2 } }',
      "mine.lua:18: rung 2 'a loop': its block 32x2 has 2 dimensions, and 'over' 1; take one as 32x1, or add a 1 to "
        .. "'over' if the block's threads work together" },
    -- found on the odd cases
    { 'output = "y"', 'output = "z"', "mine.lua:17: rung 1 'an element per thread': the case has no array 'z'" },
    { ', a = 2 }', ' }',
      "mine.lua:17: rung 1 'an element per thread': kernel 'saxpy', parameter 3 'a': the case has no field "
      .. "of that name; it has eps, n, vector, x, y; give it with 'args'" },
    { 'each = 16', 'each = 16, args = { alfa = 1 }',
      "mine.lua:18: rung 2 'a loop', args: kernel 'saxpy_loop' has no parameter 'alfa'; " },
    { 'over = { "n" }, each', 'over = { "m" }, each', "mine.lua:18: rung 2 'a loop', over: the case has no side 'm'" },
    { 'at.x(i)', 'at.z(i)', "mine.lua:12: answer 'saxpy': the case has no array 'z'" },
    { 'c.y:fill(1) end', 'c.z:fill(1) end',
      "answer 'saxpy', start: mine.lua:13: attempt to index a nil value (field 'z')" },
    { 'kernel = "saxpy_loop"', 'kernel = "saxpy_lop"', "no kernel 'saxpy_lop'" },
    { 'return { x =', 'local _ = { x =', "the case has no array 'y'; study.arrays returns nothing" },
    { 'function study.arrays', 'local function arrays',
      "the case has no array 'y'; the study has no function study.arrays(c)" },
    { ', a = 2 }', ', a = 2, dev = 1 }', "mine.lua:2: study.arrays: 'dev' is a case's own; take another name" },
    { 'n = p.n, type', 'n = p.n / 2, type',
      "mine.lua:17: rung 1 'an element per thread', over: side 'n' must be an integer, got 50000.0" },
    { 'each = 16', 'each = 0',
      "mine.lua:18: rung 2 'a loop', each: elements per thread must be an integer of at least 1, got 0" },
    { 'over = { "n" }, each = 16', 'grid = function() end',
      "mine.lua:18: rung 2 'a loop', grid: what it returns must be a number or table, got nil" },
    { 'kernel = "saxpy_loop"', 'make = function() end',
      "mine.lua:18: rung 2 'a loop', make: must return a function, or nil and why the device cannot, got nothing" },
    { 'kernel = "saxpy_loop"', 'launches = function() return { "saxpy_loop", { block = 64, grid = 1 } } end',
      "mine.lua:18: rung 2 'a loop', launches: must return a list of { kernel, { block =, grid = }, arguments }" },
    { 'kernel = "saxpy_loop"', 'make = function() return function() error "boom" end end',
      "mine.lua:18: rung 2 'a loop', n = 1001, f32: mine.lua:18: boom" },
    { 'kernel = "saxpy_loop"', 'make = function(c) return c:launch("saxpy_loop", { block = 64, grid = 1 }, 256) end',
      "mine.lua:18: rung 2 'a loop', make: kernel 'saxpy_loop': arguments are a table by the parameters' names, as in "
        .. "{ a = 2 }, got number" },
    { 'kernel = "saxpy_loop"',
      'make = function(c) local go = c:launch("saxpy_loop", { grid = 1, block = "x" }) return go end',
      "mine.lua:18: rung 2 'a loop', make: mine.lua:18: kernel 'saxpy_loop': 'block' must be an integer, {x, y, z} or "
        .. "{x =, y =, z =}, got string" },
    { 'kernel = "saxpy_loop"', 'make = function(c) local go = c:launch("saxpy_loop") return go end',
      "mine.lua:18: rung 2 'a loop', make: mine.lua:18: kernel 'saxpy_loop': a launch is { block =, grid = }, got "
        .. "nil" },
    { 'kernel = "saxpy_loop"', 'make = function(c) local go = c:launch(nil, { block = 64, grid = 1 }) return go end',
      "mine.lua:18: rung 2 'a loop', make: mine.lua:18: a kernel is given by its name, got nil" },
    { 'kernel = "saxpy_loop"', 'make = function(c) c = c:with(5) return c end',
      "mine.lua:18: rung 2 'a loop', make: mine.lua:18: c:with: a table of fields is wanted, got number" },
    { 'array("f32", c.n):random(1), y = c.dev:array("f32", c.n)',
      'array("f32", c.n, 1):random(1), y = c.dev:array("f32", c.n, 1)', -- a single index counted through all of it
      "mine.lua:12: answer 'saxpy': at.x(1): the array has 1001 x 1 elements, and x comes first: at.x(ix, iy)" },
    { 'return c.a * at.x(i) + 1', '', "mine.lua:12: answer 'saxpy', cell: must return a number, got nil" },
    { 'start = function', 'spot = function() return { 5 } end, start = function',
      "mine.lua:12: answer 'saxpy', spot: what it returns[1] must be a table, got number" },
    { 'start = function', 'tolerance = function() return { abs = 1 } end, start = function',
      "mine.lua:17: rung 1 'an element per thread', n = 1001, f32: mw.check: unknown option 'abs'" },
    { 'return 3 * c.x:nbytes()', '',
      "mine.lua:12: answer 'saxpy', bytes: what it returns must be a number, got nil" },
    { 'return 3 * c.x:nbytes()', 'return 0',
      "mine.lua:17: rung 1 'an element per thread': what a call does, from 'bytes' or 'work', must be a number above 0"
        .. ", got 0" },
    -- what functions return
    { 'rate = "T_eff"', 'bound = function() return "5" end', "mine.lua:2: mw.study, bound: what it returns must be a "
      .. "number, got string" },
    { 'rate = "T_eff"', 'bound = function() return nil, 0 end', ", bound: a ceiling is a number above 0, got 0" },
    { 'rate = "T_eff"', 'also = function() return { 5 } end',
      "mine.lua:2: mw.study, also: what it returns[1] must be a string, got number" },
    { 'start = function', 'tolerance = function() return 5 end, start = function',
      "mine.lua:12: answer 'saxpy', tolerance: what it returns must be a table, got number" },
    { 'start = function', 'reference = function() end, start = function',
      "mine.lua:12: answer 'saxpy', reference: what it returns must be an array, got nil" },
    { 'each = 16 }', 'each = 16, source = function() end }',
      "mine.lua:18: rung 2 'a loop', source: what it returns must be a string, got nil" },
    -- names
    { 'rate = "T_eff"', 'also = { "nosuch" }', "mine.lua:2: mw.study, also: module 'saxpy.cu' has no kernel 'nosuch'" },
    { 'rate = "T_eff"', 'also = { "nosuch<%s>" }', "mine.lua:2: mw.study, also: " },
    { '{ "n", 100000, "elements"', '{ "error", 1, "x" }, { "n", 100000, "elements"',
      "parameter 'error': records have a 'error' of their own; take another name" },
    { '{ n = p.n, type', '{ bound = 1, n = p.n, type',
      "part 'ladder', cases: records have a 'bound' of their own; take another name" },
    { '{ n = p.n, type', '{ threads = 5, n = p.n, type',
      "mine.lua:17: rung 1 'an element per thread': its record has threads = 64, and a side or a field "
        .. "of that name 5" },
    { 'each = 16 }', 'each = 16, fields = { share = 5 } }',
      "mine.lua:18: rung 2 'a loop', fields: records have a 'share' of their own; take another name" },
    { 'field = "h200"', 'field = "bound"', "mine.lua:19: source 'H200', field: records have a 'bound' of their own" },
    { '{ "ladder", cases', '{ "ladder", rate = "n", cases',
      "part 'ladder': rate 'n': there is a parameter of that name" },
    { '{ "ladder", cases', '{ "ladder", rate = "share", cases',
      "mine.lua:20: part 'ladder': rate 'share': records have a 'share' of their own; take another name" },
    { '{ "ladder", cases', '{ "ladder", rate = { "x", wrok = print }, cases',
      "mine.lua:20: part 'ladder': option 'rate' must be a field as in" },
    { '{ "ladder", cases', '{ "ladder", units = { t = "ms" }, cases',
      "mine.lua:20: part 'ladder': 'units' wants a base unit of 't', got 'ms'; give it as 's'" },
    { 'rate = "T_eff"', 'units = { t = 5 }',
      "mine.lua:2: mw.study: 'units' must be texts by the names of fields, as in units = { rate = \"flop/s\" }" },
    { 'each = 16 }', 'each = 16, mistake = true }',
      "mine.lua:20: part 'ladder', ratios: 'a loop' is a mistake, with which nothing is compared" },
    { 'level = "library copy"', 'level = "a mistake"',
      "mw.study, level: there is no rung or answer 'a mistake'" },
    -- sources and launches
    { 'each = 16 }', 'each = 16, source = "x", file = "saxpy.cu" }',
      "mine.lua:18: rung 2 'a loop': has 'file' and 'source', which is text instead of one" },
    { 'each = 16 }', 'each = 16, source = "x", make = print }',
      "mine.lua:18: rung 2 'a loop': has 'source' and 'make', whose launches name their own: c:launch(name, {" },
    { 'each = 16 }', 'each = 16, source = "saxpy.cu" }', "mine.lua:18: rung 2 'a loop': 'source' is text; a file is "
      .. "given with 'file', as in file = \"saxpy.cu\"" },
    { 'kernel = "saxpy_loop"', 'make = function(c) return c:keep(5) end',
      "mine.lua:18: rung 2 'a loop', make: c:keep: an array is wanted, got number" },
    { 'kernel = "saxpy_loop"', 'make = function(c) return c:launches {} end',
      "mine.lua:18: rung 2 'a loop', make: c:launches: a list of { kernel, { block =, grid = }, arguments } and " },
    { 'kernel = "saxpy_loop"', 'make = function(c) return c.launch("saxpy", { block = 1, grid = 1 }) end',
      "a kernel is given by its name, got table; a case's methods are called with a colon" },
    { 'kernel = "saxpy_loop"', 'make = function(c) return c:launch("saxpy", { block = 1, gird = 1 }) end',
      "mine.lua:18: rung 2 'a loop', make: kernel 'saxpy': unknown option 'gird'; did you mean 'grid'?" },
    { 'kernel = "saxpy_loop"', 'make = function(c) return c:launch("saxpy", { block = 1, grid = { 1, 2, 3, 4 } }) end',
      "mine.lua:18: rung 2 'a loop', make: kernel 'saxpy': 'grid' must be an integer, {x, y, z} or {x =, y =, z =}, "
        .. "got 4 numbers" },
  }

  it("is reported with its line, its field and the known names", function()
    local wrong = {}
    for _, mistake in ipairs(MISTAKES) do
      local made = run(changed(STUDY, mistake[1], mistake[2]))
      if made.status ~= 1 or not made.output:find(mistake[3], 1, true) then
        wrong[#wrong + 1] = ("%d, and not %s: %s"):format(made.status, mistake[3], made.output)
      end
    end
    assert.are.equal("", table.concat(wrong, "\n"))
  end)
end)
