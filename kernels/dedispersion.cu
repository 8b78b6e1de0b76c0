// SPDX-License-Identifier: MIT
//
// dedispersion: out[d][t] = sum over the channels c of x[c][t + shift[d][c]], for many trial dispersions d.
//
// x has 8 bits per sample, channel after channel, `stride` samples each (a multiple of 4); shift[d][c] are samples, at
// most 65535, that do not fall with d. All sums are exact, so all rungs give the same bits. An "add" is one sample
// added to one sum: channels * times * dms of them.
//
// The ladder: adds a cycle and multiprocessor, which the loads bound. A warp's load from shared memory, 32 lanes and 4
// bytes, takes a cycle; one from global memory that the first-level cache serves takes two, as many bytes as it has
//   dedisperse_direct            a byte and its shift from global memory: 8
//   dedisperse_registers<R>      four neighbouring times of a thread are a word that begins anywhere: two aligned words
//                                for 4 adds, 32. R such places share the load of a shift, and eight shifts are one load
//   dedisperse_shared<R,D,W>     a byte from shared memory: 32
//   dedisperse_pairs<R,D,W>      two samples in a word of 16-bit halves, unloaded every 256 channels (257 * 255 =
//                                65535): 64. As AstroAccelerate's kernel, which unloads every 4
//   dedisperse_quads<R,D,W>      four samples in a word. Their sums overflow into each other; that of the odd bytes is
//                                kept apart, from which that of the even ones follows modulo 2^32: 128, as many as
//                                the 64 integer units allow (a permutation and two halves of a three-operand addition
//                                for four samples)
//   dedisperse_groups<R,D,W>     four channels in a word, added by one dp4a to 32 bits, so nothing is unloaded.
//                                Channels side by side have few patterns of relative shifts within a tile of
//                                trials; plan_groups lists them, a block makes the words of each pattern: 128,
//                                at half of the issue slots
//   dedisperse_tensor<N,W,J>     tensor cores: the sum over channels is a product with a matrix of zeros and ones, of 16
//                                trials, 8 times and 8, 4, 2 channels or one. A lane loads two words for a product of
//                                8 or 4 channels, 512 and 256, and one for the others, 256 and 128; 294 where trials are
//                                a sample apart
//
// A block of dedisperse_shared to dedisperse_groups has W warps, a tile of W * D trials, and times for R loads of each
// lane. It stages CHANNELS channels from the least shift of the tile on. All lanes of a warp have its trials.
//
// Further kernels: delays, plan_groups, tile_shifts, zero_dm_mean, zero_dm_subtract, bin_times, row_statistics, boxcars,
// squares, observe. Bound: main memory.
//
// Sources: W. Armour, K. Adamek and others, AstroAccelerate (Oxford's course, lecture 9; undated, the latest year named
// is 2023), and its kernels (github.com/AstroAccelerateOrg/astro-accelerate, 0dc2cd08 of 2025-12-01).

#define CHANNELS 8   // staged at once, by dedisperse_shared to dedisperse_quads
#define GROUPS   4   // staged at once, by dedisperse_groups
#define UNLOAD   256 // channels until the sums of 16 bits are unloaded

// ---- device helpers ------------------------------------------------------------------------------------------------

// Four samples of a channel, from a multiple of four on; 0 beyond its end.
__device__ unsigned word_of(const unsigned char *x, int c, int k, int stride) {
  return 4 * k < stride ? ((const unsigned *)(x + (size_t)c * stride))[k] : 0;
}

__device__ void put(float *out, int d, int t, int dms, int times, unsigned sum) {
  if (d < dms && t < times) out[(size_t)d * times + t] = (float)sum;
}

// Where the tile's samples of a channel begin: a multiple of four.
__device__ int first_of(const unsigned short *shifts, int d, int c, int channels) {
  return shifts[(size_t)d * channels + c] & ~3;
}

// ---- delays --------------------------------------------------------------------------------------------------------

// The shift of each trial and channel, rounded: part has the delay of a channel over the lowest channel's. Without
// fused operations, so that all devices and the host have the same.
__global__ void delays(unsigned short *shifts, const double *part, double step, int first, int channels, int dms) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, d = blockIdx.y;
  if (c >= channels) return;
  double delay = __dmul_rn(__dmul_rn(first + d, step), part[c]);
  shifts[(size_t)d * channels + c] = (unsigned short)floor(__dadd_rn(delay, 0.5));
}

// ---- global memory -------------------------------------------------------------------------------------------------

__global__ void dedisperse_direct(float *out, const unsigned char *x, const unsigned short *shifts, int channels,
                                  int times, int dms, int stride) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, d = blockIdx.y * blockDim.y + threadIdx.y;
  if (t >= times || d >= dms) return;
  unsigned sum = 0;
  for (int c = 0; c < channels; c++) sum += x[(size_t)c * stride + t + shifts[(size_t)d * channels + c]];
  put(out, d, t, dms, times, sum);
}

// A thread has four neighbouring times in each of R places that lie 128 apart: the bytes of a word that begins anywhere,
// which is two aligned words. dp4a with a 1 in one byte adds that byte. The shifts of eight channels are one load, where
// their number is a multiple of eight and all times are there; those of the next eight are on their way meanwhile.
template <int R>
__global__ void dedisperse_registers(float *out, const unsigned char *x, const unsigned short *shifts, int channels,
                                     int times, int dms, int stride) {
  int t = 4 * ((blockIdx.x * blockDim.x + threadIdx.x / 32 * 32) * R + threadIdx.x % 32);
  int d = blockIdx.y * blockDim.y + threadIdx.y, whole = channels % 8 == 0 && t + 128 * R - 125 < times ? channels : 0;
  if (d >= dms) return;
  const unsigned short *shift = shifts + (size_t)d * channels;
  unsigned sum[R][4] = {};
  uint4 next = whole ? *(const uint4 *)shift : make_uint4(0, 0, 0, 0);
  for (int c = 0; c < whole; c += 8) {
    unsigned pair[4] = {next.x, next.y, next.z, next.w};
    if (c + 8 < whole) next = *(const uint4 *)(shift + c + 8);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      unsigned s = pair[k / 2] >> 16 * (k % 2) & 65535;
      const unsigned *from = (const unsigned *)(x + (size_t)(c + k) * stride) + (t + s) / 4;
#pragma unroll
      for (int r = 0; r < R; r++) {
        unsigned four = __funnelshift_r(from[32 * r], from[32 * r + 1], 8 * (s % 4));
#pragma unroll
        for (int q = 0; q < 4; q++) sum[r][q] = __dp4a(four, 1u << 8 * q, sum[r][q]);
      }
    }
  }
  for (int c = whole; c < channels; c++)
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int q = 0; q < 4; q++) {
        int at = t + 128 * r + q;
        if (at < times) sum[r][q] += x[(size_t)c * stride + at + shift[c]];
      }
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int q = 0; q < 4; q++) put(out, d, t + 128 * r + q, dms, times, sum[r][q]);
}

// ---- bytes in shared memory ----------------------------------------------------------------------------------------

// `width`: samples of a channel that a block stages, a multiple of 8.
template <int R, int D, int W>
__global__ void __launch_bounds__(32 * W)
    dedisperse_shared(float *out, const unsigned char *x, const unsigned short *shifts, int channels, int times,
                      int dms, int stride, int width) {
  extern __shared__ unsigned space[];
  unsigned char *bytes = (unsigned char *)space;
  int *offset = (int *)(space + CHANNELS * width / 4);
  int lane = threadIdx.x, y = threadIdx.y, d0 = blockIdx.y * W * D, t0 = blockIdx.x * 32 * R;
  unsigned sum[D][R] = {};
  for (int c0 = 0; c0 < channels; c0 += CHANNELS) {
    for (int u = y; u < CHANNELS; u += W) {
      int c = c0 + u, first = c < channels ? (t0 + first_of(shifts, d0, c, channels)) / 4 : 0;
      for (int k = lane; k < width / 4; k += 32)
        space[u * (width / 4) + k] = c < channels ? word_of(x, c, first + k, stride) : 0;
    }
    for (int i = y * 32 + lane; i < CHANNELS * W * D; i += 32 * W) {
      int u = i % CHANNELS, c = c0 + u, d = min(d0 + i / CHANNELS, dms - 1);
      offset[i] = u * width + (c < channels ? shifts[(size_t)d * channels + c] - first_of(shifts, d0, c, channels) : 0);
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < D; j++)
#pragma unroll
      for (int u = 0; u < CHANNELS; u++) {
        const unsigned char *from = bytes + offset[(y + W * j) * CHANNELS + u] + lane;
#pragma unroll
        for (int r = 0; r < R; r++) sum[j][r] += from[32 * r];
      }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < D; j++)
#pragma unroll
    for (int r = 0; r < R; r++) put(out, d0 + y + W * j, t0 + lane + 32 * r, dms, times, sum[j][r]);
}

// ---- two samples per word -------------------------------------------------------------------------------------------

// Staged twice: pairs that begin at even samples, then those at odd ones.
template <int R, int D, int W>
__global__ void __launch_bounds__(32 * W)
    dedisperse_pairs(float *out, const unsigned char *x, const unsigned short *shifts, int channels, int times, int dms,
                     int stride, int width) {
  extern __shared__ unsigned space[];
  int *offset = (int *)(space + CHANNELS * width);
  int lane = threadIdx.x, y = threadIdx.y, d0 = blockIdx.y * W * D, t0 = blockIdx.x * 64 * R, half = width / 2;
  unsigned sum[D][R] = {}, low[D][R] = {}, high[D][R] = {};
  for (int c0 = 0; c0 < channels; c0 += CHANNELS) {
    for (int u = y; u < CHANNELS; u += W) {
      int c = c0 + u, first = c < channels ? (t0 + first_of(shifts, d0, c, channels)) / 4 : 0;
      unsigned *even = space + u * width, *odd = even + half;
      for (int k = lane; k < width / 4; k += 32) {
        unsigned a = c < channels ? word_of(x, c, first + k, stride) : 0;
        unsigned b = c < channels ? word_of(x, c, first + k + 1, stride) : 0;
        ((uint2 *)even)[k] = make_uint2(__byte_perm(a, 0, 0x4140), __byte_perm(a, 0, 0x4342));
        ((uint2 *)odd)[k] = make_uint2(__byte_perm(a, 0, 0x4241), __byte_perm(__funnelshift_r(a, b, 24), 0, 0x4140));
      }
    }
    for (int i = y * 32 + lane; i < CHANNELS * W * D; i += 32 * W) {
      int u = i % CHANNELS, c = c0 + u, d = min(d0 + i / CHANNELS, dms - 1);
      int s = c < channels ? shifts[(size_t)d * channels + c] - first_of(shifts, d0, c, channels) : 0;
      offset[i] = u * width + (s & 1) * half + (s >> 1);
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < D; j++)
#pragma unroll
      for (int u = 0; u < CHANNELS; u++) {
        const unsigned *from = space + offset[(y + W * j) * CHANNELS + u] + lane;
#pragma unroll
        for (int r = 0; r < R; r++) sum[j][r] += from[32 * r];
      }
    if ((c0 + CHANNELS) % UNLOAD == 0 || c0 + CHANNELS >= channels)
#pragma unroll
      for (int j = 0; j < D; j++)
#pragma unroll
        for (int r = 0; r < R; r++) {
          low[j][r] += sum[j][r] & 0xffff;
          high[j][r] += sum[j][r] >> 16;
          sum[j][r] = 0;
        }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < D; j++)
#pragma unroll
    for (int r = 0; r < R; r++) {
      int d = d0 + y + W * j, t = t0 + 2 * (lane + 32 * r);
      put(out, d, t, dms, times, low[j][r]);
      put(out, d, t + 1, dms, times, high[j][r]);
    }
}

// ---- four samples per word ------------------------------------------------------------------------------------------

// Staged four times: words that begin at samples 0, 1, 2 and 3 of four.
template <int R, int D, int W>
__global__ void __launch_bounds__(32 * W)
    dedisperse_quads(float *out, const unsigned char *x, const unsigned short *shifts, int channels, int times, int dms,
                     int stride, int width) {
  extern __shared__ unsigned space[];
  int *offset = (int *)(space + CHANNELS * width);
  int lane = threadIdx.x, y = threadIdx.y, d0 = blockIdx.y * W * D, t0 = blockIdx.x * 128 * R, quarter = width / 4;
  unsigned all[D][R] = {}, odd[D][R] = {}, sum[D][R][4] = {};
  for (int c0 = 0; c0 < channels; c0 += CHANNELS) {
    for (int u = y; u < CHANNELS; u += W) {
      int c = c0 + u, first = c < channels ? (t0 + first_of(shifts, d0, c, channels)) / 4 : 0;
      unsigned *to = space + u * width;
      for (int k = lane; k < quarter; k += 32) {
        unsigned a = c < channels ? word_of(x, c, first + k, stride) : 0;
        unsigned b = c < channels ? word_of(x, c, first + k + 1, stride) : 0;
        to[k] = a;
#pragma unroll
        for (int s = 1; s < 4; s++) to[s * quarter + k] = __funnelshift_r(a, b, 8 * s);
      }
    }
    for (int i = y * 32 + lane; i < CHANNELS * W * D; i += 32 * W) {
      int u = i % CHANNELS, c = c0 + u, d = min(d0 + i / CHANNELS, dms - 1);
      int s = c < channels ? shifts[(size_t)d * channels + c] - first_of(shifts, d0, c, channels) : 0;
      offset[i] = u * width + (s & 3) * quarter + (s >> 2);
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < D; j++)
#pragma unroll
      for (int u = 0; u < CHANNELS; u += 2) { // two words, so that an addition has three operands
        const unsigned *one = space + offset[(y + W * j) * CHANNELS + u] + lane;
        const unsigned *two = space + offset[(y + W * j) * CHANNELS + u + 1] + lane;
#pragma unroll
        for (int r = 0; r < R; r++) {
          unsigned a = one[32 * r], b = two[32 * r];
          all[j][r] += a + b;
          odd[j][r] += __byte_perm(a, 0, 0x4341) + __byte_perm(b, 0, 0x4341);
        }
      }
    if ((c0 + CHANNELS) % UNLOAD == 0 || c0 + CHANNELS >= channels)
#pragma unroll
      for (int j = 0; j < D; j++)
#pragma unroll
        for (int r = 0; r < R; r++) {
          unsigned even = all[j][r] - (odd[j][r] << 8);
          sum[j][r][0] += even & 0xffff;
          sum[j][r][1] += odd[j][r] & 0xffff;
          sum[j][r][2] += even >> 16;
          sum[j][r][3] += odd[j][r] >> 16;
          all[j][r] = odd[j][r] = 0;
        }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < D; j++)
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int q = 0; q < 4; q++) put(out, d0 + y + W * j, t0 + 4 * (lane + 32 * r) + q, dms, times, sum[j][r][q]);
}

// ---- four channels per word -----------------------------------------------------------------------------------------

// The plan, by tile of dms and group of four channels: how many patterns; where the samples of each channel begin, a
// multiple of 4, or -1 for one that is not there, and then for each of MOST patterns what to add to these, 0 to 7; for
// each dm of the tile its pattern times width, and what to add to its place. A thread makes that of a tile and group.
// limits: the most patterns, and the most to add.
template <int MOST>
__global__ void plan_groups(int *limits, unsigned char *counts, int *patterns, unsigned short *offsets,
                            const unsigned short *shifts, int channels, int dms, int tile, int width) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, groups = (channels + 3) / 4, d0 = blockIdx.y * tile, count = 0;
  if (g >= groups) return;
  size_t row = (size_t)blockIdx.y * groups + g;
  int begins[MOST][4], least[4], *list = patterns + row * (MOST + 1) * 4, most = 0;
  for (int k = 0; k < tile; k++) {
    const unsigned short *shift = shifts + (size_t)min(d0 + k, dms - 1) * channels + 4 * g;
    int far = shift[0] - shifts[(size_t)d0 * channels + 4 * g], begin[4], n = 0;
    for (int q = 0; q < 4; q++) begin[q] = 4 * g + q < channels ? shift[q] - far : -1;
    auto is_known = [&](int i) {
      return begins[i][1] == begin[1] && begins[i][2] == begin[2] && begins[i][3] == begin[3];
    };
    while (n < min(count, MOST) && !is_known(n)) n++;
    if (n == count) count++; // a pattern that was not there before
    for (int q = 0; q < 4 && n < MOST; q++) {
      begins[n][q] = begin[q];
      least[q] = min(k > 0 ? least[q] : begin[q], begin[q]);
    }
    offsets[row * tile + k] = (unsigned short)(n * width + far);
  }
  for (int q = 0; q < 4; q++) {
    list[q] = least[q] < 0 ? -1 : least[q] & ~3;
    for (int n = 0; n < min(count, MOST); n++) {
      int more = least[q] < 0 ? 0 : begins[n][q] - list[q];
      list[4 * (n + 1) + q] = more;
      most = max(most, more);
    }
  }
  counts[row] = (unsigned char)min(count, MOST);
  atomicMax(limits, count);
  atomicMax(limits + 1, most);
}

template <int R, int D, int W, int MOST>
__global__ void __launch_bounds__(32 * W)
    dedisperse_groups(float *out, const unsigned char *x, const unsigned char *counts, const int *patterns,
                      const unsigned short *offsets, int channels, int times, int dms, int stride, int width) {
  extern __shared__ unsigned space[];
  int *offset = (int *)(space + GROUPS * MOST * width);
  int lane = threadIdx.x, y = threadIdx.y, d0 = blockIdx.y * W * D, t0 = blockIdx.x * 32 * R;
  int groups = (channels + 3) / 4, row = blockIdx.y * groups;
  unsigned sum[D][R] = {};
  for (int g0 = 0; g0 < groups; g0 += GROUPS) {
    for (int i = y; i < GROUPS * ((width + 127) / 128); i += W) { // a lane makes four words of each pattern of a group
      int u = i % GROUPS, g = g0 + u, k = i / GROUPS * 32 + lane;
      if (g < groups && 4 * k < width) {
        const int4 *list = (const int4 *)patterns + (row + g) * (MOST + 1);
        int first[4] = {list->x, list->y, list->z, list->w};
        unsigned w[4][3];
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
          for (int q = 0; q < 3; q++)
            w[p][q] = first[p] < 0 ? 0 : word_of(x, 4 * g + p, (t0 + first[p]) / 4 + k + q, stride);
        for (int n = 0; n < counts[row + g]; n++) {
          int more[4] = {list[n + 1].x, list[n + 1].y, list[n + 1].z, list[n + 1].w};
          unsigned v[4];
#pragma unroll
          for (int p = 0; p < 4; p++)
            v[p] = __funnelshift_r(more[p] < 4 ? w[p][0] : w[p][1], more[p] < 4 ? w[p][1] : w[p][2], 8 * (more[p] & 3));
          unsigned a = __byte_perm(v[0], v[1], 0x5140), b = __byte_perm(v[2], v[3], 0x5140); // times 0 and 1
          unsigned e = __byte_perm(v[0], v[1], 0x7362), f = __byte_perm(v[2], v[3], 0x7362); // times 2 and 3
          ((uint4 *)(space + (MOST * u + n) * width))[k] =
              make_uint4(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(e, f, 0x5410),
                         __byte_perm(e, f, 0x7632));
        }
      }
    }
    for (int i = y * 32 + lane; i < GROUPS * W * D; i += 32 * W) {
      int u = i % GROUPS, g = min(g0 + u, groups - 1);
      offset[i] = u * MOST * width + offsets[(row + g) * W * D + i / GROUPS];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < D; j++)
#pragma unroll
      for (int u = 0; u < GROUPS; u++)
        if (g0 + u < groups) {
          const unsigned *from = space + offset[(y + W * j) * GROUPS + u] + lane;
#pragma unroll
          for (int r = 0; r < R; r++) sum[j][r] = __dp4a(from[32 * r], 0x01010101u, sum[j][r]);
        }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < D; j++)
#pragma unroll
    for (int r = 0; r < R; r++) put(out, d0 + y + W * j, t0 + lane + 32 * r, dms, times, sum[j][r]);
}

// ---- tensor cores --------------------------------------------------------------------------------------------------

// Of each tile of 16 trials and channel: how far each trial's shift is from the first one's, times 8: 16 bytes.
__global__ void tile_shifts(unsigned char *near, const unsigned short *shifts, int channels, int dms) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, d0 = 16 * blockIdx.y;
  if (c >= channels) return;
  int begin = shifts[(size_t)d0 * channels + c];
  for (int k = 0; k < 16; k++) {
    int d = min(d0 + k, dms - 1);
    near[((size_t)blockIdx.y * channels + c) * 16 + k] = (unsigned char)(8 * (shifts[(size_t)d * channels + c] - begin));
  }
}

// d += a * b: 16 trials x 32 shifts by 32 shifts x 8 times, bytes and sums of 32 bits. From sm_80 on.
__device__ void multiply(int (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// A warp has 16 trials and 8 * N times, a block W such tiles of trials. For a channel, out is a product: row d of the
// first factor has a 1 at the shift of trial d, column t of the second has the samples t, t + 1, t + 2, ... A column's
// samples lie side by side, so four of them, as a lane wants them, are one word, of one of four staged copies that
// begin at samples 0, 1, 2 and 3. The 32 rows of the second factor are the shifts of 8, 4, 2 channels or one, as many
// as the trials' shifts are apart: 2^LOG shifts of each.
//
// A lane has four rows in each half of 16. With 16 or 32 shifts of a channel both halves are of the same channels, 8 or
// 16 samples apart: the second half is the first one of a later product, so that a product needs one new word of a lane.

// Words from one copy to the next, with those of a channel in J times 32: 8 modulo 32, so that the copies are in
// different banks. And of a channel, so that channels side by side are four banks apart.
__device__ constexpr int copy_of(int J) {
  return 32 * J + 8;
}
__device__ constexpr int room_of(int J) {
  return 4 * copy_of(J) + 4;
}

// Adds the 32 staged channels. begin: where the samples of the lane's channel begin for the warp's first trial; apart:
// how far each trial's shift is from the first one's, times 8, 16 bytes of a channel.
template <int N, int J, int LOG>
__device__ void add_channels(int (&sum)[N][4], const unsigned *space, const unsigned char *apart, int begin) {
  const int AHEAD = LOG == 4 ? 1 : LOG == 5 ? 2 : 0;
  int n = threadIdx.x / 4, q = threadIdx.x % 4;
#pragma unroll 1
  for (int k = 0; k < 1 << LOG; k++) {
    unsigned a[4];
    const unsigned *b[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int row = LOG == 4 ? 16 * (q / 2) + 8 * h + 4 * (q % 2) : 16 * h + 4 * q;
      int u = (k << (5 - LOG)) + (row >> LOG), shift = row & ((1 << LOG) - 1);
      if (h == 0 || AHEAD == 0) {
        int at = n + shift + __shfl_sync(0xffffffff, begin, u);
        b[h] = space + u * room_of(J) + (at & 3) * copy_of(J) + (at >> 2);
      }
      a[2 * h] = __funnelshift_lc(0, 1, apart[16 * u + n] - 8 * shift); // a 1 in byte 0 to 3, or none
      a[2 * h + 1] = __funnelshift_lc(0, 1, apart[16 * u + n + 8] - 8 * shift);
    }
    if (AHEAD == 0) {
#pragma unroll
      for (int i = 0; i < N; i++) multiply(sum[i], a, b[0][2 * i], b[1][2 * i]);
    } else {
      unsigned w[N + AHEAD];
#pragma unroll
      for (int i = 0; i < N + AHEAD; i++) w[i] = b[0][2 * i];
#pragma unroll
      for (int i = 0; i < N; i++) multiply(sum[i], a, w[i], w[i + AHEAD]);
    }
  }
}

// J: words of a channel over 32. The words of the next channels are on their way while these are multiplied, and so are
// the shifts of those after them.
template <int N, int W, int J>
__global__ void __launch_bounds__(32 * W, N <= 16 ? 512 / (32 * W) : 1)
    dedisperse_tensor(float *out, const unsigned char *x, const unsigned short *shifts, const unsigned char *near,
                      int channels, int times, int dms, int stride) {
  extern __shared__ unsigned space[];
  const int AT_ONCE = 32, EACH = AT_ONCE / W; // channels of a block: one per lane; of a warp, when they are staged
  const unsigned ALL = 0xffffffff;
  int lane = threadIdx.x, y = threadIdx.y, n = lane / 4, q = lane % 4;
  int d0 = blockIdx.y * W * 16, own = min(d0 + y * 16, dms - 1), t0 = blockIdx.x * 8 * N;
  unsigned char *apart = (unsigned char *)(space + AT_ONCE * room_of(J)) + y * AT_ONCE * 16;
  int sum[N][4] = {};
  unsigned next[EACH][J];
  // Of the lane's channel: shifts of the block's first trial, a multiple of four, of its last one and of the warp's
  // first; how far the warp's are from that.
  int first, last, mine, from;
  uint4 far;
  auto look = [&](int c0) {
    const unsigned short *at = shifts + min(c0 + lane, channels - 1);
    first = at[(size_t)d0 * channels] & ~3;
    last = at[(size_t)(min(d0 + W * 16, dms) - 1) * channels];
    mine = at[(size_t)own * channels];
  };
  auto load = [&](int c0) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      int u = y + W * e, c = c0 + u, begin = __shfl_sync(ALL, first, u), end = __shfl_sync(ALL, last, u);
      int count = min((8 * N + end - begin + 40) / 4, (stride - t0 - begin) / 4); // no word beyond the channel's end
      const unsigned *at = (const unsigned *)(x + (size_t)c * stride + t0 + begin) + lane;
      if (c >= channels) count = 0;
#pragma unroll
      for (int j = 0; j < J; j++) next[e][j] = lane + 32 * j < count ? at[32 * j] : 0;
    }
    from = mine - first;
    far = ((const uint4 *)near)[(size_t)(own / 16) * channels + min(c0 + lane, channels - 1)];
  };
  look(0);
  load(0);
  look(AT_ONCE);
  for (int c0 = 0; c0 < channels; c0 += AT_ONCE) {
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      unsigned *to = space + (y + W * e) * room_of(J) + lane;
#pragma unroll
      for (int j = 0; j < J; j++) {
        unsigned a = next[e][j], after = j + 1 < J ? next[e][(j + 1) % J] : a;
        unsigned b = __shfl_sync(ALL, lane == 0 ? after : a, (lane + 1) % 32);
        to[32 * j] = a;
#pragma unroll
        for (int s = 1; s < 4; s++) to[copy_of(J) * s + 32 * j] = __funnelshift_r(a, b, 8 * s);
      }
    }
    ((uint4 *)apart)[lane] = far;
    int begin = from;
    unsigned most = far.w >> 24; // the last trial's, and then that of the channels
#pragma unroll
    for (int k = 16; k > 0; k /= 2) most = max(most, __shfl_xor_sync(ALL, most, k));
    __syncthreads();
    if (c0 + AT_ONCE < channels) load(c0 + AT_ONCE);
    look(c0 + 2 * AT_ONCE);
    if (most < 32)
      add_channels<N, J, 2>(sum, space, apart, begin);
    else if (most < 64)
      add_channels<N, J, 3>(sum, space, apart, begin);
    else if (most < 128)
      add_channels<N, J, 4>(sum, space, apart, begin);
    else
      add_channels<N, J, 5>(sum, space, apart, begin);
  }
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int k = 0; k < 4; k++)
      put(out, d0 + y * 16 + n + k / 2 * 8, t0 + 8 * i + 2 * q + k % 2, dms, times, sum[i][k]);
}

// ---- the rest of the pipeline --------------------------------------------------------------------------------------

// What a telescope would record: noise, a pulse of `pulse` samples every `period` at each channel's delay, broadband
// interference in bursts, and a channel with a narrow carrier that is switched on and off.
__global__ void observe(unsigned char *x, const float *noise, const unsigned short *delay, int stride, int channels,
                        float level, float sd, float height, int pulse, int period, int begin, float burst) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  if (t >= stride) return;
  float v = level + sd * noise[(size_t)c * stride + t];
  int since = t - delay[c] - begin;
  if (since >= 0 && since % period < pulse) v += height;
  if (t % 1511 < 24) v += burst;
  if (c == channels / 3 && t / 200 % 2 == 1) v += 4 * sd;
  x[(size_t)c * stride + t] = (unsigned char)fminf(255, fmaxf(0, rintf(v)));
}

// Zero-DM filter: what all channels have in common at a time is no pulsar. The mean over the channels, rounded. A block
// of 32 x SHARES threads has 128 times: a warp reads them of every SHARES-th channel, four in a word, 8 channels at once,
// and the first warp adds what all have.
#define SHARES 16
__global__ void zero_dm_mean(int *mean, const unsigned char *x, int channels, int stride) {
  __shared__ int4 parts[SHARES][32];
  int lane = threadIdx.x, y = threadIdx.y, k = blockIdx.x * 32 + lane;
  int4 sum = make_int4(0, 0, 0, 0);
  for (int c0 = y; c0 < channels; c0 += 8 * SHARES) {
    unsigned w[8], even = 0, odd = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) w[j] = c0 + j * SHARES < channels ? word_of(x, c0 + j * SHARES, k, stride) : 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      even += w[j] & 0x00ff00ff;
      odd += __byte_perm(w[j], 0, 0x4341);
    }
    sum = make_int4(sum.x + (even & 0xffff), sum.y + (odd & 0xffff), sum.z + (even >> 16), sum.w + (odd >> 16));
  }
  parts[y][lane] = sum;
  __syncthreads();
  if (y > 0 || k >= stride / 4) return;
  for (int i = 1; i < SHARES; i++) {
    int4 v = parts[i][lane];
    sum = make_int4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
  }
  int half = channels / 2;
  ((int4 *)mean)[k] = make_int4((sum.x + half) / channels, (sum.y + half) / channels, (sum.z + half) / channels,
                                (sum.w + half) / channels);
}

__global__ void zero_dm_subtract(unsigned char *y, const unsigned char *x, const int *mean, int channels, int stride,
                                 int centre) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  if (k >= stride / 4) return;
  unsigned w = word_of(x, c, k, stride), v = 0;
  int4 four = ((const int4 *)mean)[k];
  int means[4] = {four.x, four.y, four.z, four.w};
  for (int q = 0; q < 4; q++) {
    int value = (int)(w >> 8 * q & 255) - means[q] + centre;
    v |= (unsigned)min(255, max(0, value)) << 8 * q;
  }
  ((unsigned *)(y + (size_t)c * stride))[k] = v;
}

// Half of the samples: the mean of two, rounded up, so that the sums of 8 bits stay 8 bits.
__global__ void bin_times(unsigned char *y, const unsigned char *x, int stride, int binned) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  if (4 * k >= binned) return;
  unsigned a = word_of(x, c, 2 * k, stride), b = word_of(x, c, 2 * k + 1, stride), v = 0;
  unsigned left = __byte_perm(a, b, 0x6420), right = __byte_perm(a, b, 0x7531);
  for (int q = 0; q < 4; q++) v |= (((left >> 8 * q & 255) + (right >> 8 * q & 255) + 1) >> 1) << 8 * q;
  ((unsigned *)(y + (size_t)c * binned))[k] = v;
}

// Of each row: mean and 1 / standard deviation, from sums of differences to the row's first value, which are integers.
__global__ void row_statistics(float *statistics, const float *out, int times, int dms) {
  __shared__ double first[256], second[256];
  const float *row = out + (size_t)blockIdx.x * times;
  int i = threadIdx.x;
  double a = 0, b = 0;
  for (int t = i; t < times; t += 256) {
    double v = (double)row[t] - row[0];
    a += v;
    b += v * v;
  }
  first[i] = a;
  second[i] = b;
  for (int k = 128; k > 0; k /= 2) {
    __syncthreads();
    if (i < k) {
      first[i] += first[i + k];
      second[i] += second[i + k];
    }
  }
  if (i == 0) {
    double m = first[0] / times, variance = second[0] / times - m * m;
    statistics[2 * blockIdx.x] = (float)(m + row[0]);
    statistics[2 * blockIdx.x + 1] = variance > 0 ? (float)(1 / sqrt(variance)) : 0;
  }
}

// Single pulses: the best signal to noise over boxcars of 1, 2, 4, ... 2^(LEVELS - 1) samples that begin at a time,
// where each is two of the one before. A block has 256 results and what follows them, in two halves of shared memory
// in turn.
template <int LEVELS>
__global__ void boxcars(float *best, unsigned char *width, const float *out, const float *statistics, int times,
                        int dms) {
  const int SPACE = 256 + (1 << (LEVELS - 1));
  __shared__ float sums[2][SPACE];
  int d = blockIdx.y, t0 = blockIdx.x * 256, i = threadIdx.x;
  float mean = statistics[2 * d], scale = statistics[2 * d + 1], most = 0;
  int widest = 0;
  for (int k = i; k < SPACE; k += 256)
    sums[0][k] = t0 + k < times ? (out[(size_t)d * times + t0 + k] - mean) * scale : 0;
#pragma unroll
  for (int level = 0; level < LEVELS; level++) {
    __syncthreads();
    float *now = sums[level % 2], *next = sums[1 - level % 2];
    float value = now[i] * rsqrtf((float)(1 << level));
    if (level == 0 || value > most) {
      most = value;
      widest = level;
    }
    for (int k = i; k <= SPACE - (2 << level); k += 256) next[k] = now[k] + now[k + (1 << level)];
  }
  if (t0 + i < times) {
    best[(size_t)d * times + t0 + i] = most;
    width[(size_t)d * times + t0 + i] = (unsigned char)widest;
  }
}

// The largest of each square of `every` times and `down` trials: a small picture, `nx` squares wide. strongest: the
// bits of the largest of all above its place, d * times + t.
__global__ void squares(float *small, unsigned long long *strongest, const float *best, int times, int dms, int every,
                        int down, int nx) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i >= nx) return;
  float most = 0;
  unsigned place = 0;
  for (int d = j * down; d < min(dms, (j + 1) * down); d++)
    for (int t = i * every; t < min(times, (i + 1) * every); t++)
      if (best[(size_t)d * times + t] > most) {
        most = best[(size_t)d * times + t];
        place = d * times + t;
      }
  small[j * nx + i] = most;
  atomicMax(strongest, (unsigned long long)__float_as_uint(most) << 32 | place);
}
