-- SPDX-License-Identifier: MIT
--
-- Kernels that are hard to split: the automatic choice and the fibers give
-- the same results, and the choice is the expected one.

local lists = require "moonwarp.base.lists"
local mw = require "moonwarp"
local support = require "tests.support"

local THREADS = 64

local function results(dev, kernel)
  local input <close> = dev:array("i32", THREADS)
  local out <close> = dev:zeros("i32", THREADS)
  local values = {}
  for i = 1, THREADS do values[i] = i * 7919 % 101 end
  input:upload(values)
  kernel:launch(1, THREADS, out, input, THREADS)
  return out:totable()
end

local CG = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
  .. "namespace cg = cooperative_groups;\n"
local HEAD = "__global__ void k(int *out, const int *in, int n) { int t = threadIdx.x; "
local cases = {
  { "a variable declared with its struct", "split", HEAD .. [[ __shared__ int s[64];
    struct P { int a; int b; } p = { in[t], t }; s[t] = p.a; __syncthreads();
    p.b += s[(t + 1) % n]; __syncthreads(); out[t] = p.a + p.b; }]] },
  { "a variable declared with its union", "split", HEAD .. [[ __shared__ int s[64];
    union { int i; float f; } u; u.i = in[t]; s[t] = u.i; __syncthreads(); out[t] = u.i + s[(t + 1) % n]; }]] },
  { "a variable declared with its enum", "split", HEAD .. [[ __shared__ int s[64];
    enum { A, B } e = (t & 1) ? A : B; s[t] = in[t]; __syncthreads();
    out[t] = s[(t + 1) % n] + (e == A ? 1000 : 0); }]] },
  { "a type of its own", "split", HEAD .. [[ __shared__ int s[64]; struct P { int a; int b; };
    P p = { in[t], t }; s[t] = p.a; __syncthreads(); p.b += s[(t + 1) % n]; out[t] = p.b; }]] },
  { "a helper that keeps shared memory between calls", "split", [[
    __device__ int h(int v) { __shared__ int q[64]; if (v) q[threadIdx.x] = v; else q[threadIdx.x] += 1;
      __syncthreads(); int r = q[(threadIdx.x + 1) % 64]; __syncthreads(); return r; }
    ]] .. HEAD .. [[ int a = h(in[t] + 1); out[t] = a + h(0); }]] },
  { "a helper that keeps shared memory between the rounds of a loop", "split", [[
    __device__ int h(int v) { __shared__ int q[64]; if (v) q[threadIdx.x] = v; else q[threadIdx.x] += 1;
      __syncthreads(); int r = q[(threadIdx.x + 1) % 64]; __syncthreads(); return r; }
    ]] .. HEAD .. [[ int a = 0; for (int i = 0; i < 5; i++) { int z = h(i == 0 ? in[t] + 1 : 0); a = a * 3 + z; }
    out[t] = a + h(0); }]] },
  { "instances of a template helper with shared memory of their own", "split", [[
    template <class T> __device__ T sum(T v) { const int W = 32; __shared__ T part[W], more[2 * W];
      int l = threadIdx.x % 32, w = threadIdx.x / 32;
      for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
      if (!l) part[w] = v; __syncthreads();
      T r = 0; for (int i = 0; i < blockDim.x / 32; i++) r += part[i]; more[l] = r; __syncthreads();
      return more[0]; }
    ]] .. HEAD .. [[ int a = sum(in[t]); int b = sum(in[t] * t); float c = sum(1.5f * t);
    out[t] = a + 3 * b + (int)c; }]] },
  { "shared memory declared inside of a loop", "split", HEAD .. [[ int a = 0;
    for (int i = 0; i < 4; i++) { __shared__ int s[64]; if (i == 0) s[t] = in[t]; __syncthreads();
      a += s[(t + i) % n]; __syncthreads(); s[t] += i; }
    out[t] = a; }]] },
  { "variables of a branch beside one with a barrier", "split", HEAD .. [[ __shared__ int s[64]; int v = 1;
    s[t] = in[t];
    if (n > 10) { int a = t; float b = 2; a += b; v = a; } else { __syncthreads(); v = s[(t + 1) % n]; }
    __syncthreads(); out[t] = v + s[63 - t]; }]] },
  { "variables of a branch beside one with a shuffle", "split", HEAD .. [[ int v = in[t];
    if (t < 32) { int a = t; a += 2; v = a; } else { v += __shfl_xor_sync(~0u, v, 1); }
    out[t] = v; }]] },
  { "conditions that change a variable", "split", HEAD .. [[ __shared__ int s[64]; s[t] = in[t];
    for (int i = 0; i++ < 3; ) { __syncthreads(); int v = s[(t + i) % n]; __syncthreads(); s[t] += v; }
    int m = 4;
    while (m-- > 0) { __syncthreads(); int v = s[(t + m) % n]; __syncthreads(); s[t] += v * m; }
    do { __syncthreads(); int v = s[(t + m + 1) % n]; __syncthreads(); s[t] += v * m; } while (++m < 3);
    out[t] = s[t] + m; }]] },
  { "shared memory whose struct has no name", "split", HEAD .. [[ __shared__ struct { int a[64]; float b; } s, r[2];
    s.a[t] = in[t]; r[1].a[t] = t; __syncthreads(); out[t] = s.a[63 - t] + r[1].a[(t + 1) % n]; }]] },
  { "shared memory that is a union", "split", HEAD .. [[ __shared__ union U { int a[64]; float b[64]; } s;
    s.a[t] = in[t]; __syncthreads(); out[t] = s.a[63 - t]; }]] },
  { "a pointer to a function by typedef", "loop", "typedef int (*op)(int, int);\n" ..
    "__device__ int add(int a, int b) { return a + b; }\n" .. HEAD .. "op f = add; out[t] = f(in[t], n); }" },
  { "a helper whose parameter has the kernel's name", "split", [[
    __device__ int h(int k) { __shared__ int s[64]; s[threadIdx.x] = k; __syncthreads(); return s[63 - threadIdx.x]; }
    ]] .. HEAD .. [[ out[t] = h(in[t]); }]] },
  { "elements that all read under conditions of their own", "split", HEAD .. [[ __shared__ int s[64], r[64];
    s[t] = in[t]; r[t] = t; __syncthreads(); int sum = 0;
    for (int k = 0; k < 64; k++) { if (s[k] > in[t]) sum += r[k] * t; else if (t & 1) sum -= s[k]; }
    for (int k = 1; k < 64; k += 3) sum += t > k ? r[k] : 0;
    __syncthreads(); for (int k = 0; k < 64; k++) if (k == t) r[k] = sum + r[k];
    __syncthreads(); for (int k = 0; k < 80; k++) if (k < n) sum += s[k] ^ r[k];
    out[t] = sum; }]] },
  { "a range-based for", "fiber", [[
    struct S { int a[3] = { 1, 2, 3 };
      __device__ int *begin() { return a; } __device__ int *end() { return a + 3; } };
    ]] .. HEAD .. [[ __shared__ int s[64]; int sum = 0; s[t] = in[t];
    for (int i : S()) { __syncthreads(); sum += s[(t + i) % n]; }
    out[t] = sum; }]] },
  { "shuffles by more than a warp", "split", HEAD .. [[ int v = in[t];
    out[t] = __shfl_down_sync(~0u, v, 33) + 3 * __shfl_up_sync(~0u, v, 40, 16); }]] },
  { "two loops over one name", "split", HEAD .. [[ __shared__ int s[64]; int sum = 0;
    for (int i = t; i < n; i += blockDim.x) sum += in[i];
    s[t] = sum; __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) { int i = t + d; if (t < d) s[t] += s[i]; __syncthreads(); }
    out[t] = s[0]; }]] },
  { "an early return", "split", HEAD .. [[ __shared__ int s[64]; if (t >= 50) return;
    s[t] = in[t]; __syncthreads(); out[t] = s[49 - t]; }]] },
  { "a shuffle under a condition of whole warps", "split", HEAD .. [[ __shared__ int s[64]; s[t] = in[t];
    __syncthreads(); if (t < 32) { int v = s[t] + s[t + 32]; v += __shfl_xor_sync(~0u, v, 16); s[t] = v; }
    __syncthreads(); out[t] = s[t]; }]] },
  { "sync of the block in every form", "split", CG .. HEAD .. [[ __shared__ int s[64];
    cg::thread_block b = cg::this_thread_block();
    s[b.thread_rank()] = in[t]; b.sync(); int v = s[(t + 1) % n]; cg::sync(b); s[t] = v + 1;
    cooperative_groups::sync(b);
    v += s[(t + 2) % n]; cg::this_thread_block().sync(); s[t] = v; cg::sync(cg::this_thread_block()); auto c = b;
    c.sync();
    s[t] = v; cg::synchronize(b);
    out[t] = s[63 - t] + (int)b.size() + b.group_dim().x + b.thread_index().x + b.group_index().y +
    b.num_threads(); }]] },
  { "tiles: shuffles", "split", CG .. HEAD .. [[ auto b = cg::this_thread_block();
    cg::thread_block_tile<32> w = cg::tiled_partition<32>(b);
    auto q = cg::tiled_partition<8>(b); const auto r = cg::tiled_partition<4>(q);
    int v = in[t]; v += w.shfl_down(v, 3); v += 3 * q.shfl_up(v, 2); v ^= r.shfl_xor(v, 1); v += q.shfl(v, 5);
    w.sync(); q.sync();
    out[t] = v + w.thread_rank() + 10 * q.thread_rank() + 100 * r.thread_rank() + 7 * w.meta_group_rank() + 11 *
    q.meta_group_rank()
      + 13 * r.meta_group_rank() + w.meta_group_size() * 17 + 19 * q.meta_group_size() + 23 * r.meta_group_size() +
    w.size() + q.num_threads(); }]] },
  { "tiles: votes", "split", CG .. HEAD .. [[ auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b); auto q = cg::tiled_partition<8>(b);
    int v = in[t]; int r = w.any(v == 5) + 2 * w.all(v > 0) + 4 * q.any(v < 20) + 8 * q.all(v > 3);
    out[t] = r + 16 * __popc(w.ballot(v & 1)) + 1024 * q.ballot(v & 1) + 7 * q.match_any(v % 3) + 3 *
    __popc(w.match_any(v % 3)); }]] },
  { "tiles: reduce", "split", CG .. HEAD .. [[ auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b); auto q = cg::tiled_partition<8>(b);
    int v = in[t]; int s = cg::reduce(w, v, cg::plus<int>()); float f = cg::reduce(q, v * 0.5f, cg::plus<float>{});
    if (cg::reduce(w, v, cg::greater<int>()) > 90) s += cooperative_groups::reduce(q, v,
    cooperative_groups::less<int>{});
    out[t] = s + (int)f; }]] },
  { "groups given to helpers", "split", CG .. [[
    __device__ int sum(cg::thread_block_tile<32> &w, int v) { for (int d = w.size() / 2; d > 0;
    d /= 2) v += w.shfl_down(v, d); return w.shfl(v, 0); }
    template <class G, class T> __device__ T total(const G &g, T v, T *s) { s[g.thread_rank()] = v; g.sync();
    T r = s[(g.thread_rank() + 1) % g.size()]; g.sync(); return r; }
    __device__ void meet(cg::thread_group g) { g.sync(); }
    template <class T> __device__ T first(T v, cg::thread_block_tile<32> &w) { return w.shfl(v, 0); }
    template <unsigned S, class P> __device__ int part(cg::thread_block_tile<S, P> g, int v) { return cg::reduce(g,
    v, cg::plus<int>()); }
    ]] .. HEAD .. [[ __shared__ int s[64]; cg::thread_block b = cg::this_thread_block();
    cg::thread_block_tile<32> w = cg::tiled_partition<32>(b);
    int v = sum(w, in[t]); v += total(b, v + t, s); meet(b); s[t] = v; meet(b); v += s[63 - t]; int x = part(w, v);
    int y = part(cg::tiled_partition<16>(b), v); out[t] = v + x + y + first(v, w); }]] },
  { "helpers that are called as what groups have", "split", CG .. [[
    __device__ int reduce(cg::thread_block_tile<32> w, int v) { return cg::reduce(w, v, cg::plus<int>()); }
    template <int S> __device__ int all(cg::thread_block b, int v) { auto q = cg::tiled_partition<S>(b);
    return q.all(v > 0) + 2 * q.any(v == 5); }
    ]] .. HEAD .. [[ auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b);
    out[t] = reduce(w, in[t]) + all<8>(b, in[t]); }]] },
  { "using namespace cooperative_groups", "split",
    "#include <cooperative_groups.h>\nusing namespace cooperative_groups;\n" .. HEAD .. [[
    __shared__ int s[64]; thread_block b = this_thread_block(); s[t] = in[t]; sync(b);
    thread_group w = tiled_partition(b, 32);
    int v = s[t / 32 * 32 + (t + 1) % 32]; w.sync(); s[t] = v + w.thread_rank(); sync(w); b.sync();
    out[t] = s[63 - t]; }]] },
  { "shuffles of a tile, using namespace cooperative_groups", "split", [[
    #include <cooperative_groups.h>
    using namespace cooperative_groups;
    __device__ int sum(thread_block_tile<32> w, int v) { for (int d = 16; d; d /= 2) v += w.shfl_down(v, d);
    return v; }
    ]] .. HEAD .. [[ thread_block_tile<32> w = tiled_partition<32>(this_thread_block()); int v = sum(w, in[t]);
    out[t] = w.shfl(v, 0) + w.shfl_xor(in[t], 1); }]] },
  { "for (int d(16); ...)", "split", HEAD .. [[ int v = in[t]; for (int d(16), e = 0; d > e; d /= 2)
    v += __shfl_xor_sync(0xffffffff, v, d); out[t] = v; }]] },
  { "a parameter x[N][M] that the kernel and a helper change", "split", [[
    __device__ int row(const int x[][4], int s[16][4], int t) { x += t / 4; s[t / 4][t % 4] = x[0][t % 4];
    __syncthreads(); return s[15 - t / 4][t % 4]; }
    __global__ void k(int *out, const int in[16][4], int n) { __shared__ int s[16][4]; int t = threadIdx.x;
    int v = row(in, s, t); in += t / 4; out[t] = v + in[0][t % 4]; }]] },
  { "a constant of a template around a barrier", "split", [[
    template <class A, class B> struct same { static const bool value = false; };
    template <class A> struct same<A, A> { static const bool value = true; };
    template <class T> __device__ T turn(T v, T *s) { const bool B = same<T, int>::value; s[threadIdx.x] = v;
    __syncthreads(); if (B) { v = s[63 - threadIdx.x]; __syncthreads(); } return v; }
    ]] .. HEAD .. [[ __shared__ int s[64]; out[t] = turn(in[t], s); }]] },
  { "a statement that begins with a cast", "split", HEAD .. [[ __shared__ int s[64]; s[t] = in[t]; __syncthreads();
    int2 pair = { s[63 - t], t }; __syncthreads(); if (t < 32) { reinterpret_cast<int2 *>(out)[t] = pair; } }]] },
  { "a shuffle of a tile under a condition", "split", CG .. HEAD .. [[ auto w =
    cg::tiled_partition<32>(cg::this_thread_block()); int v = in[t];
    if (w.meta_group_rank() == 0) { for (int d = 16; d > 0; d >>= 1) v += w.shfl_xor(v, d); } out[t] = v; }]] },
  { "a group by its constructor", "split", CG .. HEAD .. [[ __shared__ int s[64];
    cg::thread_block b(cg::this_thread_block()); s[t] = in[t]; b.sync(); out[t] = s[63 - t]; }]] },
  { "coalesced threads", "fiber", CG .. HEAD .. [[ int v = in[t]; if (v & 1) { auto g = cg::coalesced_threads();
    v += g.shfl(v, 0) + g.size(); } out[t] = v; }]] },
  { "references to variables", "split", [[
    __device__ void two(int &a, int &b, int *s) { s[threadIdx.x] = a; __syncthreads(); b = s[63 - threadIdx.x];
    a += b; __syncthreads(); }
    __device__ void get(int (&s)[64], int &v) { s[threadIdx.x] = v; __syncthreads(); v = s[(threadIdx.x + 1) % 64];
    __syncthreads(); }
    __device__ void maxi(float &v, int &i) { for (int d = 16; d;
    d /= 2) { float w = __shfl_xor_sync(0xffffffff, v, d); int j = __shfl_xor_sync(0xffffffff, i, d);
    if (w > v || (w == v && j < i)) { v = w; i = j; } } }
    ]] .. HEAD .. [[ __shared__ int s[64]; int x = in[t], y = 0; two(x, y, s); get(s, x); float f = x; int i = t;
    maxi(f, i); out[t] = x + 3 * y + i + (int)f; }]] },
  { "float v(x)", "split", HEAD .. [[ __shared__ int s[64]; float v(in[t]); const int *p(in); int w(t); s[t] = v;
    __syncthreads(); v += s[63 - t]; w += p[0] * 2; __syncthreads(); s[t] = w; __syncthreads();
    out[t] = (int)v + w + s[(t + 1) % n]; }]] },
  { "references to elements", "split", [[
    __device__ void add(int &to, int v, int *s) { s[threadIdx.x] = v; __syncthreads(); to += s[63 - threadIdx.x];
    __syncthreads(); }
    ]] .. HEAD .. [[ __shared__ int s[64], r[64]; int a[3] = { 1, 2, 3 }; struct P { int x, y; }; P p = { t, 2 };
    r[t] = t; add(a[1], in[t], s); add(r[t], t, s); add(p.y, in[t], s); __syncthreads();
    out[t] = a[1] + r[63 - t] + p.x * p.y; }]] },
  { "a loop variable reused by a later loop", "fiber", HEAD .. [[ __shared__ int s[64]; int i, j, a = 0;
    for (i = 0; i < 3; i++) { s[t] = in[t] + i; __syncthreads(); a += s[63 - t]; __syncthreads(); }
    for (i = t; i < n; i += 16) a += in[i]; for (i = 0; i < 2; i++) { s[t] = a; __syncthreads(); for (j = 0; j < n;
    j++) a += s[j]; __syncthreads(); for (j = t; j < n; j++) a -= s[j] * j; __syncthreads(); } for (j = 4; j > 0;
    j /= 2) { s[t] = a + j; __syncthreads(); a += s[(t + j) % n]; __syncthreads(); } out[t] = a; }]] },
  { "a bound that calls a pure function", "split", [[
    __host__ __device__ inline int up(int a, int b) { return (a + b - 1) / b; }
    template <class T> __device__ T most(T a, T b) { return a > b ? a : b; }
    __device__ int lg(int n) { int k = 0; while (n > 1) { n /= 2; k++; } return k; }
    ]] .. HEAD .. [[ __shared__ int s[64]; int a = 0; const int m = up(n, 10);
    for (int i = 0; i < up(n, 20); i++) { s[t] = in[t] + i; __syncthreads(); a += s[63 - t]; __syncthreads();
    } for (int i = 0; i < m; i++) { s[t] = a; __syncthreads(); a = s[(t + i) % n]; __syncthreads(); }
    if (most(n, 3) > 4) { s[t] = a; __syncthreads(); a += s[63 - t]; __syncthreads();
    } for (int d = 1 << (lg(n) - 1); d > 0; d >>= 1) { s[t] = a; __syncthreads(); a += s[t ^ d]; __syncthreads();
    } out[t] = a; }]] },
  { "overloaded helpers by their types", "split", [[
    __device__ int sum(int v) { for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d); return v; }
    __device__ float sum(float v) { for (int d = 1; d < 32; d *= 2) v += 2 * __shfl_xor_sync(0xffffffff, v, d);
    return v; }
    __device__ int sum(int v, int w) { return sum(v) + 3 * sum(w); }
    __device__ void put(int *s, int v) { s[threadIdx.x] = v; __syncthreads(); }
    __device__ void put(int *s, float v) { s[threadIdx.x] = (int)v + 1000; __syncthreads(); }
    ]] .. HEAD .. [[ __shared__ int s[64]; int v = in[t]; float f = v; int a = sum(v) + (int)sum(f); a += sum(v, t);
    put(s, a); a += s[63 - t]; __syncthreads(); if (n > 3) put(s, f); out[t] = a + s[(t + 1) % n]; }]] },
  { "overloads with shared memory of their own", "split", [[
    __device__ int all(int v) { __shared__ int q[64]; q[threadIdx.x] = v; __syncthreads();
    int r = q[63 - threadIdx.x]; __syncthreads(); return r; }
    __device__ float all(float v) { __shared__ float q[64]; q[threadIdx.x] = v * 2; __syncthreads();
    float r = q[63 - threadIdx.x]; __syncthreads(); return r; }
    ]] .. HEAD .. [[ int a = all(in[t]); float b = all(in[t] * 0.5f); out[t] = a * 3 + (int)b; }]] },
  { "default arguments", "split", [[
    template <class T> __device__ T down(T v, int by = 1, int width = 8 * 4) { return __shfl_down_sync(0xffffffff,
    v, by, width); }
    ]] .. HEAD .. [[ int v = in[t]; v += down(v); v += down(v, 2) + down(v * 0.5f, 3, 16); out[t] = v; }]] },
  { "template parameters that are functions", "split", [[
    __device__ float warp_sum(float v) { for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v; }
    __device__ float warp_max(float v) { for (int d = 16; d;
    d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d)); return v; }
    typedef float (*op_t)(float);
    template <op_t op> __device__ float block(float v, bool final_sync, float outside) { __shared__ float part[32];
    int l = threadIdx.x % 32, w = threadIdx.x / 32, n = blockDim.x / 32;
      float x = op(v); if (l == 0) part[w] = x; __syncthreads(); x = l < n ? part[l] : outside; float y = op(x);
    if (final_sync) __syncthreads(); return y; }
    template <op_t op> __device__ float block(float v) { return block<op>(v, true, 0.0f); }
    ]] .. HEAD .. [[ float a = block<warp_sum>(in[t]); float b = block<warp_max>(in[t], true, -1.0f);
    out[t] = (int)a + 7 * (int)b; }]] },
  { "specialisations", "split", [[
    template <class T> __device__ T sum(T v) { return v + __shfl_xor_sync(0xffffffff, v, 1); }
    template <> __device__ int sum<int>(int v) { return v + __shfl_xor_sync(0xffffffff, v, 2); }
    template <class T, int N> __device__ T turn(T v) { __shared__ T s[N]; s[threadIdx.x] = v; __syncthreads();
    v = s[N - 1 - threadIdx.x]; __syncthreads(); return v; }
    template <> __device__ int turn<int, 64>(int v) { __shared__ int s[64]; s[threadIdx.x] = v; __syncthreads();
    v = 3 * s[threadIdx.x ^ 5]; __syncthreads(); return v; }
    ]] .. HEAD .. [[ out[t] = sum(in[t]) + 1000 * sum<long>(in[t]) + (int)(100 * sum(in[t] * 0.25f));
    out[t] += turn<int, 64>(in[t]); out[t] += (int)turn<float, 64>(in[t]); }]] },
  { "specialisations that overloads of the template share", "fiber", [[
    template <class T> __device__ T sum(T v) { return v + __shfl_xor_sync(0xffffffff, v, 1); }
    template <class T> __device__ T sum(T *v) { return *v + __shfl_xor_sync(0xffffffff, *v, 4); }
    template <> __device__ int sum<int>(int v) { return v + __shfl_xor_sync(0xffffffff, v, 2); }
    ]] .. HEAD .. [[ int v = in[t]; out[t] = sum(v) + sum(&v); }]] },
  { "a specialisation without its arguments", "fiber", [[
    template <class T> __device__ T sum(T v) { return v + __shfl_xor_sync(0xffffffff, v, 1); }
    template <> __device__ int sum(int v) { return v + __shfl_xor_sync(0xffffffff, v, 2); }
    ]] .. HEAD .. [[ out[t] = sum(in[t]); }]] },
  { "commas of template arguments in front of a shuffle", "split", [[
    template <class K, class V> struct pair_of { K k; V v; __device__ pair_of() {}
    __device__ pair_of(K a, V b) : k(a), v(b) {} };
    template <class K, class V> __device__ pair_of<K, V> turn(const pair_of<K, V> &p, int by) {
    return pair_of<K, V>(__shfl_xor_sync(0xffffffff, p.k, by), __shfl_xor_sync(0xffffffff, p.v, 2 * by)); }
    ]] .. HEAD .. [[ pair_of<int, float> p = pair_of<int, float>(in[t], t); p = turn(p, 3);
    out[t] = p.k + 10 * (int)p.v; }]] },
  { "elements of a variable template", "split", [[
    template <class T> __constant__ T table[3] = { 1, 2, 3 };
    ]] .. HEAD .. [[ __shared__ int s[64]; s[t] = in[t]; __syncthreads();
    out[t] = s[63 - t] * table<int>[t % 3] + (n > 3 ? table<int>[0] : 1); }]] },
  { "a helper that calls itself", "fiber", [[
    __device__ int f(int v, int k) { v += __shfl_xor_sync(0xffffffff, v, 1); if (k > 0) v += f(v, k - 1); return v; }
    ]] .. HEAD .. [[ out[t] = f(in[t], 3); }]] },
  { "an overload that calls itself", "fiber", [[
    __device__ int f(int v, int k) { v += __shfl_xor_sync(0xffffffff, v, 1); if (k > 0) v += f(v, k - 1); return v; }
    __device__ int f(int v) { return f(v, 3); }
    ]] .. HEAD .. [[ out[t] = f(in[t]); }]] },
  { "a constructor with several arguments", "split", HEAD .. [[ __shared__ int s[64]; dim3 d(t, 2, 3); s[t] = in[t];
    __syncthreads(); out[t] = s[63 - t] + d.x + d.z * d.y; }]] },
  { "classes without a default constructor", "split", [[
    struct place { const int x; int y; __device__ place(int a) : x(a + 1), y(threadIdx.x) {}
    __device__ place(int a, int b) : x(a), y(b) {} };
    ]] .. HEAD .. [[ __shared__ int s[64]; const place p(in[t]); place q(in[t], 3); place r = in[t] * 5; q.y += p.y;
    s[t] = p.x; __syncthreads(); out[t] = s[63 - t] + 100 * p.y + q.x * q.y + r.x - r.y; }]] },
  { "default constructors that know their thread", "split", [[
    struct own { int v; __device__ own() { v = 3 * threadIdx.x; } };
    ]] .. HEAD .. [[ __shared__ int s[64]; int a = 0; for (int i = 0; i < 3; i++) { own o, two[2]; o.v += in[t];
    two[1].v += i; s[t] = o.v; __syncthreads(); a += s[63 - t] + o.v * two[1].v - two[0].v; __syncthreads(); }
    out[t] = a; }]] },
  { "a variable with a destructor", "fiber", [[
    struct last { int *at; __device__ ~last() { *at += 5; } };
    ]] .. HEAD .. [[ __shared__ int s[64]; { last a = { out + t }; s[t] = in[t]; __syncthreads();
    *a.at = s[63 - t]; } out[t] *= 2; }]] },
  { "an array of variables with a destructor", "fiber", [[
    struct last { int *at; __device__ ~last() { *at += 5; } };
    ]] .. HEAD .. [[ __shared__ int s[64]; { last a[1] = { { out + t } }; s[t] = in[t]; __syncthreads();
    *a[0].at = s[63 - t]; } out[t] *= 2; }]] },
  { "aligned shared memory", "split", HEAD .. [[ __shared__ alignas(alignof(float4)) alignas(128) int s[64];
    s[t] = in[t]; for (int i = 0; i < 2; i++) { __shared__ alignas(16) int u[64]; u[t] = s[t] + i; __syncthreads();
    s[t] = u[63 - t]; __syncthreads(); } out[t] = s[t] + ((size_t)s % 128 ? 1000 : 0); }]] },
  { "a helper that returns from the branches at its end", "split", [[
    __device__ int pick(int v) { __shared__ int s[64]; s[threadIdx.x] = v; __syncthreads();
    int w = s[63 - threadIdx.x]; __syncthreads(); if (threadIdx.x < 9) return w; else if (w > 50) { w -= 50;
    return w * 2; } else return -1; }
    ]] .. HEAD .. [[ int a = pick(in[t]); out[t] = a + pick(a + 1); }]] },
  { "a helper that returns from its middle", "fiber", [[
    __device__ void add(int *out, int v) { __shared__ int s[64]; s[threadIdx.x] = v; __syncthreads();
    if (threadIdx.x < 9) return; out[threadIdx.x] += s[63 - threadIdx.x]; }
    ]] .. HEAD .. [[ out[t] = 1; add(out, in[t]); out[t] += 7; }]] },
  { "a helper at the end that returns from its middle", "split", [[
    __device__ void turn(int *out, const int *in, int n) { __shared__ int s[64]; if (threadIdx.x >= n) return;
    s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); if (n < 3) return; int v = s[n - 1 - threadIdx.x];
    if (v > 50) return; out[threadIdx.x] = v; }
    ]] .. HEAD .. [[ out[t] = 1; if (n == 7) turn(out, in, n); else { out += 1 - 1; turn(out, in, n - 6); } }]] },
  { "a bound that inline PTX computes", "split", [[
    __device__ unsigned highest(unsigned v) { unsigned r; asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(v)); return r; }
    ]] .. HEAD .. [[ __shared__ int s[64]; unsigned m = 1 << (highest(n - 1) + 1); s[t] = in[t];
    for (unsigned d = 1; d < m; d *= 2) { __syncthreads(); int v = s[t ^ d]; __syncthreads(); s[t] += v * d; }
    out[t] = s[t]; }]] },
  { "overloads of which one does not compile for a type", "split", [[
    template <class K, class V> struct pair_of { K k; V v; __device__ pair_of() {}
    __device__ pair_of(K a, V b) : k(a), v(b) {} };
    template <class T> __device__ T turn(const T v, int by, int width = 32) {
    return __shfl_xor_sync(0xffffffff, v, by, width); }
    template <class K, class V> __device__ pair_of<K, V> turn(const pair_of<K, V> &p, int by, int width = 32) {
    return pair_of<K, V>(__shfl_xor_sync(0xffffffff, p.k, by, width), __shfl_xor_sync(0xffffffff, p.v, 2 * by)); }
    template <class T> __device__ T twice(const T x) { T y = turn(x, 1); return turn(y, 4, 8); }
    __global__ void other(int *x) { *x = turn(*x, 1); }
    ]] .. HEAD .. [[ pair_of<int, float> p = pair_of<int, float>(in[t], t); p = twice(p); int a = twice(in[t]);
    out += n - 64; out[t] = p.k + 10 * (int)p.v + 1000 * a; }]] },
  { "changed parameters with __restrict", "split",
    "__global__ void k(int *__restrict out, const int *__restrict in, int n) { int t = threadIdx.x; " .. [[
    __shared__ int s[64]; out += t; in += t; s[t] = *in; __syncthreads(); *out = s[63 - t]; }]] },
}

-- All of them, each in a namespace of its own: fibers take them as they are.
local function together()
  local includes, texts = {}, {}
  for i, case in ipairs(cases) do
    local text = case[3]:gsub("#include [^\n]*\n", function(line) includes[line] = true return "" end)
    texts[i] = ("namespace n%d {\n%s\n}\n"):format(i, (text:gsub("%f[%w_]k%(int %*", ("k%d(int *"):format(i))))
  end
  return table.concat(lists.keys(includes)) .. table.concat(texts)
end

describe("kernels that are hard to split", function()
  support.no_leaks()
  local dev, fibers = mw.device "cpu", nil
  setup(function() fibers = dev:module { source = together(), engine = "fiber" } end)
  teardown(function() fibers:close() end)

  for i, case in ipairs(cases) do
    local name, expected, source = table.unpack(case)
    it("agree with fibers: " .. name, function()
      local module <close> = dev:module { source = source, name = "tricky.cu" }
      assert.are.same(results(dev, fibers:kernel(("n%d::k%d"):format(i, i))), results(dev, module.k))
      assert.are.equal(expected, (module.k:engine()))
    end)
  end
end)
