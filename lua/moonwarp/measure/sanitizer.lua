-- SPDX-License-Identifier: MIT
--
-- Check mode of a GPU: before the script goes on, children run all of it under the tools of compute-sanitizer, one
-- after the other. What these find waits for the session; the script itself then runs without a tool.

local checking = require "moonwarp.measure.checking"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local findings = require "moonwarp.measure.findings"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"
local report = require "moonwarp.measure.sanitizer_report"
local utf8text = require "moonwarp.base.utf8text"

local sanitizer = {}

-- With padding an index that is too large meets no other array. Copies by the host are not judged: of these initcheck
-- sees 32 bytes at a time, and copies of other streams too late.
local TOOLS <const> = {
  { name = "memcheck", words = { "--padding", "4096", "--report-api-errors", "no" } },
  { name = "racecheck", words = {} },
  { name = "synccheck", words = {} },
  { name = "initcheck", words = { "--check-api-memory-access", "no" } },
}
local WORDS <const> = { "--target-processes", "application-only", "--launch-timeout", "0", "--destroy-on-device-error",
                        "kernel", "--strip-paths", "no", "--show-backtrace", "device", "--print-limit", "10000" }
local FIRST_PORT <const>, PORTS <const> = 20000, 10 -- a tool takes up to ten of them in a row
local MOST_OUTPUT <const> = 1 << 28                 -- bytes that the script prints under a tool
local TAIL <const>, WIDTH <const> = 8, 160           -- lines, and their bytes, of them that a message shows
local CHECK_FAILED <const> = 3

--- What the tools do not see, for the line that says that nothing was found.
sanitizer.LIMITS = "compute-sanitizer does not see races in global memory, or shared memory that was never written"

-- ---- whether a tool is there --------------------------------------------------------------------

-- Whether this process runs under a tool of compute-sanitizer.
local function is_above()
  return os.getenv "NV_SANITIZER_INJECTION_PORT_BASE" ~= nil
end

local function is_program(name)
  local attributes = require("lfs").attributes(name)
  return attributes and attributes.mode == "file" and attributes.permissions:sub(3, 3) == "x"
end

--- The path of compute-sanitizer: on $PATH, else in the CUDA toolkit; nil if it is not there.
---@return string?
function sanitizer.program()
  local folders = {}
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do folders[#folders + 1] = folder end
  for _, name in ipairs { "CUDA_HOME", "CUDA_PATH" } do
    local home = os.getenv(name)
    if home and home ~= "" then folders[#folders + 1] = home .. "/bin" end
  end
  folders[#folders + 1] = "/usr/local/cuda/bin"
  local paths = lists.map(folders, function(folder) return folder .. "/compute-sanitizer" end)
  return lists.find(paths, is_program)
end

-- ---- which device -------------------------------------------------------------------------------

local function is_usable(backend)
  return lists.find(core.devices(), function(entry)
    return entry.usable and core.device_word(entry.id).backend == backend
  end) ~= nil
end

-- In another interpreter, and at the prompt, there is no script that a child could run from its beginning.
local function is_script(session)
  return session.options.argv ~= nil
end

-- The name of the best backend with GPUs that can be used, or of the best one without GPUs that has check mode.
local function backend_of(kind_is_gpu)
  local _, names = core.device_forms()
  return lists.find(names, function(name)
    local word = core.device_word(name)
    return word.checks and (word.kind == "gpu") == kind_is_gpu and is_usable(name)
  end)
end

-- The device that check mode takes if none was asked for: a GPU if its tools can run and judge so, else the CPU.
local function default(session, check)
  local gpu = checking.words(check) == "" and backend_of(true)
  if gpu and (is_above() or is_script(session) and sanitizer.program()) then return gpu end
  if gpu and is_script(session) and not session.options.quiet then
    io.stderr:write("note: compute-sanitizer was not found; the CPU device checks\n")
  end
  return backend_of(false)
end

-- ---- a tool at work -----------------------------------------------------------------------------

-- The command line of this run, for a child: without what is about its results.
local function command(session, folder)
  local options, host = session.options, require "moonwarp.host"
  local words = lists.append({ host.program() }, options.start)
  for _, text in ipairs(options.p or {}) do lists.append(words, { "-p", text }) end
  if options.device then lists.append(words, { "--device", options.device }) end
  if options.check then words[#words + 1] = "--check" end
  return lists.append(lists.append(words, { "--quiet", "--out", folder .. "/out", "--" }), options.rest or {})
end

-- The last lines of a file.
local function tail(name)
  local file, lines = io.open(name, "rb"), {}
  if not file then return "" end
  file:seek("set", math.max(0, file:seek "end" - TAIL * WIDTH))
  for line in file:lines() do
    if line ~= "" then lines[#lines + 1] = "  " .. line:sub(1, WIDTH) end
  end
  file:close()
  return utf8text.clean(table.concat(lines, "\n", math.max(1, #lines - TAIL + 1)))
end

-- Ctrl-C is raised here; the caller's child is closed by it, and with it all that is below.
local function wait(child)
  local host = require "moonwarp.host"
  local ending
  repeat
    host.wait({ child }, 1)
    if core.interrupted() then core.raise("interrupted", "interrupted") end
    ending = child:poll()
  until ending
  return ending
end

-- The tool's own exit status is the script's.
local function spawn(session, program, tool, folder)
  local port = FIRST_PORT + PORTS * math.random(0, 2000)
  local words = { program, "--tool", tool.name, "--port", tostring(port), "--log-file", folder .. "/log" }
  lists.append(lists.append(words, tool.words), WORDS)
  return require("moonwarp.host").spawn { argv = lists.append(words, command(session, folder)),
                                          log = folder .. "/output", output = MOST_OUTPUT, grace = 1 }
end

local function why_ended(ending)
  if ending.reason == "output" then return "it printed more than 256 MiB" end
  if ending.signal ~= 0 then return ("signal %d"):format(ending.signal) end
  return ("exit status %d"):format(ending.exit)
end

-- What a tool found, and why it has not seen the whole script, if so.
local function judge(tool, ending, folder, device)
  local list, more = report.read(files.read(folder .. "/log") or "", device)
  if not list then
    return {}, ("%s could not run (%s): %s\n%s"):format(tool.name, why_ended(ending), more, tail(folder .. "/output"))
  end
  if more > 0 and #list > 0 then
    list[#list].remark = ("%s has found %d more errors, and not printed them"):format(tool.name, more)
  end
  local is_whole = ending.signal == 0 and (ending.exit == 0 or ending.exit == CHECK_FAILED)
  return list, not is_whole and ("the script failed under %s (%s):\n%s"):format(tool.name, why_ended(ending),
    tail(folder .. "/output")) or nil
end

local function temporary()
  local name = os.tmpname()
  os.remove(name)
  local problem = path.make(name)
  if problem then failure.raise_as("io", "%s", problem) end
  return name, setmetatable({}, { __close = function() os.execute("rm -rf " .. path.quote(name)) end })
end

local function run_tool(session, program, tool, device)
  local folder, guard = temporary()
  local _ <close> = guard
  local child <close> = spawn(session, program, tool, folder)
  return judge(tool, wait(child), folder, device)
end

local function place_of(one)
  return ("%s:%s"):format(one.parties[1].file, one.parties[1].line)
end

-- A wrong mask is a fault under memcheck; synccheck knows what it is.
local function is_told_better(one, all)
  return one.kind == "fault" and lists.find(all, function(other)
    return other.kind ~= "fault" and place_of(other) == place_of(one)
  end)
end

-- What a script could not go through because of an error that was found needs no further words.
local function run_tools(session, program, device)
  local all, first, others = {}, nil, {}
  for _, tool in ipairs(TOOLS) do
    local list, problem = run_tool(session, program, tool, device)
    lists.append(all, list)
    if first and problem then others[#others + 1] = tool.name end
    first = first or problem
  end
  findings.add(lists.map(all, function(one) return not is_told_better(one, all) and one or nil end))
  if first and #all == 0 then failure.raise_as("failed", "check mode: %s", first) end
  if first then io.stderr:write("note: ", first, "\n") end
  if #others > 0 then
    io.stderr:write("note: nor have these seen the whole script: ", table.concat(others, ", "), "\n")
  end
end

-- ---- what a session asks for --------------------------------------------------------------------

local function fail_place(id)
  failure.raise_as("unsupported", "check mode of device '%s' runs a whole script under compute-sanitizer: write one, "
    .. "and start it by moonwarp run --check FILE; the CPU device has check mode everywhere", id)
end

local function fail_program(id)
  failure.raise_as("unsupported", "check mode of device '%s' needs compute-sanitizer, which is neither on $PATH nor in "
    .. "bin of $CUDA_HOME, $CUDA_PATH or /usr/local/cuda: install the CUDA toolkit, or use --device cpu", id)
end

local function fail_words(id)
  failure.raise_as("unsupported", "check mode of device '%s' has no strict, seed or blocks; use --device cpu", id)
end

local function say_above(session)
  if session.is_above then return end
  session.is_above = true
  if session.options.quiet then return end
  io.stderr:write("note: under compute-sanitizer nothing is timed, and it reports itself what it finds\n")
end

-- The first GPU, if it is there: what is wrong with another id is known when it is opened.
local function is_first(word)
  return (word.checked or word.id == word.backend .. ":0") and is_usable(word.backend)
end

--- Called before a device is opened in check mode, or under a tool: if it is a GPU, runs the tools, once in a session.
---@param session table
---@param id string?      the device
---@param check table?   in check mode: how it judges (measure/checking.lua)
---@return string? id     the device to open; of none the one that check mode takes
function sanitizer.prepare(session, id, check)
  if check and not id then id = default(session, check) end
  local word = id and core.device_word(id)
  if is_above() then
    if not word or word.kind == "gpu" then say_above(session) end
  elseif word and word.kind == "gpu" and is_first(word) and not session.is_sanitized then
    if not is_script(session) then fail_place(id) end
    if checking.words(check or {}) ~= "" then fail_words(id) end
    local program = sanitizer.program() or fail_program(id)
    session.is_sanitized = true
    run_tools(session, program, word.checks)
  end
  return id
end

return sanitizer
