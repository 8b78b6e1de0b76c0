-- SPDX-License-Identifier: MIT
--
-- Whole kernels out of language.lua's list: barriers, warps and blocks in other shapes than those that probes.lua puts
-- around a case.

local HEAD = "__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; "
local KERNEL = "__global__ void k(int *a, int w) { "
local TID = "struct Tid { __device__ operator int() const { return threadIdx.x; } };"

return {
  { "dynamic shared memory as a class", [[template <class T> struct Shared { __device__ operator T *() { extern
    __shared__ int raw[]; return (T *)raw; } };]], KERNEL .. [[int *s = Shared<int>(); s[threadIdx.x] = threadIdx.x;
    __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63 - t", shared = 256 },
  { "kernel by a macro, barrier by a macro", "#define KERNEL(name) __global__ void name(int" ..
    " *a, int w)\n#define SYNC __syncthreads\n", [[KERNEL(k) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x;
    SYNC(); a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63 - t", whole = true, alone = true },
  { "functions and methods behind the kernel", [[struct S { int v; __device__ int get() const; }; __device__ int
    later(const S &); ]], KERNEL .. [[S s{w}; a[threadIdx.x] = later(s) + s.get(); } __device__ int S::get() const {
    return v + threadIdx.x; } __device__ int later(const S &s) { return s.v * 2 + threadIdx.x; }]], "2 * t + 3" },
  { "two dimensions by a class, transposed", [[struct At { int x, y; __device__ At() : x(threadIdx.x), y(threadIdx.y) {}
    };]], KERNEL .. [[__shared__ int s[8][9]; At q; int (&row)[9] = s[q.y]; row[q.x] = q.y * 8 + q.x; __syncthreads();
    a[q.y * 8 + q.x] = s[q.x][q.y]; }]], "t % 8 * 8 + t // 8", block = { 8, 8 } },
  { "scan in a helper with barriers", [[template <int N> __device__ int scan(int (&s)[N], int x) { int t = threadIdx.x;
    s[t] = x; __syncthreads(); for (int d = 1; d < N; d *= 2) { int y = t >= d ? s[t - d] : 0; __syncthreads(); s[t] +=
    y; __syncthreads(); } return s[t]; }]], KERNEL .. [[__shared__ int s[64]; a[threadIdx.x] = scan(s, threadIdx.x + w);
    }]], "t * (t + 1) // 2 + t + 1" },
  { "phases as functors", "template <class F> __device__ void phase(F f) { f(); __syncthreads(); }", KERNEL ..
    [[__shared__ int s[64]; int o = 0; phase([&] { s[threadIdx.x] = threadIdx.x; }); phase([&] { o = s[63 -
    threadIdx.x]; }); a[threadIdx.x] = o; }]], "63 - t" },
  { "buffers exchanged", "", KERNEL .. [[__shared__ int s[2][64]; int *p = s[0], *q = s[w]; p[threadIdx.x] =
    threadIdx.x; __syncthreads(); for (int i = 0; i < 3; i++) { q[threadIdx.x] = p[(threadIdx.x + 1) % 64];
    __syncthreads(); int *r = p; p = q; q = r; } a[threadIdx.x] = p[threadIdx.x]; }]], "(t + 3) % 64" },
  { "barrier in a destructor", "struct Sync { __device__ ~Sync() { __syncthreads(); } };", KERNEL .. [[__shared__ int
    s[64]; { Sync q; s[threadIdx.x] = threadIdx.x; } a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63 - t" },
  { "loop while a shared count is left", "", KERNEL .. [[__shared__ int left; if (threadIdx.x == 0) left = 3;
    __syncthreads(); int c = 0; while (left > 0) { c += threadIdx.x; __syncthreads(); if (threadIdx.x == 0) left--;
    __syncthreads(); } a[threadIdx.x] = c; }]], "3 * t" },
  { "loop while any thread votes", "", KERNEL .. [[int n = threadIdx.x, c = 0; while (__syncthreads_or(n > 0)) { n -=
    10; c++; } a[threadIdx.x] = c * 100 + threadIdx.x; }]], "t + 700" },
  { "switch by block, with barriers", "", HEAD .. [[switch (blockIdx.x) { case 0: s[t] = t; __syncthreads(); t = s[63 -
    t]; break; case 1: s[63 - t] = t + w; __syncthreads(); t = s[t]; } a[blockIdx.x * 64 + threadIdx.x] = t; }]],
    "t < 64 and 63 - t or 128 - t", grid = 2 },
  { "last block writes the sum of all", [[__device__ int total, done; struct Ticket { int v; __device__ bool last()
    const { return v == gridDim.x - 1; } };]], KERNEL .. [[__shared__ bool last; atomicAdd(&total, (int)threadIdx.x);
    __threadfence(); __syncthreads(); if (threadIdx.x == 0) { Ticket q{atomicAdd(&done, 1)}; last = q.last();
    __threadfence(); } __syncthreads(); if (last) for (int i = 0; i < gridDim.x; i++) a[i * 64 + threadIdx.x] = total;
    }]], "8064", grid = 4 },
  { "buffers of two instances", "template <int I> __device__ int *buffer() { __shared__ int b[64]; return b; }", KERNEL
    .. [[buffer<0>()[threadIdx.x] = threadIdx.x; buffer<1>()[threadIdx.x] = 2 * threadIdx.x; __syncthreads();
    a[threadIdx.x] = buffer<0>()[63 - threadIdx.x] + buffer<1>()[threadIdx.x]; }]], "63 + t" },
  { "shared object whose method has barriers", [[struct Box { int e[64]; __device__ int swap(int x) { e[threadIdx.x] =
    x; __syncthreads(); int o = e[63 - threadIdx.x]; __syncthreads(); return o; } };]], KERNEL .. [[__shared__ Box b;
    int n = b.swap(threadIdx.x); n = b.swap(n * 2 + w); a[threadIdx.x] = n; }]], "2 * t + 1" },
  { "barrier in a conditional and in a comma", "", KERNEL .. [[__shared__ int s[64]; s[threadIdx.x] = threadIdx.x; w ?
    __syncthreads() : (void)0; int o = s[63 - threadIdx.x]; __syncthreads(), s[threadIdx.x] = o * 2; __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x]; }]], "2 * t" },
  { "barrier in a loop's head", "", KERNEL .. [[__shared__ int s[64]; int n = threadIdx.x; for (int i = 0; i < 4; i++,
    __syncthreads()) { if (i & 1) n = s[63 - threadIdx.x] + 1; else s[threadIdx.x] = n; } a[threadIdx.x] = n; }]],
    "t + 2" },
  { "warps that do different things", "", KERNEL .. [[int n = threadIdx.x; if (threadIdx.x / 32 == 0) n =
    __shfl_xor_sync(~0u, n, 3); else { n = __shfl_up_sync(~0u, n, 1); n += __shfl_sync(~0u, n, 5); } a[threadIdx.x] = n;
    }]], "t < 32 and (t ~ 3) or (t == 32 and 32 or t - 1) + 36" },
  { "sums of warps by a class, block of four warps", [[struct Warp { int lane, id; __device__ Warp() : lane(threadIdx.x
    & 31), id(threadIdx.x / 32) {} __device__ int sum(int v) const { for (int d = 16; d; d >>= 1) v +=
    __shfl_down_sync(~0u, v, d); return __shfl_sync(~0u, v, 0); } };]], KERNEL .. [[__shared__ int part[4]; Warp q; int
    v = q.sum(threadIdx.x); if (q.lane == 0) part[q.id] = v; __syncthreads(); v = q.lane < 4 ? part[q.lane] : 0;
    a[blockIdx.x * blockDim.x + threadIdx.x] = q.sum(v) + q.id; }]], "8128 + t % 128 // 32", grid = 2, block = 128 },
  { "partial warp with a mask", "", KERNEL .. [[unsigned mask = threadIdx.x < 32 ? ~0u : 0xffffu; int n = threadIdx.x;
    for (int d = 8; d; d /= 2) n += __shfl_xor_sync(mask, n, d); a[threadIdx.x] = n; }]], "t // 16 * 256 + 120", block =
    48 },
  { "range over the grid", [[struct It { int i; __device__ int operator*() const { return i; } __device__ It
    &operator++() { i += gridDim.x * blockDim.x; return *this; } __device__ bool operator!=(It o) const { return i <
    o.i; } }; struct Grid { int n; __device__ It begin() const { return {int(blockIdx.x * blockDim.x + threadIdx.x)}; }
    __device__ It end() const { return {n}; } };]], KERNEL ..
    "for (int i : Grid{100}) a[i] = i * 2 + (int)threadIdx.x; }", "2 * t + t % 16", grid = 2, block = 16, size = 100 },
  { "products of fragments", [[template <int M, int N> struct Frag { int e[M][N]; __device__ Frag() { for (auto &r : e)
    for (int &x : r) x = 0; } __device__ Frag &operator+=(const Frag &o) { for (int i = 0; i < M; i++) for (int j = 0; j
    < N; j++) e[i][j] += o.e[i][j]; return *this; } }; __device__ Frag<2, 2> outer(const int *x, const int *y) { Frag<2,
    2> f; for (int i = 0; i < 4; i++) f.e[i / 2][i % 2] = x[i / 2] * y[i % 2]; return f; }]], KERNEL .. [[__shared__ int
    s[64], r[64]; int t = threadIdx.x; s[t] = t; r[t] = 1; __syncthreads(); Frag<2, 2> acc; for (int i = 0; i < 4; i++)
    { acc += outer(s + (t / 2) * 2, r + (t & ~1)); __syncthreads(); s[t] += 1; __syncthreads(); } a[t] = acc.e[t & 1][t
    >> 1 & 1]; }]], "4 * t + 6" },
  { "parameters that change around a barrier", "__device__ void store(int *a, int v) { a += threadIdx.x; *a = v; }",
    KERNEL .. [[__shared__ int s[64]; w += threadIdx.x; s[threadIdx.x] = w; __syncthreads(); w *= 100; store(a, s[63 -
    threadIdx.x] + w); }]], "64 - t + 100 * (t + 1)" },
  { "barriers in a recursion", [[__device__ int turn(int *s, int n, int d) { s[threadIdx.x] = n; __syncthreads(); n =
    s[63 - threadIdx.x] + 1; __syncthreads(); return d ? turn(s, n, d - 1) : n; }]], KERNEL .. [[__shared__ int s[64];
    a[threadIdx.x] = turn(s, threadIdx.x, 2); }]], "66 - t" },
  { "launch bounds, extern C, restrict", "", [[extern "C" __global__ void __launch_bounds__(64)
    k(int *__restrict__ a, const int w) { __shared__ int s[64]; const auto t = threadIdx.x;
    s[t] = t * w; __syncthreads(); a[t] = s[t ^ 63]; }]], "63 - t" },
  { "value late round a loop of barriers", "", KERNEL .. [[__shared__ int s[64]; int x = 0, y = 0, z = 0; for (int i =
    0; i < 3; i++) { z = y; y = x; x = threadIdx.x; __syncthreads(); s[threadIdx.x] = z; __syncthreads(); }
    a[threadIdx.x] = s[63 - threadIdx.x]; }]], "63 - t" },
  { "one value under a thread's break, over a barrier", "", KERNEL .. [[__shared__ int s[64]; int n = 0; for (int i = 0;
    i < 10; i++) { if (i == (int)threadIdx.x) break; n = i; } s[threadIdx.x] = n; __syncthreads(); a[threadIdx.x] = s[63
    - threadIdx.x] * 10 + n; }]], [[(63 - t == 0 and 0 or math.min(62 - t, 9)) * 10 + (t == 0 and 0 or math.min(t - 1,
    9))]] },
  { "value kept from shared memory that changes", "", KERNEL .. [[__shared__ int s[2]; if (threadIdx.x < 2)
    s[threadIdx.x] = 3; __syncthreads(); const int q = s[w]; const int &r = s[w]; __syncthreads(); if (threadIdx.x == 0)
    s[1] = 9; __syncthreads(); a[threadIdx.x] = q * 100 + r * 10 + (int)threadIdx.x; }]], "390 + t" },
  { "value kept from a device variable that changes", "__device__ int g = 3; __device__ int get() { return g; }", KERNEL
    .. [[int q = get(); int p = g + w; __syncthreads(); if (threadIdx.x == 0) g = 9; __syncthreads(); a[threadIdx.x] = q
    * 1000 + p * 100 + get() * 10 + g; }]], "3499" },
  { "value kept from a parameter that changes", "", KERNEL .. [[__shared__ int s[64]; int q = w + 1; w = threadIdx.x;
    s[threadIdx.x] = q; __syncthreads(); a[threadIdx.x] = q * 1000 + s[63 - threadIdx.x] * 100 + w; }]], "2200 + t" },
  { "tickets of warps, handed to their lanes", [[struct Ticket { int *c; __device__ int operator()() const { return
    atomicAdd(c, 32); } };]], KERNEL .. [[__shared__ int c; if (threadIdx.x == 0) c = 0; __syncthreads(); Ticket
    next{&c}; int at = 0; if (threadIdx.x % 32 == 0) at = next(); at = __shfl_sync(~0u, at, 0) + threadIdx.x % 32; a[at]
    = at * w; }]], "t", block = 96 },
  { "template helper with a number and with a class around a barrier", TID .. [[ template <class T> __device__ int
    turn(int *s, T x) { s[threadIdx.x] = x + 1; __syncthreads(); int o = s[63 - threadIdx.x]; __syncthreads(); return o;
    }]], KERNEL .. "__shared__ int s[64]; Tid q; a[threadIdx.x] = turn(s, w) * 100 + turn(s, q); }", "264 - t" },
}
