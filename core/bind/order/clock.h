/* SPDX-License-Identifier: MIT
 *
 * What is ordered after what among the operations of the script and of the devices' streams. clock.c keeps it; access.c
 * asks it whether two accesses of one array can run at once. */
#ifndef MW_BIND_CLOCK_H
#define MW_BIND_CLOCK_H

#include "core/backend/backend.h"

enum { ORDER_LANES = 64 };

typedef struct order_clock { /* the operations of each lane that have ended before some moment: the first of[lane] */
  uint64_t of[ORDER_LANES];
} order_clock;

typedef struct order_place { /* in a script; file NULL: not known */
  const char *file;
  int line;
} order_place;

const char *order_name(const char *); /* the same text for all its uses, for good; NULL: there are too many */

/* A stream's life, made at that place; one that is never opened is a default stream. */
void order_open(mw_stream *, bool blocking, order_place made);
void order_close(mw_stream *);

/* What the stream's next operation is ordered after; number: that operation gets one, if it is asked for. */
const order_clock *order_next(mw_stream *, uint64_t *number);
bool order_has_streams(mw_device *); /* besides its default stream */
int order_lane(mw_stream *); /* its index in clocks */
bool order_host_knows(int index, uint64_t number); /* that the operation has ended */
const char *order_stream_text(int index, char *out, size_t size);

/* A moment of a stream: an event or a callback. clock is allocated once it is needed; free it by mw_free. */
void order_record(mw_stream *, order_clock **clock);
void order_wait(mw_stream *, const order_clock *);

/* The script has waited. */
void order_reached(const order_clock *);
void order_reached_stream(mw_stream *);
void order_reached_device(mw_device *);

#endif
