-- SPDX-License-Identifier: MIT
--
-- Check mode as users meet it: a device, a run, a study, a sweep, a lab; findings as data, in words, in the record and
-- in the report. What is found, and what is not, is for other specs. $MOONWARP_PROGRAM is what was built.

local support = require "tests.support"
local core = support.core
local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local mw = require "moonwarp"

-- Red lacks a barrier in its loop; all threads of same write one value, which its line says is meant.
local KERNELS = [=[
__global__ void red(float *b, const float *a) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int h = 32; h; h /= 2)
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
  if (threadIdx.x == 0) *b = s[0];
}
__global__ void same(float *b) {
  *b = 1; // moonwarp: race-ok all write 1
}
__global__ void twice(float *b, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = 2 * a[i];
}
]=]

local RED = [[
local dev = mw.device()
local m = dev:module "k.cu"
local a, b = dev:full(1, "f32", 64), dev:array("f32", 1)
m.red:launch(1, 64, b, a)
]]

local SAME = [[
local dev = mw.device()
dev:module "k.cu".same:launch(1, 64, dev:array("f32", 1))
]]

local LINE = "race in shared memory: kernel 'red', "

-- Files in a folder, and the program in it, on the CPU device.
local function with_files(files, body)
  support.with_folder(function(folder)
    files["k.cu"] = files["k.cu"] or KERNELS
    for name, text in pairs(files) do support.write(folder .. "/" .. name, text) end
    body(function(words)
      return labs.shell(("cd %s && MOONWARP_DEVICE=cpu %s %s </dev/null"):format(labs.quoted(folder),
        labs.quoted(labs.program), words))
    end, folder)
  end)
end

local function record_in(folder)
  return assert(json.decode(support.read(support.run(folder .. "/out") .. "/record.json")))
end

local function count(text, part)
  local _, times = text:gsub(part:gsub("%p", "%%%0"), "")
  return times
end

describe("check mode of a device", function()
  it("is an option of mw.device, or the device's id", function()
    local dev = mw.device("cpu", { check = true })
    assert.are.equal("cpu:check", dev:id())
    assert.is_true(dev:properties().checks)
    assert.are.equal(dev, mw.device "cpu:check")
    assert.are.equal(dev, mw.device(dev:id(), { check = true }))
    assert.are.equal("cpu", mw.device("cpu", { check = false }):id())
    assert.is_false(mw.device "cpu":properties().checks)
  end)

  it("is part of what an id says", function()
    local word = core.device_word "cpu:check"
    assert.are.equal("cpu:check cpu cpu", table.concat({ word.id, word.backend, word.kind }, " "))
    assert.is_true(word.checked)
    assert.are.equal("cpu:check", core.device_word "cpu".checks)
    assert.are.equal("cuda:check", core.device_word "cuda".checks)
    assert.is_true(core.device_word "cuda:check".checked)
  end)

  it("is rejected where there is none", function()
    support.fails_as("no_device", function() mw.device("cpu:seven", { check = true }) end, "there is one cpu device")
    support.fails_with(function() mw.device("cpu", { chek = true }) end, "unknown option 'chek'; did you mean 'check'?")
  end)

  it("finds nothing in a kernel without a mistake", function()
    local dev = mw.device("cpu", { check = true })
    local a, b = dev:full(1, "f32", 100), dev:array("f32", 100)
    local before = #dev:findings()
    dev:module { source = KERNELS }.twice:launch(1, 128, b, a, 100)
    assert.is_true(mw.check(b, 2))
    assert.are.equal(before, #dev:findings())
    assert.are.equal(0, #mw.device "cpu":findings())
  end)
end)

describe("findings", function()
  local CODE = [[
    local mw = require "moonwarp"
    local dev = mw.device("cpu", { check = true })
    local m = dev:module { source = [=[%s]=], name = "k.cu" }
    m.red:launch(1, 64, dev:array("f32", 1), dev:full(1, "f32", 64))
    m.same:launch(1, 64, dev:array("f32", 1))
    %s]]

  local function child(code) return support.child(CODE:format(KERNELS, code)) end

  it("are data, with both accesses", function()
    local _, output = child [[
      local one = mw.findings()[1]
      print(#mw.findings(), #dev:findings(), one.kind, one.kernel, one.intended, one.count > 1, one.device)
      for _, p in ipairs(one.parties) do print(p.verb, p.bytes, p.line, #p.block, #p.thread, p.text) end
      print(mw.findings()[2].intended)]]
    assert.is_truthy(output:find("2\t2\trace in shared memory\tred\tfalse\ttrue\tcpu:check", 1, true), output)
    assert.is_truthy(output:find("write\t4\t6\t3\t3\tif (threadIdx.x < h)", 1, true), output)
    assert.is_truthy(output:find("read\t4\t6\t3\t3\tif (threadIdx.x < h)", 1, true), output)
    assert.is_truthy(output:find "\ntrue\n", output)
  end)

  it("outlive the device's handle, and are not counted anew when it is opened again", function()
    local _, output = child [[
      dev:close()
      print("closed", #mw.findings())
      print("opened", #mw.device("cpu", { check = true }):findings(), #mw.findings())]]
    assert.is_truthy(output:find("closed\t2", 1, true), output)
    assert.is_truthy(output:find("opened\t2\t2", 1, true), output)
  end)

  it("are printed once, with lines and remedy; an intended one in one line", function()
    local _, output = child ""
    assert.are.equal(1, count(output, LINE), output)
    assert.is_truthy(output:find("\n  %d+ times; put __syncthreads%(%) between the two accesses"), output)
    assert.is_truthy(output:find "\nintended race in global memory: kernel 'same', [^\n]*: all write 1\n", output)
  end)

  it("that a script expects are its own: each is given once, none is printed or fails the run", function()
    with_files({ ["s.lua"] = 'local mw = require "moonwarp"\n' .. RED .. [[
      print(#mw.findings { expected = true }, #mw.findings { expected = true }, mw.findings()[1].intended)]] },
      function(run, folder)
        local status, output = run "run --check s.lua"
        assert.are.equal(0, status, output)
        assert.is_truthy(output:find("1\t0\tfalse", 1, true), output)
        assert.are.equal(0, count(output, LINE), output)
        local record = record_in(folder)
        assert.are.equal("complete true", ("%s %s"):format(record.status, record.findings[1].intended))
      end)
  end)

  it("have a text", function()
    local _, output = child [[
      print("<" .. tostring(mw.findings()):match "[^\n]*" .. ">", tostring(dev:findings()[1]):match "^race")]]
    assert.is_truthy(output:find("<" .. LINE, 1, true), output)
    assert.are.equal("no findings", tostring(mw.device "cpu":findings()))
  end)
end)

describe("mw.bench in check mode", function()
  local dev = mw.device("cpu", { check = true })

  it("runs the function once, after its setup", function()
    local calls = {}
    local t = mw.bench(function() calls[#calls + 1] = "call" end,
      { device = dev, cold = true, graph = true, setup = function() calls[#calls + 1] = "setup" end })
    assert.are.equal("setup call", table.concat(calls, " "))
    assert.are.equal("0 0 0 0", table.concat({ t.n, t.cold.n, t.graph.n, #t.samples }, " "))
  end)

  it("gives numbers that are NaN, and arithmetic with them goes on", function()
    local output = dev:array("f32", 4)
    local t = mw.bench(function() end, { device = dev, bytes = 1e15, flops = 10, peak = 1, output = output })
    for _, value in ipairs { t.median, t.low, t.noise, t.first, t.throughput, t.rate, t.launch.median,
                             (2 * 4096 / t).value } do
      assert.is_true(value ~= value)
    end
    assert.are.equal("not timed not timed", tostring(t) .. " " .. tostring(8 / t))
    assert.are.equal("0 0 0", table.concat({ #t.alarms, #t.warnings, #t.flags }, " "))
  end)

  it("times no contenders, and has no ratio of them", function()
    local t = mw.bench({ a = function() end, b = function() end }, { device = dev })
    assert.are.equal("not timed", tostring(t:ratio("a", "b")))
    assert.are.equal("a: not timed\nb: not timed", tostring(t))
  end)

  it("lets tables and charts be asked for, and records be kept", function()
    local SCRIPT = [[
      local dev = mw.device()
      for k = 1, 2 do
        local t = mw.bench(function() end, { bytes = 8, flops = 8 })
        mw.record { k = k, rung = "r" .. k, T_tot = 8 / t, plain = 8 / t.median, t = t }
      end
      mw.table { "k", "T_tot", "t", "plain" }
      print(mw.plot { x = "k", y = "T_tot", peak = 8 / mw.bench(print) }.reason)
      print(mw.ladder { x = "T_tot", by = "rung" }.reason, mw.roofline().reason)]]
    with_files({ ["s.lua"] = 'local mw = require "moonwarp"\n' .. SCRIPT }, function(run, folder)
      local status, output = run "run --check s.lua"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("\n1 +not timed +not timed +nan\n"), output)
      assert.are.equal(3, count(output, "nothing is timed in check mode"), output)
      assert.is_truthy(output:find("check mode: no errors found", 1, true), output)
      local record = record_in(folder)
      assert.are.equal("complete cpu:check 2", ("%s %s %d"):format(record.status, record.device, #record.records))
      assert.are.equal(0, record.records[1].t.n)
      assert.is_nil(record.records[1].T_tot.value)
      assert.is_nil(require "moonwarp.results.record_schema".problem(record))
    end)
  end)
end)

describe("moonwarp run --check", function()
  it("opens every device in check mode, and fails if it found something", function()
    with_files({ ["s.lua"] = 'local mw = require "moonwarp"\n' .. RED .. "print(dev:id())" }, function(run, folder)
      local status, output = run "run s.lua"
      assert.are.equal(0, status, output)
      assert.is_nil(output:find("cpu:check", 1, true), output) -- the best device there is
      status, output = run "run --check s.lua"
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("cpu:check", 1, true), output)
      assert.are.equal(1, count(output, LINE), output)
      assert.is_truthy(output:find("moonwarp: check mode found an error\n", 1, true), output)
      local record = record_in(folder)
      assert.are.equal("check failed", record.status)
      assert.are.equal("red.6", ("%s.%d"):format(record.findings[1].kernel, record.findings[1].parties[1].line))
      assert.are.equal("race in shared memory", record.checks[1].what)
      assert.is_nil(require "moonwarp.results.record_schema".problem(record))
    end)
  end)

  local OPERATIONS <const> = [[
local mw = require "moonwarp"
local dev = mw.device(...)
local d, p, s = dev:zeros("f64", 16), dev:pinned("f64", 16), dev:stream { blocking = false }
dev:synchronize()
p:copy(d, { stream = s })
p:set(6, 1)
dev:synchronize()
mw.record { n = 1 }]]

  it("has races between operations, which are warnings in a normal run", function()
    with_files({ ["s.lua"] = OPERATIONS }, function(run, folder)
      local status, output = run "run --device cpu s.lua"
      assert.are.equal(0, status, output)
      assert.are.equal(1, count(output, "race between operations"), output)
      local record = record_in(folder)
      assert.are.equal("complete 1 0", ("%s %d %d"):format(record.status, #record.findings, #record.checks))
      assert.is_true(record.findings[1].warning)
      assert.is_nil(require "moonwarp.results.record_schema".problem(record))
    end)
    with_files({ ["s.lua"] = OPERATIONS }, function(run, folder)
      local status, output = run "run --check s.lua"
      assert.are.equal(3, status, output)
      assert.are.equal(1, count(output, "race between operations"), output)
      local record = record_in(folder)
      assert.are.equal("check failed 1 1", ("%s %d %d"):format(record.status, #record.findings, #record.checks))
      assert.are.same({ false, 5 }, { record.findings[1].warning, record.findings[1].memory.index })
      assert.is_nil(require "moonwarp.results.record_schema".problem(record))
      assert.are.equal(0, (run "report out --output r.html"))
      local page = support.read(folder .. "/r.html")
      assert.is_truthy(page:find('<mark class="bad" title="race between operations">p:set(6, 1)', 1, true)
        or page:find('<mark class=bad title="race between operations">p:set(6, 1)', 1, true), page:match "<mark[^\n]*")
    end)
  end)

  it("counts what is intended, and does not fail for it", function()
    with_files({ ["s.lua"] = 'local mw = require "moonwarp"\n' .. SAME }, function(run, folder)
      local status, output = run "run --check s.lua"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("intended race in global memory: kernel 'same', k.cu:10, ", 1, true), output)
      local record = record_in(folder)
      assert.are.equal("complete 1 0", ("%s %d %d"):format(record.status, #record.findings, #record.checks))
    end)
  end)

  it("keeps what it found if the script fails, or ends by os.exit", function()
    for ending, wanted in pairs { ["error 'enough'"] = 1, ["os.exit(0)"] = 3 } do
      with_files({ ["s.lua"] = 'local mw = require "moonwarp"\n' .. RED .. ending }, function(run, folder)
        local status, output = run "run --check s.lua"
        assert.are.equal(wanted, status, output)
        assert.are.equal(1, count(output, LINE), output)
        assert.are.equal(1, #record_in(folder).findings)
      end)
    end
  end)

  it("is one run in a sweep, whose passes add up", function()
    local script = 'local mw = require "moonwarp"\nmw.arg("n", 1, "a number")\n' .. RED
    with_files({ ["s.lua"] = script }, function(run, folder)
      local status, output = run "run --check s.lua -p n=1,2"
      assert.are.equal(3, status, output)
      assert.are.equal(1, count(output, LINE), output)
      assert.are.equal(1, #record_in(folder).checks)
    end)
  end)

  it("marks the lines in the report", function()
    with_files({ ["s.lua"] = 'local mw = require "moonwarp"\n' .. RED .. SAME:gsub("local dev", "dev") },
      function(run, folder)
        assert.are.equal(3, (run "run --check s.lua"))
        local status, output = run "report out --output r.html"
        assert.are.equal(0, status, output)
        local page = support.read(folder .. "/r.html")
        assert.is_truthy(page:find(", check mode</", 1, true)) -- the device's name
        assert.is_truthy(page:find '<mark class="?bad"? title="race in shared memory in kernel red">    if', page)
        assert.is_truthy(page:find '<mark class="?warn"? title="intended race in global memory in kernel same">', page)
      end)
  end)
end)

-- ---- studies ------------------------------------------------------------------------------------

local STUDY = [[
local mw = require "moonwarp"
local study, p = mw.study { question = "?", kernels = "k.cu", output = "b", type = "f32", odd = { { n = 101 } },
  params = { { "n", 4096, "elements" }, { "word", "x", "no number" } }, seconds = { 0.001 } }
function study.arrays(c)
  print("case", c.n)
  return { a = c.dev:full(1, "f32", c.n), b = c.dev:array("f32", c.n) }
end
study:answer("twice", { cell = function() return 2 end, bytes = "a b" })
study:rung { 1, "naive", kernel = "twice", block = 64, over = { "n" } }
study:part { "ladder", cases = { { n = p.n } }, table = { "rung", "T_eff" }, charts = { { kind = "ladder" } } }
study:part { "own", run = function() print "own" end }
return study]]

describe("a study in check mode", function()
  -- What of it is run with the words of a command line.
  local function runs(words)
    local seen
    with_files({ ["s.lua"] = STUDY }, function(run, folder)
      local status, output = run("run --check s.lua " .. words)
      assert.are.equal(0, status, output)
      local cases = {}
      for n in output:gmatch "case%s+(%d+)" do cases[#cases + 1] = n end
      local record = record_in(folder)
      assert.are.equal(0, #record.records, output)
      assert.is_true(#record.checks > 0)
      seen = table.concat(cases, " ") .. (output:find "\nown\n" and " own" or "")
    end)
    return seen
  end

  it("runs its odd sizes only", function()
    assert.are.equal("101", runs "")
    assert.are.equal("101", runs "-p word=y -p rungs=1 -p seconds=0.1")
  end)

  it("runs the sizes that -p gives, too", function()
    assert.are.equal("101 300 own", runs "-p n=300")
  end)

  it("fails for a race that its results do not show", function()
    local racy = KERNELS:gsub("if %(i < n%) b%[i%] = 2 %* a%[i%];", "if (i < n) b[i] = 2 * a[i] + 0 * b[i ^ 1];")
    with_files({ ["s.lua"] = STUDY:gsub("odd = { { n = 101 } }", "odd = { { n = 128 } }"), ["k.cu"] = racy },
      function(run)
        local status, output = run "run --check s.lua"
        assert.are.equal(3, status, output)
        assert.is_truthy(output:find("race in global memory: kernel 'twice'", 1, true), output)
      end)
  end)
end)

-- ---- labs ---------------------------------------------------------------------------------------

describe("a lab with check = true", function()
  local CURRICULUM = [[
return { defaults = { devices = "cpu", check = true }, labs = {
  { name = "good", script = "s.lua", params = { n = 300, word = "y" } },
  { name = "sized", script = "s.lua", check = { params = { n = 301 } } },
  { name = "bad", script = "bad.lua" },
  { name = "wrong", script = "wrong.lua" },
  { name = "many", script = "many.lua", memory_limit = "1 GiB" },
  { name = "plain", script = "bad.lua", check = false } } }]]
  -- The sanitizer maps more than any limit of data lets it.
  if os.getenv "SANITIZED" then CURRICULUM = CURRICULUM:gsub(", memory_limit[^}]*", " ") end

  local MANY = [[
local mw, list = require "moonwarp", {}
for i = 1, 40 do list[i] = mw.device():zeros("f32", 1) end
mw.check(list[40], 0)]]

  local rows, steps, xml
  before_each(function()
    if rows then return end
    local bad = 'local mw = require "moonwarp"\n' .. RED
    with_files({ ["labs.lua"] = CURRICULUM, ["s.lua"] = STUDY, ["bad.lua"] = bad, ["many.lua"] = MANY,
                 ["wrong.lua"] = bad ..
                 "\nfor i = 1, 2 do mw.check(dev:zeros('f32', 1), 1, { name = 'y' .. i }) end" },
      function(run, folder)
        local status, output = run "batch labs.lua --out out --json r.json --junit j.xml"
        assert.are.equal(3, status, output)
        rows, steps, xml = {}, {}, support.read(folder .. "/j.xml")
        for _, row in ipairs(assert(json.decode(support.read(folder .. "/r.json"))).labs) do rows[row.id] = row end
        for _, file in ipairs(support.files(folder .. "/out")) do
          if file:find "batch.json$" then
            for _, step in ipairs(assert(json.decode(support.read(file))).steps) do steps[step.id] = step end
          end
        end
      end)
  end)

  it("has a pass in check mode before it, without the lab's numbers", function()
    assert.are.equal("passed passed", rows["good-cpu-check"].verdict .. " " .. rows["good-cpu"].verdict)
    assert.are.equal("word=y", table.concat(steps["good-cpu-check"].params, " "))
    assert.are.equal("n=301", table.concat(steps["sized-cpu-check"].params, " "))
    assert.are.equal("good-cpu-check", table.concat(steps["good-cpu"].needs, " "))
    assert.is_nil(steps["plain-cpu-check"])
  end)

  it("has room for many arrays, of which each reserves 256 MiB there", function()
    assert.are.equal("passed", rows["many-cpu-check"].verdict, rows["many-cpu-check"].message)
  end)

  it("fails by what that finds, and is not timed", function()
    assert.are.equal("check failed", rows["bad-cpu-check"].verdict)
    assert.is_truthy(rows["bad-cpu-check"].message:find(LINE, 1, true), rows["bad-cpu-check"].message)
    assert.are.equal("skipped passed", rows["bad-cpu"].verdict .. " " .. rows["plain-cpu"].verdict)
    local message = rows["wrong-cpu-check"].message
    assert.is_truthy(message:find("^check y1: .*; race in shared memory: kernel .*; 1 more check failed$"), message)
    assert.is_truthy(xml:find('<failure message="race in shared memory: kernel', 1, true), xml)
  end)
end)
