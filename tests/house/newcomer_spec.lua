-- SPDX-License-Identifier: MIT
--
-- Ten things that a newcomer adds to moonwarp, each added to a copy of it: at most two files are written by hand, and
-- what was added works. Tests, the pages of docs/api and what `make docs` writes are not counted. CONTRIBUTING.md has
-- the same in words. What is added to core/ is built, in `make stress` only.

local core = require "moonwarp.core"
local labs = require "tests.support.labs"
local small_study = require "tests.support.small_study"
local support = require "tests.support"

local quoted, shell = labs.quoted, labs.shell
local PARTS <const> = "core docs experiments kernels lua plots README.md CHANGELOG.md CONTRIBUTING.md LICENSE"
local MOST <const> = 2

-- ---- what is written ----------------------------------------------------------------------------

-- A file with a text exchanged in it, or a new one.
local function change(path, old, new) return { path = path, old = old, new = new } end
local function create(path, text) return { path = path, new = text } end

local KERNEL <const> = [[
__global__ void memcopy_backwards(REAL *__restrict__ B, const REAL *__restrict__ A, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) B[n - 1 - i] = A[n - 1 - i];
}

// ---- host notes ---]]

local DOTS <const> = [[
local fields = require "moonwarp.results.fields"
local figures = require "moonwarp.plot.figure"
local lists = require "moonwarp.base.lists"
local record = require "moonwarp.results.record"
local schema = require "moonwarp.base.schema"

local dots = { name = "dots", axis = "logx", class = "chart", form = schema.fields { dots = schema.list "number" } }

function dots.draw(session, spec)
  local entries = spec.records or session.records
  local about = figures.about(session, spec, "dots", "dots", record.devices(entries), entries)
  about.dots = lists.map(entries, function(entry) return fields.value(entry, spec.x) end)
  about.kind, about.levels = "dots", {}
  return figures.leave(session, "dots", dots, spec, about)
end

function dots.text(about) return ("%s\n<%s>"):format(about.title, table.concat(about.dots, " ")) end
function dots.drawing(about)
  return { what = "dots", columns = { "x" }, settings = {}, plots = { "data using 1:(0)" },
           blocks = { { name = "dots", columns = { "x" }, table.unpack(lists.map(about.dots, tostring)) } } }
end
function dots.merge(into, charts)
  into.dots = {}
  for _, one in ipairs(charts) do lists.append(into.dots, one.dots) end
  return into
end
function dots.values(about) return about.dots end
function dots.weight() return 1 end
function dots.words() return "dots" end

return dots
]]

local SCAL <const> = [[
  functions = {
    scal = {
      help = "x = alpha * x",
      arrays = { { "x", "n", writes = true, reads = true } }, options = { ALPHA }, types = same(1),
      cuda = "cublas?scal_v2(self, n, &alpha, x, 1)",
      cpu = "cblas_?scal(n, alpha, x, 1) -> none",
    },]]

local BYTES <const> = [[
MW_FN unsigned __byte_sum(unsigned x) { return (x & 255) + (x >> 8 & 255) + (x >> 16 & 255) + (x >> 24); }

MW_FN unsigned __brev(unsigned x) {]]

-- ---- whether it works -----------------------------------------------------------------------------
-- run(words) is moonwarp of the copy, in it; it returns what is printed.

local function expect(text, ...)
  for _, part in ipairs { ... } do assert.is_truthy(text:find(part, 1, true), part .. " is not in: " .. text) end
end

local function rung_works(run)
  expect(run "run memcopy --device cpu -p n=256 -p parts=ladder -p rungs=11 -p seconds=0.0001",
    "an element per thread, backwards")
end

local function study_works(run, home)
  expect(run "list newcomer", "newcomer       does a longer loop make saxpy faster?", "-p n=100000")
  expect(run "run newcomer --device cpu -p n=1000 -p seconds=0.0001", "an element per thread", "best saxpy")
  expect(run "batch experiments/curriculum.lua --dry-run --only newcomer --device cpu", "moonwarp run newcomer")
  run "run docs/gen.lua"
  expect(support.read(home .. "/docs/studies/README.md"), "| newcomer | does a longer loop make saxpy faster? |")
  expect(support.read(home .. "/docs/course.md"), "newcomer")
  expect(support.read(home .. "/kernels/README.md"), "| newcomer.cu |")
  run "run docs/gen.lua -- --check"
  -- A plain script next to the studies was run by it, and ended it; the mistake of a study was a traceback.
  support.write(home .. "/experiments/plain.lua", 'print "it runs"')
  run "run docs/gen.lua -- --check"
  support.write(home .. "/experiments/newcomer.lua", small_study.changed(small_study.changed(small_study.TEXT,
    "saxpy.cu", "newcomer.cu"), "question =", 'course = { week = "two" }, question ='))
  local status, output = shell(("cd %s && MOONWARP_HOME=%s %s run docs/gen.lua"):format(quoted(home), quoted(home),
    quoted(labs.program)))
  assert.are.equal(1, status)
  expect(output, "newcomer cannot be described: ", "mw.study: option 'course'.")
end

local function kind_works(run, home)
  support.write(home .. "/own.lua", [[
local mw = require "moonwarp"
for n = 1, 3 do mw.record { n = n } end
mw.dots { x = "n", pictures = false }]])
  expect(run "run own.lua", "<1 2 3>")
  expect(run "plot own --terminal", "<1 2 3>")
  support.write(home .. "/mine.lua", small_study.changed(small_study.changed(small_study.TEXT,
    'kind = "ladder"', 'kind = "dots", x = "n"'), "saxpy.cu", "mine.cu"))
  support.write(home .. "/mine.cu", small_study.KERNELS)
  expect(run "run mine.lua --device cpu -p n=1000 -p seconds=0.0001", "<1000")
end

local function option_works(run)
  expect(run "list --help", "--names", "only their names")
  expect("\n" .. run "list --names", "\nmemcopy\n")
end

local function function_works(run)
  expect(run [[-e 'local blas, dev = require "moonwarp.blas", mw.device "cpu"
    local x = dev:zeros("f32", 3):fill(2)
    local ok, problem = pcall(blas.scal, x, { alpha = 4 })
    print(ok and x:get(1) or problem)']], "8.0")
end

local function message_works(run)
  expect(run([[-e 'print(pcall(mw.skip, ("x"):rep(2000)))']]), "mw.skip: the reason has 2000 letters, 1000 at most")
end

local function gate_works(run)
  expect(run "batch experiments/curriculum.lua --dry-run --only memcopy --device cpu", "memcopy on cpu", "2 gates")
end

local function page_works(_, home)
  for name, target in support.read(home .. "/README.md"):gmatch "%[([^]]*)%]%(([^):]+)%)" do
    assert.is_truthy(require("lfs").attributes(home .. "/" .. target), "no page for " .. name)
  end
end

local function counter_works(run, home)
  support.write(home .. "/own.lua", [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local k = dev:module { source = "__global__ void k() { __syncthreads(); }" }.k
k:launch(1, 64)
print(mw.counters()[1].barriers, mw.counters()[1].barrier_halves)]])
  expect(run "run own.lua --counters --device cpu", "2\t4")
end

local function builtin_works(run)
  expect(run [[-e 'local dev = mw.device "cpu"
    local k = dev:module { source = "__global__ void k(int *x) { x[0] = __byte_sum(x[0]); }" }.k
    local x = dev:zeros("i32", 1):fill(0x01020304)
    k:launch(1, 1, x)
    print(x:get(1))']], "10")
end

-- ---- the tasks ----------------------------------------------------------------------------------

local TASKS <const> = {
  { "a rung", rung_works, change("kernels/memcopy.cu", "// ---- host notes ---", KERNEL),
    change("experiments/memcopy.lua", "-- ---- the rungs ---", [[
study:rung { 11, "an element per thread, backwards", kernel = "memcopy_backwards", answer = "copy", block = 256,
             over = { "n" } }
-- ---- the rungs ---]]) },
  { "a study", study_works, create("kernels/newcomer.cu", "// newcomer: y = a * x + y.\n" .. small_study.KERNELS),
    create("experiments/newcomer.lua", small_study.changed(small_study.TEXT, "saxpy.cu", "newcomer.cu")) },
  { "a chart kind", kind_works, create("lua/moonwarp/plot/dots.lua", DOTS),
    change("lua/moonwarp/plot/kinds.lua", "{ plot, ladder,", '{ require("moonwarp.plot.dots"), plot, ladder,') },
  { "a CLI option", option_works, change("lua/moonwarp/cli/list.lua", '{ { flag = "--json", help = "as JSON" } }',
      '{ { flag = "--json", help = "as JSON" }, { flag = "--names", help = "only their names" } }'),
    change("lua/moonwarp/cli/list.lua", "  local asked, status", [[
  if parsed.names then return print(table.concat(studies.names(), "\n")) end
  local asked, status]]), change("docs/moonwarp.1", ".B moonwarp list\n", ".B moonwarp list\n.RB [ \\-\\-names ]\n") },
  { "a library function", function_works, change("lua/moonwarp/blas.lua", "  functions = {", SCAL) },
  { "a message", message_works, change("lua/moonwarp/skip.lua", '  local problem = failure.new("skipped"', [[
  if #reason > 1000 then failure.invalid("mw.skip: the reason has %d letters, 1000 at most", #reason) end
  local problem = failure.new("skipped"]]) },
  { "a lab gate", gate_works, change("experiments/curriculum.lua",
    'gates = { gate("T_tot", "an element per thread", 0.1, "library copy", LADDER),',
    [[gates = { gate("T_tot", "an element per thread", 0.1, "library copy", LADDER),
              gate("T_tot", "16 bytes per thread", 0.1, "library copy", LADDER),]]) },
  { "a page", page_works, create("docs/newcomer.md", "# What newcomers ask\n"),
    change("README.md", "[CHANGELOG](CHANGELOG.md)", "[CHANGELOG](CHANGELOG.md), [newcomers](docs/newcomer.md)") },
}

local BUILT <const> = {
  { "a counter", counter_works, change("core/backend/counters.h", '"barriers of a block, by warp")',
    '"barriers of a block, by warp") \\\n  X(barrier_halves, SUM, NULL, NULL, \\\n    "the same by half a warp")'),
    change("core/backend/cpu/check/counter.c", "  counts_of(counter, NULL, file, line)->barriers++;",
      "  counts_of(counter, NULL, file, line)->barriers++;\n"
      .. "  counts_of(counter, NULL, file, line)->barrier_halves += 2;") },
  { "a builtin", builtin_works, change("core/source/builtin.c", '"__brev", ', '"__brev", "__byte_sum", '),
    change("core/backend/cpu/shim/moonwarp/integer.h", "MW_FN unsigned __brev(unsigned x) {", BYTES) },
}

-- ---- in a copy ----------------------------------------------------------------------------------

local function copied(parts, body)
  support.with_folder(function(folder)
    assert.are.equal(0, (shell(("cd %s && cp -a %s %s"):format(quoted(core.home()), parts, quoted(folder)))))
    body(folder, function(words, program)
      local status, output = shell(("cd %s && MOONWARP_HOME=%s %s %s </dev/null"):format(quoted(folder),
        quoted(folder), quoted(program or labs.program), words))
      assert.are.equal(0, status, output)
      return output
    end)
  end)
end

-- Makes a task's changes; the files that are not as they are here.
local function done(task, home)
  for i = 3, #task do
    local path, one = ("%s/%s"):format(home, task[i].path), task[i]
    support.write(path, one.old and small_study.changed(support.read(path), one.old, one.new) or one.new)
  end
  local differing = {}
  for part in PARTS:gmatch "%S+" do
    local _, output = shell(("diff -rq %s %s"):format(quoted(core.home() .. "/" .. part), quoted(home .. "/" .. part)))
    for line in output:gmatch "[^\n]+" do differing[#differing + 1] = line end
  end
  return differing
end

describe("what a newcomer adds", function()
  local is_checkout = support.program() and require("lfs").attributes(core.home() .. "/Makefile")
  if not is_checkout then return pending "needs the program and the sources" end

  for _, task in ipairs(TASKS) do
    it(("is in two files at most, and works: %s"):format(task[1]), function()
      copied(PARTS, function(home, run)
        local files = done(task, home)
        assert.is_true(#files >= 1 and #files <= MOST, table.concat(files, "\n"))
        task[2](run, home)
      end)
    end)
  end

  if not support.whole then return end

  it("is in two files at most, and works: a counter, a builtin", function()
    copied(PARTS .. " .make Makefile build", function(home, run)
      for i, task in ipairs(BUILT) do
        local files = done(task, home)
        assert.is_true(#files >= 1 and #files <= i * MOST, table.concat(files, "\n"))
      end
      assert.are.equal(0, shell(("cd %s && NO_DEPS=1 make -s programs"):format(quoted(home))))
      for _, task in ipairs(BUILT) do
        task[2](function(words) return run(words, home .. "/build/moonwarp") end, home)
      end
    end)
  end)
end)
