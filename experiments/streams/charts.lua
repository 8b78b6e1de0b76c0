-- SPDX-License-Identifier: MIT
--
-- The charts: rates of copies against their size, with what others measured, and the pipelines' time
-- against the number of pieces. A chunk that is called with the study's settings and returns
-- draw(results).

local mw = require "moonwarp"

local study = ...

local SOURCE = { { value = 55.5e9, label = "source, H200: pinned" },
                 { value = 9.5e9, label = "source, H200: pageable, in" } }

local function copies(records)
  mw.plot { x = "bytes", y = "T_tot", by = "series", logx = 2, records = records, name = "streams-copies",
            lines = study.gpu and SOURCE or nil,
            title = "Copies between host and device", xlabel = "bytes of one copy" }
end

local function pipelines(records)
  mw.plot { x = "chunks", y = "over", by = "series", logx = 2, records = records, name = "streams-pipeline",
            title = "Copy in, compute, copy out", xlabel = "pieces",
            ylabel = "time over the longest stage alone", lines = { { value = 1, label = "longest stage alone" } } }
end

--- Draws those of the two that were measured.
---@param m table  host (the copies) and grid (the pipelines), lists of records or nil
return function(m)
  if m.host then copies(m.host) end
  if m.grid then pipelines(m.grid) end
end
