-- SPDX-License-Identifier: MIT
--
-- Modules that are compiled ahead of their use: processes `moonwarp compile` (cli/compile.lua) fill the cache, each
-- with every n-th of a list, while a GPU measures. The CPU device measures on the same cores, so there they are waited
-- for. In another interpreter than moonwarp's own, and without a cache, nothing is compiled ahead.

local core = require "moonwarp.core"
local environment = require "moonwarp.measure.environment"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local occupancy = require "moonwarp.measure.occupancy"
local path = require "moonwarp.base.path"

local ahead = {}

local Ahead = {}
Ahead.__index = Ahead

local LOOK <const> = 0.005 -- seconds between two looks

--- Begins to compile ahead for a device.
---@param session table
---@param device userdata
---@return table? ahead   to be closed; nil where nothing can be compiled ahead
function ahead.new(session, device)
  local has_host, host = pcall(require, "moonwarp.host")
  if not has_host or core.cache_stat().problem or device:properties().checks then return nil end
  local gpu = device:kind() == "gpu"
  local cores = (environment.allocation() or {}).cores or environment.machine().cores or 1
  local id = gpu and occupancy.offline_id(device:properties().arch) or device:id()
  local folder, guard = path.temporary()
  return setmetatable({ host = host, folder = folder, guard = guard, gpu = gpu, children = {}, known = {}, count = 0,
                        most = gpu and math.max(1, cores - 1) or cores,
                        head = { script = session.options.script, device = id } }, Ahead)
end

-- Those that run; the others are closed.
local function running(self)
  self.children = lists.map(self.children, function(child) return not child:poll() and child or nil end)
  return self.children
end

local function wait(self)
  self.host.wait(self.children, LOOK)
  if core.interrupted() then core.raise("interrupted", "interrupted") end
end

--- Compiles modules that were not given before.
---@param list table[]   options of dev:module
function Ahead:add(list)
  local new = {}
  for _, options in ipairs(list) do
    local key = json.encode(options)
    if not self.known[key] then
      self.count = self.count + 1
      self.known[key] = ("%s/%d"):format(self.folder, self.count)
      new[#new + 1] = json.encode { options = options, done = self.known[key] }
    end
  end
  if #new < 2 then return end
  local file = ("%s/list-%d"):format(self.folder, self.count)
  files.put(file, json.encode(self.head) .. "\n" .. table.concat(new, "\n") .. "\n")
  local count = math.max(1, math.min(self.most - #running(self), #new))
  for k = 1, count do
    table.insert(self.children, self.host.spawn { log = file .. "-" .. k, output = 1 << 24, grace = 1,
      argv = { self.host.program(), "compile", file, tostring(k), tostring(count) } })
  end
  while not self.gpu and #running(self) > 0 do wait(self) end
end

--- Waits for a module that is being compiled.
---@param options table   of dev:module
function Ahead:await(options)
  local done = self.known[json.encode(options)]
  while done and not files.exists(done) and #running(self) > 0 do wait(self) end
end

--- Ends what still compiles.
function Ahead:close()
  for _, child in ipairs(self.children) do child:close() end
  local _ <close> = self.guard
end

Ahead.__close = Ahead.close

return ahead
