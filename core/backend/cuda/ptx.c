/* SPDX-License-Identifier: MIT
 *
 * Reads the kernels, their parameters and the variables out of PTX text: used where NVRTC is older than the device and
 * the driver compiles its PTX. Attributes such as registers are then known only to the driver. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cuda/cubin.h"

typedef struct declaration { /* .param .align 8 .b8 name[24] */
  char name[512];
  size_t align, bytes;
  bool pointer; /* .ptr: .align then is of what it points to */
} declaration;

static size_t type_bytes(const char *word) {
  size_t digits = strcspn(word, "0123456789");
  return strcmp(word, ".pred") == 0 ? 1 : (size_t)atoi(word + digits) / 8;
}

/* From after the space (".param") to before the delimiter. */
static bool read_declaration(const char *at, declaration *out) {
  size_t element = 0, count = 1;
  char word[512];
  *out = (declaration){.align = 0};
  while (!strchr(",;)={", *at)) {
    size_t length = strcspn(at, " \t\r\n,;)=[{");
    if (*at == '[') {
      count = strtoul(at + 1, NULL, 10);
      at += strcspn(at, "]");
      at += *at == ']';
    } else if (length == 0) {
      at++;
    } else {
      if (length >= sizeof word) return false;
      snprintf(word, sizeof word, "%.*s", (int)length, at);
      at += length;
      if (strcmp(word, ".align") == 0)
        out->align = strtoul(at, (char **)&at, 10);
      else if (strcmp(word, ".ptr") == 0)
        out->pointer = true;
      else if (*word != '.')
        snprintf(out->name, sizeof out->name, "%s", word);
      else if (!element && strcspn(word, "0123456789") < length)
        element = type_bytes(word);
    }
  }
  if (count && element > SIZE_MAX / count) return false;
  out->bytes = element * count;
  if (!out->align || out->pointer) out->align = element ? element : 1;
  return *out->name && out->bytes > 0;
}

static char *next_name(cuda_image *out, const char *name, size_t *used) {
  char *copy = (char *)out->text + *used;
  strcpy(copy, name);
  *used += strlen(name) + 1;
  return copy;
}

static void read_params(const char *list, cuda_entry *entry) {
  size_t offset = 0;
  const char *end = list + strcspn(list, ")");
  for (const char *at = strstr(list, ".param"); at && at < end; at = strstr(at + 6, ".param")) {
    declaration d;
    if (!read_declaration(at + 6, &d) || d.align > MW_MOST_ARGS || d.bytes > MW_MOST_ARGS) {
      entry->args_bytes = MW_MOST_ARGS + 1; /* is rejected */
      return;
    }
    offset = (offset + d.align - 1) / d.align * d.align;
    entry->slots = mw_realloc(entry->slots, (size_t)(entry->nslots + 1) * sizeof *entry->slots);
    entry->slots[entry->nslots++] = (cuda_slot){(uint32_t)offset, (uint32_t)d.bytes};
    offset += d.bytes;
  }
  entry->args_bytes = offset;
}

static void read_entry(const char *at, cuda_image *out, size_t *used) {
  char name[512];
  at += strspn(at, " \t");
  size_t length = strcspn(at, "( \t\r\n");
  if (length == 0 || length >= sizeof name) return;
  snprintf(name, sizeof name, "%.*s", (int)length, at);
  out->entries = mw_realloc(out->entries, (size_t)(out->nentries + 1) * sizeof *out->entries);
  cuda_entry *entry = &out->entries[out->nentries++];
  *entry = (cuda_entry){.symbol = next_name(out, name, used), .spill_stores = -1, .spill_loads = -1};
  if (at[strcspn(at, "(;{")] == '(') read_params(at + length, entry);
}

static void read_global(const char *at, bool constant, cuda_image *out, size_t *used) {
  declaration d;
  if (!read_declaration(at, &d) || *d.name == '$') return;
  out->globals = mw_realloc(out->globals, (size_t)(out->nglobals + 1) * sizeof *out->globals);
  out->globals[out->nglobals++] =
      (cuda_global){.symbol = next_name(out, d.name, used), .bytes = d.bytes, .constant = constant};
  if (constant) out->const_bytes += d.bytes;
}

static const char *line_word(const char *line, const char *word) {
  static const char *const before[] = {".visible", ".weak", ".extern", ".managed"};
  line += strspn(line, " \t");
  for (size_t i = 0; i < sizeof before / sizeof *before; i++)
    if (strncmp(line, before[i], strlen(before[i])) == 0) line += strcspn(line, " \t\n"), line += strspn(line, " \t");
  size_t length = strlen(word);
  return strncmp(line, word, length) == 0 && isspace((unsigned char)line[length]) ? line + length : NULL;
}

bool cuda_ptx_read(const char *text, cuda_image *out) {
  *out = (cuda_image){.entries = NULL};
  if (!strstr(text, ".target")) return false;
  size_t used = 0;
  out->text = mw_malloc(strlen(text) + 1); /* names cannot be longer than the text they stand in */
  int depth = 0;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    const char *rest = depth ? NULL : line_word(line, ".entry");
    if (rest) read_entry(rest, out, &used);
    if (!depth && (rest = line_word(line, ".global"))) read_global(rest, false, out, &used);
    if (!depth && (rest = line_word(line, ".const"))) read_global(rest, true, out, &used);
    for (const char *c = line; *c && *c != '\n'; c++) depth += (*c == '{') - (*c == '}');
  }
  return true;
}
