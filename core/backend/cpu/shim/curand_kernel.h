/* SPDX-License-Identifier: MIT
 *
 * CUDA's <curand_kernel.h>: the generators XORWOW, Philox4x32-10 and Sobol of 32 and 64 bits, with NVIDIA's
 * integers and uniform numbers; normal numbers agree but for the rounding of sine, cosine and logarithm. Other generators
 * and distributions need the CUDA device. Sources:
 *   G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003): xorwow
 *   H. Haramoto et al., "Efficient Jump Ahead for F2-Linear Random Number Generators", INFORMS J. Computing 20 (2008)
 *   J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC11: Philox
 *   I. Antonov and V. Saleev, "An economic method of computing LP-tau sequences" (1979): Sobol in Gray code's order */
#ifndef MW_CURAND_KERNEL_H
#define MW_CURAND_KERNEL_H
#if !defined(MW_PREPROCESS)

#include "moonwarp.h"

/* What curand_normal keeps for the next call. */
#define MW_NORMAL_STATE                                                                                                \
  int boxmuller_flag, boxmuller_flag_double;                                                                           \
  float boxmuller_extra;                                                                                               \
  double boxmuller_extra_double;

/* {== XORWOW =========================================================== */

struct curandStateXORWOW {
  unsigned d, v[5];
  MW_NORMAL_STATE
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;

MW_FN unsigned curand(curandStateXORWOW *state) {
  unsigned *v = state->v;
  const unsigned t = v[0] ^ v[0] >> 2;
  v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
  v[4] ^= v[4] << 4 ^ t ^ t << 1;
  state->d += 362437;
  return v[4] + state->d;
}

/* A polynomial over the field of two elements, of degree below 160: bit i of word w is the coefficient of x^(32 w + i).
 * In place of x stands one step of v; the step's characteristic polynomial is x^160 + mw_xorwow_rest. */
struct mw_polynomial {
  unsigned word[5];
};
static constexpr mw_polynomial mw_xorwow_rest = {{0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e}};
/* x^(2^(67 + i)): 2^i subsequences. */
static constexpr mw_polynomial mw_xorwow_jumps[] = {
    {{0x26294934, 0x77bbc248, 0x1a87dad0, 0x930052d4, 0x947e6dd2}},
    {{0x5f39c379, 0x95e20ba6, 0x20e9ff72, 0x1244ce5e, 0xe8fd228f}},
    {{0xa7474d19, 0x37c549e0, 0x140877d2, 0x24c43924, 0xcd52ebec}},
    {{0xe0360ec5, 0xb1c96c24, 0xdbb91766, 0x666ff5dc, 0xf19a7e52}},
    {{0xfcc8f692, 0x35aa698a, 0x04ebbf85, 0x448304b0, 0x082f3fd5}},
    {{0x48c289bd, 0xe851cf98, 0x845ad581, 0xfd70752a, 0x2c3e63f6}},
    {{0xe502f5b3, 0x77859d31, 0x97e1cbb3, 0xea09047a, 0x61d5f37e}},
    {{0xb89326d0, 0x5a8655a9, 0xfb6e98f5, 0x02102162, 0x7e6fcf6f}},
    {{0xb3a15db4, 0xc6df3330, 0x1a8be751, 0xf1e4b221, 0x6bb61c05}},
    {{0x133de1d0, 0x361e4422, 0xc6131fcf, 0xd9719f45, 0x9658a164}},
    {{0x19e2bee8, 0xf8974218, 0x4e65536a, 0xa2570336, 0xe9b88082}},
    {{0x7863644b, 0x2a21ce84, 0x112e86f1, 0xed01ce0e, 0xba143e84}},
    {{0x0e2cae2e, 0xd1011279, 0x58923768, 0x2bf650ba, 0xc985bcda}},
    {{0x213a286a, 0x6596b510, 0x6fc10eae, 0x38a13547, 0x11c7749e}},
    {{0x146281e7, 0xa45b4452, 0xafa8c695, 0x74a0ac94, 0x4b250e0a}},
    {{0x2306bc52, 0x790f3b4c, 0x2fe473b9, 0xbc81d7c0, 0x093efe98}},
    {{0x89658c8b, 0xf3914315, 0xa73fe84b, 0x3c5fadb6, 0xadba8dd6}},
    {{0x09e49814, 0x09caf5ed, 0x6b2460d9, 0x1b9981c1, 0x2d1fefc3}},
    {{0x82161afc, 0x9bb13c55, 0xfd20d7fb, 0x306d90b9, 0x92bf386f}},
    {{0x96d32350, 0x0e081864, 0x69faa798, 0xe7faecf5, 0xf1f951be}},
    {{0x3e9058c1, 0x71da9705, 0xe2cb1f2b, 0x73456536, 0xbd6501b6}},
    {{0x990ffc6e, 0xbfdd1b5d, 0xc83e520b, 0xe972936a, 0xac79abb9}},
    {{0xb1321eb5, 0xb06d01a2, 0x51532012, 0x8fb59962, 0x141d3b0b}},
    {{0x3257dfe1, 0xd8a3d601, 0x3a58c735, 0x845f36e4, 0x0112c611}},
};

static inline mw_polynomial mw_square(const mw_polynomial &a) {
  mw_polynomial r = {};
  for (int i = 159; i >= 0; i--) {
    const unsigned over = r.word[4] >> 31, add = a.word[i / 32] >> i % 32 & 1;
    for (int w = 4; w >= 0; w--)
      r.word[w] = (r.word[w] << 1 | (w ? r.word[w - 1] >> 31 : 0)) ^ (over ? mw_xorwow_rest.word[w] : 0) ^
                  (add ? a.word[w] : 0);
  }
  return r;
}

static inline void mw_jump(curandStateXORWOW *state, const mw_polynomial &by) {
  unsigned sum[5] = {};
  const unsigned d = state->d;
  for (int i = 0; i < 160; i++) {
    const unsigned mask = 0u - (by.word[i / 32] >> i % 32 & 1);
    for (int w = 0; w < 5; w++) sum[w] ^= state->v[w] & mask;
    curand(state);
  }
  for (int w = 0; w < 5; w++) state->v[w] = sum[w];
  state->d = d;
}

/* Jumps by polynomial^n. */
static inline void mw_jump(curandStateXORWOW *state, mw_polynomial by, unsigned long long n) {
  for (; n; n >>= 1, by = n ? mw_square(by) : by)
    if (n & 1) mw_jump(state, by);
}

static inline void skipahead_sequence(unsigned long long n, curandStateXORWOW *state) {
  const int known = sizeof mw_xorwow_jumps / sizeof *mw_xorwow_jumps - 1;
  for (int i = 0; i < known; i++)
    if (n >> i & 1) mw_jump(state, mw_xorwow_jumps[i]);
  mw_jump(state, mw_xorwow_jumps[known], n >> known);
}

static inline void skipahead(unsigned long long n, curandStateXORWOW *state) {
  const unsigned long long few = n % 1024;
  for (unsigned i = 0; i < few; i++) curand(state);
  mw_polynomial by = {{2}};
  for (int i = 0; i < 10 && n != few; i++) by = mw_square(by);
  mw_jump(state, by, n / 1024);
  state->d += (unsigned)(n - few) * 362437;
}

MW_FN void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                       curandStateXORWOW *state) {
  const unsigned low = 1099087573u * ((unsigned)seed ^ 0xaad26b49u);
  const unsigned high = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
  *state = {6615241 + low + high,
            {123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low},
            0,
            0,
            0,
            0};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

/* ==} */

/* {== Philox =========================================================== */

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE; /* which part of output comes next */
  MW_NORMAL_STATE
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

MW_FN void mw_philox(curandStatePhilox4_32_10 *state) {
  uint4 c = state->ctr;
  uint2 k = state->key;
  for (int round = 0; round < 10; round++, k.x += 0x9e3779b9, k.y += 0xbb67ae85) {
    const unsigned long long a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
    c = make_uint4((unsigned)(b >> 32) ^ c.y ^ k.x, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ k.y, (unsigned)a);
  }
  state->output = c;
}

/* Adds to the counter's halves. */
MW_FN void mw_count(curandStatePhilox4_32_10 *state, unsigned long long low, unsigned long long high) {
  uint4 &c = state->ctr;
  const unsigned long long x = ((unsigned long long)c.y << 32 | c.x) + low;
  const unsigned long long y = ((unsigned long long)c.w << 32 | c.z) + high + (x < low);
  c = make_uint4((unsigned)x, (unsigned)(x >> 32), (unsigned)y, (unsigned)(y >> 32));
  mw_philox(state);
}

MW_FN unsigned mw_part(const uint4 &of, unsigned i) { return i == 0 ? of.x : i == 1 ? of.y : i == 2 ? of.z : of.w; }

MW_FN unsigned curand(curandStatePhilox4_32_10 *state) {
  const unsigned result = mw_part(state->output, state->STATE);
  state->STATE = (state->STATE + 1) % 4;
  if (state->STATE == 0) mw_count(state, 1, 0);
  return result;
}

MW_FN uint4 curand4(curandStatePhilox4_32_10 *state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state);
  return make_uint4(x, y, z, curand(state));
}

MW_FN void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state) {
  const unsigned part = state->STATE + (unsigned)(n % 4);
  state->STATE = part % 4;
  mw_count(state, n / 4 + part / 4, 0);
}

MW_FN void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *state) { mw_count(state, 0, n); }

MW_FN void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                       curandStatePhilox4_32_10 *state) {
  *state = {};
  state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

/* ==} */

/* {== Sobol ============================================================ */

/* Unrolled, the steps over the bits take seconds to compile. */
#if defined(__clang__)
#define MW_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define MW_ROLLED _Pragma("GCC unroll 1")
#endif

#define MW_SOBOL(bits, T, count_zeros)                                                                                 \
  struct curandStateSobol##bits {                                                                                      \
    T i, x, c, direction_vectors[bits];                                                                                \
  };                                                                                                                   \
  typedef curandStateSobol##bits curandStateSobol##bits##_t;                                                           \
  typedef T curandDirectionVectors##bits##_t[bits];                                                                    \
  MW_FN T curand(curandStateSobol##bits *state) {                                                                      \
    const T result = state->x;                                                                                         \
    if (~state->i) state->x ^= state->direction_vectors[count_zeros(~state->i)];                                       \
    state->i++;                                                                                                        \
    return result;                                                                                                     \
  }                                                                                                                    \
  template <class N> MW_FN void skipahead(N n, curandStateSobol##bits *state) {                                        \
    state->i += (T)n;                                                                                                  \
    state->x = state->c;                                                                                               \
    const T gray = state->i ^ state->i >> 1;                                                                           \
    MW_ROLLED                                                                                                          \
    for (int bit = 0; bit < bits; bit++) state->x ^= state->direction_vectors[bit] & (0 - (gray >> bit & 1));          \
  }                                                                                                                    \
  MW_FN void curand_init(T *vectors, T offset, curandStateSobol##bits *state) {                                        \
    state->i = state->c = 0;                                                                                           \
    for (int i = 0; i < bits; i++) state->direction_vectors[i] = vectors[i];                                           \
    skipahead(offset, state);                                                                                          \
  }
MW_SOBOL(32, unsigned, __builtin_ctz)
MW_SOBOL(64, unsigned long long, __builtin_ctzll)
#undef MW_SOBOL
#undef MW_ROLLED

/* ==} */

/* {== Distributions ==================================================== */

MW_FN float mw_uniform(unsigned x) { return (float)x * 2.3283064e-10f + 2.3283064e-10f / 2; }
MW_FN float mw_uniform(unsigned long long x) { return mw_uniform((unsigned)(x >> 32)); }
MW_FN double mw_uniform_double(unsigned x) { return x * 0x1p-32 + 0x1p-32; }
MW_FN double mw_uniform_double(unsigned long long x) { return (double)(x >> 11) * 0x1p-53 + 0x1p-54; }
MW_FN unsigned long long mw_joined(unsigned x, unsigned y) { return x ^ (unsigned long long)y << 21; }
MW_FN double mw_uniform_double(unsigned x, unsigned y) { return (double)mw_joined(x, y) * 0x1p-53 + 0x1p-54; }

template <class State> MW_FN float curand_uniform(State *state) { return mw_uniform(curand(state)); }
template <class State> MW_FN double curand_uniform_double(State *state) { return mw_uniform_double(curand(state)); }
MW_FN double curand_uniform_double(curandStateXORWOW *state) {
  const unsigned x = curand(state);
  return mw_uniform_double(x, curand(state));
}
MW_FN float4 curand_uniform4(curandStatePhilox4_32_10 *state) {
  const uint4 x = curand4(state);
  return make_float4(mw_uniform(x.x), mw_uniform(x.y), mw_uniform(x.z), mw_uniform(x.w));
}
MW_FN double2 curand_uniform2_double(curandStatePhilox4_32_10 *state) {
  const uint4 x = curand4(state);
  return make_double2(mw_uniform_double(x.x, x.y), mw_uniform_double(x.z, x.w));
}

/* G. Box and M. Muller, "A Note on the Generation of Random Normal Deviates" (1958). */
MW_FN float2 mw_box_muller(unsigned x, unsigned y) {
  const float turn = 2.3283064e-10f * 6.2831855f, v = (float)y * turn + turn / 2;
  const float s = sqrtf(-2.0f * logf(mw_uniform(x)));
  return make_float2(sinf(v) * s, cosf(v) * s);
}
MW_FN double2 mw_box_muller(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const double v = (double)mw_joined(y0, y1) * 0x1p-52 + 0x1p-53, s = sqrt(-2.0 * log(mw_uniform_double(x0, x1)));
  return make_double2(sin(v * 3.14159265358979323846) * s, cos(v * 3.14159265358979323846) * s);
}

template <class State> MW_FN float2 curand_normal2(State *state) {
  const unsigned x = curand(state);
  return mw_box_muller(x, curand(state));
}
template <class State> MW_FN double2 curand_normal2_double(State *state) {
  const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state);
  return mw_box_muller(x0, x1, y0, curand(state));
}
MW_FN float4 curand_normal4(curandStatePhilox4_32_10 *state) {
  const float2 a = curand_normal2(state), b = curand_normal2(state);
  return make_float4(a.x, a.y, b.x, b.y);
}

/* One of the two that a pair gives now, the other at the next call. */
#define MW_NORMAL(T, suffix)                                                                                           \
  template <class State> MW_FN T curand_normal##suffix(State *state) {                                                 \
    state->boxmuller_flag##suffix = !state->boxmuller_flag##suffix;                                                    \
    if (!state->boxmuller_flag##suffix) return state->boxmuller_extra##suffix;                                         \
    const T##2 pair = curand_normal2##suffix(state);                                                                   \
    state->boxmuller_extra##suffix = pair.y;                                                                           \
    return pair.x;                                                                                                     \
  }                                                                                                                    \
  template <class State> MW_FN T curand_log_normal##suffix(State *state, T mean, T deviation) {                        \
    return (T)exp(mean + deviation * curand_normal##suffix(state));                                                    \
  }
MW_NORMAL(float, )
MW_NORMAL(double, _double)
#undef MW_NORMAL
#undef MW_NORMAL_STATE

/* ==} */

#endif
#endif
