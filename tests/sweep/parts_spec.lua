-- SPDX-License-Identifier: MIT
--
-- Passes of a sweep in processes of their own (moonwarp run --pass), which become one run: the same tables, charts,
-- records and exit status as those of a sweep in one process. $MOONWARP_PROGRAM is what was built.

local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local literal = require "moonwarp.base.literal"
local support = require "tests.support"

local HEAD <const> = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local n, by, kinds = mw.arg("n", 1), mw.arg("by", 0.5), mw.arg("kinds", { "a" })
]]

-- Its values do not depend on time.
local SHOWN <const> = HEAD .. [[
print("pass", n, by, table.concat(kinds, "+"))
mw.record { x = n * 2.0, y = n / by, list = { 32, n }, kind = "k" .. n % 2, units = { y = "B/s" } }
mw.remark("n is %d", n)
mw.table { "x", { "y", digits = 3 }, "list", title = "all" }
mw.record { z = n }
mw.table { "x", title = "own", records = { { x = n, params = { n = n } } } }
mw.plot { x = "n", y = "y", by = "kind", name = "line", pictures = false }
mw.ladder { x = "x", by = "kind", name = "bars", pictures = false }
mw.check(dev:zeros("i32", 2), 0)
]]

local JOIN <const> = [[
local parts = {}
for i = 1, %d do parts[i] = { number = i, folder = "parts/" .. i, message = "it was killed" } end
local parsed = { "s.lua", p = { %s }, out = "joined", words = {}, check = %s }
os.exit(require("moonwarp.sweep.join").run("s.lua", parsed, parts))
]]

-- The output without the names of runs, and what is in the record but times and dates.
local function outcome_of(folder, status, output)
  local run = support.runs(folder)[1]
  local record = run and assert(require("moonwarp.results.store").read(run))
  local own = record and { "date", "seconds", "environment", "argv", "folder", "identity" } or {}
  for _, key in ipairs(own) do record[key] = nil end
  -- What all passes share is shown at the end.
  if record then table.sort(record.tables, function(a, b) return a.name < b.name end) end
  local text = record and json.encode(record):gsub("%d+%-%d+%-%d+T[%d:]+Z", "DATE") or ""
  local lines = {}
  for line in (run and output:gsub(run:gsub("%p", "%%%0"), "RUN") or output):gmatch "[^\n]+" do
    lines[#lines + 1] = line:gsub("%d+%-%d+%-cpu", "RUN"):gsub("^(%w+: )%w+/", "%1OUT/")
  end
  table.sort(lines)
  return { status = status, lines = lines, record = text, files = run and support.files(run), run = run }
end

-- The text of a file of a run, without dates.
local function text_of(file)
  return (support.read(file):gsub("%d+%-%d+%-%d+[T ]%d+:[%d:]+", "DATE"))
end

-- Runs a script both ways: as one process, and pass by pass.
local function both(script, words, count, body)
  support.with_folder(function(folder)
    local program, quoted = labs.quoted(labs.program), labs.quoted(folder)
    support.write(folder .. "/s.lua", script)
    local values = {}
    for word in words:gmatch "%-p (%S+)" do values[#values + 1] = ("%q"):format(word) end
    local mode = words:find("--check", 1, true) and "{}" or "nil"
    support.write(folder .. "/join.lua", JOIN:format(count, table.concat(values, ", "), mode))
    for i = 1, count do
      labs.shell(("cd %s; mkdir -p parts/%d; MOONWARP_LAB=s timeout 60 "
        .. "%s run s.lua %s --pass %d --out parts/%d >%s 2>&1")
        :format(quoted, i, program, words, i, i, ("parts/%d/output.txt"):format(i)))
    end
    local status, output = labs.shell(("cd %s; %s run join.lua"):format(quoted, program))
    local joined = outcome_of(folder .. "/joined", status, output)
    status, output = labs.shell(("cd %s; %s run s.lua %s --out whole"):format(quoted, program, words))
    body(joined, outcome_of(folder .. "/whole", status, output), folder)
  end)
end

local function assert_same(joined, whole)
  assert.are.equal(whole.status, joined.status, table.concat(joined.lines, "\n"))
  assert.are.same(whole.lines, joined.lines)
  assert.are.equal(whole.record, joined.record)
end

describe("passes of a sweep in processes of their own", function()
  it("become the run of a sweep in one process", function()
    both(SHOWN, "-p n=3,1,2 -p by=0.5,2", 6, function(joined, whole, folder)
      assert_same(joined, whole)
      assert.are.equal(0, whole.status)
      assert.are.equal(#whole.files, #joined.files)
      for i, file in ipairs(whole.files) do
        local other = joined.files[i]
        assert.are.equal(file:match "[^/]+$", other:match "[^/]+$")
        if not file:find "%.json$" then assert.are.equal(text_of(file), text_of(other), file) end
      end
      assert.are.equal(0, #support.runs(folder .. "/parts"))
    end)
  end)

  it("have the sources of all, and say once what check mode has not found", function()
    local script = HEAD .. "if n == 2 then dev:module 'memcopy.cu' end mw.check(dev:zeros('i32', 2), 0)"
    both(script:gsub('mw.device "cpu"', "mw.device()"), "-p n=1,2 --device cpu --check", 2, function(joined, whole)
      assert_same(joined, whole)
      assert.is_truthy(whole.record:find('"name":"memcopy.cu"', 1, true), whole.record)
    end)
  end)

  it("leave out combinations of what a parameter takes as a list", function()
    both(SHOWN, "-p n=3,1 -p kinds=a,b", 4, assert_same)
  end)

  it("may be skipped, fail, or have a wrong result", function()
    local script = HEAD .. [[
      if n == 2 then mw.skip "even" end
      mw.record { x = n }
      if n == 3 then dev:array("f32", -1) end
      mw.check(dev:zeros("i32", 2), n == 4 and 1 or 0)
      mw.table { "x" }
    ]]
    both(script, "-p n=1,2,3,4", 4, function(joined, whole)
      assert_same(joined, whole)
      assert.are.equal(3, whole.status)
    end)
    both(script, "-p n=4,1,3", 3, assert_same)
    both(script, "-p n=2,2", 2, assert_same)
  end)

  it("end as the script ends where all do", function()
    for _, code in ipairs { "error 'boom'", "mw.arg('m', 1)()", "mw.device 'cuda:sm_00'", "mw.skip 'never'" } do
      both(HEAD .. code, "-p n=1,2", 2, function(joined, whole)
        assert.are.equal(whole.status, joined.status)
        if whole.status ~= 0 then assert.are.same(whole.lines, joined.lines) end
      end)
    end
  end)

  it("are said as failed where a process was killed or interrupted; what it measured stays", function()
    for _, signal in ipairs { "KILL", "INT" } do
      local script = HEAD .. [[
        mw.record { x = n }
        if n == 2 then
          os.execute "(sleep 0.1; kill -%s $PPID) &"
          repeat until false
        end
        mw.table { "x" }
      ]]
      both(script:format(signal), "-p n=1,2,3", 3, function(joined)
        assert.are.equal(3, joined.status)
        local text = table.concat(joined.lines, "\n")
        assert.is_truthy(text:find("moonwarp: n = 2 failed: it was killed", 1, true), text)
        assert.is_truthy(text:find("\n2  -  it was killed", 1, true), text)
        local record = json.decode(support.read(joined.run .. "/record.json"))
        assert.are.same({ 3, "killed", 2 },
          { #record.records, record.failures[1].status, record.failures[1].params.n })
      end)
    end
  end)

  it("are said as failed where a verdict says so, though the process came to its end", function()
    both(HEAD .. 'mw.record { x = n }\nmw.table { "x" }', "-p n=1,2,3", 3, function(_, _, folder)
      local text = support.read(folder .. "/join.lua"):gsub('"it was killed"', "%0, is_killed = i == 2")
      support.write(folder .. "/join.lua", (text:gsub('"joined"', '"again"')))
      local status, output = labs.shell(("cd %s; %s run join.lua"):format(labs.quoted(folder),
        labs.quoted(labs.program)))
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("moonwarp: n = 2 failed: it was killed", 1, true), output)
      assert.is_nil(output:find("n = 1 failed", 1, true), output)
    end)
  end)

  it("say how they ended where no batch runs them", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", HEAD .. "mw.record { x = n } mw.check(dev:zeros('i32', 2), 1)")
      local run = ("cd %s; %%s %s run s.lua -p n=1,2 --pass 2"):format(labs.quoted(folder), labs.quoted(labs.program))
      local status, output = labs.shell(run:format "")
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("\nresults: ", 1, true), output)
      assert.is_truthy(output:find("\nmoonwarp: a check failed\n", 1, true), output)
      status, output = labs.shell(run:format "MOONWARP_LAB=s")
      assert.are.equal(3, status, output)
      assert.is_nil(output:find("results: ", 1, true) or output:find("moonwarp: ", 1, true), output)
    end)
  end)

  it("say which combination there is not", function()
    local _, output = labs.shell(labs.quoted(labs.program) .. " run memcopy -p n=1,2 -p parts=a,b --pass 5")
    assert.are.equal("moonwarp: option '--pass': the values of -p have 4 combinations, got 5\n", output)
    _, output = labs.shell(labs.quoted(labs.program) .. " run memcopy --pass 0")
    assert.are.equal("moonwarp: option '--pass' wants a number of at least 1, got '0'\n", output)
  end)
end)

describe("a literal", function()
  it("gives back what it was made of", function()
    for _, value in ipairs { 3.0, 3, -0.0, math.huge, "a\n\0\"]]", true, { 1, 2.0, x = { "y", [4] = false } }, {} } do
      local back = literal.value(literal.text(value))
      assert.are.same(value, back)
      assert.are.equal(math.type(value), math.type(back))
    end
    assert.is_nil(literal.value "")
    assert.is_nil(literal.value "os.exit()")
  end)
end)
