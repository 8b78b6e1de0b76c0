-- SPDX-License-Identifier: MIT
--
-- What labs may see and write. core/host/sandbox.h has the words of a view; docs/lab.md says what a sandbox holds back.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.cli.options"

local sandbox = {}
sandbox.__index = sandbox

--- The words of --sandbox.
sandbox.WHEN = { "auto", "require", "off" }

local PATIENCE = 10 -- seconds

-- Sockets of the machine's services are in /run, and on some systems what drivers and programs need.
local BASE = { "scratch", "/tmp", "hide", "/run", "read", "/run/opengl-driver", "read", "/run/current-system",
               "read", "/run/nvidia", "read", "/run/nvidia-persistenced" }

-- How a sandbox ended in which nothing is done, and what it said. With a limit of memory, which bwrap has from 0.7 on.
local function try()
  local log = os.tmpname()
  local child <close> = host.spawn { argv = { "true" }, sandbox = BASE, log = log, seconds = PATIENCE, grace = 0.1,
                                     memory = 1 << 30 }
  local ending = child:poll()
  while not ending do
    host.wait({ child }, PATIENCE)
    ending = child:poll()
  end
  local said = files.read(log) or ""
  os.remove(log)
  return ending, said
end

local function problem_here()
  local ending, said = try()
  if ending.exit == 0 and ending.signal == 0 then return nil end
  if said:find("cannot run 'bwrap': No such file", 1, true) then return "bubblewrap (bwrap) is not installed" end
  return said:match "[^\n]+" or ("bwrap was ended by signal %d"):format(ending.signal)
end

--- Sandboxes for labs; whether there can be any is tried once.
---@param when string   of sandbox.WHEN; an error if it is "require" and there can be none
---@return table        problem: why there are none, or nil
function sandbox.new(when)
  local problem
  if when == "off" then problem = "--sandbox off" else problem = problem_here() end
  if problem and when == "require" then
    options.fail("labs cannot run in a sandbox here: %s; docs/lab.md says what is needed", problem)
  end
  return setmetatable({ problem = problem, cache = core.cache_stat().folder }, sandbox)
end

local function folder_of(path)
  return path:match "^(.*)/[^/]*$" or "."
end

--- What a script may see: its folder, the working folder and moonwarp's files, beside the system. nil without
--- sandboxes.
---@param script string     its path
---@param extra string[]?   more of a view, on top
---@return string[]? view   for host.spawn
function sandbox:view(script, extra)
  if self.problem then return nil end
  local view = { table.unpack(BASE) }
  for _, path in ipairs { core.home(), folder_of(host.program()), self.cache, ".", folder_of(script), script } do
    lists.append(view, { "read", path })
  end
  return lists.append(view, extra or {})
end

--- What a lab may see: of its batch only its own folder, which it can write.
---@param script string
---@param batch string    the batch's folder
---@param own string      the lab's
---@return string[]? view
function sandbox:of_lab(script, batch, own)
  return self:view(script, { "hide", batch, "write", own })
end

--- The environment of a lab. Code is loaded from a cache: a lab reads the user's, and what it compiles vanishes with
--- it, so that it can change no code of the user's or of other labs.
---@param name string  the lab's
---@return string[]
function sandbox:environment(name)
  local words = { "MOONWARP_LAB=" .. name }
  if self.problem then return words end
  return lists.append(words, { "MOONWARP_CACHE=/tmp/moonwarp-cache", "MOONWARP_CACHE_BASE=" .. self.cache })
end

return sandbox
