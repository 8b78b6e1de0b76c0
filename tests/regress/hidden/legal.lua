-- SPDX-License-Identifier: MIT
--
-- Kernels without a mistake, each with something that check mode takes, as in kernels.lua. Each is run a second time
-- with a race at its end, which has to be found. The outcome: nothing is found.

local WRITE <const> = "a[threadIdx.x + 64 * blockIdx.x] = n;"
local CALL <const> = "give(a, n);"

local function helper(front) return front .. " __device__ void give(int *a, int n) { " .. WRITE .. " }" end

local cases = {}
local function case(name, body, before, more)
  local one = { name, "", body, before = before }
  for key, value in pairs(more or {}) do one[key] = value end
  cases[#cases + 1] = one
end

for _, word in ipairs { "noinline", "always_inline", "flatten", "hot", "cold", "unused", "used", "nothrow",
  "__noinline__", "__always_inline__", "__unused__" } do
  case(word, CALL, helper(("__attribute__((%s))"):format(word)))
end
for _, word in ipairs { "maybe_unused", "gnu::noinline", "gnu::unused", "using gnu: cold, noinline",
  "gnu::always_inline",  'deprecated, gnu::noinline', 'deprecated("soon")' } do
  case("[[" .. word .. "]]", CALL, ("[[%s]] "):format(word) .. helper "")
end
case("nodiscard", "(void)give(a, n);", "[[nodiscard]] __device__ int give(int *a, int n) { " .. WRITE .. " return n; }")
case("warn_unused_result", "(void)give(a, n);",
  "__attribute__((warn_unused_result)) __device__ int give(int *a, int n) { " .. WRITE .. " return n; }")
case("noreturn", "if (n == 1) stop();" .. WRITE, "[[noreturn]] __device__ void stop() { __trap(); }")
case("likely", "if (n > 0) [[likely]] { " .. WRITE .. " } else [[unlikely]] a[0] = 1;", nil, { std = "c++20" })
case("fallthrough", "switch (n) { case 128: [[fallthrough]]; default: " .. WRITE .. " }")
case("__attribute__((fallthrough))", "switch (n) { case 128: __attribute__((fallthrough)); default: " .. WRITE .. " }")
case("aligned", "*(V *)(a + 2 * (threadIdx.x % 64) * (1 - blockIdx.x)) = V{n, n};",
  "struct __attribute__((aligned(8))) V { int x, y; };", { grid = 1 })
case("__align__", "((V *)a)[threadIdx.x] = V{n, n};", "struct __align__(8) V { int x, y; };", { grid = 1 })
case("alignas", "((V *)a)[threadIdx.x] = V{n, n};", "struct alignas(8) V { int x, y; };", { grid = 1 })
case("a typedef that is aligned", "*(wide *)(a + 2 * threadIdx.x) = n;",
  "typedef int wide __attribute__((aligned(8)));", { grid = 1 })
case("packed", "((P *)a)[threadIdx.x].y = n;", "struct __attribute__((packed)) P { char x; int y; };", { grid = 1 })
case("may_alias", "((word *)a)[threadIdx.x] = n;", "typedef unsigned __attribute__((may_alias)) word;", { grid = 1 })
case("a variable that is aligned", "__shared__ __attribute__((aligned(16))) int s[64]; s[threadIdx.x] = n; "
  .. "__syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x];", nil, { grid = 1 })
case("no_unique_address", WRITE .. " S s; (void)s;", "struct E {}; struct S { [[no_unique_address]] E e; int x; };",
  { std = "c++20" })
case("an attribute of a variable", "[[maybe_unused]] int x = n;" .. WRITE)
case("an attribute of a parameter", CALL, (helper(""):gsub("int n", "[[maybe_unused]] int n")))
case("a macro of attributes", CALL, "#define FORCE __attribute__((always_inline)) inline\n" .. helper "FORCE")
case("__launch_bounds__", WRITE, nil, { head = "" , bounds = "__launch_bounds__(64)" })
case("__noinline__ and __forceinline__", "one(a, n); if (n == 1) two(a, n);",
  "__noinline__ __device__ void one(int *a, int n) { " .. WRITE .. " }\n"
  .. "__forceinline__ __device__ void two(int *a, int n) { " .. WRITE .. " }")

for _, text in ipairs { "unroll", "unroll 4", "unroll(2)", "nounroll", "GCC unroll 2", "GCC ivdep" } do
  case("#pragma " .. text, ("\n#pragma %s\nfor (int i = 0; i < 4; i++) { %s }"):format(text, WRITE))
end
for _, text in ipairs { "omp parallel for", "omp simd", "acc loop", "STDC FP_CONTRACT ON", "warning(disable: 4996)",
  "nv_diag_suppress 177", "nv_diag_default 177", "diag_suppress 177", "nv_diagnostic push", "GCC diagnostic push",
  'GCC diagnostic ignored "-Wunused"', "clang diagnostic push", 'clang diagnostic ignored "-Wunused"', "region one",
  "hd_warning_disable", "nv_exec_check_disable", 'comment(lib, "x")' } do
  case("#pragma " .. text, "\n#pragma " .. text .. "\n;" .. WRITE, "#pragma " .. text)
end
case("#pragma pack", "((P *)a)[threadIdx.x].y = n;",
  "#pragma pack(push, 1)\nstruct P { char x; int y; };\n#pragma pack(pop)", { grid = 1 })
case("#pragma once", CALL, '#include "give.h"\n#include "give.h"',
  { files = { ["give.h"] = "#pragma once\n" .. helper "" } })
case("_Pragma", '_Pragma("unroll") for (int i = 0; i < 4; i++) { ' .. WRITE .. " }")
case("a macro of _Pragma", "DO(unroll 2) for (int i = 0; i < 4; i++) { " .. WRITE .. " }", "#define DO(x) _Pragma(#x)")

for _, text in ipairs { "__builtin_expect(n, 1)", "__builtin_popcount(n)", "__builtin_popcountll(n)",
  "__builtin_clz(n)", "__builtin_ctzl(n)", "__builtin_ffsll(n)", "__builtin_parity(n)", "__builtin_bswap32(n)",
  "(int)__builtin_sqrtf(n)",
  "(int)__builtin_fma(n, n, n)", "(int)__builtin_inff()", "__builtin_isnan((float)n)", "__builtin_abs(-n)",
  "__builtin_LINE()", "(int)__builtin_offsetof(int4, y)", "(int)__builtin_fabs(-1.0 * n)", "(int)__builtin_huge_val()",
  "(int)(NAN == NAN) + (int)(n < INFINITY)", "(int)offsetof(int4, z)", "(int)(size_t)NULL" } do
  case(text, ("n = n + 0 * (%s); "):format(text) .. WRITE, "#include <math.h>\n#include <stddef.h>")
end
case("__builtin_add_overflow", "int x; __builtin_add_overflow(n, 1, &x);" .. WRITE)
case("__builtin_assume", "__builtin_assume(n > 0);" .. WRITE)
case("__assume", "__assume(n > 0);" .. WRITE)
case("__builtin_assume_aligned",
  "int *b = (int *)__builtin_assume_aligned(a, 16); b[threadIdx.x + 64 * blockIdx.x] = n;")
case("__builtin_unreachable", "if (n < 0) __builtin_unreachable();" .. WRITE)
case("__builtin_trap", "if (n < 0) __builtin_trap();" .. WRITE)
case("__builtin_prefetch", "__builtin_prefetch(a);" .. WRITE)
case("__builtin_alloca", "int *x = (int *)__builtin_alloca(16); x[0] = n; n = x[0];" .. WRITE)
case("sincosf of variables", "float s, c; sincosf(n, &s, &c); n = (int)(s * s + c * c + 0.5f);" .. WRITE)
case("frexp, modf and remquo of variables",
  "int e; double w; n = frexp(4.0, &e) + modf(1.5, &w) + remquof(7, 2, &e);" .. WRITE)
case("memcmp of variables", "int x = n; n = memcmp(&x, &n, 4);" .. WRITE)
case("fabsf, floor and fma", "n = (int)(fabsf(-n) + floor(n + 0.5) + fma(1.0, n, 2.0) + sqrtf(n));" .. WRITE)
case("__match_all_sync", "int all; __match_all_sync(~0u, n, &all); n = all;" .. WRITE)
case("PTX", 'int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); asm volatile("st.global.u32 [%0], %1;" : : '
  .. '"l"(a + threadIdx.x + 64 * blockIdx.x), "r"(x) : "memory");')
case("a flag of PTX", 'int x = 0; if (threadIdx.x == 0 && blockIdx.x == 1) '
  .. 'asm volatile("st.volatile.global.u32 [%0], 1;" : : "l"(a) : "memory");\n'
  .. 'if (threadIdx.x == 0 && blockIdx.x == 0) do asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(a) '
  .. ': "memory"); while (!x && n == 1);')
case("names that begin with two underscores", "__add(a, n);", (helper(""):gsub("give", "__add")))
case("_Pragma and what hosts have", '_Pragma("unroll") for (int i = 0; i < 4; i++) { ' .. WRITE .. " }",
  "#include <vector>\nstatic std::vector<int> kept;", { only = "clang++" })
case("what hosts have", WRITE, [[
#include <vector>
#include <string>
#include <stdio.h>
#include <immintrin.h>
#include <omp.h>
#include <unistd.h>
#pragma GCC push_options
#pragma GCC optimize("O3")
__attribute__((constructor)) static void begin() { asm volatile("nop"); }
#pragma GCC pop_options
static long double sum(const std::vector<long double> &x) { long double s = 0; for (auto v : x) s += v; return s; }
static void store(int *a) { _mm_stream_si32(a, __builtin_ia32_rdtsc()); __atomic_store_n(a, 1, __ATOMIC_RELEASE); }
]])
return cases
