-- SPDX-License-Identifier: MIT
--
-- Plain C++ whose value differs by thread, as 0.8.0 was found to compute it wrong, and its neighbours; see probes.lua
-- for the form of a case. nvcc takes neither threadIdx's address nor a statement expression here; the CPU device does.

local INDEX = "struct Index { int x; __device__ Index() { x = blockIdx.x * blockDim.x + threadIdx.x; } };"
local TILE = "struct Tile { int base; __device__ Tile(int w) : base(w * threadIdx.x) {} };"
local ME = "struct Me { int v; __device__ Me() : v(threadIdx.x) {} };"
local POINT = "struct P { int x, y; };"

return {
  -- wrong before any was looked for
  { "using declaration", "namespace n1 { __device__ int max(int a, int b) { return threadIdx.x; } }",
    "using n1::max; int n = max(1, 2);", "t" },

  -- in other forms, many of which were right then
  { "static method", "struct S { static __device__ int get() { return threadIdx.x; } };", "int n = S::get();", "t" },
  { "pointer to a pointer", "", "int x = 1; int *p = &x; int **q = &p; **q = threadIdx.x; int n = x;", "t" },
  { "structured binding", POINT, "P p{(int)threadIdx.x, 2}; auto [u, v] = p; int n = u + v;", "t + 2" },
  { "union", "union U { int i; unsigned u; };", "U u; u.u = threadIdx.x; int n = u.i;", "t" },
  { "vector changed by member", "", "int2 v = make_int2(1, 2); v.x = threadIdx.x; int n = v.x;", "t" },
  { "memcpy", "", "int x = threadIdx.x, n = 0; memcpy(&n, &x, 4);", "t" },
  { "do while", "", "int n = 0; do n++; while (n < (int)threadIdx.x);", "math.max(t, 1)" },
  { "range-based for", "", "int l[3] = {1, 2, (int)threadIdx.x}; int n = 0; for (int e : l) n += e;", "t + 3" },
  { "comma", "", "int x = 0; int n = (x = threadIdx.x, x + 1);", "t + 1" },
  { "assignment in a condition", "", "int n = 0; if ((n = threadIdx.x) > 3) n++;", "t > 3 and t + 1 or t" },
  { "dependent chain", "", "int x = threadIdx.x; int y = x * 2; int z = y + 1; int n = z;", "2 * t + 1" },
  { "macro of a call", "#define GET(a) (a + threadIdx.x)\n", "int n = GET(3);", "t + 3" },
  { "array of structs", POINT, "P p[2]; p[1].x = threadIdx.x; int n = p[1].x;", "t" },
  { "lane by PTX", "", "int n; asm(\"mov.u32 %0, %%tid.x;\" : \"=r\"(n));", "t" },
  { "constant memory", "__constant__ int c[2] = { 3, 4 };", "int n = c[threadIdx.x % 2];", "t % 2 + 3" },

  -- what the analyses of 0.8.0 did not know
  { "array of classes", ME, "Me m[2]; int n = m[1].v;", "t" },
  { "default argument that calls", "__device__ int me() { return threadIdx.x; } __device__ int get(int"
    .. " x = me()) { return x; }", "int n = get();", "t" },
  { "function that shadows a builtin", "__device__ int min(int a, int b) { return a + b + threadIdx.x; }",
    "int n = min(1, 2);", "t + 3" },
  { "method that shadows a builtin", "struct M { __device__ int max(int a) const { return a + threadIdx.x; } };",
    "M m; int n = m.max(2);", "t + 2" },
  { "swap", "template <class T> __device__ void swap2(T &a, T &b) { T c = a; a = b; b = c; }",
    "int n = 0, m = threadIdx.x; swap2(n, m);", "t" },
  { "loop in a condition of its own", "", "int n = 0; for (int i = threadIdx.x; i > 0; i /= 2) n += i;",
    "(function() local n, i = 0, t while i > 0 do n, i = n + i, i // 2 end return n end)()" },
  { "volatile local", "", "volatile int n = threadIdx.x;", "t" },
  { "bit field", "struct F { unsigned a : 4, b : 8; };", "F f; f.a = 1; f.b = threadIdx.x; int n = f.b;", "t" },
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
  { "parameter pack", "template <class... A> __device__ int sum(A... a) { return (0 + ... + a); }",
    "int n = sum(1, 2, (int)threadIdx.x);", "t + 3" },
  { "enumerator of a template", "template <int N> struct C { enum { value = N }; };", "int n = C<4>::value *"
    .. " threadIdx.x;", "4 * t" },
  { "comma operator of a class", "struct As { int v; }; __device__ int operator,(As a, int b) { return b +"
    .. " threadIdx.x; }",
    "As m{1}; int n = (m, 2);", "t + 2" },
  { "address operator of a class", "struct Ad { int v; __device__ int operator&() const { return threadIdx.x;"
    .. " } };", "Ad m{1}; int n = &m;", "t" },
  { "const array of indices", "", "const int l[2] = { 1, (int)threadIdx.x }; int n = l[1];", "t" },
  { "thread by a pointer to the coordinates", "", "const uint3 *p = &threadIdx; int n = p->x;", "t" },
  { "thread by a reference to the coordinates", "", "const auto &t = threadIdx; int n = t.x;", "t" },
  { "coordinates copied", "", "uint3 t = threadIdx; int n = t.x;", "t" },
  { "statement expression", "", "int n = ({ int q = threadIdx.x; q + 1; });", "t + 1" },
  { "clock-free builtin", "", "int n = __popc(threadIdx.x) + __ffs(threadIdx.x);", "(function() local n,"
    .. " f = 0, 0 for b = 5, 0, -1 do if t >> b & 1 == 1 then n, f = n + 1, b + 1 end end return n + f end)()" },
  { "atomic", "__device__ int c;", "int n = atomicAdd(&c, 0) + threadIdx.x;", "t" },
  { "class as a default template argument", INDEX .. " template <class T = Index> __device__ int"
    .. " get() { T t; return t.x; }", "int n = get();", "t" },
  { "typedef of a class as a deduced argument's type", TILE .. " typedef Tile ti; template <class T> __device__"
    .. " int base(T t) { return t.base; }",
    "int n = base<ti>(4);", "4 * t" },
  { "class by a trait", INDEX .. " struct Tr { typedef Index type; }; template <class T> __device__ int"
    .. " get(T) { typename T::type t; return t.x; }",
    "int n = get(Tr());", "t" },
}
