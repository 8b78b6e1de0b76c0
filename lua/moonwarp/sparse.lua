-- SPDX-License-Identifier: MIT
--
-- Sparse matrices and tridiagonal systems: cuSPARSE on CUDA devices, kernels of our own (kernels/moonwarp/sparse.cu) on
-- the CPU device. A matrix is three arrays (CSR): the place of each row's first element, counted from 0, and the end;
-- the columns, from 0; the values. Dense matrices are as in moonwarp.blas.

local integer = require "moonwarp.base.integer"
local lists = require "moonwarp.base.lists"
local library = require "moonwarp.library"
local own_kernels = require "moonwarp.own_kernels"

-- What there is no library for, by kernels of our own: how many threads, and arguments after the arrays.
local function by_kernel(name, arguments)
  return function(...)
    local given = { ... }
    local options = type(given[#given]) == "table" and table.remove(given) or {}
    local out, dev = given[1], given[1]:device()
    local instance = ("%s<%s>"):format(name, out:dtype() == "f32" and "float" or "double")
    local kernel = own_kernels.kernel(dev, "moonwarp/sparse.cu", instance)
    local threads, more = arguments(options, table.unpack(given))
    local go = kernel:prepare { grid = integer.ceil_div(threads, 64), block = 64, stream = options.stream }
    go(table.unpack(lists.append(given, more)))
    return out
  end
end

local function tridiagonal_by_kernel(is_interleaved)
  return by_kernel("tridiagonal", function(_, x)
    local n, systems = x:shape()
    if is_interleaved then n, systems = systems, n end
    local scratch = x:device():empty(x:dtype(), x:shape())
    return systems or 1, { scratch, systems or 1, n, is_interleaved }
  end)
end

local CSR <const> = { ["f32 i32 i32 f32 f32"] = { real = "f32" }, ["f64 i32 i32 f64 f64"] = { real = "f64" } }
local FOUR <const> = { ["f32 f32 f32 f32"] = { letter = "S" }, ["f64 f64 f64 f64"] = { letter = "D" } }
local ALPHA <const>, BETA <const> = { "alpha", 1 }, { "beta", 0 }

-- Calls that need descriptors of the matrix and of two dense arrays: what makes those, how much memory they need, and
-- what they do.
local function described(columns, from, to, size, one, close)
  local kind = from:match "cusparseCreateDn(%w+)"
  local create = "cusparseCreateCsr(&matrix, m, %s, values.count, offsets, columns, values, 2, 2, 0, values.type)"
  return { size = { create:format(columns), from, to, table.unpack(size) }, unit = 1, one = one,
           close = { "cusparseDestroySpMat(matrix)", ("cusparseDestroyDn%s(from)"):format(kind),
                     ("cusparseDestroyDn%s(to)"):format(kind), close } }
end

local SPMV = "(self, 0, &alpha, matrix, from, &beta, to, y.type, 0, "
local SPMM = "(self, 0, 0, &alpha, matrix, from, &beta, to, C.type, 0, "
local SPSV = "(self, 0, &alpha, matrix, from, to, x.type, 0, plan"

-- Systems of n unknowns, those of a system one after the other or those of a row.
local function tridiagonal(help, sides, is_interleaved)
  local function array(name, changes) return { name, sides, writes = changes, reads = true } end
  return {
    help = help, types = FOUR, cpu = tridiagonal_by_kernel(is_interleaved), limits = { { "n", least = 3 } },
    arrays = { array("x", true), array("lower", is_interleaved), array("middle", is_interleaved),
               array("upper", is_interleaved) },
  }
end

local contiguous = tridiagonal("solves systems of n unknowns in place, each of which lies together; the first of " ..
  "lower and the last of upper are 0 in each", "n batch?", false)
contiguous.cuda = {
  size = "cusparse?gtsv2StridedBatch_bufferSizeExt(self, n, lower, middle, upper, x, batch, n, &size)", unit = 1,
  one = "cusparse?gtsv2StridedBatch(self, n, lower, middle, upper, x, batch, n, work)" }

local interleaved = tridiagonal("the same of systems whose first unknowns lie together, then the second ones, ...; " ..
  "lower, middle and upper are lost", "s n", true)
interleaved.cuda = {
  size = "cusparse?gtsvInterleavedBatch_bufferSizeExt(self, 0, n, lower, middle, upper, x, s, &size)", unit = 1,
  one = "cusparse?gtsvInterleavedBatch(self, 0, n, lower, middle, upper, x, s, work)" }

return library.new {
  name = "moonwarp.sparse",
  cuda = { library = "libcusparse.so.12", open = "cusparseCreate(&self)", close = "cusparseDestroy(self)",
           follow = "cusparseSetStream(self, queue)", explain = "cusparseGetErrorString", flags = { 0, 1 } },
  cpu = { flags = { 0, 1 } },
  functions = {
    spmv = {
      help = "y = alpha * A * x + beta * y",
      arrays = { { "y", "m", writes = true, reads = "beta" }, { "offsets", "m+1" }, { "columns", "z" },
                 { "values", "z" }, { "x", "k" } },
      options = { ALPHA, BETA }, types = CSR,
      cuda = described("k", "cusparseCreateDnVec(&from, k, x, x.type)", "cusparseCreateDnVec(&to, m, y, y.type)",
        { "cusparseSpMV_bufferSize" .. SPMV .. "&size)" }, "cusparseSpMV" .. SPMV .. "work)"),
      cpu = by_kernel("spmv", function(o, y) return #y, { #y, o.alpha or 1, o.beta or 0 } end),
    },
    spmm = {
      help = "C = alpha * A * B + beta * C, B and C dense",
      arrays = { { "C", "m n", writes = true, reads = "beta" }, { "offsets", "m+1" }, { "columns", "z" },
                 { "values", "z" }, { "B", "k n" } },
      options = { ALPHA, BETA }, types = CSR,
      cuda = described("k", "cusparseCreateDnMat(&from, k, n, B.rows, B, B.type, 1)",
        "cusparseCreateDnMat(&to, m, n, C.rows, C, C.type, 1)",
        { "cusparseSpMM_bufferSize" .. SPMM .. "&size)" }, "cusparseSpMM" .. SPMM .. "work)"),
      cpu = by_kernel("spmm", function(o, C, _, _, _, B)
        local m, n = C:shape()
        return #C, { m, n, (B:shape()), o.alpha or 1, o.beta or 0 }
      end),
    },
    spsv = {
      help = "x = alpha * A^-1 * b, where A is a triangle; elements of the other one are left out",
      arrays = { { "x", "m", writes = true }, { "offsets", "m+1" }, { "columns", "z" }, { "values", "z" },
                 { "b", "m" } },
      options = { ALPHA, { "upper", false, help = "by the upper triangle" },
                  { "unit", false, help = "the diagonal is 1" } }, types = CSR,
      cuda = described("m", "cusparseCreateDnVec(&from, m, b, b.type)", "cusparseCreateDnVec(&to, m, x, x.type)",
        { "cusparseSpMatSetAttribute(matrix, 0, &upper, 4)", "cusparseSpMatSetAttribute(matrix, 1, &unit, 4)",
          "cusparseSpSV_createDescr(&plan)", "cusparseSpSV_bufferSize" .. SPSV .. ", &size)" },
        { "cusparseSpSV_analysis" .. SPSV .. ", work)", "cusparseSpSV_solve" .. SPSV .. ")" },
        "cusparseSpSV_destroyDescr(plan)"),
      cpu = by_kernel("spsv", function(o, x)
        return 1, { #x, o.alpha or 1, o.upper or false, o.unit or false }
      end),
    },
    tridiagonal = contiguous,
    tridiagonal_interleaved = interleaved,
  },
}
