-- SPDX-License-Identifier: MIT
--
-- What a default branch took for known, found by reading them: casts to types of another scope, members and operators
-- by a template's parameter, friends, traits of references, constants that change, globals of unusual declarations,
-- what C++ evaluates in front of a helper, names of a helper that the kernel hides, overloads out of sight, and words
-- of the warp operations. See probes.lua for the form. Several forms share a kernel; each has a digit of the result.

local KERNEL = "__global__ void k(int *a, int w) { int t = threadIdx.x; "
local BEGIN = KERNEL .. "__syncthreads(); "
local W = [[struct W { int k; __device__ void operator+=(int &x) { x = k + threadIdx.x; } }; __device__ W &operator>>(W
    &r, int &x) { x = r.k + threadIdx.x; return r; } ]]
local STALE = " __syncthreads(); if (t == 0) "
local BUMP = "__device__ int bump(int &v) { __syncthreads(); v += 1; return 1; } struct P { int x, y; }; "
local TURN = [[__device__ int turn(int *s, int v) { __syncthreads(); s[threadIdx.x] = v; __syncthreads(); return s[63 -
    threadIdx.x]; } ]]
local ALL = "__device__ unsigned all(int &c) { c++; return 0xffffffffu; }"
local GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"

local cases = {
  -- writes that are not seen
  { "addresses behind casts to types of a class, a namespace, two typedefs, a pointer to an array", [[struct S { typedef
    int *ptr; }; namespace q { using p = int *; } typedef int *P, T; typedef int (*arr)[1]; __device__ void put(int *p)
    { *p = threadIdx.x; }]], BEGIN .. [[int n0 = 0, n1 = 0, n2 = 0, n3 = 0; *(S::ptr)&n0 = t; put((q::p)&n1);
    (*(arr)&n2)[0] = t; *(P)&n3 = t; *(S::ptr)&w = t; __syncthreads(); a[t] = n0 + 2 * n1 + 4 * n2 + 8 * n3 + 16 * w;
    }]], "31 * t", engine = "split" },
  { "address behind a cast to a concept's type", "template <class T> concept P = sizeof(T) == 8;", "template <P T> "
    .. BEGIN .. [[int n = 0; *(T)&n = t; __syncthreads(); a[t] = n; }]],
    "t", kernel = "k<int *>", std = "c++20", alone = true },
  { "members of a template's parameter that has the name of another type, and of __typeof__", "typedef int T; " .. W
    .. [[template <class T> struct A { T x; }; template <class uint> struct B { uint b; }; struct C { __typeof__(W{}) y;
    };]], BEGIN .. [[A<W> p{{3}}; B<W> q{{4}}; C r{{5}}; int n0 = 0, n1 = 0, n2 = 0, n3 = 0; p.x >> n0; q.b >> n1; r.y
    >> n2; p.x += n3; __syncthreads(); a[t] = n0 + 100 * n1 + 10000 * n2 + 1000000 * n3; }]],
    "3050403 + 1010101 * t", engine = "split" },
  { "friends with throw() or an attribute behind, one of a built-in's name", [[struct S { int v; friend __device__ int
    &put(S s, int &x) throw() { x = s.v + threadIdx.x; return x; } friend __device__ int *max(S s, int &x)
    __attribute__((noinline)) { x = s.v + threadIdx.x; return &x; } };]], BEGIN .. [[S q{3}; int n0 = 0, n1 = 0; put(q,
    n0); max(q, n1); __syncthreads(); a[t] = n0 + 100 * n1; }]], "303 + 101 * t", engine = "split" },
  { "references by a trait of decltype, and by the default of a template", [[typedef int T; __device__ int g; template
    <class U> struct id { typedef U type; }; __device__ void put(id<decltype((g))>::type x) { x = threadIdx.x; }
    template <class T = decltype((g))> struct In { int k; __device__ void operator>>(T x) const { x = k + threadIdx.x; }
    };]], BEGIN .. "In<> q{3}; int n0 = 0, n1 = 0; put(n0); q >> n1; __syncthreads(); a[t] = n0 + 100 * n1; }",
    "300 + 101 * t", engine = "split" },

  -- where a statement ends
  { "name in an if constexpr that hides another", "", [[int m = threadIdx.x, n = 0; if constexpr (constexpr int m = 3; m
    > 2) { n = m; } n += m;]], "t + 3" },
  { "name of a loop in front of a pragma, and in front of [[likely]], that hides another", "", [==[int m = threadIdx.x,
    n = 0; for (int m = 0; m < 2; m++)
    #pragma unroll
    for (int j = 0; j < 2; j++) { n += m; }
    if (int m = 3; m > 2) [[likely]] { n += m; } n += m;]==], "t + 5" },

  -- what changes though it is a constant, or is not found
  { "members of constants: const in a template's argument, mutable, references, and their objects' alias", [[template
    <class T> struct Box { T k; int v; }; struct M { int k; mutable int v; }; struct R { int &r; }; typedef int &ir;
    __device__ Box<const int> b = {1, 1}; __device__ const M m = {1, 1}; __device__ int g = 1, h = 1; __device__ const
    ir r = g; __device__ constexpr R q{h};]], BEGIN .. [[constexpr R p{h}; int n0 = b.v + t, n1 = m.v + t, n2 = r + t,
    n3 = q.r + t, n4 = p.r + t;]] .. STALE .. [[b.v = m.v = g = h = 2; __syncthreads(); a[t] = n0 + n1 + n2 + n3 + n4;
    }]], "5 + 5 * t" },
  { "bounds check by a constant of a template's argument", [[template <class T> struct Box { T k; int v; }; __device__
    Box<const int> b = {1, 64};]], BEGIN .. [[a[t] = 0; if (t == 0) b.v = 10; __syncthreads(); if (t < b.v) a[t] = 1;
    }]], "t < 10 and 1 or 0" },
  { "sibling: members of constants", "struct C { int m, n; }; constexpr C c{8, 64};", BEGIN .. [[__shared__ int s[c.n];
    int i = t + c.m; s[t] = i; __syncthreads(); if (i < c.n) a[t] = s[63 - t] + i; else a[t] = 0; }]],
    "t < 56 and 79 or 0", engine = "split" },
  { "variables of a namespace behind an attribute, in parentheses, by decltype and __typeof__", [[namespace q {
    __device__ int u __attribute__((aligned(8))) = 1; __device__ int v(1); __device__ decltype(1) x = 1; __device__
    __typeof__(1) y = 1; }]], BEGIN .. "int n0 = q::u + t, n1 = q::v + t, n2 = q::x + t, n3 = q::y + t;" .. STALE
    .. "q::u = q::v = q::x = q::y = 2; __syncthreads(); a[t] = n0 + n1 + n2 + n3; }", "4 + 4 * t" },

  -- the order of C++, and what is not computed
  { "the program's << with an effect in front of a helper", [[struct L { int v; __device__ L &operator<<(int x) { v = v
    * 100 + x; return *this; } }; __device__ int ask(L &l) { __syncthreads(); return l.v % 50; }]], KERNEL ..
    "L l{t}; l << 3 << ask(l); a[t] = l.v; }", "(t * 100 + 3) * 100 + (t * 100 + 3) % 50" },
  { "sibling: numbers, coordinates and variables in front of helpers", TURN .. "struct P { int x, y; };", KERNEL ..
    [[ __shared__ int s[64], q[64]; q[t] = t; int n = 1 << turn(s, t % 8); P p{t, turn(s, t)}; int m = q[turn(s, t)], o
    = t > turn(s, t), e[2] = {turn(s, t), turn(s, t + 1)}; a[t] = n + p.x + p.y + m + o + e[0] + 1000 * e[1]; }]], [[(1
    << (63 - t) % 8) + 63 + 2 * (63 - t) + (t > 31 and 1 or 0) + 1000 * (64 - t)]], engine = "split" },
  -- names of helpers
  { "typedef of a helper's namespace that another hides", [[namespace h { typedef signed char T; __device__ int f(int
    *s, int v) { T u = v; s[threadIdx.x] = u; __syncthreads(); return s[63 - threadIdx.x]; } } namespace m { using
    namespace h; typedef int T;]], KERNEL .. "__shared__ int s[64]; a[t] = f(s, t * 5); } }",
    "((63 - t) * 5 + 128) % 256 - 128", kernel = "m::k", alone = true },
  { "shared arrays of one name in a helper, and of names that run together", [[__device__ int f(int t) { int out = 0;
    for (int r = 0; r < 2; r++) { { __shared__ int g_s[64]; if (r == 0) g_s[t] = t; __syncthreads(); if (r == 1) out =
    g_s[63 - t]; } { __shared__ int g_s[64]; g_s[t] = 1000; __syncthreads(); } } return out; } __device__ int last(int
    t, int x) { __shared__ int g_s[64]; if (x) g_s[t] = x; __syncthreads(); return g_s[63 - t]; } __device__ void
    last_g(int t, int x) { __shared__ int s[64]; s[t] = x; __syncthreads(); }]], KERNEL .. [[int n = last(t, t + 1);
    last_g(t, 1000); n += f(t); __syncthreads(); a[t] = n + last(t, 0); }]], "191 - 3 * t", engine = "split" },
  { "requires behind the parameters", [[template <class T> __device__ int f(T v) requires (sizeof(T) == 8) {
    __syncthreads(); return 1; } __device__ int f(long v) { __syncthreads(); return 2; }]], KERNEL ..
    "a[t] = f(3) + t; }", "2 + t", std = "c++20", alone = true },
  { "deleted overload", "__device__ int f(long v) { __syncthreads(); return v; } __device__ int f(float) = delete;",
    KERNEL .. "a[t] = f(3L) + t; }", "3 + t", engine = "split" },
  { "the name of the kernel", "", KERNEL .. [[const char *p = __builtin_FUNCTION(); int n = 0; while (p[n]) n++;
    __syncthreads(); a[t] = n; }]], "1", alone = true },

  -- words of warp operations
  { "narrow types are shuffled as int, bits reduced as unsigned", [[__device__ int kind(int) { return 1; } __device__
    int kind(char) { return 2; } __device__ int kind(unsigned) { return 3; }]], KERNEL .. [[char c = t; unsigned char u
    = 200; bool b = t & 1; auto v = __shfl_xor_sync(~0u, u, 1); v += 100; int n = kind(__shfl_sync(~0u, c, 0)), m =
    kind(__reduce_or_sync(~0u, -t)), o = kind(__shfl_up_sync(~0u, b, 1)); a[t] = v + 1000 * n + 10000 * m + 100000 * o;
    }]], "131300", engine = "split" },
  { "floats match by their bits", "", KERNEL .. [[float f = t & 1 ? 0.f : -0.f, g = __int_as_float(0x7fc00000); double d
    = f; int p; unsigned m = __match_any_sync(~0u, f), n = __match_any_sync(~0u, g), o = __match_any_sync(~0u, d), q =
    __match_all_sync(~0u, f, &p); a[t] = __popc(m) + 100 * __popc(n) + 10000 * __popc(o) + q + p; }]], "163216", engine
    = "split" },
}

-- What takes fibers stands alone: name, in front, body, element.
local function add(name, front, body, element, more)
  local case = { name, front, body:find "__global__" and body or KERNEL .. body, element }
  for key, value in pairs(more or {}) do case[key] = value end
  cases[#cases + 1] = case
end

for _, it in ipairs {
  { "int e[2] = {v, bump(v)}; a[t] = e[0]; }", "t" }, { "P p{v, bump(v)}; a[t] = p.x; }", "t" },
  { "P p; p = {v, bump(v)}; a[t] = p.x; }", "t" }, { "a[t] = f({v, bump(v)}); }", "t" },
  { "v &= 7; a[t] = v << bump(v); }", "t % 8 * 2" },
  { "if ((v << bump(v)) > 20) v = -1; a[t] = v; }", "t > 10 and -1 or t + 1" },
  { "int o[65][2] = {}; o[v][1] = v; a[t] = o[v][bump(v)]; }", "t" },
  { "int e[2] = {v, __any_sync(~0u, v++ > 100)}; a[t] = e[0]; }", "t" },
  { "int e[2] = {v, __syncthreads_count(v++ > 9)}; a[t] = e[0]; }", "t" },
  { "a[t] = sizeof(bump(v)) + v; }", "4 + t" }, { "a[t] = sizeof bump(v) + v; }", "4 + t" },
  { "a[t] = noexcept(bump(v)) + v; }", "t" }, { "a[t] = sizeof(__shfl_sync(~0u, v++, 0)) + v; }", "4 + t" },
} do add("order: " .. it[1], BUMP .. "__device__ int f(P p) { return p.x; }", "int v = t; " .. it[1], it[2]) end
add("shared memory read in braces in front of a helper", TURN, [[__shared__ int s[64]; s[t] = t; int e[2] = {s[t],
  turn(s, t + 100)}; a[t] = e[0]; }]], "t")
for _, it in ipairs {
  { "a[t] = __shfl_xor_sync(all(c), t, 1) + 100 * c; }", "(t ~ 1) + 100" },
  { "a[t] = __any_sync(all(c), t > 3) + 100 * c; }", "101" },
} do add("mask with an effect: " .. it[1], ALL, "int c = 0; " .. it[1], it[2]) end
for _, it in ipairs {
  { "int c = 8; auto p = cg::tiled_partition(cg::this_thread_block(), c); c = 16; p.sync(); a[t] = p.size(); }", "8" },
  { [[constexpr int c = 8; auto p = cg::tiled_partition<c>(cg::this_thread_block()); { constexpr int c = 16; p.sync();
    a[t] = p.size() + c; } }]], "24" },
} do add("size of a tile: " .. it[1], GROUPS, it[1], it[2], { alone = true }) end
local NAMES = "typedef int T; constexpr int N = 7; __device__ "
local BODY = " s[threadIdx.x] = v * 5; __syncthreads(); return s[63 - threadIdx.x]"
for _, it in ipairs {
  { "int f(int *s, T v) {%s; } |typedef signed char T; T q = 1; a[t] = f(s, t * 5) + q; }", "(63 - t) * 25 + 1" },
  { "T f(int *s, int v) {%s; } |typedef signed char T; T q = 1; a[t] = f(s, t) + q; }", "(63 - t) * 5 + 1" },
  { "int f(int *s, int v) {%s + N; } template <class T, int N> |a[t] = f(s, t); }", "(63 - t) * 5 + 7" },
  { "int f(int *s, T v) {%s; } template <class T, int N> |a[t] = f(s, t * 5); }", "(63 - t) * 25" },
  { "int f(int *s, int v, int k = N) {%s + k; } template <class T, int N> |a[t] = f(s, t); }", "(63 - t) * 5 + 7" },
} do
  local front, body = it[1]:format(BODY):match "(.*)|(.*)"
  local template = front:find "template" and { kernel = "k<signed char, 1>", alone = true } or nil
  add("hidden: " .. it[1], NAMES .. front, KERNEL .. "__shared__ int s[64]; " .. body, it[2], template)
end
local function f(result) return "__device__ int f(%s v) { __syncthreads(); return " .. result .. "; } " end
for _, it in ipairs {
  { f(1):format "long", f(2):format "int" },
  { "namespace q { " .. f(2):format "int" .. "} " .. f(1):format "long", "" },
  { "namespace q { " .. f(2):format "int" .. "} __device__ int f(long v) { return 1; }", "" },
} do add("overload " .. it[1], it[1], "int n = f(3); __syncthreads(); a[t] = n + t; } " .. it[2], "1 + t") end

-- Loads that must not cross a store, as optimised code may: of element 4 t, and behind a store of 4 t + 1 of that.
local function loads(name, front, declared, element)
  local function at(index) return element:format(index) end
  add(name, front, declared .. " int x = " .. at "4 * t" .. "; " .. at "4 * t + w" .. " = x + 7; int y = "
    .. at "4 * t + 1" .. "; a[4 * t + 2] = y; a[4 * t + 3] = x; }", "(t % 4 == 1 or t % 4 == 2) and 7 or 0",
    { size = 256 })
end
loads("loads by a member", "struct V { int *m; }; struct U { V v; };", "U u{{a}};", "u.v.m[%s]")
loads("loads by pointers in an array", "typedef int *ip; struct R { ip p[2]; };", "R r{{a, a}};", "r.p[0][%s]")
loads("loads by a lambda", "", "auto at = [&](int i) -> int & { return a[i]; };", "at(%s)")
loads("loads by a helper", "__device__ int &at(int *a, int i) { return a[i]; }", "", "at(a, %s)")
add("loads by members as indices", "struct Q { int x, y, z; };", [[Q q{4 * t, 4 * t + w, 4 * t + 1}; int x = q.x[a];
  q.y[a] = x + 7; int y = q.z[a]; a[4 * t + 2] = y; }]], "(t % 4 == 1 or t % 4 == 2) and 7 or 0", { size = 256 })
return cases
