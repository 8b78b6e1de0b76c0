/* SPDX-License-Identifier: MIT
 *
 * Macros: definitions, expansion, and conditions. The examples are those of the standard (cpp.rescan, cpp.stringize). */
#include "core/source/macro.h"

#include <stdlib.h>
#include <string.h>

#include "tests/c/test.h"

/* lines: definitions without "#define", one per line, then the text, whose expansion is given back in one line. */
static char *expand(const char *lines, const char *text) {
  mw_tokens texts = {0}, line = {0}, out = {0};
  mw_text plain = {0};
  mw_tokens_file(&texts, "x.cu", 4);
  mw_macros *macros = mw_macros_new(&texts);
  for (const char *at = lines, *end; *at; at = *end ? end + 1 : end) {
    end = at + strcspn(at, "\n");
    const int first = line.count;
    mw_tokens_lex(&line, at, end, 1, 0);
    assert_true(mw_macro_define(macros, &line, first, line.count));
  }
  const int first = line.count;
  mw_tokens_lex(&line, text, text + strlen(text), 7, 0);
  mw_macros_expand(macros, &line, first, line.count, &out);
  mw_text_plain(&plain, &out, 0, out.count);
  mw_macros_free(macros);
  mw_tokens_free(&line);
  mw_tokens_free(&out);
  mw_tokens_free(&texts);
  return plain.at;
}

static void expect(const char *lines, const char *text, const char *want) {
  char *got = expand(lines, text);
  assert_string_equal(got ? got : "", want);
  free(got);
}

static void objects_and_functions(void **state) {
  (void)state;
  expect("N 4", "int a[N];", "int a[4];");
  expect("HALF(x) ((x) / 2)", "HALF(n + 1) HALF", "((n + 1) / 2) HALF");
  expect("F() 1", "F() F", "1 F");
  expect("F(a, b) b a", "F((1, 2), [3])", "[3] (1, 2)");
  expect("ID(x) x\nN ID", "N(3)", "3");
  expect("", "__LINE__ __FILE__ __COUNTER__ __COUNTER__", "7 \"x.cu\" 0 1");
}

/* A macro is not expanded in what it became. */
static void recursion(void **state) {
  (void)state;
  expect("x x + y\ny x", "x", "x + x");
  expect("f(a) a*g\ng(a) f(a)", "f(2)(9)", "2*9*g");
  expect("f(x) f(x + 1)", "f(f(1))", "f(f(1 + 1) + 1)");
  expect("f(x) x", "f(1", "f(1");
}

static void strings_and_pastes(void **state) {
  (void)state;
  expect("S(x) #x", "S(a  \"b\\n\" 'c')", "\"a \\\"b\\\\n\\\" 'c'\"");
  expect("C(a, b) a##b", "C(ha, lf) C(, 1) C(x,) C(,)", "half 1 x");
  expect("C(a, b) = a##b;", "C(, x)", "= x;");
  expect("N 4\nC(a, b) a##b\nD(a, b) C(a, b)", "C(N, N) D(N, N)", "NN 44");
}

static void variadic(void **state) {
  (void)state;
  expect("P(f, ...) p(f, ##__VA_ARGS__)", "P(1) P(1, 2, 3)", "p(1) p(1, 2, 3)");
  expect("P(f, args...) p(f, ##args)", "P(1) P(1, 2)", "p(1) p(1, 2)");
  expect("P(f, ...) p(f __VA_OPT__(,) __VA_ARGS__)", "P(1) P(1, 2)", "p(1) p(1, 2)");
}

static bool has_one(void *context, const char *name, bool quoted) {
  (void)context;
  return !strcmp(name, quoted ? "mine.h" : "cuda/std/limits");
}

static void conditions(void **state) {
  (void)state;
  static const struct {
    const char *text;
    long long value;
  } cases[] = {{"defined(N) && N == 4", 1},
               {"!defined N || defined(M)", 0},
               {"1 + 2 * 3 - 4 / 2 % 3", 5},
               {"(1 << 4 | 1) >> 1", 8},
               {"M ? 1 : N > 3 ? 7 : 8", 7},
               {"-1 < 0 && ~0 == -1", 1},
               {"0x10 + 0b11 + 1'000", 1019},
               {"'a' == 97 && '\\n' == 10", 1},
               {"1 / 0", 0},
               {"(N) & 4", 4},
               {"(M) - 1", -1},
               {"(1) * -2 % 2 == 0", 1},
               {"1 > 0 > 0", 1},
               {"(1", 0}, /* the tree is of brackets that match */
               {"__has_include(<cuda/std/limits>)", 1},
               {"__has_include(\"mine.h\")", 1},
               {"__has_include(<x>)", 0},
               {"__has_attribute(unused) + true", 1},
               {"TWICE(N) == 8", 1},
               {"", 0}};
  mw_tokens texts = {0}, line = {0};
  mw_tokens_file(&texts, "x.cu", 4);
  mw_macros *macros = mw_macros_new(&texts);
  const char *const define[] = {"N 4", "TWICE(x) (2 * (x))"};
  for (int i = 0; i < 2; i++) {
    const int first = line.count;
    mw_tokens_lex(&line, define[i], define[i] + strlen(define[i]), 1, 0);
    assert_true(mw_macro_define(macros, &line, first, line.count));
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int first = line.count;
    mw_tokens_lex(&line, cases[i].text, cases[i].text + strlen(cases[i].text), 1, 0);
    if (mw_condition(macros, &line, first, line.count, has_one, NULL) != cases[i].value) fail_msg("%s", cases[i].text);
  }
  mw_macros_free(macros);
  mw_tokens_free(&line);
  mw_tokens_free(&texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_and_functions),
      cmocka_unit_test(recursion),
      cmocka_unit_test(strings_and_pastes),
      cmocka_unit_test(variadic),
      cmocka_unit_test(conditions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
