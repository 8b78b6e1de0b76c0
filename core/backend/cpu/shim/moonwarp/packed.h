/* SPDX-License-Identifier: MIT
 *
 * SIMD within a word: four bytes or two halfwords at once, and minima and maxima of three (DPX). Meanings follow the
 * CUDA Math API and, for signed averages, PTX ISA, "vavrg". */
#ifndef MW_PACKED_H
#define MW_PACKED_H


MW_FN int mw_clamp(int x, int least, int most) { return x < least ? least : x > most ? most : x; }

/* `e` is computed from x and y and cut to the part's width. */
#define MW_PACKED(name, Part, e)                                                                                       \
  MW_FN unsigned name(unsigned a, unsigned b) {                                                                        \
    unsigned r = 0;                                                                                                    \
    for (unsigned i = 0; i < 32; i += 8 * sizeof(Part)) {                                                              \
      const int x = (Part)(a >> i), y = (Part)(b >> i);                                                                \
      r |= ((unsigned)(e) & (0xffffffffu >> (32 - 8 * sizeof(Part)))) << i;                                            \
    }                                                                                                                  \
    return r;                                                                                                          \
  }
#define MW_PACKED1(name, Part, e)                                                                                      \
  MW_PACKED(mw##name, Part, ((void)y, (e)))                                                                            \
  MW_FN unsigned name(unsigned a) { return mw##name(a, 0); }
#define MW_PACKED_SUM(name, Part)                                                                                      \
  MW_FN unsigned name(unsigned a, unsigned b) {                                                                        \
    unsigned sum = 0;                                                                                                  \
    for (unsigned i = 0; i < 32; i += 8 * sizeof(Part)) {                                                              \
      const int x = (Part)(a >> i), y = (Part)(b >> i);                                                                \
      sum += (unsigned)(x > y ? x - y : y - x);                                                                        \
    }                                                                                                                  \
    return sum;                                                                                                        \
  }
#define MW_PACKED_COMPARISON(name, n, Part, op)                                                                        \
  MW_PACKED(__vcmp##name##n, Part, x op y ? -1 : 0)                                                                    \
  MW_PACKED(__vset##name##n, Part, x op y)
#define MW_PACKED_FAMILY(n, Signed, Unsigned, least, most)                                                             \
  MW_PACKED(__vadd##n, Signed, x + y)                                                                                  \
  MW_PACKED(__vaddss##n, Signed, mw_clamp(x + y, least, most))                                                         \
  MW_PACKED(__vaddus##n, Unsigned, mw_clamp(x + y, 0, most - least))                                                   \
  MW_PACKED(__vsub##n, Signed, x - y)                                                                                  \
  MW_PACKED(__vsubss##n, Signed, mw_clamp(x - y, least, most))                                                         \
  MW_PACKED(__vsubus##n, Unsigned, mw_clamp(x - y, 0, most - least))                                                   \
  MW_PACKED(__vmins##n, Signed, x < y ? x : y)                                                                         \
  MW_PACKED(__vmaxs##n, Signed, x > y ? x : y)                                                                         \
  MW_PACKED(__vminu##n, Unsigned, x < y ? x : y)                                                                       \
  MW_PACKED(__vmaxu##n, Unsigned, x > y ? x : y)                                                                       \
  MW_PACKED(__vabsdiffs##n, Signed, x > y ? x - y : y - x)                                                             \
  MW_PACKED(__vabsdiffu##n, Unsigned, x > y ? x - y : y - x)                                                           \
  MW_PACKED(__vavgs##n, Signed, (x + y + (x + y >= 0)) >> 1)                                                           \
  MW_PACKED(__vavgu##n, Unsigned, (x + y + 1) / 2)                                                                     \
  MW_PACKED(__vhaddu##n, Unsigned, (x + y) / 2)                                                                        \
  MW_PACKED1(__vabs##n, Signed, x < 0 ? -x : x)                                                                        \
  MW_PACKED1(__vabsss##n, Signed, mw_clamp(x < 0 ? -x : x, least, most))                                               \
  MW_PACKED1(__vneg##n, Signed, -x)                                                                                    \
  MW_PACKED1(__vnegss##n, Signed, mw_clamp(-x, least, most))                                                           \
  MW_PACKED_SUM(__vsads##n, Signed)                                                                                    \
  MW_PACKED_SUM(__vsadu##n, Unsigned)                                                                                  \
  MW_PACKED_COMPARISON(eq, n, Unsigned, ==)                                                                            \
  MW_PACKED_COMPARISON(ne, n, Unsigned, !=)                                                                            \
  MW_PACKED_COMPARISON(ges, n, Signed, >=)                                                                             \
  MW_PACKED_COMPARISON(geu, n, Unsigned, >=)                                                                           \
  MW_PACKED_COMPARISON(gts, n, Signed, >)                                                                              \
  MW_PACKED_COMPARISON(gtu, n, Unsigned, >)                                                                            \
  MW_PACKED_COMPARISON(les, n, Signed, <=)                                                                             \
  MW_PACKED_COMPARISON(leu, n, Unsigned, <=)                                                                           \
  MW_PACKED_COMPARISON(lts, n, Signed, <)                                                                              \
  MW_PACKED_COMPARISON(ltu, n, Unsigned, <)
MW_PACKED_FAMILY(4, signed char, unsigned char, -128, 127)
MW_PACKED_FAMILY(2, short, unsigned short, -32768, 32767)

/* {== Three operands =================================================== */

template <class T> MW_FN T mw_larger(T a, T b) { return a > b ? a : b; }
template <class T> MW_FN T mw_smaller(T a, T b) { return a < b ? a : b; }

/* The same in 32 bits and in two halves; sums wrap around. */
#define MW_PAIR3(name, Part, e)                                                                                        \
  MW_FN unsigned name(unsigned a, unsigned b, unsigned c) {                                                            \
    typedef Part mw_part;                                                                                              \
    unsigned r = 0;                                                                                                    \
    for (unsigned i = 0; i < 32; i += 16) {                                                                            \
      const mw_part x = (mw_part)(a >> i), y = (mw_part)(b >> i), z = (mw_part)(c >> i);                               \
      r |= ((unsigned)(e) & 0xffffu) << i;                                                                             \
    }                                                                                                                  \
    return r;                                                                                                          \
  }
#define MW_PACKED3(name, e)                                                                                            \
  MW_FN int name##_s32(int x, int y, int z) {                                                                          \
    typedef int mw_part;                                                                                               \
    return e;                                                                                                          \
  }                                                                                                                    \
  MW_FN unsigned name##_u32(unsigned x, unsigned y, unsigned z) {                                                      \
    typedef unsigned mw_part;                                                                                          \
    return e;                                                                                                          \
  }                                                                                                                    \
  MW_PAIR3(name##_s16x2, short, e)                                                                                     \
  MW_PAIR3(name##_u16x2, unsigned short, e)
MW_PACKED3(__vimax3, mw_larger(mw_larger(x, y), z))
MW_PACKED3(__vimin3, mw_smaller(mw_smaller(x, y), z))
MW_PACKED3(__viaddmax, mw_larger((mw_part)((unsigned)x + (unsigned)y), z))
MW_PACKED3(__viaddmin, mw_smaller((mw_part)((unsigned)x + (unsigned)y), z))

#define MW_RELU3(name)                                                                                                 \
  MW_FN int name##_s32_relu(int a, int b, int c) { return mw_larger(name##_s32(a, b, c), 0); }                         \
  MW_FN unsigned name##_s16x2_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(name##_s16x2(a, b, c), 0); }
MW_RELU3(__vimax3)
MW_RELU3(__vimin3)
MW_RELU3(__viaddmax)
MW_RELU3(__viaddmin)

MW_FN int __vimax_s32_relu(int a, int b) { return mw_larger(mw_larger(a, b), 0); }
MW_FN int __vimin_s32_relu(int a, int b) { return mw_larger(mw_smaller(a, b), 0); }
MW_FN unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmaxs2(a, b), 0); }
MW_FN unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmins2(a, b), 0); }

/* Which one it was, too: the first where both are the same. */
#define MW_WHICH2(name, Part, op)                                                                                      \
  MW_FN unsigned name(unsigned a, unsigned b, bool *high, bool *low) {                                                 \
    *high = (Part)(a >> 16) op(Part)(b >> 16);                                                                         \
    *low = (Part)a op(Part) b;                                                                                         \
    return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu);                                               \
  }
#define MW_WHICH(name, of, op)                                                                                         \
  MW_FN int name##_s32(int a, int b, bool *first) {                                                                    \
    *first = a op b;                                                                                                   \
    return of(a, b);                                                                                                   \
  }                                                                                                                    \
  MW_FN unsigned name##_u32(unsigned a, unsigned b, bool *first) {                                                     \
    *first = a op b;                                                                                                   \
    return of(a, b);                                                                                                   \
  }                                                                                                                    \
  MW_WHICH2(name##_s16x2, short, op)                                                                                   \
  MW_WHICH2(name##_u16x2, unsigned short, op)
MW_WHICH(__vibmax, mw_larger, >=)
MW_WHICH(__vibmin, mw_smaller, <=)

/* ==} */

#endif
