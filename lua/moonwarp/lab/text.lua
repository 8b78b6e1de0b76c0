-- SPDX-License-Identifier: MIT
--
-- What a lab printed, made fit for a terminal, JSON and XML: a lab may print any byte.
-- Depends on nothing.

local text = {}

--- UTF-8 without control characters but line feed, carriage return and tab; what is not becomes "?".
---@param bytes string
---@return string
function text.clean(bytes)
  local parts, at = {}, 1
  while at <= #bytes do
    local _, bad = utf8.len(bytes, at)
    parts[#parts + 1] = bytes:sub(at, (bad or #bytes + 1) - 1)
    if bad then parts[#parts + 1] = "?" end
    at = (bad or #bytes) + 1
  end
  -- U+FFFE and U+FFFF are no characters of XML.
  return (table.concat(parts):gsub("[%z\1-\8\11\12\14-\31\127]", "?"):gsub("\239\191[\190\191]", "?"))
end

return text
