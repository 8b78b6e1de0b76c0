-- SPDX-License-Identifier: MIT
return {
  title = "libraries",
  owner = "blas",
  about = [[
Functions of numerical libraries on arrays, beside kernels of one's own: `require "moonwarp.blas"` and so on. They are NVIDIA's
on CUDA devices, and on the CPU device OpenBLAS, FFTW and LAPACKE, or kernels of moonwarp's own. For f32 and f64 the same call
gives the same numbers on both devices, within rounding. A library is opened by the first call that needs it;
`moonwarp info` says which are there.

| | CUDA | CPU device |
|---|---|---|
| blas | cuBLAS | OpenBLAS |
| fft | cuFFT | FFTW |
| rand | cuRAND | Philox by a kernel; other kinds by cuRAND's generators for the host, if libcurand is there |
| sparse | cuSPARSE | kernels |
| solver | cuSOLVER | LAPACKE |
| cub | CUB and Thrust, compiled by nvcc at the first call | - |

- A **matrix** is an array whose first side is its rows: `A:get(i, j)` is in row i and column j. So columns lie one after the
  other, as in Fortran. An array that a kernel indexes as `a[row * columns + column]` is the transposed matrix: what such a kernel
  computes as C = A B is `blas.gemm(C, B, A)`.
- **Complex** numbers are pairs of f32 or f64: the first side of the array is 2, `{2, nx, ny}`.
- What is written comes first, and is what the function returns. Sides named by the same letter must be equal. `batch` items,
  each a matrix, are computed by one call; an array without that side belongs to all of them.
- A call is queued in a stream as a launch is: the option `stream`, else the default stream, or the one that captures. It can
  be captured into a graph. What an array shares with one that is written is an error, unless the entry says that they may be one.
- A function that a device's library does not have is an error of status `unsupported`.

Sparse direct solvers are left out.]],
  setup = [[
local mw = require "moonwarp"
local blas, fft = require "moonwarp.blas", require "moonwarp.fft"
local rand, sparse, solver = require "moonwarp.rand", require "moonwarp.sparse", require "moonwarp.solver"
local cub = require "moonwarp.cub"
local dev = mw.device "cpu"]],
  classes = {
    fft_options = {
      about = "How a plan transforms.",
      { "dims", "integer", "how many sides are transformed, 1 to 3; the others count the transforms of a batch",
        default = "all" },
      { "inverse", "boolean", "of complex arrays: the sign of the exponent is +", default = "false" },
    },
    rand_options = {
      about = "A generator's kind and beginning.",
      { "kind", [["philox"|"xorwow"|"mrg32k3a"|"mt19937"|"sobol"|"scrambled sobol"]], "", default = [["philox"]] },
      { "seed", "integer", "of all but Sobol's", default = "0" },
      { "offset", "integer", "how many numbers are left out; of all but mt19937", default = "0" },
      { "dimensions", "integer", "of Sobol's points: a call gives all first coordinates, then all second ones, ...",
        default = "1" },
    },
  },
  entries = {},
  libraries = {
    { "blas",
      { "gemm", { errors = {
          "gemm(C, A, B): arrays of <types>; or <types> expected, got <types>",
          "gemm: A is <sides>: side 1 must be <n>, as of C", "gemm: C is written, and shares memory with A" },
        example = [[
local A, B, C = dev:array("f32", { { 1, 2 }, { 3, 4 } }), dev:full(1, "f32", 2, 2), dev:array("f32", 2, 2)
blas.gemm(C, A, B, { alpha = 2 })
print(C:get(1, 1), C:get(2, 1)) --> 8.0  12.0]] } },
      { "trsm" }, { "gemv" }, { "axpy" }, { "dot" }, { "nrm2" },
    },
    { "fft",
      {
        "plan", owner = "fft", name = "plan", forms = { "fft.plan(out, input[, options])" },
        about = [[
A plan for Fourier transforms from `input` to `out`, of f32 or f64: complex to complex, both of `{2, nx, ...}`; real
to complex, from `{nx, ny, ...}` to `{2, nx // 2 + 1, ny, ...}`; complex to real, the reverse, which overwrites its input. It has no
factor: there and back is n times the input. `plan(out, input[, { stream = }])` transforms these arrays, or others of the same
sides and type; `plan:close()` frees it. A complex transform may be in place.]],
        params = { { "out", "array", "of a complex transform it may be `input`" }, { "input", "array", "" },
                   { "options", "fft_options", "", optional = true } },
        returns = { { "library_object", "the plan", name = "plan" } },
        errors = { "fft.plan: arrays of {2, nx, ...} and {2, nx, ...}, or of {nx, ...} and {2, nx // 2 + 1, ...} expected, " ..
                   "got <sides> and <sides>", "fft.plan: option 'dims' is <n> at most, got <m>" },
        example = [[
local x, X = dev:array("f32", 8), dev:array("f32", 2, 5)
for i = 1, 8 do x:set(i, math.cos(2 * math.pi * (i - 1) / 8)) end
local forward <close> = fft.plan(X, x)
forward(X, x)
print(("%.3f"):format(X:get(1, 2))) --> 4.000]], since = "0.11.0" },
    },
    { "rand",
      {
        "generator", owner = "rand", name = "generator", forms = { "rand.generator(dev[, options])" },
        about = [[
A generator of random numbers. Its numbers go on from call to call. Those of Philox and of the kinds that cuRAND
has for the host are the same on both devices; normal numbers within rounding.]],
        params = { { "dev", "device", "" }, { "options", "rand_options", "", optional = true } },
        returns = { { "library_object", "the generator", name = "g" } },
        errors = { "rand.generator: there is no kind '<kind>'; did you mean '<nearest>'?" },
        example = [[
local g, x = rand.generator(dev, { seed = 42 }), dev:array("f32", 4)
rand.uniform(g, x)
print(("%.4f %.4f"):format(x:get(1), x:get(2))) --> 0.6130 0.4686]], since = "0.11.0" },
      { "uniform" }, { "normal" }, { "log_normal" }, { "poisson" },
    },
    { "sparse",
      { "spmv", { example = [[
local offsets, columns = dev:array("i32", { 0, 2, 3 }), dev:array("i32", { 0, 2, 1 }) -- 2 rows: elements 1, 2 and 3
local values, x, y = dev:array("f64", { 4, 5, 6 }), dev:array("f64", { 1, 2, 3 }), dev:array("f64", 2)
sparse.spmv(y, offsets, columns, values, x)
print(y:get(1), y:get(2)) --> 19.0  12.0]] } },
      { "spmm" }, { "spsv" }, { "tridiagonal" }, { "tridiagonal_interleaved" },
    },
    { "solver",
      { "potrf", { example = [[
local A, info = dev:array("f64", { { 4, 2 }, { 2, 5 } }), dev:array("i32", 1)
solver.potrf(A, info)
print(A:get(1, 1), A:get(2, 1), A:get(2, 2), info:get(1)) --> 2.0  1.0  2.0  0]] } },
      { "getrf" }, { "getrs" }, { "geqrf" }, { "orgqr" }, { "syevd" },
    },
    { "cub",
      { "sort_keys", { errors = {
          "moonwarp.cub: nvcc, which compiles CUB and Thrust, is neither on $PATH nor in bin of $CUDA_HOME, ...",
          "moonwarp.cub: nvcc failed (<status>): <what it says>",
          "sort_keys of u32 u32: the library of the cpu device has no such function" },
        example = [[
local x = dev:array("u32", { 3, 1, 2 })
print((select(2, pcall(cub.sort_keys, x, x)).text:match "of the cpu device")) --> of the cpu device]] } },
      { "reduce" }, { "thrust_reduce" }, { "max" }, { "thrust_max" },
    },
  },
}
