/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share: from a source to an analysed program, to C++, to a shared object. */
#ifndef MW_CPU_TRANSLATE_H
#define MW_CPU_TRANSLATE_H

#include "core/backend/cpu/program/program.h"
#include "core/backend/cpu/translate/unit.h"
#include "core/compile/process.h"

typedef enum cpu_forms { CPU_ALL_FORMS = -1, CPU_NO_FORM = -2 } cpu_forms;

/* One compilation: the text that is generated of the program, and how it is compiled. */
typedef struct cpu_attempt {
  const cpu_program *program;
  cpu_flavor         flavor;
  const char *const *asked;    /* kernels to list, as asked for, NULL-terminated */
  int                only;     /* the function that is in its fast form, or one of cpu_forms */
  bool               unmarked; /* what check mode adds: loops.c, locals.c, padding.c */
} cpu_attempt;

/* Compiles the program, or what compiles of it; out: the warnings and their NUL, then the shared object, also after an
 * error to be freed. asked: instances of templates, NULL-terminated (attempt.c). */
mw_status cpu_translate(cpu_program *, cpu_flavor, const char *const *asked, mw_text *out, mw_error *);

/* Preprocesses and analyses the program, and chooses the forms of its kernels, where that has not been done (a hit in the
 * cache needs none of it). As long as that fails, the source's next text is tried. asked: instances of templates,
 * NULL-terminated. MW_UNSUPPORTED: names what the CPU device does not have. The message says what was left out
 * (program.c). */
mw_status cpu_program_need(cpu_program *, const char *const *asked, mw_error *);
/* Goes on to the source's next text, and forgets the error: to its device code alone, then to that without the kernels
 * that failed (core/compile/front.h). False: the source is not to blame, or nothing would be left. */
bool      cpu_program_next(cpu_program *, mw_error *);
void      cpu_program_keep(const cpu_program *); /* in the cache */

/* Items, functions and variables of the tokens (declaration.c). */
void cpu_declarations_read(cpu_program *);

/* Sets engine, engine_why, split and ordered of every kernel (engine.c). */
mw_status cpu_engines_choose(cpu_program *, mw_error *);
bool      cpu_is_fast(const cpu_function *);  /* a kernel that runs as a loop or in a split form */
/* Gives up a fast kernel's form: a split form without barriers becomes a loop, anything else is run by fibers. */
void      cpu_form_drop(cpu_program *, cpu_function *, const char *why);
/* The error of an engine that was asked for and cannot run the kernel. */
mw_status cpu_engine_refuse(const cpu_program *, const cpu_function *, const char *engine, const char *why, mw_error *);
void      cpu_engines_demote(cpu_program *, const char *why); /* fibers run every kernel */
bool      cpu_attempt_has(const cpu_attempt *, const cpu_function *); /* the kernel in its fast form? */
bool      cpu_attempt_has_split(const cpu_attempt *);                 /* some kernel in its split form? */

/* How the blocks of a barrier-free kernel may be walked: an mw_walk of shim/entry.h (walk.c). */
const char *cpu_walk(const cpu_program *, const cpu_function *);
/* Functions that give the sizes of a function's static shared memory; their sum for an instance of a kernel, which is
 * referred to as ns::k<float>: an expression (shared.c). */
void cpu_shared_size_put(const cpu_program *, const cpu_function *, mw_text *);
void cpu_shared_sum_put(const cpu_program *, const cpu_function *kernel, const char *reference, mw_text *);
/* The generated C++ (emit.c). */
char *cpu_emit(const cpu_attempt *);

/* toolchain.c */
typedef struct cpu_toolchain {
  char path[512];
  char version[128]; /* "clang++ 14.0.6" */
  bool clang;
} cpu_toolchain;

bool      cpu_file_stamp(mw_text *, const char *path); /* its path, size and time; true: a folder, nothing written */
/* A key of the cache for what the program at that path makes of itself; generator: and of the shim. */
mw_cache_keymaker *cpu_stamp_key(const char *kind, const char *path, bool generator);
void      cpu_generator_stamp(mw_text *); /* of this program and every file of the shim */
mw_status cpu_toolchain_find(cpu_toolchain *out, mw_error *);
void      cpu_toolchain_identity(char *out, size_t size); /* of every compiler in question and this CPU; no process */
/* linker.c */
extern const char cpu_libraries[];    /* options of a compiler that make a shared object */
extern const char cpu_check_linked[]; /* and of one with the hooks: which functions of libm these stand before */
/* The command that links an object file, as that clang++ would; false: it is not known. */
bool      cpu_linker_find(const cpu_toolchain *, const char *object, const char *output, mw_argv *);
/* macros.c: the folders of a compiler's headers, an empty line, its macros and CUDA's, as lines; freed by mw_free. */
mw_status   cpu_macros_find(const cpu_toolchain *, const char *standard, char **out, mw_error *);
const char *cpu_macros_of(const char *found); /* the part after the empty line */
/* compiler.c */
/* object, which is empty, gets the warnings (core/compile/warnings.h) and their NUL, then the shared object. NULL:
 * the text is checked, and no code is
 * made. */
mw_status cpu_compile(const cpu_attempt *, const char *generated, mw_text *object, mw_error *);
bool cpu_object_is_whole(const char *bytes, size_t size); /* a shared object as long as its headers say */
/* The functions of a whole one, by addresses from its start; names are in its bytes. */
cpu_code *cpu_object_functions(const char *bytes, size_t size, size_t *count);
cpu_place *cpu_object_statics(const char *bytes, size_t size, size_t *count); /* of functions and classes */

/* MW_COMPILE: the shared object would run code while it loads, or calls what kernels cannot call (linkage.c). From one
 * of the check flavor it takes the initialiser that -fsanitize=thread adds. */
mw_status cpu_linkage_check(const cpu_program *, cpu_flavor, mw_text *object, mw_error *);
/* The object file of shim/check/hooks.cpp for a flavor, made by that compiler or found in the cache (hooks.c). */
mw_status cpu_hooks_write(const cpu_toolchain *, cpu_flavor, const char *path, mw_error *);

#endif
