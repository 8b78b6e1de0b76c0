/* SPDX-License-Identifier: MIT
 *
 * The functions of the shim over the site's MPI (shim.c), which core/bind/mpi.c calls. Handles and the layout of a
 * status differ between implementations, and stay in the shim. */
#ifndef MW_MPI_SHIM_H
#define MW_MPI_SHIM_H

#include <stddef.h>

enum { MW_MPI_VERSION = 1, MW_MPI_TEXT = 256 };

/* Communicators, each of all ranks, so that messages of a script and of the library are never confused. */
typedef enum mw_mpi_space {
  MW_MPI_ARRAYS,
  MW_MPI_VALUES,
  MW_MPI_GATHERED,
  MW_MPI_JOB,
  MW_MPI_GROUPS,
  MW_MPI_SPACES
} mw_mpi_space;

/* In the order of names in core/bind/mpi.c. */
typedef enum mw_mpi_kind {
  MW_MPI_SEND,
  MW_MPI_RECV,
  MW_MPI_BROADCAST,
  MW_MPI_REDUCE,
  MW_MPI_ALL_REDUCE,
  MW_MPI_GATHER,
  MW_MPI_ALL_GATHER,
  MW_MPI_REDUCE_SCATTER,
  MW_MPI_ALL_TO_ALL,
  MW_MPI_KINDS
} mw_mpi_kind;

typedef struct mw_mpi_order { /* what to begin */
  int kind, space;
  const void *in; /* NULL where out is given: it is out */
  void *out;
  size_t count;     /* elements that this rank sends to, or receives of, each */
  size_t size;      /* bytes of an element */
  const char *type; /* "f32"; reductions need it */
  const char *op;   /* "sum", "prod", "max", "min" */
  int peer, tag;    /* peer: also the root */
} mw_mpi_order;

typedef struct mw_mpi_place {
  int rank, size, local_rank, local_size; /* local: of this node */
  int takes_cuda;                         /* pointers to a GPU's memory may be given */
  char version[MW_MPI_TEXT];
} mw_mpi_place;

/* Each returns 0, or MPI's error code, for explain. */
typedef struct mw_mpi_calls {
  int version;
  int (*open)(mw_mpi_place *);
  int (*post)(const mw_mpi_order *, int *request);
  int (*test)(int request, int *done, size_t *bytes); /* bytes: received; the request ends with an error too */
  void (*close)(void);
  void (*abort)(int status); /* ends every rank */
  void (*explain)(int code, char text[MW_MPI_TEXT]);
} mw_mpi_calls;

#define MW_MPI_SYMBOL "mw_mpi"

#endif
