-- SPDX-License-Identifier: MIT
--
-- Bank conflicts of shared memory, from the addresses of a warp's access. Shared memory has 32 banks of 4 bytes;
-- words 32 apart are in the same bank. In one pass each bank serves one word, to any number of lanes. Accesses of 8
-- and 16 bytes go by half and by quarter warps.

local failure = require "moonwarp.base.failure"

local banks = {}

local LANES <const>, BANKS <const>, WORD <const> = 32, 32, 4

-- The most words of one bank that some lanes want: the passes that they need.
local function passes(address, bytes, first, last)
  local wanted, counts, most = {}, {}, 0
  for lane = first, last do
    local at = address(lane)
    if at ~= nil and not (math.tointeger(at) and at >= 0) then
      failure.invalid("mw.bank_conflict: lane %d has no address: an integer of at least 0, or nil, is wanted, got %s",
        lane, tostring(at))
    end
    for word = at and at // WORD or 1, at and (at + bytes - 1) // WORD or 0 do
      local bank = word % BANKS
      if not wanted[word] then wanted[word], counts[bank] = true, (counts[bank] or 0) + 1 end
      most = math.max(most, counts[bank])
    end
  end
  return most
end

--- How many times as long as without conflicts an access of a warp to shared memory takes.
---@param address fun(lane: integer): integer?   the first byte that a lane (0 to 31) accesses; nil: it does not
---@param bytes integer?   of a lane's access: 1, 2, 4, 8 or 16; 4 if left out
---@return integer ways    1: no conflict; 32: one lane after the other
function banks.conflict(address, bytes)
  bytes = bytes or WORD
  if type(address) ~= "function" then
    failure.invalid("mw.bank_conflict: a function of the lane is wanted, got %s", type(address))
  end
  if not ({ true, true, [4] = true, [8] = true, [16] = true })[bytes] then
    failure.invalid("mw.bank_conflict: an access has 1, 2, 4, 8 or 16 bytes, got %s", tostring(bytes))
  end
  local group, most = math.min(LANES, BANKS * WORD // bytes), 1
  for first = 0, LANES - 1, group do most = math.max(most, passes(address, bytes, first, first + group - 1)) end
  return most
end

return banks
