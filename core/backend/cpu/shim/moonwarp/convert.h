/* SPDX-License-Identifier: MIT
 *
 * Conversions with CUDA's names: bits, integers and floating numbers in the four rounding directions. Floating to
 * integer saturates and turns NaN into 0 (the top bit for 64-bit results), as the GPU does. */
#ifndef MW_CONVERT_H
#define MW_CONVERT_H


MW_FN int __float_as_int(float x) { return mw_bits<int>(x); }
MW_FN unsigned __float_as_uint(float x) { return mw_bits<unsigned>(x); }
MW_FN float __int_as_float(int x) { return mw_bits<float>(x); }
MW_FN float __uint_as_float(unsigned x) { return mw_bits<float>(x); }
MW_FN long long __double_as_longlong(double x) { return mw_bits<long long>(x); }
MW_FN double __longlong_as_double(long long x) { return mw_bits<double>(x); }
MW_FN int __double2hiint(double x) { return (int)(mw_bits<unsigned long long>(x) >> 32); }
MW_FN int __double2loint(double x) { return (int)mw_bits<unsigned long long>(x); }
MW_FN double __hiloint2double(int hi, int lo) {
  return mw_bits<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}

/* {== Rounding directions ============================================== */

enum mw_direction { MW_RN, MW_RZ, MW_RD, MW_RU };

/* The unit in the last place is moved by at most one: from `r`, the result rounded to nearest, in the direction
 * wanted. `error` has the sign of the exact result minus r; NaN where r is exact, being an infinity or NaN. */
template <class T, class Bits> MW_FN T mw_directed(T r, double error, enum mw_direction to) {
  const bool up = error > 0, down = error < 0;
  if (!up && !down) return r;
  if (to == MW_RU ? down : to == MW_RD ? up : to == MW_RN || (r > 0 ? up : r < 0 ? down : true)) return r;
  const bool raise = to == MW_RU || (to == MW_RZ && r < 0);
  if (r == 0) return raise ? mw_bits<T>((Bits)1) : -mw_bits<T>((Bits)1);
  const Bits bits = mw_bits<Bits>(r);
  return mw_bits<T>((Bits)((r > 0) == raise ? bits + 1 : bits - 1));
}
MW_FN float mw_directed(float r, double error, enum mw_direction to) {
  return mw_directed<float, unsigned>(r, error, to);
}
MW_FN double mw_directed(double r, double error, enum mw_direction to) {
  return mw_directed<double, unsigned long long>(r, error, to);
}

/* An overflow comes out right too: the infinity is infinitely far from the double. */
MW_FN float mw_narrow(double x, enum mw_direction to) {
  const float r = (float)x;
  return mw_directed(r, x - (double)r, to);
}

/* An integer as T: the error is exact in 128 bits. */
template <class T, class I> MW_FN T mw_from_integer(I x, enum mw_direction to) {
  const T r = (T)x;
  const mw_int128 error = (mw_int128)x - (mw_int128)r;
  return mw_directed(r, error > 0 ? 1 : error < 0 ? -1 : 0, to);
}

#define MW_DIRECTIONS(X, ...)                                                                                          \
  X(rn, MW_RN, __VA_ARGS__)                                                                                            \
  X(rz, MW_RZ, __VA_ARGS__)                                                                                            \
  X(rd, MW_RD, __VA_ARGS__)                                                                                            \
  X(ru, MW_RU, __VA_ARGS__)

#define MW_NARROW(suffix, to, ...) MW_FN float __double2float_##suffix(double x) { return mw_narrow(x, to); }
MW_DIRECTIONS(MW_NARROW)

#define MW_FROM(suffix, to, I, name, T)                                                                                \
  MW_FN T name##_##suffix(I x) { return mw_from_integer<T>(x, to); }
MW_DIRECTIONS(MW_FROM, int, __int2float, float)
MW_DIRECTIONS(MW_FROM, unsigned, __uint2float, float)
MW_DIRECTIONS(MW_FROM, long long, __ll2float, float)
MW_DIRECTIONS(MW_FROM, unsigned long long, __ull2float, float)
MW_DIRECTIONS(MW_FROM, long long, __ll2double, double)
MW_DIRECTIONS(MW_FROM, unsigned long long, __ull2double, double)
MW_FN double __int2double_rn(int x) { return x; }
MW_FN double __uint2double_rn(unsigned x) { return x; }

/* Rounds to an integral value. */
MW_FN double mw_integral(double x, enum mw_direction to) {
  return to == MW_RN   ? __builtin_rint(x)
         : to == MW_RZ ? __builtin_trunc(x)
         : to == MW_RD ? __builtin_floor(x)
                       : __builtin_ceil(x);
}

/* The ends of I, the upper one not included, are exact doubles. */
template <class I> MW_FN I mw_to_integer(double x, enum mw_direction to) {
  const unsigned long long top = 1ull << (8 * sizeof(I) - 1);
  const double least = (I)-1 < 0 ? -(double)top : 0, beyond = least + 2 * (double)top;
  const double r = mw_integral(x, to);
  if (r != r) return sizeof(I) == 8 ? (I)top : 0;
  return r < least ? (I)least : r >= beyond ? (I) ~(I)least : (I)r;
}

#define MW_TO(suffix, to, T, name, I)                                                                                  \
  MW_FN I name##_##suffix(T x) { return mw_to_integer<I>(x, to); }
MW_DIRECTIONS(MW_TO, float, __float2int, int)
MW_DIRECTIONS(MW_TO, float, __float2uint, unsigned)
MW_DIRECTIONS(MW_TO, float, __float2ll, long long)
MW_DIRECTIONS(MW_TO, float, __float2ull, unsigned long long)
MW_DIRECTIONS(MW_TO, double, __double2int, int)
MW_DIRECTIONS(MW_TO, double, __double2uint, unsigned)
MW_DIRECTIONS(MW_TO, double, __double2ll, long long)
MW_DIRECTIONS(MW_TO, double, __double2ull, unsigned long long)

/* ==} */

#endif
