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

typedef enum mw_worth {
  MW_WORTH_TEXT,    /* #include, #error: always there */
  MW_WORTH_ROOT,    /* device code by itself: kernels, device variables, operators */
  MW_WORTH_DEVICE, /* where device code uses it */
  MW_WORTH_USING,   /* using namespace x: where its region is */
  MW_WORTH_REGION, /* namespace x {, extern "C" {: where something in it is; its } is at `close` */
  MW_WORTH_INSTANCE, /* template __global__ void f<int>(int *): where f is */
  MW_WORTH_HOST,    /* never */
} mw_worth;

typedef struct mw_entry {
  mw_worth    worth;
  int         first, last; /* tokens; of a region: up to its { */
  int         close;       /* of a region */
  int         region;      /* the entry of the region round it; -1: none */
  bool        is_kernel, is_template, kept;
  bool        asked, refused; /* an instance asked for names it; it does not compile */
  const char *what;        /* "a host function", for messages */
} mw_entry;

typedef struct mw_entry_name {
  int token, entry;
  int next; /* of the names with the same hash; -1: none */
} mw_entry_name;

typedef struct mw_outline {
  const mw_tokens  *tokens;
  mw_entry         *entries;
  int               nentries;
  mw_entry_name    *names;
  int               nnames;
  int              *buckets;
  unsigned char    *fate; /* of each token: what becomes of it in an entry that is kept */
} mw_outline;

/* In classes methods of the host go, and their bodies. MW_FATE_SEMICOLON: a ; stands for it. MW_FATE_CONST: the const of
 * a number with a fraction, whose value the compiler knows only if it is constexpr. */
enum { MW_FATE_KEPT, MW_FATE_GONE, MW_FATE_SEMICOLON, MW_FATE_CONST };

void mw_outline_read(const mw_tokens *, mw_outline *out);
void mw_outline_free(mw_outline *);

/* The next of the names spelled as the token after that of index `after` (-1: the first); -1: none. */
int mw_outline_next(const mw_outline *, const mw_token *name, int after);

#endif
