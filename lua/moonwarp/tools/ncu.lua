-- SPDX-License-Identifier: MIT
--
-- Structural counters of a GPU: before the script goes on, a child runs all of it under ncu, NVIDIA's Nsight Compute.
-- Its report is read as launches (ncu_report.lua), which counters.lua keeps; the script then runs without ncu.

local checking = require "moonwarp.measure.checking"
local core = require "moonwarp.core"
local counters = require "moonwarp.measure.counters"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"
local report = require "moonwarp.tools.ncu_report"
local tool = require "moonwarp.tools.tool"

local ncu = {}

local OPT <const> = "/opt/nvidia/nsight-compute" -- where the packages of the toolkit put it, a folder per version
-- The library's own kernels are in a namespace, and are not counted.
local WORDS <const> = { "--target-processes", "application-only", "--clock-control", "none", "--cache-control", "none",
                        "--kernel-name-base", "demangled", "--kernel-name", "regex:^(?!(void )?moonwarp::)",
                        "--force-overwrite" }
local SOURCE <const> = { "--page", "source", "--metrics", table.concat(report.instruction_metrics(), ","),
                         "--print-source" }
local PAGES <const> = { { "--page", "raw" }, lists.append(lists.append({}, SOURCE), { "sass" }),
                        lists.append(lists.append({}, SOURCE), { "cuda,sass" }) }
local SILENCE <const> = 600 -- seconds; of a kernel under ncu, which launches it ten times and more

-- ---- ncu ----------------------------------------------------------------------------------------

local function versions()
  local names = files.entries(OPT) or {}
  table.sort(names, function(a, b) return a > b end)
  return lists.map(names, function(name) return OPT .. "/" .. name end)
end

--- The path of ncu; nil if it is not there.
---@return string?
function ncu.program()
  return tool.program("ncu", versions())
end

-- An ncu that would read this file of the working folder, and may run what it names, knows the option.
local function settings()
  return require("lfs").symlinkattributes("config.ncu-cfg", "mode") and { "--config-file", "off" } or nil
end

-- ---- what went wrong ----------------------------------------------------------------------------

local PERMISSION <const> = "ncu may not read the counters of the GPU (ERR_NVGPUCTRPERM): run as root, or load the "
  .. "driver with NVreg_RestrictProfilingToAdminUsers=0, or count on the CPU device with --device cpu"

-- Ncu's own errors, but for what it says of the script's exit status; nil if none.
local function errors_in(log)
  if log:find("ERR_NVGPUCTRPERM", 1, true) then return PERMISSION end
  for line in log:gmatch "==ERROR== ([^\r\n]+)" do
    if not line:find "^The application returned an error code" then return "ncu: " .. line end
  end
end

-- Why the script did not come to its end; nil: it did. Ncu ends with a status of its own.
local function interruption(log, result)
  local code = log:match "==ERROR== The application returned an error code %((%d+)%)"
  if code == "3" or (result.is_whole and not code) then return nil end -- 3: a check failed
  return ("the script failed under ncu (%s):\n%s"):format(code and "exit status " .. code or result.why, result.tail)
end

-- ---- the run ------------------------------------------------------------------------------------

local function silence()
  return tonumber(os.getenv "MOONWARP_NCU_SILENCE") or SILENCE
end

-- The report's file, without the end of its name that ncu adds. A user may keep it.
local function report_of(folder)
  local kept = os.getenv "MOONWARP_NCU_REPORT"
  return kept and kept ~= "" and kept:gsub("%.ncu%-rep$", "") or folder .. "/report"
end

-- No older report may be taken for what ncu writes, and it has to have a place.
local function clear_report(folder)
  local name = report_of(folder) .. ".ncu-rep"
  local file, problem = io.open(name, "wb")
  if not file then failure.raise_as("io", "counters: MOONWARP_NCU_REPORT: %s", problem) end
  file:close()
  os.remove(name)
end

local function words_of(program, folder, metrics)
  local words = lists.append(lists.append({ program }, settings()), WORDS)
  return lists.append(words, { "--metrics", table.concat(metrics, ","), "--export", report_of(folder), "--log-file",
                               folder .. "/log" })
end

-- The pages of the report, in the C locale; "" for a page that ncu could not print.
local function pages_of(program, folder)
  return lists.map(PAGES, function(page)
    local name = folder .. "/page"
    local words = { "/usr/bin/env", "LC_ALL=C", program, "--import", report_of(folder) .. ".ncu-rep", "--csv",
                    "--print-units", "base", "--log-file", name }
    os.remove(name)
    tool.run(lists.append(lists.append(words, settings()), page), folder, silence())
    return files.read(name) or ""
  end)
end

-- Those of some metrics that an error in ncu's log names; all of them if it ended before it began to profile.
local function refused(log, metrics)
  local errors = {}
  for line in log:gmatch "==ERROR==[^\r\n]*" do errors[#errors + 1] = line end
  local text = table.concat(errors, "\n")
  local named = lists.filter(metrics, function(name) return text:find(name:match "^[^.]*", 1, true) ~= nil end)
  return #named == 0 and text ~= "" and not log:find("==PROF==", 1, true) and metrics or named
end

-- Runs the script under ncu; again without those metrics of the hardware that the GPU or this ncu does not have, which
-- it says before anything is profiled. Also returns these.
local function attempt(session, program, folder)
  local hardware, left_out = report.hardware_metrics(), {}
  while true do
    local metrics = lists.append(report.metrics(), hardware)
    lists.append(metrics, session.options.counters)
    local result = tool.run_script(session, words_of(program, folder, lists.unique(metrics)), { "--counters" }, folder,
      silence())
    local without = refused(files.read(folder .. "/log") or "", hardware)
    if #without == 0 then return result, left_out end
    lists.append(left_out, without)
    hardware = lists.filter(hardware, function(name) return not lists.has(without, name) end)
    os.remove(folder .. "/log")
  end
end

-- What was counted, and what went wrong; nil if nothing was counted because of it.
local function judge(program, folder, result, asked)
  local log = files.read(folder .. "/log") or ""
  local problem = errors_in(log)
  if not problem and not log:find("==PROF==", 1, true) then
    return nil, ("ncu could not run (%s):\n%s"):format(result.why, result.tail)
  end
  problem = problem or interruption(log, result)
  if not files.exists(report_of(folder) .. ".ncu-rep") then return not problem and {} or nil, problem end
  local launches, fault = report.read(table.unpack(lists.append(pages_of(program, folder), { asked })))
  problem = problem or fault and "the report of ncu: " .. fault
  return launches and (#launches > 0 or not problem) and launches or nil, problem
end

local function run(session, program, backend)
  local folder, guard = path.temporary()
  local _ <close> = guard
  clear_report(folder)
  local result, left_out = attempt(session, program, folder)
  local launches, problem = judge(program, folder, result, session.options.counters)
  if not launches then failure.raise_as("failed", "counters: %s", problem) end
  if problem then io.stderr:write("note: ", problem, "\n") end
  if #left_out > 0 then
    io.stderr:write("note: left out, since ncu does not know them: ", table.concat(left_out, ", "), "\n")
  end
  for i, launch in ipairs(launches) do
    launch.launch, launch.device = i, ("%s:%s"):format(backend, launch.device)
  end
  counters.add(launches)
end

-- ---- what a session asks for --------------------------------------------------------------------

-- The device that counts if none was asked for: a GPU if ncu can run, else the CPU.
local function default(session, check)
  local gpu = checking.words(check) == "counters" and tool.is_script(session) and checking.backend(true)
  if gpu and ncu.program() then return gpu end
  if gpu and not session.options.quiet then io.stderr:write "note: ncu was not found; the CPU device counts\n" end
  return checking.backend(false)
end

local function fail_place(id)
  failure.raise_as("unsupported", "counters of device '%s' are of a whole script under ncu: write one, and start it by "
    .. "moonwarp run --counters FILE; the CPU device counts everywhere", id)
end

local function fail_program(id)
  failure.raise_as("unsupported", "counters of device '%s' need ncu, which is neither on $PATH nor in bin of "
    .. "$CUDA_HOME, $CUDA_PATH or /usr/local/cuda, nor in %s: install Nsight Compute, or use --device cpu", id, OPT)
end

--- Called before a device is opened that is to count: if it is a GPU, runs the script under ncu, once in a session.
---@param session table
---@param id string?     the device
---@param check table    how it judges (measure/checking.lua), with counters
---@return string? id    the device to open; of none the one that counts
---@return table? check  the same of a device that counts itself; nil: ncu has counted
function ncu.prepare(session, id, check)
  if tool.above() then
    tool.say_above(session)
    return id, nil
  end
  id = id or default(session, check)
  local word = id and core.device_word(id)
  if not tool.is_first_gpu(word) then return id, check end
  if session.has_counters then return id, nil end
  if not tool.is_script(session) then fail_place(id) end
  local program = ncu.program() or fail_program(id)
  session.has_counters = true
  run(session, program, word.backend)
  return id, nil
end

return ncu
