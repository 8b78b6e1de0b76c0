-- SPDX-License-Identifier: MIT
--
-- Sparse matrices: cuSPARSE on CUDA devices, kernels of our own (kernels/moonwarp/sparse.cu) on the CPU device. A
-- matrix is three arrays (CSR): the place of each row's first element and of the end, from 0; the columns, from 0; the
-- values.

local integer = require "moonwarp.base.integer"
local lists = require "moonwarp.base.lists"
local library = require "moonwarp.library"

-- What there is no library for, by kernels of our own: their arguments, and how many threads.
local function by_kernel(name, arguments)
  return function(...)
    local given = { ... }
    local options = type(given[#given]) == "table" and table.remove(given) or {}
    local out, dev = given[1], given[1]:device()
    local instance = ("%s<%s>"):format(name, out:dtype() == "f32" and "float" or "double")
    local kernel = dev:module({ file = "moonwarp/sparse.cu", templates = { instance } }):kernel(instance)
    local threads, more = arguments(options, table.unpack(given))
    local go = kernel:prepare { grid = integer.ceil_div(threads, 64), block = 64, stream = options.stream }
    go(table.unpack(lists.append(given, more)))
    return out
  end
end

local spmv_by_kernel = by_kernel("spmv", function(options, y)
  return #y, { #y, options.alpha or 1, options.beta or 0 }
end)

local tridiagonal_by_kernel = by_kernel("tridiagonal", function(_, x)
  local n, batch = x:shape()
  return batch or 1, { x:device():empty(x:dtype(), x:shape()), batch or 1, n }
end)

local CREATE = { "cusparseCreateCsr(&matrix, m, k, values.count, offsets, columns, values, 2, 2, 0, values.type)",
                 "cusparseCreateDnVec(&from, k, x, x.type)", "cusparseCreateDnVec(&to, m, y, y.type)" }
local DESTROY = { "cusparseDestroySpMat(matrix)", "cusparseDestroyDnVec(from)", "cusparseDestroyDnVec(to)" }

return library.new {
  name = "moonwarp.sparse",
  cuda = { library = "libcusparse.so.12", open = "cusparseCreate(&self)", close = "cusparseDestroy(self)",
           follow = "cusparseSetStream(self, queue)", explain = "cusparseGetErrorString", flags = { 0, 1 } },
  cpu = {},
  functions = {
    spmv = {
      help = "y = alpha * A * x + beta * y",
      arrays = { { "y", "m", writes = true, reads = "beta" }, { "offsets", "m+1" }, { "columns", "z" },
                 { "values", "z" }, { "x", "k" } },
      options = { { "alpha", 1 }, { "beta", 0 } },
      types = { ["f32 i32 i32 f32 f32"] = { real = "f32" }, ["f64 i32 i32 f64 f64"] = { real = "f64" } },
      cuda = {
        size = { CREATE[1], CREATE[2], CREATE[3],
                 "cusparseSpMV_bufferSize(self, 0, &alpha, matrix, from, &beta, to, y.type, 0, &size)" }, unit = 1,
        one = { "cusparseSpMV(self, 0, &alpha, matrix, from, &beta, to, y.type, 0, work)", DESTROY[1], DESTROY[2],
                DESTROY[3] } },
      cpu = spmv_by_kernel,
    },
    tridiagonal = {
      help = "solves systems of n unknowns in place; lower[1] and upper[n] of each are 0",
      arrays = { { "x", "n batch?", writes = true, reads = true }, { "lower", "n batch?" }, { "middle", "n batch?" },
                 { "upper", "n batch?" } },
      types = { ["f32 f32 f32 f32"] = { letter = "S" }, ["f64 f64 f64 f64"] = { letter = "D" } },
      cuda = { size = "cusparse?gtsv2StridedBatch_bufferSizeExt(self, n, lower, middle, upper, x, batch, n, &size)",
               unit = 1,
               one = "cusparse?gtsv2StridedBatch(self, n, lower, middle, upper, x, batch, n, work)" },
      cpu = tridiagonal_by_kernel,
    },
  },
}
