// SPDX-License-Identifier: MIT
//
// fluid: smoke in a box, by Stam's stable fluids with red-black Gauss-Seidel. A step is
//
//   react       zero the sources; where the fluid has come to rest, push it and add smoke at every 64th cell
//   velocity    add_source, diffuse, project, advect, project
//   smoke       add_source, diffuse, advect
//
// and diffuse and project relax c x - a (sum of the neighbours) = x0 twenty times: all red cells, all black cells, then
// the border (set_bnd). Five relaxations are 200 half iterations and most of a step.
//
// Layout. A field has n x ny inner cells (n even, and as many to a unit of length) and a border of one cell: columns 0
// and n + 1, rows 0 and ny + 1. Cell (x, y) is red if x + y is even. Row y is two half rows of `pitch` places, its red
// cells and its black ones, so that threads that update cells of one colour read and write neighbours. Pair m of a row
// is columns 2 m + 1 and 2 m + 2, one red and one black, and both are at place LEAD + m of their half row: inner cells
// begin at 16 bytes, and the left border is the place before them. The neighbours of a cell are at the same place of
// the other colour in the rows above, below and its own, and at the place before (of the first of a pair) or behind
// (of the second).
//
// The ladder of the relaxation
//   relax_rows          rows as they are: a warp's cells of one colour are every other one
//   relax               the report's: red and black apart, a loop over the grid; set_bnd is a launch of its own
//   relax_texture       neighbours by a texture
//   relax_shared        neighbours of a block in shared memory
//   relax_toggle        the report's small ideas, one by one
//   relax_grid          all iterations in one launch, with grid barriers; without them it is the report's mistake
//   relax_tiles         the same, x0 of each block kept in shared memory
//   relax_hidden        x0 looked for in shared memory as an earlier launch has left it: the report's mistake
//   relax_bounds        no set_bnd between: beyond a wall is the cell's own last value, times the wall's sign
//   relax_wide          the same, four pairs per thread as one access, several rows
//   relax_levels        K iterations per pass: a warp walks down a strip with all 2 K half iterations at once, each a
//                       row behind the one before
//   relax_band          a block keeps some rows of the whole width in registers, for all iterations or for a few
//
// Bound: main memory. A half iteration reads x of the other colour and x0, and writes x: an iteration is 12 bytes a
// cell, a step 5 * 20 * 12 + 172 = 1372. relax_levels moves 12 bytes per pass: 5 * 20 / K * 12 + 172. relax_band with
// all iterations in one launch moves 12 a relaxation.
//
// Sources: B. Ocampo and M. de Mayo, "Parallel Computing, lab 4: CUDA" (undated): the step, and most forms of relax. J.
// Stam, "Stable Fluids" (1999) and "Real-Time Fluid Dynamics for Games" (2003).

#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define ALL  0xffffffffu
#define LEAD 4  // places before the first inner one
#define EACH 64 // cells from one source to the next

enum { NONE, VERTICAL, HORIZONTAL }; // which walls negate a field: none, left and right, upper and lower

// ---- device helpers -------------------------------------------------------------------------------------------------

// Where pair 0 of a half row is, and a cell.
__device__ int half_row(int colour, int y, int pitch) { return (2 * y + colour) * pitch + LEAD; }
__device__ int place(int x, int y, int pitch) { return half_row((x + y) & 1, y, pitch) + (x + 1) / 2 - 1; }

// Whether a colour's cells in a row are the second ones of their pairs: then the neighbour of the pair is at m + 1.
__device__ bool is_second(int colour, int y) { return (colour + y) % 2 == 0; }

__device__ float along_x(int wall) { return wall == VERTICAL ? -1.0f : 1.0f; }
__device__ float along_y(int wall) { return wall == HORIZONTAL ? -1.0f : 1.0f; }

// Calls f(m, y) for the cells of one colour in a loop over the grid, as all of the report's kernels do.
template <typename F> __device__ void each_pair(int n, int ny, F f) {
  for (int y = 1 + blockIdx.y * blockDim.y + threadIdx.y; y <= ny; y += gridDim.y * blockDim.y) {
    for (int m = blockIdx.x * blockDim.x + threadIdx.x; m < n / 2; m += gridDim.x * blockDim.x) f(m, y);
  }
}

// The sum of a cell's neighbours. At a wall, unless by_border, the one beyond it is the cell's own value times a sign.
__device__ float around(const float *x, int m, int y, int colour, int n, int ny, int pitch, int wall, bool by_border) {
  const float *near = x + half_row(1 - colour, y, pitch) + m;
  int second = is_second(colour, y);
  float up = near[-2 * pitch], down = near[2 * pitch], side = near[second ? 1 : -1];
  bool is_beside = m == (second ? n / 2 - 1 : 0);
  if (!by_border && (is_beside || y == 1 || y == ny)) {
    float own = x[half_row(colour, y, pitch) + m];
    if (is_beside) side = along_x(wall) * own;
    if (y == 1) up = along_y(wall) * own;
    if (y == ny) down = along_y(wall) * own;
  }
  return up + near[0] + side + down;
}

// ---- kernels: the step without its relaxation -----------------------------------------------------------------------

__global__ void add_source(float *x, const float *s, float dt, int count) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) x[k] += dt * s[k];
}

// The corners follow from the cells inside, not from borders that another block may not have written yet.
// ROWS: rows as they are, as for relax_rows.
template <bool ROWS> __global__ void set_bnd(float *x, int n, int ny, int pitch, int wall) {
  float sx = along_x(wall), sy = along_y(wall);
  auto at = [=](int i, int j) -> float & { return x[ROWS ? j * (n + 2) + i : place(i, j, pitch)]; };
  int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= ny) {
    at(0, i) = sx * at(1, i);
    at(n + 1, i) = sx * at(n, i);
  }
  if (i <= n) {
    at(i, 0) = sy * at(i, 1);
    at(i, ny + 1) = sy * at(i, ny);
  }
  if (i > 4) return;
  int far_x = i % 2, far_y = i / 2 % 2;
  at(far_x ? n + 1 : 0, far_y ? ny + 1 : 0) = 0.5f * (sx + sy) * at(far_x ? n : 1, far_y ? ny : 1);
}

// div = -h / 2 (du/dx + dv/dy) and p = 0, of a pair.
__global__ void divergence(float *__restrict__ p, float *__restrict__ div, const float *__restrict__ u,
                           const float *__restrict__ v, int n, int ny, int pitch) {
  int m = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= n / 2 || y > ny) return;
  int first = half_row((1 + y) % 2, y, pitch) + m, second = half_row(y % 2, y, pitch) + m;
  float along = -0.5f / n;
  // In the row above and the one below the first cell of a pair has the other colour.
  div[first] = along * (u[second] - u[second - 1] + v[second + 2 * pitch] - v[second - 2 * pitch]);
  div[second] = along * (u[first + 1] - u[first] + v[first + 2 * pitch] - v[first - 2 * pitch]);
  p[first] = p[second] = 0;
}

// All that is read before anything is written, so that no read waits for another.
__global__ void gradient(float *__restrict__ u, float *__restrict__ v, const float *__restrict__ p, int n, int ny,
                         int pitch) {
  int m = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= n / 2 || y > ny) return;
  int first = half_row((1 + y) % 2, y, pitch) + m, second = half_row(y % 2, y, pitch) + m;
  float along = 0.5f * n;
  float u1 = u[first] - along * (p[second] - p[second - 1]);
  float v1 = v[first] - along * (p[second + 2 * pitch] - p[second - 2 * pitch]);
  float u2 = u[second] - along * (p[first + 1] - p[first]);
  float v2 = v[second] - along * (p[first + 2 * pitch] - p[first - 2 * pitch]);
  u[first] = u1;
  v[first] = v1;
  u[second] = u2;
  v[second] = v2;
}

// What d0 is where the fluid of a cell was a step ago.
__global__ void advect(float *__restrict__ d, const float *__restrict__ d0, const float *__restrict__ u,
                       const float *__restrict__ v, float dt, int n, int ny, int pitch) {
  int m = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= n / 2 || y > ny) return;
#pragma unroll
  for (int q = 1; q <= 2; q++) {
    int x = 2 * m + q, here = place(x, y, pitch);
    float fx = fminf(fmaxf(x - dt * n * u[here], 0.5f), n + 0.5f);
    float fy = fminf(fmaxf(y - dt * n * v[here], 0.5f), ny + 0.5f);
    int i = (int)fx, j = (int)fy;
    float s = fx - i, t = fy - j;
    auto at = [=](int right, int down) { return d0[place(i + right, j + down, pitch)]; };
    d[here] = (1 - s) * ((1 - t) * at(0, 0) + t * at(0, 1)) + s * ((1 - t) * at(1, 0) + t * at(1, 1));
  }
}

// ---- kernels: react -------------------------------------------------------------------------------------------------

__global__ void rest(float *most) { most[threadIdx.x] = 0; }

// most[0] = the greatest u0^2 + v0^2, most[1] = the greatest d0. Floats from 0 on are in the order of their bits.
__global__ void maxima(float *most, const float *u0, const float *v0, const float *d0, int count) {
  float speed = 0, smoke = 0;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    speed = fmaxf(speed, u0[k] * u0[k] + v0[k] * v0[k]);
    smoke = fmaxf(smoke, d0[k]);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    speed = fmaxf(speed, __shfl_down_sync(ALL, speed, lanes));
    smoke = fmaxf(smoke, __shfl_down_sync(ALL, smoke, lanes));
  }
  if (threadIdx.x % 32 > 0) return;
  atomicMax((int *)most, __float_as_int(speed));
  atomicMax((int *)most + 1, __float_as_int(smoke));
}

// u0^2 + v0^2 of each place, for a library's maximum.
__global__ void speeds(float *squares, const float *u0, const float *v0, int count) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) squares[k] = u0[k] * u0[k] + v0[k] * v0[k];
}

// All sources to zero but those of react, in one pass; the report has memsets, and launches for the few cells. ADD:
// adds them as add_source does, which adds nothing to any other cell. A place per thread.
template <bool ADD>
__global__ void react(float *u0, float *v0, float *d0, float *u, float *v, float *d, const float *most, float force,
                      float source, float dt, int n, int ny, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= pitch || row >= 2 * (ny + 2)) return;
  bool is_slow = most[0] < 0.0000005f, is_clear = most[1] < 1.0f;
  int y = row / 2, x = 2 * (i - LEAD) + (is_second(row % 2, y) ? 2 : 1), k = row * pitch + i;
  bool is_centre = x == n / 2 && y == ny / 2, is_inside = x > 0 && y > 0 && x < n && y < ny;
  bool is_source = is_inside && x % EACH == 0 && y % EACH == 0;
  float push_x = 0, push_y = 0, smoke = 0;
  if (is_centre) push_x = push_y = force * 10, smoke = source * 10;
  if (is_source) { // also where it is the centre, whose push is lost then: the report's
    push_x = force * 1000 * (ny / 2 - y) / (ny / 2);
    push_y = force * 1000 * (n / 2 - x) / (n / 2);
    smoke = source * 1000;
  }
  if (!is_slow) push_x = push_y = 0;
  if (!is_clear) smoke = 0;
  u0[k] = push_x;
  v0[k] = push_y;
  d0[k] = smoke;
  if (ADD && (is_centre || is_source)) {
    u[k] += dt * push_x;
    v[k] += dt * push_y;
    d[k] += dt * smoke;
  }
}

// ---- kernels: relaxation, as the report has it ----------------------------------------------------------------------

__device__ void half_sweep(float *x, const float *x0, float a, float part, int n, int ny, int pitch, int colour,
                           int wall, bool by_border) {
  each_pair(n, ny, [=](int m, int y) {
    int k = half_row(colour, y, pitch) + m;
    x[k] = (x0[k] + a * around(x, m, y, colour, n, ny, pitch, wall, by_border)) * part;
  });
}

__global__ void relax(float *x, const float *x0, float a, float part, int n, int ny, int pitch, int colour) {
  half_sweep(x, x0, a, part, n, ny, pitch, colour, NONE, true);
}

// Rows as they are: field[y * (n + 2) + x].
__global__ void relax_rows(float *x, const float *x0, float a, float part, int n, int ny, int colour) {
  int w = n + 2;
  each_pair(n, ny, [=](int m, int y) {
    int k = y * w + 2 * m + (is_second(colour, y) ? 2 : 1);
    x[k] = (x0[k] + a * (x[k - w] + x[k - 1] + x[k + 1] + x[k + w])) * part;
  });
}

// From the layout of the others to rows as they are, or BACK, a cell per thread.
template <bool BACK> __global__ void reorder(float *x, float *rows, int n, int ny, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > n + 1 || j > ny + 1) return;
  if (BACK) x[place(i, j, pitch)] = rows[j * (n + 2) + i];
  else rows[j * (n + 2) + i] = x[place(i, j, pitch)];
}

// near: a texture of the half rows of x.
__global__ void relax_texture(float *x, cudaTextureObject_t near, const float *x0, float a, float part, int n, int ny,
                              int pitch, int colour) {
  each_pair(n, ny, [=](int m, int y) {
    int k = half_row(colour, y, pitch) + m, row = 2 * y + 1 - colour, i = LEAD + m;
    int side = is_second(colour, y) ? i + 1 : i - 1;
    float sum = tex2D<float>(near, i, row - 2) + tex2D<float>(near, i, row) + tex2D<float>(near, side, row) +
                tex2D<float>(near, i, row + 2);
    x[k] = (x0[k] + a * sum) * part;
  });
}

// A block of W x H has the other colour's places in it and around it in shared memory.
template <int W, int H>
__global__ void relax_shared(float *x, const float *x0, float a, float part, int n, int ny, int pitch, int colour) {
  __shared__ float near[H + 2][W + 2];
  int from = blockIdx.x * W, top = 1 + blockIdx.y * H;
  for (int k = threadIdx.y * W + threadIdx.x; k < (H + 2) * (W + 2); k += W * H) {
    int row = k / (W + 2), column = k % (W + 2), m = from - 1 + column, y = top - 1 + row;
    near[row][column] = m <= n / 2 && y <= ny + 1 ? x[half_row(1 - colour, y, pitch) + m] : 0;
  }
  __syncthreads();
  int m = from + threadIdx.x, y = top + threadIdx.y, i = threadIdx.x + 1, j = threadIdx.y + 1;
  if (m >= n / 2 || y > ny) return;
  int k = half_row(colour, y, pitch) + m;
  float sum = near[j - 1][i] + near[j][i] + near[j][is_second(colour, y) ? i + 1 : i - 1] + near[j + 1][i];
  x[k] = (x0[k] + a * sum) * part;
}

// No loop over the grid, and: a division; x0 by __ldg; x by __stwt; several rows, unrolled.
template <bool DIVIDE, bool LDG, bool STWT, int ROWS>
__global__ void relax_toggle(float *__restrict__ x, const float *__restrict__ x0, float a, float part, float c, int n,
                             int ny, int pitch, int colour) {
  int m = blockIdx.x * blockDim.x + threadIdx.x, first = 1 + (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  if (m >= n / 2) return;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    int y = first + r, k = half_row(colour, y, pitch) + m;
    if (y > ny) return;
    float b = LDG ? __ldg(x0 + k) : x0[k], sum = around(x, m, y, colour, n, ny, pitch, NONE, true);
    float value = DIVIDE ? (b + a * sum) / c : (b + a * sum) * part;
    if (STWT) __stwt(x + k, value);
    else x[k] = value;
  }
}

// All iterations in one launch. BARRIERS = false: the mistake of "without sync"; red and black race.
template <bool BARRIERS>
__global__ void relax_grid(float *x, const float *x0, float a, float part, int n, int ny, int pitch, int wall,
                           int iterations) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int h = 0; h < 2 * iterations; h++) {
    half_sweep(x, x0, a, part, n, ny, pitch, h % 2, wall, h < 2);
    if (BARRIERS) grid.sync();
  }
}

// The same half iteration, where each thread keeps x0 of its cells in the block's shared memory: HELD floats per thread
// and colour at most, from the first iteration on; the others are read again.
template <int HELD>
__device__ void half_sweep_kept(float *kept, float *x, const float *x0, float a, float part, int n, int ny, int pitch,
                                int colour, int wall, bool is_first) {
  int threads = blockDim.x * blockDim.y, at = colour * HELD * threads + threadIdx.y * blockDim.x + threadIdx.x;
  int end = (colour + 1) * HELD * threads;
  each_pair(n, ny, [=, &at](int m, int y) {
    int k = half_row(colour, y, pitch) + m;
    float b = is_first || at >= end ? x0[k] : kept[at];
    if (is_first && at < end) kept[at] = b;
    at += threads;
    x[k] = (b + a * around(x, m, y, colour, n, ny, pitch, wall, is_first)) * part;
  });
}

template <int HELD>
__global__ void relax_tiles(float *x, const float *x0, float a, float part, int n, int ny, int pitch, int wall,
                            int iterations) {
  extern __shared__ float kept[];
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int h = 0; h < 2 * iterations; h++) {
    half_sweep_kept<HELD>(kept, x, x0, a, part, n, ny, pitch, h % 2, wall, h < 2);
    grid.sync();
  }
}

// What shidden tells a block by: at bx = 0 it is 0 and by, and of the first block as cleared memory has it. A colour is
// not in it.
__device__ int2 hidden_key(int bx, int by) { return make_int2(bx * by + bx, bx * by + by); }

// x0 of a block of 16 x 16, left in shared memory (STORES), or looked for where an earlier launch may have left it.
template <bool STORES>
__global__ void relax_hidden(int *found, float *x, const float *x0, float a, float part, int n, int ny, int pitch,
                             int colour) {
  __shared__ float left[16][16];
  __shared__ int bx, by, id1, id2;
  bool is_one = threadIdx.x == 0 && threadIdx.y == 0;
  if (STORES && is_one) {
    int2 key = hidden_key(blockIdx.x, blockIdx.y);
    bx = blockIdx.x, by = blockIdx.y, id1 = key.x, id2 = key.y;
  }
  bool is_there = false;
  if (!STORES) {
    int2 wanted = hidden_key(bx, by);
    is_there = id1 == wanted.x && id2 == wanted.y && bx < gridDim.x && by < gridDim.y;
  }
  int m = (is_there ? bx : blockIdx.x) * 16 + threadIdx.x, y = 1 + (is_there ? by : blockIdx.y) * 16 + threadIdx.y;
  if (is_one && is_there) atomicAdd(found, 1);
  if (m >= n / 2 || y > ny) return;
  int k = half_row(colour, y, pitch) + m;
  float b = is_there ? left[threadIdx.y][threadIdx.x] : x0[k];
  if (STORES) left[threadIdx.y][threadIdx.x] = b;
  x[k] = (b + a * around(x, m, y, colour, n, ny, pitch, NONE, true)) * part;
}

// ---- kernels: relaxation without set_bnd between --------------------------------------------------------------------

__global__ void relax_bounds(float *__restrict__ x, const float *__restrict__ x0, float a, float part, int n, int ny,
                             int pitch, int colour, int wall, int by_border) {
  int m = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= n / 2 || y > ny) return;
  int k = half_row(colour, y, pitch) + m;
  x[k] = (x0[k] + a * around(x, m, y, colour, n, ny, pitch, wall, by_border)) * part;
}

template <int W> struct cells { // of a half row, one after the other
  float at[W];
};

// 16 bytes per access, of W = 1 and 2 (and of half precision) fewer.
template <int W> __device__ cells<W> loaded(const float *from) {
  cells<W> c;
#pragma unroll
  for (int w = 0; w < W; w += W < 4 ? W : 4) {
    if (W == 1) c.at[w] = from[w];
    else if (W == 2) *(float2 *)(c.at + w) = *(const float2 *)(from + w);
    else *(float4 *)(c.at + w) = *(const float4 *)(from + w);
  }
  return c;
}
template <int W> __device__ cells<W> loaded(const __half *from) {
  cells<W> c;
#pragma unroll
  for (int w = 0; w < W; w += 2) *(float2 *)(c.at + w) = __half22float2(*(const __half2 *)(from + w));
  return c;
}
template <int W> __device__ void store(float *to, const cells<W> &c) {
#pragma unroll
  for (int w = 0; w < W; w += W < 4 ? W : 4) {
    if (W == 1) to[w] = c.at[w];
    else if (W == 2) *(float2 *)(to + w) = *(const float2 *)(c.at + w);
    else *(float4 *)(to + w) = *(const float4 *)(c.at + w);
  }
}

template <int W> __device__ cells<W> scaled(cells<W> c, float by) {
#pragma unroll
  for (int w = 0; w < W; w++) c.at[w] *= by;
  return c;
}

// Four pairs per thread, and ROWS rows: the other colour's cells of a row serve three.
template <int ROWS>
__global__ void relax_wide(float *__restrict__ x, const float *__restrict__ x0, float a, float part, int n, int ny,
                           int pitch, int colour, int wall, int by_border) {
  int m = 4 * (blockIdx.x * blockDim.x + threadIdx.x), first = 1 + (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  if (m >= n / 2 || first > ny) return;
  float sx = along_x(wall), sy = along_y(wall);
  cells<4> b[ROWS], near[ROWS + 2], row;
  float side[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS + 2; r++) {
    if (first + r - 1 > ny + 1) break;
    near[r] = loaded<4>(x + half_row(1 - colour, first + r - 1, pitch) + m);
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    if (first + r > ny) break;
    b[r] = loaded<4>(x0 + half_row(colour, first + r, pitch) + m);
    side[r] = x[half_row(1 - colour, first + r, pitch) + (is_second(colour, first + r) ? m + 4 : m - 1)];
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    int y = first + r, second = is_second(colour, y);
    if (y > ny) return;
    float *to = x + half_row(colour, y, pitch) + m;
#pragma unroll
    for (int w = 0; w < 4; w++) {
      float up = near[r].at[w], down = near[r + 2].at[w];
      float far = side[r];
      if (second && w < 3) far = near[r + 1].at[(w + 1) % 4];
      if (!second && w > 0) far = near[r + 1].at[(w + 3) % 4];
      bool is_beside = m + w == (second ? n / 2 - 1 : 0);
      if (!by_border && (is_beside || y == 1 || y == ny) && m + w < n / 2) {
        if (is_beside) far = sx * to[w];
        if (y == 1) up = sy * to[w];
        if (y == ny) down = sy * to[w];
      }
      row.at[w] = (b[r].at[w] + a * (up + near[r + 1].at[w] + far + down)) * part;
    }
    if (m + 4 <= n / 2) store<4>(to, row);
    else for (int w = 0; w < n / 2 - m; w++) to[w] = row.at[w];
  }
}

// ---- kernels: several iterations per pass ---------------------------------------------------------------------------
// Here x is kept times c, so that a cell is three additions and a multiplication: c x = x0 + a / c (sum of c x around).

// What an update needs to know of where it is: of a lane, and of a relaxation.
struct where {
  int m, n, ny;      // the lane's first pair
  float sx, sy, over; // the walls' signs, a / c
};

// A half iteration of W cells of row r, of which `near` are the other colour's at the same places. second: as
// is_second. edge: at a wall the neighbour beyond it is the cell's own value, but by_border; what is no inner cell
// stays.
template <int W>
__device__ cells<W> updated(cells<W> own, const cells<W> &near, const cells<W> &up, const cells<W> &down,
                            const cells<W> &b, float beyond, int r, const where &at, bool second, bool edge,
                            bool by_border) {
#pragma unroll
  for (int w = 0; w < W; w++) {
    float above = up.at[w], below = down.at[w], value = own.at[w];
    float side = second ? (w + 1 < W ? near.at[(w + 1) % W] : beyond) : (w > 0 ? near.at[(w + W - 1) % W] : beyond);
    if (edge && !by_border) {
      if (at.m + w == (second ? at.n / 2 - 1 : 0)) side = at.sx * value;
      if (r == 1) above = at.sy * value;
      if (r == at.ny) below = at.sy * value;
    }
    bool is_inner = !edge || (r >= 1 && r <= at.ny && at.m + w >= 0 && at.m + w < at.n / 2);
    if (is_inner) own.at[w] = b.at[w] + at.over * (above + near.at[w] + side + below);
  }
  return own;
}

template <int W> struct both { // half rows of a row: red, black
  cells<W> of[2];
};

// The places from i on of row y, where y is from the first row to the last and i at most the right border's; else zero.
template <int W>
__device__ both<W> row_of(const float *x, int i, int y, int first, int last, int most, int pitch) {
  both<W> row = {};
  if (i < 0 || i > most || y < first || y > last) return row;
#pragma unroll
  for (int colour = 0; colour < 2; colour++) row.of[colour] = loaded<W>(x + (2 * y + colour) * pitch + i);
  return row;
}

// Row j enters the levels; level l updates row j - l - 1, red cells where l is even, and hands it on. Its neighbours:
// the row that comes from the level before is the one below, the next level still has the one above. x0 of the last
// rows is in the warp's ring in shared memory, where that of row j - 1 is at `newest`.
template <int K, int W, typename T>
__device__ void through(both<W> *held, both<W> row, const T *ring, unsigned newest, int j, const where &at,
                        bool second, bool edge, bool by_border) {
  const unsigned ROW = 64 * W, END = (2 * K + 2) * ROW;
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int l = 0; l < 2 * K; l++) {
    int colour = l % 2;
    unsigned place = min(newest - l * ROW, newest - l * ROW + END); // the lesser has not gone below zero
    cells<W> near = held[l].of[1 - colour], b = loaded<W>(ring + place + colour * ROW / 2);
    float beyond = __shfl_sync(ALL, near.at[second ? 0 : W - 1], second ? lane + 1 : lane - 1);
    both<W> out = held[l];
    out.of[colour] = updated<W>(out.of[colour], near, held[l + 1].of[1 - colour], row.of[1 - colour], b, beyond,
                                j - l - 1, at, second, edge, by_border && l < 2);
    held[l] = row;
    row = out;
  }
  held[2 * K] = row;
}

// Copies x0 of a lane's places in a row into the ring, on the way while other rows are worked on; else zero.
template <int W, typename T>
__device__ void fetch(T *to, const T *x0, int i, int row, int most, int ny, int pitch) {
  bool is_in = i >= 0 && i <= most && row >= 1 && row <= ny;
#pragma unroll
  for (int colour = 0; colour < 2; colour++) {
    __pipeline_memcpy_async(to + colour * 32 * W, x0 + (is_in ? (2 * row + colour) * pitch + i : 0), W * sizeof(T),
                            is_in ? 0 : W * sizeof(T));
  }
  __pipeline_commit();
}

// K iterations from x to y, but for the border. rows: of a warp, an even number. T: float or __half, of x0.
template <int K, int W, typename T>
__global__ void __launch_bounds__(128)
    relax_levels(float *__restrict__ y, const float *__restrict__ x, const T *__restrict__ x0, float a, float part,
                 float c, int n, int ny, int pitch, int wall, int rows, int by_border) {
  const int HALO = (K + W - 1) / W;                            // lanes
  const unsigned RING = 2 * K + 2, ROW = 64 * W, END = RING * ROW; // rows, places
  extern __shared__ __align__(16) char memory[];
  int lanes = 32 - 2 * HALO, lane = threadIdx.x % 32, from = blockIdx.x * blockDim.x / 32 * lanes * W;
  int i = from + (threadIdx.x / 32 * lanes + lane - HALO) * W, first = 1 + blockIdx.y * rows;
  int last = min(first + rows - 1, ny), start = first - 2 * K, top = !by_border, bottom = ny + !top;
  int most = LEAD + n / 2;
  bool is_own = lane >= HALO && lane < 32 - HALO && i <= most;
  bool is_beside = blockIdx.x == 0 || from + (blockDim.x / 32 * lanes + HALO) * W >= most; // of the block
  where at = {i - LEAD, n, ny, along_x(wall), along_y(wall), a * part};
  T *ring = (T *)memory + threadIdx.x / 32 * END + lane * W;
  both<W> held[2 * K + 1] = {}, next[2];
  for (int odd = 0; odd < 2; odd++) next[odd] = row_of<W>(x, i, start + odd, top, bottom, most, pitch);
  for (unsigned s = 2; s < RING; s++) { // what the first rows find is not used
    for (int k = 0; k < W; k++) ring[s * ROW + k] = ring[s * ROW + ROW / 2 + k] = 0;
  }
  fetch<W>(ring, x0, i, start, most, ny, pitch);
  unsigned newest = END - ROW;
  for (int j = start; j <= last + 2 * K; j += 2) {
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
      both<W> row; // here times c, not where it is read: that would wait for it
#pragma unroll
      for (int colour = 0; colour < 2; colour++) row.of[colour] = scaled(next[odd].of[colour], c);
      next[odd] = row_of<W>(x, i, j + odd + 2, top, bottom, most, pitch); // two rows ahead
      fetch<W>(ring + min(newest + 2 * ROW, newest + 2 * ROW - END), x0, i, j + odd + 1, most, ny, pitch);
      __pipeline_wait_prior(2);
      if (is_beside || j - 2 * K <= 1 || j + 1 >= ny) {
        through<K, W>(held, row, ring, newest, j + odd, at, !odd, true, by_border);
      } else {
        through<K, W>(held, row, ring, newest, j + odd, at, !odd, false, false);
      }
      newest = min(newest + ROW, newest + ROW - END);
      int done = j + odd - 2 * K;
      if (is_own && done >= first && done <= last) {
#pragma unroll
        for (int colour = 0; colour < 2; colour++) {
          store<W>(y + (2 * done + colour) * pitch + i, scaled(held[2 * K].of[colour], part));
        }
      }
    }
  }
}

// The inner cells of a field, a pair per thread.
__global__ void copy_inner(float *to, const float *from, int n, int ny, int pitch) {
  int m = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= n / 2 || y > ny) return;
  for (int colour = 0; colour < 2; colour++) {
    int k = half_row(colour, y, pitch) + m;
    to[k] = from[k];
  }
}

// x0 in 16 bits.
__global__ void to_half(__half *to, const float *from, int count) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) to[k] = __float2half(from[k]);
}

// Where a lane's places of an edge are: the first or the last row of a warp, from -1 on.
__device__ int edge(int colour, int warp, int is_last, int W) {
  return (((colour * (blockDim.x / 32 + 2) + warp + 1) * 2 + is_last) * 32 + threadIdx.x % 32) * W;
}

// W cells of a row times c; zero next to the field, where `by` is how far the border counts as a part of it: 1, or 0.
template <int W>
__device__ cells<W> cells_of(const float *f, float c, int colour, int y, int m, int ny, int pitch, int by) {
  cells<W> row = {};
  if (y > -by && y < ny + 1 + by) row = scaled(loaded<W>(f + half_row(colour, y, pitch) + m), c);
  return row;
}

// The cells of a lane in a block that keeps rows in registers: R rows of W pairs, with their right-hand sides.
template <int W, int R> struct rows {
  cells<W> own[2][R], b[2][R];
};

// Leaves the first and the last row of a colour to the warps next to. edges: of each warp, by colour.
template <int W, int R> __device__ void leave(float *edges, const rows<W, R> *lane, int colour, int warp) {
  store<W>(edges + edge(colour, warp, 0, W), lane->own[colour][0]);
  store<W>(edges + edge(colour, warp, 1, W), lane->own[colour][R - 1]);
}

// A half iteration of these rows, from row `top` on, which is odd. EDGE: some may be at a wall, or no inner ones. x: for
// its border, in the first iteration.
template <bool EDGE, int W, int R>
__device__ void half_rows(rows<W, R> *lane, const cells<W> &above, const cells<W> &below, float *beyond, const float *x,
                          float c, int colour, int top, int pitch, const where &at, bool by_border) {
  const cells<W> *near = lane->own[1 - colour];
#pragma unroll
  for (int q = 0; q < R; q++) {
    int r = top + q;
    bool second = (colour + 1 + q) % 2 == 0, is_inner = !EDGE || (r >= 1 && r <= at.ny);
    cells<W> own = lane->own[colour][q], up = q > 0 ? near[(q + R - 1) % R] : above;
    cells<W> down = q + 1 < R ? near[(q + 1) % R] : below;
    if (EDGE && by_border && is_inner && at.m == (second ? 31 * W : 0))
      beyond[q] = c * x[half_row(1 - colour, r, pitch) + (second ? 32 * W : -1)];
    if (EDGE && !by_border && r == 1) up = scaled(own, at.sy);
    if (EDGE && !by_border && r == at.ny) down = scaled(own, at.sy);
    if (is_inner) own = updated<W>(own, near[q], up, down, lane->b[colour][q], beyond[q], r, at, second, false, false);
    lane->own[colour][q] = own;
  }
}

// The same, with what it needs of the warps next to and of the lanes next to.
template <int W, int R>
__device__ void half_band(rows<W, R> *lane, const float *edges, const float *x, float c, int colour, int warp, int top,
                          int pitch, const where &at, bool by_border) {
  cells<W> above = loaded<W>(edges + edge(1 - colour, warp - 1, 1, W));
  cells<W> below = loaded<W>(edges + edge(1 - colour, warp + 1, 0, W));
  int number = threadIdx.x % 32;
  float beyond[R];
#pragma unroll
  for (int q = 0; q < R; q++) {
    bool second = (colour + 1 + q) % 2 == 0;
    beyond[q] = __shfl_sync(ALL, lane->own[1 - colour][q].at[second ? 0 : W - 1], second ? number + 1 : number - 1);
    if (number == (second ? 31 : 0)) beyond[q] = at.sx * lane->own[colour][q].at[second ? W - 1 : 0];
  }
  bool is_beside = by_border || top <= 1 || top + R > at.ny;
  if (is_beside) half_rows<true>(lane, above, below, beyond, x, c, colour, top, pitch, at, by_border);
  else half_rows<false>(lane, above, below, beyond, x, c, colour, top, pitch, at, false);
}

// `count` iterations of rows that a block keeps in registers, the whole width: R rows per warp, W pairs per lane, n =
// 64 W. A block updates `halo` rows more at both ends than the `rows` that it writes, twice count, or none if it has
// all; where y is x it must have all. The rows next to the block's stay as they were: what is wrong moves inwards by a
// row each time.
template <int W, int R>
__global__ void __launch_bounds__(W *R > 16 ? 256 : W * R > 8 ? 512 : 1024)
    relax_band(float *y, const float *x, const float *x0, float a, float part, float c, int n, int ny, int pitch,
               int wall, int own, int halo, int count, int by_border) {
  extern __shared__ __align__(16) float edges[];
  int warp = threadIdx.x / 32, warps = blockDim.x / 32, m = (int)threadIdx.x % 32 * W;
  int from = 1 + blockIdx.x * own - halo, top = from + warp * R; // both are odd
  where at = {m, n, ny, along_x(wall), along_y(wall), a * part};
  rows<W, R> lane;
#pragma unroll
  for (int colour = 0; colour < 2; colour++) {
#pragma unroll
    for (int q = 0; q < R; q++) {
      lane.own[colour][q] = cells_of<W>(x, c, colour, top + q, m, ny, pitch, by_border);
      lane.b[colour][q] = cells_of<W>(x0, 1, colour, top + q, m, ny, pitch, 0);
    }
    leave(edges, &lane, colour, warp);
    if (warp > 0) continue;
    int end = from + warps * R;
    store<W>(edges + edge(colour, -1, 1, W), cells_of<W>(x, c, colour, from - 1, m, ny, pitch, by_border));
    store<W>(edges + edge(colour, warps, 0, W), cells_of<W>(x, c, colour, end, m, ny, pitch, by_border));
  }
  __syncthreads();
  for (int k = 0; k < count; k++) {
#pragma unroll
    for (int colour = 0; colour < 2; colour++) {
      half_band(&lane, edges, x, c, colour, warp, top, pitch, at, by_border && k == 0);
      leave(edges, &lane, colour, warp);
      __syncthreads();
    }
  }
#pragma unroll
  for (int q = 0; q < R; q++) {
    int r = top + q;
    if (r < from + halo || r >= from + halo + own || r > ny) continue;
#pragma unroll
    for (int colour = 0; colour < 2; colour++) {
      store<W>(y + half_row(colour, r, pitch) + m, scaled(lane.own[colour][q], part));
    }
  }
}
