-- SPDX-License-Identifier: MIT
--
-- moonwarp describe FILE, which `list` and others start (lab/studies.lua): loads a file and says on the last line of
-- the output, as JSON, what it is: a study's description, { "plain": true } for a script, or { "error": ... }.
-- Only a study is loaded to its end. A script shows itself by the first call that has an effect, or that a study
-- cannot make; the process ends with that call, which no pcall keeps it from.

local core = require "moonwarp.core"
local json = require "moonwarp.base.json"
local session = require "moonwarp.session"

local describe = { most = 1, least = 1, wants = "describe wants a file" }

describe.usage = [[
usage: moonwarp describe FILE.lua

For other commands: says in JSON, on its last line, what a file is. moonwarp list FILE.lua shows it.]]

-- The file may put its own in the place of these.
local stdout, write, flush, leave = io.stdout, io.stdout.write, io.stdout.flush, os.exit
local answered = false

local function tell(value)
  if answered then return end
  answered = true
  write(stdout, "\n", json.stored(value) .. "\n")
  flush(stdout)
end

local function answer(value)
  tell(value)
  leave(0, false)
end

local function fail(problem)
  answer { error = tostring(problem):match "[^\n]*" }
end

-- ---- calls that are not for a description ---------------------------------------------------------

local study_begun, asked = false, nil

local WAYS = {
  ["mw.device"] = "a device is the runner's, c.dev in its functions",
  ["mw.arg"] = "its parameters are the params of mw.study",
}

-- What a call says of the file.
local function said_by(name)
  if not study_begun then return { plain = true } end
  return { error = ("%s: %s: a study's file describes; %s"):format(core.where(), name,
    WAYS[name] or "its functions may call this") }
end

local function stopper(name)
  return function() answer(said_by(name)) end
end

local function stop(name, from, words)
  for word in words:gmatch "%w+" do from[word] = stopper(("%s.%s"):format(name, word)) end
end

local function stop_effects()
  local open, output = io.open, io.output
  stop("os", os, "execute remove rename tmpname")
  stop("io", io, "popen tmpfile")
  stop("lfs", require "lfs", "link mkdir rmdir touch")
  stop("core", core, "device")
  io.open = function(file, mode) -- luacheck: ignore 122
    if type(mode) == "string" and mode:find "[wa+]" then stopper "io.open" () end
    return open(file, mode)
  end
  io.output = function(file) -- luacheck: ignore 122
    if type(file) == "string" then stopper "io.output" () end
    return output(file)
  end
end

local FOR_STUDIES = { study = true, run = true, ceil_div = true, geometric = true }

local function stop_library(mw)
  for name, value in pairs(mw) do
    if type(value) == "function" and not FOR_STUDIES[name] then mw[name] = stopper("mw." .. name) end
  end
  local study = rawget(mw, "study")
  function mw.study(...)
    study_begun = true
    return study(...)
  end
  -- Whether a study skips is known only when it runs: the description ends here.
  function mw.skip()
    answer(study_begun and session.current.begun[1]:describe() or { plain = true })
  end
  -- Which parameters a script asks for may depend on their values, so that it is plain all the same.
  function mw.arg(...)
    asked = asked or core.where()
    return require("moonwarp.arg").get(...)
  end
end

-- ---- the command --------------------------------------------------------------------------------

local function description_of(study)
  if asked then fail(("%s: mw.arg: a study's file describes; %s"):format(asked, WAYS["mw.arg"])) end
  study:validate()
  return study:describe()
end

-- A file may run its study itself: it is described where it would run.
local function describe_run(study)
  answer(description_of(study))
end

local function description_of_file(chunk, file)
  local _ <close> = require("moonwarp.study.folder").open(file)
  local value, study = chunk(), package.loaded["moonwarp.study"]
  value = study and study.returned(value)
  return value and description_of(value) or { plain = true }
end

--- The command.
---@param parsed table
function describe.run(parsed)
  local file = parsed[1]
  local chunk, problem = require("moonwarp.study.folder").load(file)
  if not chunk then fail(problem) end
  session.begin({ describe = describe_run, script = file }).leave = function() tell(said_by "os.exit") end
  _G.arg = { [0] = file }
  stop_library(require "moonwarp")
  stop_effects()
  local ok, value = pcall(description_of_file, chunk, file)
  if not ok then fail(value) end
  answer(value)
end

return describe
