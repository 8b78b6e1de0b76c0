/* SPDX-License-Identifier: MIT
 *
 * What compiled code says of its kernels and variables, read without a device: a cubin (an ELF file whose .nv.info
 * sections hold the attributes) or, where NVRTC only knows an older architecture, PTX text.
 * Attribute numbers: LLVM's NVPTX tools and the CUDA binary utilities print them by name; those used here were
 * compared with what the driver reports. */
#ifndef MW_CUDA_CUBIN_H
#define MW_CUDA_CUBIN_H

#include "core/backend/backend.h"
#include "core/source/signature.h"

typedef struct cuda_slot { /* one parameter */
  uint32_t offset, size;
} cuda_slot;

typedef struct cuda_entry {   /* one kernel */
  const char *symbol;         /* mangled name */
  mw_signature signature;     /* what that says; plain is the symbol if it is not mangled */
  int registers, max_threads; /* 0: not told */
  size_t shared_bytes;        /* static, without what the hardware reserves per block */
  size_t local_bytes, args_bytes;
  int spill_stores, spill_loads; /* bytes, as ptxas reports them; -1: not told */
  int nslots;
  cuda_slot *slots;
} cuda_entry;

typedef struct cuda_global { /* one device variable */
  const char *symbol;
  mw_signature signature;
  size_t bytes;
  bool constant;
} cuda_global;

typedef struct cuda_image {
  cuda_entry *entries;
  cuda_global *globals;
  int nentries, nglobals;
  size_t const_bytes; /* of all __constant__ variables */
  int arch;           /* of a cubin: 90 */
  void *text;         /* the names */
} cuda_image;

/* The image's names as texts; the readers leave them to it. */
void cuda_image_read_names(cuda_image *);

/* Both copy what they keep. False: not such a file, or damaged; out is then empty. */
bool cuda_cubin_read(const void *bytes, size_t size, cuda_image *out);
bool cuda_ptx_read(const char *text, cuda_image *out);
cuda_entry *cuda_image_entry(cuda_image *, const char *symbol); /* NULL: it has none of that name */
void cuda_image_free(cuda_image *);

#endif
