-- SPDX-License-Identifier: MIT
--
-- Probes of whether a variable over a barrier is const, an lvalue, of what type; see probes.lua for the form of a
-- case.

local HEAD = "__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; "
local KERNEL = "__global__ void k(int *a, int w) { "
local IS = [[template <class T> struct Is { static const int r = 1; }; template <class T> struct Is<const T>
    { static const int r = 2; }; template <class T> struct Is<T &> { static const int r = 3; }; template
    <class T> struct Is<const T &> { static const int r = 4; }; template <class T> struct Is<T &&> {
    static const int r = 5; };]]
local BOTH = [[struct P { int v; __device__ int get() { return 1; } __device__ int get() const { return 2; }
    };]]

return {
  -- constness and value category
  { "decltype of a variable over a barrier declares a copy", "", HEAD .. [[int x = t; s[t] = x; __syncthreads();
    decltype(x) y = x; y += s[63-t]; a[t] = x * 100 + y; }]], "t*100+63" },
  { "decltype of a variable chooses a specialisation", IS, HEAD .. [[int x = t; s[t] = x; __syncthreads(); x += s[63-t];
    __syncthreads(); a[t] = x * 10 + Is<decltype(x)>::r; }]], "631", alone = true },
  { "const object over a barrier", BOTH, HEAD .. [[const P p{t}; s[t] = t; __syncthreads(); a[t] = p.get() * 100 +
    s[63-t]; }]], "200+63-t" },
  { "const array of class", BOTH, HEAD .. [[const P p[2] = {{t}, {t}}; s[t] = t; __syncthreads(); a[t] = p[w].get() *
    100 + s[63-t]; }]], "200+63-t" },
  { "auto of a pointer to const", BOTH, HEAD .. [[P q{t}; const P *r = &q; auto p = r; auto *p2 = r; s[t] = t;
    __syncthreads(); a[t] = p->get() * 100 + p2->get() * 1000 + s[63-t]; }]], "2200+63-t" },
  { "const pointer to a class that is not", BOTH, HEAD .. [[P q{t}; P *const p = &q; const auto p2 = &q; s[t] = t;
    __syncthreads(); a[t] = p->get() * 100 + p2->get() * 1000 + s[63-t]; }]], "1100+63-t" },
  { "const auto of a call", BOTH .. [[__device__ P make(int t) { return P{t}; } __device__ const P cmake(int t) { return
    P{t}; }]], HEAD .. [[const auto p = make(t); auto q = cmake(t); s[t] = t; __syncthreads(); a[t] = p.get() * 100 +
    q.get() * 1000 + s[63-t]; }]], "1200+63-t" },
  { "shared element by a conversion that is not const", [[struct P { int v; __device__ operator int() { return v; }
    __device__ operator int() const { return -v; } };]], KERNEL .. [[__shared__ P s[64]; s[threadIdx.x].v = 1;
    __syncthreads(); int n = 0; for (int k = 0; k < 64; k++) n += s[k]; a[threadIdx.x] = n; }]], "64" },
  { "shared element by an operator that is not const", [[struct P { int v; __device__ int operator+(int x) { return v +
    x; } __device__ int operator+(int x) const { return -v; } };]], KERNEL .. [[__shared__ P s[64]; s[threadIdx.x].v =
    1; __syncthreads(); int n = 0; for (int k = 0; k < 64; k++) n = s[k] + n; a[threadIdx.x] = n; }]], "64" },
  { "const decides in a reference's method chain", [[struct P { int v; __device__ P &self() { return *this; } __device__
    const P &self() const { return *this; } __device__ int get() { return 1; } __device__ int get() const { return 2; }
    };]], HEAD .. [[const P p{t}; P q{t}; s[t] = t; __syncthreads(); a[t] = p.self().get() * 1000 + q.self().get() * 100
    + s[63-t]; }]], "2100+63-t" },
  { "const decides in begin and end", [[struct P { int v[2]; __device__ int *begin() { return v; } __device__ int *end()
    { return v + 2; } __device__ const int *begin() const { return v + 1; } __device__ const int *end() const { return v
    + 2; } };]], HEAD .. [[const P p{{1, t}}; s[t] = t; __syncthreads(); int n = 0; for (int x : p) n += x; a[t] = n *
    100 + s[63-t]; }]], "100*t+63-t" },
  { "volatile decides", "__device__ int kind(volatile int &) { return 1; } __device__ int kind(int &) { return 2; }",
    HEAD .. [[volatile int v = t; int x = t; s[t] = t; __syncthreads(); a[t] = kind(v) * 100 + kind(x) * 1000 + s[63-t]
    + v - x; }]], "2100+63-t" },
  { "array's size decides", "template <int N> __device__ int size(int (&)[N]) { return N; }", HEAD .. [[int v[5]; v[0] =
    t; s[t] = t; __syncthreads(); a[t] = size(v) * 100 + v[0] + s[63-t]; }]], "563" },
  { "sizeof of an array over a barrier", "", HEAD .. [[int v[5]; v[0] = t; s[t] = t; __syncthreads(); a[t] = sizeof(v) *
    100 + v[0] + s[63-t]; }]], "2063" },
  { "constant expression decides", "template <int N> struct W { static const int v = N; };", HEAD .. [[const int N = 5;
    constexpr int M = N + 1; int x[N]; x[0] = t; s[t] = t; __syncthreads(); a[t] = W<N>::v * 100 + W<M>::v * 1000 + x[0]
    + s[63-t]; }]], "6563", alone = true },
  { "null pointer constant decides", "__device__ int kind(int *) { return 1; } __device__ int kind(int) { return 2; }",
    HEAD .. [[const int z = 0; int *q = 0; s[t] = t; __syncthreads(); a[t] = kind(z) * 100 + kind(q) * 1000 +
    kind(nullptr) * 10000 + s[63-t]; }]], "11200+63-t" },
  { "deduced types of constants decide", [[__device__ int kind(int) { return 1; } __device__ int kind(float) { return 2;
    } __device__ int kind(char) { return 3; }]], HEAD .. [[auto x = 'c'; auto y = 1.f; auto z = x + 0; s[t] = t;
    __syncthreads(); a[t] = kind(x) * 100 + kind(y) * 10 + kind(z) + 0 * s[63-t]; }]], "321" },
}
