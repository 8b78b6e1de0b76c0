-- SPDX-License-Identifier: MIT
--
-- Probes made with the translator's source at hand: for each of its answers what it may overlook; see probes.lua for
-- the form of a case. Most compare a variable with what C++ makes of it where a barrier stands between: whether it is
-- const, an lvalue, an object of its own, kept by its address, hidden or hiding; and what a helper's parameters, its
-- result and its names are where its body stands in place of the call.

local PACKED = string.pack("i4i4i4i4", 5, 6, 7, 8)
local IS = [[template <class T> struct Is { static const int r = 1; }; template <class T> struct Is<const T>
    { static const int r = 2; }; template <class T> struct Is<T &> { static const int r = 3; }; template
    <class T> struct Is<const T &> { static const int r = 4; }; template <class T> struct Is<T &&> {
    static const int r = 5; };]]
local BOTH = [[struct P { int v; __device__ int get() { return 1; } __device__ int get() const { return 2; }
    };]]
local CATEGORY = [[__device__ int cat(int &) { return 1; } __device__ int cat(const int &) { return 2; }
    __device__ int cat(int &&) { return 3; }]]
local TURN = [[__device__ int turn(int *s, int v) { s[threadIdx.x] = v; __syncthreads(); int o = s[63 -
    threadIdx.x]; __syncthreads(); return o; }]]
local TID = "struct Tid { int k; __device__ operator int() const { return k + threadIdx.x; } };"
local MADE = [[struct Tid { int k; __device__ Tid(int x) : k(x) {} __device__ Tid() {} __device__ operator
    int() const { return k + threadIdx.x; } };]]
local CONSTANT = [[struct Tid { int k; constexpr __device__ Tid(int x) : k(x) {} __device__ operator int()
    const { return k + threadIdx.x; } };]]
local UP = "__device__ int up(int x) { return x; }"
local HIDE = "__device__ int x = 7;"
local DERIVED = [[struct B { int v; __device__ int get() { return 1; } }; struct D : B { __device__ int
    get() { return 2; } };]]
local EXPLICIT = [[struct C { __device__ explicit operator int() const { return 1; } __device__ operator
    float() const { return 2.5f; } };]]
local ARRAY = "struct P { int e[4]; };"
local PACK = "struct P { int v[4]; };"
local TRAIT = "template <class T> struct Tr { typedef T type; };"
local METHOD = [[struct M { int v; __device__ int get() const { return v + threadIdx.x; } }; typedef M N;
    __device__ M m = {3};]]
local INC = "__device__ int inc(int &x) { return x += 5; }"
local LIMIT = "struct Lim { int v; __device__ operator int() const { return v - threadIdx.x; } };"

return {
  -- constness and value category
  { "decltype of a variable over a barrier declares a copy", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x = t; s[t] = x;
    __syncthreads(); decltype(x) y = x; y += s[63-t]; a[t] = x * 100 + y; }]], "t*100+63" },
  { "decltype of a variable chooses a specialisation", IS,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x = t; s[t] = x;
    __syncthreads(); x += s[63-t]; __syncthreads(); a[t] = x * 10 + Is<decltype(x)>::r; }]],
    "631", alone = true },
  { "decltype(auto) of a variable over a barrier", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x = t; s[t] = x;
    __syncthreads(); decltype(auto) y = x; y += s[63-t]; a[t] = x * 100 + y; }]], "t*100+63" },
  { "const object over a barrier", BOTH,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const P p{t}; s[t] = t;
    __syncthreads(); a[t] = p.get() * 100 + s[63-t]; }]], "200+63-t" },
  { "const array of class", BOTH,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const P p[2] = {{t},
    {t}}; s[t] = t; __syncthreads(); a[t] = p[w].get() * 100 + s[63-t]; }]], "200+63-t" },
  { "auto of a pointer to const", BOTH,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P q{t}; const P *r =
    &q; auto p = r; auto *p2 = r; s[t] = t; __syncthreads(); a[t] = p->get() * 100 + p2->get() * 1000 +
    s[63-t]; }]], "2200+63-t" },
  { "const pointer to a class that is not", BOTH,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P q{t}; P *const p =
    &q; const auto p2 = &q; s[t] = t; __syncthreads(); a[t] = p->get() * 100 + p2->get() * 1000 +
    s[63-t]; }]], "1100+63-t" },
  { "const auto of a call", BOTH .. [[__device__ P make(int t) { return P{t}; } __device__ const P
    cmake(int t) { return P{t}; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const auto p = make(t);
    auto q = cmake(t); s[t] = t; __syncthreads(); a[t] = p.get() * 100 + q.get() * 1000 + s[63-t]; }]],
    "1200+63-t" },
  { "const of two declarators", BOTH,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const P p{t}, q{t};
    s[t] = t; __syncthreads(); a[t] = p.get() * 100 + q.get() * 1000 + s[63-t]; }]], "2200+63-t" },
  { "shared element by a conversion that is not const", [[struct P { int v; __device__ operator int() {
    return v; } __device__ operator int() const { return -v; } };]],
    [[__global__ void k(int *a, int w) { __shared__ P s[64]; s[threadIdx.x].v = 1; __syncthreads(); int n =
    0; for (int k = 0; k < 64; k++) n += s[k]; a[threadIdx.x] = n; }]], "64" },
  { "shared element by an operator that is not const", [[struct P { int v; __device__ int operator+(int x)
    { return v + x; } __device__ int operator+(int x) const { return -v; } };]],
    [[__global__ void k(int *a, int w) { __shared__ P s[64]; s[threadIdx.x].v = 1; __syncthreads(); int n =
    0; for (int k = 0; k < 64; k++) n = s[k] + n; a[threadIdx.x] = n; }]], "64" },
  { "shared element by unary operators", [[struct P { int v; __device__ int operator-() { return v; }
    __device__ int operator-() const { return 100 * v; } };]],
    [[__global__ void k(int *a, int w) { __shared__ P s[64]; s[threadIdx.x].v = 1; __syncthreads(); int n =
    0; for (int k = 0; k < 64; k++) n += -s[k]; a[threadIdx.x] = n; }]], "64" },
  { "const decides in a reference's method chain", [[struct P { int v; __device__ P &self() { return *this;
    } __device__ const P &self() const { return *this; } __device__ int get() { return 1; } __device__
    int get() const { return 2; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const P p{t}; P q{t};
    s[t] = t; __syncthreads(); a[t] = p.self().get() * 1000 + q.self().get() * 100 + s[63-t]; }]],
    "2100+63-t" },
  { "const decides in begin and end", [[struct P { int v[2]; __device__ int *begin() { return v; }
    __device__ int *end() { return v + 2; } __device__ const int *begin() const { return v + 1; }
    __device__ const int *end() const { return v + 2; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const P p{{1, t}}; s[t]
    = t; __syncthreads(); int n = 0; for (int x : p) n += x; a[t] = n * 100 + s[63-t]; }]], "100*t+63-t" },
  { "const decides in operator[]", [[struct P { int v[2]; __device__ int &operator[](int i) { return v[i];
    } __device__ int operator[](int i) const { return v[1 - i]; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const P p{{1, t}}; P
    q{{1, t}}; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + q[0] * 10000 + s[63-t]; }]],
    "100*t+10000+63-t" },
  { "volatile decides", [[__device__ int kind(volatile int &) { return 1; } __device__ int kind(int &) {
    return 2; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; volatile int v = t; int
    x = t; s[t] = t; __syncthreads(); a[t] = kind(v) * 100 + kind(x) * 1000 + s[63-t] + v - x; }]],
    "2100+63-t" },
  { "array's size decides", "template <int N> __device__ int size(int (&)[N]) { return N; }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int v[5]; v[0] = t;
    s[t] = t; __syncthreads(); a[t] = size(v) * 100 + v[0] + s[63-t]; }]], "563" },
  { "sizeof of an array over a barrier", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int v[5]; v[0] = t;
    s[t] = t; __syncthreads(); a[t] = sizeof(v) * 100 + v[0] + s[63-t]; }]], "2063" },
  { "constant expression decides", "template <int N> struct W { static const int v = N; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const int N = 5;
    constexpr int M = N + 1; int x[N]; x[0] = t; s[t] = t; __syncthreads(); a[t] = W<N>::v * 100 +
    W<M>::v * 1000 + x[0] + s[63-t]; }]], "6563", alone = true },
  { "null pointer constant decides", [[__device__ int kind(int *) { return 1; } __device__ int kind(int) {
    return 2; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const int z = 0; int *q
    = 0; s[t] = t; __syncthreads(); a[t] = kind(z) * 100 + kind(q) * 1000 + kind(nullptr) * 10000 +
    s[63-t]; }]], "11200+63-t" },
  { "deduced types of constants decide", [[__device__ int kind(int) { return 1; } __device__ int
    kind(float) { return 2; } __device__ int kind(char) { return 3; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; auto x = 'c'; auto y =
    1.f; auto z = x + 0; s[t] = t; __syncthreads(); a[t] = kind(x) * 100 + kind(y) * 10 + kind(z) + 0 *
    s[63-t]; }]], "321" },

  -- helpers: parameters and results
  { "result of a helper as an rvalue", CATEGORY .. TURN,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int n = cat(turn(s, threadIdx.x));
    a[threadIdx.x] = n; }]], "3" },
  { "decltype of a helper's result", IS .. TURN,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int n = turn(s, threadIdx.x); a[threadIdx.x]
    = n * 10 + Is<decltype(turn(s, 1))>::r; }]], "(63-t)*10+1", alone = true },
  { "forwarded result of a helper", IS .. TURN .. [[template <class T> __device__ int kind(T &&) { return
    Is<T>::r; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int n = kind(turn(s, threadIdx.x));
    a[threadIdx.x] = n; }]], "1", alone = true },
  { "barrier's count as an rvalue", CATEGORY,
    [[__global__ void k(int *a, int w) { int n = cat(__syncthreads_count(threadIdx.x > 5)); a[threadIdx.x]
    = n; }]], "3" },
  { "forwarded barrier's count", IS .. "template <class T> __device__ int kind(T &&) { return Is<T>::r; }",
    [[__global__ void k(int *a, int w) { int n = kind(__syncthreads_or(threadIdx.x > 5)); a[threadIdx.x] =
    n; }]], "1", alone = true },
  { "method by value category of a helper's result", [[struct P { int v; __device__ int get() & { return 1;
    } __device__ int get() && { return 2; } }; __device__ P turn(int *s) { s[threadIdx.x] = 1;
    __syncthreads(); return P{s[0]}; }]],
    "__global__ void k(int *a, int w) { __shared__ int s[64]; a[threadIdx.x] = turn(s).get(); }", "2" },
  { "shuffle's result as an rvalue", CATEGORY,
    [[__global__ void k(int *a, int w) { int x = threadIdx.x; a[threadIdx.x] = cat(__shfl_xor_sync(~0u, x,
    1)); }]], "3" },
  { "east const reference of a helper", BOTH .. [[__device__ int ask(P const &p) { __syncthreads(); return
    p.get(); }]], "__global__ void k(int *a, int w) { P p{5}; a[threadIdx.x] = ask(p); }", "2" },
  { "template's const reference of a helper", BOTH .. [[template <class T> __device__ int ask(T const &p) {
    __syncthreads(); return p.get(); }]],
    "__global__ void k(int *a, int w) { P p{5}; a[threadIdx.x] = ask(p); }", "2" },
  { "base reference of a helper", DERIVED .. "__device__ int ask(B &p) { __syncthreads(); return p.get(); }",
    "__global__ void k(int *a, int w) { D d; a[threadIdx.x] = ask(d); }", "1" },
  { "const base reference of a helper, virtual", [[struct B { int v; __device__ virtual int get() const {
    return 1; } }; struct D : B { __device__ int get() const override { return 2; } }; __device__ int
    ask(const B &p) { __syncthreads(); return p.get(); }]],
    "__global__ void k(int *a, int w) { D d; a[threadIdx.x] = ask(d); }", "2" },
  { "converted east const reference of a helper", [[__device__ int half(int const &x) { __syncthreads();
    return x / 2 * 2; }]],
    "__global__ void k(int *a, int w) { float f = 5.5f + threadIdx.x; a[threadIdx.x] = half(f); }",
    "(5+t)//2*2" },
  { "const reference of a helper, late", [[__device__ int late(const int &x, int *s) { if (threadIdx.x ==
    1) s[0] = 7; __syncthreads(); return x; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[2]; if (threadIdx.x == 0) s[0] = 3;
    __syncthreads(); a[threadIdx.x] = late(s[0], s); }]], "7" },
  { "const reference of a helper, own variable changed", [[__device__ int late(const int &x, int *p) { *p
    += 5; __syncthreads(); return x; }]],
    "__global__ void k(int *a, int w) { int n = threadIdx.x; a[threadIdx.x] = late(n, &n); }", "t+5" },
  { "reference to a pointer to const", "__device__ void next(const int *&p) { p += 2; __syncthreads(); }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x;
    __syncthreads(); const int *p = s; next(p); a[threadIdx.x] = *p; }]], "2" },
  { "rvalue reference of a helper changes", "__device__ void add(int &&x) { x += 5; __syncthreads(); }",
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; add(static_cast<int &&>(n)); a[threadIdx.x] =
    n; }]], "t+5" },
  { "result of a helper by operator=", [[struct R { int v; __device__ R() : v(0) {} __device__ R(int x) :
    v(x) {} __device__ void operator=(int x) { v = 10 * x; } }; __device__ R f(int *s, int x) {
    s[threadIdx.x] = x; __syncthreads(); return s[63 - threadIdx.x]; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; R r = f(s, t); a[t] =
    r.v; }]], "63-t" },
  { "effect of an unnamed argument", [[__device__ int f(int, int *s) { s[threadIdx.x] = threadIdx.x;
    __syncthreads(); return s[63 - threadIdx.x]; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = t; int o = f(n
    += 5, s); a[t] = n * 100 + o; }]], "(t+5)*100+63-t" },
  { "order in braces before a helper", [[struct P { int x, y; }; __device__ int turn(int *s, int v) {
    s[threadIdx.x] = v; __syncthreads(); return s[63 - threadIdx.x]; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = t; P p{n += 5,
    turn(s, n)}; a[t] = p.x * 100 + p.y; }]], "(t+5)*100+68-t" },
  { "helper's loop variable has the argument's name", [[__device__ void f(int &v) { for (int i = 0; i < 3;
    i++) v += i; __syncthreads(); }]],
    "__global__ void k(int *a, int w) { int i = 5; f(i); a[threadIdx.x] = i + threadIdx.x; }", "8+t" },
  { "helper that changes its argument's array element", [[__device__ void f(int &v, int *p) { p[0] = 1;
    __syncthreads(); v += p[0]; }]],
    [[__global__ void k(int *a, int w) { int x[2] = {(int)threadIdx.x, 0}; f(x[0], x); a[threadIdx.x] =
    x[0]; }]], "2" },
  { "helper with an argument that moves", [[__device__ int f(int &v) { int o = v; __syncthreads(); v = o +
    1; return o; }]],
    [[__global__ void k(int *a, int w) { int x[3] = {(int)threadIdx.x, 10, 20}; int i = 0; int n =
    f(x[i++]); a[threadIdx.x] = n * 100 + x[0] + i; }]], "100*t+t+2" },
  { "static constexpr in a helper", [[__device__ int f(int v) { static constexpr int K = 7;
    __syncthreads(); return v + K; }]],
    "__global__ void k(int *a, int w) { const int K = 1; a[threadIdx.x] = f(threadIdx.x) + K; }", "t+8" },
  { "helper's constant in the kernel's scope twice", [[__device__ int f(int v) { const int K = 7;
    __syncthreads(); return v + K; }]],
    "__global__ void k(int *a, int w) { const int K = 1; a[threadIdx.x] = f(K) + f(threadIdx.x); }",
    "t+15" },
  { "helper's parameter by value of an array element", [[__device__ int f(const int v[2]) {
    __syncthreads(); return v[1]; }]],
    "__global__ void k(int *a, int w) { int x[2] = {1, (int)threadIdx.x}; a[threadIdx.x] = f(x); }", "t" },
  { "volatile helper parameter", [[__device__ int f(volatile int *s) { s[threadIdx.x] = threadIdx.x;
    __syncthreads(); return s[63 - threadIdx.x]; }]],
    "__global__ void k(int *a, int w) { __shared__ int s[64]; a[threadIdx.x] = f(s); }", "63-t" },
  { "narrow parameter of a helper", "__device__ int f(unsigned char v) { __syncthreads(); return v; }",
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f(threadIdx.x + 250); }", "(t+250)%256" },
  { "narrow result of a helper", "__device__ unsigned char f(int v) { __syncthreads(); return v; }",
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f(threadIdx.x + 250); }", "(t+250)%256" },
  { "narrow east reference of a helper", [[__device__ int f(unsigned char const &v) { __syncthreads();
    return v; }]],
    "__global__ void k(int *a, int w) { int x = threadIdx.x + 250; a[threadIdx.x] = f(x); }",
    "(t+250)%256" },
  { "bool result of a helper", "__device__ bool f(int v) { __syncthreads(); return v; }",
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f(threadIdx.x) * 5; }", "t > 0 and 5 or 0" },
  { "enum parameter of a helper", [[enum class E { A, B }; __device__ int f(E e) { __syncthreads(); return
    e == E::B ? 5 : 1; }]],
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f(threadIdx.x > 3 ? E::B : E::A); }",
    "t > 3 and 5 or 1" },
  { "default argument with a const reference", [[__device__ int f(const int &v = 5) { __syncthreads();
    return v; }]], "__global__ void k(int *a, int w) { a[threadIdx.x] = f() + f(threadIdx.x); }", "t+5" },
  { "const reference of an element that another changes", [[__device__ int f(const int &v, int *s) {
    s[(threadIdx.x + 1) % 64] = 5 * threadIdx.x; __syncthreads(); return v; }]],
    "__global__ void k(int *a, int w) { __shared__ int s[64]; a[threadIdx.x] = f(s[threadIdx.x], s); }",
    "5*((t+63)%64)" },
  { "const reference of a large class", [[struct Big { int v[40]; }; __device__ int f(const Big &b, Big *p)
    { p->v[3] = threadIdx.x; __syncthreads(); return b.v[3]; }]],
    "__global__ void k(int *a, int w) { Big b; b.v[3] = 1; a[threadIdx.x] = f(b, &b); }", "t" },
  { "copies of a const reference counted", [[__device__ int copies; struct C { int v; __device__ C(int x) :
    v(x) {} __device__ C(const C &o) : v(o.v) { atomicAdd(&copies, 1); } }; __device__ int f(const C &c)
    { __syncthreads(); return c.v; }]],
    [[__global__ void k(int *a, int w) { C c(threadIdx.x); int n = f(c); __syncthreads(); a[threadIdx.x] =
    n + copies; }]], "t" },
  { "address of a const reference", "__device__ const int *f(const int &v) { __syncthreads(); return &v; }",
    [[__global__ void k(int *a, int w) { int x = threadIdx.x; const int *p = f(x); a[threadIdx.x] = (p ==
    &x) * 100 + x; }]], "100+t" },
  { "pair of pointers by reference to const", [[__device__ void sw(const int *&p, const int *&q) { const
    int *o = p; p = q; q = o; __syncthreads(); }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int o[1] = {1}; const
    int *p = o, *q = s; s[t] = t; __syncthreads(); sw(p, q); a[t] = *q * 100 + p[63-t]; }]], "100+63-t" },
  { "constexpr result of a helper as an array's size", "__device__ constexpr int f(int x) { return x * 2; }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int l[f(4)]; l[7] = t;
    s[t] = t; __syncthreads(); a[t] = l[7] + s[63-t] + sizeof(l); }]], "63+32" },
  { "result converted by an operator= of a template", [[template <class T> struct R { T v; __device__ R()
    {} __device__ R(T x) : v(x) {} template <class U> __device__ void operator=(U x) { v = 10 * x; } };
    __device__ R<int> f(int x) { __syncthreads(); return x; }]],
    "__global__ void k(int *a, int w) { R<int> r = f(threadIdx.x); a[threadIdx.x] = r.v; }", "t" },
  { "result of a class whose default constructor counts", [[__device__ int made; struct R { int v;
    __device__ R() : v(0) { atomicAdd(&made, 1); } __device__ R(int x) : v(x) {} }; __device__ R f(int
    x) { __syncthreads(); return R(x); }]],
    [[__global__ void k(int *a, int w) { R r = f(threadIdx.x); __syncthreads(); a[threadIdx.x] = r.v +
    made; }]], "t" },
  { "result by an explicit constructor's list", [[struct R { int v, w; }; __device__ R f(int x) {
    __syncthreads(); return {x, 1}; }]],
    "__global__ void k(int *a, int w) { R r = f(threadIdx.x); a[threadIdx.x] = r.v + r.w; }", "t+1" },
  { "const result of a helper decides", BOTH .. "__device__ const P f() { __syncthreads(); return P{3}; }",
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f().get(); }", "2" },
  { "overload chosen among helpers with a kernel's variable of the name", [[__device__ int f(int v) {
    __syncthreads(); return v; } __device__ int f(float v) { __syncthreads(); return 100; }]],
    "__global__ void k(int *a, int w) { int n = f((int)threadIdx.x) + f(1.f); a[threadIdx.x] = n; }",
    "t+100" },
  { "overload on a reference's const among helpers, over a barrier", [[__device__ int f(int &v) {
    __syncthreads(); return v = 1; } __device__ int f(const int &v) { __syncthreads(); return 2; }
    __device__ int f(int &&v) { __syncthreads(); return 3; }]],
    [[__global__ void k(int *a, int w) { int x = threadIdx.x; const int y = x; a[threadIdx.x] = f(x) * 100
    + f(y) * 10 + f(x + y); }]], "123" },
  { "helper of a helper's result as an rvalue", [[__device__ int g(int v) { __syncthreads(); return v; }
    __device__ int f(int &&v) { __syncthreads(); return 3; } __device__ int f(const int &v) {
    __syncthreads(); return 2; }]],
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f(g(threadIdx.x)); }", "3" },
  { "explicit const argument of a helper", BOTH .. [[template <class T> __device__ int f(T &p) {
    __syncthreads(); return p.get(); }]],
    "__global__ void k(int *a, int w) { P p{1}; a[threadIdx.x] = f<const P>(p) * 10 + f(p); }", "21" },
  { "parameter by const value of a helper", BOTH .. [[__device__ int f(const P p) { __syncthreads(); return
    p.get(); } __device__ int g(P p) { __syncthreads(); return p.get(); }]],
    "__global__ void k(int *a, int w) { const P p{1}; a[threadIdx.x] = f(p) * 10 + g(p); }", "21" },
  { "volatile reference of a helper", [[__device__ int kind(volatile int &) { return 1; } __device__ int
    kind(int &) { return 2; } __device__ int f(volatile int &v) { __syncthreads(); return kind(v); }]],
    "__global__ void k(int *a, int w) { int x = threadIdx.x; a[threadIdx.x] = f(x); }", "1" },

  -- helpers: names that mean something else where they are called
  { "helper's global hidden by a kernel's variable", [[__device__ int g = 7; __device__ int f(int v) {
    __syncthreads(); return v + g; }]],
    "__global__ void k(int *a, int w) { int g = threadIdx.x; a[threadIdx.x] = f(g); }", "t+7" },
  { "helper's global hidden by a kernel's parameter", [[__device__ int w = 7; __device__ int f(int v) {
    __syncthreads(); return v + w; }]],
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f(threadIdx.x); }", "t+7" },
  { "helper's constant of its namespace", [[constexpr int K = 1; namespace ns { constexpr int K = 7;
    __device__ int f(int v) { __syncthreads(); return v + K; } }]],
    "__global__ void k(int *a, int w) { a[threadIdx.x] = ns::f(threadIdx.x); }", "t+7" },
  { "helper's function of its namespace", [[__device__ int c(int v) { return 1; } namespace ns { __device__
    int c(int v) { return 7; } __device__ int f(int v) { __syncthreads(); return v + c(v); } }]],
    "__global__ void k(int *a, int w) { a[threadIdx.x] = ns::f(threadIdx.x); }", "t+7" },
  { "helper's overload as of its definition", [[__device__ int c(float v) { return 7; } __device__ int
    f(int v) { __syncthreads(); return v + c(v); } __device__ int c(int v) { return 1; }]],
    "__global__ void k(int *a, int w) { a[threadIdx.x] = f(threadIdx.x); }", "t+7" },
  { "helper's default argument of its namespace", [[constexpr int K = 1; namespace ns { constexpr int K =
    7; __device__ int f(int v, int b = K) { __syncthreads(); return v + b; } }]],
    "__global__ void k(int *a, int w) { a[threadIdx.x] = ns::f(threadIdx.x); }", "t+7" },
  { "helper's default argument hidden by a variable", [[__device__ int g = 7; __device__ int f(int v, int b
    = g) { __syncthreads(); return v + b; }]],
    "__global__ void k(int *a, int w) { int g = threadIdx.x; a[threadIdx.x] = f(g); }", "t+7" },
  { "helper's type hidden by a kernel's", [[struct Op { static const int k = 7; }; __device__ int f(int v)
    { __syncthreads(); return v + Op::k; }]],
    [[__global__ void k(int *a, int w) { struct Op { enum { k = 1 }; }; a[threadIdx.x] = f(threadIdx.x) +
    Op::k; }]], "t+8" },
  { "helper's condition declares the argument's name", [[__device__ void f(int &v) { if (int q = v) v = q +
    1; __syncthreads(); }]],
    "__global__ void k(int *a, int w) { int q = 5; f(q); a[threadIdx.x] = q + threadIdx.x; }", "6+t" },
  { "helper's range-for declares the argument's name", [[__device__ void f(int &v) { int l[2] = {1, 2}; for
    (int q : l) v += q; __syncthreads(); }]],
    "__global__ void k(int *a, int w) { int q = 5; f(q); a[threadIdx.x] = q + threadIdx.x; }", "8+t" },
  { "helper's global by a using directive", [[namespace ns { constexpr int K = 7; } using namespace ns;
    __device__ int f(int v) { __syncthreads(); return v + K; }]],
    "__global__ void k(int *a, int w) { const int K = 1; a[threadIdx.x] = f(threadIdx.x) + K; }", "t+8" },
  { "helper's template argument hidden by a variable", [[constexpr int N = 7; template <int M> __device__
    int f(int v) { __syncthreads(); return v + M; } __device__ int g(int v) { return f<N>(v); }]],
    "__global__ void k(int *a, int w) { const int N = 1; a[threadIdx.x] = g(threadIdx.x) + N; }", "t+8" },
  { "helper's called function hidden by a functor", [[__device__ int c(int v) { return 7; } struct C {
    __device__ int operator()(int v) const { return 1; } }; __device__ int f(int v) { __syncthreads();
    return v + c(v); }]],
    "__global__ void k(int *a, int w) { C c; a[threadIdx.x] = f(threadIdx.x) + c(0); }", "t+8" },
  { "helper's typedef hidden by a kernel's", [[typedef float real; __device__ int f(int v) { real x = v +
    0.5f; __syncthreads(); return x * 2; }]],
    "__global__ void k(int *a, int w) { typedef int real; real z = 1; a[threadIdx.x] = f(threadIdx.x) + z; }",
    "2*t+2" },

  -- order of what stands around a warp operation
  { "shuffle whose mask has an effect", "",
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; unsigned m = 0; int o = __shfl_xor_sync(m =
    ~0u, n, 1); a[threadIdx.x] = o + (m == ~0u); }]], "(t~1)+1" },
  { "value of a shuffle in a compound statement", "",
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; int x = (n += 5) * 0 + __shfl_xor_sync(~0u,
    threadIdx.x, 1); a[threadIdx.x] = x * 100 + n; }]], "(t~1)*100+t+5" },
  { "shift of an assignment and a shuffle", "",
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; int x = (n = 2) << __shfl_sync(~0u, n - 1,
    0); a[threadIdx.x] = x + threadIdx.x; }]], "4+t" },
  { "list of a change and a shuffle", "",
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; int x[2] = {n += 5, __shfl_xor_sync(~0u, n,
    1)}; a[threadIdx.x] = x[0] * 100 + x[1]; }]], "(t+5)*100+(t~1)+5" },
  { "call with an effect in front of a shuffle in braces", INC,
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; int2 x = {inc(n), __shfl_xor_sync(~0u, n,
    1)}; a[threadIdx.x] = x.x * 100 + x.y; }]], "(t+5)*100+(t~1)+5" },
  { "call with an effect in front of a shuffle, shifted", "__device__ int inc(int &x) { return x += 1; }",
    [[__global__ void k(int *a, int w) { int n = 0; int x = inc(n) << __shfl_sync(~0u, n, 0);
    a[threadIdx.x] = x + threadIdx.x; }]], "2+t" },
  { "method with an effect in front of a shuffle", [[struct C { int v; __device__ C &inc() { v += 5; return
    *this; } __device__ int plus(int x) { return v * 100 + x; } };]],
    [[__global__ void k(int *a, int w) { C c{(int)threadIdx.x}; int x = c.inc().plus(__shfl_xor_sync(~0u,
    c.v, 1)); a[threadIdx.x] = x; }]], "(t+5)*100+(t~1)+5" },
  { "subscript with an effect in front of a shuffle", [[__device__ int *inc(int *p, int &x) { x += 5;
    return p; }]],
    [[__global__ void k(int *a, int w) { int l[64]; for (int i = 0; i < 64; i++) l[i] = i; int n =
    threadIdx.x & 15; int x = inc(l, n)[__shfl_xor_sync(~0u, n, 1)]; a[threadIdx.x] = x; }]],
    "((t & 15)~1)+5" },

  -- initialisation
  { "copy initialisation beside an explicit conversion", EXPLICIT, "C c; int n = c;", "2" },
  { "array of objects that hold their address", [[struct R { int v; R *self; __device__ R(int x) : v(x),
    self(this) {} };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; R r[2] = {R(t), R(2 *
    t)}; s[t] = t; __syncthreads(); a[t] = (r[1].self == &r[1]) * 100 + r[0].self->v + s[63-t]; }]],
    "163" },
  { "temporary that an aggregate's reference keeps", "struct V { const int &r; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; V v{t + 1}; int z[8];
    for (int i = 0; i < 8; i++) z[i] = t * i; s[t] = t; __syncthreads(); a[t] = v.r * 100 + s[63-t] +
    z[0]; }]], "(t+1)*100+63-t" },

  -- changes that have another look
  { "pointer moved by *p++", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
    __syncthreads(); const int *p = s; int n = 0; for (int i = 0; i <= t; i++) n += *p++;
    __syncthreads(); a[t] = n + (int)(p - s) * 1000; }]], "t*(t+1)//2+1000*(t+1)" },
  { "cast address, in place", "", "int n = 0; *(int *)&n = threadIdx.x;", "t" },
  { "parameter moved in a kernel without barriers", "",
    "__global__ void k(int *a, int w) { *a++; a[(int)threadIdx.x - 1] = threadIdx.x * w; }", "t" },
  { "parameter moved with a loop over it", "",
    [[__global__ void k(int *a, int w) { int n = 0; for (int i = 0; i < 40; i++) { *a++; n += i * w; }
    a[(int)threadIdx.x - 40] = n; }]], "780" },
  { "functor named as a function by value", [[__device__ int put(int x) { return x; } struct Put {
    __device__ void operator()(int &x) const { x = threadIdx.x; } };]], "Put put; int n = 0; put(n);", "t" },
  { "friend named as a function by value", [[struct Q { friend __device__ void put(Q, int &x) { x =
    threadIdx.x; } }; __device__ void put(int x) {}]], "Q q; int n = 0; put(q, n);", "t" },
  { "class template's constructor with a reference argument", [[template <class R> struct H { R r;
    __device__ H(R x) : r(x) {} };]], "int n = 0; H<int &> h = n; h.r = threadIdx.x;", "t" },
  { "operator casts const away", [[struct O {}; __device__ void operator<<(O, const int &x) {
    const_cast<int &>(x) = threadIdx.x; }]], "O o; int n = 0; o << n;", "t" },
  { "constructor keeps the address of a const reference", [[struct R { const int *p; __device__ R(const int
    &x) : p(&x) {} };]], "int n = 0; R r = n; *(int *)r.p = threadIdx.x;", "t" },
  { "template's reference argument in a helper", [[template <class R> __device__ int f(int w) { int n = 0;
    R r = n; r = threadIdx.x; __syncthreads(); return n; }]], "int n = f<int &>(w);", "t" },
  { "std::move kept in a block", [[#include <utility>
]], "int n = 0; if (w) { auto &&r = std::move(n); r = threadIdx.x; }", "t" },
  { "std::swap of a parameter", [[#include <utility>
]], "int m = threadIdx.x; std::swap(w, m); int n = w;", "t" },
  { "swap found by its argument's namespace", [[namespace p { struct A { int v; }; __device__ void swap(A
    &x, A &y) { int o = x.v; x.v = y.v; y.v = o + threadIdx.x; } }]],
    "p::A x{1}, y{2}; swap(x, y); int n = y.v;", "t+1" },
  { "forwarded to a constructor", [[#include <utility>
struct R { int &r; __device__ R(int &x) : r(x) {} }; template <class... A> __device__ R make(A &&...x) {
    return R(std::forward<A>(x)...); }]], "int n = 0; R r = make(n); r.r = threadIdx.x;", "t" },
  { "stream of a class with a bound value", [[struct In { int k; template <class T> __device__ In
    &operator>>(T &x) { x = k + threadIdx.x; return *this; } };]],
    "In i{1}; int n = 0, m = 0; i >> n >> m; n += m;", "2*t+2" },
  { "assignment operator by value of a class holding a reference", [[struct R { int *p; __device__ R(int
    &x) : p(&x) {} __device__ void operator=(R o) { *o.p = threadIdx.x; } };]],
    "int m = 0, n = 0; R r(m); r = n;", "t" },
  { "parameter's address in a braced class", "struct R { int *p; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; R r{&w}; *r.p += t;
    s[t] = t; __syncthreads(); a[t] = w * 100 + s[63-t]; }]], "(t+1)*100+63-t" },
  { "address of a variable by a conversion of &", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = 0; char *p =
    (char *)(&n); *(int *)p = t; s[t] = t; __syncthreads(); a[t] = *(int *)p * 100 + n + s[63-t]; }]],
    "101*t+63-t" },
  { "address behind a cast in an argument", "__device__ void put(float *p, int v) { *(int *)p = v; }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = 0; put((float
    *)&n, t); s[t] = t; __syncthreads(); a[t] = n * 100 + s[63-t]; }]], "100*t+63-t" },
  { "atomic behind a cast", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = 0;
    atomicAdd((unsigned *)&n, (unsigned)t); s[t] = t; __syncthreads(); a[t] = n * 100 + s[63-t]; }]],
    "100*t+63-t" },
  { "parameter behind a cast in an argument", "__device__ void put(float *p, int v) { *(int *)p = v; }",
    "put((float *)&w, threadIdx.x); int n = w;", "t" },
  { "vector's component by a cast of its address", "",
    "int2 v = make_int2(0, 0); ((int *)&v)[1] = threadIdx.x; int n = v.y;", "t" },
  { "**p++ of pointers", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
    __syncthreads(); int *l[2] = {s, s + 1}; int **p = l; int n = 0; if (t & 1) n = **p++;
    __syncthreads(); a[t] = (int)(p - l) * 100 + **p; }]], "t%2*101" },
  { "*p++ as a target", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int l[4]; int *p = l;
    *p++ = t; *p++ = 2 * t; s[t] = t; __syncthreads(); *p++ = s[63-t]; a[t] = l[0] + l[1] * 10 + l[2] *
    1000 + (int)(p - l); }]], "21*t+1000*(63-t)+3" },
  { "a loop that copies by *p++ = *q++", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
    __syncthreads(); const int *q = s + t; int l[3]; int *p = l; for (int i = 0; i < 1 + (t < 62) + (t <
    62); i++) *p++ = *q++; __syncthreads(); a[t] = (int)(q - s) - t; }]], "t < 62 and 3 or 1" },
  { "pointer advanced under a condition", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
    __syncthreads(); int *p = s; if (t == 5) (void)*p++; __syncthreads(); a[t] = *p; }]],
    "t == 5 and 1 or 0" },
  { "parameter's pointer advanced under a condition", "",
    [[__global__ void k(int *a, int w) { if (threadIdx.x == 3) *a++; a[(int)threadIdx.x - (threadIdx.x ==
    3)] = threadIdx.x; }]], "t" },

  -- addresses that are kept
  { "row of a 2D array over a barrier", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int m[2][3]; int *row =
    m[1]; m[1][0] = t; row[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = row[0] * 100 + row[1] +
    s[63-t]; }]], "101*t+63" },
  { "array of a class over a barrier", ARRAY,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = b.e; p[0]
    = t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + p[1] + s[63-t]; }]], "101*t+63" },
  { "object that gives its address by a conversion", [[struct P { int e[4]; __device__ operator int *() {
    return e; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = b; p[0] =
    t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + p[1] + s[63-t]; }]], "101*t+63" },
  { "object that gives its address by operator+", [[struct P { int e[4]; __device__ int *operator+(int i) {
    return e + i; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = b + 0;
    p[0] = t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + p[1] + s[63-t]; }]],
    "101*t+63" },
  { "address of what operator* gives", "struct P { int e[4]; __device__ int &operator*() { return e[0]; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = &*b; p[0]
    = t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + p[1] + s[63-t]; }]], "101*t+63" },
  { "address of what operator-> gives", [[struct Q { int e[4]; }; struct P { Q q; __device__ Q
    *operator->() { return &q; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = &b->e[0];
    p[0] = t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + p[1] + s[63-t]; }]],
    "101*t+63" },
  { "object that a constructor keeps", "struct R { int v; __device__ R(R **h) { *h = this; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; R *p; R r(&p); r.v = t;
    s[t] = t; __syncthreads(); a[t] = p->v + s[63-t]; }]], "63" },
  { "object that an operator keeps", "struct R { int v; __device__ void operator>>(R **h) { *h = this; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; R *p; R r; r.v = t; r
    >> &p; s[t] = t; __syncthreads(); a[t] = p->v + s[63-t]; }]], "63" },
  { "pointer returned by a method", "struct P { int e[4]; __device__ int *at(int i) { return e + i; } };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = b.at(0);
    p[0] = t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "pointer returned by a function that takes an array", "__device__ int *same(int *p) { return p; }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int e[2][2]; int *p =
    same(e[w]); p[0] = t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "pointer into an array of a class by +", ARRAY,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = b.e + w;
    p[0] = t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "iterator of a class kept", [[struct It { int *p; __device__ int operator*() const { return *p; } };
    struct P { int e[4]; __device__ It begin() { return {e}; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; It p = b.begin();
    b.e[0] = t; s[t] = t; __syncthreads(); a[t] = *p * 100 + s[63-t]; }]], "100*t+63-t" },
  { "view made of a class by its conversion", [[struct View { int *p; }; struct P { int e[4]; __device__
    operator View() { return View{e}; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; View v = b; v.p[0]
    = t; s[t] = t; __syncthreads(); a[t] = v.p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "base that registers itself", [[struct B; __device__ inline void reg(B **h, B *b) { *h = b; } struct B
    { int v; __device__ B(B **h) { reg(h, this); } }; struct D : B { int z; __device__ D(B **h, int x) :
    B(h), z(x) { v = x; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; B *p; D d(&p, t); s[t]
    = t; __syncthreads(); a[t] = p->v * 100 + s[63-t]; }]], "100*t+63-t" },
  { "class counted in an interchanged loop", [[struct C { int n; __device__ C() : n(0) {} __device__ void
    operator+=(int x) { n += x * threadIdx.x; } };]],
    [[__global__ void k(int *a, int w) { C c; for (int i = 0; i < 40 * w; i++) c += i; a[threadIdx.x] =
    c.n; }]], "780*t" },
  { "array of a thread's own in an interchanged loop", "",
    [[__global__ void k(int *a, int w) { int l[3] = {0, 0, 0}; for (int i = 0; i < 40 * w; i++) { int *p =
    l + i % 3; *p += threadIdx.x; } a[threadIdx.x] = l[0]; }]], "14*t" },
  { "pointer into a class in an interchanged loop", "struct P { int e[2]; };",
    [[__global__ void k(int *a, int w) { P b; b.e[0] = 0; int *p = b.e; for (int i = 0; i < 40 * w; i++) *p
    += threadIdx.x; a[threadIdx.x] = p[0]; }]], "40*t" },
  { "object in an interchanged loop keeps an address", "struct P { int e[2]; };",
    [[__global__ void k(int *a, int w) { int n = 0; for (int i = 0; i < 40 * w; i++) { P b; int *p = b.e;
    p[0] = threadIdx.x; for (int j = 0; j < 40 * w; j++) p[0] += 1; n += p[0]; } a[threadIdx.x] = n; }]],
    "40*t+1600" },
  { "reference to an element in an interchanged loop", "",
    [[__global__ void k(int *a, int w) { int x = 0; int &r = x; for (int i = 0; i < 40 * w; i++) r +=
    threadIdx.x; a[threadIdx.x] = x; }]], "40*t" },
  { "early return, then a loop with a class", MADE,
    [[__global__ void k(int *a, int w) { Tid q(0); if (q > 40) return; int n = 0; for (int i = 0; i < 40 *
    w; i++) n += q; a[threadIdx.x] = n; }]], "t > 40 and 0 or 40*t" },
  { "reused variable is kept by an assignment", [[struct Keep { const int *p; __device__ void
    operator=(const int &x) { p = &x; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; Keep q; int n = 0; int i; for (i = 0; i < 3;
    i++) { q = i; __syncthreads(); } for (i = (int)threadIdx.x; i < 64; i += 100) { n = *q.p; }
    s[threadIdx.x] = n; __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63-t" },
  { "reference outside of a loop over shared elements", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); int n =
    0; if (threadIdx.x == 0) { int &r = s[5]; for (int k = 0; k < 64; k++) { r++; n += s[k]; } }
    a[threadIdx.x] = n; }]], "t == 0 and 64 + 6 or 0" },
  { "address of a member kept in a class's method argument", ARRAY .. [[struct It { int *p; __device__
    It(int *x) : p(x) {} };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; It i(b.e); i.p[0]
    = t; s[t] = t; __syncthreads(); a[t] = i.p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "member array handed to a function that keeps it", ARRAY .. [[struct V { int *p; }; __device__ V
    view(int *p) { return V{p}; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; V v = view(b.e);
    v.p[0] = t; s[t] = t; __syncthreads(); a[t] = v.p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "member array of an array", "struct P { int e[2]; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b[2]; int *p =
    b[1].e; p[0] = t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "member array chosen", "struct P { int e[2], f[2]; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; int *p = w ? b.e :
    b.f; p[0] = t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "member array as a range", "struct P { int e[2]; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b; b.e[0] = t; b.e[1]
    = 1; int n = 0; s[t] = t; __syncthreads(); for (int x : b.e) n += x; a[t] = n * 100 + s[63-t]; }]],
    "100*(t+1)+63-t" },
  { "const array's row kept", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const int m[2][2] =
    {{1, 2}, {t, 4}}; const int *p = m[w]; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + s[63-t]; }]],
    "100*t+63-t" },
  { "array of a class kept by +", "struct P { int v; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P m[2]; P *p = m + 1;
    p->v = t; s[t] = t; __syncthreads(); a[t] = p->v * 100 + s[63-t]; }]], "100*t+63-t" },
  { "iterator over an array of a thread's own", [[struct It { const int *p; __device__ It(const int
    (&x)[3]) : p(x) {} };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int m[3] = {t, 1, 2};
    It i(m); s[t] = t; __syncthreads(); a[t] = i.p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "unions that share memory by a member array", "union U { int i[2]; long long l; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; U u; int *p = u.i; u.l
    = 0; p[1] = t; s[t] = t; __syncthreads(); a[t] = p[1] * 100 + (int)(u.l >> 32) + s[63-t]; }]],
    "101*t+63-t" },
  { "object with a pointer into itself", [[struct P { int e[2]; int *q; __device__ P(int x) : q(e + 1) {
    e[0] = x; e[1] = 2 * x; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b(t); s[t] = t;
    __syncthreads(); a[t] = *b.q * 100 + s[63-t]; }]], "200*t+63-t" },
  { "object with a pointer into itself, result of a helper", [[struct P { int e[2]; int *q; __device__
    P(int x) : q(e + 1) { e[0] = x; e[1] = 2 * x; } __device__ P(const P &o) : q(e + 1) { e[0] = o.e[0];
    e[1] = o.e[1]; } }; __device__ P make(int x) { P p(x); __syncthreads(); return p; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P b = make(t); s[t] =
    t; __syncthreads(); a[t] = (b.q == b.e + 1) * 1000 + *b.q + s[63-t]; }]], "1000+2*t+63-t" },

  -- elements and constants of classes
  { "constexpr auto object outside", CONSTANT .. "__device__ constexpr auto C = Tid(3);",
    "int n = C;", "t+3" },
  { "constant by ::", CONSTANT .. "__device__ constexpr Tid C = Tid(3);",
    "int n = ::C;", "t+3", alone = true },
  { "*(p + 1) of a class", TID .. "__device__ Tid g[2] = {{1}, {2}};",
    "Tid *p = g; int n = *(p + w);", "t+2" },
  { "*(g + 1) of a device array of a class", TID .. "__device__ Tid g[2] = {{1}, {2}};",
    "int n = *(g + w);", "t+2" },
  { "(p)[1] of a class", TID .. "__device__ Tid g[2] = {{1}, {2}};", "Tid *p = g; int n = (p)[w];", "t+2" },
  { "1[g] of a class", TID .. "__device__ Tid g[2] = {{1}, {2}};", "int n = 1[g];", "t+2" },
  { "*(s + 1) of a shared class", TID,
    [[__global__ void k(int *a, int w) { __shared__ Tid s[2]; if (threadIdx.x < 2) s[threadIdx.x].k = 3;
    __syncthreads(); int n = *(s + w); __syncthreads(); a[threadIdx.x] = n; }]], "t+3" },
  { "auto of *(g + 1)", TID .. "__device__ Tid g[2] = {{1}, {2}};", "auto q = *(g + w); int n = q;", "t+2" },
  { "**p of a class", TID .. "__device__ Tid g = {2}; __device__ Tid *p = &g;",
    "Tid **q = &p; int n = **q;", "t+2" },
  { "**p of a template's class in a helper", TID .. [[__device__ Tid g = {2}; __device__ Tid *p = &g;
    template <class T> __device__ int f(T **q) { int n = **q; __syncthreads(); return n; }]],
    "int n = f(&p);", "t+2" },
  { "(*p)[0] of a template's class in a helper", TID .. [[__device__ Tid g = {2}; __device__ Tid *p = &g;
    template <class T> __device__ int f(T **q) { int n = (*q)[0]; __syncthreads(); return n; }]],
    "int n = f(&p);", "t+2" },
  { "(p)[0] in a template helper", TID .. [[__device__ Tid g = {2}; template <class T> __device__ int f(T
    *q) { int n = (q)[0]; __syncthreads(); return n; }]], "int n = f(&g);", "t+2" },
  { "*(p + 0) as a condition around a barrier", TID .. "__device__ Tid g[1] = {{-5000}};",
    "__global__ void k(int *a, int w) { int n = *(g + 0); if (n < 0) __syncthreads(); a[threadIdx.x] = n; }",
    "t-5000" },
  { "helper's shared object converts", TID .. [[__device__ int f() { __shared__ Tid o; if (threadIdx.x ==
    0) o.k = 5; __syncthreads(); int n = o; __syncthreads(); return n; }]], "int n = f();", "t+5" },
  { "static member by decltype", CONSTANT .. "struct S { static constexpr Tid c = Tid(3); };",
    "S q; int n = decltype(q)::c;", "t+3", alone = true },
  { "pointer to a member of a class", TID .. [[struct P { Tid c; }; __device__ P o = {{3}}; __device__ P *p
    = &o; __device__ Tid P::*m = &P::c;]], "int n = p->*m;", "t+3" },
  { "variable of a namespace that changes, loop of barriers", "namespace ns { __device__ int g = 0; }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int q = ns::g + t;
    __syncthreads(); if (t == 0) ns::g = 9; __syncthreads(); a[t] = q; }]], "t" },
  { "constructor by a template alias", [[template <class T> struct Tid { T k; __device__ Tid(T x) : k(x) {}
    __device__ operator int() const { return k + threadIdx.x; } }; template <class T> using ti = Tid<T>;]],
    "int n = ti<int>(w);", "t+1" },
  { "value by a template variable", [[template <class T> constexpr T three = T(3);struct Tid { int k;
    constexpr __device__ Tid(int x) : k(x) {} __device__ Tid() {} __device__ operator int() const {
    return k + threadIdx.x; } };]], "int n = three<int> + threadIdx.x;", "t+3" },
  { "value by a template variable of a class", CONSTANT .. [[template <int V> __device__ constexpr Tid
    three = Tid(V);]], "int n = three<3>;", "t+3" },
  { "member of a namespace in a namespace by ::", CONSTANT .. [[namespace p { namespace q { __device__
    constexpr Tid c = Tid(3); } }]], "int n = ::p::q::c;", "t+3", alone = true },

  -- names
  { "variable of a namespace that changes", "namespace ns { __device__ int g = 3; }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int q = ns::g + t;
    __syncthreads(); if (t == 0) ns::g = 9; __syncthreads(); s[t] = ns::g; __syncthreads(); a[t] = q *
    100 + s[63-t]; }]], "(3+t)*100+9" },
  { "global variable by :: that changes", "__device__ int g = 3;",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int q = ::g + t;
    __syncthreads(); if (t == 0) g = 9; __syncthreads(); s[t] = g; __syncthreads(); a[t] = q * 100 +
    s[63-t]; }]], "(3+t)*100+9", alone = true },
  { "::threadIdx", "", "int n = ::threadIdx.x;", "t", alone = true, refused = "with a ::" },
  { "::blockIdx and ::threadIdx", "",
    [[__global__ void k(int *a, int w) { int i = ::blockIdx.x * blockDim.x + threadIdx.x; a[i] = i * w +
    ::threadIdx.x; }]], "t+t%16", grid = 4, block = 16, alone = true,
    refused = "with a ::" },
  { "object named max in a namespace", [[struct F { __device__ int operator()(int a, int b) const { return
    threadIdx.x + a + b; } }; namespace q { __device__ F max; __global__ void k(int *a, int w) {
    __shared__ int s[64]; int n = max(1, 2); s[threadIdx.x] = n; __syncthreads(); a[threadIdx.x] = s[63
    - threadIdx.x] + n; } }]], "__global__ void other() {}", "69", alone = true },
  { "exchange of a helper's name that is a parameter", [[__device__ int me() { return threadIdx.x; }
    __device__ int g(int me) { return ::me() + me; }]], "int n = g(w);", "t+1", alone = true },
  { "kernel's parameter hides a function, ::", "__device__ int w() { return threadIdx.x; }",
    "int n = ::w() + w;", "t+1", alone = true },
  { "method pointer as a template argument, by an alias", METHOD .. [[template <class F> __device__ int
    call(F f) { return (m.*f)(); }]], "int n = call(&N::get);", "t+3" },
  { "pure function with a functor named max", [[struct F { __device__ int operator()(int a, int b) const {
    return threadIdx.x + a; } }; namespace q { __device__ F max; __device__ int f(int x) { return max(x,
    1); } }]], "int n = q::f(2);", "t+2" },
  { "shared functor named as a function", [[struct F { __device__ int operator()(int x) const { return x +
    threadIdx.x; } };__device__ int up(int x) { return x; }]],
    [[__global__ void k(int *a, int w) { __shared__ F up; __syncthreads(); int n = up(3); __syncthreads();
    a[threadIdx.x] = n; }]], "t+3" },
  { "type of a block named as a function", MADE .. UP, "typedef Tid up; int n = up(3);", "t+3" },
  { "alias of a block named as a function", MADE .. UP, "using up = Tid; int n = up(3);", "t+3" },
  { "object by using named as a function", [[struct F { __device__ int operator()(int x) const { return x +
    threadIdx.x; } };namespace q { __device__ F up; } __device__ int up(int x) { return x; }]],
    "using q::up; int n = up(3);", "t+3" },
  { "function by using named as a function", [[namespace q { __device__ int up(int x) { return x +
    threadIdx.x; } } __device__ int up(int x) { return x; }]], "using q::up; int n = up(3);", "t+3" },
  { "function declared in a block", [[__device__ int up(float x); __device__ int up(int x) { return x;
    }__device__ int up(float x) { return threadIdx.x; }]], "__device__ int up(float); int n = up(3);", "t" },
  { "object named sqrtf in the kernel's namespace", [[namespace q { struct F { __device__ int
    operator()(float x) const { return threadIdx.x; } }; __device__ F sqrtf; __global__ void k(int *a,
    int w) { __shared__ int s[64]; int n = sqrtf(4.f); s[threadIdx.x] = n; __syncthreads();
    a[threadIdx.x] = s[63-threadIdx.x] + n; } }]], "__global__ void other() {}", "63", alone = true },
  { "static member function pointer by ::", [[struct S { static __device__ int me() { return threadIdx.x; }
    };]], "auto f = &::S::me; int n = f();", "t", alone = true },
  { "function by :: found in a class and outside", "__device__ int me() { return threadIdx.x; }",
    "int n = ::me();", "t", alone = true },
  { "hidden index behind a function by ::, pointer", "__device__ int me() { return threadIdx.x; }",
    "int (*f)() = ::me; int n = (*f)();", "t", alone = true },
  { "enumerator's value by a namespace", "namespace e { enum { A = 5 }; }",
    "int n = e::A + threadIdx.x;", "t+5" },
  { "structured binding hides a global", "__device__ int x = 7, y = 8; struct P { int a, b; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const auto [x, y] =
    P{t, w}; s[t] = t; __syncthreads(); a[t] = x + y + s[63-t]; }]], "64" },
  { "pointer to a function hides a function", [[__device__ int f(int x) { return 7; } __device__ int g(int
    x) { return x; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int (*f)(int) = g; int
    n = f(t); s[t] = t; __syncthreads(); a[t] = f(n) + s[63-t]; }]], "63" },
  { "using declaration in a block chooses a function", [[namespace p { __device__ int f(int x) { return x +
    threadIdx.x; } } namespace q { __device__ int f(int x) { return x; } }]],
    "using p::f; int n = f(1);", "t+1" },
  { "alias of a namespace in a block", [[namespace p { __device__ int g = 1; __device__ int f(int x) {
    return x + threadIdx.x; } } namespace q { __device__ int f(int x) { return x; } }]],
    "namespace z = p; int n = z::f(1);", "t+1" },
  { "enumerator hides a parameter's name in a block", "",
    "int n = w; { enum { w = 5 }; n += w * (int)threadIdx.x; }", "1+5*t" },
  { "local type hides a variable outside", "__device__ int T = 7;",
    "struct T { int v; }; T x{(int)threadIdx.x}; int n = x.v;", "t" },
  { "class's static member named as a global", [[__device__ int g = 7; struct Q { static __device__ int g()
    { return threadIdx.x; } };]], "int n = Q::g();", "t" },
  { "method of a nested class by a typedef", [[struct Outer { struct In { int v; __device__ int get() const
    { return v + threadIdx.x; } }; }; typedef Outer::In I;]], "I i{3}; int n = i.get();", "t+3" },
  { "static member's address in a template argument by a typedef", [[struct O { static __device__ int get()
    { return threadIdx.x; } }; typedef O I; template <int (*F)()> __device__ int call() { return F(); }]],
    "int n = call<I::get>();", "t" },
  { "static member handed to a function by a typedef", [[struct O { static __device__ int get() { return
    threadIdx.x; } }; typedef O I; __device__ int call(int (*f)()) { return f(); }]],
    "int n = call(I::get);", "t" },
  { "helper's block hides a device object", TID .. [[__device__ Tid acc = {3}; __device__ int f(int w) { {
    int acc = w; } return acc; }]], "int n = f(w);", "t+3" },
  { "helper's condition hides a device object", TID .. [[__device__ Tid acc = {3}; __device__ int f(int w)
    { for (int acc = 0; acc < w; acc++) w--; return acc; }]], "int n = f(w);", "t+3" },
  { "helper's sizeof of a type in front of an object", TID .. [[__device__ Tid acc = {3}; __device__ int
    f(int w) { return sizeof(int) * 0 + (int)acc; }]], "int n = f(w);", "t+3" },
  { "shared names after a comma in brackets", "__device__ int y = 7;",
    [[__global__ void k(int *a, int w) { __shared__ int x[64], (y); int t = threadIdx.x; if (t == 0) y = 5;
    x[t] = t; __syncthreads(); a[t] = x[63-t] + y; }]], "68-t" },
  { "method by a pointer in a base's table", [[struct B { typedef int (B::*fn)() const; int v; __device__
    int one() const { return v + threadIdx.x; } }; typedef B C; __device__ C b = {3};]],
    "C::fn f = &C::one; int n = (b.*f)();", "t+3" },
  { "template method's address by a typedef", [[struct O { template <int N> static __device__ int get() {
    return threadIdx.x + N; } }; typedef O I;]], "int (*f)() = I::get<2>; int n = f();", "t+2" },
  { "template static method by a typedef", [[struct O { template <int N> static __device__ int get() {
    return threadIdx.x + N; } }; typedef O I;]], "int n = I::get<2>();", "t+2" },
  { "functor type by a typedef in a template argument", [[struct F { __device__ int operator()(int x) const
    { return x + threadIdx.x; } }; typedef F G; template <class Op> __device__ int call(int x) { return
    Op()(x); }]], "int n = call<G>(3);", "t+3" },
  { "method by auto of a class made by a helper, pointer to it", [[struct M { int v; __device__ int get()
    const { return v + threadIdx.x; } }; __device__ M make(int v) { return M{v}; }]],
    "auto m = make(3); auto f = &decltype(m)::get; int n = (m.*f)();", "t+3", alone = true },

  -- declarations
  { "bracketed declarator hides a global", HIDE,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int (x) = t; s[t] = t;
    __syncthreads(); a[t] = x + s[63-t]; }]], "63" },
  { "declaration of a global namespace's type hides a global", "struct T { int v; }; __device__ T x = {7};",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; ::T x = {t}; s[t] = t;
    __syncthreads(); a[t] = x.v + s[63-t]; }]], "63", alone = true },
  { "decltype declaration hides a global", HIDE,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; decltype(w) x = t; s[t]
    = t; __syncthreads(); a[t] = x + s[63-t]; }]], "63" },
  { "attribute in front of a declaration that hides a global", HIDE,
    [=[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; [[maybe_unused]] int x
    = t; s[t] = t; __syncthreads(); a[t] = x + s[63-t]; }]=], "63" },
  { "attribute behind a declarator that hides a global", HIDE,
    [=[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x [[maybe_unused]]
    = t; s[t] = t; __syncthreads(); a[t] = x + s[63-t]; }]=], "63" },
  { "__extension__ hides a global", HIDE,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; __extension__ int x =
    t; s[t] = t; __syncthreads(); a[t] = x + s[63-t]; }]], "63" },
  { "init-statement of an if", "__device__ int e = 7;",
    "int n; if (int e = threadIdx.x; e > w) n = e; else n = -e;", "t > 1 and t or -t" },
  { "init-statement of a switch", "__device__ int e = 7;",
    "int n; switch (int e = threadIdx.x & 1; e) { case 0: n = 5; break; default: n = e; }",
    "t % 2 == 0 and 5 or 1" },
  { "condition that declares around a shuffle", "__device__ int e = 7;",
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; if (int e = n / 32) n += __shfl_xor_sync(~0u,
    e, 1); a[threadIdx.x] = n; }]], "t + t // 32" },
  { "condition that declares around a barrier", "__device__ int e = 7;",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; if (int e =
    w) { __syncthreads(); t = s[63-t] + e; } a[threadIdx.x] = t; }]], "64-t" },
  { "macro of a block's declaration", [[#define DECL(T, n, v) T n{v}
__device__ int x = 7;]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; DECL(int, x, t); s[t] =
    t; __syncthreads(); a[t] = x + s[63-t]; }]], "63" },
  { "typename in front", HIDE .. TRAIT,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; typename Tr<int>::type
    x = t; s[t] = t; __syncthreads(); a[t] = x + s[63-t]; }]], "63", alone = true },
  { "class of a class template", [[struct Y { int v; }; __device__ Y x = {7}; template <class T> struct Tr
    { struct In { T v; }; };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; Tr<int>::In x{t}; s[t]
    = t; __syncthreads(); a[t] = x.v + s[63-t]; }]], "63", alone = true },
  { "pack's element hides", HIDE .. [[template <class... T> struct First; template <class A, class... T>
    struct First<A, T...> { typedef A type; };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; First<int, float>::type
    x(t); s[t] = t; __syncthreads(); a[t] = x + s[63-t]; }]], "63", alone = true },
  { "elaborated type hides a global", "struct Y { int v; }; __device__ Y x = {7};",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; struct Y x = {t}; s[t]
    = t; __syncthreads(); a[t] = x.v + s[63-t]; }]], "63" },
  { "alignas hides a global", HIDE,
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; alignas(8) int x = t;
    s[t] = t; __syncthreads(); a[t] = x + s[63-t]; }]], "63" },
  { "pointer to an array hides a global", "__device__ int z[1] = {7}; __device__ int (*x)[1] = &z;",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int l[1]; l[0] = t; int
    (*x)[1] = &l; s[t] = t; __syncthreads(); a[t] = (*x)[0] + s[63-t]; }]], "63" },
  { "member pointer hides a global", "struct P { int a, b; }; __device__ int P::*x = &P::a;",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P p{1, t}; int P::*x =
    &P::b; s[t] = t; __syncthreads(); a[t] = p.*x + s[63-t]; }]], "63" },
  { "shared variable of a nested block hides another", "__shared__ int u;",
    [[__global__ void k(int *a, int w) { int n = threadIdx.x; if (n == 0) u = 7; __syncthreads(); if (w) {
    __shared__ int u; if (n == 0) u = 9; __syncthreads(); n = n + u * 100; } __syncthreads();
    a[threadIdx.x] = n + u; }]], "t+907" },
  { "type of two arguments hides an outer variable", [[template <class A, class B> struct Two { typedef A
    type; };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x = 7; if (w) {
    Two<int, float>::type x = t; s[t] = t; __syncthreads(); s[t] += x; } __syncthreads(); a[t] = s[63-t]
    + x; }]], "2*(63-t)+7", alone = true },
  { "constant of two arguments", "template <int A, int B> struct Sum { static const int v = A + B; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x = Sum<1, 2>::v +
    t, y = x; s[t] = t; __syncthreads(); a[t] = x + y + s[63-t]; }]], "2*(t+3)+63-t", alone = true },
  { "two comparisons as two declarators", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; bool x = t < 5, y = t >
    (w); s[t] = t; __syncthreads(); a[t] = x * 1000 + y * 100 + s[63-t]; }]],
    "(t<5 and 1000 or 0)+(t>1 and 100 or 0)+63-t" },

  -- an object as a parameter: { int v[4]; } of 5, 6, 7, 8
  { "mutating conversion of a parameter", [[struct P { int v[4]; __device__ operator int() { return v[0]++;
    } };]], "__global__ void k(int *a, P p) { int n = p; a[threadIdx.x] = n; }", "5", argument = PACKED },
  { "mutating operator* of a parameter", [[struct P { int v[4]; __device__ int operator*() { return v[0]++;
    } };]], "__global__ void k(int *a, P p) { int n = *p; a[threadIdx.x] = n; }", "5", argument = PACKED },
  { "pointer to an array of a parameter", PACK,
    "__global__ void k(int *a, P p) { int *q = p.v; q[0] += threadIdx.x; a[threadIdx.x] = p.v[0]; }",
    "5 + t", argument = PACKED },
  { "array of a parameter handed to a function", PACK .. [[__device__ void add(int *q) { q[0] +=
    threadIdx.x; }]],
    "__global__ void k(int *a, P p) { add(p.v); a[threadIdx.x] = p.v[0]; }", "5 + t", argument = PACKED },
  { "sum of an array of a parameter", PACK,
    "__global__ void k(int *a, P p) { *(p.v + 1) += threadIdx.x; a[threadIdx.x] = p.v[1]; }",
    "6 + t", argument = PACKED },
  { "starred array of a parameter", PACK,
    "__global__ void k(int *a, P p) { *p.v += threadIdx.x; a[threadIdx.x] = p.v[0]; }",
    "5 + t", argument = PACKED },
  { "range-for by reference over an array of a parameter", PACK,
    "__global__ void k(int *a, P p) { for (int &e : p.v) e += threadIdx.x; a[threadIdx.x] = p.v[0]; }",
    "5 + t", argument = PACKED },
  { "auto of an array of a parameter", PACK,
    "__global__ void k(int *a, P p) { auto q = p.v; q[0] += threadIdx.x; a[threadIdx.x] = p.v[0]; }",
    "5 + t", argument = PACKED },
  { "comma in front of an array of a parameter", PACK,
    "__global__ void k(int *a, P p) { int *q; q = p.v; q[0] += threadIdx.x; a[threadIdx.x] = p.v[0]; }",
    "5 + t", argument = PACKED },
  { "returned pointer to an array of a parameter", PACK .. "__device__ int *same(int *q) { return q; }",
    "__global__ void k(int *a, P p) { same(p.v)[0] += threadIdx.x; a[threadIdx.x] = p.v[0]; }",
    "5 + t", argument = PACKED },
  { "row of an array of a parameter", "struct P { int v[2][2]; };",
    "__global__ void k(int *a, P p) { int *q = p.v[1]; q[0] += threadIdx.x; a[threadIdx.x] = p.v[1][0]; }",
    "7 + t", argument = PACKED },
  { "structured binding of a parameter", "struct P { int a, b, c, d; };",
    "__global__ void k(int *a, P p) { auto &[x, y, z, u] = p; x += threadIdx.x; a[threadIdx.x] = p.a; }",
    "5 + t", argument = PACKED },
  { "member pointer of a parameter", "struct P { int a, b, c, d; };",
    "__global__ void k(int *a, P p) { int P::*m = &P::b; p.*m += threadIdx.x; a[threadIdx.x] = p.b; }",
    "6 + t", argument = PACKED },
  { "const of a parameter decides", [[struct P { int a, b, c, d; __device__ int get() { return 1; }
    __device__ int get() const { return 2; } };]],
    "__global__ void k(int *a, const P p) { a[threadIdx.x] = p.get() * 10 + threadIdx.x; }",
    "20 + t", argument = PACKED },

  -- order of one thread's loads and stores (g++, optimised)
  { "loads around a method store by ->", [[struct E { int v; }; struct Q { E *p; __device__ void put(int v)
    const { p->v = v; } };]],
    [[__global__ void k(int *a, int w) { int i = threadIdx.x; Q q{(E *)(a + 4*i + w)}; int x = a[4*i];
    q.put(x + 100); int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by member reference", "struct Q { int &p; };",
    [[__global__ void k(int *a, int w) { int i = threadIdx.x; Q q{a[4*i + w]}; int x = a[4*i]; q.p = x +
    100; int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by member pointer", "struct Q { int *p; };",
    [[__global__ void k(int *a, int w) { int i = threadIdx.x; Q q{a + 4*i + w}; int x = a[4*i]; *q.p = x +
    100; int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by function pointer", "__device__ void put(int *r, int v) { *r = v; }",
    [[__global__ void k(int *a, int w) { int i = threadIdx.x; void (*f)(int *, int) = put; int x = a[4*i];
    f(a + 4*i + w, x + 100); int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by memcpy", "",
    [[__global__ void k(int *a, int w) { int i = threadIdx.x; int x = a[4*i]; int z = x + 100; memcpy(a +
    4*i + w, &z, 4); int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by function that gives a reference", "__device__ int &at(int &r) { return r; }",
    [[__global__ void k(int *a, int w) { int i = threadIdx.x; int x = a[4*i]; at(a[4*i + w]) = x + 100; int
    y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by structured binding", "struct P { int &r; int k; };",
    [[__global__ void k(int *a, int w) { int i = threadIdx.x; P p{a[4*i + w], 1}; auto &[r, k] = p; int x =
    a[4*i]; r = x + 100; int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },

  -- blocks, warps and the rest
  { "union's other member", "union U { int i; float f; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; U u; u.f = 1.0f; int m
    = u.i; u.i += t; s[t] = t; __syncthreads(); a[t] = u.i - m + s[63-t]; }]], "63" },
  { "bit field of a local class", "struct B { unsigned a : 3; int b : 5; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; B b = {9, 5}; b.a += t;
    s[t] = t; __syncthreads(); a[t] = b.a * 100 + b.b + s[63-t]; }]], "((1+t)%8)*100+5+63-t" },
  { "operator& of a class", [[struct A { int v; __device__ int operator&() const { return v + threadIdx.x;
    } };]], "A p{1}; int n = &p;", "t+1" },
  { "for with a comma of two variables", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = 0; for (int i =
    0, j = t; i < 3; i++, j += 2) { s[t] = j; __syncthreads(); n += s[63-t]; __syncthreads(); } a[t] =
    n; }]], "3*(63-t)+6" },
  { "static table chosen by thread in a condition", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const int tab[3] = {5,
    6, 7}; int n = tab[t % 3]; s[t] = t; __syncthreads(); a[t] = n + s[63-t] + tab[w]; }]],
    "5+t%3+63-t+6" },
  { "typedef of a function's type", [[typedef int fn(int); __device__ int me(int x) { return x +
    threadIdx.x; }]], "fn *f = me; int n = f(3);", "t+3" },
  { "condition with a conversion, then bounds", LIMIT .. "__device__ Lim lim = {40};",
    "__global__ void k(int *a, int w) { int i = threadIdx.x; if (i < lim) a[i] = 1; }",
    "t < 40 - t and 1 or 0" },
  { "bounds against *(p + 1) of a class", LIMIT .. "__device__ Lim lim[1] = {{40}};",
    "__global__ void k(int *a, int w) { int n = *(lim + 0), i = threadIdx.x; if (i < n) a[i] = 1; }",
    "t < 40 - t and 1 or 0" },
  { "stride against *(p + 1) of a class", [[struct Lim { int v; __device__ operator int() const { return v
    + threadIdx.x; } }; __device__ Lim lim[1] = {{40}};]],
    [[__global__ void k(int *a, int w) { int n = *(lim + 0); for (int i = blockIdx.x * blockDim.x +
    threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] += 1; }]], "t < 40 and 1 or 1", size = 64 },
  { "lane by PTX in a helper", [[__device__ int lane() { int n; asm("mov.u32 %0, %%laneid;" : "=r"(n));
    return n; }]], "int n = lane();", "t%32" },
  { "size of the function's name", "", "__global__ void k(int *a, int w) { a[threadIdx.x] = sizeof(__func__); }", "2",
    alone = true },
  { "odd block, hidden index", MADE,
    [[__global__ void k(int *a, int w) { __shared__ int s[33]; int i = threadIdx.x + blockIdx.x *
    blockDim.x; Tid q(0); int n = q; s[threadIdx.x] = n; __syncthreads(); a[i] = s[32 - threadIdx.x] +
    100 * n; }]], "32-t%33+100*(t%33)", grid = 3, block = 33 },
  { "block of one thread", MADE,
    [[__global__ void k(int *a, int w) { __shared__ int s[1]; Tid q(5); s[0] = blockIdx.x; __syncthreads();
    s[0] += q; __syncthreads(); a[blockIdx.x] = s[0]; }]], "t+5", grid = 5, block = 1 },
  { "block of three dimensions", [[struct I { int v; __device__ I() : v((threadIdx.z * blockDim.y +
    threadIdx.y) * blockDim.x + threadIdx.x) {} };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[30]; I i; s[i.v] = i.v; __syncthreads();
    a[blockIdx.x * 30 + i.v] = s[29 - i.v]; }]], "29-t%30", grid = 2, block = { 2, 3, 5 } },
  { "do while by a class around a warp's barrier", MADE,
    [[__global__ void k(int *a, int w) { Tid q(-3); int n = 0; while (q.k < 0) { n += q; __syncwarp();
    q.k++; } a[threadIdx.x] = n; }]], "3*t-6" },
  { "element of an array of classes, masks of warps", MADE,
    [[__global__ void k(int *a, int w) { Tid q[2] = {Tid(1), Tid(2)}; int n = 0; for (int i = 0; i < 2;
    i++) if (q[i] > 20) n += __popc(__activemask()) > 0; a[threadIdx.x] = n; }]],
    "(t > 19 and 1 or 0) + (t > 18 and 1 or 0)" },
  { "value chosen by a cast in brackets", MADE, "Tid q(3); int n = (int)(q) + (int)q;", "2*t+6" },
  { "constructor by a cast in brackets of an alias", MADE .. "typedef Tid ti;", "int n = (ti)(w);", "t+1" },
  { "shuffle of a class's conversion", MADE,
    "__global__ void k(int *a, int w) { Tid q(5); int n = __shfl_sync(~0u, (int)q, 3); a[threadIdx.x] = n; }",
    "t // 32 * 32 + 8" },
  { "grid stride with a class as step", [[struct St { __device__ operator int() const { return gridDim.x *
    blockDim.x; } };]],
    [[__global__ void k(int *a, int w) { St st; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 64;
    i += st) a[i] += i; }]], "t", grid = 2, block = 16, size = 64 },
  { "grid stride whose step reads the thread", [[struct St { __device__ operator int() const { return 64 +
    threadIdx.x; } };]],
    [[__global__ void k(int *a, int w) { St st; int n = 0; for (int i = threadIdx.x; i < 256; i += st) n++;
    a[threadIdx.x] = n; }]],
    "(function() local n, i = 0, t while i < 256 do n = n + 1 i = i + 64 + t end return n end)()" },
  { "block index by a hidden class in rows", "struct B { int v; __device__ B() : v(blockIdx.x) {} };",
    "__global__ void k(int *a, int w) { B b; int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = b.v; }",
    "t//16", grid = 4, block = 16 },
  { "block index by a method in rows", [[struct B { __device__ int v() const { return blockIdx.x; } };
    __device__ B b;]],
    "__global__ void k(int *a, int w) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = b.v(); }",
    "t//16", grid = 4, block = 16 },
  { "block index by a pointer", "__device__ int bx(const uint3 *p) { return p->x; }",
    [[__global__ void k(int *a, int w) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] =
    bx(&blockIdx); }]], "t//16", grid = 4, block = 16 },
  { "block index copied", "",
    [[__global__ void k(int *a, int w) { uint3 b = blockIdx; int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = b.x; }]], "t//16", grid = 4, block = 16 },
  { "sum of a narrow index", "",
    [[__global__ void k(int *a, int w) { int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned char c =
    blockIdx.x * blockDim.x + threadIdx.x; a[i] = c; }]], "t", grid = 4, block = 16 },
  { "sum beside a product", "",
    [[__global__ void k(int *a, int w) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = 2 *
    (blockIdx.x * blockDim.x + threadIdx.x) + w; }]], "2*t+1", grid = 4, block = 16 },
  { "index by a typedef's sum", "",
    [[__global__ void k(int *a, int w) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = i %
    blockDim.x; }]], "t%16", grid = 4, block = 16 },
  { "bounds by a bool of a class", MADE,
    "__global__ void k(int *a, int w) { Tid q(0); bool in = q < 40; if (in) a[threadIdx.x] = 1; }",
    "t < 40 and 1 or 0" },
  { "tile's shuffle of a class", [[#include <cooperative_groups.h>
namespace cg = cooperative_groups; struct Tid { int k; __device__ Tid(int x) : k(x) {} __device__ Tid()
    {} __device__ operator int() const { return k + threadIdx.x; } };]],
    [[__global__ void k(int *a, int w) { auto b = cg::this_thread_block(); auto tile =
    cg::tiled_partition<8>(b); Tid q(1); int n = tile.shfl((int)q, 2); a[threadIdx.x] = n; }]],
    "t // 8 * 8 + 3" },
  { "group's helper by const reference", [[#include <cooperative_groups.h>
namespace cg = cooperative_groups; __device__ int rank(const cg::thread_block &b, int *s) {
    s[b.thread_rank()] = b.thread_rank(); b.sync(); return s[63 - b.thread_rank()]; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; auto b = cg::this_thread_block();
    a[threadIdx.x] = rank(b, s); }]], "63-t" },
  { "variable named as a group's function", [[#include <cooperative_groups.h>
namespace cg = cooperative_groups;]],
    [[__global__ void k(int *a, int w) { auto b = cg::this_thread_block(); int sync = threadIdx.x, size =
    3; b.sync(); a[threadIdx.x] = sync + size; }]], "t+3" },
  { "static local of a device function", [[__device__ int next() { static __device__ int c = 0; return
    atomicAdd(&c, 0); }]], "int n = next() + threadIdx.x;", "t" },
  { "recursive pure function", "__device__ int fac(int n) { return n < 2 ? 1 : n * fac(n - 1); }",
    "int n = fac(3) + threadIdx.x;", "6+t" },
  { "pure function on a pointer to what changes", "__device__ int get(const int *p) { return *p; }",
    [[__global__ void k(int *a, int w) { __shared__ int c; if (threadIdx.x == 0) c = 1; __syncthreads();
    int x = get(&c); __syncthreads(); if (threadIdx.x == 0) c = 5; __syncthreads(); int y = get(&c);
    a[threadIdx.x] = x * 10 + y; }]], "15" },
  { "pure function of a device variable that changes", "__device__ int g; __device__ int get() { return g; }",
    [[__global__ void k(int *a, int w) { int n = 0; for (int i = 0; i < 3; i++) { if (threadIdx.x == 0) g =
    i; __syncthreads(); n = n * 10 + get(); __syncthreads(); } a[threadIdx.x] = n; }]], "12" },
  { "device variable loaded in a block of one thread", "__device__ int g;",
    [[__global__ void k(int *a, int w) { g = w; int x = g; g = 5; int y = g; __syncthreads(); g = x; int z
    = g; a[0] = x * 100 + y * 10 + z; }]], "151", block = 1 },
  { "element loaded in a block of one thread", "",
    [[__global__ void k(int *a, int w) { a[0] = 3; int x = a[0]; a[0] = 5; __syncthreads(); int y = a[0];
    for (int i = 0; i < 3; i++) { a[0] += y; y = a[0]; __syncthreads(); } a[0] = x * 100 + y; }]],
    "340", block = 1 },
  { "const variable of a helper by template", [[template <int N> __device__ int f(int *s) { constexpr int M
    = N * 2; int l[M]; l[M - 1] = threadIdx.x; s[threadIdx.x] = l[M - 1]; __syncthreads(); return s[63 -
    threadIdx.x] + M; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; const int M = 3; a[threadIdx.x] = f<M>(s) +
    M; }]], "63-t+9" },
  { "masked loop with a class as its variable", [[struct It { int i; __device__ It(int x) : i(x) {}
    __device__ explicit operator bool() const { return i > 0; } __device__ It &operator--() { i--;
    return *this; } };]],
    [[__global__ void k(int *a, int w) { int n = 0; for (It it(threadIdx.x % 3); it; --it) n +=
    __popc(__activemask()) > 0; a[threadIdx.x] = n; }]], "t%3" },
  { "masked loop with two variables", "",
    [[__global__ void k(int *a, int w) { int n = 0; for (int i = threadIdx.x % 4, j = 10; i > 0; i--, j++)
    n += __shfl_sync(__activemask(), j, threadIdx.x & 31); a[threadIdx.x] = n; }]],
    "({0,10,21,33})[t%4+1]" },
  { "masked loop whose bound changes in it", "",
    [[__global__ void k(int *a, int w) { int m = threadIdx.x % 4, n = 0; for (int i = 0; i < m; i++) { n +=
    __shfl_xor_sync(~0u, 1, 0); if (threadIdx.x % 4 == 3) m = 1; } a[threadIdx.x] = n; }]],
    "({0,1,2,1})[t%4+1]" },
  { "while with a postfix decrement and a shuffle", "",
    [[__global__ void k(int *a, int w) { int m = threadIdx.x % 4, n = 0; while (m-- > 0) n +=
    __shfl_xor_sync(__activemask(), m, 0); a[threadIdx.x] = n * 10 + m; }]], "({0,0,1,3})[t%4+1]*10-1" },
  { "uniform while with a postfix decrement of a parameter", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = t; while (w-- >
    0) { s[t] = n; __syncthreads(); n = s[63-t] + w; __syncthreads(); } a[t] = n * 10 + w; }]],
    "(63-t)*10-1" },
  { "do while with a prefix decrement", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = t, i = 3; do {
    s[t] = n; __syncthreads(); n = s[63-t] + i; __syncthreads(); } while (--i); a[t] = n * 10 + i; }]],
    "(63-t+6)*10" },
  { "uniform variable assigned in a condition", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = t, m; if ((m =
    w + 2) > 1) { s[t] = n; __syncthreads(); n = s[63-t]; } __syncthreads(); a[t] = n + m; }]], "66-t" },
  { "uniform variable assigned in an argument", "__device__ int id(int x) { return x; }",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int m = 0; int n = id(m
    = t) + m * 0; s[t] = t; __syncthreads(); a[t] = n + m + s[63-t]; }]], "63+t" },
  { "uniform variable swapped by a comma", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x = 1, y = 2, o; if
    (t & 1) o = x, x = y, y = o; s[t] = t; __syncthreads(); a[t] = x * 1000 + y * 100 + s[63-t]; }]],
    "(t % 2 == 1 and 2100 or 1200) + 63 - t" },
  { "uniform array's element by a pointer from another name", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; const int c[2] = {1,
    2}; const int *p = c; *const_cast<int *>(&p[0]) ; s[t] = t; __syncthreads(); a[t] = p[w] * 100 +
    c[0] + s[63-t]; }]], "201+63-t" },
  { "uniform pointer to a pointer", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int *p = s; int **q =
    &p; *q += t; s[t] = t; __syncthreads(); a[t] = *p * 100 + s[63-t]; }]], "100*t+63-t" },
  { "out parameter by a pointer in a struct", [[struct Out { int *n; }; __device__ void put(Out o) { *o.n =
    threadIdx.x; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = 0; put({&n});
    s[t] = t; __syncthreads(); a[t] = n * 100 + s[63-t]; }]], "100*t+63-t" },
  { "builtin with an out pointer", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; float x, y; sincosf(0.f
    * t, &x, &y); s[t] = t; __syncthreads(); a[t] = (int)(x + 2 * y) * 100 + s[63-t]; }]], "200+63-t" },
  { "vector by a chain of assignments", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int2 v, u; v = u =
    make_int2(t, 2); v.x += 1; s[t] = t; __syncthreads(); a[t] = v.x * 100 + u.x + s[63-t]; }]],
    "100*(t+1)+t+63-t" },
  { "parenthesised assignments", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = 0; (n) = t;
    ((n)) += 1; ++(n); (n)++; s[t] = t; __syncthreads(); a[t] = n * 100 + s[63-t]; }]], "100*(t+3)+63-t" },
  { "operators by their names", [[struct C { int v; __device__ C &operator+=(int x) { v += x * threadIdx.x;
    return *this; } };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; C c{0};
    c.operator+=(2); s[t] = t; __syncthreads(); a[t] = c.v * 100 + s[63-t]; }]], "200*t+63-t" },
  { "conversion by its name", MADE, "Tid q(3); int n = q.operator int();", "t+3" },
  { "explicit destructor and placement", [[#include <new>
struct C { int v; __device__ C(int x) : v(x) {} };]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; C c(1); new (&c) C(t);
    s[t] = t; __syncthreads(); a[t] = c.v * 100 + s[63-t]; }]], "100*t+63-t" },
  { "assignment of an aggregate by a list", "struct P { int x, y; };",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; P p{1, 2}; p = {t, 3};
    s[t] = t; __syncthreads(); a[t] = p.x * 100 + p.y + s[63-t]; }]], "100*t+3+63-t" },
  { "compare of pointers to a thread's own", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x[2] = {t, 1}; int
    *p = &x[0], *q = &x[1]; s[t] = t; __syncthreads(); a[t] = (q - p) * 1000 + *p * 100 + *q + s[63-t];
    }]], "1001+100*t+63-t" },
  { "index that a store goes through", "",
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int x[3] = {0, 0, 0};
    int i = 0; x[i++] = t; x[i++] = 1; s[t] = t; __syncthreads(); a[t] = x[0] * 100 + x[1] + i * 10000 +
    s[63-t]; }]], "20001+100*t+63-t" },
  { "short circuit around a helper's effect", [[__device__ int c; __device__ bool hit(int x) { return x &
    1; }]],
    [[__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; int n = 0; if (hit(t)
    && ++n && hit(t >> 1)) n += 10; s[t] = t; __syncthreads(); a[t] = n * 100 + s[63-t]; }]],
    "((t & 1) == 1 and ((t & 2) == 2 and 11 or 1) or 0) * 100 + 63 - t" },
  { "early return in a loop without barriers, with hidden index", MADE,
    [[__global__ void k(int *a, int w) { Tid q(0); for (int i = 0; i < 50; i++) if (q == i) {
    a[threadIdx.x] = i + 1; return; } a[threadIdx.x] = -1; }]], "t < 50 and t + 1 or -1" },
  { "continue in an interchanged loop", "",
    [[__global__ void k(int *a, int w) { int n = 0; for (int i = 0; i < 40 * w; i++) { if ((i +
    threadIdx.x) % 3) continue; n += i; } a[threadIdx.x] = n; }]],
    "(function() local n = 0 for i = 0, 39 do if (i + t) % 3 == 0 then n = n + i end end return n end)()" },
  { "two grid strides with a class between", MADE,
    [[__global__ void k(int *a, int w) { Tid q(0); for (int i = threadIdx.x; i < 64 * w; i += blockDim.x)
    a[i] += q; for (int i = threadIdx.x; i < 64 * w; i += blockDim.x) a[i] += 1; }]],
    "t % 16 + 1", block = 16, size = 64 },
}
