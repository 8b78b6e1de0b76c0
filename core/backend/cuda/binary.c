/* SPDX-License-Identifier: MIT
 *
 * Code that another compiler has made: a cubin, PTX, or a fat binary, out of which the cubin for this device is taken.
 * A fat binary is a header and entries, each with a header of its own; entries of PTX and compressed ones are passed
 * over. Every size is checked against the file's before it is followed. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "core/backend/cuda/objects.h"

enum { FATBIN_MAGIC = 0xba55ed50, ENTRY_ELF = 2 };

typedef struct fatbin_header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes; /* after the header */
} fatbin_header;

typedef struct fatbin_entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes; /* after the header */
  uint32_t others[3];
  uint32_t arch; /* 90 */
} fatbin_entry;

static int arch_of(const mw_device *device) {
  return device->info.capability_major * 10 + device->info.capability_minor;
}

/* Code of a capability runs on later ones of the same major number. */
static bool runs_on(int arch, const mw_device *device) {
  return arch / 10 == device->info.capability_major && arch <= arch_of(device);
}

/* ---- what the bytes are ---------------------------------------------------------------------------------------- */

static bool begins_with(const mw_source *source, const void *mark, size_t size) {
  return source->code_bytes >= size && memcmp(source->code, mark, size) == 0;
}

static bool is_cubin(const mw_source *source) {
  Elf64_Ehdr head;
  if (source->code_bytes < sizeof head) return false;
  memcpy(&head, source->code, sizeof head);
  return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_machine == EM_CUDA;
}

static bool is_fatbin(const mw_source *source) {
  return begins_with(source, &(uint32_t){FATBIN_MAGIC}, 4);
}

/* What they are instead, and the way out; NULL: what they should be. */
static const char *other_form(const mw_source *source) {
  if (is_cubin(source)) return source->form == MW_FORM_CUBIN ? NULL : "is a cubin: give it as 'cubin'";
  if (is_fatbin(source)) return source->form == MW_FORM_FATBIN ? NULL : "is a fat binary: give it as 'fatbin'";
  if (begins_with(source, ELFMAG, SELFMAG))
    return "is an object of the host: nvcc -cubin makes a cubin, cuobjdump -xelf all takes those of an object out";
  if (!memmem(source->code, source->code_bytes, ".target", 7)) return "is not code that nvcc makes";
  return source->form == MW_FORM_PTX ? NULL : "is PTX: give it as 'ptx'";
}

static mw_status check_form(const mw_source *source, mw_error *err) {
  static const char *const names[] = {[MW_FORM_CUBIN] = "cubin", [MW_FORM_PTX] = "ptx", [MW_FORM_FATBIN] = "fatbin"};
  const char *other = other_form(source);
  if (!other) return MW_OK;
  return mw_fail(err, MW_INVALID, "option '%s': '%.128s' %s", names[source->form], source->name, other);
}

static mw_status reject_damaged(const mw_source *source, mw_error *err) {
  return mw_fail(err, MW_INVALID, "'%.128s' is damaged: its code cannot be read", source->name);
}

/* ---- fat binaries ---------------------------------------------------------------------------------------------- */

/* The cubin in it that suits the device best; found: the architectures that it has code for. */
static bool choose_entry(const mw_device *device, const mw_source *source, size_t *at, size_t *bytes, char *found,
                         size_t size) {
  fatbin_header head;
  fatbin_entry entry;
  int best = 0;
  if (source->code_bytes < sizeof head) return false;
  memcpy(&head, source->code, sizeof head);
  for (size_t next, i = head.header_bytes; i + sizeof entry <= source->code_bytes; i = next) {
    memcpy(&entry, (const char *)source->code + i, sizeof entry);
    const size_t left = source->code_bytes - i;
    if (entry.header_bytes < sizeof entry || entry.header_bytes > left || entry.bytes > left - entry.header_bytes)
      break;
    next = i + entry.header_bytes + entry.bytes;
    const mw_source one = {.code = (const char *)source->code + i + entry.header_bytes, .code_bytes = entry.bytes};
    if (entry.kind != ENTRY_ELF || !is_cubin(&one)) continue;
    mw_list_add(found, size, ", ", "sm_%u", entry.arch);
    if (!runs_on((int)entry.arch, device) || (int)entry.arch <= best) continue;
    best = (int)entry.arch;
    *at = i + entry.header_bytes;
    *bytes = entry.bytes;
  }
  return best > 0;
}

/* ---- the unit -------------------------------------------------------------------------------------------------- */

static mw_status reject_arch(const mw_device *device, const mw_source *source, const char *has, mw_error *err) {
  return mw_fail(err, MW_INVALID, "'%.128s' has code for %s, which %s (%s) does not run: compile it with nvcc -arch=%s",
                 source->name, *has ? has : "no architecture that can be read", device->info.id, device->info.arch,
                 device->info.arch);
}

static mw_status read_ptx(const mw_device *device, const mw_source *source, cuda_unit *unit, mw_error *err) {
  unit->ptx = true;
  if (!cuda_ptx_read(unit->image, &unit->read)) return reject_damaged(source, err);
  if (!device->info.offline) return MW_OK;
  return mw_fail(err, MW_UNSUPPORTED, "%s has no driver, which compiles PTX: compile '%.128s' with ptxas -arch=%s",
                 device->info.id, source->name, device->info.arch);
}

static mw_status read_cubin(const mw_device *device, const mw_source *source, cuda_unit *unit, mw_error *err) {
  if (!cuda_cubin_read(unit->image, unit->image_bytes, &unit->read)) return reject_damaged(source, err);
  char has[16];
  snprintf(has, sizeof has, "sm_%d", unit->read.arch);
  return runs_on(unit->read.arch, device) ? MW_OK : reject_arch(device, source, has, err);
}

static void take_bytes(cuda_unit *unit, const mw_source *source, size_t at, size_t bytes) {
  unit->image = mw_calloc(bytes + 1, 1);
  unit->image_bytes = bytes;
  memcpy(unit->image, (const char *)source->code + at, bytes);
}

static mw_status read_fatbin(const mw_device *device, const mw_source *source, cuda_unit *unit, mw_error *err) {
  char found[256] = "";
  size_t at, bytes;
  if (!choose_entry(device, source, &at, &bytes, found, sizeof found)) return reject_arch(device, source, found, err);
  mw_free(unit->image);
  take_bytes(unit, source, at, bytes);
  return cuda_cubin_read(unit->image, bytes, &unit->read) ? MW_OK : reject_damaged(source, err);
}

mw_status cuda_binary_unit(const mw_device *device, const mw_source *source, cuda_unit **out, mw_error *err) {
  cuda_unit *unit = mw_calloc(1, sizeof *unit);
  unit->log = mw_strdup("");
  take_bytes(unit, source, 0, source->code_bytes);
  mw_status (*const read[])(const mw_device *, const mw_source *, cuda_unit *, mw_error *) = {
      [MW_FORM_CUBIN] = read_cubin, [MW_FORM_PTX] = read_ptx, [MW_FORM_FATBIN] = read_fatbin};
  mw_status status = check_form(source, err);
  if (status == MW_OK) status = read[source->form](device, source, unit, err);
  if (status != MW_OK) {
    cuda_unit_free(unit);
    return status;
  }
  cuda_image_read_names(&unit->read);
  *out = unit;
  return MW_OK;
}
