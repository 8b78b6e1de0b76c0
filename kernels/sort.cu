// SPDX-License-Identifier: MIT
//
// sort: y holds the n keys of x, unsigned numbers of 32 bits, from the least to the greatest.
//
// The ladder
//   bitonic_*        log2(n) (log2(n) + 1) / 2 rounds of compare and exchange; those near each other in shared memory
//   radix_count, radix_rows, radix_starts, radix_pass<false>      four passes, 8 bits each: tiles count their digits, a
//                    scan of all counts says where each tile's keys with a digit begin, the tiles put them there
//   radix_histogram, radix_pass<true>      one sweep: all digits are counted once beforehand, and a tile learns from
//                    those before it, while these run, where its keys begin (look-back): a pass reads keys once
//
// Bound: bytes. A pass of one sweep reads and writes each key once: 8 bytes, 4 passes, 4 bytes for the counts: 36 n.
// Without: 48 n.
// Sources: K. Batcher, "Sorting networks and their applications" (1968); D. Merrill and A. Grimshaw, "High performance
// and scalable radix sorting" (2011); A. Adinets and D. Merrill, "Onesweep: a faster least significant digit radix
// sort for GPUs" (2022).

// Multiples of scale, each once: in order for a step of 1, in one that looks random for a prime above n.
__global__ void multiples(unsigned *x, unsigned scale, unsigned step, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (unsigned)(i * step % n) * scale;
}

// ---- bitonic --------------------------------------------------------------------------------------------------------

enum { HALF = 1024, PART = 2 * HALF }; // a block of HALF threads holds PART keys

// Compares two keys: the smaller one goes to the lower place. What lies beyond n counts as greater than any key, and
// stays.
__device__ void exchange(unsigned *keys, int low, int high) {
  unsigned a = keys[low], b = keys[high];
  keys[low] = min(a, b);
  keys[high] = max(a, b);
}

// Thread i of a round: the pair whose places differ by `distance`; in a round that begins to merge two sorted runs,
// place by place from both ends, those that mirror each other in runs of 2 * distance.
__device__ void pair(long long i, long long distance, bool mirrors, long long *low, long long *high) {
  long long in_run = i % distance, start = (i - in_run) * 2;
  *low = start + in_run;
  *high = mirrors ? start + 2 * distance - 1 - in_run : *low + distance;
}

// Rounds in shared memory: from runs of 1 up to PART (of x), or only the last ones of a merge (of y).
template <bool FROM_START> __global__ void bitonic_part(unsigned *y, const unsigned *x, long long n) {
  __shared__ unsigned keys[PART];
  long long first = (long long)blockIdx.x * PART, low, high;
  for (int i = threadIdx.x; i < PART; i += HALF) keys[i] = first + i < n ? x[first + i] : 0xffffffffu;
  __syncthreads();
  for (int run = FROM_START ? 1 : HALF; run <= HALF; run *= 2) {
    for (int distance = run; distance > 0; distance /= 2) {
      pair(threadIdx.x, distance, FROM_START && distance == run, &low, &high);
      exchange(keys, low, high);
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < PART; i += HALF)
    if (first + i < n) y[first + i] = keys[i];
}

// A round whose pairs are too far from each other for that.
__global__ void bitonic_round(unsigned *y, long long distance, int mirrors, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, low, high;
  pair(i, distance, mirrors, &low, &high);
  if (high >= n) return;
  unsigned a = y[low], b = y[high];
  if (a <= b) return;
  y[low] = b;
  y[high] = a;
}

// ---- radix ----------------------------------------------------------------------------------------------------------

enum { DIGITS = 256, WARPS = 16, LOADS = 16, THREADS = 32 * WARPS, TILE = THREADS * LOADS }; // 8192 keys per block

__device__ unsigned digit(unsigned key, int shift) { return key >> shift & (DIGITS - 1); }

// How many keys of each tile have which digit: counts[digit * tiles + tile].
__global__ void radix_count(unsigned *counts, const unsigned *x, int shift, int tiles, long long n) {
  __shared__ unsigned bins[DIGITS];
  for (int d = threadIdx.x; d < DIGITS; d += THREADS) bins[d] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < TILE; i += THREADS) {
    long long at = (long long)blockIdx.x * TILE + i;
    if (at < n) atomicAdd(&bins[digit(x[at], shift)], 1u);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < DIGITS; d += THREADS) counts[(long long)d * tiles + blockIdx.x] = bins[d];
}

// The same of the whole array, of all four digits at once: bins[pass * DIGITS + digit].
__global__ void radix_histogram(unsigned *bins, const unsigned *x, long long n) {
  __shared__ unsigned own[4 * DIGITS];
  for (int d = threadIdx.x; d < 4 * DIGITS; d += blockDim.x) own[d] = 0;
  __syncthreads();
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    unsigned key = x[i];
    for (int pass = 0; pass < 4; pass++) atomicAdd(&own[pass * DIGITS + digit(key, 8 * pass)], 1u);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < 4 * DIGITS; d += blockDim.x)
    if (own[d]) atomicAdd(&bins[d], own[d]);
}

// The sum of `value` over the threads before this one; the block has DIGITS threads or more, the first DIGITS count.
__device__ unsigned sum_before(unsigned value, unsigned *warps) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = value;
  for (int d = 1; d < 32; d *= 2) {
    unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += other;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp && w < DIGITS / 32; w++) sum += warps[w];
  return sum - value;
}

// Of each tile's keys with digit blockIdx.x, those in the tiles before it; bins gets all of them. A block of DIGITS
// threads.
__global__ void radix_rows(unsigned *bins, unsigned *counts, int tiles) {
  __shared__ unsigned warps[DIGITS / 32], last;
  unsigned *row = &counts[(long long)blockIdx.x * tiles], carry = 0;
  for (int first = 0; first < tiles; first += DIGITS) {
    int at = first + threadIdx.x;
    unsigned value = at < tiles ? row[at] : 0, before = sum_before(value, warps);
    if (at < tiles) row[at] = carry + before;
    if (threadIdx.x == DIGITS - 1) last = before + value;
    __syncthreads();
    carry += last;
    __syncthreads();
  }
  if (threadIdx.x == 0) bins[blockIdx.x] = carry;
}

// Where the keys with each digit begin, of pass blockIdx.x; a block of DIGITS threads.
__global__ void radix_starts(unsigned *bins) {
  __shared__ unsigned warps[DIGITS / 32];
  unsigned *mine = &bins[blockIdx.x * DIGITS + threadIdx.x];
  *mine = sum_before(*mine, warps);
}

// The lanes of the warp whose digit is the same: 8 ballots take fewer cycles than __match_any_sync of digits that
// differ.
__device__ unsigned lanes_with(unsigned d) {
  unsigned same = 0xffffffffu;
#pragma unroll
  for (int bit = 1; bit < DIGITS; bit *= 2) {
    unsigned set = __ballot_sync(0xffffffffu, d & bit);
    same &= d & bit ? set : ~set;
  }
  return same;
}

// A tile's word: its own count, or that of all tiles up to it; 0 means none yet.
const unsigned OWN = 1u << 30, ALL = 2u << 30, VALUE = OWN - 1;

// Keys with digit threadIdx.x in all tiles before this one.
__device__ unsigned look_back(volatile unsigned *words, int tile, unsigned count) {
  unsigned before = 0;
  words[(long long)tile * DIGITS + threadIdx.x] = tile ? OWN | count : ALL | count;
  for (int at = tile - 1; at >= 0;) {
    unsigned word = words[(long long)at * DIGITS + threadIdx.x];
    if (!(word & ~VALUE)) continue; // not there yet
    before += word & VALUE;
    if (word & ALL) break;
    at--;
  }
  if (tile) words[(long long)tile * DIGITS + threadIdx.x] = ALL | (before + count);
  return before;
}

// A tile's keys in the order of a digit, those that have the same one in the order in which they were. A warp takes 32
// * LOADS keys in a row. starts: where each digit begins; words: of LOOKS_BACK for that, else what radix_rows has
// left.
template <bool LOOKS_BACK>
__global__ void __launch_bounds__(THREADS, 2)
radix_pass(unsigned *y, const unsigned *x, const unsigned *starts, unsigned *words, unsigned *ticket, int shift,
           int tiles, long long n) {
  __shared__ unsigned keys[TILE], to[DIGITS], warps[WARPS];
  __shared__ unsigned short counts[WARPS][DIGITS];
  __shared__ int number;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (LOOKS_BACK && threadIdx.x == 0) number = atomicAdd(ticket, 1u); // so that the tiles before it have begun
  for (int i = threadIdx.x; i < WARPS * DIGITS; i += THREADS) counts[i / DIGITS][i % DIGITS] = 0;
  __syncthreads();
  int tile = LOOKS_BACK ? number : blockIdx.x;
  long long first = (long long)tile * TILE;

  unsigned key[LOADS], place[LOADS]; // place: among the warp's keys with the same digit
#pragma unroll
  for (int i = 0; i < LOADS; i++) {
    long long at = first + (warp * LOADS + i) * 32 + lane;
    key[i] = at < n ? x[at] : 0xffffffffu; // those beyond the end come last of all
  }
#pragma unroll
  for (int i = 0; i < LOADS; i++) {
    unsigned d = digit(key[i], shift), same = lanes_with(d), lower = same & ((1u << lane) - 1);
    unsigned before = counts[warp][d];
    __syncwarp();
    if (!lower) counts[warp][d] = before + __popc(same);
    __syncwarp();
    place[i] = before + __popc(lower);
  }
  __syncthreads();

  unsigned count = 0; // thread d: of digit d in the tile; counts become those of the warps before
  if (threadIdx.x < DIGITS) {
    for (int w = 0; w < WARPS; w++) {
      unsigned here = counts[w][threadIdx.x];
      counts[w][threadIdx.x] = count;
      count += here;
    }
  }
  unsigned begin = sum_before(count, warps); // of digit d in the sorted tile
  if (threadIdx.x < DIGITS) {
    unsigned before = LOOKS_BACK ? look_back(words, tile, count) : words[(long long)threadIdx.x * tiles + tile];
    to[threadIdx.x] = starts[threadIdx.x] + before - begin;
    for (int w = 0; w < WARPS; w++) counts[w][threadIdx.x] += begin;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < LOADS; i++) keys[counts[warp][digit(key[i], shift)] + place[i]] = key[i];
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x; i < TILE; i += THREADS) // neighbours write to neighbouring places, but where a digit ends
    if (first + i < n) y[to[digit(keys[i], shift)] + i] = keys[i];
}
