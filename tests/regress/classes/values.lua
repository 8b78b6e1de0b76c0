-- SPDX-License-Identifier: MIT
--
-- Plain C++ whose value differs by thread, as 0.8.0 was found to compute it wrong, and its neighbours; see probes.lua
-- for the form of a case. nvcc takes neither threadIdx's address nor a statement expression here; the CPU device does.


return {
  -- wrong before any was looked for

  -- in other forms, many of which were right then
  { "memcpy", "", "int x = threadIdx.x, n = 0; memcpy(&n, &x, 4);", "t" },
  { "constant memory", "__constant__ int c[2] = { 3, 4 };", "int n = c[threadIdx.x % 2];", "t % 2 + 3" },

  -- what the analyses of 0.8.0 did not know
  { "function that shadows a builtin", "__device__ int min(int a, int b) { return a + b + threadIdx.x; }",
    "int n = min(1, 2);", "t + 3" },
  { "loop in a condition of its own", "", "int n = 0; for (int i = threadIdx.x; i > 0; i /= 2) n += i;",
    "(function() local n, i = 0, t while i > 0 do n, i = n + i, i // 2 end return n end)()" },
  { "barrier in a constructor", [[struct Sy { int v; __device__ Sy(int *q) { q[threadIdx.x] = threadIdx.x;
    __syncthreads(); v = q[63 - threadIdx.x]; } };]], "__shared__ int q[64]; Sy y(q); int n = y.v;", "63 - t" },
  { "barrier in an operator", [[struct Sy { int *q; }; __device__ int operator+(Sy s, int i) { s.q[threadIdx.x] =
    threadIdx.x; __syncthreads(); return s.q[63 - threadIdx.x] + i; }]],
    "__shared__ int q[64]; Sy y{q}; int n = y + 1;", "64 - t", refused = "barrier" },
  { "warp operation in a conversion", [[struct Sh { int v; __device__ operator int() const { return __shfl_xor_sync(~0u,
    v, 1); } };]], "Sh y{(int)threadIdx.x}; int n = y;", "t ~ 1", refused = "warp" },
  { "enumerator of a template", "template <int N> struct C { enum { value = N }; };", "int n = C<4>::value *"
    .. " threadIdx.x;", "4 * t" },
  { "comma operator of a class", [[struct As { int v; }; __device__ int operator,(As a, int b) { return b + threadIdx.x;
    }]], "As m{1}; int n = (m, 2);", "t + 2" },
  { "address operator of a class", "struct Ad { int v; __device__ int operator&() const { return threadIdx.x;"
    .. " } };", "Ad m{1}; int n = &m;", "t" },
  { "thread by a pointer to the coordinates", "", "const uint3 *p = &threadIdx; int n = p->x;", "t" },
  { "statement expression", "", "int n = ({ int q = threadIdx.x; q + 1; });", "t + 1" },
  { "clock-free builtin", "", "int n = __popc(threadIdx.x) + __ffs(threadIdx.x);", "(function() local n,"
    .. " f = 0, 0 for b = 5, 0, -1 do if t >> b & 1 == 1 then n, f = n + 1, b + 1 end end return n + f end)()" },
}
