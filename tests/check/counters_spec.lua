-- SPDX-License-Identifier: MIT
--
-- What warps ask of memory, counted by the CPU device in check mode: each figure against arithmetic written out here.
-- One form of access each, strides and conflicts: counters_kernels_spec.lua.
-- luacheck: std +busted

local support = require "tests.support"
local mw = support.mw
local fails = support.fails

local dev, kernels

-- What lanes 0 to 31 do, each told by f(lane, load, store): load(key, index) accesses one element of 4 bytes, in one
-- request with those of the same key. Returns requests, sectors and lanes of loads and of stores.
local function asked(f)
  local result = {}
  local function noter()
    local by_key, counts = {}, { 0, 0, 0 }
    result[#result + 1] = counts
    return function(key, index)
      if not by_key[key] then by_key[key], counts[1] = {}, counts[1] + 1 end
      local sector = index * 4 // 32
      if not by_key[key][sector] then by_key[key][sector], counts[2] = true, counts[2] + 1 end
      counts[3] = counts[3] + 1
    end
  end
  local load, store = noter(), noter()
  for lane = 0, 31 do f(lane, load, store) end
  return result
end

describe("counters", function()
  setup(function()
    dev = mw.device("cpu", { check = { counters = true } })
    kernels = dev:module(support.kernel_file "counted.cu")
  end)

  local function ints(n) return dev:full(0, "i32", n) end
  local function floats(n) return dev:full(1, "f32", n) end

  describe("of global memory", function()
    it("count requests, sectors and bytes of a copy, in all and by line", function()
      local c = kernels.copy:profile(3, 64, floats(192), floats(192), 192)
      assert.are.equal("copy cpu cpu:check 3 3", ("%s %s %s %d %d"):format(c.kernel, c.source, c.device, c.blocks,
        c.blocks_run))
      assert.are.same({ 6, 24, 768 }, { c.load_requests, c.load_sectors, c.load_bytes })
      assert.are.same({ 6, 24, 768 }, { c.store_requests, c.store_sectors, c.store_bytes })
      assert.are.same({ 12, 384, 0 }, { c.requests, c.lanes, c.barriers })
      assert.are.equal(1, #c.lines)
      assert.are.equal("if (i < n) y[i] = x[i];", c.lines[1].text)
      assert.are.same({ 6, 24, 6, 24 }, { c.lines[1].load_requests, c.lines[1].load_sectors, c.lines[1].store_requests,
        c.lines[1].store_sectors })
    end)
  end)

  it("take members of a vector together, as far as its type is aligned", function()
    local function check(name, dtype, wanted)
      local x <close> = dev:full(1, dtype, 384)
      local y <close> = dev:full(0, dtype, 384)
      local c = kernels[name]:profile(1, 32, y, x)
      assert.are.same(wanted,
        { c.load_requests, c.load_sectors, c.load_bytes, c.store_requests, c.store_sectors }, name)
    end
    check("sum4", "f32", { 1, 16, 512, 1, 4 })
    check("cast4", "f32", { 1, 16, 512, 1, 4 })
    check("sum2", "f32", { 1, 8, 256, 1, 4 })
    check("sum3", "f32", { 2, 32, 384, 1, 4 }) -- 8 bytes and 4
    check("scale4", "f32", { 1, 16, 512, 1, 16 })
    check("sum_double2", "f64", { 1, 16, 512, 1, 8 })
    check("copy3", "f32", { 3, 36, 384, 3, 36 })
    check("copy_loose", "f32", { 4, 64, 512, 4, 64 })
    check("copy_auto", "f32", { 2, 16, 256, 2, 16 })
    check("reverse_loose", "f32", { 2, 16, 256, 2, 16 })
    local c = kernels.reverse_loose:profile(1, 32, floats(64), floats(64))
    assert.are.same({ 2, 4, 2, 2, 4, 2 }, { c.shared_store_requests, c.shared_store_wavefronts,
      c.shared_store_conflicts, c.shared_load_requests, c.shared_load_wavefronts, c.shared_load_conflicts })
  end)

  it("go by halves of a warp for 8 bytes, unless neighbours want the same", function()
    local function load(index)
      local list = {}
      for lane = 0, 31 do list[lane + 1] = index(lane) end
      local at <close> = dev:array("i32", list)
      local y <close> = dev:zeros("f64", 32)
      local c = kernels:kernel "banks_of<double>":profile(1, 32, y, at)
      return { c.shared_load_requests, c.shared_load_wavefronts, c.shared_load_conflicts }
    end
    for n = 1, 31 do
      local ways = mw.bank_conflict(function(lane) return 8 * n * lane end, 8)
      assert.are.same({ 1, 2 * ways, 2 * (ways - 1) }, load(function(lane) return n * lane end), "stride " .. n)
    end
    assert.are.same({ 1, 1, 0 }, load(function(lane) return lane // 2 end))
    assert.are.same({ 1, 1, 0 }, load(function(lane) return lane // 4 * 2 + lane % 2 end)) -- lanes i and i xor 2
    assert.are.same({ 1, 1, 0 }, load(function() return 5 end))
    assert.are.same({ 1, 2, 0 }, load(function(lane) return lane % 16 end)) -- no pairs, though as few words
  end)

  it("are of what ran: of a sample, and until a kernel failed", function()
    local x <close> = floats(1024)
    local y <close> = floats(1024)
    mw.device("cpu", { check = { counters = true, blocks = 4 } })
    local c = kernels.copy:profile(16, 64, y, x, 1024)
    mw.device("cpu", { check = { counters = true } })
    assert.are.same({ 16, 4, 8 }, { c.blocks, c.blocks_run, c.load_requests })
    local before = #dev:counters()
    assert.is_false(pcall(function() kernels.outside:launch(1, 32, y, 33) end))
    local all = dev:counters()
    assert.are.equal(before + 1, #all)
    assert.is_true(all[#all].store_requests >= 1 and all[#all].store_requests <= 33)
    mw.findings { expected = true }
    assert.are.equal(4, kernels.copy:profile(2, 64, y, x, 128).load_requests)
  end)

  describe("put the lanes of a warp together", function()
    local function check(name, f)
      local x <close> = ints(256)
      local y <close> = ints(256)
      local c, wanted = kernels[name]:profile(1, 32, y, x), asked(f)
      assert.are.same(wanted[1], { c.load_requests, c.load_sectors, c.load_bytes // 4 }, name .. ": loads")
      assert.are.same(wanted[2], { c.store_requests, c.store_sectors, c.store_bytes // 4 }, name .. ": stores")
      assert.are.equal(wanted[1][3] + wanted[2][3], c.lanes)
    end

    it("in and after loops of unequal length", function()
      check("nested", function(t, load, store)
        for k = 0, 2 do
          for i = 0, (t + k) % 3 do load(k .. " " .. i, 32 * i + t) end
        end
        store("all", t)
      end)
      check("while_loops", function(t, load, store)
        for i = 0, t % 3 do
          for j = 0, (t + i) % 2 do load(i .. " " .. j, 32 * j + t) end
        end
        for k = 0, t % 5 - 1 do load("second " .. k, 32 * k + t) end
        store("all", t)
      end)
      check("jumps", function(t, load, store)
        for i = 0, t % 3 do load(i, 32 * i + t) end
        store("all", t)
      end)
    end)

    it("in functions that are called, inlined or not", function()
      check("members", function(t, load, store)
        for k = 0, 1 do
          for i = 0, (t + k) % 2 do load(k .. " " .. i, 32 * i + t) end
        end
        load("once", t) store("all", t)
      end)
      check("recursion", function(t, load, store)
        for depth = 0, t % 3 do
          local n = t % 3 - depth
          load((n > 0 and "goes on " or "ends ") .. depth, 32 * n + t)
        end
        store("all", t)
      end)
    end)

    it("by warp of a block, of which the last may be short", function()
      local c = kernels.copy:profile(1, 33, floats(33), floats(33), 33)
      assert.are.same({ 2, 5, 66 }, { c.load_requests, c.load_sectors, c.lanes })
      c = kernels.rows:profile(1, { 8, 6 }, floats(8 * 6 * 4), 32)
      assert.are.same({ 2, 4 + 2, 48 }, { c.store_requests, c.store_sectors, c.lanes })
    end)
  end)

  describe("of threads with more accesses than are kept", function()
    it("stay those of whole warps", function()
      local x <close> = ints(256)
      local y <close> = ints(64)
      for _, n in ipairs { 10, 20000, 20000, 10 } do -- a short launch, and one after it, have no fibers
        local c = kernels.long_loop:profile(1, 64, y, x, n)
        assert.are.same({ 2 * n + 31 + 63, 2 }, { c.load_requests, c.store_requests })
        assert.are.equal(64 * n + 63 * 64 // 2 + 64, c.lanes)
        c = kernels.long_nest:profile(1, 64, y, x, n // 4) -- among 32 lanes some read in each of 5 rounds
        assert.are.same({ 2 * 5 * (n // 4), 2 }, { c.load_requests, c.store_requests })
      end
    end)
  end)

  it("are listed by launch", function()
    local before = #dev:counters()
    kernels.copy:launch(1, 32, floats(32), floats(32), 32)
    local go = kernels.copy:prepare { grid = 1, block = 32, stream = dev:stream() }
    local counted = go:profile(floats(32), floats(32), 16)
    local all = dev:counters()
    assert.are.equal(before + 2, #all)
    assert.are.same({ 32, 16 }, { all[before + 1].lanes // 2, counted.lanes // 2 })
    assert.are.equal(counted.launch, all[before + 2].launch)
    assert.are.same({ counted.launch }, { dev:counters(counted.launch)[1].launch })
  end)

  it("bring lanes together in order in a loop by goto", function()
    local c = kernels.jump:profile(1, 32, floats(32), floats(8 * 200), 200)
    local line = c.lines[1]
    assert.are.equal("s += x[8 * k];", line.text)
    assert.are.same({ 200, 200, 200 * 32 }, { line.load_requests, line.load_sectors, line.lanes })
  end)

  it("have the lines of texts apart that are alike but for one", function()
    local text = "__global__ void texts(float *y) {\n  y[%s] = 1;\n}"
    for _, index in ipairs { "threadIdx.x", "2 * threadIdx.x" } do
      dev:module { source = text:format(index) }.texts:launch(1, 32, floats(64))
    end
    local row = mw.counters()[#mw.counters()]
    assert.are.same({ "texts", 2, 12 }, { row.kernel, row.launches, row.store_sectors })
    assert.are.same({ "y[2 * threadIdx.x] = 1;", 8, "y[threadIdx.x] = 1;", 4 },
      { row.lines[1].text, row.lines[1].store_sectors, row.lines[2].text, row.lines[2].store_sectors })
  end)

  it("sum launches of one configuration after the first 1000, apart from those that were listed before", function()
    local y, x = floats(64), floats(64)
    local first = dev:counters()
    local function launch(times, block)
      for _ = 1, times do kernels.copy:launch(1, block, y, x, 64) end
    end
    launch(1000, 32)
    local before = #dev:counters()
    launch(5, 32)
    launch(3, 64)
    launch(2, 32)
    local all = dev:counters()
    assert.are.equal(before + 2, #all)
    local narrow, wide = all[before + 1], all[before + 2]
    assert.are.same({ 7, 7, 7 * 32 * 2, 7 }, { narrow.launches, narrow.load_requests, narrow.lanes, narrow.blocks_run })
    assert.are.same({ 3, 6, 24 }, { wide.launches, wide.load_requests, wide.lines[1].load_sectors })
    assert.are.equal(narrow.launch + 5, wide.launch)
    launch(1, 32)
    assert.are.same({ 1, 1 }, { dev:counters()[before + 3].launches, dev:counters()[before + 3].load_requests })
    assert.are.same({ 1, 1 }, { (kernels.copy:profile(1, 32, y, x, 32)).launches, dev:counters()[1].launches })
    assert.is_true(#first < before)
  end)

  it("need a device that counts, and a module that was compiled for it", function()
    local cpu <close> = mw.device "cpu"
    local plain = cpu:module { source = "__global__ void k(int *a) { a[threadIdx.x] = 1; }" }.k
    fails(function() plain:profile(1, 1, cpu:zeros("i32", 1)) end, "kernel 'k': cpu counts no accesses; "
      .. "mw.device(\"cpu\", { check = { counters = true } }) does, for modules that are compiled after it")
    mw.device("cpu", { check = true })
    local early = dev:module { source = "__global__ void k(int *a) { a[threadIdx.x] = 1; }" }.k
    mw.device("cpu", { check = { counters = true } })
    fails(function() early:profile(1, 1, ints(1)) end, "kernel 'k' was compiled before cpu:check began to count: call "
      .. "mw.device(\"cpu\", { check = { counters = true } }) before dev:module")
  end)
end)
