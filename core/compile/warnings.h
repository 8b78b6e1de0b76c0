/* SPDX-License-Identifier: MIT
 *
 * A compiler's warnings in one form: those whose place is a file of the user's, each once, with the line of that file.
 *
 *   red.cu:7: warning: using the result of an assignment as a condition without parentheses [-Wparentheses]
 *     if (n = 3) s[t] = 1; */
#ifndef MW_COMPILE_WARNINGS_H
#define MW_COMPILE_WARNINGS_H

#include "core/compile/source.h"

/* Of the log of clang++, g++ or NVRTC; freed by mw_free. folder: the device's own headers, whose warnings are left out,
 * as are those of generated code, which names things mw_...; "": it has none. */
char *mw_warnings_read(const char *log, const mw_source *, const char *folder);

#endif
