-- SPDX-License-Identifier: MIT
--
-- A gate in a stream of a CUDA device: while it is shut, work queued behind it waits, so that a
-- sample can be queued whole before its first kernel runs. The device side is the kernel
-- kernels/moonwarp/hold.cu, which spins on a word of pinned memory and gives up after LIMIT.

local failure = require "moonwarp.base.failure"
local own_kernels = require "moonwarp.own_kernels"

local gate = {}
gate.__index = gate

-- How long the device waits for the host, in seconds. Queueing a sample takes well under a
-- millisecond; a function that synchronises behind a shut gate costs this once.
local LIMIT = 0.05

local function acquire(self, device)
  local hold = own_kernels.kernel(device, "moonwarp/hold.cu", "hold")
  self.flags = device:pinned("u32", { 0, 0 })
  self.launch = hold:prepare { grid = 1, block = 1, stream = self.stream }
end

--- A gate, open. Without one the reason is returned.
---@param device userdata
---@param stream userdata
---@return table? gate  to be closed
---@return string? reason
function gate.new(device, stream)
  if (os.getenv "MOONWARP_SYNC" or "0") ~= "0" then
    return nil, "MOONWARP_SYNC waits after each launch"
  end
  local self = setmetatable({ stream = stream, ticket = 0 }, gate)
  local ok, problem = pcall(acquire, self, device)
  if ok then return self end
  self:close()
  if failure.status(problem) == "interrupted" then error(problem, 0) end
  return nil, failure.text(problem)
end

--- Shuts it: what enters the stream from now on waits.
function gate:shut()
  self.ticket = self.ticket % 0x7fffffff + 1
  self.launch(self.flags, self.ticket, math.tointeger(LIMIT * 1e9))
end

--- Opens it.
function gate:open()
  self.flags:set(1, self.ticket)
end

--- Whether the device gave up waiting before the gate was opened; asked after what was queued is
--- done.
---@return boolean
function gate:was_forced()
  return self.flags:get(2) == self.ticket
end

--- Releases what it holds; nothing is queued behind it any more.
function gate:close()
  for _, name in ipairs { "launch", "flags" } do
    if self[name] then self[name]:close() end
    self[name] = nil
  end
end

gate.__close = gate.close

return gate
