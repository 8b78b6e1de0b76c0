/* SPDX-License-Identifier: MIT
 *
 * What the words of a type say. Known are scalar types, enumerations and CUDA's vectors, the last two while the
 * program's
 * text has no `operator`, pointers to anything, and other names of such types:
 *
 *   const unsigned int     typedef float real; real     float4 *     known
 *   T of template <class T>                                          asked: the compiler can tell
 *   struct Tile { ... }; Tile     typename T::type     auto          unknown
 *
 * The constructors, conversions and operators of a known type are the language's own. */
#include <string.h>

#include "core/backend/cpu/program/program.h"
#include "core/source/types.h"

static const char *const *const language =
    WORDS("const", "constexpr", "volatile", "register", "static", "extern", "inline", "__inline__", "__restrict__",
          "__restrict", "__device__", "__constant__", "__managed__", "__shared__", "void", "bool", "char", "short",
          "int", "long", "float", "double", "signed", "unsigned");
static const char *const *const qualifiers =
    WORDS("static", "extern", "inline", "__device__", "__constant__", "__managed__", "__shared__");

/* ---- the program's names --------------------------------------------------------------------------------------- */

static void named_add(cpu_named_list *list, int name, int first, int last, bool far) {
  list->at = mw_realloc(list->at, (size_t)(list->count + 1) * sizeof *list->at);
  list->at[list->count++] = (cpu_named){name, first, last, far};
}

/* Of an enumeration that begins at i: what its braces hold. */
static void enumerators_add(cpu_program *program, int i) {
  const cpu_token *at = program->tokens.at;
  const int open = cpu_find(&program->tokens, i, program->tokens.count, WORDS("{", ";", ")"));
  if (!cpu_token_is(&at[open], "{")) return;
  for (int k = open + 1; k < at[open].match; k++)
    if (at[k].kind == CPU_NAME && cpu_token_any(&at[k - 1], WORDS("{", ",")))
      named_add(&program->globals, k, i, i + 1, false);
}

/* At `using`, `typedef`, `struct`, `enum` and the like: the name that it gives a type. */
static void type_add(cpu_program *program, int i) {
  const cpu_token *at = program->tokens.at;
  const bool class = cpu_token_any(&at[i], WORDS("struct", "class", "union", "enum"));
  const int name = i + 1 + (cpu_token_is(&at[i], "enum") && cpu_token_any(&at[i + 1], WORDS("class", "struct")));
  const int end = cpu_find_open(&program->tokens, i, program->tokens.count, WORDS(";"));
  if (cpu_token_is(&at[i], "using") && cpu_token_is(&at[i + 2], "="))
    named_add(&program->aliases, i + 1, i + 3, end, false);
  else if (cpu_token_is(&at[i], "typedef") && at[end - 1].kind == CPU_NAME)
    named_add(&program->aliases, end - 1, i + 1, end - 1, false);
  else if (class && cpu_token_any(&at[name + 1], WORDS("{", ":", ";", "final")))
    named_add(&program->aliases, name, i, i + 1, false);
  if (cpu_token_is(&at[i], "enum")) enumerators_add(program, i);
}

static void globals_add(cpu_program *program, const cpu_item *item) {
  const cpu_tokens *tokens = &program->tokens;
  int first = item->first;
  while (first < item->last && cpu_token_any(&tokens->at[first], qualifiers)) first++;
  const cpu_declarators list = cpu_declarators_read(tokens, first, item->last - 1);
  for (const cpu_declarator *it = list.at; it < list.at + list.count; it++) {
    const bool far = it->dims_last > it->dims || cpu_has(tokens, it->first, it->name, "*");
    const bool reference = cpu_find(tokens, it->first, it->name, WORDS("&", "&&")) < it->name;
    named_add(&program->globals, it->name, it->spec, reference ? it->spec : it->spec_last, far);
  }
}

/* using namespace of what is not of this program's own reading. */
static bool opens_namespace(const cpu_tokens *tokens) {
  for (int i = 0; i + 2 < tokens->count; i++)
    if (cpu_token_is(&tokens->at[i], "using") && cpu_token_is(&tokens->at[i + 1], "namespace") &&
        !cpu_token_any(&tokens->at[i + 2], WORDS("cooperative_groups", "nvcuda")))
      return true;
  return false;
}

void cpu_names_read(cpu_program *program) {
  program->opens = opens_namespace(&program->tokens);
  program->operators = cpu_has(&program->tokens, 0, program->tokens.count, "operator");
  for (int i = 0; i + 2 < program->tokens.count; i++)
    if (cpu_token_any(&program->tokens.at[i], WORDS("using", "typedef", "struct", "class", "union", "enum")))
      type_add(program, i);
  for (int i = 0; i < program->nitems; i++)
    if (program->items[i].kind != CPU_ITEM_FUNCTION && program->items[i].kind != CPU_ITEM_HOST)
      globals_add(program, &program->items[i]);
}

const cpu_named *cpu_global_find(const cpu_program *program, const cpu_token *name) {
  const cpu_named *found = NULL;
  for (int i = 0; i < program->globals.count; i++) {
    const cpu_named *it = &program->globals.at[i];
    if (!cpu_same_text(&program->tokens.at[it->name], name)) continue;
    const bool constant = cpu_token_is(&program->tokens.at[it->first], "enum");
    if (found && !(constant && cpu_token_is(&program->tokens.at[found->first], "enum"))) return NULL;
    found = it;
  }
  return found;
}

bool cpu_is_plain_number(const cpu_token *token) {
  const int hexadecimal = token->size > 2 && (token->text[1] == 'x' || token->text[1] == 'X');
  int i = hexadecimal ? 2 : 0;
  while (i < token->size && strchr(hexadecimal ? "0123456789abcdefABCDEF.'pP+-" : "0123456789.'eE+-", token->text[i]))
    i++;
  while (i < token->size && strchr("uUlLfF", token->text[i])) i++;
  return i == token->size;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static bool is_type_parameter(const cpu_program *program, const cpu_function *function, const cpu_token *word) {
  for (int i = function ? function->head_first + 1 : 0;
       function && (i = cpu_find_same(&program->tokens, i, function->head_last, word)) < function->head_last; i++)
    if (cpu_token_any(&program->tokens.at[i - 1], WORDS("class", "typename"))) return true;
  return false;
}

/* Names that end so are made by split/helper.c of a helper's own, and of its template parameters. */
bool cpu_is_renamed(const cpu_token *word) {
  const char *at = memmem(word->text, (size_t)word->size, "_mw", 3);
  return at && at + 3 < word->text + word->size && at[3] >= '0' && at[3] <= '9';
}

/* A type that CUDA has without the program. Vectors and half types are classes, which the program's operators may
 * take. */
static cpu_knowledge builtin_knows(const cpu_program *program, const cpu_token *word) {
  mw_param param = {0};
  char name[32];
  if (word->size >= (int)sizeof name) return CPU_UNKNOWN;
  memcpy(name, word->text, (size_t)word->size);
  name[word->size] = 0;
  if (!mw_type_by_name(name, &param)) return CPU_UNKNOWN;
  const bool half = param.dtype == MW_F16 || param.dtype == MW_BF16;
  const bool vector = param.lanes > 1 || cpu_token_is(word, "dim3") || name[word->size - 1] == '1';
  if ((half || vector) && program->operators) return CPU_UNKNOWN;
  return vector ? CPU_KNOWN : CPU_SCALAR;
}

static cpu_knowledge least(cpu_knowledge a, cpu_knowledge b) {
  return a < b ? a : b;
}

static cpu_knowledge type_knows(const cpu_program *, const cpu_function *, const cpu_tokens *, cpu_range, int depth);

static cpu_knowledge word_knows(const cpu_program *program, const cpu_function *function, const cpu_token *word,
                                int depth) {
  enum { MOST_DEPTH = 8 };
  cpu_knowledge all = CPU_SCALAR;
  bool own = false;
  if (cpu_token_any(word, language)) return CPU_SCALAR;
  if (cpu_token_is(word, "enum")) return program->operators ? CPU_UNKNOWN : CPU_SCALAR;
  for (int k = -1; (k = cpu_function_next(program, word, k)) >= 0;) /* a class; enumerations are among the aliases */
    if (!cpu_token_is(&program->tokens.at[program->functions[k].first], "enum")) return CPU_UNKNOWN;
  if (depth > MOST_DEPTH) return CPU_UNKNOWN;
  if (is_type_parameter(program, function, word) || cpu_is_renamed(word))
    return function && function->strict ? CPU_UNKNOWN : CPU_ASKED;
  for (int i = 0; i < program->aliases.count; i++) { /* each meaning that the name has somewhere */
    const cpu_named *it = &program->aliases.at[i];
    if (!cpu_same_text(&program->tokens.at[it->name], word)) continue;
    own = true;
    all = least(all, type_knows(program, function, &program->tokens, (cpu_range){it->first, it->last}, depth + 1));
  }
  return own ? all : builtin_knows(program, word);
}

static cpu_knowledge type_knows(const cpu_program *program, const cpu_function *function, const cpu_tokens *tokens,
                                cpu_range type, int depth) {
  cpu_knowledge all = type.first < type.last ? CPU_SCALAR : CPU_UNKNOWN;
  for (int i = type.first; i < type.last && all; i++) {
    const cpu_token *token = &tokens->at[i];
    if (cpu_token_any(token, WORDS("alignas", "__align__")) || cpu_token_is(token, "["))
      i = token[token->kind == CPU_NAME].match;
    else if (cpu_token_is(token, "std") && cpu_token_is(token + 1, "::"))
      i++;
    else if (token->kind == CPU_NAME)
      all = least(all, word_knows(program, function, token, depth));
    else if (!cpu_token_any(token, WORDS("*", "&")))
      all = CPU_UNKNOWN;
  }
  return all;
}

cpu_knowledge cpu_type_knows(const cpu_program *program, const cpu_function *function, const cpu_tokens *tokens,
                             int first, int last) {
  return type_knows(program, function, tokens, (cpu_range){first, last}, 0);
}
