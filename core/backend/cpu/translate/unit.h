/* SPDX-License-Identifier: MIT
 *
 * From .cu text to a loaded unit: preprocess, choose an engine for each kernel, rewrite, compile (or find in the
 * cache), load. Knows the abi, the cache and the compiler; knows neither threads nor devices. */
#ifndef MW_CPU_UNIT_H
#define MW_CPU_UNIT_H

#include "core/backend/backend.h"
#include "core/backend/cpu/abi.h"
#include "core/compile/refusals.h"

/* A unit has a flavor. FAST holds the kernels that run as loops or split loops; built-ins are plain thread-local
 * variables that vanish in optimisation. FIBER holds every kernel, its built-ins are read through `self`, and each
 * thread knows where it is: it runs what cannot be split, and re-runs a faulting block to name the thread. CHECK is
 * FIBER with a call before each access to memory, for check mode; COUNT is CHECK, and what warps do is counted. */
typedef enum cpu_flavor { CPU_FAST, CPU_FIBER, CPU_CHECK, CPU_COUNT } cpu_flavor;

static inline bool cpu_is_checked(cpu_flavor flavor) {
  return flavor == CPU_CHECK || flavor == CPU_COUNT;
}

typedef struct cpu_unit {
  const mw_unit_table *table; /* of the loaded shared object */
  void                *handle;
  cpu_flavor           flavor;
  bool                 from_cache;
  char                *log; /* the compiler's warnings; "" if none */
  int                  fd;  /* stays open: the name /proc/self/fd/N distinguishes loaded units */
} cpu_unit;

/* One kernel or template as the source declares it, known before anything is compiled. */
typedef struct cpu_declared {
  char        name[MW_MOST_NAME + 18];   /* "memcopy"; a template's bare name; its own where others have it too */
  char        shown[MW_MOST_NAME + 2];   /* as the source has it */
  char        scope[MW_MOST_NAME + 2];   /* its namespaces, "lab::"; "" */
  bool        is_template;
  char        engine[8];     /* what automatic choice (or the forced engine) gives */
  char        engine_why[256];
} cpu_declared;

/* A source after preprocessing and analysis; reused for every unit compiled from it. */
typedef struct cpu_program cpu_program;

/* Copies what it needs of the source. checked: for units of the check flavors. */
mw_status cpu_program_parse(const mw_source *, bool checked, cpu_program **out, mw_error *);
void      cpu_program_free(cpu_program *);
int       cpu_program_kernels(const cpu_program *, const cpu_declared **out);
const mw_source *cpu_program_options(const cpu_program *);
/* More may be refused when a unit is loaded. */
const mw_refusals *cpu_program_refused(const cpu_program *);
bool      cpu_program_has_variables(const cpu_program *); /* any __device__ or __constant__ variable */

/* Compiles and loads. templates: NULL-terminated, in addition to the source's own list. The table lists every plain
 * kernel and every instance asked for, in both flavors. A FAST unit has no entry (run == NULL, engine "fiber") for a
 * kernel that only fibers run: load the FIBER flavor for it. The table's engine counts, not cpu_declared's: a form
 * that does not compile is given up for a slower one here. */
mw_status cpu_unit_load(cpu_program *, cpu_flavor, const char *const *templates, cpu_unit **out, mw_error *);
void      cpu_unit_free(cpu_unit *);
typedef struct cpu_code { /* a function */
  const char *name; /* its symbol */
  uintptr_t   address;
} cpu_code;

typedef struct cpu_place { /* of a variable */
  uintptr_t address;
  size_t    bytes;
} cpu_place;

/* The device variables of a loaded unit, and the static ones of its functions and classes; freed by mw_free. */
cpu_place *cpu_unit_places(const cpu_unit *, size_t *count);
/* The functions of a loaded unit by name; `names` holds their names. Both are freed by mw_free. */
cpu_code *cpu_unit_functions(const cpu_unit *, size_t *count, char **names);
/* The generated C++; malloc'ed. */
char     *cpu_unit_source(cpu_program *, cpu_flavor, const char *const *templates);

/* The compiler in use ("clang++ 14.0.6") or, without one, what was looked for. */
mw_status cpu_compiler(char *out, size_t size, mw_error *);

#endif
