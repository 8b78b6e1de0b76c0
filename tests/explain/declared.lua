-- SPDX-License-Identifier: MIT
--
-- declared.lua -- RUN...: the bytes and operations that studies declare, beside what ncu has counted of the same
-- launches, and the ratio, by run and rung.

local store = require "moonwarp.results.store"
local units = require "moonwarp.base.units"
local work = require "moonwarp.results.work"
require "moonwarp.plot.kinds" -- whose charts a record may have

local function beside(declared, counted, unit)
  if not (declared and counted and declared > 0) then return "-" end
  return ("%s, ncu %s: %.3f"):format(units.format(declared, unit, 4), units.format(counted, unit, 4),
    counted / declared)
end

for _, folder in ipairs(arg) do
  local run, problem = store.read(folder)
  if not run then print(problem) end
  for _, one in ipairs(run and work.of { run } or {}) do
    if one.record and work.is_counted(one) then
      local operations = 0
      for _, name in ipairs { "f64_operations", "f32_operations", "f16_operations", "tensor_f16", "tensor_tf32",
                              "tensor_f64" } do
        operations = operations + (work.counted(one, name) or 0)
      end
      print(("%-10s %-34s %-38s %s"):format(run.study, one.name:sub(1, 34), beside(one.bytes,
        work.counted(one, "dram_bytes"), "B"), beside(one.flops, operations, "flop")))
    end
  end
end
