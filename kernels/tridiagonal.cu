// SPDX-License-Identifier: MIT
//
// tridiagonal: many systems a[i] x[i-1] + b[i] x[i] + c[i] x[i+1] = d[i], i from 0 to n - 1, with a[0] = c[n-1] = 0.
//
// Unknowns of a system are `step` elements apart: 1 in contiguous systems, the number of systems in interleaved ones;
// in between are lines of a grid along its second side. No pivots are sought: |b| >= |a| + |c|, or the like, is up to
// the caller.
//   thomas               a thread per system: elimination down, substitution up; what the way up needs goes to memory
//   thomas_registers     the same for a length known to the compiler: all of it stays in registers
//   pcr_shared           parallel cyclic reduction: a block per system, a thread per unknown, rows in shared memory
//   pcr_shuffle          the same for n <= 32: a warp holds one system or several, rows go by shuffles
//   hybrid_warp,      a thread eliminates EACH unknowns in registers and keeps one row of an interface, that rows of
//      hybrid_block      other threads' rows share unknowns with. Warps reduce the interface by shuffles; where a
//                        system has several warps, each leaves one row of a second interface in shared memory
// A step of a 3-D heat equation by alternating directions (J. Douglas and J. Gunn, 1964), lambda = dt / h^2, zero
// outside: (1 - lambda Dx) (1 - lambda Dy) (1 - lambda Dz) du = lambda (Dx + Dy + Dz) u, after = u + du
//   heat_right           the right side
//   lines_thomas         one direction, a thread per line
//   lines_warp           one direction, a warp per line, several lines side by side a block, as hybrid_warp
//
// Bounds. Each unknown is five numbers that must move, 20 bytes in f32: T_eff = 5 arrays / t. thomas writes two numbers
// and reads them again: 9 / 5 of that; contiguous, each of its accesses touches a sector of its own. pcr_shared:
// log2(n) levels of 3 numbers written and 6 read in shared memory, 36 bytes: 128 / (36 log2(n)) unknowns per cycle and
// multiprocessor. pcr_shuffle: 6 shuffles per level. hybrid_warp: 6 shuffles per level and thread, (6 log2(32) + 4) /
// EACH an unknown; a multiprocessor shuffles one warp per cycle. The heat step moves 2 + 2 + 2 + 3 numbers per cell.
//
// L. Thomas (1949); R. Hockney and C. Jesshope, "Parallel Computers" (1981), for the reduction. Elimination in pieces
// with a reduced interface: H. Wang, "A parallel method for tridiagonal equations" (1981); on GPUs, by threads of a
// warp: E. Laszlo, M. Giles and J. Appleyard, "Manycore algorithms for batch scalar and block tridiagonal solvers"
// (2016).

#include "vector16.cuh"

#define ALL 0xffffffffu

// ---- device helpers -------------------------------------------------------------------------------------------------

// a * (the unknown to the left) + its own unknown + c * (the unknown to the right) = d
template <typename T> struct row { T a, c, d; };

template <typename T> __device__ row<T> make_row(T a, T c, T d) {
  row<T> r = { a, c, d };
  return r;
}

// "It is the one to its left", "... to its right": rows next to the first and the last of a group, whose outer unknown
// then stays in the rows that eliminate them.
template <typename T> __device__ row<T> same_as_left() { return make_row<T>(-1, 0, 0); }
template <typename T> __device__ row<T> same_as_right() { return make_row<T>(0, -1, 0); }

// A row without the two unknowns next to it, which the rows `up` and `down` are of.
template <typename T> __device__ row<T> eliminate(row<T> up, row<T> here, row<T> down) {
  T scale = 1 / (1 - here.a * up.c - here.c * down.a);
  return make_row(-scale * here.a * up.a, -scale * here.c * down.c, scale * (here.d - here.a * up.d - here.c * down.d));
}

// A row without the unknown to its right, whose row `down` shares the unknown to the left.
template <typename T> __device__ row<T> substitute(row<T> here, row<T> down) {
  return make_row(here.a - here.c * down.a, -here.c * down.c, here.d - here.c * down.d);
}

template <typename T> __device__ row<T> shuffle_up(row<T> r, int s, int lanes) {
  return make_row(__shfl_up_sync(ALL, r.a, s, lanes), __shfl_up_sync(ALL, r.c, s, lanes),
                  __shfl_up_sync(ALL, r.d, s, lanes));
}

template <typename T> __device__ row<T> shuffle_down(row<T> r, int s, int lanes) {
  return make_row(__shfl_down_sync(ALL, r.a, s, lanes), __shfl_down_sync(ALL, r.c, s, lanes),
                  __shfl_down_sync(ALL, r.d, s, lanes));
}

// Parallel cyclic reduction over the first `members` lanes of groups of `lanes`, a power of two: afterwards a row has its
// own unknown and those next to the members, left and right.
template <typename T> __device__ row<T> reduce_lanes(row<T> r, int lanes, int members) {
  int lane = threadIdx.x % lanes;
  for (int s = 1; s < members; s *= 2) {
    row<T> up = shuffle_up(r, s, lanes), down = shuffle_down(r, s, lanes);
    if (lane < s) up = same_as_left<T>();
    if (lane + s >= members) down = same_as_right<T>();
    if (lane < members) r = eliminate(up, r, down);
  }
  return r;
}

// Eliminates the inner unknowns of a thread's rows: all then have the last unknown of the thread before and the
// thread's own last one; the last row has the first unknown of the thread behind instead.
template <int EACH, typename T> __device__ void eliminate_inner(row<T> (&r)[EACH]) {
#pragma unroll
  for (int i = 1; i < EACH; i++) r[i] = eliminate(r[i - 1], r[i], same_as_right<T>());
#pragma unroll
  for (int i = EACH - 3; i >= 0; i--) r[i] = substitute(r[i], r[i + 1]);
}

// The solution of rows that eliminate_inner has left, from the last unknowns of the thread before and of its own.
template <int EACH, typename T> __device__ void solve_inner(T (&x)[EACH], row<T> (&r)[EACH], T before, T own) {
#pragma unroll
  for (int i = 0; i < EACH - 1; i++) x[i] = r[i].d - r[i].a * before - r[i].c * own;
  x[EACH - 1] = own;
}

// A thread's row of the interface, from its last one and the first one of the thread behind.
template <int EACH, typename T> __device__ row<T> interface_row(row<T> (&r)[EACH], int lanes) {
  row<T> behind = shuffle_down(r[0], 1, lanes);
  if (threadIdx.x % lanes == lanes - 1) behind = same_as_right<T>();
  return eliminate(same_as_left<T>(), r[EACH - 1], behind);
}

// A system in each group of `lanes` lanes.
template <int EACH, typename T> __device__ void solve_in_warp(T (&x)[EACH], row<T> (&r)[EACH], int lanes) {
  eliminate_inner(r);
  T own = reduce_lanes(interface_row(r, lanes), lanes, lanes).d, before = __shfl_up_sync(ALL, own, 1, lanes);
  solve_inner(x, r, threadIdx.x % lanes ? before : 0, own);
}

// A system in the block's warps. In the second interface the unknowns are the last ones of the warps, so lane 31 is no
// member of its warp's reduction: that leaves rows with the last unknowns of the warp before and of their own warp.
template <int EACH, typename T> __device__ void solve_in_block(T (&x)[EACH], row<T> (&r)[EACH]) {
  __shared__ row<T> first[32], last[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  eliminate_inner(r);
  row<T> reduced = reduce_lanes(interface_row(r, 32), 32, 31), up = shuffle_up(reduced, 1, 32);
  if (lane == 0) first[warp] = substitute(r[0], reduced);
  if (lane == 31) last[warp] = eliminate(up, reduced, same_as_right<T>());
  __syncthreads();
  // Each warp solves the second interface, a warp per lane.
  row<T> nothing = make_row<T>(0, 0, 0), end = lane < warps ? last[lane] : nothing;
  row<T> behind = lane + 1 < warps ? first[lane + 1] : nothing;
  T ends = reduce_lanes(eliminate(same_as_left<T>(), end, behind), 32, 32).d;
  T left = __shfl_sync(ALL, ends, (warp + 31) % 32), right = __shfl_sync(ALL, ends, warp);
  if (warp == 0) left = 0;
  T own = lane < 31 ? reduced.d - reduced.a * left - reduced.c * right : right, before = __shfl_up_sync(ALL, own, 1);
  solve_inner(x, r, lane ? before : left, own);
}

// EACH elements from element `at` of a system of n on, by 16 bytes where systems begin on such boundaries.
template <int EACH, typename T> __device__ void load(T (&to)[EACH], const T *from, int at, int n, T beyond) {
  const int WIDE = 16 / sizeof(T);
  if (n % WIDE == 0 && EACH % WIDE == 0) {
#pragma unroll
    for (int i = 0; i < EACH; i += WIDE) {
      if (at + i < n) unpack(*(const typename vector16<T>::type *)(from + at + i), to + i);
      else for (int k = 0; k < WIDE; k++) to[i + k] = beyond;
    }
  } else {
#pragma unroll
    for (int i = 0; i < EACH; i++) to[i] = at + i < n ? from[at + i] : beyond;
  }
}

template <int EACH, typename T> __device__ void store(T *to, const T (&from)[EACH], int at, int n) {
  const int WIDE = 16 / sizeof(T);
  if (n % WIDE == 0 && EACH % WIDE == 0) {
#pragma unroll
    for (int i = 0; i < EACH; i += WIDE)
      if (at + i < n) *(typename vector16<T>::type *)(to + at + i) = pack(from + i);
  } else {
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (at + i < n) to[at + i] = from[i];
  }
}

// Rows of EACH unknowns; beyond the system's end an unknown is 0.
template <int EACH, typename T>
__device__ void load_rows(row<T> (&r)[EACH], const T *a, const T *b, const T *c, const T *d, int at, int n) {
  T low[EACH], middle[EACH], high[EACH], right[EACH];
  load<EACH>(low, a, at, n, (T)0);
  load<EACH>(middle, b, at, n, (T)1);
  load<EACH>(high, c, at, n, (T)0);
  load<EACH>(right, d, at, n, (T)0);
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    T scale = 1 / middle[i];
    r[i] = make_row(scale * low[i], scale * high[i], scale * right[i]);
  }
}

// Where the system of this number begins.
__device__ size_t start_of(size_t system, int n, int step) {
  return system / step * n * step + system % step;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// Makes systems to try: b and d, for a solution x, from a and c below 0. The smaller the margin, the farther does an
// element of d reach. One thread per unknown.
template <typename T>
__global__ void dominant(T *a, T *b, T *c, T *d, const T *x, T margin, int n, int systems, int step) {
  size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (size_t)n * systems) return;
  int i = at / step % n;
  b[at] = margin - a[at] - c[at];
  if (i == 0) a[at] = 0;
  if (i == n - 1) c[at] = 0;
  d[at] = b[at] * x[at] + (i > 0 ? a[at] * x[at - step] : 0) + (i < n - 1 ? c[at] * x[at + step] : 0);
}

// `left` and `upper` are scratch. Without __restrict__ no load would begin before the stores before it.
template <typename T>
__global__ void thomas(T *__restrict__ x, T *__restrict__ left, T *__restrict__ upper, const T *__restrict__ a,
                       const T *__restrict__ b, const T *__restrict__ c, const T *__restrict__ d, int n, int systems,
                       int step) {
  int system = blockIdx.x * blockDim.x + threadIdx.x;
  if (system >= systems) return;
  size_t at = start_of(system, n, step);
  row<T> r = make_row<T>(0, 0, 0);
#pragma unroll 4
  for (int i = 0; i < n; i++, at += step) {
    T scale = 1 / (b[at] - a[at] * r.c);
    r = make_row<T>(0, scale * c[at], scale * (d[at] - a[at] * r.d));
    upper[at] = r.c;
    left[at] = r.d;
  }
  T right = 0;
#pragma unroll 4
  for (int i = 0; i < n; i++) {
    at -= step;
    right = left[at] - upper[at] * right;
    x[at] = right;
  }
}

// Systems of N unknowns. nvcc unrolls both loops: an array whose indices it knows is in registers.
template <typename T, int N>
__global__ void thomas_registers(T *x, const T *a, const T *b, const T *c, const T *d, int systems, int step) {
  int system = blockIdx.x * blockDim.x + threadIdx.x;
  if (system >= systems) return;
  size_t at = start_of(system, N, step);
  T upper[N], left[N], high = 0, known = 0, right = 0;
  for (int i = 0; i < N; i++, at += step) {
    T scale = 1 / (b[at] - a[at] * high);
    upper[i] = high = scale * c[at];
    left[i] = known = scale * (d[at] - a[at] * known);
  }
  for (int i = N - 1; i >= 0; i--) {
    at -= step;
    x[at] = right = left[i] - upper[i] * right;
  }
}

// A block of at least n threads per contiguous system.
template <typename T>
__global__ void pcr_shared(T *x, const T *a, const T *b, const T *c, const T *d, int n) {
  extern __shared__ double memory[]; // two arrays of blockDim.x rows, written by turns
  int i = threadIdx.x, threads = blockDim.x;
  size_t at = (size_t)blockIdx.x * n + i;
  row<T> *now = (row<T> *)memory, nothing = make_row<T>(0, 0, 0), r = nothing;
  if (i < n) {
    T scale = 1 / b[at];
    r = make_row(scale * a[at], scale * c[at], scale * d[at]);
  }
  for (int s = 1, level = 0; s < n; s *= 2, level++) {
    now = (row<T> *)memory + level % 2 * threads;
    now[i] = r;
    __syncthreads();
    r = eliminate(i >= s ? now[i - s] : nothing, r, i + s < threads ? now[i + s] : nothing);
  }
  if (i < n) x[at] = r.d;
}

// Contiguous systems of at most `lanes` unknowns, a power of two up to 32; one thread per lane.
template <typename T>
__global__ void pcr_shuffle(T *x, const T *a, const T *b, const T *c, const T *d, int n, int systems, int lanes) {
  size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, system = thread / lanes;
  int i = thread % lanes;
  bool is_inside = i < n && system < systems;
  size_t at = system * n + i;
  row<T> r = make_row<T>(0, 0, 0);
  if (is_inside) {
    T scale = 1 / b[at];
    r = make_row(scale * a[at], scale * c[at], scale * d[at]);
  }
  r = reduce_lanes(r, lanes, lanes);
  if (is_inside) x[at] = r.d;
}

// Contiguous systems of at most EACH * lanes unknowns in groups of `lanes` lanes, a power of two up to 32.
template <typename T, int EACH>
__global__ void hybrid_warp(T *x, const T *a, const T *b, const T *c, const T *d, int n, int systems, int lanes) {
  size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, system = thread / lanes;
  int at = thread % lanes * EACH, length = system < systems ? n : 0;
  size_t start = length ? system * n : 0;
  row<T> r[EACH];
  T solution[EACH];
  load_rows(r, a + start, b + start, c + start, d + start, at, length);
  solve_in_warp(solution, r, lanes);
  store(x + start, solution, at, length);
}

// A block of whole warps per contiguous system, of at most EACH unknowns per thread.
template <typename T, int EACH>
__global__ void hybrid_block(T *x, const T *a, const T *b, const T *c, const T *d, int n) {
  size_t start = (size_t)blockIdx.x * n;
  int at = threadIdx.x * EACH;
  row<T> r[EACH];
  T solution[EACH];
  load_rows(r, a + start, b + start, c + start, d + start, at, n);
  solve_in_block(solution, r);
  store(x + start, solution, at, n);
}

// ---- kernels: a step of the heat equation ---------------------------------------------------------------------------

// A product of sines, which a step only multiplies: along x `waves_x` half waves over nx + 1, and so along y and z. One
// thread per cell, as of heat_right in a block of three dimensions.
template <typename T>
__global__ void heat_wave(T *u, int waves_x, int waves_y, int waves_z, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i >= nx || j >= ny || k >= nz) return;
  double x = waves_x * (i + 1.0) / (nx + 1), y = waves_y * (j + 1.0) / (ny + 1), z = waves_z * (k + 1.0) / (nz + 1);
  u[((size_t)k * ny + j) * nx + i] = sinpi(x) * sinpi(y) * sinpi(z);
}

template <typename T> __global__ void heat_right(T *du, const T *u, T lambda, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i >= nx || j >= ny || k >= nz) return;
  size_t plane = (size_t)nx * ny, at = k * plane + (size_t)j * nx + i;
  T sum = -6 * u[at];
  sum += (i > 0 ? u[at - 1] : 0) + (i < nx - 1 ? u[at + 1] : 0);
  sum += (j > 0 ? u[at - nx] : 0) + (j < ny - 1 ? u[at + nx] : 0);
  sum += (k > 0 ? u[at - plane] : 0) + (k < nz - 1 ? u[at + plane] : 0);
  du[at] = lambda * sum;
}

// Solves (1 - lambda D) to = from along lines of n cells, `step` apart, and adds u if there is one. `pivots` are
// those of the elimination, 1 / (1 + 2 lambda - lambda^2 * the one before), the same in all lines. One thread per line.
template <typename T>
__global__ void lines_thomas(T *__restrict__ to, T *__restrict__ left, const T *__restrict__ from,
                             const T *__restrict__ u, const T *__restrict__ pivots, T lambda, int n, int lines,
                             int step) {
  int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  size_t at = start_of(line, n, step);
  T before = 0;
#pragma unroll 4
  for (int i = 0; i < n; i++, at += step) {
    before = pivots[i] * (from[at] + lambda * before);
    left[at] = before;
  }
  T behind = 0;
#pragma unroll 4
  for (int i = n - 1; i >= 0; i--) {
    at -= step;
    behind = left[at] + lambda * pivots[i] * behind;
    to[at] = u ? u[at] + behind : behind;
  }
}

// The same by LINES warps, for n <= 32 * EACH: neighbouring lines go through shared memory, so that neighbouring
// threads touch neighbouring elements in every direction. EACH is even: EACH + 1 elements from lane to lane are all
// banks.
template <typename T, int EACH, int LINES>
__global__ void lines_warp(T *__restrict__ to, const T *__restrict__ from, const T *__restrict__ u, T lambda, int n,
                           int lines, int step) {
  const int PITCH = 32 * (EACH + 1) + 1;
  __shared__ T tile[LINES][PITCH];
  int first = blockIdx.x * LINES, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Along x a warp loads its own line; else a thread loads from one line, next to those of its neighbours.
  bool is_along_x = step == 1;
  int line = is_along_x ? warp : threadIdx.x % LINES, begin = is_along_x ? lane : threadIdx.x / LINES;
  bool is_inside = first + line < lines;
  size_t start = is_inside ? start_of(first + line, n, step) : 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int i = begin + 32 * k;
    tile[line][i + i / EACH] = is_inside && i < n ? from[start + (size_t)i * step] : 0;
  }
  __syncthreads();
  T *own = tile[warp] + lane * (EACH + 1), middle = 1 + 2 * lambda, solution[EACH];
  row<T> r[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int i = lane * EACH + k;
    r[k] = make_row(i > 0 && i < n ? -lambda / middle : 0, i < n - 1 ? -lambda / middle : 0, own[k] / middle);
  }
  solve_in_warp(solution, r, 32);
#pragma unroll
  for (int k = 0; k < EACH; k++) own[k] = solution[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int i = begin + 32 * k;
    size_t at = start + (size_t)i * step;
    if (is_inside && i < n) to[at] = u ? u[at] + tile[line][i + i / EACH] : tile[line][i + i / EACH];
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// thomas, thomas_registers, lines_thomas   any block; threads for all systems
// pcr_shared    block at least n, grid `systems`; shared memory 6 * block elements
// pcr_shuffle   any block of whole warps; `lanes` threads per system
// hybrid_warp   any block of whole warps; `lanes` threads per system, lanes * EACH at least n
// hybrid_block  block of up to 32 warps, EACH * block at least n; grid `systems`. EACH is at least 2
// lines_warp    block 32 * LINES, grid lines / LINES rounded up
// x is not d. Arrays begin on a boundary of 16 bytes.
