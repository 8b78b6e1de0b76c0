-- SPDX-License-Identifier: MIT
--
-- airfoil: how should the increments of an unstructured mesh's edges be kept apart?
--
-- OP2's example: the flow around a NACA 0012 at Mach 0.4, five loops a step, by par_loop of moonwarp.mesh. The rungs
-- are ways to do res_calc, whose edges add to both of their cells. T_eff = every dataset and map once, res twice, over
-- t; shares are of the library's copy. Then the five loops, the whole step, plans and OP2's diagnostics of them, two
-- other users of par_loop, and the flow with its residual, compared with OP2's. See docs/studies/airfoil.md.

local mw = require "moonwarp"
local devices, diagnostics, flow, grid = require "devices", require "diagnostics", require "flow", require "grid"
local host, numbering, users = require "host", require "numbering", require "users"

local study, p, gpu = mw.study {
  question = "how should the increments of an unstructured mesh's edges be kept apart?",
  rate = "T_eff", output = "res", level = "library copy", seconds = { 0.02, gpu = 0.04 },
  units = { planning = "s", shared = "B", thousand = "s", op2 = "s", op2_untuned = "s", westmere = "s" },
  odd = { { I = 9, J = 11, layout = "aos", numbering = "shuffled" },
          { I = 13, J = 9, layout = "soa", numbering = "Morton" } },
  params = {
    { "I", { 40 }, "cells along the profile; 400 makes OP2's 720,000 cells, 800 2.88 million",
      gpu = { 400, 800 }, min = 4, max = 900 },
    { "type", "f64", "of the data", choices = { "f32", "f64" } },
    { "threads", { 128 }, "threads of a block; the last are also the edges of a mini-partition", gpu = { 64, 128 },
      min = 32, max = 512 },
    { "numbering", "made", "of the ladder", choices = { "made", "tiles", "Morton", "shuffled" } },
    { "layouts", { "aos" }, "of data with several numbers per element", gpu = { "aos", "soa" },
      choices = { "aos", "soa" } },
    { "numberings", { "made", "shuffled" }, "of cells, edges and nodes",
      gpu = { "tiles", "Morton", "shuffled" }, choices = { "made", "tiles", "Morton", "shuffled" } },
    { "steps", 100, "time steps of the flow", gpu = 1000, min = 1 },
    { "nodes", 2000, "of a matrix and a graph, each with seven elements or edges", gpu = 1 << 19, min = 1 },
    { "source", "none", "the rung whose generated kernel is printed" },
  },
}
local FIRST <const>, COPY <const> = p.I[1], "library copy"

-- ---- cases ------------------------------------------------------------------------------------------
local grids = {} -- that were made, by their sides

local function grid_of(I, J, order)
  local key = ("%d %d %s"):format(I, J, order)
  if not grids[key] then
    local g = grid.naca0012(I, J)
    grids[key] = order == "made" and g or numbering[order](g)
  end
  return grids[key]
end

function study.arrays(c)
  if c.user then return users.arrays(c) end
  c.J = c.J or c.I * 3 // 2
  local g = grid_of(c.I, c.J, c.numbering)
  local a = flow.arrays(c.dev, g, c.type, c.layout)
  c.grid, c.cells, c.flow = g, g.cells, flow.mesh(c.dev, g, a, c.type, c.layout)
  flow.prepare(c.flow)
  c.flow.disturb()
  a.q0, a.adt0 = a.q:clone(), a.adt:clone()
  a.res0 = c.dev:array(c.type, 4 * g.cells):random { seed = 2, max = 0.01 }
  return a
end

-- ---- ways -------------------------------------------------------------------------------------------
local WAYS <const> = {
  { 2, "atomics", { by = "atomics" } },
  { 3, "colours", { by = "colours" } },
  { 4, "a cell per thread", { by = "owner" } },
  { 5, "staged, blocks and threads coloured", { by = "staged" } },
  { 6, "staged, threads by atomics", { by = "staged", threads = "atomics" } },
  { 7, "staged, atomics", { by = "staged", threads = "atomics", blocks = "atomics" } },
  { 8, "staged, a block owns its cells", { by = "staged", blocks = "owner" } },
  { 9, "staged, owned, threads by atomics", { by = "staged", blocks = "owner", threads = "atomics" } },
  { 10, "staged, owned, a cell per thread", { by = "staged", blocks = "owner", threads = "owner" } },
}
local DIRECT <const> = {
  { "save_soln", "direct", {} }, { "adt_calc", "direct", {} }, { "adt_calc", "staged", { by = "staged" } },
  { "bres_calc", "atomics", { by = "atomics" } }, { "update", "direct", {} }, { "clear", "direct", {} },
}

local function options_of(name, how, block)
  local o = { block = block, name = (name .. " " .. how[2]):gsub("%W+", "_") }
  for key, value in pairs(how[3]) do o[key] = value end
  if o.blocks == "owner" and o.threads ~= "owner" then o.part = block // 2 end -- cells, of which each has two edges
  return o
end

local OWNER <const> = "a cell per thread"
local FEW <const> = { atomics = true, [OWNER] = true, ["staged, owned, a cell per thread"] = true }

-- Whether a way or loop is tried on a case. Where compiling takes longer than measuring there are fewer: in the second
-- type, in SoA on the CPU device, and least on the CPU device next to a GPU. Colours of millions of edges take seconds.
local function is_tried(c, how)
  local is_loop = type(how[1]) == "string"
  if gpu and not c.gpu then return is_loop or how[2] == "atomics" end
  if how[2] == "colours" and c.I > FIRST then return false end
  return is_loop or FEW[how[2]] or c.type == p.type and (gpu or c.layout == "aos")
end

local sources = {} -- of modules, by what they depend on

-- The source of all loops that are tried on a case. It has no sizes, so that a small grid will do.
local function source_of(c)
  local key = c.type .. c.layout .. (c.gpu and " gpu" or "")
  if not sources[key] then
    local g, loops = grid_of(9, 11, "made"), {}
    local f = flow.mesh(c.dev, g, flow.arrays(c.dev, g, c.type, c.layout), c.type, c.layout)
    local function add(name, how) loops[#loops + 1] = flow.loop(f, name, options_of(name, how, p.threads[1])) end
    for _, how in ipairs(WAYS) do
      if is_tried({ gpu = c.gpu, layout = c.layout, type = c.type, I = FIRST }, how) then add("res_calc", how) end
    end
    for _, one in ipairs(DIRECT) do add(one[1], one) end
    sources[key] = f.mesh:join(loops)[1].source
  end
  return sources[key]
end

-- A loop of a case by a way, in that module if its kernel is there: tables of 16 or 32 bits make a difference.
local function loop_of(c, name, how, block)
  local loop, source = flow.loop(c.flow, name, options_of(name, how, block)), source_of(c)
  if source:find(loop.kernel, 1, true) then
    for _, launch in ipairs(loop.launches) do launch[2].source = source end
  end
  return loop
end

-- ---- what is right ----------------------------------------------------------------------------------
local function size_of(c) return c.type == "f64" and 8 or 4 end
local BYTES <const> = { -- every dataset and map once, what is incremented twice
  save_soln = function(c) return size_of(c) * 8 * c.cells end,
  adt_calc = function(c) return size_of(c) * (2 * c.grid.nodes + 5 * c.cells) + 16 * c.cells end,
  res_calc = function(c) return size_of(c) * (2 * c.grid.nodes + 13 * c.cells) + 16 * c.grid.edges end,
  bres_calc = function(c) return (size_of(c) * 15 + 16) * c.grid.bedges end,
  update = function(c) return size_of(c) * 17 * c.cells end,
}

local function begin(c)
  c.q:copy(c.q0)
  c.qold:copy(c.q0)
  c.adt:copy(c.adt0)
  c.res:fill(0)
end

-- An answer whose host function gets q, adt, res as they begin; at the measured size its rung `first` is the reference.
local function answer(name, output, first, digits, spec)
  local compute = spec.host
  study:answer(name, { output = output, bytes = spec.bytes or BYTES[name], needs = { first }, also = spec.also,
    host = function(c)
      return host.listed(c, compute(c, host.cells(c, "q0"), host.cells(c, "adt0")), output == "adt" and 1 or 4)
    end,
    start = function(c, out)
      begin(c)
      if spec.start then spec.start(c, out) end
    end,
    reference = function(c, launcher)
      launcher(first, c)()
      return c[output]
    end,
    tolerance = function(c) return { absolute = digits * c.eps } end })
end

-- What leaves a cell enters its neighbour: over all cells nothing is lost.
local function is_conserved(c, check)
  check(c.flow.lost(), { 0, 0, 0, 0 }, { absolute = 4 * c.eps, name = "what flows out of all cells" })
end

local function spoil(_, out) out:fill(0 / 0) end

study:library(1, "q", "qold")
answer("res_calc", "res", "atomics", 32, { also = is_conserved,
  host = function(c, q, adt) return host.res_calc(c, q, adt, host.zeros(c)) end })
answer("save_soln", "qold", "save_soln, direct", 0, { start = spoil, host = function(_, q) return q end })
answer("adt_calc", "adt", "adt_calc, direct", 64, { start = spoil, host = host.adt_calc })
answer("bres_calc", "res", "bres_calc, atomics", 32, {
  host = function(c, q, adt) return host.bres_calc(c, q, adt, host.zeros(c)) end })
answer("update", "q", "update, direct", 64, {
  start = function(c, out)
    spoil(c, out)
    c.res:copy(c.res0)
  end,
  host = function(c, q, adt) return host.update(c, q, host.cells(c, "res0"), adt) end })
answer("step", "q", "step, a cell per thread", 256, { host = host.step,
  bytes = function(c)
    return BYTES.save_soln(c) + 2 * (BYTES.adt_calc(c) + BYTES.res_calc(c) + BYTES.update(c))
  end })
users.describe(study)

-- ---- rungs ------------------------------------------------------------------------------------------
local STAGED <const> = { p.threads[#p.threads] }

local function fields_of(name, how)
  return function(c, block)
    local loop = loop_of(c, name, how, block)
    return { launches = #loop.launches, colours = loop.plan.colours, shared = loop.plan.shared }
  end
end

-- One way of one loop; `more`: of a rung.
local function rung(number, title, name, how, more)
  local spec = { number, title, answer = name, blocks = how[3].by == "staged" and STAGED or p.threads,
                 when = function(c) return is_tried(c, how) end, fields = fields_of(name, how),
                 launches = function(c, block) return loop_of(c, name, how, block).launches end }
  for key, value in pairs(more or {}) do spec[key] = value end
  study:rung(spec)
end

for _, how in ipairs(WAYS) do rung(how[1], how[2], "res_calc", how) end
local MANY <const> = "a cell per thread, 72 registers"
if gpu then -- more blocks at once by fewer registers
  rung(4, MANY, "res_calc", WAYS[3], { compile = { max_registers = 72 }, launches = function(c, block)
    return flow.loop(c.flow, "res_calc", options_of("res_calc", WAYS[3], block)).launches
  end })
end
local BESIDE <const> = { blocks = { 128 }, device = "cpu", when = function(c)
  return c.layout == "aos" and c.type == p.type
end }
for i = 1, #DIRECT - 1 do -- clear is no loop of OP2's
  local one = DIRECT[i]
  rung(10 + i, one[1] .. ", " .. one[2], one[1], one)
  if one[2] ~= "staged" then
    rung(10 + i, one[1] .. ", CPU device", one[1], one, BESIDE)
  end
end
rung(16, "res_calc, CPU device", "res_calc", WAYS[1], BESIDE)

-- The threads that were best for a loop, if that was measured.
local function best_block(name)
  local known = name ~= "clear, direct" and study:fastest("loops", name)
  return known and known.threads or 128
end

local function step_by(how)
  return function(c)
    local loops = { res_calc = loop_of(c, "res_calc", how, best_block(how[2])) }
    for _, one in ipairs(DIRECT) do
      if one[2] ~= "staged" then loops[one[1]] = loop_of(c, one[1], one, best_block(one[1] .. ", " .. one[2])) end
    end
    return flow.step(loops)
  end
end

local function step(number, how, more)
  local spec = { number, "step, " .. how[2], answer = "step", block = 128, launches = step_by(how) }
  for key, value in pairs(more or {}) do spec[key] = value end
  study:rung(spec)
end

step(17, WAYS[1])
step(18, WAYS[3])
step(19, WAYS[3], { [2] = "step, a cell per thread, in a graph", graph = true })
if gpu then
  step(20, WAYS[3], { [2] = "step, 72 registers, in a graph", graph = true, compile = { max_registers = 72 } })
end

-- ---- parts ------------------------------------------------------------------------------------------
local SHARE <const> = { "share", title = "of the copy", unit = "%", digits = 3 }
local function case(...)
  local list = {}
  for i, more in ipairs { ... } do
    list[i] = { I = FIRST, layout = "aos", numbering = p.numbering, type = p.type }
    for key, value in pairs(more) do list[i][key] = value end
  end
  return list
end

-- The ways of some names; those of res_calc on the study's device.
local function ways(names)
  local list = { COPY, gpu and not names and MANY or nil }
  for _, how in ipairs(WAYS) do
    if not names or names[how[2]] then list[#list + 1] = how[2] end
  end
  return list
end

study:part { "ladder", cases = case { I = p.I }, each = "I", rungs = ways(),
  table = { { "number", title = "no." }, "rung", "block", "launches", "colours", "shared", "t", "T_eff", SHARE },
  charts = { { kind = "ladder", name = "ladder" } },
  ratios = { "a cell per thread / atomics", "staged, blocks and threads coloured / atomics",
             "best res_calc / library copy" } }

study:part { "layouts", cases = case { I = p.I, layout = "soa" }, each = "I", blocks = "best", rungs = ways(),
  table = { { "number", title = "no." }, "rung", "block", "launches", "t", "T_eff", SHARE } }

-- Seconds for 1000 steps on a Tesla C2070 and on two Xeons X5650, as the lecture has them; tuned but for the first.
local OP2 <const> = {
  save_soln = { calls = 1000, untuned = 0.23, f32 = 0.22, f64 = 0.44, cpu_f32 = 1.68, cpu_f64 = 2.51 },
  adt_calc = { calls = 2000, untuned = 1.26, f32 = 1.09, f64 = 2.62, cpu_f32 = 11.15, cpu_f64 = 11.68 },
  res_calc = { calls = 2000, untuned = 5.10, f32 = 4.95, f64 = 10.35, cpu_f32 = 16.57, cpu_f64 = 20.99 },
  bres_calc = { calls = 2000, untuned = 0.11, f32 = 0.10, f64 = 0.08, cpu_f32 = 0.16, cpu_f64 = 0.17 },
  update = { calls = 2000, untuned = 1.07, f32 = 1.03, f64 = 1.87, cpu_f32 = 4.67, cpu_f64 = 9.29 },
}

local function beside_op2(records, c)
  for _, record in ipairs(records) do
    local known = OP2[record.rung:match "^[%w_]+"] or record.rung ~= COPY and OP2.res_calc
    if known then
      record.thousand = known.calls * record.t.median
      if c.I == 400 then
        record.op2, record.westmere = known[record.type], known["cpu_" .. record.type]
        record.op2_untuned = record.type == "f32" and known.untuned or nil
      end
    end
  end
end

local LOOPS <const> = { COPY, "save_soln", "adt_calc", "bres_calc", "update", OWNER, gpu and MANY or nil,
                        "res_calc, CPU device" }
study:part { "loops", rungs = LOOPS,
  cases = case({ layout = p.layouts }, gpu and p.type == "f64" and { layout = "aos", type = "f32" } or nil),
  blocks = "best", rows = "all", derive = beside_op2,
  table = { "rung", "layout", "type", "block", "t", "T_eff", SHARE, { "thousand", title = "1000 steps" },
            { "op2_untuned", title = "C2070, untuned (source)" }, { "op2", title = "C2070 (source)" },
            { "westmere", title = "2 X5650 (source)" } } }

study:part { "step", cases = case { layout = p.layouts }, rungs = { COPY, "step" }, rows = "all",
  table = { { "number", title = "no." }, "rung", "layout", "t", "T_eff", SHARE } }

-- ---- plans ------------------------------------------------------------------------------------------
-- The least of five times that a plan took, each from the maps alone.
local function planning(f, how)
  local least, loop = math.huge, nil
  for _ = 1, 5 do
    f.pecell.inverse, f.pedge.inverse, f.mesh.plans = nil, nil, {}
    collectgarbage()
    loop = flow.loop(f, "res_calc", options_of("res_calc", how, 128))
    least = math.min(least, loop.planning)
  end
  return least, loop
end

local function time_plans(sizes)
  local records = {}
  for _, I in ipairs(sizes) do
    local c <close> = study:case { I = I, layout = "aos", numbering = "made" }
    for _, how in ipairs { WAYS[3], WAYS[4] } do
      local seconds, loop = planning(c.flow, how)
      records[#records + 1] = mw.record { study = "airfoil", group = "plans", rung = how[2], cells = c.cells,
        planning = seconds, launches = #loop.launches, device = c.dev, units = { planning = "s" } }
    end
  end
  mw.table { "rung", "cells", "launches", { "planning", title = "plan, least of 5" }, records = records,
             title = "airfoil: the plans of res_calc" }
end

local SLIDE <const> = { numbering = "the slide", blocks = 11240, block_colours = 4, thread_colours = 4.00,
                        shared_KB = 3.72, reuse = 3.20, used_MB = 87.13, total_MB = 143.06, soa_over_aos = 2.2 }

local function tell_diagnostics()
  local records = {}
  local c <close> = study:case { I = FIRST, layout = "aos", numbering = "made" }
  for _, order in ipairs(gpu and { p.numberings[1] } or p.numberings) do -- they are the same on all devices
    local g = grid_of(c.I, c.J, order)
    local f = flow.mesh(c.dev, g, flow.arrays(c.dev, g, "f32", "aos"), "f32", "aos")
    local loop = flow.loop(f, "res_calc", { by = "staged", block = 128 })
    local told = diagnostics(loop)
    told.numbering, told.study, told.group, told.device = order, "airfoil", "diagnostics", c.dev
    records[#records + 1] = mw.record(told)
  end
  if FIRST == 400 then records[#records + 1] = mw.record(SLIDE) end
  mw.table { "numbering", "blocks", { "block_colours", title = "block colours" },
             { "thread_colours", title = "thread colours", digits = 3 },
             { "shared_KB", title = "shared, KB", digits = 3 }, { "reuse", digits = 3 },
             { "used_MB", title = "used, MB", digits = 5 },
             { "total_MB", title = "moved, MB", digits = 5 }, { "soa_over_aos", title = "SoA / AoS", digits = 3 },
             records = records, title = "airfoil: OP2's diagnostics of res_calc, f32, mini-partitions of 128 edges" }
end

study:part { "plans", run = function()
  time_plans(p.I)
  tell_diagnostics()
end }

-- ---- the flow ---------------------------------------------------------------------------------------
-- OP2's residuals of 720,000 cells in f64 (apps/c/airfoil/README.md), and the one that its program compares with.
local PUBLISHED <const> = { [100] = 5.02186e-04, [200] = 3.41746e-04, [300] = 2.63430e-04, [400] = 2.16288e-04,
  [500] = 1.84659e-04, [600] = 1.60866e-04, [700] = 1.42253e-04, [800] = 1.27627e-04, [900] = 1.15810e-04,
  [1000] = 1.06011e-04 }
local LAST <const>, WIDE <const>, HIGH <const> = 0.0001060114637578, 320, 240

local function check_residual(c, k, residual, is_published)
  if not is_published or not PUBLISHED[k] then return end
  local got <close> = c.dev:array("f64", { residual })
  mw.check(got, { PUBLISHED[k] }, { absolute = 0.51e-9, name = ("residual of step %d"):format(k) }) -- as printed
  if k == 1000 then mw.check(got, { LAST }, { relative = 1e-7, name = "residual of step 1000, as OP2 checks it" }) end
end

-- The pressure coefficient over the chord: of the edges on the airfoil, upper and lower side.
local function chord(g, list)
  local points = {}
  for e = 1, g.bedges do
    if g.bound[e] == 1 then
      local a, b = g.pbedge[e], g.pbedge[e + g.bedges]
      points[#points + 1] = mw.record { study = "airfoil", group = "chord", x = (g.x[2 * a + 1] + g.x[2 * b + 1]) / 2,
        minus_cp = -list[e], side = g.x[2 * a + 2] + g.x[2 * b + 2] > 0 and "upper side" or "lower side" }
    end
  end
  mw.plot { x = "x", y = "minus_cp", by = "side", records = points, name = "airfoil-chord", points = "alone",
            xlabel = "x along the chord", ylabel = "-Cp", title = "airfoil: pressure coefficient along the chord" }
end

local function run_flow()
  local c <close> = study:case { I = FIRST, layout = "aos", numbering = "made" }
  c.flow.begin()
  local step_once, cells = c:launches(step_by(WAYS[3])(c)), {}
  for y = 1, HIGH do
    for x = 1, WIDE do
      cells[#cells + 1] = grid.cell_at(c.grid, (x - 0.5) / WIDE * 2 - 0.6, ((y - 0.5) / HIGH - 0.5) * 1.5) or false
    end
  end
  local picture, paint, coefficients = flow.views(c.flow, cells, WIDE, HIGH)
  local film = mw.film { name = "airfoil-pressure", title = "airfoil: pressure around NACA 0012, Mach 0.4",
    label = "pressure", low = 0.93, high = 1.12, x = { -0.6, 1.4 }, y = { -0.75, 0.75 }, xlabel = "x", ylabel = "y" }
  local every, course, is_published = math.max(1, p.steps // 10), {}, FIRST == 400 and c.type == "f64"
  for k = 1, p.steps do
    step_once()
    if k % every == 0 then
      local residual = flow.residual(c.flow)
      course[#course + 1] = mw.record { study = "airfoil", group = "flow", step = k, residual = residual,
        published = is_published and PUBLISHED[k] or nil, device = c.dev }
      check_residual(c, k, residual, is_published)
      paint()
      film:add(picture, ("step %d"):format(k))
    end
  end
  mw.table { "step", { "residual", digits = 7 },
             is_published and { "published", title = "OP2 (source)", digits = 6 } or nil,
             records = course, title = ("airfoil: the residual, %d cells"):format(c.cells) }
  film:draw()
  chord(c.grid, coefficients())
end

study:part { "flow", run = run_flow }

study:part { "orders", blocks = "best", rows = "all",
  rungs = ways { atomics = true, [OWNER] = true, ["staged, blocks and threads coloured"] = true,
                 ["staged, owned, a cell per thread"] = true },
  cases = case({ layout = p.layouts[1], numbering = p.numberings },
    p.layouts[2] and { layout = p.layouts[2], numbering = p.numberings[#p.numberings] } or nil),
  table = { { "number", title = "no." }, "rung", "layout", "numbering", "launches", "t", "T_eff", SHARE } }

users.parts(study)

study:part { "devices", run = function()
  local c <close> = study:case { I = math.min(FIRST, 100), layout = "aos", numbering = "made" }
  devices.run(c.dev, c.grid, c.type, math.min(p.steps, 10))
end }

study:finally(function()
  if p.source == "none" then return end
  local c <close> = study:case { I = FIRST, layout = "aos", numbering = "made" }
  for _, how in ipairs(WAYS) do
    if how[2] == p.source then print(loop_of(c, "res_calc", how, 128).kernel) end
  end
end)
return study
