-- SPDX-License-Identifier: MIT
--
-- Dense systems: cuSOLVER on CUDA devices, LAPACKE on the CPU device. Matrices are as in moonwarp.blas: the first side
-- is the rows. What a function says of the matrix (info) is in an array of one i32: 0, or the first pivot that fails.

local library = require "moonwarp.library"

-- Rows of types: reals, so many, then "i32" as often as `more` has it.
local function types(count, more)
  local out = {}
  for _, one in ipairs { { "f32", "S", "s" }, { "f64", "D", "d" } } do
    out[(one[1] .. " "):rep(count) .. more] = { cuda = { letter = one[2] }, cpu = { letter = one[3] } }
  end
  return out
end

local INFO <const> = { "info", "1", writes = true }
local function square(more)
  local a = { "A", "n n", writes = true, reads = true }
  for name, value in pairs(more or {}) do a[name] = value end
  return a
end

return library.new {
  name = "moonwarp.solver",
  cuda = { library = "libcusolver.so.12 libcusolver.so.11", open = "cusolverDnCreate(&self)",
           close = "cusolverDnDestroy(self)", follow = "cusolverDnSetStream(self, queue)", flags = { 0, 1 } },
  cpu = { library = "liblapacke.so.3", install = "apt-get install liblapacke", flags = { 78, 84 } }, -- N, T
  functions = {
    potrf = {
      help = "A = L L', Cholesky's factors: L takes the place of the lower triangle, the rest is not read",
      arrays = { square { partly = true }, INFO }, types = types(1, "i32"),
      cuda = { size = "cusolverDn?potrf_bufferSize(self, 0, n, A, A.rows, &size)",
               one = "cusolverDn?potrf(self, 0, n, A, A.rows, work, size, info)" },
      cpu = "LAPACKE_?potrf(102, 76, n, A, A.rows) => info",
    },
    getrf = {
      help = "P A = L U in place, by partial pivoting; pivots count from 1",
      arrays = { square(), { "pivots", "n", writes = true }, INFO }, types = types(1, "i32 i32"),
      cuda = { size = "cusolverDn?getrf_bufferSize(self, n, n, A, A.rows, &size)",
               one = "cusolverDn?getrf(self, n, n, A, A.rows, work, pivots, info)" },
      cpu = "LAPACKE_?getrf(102, n, n, A, A.rows, pivots) => info",
    },
    getrs = {
      help = "B = A^-1 B, by the factors and pivots of getrf",
      arrays = { { "B", "n m", writes = true, reads = true }, { "A", "n n" }, { "pivots", "n" }, INFO },
      options = { { "ta", false, help = "A is transposed" } }, types = types(2, "i32 i32"),
      cuda = "cusolverDn?getrs(self, ta, n, m, A, A.rows, pivots, B, B.rows, info)",
      cpu = "LAPACKE_?getrs(102, ta, n, m, A, A.rows, pivots, B, B.rows) => info",
    },
    geqrf = {
      help = "A = Q R by Householder's reflections: R takes the place of the upper triangle, what orgqr needs that " ..
             "of the rest",
      arrays = { { "A", "m n", writes = true, reads = true }, { "tau", "n", writes = true }, INFO },
      types = types(2, "i32"), limits = { { "m", least = "n" } },
      cuda = { size = "cusolverDn?geqrf_bufferSize(self, m, n, A, A.rows, &size)",
               one = "cusolverDn?geqrf(self, m, n, A, A.rows, tau, work, size, info)" },
      cpu = "LAPACKE_?geqrf(102, m, n, A, A.rows, tau) => info",
    },
    orgqr = {
      help = "Q in place, from what geqrf left; its columns are orthonormal",
      arrays = { { "A", "m n", writes = true, reads = true }, { "tau", "n" }, INFO },
      types = types(2, "i32"), limits = { { "m", least = "n" } },
      cuda = { size = "cusolverDn?orgqr_bufferSize(self, m, n, n, A, A.rows, tau, &size)",
               one = "cusolverDn?orgqr(self, m, n, n, A, A.rows, tau, work, size, info)" },
      cpu = "LAPACKE_?orgqr(102, m, n, n, A, A.rows, tau) => info",
    },
    syevd = {
      help = "w = the eigenvalues of the symmetric A, ascending; the lower triangle is read, and A is lost, or " ..
             "becomes the eigenvectors, one per column",
      arrays = { square { partly = true }, { "w", "n", writes = true }, INFO }, types = types(2, "i32"),
      options = { { "vectors", false, flags = { cuda = { 0, 1 }, cpu = { 78, 86 } }, help = "A becomes them" } },
      cuda = { size = "cusolverDn?syevd_bufferSize(self, vectors, 0, n, A, A.rows, w, &size)",
               one = "cusolverDn?syevd(self, vectors, 0, n, A, A.rows, w, work, size, info)" },
      cpu = "LAPACKE_?syevd(102, vectors, 76, n, A, A.rows, w) => info",
    },
  },
}
