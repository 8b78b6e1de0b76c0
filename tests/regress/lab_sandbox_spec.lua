-- SPDX-License-Identifier: MIT
--
-- Labs that attack what runs them: their supervisor, the journal, other labs. In a sandbox they do not reach them;
-- without one the batch ends all the same, and what they started with it.

local support = require "tests.support"
local labs = require "tests.support.labs"

if not support.program() then
  describe("a lab's sandbox", function() pending "needs the program" end)
  return
end

-- Of this process, since other runs of this file may go on beside it.
local TAG <const> = support.read("/proc/self/stat"):match "^%d+"

-- Whether a process that a lab started is there: it sleeps for 1000.TAG seconds, or 2000.TAG.
local function left()
  return labs.shell(("grep -qa '[0-9]000[.]%s' /proc/[0-9]*/cmdline 2>/dev/null"):format(TAG)) == 0
end

local function row_of(result, name)
  for _, row in ipairs(result.labs) do
    if row.name == name then return row end
  end
end

-- Signals to the supervisor, from the lab's script.
local STOPS <const> = [[os.execute "kill -STOP $(cut -d' ' -f4 /proc/$PPID/stat)"]]
local KILLS <const> = STOPS:gsub("STOP", "KILL")

local SLEEPS <const> = (' os.execute "touch stopped; sleep 3000.%s"'):format(TAG)
local DAEMON <const> = ("os.execute 'setsid sh -c \"sleep 1000.%s & sleep 2000.%s\" >/dev/null 2>&1 & sleep 0.1'\n")
  :format(TAG, TAG)

local FORGER <const> = [[
for _, name in ipairs { "journal.jsonl", "batch.json", "other-cpu.ended", "other-cpu/record.json" } do
  os.execute(([=[for f in out/batch/*/; do mkdir -p $f/other-cpu
    echo '{"kind":"end","date":"x","id":"other-cpu","attempt":1,"verdict":"passed","exit":0,"signal":0}' >>$f%s
  done]=]):format(name))
end
os.execute "echo >>other.lua 'do return end'; rm -rf out"]]

local READER <const> = [[
local function all(command) return io.popen(command .. " 2>&1"):read "a" end
print("processes", all "ls -d /proc/[0-9]* | wc -l")
print("others", all "cat out/batch/*/first-cpu/output.txt out/batch/*/journal.jsonl | grep -c secret")
print("written", all "echo x >here && echo yes; echo x >$HOME/moonwarp-was-here && echo yes")
print("own", all "echo x >/tmp/x && echo x >/dev/shm/x && cat /tmp/x /dev/shm/x | wc -l")
print("settings", all "v=$(cat /proc/sys/kernel/core_pattern); echo $v >/proc/sys/kernel/core_pattern && echo yes")
print("mounts", (all("awk '$6 ~ /^rw/ { print $5 }' /proc/self/mountinfo"):gsub("\n", " ")))
print("network", all "cat /proc/net/route | wc -l")]]

describe("a lab in a sandbox", function()
  labs.it_sandboxed("does not reach its supervisor, and leaves no process", function()
    labs.with({ { "stops", "", DAEMON .. STOPS }, { "kills", "", DAEMON .. KILLS },
                { "all", "", DAEMON .. 'os.execute "kill -STOP -1; kill -KILL -1"' },
                { "group", "", 'os.execute "trap \'\' TERM; kill -TERM 0"' } }, function(_, batch)
      local status, output, result = batch "labs.lua --sandbox require"
      assert.are.equal(1, status, output)
      for name, verdict in pairs { stops = "passed", kills = "passed", all = "crashed", group = "crashed" } do
        assert.are.equal(verdict, row_of(result, name).verdict, output)
      end
      assert.are.equal("killed by signal 9 (SIGKILL)", row_of(result, "all").message)
      assert.is_false(left())
    end)
  end)

  labs.it_sandboxed("writes no journal, no other lab, and no file beside its own folder", function()
    labs.with({ { "forger", "", FORGER }, { "other", "", "error 'it fails'" } }, function(folder, batch)
      local status, output, result = batch "labs.lua --sandbox require"
      assert.are.equal(1, status, output)
      assert.are.equal("failed", row_of(result, "other").verdict, output)
      local place = ("%s/%s"):format(folder, result.folder)
      assert.is_nil(support.read(place .. "/journal.jsonl"):find('"date":"x"', 1, true))
      assert.is_nil(io.open(place .. "/other-cpu.ended", "r"):read("a"):find("kind", 1, true))
      assert.is_nil(support.read(folder .. "/other.lua"):find("return", 1, true))
    end)
  end)

  labs.it_sandboxed("sees no process but its own, no other lab, and no network", function()
    labs.with({ { "first", "", 'print "secret"' }, { "reader", "", READER } }, function(folder, batch)
      local status, output, result = batch "labs.lua --sandbox require"
      assert.are.equal(0, status, output)
      local said = support.read(("%s/%s/reader-cpu/output.txt"):format(folder, result.folder))
      assert.is_true(tonumber(said:match "processes\t(%d+)") < 8, said)
      assert.are.equal("0", said:match "others\t(%d+)", said)
      assert.is_nil(said:match "written\t[^\n]*yes", said)
      assert.are.equal("2", said:match "own\t(%d+)", said)
      assert.is_nil(said:match "settings\t[^\n]*yes", said)
      -- A writable mount is one of these: its folder, what is its own, devices, its processes.
      for mount in said:match("mounts\t([^\n]*)"):gmatch "%S+" do
        local known = mount:find "^/dev/" or mount == "/tmp" or mount == "/proc" or mount:find "/reader%-cpu$"
        assert.is_truthy(known, mount)
      end
      assert.is_true(tonumber(said:match "network\t(%d+)") <= 1, said)
    end)
  end)

  -- Labs shared a cache: one could put code there that another loads.
  labs.it_sandboxed("reads the user's compiled code, and leaves none for others", function()
    local script = [=[
      local dev = mw.device "cpu"
      for _, name in ipairs { "users", "labs" } do
        local m <close> = dev:module { source = [[__global__ void k(int *x) { x[0] = 1; }]], name = name .. ".cu" }
        print(name, m:from_cache())
      end]=]
    labs.with({ { "first", "", script }, { "second", "", script } }, function(folder, batch)
      local environment = ("MOONWARP_CACHE=%s/cache"):format(folder)
      support.write(folder .. "/user.lua", 'local mw = require "moonwarp"\n' .. script:gsub(', "labs"', ""))
      local status, output = labs.shell(("cd %s && %s %s run user.lua"):format(labs.quoted(folder), environment,
        labs.quoted(labs.program)))
      assert.are.equal(0, status, output)
      local _, said, result = batch("labs.lua --sandbox require", environment)
      for _, name in ipairs { "first", "second" } do
        local lines = support.read(("%s/%s/%s-cpu/output.txt"):format(folder, result.folder, name))
        assert.are.equal("users\ttrue\nlabs\tfalse\n", lines, said)
      end
    end)
  end)

  labs.it_sandboxed("is described in one, too, when its parameters are checked", function()
    local script = [[os.execute "echo x >>../described; echo x >>described"
      local n = mw.arg("n", 1)]]
    labs.with({ { "a", "params = { n = 1 }", script } }, function(folder, batch)
      local status, output = batch "labs.lua --sandbox require"
      assert.are.equal(0, status, output)
      assert.is_nil(io.open(folder .. "/described"))
    end)
  end)

  labs.it_sandboxed("is interrupted by its time, with its record and its status", function()
    local script = 'mw.record { device = "cpu", x = 1 } while true do end'
    labs.with({ { "a", "time_limit = 1", script }, { "b", "", "os.exit(7)" } }, function(folder, batch)
      local _, output, result = batch "labs.lua --sandbox require"
      local row = row_of(result, "a")
      assert.are.equal("timed out 130", ("%s %d"):format(row.verdict, row.exit), output)
      local record = support.read(("%s/%s/%s/record.json"):format(folder, result.folder, row.run))
      assert.is_truthy(record:find('"status":"interrupted"', 1, true), record)
      assert.are.equal(7, row_of(result, "b").exit)
    end)
  end)
end)

describe("a lab without a sandbox", function()
  -- The batch hung for ever, and processes stayed.
  it("cannot hang the batch by stopping its supervisor, nor leave processes by killing it", function()
    labs.with({ { "stops", "", DAEMON .. STOPS .. SLEEPS },
                { "kills", "", DAEMON .. KILLS .. SLEEPS },
                { "fine", "", "" } }, function(_, batch)
      local status, output, result = batch "labs.lua --sandbox off"
      assert.are.equal(1, status, output)
      for _, name in ipairs { "stops", "kills" } do
        local row = row_of(result, name)
        assert.are.equal("crashed: its supervisor was killed or stopped", ("%s: %s"):format(row.verdict, row.message))
      end
      assert.are.equal("passed", row_of(result, "fine").verdict)
      assert.is_truthy(output:find("\nlabs ran without a sandbox: --sandbox off\n", 1, true), output)
      assert.is_false(left())
    end)
  end)

  -- Two Ctrl-C did nothing.
  it("that stopped its supervisor is killed by the second Ctrl-C", function()
    labs.with({ { "a", "", STOPS .. SLEEPS } }, function(folder)
      local status, output = support.signalled(("cd %s && exec %s batch labs.lua --sandbox off"):format(
        labs.quoted(folder), labs.quoted(labs.program)), "INT", { ("[ -e %s/stopped ]"):format(folder),
        "grep -q 'Ctrl-C again ends them at once' $D/output && sleep 0.2" })
      assert.are.equal(130, status, output)
      assert.is_false(left())
    end)
  end)
end)

describe("a batch", function()
  -- Each of these made the batch wait, or read, for ever.
  it("reads no pipe, device or endless folder that a lab left", function()
    local function leaves(command, status)
      return ([=[os.execute("cd " .. require("moonwarp.session").current:out() .. [[ && %s]]) os.exit(%d)]=])
        :format(command, status)
    end
    labs.with({ { "pipe", "", leaves("mkdir -p s/d && mkfifo s/d/record.json s/d/journal.jsonl skipped", 3) },
                { "device", "", leaves("mkdir -p s/d && cd s/d && touch journal.jsonl && ln -s /dev/zero record.json",
                  3) },
                { "log", "", leaves("rm output.txt && ln -s /dev/zero output.txt", 1) },
                { "large", "", leaves("mkdir -p s/d && truncate -s 4T s/d/record.json", 3) },
                { "circle", "", leaves("for i in $(seq 60); do ln -s . l$i; done", 0) },
                { "reason", "", leaves("head -c 20M /dev/zero >skipped", 0) },
                { "words", "", 'error(("x"):rep(1 << 22))' } },
      function(folder, batch)
        local status, output, result = batch "labs.lua"
        assert.are.equal(1, status, output)
        local verdicts = {}
        for i, row in ipairs(result.labs) do verdicts[i] = row.verdict end
        assert.are.equal("check failed, check failed, failed, check failed, passed, skipped, failed",
          table.concat(verdicts, ", "), output)
        for _, row in ipairs(result.labs) do assert.is_true(#(row.message or "") <= 2000, row.name) end
        assert.are.equal(2, #require("moonwarp.results.store").below(folder .. "/out"))
      end)
  end)

  it("says why labs cannot run in a sandbox, and runs them all the same unless one is required", function()
    labs.with({ { "a", "", "" } }, function(folder, batch)
      support.write(folder .. "/bwrap", "#!/bin/sh\necho bwrap: not permitted >&2; exit 1\n")
      os.execute(("chmod +x %s/bwrap"):format(folder))
      local environment = ("PATH=%s:$PATH"):format(folder)
      local status, output = batch("labs.lua", environment)
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("\nlabs ran without a sandbox: bwrap: not permitted\n", 1, true), output)
      status, output = batch("labs.lua --sandbox require", environment)
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("labs cannot run in a sandbox here: bwrap: not permitted", 1, true), output)
      status, output = batch "labs.lua --sandbox on"
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("option '--sandbox' wants auto, require or off, got 'on'", 1, true), output)
    end)
  end)

  -- A user without root whom the kernel gives no namespaces, by bwrap's own words.
  local BARE <const> = "echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all --inh-caps -all "
  local can_try = labs.shell "unshare -Ur setpriv --bounding-set -all --inh-caps -all true" == 0
  local it_can = can_try and labs.it_sandboxed or pending

  local function bare(folder, when, environment)
    local command = ("%s %s batch labs.lua --sandbox %s"):format(BARE, labs.quoted(labs.program), when)
    return labs.shell(("cd %s && %s unshare -Ur sh -c %s"):format(labs.quoted(folder), environment or "",
      labs.quoted(command)))
  end

  it_can("of a user without namespaces says how to go on", function()
    labs.with({ { "a", "", "" } }, function(folder)
      local status, output = bare(folder, "require")
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find('^moonwarp: labs cannot run in a sandbox here: bwrap: [^\n]*; root can permit user '
        .. 'namespaces %(docs/lab%.md, "The sandbox"%), and %-%-sandbox off is for labs that you trust\n$'), output)
      status, output = bare(folder, "auto")
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find "moonwarp: labs run without a sandbox: bwrap: ", output)
      assert.is_truthy(output:find "\nlabs ran without a sandbox: bwrap: ", output)
    end)
  end)

  -- As where AppArmor lets bwrap, and nothing else.
  it_can("of a user whose bwrap alone has namespaces says what its sandbox lacks", function()
    labs.with({ { "a", "", "" } }, function(folder)
      support.write(folder .. "/bwrap", "#!/bin/sh\nwhile [ $1 != -- ]; do shift; done; shift; exec \"$@\"\n")
      os.execute(("chmod +x %s/bwrap"):format(folder))
      local status, output = bare(folder, "require", "PATH=$PWD:$PATH")
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("the sandbox has a gap: file systems that are mounted while", 1, true), output)
    end)
  end)
end)
