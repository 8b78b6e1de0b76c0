-- SPDX-License-Identifier: MIT
--
-- transpose: what does it cost to write along columns what was read along rows?
--
-- A copy by the same blocks; rows read and columns written, and the reverse; a tile in shared memory with bank
-- conflicts, padded, and swizzled; then 16 bytes in every access, with tiles of three sizes and two orders of blocks;
-- and a copy whose pieces change places as the elements do, which is what memory allows.
-- T_tot = 2 * bytes(A) / t, as of a copy: a share of 1 is a transposition that costs nothing.
-- The CPU device counts sectors and bank conflicts in check mode, on a small array. See docs/studies/transpose.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div
local study, p, gpu = mw.study {
  question = "what does it cost to write along columns what was read along rows?",
  course = { week = 3.2, level = 2, hours = 3, about = "shared memory, padding, bank conflicts",
             without_gpu = "sectors and bank conflicts by counters" },
  kernels = "transpose.cu", rate = "T_tot", output = "B", level = "library copy", seconds = { 0.03, gpu = 0.1 },
  -- What shared memory allows: without conflicts it moves 128 bytes per cycle, half of them written, half read.
  bound = function(c, _, r) return r.shared_efficiency and c:per_cycle(128 * r.shared_efficiency) end,
  counters = { "load_sectors_per_request", "store_sectors_per_request", "shared_load_conflicts_per_request",
               "shared_store_conflicts_per_request", "shared_efficiency", at = { nx = 128, ny = 128 } },
  odd = { { nx = 67, ny = 33 }, { nx = 132, ny = 268 }, { nx = 3, ny = 600 }, { nx = 384, ny = 33 } },
  params = {
    { "n", 2048, "columns and rows of the array", gpu = 16384, min = 32, max = 32768 },
    { "types", { "f32" }, "element types", gpu = { "f32", "f64" }, choices = { "f32", "f64" } },
    { "shapes", { "32x8", "8x32" }, "blocks of the rungs without a tile", kind = "blocks" },
  },
}

function study.arrays(c)
  return { A = c.dev:array(c.type, c.nx * c.ny):random(5), B = c.dev:array(c.type, c.nx * c.ny) }
end

study:library(1, "A", "B")
study:answer("transposed", { bytes = "A B", tolerance = function() return { absolute = 0 } end,
  cell = function(c, at, i) return at.A((i - 1) % c.ny * c.nx + (i - 1) // c.ny + 1) end })

local function piece(c) return 32 * c.vector end -- elements of 512 bytes
study:answer("in pieces", { bytes = "A B", tolerance = function() return { absolute = 0 } end,
  cell = function(c, at, i)
    local n, k = (i - 1) // piece(c), (i - 1) % piece(c)
    return at.A((n % c.ny * (c.nx // piece(c)) + n // c.ny) * piece(c) + k + 1)
  end })

-- ---- the rungs --------------------------------------------------------------------------------------
local function tile(number, name, kernel)
  study:rung { number, name, answer = "transposed", kernel = kernel, block = { 32, 8 }, over = { "nx", "ny" },
               each = { 1, 4 } }
end

study:rung { 2, "copy, in blocks", answer = "copy", kernel = "transpose_not<%s>", block = { 32, 8 },
             over = { "nx", "ny" }, each = { 1, 4 } }
study:rung { 3, "rows to columns", answer = "transposed", kernel = "transpose_read<%s>", blocks = p.shapes,
             over = { "nx", "ny" } }
study:rung { 4, "columns to rows", answer = "transposed", kernel = "transpose_write<%s>", blocks = p.shapes,
             over = { "ny", "nx" } }
tile(5, "a tile", "transpose_tile<%s,0>")
tile(6, "a tile, padded", "transpose_tile<%s,1>")
tile(7, "a tile, swizzled", "transpose_swizzled<%s>")

-- A tile's rows have `across` bytes in A and `down` bytes in B. A thread moves 16 bytes of as many rows as they have
-- elements.
local function tiled(across, down, order)
  local function columns(c) return across // 16 * c.vector end
  local function rows(c) return down // 16 * c.vector end
  return { block = across * down // 256,
    kernel = function(c) return ("transpose_wide<%%s,%d,%d,%s>"):format(columns(c), rows(c), order) end,
    grid = function(c) return ceil_div(c.nx, columns(c)) * ceil_div(c.ny, rows(c)) end }
end

local function wide(number, name, across, down, order)
  local shape = tiled(across, down, order)
  study:rung { number, name, answer = "transposed", block = shape.block, kernel = shape.kernel, grid = shape.grid,
    counters = false, -- the CPU device's compiler accesses 16 bytes in two parts; eight lanes are in all banks
    bound = function(c) return c:per_cycle(128) end,
    space = number == 8 and { { "across", { 128, 256, 512 } }, { "down", { 128, 256, 512 } },
                              { "order", { "ROWS_OF_A", "ROWS_OF_B" } } } or nil,
    variant = number == 8 and function(v) return tiled(v.across, v.down, v.order) end or nil }
end

wide(8, "16 bytes, tiles of 128 B", 128, 128, "ROWS_OF_A")
wide(9, "16 bytes, tiles of 256 B", 256, 256, "ROWS_OF_A")
wide(10, "16 bytes, along B's rows", 256, 256, "ROWS_OF_B")
wide(11, "16 bytes, 256 x 512 B", 256, 512, "ROWS_OF_B")
study:rung { 12, "copy, pieces of 512 B", answer = "in pieces", kernel = "transpose_pieces<%s>", block = 256,
             when = function(c) return c.nx % piece(c) == 0 end, counters = false,
             grid = function(c, block) return ceil_div(c.nx * c.ny, block * c.vector) end }

-- ---- parts ------------------------------------------------------------------------------------------
study:part { "ladder", cases = { { nx = p.n, ny = p.n, type = p.types } }, each = "type",
  charts = { { kind = "ladder", logx = not gpu } },
  table = { { "number", title = "no." }, "rung", "block", "t", "bound", "T_tot",
            { "share", title = "of the copy", unit = "%", digits = 3 } },
  ratios = { "a tile / rows to columns", "a tile, padded / a tile", "a tile, swizzled / a tile, padded",
             "best transposed / library copy", "best transposed / copy, pieces of 512 B" } }

-- Rows that begin on 128 bytes, on 16 and on 4; columns whose elements are a power of two apart, and are not.
study:part { "sides", rows = "all", rungs = { "library copy", "rows to columns", "a tile, swizzled",
                                              "16 bytes, along B's rows" },
  blocks = "best", table = { "rung", "nx", "t", "T_tot", { "share", unit = "%", digits = 3 } },
  counters = { "load_sectors_per_request", "store_sectors_per_request",
               at = function(sides) return { nx = 256 + sides.nx - p.n, ny = 256 + sides.ny - p.n } end },
  cases = { { nx = p.n, ny = p.n }, { nx = p.n + 32, ny = p.n + 32 }, { nx = p.n + 4, ny = p.n + 4 },
            { nx = p.n - 1, ny = p.n - 1 } } }
return study
