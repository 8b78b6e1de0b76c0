/* SPDX-License-Identifier: MIT
 *
 * A recursive-descent reader of mangled names. Every construct of the grammar is one function; a reader that meets
 * something it does not know sets `bad` and everything after it returns at once. Substitutions (S_, S0_, T_) are kept
 * in the order in which the ABI counts them. */
#include "core/source/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum { TEXT = sizeof((mw_signature *)0)->name };
enum { MOST_SUBSTITUTIONS = 64, MOST_ARGUMENTS = 16, MOST_DEPTH = 24 };

typedef struct type {
  char text[TEXT];
  mw_param as;     /* but for its names */
  bool self_const; /* this very type is const; as.is_const is of what it points to */
  uint32_t align;
} type;

typedef struct reader {
  const char *at;
  bool bad;
  int depth;
  type substitutions[MOST_SUBSTITUTIONS];
  int nsubstitutions;
  type arguments[MOST_ARGUMENTS]; /* of the function template */
  int narguments;
} reader;

static type read_type(reader *r);

/* ---- named types ----------------------------------------------------------------------------------------------- */

static type named_type(const char *name) {
  type out = {.as = {.dtype = MW_STRUCT, .lanes = 1}};
  snprintf(out.text, TEXT, "%s", name);
  out.align = mw_type_by_name(mw_signature_bare(name), &out.as);
  if (!out.align) out.align = 8;
  return out;
}

/* What is passed as an address, or not at all. */
static type word_type(mw_dtype dtype, const char *name) {
  type out = {.as = {.dtype = dtype, .lanes = 1, .size = 8}, .align = 8};
  snprintf(out.text, TEXT, "%s", name);
  return out;
}

/* The end of a qualified name, template arguments and parameters not searched. */
const char *mw_signature_bare(const char *qualified) {
  const char *bare = qualified;
  for (const char *c = qualified; *c && *c != '<' && *c != '('; c++)
    if (c[0] == ':' && c[1] == ':') bare = c + 2;
  return bare;
}

bool mw_same_name(const char *a, const char *b) {
  for (;; a++, b++) {
    while (isspace((unsigned char)*a)) a++;
    while (isspace((unsigned char)*b)) b++;
    if (*a != *b || !*a) return *a == *b;
  }
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static type reject(reader *r) {
  r->bad = true;
  return named_type("?");
}

static bool take(reader *r, char c) {
  if (r->bad || *r->at != c) return false;
  r->at++;
  return true;
}

static type remember(reader *r, type t) {
  if (r->nsubstitutions == MOST_SUBSTITUTIONS) return reject(r);
  r->substitutions[r->nsubstitutions++] = t;
  return t;
}

static void append(reader *r, char text[TEXT], const char *more) {
  if (strlen(text) + strlen(more) >= TEXT)
    r->bad = true;
  else
    strcat(text, more);
}

/* <seq-id>: nothing is 0, then base 36 plus one; ends at '_'. */
static int read_sequence(reader *r) {
  int value = 0;
  if (take(r, '_')) return 0;
  for (; isdigit((unsigned char)*r->at) || isupper((unsigned char)*r->at); r->at++) {
    if (value > 1000) break;
    value = value * 36 + (isdigit((unsigned char)*r->at) ? *r->at - '0' : *r->at - 'A' + 10);
  }
  if (!take(r, '_')) r->bad = true;
  return value + 1;
}

static void read_source_name(reader *r, char text[TEXT]) {
  char *end = NULL;
  take(r, 'L'); /* internal linkage */
  long length = isdigit((unsigned char)*r->at) ? strtol(r->at, &end, 10) : 0;
  if (length <= 0 || (size_t)length > strlen(end) || length >= TEXT) {
    r->bad = true;
    return;
  }
  memcpy(text, end, (size_t)length);
  text[length] = '\0';
  if (strncmp(text, "_GLOBAL__N_", 11) == 0 || strncmp(text, "_INTERNAL_", 10) == 0) text[0] = '\0';
  r->at = end + length;
}

/* ---- template arguments ---------------------------------------------------------------------------------------- */

static type read_literal(reader *r) {
  type kind = read_type(r), out = {.as = {.dtype = MW_STRUCT, .lanes = 1}};
  const char *sign = take(r, 'n') ? "-" : "";
  const char *end = strchr(r->at, 'E');
  if (r->bad || !end || end - r->at > 24) return reject(r);
  int length = (int)(end - r->at);
  for (int i = 0; i < length; i++)
    if (!isalnum((unsigned char)r->at[i])) return reject(r);
  if (kind.as.dtype == MW_BOOL)
    snprintf(out.text, sizeof out.text, "%s", *r->at == '1' ? "true" : "false");
  else
    snprintf(out.text, sizeof out.text, "%s%.*s", sign, length, r->at);
  r->at = end + 1;
  return out;
}

/* XT0_E: a number that is a parameter of the function's template. No substitution: it is no type. */
static type read_expression(reader *r) {
  if (!take(r, 'T')) return reject(r);
  int index = read_sequence(r);
  return take(r, 'E') && index < r->narguments ? r->arguments[index] : reject(r);
}

static type read_argument(reader *r) {
  if (take(r, 'L')) return read_literal(r);
  return take(r, 'X') ? read_expression(r) : read_type(r);
}

/* At the I: appends "<float, 3>" to text; those of a function are kept. */
static void read_arguments(reader *r, char text[TEXT], bool keep) {
  int n = 0;
  append(r, text, "<");
  for (r->at++; !r->bad && *r->at != 'E'; n++) {
    if (n == MOST_ARGUMENTS || *r->at == 'J') {
      r->bad = true;
      return;
    }
    type argument = read_argument(r);
    if (n) append(r, text, ", ");
    append(r, text, argument.text);
    if (keep) r->arguments[n] = argument;
  }
  if (!take(r, 'E')) r->bad = true;
  append(r, text, ">");
  if (keep) r->narguments = n;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static const char *builtin_name(char letter) {
  static const char *const names['z' + 1] = {
      ['v'] = "void",        ['w'] = "wchar_t",
      ['b'] = "bool",        ['c'] = "char",
      ['a'] = "signed char", ['h'] = "unsigned char",
      ['s'] = "short",       ['t'] = "unsigned short",
      ['i'] = "int",         ['j'] = "unsigned int",
      ['l'] = "long",        ['m'] = "unsigned long",
      ['x'] = "long long",   ['y'] = "unsigned long long",
      ['f'] = "float",       ['d'] = "double",
  };
  return letter > 0 && letter <= 'z' ? names[(unsigned char)letter] : NULL;
}

static type read_pointer(reader *r) {
  type to = read_type(r), out = word_type(to.as.pointer ? MW_POINTER : to.as.dtype, to.text);
  if (!to.as.pointer) out.as.lanes = to.as.lanes;
  out.as.pointer = true;
  out.as.is_const = to.self_const;
  const char *bracket = strchr(to.text, '[');
  if (bracket) out.text[bracket - to.text] = '\0';
  append(r, out.text, bracket ? "(*)" : to.as.pointer && !to.self_const ? "*" : " *");
  if (bracket) append(r, out.text, bracket);
  return remember(r, out);
}

/* By value a reference cannot cross into a kernel: told as a struct, so that nothing is passed for it. */
static type read_reference(reader *r, const char *sign) {
  type out = word_type(MW_STRUCT, read_type(r).text);
  append(r, out.text, sign);
  return remember(r, out);
}

static type read_array(reader *r) {
  char *end;
  unsigned long count = strtoul(r->at, &end, 10);
  if (end == r->at || *end != '_' || count > UINT32_MAX) return reject(r);
  r->at = end + 1;
  type out = read_type(r);
  char number[32];
  snprintf(number, sizeof number, "%s[%lu]", strchr(out.text, '[') ? "" : " ", count);
  append(r, out.text, number);
  return remember(r, out);
}

/* restrict, volatile and const in the ABI's order; a group of them is one substitution. */
static type read_qualified(reader *r) {
  bool is_restrict = take(r, 'r'), is_volatile = take(r, 'V'), is_const = take(r, 'K');
  type of = read_type(r), out = of;
  const bool pointer = of.as.pointer;
  out.text[0] = '\0';
  if (is_const && !pointer) append(r, out.text, "const ");
  if (is_volatile && !pointer) append(r, out.text, "volatile ");
  append(r, out.text, of.text);
  if (is_const && pointer) append(r, out.text, "const");
  if (is_restrict && pointer) append(r, out.text, "__restrict__");
  out.self_const = is_const;
  return remember(r, out);
}

static type read_extended(reader *r) {
  r->at++; /* D */
  if (take(r, 'n')) return word_type(MW_STRUCT, "decltype(nullptr)");
  if (take(r, 's')) return named_type("char16_t");
  if (take(r, 'i')) return named_type("char32_t");
  if (take(r, 'h')) return named_type("half");
  if (strncmp(r->at, "F16_", 4) == 0) {
    r->at += 4;
    return named_type("_Float16");
  }
  if (strncmp(r->at, "F16b", 4) == 0) {
    r->at += 4;
    return named_type("__bf16");
  }
  return reject(r);
}

static type read_substitution(reader *r) {
  r->at++; /* S */
  if (*r->at == 't') {
    char name[TEXT] = "std::", part[TEXT] = "";
    r->at++;
    read_source_name(r, part);
    append(r, name, part);
    return remember(r, named_type(name));
  }
  if (islower((unsigned char)*r->at)) return reject(r); /* Sa, Ss, ...: the standard library's own */
  int index = read_sequence(r);
  return r->bad || index >= r->nsubstitutions ? reject(r) : r->substitutions[index];
}

static type read_template_parameter(reader *r) {
  r->at++; /* T */
  int index = read_sequence(r);
  return r->bad || index >= r->narguments ? reject(r) : remember(r, r->arguments[index]);
}

/* <name>, or N <prefix>... E: each prefix but the last counts as a substitution; the last one only where it is a type.
 * Of a function (not NULL) the template arguments of the last component are kept in the reader. */
static void read_nested(reader *r, char text[TEXT], mw_signature *function) {
  bool is_template = false;
  while (*r->at == 'r' || *r->at == 'V' || *r->at == 'K') r->at++;
  while (!r->bad && *r->at != 'E') {
    bool from_table = *r->at == 'S' || *r->at == 'T';
    char part[TEXT] = "";
    is_template = *r->at == 'I';
    if (is_template) {
      if (function) memcpy(function->plain, text, TEXT);
      read_arguments(r, text, function);
    } else if (from_table) {
      snprintf(text, TEXT, "%s", *r->at == 'S' ? read_substitution(r).text : read_template_parameter(r).text);
    } else {
      read_source_name(r, part);
      if (*part && *text) append(r, text, "::");
      append(r, text, part);
    }
    if (!from_table && !(function && *r->at == 'E')) remember(r, named_type(text));
  }
  if (!take(r, 'E') || !*text) r->bad = true;
  if (function) function->is_template = is_template;
}

static type read_class(reader *r) {
  char text[TEXT] = "";
  if (take(r, 'N')) {
    read_nested(r, text, NULL);
    return named_type(text);
  }
  read_source_name(r, text);
  return remember(r, named_type(text));
}

static type read_unqualified_type(reader *r) {
  char c = *r->at;
  const char *builtin = builtin_name(c);
  if (builtin) {
    r->at++;
    return named_type(builtin);
  }
  if (take(r, 'P')) return read_pointer(r);
  if (take(r, 'R')) return read_reference(r, " &");
  if (take(r, 'O')) return read_reference(r, " &&");
  if (take(r, 'A')) return read_array(r);
  if (c == 'K' || c == 'V' || c == 'r') return read_qualified(r);
  if (c == 'D') return read_extended(r);
  if (c == 'S') return read_substitution(r);
  if (c == 'T') return read_template_parameter(r);
  if (take(r, 'u')) {
    char text[TEXT] = "";
    read_source_name(r, text);
    return named_type(text);
  }
  if (c == 'N' || isdigit((unsigned char)c)) return read_class(r);
  return reject(r);
}

static type read_type(reader *r) {
  if (r->bad || ++r->depth > MOST_DEPTH) return reject(r);
  type out = read_unqualified_type(r);
  if (!r->bad && *r->at == 'I') { /* the arguments of a class template */
    read_arguments(r, out.text, false);
    out = remember(r, named_type(out.text));
  }
  r->depth--;
  return out;
}

/* ---- the whole name -------------------------------------------------------------------------------------------- */

static void read_function_name(reader *r, mw_signature *out) {
  if (take(r, 'N')) {
    read_nested(r, out->name, out);
  } else {
    read_source_name(r, out->name);
    if (!r->bad && *r->at == 'I') {
      memcpy(out->plain, out->name, TEXT);
      remember(r, named_type(out->name));
      out->is_template = true;
      read_arguments(r, out->name, true);
    }
  }
  if (!out->is_template) memcpy(out->plain, out->name, TEXT);
}

static void add_param(mw_signature *out, const type *t) {
  out->params = mw_realloc(out->params, (size_t)(out->nparams + 1) * sizeof *out->params);
  size_t align = t->align ? t->align : 1, offset = (out->args_bytes + align - 1) / align * align;
  mw_param *param = &out->params[out->nparams++];
  *param = t->as;
  param->offset = (uint32_t)offset;
  snprintf(param->type, sizeof param->type, "%.*s", (int)sizeof param->type - 1, t->text);
  out->args_bytes = offset + param->size;
}

static void forget_params(mw_signature *out) {
  mw_free(out->params);
  out->params = NULL;
  out->nparams = 0;
  out->args_bytes = 0;
  out->unknown = true;
  if (out->is_template) memcpy(out->name, out->plain, sizeof out->name);
}

bool mw_signature_parse(const char *mangled, mw_signature *out) {
  reader r = {.at = mangled + 2};
  *out = (mw_signature){.params = NULL};
  if (strncmp(mangled, "_Z", 2) != 0) return false;
  read_function_name(&r, out);
  if (!*out->plain || (r.bad && !out->is_template)) {
    mw_signature_free(out);
    return false;
  }
  if (out->is_template && !r.bad) read_type(&r); /* what it returns */
  while (!r.bad && *r.at) {
    type t = read_type(&r);
    bool nothing = t.as.dtype == MW_VOID && !t.as.pointer;
    if (!r.bad && !nothing) add_param(out, &t);
  }
  if (r.bad) forget_params(out);
  return true;
}

void mw_signature_write(const mw_signature *s, char *out, size_t size) {
  char types[400] = "";
  for (int i = 0; i < s->nparams; i++) mw_list_add(types, sizeof types, ", ", "%s", s->params[i].type);
  snprintf(out, size, "%s(%s%s)", s->plain, types, s->unknown ? "..." : "");
}

static bool is_same(const char *signature, const char *name) {
  const size_t size = strcspn(signature, "(");
  return strchr(name, '(') ? mw_same_name(signature, name) : strlen(name) == size && !strncmp(signature, name, size);
}

int mw_signature_answers(const char *signature, const char *name) {
  return is_same(signature, name) ? 2 : is_same(mw_signature_bare(signature), name);
}

void mw_signature_free(mw_signature *signature) {
  mw_free(signature->params);
  *signature = (mw_signature){.params = NULL};
}
