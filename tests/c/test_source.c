/* SPDX-License-Identifier: MIT
 *
 * What is read from a .cu source without compiling it: kernels, parameter names, the cache key. */
#include "core/compile/source.h"

#include "tests/c/test.h"

enum { MOST = 8 };

static void expect_params(const char *text, const char *kernel, int count, const char *const *names) {
  char got[MOST][64];
  assert_int_equal(mw_source_param_names(text, kernel, got, MOST), count);
  for (int i = 0; i < count && i < MOST; i++) assert_string_equal(got[i], names[i]);
}
#define PARAMS(text, kernel, ...)                                                                                      \
  do {                                                                                                                 \
    const char *const names[] = {__VA_ARGS__};                                                                         \
    expect_params(text, kernel, (int)(sizeof names / sizeof *names), names);                                           \
  } while (0)

static void plain_parameters(void **state) {
  (void)state;
  PARAMS("__global__ void f(double *y, const double *x, int n) {}", "f", "y", "x", "n");
  PARAMS("extern \"C\" __global__ void __launch_bounds__(256, 2) f(float* __restrict__ a, unsigned long long n){}", "f",
         "a", "n");
  PARAMS("static void __global__ f ( const struct point p , float4 v, ns::T<int, 3> t ) ;", "f", "p", "v", "t");
  expect_params("__global__ void f() {}", "f", 0, NULL);
  expect_params("__global__ void f(void) {}", "f", 0, NULL);
  expect_params("__global__ void f(int n) {}", "g", -1, NULL);
  expect_params("void f(int n) {}", "f", -1, NULL);
}

static void strange_parameters(void **state) {
  (void)state;
  PARAMS("__global__ void f(int, float *, const T, unsigned, ns::U) {}", "f", "", "", "", "", "");
  PARAMS("__global__ void f(int a = (1 < 2), int b = sizeof(float), int c = N) {}", "f", "a", "b", "c");
  PARAMS("__global__ void f(void (*go)(int, int), float (&tile)[4], int m[8]) {}", "f", "go", "tile", "m");
  PARAMS("__global__ void f([[maybe_unused]] int n, const __grid_constant__ P p, long unsigned int k) {}", "f", "n",
         "p", "k");
  PARAMS("__global__ void f(pair<int, array<float, 4>> p, T *const *q) {}", "f", "p", "q");
}

static void comments_strings_and_macros(void **state) {
  (void)state;
  const char *text = "// __global__ void f(int wrong) {}\n"
                     "/* __global__ void f(int wrong) {} */\n"
                     "#define K __global__ void f(int wrong) \\\n  {}\n"
                     "const char *s = \"__global__ void f(int wrong) {}\";\n"
                     "const char *r = R\"x(__global__ void f(int \")wrong) {})x\";\n"
                     "const int big = 1'000;\n"
                     "__global__ /* here */ void // really\n"
                     "#if 1\n"
                     "KERNEL_ATTRIBUTE(3) f(int /* count, */ n, // the count\n  float *a)\n#endif\n{ g(1, 2); }\n";
  PARAMS(text, "f", "n", "a");
}

static void templates_and_declarations(void **state) {
  (void)state;
  const char *text = "template <typename T, int N = (4 > 3)> __global__ void scale(T *x, T by, int n);\n"
                     "template <typename T, int N> __global__ void scale(T *values, T factor, int count) {}\n"
                     "template <> __global__ void scale<float, 2>(float *v, float f, int c) {}\n"
                     "template __global__ void scale<double, 1>(double *, double, int);\n";
  PARAMS(text, "scale<float, 2>", "values", "factor", "count");
  PARAMS("namespace a { __global__ void f(int n) noexcept {} }", "a::f", "n");
}

static void kernels_in_source_order(void **state) {
  (void)state;
  const char *text = "__global__ void late(int);\n"
                     "template <class T> __global__ void t(T *x) { if (a < b) return; }\n"
                     "__device__ float helper(float x) { return x; }\n"
                     "struct S { int x; };\n"
                     "__global__ void plain() { int a[3] = {1, 2, 3}; }\n"
                     "__global__ void late(int n) {}\n"
                     "template __global__ void t<int>(int *);\n";
  bool *is_template;
  char **names = mw_source_kernels(text, &is_template);
  assert_string_equal(names[0], "late");
  assert_string_equal(names[1], "t");
  assert_string_equal(names[2], "plain");
  assert_null(names[3]);
  assert_false(is_template[0]);
  assert_true(is_template[1]);
  assert_false(is_template[2]);
  mw_free(names);
  mw_free(is_template);
  names = mw_source_kernels("int main() { return 0; }", NULL);
  assert_null(names[0]);
  mw_free(names);
}

/* Cut anywhere, a source may make no sense, but must be read without harm. */
static void truncated_text(void **state) {
  (void)state;
  const char *text = "template <int A> [[x]] __global__ void f(const T<a, (b > c)> *x = \"\\\"\", int (*g)(int)) "
                     "R\"a(b)a\" 'c' /* d */ // e\n { } u8R\"(";
  for (size_t i = 0; i <= strlen(text); i++) {
    char *cut = strndup(text, i), names[MOST][64];
    mw_source_param_names(cut, "f", names, MOST);
    bool *is_template;
    mw_free(mw_source_kernels(cut, &is_template));
    mw_free(is_template);
    free(cut);
  }
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

static bool key_of(const mw_source *source, mw_cache_key *key) {
  mw_cache_keymaker *maker = mw_cache_key_begin("test");
  bool complete = mw_source_hash(source, maker);
  *key = mw_cache_key_end(maker);
  return complete;
}

static void expect_change(const mw_source *source, mw_cache_key *last, bool change) {
  mw_cache_key key;
  assert_true(key_of(source, &key));
  assert_int_equal(memcmp(&key, last, sizeof key) != 0, change);
  *last = key;
}

static void options_change_the_key(void **state) {
  (void)state;
  const char *defines[] = {"A=1", "B", NULL}, *other[] = {"A=1B", NULL};
  mw_source source = {.name = "s", .text = "__global__ void f() {}"};
  mw_cache_key last = {{0}};
  expect_change(&source, &last, true);
  expect_change(&source, &last, false);
  source.defines = defines, expect_change(&source, &last, true);
  source.defines = other, expect_change(&source, &last, true);
  source.includes = defines, expect_change(&source, &last, true);
  source.templates = defines, expect_change(&source, &last, true);
  source.standard = "c++17", expect_change(&source, &last, false);
  source.standard = "c++20", expect_change(&source, &last, true);
  source.fast_math = true, expect_change(&source, &last, true);
  source.line_info = true, expect_change(&source, &last, true);
  source.no_contract = true, expect_change(&source, &last, true);
  source.max_registers = 32, expect_change(&source, &last, true);
  source.engine = "auto", expect_change(&source, &last, false);
  source.engine = "fiber", expect_change(&source, &last, true);
  source.name = "t", expect_change(&source, &last, true);
  source.text = "__global__ void f() { }", expect_change(&source, &last, true);
}

static void every_included_file_changes_the_key(void **state) {
  (void)state;
  char folder[256], more[300];
  scratch_folder(folder);
  snprintf(more, sizeof more, "%s/more", folder);
  mkdir(more, 0700);
  scratch_write(folder, "a.h", "#pragma once\n#if 0\n#  include <b.h>\n#endif\n#include \"a.h\"\n");
  scratch_write(more, "b.h", "int b;\n");
  const char *includes[] = {more, NULL};
  mw_source source = {.name = "s", .folder = folder, .includes = includes};
  source.text = "# include \"a.h\" // mine\n#include <missing.h>\n#if __has_include(\"perhaps.h\")\n#endif\n";
  mw_cache_key last = {{0}};
  expect_change(&source, &last, true);
  expect_change(&source, &last, false);
  scratch_write(more, "b.h", "int bb;\n"), expect_change(&source, &last, true);
  scratch_write(more, "missing.h", ""), expect_change(&source, &last, true);
  scratch_write(more, "perhaps.h", ""), expect_change(&source, &last, true);
  scratch_write(folder, "b.h", "int b;\n"), expect_change(&source, &last, true); /* now found first */
  scratch_write(folder, "c.h", ""), expect_change(&source, &last, false);
  scratch_remove(folder);
}

static void includes_by_macro_are_not_cached(void **state) {
  (void)state;
  mw_cache_key key;
  mw_source source = {.name = "s", .text = "#define H <a.h>\n#include H\n"};
  assert_false(key_of(&source, &key));
  source.text = "// #include H\n/*\n#include H\n*/ const char *s = \"\\\n#include H\";";
  assert_true(key_of(&source, &key));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_parameters),
      cmocka_unit_test(strange_parameters),
      cmocka_unit_test(comments_strings_and_macros),
      cmocka_unit_test(templates_and_declarations),
      cmocka_unit_test(kernels_in_source_order),
      cmocka_unit_test(truncated_text),
      cmocka_unit_test(options_change_the_key),
      cmocka_unit_test(every_included_file_changes_the_key),
      cmocka_unit_test(includes_by_macro_are_not_cached),
  };
  return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
