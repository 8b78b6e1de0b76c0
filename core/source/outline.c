/* SPDX-License-Identifier: MIT
 *
 * The declarations outside of functions, and the members of classes; see outline.h. */
#include "core/source/outline.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/source/declarator.h"

enum { BUCKETS = 4096 };

typedef struct walk {
  cpu_outline *out;
  const cpu_tokens *tokens;
  const cpu_token *at;
  int region;
} walk;

/* ---- names ----------------------------------------------------------------------------------------------------- */

int cpu_outline_next(const cpu_outline *outline, const cpu_token *name, int after) {
  int i = after < 0 ? outline->buckets[cpu_hash(name) % BUCKETS] : outline->names[after].next;
  while (i >= 0 && !cpu_same_text(&outline->tokens->at[outline->names[i].token], name)) i = outline->names[i].next;
  return i;
}

/* token becomes a name of the newest entry. */
static void name_add(walk *in, int token) {
  cpu_outline *out = in->out;
  int *first = &out->buckets[cpu_hash(&in->at[token]) % BUCKETS];
  out->names = mw_grow(out->names, (size_t)out->nnames, sizeof *out->names);
  out->names[out->nnames] = (cpu_entry_name){token, out->nentries - 1, *first};
  *first = out->nnames++;
}

static cpu_entry *entry_add(walk *in, cpu_worth worth, int first, int last) {
  cpu_outline *out = in->out;
  out->entries = mw_grow(out->entries, (size_t)out->nentries, sizeof *out->entries);
  cpu_entry *entry = &out->entries[out->nentries++];
  *entry = (cpu_entry){.worth = worth, .first = first, .last = last, .close = -1, .region = in->region, .what = ""};
  return entry;
}

/* enum side { LEFT = 1, RIGHT }: the names between the braces. */
static void enumerators_add(walk *in, int open) {
  const cpu_token *at = in->at;
  for (int i = open + 1; i < at[open].match; i++) {
    if (at[i].kind == CPU_NAME && cpu_token_any(&at[i - 1], WORDS("{", ","))) name_add(in, i);
    if (at[i].match > i) i = at[i].match;
  }
}

/* At struct, class, union or enum: the token of its name; -1: it has none. */
static int class_name(const walk *in, int i, int last) {
  const cpu_token *at = in->at;
  if (cpu_token_is(&at[i], "enum") && cpu_token_any(&at[i + 1], WORDS("class", "struct"))) i++;
  for (i++; i < last; i++) {
    if (cpu_token_is(&at[i], "[") || cpu_is_attribute(&at[i])) {
      if (at[i].kind == CPU_NAME && at[i + 1].match > i) i++;
      if (at[i].match > i) i = at[i].match;
    } else if (at[i].kind == CPU_NAME) {
      return i;
    } else {
      return -1;
    }
  }
  return -1;
}

/* The name of a class that the declaration defines, and enumerators. */
static void class_names_add(walk *in, int first, int last) {
  const int word = cpu_find(in->tokens, first, last, WORDS("struct", "class", "union", "enum"));
  const int braces = cpu_class_braces(in->tokens, first, last);
  if (word == last) return;
  const int name = class_name(in, word, last);
  if (name >= 0) name_add(in, name);
  if (braces && cpu_token_is(&in->at[word], "enum")) enumerators_add(in, braces);
}

static void variable_names_add(walk *in, int first, int last) {
  for (int i = -1; (i = cpu_variable_next(in->tokens, first, last, i)) >= 0;) name_add(in, i);
}

/* typedef int (*op)(int); has its name in the first parentheses. */
static void typedef_names_add(walk *in, int first, int last) {
  const cpu_token *at = in->at;
  class_names_add(in, first, last);
  variable_names_add(in, first, last);
  const int open = cpu_find(in->tokens, first, last, WORDS("("));
  for (int i = open + 1; open < last && i < at[open].match; i++)
    if (at[i].kind == CPU_NAME && i + 1 == at[open].match) name_add(in, i);
  if (open < last && cpu_token_is(&at[last - 2], ")") && at[at[last - 2].match - 1].kind == CPU_NAME)
    name_add(in, at[last - 2].match - 1);
}

/* The name of a function, and of the class whose member it is: f and A of A<T>::f. */
static void function_names_add(walk *in, const cpu_declaration *found) {
  const cpu_token *at = in->at;
  name_add(in, found->name);
  int i = found->name;
  if (i > found->begin && cpu_token_is(&at[i - 1], "~")) i--;
  while (i > found->begin + 1 && cpu_token_is(&at[i - 1], "::")) {
    int depth = 0;
    for (i -= 2; i > found->begin; i--) {
      depth += cpu_token_is(&at[i], ">") - cpu_token_is(&at[i], "<");
      if (!depth && at[i].kind == CPU_NAME) break;
    }
    if (at[i].kind == CPU_NAME) name_add(in, i);
  }
}

/* ---- classes --------------------------------------------------------------------------------------------------- */

static void fate_set(walk *in, int first, int last, int fate) {
  if (first < last) memset(in->out->fate + first, fate, (size_t)(last - first));
}

/* A constructor, a destructor, an operator or a virtual method counts for what the class is, so it stays declared; not
 * what allocates, which destructors would call. */
static bool is_special(const walk *in, const cpu_declaration *found, const cpu_token *class) {
  const cpu_token *name = &in->at[found->name];
  const bool allocates = cpu_token_any(name + 1, WORDS("new", "delete"));
  return (class && cpu_same_text(name, class)) || (cpu_token_is(name, "operator") && !allocates) ||
         cpu_has(in->tokens, found->begin, found->last, "virtual") ||
         cpu_find_open(in->tokens, found->close, found->last, WORDS("override")) < found->last;
}

/* A method of the host: gone, or only declared. An empty constructor stays, since device code may run it. */
static void method_strip(walk *in, const cpu_declaration *found, const cpu_token *class) {
  const int head = cpu_find_open(in->tokens, found->close + 1, found->last, WORDS(":", "{", ";"));
  if (cpu_token_is(&in->at[found->begin], "friend") || !is_special(in, found, class)) {
    fate_set(in, found->first, found->last, CPU_FATE_GONE);
  } else if (found->body >= 0 && in->at[found->body].match > found->body + 1) {
    fate_set(in, head, found->last, CPU_FATE_GONE);
    fate_set(in, head, head + 1, CPU_FATE_SEMICOLON);
  }
}

static void members_strip(walk *in, int open, const cpu_token *class) {
  const cpu_token *at = in->at;
  const int close = at[open].match;
  for (int i = open + 1; i < close;) {
    if (cpu_token_any(&at[i], WORDS("public", "private", "protected")) && cpu_token_is(&at[i + 1], ":")) {
      i += 2;
    } else if (cpu_token_is(&at[i], ";") || at[i].kind == CPU_PRAGMA || at[i].match >= 0) {
      i = at[i].match > i ? at[i].match + 1 : i + 1;
    } else {
      const cpu_declaration found = cpu_declaration_read(in->tokens, i, close);
      const int braces = found.is_class && found.open < 0 ? cpu_class_braces(in->tokens, found.begin, found.last) : 0;
      const int name =
          braces
              ? class_name(in, cpu_find(in->tokens, found.begin, found.last, WORDS("struct", "class", "union", "enum")),
                           found.last)
              : -1;
      if (found.open >= 0 && !found.is_device && !found.is_constexpr && !cpu_token_is(&at[found.begin], "typedef"))
        method_strip(in, &found, class);
      else if (braces && !cpu_has(in->tokens, found.begin, braces, "enum"))
        members_strip(in, braces, name < 0 ? NULL : &at[name]);
      i = found.last > i ? found.last : i + 1;
    }
  }
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static void function_entry(walk *in, const cpu_declaration *found) {
  const bool is_operator = cpu_token_is(&in->at[found->name], "operator");
  const bool device = found->is_device || found->is_constexpr;
  const cpu_worth worth = found->is_instance                            ? CPU_WORTH_INSTANCE
                          : found->is_kernel || (device && is_operator) ? CPU_WORTH_ROOT
                          : device                                      ? CPU_WORTH_DEVICE
                                                                        : CPU_WORTH_HOST;
  cpu_entry *entry = entry_add(in, worth, found->first, found->last);
  entry->is_kernel = found->is_kernel;
  entry->is_template = found->is_template;
  entry->what = "a function without __device__";
  function_names_add(in, found);
}

static void class_entry(walk *in, const cpu_declaration *found) {
  const int word = cpu_find(in->tokens, found->begin, found->last, WORDS("struct", "class", "union", "enum"));
  const int braces = cpu_class_braces(in->tokens, found->begin, found->last);
  const int name = class_name(in, word, found->last);
  entry_add(in, CPU_WORTH_DEVICE, found->first, found->last);
  class_names_add(in, found->begin, found->last);
  if (braces && !cpu_token_is(&in->at[word], "enum")) members_strip(in, braces, name < 0 ? NULL : &in->at[name]);
  if (braces) variable_names_add(in, found->begin, found->last);
}

static void using_entry(walk *in, const cpu_declaration *found) {
  const cpu_token *at = in->at;
  if (found->last - found->begin < 3) { /* the end of the text */
    entry_add(in, CPU_WORTH_HOST, found->first, found->last);
    return;
  }
  const bool is_namespace = cpu_token_is(&at[found->begin + 1], "namespace");
  const bool alias = cpu_token_is(&at[found->begin + 2], "=");
  const bool standard = cpu_token_is(&at[found->begin + 1], "std") && !alias;
  const cpu_worth worth = is_namespace ? CPU_WORTH_USING : standard ? CPU_WORTH_HOST : CPU_WORTH_DEVICE;
  entry_add(in, worth, found->first, found->last)->what = "a name of the standard library";
  if (!is_namespace && !standard) name_add(in, alias ? found->begin + 1 : found->last - 2);
}

/* const float half = 1.0f / two; */
static void constant_mark(walk *in, const cpu_declaration *found) {
  const int value = cpu_find(in->tokens, found->begin, found->last, WORDS("="));
  const int word = cpu_find(in->tokens, found->begin, value, WORDS("const"));
  const bool number = cpu_find(in->tokens, found->begin, value, WORDS("float", "double")) < value;
  const bool plain = cpu_find(in->tokens, found->begin, value, WORDS("*", "&", "[", "(", "<", "volatile")) == value;
  if (value < found->last && word < value && number && plain && !found->is_constexpr)
    fate_set(in, word, word + 1, CPU_FATE_CONST);
}

/* nvcc warns of __host__ in front of a variable and leaves it out; for NVRTC it is an error. */
static void variable_entry(walk *in, const cpu_declaration *found) {
  const int host = cpu_find(in->tokens, found->begin, found->last, WORDS("__host__"));
  if (host < found->last) fate_set(in, host, host + 1, CPU_FATE_GONE);
  const bool device = found->is_device || found->is_constant || found->is_managed || found->is_shared;
  const int type = found->begin + cpu_token_is(&in->at[found->begin], "static");
  const bool named = found->is_const || cpu_token_any(&in->at[type], WORDS("texture", "surface"));
  if (!device) constant_mark(in, found);
  const cpu_worth worth = device ? CPU_WORTH_ROOT : named ? CPU_WORTH_DEVICE : CPU_WORTH_HOST;
  entry_add(in, worth, found->first, found->last)->what =
      "a variable of the host, neither __device__, __constant__ nor const";
  variable_names_add(in, found->begin, found->last);
}

static void other_entry(walk *in, const cpu_declaration *found) {
  const cpu_token *word = &in->at[found->begin];
  const bool device = found->is_device || found->is_constant || found->is_managed || found->is_shared;
  if (cpu_token_is(word, "using")) {
    using_entry(in, found);
  } else if (cpu_token_is(word, "typedef")) {
    entry_add(in, CPU_WORTH_DEVICE, found->first, found->last);
    typedef_names_add(in, found->begin, found->last);
  } else if (cpu_token_is(word, "concept")) {
    entry_add(in, CPU_WORTH_DEVICE, found->first, found->last);
    name_add(in, found->begin + 1);
  } else if (cpu_token_is(word, "static_assert")) {
    entry_add(in, CPU_WORTH_HOST, found->first, found->last);
  } else if (found->is_class && !device &&
             (cpu_class_braces(in->tokens, found->begin, found->last) || found->last - found->begin < 4)) {
    class_entry(in, found);
  } else {
    variable_entry(in, found);
  }
}

/* ---- the walk -------------------------------------------------------------------------------------------------- */

static void scope_walk(walk *, int first, int last);

static int region_walk(walk *in, int i, int open) {
  const int outer = in->region, close = in->at[open].match;
  entry_add(in, CPU_WORTH_REGION, i, open + 1)->close = close;
  in->region = in->out->nentries - 1;
  scope_walk(in, open + 1, close);
  in->region = outer;
  return close + 1;
}

/* namespace a {, namespace a::b {, namespace a = b; */
static int namespace_walk(walk *in, int i, int last) {
  const int stop = cpu_find(in->tokens, i, last, WORDS("{", ";"));
  if (stop < last && cpu_token_is(&in->at[stop], "{") && in->at[stop].match > stop) return region_walk(in, i, stop);
  entry_add(in, CPU_WORTH_DEVICE, i, stop < last ? stop + 1 : last);
  if (i + 1 < last) name_add(in, i + 1);
  return stop < last ? stop + 1 : last;
}

static int step(walk *in, int i, int last) {
  const cpu_token *at = in->at;
  if (at[i].kind == CPU_CHUNK || at[i].kind == CPU_PRAGMA) {
    const bool error = at[i].kind == CPU_PRAGMA && memmem(at[i].text, (size_t)at[i].size, "error", 5);
    entry_add(in, error || at[i].kind == CPU_CHUNK ? CPU_WORTH_TEXT : CPU_WORTH_HOST, i, i + 1);
    return i + 1;
  }
  if (cpu_token_is(&at[i], ";") || at[i].match >= 0) return at[i].match > i ? at[i].match + 1 : i + 1;
  if (cpu_token_is(&at[i], "namespace") || (cpu_token_is(&at[i], "inline") && cpu_token_is(&at[i + 1], "namespace")))
    return namespace_walk(in, i, last);
  if (cpu_token_is(&at[i], "extern") && i + 2 < last && at[i + 1].kind == CPU_STRING && cpu_token_is(&at[i + 2], "{") &&
      at[i + 2].match > i)
    return region_walk(in, i, i + 2);
  const cpu_declaration found = cpu_declaration_read(in->tokens, i, last);
  if (found.open >= 0 && !cpu_token_is(&at[found.begin], "typedef"))
    function_entry(in, &found);
  else if (found.is_instance)
    entry_add(in, CPU_WORTH_HOST, found.first, found.last);
  else
    other_entry(in, &found);
  return found.last > i ? found.last : i + 1;
}

static void scope_walk(walk *in, int first, int last) {
  for (int i = first; i < last;) i = step(in, i, last);
}

void cpu_outline_read(const cpu_tokens *tokens, cpu_outline *out) {
  *out = (cpu_outline){.tokens = tokens};
  out->buckets = mw_malloc(BUCKETS * sizeof *out->buckets);
  for (int i = 0; i < BUCKETS; i++) out->buckets[i] = -1;
  out->fate = mw_calloc((size_t)tokens->count + 1, 1);
  walk in = {.out = out, .tokens = tokens, .at = tokens->at, .region = -1};
  scope_walk(&in, 0, tokens->count);
}

void cpu_outline_free(cpu_outline *outline) {
  mw_free(outline->entries);
  mw_free(outline->names);
  mw_free(outline->buckets);
  mw_free(outline->fate);
}
