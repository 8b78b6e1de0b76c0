/* SPDX-License-Identifier: MIT
 *
 * The words of a program's text, each once: where and how they stand, and what a body means by one that it does not
 * declare itself:
 *
 *   __constant__ float c[4];   enum { TILE = 8 };   __device__ int up(int n);   template <class T> ... k(T *x, int n)
 *   c: a variable, scalars     TILE: a constant     up: functions               x, n: parameters; T: a type
 *
 * A word with several meanings has none. Needed by every question about a name.
 *
 * The words of a type: known are scalar types, enumerations and CUDA's vectors, the last two while the program's text has
 * no `operator`, pointers to anything, and other names of such types. Their constructors, conversions and operators are
 * the language's own.
 *
 *   const unsigned int     typedef float real; real     float4 *     known
 *   T of template <class T>                                          asked: the compiler can tell
 *   struct Tile { ... }; Tile     typename T::type     auto          unknown */
#include <string.h>

#include "core/backend/cpu/program/program.h"
#include "core/source/types.h"

/* ---- the words ------------------------------------------------------------------------------------------------- */

cpu_name *cpu_name_find(const cpu_program *program, const mw_token *word) {
  const cpu_names *names = &program->names;
  int i = word->kind == MW_TOKEN_NAME ? names->first[mw_hash(word) % CPU_BUCKETS] : 0;
  while (i && !mw_same_text(&program->tokens.at[names->at[i - 1].token], word)) i = names->at[i - 1].next;
  return i ? &names->at[i - 1] : NULL;
}

bool cpu_has_word(const cpu_program *program, const char *word) {
  const mw_token token = {.kind = MW_TOKEN_NAME, .text = word, .size = (int)strlen(word)};
  return cpu_name_find(program, &token) != NULL;
}

static cpu_name *name_add(cpu_program *program, int token) {
  cpu_names *names = &program->names;
  int *first = &names->first[mw_hash(&program->tokens.at[token]) % CPU_BUCKETS];
  if (names->count % 64 == 0) names->at = mw_realloc(names->at, (size_t)(names->count + 64) * sizeof *names->at);
  names->at[names->count++] = (cpu_name){.token = token, .next = *first, .global = -1, .alias = -1};
  *first = names->count;
  return &names->at[names->count - 1];
}

/* call<me>(x): who calls it finds it by the name (callgraph.c). */
static bool is_call_argument(const mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  if (!mw_token_any(&at[i - 1], WORDS("<", ",")) || !mw_token_any(&at[i + 1], WORDS(">", ","))) return false;
  const int end = mw_find(tokens, i, tokens->count, WORDS(">", ";", "{", "("));
  return mw_token_is(&at[end], ">") && mw_token_is(&at[end + 1], "(");
}

/* int &up(S, int &n) { return ++n; }, perhaps a friend of S in its class, where a call finds it by its arguments; and
 * int (&up(S, int &n))[4] { ... } */
static bool is_defined(const mw_tokens *tokens, int i) {
  const bool head = mw_token_any(&tokens->at[i], WORDS("if", "for", "while", "switch", "constexpr"));
  const int open = head ? -1 : mw_call_open(tokens, i);
  const mw_token *after = open < 0 ? NULL : &tokens->at[tokens->at[open].match + 1];
  if (!after) return false;
  const bool inner = mw_token_is(after, ")") && i > 0 && mw_token_any(&tokens->at[i - 1], WORDS("*", "&", "&&"));
  return mw_token_is(after, "{") || after->kind == MW_TOKEN_NAME || /* noexcept, requires, throw(), an attribute */
         (inner && mw_token_any(after + 1, WORDS("[", "(")));
}

static void word_read(cpu_program *program, int i) {
  const mw_token *at = &program->tokens.at[i], *before = at - 1;
  cpu_name *it = cpu_name_find(program, at);
  if (!it) it = name_add(program, i);
  if (mw_call_open(&program->tokens, i) < 0) {
    it->bare = true;
    it->taken |= i > 0 && !is_call_argument(&program->tokens, i);
  }
  it->typed |= is_defined(&program->tokens, i) || (i > 0 && before->kind == MW_TOKEN_NAME && mw_ends_operand(before) &&
                                                   !mw_token_any(before, WORDS("do", "sizeof")));
}

static void methods_read(cpu_program *program, const cpu_function *class) {
  for (int i = 0; (i = cpu_method_next(program, class, i));)
    cpu_name_find(program, &program->tokens.at[i])->method = true;
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static const char *const *const qualifiers =
    WORDS("static", "extern", "inline", "__device__", "__constant__", "__managed__", "__shared__");

static void named_add(cpu_named_list *list, int name, int first, int last, bool far) {
  list->at = mw_realloc(list->at, (size_t)(list->count + 1) * sizeof *list->at);
  list->at[list->count++] = (cpu_named){name, first, last, far, -1};
}

/* At a word such as struct: the name, and what an enumeration holds. */
static void class_add(cpu_program *program, int i) {
  const mw_tokens *tokens = &program->tokens;
  int end;
  const int name = mw_class_name(tokens, i, tokens->count, &end);
  const bool defined = tokens->at[end].match > end || mw_token_any(&tokens->at[end], WORDS(":", "final"));
  const int open = defined && mw_token_is(&tokens->at[i], "enum") ? mw_class_braces(tokens, i, tokens->count) : 0;
  if (name >= 0 && (defined || mw_token_is(&tokens->at[end], ";"))) named_add(&program->aliases, name, i, i + 1, false);
  for (int k = open; open && (k = mw_enumerator_next(tokens, open, k));)
    named_add(&program->globals, k, i, i + 1, false);
}

/* At `using` or `typedef`: the name that it gives a type. */
static void alias_add(cpu_program *program, int i) {
  const mw_token *at = program->tokens.at;
  const int end = mw_find_open(&program->tokens, i, program->tokens.count, WORDS(";"));
  if (mw_token_is(&at[i], "using") && mw_token_is(&at[i + 2], "="))
    named_add(&program->aliases, i + 1, i + 3, end, false);
  else if (mw_token_is(&at[i], "typedef") && at[end - 1].kind == MW_TOKEN_NAME)
    named_add(&program->aliases, end - 1, i + 1, end - 1, false);
}

/* int v(5); decltype(1) v = 5; int v __attribute__((aligned(8))) = 5;  What may be declared so is of a type that is not
 * known. */
static void unread_add(cpu_program *program, int first, int last) {
  const mw_token *at = program->tokens.at;
  for (int i = first; i < last; i++) {
    const bool declared = mw_token_any(&at[i + 1], WORDS("(", "=", ";", ",", "[")) || mw_is_attribute(&at[i + 1]);
    if (at[i].kind == MW_TOKEN_NAME && i > first && declared && !mw_is_attribute(&at[i]))
      named_add(&program->globals, i, first, first, false);
    if (mw_token_is(&at[i], "=")) i = mw_find_open(&program->tokens, i, last, WORDS(",", ";")) - 1;
    if (at[i].match > i) i = at[i].match;
  }
}

static void globals_add(cpu_program *program, const cpu_item *item) {
  const mw_tokens *tokens = &program->tokens;
  int first = item->first;
  while (first < item->last && mw_token_any(&tokens->at[first], qualifiers)) first++;
  if (mw_token_any(&tokens->at[first], WORDS("typedef", "using"))) return;
  mw_declared list[CPU_MOST_DECLARED];
  const int count = mw_declared_read(tokens, first, item->last - 1, NULL, list, CPU_MOST_DECLARED);
  if (!count) unread_add(program, first, item->last);
  for (const mw_declared *it = list; it < list + count; it++) {
    const bool far = it->dims_last > it->dims || mw_has(tokens, it->first, it->name, "*");
    const bool reference = mw_find(tokens, it->first, it->name, WORDS("&", "&&")) < it->name;
    named_add(&program->globals, it->name, it->spec, reference ? it->spec : it->spec_last, far);
  }
}

/* using namespace of what is not of this program's own reading. */
static bool opens_namespace(const mw_tokens *tokens) {
  for (int i = 0; i + 2 < tokens->count; i++)
    if (mw_token_is(&tokens->at[i], "using") && mw_token_is(&tokens->at[i + 1], "namespace") &&
        !mw_token_any(&tokens->at[i + 2], WORDS("cooperative_groups", "nvcuda")))
      return true;
  return false;
}

static void named_read(cpu_program *program) {
  program->opens = opens_namespace(&program->tokens);
  program->operators = mw_has(&program->tokens, 0, program->tokens.count, "operator");
  for (int i = 0; i + 2 < program->tokens.count; i++)
    if (mw_token_any(&program->tokens.at[i], WORDS("struct", "class", "union", "enum")))
      class_add(program, i);
    else if (mw_token_any(&program->tokens.at[i], WORDS("using", "typedef")))
      alias_add(program, i);
  for (int i = 0; i < program->nitems; i++)
    if (program->items[i].kind != CPU_ITEM_FUNCTION && program->items[i].kind != CPU_ITEM_HOST)
      globals_add(program, &program->items[i]);
}

void cpu_names_read(cpu_program *program) {
  program->routines = mw_calloc(1, sizeof *program->routines);
  for (int i = 0; i < program->tokens.count; i++)
    if (program->tokens.at[i].kind == MW_TOKEN_NAME) word_read(program, i);
  for (int i = 0; i < program->nfunctions; i++) methods_read(program, &program->functions[i]);
  named_read(program);
  for (int i = program->globals.count - 1; i >= 0; i--) {
    cpu_name *name = cpu_name_find(program, &program->tokens.at[program->globals.at[i].name]);
    program->globals.at[i].next = name->global;
    name->global = i;
  }
  for (int i = program->aliases.count - 1; i >= 0; i--) {
    cpu_name *name = cpu_name_find(program, &program->tokens.at[program->aliases.at[i].name]);
    program->aliases.at[i].next = name->alias;
    name->alias = i;
  }
}

/* The variable outside of functions, or an enumerator, of that name; NULL: none, or several variables. */
static const cpu_named *global_find(const cpu_program *program, const mw_token *name) {
  const cpu_name *word = cpu_name_find(program, name);
  const cpu_named *found = word && word->global >= 0 ? &program->globals.at[word->global] : NULL;
  for (int i = found ? found->next : -1; i >= 0; i = program->globals.at[i].next)
    if (!mw_token_is(&program->tokens.at[program->globals.at[i].first], "enum") ||
        !mw_token_is(&program->tokens.at[found->first], "enum"))
      return NULL;
  return found;
}

/* What is used in no other way than to be called is taken for the shim's. Those of its functions that take references
 * are members, or follow std::. */
bool cpu_is_declared(const cpu_program *program, const mw_token *name) {
  const cpu_name *word = cpu_name_find(program, name);
  return cpu_is_renamed(name) || (word && (word->typed || word->bare));
}

bool cpu_is_object(const cpu_program *program, const mw_token *name) {
  const cpu_name *word = cpu_name_find(program, name);
  return word && (word->bare || word->method);
}

/* ---- what they mean -------------------------------------------------------------------------------------------- */

static const mw_meaning nothing = {0};

static mw_meaning meaning_make(mw_binding binding, mw_type_class class) {
  return (mw_meaning){binding, {.class = class}};
}

static mw_type type_at(cpu_binder *in, int first, int last) {
  return mw_type_read(&in->program->tokens, first, last, &(mw_names){cpu_binder_meaning, in, false});
}

/* A parameter, or its argument where the kernel changes it: mw_a_n. */
static mw_meaning formal_meaning(cpu_binder *in, const mw_token *name) {
  const mw_token *at = in->program->tokens.at;
  const mw_formal *it = cpu_formal_find(in->program, in->function, name);
  if (it) {
    mw_meaning found = {MW_NAME_PARAMETER, type_at(in, it->first, it->name)};
    for (int k = it->name + 1; k < it->last && mw_token_is(&at[k], "["); k = at[k].match + 1) found.type.levels++;
    return found;
  }
  if (name->size < 6 || memcmp(name->text, "mw_a_", 5) != 0) return nothing;
  return formal_meaning(in, &(mw_token){.kind = MW_TOKEN_NAME, .text = name->text + 5, .size = name->size - 5});
}

mw_span cpu_template_words(const cpu_program *program, const cpu_function *function, const mw_token *name) {
  const mw_token *at = program->tokens.at;
  const int i = mw_find_same(&program->tokens, function->head_first + 1, function->head_last, name);
  int first = i;
  if (i >= function->head_last) return (mw_span){0};
  while (first > function->head_first && !mw_token_any(&at[first - 1], WORDS("<", ","))) first--;
  return (mw_span){first, i};
}

bool cpu_is_template_value(const cpu_program *program, const cpu_function *function, const mw_token *name) {
  const int last = cpu_template_words(program, function, name).last;
  return last && !mw_token_any(&program->tokens.at[last - 1], WORDS("typename", "class"));
}

/* T and N of template <class T, int N> */
static mw_meaning template_meaning(cpu_binder *in, const mw_token *name) {
  const mw_span words = cpu_template_words(in->program, in->function, name);
  if (!words.last || !mw_token_any(&in->program->tokens.at[words.last + 1], WORDS(",", ">", "="))) return nothing;
  if (!cpu_is_template_value(in->program, in->function, name)) return meaning_make(MW_NAME_TYPE, MW_TYPE_UNKNOWN);
  return (mw_meaning){MW_NAME_CONSTANT, type_at(in, words.first, words.last)};
}

static mw_type_class enumeration(const cpu_binder *in) {
  return in->program->operators ? MW_TYPE_CLASS : MW_TYPE_SCALAR;
}

static mw_meaning global_meaning(cpu_binder *in, const mw_token *name) {
  const mw_tokens *from = &in->program->tokens;
  const cpu_named *it = global_find(in->program, name);
  if (!it) return nothing;
  if (mw_token_is(&from->at[it->first], "enum")) return meaning_make(MW_NAME_CONSTANT, enumeration(in));
  mw_meaning found = {MW_NAME_VARIABLE, type_at(in, it->first, it->last)};
  int signs = it->name;
  while (mw_token_any(&from->at[signs - 1], WORDS("*", "const", "volatile", "__restrict__"))) signs--;
  mw_signs_end(from, signs, it->name, &found.type);
  for (int i = it->name + 1; mw_token_is(&from->at[i], "["); i = from->at[i].match + 1)
    found.type.levels++, found.type.arrays++;
  bool fixed = false; /* not by the const of Box<const int> */
  for (int i = it->first; i < it->last; i++) {
    if (mw_token_is(&from->at[i], "<")) i = mw_angle_end(from, i, it->last) - 1;
    fixed |= mw_token_any(&from->at[i], WORDS("const", "constexpr"));
  }
  if (fixed && !found.type.levels && !found.type.reference && found.type.class) found.binding = MW_NAME_CONSTANT;
  return found;
}

/* Another name of a type: what all its meanings have in common. */
static mw_meaning alias_meaning(cpu_binder *in, int first) {
  mw_meaning all = nothing;
  for (int i = first; i >= 0; i = in->program->aliases.at[i].next) {
    const cpu_named *it = &in->program->aliases.at[i];
    const bool listed = mw_token_is(&in->program->tokens.at[it->first], "enum");
    mw_type type = listed ? (mw_type){.class = enumeration(in)} : type_at(in, it->first, it->last);
    type.wide &= i == first || all.type.wide;
    const bool same = i == first || (type.class == all.type.class && type.levels == all.type.levels &&
                                     type.arrays == all.type.arrays && type.reference == all.type.reference);
    const unsigned char volatiles = all.type.volatiles | type.volatiles;
    all = same && type.class ? (mw_meaning){MW_NAME_TYPE, type} : meaning_make(MW_NAME_TYPE, MW_TYPE_CLASS);
    all.type.volatiles = volatiles;
  }
  return all;
}

static mw_meaning function_meaning(const cpu_binder *in, const mw_token *name) {
  mw_meaning found = nothing;
  for (int k = -1; (k = cpu_function_next(in->program, name, k)) >= 0;) {
    const cpu_function *it = &in->program->functions[k];
    if (!it->is_class) return meaning_make(MW_NAME_FUNCTIONS, MW_TYPE_UNKNOWN);
    if (!mw_token_is(&in->program->tokens.at[it->first], "enum")) found = meaning_make(MW_NAME_TYPE, MW_TYPE_CLASS);
  }
  return found;
}

/* CUDA's own, and moonwarp's. */
static mw_meaning builtin_meaning(const cpu_binder *in, const mw_token *token) {
  char name[32];
  mw_param param = {0};
  const bool variable = token->size > 4 && !memcmp(token->text, "mw_v", 4);
  if (cpu_is_renamed(token)) return meaning_make(MW_NAME_TYPE, MW_TYPE_UNKNOWN); /* of a helper's template */
  if (variable || mw_token_any(token, WORDS("warpSize", "mw_n"))) return meaning_make(MW_NAME_CONSTANT, MW_TYPE_SCALAR);
  if (mw_is_builtin(token, MW_CUDA_COORDINATE)) return meaning_make(MW_NAME_BUILTIN, MW_TYPE_VECTOR);
  if (mw_token_is(token, "mw_t")) return meaning_make(MW_NAME_BUILTIN, MW_TYPE_SCALAR);
  if (mw_token_is(token, "mw_first") || mw_is_builtin(token, MW_CUDA_PURE))
    return cpu_is_declared(in->program, token) ? nothing : meaning_make(MW_NAME_BUILTIN, MW_TYPE_UNKNOWN);
  if (token->size >= (int)sizeof name) return nothing;
  memcpy(name, token->text, (size_t)token->size);
  name[token->size] = 0;
  if (!mw_type_by_name(name, &param)) return nothing;
  const bool half = param.dtype == MW_F16 || param.dtype == MW_BF16;
  const bool vector = param.lanes > 1 || !strcmp(name, "dim3") || name[token->size - 1] == '1';
  mw_meaning found = meaning_make(MW_NAME_TYPE, MW_TYPE_SCALAR);
  if (vector || (half && in->program->operators)) found.type.class = MW_TYPE_VECTOR;
  found.type.half = half;
  found.type.wide = !vector && param.dtype <= MW_U64 && param.size >= 4 && !mw_dtype_is_float(param.dtype);
  return found;
}

/* Outside of functions. */
static mw_meaning outside_meaning(cpu_binder *in, const mw_token *token, cpu_name *name) {
  if (name->reads) return meaning_make(MW_NAME_TYPE, MW_TYPE_CLASS); /* typedef struct P P; */
  if (name->read) return name->meaning;
  cpu_binder outside = {in->program, NULL};
  name->reads = true;
  const mw_meaning global = global_meaning(&outside, token), function = function_meaning(in, token);
  const mw_meaning alias = function.binding == MW_NAME_TYPE ? function : alias_meaning(&outside, name->alias);
  const int meanings = (global.binding != 0) + (function.binding == MW_NAME_FUNCTIONS) + (alias.binding != 0);
  const bool several = meanings > 1 || (name->global >= 0 && !global.binding);
  const mw_meaning one = global.binding ? global : alias.binding ? alias : function;
  name->meaning = several       ? meaning_make(MW_NAME_UNKNOWN, MW_TYPE_CLASS)
                  : one.binding ? one
                                : builtin_meaning(in, token);
  name->reads = false, name->read = true;
  return name->meaning;
}

mw_meaning cpu_binder_meaning(void *with, const mw_token *token) {
  cpu_binder *in = with;
  cpu_name *name = cpu_name_find(in->program, token);
  mw_meaning found = in->function ? formal_meaning(in, token) : nothing;
  if (!found.binding && in->function) found = template_meaning(in, token);
  if (found.binding) return found;
  return name ? outside_meaning(in, token, name) : builtin_meaning(in, token);
}

mw_body *cpu_function_tree(const cpu_program *program, const cpu_function *function) {
  cpu_function *own = &program->functions[function - program->functions];
  cpu_binder binder = {program, function};
  if (!own->tree) {
    own->tree = mw_calloc(1, sizeof *own->tree);
    mw_body_read(own->tree, &program->tokens, own->body + 1, own->last - 1,
                 &(mw_names){cpu_binder_meaning, &binder, false}, NULL);
  }
  own->tree->tokens = &program->tokens; /* which may have moved with the program */
  return own->tree;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

/* Names that end so are made by split/helper.c of a helper's own, and of its template parameters. */
bool cpu_is_renamed(const mw_token *word) {
  const char *at = memmem(word->text, (size_t)word->size, "_mw", 3);
  return at && at + 3 < word->text + word->size && at[3] >= '0' && at[3] <= '9';
}

/* Is the word at token i a parameter of a template around it? */
static bool is_of_template(const mw_tokens *tokens, int i) {
  for (int at = i; at >= 0; at = mw_enclosing(tokens, 0, at)) {
    int k = mw_begin_after(tokens, 0, at, WORDS(";", "{", "}"));
    while ((k = mw_find(tokens, k, at, WORDS("template"))) < at) {
      const int last = mw_angle_end(tokens, k + 1, at);
      if (mw_find_same(tokens, k + 2, last, &tokens->at[i]) < last) return true;
      k = last;
    }
  }
  return false;
}

cpu_knowledge cpu_type_knows(const cpu_program *program, const cpu_function *function, const mw_tokens *tokens,
                             int first, int last) {
  cpu_binder binder = {program, function};
  for (int i = first; !function && i < last; i++)
    if (tokens->at[i].kind == MW_TOKEN_NAME && is_of_template(tokens, i)) return CPU_UNKNOWN;
  if (mw_find(tokens, first, last, WORDS("auto", "typename", "decltype")) < last) return CPU_UNKNOWN;
  const mw_type type = mw_type_read(tokens, first, last, &(mw_names){cpu_binder_meaning, &binder, false});
  if (type.class == MW_TYPE_UNKNOWN) return function && !function->strict ? CPU_ASKED : CPU_UNKNOWN;
  if (type.class == MW_TYPE_VECTOR) return program->operators ? CPU_UNKNOWN : CPU_KNOWN;
  return type.class == MW_TYPE_SCALAR ? CPU_SCALAR : CPU_UNKNOWN;
}
