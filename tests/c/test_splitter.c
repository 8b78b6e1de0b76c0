/* SPDX-License-Identifier: MIT
 *
 * The splitter of the CPU device: what it accepts, what it rejects and why. That what it writes computes what the kernel
 * says is tested by tests/cpu/engines_spec.lua, split_spec.lua and the generator. */
#include "core/backend/cpu/translate/unit.h"

#include "tests/c/test.h"

static cpu_program *parse(const char *text, const char *engine, mw_error *error) {
  mw_source source = {.name = "t.cu", .text = text, .engine = engine, .no_cache = true};
  cpu_program *program = NULL;
  if (cpu_program_parse(&source, false, &program, error) != MW_OK) return NULL;
  return program;
}

static void expect_engine(const char *text, const char *engine, const char *why) {
  mw_error error = {0};
  cpu_program *program = parse(text, NULL, &error);
  const cpu_declared *kernels;
  if (!program) fail_msg("%s\n%s", error.text, text);
  assert_true(cpu_program_kernels(program, &kernels) >= 1);
  if (strcmp(kernels[0].engine, engine) || !strstr(kernels[0].engine_why, why))
    fail_msg("engine %s because '%s', not %s because '%s':\n%s", kernels[0].engine, kernels[0].engine_why, engine, why,
             text);
  cpu_program_free(program);
}

static void expect_rejection(const char *text, const char *engine, mw_status status, const char *message) {
  mw_error error = {0};
  cpu_program *program = parse(text, engine, &error);
  assert_null(program);
  assert_int_equal(error.status, status);
  if (!strstr(error.text, message)) fail_msg("'%s' does not say '%s'", error.text, message);
  mw_error_clear(&error);
}

#define KERNEL(body) "__global__ void k(float *x, int n) {\n int t = threadIdx.x;\n" body "}\n"

static void engines(void **state) {
  (void)state;
  expect_engine(KERNEL("if (t < n) x[t] = 1;\n"), "loop", "");
  expect_engine(KERNEL("x[t] = 1;\n__syncthreads();\nx[t] += x[t ^ 1];\n"), "split", "__syncthreads at t.cu:4");
  expect_engine(KERNEL("for (int i = 0; i < n; i++) {\n x[t] = i; __syncthreads(); }\n"), "split", "");
  expect_engine(KERNEL("if (n > 3) __syncthreads();\n"), "split", "");
  expect_engine(KERNEL("do { x[t] += 1; __syncthreads(); n--; } while (n > 0);\n"), "split", "");
  expect_engine(KERNEL("if (t >= n) return;\n__syncthreads();\nx[t] = 1;\n"), "split", "");
  expect_engine(KERNEL("float v = x[t];\nif (t < 32) v += __shfl_down_sync(~0u, v, 1);\nx[t] = v;\n"), "split", "");
  expect_engine(KERNEL("if (__any_sync(~0u, x[t] > 0)) x[t] = 0;\n"), "split", "");
  expect_engine(KERNEL("for (int i = t / 32; i < n; i += 4) x[i] = __shfl_sync(~0u, x[i], 0);\n"), "split", "");
}

static void rejections_to_split(void **state) {
  (void)state;
  expect_engine(KERNEL("if (t < n) {\n x[t] = 1;\n __syncthreads();\n}\n"), "fiber",
                "line 5: barrier is under a condition that differs between threads: line 3");
  expect_engine(KERNEL("for (int i = t; i < n; i++) __syncthreads();\n"), "fiber", "differs between threads");
  expect_engine(KERNEL("while (x[t] > 0) {\n x[t] -= 1;\n __syncthreads(); }\n"), "fiber", "differs between threads");
  expect_engine(KERNEL("for (;;) {\n __syncthreads();\n if (x[t] > 1) break;\n}\n"), "fiber", "break out of a loop");
  expect_engine(KERNEL("for (float v : *(float (*)[3])x) { __syncthreads(); x[t] = v; }\n"), "fiber",
                "range-based for");
  expect_engine(KERNEL("switch (t) { case 1: __syncthreads(); }\n"), "fiber", "differs between threads");
  expect_engine(KERNEL("switch (n) { case 1: __syncthreads(); }\n"), "split", "__syncthreads");
  expect_engine(KERNEL("auto f = [&] { __syncthreads(); };\nf();\nx[t] = 1;\n"), "fiber", "__syncthreads");
  expect_engine(KERNEL("auto f = [&] { return __shfl_sync(~0u, t, 0); };\nx[t] = f();\n"), "fiber", "in a lambda");
  expect_engine(KERNEL("x[t] = t > 3 && __any_sync(~0u, t > 5);\n"), "fiber", "'&&' stands in front of it");
  expect_engine(KERNEL("x[t] = t > 3 ? __shfl_sync(~0u, t, 0) : 0;\n"), "fiber", "'?' stands in front of it");
  expect_engine("__device__ float f(float v) { if (v > 1) return v; return __shfl_sync(~0u, v, 0); }\n"
                "__global__ void k(float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }\n",
                "fiber", "returns from its middle");
  expect_engine("__device__ void f(float &v) { v += 1; { float v = 2; v += __shfl_sync(~0u, v, 0); } }\n"
                "__global__ void k(float *x) { float v = 1; f(v); x[threadIdx.x] = v; }\n",
                "fiber", "helper 'f' declares a variable that hides a parameter");
  char names[2600] = "__device__ float f(float v) { float a0 = v;\n";
  for (int i = 1; i < 140; i++) sprintf(names + strlen(names), "float a%d = 1;\n", i);
  strcat(names, "return __shfl_sync(~0u, a0, 0); }\n"
                "__global__ void k(float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }\n");
  expect_engine(names, "fiber", "helper 'f' declares too many names");
  expect_engine("namespace wmma = nvcuda::wmma;\n" KERNEL("wmma::fill_fragment(x[0], 1);\n"), "fiber",
                "line 4: wmma is used in a way that is not split");
  expect_engine("struct s { __device__ void sync() { __syncthreads(); } };\n"
                "__global__ void k(float *x) { s a; a.sync(); x[threadIdx.x] = 1; }\n",
                "fiber", "");
}

/* A value counts as uniform only where every thread computes the same. */
static void uniformity(void **state) {
  (void)state;
  expect_engine(KERNEL("int m = n;\nif (t > 3) m = 2;\nif (m > 1) __syncthreads();\n"), "fiber", "differs");
  expect_engine(KERNEL("int m = n;\nm += 2;\nif (m > 1) __syncthreads();\n"), "split", "");
  expect_engine(KERNEL("int m = n;\nint *p = &m;\n*p = t;\nif (m > 1) __syncthreads();\n"), "fiber", "differs");
  expect_engine(
      "__device__ void set(int &m) { m = threadIdx.x; }\n" KERNEL("int m = n;\nset(m);\nif (m > 1) __syncthreads();\n"),
      "fiber", "differs");
  expect_engine("__device__ int f(int m) { return m + threadIdx.x; }\n" KERNEL("if (f(n) > 1) __syncthreads();\n"),
                "fiber", "differs");
  expect_engine(KERNEL("__shared__ int s;\nif (t == 0) s = n;\n__syncthreads();\nif (s > 1) __syncthreads();\n"),
                "split", "");
  expect_engine(KERNEL("if (__syncthreads_or(x[t] > 1)) __syncthreads();\n"), "split", "");
  expect_engine("__device__ int f(int m) { return (m + 3) / 4; }\n" KERNEL("if (f(n) > 1) __syncthreads();\n"), "split",
                "");
  static const char *const effects[] = {"return ++c;",
                                        "*p = m; return m;",
                                        "p[0]++; return m;",
                                        "return atomicAdd(p, m);",
                                        "static int s; return s++;",
                                        "return (int)clock();",
                                        "int k; p = &k; return m;",
                                        "return g(m);"};
  for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "__device__ int c; __device__ int g(int m) { return c++; }\n"
             "__device__ int f(int m, const int *q) { int *p = (int *)q; %s }\n%s",
             effects[i], KERNEL("if (f(n, (int *)x) > 1) __syncthreads();\n"));
    expect_engine(text, "fiber", "differs");
  }
  expect_engine(KERNEL("int i; for (i = 0; i < n; i++) __syncthreads();\nfor (i = t; i < n; i++) x[i] = 1;\n"), "fiber",
                "differs");
  expect_engine(KERNEL("int i; for (i = t; i < n; i++) x[i] = 1;\nfor (i = i + 1; i < n; i++) __syncthreads();\n"),
                "fiber", "differs");
  expect_engine(KERNEL("int i; for (i = t; i < n; i++) x[i] = 1;\nfor (; i < n; i++) __syncthreads();\n"), "fiber",
                "differs");
  expect_engine(KERNEL("n = t;\nif (n > 1) __syncthreads();\n"), "fiber", "differs");
}

static void forced(void **state) {
  (void)state;
  expect_rejection(KERNEL("__syncthreads();\n"), "loop", MW_UNSUPPORTED, "reaches __syncthreads at t.cu:3");
  expect_rejection(KERNEL("if (t < n) __syncthreads();\n"), "split", MW_UNSUPPORTED, "differs between threads");
  expect_rejection(KERNEL(""), "threads", MW_INVALID, "engine is");
  mw_error error = {0};
  cpu_program *program = parse(KERNEL("x[t] = 1;\n"), "fiber", &error);
  assert_non_null(program);
  const cpu_declared *kernels;
  assert_int_equal(cpu_program_kernels(program, &kernels), 1);
  assert_string_equal(kernels[0].engine, "fiber");
  cpu_program_free(program);
}

static void unsupported(void **state) {
  (void)state;
  expect_rejection(KERNEL("asm(\"nop;\");\n"), NULL, MW_UNSUPPORTED, "t.cu:3: the CPU device has no inline PTX");
  expect_rejection(KERNEL("k<<<1, 1>>>(x, n);\n"), NULL, MW_UNSUPPORTED, "dynamic parallelism");
  expect_rejection(KERNEL("x[t] = tex2DLod<float>(0, 1, 2, 3);\n"), NULL, MW_UNSUPPORTED, "mip maps");
  expect_rejection("__global__ void k(float *x) {\n x[0 = 1;\n}\n", NULL, MW_COMPILE,
                   "t.cu:2: a bracket has no partner");
  expect_rejection("#include \"absent.h\"\n", NULL, MW_COMPILE, "'absent.h' (t.cu:1)");
  expect_engine("#include \"absent.h\"\n" KERNEL(""), "loop", "");
  expect_rejection("\n'", NULL, MW_COMPILE, "t.cu:2: a quote is not closed");
  expect_rejection("\n__global__ const float *f() { return 0; }\n", NULL, MW_COMPILE,
                   "t.cu:2: kernel 'f' must return void, not const float*");
  expect_rejection(KERNEL("") KERNEL(""), NULL, MW_UNSUPPORTED,
                   "t.cu:1: there are two kernels named 'k'; give each its own name");
  expect_engine("extern \"C\" __launch_bounds__(32) __global__ static void k(int k) { }", "loop", "");
  expect_engine("int main() { k<<<1, 1>>>(0, 0); }\n" KERNEL("x[t] = 1;\n"), "loop", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(engines), cmocka_unit_test(rejections_to_split), cmocka_unit_test(uniformity),
      cmocka_unit_test(forced),  cmocka_unit_test(unsupported),
  };
  return cmocka_run_group_tests_name("splitter", tests, NULL, NULL);
}
