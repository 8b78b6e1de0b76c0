-- SPDX-License-Identifier: MIT
--
-- Probes by a reader of the design: writes, coordinates and calls that the text of a kernel does not show;
-- see probes.lua for the form of a case.

local TID = "struct Tid { __device__ operator int() const { return threadIdx.x; } };"
local TILE = "struct Tile { int base; __device__ Tile(int w) : base(w * threadIdx.x) {} };"
local GET = "struct M { int v; __device__ int get() const { return v + threadIdx.x; } };"
local PUT = "__device__ void put(int &x) { x = threadIdx.x; }"
local REF = "struct R { int &r; };"
local REFC = "struct R { int &r; __device__ R(int &x) : r(x) {} };"

return {
  -- A. writes that are not seen
  { "friend defined in a class changes its argument",
    "struct S { int v; friend __device__ void put(S, int &x) { x = threadIdx.x; } };", "S q{1}; int n = 0; put(q,"
    .. " n);", "t" },
  { "parameter of a typedef of a reference", "typedef int &ir; __device__ void put(ir x) { x = threadIdx.x; }",
    "int n = 0; put(n);", "t" },
  { "argument converted to a class that holds a reference", REFC .. " __device__ void put(R"
    .. " r) { r.r = threadIdx.x; }",
    "int n = 0; put(n);", "t" },
  { "aggregate that holds a reference, R{n}", REF, "int n = 0; auto r = R{n}; r.r = threadIdx.x;", "t" },
  { "assignment that changes its right side", "struct A { int k; __device__ void operator=(int &x)"
    .. " { x = threadIdx.x; } };",
    "A q{1}; int n = 0; q = n;", "t" },
  { "operator>> of a const stream",
    "struct In { int k; }; __device__ const In &operator>>(const In &i, int &x) { x = threadIdx.x + i.k; return i; }",
    "In i{2}; int n = 0; i >> n;", "t + 2" },
  { "decltype((n))", "", "int n = 0; decltype((n)) r = n; r = threadIdx.x;", "t" },
  { "decltype(auto)", "", "int n = 0; decltype(auto) r = (n); r = threadIdx.x;", "t" },
  { "__builtin_addressof", "", "int n = 0; int *p = __builtin_addressof(n); *p = threadIdx.x;", "t" },
  { "auto & of a parameter", "", "auto &r = w; r = threadIdx.x; int n = w;", "t" },
  { "reference to a reference of a parameter", "", "int &r = w, &q = r; q += threadIdx.x; int n = w;", "t + 1" },
  { "decltype((w)) of a parameter", "", "decltype((w)) r = w; r = threadIdx.x; int n = w;", "t" },
  { "parameter changed by a friend", "struct S { int v; friend __device__ void put(S, int &x) { x = threadIdx.x;"
    .. " } };",
    "S q{1}; put(q, w); int n = w;", "t" },
  { "parameter held by an aggregate", REF, "R r = {w}; r.r = threadIdx.x; int n = w;", "t" },
  { "parameter copied into a class that holds it", REFC, "R r = w; r.r = threadIdx.x; int n = w;", "t" },
  { "parameter changed by += of a class", "struct A { int k; __device__ void operator+=(int &x)"
    .. " { x = threadIdx.x; } };",
    "A q{1}; q += w; int n = w;", "t" },
  { "parameter swapped", "template <class T> __device__ void swap2(T &a, T &b) { T c = a; a = b; b = c; }",
    "int m = threadIdx.x; swap2(w, m); int n = w;", "t" },
  { "parameter through a captured reference", "", "[&, &r = w] { r = threadIdx.x; }(); int n = w;", "t" },
  { "pointer parameter moved through a reference", "", "int *b = a; int *&r = b; r += threadIdx.x; int"
    .. " n = (int)(b - a);", "t" },
  { "chained set", "struct S { int v; __device__ S &set(int x) { v = x; return *this; } };",
    "S q; int n = q.set(1).set(threadIdx.x).v;", "t" },
  { "range-for by reference over locals", "", "int l[2] = {0, 0}; for (auto &e : l) e = threadIdx.x;"
    .. " int n = l[1];", "t" },
  { "structured binding by reference of a vector", "", "int2 v = make_int2(0, 0); auto &[x, y] = v;"
    .. " y = threadIdx.x; int n = v.y;", "t" },
  { "non-type template argument, function that changes, with a barrier",
    PUT .. " template <void (*F)(int &)> __device__ int call() { int x = 0; F(x); __syncthreads(); return x; }",
    "int n = call<put>();", "t" },
  { "template argument called in a helper with a barrier",
    "struct F { __device__ void operator()(int &x) const { x = threadIdx.x; } };"
    .. " template <class Q> __device__ int call() { int x = 0; Q()(x); __syncthreads(); return x; }",
    "int n = call<F>();", "t" },
  { "pack expanded into references", "template <class... A> __device__ void all(A &...x) { ((x = threadIdx.x),"
    .. " ...); }",
    "int n = 0, m = 0; all(m, n); n += m;", "2 * t" },
  { "placement new", "#include <new>\n", "int n = 0; int *p = new (&n) int(threadIdx.x); n = *p;", "t" },
  { "volatile reference", "", "int n = 0; volatile int &r = n; r = threadIdx.x;", "t" },

  -- B. ::threadIdx in what the kernel does not name
  { "method of an unnamed class", "typedef struct { int v; __device__ int get() const { return v + threadIdx.x;"
    .. " } } N;",
    "N m{3}; int n = m.get();", "t + 3" },
  { "method of a class by a trait", GET .. " struct Tr { typedef M type; };", "Tr::type m{3}; int n = m.get();",
    "t + 3" },
  { "static method of an alias", "struct S { static __device__ int get() { return threadIdx.x; } }; using Z = S;",
    "int n = Z::get();", "t" },
  { "method through a device pointer", GET .. " __device__ M m = {3}; __device__ M *p = &m;", "int n = p->get();",
    "t + 3" },
  { "variable template of a class", GET .. " template <int V> __device__ M mm = {V};", "int n = mm<3>.get();",
    "t + 3" },
  { "method pointer of a device object", GET .. " __device__ M m = {3};", "auto f = &M::get; int n = (m.*f)();",
    "t + 3" },

  -- C. pure helpers that are not
  { "helper with static_cast to a typedef", TILE .. " typedef Tile ti; __device__ int f(int w)"
    .. " { return static_cast<ti>(w).base; }", "int n = f(4);", "4 * t" },
  { "helper with a cast in brackets to a typedef", TILE .. " typedef Tile ti; __device__ int f(int w)"
    .. " { return ((ti)(w)).base; }", "int n = f(4);", "4 * t" },
  { "helper with an alias's static max", "struct S { static __device__ int max(int a, int b)"
    .. " { return a + b + threadIdx.x; } }; typedef S Z;"
    .. " __device__ int f(int w) { return Z::max(w, 1); }", "int n = f(2);", "t + 3" },
  { "helper with a counter of its own", "__device__ int c; __device__ int f(int w) { return atomicAdd(&c, 0) + w;"
    .. " }", "int n = f(2) + threadIdx.x;", "t + 2" },

  -- D. types
  { "nested class of a vector's name", "struct S { struct int2 { int x; __device__ int2() : x(threadIdx.x) {} };"
    .. " };", "S::int2 v; int n = v.x;", "t" },
  { "nested alias of a scalar typedef's name", "struct Ix { int x; __device__ Ix() : x(threadIdx.x)"
    .. " {} }; struct S { typedef Ix real; }; typedef float real;",
    "S::real v; int n = v.x;", "t" },
  { "class of a namespace with a scalar's alias", "namespace q { struct word { int x; __device__"
    .. " word() : x(threadIdx.x) {} }; } typedef int word;",
    "q::word v; int n = v.x;", "t" },
  { "member type of a template class", "template <class T> struct W { struct in { T x; __device__"
    .. " in() : x(threadIdx.x) {} }; };", "W<int>::in v; int n = v.x;", "t" },
  { "class with begin and end", "struct V { int e[3]; __device__ const int *begin() const { return e; } __device__"
    .. " const int *end() const { return e + 3; } };",
    "V v{{1, 2, (int)threadIdx.x}}; int n = 0; for (int e : v) n += e;", "t + 3" },
  { "iterators that are classes", "struct It { int i; __device__ int operator*() const { return i; } __device__"
    .. " It &operator++() { i++; return *this; }"
    .. " __device__ bool operator!=(It o) const { return i != o.i; } }; struct Rg { int n; __device__ It begin()"
    .. " const { return {0}; } __device__ It end() const { return {n}; } };",
    "int n = 0; for (int e : Rg{(int)threadIdx.x}) n += e;", "t * (t - 1) // 2" },
  { "static constexpr member as a bound", "template <int N> struct C { static constexpr int size = N * 2; };",
    "int n = 0; for (int i = 0; i < C<3>::size; i++) n += threadIdx.x;", "6 * t" },
  { "bound by a method", "struct Z { int v; __device__ int size() const { return v + threadIdx.x % 3; } };",
    "Z z{2}; int n = 0; for (int i = 0; i < z.size(); i++) n++;", "2 + t % 3" },
  { "union with a constructor", "union U { int i; float f; __device__ U(int x) : i(x + threadIdx.x) {} };",
    "U u(3); int n = u.i;", "t + 3" },
  { "unnamed union in the body", "", "union { int i; unsigned u; } v; v.u = threadIdx.x; int n = v.i;", "t" },
  { "bit field with a default", "struct F { unsigned a : 4; unsigned b : 8; __device__ F() : a(1), b(threadIdx.x)"
    .. " {} };", "F f; int n = f.b + f.a;", "t + 1" },
  { "conversion to a pointer", "struct P { int *p; __device__ operator int *() const { return p + threadIdx.x; } };",
    "int l[64]; for (int i = 0; i < 64; i++) l[i] = i; P p{l}; int n = *p;", "t" },
  { "conversion operator template", "struct A { template <class T> __device__ operator"
    .. " T() const { return threadIdx.x; } };", "A q; int n = q;", "t" },
  { "deduction guide", "template <class T> struct W { T x; __device__ W(T y) : x(y + threadIdx.x) {} };",
    "W q(3); int n = q.x;", "t + 3" },
  { "initialiser of a static member of a template", "template <class T> struct W { static constexpr T"
    .. " one = 1; };", "int n = W<int>::one + threadIdx.x;", "t + 1" },
  { "while that declares", "", "int n = 0, m = threadIdx.x; while (int q = m) { n += q; m = q - 1; }",
    "t * (t + 1) // 2" },
  { "switch with an initialiser and fallthrough", "", "int n = 0; switch (int q = threadIdx.x & 3; q)"
    .. " { case 1: n += 10; case 2: n += q; break; default: n = 7; }",
    "({ 7, 11, 2, 7 })[t % 4 + 1]" },
  { "recursion in a template", "template <int N> __device__ int f(int x) { if constexpr (N > 0) return f<N - 1>(x)"
    .. " + threadIdx.x; else return x; }", "int n = f<3>(1);", "3 * t + 1" },
  { "macro that declares", "#define DEFINE(name) Tid name; int name##_value = name;\n" .. TID,
    "DEFINE(q) int n = q_value;", "t" },
  { "local that hides blockIdx", "", "uint3 blockIdx = threadIdx; int n = blockIdx.x;", "t", refused = "is named" },
  { "local that hides a function", "__device__ int f(int x) { return x; }", "auto f = [](int x) {"
    .. " return x + (int)threadIdx.x; }; int n = f(1);", "t + 1" },
  { "static local counter's address", "__device__ int f() { static int c[64]; c[threadIdx.x] = threadIdx.x; return"
    .. " c[threadIdx.x]; }", "int n = f();", "t" },
  { "function that returns a lambda", "__device__ auto make(int k) { return [k] { return k + (int)threadIdx.x;"
    .. " }; }", "auto f = make(2); int n = f();", "t + 2" },
  { "spaceship-free comparison chain", "struct C { int v; __device__ C operator<(C o) const"
    .. " { return C{(int)threadIdx.x + o.v}; } __device__ operator int() const { return v; } };",
    "C c{1}, d{2}; int n = c < d;", "t + 2" },

  -- E. conditions and loops around barriers
  { "loop over a range class around a barrier",
    "struct It { int i; __device__ int operator*() const { return i; } __device__ It &operator++() { i++;"
    .. " return *this; }"
    .. " __device__ bool operator!=(It o) const { return i != o.i; } }; struct Rg { int n; __device__ It begin()"
    .. " const { return {0}; } __device__ It end() const { return {n}; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int n = threadIdx.x;
    for (int i : Rg{3}) { s[threadIdx.x] = n + i; __syncthreads(); n = s[63 - threadIdx.x]; __syncthreads(); }
    a[threadIdx.x] = n; }]], "63 - t + 3" },
  { "iterator loop around a barrier", "struct It { int i; __device__ It &operator++() { i++;"
    .. " return *this; } __device__ bool operator<(int o) const { return i < o; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int n = threadIdx.x;
    for (It i{0}; i < 3; ++i) { s[threadIdx.x] = n + i.i; __syncthreads(); n = s[63 - threadIdx.x];
    __syncthreads(); } a[threadIdx.x] = n; }]], "63 - t + 3" },
  { "switch with fallthrough around a barrier", "", [[__global__ void k(int *a, int w) { __shared__ int s[64];
    int n = threadIdx.x;
    switch (w) { case 1: s[threadIdx.x] = n; __syncthreads(); n = s[63 - threadIdx.x]; __syncthreads();
    case 2: n += 5; break; default: n = 0; } a[threadIdx.x] = n; }]], "68 - t" },
  { "different condition hidden in a device object before a barrier", TID .. " __device__ Tid tid;",
    [[__global__ void k(int *a, int w) {
    __shared__ int s[64]; int n = 1; if (tid > 3) n = 2; s[threadIdx.x] = n; __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63 - t > 3 and 2 or 1" },
  { "count changed in the loop by a friend", "struct S { int v; friend __device__ void put(S"
    .. " s, int &x) { x += s.v; } };", [[__global__ void k(int *a, int w) {
    __shared__ int s[64]; int n = 0; S q{(int)threadIdx.x}; for (int i = 0; i < 2; i++) { put(q, n);
    s[threadIdx.x] = n; __syncthreads(); n += s[63 - threadIdx.x]; __syncthreads(); }
    a[threadIdx.x] = n; }]], "63 + t + 63 + 63 - t" },
  { "early return in a lambda around a barrier", "", [[__global__ void k(int *a, int w) { __shared__ int s[64];
    auto f = [&] { if (threadIdx.x > 9) return 1; return 2; }; s[threadIdx.x] = f(); __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63 - t > 9 and 1 or 2" },
  { "view of shared memory", "struct V { int *p; __device__ int &operator[](int i) const { return p[i]; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; V v{s}; v[threadIdx.x] = threadIdx.x;
    __syncthreads(); a[threadIdx.x] = v[63 - threadIdx.x]; }]], "63 - t" },
  { "view that knows its thread", "struct V { int *p; __device__ int &mine() const { return"
    .. " p[threadIdx.x]; } __device__ int &other() const { return p[63 - threadIdx.x]; } }; using Vw = V;",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; Vw v{s}; v.mine() = threadIdx.x; __syncthreads();
    a[threadIdx.x] = v.other(); }]], "63 - t" },
  { "counter class with atomics", "struct Ct { int *p; __device__ void operator++() { atomicAdd(p, 1); } };",
    [[__global__ void k(int *a, int w) { __shared__ int c; if (threadIdx.x == 0) c = 0; __syncthreads(); Ct q{&c};
    ++q; __syncthreads(); a[threadIdx.x] = c; }]], "64" },
  { "class with a wait in a method of a device object",
    "struct Fl { volatile int v; __device__ void wait() { while (!v) ; } __device__ void set()"
    .. " { v = 1; } }; __device__ Fl fl;",
    [[__global__ void k(int *a, int w) { if (threadIdx.x == 0) { fl.wait(); a[0] = fl.v; } else {
    a[threadIdx.x] = 1; if (threadIdx.x == 63) fl.set(); } }]], "1" },
  { "uniform pointer in a class, walked in step", "struct Cur { const int *&p; __device__ int next()"
    .. " { return *p++; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads();
    const int *p = s + w; Cur c{p};
    int n = 0; for (unsigned i = 0; i < threadIdx.x % 3; i++) n = c.next(); __syncthreads();
    a[threadIdx.x] = (int)(p - s) + n; }]], "1 + t % 3 + t % 3" },
  { "template kernel's parameter is a functor with a method", "struct F { int k; __device__ int apply(int x) const"
    .. " { return x + k + threadIdx.x; } }; __device__ F make(int k) { return F{k}; }",
    [[__global__ void k(int *a, int w) { const auto f = make(w); a[threadIdx.x] = f.apply(1); }]], "t + 2" },
}
