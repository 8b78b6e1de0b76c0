/* SPDX-License-Identifier: MIT
 *
 * What failed and why: a status and one message, filled where it is noticed. Only core/bind/error.c makes a Lua
 * error of it. */
#ifndef MW_ERROR_H
#define MW_ERROR_H

#include <stdbool.h>

typedef enum mw_status {
  MW_OK = 0,
  MW_NOT_READY,   /* the work asked about is still running; of a query no error */
  MW_INVALID,     /* rejected before it reached the device */
  MW_NOT_FOUND,   /* a module has no kernel or variable of that name; the text says which it has */
  MW_NO_DEVICE,   /* no such device, or it is not usable; the text says why */
  MW_NO_MEMORY,   /* or no threads; of device memory the text says wanted, free and total */
  MW_COMPILE,     /* error->log holds the compiler's whole log */
  MW_UNSUPPORTED, /* this device cannot do it; the text says what can, if anything */
  MW_FAULT,       /* a kernel broke a rule (bounds, barrier); the device stays usable */
  MW_LOST,        /* the device is unusable for the rest of this process */
  MW_INTERRUPTED, /* Ctrl-C */
  MW_IO,          /* a file; the text holds path and reason */
  MW_DRIVER,      /* any other failing call of the driver */
} mw_status;

typedef struct mw_error {
  mw_status status;
  char      text[1024]; /* one message: lower case, no full stop, numbers and the way out in it */
  int       place, words; /* offsets in text of what a compiler said: its place, "x.cu:7: ", then its words; else 0 */
  bool      generated; /* the place is in text that we have made */
  char     *log;        /* compiler log or NULL; owned, released by mw_error_clear */
} mw_error;

/* Fills the error unless that is NULL; returns the status. */
mw_status mw_fail(mw_error *, mw_status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void      mw_error_log(mw_error *, char *log); /* gives it the log, which is freed if there is no error to keep it */
void      mw_error_clear(mw_error *);

#endif
