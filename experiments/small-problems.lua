-- SPDX-License-Identifier: MIT
--
-- small-problems: how should a thousand problems be solved that fit into a block each?
--
-- Steps of Jacobi's iteration on squares of 64 x 64 cells, and implicit steps of 1-D diffusion by parallel cyclic
-- reduction: by a launch per step, by a graph, and by one launch in which a block keeps its problem on the
-- multiprocessor through all of its steps. `cells` is cells (or unknowns) times steps per second of the host's time.
-- After M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford), lecture 7. See
-- docs/studies/small-problems.md.

local mw = require "moonwarp"

local SIDE = 64 -- as in the kernels

local study, p = mw.study {
  question = "how should a thousand problems be solved that fit into a block each?", kernels = "small.cu",
  course = { week = 11.1, level = 2, hours = 3, about = "a block per problem", without_gpu = "results" },
  rate = { "cells", work = function(c) return c.problems * (c.length or SIDE * SIDE) * c.steps end },
  units = { cells = "1/s" }, type = "f32", output = "to", level = { "a launch per step", "a launch per implicit step" },
  seconds = { 0.03, gpu = 0.05 },
  odd = { { problems = 3, steps = 7 }, { problems = 1, steps = 1 }, { problems = 5, steps = 3, length = 201 },
          { problems = 1, steps = 4, length = 256 }, { problems = 2, steps = 2, length = 1 } },
  params = {
    { "problems", 50, "of each kind", gpu = 1000, min = 1, max = 1 << 20 },
    { "steps", 40, "of each problem", gpu = 200, min = 1 },
    { "length", 256, "unknowns of an implicit step", min = 1, max = 256 },
    { "alone", 2, "steps of the rung with a launch per step and problem", min = 1 },
  },
}

local LEVELS, R = 8, 0.75

function study.arrays(c)
  local count = c.problems * (c.length or SIDE * SIDE)
  return { from = c:array(count):random(1), to = c:array(count), spare = c:array(count), r = R }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- What calls step(problem's values, from 0) for all steps of all problems leave.
local function host_steps(c, size, step)
  local values, all = c.from:totable(), {}
  for problem = 0, c.problems - 1 do
    local u = table.move(values, problem * size + 1, (problem + 1) * size, 0, {})
    for _ = 1, c.steps do u = step(u) end
    table.move(u, 0, size - 1, problem * size + 1, all)
  end
  return function(i) return all[i] end
end

local function jacobi(u)
  local after = {}
  for i = 0, SIDE * SIDE - 1 do
    local x, y = i % SIDE, i // SIDE
    local is_border = x == 0 or x == SIDE - 1 or y == 0 or y == SIDE - 1
    after[i] = is_border and u[i] or (u[i + 1] + u[i + SIDE] + u[i - SIDE] + u[i - 1]) / 4
  end
  return after
end

-- Elimination and substitution (L. Thomas, 1949), for (1 + 2 r) v[i] - r (v[i-1] + v[i+1]) = u[i].
local function thomas(u)
  local upper, v, n = {}, {}, #u + 1
  for i = 0, n - 1 do
    local pivot = 1 + 2 * R + R * (upper[i - 1] or 0)
    upper[i], v[i] = -R / pivot, (u[i] + R * (v[i - 1] or 0)) / pivot
  end
  for i = n - 2, 0, -1 do v[i] = v[i] - upper[i] * v[i + 1] end
  return v
end

local function tolerance(c) return { absolute = 8 * c.eps * c.steps } end -- of values below 1

-- The plain rung's result, which the odd cases have confirmed.
local function by_rung(name)
  return function(c, launcher)
    launcher(name, c)()
    return c:keep(c.to:clone())
  end
end

study:answer("Jacobi", { host = function(c) return host_steps(c, SIDE * SIDE, jacobi) end, tolerance = tolerance,
                         needs = { "a launch per step" }, reference = by_rung "a launch per step" })
study:answer("implicit", { host = function(c) return host_steps(c, c.length, thomas) end, tolerance = tolerance,
                           needs = { "a launch per implicit step" }, reference = by_rung "a launch per implicit step" })

-- ---- Jacobi -----------------------------------------------------------------------------------------
local function is_square(c) return not c.length end
local function is_line(c) return c.length ~= nil end

-- Launches of step k, from 1 on, so that the last one writes `to`: a function of the arrays of step k.
local function by_steps(c, make)
  local others = { make(c.from, c.spare), make(c.from, c.to), make(c.spare, c.to), make(c.to, c.spare) }
  return function()
    local is_to = c.steps % 2 == 1 -- whether this step writes `to`
    for k = 1, c.steps do
      others[k == 1 and (is_to and 2 or 1) or (is_to and 3 or 4)]()
      is_to = not is_to
    end
  end
end

local function step_of_all(c)
  local how = { block = 256, grid = c.problems * SIDE * SIDE // 256 }
  return by_steps(c, function(from, to) return c:launch("jacobi_step", how, { to = to, from = from, first = 0 }) end)
end

local function step_of_each(c)
  return by_steps(c, function(from, to)
    local number = 0
    local go = c:launch("jacobi_step", { block = 256, grid = SIDE * SIDE // 256 },
      { to = to, from = from, first = function() return number end })
    return function()
      for k = 0, c.problems - 1 do
        number = k
        go()
      end
    end
  end)
end

study:rung { 1, "a launch per step and problem", answer = "Jacobi", kernel = { "jacobi_step" }, when = is_square,
  make = step_of_each, sides = function(c) return { problems = c.problems, steps = math.min(c.steps, p.alone) } end }
study:rung { 2, "a launch per step", answer = "Jacobi", kernel = { "jacobi_step" }, when = is_square,
             make = step_of_all }
study:rung { 3, "a graph of them", answer = "Jacobi", kernel = { "jacobi_step" }, when = is_square,
             make = step_of_all, graph = true }
study:rung { 4, "all steps in shared memory", answer = "Jacobi", kernel = "jacobi_shared", blocks = { 256, 512 },
             when = is_square, grid = function(c) return c.problems end }
study:rung { 5, "all steps in registers", answer = "Jacobi", kernel = "jacobi_registers", block = 32, when = is_square,
             grid = function(c) return c.problems end }

-- ---- implicit steps ---------------------------------------------------------------------------------
local IMPLICIT = ("implicit<%d>"):format(LEVELS)

local function implicit_steps(c)
  local how = { block = 1 << LEVELS, grid = c.problems }
  local first = c:launch(IMPLICIT, how, { steps = 1 })
  local next_one = c:launch(IMPLICIT, how, { steps = 1, from = c.to })
  return function()
    first()
    for _ = 2, c.steps do next_one() end
  end
end

study:rung { 6, "a launch per implicit step", answer = "implicit", kernel = { IMPLICIT }, when = is_line,
             make = implicit_steps }
study:rung { 7, "a graph of implicit steps", answer = "implicit", kernel = { IMPLICIT }, when = is_line,
             make = implicit_steps, graph = true }
study:rung { 8, "all implicit steps in a launch", answer = "implicit", kernel = IMPLICIT, block = 1 << LEVELS,
             when = is_line, grid = function(c) return c.problems end }

-- ---- parts ------------------------------------------------------------------------------------------
local columns = { { "number", title = "no." }, "rung", "block", "t", "cells",
                  { "share", title = "of a launch per step", digits = 3 } }

study:part { "Jacobi", cases = { { problems = p.problems, steps = p.steps } }, clock = "host", batch = 1, rows = "all",
  table = columns, charts = { { kind = "ladder" } },
  ratios = { "a graph of them / a launch per step", "all steps in shared memory / a launch per step",
             "all steps in registers / a launch per step" } }

study:part { "number", cases = { { problems = mw.geometric(p.problems, 1, 4), steps = p.steps } }, clock = "host",
  batch = 1, rungs = { "a launch per step", "a graph of them", "all steps in registers" },
  charts = { { x = "problems", logx = 10, logy = 10, xlabel = "grids of 64 x 64 cells", title = "by their number" } } }

study:part { "implicit", cases = { { problems = p.problems, steps = p.steps, length = p.length } }, clock = "host",
  batch = 1, table = columns, charts = { { kind = "ladder" } },
  ratios = { "a graph of implicit steps / a launch per implicit step",
             "all implicit steps in a launch / a launch per implicit step" } }
return study
