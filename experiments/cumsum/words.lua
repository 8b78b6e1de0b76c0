-- SPDX-License-Identifier: MIT
--
-- What the numbers say, in words. A chunk that is called with the study's settings and returns what
-- remarks on the ladder and on the scans.

local mw = require "moonwarp"

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

local function numbered(records, number)
  for _, r in ipairs(records) do
    if r.number == number then return r end
  end
end

local function remark_on_ladder(records)
  local function r(number) return numbered(records, number) end
  local copy = fastest(records, is_copy)
  mw.remark("The sum in a register is %s the copy that it was made from along z, and %s it along y: "
    .. "what it does beside reading and writing is %s.", beside(r(3), r(2)), beside(r(5), r(4)),
    math.min(r(3).T_eff / r(2).T_eff, r(5).T_eff / r(4).T_eff) > 0.95 and "hidden by memory"
      or "not all hidden by memory here")
  mw.remark("Along x a thread a row reads with a stride of %d elements and is %s a warp a row. From there, "
    .. "the sum through shared memory is %s that copy, by 32 broadcasts %s it, by five doubling steps "
    .. "%s it.", set.n, beside(r(6), r(7)), beside(r(8), r(7)), beside(r(9), r(7)), beside(r(10), r(7)))
  mw.remark("Task 10: doubling steps reach %.1f %% of the fastest copy (%s), so they could be %.2g times "
    .. "as fast at most.", 100 * r(10).share, copy.rung, 1 / r(10).share)
  local best = {}
  for dim = 1, 3 do best[dim] = fastest(records, function(q) return q.dim == dim end) end
  mw.remark("The fastest sums: dim 1 %.1f %% of the fastest copy (%s), dim 2 %.1f %% (%s), dim 3 %.1f %% "
    .. "(%s).", 100 * best[1].share, best[1].rung, 100 * best[2].share, best[2].rung,
    100 * best[3].share, best[3].rung)
end

local function remark_on_scan(ty, longest)
  local function r(number) return longest[number + 1] end
  mw.remark("A scan of %d %s: one pass with look-back is %s three launches, which write and read the "
    .. "result once more than needed; in rounds it is %s with look-back and reaches %.1f %% of the "
    .. "library's copy.", r(1).elements, ty, beside(r(2), r(1)), beside(r(3), r(2)), 100 * r(3).share)
end

return { ladder = remark_on_ladder, scan = remark_on_scan }
