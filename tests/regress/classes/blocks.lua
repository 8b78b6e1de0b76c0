-- SPDX-License-Identifier: MIT
--
-- Probes of blocks and warps, and forms that no other file has; see probes.lua for the form of a case.

local HEAD = "__global__ void k(int *a, int w) { __shared__ int s[64]; int t = threadIdx.x; "
local KERNEL = "__global__ void k(int *a, int w) { "
local MADE = [[struct Tid { int k; __device__ Tid(int x) : k(x) {} __device__ Tid() {} __device__ operator
    int() const { return k + threadIdx.x; } };]]
local LIMIT = "struct Lim { int v; __device__ operator int() const { return v - threadIdx.x; } };"

return {
  -- blocks, warps and the rest
  { "bit field of a local class", "struct B { unsigned a : 3; int b : 5; };", HEAD .. [[B b = {9, 5}; b.a += t; s[t] =
    t; __syncthreads(); a[t] = b.a * 100 + b.b + s[63-t]; }]], "((1+t)%8)*100+5+63-t" },
  { "static table chosen by thread in a condition", "", HEAD .. [[const int tab[3] = {5, 6, 7}; int n = tab[t % 3]; s[t]
    = t; __syncthreads(); a[t] = n + s[63-t] + tab[w]; }]], "5+t%3+63-t+6" },
  { "typedef of a function's type", [[typedef int fn(int); __device__ int me(int x) { return x +
    threadIdx.x; }]], "fn *f = me; int n = f(3);", "t+3" },
  { "condition with a conversion, then bounds", LIMIT .. "__device__ Lim lim = {40};", KERNEL ..
    "int i = threadIdx.x; if (i < lim) a[i] = 1; }", "t < 40 - t and 1 or 0" },
  { "bounds against *(p + 1) of a class", LIMIT .. "__device__ Lim lim[1] = {{40}};", KERNEL .. [[int n = *(lim + 0), i
    = threadIdx.x; if (i < n) a[i] = 1; }]], "t < 40 - t and 1 or 0" },
  { "stride against *(p + 1) of a class", [[struct Lim { int v; __device__ operator int() const { return v +
    threadIdx.x; } }; __device__ Lim lim[1] = {{40}};]], KERNEL .. [[int n = *(lim + 0); for (int i = blockIdx.x *
    blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] += 1; }]], "t < 40 and 1 or 1", size = 64 },
  { "lane by PTX in a helper", [[__device__ int lane() { int n; asm("mov.u32 %0, %%laneid;" : "=r"(n));
    return n; }]], "int n = lane();", "t%32" },
  { "size of the function's name", "", KERNEL .. "a[threadIdx.x] = sizeof(__func__); }", "2", alone = true },
  { "block of one thread", MADE, KERNEL .. [[__shared__ int s[1]; Tid q(5); s[0] = blockIdx.x; __syncthreads(); s[0] +=
    q; __syncthreads(); a[blockIdx.x] = s[0]; }]], "t+5", grid = 5, block = 1 },
  { "block of three dimensions", [[struct I { int v; __device__ I() : v((threadIdx.z * blockDim.y + threadIdx.y) *
    blockDim.x + threadIdx.x) {} };]], KERNEL .. [[__shared__ int s[30]; I i; s[i.v] = i.v; __syncthreads();
    a[blockIdx.x * 30 + i.v] = s[29 - i.v]; }]], "29-t%30", grid = 2, block = { 2, 3, 5 } },
  { "do while by a class around a warp's barrier", MADE, KERNEL .. [[Tid q(-3); int n = 0; while (q.k < 0) { n += q;
    __syncwarp(); q.k++; } a[threadIdx.x] = n; }]], "3*t-6" },
  { "element of an array of classes, masks of warps", MADE, KERNEL .. [[Tid q[2] = {Tid(1), Tid(2)}; int n = 0; for (int
    i = 0; i < 2; i++) if (q[i] > 20) n += __popc(__activemask()) > 0; a[threadIdx.x] = n; }]],
    "(t > 19 and 1 or 0) + (t > 18 and 1 or 0)" },
  { "constructor by a cast in brackets of an alias", MADE .. "typedef Tid ti;", "int n = (ti)(w);", "t+1" },
  { "grid stride with a class as step", [[struct St { __device__ operator int() const { return gridDim.x * blockDim.x; }
    };]], KERNEL .. "St st; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 64; i += st) a[i] += i; }", "t",
    grid = 2, block = 16, size = 64 },
  { "grid stride whose step reads the thread", [[struct St { __device__ operator int() const { return 64 + threadIdx.x;
    } };]], KERNEL .. "St st; int n = 0; for (int i = threadIdx.x; i < 256; i += st) n++; a[threadIdx.x] = n; }",
    [[(function() local n, i = 0, t while i < 256 do n = n + 1 i = i + 64 + t end return n end)()]] },
  { "block index by a hidden class in rows", "struct B { int v; __device__ B() : v(blockIdx.x) {} };", KERNEL .. [[B b;
    int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = b.v; }]], "t//16", grid = 4, block = 16 },
  { "block index by a pointer", "__device__ int bx(const uint3 *p) { return p->x; }", KERNEL .. [[int i = blockIdx.x *
    blockDim.x + threadIdx.x; a[i] = bx(&blockIdx); }]], "t//16", grid = 4, block = 16 },
  { "sum of a narrow index", "", KERNEL .. [[int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned char c = blockIdx.x
    * blockDim.x + threadIdx.x; a[i] = c; }]], "t", grid = 4, block = 16 },
  { "sum beside a product", "", KERNEL .. [[int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = 2 * (blockIdx.x *
    blockDim.x + threadIdx.x) + w; }]], "2*t+1", grid = 4, block = 16 },
  { "bounds by a bool of a class", MADE, KERNEL .. "Tid q(0); bool in = q < 40; if (in) a[threadIdx.x] = 1; }",
    "t < 40 and 1 or 0" },
  { "tile's shuffle of a class", [[#include <cooperative_groups.h>
namespace cg = cooperative_groups; struct Tid { int k; __device__ Tid(int x) : k(x) {} __device__ Tid()
    {} __device__ operator int() const { return k + threadIdx.x; } };]], KERNEL .. [[auto b = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(b); Tid q(1); int n = tile.shfl((int)q, 2); a[threadIdx.x] = n; }]],
    "t // 8 * 8 + 3" },
  { "group's helper by const reference", [[#include <cooperative_groups.h>
namespace cg = cooperative_groups; __device__ int rank(const cg::thread_block &b, int *s) {
    s[b.thread_rank()] = b.thread_rank(); b.sync(); return s[63 - b.thread_rank()]; }]], KERNEL .. [[__shared__ int
    s[64]; auto b = cg::this_thread_block(); a[threadIdx.x] = rank(b, s); }]], "63-t" },
  { "variable named as a group's function", [[#include <cooperative_groups.h>
namespace cg = cooperative_groups;]], KERNEL .. [[auto b = cg::this_thread_block(); int sync = threadIdx.x, size = 3;
    b.sync(); a[threadIdx.x] = sync + size; }]], "t+3" },
  { "static local of a device function", [[__device__ int next() { static __device__ int c = 0; return
    atomicAdd(&c, 0); }]], "int n = next() + threadIdx.x;", "t" },
  { "recursive pure function", "__device__ int fac(int n) { return n < 2 ? 1 : n * fac(n - 1); }",
    "int n = fac(3) + threadIdx.x;", "6+t" },
  { "pure function on a pointer to what changes", "__device__ int get(const int *p) { return *p; }", KERNEL ..
    [[__shared__ int c; if (threadIdx.x == 0) c = 1; __syncthreads(); int x = get(&c); __syncthreads(); if (threadIdx.x
    == 0) c = 5; __syncthreads(); int y = get(&c); a[threadIdx.x] = x * 10 + y; }]], "15" },
  { "pure function of a device variable that changes", "__device__ int g; __device__ int get() { return g; }", KERNEL ..
    [[int n = 0; for (int i = 0; i < 3; i++) { if (threadIdx.x == 0) g = i; __syncthreads(); n = n * 10 + get();
    __syncthreads(); } a[threadIdx.x] = n; }]], "12" },
  { "device variable loaded in a block of one thread", "__device__ int g;", KERNEL .. [[g = w; int x = g; g = 5; int y =
    g; __syncthreads(); g = x; int z = g; a[0] = x * 100 + y * 10 + z; }]], "151", block = 1 },
  { "element loaded in a block of one thread", "", KERNEL .. [[a[0] = 3; int x = a[0]; a[0] = 5; __syncthreads(); int y
    = a[0]; for (int i = 0; i < 3; i++) { a[0] += y; y = a[0]; __syncthreads(); } a[0] = x * 100 + y; }]], "340", block
    = 1 },
  { "masked loop with a class as its variable", [[struct It { int i; __device__ It(int x) : i(x) {} __device__ explicit
    operator bool() const { return i > 0; } __device__ It &operator--() { i--; return *this; } };]], KERNEL .. [[int n =
    0; for (It it(threadIdx.x % 3); it; --it) n += __popc(__activemask()) > 0; a[threadIdx.x] = n; }]], "t%3" },
  { "masked loop with two variables", "", KERNEL .. [[int n = 0; for (int i = threadIdx.x % 4, j = 10; i > 0; i--, j++)
    n += __shfl_sync(__activemask(), j, threadIdx.x & 31); a[threadIdx.x] = n; }]], "({0,10,21,33})[t%4+1]" },
  { "masked loop whose bound changes in it", "", KERNEL .. [[int m = threadIdx.x % 4, n = 0; for (int i = 0; i < m; i++)
    { n += __shfl_xor_sync(~0u, 1, 0); if (threadIdx.x % 4 == 3) m = 1; } a[threadIdx.x] = n; }]],
    "({0,1,2,1})[t%4+1]" },
  { "while with a postfix decrement and a shuffle", "", KERNEL .. [[int m = threadIdx.x % 4, n = 0; while (m-- > 0) n +=
    __shfl_xor_sync(__activemask(), m, 0); a[threadIdx.x] = n * 10 + m; }]], "({0,0,1,3})[t%4+1]*10-1" },
  { "uniform while with a postfix decrement of a parameter", "", HEAD .. [[int n = t; while (w-- > 0) { s[t] = n;
    __syncthreads(); n = s[63-t] + w; __syncthreads(); } a[t] = n * 10 + w; }]], "(63-t)*10-1" },
  { "uniform variable assigned in a condition", "", HEAD .. [[int n = t, m; if ((m = w + 2) > 1) { s[t] = n;
    __syncthreads(); n = s[63-t]; } __syncthreads(); a[t] = n + m; }]], "66-t" },
  { "uniform variable assigned in an argument", "__device__ int id(int x) { return x; }", HEAD .. [[int m = 0; int n =
    id(m = t) + m * 0; s[t] = t; __syncthreads(); a[t] = n + m + s[63-t]; }]], "63+t" },
  { "uniform variable swapped by a comma", "", HEAD .. [[int x = 1, y = 2, o; if (t & 1) o = x, x = y, y = o; s[t] = t;
    __syncthreads(); a[t] = x * 1000 + y * 100 + s[63-t]; }]], "(t % 2 == 1 and 2100 or 1200) + 63 - t" },
  { "uniform pointer to a pointer", "", HEAD .. [[int *p = s; int **q = &p; *q += t; s[t] = t; __syncthreads(); a[t] =
    *p * 100 + s[63-t]; }]], "100*t+63-t" },
  { "vector by a chain of assignments", "", HEAD .. [[int2 v, u; v = u = make_int2(t, 2); v.x += 1; s[t] = t;
    __syncthreads(); a[t] = v.x * 100 + u.x + s[63-t]; }]], "100*(t+1)+t+63-t" },
  { "operators by their names", [[struct C { int v; __device__ C &operator+=(int x) { v += x * threadIdx.x; return
    *this; } };]], HEAD .. "C c{0}; c.operator+=(2); s[t] = t; __syncthreads(); a[t] = c.v * 100 + s[63-t]; }",
    "200*t+63-t" },
  { "conversion by its name", MADE, "Tid q(3); int n = q.operator int();", "t+3" },
  { "assignment of an aggregate by a list", "struct P { int x, y; };", HEAD .. [[P p{1, 2}; p = {t, 3}; s[t] = t;
    __syncthreads(); a[t] = p.x * 100 + p.y + s[63-t]; }]], "100*t+3+63-t" },
  { "short circuit around a helper's effect", "__device__ int c; __device__ bool hit(int x) { return x & 1; }", HEAD ..
    [[int n = 0; if (hit(t) && ++n && hit(t >> 1)) n += 10; s[t] = t; __syncthreads(); a[t] = n * 100 + s[63-t]; }]],
    [[((t & 1) == 1 and ((t & 2) == 2 and 11 or 1) or 0) * 100 + 63 - t]] },
  { "continue in an interchanged loop", "", KERNEL .. [[int n = 0; for (int i = 0; i < 40 * w; i++) { if ((i +
    threadIdx.x) % 3) continue; n += i; } a[threadIdx.x] = n; }]], [[(function() local n = 0 for i = 0, 39 do if (i + t)
    % 3 == 0 then n = n + i end end return n end)()]] },
}
