/* SPDX-License-Identifier: MIT
 *
 * What is read from a .cu source without compiling it: kernels, parameter names, the cache key. */
#include "core/compile/source.h"

#include "core/base/memory.h"
#include "core/source/declaration.h"
#include "core/source/declared.h"
#include "tests/c/test.h"

enum { MOST = 8 };

static void expect_params(const char *text, const char *kernel, int count, const char *const *names) {
  mw_param got[MOST];
  assert_int_equal(mw_declared_params(text, kernel, got, MOST), count);
  for (int i = 0; i < count && i < MOST; i++) assert_string_equal(got[i].name, names[i]);
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

/* "t<>": a template. */
static void expect_kernels(const char *text, const char *const *want) {
  mw_declared_kernel *kernels;
  int count = mw_declared_kernels(text, &kernels), wanted = 0;
  while (want[wanted]) wanted++;
  assert_int_equal(count, wanted);
  for (int i = 0; i < count; i++) {
    char got[300];
    snprintf(got, sizeof got, "%s%s", kernels[i].name, kernels[i].is_template ? "<>" : "");
    assert_string_equal(got, want[i]);
  }
  mw_free(kernels);
}
#define KERNELS(text, ...) expect_kernels(text, (const char *const[]){__VA_ARGS__, NULL})

static void kernels_in_source_order(void **state) {
  (void)state;
  const char *text = "__global__ void late(int);\n"
                     "template <class T> __global__ void t(T *x) { if (a < b) return; }\n"
                     "__device__ float helper(float x) { return x; }\n"
                     "struct S { int x; };\n"
                     "__global__ void plain() { int a[3] = {1, 2, 3}; }\n"
                     "__global__ void late(int n) {}\n"
                     "template __global__ void t<int>(int *);\n";
  expect_kernels(text, (const char *const[]){"late", "t<>", "plain", NULL});
  expect_kernels("int main() { return 0; }", (const char *const[]){NULL});
}

/* What text that is not preprocessed may hold between and inside of declarations. */
static void kernels_in_written_text(void **state) {
  (void)state;
  KERNELS("__global__ /* a */ void // b\n f(int n) {}", "f");
  KERNELS("const char *s = R\"x(__global__ void no(int n) {})x\"; __global__ void yes() {}", "yes");
  KERNELS("__glo\\\nbal__ void lo\\\nng(int n) {}", "long");
  KERNELS("#define K __global__ void no(int n) \\\n {}\n# if 0 /*\n*/\n__global__ void both(int n) {\n"
          "#else\n__global__ void both(float n) {\n#endif\n}\n__global__ void last() {}",
          "both", "last");
  KERNELS("namespace a { namespace { __global__ void f() {} } }\nextern \"C\" { __global__ void g() {} }\n"
          "MY_NAMESPACE { __global__ void h() {} }",
          "f", "g", "h");
  KERNELS("__launch_bounds__(256) __global__ void f() {}\n__global__ void __launch_bounds__(N<3>(), 2) g() {}\n"
          "[[maybe_unused]] __global__ __attribute__((used)) void h() {}",
          "f", "g", "h");
  KERNELS("HEAD(x) __global__ TAIL(y) void f(int n) {}\n__global__ void g(int n) noexcept {}\n"
          "template <class T> requires (sizeof(T) > 4) __global__ void h(T n) {}",
          "f", "g", "h<>");
  KERNELS("template <typename T, int N = (4 > 3)> struct S { static __device__ T x; friend __global__ void f(T); };\n"
          "template <> __global__ void g<A<B<C>>>(int n) {}",
          "f", "g<>");
  KERNELS("void host() { f<<<1, 2>>>(3); extern __global__ void g(int); }\n}}} __global__ void h() {}", "g", "h");
}

static void parameters_in_written_text(void **state) {
  (void)state;
  PARAMS(
      "__global__ void f(A<B<C>>x, decltype(y) z, T &&...rest, const int (&m)[N], struct s *const p = {1, 2}, int) {}",
      "f", "x", "z", "rest", "m", "p", "");
  PARAMS("__global__ void f(int /* a, */ n, // , b\n#if 1\n float\n#else\n double\n#endif\n *x) {}", "f", "n", "x");
  PARAMS("HEAD(int a) __global__ void f(ns::T t, ns :: U, float4 (*q)[4], int k = g(1, 2), bool b = 3 > 2) {}", "f",
         "t", "", "q", "k", "b");
}

static void declared_params(void **state) {
  (void)state;
  mw_param p[8];
  const char *source =
      "// __global__ void raw(int wrong);\n"
      "#define X raw(\n"
      "extern \"C\" __global__ void __launch_bounds__(256) raw(const float *__restrict__ x, /* n */ int n,\n"
      "  unsigned long long q, float4 v, double **pp)\n{ }\n"
      "extern \"C\" __global__ void none(void) {}\n extern \"C\" __global__ void odd(thing t) {}\n";
  assert_int_equal(mw_declared_params(source, "raw", p, 8), 5);
  assert_string_equal(p[0].name, "x");
  assert_string_equal(p[0].type, "const float *");
  assert_true(p[0].pointer && p[0].is_const && p[0].dtype == MW_F32);
  assert_string_equal(p[2].type, "unsigned long long");
  assert_int_equal(p[2].offset, 16);
  assert_int_equal(p[3].offset, 32);
  assert_int_equal(p[3].lanes, 4);
  assert_int_equal(p[4].dtype, MW_POINTER);
  assert_int_equal(mw_declared_params(source, "none", p, 8), 0);
  assert_int_equal(mw_declared_params(source, "odd", p, 8), 1);
  assert_int_equal(p[0].size, 0);
  assert_int_equal(mw_declared_params(source, "missing", p, 8), -1);
  assert_int_equal(mw_declared_params(source, "raw", p, 3), 5);
}

static void declared_variables(void **state) {
  (void)state;
  mw_param p;
  const char *source = "__constant__ float coef[16];\nstatic __device__ unsigned int a, b[4];\n"
                       "__device__ double *table_of[3];\nnamespace n { __device__ int deep = 3; }\n"
                       "__global__ void k(float coef2) { int deep2; }\n__constant__ thing odd;\n";
  assert_true(mw_declared_variable(source, "coef", &p));
  assert_true(p.dtype == MW_F32 && p.size == 4 && !p.pointer);
  assert_true(mw_declared_variable(source, "b", &p));
  assert_int_equal(p.dtype, MW_U32);
  assert_true(mw_declared_variable(source, "table_of", &p));
  assert_true(p.pointer && p.size == 8);
  assert_true(mw_declared_variable(source, "deep", &p));
  assert_int_equal(p.dtype, MW_I32);
  assert_false(mw_declared_variable(source, "coef2", &p));
  assert_false(mw_declared_variable(source, "odd", &p));
}

static void expect_variable(const char *text, const char *name, const char *type) {
  mw_param got;
  bool known = mw_declared_variable(text, name, &got);
  if (known != (type != NULL)) fail_msg("%s of type %s: %d", name, type ? type : "none", known);
  if (type) assert_string_equal(got.type, type);
}

static void variables_in_written_text(void **state) {
  (void)state;
  const char *text =
      "#define V __device__ int wrong\n// __device__ int wrong;\n"
      "namespace { __device__ /* a */ unsigned long int // b\n grid[4][8], *rows[2]; }\n"
      "extern \"C\" { __constant__ __align__(16) float3 table[2] = {{1, 2, 3}, {4, 5, 6}}, one; }\n"
      "template <class T> struct S { __device__ static const float inner; };\n"
      "__managed__ volatile std::int64_t total{0};\n__device__ const char *const names[2] = {\"a;\", \"b\"};\n"
      "__device__ int helper(int a) { static __device__ double kept; return a; }\n"
      "x = __device__; int plain; __device__ my_type odd; __device__ vec<int> other;";
  expect_variable(text, "wrong", NULL);
  expect_variable(text, "grid", "unsigned long");
  expect_variable(text, "rows", "unsigned long *");
  expect_variable(text, "table", "float3");
  expect_variable(text, "one", "float3");
  expect_variable(text, "inner", "const float");
  expect_variable(text, "total", "int64_t");
  expect_variable(text, "names", "const char *");
  expect_variable(text, "kept", "double");
  mw_text many = {0};
  for (int i = 0; i < 100; i++) mw_text_format(&many, "%s v%d", i ? "," : "__device__ int", i);
  mw_text_put(&many, ";");
  expect_variable(many.at, "v99", "int");
  mw_free(many.at);
  const char *const others[] = {"helper", "a", "plain", "odd", "other", "x", NULL};
  for (int i = 0; others[i]; i++) expect_variable(text, others[i], NULL);
}

static void constants_in_written_text(void **state) {
  (void)state;
  const char *text = "static const int a = 3, b[2] = {1, 2}; constexpr const char *s = \"x\"; const char *p;\n"
                     "struct S { static constexpr int inner = 2; int twice; };\nconst int twice = 1;\n"
                     "__global__ void k(const int formal) { static const float kept = a * b[0]; int v = a; f(a, b); }\n"
                     "// int a;\n#define NOT int a;\n";
  const char *const constants[] = {"a", "b", "s", "inner", "kept", NULL};
  const char *const others[] = {"p", "twice", "formal", "v", "missing", NULL};
  for (int i = 0; constants[i]; i++) assert_true(mw_declared_constant(text, constants[i]));
  for (int i = 0; others[i]; i++) assert_false(mw_declared_constant(text, others[i]));
}

/* Cut anywhere, a source may make no sense, but must be read without harm. */
static void expect_enum(const char *text, const char *type, uint32_t size, mw_dtype dtype) {
  mw_param param = {.dtype = MW_STRUCT, .lanes = 1, .size = size};
  snprintf(param.type, sizeof param.type, "%s", type);
  assert_int_equal(mw_declared_enum(text, &param), dtype != MW_STRUCT);
  assert_int_equal(param.dtype, dtype);
  assert_string_equal(param.type, type);
}

static void enumerations(void **state) {
  (void)state;
  const char *text = "enum Color { RED, GREEN };\nnamespace n { enum class Mode : unsigned char { A }; }\nenum Shift { "
                     "LEFT = -1 };\nenum Color paint();\ntypedef enum { X, Y } Axis;\nenum struct Side { U };\n"
                     "struct Pair { int a; };\nenum Far : long long { Z };\nenum Cut : sho";
  expect_enum(text, "Color", 4, MW_U32);
  expect_enum(text, "n::Mode", 1, MW_U8);
  expect_enum(text, "Shift", 4, MW_I32);
  expect_enum(text, "Axis", 4, MW_U32);
  expect_enum(text, "Side", 4, MW_I32);
  expect_enum(text, "Far", 8, MW_I64);
  expect_enum(text, "Pair", 4, MW_STRUCT);
  expect_enum(text, "Cut", 2, MW_STRUCT);
  expect_enum(text, "Mode", 4, MW_STRUCT);
}

static void truncated_text(void **state) {
  (void)state;
  const char *text = "template <int A> [[x]] __global__ void f(const T<a, (b > c)> *x = \"\\\"\", int (*g)(int)) "
                     "R\"a(b)a\" 'c' /* d */ // e\n { } u8R\"(";
  for (size_t i = 0; i <= strlen(text); i++) {
    char *cut = strndup(text, i);
    mw_param params[MOST];
    mw_declared_kernel *kernels;
    mw_declared_params(cut, "f", params, MOST);
    mw_declared_kernels(cut, &kernels);
    mw_declared_variable(cut, "x", params);
    mw_declared_constant(cut, "x");
    mw_free(kernels);
    free(cut);
  }
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

static bool key_of(const mw_source *source, mw_cache_key *key) {
  mw_cache_keymaker *maker = mw_cache_key_begin("test");
  bool complete;
  assert_int_equal(mw_source_hash(source, maker, &complete, NULL), MW_OK);
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
  source.ptxas = (const char *[]){"-dlcm=cg", NULL}, expect_change(&source, &last, true);
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
  source.text = "#import \"c.h\"\n%:include <perhaps.h>\n#include_next \"b.h\"\n", expect_change(&source, &last, true);
  scratch_write(folder, "c.h", "int c;\n"), expect_change(&source, &last, true);
  scratch_write(more, "perhaps.h", "int p;\n"), expect_change(&source, &last, true);
  scratch_write(more, "b.h", "int next;\n"), expect_change(&source, &last, true);
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
      cmocka_unit_test(kernels_in_written_text),
      cmocka_unit_test(parameters_in_written_text),
      cmocka_unit_test(declared_params),
      cmocka_unit_test(declared_variables),
      cmocka_unit_test(variables_in_written_text),
      cmocka_unit_test(constants_in_written_text),
      cmocka_unit_test(enumerations),
      cmocka_unit_test(truncated_text),
      cmocka_unit_test(options_change_the_key),
      cmocka_unit_test(every_included_file_changes_the_key),
      cmocka_unit_test(includes_by_macro_are_not_cached),
  };
  return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
