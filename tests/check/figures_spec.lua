-- SPDX-License-Identifier: MIT
--
-- Structural counters as users meet them: moonwarp run --counters, a study's columns, gates of a curriculum.
-- $MOONWARP_PROGRAM is what was built.

local support = require "tests.support"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local labs = require "tests.support.labs"
local small_study = require "tests.support.small_study"

-- read reads rows and write writes columns of 32 floats; turn has a tile whose columns are in one bank.
local KERNELS = [=[
__global__ void write(float *y, const float *x) {
  y[32 * threadIdx.x] = x[threadIdx.x];
}
template <int PAD> __global__ void turn(float *y, const float *x) {
  __shared__ float s[32][32 + PAD];
  int i = threadIdx.x, j = threadIdx.y;
  s[j][i] = x[32 * j + i];
  __syncthreads();
  y[32 * j + i] = s[i][j];
}
__global__ void race(float *y) {
  y[0] = threadIdx.x;
}
]=]

local SCRIPT = [[
local mw = require "moonwarp"
local dev = mw.device()
local m = dev:module { file = "k.cu", templates = { "turn<0>", "turn<1>" } }
local x, y = dev:full(1, "f32", 1024), dev:zeros("f32", 1024)
for _ = 1, 3 do m.write:launch(1, 32, y, x) end
m:kernel "turn<0>":launch(1, { 32, 32 }, y, x)
m:kernel "turn<1>":launch(1, { 32, 32 }, y, x)
]]

-- Files in a folder, and the program in it, on the CPU device.
local function with_files(files, body)
  support.with_folder(function(folder)
    files["k.cu"] = KERNELS
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

local function has(text, part)
  assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text))
end

describe("moonwarp run --counters", function()
  if not support.program() then return pending "needs the program" end

  it("prints a table by kernel and the lines that cost most, and keeps both", function()
    with_files({ ["s.lua"] = SCRIPT .. "print('in the script', #mw.counters(), mw.counters()[1].launches)" },
      function(run, folder)
        local status, output = run "run --counters s.lua"
        assert.are.equal(0, status, output)
        has(output, "in the script\t3\t3\n")
        assert.is_truthy(output:find("\nwrite +3 +4.00 +32.0 +%- +32.0\n"), output)
        assert.is_truthy(output:find("\nturn<0> +1 +4.00 +4.00 +15.5 +32.0\n"), output)
        assert.is_truthy(output:find("\nturn<1> +1 +4.00 +4.00 +0 +32.0\n"), output)
        has(output, "\nwhat costs most, by line\n  k.cu:9  shared load: 15.5 conflicts per request  y[")
        assert.is_truthy(output:find("\n  k.cu:2  store: 32 sectors per request, 4 needed +y%["), output)
        has(output, "check mode: no errors found\n")
        local record = record_in(folder)
        assert.are.equal("complete counters 3", ("%s %s %d"):format(record.status, record.check, #record.counters))
        local turn = record.counters[2]
        assert.are.equal("turn<0> cpu:check cpu 1 15.5", ("%s %s %s %d %s"):format(turn.kernel, turn.device,
          turn.source, turn.launches, turn.shared_conflicts_per_request))
        local line = turn.lines[3]
        assert.are.equal("k.cu 9 31.0 32", ("%s %d %.1f %d"):format(line.file:match "[^/]+$", line.line,
          line.shared_load_conflicts / line.shared_load_requests, line.store_requests))
        assert.are.equal("structural counters", record.tables[1].name:match "^[^,]+")
        status, output = run "report out --output r.html"
        assert.are.equal(0, status, output)
        has(support.read(folder .. "/r.html"), '<td class=n data-of="conflicts per request">15.5')
        status, output = run "rerun out --out again"
        assert.are.equal(0, status, output)
        assert.is_truthy(output:find("\nturn<0> +1 +4.00 +4.00 +15.5 +32.0\n"), output)
        status, output = run "export out --counters"
        assert.are.equal(0, status, output)
        has(output, ",kernel,lanes,launches,line,")
        has(output, ",1 x 1 x 1,") -- the grid
        has(output, ",k.cu,1 x 1 x 1,turn<0>,2048,1,9,")
      end)
  end)

  it("fails by what check mode finds, as --check does, and is the word counters of it", function()
    with_files({ ["s.lua"] = SCRIPT .. "m.race:launch(1, 32, y)" }, function(run, folder)
      local status, output = run "run --check=counters s.lua"
      assert.are.equal(3, status, output)
      has(output, "race in global memory: kernel 'race'")
      assert.is_truthy(output:find("\nrace +1 +%- +1.00 +%- +32.0\n"), output)
      assert.are.equal("check failed 4", record_in(folder).status .. " " .. #record_in(folder).counters)
    end)
  end)

  it("is not needed in a script, where the list prints as it does", function()
    local text = SCRIPT:gsub("mw.device%(%)", "mw.device('cpu', { check = 'counters' })")
    with_files({ ["s.lua"] = "print(require('moonwarp').counters()) " .. text .. "print(mw.counters())",
                 ["t.lua"] = "require('moonwarp').counters(1)" }, function(run)
      local status, output = run "run s.lua"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("^no launch was counted\nstructural counters, [^\n]*\nkernel"), output)
      has(output, "\n  k.cu:9  shared load: 15.5 conflicts per request  y[")
      assert.are.equal(1, select(2, output:gsub("structural", "")), output)
      status, output = run "run t.lua"
      assert.are.equal(1, status)
      has(output, "t.lua:1: mw.counters takes no arguments, got 1")
    end)
  end)

  it("shows nothing where nothing was launched, and does not count without it", function()
    with_files({ ["s.lua"] = "require('moonwarp').device()", ["t.lua"] = SCRIPT }, function(run, folder)
      local status, output = run "run --counters s.lua"
      assert.are.equal("0 check mode: no errors found\n", status .. " " .. output)
      status, output = run "run --check t.lua"
      assert.are.equal(0, status, output)
      assert.is_nil(output:find("structural", 1, true), output)
      assert.are.equal(0, #support.runs(folder))
    end)
  end)
end)

-- ---- a study --------------------------------------------------------------------------------------

local COUNTED <const> = small_study.changed(small_study.TEXT, 'level = "library copy",',
  'level = "library copy", counters = { "load_sectors_per_request", "load_efficiency", at = { n = 256 } },')

describe("a study with counters", function()
  if not support.program() then return pending "needs the program" end

  it("has them beside its times, as columns and as fields", function()
    local run = small_study.run(COUNTED, "-p n=1000")
    assert.are.equal(0, run.status, run.output)
    local by_rung = {}
    for _, one in ipairs(run.record.records) do by_rung[one.rung] = one end
    local rung = by_rung["an element per thread"]
    assert.are.equal("4.0 1.0 %", ("%.1f %.1f %s"):format(rung.load_sectors_per_request, rung.load_efficiency,
      rung.units.load_efficiency))
    assert.is_nil(by_rung["library copy"].load_sectors_per_request) -- which launches nothing
    assert.is_truthy(run.output:find("sectors/load +loaded bytes used %(%%%)"), run.output)
    assert.are.equal("cpu", rung.device) -- that of the times
    local rows = lists.map(run.record.counters, function(row) return row.kernel .. " " .. row.block[1] end)
    assert.are.equal("saxpy 64, saxpy 256, saxpy_loop 64", table.concat(rows, ", "))
  end)

  it("runs only the cases that they name with --counters", function()
    local run = small_study.run(COUNTED, "--counters")
    assert.are.equal(0, run.status, run.output)
    assert.are.equal(0, #run.record.records)
    local names = table.concat(lists.map(run.record.checks, function(one) return one.what end), ";")
    has(names, "n = 256, f32")
    assert.is_nil(names:find("n = 1001", 1, true), names)
    run = small_study.run(small_study.TEXT, "--counters")
    has(run.output, "saxpy_loop")
    has(run.record.checks[1].what, "n = 50000, f32")
  end)

  it("leaves out a rung, and takes small sides from those that are measured", function()
    local text = small_study.changed(COUNTED, "at = { n = 256 }", "at = function(c) return { n = c.n // 100 } end")
    text = small_study.changed(text, 'kernel = "saxpy_loop",', 'kernel = "saxpy_loop", counters = false,')
    local run = small_study.run(text, "-p n=800")
    assert.are.equal(0, run.status, run.output)
    assert.are.equal("saxpy saxpy", run.record.counters[1].kernel .. " " .. run.record.counters[2].kernel)
    assert.are.equal(24, run.record.counters[1].lanes) -- x and y are read, y is written: 8 elements each
    run = small_study.run(small_study.changed(COUNTED, "at = { n = 256 }", "at = function() end"))
    assert.are.equal(1, run.status, run.output)
    has(run.output, "counters: 'at' must return sides such as { n = 4096 }, got nil")
  end)

  it("says which rung cannot be counted, and goes on", function()
    local text = small_study.changed(COUNTED, "at = { n = 256 }", "at = { n = 1 << 50 }")
    local run = small_study.run(text, "-p n=1000")
    assert.are.equal(0, run.status, run.output)
    has(run.output:gsub("%s+", " "), "Not counted: library copy, an element per thread, a loop (study.arrays: ")
    assert.is_nil(run.output:find("sectors/load", 1, true))
  end)

  it("is told what is wrong with them", function()
    local function fails(with, message)
      local run = small_study.run(small_study.changed(small_study.TEXT, 'output = "y",', 'output = "y", ' .. with))
      assert.are.equal(1, run.status, run.output)
      has(run.output, "mine.lua:2: mw.study, counters: " .. message)
    end
    local form = 'names, and the sides of a small case are wanted, as in { "sectors_per_request", at = { n = 4096 } }'
    fails('counters = { "sectors_per_request" },', form)
    fails('counters = { "lanes", at = { n = 2 }, on = 3 },', form)
    fails('counters = { "sector_per_request", at = { n = 256 } },',
      "there is no counter 'sector_per_request'; did you mean 'sectors_per_request'?")
    fails('counters = { "lanes", at = { N = 256 } },', "no case has a side 'N'; did you mean 'n'?")
  end)
end)

-- ---- gates ----------------------------------------------------------------------------------------

describe("a gate of a kernel", function()
  if not support.program() then return pending "needs the program" end

  it("makes its lab count before it is timed, and fails it there", function()
    local function gate(kernel, more)
      return ('gates = { kernel = "%s", field = "shared_conflicts_per_request", %s }'):format(kernel, more)
    end
    local CURRICULUM = ("return { defaults = { devices = 'cpu' }, %s, %s, %s, %s }"):format(
      "{ name = 'good', script = 's.lua', check = 'strict', " .. gate("turn<1>", "at_most = 0") .. " }",
      "{ name = 'bad', script = 's.lua', " .. gate("turn", "at_most = 0") .. " }",
      "{ name = 'none', script = 's.lua', " .. gate("turns", "at_most = 0") .. " }",
      "{ name = 'bytes', script = 's.lua', gates = { kernel = 'turn<1>', field = 'load_lane_bytes', at_most = 4096 } }")
    with_files({ ["s.lua"] = SCRIPT, ["labs.lua"] = CURRICULUM }, function(run, folder)
      local status, output = run "batch labs.lua --dry-run"
      assert.are.equal(0, status, output)
      has(output, "s.lua --device cpu:check --check=strict,counters")
      status, output = run "batch labs.lua --out out --json r.json --junit j.xml"
      assert.are.equal(3, status, output)
      local rows = {}
      for _, row in ipairs(assert(json.decode(support.read(folder .. "/r.json"))).labs) do rows[row.id] = row end
      assert.are.equal("passed", rows["good-cpu-check"].verdict)
      assert.is_true(rows["good-cpu-check"].gates[1].ok)
      assert.are.equal("passed", rows["good-cpu"].verdict)
      assert.is_nil(rows["good-cpu"].gates)
      assert.are.equal("gate failed: shared_conflicts_per_request of kernel 'turn<0>' is 15.5 (grid 1 x 1 x 1, block "
        .. "32 x 32 x 1), wanted at most 0", rows["bad-cpu-check"].verdict .. ": " .. rows["bad-cpu-check"].message)
      assert.are.equal("skipped", rows["bad-cpu"].verdict)
      assert.are.equal("passed", rows["bytes-cpu-check"].verdict) -- no counter of the CPU device's, once
      has(rows["none-cpu-check"].message, "no kernel 'turns' was launched; did you mean 'turn'?")
      has(support.read(folder .. "/j.xml"),
        "good-cpu-check: gate passed: shared_conflicts_per_request of kernel turn&lt;1")
    end)
  end)
end)
