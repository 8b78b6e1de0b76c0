/* SPDX-License-Identifier: MIT
 *
 * Types, names and expressions of a body, a function for each level of precedence; see body.h.
 *
 *   s += x[2 * k]      ASSIGN += of the NAME s, and an INDEX of the NAME x by a BINARY * of 2 and the NAME k
 *   (T)p   T(p)        CAST, where T is the name of a type; else a CALL */
#include <string.h>

#include "core/base/memory.h"
#include "core/source/body_parts.h"
#include "core/source/declaration.h"
#include "core/source/declarator.h"

static const mw_type scalar = {.class = MW_TYPE_SCALAR}, text = {.class = MW_TYPE_SCALAR, .levels = 1};
static const mw_type of_class = {.class = MW_TYPE_CLASS}, not_known = {0};

static const char *const *const not_names =
    WORDS("new", "delete", "throw", "operator", "co_await", "asm", "__asm__", "return", "else", "case", "default",
          "break", "continue", "goto", "sizeof", "alignof");

/* ---- the arrays ------------------------------------------------------------------------------------------------ */

int mw_expr_add(mw_body *in, mw_expr one) {
  in->exprs = mw_grow(in->exprs, (size_t)in->nexprs, sizeof *in->exprs);
  in->exprs[in->nexprs] = one;
  in->begins[one.first - in->first] = in->nexprs;
  return in->nexprs++;
}

static int expr_add(mw_body *in, mw_expr_kind kind, int first, int last, int op, mw_type type) {
  return mw_expr_add(in, (mw_expr){.kind = kind, .first = first, .last = last, .op = op, .type = type});
}

static int operation_add(mw_body *in, mw_expr_kind kind, int a, int b, int last, int op, mw_type type) {
  const int one = expr_add(in, kind, in->exprs[a].first, last, op, type);
  in->exprs[one].a = a;
  in->exprs[one].b = b;
  return one;
}

void mw_unknown_note(mw_body *in, int first, int last) {
  for (int i = first; i < last; i++) in->begins[i - in->first] = 0;
}

int mw_unknown_add(mw_body *in, int first, int last) {
  if (last <= first) last = first + 1;
  mw_unknown_note(in, first, last);
  return expr_add(in, MW_EXPR_UNKNOWN, first, last, first, not_known);
}

static int end_of(const mw_body *in, int expr) {
  return in->exprs[expr].last;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static int *last_of(const mw_body *in, const mw_token *name) {
  return &in->hashed[mw_hash(name) % in->hashes];
}

void mw_declared_see(mw_body *in, int declared) {
  int *last = last_of(in, mw_at(in, in->declared[declared].name));
  in->visible = mw_grow(in->visible, (size_t)in->nvisible, sizeof *in->visible);
  in->visible[in->nvisible++] = declared;
  in->below[declared] = *last;
  *last = declared;
}

void mw_declared_add(mw_body *in, mw_declared one) {
  in->declared = mw_grow(in->declared, (size_t)in->ndeclared, sizeof *in->declared);
  in->below = mw_grow(in->below, (size_t)in->ndeclared, sizeof *in->below);
  in->declared[in->ndeclared] = one;
  mw_declared_see(in, in->ndeclared++);
}

int mw_visible_find(const mw_body *in, const mw_token *name) {
  int i = in->nvisible ? *last_of(in, name) : 0;
  while (i && !mw_same_text(mw_at(in, in->declared[i].name), name)) i = in->below[i];
  return i;
}

void mw_scope_end(mw_body *in, int visible) {
  while (in->nvisible > visible) {
    const int one = in->visible[--in->nvisible];
    *last_of(in, mw_at(in, in->declared[one].name)) = in->below[one];
  }
}

static mw_meaning visible_meaning(const mw_body *in, int token) {
  const int own = mw_visible_find(in, mw_at(in, token));
  if (!own) return in->names.meaning(in->names.with, mw_at(in, token));
  return (mw_meaning){in->declared[own].is_type ? MW_NAME_TYPE : MW_NAME_LOCAL, in->declared[own].type};
}

/* Past the < > at i, where they can be a list; else i. */
static int angles_end(const mw_body *in, int i, int last) {
  const int end = i < last && mw_is(in, i, "<") ? mw_angle_end(in->tokens, i, last) : i;
  return end > i + 1 ? end : i;
}

/* Past a::b<c>::d, without a list after d; *name: its token. */
static int qualified_end(const mw_body *in, int i, int last, int *name) {
  if (mw_is(in, i, "::")) i++;
  for (*name = i; i < last && mw_at(in, i)->kind == MW_TOKEN_NAME; i += 1 + mw_is(in, i + 1, "template")) {
    *name = i++;
    const int after = angles_end(in, i, last);
    if (after + 1 >= last || !mw_is(in, after, "::") || mw_at(in, after + 1)->kind != MW_TOKEN_NAME) return i;
    i = after;
  }
  return i;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static void volatile_note(mw_type *type) {
  if (type->levels < 8) type->volatiles |= (unsigned char)(1u << type->levels);
}

int mw_signs_end(const mw_tokens *tokens, int i, int last, mw_type *type) {
  const char *const *const signs = WORDS("*", "&", "&&", "const", "volatile", "__restrict__", "__restrict");
  for (; i < last && mw_token_any(&tokens->at[i], signs); i++) {
    type->reference |= tokens->at[i].text[0] == '&';
    if (mw_token_is(&tokens->at[i], "*")) type->levels++, type->arrays = 0;
    if (mw_token_is(&tokens->at[i], "volatile")) volatile_note(type);
  }
  return i;
}

/* T x, T *x = p: is a name declared after what nobody knows? */
static bool declares(const mw_body *in, int i, int last) {
  mw_type type = not_known;
  const int name = mw_signs_end(in->tokens, i, last, &type);
  if (name >= last || mw_at(in, name)->kind != MW_TOKEN_NAME || mw_is(in, name, "operator")) return false;
  return name == i || name + 1 == last || mw_token_any(mw_at(in, name + 1), WORDS(";", "=", ",", "[", "{"));
}

/* Past a named type at i; i if not. `must`: a type stands there. */
static int named_end(const mw_body *in, int i, int last, bool must, mw_type *out) {
  int name;
  const int end = qualified_end(in, i, last, &name), after = angles_end(in, end, last);
  const bool standard = name == i + 2 && mw_is(in, i, "std"), plain = (name == i || standard) && after == end;
  const mw_meaning it = name == i || standard ? visible_meaning(in, name) : (mw_meaning){0};
  const bool open =
      it.binding == MW_NAME_UNKNOWN && !mw_token_any(mw_at(in, i), not_names) && (must || declares(in, after, last));
  if (end == i || (it.binding != MW_NAME_TYPE && !open)) return i;
  *out = plain && it.binding == MW_NAME_TYPE ? it.type : i > 0 && mw_is(in, i - 1, "typename") ? not_known : of_class;
  return after;
}

/* struct P, struct P { ... }: past it. */
static int class_end(const mw_body *in, int i, int last, mw_type *out) {
  const int open = mw_class_braces(in->tokens, i, last);
  i += 1 + mw_token_any(mw_at(in, i + 1), WORDS("class", "struct"));
  *out = of_class;
  if (open) return mw_at(in, open)->match + 1;
  return named_end(in, i, last, true, out);
}

/* The name of a variable of the body: no keyword, which may be among the names that are hidden, and no type. */
static bool is_variable(const mw_body *in, int i) {
  const int own = mw_at(in, i)->kind == MW_TOKEN_NAME ? mw_visible_find(in, mw_at(in, i)) : 0;
  return own && !in->declared[own].is_type && in->declared[own].spec <= in->declared[own].name;
}

int mw_words_end(const mw_body *in, int i, int last, mw_type *out) {
  const char *const *const words =
      WORDS("void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned");
  const char *const *const signs =
      WORDS("const", "volatile", "constexpr", "register", "mutable", "static", "extern", "inline", "typename",
            "thread_local", "__restrict__", "__restrict", "__shared__", "__device__", "__constant__", "__managed__",
            "__host__", "__inline__", "__forceinline__", "__noinline__", "mw_kept");
  const int first = i;
  bool named = false, word = false, must = false, fresh = false, narrow = false;
  *out = not_known;
  if (is_variable(in, i)) return i;
  for (int next; i < last && mw_at(in, i)->kind == MW_TOKEN_NAME; i = next) {
    next = i + 1;
    if (mw_token_any(mw_at(in, i), WORDS("alignas", "__align__", "__attribute__", "decltype")) &&
        mw_is(in, next, "(")) {
      next = mw_at(in, next)->match + 1;
      if (mw_is(in, i, "decltype")) named = true, out->reference = true; /* it may be one */
    } else if (mw_token_any(mw_at(in, i), signs)) {
      must = true;
      fresh |= mw_is(in, i, "volatile");
    } else if (mw_token_any(mw_at(in, i), words) && !named) {
      narrow |= !mw_token_any(mw_at(in, i), WORDS("int", "long", "signed", "unsigned"));
      word = true;
      *out = scalar;
      out->wide = !narrow;
    } else if (word || named) {
      break;
    } else {
      named = true;
      if (mw_token_any(mw_at(in, i), WORDS("struct", "class", "union", "enum")))
        next = class_end(in, i, last, out);
      else if (!mw_is(in, i, "auto"))
        next = named_end(in, i, last, must, out);
      if (next == i) return first;
    }
  }
  if (fresh) volatile_note(out);
  return named || word ? i : first;
}

mw_type mw_type_read(const mw_tokens *tokens, int first, int last, const mw_names *names) {
  const mw_body in = {.tokens = tokens, .names = *names};
  mw_type type;
  int i = mw_words_end(&in, first, last, &type);
  if (i == first) i = named_end(&in, first, last, true, &type);
  if (i == first) return of_class;
  i = mw_signs_end(tokens, i, last, &type);
  return i == last ? type : of_class;
}

/* ---- primaries ------------------------------------------------------------------------------------------------- */

static int comma_read(mw_body *, int i, int last);

/* What stands in tokens first ... close-1 between commas, linked by `next`; what is left over is unknown. */
static int items_read(mw_body *in, int first, int close) {
  int head = 0, tail = 0;
  for (int i = first; i < close; i = end_of(in, tail) + 1) {
    int one = mw_assignment_read(in, i, close);
    if (end_of(in, one) < close && !mw_is(in, end_of(in, one), ",")) one = mw_unknown_add(in, i, close);
    if (tail)
      in->exprs[tail].next = one;
    else
      head = one;
    tail = one;
  }
  return head;
}

static int list_read(mw_body *in, int open) {
  return items_read(in, open + 1, mw_at(in, open)->match);
}

int mw_construction_read(mw_body *in, int first, int open, mw_type type) {
  const bool braces = mw_is(in, open, "{");
  const int list = list_read(in, open);
  const int one = expr_add(in, braces ? MW_EXPR_BRACES : MW_EXPR_CAST, first, mw_at(in, open)->match + 1, open, type);
  in->exprs[one].a = list;
  return one;
}

/* Does < begin a list after the name of a value? A type is no operand. */
static bool lists_types(const mw_body *in, int i, int last) {
  mw_type type;
  return i < last && mw_is(in, i, "<") && mw_words_end(in, i + 1, last, &type) > i + 1;
}

/* a::b, f<4>. Of what is no template < compares. */
static int name_read(mw_body *in, int i, int last) {
  int name, end = qualified_end(in, i, last, &name);
  if (end == i || name >= last) return mw_unknown_add(in, i, last);
  const mw_meaning it = name == i ? visible_meaning(in, i) : (mw_meaning){0};
  const bool value = it.binding >= MW_NAME_LOCAL && it.binding <= MW_NAME_CONSTANT;
  const bool types = lists_types(in, end, last);
  const int after = value && !types ? end : angles_end(in, end, last);
  if (after > end && (types || after >= last || mw_token_any(mw_at(in, after), WORDS("(", ")", ",", ";", "{", "<<<"))))
    end = after;
  const int one = expr_add(in, MW_EXPR_NAME, i, end, name, it.type);
  in->exprs[one].binding = it.binding;
  if (it.binding == MW_NAME_LOCAL) in->exprs[one].of = mw_visible_find(in, mw_at(in, i));
  return one;
}

bool mw_is_plain_number(const mw_token *token) {
  const bool based = token->size > 2 && strchr("xXbB", token->text[1]);
  const bool hexadecimal = based && strchr("xX", token->text[1]);
  int i = based ? 2 : 0;
  while (i < token->size && strchr(hexadecimal ? "0123456789abcdefABCDEF.'pP+-" : "0123456789.'eE+-", token->text[i]))
    i++;
  while (i < token->size && strchr("uUlLfF", token->text[i])) i++;
  return i == token->size;
}

/* 12u, 'c', "text"; 3_t and what stands next to a text may call functions of the program's own. */
static int literal_read(mw_body *in, int i) {
  const mw_token *token = mw_at(in, i);
  if (token->kind == MW_TOKEN_NUMBER && !mw_is_plain_number(token)) return mw_unknown_add(in, i, i + 1);
  int last = i + 1; /* "a" "b" */
  while (token->kind == MW_TOKEN_STRING && mw_at(in, last)->kind == MW_TOKEN_STRING) last++;
  const bool string = token->kind == MW_TOKEN_STRING && token->text[token->size - 1] != '\'';
  return expr_add(in, string ? MW_EXPR_STRING : MW_EXPR_NUMBER, i, last, i, string ? text : scalar);
}

static int brackets_read(mw_body *in, int i) {
  const int close = mw_at(in, i)->match, inner = comma_read(in, i + 1, close);
  if (end_of(in, inner) != close) return mw_unknown_add(in, i, close + 1);
  const int one = expr_add(in, MW_EXPR_BRACKETS, i, close + 1, i, in->exprs[inner].type);
  in->exprs[one].a = inner;
  return one;
}

static int unary_read(mw_body *, int i, int last);

/* sizeof(x), sizeof...(T), sizeof x */
static int sizeof_read(mw_body *in, int i, int last) {
  const int open = i + 1 + mw_is(in, i + 1, "...");
  const bool bare = open >= last || !mw_is(in, open, "(");
  const int end = bare ? end_of(in, unary_read(in, open, last)) : mw_at(in, open)->match + 1;
  for (int k = open; k < end; k++) in->begins[k - in->first] = 0; /* of what is not evaluated */
  return expr_add(in, MW_EXPR_SIZEOF, i, end, i, scalar);
}

/* static_cast<T>(x) */
static int named_cast_read(mw_body *in, int i, int last) {
  const int end = angles_end(in, i + 1, last);
  if (end == i + 1 || end >= last || !mw_is(in, end, "(")) return mw_unknown_add(in, i, last);
  return mw_construction_read(in, i, end, mw_type_read(in->tokens, i + 2, end - 1, &in->names));
}

static void formals_declare(mw_body *in, int open, int until) {
  mw_formal *formals;
  const int count = mw_formals_read(in->tokens, open, mw_at(in, open)->match, &formals);
  for (const mw_formal *it = formals; it < formals + count; it++) {
    if (it->name < 0) continue;
    mw_declared one = {.name = it->name, .spec = it->first, .spec_last = it->name, .until = until};
    one.type = mw_type_read(in->tokens, it->first, it->name, &in->names);
    one.type.levels += it->name + 1 < it->last && mw_is(in, it->name + 1, "[");
    mw_declared_add(in, one);
  }
  mw_free(formals);
}

/* A lambda, or a block in parentheses; 0: none begins there. */
static int lambda_read(mw_body *in, int i, int last) {
  const bool bare = mw_is(in, i, "(") && mw_is(in, i + 1, "{") && mw_at(in, i + 1)->match + 1 == mw_at(in, i)->match;
  const int open = bare ? i + 1 : mw_lambda_open(in->tokens, i);
  if (!open || open >= last) return 0;
  const int formals = bare ? open : mw_find_open(in->tokens, mw_at(in, i)->match, open, WORDS("("));
  const int visible = in->nvisible, close = mw_at(in, open)->match;
  if (formals < open) formals_declare(in, formals, close);
  const int block = in->block(in, open), one = expr_add(in, MW_EXPR_LAMBDA, i, close + 1 + bare, open, of_class);
  mw_scope_end(in, visible);
  in->exprs[one].c = block;
  return one;
}

/* new T, new T[n], new T(x), new T{x} */
static int new_read(mw_body *in, int i, int last) {
  mw_type type;
  int end = mw_words_end(in, i + 1, last, &type);
  if (end == i + 1) return mw_unknown_add(in, i, last);
  end = mw_signs_end(in->tokens, end, last, &type);
  const bool made = end < last && mw_token_any(mw_at(in, end), WORDS("[", "(", "{"));
  const int list = made ? list_read(in, end) : 0;
  type.levels++;
  const int one = expr_add(in, MW_EXPR_NEW, i, made ? mw_at(in, end)->match + 1 : end, end, type);
  in->exprs[one].a = list;
  return one;
}

static int primary_read(mw_body *in, int i, int last) {
  mw_type type;
  const mw_token *token = mw_at(in, i);
  if (i >= last) return mw_unknown_add(in, i, last);
  if (is_variable(in, i)) return name_read(in, i, last);
  if (token->kind == MW_TOKEN_NUMBER || token->kind == MW_TOKEN_STRING) return literal_read(in, i);
  const int lambda = lambda_read(in, i, last);
  if (lambda) return lambda;
  if (mw_token_is(token, "(")) return brackets_read(in, i);
  if (mw_token_is(token, "{")) return mw_construction_read(in, i, i, not_known);
  if (in->names.host && mw_token_is(token, "new")) return new_read(in, i, last);
  if (mw_token_any(token, WORDS("sizeof", "alignof", "noexcept"))) return sizeof_read(in, i, last);
  if (mw_token_any(token, WORDS("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast")))
    return named_cast_read(in, i, last);
  if (mw_token_any(token, WORDS("true", "false", "nullptr")))
    return expr_add(in, MW_EXPR_NUMBER, i, i + 1, i, mw_token_is(token, "nullptr") ? text : scalar);
  if ((token->kind != MW_TOKEN_NAME && !mw_token_is(token, "::")) || mw_token_any(token, not_names))
    return mw_unknown_add(in, i, last);
  const int end = mw_words_end(in, i, last, &type);
  if (end > i && end < last && mw_token_any(mw_at(in, end), WORDS("(", "{")))
    return mw_construction_read(in, i, end, type);
  const int name = name_read(in, i, last), after = end_of(in, name);
  const bool made = after < last && mw_is(in, after, "{") && in->exprs[name].kind == MW_EXPR_NAME;
  return made ? mw_construction_read(in, i, after, of_class) : name; /* cg::plus<int>{} */
}

/* ---- operators ------------------------------------------------------------------------------------------------- */

/* Of *p, p[i] or p->x: what p points to; not known where p is no pointer. */
static mw_type pointed(mw_type type) {
  if (type.levels == 0) return not_known;
  type.levels--;
  type.arrays -= type.arrays > 0;
  type.reference = false;
  return type;
}

/* Of a member: a vector's are scalars, and as volatile as their object. */
static mw_type member_of(mw_type type) {
  mw_type member = type.levels == 0 && type.class == MW_TYPE_VECTOR ? scalar : not_known;
  if (type.levels == 0) member.volatiles = type.volatiles;
  return member;
}

static int index_read(mw_body *in, int object, int i) {
  const int close = mw_at(in, i)->match, index = comma_read(in, i + 1, close), first = in->exprs[object].first;
  if (end_of(in, index) != close) return mw_unknown_add(in, first, close + 1);
  return operation_add(in, MW_EXPR_INDEX, object, index, close + 1, i, pointed(in->exprs[object].type));
}

static int call_read(mw_body *in, int callee, int i) {
  const int list = list_read(in, i);
  const mw_expr *it = &in->exprs[callee];
  const bool builtin = it->kind == MW_EXPR_NAME && it->binding == MW_NAME_BUILTIN;
  const mw_type type = !builtin ? not_known : mw_is(in, it->op, "__ldg") ? pointed(in->exprs[list].type) : it->type;
  return operation_add(in, MW_EXPR_CALL, callee, list, mw_at(in, i)->match + 1, i, type);
}

/* k<<<grid, block>>> */
static int launch_read(mw_body *in, int callee, int i, int last) {
  const int close = mw_launch_end(in->tokens, i, last);
  if (close == last) return mw_unknown_add(in, in->exprs[callee].first, last);
  return operation_add(in, MW_EXPR_LAUNCH, callee, items_read(in, i + 1, close), close + 3, i, not_known);
}

/* p.x, p->x, t.template f<4> */
static int member_read(mw_body *in, int object, int i, int last) {
  const bool template = mw_is(in, i + 1, "template"), arrow = mw_is(in, i, "->");
  const int name = i + 1 + template, first = in->exprs[object].first;
  if (name >= last || mw_at(in, name)->kind != MW_TOKEN_NAME) return mw_unknown_add(in, first, last);
  const mw_type type = in->exprs[object].type;
  return operation_add(in, arrow ? MW_EXPR_ARROW : MW_EXPR_MEMBER, object, 0,
                       template ? angles_end(in, name + 1, last) : name + 1, name,
                       member_of(arrow ? pointed(type) : type));
}

static int postfix_read(mw_body *in, int i, int last) {
  int one = primary_read(in, i, last);
  for (;;) {
    i = end_of(in, one);
    if (i >= last || in->exprs[one].kind == MW_EXPR_UNKNOWN) return one;
    if (mw_is(in, i, "["))
      one = index_read(in, one, i);
    else if (mw_is(in, i, "("))
      one = call_read(in, one, i);
    else if (in->names.host && mw_is(in, i, "<<<"))
      one = launch_read(in, one, i, last);
    else if (mw_token_any(mw_at(in, i), WORDS(".", "->")))
      one = member_read(in, one, i, last);
    else if (mw_token_any(mw_at(in, i), WORDS("++", "--")))
      one = operation_add(in, MW_EXPR_POSTFIX, one, 0, i + 1, i, mw_type_value(in->exprs[one].type));
    else if (mw_token_any(mw_at(in, i), WORDS(".*", "->*")))
      return mw_unknown_add(in, in->exprs[one].first, last);
    else
      return one;
  }
}

/* ( T ) x: past the ), or 0. Of a name that nobody knows only (T *), or (T) before a name, a number or a &, is one:
 * if it is none, x & y at most seems to be more than it is. */
static int cast_end(const mw_body *in, int i, int last, mw_type *type) {
  if (!mw_is(in, i, "(") || mw_at(in, i)->match + 1 >= last) return 0;
  const int close = mw_at(in, i)->match;
  int name, end = mw_words_end(in, i + 1, close, type);
  if (end > i + 1) return mw_signs_end(in->tokens, end, close, type) == close ? close + 1 : 0;
  if (mw_at(in, i + 1)->kind != MW_TOKEN_NAME) return 0;
  end = qualified_end(in, i + 1, close, &name);
  end = angles_end(in, end, close);
  *type = of_class;
  const mw_meaning it = visible_meaning(in, name);
  const bool open = name > i + 1 || it.binding == MW_NAME_UNKNOWN || it.type.class == MW_TYPE_CLASS;
  const mw_token *next = mw_at(in, close + 1);
  const bool operand = next->kind == MW_TOKEN_NAME || next->kind == MW_TOKEN_NUMBER || mw_token_is(next, "&");
  return open && mw_signs_end(in->tokens, end, close, type) == close && (type->levels || operand) ? close + 1 : 0;
}

static mw_type address_of(mw_type type) {
  if (type.class == MW_TYPE_CLASS && !type.levels) return not_known; /* it may have an operator & */
  type.levels++;
  type.arrays = 0;
  return mw_type_value(type);
}

static mw_type unary_type(const mw_body *in, int op, mw_type type) {
  if (mw_is(in, op, "*")) return pointed(type);
  if (mw_is(in, op, "&")) return address_of(type);
  if (mw_is(in, op, "!")) return mw_type_is_plain(type) ? scalar : not_known;
  return mw_type_is_plain(type) ? mw_type_value(type) : not_known;
}

static int unary_read(mw_body *in, int i, int last) {
  mw_type type;
  int one;
  if (i >= last || in->depth > MW_MOST_DEPTH) return mw_unknown_add(in, i, last);
  in->depth++;
  const int cast = cast_end(in, i, last, &type);
  if (cast && mw_is(in, cast, "{")) {
    one = mw_construction_read(in, i, cast, type);
  } else if (cast || mw_token_any(mw_at(in, i), WORDS("!", "~", "-", "+", "*", "&", "++", "--"))) {
    const int inner = unary_read(in, cast ? cast : i + 1, last);
    if (!cast) type = unary_type(in, i, in->exprs[inner].type);
    one = expr_add(in, cast ? MW_EXPR_CAST : MW_EXPR_UNARY, i, end_of(in, inner), i, type);
    in->exprs[one].a = inner;
  } else
    one = postfix_read(in, i, last);
  in->depth--;
  return one;
}

static const char *const *const levels[] = {WORDS("||"),
                                            WORDS("&&"),
                                            WORDS("|"),
                                            WORDS("^"),
                                            WORDS("&"),
                                            WORDS("==", "!="),
                                            WORDS("<", ">", "<=", ">="),
                                            WORDS("<<"),
                                            WORDS("+", "-"),
                                            WORDS("*", "/", "%")};

/* How tightly the operator at i binds; 0 if none. The lexer leaves > > apart. */
static int precedence(const mw_body *in, int i, int *size) {
  *size = 1 + (mw_is(in, i, ">") && mw_is(in, i + 1, ">") && !mw_at(in, i + 1)->space);
  if (mw_at(in, i)->kind != MW_TOKEN_PUNCT) return 0;
  if (*size == 2) return 8;
  int level = sizeof levels / sizeof *levels;
  while (level && !mw_token_any(mw_at(in, i), levels[level - 1])) level--;
  return level;
}

/* What the language makes of two operands: of a pointer and a number a pointer. */
static mw_type both(mw_type a, mw_type b) {
  mw_type type = mw_type_value(b.levels ? b : a);
  type.wide = a.wide && b.wide;
  return type;
}

static mw_type binary_type(const mw_body *in, int op, mw_type a, mw_type b) {
  if (!mw_type_is_plain(a) || !mw_type_is_plain(b)) return not_known;
  if ((a.levels && b.levels) || mw_token_any(mw_at(in, op), WORDS("<", ">", "<=", ">=", "==", "!=", "&&", "||")))
    return scalar;
  return both(a, b);
}

static int binary_read(mw_body *in, int i, int last, int least) {
  int left = unary_read(in, i, last), size;
  while (end_of(in, left) < last && in->exprs[left].kind != MW_EXPR_UNKNOWN) {
    const int op = end_of(in, left), level = precedence(in, op, &size);
    if (!level || level < least) break;
    const int right = binary_read(in, op + size, last, level + 1);
    const mw_type type = binary_type(in, op, in->exprs[left].type, in->exprs[right].type);
    left = operation_add(in, MW_EXPR_BINARY, left, right, end_of(in, right), op, type);
  }
  return left;
}

static mw_type common(mw_type a, mw_type b) {
  if (mw_type_is_plain(a) && mw_type_is_plain(b)) return both(b, a);
  return a.class == b.class && a.levels == b.levels ? mw_type_value(a) : not_known;
}

/* At the ? after the condition. */
static int conditional_read(mw_body *in, int test, int i, int last) {
  const int yes = comma_read(in, i + 1, last), colon = end_of(in, yes);
  if (colon + 1 >= last || !mw_is(in, colon, ":")) return mw_unknown_add(in, in->exprs[test].first, last);
  const int no = mw_assignment_read(in, colon + 1, last);
  const mw_type type = common(in->exprs[yes].type, in->exprs[no].type);
  const int one = operation_add(in, MW_EXPR_CONDITIONAL, test, yes, end_of(in, no), i, type);
  in->exprs[one].c = no;
  return one;
}

int mw_assignment_read(mw_body *in, int i, int last) {
  int one = in->depth > MW_MOST_DEPTH ? mw_unknown_add(in, i, last) : binary_read(in, i, last, 1);
  const int op = end_of(in, one);
  if (op >= last || mw_at(in, op)->kind != MW_TOKEN_PUNCT || in->exprs[one].kind == MW_EXPR_UNKNOWN) return one;
  in->depth++;
  if (mw_is(in, op, "?")) {
    one = conditional_read(in, one, op, last);
  } else if (mw_token_any(mw_at(in, op), WORDS("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))) {
    const int right = mw_assignment_read(in, op + 1, last);
    one = operation_add(in, MW_EXPR_ASSIGN, one, right, end_of(in, right), op, mw_type_value(in->exprs[one].type));
  }
  in->depth--;
  return one;
}

static int comma_read(mw_body *in, int i, int last) {
  int one = mw_assignment_read(in, i, last);
  while (end_of(in, one) < last && mw_is(in, end_of(in, one), ",")) {
    const int op = end_of(in, one), right = mw_assignment_read(in, op + 1, last);
    one = operation_add(in, MW_EXPR_BINARY, one, right, end_of(in, right), op, in->exprs[right].type);
  }
  return one;
}

int mw_expr_read(mw_body *in, int first, int last) {
  if (first >= last) return 0;
  const int one = comma_read(in, first, last);
  return end_of(in, one) == last ? one : mw_unknown_add(in, first, last);
}
