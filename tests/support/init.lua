-- SPDX-License-Identifier: MIT
--
-- What the specs share: the devices there are, assertions on error texts, the leak check, child processes.

local busted = require "busted"
local assert = require "luassert"
local core = require "moonwarp.core"
local mw = require "moonwarp"
local session = require "moonwarp.session"

local support = { mw = mw, core = core }

--- Whether what `make check` takes a sample of is run whole: in `make stress`, and on a GPU.
support.whole = os.getenv "WHOLE" == "1"

-- ---- devices ------------------------------------------------------------------------------------

local opened

--- Every usable device, opened once a spec file.
---@return userdata[]
function support.devices()
  if opened then return opened end
  opened = {}
  for _, entry in ipairs(mw.devices()) do
    if entry.usable then opened[#opened + 1] = mw.device(entry.id) end
  end
  return opened
end

--- Whether kernels run on the device, by trying one.
---@param dev userdata
---@return boolean
function support.runs_kernels(dev)
  local a <close> = dev:zeros("f32", 1)
  a:linspace(3, 3)
  return a:get(1) == 3
end

-- `it` where kernels run on the device; else the test is skipped.
local function runner(dev)
  return support.runs_kernels(dev) and busted.it or busted.pending
end

--- Describes the same behaviour once for each usable device, with the leak check around every test.
---@param subject string?   what is described: "streams"
---@param body fun(dev: userdata, id: string, runs: function)  runs: `it` of what needs kernels that run
function support.each_device(subject, body)
  if not body then subject, body = nil, subject end
  for _, dev in ipairs(support.devices()) do
    local id = dev:id()
    busted.describe(subject or "on", function()
      support.no_leaks()
      -- a block of its own: what its after_each closes is closed before the check
      busted.describe(subject and "on " .. id or id, function() body(dev, id, runner(dev)) end)
    end)
  end
end

--- The CUDA architectures that can be compiled for here, or none and the reason.
---@return boolean ok
---@return string? reason
function support.has_nvrtc()
  local ok, reason = pcall(mw.device, "cuda:sm_90")
  return ok, not ok and reason or nil
end

--- A file of tests/kernels.
---@param name string
---@return string
function support.kernel_file(name)
  return core.home() .. "/tests/kernels/" .. name
end

-- ---- errors -------------------------------------------------------------------------------------

-- Without the position that Lua or the library puts in front.
local function stripped(message)
  return (message:gsub("^[^\n:]+:%d+: ", "", 1))
end

-- The message, and the error value where it is one of the library's.
local function failure_of(fn)
  local ok, problem = pcall(fn)
  assert.is_false(ok, "an error was expected and there was none")
  assert.is_true(type(problem) == "string" or core.type(problem) == "error", "neither a message nor an error value")
  local message = tostring(problem)
  local first = message:match "[^\n]*"
  assert.is_nil(first:match "%.$", "an error ends with a full stop: " .. first)
  return message, problem
end

--- The function raises, and the message without its position is exactly this text.
---@param fn function
---@param text string
---@return any problem  what was raised
function support.fails(fn, text)
  local message, problem = failure_of(fn)
  assert.are.equal(text, stripped(message))
  return problem
end

--- The function raises an error value of this status, and the message contains each of these texts.
---@param status string   "no_device", "invalid", ...
---@param fn function
---@param ... string
---@return string message
function support.fails_as(status, fn, ...)
  local message, problem = support.fails_with(fn, ...)
  assert.are.equal(status, core.type(problem) == "error" and problem.status, message)
  return message
end

--- The function raises, and the message contains each of these texts.
---@param fn function
---@param ... string
---@return string message
---@return any problem  what was raised
function support.fails_with(fn, ...)
  local message, problem = failure_of(fn)
  for _, text in ipairs { ... } do
    assert.is_truthy(message:find(text, 1, true), ("'%s' is not in: %s"):format(text, message))
  end
  return message, problem
end

--- The same for Lua patterns.
---@param fn function
---@param ... string
---@return string message
function support.fails_like(fn, ...)
  local message = failure_of(fn)
  for _, pattern in ipairs { ... } do
    assert.is_truthy(message:find(pattern), ("'%s' does not match: %s"):format(pattern, message))
  end
  return message
end

-- ---- leaks --------------------------------------------------------------------------------------

local COUNTED = { "array", "event", "graph", "module", "stream", "surface", "texture" }

local function live()
  collectgarbage()
  collectgarbage()
  return core.live()
end

--- Fails every test of the enclosing block that leaves an object open which nothing refers to.
function support.no_leaks()
  support.warm()
  local before
  busted.before_each(function() before = live() end)
  busted.after_each(function()
    local after = live()
    for _, class in ipairs(COUNTED) do
      assert.are.equal(before[class], after[class], ("open objects of class %s"):format(class))
    end
  end)
end

--- Compiles the library's own helper kernels of each device, which then stay, as does their array: not a leak.
function support.warm()
  for _, dev in ipairs(support.devices()) do
    local a <close> = dev:array("f32", 1)
    a:linspace(0, 0)
    dev:sum(a)
    require("moonwarp.measure.comparison").on_device(a, a, 0, 0)
    local own_kernels = require "moonwarp.own_kernels"
    for _, file in ipairs { "plan", "proof", "rand", "sparse" } do
      own_kernels.module(dev, ("moonwarp/%s.cu"):format(file))
    end
    pcall(own_kernels.module, dev, "moonwarp/hold.cu") -- the CPU device does not take it
  end
end

-- ---- files and processes ------------------------------------------------------------------------

local PATIENCE = 60 -- seconds that a machine may need for what takes a moment

--- The command of a stock interpreter ($STOCK_LUA) that finds moonwarp as a module: a bundle has only the program.
---@return string?
function support.stock_interpreter()
  local command = os.getenv "STOCK_LUA" or "lua5.4"
  return os.execute(command .. " -e 'require [[moonwarp]]' >/dev/null 2>&1") and command or nil
end

--- Runs the function with a new folder that is removed afterwards, whatever happens.
---@param body fun(folder: string)
function support.with_folder(body)
  local pipe = assert(io.popen "mktemp -d")
  local folder = pipe:read "l"
  pipe:close()
  local ok, message = xpcall(body, debug.traceback, folder)
  os.execute(("rm -rf '%s'"):format(folder))
  if not ok then error(message, 0) end
end

--- Writes a text file.
---@param path string
---@param text string
function support.write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

--- Reads a whole file.
---@param path string
---@return string
function support.read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- The files below a folder, sorted.
---@param folder string
---@return string[] paths
function support.files(folder)
  local paths = {}
  local pipe <close> = assert(io.popen(("find '%s' -type f | sort"):format(folder)))
  for path in pipe:lines() do paths[#paths + 1] = path end
  return paths
end

--- The folders of the runs below a folder, oldest first.
---@param folder string   what was given with --out
---@return string[]
function support.runs(folder)
  return require("moonwarp.results.store").below(folder)
end

--- Calls a function while results go to a folder, as after --out; closes the run after it.
---@param folder string
---@param body function
---@return any result  the first one of body
function support.into(folder, body, ...)
  local options = session.current.options
  local before = options.out
  options.out = folder
  local ok, result = xpcall(body, debug.traceback, ...)
  session.current:finish { status = "complete", exit = 0 }
  options.out = before
  if not ok then error(result, 0) end
  return result
end

--- The folder of the only run below a folder.
---@param folder string   what was given with --out
---@return string
function support.run(folder)
  local runs = support.runs(folder)
  assert.are.equal(1, #runs, "runs in " .. folder)
  return runs[1]
end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function environment_text(environment)
  local words = {}
  for name, value in pairs(environment or {}) do words[#words + 1] = name .. "=" .. quoted(tostring(value)) end
  table.sort(words)
  return table.concat(words, " ")
end

--- The program under test, or nil where only the module was built.
---@return string?
function support.program()
  return os.getenv "MOONWARP_PROGRAM"
end

--- Runs Lua code in a process of its own, by the interpreter the suite runs with ($MOONWARP_TEST_LUA) and the same
--- module. A process that takes longer than the limit is killed, which gives status 124.
---@param code string
---@param options { env: table?, limit: integer?, lua: string?, folder: string? }?
---@return integer status  128 + n after signal n
---@return string output   both streams
function support.child(code, options)
  options = options or {}
  local name = os.tmpname()
  local script = name .. ".lua"
  support.write(script, code)
  local command = ("cd %s && env %s timeout -k 5 %d %s %s 2>&1 </dev/null; s=$?; echo; echo status $s"):format(
    quoted(options.folder or "."), environment_text(options.env), options.limit or 5 * PATIENCE,
    options.lua or os.getenv "MOONWARP_TEST_LUA" or "lua5.4", quoted(script))
  local pipe = assert(io.popen(command))
  local output = pipe:read "a"
  pipe:close()
  os.remove(script)
  os.remove(name)
  local text, status = output:match "^(.-)\n?status (%d+)\n"
  return math.tointeger(tonumber(status)), text
end

--- The child ends well; returns what it printed.
---@param code string
---@param options table?
---@return string output
function support.child_passes(code, options)
  local status, output = support.child(code, options)
  assert.are.equal(0, status, output)
  return output
end

-- ---- what takes its time ------------------------------------------------------------------------

--- Waits until something is so: on a busy machine nothing can be said of when.
---@param what string           for the message where it never is
---@param condition fun(): any
---@return any                  what the condition returned
function support.eventually(what, condition)
  for _ = 1, PATIENCE * 50 do
    local value = condition()
    if value then return value end
    os.execute "sleep 0.02"
  end
  error(("%s: not after %d s"):format(what, PATIENCE), 2)
end

--- Runs the function by a clock that only the test advances: what is measured is the same on every machine. Each look
--- at it takes a nanosecond, so that time does pass.
---@param body fun(pass: fun(seconds: number))
function support.with_clock(body)
  local real, now = core.clock, 0.0
  core.clock = function()
    now = now + 1e-9
    return now
  end
  local ok, message = xpcall(body, debug.traceback, function(seconds) now = now + seconds end)
  core.clock = real
  if not ok then error(message, 0) end
end

local function shell(script)
  local pipe <close> = assert(io.popen(script))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

-- Shell: "await COMMAND" comes back when the command is true, or patience is at its end.
local AWAIT <const> = ('await() { n=0; until "$@" || [ $n -gt %d ]; do n=$((n + 1)); sleep 0.02; done; }')
  :format(PATIENCE * 50)

-- What hangs in spite of all signals is killed in the end.
local WATCH <const> = AWAIT .. [[

await [ -s "$D/pid" ]; pid=$(cat "$D/pid")
%s
await eval '! kill -0 $pid'; kill -KILL $pid]]

--- Runs a command and sends it a signal once for each condition, when that has come to be so.
---@param command string       of the shell; ends in "exec PROGRAM", so that the signal is the program's
---@param signal string        "INT", "KILL"
---@param conditions string[]  commands of the shell, as in "grep -q spinning $D/output"; $D/output has what it printed
---@return integer status      128 and the signal's number where it died of it
---@return string output
function support.signalled(command, signal, conditions)
  local status, output
  support.with_folder(function(folder)
    local steps = {}
    for i, condition in ipairs(conditions) do
      -- one that ended before its time is not waited for
      local either = ("{ %s; } || ! kill -0 $pid"):format(condition)
      steps[i] = ("await eval %s; kill -%s $pid"):format(quoted(either), signal)
    end
    status, output = shell(("D=%s; export D; : >$D/output\n(%s\n) >/dev/null 2>&1 </dev/null &\n"
      .. "sh -c 'echo $$ >$D/pid; '%s >$D/output 2>&1 </dev/null; s=$?; cat $D/output; exit $s"):format(quoted(folder),
      WATCH:format(table.concat(steps, "\n")), quoted(command)))
  end)
  return status, output
end

--- Types at a terminal, by script(1), no faster than a person: two Ctrl-C at once are taken for one.
---@param command string      of the shell
---@param steps string[][]    { what the screen shows that is new, keys as printf(1) takes them }
---@return string screen      all that was shown
function support.typed(command, steps)
  local screen
  support.with_folder(function(folder)
    local lines = {}
    for i, step in ipairs(steps) do
      local seen = "tail -c +$at $D/screen | grep -qF -- " .. quoted(step[1])
      lines[i] = ("await eval %s; at=$(($(wc -c <$D/screen) + 1)); sleep 0.15; printf %s"):format(quoted(seen),
        quoted(step[2]))
    end
    local script = "D=%s; export D; : >$D/screen; at=1\n{ %s\n%s\n} | "
      .. "timeout -k 5 %d script -qefc %s $D/screen >/dev/null 2>&1"
    shell(script:format(quoted(folder), AWAIT, table.concat(lines, "\n"), 2 * PATIENCE, quoted(command)))
    screen = support.read(folder .. "/screen")
  end)
  return screen
end

-- ---- studies ------------------------------------------------------------------------------------

-- What the only run below a folder left: its record, and its files by their names. Nothing without a run.
local function left_in(folder)
  local made = support.runs(folder)[1]
  if not made then return nil, {} end
  local files = {}
  for _, path in ipairs(support.files(made)) do files[path:sub(#made + 2)] = support.read(path) end
  return files["record.json"] and assert(require("moonwarp.results.store").read(made)), files
end

--- Runs a study in a process and a folder of its own, which takes no longer to measure than it must.
---@param name string
---@param words string     as "-p n=24 --device cpu"
---@param options { kernels: table?, optimised: boolean? }?
---  kernels: texts by the names of kernels' files, which a copy of the study finds before the library's
---  optimised: compiled as a user has it, which takes most of the time; by g++ where it is there, since the kernels'
---  own specs run with clang++
---@return { status: integer, output: string, record: table?, files: table<string, string>, remarks: string }
function support.study(name, words, options)
  local run
  options = options or {}
  support.with_folder(function(folder)
    local word = name
    for file, text in pairs(options.kernels or {}) do support.write(folder .. "/" .. file, text) end
    local shipped = options.kernels and io.open(("%s/experiments/%s.lua"):format(core.home(), name))
    if shipped then -- a copy of it finds other kernels than its own
      word = name .. ".lua"
      support.write(folder .. "/" .. word, shipped:read "a")
      shipped:close()
    end
    local compiler = options.optimised and '"${MOONWARP_CXX:-$(command -v g++ || command -v clang++)}"'
      or quoted(core.home() .. "/tests/cxx-o0")
    local command = "cd '%s' && MOONWARP_CXX=%s '%s' run %s %s --out out %s 2>&1 </dev/null"
    local status, output = shell(command:format(folder, compiler, support.program(), word,
      options.untimed and "" or "-p seconds=0", words))
    local record, files = left_in(folder .. "/out")
    run = { status = status, output = output, record = record, files = files,
            remarks = (files["remarks.txt"] or ""):gsub("%s+", " ") }
  end)
  return run
end

--- The same; it ends well.
---@return table
function support.study_passes(name, words, options)
  local run = support.study(name, words, options)
  assert.are.equal(0, run.status, run.output)
  return run
end

--- What a study's run has checked, and whether it was right.
---@param run table
---@return table<string, boolean>
function support.checks(run)
  local checks = {}
  for _, one in ipairs(run.record.checks) do checks[one.what] = one.ok end
  return checks
end

--- The run has made each of these checks, and they were right.
---@param run table
---@param whats string[]
function support.has_checks(run, whats)
  local checks = support.checks(run)
  for _, what in ipairs(whats) do assert.is_true(checks[what], what) end
end

--- A file of kernels with a text of it changed.
---@param file string
---@param ... string[]  { text, what takes its place }
---@return string
function support.changed_kernels(file, ...)
  local text = support.read(core.home() .. "/kernels/" .. file)
  for _, change in ipairs { ... } do
    local from, to = text:find(change[1], 1, true)
    assert.is_truthy(from, file .. " has no " .. change[1])
    text = text:sub(1, from - 1) .. change[2] .. text:sub(to + 1)
  end
  return text
end

-- ---- a stream that waits for the script -----------------------------------------------------------

-- How often the kernel `hold` looks at its gate in a second, about: on a GPU each look goes over the bus.
local LOOKS <const> = { cpu = 1e9, cuda = 5e5 }

local gate = {}
gate.__index = gate

-- The first launch of a kernel, which loads it, may wait for a GPU's streams: it is to come before a gate is shut.
local function load_kernels(m)
  local dev = m:device()
  local x <close> = dev:pinned("i32", { 0, 0 })
  m.put:launch(1, 1, x, 0)
  m.increment:launch(1, 1, x, 1)
  m.add:launch(1, 1, x, x, x, 1)
  m.nothing:launch(1, 1)
  m.hold:launch(1, 1, x, 0)
  dev:synchronize()
end

--- A gate, open. All it needs is made here, since making and freeing pinned memory may wait for streams too.
---@param m userdata  the module of basic.cu
---@return table gate  to be closed before its stream, which opens it
function support.gate(m)
  load_kernels(m)
  local self = setmetatable({ hold = m.hold, state = m:device():pinned("i32", { 0, 0 }) }, gate)
  self.looks = LOOKS[m:device():id():match "^%a+"]
  return self
end

--- Shuts it: what enters the stream from now on waits until the gate is opened, or for so long.
---@param stream userdata
---@param seconds number?  about; not given: longer than any test needs
function gate:shut(stream, seconds)
  self.state:upload { 0, 0 }
  local looks = math.tointeger(self.looks * (seconds or PATIENCE) // 1)
  self.hold:prepare { grid = 1, block = 1, stream = stream }(self.state, looks)
end

--- Opens it.
function gate:open() self.state:set(1, 1) end

--- Whether the stream has reached it.
---@return boolean
function gate:is_reached() return self.state:get(2) > 0 end

--- Whether it was opened, and did not give up before; asked when the stream is behind it.
---@return boolean
function gate:was_opened() return self.state:get(2) == 2 end

--- Opens it, and gives back what it holds.
function gate:close()
  self:open()
  self.state:close()
end

gate.__close = gate.close

return support
