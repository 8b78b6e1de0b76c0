-- SPDX-License-Identifier: MIT
--
-- moonwarp batch: labs that misbehave cost themselves alone; gates, prerequisites, outcomes, exit statuses; a batch
-- that was killed goes on. $MOONWARP_PROGRAM is what was built.

local support = require "tests.support"
local cjson = require "cjson"
local labs = require "tests.support.labs"

local PROGRAM, quoted, shell, with_labs = labs.program, labs.quoted, labs.shell, labs.with

local function by_name(result)
  local rows = {}
  for _, row in ipairs(result.labs) do rows[row.name] = row end
  return rows
end

-- Command lines that name the folder, but for the ones that look for it (their pattern does not match
-- itself); those that die get a moment.
local function processes_of(folder)
  local found
  local pattern = ("%s[%s]/"):format(folder:sub(1, -2), folder:sub(-1))
  local command = "for f in $(grep -la '%s' /proc/[0-9]*/cmdline 2>/dev/null); do tr '\\0' ' ' <$f; done 2>/dev/null"
  pcall(support.eventually, "they are gone", function()
    local _, output = shell(command:format(pattern))
    found = output
    return found == ""
  end)
  return found
end

local RATES = [[
mw.record { device = "cpu", rung = "naive", T_tot = 100.0 }
mw.record { device = "cpu", rung = "better", T_tot = 250.0 }
mw.record { device = "cpu", rung = "better", T_tot = 240.0 }
]]
local GATE = 'gates = { record = { rung = "better" }, field = "T_tot", at_least = %s, of = { rung = "naive" } }'

local SPIN = [[
local k = mw.device():module { source = "__global__ void spin(volatile int *x) { while (x[0] == 0) {} }" }
local x = mw.device():zeros("i32", 1)
k.spin:launch(1, 1, x)
mw.device():synchronize()]]

local FAULT = [[
local k = mw.device():module { source = "__global__ void far(int *x) { x[-(1ll << 32)] = 1; }" }
local x = mw.device():zeros("i32", 1)
k.far:launch(1, 1, x)
mw.device():synchronize()]]

-- Name, fields, script, and what may become of it. What has to be waited for comes first; a limit of time is only on
-- what never ends by itself.
local MISBEHAVING = {
  { "ignores", "time_limit = 0.5", [[os.execute "trap '' INT TERM; sleep 1000"]], "timed out" },
  { "sleeps", "time_limit = 0.5", 'os.execute "sleep 1000"', "timed out" },
  { "loop", "time_limit = 0.5", "while true do pcall(function() while true do end end) end", "timed out" },
  { "children", "processes = 60", 'for _ = 1, 200 do os.execute "sleep 1000 &" end os.execute "sleep 1000"',
    "too many processes" },
  { "compiled", "", SPIN:gsub("k%.spin.*", ""), "passed" },
  { "kernel_loop", 'time_limit = 1, needs = "compiled"', SPIN, "timed out" },
  { "host_memory", 'memory_limit = "300 MiB"', 'local t = {} for i = 1, 99 do t[i] = ("x"):rep(1 << 24) end',
    "out of memory" },
  { "device_memory", 'memory_limit = "64 MiB"', 'mw.device():array("f64", 1 << 40)', "failed" },
  { "fault", "", FAULT, "failed" },
  { "segv", "", 'os.execute "kill -SEGV $PPID"', "crashed" },
  { "sigkill", "", 'os.execute "kill -KILL $PPID"', "crashed" },
  { "sigint", "", 'io.popen("kill -INT $PPID"):close() while true do end', "failed" },
  { "stdout", 'output_limit = "1 MiB"', 'while true do print(("x"):rep(1000)) end', "too much output" },
  { "stderr", 'output_limit = "1 MiB"', 'while true do io.stderr:write(("x"):rep(1000)) end', "too much output" },
  { "closed", "", 'io.stdout:close() mw.record { device = "cpu", x = 1 }', "passed" },
  { "full", "", 'local f = assert(io.open("/dev/full", "w")) f:write "x" assert(f:flush())', "failed" },
  { "exit", "", "os.exit(7)", "failed" },
  { "error", "", 'error("boom", 0)', "failed" },
  { "remover", "", 'os.remove(arg[0]:gsub("remover", "vanished"))', "passed" },
  { "vanished", 'needs = "remover"', "", "failed" },
  { "parameter", "params = { nope = 1 }", 'local n = mw.arg("n", 1)', "failed" },
  { "stdin", "", "assert(io.read() == nil)", "passed" },
  { "recursion", "", "local function f() return 1 + f() end f()", "failed" },
  { "check", "", 'mw.check(mw.device():zeros("i32", 2), 1)', "check failed" },
  { "gate", GATE:format "3", RATES, "gate failed" },
  { "no_folder", "", [[os.execute("rm -rf '" .. require("moonwarp.session").current:out() .. "'")]], "passed" },
  { "daemon", "", 'os.execute "setsid sleep 1000 & disown 2>/dev/null"', "passed" },
  { "behind", 'needs = "error"', "", "skipped" },
  { "fine", GATE:format "2.5", RATES, "passed" },
}

local MESSAGES = {
  loop = "it was still running after 0.5 s", stdout = "it printed more than 1.00 MiB", error = "boom",
  children = "it had more than 60 processes", segv = "killed by signal 11 (SIGSEGV)", exit = "exit status 7",
  behind = "it needs error-cpu, which did not pass (failed)", sigint = "it interrupted itself",
  gate = "T_tot of rung = better is 2.5 of rung = naive, wanted at least 3",
}

-- The sanitizer maps more than any limit of data lets it, and makes a report of SIGSEGV.
if os.getenv "SANITIZED" then
  for _, lab in ipairs(MISBEHAVING) do lab[2] = lab[2]:gsub("memory_limit[^,]*", "") end
  for i = #MISBEHAVING, 1, -1 do
    local name = MISBEHAVING[i][1]
    if name == "host_memory" or name == "segv" then table.remove(MISBEHAVING, i) end
  end
end

-- In a sandbox a lab removes no other's script.
local function wanted_of(lab, sandboxed)
  return lab[1] == "vanished" and sandboxed and "passed" or lab[4]
end

local function costs_itself(when)
  return function()
    local sandboxed = when == "require"
    with_labs(MISBEHAVING, function(folder, batch)
      local status, output, result = batch("labs.lua --jobs 8 --junit r.xml --sandbox " .. when)
      assert.are.equal(1, status, output)
      local rows = by_name(result)
      for _, lab in ipairs(MISBEHAVING) do
        assert.are.equal(wanted_of(lab, sandboxed), rows[lab[1]].verdict,
          ("%s: %s"):format(lab[1], rows[lab[1]].message))
      end
      for name, text in pairs(MESSAGES) do
        if rows[name] then assert.are.equal(text, rows[name].message, name) end
      end
      assert.is_truthy(rows.fault.message:find("outside every array", 1, true), rows.fault.message)
      assert.is_truthy(rows.parameter.message:find("unknown parameter 'nope'", 1, true), rows.parameter.message)
      assert.are.equal("", processes_of(folder))
      local valid, problem = shell(("command -v xmllint >/dev/null || exit 0; xmllint --noout %s/r.xml"):format(folder))
      assert.are.equal(0, valid, problem)
      local xml = support.read(folder .. "/r.xml")
      assert.are.equal(('tests="%d" failures="2" errors="%d" skipped="1"'):format(#MISBEHAVING,
        #MISBEHAVING - (sandboxed and 11 or 10)), xml:match 'tests=.- skipped="%d+"')
    end)
  end
end

describe("a lab that misbehaves", function()
  it("costs itself and no other", costs_itself "off")
  labs.it_sandboxed("costs itself and no other in a sandbox", costs_itself "require")

  it("cannot fill the disk for the batch", function()
    local full = { { "fill", "", [[local f = io.open(require("moonwarp.session").current:out() .. "/big", "w")
      while f:write(("x"):rep(1 << 16)) do end]], "failed" },
      { "next", "", 'mw.record { device = "cpu", x = 1 }' }, { "last", "", "" } }
    with_labs(full, function(folder, batch)
      local mounted = os.execute(("mkdir %s/out && mount -t tmpfs -o size=2m tmpfs %s/out 2>/dev/null")
        :format(folder, folder))
      if not mounted then pending "mounting needs root" end
      local status, output, result = batch()
      os.execute(("umount %s/out"):format(folder))
      assert.are.equal(1, status, output)
      local rows = by_name(result)
      assert.are.equal("failed", rows.next.verdict, output)
      assert.are.equal("passed", rows.last.verdict, output)
    end)
  end)
end)

describe("the exit status of a batch", function()
  it("is 0 where all passed, 3 for checks and gates", function()
    with_labs({ { "a", GATE:format "2", RATES } }, function(_, batch) assert.are.equal(0, (batch())) end)
    with_labs({ { "a", GATE:format "9", RATES } }, function(_, batch) assert.are.equal(3, (batch())) end)
  end)

  it("is 2 for wrong use", function()
    with_labs({ { "a", "", "" } }, function(_, batch)
      local function rejected(words, text)
        local status, output = batch(words)
        assert.are.equal(2, status, output)
        assert.is_truthy(output:find(text, 1, true), output)
      end
      rejected("none.lua", "there is no curriculum 'none.lua'; it is a Lua file that returns a table of labs")
      rejected("labs.lua --jobs 0", "option '--jobs' wants a whole number from 1 to 64, got '0'")
      rejected("labs.lua --only b", "option '--only': no lab has the name or the tag 'b'")
      rejected("labs.lua --device cup", "unknown device 'cup'; did you mean 'cpu'?")
      local status, output = batch("labs.lua --device cuda:7", "MOONWARP_LIBCUDA=/nowhere/libcuda.so.1")
      assert.are.equal(4, status, output)
      assert.is_truthy(output:find("moonwarp: cuda:7 is not usable: $MOONWARP_LIBCUDA cannot be loaded: ",
        1, true), output)
      rejected("--resume", "there is no unfinished batch in out/batch")
      rejected("--resume nowhere", "'nowhere' holds no batch; --resume wants a folder OUT/batch/DATE-NAME, or nothing")
      rejected("--resume --only a", "option '--only': --resume continues a batch as it was begun")
    end)
  end)
end)

describe("a batch", function()
  it("says what it would do", function()
    local list = { { "a", 'tags = "x", memory_limit = "1 GiB"', "" },
                   { "b", 'needs = "a", params = { n = { 1, 2 }, t = "two words" }', "" }, { "c", "", "" } }
    with_labs(list, function(folder, batch)
      local status, output = batch "labs.lua --dry-run --only b"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find(" 1. a on cpu: at most 10:00; memory 1.00 GiB\n", 1, true), output)
      assert.is_truthy(output:find(" 2. b on cpu: at most 10:00; needs a-cpu\n", 1, true), output)
      assert.is_truthy(output:find("--device cpu -p n=1,2 -p 't=two words'\n", 1, true), output)
      assert.is_nil(output:find("c on cpu", 1, true))
      assert.is_nil(io.open(folder .. "/out"))
    end)
  end)

  it("tries again as often as a lab says", function()
    local script = [[
local f = assert(io.open("tries", "a")) f:write "x" f:close()
f = assert(io.open("tries")) local n = #f:read "a" f:close()
assert(n == 3)]]
    with_labs({ { "a", "retries = 2", script } }, function(_, batch)
      local status, output, result = batch "labs.lua --sandbox off"
      assert.are.equal(0, status, output)
      assert.are.equal(3, result.labs[1].attempts)
    end)
  end)

  it("gives each lab its name, and its runs know it", function()
    with_labs({ { "a", "", 'assert(os.getenv "MOONWARP_LAB" == "a") mw.record { device = "cpu", x = 1 }' } },
      function(folder, batch)
        local status, output, result = batch()
        assert.are.equal(0, status, output)
        local run = cjson.decode(support.read(("%s/%s/%s/record.json"):format(folder, result.folder,
          result.labs[1].run)))
        assert.are.equal("a", run.lab)
      end)
  end)

  -- Interrupted once for each condition.
  local function interrupted(folder, conditions)
    local command = "cd %s && exec %s batch labs.lua --out out --json r.json --sandbox off"
    local status, output = support.signalled(command:format(quoted(folder), quoted(PROGRAM)), "INT", conditions)
    return status, output, cjson.decode(support.read(folder .. "/r.json"))
  end

  it("ends in order by Ctrl-C and goes on", function()
    local script = [[
local f = assert(io.open("marks", "a")) f:write(os.getenv "MOONWARP_LAB", " ") f:close()
mw.record { device = "cpu", x = 1 }
if os.getenv "MOONWARP_LAB" == "b" and not io.open "again" then while true do end end]]
    with_labs({ { "a", "", script }, { "b", "", script }, { "c", "", script } }, function(folder, batch)
      local status, output, result = interrupted(folder, { ("grep -q b %s/marks"):format(folder) })
      assert.are.equal(130, status, output)
      assert.is_truthy(output:find("to go on: moonwarp batch --resume out/batch/", 1, true), output)
      assert.are.equal("interrupted", result.labs[2].verdict, output)
      assert.are.equal("not run", result.labs[3].verdict)
      local first = result
      support.write(folder .. "/again", "")
      status, output, result = batch "--resume"
      assert.are.equal(0, status, output)
      assert.are.equal("a b b c ", support.read(folder .. "/marks"))
      assert.are.equal(2, result.labs[2].attempts)
      assert.is_truthy(output:find("[3/3] c on cpu: passed", 1, true), output)
      assert.is_true(result.seconds > first.seconds, "both parts: " .. result.seconds)
    end)
  end)

  it("is ended at once by a second Ctrl-C", function()
    local deaf = [[os.execute "trap '' INT TERM; echo >began; while :; do sleep 1; done"]]
    with_labs({ { "a", "", deaf }, { "b", "", "" } }, function(folder, batch)
      -- One that comes within 0.1 s would be an echo of the first.
      local status, output, result = interrupted(folder, { ("[ -e %s/began ]"):format(folder),
        "grep -q 'Ctrl-C again ends them at once' $D/output && sleep 0.2" })
      assert.are.equal(130, status, output)
      assert.are.equal("interrupted", result.labs[1].verdict, output)
      assert.are.equal(9, result.labs[1].signal)
      assert.are.equal("not run", result.labs[2].verdict)
      assert.is_truthy(output:find("a on cpu: interrupted", 1, true), output)
      assert.are.equal("", processes_of(folder))
      support.write(folder .. "/a.lua", "")
      status, output, result = batch "--resume"
      assert.are.equal(0, status, output)
      assert.are.equal(2, result.labs[1].attempts)
      assert.are.equal("passed", result.labs[1].verdict)
    end)
  end)

  it("goes on after SIGKILL with nothing lost and nothing twice", function()
    local LABS <const> = 5
    local script = [[
mw.record { device = "cpu", x = 1 }
os.execute "case $MOONWARP_LAB in lab[45]) until [ -e again ]; do sleep 0.02; done;; esac"
local f = assert(io.open("marks", "a")) f:write(os.getenv "MOONWARP_LAB", "\n") f:close()]]
    local list = {}
    for i = 1, LABS do list[i] = { "lab" .. i, "", script } end
    -- From where nothing has begun to where all have ended but two, which wait for the second part.
    for lines = 0, 2 * (LABS - 2) + 2, 2 do
      with_labs(list, function(folder, batch)
        local journal = folder .. "/out/batch/*/journal.jsonl"
        local command = "cd %s && exec %s batch labs.lua --out out --jobs 2 --sandbox off"
        local killed = support.signalled(command:format(quoted(folder), quoted(PROGRAM)), "KILL", {
          ("[ -e %s ] && [ $(cat %s | wc -l) -ge %d ]"):format(journal, journal, lines) })
        assert.are.equal(137, killed)
        assert.are.equal("", processes_of(folder))
        support.write(folder .. "/again", "")
        local status, output, result = batch "--resume"
        assert.are.equal(0, status, output)
        assert.are.equal(LABS, #result.labs)
        for i = 1, LABS do
          local ends = select(2, support.read(("%s/%s/journal.jsonl"):format(folder, result.folder))
            :gsub(('"kind":"end"[^\n]*"id":"lab%d%%-cpu"[^\n]*"passed"'):format(i), ""))
          assert.are.equal(1, ends, "lab" .. i)
        end
      end)
    end
  end)

  it("leaves a GPU to one lab at a time, between processes too", function()
    local mock = PROGRAM:gsub("[^/]*$", "mock/libcuda.so.1")
    if not io.open(mock) then pending "the stand-in for the driver is not built" end
    local script = 'os.execute [[echo begin >>marks; sleep 0.1; echo end >>marks]]'
    with_labs({ { "a", 'devices = "cuda"', script }, { "b", 'devices = "cuda"', script } }, function(folder)
      local one = "MOONWARP_LIBCUDA=%s MOONWARP_CACHE=%s/cache %s batch labs.lua --jobs 4 --sandbox off --out"
      one = one:format(mock, folder, quoted(PROGRAM))
      local status, output = shell(("cd %s; %s x & %s y; s=$?; wait; exit $s"):format(folder, one, one))
      assert.are.equal(0, status, output)
      assert.are.equal(("begin\nend\n"):rep(4), support.read(folder .. "/marks"), output)
    end)
  end)
end)
