-- SPDX-License-Identifier: MIT
--
-- Products of matrices and vectors: cuBLAS on CUDA devices, OpenBLAS on the CPU device. A matrix is an array whose
-- first side is its rows: A:get(i, j) is in row i and column j, and columns lie one after the other, as in Fortran. An
-- array that a kernel indexes as a[row * columns + column] is the transposed matrix: give the factors in the other
-- order.

local library = require "moonwarp.library"

local MIXED <const> = { real = "f32", cpu = false }
local ALPHA <const>, BETA <const> = { "alpha", 1 }, { "beta", 0 }
local TA <const> = { "ta", false, help = "A is transposed" }

-- Rows of types for arrays that all have the same.
local function same(count)
  local f32, f64 = ("f32 "):rep(count - 1) .. "f32", ("f64 "):rep(count - 1) .. "f64"
  return { [f32] = { real = "f32", cuda = { letter = "S" }, cpu = { letter = "s" } },
           [f64] = { real = "f64", cuda = { letter = "D" }, cpu = { letter = "d" } } }
end

-- A sum that stays on the device: cuBLAS writes it there only if it is told to.
local function stays(call)
  return { one = { "cublasSetPointerMode_v2(self, 1)", call }, close = "cublasSetPointerMode_v2(self, 0)" }
end

return library.new {
  name = "moonwarp.blas",
  cuda = { library = "libcublas.so.13 libcublas.so.12", flags = { 0, 1 }, explain = "cublasGetStatusString",
           open = "cublasCreate_v2(&self)", close = "cublasDestroy_v2(self)",
           follow = "cublasSetStream_v2(self, queue)" },
  cpu = { library = "libopenblas.so.0 libopenblas.so", flags = { 111, 112 }, install = "apt-get install libopenblas0",
          open = "openblas_set_num_threads(workers) -> none",
          follow = "openblas_set_num_threads(workers) -> none" },
  functions = {
    gemm = {
      help = "C = alpha * A * B + beta * C; of each item, if there are several",
      arrays = { { "C", "m n batch?", writes = true, reads = "beta" }, { "A", "m k batch?", swap = "ta" },
                 { "B", "k n batch?", swap = "tb" } },
      options = { ALPHA, BETA, TA, { "tb", false, help = "B is transposed" },
                  { "tf32", false, flags = { 68, 77 }, -- CUBLAS_COMPUTE_32F, _FAST_TF32; of other types, the row's
                    help = "products of f32 by tensor cores, with 11 digits of A and B; on CUDA devices" } },
      types = {
        ["f32 f32 f32"] = { real = "f32", cpu = { letter = "s" } },
        ["f64 f64 f64"] = { real = "f64", cpu = { letter = "d" }, cuda = { tf32 = 70 } },
        ["f32 f16 f16"] = MIXED, ["f16 f16 f16"] = MIXED, ["f32 bf16 bf16"] = MIXED, ["bf16 bf16 bf16"] = MIXED,
        ["i32 i8 i8"] = { real = "integer", tf32 = 72, cpu = false },
      },
      cuda = {
        one = "cublasGemmEx(self, ta, tb, m, n, k, &alpha, A, A.type, A.rows, B, B.type, B.rows, &beta, " ..
              "C, C.type, C.rows, tf32, -1)",
        many = "cublasGemmStridedBatchedEx(self, ta, tb, m, n, k, &alpha, A, A.type, A.rows, A.items, " ..
               "B, B.type, B.rows, B.items, &beta, C, C.type, C.rows, C.items, batch, tf32, -1)" },
      cpu = "cblas_?gemm(102, ta, tb, m, n, k, alpha, A, A.rows, B, B.rows, beta, C, C.rows) -> none",
    },
    trsm = {
      help = "B = alpha * A^-1 * B, A a triangle, whose other elements are not read; of each item",
      arrays = { { "B", "m n batch?", writes = true, reads = true }, { "A", "m m batch?", partly = true } },
      options = { ALPHA, TA,
                  { "upper", false, flags = { cuda = { 0, 1 }, cpu = { 122, 121 } }, help = "A is the upper triangle" },
                  { "unit", false, flags = { cuda = { 0, 1 }, cpu = { 131, 132 } }, help = "its diagonal is 1" } },
      types = same(2),
      cuda = "cublas?trsm_v2(self, 0, upper, ta, unit, m, n, &alpha, A, A.rows, B, B.rows)",
      cpu = "cblas_?trsm(102, 141, upper, ta, unit, m, n, alpha, A, A.rows, B, B.rows) -> none",
    },
    gemv = {
      help = "y = alpha * A * x + beta * y",
      arrays = { { "y", "m", writes = true, reads = "beta" }, { "A", "m k", swap = "ta" }, { "x", "k" } },
      options = { ALPHA, BETA, TA }, types = same(3),
      cuda = "cublas?gemv_v2(self, ta, A.rows, A.columns, &alpha, A, A.rows, x, 1, &beta, y, 1)",
      cpu = "cblas_?gemv(102, ta, A.rows, A.columns, alpha, A, A.rows, x, 1, beta, y, 1) -> none",
    },
    axpy = {
      help = "y = alpha * x + y",
      arrays = { { "y", "n", writes = true, reads = true }, { "x", "n" } }, options = { ALPHA }, types = same(2),
      cuda = "cublas?axpy_v2(self, n, &alpha, x, 1, y, 1)",
      cpu = "cblas_?axpy(n, alpha, x, 1, y, 1) -> none",
    },
    dot = {
      help = "r[1] = the sum of x * y; r stays on the device",
      arrays = { { "r", "1", writes = true }, { "x", "n" }, { "y", "n" } }, types = same(3),
      cuda = stays "cublas?dot_v2(self, n, x, 1, y, 1, r)",
      cpu = "cblas_?dot(n, x, 1, y, 1) => r",
    },
    nrm2 = {
      help = "r[1] = the root of the sum of x^2; r stays on the device",
      arrays = { { "r", "1", writes = true }, { "x", "n" } }, types = same(2),
      cuda = stays "cublas?nrm2_v2(self, n, x, 1, r)",
      cpu = "cblas_?nrm2(n, x, 1) => r",
    },
  },
}
