-- SPDX-License-Identifier: MIT
--
-- Probes of C++ that the translator may take for the same in all threads, for never changed, for free of the thread's
-- index, or for movable; see probes.lua for the form of a case. They come from this list of constructs, made before
-- any of them, in the order of the chapters of C++17, then CUDA's; the translator was not read for it.
--
--  text      1 alternative tokens and digraphs   2 joined lines, comments inside an expression   3 separators of
--            digits, raw strings   4 pasted tokens, macros that take names, redefined macros, lists by macros, macros
--            that hold writes, barriers or a kernel's head   5 _Pragma   6 what looks like a template's brackets
--  names     7 locals, parameters, members and variables of a namespace named as CUDA's coordinates   8 a name used
--            twice in blocks, conditions and loops   9 labels and members named as variables   10 using directives,
--            aliases of namespaces, inline, unnamed and nested namespaces   11 look-up by argument, also at the
--            instance   12 a class and a function of one name   13 names of bases   14 functions defined after the
--            kernel
--  declared  15 several declarators   16 references to and pointers to arrays, arrays of pointers   17 rvalue
--            references, temporaries that a reference keeps   18 declarations of functions in a block   19 static
--            tables   20 deduced types, trailing results, decltype   21 alignas   22 structured bindings
--  initial   23 brace elision, defaults out of other members, order of members   24 default arguments
--  classes   25 nested and local classes   26 methods chosen by const or by value category   27 mutable members   28
--            unnamed unions, bit fields   29 friends   30 members of the type of a class   31 virtual methods and
--            bases   32 pointers to members   33 operator new
--  special   34 copies and moves that are written by the user or by the compiler   35 assignment likewise   36 order
--            and time of destructors, left by continue and return   37 guards over barriers
--  operators 38 unary, postfix, compound, ->*, proxies   39 conversions to references, pointers, functions, bool   40
--            functors that keep addresses   41 iterators and ranges
--  templates 42 specialisations   43 templates as arguments   44 arguments that are functions, members, variables
--            45 folds and packs   46 tags and traits   47 expression templates, mixins, recursion   48 dependent
--            names
--  lambdas   49 captures by copy, reference, initialiser, *this   50 lambdas in lambdas, as pointers, in arrays, as
--            bases   51 lambdas called at once   52 lambdas handed to templates
--  overload  53 by reference, by template, by pointer's type   54 functions returned, referred to, kept in members
--            55 recursion
--  express   56 targets that are assignments, commas, casts, members by pointer   57 operands not evaluated   58
--            short circuits   59 pointers into objects, bytes   60 addresses that helpers keep or give back   61
--            conversions of numbers   62 functions with results by pointer
--  flow      63 values of all threads under a condition of one: break, continue, return, goto, &&, chosen targets
--            64 values that go round a loop   65 switch in odd shapes   66 declarations in conditions   67 goto
--  CUDA      68 coordinates as objects: copied, referred to, passed, inherited, bound   69 shared memory: dynamic as
--            a class, of helpers, of template instances, two-dimensional   70 device and constant objects, pointers
--            between them   71 vectors and addresses of their components   72 shuffles, votes, reductions in methods,
--            lambdas, templates, by warp   73 barriers in destructors, methods, lambdas, conditional and comma
--            expressions, loop heads, recursion, gotos, with votes   74 cooperative groups   75 atomics   76 inline
--            PTX that changes   77 launch bounds, restrict, extern "C"   78 heap   79 assert   80 several warps, odd
--            blocks, several blocks, two and three dimensions   81 parameters that change

local TID = "struct Tid { __device__ operator int() const { return threadIdx.x; } };"
local FP = "__device__ int me() { return threadIdx.x; } __device__ int two() { return 2; } typedef int (*fp)();"
local PUT = "__device__ void put(int &x) { x = threadIdx.x; }"
local POINT = "struct P { int x, y; };"
local ADD = "struct D { int &r; __device__ ~D() { r += threadIdx.x; } __device__ int get() const { return r; } };"
local COPIED = "struct C { int v; C() = default; __device__ C(const C &o) : v(o.v + threadIdx.x) {} };"

return {
  -- 1 to 6: text
  { "or_eq, and", "", "int n = w; bool q = threadIdx.x > 5 and w; n or_eq q << 3;", "t > 5 and 9 or 1" },
  { "digraphs", "", "int l<:2:> = <% 1, (int)threadIdx.x %>; int n = l<:w:>;", "t" },
  { "name that goes on in the next line", "", "int n = thread\\\nIdx.x;", "t" },
  { "comments inside the coordinate", "", "int n = threadIdx /* of it */ . // x of\n x;", "t" },
  { "separators that look like characters", "", "int m = 1'0 + threadIdx.x, n = m + 2'0;", "t + 30" },
  { "raw string with statements", "", [[const char *q = R"(; n = 5; })"; int n = threadIdx.x + (q[0] == ';');]],
    "t + 1" },
  { "pasted coordinate", "#define CAT(a, b) a##b\n", "int n = CAT(thread, Idx).x;", "t" },
  { "macro that writes", "#define SET(v) (v) = threadIdx.x\n", "int n = 0; SET(n);", "t" },
  { "macro that takes the function's name", "#define CALL(f, ...) f(__VA_ARGS__)\n" .. PUT, "int n = 0; CALL(put,"
    .. " n);", "t" },
  { "list of declarations by a macro", "#define FIELDS(X) X(p) X(q)\n#define MAKE(f) int f = threadIdx.x;\n",
    "FIELDS(MAKE) int n = p + q;", "2 * t" },
  { "macro with another value later", [[
#define STEP 1
__device__ int one() { return STEP; }
#undef STEP
#define STEP threadIdx.x
]], "int n = one() + STEP;", "t + 1" },
  { "guard named by its line", [[
#define NAME2(a, b) a##b
#define NAME(a, b) NAME2(a, b)
#define GUARD(v) D NAME(guard, __LINE__){v}
]] .. ADD, "int n = 1; { GUARD(n); }", "t + 1" },
  { "_Pragma in front of a loop", "", [[int n = 0; _Pragma("unroll") for (int i = 0; i < 3; i++)
    n += threadIdx.x;]], "3 * t" },
  { "comparisons like a template's brackets", "", "int n = w < 2 > (threadIdx.x > 3);", "t > 3 and 0 or 1" },
  { "two comparisons as arguments", "__device__ int both(bool x, bool y) { return x * 2 + y; }",
    "int u = 1, v = threadIdx.x; int n = both(u < v, v > (3));", "(t > 1 and 2 or 0) + (t > 3 and 1 or 0)" },

  -- 7 to 14: names
  { "member named threadIdx", "struct T { int threadIdx; };", "T q{3}; q.threadIdx +="
    .. " threadIdx.x; int n = q.threadIdx;", "t + 3", alone = true, refused = "is named" },
  { "integer that hides threadIdx", "", "uint3 q = threadIdx; { int threadIdx = 5; q.x += threadIdx; } int n"
    .. " = q.x;", "t + 5", alone = true, refused = "is named" },
  { "parameter named threadIdx", "__device__ int f(int threadIdx) { return threadIdx + 1; }",
    "int n = f(threadIdx.x);", "t + 1", alone = true, refused = "is named" },
  { "threadIdx of a namespace", [[namespace q { struct X { int x; }; __device__ X threadIdx = {7};
    __device__ int f() { return threadIdx.x; } __device__ int g() { return ::threadIdx.x; } }]],
    "int n = q::f() + q::g();", "t + 7", alone = true, refused = "is named" },
  { "type's name used for a variable", "", "typedef int T; T n = 0; { float T = threadIdx.x; n = T; }", "t" },
  { "label of a variable's name", "", "int n = 0; if (threadIdx.x > 3) goto n; n = 5; n: n += threadIdx.x;",
    "t > 3 and t or t + 5" },
  { "alias of an inline namespace's class", [[namespace q { inline namespace v1 { struct Me { int v = threadIdx.x; }; }
    } namespace z = q;]], "z::Me m; int n = m.v;", "t" },
  { "unnamed in nested namespaces", "namespace a1::b1 { namespace { __device__ int own() { return threadIdx.x; } } }",
    "int n = a1::b1::own();", "t" },
  { "function found by its argument", [[namespace q { struct A { int v; }; __device__ void put(A, int &x) { x =
    threadIdx.x; } } __device__ void put(int, int) {}]], "q::A y{1}; int n = 0; put(y, n);", "t" },
  { "function found at the instance", [[template <class T> __device__ int go(T x) { return own(x); }
    namespace q { struct A {}; __device__ int own(A) { return threadIdx.x; } }]], "int n = go(q::A());", "t" },
  { "class and function of one name", "struct get { int v; }; __device__ int get(int x) { return x + threadIdx.x; }",
    "struct get g{2}; int n = get(g.v);", "t + 2" },
  { "base's method hides a function", [[__device__ int get() { return 1; } struct B { __device__ int get() const {
    return threadIdx.x; } }; struct C : B { __device__ int go() const { return get() + ::get(); } };]],
    "C c; int n = c.go();", "t + 1", alone = true },
  { "overload taken from a base", [[struct B { __device__ int f(float) const { return threadIdx.x; } }; struct C : B {
    using B::f; __device__ int f(int) const { return 1; } };]], "C c; int n = c.f(1.0f) + c.f(1);", "t + 1" },

  -- 15 to 24: declarations, initialisers
  { "pointer and reference in one declaration", "", "int x = threadIdx.x, *p = &x, &r = *p; r++; int n = x;", "t + 1" },
  { "array of pointers", "", "int x = 0, y = 0; int *l[2] = {&x, &y}; *l[w] = threadIdx.x; int n = y;", "t" },
  { "temporary kept and changed", "", "int &&r = 3; r += threadIdx.x; int n = r;", "t + 3" },
  { "function declared in the block", "__device__ int later(int x) { return x + threadIdx.x; }",
    "__device__ int later(int); int n = later(2);", "t + 2" },
  { "decltype(auto) result is a target", "struct S { int v; __device__ decltype(auto) at() { return (v); } };",
    "S s{0}; s.at() = threadIdx.x; int n = s.v;", "t" },
  { "aligned class in an array", "struct alignas(16) V { int x; __device__ V(int i = 2) : x(i * threadIdx.x) {} };",
    "V v[3] = {1, V(5)}; int n = v[2].x + v[1].x;", "7 * t" },
  { "default argument of a block's declaration", "__device__ int f(int x, int y) { return x + y; }",
    "__device__ int f(int x, int y = threadIdx.x); int n = f(1);", "t + 1" },

  -- 25 to 37: classes
  { "nested class that calls the outer's method", [[class O { static __device__ int own() { return threadIdx.x; }
    public: struct In { int v = own(); }; };]], "O::In i; int n = i.v;", "t" },
  { "methods by value category", [[struct R { __device__ int get() & { return 1; } __device__ int get() && { return
    threadIdx.x; } };]], "R r; int n = r.get() + R().get();", "t + 1" },
  { "const object with a mutable member", [[struct C { mutable int v = 0; __device__ int next() const { return v +=
    threadIdx.x; } };]], "const C c{}; c.next(); int n = c.next();", "2 * t" },
  { "unnamed union in a class", "struct V { int k; union { int i; unsigned u; }; };",
    "V v; v.k = 2; v.u = threadIdx.x; int n = v.i + v.k;", "t + 2" },
  { "constant table of members", POINT .. " __constant__ int P::*const fields[2] = {&P::x, &P::y};",
    "P p{0, 0}; p.*fields[w] = threadIdx.x; int n = p.y;", "t" },
  { "member as a template's argument", POINT .. [[ template <int P::*F> __device__ void put(P &p) { p.*F = threadIdx.x;
    }]], "P p{0, 0}; put<&P::y>(p); int n = p.y;", "t" },
  { "operator new that writes", [[struct N { int v; static __device__ void *operator new(size_t, void *q, int *c) { *c =
    threadIdx.x; return q; } };]], "N m; int n = 0; N *p = new (&m, &n) N{3}; n += p->v;", "t + 3" },
  { "move that changes its source", [[struct M { int v; __device__ M(int x) : v(x) {} __device__ M(M &&o) : v(o.v + 1) {
    o.v = threadIdx.x; } };]], "M p(3); M q(static_cast<M &&>(p)); int n = p.v + q.v;", "t + 4" },
  { "assignments in a row", [[struct C { int v; __device__ C &operator=(const C &o) { v = o.v + threadIdx.x; return
    *this; } };]], "C x{1}, y{2}, z{3}; x = y = z; int n = x.v;", "2 * t + 3" },
  { "assignment by the compiler of a member with its own", [[struct C { int v; __device__ C &operator=(const C &o) { v =
    o.v + threadIdx.x; return *this; } }; struct O { C c; };]], "O p{{1}}, q{{2}}; p = q; int n = p.c.v;", "t + 2" },
  { "copy by the compiler of a member with its own", COPIED .. " struct O { C c; };", "O p; p.c.v = 2; O q ="
    .. " p; int n = q.c.v;", "t + 2" },
  { "pointer in an array in a class", "struct A { int *p; }; struct B { A a[2]; };",
    "int x = 0, n = 0; B b = {{{&x}, {&n}}}; *b.a[w].p = threadIdx.x;", "t" },

  -- 38 to 41: operators
  { "proxy of an element", [[struct Ref { int *p; __device__ void operator=(int x) { *p = x; } };
    struct V { int *p; __device__ Ref operator[](int i) { return Ref{p + i}; } };]],
    "int l[2] = {0, 0}; V v{l}; v[w] = threadIdx.x; int n = l[1];", "t" },
  { "conversion to a function", [[struct S { typedef int (*fp)(int); static __device__ int f(int x) { return x +
    threadIdx.x; } __device__ operator fp() const { return f; } };]], "S s; int n = s(4);", "t + 4" },

  -- 42 to 48: templates
  { "specialised class for pointers", [[template <class T> struct K { static __device__ int get() { return 1; } };
    template <class T> struct K<T *> { static __device__ int get() { return threadIdx.x; } };]],
    "int n = K<int>::get() + K<K<int> *>::get();", "t + 1" },
  { "device variable as an argument", "__device__ int g = 4; template <int &R> __device__ int get() { return R +"
    .. " threadIdx.x; }", "int n = get<g>();", "t + 4" },
  { "fold over an operator", [[struct S { int v; }; __device__ S operator+(S a, S b) { return {a.v + b.v +
    (int)threadIdx.x}; } template <class... A> __device__ S sum(A... x) { return (x + ...); }]],
    "int n = sum(S{1}, S{2}, S{3}).v;", "2 * t + 6" },
  { "pack of indices", [[template <int... I> struct Seq {}; template <int... I> __device__ int go(int *l, Seq<I...>) {
    return ((l[I] = I * threadIdx.x) + ...); }]], "int l[3]; int n = go(l, Seq<0, 1, 2>()); n += l[2];", "5 * t" },
  { "tags", [[struct slow {}; struct fast {}; __device__ int go(slow) { return 1; } __device__ int go(fast) { return
    threadIdx.x; } template <class T> struct Tr { using tag = slow; }; template <> struct Tr<float> { using tag = fast;
    };]], "int n = go(Tr<float>::tag()) + go(Tr<int>::tag{});", "t + 1" },
  { "expression template", [[template <class A, class B> struct Add { A a; B b; __device__ int operator[](int i) const {
    return a[i] + b[i]; } }; struct V { int k; __device__ int operator[](int i) const { return k + i + threadIdx.x; } };
    template <class A, class B> __device__ Add<A, B> operator+(A a, B b) { return {a, b}; }]],
    "int n = (V{1} + V{2} + V{3})[1];", "3 * t + 9" },

  -- 49 to 52: lambdas
  { "copy of the object in a lambda", [[struct S { int v; __device__ int go() { auto f = [*this] { return v +
    (int)threadIdx.x; }; v = 100; return f(); } };]], "S s{2}; int n = s.go();", "t + 2" },
  { "lambda that is handed itself", "", "auto f = [](auto self, int i) -> int { return i ? self(self, i - 1)"
    .. " + (int)threadIdx.x : 0; }; int n = f(f, 3);", "3 * t" },
  { "array of lambdas", "", [[auto make = [](int k) { return [k](int x) { return k * x; }; }; decltype(make(0)) l[2] =
    {make(1), make(threadIdx.x)}; int n = l[w](3);]], "3 * t" },
  { "captured array", "", "int l[2] = {1, (int)threadIdx.x}; auto f = [l] { return l[1]; }; l[1] = 0; int"
    .. " n = f() + l[1];", "t" },

  -- 53 to 55: overloads, functions as values
  { "overload that beats a template", "template <class T> __device__ void put(T) {} " .. PUT,
    "int n = 0; put(n);", "t" },
  { "call of a call", FP .. " __device__ fp pick(int w) { return w ? me : two; }", "int n = pick(w)();", "t" },
  { "recursion of two functions", [[__device__ int odd(int); __device__ int even(int i) { return i ? odd(i - 1) :
    (int)threadIdx.x; } __device__ int odd(int i) { return i ? even(i - 1) : 1; }]], "int n = even(4);", "t" },

  -- 56 to 62: expressions
  { "comma as a target", "", "int m = 0, n = 0; (m, n) = threadIdx.x;", "t" },
  { "cast as a target", "", "int n = 0; (unsigned &)n = threadIdx.x;", "t" },
  { "const cast away in a helper", "__device__ void put(const int &x) { const_cast<int &>(x) = threadIdx.x; }",
    "int n = 0; put(n);", "t" },
  { "bytes of a variable", "", "int n = 0; reinterpret_cast<unsigned char *>(&n)[0] = threadIdx.x;", "t" },
  { "operand that is not evaluated", "", "int x = 0; int n = sizeof(x = threadIdx.x) + x + threadIdx.x;", "t + 4" },
  { "pointers in a chain", "struct N { int v; N *next; };", "N x{1, nullptr}, y{2, &x}; y.next->v = threadIdx.x;"
    .. " int n = x.v;", "t" },
  { "pointers exchanged", "", "int x = 1, y = threadIdx.x; int *p = &x, *q = &y, *r = p; p = q; q = r;"
    .. " int n = *p * 10 + *q;", "10 * t + 1" },
  { "array of a deduced size filled", [[template <int N> __device__ void fill(int (&l)[N]) { for (int i = 0; i < N; i++)
    l[i] = i * threadIdx.x; }]], "int l[3]; fill(l); int n = l[2];", "2 * t" },
  { "result by a builtin's pointer", "", "int n; frexpf((float)threadIdx.x, &n);",
    "t == 0 and 0 or math.floor(math.log(t + 0.5, 2)) + 1" },
  { "bytes set by memset", "", "int n = 0; memset(&n, threadIdx.x, 1);", "t" },

  -- 63 to 67: flow
  { "one value under a flag", "", "int n = 0; bool go = true; for (int i = 0; i < 10 && go; i++) { n"
    .. " = i; go = i < (int)threadIdx.x; }", "math.min(t, 9)" },
  { "one value under &&", "", "int n = 1; (void)(threadIdx.x > 4 && (n = 3));", "t > 4 and 3 or 1" },
  { "one value to a chosen element", "", "int l[4] = {}; l[threadIdx.x & 3] = 7; int n = l[2];",
    "t % 4 == 2 and 7 or 0" },
  { "one value to a chosen member", POINT, "P p{0, 0}; int P::*f = threadIdx.x & 1 ? &P::x : &P::y; p.*f = 4; int"
    .. " n = p.x;", "t % 2 * 4" },
  { "Duff's device", "", [[int n = 0; switch (threadIdx.x % 4 + 1) { do { case 4: n += 4; case 3: n += 3; case 2: n +=
    2; case 1: n += 1; } while (--w > 0); }]], "(t % 4 + 1) * (t % 4 + 2) // 2" },
  { "else of the inner if", "", "int n = 3; if (w) if (threadIdx.x > 7) n = 1; else n = 2;", "t > 7 and 1 or 2" },

  -- 68 to 79: CUDA
  { "coordinates bound", "", "auto [x, y, z] = threadIdx; int n = x + y + z;", "t" },
  { "coordinates bound by reference", "", "const auto &[x, y, z] = threadIdx; int n = x + y + z;", "t" },
  { "coordinates as arguments", "__device__ int f(uint3 t, dim3 d) { return t.x + d.x; }", "int n = f(threadIdx,"
    .. " blockDim);", "t + 64" },
  { "coordinates as a template's argument", "template <class T> __device__ int f(const T &t) { return"
    .. " t.x + t.y; }", "int n = f(threadIdx);", "t" },
  { "coordinates in an aggregate", "struct At { uint3 t, b; dim3 d; };", "At q{threadIdx, blockIdx,"
    .. " blockDim}; int n = q.t.x + q.b.x * q.d.x;", "t" },
  { "coordinates as a base", "struct At : uint3 { __device__ At() : uint3(threadIdx) {} };", "At q; int n = q.x;", "t"
    },
  { "coordinates converted", "", "dim3 q = threadIdx, r(threadIdx.x); int n = q.x + r.x + r.y + r.z;", "2 * t + 2" },
  { "coordinate by a pointer to it", "", "unsigned uint3::*const f = &uint3::x; int n = threadIdx.*f;", "t" },
  { "component's address", "", "int2 v = make_int2(0, 0); int *p = &v.y; *p = threadIdx.x; int n = v.y;", "t" },
  { "shuffle in a template", [[template <class T> __device__ T down(T x, int d) { return __shfl_down_sync(~0u, x, d);
    }]], "int n = down((int)threadIdx.x, 1);", "t % 32 == 31 and t or t + 1" },
  { "sum of a warp in a lambda", "", [[int n = threadIdx.x; auto f = [&] { for (int d = 16; d; d /= 2) n +=
    __shfl_xor_sync(~0u, n, d); }; f();]], "t < 32 and 496 or 1520" },
  { "vote that differs by warp", "", "int n = __any_sync(~0u, threadIdx.x == 40) ? 3 : 4;", "t < 32 and 4 or 3" },
  { "shared memory between the lanes of a warp", "", "__shared__ int q[64]; q[threadIdx.x] = threadIdx.x;"
    .. " __syncwarp(); int n = q[threadIdx.x ^ 1];", "t ~ 1" },
  { "PTX that changes its operand", "", [[int n = 3; asm("add.s32 %0, %0, %1;" : "+r"(n)
    : "r"((int)threadIdx.x));]], "t + 3" },
  { "object on the heap", "struct Me { int v; __device__ Me() : v(threadIdx.x) {} };", "Me *p = new Me[2]; int"
    .. " n = p[1].v; delete[] p;", "t", refused = "device code uses new" },
  { "assert with an effect", "#include <assert.h>\n", "int n = 0; assert((n = threadIdx.x, true));", "t" },
  { "atomic's result of an element of its own", "", [[__shared__ int q[64]; q[threadIdx.x] = 3; int n =
    atomicAdd(&q[threadIdx.x], 4); n += q[threadIdx.x] + threadIdx.x;]], "t + 10" },
  { "table behind two device pointers", [[__device__ const int l[3] = {5, 6, 7}; __device__ const int *const p = l + 1;
    __device__ const int *const *q = &p;]], "int n = (*q)[threadIdx.x % 2];", "t % 2 + 6" },

  -- the same again where a rule of the text, of a type or of a name looks safe
  { "template's parameter named as a vector", TID .. " template <class float4> __device__ int get() {"
    .. " float4 v; return v; }", "int n = get<Tid>();", "t" },
  { "parameter named as a builtin, called", "template <class F> __device__ int call(F fminf) { return fminf(1, 2); }",
    "int n = call([](int x, int y) { return x + y + (int)threadIdx.x; });", "t + 3" },
  { "local class named as a vector", "", "struct int2 { int x = threadIdx.x; }; int2 v; int n = v.x;", "t" },
  { "lambda named as a builtin", "", "auto min = [](int x, int y) { return x + y + (int)threadIdx.x; };"
    .. " int n = min(1, 2);", "t + 3" },
  { "function pointer named as a builtin", "__device__ int own(int x) { return x + threadIdx.x; }",
    "int (*abs)(int) = own; int n = abs(2);", "t + 2" },
  { "helper called with one value, then with the thread's", "__device__ void set(int &x, int v) { x = v; }",
    "int n = 0, m = 0; set(m, 3); set(n, threadIdx.x); n += m;", "t + 3" },
  { "parameter changed by its address", "", "(&w)[0] = threadIdx.x; int n = w;", "t" },
  { "parameter changed by PTX", "", [[asm("mov.u32 %0, %%tid.x;" : "=r"(w)); int n = w;]], "t" },
  { "parameter changed by memcpy", "", "int x = threadIdx.x; memcpy(&w, &x, 4); int n = w;", "t" },
  { "parameter of a lambda hides the kernel's", "", "auto f = [](int w) { w += threadIdx.x; return"
    .. " w; }; int n = f(2) + w;", "t + 3" },
  { "pure helper called again after a store", "__device__ int get(const int *p) { return *p; }",
    "int x = 1; int y = get(&x); x = threadIdx.x; int n = y * 100 + get(&x);", "t + 100" },
  { "pointer chosen through a pointer to it", "", "int x = 1, y = 2; int *p = &x, **q = &p; *q"
    .. " = threadIdx.x & 1 ? &y : &x; int n = *p;", "t % 2 + 1" },
  { "one value by a sum of pointers", "", "int l[4] = {}; *(l + (threadIdx.x & 3)) = 7; int n = l[2];",
    "t % 4 == 2 and 7 or 0" },
  { "one value behind a break out of do while (0)", "", "int n = 1; do { if (threadIdx.x"
    .. " > 5) break; n = 3; } while (0);", "t > 5 and 1 or 3" },
  { "one value by a call in an arm", "__device__ void put(int &x) { x = 3; }", "int n = 1; threadIdx.x"
    .. " > 4 ? put(n) : (void)0;", "t > 4 and 3 or 1" },
  { "memory of each thread by malloc", "", "int *p = (int *)malloc(4); *p = threadIdx.x; int n = *p; free(p);",
    "t", refused = "malloc in a kernel" },
  { "reduction that differs by warp", "", "int n = __reduce_add_sync(~0u, (int)threadIdx.x);",
    "t < 32 and 496 or 1520" },
  { "matching lanes", "", "int n = __popc(__match_any_sync(~0u, threadIdx.x / 20));", "({ 20, 12, 8, 20, 4 })[t"
    .. " < 20 and 1 or t < 32 and 2 or t < 40 and 3 or t < 60 and 4 or 5]" },
}
