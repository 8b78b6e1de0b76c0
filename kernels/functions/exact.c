/* SPDX-License-Identifier: MIT
 *
 * exact FUNCTION < pairs: the largest error of values of a function in f64, in units in the last place.
 *
 * Reads pairs of f64, an argument and a value, and computes each value again with 113 bits and MPFR (libmpfr-dev).
 * Prints the largest error in ulp, its argument, and how many values are not the nearest number:
 *   0.9071 1.2345678901234567 1043
 *
 * cc -O2 exact.c -lmpfr -lgmp -lm */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

enum { BITS = 113 };

static int three_over(mpfr_t y, const mpfr_t x, mpfr_rnd_t round) { return mpfr_ui_div(y, 3, x, round); }

static const struct {
  const char *name;
  int (*compute)(mpfr_t y, const mpfr_t x, mpfr_rnd_t round);
} functions[] = {{"exp", mpfr_exp},   {"log", mpfr_log},   {"sin", mpfr_sin},  {"sqrt", mpfr_sqrt},
                 {"rsqrt", mpfr_rec_sqrt}, {"div", three_over}, {"tanh", mpfr_tanh}};

int main(int count, char **words) {
  int (*compute)(mpfr_t, const mpfr_t, mpfr_rnd_t) = NULL;
  for (size_t i = 0; count == 2 && i < sizeof functions / sizeof *functions; i++) {
    if (!strcmp(functions[i].name, words[1])) compute = functions[i].compute;
  }
  if (!compute) return fprintf(stderr, "usage: exact exp|log|sin|sqrt|rsqrt|div|tanh < pairs\n"), 2;
  mpfr_t x, y;
  mpfr_inits2(BITS, x, y, (mpfr_ptr)0);
  double pair[2], worst = 0, at = 0;
  long wrong = 0;
  while (fread(pair, sizeof *pair, 2, stdin) == 2) {
    mpfr_set_d(x, pair[0], MPFR_RNDN);
    compute(y, x, MPFR_RNDN);
    double exact = mpfr_get_d(y, MPFR_RNDN), ulp = ldexp(1, ilogb(exact) - 52);
    mpfr_sub_d(y, y, pair[1], MPFR_RNDN);
    double error = fabs(mpfr_get_d(y, MPFR_RNDN)) / ulp;
    if (!(error <= worst)) worst = error, at = pair[0];
    wrong += !(error <= 0.5);
  }
  printf("%.4g %.17g %ld\n", worst, at, wrong);
  return 0;
}
