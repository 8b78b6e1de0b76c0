/* SPDX-License-Identifier: MIT
 *
 * Functions of libraries (BLAS, FFT, ...) on arrays. lua/moonwarp/library.lua describes each in a table: its arrays with
 * their sides and what is read and written, its options, and the calls of C that compute it, whose operands are words of
 * a frame. Here such a description becomes a variant, one for each device and element types, and a call fills the frame:
 * it checks the arrays against each other, and the backend runs the calls in order with the stream.
 *
 *     gemm(C, A, B)    frame: self, queue, work, size, C: address, rows, columns, items, count, A: ..., m, n, alpha, ...
 *
 * What a library keeps (a handle of a device, a plan, a generator) is a value: a frame that is kept. */
#ifndef MW_NATIVE_H
#define MW_NATIVE_H

#include "core/base/shared.h"
#include "core/bind/bind.h"

enum { MOST_CALLS = 8, MOST_ARRAYS = 8, MOST_OPTIONS = 8, MOST_CHOICES = 16, MOST_LIMITS = 4 };
enum { MOST_ABSENT = 8, MOST_WORDS = 96 };
enum { SELF, QUEUE, WORK, SIZE };              /* words of a frame */
enum { ADDRESS, ROWS, COLUMNS, ITEMS, COUNT }; /* of an array in it, from its first word on */
enum { NEVER = -1, ALWAYS = 0 };               /* instead of an option's word */
enum { NATIVE_NAME = 64 };

enum { WORD, REAL, POINTER };                      /* operands; POINTER: to the word */
enum { IGNORED, STATUS, VALUE, STORED };           /* results; STORED: to an array, by its type */
enum { BOOLEAN, INTEGER, CHOICE, SINGLE, DOUBLE }; /* options; SINGLE, DOUBLE: numbers */

/* Each of these begins with a name and integers, in the order of library.lua's lists. */

typedef struct native_call {
  char name[NATIVE_NAME];
  int result, to; /* to: the word that a VALUE goes to, or of the address that it is STORED at */
  int count;
  struct {
    int kind, at;
  } operands[MW_CALL_WORDS];
  void *function;
  int dtype; /* of what is STORED */
} native_call;

typedef struct native_calls {
  int count;
  native_call list[MOST_CALLS];
} native_calls;

typedef struct native_array {
  char name[NATIVE_NAME];
  int at, optional, swap, yes, reads; /* optional: how many of the last sides; swap, reads: the option's word */
  int writes, in_place, partly, wide, keeps;
  int dims;
  struct {
    int word, plus; /* plus: what it has beyond the word */
  } sides[4];
  int dtype;
} native_array;

typedef struct native_option {
  char name[NATIVE_NAME];
  int kind, at, no, yes; /* no, yes: a BOOLEAN's values */
  int choice, choices;   /* of a CHOICE: the first, how many */
} native_option;

typedef struct native_choice {
  char name[NATIVE_NAME];
  int value;
} native_choice;

typedef struct native_limit {
  char name[NATIVE_NAME];        /* of the operand */
  int at, least, most, multiple; /* words; 0: none */
} native_limit;

typedef struct native_value native_value;

typedef struct native_variant {
  char name[NATIVE_NAME]; /* "gemm" */
  int words;
  int unit;          /* bytes of the unit of the word SIZE */
  int many;          /* the word of the number of items; 0: there is one, or the calls are for all */
  int plain;         /* calls from here on are for one item, those before for many; 0: they are repeated for each */
  int extra, nextra; /* words that a function of Lua finds out: the first, how many */
  int by_kernels;    /* a function of Lua does it */
  int nabsent, absent[MOST_ABSENT];             /* sides that may be absent */
  mw_attached attached;               /* to its device; the key is the routine's */
  char library[NATIVE_NAME];          /* "moonwarp.blas" */
  const struct native_variant *of;    /* of the object that it is called with; NULL: of none */
  native_value *handle;               /* the library's; NULL: it needs none */
  native_calls sizes, calls, closing; /* closing: at the end, unless the first operand is 0 */
  native_calls follow;                /* of what is kept: one that tells it the stream, or none */
  int narrays, noptions, nlimits;
  native_array arrays[MOST_ARRAYS];
  native_option options[MOST_OPTIONS];
  native_choice choices[MOST_CHOICES];
  native_limit limits[MOST_LIMITS];
  const char *(*explain)(int status);
  bool known[MOST_WORDS];    /* sides that are numbers, and those of its object */
  mw_word fixed[MOST_WORDS]; /* numbers, and the standard values of options */
} native_variant;

struct native_value { /* what a library keeps: a handle, or what an object and graphs count */
  bind_counted counted;
  mw_attached attached; /* of a handle: the key is the library's, below 0 */
  mw_device *device;
  native_variant *variant; /* a handle's is its own */
  uint64_t stream;         /* the serial of the one it was told */
  bool used_elsewhere;     /* in another stream than the default one */
  mw_buffer *work;         /* NULL: none */
  int narrays;
  bind_array arrays[MOST_ARRAYS]; /* that it uses until it is closed; buffers are counted */
  mw_word words[MOST_WORDS];
};

typedef struct native_frame {
  mw_call call;
  const native_variant *variant;
  native_value *object; /* that it is called with; NULL: none */
  uint64_t stream;      /* its serial */
  bool prepares;        /* the calls that say how much memory is needed are made again, before the others */
  mw_word words[MOST_WORDS];
  mw_range ranges[2 * MOST_ARRAYS]; /* after the words that are used */
} native_frame;

/* ---- native_table.c: descriptions become variants ---------------------------------------------------------------- */

native_variant *native_variant_read(lua_State *); /* of the description on top; from mw_malloc */

/* ---- native_run.c: frames ---------------------------------------------------------------------------------------- */

uint64_t native_serial(mw_stream *); /* no other stream of the process has it */
/* Of calls that are in order with a stream: run of an mw_call that begins a frame. */
mw_status native_run(const mw_call *, void *queue, mw_error *);
typedef enum native_moment {
  NATIVE_SIZES,  /* the calls that say how much memory the others need */
  NATIVE_MAKING, /* those that make something that is kept */
  NATIVE_FAILED, /* the closing ones, of what has left a word */
  NATIVE_END     /* all closing ones */
} native_moment;

/* Runs calls at once, on the words of the frame, where they leave what they find. */
mw_status native_run_now(native_moment, native_frame *, mw_device *, mw_error *);

/* ---- native_object.c --------------------------------------------------------------------------------------------- */

typedef struct native_object {
  bind_object object; /* user values: its frame's layout, for library.lua, and what calling it calls */
  native_value *value;
} native_object;

/* The library's handle for the device; made by the description at the index, a function, if none. */
native_value *native_handle(lua_State *, mw_device *, int key, int index);
/* Pushes the object that the frame makes. */
void native_make(lua_State *, native_frame *, mw_device *, bind_array *const arrays[]);

#endif
