-- SPDX-License-Identifier: MIT
--
-- What labs may see and write. core/host/sandbox.h has the words of a view; docs/lab.md says what a sandbox holds back.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local variables = require "moonwarp.lab.variables"

local sandbox = {}
sandbox.__index = sandbox

--- The words of --sandbox.
sandbox.WHEN = { "auto", "require", "off" }

local PATIENCE = 10 -- seconds

-- Sockets of the machine's services are in /run, and on some systems what drivers and programs need.
local BASE = { "scratch", "/tmp", "hide", "/run", "read", "/run/opengl-driver", "read", "/run/current-system",
               "read", "/run/nvidia", "read", "/run/nvidia-persistenced" }

local PRIVATE = { "private", "/" }

-- How a sandbox ended in which nothing is done, and what it said. With a limit of memory, which bwrap has from 0.7 on.
local function try(more)
  local log = os.tmpname()
  local child <close> = host.spawn { argv = { "true" }, sandbox = lists.append({ table.unpack(BASE) }, more),
                                     log = log, seconds = PATIENCE, grace = 0.1, memory = 1 << 30 }
  local ending = child:poll()
  while not ending do
    host.wait({ child }, PATIENCE)
    ending = child:poll()
  end
  local said = files.read(log) or ""
  os.remove(log)
  return ending, said
end

-- Why there is no sandbox here, and the way out.
local function problem_with(more)
  local ending, said = try(more)
  if ending.exit == 0 and ending.signal == 0 then return nil end
  if said:find("cannot run 'bwrap': No such file", 1, true) then
    return "bubblewrap (bwrap) is not installed", "apt install bubblewrap installs it"
  end
  return said:match "[^\n]+" or ("bwrap was ended by signal %d"):format(ending.signal),
    "root can permit user namespaces (docs/lab.md, \"The sandbox\")"
end

local NO_FILTER = "this moonwarp was built without libseccomp, so that labs reach the user's keyrings"
local NOT_PRIVATE = "file systems that are mounted while a lab runs are to be seen in it"

local function require_one(problem, remedy)
  if problem then
    options.fail("labs cannot run in a sandbox here: %s; %s, and --sandbox off is for labs that you trust", problem,
      remedy)
  elseif not host.has_filter() then
    options.fail("%s; install libseccomp-dev and build it again, or use --sandbox auto", NO_FILTER)
  end
end

--- Sandboxes for labs; whether there can be any is tried once.
---@param when string   of sandbox.WHEN; an error if it is "require" and there can be none
---@return table        problem: why not, or nil; gaps: what they do not keep, in words
function sandbox.new(when)
  local self = setmetatable({ cache = core.cache_stat().folder, base = BASE, gaps = {} }, sandbox)
  if when == "off" then
    self.problem = "--sandbox off"
    return self
  end
  local remedy
  local is_private = not problem_with(PRIVATE)
  if is_private then
    self.base = lists.append({ table.unpack(BASE) }, PRIVATE)
  else
    self.problem, remedy = problem_with {}
  end
  if when == "require" then require_one(self.problem, remedy) end
  if not self.problem then
    self.gaps = lists.append(is_private and {} or { NOT_PRIVATE }, not host.has_filter() and { NO_FILTER })
  end
  return self
end

local function folder_of(path)
  return path:match "^(.*)/[^/]*$" or "."
end

-- What a script may see: its folder, the working folder and moonwarp's files, besides the system. nil without
-- sandboxes.
local function view_of(self, script, extra)
  if self.problem then return nil end
  local view = { table.unpack(self.base) }
  for _, path in ipairs { core.home(), folder_of(host.program()), self.cache, ".", folder_of(script), script } do
    lists.append(view, { "read", path })
  end
  return lists.append(view, extra or {})
end

-- The cache from which code is loaded: a lab reads the user's, and what it compiles vanishes with it, so that it can
-- change no code of the user's or of other labs.
local function cache_words(self)
  if self.problem then return { "MOONWARP_CACHE=" .. self.cache } end
  return { "MOONWARP_CACHE=/tmp/moonwarp-cache", "MOONWARP_CACHE_BASE=" .. self.cache }
end

--- What a process that describes a lab sees of the machine.
---@param lab table  path, env
---@return table     pass, env, sandbox, for host.spawn
function sandbox:of_description(lab)
  local box = variables.of(lab.env, cache_words(self))
  box.sandbox = view_of(self, lab.path)
  return box
end

--- The same of a lab's own process: of its batch it sees only its own folder, which it can write.
---@param step table     of the plan
---@param batch string   the batch's folder
---@param own string     the lab's
---@return table
function sandbox:of_lab(step, batch, own)
  local box = variables.of(step.env, lists.append({ "MOONWARP_LAB=" .. step.name }, cache_words(self)))
  if step.words then box.pass = nil end -- of a sweep: a run of the user's own
  box.sandbox = view_of(self, step.path, { "hide", batch, "write", own })
  return box
end

return sandbox
