/* SPDX-License-Identifier: MIT
 *
 * What the words of a type say. Known are scalar types, enumerations and CUDA's vectors, the last two while the program's
 * text has no `operator`, pointers to anything, and other names of such types:
 *
 *   const unsigned int     typedef float real; real     float4 *     known
 *   T of template <class T>                                          asked: the compiler can tell
 *   struct Tile { ... }; Tile     typename T::type     auto          unknown
 *
 * The constructors, conversions and operators of a known type are the language's own. */
#include <string.h>

#include "core/backend/cpu/program/program.h"

static const char *const *const qualifiers =
    WORDS("static", "extern", "inline", "__device__", "__constant__", "__managed__", "__shared__");

/* ---- the program's names --------------------------------------------------------------------------------------- */

static void named_add(cpu_named_list *list, int name, int first, int last, bool far) {
  list->at = mw_realloc(list->at, (size_t)(list->count + 1) * sizeof *list->at);
  list->at[list->count++] = (cpu_named){name, first, last, far, -1};
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
  if (cpu_token_any(&tokens->at[first], WORDS("typedef", "using"))) return;
  const cpu_declarators list = cpu_declarators_read(tokens, first, item->last - 1);
  for (const cpu_declarator *it = list.at; it < list.at + list.count; it++) {
    const bool far = it->dims_last > it->dims || cpu_has(tokens, it->first, it->name, "*");
    const bool reference = cpu_find(tokens, it->first, it->name, WORDS("&", "&&")) < it->name;
    named_add(&program->globals, it->name, it->spec, reference ? it->spec : it->spec_last, far);
  }
}

void cpu_named_read(cpu_program *program) {
  program->operators = cpu_has(&program->tokens, 0, program->tokens.count, "operator");
  for (int i = 0; i + 2 < program->tokens.count; i++)
    if (cpu_token_any(&program->tokens.at[i], WORDS("using", "typedef", "struct", "class", "union", "enum")))
      type_add(program, i);
  for (int i = 0; i < program->nitems; i++)
    if (program->items[i].kind != CPU_ITEM_FUNCTION && program->items[i].kind != CPU_ITEM_HOST)
      globals_add(program, &program->items[i]);
}

const cpu_named *cpu_global_find(const cpu_program *program, const cpu_token *name) {
  const cpu_name *word = cpu_name_find(program, name);
  const cpu_named *found = word && word->global >= 0 ? &program->globals.at[word->global] : NULL;
  for (int i = found ? found->next : -1; i >= 0; i = program->globals.at[i].next)
    if (!cpu_token_is(&program->tokens.at[program->globals.at[i].first], "enum") ||
        !cpu_token_is(&program->tokens.at[found->first], "enum"))
      return NULL;
  return found;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

/* Names that end so are made by split/helper.c of a helper's own, and of its template parameters. */
bool cpu_is_renamed(const cpu_token *word) {
  const char *at = memmem(word->text, (size_t)word->size, "_mw", 3);
  return at && at + 3 < word->text + word->size && at[3] >= '0' && at[3] <= '9';
}

cpu_knowledge cpu_type_knows(const cpu_program *program, const cpu_function *function, const cpu_tokens *tokens,
                             int first, int last) {
  cpu_binder binder = {program, function};
  if (cpu_find(tokens, first, last, WORDS("auto", "typename", "decltype")) < last) return CPU_UNKNOWN;
  const mw_type type = mw_type_read(tokens, first, last, &(mw_names){cpu_binder_meaning, &binder});
  if (type.class == MW_TYPE_UNKNOWN) return function && !function->strict ? CPU_ASKED : CPU_UNKNOWN;
  if (type.class == MW_TYPE_VECTOR) return program->operators ? CPU_UNKNOWN : CPU_KNOWN;
  return type.class == MW_TYPE_SCALAR ? CPU_SCALAR : CPU_UNKNOWN;
}
