-- SPDX-License-Identifier: MIT
--
-- mw.grid on CPU devices: the same bits as one device without it, for divisions in one to three dimensions, with a
-- stencil that reads corners, too; what it refuses; and the ways of faces on the fake driver.

local fake = require "tests.support.fake"
local grids = require "tests.support.grids"
local support = require "tests.support"
local mw, fails = support.mw, support.fails

local TWO <const>, THREE <const> = "cpu:0/2 cpu:1/2", "cpu:0/3 cpu:1/3 cpu:2/3"
local APART <const> = "cpu:0/2 cpu" -- which do not reach each other
local EIGHT <const> = "cpu:0/2 cpu:1/2 cpu:0/2 cpu:1/2 cpu:0/2 cpu:1/2 cpu:0/2 cpu:1/2"

-- Odd sizes, all dimensions, both types, halos of 1 and 2, periodic and not.
local CASES <const> = {
  { "1 x 1", [[{ 37, ids = TWO, type = "f64", halo = 1 }]] },
  { "1-D, three", [[{ 23, ids = THREE, type = "f32", halo = 2, periodic = true }]] },
  { "2-D", [[{ 11, 9, ids = TWO, type = "f64", halo = 1, periodic = { true, false } }]] },
  { "2-D along x", [[{ 13, 6, ids = THREE, type = "f32", halo = 1, dims = { 3, 1 }, periodic = true }]] },
  { "planes", [[{ 7, 6, 11, ids = THREE, type = "f64", halo = { 0, 0, 1 } }]] },
  { "planes, thin", [[{ 5, 4, 7, ids = THREE, type = "f64", halo = { 0, 0, 2 }, periodic = { false, false, true } }]] },
  { "3-D along y", [[{ 5, 9, 4, ids = TWO, type = "f32", halo = 2, dims = { 1, 2, 1 }, periodic = { true, true } }]] },
  { "packed", [[{ 9, 6, 5, ids = APART, type = "f64", halo = 1, dims = { 2, 1, 1 }, periodic = true }]] },
  { "3-D", [[{ 9, 7, 11, ids = EIGHT, type = "f64", halo = 2, periodic = true }]] },
  { "3-D, bounded", [[{ 7, 6, 5, ids = EIGHT, type = "f32", halo = 1 }]] },
}

local function script(cases, ids)
  local lines = { grids.PRELUDE }
  for _, case in ipairs(cases) do lines[#lines + 1] = "run " .. case[2] end
  local text = table.concat(lines, "\n"):gsub("ids = (%u+)", function(name)
    local list = { TWO = TWO, THREE = THREE, EIGHT = EIGHT, APART = APART }
    return ("ids = %q"):format(ids(list[name]))
  end)
  return text .. "\nprint(#mw.findings() .. ' findings')"
end

local function as_it_is(list) return list end
local function in_check_mode(list) return (list:gsub("cpu:", "cpu:check:")) end

local function count(text, what) return select(2, text:gsub(what, "")) end

describe("mw.grid", function()
  it("gives the same bits as one device", function()
    local output = support.child_passes(script(CASES, as_it_is))
    assert.are.equal(#CASES, count(output, "same bits"), output)
    assert.is_truthy(output:find("grid of 9 x 7 x 11 cells in 2 x 2 x 2 parts", 1, true), output)
  end)

  it("is in order by check mode", function()
    local output = support.child_passes(script(CASES, in_check_mode))
    assert.are.equal(#CASES, count(output, "same bits"), output)
    assert.is_truthy(output:find("\n0 findings", 1, true), output)
  end)

  it("sends faces by a communicator", function()
    local cases = {}
    for _, case in ipairs(CASES) do
      if case[2]:find "ids = T" then
        cases[#cases + 1] = { case[1], (case[2]:gsub("ids =", "via = 'comm', ids =")) }
      end
    end
    local output = support.child_passes(script(cases, in_check_mode))
    assert.are.equal(#cases, count(output, "same bits"), output)
    assert.is_truthy(output:find("\n0 findings", 1, true), output)
  end)
end)

local A <const>, B <const> = mw.device "cpu:0/2", mw.device "cpu:1/2"

local function grid_of(more, ...)
  local spec = { ... }
  for name, value in pairs(more) do spec[name] = value end
  return mw.grid(spec)
end

-- The fake driver computes nothing, so faces are whole planes; those of the other case are packed and only launched.
describe("mw.grid on the fake driver", function()
  if not fake.is_possible() or not support.has_nvrtc() then return pending "needs a C compiler and NVRTC" end

  local CODE <const> = [[
    local nccl = require "moonwarp.nccl"
    local devices = { mw.device "cuda:0", mw.device "cuda:1" }
    local function exchanged(o)
      local grid <close> = mw.grid(o)
      local A = grid:array "f32"
      for i, part in ipairs(grid.parts) do
        for z = 1, part.size[3] do A[i]:slice(z + 1):fill(10 * i + z) end
      end
      grid:exchange(A)
      for i, part in ipairs(grid.parts) do
        local planes = {}
        for z = 1, part.shape[3] do planes[z] = ("%g"):format(A[i]:slice(z):get(1)) end
        print(table.concat(planes, " "))
      end
    end
    exchanged { 4, 4, 5, halo = { 0, 0, 1 }, devices = devices, periodic = { false, false, true } }
    local comm <close> = WITH_COMM and nccl.communicator(devices) or nil
    if comm then
      exchanged { 4, 4, 5, halo = { 0, 0, 1 }, comm = comm, via = "comm", periodic = { false, false, true } }
    end
    local grid <close> = mw.grid { 8, 8, devices = devices, dims = { 2, 1 } }
    grid:exchange(grid:array "f64")
  ]]
  local PLANES <const> = "23 11 12 21\n12 21 22 23 11\n"

  it("copies faces between devices", function()
    assert.are.equal(PLANES, fake.run("local WITH_COMM = false\n" .. CODE, { MOCK_CUDA_DEVICES = 2 }))
  end)

  it("copies them through the host where devices do not reach each other", function()
    local output = fake.run("local WITH_COMM = false\n" .. CODE, { MOCK_CUDA_DEVICES = 2, MOCK_CUDA_PEERS = 0 })
    assert.is_truthy(output:find(PLANES, 1, true), output)
    assert.are.equal(1, count(output, "go through the host's"), output)
  end)

  it("sends them by NCCL", function()
    local folder = fake.library():match "^(.*)/"
    os.execute(("ln -sf libcuda.so '%s/libnccl.so.2'"):format(folder))
    local set = { MOCK_CUDA_DEVICES = 2, LD_LIBRARY_PATH = folder }
    assert.are.equal(PLANES:rep(2), fake.run("local WITH_COMM = true\n" .. CODE, set))
  end)
end)

describe("the division of mw.grid", function()
  local function dims_of(ranks, ...)
    local devices = {}
    for i = 1, ranks do devices[i] = A end
    local grid <close> = grid_of({ devices = devices, halo = select("#", ...) == 3 and { 1, 1, 1 } or 1 }, ...)
    return table.concat(grid.dims, " ")
  end

  it("is as even as it can be, and most along the last dimension", function()
    assert.are.equal("1 1 2", dims_of(2, 64, 64, 64))
    assert.are.equal("1 2 2", dims_of(4, 64, 64, 64))
    assert.are.equal("1 2 3", dims_of(6, 64, 64, 64))
    assert.are.equal("2 2 3", dims_of(12, 64, 64, 64))
    assert.are.equal("2 3 5", dims_of(30, 64, 64, 64))
    assert.are.equal("3 4 1", dims_of(12, 64, 64))
    assert.are.equal("7 1 1", dims_of(7, 64))
  end)

  it("takes what is given, and leaves dimensions without a halo whole", function()
    local devices = { A, B, A, B, A, B }
    local one <close> = grid_of({ devices = devices, dims = { 0, 3, 0 } }, 9, 9, 9)
    local other <close> = grid_of({ devices = devices, halo = { 0, 1, 0 } }, 9, 9, 9)
    assert.are.same({ 1, 3, 2 }, one.dims)
    assert.are.same({ 1, 6, 1 }, other.dims)
  end)

  it("knows neighbours, ranges and coordinates", function()
    local grid <close> = grid_of({ devices = { A, B, A, B, A, B }, periodic = { true, false } }, 7, 10)
    local part = grid.parts[4]
    assert.are.same({ 2, 3, 1 }, grid.dims)
    assert.are.same({ { 2, 2 }, { 1, 5 }, { false, false } }, part.neighbours)
    assert.are.same({ 1, 1, 0 }, part.coords)
    assert.are.same({ { 3, 3 }, { 6, 5 } }, { grid:local_range(4) })
    assert.are.equal("grid of 7 x 10 cells in 2 x 3 parts", tostring(grid))
  end)
end)

describe("mw.grid refuses", function()
  local two <const> = { A, B }

  it("what is no grid", function()
    for message, make in pairs {
      ["mw.grid: a table is wanted, as in mw.grid { 64, 64 }, got number"] = function() mw.grid(64) end,
      ["mw.grid: one to three sizes are wanted, as in mw.grid { 512, 512, 512 }, got 0"] = function() mw.grid {} end,
      ["mw.grid: size 2 must be a number of cells, got 0.5"] = function() mw.grid { 4, 0.5 } end,
      ["mw.grid: unknown option 'period'; did you mean 'periodic'?"] = function() mw.grid { 4, period = true } end,
      ["mw.grid: 'halo' has 2 values, the grid 1 dimension"] = function() mw.grid { 4, halo = { 1, 1 } } end,
      ["mw.grid: 'halo' of dimension 1 must be a number of cells, got -1"] = function() mw.grid { 4, halo = -1 } end,
      ["mw.grid: 'periodic' of dimension 2 must be true or false, got 1"] = function()
        mw.grid { 4, 4, periodic = { true, 1 } }
      end,
      ["mw.grid: dims 3 x 0 make 3 parts, there are 2 devices or ranks"] = function()
        mw.grid { 9, 9, devices = two, dims = { 3, 0 } }
      end,
      ["mw.grid: 1 cells along y are too few for 2 parts; 'dims' says how many there are along each side"] = function()
        mw.grid { 9, 1, devices = two }
      end,
      ["mw.grid: a halo of 3 is wider than a part, which has 2 cells along x"] = function()
        mw.grid { 5, halo = 3, devices = two }
      end,
      ["mw.grid: a list of devices is wanted, got none"] = function() mw.grid { 5, devices = {} } end,
      ["mw.grid: device 2 must be one that runs kernels, got 7"] = function() mw.grid { 5, devices = { A, 7 } } end,
      ["mw.grid: option 'comm' is a communicator of moonwarp.nccl, got table"] = function()
        mw.grid { 5, comm = {} }
      end,
      ["mw.grid: option 'via' is \"copies\", or with a communicator \"comm\", got 'comm'"] = function()
        mw.grid { 5, devices = two, via = "comm" }
      end,
    } do fails(make, message) end
  end)

  it("arrays of another grid or device", function()
    local grid <close> = mw.grid { 6, 6, devices = two }
    local other <close> = mw.grid { 6, 8, devices = two }
    local x, y = grid:array "f32", grid:array "f64"
    fails(function() grid:exchange(x[1]) end, "exchange: a list of arrays, one for each of 2 parts, is wanted, as "
      .. "grid:array makes it, got array")
    for name, call in pairs {
      exchange = function(...) grid:exchange(...) end,
      step = function(...) grid:step(print, ...) end,
      overlap = function(...) grid:overlap(print, ...) end,
    } do
      local wanted = name .. ": a list of arrays, one for each of 2 parts, is wanted, as grid:array makes it, got nil"
      fails(function() call() end, wanted)
      fails(function() call(x, nil) end, wanted)
    end
    fails(function() grid:exchange(x, { x[1] }) end, "exchange: a list of arrays, one for each of 2 parts, is wanted, "
      .. "as grid:array makes it, got a list of 1")
    fails(function() grid:exchange { x[2], x[1] } end, "exchange: an array of part 1, on cpu:0/2, is wanted, got "
      .. "array<f32>[8 x 5] cpu:1/2")
    fails(function() grid:exchange(other:array "f32") end, "exchange: part 1 has 8 x 5 cells of f32 with its halo, got "
      .. "array<f32>[8 x 6] cpu:0/2: an array of another grid?")
    fails(function() grid:gather { x[1], y[2] } end, "gather: part 2 has 8 x 5 cells of f32 with its halo, got "
      .. "array<f64>[8 x 5] cpu:1/2: an array of another grid?")
    fails(function() grid:array "float" end, 'array: an element type is wanted, as "f32", got float')
    fails(function() grid:local_range(3) end, "local_range: a part from 1 to 2 is wanted, got 3")
    fails(function() grid:overlap(x) end, "overlap: a function launch(part, boxes, stream) is wanted, got table")
    fails(function() grid:step(function() end, x) end,
      "step: the function must return one that launches what it was given, got nil")
  end)

  it("a closed grid", function()
    local grid = mw.grid { 6, devices = two }
    local x = grid:array "f32"
    local step = grid:overlap(function() return function() end end, x)
    grid:close()
    grid:close()
    fails(step, "overlap: the grid is closed")
    fails(function() grid:exchange(x) end, "exchange: the grid is closed")
    fails(function() grid.exchanges = grid.exchang end, "a grid has no 'exchang'; did you mean 'exchange'?")
  end)

  it("lists whose arrays were replaced by wrong ones", function()
    local grid <close> = mw.grid { 6, devices = two }
    local x = grid:array "f32"
    grid:exchange(x)
    x[2] = B:zeros("f32", 99)
    fails(function() grid:exchange(x) end, "exchange: part 2 has 5 cells of f32 with its halo, got array<f32>[99] "
      .. "cpu:1/2: an array of another grid?")
  end)
end)
