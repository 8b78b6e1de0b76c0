/* SPDX-License-Identifier: MIT
 *
 * PTX instructions for which CUDA has no function: ../../program/ptx.c writes calls of these. */

#include "convert.h"

/* A register as an operand of type T: its bits between a float and an integer of the same size, else its value. */
template <class T> struct mw_is_float { static constexpr bool yes = false; };
template <> struct mw_is_float<float> { static constexpr bool yes = true; };
template <> struct mw_is_float<double> { static constexpr bool yes = true; };
template <class T, class R, bool bits> struct mw_as {
  static T of(R x) { return (T)x; }
};
template <class T, class R> struct mw_as<T, R, true> {
  static T of(R x) {
    return mw_bits<T>(x);
  }
};
template <class T, class R> MW_FN T mw_register(R x) {
  return mw_as<T, R, sizeof(T) == sizeof(R) && mw_is_float<T>::yes != mw_is_float<R>::yes>::of(x);
}

/* Bytes of b and a by the digits of `which`; a digit above 7 takes the sign of its byte eight times. */
MW_FN unsigned mw_permute(unsigned a, unsigned b, unsigned which) {
  const unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned digit = which >> 4 * i & 15, byte = both >> 8 * (digit & 7) & 255;
    result |= (digit < 8 ? byte : byte >> 7 ? 255u : 0u) << 8 * i;
  }
  return result;
}

/* Bits position ... position + length - 1 of x, with the field's sign for a signed T. */
template <class T> MW_FN T mw_bit_field(T x, unsigned position, unsigned length) {
  const unsigned bits = sizeof(T) * 8, from = position & 255, count = length & 255;
  if (count == 0) return 0;
  if (from >= bits) return x < T(0) ? T(-1) : T(0);
  const unsigned above = from + count < bits ? bits - from - count : 0;
  return (T)((unsigned long long)x << above) >> (from + above);
}

/* b with the low `length` bits of a at `position`. */
template <class T> MW_FN T mw_bit_insert(T a, T b, unsigned position, unsigned length) {
  const unsigned bits = sizeof(T) * 8, from = position & 255, count = length & 255;
  if (from >= bits || count == 0) return b;
  const T ones = count >= bits ? ~(T)0 : ((T)1 << count) - 1;
  return (T)((b & ~(ones << from)) | (a & ones) << from);
}

/* Of the highest bit that is not the sign; 0 if none. */
MW_FN unsigned mw_highest_bit(unsigned x) { return 31u - (unsigned)__clz((int)x); }
MW_FN unsigned mw_highest_bit(int x) { return mw_highest_bit((unsigned)(x < 0 ? ~x : x)); }
MW_FN unsigned mw_highest_bit(unsigned long long x) { return x ? 63u - (unsigned)__clzll((long long)x) : ~0u; }
MW_FN unsigned mw_highest_bit(long long x) { return mw_highest_bit((unsigned long long)(x < 0 ? ~x : x)); }

/* y where the mask's bits are set, else x. */
MW_FN unsigned mw_bits_choose(unsigned mask, unsigned y, unsigned x) { return ((x ^ y) & mask) ^ x; }

/* Bit a b c of the table, for each bit of the three. Without a loop, and folded as it is inlined: hashes call it
 * thousands of times. */
MW_FN unsigned mw_lop3_low(unsigned b, unsigned c, unsigned table) {
  return mw_bits_choose(b, mw_bits_choose(c, -(table >> 3 & 1), -(table >> 2 & 1)),
                        mw_bits_choose(c, -(table >> 1 & 1), -(table & 1)));
}
MW_FN unsigned mw_lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
  return mw_bits_choose(a, mw_lop3_low(b, c, table >> 4), mw_lop3_low(b, c, table));
}
