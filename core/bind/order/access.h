/* SPDX-License-Identifier: MIT
 *
 * Accesses of buffers by the script and by the streams, and those of two that nothing orders: races. */
#ifndef MW_BIND_ACCESS_H
#define MW_BIND_ACCESS_H

#include "core/bind/order/clock.h"

enum { ACCESS_SCRIPT = -1, ACCESS_MOST = 64 }; /* a lane: none; kept of a buffer */

typedef enum access_kind {
  LAUNCH_READ,
  LAUNCH_WRITE,
  LAUNCH_ATOMIC,
  COPY_FROM,
  COPY_TO,
  FILL,
  LIBRARY_READ,
  LIBRARY_WRITE,
  HOST_READ,
  HOST_WRITE
} access_kind;

typedef struct access { /* at and lane: the caller fills them in */
  size_t from, to; /* bytes of the buffer, to excluded */
  access_kind kind;
  mw_dtype dtype;
  const char *kernel; /* NULL: none */
  int lane;           /* ACCESS_SCRIPT: none */
  uint64_t number;
  order_place at, launched; /* launched: the graph that it is in */
} access;

typedef struct party {
  access access;
  size_t bytes;
  char verb[288];              /* "written by kernel 'copy'" */
  char stream[320], text[256]; /* "": none; the line of the script, "": not known */
} party;

typedef struct race {
  const char *remedy;
  party parties[2]; /* the earlier one first */
  char object[128], device[sizeof((mw_device_info *)0)->id];
  long long index, elements; /* of the first element that both touch, from 0 */
  size_t count;
  bool intended, warning;
} race;

typedef order_place access_here(void *owner); /* the line of the script that is running */

/* Whether both touch the same bytes, and one writes them. */
bool access_clash(const access *, const access *);
bool access_same_place(const order_place *, const order_place *);
/* Reports what it races with, and forgets what the script knows to have ended. clock: of what it comes after; NULL: the
 * script's. Its line is asked for if there is a race. */
void access_judge(const mw_buffer *, access *, const order_clock *clock, access_here *, void *owner);
void access_keep(mw_buffer *, const access *, const order_clock *); /* for those that come later */
void access_race(const mw_buffer *, const access *earlier, const access *later); /* is found, or counted */
const race *access_races(int index); /* in the order in which they were found; NULL: no more */

#endif
