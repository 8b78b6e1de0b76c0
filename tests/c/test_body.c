/* SPDX-License-Identifier: MIT
 *
 * A body as a tree, printed as s-expressions. A name says what it stands for: l. a local, p. a parameter, v. a variable
 * and c. a constant of the program, f. its functions, t. a type, b. a builtin; ? what nobody knows. An expression's type
 * is behind a colon: i a scalar, 4 a vector, C a class, with a * for each pointer and [] for each array, and a ~ behind what
 * is volatile; none is not known. */
#include "core/base/memory.h"
#include "core/source/body.h"

#include "tests/c/test.h"

/* The words that the program would know: name, what it is, its type. */
static const struct {
  const char *name;
  mw_meaning meaning;
} known[] = {
    {"n", {MW_NAME_PARAMETER, {.class = MW_TYPE_SCALAR}}},
    {"x", {MW_NAME_PARAMETER, {MW_TYPE_SCALAR, .levels = 1, .arrays = 0}}},
    {"q", {MW_NAME_PARAMETER, {MW_TYPE_VECTOR, .levels = 1}}},
    {"o", {MW_NAME_PARAMETER, {.class = MW_TYPE_CLASS}}},
    {"g", {MW_NAME_VARIABLE, {MW_TYPE_SCALAR, .levels = 2, .arrays = 2}}},
    {"N", {MW_NAME_CONSTANT, {.class = MW_TYPE_SCALAR}}},
    {"f", {MW_NAME_FUNCTIONS, {0}}},
    {"T", {MW_NAME_TYPE, {0}}},
    {"P", {MW_NAME_TYPE, {.class = MW_TYPE_CLASS}}},
    {"float4", {MW_NAME_TYPE, {.class = MW_TYPE_VECTOR}}},
    {"size_t", {MW_NAME_TYPE, {.class = MW_TYPE_SCALAR}}},
    {"threadIdx", {MW_NAME_BUILTIN, {.class = MW_TYPE_VECTOR}}},
    {"min", {MW_NAME_BUILTIN, {.class = MW_TYPE_SCALAR}}},
};

static mw_meaning meaning_of(void *with, const mw_token *name) {
  (void)with;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (mw_token_is(name, known[i].name)) return known[i].meaning;
  return (mw_meaning){0};
}

/* ---- printing -------------------------------------------------------------------------------------------------- */

static void put_type(mw_text *out, mw_type type) {
  static const char *const classes[] = {"", "C", "4", "i"};
  if (!type.class && !type.levels && !type.reference && !type.volatiles) return;
  mw_text_format(out, ":%s%s%s", classes[type.class], type.volatiles & 1 ? "~" : "", type.reference ? "&" : "");
  for (int i = type.levels; i > 0; i--)
    mw_text_format(out, "%s%s", i > type.levels - type.arrays ? "[]" : "*", type.volatiles >> i & 1 ? "~" : "");
}

static void put_list(const mw_body *, mw_text *, int first);
static void put_child(const mw_body *, mw_text *, const char *word, int index);

static void put_name(const mw_body *in, mw_text *out, const mw_expr *it) {
  static const char *const marks[] = {"?", "l.", "p.", "v.", "c.", "f.", "t.", "b."};
  mw_text_put(out, marks[it->binding]);
  for (int i = it->first; i < it->last; i++) mw_text_format(out, "%.*s", TEXT(&in->tokens->at[i]));
}

static void put_expr(const mw_body *in, mw_text *out, int index) {
  static const char *const names[] = {
      [MW_EXPR_INDEX] = "[]",      [MW_EXPR_CALL] = "call",     [MW_EXPR_CAST] = "cast",
      [MW_EXPR_BRACES] = "braces", [MW_EXPR_BRACKETS] = "()",   [MW_EXPR_CONDITIONAL] = "?:",
      [MW_EXPR_SIZEOF] = "sizeof", [MW_EXPR_LAMBDA] = "lambda", [MW_EXPR_UNKNOWN] = "unknown"};
  const mw_expr *it = &in->exprs[index];
  const mw_token *op = &in->tokens->at[it->op];
  if (!index) return;
  if (it->kind == MW_EXPR_NAME) {
    put_name(in, out, it);
  } else if (it->kind == MW_EXPR_NUMBER || it->kind == MW_EXPR_STRING) {
    mw_text_format(out, "%.*s", TEXT(op));
    return;
  } else {
    const bool member = it->kind == MW_EXPR_MEMBER || it->kind == MW_EXPR_ARROW;
    const char *sign = it->kind == MW_EXPR_MEMBER ? "." : it->kind == MW_EXPR_ARROW ? "->" : NULL;
    if (names[it->kind])
      mw_text_format(out, "(%s", names[it->kind]);
    else if (sign)
      mw_text_format(out, "(%s%.*s", sign, TEXT(op));
    else
      mw_text_format(out, "(%s%.*s", it->kind == MW_EXPR_POSTFIX ? "post" : "", TEXT(op));
    put_list(in, out, it->a);
    if (!member) put_list(in, out, it->b);
    if (it->kind == MW_EXPR_LAMBDA)
      put_child(in, out, "", it->c);
    else
      put_list(in, out, it->c);
    mw_text_put(out, ")");
  }
  put_type(out, it->type);
}

static void put_list(const mw_body *in, mw_text *out, int first) {
  for (int i = first; i; i = in->exprs[i].next) {
    mw_text_put(out, " ");
    put_expr(in, out, i);
  }
}

static void put_statement(const mw_body *, mw_text *, int index);

static void put_child(const mw_body *in, mw_text *out, const char *word, int index) {
  if (!index) return;
  mw_text_format(out, " %s", word);
  put_statement(in, out, index);
}

static void put_declared(const mw_body *in, mw_text *out, const mw_statement *it) {
  for (int i = it->declared; i < it->declared + it->ndeclared; i++) {
    const mw_declared *one = &in->declared[i];
    mw_text_format(out, " %s%.*s",
                   one->is_shared   ? "shared "
                   : one->is_static ? "static "
                                    : "",
                   TEXT(&in->tokens->at[one->name]));
    put_type(out, one->type);
    if (one->init) mw_text_put(out, " =");
    put_list(in, out, one->init);
  }
}

static void put_statement(const mw_body *in, mw_text *out, int index) {
  static const char *const names[] = {"unknown", "expr",  "declare",  "type",  "block",  "if",
                                      "for",     "range", "while",    "do",    "switch", "case",
                                      "return",  "break", "continue", "label", "goto",   "try"};
  const mw_statement *it = &in->statements[index];
  mw_text_format(out, "(%s", names[it->kind]);
  put_declared(in, out, it);
  put_child(in, out, "", it->head);
  put_list(in, out, it->test);
  if (it->step) mw_text_put(out, " step");
  put_list(in, out, it->step);
  for (int i = it->child; i; i = in->statements[i].next) put_child(in, out, "", i);
  put_child(in, out, "else ", it->otherwise);
  mw_text_put(out, ")");
}

static void expect(const char *source, const char *want) {
  mw_tokens tokens;
  mw_text out = {0};
  mw_body body;
  mw_tokens_read(&tokens, source, NULL);
  mw_body_read(&body, &tokens, 0, tokens.count, &(mw_names){meaning_of, NULL, false}, NULL);
  for (int i = body.statements[0].child; i; i = body.statements[i].next) {
    if (out.size) mw_text_put(&out, " ");
    put_statement(&body, &out, i);
  }
  assert_string_equal(out.at ? out.at : "", want);
  mw_body_free(&body);
  mw_tokens_free(&tokens);
  free(out.at);
}

static char *put_body(const mw_body *body) {
  mw_text out = {0};
  mw_text_put(&out, "");
  for (int i = body->statements[0].child; i; i = body->statements[i].next) {
    put_statement(body, &out, i);
    mw_text_put(&out, " ");
  }
  for (int i = body->first; i < body->last; i++)
    mw_text_format(&out, "%d %d %d,", body->bound[i - body->first], mw_body_find(body, i, body->last),
                   mw_statement_find(body, i));
  for (int i = 1; i < body->ndeclared; i++) mw_text_format(&out, " %d", body->declared[i].until);
  return out.at;
}

/* The edited body, in which $2 is statement 2 of the source, is what it is without the other; so many of its statements
 * are taken from there. */
static void expect_taken(const char *source, const char *pattern, int taken) {
  const mw_names names = {meaning_of, NULL, false};
  mw_tokens tokens, edited = {0};
  mw_body old, anew, again;
  mw_span spans[10];
  int count = 0;
  mw_tokens_read(&tokens, source, NULL); /* its first token is none of the body's */
  mw_body_read(&old, &tokens, 1, tokens.count, &names, NULL);
  for (int i = old.statements[0].child; i; i = old.statements[i].next)
    spans[count++] = (mw_span){old.statements[i].first, old.statements[i].last};
  for (int i = 0; i < tokens.count; i++) tokens.at[i].from = i;
  mw_tokens_build(&edited, &tokens, &tokens.at[0], 0, pattern, spans);
  mw_tokens_match(&edited);
  mw_body_read(&anew, &edited, 0, edited.count, &names, NULL);
  mw_body_read(&again, &edited, 0, edited.count, &names, &old);
  char *want = put_body(&anew), *got = put_body(&again);
  assert_string_equal(got, want);
  assert_int_equal(again.nstatements, anew.nstatements);
  assert_int_equal(again.taken, taken);
  mw_free(want), mw_free(got);
  mw_body_free(&old), mw_body_free(&anew), mw_body_free(&again);
  mw_tokens_free(&edited), mw_tokens_free(&tokens);
}

static void edits(void **state) {
  (void)state;
  const char *const source = "{ int a = n, *p = x; for (int i = 0; i < a; i++) { int k = i; p[k] = a; } "
                             "if (a) n++; else { auto f = [&](int v) { return v + a; }; x[f(a)] = 1; } a = n;";
  expect_taken(source, "$0 $1 $2 $3", 15);
  expect_taken(source, "int b = 1; $0 ; $1 { $2 $3 }", 15);
  expect_taken(source, "$0 for (int u = 0; u < 3; u++) $1 while (n) { $3 $1 }", 12);
  expect_taken(source, "float a = n, *p = x; $1 $2 $3", 2); /* another a: int k = i; n++; alone are the same */
  expect_taken(source, "$0 { int n = 3; $1 $2 } $3", 12);   /* another n */
  expect_taken(source, "$0 if (n) $1 else $3", 4);
  expect_taken("{ if (n) n++; n--;", "$0 else n = 1; $1", 1); /* another if */
  expect_taken("{ int v; { T w = v; } if (int u = v) v = u; while (n) n--;", "{ $0 $1 } $0 $2 $3", 10);
}

static void precedence(void **state) {
  (void)state;
  expect("n + 2 * 3 - x[n] % 4;", "(expr (- (+ p.n:i (* 2 3):i):i (% ([] p.x:i* p.n:i):i 4):i):i)");
  expect("a = b = n << 1 | n & 3 ^ 1;", "(expr (= ?a (= ?b (| (<< p.n:i 1):i (^ (& p.n:i 3):i 1):i):i)))");
  expect("n > 1 && n >> 2 >= 1 || !n;", "(expr (|| (&& (> p.n:i 1):i (>= (> p.n:i 2):i 1):i):i (! p.n:i):i):i)");
  expect("n ? x[0] : n ? 1 : 2;", "(expr (?: p.n:i ([] p.x:i* 0):i (?: p.n:i 1 2):i):i)");
  expect("n ? 1, 2 : 3;", "(expr (?: p.n:i (, 1 2):i 3):i)");
  expect("*x++ = -*x + ~n;", "(expr (= (* (post++ p.x:i*):i*):i (+ (- (* p.x:i*):i):i (~ p.n:i):i):i):i)");
  expect("(n) + (x)[1];", "(expr (+ (() p.n:i):i ([] (() p.x:i*):i* 1):i):i)");
  expect("n >>= 2; ++n; --*x; x[n++]--;", "(expr (>>= p.n:i 2):i) (expr (++ p.n:i):i) (expr (-- (* p.x:i*):i):i) (expr "
                                          "(post-- ([] p.x:i* (post++ p.n:i):i):i):i)");
  expect("q->x = o.m = 3;", "(expr (= (->x p.q:4*):i (= (.m p.o:C) 3)):i)");
}

/* Of a name that nobody knows, brackets around it are a cast only in front of an operand. */
static void casts(void **state) {
  (void)state;
  expect("(float)n / (T)n;", "(expr (/ (cast p.n:i):i (cast p.n:i)))");
  expect("(foo *)x; (foo)n; (foo)(n); (n)-1;",
         "(expr (cast p.x:i*):C*) (expr (cast p.n:i):C) (expr (call (() ?foo) p.n:i)) (expr (- (() p.n:i):i 1):i)");
  expect("static_cast<float>(n + 1);", "(expr (cast (+ p.n:i 1):i):i)");
  expect("reinterpret_cast<const P *>(x)->m;", "(expr (->m (cast p.x:i*):C*))");
  expect("float(n); T(n, 1); P(); std::size_t(n);",
         "(expr (cast p.n:i):i) (expr (cast p.n:i 1)) (expr (cast):C) (expr (cast p.n:i):i)");
  expect("float4{1, n}; cg::plus<int>{}; S<3>{}.x;",
         "(expr (braces 1 p.n:i):4) (expr (braces):C) (expr (.x (braces):C))");
}

static void operands(void **state) {
  (void)state;
  expect("threadIdx.x + q->y + q[n].z + o.m.n;",
         "(expr (+ (+ (+ (.x b.threadIdx:4):i (->y p.q:4*):i):i (.z ([] p.q:4* p.n:i):4):i):i (.n (.m p.o:C))))");
  expect("f(n, x[1]) + f<4>(n) + min(n, 2);",
         "(expr (+ (+ (call f.f p.n:i ([] p.x:i* 1):i) (call f.f<4> p.n:i)) (call b.min:i p.n:i 2):i))");
  expect("N::f(n) + ::f(1) + h(n) + S<N>(n);",
         "(expr (+ (+ (+ (call ?N::f p.n:i) (call ?::f 1)) (call ?h p.n:i)) (call ?S<N> p.n:i)))");
  expect("g[1][n] + *&n; &x[1]; &o; &g;", "(expr (+ ([] ([] v.g:i[][] 1):i[] p.n:i):i (* (& p.n:i):i*):i):i) (expr (& "
                                          "([] p.x:i* 1):i):i*) (expr (& p.o:C)) (expr (& v.g:i[][]):i***)");
  expect("sizeof(n + 1) + sizeof...(T);", "(expr (+ (sizeof):i (sizeof):i):i)");
  expect("sizeof n < N<T> + N < float > * 2;", "(expr (< (sizeof):i (+ c.N<T>:i (* c.N<float>:i 2):i):i):i)");
  expect("n < N && N > (3);", "(expr (&& (< p.n:i c.N:i):i (> c.N:i (() 3):i):i):i)");
  expect("N + S<T>::value * n;", "(expr (+ c.N:i (* ?S<T>::value p.n:i)))");
  expect("t.template f<4>(n); t.f(n)(1);", "(expr (call (.f ?t) p.n:i)) (expr (call (call (.f ?t) p.n:i) 1))");
  expect("'a' + 1.5e3f + \"te\" \"xt\"[n] + true; nullptr;",
         "(expr (+ (+ (+ 'a' 1.5e3f):i ([] \"te\" p.n:i):i):i true):i) (expr nullptr)");
}

static void declarations(void **state) {
  (void)state;
  expect("int a = 1, *b = x, c[4] = {1, 2}, d; a + *b + c[1];",
         "(declare a:i = 1 b:i* = p.x:i* c:i[] = (braces 1 2):i[] d:i) (expr (+ (+ l.a:i (* l.b:i*):i):i ([] l.c:i[] "
         "1):i):i)");
  expect("const unsigned long long k = n; volatile int w; k + w;",
         "(declare k:i = p.n:i) (declare w:i~) (expr (+ l.k:i l.w:i~):i)");
  expect(
      "auto p = x + 1; auto &r = p; auto v = q[1]; v.x;",
      "(declare p:i* = (+ p.x:i* 1):i*) (declare r:i&* = l.p:i*) (declare v:4 = ([] p.q:4* 1):4) (expr (.x l.v:4):i)");
  expect("float4 v(1, 2), w{1}; P s = P(1), *t = &s; v.x + s.m + t->m;",
         "(declare v:4 = (cast 1 2):4 w:4 = (braces 1):4) (declare s:C = (cast 1):C t:C* = (& l.s:C)) (expr (+ (+ (.x "
         "l.v:4):i (.m l.s:C)) (->m l.t:C*)))");
  expect("typename S<T>::type y = n; S<int> z; struct P u;", "(declare y = p.n:i) (declare z:C) (declare u:C)");
  expect("T *p = 0; p[1]; foo *u = 0; foo w; T v[2][3]; v[1];",
         "(declare p:* = 0) (expr ([] l.p:* 1)) (declare u:C* = 0) (declare w:C) (declare v:[][]) (expr ([] l.v:[][] "
         "1):[])");
  expect("decltype(n) e = n; const T &r = o;", "(declare e:& = p.n:i) (declare r:& = p.o:C)");
  expect("__shared__ float s[4][N]; extern __shared__ float e[]; s[1][2];",
         "(declare shared s:i[][]) (declare shared e:i[]) (expr ([] ([] l.s:i[][] 1):i[] 2):i)");
  expect("static int k = 1; k;", "(declare static k:i = 1) (expr l.k:i)");
  expect("int (*call)(int) = f; float (&row)[4] = g[1]; call(1); row[2];",
         "(declare call:C = f.f) (declare row:i&[] = ([] v.g:i[][] 1):i[]) (expr (call l.call:C 1)) (expr ([] "
         "l.row:i&[] 2):i)");
}

/* Of what, and through how many pointers. */
static void volatiles(void **state) {
  (void)state;
  expect("volatile int *p = x; *p; p + 1; &p[2];",
         "(declare p:i~* = p.x:i*) (expr (* l.p:i~*):i~) (expr (+ l.p:i~* 1):i~*) (expr (& ([] l.p:i~* 2):i~):i~*)");
  expect("int *volatile p, *volatile *q; *p; *q;",
         "(declare p:i*~ q:i**~) (expr (* l.p:i*~):i) (expr (* l.q:i**~):i*~)");
  expect("using W = volatile int; W *p; typedef int *I; volatile I i; int volatile j; *p + *i + j;",
         "(type) (declare p:i~*) (type) (declare i:i*~) (declare j:i~) (expr (+ (+ (* l.p:i~*):i~ (* l.i:i*~):i):i "
         "l.j:i~):i)");
  expect("auto p = (volatile int *)x; auto v = *p; auto &r = *p; v + r;",
         "(declare p:i~* = (cast p.x:i*):i~*) (declare v:i = (* l.p:i~*):i~) (declare r:i~& = (* l.p:i~*):i~) (expr (+ "
         "l.v:i l.r:i~&):i)");
  expect("volatile float4 s[2]; s[0].x; volatile P *o; o->m;",
         "(declare s:4~[]) (expr (.x ([] l.s:4~[] 0):4~):i~) (declare o:C~*) (expr (->m l.o:C~*):~)");
}

static void lambdas(void **state) {
  (void)state;
  expect("[&](int i) { n = i; }; i;", "(expr (lambda (block (expr (= p.n:i l.i:i):i))):C) (expr ?i)");
  expect("[](Foo *p) { p[0]; };", "(expr (lambda (block (expr ([] l.p:C* 0):C))):C)");
  expect("f([] { }, n);", "(expr (call f.f (lambda (block)):C p.n:i))");
  expect("({ n; });", "(expr (lambda (block (expr p.n:i))):C)");
  expect("auto l = [=](float *n, int) -> float { return *n; }, m = 1; l(x);",
         "(declare l:C = (lambda (block (return (* l.n:i*):i))):C n:i* m:i = 1) (expr (call l.l:C p.x:i*))");
}

static void scopes(void **state) {
  (void)state;
  expect("int n = n + 1; { float n; n; } n;",
         "(declare n:i = (+ l.n:i 1):i) (block (declare n:i) (expr l.n:i)) (expr l.n:i)");
  expect("for (int i = 0; i < 2; i++) { int k = i; } k + i;",
         "(for (declare i:i = 0) (< l.i:i 2):i step (post++ l.i:i):i (block (declare k:i = l.i:i))) (expr (+ ?k ?i))");
  expect("if (const int j = n) x[j] = 0; j;",
         "(if (declare j:i = p.n:i) (expr (= ([] p.x:i* l.j:i):i 0):i)) (expr ?j)");
  expect("using V = float4; typedef int *ip; V v; ip i = x; v.x; *i;",
         "(type) (type) (declare v:4) (declare i:i* = p.x:i*) (expr (.x l.v:4):i) (expr (* l.i:i*):i)");
  expect("struct Q { int a; } k; enum E { A }; Q j; E e; k.a;",
         "(declare k:C) (type) (declare j:C) (declare e:C) (expr (.a l.k:C))");
  expect("{ struct n { }; n v; } n;", "(block (type) (declare v:C)) (expr p.n:i)");
}

static void statements(void **state) {
  (void)state;
  expect("if (n) x[0] = 1; else { x[1] = 2; }",
         "(if p.n:i (expr (= ([] p.x:i* 0):i 1):i) else (block (expr (= ([] p.x:i* 1):i 2):i)))");
  expect("if (n) if (n > 1) n--; else n++;",
         "(if p.n:i (if (> p.n:i 1):i (expr (post-- p.n:i):i) else (expr (post++ p.n:i):i)))");
  expect("if (int k = f(n); k > 2) x[k] = 1;",
         "(if (declare k:i = (call f.f p.n:i)) (> l.k:i 2):i (expr (= ([] p.x:i* l.k:i):i 1):i))");
  expect("if constexpr (N > 2) n++;", "(if (> c.N:i 2):i (expr (post++ p.n:i):i))");
  expect("for (int i = 0, j = n; i < j; i++, j--) x[i] += j;",
         "(for (declare i:i = 0 j:i = p.n:i) (< l.i:i l.j:i):i step (, (post++ l.i:i):i (post-- l.j:i):i):i (expr (+= "
         "([] p.x:i* l.i:i):i l.j:i):i))");
  expect("for (;;) { break; continue; } for (n = 0; ; ) ;",
         "(for (type) (block (break) (continue))) (for (expr (= p.n:i 0):i) (type))");
  expect("for (float v : x) v; for (const auto &e : o) e;",
         "(range (declare v:i) p.x:i* (expr l.v:i)) (range (declare e:&) p.o:C (expr l.e:&))");
  expect("while (n--) { } do n++; while (n < 3);",
         "(while (post-- p.n:i):i (block)) (do (< p.n:i 3):i (expr (post++ p.n:i):i))");
  expect("switch (n) { case 1: x[0] = 1; break; case N + 1: default: ; }",
         "(switch p.n:i (block (case 1) (expr (= ([] p.x:i* 0):i 1):i) (break) (case (+ c.N:i 1):i) (case) (type)))");
  expect("return; return n + 1;", "(return) (return (+ p.n:i 1):i)");
  expect("#pragma unroll\nfor (;;) n;", "(for (type) (expr p.n:i))");
  expect("[[fallthrough]]; using namespace cg; namespace n = cg; static_assert(N > 1);", "(type) (type) (type) (type)");
  expect("if (n) [[likely]] n = 1; else [[unlikely]] { n++; } [[maybe_unused]] int a = n;",
         "(if p.n:i (expr (= p.n:i 1):i) else (block (expr (post++ p.n:i):i))) (declare a:i = p.n:i)");
}

/* What is not understood covers its tokens. */
static void unknown_expressions(void **state) {
  (void)state;
  expect("3_t + n;", "(expr (unknown))");
  expect("new P; delete x; throw 1;", "(expr (unknown)) (expr (unknown)) (unknown)");
  expect("o.*m;", "(expr (unknown))");
  expect("n + ; x[]; f(n n);", "(expr (unknown)) (expr (unknown)) (expr (call f.f (unknown)))");
  expect("n ?: 1;", "(expr (unknown))");
  expect("operator+(o, o);", "(expr (unknown))");
}

/* Their names hide what is outside. */
static void unknown_declarations(void **state) {
  (void)state;
  expect("n; auto [n, b] = o; n + b;", "(expr p.n:i) (unknown) (expr (+ l.n:C l.b:C))");
  expect("auto l = n ?: 1, m = 1; m; l;", "(declare l = (unknown) m:i = 1) (expr l.m:i) (expr l.l)");
  expect("int *p = new (x) int(1); int k = n;", "(declare p:i* = (unknown)) (declare k:i = p.n:i)");
  expect("using N::f; f(n);", "(unknown) (expr (call l.f:C p.n:i))");
  expect("typedef int (*fp)(int); fp;", "(unknown) (expr l.fp:C)");
  expect("n n n; n;", "(expr (unknown)) (expr p.n:i)");
  expect("int h(int), k(3);", "(declare h:i = (cast ?int):i k:i = (cast 3):i)");
}

static void unknown_statements(void **state) {
  (void)state;
  expect("goto out; out: n = 1;", "(goto) (label) (expr (= p.n:i 1):i)");
  expect("asm(\"add %0\" : \"=r\"(n)); n;", "(unknown) (expr p.n:i)");
  expect("try { n = 1; } catch (...) { }", "(try)");
  expect("if n;", "(unknown)");
  expect("do n;", "(unknown (expr p.n:i))");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(precedence),
      cmocka_unit_test(casts),
      cmocka_unit_test(operands),
      cmocka_unit_test(declarations),
      cmocka_unit_test(volatiles),
      cmocka_unit_test(lambdas),
      cmocka_unit_test(scopes),
      cmocka_unit_test(statements),
      cmocka_unit_test(unknown_expressions),
      cmocka_unit_test(unknown_declarations),
      cmocka_unit_test(unknown_statements),
      cmocka_unit_test(edits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
