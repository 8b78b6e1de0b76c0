-- SPDX-License-Identifier: MIT
--
-- kernels/reduce.cu and the study over it: every rung at awkward sizes against the host, on every engine that takes
-- it; negative numbers, NaN and the lock; the study itself through the program.

local support = require "tests.support"
local core, mw = support.core, support.mw

local SIZES = { 1, 31, 257, 1000, 4099 }
local GRID = 5
local INFINITY = math.huge

local SUMS = { -- kernel, threads a block, sums a block
  { "reduce_tree", 256, 1 }, { "reduce_strided", 256, 1 }, { "reduce_dynamic", 256, 1 }, { "reduce_dynamic", 97, 1 },
  { "reduce_dynamic", 1, 1 }, { "reduce_down", 96, 3 }, { "reduce_butterfly", 96, 3 }, { "reduce_shuffle", 96, 1 },
  { "reduce_shuffle", 1024, 1 },
}
local TYPES = { { "f32", "float", 4, 2.0 ^ -23 }, { "f64", "double", 8, 2.0 ^ -52 } }
local OPERATIONS = { "SUM", "MIN", "MAX", "LENGTH" }
local ONCE = { SUM = 4, MIN = 4, MAX = 4, LENGTH = 2 }

-- Fibers once: they are slow to compile as well.
local function engines_of(id, type)
  return id == "cpu" and type[1] == "f32" and { "auto", "fiber" } or { "auto" }
end

local function operations_of(engine)
  return engine == "fiber" and { "SUM" } or OPERATIONS
end

-- All the kernels of a type in one run of the compiler.
local function module_of(dev, type, engine)
  local names = {}
  for _, op in ipairs(operations_of(engine)) do
    for _, kind in ipairs { "parts", "begin", "atomic", "cas", "lock", "last" } do
      names[#names + 1] = ("reduce_%s<%s,%s>"):format(kind, type[2], op)
    end
    names[#names + 1] = ("reduce_once<%s,%s,%d,256>"):format(type[2], op, ONCE[op])
  end
  return dev:module { file = "reduce.cu", defines = { REAL = type[2] }, templates = names, engine = engine }
end

-- All negative: a maximum by the bits of floats goes wrong here first.
local function host(op, xs, ys, count)
  local result = op == "SUM" and 0.0 or op == "MIN" and INFINITY or -INFINITY
  for i = 1, count do
    local x, y = xs[i], ys[i]
    if op == "SUM" then result = result + x
    elseif op == "MIN" then result = x < result and x or result
    elseif op == "MAX" then result = x > result and x or result
    else result = math.max(result, x * x + y * y) end
  end
  return result
end

local function near(got, wanted, allowed, what)
  assert.is_true(got == wanted or math.abs(got - wanted) <= allowed,
    ("%s: %.17g, expected %.17g"):format(what, got, wanted))
end

support.each_device(function(dev, id)
  local function sum_of(code, rung, x, count, bytes)
    local sums <close> = dev:array(x:dtype(), GRID * rung[3])
    local shared = rung[1] == "reduce_dynamic" and rung[2] * bytes or 0
    code[rung[1]]:prepare { grid = GRID, block = rung[2], shared = shared }(sums, x, count)
    local total = 0.0
    for _, sum in ipairs(sums:totable()) do total = total + sum end
    return total
  end

  local function check_sums(code, engine, type, x, xs)
    for _, rung in ipairs(SUMS) do
      for _, count in ipairs(SIZES) do
        near(sum_of(code, rung, x, count, type[3]), host("SUM", xs, xs, count), 16 * type[4] * count,
          ("%s, block %d, of %d %s by %s"):format(rung[1], rung[2], count, type[1], engine))
      end
    end
  end

  it("sums within a block", function()
    for _, type in ipairs(TYPES) do
      local x <close> = dev:array(type[1], SIZES[#SIZES]):random { seed = 1, min = -1, max = 1 }
      local xs = x:totable()
      for _, engine in ipairs(engines_of(id, type)) do
        local code <close> = module_of(dev, type, engine)
        check_sums(code, engine, type, x, xs)
      end
    end
  end)

  -- What a test of the grid's methods works with.
  local function set_of(type, x, y, engine)
    local set = { code = module_of(dev, type, engine), x = x, y = y,
                  out = dev:array(type[1], 1), parts = dev:array(type[1], GRID), flag = dev:zeros("u32", 1) }
    set.kernel = function(kind, op)
      local tail = kind == "once" and (",%d,256"):format(ONCE[op]) or ""
      return set.code[("reduce_%s<%s,%s%s>"):format(kind, type[2], op, tail)]
    end
    return set
  end

  local function close(set)
    for _, name in ipairs { "code", "out", "parts", "flag" } do set[name]:close() end
  end

  local run = {}
  function run.parts(set, op, count, y)
    set.kernel("parts", op):launch(GRID, 96, set.parts, set.x, y, count)
    set.kernel("parts", op == "LENGTH" and "MAX" or op):launch(1, 32, set.out, set.parts, mw.null, GRID)
  end
  for _, kind in ipairs { "atomic", "cas", "lock" } do
    run[kind] = function(set, op, count, y)
      set.kernel("begin", op):launch(1, 1, set.out)
      if kind == "lock" then set.kernel(kind, op):launch(GRID, 96, set.out, set.flag, set.x, y, count)
      else set.kernel(kind, op):launch(GRID, 96, set.out, set.x, y, count) end
    end
  end
  for _, kind in ipairs { "last", "once" } do
    run[kind] = function(set, op, count, y)
      set.kernel(kind, op):launch(GRID, kind == "once" and 256 or 96, set.out, set.parts, set.flag, set.x, y, count)
    end
  end

  local function result(set, kind, op, count)
    set.out:fill(0 / 0)
    set.parts:fill(0 / 0)
    run[kind](set, op, count, op == "LENGTH" and set.y or mw.null)
    assert.are.equal(0, set.flag:get(1), kind .. " leaves its lock or ticket")
    return set.out:get(1)
  end

  local function each_method(engine, body)
    for kind in pairs(run) do
      for _, op in ipairs(operations_of(engine)) do body(kind, op) end
    end
  end

  it("joins blocks by every method, every operation, of negative numbers too", function()
    for _, type in ipairs(TYPES) do
      local x <close> = dev:array(type[1], SIZES[#SIZES]):random { seed = 3, min = -9, max = -1 }
      local y <close> = dev:array(type[1], SIZES[#SIZES]):random { seed = 4, min = -1, max = 1 }
      local xs, ys = x:totable(), y:totable()
      for _, engine in ipairs(engines_of(id, type)) do
        local set = set_of(type, x, y, engine)
        each_method(engine, function(kind, op)
          for _, count in ipairs(SIZES) do
            local wanted = host(op, xs, ys, count)
            local allowed = op == "SUM" and 16 * type[4] * 9 * count or op == "LENGTH" and 4 * type[4] * wanted or 0
            near(result(set, kind, op, count), wanted, allowed,
              ("%s, %s of %d %s by %s"):format(kind, op, count, type[1], engine))
          end
        end)
        close(set)
      end
    end
  end)

  it("finds an extreme wherever it stands, whatever the sign of the others", function()
    local count = 4099
    local x <close> = dev:zeros("f32", count)
    local wanted = { MIN = -3, MAX = 3 }
    local set = set_of(TYPES[1], x, x, "auto")
    for _, at in ipairs { 1, 2, 256, 2047, 4097, 4099 } do
      for op, value in pairs(wanted) do
        x:fill(value > 0 and -1 or 1):set(at, value)
        for kind in pairs(run) do
          assert.are.equal(value, result(set, kind, op, count), ("%s %s at %d"):format(kind, op, at))
        end
      end
    end
    close(set)
  end)

  it("skips NaN in minimum and maximum, keeps it in a sum, and knows what nothing is", function()
    local x <close> = dev:array("f32", { 0 / 0, -2, 0 / 0, -5, 0 / 0 })
    local nan <close> = dev:full(0 / 0, "f32", 100)
    local set = set_of(TYPES[1], x, x, "auto")
    for kind in pairs(run) do
      assert.are.equal(-2, result(set, kind, "MAX", 5), kind)
      assert.are.equal(-5, result(set, kind, "MIN", 5), kind)
      assert.are.equal(50, result(set, kind, "LENGTH", 5), kind)
      local sum = result(set, kind, "SUM", 5)
      assert.is_true(sum ~= sum, kind)
      set.x = nan
      assert.are.equal(-INFINITY, result(set, kind, "MAX", 100), kind)
      assert.are.equal(INFINITY, result(set, kind, "MIN", 100), kind)
      assert.are.equal(0, result(set, kind, "SUM", 0), kind)
      set.x = x
    end
    close(set)
  end)

  it("gives the same bits by the last block and by parts", function()
    local count = 4099
    local x <close> = dev:array("f32", count):random { seed = 5, min = -1, max = 1 }
    local set = set_of(TYPES[1], x, x, "auto")
    for _, kind in ipairs { "parts", "last", "once" } do
      local first = result(set, kind, "SUM", count)
      for _ = 1, 20 do assert.are.equal(first, result(set, kind, "SUM", count), kind) end
    end
    close(set)
  end)
end)

describe("on the CPU device", function()
  it("no rung needs fibers", function()
    local code <close> = module_of(mw.device "cpu", TYPES[1], "auto")
    for _, rung in ipairs(SUMS) do assert.are.equal("split", (code[rung[1]]:engine()), rung[1]) end
    for _, name in ipairs { "parts<float,SUM>", "atomic<float,SUM>", "cas<float,SUM>", "lock<float,SUM>",
                            "last<float,SUM>", "once<float,SUM,4,256>" } do
      assert.are.equal("split", (code["reduce_" .. name]:engine()), name)
    end
  end)
end)

describe("the study", function()
  local program = support.program()
  if not program then
    pending "needs the program"
    return
  end

  local function study(folder, words)
    local command = ("cd '%s' && timeout 100 '%s' run reduction --device cpu -p seconds=0 -p types=f32 -p ops=sum " ..
      "-p per=4 -p per_once=2 --out '%s' %s >'%s/log' 2>&1"):format(folder, program, folder, words, folder)
    local ok = os.execute(command)
    local log = support.read(folder .. "/log")
    assert.is_true(ok, log)
    return log
  end

  it("runs, checks and leaves its files", function()
    support.with_folder(function(folder)
      local log = study(folder, "-p n=20011")
      assert.is_truthy(log:find("Same bits: of 10 runs each", 1, true), log)
      for _, name in ipairs { "record.json", "remarks.txt", "reduction-size.dat", "reduction-threads.gp",
                              "reduction-blocks.dat" } do
        assert.is_true(#support.read(support.run(folder) .. "/" .. name) > 0, name)
      end
    end)
  end)

  local LADDER = { "reduce_tree", "reduce_strided", "reduce_dynamic", "reduce_down", "reduce_butterfly",
                   "reduce_shuffle", "host", "second launch", "atomic", "compare and swap", "lock", "last block",
                   "16 bytes, last block" }

  local function measured_in(folder)
    local stored = assert(require("moonwarp.results.store").read(support.run(folder)))
    local list, seen = {}, {}
    for _, r in ipairs(stored.records) do
      assert.are.equal(LADDER[r.number], r.method)
      if not seen[r.number] then list[#list + 1] = r.number end
      seen[r.number] = true
    end
    table.sort(list)
    return table.concat(list, " ")
  end

  -- Of each subset: what is measured, what is drawn, what is said, and what must not be.
  it("takes any of its rungs, and says nothing of the others", function()
    local cases = {
      { "1", "1", {}, { "the halving tree takes" }, { "strided", "Over the grid", "Same bits" } },
      { "4", "1 4", {}, { "shuffles down takes" }, { "strided", "elements 'reduce" } },
      { "6,2", "1 2 6", { "threads" }, { "the same two take" }, { "Same bits" } },
      { "10", "10", {}, { "'compare and swap' (sum of f32) has", "Same bits" }, { "Within a block", "slowest" } },
      { "9,8,9", "8 9", { "blocks", "size" }, { "is the quickest with" }, { "Within a block", "'lock'", "'host'" } },
      { "13", "13", { "threads", "blocks", "size" }, { "last block' takes" }, { "Within a block", "slowest" } },
    }
    for _, case in ipairs(cases) do
      support.with_folder(function(folder)
        study(folder, "-p n=20011 -p rungs=" .. case[1])
        assert.are.equal(case[2], measured_in(folder))
        local drawn = {}
        for _, path in ipairs(support.files(support.run(folder))) do
          drawn[#drawn + 1] = path:match "reduction%-(%w+)%.dat$"
        end
        table.sort(drawn)
        table.sort(case[3])
        assert.are.same(case[3], drawn)
        local words = support.read(support.run(folder) .. "/remarks.txt"):gsub("%s+", " ")
        for _, text in ipairs(case[4]) do assert.is_truthy(words:find(text, 1, true), words) end
        for _, text in ipairs(case[5]) do assert.is_nil(words:find(text, 1, true), words) end
      end)
    end
  end)

  it("refuses a rung that is none", function()
    local pipe <close> = io.popen(("'%s' run reduction --device cpu -p rungs=14 2>&1"):format(program))
    assert.is_truthy(pipe:read "a":find("parameter 'rungs' must be a number from 1 to 13, got '14'", 1, true))
  end)

  -- All blocks of the measurements are powers of 2; the study looks for kernels in the working folder first.
  local function finds(from, to, words, what)
    support.with_folder(function(folder)
      for _, name in ipairs { "reduce.cu", "vector16.cuh" } do
        local text = support.read(core.home() .. "/kernels/" .. name)
        support.write(folder .. "/" .. name, (text:gsub(from, to)))
      end
      local command = "cd '%s' && timeout 100 '%s' run reduction --device cpu --quiet -p n=100003 -p seconds=0 "
        .. "-p types=f32 -p per=4 -p per_once=2 %s 2>&1"
      local pipe = io.popen(command:format(folder, program, words))
      local output = pipe:read "a"
      local _, _, status = pipe:close()
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find(what, 1, true), output)
    end)
  end

  it("finds a tree that leaves out the odd element", function()
    finds("it %+ %(count %+ 1%) / 2", "it + count / 2", "-p ops=sum",
      "check reduce_dynamic, 97 threads, sum of 100003 f32: 1 of 1 elements are wrong")
  end)

  -- It is the lock of the next method, which would wait for it.
  it("finds a ticket that is not given back, and comes to an end", function()
    finds("%*ticket = 0;", "", "-p ops=sum,min", "check last block: its lock or ticket: 1 of 1 elements are wrong")
  end)

  it("knows the answer for a handful of elements", function()
    support.with_folder(function(folder) study(folder, "-p n=1,3") end)
  end)
end)
