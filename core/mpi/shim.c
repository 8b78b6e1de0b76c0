/* SPDX-License-Identifier: MIT
 *
 * The calls of shim.h on the MPI whose mpicc compiles this file. Calls that may wait are begun and tested, so that a
 * wait can be interrupted. */
#include "shim.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif

static MPI_Comm spaces[MW_MPI_SPACES];
static MPI_Request *requests; /* MPI_REQUEST_NULL: free */
static int capacity;

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* MPI_MAX and MPI_MIN of a NaN depend on the order of ranks. Here it loses against a number, as in C's fmax. */
#define EXTREME(name, type, wins)                                                                                      \
  static void name(void *in, void *out, int *count, MPI_Datatype *of) {                                                \
    const type *b = in;                                                                                                \
    type *a = out;                                                                                                     \
    (void)of;                                                                                                          \
    for (int i = 0; i < *count; i++)                                                                                   \
      if (b[i] wins a[i] || a[i] != a[i]) a[i] = b[i];                                                                 \
  }

EXTREME(max_f32, float, >)
EXTREME(max_f64, double, >)
EXTREME(min_f32, float, <)
EXTREME(min_f64, double, <)

static MPI_Op extremes[2][2]; /* least and greatest, of f32 and f64 */

static int make_extremes(void) {
  MPI_User_function *const functions[2][2] = {{min_f32, min_f64}, {max_f32, max_f64}};
  int code = MPI_SUCCESS;
  for (int i = 0; i < 4 && code == MPI_SUCCESS; i++)
    code = MPI_Op_create(functions[i / 2][i % 2], 1, &extremes[i / 2][i % 2]);
  return code;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static int takes_cuda(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support();
#else
  return 0;
#endif
}

static int find_local(mw_mpi_place *place) {
  MPI_Comm node;
  int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(node, &place->local_rank);
  MPI_Comm_size(node, &place->local_size);
  return MPI_Comm_free(&node);
}

static int shim_open(mw_mpi_place *place) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int given, length, code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place->size);
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = 0;
  for (char *at = version; *at; at++)
    if (*at == '\t') *at = ' ';
  snprintf(place->version, sizeof place->version, "%s", version);
  place->takes_cuda = takes_cuda();
  for (int i = 0; i < MW_MPI_SPACES && code == MPI_SUCCESS; i++) code = MPI_Comm_dup(MPI_COMM_WORLD, &spaces[i]);
  if (code == MPI_SUCCESS) code = make_extremes();
  return code == MPI_SUCCESS ? find_local(place) : code;
}

static void shim_close(void) {
  MPI_Finalize();
}

static void shim_abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
}

static void shim_explain(int code, char text[MW_MPI_TEXT]) {
  char whole[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(code, whole, &length);
  snprintf(text, MW_MPI_TEXT, "%s", whole);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static int free_request(void) {
  for (int i = 0; i < capacity; i++)
    if (requests[i] == MPI_REQUEST_NULL) return i;
  const int first = capacity, wanted = capacity ? 2 * capacity : 16;
  MPI_Request *grown = realloc(requests, (size_t)wanted * sizeof *grown);
  if (!grown) return -1;
  for (requests = grown; capacity < wanted; capacity++) requests[capacity] = MPI_REQUEST_NULL;
  return first;
}

/* For data that is only moved, the size is enough. */
static MPI_Datatype moved_type(size_t size) {
  return size == 1 ? MPI_UINT8_T : size == 2 ? MPI_UINT16_T : size == 4 ? MPI_UINT32_T : MPI_UINT64_T;
}

static MPI_Datatype added_type(const char *name) {
  static const char *const names[] = {"f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
  const MPI_Datatype types[] = {MPI_FLOAT,   MPI_DOUBLE,  MPI_INT8_T,   MPI_INT16_T,  MPI_INT32_T,
                                MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return types[i];
  return MPI_DATATYPE_NULL;
}

static MPI_Op op_of(const char *name, const char *type) {
  const int is_max = strcmp(name, "max") == 0;
  if (strcmp(name, "prod") == 0) return MPI_PROD;
  if (!is_max && strcmp(name, "min") != 0) return MPI_SUM;
  if (*type == 'f') return extremes[is_max][strcmp(type, "f64") == 0];
  return is_max ? MPI_MAX : MPI_MIN;
}

/* In MPI only the root says that its own part is in place. */
static const void *in_of(const mw_mpi_order *o, int is_root) {
  if (o->in) return o->in;
  return is_root ? MPI_IN_PLACE : o->out;
}

static int reduction(const mw_mpi_order *o, int count, int is_root, MPI_Comm comm, MPI_Request *to) {
  const MPI_Datatype type = added_type(o->type);
  const MPI_Op op = op_of(o->op, o->type);
  if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  if (o->kind == MW_MPI_REDUCE) return MPI_Ireduce(in_of(o, is_root), o->out, count, type, op, o->peer, comm, to);
  if (o->kind == MW_MPI_ALL_REDUCE) return MPI_Iallreduce(in_of(o, 1), o->out, count, type, op, comm, to);
  return MPI_Ireduce_scatter_block(in_of(o, 1), o->out, count, type, op, comm, to);
}

static int begin(const mw_mpi_order *o, MPI_Request *to) {
  const MPI_Comm comm = spaces[o->space];
  const MPI_Datatype type = moved_type(o->size);
  const int count = (int)o->count;
  int rank;
  if (o->count > INT_MAX) return MPI_ERR_COUNT;
  MPI_Comm_rank(comm, &rank);
  switch (o->kind) {
  case MW_MPI_SEND:
    return MPI_Isend(o->in, count, type, o->peer, o->tag, comm, to);
  case MW_MPI_RECV:
    return MPI_Irecv(o->out, count, type, o->peer, o->tag, comm, to);
  case MW_MPI_BROADCAST:
    return MPI_Ibcast(o->out, count, type, o->peer, comm, to);
  case MW_MPI_GATHER:
    return MPI_Igather(o->in, count, type, o->out, count, type, o->peer, comm, to);
  case MW_MPI_ALL_GATHER:
    return MPI_Iallgather(in_of(o, 1), count, type, o->out, count, type, comm, to);
  case MW_MPI_ALL_TO_ALL:
    return MPI_Ialltoall(o->in, count, type, o->out, count, type, comm, to);
  default:
    return reduction(o, count, rank == o->peer, comm, to);
  }
}

static int shim_post(const mw_mpi_order *order, int *request) {
  *request = free_request();
  return *request < 0 ? MPI_ERR_NO_MEM : begin(order, &requests[*request]);
}

static int shim_test(int request, int *done, size_t *bytes) {
  MPI_Status status;
  MPI_Count count = 0;
  int code = MPI_Test(&requests[request], done, &status);
  if (code == MPI_SUCCESS && *done) MPI_Get_elements_x(&status, MPI_BYTE, &count);
  *bytes = (size_t)count;
  if (code != MPI_SUCCESS) requests[request] = MPI_REQUEST_NULL;
  return code;
}

__attribute__((visibility("default")))
const mw_mpi_calls mw_mpi = {MW_MPI_VERSION, shim_open, shim_post, shim_test, shim_close, shim_abort, shim_explain};
