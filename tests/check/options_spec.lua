-- SPDX-License-Identifier: MIT
--
-- How check mode judges: --check=strict, seed:N and blocks:N, the same for mw.device and for a lab; and warnings, which
-- fail no run. $MOONWARP_PROGRAM is what was built.
-- luacheck: std +busted

local cases = require "tests.check.cases"
local checking = require "moonwarp.measure.checking"
local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local mw = require "moonwarp"
local support = require "tests.support"

local KERNELS = [=[
__global__ void early(int *a) {
  a[threadIdx.x] = 1;
  if (threadIdx.x >= 16) return;
  __syncthreads();
}
__global__ void early_warp(int *a) {
  a[threadIdx.x] = 1;
  if (threadIdx.x >= 16) return;
  __syncwarp();
}
__global__ void order(int *count, int *a) {
  a[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}
__global__ void order_in_fibers(int *count, int *a) {
  a[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
}
__global__ void chain(unsigned *flags, int *a) {
  if (threadIdx.x > 0) return;
  while (blockIdx.x > 0 && atomicAdd(&flags[blockIdx.x - 1], 0) == 0);
  a[blockIdx.x] = blockIdx.x == 0 ? 1 : a[blockIdx.x - 1] + 1;
  __threadfence();
  atomicExch(&flags[blockIdx.x], 1);
}
__global__ void own(int *a) {
  a[blockIdx.x] = blockIdx.x;
}
__global__ void twice(const int *a, int *b) {
  b[blockIdx.x] = 2 * a[blockIdx.x];
}
__global__ void stripes(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}
__global__ void forgets(int *a, int *b) {
  if (threadIdx.x == 0) a[0] = 1;
}
__global__ void far(int *a, int n) {
  if (threadIdx.x == 0) a[n * n & 1] = 1;
}
]=]

-- Runs a script in a folder with the kernels: status, output, record.
local function run(words, script)
  local status, output, record
  support.with_folder(function(folder)
    support.write(folder .. "/k.cu", KERNELS)
    support.write(folder .. "/s.lua", [[local mw = require "moonwarp"
local dev = mw.device()
local m = dev:module "k.cu"
local function ints(n) return dev:zeros("i32", n) end
]] .. script)
    status, output = labs.shell(("cd %s && timeout -s KILL 60 %s run s.lua --device cpu %s </dev/null"):format(
      labs.quoted(folder), labs.quoted(labs.program), words))
    local kept, place = pcall(support.run, folder .. "/out")
    record = kept and json.decode(support.read(place .. "/record.json"))
  end)
  return status, output, record
end

local function has(output, text) assert.is_truthy(output:find(text, 1, true), output) end

local function has_not(output, text) assert.is_nil(output:find(text, 1, true), output) end

-- ---- the words ------------------------------------------------------------------------------------

describe("how check mode judges", function()
  it("is read from words and from a table alike", function()
    local mode = { strict = true, seed = 7, blocks = 64 }
    assert.are.same(mode, checking.read "strict,seed:7,blocks:64")
    assert.are.same(mode, checking.read(mode))
    assert.are.equal("strict,seed:7,blocks:64", checking.words(mode))
    assert.are.same({}, checking.read(true))
    assert.are.same({}, checking.read "")
    assert.are.equal("", checking.words {})
  end)

  it("is rejected with one clear message", function()
    local problems = {
      strick = "unknown word 'strick'; did you mean 'strict'?", ["strict,"] = "unknown word ''",
      ["sed:7"] = "unknown word 'sed'; did you mean 'seed'?", seed = "seed wants a whole number from 1, as in seed:7",
      ["seed:x"] = "seed wants a whole number from 1, as in seed:7, got 'x'",
      ["seed:1,seed:2"] = "'seed' is given twice",
      ["blocks:0"] = "blocks wants a whole number from 1, as in blocks:64, got '0'",
      ["strict:1"] = "strict is on or off, got '1'",
    }
    for words, problem in pairs(problems) do
      local mode, got = checking.read(words)
      assert.is_nil(mode)
      assert.are.equal(problem, got:sub(1, #problem))
    end
    support.fails_with(function() mw.device("cpu", { check = "strick" }) end,
      "mw.device: option 'check': unknown word 'strick'; did you mean 'strict'?")
    support.fails_with(function() mw.device("cpu", { check = { seed = 1.5 } }) end,
      "mw.device: option 'check': seed wants a whole number from 1, as in seed:7, got '1.5'")
    support.fails_with(function() mw.device("cpu", { check = 7 }) end,
      "option 'check' must be a boolean or string or table")
    local status, output = run("--check=strick", "")
    assert.are.equal(2, status)
    assert.are.equal("moonwarp: option '--check': unknown word 'strick'; did you mean 'strict'?\n", output)
  end)

  it("is the same for a lab", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", "local mw = require 'moonwarp' mw.arg('n', 1) mw.device() mw.remark 'done'")
      support.write(folder .. "/labs.lua", [[return { defaults = { devices = "cpu" }, labs = {
        { name = "words", script = "s.lua", check = "strict,seed:7" },
        { name = "fields", script = "s.lua", check = { blocks = 3, params = { n = 4 } } } } }]])
      local program = labs.quoted(labs.program)
      local status, output = labs.shell(("cd %s && %s batch labs.lua --out out </dev/null"):format(
        labs.quoted(folder), program))
      assert.are.equal(0, status, output)
      local seen = {}
      for _, file in ipairs(support.files(folder .. "/out")) do
        local record = file:find "record.json$" and json.decode(support.read(file))
        local given = record and record.params
        if record and record.check then seen[#seen + 1] = record.check .. " " .. (given and given.n[1] or "") end
      end
      table.sort(seen)
      assert.are.same({ "blocks:3 4", "strict,seed:7 " }, seen)
      support.write(folder .. "/labs.lua", "return { labs = { { name = 'a', script = 's.lua', check = { n = 4 } } } }")
      status, output = labs.shell(("cd %s && %s batch labs.lua --out out </dev/null"):format(labs.quoted(folder),
        program))
      assert.are.equal(2, status)
      has(output,
        "check: unknown word 'n'; strict, schedule:16, seed:7, blocks:64 or counters, joined by commas is wanted")
    end)
  end)
end)

-- ---- strict ---------------------------------------------------------------------------------------

describe("--check=strict", function()
  local SCRIPT = "m.early:launch(1, 32, ints(32)) m.early_warp:launch(1, 32, ints(32))"

  it("finds what GPUs since Volta permit", function()
    local status, output = run("--check", SCRIPT)
    assert.are.equal(0, status, output)
    status, output = run("--check=strict", SCRIPT)
    assert.are.equal(3, status, output)
    has(output, "barrier: kernel 'early', __syncthreads\n"
      .. "  wait by block (0,0,0), thread (0,0,0)   k.cu:4  __syncthreads();\n"
      .. "  exit by block (0,0,0), thread (16,0,0)\n")
    has(output, "mask: kernel 'early_warp', __syncwarp with mask 0xffffffff, of which lane 16 has exited")
    has(output, "check mode found 2 errors")
  end)

  it("fails for want of a fence that is a warning else", function()
    local script = "m.chain:launch(4, 1, dev:zeros('u32', 4), ints(4))"
    local status, output = run("--check", script)
    assert.are.equal(0, status, output)
    has(output, "warning: missing fence: kernel 'chain', parameter 2 'a', index 0\n")
    status, output = run("--check=strict", script)
    assert.are.equal(3, status, output)
    has(output, "check mode found an error")
  end)

  it("is an option of mw.device, until it is opened otherwise", function()
    local _, output = run("", [[
dev = mw.device("cpu", { check = "strict" })
local k = dev:module "k.cu".early
k:launch(1, 32, ints(32)) dev:synchronize() print("found", #mw.findings())
mw.device("cpu", { check = true })
k:launch(1, 32, ints(32)) dev:synchronize() print("times", mw.findings()[1].count)]])
    has(output, "found\t1")
    has(output, "times\t1")
  end)
end)

-- ---- seed -----------------------------------------------------------------------------------------

describe("--check=seed:N", function()
  local SCRIPT = [[
for _, name in ipairs { "order", "order_in_fibers" } do
  local a = ints(12 * 40)
  m[name]:launch(12, 40, ints(1), a)
  local list, sorted = a:totable(), a:totable()
  table.sort(sorted)
  print(name, sorted[1], sorted[480], table.concat(list, " "))
end
mw.remark "done"]]

  it("permutes threads and blocks, the same way again, and is in the record", function()
    local in_order = select(2, run("--check", SCRIPT))
    local _, first, record = run("--check=seed:7", SCRIPT)
    local _, again = run("--check=seed:7", SCRIPT)
    local _, other = run("--check=seed:8", SCRIPT)
    assert.are.equal("seed:7", record.check)
    for _, name in ipairs { "order", "order_in_fibers" } do
      local function line(output) return output:match(name .. "\t([^\n]*)") end
      assert.is_truthy(line(first):find("^0\t479\t"), first)
      assert.are.equal(line(first), line(again))
      assert.are_not.equal(line(first), line(other))
      assert.are_not.equal(line(first), line(in_order))
    end
  end)

  it("does not hang a kernel that waits for an earlier block", function()
    for seed = 1, 4 do
      local status, output = run("--check=seed:" .. seed, [[
local a = ints(50)
m.chain:launch(50, 32, dev:zeros("u32", 50), a)
mw.check(a, function(i) return i end)]])
      assert.are.equal(0, status, output)
    end
  end)

  it("finds nothing in legal kernels", function()
    local dev = mw.device("cpu", { check = { seed = 3 } })
    for _, group in ipairs(require "tests.check.legal") do
      local module = cases.module(dev, group.file)
      for _, case in ipairs(group.cases) do
        local findings, problem = cases.run(dev, module, case)
        assert.are.equal("", table.concat(require("moonwarp.base.lists").map(findings, cases.text), "\n"))
        assert.is_nil(problem)
      end
    end
    mw.device("cpu", { check = true })
  end)
end)

-- ---- blocks ---------------------------------------------------------------------------------------

describe("--check=blocks:N", function()
  local SCRIPT = [[
local a, b = dev:array("i32", 1000), dev:array("i32", 1000)
m.own:launch(1000, 1, a)
m.twice:launch(1000, 1, a, b)
local ran = 0
for i, v in ipairs(a:totable()) do
  if v == i - 1 then ran = ran + 1 end
end
print("ran", ran, a:get(1), a:get(1000))
print("right", mw.check(b, function(i) return 2 * i - 2 end))]]

  it("runs the first block, the last one and others, and says so", function()
    local status, output, record = run("--check=blocks:64", SCRIPT)
    assert.are.equal(0, status, output)
    has(output, "ran\t64\t0\t999\n")
    has(output, "warning: sampled: kernel 'own', 64 of 1000 blocks\n")
    has(output, "not compared: launches have left out blocks")
    has(output, "right\ttrue")
    has_not(output, "uninitialised")
    assert.are.equal("blocks:64", record.check)
    assert.are.equal("sampled true", ("%s %s"):format(record.findings[1].kind, record.findings[1].warning))
  end)

  it("runs all blocks of a smaller launch", function()
    local status, output = run("--check=blocks:1000", SCRIPT)
    assert.are.equal(0, status, output)
    has(output, "ran\t1000\t")
    has_not(output, "sampled")
  end)

  it("starts the blocks that those of the sample wait for", function()
    local status, output = run("--check=blocks:2", [[
local a = ints(50)
m.chain:launch(50, 32, dev:zeros("u32", 50), a)
print("last", a:get(50))]])
    assert.are.equal(0, status, output)
    has(output, "last\t50\n")
  end)
end)

-- ---- warnings -------------------------------------------------------------------------------------

describe("a warning of check mode", function()
  local function warns(script, text)
    local status, output, record = run("--check", script)
    assert.are.equal(0, status, output)
    has(output, "warning: " .. text)
    has(output, "check mode: no errors found")
    assert.are.equal("complete 1 0", ("%s %d %d"):format(record.status, #record.findings, #record.checks))
  end

  it("is of blocks that do nothing", function()
    warns("m.stripes:launch(10, 32, ints(100), 100)",
      "idle blocks: kernel 'stripes', 6 of 10 blocks access no memory, the first (4,0,0)")
  end)

  it("is of an array that is not used", function()
    warns("m.forgets:launch(1, 32, ints(1), ints(5))",
      "unused array: kernel 'forgets', parameter 2 'b', an array of 20 bytes that the launch does not access")
  end)

  it("is of an integer that overflows", function()
    warns("m.far:launch(1, 32, ints(2), 1 << 20)", "overflow: kernel 'far', 1048576 * 1048576 of 'int'\n")
  end)
end)
