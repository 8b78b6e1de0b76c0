-- SPDX-License-Identifier: MIT
--
-- Probes of elements and constants of classes, objects as parameters, the order of loads and stores; see probes.lua
-- for the form of a case.

local KERNEL = "__global__ void k(int *a, int w) { "
local PACKED = string.pack("i4i4i4i4", 5, 6, 7, 8)
local TID = "struct Tid { int k; __device__ operator int() const { return k + threadIdx.x; } };"
local CONSTANT = [[struct Tid { int k; constexpr __device__ Tid(int x) : k(x) {} __device__ operator int()
    const { return k + threadIdx.x; } };]]
local PACK = "struct P { int v[4]; };"

return {
  -- elements and constants of classes
  { "constexpr auto object outside", CONSTANT .. "__device__ constexpr auto C = Tid(3);", "int n = C;", "t+3" },
  { "constant by ::", CONSTANT .. "__device__ constexpr Tid C = Tid(3);", "int n = ::C;", "t+3", alone = true },
  { "*(g + 1) of a device array of a class", TID .. "__device__ Tid g[2] = {{1}, {2}};", "int n = *(g + w);", "t+2" },
  { "(p)[1] of a class", TID .. "__device__ Tid g[2] = {{1}, {2}};", "Tid *p = g; int n = (p)[w];", "t+2" },
  { "1[g] of a class", TID .. "__device__ Tid g[2] = {{1}, {2}};", "int n = 1[g];", "t+2" },
  { "*(s + 1) of a shared class", TID, KERNEL .. [[__shared__ Tid s[2]; if (threadIdx.x < 2) s[threadIdx.x].k = 3;
    __syncthreads(); int n = *(s + w); __syncthreads(); a[threadIdx.x] = n; }]], "t+3" },
  { "**p of a template's class in a helper", TID .. [[__device__ Tid g = {2}; __device__ Tid *p = &g; template <class T>
    __device__ int f(T **q) { int n = **q; __syncthreads(); return n; }]], "int n = f(&p);", "t+2" },
  { "(p)[0] in a template helper", TID .. [[__device__ Tid g = {2}; template <class T> __device__ int f(T
    *q) { int n = (q)[0]; __syncthreads(); return n; }]], "int n = f(&g);", "t+2" },
  { "*(p + 0) as a condition around a barrier", TID .. "__device__ Tid g[1] = {{-5000}};", KERNEL .. [[int n = *(g + 0);
    if (n < 0) __syncthreads(); a[threadIdx.x] = n; }]], "t-5000" },
  { "static member by decltype", CONSTANT .. "struct S { static constexpr Tid c = Tid(3); };",
    "S q; int n = decltype(q)::c;", "t+3", alone = true },
  { "pointer to a member of a class", TID .. [[struct P { Tid c; }; __device__ P o = {{3}}; __device__ P *p
    = &o; __device__ Tid P::*m = &P::c;]], "int n = p->*m;", "t+3" },
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

  -- an object as a parameter: { int v[4]; } of 5, 6, 7, 8
  { "mutating conversion of a parameter", [[struct P { int v[4]; __device__ operator int() { return v[0]++;
    } };]], "__global__ void k(int *a, P p) { int n = p; a[threadIdx.x] = n; }", "5", argument = PACKED },
  { "pointer to an array of a parameter", PACK, [[__global__ void k(int *a, P p) { int *q = p.v; q[0] += threadIdx.x;
    a[threadIdx.x] = p.v[0]; }]], "5 + t", argument = PACKED },
  { "array of a parameter handed to a function", PACK .. "__device__ void add(int *q) { q[0] += threadIdx.x; }",
    [[__global__ void k(int *a, P p) { add(p.v); a[threadIdx.x] = p.v[0]; }]], "5 + t", argument = PACKED },
  { "starred array of a parameter", PACK, [[__global__ void k(int *a, P p) { *p.v += threadIdx.x; a[threadIdx.x] =
    p.v[0]; }]], "5 + t", argument = PACKED },
  { "range-for by reference over an array of a parameter", PACK, [[__global__ void k(int *a, P p) { for (int &e : p.v) e
    += threadIdx.x; a[threadIdx.x] = p.v[0]; }]], "5 + t", argument = PACKED },
  { "row of an array of a parameter", "struct P { int v[2][2]; };", [[__global__ void k(int *a, P p) { int *q = p.v[1];
    q[0] += threadIdx.x; a[threadIdx.x] = p.v[1][0]; }]], "7 + t", argument = PACKED },
  { "member pointer of a parameter", "struct P { int a, b, c, d; };", [[__global__ void k(int *a, P p) { int P::*m =
    &P::b; p.*m += threadIdx.x; a[threadIdx.x] = p.b; }]], "6 + t", argument = PACKED },

  -- order of one thread's loads and stores (g++, optimised)
  { "loads around a method store by ->", [[struct E { int v; }; struct Q { E *p; __device__ void put(int v) const { p->v
    = v; } };]], KERNEL .. [[int i = threadIdx.x; Q q{(E *)(a + 4*i + w)}; int x = a[4*i]; q.put(x + 100); int y =
    a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]], "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by member reference", "struct Q { int &p; };", KERNEL .. [[int i = threadIdx.x; Q q{a[4*i +
    w]}; int x = a[4*i]; q.p = x + 100; int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]],
    "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by function pointer", "__device__ void put(int *r, int v) { *r = v; }", KERNEL .. [[int i =
    threadIdx.x; void (*f)(int *, int) = put; int x = a[4*i]; f(a + 4*i + w, x + 100); int y = a[4*i+1]; a[4*i+2] = y;
    a[4*i+3] = x + 1; }]], "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
  { "loads around a store by memcpy", "", KERNEL .. [[int i = threadIdx.x; int x = a[4*i]; int z = x + 100; memcpy(a +
    4*i + w, &z, 4); int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1; }]], "({0, 100, 100, 1})[t%4+1]", block = 256,
    size = 1024 },
  { "loads around a store by structured binding", "struct P { int &r; int k; };", KERNEL .. [[int i = threadIdx.x; P
    p{a[4*i + w], 1}; auto &[r, k] = p; int x = a[4*i]; r = x + 100; int y = a[4*i+1]; a[4*i+2] = y; a[4*i+3] = x + 1;
    }]], "({0, 100, 100, 1})[t%4+1]", block = 256, size = 1024 },
}
