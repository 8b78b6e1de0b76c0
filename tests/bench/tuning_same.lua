-- SPDX-License-Identifier: MIT
--
-- Does a tuning give the same answer again? Ten tunings of one kernel over all of its variants: is each winner the
-- first one's, or one of the ties that it has named; are those within 1 % of its winner when they are measured again,
-- and a tenth of the space at most? To reach: 10 of 10.

local mw = require "moonwarp"

local repeats = mw.arg("repeats", 10, "tunings")
local side = mw.arg("side", 1024, "points along each side")
local on = mw.arg("on", "all", "the device measured, such as cuda:0")

local TIE <const> = 1.01

local function spec_of(dev, name)
  local m = dev:module "tuning.cu"
  local A, B = dev:array("f32", side, side):random(1), dev:array("f32", side, side)
  local expected = dev:array("f32", side, side)
  local function launcher(v, out)
    local go = m:kernel(("diffuse<float,%d,0>"):format(v.rows)):prepare { block = { v.bx, v.by },
      grid = { mw.ceil_div(side, v.bx), mw.ceil_div(side, v.by * v.rows) } }
    return function() go(out, A, 0.1, side, side) end
  end
  launcher({ bx = 32, by = 8, rows = 1 }, expected)()
  return { name = name, device = dev, quiet = true, output = B, check = expected,
           space = { { "bx", { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 } }, { "by", { 1, 2, 4, 8 } },
                     { "rows", { 1, 2, 4, 8 } } },
           where = function(v) return v.bx * v.by <= 512 end, launch = function(v) return launcher(v, B) end }
end

-- The winner and its ties, by their numbers.
local function answer_of(result)
  local all = { [result.best.number] = true }
  for _, row in ipairs(result.ties) do all[row.number] = true end
  return all
end

-- The slowest tie over the winner, measured anew.
local function slowest_tie(spec, result)
  local list = { { "best", spec.launch(result.best.v) } }
  for i, row in ipairs(result.ties) do list[i + 1] = { ("tie %d"):format(i), spec.launch(row.v) } end
  local times, most = mw.bench(list, { min_time = 1 }), 1
  for i = 2, #list do most = math.max(most, times[i].median / times[1].median) end
  return most
end

local function measure(dev)
  local spec = spec_of(dev, "first")
  local first = mw.tune(spec)
  local known, same, ties = answer_of(first), 0, #first.ties
  for k = 1, repeats do
    local one = mw.tune(spec_of(dev, ("again %d"):format(k)))
    same, ties = same + (known[one.best.number] and 1 or 0), math.max(ties, #one.ties)
  end
  local most = slowest_tie(spec, first)
  print(("  %-7s %d variants: the same of %d: %d  to reach: all  %s"):format(dev:id(), first.size, repeats, same,
    same == repeats and "reached" or "missed"))
  print(("          ties at most %d, measured again at most %.4f of the winner  to reach: %d, %.2f  %s"):format(ties,
    most, first.size // 10, TIE, ties <= first.size // 10 and most <= TIE and "reached" or "missed"))
end

for _, entry in ipairs(mw.devices()) do
  if entry.usable and (on == "all" or on == entry.id) then measure(mw.device(entry.id)) end
end
