/* SPDX-License-Identifier: MIT
 *
 * The part of <thrust/functional.h> that kernels use, for the CPU device: NVRTC takes Thrust's own. */
#ifndef MW_THRUST_FUNCTIONAL_H
#define MW_THRUST_FUNCTIONAL_H

#include "../functional"

#if !defined(MW_PREPROCESS)
namespace thrust {
using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::less;
using std::minus;
using std::multiplies;
using std::plus;
template <class T = void> struct maximum {
  constexpr T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
template <class T = void> struct minimum {
  constexpr T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
} // namespace thrust
#endif

#endif
