/* SPDX-License-Identifier: MIT
 *
 * A kernel's parameter list from its three witnesses: the mangled name (types), the compiled code (offsets, sizes) and
 * the source text (names; for an extern "C" kernel the types too). The code is always right; where the others do not
 * fit it, a parameter of 8 bytes is taken for void * and any other for bytes of that size. */
#include <stdio.h>
#include <string.h>

#include "core/backend/cuda/objects.h"
#include "core/source/declared.h"

static bool fits(const mw_param *params, int count, const cuda_entry *entry) {
  if (count != entry->nslots) return false;
  for (int i = 0; i < count; i++) {
    bool unknown = params[i].dtype == MW_STRUCT && !params[i].pointer;
    if (!unknown && params[i].size != entry->slots[i].size) return false;
  }
  return true;
}

static void use_sizes(const cuda_entry *entry, mw_signature *out) {
  mw_free(out->params);
  out->params = mw_calloc((size_t)entry->nslots, sizeof *out->params);
  out->nparams = entry->nslots;
  for (int i = 0; i < entry->nslots; i++) {
    mw_param *param = &out->params[i];
    bool pointer = entry->slots[i].size == 8;
    *param = (mw_param){.dtype = pointer ? MW_VOID : MW_STRUCT, .lanes = 1, .pointer = pointer};
    if (pointer)
      snprintf(param->type, sizeof param->type, "void *");
    else
      snprintf(param->type, sizeof param->type, "%u bytes", entry->slots[i].size);
  }
}

static void use_slots(const cuda_entry *entry, mw_signature *out) {
  for (int i = 0; i < out->nparams; i++) {
    out->params[i].offset = entry->slots[i].offset;
    out->params[i].size = entry->slots[i].size;
  }
  out->args_bytes = entry->args_bytes;
}

/* The name; of textures and surfaces, which are numbers of 64 bits in a mangled name, the type as well. */
static void use_declared(const mw_param *declared, mw_param *param) {
  memcpy(param->name, declared->name, sizeof declared->name);
  const bool image = declared->dtype == MW_TEXTURE || declared->dtype == MW_SURFACE;
  if (!image || declared->pointer || param->pointer || param->size != sizeof(cuda_handle)) return;
  param->dtype = declared->dtype;
  memcpy(param->type, declared->type, sizeof declared->type);
}

void cuda_params_of(const cuda_entry *entry, const char *source, mw_signature *out) {
  bool mangled = mw_signature_parse(entry->symbol, out);
  if (!mangled) {
    snprintf(out->name, sizeof out->name, "%s", entry->symbol);
    snprintf(out->plain, sizeof out->plain, "%s", entry->symbol);
  }
  mw_param *declared = mw_calloc((size_t)entry->nslots + 1, sizeof *declared);
  int count = mw_declared_params(source, mw_signature_bare(out->plain), declared, entry->nslots);
  if (!mangled && count == entry->nslots && count > 0) {
    out->params = mw_calloc((size_t)count, sizeof *declared);
    memcpy(out->params, declared, (size_t)count * sizeof *declared);
    out->nparams = count;
  }
  if (out->unknown || !fits(out->params, out->nparams, entry)) use_sizes(entry, out);
  use_slots(entry, out);
  for (int i = 0; i < out->nparams; i++)
    if (out->params[i].dtype == MW_STRUCT && !out->params[i].pointer) mw_declared_enum(source, &out->params[i]);
  for (int i = 0; i < out->nparams && count == out->nparams; i++) use_declared(&declared[i], &out->params[i]);
  mw_free(declared);
}
