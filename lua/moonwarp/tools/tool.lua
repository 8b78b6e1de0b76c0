-- SPDX-License-Identifier: MIT
--
-- Tools of the CUDA toolkit that run a whole script: compute-sanitizer (sanitizer.lua) and ncu (ncu.lua). A child
-- runs the script under the tool from its beginning; what the tool has written is read when the child has ended.

local checking = require "moonwarp.measure.checking"
local core = require "moonwarp.core"
local lists = require "moonwarp.base.lists"
local utf8text = require "moonwarp.base.utf8text"

local tool = {}

local MOST_OUTPUT <const> = 1 << 28       -- bytes that the script prints under a tool
local TAIL <const>, WIDTH <const> = 8, 160 -- lines, and their bytes, of them that a message shows
local CHECK_FAILED <const> = 3
local ABOVE <const> = { NV_SANITIZER_INJECTION_PORT_BASE = "compute-sanitizer", -- as in core/backend/cuda/device.c
                        NV_COMPUTE_PROFILER_PERFWORKS_DIR = "ncu" }

-- ---- where a tool is, and where it can run ------------------------------------------------------

--- The tool that runs this process, if one does.
---@return string?  "compute-sanitizer" or "ncu"
function tool.above()
  for variable, name in pairs(ABOVE) do
    if os.getenv(variable) then return name end
  end
end

--- Says once in a session that the user has started a tool.
---@param session table
function tool.say_above(session)
  if session.is_above then return end
  session.is_above = true
  if session.options.quiet then return end
  io.stderr:write(("note: under %s nothing is timed, and it reports itself what it finds\n"):format(tool.above()))
end

local function is_program(name)
  local attributes = require("lfs").attributes(name)
  return attributes and attributes.mode == "file" and attributes.permissions:sub(3, 3) == "x"
end

--- The path of a tool: on $PATH, else in the CUDA toolkit, else in further folders; nil if it is not there.
---@param name string
---@param more string[]?  folders
---@return string?
function tool.program(name, more)
  local folders = {}
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do folders[#folders + 1] = folder end
  for _, variable in ipairs { "CUDA_HOME", "CUDA_PATH" } do
    local home = os.getenv(variable)
    if home and home ~= "" then folders[#folders + 1] = home .. "/bin" end
  end
  folders[#folders + 1] = "/usr/local/cuda/bin"
  lists.append(folders, more)
  return lists.find(lists.map(folders, function(folder) return folder .. "/" .. name end), is_program)
end

--- Whether the session has a script that a child can run from its beginning: not at the prompt or in another
--- interpreter.
---@param session table
---@return boolean
function tool.is_script(session)
  return session.options.argv ~= nil
end

--- Whether a device's word is that of the first GPU, and it is there: an error in another id is known when it is
--- opened.
---@param word table?  of core.device_word
---@return boolean
function tool.is_first_gpu(word)
  return word ~= nil and word.kind == "gpu" and (word.checked or word.id == word.backend .. ":0")
    and checking.is_usable(word.backend)
end

-- ---- a tool at work -----------------------------------------------------------------------------

-- The command line of this run, for a child: without what is about its results.
local function command(session, words, folder)
  local options, host = session.options, require "moonwarp.host"
  local all = lists.append({ host.program() }, options.start)
  for _, text in ipairs(options.p or {}) do lists.append(all, { "-p", text }) end
  if options.device then lists.append(all, { "--device", options.device }) end
  lists.append(all, words)
  return lists.append(lists.append(all, { "--quiet", "--out", folder .. "/out", "--" }), options.rest or {})
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

-- How many bytes the files of a folder have: a tool at work writes.
local function size_of(folder)
  local lfs, size = require "lfs", 0
  for name in lfs.dir(folder) do size = size + (lfs.attributes(folder .. "/" .. name, "size") or 0) end
  return size
end

-- Ctrl-C is raised here; the caller's child is closed by it, and with it all that is below. Nil: for so long it has
-- written nothing.
local function wait(child, folder, silence)
  local host = require "moonwarp.host"
  local size, since = size_of(folder), core.clock()
  while true do
    host.wait({ child }, 1)
    if core.interrupted() then core.raise("interrupted", "interrupted") end
    local ending, now = child:poll(), size_of(folder)
    if ending then return ending end
    if now ~= size then size, since = now, core.clock() end
    if silence and core.clock() - since > silence then return nil end
  end
end

local function why_ended(ending)
  if ending.reason == "output" then return "it printed more than 256 MiB" end
  if ending.signal ~= 0 then return ("signal %d"):format(ending.signal) end
  return ("exit status %d"):format(ending.exit)
end

--- Runs a tool.
---@param words string[]   the tool and what follows it
---@param folder string    gets `output`, what was printed, next to what the tool writes there
---@param silence number?  seconds without a byte written, after which the tool is ended
---@return table result    is_whole: it came to its end; why: how else it ended; tail: of what was printed
function tool.run(words, folder, silence)
  local child <close> = require("moonwarp.host").spawn { argv = words, log = folder .. "/output",
                                                         output = MOST_OUTPUT, grace = 1 }
  local ending = wait(child, folder, silence)
  return { is_whole = ending ~= nil and ending.signal == 0 and (ending.exit == 0 or ending.exit == CHECK_FAILED),
           why = ending and why_ended(ending) or ("nothing written for %g s"):format(silence),
           tail = tail(folder .. "/output") }
end

--- Runs the script under a tool, whose own exit status is the script's.
---@param session table
---@param words string[]   the tool and its options
---@param own string[]     words of moonwarp for the child
---@param folder string
---@param silence number?
---@return table result    of tool.run
function tool.run_script(session, words, own, folder, silence)
  return tool.run(lists.append(words, command(session, own, folder)), folder, silence)
end

--- A kernel's name as scripts have it: of "void scaled<float, (int)3>(T1 *, int)" "scaled<float, 3>".
---@param text string  as a tool prints it
---@return string
function tool.kernel_name(text)
  local parameters = text:reverse():match "^%b)(%s*" or "" -- from the end, where they are
  text = text:sub(1, #text - #parameters):gsub("^%[clone [^%]]*%] ", ""):gsub("^void ", "")
  return (text:gsub("%([%a][%w_ ]*%)(%-?%d)", "%1"))
end

return tool
