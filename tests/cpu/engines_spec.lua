-- SPDX-License-Identifier: MIT
--
-- Every kernel that needs its threads to meet, through every engine that takes it, against results worked out in Lua;
-- and the ladders of kernels/ against their plain versions.

local support = require "tests.support"
local mw = support.mw
local fails_with = support.fails_with

local BLOCKS, BLOCK = 3, 64
local COUNT = BLOCKS * BLOCK

support.warm()

-- ---- what the kernels of barriers.cu and warps.cu should give: f(in, block, thread), all from 0 -------------------

local input = {}
for i = 0, COUNT - 1 do input[i] = (i * 7919 + 13) % 101 end

local function sum_of(block, first, last, of)
  local sum = 0
  for i = first, last do sum = sum + (of and of(input[block * BLOCK + i]) or input[block * BLOCK + i]) end
  return sum
end

local function count_of(block, first, last, test)
  return sum_of(block, first, last, function(value) return test(value) and 1 or 0 end)
end

local function odd(value) return value % 2 == 1 end

local function five(value) return value == 5 end

local function anywhere(block, first, last, test) return count_of(block, first, last, test) > 0 and 1 or 0 end

local function warp_of(thread) return thread // 32 * 32 end

local expected = {
  rotate = function(b, t) return input[b * BLOCK + (t + 1) % BLOCK] end,
  prefix = function(b, t) return sum_of(b, 0, t) end,
  carried = function(b, t)
    local mine, part, last = {}, {}, {}
    for i = 0, BLOCK - 1 do mine[i], last[i] = { [0] = input[b * BLOCK + i], 0, 0 }, 0 end
    for round = 0, 2 do
      for i = 0, BLOCK - 1 do part[i] = mine[i][round % 3] + round end
      for i = 0, BLOCK - 1 do
        last[i] = last[i] + part[BLOCK - 1 - i]
        mine[i][(round + 1) % 3] = last[i]
      end
    end
    return last[t]
  end,
  early = function(b, t) return t < 32 and input[b * BLOCK + t + 32] or -1 end,
  uniform_if = function(b, t) return input[b * BLOCK + (b % 2 == 0 and BLOCK - 1 - t or t)] end,
  helpers = function(b) return sum_of(b, 0, BLOCK - 1) end,
  until_done = function(b, t) return input[b * BLOCK + (t + 4) % BLOCK] end,
  do_loop = function(b) return 3 * input[b * BLOCK] + 3 end,
  counting = function(b)
    return count_of(b, 0, BLOCK - 1, odd) * 100 + 10 + anywhere(b, 0, BLOCK - 1, five)
  end,
  dynamic = function(b, t) return input[b * BLOCK + (t ~ 1)] end,
  jumps = function(b, t)
    local sum = 0
    for _, k in ipairs { 0, 1, 3, 4 } do sum = sum + input[b * BLOCK + (t + k) % BLOCK] * k end
    return sum
  end,
  bins = function(b, t)
    return count_of(b, 0, BLOCK - 1, function(value) return value % 8 == t % 8 end)
  end,
  down_sum = function(b, t) return sum_of(b, warp_of(t), warp_of(t) + 31) end,
  up_scan = function(b, t) return sum_of(b, warp_of(t), t) end,
  butterfly = function(b, t) return sum_of(b, t // 8 * 8, t // 8 * 8 + 7) end,
  votes = function(b, t)
    local first = warp_of(t)
    return count_of(b, first, first + 31, odd) * 100 + 10 + anywhere(b, first, first + 31, five)
  end,
  same = function(b, t)
    local mine = input[b * BLOCK + t] % 4
    return count_of(b, warp_of(t), warp_of(t) + 31, function(value) return value % 4 == mine end)
  end,
  masked = function(b, t)
    return input[b * BLOCK + (t % 32 < 16 and warp_of(t) + 15 or t)]
  end,
  block_sum = function(b) return sum_of(b, 0, BLOCK - 1) end,
  tiles = function(b, t) return sum_of(b, t // 16 * 16, t // 16 * 16 + 15) end,
}

-- Kernels simple enough that the splitter must take them.
local SPLIT = { rotate = true, prefix = true, dynamic = true, bins = true, down_sum = true,
                up_scan = true }

local function results(dev, kernel)
  local values = {}
  for i = 0, COUNT - 1 do values[i + 1] = input[i] end
  local data <close> = dev:array("i32", values)
  local out <close> = dev:array("i32", COUNT)
  kernel:prepare { grid = BLOCKS, block = BLOCK, shared = 4 * BLOCK }(out, data, COUNT)
  return out:totable()
end

local function check_kernel(dev, kernel)
  local fn = expected[kernel:name()]
  assert.is_function(fn, "no expected results of " .. kernel:name())
  local got = results(dev, kernel)
  for i = 0, COUNT - 1 do
    local wanted = fn(i // BLOCK, i % BLOCK)
    if got[i + 1] ~= wanted then
      error(("%s by %s: element %d is %d, expected %d"):format(kernel:name(), kernel:engine(), i, got[i + 1], wanted))
    end
  end
end

local FILES = { "barriers.cu", "warps.cu" }

local function engines_of(id)
  return id == "cpu" and { "auto", "fiber" } or { "auto" }
end

support.each_device("threads that meet", function(dev, id)
  for _, file in ipairs(FILES) do
    for _, engine in ipairs(engines_of(id)) do
      it(("are right: %s by engine %s"):format(file, engine), function()
        local m <close> = dev:module { file = support.kernel_file(file), engine = engine }
        assert.is_true(#m:kernels() >= 8)
        for _, name in ipairs(m:kernels()) do check_kernel(dev, m[name]) end
      end)
    end
  end

  if id ~= "cpu" then return end

  describe("have an engine that", function()
    it("is the fastest that takes the kernel, with a reason where that is not a loop", function()
      for _, file in ipairs(FILES) do
        local m <close> = dev:module(support.kernel_file(file))
        for _, name in ipairs(m:kernels()) do
          local engine, why = m[name]:engine()
          assert.is_true(engine == "split" or engine == "fiber", name .. " runs by " .. engine)
          assert.is_true(#why > 0, name)
          if SPLIT[name] then assert.are.equal("split", engine, ("%s: %s"):format(name, why)) end
        end
      end
    end)

    it("can be forced", function()
      local source = "__global__ void k(int *x) { x[threadIdx.x] = threadIdx.x; }\n"
      for _, engine in ipairs { "loop", "split", "fiber" } do
        local m <close> = dev:module { source = source, engine = engine }
        local x <close> = dev:array("i32", 4)
        m.k:launch(1, 4, x)
        assert.are.same({ 0, 1, 2, 3 }, x:totable())
        assert.are.equal(engine, (m.k:engine()))
      end
    end)

    -- docs/studies/README.md: the one that does not hide a forgotten barrier
    it("runs, if it is that of fibers, each thread to its next barrier before a later one begins", function()
      local m <close> = dev:module { engine = "fiber", source = [[
        __global__ void next(int *out, const int *x) { __shared__ int s[64]; int t = threadIdx.x; s[t] = x[t];
          out[t] = s[(t + 1) % 64]; __syncthreads(); }]] }
      local x <close> = dev:array("i32", 64)
      local out <close> = dev:array("i32", 64)
      for _, first in ipairs { 1, 1001 } do -- what the launch before has left there is wrong too
        x:linspace(first, first + 63)
        m.next:launch(1, 64, out, x)
      end
      for t = 1, 63 do assert.are_not.equal(x:get(t + 1), out:get(t)) end
      assert.are.equal(x:get(1), out:get(64))
    end)

    it("is rejected if it cannot run the kernel", function()
      local source = "__global__ void k(int *x) {\n  __syncthreads();\n  x[threadIdx.x] = 1;\n}\n"
      fails_with(function() dev:module { source = source, engine = "loop" } end,
        "kernel 'k' cannot run with engine 'loop': ", "__syncthreads")
      source = "__global__ void k(int *x) {\n  if (x[threadIdx.x]) __syncthreads();\n  x[threadIdx.x] = 1;\n}\n"
      fails_with(function() dev:module { source = source, engine = "split" } end,
        "cannot run with engine 'split': line 2: barrier is under a condition that differs between threads")
    end)
  end)
end)

-- ---- the ladders of kernels/ -------------------------------------------------------------------------------------

support.each_device("the ladders of kernels/", function(dev, id)
  local function each_engine(options, body)
    for _, engine in ipairs(engines_of(id)) do
      options.engine = engine
      local m <close> = dev:module(options)
      body(m, engine)
    end
  end

  local function right(got, wanted, options)
    options.quiet = true
    local ok, report = mw.check(got, wanted, options)
    assert.is_true(ok, tostring(report))
  end

  it("sum in reduce.cu", function()
    local n = 10000
    local x <close> = dev:array("f32", n):random { seed = 1, min = 0, max = 1 }
    local total = 0.0
    for _, value in ipairs(x:totable()) do total = total + value end
    each_engine({ file = "reduce.cu" }, function(m, engine)
      for name, block in pairs { reduce_tree = 256, reduce_dynamic = 128, reduce_shuffle = 96 } do
        local sums <close> = dev:array("f32", 5)
        m[name]:prepare { grid = 5, block = block, shared = 4 * block }(sums, x, n)
        local sum = 0.0
        for _, value in ipairs(sums:totable()) do sum = sum + value end
        assert.is_true(math.abs(sum - total) < 1e-4 * total, ("%s by %s: %g, %g"):format(name, engine, sum, total))
      end
    end)
  end)

  it("add up along x in cumsum.cu", function()
    local nx, ny = 70, 5
    local A <close> = dev:array("f64", nx, ny):random(3)
    local values, sums = A:totable(), {}
    for y = 1, ny do
      sums[y] = {}
      local sum = 0.0
      for x = 1, nx do
        sum = sum + values[y][x]
        sums[y][x] = sum
      end
    end
    each_engine({ file = "cumsum.cu" }, function(m)
      local B <close> = dev:array("f64", nx, ny)
      m["cumsum_shared<double,32>"]:launch(ny, 32, B, A, nx)
      right(B, sums, { sum = nx })
      B:fill(0)
      m["cumsum_shuffle<double>"]:launch(3, { 32, 2 }, B, A, nx, ny)
      right(B, sums, { sum = nx })
    end)
  end)

  it("step alike with and without shared memory in stencil.cu", function()
    local nx, ny = 50, 37
    local T <close> = dev:array("f64", nx, ny):random(1)
    local Ci <close> = dev:array("f64", nx, ny):random(2)
    each_engine({ file = "stencil.cu" }, function(m)
      local one <close> = dev:zeros("f64", nx, ny)
      local two <close> = dev:zeros("f64", nx, ny)
      local grid, block = { 4, 5 }, { 16, 8 }
      m.diffusion:launch(grid, block, one, T, Ci, 1.0, 0.1, 1.0, 1.0, nx, ny)
      m.diffusion_shared:prepare { grid = grid, block = block, shared = 18 * 10 * 8 }(two, T, Ci, 1.0, 0.1, 1.0, 1.0,
        nx, ny)
      assert.are_not.equal(0.0, one:get(2, 2))
      right(two, one, { relative = 1e-12 })
    end)
  end)

  it("give the same potential with and without tiles in nbody.cu", function()
    local n = 600
    local body = {}
    for i = 1, 3 do body[i] = dev:array("f32", n):random { seed = i } end
    body[4] = dev:full(1, "f32", n)
    each_engine({ file = "nbody.cu" }, function(m)
      local one <close> = dev:zeros("f32", n)
      local two <close> = dev:zeros("f32", n)
      m["potential_direct<float>"]:launch(5, 128, one, body[1], body[2], body[3], body[4], n)
      m.potential_tiled:launch(3, 256, two, body[1], body[2], body[3], body[4], n)
      assert.is_true(one:get(1) < -100)
      right(two, one, { sum = n })
    end)
    for i = 1, 4 do body[i]:close() end
  end)

end)
