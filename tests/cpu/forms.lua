-- SPDX-License-Identifier: MIT
--
-- Shared memory, classes, functions, constants and Thrust's types in forms that nvcc takes (C++20): a row is { name,
-- kernel's body, text in front of it }. Each kernel stores 63 - threadIdx.x, in a block of 64 threads; n is 5. Those of
-- a kind are one module.

local HEAD <const> = [[
#include <new>
#define SWAP s[threadIdx.x] = threadIdx.x; __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x];
#define SWAP_MEMBERS s[threadIdx.x].x = threadIdx.x; __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x].x;
#define TURN s[threadIdx.x] = v; __syncthreads(); const int r = s[63 - threadIdx.x]; __syncthreads(); return r;
#define STORE(ok) a[threadIdx.x] = (ok) ? 63 - (int)threadIdx.x : -1;
]]

local FORMS <const> = {}

-- The size of shared memory by what the kernel declares, its type declared in the kernel, __device__ in front of it.
FORMS.shared = {
  { "size_static_constexpr", "static constexpr int N = 64; __shared__ int s[N]; SWAP" },
  { "size_constexpr_static", "constexpr static int N = 64; __shared__ int s[N]; SWAP" },
  { "size_static_const", "static const int N = 64; __shared__ int s[N]; SWAP" },
  { "size_of_two_declarators", "constexpr int m = 8, l = m * 8; __shared__ int s[l]; SWAP" },
  { "size_enum", "enum { A = 4, N = A * 16, }; __shared__ int s[N], t[A][N]; t[0][threadIdx.x] = 1; SWAP" },
  { "size_typedef_enum", [[typedef enum { N = 64 } E; __shared__ int s[N]; __shared__ E t[N]; t[threadIdx.x] = N;
    SWAP]] },
  { "size_enum_class", "enum class E { N = 64 }; __shared__ int s[(int)E::N]; SWAP" },
  { "size_using_enum", "using enum E_used; __shared__ int s[(int)N]; SWAP", "enum class E_used { N = 64 };" },
  { "size_enum_of_class", "struct C { enum { N = 64 }; }; __shared__ int s[C::N]; SWAP" },
  { "size_alignof", "struct alignas(32) C { int x; }; __shared__ int s[alignof(C) * 2]; SWAP" },
  { "size_sizeof_type", "typedef int row[64]; __shared__ int s[sizeof(row) / sizeof(int)]; SWAP" },
  { "size_sizeof_parameter", "__shared__ int s[sizeof(n) * 16]; SWAP" },
  { "size_lambda", "constexpr auto twice = [](int x) { return x * 2; }; __shared__ int s[twice(32)]; SWAP" },
  { "size_hidden_before", [[{ constexpr int N = 2; __shared__ int t[64][N]; t[threadIdx.x][0] = N; }
    constexpr int N = 64; __shared__ int s[N]; SWAP]] },
  { "size_hidden_inside", [[constexpr int N = 4, M = N * 16; __shared__ int s[M]; { constexpr int N = 2;
    __shared__ int t[N][M]; t[0][threadIdx.x] = N; } SWAP]] },
  { "size_alias_and_decltype", [[using D = C_16; D d; __shared__ int s[D::N], t[decltype(d)::N]; t[threadIdx.x] = 0;
    SWAP]], "struct C_16 { static constexpr int N = 64; };" },
  { "size_nested_templates", "__shared__ int s[A_17<8>::B_17<8>::v]; SWAP",
    "template <int N> struct A_17 { template <int M> struct B_17 { enum { v = N * M }; }; };" },
  { "size_functions", [[constexpr int M = twice_18(16); __shared__ int s[twice_18(M)], t[half_18<128>];
    t[threadIdx.x] = 0; SWAP]], [[__host__ __device__ constexpr int twice_18(int n) { return 2 * n; }
    template <int N> constexpr int half_18 = N / 2;]] },
  { "size_method_of_template", "constexpr Shape_19<8, 8> c{}; __shared__ int s[c.size()]; SWAP",
    [[template <int W_19, int H> struct Shape_19 { __host__ __device__ constexpr int size() const {
    return W_19 * H; } };]] },
  { "size_method", "static constexpr Cfg_20 c{8, 8}; __shared__ int s[c.size()]; SWAP",
    "struct Cfg_20 { int m, n; __host__ __device__ constexpr int size() const { return m * n; } };" },
  { "size_method_as_argument", "constexpr Cfg_20 c{8, 8}; __shared__ Tile_21<c.size()> s; SWAP",
    "template <int N> struct Tile_21 { int v[N]; __device__ int &operator[](int i) { return v[i]; } };" },
  { "size_argument_in_brackets", "constexpr int N = 32; __shared__ Tile_22<(N * 2), int> s; SWAP",
    "template <int N, class T> struct Tile_22 { T v[N]; __device__ T &operator[](int i) { return v[i]; } };" },
  { "size_of_namespace", "namespace z = q; using q::N; __shared__ int s[z::N], t[N]; t[threadIdx.x] = 0; SWAP",
    "namespace q { constexpr int N = 64; }" },
  { "size_consteval", "__shared__ int s[half_24(128)]; SWAP", "consteval int half_24(int n) { return n / 2; }" },

  { "type_struct", "struct L { int x, y; }; __shared__ L s[64]; SWAP_MEMBERS" },
  { "type_class_volatile", "class L { public: int x; }; volatile __shared__ L s[64]; SWAP_MEMBERS" },
  { "type_alias_of_union", "union L { int x; float y; }; using T = L; __shared__ T s[64]; SWAP_MEMBERS" },
  { "type_struct_in_struct", [[constexpr int N = 4; struct I { int x[N]; }; struct L { I i; int x; };
    __shared__ L s[64]; SWAP_MEMBERS]] },
  { "type_aligned", "struct __align__(16) L { int x; }; __shared__ L s[sizeof(L) * 4]; SWAP_MEMBERS" },
  { "type_declared_with_variable", [[__shared__ struct __align__(16) L { int x; __device__ int get() const {
    return x; } } s[64]; L mine{(int)threadIdx.x}; s[threadIdx.x] = mine; __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x].get() + sizeof(L) - 16;]] },
  { "type_enum", "enum E { ONE = 1, TWO }; __shared__ E e[64]; __shared__ int s[64]; e[threadIdx.x] = TWO; SWAP" },
  { "type_struct_of_helper", "a[threadIdx.x] = turn_8(threadIdx.x);", [[__device__ int turn_8(int v) {
    struct L_8 { int x, y; }; __shared__ L_8 s[64]; s[threadIdx.x].x = v; __syncthreads();
    int r = s[63 - threadIdx.x].x; __syncthreads(); return r; }]] },
  { "type_struct_of_template", "a[threadIdx.x] = turn_9((int)threadIdx.x);", [[template <class T>
    __device__ T turn_9(T v) { struct L_9 { T x; }; __shared__ L_9 s[64]; s[threadIdx.x].x = v; __syncthreads();
    return s[63 - threadIdx.x].x; }]] },
  { "type_decltype_of_parameter", "__shared__ decltype(n) s[64]; SWAP" },
  { "type_decltype_of_shared", [[__shared__ decltype(n) t; __shared__ decltype(t) s[64]; if (threadIdx.x == 0) t = 0;
    SWAP]] },
  { "type_decltype_of_auto", "auto x = threadIdx.x + 0; __shared__ decltype(x) s[64]; SWAP" },
  { "type_decltype_of_binding", "auto [u, v] = P_13{1, 2}; __shared__ decltype(u) s[64]; SWAP",
    "struct P_13 { int x, y; };" },
  { "type_decltype_of_loop", "for (int i = 0; i < 1; i++) { __shared__ decltype(i) s[64]; SWAP }" },
  { "type_decltype_of_dependent", "a[threadIdx.x] = turn_15((int)threadIdx.x);",
    "template <class T> __device__ T turn_15(T v) { __shared__ decltype(v + v) s[64]; TURN }" },
  { "type_pointers", [[constexpr int N = 64; __shared__ int *p[N], s[N], *q; p[threadIdx.x] = s;
    if (threadIdx.x == 0) q = s; SWAP]] },
  { "type_attributes", [=[constexpr int A = 64; alignas(A) __shared__ int s[64]; [[maybe_unused]] __shared__ int t[64];
    t[threadIdx.x] = 0; SWAP a[threadIdx.x] += (unsigned long long)s % A != 0;]=] },
  { "type_of_class", "B_19 b; a[threadIdx.x] = b.turn_19(threadIdx.x);", [[struct B_19 { using T = int;
    static constexpr int N = 64; __device__ int turn_19(T v); };
    __device__ int B_19::turn_19(T v) { __shared__ T s[N]; TURN }]] },
  { "type_of_overloads", "a[threadIdx.x] = (turn_20((int)threadIdx.x) + turn_20((float)threadIdx.x)) / 2;",
    [[__device__ int turn_20(int v) { __shared__ int s[64]; TURN }
    __device__ int turn_20(float v) { __shared__ float s[64]; TURN }]] },

  -- Other kernels have an s of their own.
  { "device_shared_outside", "t[threadIdx.x] = 0; SWAP",
    "__device__ __shared__ int s[64]; static __device__ __shared__ int t[64];" },
  { "device_shared", "__device__ __shared__ int s[64]; SWAP" },
  { "shared_device_of_helper", "a[threadIdx.x] = turn_both(threadIdx.x);",
    "__device__ int turn_both(int v) { __shared__ __device__ int s[64]; TURN }" },
  { "extern_device_shared", "int *s = dynamic; SWAP", "extern __device__ __shared__ int dynamic[];" },
  { "shared_extern", "__shared__ extern int s[]; SWAP" },
  { "shared_volatile_extern", "volatile int *s = late; SWAP", "__shared__ volatile extern int late[];" },
}

-- Classes defined outside, friends, results, guides, consteval, new.
FORMS.class = {
  { "outside_constructor", "a[threadIdx.x] = 62 - threadIdx.x; { G_1 g(a + threadIdx.x); }", [[struct G_1 { int *p;
    __device__ G_1(int *q); __device__ ~G_1(); }; __device__ G_1::G_1(int *q) : p(q) {}
    __device__ G_1::~G_1() { *p += 1; }]] },
  { "outside_of_template", "__shared__ int s[64]; SWAP { G_2<int> g{a + threadIdx.x}; } a[threadIdx.x] -= 1;",
    [[template <class T> struct G_2 { T *p; __device__ ~G_2(); };
    template <class T> __device__ G_2<T>::~G_2() { *p += 1; }]] },
  { "outside_of_nested", "O_3::I_3 i{63 - (int)threadIdx.x}; a[threadIdx.x] = i.get_3();", [[struct O_3 { struct I_3 {
    int x; __device__ int get_3(); __host__ __device__ ~I_3(); }; };
    __device__ int O_3::I_3::get_3() { return x; } inline O_3::I_3::~I_3() = default;]] },
  { "outside_operators", "P_4 p{63}, q{(int)threadIdx.x}; a[threadIdx.x] = p - q;", [[struct P_4 { int x;
    __device__ P_4 operator-(P_4 o) const; __device__ operator int() const; };
    __device__ P_4 P_4::operator-(P_4 o) const { return P_4{x - o.x}; }
    __device__ P_4::operator int() const { return x; }]] },
  { "outside_templates_of_template", "V_5<int> v{0}; v[0] = 63; a[threadIdx.x] = v(threadIdx.x) + (int)v - 63;",
    [[template <class T> struct V_5 { T x; template <class U> __device__ U operator()(U y) const;
    __device__ T &operator[](int); __device__ explicit operator T() const; };
    template <class T> template <class U> __device__ U V_5<T>::operator()(U y) const { return x - y; }
    template <class T> __device__ T &V_5<T>::operator[](int) { return x; }
    template <class T> __device__ V_5<T>::operator T() const { return x; }]] },
  { "friends", [[P_i1 p((int)threadIdx.x);
    a[threadIdx.x] = p < P_i1(32) ? 63 - get_i1(p) : 63 - get_i1(p);]], [[class P_i1 { int x; public:
    __device__ P_i1(int v) : x(v) {} friend __device__ int get_i1(const P_i1 &);
    friend __device__ bool operator<(const P_i1 &, const P_i1 &); };
    __device__ int get_i1(const P_i1 &p) { return p.x; }
    __device__ bool operator<(const P_i1 &p, const P_i1 &q) { return p.x < q.x; }]] },
  { "friend_of_template", "P_i2<int> p(63 - (int)threadIdx.x); a[threadIdx.x] = get_i2(p);", [[template <class T>
    class P_i2; template <class T> __device__ T get_i2(const P_i2<T> &); template <class T> class P_i2 { T x; public:
    __device__ P_i2(T v) : x(v) {} friend __device__ T get_i2<T>(const P_i2<T> &); };
    template <class T> __device__ T get_i2(const P_i2<T> &p) { return p.x; }]] },
  { "friend_that_recurs", "a[threadIdx.x] = down_i3(P_i3(63 - (int)threadIdx.x));", [[class P_i3 { int x; public:
    __device__ P_i3(int v) : x(v) {} friend __device__ int down_i3(const P_i3 &); };
    __device__ int down_i3(const P_i3 &p) { return p.x > 0 ? 1 + down_i3(P_i3(p.x - 1)) : 0; }]] },
  { "friend_with_barrier", "a[threadIdx.x] = turn_i4(P_i4((int)threadIdx.x));", [[class P_i4 { int x; public:
    __device__ P_i4(int v) : x(v) {} friend __device__ int turn_i4(const P_i4 &); };
    __device__ int turn_i4(const P_i4 &p) { __shared__ int s[64]; int v = p.x; TURN }]] },
  { "declared_in_kernel", "__device__ int later_i6(int); a[threadIdx.x] = later_i6(threadIdx.x);",
    behind = "__device__ int later_i6(int x) { return 63 - x; }" },
  { "result_trailing", "a[threadIdx.x] = 63 - threadIdx.x;", head = "auto %s(int *a, int n) -> void" },
  { "result_trailing_with_barrier", "__shared__ int s[64]; SWAP", head = "auto %s(int *a, int n) -> void" },
  { "results_deduced", "two_r3(a[threadIdx.x]) = three_r3((int)(one_r3(64 - threadIdx.x)));",
    [[__device__ auto one_r3(int n) { return n + 0.5f; } __device__ decltype(auto) two_r3(int &n) { return (n); }
    template <class T> __device__ auto three_r3(T n) -> decltype(n - 1) { return n - 1; }]] },
  { "guides", [[V_r4 v(63); W_r4 w{(int)threadIdx.x}; V_r4 c((unsigned char)1);
    a[threadIdx.x] = v.x - w.x + c.x - 1;]], [[template <class T> struct V_r4 { T x; __device__ V_r4(T v) : x(v) {} };
    template <class T> V_r4(T) -> V_r4<T>; explicit V_r4(unsigned char)->V_r4<int>;
    template <class T> struct W_r4 { T x; }; template <class T> __device__ W_r4(T)->W_r4<T>;]] },
  { "consteval_functions", [[constexpr S_r5 s(63);
    a[threadIdx.x] = half_r5(2) * same_r5(2) + s.get_r5() - one_r5() - 1 - threadIdx.x;]],
    [[consteval int half_r5(int n) { return n / 2; } template <class T> consteval T same_r5(T n) { return n; }
    consteval __device__ int one_r5() { return 1; } struct S_r5 { int v; consteval S_r5(int n) : v(n) {}
    consteval int get_r5() const { return v; } };]] },
  { "static_constexpr", [[static constexpr int N = 63, t[2] = {1, 2};
    a[threadIdx.x] = get_r7(N) - threadIdx.x + t[n % 2] - 2;]], "__device__ int get_r7(const int &n) { return n; }" },
  { "placement_new_shared", [[__shared__ int s[64]; P_r8 *p = new (&s[threadIdx.x]) P_r8(threadIdx.x);
    __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x] + 0 * p->x;]],
    "struct P_r8 { int x; __device__ P_r8(int v) : x(v) {} };" },
  { "placement_new_room", "a[threadIdx.x] = made_r9(63 - threadIdx.x);", [[__device__ int made_r9(int v) {
    alignas(P_r8) unsigned char room[sizeof(P_r8)]; return (new (room) P_r8(v))->x; }]] },
}

FORMS.variable = {
  { "union_with_variable", [[union { int i; float f; } u; struct P { int x; } p{(int)threadIdx.x}; u.i = p.x;
    __shared__ int s[64]; s[u.i] = p.x; __syncthreads(); a[u.i] = s[63 - p.x];]] },
  { "other_prototype", "__shared__ int s[64]; SWAP", "__global__ void other_prototype(float *a);" },
  { "bound_by_log2", [[__shared__ int s[64]; s[threadIdx.x] = 63 - threadIdx.x;
    for (int i = 0; i < (int)__log2f((float)n - 1); i++) { __syncthreads();
    a[63 - threadIdx.x] = s[63 - threadIdx.x]; }]] },
  { "vectors_of_ptx", [[__shared__ int s[64]; int v, w; s[threadIdx.x] = 63 - threadIdx.x;
    asm volatile("bar.sync 0;" ::: "memory"); if (threadIdx.x % 2 == 0) {
    asm volatile("ld.v2.s32 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : "l"(s + threadIdx.x) : "memory");
    asm volatile("st.global.v2.s32 [%0], {%1, %2};" :: "l"(a + threadIdx.x), "r"(v), "r"(w) : "memory"); }]] },
  { "constinit_variables", "a[threadIdx.x] = y[x] - threadIdx.x + z - 3;", [[__device__ constinit
    int x = 1; constinit __device__ int y[2] = {2, 63}; static constinit __device__ int z = 3;]] },
  { "register_variables",
    "register int i = threadIdx.x; __shared__ int s[64]; SWAP a[i] = down_v2(i) + a[i] - s[63 - i];",
    "__device__ int down_v2(register int x) { return 63 - x; }" },
  { "std_without_headers", [[std::size_t i = threadIdx.x; std::uint32_t m = 63; std::ptrdiff_t none = 0;
    a[i] = (int)(m - i - none + std::floor(std::abs(-0.5f)) + std::isnan(1.0));]] },
}

-- The 10000th numbers of the engines are those of ISO/IEC 14882, [rand.predef].
FORMS.thrust = {
  { "engines", [[thrust::minstd_rand e; thrust::minstd_rand0 f; unsigned last = 0;
    for (int i = 0; i < 2000 * n; i++) last = e(); f.discard(9999); STORE(last == 399268537 && f() == 1043618065)]],
    "#include <thrust/random.h>" },
  { "engine_discard", [[thrust::default_random_engine e(13), f(13); e.discard((1ull << 40) + threadIdx.x);
    for (int i = 0; i < threadIdx.x; i++) f(); f.discard(1ull << 40); bool same = e == f; f.seed(13);
    STORE(same && e != f && e.min == 1 && e.max == 2147483646)]] },
  { "engine_seeds", [[thrust::minstd_rand e(0), f(2147483647), g(2147483648u), h(1);
    STORE(e == h && f == h && g == h)]],
    "#include <thrust/random/linear_congruential_engine.h>" },
  { "engine_with_increment", [[typedef thrust::linear_congruential_engine<unsigned, 1664525, 1013904223, 0> E;
    E e(threadIdx.x), f(threadIdx.x); unsigned x = threadIdx.x; f.discard(77);
    for (int i = 0; i < 77; i++) e(), x = 1664525 * x + 1013904223;
    STORE(e == f && e() == 1664525 * x + 1013904223 && E::min == 0 && E::max == 4294967295u)]] },
  { "uniform_real", [[thrust::minstd_rand e(n), f(n); thrust::random::uniform_real_distribution<float> u(-1, 3);
    thrust::uniform_real_distribution<double> d; const float x = u(e); const double y = d(f);
    STORE(x == (5 * 48271 - 1) / 2147483648.f * 4 - 1 && y == (5 * 48271 - 1) / 2147483646. && u.min() == -1 &&
    u(e, u.param()) < 3)]] },
  { "uniform_int", [[thrust::minstd_rand e(n); thrust::uniform_int_distribution<int> d(1, 6), all; int seen = 0;
    thrust::uniform_int_distribution<unsigned> u; for (int i = 0; i < 500; i++) seen |= 1 << d(e);
    STORE(seen == 126 && all.b() == 2147483647 && u.max() == 4294967295u)]],
    "#include <thrust/random/uniform_int_distribution.h>" },
  { "normal", [[thrust::minstd_rand e(n); thrust::normal_distribution<float> d(1, 2); float sum = 0, squares = 0;
    for (int i = 0; i < 2000; i++) { const float x = d(e) - d.mean(); sum += x, squares += x * x; }
    STORE(fabsf(sum / 2000) < 0.2f && fabsf(squares / 2000 - 4) < 0.4f)]] },
  { "complex_arithmetic", [[thrust::complex<float> z(1, 2), w(3, -4), p = z * w, q = z / w; p += 1.0f; p *= 2;
    thrust::complex<double> d = 2.0 * z - 1; thrust::complex<int> i(1, 2); d -= i; volatile thrust::complex<float> v;
    v.real(n); w.imag(0); STORE(p == thrust::complex<float>(24, 4) &&
    abs(q - thrust::complex<float>(-0.2f, 0.4f)) < 1e-6f &&
    d == thrust::complex<double>(0, 2) && -z + z == 0.0f && w == 3 && 6 / w == 2 && z != w && v.real() == n)]],
    "#include <thrust/complex.h>" },
  { "complex_parts", [[const Z z(3, -4); STORE(abs(z) == 5 && norm(z) == 25 && conj(z).imag() == 4 && sizeof z == 8 &&
    fabsf(arg(Z(-1, 0)) - (float)M_PI) < 1e-6f && thrust::polar(2.f, 0.f) == 2 && alignof(Z) == 8)]],
    [[typedef thrust::complex<float> Z;
    __device__ bool near(Z x, Z y) { return abs(x - y) < 1e-5f * (1 + abs(y)); }]] },
  { "complex_exp", [[const Z z(0.7f, -1.3f), i(0, 1); STORE(near(exp(i * M_PI), -1) && near(log(exp(z)), z) &&
    near(pow(z, 2), z * z) && near(pow(z, Z(0.5f)), sqrt(z)) && near(pow(2.f, z), exp(z * logf(2))) &&
    near(sqrt(z) * sqrt(z), z) && near(sqrt(Z(-4)), 2 * i) && near(log10(Z(100)), 2) &&
    near(exp(Z(88.9f, 0.8f)) / 1e38f, exp(Z(0.9f, 0.8f)) * (expf(88) / 1e38f)))]] },
  { "complex_trigonometry", [[const Z z(0.7f, -1.3f), i(0, 1), e = exp(i * z), h = exp(z);
    STORE(near(sin(z), (e - 1 / e) / (2 * i)) && near(cos(z), (e + 1 / e) / 2) &&
    near(tan(z), (e - 1 / e) / (e + 1 / e) / i) && near(sinh(z), (h - 1 / h) / 2) &&
    near(cosh(z), (h + 1 / h) / 2) && near(tanh(z), (h - 1 / h) / (h + 1 / h)) && near(tanh(Z(-900, 1)), -1))]] },
  { "complex_limits", [[const float inf = 1 / (n - 5.f); const Z z(inf, inf), tiny(0, 1e-30f);
    STORE(exp(Z(-inf, inf)) == 0 && isinf(exp(z).real()) && exp(Z(inf, 0)).imag() == 0 &&
    near(tiny / tiny, 1) && abs(z) == inf && sqrt(Z(0, 0)) == 0 &&
    fabsf(log(Z(1, 1e-4f)).real() * 1e8f - 0.5f) < 1e-4f)]] },
  { "complex_in_shared_memory", [[__shared__ thrust::complex<float> s[64]; s[threadIdx.x] = threadIdx.x;
    __syncthreads(); s[63 - threadIdx.x].imag(n); __syncthreads();
    a[threadIdx.x] = (int)s[63 - threadIdx.x].real();]] },
  { "device_ptr", [[thrust::device_ptr<int> p(a), q = thrust::device_pointer_cast(a + 64), none = nullptr;
    thrust::device_ptr<const int> r = p++; q -= 64; *(q + threadIdx.x) = 60; p[(int)threadIdx.x - 1] += 3 - threadIdx.x;
    if (!(p - q == 1 && r == q && r < p && q != none && !none && thrust::raw_pointer_cast(r) == a)) --*q;]],
    "#include <thrust/device_ptr.h>" },
  { "functional", [[STORE(turn(thrust::maximum<int>(), 4) == 4 && turn(thrust::plus<int>(), 4) == 6)]],
    [[#include <thrust/functional.h>
    template <class F> __device__ int turn(F f, int x) { return f(x, 2); }]] },
}

--- The options of a module of all kernels of a kind.
---@param kind string  "shared", "class", "variable" or "thrust"
---@return table
local function module(kind)
  local text = { HEAD }
  for _, row in ipairs(FORMS[kind]) do
    local head = (row.head or "void %s(int *a, int n)"):format(row[1])
    text[#text + 1] = ("%s\n__global__ %s { %s }\n%s\n"):format(row[3] or "", head, row[2], row.behind or "")
  end
  return { name = kind .. ".cu", source = table.concat(text), std = "c++20" }
end

return { shared = module "shared", class = module "class", variable = module "variable", thrust = module "thrust" }
