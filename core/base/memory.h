/* SPDX-License-Identifier: MIT
 *
 * Counted host memory; without any left the process aborts with a message. */
#ifndef MW_MEMORY_H
#define MW_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

void       *mw_malloc(size_t);
void       *mw_calloc(size_t, size_t);
void       *mw_realloc(void *, size_t);
char       *mw_strdup(const char *);
char       *mw_format(const char *, ...) __attribute__((format(printf, 1, 2)));
char       *mw_vformat(const char *, va_list) __attribute__((format(printf, 1, 0)));
void        mw_free(void *);
/* The array of count items with room for one more, its size doubled at each power of two. */
void       *mw_grow(void *array, size_t count, size_t item);
uint64_t    mw_allocations(void); /* blocks allocated by the above since the start; the hot path adds none */
/* Appends an item to a list in words, after the separator unless it is the first; what does not fit is left out. */
void        mw_list_add(char *list, size_t size, const char *separator, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *mw_bytes_text(char out[32], double bytes); /* "3.2 GiB" */

#endif
