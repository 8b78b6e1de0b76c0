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

enum { MOST_SUBSTITUTIONS = 64, MOST_ARGUMENTS = 16, MOST_DEPTH = 24, TEXT = 160 };

typedef struct type {
  char text[TEXT];
  mw_dtype dtype;
  uint8_t lanes;
  bool pointer, is_const; /* is_const: of a pointer, that of what it points to */
  bool self_const;        /* this very type is const */
  uint32_t size, align;
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
  mw_param known = {.dtype = MW_STRUCT, .lanes = 1};
  uint32_t align = mw_type_by_name(mw_signature_bare(name), &known);
  type out = {.dtype = known.dtype, .lanes = known.lanes, .size = known.size, .align = align ? align : 8};
  snprintf(out.text, sizeof out.text, "%s", name);
  return out;
}

/* The end of a qualified name, template arguments not searched. */
const char *mw_signature_bare(const char *qualified) {
  const char *bare = qualified;
  for (const char *c = qualified; *c && *c != '<'; c++)
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

/* ---- the reader's hands ---------------------------------------------------------------------------------------- */

static type refuse(reader *r) {
  r->bad = true;
  return named_type("?");
}

static bool take(reader *r, char c) {
  if (r->bad || *r->at != c) return false;
  r->at++;
  return true;
}

static type remember(reader *r, type t) {
  if (r->nsubstitutions == MOST_SUBSTITUTIONS) return refuse(r);
  r->substitutions[r->nsubstitutions++] = t;
  return t;
}

static void append(reader *r, char *text, size_t size, const char *more) {
  if (strlen(text) + strlen(more) >= size)
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

static void read_source_name(reader *r, char *text, size_t size) {
  char *end = NULL;
  take(r, 'L'); /* internal linkage */
  long length = isdigit((unsigned char)*r->at) ? strtol(r->at, &end, 10) : 0;
  if (length <= 0 || (size_t)length > strlen(end) || (size_t)length >= size) {
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
  type kind = read_type(r), out = {.dtype = MW_STRUCT, .lanes = 1};
  const char *sign = take(r, 'n') ? "-" : "";
  const char *end = strchr(r->at, 'E');
  if (r->bad || !end || end - r->at > 24) return refuse(r);
  int length = (int)(end - r->at);
  for (int i = 0; i < length; i++)
    if (!isalnum((unsigned char)r->at[i])) return refuse(r);
  if (kind.dtype == MW_BOOL)
    snprintf(out.text, sizeof out.text, "%s", *r->at == '1' ? "true" : "false");
  else
    snprintf(out.text, sizeof out.text, "%s%.*s", sign, length, r->at);
  r->at = end + 1;
  return out;
}

/* Appends "<float, 3>" to text; keep, where not NULL, gets the arguments (*count of them). */
static void read_arguments(reader *r, char *text, size_t size, type *keep, int *count) {
  int n = 0;
  append(r, text, size, "<");
  while (!r->bad && *r->at != 'E') {
    if (n == MOST_ARGUMENTS || *r->at == 'J' || *r->at == 'X') {
      r->bad = true;
      return;
    }
    type argument = take(r, 'L') ? read_literal(r) : read_type(r);
    if (n) append(r, text, size, ", ");
    append(r, text, size, argument.text);
    if (keep) keep[n] = argument;
    n++;
  }
  if (!take(r, 'E')) r->bad = true;
  append(r, text, size, ">");
  if (count) *count = n;
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
  type to = read_type(r), out = {.lanes = to.lanes, .pointer = true, .is_const = to.self_const, .size = 8, .align = 8};
  out.dtype = to.pointer ? MW_POINTER : to.dtype;
  if (to.pointer) out.lanes = 1;
  char *bracket = strchr(to.text, '[');
  if (bracket) {
    snprintf(out.text, sizeof out.text, "%.*s(*)", (int)(bracket - to.text), to.text);
    append(r, out.text, sizeof out.text, bracket);
  } else {
    snprintf(out.text, sizeof out.text, "%s", to.text);
    append(r, out.text, sizeof out.text, to.pointer && !to.self_const ? "*" : " *");
  }
  return remember(r, out);
}

/* By value a reference cannot cross into a kernel: told as a struct, so that nothing is passed for it. */
static type read_reference(reader *r, const char *sign) {
  type to = read_type(r), out = {.dtype = MW_STRUCT, .lanes = 1, .size = 8, .align = 8};
  snprintf(out.text, sizeof out.text, "%s", to.text);
  append(r, out.text, sizeof out.text, sign);
  return remember(r, out);
}

static type read_array(reader *r) {
  char *end;
  unsigned long count = strtoul(r->at, &end, 10);
  if (end == r->at || *end != '_' || count > UINT32_MAX) return refuse(r);
  r->at = end + 1;
  type of = read_type(r), out = of;
  char number[32];
  snprintf(number, sizeof number, "%s[%lu]", strchr(of.text, '[') ? "" : " ", count);
  append(r, out.text, sizeof out.text, number);
  return remember(r, out);
}

/* restrict, volatile and const in the ABI's order; a group of them is one substitution. */
static type read_qualified(reader *r) {
  bool is_restrict = take(r, 'r'), is_volatile = take(r, 'V'), is_const = take(r, 'K');
  type of = read_type(r), out = of;
  const char *before = is_const && is_volatile ? "const volatile "
                       : is_const              ? "const "
                       : is_volatile           ? "volatile "
                                               : "";
  out.text[0] = '\0';
  if (!of.pointer) append(r, out.text, sizeof out.text, before);
  append(r, out.text, sizeof out.text, of.text);
  if (of.pointer && is_const) append(r, out.text, sizeof out.text, "const");
  if (of.pointer && is_restrict) append(r, out.text, sizeof out.text, "__restrict__");
  out.self_const = is_const;
  return remember(r, out);
}

static type read_extended(reader *r) {
  r->at++; /* D */
  if (take(r, 'n')) return (type){.text = "decltype(nullptr)", .dtype = MW_STRUCT, .lanes = 1, .size = 8, .align = 8};
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
  return refuse(r);
}

static type read_substitution(reader *r) {
  r->at++; /* S */
  if (*r->at == 't') {
    char name[TEXT] = "std::";
    r->at++;
    read_source_name(r, name + 5, sizeof name - 5);
    return remember(r, named_type(name));
  }
  if (islower((unsigned char)*r->at)) return refuse(r); /* Sa, Ss, ...: the standard library's own */
  int index = read_sequence(r);
  return r->bad || index >= r->nsubstitutions ? refuse(r) : r->substitutions[index];
}

static type read_template_parameter(reader *r) {
  r->at++; /* T */
  int index = read_sequence(r);
  return r->bad || index >= r->narguments ? refuse(r) : remember(r, r->arguments[index]);
}

/* N <prefix>... E: each prefix but the last counts as a substitution; the last one only where it is a type. The
 * template arguments of the last component of a function's name are kept in the reader. */
static void read_nested(reader *r, char *text, size_t size, bool function, bool *is_template, char *plain) {
  while (*r->at == 'r' || *r->at == 'V' || *r->at == 'K') r->at++;
  text[0] = '\0';
  for (bool last = false; !r->bad && *r->at != 'E';) {
    bool from_table = *r->at == 'S';
    *is_template = *r->at == 'I';
    if (*is_template) {
      snprintf(plain, size, "%s", text);
      r->at++;
      read_arguments(r, text, size, function ? r->arguments : NULL, function ? &r->narguments : NULL);
    } else if (from_table) {
      type prefix = read_substitution(r);
      snprintf(text, size, "%s", prefix.text);
    } else {
      char part[TEXT] = "";
      read_source_name(r, part, sizeof part);
      if (*part && *text) append(r, text, size, "::");
      append(r, text, size, part);
    }
    last = *r->at == 'E';
    if (!from_table && !(last && function)) remember(r, named_type(text));
  }
  if (!take(r, 'E') || !*text) r->bad = true;
}

static type read_class(reader *r) {
  char text[TEXT] = "", plain[TEXT];
  bool is_template;
  if (take(r, 'N')) {
    read_nested(r, text, sizeof text, false, &is_template, plain);
    return named_type(text);
  }
  read_source_name(r, text, sizeof text);
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
    read_source_name(r, text, sizeof text);
    return named_type(text);
  }
  if (c == 'N' || isdigit((unsigned char)c)) return read_class(r);
  return refuse(r);
}

static type read_type(reader *r) {
  if (r->bad || ++r->depth > MOST_DEPTH) return refuse(r);
  type out = read_unqualified_type(r);
  if (!r->bad && *r->at == 'I') { /* the arguments of a class template */
    char text[TEXT];
    snprintf(text, sizeof text, "%s", out.text);
    r->at++;
    read_arguments(r, text, sizeof text, NULL, NULL);
    out = remember(r, named_type(text));
  }
  r->depth--;
  return out;
}

/* ---- the whole name -------------------------------------------------------------------------------------------- */

static void read_function_name(reader *r, mw_signature *out) {
  if (take(r, 'N')) {
    read_nested(r, out->name, sizeof out->name, true, &out->is_template, out->plain);
  } else {
    read_source_name(r, out->name, sizeof out->name);
    if (!r->bad && *r->at == 'I') {
      snprintf(out->plain, sizeof out->plain, "%s", out->name);
      remember(r, named_type(out->name));
      r->at++;
      out->is_template = true;
      read_arguments(r, out->name, sizeof out->name, r->arguments, &r->narguments);
    }
  }
  if (!out->is_template) snprintf(out->plain, sizeof out->plain, "%s", out->name);
}

static void add_param(mw_signature *out, const type *t) {
  out->params = mw_realloc(out->params, (size_t)(out->nparams + 1) * sizeof *out->params);
  size_t align = t->align ? t->align : 1, offset = (out->args_bytes + align - 1) / align * align;
  mw_param *param = &out->params[out->nparams++];
  *param = (mw_param){.dtype = t->dtype, .lanes = t->lanes, .pointer = t->pointer, .is_const = t->is_const};
  param->size = t->size;
  param->offset = (uint32_t)offset;
  size_t length = strlen(t->text), most = sizeof param->type - 1;
  memcpy(param->type, t->text, length < most ? length + 1 : most);
  out->args_bytes = offset + t->size;
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
    bool nothing = t.dtype == MW_VOID && !t.pointer;
    if (!r.bad && !nothing) add_param(out, &t);
  }
  if (r.bad) forget_params(out);
  return true;
}

void mw_signature_free(mw_signature *signature) {
  mw_free(signature->params);
  *signature = (mw_signature){.params = NULL};
}
