/* SPDX-License-Identifier: MIT
 *
 * Bytes in and out of arrays: elements, tables, strings, and copies between arrays. Without a stream a copy is
 * complete when it returns; with one it is queued there and the caller synchronises. */
#include "core/bind/bind.h"

#include <string.h>

/* Pinned and pageable memory belongs to the host: no device call, and no wait but the script's own. */
static char *host_bytes(const bind_array *a) {
  bool host = a->buffer->space == MW_SPACE_PINNED || a->buffer->space == MW_SPACE_PAGEABLE;
  return host ? (char *)a->buffer->address + a->offset : NULL;
}

/* Elements of the array from the first-th on, into it or out of it; bytes: the script's own memory. Making that may
 * have run a __gc of the script's, which has closed the array. */
static void move(lua_State *L, const bind_array *a, size_t first, size_t count, void *bytes, bool into) {
  size_t width = mw_dtype_size(a->dtype);
  if (!a->object.open) bind_fail(L, MW_INVALID, "attempt to use a closed array");
  char *host = host_bytes(a);
  if (host) {
    host += first * width;
    memcpy(into ? host : bytes, into ? bytes : host, count * width);
    race_host(L, a, first, count, into);
    return;
  }
  mw_place there = {a->buffer, a->offset + first * width, NULL}, here = {NULL, 0, bytes};
  mw_stream *stream = current_stream(L, a->buffer->device);
  check_uncaptured(L, stream, "move bytes between an array and the script");
  bind_try(L,
           stream->device->backend->copy(stream, into ? there : here, into ? here : there, count * width, &bind_error));
  race_through(L, stream, a, first, count, into);
}

void array_read(lua_State *L, const bind_array *a, size_t first, size_t count, void *to) {
  move(L, a, first, count, to, false);
}

void array_write(lua_State *L, const bind_array *a, size_t first, size_t count, const void *from) {
  move(L, a, first, count, (void *)(uintptr_t)from, true);
}

static bind_array *check_writable(lua_State *L, int index) {
  bind_array *a = check_array(L, index);
  check_that(L, !a->readonly, index, "the array is a read-only view");
  return a;
}

/* Indices i[, j, k, l] from 1, as many as the array has dimensions; a single one also counts through all of it. */
static size_t check_element(lua_State *L, const bind_array *a, int given) {
  lua_Integer at = 0, stride = 1;
  bool flat = given == 1;
  if (!flat && given != a->dims)
    bind_fail(L, MW_INVALID, "the array has %d dimension%s, got %d indices", a->dims, a->dims == 1 ? "" : "s", given);
  for (int d = 0; d < given; d++) {
    lua_Integer index = check_integer(L, 2 + d), most = flat ? (lua_Integer)a->count : a->shape[d];
    check_that(L, index >= 1 && index <= most, 2 + d, "index from 1 to %I expected, got %I", (LUAI_UACINT)most,
               (LUAI_UACINT)index);
    at += (index - 1) * stride;
    stride *= most;
  }
  return (size_t)at;
}

/* a:get(i[, j, k, l]): one element, read back from the device. */
static int array_get(lua_State *L) {
  bind_array *a = check_array(L, 1);
  char element[8];
  array_read(L, a, check_element(L, a, lua_gettop(L) - 1), 1, element);
  push_element(L, a->dtype, element);
  return 1;
}

/* a:set(i[, j, k, l], value): one element, written to the device. */
static int array_set(lua_State *L) {
  bind_array *a = check_writable(L, 1);
  int last = lua_gettop(L);
  if (last < 3) return bind_fail(L, MW_INVALID, "set takes the indices and then the value");
  size_t at = check_element(L, a, last - 2);
  char element[8];
  const char *problem = store_element(L, last, a->dtype, element);
  if (problem) bind_argument(L, last, "%s holds %s", mw_dtype_name(a->dtype), problem);
  array_write(L, a, at, 1, element);
  lua_settop(L, 1);
  return 1;
}

static void push_nested(lua_State *L, const bind_array *a, int dims, const char **at) {
  lua_createtable(L, (int)a->shape[dims - 1], 0);
  for (lua_Integer i = 1; i <= a->shape[dims - 1]; i++) {
    if (dims > 1) {
      push_nested(L, a, dims - 1, at);
    } else {
      push_element(L, a->dtype, *at);
      *at += mw_dtype_size(a->dtype);
    }
    lua_rawseti(L, -2, i);
  }
}

/* a:totable(): nested tables, the outermost being the slowest dimension. */
static int array_totable(lua_State *L) {
  bind_array *a = check_array(L, 1);
  char *bytes = lua_newuserdatauv(L, array_bytes(a), 0);
  array_read(L, a, 0, a->count, bytes);
  const char *at = bytes;
  push_nested(L, a, a->dims, &at);
  return 1;
}

/* a:bytes(): the elements as a string, little-endian as on the device. */
static int array_tobytes(lua_State *L) {
  bind_array *a = check_array(L, 1);
  luaL_Buffer text;
  char *to = luaL_buffinitsize(L, &text, array_bytes(a));
  array_read(L, a, 0, a->count, to);
  luaL_pushresultsize(&text, array_bytes(a));
  return 1;
}

static void upload_table(lua_State *L, const bind_array *a) {
  lua_Integer shape[4], flat[1] = {(lua_Integer)a->count};
  int dims = literal_shape(L, 2, shape);
  bool same = dims == a->dims && memcmp(shape, a->shape, (size_t)dims * sizeof *shape) == 0;
  if (!same && !(dims == 1 && shape[0] == flat[0]))
    bind_argument(L, 2, "the table's shape is not the array's, nor is it flat with as many values");
  const void *bytes = literal_bytes(L, 2, a->dtype, dims, same ? a->shape : flat);
  array_write(L, a, 0, a->count, bytes);
}

/* a:upload(table | string): new contents for the whole array. */
static int array_upload(lua_State *L) {
  bind_array *a = check_writable(L, 1);
  if (lua_istable(L, 2)) {
    upload_table(L, a);
  } else {
    const char *bytes = check_string(L, 2);
    size_t length = lua_rawlen(L, 2);
    check_that(L, length == array_bytes(a), 2, "%I bytes expected, got %I", (LUAI_UACINT)array_bytes(a),
               (LUAI_UACINT)length);
    array_write(L, a, 0, a->count, bytes);
  }
  lua_settop(L, 1);
  return 1;
}

/* ---- between arrays -------------------------------------------------------------------------------------------- */

typedef struct part {
  size_t to, from, count;
} part; /* elements */

static part check_part(lua_State *L, const bind_array *a, const bind_array *source) {
  lua_Integer from = option_integer(L, 3, "from", 1, 1, (lua_Integer)source->count);
  lua_Integer to = option_integer(L, 3, "to", 1, 1, (lua_Integer)a->count);
  lua_Integer left = (lua_Integer)source->count - from + 1, room = (lua_Integer)a->count - to + 1;
  lua_Integer count = option_integer(L, 3, "count", left, 1, left);
  if (count > room)
    bind_fail(L, MW_INVALID, "copy of %I elements to element %I on does not fit: the array has room for %I",
              (LUAI_UACINT)count, (LUAI_UACINT)to, (LUAI_UACINT)room);
  return (part){(size_t)to - 1, (size_t)from - 1, (size_t)count};
}

/* The device whose backend moves the bytes: the one whose memory the host cannot address, if there is one. */
static mw_device *mover(const bind_array *a, const bind_array *source) {
  return !a->buffer->host || source->buffer->host ? a->buffer->device : source->buffer->device;
}

/* The stream that is captured, if it is of one of the two devices. */
static mw_stream *captured_stream(lua_State *L, const bind_array *a, const bind_array *source) {
  const bind_capture *capture = bind_capture_of(L);
  const mw_device *of = capture ? capture->stream->device : NULL;
  return of && (of == a->buffer->device || of == source->buffer->device) ? capture->stream : NULL;
}

/* A stream of the device that cannot reach the other's memory does not carry the copy: both devices are waited for. */
static mw_stream *copy_stream(lua_State *L, mw_device *device, const bind_array *a, const bind_array *source) {
  mw_stream *stream = captured_stream(L, a, source);
  const bool given = option_push(L, 3, "stream");
  if (given) stream = option_stream(L, NULL)->stream;
  if (!stream) return device->main;
  const mw_device *of = stream->device;
  if (of != a->buffer->device && of != source->buffer->device)
    bind_fail(L, MW_INVALID, "option 'stream' is a stream of %s, the copy is between %s and %s", of->info.id,
              a->buffer->device->info.id, source->buffer->device->info.id);
  if (given) lua_pop(L, 1);
  bool able = of == device || (a->buffer->host && source->buffer->host) || of->backend == device->backend;
  return able ? stream : device->main;
}

/* A GPU's copy with an end that is plain host memory to it returns when the bytes have moved. */
static bool waits_anyway(const mw_stream *stream, const bind_array *a, const bind_array *source) {
  const mw_device *device = stream->device;
  if (strcmp(device->backend->kind, "gpu") != 0) return false;
  const mw_buffer *ends[] = {a->buffer, source->buffer};
  for (int i = 0; i < 2; i++)
    if (ends[i]->space == MW_SPACE_PAGEABLE || ends[i]->device->backend != device->backend) return true;
  return false;
}

/* Of two devices of one backend the stream alone orders the copy. Otherwise the other device is waited for. */
static void copy_on_stream(lua_State *L, mw_stream *stream, bind_array *a, bind_array *source, part p, bool wait) {
  size_t width = mw_dtype_size(a->dtype);
  const mw_backend *backend = stream->device->backend;
  mw_place to = {a->buffer, a->offset + p.to * width, NULL};
  mw_place from = {source->buffer, source->offset + p.from * width, NULL};
  mw_device *other = a->buffer->device == stream->device ? source->buffer->device : a->buffer->device;
  if (other != stream->device && (wait || other->backend != backend)) device_wait(L, other);
  buffer_use(L, a->buffer, stream);
  buffer_use(L, source->buffer, stream);
  bind_try(L, backend->copy(stream, to, from, p.count * width, &bind_error));
  if (bind_traces) trace_copy(L, a->buffer, source->buffer, p.count * width);
  capture_buffer(L, a->buffer);
  capture_buffer(L, source->buffer);
  race_copy(L, stream, a, p.to, source, p.from, p.count, wait || waits_anyway(stream, a, source));
  if (wait && !stream->capturing) bind_try(L, backend->stream_synchronize(stream, &bind_error));
}

/* a:copy(source[, {from = 1, to = 1, count =, stream =}]): elements of source, from its element `from` on, to ours
 * from `to` on; any two arrays of one element type, on any two devices. */
static int array_copy(lua_State *L) {
  static const char *const names[] = {"from", "to", "count", "stream", NULL};
  check_options(L, 3, names);
  bind_array *a = check_writable(L, 1), *source = check_array(L, 2);
  if (a->dtype != source->dtype)
    bind_argument(L, 2, "array of %s expected, got array of %s", mw_dtype_name(a->dtype), mw_dtype_name(source->dtype));
  part p = check_part(L, a, source);
  mw_device *device = mover(a, source);
  mw_stream *stream = copy_stream(L, device, a, source);
  bool queued = stream != device->main;
  size_t width = mw_dtype_size(a->dtype);
  if (!queued && host_bytes(a) && host_bytes(source)) {
    memmove(host_bytes(a) + p.to * width, host_bytes(source) + p.from * width, p.count * width);
    race_host(L, source, p.from, p.count, false);
    race_host(L, a, p.to, p.count, true);
  } else {
    copy_on_stream(L, stream, a, source, p, !queued);
  }
  lua_settop(L, 1);
  return 1;
}

const bind_method array_transfers[] = {
    {"bytes", array_tobytes, 0},
    {"copy", array_copy, 2},
    {"get", array_get, ANY_COUNT},
    {"set", array_set, ANY_COUNT},
    {"totable", array_totable, 0},
    {"upload", array_upload, 1},
    {NULL, NULL, 0},
};
