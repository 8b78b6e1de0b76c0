// SPDX-License-Identifier: MIT
//
// What mw.bench asks of arrays that a function is said to write: a pattern is laid over them before a run, and what
// still holds it afterwards was not written. Elements are compared by their bits, as words W of their size.
//
// The pattern differs from element to element and from seed to seed (the finalizer of splitmix64: G. L. Steele,
// D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators", 2014), so that a written element holds it
// by chance only, and in two runs with two seeds hardly ever.

typedef unsigned long long u64;

__device__ __forceinline__ u64 thread_number() {
  return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

template <class W> __device__ __forceinline__ W pattern(u64 seed, u64 i) {
  u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (W)(z ^ (z >> 31));
}

namespace moonwarp {

template <class W> __global__ void poison(void *x, u64 seed, u64 n) {
  const u64 i = thread_number();
  if (i < n) ((W *)x)[i] = pattern<W>(seed, i);
}

// suspects[i] = 1 where x[i] still holds the pattern; a second run keeps those of the first only if they do again.
template <class W> __global__ void suspect(const void *x, u64 seed, unsigned char *suspects, int again, u64 n) {
  const u64 i = thread_number();
  if (i >= n) return;
  const unsigned char holds = ((const W *)x)[i] == pattern<W>(seed, i);
  suspects[i] = again ? suspects[i] && holds : holds;
}

// count[0] += elements that hold the pattern
template <class W> __global__ void count_poisoned(const void *x, u64 seed, u64 *count, u64 n) {
  const u64 i = thread_number();
  if (i < n && ((const W *)x)[i] == pattern<W>(seed, i)) atomicAdd(count, 1ull);
}

// count[0] += elements that are the same in both
template <class W> __global__ void count_equal(const void *a, const void *b, u64 *count, u64 n) {
  const u64 i = thread_number();
  if (i < n && ((const W *)a)[i] == ((const W *)b)[i]) atomicAdd(count, 1ull);
}

// count[0] += suspects
__global__ void count_suspects(const unsigned char *suspects, u64 *count, u64 n) {
  const u64 i = thread_number();
  if (i < n && suspects[i]) atomicAdd(count, 1ull);
}

// found[0] = 1 where a and b differ anywhere, found[1] = 1 where a is not the same everywhere
template <class W> __global__ void compare(const void *a, const void *b, u64 *found, u64 n) {
  const u64 i = thread_number();
  if (i >= n) return;
  const W *x = (const W *)a, *y = (const W *)b;
  if (x[i] != y[i]) found[0] = 1;
  if (x[i] != x[0]) found[1] = 1;
}

// A launch and nothing else: the least that any function on the device can take.
__global__ void nothing() {}

} // namespace moonwarp
