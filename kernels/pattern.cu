// SPDX-License-Identifier: MIT
//
// pattern: how often do four words of four letters stand in a text, at any byte?
//
// A text is a sequence of 32-bit words, the first letter in the lowest byte, as a GPU or PC loads it. It ends with
// zeros: 16 bytes after the last group of 16. A word of four letters is a number, so that one comparison finds it; but
// it may begin at each of four bytes of a 32-bit word. counts has COUNTS = 1 element, matches of any word, or 4.
//
// The ladder
//   pattern_bytes     a thread per byte, which loads four bytes
//   pattern_words     a thread per 32-bit word, which loads it and the next, and puts three others together by shifts
//   pattern_wide<EXACT>     16 bytes per load, two loads in flight per thread; all comparisons are counted
//   pattern_wide<ANY>       first: is there any match in the 16 bytes? Counted only then, which is rare
//   pattern_wide<PAIRS>     the same question for two words at once: for numbers a, b whose difference is odd there is
//                           a t with t * (b - a) = 1 (mod 2^32). Then t * (w - a) is 0 for a, 1 for b, and more for all
//                           other w. An even difference, 2^s times an odd one, gives 0 and 2^s, and few others below
//
// Bound: main memory, n / t, each byte is read once: 16 to 19 bytes per cycle and multiprocessor of an H200. Per cycle
// a multiprocessor takes 128 instructions' lanes: at most 64 of additions, comparisons, minima and shifts, 64 of
// multiply-adds of integers and 32 of loads. For a byte
//   bytes  4 loads and 8 operations: 8 bytes per cycle
//   words  0.5 loads, 0.75 shifts, 4 comparisons and 4 additions: about 7
//   EXACT  0.75 shifts, 4 comparisons, 4 additions: 7.3
//   ANY    0.75 shifts, 4 comparisons, each joined with the one before: 13
//   PAIRS  0.75 shifts, 2 multiply-adds, 1 minimum of three numbers (compute capability 9.0; 2 of two before): 32
// Sources: M. Giles and W. Armour, practical 9 of "CUDA Programming on NVIDIA GPUs" (Oxford; undated): words, with
// four counts. T. Granlund and P. Montgomery, "Division by invariant integers using multiplication" (1994): inverses
// modulo 2^32.

enum { EXACT, ANY, PAIRS }; // METHOD
enum { FLIGHT = 2 };

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// ---- device helpers -------------------------------------------------------------------------------------------------

// Adds 1 to found of each of the words that w is.
template <int COUNTS> __device__ void add_matches(unsigned *found, unsigned w, uint4 words) {
  found[0] += w == words.x;
  found[1 % COUNTS] += w == words.y;
  found[2 % COUNTS] += w == words.z;
  found[3 % COUNTS] += w == words.w;
}

template <int COUNTS> __device__ void add_counts(unsigned *counts, const unsigned *found) {
#pragma unroll
  for (int k = 0; k < COUNTS; k++) {
    if (found[k] > 0) atomicAdd(counts + k, found[k]);
  }
}

// The four letters from byte k of x on.
__device__ unsigned letters(const unsigned *x, int k) {
  return __funnelshift_r(x[k / 4], x[k / 4 + 1], k % 4 * 8);
}

// Whether one of the 16 groups of letters may be one of the words; x has 20 bytes. pairs: what to multiply by and to
// add, twice; the two words of a pair are at most `most` then.
template <int METHOD> __device__ bool is_near(const unsigned *x, uint4 words, uint4 pairs, unsigned most) {
  if (METHOD == EXACT) return true;
  bool any = false;
  unsigned least = ~0u;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    unsigned w = letters(x, k);
    if (METHOD == ANY) {
      any |= w == words.x || w == words.y || w == words.z || w == words.w;
    } else {
      least = min(least, min(w * pairs.x + pairs.y, w * pairs.z + pairs.w));
    }
  }
  return any || (METHOD == PAIRS && least <= most);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void pattern_clear(unsigned *counts) {
  counts[threadIdx.x] = 0;
}

template <int COUNTS> __global__ void pattern_bytes(unsigned *counts, const unsigned *text, size_t n, uint4 words) {
  if (INDEX >= n) return;
  const unsigned char *at = (const unsigned char *)text + INDEX;
  unsigned found[COUNTS] = {};
  add_matches<COUNTS>(found, at[0] | at[1] << 8 | at[2] << 16 | (unsigned)at[3] << 24, words);
  add_counts<COUNTS>(counts, found);
}

template <int COUNTS> __global__ void pattern_words(unsigned *counts, const unsigned *text, size_t n, uint4 words) {
  size_t i = INDEX;
  if (4 * i >= n) return;
  unsigned x[2] = {text[i], text[i + 1]}, found[COUNTS] = {};
#pragma unroll
  for (int k = 0; k < 4; k++) add_matches<COUNTS>(found, letters(x, k), words);
  add_counts<COUNTS>(counts, found);
}

// In a grid of any size.
template <int METHOD, int COUNTS>
__global__ void pattern_wide(unsigned *counts, const unsigned *text, size_t n, uint4 words, uint4 pairs,
                             unsigned most) {
  size_t step = (size_t)gridDim.x * blockDim.x, groups = (n + 15) / 16;
  unsigned found[COUNTS] = {};
  for (size_t i = INDEX; i < groups; i += FLIGHT * step) {
    uint4 v[FLIGHT];
    unsigned next[FLIGHT];
#pragma unroll
    for (int f = 0; f < FLIGHT; f++) {
      size_t at = i + f * step < groups ? i + f * step : groups; // the zeros at the end
      v[f] = ((const uint4 *)text)[at];
      next[f] = at < groups ? text[4 * at + 4] : 0;
    }
#pragma unroll
    for (int f = 0; f < FLIGHT; f++) {
      unsigned x[5] = {v[f].x, v[f].y, v[f].z, v[f].w, next[f]};
      if (is_near<METHOD>(x, words, pairs, most)) {
#pragma unroll
        for (int k = 0; k < 16; k++) add_matches<COUNTS>(found, letters(x, k), words);
      }
    }
  }
  add_counts<COUNTS>(counts, found);
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// pattern_clear   block COUNTS, grid 1, before each of the others, which add to counts
// pattern_bytes   any block b, grid ceil(n / b); pattern_words grid ceil(n / (4 * b))
// pattern_wide    any block and grid; pairs {t, u, t', u'} with t * w + u = t * (w - a) (mod 2^32)
// text has ceil(n / 16) * 16 + 16 bytes; those from n on are 0
