-- SPDX-License-Identifier: MIT
--
-- Values of a sweep that cannot work: the first of them ended the sweep, and what was to be shown at its end was lost.
-- It starts $MOONWARP_PROGRAM itself.

local labs = require "tests.support.labs"
local store = require "moonwarp.results.store"
local support = require "tests.support"

local quoted, shell = labs.quoted, labs.shell

-- Runs code in a sweep on the CPU device: status, output, and the run if there is one.
local function run(code, words, body)
  support.with_folder(function(folder)
    local status, output = shell(("cd %s && %s -e %s %s --device cpu --out out </dev/null"):format(quoted(folder),
      quoted(labs.program), quoted(code), words))
    local folders = store.below(folder .. "/out")
    body(status, output, folders[1] and assert(store.read(folders[1])))
  end)
end

local KERNEL <const> = [==[
local block = mw.arg("block", 256)
local dev = mw.device()
local m <close> = dev:module { source = "__global__ void f(float *y) { y[threadIdx.x] = 1; }" }
local y <close> = dev:array("f32", 4096)
m.f:launch(1, block, y)
mw.record { y = y:get(block) }
]==]

local REASON <const> = "kernel 'f': block.x is 2048, cpu allows 1024 at most"
local SAID <const> = "moonwarp: block = 2048 failed: (-e):5: " .. REASON .. "\n"

local function passes_of(run_)
  local list = {}
  for i, record in ipairs(run_.records) do list[i] = record.params.block end
  return list
end

describe("an invalid value of a sweep", function()
  it("fails its pass, and the others run", function()
    run(KERNEL .. "mw.table { 'y' }", "-p block=512,1024,2048,256", function(status, output, stored)
      assert.are.equal(3, status)
      assert.is_truthy(output:find(SAID, 1, true), output)
      assert.is_truthy(output:find("\nmoonwarp: a pass failed\n", 1, true), output)
      assert.is_truthy(output:find("\n 2048      -  " .. REASON .. "\n  256  1.000\n", 1, true), output)
      assert.are.same({ 512, 1024, 256 }, passes_of(stored))
      assert.are.same({ { params = { block = 2048 }, status = "invalid", message = REASON } }, stored.failures)
      assert.are.same({ "failed", "block = 2048 failed: " .. REASON }, { stored.status, stored.message })
    end)
  end)

  it("may be the first one, or the last", function()
    for _, words in ipairs { "2048,512,256", "512,256,2048" } do
      run(KERNEL .. "mw.table { 'y' } mw.plot { x = 'block', y = 'y', pictures = false, quiet = true }",
        "-p block=" .. words, function(status, output, stored)
          assert.are.equal(3, status)
          local _, count = output:gsub("block      y  failed\n", "")
          assert.are.equal(1, count, output)
          assert.are.same({ 512, 256 }, passes_of(stored))
          assert.are.same({ { x = 256, y = 1 }, { x = 512, y = 1 } }, stored.charts[1].series[1].points)
          assert.are.equal(3, #stored.tables[1].columns[1].texts)
        end)
    end
  end)

  it("ends the run with the error's status if no value works", function()
    run(KERNEL, "-p block=2048,4096", function(status, output, stored)
      assert.are.same({ 1, nil }, { status, stored })
      assert.is_truthy(output:find(SAID, 1, true), output)
      assert.is_truthy(output:find("block = 4096 failed: ", 1, true), output)
    end)
  end)

  it("is an error as ever without a sweep", function()
    run(KERNEL, "-p block=2048", function(status, output)
      assert.are.equal(1, status)
      assert.are.equal("moonwarp: (-e):5: " .. REASON, output:match "^[^\n]*")
    end)
  end)

  it("may be one of any error of a device or an argument", function()
    for word, code in pairs {
      no_memory = "if v == 2 then mw.device():array('f64', 1 << 50) end",
      not_found = "if v == 2 then print(mw.device():module { source = 'int x;' }.missing) end",
      compile = "if v == 2 then mw.device():module { source = '__global__ void f() { x; }' } end",
      invalid = "if v == 2 then mw.device():array('f23', 4) end",
    } do
      run("local v = mw.arg('v', 1) " .. code .. " mw.record { x = 1 }", "-p v=1,2,3 --quiet",
        function(status, output, stored)
          assert.are.equal(3, status, output)
          assert.are.same({ 2, 1, word }, { #stored.records, #stored.failures, stored.failures[1].status })
        end)
    end
  end)

  it("does not excuse the script: what Lua raises, or a missing device, ends the sweep", function()
    for wanted, code in pairs { [1] = "local t t.x = 1", [4] = "mw.device 'cuda:99'", [2] = "mw.arg('w', 1)" } do
      run("local v = mw.arg('v', 1) if v == 2 then " .. code .. " end mw.record { x = 1 }",
        "-p v=1,2,3 --quiet" .. (wanted == 2 and " -p w=x" or ""), function(status, output, stored)
          assert.are.same({ wanted, wanted == 2 and 0 or 1 }, { status, stored and #stored.records or 0 }, output)
        end)
    end
  end)

  -- The table of a sweep whose last pass was skipped was never printed, either.
  it("may be skipped last: what the passes left to show is shown", function()
    run("local v = mw.arg('v', 1) if v == 3 then mw.skip 'odd' end mw.record { x = 1 } mw.table { 'x' }", "-p v=1,2,3",
      function(status, output)
        assert.are.equal(0, status)
        assert.is_truthy(output:find("v  x\n-  -\n1  1\n2  1\n", 1, true), output)
      end)
  end)

  it("does not leave a description begun for the next pass", function()
    run("local s = mw.study { question = '?', params = { { 'v', 1, 'x' } } } if s.dev and mw.arg('v', 1) == 1 then "
      .. "mw.device():array('f23', 4) end s:finally(function() mw.record { x = 1 } end) return s",
      "-p v=1,2 --quiet", function(status, output, stored)
        assert.are.equal(3, status, output)
        assert.are.equal(1, #stored.records)
      end)
  end)
end)

describe("a lab with a pass that failed", function()
  it("is failed, with the pass and its reason", function()
    labs.with({ { "blocks", "params = { block = { 512, 2048 } }", KERNEL:gsub("^local mw", "") } }, function(_, batch)
      local _, _, result = batch()
      assert.are.equal("failed", result.labs[1].verdict)
      assert.are.equal("block = 2048 failed: " .. REASON, result.labs[1].message)
    end)
  end)
end)

describe("a case of a study for which there is no memory", function()
  it("counts as a failed check, and the other cases are measured", function()
    support.with_folder(function(folder)
      support.write(folder .. "/own.lua", [[
local study, p = require "moonwarp".study { question = "?", params = { { "sizes", { 64 }, "elements" } } }
function study.arrays(c) return { A = c.dev:zeros("f32", c.n), B = c.dev:array("f32", c.n) } end
study:library("A", "B")
study:part { "copy", cases = { { n = p.sizes } }, odd = { { n = 3 } }, table = { "n", "bytes" }, rows = "all" }
return study]])
      local words = "-p seconds=0 -p sizes=64,1e15,128 --device cpu --out"
      local status, output = shell(("%s run %s %s %s </dev/null"):format(quoted(labs.program),
        quoted(folder .. "/own.lua"), words, quoted(folder)))
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("check copy, n = 1000000000000000, f64: study.arrays: ", 1, true), output)
      assert.is_truthy(output:find "\n 64 +256\n128 +512\n", output)
      local stored = assert(store.read(store.below(folder)[1]))
      assert.are.same({ "check failed", 2 }, { stored.status, #stored.records })
    end)
  end)
end)
