-- SPDX-License-Identifier: MIT
--
-- mw.record: one line of JSON a measurement, kept at once.

local support = require "tests.support"
local json = require "moonwarp.json"
local record = require "moonwarp.record"
local core, mw = support.core, support.mw
local fails, fails_with = support.fails, support.fails_with

local function with_output(body)
  support.with_folder(function(folder)
    local before = { out = core.options.out, json = core.options.json, script = core.options.script }
    core.options.out, core.options.script, core.options.json = folder .. "/deep/out", "studies/try.lua", nil
    local first = #record.all()
    local ok, message = xpcall(body, debug.traceback, folder)
    for i = #record.all(), first + 1, -1 do record.all()[i] = nil end
    core.options.out, core.options.json, core.options.script = before.out, before.json, before.script
    if not ok then error(message, 0) end
  end)
end

describe("mw.record", function()
  it("appends a line with leading keys in order", function()
    with_output(function(folder)
      local r = mw.record { device = "cuda:0", device_name = "G", threads = 256, T_tot = 561e9, kind = "copy" }
      mw.record { device = "cuda:0", threads = 512 }
      assert.are.equal(256, r.threads)
      local lines = {}
      for line in support.read(folder .. "/deep/out/try.jsonl"):gmatch "[^\n]+" do lines[#lines + 1] = line end
      assert.are.equal(2, #lines)
      assert.is_truthy(lines[1]:find('^{"date":"%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ","script":"try","moonwarp":"'))
      assert.is_truthy(lines[1]:find('"device":"cuda:0","device_name":"G","T_tot":561000000000,"kind":"copy",'
        .. '"threads":256}', 1, true))
    end)
  end)

  it("writes the file given with --json too", function()
    with_output(function(folder)
      core.options.json = folder .. "/all.json"
      mw.record { device = "cpu", x = 1 }
      assert.are.equal(support.read(folder .. "/deep/out/try.jsonl"), support.read(folder .. "/all.json"))
    end)
  end)

  it("expands benchmarks, without their samples, and takes their device", function()
    with_output(function(folder)
      local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host" })
      t.device, t.device_name = "cuda:7", "Seven"
      local r = mw.record { t = t }
      assert.are.equal("cuda:7", r.device)
      local line = support.read(folder .. "/deep/out/try.jsonl")
      assert.is_truthy(line:find('"t":{"batch":1000,"clock":"host clock"', 1, true))
      assert.is_nil(line:find("samples", 1, true))
      assert.are.equal(t.median, record.field(r, "t.median"))
      assert.is_nil(record.field(r, "t.median.x"))
    end)
  end)

  it("says which file it cannot write", function()
    with_output(function(folder)
      core.options.json = folder .. "/no/such/file"
      fails_with(function() mw.record { device = "cpu" } end, "mw.record: ", "/no/such/file: No such file")
      core.options.out = "/proc/nowhere"
      fails(function() mw.record { device = "cpu" } end,
        "cannot make the output folder /proc/nowhere: No such file or directory; choose another with --out DIR")
    end)
  end)

  it("wants a table", function()
    fails(function() mw.record(1) end, "mw.record: a table is wanted, got number")
  end)
end)

describe("JSON", function()
  it("escapes text", function()
    assert.are.equal([["a\"b\\c\nd\u0001é"]], json.encode "a\"b\\c\nd\1é")
  end)

  it("has no NaN and no infinity", function()
    assert.are.equal("[null,null,1]", json.encode { 0 / 0, math.huge, 1 })
  end)

  it("keeps every digit of a number", function()
    assert.are.equal("0.1", json.encode(0.1))
    assert.are.equal(1 / 3, tonumber((json.encode(1 / 3))))
    assert.are.equal("9223372036854775807", json.encode(math.maxinteger))
  end)

  it("has keys in a stable order", function()
    assert.are.equal('{"z":1,"a":true,"b":{"c":"x"}}', json.encode({ a = true, b = { c = "x" }, z = 1 }, { "z" }))
  end)
end)
