-- SPDX-License-Identifier: MIT
--
-- Functions of numerical libraries: each row of the tables, with each of its element types, against plain loops.

local support = require "tests.support"
local mw = support.mw
local blas, fft = require "moonwarp.blas", require "moonwarp.fft"
local rand, sparse, solver = require "moonwarp.rand", require "moonwarp.sparse", require "moonwarp.solver"

support.warm()

local TYPES <const> = { "f32", "f64" }
local DIGITS <const> = { f32 = 2.0 ^ -23, f64 = 2.0 ^ -52, f16 = 2.0 ^ -10, bf16 = 2.0 ^ -7, i32 = 0 }

-- ---- plain loops ---------------------------------------------------------------------------------------------

local function sum(count, term)
  local s = 0.0
  for l = 1, count do s = s + term(l) end
  return s
end

-- Small integers that no element type rounds, other ones for each seed.
local function whole(dev, seed, t, ...)
  local a, values = dev:array(t, ...), {}
  for i = 1, #a do values[i] = (i * 7919 + seed * 104729) % 17 % 9 - 4 end
  a:reshape(#a):upload(values)
  return a
end

local function swapped(is_swapped, a)
  return is_swapped and function(i, j, ...) return a:get(j, i, ...) end or function(...) return a:get(...) end
end

local function check(got, wanted, tolerance)
  local ok, report = mw.check(got, wanted, tolerance)
  assert(ok, tostring(report))
end

-- Within so many roundings of numbers up to `size`.
local function near(t, size) return { absolute = 16 * DIGITS[t] * (size or 1) } end

-- The message of an error that has this status.
local function message_of(status, f, ...)
  local ok, problem = pcall(f, ...)
  assert(not ok, "no error")
  assert(problem.status == status, tostring(problem))
  return problem.text
end

-- ---- what a machine may lack ---------------------------------------------------------------------------------

-- A test of functions whose library may be absent: then it is pending, with the reason.
local function with_library(runs, name, probe, body)
  runs(name, function()
    local ok, problem = pcall(probe)
    if not ok and problem.status == "unsupported" then
      pending(problem.text)
      return
    end
    body()
  end)
end

support.each_device("moonwarp.blas", function(dev, _, runs)
  local is_gpu = dev:kind() == "gpu"
  local function probe() blas.axpy(dev:zeros("f32", 1), dev:zeros("f32", 1)) end
  local m, n, k = 5, 4, 3

  local function products(to, from, ...)
    for bits = 0, 3 do
      local ta, tb = bits & 1 == 1, bits & 2 == 2
      local A = ta and whole(dev, 1, from, k, m, ...) or whole(dev, 1, from, m, k, ...)
      local B = tb and whole(dev, 2, from, n, k) or whole(dev, 2, from, k, n)
      local C = whole(dev, 3, to, m, n, ...)
      local a, b, before = swapped(ta, A), swapped(tb, B), C:clone()
      blas.gemm(C, A, B, { ta = ta, tb = tb })
      local function product(i, j, ...)
        local s = 0
        for l = 1, k do s = s + a(i, l, ...) * b(l, j) end
        return s
      end
      check(C, product, { absolute = 64 * DIGITS[to] })
      if to ~= "i32" then
        blas.gemm(C:copy(before), A, B, { ta = ta, tb = tb, alpha = 2, beta = 3 })
        check(C, function(i, j, ...) return 2 * product(i, j, ...) + 3 * before:get(i, j, ...) end,
          { absolute = 512 * DIGITS[to] })
      end
    end
  end

  with_library(runs, "has gemm, of one and of several items", probe, function()
    for _, t in ipairs(TYPES) do
      products(t, t)
      products(t, t, 7)
    end
  end)

  with_library(runs, "has gemm of small types on CUDA devices, and says so on others", probe, function()
    local function mixed(to, from)
      local C, A = dev:array(to, 16, 16), whole(dev, 1, from, 16, 16)
      blas.gemm(C, A, A)
      check(C, function(i, j) return sum(16, function(l) return A:get(i, l) * A:get(l, j) end) end,
        { absolute = 1024 * DIGITS[to] })
    end
    for _, types in ipairs { { "f32", "f16" }, { "f16", "f16" }, { "f32", "bf16" }, { "bf16", "bf16" },
                             { "i32", "i8" } } do
      if is_gpu then
        mixed(types[1], types[2])
      else
        local text = message_of("unsupported", mixed, types[1], types[2])
        assert(text:find "cpu", text)
      end
    end
  end)

  with_library(runs, "has gemv, axpy, dot and nrm2", probe, function()
    for _, t in ipairs(TYPES) do
      local A, x, y, r = whole(dev, 1, t, m, k), whole(dev, 2, t, k), whole(dev, 3, t, m), dev:array(t, 1)
      local before = y:clone()
      blas.gemv(y, A, x, { alpha = 2, beta = -1 })
      check(y, function(i) return 2 * sum(k, function(l) return A:get(i, l) * x:get(l) end) - before:get(i) end)
      blas.gemv(x, A, before, { ta = true })
      check(x, function(j) return sum(m, function(l) return A:get(l, j) * before:get(l) end) end)
      blas.axpy(y:copy(before), before, { alpha = 3 })
      check(y, function(i) return 4 * before:get(i) end)
      blas.dot(r, before, y)
      check(r, { 4 * sum(m, function(l) return before:get(l) ^ 2 end) })
      blas.nrm2(r, before)
      check(r, { math.sqrt(sum(m, function(l) return before:get(l) ^ 2 end)) }, near(t, 8))
    end
  end)

  with_library(runs, "has trsm", probe, function()
    for _, t in ipairs(TYPES) do
      for bits = 0, 7 do
        local upper, ta, unit = bits & 1 == 1, bits & 2 == 2, bits & 4 == 4
        local A, X, B = whole(dev, 1, t, m, m), whole(dev, 2, t, m, n), dev:array(t, m, n)
        for i = 1, m do A:set(i, i, 0 / 0) end
        for i = 1, m do
          for j = 1, m do
            if (j > i) ~= upper then A:set(i, j, i == j and (unit and 0 / 0 or 4) or 0 / 0) end
          end
          if not unit then A:set(i, i, 4) end
        end
        if upper then for i = 1, m do for j = i + 1, m do A:set(i, j, (i * j) % 3 - 1) end end
        else for i = 1, m do for j = 1, i - 1 do A:set(i, j, (i * j) % 3 - 1) end end end
        local function a(i, j)
          if ta then i, j = j, i end
          if i == j then return unit and 1 or 4 end
          return (j > i) == upper and A:get(i, j) or 0
        end
        for j = 1, n do
          for i = 1, m do B:set(i, j, sum(m, function(l) return a(i, l) * X:get(l, j) end)) end
        end
        blas.trsm(B, A, { upper = upper, ta = ta, unit = unit, alpha = 2 })
        check(B, function(i, j) return 2 * X:get(i, j) end, near(t, 64))
      end
    end
  end)

  with_library(runs, "works in streams and graphs", probe, function()
    local A, B, s = whole(dev, 1, "f32", m, k), whole(dev, 2, "f32", k, n), dev:stream()
    local C, D = dev:array("f32", m, n), dev:zeros("f32", m, n)
    local function product(i, j) return sum(k, function(l) return A:get(i, l) * B:get(l, j) end) end
    dev:synchronize()
    blas.gemm(C, A, B, { stream = s })
    s:synchronize()
    check(C, product)
    local g <close> = dev:capture(function() blas.gemm(D, A, B, { beta = 1 }) end)
    g:launch()
    g:launch()
    check(D, function(i, j) return 2 * product(i, j) end)
  end)

  with_library(runs, "says what is wrong", probe, function()
    local A, B, C = dev:zeros("f32", m, k), dev:zeros("f32", k, n), dev:zeros("f32", m, n)
    local function fails(text, ...)
      local got = message_of("invalid", blas.gemm, ...)
      assert(got:find(text, 1, true), got)
    end
    fails("gemm: A is 3 x 4: side 1 must be 5, as of C", C, B, A)
    fails("unknown option 'alhpa'; did you mean 'alpha'?", C, A, B, { alhpa = 1 })
    fails("gemm: option 'alpha' is a number", C, A, B, { alpha = "x" })
    fails("arrays of ", C, A, dev:zeros("f64", k, n))
    fails("gemm: C is written, and shares memory with A", A, A, dev:zeros("f32", k, k))
    fails("gemm: C is 5 x 4, and A has 2 items: it is written for each", C, dev:zeros("f32", m, k, 2), B)
    fails("gemm takes 3 arrays and options, got 2", C, A)
  end)
end)

support.each_device("moonwarp.fft", function(dev, _, runs)
  local function probe() fft.plan(dev:zeros("f32", 2, 4), dev:zeros("f32", 2, 4)):close() end

  -- Element (re or im, kx, ky, kz) of the transform of z(x, y, z), which gives both parts.
  local function transform(z, nx, ny, nz, sign)
    return function(part, kx, ky, kz)
      local total = 0.0
      for c = 0, (nz or 1) - 1 do
        for b = 0, (ny or 1) - 1 do
          for a = 0, nx - 1 do
            local angle = sign * 2 * math.pi * (a * (kx - 1) / nx + b * ((ky or 1) - 1) / (ny or 1)
                                                 + c * ((kz or 1) - 1) / (nz or 1))
            local re, im = z(a + 1, b + 1, c + 1)
            total = total + (part == 1 and re * math.cos(angle) - im * math.sin(angle)
                                       or re * math.sin(angle) + im * math.cos(angle))
          end
        end
      end
      return total
    end
  end

  -- Elements of a complex or of a real array, whatever its dimensions.
  local function complex(x, ...)
    local d = select("#", ...)
    return function(...)
      local at = { ... }
      return x:get(1, table.unpack(at, 1, d)), x:get(2, table.unpack(at, 1, d))
    end
  end
  local function real(x, ...)
    local d = select("#", ...)
    return function(...) return x:get(table.unpack({ ... }, 1, d)), 0 end
  end

  local SHAPES <const> = { { 12 }, { 6, 5 }, { 4, 3, 5 } }

  with_library(runs, "transforms complex arrays of 1 to 3 dimensions, both ways and in place", probe, function()
    for _, t in ipairs(TYPES) do
      for _, shape in ipairs(SHAPES) do
        local x, X = dev:array(t, 2, table.unpack(shape)):random(1), dev:array(t, 2, table.unpack(shape))
        local nx, ny, nz = table.unpack(shape)
        for sign = -1, 1, 2 do
          local plan <close> = fft.plan(X, x, { inverse = sign == 1 })
          plan(X, x)
          check(X, transform(complex(x, table.unpack(shape)), nx, ny, nz, sign), near(t, 8))
        end
        local here, z <close> = x:clone(), fft.plan(x, x, { inverse = true })
        z(here, here)
        check(here, X, { exact = false, absolute = 64 * DIGITS[t] })
      end
    end
  end)

  with_library(runs, "transforms real arrays to complex ones and back", probe, function()
    for _, t in ipairs(TYPES) do
      for _, shape in ipairs(SHAPES) do
        local nx, ny, nz = table.unpack(shape)
        local x, y = dev:array(t, table.unpack(shape)):random(2), dev:array(t, table.unpack(shape))
        local X = dev:array(t, 2, nx // 2 + 1, table.unpack(shape, 2))
        local forward <close> = fft.plan(X, x)
        local back <close> = fft.plan(y, X)
        forward(X, x)
        check(X, transform(real(x, table.unpack(shape)), nx, ny, nz, -1), near(t, 8))
        back(y, X)
        check(y:reshape(#y), function(i) return #x * x:reshape(#x):get(i) end, near(t, 64))
      end
    end
  end)

  with_library(runs, "transforms batches, in a stream and in a graph that outlives its plan", probe, function()
    for _, t in ipairs(TYPES) do
      local x, X, s = dev:array(t, 2, 8, 5):random(3), dev:zeros(t, 2, 8, 5), dev:stream()
      local function wanted(part, k, item)
        return transform(function(a) return x:get(1, a, item), x:get(2, a, item) end, 8, 1, 1, -1)(part, k)
      end
      local plan = fft.plan(X, x, { dims = 1 })
      dev:synchronize()
      plan(X, x, { stream = s })
      s:synchronize()
      check(X, wanted, near(t, 8))
      local g <close> = dev:capture(function() plan(X, x) end)
      plan:close()
      X:fill(0)
      g:launch()
      check(X, wanted, near(t, 8))
    end
  end)

  with_library(runs, "says what is wrong", probe, function()
    local function fails(text, ...)
      local got = message_of("invalid", fft.plan, ...)
      assert(got:find(text, 1, true), got)
    end
    local x, X = dev:zeros("f32", 8), dev:zeros("f32", 2, 5)
    fails("got {2, 4} and {8}", dev:zeros("f32", 2, 4), x)
    fails("option 'dims' is 1 at most, got 2", X, x, { dims = 2 })
    fails("unknown option 'dim'; did you mean 'dims'?", X, x, { dim = 1 })
    local plan <close> = fft.plan(X, x)
    assert(not pcall(plan, dev:zeros("f32", 2, 4), dev:zeros("f32", 6)))
  end)
end)

support.each_device("moonwarp.rand", function(dev, _, runs)
  local KINDS = { "xorwow", "mrg32k3a", "sobol", "scrambled sobol" }
  if dev:kind() == "gpu" then KINDS[#KINDS + 1] = "mt19937" end -- the host takes seconds to begin with it

  -- Numbers of cuRAND's generator for the host, of CUDA 13, with this seed.
  local KNOWN <const> = {
    { "uniform", "f32", { [1] = 0.270975053, [2] = 0.978546619, [4] = 0.433449835, [5] = 0.923291624,
                          [262144] = 0.0897478461, [262145] = 0.142076358, [262146] = 0.233531132 } },
    { "normal", "f32", { [1] = -0.217170492, [2] = 1.60134125, [262145] = 1.96497858 } },
    { "uniform", "f64", { [1] = 0.97854648273366562, [2] = 0.43344982154094808, [3] = 0.23353118192692729,
                          [4] = 0.038360765418556653, [262145] = 0.25878775913299018 } },
    { "normal", "f64", { [1] = 0.08456940661399226, [2] = -0.19032076573811416, [3] = 0.40711471497024343,
                         [262145] = -0.22285966261251733 } },
  }

  runs("has Philox's numbers in cuRAND's order, whatever the pieces", function()
    for _, known in ipairs(KNOWN) do
      local name, t, values = table.unpack(known)
      local x = dev:array(t, 262148)
      local g <close> = rand.generator(dev, { seed = 0x123456789abc })
      for _, piece in ipairs { { 1, 2 }, { 3, 6 }, { 9, 262140 } } do
        rand[name](g, x:view(piece[1], piece[2]), name == "normal" and { mean = 1, deviation = 2 } or nil)
      end
      for i, value in pairs(values) do
        local wanted = name == "normal" and 1 + 2 * value or value
        assert(math.abs(x:get(i) - wanted) < 8 * DIGITS[t], ("%s %s %d: %.17g"):format(name, t, i, x:get(i)))
      end
      local later <close>, y = rand.generator(dev, { seed = 0x123456789abc, offset = 2 }), dev:array(t, 4)
      rand[name](later, y)
      if name == "uniform" then assert(y:get(1) == x:get(3) and y:get(2) == x:get(4)) end
    end
  end)

  runs("has log-normal numbers", function()
    for _, t in ipairs(TYPES) do
      local x, y = dev:array(t, 1000), dev:array(t, 1000)
      rand.normal(rand.generator(dev, { seed = 3 }), x, { mean = 0.5, deviation = 0.25 })
      rand.log_normal(rand.generator(dev, { seed = 3 }), y, { mean = 0.5, deviation = 0.25 })
      check(y, function(i) return math.exp(x:get(i)) end, { relative = 8 * DIGITS[t] })
    end
  end)

  for _, kind in ipairs(KINDS) do
    with_library(runs, "has kind " .. kind, function() rand.generator(dev, { kind = kind }):close() end, function()
      local n = 1 << 13
      local g <close>, counts = rand.generator(dev, { kind = kind }), dev:array("u32", n)
      for _, t in ipairs(TYPES) do
        local u, v = dev:array(t, n), dev:array(t, n)
        rand.uniform(g, u)
        rand.normal(g, v, { mean = 3, deviation = 2 })
        assert(dev:min(u) > 0 and dev:max(u) <= 1)
        assert(math.abs(dev:sum(u) / n - 0.5) < 0.02 and math.abs(dev:sum(v) / n - 3) < 0.12)
        assert(math.abs(dev:dot(v, v) / n - 13) < 0.9)
      end
      rand.poisson(g, counts, { mean = 4 })
      assert(math.abs(dev:sum(counts) / n - 4) < 0.12)
    end)
  end

  with_library(runs, "has Sobol's points of several dimensions",
    function() rand.generator(dev, { kind = "sobol" }):close() end,
    function()
      local g <close>, x = rand.generator(dev, { kind = "sobol", dimensions = 2 }), dev:array("f64", 4, 2)
      rand.uniform(g, x)
      local seen = {}
      for i = 1, 4 do -- a point in each quarter of the square
        seen[(x:get(i, 1) > 0.5 and 2 or 0) + (x:get(i, 2) > 0.5 and 1 or 0)] = true
      end
      assert(seen[0] and seen[1] and seen[2] and seen[3])
    end)

  runs("says what is wrong", function()
    local x = dev:zeros("f32", 4)
    local function fails(text, ...)
      local got = message_of("invalid", ...)
      assert(got:find(text, 1, true), got)
    end
    fails("there is no kind 'philx'; did you mean 'philox'?", rand.generator, dev, { kind = "philx" })
    fails("unknown option 'sead'; did you mean 'seed'?", rand.generator, dev, { sead = 1 })
    local g <close> = rand.generator(dev)
    fails("unknown option 'men'; did you mean 'mean'?", rand.normal, g, x, { men = 1 })
    fails("arrays of f32", rand.normal, g, dev:zeros("i32", 4))
    if dev:kind() == "cpu" then
      fails("an array expected, got", rand.normal, g, 5)
      local got = message_of("unsupported", rand.poisson, g, dev:zeros("u32", 4))
      assert(got:find("give the generator another kind", 1, true), got)
    else
      fails("normal takes 1 array and options, got 0", rand.normal, g, 5)
    end
  end)
end)

support.each_device("moonwarp.sparse", function(dev, _, runs)
  -- 4 x 5, the third row empty.
  local OFFSETS <const>, COLUMNS <const>, VALUES <const> = { 0, 2, 3, 3, 6 }, { 0, 4, 1, 0, 2, 4 }, { 1, 2, 3, 4, 5, 6 }
  local function dense(i, j)
    for e = OFFSETS[i] + 1, OFFSETS[i + 1] do if COLUMNS[e] == j - 1 then return VALUES[e] end end
    return 0
  end
  local function matrix(t) return dev:array("i32", OFFSETS), dev:array("i32", COLUMNS), dev:array(t, VALUES) end

  runs("has spmv and spmm", function()
    for _, t in ipairs(TYPES) do
      local offsets, columns, values = matrix(t)
      local x, y, B, C = whole(dev, 1, t, 5), whole(dev, 2, t, 4), whole(dev, 3, t, 5, 3), whole(dev, 4, t, 4, 3)
      local y0, C0 = y:clone(), C:clone()
      sparse.spmv(y, offsets, columns, values, x, { alpha = 2, beta = -1 })
      check(y, function(i) return 2 * sum(5, function(l) return dense(i, l) * x:get(l) end) - y0:get(i) end)
      sparse.spmv(y:fill(0 / 0), offsets, columns, values, x)
      check(y, function(i) return sum(5, function(l) return dense(i, l) * x:get(l) end) end)
      sparse.spmm(C, offsets, columns, values, B, { alpha = 2, beta = -1 })
      check(C, function(i, j) return 2 * sum(5, function(l) return dense(i, l) * B:get(l, j) end) - C0:get(i, j) end)
    end
  end)

  runs("has spsv", function()
    -- 4 x 4, both triangles
    local offsets, columns = dev:array("i32", { 0, 2, 5, 8, 10 }), dev:array("i32", { 0, 1, 0, 1, 3, 1, 2, 3, 0, 3 })
    local rows = { { 2, 3, 0, 0 }, { 1, 4, 0, -1 }, { 0, -2, 2, 1 }, { 5, 0, 0, 4 } }
    for _, t in ipairs(TYPES) do
      local values, x = dev:array(t, { 2, 3, 1, 4, -1, -2, 2, 1, 5, 4 }), dev:array(t, 4)
      for bits = 0, 3 do
        local upper, unit = bits & 1 == 1, bits & 2 == 2
        local known = { 3, -1, 2, 1 }
        local b = dev:array(t, 4)
        for i = 1, 4 do
          b:set(i, sum(4, function(j)
            return (i == j and (unit and 1 or rows[i][j]) or (j > i) == upper and rows[i][j] or 0) * known[j]
          end))
        end
        sparse.spsv(x, offsets, columns, values, b, { upper = upper, unit = unit, alpha = 2 })
        check(x, { 6, -2, 4, 2 }, near(t, 64))
      end
    end
  end)

  runs("has tridiagonal systems, one after the other and interleaved", function()
    local n, systems = 6, 3
    for _, t in ipairs(TYPES) do
      for _, is_interleaved in ipairs { false, true } do
        local shape = is_interleaved and { systems, n } or { n, systems }
        local function array() return dev:array(t, table.unpack(shape)) end
        local l, m, u, x, wanted = array(), array(), array(), array(), array()
        local function set(a, i, s, v) if is_interleaved then a:set(s, i, v) else a:set(i, s, v) end end
        local function solution(i, s) return i >= 1 and i <= n and i + s or 0 end
        for s = 1, systems do
          for i = 1, n do
            local low, up = i > 1 and 1 or 0, i < n and 2 or 0
            set(l, i, s, low) set(m, i, s, 4 + s) set(u, i, s, up) set(wanted, i, s, solution(i, s))
            set(x, i, s, low * solution(i - 1, s) + (4 + s) * solution(i, s) + up * solution(i + 1, s))
          end
        end
        sparse[is_interleaved and "tridiagonal_interleaved" or "tridiagonal"](x, l, m, u)
        check(x, wanted, near(t, 16))
      end
    end
    local a = dev:zeros("f32", 2, 3)
    local got = message_of("invalid", sparse.tridiagonal, a, a:clone(), a:clone(), a:clone())
    assert(got:find("3", 1, true), got)
  end)
end)

support.each_device("moonwarp.solver", function(dev, _, runs)
  local function probe() solver.potrf(dev:full(1, "f32", 1, 1), dev:array("i32", 1)) end
  local n = 7

  -- A symmetric positive definite matrix.
  local function definite(t)
    local M, A = dev:array(t, n, n):random(1), dev:array(t, n, n)
    for i = 1, n do
      for j = 1, n do
        A:set(i, j, sum(n, function(l) return M:get(i, l) * M:get(j, l) end) + (i == j and 1 or 0))
      end
    end
    return A
  end

  with_library(runs, "has potrf", probe, function()
    for _, t in ipairs(TYPES) do
      local A, info = definite(t), dev:array("i32", 1)
      local L = A:clone()
      for i = 1, n do for j = i + 1, n do L:set(i, j, 0 / 0) end end
      solver.potrf(L, info)
      assert(info:get(1) == 0)
      check(A, function(i, j)
        return sum(math.min(i, j), function(l) return L:get(i, l) * L:get(j, l) end)
      end, near(t, 8))
      solver.potrf(dev:zeros(t, n, n), info)
      assert(info:get(1) == 1)
    end
  end)

  with_library(runs, "has getrf and getrs", probe, function()
    for _, t in ipairs(TYPES) do
      local A, x = dev:array(t, n, n):random(2), dev:array(t, n, 2):random(3)
      local pivots, info = dev:array("i32", n), dev:array("i32", 1)
      for _, ta in ipairs { false, true } do
        local F, B, a = A:clone(), dev:array(t, n, 2), swapped(ta, A)
        for j = 1, 2 do for i = 1, n do B:set(i, j, sum(n, function(l) return a(i, l) * x:get(l, j) end)) end end
        solver.getrf(F, pivots, info)
        assert(info:get(1) == 0)
        solver.getrs(B, F, pivots, info, { ta = ta })
        check(B, x, near(t, 256))
      end
    end
  end)

  with_library(runs, "has geqrf and orgqr", probe, function()
    for _, t in ipairs(TYPES) do
      local A, tau, info = dev:array(t, n, 4):random(4), dev:array(t, 4), dev:array("i32", 1)
      local R = A:clone()
      solver.geqrf(R, tau, info)
      local Q = R:clone()
      solver.orgqr(Q, tau, info)
      assert(info:get(1) == 0)
      check(A, function(i, j) return sum(j, function(l) return Q:get(i, l) * R:get(l, j) end) end, near(t, 8))
      for i = 1, 4 do
        for j = 1, 4 do
          local product = sum(n, function(l) return Q:get(l, i) * Q:get(l, j) end)
          assert(math.abs(product - (i == j and 1 or 0)) < 32 * DIGITS[t])
        end
      end
    end
    message_of("invalid", solver.geqrf, dev:zeros("f32", 3, 4), dev:zeros("f32", 4), dev:array("i32", 1))
  end)

  with_library(runs, "has syevd", probe, function()
    for _, t in ipairs(TYPES) do
      local A, w, info = definite(t), dev:array(t, n), dev:array("i32", 1)
      local V, values = A:clone(), dev:array(t, n)
      solver.syevd(V, w, info, { vectors = true })
      assert(info:get(1) == 0)
      for k = 1, n do
        assert(k == 1 or w:get(k) >= w:get(k - 1))
        for i = 1, n do
          local product = sum(n, function(l) return A:get(i, l) * V:get(l, k) end)
          assert(math.abs(product - w:get(k) * V:get(i, k)) < 256 * DIGITS[t])
        end
      end
      solver.syevd(A, values, info)
      check(values, w, near(t, 32))
    end
  end)
end)
