-- SPDX-License-Identifier: MIT
--
-- memcopy: what does a kernel need to reach main memory's rate?
--
-- The library's own copy; one thread and one warp in all; one element per thread in blocks of many shapes;
-- 16-byte accesses, one to four in flight a thread; the triad; copies between host and device; then the size.
-- T_tot = bytes moved / t: 2 arrays for a copy, 3 for the triad, 1 for a copy between host and device.
--
-- What others measured, f64: Tesla P100 PCIe 16 GB, CUDA.jl, 16384 x 16384 (S. Omlin and L. Raess, notebook
-- 1_memorycopy of github.com/omlins/julia-gpu-course-2023; the triad: ETH Zurich's lecture 10, "Solving PDEs
-- in parallel on GPUs", 2023); H200, CUDA C++, for this project. See docs/studies/memcopy.md.

local mw = require "moonwarp"
local study, p, gpu = mw.study {
  question = "how fast can main memory be read and written, and what does a kernel need to get there?",
  course = { week = 2.1, level = 1, hours = 3, about = "memory's rate, and what reaches it",
             without_gpu = "why a cache looks like fast memory" },
  kernels = "memcopy.cu", rate = "T_tot", output = "B", level = { "copy", "triad" },
  odd = { { nx = 67, ny = 33 } }, seconds = { 0.1, gpu = 0.2 },
  defines = function(type) return { REAL = type == "f64" and "double" or "float" } end,
  params = {
    -- at most as many rows as a grid has blocks along y: blocks of one row are among the rungs
    { "n", 4096, "points along each side of the square arrays", gpu = 16384, min = 256, max = 65535 },
    { "type", "f64", "of the elements", choices = { "f32", "f64" } },
    { "smallest", 64, "least side of the array-size sweep", gpu = 256, min = 1 },
    { "shapes", { "1x1", "32" }, "blocks of rungs 4 and 9: 32x4, or 32 for all that are 32 wide",
      kind = "blocks" },
    { "vector_block", 256, "threads per block of the 16-byte rungs", min = 1, max = 1024 },
  },
}

function study.arrays(c)
  c.n = c.nx * c.ny
  return { A = c.dev:array(c.type, c.nx, c.ny):random(3), B = c.dev:array(c.type, c.nx, c.ny) }
end

-- ---- what is right ----------------------------------------------------------------------------------
study:library(1, "A", "B")
study:answer("to host", { equal = "A", bytes = "A" })
study:answer("to device", { equal = "A", bytes = "A" })

-- B = A + 2 C; at the measured size, taking 2 C away again must give A.
study:answer("triad", {
  bytes = "A B C",
  tolerance = function(c) return { absolute = 4 * c.eps } end,
  cell = function(c, at, i, j) return at.A(i, j) + c.s * at.C(i, j) end,
  prove = function(c, _, check)
    study:launcher("triad", c:with { A = c.B, s = -2 })()
    check(c.B, c.A)
  end,
})

-- ---- the rungs --------------------------------------------------------------------------------------
-- What is slow copies a part.
local function first(count)
  return function(c) return c.n > count and { nx = count, ny = 1 } or nil end
end

local function some_rows(c, block) -- of blocks of less than a warp, which are as slow on a GPU
  return gpu and block[1] * block[2] < 32 and c.ny > 1024 and { nx = c.nx, ny = 1024 } or nil
end

study:rung { 2, "one thread in all", kernel = "memcopy_stride", answer = "copy", block = 1, over = { 1 },
             sides = first(1 << 14) }
study:rung { 3, "one warp in all", kernel = "memcopy_stride", answer = "copy", block = 32, over = { 32 },
             sides = first(1 << 16) }
study:rung { 4, "an element per thread", kernel = "memcopy", answer = "copy", blocks = p.shapes,
             over = { "nx", "ny" }, sides = some_rows,
             series = function(_, block) return ("%d wide"):format(block[1]) end }
for i, one in ipairs {
  { "16 bytes per thread", "vector1", 1 }, { "2 x 16 bytes per thread", "vector2", 2 },
  { "4 x 16 bytes per thread", "vector4", 4 }, { "4 x 16 bytes, streaming", "stream4", 4 } } do
  study:rung { 4 + i, one[1], kernel = "memcopy_" .. one[2], answer = "copy", block = p.vector_block,
               over = { "n" }, each = function(c) return c.vector * one[3] end }
end
study:rung { 9, "triad", file = "triad.cu", kernel = "triad", answer = "triad", always = true,
             blocks = p.shapes, over = { "nx", "ny" }, sides = some_rows }
for _, memory in ipairs { "pinned", "pageable" } do
  study:rung { 10, memory .. ", device to host", answer = "to host", output = memory,
               make = function(c) return function() c[memory]:copy(c.A) end end }
  study:rung { 10, memory .. ", host to device", answer = "to device",
               make = function(c) return function() c.B:copy(c[memory]) end end }
end

-- ---- what others measured ---------------------------------------------------------------------------
local function known(c) return gpu and c.type == "f64" and (c.nx == 16384 or c.ny == 1) end
study:source { "P100", field = "p100", when = known, values = {
  ["library copy"] = 522e9, triad = 561e9,
  ["an element per thread"] = { ["1 x 1"] = 9.5e9, ["32 x 1"] = 302e9, ["32 x 2"] = 545e9, ["32 x 4"] = 547e9,
                              ["32 x 8"] = 549e9, ["32 x 16"] = 543e9, ["32 x 32"] = 537e9 } } }
study:source { "H200", field = "h200", when = known, values = {
  ["library copy"] = 4270e9, ["16 bytes per thread"] = 4260e9, triad = 4333e9,
  ["an element per thread"] = { ["32 x 1"] = 851e9, ["32 x 2"] = 1701e9, ["32 x 4"] = 3358e9,
                              ["32 x 8"] = 3881e9, ["32 x 16"] = 3646e9, ["32 x 32"] = 3272e9 },
  ["pinned, host to device"] = 55.5e9, ["pageable, host to device"] = 9.5e9 } }

-- ---- parts ------------------------------------------------------------------------------------------
study:part { "ladder", cases = { { nx = p.n, ny = p.n } }, rungs = { "copy", "triad" },
  arrays = function(c) return { C = c.dev:array(c.type, c.nx, c.ny):random(4), s = 2 } end,
  table = { { "number", title = "no." }, "rung", "block", "bytes", "t", "T_tot",
            { "share", unit = "%", digits = 3 },
            { "of_peak", title = "of the peak", unit = "%", digits = 3 } },
  charts = { { kind = "ladder" },
             { x = "threads", logx = 2, xlabel = "threads per block", title = "an element per thread",
               of = function(r) return r.rung == "an element per thread" and r.share ~= nil end } },
  ratios = { "best copy / library copy", "an element per thread / library copy", "triad / library copy" } }

study:part { "host", cases = { { nx = math.min(p.n * p.n, 1 << 25), ny = 1 } },
  rungs = { "to host", "to device" },
  arrays = function(c)
    return { pinned = c.dev:pinned(c.type, c.nx, c.ny):copy(c.A),
             pageable = c.dev:pageable(c.type, c.nx, c.ny):copy(c.A) }
  end,
  table = { "rung", "bytes", "t", "T_tot" }, charts = { { kind = "ladder" } },
  ratios = { "pinned, device to host / pageable, device to host",
             "pinned, host to device / pageable, host to device" } }

local squares = mw.geometric(math.min(p.smallest, p.n), p.n)
for i, side in ipairs(squares) do squares[i] = { nx = side, ny = side } end

study:part { "sizes", cases = squares, rungs = { "library copy", "an element per thread" }, blocks = "best",
  charts = { { x = "bytes", logx = 2, by = "rung", xlabel = "bytes of the array" } } }
return study
