-- SPDX-License-Identifier: MIT
--
-- What the study fluid shows besides its ladders: the report's speed-up table, from the records of all sizes; what
-- earlier launches leave in shared memory; a film of the smoke.

local mw = require "moonwarp"

-- From each of the report's labs to the next, by n: vectors (lab2), OpenMP (lab3), CUDA (lab4); then all of them.
local REPORT <const> = { [128] = { 10.8, 2.04, 0.79, 18 }, [512] = { 11.1, 15.7, 1.47, 375 },
  [2048] = { 11.4, 20.0, 1.57, 608 }, [4096] = { 10.2, 6.87, 5.65, 916 }, [8192] = { 9.85, 6.14, 6.84, 940 } }

-- The fastest record of some n, of a rung or of numbers of rungs.
local function fastest(records, n, first, last)
  local best
  for _, r in ipairs(records) do
    local is_it = r.n == n and r.ns and (r.rung == first or last and r.number >= first and r.number <= last)
    if is_it and not (best and best.ns <= r.ns) then best = r end
  end
  return best
end
local function ratio(before, after) return before and after and before.ns / after.ns or nil end

return function(study, p, gpu, sweep)
  -- Columns are { field, ... }; those that no row has are left out.
  local function show(title, rows, columns)
    local list = { title = title, records = {} }
    for i, row in ipairs(rows) do list.records[i] = mw.record(row) end
    for _, column in ipairs(columns) do
      local is_there = false
      for _, row in ipairs(rows) do is_there = is_there or row[column[1]] ~= nil end
      list[#list + 1] = is_there and column or nil
    end
    if #rows > 0 then mw.table(list) end
  end

  study:part { "tables", run = function()
    local rows, columns = {}, { { "n" } }
    for _, one in ipairs { { "vectors" }, { "cores", "all cores" }, { "stepburst" }, { "best" }, { "all", "in all" },
                           { "lab2" }, { "lab3" }, { "lab4" }, { "report" }, { "passes", "several a pass" },
                           { "graph", "over the graph" } } do
      columns[#columns + 1] = { one[1], title = one[2], digits = 3 }
    end
    for _, n in ipairs(#sweep > 0 and p.sizes or {}) do
      local function of(first, last) return fastest(sweep, n, first, last) end
      local first, vectors, cores = of "one thread, rows as they are", of "one thread", of "all cores"
      local burst, best, report = of "stepburst", of(2, 24), gpu and REPORT[n] or {}
      rows[#rows + 1] = { group = "labs", n = n, device = study.dev, vectors = ratio(first, vectors),
        cores = ratio(vectors, cores), stepburst = ratio(cores or vectors, burst), best = ratio(burst, best),
        all = ratio(first, best), passes = ratio(of(5, 18), of(19, 20)),
        graph = ratio(of "graphburst, three streams", best), lab2 = report[1], lab3 = report[2], lab4 = report[3],
        report = report[4] }
    end
    show("speed-up over the version before, from one thread of the host on", rows, columns)
  end }

  study:part { "hidden", run = function()
    local rows = {}
    for i, n in ipairs(gpu and { 64, 512, 2048 } or { 64 }) do
      local c <close> = study:case { n = n }
      local nx, ny = mw.ceil_div(n // 2, 16), mw.ceil_div(n, 16)
      local args = { x = c.u, x0 = c.u0, a = 1, part = 0.25, colour = 0 }
      c.state:fill(0)
      for _, stores in ipairs { true, false } do
        c:launch(("relax_hidden<%s>"):format(stores), { block = { 16, 16 }, grid = { nx, ny } }, args)()
      end
      rows[i] = { group = "hidden", n = n, device = c.dev, found = c.found:get(1) / (nx * ny) }
    end
    show("blocks that find their key in shared memory (report: 100, 25 and 2.2 % for 64, 512 and 2048)", rows,
      { { "n" }, { "found", unit = "%", digits = 3 } })
  end }

  study:part { "film", run = function()
    local c <close> = study:case { n = p.side }
    local shown, film = c:array(p.side + 2, p.side + 2), mw.film { name = "fluid-film", title = "fluid: smoke", low = 0,
      high = 0.6, label = "smoke", live = p.live, device = c.dev }
    c.state:fill(0)
    c.prev:fill(0)
    c.force = p.push * p.force
    local go, side = study:launcher("no set_bnd between", c), p.side + 2
    local show_smoke = c:launch("reorder<false>", { block = { 32, 8 }, grid = { mw.ceil_div(side, 32),
      mw.ceil_div(side, 8) } }, { rows = shown, x = c.d })
    for frame = 1, p.frames do
      for _ = 1, 5 do go() end
      show_smoke()
      film:add(shown, ("step %d"):format(5 * frame))
    end
    film:draw()
  end }
end
