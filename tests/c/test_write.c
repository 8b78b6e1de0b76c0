/* SPDX-License-Identifier: MIT
 *
 * What happens to a variable where its name stands: the text of a function f with a mark behind each name that is not
 * only read. n~ is changed, n! escapes; x' is a pointer to what is changed, x" to what escapes. */
#include "core/backend/cpu/program/program.h"
#include "core/backend/cpu/translate/unit.h"

#include "tests/c/test.h"

static void put_names(const cpu_program *program, const cpu_function *function, mw_text *out) {
  const mw_tokens *tokens = &program->tokens;
  static const char *const own[] = {"", "~", "!"}, *const far[] = {"", "'", "\""};
  for (int i = function->body + 1; i + 1 < function->last; i++) {
    const bool word = mw_token_any(&tokens->at[i], WORDS("if", "for", "switch", "case", "break", "static_assert"));
    const bool name = tokens->at[i].kind == MW_TOKEN_NAME && !word && !mw_is_member(tokens, i);
    const cpu_write one = name ? cpu_write_at(program, tokens, i, CPU_POINTER) : CPU_READ;
    const cpu_write all = name ? cpu_write_at(program, tokens, i, CPU_VALUE) : CPU_READ;
    mw_text_format(out, "%s%.*s%s", out->size ? " " : "", TEXT(&tokens->at[i]), one ? own[one] : far[all]);
  }
}

/* `front` is in front of the function. */
static void expect(const char *front, const char *want) {
  mw_error error = {0};
  cpu_program *program = NULL;
  mw_text text = {0}, out = {0};
  mw_text_format(&text, "%s\n__device__ void f(int *x, int n, int m, float4 v, float4 *q) {", front);
  for (const char *at = want; *at; at++)
    if (*at != '!' && *at != '\'' && *at != '"' && *at != '~') mw_text_add(&text, at, 1);
  mw_text_put(&text, "}\n__global__ void k(int *x) { f(x, 1, 2, float4(), nullptr); }\n");
  const mw_source source = {.name = "t.cu", .text = text.at, .no_cache = true};
  if (cpu_program_parse(&source, false, &program, &error) != MW_OK) fail_msg("%s", error.text);
  for (int i = 0; i < program->nfunctions; i++)
    if (mw_token_is(&program->tokens.at[program->functions[i].name], "f"))
      put_names(program, &program->functions[i], &out);
  assert_string_equal(out.at, want);
  cpu_program_free(program);
  free(text.at);
  free(out.at);
}

#define SET "__device__ void set(int &x) { x = 1; } __device__ int get(int x) { return x; } "

static void reads(void **state) {
  (void)state;
  expect("", "x' [ n ] = n < m && ( n ) ? sqrtf ( n ) : - m ;");
  expect("", "m~ = ( float ) n + int ( n ) + static_cast < int > ( n ) + sizeof ( n = 1 ) ;");
  expect("", "int2 a~ = { n , m } ; int b~ [ 2 ] [ 2 ] = { { n , m } , { n , m } } ; float c~ ( n ) ;");
  expect(SET, "if ( get ( n ) ) m~ = get ( n ) , get ( x [ n ] ) ;");
  expect("template <class T> __device__ int id(T x) { return x; }", "m~ = id ( n ) ;");
  expect("typedef float real; __device__ real up(real x) { return x; }", "m~ = up ( n ) ;");
  expect("", "static_assert ( sizeof ( n ) == 4 ) ; decltype ( n ) a~ = m! ; switch ( n ) { case 1 : break ; }");
}

static void changes(void **state) {
  (void)state;
  expect("", "n~ ++ ; -- m~ ; ( ( n~ ) ) = 1 ; m~ <<= n ;");
  expect("", "v~ . x = n ; ( v~ ) . y += 1 ;");
  expect("", "for ( int i~ = 0 ; i < n ; i~ += m ) x~ ++ ;");
  expect("", "int a [ 2 ] ; a~ [ n~ ++ ] = 1 ; * a~ = 1 ; a~ [ 1 ] ++ ;");
}

static void pointers(void **state) {
  (void)state;
  expect("", "x' [ 1 ] = * x ; * x' = 1 ; ( * x' ) ++ ; q' -> x = 1 ; ( * q' ) . y = 1 ;");
  expect("", "int * p~ = & x\" [ n ] ; * p~ ++ = 1 ; * ( p + n ) = 1 ; p~ += n ;");
  expect("", "int * a [ 2 ] ; a' [ n ] [ m ] = 1 ; a~ [ n ] = x ; ( n ? x' : a' [ 0 ] ) [ 1 ] = 2 ;");
}

static void references(void **state) {
  (void)state;
  expect("", "int & a~ = n! ; int & b~ = m ? n! : m! ; auto & c~ ( m! ) ; int & d~ { m! } ;");
  expect("", "int & a~ = ++ n! ; int & b~ = n! = m ; int & c~ = ( m , n! ) ; ( int & ) n! = 1 ; * & n! = 1 ;");
  expect("typedef int &ir; template <class T> using ref = T &;", "ir a~ = n! ; ref < int > b~ = n! ; ir ( m! ) ;");
  expect(SET, "set ( n! ) ; set ( m ? n! : m! ) ; set ( n! = 1 ) ; set ( x\" [ n ] ) ; set ( v! . x ) ;");
  expect("template <class T> __device__ void put(T x) {}",
         "put ( n ) ; put < int & > ( n! ) ; put < decltype ( ( n ) ) > ( n! ) ;");
  expect("using namespace std;", "swap ( n! , m! ) ;");
  expect("", "auto! [ a! , b! ] = v! ; auto f~ = [ & ] { n! = 1 ; } ; for ( int i : { n! , m! } ) x' [ i ] = 0 ;");
}

static void classes(void **state) {
  (void)state;
  const char *holds = "struct R { int &r; }; struct P { int x, y[2]; };";
  expect(holds, "R a~ { n! } ; R b~ = { n! } ; R c~ [ 1 ] = { n! } ; R d~ [ 1 ] = { { n! } } ; ( R { n! } ) ;");
  expect(holds, "P p ; m~ = p . x ; m~ = p! . y [ 0 ] ; p~ . y [ 0 ] = 1 ; P s~ = p ; P a [ 2 ] ; m~ = a [ 1 ] . x ;");
  const char *takes = "struct C { int *p; __device__ C(int &x) : p(&x) {} }; __device__ void put(C) {}";
  expect(takes, "put ( n! ) ; C c~ = n! ; ( C ) n! ; m~ = n + m ;");
  const char *adds =
      "struct A { int x; __device__ int at() { return x; } }; __device__ int operator+(A a, int &b) { return b = 1; }";
  expect(adds, "A a ; m~ = n + 1 ; a! + n! ; m~ = a . x + 1 ; a! . at ( ) ; A * p ; p\" -> at ( ) ;");
}

/* A call finds them by its arguments, and no type need stand in front of their names. */
static void friends(void **state) {
  (void)state;
  const char *defines = "struct S { int s; friend __device__ int &up(S, int &x) { return ++x; }"
                        "  friend __device__ int *at(S, int &x) noexcept { return &x; }"
                        "  friend __device__ int &max(S, int &x) { return ++x; }"
                        "  friend __device__ int (&row(S, int &x))[1] { x++; return (int (&)[1])x; } };";
  expect(defines, "up ( S ( ) , n! ) ; at ( S ( ) , n! ) ; max ( S ( ) , n! ) ; row ( S ( ) , n! ) ;");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads),      cmocka_unit_test(changes), cmocka_unit_test(pointers),
      cmocka_unit_test(references), cmocka_unit_test(classes), cmocka_unit_test(friends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
