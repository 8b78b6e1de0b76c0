/* SPDX-License-Identifier: MIT
 *
 * The splitter of the CPU device: what it accepts, what it rejects and why, and that what it writes computes what the
 * kernel says. Blocks run here one after the other on this thread, by the unit's own entries. */
#include <math.h>

#include "core/backend/cpu/translate/unit.h"

#include "tests/c/test.h"

/* ---- decisions ------------------------------------------------------------------------------------------------- */

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

/* ---- behaviour ------------------------------------------------------------------------------------------------- */

typedef struct loaded {
  cpu_program *program;
  cpu_unit *unit;
} loaded;

static loaded load(const char *text, const char *const *templates) {
  mw_error error = {0};
  loaded it = {parse(text, NULL, &error), NULL};
  if (!it.program || cpu_unit_load(it.program, CPU_FAST, templates, &it.unit, &error))
    fail_msg("%s\n%s", error.text, error.log ? error.log : "");
  return it;
}

static void unload(loaded *it) {
  cpu_unit_free(it->unit);
  cpu_program_free(it->program);
}

static loaded loops_unit, scans_unit; /* what several tests look at is compiled once */

static const mw_unit_kernel *kernel_of(const loaded *it, const char *name, const char *engine) {
  for (unsigned i = 0; i < it->unit->table->nkernels; i++) {
    const mw_unit_kernel *kernel = &it->unit->table->kernels[i];
    if (strcmp(kernel->name, name)) continue;
    if (strcmp(kernel->engine, engine)) fail_msg("%s is %s: %s", name, kernel->engine, kernel->engine_why);
    assert_non_null(kernel->run);
    return kernel;
  }
  fail_msg("no kernel %s", name);
  return NULL;
}

static void launch(const loaded *it, const char *name, const char *engine, mw_dim3 grid, mw_dim3 block, void **args) {
  static _Alignas(64) char dynamic[48 << 10];
  const mw_unit_kernel *kernel = kernel_of(it, name, engine);
  char bytes[256];
  static _Alignas(128) char placed[64 << 10];
  mw_worker worker = {.dynamic_shared = dynamic, .static_shared = placed};
  mw_grid all = {bytes, grid, block, sizeof dynamic};
  for (unsigned i = 0; i < kernel->nparams; i++)
    memcpy(bytes + kernel->params[i].offset, args[i], kernel->params[i].size);
  kernel->run(&all, &worker, 0, (unsigned long long)grid.x * grid.y * grid.z);
}
#define DIM(...)  ((mw_dim3){__VA_ARGS__})
#define ARGS(...) ((void *[]){__VA_ARGS__})

static void expect_doubles(const double *got, const double *want, int count) {
  for (int i = 0; i < count; i++)
    if (!(fabs(got[i] - want[i]) <= 1e-9 * (1 + fabs(want[i])))) fail_msg("[%d] is %g, not %g", i, got[i], want[i]);
}

static const char loops[] =
    "__global__ void guarded(double *y, const double *x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n"
    "__global__ void early(double *y, const double *x, int n) {\n"
    "  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;\n  if (i >= n || x[i] < 3) return;\n  y[i] = 2 * x[i];\n}\n"
    "__global__ void inner(double *y, int nx, int ny) {\n"
    "  int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) y[iy * nx + ix] = ix + 100 * iy;\n}\n"
    "__global__ void stride(double *y, const double *x, int n) {\n"
    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];\n}\n"
    "__global__ void product(double *c, const double *a, const double *b, int n) {\n"
    "  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  if (row >= n || col >= n) return;\n  double sum = 0;\n"
    "  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];\n  c[row * n + col] = sum;\n}\n"
    "__global__ void first(double *y, int n) {\n  if (threadIdx.x == 0) { double s = 0;\n"
    "    for (int k = 0; k < n; k++) s += k;\n    y[blockIdx.x] = s; }\n}\n"
    "__global__ void cube(int *out) {\n  int x = threadIdx.x + blockIdx.x * blockDim.x;\n"
    "  int y = threadIdx.y + blockIdx.y * blockDim.y, z = threadIdx.z + blockIdx.z * blockDim.z;\n"
    "  out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] = x + 100 * y + 10000 * z;\n}\n";

enum { N = 1000 };

static void doubles(double *x, double *y, double *want) {
  for (int i = 0; i < N; i++) x[i] = i % 7, y[i] = want[i] = -1;
}

static void loop_kernels(void **state) {
  (void)state;
  loaded it = loops_unit;
  double x[N], y[N], want[N], *px = x, *py = y;
  int n = 900;
  doubles(x, y, want);
  for (int i = 0; i < n; i++) want[i] = 2 * x[i];
  launch(&it, "guarded", "loop", DIM(8, 1, 1), DIM(128, 1, 1), ARGS(&py, &px, &n));
  expect_doubles(y, want, N);
  doubles(x, y, want);
  for (int i = 0; i < n; i++) want[i] = x[i] < 3 ? -1 : 2 * x[i];
  launch(&it, "early", "loop", DIM(8, 1, 1), DIM(128, 1, 1), ARGS(&py, &px, &n));
  expect_doubles(y, want, N);
  doubles(x, y, want);
  for (int i = 0; i < n; i++) want[i] = 2 * x[i];
  launch(&it, "stride", "loop", DIM(2, 1, 1), DIM(96, 1, 1), ARGS(&py, &px, &n));
  expect_doubles(y, want, N);
  doubles(x, y, want);
  int nx = 40, ny = 25;
  for (int i = 0; i < nx * ny; i++) {
    int ix = i % nx, iy = i / nx;
    if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) want[i] = ix + 100 * iy;
  }
  launch(&it, "inner", "loop", DIM(3, 4, 1), DIM(16, 8, 1), ARGS(&py, &nx, &ny));
  expect_doubles(y, want, N);
}

static void nested_loops(void **state) {
  (void)state;
  loaded it = loops_unit;
  double a[N], b[N], c[N], want[N], *pa = a, *pb = b, *pc = c;
  int n = 30;
  doubles(a, c, want);
  for (int i = 0; i < N; i++) b[i] = i % 5;
  for (int i = 0; i < n * n; i++) want[i] = 0;
  for (int i = 0; i < n * n; i++)
    for (int k = 0; k < n; k++) want[i] += a[i / n * n + k] * b[k * n + i % n];
  launch(&it, "product", "loop", DIM(2, 4, 1), DIM(16, 8, 1), ARGS(&pc, &pa, &pb, &n));
  expect_doubles(c, want, n * n);
  for (int i = 0; i < N; i++) c[i] = -1;
  launch(&it, "product", "loop", DIM(8, 2, 1), DIM(4, 16, 1), ARGS(&pc, &pa, &pb, &n)); /* narrow in x */
  expect_doubles(c, want, n * n);
  launch(&it, "first", "loop", DIM(3, 1, 1), DIM(32, 1, 1), ARGS(&pc, &n));
  for (int i = 0; i < 3; i++) want[i] = n * (n - 1) / 2;
  expect_doubles(c, want, 3);
  int out[4 * 6 * 8], *po = out;
  launch(&it, "cube", "loop", DIM(2, 3, 2), DIM(4, 2, 2), ARGS(&po));
  for (int i = 0; i < 4 * 6 * 8; i++) assert_int_equal(out[i], i % 8 + 100 * (i / 8 % 6) + 10000 * (i / 48));
}

/* Rows of neighbouring blocks are longer than any block: variables, early returns and lifted loops must not mind. */
static void long_rows(void **state) {
  (void)state;
  enum { WIDE = 9000 };
  static double y[WIDE], want[WIDE];
  loaded it = load("__global__ void __launch_bounds__(64) k(double *y, int n, int m) {\n"
                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n || y[i] > 0) return;\n"
                   "  double s = 0, p = 1;\n  for (int k = 0; k < m; k++) { s += p * k; p = s + i % 3; }\n"
                   "  y[i] = s;\n}\n",
                   NULL);
  double *py = y;
  int n = WIDE - 50, m = 40;
  for (int i = 0; i < WIDE; i++) {
    double s = 0, p = 1;
    for (int k = 0; k < m && i < n && i % 5; k++) s += p * k, p = s + i % 3;
    y[i] = i % 5 ? -1 : 1;
    want[i] = i < n && i % 5 ? s : y[i];
  }
  launch(&it, "k", "loop", DIM(WIDE / 64 + 1, 1, 1), DIM(64, 1, 1), ARGS(&py, &n, &m));
  expect_doubles(y, want, WIDE);
  unload(&it);
}

/* A thread that holds a lock is not stopped in its middle for another one. */
static void locks(void **state) {
  (void)state;
  loaded it = load("__device__ int lock;\n__global__ void k(int *sum, int n) {\n"
                   "  while (atomicCAS(&lock, 0, 1) != 0);\n  for (int i = 0; i < n; i++) *sum += i;\n"
                   "  atomicExch(&lock, 0);\n}\n",
                   NULL);
  int sum = 0, n = 40, *psum = &sum;
  launch(&it, "k", "loop", DIM(3, 1, 1), DIM(64, 1, 1), ARGS(&psum, &n));
  assert_int_equal(sum, 3 * 64 * (40 * 39 / 2));
  unload(&it);
}

static const char reductions[] =
    "template <class T> __device__ T warp_sum(T v) {\n#pragma unroll\n"
    "  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);\n  return v;\n}\n"
    "template <typename T> __device__ T block_sum(T v) {\n  __shared__ T part[32];\n"
    "  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n  v = warp_sum(v);\n"
    "  if (lane == 0) part[warp] = v;\n  __syncthreads();\n"
    "  v = threadIdx.x < blockDim.x / 32 ? part[lane] : T(0);\n  if (warp == 0) v = warp_sum(v);\n  return v;\n}\n"
    "__global__ void tree(double *out, const double *x, int n) {\n  __shared__ double s[128];\n"
    "  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n  s[t] = i < n ? x[i] : 0;\n  __syncthreads();\n"
    "  for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) {\n    if (t < k) s[t] += s[t + k];\n    __syncthreads();\n  "
    "}\n"
    "  if (t == 0) out[blockIdx.x] = s[0];\n}\n"
    "__global__ void dynamic(double *out, const double *x, int n) {\n  extern __shared__ double s[];\n"
    "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n  s[t] = i < n ? x[i] : 0;\n"
    "  for (int k = 1; k < blockDim.x; k *= 2) {\n    __syncthreads();\n    int j = 2 * k * t;\n"
    "    if (j < blockDim.x) s[j] += s[j + k];\n  }\n  if (t == 0) out[blockIdx.x] = s[0];\n}\n"
    "__global__ void shuffled(double *out, const double *x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  double sum = block_sum(i < n ? x[i] : 0.0);\n"
    "  if (threadIdx.x == 0) out[blockIdx.x] = sum;\n}\n"
    "template <class T, int W> __global__ void rows(T *out, const T *x, int n, int count) {\n"
    "  int lane = threadIdx.x % W, row = (blockIdx.x * blockDim.x + threadIdx.x) / W;\n"
    "  for (; row < count; row += gridDim.x * blockDim.x / W) {\n    T sum = 0;\n"
    "    for (int c = lane; c < n; c += W) sum += x[row * n + c];\n"
    "    for (int o = W / 2; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o, W);\n"
    "    if (lane == 0) out[row] = sum;\n  }\n}\n";

static void reduction_kernels(void **state) {
  (void)state;
  const char *const templates[] = {"rows<double, 8>", NULL};
  const char *const plain[] = {"tree", "dynamic", "shuffled"};
  loaded it = load(reductions, templates);
  double x[N], y[N], want[N], *px = x, *py = y;
  int n = 900, columns = 90, count = 10;
  for (int k = 0; k < 3; k++) {
    doubles(x, y, want);
    memset(want, 0, 8 * sizeof *want);
    for (int i = 0; i < n; i++) want[i / 128] += x[i];
    launch(&it, plain[k], "split", DIM(8, 1, 1), DIM(128, 1, 1), ARGS(&py, &px, &n));
    expect_doubles(y, want, N);
  }
  doubles(x, y, want);
  memset(want, 0, 10 * sizeof *want);
  for (int i = 0; i < n; i++) want[i / columns] += x[i];
  launch(&it, "rows<double, 8>", "split", DIM(1, 1, 1), DIM(32, 1, 1), ARGS(&py, &px, &columns, &count));
  expect_doubles(y, want, N);
  unload(&it);
}

static const char scans[] =
    "__global__ void cumsum(double *y, const double *x, int n) {\n  __shared__ double part[32];\n"
    "  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;\n  double carry = 0;\n"
    "  for (int base = 0; base < n; base += blockDim.x) {\n    int i = base + threadIdx.x;\n"
    "    double v = i < n ? x[i] : 0.0;\n    for (int o = 1; o < 32; o <<= 1) {\n"
    "      double u = __shfl_up_sync(0xffffffffu, v, o);\n      if (lane >= o) v += u;\n    }\n"
    "    if (lane == 31) part[w] = v;\n    __syncthreads();\n"
    "    double before = carry;\n    for (int k = 0; k < w; k++) before += part[k];\n"
    "    if (i < n) y[i] = v + before;\n    for (int k = 0; k < blockDim.x / 32; k++) carry += part[k];\n"
    "    __syncthreads();\n  }\n}\n"
    "__global__ void swap(int *out, int n) {\n  __shared__ int s[64];\n  int i = blockIdx.x * blockDim.x + "
    "threadIdx.x;\n"
    "  if (i >= n) return;\n  s[threadIdx.x] = i;\n  __syncthreads();\n  int v = s[threadIdx.x ^ 1];\n"
    "  __syncthreads();\n  n -= 1;\n  out[i] = v + n;\n}\n"
    "__global__ void votes(unsigned *out, const int *x) {\n  int v = x[threadIdx.x];\n"
    "  unsigned b = __ballot_sync(~0u, v > 3);\n  int any = __any_sync(~0u, v == 6), all = __all_sync(~0u, v >= 0);\n"
    "  int c = __syncthreads_count(v & 1);\n  if (__syncthreads_and(v == 9)) { out[0] = 77; return; }\n"
    "  out[threadIdx.x] = b + 3 * any + 5 * all + 7 * c + __popc(__match_any_sync(~0u, v & 3)) +\n"
    "                     __shfl_sync(~0u, v, 5, 8) + __reduce_add_sync(~0u, v);\n}\n"
    "__global__ void turn(int *out) {\n  __shared__ int s[2][3][4];\n  int x = threadIdx.x, y = threadIdx.y, z = "
    "threadIdx.z;\n"
    "  s[z][y][x] = x + 10 * y + 100 * z;\n  __syncthreads();\n"
    "  out[((blockIdx.x * 2 + z) * 3 + y) * 4 + x] = s[1 - z][2 - y][3 - x];\n}\n";

static void scan_kernels(void **state) {
  (void)state;
  loaded it = scans_unit;
  double x[N], y[N], want[N], *px = x, *py = y;
  int n = 900, out[N], *po = out;
  doubles(x, y, want);
  for (int i = 0; i < n; i++) want[i] = x[i] + (i ? want[i - 1] : 0);
  launch(&it, "cumsum", "split", DIM(1, 1, 1), DIM(128, 1, 1), ARGS(&py, &px, &n));
  expect_doubles(y, want, N);
  for (int i = 0; i < N; i++) out[i] = -1;
  launch(&it, "swap", "split", DIM(15, 1, 1), DIM(64, 1, 1), ARGS(&po, &n));
  for (int i = 0; i < N; i++) assert_int_equal(out[i], i < n ? (i ^ 1) + n - 1 : -1);
  launch(&it, "turn", "split", DIM(2, 1, 1), DIM(4, 3, 2), ARGS(&po));
  for (int i = 0; i < 48; i++) assert_int_equal(out[i], 3 - i % 4 + 10 * (2 - i / 4 % 3) + 100 * (1 - i / 12 % 2));
}

static unsigned vote_of(const int *x, int i, int odd) {
  unsigned ballot = 0, same = 0, sum = 0, any = 0, all = 1;
  for (int k = i & ~31, l = 0; l < 32; l++) {
    int v = x[k + l];
    ballot |= (unsigned)(v > 3) << l;
    any |= v == 6;
    all &= v >= 0;
    same += (v & 3) == (x[i] & 3);
    sum += (unsigned)v;
  }
  return ballot + 3 * any + 5 * all + 7 * (unsigned)odd + same + (unsigned)x[(i & ~7) + 5] + sum;
}

static void vote_kernels(void **state) {
  (void)state;
  loaded it = scans_unit;
  int x[96], *px = x, odd = 0;
  unsigned out[96], *po = out;
  for (int i = 0; i < 96; i++) x[i] = (i * 7 + i / 5) % 8, odd += x[i] & 1;
  launch(&it, "votes", "split", DIM(1, 1, 1), DIM(96, 1, 1), ARGS(&po, &px));
  for (int i = 0; i < 96; i++) assert_int_equal(out[i], vote_of(x, i, odd));
  for (int i = 0; i < 96; i++) x[i] = 9;
  launch(&it, "votes", "split", DIM(1, 1, 1), DIM(96, 1, 1), ARGS(&po, &px));
  assert_int_equal(out[0], 77);
}

/* ---- parameters, variables, messages --------------------------------------------------------------------------- */

static void parameters(void **state) {
  (void)state;
  loaded it = load("struct pair { int a; double b; };\n__constant__ float c[4] = {1, 2, 3, 4};\n__device__ int total;\n"
                   "__global__ void k(pair p, float4 *v, const int *q, bool f, unsigned long long u) {\n"
                   "  if (threadIdx.x < 3) atomicAdd(&total, 1); }\n",
                   NULL);
  const mw_unit_kernel *kernel = kernel_of(&it, "k", "loop");
  const char *const types[] = {"pair", "float4 *", "const int *", "bool", "unsigned long long"};
  const char *const names[] = {"p", "v", "q", "f", "u"};
  const unsigned offsets[] = {0, 16, 24, 32, 40};
  assert_int_equal(kernel->nparams, 5);
  assert_int_equal(kernel->args_bytes, 48);
  for (int i = 0; i < 5; i++) {
    assert_string_equal(kernel->params[i].type, types[i]);
    assert_string_equal(kernel->params[i].name, names[i]);
    assert_int_equal(kernel->params[i].offset, offsets[i]);
  }
  assert_int_equal(kernel->params[0].dtype, MW_STRUCT);
  assert_int_equal(kernel->params[1].lanes, 4);
  assert_int_equal(kernel->params[2].is_const, 1);
  assert_int_equal(it.unit->table->nvariables, 2);
  assert_string_equal(it.unit->table->variables[0].name, "c");
  assert_int_equal(it.unit->table->variables[0].bytes, 16);
  char args[64] = {0};
  void *fields[] = {args, args, args, args, args};
  launch(&it, "k", "loop", DIM(5, 1, 1), DIM(32, 1, 1), fields);
  assert_int_equal(*(int *)it.unit->table->variables[1].address, 15);
  unload(&it);
}

static void compile_errors(void **state) {
  (void)state;
  mw_error error = {0};
  cpu_unit *unit = NULL;
  cpu_program *program = parse("// one\n__global__ void k(float *x) {\n  x[threadIdx.x] = wrong;\n}\n", NULL, &error);
  assert_non_null(program);
  assert_int_equal(cpu_unit_load(program, CPU_FAST, NULL, &unit, &error), MW_COMPILE);
  assert_non_null(strstr(error.text, "compiling 't.cu' for the CPU device failed: t.cu:3: "));
  assert_non_null(strstr(error.text, "wrong"));
  assert_non_null(error.log);
  mw_error_clear(&error);
  const char *const none[] = {"k<int>", NULL};
  assert_int_equal(cpu_unit_load(program, CPU_FAST, none, &unit, &error), MW_INVALID);
  assert_non_null(strstr(error.text, "not a template"));
  cpu_program_free(program);
}

static int load_units(void **state) {
  (void)state;
  loops_unit = load(loops, NULL);
  scans_unit = load(scans, NULL);
  return 0;
}

static int unload_units(void **state) {
  (void)state;
  unload(&loops_unit);
  unload(&scans_unit);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(engines),      cmocka_unit_test(rejections_to_split),
      cmocka_unit_test(uniformity),   cmocka_unit_test(forced),
      cmocka_unit_test(unsupported),  cmocka_unit_test(loop_kernels),
      cmocka_unit_test(nested_loops), cmocka_unit_test(long_rows),
      cmocka_unit_test(locks),        cmocka_unit_test(reduction_kernels),
      cmocka_unit_test(scan_kernels), cmocka_unit_test(vote_kernels),
      cmocka_unit_test(parameters),   cmocka_unit_test(compile_errors),
  };
  return cmocka_run_group_tests_name("splitter", tests, load_units, unload_units);
}
