-- SPDX-License-Identifier: MIT
--
-- How functions of libraries are called (core/bind/native*.c): by a table of a small library of our own, in
-- tests/mock/library.c, on the CPU device and on the CUDA device over the fake driver.

local fake = require "tests.support.fake"
local support = require "tests.support"

local TOY = [[
  local library = require "moonwarp.library"
  local side = { library = os.getenv "MOONWARP_LIBCUDA", explain = "mock_library_explain",
                 open = "mock_library_create(&self)", close = "mock_library_destroy(self)",
                 follow = "mock_library_stream(self, queue)" }
  local function both(row, calls) row.cuda, row.cpu = calls, calls return row end
  local F32 = { ["f32 f32"] = { real = "f32" } }
  local toy = library.new { name = "moonwarp.toy", cuda = side, cpu = side, functions = {
    scale = both({ arrays = { { "y", "n batch?", writes = true, reads = "beta" }, { "x", "n batch?" } },
                   options = { { "alpha", 1 }, { "beta", 0 } }, types = F32 },
                 "mock_library_scale(self, n, &alpha, x, &beta, y)"),
    sum = both({ arrays = { { "r", "1", writes = true }, { "x", "n" } }, types = F32,
                 limits = { { "n", least = 2 }, { "x.count", multiple = 2 } } },
               { size = { "mock_library_vector(&vector, n, x)", "mock_library_room(self, vector, &size)" }, unit = 1,
                 one = "mock_library_sum(self, vector, work, r)", close = "mock_library_forget(vector)" }),
    any_sum = both({ arrays = { { "r", "1", writes = true }, { "x", "n" } }, types = F32 },
               { size = { "mock_library_vector(&vector, n, x)", "mock_library_room(self, vector, &size)" }, unit = 1,
                 one = "mock_library_sum(self, vector, work, r)", close = "mock_library_forget(vector)" }),
    dot = { arrays = { { "r", "1", writes = true }, { "x", "n" }, { "y", "n" } },
            types = { ["f32 f32 f32"] = { letter = "f" }, ["f64 f64 f64"] = {} },
            cpu = "mock_library_dot?(n, x, y) => r" },
    adder = both({ makes = "adder", arrays = { { "x", "n", keeps = true } }, types = { f32 = {} },
                   options = { { "way", "up", values = { up = 1, down = -1 } } },
                   words = { "first", of = function(options, x) return options.way == "up" and 100 or #x end },
                   call = both({ arrays = { { "y", "n", writes = true } }, types = { f32 = {} } },
                               "mock_library_add(vector, way, first, y)") },
                 { one = "mock_library_vector(&vector, n, x)", close = "mock_library_forget(vector)" }),
    add = both({ object = "adder", arrays = { { "y", "n", writes = true } }, types = { f32 = {} } },
               "mock_library_add(vector, way, first, y)"),
    absent = { arrays = { { "x", "n" } }, cuda = "mock_library_nothing(x)", cpu = "mock_library_nothing(x)" },
    ours = { arrays = { { "x", "n", writes = true } }, options = { { "value", 1 } },
             cuda = function(x, options) x:fill(options and options.value or 1) return x end,
             cpu = function(x, options) x:fill(options and options.value or 1) return x end },
  } }
  local dev = mw.device(os.getenv "TOY")
  local function array(...) return dev:array("f32", { ... }) end
  local function list(a) return table.concat(a:totable(), " ") end
  local function said(f, ...)
    local ok, problem = pcall(f, ...)
    assert(not ok)
    return problem.text
  end
]]

if not fake.is_possible() then
  pending("the fake driver needs a C compiler and its sources")
  return
end

local function on(id, code, env)
  local set = { TOY = id }
  for name, value in pairs(env or {}) do set[name] = value end
  return fake.run(TOY .. code, set)
end

local function gives(id, code, lines)
  assert.are.equal(table.concat(lines, "\n") .. "\n", on(id, code))
end

for _, id in ipairs { "cpu", "cuda:0" } do
  describe("a library's functions on " .. id, function()
    it("compute, for each item; what a call has made is ended after an error as well", function()
      gives(id, [[
        local x, y = dev:array("f32", { { 1, 2 }, { 3, 4 }, { 5, 6 } }), dev:zeros("f32", 2, 3)
        print(list(toy.scale(y, x, { alpha = 2 }):reshape(6)))
        toy.scale(y, array(1, 1), { beta = 10 })
        print(list(y:reshape(6)))
        local r = array(0)
        print(list(toy.sum(r, array(1, 2, 3, 4))))
        print(said(toy.any_sum, r, dev:zeros("f32", 13)))
      ]], { "2.0 4.0 6.0 8.0 10.0 12.0", "21.0 41.0 61.0 81.0 101.0 121.0", "10.0",
            "any_sum: mock_library_sum failed: the number is unlucky (7)" })
    end)

    it("say what is wrong", function()
      gives(id, [[
        local x, y, r = array(1, 2, 3), array(1, 2), array(0)
        print(said(function() dev:capture(function() toy.scale(x, y) end) end))
        print(said(toy.scale, x, y))
        print(said(toy.scale, x, x))
        print(said(toy.scale, x, dev:zeros("f32", 3, 2)))
        print(said(toy.scale, x, dev:zeros("f64", 3)))
        print(said(toy.scale, x))
        print(said(toy.scale, x, array(1, 2, 3), { alpha = "a" }))
        print((said(toy.scale, x, array(1, 2, 3), { beat = 1 }):gsub("^.-%((.*)%)$", "%1")))
        print(said(toy.sum, y, x))
        print(said(toy.sum, r, array(1)))
        print(said(toy.sum, r, x))
        print(said(toy.absent, r))
        print((said(toy.adder, x, { way = "left" }):gsub("^.-%((.*)%)$", "%1")))
      ]], { "a stream is being captured: you can call moonwarp.toy for the first time after the capture has ended",
            "scale: x is 2: side 1 must be 3, as of y", "scale: y is written, and shares memory with x",
            "scale: y is 3, and x has 2 items: it is written for each",
            "scale(y, x): arrays of f32 f32 expected, got f32 f64", "scale takes 2 arrays and options, got 1",
            "scale: option 'alpha' is a number, got string 'a'", "unknown option 'beat'; did you mean 'beta'?",
            "sum: r is 2: side 1 must be 1", "sum: n is 1, and must be at least 2",
            "sum: x.count is 3, and must be a multiple of 2",
            "moonwarp.toy: the library here has no function mock_library_nothing",
            "option 'way' is down or up, got 'left'" })
    end)

    it("make objects, which keep arrays, and which graphs keep", function()
      gives(id, [[
        local x, y = array(1, 2, 3), dev:zeros("f32", 3)
        local up, down = toy.adder(x), toy.adder(x, { way = "down" })
        x:close()
        print(up, list(up(y)), list(toy.add(down, y)))
        print(said(up, dev:zeros("f32", 4)))
        local graph = dev:capture(function() up(y) end)
        up:close()
        print((said(up, y):gsub("^.-%((.*)%)$", "%1")))
        up = nil
        collectgarbage()
        y:fill(0)
        graph:launch()
        dev:synchronize()
        print(list(y))
        graph:close()
        print(toy.add({ add = function(_, a) return "by a table of our own: " .. #a end }, y))
      ]], { "adder " .. id .. "\t101.0 102.0 103.0\t2.0 1.0 0.0", "adder: y is 4: side 1 must be 3, as of the object",
            "attempt to use a closed library object",
            id == "cpu" and "101.0 102.0 103.0" or "0.0 0.0 0.0", -- the fake driver's graphs have no calls
            "by a table of our own: 3" })
    end)

    it("are told the stream when it is another one", function()
      local told <const> = { cuda = "CDSSTSSTSSDSX", cpu = "CDSDSDSDSDSDSDSX" } -- the latter before each call
      local texts <const> = { C = "create\n", D = "follow the default stream\n", T = "follow a stream\n",
                              S = "scale 3\n", X = "closed\ndestroy\n" }
      assert.are.equal(told[id:match "%a+"]:gsub(".", texts), on(id, [[
        local x, y = array(1, 2, 3), dev:zeros("f32", 3)
        toy.scale(y, x)
        toy.scale(y, x)
        for _ = 1, 2 do
          local s <close> = dev:stream()
          toy.scale(y, x, { stream = s })
          toy.scale(y, x, { stream = s })
        end
        toy.scale(y, x)
        io.stdout:flush()
        dev:close()
        print "closed"
      ]], { MOCK_CUDA_TELL = 1 }))
    end)

    it("have workspaces in captures, which their graphs keep", function()
      gives(id, [[
        local x, r = array(1, 2, 3, 4), array(0)
        toy.sum(r, x)
        local graph = dev:capture(function() toy.sum(r, x) end)
        x:set(1, 11)
        graph:launch()
        graph:launch()
        dev:synchronize()
        print(list(r))
        print(toy.ours(x, { value = 5 }) == x, list(x))
      ]], { id == "cpu" and "20.0" or "10.0", "true\t5.0 5.0 5.0 5.0" })
    end)
  end)
end

describe("on the CPU device a library's functions", function()
  it("store reals that they return", function()
    gives("cpu", [[
      local r, d = array(0), dev:zeros("f64", 1)
      toy.dot(r, array(1, 2), array(3, 4))
      toy.dot(d, dev:array("f64", { 1, 2 }), dev:array("f64", { 3, 4.5 }))
      print(list(r), list(d))
    ]], { "11.0\t12.0" })
  end)

  it("are looked for, and why one does not load is said", function()
    support.with_folder(function(folder)
      support.write(folder .. "/libbroken.so", "no library")
      local found, why = support.core.shared(folder .. "/libbroken.so libnothing.so")
      assert.is_nil(found)
      assert(why:find("^" .. folder .. "/libbroken%.so: "), why)
      found, why = support.core.shared "libnothing.so.3"
      assert.is_nil(found)
      assert(why:find "^libnothing.so.3 not found: looked in the library path, %$CUDA_HOME", why)
    end)
  end)

  it("are part of what check mode sees", function()
    local _, output = support.child('local mw = require "moonwarp"' .. TOY .. [[
      local x, y, z, r = dev:empty("f32", 4), dev:empty("f32", 4), dev:zeros("f32", 4), array(0)
      x:view(1, 3):fill(1)
      toy.scale(y, z)
      print(#dev:findings())
      toy.sum(r, x)
      local adder = toy.adder(x)
      local s, q = dev:stream(), dev:stream()
      adder(y, { stream = s })
      toy.scale(z, y, { stream = q })
      dev:synchronize()
      for _, one in ipairs(dev:findings()) do
        print(one.kind, one.object, one.parties[1].verb, one.parties[2] and one.parties[2].verb)
      end
    ]], { env = { TOY = "cpu:check", MOONWARP_LIBCUDA = fake.library() } })
    for _, line in ipairs { "0\n", "uninitialised\tsum: 'x', element 4\tread by a library\tnil\n",
                            "race between operations\telements 1 to 4 of an array<f32> of cpu:check\t"
                            .. "written by library call 'adder'\tread by library call 'scale'\n" } do
      assert(output:find(line, 1, true), output)
    end
    assert(not output:find("leak", 1, true), output)
  end)
end)
