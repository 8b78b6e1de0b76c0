/* SPDX-License-Identifier: MIT
 *
 * What ptxas says, about the user's source: it knows lines of PTX and symbols only. */
#ifndef MW_CUDA_ASSEMBLER_H
#define MW_CUDA_ASSEMBLER_H

#include "core/backend/cuda/cubin.h"
#include "core/compile/source.h"
#include "core/source/lexer.h"

/* The plain name of the function that no code defines, "late" of _Z4latef, without namespaces; false: the log is about
 * something else. */
bool cuda_assembler_undefined(const char *log, char *out, size_t size);
/* Is the log about lines of PTX, such as inline asm? */
bool cuda_assembler_lines(const char *log);
/* Its errors as "x.cu:12: error: ...", with the source lines. ptx: of the same compilation, with -lineinfo. */
void cuda_assembler_place(const char *log, const char *ptx, const mw_source *, mw_text *out);

/* What a verbose log says of spilled registers, "symbol bytes-stored bytes-loaded" a line; "": nothing. From mw_malloc. */
char *cuda_assembler_said(const char *log);
void cuda_assembler_spills(const char *said, cuda_image *); /* into the entries; NULL: nothing was said */

#endif
