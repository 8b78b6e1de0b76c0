/* SPDX-License-Identifier: MIT
 *
 * Thrust's <thrust/complex.h>, for the CPU device and for NVRTC, which lacks what Thrust's own includes. Sums,
 * products, quotients and polar are computed as there; the other functions agree but for rounding: norm unless it is
 * subnormal, sinh and cosh where those of the real part are finite. asin, acos, atan, their hyperbolic ones, proj and
 * what std::complex has to do with it are left out. Sources:
 *   ISO/IEC 9899:2011, annex G: the results of exp at infinity
 *   W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987): log and tanh */
#ifndef MW_THRUST_COMPLEX_H
#define MW_THRUST_COMPLEX_H

#include "functions.h"

#if !defined(MW_PREPROCESS)
namespace thrust {

/* The type of arithmetic on both. */
template <class A, class B> using mw_both = decltype(true ? A() : B());

template <class T> struct complex {
  typedef T value_type;

  complex() = default;
  complex(const complex &) = default;
  MW_THRUST complex(const T &re) : data{re, T()} {}
  MW_THRUST complex(const T &re, const T &im) : data{re, im} {}
  template <class U> MW_THRUST complex(const complex<U> &z) : data{T(z.real()), T(z.imag())} {}

  complex &operator=(const complex &) = default;
  MW_THRUST complex &operator=(const T &re) { return *this = complex(re); }
  template <class U> MW_THRUST complex &operator=(const complex<U> &z) { return *this = complex(z); }
  /* U: a number or a complex one */
  template <class U> MW_THRUST complex &operator+=(const U &z) { return *this = *this + z; }
  template <class U> MW_THRUST complex &operator-=(const U &z) { return *this = *this - z; }
  template <class U> MW_THRUST complex &operator*=(const U &z) { return *this = *this * z; }
  template <class U> MW_THRUST complex &operator/=(const U &z) { return *this = *this / z; }

  MW_THRUST T real() const { return data.x; }
  MW_THRUST T imag() const { return data.y; }
  MW_THRUST T real() const volatile { return data.x; }
  MW_THRUST T imag() const volatile { return data.y; }
  MW_THRUST void real(T re) { data.x = re; }
  MW_THRUST void imag(T im) { data.y = im; }
  MW_THRUST void real(T re) volatile { data.x = re; }
  MW_THRUST void imag(T im) volatile { data.y = im; }

private:
  struct alignas(2 * sizeof(T)) pair {
    T x, y;
  } data;
};

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

#define MW_COMPLEX(X, Y, name) template <class A, class B> MW_THRUST complex<mw_both<A, B>> name(const X &x, const Y &y)
#define MW_RESULT              return complex<mw_both<A, B>>
MW_COMPLEX(complex<A>, complex<B>, operator+) { MW_RESULT(x.real() + y.real(), x.imag() + y.imag()); }
MW_COMPLEX(complex<A>, B, operator+) { MW_RESULT(x.real() + y, x.imag()); }
MW_COMPLEX(A, complex<B>, operator+) { MW_RESULT(x + y.real(), y.imag()); }
MW_COMPLEX(complex<A>, complex<B>, operator-) { MW_RESULT(x.real() - y.real(), x.imag() - y.imag()); }
MW_COMPLEX(complex<A>, B, operator-) { MW_RESULT(x.real() - y, x.imag()); }
MW_COMPLEX(A, complex<B>, operator-) { MW_RESULT(x - y.real(), -y.imag()); }
MW_COMPLEX(complex<A>, complex<B>, operator*) {
  MW_RESULT(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
}
MW_COMPLEX(complex<A>, B, operator*) { MW_RESULT(x.real() * y, x.imag() * y); }
MW_COMPLEX(A, complex<B>, operator*) { MW_RESULT(x * y.real(), x * y.imag()); }
/* Both are scaled by |Re y| + |Im y|, so that |y|^2 neither overflows nor vanishes. */
MW_COMPLEX(complex<A>, complex<B>, operator/) {
  typedef mw_both<A, B> T;
  const T scale = T(1) / (::abs(y.real()) + ::abs(y.imag()));
  const T a = x.real() * scale, b = x.imag() * scale, c = y.real() * scale, d = y.imag() * scale;
  const T whole = T(1) / (c * c + d * d);
  return complex<T>((a * c + b * d) * whole, (b * c - a * d) * whole);
}
MW_COMPLEX(complex<A>, B, operator/) { MW_RESULT(x.real() / y, x.imag() / y); }
MW_COMPLEX(A, complex<B>, operator/) { return complex<mw_both<A, B>>(x) / y; }

template <class T> MW_THRUST complex<T> operator+(const complex<T> &z) { return z; }
template <class T> MW_THRUST complex<T> operator-(const complex<T> &z) { return complex<T>(-z.real(), -z.imag()); }

template <class A, class B> MW_THRUST bool operator==(const complex<A> &x, const complex<B> &y) {
  return x.real() == y.real() && x.imag() == y.imag();
}
template <class A, class B> MW_THRUST bool operator==(const complex<A> &x, const B &y) { return x == complex<B>(y); }
template <class A, class B> MW_THRUST bool operator==(const A &x, const complex<B> &y) { return complex<A>(x) == y; }
template <class A, class B> MW_THRUST bool operator!=(const complex<A> &x, const complex<B> &y) { return !(x == y); }
template <class A, class B> MW_THRUST bool operator!=(const complex<A> &x, const B &y) { return !(x == y); }
template <class A, class B> MW_THRUST bool operator!=(const A &x, const complex<B> &y) { return !(x == y); }

/* ---- functions -------------------------------------------------------------------------------------------------- */

template <class T> MW_THRUST T abs(const complex<T> &z) { return ::hypot(z.real(), z.imag()); }
template <class T> MW_THRUST T arg(const complex<T> &z) { return ::atan2(z.imag(), z.real()); }
template <class T> MW_THRUST T norm(const complex<T> &z) { return z.real() * z.real() + z.imag() * z.imag(); }
template <class T> MW_THRUST complex<T> conj(const complex<T> &z) { return complex<T>(z.real(), -z.imag()); }
template <class A, class B> MW_THRUST complex<mw_both<A, B>> polar(const A &m, const B &theta) {
  MW_RESULT(m * ::cos(theta), m * ::sin(theta));
}

/* Where e^x overflows, e^x cos y may be finite: in two factors. */
template <class T> MW_THRUST complex<T> exp(const complex<T> &z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return complex<T>(::exp(x), y);
  if (::isinf(x) && !::isfinite(y)) return x < 0 ? complex<T>() : complex<T>(x, y - y);
  const bool high = ::isinf(::exp(x)) && !::isinf(x);
  const T m = ::exp(high ? x / 2 : x);
  return polar(m, y) * (high ? m : T(1));
}
/* Near |z| = 1, log |z|^2 = log(1 + (x - 1)(x + 1) + y^2) keeps the digits that |z| has not. */
template <class T> MW_THRUST complex<T> log(const complex<T> &z) {
  const T m = abs(z), a = ::abs(z.real()), b = ::abs(z.imag()), x = a > b ? a : b, y = a > b ? b : a;
  const bool near = m > T(0.5) && m < T(2);
  return complex<T>(near ? ::log1p((x - 1) * (x + 1) + y * y) / 2 : ::log(m), arg(z));
}
template <class T> MW_THRUST complex<T> log10(const complex<T> &z) { return log(z) / T(2.302585092994045684); }

MW_COMPLEX(complex<A>, complex<B>, pow) {
  typedef mw_both<A, B> T;
  return exp(log(complex<T>(x)) * complex<T>(y));
}
MW_COMPLEX(complex<A>, B, pow) {
  typedef mw_both<A, B> T;
  return exp(log(complex<T>(x)) * T(y));
}
MW_COMPLEX(A, complex<B>, pow) {
  typedef mw_both<A, B> T;
  return exp(::log(T(x)) * complex<T>(y));
}
#undef MW_COMPLEX
#undef MW_RESULT

/* sqrt((|x| + |z|) / 2) is one part; y divided by twice that is the other. */
template <class T> MW_THRUST complex<T> sqrt(const complex<T> &z) {
  const T x = z.real(), y = z.imag(), t = ::sqrt(::abs(x) / 2 + abs(z) / 2);
  if (t == 0) return complex<T>(T(0), y);
  return x >= 0 ? complex<T>(t, y / (2 * t)) : complex<T>(::abs(y) / (2 * t), ::copysign(t, y));
}

template <class T> MW_THRUST complex<T> sinh(const complex<T> &z) {
  return complex<T>(::sinh(z.real()) * ::cos(z.imag()), ::cosh(z.real()) * ::sin(z.imag()));
}
template <class T> MW_THRUST complex<T> cosh(const complex<T> &z) {
  return complex<T>(::cosh(z.real()) * ::cos(z.imag()), ::sinh(z.real()) * ::sin(z.imag()));
}
/* Beyond 20, the real part is 1 to a double's last bit. */
template <class T> MW_THRUST complex<T> tanh(const complex<T> &z) {
  const T x = z.real(), y = z.imag(), size = ::abs(x);
  if (size > 20) return complex<T>(::copysign(T(1), x), 4 * ::sin(y) * ::cos(y) * ::exp(-2 * size));
  const T t = ::tan(y), s = ::sinh(x), b = 1 + t * t, whole = 1 + b * s * s;
  return complex<T>(b * ::sqrt(1 + s * s) * s / whole, t / whole);
}
/* i sin z = sinh iz, cos z = cosh iz, i tan z = tanh iz */
template <class T> MW_THRUST complex<T> mw_turn(const complex<T> &z) { return complex<T>(-z.imag(), z.real()); }
template <class T> MW_THRUST complex<T> mw_back(const complex<T> &z) { return complex<T>(z.imag(), -z.real()); }
template <class T> MW_THRUST complex<T> sin(const complex<T> &z) { return mw_back(sinh(mw_turn(z))); }
template <class T> MW_THRUST complex<T> cos(const complex<T> &z) { return cosh(mw_turn(z)); }
template <class T> MW_THRUST complex<T> tan(const complex<T> &z) { return mw_back(tanh(mw_turn(z))); }

} // namespace thrust
#endif

#endif
