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
local report = require "moonwarp.tools.sanitizer_report"
local tool = require "moonwarp.tools.tool"

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

--- What the tools do not see, for the line that says that nothing was found.
sanitizer.LIMITS = "compute-sanitizer does not see races in global memory, or shared memory that was never written"

-- ---- which device -------------------------------------------------------------------------------

--- The path of compute-sanitizer; nil if it is not there.
---@return string?
function sanitizer.program()
  return tool.program "compute-sanitizer"
end

-- The device that check mode takes if none was asked for: a GPU if its tools can run and judge so, else the CPU.
local function default(session, check)
  local gpu = checking.words(check) == "" and checking.backend(true)
  if gpu and (tool.above() or tool.is_script(session) and sanitizer.program()) then return gpu end
  if gpu and tool.is_script(session) and not session.options.quiet then
    io.stderr:write("note: compute-sanitizer was not found; the CPU device checks\n")
  end
  return checking.backend(false)
end

-- ---- a tool at work -----------------------------------------------------------------------------

-- The words that start a tool, whose report goes to a file.
local function words_of(program, one, log)
  local port = FIRST_PORT + PORTS * math.random(0, 2000)
  local words = { program, "--tool", one.name, "--port", tostring(port), "--log-file", log }
  return lists.append(lists.append(words, one.words), WORDS)
end

-- What a tool found, and why it has not seen the whole script, if so.
local function judge(name, result, log, device)
  local list, more = report.read(files.read(log) or "", device)
  if not list then
    return {}, ("%s could not run (%s): %s\n%s"):format(name, result.why, more, result.tail)
  end
  if more > 0 and #list > 0 then
    list[#list].remark = ("%s has found %d more errors, and not printed them"):format(name, more)
  end
  return list, not result.is_whole and ("the script failed under %s (%s):\n%s"):format(name, result.why, result.tail)
    or nil
end

local function run_tool(session, program, one, device)
  local folder, guard = path.temporary()
  local _ <close> = guard
  local log = folder .. "/log"
  local own = session.options.check and { "--check" } or {}
  return judge(one.name, tool.run_script(session, words_of(program, one, log), own, folder), log, device)
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
  for _, one in ipairs(TOOLS) do
    local list, problem = run_tool(session, program, one, device)
    lists.append(all, list)
    if first and problem then others[#others + 1] = one.name end
    first = first or problem
  end
  findings.add(lists.filter(all, function(one) return not is_told_better(one, all) end))
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
  failure.raise_as("unsupported", "check mode of device '%s' has no strict, schedule, seed or blocks; use --device cpu",
    id)
end

--- Called before a device is opened in check mode, or under a tool: if it is a GPU, runs the tools, once in a session.
---@param session table
---@param id string?      the device
---@param check table?   in check mode: how it judges (measure/checking.lua)
---@return string? id     the device to open; of none the one that check mode takes
function sanitizer.prepare(session, id, check)
  if check and not id then id = default(session, check) end
  local word = id and core.device_word(id)
  if tool.above() then
    if not word or word.kind == "gpu" then tool.say_above(session) end
  elseif tool.is_first_gpu(word) and not session.is_sanitized then
    if not tool.is_script(session) then fail_place(id) end
    if checking.words(check or {}) ~= "" then fail_words(id) end
    local program = sanitizer.program() or fail_program(id)
    session.is_sanitized = true
    run_tools(session, program, word.checks)
  end
  return id
end

return sanitizer
