-- SPDX-License-Identifier: MIT
--
-- The devices of this machine, listed by a child process: a batch opens no device itself, since it
-- would hold a context on each GPU next to the labs it measures.

local core = require "moonwarp.core"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"

local devices = {}

local PROBE = [[
local core = require "moonwarp.core"
for _, id in ipairs(arg) do
  local ok, device = pcall(core.device, id)
  if ok then print(("%s\tyes\t%s"):format(id, device:properties().pci or id))
  else print(("%s\tno\t%s"):format(id, device.text:match("[^\n]*"))) end
end]]

--- "cuda" is the first GPU.
---@param word string   as the backends have them
---@return string id
function devices.id(word)
  local says = core.device_word(word)
  return says and says.id or word
end

--- Whether a word is the name of a device that labs can run on: "cpu", "cuda", "cuda:1", and no architecture.
---@param word string
---@return boolean
function devices.is_word(word)
  local says = core.device_word(word)
  return says ~= nil and not says.offline
end

--- Whether a lab has the device for itself, as a GPU; the processor is shared.
---@param id string
---@return boolean
function devices.is_exclusive(id)
  return core.device_word(id).kind == "gpu"
end

local function ask(ids)
  local words = lists.map(lists.append({ host.program(), "-e", PROBE, "--" }, ids), path.quote)
  local pipe <close> = assert(io.popen(table.concat(words, " ") .. " 2>/dev/null </dev/null"))
  local found = {}
  for line in pipe:lines() do
    local id, usable, rest = line:match("^(%S+)\t(%a+)\t(.*)$")
    if id then found[id] = { usable = usable == "yes", pci = rest, reason = rest } end
  end
  return found
end

--- What is known of devices: usable, and reason or pci (the bus id, which stays the same whatever
--- number a process gives it). What is shared is always there.
---@param words string[]  "cpu", "cuda", "cuda:1"
---@return table<string, table>  by id
function devices.look(words)
  local ids = lists.unique(lists.map(words, devices.id))
  local asked = lists.filter(ids, function(id) return devices.is_exclusive(id) end)
  local found = #asked > 0 and ask(asked) or {}
  for _, id in ipairs(ids) do
    found[id] = found[id] or { usable = not devices.is_exclusive(id),
                               reason = ("device '%s' could not be asked"):format(id) }
  end
  return found
end

-- The bus id identifies a GPU whatever number a process gives it ($CUDA_VISIBLE_DEVICES).
local function lock_in(folder, id, known)
  local word = (known and known.pci or id):gsub("[^%w]+", "-")
  return host.lock(("%s/gpu-%s.lock"):format(folder, word))
end

--- Takes a GPU for this process, against all others of this user; the file is in the cache's
--- folder, or in another if that fails.
---@param id string
---@param known table?      what look found of it
---@param otherwise string  a folder
---@return userdata? lock
---@return string? reason   who has it
function devices.lock(id, known, otherwise)
  local folder = core.cache_stat().folder
  local lock, reason, is_busy = lock_in(folder, id, known)
  if not (lock or is_busy) then
    path.make(folder) -- of a first use
    lock, reason, is_busy = lock_in(folder, id, known)
  end
  if lock or is_busy then return lock, reason end
  return lock_in(otherwise, id, known)
end

return devices
