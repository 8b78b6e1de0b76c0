-- SPDX-License-Identifier: MIT
--
-- mw.record, and the folder that a run leaves: journal, record, sources; runs that end badly.

local support = require "tests.support"
local fields = require "moonwarp.results.fields"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"
local session = require "moonwarp.session"
local store = require "moonwarp.results.store"
local mw = support.mw
local fails, fails_with = support.fails, support.fails_with

local function with_output(body)
  support.with_folder(function(folder)
    local options = session.current.options
    local before = { json = options.json, script = options.script }
    options.script, options.json = "studies/try.lua", nil
    local first = #session.current.records
    local ok, message = pcall(support.into, folder .. "/deep/out", body, folder)
    for i = #session.current.records, first + 1, -1 do session.current.records[i] = nil end
    options.json, options.script = before.json, before.script
    if not ok then error(message, 0) end
  end)
end

-- The lines of a kind in the journal of the run in progress.
local function journal(kind)
  local lines = {}
  for line in support.read(session.current:file "journal.jsonl"):gmatch "[^\n]+" do
    if line:find('^{"kind":"' .. kind .. '"') then lines[#lines + 1] = line end
  end
  return lines
end

describe("mw.record", function()
  it("keeps each measurement in the journal at once", function()
    with_output(function(folder)
      local r = mw.record { device = "cuda:0", device_name = "G", threads = 256, T_tot = 561e9, kind = "copy" }
      assert.are.equal(1, #journal "record")
      mw.record { device = "cuda:0", threads = 512 }
      assert.are.equal(256, r.threads)
      local lines = journal "record"
      assert.are.equal(2, #lines)
      assert.is_truthy(lines[1]:find('"T_tot":561000000000,', 1, true))
      assert.is_truthy(lines[1]:find('"date":"%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ"'))
      local place, name = session.current:folder():match "^(.*/)([^/]*)$"
      assert.are.equal(folder .. "/deep/out/try/", place)
      assert.is_truthy(name:find "^%d%d%d%d%d%d%d%d%-%d%d%d%d%d%d%-[%w-]+$", name)
    end)
  end)

  it("writes the file given with --json too, with leading keys in order", function()
    with_output(function(folder)
      session.current.options.json = folder .. "/all.json"
      mw.record { device = "cpu", device_name = "C", x = 1 }
      assert.is_truthy(support.read(folder .. "/all.json"):find(
        '^{"date":"[^"]+","script":"try","moonwarp":"[^"]+","device":"cpu","device_name":"C","x":1}\n$'))
    end)
  end)

  it("expands benchmarks, every sample included, and takes their device", function()
    with_output(function()
      local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host" })
      t.device, t.device_name = "cuda:7", "Seven"
      local r = mw.record { t = t }
      assert.are.equal("cuda:7", r.device)
      assert.are.equal(t.median, fields.value(r, "t.median"))
      assert.is_nil(fields.value(r, "t.median.x"))
      local stored = assert(store.read(session.current:folder()))
      assert.are.equal(t.median, stored.records[1].t.median)
      assert.are.equal(3, #stored.records[1].t.samples)
      for i, value in ipairs(t.samples) do
        assert.is_true(math.abs(stored.records[1].t.samples[i] - value) <= 1e-6 * value)
      end
    end)
  end)

  it("is identified by its block and its grid", function()
    with_output(function()
      for i = 1, 2 do
        mw.record { device = "cpu", block = { 32, 4 * i }, grid = { x = 8, y = 2 }, T_tot = 1e9,
                    counts = { 1, 2, 3, i }, q = { value = 1, low = 0, high = i }, units = { q = "W" } }
      end
      local list = measurement.of(assert(store.read(session.current:folder())))
      assert.are.same({ "32 x 4, T_tot", "32 x 4, q", "32 x 8, T_tot", "32 x 8, q" },
        lists.map(list, function(one) return one.label end))
      assert.are.equal("32 x 4, x = 8, y = 2 | T_tot", list[1].key)
    end)
  end)

  it("says which file it cannot write", function()
    with_output(function(folder)
      session.current.options.json = folder .. "/no/such/file"
      fails_with(function() mw.record { device = "cpu" } end, "mw.record: ", "/no/such/file: No such file")
      session.current.options.out = "/proc/nowhere"
      fails(function() mw.record { device = "cpu" } end,
        "cannot make the output folder /proc/nowhere/try: No such file or directory; choose another with --out DIR")
    end)
  end)

  it("wants a table of what JSON can hold, and says which field is not", function()
    fails(function() mw.record(1) end, "mw.record: a table is wanted, got number")
    local kept = "; numbers, texts, truth values, and lists or tables of them are kept"
    fails(function() mw.record { f = print } end, "mw.record: field 'f' is of type function" .. kept)
    fails(function() mw.record { a = { b = { 1, x = 2 } } } end,
      "mw.record: field 'a.b' is a list and a table of names at once" .. kept)
    local knot = {}
    knot.knot = knot
    fails_with(function() mw.record { knot = knot } end, "is a table in itself, or too deep")
    fails(function() mw.record { device = 5 } end,
      "mw.record: field 'device' is moonwarp's own and must be a string or a device, got number")
    fails(function() mw.record { params = 5 } end,
      "mw.record: field 'params' is moonwarp's own and must be a table, got number")
  end)
end)

describe("a run", function()
  it("ends as one record, and its journal goes", function()
    with_output(function()
      mw.record { device = "cpu", rung = "a", n = 1, rate = 2.5 }
      mw.check(mw.device("cpu"):full(1, "i32", 4), 1, { name = "ones" })
      local folder, problem = session.current:finish { status = "complete", exit = 0 }
      assert.is_nil(problem)
      local stored = assert(store.read(folder))
      assert.are.equal("complete", stored.status)
      assert.are.equal("try", stored.study)
      assert.are.equal("moonwarp-record/1", stored.schema)
      assert.are.equal(1, math.tointeger(stored.records[1].n))
      assert.are.same({ "ones", true, 4 }, { stored.checks[1].what, stored.checks[1].ok, stored.checks[1].count })
      assert.is_nil(io.open(folder .. "/journal.jsonl"))
      assert.is_truthy(support.read(folder .. "/data.dat"):find('"try" ? ?"?cpu"?'))
    end)
  end)

  it("of the same second has its own folder", function()
    with_output(function()
      local folders = {}
      for i = 1, 3 do
        mw.record { device = "cpu", i = i }
        folders[i] = session.current:finish { status = "complete", exit = 0 }
      end
      assert.is_true(folders[1] ~= folders[2] and folders[2] ~= folders[3])
    end)
  end)

  it("that was killed is unfinished, and whole up to its last whole line", function()
    with_output(function()
      mw.record { device = "cpu", i = 1 }
      mw.record { device = "cpu", i = 2 }
      local folder, text = session.current:folder(), support.read(session.current:file "journal.jsonl")
      session.current:finish { status = "complete" }
      os.remove(folder .. "/record.json")
      for cut = 1, #text, 97 do
        support.write(folder .. "/journal.jsonl", text:sub(1, cut))
        local stored, problem = store.read(folder)
        local _, whole = text:sub(1, cut):gsub('\n?{"kind":"record"[^\n]*\n', "")
        if stored then
          assert.are.equal("unfinished", stored.status)
          assert.are.equal(whole, #stored.records)
        else
          assert.is_truthy(problem:find("holds no record that can be read", 1, true))
        end
      end
    end)
  end)

  it("that only computes leaves no folder", function()
    with_output(function(folder)
      local _ <close> = mw.device("cpu"):full(1, "i32", 4)
      session.current:mention("remark", { text = "skipped" })
      assert.are.equal(0, #support.runs(folder))
    end)
  end)

  it("rejects a record of another schema", function()
    with_output(function(folder)
      support.write(folder .. "/record.json", '{"schema":"moonwarp-record/99"}')
      local _, problem = store.read(folder)
      assert.are.equal(folder .. " has a record of schema 'moonwarp-record/99'; this moonwarp reads "
        .. "'moonwarp-record/1'", problem)
    end)
  end)
end)

local program = support.program()

-- Runs the program on a script in a folder; the script's name is s.lua.
local function with_run(script, words, body)
  support.with_folder(function(folder)
    support.write(folder .. "/s.lua", script)
    support.write(folder .. "/double.cu", '#include "by.cuh"\n'
      .. "__global__ void twice(int *x) { x[threadIdx.x] *= BY; }\n")
    support.write(folder .. "/by.cuh", "#define BY 2\n")
    local command = "cd '%s' && '%s' run s.lua --device cpu --out out %s 2>&1; echo status $?"
    local pipe = io.popen(command:format(folder, program, words))
    local output = pipe:read "a"
    pipe:close()
    body(folder, output)
  end)
end

local SCRIPT = [[
  local mw = require "moonwarp"
  local n, want, fail, kill = mw.arg("n", 4), mw.arg("want", 6), mw.arg("fail", false), mw.arg("kill", false)
  local x <close> = mw.device():full(3, "i32", n)
  mw.device():module("double.cu").twice:launch(1, n, x)
  mw.record { n = n, first = x:get(1) }
  mw.check(x, want)
  if fail then error "on purpose" end
  if kill then os.execute "kill -9 $PPID" end
]]

describe("moonwarp run", function()
  if not program then
    pending "needs the program"
    return
  end

  for words, expected in pairs {
    [""] = { "status 0", "complete", 0 }, ["-p want=7"] = { "status 3", "check failed", 3 },
    ["-p fail=true"] = { "status 1", "failed", 1 },
  } do
    it("notes how it ended: " .. expected[2], function()
      with_run(SCRIPT, words, function(folder, output)
        assert.is_truthy(output:find(expected[1], 1, true), output)
        local stored = assert(store.read(support.run(folder .. "/out")))
        assert.are.equal(expected[2], stored.status)
        assert.are.equal(expected[3], math.tointeger(stored.exit))
        assert.are.equal(1, #stored.records)
        assert.are.same({ "run", "s.lua" }, { stored.argv[1], stored.argv[2] })
        if words == "-p fail=true" then assert.is_truthy(stored.message:find("on purpose", 1, true)) end
      end)
    end)
  end

  it("keeps what made the results, so that they can be made again", function()
    with_run(SCRIPT, "-p n=3,5", function(folder)
      local made = support.run(folder .. "/out")
      for _, name in ipairs { "s.lua", "double.cu", "by.cuh" } do
        assert.are.equal(support.read(folder .. "/" .. name), support.read(made .. "/source/" .. name))
      end
      local stored = assert(store.read(made))
      assert.are.same({ "3", "5" }, stored.params.n)
      assert.are.equal(2, #stored.records)
    end)
  end)

  it("that is killed leaves a journal that can be read", function()
    with_run(SCRIPT, "-p kill=true", function(folder)
      local stored = assert(store.read(support.run(folder .. "/out")))
      assert.are.equal("unfinished", stored.status)
      assert.are.equal(6, math.tointeger(stored.records[1].first))
    end)
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
