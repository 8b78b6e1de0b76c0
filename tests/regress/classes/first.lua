-- SPDX-License-Identifier: MIT
--
-- Plain C++ whose value differs by thread, as 0.8.0 was found to compute it wrong, and its neighbours; see probes.lua
-- for the form of a case. nvcc takes neither threadIdx's address nor a statement expression here; the CPU device does.

local INDEX = "struct Index { int x; __device__ Index() { x = blockIdx.x * blockDim.x + threadIdx.x; } };"
local TILE = "struct Tile { int base; __device__ Tile(int w) : base(w * threadIdx.x) {} };"
local ME = "struct Me { int v; __device__ Me() : v(threadIdx.x) {} };"
local TID = "struct Tid { __device__ operator int() const { return threadIdx.x; } };"
local OP = "struct Op { __device__ int operator()(int i) const { return i + threadIdx.x; } };"
local ACC = "struct Acc { int k; __device__ int operator()(int i) const { return k * i + threadIdx.x; }"
  .. " __device__ int operator[](int i) const { return k + i + threadIdx.x; } };"
local SUM = "struct Sum { int v; };"
  .. " __device__ Sum operator+(Sum a, Sum b) { Sum r; r.v = a.v + b.v + threadIdx.x; return r; }"
local FP = "__device__ int me() { return threadIdx.x; } typedef int (*fp)();"
local POINT = "struct P { int x, y; };"

return {
  -- the twenty that were wrong before any was looked for
  { "default constructor", INDEX, "Index i; int n = i.x;", "t" },
  { "constructor of one argument", TILE, "Tile t(4); int n = t.base;", "4 * t" },
  { "member initialised by its constructor", ME, "Me m; int n = m.v;", "t" },
  { "empty braces", ME, "Me m{}; int n = m.v;", "t" },
  { "default member initialiser", "struct Def { int v = threadIdx.x; };", "Def d; int n = d.v;", "t" },
  { "base class", "struct Base { int t; __device__ Base() : t(threadIdx.x) {} }; struct Derived : Base { int w; };",
    "Derived d; int n = d.t;", "t" },
  { "template fragment", "template <int N> struct Frag { int e[N]; __device__ Frag() {"
    .. " for (int i = 0; i < N; i++) e[i] = threadIdx.x * N + i; } };", "Frag<2> f; int n = f.e[1];", "2 * t + 1" },
  { "conversion of a variable", TID, "Tid x; int n = x;", "t" },
  { "conversion of a temporary", TID, "int n = Tid{};", "t" },
  { "operator()", OP, "Op op; int n = op(3);", "t + 3" },
  { "operator() of an aggregate", ACC, "Acc c{1}; int n = c(3);", "t + 3" },
  { "operator[]", ACC, "Acc c{1}; int n = c[3];", "t + 4" },
  { "operator+", SUM, "Sum p{1}, q{2}; int n = (p + q).v;", "t + 3" },
  { "function pointer", FP, "fp f = me; int n = f();", "t" },
  { "table of function pointers", FP .. " __device__ fp table[2] = { me, me };", "int n = table[1]();", "t" },
  { "using declaration", "namespace n1 { __device__ int max(int a, int b) { return threadIdx.x; } }",
    "using n1::max; int n = max(1, 2);", "t" },
  { "assignment to a conditional", "", "int n = 0; (threadIdx.x > 3 ? n : n) = threadIdx.x;", "t" },
  { "backward goto", "", "int n = 0; again: if (n < (int)threadIdx.x) { n++; goto again; }", "t" },

  -- in other forms, many of which were right then
  { "method call", "struct M { int v; __device__ int get() const { return v + threadIdx.x; } };",
    "M m{3}; int n = m.get();", "t + 3" },
  { "static method", "struct S { static __device__ int get() { return threadIdx.x; } };", "int n = S::get();", "t" },
  { "temporary by constructor", "struct T2 { int v; __device__ T2() : v(threadIdx.x) {} };", "int n = T2().v;", "t" },
  { "reference", "", "int x = threadIdx.x; int &r = x; r += 2; int n = r;", "t + 2" },
  { "pointer to a pointer", "", "int x = 1; int *p = &x; int **q = &p; **q = threadIdx.x; int n = x;", "t" },
  { "structured binding", POINT, "P p{(int)threadIdx.x, 2}; auto [u, v] = p; int n = u + v;", "t + 2" },
  { "union", "union U { int i; unsigned u; };", "U u; u.u = threadIdx.x; int n = u.i;", "t" },
  { "vector changed by member", "", "int2 v = make_int2(1, 2); v.x = threadIdx.x; int n = v.x;", "t" },
  { "memcpy", "", "int x = threadIdx.x, n = 0; memcpy(&n, &x, 4);", "t" },
  { "template function with arguments", "template <int N> __device__ int get() { return N + threadIdx.x; }",
    "int n = get<4>();", "t + 4" },
  { "do while", "", "int n = 0; do n++; while (n < (int)threadIdx.x);", "math.max(t, 1)" },
  { "switch", "", "int n = 0; switch (threadIdx.x % 3) { case 0: n = 7; break; case 1: n = 1;"
    .. " default: n += threadIdx.x; }", "({ 7, t + 1, t })[t % 3 + 1]" },
  { "range-based for", "", "int l[3] = {1, 2, (int)threadIdx.x}; int n = 0; for (int e : l) n += e;", "t + 3" },
  { "lambda", "", "auto f = [&] { return (int)threadIdx.x; }; int n = f();", "t" },
  { "lambda that changes", "", "int n = 0; auto f = [&] { n = threadIdx.x; }; f();", "t" },
  { "lambda with argument", "", "auto f = [](int q) { return q + (int)threadIdx.x; }; int n = f(2);", "t + 2" },
  { "helper by reference", "__device__ void set(int &x) { x = threadIdx.x; }", "int n = 0; set(n);", "t" },
  { "helper by pointer", "__device__ void set(int *x) { *x = threadIdx.x; }", "int n = 0; set(&n);", "t" },
  { "helper of helper", "__device__ int in() { return threadIdx.x; } __device__ int me() { return in(); }",
    "int n = me();", "t" },
  { "comma", "", "int x = 0; int n = (x = threadIdx.x, x + 1);", "t + 1" },
  { "assignment in a condition", "", "int n = 0; if ((n = threadIdx.x) > 3) n++;", "t > 3 and t + 1 or t" },
  { "dependent chain", "", "int x = threadIdx.x; int y = x * 2; int z = y + 1; int n = z;", "2 * t + 1" },
  { "enum class", "enum class E { A, B };", "E e = threadIdx.x > 3 ? E::A : E::B; int n = (int)e;",
    "t > 3 and 0 or 1" },
  { "macro of a call", "#define GET(a) (a + threadIdx.x)\n", "int n = GET(3);", "t + 3" },
  { "array of structs", POINT, "P p[2]; p[1].x = threadIdx.x; int n = p[1].x;", "t" },
  { "lane by PTX", "", "int n; asm(\"mov.u32 %0, %%tid.x;\" : \"=r\"(n));", "t" },
  { "constant memory", "__constant__ int c[2] = { 3, 4 };", "int n = c[threadIdx.x % 2];", "t % 2 + 3" },

  -- what the analyses of 0.8.0 did not know
  { "functor that changes its argument", "struct Set { __device__ void operator()(int &x) const { x = threadIdx.x;"
    .. " } };",
    "Set set; int n = 0; set(n);", "t" },
  { "pointer to a function that changes", "__device__ void put(int &x) { x = threadIdx.x; } typedef void (*ps)(int"
    .. " &);",
    "ps set = put; int n = 0; set(n);", "t" },
  { "operator>> that changes", "struct In { int k; }; __device__ In &operator>>(In &i, int &x) { x = threadIdx.x;"
    .. " return i; }",
    "In i{0}; int n = 0; i >> n;", "t" },
  { "conditional as a reference argument", "__device__ void set(int &x) { x = threadIdx.x; }",
    "int n = 0; set(w ? n : n);", "t" },
  { "bracketed conditional counted", "", "int n = 0; for (int i = 0; i < (int)threadIdx.x; i++) (w ? n : n)++;",
    "t" },
  { "trivial class with another constructor", "struct Tv { int b; Tv() = default; __device__"
    .. " Tv(int w) { b = w * threadIdx.x; } };",
    "Tv t = 4; int n = t.b;", "4 * t" },
  { "conversion at an argument", TILE .. " __device__ int base(Tile t) { return t.base; }", "int n = base(4);",
    "4 * t" },
  { "conversion by a cast", TILE, "int n = ((Tile)4).base;", "4 * t" },
  { "operator of an enum", "enum E { A, B }; __device__ int operator+(E a, E b) { return threadIdx.x; }",
    "int n = A + B;", "t" },
  { "operator of a vector type", "__device__ int2 operator+(int2 a, int2 b) { return make_int2(threadIdx.x,"
    .. " a.x + b.y); }",
    "int2 p = make_int2(1, 2), q = p; int2 r = p + q; int n = r.x;", "t" },
  { "operator->", "struct In { int v; }; struct Ptr { In *p; __device__ In *operator->() const"
    .. " { p->v = threadIdx.x; return p; } };",
    "In i; Ptr p{&i}; int n = p->v;", "t" },
  { "dereferenced class", "struct It { int k; __device__ int operator*() const { return k + threadIdx.x; } };",
    "It i{2}; int n = *i;", "t + 2" },
  { "not of a class", "struct B { int k; __device__ bool operator!() const { return threadIdx.x & 1; } };",
    "B b{2}; int n = !b;", "t % 2" },
  { "compared classes", "struct B { int k; __device__ bool operator<(B o) const { return threadIdx.x & 1; } };",
    "B b{2}, c{3}; int n = b < c;", "t % 2" },
  { "condition by conversion", "struct B { int k; __device__ operator bool() const { return threadIdx.x &"
    .. " 1; } };", "B b{2}; int n = b ? 1 : 2;", "t % 2 == 1 and 1 or 2" },
  { "class assigned", "struct As { int v; __device__ void operator=(int q) { v = q + threadIdx.x; } };",
    "As m; m = 3; int n = m.v;", "t + 3" },
  { "class compound assigned", "struct As { int v; __device__ void operator+=(int q) { v += q + threadIdx.x;"
    .. " } };", "As m{1}; m += 3; int n = m.v;", "t + 4" },
  { "class counted", "struct As { int v; __device__ void operator++() { v += threadIdx.x; } };",
    "As m{1}; ++m; int n = m.v;", "t + 1" },
  { "class of a typedef", INDEX .. " typedef Index ix;", "ix i; int n = i.x;", "t" },
  { "class of an alias template", "template <class T> struct Ix { T x; __device__ Ix() { x = threadIdx.x; } };"
    .. " template <class T> using ix = Ix<T>;",
    "ix<int> i; int n = i.x;", "t" },
  { "class of a template argument", INDEX .. " template <class T> __device__ int get() { T t; return t.x; }",
    "int n = get<Index>();", "t" },
  { "auto of a class", TID .. " __device__ Tid make() { return Tid(); }", "auto x = make(); int n = x;", "t" },
  { "array of classes", ME, "Me m[2]; int n = m[1].v;", "t" },
  { "class in a class", ME .. " struct Q { int a; Me m; };", "Q q; int n = q.m.v;", "t" },
  { "member pointer", "struct M { int v; __device__ int get() const { return v + threadIdx.x; } };",
    "M m{3}; int (M::*f)() const = &M::get; int n = (m.*f)();", "t + 3" },
  { "pointer to a member function of data", POINT, "P p{1, 2}; int P::*f = &P::y; p.*f = threadIdx.x;"
    .. " int n = p.y;", "t" },
  { "immediately called lambda", "", "int n = [] { return (int)threadIdx.x; }();", "t" },
  { "default argument", "__device__ int get(int x = threadIdx.x) { return x; }", "int n = get();", "t" },
  { "default argument that calls", "__device__ int me() { return threadIdx.x; } __device__ int get(int"
    .. " x = me()) { return x; }", "int n = get();", "t" },
  { "user-defined literal", "__device__ int operator\"\"_t(unsigned long long v) { return v + threadIdx.x; }",
    "int n = 3_t;", "t + 3" },
  { "overload by type", "__device__ int f(int x) { return x; } __device__ int f(float x) { return threadIdx.x; }",
    "int n = f(2.0f);", "t" },
  { "function that shadows a builtin", "__device__ int min(int a, int b) { return a + b + threadIdx.x; }",
    "int n = min(1, 2);", "t + 3" },
  { "method that shadows a builtin", "struct M { __device__ int max(int a) const { return a + threadIdx.x; } };",
    "M m; int n = m.max(2);", "t + 2" },
  { "swap", "template <class T> __device__ void swap2(T &a, T &b) { T c = a; a = b; b = c; }",
    "int n = 0, m = threadIdx.x; swap2(n, m);", "t" },
  { "loop in a condition of its own", "", "int n = 0; for (int i = threadIdx.x; i > 0; i /= 2) n += i;",
    "(function() local n, i = 0, t while i > 0 do n, i = n + i, i // 2 end return n end)()" },
  { "reference to a conditional", "", "int n = 0; int &r = w ? n : n; r = threadIdx.x;", "t" },
  { "volatile local", "", "volatile int n = threadIdx.x;", "t" },
  { "bit field", "struct F { unsigned a : 4, b : 8; };", "F f; f.a = 1; f.b = threadIdx.x; int n = f.b;", "t" },
  { "pure helper", "__device__ int up(int a, int b) { return (a + b - 1) / b; }", "int m = up(w, 3); int"
    .. " n = m + threadIdx.x;", "t + 1" },
  { "helper with a class inside", ME .. " __device__ int get(int w) { Me m; return m.v + w; }", "int n = get(2);",
    "t + 2" },
  { "barrier in a constructor", "struct Sy { int v; __device__ Sy(int *q) { q[threadIdx.x]"
    .. " = threadIdx.x; __syncthreads();"
    .. " v = q[63 - threadIdx.x]; } };", "__shared__ int q[64]; Sy y(q); int n = y.v;", "63 - t" },
  { "barrier in an operator", "struct Sy { int *q; }; __device__ int operator+(Sy s, int i) { s.q[threadIdx.x]"
    .. " = threadIdx.x;"
    .. " __syncthreads(); return s.q[63 - threadIdx.x] + i; }", "__shared__ int q[64]; Sy y{q}; int n = y + 1;",
    "64 - t", refused = "barrier" },
  { "warp operation in a conversion", "struct Sh { int v; __device__ operator int() const {"
    .. " return __shfl_xor_sync(~0u, v, 1); } };",
    "Sh y{(int)threadIdx.x}; int n = y;", "t ~ 1", refused = "warp" },
  { "constant of a class", TID .. " __device__ constexpr Tid tid{};", "int n = tid;", "t" },
  { "parameter pack", "template <class... A> __device__ int sum(A... a) { return (0 + ... + a); }",
    "int n = sum(1, 2, (int)threadIdx.x);", "t + 3" },
  { "conversion by return", TILE .. " __device__ Tile make() { return 4; }", "int n = make().base;", "4 * t" },
  { "conversion in a pure helper", TILE .. " __device__ int base(int w) { return Tile(w).base; }",
    "int n = base(4);", "4 * t" },
  { "braces in a helper", TILE .. " __device__ int base(int w) { return Tile{w}.base; }", "int n = base(4);",
    "4 * t" },
  { "operator in a helper", SUM .. " __device__ int add(int w) { Sum p = { w }, q = { 1 }; return (p + q).v; }",
    "int n = add(2);", "t + 3" },
  { "functor as a template argument", OP .. " template <class F> __device__ int call(F f, int w) { return f(w);"
    .. " }", "int n = call(Op(), 2);", "t + 2" },
  { "function as a template argument", FP .. " template <int (*F)()> __device__ int call() { return F(); }",
    "int n = call<me>();", "t" },
  { "function pointer as an argument", FP .. " __device__ int call(int (*f)()) { return f(); }",
    "int n = call(me);", "t" },
  { "comparison of a class in a condition", TID, "int n = 1; Tid t; if (t > 3) n = 2;", "t > 3 and 2 or 1" },
  { "class in a loop header", TID, "int n = 0; Tid t; for (int i = 0; i < t; i++) n++;", "t" },
  { "class as a subscript", TID, "Tid t; int l[64]; for (int i = 0; i < 64; i++) l[i] = i * 3; int n = l[t];",
    "3 * t" },
  { "class by a using alias in the body", INDEX, "using ix = Index; ix i; int n = i.x;", "t" },
  { "class declared in the body", "", "struct L { int v; __device__ L() : v(threadIdx.x) {} }; L l; int n = l.v;",
    "t" },
  { "enumerator of a template", "template <int N> struct C { enum { value = N }; };", "int n = C<4>::value *"
    .. " threadIdx.x;", "4 * t" },
  { "comma operator of a class", "struct As { int v; }; __device__ int operator,(As a, int b) { return b +"
    .. " threadIdx.x; }",
    "As m{1}; int n = (m, 2);", "t + 2" },
  { "address operator of a class", "struct Ad { int v; __device__ int operator&() const { return threadIdx.x;"
    .. " } };", "Ad m{1}; int n = &m;", "t" },
  { "copy constructor", "struct Cp { int v; Cp() = default; __device__ Cp(const Cp &o) : v(o.v + threadIdx.x) {} };",
    "Cp p; p.v = 1; Cp q = p; int n = q.v;", "t + 1" },
  { "deduced auto of a class", SUM, "Sum p{1}, q{2}; auto r = p + q; int n = r.v;", "t + 3" },
  { "array of function pointers in the body", FP, "fp t[2] = { me, me }; int n = t[1]();", "t" },
  { "const array of indices", "", "const int l[2] = { 1, (int)threadIdx.x }; int n = l[1];", "t" },
  { "thread by a pointer to the coordinates", "", "const uint3 *p = &threadIdx; int n = p->x;", "t" },
  { "thread by a reference to the coordinates", "", "const auto &t = threadIdx; int n = t.x;", "t" },
  { "coordinates copied", "", "uint3 t = threadIdx; int n = t.x;", "t" },
  { "statement expression", "", "int n = ({ int q = threadIdx.x; q + 1; });", "t + 1" },
  { "clock-free builtin", "", "int n = __popc(threadIdx.x) + __ffs(threadIdx.x);", "(function() local n,"
    .. " f = 0, 0 for b = 5, 0, -1 do if t >> b & 1 == 1 then n, f = n + 1, b + 1 end end return n + f end)()" },
  { "atomic", "__device__ int c;", "int n = atomicAdd(&c, 0) + threadIdx.x;", "t" },
  { "typedef of a class as a template argument", INDEX .. " typedef Index ix; template <class T> __device__"
    .. " int get() { T t; return t.x; }",
    "int n = get<ix>();", "t" },
  { "class as a default template argument", INDEX .. " template <class T = Index> __device__ int"
    .. " get() { T t; return t.x; }", "int n = get();", "t" },
  { "typedef of a class as a deduced argument's type", TILE .. " typedef Tile ti; template <class T> __device__"
    .. " int base(T t) { return t.base; }",
    "int n = base<ti>(4);", "4 * t" },
  { "class by a trait", INDEX .. " struct Tr { typedef Index type; }; template <class T> __device__ int"
    .. " get(T) { typename T::type t; return t.x; }",
    "int n = get(Tr());", "t" },
  { "helper that converts inside", TID .. " __device__ int get(int w) { Tid t; int r = t; return r + w; }",
    "int n = get(2);", "t + 2" },
}
