/* SPDX-License-Identifier: MIT
 *
 * Functions of libraries (BLAS, FFT, ...) on arrays. lua/moonwarp/library.lua describes each in a table: its arrays with
 * their dimensions and what is read and written, its options, and the calls of C that compute it, whose operands are
 * words of a frame. Here such a table becomes a variant, one for each backend and element types, and a call fills the
 * frame: it checks the arrays against each other, and the backend runs the calls in order with the stream.
 *
 *     gemm(C, A, B)    frame: self, queue, C: address, rows, items, count, A: ..., B: ..., m, n, k, batch, alpha, beta
 *
 * What a library keeps (a handle of a device, a plan, a generator) is an object: calls that make and close it, and one
 * that tells it the stream. */
#ifndef MW_NATIVE_H
#define MW_NATIVE_H

#include "core/base/shared.h"
#include "core/bind/bind.h"

enum { MOST_CALLS = 8, MOST_ARRAYS = 6, MOST_OPTIONS = 6, MOST_WORDS = 48, MOST_VARIANTS = 16 };
enum {
  SELF,
  QUEUE,
  WORK,
  FRAME,
  ADDRESS = 0,
  ROWS,
  COLUMNS,
  ITEMS,
  COUNT
}; /* words of the frame, and of an array in it */

typedef enum operand_kind { WORD, REAL, POINTER } operand_kind;          /* POINTER: to the word */
typedef enum result_kind { IGNORED, STATUS, VALUE, STORED } result_kind; /* STORED: to the array, as an int */

typedef struct native_call {
  void *function;
  char name[48];
  int count, to; /* to: the word that a VALUE goes to */
  result_kind result;
  struct {
    operand_kind kind;
    int at;
  } operands[MW_CALL_WORDS];
} native_call;

typedef struct native_array {
  char name[16];
  int at, dims, optional, swap, yes, reads; /* swap, reads: the option's word; -1: never, 0: always */
  int dim[4], plus[4];                      /* their words, and what a side has beyond them */
  mw_dtype dtype;
  bool writes;
} native_array;

typedef struct native_option {
  char name[16];
  int at, yes, no; /* of a boolean: the word's values */
  enum { BOOLEAN, INTEGER, F32, F64 } kind;
  double standard;
} native_option;

typedef struct native_variant {
  char name[32];
  const mw_backend *backend;
  int key; /* of the library's handle; 0: none */
  int words, ncalls, narrays, noptions;
  int nsizes, size, unit; /* calls that say how much memory the others need, its word, and bytes of its unit */
  int many;               /* the word of the number of items; 0: there is one */
  int plain; /* calls from here on are for one item, those before for many; 0: they are repeated for each item */
  native_call calls[MOST_CALLS], sizes[MOST_CALLS];
  native_array arrays[MOST_ARRAYS];
  native_option options[MOST_OPTIONS];
  const char *(*explain)(int status);
  mw_word fixed[MOST_WORDS];
} native_variant;

typedef struct native_value { /* what a library keeps: counted by its handle and by the graphs that use it */
  bind_counted counted;
  mw_attached attached; /* to its device, by key; one of the script's is not */
  mw_device *device;    /* NULL: it is attached */
  int key;
  mw_word word;
  void *queue; /* that it knows */
  bool used_elsewhere;
  native_call close, follow;
  const char *(*explain)(int status);
} native_value;

typedef struct native_object {
  bind_object object;
  native_value *value;
} native_object;

enum { BY_LUA = -1 }; /* ncalls: a function of Lua does it, by kernels; its reference is `many` */

typedef struct native_routine {
  bind_object object; /* always open, of no device */
  char name[32];
  bool owned; /* the first argument is an object */
  int nvariants;
  native_variant *variants[MOST_VARIANTS]; /* kept for good: what is queued refers to them */
} native_routine;

typedef struct native_frame {
  const native_variant *variant;
  native_value *self;
  mw_word words[MOST_WORDS];
} native_frame;

/* ---- native_table.c ---------------------------------------------------------------------------------------------- */

typedef const char *native_explain(int status);

native_variant *native_read_variant(lua_State *);  /* the description on top */
void native_read_call(lua_State *, native_call *); /* the description on top */
mw_status native_run(const native_call *, mw_word *, native_explain *, const char *who, mw_error *);
mw_status native_follow(native_value *, void *queue, const char *who, mw_error *); /* tells it the stream */

/* ---- native_object.c --------------------------------------------------------------------------------------------- */

native_value *native_attached(const mw_device *, int key); /* a library's handle; NULL: not made yet */
int native_handle_new(lua_State *);                        /* core.library_handle(device, key, description) */
int native_object_new(lua_State *);                        /* core.library_object(dev, description) */

#endif
