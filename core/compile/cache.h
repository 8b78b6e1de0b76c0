/* SPDX-License-Identifier: MIT
 *
 * The on-disk cache of compiled code, shared by both devices and by any number of processes.
 * Folder: $MOONWARP_CACHE, else $XDG_CACHE_HOME/moonwarp, else /.cache/moonwarp; mode 0700; rejected when another user
 * owns it or others may write to it. An entry is written to a temporary name and renamed, carries its length and hash,
 * and is rebuilt when they do not fit. An entry that is not there is looked for in $MOONWARP_CACHE_BASE, where nothing
 * is put. Least recently used entries go when the bound ($MOONWARP_CACHE_MAX bytes, default 1 GiB) is passed. A cache
 * that cannot be used gives one warning a process and never an error. */
#ifndef MW_COMPILE_CACHE_H
#define MW_COMPILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mw_cache_key { uint8_t hash[16]; } mw_cache_key;

/* A key is built from labelled pieces: label and length go into the hash, so "ab","c" and "a","bc" differ. */
typedef struct mw_cache_keymaker mw_cache_keymaker;
mw_cache_keymaker *mw_cache_key_begin(const char *kind);                                    /* "cpu unit", "cubin" */
void mw_cache_key_add(mw_cache_keymaker *, const char *label, const void *bytes, size_t size);
void mw_cache_key_text(mw_cache_keymaker *, const char *label, const char *text);           /* NULL differs from "" */
mw_cache_key mw_cache_key_end(mw_cache_keymaker *);                                         /* frees it */

bool mw_cache_get(const mw_cache_key *, void **bytes, size_t *size); /* mw_malloc'ed; counts a hit or a miss */
void mw_cache_put(const mw_cache_key *, const void *bytes, size_t size);

typedef struct mw_cache_stats {
  char     folder[512];
  char     problem[256];  /* why the cache is off; "" where it works */
  uint64_t entries, bytes, bound;
  uint64_t hits, misses;  /* over all processes, kept in the folder, since the last clear */
} mw_cache_stats;
void mw_cache_stat(mw_cache_stats *out);
int  mw_cache_clear(void); /* entries removed; -1: see mw_cache_stat's problem */

#endif
