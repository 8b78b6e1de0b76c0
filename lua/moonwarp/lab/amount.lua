-- SPDX-License-Identifier: MIT
--
-- Amounts as a curriculum writes them: 90 or "90 s" or "5 min", 4096 or "2 GiB".

local amount = {}

local BYTES = { B = 1, KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30, TiB = 1 << 40,
                kB = 1e3, MB = 1e6, GB = 1e9, TB = 1e12 }
local SECONDS = { ms = 1e-3, s = 1, min = 60, h = 3600 }

local LONGEST <const> = 1e10 -- seconds: three hundred years, and still whole ones

local function read(value, units, plain)
  local number = type(value) == "number" and value or nil
  if type(value) == "string" then
    local digits, unit = value:match("^%s*([%d.]+)%s*(%a*)%s*$")
    local factor = units[unit == "" and plain or unit]
    number = factor and tonumber(digits) and tonumber(digits) * factor
  end
  if number and number > 0 and number < math.huge then return number end
end

--- Seconds.
---@param value any
---@return number?  nil if it is not a time above zero, or is too long
function amount.seconds(value)
  local seconds = read(value, SECONDS, "s")
  return seconds and seconds <= LONGEST and seconds or nil
end

--- Whole bytes.
---@param value any
---@return integer?  nil if it is not a size above zero
function amount.bytes(value)
  local bytes = read(value, BYTES, "B")
  return bytes and math.tointeger(math.ceil(bytes))
end

--- A time for people: "0:12", "1:02:03"; below ten seconds "3.4 s".
---@param seconds number
---@return string
function amount.clock(seconds)
  if seconds > LONGEST then return ("%.3g s"):format(seconds) end
  if seconds < 9.95 then return ("%.1f s"):format(seconds) end
  local whole = math.floor(seconds + 0.5)
  if whole < 3600 then return ("%d:%02d"):format(whole // 60, whole % 60) end
  return ("%d:%02d:%02d"):format(whole // 3600, whole // 60 % 60, whole % 60)
end

return amount
