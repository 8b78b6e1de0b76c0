-- SPDX-License-Identifier: MIT
--
-- A script whose check had failed, or in which check mode had found a race, ended with status 0 if it left by
-- os.exit(0): the record said "check failed", and a batch, which asked the status alone, "passed". It took a record
-- that was not there for one without findings as well, and one whose run had not ended for a good one.

local support = require "tests.support"
local labs = require "tests.support.labs"

if not support.program() then
  describe("the exit status", function() pending "needs the program" end)
  return
end

local KERNEL <const> = [[
extern "C" __global__ void red(float *b) { __shared__ float s[64]; s[threadIdx.x] = b[threadIdx.x];
  b[threadIdx.x] = s[63 - threadIdx.x]; }]]

local CHECK <const> = "mw.check(mw.device('cpu'):full(1, 'i32', 1), 2, { quiet = true })\n"
local RACE <const> = 'mw.device():module("k.cu").red:launch(1, 64, mw.device():zeros("f32", 64))\n'

-- %s: what fails.
local WAYS <const> = {
  last = "%s", zero = "%s os.exit(0)", right = "%s os.exit(true)", closed = "%s os.exit(true, true)",
  byte = "%s os.exit(256)", protected = "%s pcall(os.exit, 0)", handler = "%s xpcall(error, function() os.exit(0) end)",
  hooked = "%s debug.sethook(function() os.exit(0) end, '', 1)",
  printed = "%s print = function() os.exit(0) end os.exit(0)",
  coroutine = "%s coroutine.wrap(function() os.exit(0) end)()",
  coroutine_closed = "%s coroutine.wrap(function() os.exit(true, true) end)()",
  collected = "%s setmetatable({}, { __gc = function() os.exit(0) end }) collectgarbage()",
  at_end = "KEPT = setmetatable({}, { __gc = function() os.exit(0) end }) %s",
  at_end_closed = "KEPT = setmetatable({}, { __gc = function() os.exit(true, true) end }) %s",
  at_exit = "KEPT = setmetatable({}, { __gc = function() os.exit(0) end }) %s os.exit(0, true)",
  finalizer = "KEPT = setmetatable({}, { __gc = function() %s end })",
  finalizer_zero = "KEPT = setmetatable({}, { __gc = function() %s os.exit(0) end }) os.exit(0, true)",
  variable = "local _ <close> = setmetatable({}, { __close = function() os.exit(0) end }) %s",
  variable_closed = "local _ <close> = setmetatable({}, { __close = function() os.exit(0, true) end }) %s",
  to_close = "local _ <close> = setmetatable({}, { __close = function() %s os.exit(0, true) end })",
  closing = "local _ <close> = setmetatable({}, { __close = function() %s end }) os.exit(0, true)",
}

local function scripts()
  local list = {}
  for name, way in pairs(WAYS) do
    list[#list + 1] = { "check_" .. name, "", way:format(CHECK) }
    list[#list + 1] = { "race_" .. name, "check = true", way:format(RACE) }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

describe("the exit status of a script that leaves by os.exit", function()
  it("is 3 where a check has failed, and its lab has not passed", function()
    local list = scripts()
    labs.with(list, function(folder, batch)
      support.write(folder .. "/k.cu", KERNEL)
      -- Compiled once: what labs compile in a sandbox, the others do not see.
      assert.are.equal(3, (labs.shell(("cd %s && %s run race_zero.lua --device cpu --check"):format(
        labs.quoted(folder), labs.quoted(labs.program)))))
      local _, output, result = batch "labs.lua --jobs 2"
      for _, lab in ipairs(result.labs) do
        if lab.name:find "^race" and lab.device ~= "cpu:check" then
          assert.are.equal("skipped", lab.verdict, lab.id) -- it waits for the pass in check mode
        elseif lab.name:find "_printed$" then -- the run's own end calls it
          assert.is_truthy(lab.exit ~= 0 and lab.verdict ~= "passed", lab.id)
        else
          assert.are.same({ 3, "check failed" }, { lab.exit, lab.verdict }, ("%s\n%s"):format(lab.id, output))
        end
      end
    end)
  end)

  it("is that of the script's end in words and in the record", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", 'local mw = require "moonwarp"\n' .. CHECK .. "os.exit(true, true)")
      local _, output = labs.shell(("cd %s && %s run s.lua"):format(labs.quoted(folder), labs.quoted(labs.program)))
      assert.is_truthy(output:find "^moonwarp: a check failed\nresults: out/s/[%w-]+\n$", output)
      local stored = assert(require("moonwarp.results.store").read(support.run(folder .. "/out")))
      assert.are.same({ "check failed", 3 }, { stored.status, stored.exit })
    end)
  end)
end)

-- What a lab may leave: it writes its record itself.
local function forged(fields)
  return ([[
    local root = require("moonwarp.session").current:out()
    os.execute("mkdir -p " .. root .. "/s/20260101-000000-cpu")
    local file = io.open(root .. "/s/20260101-000000-cpu/record.json", "w")
    file:write('{"schema":"moonwarp-record/1","study":"s","records":[],"charts":[],"tables":[],"remarks":[],',
      '"pictures":[],"sources":[],%s}')
    file:close()]]):format(fields)
end

local OK <const> = '{"ok":true}'

local LEFT <const> = {
  { "good", "checks = 1", forged('"status":"complete","exit":0,"checks":[' .. OK .. "]"), "passed" },
  { "none", "checks = 1", "", "check failed", "it checked nothing; the curriculum wants 1 check at least" },
  { "wrong", "checks = 1", forged('"status":"complete","exit":0,"checks":[{"ok":false,"what":"x"}]'), "check failed",
    "check 'x' failed" },
  { "both", "checks = 1", forged('"status":"complete","exit":0,"checks":[{"ok":false,"what":"x"},' .. OK .. "]"),
    "check failed", "check 'x' failed" },
  { "says", "", forged '"status":"check failed","exit":3,"checks":[]', "check failed", "its record says so" },
  { "stopped", "", forged '"status":"complete","checks":[]', "failed", "its record has exit status nil" },
  { "status", "", forged '"status":"complete","exit":1,"checks":[],"message":"no"', "failed", "no" },
  { "cut", "", forged '"status":"unfinished","checks":[]', "failed", "its run is unfinished" },
  { "broken", "checks = 1", forged '"status":"complete","exit":0,"checks":[{"ok":"yes"}]', "failed",
    "its run has a record that is not in order: checks[1].ok must be a boolean, got string" },
}

describe("the verdict of a lab", function()
  it("is the worst of its exit status and its record", function()
    labs.with(LEFT, function(_, batch)
      local _, output, result = batch()
      for i, lab in ipairs(result.labs) do
        assert.are.same({ LEFT[i][4], LEFT[i][5] or lab.message }, { lab.verdict, lab.message }, output)
      end
    end)
  end)

  it("is no pass in check mode without a record", function()
    labs.with({ { "a", "check = true", "" }, { "b", "check = true", "mw.device()" } }, function(_, batch)
      local status, output, result = batch()
      assert.are.equal(3, status, output)
      assert.are.same({ "check failed", "it left no record of what check mode has found", "skipped", "passed",
        "passed" }, { result.labs[1].verdict, result.labs[1].message, result.labs[2].verdict, result.labs[3].verdict,
          result.labs[4].verdict })
    end)
  end)
end)
