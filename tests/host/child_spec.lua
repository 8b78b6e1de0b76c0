-- SPDX-License-Identifier: MIT
--
-- Child processes with limits, and locks: the C half of the batch. Only the program has it.

local support = require "tests.support"
local labs = require "tests.support.labs"
local found, host = pcall(require, "moonwarp.host")

if not found or not host.spawn then
  describe("a child", function() pending "needs the program" end)
  return
end

local PATIENCE <const> = 60 -- seconds that what takes a moment may need on a busy machine

-- Runs a shell script; returns how it ended, and what it printed.
local function run(script, spec, meanwhile)
  local ending, output
  support.with_folder(function(folder)
    spec = spec or {}
    spec.argv, spec.log, spec.ended = { "/bin/sh", "-c", script }, spec.log or folder .. "/log", folder .. "/ended"
    local child <close> = host.spawn(spec)
    if meanwhile then meanwhile(child, spec.log) end
    repeat
      host.wait({ child }, 10)
      ending = child:poll()
    until ending
    assert.is_nil(child:poll())
    output = spec.log:sub(1, 5) ~= "/dev/" and support.read(spec.log) or ""
    ending.note = not ending.lost and support.read(folder .. "/ended")
  end)
  return ending, output
end

-- Waits until a child's log has a word.
local function says(log, word)
  support.eventually(word, function()
    local file <close> = io.open(log)
    return file and file:read("a"):find(word, 1, true)
  end)
end

-- Runs a script that says "ready" and then outlasts any limit, with more seconds each time until it came to say so.
local function run_out_of_time(script, spec)
  for _, seconds in ipairs { 0.2, 2, 20, PATIENCE } do
    spec.seconds = seconds
    local ending, output = run(script, spec)
    if output:find "^ready\n" then return ending, output end
  end
  error "the script was never ready"
end

local function alive(pid)
  local file <close> = io.open(("/proc/%s/stat"):format(pid))
  local text = file and file:read "a" -- nil where the process goes between the two
  local state = text and text:match "%) (%a)"
  return state ~= nil and state ~= "Z"
end

local function is_gone(pid)
  support.eventually("the end of " .. pid, function() return not alive(pid) end)
end

describe("a child", function()
  it("reports how it ended, and leaves both streams in a file", function()
    local ending, output = run "echo out; echo err >&2; exit 3"
    assert.are.equal(3, ending.exit)
    assert.are.equal(0, ending.signal)
    assert.is_nil(ending.reason)
    assert.are.equal("out\nerr\n", output)
    assert.are.equal(8, ending.output)
    assert.is_truthy(ending.note:find "^exit 3\nsignal 0\nreason none\nseconds [%d.]+\npeak %d+\noutput 8\n$",
      ending.note)
    assert.are.equal(11, run("kill -SEGV $$").signal)
    assert.are.equal(127, run("exec /no/such/program").exit)
  end)

  it("reads nothing and gets the environment", function()
    local _, output = run('cat; echo "$GREETING"', { env = { "GREETING=hello there" } })
    assert.are.equal("hello there\n", output)
  end)

  it("ends by its time, with SIGINT, SIGTERM and SIGKILL", function()
    local polite, output = run_out_of_time("trap 'echo bye; exit 4' INT; echo ready; while :; do sleep 0.02; done",
      { grace = PATIENCE })
    assert.are.equal("time 4 ready\nbye\n", ("%s %d %s"):format(polite.reason, polite.exit, output))
    local deaf = run_out_of_time("trap '' INT TERM; echo ready; while :; do sleep 0.02; done", { grace = 0.1 })
    assert.are.equal("time 9", ("%s %d"):format(deaf.reason, deaf.signal))
  end)

  it("ends by its output, which is cut there", function()
    local ending, output = run("yes", { output = 100000, grace = 0.2 })
    assert.are.equal("output", ending.reason)
    assert.are.equal(100000, #output)
  end)

  it("ends by the memory that it holds", function()
    local hold = [[exec "$MOONWARP" -e 't = {} for i = 1, 40 do t[i] = ("x"):rep(1 << 22) end os.execute("sleep 999")']]
    local ending = run(hold, { memory = 100 << 20, env = { "MOONWARP=" .. host.program() } })
    assert.are.equal("memory", ending.reason)
    assert.is_true(ending.peak > 100 << 20)
  end)

  it("ends by how many it became", function()
    local ending = run("for i in $(seq 100); do sleep 999 & done; wait", { processes = 50 })
    assert.are.equal("processes", ending.reason)
  end)

  it("may not allocate more than its data limit", function()
    if os.getenv "SANITIZED" then pending "the sanitizer maps more" end
    local ending, output = run([[exec "$MOONWARP" -e 'local s = ("x"):rep(1 << 30)']],
      { data = 512 << 20, env = { "MOONWARP=" .. host.program() } })
    assert.are.equal(1, ending.exit)
    assert.is_truthy(output:find("not enough memory", 1, true), output)
  end)

  it("leaves no process, whatever group and session it is in", function()
    local ending, output = run("(setsid sleep 999 & echo $!); sleep 999 & echo $!; exit 0")
    assert.are.equal(0, ending.exit)
    for pid in output:gmatch "%d+" do assert.is_false(alive(pid), pid) end
  end)

  it("loses its log but not its life if the disk is full", function()
    local ending = run("echo hello; exit 2", { log = "/dev/full" })
    assert.are.equal(2, ending.exit)
    assert.are.equal("No space left on device", ending.log_error)
  end)

  it("is interrupted or killed when asked", function()
    local waiting = "trap 'exit 6' INT; echo ready; while :; do sleep 0.02; done"
    local ending = run(waiting, { grace = PATIENCE }, function(child, log)
      says(log, "ready")
      child:interrupt()
    end)
    assert.are.equal("interrupted 6", ("%s %d"):format(ending.reason, ending.exit))
    ending = run("trap '' INT TERM; sleep 999", nil, function(child) child:kill() end)
    assert.are.equal("interrupted 9", ("%s %d"):format(ending.reason, ending.signal))
  end)

  it("dies when it is closed, and when its parent is killed", function()
    support.with_folder(function(folder)
      local child = host.spawn { argv = { "/bin/sh", "-c", "sleep 999 & echo $!; wait" }, log = folder .. "/log" }
      says(folder .. "/log", "\n")
      child:close()
      assert.is_false(alive(support.read(folder .. "/log"):match "%d+"))
      support.child(([[local host = require "moonwarp.host"
        local child = host.spawn { argv = { "/bin/sh", "-c", "setsid sleep 999 & echo $!; wait" }, log = "%s/other" }
        os.execute "until [ -s %s/other ]; do sleep 0.05; done"
        io.popen("kill -KILL $PPID"):close()]]):format(folder, folder), { lua = host.program() .. " run" })
      is_gone(support.read(folder .. "/other"):match "%d+")
    end)
  end)

  it("dies with its supervisor", function()
    local ending, output = run("echo $$; exec sleep 999", nil, function(_, log)
      says(log, "\n")
      io.popen([[for p in $(cat /proc/$PPID/task/*/children); do [ "$p" = $$ ] || kill -KILL "$p"; done]]):close()
    end)
    assert.is_true(ending.lost)
    is_gone(output:match "%d+")
  end)

  it("ends with its supervisor, and what was there before does not", function()
    support.with_folder(function(folder)
      support.write(folder .. "/x.lua", ([[local host = require "moonwarp.host"
        local script = "setsid sleep 999 & echo $! >%s/pid; kill -KILL $PPID; sleep 999"
        local child = host.spawn { argv = { "/bin/sh", "-c", script } }
        repeat host.wait({ child }, 1) until child:poll() ]]):format(folder))
      local pipe <close> = assert(io.popen(("setsid sleep 999 >/dev/null & echo $!; exec %s run %s/x.lua")
        :format(labs.quoted(host.program()), folder)))
      local older = pipe:read "l"
      pipe:read "a"
      is_gone(support.read(folder .. "/pid"):match "%d+")
      assert.is_true(alive(older))
      os.execute("kill -KILL " .. older)
    end)
  end)

  labs.it_sandboxed("sees of a sandbox what its view says", function()
    support.with_folder(function(folder)
      os.execute(("cd %s && mkdir -p a/in b c && touch a/x a/in/x b/x"):format(folder))
      local view = { "scratch", "/tmp", "read", "/", "read", "/tmp", "read", folder, "hide", folder .. "/a",
                     "read", folder .. "/a/in", "read", folder .. "/nowhere", "write", folder .. "/c",
                     "read", support.core.home(), "read", host.program():match "^(.*)/" } -- both may lie in /tmp
      local script = "cd %s; ls a a/in b; for f in /tmp a a/in b c; do touch $f/y && echo $f; done; exit 9"
      local ending, output = run(script:format(folder), { sandbox = view })
      assert.are.equal(9, ending.exit)
      assert.are.equal("a:\nin\n\na/in:\nx\n\nb:\nx\n/tmp\nc\n", output:gsub("touch: [^\n]*\n", ""))
      assert.are.equal("memory", run([[exec "$MOONWARP" -e 't = ("x"):rep(1 << 28) os.execute "sleep 99"']],
        { sandbox = view, memory = 64 << 20, env = { "MOONWARP=" .. host.program() } }).reason)
      assert.are.equal(1, run("head -c 80M /dev/zero >/tmp/x && exit 2; exit 1",
        { sandbox = view, memory = 64 << 20 }).exit)
      assert.are.equal("11 139", ("%d %d"):format(run("kill -SEGV $$", { sandbox = view }).signal,
        128 + run("kill -SEGV $$").signal))
      assert.are.equal(130, run("exit 130", { sandbox = view }).exit)
      assert.are.equal("processes", run("for i in 1 2 3 4 5; do sleep 999 & done; wait",
        { sandbox = view, processes = 5 }).reason)
    end)
  end)

  it("is checked", function()
    assert.is_false(pcall(host.spawn, {}))
    assert.is_false(pcall(host.spawn, { argv = {} }))
    assert.is_false(pcall(host.spawn, { argv = { "/bin/true" }, held = { 5 } }))
  end)
end)

describe("a lock", function()
  local UNTIL_TOLD <const> = "until [ -e '%s/go' ]; do sleep 0.02; done"

  it("holds between processes until the last holder is gone", function()
    support.with_folder(function(folder)
      local file = folder .. "/lock"
      local lock = assert(host.lock(file))
      local child <close> = host.spawn { argv = { "/bin/sh", "-c", UNTIL_TOLD:format(folder) }, held = { lock } }
      lock:close()
      local again, reason = host.lock(file)
      assert.is_nil(again)
      assert.is_truthy(reason:find "^process %d+ has it$", reason)
      support.write(folder .. "/go", "")
      support.eventually("the end of the child", function() return child:poll() end)
      local taken = assert(host.lock(file))
      assert.is_nil((host.lock(file)))
      taken:close()
    end)
  end)

  it("needs a folder for its file", function()
    support.with_folder(function(folder)
      local file = folder .. "/none/lock"
      assert.are.same({ nil, file .. ": No such file or directory" }, { host.lock(file) })
    end)
  end)
end)
