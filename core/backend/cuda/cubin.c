/* SPDX-License-Identifier: MIT
 *
 * Reads a cubin. Every offset is checked against the file's size before it is followed: the bytes may come from a
 * cache on disk. */
#include "core/backend/cuda/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attributes of .nv.info; the first byte of an entry says how its value is stored. */
enum {
  VALUE_NONE = 1,
  VALUE_SIZED = 4, /* 16-bit size, then that many bytes */
  INFO_MAX_THREADS = 0x05,
  INFO_PARAM_CBANK = 0x0a,
  INFO_FRAME_SIZE = 0x11,
  INFO_STACK_SIZE = 0x12,
  INFO_KPARAM = 0x17,
  INFO_REGISTERS = 0x2f,
  INFO_KPARAM_LARGE = 0x45, /* of a kernel with a parameter of 16 KiB or more */
  CUDA_ENTRY_POINT = 0x10,  /* in a symbol's st_other */
  RESERVED_SHARED = 1024,   /* per block; compute capability 9.0 and newer count it into .nv.shared */
};

typedef struct elf {
  const unsigned char *bytes;
  size_t size;
  const Elf64_Shdr *sections;
  unsigned nsections;
  const Elf64_Sym *symbols;
  size_t nsymbols;
  const char *names, *section_names; /* both checked to end in a zero */
  size_t names_size, section_names_size;
} elf;

static uint32_t word(const unsigned char *p) {
  uint32_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

static uint16_t half(const unsigned char *p) {
  uint16_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

/* ---- the ELF frame --------------------------------------------------------------------------------------------- */

static bool inside(const elf *e, uint64_t offset, uint64_t size) {
  return offset <= e->size && size <= e->size - offset;
}

static const char *string_table(const elf *e, unsigned index, size_t *size) {
  if (index >= e->nsections) return NULL;
  const Elf64_Shdr *s = &e->sections[index];
  if (s->sh_type != SHT_STRTAB || s->sh_size == 0 || !inside(e, s->sh_offset, s->sh_size)) return NULL;
  const char *text = (const char *)e->bytes + s->sh_offset;
  *size = s->sh_size;
  return text[s->sh_size - 1] == '\0' ? text : NULL;
}

static const char *section_name(const elf *e, const Elf64_Shdr *s) {
  return s->sh_name < e->section_names_size ? e->section_names + s->sh_name : "";
}

static const char *symbol_name(const elf *e, const Elf64_Sym *s) {
  return s->st_name < e->names_size ? e->names + s->st_name : "";
}

static bool find_symbols(elf *e) {
  for (unsigned i = 0; i < e->nsections; i++) {
    const Elf64_Shdr *s = &e->sections[i];
    if (s->sh_type != SHT_SYMTAB) continue;
    e->names = string_table(e, s->sh_link, &e->names_size);
    if (!e->names || s->sh_offset % 8 || !inside(e, s->sh_offset, s->sh_size)) return false;
    e->symbols = (const Elf64_Sym *)(e->bytes + s->sh_offset);
    e->nsymbols = s->sh_size / sizeof *e->symbols;
    return true;
  }
  return false;
}

static bool open_elf(elf *e) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)e->bytes;
  if (e->size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_CUDA) return false;
  e->nsections = head->e_shnum;
  if (head->e_shoff % 8 || head->e_shentsize != sizeof *e->sections) return false;
  if (!inside(e, head->e_shoff, (uint64_t)e->nsections * sizeof *e->sections)) return false;
  e->sections = (const Elf64_Shdr *)(e->bytes + head->e_shoff);
  e->section_names = string_table(e, head->e_shstrndx, &e->section_names_size);
  return e->section_names && find_symbols(e);
}

/* ---- what it says ---------------------------------------------------------------------------------------------- */

static bool is_kernel(const Elf64_Sym *s) {
  return ELF64_ST_TYPE(s->st_info) == STT_FUNC && (s->st_other & CUDA_ENTRY_POINT) && s->st_shndx != SHN_UNDEF;
}

static bool is_variable(const elf *e, const Elf64_Sym *s, bool *constant) {
  if (ELF64_ST_TYPE(s->st_info) != STT_OBJECT || s->st_shndx == SHN_UNDEF || s->st_shndx >= e->nsections) return false;
  const char *section = section_name(e, &e->sections[s->st_shndx]), *name = symbol_name(e, s);
  *constant = strcmp(section, ".nv.constant3") == 0;
  bool global = strncmp(section, ".nv.global", 10) == 0;
  return (*constant || global) && *name && *name != '$' && *name != '.' && s->st_size > 0;
}

static void collect_symbols(const elf *e, cuda_image *out) {
  out->text = mw_malloc(e->names_size);
  memcpy(out->text, e->names, e->names_size);
  out->entries = mw_calloc(e->nsymbols, sizeof *out->entries);
  out->globals = mw_calloc(e->nsymbols, sizeof *out->globals);
  for (size_t i = 0; i < e->nsymbols; i++) {
    const Elf64_Sym *s = &e->symbols[i];
    const char *name = (char *)out->text + (symbol_name(e, s) - e->names);
    bool constant;
    if (s->st_name >= e->names_size) continue;
    if (is_kernel(s))
      out->entries[out->nentries++] = (cuda_entry){.symbol = name, .spill_stores = -1, .spill_loads = -1};
    else if (is_variable(e, s, &constant))
      out->globals[out->nglobals++] = (cuda_global){.symbol = name, .bytes = s->st_size, .constant = constant};
  }
}

cuda_entry *cuda_image_entry(cuda_image *image, const char *symbol) {
  for (int i = 0; i < image->nentries; i++)
    if (strcmp(image->entries[i].symbol, symbol) == 0) return &image->entries[i];
  return NULL;
}

static cuda_entry *entry_of_symbol(const elf *e, cuda_image *image, uint32_t index) {
  return index < e->nsymbols ? cuda_image_entry(image, symbol_name(e, &e->symbols[index])) : NULL;
}

/* 32-bit index, 16-bit ordinal, 16-bit offset, 32 bits for the size: of KPARAM the highest 14. */
static void add_slot(cuda_entry *entry, const unsigned char *value, unsigned size) {
  unsigned ordinal = half(value + 4);
  if ((int)ordinal >= entry->nslots) {
    entry->slots = mw_realloc(entry->slots, (ordinal + 1) * sizeof *entry->slots);
    for (unsigned i = (unsigned)entry->nslots; i <= ordinal; i++) entry->slots[i] = (cuda_slot){0, 0};
    entry->nslots = (int)ordinal + 1;
  }
  entry->slots[ordinal] = (cuda_slot){half(value + 6), size};
}

static void read_shared_attribute(const elf *e, cuda_image *image, unsigned attribute, const unsigned char *value) {
  cuda_entry *entry = entry_of_symbol(e, image, word(value));
  uint32_t number = word(value + 4);
  if (!entry) return;
  if (attribute == INFO_REGISTERS) entry->registers = (int)(number & 0xffff);
  bool stack = attribute == INFO_FRAME_SIZE || attribute == INFO_STACK_SIZE;
  if (stack && number > entry->local_bytes && number != UINT32_MAX) entry->local_bytes = number;
}

static void read_own_attribute(cuda_entry *entry, unsigned attribute, const unsigned char *value, size_t size) {
  if (attribute == INFO_KPARAM && size >= 12) add_slot(entry, value, word(value + 8) >> 18);
  if (attribute == INFO_KPARAM_LARGE && size >= 12) add_slot(entry, value, word(value + 8));
  if (attribute == INFO_PARAM_CBANK && size >= 8) entry->args_bytes = half(value + 6);
  if (attribute == INFO_MAX_THREADS && size >= 12) {
    uint64_t threads = (uint64_t)word(value) * word(value + 4) * word(value + 8);
    if (threads <= 1024) entry->max_threads = (int)threads;
  }
}

/* entry: NULL for the section of the whole file. */
static void read_info(const elf *e, cuda_image *image, const Elf64_Shdr *s, cuda_entry *entry) {
  if (!inside(e, s->sh_offset, s->sh_size)) return;
  const unsigned char *at = e->bytes + s->sh_offset, *end = at + s->sh_size;
  while (end - at >= 4) {
    unsigned format = at[0], attribute = at[1];
    size_t size = format == VALUE_SIZED ? half(at + 2) : 0;
    at += 4;
    if (format < VALUE_NONE || format > VALUE_SIZED || size > (size_t)(end - at)) return;
    if (entry)
      read_own_attribute(entry, attribute, at, size);
    else if (size >= 8)
      read_shared_attribute(e, image, attribute, at);
    at += size;
  }
}

/* In e_flags: bits 0-7 up to ELF ABI 7, bits 8-15 from ABI 8 (CUDA 13) on. */
static int architecture(const elf *e) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)e->bytes;
  return (int)(head->e_ident[EI_ABIVERSION] >= 8 ? head->e_flags >> 8 & 0xff : head->e_flags & 0xff);
}

static void read_shared_size(const elf *e, cuda_entry *entry, const Elf64_Shdr *s) {
  size_t reserved = architecture(e) >= 90 ? RESERVED_SHARED : 0;
  entry->shared_bytes = s->sh_size > reserved ? s->sh_size - reserved : 0;
}

static const char *after(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static void read_section(const elf *e, cuda_image *image, const Elf64_Shdr *s) {
  const char *name = section_name(e, s), *of;
  cuda_entry *entry;
  if (strcmp(name, ".nv.info") == 0)
    read_info(e, image, s, NULL);
  else if ((of = after(name, ".nv.info.")) && (entry = cuda_image_entry(image, of)))
    read_info(e, image, s, entry);
  else if ((of = after(name, ".nv.shared.")) && (entry = cuda_image_entry(image, of)))
    read_shared_size(e, entry, s);
  else if (strcmp(name, ".nv.constant3") == 0)
    image->const_bytes = s->sh_size;
}

/* The arguments have room for each parameter, whatever the file says of them all. */
static void cover_slots(cuda_entry *entry) {
  for (int i = 0; i < entry->nslots; i++) {
    const size_t end = (size_t)entry->slots[i].offset + entry->slots[i].size;
    if (entry->args_bytes < end) entry->args_bytes = end;
  }
}

bool cuda_cubin_read(const void *bytes, size_t size, cuda_image *out) {
  *out = (cuda_image){.entries = NULL};
  elf e = {.bytes = bytes, .size = size};
  if ((uintptr_t)bytes % 8 || !open_elf(&e)) return false;
  collect_symbols(&e, out);
  out->arch = architecture(&e);
  for (unsigned i = 0; i < e.nsections; i++) read_section(&e, out, &e.sections[i]);
  for (int i = 0; i < out->nentries; i++) cover_slots(&out->entries[i]);
  return true;
}

static void read_name(const char *symbol, mw_signature *out) {
  if (!mw_signature_parse(symbol, out)) snprintf(out->plain, sizeof out->plain, "%s", symbol);
}

void cuda_image_read_names(cuda_image *image) {
  for (int i = 0; i < image->nentries; i++) read_name(image->entries[i].symbol, &image->entries[i].signature);
  for (int i = 0; i < image->nglobals; i++) read_name(image->globals[i].symbol, &image->globals[i].signature);
}

void cuda_image_free(cuda_image *image) {
  for (int i = 0; i < image->nentries; i++) {
    mw_free(image->entries[i].slots);
    mw_signature_free(&image->entries[i].signature);
  }
  for (int i = 0; i < image->nglobals; i++) mw_signature_free(&image->globals[i].signature);
  mw_free(image->entries);
  mw_free(image->globals);
  mw_free(image->text);
  *image = (cuda_image){.entries = NULL};
}
