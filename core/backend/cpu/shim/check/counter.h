/* SPDX-License-Identifier: MIT
 *
 * Counting in check mode, shared by the hooks of a counted unit (hooks.cpp next to this file) and the checker
 * (core/backend/cpu/check/log.c). The lanes of a warp run one after the other. An access of the first one opens a
 * request; the others join it by accesses at the same place, after the same calls and as many iterations of the same
 * loops (mw_thread.path). So they come together as on a GPU, which brings a warp's lanes together after each branch and
 * each loop. */
#ifndef MW_CHECK_COUNT_H
#define MW_CHECK_COUNT_H

/* An access without its address: where in the code, what, how many bytes. */
typedef unsigned long long mw_count_what;
enum mw_count_kind { MW_COUNT_LOAD, MW_COUNT_STORE, MW_COUNT_ATOMIC };
enum { MW_COUNT_BYTES = 5, MW_COUNT_KIND = 2, MW_COUNT_PLACE = 16 }; /* bits of the bytes, of the kind; before the place */
enum { MW_COUNT_WHOLE = 8 }; /* bits before the alignment of the vector or structure of which it is a part; 0: of none */

static inline mw_count_what mw_count_what_of(const void *place, enum mw_count_kind kind, unsigned bytes) {
  return (mw_count_what)(unsigned long)place << MW_COUNT_PLACE | (unsigned)kind << MW_COUNT_BYTES | bytes;
}

enum { MW_LANES = 32, MW_MOST_CALLS = 32 /* in each other, that are told apart */ };

typedef struct mw_request {
  mw_count_what what;      /* 0: none */
  unsigned long long path; /* of its lanes */
  struct mw_request *next; /* which one a lane made after this one; never NULL */
  unsigned lanes;          /* those that have joined, a bit for each */
  unsigned long long addresses[MW_LANES];
  struct mw_request *before; /* of the same place and path, which a lane joins first; never NULL */
  struct mw_request *link, *again, *last; /* the checker's: of the same hash; of the same place and path */
} mw_request;

typedef struct mw_whole { /* a vector or a structure that is accessed */
  unsigned long long at;
  unsigned bytes, alignment;
} mw_whole;
enum { MW_WHOLES = 4 }; /* the last ones of a lane */

typedef struct mw_warp_log { /* the requests of a warp that are open */
  mw_request *at[MW_LANES];  /* by lane: the one that it joined last */
  unsigned long long callers[MW_MOST_CALLS][MW_LANES]; /* the paths that it returns to */
  mw_whole wholes[MW_LANES][MW_WHOLES];
  unsigned char whole[MW_LANES]; /* the place of the next one */
  unsigned char has_wholes;
} mw_warp_log;

#endif
