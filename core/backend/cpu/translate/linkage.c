/* SPDX-License-Identifier: MIT
 *
 * A compiled unit, read from the shared object before it is loaded: whether it is whole, since the loader maps what its
 * headers name and a page past the end of a file is SIGBUS; and what it would do beyond its kernels. The loader shall
 * run nothing of it: no initialisers, constructors, destructors or resolvers (-nostartfiles leaves out the compiler's
 * own, and shim/entry.h has none). And kernels call nothing of the host but the mathematical functions of libm and what
 * compilers call on their own. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/translate/translate.h"
#include "core/compile/excerpt.h"
#include "core/compile/front.h"
#include "core/source/signature.h"

#if defined(__x86_64__)
enum { INDIRECT = R_X86_64_IRELATIVE };
#else
enum { INDIRECT = 1032 /* R_AARCH64_IRELATIVE */ };
#endif
enum { TAGS = 35, TABLE_ENTRY = sizeof(Elf64_Sym) };

typedef struct object {
  const char *at;
  size_t size;
  const Elf64_Phdr *segments;
  int nsegments;
  uint64_t tags[TAGS];      /* of the dynamic section; 0: absent */
  uint64_t symbol_versions; /* address; 0: absent */
  Elf64_Dyn *initialisers;  /* how many bytes of them; NULL if none */
  bool checked;             /* of the check flavor */
} object;

/* ---- reading --------------------------------------------------------------------------------------------------- */

static const void *part(const object *o, uint64_t offset, uint64_t bytes) {
  return offset <= o->size && bytes <= o->size - offset ? o->at + offset : NULL;
}

/* The bytes that are loaded at an address. NULL: the file does not have them. */
static const void *loaded(const object *o, uint64_t address, uint64_t bytes) {
  for (int i = 0; i < o->nsegments; i++) {
    const Elf64_Phdr *s = &o->segments[i];
    const uint64_t from = address - s->p_vaddr;
    if (s->p_type == PT_LOAD && address >= s->p_vaddr && from <= s->p_filesz && bytes <= s->p_filesz - from)
      return part(o, s->p_offset + from, bytes);
  }
  return NULL;
}

static bool dynamic_read(object *o, const Elf64_Phdr *segment) {
  const size_t count = segment->p_filesz / sizeof(Elf64_Dyn);
  const Elf64_Dyn *entry = part(o, segment->p_offset, segment->p_filesz);
  if (!entry) return false;
  for (size_t i = 0; i < count && entry[i].d_tag != DT_NULL; i++) {
    if (entry[i].d_tag > 0 && entry[i].d_tag < TAGS) o->tags[entry[i].d_tag] = entry[i].d_un.d_val;
    if (entry[i].d_tag == DT_INIT_ARRAYSZ) o->initialisers = (Elf64_Dyn *)(uintptr_t)&entry[i];
    if (entry[i].d_tag == DT_VERSYM) o->symbol_versions = entry[i].d_un.d_val;
  }
  return true;
}

/* False: not a whole shared object. */
static bool object_read(object *o) {
  const Elf64_Ehdr *head = part(o, 0, sizeof *head);
  bool dynamic = false;
  if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_type != ET_DYN) return false;
  if (head->e_phentsize != sizeof *o->segments) return false;
  if (!part(o, head->e_shoff, (uint64_t)head->e_shnum * head->e_shentsize)) return false;
  o->nsegments = head->e_phnum;
  o->segments = part(o, head->e_phoff, head->e_phnum * sizeof *o->segments);
  if (!o->segments) return false;
  for (int i = 0; i < o->nsegments; i++) {
    const Elf64_Phdr *s = &o->segments[i];
    if (!part(o, s->p_offset, s->p_filesz)) return false;
    if (s->p_type == PT_DYNAMIC) dynamic = dynamic_read(o, s);
  }
  return dynamic;
}

bool cpu_object_is_whole(const char *bytes, size_t size) {
  return object_read(&(object){.at = bytes, .size = size});
}

/* ---- code that the loader would run ---------------------------------------------------------------------------- */

typedef struct symbol_list { /* the section of all of them */
  const Elf64_Sym *at;
  size_t count, room;
  const char *names;
} symbol_list;

static symbol_list symbols_of(const object *o) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)o->at;
  const Elf64_Shdr *sections = part(o, head->e_shoff, head->e_shnum * sizeof *sections);
  for (int i = 0; sections && i < head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= head->e_shnum) continue;
    const Elf64_Shdr *texts = &sections[sections[i].sh_link];
    const Elf64_Sym *at = part(o, sections[i].sh_offset, sections[i].sh_size);
    const char *names = part(o, texts->sh_offset, texts->sh_size);
    if (at && names) return (symbol_list){at, sections[i].sh_size / TABLE_ENTRY, texts->sh_size, names};
  }
  return (symbol_list){0};
}

/* NULL: the symbol is nothing of that type in the object. */
static const char *symbol_of_type(const symbol_list *all, size_t i, unsigned type) {
  const Elf64_Sym *symbol = &all->at[i];
  if (ELF64_ST_TYPE(symbol->st_info) != type || symbol->st_shndx == SHN_UNDEF) return NULL;
  if (symbol->st_name >= all->room || !memchr(all->names + symbol->st_name, 0, all->room - symbol->st_name))
    return NULL;
  return all->names + symbol->st_name;
}

static const char *function_symbol(const symbol_list *all, size_t i) {
  return symbol_of_type(all, i, STT_FUNC);
}

/* The symbol of the function at an address; "": none known. */
static const char *function_name(const object *o, uint64_t address) {
  const symbol_list all = symbols_of(o);
  for (size_t i = 0; i < all.count; i++) {
    const char *name = all.at[i].st_value == address ? function_symbol(&all, i) : NULL;
    if (name) return name;
  }
  return "";
}

cpu_code *cpu_object_functions(const char *bytes, size_t size, size_t *count) {
  const object o = {.at = bytes, .size = size};
  const symbol_list all = symbols_of(&o);
  cpu_code *list = mw_calloc(all.count + 1, sizeof *list);
  *count = 0;
  for (size_t i = 0; i < all.count; i++) {
    const char *name = function_symbol(&all, i);
    if (name) list[(*count)++] = (cpu_code){name, (uintptr_t)all.at[i].st_value};
  }
  return list;
}

/* Of a function or a class, and not of the shim. */
static bool is_static(const char *name) {
  return (!strncmp(name, "_ZZ", 3) || !strncmp(name, "_ZN", 3)) && !strstr(name, "mw_");
}

static bool is_written(const object *o, const Elf64_Sym *symbol) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)o->at;
  const Elf64_Shdr *sections = part(o, head->e_shoff, head->e_shnum * sizeof *sections);
  return sections && symbol->st_shndx < head->e_shnum && sections[symbol->st_shndx].sh_flags & SHF_WRITE;
}

cpu_place *cpu_object_statics(const char *bytes, size_t size, size_t *count) {
  const object o = {.at = bytes, .size = size};
  const symbol_list all = symbols_of(&o);
  cpu_place *list = mw_calloc(all.count + 1, sizeof *list);
  *count = 0;
  for (size_t i = 0; i < all.count; i++) {
    const char *name = symbol_of_type(&all, i, STT_OBJECT);
    if (name && is_static(name) && is_written(&o, &all.at[i]))
      list[(*count)++] = (cpu_place){(uintptr_t)all.at[i].st_value, (size_t)all.at[i].st_size};
  }
  return list;
}

static bool is_within(uint64_t address, uint64_t first, uint64_t bytes) {
  return address - first < bytes;
}

/* It calls __tsan_init, which does nothing. Whatever bears such a name is not run. */
static bool is_sanitizers(const char *name) {
  return !strcmp(name, "tsan.module_ctor") || !strncmp(name, "_sub_I_", 7);
}

/* The function that a relocation puts into a list of those that the loader calls, or makes it call; NULL: neither. */
static const char *relocation_starts(const object *o, const Elf64_Rela *relocation) {
  const uint64_t *tags = o->tags;
  if (ELF64_R_TYPE(relocation->r_info) != INDIRECT &&
      !is_within(relocation->r_offset, tags[DT_INIT_ARRAY], tags[DT_INIT_ARRAYSZ]) &&
      !is_within(relocation->r_offset, tags[DT_FINI_ARRAY], tags[DT_FINI_ARRAYSZ]) &&
      !is_within(relocation->r_offset, tags[DT_PREINIT_ARRAY], tags[DT_PREINIT_ARRAYSZ]))
    return NULL;
  const char *name = function_name(o, (uint64_t)relocation->r_addend);
  return o->checked && is_sanitizers(name) ? NULL : name;
}

static const char *relocations_start(const object *o, uint64_t address, uint64_t bytes) {
  const Elf64_Rela *list = loaded(o, address, bytes);
  const char *found = NULL;
  for (size_t i = 0; list && !found && i < bytes / sizeof *list; i++) found = relocation_starts(o, &list[i]);
  return found;
}

/* The name of a function that the loader would call ("": not known); NULL if none. */
static const char *started(const object *o) {
  const uint64_t *tags = o->tags;
  const char *found = relocations_start(o, tags[DT_RELA], tags[DT_RELASZ]);
  if (!found) found = relocations_start(o, tags[DT_JMPREL], tags[DT_PLTRELSZ]);
  if (found) return found;
  if (tags[DT_INIT] || tags[DT_FINI]) return function_name(o, tags[DT_INIT] ? tags[DT_INIT] : tags[DT_FINI]);
  return (tags[DT_INIT_ARRAYSZ] && !o->checked) || tags[DT_FINI_ARRAYSZ] || tags[DT_PREINIT_ARRAYSZ] ? "" : NULL;
}

/* ---- what it calls --------------------------------------------------------------------------------------------- */

/* The first symbol that it takes from the host and must not. Those of libm have a version, because it is linked against
 * that only. */
static const char *imported(const object *o) {
  const char *const *const allowed = WORDS("memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen", "__tls_get_addr");
  const uint32_t *hash = loaded(o, o->tags[DT_HASH], 2 * sizeof *hash);
  const size_t count = hash ? hash[1] : 0, room = o->tags[DT_STRSZ];
  const Elf64_Sym *symbols = loaded(o, o->tags[DT_SYMTAB], count * sizeof *symbols);
  const char *names = loaded(o, o->tags[DT_STRTAB], room);
  const uint16_t *versions = o->symbol_versions ? loaded(o, o->symbol_versions, count * sizeof *versions) : NULL;
  for (size_t i = 1; symbols && names && i < count; i++) {
    if (symbols[i].st_shndx != SHN_UNDEF || (versions && versions[i] > VER_NDX_GLOBAL)) continue;
    if (symbols[i].st_name >= room || !memchr(names + symbols[i].st_name, 0, room - symbols[i].st_name)) return "";
    const char *name = names + symbols[i].st_name;
    const mw_token word = {.kind = MW_TOKEN_NAME, .text = name, .size = (int)strlen(name)};
    if (!mw_token_any(&word, allowed)) return name;
  }
  return NULL;
}

/* ---- the errors ------------------------------------------------------------------------------------------------ */

/* "bad" of _ZL3badv. */
static void plain_name(char *out, size_t size, const char *symbol) {
  mw_signature signature;
  const bool mangled = mw_signature_parse(symbol, &signature);
  snprintf(out, size, "%s", mangled ? signature.plain : symbol);
  mw_signature_free(&signature);
}

/* About the first of the words in a function: with its line, so that it is known which kernels need it. */
static mw_status fail_word(const cpu_program *program, const char *const *words, const char *what, mw_error *error) {
  const mw_tokens *tokens = &program->tokens;
  mw_fail(error, MW_COMPILE, "device code of '%s' %s", program->source.name, what);
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    const int found = function->body < 0 ? function->last : mw_find(tokens, function->body, function->last, words);
    if (found == function->last) continue;
    mw_text log = {0};
    char *why = mw_format("device code %s", what);
    mw_excerpt_say(&log, &program->source, tokens, &tokens->at[found], why);
    mw_error_log(error, log.at);
    mw_free(why);
    break;
  }
  return MW_COMPILE;
}

static mw_status fail_import(const cpu_program *program, const char *symbol, mw_error *error) {
  static const struct {
    const char *begin, *word, *what;
  } kinds[] = {{"__cxa_guard", "static", "has a static local variable that is not initialised by a constant"},
               {"__cxa_", "static", "needs the run-time library of C++ (destructors of static variables)"},
               {"_Zn", "new", "uses new, which needs the CUDA device"},
               {"_Zd", "delete", "uses delete, which needs the CUDA device"}};
  char name[256], where[600] = "";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strncmp(symbol, kinds[i].begin, strlen(kinds[i].begin)))
      return fail_word(program, WORDS(kinds[i].word), kinds[i].what, error);
  plain_name(name, sizeof name, symbol);
  const mw_token word = mw_bare_name(name);
  if (program->front && mw_front_undefined(program->front, &program->source, word.text, error)) return MW_COMPILE;
  const int use = mw_find_use(&program->tokens, 0, program->tokens.count, &word);
  if (use < program->tokens.count) snprintf(where, sizeof where, "%s: ", cpu_where(program, use));
  return mw_fail(error, MW_COMPILE,
                 "%sdevice code of '%s' calls '%s', which no device code defines: kernels cannot call functions of the "
                 "host",
                 where, program->source.name, name);
}

static mw_status object_check(const cpu_program *program, cpu_flavor flavor, char *bytes, size_t size,
                              mw_error *error) {
  object o = {.at = bytes, .size = size, .checked = cpu_is_checked(flavor)};
  char name[256];
  if (!object_read(&o)) return mw_fail(error, MW_IO, "the compiled code of '%s' is damaged", program->source.name);
  const char *symbol = imported(&o);
  if (symbol) return fail_import(program, symbol, error);
  symbol = started(&o);
  if (!symbol && o.checked && o.initialisers) o.initialisers->d_un.d_val = 0;
  if (!symbol) return MW_OK;
  plain_name(name, sizeof name, symbol);
  const bool own = *name && strncmp(name, "_GLOBAL_", 8) && strncmp(name, "__cxx_", 6);
  return mw_fail(error, MW_COMPILE,
                 "code of '%s' would run while the module loads%s%s: CUDA allows only constants as initialisers of "
                 "device variables, and no constructor, destructor or resolver functions",
                 program->source.name, own ? ": function " : "", own ? name : "");
}

mw_status cpu_linkage_check(const cpu_program *program, cpu_flavor flavor, mw_text *out, mw_error *error) {
  const size_t log = strlen(out->at) + 1, size = out->size - log;
  char *bytes = mw_malloc(size + 1); /* aligned, as the headers in it are */
  memcpy(bytes, out->at + log, size);
  const mw_status status = object_check(program, flavor, bytes, size, error);
  memcpy(out->at + log, bytes, size);
  mw_free(bytes);
  return status;
}
