-- SPDX-License-Identifier: MIT
--
-- Probes of what changes an object in an unusual way, and what keeps its address; see probes.lua for the form of a
-- case.

local HEAD = "__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; "
local KERNEL = "__global__ void k(int *a, int w) { "
local EXPLICIT = [[struct C { __device__ explicit operator int() const { return 1; } __device__ operator
    float() const { return 2.5f; } };]]
local ARRAY = "struct P { int e[4]; };"

return {
  -- order of what stands around a warp operation
  { "shuffle whose mask has an effect", "", KERNEL .. [[int n = threadIdx.x; unsigned m = 0; int o = __shfl_xor_sync(m =
    ~0u, n, 1); a[threadIdx.x] = o + (m == ~0u); }]], "(t~1)+1" },
  { "value of a shuffle in a compound statement", "", KERNEL .. [[int n = threadIdx.x; int x = (n += 5) * 0 +
    __shfl_xor_sync(~0u, threadIdx.x, 1); a[threadIdx.x] = x * 100 + n; }]], "(t~1)*100+t+5" },
  { "shift of an assignment and a shuffle", "", KERNEL .. [[int n = threadIdx.x; int x = (n = 2) << __shfl_sync(~0u, n -
    1, 0); a[threadIdx.x] = x + threadIdx.x; }]], "4+t" },
  { "list of a change and a shuffle", "", KERNEL .. [[int n = threadIdx.x; int x[2] = {n += 5, __shfl_xor_sync(~0u, n,
    1)}; a[threadIdx.x] = x[0] * 100 + x[1]; }]], "(t+5)*100+(t~1)+5" },
  { "method with an effect in front of a shuffle", [[struct C { int v; __device__ C &inc() { v += 5; return *this; }
    __device__ int plus(int x) { return v * 100 + x; } };]], KERNEL .. [[C c{(int)threadIdx.x}; int x =
    c.inc().plus(__shfl_xor_sync(~0u, c.v, 1)); a[threadIdx.x] = x; }]], "(t+5)*100+(t~1)+5" },
  { "subscript with an effect in front of a shuffle", "__device__ int *inc(int *p, int &x) { x += 5; return p; }",
    KERNEL .. [[int l[64]; for (int i = 0; i < 64; i++) l[i] = i; int n = threadIdx.x & 15; int x = inc(l,
    n)[__shfl_xor_sync(~0u, n, 1)]; a[threadIdx.x] = x; }]], "((t & 15)~1)+5" },

  -- initialisation
  { "copy initialisation beside an explicit conversion", EXPLICIT, "C c; int n = c;", "2" },
  { "array of objects that hold their address", [[struct R { int v; R *self; __device__ R(int x) : v(x), self(this) {}
    };]], HEAD .. [[R r[2] = {R(t), R(2 * t)}; s[t] = t; __syncthreads(); a[t] = (r[1].self == &r[1]) * 100 +
    r[0].self->v + s[63-t]; }]], "163" },
  { "temporary that an aggregate's reference keeps", "struct V { const int &r; };", HEAD .. [[V v{t + 1}; int z[8]; for
    (int i = 0; i < 8; i++) z[i] = t * i; s[t] = t; __syncthreads(); a[t] = v.r * 100 + s[63-t] + z[0]; }]],
    "(t+1)*100+63-t" },

  -- changes that have another look
  { "pointer moved by *p++", "", HEAD .. [[s[t] = t; __syncthreads(); const int *p = s; int n = 0; for (int i = 0; i <=
    t; i++) n += *p++; __syncthreads(); a[t] = n + (int)(p - s) * 1000; }]], "t*(t+1)//2+1000*(t+1)" },
  { "parameter moved in a kernel without barriers", "", KERNEL .. "*a++; a[(int)threadIdx.x - 1] = threadIdx.x * w; }",
    "t" },
  { "functor named as a function by value", [[__device__ int put(int x) { return x; } struct Put {
    __device__ void operator()(int &x) const { x = threadIdx.x; } };]], "Put put; int n = 0; put(n);", "t" },
  { "class template's constructor with a reference argument", [[template <class R> struct H { R r;
    __device__ H(R x) : r(x) {} };]], "int n = 0; H<int &> h = n; h.r = threadIdx.x;", "t" },
  { "constructor keeps the address of a const reference", [[struct R { const int *p; __device__ R(const int
    &x) : p(&x) {} };]], "int n = 0; R r = n; *(int *)r.p = threadIdx.x;", "t" },
  { "std::move kept in a block", [[#include <utility>
]], "int n = 0; if (w) { auto &&r = std::move(n); r = threadIdx.x; }", "t" },
  { "swap found by its argument's namespace", [[namespace p { struct A { int v; }; __device__ void swap(A &x, A &y) {
    int o = x.v; x.v = y.v; y.v = o + threadIdx.x; } }]], "p::A x{1}, y{2}; swap(x, y); int n = y.v;", "t+1" },
  { "forwarded to a constructor", [[#include <utility>
struct R { int &r; __device__ R(int &x) : r(x) {} }; template <class... A> __device__ R make(A &&...x) {
    return R(std::forward<A>(x)...); }]], "int n = 0; R r = make(n); r.r = threadIdx.x;", "t" },
  { "stream of a class with a bound value", [[struct In { int k; template <class T> __device__ In &operator>>(T &x) { x
    = k + threadIdx.x; return *this; } };]], "In i{1}; int n = 0, m = 0; i >> n >> m; n += m;", "2*t+2" },
  { "assignment operator by value of a class holding a reference", [[struct R { int *p; __device__ R(int &x) : p(&x) {}
    __device__ void operator=(R o) { *o.p = threadIdx.x; } };]], "int m = 0, n = 0; R r(m); r = n;", "t" },
  { "parameter's address in a braced class", "struct R { int *p; };", HEAD .. [[R r{&w}; *r.p += t; s[t] = t;
    __syncthreads(); a[t] = w * 100 + s[63-t]; }]], "(t+1)*100+63-t" },
  { "atomic behind a cast", "", HEAD .. [[int n = 0; atomicAdd((unsigned *)&n, (unsigned)t); s[t] = t; __syncthreads();
    a[t] = n * 100 + s[63-t]; }]], "100*t+63-t" },
  { "vector's component by a cast of its address", "",
    "int2 v = make_int2(0, 0); ((int *)&v)[1] = threadIdx.x; int n = v.y;", "t" },
  { "**p++ of pointers", "", HEAD .. [[s[t] = t; __syncthreads(); int *l[2] = {s, s + 1}; int **p = l; int n = 0; if (t
    & 1) n = **p++; __syncthreads(); a[t] = (int)(p - l) * 100 + **p; }]], "t%2*101" },
  { "*p++ as a target", "", HEAD .. [[int l[4]; int *p = l; *p++ = t; *p++ = 2 * t; s[t] = t; __syncthreads(); *p++ =
    s[63-t]; a[t] = l[0] + l[1] * 10 + l[2] * 1000 + (int)(p - l); }]], "21*t+1000*(63-t)+3" },
  { "a loop that copies by *p++ = *q++", "", HEAD .. [[s[t] = t; __syncthreads(); const int *q = s + t; int l[3]; int *p
    = l; for (int i = 0; i < 1 + (t < 62) + (t < 62); i++) *p++ = *q++; __syncthreads(); a[t] = (int)(q - s) - t; }]],
    "t < 62 and 3 or 1" },
  { "pointer advanced under a condition", "", HEAD .. [[s[t] = t; __syncthreads(); int *p = s; if (t == 5) (void)*p++;
    __syncthreads(); a[t] = *p; }]], "t == 5 and 1 or 0" },

  -- addresses that are kept
  { "row of a 2D array over a barrier", "", HEAD .. [[int m[2][3]; int *row = m[1]; m[1][0] = t; row[1] = 2 * t; s[t] =
    t; __syncthreads(); a[t] = row[0] * 100 + row[1] + s[63-t]; }]], "101*t+63" },
  { "object that gives its address by a conversion", [[struct P { int e[4]; __device__ operator int *() { return e; }
    };]], HEAD .. [[P b; int *p = b; p[0] = t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + p[1] +
    s[63-t]; }]], "101*t+63" },
  { "address of what operator* gives", "struct P { int e[4]; __device__ int &operator*() { return e[0]; } };", HEAD ..
    [[P b; int *p = &*b; p[0] = t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 + p[1] + s[63-t]; }]],
    "101*t+63" },
  { "address of what operator-> gives", [[struct Q { int e[4]; }; struct P { Q q; __device__ Q *operator->() { return
    &q; } };]], HEAD .. [[P b; int *p = &b->e[0]; p[0] = t; p[1] = 2 * t; s[t] = t; __syncthreads(); a[t] = p[0] * 100 +
    p[1] + s[63-t]; }]], "101*t+63" },
  { "object that a constructor keeps", "struct R { int v; __device__ R(R **h) { *h = this; } };", HEAD .. [[R *p; R
    r(&p); r.v = t; s[t] = t; __syncthreads(); a[t] = p->v + s[63-t]; }]], "63" },
  { "iterator of a class kept", [[struct It { int *p; __device__ int operator*() const { return *p; } }; struct P { int
    e[4]; __device__ It begin() { return {e}; } };]], HEAD .. [[P b; It p = b.begin(); b.e[0] = t; s[t] = t;
    __syncthreads(); a[t] = *p * 100 + s[63-t]; }]], "100*t+63-t" },
  { "base that registers itself", [[struct B; __device__ inline void reg(B **h, B *b) { *h = b; } struct B { int v;
    __device__ B(B **h) { reg(h, this); } }; struct D : B { int z; __device__ D(B **h, int x) : B(h), z(x) { v = x; }
    };]], HEAD .. "B *p; D d(&p, t); s[t] = t; __syncthreads(); a[t] = p->v * 100 + s[63-t]; }", "100*t+63-t" },
  { "class counted in an interchanged loop", [[struct C { int n; __device__ C() : n(0) {} __device__ void operator+=(int
    x) { n += x * threadIdx.x; } };]], KERNEL .. [[C c; for (int i = 0; i < 40 * w; i++) c += i; a[threadIdx.x] = c.n;
    }]], "780*t" },
  { "array of a thread's own in an interchanged loop", "", KERNEL .. [[int l[3] = {0, 0, 0}; for (int i = 0; i < 40 * w;
    i++) { int *p = l + i % 3; *p += threadIdx.x; } a[threadIdx.x] = l[0]; }]], "14*t" },
  { "object in an interchanged loop keeps an address", "struct P { int e[2]; };", KERNEL .. [[int n = 0; for (int i = 0;
    i < 40 * w; i++) { P b; int *p = b.e; p[0] = threadIdx.x; for (int j = 0; j < 40 * w; j++) p[0] += 1; n += p[0]; }
    a[threadIdx.x] = n; }]], "40*t+1600" },
  { "reference to an element in an interchanged loop", "", KERNEL .. [[int x = 0; int &r = x; for (int i = 0; i < 40 *
    w; i++) r += threadIdx.x; a[threadIdx.x] = x; }]], "40*t" },
  { "reused variable is kept by an assignment", [[struct Keep { const int *p; __device__ void operator=(const int &x) {
    p = &x; } };]], KERNEL .. [[__shared__ int s[64]; Keep q; int n = 0; int i; for (i = 0; i < 3; i++) { q = i;
    __syncthreads(); } for (i = (int)threadIdx.x; i < 64; i += 100) { n = *q.p; } s[threadIdx.x] = n; __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63-t" },
  { "reference outside of a loop over shared elements", "", KERNEL .. [[__shared__ int s[64]; s[threadIdx.x] = 1;
    __syncthreads(); int n = 0; if (threadIdx.x == 0) { int &r = s[5]; for (int k = 0; k < 64; k++) { r++; n += s[k]; }
    } a[threadIdx.x] = n; }]], "t == 0 and 64 + 6 or 0" },
  { "member array handed to a function that keeps it", ARRAY .. [[struct V { int *p; }; __device__ V view(int *p) {
    return V{p}; }]], HEAD .. [[P b; V v = view(b.e); v.p[0] = t; s[t] = t; __syncthreads(); a[t] = v.p[0] * 100 +
    s[63-t]; }]], "100*t+63-t" },
  { "member array chosen", "struct P { int e[2], f[2]; };", HEAD .. [[P b; int *p = w ? b.e : b.f; p[0] = t; s[t] = t;
    __syncthreads(); a[t] = p[0] * 100 + s[63-t]; }]], "100*t+63-t" },
  { "iterator over an array of a thread's own", [[struct It { const int *p; __device__ It(const int (&x)[3]) : p(x) {}
    };]], HEAD .. "int m[3] = {t, 1, 2}; It i(m); s[t] = t; __syncthreads(); a[t] = i.p[0] * 100 + s[63-t]; }",
    "100*t+63-t" },
  { "unions that share memory by a member array", "union U { int i[2]; long long l; };", HEAD .. [[U u; int *p = u.i;
    u.l = 0; p[1] = t; s[t] = t; __syncthreads(); a[t] = p[1] * 100 + (int)(u.l >> 32) + s[63-t]; }]], "101*t+63-t" },
  { "object with a pointer into itself, result of a helper", [[struct P { int e[2]; int *q; __device__ P(int x) : q(e +
    1) { e[0] = x; e[1] = 2 * x; } __device__ P(const P &o) : q(e + 1) { e[0] = o.e[0]; e[1] = o.e[1]; } }; __device__ P
    make(int x) { P p(x); __syncthreads(); return p; }]], HEAD .. [[P b = make(t); s[t] = t; __syncthreads(); a[t] =
    (b.q == b.e + 1) * 1000 + *b.q + s[63-t]; }]], "1000+2*t+63-t" },
}
