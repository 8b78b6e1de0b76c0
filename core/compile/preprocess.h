/* SPDX-License-Identifier: MIT
 *
 * A preprocessor that knows which headers are a device's. The user's own headers are read in, a header of the device
 * stays an #include, and any other one is left out: it belongs to host code, whether it is found or not.
 *
 *   #include <vector>          left out; of a whole text it stays
 *   #include <cuda_fp16.h>     #include <cuda_fp16.h>, one MW_TOKEN_CHUNK token
 *   #include "mine.h"          its tokens
 *   #define N 4
 *   int a[N];                  int a[4]; */
#ifndef MW_COMPILE_PREPROCESS_H
#define MW_COMPILE_PREPROCESS_H

#include "core/compile/source.h"
#include "core/source/lexer.h"

/* What a device compiles. */
typedef struct mw_dialect {
  const char *macros; /* that it predefines, as lines "#define N 1"; NULL: none */
  const char *declared; /* lines of device code that it declares without an #include; NULL: none */
  bool (*has_header)(const char *name); /* has the device a header of that name, for kernels? */
  const char *(*instead_of)(const char *name); /* lines that stand for that header; NULL: it is included; may be NULL */
  const char *(*lacks)(const char *name); /* why the device does not declare a name; NULL: it is not CUDA's; may be NULL */
  bool device_constants; /* are constants outside of functions variables of the device? Numbers become constexpr */
  const char *folder; /* of its headers: their macros are read, and line markers stand for each; NULL: an #include does */
  const char *folders; /* of the host's headers, lines up to an empty one: nothing is left out, they stay an #include;
                          NULL: they are */
  bool constants; /* macros of numbers stay names, and are declared before the text: const auto N = 4; */
} mw_dialect;

typedef struct mw_left_header { /* an #include that was left out */
  char *name;
  int   line, file;
  bool  own;   /* of the user's, not found: "x.h", or any of .cuh or .hpp */
  bool  found; /* in one of the host's folders */
} mw_left_header;

typedef struct mw_preprocessed {
  mw_tokens        tokens; /* #pragma and #error lines are MW_TOKEN_PRAGMA tokens */
  mw_left_header *left;
  int              nleft;
} mw_preprocessed;

void mw_preprocess_source(const mw_source *, const mw_dialect *, mw_preprocessed *out);
void mw_preprocessed_free(mw_preprocessed *);

#endif
