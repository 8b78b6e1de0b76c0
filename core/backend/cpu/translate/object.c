/* SPDX-License-Identifier: MIT
 *
 * Whether a shared object is as long as its headers say. The loader maps what they name, and a page past the end of a
 * file is SIGBUS. */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "core/backend/cpu/translate/translate.h"

/* A table or segment lies in the file. */
static bool is_inside(size_t size, uint64_t offset, uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

static bool segments_inside(const char *bytes, size_t size, const ElfW(Ehdr) * header) {
  bool any = false;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    ElfW(Phdr) segment;
    memcpy(&segment, bytes + header->e_phoff + i * sizeof segment, sizeof segment);
    if (!is_inside(size, segment.p_offset, segment.p_filesz)) return false;
    any |= segment.p_type == PT_DYNAMIC;
  }
  return any;
}

bool cpu_object_is_whole(const char *bytes, size_t size) {
  ElfW(Ehdr) header;
  if (size < sizeof header) return false;
  memcpy(&header, bytes, sizeof header);
  return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_DYN &&
         header.e_phentsize == sizeof(ElfW(Phdr)) &&
         is_inside(size, header.e_phoff, (uint64_t)header.e_phnum * sizeof(ElfW(Phdr))) &&
         is_inside(size, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize) &&
         segments_inside(bytes, size, &header);
}
