-- SPDX-License-Identifier: MIT
--
-- moonwarp roofline RUN: the kernels of stored runs under the roofs of their device, on one chart.

local drawing = require "moonwarp.cli.drawing"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local roof = require "moonwarp.plot.roofline"
local runs = require "moonwarp.cli.runs"
local session = require "moonwarp.session"
local sheet = require "moonwarp.base.sheet"
local units = require "moonwarp.base.units"
local work = require "moonwarp.results.work"

local roofline = { most = 100, least = 1, wants = "roofline wants a run; moonwarp roofline --help says which" }

roofline.options = {
  { flag = "--only", show = "WORD", value = "a word", help = "kernels with the word in their name" },
  { flag = "--svg", help = "also write the chart to files in out/plots" },
  runs.OUT,
}

roofline.usage = [[
usage: moonwarp roofline RUN... [options]

Places the kernels of runs under the roofs of their device, which moonwarp ceilings has measured. Bytes and operations
are those that ncu counted (of DRAM and of the L2 cache, a point each), else those that are declared, else the requests
of warps that check mode counted; the column by says which. RUN is the folder of a run, or a study, whose newest run
is taken; of several the counters of one are those of the times of another.]]

roofline.example = [[
moonwarp ceilings triad triad_l2 f32 f64
moonwarp run balance
moonwarp roofline balance]]

-- ---- points -------------------------------------------------------------------------------------

local TYPES <const> = { "f64", "f32", "tensor_f16", "tensor_tf32", "tensor_f64" } -- those that have a ceiling

-- Operations of a call in all, and the type of most of them; nil where none were counted.
local function counted_operations(one)
  local sum, most, dtype = 0, 0, nil
  for _, type in ipairs(TYPES) do
    local count = work.counted(one, type:find "^tensor" and type or type .. "_operations") or 0
    if count > most then most, dtype = count, type end
    sum = sum + count
  end
  return dtype and sum, dtype
end

-- Bytes of a call at the memory, whose word they are, and those of the L2 cache.
local function bytes_of(one)
  local counted = work.counted(one, "dram_bytes")
  if counted then return counted, "ncu", work.counted(one, "l2_bytes") end
  if one.bytes then return one.bytes, "declared" end
  return work.requested(one), "requests"
end

-- A point, or nil and why not.
local function point_of(one, most)
  local operations, dtype = counted_operations(one)
  if not operations and not work.is_counted(one) then
    operations, dtype = one.flops, one.result and one.result.dtype or one.record and one.record.type or "f32"
  end
  local bytes, by, l2 = bytes_of(one)
  if not operations then return nil, "its operations are not known, or none" end
  if not (bytes and bytes > 0) then return nil, "its bytes are not known, or none" end
  if not most[dtype] then return nil, ("the ceiling %s is not kept"):format(dtype) end
  local point = { kernel = one.name, by = by, dtype = dtype, rate = operations / one.t, intensity = operations / bytes,
                  l2_intensity = l2 and l2 > 0 and operations / l2 or nil }
  roof.place(point, most)
  return point
end

-- ---- all of it ----------------------------------------------------------------------------------

local COLUMNS <const> = {
  { heading = "kernel", cell = "kernel" }, { heading = "by", cell = "by" }, { heading = "type", cell = "dtype" },
  { heading = "flop/B", number = true, cell = function(point) return units.digits(point.intensity + 0.0, 3) end },
  { heading = "of L2", number = true, cell = function(point)
    return point.l2_intensity and units.digits(point.l2_intensity + 0.0, 3) or "-"
  end },
  { heading = "rate", number = true, cell = function(point) return units.format(point.rate, "flop/s", 3) end },
  { heading = "of its roof", number = true, cell = function(point) return ("%.0f %%"):format(100 * point.share) end },
  { heading = "bound", cell = "bound" },
}

-- The roofs of a device; an error says which are not kept.
local function roofs_of(one)
  local kept = one.ceilings
  if not kept.triad then
    options.fail("the ceilings of %s are not kept: moonwarp ceilings triad triad_l2 f32 f64",
      one.device_name or "the device")
  end
  return lists.merged(kept, { bandwidth = kept.triad, l2 = kept.triad_l2 })
end

--- The command.
---@param parsed table
function roofline.run(parsed)
  local taken = lists.map(table.move(parsed, 1, #parsed, 1, {}), runs.latest)
  local list = lists.filter(work.of(taken), function(one)
    return one.device_name == taken[1].device_name and (not parsed.only or one.name:find(parsed.only, 1, true) ~= nil)
  end)
  if #list == 0 then
    options.fail("%s has no times of kernels%s", taken[1].folder, parsed.only and " of that name" or "")
  end
  local most, left = roofs_of(list[1]), {}
  local points = lists.map(list, function(one)
    local point, why = point_of(one, most)
    if not point then left[#left + 1] = ("%s: %s"):format(one.name, why) end
    return point
  end)
  if #points == 0 then options.fail("no kernel can be placed; %s", table.concat(left, "; ")) end
  sheet.print(COLUMNS, points)
  for _, text in ipairs(left) do print("not placed: " .. text) end
  local study, device = taken[1].study, taken[1].device_name or "no device"
  local figure = lists.merged({ name = "roofline-" .. study, title = ("roofline, %s, %s"):format(study, device),
    device = device, script = study, date = os.date "!%Y-%m-%d %H:%M UTC" }, roof.chart(points, most))
  drawing.show(figure)
  if parsed.svg then drawing.write(figure, session.current:out() .. "/plots") end
end

return roofline
