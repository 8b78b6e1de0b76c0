-- SPDX-License-Identifier: MIT
--
-- A step of the study fluid as a list of launches, and the relaxations that it may have: functions of the step's tools
-- t, of the arguments r of their launches (x, x0, a, part, c, wall) and of i, which of the spare fields is theirs.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div
local step, relax = {}, {}
step.relax = relax
local NONE <const>, VERTICAL <const>, HORIZONTAL <const>, BLOCK <const> = 0, 1, 2, { 32, 8 }

--- All fields of two tables; those of the second count.
function step.with(args, more)
  local all = {}
  for key, value in pairs(args) do all[key] = value end
  for key, value in pairs(more or {}) do all[key] = value end
  return all
end
local with = step.with

--- The places of a half row; textures begin at 512 bytes.
function step.pitch(c) return ceil_div(c.n // 2 + 8, 64) * 64 end

local function over(nx, ny, block) -- a thread each
  block = block or BLOCK
  return { block = block, grid = { ceil_div(nx, block[1]), ceil_div(ny, block[2]) } }
end
step.over = over

-- ---- the step ---------------------------------------------------------------------------------------
local function tools(c, o)
  local t = { c = c, p = c.p, list = {}, ny = c.ny or c.n, streams = o.streams and { c:stream() } or {} }
  t.pairs, t.count = over(c.n // 2, t.ny), 2 * (t.ny + 2) * step.pitch(c)
  for i = 2, o.streams and 3 or 0 do t.streams[i] = c:keep(c.dev:stream { blocking = true }) end
  function t.act(fn) t.list[#t.list + 1] = fn end
  function t.add(kernel, how, args) t.act { kernel, with(how, { stream = t.stream }), args or {} } end
  function t.line(kernel, args, more) -- over all places of a field
    t.add(kernel, with({ block = 256, grid = ceil_div(t.count, 256) }, more), args)
  end
  function t.bound(x, wall) -- the border
    local how = { block = 256, grid = ceil_div(math.max(c.n, t.ny), 256) }
    t.add("set_bnd<false>", how, { x = x, wall = wall })
  end
  function t.sync(from, to) -- stream `to` waits for what stream `from` has now, and is the one from here on
    local source, target = t.streams[from], t.streams[to]
    local mark = source and c:keep(c.dev:event { timing = false })
    if source then t.act(function() target:wait(source:record(mark)) end) end
    t.stream = target
  end
  return t
end

local function react(t, o)
  t.add("rest", { block = 2, grid = 1 })
  if o.maxima then o.maxima(t) else t.line("maxima", {}, { grid = math.min(512, ceil_div(t.count, 256)) }) end
  if not (o.queued or o.graph or o.streams) then t.act(function() return t.c.most:get(1) end) end
  t.add(("react<%s>"):format(o.adds or false), over(step.pitch(t.c), 2 * (t.ny + 2)),
    not o.adds and { u = mw.null, v = mw.null, d = mw.null })
end

--- A step. o.queued, graph, streams: the host does not wait for the maxima; streams: one each for u, v and d; adds:
--- react adds its sources, which are few; maxima(t), react(t): their launches instead.
---@param c table       the case, with arrays or without
---@param how function  one of step.relax
---@param o table
---@return table list   of launches and functions
function step.of(c, how, o)
  local p, t = c.p, tools(c, o)
  local function relaxed(i, x, x0, a, whole, wall)
    how(t, { x = x, x0 = x0, a = a, part = 1 / whole, c = whole, wall = wall }, i)
  end
  local function project(u, v, q, div)
    t.add("divergence", t.pairs, { p = q, div = div, u = u, v = v })
    t.bound(div, NONE)
    t.bound(q, NONE)
    relaxed(1, q, div, 1, 4, NONE)
    t.add("gradient", t.pairs, { u = u, v = v, p = q })
    t.bound(u, VERTICAL)
    t.bound(v, HORIZONTAL)
  end
  local function advect(d, d0, u, v, wall)
    t.add("advect", t.pairs, { d = d, d0 = d0, u = u, v = v })
    t.bound(d, wall)
  end
  t.stream = t.streams[1];
  (o.react or react)(t, o)
  t.sync(1, 2)
  t.sync(1, 3)
  for i, one in ipairs { { c.u, c.u0, p.visc, VERTICAL }, { c.v, c.v0, p.visc, HORIZONTAL },
                         { c.d, c.d0, p.diff, NONE } } do
    t.stream = t.streams[i]
    if not o.adds then t.line("add_source", { x = one[1], s = one[2] }) end
    local a = p.dt * one[3] * c.n * c.n
    relaxed(i, one[2], one[1], a, 1 + 4 * a, one[4])
  end
  t.sync(2, 1)
  project(c.u0, c.v0, c.u, c.v)
  advect(c.u, c.u0, c.u0, c.v0, VERTICAL)
  t.sync(1, 2)
  advect(c.v, c.v0, c.u0, c.v0, HORIZONTAL)
  t.sync(2, 1)
  project(c.u, c.v, c.u0, c.v0)
  t.sync(3, 1)
  advect(c.d, c.d0, c.u, c.v, NONE)
  return t.list
end

-- ---- relaxations, as the report has them --------------------------------------------------------------

--- Two launches an iteration, and the border after each, or only at last. how(c, ny): block and grid, if not a pair a
--- thread; kernel(k): of an iteration.
function relax.halves(kernel, how, more, is_last)
  return function(t, r)
    local shape = how and how(t.c, t.ny) or t.pairs
    for k = 1, t.p.iterations do
      for colour = 0, 1 do
        t.add(type(kernel) == "string" and kernel or kernel(k), shape,
          with(with(r, more), { colour = colour, by_border = k == 1 and 1 or 0 }))
      end
      if not is_last or k == t.p.iterations then t.bound(r.x, r.wall) end
    end
  end
end

--- Rows as they are: from the layout of the others and back, which is 3 % of its bytes.
function relax.rows(t, r)
  local c, cells = t.c, over(t.c.n + 2, t.ny + 2)
  t.add("reorder<false>", cells, { rows = c.rows, x = r.x })
  t.add("reorder<false>", cells, { rows = c.rows0, x = r.x0 })
  for _ = 1, t.p.iterations do
    for colour = 0, 1 do t.add("relax_rows", t.pairs, with(r, { x = c.rows, x0 = c.rows0, colour = colour })) end
    t.add("set_bnd<true>", { block = 256, grid = ceil_div(math.max(c.n, t.ny), 256) }, { x = c.rows, wall = r.wall })
  end
  t.add("reorder<true>", cells, { x = r.x, rows = c.rows })
end

--- Neighbours by a texture of ny + more rows: 2 is right, the source has 0.
function relax.texture(more)
  return function(t, r)
    local rows = r.x and r.x:view(1, step.pitch(t.c), 2 * (t.ny + more))
    local near = rows and t.c:keep(t.c.dev:texture(rows, { kind = "pitched" }))
    relax.halves("relax_texture", nil, { near = near })(t, r)
  end
end

--- As many blocks of pairs as the device holds at once.
function step.held(c, kernel, bytes)
  local most, want = c.gpu and c:resident(kernel, 256, bytes) or 16, over(c.n // 2, c.ny or c.n).grid
  local across = math.min(want[1], most)
  return { across, math.max(1, math.min(want[2], most // across)) }
end

--- All iterations in one launch. held: cells of each colour whose x0 a thread keeps in shared memory.
function relax.one_kernel(kernel, held)
  return function(t, r)
    local bytes = 2 * held * 4 * 256
    t.add(kernel, { block = BLOCK, grid = step.held(t.c, kernel, bytes), cooperative = true, shared = bytes }, r)
    t.bound(r.x, r.wall)
  end
end

-- ---- relaxations, what the report did not get to -------------------------------------------------------

-- Passes of so many iterations, from x to a spare field and back; add(args) adds one.
local function passes(t, r, i, iterations, add)
  local from, to, count = r.x, t.c.spare and t.c.spare[i], t.p.iterations // iterations
  for pass = 1, count do
    add(with(r, { x = from, y = to, by_border = pass == 1 and 1 or 0 }))
    from, to = to, from
  end
  if count % 2 == 1 then t.add("copy_inner", t.pairs, { to = r.x, from = from }) end
  t.bound(r.x, r.wall)
end

--- K iterations per pass, W pairs per lane; x0 in float or __half. All warps are there at once: those of a second wave
--- would be few, and take as long.
function relax.levels(K, W, real)
  local size = real == "float" and 4 or 2
  return function(t, r, i)
    local c, x0, name = t.c, r.x0, ("relax_levels<%d,%d,%s>"):format(K, W, real)
    local strips, bytes = ceil_div(c.n // 2 + 5, W * (32 - 2 * ceil_div(K, W))), (2 * K + 2) * 64 * W * size
    local most = c.gpu and c:resident(name, 32, bytes) or c.dev:properties().multiprocessors
    local rows = t.p.rows > 0 and t.p.rows or math.max(4 * K, ceil_div(t.ny, math.max(1, most // strips)))
    rows = rows + rows % 2
    if size == 2 then
      x0 = c.half and c.half[i]
      t.line("to_half", { to = x0, from = r.x0 })
    end
    passes(t, r, i, K, function(args)
      t.add(name, { block = 32, grid = { strips, ceil_div(t.ny, rows) }, shared = bytes },
        with(args, { x0 = x0, rows = rows }))
    end)
  end
end

-- The warps of a block that keeps rows in registers, pairs per lane and rows per warp; nil if a block has not as many.
local function band_of(c, own, count)
  local W, rows = c.n // 64, own and own + 4 * count or c.ny or c.n
  local R = W == 8 and 2 or 4
  local warps = ceil_div(rows, R)
  local is_there = c.n % 64 == 0 and (W == 1 or W == 2 or W == 4 or W == 8) and warps <= (W > 2 and 16 or 32)
  return is_there and warps or nil, W, R
end

--- Rows in a block's registers: all, or `own` a block for so many iterations per launch; and for which cases that is.
function relax.band(own, count)
  return function(t, r, i)
    local warps, W, R = band_of(t.c, own, count)
    local rows, halo = own or t.ny + t.ny % 2, own and 2 * count or 0
    local function add(args)
      t.add(("relax_band<%d,%d>"):format(W, R), { block = 32 * warps, grid = ceil_div(t.ny, rows),
        shared = 4 * (warps + 2) * 32 * W * 4 }, with(args, { own = rows, halo = halo, count = count }))
    end
    if own then return passes(t, r, i, count, add) end
    add(with(r, { y = r.x, by_border = 1 }))
    t.bound(r.x, r.wall)
  end, function(c) return band_of(c, own, count) ~= nil end
end

--- The lower rows on another device, which gets x and x0 of them, and after each half iteration the row next to them.
function relax.split(id, share)
  return function(t, r)
    local far, width = t.c.far or {}, 2 * step.pitch(t.c)
    local cut = math.max(2, math.floor(t.ny * (1 - share) / 2) * 2) -- even: red stays red
    local below, above = with(over(t.c.n // 2, t.ny - cut), { device = id }), over(t.c.n // 2, cut)
    local function copy(to, from, to_row, from_row, rows)
      local how = { to = to_row * width + 1, from = from_row * width + 1, count = rows * width }
      t.act(function() to:copy(from, how) end)
    end
    copy(far[1], r.x, 0, cut, t.ny - cut + 2)
    copy(far[2], r.x0, 0, cut, t.ny - cut + 2)
    for half = 1, 2 * t.p.iterations do
      local args = with(r, { colour = (half + 1) % 2 })
      t.add("relax", below, with(args, { x = far[1], x0 = far[2], ny = t.ny - cut }))
      t.add("relax", above, with(args, { ny = cut }))
      if half % 2 == 0 then
        t.add("set_bnd<false>", { block = 256, grid = ceil_div(math.max(t.c.n, t.ny), 256), device = id },
          { x = far[1], ny = t.ny - cut, wall = r.wall })
        t.bound(r.x, r.wall)
      end
      copy(r.x, far[1], cut + 1, 1, 1)
      copy(far[1], r.x, 0, cut, 1)
    end
    copy(r.x, far[1], cut + 1, 1, t.ny - cut + 1)
  end
end

return step
