/* SPDX-License-Identifier: MIT
 *
 * Mangled names (each made by nvcc or NVRTC from the declaration beside it) and declarations read from source text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/source/signature.h"

static const char *spelled(const char *mangled) {
  static char text[512];
  mw_signature s;
  if (!mw_signature_parse(mangled, &s) || s.unknown) return "rejected";
  size_t length = (size_t)snprintf(text, sizeof text, "%s(", s.name);
  for (int i = 0; i < s.nparams; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? ", " : "", s.params[i].type);
  snprintf(text + length, sizeof text - length, ")");
  mw_signature_free(&s);
  return text;
}

static void names_and_types(void **state) {
  (void)state;
  assert_string_equal(spelled("_Z5scalePffi"), "scale(float *, float, int)");
  assert_string_equal(spelled("_Z7memcopyPdPKdii"), "memcopy(double *, const double *, int, int)");
  assert_string_equal(spelled("_Z4nonev"), "none()");
  assert_string_equal(spelled("_ZL6hiddenPi"), "hidden(int *)");
  assert_string_equal(spelled("_Z2bk3bigPiyas"), "bk(big, int *, unsigned long long, signed char, short)");
  assert_string_equal(spelled("_ZN3lab2nkEPKf6float47__half2PKPKdb"),
                      "lab::nk(const float *, float4, __half2, const double *const *, bool)");
  assert_string_equal(spelled("_Z1vPVKj"), "v(const volatile unsigned int *)");
  assert_string_equal(spelled("_Z1aPA4_f"), "a(float (*)[4])");
  assert_string_equal(spelled("_Z1rRi"), "r(int &)");
}

static void answers_to_names(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int how;
  } asked[] = {
      {"k", 1},    {"lab::k", 2},      {"k(lab::P *,int)", 1}, {"lab::k(lab::P *, int)", 2}, {"lab", 0}, {"lk", 0},
      {"b::k", 0}, {"k(lab::P *)", 0}, {"P *, int)", 0}};
  char text[64];
  mw_signature s;
  assert_true(mw_signature_parse("_ZN3lab1kEPNS_1PEi", &s));
  mw_signature_write(&s, text, sizeof text);
  assert_string_equal(text, "lab::k(lab::P *, int)");
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
    assert_int_equal(mw_signature_answers(text, asked[i].name), asked[i].how);
  mw_signature_free(&s);
}

static void templates(void **state) {
  (void)state;
  mw_signature s;
  assert_string_equal(spelled("_Z2tkIfLi3EEvPT_PKS0_S0_i"), "tk<float, 3>(float *, const float *, float, int)");
  assert_string_equal(spelled("_Z2tkIdLj4EEvPT_S1_"), "tk<double, 4>(double *, double *)");
  assert_string_equal(spelled("_Z1bILb1ELin2EEvv"), "b<true, -2>()");
  assert_string_equal(spelled("_ZN3lab5scaleIfEEvPT_S1_i"), "lab::scale<float>(float *, float, int)");
  assert_string_equal(spelled("_Z1kN3lab3vecES0_PS0_"), "k(lab::vec, lab::vec, lab::vec *)");
  assert_string_equal(spelled("_Z1k3boxIfLi2EES0_S_IiLi3EE"), "k(box<float, 2>, box<float, 2>, box<int, 3>)");
  assert_string_equal(spelled("_Z1fIfLi2ELb1EEvPN6joinedIT_XT0_EE4typeEPKS1_S6_y"),
                      "f<float, 2, true>(joined<float, 2>::type *, const float *, const float *, unsigned long long)");
  assert_string_equal(spelled("_Z1gI1SEvPNT_5valueEPKS1_S2_"), "g<S>(S::value *, const S *, S::value)");
  assert_true(mw_signature_parse("_ZN3lab5scaleIfEEvPT_", &s));
  assert_true(s.is_template);
  assert_string_equal(s.plain, "lab::scale");
  assert_string_equal(mw_signature_bare(s.plain), "scale");
  mw_signature_free(&s);
}

static void kinds_and_offsets(void **state) {
  (void)state;
  mw_signature s;
  assert_true(mw_signature_parse("_Z1kPKfci6float3d6__half14__nv_bfloat162PPiPv", &s));
  assert_int_equal(s.nparams, 9);
  static const struct expected {
    mw_dtype dtype;
    unsigned lanes, size, offset;
    bool pointer, is_const;
  } want[] = {{MW_F32, 1, 8, 0, true, true},     {MW_I8, 1, 1, 8, false, false},      {MW_I32, 1, 4, 12, false, false},
              {MW_F32, 3, 12, 16, false, false}, {MW_F64, 1, 8, 32, false, false},    {MW_F16, 1, 2, 40, false, false},
              {MW_BF16, 2, 4, 44, false, false}, {MW_POINTER, 1, 8, 48, true, false}, {MW_VOID, 1, 8, 56, true, false}};
  for (int i = 0; i < 9; i++) {
    assert_int_equal(s.params[i].dtype, want[i].dtype);
    assert_int_equal(s.params[i].lanes, want[i].lanes);
    assert_int_equal(s.params[i].size, want[i].size);
    assert_int_equal(s.params[i].offset, want[i].offset);
    assert_int_equal(s.params[i].pointer, want[i].pointer);
    assert_int_equal(s.params[i].is_const, want[i].is_const);
  }
  assert_int_equal(s.args_bytes, 64);
  mw_signature_free(&s);
}

static void rejected(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "scale",
                                    "_Z",
                                    "_Z0v",
                                    "_Z99scale",
                                    "_Z5scaleS_",
                                    "_Z1kT_",
                                    "_Z1kIJfdEEvDpT_",
                                    "_Z1kPFviE",
                                    "_Z1kIXadL_Z1fEEEvv",
                                    "_Z1kA_i",
                                    "_Z1kSt",
                                    "_Z1kN",
                                    "_ZN3labE_",
                                    "_Z1kS99999999_",
                                    "_Z1kIfLi"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_string_equal(spelled(bad[i]), "rejected");
}

/* A type's name may be as long as a kernel's; a parameter's copy of it is cut. */
static void long_names(void **state) {
  (void)state;
  char mangled[300], longest[256];
  memset(longest, 'a', 255);
  longest[255] = '\0';
  mw_signature s;
  snprintf(mangled, sizeof mangled, "_Z1kP200%.200sf", longest);
  assert_true(mw_signature_parse(mangled, &s));
  assert_int_equal(s.nparams, 2);
  assert_int_equal(strlen(s.params[0].type), sizeof s.params[0].type - 1);
  assert_true(s.params[0].pointer && s.params[1].offset == 8);
  mw_signature_free(&s);
  snprintf(mangled, sizeof mangled, "_Z1kP255%sf", longest);
  assert_true(mw_signature_parse(mangled, &s));
  assert_true(s.unknown);
  mw_signature_free(&s);
}

static void unknown_params_keep_the_name(void **state) {
  (void)state;
  mw_signature s;
  assert_true(mw_signature_parse("_ZN3lab2stE3bigPFiiE", &s));
  assert_true(s.unknown && !s.is_template);
  assert_string_equal(s.name, "lab::st");
  mw_signature_free(&s);
  assert_true(mw_signature_parse("_Z4packIJidEEvDpT_", &s));
  assert_true(s.unknown && s.is_template);
  assert_string_equal(s.plain, "pack");
  mw_signature_free(&s);
  assert_false(mw_signature_parse("_Z99scale", &s));
}

/* Every prefix and every one-byte change of real names: no crash, no hang (the sanitizers watch). */
static void damaged(void **state) {
  (void)state;
  static const char *const good[] = {"_ZN3lab2nkEPKf6float47__half2PKPKdb", "_Z2tkIfLi3EEvPT_PKS0_S0_i",
                                     "_Z1k3boxIfLi2EES0_S_IiLi3EE"};
  for (size_t g = 0; g < 3; g++)
    for (size_t at = 0; at < strlen(good[g]); at++)
      for (int c = 0; c < 128; c++) {
        char text[128];
        snprintf(text, sizeof text, "%s", good[g]);
        text[at] = (char)c;
        spelled(text);
      }
  char deep[4096] = "_Z1k";
  memset(deep + 4, 'P', sizeof deep - 5);
  assert_string_equal(spelled(deep), "rejected");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_and_types), cmocka_unit_test(answers_to_names),
                                     cmocka_unit_test(templates),       cmocka_unit_test(kinds_and_offsets),
                                     cmocka_unit_test(rejected),        cmocka_unit_test(damaged),
                                     cmocka_unit_test(long_names),      cmocka_unit_test(unknown_params_keep_the_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
