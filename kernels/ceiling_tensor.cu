// SPDX-License-Identifier: MIT
//
// ceiling_tensor: what a GPU's tensor cores give at most by warp-wide instructions, for dev:ceiling.
//
// The ladder
//   v1 products   CHAINS independent sums of small matrix products per warp, `steps` long; TYPE: what is multiplied
//
// Bound: 2 M N K steps CHAINS operations per warp, no reads. From compute capability 9.0 on instructions of four warps
// that read shared memory (wgmma) do more; a kernel with mma.sync, as most have, is held to this ceiling.
// Source of the shapes: PTX ISA, "Warp-level matrix multiply-accumulate instructions".

// ---- device helpers -------------------------------------------------------------------------------------------------

enum type { F16, TF32, F64 };

template <int TYPE> struct product;

// 16 x 8 x 16; ones in f16
template <> struct product<F16> {
  typedef float number;
  __device__ static void add(number *d) {
    const unsigned one = 0x3c003c00;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(one));
  }
};

// 16 x 8 x 8; ones in f32, whose last bits are left out
template <> struct product<TF32> {
  typedef float number;
  __device__ static void add(number *d) {
    const unsigned one = 0x3f800000;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(one));
  }
};

// 8 x 8 x 4, twice, so that a warp has as many sums
template <> struct product<F64> {
  typedef double number;
  __device__ static void add(number *d) {
    const double one = 1;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(one));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};"
                 : "+d"(d[2]), "+d"(d[3])
                 : "d"(one));
  }
};

// ---- kernels --------------------------------------------------------------------------------------------------------

template <int TYPE, int CHAINS> __global__ void products(float *sums, int steps) {
  typename product<TYPE>::number d[CHAINS][4] = {};
  for (int k = 0; k < steps; k++) {
#pragma unroll
    for (int c = 0; c < CHAINS; c++) product<TYPE>::add(d[c]);
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < CHAINS; c++) sum += (float)(d[c][0] + d[c][1] + d[c][2] + d[c][3]);
  sums[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// products  block 256, a few blocks per multiprocessor; compute capability 8.0; sums 4 K CHAINS steps per thread, K 16, 8, 4
