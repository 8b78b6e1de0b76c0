// SPDX-License-Identifier: MIT
//
// histogram: bins[v] = how many of n bytes are v.
//
// The ladder
//   histogram_global     an atomic operation in main memory for each byte
//   histogram_bytes      a table of the block in shared memory, which is added to the bins at last; a byte per load
//   histogram_copies     16 bytes per load, two loads in flight per thread; COPIES tables, word by word in turn: lane l
//                        counts in table l % COPIES, whose words are in banks l % COPIES, + COPIES, ...
//                        COPIES = 32: a table per lane, each in a bank of its own
//   histogram_weighted     the same for a number that is not known to be 1: ATOMS.ADD, where copies has ATOMS.POPC.INC,
//                        which counts the lanes that want the same word
//   histogram_warps      a table per warp, one after the other
//   histogram_merged     the lanes of a warp with the same byte find each other, and the first adds for all
//   histogram_private    256 counters of 8 bits per thread, which need no atomics; one that wraps carries 256 into the
//                        block's table
//   histogram_tables     bytes with the block's table in main memory: the memory's part of global, and the waiting's
//
// Bound: main memory, n / t, each byte is read once. An H200 has 4.3 TB/s for 132 multiprocessors of 1.75 to 1.98 GHz:
// 16 to 19 bytes per cycle and multiprocessor. What each rung needs for a byte:
//   global    an atomic of the L2 cache, which adds to one word at a time: bins that many threads hit at once wait
//   bytes     a load and an atomic, each of which takes the load and store unit, 32 lanes per cycle: at most 16 bytes
//   copies    an atomic. A bank adds for one lane at a time, so that an access takes as many passes as the fullest has
//        lanes: 3.5 on average for random bytes and one table, about 9 bytes per cycle if a pass takes one cycle; with
//        COPIES = 32 one pass for any data, 32 (or 16, if a pass takes two)
//   weighted  the passes of copies; whether lanes with the same word take one pass or several is what it shows
//   warps     the passes of copies with one table, but warps do not meet
//   merged    a search among lanes, which no memory takes part in; pays where most lanes agree
//   private   a load and a store of shared memory without conflicts: 16 bytes per cycle; latency: a counter is read,
//        increased and written before the next, about 36 cycles, so 24 warps give 21 bytes per cycle
//   tables    an atomic of the L2 cache, as global, but a word is wanted by the threads of one block alone
// Sources: V. Podlozhnyuk, "Histogram calculation in CUDA" (NVIDIA, 2007): warps, private for 64 bins. N. Sakharnykh,
// "Fast Histograms Using Shared Atomics on Maxwell" (NVIDIA's blog, 2015): bytes. M. Giles, "CUDA Programming on NVIDIA
// GPUs", lecture 3 (Oxford; undated): atomics of shared and of global memory.

enum { BINS = 256, WARP = 32, FLIGHT = 2 };

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// ---- device helpers -------------------------------------------------------------------------------------------------

__device__ void clear(unsigned *words, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) words[i] = 0;
  __syncthreads();
}

// Adds a block's tables to the bins. Neighbouring lanes begin a word apart, so that they read from different banks.
__device__ void add_tables(unsigned *bins, const unsigned *tables, int count, int table_step, int bin_step) {
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
    unsigned sum = 0;
    for (int k = 0; k < count; k++) sum += tables[bin * bin_step + (k + threadIdx.x) % count * table_step];
    if (sum > 0) atomicAdd(bins + bin, sum);
  }
}

// Counts all bytes in a table, in a grid of any size; x begins on 16 bytes. table.add counts the first bytes of a word.
template <class Table> __device__ void add_all(Table table, const unsigned char *x, size_t n) {
  const uint4 *wide = (const uint4 *)x;
  size_t step = (size_t)gridDim.x * blockDim.x, count = n / 16;
  for (size_t i = INDEX; i < count; i += FLIGHT * step) {
    uint4 v[FLIGHT];
#pragma unroll
    for (int f = 0; f < FLIGHT; f++) v[f] = i + f * step < count ? wide[i + f * step] : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int f = 0; f < FLIGHT; f++) {
      if (i + f * step >= count) break;
      unsigned words[4] = {v[f].x, v[f].y, v[f].z, v[f].w};
#pragma unroll
      for (int k = 0; k < 4; k++) table.add(words[k], 4);
    }
  }
  for (size_t i = count * 16 + INDEX; i < n; i += step) table.add(x[i], 1);
}

// COPIES counters of a byte lie side by side; `mine`: the thread's of byte 0. weight: what a byte counts.
template <int COPIES> struct copied {
  unsigned *mine, weight;
  __device__ copied(unsigned *tables, unsigned weight) : mine(tables + threadIdx.x % COPIES), weight(weight) {}
  __device__ void add(unsigned word, int count) {
#pragma unroll
    for (int k = 0; k < count; k++) atomicAdd(mine + (word >> 8 * k & 255) * COPIES, weight);
  }
};

// A row of 128 bytes for each byte: the counters of 128 threads. Those of a warp are in 32 banks.
struct private_bytes {
  unsigned char *mine;
  unsigned *table;
  __device__ private_bytes(unsigned *rows, unsigned *table)
      : mine((unsigned char *)rows + threadIdx.x % WARP * 4 + threadIdx.x / WARP), table(table) {}
  __device__ void add(unsigned word, int count) {
    bool has_wrapped[4] = {};
#pragma unroll
    for (int k = 0; k < count; k++) has_wrapped[k] = ++mine[(word >> 8 * k & 255) * 4 * WARP] == 0;
    if (!(has_wrapped[0] | has_wrapped[1] | has_wrapped[2] | has_wrapped[3])) return;
#pragma unroll
    for (int k = 0; k < count; k++) {
      if (has_wrapped[k]) atomicAdd(table + (word >> 8 * k & 255), 256u);
    }
  }
};

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void histogram_clear(unsigned *bins) {
  bins[threadIdx.x] = 0;
}

__global__ void histogram_global(unsigned *bins, const unsigned char *x, size_t n) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = INDEX; i < n; i += step) atomicAdd(bins + x[i], 1u);
}

__global__ void histogram_bytes(unsigned *bins, const unsigned char *x, size_t n) {
  __shared__ unsigned table[BINS];
  clear(table, BINS);
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = INDEX; i < n; i += step) atomicAdd(table + x[i], 1u);
  add_tables(bins, table, 1, 0, 1);
}

// tables: 256 words per block of the grid.
__global__ void histogram_tables(unsigned *bins, unsigned *tables, const unsigned char *x, size_t n) {
  unsigned *table = tables + (size_t)blockIdx.x * BINS;
  clear(table, BINS);
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = INDEX; i < n; i += step) atomicAdd(table + x[i], 1u);
  add_tables(bins, table, 1, 0, 1);
}

template <int COPIES> __global__ void histogram_copies(unsigned *bins, const unsigned char *x, size_t n) {
  __shared__ unsigned tables[BINS * COPIES];
  clear(tables, BINS * COPIES);
  add_all(copied<COPIES>(tables, 1), x, n);
  add_tables(bins, tables, COPIES, 1, COPIES);
}

// As histogram_copies, but what is added is not known to the compiler.
template <int COPIES>
__global__ void histogram_weighted(unsigned *bins, const unsigned char *x, size_t n, unsigned weight) {
  __shared__ unsigned tables[BINS * COPIES];
  clear(tables, BINS * COPIES);
  add_all(copied<COPIES>(tables, weight), x, n);
  add_tables(bins, tables, COPIES, 1, COPIES);
}

template <int WARPS> __global__ void histogram_warps(unsigned *bins, const unsigned char *x, size_t n) {
  __shared__ unsigned tables[WARPS * BINS];
  clear(tables, WARPS * BINS);
  add_all(copied<1>(tables + threadIdx.x / WARP * BINS, 1), x, n);
  add_tables(bins, tables, WARPS, BINS, 1);
}

// A warp takes 512 bytes at a time, so that all of its lanes have one; the rest at the end is added one by one.
__global__ void histogram_merged(unsigned *bins, const unsigned char *x, size_t n) {
  __shared__ unsigned table[BINS];
  clear(table, BINS);
  const uint4 *wide = (const uint4 *)x;
  size_t step = (size_t)gridDim.x * blockDim.x, whole = n / 512 * 32;
  unsigned lane = threadIdx.x % WARP;
  for (size_t i = INDEX; i < whole; i += step) {
    uint4 v = wide[i];
    unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 16; k++) {
      unsigned byte = words[k / 4] >> k % 4 * 8 & 255, same = __match_any_sync(0xffffffff, byte);
      if (lane == __ffs(same) - 1) atomicAdd(table + byte, (unsigned)__popc(same));
    }
  }
  for (size_t i = whole * 16 + INDEX; i < n; i += step) atomicAdd(table + x[i], 1u);
  add_tables(bins, table, 1, 0, 1);
}

// A counter has 8 bits; those of 128 threads are a row, those of a word belong to four warps.
__global__ void __launch_bounds__(128) histogram_private(unsigned *bins, const unsigned char *x, size_t n) {
  __shared__ unsigned rows[BINS * WARP], table[BINS];
  clear(rows, BINS * WARP);
  clear(table, BINS);
  add_all(private_bytes(rows, table), x, n);
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
    unsigned sum = table[bin];
    for (int k = 0; k < WARP; k++) {
      unsigned four = rows[bin * WARP + (k + threadIdx.x) % WARP];
      sum += (four & 255) + (four >> 8 & 255) + (four >> 16 & 255) + (four >> 24);
    }
    if (sum > 0) atomicAdd(bins + bin, sum);
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// histogram_clear    block 256, grid 1, before each of the others, which add to the bins
// histogram_warps    block 32 * WARPS; _merged whole warps; _private 128; the others any block
// grid: any; as many blocks as are resident, so that tables are added up once per block
