/* SPDX-License-Identifier: MIT
 *
 * The parameters of a template, by their names. */
#include "core/backend/cpu/split/split.h"

bool cpu_header_read(const cpu_splitter *in, const cpu_function *function, cpu_header *out) {
  const cpu_token *at = in->program->tokens.at;
  int first = function->head_first + 2, last = function->head_last - 1;
  for (int i = first, begin = first; i <= last; i++) {
    if (i < last && cpu_token_is(&at[i], "...")) return false;
    if (i < last && !cpu_token_is(&at[i], ",")) continue;
    int name = begin;
    while (name < i && !cpu_token_is(&at[name], "=")) name++;
    name--;
    if (out->count == 16 || name <= begin || at[name].kind != CPU_NAME) return false;
    out->types[out->count] = cpu_token_is(&at[begin], "class") || cpu_token_is(&at[begin], "typename");
    out->names[out->count++] = &at[name];
    begin = i + 1;
  }
  return out->count > 0;
}
