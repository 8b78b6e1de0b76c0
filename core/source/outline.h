/* SPDX-License-Identifier: MIT
 *
 * What a preprocessed source declares outside of functions: one entry for each declaration, with the names that it
 * declares and whether device code may use it.
 *
 *   namespace lab { enum side { LEFT, RIGHT }; }     an entry of names side, LEFT and RIGHT, in the region lab
 *   __device__ float half(float x) { ... }           half, for devices
 *   void run(std::vector<float> &x) { ... }          run, of the host */
#ifndef MW_SOURCE_OUTLINE_H
#define MW_SOURCE_OUTLINE_H

#include "core/source/declaration.h"

typedef enum cpu_worth {
  CPU_WORTH_TEXT,   /* #include, #error: always there */
  CPU_WORTH_ROOT,   /* device code by itself: kernels, device variables, operators */
  CPU_WORTH_DEVICE, /* where device code uses it */
  CPU_WORTH_USING,  /* using namespace x: where its region is */
  CPU_WORTH_REGION, /* namespace x {, extern "C" {: where something in it is; its } is at `close` */
  CPU_WORTH_INSTANCE, /* template __global__ void f<int>(int *): where f is */
  CPU_WORTH_HOST,   /* never */
} cpu_worth;

typedef struct cpu_entry {
  cpu_worth   worth;
  int         first, last; /* tokens; of a region: up to its { */
  int         close;       /* of a region */
  int         region;      /* the entry of the region round it; -1: none */
  bool        is_kernel, is_template, kept;
  bool        asked, refused; /* an instance asked for names it; it does not compile */
  const char *what;        /* "a host function", for messages */
} cpu_entry;

typedef struct cpu_entry_name {
  int token, entry;
  int next; /* of the names with the same hash; -1: none */
} cpu_entry_name;

typedef struct cpu_outline {
  const cpu_tokens *tokens;
  cpu_entry        *entries;
  int               nentries;
  cpu_entry_name   *names;
  int               nnames;
  int              *buckets;
  unsigned char    *fate; /* of each token: what becomes of it in an entry that is kept */
} cpu_outline;

/* In classes methods of the host go, and their bodies. CPU_FATE_SEMICOLON: a ; stands for it. CPU_FATE_CONST: the const of
 * a number with a fraction, whose value the compiler knows only if it is constexpr. */
enum { CPU_FATE_KEPT, CPU_FATE_GONE, CPU_FATE_SEMICOLON, CPU_FATE_CONST };

void cpu_outline_read(const cpu_tokens *, cpu_outline *out);
void cpu_outline_free(cpu_outline *);

/* The next of the names spelled as the token after that of index `after` (-1: the first); -1: none. */
int cpu_outline_next(const cpu_outline *, const cpu_token *name, int after);

#endif
