-- SPDX-License-Identifier: MIT
--
-- Dense systems: cuSOLVER on CUDA devices, LAPACKE on the CPU device. Matrices are as in moonwarp.blas: the first side
-- is the rows. What a factorisation says of the matrix (info) is in an array of one i32: 0, or the first pivot that
-- fails.

local library = require "moonwarp.library"

local function types(more)
  return { ["f32" .. more] = { cuda = { letter = "S" }, cpu = { letter = "s" } },
           ["f64" .. more] = { cuda = { letter = "D" }, cpu = { letter = "d" } } }
end

local function matrix(name) return { name, "n n", writes = true, reads = true } end
local INFO <const> = { "info", "one", writes = true }

return library.new {
  name = "moonwarp.solver",
  cuda = { library = "libcusolver.so.12 libcusolver.so.11", open = "cusolverDnCreate(&self)",
           close = "cusolverDnDestroy(self)", follow = "cusolverDnSetStream(self, queue)", flags = { 0, 1 } },
  cpu = { library = "liblapacke.so.3", install = "apt-get install liblapacke", flags = { 78, 84 } }, -- N, T
  functions = {
    potrf = {
      help = "A = L L', Cholesky's factors in place of the lower triangle",
      arrays = { matrix "A", INFO }, types = types " i32",
      cuda = { size = "cusolverDn?potrf_bufferSize(self, 0, n, A, A.rows, &size)",
               one = "cusolverDn?potrf(self, 0, n, A, A.rows, work, size, info)" },
      cpu = "LAPACKE_?potrf(102, 76, n, A, A.rows) => info",
    },
    getrf = {
      help = "P A = L U in place, by partial pivoting; the pivots count from 1",
      arrays = { matrix "A", { "pivots", "n", writes = true }, INFO }, types = types " i32 i32",
      cuda = { size = "cusolverDn?getrf_bufferSize(self, n, n, A, A.rows, &size)",
               one = "cusolverDn?getrf(self, n, n, A, A.rows, work, pivots, info)" },
      cpu = "LAPACKE_?getrf(102, n, n, A, A.rows, pivots) => info",
    },
    getrs = {
      help = "B = A^-1 B, by the factors of getrf",
      arrays = { { "B", "n m", writes = true, reads = true }, { "A", "n n" }, { "pivots", "n" }, INFO },
      options = { { "ta", false } },
      types = { ["f32 f32 i32 i32"] = { cuda = { letter = "S" }, cpu = { letter = "s" } },
                ["f64 f64 i32 i32"] = { cuda = { letter = "D" }, cpu = { letter = "d" } } },
      cuda = "cusolverDn?getrs(self, ta, n, m, A, A.rows, pivots, B, B.rows, info)",
      cpu = "LAPACKE_?getrs(102, ta, n, m, A, A.rows, pivots, B, B.rows) => info",
    },
  },
}
