-- SPDX-License-Identifier: MIT
--
-- Texts that stand for blocks of threads: 32x4 or 8x8x4 for itself, 32 for all blocks of 32 x 2^k threads, from a
-- warp on. The kind "blocks" of a parameter (arg.lua).

local lists = require "moonwarp.base.lists"

local blocks = {}

local MOST_THREADS, WARP = 1024, 32

--- The form of a text and of a default, for messages.
blocks.wanted = "a block of 1 to 1024 threads such as 32x4, or a width such as 32"
blocks.default = "a list of texts such as { \"1x1\", \"32\" }"

-- Each side by itself too, lest the product overflows.
local function is_block(sides, least)
  local threads = 1
  for _, side in ipairs(sides) do
    if side < 1 or side > MOST_THREADS then return false end
    threads = threads * side
  end
  return threads >= least and threads <= MOST_THREADS
end

-- "8x8x1" is "8x8".
local function sides_of(text)
  local sides = {}
  for digits in text:gmatch "%d+" do sides[#sides + 1] = math.tointeger(tonumber(digits)) or 0 end
  if sides[3] == 1 then sides[3] = nil end
  return sides
end

local function blocks_of(text)
  local sides, list = sides_of(text), {}
  if text:match "^%d+x%d+$" or text:match "^%d+x%d+x%d+$" then return is_block(sides, 1) and { sides } or {} end
  local height = text:match "^%d+$" and 1 or math.huge
  while height <= MOST_THREADS do
    if is_block({ sides[1], height }, WARP) then list[#list + 1] = { sides[1], height } end
    height = height * 2
  end
  return list
end

--- Whether a text means a block that a device may take.
---@param text string
---@return boolean
function blocks.fits(text)
  return #blocks_of(text) > 0
end

--- The blocks that texts mean, in order, each once.
---@param texts string[]
---@return integer[][]  as in { { 1, 1 }, { 32, 1 }, { 8, 8, 4 } }
function blocks.values(texts)
  local list = {}
  for _, text in ipairs(texts) do lists.append(list, blocks_of(text)) end
  return lists.unique(list, function(block) return table.concat(block, "x") end)
end

return blocks
