// SPDX-License-Identifier: MIT
//
// Random numbers in cuRAND's order, for devices of which it has no generator: Philox4x32-10, 65536 subsequences of which
// four numbers are drawn in turn.
//
//   f32: numbers 4 q to 4 q + 3 are draw q / 65536 of subsequence q % 65536
//   f64: they are the next two draws, a number of two words; a generator's offset counts as if f32 had been drawn
//
// Found by comparing with curandCreateGeneratorHost of CUDA 13. One thread for four numbers, the first and the last of
// which may be others' than this call's. Compile with contract = false.

namespace moonwarp {

typedef unsigned long long u64;
enum { UNIFORM, NORMAL, LOG_NORMAL };

enum { SUBSEQUENCES = 65536 };
const float CELL = 2.3283064e-10f, ANGLE = CELL * 6.2831855f; // 2^-32, 2 pi / 2^32
const double FINE = 1.1102230246251565e-16;                   // 2^-53

__device__ __forceinline__ uint4 philox(u64 draw, unsigned subsequence, u64 seed) {
  uint4 c = make_uint4((unsigned)draw, (unsigned)(draw >> 32), subsequence, 0);
  unsigned key = (unsigned)seed, other = (unsigned)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const u64 a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
    c = make_uint4((unsigned)(b >> 32) ^ c.y ^ key, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ other, (unsigned)a);
    key += 0x9E3779B9u, other += 0xBB67AE85u;
  }
  return c;
}

__device__ __forceinline__ u64 joined(unsigned low, unsigned high) { return low ^ (u64)high << 21; }
__device__ __forceinline__ float uniform(unsigned w) { return w * CELL + CELL / 2; }
__device__ __forceinline__ double uniform(u64 w) { return w * FINE + FINE / 2; }

// Two normals of two words (G. Box and M. Muller, 1958).
__device__ __forceinline__ void normals(unsigned a, unsigned b, float &x, float &y) {
  const float r = sqrtf(-2 * logf(uniform(a))), angle = b * ANGLE + ANGLE / 2;
  x = sinf(angle) * r, y = cosf(angle) * r;
}

__device__ __forceinline__ void normals(u64 a, u64 b, double &x, double &y) {
  const double r = sqrt(-2 * log(uniform(a))), halves = b * (2 * FINE) + FINE;
  x = sinpi(halves) * r, y = cospi(halves) * r;
}

// Numbers 4 q to 4 q + 3 of a generator that began with number 4 `origin`.
template <int KIND> __device__ void four(float (&x)[4], u64 q, u64 origin, u64 seed) {
  const uint4 w = philox(q / SUBSEQUENCES, q % SUBSEQUENCES, seed);
  if (KIND == UNIFORM) {
    x[0] = uniform(w.x), x[1] = uniform(w.y), x[2] = uniform(w.z), x[3] = uniform(w.w);
  } else {
    normals(w.x, w.y, x[0], x[1]);
    normals(w.z, w.w, x[2], x[3]);
  }
}

template <int KIND> __device__ void four(double (&x)[4], u64 q, u64 origin, u64 seed) {
  const unsigned subsequence = q % SUBSEQUENCES;
  const u64 before = (origin + SUBSEQUENCES - 1 - subsequence) / SUBSEQUENCES; // draws that the offset left out
  const u64 draw = 2 * (q / SUBSEQUENCES) - before;
  for (int k = 0; k < 4; k += 2) {
    const uint4 w = philox(draw + k / 2, subsequence, seed);
    const u64 a = joined(w.x, w.y), b = joined(w.z, w.w);
    if (KIND == UNIFORM)
      x[k] = uniform(a), x[k + 1] = uniform(b);
    else
      normals(a, b, x[k], x[k + 1]);
  }
}

__device__ __forceinline__ float raised(float x) { return expf(x); }
__device__ __forceinline__ double raised(double x) { return exp(x); }

// Numbers from `first` on.
template <typename T, int KIND>
__global__ void draw(T *x, u64 count, u64 first, u64 origin, u64 seed, T mean, T deviation) {
  const u64 q = first / 4 + (u64)blockIdx.x * blockDim.x + threadIdx.x;
  T values[4];
  if (4 * q >= first + count) return;
  four<KIND>(values, q, origin, seed);
  for (int k = 0; k < 4; k++) {
    const u64 at = 4 * q + k;
    const T value = KIND == UNIFORM ? values[k] : mean + values[k] * deviation;
    if (at >= first && at < first + count) x[at - first] = KIND == LOG_NORMAL ? raised(value) : value;
  }
}

} // namespace moonwarp
