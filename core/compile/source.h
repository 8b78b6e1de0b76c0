/* SPDX-License-Identifier: MIT
 *
 * What is compiled: a text and its options, the same for both devices; or what is compiled already. */
#ifndef MW_COMPILE_SOURCE_H
#define MW_COMPILE_SOURCE_H

#include "core/base/error.h"
#include "core/compile/cache.h"

typedef enum mw_form { MW_FORM_SOURCE, MW_FORM_CUBIN, MW_FORM_PTX, MW_FORM_FATBIN } mw_form;

typedef struct mw_source {
  const char        *name;      /* shown in messages and line directives */
  const char        *text;
  const char        *folder;    /* where #include "x" looks first; NULL: none */
  const char *const *includes;  /* more folders, NULL-terminated; may be NULL */
  const char *const *defines;   /* "NAME" or "NAME=VALUE", NULL-terminated; may be NULL */
  const char *const *templates; /* kernels to instantiate, "scale<float>", NULL-terminated; may be NULL */
  const char        *standard;  /* "c++17"; NULL: the default, c++17 */
  bool               fast_math, line_info, no_contract; /* no_contract: a*b+c is not fused */
  int                max_registers; /* 0: no cap; ignored by the CPU device, as ptxas is */
  const char *const *ptxas;     /* its options, "-dlcm=cg", NULL-terminated; may be NULL */
  const char        *engine;    /* NULL or "auto", "loop", "split", "fiber"; ignored by CUDA */
  bool               no_cache;
  mw_form            form;
  const void        *code;      /* of the other forms: compiled already, for CUDA. The text then only declares kernels */
  size_t             code_bytes;
} mw_source;

/* A copy that owns its texts and lists, without the code: lists of the copy are never NULL. Freed by mw_source_free. */
mw_source mw_source_copy(const mw_source *);
void      mw_source_free(mw_source *);

/* Adds to a key the text and options of the source and every file it includes, directly or not, looked up in
 * source->folder, source->includes and the host compiler's CPATH and CPLUS_INCLUDE_PATH: contents where found, the fact
 * of absence where not. complete: false where an #include names its file by a macro: such a source is not cached.
 * MW_IO: it includes a pipe or a device, for which a compiler would wait or which has no end. */
mw_status mw_source_hash(const mw_source *, mw_cache_keymaker *, bool *complete, mw_error *);

#endif
