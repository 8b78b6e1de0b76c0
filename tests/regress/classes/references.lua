-- SPDX-License-Identifier: MIT
--
-- Probes by a reader of the design: writes, coordinates and calls that the text of a kernel does not show;
-- see probes.lua for the form of a case.

local KERNEL = "__global__ void k(int *a, int w) { "
local TILE = "struct Tile { int base; __device__ Tile(int w) : base(w * threadIdx.x) {} };"
local GET = "struct M { int v; __device__ int get() const { return v + threadIdx.x; } };"
local REF = "struct R { int &r; };"
local REFC = "struct R { int &r; __device__ R(int &x) : r(x) {} };"

return {
  -- A. writes that are not seen
  { "friend defined in a class changes its argument", [[struct S { int v; friend __device__ void put(S, int &x) { x =
    threadIdx.x; } };]], "S q{1}; int n = 0; put(q, n);", "t" },
  { "argument converted to a class that holds a reference", REFC .. " __device__ void put(R r) { r.r = threadIdx.x; }",
    "int n = 0; put(n);", "t" },
  { "operator>> of a const stream", [[struct In { int k; }; __device__ const In &operator>>(const In &i, int &x) { x =
    threadIdx.x + i.k; return i; }]], "In i{2}; int n = 0; i >> n;", "t + 2" },
  { "decltype(auto)", "", "int n = 0; decltype(auto) r = (n); r = threadIdx.x;", "t" },
  { "__builtin_addressof", "", "int n = 0; int *p = __builtin_addressof(n); *p = threadIdx.x;", "t" },
  { "reference to a reference of a parameter", "", "int &r = w, &q = r; q += threadIdx.x; int n = w;", "t + 1" },
  { "parameter held by an aggregate", REF, "R r = {w}; r.r = threadIdx.x; int n = w;", "t" },
  { "parameter swapped", "template <class T> __device__ void swap2(T &a, T &b) { T c = a; a = b; b = c; }",
    "int m = threadIdx.x; swap2(w, m); int n = w;", "t" },
  { "parameter through a captured reference", "", "[&, &r = w] { r = threadIdx.x; }(); int n = w;", "t" },
  { "pointer parameter moved through a reference", "", "int *b = a; int *&r = b; r += threadIdx.x; int"
    .. " n = (int)(b - a);", "t" },
  { "range-for by reference over locals", "", "int l[2] = {0, 0}; for (auto &e : l) e = threadIdx.x;"
    .. " int n = l[1];", "t" },
  { "placement new", "#include <new>\n", "int n = 0; int *p = new (&n) int(threadIdx.x); n = *p;", "t" },

  -- B. ::threadIdx in what the kernel does not name
  { "method of an unnamed class", [[typedef struct { int v; __device__ int get() const { return v + threadIdx.x; } }
    N;]], "N m{3}; int n = m.get();", "t + 3" },
  { "static method of an alias", "struct S { static __device__ int get() { return threadIdx.x; } }; using Z = S;",
    "int n = Z::get();", "t" },
  { "variable template of a class", GET .. " template <int V> __device__ M mm = {V};", "int n = mm<3>.get();", "t + 3"
    },

  -- C. pure helpers that are not
  { "helper with static_cast to a typedef", TILE .. " typedef Tile ti; __device__ int f(int w)"
    .. " { return static_cast<ti>(w).base; }", "int n = f(4);", "4 * t" },
  { "helper with an alias's static max", [[struct S { static __device__ int max(int a, int b) { return a + b +
    threadIdx.x; } }; typedef S Z; __device__ int f(int w) { return Z::max(w, 1); }]], "int n = f(2);", "t + 3" },

  -- D. types
  { "nested class of a vector's name", "struct S { struct int2 { int x; __device__ int2() : x(threadIdx.x) {} };"
    .. " };", "S::int2 v; int n = v.x;", "t" },
  { "nested alias of a scalar typedef's name", [[struct Ix { int x; __device__ Ix() : x(threadIdx.x) {} }; struct S {
    typedef Ix real; }; typedef float real;]], "S::real v; int n = v.x;", "t" },
  { "class of a namespace with a scalar's alias", [[namespace q { struct word { int x; __device__ word() :
    x(threadIdx.x) {} }; } typedef int word;]], "q::word v; int n = v.x;", "t" },
  { "member type of a template class", "template <class T> struct W { struct in { T x; __device__"
    .. " in() : x(threadIdx.x) {} }; };", "W<int>::in v; int n = v.x;", "t" },
  { "static constexpr member as a bound", "template <int N> struct C { static constexpr int size = N * 2; };",
    "int n = 0; for (int i = 0; i < C<3>::size; i++) n += threadIdx.x;", "6 * t" },
  { "bound by a method", "struct Z { int v; __device__ int size() const { return v + threadIdx.x % 3; } };",
    "Z z{2}; int n = 0; for (int i = 0; i < z.size(); i++) n++;", "2 + t % 3" },
  { "union with a constructor", "union U { int i; float f; __device__ U(int x) : i(x + threadIdx.x) {} };",
    "U u(3); int n = u.i;", "t + 3" },
  { "unnamed union in the body", "", "union { int i; unsigned u; } v; v.u = threadIdx.x; int n = v.i;", "t" },
  { "conversion to a pointer", "struct P { int *p; __device__ operator int *() const { return p + threadIdx.x; } };",
    "int l[64]; for (int i = 0; i < 64; i++) l[i] = i; P p{l}; int n = *p;", "t" },
  { "conversion operator template", "struct A { template <class T> __device__ operator"
    .. " T() const { return threadIdx.x; } };", "A q; int n = q;", "t" },
  { "deduction guide", "template <class T> struct W { T x; __device__ W(T y) : x(y + threadIdx.x) {} };",
    "W q(3); int n = q.x;", "t + 3" },
  { "while that declares", "", "int n = 0, m = threadIdx.x; while (int q = m) { n += q; m = q - 1; }",
    "t * (t + 1) // 2" },
  { "recursion in a template", "template <int N> __device__ int f(int x) { if constexpr (N > 0) return f<N - 1>(x)"
    .. " + threadIdx.x; else return x; }", "int n = f<3>(1);", "3 * t + 1" },
  { "local that hides blockIdx", "", "uint3 blockIdx = threadIdx; int n = blockIdx.x;", "t", refused = "is named" },
  { "static local counter's address", "__device__ int f() { static int c[64]; c[threadIdx.x] = threadIdx.x; return"
    .. " c[threadIdx.x]; }", "int n = f();", "t" },
  { "function that returns a lambda", "__device__ auto make(int k) { return [k] { return k + (int)threadIdx.x;"
    .. " }; }", "auto f = make(2); int n = f();", "t + 2" },

  -- E. conditions and loops around barriers
  { "loop over a range class around a barrier", [[struct It { int i; __device__ int operator*() const { return i; }
    __device__ It &operator++() { i++; return *this; } __device__ bool operator!=(It o) const { return i != o.i; } };
    struct Rg { int n; __device__ It begin() const { return {0}; } __device__ It end() const { return {n}; } };]],
    KERNEL .. [[__shared__ int s[64]; int n = threadIdx.x; for (int i : Rg{3}) { s[threadIdx.x] = n + i;
    __syncthreads(); n = s[63 - threadIdx.x]; __syncthreads(); } a[threadIdx.x] = n; }]], "63 - t + 3" },
  { "count changed in the loop by a friend", [[struct S { int v; friend __device__ void put(S s, int &x) { x += s.v; }
    };]], KERNEL .. [[__shared__ int s[64]; int n = 0; S q{(int)threadIdx.x}; for (int i = 0; i < 2; i++) { put(q, n);
    s[threadIdx.x] = n; __syncthreads(); n += s[63 - threadIdx.x]; __syncthreads(); } a[threadIdx.x] = n; }]],
    "63 + t + 63 + 63 - t" },
  { "view that knows its thread", [[struct V { int *p; __device__ int &mine() const { return p[threadIdx.x]; }
    __device__ int &other() const { return p[63 - threadIdx.x]; } }; using Vw = V;]], KERNEL .. [[__shared__ int s[64];
    Vw v{s}; v.mine() = threadIdx.x; __syncthreads(); a[threadIdx.x] = v.other(); }]], "63 - t" },
  { "class with a wait in a method of a device object", [[struct Fl { volatile int v; __device__ void wait() { while
    (!v) ; } __device__ void set() { v = 1; } }; __device__ Fl fl;]], KERNEL .. [[if (threadIdx.x == 0) { fl.wait();
    a[0] = fl.v; } else { a[threadIdx.x] = 1; if (threadIdx.x == 63) fl.set(); } }]], "1" },
  { "uniform pointer in a class, walked in step", [[struct Cur { const int *&p; __device__ int next() { return *p++; }
    };]], KERNEL .. [[__shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads(); const int *p = s + w; Cur
    c{p}; int n = 0; for (unsigned i = 0; i < threadIdx.x % 3; i++) n = c.next(); __syncthreads(); a[threadIdx.x] =
    (int)(p - s) + n; }]], "1 + t % 3 + t % 3" },
  { "template kernel's parameter is a functor with a method", [[struct F { int k; __device__ int apply(int x) const {
    return x + k + threadIdx.x; } }; __device__ F make(int k) { return F{k}; }]], KERNEL ..
    "const auto f = make(w); a[threadIdx.x] = f.apply(1); }", "t + 2" },
}
