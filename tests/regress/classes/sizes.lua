-- SPDX-License-Identifier: MIT
--
-- What counted as known though the text did not show it: the size of an array in front of the thread loops, a type
-- deduced behind a pointer, a coordinate by itself, a member by what stands in front of its name, words for operators,
-- a name that a later declaration hides, references and constructors in unusual places. See probes.lua for the form.
-- Several forms share a kernel where none of them changes how another is treated; each has a digit of the result.

local BEGIN = "__global__ void k(int *a, int w) { int t = threadIdx.x; __syncthreads(); "
local CFG = "struct Cfg { int m, n; };"
local MADE = [[struct Tid { int k; constexpr __device__ Tid(int x) : k(x) {} __device__ operator int() const {
    return k + threadIdx.x; } }; typedef Tid N;]]
local K = [[struct K { int v; constexpr __device__ K(int x) : v(x) {} constexpr __device__ operator int() const {
    return v; } };]]
local W = [[struct W { int k; }; __device__ W &operator>>(W &r, int &x) { x = r.k + threadIdx.x; return r; }]]
local METHOD = "struct M { int v; __device__ int get() const { return v + threadIdx.x; } }; typedef M N;"
local TURN = " s[t] = t; __syncthreads(); a[t] = s[63 - t]; }"

return {
  -- sizes
  { "sizes by members of a constexpr: braces, auto, a vector, another constant, rows, an alias", CFG
    .. "struct Op { int v; }; __device__ int operator+(Op p, int x) { return p.v + x; }", BEGIN .. [[
    constexpr Cfg c{8, 8}; constexpr auto d = Cfg{8, 8}; constexpr int2 e{8, 8}; constexpr int f = c.m * c.n;
    __shared__ int p[c.m * c.n], q[d.m * d.n], r[e.x * e.y], s[f], u[c.m][c.n]; using A = int[c.m * c.n];
    __shared__ A v; p[t] = q[t] = r[t] = s[t] = u[t / 8][t % 8] = v[t] = t; __syncthreads(); int i = 63 - t;
    a[t] = p[i] + q[i] + r[i] + s[i] + u[i / 8][i % 8] + v[i]; }]], "6 * (63 - t)", engine = "split" },
  { "size by a constant of a class", K, BEGIN .. "const int c = K{64}; __shared__ int s[c];" .. TURN, "63 - t" },
  { "size by a constexpr of a class", K, BEGIN .. "constexpr int c = K{64}; __shared__ int s[c];" .. TURN, "63 - t",
    engine = "split" },
  { "rows of dynamic shared memory by a constant that a class gives", K, BEGIN .. [[const int c = K{8};
    extern __shared__ int s[][c]; s[t / 8][t % 8] = t; __syncthreads(); a[t] = ((int *)s)[63 - t]; }]], "63 - t",
    shared = 256 },
  { "local array of a type whose size a class gives", K, BEGIN .. [[const int c = K{64}; typedef int A[c]; A s;
    s[t] = t; __syncthreads(); a[t] = s[t] + sizeof(s); }]], "t + 256" },
  { "constexpr with a mutable member", "struct C { int m; mutable int n; };", BEGIN .. [[constexpr C c{8, 8};
    c.n = t; __syncthreads(); a[t] = c.n * c.m; }]], "8 * t" },
  { "constexpr of a class whose conversion reads the index, by auto too, and a static made of it", MADE ..
    "constexpr __device__ Tid make(int x) { return x; }", BEGIN .. [[constexpr Tid c(3); constexpr auto d = make(4);
    static const int e = c.k + 2; int n = c, m = d; a[t] = n + 100 * m + e; }]], "8 + t + 100 * (4 + t)", alone = true
    },
  { "size of a variable that a global has the name of", "__device__ double x = 7;", BEGIN .. [[float x = t; x += 1;
    const int m = sizeof(x); int n = 0; for (int i = 0; i < sizeof(x); i++) { __syncthreads(); n++; } a[t] = 10 * n + m;
    }]], "44" },

  -- functions that are pure
  { "deduced behind a pointer, an iterator, in an array, beside a value, or given; results by decltype, ->",
    MADE .. [[__device__ Tid g[4] = {1, 2, 3, 4}; template <class T> __device__ int get(const T *p) { int v = p[1];
    return v; } template <class I> __device__ int plus(I p, int x) { return *p + x; } template <class I> __device__ int
    at(I p, int i) { return p[i] + 1; } template <class T> __device__ int second(const T &p) { return p[1]; } template
    <class T, class U> __device__ int pick(const T *p, U i) { return p[i] + 1; } template <class T> __device__ int
    conv(T x) { int v = x; return v; } __device__ int f(int x) { return conv<N>(x); } __device__ decltype(N(1)) h(int x)
    { return x; } __device__ auto q(int x) -> N { return x; }]], BEGIN .. [[int n0 = get(g),
    n1 = plus(g + 0, 1), n2 = at(g + 0, 1), n3 = second(g), n4 = pick(g, 1), n5 = f(2), n6 = h(2) + 0, n7 = q(2) + 0;
    a[t] = n0 + 2 * n1 + 4 * n2 + 8 * n3 + 16 * n4 + 32 * n5 + 64 * n6 + 128 * n7; }]], "255 * (t + 2) + 4 + 16" },
  { "sibling: scalars deduced behind a pointer and by value", [[__device__ int g[2] = {1, 2}; template <class T>
    __device__ T get(const T *p, int i) { T v = p[i]; return v; } template <class T> __device__ T twice(T x) { return
    x * 2; }]], BEGIN .. "int n = get(g, 1) + twice(w); a[t] = n + t; }", "4 + t", engine = "split" },
  { "atomic behind a conversion behind a pointer", [[__device__ int calls; struct C { int k; __device__ operator int()
    const { return atomicAdd(&calls, 1) * 0 + k; } }; __device__ C g[2] = {{1}, {2}}; template <class T> __device__ int
    get(const T *p, int i) { int v = p[i]; return v; }]], BEGIN .. [[int n = get(g, 1); __syncthreads(); a[t] = 100 * n
    + calls; }]], "264" },
  { "default argument with an effect", "__device__ int c; __device__ int f(int x = atomicAdd(&c, 1)) { return x; }",
    BEGIN .. "int n = f(); __syncthreads(); a[t] = c + 0 * n; }", "64" },
  { "coordinates under operators in a helper, and __ldg of a vector", [[__device__ int operator+(uint3 p, dim3 q) {
    return p.x + q.x + threadIdx.x; } __device__ bool operator==(dim3, int) { return threadIdx.x > 5; } __device__ int
    operator-(uint3) { return threadIdx.x; } __device__ int operator,(uint3, int q) { return q + threadIdx.x; }
    __device__ int operator+(int4 p, int x) { return p.x + x + threadIdx.x; } __device__ int4 g = {1, 2, 3, 4};
    __device__ int f() { return blockIdx + blockDim; } __device__ int h() { return gridDim == 1 ? 7 : 8; } __device__
    int m() { return -blockIdx; } __device__ int c() { return (blockIdx, 3); } template <class T> __device__ int l(T p)
    { return __ldg(p) + 1; }]], BEGIN .. [[int n0 = f(), n1 = h(), n2 = m(), n3 = c(), n4 = l(&g), n5 = __ldg(&g) + 1;
    a[t] = n0 + n2 + n3 + n4 + n5 + 1000 * n1; }]], "64 + t + t + 3 + t + 2 * (2 + t) + 1000 * (t > 5 and 7 or 8)" },
  { "sibling: members of coordinates beside the program's operators", [[__device__ int operator+(uint3, dim3) { return
    threadIdx.x; } __device__ int f() { return blockIdx.x + blockDim.x; }]], BEGIN .. "int n = f(); a[t] = n + t; }",
    "64 + t", engine = "split" },

  -- members
  { "member of a class behind > , : ) } and [[ ]], by decltype, in a pair", [[#include <utility>
]] .. W .. [[template <class T> struct Rd { T *p; }; struct C0 { Rd<int> in; }; struct C1 { W p, b; }; struct C2 {
    decltype(W()) d; }; struct C3 { W (e); }; struct C4 { struct : W { } f; }; struct C5 { struct V { int k; } g; };
    struct C6 { W __attribute__((aligned(8))) h; }; __device__ void operator>>(Rd<int> &, int &x) { x = threadIdx.x; }
    __device__ void operator>>(C5::V &, int &x) { x = threadIdx.x; }]], BEGIN .. [[C0 c0; C1 c1{}; C2 c2{}; C3 c3{};
    C4 c4{}; C5 c5{}; C6 c6{}; std::pair<W, int> c7{}; int n0 = 0, n1 = 0, n2 = 0, n3 = 0, n4 = 0, n5 = 0, n6 = 0, n7 =
    0; c0.in >> n0; c1.b >> n1; c2.d >> n2; c3.e >> n3; c4.f >> n4; c5.g >> n5; c6.h >> n6; c7.first >> n7;
    __syncthreads(); a[t] = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7; }]], "8 * t", alone = true },
  { "sibling: scalars among several members", W .. "struct P { int *p, b; unsigned q : 4; };", BEGIN .. [[P c{0, 3, 5};
    int n = (c.b >> 1) + (c.q << 1); __syncthreads(); a[t] = n + t; }]], "11 + t" },

  -- words for operators
  { "bitand in a declarator", "__device__ void set(int bitand x) { x = threadIdx.x; }", BEGIN .. [[int n = 0; set(n);
    __syncthreads(); a[t] = n; }]], "t" },
  { "and in a declarator, words without white space", "struct A { int v; }; __device__ void take(A and x) { x.v = 5; }",
    BEGIN .. [[A q{1}; take(static_cast<A and>(q)); int m = 7 bitand(t)bitand compl 0; m += &t == bitand t and not 0;
    m xor_eq 1; a[t] = q.v + 10 * m; }]], "5 + 10 * (((t & 7) + 1) ~ 1)" },

  -- names
  { "constant, variable, shared array, static, enumerator, alias and using that hide what was named before", [[
    __device__ int c = 7, d = 8, e[64] = {9}, f = 1, g = 2, h = 3; struct A { static const int v = 4; }; struct B {
    static const int v = 5; }; namespace N { __device__ int h = 6; }]], BEGIN .. [[int n = c; const int c = 100;
    n += c + d; int d = t; n += d + e[0]; __shared__ int e[64]; e[t] = t; n += f; static const int f = 10; n += f + g;
    enum { g = 20 }; n += g + A::v; using A = B; n += A::v + h; using N::h; n += h; __syncthreads();
    a[t] = n + e[63 - t]; }]], "7 + 100 + 8 + t + 9 + 63 - t + 1 + 10 + 2 + 20 + 4 + 5 + 3 + 6" },
  { "reference as a type by a condition", "template <bool B, class T, class F> struct Cond { typedef T type; };", BEGIN
    .. "int n = 0; Cond<true, int &, int>::type r = n; r = t; __syncthreads(); a[t] = n; }", "t" },
  { "reference as a type of a function's parameter", [[template <class F> struct Arg; template <class A> struct
    Arg<void(A)> { typedef A type; };]], BEGIN .. [[int n = 0; Arg<void(int &)>::type r = n; r = t; __syncthreads();
    a[t] = n; }]], "t" },
  { "constructor of a nested class keeps an address", [[struct O { struct I { int *p; __device__ I(int &x) : p(&x) {} };
    }; typedef O::I N;]], BEGIN .. "int n = 0; N r = n; *r.p = t; __syncthreads(); a[t] = n; }", "t" },
  { "constructor of a local class keeps an address", "", BEGIN .. [[ struct I { int *p; __device__ I(int &x) : p(&x) {}
    }; int n = 0; I r = n; *r.p = t; __syncthreads(); a[t] = n; }]], "t" },
  { "constructor behind a word that is not listed", [[struct M { int v; __inline __device__ M() : v(threadIdx.x) {} };
    typedef M N;]], BEGIN .. "N m; a[t] = m.v; }", "t" },
  { "method named as a parameter", METHOD .. "__device__ int f(N m, int get) { return m.get() + get; }", [[
    __global__ void k(int *a, int w) { N m{3}; a[threadIdx.x] = f(m, 1); }]], "4 + t" },
}
