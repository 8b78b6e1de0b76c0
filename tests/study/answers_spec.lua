-- SPDX-License-Identifier: MIT
--
-- mw.study: what a study checks, measures and leaves. Mistakes in its description: study/description_spec.lua.
-- $MOONWARP_PROGRAM is what was built.

local small_study = require "tests.support.small_study"
local support = require "tests.support"
local store = require "moonwarp.results.store"

local KERNELS, STUDY = small_study.KERNELS, small_study.TEXT
local changed, run, has = small_study.changed, small_study.run, small_study.has

local function rungs_of(record)
  local list = {}
  for i, r in ipairs(record.records) do list[i] = r.block and r.rung .. " " .. r.block or r.rung end
  return list
end

local function checks_of(record)
  local list = {}
  for _, check in ipairs(record.checks) do list[check.what] = check.ok end
  return list
end

describe("a study", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("checks, times, records and shows its rungs", function()
    local made = run(STUDY)
    assert.are.equal(0, made.status, made.output)
    assert.are.same({ "library copy", "an element per thread 64 x 1", "an element per thread 256 x 1", "a loop 64" },
      rungs_of(made.record))
    local checks = checks_of(made.record)
    for _, what in ipairs { "library copy, n = 1001, f32", "an element per thread, block 256 x 1, n = 13, f32",
                            "an element per thread, block 64 x 1, n = 100000, f32, samples",
                            "a loop, n = 100000, f32, beside 'an element per thread'",
                            "a loop, n = 100000, f32, after its timing, beside 'an element per thread'" } do
      assert.is_true(checks[what], what)
    end
    local copy, loop = made.record.records[1], made.record.records[4]
    assert.are.same({ "mine", "ladder", 2, "a loop", "64", 64, "f32", 100000, 400000, 4e12 },
      { loop.study, loop.group, loop.number, loop.rung, loop.block, loop.threads, loop.type, loop.n, loop.bytes,
        loop.h200 })
    assert.are.equal(1, copy.share)
    assert.is_near(loop.share, loop.T_eff / copy.T_eff, 1e-12)
    assert.is_near(loop.T_eff, 1200000 / loop.t.median, 1)
    assert.is_truthy(copy.drift and #copy.t.turns == 5 or #copy.t.turns <= copy.t.n)
    assert.are.same({ "mine-ladder", "ladder" }, { made.record.charts[1].name, made.record.charts[1].kind })
    assert.are.same({ "mine ladder, n = 100000, f32, measured on " .. loop.device_name .. " (cpu)",
                      "mine ladder, n = 100000, f32: ratios of the rates, with 95 % intervals, measured on "
                        .. loop.device_name .. " (cpu)" }, { made.record.tables[1].name, made.record.tables[2].name })
    assert.are.same({ "a loop / an element per thread", "best saxpy / library copy" },
      made.record.tables[2].columns[1].texts)
    has(made.output, "H200 (source)")
  end)

  it("leaves out a rung that is wrong on an odd case, and names it", function()
    local made = run(STUDY, "", changed(KERNELS, "i < n; i += gridDim", "i < n - 1; i += gridDim"))
    assert.are.equal(3, made.status, made.output)
    has(made.output, "check a loop, n = 1001, f32: 1 of 1001 elements are wrong")
    has(made.remarks, "Not measured: a loop (differs from the host for n = 1001, f32).")
    assert.are.same({ "library copy", "an element per thread 64 x 1", "an element per thread 256 x 1" },
      rungs_of(made.record))
    assert.are.same({ "best saxpy / library copy" }, made.record.tables[2].columns[1].texts)
    made = run(STUDY, "", changed(KERNELS, "if (i < n) y[i]", "if (i < n - 1) y[i]"))
    has(made.remarks, "Not measured: an element per thread (differs from the host for n = 1001, f32).")
  end)

  it("says once which rung fibers ran, and why", function()
    local waiting = changed(KERNELS, "y[i] += a * x[i];\n}\n\n",
      "y[i] += a * x[i];\n  goto end; end: __syncthreads();\n}\n\n")
    local words = "Run by fibers, the slowest engine of the CPU device: an element per thread ("
    local made = run(STUDY, "-p n=1000", waiting)
    assert.are.equal(0, made.status, made.output)
    has(made.remarks, words)
    has(made.remarks:gsub("%s+", " "), "line 4: there is a goto).")
    assert.are.equal(1, select(2, made.remarks:gsub("Run by fibers", "")))
    made = run(STUDY, "-p n=1000", KERNELS)
    assert.is_nil(made.remarks:find("Run by fibers", 1, true))
  end)

  it("names both sides of what is wrong only at the measured size", function()
    local made = run(STUDY, "", changed(KERNELS, "i += gridDim.x * blockDim.x) y[i] += a",
      "i += gridDim.x * blockDim.x) y[i] += i == 77777 ? 0 : a"))
    assert.are.equal(3, made.status, made.output)
    has(made.output, "check a loop, n = 100000, f32, beside 'an element per thread': 1 of 100000 elements are wrong")
    has(made.remarks, "a loop (wrong: it differs from 'an element per thread', which 68 samples confirm)")
    made = run(STUDY, "", changed(KERNELS, "if (i < n) y[i]", "if (i < n && (n < 2000 || i % 2)) y[i]"))
    has(made.remarks, "an element per thread, block 64 x 1 (wrong: it differs from the host at the measured size)")
    assert.are.same({ "library copy", "a loop 64" }, rungs_of(made.record))
  end)

  it("checks the rungs that a reference needs, whether or not they are measured", function()
    local text = changed(STUDY, "study:source", [[
study:answer("twice", { start = function(c) c.y:fill(1) end, needs = { "an element per thread" },
  bytes = function(c) return 3 * c.x:nbytes() end, cell = function(c, at, i) return 2 * c.a * at.x(i) + 1 end,
  reference = function(c, launcher)
    local y = c:keep(c.dev:full(1, "f32", c.n))
    local go = launcher("an element per thread", c:with { y = y })
    go()
    go()
    return y
  end })
study:rung { 3, "two loops", answer = "twice", kernel = "saxpy_loop", make = function(c)
  local go = c:launch("saxpy_loop", { block = 64, grid = 4 })
  return function() go() go() end
end }
study:source]])
    local words = "-p rungs=3"
    for _, rung in ipairs { '{ 1, "an element per thread",', '{ 2, "a loop",' } do
      text = changed(text, rung, rung .. ' answer = "saxpy",')
    end
    local made = run(text, words)
    assert.are.equal(0, made.status, made.output)
    assert.are.same({ "library copy", "two loops" }, rungs_of(made.record))
    assert.is_true(checks_of(made.record)["an element per thread, block 64 x 1, n = 1001, f32"])
    made = run(text, words, changed(KERNELS, "if (i < n) y[i]", "if (i < n - 1) y[i]"))
    assert.are.equal(3, made.status, made.output)
    assert.are.same({ "library copy" }, rungs_of(made.record))
    has(made.remarks, "two loops (what it is compared with needs 'an element per thread', which is wrong)")
    -- 3 is not asked for, and is not said to be left out
    made = run(text, "-p rungs=1", changed(KERNELS, "if (i < n) y[i]", "if (i < n - 1) y[i]"))
    has(made.remarks, "Not measured: an element per thread (differs from the host for n = 1001, f32).")
  end)

  it("takes rungs by number or name", function()
    assert.are.same({ "library copy", "a loop 64" }, rungs_of(run(STUDY, "-p rungs=2").record))
    assert.are.same({ "library copy", "a loop 64" }, rungs_of(run(STUDY, "-p rungs='a loop'").record))
    for words, message in pairs {
      ["-p rungs=3"] = "parameter 'rungs' must be a rung's number or name, of 1, 2, got '3'",
      ["-p shape=32"] = "unknown parameter 'shape'; did you mean 'shapes'?",
      ["-p n=0"] = "parameter 'n' must be a number of at least 1, got '0'",
    } do
      local made = run(STUDY, words)
      assert.are.equal(2, made.status, made.output)
      has(made.output, message)
      assert.is_nil(made.record)
    end
  end)

  it("says it where no chosen rung is in the parts that are run", function()
    local two = changed(STUDY, "return study",
      'study:part { "two", cases = { { n = 9 } }, rungs = { "a loop" } }\nreturn study')
    has(run(two, "-p rungs=1 -p parts=two").remarks,
      "Nothing is measured: no part that is run has one of the chosen rungs.")
    two = changed(two, '{ 2, "a loop"', '{ "a, b", kernel = "saxpy", grid = print }\nstudy:rung { 2, "a loop"')
    has(run(two, "-p rungs=3").output, "must be a rung's number or name, of 1, 'a, b', 2, got '3'")
  end)

  it("takes a rung's number however it is written, and parts only if there are several", function()
    assert.are.same({ "library copy", "a loop 64" }, rungs_of(run(STUDY, "-p 'rungs= 2.0'").record))
    local made = run(STUDY, "-p parts=ladder")
    assert.are.equal(2, made.status, made.output)
    has(made.output, "unknown parameter 'parts'; there is n, shapes, seconds, rungs")
  end)

  it("times its rungs", function()
    local text = changed(STUDY, "  question =", "  seconds = false, question =")
    local made = support.study("mine.lua", "", { untimed = true, kernels = { ["mine.lua"] = text } })
    has(made.output, "mine.lua:2: mw.study, seconds: rungs are timed; leave out seconds = false")
  end)

  it("leaves out a rung whose kernel leaves its arrays, and measures the others", function()
    -- y is also written after its end, which is found when it is used the next time
    local made = run(STUDY, "", changed(KERNELS, "if (i < n) y[i]", "if (i < n + 4096) y[i]"))
    assert.are.equal(3, made.status, made.output)
    has(made.output,
      "check an element per thread, block 64 x 1, n = 1001, f32: kernel 'saxpy' read outside every array")
    has(made.remarks, "Not measured: an element per thread (faults for n = 1001, f32).")
    assert.are.same({ "library copy", "a loop 64" }, rungs_of(made.record))
    assert.is_true(checks_of(made.record)["a loop, n = 1001, f32"])
    made = run(STUDY, "", changed(KERNELS, "if (i < n) y[i]", "if (i < n) y[i + (n > 2000 ? 500000000 : 0)]"))
    assert.are.equal(1, made.status, made.output)
    has(made.output, "mine.lua:17: rung 1 'an element per thread', n = 100000, f32: kernel 'saxpy' ")
  end)

  it("says what was left out, however it ends", function()
    local text = changed(STUDY, "return study", "study:finally(function() error 'no more' end) return study")
    local made = run(text, "", changed(KERNELS, "i < n; i += gridDim", "i < n - 1; i += gridDim"))
    assert.are.equal(1, made.status, made.output)
    has(made.remarks, "Not measured: a loop (differs from the host for n = 1001, f32).")
  end)

  it("takes arrays that the case made", function()
    local text = changed(changed(STUDY, 'c.dev:array("f32", c.n):random(1)', 'c:array(c.n):random(1)'),
      'c.dev:array("f32", c.n), a', 'c:full(0, c.n), a')
    local made = run(changed(text, 'output = "y"', 'output = "y", type = "f32"'))
    assert.are.equal(0, made.status, made.output)
    assert.are.equal(4, #made.record.records)
  end)

  it("compares with what the inputs were before a rung ran", function()
    local text = changed(STUDY, "study:rung { 1", [[
study:rung { 3, "swapped", answer = "copy", make = function(c) return function() c.x:copy(c.y) end end }
study:rung { 4, "both", answer = "saxpy", make = function(c) return function() c.x:fill(3) c.y:fill(7) end end }
study:rung { 1]])
    for _, rung in ipairs { '{ 1, "an element per thread",', '{ 2, "a loop",' } do
      text = changed(text, rung, rung .. ' answer = "saxpy",')
    end
    local made = run(text)
    assert.are.equal(3, made.status, made.output)
    local why = "differs from the host for n = 1001, f32"
    has(made.remarks, ("Not measured: swapped (%s); both (%s)."):format(why, why))
    assert.are.same({ "library copy", "an element per thread 64 x 1", "an element per thread 256 x 1", "a loop 64" },
      rungs_of(made.record))
  end)

  it("runs once if its file runs and returns it", function()
    local made = run(changed(STUDY, "return study", "study:run() return study"))
    assert.are.equal(0, made.status, made.output)
    assert.are.equal(4, #made.record.records)
  end)

  it("runs launches in order, and compiles their kernels at once", function()
    local text = changed(STUDY, 'kernel = "saxpy_loop", block = 64, over = { "n" }, each = 16', [[block = 64,
    launches = function(c, block)
      local how = { block = block, grid = 16 }
      return { { "saxpy_half<%s>", how }, { "saxpy_half<%s>", how, { a = c.a } } }
    end]])
    local kernels = KERNELS .. [[
template <typename T> __global__ void saxpy_half(T *y, const T *x, T a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a / 2 * x[i];
}]]
    local made = run(text, "", kernels)
    assert.are.equal(0, made.status, made.output)
    assert.are.equal("a loop 64", rungs_of(made.record)[4])
    made = run(changed(text, "grid = 16", "grid = 1 << 31"), "", kernels)
    assert.are.equal(0, made.status, made.output)
    has(made.remarks, "Not measured: a loop (2147483648 blocks along dimension 1, the device takes 2147483647).")
  end)

  it("sets a variable of its kernels, which all of them have in common", function()
    local kernels = KERNELS .. [[
__constant__ float factors[2];
template <int I> __global__ void saxpy_factor(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += factors[I] * x[i];
}]]
    local text = changed(STUDY, "function study.arrays(c)",
      'function study.arrays(c)\n  c:variable("factors"):upload { 2, 2 }')
    text = changed(text, 'kernel = "saxpy_loop"', 'kernel = "saxpy_factor<1>"')
    text = changed(text, "each = 16", "each = 1")
    local made = run(text, "", kernels)
    assert.are.equal(0, made.status, made.output)
    assert.are.equal("a loop 64", rungs_of(made.record)[4])
    made = run(changed(text, '"factors"', '"factor"'), "", kernels)
    assert.are.equal(1, made.status, made.output)
    has(made.output, "study.arrays: mine.lua:9: module 'saxpy.cu' has no device variable 'factor'; it has: factors")
    made = run(changed(text, 'kernel = "saxpy_factor<1>", block = 64, over = { "n" }',
      'make = function(c) return c:launch("saxpy_factor<1>", { block = 1024, grid = 1 + c.n // 1024 }) end'), "",
      kernels)
    assert.are.equal(1, made.status, made.output)
    has(made.output, "mine.lua:19: rung 2 'a loop', make: kernel 'saxpy_factor<1>' is in no module yet, and another "
      .. "one would have device variables of its own; name it in the rung's 'kernel'")
  end)

  it("makes a case of each value of a side that is a list, and checks an odd one once", function()
    local text = changed(STUDY, 'cases = { { n = p.n, type = "f32" } }',
      'cases = { { n = { 500, 7000 }, k = { 1, 2 }, type = "f32" }, { n = 9, k = 3, type = "f32" } }, rows = "all"')
    text = changed(text, "{ n = 13 }", "{ n = { 13, 14 } }")
    text = changed(text, "return study", 'study:part { "again", cases = { { n = 77, type = "f32" } }, '
      .. 'charts = { { x = "n", name = "again" }, { x = "threads" } } }\nreturn study')
    local made = run(text, "-p rungs=2")
    assert.are.equal(0, made.status, made.output)
    local cases, odd = {}, {}
    for _, r in ipairs(made.record.records) do
      if r.rung == "a loop" then cases[#cases + 1] = ("%s %s"):format(r.n, r.k) end
    end
    assert.are.same({ "500 1", "7000 1", "500 2", "7000 2", "9 3", "77 nil" }, cases)
    assert.are.same({ "mine-again", "mine-again-threads" },
      { made.record.charts[2].name, made.record.charts[3].name })
    for _, check in ipairs(made.record.checks) do
      if check.what:find "^a loop, n = 1[034]" then odd[#odd + 1] = check.what end
    end
    assert.are.same({ "a loop, n = 1001, f32", "a loop, n = 13, f32", "a loop, n = 14, f32" }, odd)
  end)

  it("keeps what is observed of a rung and the bytes of a case, and leaves out what an observation refutes", function()
    local text = changed(STUDY, 'each = 16 }', [[each = 16, observe = function(c, go, rung, check)
      go()
      check(c.y:view(1, 1), p.shapes[1] and c.y:get(1), { name = "the first" })
      return { first = 5 }
    end }]])
    text = changed(text, "observe =",
      "fields = function(c, block) return { twice = 2 * c.n, of = block } end, observe =")
    text = changed(text, "return { x =", "c.bytes = 12 * c.n\n  return { x =")
    local made = run(text)
    assert.are.equal(0, made.status, made.output)
    local loop = made.record.records[4]
    assert.are.same({ 5, 1200000, 200000, loop.threads }, { loop.first, loop.bytes, loop.twice, loop.of })
    assert.is_true(checks_of(made.record)["a loop, n = 100000, f32: the first"])
    made = run(changed(text, "p.shapes[1] and c.y:get(1)", "-1"))
    assert.are.equal(3, made.status, made.output)
    has(made.output, "check a loop, n = 100000, f32: the first: 1 of 1 elements are wrong")
    has(made.remarks, "Not measured: a loop (wrong: it fails a check of 'observe').")
    assert.are.equal(3, #made.record.records)
  end)

  it("has rungs under the number of one that is always measured", function()
    local text = changed(changed(STUDY, '{ 1, "an', '{ 1, always = true, "an'), '{ 2, "a loop"', '{ 1, "a loop"')
    assert.are.equal(4, #run(text).record.records)
  end)

  it("shows what others measured beside the cases that it belongs to", function()
    local text = changed(STUDY, "values = { [\"a loop\"] = 4e12, saxpy = 5e12 }",
      'when = function(c) return c.n > 500 end, values = { saxpy = 5e12, '
        .. '["a loop"] = function(c) return c.n * 1e6 end, ["an element per thread"] = 3e12 }')
    text = changed(text, "cases = { { n = p.n, type = \"f32\" } }", 'cases = { { n = { 1000, 400 }, type = "f32" } }')
    text = changed(text, 'kind = "ladder" }', 'kind = "ladder" }, { x = "n", by = "rung" }')
    local made = run(text)
    assert.are.equal(0, made.status, made.output)
    local known = {}
    for _, r in ipairs(made.record.records) do
      if r.h200 then known[("%s %d"):format(r.rung, r.n)] = r.h200 end
    end
    assert.are.same({ ["a loop 1000"] = 1e9, ["an element per thread 1000"] = 3e12 }, known)
    local points = {} -- one value for a rung is not a point along an axis
    for _, one in ipairs(made.record.charts[2].series) do
      if one.name:find "source" then points[one.name] = #one.points end
    end
    assert.are.same({ ["H200, source: a loop"] = 1 }, points)
  end)

  it("takes the type and the peak from its head", function()
    local text = changed(STUDY, 'output = "y"',
      'output = "y", type = "f32", peak = function() return { value = 1e12 } end')
    local made = run(changed(text, "n = p.n, type = \"f32\"", "n = p.n"))
    assert.are.equal(0, made.status, made.output)
    for _, r in ipairs(made.record.records) do
      assert.are.equal("f32", r.type)
      assert.is_near(r.of_peak, r.T_eff / 1e12, 1e-12)
    end
  end)

  it("names the case over a table of one case, and not over one of several", function()
    local text = changed(STUDY, 'cases = { { n = p.n, type = "f32" }', 'rows = "all", CASES, { n = 64, type = "f32" }')
    local function title_of(cases)
      return run((text:gsub("CASES, ", cases))).record.tables[1].name:match "^(.*), measured"
    end
    assert.are.equal("mine ladder, n = 64, f32", title_of "cases = { ")
    assert.are.equal("mine ladder, f32", title_of 'cases = { { n = 99, type = "f32" }, ')
  end)

  it("has further checks in proofs and in what is observed", function()
    local text = changed(changed(STUDY, "bytes = function", [[
  prove = function(c, _, check)
    check(c.y, 1 + WHAT, { relative = 0.9, name = "about 2" })
    check({ c.a, 3 }, { 2, 3 }, { name = "a list" })
  end,
  bytes = function]]), "each = 16", [[each = 16, observe = function(c, go, rung, check)
    c.y:fill(0)
    go()
    check(c.y, function(i) return 2 * c.x:get(i) + THAT end, { name = rung.name .. " from 0" })
    return { first = c.y:get(1) }
  end]])
    local function made_of(what, that) return run((text:gsub("WHAT", what):gsub("THAT", that))) end
    local made = made_of("1", "0")
    assert.are.equal(0, made.status, made.output)
    local checks = checks_of(made.record)
    assert.is_true(checks["an element per thread, block 64 x 1, n = 100000, f32: about 2"])
    assert.is_true(checks["an element per thread, block 64 x 1, n = 100000, f32: a list"])
    assert.is_true(checks["a loop, n = 100000, f32: a loop from 0"])
    assert.is_number(made.record.records[4].first)
    made = made_of("1", "1")
    assert.are.equal(3, made.status, made.output)
    has(made.remarks, "Not measured: a loop (wrong: it fails a check of 'observe').")
    assert.are.equal(3, #made.record.records)
    made = made_of("-3", "0")
    assert.are.equal(3, made.status, made.output)
    has(made.remarks, "an element per thread, block 64 x 1 (wrong: it differs from the host at the measured size)")
  end)

  it("says what the device does not take, and measures the rest", function()
    local text = changed(STUDY, "each = 16", "cooperative = true")
    local made = run(text)
    assert.are.equal(0, made.status, made.output)
    has(made.remarks, "Not measured: a loop (1563 blocks at once, the device holds 256).")
    assert.are.equal(3, #made.record.records)
  end)

  it("keeps the turns of a case that a kill interrupts", function()
    -- The last rung kills the program as soon as the journal has a turn of another one.
    local text = changed(STUDY, "each = 16", [[each = 16, args = { a = function()
      if os.execute "grep -qs slice out/mine/*/journal.jsonl" then os.execute "kill -9 $PPID" end
      return 2
    end }]])
    support.with_folder(function(folder)
      support.write(folder .. "/mine.lua", text)
      support.write(folder .. "/saxpy.cu", KERNELS)
      os.execute(("cd '%s' && '%s' run mine.lua --device cpu -p seconds=0.001 --out out >/dev/null 2>&1"):format(folder,
        support.program()))
      local stored = assert(store.read(support.runs(folder .. "/out")[1]))
      assert.are.equal("unfinished", stored.status)
      local first = assert(stored.records[1])
      assert.are.same({ "library copy", "ladder", 100000, true },
        { first.rung, first.group, first.n, first.unfinished })
      assert.is_true(#first.t.samples >= 1 and first.T_eff > 0 and first.T_eff == 800000 / first.t.median)
    end)
  end)

  it("keeps each measurement once, and none that is wrong, if a kill comes between the records", function()
    -- The journal as it was after each of its lines; a loop is wrong once a turn is noted.
    local fold, json = require "moonwarp.results.fold", require "moonwarp.base.json"
    local text = changed(STUDY, "each = 16", [[each = 16, args = { a = function()
      return os.execute "grep -qs slice out/mine/*/journal.jsonl" and 3 or 2
    end }]])
    support.with_folder(function(folder)
      support.write(folder .. "/mine.lua", (changed(text, "return study", [[
study:finally(function() os.execute "cp out/mine/*/journal.jsonl ." end)
return study]])))
      support.write(folder .. "/saxpy.cu", KERNELS)
      os.execute(("cd '%s' && '%s' run mine.lua --device cpu -p seconds=0.001 --out out >/dev/null 2>&1"):format(folder,
        support.program()))
      local so_far, dropped = "", false
      for line in assert(io.open(folder .. "/journal.jsonl")):lines "L" do
        so_far, dropped = so_far .. line, dropped or json.decode(line).kind == "slices_dropped"
        local rungs = {}
        for _, one in ipairs(fold.lines(json.lines(so_far)).records) do
          local name = ("%s %s"):format(one.rung, one.block)
          assert.is_nil(rungs[name], name .. " is there twice")
          rungs[name] = true
        end
        assert.is_nil(dropped and rungs["a loop 64"] or nil)
      end
      assert.is_true(dropped)
    end)
  end)

  it("runs in a stock interpreter by mw.run, which says whether all was right", function()
    local lua = support.stock_interpreter()
    if not lua then pending "needs lua5.4" return end
    support.with_folder(function(folder)
      support.write(folder .. "/mine.lua", STUDY)
      support.write(folder .. "/saxpy.cu", KERNELS)
      support.write(folder .. "/plain.lua", "return 5")
      local status, output = support.child([[
        local mw = require "moonwarp"
        print("right", mw.run "mine.lua")
        print(pcall(mw.run, "plain.lua"))
        print(pcall(mw.run, 5))
        print(pcall(mw.run, "none.lua"))]], { folder = folder, lua = lua })
      assert.are.equal(0, status, output)
      has(output, "best saxpy / library copy")
      has(output, "right\ttrue")
      has(output, "mw.run: a study or the path of one is wanted, got number")
      has(output, "mw.run: cannot open none.lua")
      has(output, "mw.run: 'plain.lua' returns no study")
      support.write(folder .. "/saxpy.cu", changed(KERNELS, "if (i < n) y[i]", "if (i < n - 1) y[i]"))
      status, output = support.child('print("right", require("moonwarp").run "mine.lua")',
        { folder = folder, lua = lua })
      assert.are.equal(0, status, output)
      has(output, "right\tfalse")
    end)
  end)
end)
