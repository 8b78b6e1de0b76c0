/* SPDX-License-Identifier: MIT
 *
 * Inline PTX, checked by itself; launched as builtins.cu's kernels are. */
#include "check.cuh"

__device__ unsigned lane_of() {
  unsigned l;
  asm("mov.u32 %0, %%laneid;" : "=r"(l));
  return l;
}

__global__ void check_ptx_registers(int *wrong) {
  unsigned below, x, shape;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm volatile("mov.u32 %0, %%tid.x; // which\n\tmov.u32 %1, %%nctaid.y;" : "=r"(x), "=r"(shape));
  CHECK(lane_of() == lane() && below == (1u << lane()) - 1 && x == threadIdx.x && shape == gridDim.y);
}

__global__ void check_ptx_timer(int *wrong) {
  unsigned long long before, after;
  unsigned high;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before)::"memory");
  asm volatile("mov.u32 %0, %%globaltimer_hi;" : "=r"(high)::"memory");
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(after)::"memory");
  CHECK(before > 0 && before <= after && high >= before >> 32 && high <= after >> 32);
}

__global__ void check_ptx_integers(int *wrong) {
  const unsigned one = (unsigned)opaque_one(), a = 0x12345678u * one, b = 0xf0f0f0f0u * one, c = 0x00ff00ffu * one;
  unsigned r;
  int s;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  CHECK(r == (a ^ b ^ c));
  asm("lop3.b32 %0, %1, %2, %3, 0xb8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  CHECK(r == ((a & ~b) | (c & b)));
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  CHECK(r == ((a & b) | (a & c) | (b & c)));
  asm("lop3.b32 %0, %1, %2, %3, 0x01;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  CHECK(r == ~(a | b | c));
  asm("lop3.b32 %0, %1, %2, %3, 0x2c;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  CHECK(r == ((~a & b) | (a & ~b & c)));
  asm("bfe.u32 %0, %1, 8, 12;" : "=r"(r) : "r"(a));
  CHECK(r == 0x456);
  asm("bfe.s32 %0, %1, %2, 8;" : "=r"(s) : "r"(b), "r"(24u));
  CHECK(s == -16);
  asm("bfe.s32 %0, %1, 28, 40;" : "=r"(s) : "r"(b));
  CHECK(s == -1);
  asm("bfe.s32 %0, %1, 40, 4;" : "=r"(s) : "r"(b));
  CHECK(s == -1);
  asm("bfe.u32 %0, %1, 40, 4;" : "=r"(r) : "r"(b));
  CHECK(r == 0);
  asm("bfe.u32 %0, %1, 4, 0;" : "=r"(r) : "r"(b));
  CHECK(r == 0);
  asm("bfe.s32 %0, %1, 20, 5;" : "=r"(s) : "r"(b));
  CHECK(s == 15);
  asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(r) : "r"(a), "r"(b));
  CHECK(r == 0xf0f0f780);
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a));
  CHECK(r == 28);
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(one - 1));
  CHECK(r == 0xffffffffu);
  asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(-17 * (int)one));
  CHECK(r == 4);
  asm("brev.b32 %0, %1;\n" : "=r"(r) : "r"(a));
  CHECK(r == 0x1e6a2c48);
  asm("prmt.b32 %0, %1, %2, 0x3705;" : "=r"(r) : "r"(a), "r"(b));
  CHECK(r == 0x12f078f0);
  asm("prmt.b32 %0, %1, %2, 0xc9f8;" : "=r"(r) : "r"(a), "r"(b));
  CHECK(r == 0xff00ff00);
  asm("shf.l.wrap.b32 %0, %1, %2, 8;" : "=r"(r) : "r"(a), "r"(b));
  CHECK(r == 0xf0f0f012);
  asm("vabsdiff4.u32.u32.u32.add"
      " %0, %1, %2, %3;" : "=r"(r) : "r"(0x01020304u * one), "r"(0x04030201u), "r"(100u));
  CHECK(r == 108);
  asm("popc.b32 %0, %1;" : "=r"(s) : "r"(b));
  CHECK(s == 16);
}

__global__ void check_ptx_products(int *wrong) {
  const int one = opaque_one();
  unsigned long long wide;
  long long sum;
  int high, low;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(0xffffffffu * one), "r"(3u));
  CHECK(wide == 0x2fffffffdull);
  asm("mul.hi.s32 %0, %1, %2;" : "=r"(high) : "r"(-5 * one), "r"(7));
  CHECK(high == -1);
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(sum) : "r"(-70000 * one), "r"(70000), "l"(1ll));
  CHECK(sum == -4899999999ll);
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(low) : "r"(6 * one), "r"(7), "r"(-2));
  CHECK(low == 40);
  asm("shr.s32 %0, %1, %2;" : "=r"(low) : "r"(-8 * one), "r"(40));
  CHECK(low == -1);
  asm("shl.b32 %0, %1, %2;" : "=r"(low) : "r"(8 * one), "r"(32));
  CHECK(low == 0);
  low = 5 * one;
  asm("add.s32 %0, %0, %1;" : "+r"(low) : "r"(37));
  CHECK(low == 42);
}

__global__ void check_ptx_floats(int *wrong) {
  const float x = 3.0f * (float)opaque_one();
  float y, z;
  double d;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(z) : "f"(y));
  CHECK(fabsf(y - 8) < 1e-5f && fabsf(z - 3) < 1e-5f);
  asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(d) : "d"((double)x), "d"(2.0), "d"(0.5));
  CHECK(d == 6.5);
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x * 12));
  CHECK(fabsf(y - 1.0f / 6) < 1e-6f);
}

__global__ void check_ptx_bits_of_floats(int *wrong) {
  const float x = -3.0f * (float)opaque_one();
  unsigned bits;
  long long wide;
  float y;
  double d;
  asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(x));
  CHECK(bits == 0xc0400000);
  asm("mov.b32 %0, %1;" : "=f"(y) : "r"(bits));
  CHECK(y == -3);
  asm("and.b32 %0, %1, 0x7fffffff;" : "=f"(y) : "f"(x));
  CHECK(y == 3);
  asm("{ .reg .f32 t; mov.b32 t, %1; add.f32 t, t, 0f3F800000; mov.b32 %0, t; }" : "=r"(bits) : "r"(bits));
  CHECK(bits == 0xc0000000);
  asm("mov.b64 %0, %1;" : "=l"(wide) : "d"(2.0 * x));
  CHECK(wide == (long long)0xc018000000000000);
  asm("mov.b64 %0, %1;" : "=d"(d) : "l"(wide));
  CHECK(d == -6);
}

__global__ void check_ptx_own_registers(int *wrong) {
  const int i = (int)lane();
  int r = -1;
  asm("{\n\t.reg .pred p;\n\t.reg .s32 twice;\n\tadd.s32 twice, %1, %1;\n\tsetp.lt.s32 p, twice, 20;\n\t"
      "selp.s32 %0, twice, 7, p;\n\t@!p add.s32 %0, %0, 1;\n}"
      : "=r"(r)
      : "r"(i));
  CHECK(r == (2 * i < 20 ? 2 * i : 8));
}

__global__ void check_ptx_memory(int *wrong) {
  __shared__ unsigned s[THREADS];
  const unsigned rank = rank_in_block();
  unsigned *mine = &s[rank], value, bytes;
  asm volatile("st.relaxed.cta.u32 [%0], %1;" ::"l"(mine), "r"(rank * 0x101) : "memory");
  __syncthreads();
  unsigned *other = &s[(rank + 1) % THREADS];
  asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(value) : "l"(other) : "memory");
  asm volatile("ld.acquire.cta.u8 %0, [%1+1];" : "=r"(bytes) : "l"(other) : "memory");
  CHECK(value == (rank + 1) % THREADS * 0x101 && bytes == (((rank + 1) % THREADS * 0x101) >> 8 & 255));
  asm volatile("membar.gl;");
  __syncthreads();
  asm volatile("red.add.u32 [%0], %1;" ::"l"(&s[0]), "r"(2u) : "memory");
  __syncthreads();
  CHECK(s[0] == 2 * THREADS);
}

__global__ void check_ptx_conversions(int *wrong) {
  const unsigned one = opaque_one();
  unsigned long long wide;
  unsigned low;
  long long below;
  float f;
  double d;
  int i;
  asm("cvt.u64.u32 %0, %1;" : "=l"(wide) : "r"(0xffffffffu * one));
  asm("cvt.u32.u64 %0, %1;" : "=r"(low) : "l"(wide + 3));
  asm("cvt.s64.s32 %0, %1;" : "=l"(below) : "r"(-2 * (int)one));
  CHECK(wide == 0xffffffffull && low == 2 && below == -2);
  asm("cvt.rn.f32.s64 %0, %1;" : "=f"(f) : "l"(below));
  asm("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(f - 0.75f));
  asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(i) : "d"(d));
  CHECK(f == -2 && d == -2.75 && i == -2);
  asm("cvt.rni.s64.f64 %0, %1;" : "=l"(below) : "d"(d));
  asm("cvt.rpi.u32.f32 %0, %1;" : "=r"(low) : "f"(1e30f * (float)one));
  CHECK(below == -3 && low == 0xffffffff);
}

__global__ void check_ptx_vectors(int *wrong) {
  __shared__ uint4 s[THREADS];
  const unsigned rank = rank_in_block();
  uint4 v = {rank, rank + 1, rank + 2, rank + 3}, w;
  int none, nor;
  asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(&s[rank]), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  uint4 *other = &s[THREADS - 1 - rank];
  asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(other));
  CHECK(w.x == THREADS - 1 - rank && w.y == w.x + 1 && w.z == w.x + 2 && w.w == w.x + 3);
  asm volatile("bar.sync 1;" ::: "memory");
  asm volatile("st.v2.u32 [%0 + 8], {%1, %2};" ::"l"(other), "r"(v.x), "r"(v.y) : "memory");
  asm volatile("barrier.sync %0, %1;" ::"r"(2), "n"(THREADS) : "memory");
  CHECK(s[rank].y == rank + 1 && s[rank].z == THREADS - 1 - rank && s[rank].w == THREADS - rank);
  asm volatile("ld.global.L1::no_allocate.v2.s32 {%0, %1}, [%2];" : "=r"(none), "=r"(nor) : "l"(wrong));
  CHECK(none == 0 && nor == 0);
}
