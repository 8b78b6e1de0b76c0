/* SPDX-License-Identifier: MIT
 *
 * What is known of the names in an expression. Only what is known is computed once for all threads, or again in each
 * region:
 *
 *   m = n / 2;   for (k = 0; k < TILE; k++)     int n and constexpr int TILE: by the words of their declarations
 *   m = p.n;     T m = s * 2;   S::size         asked of the compiler: static_assert(mw_knows<decltype((p.n))>)
 *   Index i;     op(3)   c[3] of a class   x    of which no declaration is found: each thread computes it
 *
 * An operand whose type has no operators, conversions or constructors of the program's computes what its text says.
 * So the
 * leaves of an expression are asked: names with the members and one subscript, -> or * of a pointer or an array behind
 * them. What goes further is unknown. */
#include <string.h>

#include "core/backend/cpu/split/split.h"
#include "core/base/interrupt.h"

typedef struct meaning { /* the declaration of a name */
  const cpu_tokens *tokens;
  int first, last; /* the words of its type; equal: none was found */
  bool far;        /* a pointer or an array */
  bool automatic, memory;
} meaning;

/* Nothing is found after an interrupt, so that the passes over a long kernel end soon; engine.c throws away their
 * result. */
int cpu_local_find(const cpu_splitter *in, int token) {
  int best = -1;
  if (atomic_load_explicit(&mw_interrupted, memory_order_relaxed)) return -1;
  if (in->work.at[token].kind != CPU_NAME || cpu_is_member(&in->work, token)) return -1;
  for (int i = 0; i < in->nlocals; i++) {
    const cpu_local *local = &in->locals[i];
    if (local->declarator.name <= token && token < local->until &&
        cpu_same_text(&in->work.at[local->declarator.name], &in->work.at[token]))
      if (best < 0 || local->declarator.name > in->locals[best].declarator.name) best = i;
  }
  return best;
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

/* Is the token the name, or mw_a_ and the name? */
static bool names_formal(const cpu_token *name, const cpu_token *token) {
  return cpu_same_text(name, token) || (token->size == name->size + 5 && !memcmp(token->text, "mw_a_", 5) &&
                                        !memcmp(token->text + 5, name->text, (size_t)name->size));
}

static meaning formal_meaning(const cpu_splitter *in, const cpu_token *token) {
  const cpu_tokens *from = &in->program->tokens;
  for (int i = 0; i < in->kernel->nformals; i++) {
    const cpu_formal *it = &in->kernel->formals[i];
    if (it->name >= 0 && names_formal(&from->at[it->name], token))
      return (meaning){from, it->first, it->name, it->far, false, false};
  }
  const int last = in->kernel->head_last; /* of template <int N> */
  for (int i = in->kernel->head_first; (i = cpu_find_same(from, i, last, token)) < last; i++) {
    int first = i;
    while (!cpu_token_any(&from->at[first - 1], WORDS("<", ","))) first--;
    if (first < i && cpu_token_any(&from->at[i + 1], WORDS(",", ">", "=")) &&
        !cpu_token_any(&from->at[i - 1], WORDS("typename", "class")))
      return (meaning){from, first, i, false, false, false};
  }
  return (meaning){0};
}

/* Shared memory, and that of a helper: mw_kept auto & part_mw3 = ... */
static meaning shared_meaning(const cpu_splitter *in, const cpu_node *node, const cpu_token *token) {
  const cpu_tokens *work = &in->work;
  if (cpu_token_is(&work->at[node->first], "mw_kept") && cpu_same_text(&work->at[node->first + 3], token))
    return (meaning){work, node->first + 1, node->first + 2, true, true, true};
  const int found = cpu_find_same(work, node->first, node->last, token);
  if (found == node->last || !cpu_has(work, node->first, found, "__shared__")) return (meaning){0};
  if (cpu_variable_find(work, node->first, node->last, token) != found) return (meaning){0};
  const int last = cpu_variable_next(work, node->first, node->last, -1); /* __shared__ float a[4], b[4] */
  return (meaning){work, node->first, last, cpu_token_is(&work->at[found + 1], "["), false, true};
}

/* *declared: the body may give the name another meaning. */
static meaning body_meaning(const cpu_splitter *in, const cpu_token *token, bool *declared) {
  for (int i = 0; i < in->nnodes; i++) {
    const cpu_node *node = &in->nodes[i];
    if (node->kind != CPU_NODE_TYPE) continue;
    const meaning shared = shared_meaning(in, node, token);
    if (shared.tokens) return shared;
    *declared |= cpu_token_any(&in->work.at[node->first], WORDS("static", "struct", "class", "union", "extern")) &&
                 cpu_find_same(&in->work, node->first, node->last, token) < node->last;
  }
  return (meaning){0};
}

static meaning global_meaning(const cpu_splitter *in, const cpu_token *token) {
  const cpu_tokens *from = &in->program->tokens;
  const cpu_named *it = cpu_global_find(in->program, token);
  if (!it) return (meaning){0};
  const bool fixed = cpu_find(from, it->first, it->last, WORDS("const", "constexpr", "enum")) < it->last;
  const bool automatic = cpu_has(from, it->first, it->last, "auto");
  return (meaning){from, it->first, it->last, it->far, automatic, !fixed || it->far || automatic};
}

static meaning meaning_of(const cpu_splitter *in, int i) {
  const cpu_token *token = &in->work.at[i];
  const int local = cpu_local_find(in, i);
  bool declared = false;
  if (atomic_load_explicit(&mw_interrupted, memory_order_relaxed)) return (meaning){0}; /* as cpu_local_find */
  if (local >= 0) {
    const cpu_local *it = &in->locals[local];
    const cpu_declarator *d = &it->declarator;
    return (meaning){&in->work, d->spec, d->spec_last, it->pointer || d->dims_last > d->dims, it->is_auto, false};
  }
  meaning found = formal_meaning(in, token);
  if (!found.tokens) found = body_meaning(in, token, &declared);
  return found.tokens || declared ? found : global_meaning(in, token);
}

/* ---- leaves ---------------------------------------------------------------------------------------------------- */

/* Past the members and subscripts that follow the name at i: a [ k ] . x   C < 3 > :: size */
int cpu_leaf_end(const cpu_tokens *tokens, int i) {
  const cpu_token *at = tokens->at;
  if (cpu_token_is(&at[i + 1], "<") && cpu_token_is(&at[cpu_angle_end(tokens, i + 1, tokens->count)], "::"))
    i = cpu_angle_end(tokens, i + 1, tokens->count) - 1;
  for (i++;;)
    if (cpu_token_is(&at[i], "["))
      i = at[i].match + 1;
    else if (cpu_token_any(&at[i], WORDS(".", "->", "::")) && at[i + 1].kind == CPU_NAME)
      i += 2;
    else
      return i;
}

bool cpu_is_starred(const cpu_splitter *in, int i) {
  const cpu_token *at = in->work.at;
  return i > 1 && cpu_token_is(&at[i - 1], "*") && !cpu_ends_operand(&at[i - 2]);
}

/* Where the words do not say it: one subscript, * or -> of a pointer or an array, then members, are the language's
 * own. */
static cpu_knowledge leaf_knows(const cpu_splitter *in, int i, const meaning *it) {
  const cpu_token *at = in->work.at;
  const int end = cpu_leaf_end(&in->work, i);
  const bool subscript = cpu_token_is(&at[i + 1], "["), starred = cpu_is_starred(in, i);
  const bool element = starred || cpu_token_any(&at[i + 1], WORDS("[", "->"));
  const int rest = subscript ? at[i + 1].match + 1 : end > i + 1 ? i + 3 : end; /* past the first of the chain */
  if (!it->tokens) return cpu_token_any(&at[end - 2], WORDS("::")) ? CPU_ASKED : CPU_UNKNOWN;
  const cpu_knowledge words = cpu_type_knows(in->program, in->kernel, it->tokens, it->first, it->last);
  if (words >= CPU_KNOWN) return words;
  if (end == i + 1 && !starred)
    return it->automatic ? (it->memory ? CPU_ASKED : CPU_KNOWN) : it->far ? CPU_KNOWN : words;
  if (element && !it->far && !it->automatic) return CPU_UNKNOWN;
  if (cpu_find_open(&in->work, rest, end, WORDS("[", "->")) < end || (starred && end > i + 1)) return CPU_UNKNOWN;
  const bool members = cpu_find_open(&in->work, i + 1, end, WORDS(".", "->")) < end;
  return members || it->automatic ? CPU_ASKED : words;
}

/* (T *)x: whatever T is. */
static bool is_pointer_cast(const cpu_token *at, int i) {
  const bool begins =
      cpu_token_is(&at[i - 1], "(") || (cpu_token_is(&at[i - 1], "const") && cpu_token_is(&at[i - 2], "("));
  while (cpu_token_is(&at[i + 1], "*")) i++;
  return begins && cpu_token_is(&at[i], "*") && cpu_token_is(&at[i + 1], ")");
}

cpu_knowledge cpu_name_knows(const cpu_splitter *in, int i, bool *memory) {
  const meaning it = meaning_of(in, i);
  const cpu_knowledge type = it.tokens ? CPU_UNKNOWN : cpu_type_knows(in->program, in->kernel, &in->work, i, i + 1);
  *memory = it.memory;
  if (!it.tokens && cpu_is_generated(&in->work.at[i])) return CPU_KNOWN; /* mw_k1::at<0>::value */
  if (is_pointer_cast(in->work.at, i)) return CPU_KNOWN;
  const cpu_knowledge all = type ? type : leaf_knows(in, i, &it);
  return all == CPU_ASKED && in->kernel->strict ? CPU_UNKNOWN : all;
}

cpu_knowledge cpu_local_knows(const cpu_splitter *in, const cpu_local *local) {
  const cpu_declarator *it = &local->declarator;
  const bool braces = it->init_last > it->init && cpu_token_is(&in->work.at[it->init], "{");
  if (local->is_auto) return braces ? CPU_UNKNOWN : CPU_KNOWN; /* as its initialiser, which is asked for */
  if (local->pointer && !local->reference && !braces) return CPU_KNOWN;
  const cpu_knowledge type = cpu_type_knows(in->program, in->kernel, &in->work, it->spec, it->spec_last);
  return braces && type < CPU_KNOWN ? CPU_UNKNOWN : type;
}

bool cpu_names_type(const cpu_splitter *in, int i) {
  return !meaning_of(in, i).tokens && cpu_leaf_end(&in->work, i) == i + 1;
}
