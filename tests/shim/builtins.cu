/* SPDX-License-Identifier: MIT
 *
 * CUDA's built-ins, checked by themselves: the same file runs on the CPU device and on a GPU. Launch each check_*
 * kernel with grid {2, 2, 1}, block {64, 2, 2} and an int array of 2 zeros: afterwards wrong[0], the number of failed
 * checks, must be 0; wrong[1] is the line of one of them. Some kernels count in device variables, so a module is good
 * for one launch of each. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.cuh"

/* {== Types and coordinates ============================================ */

__global__ void check_indices(int *wrong) {
  CHECK(blockDim.x == 64 && blockDim.y == 2 && blockDim.z == 2);
  CHECK(gridDim.x == 2 && gridDim.y == 2 && gridDim.z == 1);
  CHECK(threadIdx.x < 64 && threadIdx.y < 2 && threadIdx.z < 2);
  CHECK(blockIdx.x < 2 && blockIdx.y < 2 && blockIdx.z == 0);
  CHECK(warpSize == 32);
  CHECK(threadIdx.x - 64 > 0);
  const uint3 t = threadIdx;
  const dim3 b = blockDim;
  CHECK(t.y == threadIdx.y && b.x * b.y * b.z == THREADS);
  dim3 d(7);
  CHECK(d.x == 7 && d.y == 1 && d.z == 1);
}

struct __align__(16) aligned_by_attribute {
  float a, b, c;
};

__global__ void check_vector_types(int *wrong) {
  CHECK(sizeof(char3) == 3 && sizeof(char4) == 4 && alignof(char4) == 4 && alignof(uchar2) == 2);
  CHECK(sizeof(short2) == 4 && alignof(short4) == 8 && sizeof(ushort3) == 6);
  CHECK(sizeof(int2) == 8 && alignof(int2) == 8 && sizeof(uint3) == 12 && alignof(uint3) == 4 && alignof(uint4) == 16);
  CHECK(sizeof(float3) == 12 && alignof(float3) == 4 && alignof(float4) == 16 && sizeof(float4) == 16);
  CHECK(sizeof(double2) == 16 && alignof(double2) == 16 && sizeof(double3) == 24 && alignof(double3) == 8);
  CHECK(sizeof(longlong2) == 16 && alignof(longlong2) == 16 && sizeof(ulonglong3) == 24);
  CHECK(sizeof(aligned_by_attribute) == 16 && alignof(aligned_by_attribute) == 16);
  const float4 f = make_float4(1, 2, 3, 4);
  const int3 i = make_int3(-1, 0, 1);
  const uchar4 c = make_uchar4(1, 2, 3, 255);
  const ulonglong2 u = make_ulonglong2(1ull << 63, 5);
  CHECK(f.x + f.y + f.z + f.w == 10 && i.x + i.y + i.z == 0 && c.w == 255 && u.x >> 63 == 1);
  CHECK(make_double2(0.5, 0.25).y == 0.25 && make_short2(-3, 4).x == -3);
}

/* ==} */

/* {== Memory =========================================================== */

__constant__ int table[4] = {2, 3, 5, 7};
__device__ int counter;
__device__ float scale = 0.5f;

__global__ void check_variables(int *wrong) {
  CHECK(table[0] * table[1] * table[2] * table[3] == 210);
  CHECK(__ldg(&table[2]) == 5 && __ldg(&scale) == 0.5f);
  atomicAdd(&counter, 1);
  CHECK(counter > 0 && counter <= THREADS * BLOCKS);
}

__global__ void check_shared(int *wrong) {
  __shared__ int plain[THREADS];
  __shared__ double square[16][17];
  const unsigned r = rank_in_block();
  plain[r] = (int)r;
  if (r < 256) square[r / 16][r % 16] = r;
  __syncthreads();
  CHECK(plain[THREADS - 1 - r] == (int)(THREADS - 1 - r));
  CHECK(square[r % 16][r / 16] == r % 16 * 16 + r / 16);
}

template <class T, int N> __device__ T block_sum(T value) {
  __shared__ T part[N];
  const unsigned r = rank_in_block();
  part[r] = value;
  for (int half = N / 2; half > 0; half /= 2) {
    __syncthreads();
    if (r < (unsigned)half) part[r] += part[r + half];
  }
  __syncthreads();
  const T sum = part[0];
  __syncthreads();
  return sum;
}

__global__ void check_barriers(int *wrong) {
  const int r = (int)rank_in_block();
  CHECK(__syncthreads_count(r % 3 == 0) == 86);
  CHECK(__syncthreads_and(r < THREADS) != 0);
  CHECK(__syncthreads_and(r != 17) == 0);
  CHECK(__syncthreads_or(r == 255) != 0);
  CHECK(__syncthreads_or(r > 255) == 0);
  CHECK((block_sum<int, THREADS>(r)) == 255 * 128);
  CHECK((block_sum<double, THREADS>(0.5)) == 128);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}

/* ==} */

/* {== Warps ============================================================ */

__global__ void check_shuffles(int *wrong) {
  const int l = (int)lane();
  CHECK(__shfl_sync(ALL, l * 10, 5) == 50);
  CHECK(__shfl_sync(ALL, l, l + 1) == (l + 1) % 32);
  CHECK(__shfl_sync(ALL, l, 3, 8) == (l & ~7) + 3);
  CHECK(__shfl_up_sync(ALL, l, 1) == (l ? l - 1 : 0));
  CHECK(__shfl_up_sync(ALL, l, 2, 16) == (l % 16 >= 2 ? l - 2 : l));
  CHECK(__shfl_down_sync(ALL, l, 4) == (l < 28 ? l + 4 : l));
  CHECK(__shfl_down_sync(ALL, l, 1, 4) == (l % 4 < 3 ? l + 1 : l));
  CHECK(__shfl_xor_sync(ALL, l, 16) == (l ^ 16));
  CHECK(__shfl_xor_sync(ALL, l, 3, 8) == (l ^ 3));
  CHECK(__shfl_sync(ALL, (unsigned)l + 0x80000000u, 31) == 0x8000001fu);
  CHECK(__shfl_sync(ALL, -1ll - l, 7) == -8);
  CHECK(__shfl_sync(ALL, ~0ull - l, 7) == ~0ull - 7);
  CHECK(__shfl_xor_sync(ALL, l + 0.5f, 1) == (l ^ 1) + 0.5f);
  CHECK(__shfl_down_sync(ALL, l + 1e-300, 1) == (l < 31 ? l + 1 + 1e-300 : l + 1e-300));
  CHECK(__half2float(__shfl_sync(ALL, __float2half((float)l), 9)) == 9);
  int sum = l;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(ALL, sum, offset);
  CHECK(l != 0 || sum == 496);
}

__global__ void check_partial_masks(int *wrong) {
  const int l = (int)lane();
  if (l % 2) {
    CHECK(__shfl_sync(0xaaaaaaaau, l, 7) == 7);
    CHECK(__ballot_sync(0xaaaaaaaau, l > 15) == 0xaaaa0000u);
    CHECK(__all_sync(0xaaaaaaaau, l % 2));
  } else {
    CHECK(__shfl_xor_sync(0x55555555u, l, 2) == (l ^ 2));
    CHECK(!__any_sync(0x55555555u, l % 2));
    __syncwarp(0x55555555u);
  }
  __syncwarp();
  if (l < 8) CHECK(__reduce_add_sync(0xffu, l) == 28);
}

__global__ void check_votes(int *wrong) {
  const int l = (int)lane();
  CHECK(__ballot_sync(ALL, l % 4 == 1) == 0x22222222u);
  CHECK(__all_sync(ALL, l < 32) && !__all_sync(ALL, l));
  CHECK(__any_sync(ALL, l == 31) && !__any_sync(ALL, l > 31));
  CHECK(__match_any_sync(ALL, l / 8) == 0xffu << l / 8 * 8);
  CHECK(__match_any_sync(ALL, l % 2 ? 1ull << 40 : 0ull) == (l % 2 ? 0xaaaaaaaau : 0x55555555u));
  int same = -1;
  CHECK(__match_all_sync(ALL, 5, &same) == ALL && same);
  CHECK(__match_all_sync(ALL, l / 31, &same) == 0 && !same);
  CHECK(__activemask() != 0);
  CHECK(__reduce_add_sync(ALL, l) == 496 && __reduce_add_sync(ALL, (unsigned)l) == 496u);
  CHECK(__reduce_min_sync(ALL, l - 16) == -16 && __reduce_max_sync(ALL, l - 16) == 15);
  CHECK(__reduce_min_sync(ALL, (unsigned)(l - 16)) == 0u && __reduce_max_sync(ALL, (unsigned)(l - 16)) == ~0u);
  CHECK(__reduce_and_sync(ALL, l | 0x100u) == 0x100u && __reduce_or_sync(ALL, 1u << l) == ALL);
  CHECK(__reduce_xor_sync(ALL, (unsigned)l * l) == __reduce_xor_sync(ALL, (unsigned)(31 - l) * (31 - l)));
}

/* ==} */

/* {== Atomics ========================================================== */

template <class T> __device__ void check_integer_atomics(int *wrong, T *cell) {
  const unsigned r = rank_in_block();
  if (r == 0) {
    cell[0] = 0, cell[1] = 100, cell[2] = 0, cell[3] = (T) ~(T)0, cell[4] = 0, cell[5] = 0, cell[6] = 7, cell[7] = 0;
  }
  __syncthreads();
  const T old = atomicAdd(&cell[0], (T)2);
  CHECK(old % 2 == 0 && old < 2 * THREADS);
  atomicMin(&cell[1], (T)r);
  atomicMax(&cell[2], (T)r);
  atomicAnd(&cell[3], (T) ~((T)1 << r % 8));
  atomicOr(&cell[4], (T)1 << r % 16);
  atomicXor(&cell[5], (T)1 << r % 4);
  if (r == 3) CHECK(atomicExch(&cell[6], (T)9) == 7);
  T seen = cell[7], before;
  do {
    before = seen;
    seen = atomicCAS(&cell[7], before, before + 1);
  } while (seen != before);
  __syncthreads();
  CHECK(cell[0] == 2 * THREADS && cell[1] == 0 && cell[2] == THREADS - 1);
  CHECK((cell[3] & 0xff) == 0 && (cell[3] >> 8 & 1) == 1 && cell[4] == 0xffff && cell[5] == 0);
  CHECK(cell[6] == 9 && cell[7] == THREADS);
  __syncthreads();
}

__global__ void check_atomics_shared(int *wrong) {
  __shared__ int i[8];
  __shared__ unsigned u[8];
  __shared__ unsigned long long w[8];
  check_integer_atomics(wrong, i);
  check_integer_atomics(wrong, u);
  check_integer_atomics(wrong, w);
  const unsigned r = rank_in_block();
  __shared__ float f[2];
  __shared__ double d[1];
  __shared__ __half h[2];
  __shared__ __half2 h2[1];
  __shared__ __nv_bfloat16 b[2];
  if (r == 0) {
    u[0] = u[1] = 0, i[0] = 1000, u[2] = 5000, f[0] = 0, f[1] = 3, d[0] = 0;
    h[0] = h[1] = __float2half(0), h2[0] = __float2half2_rn(0), b[0] = b[1] = __float2bfloat16(0);
  }
  __syncthreads();
  atomicInc(&u[0], 99u);
  atomicDec(&u[1], 99u);
  atomicSub(&i[0], 2);
  atomicSub(&u[2], 3u);
  atomicAdd(&f[0], 0.25f);
  atomicAdd(&d[0], 0.125);
  atomicAdd(&h[0], __float2half(0.5f));
  atomicAdd(&h2[0], __floats2half2_rn(1, 0.25f));
  atomicAdd(&b[0], __float2bfloat16(1));
  if (r == 9) CHECK(atomicExch(&f[1], 4.0f) == 3);
  __syncthreads();
  CHECK(u[0] == THREADS % 100 && u[1] == (100 - THREADS % 100) % 100);
  CHECK(i[0] == 1000 - 2 * THREADS && u[2] == 5000 - 3 * THREADS);
  CHECK(f[0] == 64 && d[0] == 32 && f[1] == 4);
  CHECK(__half2float(h[0]) == 128 && __low2float(h2[0]) == 256 && __high2float(h2[0]) == 64);
  CHECK(__bfloat162float(b[0]) == 256);
}

__device__ int global_int;
__device__ unsigned global_arrived;
__device__ double global_double;
__device__ float global_float;
__device__ unsigned long long global_most;

/* Each thread of the block takes part once; value t + 1. */
template <class T> __device__ void check_own_atomics(T *cell, int *wrong) {
  const T mine = (T)(rank_in_block() + 1), all = (T)THREADS;
  __nv_atomic_fetch_add(&cell[0], mine, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_sub(&cell[1], mine, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  T old = __nv_atomic_load_n(&cell[2], __NV_ATOMIC_ACQUIRE), next;
  do
    next = old < mine ? mine : old;
  while (!__nv_atomic_compare_exchange_n(&cell[2], &old, next, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED));
  if (mine == 7) __nv_atomic_store_n(&cell[3], mine, __NV_ATOMIC_RELEASE);
  __syncthreads();
  CHECK(cell[0] == all * (all + 1) / 2 && cell[1] == -cell[0] && cell[2] == all && cell[3] == 7);
  __syncthreads();
  if (mine == 1) {
    const T before = __nv_atomic_exchange_n(&cell[3], (T)9, __NV_ATOMIC_RELAXED);
    T now = 0;
    __nv_atomic_load(&cell[3], &now, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    CHECK(before == 7 && now == 9);
  }
}

__global__ void check_atomics_of_the_compiler(int *wrong) {
  __shared__ int i[4];
  __shared__ unsigned long long l[4];
  __shared__ double d;
  __shared__ unsigned bits, most;
  const unsigned rank = rank_in_block();
  if (rank < 4) i[rank] = 0, l[rank] = 0, d = 0, bits = 0, most = 0;
  __syncthreads();
  check_own_atomics(i, wrong);
  check_own_atomics(l, wrong);
  __nv_atomic_fetch_add(&d, 0.5, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_or(&bits, 1u << rank % 32, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(&most, rank, __NV_ATOMIC_RELAXED);
  __syncthreads();
  CHECK(bits == ~0u && most == THREADS - 1 && d == THREADS / 2);
}

__global__ void check_atomics_global(int *wrong) {
  const unsigned r = rank_in_block();
  atomicAdd(&global_int, 3);
  atomicAdd(&global_double, 0.5);
  atomicAdd(&global_float, 1.0f);
  atomicMax(&global_most, (unsigned long long)r << 33);
  __threadfence();
  __syncthreads();
  if (r != 0 || atomicAdd(&global_arrived, 1u) != BLOCKS - 1) return;
  __threadfence();
  CHECK(atomicAdd(&global_int, 0) == 3 * THREADS * BLOCKS);
  CHECK(atomicAdd(&global_double, 0.0) == 0.5 * THREADS * BLOCKS);
  CHECK(atomicAdd(&global_float, 0.0f) == THREADS * BLOCKS);
  CHECK(atomicMax(&global_most, 0ull) == 255ull << 33);
}

__device__ int lock;
__device__ volatile int guarded;

__global__ void check_spin_lock(int *wrong) {
  if (lane() != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) __nanosleep(20);
  __threadfence();
  const int before = guarded;
  guarded = before + 1;
  CHECK(guarded == before + 1);
  __threadfence();
  atomicExch(&lock, 0);
}

/* ==} */

/* {== Integers and conversions ========================================= */

__global__ void check_integers(int *wrong) {
  const int o = opaque_one();
  CHECK(__popc(0xf0f0u * o) == 8 && __popcll(~0ull * o) == 64 && __clz(o) == 31 && __clz(0 * o) == 32);
  CHECK(__clzll((long long)o << 40) == 23 && __ffs(8 * o) == 4 && __ffs(0 * o) == 0 && __ffsll(1ll << 50) == 51);
  CHECK(__brev(1u * o) == 0x80000000u && __brev(0x12345678u * o) == 0x1e6a2c48u && __brevll(2ull * o) == 1ull << 62);
  CHECK(__byte_perm(0x33221100u * o, 0x77665544u, 0x7250u) == 0x77225500u);
  CHECK(__funnelshift_l(0x80000001u * o, 0x12345678u, 4) == 0x23456788u);
  CHECK(__funnelshift_r(0x80000001u * o, 0x12345678u, 36) == 0x88000000u);
  CHECK(__funnelshift_lc(5u * o, 6u, 32) == 5u && __funnelshift_rc(5u * o, 6u, 40) == 6u);
  CHECK(__mulhi(-2 * o, 1 << 30) == -1 && __umulhi(0xffffffffu * o, 0xffffffffu) == 0xfffffffeu);
  CHECK(__mul64hi(-1ll * o, 1ll) == -1 && __umul64hi(~0ull * o, ~0ull) == ~0ull - 1);
  CHECK(__mul24(-3 * o, 5) == -15 && __umul24(0xff000003u * o, 5u) == 15u);
  CHECK(__sad(-3 * o, 4, 10u) == 17u && __usad(3u * o, 9u, 1u) == 7u);
  CHECK(__hadd(-3 * o, 2) == -1 && __rhadd(-3 * o, 2) == 0 && __uhadd(~0u * o, 1u) == 0x80000000u);
  CHECK(__dp4a(0x01020304 * o, 0x01010101, 5) == 15 && __dp4a(-1 * o, 0x01010101, 0) == -4);
  CHECK(__vadd4(0xff01ff01u * o, 0x01010101u) == 0x00020002u && __vmaxu2(0x00050009u * o, 0x00070003u) == 0x00070009u);
  CHECK(__fns(0x0000ff00u * o, 0, 3) == 10u && __fns(0x0000ff00u * o, 31, -1) == 15u);
  CHECK(min(-1 * o, 2) == -1 && max(3u * o, 4u) == 4u && min(5ll * o, -6ll) == -6 && max(~0ull * o, 1ull) == ~0ull);
  CHECK(min(-1 * o, 1u) == 1u && max((short)-2, (short)o) == 1 && abs(-7 * o) == 7 && llabs(-8ll * o) == 8);
}

__global__ void check_conversions(int *wrong) {
  const float f = (float)opaque_one();
  const double d = opaque_one();
  CHECK(__float_as_int(f) == 0x3f800000 && __int_as_float(0x40490fdb) > 3.1415f * f);
  CHECK(__float_as_uint(-f) == 0xbf800000u && __uint_as_float(0x7f800000u) > 1e38f * f);
  CHECK(__double_as_longlong(d) == 0x3ff0000000000000ll && __longlong_as_double(0x4000000000000000ll) == 2 * d);
  CHECK(__double2hiint(-d) == (int)0xbff00000 && __double2loint(d) == 0 && __hiloint2double(0x3ff80000, 0) == 1.5 * d);
  CHECK(__float2int_rn(2.5f * f) == 2 && __float2int_rz(-2.5f * f) == -2 && __float2int_rd(-2.5f * f) == -3);
  CHECK(__float2int_ru(2.1f * f) == 3 && __float2int_rn(1e20f * f) == 2147483647 &&
        __float2int_rz(-1e20f * f) < -2147483647);
  CHECK(__float2int_rz(nanf("") * f) == 0 && __float2uint_rn(-3.0f * f) == 0u &&
        __float2uint_rz(3e9f * f) == 3000000000u);
  CHECK(__double2int_rn(3.5 * d) == 4 && __double2ll_rd(-1e15 * d - 0.5) == -1000000000000001ll);
  CHECK(__double2uint_rz(4294967295.9 * d) == 4294967295u && __double2ull_rn(18e18 * d) == 18000000000000000000ull);
  CHECK(__int2float_rn(16777217 * (int)d) == 16777216.0f && __int2float_ru(16777217 * (int)d) == 16777218.0f);
  CHECK(__int2float_rz(-16777219 * (int)d) == -16777218.0f &&
        __uint2float_rd(4294967295u * (unsigned)d) == 4294967040.0f);
  CHECK(__ll2double_ru((1ll << 53) * (int)d + 1) == 9007199254740994.0 && __ll2float_rn(1ll << 40) == 1099511627776.0f);
  CHECK(__ull2double_rd(~0ull * (unsigned long long)d) == 18446744073709549568.0);
  CHECK(__double2float_rn(1 + 1e-9 * d) == 1.0f && __double2float_ru(1 + 1e-9 * d) == 1.00000012f);
  CHECK(__double2float_rd(-1 - 1e-9 * d) == -1.00000012f && __double2float_rz(1e300 * d) == 3.40282347e38f);
}

__global__ void check_rounded_arithmetic(int *wrong) {
  const float f = (float)opaque_one(), tiny = 1e-9f * f, third = 1 / (3 * f);
  const double d = opaque_one(), small = 1e-20 * d;
  const float above = 1.00000012f, below = 0.99999994f;
  CHECK(__fadd_rn(f, tiny) == 1 && __fadd_ru(f, tiny) == above && __fadd_rd(f, tiny) == 1 &&
        __fadd_rz(f, -tiny) == below);
  CHECK(__fsub_rn(f, tiny) == 1 && __fsub_rd(f, tiny) == below && __fsub_ru(f, tiny) == 1);
  CHECK(__fmul_rd(third, 3) == 1 && __fmul_ru(above, above) > __fmul_rd(above, above));
  CHECK(__fdiv_ru(f, 3) > __fdiv_rd(f, 3) && __fdiv_rz(-f, 3) == -__fdiv_rd(f, 3) &&
        __frcp_ru(3 * f) > __frcp_rz(3 * f));
  CHECK(__fsqrt_ru(2 * f) > __fsqrt_rd(2 * f) && __fsqrt_rn(4 * f) == 2 && __fsqrt_rz(9 * f) == 3);
  CHECK(__fmaf_rn(f, f, tiny) == 1 && __fmaf_ru(f, f, tiny) == above && __fmaf_rd(f, f, -tiny) == below);
  CHECK(__dadd_ru(d, small) > 1 && __dadd_rd(d, small) == 1 &&
        __dmul_ru(d + 1e-10, d + 1e-10) > __dmul_rd(d + 1e-10, d + 1e-10));
  CHECK(__ddiv_ru(d, 3) > __ddiv_rd(d, 3) && __drcp_rn(4 * d) == 0.25 && __dsqrt_ru(2 * d) > __dsqrt_rz(2 * d));
  CHECK(__fma_ru(d, d, small) > 1 && __fma_rd(d, d, -small) < 1 && __fma_rn(d, d, small) == 1 &&
        __fma_rz(d, d, small) == 1);
  /* A product that is rounded before it is added, whatever the compiler may contract elsewhere. */
  const float x = 1.00024414f * f, y = __fmul_rn(x, x);
  CHECK(__fsub_rn(__fmul_rn(x, x), y) == 0 && __fadd_rn(x * x, -y) == 0);
  const double u = (1 + 1e-9) * d, v = __dmul_rn(u, u);
  CHECK(__dsub_rn(__dmul_rn(u, u), v) == 0 && fma(u, u, -v) != 0);
}

/* ==} */
