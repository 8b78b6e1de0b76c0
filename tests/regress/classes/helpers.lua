-- SPDX-License-Identifier: MIT
--
-- Probes of a helper's parameters, its result and its names where its body stands in place of the call; see
-- probes.lua for the form of a case.

local HEAD = "__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; "
local KERNEL = "__global__ void k(int *a, int w) { "
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
local DERIVED = [[struct B { int v; __device__ int get() { return 1; } }; struct D : B { __device__ int
    get() { return 2; } };]]

return {
  -- helpers: parameters and results
  { "result of a helper as an rvalue", CATEGORY .. TURN, KERNEL .. [[__shared__ int s[64]; int n = cat(turn(s,
    threadIdx.x)); a[threadIdx.x] = n; }]], "3" },
  { "decltype of a helper's result", IS .. TURN, KERNEL .. [[__shared__ int s[64]; int n = turn(s, threadIdx.x);
    a[threadIdx.x] = n * 10 + Is<decltype(turn(s, 1))>::r; }]], "(63-t)*10+1", alone = true },
  { "forwarded result of a helper", IS .. TURN .. "template <class T> __device__ int kind(T &&) { return Is<T>::r; }",
    KERNEL .. "__shared__ int s[64]; int n = kind(turn(s, threadIdx.x)); a[threadIdx.x] = n; }", "1", alone = true },
  { "barrier's count as an rvalue", CATEGORY, KERNEL .. [[int n = cat(__syncthreads_count(threadIdx.x > 5));
    a[threadIdx.x] = n; }]], "3" },
  { "method by value category of a helper's result", [[struct P { int v; __device__ int get() & { return 1; } __device__
    int get() && { return 2; } }; __device__ P turn(int *s) { s[threadIdx.x] = 1; __syncthreads(); return P{s[0]}; }]],
    KERNEL .. "__shared__ int s[64]; a[threadIdx.x] = turn(s).get(); }", "2" },
  { "shuffle's result as an rvalue", CATEGORY, KERNEL .. [[int x = threadIdx.x; a[threadIdx.x] =
    cat(__shfl_xor_sync(~0u, x, 1)); }]], "3" },
  { "east const reference of a helper", BOTH .. "__device__ int ask(P const &p) { __syncthreads(); return p.get(); }",
    KERNEL .. "P p{5}; a[threadIdx.x] = ask(p); }", "2" },
  { "base reference of a helper", DERIVED .. "__device__ int ask(B &p) { __syncthreads(); return p.get(); }", KERNEL ..
    "D d; a[threadIdx.x] = ask(d); }", "1" },
  { "const base reference of a helper, virtual", [[struct B { int v; __device__ virtual int get() const { return 1; } };
    struct D : B { __device__ int get() const override { return 2; } }; __device__ int ask(const B &p) {
    __syncthreads(); return p.get(); }]], KERNEL .. "D d; a[threadIdx.x] = ask(d); }", "2" },
  { "converted east const reference of a helper", [[__device__ int half(int const &x) { __syncthreads(); return x / 2 *
    2; }]], KERNEL .. "float f = 5.5f + threadIdx.x; a[threadIdx.x] = half(f); }", "(5+t)//2*2" },
  { "const reference of a helper, late", [[__device__ int late(const int &x, int *s) { if (threadIdx.x == 1) s[0] = 7;
    __syncthreads(); return x; }]], KERNEL .. [[__shared__ int s[2]; if (threadIdx.x == 0) s[0] = 3; __syncthreads();
    a[threadIdx.x] = late(s[0], s); }]], "7" },
  { "const reference of a helper, own variable changed", [[__device__ int late(const int &x, int *p) { *p += 5;
    __syncthreads(); return x; }]], KERNEL .. "int n = threadIdx.x; a[threadIdx.x] = late(n, &n); }", "t+5" },
  { "reference to a pointer to const", "__device__ void next(const int *&p) { p += 2; __syncthreads(); }", KERNEL ..
    [[__shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads(); const int *p = s; next(p); a[threadIdx.x] =
    *p; }]], "2" },
  { "rvalue reference of a helper changes", "__device__ void add(int &&x) { x += 5; __syncthreads(); }", KERNEL .. [[int
    n = threadIdx.x; add(static_cast<int &&>(n)); a[threadIdx.x] = n; }]], "t+5" },
  { "result of a helper by operator=", [[struct R { int v; __device__ R() : v(0) {} __device__ R(int x) : v(x) {}
    __device__ void operator=(int x) { v = 10 * x; } }; __device__ R f(int *s, int x) { s[threadIdx.x] = x;
    __syncthreads(); return s[63 - threadIdx.x]; }]], HEAD .. "R r = f(s, t); a[t] = r.v; }", "63-t" },
  { "effect of an unnamed argument", [[__device__ int f(int, int *s) { s[threadIdx.x] = threadIdx.x; __syncthreads();
    return s[63 - threadIdx.x]; }]], HEAD .. "int n = t; int o = f(n += 5, s); a[t] = n * 100 + o; }",
    "(t+5)*100+63-t" },
  { "order in braces before a helper", [[struct P { int x, y; }; __device__ int turn(int *s, int v) { s[threadIdx.x] =
    v; __syncthreads(); return s[63 - threadIdx.x]; }]], HEAD .. [[int n = t; P p{n += 5, turn(s, n)}; a[t] = p.x * 100
    + p.y; }]], "(t+5)*100+68-t" },
  { "helper's loop variable has the argument's name", [[__device__ void f(int &v) { for (int i = 0; i < 3; i++) v += i;
    __syncthreads(); }]], KERNEL .. "int i = 5; f(i); a[threadIdx.x] = i + threadIdx.x; }", "8+t" },
  { "helper that changes its argument's array element", [[__device__ void f(int &v, int *p) { p[0] = 1; __syncthreads();
    v += p[0]; }]], KERNEL .. "int x[2] = {(int)threadIdx.x, 0}; f(x[0], x); a[threadIdx.x] = x[0]; }", "2" },
  { "helper with an argument that moves", [[__device__ int f(int &v) { int o = v; __syncthreads(); v = o + 1; return o;
    }]], KERNEL .. [[int x[3] = {(int)threadIdx.x, 10, 20}; int i = 0; int n = f(x[i++]); a[threadIdx.x] = n * 100 +
    x[0] + i; }]], "100*t+t+2" },
  { "static constexpr in a helper", [[__device__ int f(int v) { static constexpr int K = 7; __syncthreads(); return v +
    K; }]], KERNEL .. "const int K = 1; a[threadIdx.x] = f(threadIdx.x) + K; }", "t+8" },
  { "helper's parameter by value of an array element", [[__device__ int f(const int v[2]) { __syncthreads(); return
    v[1]; }]], KERNEL .. "int x[2] = {1, (int)threadIdx.x}; a[threadIdx.x] = f(x); }", "t" },
  { "volatile helper parameter", [[__device__ int f(volatile int *s) { s[threadIdx.x] = threadIdx.x; __syncthreads();
    return s[63 - threadIdx.x]; }]], KERNEL .. "__shared__ int s[64]; a[threadIdx.x] = f(s); }", "63-t" },
  { "narrow parameter of a helper", "__device__ int f(unsigned char v) { __syncthreads(); return v; }", KERNEL ..
    "a[threadIdx.x] = f(threadIdx.x + 250); }", "(t+250)%256" },
  { "bool result of a helper", "__device__ bool f(int v) { __syncthreads(); return v; }", KERNEL ..
    "a[threadIdx.x] = f(threadIdx.x) * 5; }", "t > 0 and 5 or 0" },
  { "default argument with a const reference", "__device__ int f(const int &v = 5) { __syncthreads(); return v; }",
    KERNEL .. "a[threadIdx.x] = f() + f(threadIdx.x); }", "t+5" },
  { "const reference of an element that another changes", [[__device__ int f(const int &v, int *s) { s[(threadIdx.x + 1)
    % 64] = 5 * threadIdx.x; __syncthreads(); return v; }]], KERNEL .. [[__shared__ int s[64]; a[threadIdx.x] =
    f(s[threadIdx.x], s); }]], "5*((t+63)%64)" },
  { "const reference of a large class", [[struct Big { int v[40]; }; __device__ int f(const Big &b, Big *p) { p->v[3] =
    threadIdx.x; __syncthreads(); return b.v[3]; }]], KERNEL .. "Big b; b.v[3] = 1; a[threadIdx.x] = f(b, &b); }", "t"
    },
  { "copies of a const reference counted", [[__device__ int copies; struct C { int v; __device__ C(int x) : v(x) {}
    __device__ C(const C &o) : v(o.v) { atomicAdd(&copies, 1); } }; __device__ int f(const C &c) { __syncthreads();
    return c.v; }]], KERNEL .. "C c(threadIdx.x); int n = f(c); __syncthreads(); a[threadIdx.x] = n + copies; }", "t" },
  { "address of a const reference", "__device__ const int *f(const int &v) { __syncthreads(); return &v; }", KERNEL ..
    [[int x = threadIdx.x; const int *p = f(x); a[threadIdx.x] = (p == &x) * 100 + x; }]], "100+t" },
  { "result converted by an operator= of a template", [[template <class T> struct R { T v; __device__ R() {} __device__
    R(T x) : v(x) {} template <class U> __device__ void operator=(U x) { v = 10 * x; } }; __device__ R<int> f(int x) {
    __syncthreads(); return x; }]], KERNEL .. "R<int> r = f(threadIdx.x); a[threadIdx.x] = r.v; }", "t" },
  { "result of a class whose default constructor counts", [[__device__ int made; struct R { int v; __device__ R() : v(0)
    { atomicAdd(&made, 1); } __device__ R(int x) : v(x) {} }; __device__ R f(int x) { __syncthreads(); return R(x); }]],
    KERNEL .. "R r = f(threadIdx.x); __syncthreads(); a[threadIdx.x] = r.v + made; }", "t" },
  { "overload chosen among helpers with a kernel's variable of the name", [[__device__ int f(int v) { __syncthreads();
    return v; } __device__ int f(float v) { __syncthreads(); return 100; }]], KERNEL .. [[int n = f((int)threadIdx.x) +
    f(1.f); a[threadIdx.x] = n; }]], "t+100", alone = true },
  { "overload on a reference's const among helpers, over a barrier", [[__device__ int f(int &v) { __syncthreads();
    return v = 1; } __device__ int f(const int &v) { __syncthreads(); return 2; } __device__ int f(int &&v) {
    __syncthreads(); return 3; }]], KERNEL .. [[int x = threadIdx.x; const int y = x; a[threadIdx.x] = f(x) * 100 + f(y)
    * 10 + f(x + y); }]], "123" },
  { "explicit const argument of a helper", BOTH .. [[template <class T> __device__ int f(T &p) { __syncthreads(); return
    p.get(); }]], KERNEL .. "P p{1}; a[threadIdx.x] = f<const P>(p) * 10 + f(p); }", "21" },
  { "volatile reference of a helper", [[__device__ int kind(volatile int &) { return 1; } __device__ int kind(int &) {
    return 2; } __device__ int f(volatile int &v) { __syncthreads(); return kind(v); }]], KERNEL ..
    "int x = threadIdx.x; a[threadIdx.x] = f(x); }", "1" },

  -- helpers: names that mean something else where they are called
  { "helper's global hidden by a kernel's variable", [[__device__ int g = 7; __device__ int f(int v) { __syncthreads();
    return v + g; }]], KERNEL .. "int g = threadIdx.x; a[threadIdx.x] = f(g); }", "t+7" },
  { "helper's constant of its namespace", [[constexpr int K = 1; namespace ns { constexpr int K = 7; __device__ int
    f(int v) { __syncthreads(); return v + K; } }]], KERNEL .. "a[threadIdx.x] = ns::f(threadIdx.x); }", "t+7" },
  { "helper's overload as of its definition", [[__device__ int c(float v) { return 7; } __device__ int f(int v) {
    __syncthreads(); return v + c(v); } __device__ int c(int v) { return 1; }]], KERNEL ..
    "a[threadIdx.x] = f(threadIdx.x); }", "t+7" },
  { "helper's default argument of its namespace", [[constexpr int K = 1; namespace ns { constexpr int K = 7; __device__
    int f(int v, int b = K) { __syncthreads(); return v + b; } }]], KERNEL .. "a[threadIdx.x] = ns::f(threadIdx.x); }",
    "t+7" },
  { "helper's type hidden by a kernel's", [[struct Op { static const int k = 7; }; __device__ int f(int v) {
    __syncthreads(); return v + Op::k; }]], KERNEL .. [[struct Op { enum { k = 1 }; }; a[threadIdx.x] = f(threadIdx.x) +
    Op::k; }]], "t+8" },
  { "helper's condition declares the argument's name", [[__device__ void f(int &v) { if (int q = v) v = q + 1;
    __syncthreads(); }]], KERNEL .. "int q = 5; f(q); a[threadIdx.x] = q + threadIdx.x; }", "6+t" },
  { "helper's global by a using directive", [[namespace ns { constexpr int K = 7; } using namespace ns; __device__ int
    f(int v) { __syncthreads(); return v + K; }]], KERNEL .. "const int K = 1; a[threadIdx.x] = f(threadIdx.x) + K; }",
    "t+8" },
  { "helper's called function hidden by a functor", [[__device__ int c(int v) { return 7; } struct C { __device__ int
    operator()(int v) const { return 1; } }; __device__ int f(int v) { __syncthreads(); return v + c(v); }]], KERNEL ..
    "C c; a[threadIdx.x] = f(threadIdx.x) + c(0); }", "t+8", alone = true },
  { "helper's typedef hidden by a kernel's", [[typedef float real; __device__ int f(int v) { real x = v + 0.5f;
    __syncthreads(); return x * 2; }]], KERNEL .. [[typedef int real; real z = 1; a[threadIdx.x] = f(threadIdx.x) + z;
    }]], "2*t+2" },
}
