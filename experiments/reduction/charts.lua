-- SPDX-License-Identifier: MIT
--
-- The charts: a sum's rate against the threads a block, the blocks a multiprocessor and the elements,
-- with CUB's where it is known. A chunk that is called with the study's settings and returns
-- draw(results).

local mw = require "moonwarp"

local study = ...
local gpu, n, dtype = study.gpu, study.n, study.types[1]

local CUB = { f32 = 4384e9, f64 = 4468e9 } -- as the head of init.lua has it
local CUB_N = 1 << 28 -- the only size that it was measured at: a point there, a line where all is that
local cub_label = "CUB, 2^28 " .. dtype .. ", H200, source"

-- Of a sweep in which none of the rungs took part nothing is drawn.
local function chart(records, x, top, options)
  if #records == 0 then return end
  local cub = { value = CUB[dtype], label = cub_label }
  mw.plot { x = x, y = "T_tot", by = "method", logx = options.logx or 2, records = records,
            peak = top, lines = gpu and n == CUB_N and x ~= "n" and { cub } or nil,
            title = "reduction: sum of " .. dtype .. ", T_tot against " .. options.xlabel,
            xlabel = options.xlabel, name = "reduction-" .. options.name, logy = options.logy }
end

-- Six colours: where all are taken, CUB's point has that of the second launch, whose line lies on the
-- atomic one's.
local function with_cub(records)
  if not gpu or n < CUB_N or #records == 0 then return records end
  local seen, colours, list = {}, 0, {}
  for _, r in ipairs(records) do
    if not seen[r.method] then seen[r.method], colours = true, colours + 1 end
  end
  for _, r in ipairs(records) do
    if colours < 6 or r.method ~= "second launch" then list[#list + 1] = r end
  end
  list[#list + 1] = { method = cub_label, n = CUB_N, T_tot = CUB[dtype] }
  return list
end

--- Draws the three sweeps.
---@param results table  sweeps (threads, blocks, size: lists of records) and top (the level)
return function(results)
  local sweeps, top = results.sweeps, results.top
  chart(sweeps.threads, "threads", top, { xlabel = "threads a block", name = "threads" })
  chart(sweeps.blocks, "per", top, { xlabel = "blocks a multiprocessor", name = "blocks" })
  chart(with_cub(sweeps.size), "n", top, { xlabel = "elements", name = "size", logx = 10, logy = 10 })
end
