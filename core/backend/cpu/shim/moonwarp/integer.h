/* SPDX-License-Identifier: MIT
 *
 * Integer intrinsics and the integer half of min, max and abs. Included by moonwarp.h only. */

MW_FN int __popc(unsigned x) { return __builtin_popcount(x); }
MW_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
MW_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
MW_FN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
MW_FN int __ffs(int x) { return __builtin_ffs(x); }
MW_FN int __ffsll(long long x) { return __builtin_ffsll(x); }

MW_FN unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
MW_FN unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

/* The n-th set bit above (n > 0) or below (n < 0) `base`, itself included; n == 0: `base` if set. */
MW_FN unsigned __fns(unsigned mask, unsigned base, int n) {
  if (base > 31) return 0xffffffffu;
  const int step = n < 0 ? -1 : 1;
  int left = n < 0 ? -n : n ? n : 1;
  for (int i = (int)base; i >= 0 && i < 32; i += step) {
    if ((mask >> i & 1) && --left == 0) return (unsigned)i;
    if (n == 0) break;
  }
  return 0xffffffffu;
}

/* Bytes picked out of y:x by the selectors' nibbles; bit 3 of a nibble spreads the byte's sign. */
MW_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) r |= (unsigned)(both >> (s >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return r;
}

MW_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
MW_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
MW_FN unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
MW_FN unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}

MW_FN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
MW_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
__extension__ typedef __int128 mw_int128;
__extension__ typedef unsigned __int128 mw_uint128;
MW_FN long long __mul64hi(long long a, long long b) { return (long long)((mw_int128)a * b >> 64); }
MW_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((mw_uint128)a * b >> 64);
}

/* The low 24 bits, signed or not, multiplied; the low 32 bits of the product. */
MW_FN int mw_low24(int x) { return (int)((unsigned)x << 8) >> 8; }
MW_FN int __mul24(int a, int b) { return (int)((unsigned)mw_low24(a) * (unsigned)mw_low24(b)); }
MW_FN unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }

MW_FN unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
MW_FN unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}

/* Averages without overflow; the r form rounds up. */
MW_FN int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
MW_FN int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
MW_FN unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
MW_FN unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }

/* Dot products of packed bytes and halfwords. */
MW_FN int mw_byte(int x, int i) { return (signed char)(x >> 8 * i); }
MW_FN unsigned mw_ubyte(unsigned x, int i) { return x >> 8 * i & 0xff; }
MW_FN int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; i++) c = (int)((unsigned)c + (unsigned)(mw_byte(a, i) * mw_byte(b, i)));
  return c;
}
MW_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; i++) c += mw_ubyte(a, i) * mw_ubyte(b, i);
  return c;
}
MW_FN int __dp4a(char4 a, char4 b, int c) { return __dp4a(mw_bits<int>(a), mw_bits<int>(b), c); }
MW_FN unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(mw_bits<unsigned>(a), mw_bits<unsigned>(b), c);
}
MW_FN int __dp2a_lo(int a, int b, int c) {
  return (int)((unsigned)c + (unsigned)((short)a * mw_byte(b, 0)) + (unsigned)((short)(a >> 16) * mw_byte(b, 1)));
}
MW_FN int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
MW_FN unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffff) * mw_ubyte(b, 0) + (a >> 16) * mw_ubyte(b, 1);
}
MW_FN unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
