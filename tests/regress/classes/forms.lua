-- SPDX-License-Identifier: MIT
--
-- Plain forms that went to fibers, hundreds of times slower, and beside each its siblings: values that differ between
-- threads, references to what changes, classes. See probes.lua for the form; "fast" is asked of every case that names
-- no engine.

local KERNEL = "__global__ void k(int *a, int w) { "
local W4 = [[__device__ int sum(int (*r)[4], int i) { r[i / 4][i % 4] += 1; __syncthreads(); int v = 0;
    for (int k = 0; k < 4; k++) v += r[(63 - i) / 4][k]; __syncthreads(); return v; }]]
local ROWS = "int y = t / 8, x = t % 8;"
local CG = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
local HEAD = "__global__ void k(int *a, int w) { int t = threadIdx.x; "
local P = "struct P { int x, y; };"
local PAIR = [[struct Pair { int x; int &y; __device__ Pair(int a, int &b) : x(a), y(b) {} };]]
local VIEW = [[struct V { int *p; __device__ int &operator()(int i, int j) { return p[i * 8 + j]; } };]]
local TURN = " s[t] = t; __syncthreads(); a[t] = s[63 - t]"

local cases = {
  -- attributes
  { "attributes of variables, statements, parameters", "", [=[[[maybe_unused]] int m = 3; int u [[maybe_unused]] = 5,
    n = 0; if (threadIdx.x < 70) [[likely]] n = threadIdx.x + m; else [[unlikely]] n = 9; switch (w) { case 0: n = 0;
    [[fallthrough]]; case 1: n++; }]=], "t + 4" },
  { "attributes of a helper with a barrier", [=[[[nodiscard]] __device__ int f([[maybe_unused]] int x, int y
    [[maybe_unused]]) { [[maybe_unused]] int z = x; __syncthreads(); return x + 1; }]=], "int n = f(threadIdx.x, 1);",
    "t + 1" },
  { "attribute that aligns", "", HEAD .. "__shared__ int s[64]; [[gnu::aligned(64)]] int q[2] = {t, 1};" .. TURN ..
    " + q[0] + 10000 * ((unsigned long long)q % 64 != 0); }", "63", engine = "fiber" },

  -- helpers that take rows
  { "helper with a barrier and a pointer to rows", W4, HEAD .. [[__shared__ int s[16][4]; s[t / 4][t % 4] = t;
    __syncthreads(); a[t] = sum(s, t); }]], "((63 - t) // 4) * 16 + 6 + 4" },
  { "helper with rows of each thread's own", [[__device__ int get(int (*r)[2], int i) { r[i][1] += 1; __syncthreads();
    return r[i][0] * 100 + r[i][1]; }]], [[int l[2][2] = {{1, 2}, {(int)threadIdx.x, 4}}; int n = get(l, w);]],
    "100 * t + 5" },
  { "helper with a row of an array by reference", [[__device__ int put(int (&r)[4], int v) { r[v % 4] = v;
    __syncthreads(); return r[3 - v % 4]; }]], HEAD .. [[__shared__ int s[16][4]; s[t / 4][t % 4] = -1; __syncthreads();
    a[t] = put(s[t / 4], t); }]], "t // 4 * 4 + 3 - t % 4" },
  { "helper of a template with rows", [[template <class T, int W> __device__ T first(T (*r)[W], int i) { T v = r[i][W -
    1]; __syncthreads(); return v; }]], "int l[2][3] = {{1, 2, 3}, {4, 5, (int)threadIdx.x}}; int n = first(l, 1);",
    "t" },

  -- heads that declare
  { "if that declares around a barrier", "", HEAD .. [[__shared__ int s[64]; int n = 5 * w; s[t] = t; if (int m = n; m >
    3) { __syncthreads(); a[t] = s[63 - t] + m; } else a[t] = -1; }]], "68 - t" },
  { "if that declares its condition, and hides a name", "", HEAD .. [[__shared__ int s[64]; int m = t, v = 0; s[t] = t;
    if (int m = 2 * w) { __syncthreads(); v = s[63 - t] * m; v += m; __syncthreads(); } a[t] = v + 1000 * m; }]],
    "2 * (63 - t) + 2 + 1000 * t" },
  { "if whose condition each thread changes", "", HEAD .. [[__shared__ int s[64]; int m = t, v = 0; s[t] = t; if (int m
    = 2 * w) { __syncthreads(); v = s[63 - t] * m; m += t; v += m; __syncthreads(); } a[t] = v + 1000 * m; }]],
    "2 * (63 - t) + 2 + t + 1000 * t", engine = "fiber" },
  { "if whose declaration and condition are two", "", HEAD .. [[__shared__ int s[64]; s[t] = t; if (int m = w; int q = m
    + 1) { __syncthreads(); a[t] = s[63 - t] + q * 100; } else { a[t] = q + m; } }]], "263 - t" },
  { "while that declares around a barrier", "", HEAD .. [[__shared__ int s[64]; int n = 3 * w, v = 0; s[t] = t; while
    (int m = n--) { __syncthreads(); v += s[63 - t] + m; __syncthreads(); } a[t] = v; }]], "3 * (63 - t) + 6" },
  { "if that declares what differs around a warp operation", "", HEAD .. [[int v = 0; if (int m = t % 32; m < 16) v =
    __shfl_sync(0xffff, m, 3); a[t] = v; }]], "t % 32 < 16 and 3 or 0" },
  { "switch that declares", "", HEAD .. [[__shared__ int s[64]; s[t] = t; switch (int m = w + 1; m) { case 2:
    __syncthreads(); a[t] = s[63 - t] + m; break; default: a[t] = 0; } }]], "65 - t" },
  { "loop over an array around a barrier", "", HEAD .. [[__shared__ int s[64]; int l[3] = {t, 1, 2}; int v = 0; for (int
    x : l) { s[t] = x; __syncthreads(); v += s[63 - t]; __syncthreads(); } a[t] = v; }]], "66 - t" },
  { "loop that changes an array by a reference", "", HEAD .. [[__shared__ int s[64]; int l[3] = {t, 1, 2}; for (int &x :
    l) { s[t] = x; __syncthreads(); x += s[63 - t]; __syncthreads(); } a[t] = l[0] * 100 + l[1] + l[2]; }]], "6306" },
  { "loop over a class around a barrier", [[struct R { int v[2]; __device__ int *begin() { return v; } __device__ int
    *end() { return v + 1; } };]], HEAD .. [[__shared__ int s[64]; R l = {{t, 9}}; int v = 0; for (int x : l) { s[t] =
    x; __syncthreads(); v += s[63 - t]; } a[t] = v; }]], "63 - t", engine = "fiber" },

  -- declarations
  { "rows by reference", "", HEAD .. "__shared__ int s[8][8]; " .. ROWS .. [[int (&row)[8] = s[y]; row[x] = t;
    __syncthreads(); a[t] = row[7 - x]; }]], "t // 8 * 8 + 7 - t % 8" },
  { "rows by pointer, of each thread's own array", "", HEAD .. [[__shared__ int s[64]; int l[2][2] = {{t, 1}, {2, 3}};
    int (*r)[2] = l + w; r[0][1] += t; s[t] = t; __syncthreads(); r--; a[t] = s[63 - t] + r[0][0] + 100 * r[1][1]; }]],
    "63 + 100 * (t + 3)" },
  { "reference to an element that another changes", "", HEAD .. [[__shared__ int s[64]; int l[4] = {t, 1, 2, 3}; int i =
    w; int &r = l[i]; const int &c = l[i]; i = 3; s[t] = t; __syncthreads(); r += t; a[t] = s[63 - t] + c * 100 + l[1] +
    i; }]], "63 - t + 100 * (t + 1) + t + 1 + 3" },
  { "reference that is changed by the variable, in turns", "", HEAD .. [[__shared__ int s[64]; int n = 0; int &r = n;
    for (int i = 0; i < 2; i++) { n += t; s[t] = r; __syncthreads(); r += s[63 - t]; __syncthreads(); } a[t] = n; }]],
    "63 + t + 63 - t + 63" },
  { "reference chosen by a condition", "", HEAD .. [[__shared__ int s[64]; int m = 1, n = 2; int &r = t & 1 ? m : n;
    s[t] = t; __syncthreads(); r += 10 * t; a[t] = s[63 - t] + m + 1000 * n; }]], [[63 - t + 1 + (t % 2 == 1 and 10 * t
    or 0) + 1000 * (2 + (t % 2 == 0 and 10 * t or 0))]] },
  { "reference to a pointer and to a member", P, HEAD .. [[__shared__ int s[64]; P p = {t, 2}; int l[2] = {5, t}; int *q
    = l; int *&r = q; int &y = p.y; s[t] = t; __syncthreads(); r++; y += t; a[t] = s[63 - t] + *q + 100 * p.y; }]],
    "63 + 100 * (t + 2)" },
  { "reference to a uniform variable that threads change", "", HEAD .. [[__shared__ int s[64]; int m = w; int &r = m;
    s[t] = t; __syncthreads(); r += t; __syncthreads(); a[t] = s[63 - t] + m; }]], "64" },
  { "reference to a parameter, to its member, and to a coordinate", P, HEAD .. [[__shared__ int s[64]; int &r = w; r +=
    t; __syncthreads(); s[t] = r; __syncthreads(); a[t] = s[63 - t] + w; }]], "1 + 63 - t + 1 + t" },
  { "reference to the members of a parameter", "struct P { int x, y; };", [[__global__ void k(int *a, P w) {
    __shared__ int
    s[64]; int t = threadIdx.x; int &r = w.x; auto &[u, v] = w; r += t; v = t; __syncthreads(); s[t] = r;
    __syncthreads();
    a[t] = s[63 - t] + w.x + 1000 * w.y; }]], "63 + 1000 * t", argument = ("i4i4"):pack(0, 0) },
  { "reference to a coordinate", "", HEAD .. "__shared__ int s[64]; const unsigned &r = threadIdx.x;" .. TURN ..
    " + r; }", "63", engine = "fiber" },
  { "reference to what is converted, made, or part of what is made", P ..
    " __device__ P make(int x) { return {x, 1}; }", HEAD .. [[__shared__ int s[64]; const long &r = t; const P &p =
    make(t); const int &x = make(t).x; const auto &[u, v] = make(2 * t);]] .. TURN ..
    " + r + 100 * p.x + 10000 * x + u + v; }", "63 + 1 + 10102 * t", engine = "fiber" },
  { "references to elements that a store may change", "", HEAD .. [[a[t] = t; __syncthreads(); int l[4] = {t, 1, 2, 3};
    int &x = l[l[1] & 3], &y = l[1]; __syncthreads(); x = t; a[t] = y; }]], "t" },
  { "variables of a class with and without parentheses", [[struct Tid { int k; __device__ Tid() : k(threadIdx.x) {}
    __device__ Tid(int x) : k(x + threadIdx.x) {} };]], HEAD .. "__shared__ int s[64]; Tid p, q(3);" .. TURN ..
    " + p.k + 100 * q.k; }", "63 + 100 * (t + 3)" },
  { "names of the parts of a copy, and of an array", P, HEAD .. [[__shared__ int s[64]; P p = {t, 2}; int l[2] = {t, 7};
    auto [u, v] = p; auto &[c, d] = l; const auto &[e, f] = p; p.x = 5; c += 2; s[t] = t; __syncthreads(); u += 1; a[t]
    = s[63 - t] + u + v + 100 * l[0] + d + 10000 * e; }]], "63 + 1 + 2 + 100 * (t + 2) + 7 + 50000" },
  { "names of the parts of a class with a reference", PAIR, HEAD .. [[__shared__ int s[64]; int m = 1; Pair p(t, m);
    auto [u, v] = p; s[t] = t; __syncthreads(); v += t; a[t] = s[63 - t] + u + 100 * m; }]], "63 + 100 * (t + 1)" },
  { "names of the parts of shared memory", P, HEAD .. [[__shared__ P s[64]; auto &[u, v] = s[t]; u = t; v = 2 * t;
    __syncthreads(); a[t] = s[63 - t].x + s[63 - t].y + v; }]], "189 - t" },
  { "template arguments of references and constants", [[template <class T> struct K { static constexpr int v = 1; T x;
    }; template <class T> struct K<T &> { static constexpr int v = 2; T x; }; template <> struct K<const int> { static
    constexpr int v = 3; int x; };]], HEAD .. [[__shared__ int s[64]; K<int> p; K<int &> q; K<const int> r; p.x = q.x =
    r.x = t;]] .. TURN .. " + p.x + q.x + r.x + 1000 * (p.v + 10 * q.v + 100 * r.v); }", "63 + 2 * t + 321000" },

  -- views
  { "matrix view written by its call operator", VIEW, HEAD .. "__shared__ int s[64]; " .. ROWS .. [[V A{s}; A(y, x) = t;
    __syncthreads(); int n = A(7 - y, 7 - x); __syncthreads(); A(y, x) += n; __syncthreads(); a[t] = A(y, x); }]],
    "63" },
  { "matrix view that reads the index", [[struct V { int *p; __device__ int &operator()(int i) { return p[i +
    threadIdx.x]; } };]], HEAD .. [[__shared__ int s[64]; V A{s}; A(0) = t; __syncthreads(); int n = A(0);
    __syncthreads(); A(0) = 63 - n; __syncthreads(); a[t] = s[63 - t]; }]], "t" },

  -- switches
  { "barrier in a case over a parameter", "", HEAD .. [[__shared__ int s[64]; int v = 0; s[t] = t; switch (w) { case 0:
    v = 1; break; case 1: __syncthreads(); v = s[63 - t]; { int q = v; __syncthreads(); s[t] = q; } case 2: {
    __syncthreads(); v += s[63 - t]; break; } default: v = 7; } a[t] = v; }]], "63" },
  { "switch in a loop, with continue and return", "", HEAD .. [[__shared__ int s[64]; int v = 0; for (int i = 0; i < 4;
    i++) { switch (i * w) { case 0: s[t] = t; __syncthreads(); v += s[63 - t]; break; case 1: continue; case 3: a[t] =
    v; return; default: __syncthreads(); } v += 100; } a[t] = -1; }]], "63 - t + 200" },
  { "switch whose variable a case changes", "", HEAD .. [[__shared__ int s[64]; int m = w, v = 0; s[t] = t; switch (m) {
    case 1: m = t; __syncthreads(); v = s[63 - t]; case 5: __syncthreads(); v += m; } a[t] = v; }]], "63", engine =
    "fiber" },
  { "switch over what differs around a warp operation", "", HEAD .. [[int v = 0; switch (t & 1) { case 1: v =
    __shfl_sync(0xaaaaaaaa, t, 1); break; default: v = -1; } a[t] = v; }]], "t % 2 == 1 and t // 32 * 32 + 1 or -1",
    engine = "fiber" },
  { "switch with a barrier over a class", "struct Tid { int k; __device__ operator int() const { return k; } };", HEAD
    .. "__shared__ int s[64]; Tid q{w}; s[t] = t; switch (q) { case 1: __syncthreads(); a[t] = s[63 - t]; } }",
    "63 - t", engine = "fiber" },

  -- lambdas
  { "lambda without captures that names coordinates and shared memory", "", HEAD .. [[__shared__ int s[64]; extern
    __shared__ int d[]; auto put = [](int x) { s[threadIdx.x] = x + blockIdx.x; d[threadIdx.x] = x; }; auto get = []() {
    return s[63 - threadIdx.x] + d[63 - threadIdx.x] + blockDim.x; }; put(t); __syncthreads(); a[t] = get(); }]],
    "2 * (63 - t) + 64", shared = 256 },
  { "lambda by reference, of a thread's own, read and written", "", HEAD .. [[__shared__ int s[64]; int v = t, u = 0;
    auto add = [&](int x) { v += x; u++; return v; }; s[t] = add(1); __syncthreads(); int q = add(s[63 - t]);
    __syncthreads(); s[t] = q; __syncthreads(); a[t] = s[63 - t] + 100 * u + 1000 * (v - q); }]], "65 + 200" },
  { "lambda by reference that reads what changes", "", HEAD .. [[__shared__ int s[64]; int m = w; auto f = [&] { return
    m * 10 + t; }; for (int i = 0; i < 3; i++) { s[t] = f(); __syncthreads(); m += 1; int q = s[63 - t];
    __syncthreads(); s[t] = q; } a[t] = s[t] + f(); }]], "30 + 63 - t + 40 + t" },
  { "lambda that copies, on both sides of a barrier", "", HEAD .. [[__shared__ int s[64]; int v = 3 * t; const int u =
    3; auto f = [=](int x) { return v + u * x + w; }; s[t] = f(1); __syncthreads(); a[t] = f(2) + s[63 - t]; }]],
    "3 * t + 7 + 3 * (63 - t) + 4", engine = "fiber" },
  { "lambda that copies shared memory's name", "", HEAD .. [[__shared__ int s[64]; int v = t; auto f = [=](int i) {
    return s[i] + v; }; s[t] = t; __syncthreads(); a[t] = f(63 - t); }]], "63", engine = "fiber" },
  { "lambda that copies what changes", "", HEAD .. [[__shared__ int s[64]; int v = t; auto f = [=](int i) { return s[i]
    + v; }; auto g = [v] { return v; }; v = 1000; s[t] = t; __syncthreads(); a[t] = f(63 - t) + g(); }]], "63 + t",
    engine = "fiber" },
  { "lambda that copies a class", [[struct C { int k; __device__ C(int x) : k(x) {} __device__ C(const C &c) : k(c.k +
    1000) {} };]], HEAD .. "__shared__ int s[64]; C c(t); auto f = [c] { return c.k; };" .. TURN .. " + f(); }",
    "1063", engine = "fiber" },
  { "lambda that counts for itself", "", HEAD .. [[__shared__ int s[64]; auto f = [n = t]() mutable { return n++; }; int
    v = f();]] .. TURN .. " + f() + v; }", "63 + t + 1", engine = "fiber" },
  { "lambda whose names another variable hides", "", HEAD .. [[__shared__ int s[64]; int v = t; auto f = [&] { return v;
    }; s[t] = t; __syncthreads(); { int v = 1000; a[t] = f() + s[63 - t] + 0 * v; } }]], "63", engine = "fiber" },
  { "lambda that is hidden by another", "", HEAD .. [[__shared__ int s[64]; auto f = [&] { return t; }; s[t] = t;
    __syncthreads(); { auto f = [&] { return 2 * t; }; a[t] = f() + s[63 - t]; } a[t] += f(); }]], "63 + 2 * t", engine
    = "fiber" },
  { "lambda that gives a reference", "", HEAD .. [[__shared__ int s[64]; int l[4] = {t, 1, 2, 3}, m = w; auto f =
    [&](int i) -> int & { return i ? l[i] : m; }; f(2) = 10 * t; f(0) += t; s[t] = t; __syncthreads(); if (m > 0) a[t] =
    s[63 - t] + f(2) + 1000 * m; }]], "63 + 9 * t + 1000 * (t + 1)" },
  { "lambda with a parameter by reference", "", HEAD .. [[__shared__ int s[64]; int m = w; auto f = [](int &x) { x +=
    threadIdx.x; }; f(m); s[t] = m; __syncthreads(); f(m); a[t] = s[63 - t] + m; }]], "64 - t + 1 + 2 * t" },
  { "lambda over a uniform loop, of a parameter and a count", "", HEAD .. [[__shared__ int s[64]; int v = 0, n = 2 * w;
    auto f = [&](int k) { return k < n ? s[(t + k) % 64] : w; }; for (int k = 0; k < n + w; k++) { s[t] = t;
    __syncthreads(); v += f(k); __syncthreads(); } a[t] = v; }]], "t + (t + 1) % 64 + 1" },
  { "lambda with a generic parameter, handed to a template", [[template <class F> __device__ int twice(F f, int x) {
    return f(f(x)); }]], HEAD .. [[__shared__ int s[64]; int c = 0; auto f = [&](auto x) { c++; return x + t; }; s[t] =
    twice(f, 1); __syncthreads(); a[t] = twice(f, s[63 - t]) + 1000 * c; }]], "2 * (63 - t) + 1 + 2 * t + 4000" },
  { "lambda handed to a helper with a barrier", [[template <class F> __device__ int met(F f, int x) { int v = f(x);
    __syncthreads(); return v + f(1); }]], HEAD .. [[int c = t; auto f = [&](int x) { c += x; return c; }; a[t] = met(f,
    2); }]], "2 * t + 5", engine = "fiber" },
  { "lambda with returns, and a return beside it", "", HEAD .. [[__shared__ int s[64]; auto f = [&](int x) { if (x > 9)
    return 1; return x; }; s[t] = f(t); __syncthreads(); if (t > 60) return; a[t] = f(s[63 - t]) + 10 * f(t); }]], [[t >
    60 and 0 or (63 - t > 9 and 1 or 63 - t) + 10 * (t > 9 and 1 or t)]] },
  { "lambda in a lambda", "", HEAD .. [[__shared__ int s[64]; int v = 1; auto f = [&](int x) { auto g = [&v](int y) { v
    += threadIdx.x; return y + s[0]; }; return g(x) + 1; }; s[t] = t; __syncthreads(); int q = f(t) + f(t); a[t] = q +
    v; }]], "2 * t + 2 + 1 + 2 * t" },
  { "lambda called in its place", "", HEAD .. [[__shared__ int s[64]; int m = w; s[t] = [&] { m += t; return t; }();
    __syncthreads(); a[t] = s[63 - t] + [&](int x) { return x * m; }(2); }]], "63 - t + 2 * (t + 1)" },
  { "lambda that changes a count of a loop with a barrier", "", HEAD .. [[__shared__ int s[64]; int n = 3; auto f = [&]
    { n--; }; int v = 0; while (n > 0) { s[t] = n; __syncthreads(); v += s[63 - t]; f(); __syncthreads(); } a[t] = v;
    }]], "6", engine = "fiber" },
  { "lambda with a barrier", "", HEAD .. [[__shared__ int s[64]; auto f = [&] { __syncthreads(); }; s[t] = t; f(); a[t]
    = s[63 - t]; }]], "63 - t", engine = "fiber" },
  { "lambda in a function, of shared memory, with a copy", [[__device__ int h(int i) { __shared__ int s[64]; int m = 3;
    auto at = [=](int k) { return s[k] + m; }; s[i] = i; return at(i); }]], HEAD .. "a[t] = h(t); }", "t + 3" },
  { "lambda whose variables two loops share", "", HEAD .. [[__shared__ int s[64]; int i, v = 0; auto f = [&] { return
    s[i]; }; s[t] = t; __syncthreads(); for (i = 0; i < 3; i++) v += f(); __syncthreads(); for (i = 1; i < 3; i++) v +=
    10 * f(); a[t] = v + i; }]], "3 + 30 + 3" },

  -- grids
  { "grid as a group", CG, KERNEL .. [[cg::grid_group g = cg::this_grid(); int r = g.thread_rank(), n = g.size(); a[r] =
    r; g.sync(); int v = a[n - 1 - r]; cg::sync(g); a[r] += 100 * v; }]], "t + 100 * (127 - t)", grid = 4, block = 32,
    cooperative = true },
  { "grid as a group, in three dimensions, in a loop", CG, KERNEL .. [[auto g = cg::this_grid(); unsigned long long r =
    g.thread_rank(); a[r] = g.block_rank(); for (int i = 0; i < 3; i++) { g.sync(); int v = a[(r + 1) %
    g.num_threads()]; g.sync(); a[r] = v; } g.sync(); a[r] += 100 * g.num_blocks() + 1000 * (g.group_dim().x ==
    gridDim.x) + 10000 * (g.block_index().y == blockIdx.y); }]], "(t + 3) % 96 // 12 + 11800", grid = { 2, 2, 2 }, block
    = { 3, 2, 2 }, cooperative = true },
  { "grid and block and tile, with shared memory", CG, KERNEL .. [[__shared__ int s; cg::grid_group g = cg::this_grid();
    cg::thread_block b = cg::this_thread_block(); auto q = cg::tiled_partition<8>(b); if (b.thread_rank() == 0) s = 0;
    b.sync(); int v = q.shfl(b.thread_rank(), 3); atomicAdd(&s, v); b.sync(); a[g.thread_rank()] = s; g.sync(); v = 0;
    for (int i = 0; i < gridDim.x; i++) v += a[i * blockDim.x]; g.sync(); a[g.thread_rank()] = v + s; }]],
    "3 * 8 * (3 + 11 + 19 + 27)", grid = 2, block = 32, cooperative = true },
  { "grid in a helper, and for what differs between blocks", CG ..
    "__device__ void meet(cg::grid_group g) { g.sync(); }", KERNEL .. [[auto g = cg::this_grid(); int r =
    g.thread_rank(); if (blockIdx.x == 1) a[r] = 7; else { a[r] = threadIdx.x; } meet(g); int v = a[(r + 32) % 64];
    meet(g); a[r] = v; }]], "t < 32 and 7 or t - 32", grid = 2, block = 32, cooperative = true },
  { "threads that leave in front of a grid's barrier", CG, KERNEL .. [[auto g = cg::this_grid(); int r =
    g.thread_rank(); a[r] = r; if (threadIdx.x > 20) return; g.sync(); int v = a[(r + 32) % 64]; g.sync(); a[r] = v;
    }]], "t % 32 > 20 and t or (t + 32) % 64", grid = 2, block = 32, cooperative = true },
}

for _, case in ipairs(cases) do
  if not case.engine then case.engine = "fast" end
end
return cases
