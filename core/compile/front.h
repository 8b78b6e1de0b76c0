/* SPDX-License-Identifier: MIT
 *
 * The device code of a .cu file: its kernels and device variables, and of everything else what they need. Host code and
 * host headers are left out, whatever they use. Every token keeps its file and line.
 *
 *   #include <vector>
 *   struct point { float x, y; };                        struct point { float x, y; };
 *   struct owner { std::vector<point> points; };
 *   __global__ void move(point *p) { ... }               __global__ void move(point *p) { ... }
 *   int main() { ... } */
#ifndef MW_COMPILE_FRONT_H
#define MW_COMPILE_FRONT_H

#include "core/compile/preprocess.h"
#include "core/compile/refusals.h"

typedef struct mw_front mw_front;

/* Of a source that does not compile as it is. NULL: there is no kernel in it, or its brackets, quotes and comments do
 * not match; the error of that compilation, or NULL, becomes one about this, unless it says more. */
mw_front *mw_front_read(const mw_source *, const mw_dialect *, mw_error *);
void mw_front_free(mw_front *);

/* Keeps what the name of a template's instance needs, "scale<point>", as those in source->templates. False: it is there
 * already. */
bool mw_front_keep(mw_front *, const char *name);
/* After a compilation of the text that failed: the kernels and device variables that need a declaration in which the
 * error's log has an error leave the text, with that declaration, and are added to the list. An error in an instance of a
 * template is that of the declaration that asks for the instance. False if none, an instance asked for is among
 * them, or no kernel would be left. device: "the CPU device". */
bool mw_front_refuse(mw_front *, const mw_error *, const char *device, mw_refusals *);
/* Its device code, with line markers; freed by mw_free. */
char *mw_front_text(const mw_front *);
/* Adds to a compiler's message why a name is not there: "; 'f' is left out: a function without __device__ (x.cu:12)". The
 * names are those in quotes. Or which shared array has no constant size. The status becomes MW_UNSUPPORTED where only another device has it. */
void mw_front_explain(const mw_front *, char *message, size_t size, mw_status *);
/* Of a function that is declared and never defined: the error becomes one about its first use. name: without namespaces.
 * False: there is no such declaration, or no use. */
bool mw_front_undefined(const mw_front *, const mw_source *, const char *name, mw_error *);

#endif
