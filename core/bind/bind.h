/* SPDX-License-Identifier: MIT
 *
 * The binding between Lua and core/backend/backend.h: what its files share, grouped by the file that defines it.
 * It knows Lua and the interface, and no backend. Every function named check_* raises a Lua error that says who,
 * what was wanted and what came. */
#ifndef MW_BIND_H
#define MW_BIND_H

#include <lauxlib.h>
#include <lua.h>

#include "core/backend/refs.h"
#include "core/bind/order/clock.h"

/* ---- object.c: userdata with a closed mark --------------------------------------------------------------------- *
 *
 * What an object holds, as check_array() or self_device() give it, may be gone as soon as the script has run: a function
 * or metamethod that is called, and a __gc wherever Lua makes a value. So memory of Lua's is asked for first, and what
 * is held after it, anew. */

typedef struct bind_method { /* a NULL name ends a list of them */
  const char *name;
  lua_CFunction call;
  int most; /* arguments besides the object itself; more are rejected */
} bind_method;

enum { ANY_COUNT = -1 }; /* the method counts them itself */

typedef struct bind_class {
  const char *name;        /* the word users say: "array" */
  void (*release)(void *); /* gives back what the object holds; runs once, never raises; NULL: nothing */
  const bind_method *methods;
  void (*describe)(lua_State *, const void *); /* pushes what tostring says of an open object */
  const luaL_Reg *metamethods;                 /* upvalue 1 is the class; NULL: no others */
  int live;                                    /* open objects of this class */
} bind_class;

enum { METHOD_NAME = 2 }; /* the upvalue of what stands in a method table */

typedef struct bind_object { /* every userdata of ours begins with this */
  bind_class *class;
  mw_device *device; /* counted while the object is open */
  bool open;         /* false before the resource is acquired and after it is given back */
} bind_object;

void bind_register(lua_State *, bind_class *); /* makes the metatable */
/* pushed closed and zeroed; the object of a running method, at 1, is open still */
void *bind_new(lua_State *, bind_class *, size_t size, int uservalues);
void bind_opened(void *object, mw_device *);                  /* the resource, of that device, is there */
void *bind_test(lua_State *, int index, const bind_class *);  /* NULL: not that class; may be closed */
void *bind_check(lua_State *, int index, const bind_class *); /* open object of that class, or raises */
/* the same, and of that device; NULL: of any */
void *bind_check_on(lua_State *, int index, const bind_class *, const mw_device *);
void bind_release(void *object);                   /* gives back what it holds, if open */
int bind_reject_field(lua_State *);                /* __newindex of classes without one */
int bind_methods(lua_State *, const bind_class *); /* pushes the class's method table */
/* adds methods of the class to the table on top; a method is called with an open object of the class at 1 */
void bind_add_methods(lua_State *, const bind_class *, const bind_method *);
const char *bind_method_name(lua_State *); /* of the running method */
int object_options(lua_State *);           /* the method options, of modules and kernels: their user value 2 */

/* ---- host.c: what one Lua state keeps -------------------------------------------------------------------------- */

typedef struct bind_queue bind_queue; /* callbacks that fired on other threads */

typedef struct bind_host {
  bind_queue *queue;      /* NULL: the state is being closed, and has collected it */
  size_t untracked_bytes; /* bytes allocated on devices since the last full collection */
} bind_host;

bind_host *bind_host_of(lua_State *);
int bind_poll(lua_State *); /* runs due callbacks; number run; raises what they raise */
mw_status bind_callback(lua_State *, mw_stream *, int function_index); /* fills bind_error */

void set_string(lua_State *, const char *field, const char *text); /* of the table on top; NULL: nil */
bool bind_kept_table(lua_State *, const void *key); /* pushes the registry's table; false: it was made now, empty */
void bind_weak_table(lua_State *, const void *key); /* the same; its values may be collected */

/* ---- error.c: error values are made here and nowhere else; what raises never returns --------------------------- */

extern mw_error bind_error;                                         /* what a backend's call fills */
int bind_raise(lua_State *);                                        /* what is in bind_error */
void bind_try(lua_State *, mw_status);                              /* the same, unless MW_OK */
int bind_fail(lua_State *, mw_status, const char *format, ...);     /* formats as of lua_pushfstring */
int bind_raise_text(lua_State *, const char *status);               /* the text and the log, or nil, are on top */
int bind_argument(lua_State *, int index, const char *format, ...); /* bad argument #1 to 'get' (...) */
int bind_argument_type(lua_State *, int index, const char *wanted); /* ... (array expected, got nil) */
void bind_where(lua_State *);                                       /* pushes "script.lua:12", or nil */
bool bind_is_own(const char *source);                               /* a chunk's source: a Lua file of the library */
order_place bind_here(lua_State *); /* the innermost line that is not the library's */
bool bind_is_error(lua_State *, int index);

#define check_that(L, condition, index, ...) ((void)((condition) || bind_argument(L, index, __VA_ARGS__)))

/* ---- args.c: checking arguments -------------------------------------------------------------------------------- */

void check_count(lua_State *, const char *name, int most, int got); /* too many arguments raise */
void check_type(lua_State *, int index, int type);
const char *check_string(lua_State *, int index);  /* a number becomes its text */
lua_Integer check_integer(lua_State *, int index); /* a number with an integer's value; a string is an error */
bool bind_is_object(lua_State *, int index);       /* of any class of ours */
/* the object of a running method, at 1, is open still after the script has run, or raises */
void check_still_open(lua_State *);
/* nil, or a table with no other keys; one with a metatable is replaced by a plain one. The method's object is at 1 */
void check_options(lua_State *, int index, const char *const names[]);
void need_options(lua_State *, int index, const char *const names[]); /* nil means none */
bool option_boolean(lua_State *, int index, const char *name, bool standard);
lua_Integer option_integer(lua_State *, int index, const char *name, lua_Integer standard, lua_Integer least,
                           lua_Integer greatest);
const char *option_string(lua_State *, int index, const char *name, const char *standard);
int option_word(lua_State *, int index, const char *name, const char *const words[]); /* its number; none given: 0 */
bool option_push(lua_State *, int index, const char *name); /* pushes the field; false and nothing if nil */
/* what a complaint says it got: a number as it is, 'table of 3', "string 'abc'"; pushed, for the complaint to keep */
const char *value_text(lua_State *, int index);
#define DIMS "an integer, {x, y, z} or {x =, y =, z =}"
/* DIMS at index; argument, kernel and what (grid or block): what a complaint names */
void check_dims(lua_State *, int index, int argument, const char *kernel, const char *what, uint32_t out[3]);
/* the strings of the list in a field of the table at 1: NULL-terminated, in a userdata that is pushed */
const char *const *bind_string_list(lua_State *, const char *field);
const char *nearest_name(const char *word, const char *const *names); /* NULL: nothing near */

/* ---- result.c: tables that are made to be read ----------------------------------------------------------------- */

/* A member of a struct as a field of a table. Its type says how: an empty text is unknown and left out, and so is a
 * number below the least. */
typedef enum bind_kind {
  FIELD_BOOL,
  FIELD_INT,
  FIELD_SIZE,
  FIELD_NUMBER,
  FIELD_TEXT,   /* an array of characters */
  FIELD_STRING, /* a pointer to them */
  FIELD_DIMS,
} bind_kind;

typedef struct bind_field { /* a NULL name ends a list of them */
  const char *name;
  size_t at;
  bind_kind kind;
  double least;
} bind_field;

#define FIELD_KIND(value)                                                                                              \
  _Generic((value), bool: FIELD_BOOL, int: FIELD_INT, size_t: FIELD_SIZE, double: FIELD_NUMBER, char *: FIELD_TEXT,    \
      const char *: FIELD_STRING, int *: FIELD_DIMS, uint32_t *: FIELD_DIMS)
#define FIELD_AS(name, type, member, least)                                                                            \
  { name, offsetof(type, member), FIELD_KIND(((type *)NULL)->member), least }
#define FIELD(type, member) FIELD_AS(#member, type, member, 0)
#define LAST_FIELD                                                                                                     \
  { NULL, 0, FIELD_BOOL, 0 }

void push_fields(lua_State *, const bind_field *, const void *from);         /* a new table, with bind_result */
int push_field_of_method(lua_State *, const bind_field *, const void *from); /* the one the method is named after */
void push_dims(lua_State *, const uint32_t dims[3]);                         /* {x, y, z} */
void bind_result(lua_State *);         /* print shows the fields of the table on top */
void bind_result_methods(lua_State *); /* pushes the metatable of them all; the Lua half adds __tostring */

/* ---- dtype.c: one element between Lua and memory --------------------------------------------------------------- */

mw_dtype check_dtype(lua_State *, int index);
void push_element(lua_State *, mw_dtype, const void *at);
double load_number(mw_dtype, const void *at);
/* NULL when stored, else the problem, as in "an integer from 0 to 255, got 300" (pushed on the stack too) */
const char *store_element(lua_State *, int index, mw_dtype, void *at);

/* ---- device.c -------------------------------------------------------------------------------------------------- */

extern bind_class device_class;                                    /* its objects are just a bind_object */
mw_device *self_device(lua_State *);                               /* of a method's object, at 1, as below */
int object_device(lua_State *);                                    /* the method device, of the classes that have it */
mw_device *check_runs(lua_State *, mw_device *, const char *what); /* raises for an architecture without a device */
void device_push_kept(lua_State *);                                /* handles, by id: devices in check mode stay open */
void device_wait(lua_State *, mw_device *);                        /* for all its streams */
void device_functions(lua_State *);                                /* adds device, devices to the table on top */

/* ---- array.c, allocation.c, transfer.c, pages.c, literal.c ------------------------------------------------------- */

typedef struct bind_array {
  bind_object object;
  mw_buffer *buffer;
  size_t offset, count; /* bytes, elements */
  mw_dtype dtype;
  bool readonly;
  int dims;
  lua_Integer shape[4]; /* shape[0] is x, the fastest */
} bind_array;

extern bind_class array_class;
extern const bind_method array_makers[], array_transfers[], array_pages[], finding_methods[];
bind_array *check_array(lua_State *, int index);
bind_array *array_new(lua_State *); /* pushes one without memory: memory for it is asked for when it is there */
/* takes over one count of the buffer */
void array_open(bind_array *, mw_buffer *, size_t offset, mw_dtype, int dims, const lua_Integer *shape, bool readonly);
int check_shape(lua_State *, int index, mw_dtype, lua_Integer shape[4]); /* n1[, n2[, n3[, n4]]], to the top; dims */
lua_Integer shape_count(const lua_Integer *shape, int dims);
size_t array_bytes(const bind_array *);
mw_place array_place(const bind_array *);
void allocation_note(lua_State *, size_t bytes); /* before they are asked for: now and then, collects */
int array_clear(lua_State *);                    /* core.clear */
void array_read(lua_State *, const bind_array *, size_t first, size_t count, void *to);
void array_write(lua_State *, const bind_array *, size_t first, size_t count, const void *from);
void array_format(const bind_array *, char *out, size_t size);   /* array<f64>[4096 x 4096] cuda:0 */
int literal_shape(lua_State *, int index, lua_Integer shape[4]); /* dims of a (nested) table; raises when ragged */
const void *literal_bytes(lua_State *, int index, mw_dtype, int dims, const lua_Integer *shape); /* pushed, elements */

/* ---- image.c, texture.c ---------------------------------------------------------------------------------------- */

typedef struct bind_image { /* a texture or a surface */
  bind_object object;
  mw_buffer *buffer; /* counts the texels */
  mw_image_shape shape;
  mw_sampling sampling; /* a texture's */
} bind_image;

extern bind_class texture_class, surface_class;
extern const char *const image_kind_names[];
extern const bind_method image_makers[], image_copies[], surface_copies[]; /* of a device, of both, of surfaces */
mw_buffer *bind_buffer_of(lua_State *, int index); /* of an array, texture or surface that is open; else NULL */

/* ---- module.c, kernel.c, signature text ------------------------------------------------------------------------ */

typedef struct bind_module {
  bind_object object;
  mw_module *module;
  bool warns;       /* the compiler's warnings are told */
  const char *told; /* the log that was told; NULL: none yet */
} bind_module;

typedef struct bind_kernel {
  bind_object object;
  mw_kernel *kernel; /* counts its module */
} bind_kernel;

extern bind_class module_class, kernel_class;
void push_kernel(lua_State *, int module_index, const char *name); /* raises with the nearest name */
const char *kernel_source(lua_State *, const mw_kernel *); /* the text of its file or source, pushed; NULL: unknown */
mw_kernel *self_kernel(lua_State *);                               /* of a method's object, at 1 */
/* "memcopy(double *A, const double *B, int n)"; the object at 1 holds the kernel */
void push_signature(lua_State *, const mw_kernel *);

/* ---- warning.c ------------------------------------------------------------------------------------------------- */

void warnings_tell(lua_State *, bind_module *); /* those that have not been told; an instance may bring more */

/* ---- launch.c, argument.c -------------------------------------------------------------------------------------- */

typedef struct bind_launch {
  bind_object object;
  struct bind_stream *stream; /* user value 2, while that is this stream; NULL: the current stream */
  mw_launch launch;           /* args and params point after this struct */
} bind_launch;

extern bind_class launch_class;
extern const bind_method launch_makers[];                /* of a kernel */
void launch_pack(lua_State *, bind_launch *, int first); /* arguments from stack index first on */
size_t argument_bytes(const mw_kernel *);                /* of a block of memory for its arguments and params */
void argument_place(mw_launch *, void *block);           /* lets args and params point there */
void argument_store(lua_State *, int index, const bind_launch *, int parameter);

/* ---- stream.c, event.c, graph.c -------------------------------------------------------------------------------- */

typedef struct bind_stream {
  bind_object object;
  mw_stream *stream;
  bool owned; /* false: one of the device's default streams */
} bind_stream;

typedef struct bind_event {
  bind_object object;
  mw_event *event;
  bool recorded;
  order_clock *clock; /* what ended before it */
  unsigned captured;  /* the number of the capture it was recorded in; 0: in none */
} bind_event;

typedef struct bind_counted { /* what a graph may need after the script has forgotten it */
  int refs;
  void (*release)(struct bind_counted *); /* at the last count */
} bind_counted;

typedef struct bind_graph {
  bind_object object;
  mw_graph *graph;
  mw_launch *nodes;    /* as captured: each counts its kernel's module; args and params are its own */
  mw_buffer **buffers; /* counted: what a replay may touch */
  mw_module **modules; /* counted: of the launches in graphs that this one launches */
  bind_counted **values; /* plans, generators */
  int nnodes, nbuffers, nmodules, ntouches, nvalues;
  struct bind_touch *touches; /* what its copies read and write */
} bind_graph;

typedef struct bind_touch bind_touch;

extern bind_class stream_class, event_class, graph_class, capture_class;
/* Notes the use. What another device uses first has to be there: its own default stream is waited for, once. */
void buffer_use(lua_State *, mw_buffer *, mw_stream *);
void buffer_send_abroad(lua_State *, mw_buffer *); /* streams of other devices use it from now on */
mw_stream *current_stream(lua_State *, mw_device *);          /* the capturing stream, else the default one */
mw_stream *check_stream(lua_State *, int index, mw_device *); /* one of the device; none given: the current */
bind_stream *option_stream(lua_State *, const mw_device *);   /* the option on top; NULL: of any device */
mw_stream *self_stream(lua_State *);                          /* of a method's object, at 1 */
bind_stream *push_new_stream(lua_State *, mw_device *, bool blocking, int priority); /* not owned yet */
int push_reached(lua_State *, mw_status); /* what a query says, after the callbacks that are due */
/* ---- capture.c ------------------------------------------------------------------------------------------------- */

typedef struct bind_capture { /* open while dev:capture runs its function */
  bind_object object;
  mw_stream *stream;   /* owned */
  bind_graph *graph;   /* user value 1; closed until the capture has ended well */
  bind_stream *handle; /* user value 2: the script's, of the stream; it may be closed */
  lua_State *thread;   /* user value 3: which runs the function */
  int depth;           /* of dev:capture in its stack */
  unsigned number;     /* of the captures, from 1 */
} bind_capture;

enum { CAPTURE_PLACE = 4 }; /* the stack index of the capture in dev:capture */

int capture_depth(lua_State *);  /* how many functions are on the stack */
void capture_enter(lua_State *); /* the one at its place is in progress */
/* The one in progress, or NULL: asked of the stack. One whose function has ended without closing it is ended here, so
 * whoever comes by a stream or a device asks. */
bind_capture *capture_running(lua_State *);
static inline bind_capture *bind_capture_of(lua_State *L) {
  return capture_class.live ? capture_running(L) : NULL;
}
void check_uncaptured(lua_State *, const mw_stream *, const char *what); /* raises in a capture; it works after one */
void capture_buffer(lua_State *, mw_buffer *);       /* kept by the graph; no effect unless capturing */
void capture_graph(lua_State *, const bind_graph *); /* after the launch of another; no effect unless capturing */
void graph_keep(bind_graph *, mw_buffer *);          /* counts it, once */
void graph_count(bind_graph *, bind_counted *);      /* the same */
void bind_uncount(bind_counted *);
void launch_keep_arguments(lua_State *, bind_graph *, const mw_kernel *, int first); /* the arrays among them */
void graph_drop(bind_graph *);                                                       /* gives back what was noted */

extern const bind_method stream_makers[], event_makers[], graph_makers[], module_makers[]; /* methods of a device */
extern const bind_method event_stream_methods[];                                           /* of a stream: record */

/* ---- race.c: copies and accesses of the script that nothing orders; each is told what has been done -------------- */

/* count elements of the array, from the first-th on: read or (into) written by the script itself */
void race_host(lua_State *, const bind_array *, size_t first, size_t count, bool into);
/* the same through a stream, complete when it returns */
void race_through(lua_State *, mw_stream *, const bind_array *, size_t first, size_t count, bool into);
/* waited: the script goes on when it is complete */
void race_copy(lua_State *, mw_stream *, const bind_array *to, size_t at, const bind_array *from, size_t first,
               size_t count, bool waited);
/* in check mode, after a launch of the kernel; its arguments are on the stack from first on */
void race_launch(lua_State *, const mw_kernel *, mw_stream *, int first);
/* in check mode: a library's function of that name is queued there, and reads or writes all of the array */
void race_library(lua_State *, mw_stream *, const bind_array *, const char *name, bool into);
void race_graph(lua_State *, const bind_graph *, mw_stream *); /* launched there */
void race_captured(bind_graph *);                              /* its capture has ended */
/* Adds those of arrays of the device of that id to the list on top of the stack; NULL: of all devices. */
void race_add_findings(lua_State *, const char *id);
extern const luaL_Reg race_functions[];

/* ---- trace.c: what a function launches and copies ---------------------------------------------------------------- */

extern bool bind_traces;                                           /* a list is kept; only then the following are called */
void trace_launch(lua_State *, const mw_launch *, int index);      /* index: of the launch's userdata, or 0 */
void trace_graph(lua_State *, const bind_graph *);
void trace_copy(lua_State *, const mw_buffer *to, const mw_buffer *from, size_t bytes);
extern const luaL_Reg trace_functions[];

/* ---- counter.c: what a device in check mode counts --------------------------------------------------------------- */

extern const bind_method counter_methods[]; /* of a device */
extern const luaL_Reg counter_functions[];
/* Around a launch of the kernel that is to be counted: the number of the last one before; pushes what was counted. Both
 * raise if nothing is. */
size_t counter_begin(lua_State *, const char *kernel, mw_device *);
int counter_end(lua_State *, const char *kernel, mw_device *, size_t before);

/* ---- occupancy.c, compare.c, services.c, allocator.c ----------------------------------------------------------- */

extern const bind_method occupancy_methods[]; /* of a kernel */
extern bind_class *const bind_classes[];      /* all; a NULL ends them */
extern const luaL_Reg allocator_functions[], compare_functions[], finding_functions[], service_functions[];
void allocator_install(lua_State *); /* counts this state's allocations from now on */

/* ---- native.c, native_object.c: functions of libraries --------------------------------------------------------- */

extern bind_class native_class;
extern const luaL_Reg native_functions[];

/* ---- mpi.c ------------------------------------------------------------------------------------------------------ */

void mpi_functions(lua_State *); /* adds mpi to the table on top */
void program_functions(lua_State *); /* adds program */
int bind_host_tree(lua_State *); /* host_tree.c */

/* ---- searcher.c, library.c ------------------------------------------------------------------------------------- */

void bind_searcher_install(lua_State *); /* of our own Lua files, for require; once is enough */
void bind_libraries_open(lua_State *);   /* lfs and cjson into package.loaded; raises if one is not there */

/* The rest is compiled with -fvisibility=hidden: none of our names meets another's in a stock interpreter. */
#define BIND_EXPORT LUAMOD_API __attribute__((visibility("default")))
BIND_EXPORT int luaopen_moonwarp_core(lua_State *);
BIND_EXPORT int luaopen_moonwarp(lua_State *);

#endif
