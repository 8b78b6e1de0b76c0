/* SPDX-License-Identifier: MIT
 *
 * Thrust's <thrust/random.h>, for the CPU device and for NVRTC: the linear congruential engines and the distributions,
 * by Thrust's formulas. The other engines (taus88, ranlux24, ranlux48) are left out. Source:
 *   S. Park and K. Miller, "Random number generators: good ones are hard to find", CACM 31 (1988), and their remark of
 *   1993: minstd_rand0, minstd_rand */
#ifndef MW_THRUST_RANDOM_H
#define MW_THRUST_RANDOM_H

#include "functions.h"

#if !defined(MW_PREPROCESS)
#if !defined(__CUDACC_RTC__)
#include "../moonwarp/special.h"
#endif

namespace thrust {
namespace random {

typedef unsigned long long mw_wide;

/* x = (a x + c) mod m; m = 0 stands for 2^32. */
template <class T, T a, T c, T m> class linear_congruential_engine {
  static_assert(sizeof(T) <= 4, "thrust::linear_congruential_engine takes integers of at most 32 bits here");

public:
  typedef T result_type;
  static constexpr T multiplier = a, increment = c, modulus = m, min = c == 0 ? 1 : 0, max = m - 1, default_seed = 1;

  MW_THRUST explicit linear_congruential_engine(T s = default_seed) { seed(s); }
  /* Where 0 would repeat for ever, 1 is the seed instead. */
  MW_THRUST void seed(T s = default_seed) { x = T(c % whole == 0 && s % whole == 0 ? 1 % whole : s % whole); }
  MW_THRUST T operator()() { return x = T((mw_wide(a) * x + c) % whole); }
  /* n steps: x -> times x + plus, squared for each bit of n. */
  MW_THRUST void discard(mw_wide n) {
    for (mw_wide times = a % whole, plus = c % whole; n; n >>= 1) {
      if (n & 1) x = T((times * x + plus) % whole);
      plus = plus * (times + 1) % whole, times = times * times % whole;
    }
  }
  MW_THRUST friend bool operator==(const linear_congruential_engine &p, const linear_congruential_engine &q) {
    return p.x == q.x;
  }
  MW_THRUST friend bool operator!=(const linear_congruential_engine &p, const linear_congruential_engine &q) {
    return p.x != q.x;
  }

private:
  static constexpr mw_wide whole = m ? m : 1ull << 32;
  T x;
};
typedef linear_congruential_engine<unsigned, 16807, 0, 2147483647> minstd_rand0;
typedef linear_congruential_engine<unsigned, 48271, 0, 2147483647> minstd_rand;
typedef minstd_rand default_random_engine;

/* What the distributions have in common: two parameters, and none of what was drawn before. */
template <class T> struct mw_pair {
  T first, second;
  mw_pair() = default;
  MW_THRUST mw_pair(T x, T y) : first(x), second(y) {}
};
template <class T> class mw_distribution {
public:
  typedef T result_type;
  typedef mw_pair<T> param_type;
  MW_THRUST mw_distribution(T first, T second) : both(first, second) {}
  MW_THRUST void reset() {}
  MW_THRUST param_type param() const { return both; }
  MW_THRUST void param(const param_type &now) { both = now; }
  MW_THRUST friend bool operator==(const mw_distribution &p, const mw_distribution &q) {
    return p.both.first == q.both.first && p.both.second == q.both.second;
  }
  MW_THRUST friend bool operator!=(const mw_distribution &p, const mw_distribution &q) { return !(p == q); }

protected:
  param_type both;
};

/* In [a, b). */
template <class T = double> class uniform_real_distribution : public mw_distribution<T> {
public:
  typedef mw_pair<T> param_type;
  MW_THRUST explicit uniform_real_distribution(T a = 0, T b = 1) : mw_distribution<T>(a, b) {}
  MW_THRUST explicit uniform_real_distribution(const param_type &p) : mw_distribution<T>(p.first, p.second) {}
  template <class Engine> MW_THRUST T operator()(Engine &next) { return (*this)(next, this->both); }
  template <class Engine> MW_THRUST T operator()(Engine &next, const param_type &p) {
    const T unit = T(next() - Engine::min) / (T(1) + T(Engine::max - Engine::min));
    return unit * (p.second - p.first) + p.first;
  }
  MW_THRUST T a() const { return this->both.first; }
  MW_THRUST T b() const { return this->both.second; }
  MW_THRUST T min() const { return a(); }
  MW_THRUST T max() const { return b(); }
};

/* In [a, b], from a real number in [a, b + 1). */
template <class T = int> class uniform_int_distribution : public mw_distribution<T> {
  static constexpr T top = T(T(1) << (8 * sizeof(T) - 2));

public:
  typedef mw_pair<T> param_type;
  MW_THRUST explicit uniform_int_distribution(T a = 0, T b = T(-1) > T(0) ? T(-1) : T(top - 1 + top))
      : mw_distribution<T>(a, b) {}
  MW_THRUST explicit uniform_int_distribution(const param_type &p) : mw_distribution<T>(p.first, p.second) {}
  template <class Engine> MW_THRUST T operator()(Engine &next) { return (*this)(next, this->both); }
  template <class Engine> MW_THRUST T operator()(Engine &next, const param_type &p) {
    return T(uniform_real_distribution<double>(double(p.first), double(p.second) + 1)(next));
  }
  MW_THRUST T a() const { return this->both.first; }
  MW_THRUST T b() const { return this->both.second; }
  MW_THRUST T min() const { return a(); }
  MW_THRUST T max() const { return b(); }
};

/* By the inverse of the distribution, as Thrust computes it where nvcc compiles it: one number of the engine each. The
 * lower and the upper half alike, each from p in (0, 0.5). */
template <class T = double> class normal_distribution : public mw_distribution<T> {
public:
  typedef mw_pair<T> param_type;
  MW_THRUST explicit normal_distribution(T mean = 0, T stddev = 1) : mw_distribution<T>(mean, stddev) {}
  MW_THRUST explicit normal_distribution(const param_type &p) : mw_distribution<T>(p.first, p.second) {}
  template <class Engine> MW_THRUST T operator()(Engine &next) { return (*this)(next, this->both); }
  template <class Engine> MW_THRUST T operator()(Engine &next, const param_type &p) {
    typedef typename Engine::result_type integer;
    const integer range = Engine::max - Engine::min, drawn = next() - Engine::min;
    const bool upper = drawn > range / 2;
    const T step = T(1.0 / double(range)), root = T(upper ? 1.4142135623730950488 : -1.4142135623730950488);
    return p.first + p.second * root * ::erfcinv(2 * ((upper ? range - drawn : drawn) * step + step / 2));
  }
  MW_THRUST T mean() const { return this->both.first; }
  MW_THRUST T stddev() const { return this->both.second; }
};

} // namespace random

using random::default_random_engine;
using random::linear_congruential_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;

} // namespace thrust
#endif

#endif
