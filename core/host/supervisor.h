/* SPDX-License-Identifier: MIT
 *
 * A supervisor is a small process between ours and one that we start: it holds the limits and collects the output. When
 * that process or ours has ended, it kills whatever is left of that process. */
#ifndef MW_HOST_SUPERVISOR_H
#define MW_HOST_SUPERVISOR_H

#include <stdatomic.h>
#include <stdint.h>

enum { SUPERVISOR_HELD = 4 };

/* Why a process was ended, if it was. */
typedef enum supervisor_reason {
  SUPERVISOR_NONE,
  SUPERVISOR_TIME,
  SUPERVISOR_MEMORY,
  SUPERVISOR_OUTPUT,
  SUPERVISOR_PROCESSES,
  SUPERVISOR_DISK,
  SUPERVISOR_FILES,
  SUPERVISOR_INTERRUPTED, /* we asked for it */
  SUPERVISOR_ORPHANED     /* our process is gone; no one reads this */
} supervisor_reason;

typedef struct supervisor_order {
  const char *path;                  /* of the program */
  const char *const *argv;           /* ends with NULL */
  const char *const *pass;           /* what passes of our environment: names, "NAME*"; ends with NULL; NULL: all */
  const char *const *env;            /* "NAME=value", besides that, or "NAME" to remove it; ends with NULL */
  const char *const *view;           /* what it sees in a sandbox (sandbox.h); NULL: no sandbox */
  const char *log;                   /* file for both streams; NULL: nowhere */
  const char *ended;                 /* file that says how it ended, whole or not at all; NULL: none */
  double      seconds;               /* 0: for ever */
  double      grace;                 /* between SIGINT, SIGTERM and SIGKILL */
  uint64_t    memory;                /* bytes that all its processes hold; 0: any */
  uint64_t    data;                  /* RLIMIT_DATA of each of them; 0: none */
  uint64_t    output;                /* bytes of both streams; 0: any */
  uint64_t    processes;             /* 0: any */
  const char *folder;                /* in which it may keep so much; NULL: none */
  uint64_t    disk, files;           /* bytes and files there; 0: any */
  int         control_fd;            /* our end of a socket: a byte 'i' asks for an end in order, 'k' for one at once */
  _Atomic uint64_t *beat;            /* shared with us: counts up while the supervisor is at work */
  int         held[SUPERVISOR_HELD]; /* files that stay open until nothing is left; -1: none */
} supervisor_order;

/* What comes back over the control socket. */
typedef struct supervisor_report {
  int           exit, signal; /* signal 0: it exited */
  supervisor_reason reason;
  int           log_error;    /* errno of what the log could not take */
  uint64_t      peak, output; /* bytes resident at most as far as seen; bytes written */
  double        seconds;
} supervisor_report;

/* In a new child: becomes the supervisor. */
_Noreturn void supervisor_run(const supervisor_order *);
const char    *supervisor_reason_name(supervisor_reason); /* NULL for SUPERVISOR_NONE */

#endif
