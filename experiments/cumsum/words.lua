-- SPDX-License-Identifier: MIT
--
-- What the numbers say, in words, of whatever was measured. A chunk that is called with the study's
-- settings and returns what gives the paragraphs on the ladder and on the scans.

local set = ...
local fastest, is_copy = set.measurement.fastest, set.measurement.is_copy

-- a beside b in words: "3.2 % faster than"
local function beside(a, b)
  local gain = a.T_eff / b.T_eff - 1
  if math.abs(gain) < 0.005 then return "as fast as" end
  if gain >= 1 then return ("%.1f times as fast as"):format(gain + 1) end
  if gain <= -0.5 then return ("%.1f times slower than"):format(1 / (gain + 1)) end
  return ("%.1f %% %s than"):format(100 * math.abs(gain), gain > 0 and "faster" or "slower")
end

-- Two digits, where one decimal would show one or none: 0.043 %.
local function percent(share)
  return (share < 0.01 and "%.2g %%" or "%.1f %%"):format(100 * share)
end

local function numbered(records, number)
  for _, r in ipairs(records) do
    if r.number == number then return r end
  end
end

-- A sum reads and writes what its copy does and adds beside that: one that is faster tells of the
-- copy, not of the addition.
local function cost(least, most)
  if most > 1.05 then
    return "a sum that is faster than its copy says that more than reading and writing decides here"
  end
  return ("what it does beside reading and writing is %s"):format(least > 0.95 and "hidden behind them"
    or "not all hidden behind them here")
end

local function register(r)
  local texts, least, most = {}, math.huge, 0
  for _, one in ipairs { { r(3), r(2), "z" }, { r(5), r(4), "y" } } do
    local sum, copy, along = table.unpack(one, 1, 3)
    if sum and copy then
      texts[#texts + 1] = ("%s %s along %s"):format(beside(sum, copy),
        #texts == 0 and "the copy that it was made from" or "it", along)
      local ratio = sum.T_eff / copy.T_eff
      least, most = math.min(least, ratio), math.max(most, ratio)
    end
  end
  if #texts == 0 then return nil end
  return ("The sum in a register is %s: %s."):format(table.concat(texts, ", and "), cost(least, most))
end

local function strided(r)
  if not (r(6) and r(7)) then return nil end
  return ("Along x a thread a row reads with a stride of %d elements and is %s a warp a row."):format(set.n,
    beside(r(6), r(7)))
end

local HOW = { [8] = "through shared memory", [9] = "by 32 broadcasts", [10] = "by five doubling steps" }

local function along_x(r)
  local texts, copy = {}, r(7)
  for number = 8, 10 do
    local sum = r(number)
    if copy and sum then
      texts[#texts + 1] = ("%s %s%s %s"):format(HOW[number], #texts == 0 and "is " or "", beside(sum, copy),
        #texts == 0 and "a warp a row's copy" or "it")
    end
  end
  return #texts > 0 and ("The sum along x %s."):format(table.concat(texts, ", ")) or nil
end

local function task(r, copy)
  local steps = r(10)
  if not steps then return nil end
  local text = ("Task 10: doubling steps reach %s of the fastest copy (%s)"):format(percent(steps.share), copy.rung)
  local left = 1 / steps.share
  if left < 1.05 then return text .. ", so there is little left to gain." end
  return (left < 10 and "%s, so they could be %.1f times as fast at most." or
    "%s, so they could be %.0f times as fast at most."):format(text, left)
end

local function best(records)
  local texts = {}
  for dim = 1, 3 do
    local sum = fastest(records, function(q) return q.dim == dim end)
    if sum then
      texts[#texts + 1] = ("dim %d %s%s (%s)"):format(dim, percent(sum.share),
        #texts == 0 and " of the fastest copy" or "", sum.rung)
    end
  end
  return #texts > 0 and ("The fastest sums of this run: %s."):format(table.concat(texts, ", ")) or nil
end

local words = {}

--- The paragraphs on the ladder, of whichever rungs were measured.
---@param records table[]  of one type
---@return string[]
function words.ladder(records)
  local function r(number) return numbered(records, number) end
  local list = {}
  local function add(text) list[#list + 1] = text end
  add(register(r))
  add(strided(r))
  add(along_x(r))
  add(task(r, fastest(records, is_copy)))
  add(best(records))
  return list
end

--- The paragraph on the scans.
---@param ty string
---@param longest table[]  the library's copy and the scans of the longest array
---@return string
function words.scan(ty, longest)
  local function r(number) return longest[number + 1] end
  return ("A scan of %d %s: one pass with look-back is %s three launches, which write and read the "
    .. "result once more than needed; in rounds it is %s with look-back and reaches %s of the "
    .. "library's copy."):format(r(1).elements, ty, beside(r(2), r(1)), beside(r(3), r(2)), percent(r(3).share))
end

return words
