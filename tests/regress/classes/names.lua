-- SPDX-License-Identifier: MIT
--
-- Probes of what a name means, by all that may declare or hide it; see probes.lua for the form of a case.

local HEAD = "__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; "
local KERNEL = "__global__ void k(int *a, int w) { "
local TID = "struct Tid { int k; __device__ operator int() const { return k + threadIdx.x; } };"
local MADE = [[struct Tid { int k; __device__ Tid(int x) : k(x) {} __device__ Tid() {} __device__ operator
    int() const { return k + threadIdx.x; } };]]
local UP = "__device__ int up(int x) { return x; }"
local HIDE = "__device__ int x = 7;"
local HIDES = HIDE .. [[template <class T> struct Tr { typedef T type; }; template <class... T> struct First; template
    <class A, class... T> struct First<A, T...> { typedef A type; }; struct Y { int v; }; __device__ Y e = {7};
    __device__ int z[1] = {7}, (*p)[1] = &z; struct P { int a, b; }; __device__ int P::*m = &P::a;
#define OVER(use, ...) { __VA_ARGS__; __syncthreads(); n += use; }
]]
local METHOD = [[struct M { int v; __device__ int get() const { return v + threadIdx.x; } }; typedef M N;
    __device__ M m = {3};]]

return {
  -- names
  { "variable of a namespace that changes", "namespace ns { __device__ int g = 3; }", HEAD .. [[int q = ns::g + t;
    __syncthreads(); if (t == 0) ns::g = 9; __syncthreads(); s[t] = ns::g; __syncthreads(); a[t] = q * 100 + s[63-t];
    }]], "(3+t)*100+9" },
  { "global variable by :: that changes", "__device__ int g = 3;", HEAD .. [[int q = ::g + t; __syncthreads(); if (t ==
    0) g = 9; __syncthreads(); s[t] = g; __syncthreads(); a[t] = q * 100 + s[63-t]; }]], "(3+t)*100+9", alone = true },
  { "::threadIdx", "", "int n = ::threadIdx.x;", "t", alone = true, refused = "with a ::" },
  { "::blockIdx and ::threadIdx", "", KERNEL .. [[int i = ::blockIdx.x * blockDim.x + threadIdx.x; a[i] = i * w +
    ::threadIdx.x; }]], "t+t%16", grid = 4, block = 16, alone = true, refused = "with a ::" },
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
  { "shared functor named as a function", [[struct F { __device__ int operator()(int x) const { return x + threadIdx.x;
    } };__device__ int up(int x) { return x; }]], KERNEL .. [[__shared__ F up; __syncthreads(); int n = up(3);
    __syncthreads(); a[threadIdx.x] = n; }]], "t+3" },
  { "alias of a block named as a function", MADE .. UP, "using up = Tid; int n = up(3);", "t+3" },
  { "object by using named as a function", [[struct F { __device__ int operator()(int x) const { return x +
    threadIdx.x; } };namespace q { __device__ F up; } __device__ int up(int x) { return x; }]],
    "using q::up; int n = up(3);", "t+3" },
  { "function by using named as a function", [[namespace q { __device__ int up(int x) { return x +
    threadIdx.x; } } __device__ int up(int x) { return x; }]], "using q::up; int n = up(3);", "t+3" },
  { "function declared in a block", [[__device__ int up(float x); __device__ int up(int x) { return x;
    }__device__ int up(float x) { return threadIdx.x; }]], "__device__ int up(float); int n = up(3);", "t" },
  { "static member function pointer by ::", [[struct S { static __device__ int me() { return threadIdx.x; }
    };]], "auto f = &::S::me; int n = f();", "t", alone = true },
  { "function by :: found in a class and outside", "__device__ int me() { return threadIdx.x; }",
    "int n = ::me();", "t", alone = true },
  { "structured binding hides a global", "__device__ int x = 7, y = 8; struct P { int a, b; };", HEAD .. [[const auto
    [x, y] = P{t, w}; s[t] = t; __syncthreads(); a[t] = x + y + s[63-t]; }]], "64" },
  { "pointer to a function hides a function", [[__device__ int f(int x) { return 7; } __device__ int g(int x) { return
    x; }]], HEAD .. "int (*f)(int) = g; int n = f(t); s[t] = t; __syncthreads(); a[t] = f(n) + s[63-t]; }", "63" },
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
  { "helper's block hides a device object", TID .. [[__device__ Tid acc = {3}; __device__ int f(int w) { {
    int acc = w; } return acc; }]], "int n = f(w);", "t+3" },
  { "helper's condition hides a device object", TID .. [[__device__ Tid acc = {3}; __device__ int f(int w)
    { for (int acc = 0; acc < w; acc++) w--; return acc; }]], "int n = f(w);", "t+3" },
  { "shared names after a comma in brackets", "__device__ int y = 7;", KERNEL .. [[__shared__ int x[64], (y); int t =
    threadIdx.x; if (t == 0) y = 5; x[t] = t; __syncthreads(); a[t] = x[63-t] + y; }]], "68-t" },
  { "method by a pointer in a base's table", [[struct B { typedef int (B::*fn)() const; int v; __device__
    int one() const { return v + threadIdx.x; } }; typedef B C; __device__ C b = {3};]],
    "C::fn f = &C::one; int n = (b.*f)();", "t+3" },
  { "template method's address by a typedef", [[struct O { template <int N> static __device__ int get() {
    return threadIdx.x + N; } }; typedef O I;]], "int (*f)() = I::get<2>; int n = f();", "t+2" },
  { "functor type by a typedef in a template argument", [[struct F { __device__ int operator()(int x) const
    { return x + threadIdx.x; } }; typedef F G; template <class Op> __device__ int call(int x) { return
    Op()(x); }]], "int n = call<G>(3);", "t+3" },
  { "method by auto of a class made by a helper, pointer to it", [[struct M { int v; __device__ int get()
    const { return v + threadIdx.x; } }; __device__ M make(int v) { return M{v}; }]],
    "auto m = make(3); auto f = &decltype(m)::get; int n = (m.*f)();", "t+3", alone = true },

  -- declarations
  { "declarations that hide a global: with attributes, alignas, typename, pointers to arrays", HIDES, KERNEL ..
    [=[__shared__ int s[64]; int t = threadIdx.x, n = 0; s[t] = t; OVER(x, [[maybe_unused]] int x = t) OVER(x, int x
    [[maybe_unused]] = t) OVER(x, alignas(8) int x = t) OVER(x, typename Tr<int>::type x = t) OVER((*p)[0], int l[1] =
    {t}; int (*p)[1] = &l) a[t] = n + s[63 - t]; }]=], "4 * t + 63", alone = true, engine = "split" },
  { [[declarations that hide a global: in brackets, by decltype, __extension__, a pack, elaborated, pointers to
    members]], HIDES, KERNEL .. [[__shared__ int s[64]; int t = threadIdx.x, n = 0; s[t] = t; OVER(x, int (x) = t)
    OVER(x, decltype(w) x = t) OVER(x, __extension__ int x = t) OVER(x, First<int, float>::type x(t)) OVER(e.v, struct Y
    e = {t}) OVER(q.*m, P q{1, t}; int P::*m = &P::b) a[t] = n + s[63 - t]; }]], "5 * t + 63", alone = true },
  { "declaration of a global namespace's type hides a global", "struct T { int v; }; __device__ T x = {7};", HEAD ..
    [[::T x = {t}; s[t] = t; __syncthreads(); a[t] = x.v + s[63-t]; }]], "63", alone = true },
  { "init-statement of an if", "__device__ int e = 7;",
    "int n; if (int e = threadIdx.x; e > w) n = e; else n = -e;", "t > 1 and t or -t" },
  { "init-statement of a switch", "__device__ int e = 7;", [[int n; switch (int e = threadIdx.x & 1; e) { case 0: n = 5;
    break; default: n = e; }]], "t % 2 == 0 and 5 or 1" },
  { "condition that declares around a shuffle", "__device__ int e = 7;", KERNEL .. [[int n = threadIdx.x; if (int e = n
    / 32) n += __shfl_xor_sync(~0u, e, 1); a[threadIdx.x] = n; }]], "t + t // 32" },
  { "condition that declares around a barrier", "__device__ int e = 7;", HEAD .. [[s[t] = t; if (int e = w) {
    __syncthreads(); t = s[63-t] + e; } a[threadIdx.x] = t; }]], "64-t" },
  { "macro of a block's declaration", [[#define DECL(T, n, v) T n{v}
__device__ int x = 7;]], HEAD .. "DECL(int, x, t); s[t] = t; __syncthreads(); a[t] = x + s[63-t]; }", "63" },
  { "class of a class template", [[struct Y { int v; }; __device__ Y x = {7}; template <class T> struct Tr { struct In {
    T v; }; };]], HEAD .. "Tr<int>::In x{t}; s[t] = t; __syncthreads(); a[t] = x.v + s[63-t]; }", "63", alone = true },
  { "shared variable of a nested block hides another", "__shared__ int u;", KERNEL .. [[int n = threadIdx.x; if (n == 0)
    u = 7; __syncthreads(); if (w) { __shared__ int u; if (n == 0) u = 9; __syncthreads(); n = n + u * 100; }
    __syncthreads(); a[threadIdx.x] = n + u; }]], "t+907" },
  { "type of two arguments hides an outer variable", "template <class A, class B> struct Two { typedef A type; };", HEAD
    .. [[int x = 7; if (w) { Two<int, float>::type x = t; s[t] = t; __syncthreads(); s[t] += x; } __syncthreads(); a[t]
    = s[63-t] + x; }]], "2*(63-t)+7", alone = true },
  { "constant of two arguments", "template <int A, int B> struct Sum { static const int v = A + B; };", HEAD .. [[int x
    = Sum<1, 2>::v + t, y = x; s[t] = t; __syncthreads(); a[t] = x + y + s[63-t]; }]], "2*(t+3)+63-t", alone = true },
  { "two comparisons as two declarators", "", HEAD .. [[bool x = t < 5, y = t > (w); s[t] = t; __syncthreads(); a[t] = x
    * 1000 + y * 100 + s[63-t]; }]], "(t<5 and 1000 or 0)+(t>1 and 100 or 0)+63-t" },
}
