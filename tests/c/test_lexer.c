/* SPDX-License-Identifier: MIT
 *
 * Tokens of preprocessed C++: kinds, lines, files, partners of brackets, chunks of system headers. */
#include "core/source/lexer.h"

#include "tests/c/test.h"

static void expect_tokens(const char *text, const char *const *want) {
  mw_tokens tokens;
  mw_tokens_read(&tokens, text, NULL);
  int count = 0;
  for (; want[count]; count++) {
    assert_true(count < tokens.count);
    if (!mw_token_is(&tokens.at[count], want[count]))
      fail_msg("token %d is '%.*s', not '%s'", count, tokens.at[count].size, tokens.at[count].text, want[count]);
  }
  assert_int_equal(tokens.count, count);
  assert_int_equal(tokens.at[count].kind, MW_TOKEN_END);
  mw_tokens_free(&tokens);
}
#define TOKENS(text, ...) expect_tokens(text, (const char *const[]){__VA_ARGS__, NULL})

static void kinds(void **state) {
  (void)state;
  TOKENS("a+=b[0x1fu]", "a", "+=", "b", "[", "0x1fu", "]");
  TOKENS("x->y::z ... 1.5e-3f .5 1'000", "x", "->", "y", "::", "z", "...", "1.5e-3f", ".5", "1'000");
  TOKENS("k<<<g, b>>>(p)", "k", "<<<", "g", ",", "b", ">", ">", ">", "(", "p", ")");
  TOKENS("a >>= 1; a > > b", "a", ">>=", "1", ";", "a", ">", ">", "b");
  TOKENS("\"a \\\" b\" 'x' u8\"y\" L'z'", "\"a \\\" b\"", "'x'", "u8\"y\"", "L'z'");
  TOKENS("R\"(a \" b)\" R\"t(x)\" y)t\"", "R\"(a \" b)\"", "R\"t(x)\" y)t\"");
}

/* As it was written: comments, joined lines and directives. */
static void written_text(void **state) {
  (void)state;
  TOKENS("a /* b \" c */ d // e \\\n f\ng", "a", "d", "g");
  TOKENS("__glo\\\nbal__ v\\\r\noi\\\nd \\\n f", "__global__", "void", "f");
  TOKENS("#define A /* b\n c */ d \\\n e\n  # if 0 // don't\nf\n#endif\n g # h", "f", "g", "#", "h");
  TOKENS("#define Q \"/*\"\na R\"x(\n#b /* \")x\" c", "a", "R\"x(\n#b /* \")x\"", "c");
  TOKENS("\"a // b\" '\"' \"c\\\nd\" e", "\"a // b\"", "'\"'", "\"c\\\nd\"", "e");
  TOKENS("a /* b", "a");
  TOKENS("#if 0", NULL);
  TOKENS("%:define Q\n<% a<:1:> = b<::c>%2; %>", "{", "a", "[", "1", "]", "=", "b", "<", "::", "c", ">", "%", "2", ";",
         "}");
  TOKENS("int bitand n; n and_eq not x or compl\\\ny xor 1", "int", "&", "n", ";", "n", "&=", "!", "x", "||", "comply",
         "^", "1");
}

/* White space is put around what stands for a word: a&bitand b is a & &b. */
static void words(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_text out = {0};
  mw_tokens_read(&tokens, "a&bitand b bitand&c", NULL);
  mw_text_plain(&out, &tokens, 0, tokens.count);
  assert_string_equal(out.at, "a& & b & &c");
  free(out.at);
  mw_tokens_free(&tokens);
}

/* Two branches of an #if that open a brace each: the last one finds its partner. */
static void unbalanced_text(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_tokens_read(&tokens, "n { f(int a { f(b) { c ] } }", NULL);
  assert_non_null(tokens.wrong.what);
  const int want[] = {-1, -1, -1, -1, -1, -1, 15, -1, 10, -1, 8, 14, -1, -1, 11, 6};
  assert_int_equal(tokens.count, 16);
  for (int i = 0; i < 16; i++) assert_int_equal(tokens.at[i].match, want[i]);
  mw_tokens_free(&tokens);
}

static void directives(void **state) {
  (void)state;
  const char *end, *at = mw_directive_next("int a; # b\n /* c\n*/ # /* d */ include \\\n <e> // f\n\"#g\"", &end);
  mw_text text = {0};
  assert_non_null(at);
  mw_directive_text(&text, at, end);
  assert_string_equal(text.at, "# include <e> ");
  assert_null(mw_directive_next(end, &end));
  free(text.at);
}

/* >> closes two template lists as often as it shifts: it stays two tokens, and is written as it was. */
static void shifts(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_text out = {0};
  mw_tokens_read(&tokens, "a>>3 + v<w<int>>", NULL);
  mw_text_plain(&out, &tokens, 0, tokens.count);
  assert_string_equal(out.at, "a>>3 + v<w<int>>");
  free(out.at);
  mw_tokens_free(&tokens);
}

static void brackets(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_tokens_read(&tokens, "f(a[1], {b})", NULL);
  assert_null(tokens.wrong.what);
  assert_int_equal(tokens.at[1].match, tokens.count - 1);
  assert_int_equal(tokens.at[tokens.count - 1].match, 1);
  assert_int_equal(tokens.at[3].match, 5);
  mw_tokens_free(&tokens);
  mw_tokens_read(&tokens, "f(\n(a]\n)", NULL);
  assert_int_equal(tokens.wrong.line, 2);
  mw_tokens_free(&tokens);
  mw_tokens_read(&tokens, "{\n{ }", NULL);
  assert_int_equal(tokens.wrong.line, 1);
  mw_tokens_free(&tokens);
}

static void lines(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_tokens_read(&tokens, "# 7 \"k.cu\"\na\nb\n# 3 \"h.cuh\" 1\nc\n# 10 \"k.cu\" 2\nd", NULL);
  assert_int_equal(tokens.count, 4);
  const int want[] = {7, 8, 3, 10};
  for (int i = 0; i < 4; i++) assert_int_equal(tokens.at[i].line, want[i]);
  assert_string_equal(tokens.files[tokens.at[0].file], "k.cu");
  assert_string_equal(tokens.files[tokens.at[2].file], "h.cuh");
  assert_int_equal(tokens.at[3].file, tokens.at[0].file);
  mw_tokens_free(&tokens);
}

static void chunks(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_tokens_read(&tokens,
                 "# 1 \"k.cu\"\n# 1 \"/usr/include/x.h\" 1 3 4\nextern int x;\n# 2 \"k.cu\" 2\nint y;\n"
                 "# 1 \"/shim/a.h\" 1\nint hidden;\n# 1 \"/shim/b.h\" 1\nint more;\n# 2 \"/shim/a.h\" 2\n"
                 "# 4 \"k.cu\" 2\nint z;\n",
                 "/shim");
  assert_int_equal(tokens.at[0].kind, MW_TOKEN_CHUNK);
  assert_non_null(memmem(tokens.at[0].text, (size_t)tokens.at[0].size, "extern int x;", 13));
  assert_true(mw_token_is(&tokens.at[2], "y"));
  assert_int_equal(tokens.at[4].kind, MW_TOKEN_CHUNK);
  assert_non_null(memmem(tokens.at[4].text, (size_t)tokens.at[4].size, "#include \"/shim/a.h\"", 20));
  assert_true(mw_token_is(&tokens.at[6], "z"));
  assert_int_equal(tokens.at[6].line, 4);
  assert_int_equal(tokens.count, 8);
  mw_tokens_free(&tokens);
}

static void pragmas(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_tokens_read(&tokens, "x;\n#pragma unroll 4\nfor", NULL);
  assert_int_equal(tokens.at[2].kind, MW_TOKEN_PRAGMA);
  assert_true(mw_token_is(&tokens.at[2], "#pragma unroll 4"));
  assert_int_equal(tokens.at[3].line, 3);
  mw_tokens_free(&tokens);
}

/* Written text keeps every token on its own line of the user's file. */
static void located(void **state) {
  (void)state;
  mw_tokens tokens;
  mw_text out = {0};
  mw_tokens_read(&tokens, "# 5 \"k.cu\"\na\nb\n\n\n\n\n\n\n\n\nc", NULL);
  mw_text_range(&out, &tokens, 0, tokens.count);
  assert_string_equal(out.at, "\n# 5 \"k.cu\"\n a\n b\n# 15 \"k.cu\"\n c");
  free(out.at);
  mw_tokens_free(&tokens);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds),           cmocka_unit_test(shifts),     cmocka_unit_test(written_text),
      cmocka_unit_test(unbalanced_text), cmocka_unit_test(directives), cmocka_unit_test(brackets),
      cmocka_unit_test(lines),           cmocka_unit_test(chunks),     cmocka_unit_test(pragmas),
      cmocka_unit_test(located),         cmocka_unit_test(words),
  };
  return cmocka_run_group_tests_name("token", tests, NULL, NULL);
}
