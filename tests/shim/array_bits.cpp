/* SPDX-License-Identifier: MIT
 *
 * Proves on the host that kernels/moonwarp/array.cu computes the same bits however it is compiled, and that its Philox
 * is the published one. Prints one line per kernel and type, then the accuracy of the normal numbers; the caller
 * compares the output of builds with other flags or compilers:
 *   for f in -O0 '-O3 -march=native'; do g++ -std=c++17 $f -ffp-contract=off -I. tests/shim/array_bits.cpp -o t && ./t;
 * done Exit status 1: a known answer or an accuracy bound is missed. */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
struct uint3 {
  unsigned x, y, z;
};
static uint3 threadIdx, blockIdx, blockDim;
static long long __double_as_longlong(double x) {
  long long bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
static double __longlong_as_double(long long bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/* The host has no two-byte floats: array.cu leaves them out where it finds no header of theirs. */
#include "kernels/moonwarp/array.cu"

static int failures;

static void expect(bool right, const char *what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  failures++;
}

/* Random123's kat_vectors, philox4x32 10. */
static void known_answers() {
  struct {
    random_bits counter;
    unsigned key[2];
    random_bits answer;
  } const cases[] = {
      {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{~0u, ~0u, ~0u, ~0u}}, {~0u, ~0u}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       {0xa4093822, 0x299f31d0},
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (const auto &c : cases) {
    const random_bits got = philox4x32_10(c.counter, c.key[0], c.key[1]);
    expect(!std::memcmp(&got, &c.answer, sizeof got), "philox4x32_10 known answer");
  }
}

/* FNV-1a of the bytes. */
template <class T> static unsigned long long hash(const std::vector<T> &v) {
  unsigned long long h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < v.size() * sizeof(T); i++) h = (h ^ ((const unsigned char *)v.data())[i]) * 0x100000001b3ull;
  return h;
}

template <class T, class F> static void run(const char *name, F kernel) {
  const unsigned n = 100000;
  std::vector<T> a(n);
  blockDim.x = 256;
  for (blockIdx.x = 0; blockIdx.x * 256 < n; blockIdx.x++)
    for (threadIdx.x = 0; threadIdx.x < 256; threadIdx.x++) kernel(a.data(), n);
  double sum = 0;
  for (T v : a) sum += (double)v;
  std::printf("%s %016llx mean %.6g\n", name, hash(a), sum / n);
}

template <class T> static void each(const char *type, double min, double max) {
  char name[64];
  std::snprintf(name, sizeof name, "linspace<%s>", type);
  run<T>(name, [&](T *a, unsigned n) { linspace<T>(a, min, max, n); });
  std::snprintf(name, sizeof name, "random_uniform<%s>", type);
  run<T>(name, [&](T *a, unsigned n) { random_uniform<T>(a, 1, 0, min, max, n); });
  std::snprintf(name, sizeof name, "random_normal<%s>", type);
  run<T>(name, [&](T *a, unsigned n) { random_normal<T>(a, 42, 1ull << 40, (min + max) / 2, (max - min) / 8, n); });
}

/* Largest errors against long double: of the logarithm in units in the last place, of the cosine absolute. */
static void accuracy() {
  double log_error = 0, cos_error = 0, mean = 0, square = 0;
  const int n = 1000000;
  for (int i = 0; i < n; i++) {
    const random_bits bits = random_of(7, i);
    const double u1 = ((bits.first() >> 11) + 1) * 0x1p-53, u2 = (bits.second() >> 11) * 0x1p-53;
    const long double l = std::log((long double)u1), c = std::cos(2 * 3.14159265358979323846264338L * u2);
    const double ulp = std::nextafter(std::fabs((double)l), INFINITY) - std::fabs((double)l);
    if (l != 0) log_error = std::fmax(log_error, (double)std::fabs(natural_log(u1) - l) / ulp);
    cos_error = std::fmax(cos_error, (double)std::fabs(cosine_of_turns(u2) - c));
    const double z = standard_normal(bits);
    mean += z / n;
    square += z * z / n;
  }
  std::printf("log within %.2f ulp, cos within %.2g, normal: mean %.5f variance %.5f\n", log_error, cos_error, mean,
              square - mean * mean);
  expect(log_error < 2, "natural_log within 2 ulp");
  expect(cos_error < 3e-16, "cosine_of_turns within 3e-16");
  expect(std::fabs(mean) < 0.004 && std::fabs(square - 1) < 0.006, "moments of the normal distribution");
}

int main() {
  known_answers();
  each<float>("float", 0, 1);
  each<double>("double", -3, 5);
  each<signed char>("signed char", -128, 127);
  each<unsigned char>("unsigned char", 0, 255);
  each<short>("short", -100, 100);
  each<unsigned short>("unsigned short", 0, 65535);
  each<int>("int", -2147483648.0, 2147483647);
  each<unsigned>("unsigned", 1, 6);
  each<long long>("long long", -0x1p63, 0x1p63);
  each<unsigned long long>("unsigned long long", 0, 0x1p64);
  accuracy();
  return failures != 0;
}
