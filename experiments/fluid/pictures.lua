-- SPDX-License-Identifier: MIT
--
-- What the study fluid shows beside its ladders: the report's speed-up table and what was to be reached, from the
-- records of all sizes; what earlier launches leave in shared memory; a film of the smoke.

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
  local function show(title, rows, columns)
    for i, row in ipairs(rows) do rows[i] = mw.record(row) end
    if #rows > 0 then mw.table { title = title, records = rows, table.unpack(columns) } end
  end

  study:part { "tables", run = function()
    local labs, aims, largest = {}, {}, 0
    for _, n in ipairs(#sweep > 0 and p.sizes or {}) do
      local function of(first, last) return fastest(sweep, n, first, last) end
      local row, before = { group = "labs", n = n, device = study.dev, total = ratio(of "one thread, rows as they are",
        of(2, 24)) }, of "one thread, rows as they are"
      for i, now in ipairs { of "one thread" or false, of(gpu and "all cores" or "stepburst") or false,
                             of "stepburst" or false, of(2, 24) } do
        row["step" .. i], before = ratio(before, now), now or before
        row["report" .. i], largest = gpu and (REPORT[n] or {})[i] or nil, math.max(largest, n)
      end
      labs[#labs + 1] = row
    end
    local columns = { "n", { "step1", title = "vectors", digits = 3 }, { "step2", title = "all cores", digits = 3 },
                      { "step3", title = "stepburst", digits = 3 }, { "step4", title = "best", digits = 3 },
                      { "total", title = "in all", digits = 3 } }
    for i, title in ipairs(gpu and { "lab2", "lab3", "lab4", "report" } or {}) do
      columns[#columns + 1] = { "report" .. i, title = title }
    end
    show("speed-up over the version before, from one thread of the host on", labs, columns)

    local function aim(figure, n, value, to_reach, by)
      aims[#aims + 1] = value and { group = "aims", figure = figure, n = n, device = study.dev, value = value,
                                    to_reach = to_reach, by = by.rung } or nil
    end
    local half, pass = fastest(sweep, largest, 5, 18), fastest(sweep, largest, 19, 20)
    aim("several iterations a pass over the fastest of single ones", largest, ratio(half, pass), 3, pass)
    aim("the same, of a copy", largest, pass and pass.of_bound, 0.78, pass)
    aim("the fastest of single iterations, of a copy", largest, half and half.of_bound, 0.92, half)
    for n, to_reach in pairs { [128] = 3, [512] = 2.5 } do
      local graph, best = fastest(sweep, n, "graphburst, three streams"), fastest(sweep, n, 17, 23)
      aim("the fastest over graphburst, three streams", n, ratio(graph, best), to_reach, best)
    end
    show("what was to be reached, on an H100", aims, { "figure", "n", { "value", digits = 3 },
      { "to_reach", title = "to reach" }, "by" })
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
      { "n", { "found", unit = "%", digits = 3 } })
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
