/* SPDX-License-Identifier: MIT */
#include "core/runtime/symbols.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/source/signature.h"

typedef struct table { /* the object's symbols */
  const Elf64_Sym *at;
  size_t count;
  const char *names;
} table;

/* The linker wrote the object a moment ago, and the cache keeps its length and hash. */
static table table_of(const char *object) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)object;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(object + head->e_shoff);
  for (int i = 0; i < head->e_shnum; i++)
    if (sections[i].sh_type == SHT_SYMTAB)
      return (table){(const Elf64_Sym *)(const void *)(object + sections[i].sh_offset),
                     sections[i].sh_size / sizeof(Elf64_Sym), object + sections[sections[i].sh_link].sh_offset};
  return (table){0};
}

/* The symbol of the function that a site is in, "_Z5scaleIfEvPT_", or "scale" of extern "C"; NULL: it is no site. */
static char *function_of(const char *symbol, int *source) {
  const char *end = strstr(symbol, RUNTIME_SITE);
  if (strncmp(symbol, "_ZZ", 3) != 0 || !end) return NULL;
  *source = atoi(end + strlen(RUNTIME_SITE));
  while (isdigit((unsigned char)end[-1])) end--; /* the length of its name */
  const char *from = symbol + strlen("_ZZ");
  char *rest;
  const int length = (int)(end - 1 - from), digits = (int)strtol(from, &rest, 10);
  if (digits > 0 && rest + digits == end - 1) return mw_format("%.*s", digits, rest);
  return mw_format("_Z%.*s", length, from);
}

/* _ZN3lab5tableE, _ZL5table or table: its components joined by ::. NULL: it is something else. */
static char *variable_name(const char *symbol) {
  char *name = NULL;
  if (strncmp(symbol, "_Z", 2) != 0) return mw_strdup(symbol);
  for (const char *at = symbol + 2; *at && *at != 'E';) {
    char *rest;
    if (*at == 'N' || *at == 'L') at++;
    const long length = strtol(at, &rest, 10);
    if (length <= 0 || (size_t)length > strlen(rest)) {
      mw_free(name);
      return NULL;
    }
    at = rest + length;
    if (strncmp(rest, "_GLOBAL__N_", 11) == 0) continue;
    char *longer = name ? mw_format("%s::%.*s", name, (int)length, rest) : mw_format("%.*s", (int)length, rest);
    mw_free(name);
    name = longer;
  }
  return name;
}

static void add(runtime_symbols *out, runtime_symbol symbol) {
  out->at = mw_grow(out->at, out->count, sizeof *out->at);
  out->at[out->count++] = symbol;
}

static uint64_t address_of(const table *all, const char *name) {
  for (size_t i = 0; i < all->count; i++)
    if (strcmp(all->names + all->at[i].st_name, name) == 0) return all->at[i].st_value;
  return 0;
}

/* The classes of the host's headers (include/small.h), as the device calls what they stand for. */
static const char *const classes[][2] = {{"moonwarp_small<moonwarp_binary16>", "__half"},
                                         {"moonwarp_small<moonwarp_bfloat16>", "__nv_bfloat16"},
                                         {"moonwarp_small2<__half>", "__half2"},
                                         {"moonwarp_small2<__nv_bfloat16>", "__nv_bfloat162"}};

static char *known_name(char *name) {
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    for (const char *own; (own = strstr(name, classes[i][0]));) {
      char *known = mw_format("%.*s%s%s", (int)(own - name), name, classes[i][1], own + strlen(classes[i][0]));
      mw_free(name);
      name = known;
    }
  return name;
}

static char *signature_text(const mw_signature *signature) {
  char *text = mw_format("%s(", signature->name);
  for (int i = 0; i < signature->nparams; i++) {
    char *longer = mw_format("%s%s%s", text, i ? ", " : "", signature->params[i].type);
    mw_free(text);
    text = longer;
  }
  char *whole = mw_format("%s)", text);
  mw_free(text);
  return known_name(whole);
}

static void kernel_add(runtime_symbols *out, const table *all, const Elf64_Sym *site, char *function, int source) {
  mw_signature signature;
  runtime_symbol kernel = {.address = site->st_value, .source = source, .function = address_of(all, function)};
  const bool mangled = strncmp(function, "_Z", 2) == 0, read = mangled && mw_signature_parse(function, &signature);
  kernel.unnamed = mangled && (!read || (signature.is_template && !strchr(signature.name, '<')));
  kernel.is_template = read && signature.is_template && !kernel.unnamed;
  kernel.name = known_name(mw_strdup(read ? signature.name : function));
  kernel.signature = read && !kernel.is_template ? signature_text(&signature) : NULL;
  if (read) mw_signature_free(&signature);
  mw_free(function);
  add(out, kernel);
}

static void variable_add(runtime_symbols *out, const Elf64_Sym *symbol, const char *text) {
  char *name = variable_name(text);
  if (name)
    add(out, (runtime_symbol){.name = name, .address = symbol->st_value, .bytes = symbol->st_size, .source = -1});
}

static bool is_overloaded(const runtime_symbols *all, const runtime_symbol *kernel) {
  int count = 0;
  for (size_t i = 0; i < all->count; i++)
    count += all->at[i].source == kernel->source && !strcmp(all->at[i].name, kernel->name);
  return count > 1;
}

/* A signature is kept where the name alone does not say which kernel is meant. */
static void signatures_keep(runtime_symbols *all) {
  for (size_t i = 0; i < all->count; i++) {
    if (!all->at[i].signature || is_overloaded(all, &all->at[i])) continue;
    mw_free(all->at[i].signature);
    all->at[i].signature = NULL;
  }
}

runtime_symbols runtime_symbols_read(const void *object, size_t size) {
  runtime_symbols out = {0};
  const table all = size > sizeof(Elf64_Ehdr) ? table_of(object) : (table){0};
  for (size_t i = 0; i < all.count; i++) {
    const Elf64_Sym *symbol = &all.at[i];
    const char *text = all.names + symbol->st_name;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF) continue;
    int source;
    char *function = function_of(text, &source);
    if (function)
      kernel_add(&out, &all, symbol, function, source);
    else
      variable_add(&out, symbol, text);
  }
  signatures_keep(&out);
  return out;
}

void runtime_symbols_free(runtime_symbols *symbols) {
  for (size_t i = 0; i < symbols->count; i++) {
    mw_free(symbols->at[i].name);
    mw_free(symbols->at[i].signature);
  }
  mw_free(symbols->at);
  *symbols = (runtime_symbols){0};
}
