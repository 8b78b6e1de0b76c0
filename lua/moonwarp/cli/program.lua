-- SPDX-License-Identifier: MIT
--
-- moonwarp run PROGRAM.cu: a CUDA program with its main (program.lua), for the command run. On a GPU it is nvcc's.

local core = require "moonwarp.core"
local execution = require "moonwarp.sweep.execution"
local exit = require "moonwarp.base.exit"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"

local program = {}

-- Options of scripts that a program has no use for, by their keys.
local OF_SCRIPTS <const> = { p = "-p", pass = "--pass", mpi = "--mpi", slurm = "--slurm", dry = "--dry-run",
                             json = "--json" }

local MODES <const> = { "check", "counters", "engines" } -- of the CPU device

local function has_main(file)
  local text, problem = files.read(file)
  if not text then options.fail("%s", problem) end
  return text:gsub("//[^\n]*", ""):gsub("/%*.-%*/", ""):find "%f[%w_]main%s*%(" ~= nil
end

local function check(parsed)
  for key, flag in pairs(OF_SCRIPTS) do
    if parsed[key] then options.fail("option '%s' is of scripts; '%s' is a program", flag, parsed[1]) end
  end
  options.reject_slurm(parsed)
  if lists.find(parsed, has_main) then return end
  local word = path.word
  options.fail("'%s' has no main: moonwarp new %s %s writes a script that runs its kernels; of a program all sources "
    .. "are given", parsed[1], word(parsed[1]:match "([^/]*)%."), word(parsed[1]))
end

-- The usable GPU that the program is for: asked for, or the first device that is usable and has no mode to be in; nil:
-- another device.
local function gpu_of(parsed)
  local asked = parsed.device and core.device_word(parsed.device).id
  local in_mode = lists.find(MODES, function(mode) return parsed[mode] end)
  local found = lists.find(core.devices(), function(one)
    local id = core.device_word(one.id).id
    return one.usable and (asked == id or not (asked or in_mode))
  end)
  local word = found and core.device_word(found.id)
  return word and word.kind == "gpu" and word or nil
end

local function command_of(words, redirection)
  return table.concat(lists.map(words, path.word), " ") .. " " .. (redirection or "")
end

-- Of what os.execute, or the end of a pipe, gives.
local function status_of(_, how, code)
  return how == "signal" and 128 + code or code
end

local function shell(words, redirection)
  return status_of(os.execute(command_of(words, redirection)))
end

-- Compiled by nvcc, and run as a process of its own. The status.
local function run_on_gpu(parsed, nvcc, id)
  local folder <const>, _ <close> = path.temporary()
  local binary = folder .. "/program"
  local words = { nvcc, "-arch=native", "-o", binary }
  for flag, list in pairs { ["-I"] = parsed.includes or {}, ["-D"] = parsed.defines or {} } do
    for _, value in ipairs(list) do words[#words + 1] = flag .. value end
  end
  lists.append(words, parsed)
  for _, name in ipairs(parsed.libraries or {}) do words[#words + 1] = "-l" .. name end
  local status = shell(words)
  if status ~= 0 then return status end
  return shell(lists.append({ "env", "CUDA_VISIBLE_DEVICES=" .. id:match "%d*$", binary }, parsed.rest))
end

-- ---- what it is to print --------------------------------------------------------------------------

-- The words of the command line without those about input and output.
local function plain_words(words)
  local list, at = {}, 1
  while words[at] and words[at] ~= "--" do
    local flag, given = words[at]:match "^(%-%-%a+)(=?)"
    local is_ours = flag == "--input" or flag == "--expected"
    if not is_ours then list[#list + 1] = words[at] end
    at = at + (is_ours and given == "" and 2 or 1)
  end
  return table.move(words, at, #words, #list + 1, list)
end

local function opened(parsed, key)
  local file, reason = io.open(parsed[key], "rb")
  return file or options.fail("cannot read the file of --%s: %s", key, reason)
end

-- Calls take with each line without the white space at its end, but for those at the end of all that are empty.
local function each_line(lines, take)
  local blanks = 0
  for line in lines do
    local text = line:match "^.*%S"
    if text then
      for _ = 1, blanks do take "" end
      take(text)
    end
    blanks = text and 0 or blanks + 1
  end
end

local function expected_of(parsed)
  local list, file <close> = {}, opened(parsed, "expected")
  each_line(file:lines "L", function(text) list[#list + 1] = text end)
  return list
end

-- Passes on what the program prints while it does, and gives the first line that is not as expected: its number, and
-- its text, if there is one.
local function first_wrong(output, expected)
  local count, wrong, found = 0, nil, nil
  local function passed_on()
    local line = output:read "L"
    return line and io.stdout:write(line) and line
  end
  each_line(passed_on, function(text)
    count = count + 1
    if not wrong and text ~= expected[count] then wrong, found = count, text end
  end)
  return wrong or count < #expected and count + 1 or nil, found
end

-- Runs the same command in a process of its own, whose output is compared. The status.
local function judge(parsed)
  local expected = parsed.expected and expected_of(parsed)
  local words = lists.append({ host.program(), "run" }, plain_words(parsed.words))
  if not parsed.quiet then table.insert(words, 3, "--quiet") end -- the output is the program's
  if parsed.input then opened(parsed, "input"):close() end
  if not expected then return shell(words, "<" .. path.word(parsed.input)) end
  io.stdout:flush()
  local output = assert(io.popen(command_of(words, parsed.input and "<" .. path.word(parsed.input))))
  local wrong, found = first_wrong(output, expected)
  local status = status_of(output:close())
  if status ~= exit.OK or not wrong then return status end
  exit.complain("line %d of the output is %s, expected %s", wrong, found and "'" .. found .. "'" or "missing",
    expected[wrong] and "'" .. expected[wrong] .. "'" or "no more")
  return exit.CHECK
end

--- Runs the program whose sources are the words.
---@param parsed table   of the command line of run
---@return integer status
function program.run(parsed)
  check(parsed)
  if parsed.input or parsed.expected then return judge(parsed) end
  local gpu = gpu_of(parsed)
  if gpu then
    local mode = lists.find(MODES, function(one) return parsed[one] end)
    if mode then options.fail("option '--%s' of a program is of the CPU device: --device cpu", mode) end
    local nvcc = require("moonwarp.tools.tool").program "nvcc"
    if nvcc then return run_on_gpu(parsed, nvcc, gpu.id) end
    local why = "nvcc, which compiles programs for a GPU, is neither on $PATH nor in the CUDA toolkit"
    if parsed.device then options.fail("%s: --device cpu runs '%s' without it", why, parsed[1]) end
    exit.complain("%s: '%s' runs on the CPU device", why, parsed[1])
    parsed.device = lists.find(core.devices(), function(one) return core.device_word(one.id).kind ~= gpu.kind end).id
  end
  local order = { files = table.move(parsed, 1, #parsed, 1, {}), includes = parsed.includes,
                  defines = parsed.defines, libraries = parsed.libraries }
  local function chunk(...)
    require("moonwarp.program").run(require("moonwarp").device, order, { ... })
  end
  local words = parsed.out and lists.append({ "run" }, parsed.words) -- else what it finds makes no run
  return execution.run(chunk, parsed, { script = parsed[1], argv = words })
end

return program
