/* SPDX-License-Identifier: MIT
 *
 * The front end on broken text: whatever a file holds, its device code is read or not, and no byte outside of it is
 * touched. The texts are a program with pieces left out, doubled, swapped and replaced. $MOONWARP_FUZZ_SEED and
 * $MOONWARP_FUZZ_TEXTS choose others and more of them. */
#include "core/compile/front.h"

#include "core/backend/cpu/program/program.h"
#include "core/base/memory.h"
#include "tests/c/test.h"

static const char program[] =
    "#include <vector>\n"
    "#include \"nowhere.h\"\n"
    "#if defined(N) && N > 2 || __has_include(<x>) /* a comment */\n"
    "# define HALF(x, ...) ((x) / 2 __VA_OPT__(+) __VA_ARGS__)\n"
    "#elif !defined N ? 1 : 0x10'00 << (2 % 3)\n"
    "#define HALF(x, y...) x##y #x , ## y\n"
    "#else\n#error no N\n#endif\n"
    "%:define JOIN(a, b) a %:%: b\n"
    "#pragma unroll 4\n"
    "using namespace std; typedef int (*op)(int); enum side { LEFT = 1, RIGHT };\n"
    "namespace a::b { template <class T, int M = (3 > 2)> struct pair { T x[M]; pair() {} ~pair();\n"
    "  __host__ __device__ T sum() const { return x[0] + x[1]; } virtual void print() = 0; friend int f(pair); }; }\n"
    "extern \"C\" { static __device__ float table[] = {1, 2, 3}; __constant__ int c{4}; }\n"
    "const char *text = R\"x(__global__ void not_this(int *x) {)x\" \"\\\"{\" L'\\'';\n"
    "template <class T> __device__ T twice(T x); template <> __device__ int twice<int>(int x) { return 2 * x; }\n"
    "template <typename T> __global__ void __launch_bounds__(256) swap(a::b::pair<T, 2> *p, [[maybe_unused]] int n) {\n"
    "  extern __shared__ T s[]; float __shared__ q[32]; for (int i = 0; i < n; i++) { s[i] = p->x[i]; __syncthreads(); "
    "}\n"
    "  asm volatile(\"{ .reg .pred p; setp.lt.u32 p, %1, %2; @!p add.u32 %0, %1, 0x1f; }\\n\\t\" \"bfe.u32 %0, %0, 1, "
    "2;\"\n"
    "               : \"=r\"(n), \"+l\"(p) : \"r\"(n), \"r\"(HALF(n)) : \"memory\"); p->template at<4>(1);\n"
    "}\n"
    "template __global__ void swap<float>(a::b::pair<float, 2> *, int);\n"
    "__global__ void one(float *x) <% x<:0:> = HALF(twice(JOIN(1, 2)), __LINE__) + table[LEFT] + c; %>\n"
    "int main() { std::vector<int> v{1, 2}; swap<int><<<1, 1>>>(nullptr, 2); return v.size() \\\n ? 0 : 1; }\n";

static const char *const pieces[] = {"{",
                                     "}",
                                     "(",
                                     ")",
                                     "[",
                                     "]",
                                     "<",
                                     ">",
                                     ";",
                                     ",",
                                     "#",
                                     "##",
                                     "\\\n",
                                     "\"",
                                     "'",
                                     "/*",
                                     "*/",
                                     "//",
                                     "::",
                                     "R\"(",
                                     "\n#if ",
                                     "\n#endif\n",
                                     "\n#else\n",
                                     "\n#define ",
                                     "\n#undef HALF\n",
                                     "\n#include ",
                                     "__global__",
                                     "template",
                                     "operator",
                                     "__VA_ARGS__",
                                     "__VA_OPT__(",
                                     "HALF(",
                                     "JOIN(,",
                                     "struct",
                                     "enum {",
                                     "asm(\"",
                                     ":",
                                     "%",
                                     "typedef",
                                     "using",
                                     "~",
                                     "extern \"C\" {",
                                     "\xff",
                                     "\xef\xbb\xbf",
                                     "0x",
                                     "...",
                                     "namespace",
                                     "defined(",
                                     "?",
                                     "= {",
                                     "[[",
                                     "<<<",
                                     "\r\n"};

static unsigned state;

static unsigned below(unsigned most) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % most;
}

/* The end of the word, white space or mark at `at`. */
static size_t piece_end(const char *at) {
  static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  const size_t letters = strspn(at, word), blanks = strspn(at, " \n");
  return letters ? letters : blanks ? blanks : *at != 0;
}

static char *replaced(const char *text, size_t at, size_t size, const char *by) {
  return mw_format("%.*s%s%s", (int)at, text, by, text + at + size);
}

static char *changed(const char *text) {
  const size_t length = strlen(text), at = length ? below((unsigned)length) : 0, size = piece_end(text + at);
  const char *other = length ? text + below((unsigned)length) : text;
  char *copy = mw_format("%.*s", (int)piece_end(other), other), *made;
  switch (below(6)) {
  case 0:
    made = replaced(text, at, size, "");
    break;
  case 1:
    made = replaced(text, at, 0, copy);
    break;
  case 2:
    made = replaced(text, at, size, copy);
    break;
  case 3:
    made = below(20) ? replaced(text, at, below(40) % (length - at + 1), "") : mw_format("%.*s", (int)at, text);
    break;
  default:
    made = replaced(text, at, 0, pieces[below(sizeof pieces / sizeof *pieces)]);
    break;
  }
  mw_free(copy);
  return made;
}

static bool has_header(const char *name) {
  return strstr(name, "cuda") != NULL;
}

/* Everything that may be asked of a front end, as after a compilation that failed. */
static void front_try(const char *text) {
  const char *const templates[] = {"swap<double>", "a::b::pair<", NULL};
  const mw_source source = {.name = "x.cu", .text = text, .templates = templates};
  const mw_dialect dialect = {.macros = "#define __CUDACC__ 1\n", .has_header = has_header};
  mw_error error = {.status = MW_COMPILE};
  mw_front *front = mw_front_read(&source, &dialect, &error);
  if (!front) mw_error_clear(&error);
  if (!front) return;
  mw_refusals refused = {0};
  char message[256] = "x.cu:20: 'v' and 'main' and \"one\" are not known '";
  mw_error_log(&error, mw_format("x.cu:%u:3: error: 'x'\nx.cu(%u): error: \"y\"\n  text\n\n", below(30), below(30)));
  mw_free(mw_front_text(front));
  mw_front_explain(front, message, sizeof message, &error.status);
  mw_front_undefined(front, &source, "twice", &error);
  while (mw_front_refuse(front, &error, "this device", &refused)) mw_free(mw_front_text(front));
  char *last = mw_front_text(front);
  assert_non_null(strstr(last, "__global__"));
  mw_free(last);
  mw_refusals_free(&refused);
  mw_error_clear(&error);
  mw_front_free(front);
}

/* The tokens of a text that the preprocessor gave, and its inline PTX. */
static void tokens_try(const char *text) {
  mw_tokens tokens;
  mw_tokens_read(&tokens, text, "");
  if (!tokens.wrong.what) {
    mw_specifiers_order(&tokens);
    mw_templates_mark(&tokens);
    cpu_ptx_rewrite(&tokens);
    for (int i = 0; i < tokens.count; i++)
      if (mw_token_is(&tokens.at[i], "asm")) mw_free(cpu_ptx_unknown(&tokens, i));
  }
  mw_tokens_free(&tokens);
}

static int number(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value && *value ? atoi(value) : otherwise;
}

static void broken_texts(void **nothing) {
  (void)nothing;
  const int texts = number("MOONWARP_FUZZ_TEXTS", 3000);
  state = (unsigned)number("MOONWARP_FUZZ_SEED", 1);
  for (int i = 0; i < texts; i++) {
    char *text = mw_strdup(program);
    for (unsigned changes = below(8); changes; changes--) {
      char *next = changed(text);
      mw_free(text);
      text = next;
    }
    front_try(text);
    tokens_try(text);
    mw_free(text);
  }
}

/* What the preprocessor reads to its end although it has none. */
static void open_directives(void **nothing) {
  (void)nothing;
  static const char *const lines[] = {"#include \"\n",    "#include <\n", "#if __has_include(\"\n#endif\n",
                                      "#if '\n#endif\n",  "#define F(\n", "#if defined(\n#endif\n",
                                      "#pragma unroll\n", "f(){}\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char *text = mw_format("%s%s", lines[i], program);
    front_try(text);
    mw_free(text);
  }
  static const char *const texts[] = {"using",  "using ;", "typedef",  "typedef ;", "concept", "enum",
                                      "struct", "extern",  "template", "~",         "::",      "namespace"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) front_try(texts[i]);
  mw_text deep = {0};
  mw_text_put(&deep, "#if 1");
  for (int i = 0; i < 1000000; i++) mw_text_put(&deep, "?1");
  front_try(deep.at);
  mw_free(deep.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(open_directives), cmocka_unit_test(broken_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
