// SPDX-License-Identifier: MIT
//
// What the kernels of moonwarp.mesh share; lua/moonwarp/mesh/source.lua writes it before each. `all` has n
// elements of D values: one value of all after the other (SOA), or one element after the other.

// An element's values in accesses of up to 16 bytes.
template <class T, int D> struct alignas(D * sizeof(T) % 16 == 0 ? 16 : D * sizeof(T) % 8 == 0 ? 8 : sizeof(T)) Values {
  T of[D];
};

template <bool SOA, int D, class T> __device__ inline void get(T *own, const T *all, int n, int at) {
  if (SOA) {
    for (int d = 0; d < D; d++) own[d] = all[d * n + at];
  } else {
    const Values<T, D> values = ((const Values<T, D> *)all)[at];
    for (int d = 0; d < D; d++) own[d] = values.of[d];
  }
}

template <bool SOA, int D, class T> __device__ inline void put(const T *own, T *all, int n, int at) {
  if (SOA) {
    for (int d = 0; d < D; d++) all[d * n + at] = own[d];
  } else {
    Values<T, D> values;
    for (int d = 0; d < D; d++) values.of[d] = own[d];
    ((Values<T, D> *)all)[at] = values;
  }
}

template <bool SOA, int D, class T> __device__ inline void plus(const T *own, T *all, int n, int at) {
  for (int d = 0; d < D; d++) all[SOA ? d * n + at : at * D + d] += own[d];
}

template <bool SOA, int D, class T> __device__ inline void plus_atomic(const T *own, T *all, int n, int at) {
  for (int d = 0; d < D; d++) atomicAdd(&all[SOA ? d * n + at : at * D + d], own[d]);
}

// Where a table with marks leads target t to if it has 14 bits of the difference from t: as tables of 32 bits have it.
__device__ inline int place(short value, int t) { return (t + (value << 18 >> 18)) | (int)(value << 16 & 0xc0000000u); }

// Adds the sum over the block's threads, which are whole warps, to *sum.
template <class T> __device__ void add_block(T *sum, T value) {
  __shared__ T of_warp[32];
  for (int s = 16; s > 0; s /= 2) value += __shfl_down_sync(0xffffffffu, value, s);
  __syncthreads(); // a sum before this one has been read
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; w++) value += of_warp[w];
    atomicAdd(sum, value);
  }
}
