-- SPDX-License-Identifier: MIT
--
-- moonwarp.mesh: every way of a loop equals the sequential one, plans and sums, and what is said of mistakes.

local support = require "tests.support"
local mesh = require "moonwarp.mesh"

local KERNELS <const> = [[
__device__ void flow(const REAL w[1], const REAL u1[3], const REAL u2[3], REAL y1[3], REAL y2[3]) {
  for (int k = 0; k < 3; k++) {
    REAL f = w[0] * (u1[k] - u2[k]);
    y1[k] += f;
    y2[k] -= f;
  }
}
__device__ void sum2(const REAL u[3], const int sign[1], REAL total[2]) {
  total[0] += u[0];
  total[1] += sign[0] * u[1] * scale;
}
__device__ void both(const REAL w[1], const REAL u1[3], REAL y2[3], REAL total[1]) {
  y2[0] += u1[0];
  total[0] += w[0];
}
__device__ void copy(const REAL u[3], REAL y[3]) { for (int k = 0; k < 3; k++) y[k] = u[k]; }
__device__ void grow(REAL y[3], REAL once[1]) { y[2] *= 2; once[0] += 1; }
__device__ void one(REAL *y) { y[0] += 1; }
__device__ void blurred(const REAL u1[3], const REAL u2[3], REAL w[1]) { w[0] = u1[0] + u2[1]; }
]]
local WAYS <const> = {
  { by = "atomics" }, { by = "colours" }, { by = "owner" }, { by = "staged", part = 50 },
  { by = "staged", part = 130, threads = "atomics" }, { by = "staged", blocks = "atomics" },
  { by = "staged", blocks = "atomics", threads = "atomics" }, { by = "staged", blocks = "owner", part = 10 },
  { by = "staged", blocks = "owner", part = 33, threads = "atomics" },
  { by = "staged", blocks = "owner", threads = "owner", block = 32 },
}

-- A graph of n nodes with edges from each to some neighbours; node 0 has `hub` further ones, the last node none.
local function graph(dev, n, hub)
  local first, second = {}, {}
  for i = 0, n - 3 do
    for k = 1, i % 3 do first[#first + 1], second[#second + 1] = i, (i * 7 + k * 5) % (n - 1) end
  end
  for k = 1, hub do first[#first + 1], second[#second + 1] = k % 2 == 0 and 0 or k, k % 2 == 0 and k or 0 end
  local count = #first
  return dev:array("i32", table.move(second, 1, count, count + 1, first)), count
end

local function values(list, layout, n, dim, e, d) return list[(layout == "soa" and d * n + e or e * dim + d) + 1] end

support.each_device("moonwarp.mesh", function(dev, _, runs)
  local function new(layout, type)
    return mesh.new(dev, { kernels = KERNELS, layout = layout, type = type, constants = { scale = 0.5 } })
  end

  -- A mesh with nodes and edges, and its parts by name.
  local function parts(layout, type, n, hub)
    local m, array, count = new(layout, type), graph(dev, n, hub)
    local f = { m = m, n = n, count = count, layout = layout, nodes = m:set("nodes", n), edges = m:set("edges", count) }
    f.ends = m:map("ends", f.edges, f.nodes, 2, array)
    array:fill(1 << 30) -- the mesh has a copy
    f.w = m:dat("w", f.edges, 1, dev:array(type, count):random(1))
    f.u = m:dat("u", f.nodes, 3, dev:array(type, 3 * n):random(2))
    f.y = m:dat("y", f.nodes, 3, dev:zeros(type, 3 * n))
    f.arguments = { { f.w, "read" }, { f.u, f.ends, 1, "read" }, { f.u, f.ends, 2, "read" }, { f.y, f.ends, 1, "inc" },
                    { f.y, f.ends, 2, "inc" } }
    return f
  end

  local function expected(f)
    local ends, w, u, y = f.ends.array:totable(), f.w.array:totable(), f.u.array:totable(), {}
    for k = 1, 3 * f.n do y[k] = 0.0 end
    for e = 0, f.count - 1 do
      for d = 0, 2 do
        local a, b = ends[e + 1], ends[e + f.count + 1]
        local flow = w[e + 1] * (values(u, f.layout, f.n, 3, a, d) - values(u, f.layout, f.n, 3, b, d))
        for node, sign in pairs { [a] = 1, [b] = -1 } do
          local at = (f.layout == "soa" and d * f.n + node or node * 3 + d) + 1
          y[at] = y[at] + sign * flow
        end
      end
    end
    return y
  end

  for _, case in ipairs { { "aos", "f64", 101, 24 }, { "soa", "f32", 101, 24 }, { "aos", "f32", 4, 0 } } do
    runs(("is a sequential loop by all ways: %s, %s, %d nodes"):format(table.unpack(case)), function()
      local f, loops = parts(table.unpack(case)), {}
      local wanted = expected(f)
      for i, way in ipairs(WAYS) do
        way.name = "way_" .. i
        loops[i] = f.m:loop(f.edges, "flow", f.arguments, way)
      end
      for i, run in ipairs { f.m:compile(loops) } do
        f.y.array:fill(0)
        run()
        for k, value in ipairs(f.y.array:totable()) do
          assert.is_near(wanted[k], value, case[2] == "f64" and 1e-13 or 2e-5, ("way %d, %d"):format(i, k))
        end
      end
    end)
  end

  runs("colours as a sequential greedy choice does, with as many colours as are needed", function()
    local f = parts("aos", "f64", 101, 90) -- edges of node 0
    local loop = f.m:loop(f.edges, "flow", f.arguments, { by = "colours" })
    local ends, taken, colours = f.ends.array:totable(), {}, 0
    for e = 1, f.count do
      local a, b, c = ends[e], ends[e + f.count], 1
      while taken[a .. " " .. c] or taken[b .. " " .. c] do c = c + 1 end
      taken[a .. " " .. c], taken[b .. " " .. c], colours = true, true, math.max(colours, c)
    end
    assert.is_true(colours > 64)
    assert.are.equal(colours, #loop.launches)
  end)

  runs("sums over all elements, of any dimension, beside increments too", function()
    local f = parts("soa", "f64", 101, 6)
    local sign = f.m:dat("sign", f.nodes, 1, dev:full(-2, "i32", f.n))
    local total = f.m:global("total", 2, dev:array("f64", { 100, 0 }))
    f.m:par_loop(f.nodes, "sum2", { { f.u, "read" }, { sign, "read" }, { total, "inc" } }, { block = 64 })()
    local u, sums, weights = f.u.array:totable(), { 100, 0 }, 0
    for k = 1, f.n do sums[1], sums[2] = sums[1] + u[k], sums[2] - u[f.n + k] end
    assert.is_near(sums[1], total.array:get(1), 1e-12)
    assert.is_near(sums[2], total.array:get(2), 1e-12)
    for _, w in ipairs(f.w.array:totable()) do weights = weights + w end
    for i, way in ipairs { {}, { by = "staged", part = 40 } } do
      local one = f.m:global("one" .. i, 1, dev:zeros("f64", 1))
      f.m:par_loop(f.edges, "both", { { f.w, "read" }, { f.u, f.ends, 1, "read" }, { f.y, f.ends, 2, "inc" },
                                      { one, "inc" } }, way)()
      assert.is_near(weights, one.array:get(1), 1e-12)
    end
  end)

  runs("reads through a map, staged or not, and writes where no other element does", function()
    local f = parts("aos", "f64", 50, 8)
    local args = { { f.u, f.ends, 1, "read" }, { f.u, f.ends, 2, "read" }, { f.w, "write" } }
    local plain, staged = f.m:compile { f.m:loop(f.edges, "blurred", args),
                                        f.m:loop(f.edges, "blurred", args, { by = "staged", name = "blurred_staged" }) }
    plain()
    local wanted = f.w.array:totable()
    f.w.array:fill(0)
    staged()
    assert.are.same(wanted, f.w.array:totable())
    local count = f.m:dat("count", f.nodes, 1, dev:full(3, "f64", f.n))
    f.m:par_loop(f.nodes, "copy", { { f.u, "read" }, { f.y, "write" } })()
    f.m:par_loop(f.nodes, "grow", { { f.y, "rw" }, { count, "inc" } })()
    assert.are.equal(2 * f.u.array:get(3), f.y.array:get(3))
    assert.are.equal(4.0, count.array:get(f.n))
  end)

  runs("keeps a plan for loops of one pattern, and has no size in a kernel", function()
    local f, g = parts("aos", "f64", 60, 4), parts("aos", "f64", 80, 4)
    local how = { by = "staged" }
    local first, second = f.m:loop(f.edges, "flow", f.arguments, how), f.m:loop(f.edges, "flow", f.arguments, how)
    assert.are.equal(first.plan, second.plan)
    assert.are_not.equal(first.plan, f.m:loop(f.edges, "flow", f.arguments, { by = "staged", part = 64 }).plan)
    assert.are.equal(first.source, g.m:loop(g.edges, "flow", g.arguments, how).source)
  end)

  runs("says what is wrong with sets, maps and dats", function()
    local m = new "aos"
    local two, three = m:set("two", 2), m:set("three", 3)
    local function fails(text, ...)
      local method, arguments = ..., { select(2, ...) }
      support.fails(function() m[method](m, table.unpack(arguments)) end, text)
    end
    fails("set 'two': the mesh has a set of that name", "set", "two", 5)
    fails("set 'none': its size must be an integer from 1 to 1073741823, got 0", "set", "none", 0)
    fails("a dat's name is a word of letters and digits, got a b", "dat", "a b", two, 1, dev:zeros("f64", 2))
    fails("map 'm' from 'two' to 'three': 2 columns of 2 need 4 elements, the array has 3", "map", "m", two, three, 2,
      dev:zeros("i32", 3))
    fails("map 'l' from 'two' to 'three' leads to element 3: 'three' has 0 to 2", "map", "l", two, three, 1,
      dev:array("i32", { 0, 3 }))
    fails("map 'k' from 'two' to 'three': an array of i32 is wanted, got f64", "map", "k", two, three, 1,
      dev:zeros("f64", 2))
    fails("map 'n' from 'two' to 'three': 1 column of 2 needs 2 elements, the array has 3", "map", "n", two, three, 1,
      dev:zeros("i32", 3))
    local other = support.mw.device "cpu:0/2"
    local away = (": the mesh is on %s, the array on cpu:0/2"):format(dev:id())
    fails("map 'n' from 'two' to 'three'" .. away, "map", "n", two, three, 1, other:zeros("i32", 2))
    fails("dat 'p' on 'two'" .. away, "dat", "p", two, 1, other:zeros("f64", 2))
    fails("global 'p'" .. away, "global", "p", 1, other:zeros("f64", 1))
    fails("dat 'q' on 'three': dimension 4 of 3 needs 12 elements, the array has 9", "dat", "q", three, 4,
      dev:zeros("f64", 9))
    fails("dat 'r' on 'three': an array is wanted, got table", "dat", "r", three, 1, { 1, 2, 3 })
    fails("global 's': dimension 2 needs 2 elements, the array has 1", "global", "s", 2, dev:zeros("f64", 1))
    fails("dat 't': an array of f32, f64, i32 or u32 is wanted, got u8", "dat", "t", two, 1, dev:zeros("u8", 2))
    fails("global 'v': an array of f32, f64, i32 or u32 is wanted, got i64", "global", "v", 1, dev:zeros("i64", 1))
    local gone = dev:zeros("f64", 2)
    gone:close()
    fails("dat 'w' on 'two': an array is wanted, got closed array", "dat", "w", two, 1, gone)
    support.fails(function() mesh.new(dev, { layout = "rows" }) end,
      "mesh.new: option 'layout' is aos, soa, got rows")
    support.fails(function() mesh.new(dev, { constants = { far = -math.huge } }) end,
      "mesh.new: constant 'far' must be a finite number, got -inf")
    support.fails(function() mesh.new(dev, { constants = { far = 0 / 0 } }) end,
      "mesh.new: constant 'far' must be a finite number, got " .. tostring(0 / 0))
    support.fails(function() mesh.new(dev, { constants = { far = "1" } }) end,
      "mesh.new: constant 'far' must be a finite number, got 1")
    support.fails(function() mesh.new(dev, { constants = { ["so far"] = 1 } }) end,
      "mesh.new: a constant's name is a word of letters and digits, got so far")
  end)

  runs("says what is wrong with a loop", function()
    local f = parts("aos", "f64", 20, 2)
    local m, u, y, w, ends = f.m, f.u, f.y, f.w, f.ends
    local back = m:map("back", f.nodes, f.edges, 1, dev:zeros("i32", f.n))
    local other = m:map("other", f.edges, f.nodes, 2, ends.array)
    local total = m:global("total", 1, dev:zeros("f64", 1))
    local function fails(text, kernel, arguments, options)
      support.fails(function() m:par_loop(f.edges, kernel, arguments, options) end, "par_loop" .. text)
    end
    local function with(place, argument)
      local list = table.move(f.arguments, 1, 5, 1, {})
      list[place] = argument
      return list
    end
    fails(": the mesh's kernels have no function 'flw'", "flw", f.arguments)
    fails(" flow: the function takes 5 arguments, got 4", "flow", table.move(f.arguments, 1, 4, 1, {}))
    fails(" flow, argument 2 'u': map 'back' is from 'nodes', the loop is over 'edges'", "flow",
      with(2, { u, back, 1, "read" }))
    fails(" flow, argument 2 'w': map 'ends' leads to 'nodes', 'w' is on 'edges'", "flow",
      with(2, { w, ends, 1, "read" }))
    fails(" flow, argument 2 'u': 'u' is on 'nodes', the loop is over 'edges': give a map and its column", "flow",
      with(2, { u, "read" }))
    fails(" flow, argument 3 'u': the column of map 'ends' must be an integer from 1 to 2, got 3", "flow",
      with(3, { u, ends, 3, "read" }))
    fails(" flow, argument 4 'y': its access is read, write, inc, rw, got add", "flow", with(4, { y, ends, 1, "add" }))
    fails(" flow, argument 4 'y': elements may share it, so that it is 'read' or 'inc', got 'write'", "flow",
      with(4, { y, ends, 1, "write" }))
    fails(" flow, argument 4 'y': its access is 'read', the function's parameter is not const", "flow",
      with(4, { y, ends, 1, "read" }))
    fails(" flow, argument 2 'u': its access is 'inc', the function's parameter is const", "flow",
      with(2, { u, ends, 1, "inc" }))
    local flat = m:dat("flat", f.nodes, 1, dev:zeros("f64", f.n))
    fails(" flow, argument 2 'flat': the function takes 3 values, 'flat' has 1", "flow",
      with(2, { flat, ends, 1, "read" }))
    fails(" flow, argument 4 'u': its array is 'inc' here and 'read' by argument 2, so that the order of the elements "
      .. "counts", "flow", with(4, { u, ends, 1, "inc" }))
    local alias = m:dat("alias", f.nodes, 3, u.array)
    fails(" flow, argument 4 'alias': its array is 'inc' here and 'read' by argument 2, so that the order of the "
      .. "elements counts", "flow", with(4, { alias, ends, 1, "inc" }))
    local foreign = parts("aos", "f64", 20, 2)
    fails(" flow, argument 1: dat 'w' is of another mesh", "flow", with(1, { foreign.w, "read" }))
    fails(" flow, argument 2 'u': map 'ends' is of another mesh", "flow", with(2, { u, foreign.ends, 1, "read" }))
    fails(" flow, argument 2 'u': a map of the mesh is wanted, got string", "flow", with(2, { u, "ends", 1, "read" }))
    fails(" flow, argument 1: a dat of the mesh is wanted, got array", "flow", with(1, { w.array, "read" }))
    fails(" flow, argument 1: { dat, access } or { dat, map, column, access } is wanted, got string", "flow",
      with(1, "read"))
    fails(" flow: a list of arguments is wanted, got nil", "flow", nil)
    fails(": a function's name is a word of letters and digits, got nil", nil, f.arguments)
    fails(": a function's name is a word of letters and digits, got f.g", "f.g", f.arguments)
    support.fails(function() m:par_loop("edges", "flow", f.arguments) end,
      "par_loop: a set of the mesh is wanted, got string")
    fails(" flow, argument 5 'y': increments go through one map, 'ends' or 'other'", "flow",
      with(5, { y, other, 2, "inc" }))
    local sums = { { w, "read" }, { u, ends, 1, "read" }, { y, ends, 2, "inc" }, { total, "inc" } }
    fails(" both, argument 4 'total': an element that two targets own is computed twice, so that it is not a sum here: "
      .. "take another way", "both", sums, { by = "owner" })
    fails(" flow: option 'by' is atomics, colours, owner, staged, got magic", "flow", f.arguments, { by = "magic" })
    fails(" flow: option 'block' is in whole warps of 32, got 40", "flow", f.arguments, { block = 40 })
    fails(" flow: threads = \"owner\" goes with blocks = \"owner\"", "flow", f.arguments,
      { by = "staged", threads = "owner" })
    support.fails_as("invalid", function() m:par_loop(f.edges, "flow", f.arguments, { parts = 4 }) end,
      "par_loop flow: unknown option 'parts'; did you mean 'part'?")
    fails(" flow: option 'name' is a word of letters and digits, got a flow", "flow", f.arguments, { name = "a flow" })
    fails(" flow: option 'name': the mesh's kernels have a function 'sum2'", "flow", f.arguments, { name = "sum2" })
    local single = m:dat("single", f.edges, 1, dev:zeros("f32", f.count))
    fails(" flow, argument 1 'single': the function's parameter is of type 'REAL', 'single' is of f32: write float",
      "flow", with(1, { single, "read" }))
    local half = dev:zeros("f64", 3 * f.n + 3)
    local low, high = m:dat("low", f.nodes, 3, half:view(1, 3 * f.n)), m:dat("high", f.nodes, 3, half:view(4, 3 * f.n))
    local copied = { { low, ends, 1, "read" }, { low, ends, 2, "read" }, { w, "write" } }
    assert.is_function(m:par_loop(f.edges, "blurred", copied))
    fails(" flow, argument 4 'high': its array is 'inc' here and 'read' by argument 2, so that the order of the "
      .. "elements counts", "flow", { { w, "read" }, { low, ends, 1, "read" }, { u, ends, 2, "read" },
                                      { high, ends, 1, "inc" }, { y, ends, 2, "inc" } })
    fails(" flow, argument 5 'high': its array is argument 4's, too: both must have the same dat", "flow",
      { { w, "read" }, { u, ends, 1, "read" }, { u, ends, 2, "read" }, { low, ends, 1, "inc" },
        { high, ends, 2, "inc" } })
    single.array:close()
    fails(" flow, argument 1: the array of dat 'single' is closed", "flow", with(1, { single, "read" }))
    back.array:close()
    fails(" flow, argument 2 'u': the array of map 'back' is closed", "flow", with(2, { u, back, 1, "read" }))
    support.fails(function() m:join() end, "join: a list of loops is wanted, got nil")
    support.fails(function() m:compile {} end, "join: a list of loops is wanted, got none")
    support.fails(function() m:compile { "flow" } end, "join: a loop of the mesh is wanted, got string")
    support.fails(function() m:compile { foreign.m:loop(foreign.edges, "flow", foreign.arguments) } end,
      "join: loop 'flow_loop' is of another mesh")
    support.fails(function()
      m:join { m:loop(f.edges, "flow", f.arguments), m:loop(f.edges, "flow", f.arguments, { by = "owner" }) }
    end, "join: two loops are named 'flow_loop': give one of them another 'name'")
  end)

  runs("has tables of 32 bits by owner where differences do not fit into 16", function()
    local f = parts("aos", "f64", 20000, 4)
    local loop, wanted, worst = f.m:loop(f.edges, "flow", f.arguments, { by = "owner" }), expected(f), 0
    f.m:compile { loop }()
    for k, value in ipairs(f.y.array:totable()) do worst = math.max(worst, math.abs(value - wanted[k])) end
    assert.is_true(worst < 1e-12, worst)
    local near = parts("aos", "f64", 60, 4)
    assert.are.same({ false, true }, { loop.plan.is_near,
                                       near.m:loop(near.edges, "flow", near.arguments, { by = "owner" }).plan.is_near })
  end)

  -- A user's function was hidden by a variable of that name in the kernel, and comments were taken for parameters.
  runs("calls functions of any name, whose parameters have comments", function()
    local names, text, loops = { "e", "i", "k", "t", "first", "many", "dat_u", "v_a", "n_nodes", "place" }, {}, {}
    for _, name in ipairs(names) do
      text[#text + 1] = ("__device__ void %s(const REAL a[3], // in, three\n double *__restrict__ b /* out, too */) "
        .. "{ b[0] = 2 * a[0]; }"):format(name)
    end
    local m = mesh.new(dev, { kernels = table.concat(text, "\n") })
    local nodes = m:set("nodes", 2)
    local u, y = m:dat("u", nodes, 3, dev:full(4, "f64", 6)), m:dat("y", nodes, 1, dev:zeros("f64", 2))
    for i, name in ipairs(names) do loops[i] = m:loop(nodes, name, { { u, "read" }, { y, "write" } }) end
    for i, run in ipairs { m:compile(loops) } do
      y.array:fill(0)
      run()
      assert.are.equal(8.0, y.array:get(2), names[i])
    end
  end)

  runs("writes kernels without warnings, which no device runs in fibers", function()
    local f, loops = parts("aos", "f64", 60, 2), {}
    local sum = f.m:global("sum", 1, dev:zeros("f64", 1))
    for i, way in ipairs(WAYS) do
      way.name = "way_" .. i
      loops[i] = f.m:loop(f.edges, "one", { { f.y, f.ends, 2, "inc" } }, way)
    end
    loops[#loops + 1] = f.m:loop(f.edges, "one", { { sum, "inc" } })
    local module <close> = dev:module { source = f.m:join(loops)[1].source }
    assert.are.equal("", module:log())
    for _, loop in ipairs(loops) do assert.are_not.equal("fiber", (module:kernel(loop.name):engine()), loop.name) end
  end)

  -- The plan of a dat in two arguments was taken for one of two dats, which need twice the shared memory.
  runs("has a plan of its own where arguments share a dat", function()
    local f = parts("aos", "f64", 300, 2)
    local other = f.m:dat("other", f.nodes, 3, dev:full(2, "f64", 3 * f.n))
    local function sums(first, last)
      f.y.array:fill(0)
      f.m:par_loop(f.edges, "flow", { { f.w, "read" }, { first, f.ends, 1, "read" }, { last, f.ends, 2, "read" },
                                      { f.y, f.ends, 1, "inc" }, { f.y, f.ends, 2, "inc" } }, { by = "staged" })()
      return f.y.array:totable()
    end
    sums(f.u, f.u)
    local alone = parts("aos", "f64", 300, 2)
    local same = alone.m:dat("other", alone.nodes, 3, dev:full(2, "f64", 3 * alone.n))
    alone.m:par_loop(alone.edges, "flow", { { alone.w, "read" }, { alone.u, alone.ends, 1, "read" },
      { same, alone.ends, 2, "read" }, { alone.y, alone.ends, 1, "inc" }, { alone.y, alone.ends, 2, "inc" } },
      { by = "staged" })()
    assert.are.same(alone.y.array:totable(), sums(f.u, other))
  end)

  runs("refuses threads of too many colours", function()
    local f = parts("aos", "f64", 200, 180)
    support.fails(function() f.m:par_loop(f.edges, "flow", f.arguments, { by = "staged", part = 512 }) end,
      "elements of a mini-partition need more than 64 colours: take threads = \"atomics\"")
  end)
end)

describe("moonwarp.mesh for an architecture", function()
  local available, reason = support.has_nvrtc()
  if not available then
    pending("needs NVRTC: " .. tostring(reason):match "[^\n]*")
    return
  end

  for _, case in ipairs { { "aos", "f64" }, { "soa", "f32" } } do
    it(("compiles kernels of all ways without spills: %s, %s"):format(case[1], case[2]), function()
      local dev = support.mw.device "cpu"
      local m, array, count = mesh.new(dev, { kernels = KERNELS, layout = case[1], type = case[2],
                                              constants = { scale = 1 } }), graph(dev, 60, 4)
      local nodes, edges = m:set("nodes", 60), m:set("edges", count)
      local ends, loops = m:map("ends", edges, nodes, 2, array), {}
      local w = m:dat("w", edges, 1, dev:zeros(case[2], count))
      local u, y = m:dat("u", nodes, 3, dev:zeros(case[2], 180)), m:dat("y", nodes, 3, dev:zeros(case[2], 180))
      for i, way in ipairs(WAYS) do
        way.name = "way_" .. i
        loops[i] = m:loop(edges, "flow", { { w, "read" }, { u, ends, 1, "read" }, { u, ends, 2, "read" },
                                           { y, ends, 1, "inc" }, { y, ends, 2, "inc" } }, way)
      end
      local module <close> = support.mw.device("cuda:sm_90"):module { source = m:join(loops)[1].source }
      for _, loop in ipairs(loops) do
        assert.are.equal(0, module:kernel(loop.name):attributes().spill_loads, loop.name)
      end
    end)
  end
end)
