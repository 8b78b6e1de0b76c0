-- SPDX-License-Identifier: MIT
--
-- What the ladder and the scans share: how a kernel is named and compiled, timed, judged and recorded.
-- A chunk that is called with the study's settings and returns a table of functions.

local mw = require "moonwarp"

local set = ...
local dev, gpu, seconds, types = set.dev, set.gpu, set.seconds, set.types

local CPP = { f64 = "double", f32 = "float" }
local EPS = { f64 = 2.0 ^ -52, f32 = 2.0 ^ -23 }
local VECTORS = { f32 = 4, f64 = 2 } -- elements of a 16-byte load

local measurement = { CPP = CPP, VECTORS = VECTORS }

function measurement.ceil_div(a, b)
  return (a + b - 1) // b
end

function measurement.has(list, value)
  for _, entry in ipairs(list) do
    if entry == value then return true end
  end
  return false
end

-- All kernels of the run are named at once: one compilation a file, instead of one a kernel.
function measurement.module_of(file, patterns)
  local names = {}
  for _, ty in ipairs(types) do
    for _, pattern in ipairs(patterns) do
      local name = pattern:format(CPP[ty])
      if not measurement.has(names, name) then names[#names + 1] = name end
    end
  end
  return dev:module { file = file, templates = names }
end

-- All terms are positive, so the error of a sum is relative to it, and grows with the square root
-- of the additions in a row.
function measurement.tolerance(ty, additions, name)
  return { relative = 4 * EPS[ty] * math.sqrt(additions), name = name }
end

function measurement.bench(fn, bytes)
  return mw.bench(fn, { min_time = seconds, max_time = 3 * seconds, device = dev, bytes = bytes })
end

function measurement.keep(values, to, t)
  values.study, values.bytes, values.t = "cumsum", to:nbytes(), t
  values.T_eff = 2 * to:nbytes() / t.median
  return mw.record(values)
end

function measurement.library(group, B, A, fields)
  B:fill(0 / 0)
  local stream = gpu and dev:default_stream() or nil
  local t = measurement.bench(function() B:copy(A, { stream = stream }) end, 2 * B:nbytes())
  mw.check(B, A, { exact = true, name = "library copy" })
  fields.group, fields.rung, fields.series = group, "library copy", "library copy"
  return measurement.keep(fields, B, t)
end

function measurement.fastest(records, test)
  local best
  for _, r in ipairs(records) do
    if test(r) and not (best and best.T_eff >= r.T_eff) then best = r end
  end
  return best
end

function measurement.is_copy(r) return not r.dim end

return measurement
