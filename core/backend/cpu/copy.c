/* SPDX-License-Identifier: MIT
 *
 * Copies and fills: split in pieces for the pool. What is larger than the cache is stored past it, which saves reading
 * the target first (one third of a copy's traffic). */
#include "core/backend/cpu/objects.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { PIECE = 256 << 10, LINE = 64 };
static const double PIECE_SECONDS = 12e-6;

typedef struct fill_job {
  char *to;
  size_t bytes;
  _Alignas(LINE) unsigned char line[LINE]; /* the pattern, repeated; its width divides 16 */
} fill_job;

static bool larger_than_cache(size_t bytes) {
  static atomic_size_t cache;
  size_t size = atomic_load_explicit(&cache, memory_order_relaxed);
  if (!size) {
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size = l3 > 0 ? (size_t)l3 : 16u << 20;
    atomic_store_explicit(&cache, size, memory_order_relaxed);
  }
  return bytes > size / 2;
}

/* ---- one piece ------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)

static void copy_lines(char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += LINE) {
    __m128i part[4];
    for (int k = 0; k < 4; k++) part[k] = _mm_loadu_si128((const __m128i *)(from + i) + k);
    for (int k = 0; k < 4; k++) _mm_stream_si128((__m128i *)(to + i) + k, part[k]);
  }
  _mm_sfence();
}

static void fill_lines(char *to, const unsigned char *line, size_t bytes) {
  const __m128i part = _mm_load_si128((const __m128i *)line);
  for (size_t i = 0; i < bytes; i += LINE)
    for (int k = 0; k < 4; k++) _mm_stream_si128((__m128i *)(to + i) + k, part);
  _mm_sfence();
}

#else

static void copy_lines(char *to, const char *from, size_t bytes) {
  memcpy(to, from, bytes);
}

static void fill_lines(char *to, const unsigned char *line, size_t bytes) {
  for (size_t i = 0; i < bytes; i += LINE) memcpy(to + i, line, LINE);
}

#endif

static void copy_past_cache(char *to, const char *from, size_t bytes) {
  size_t head = -(uintptr_t)to % LINE;
  if (head > bytes) head = bytes;
  size_t lines = (bytes - head) / LINE * LINE;
  memcpy(to, from, head);
  copy_lines(to + head, from + head, lines);
  memcpy(to + head + lines, from + head + lines, bytes - head - lines);
}

static void fill_piece(const fill_job *job, char *to, size_t bytes) {
  size_t lines = bytes / LINE * LINE;
  if (larger_than_cache(job->bytes) && (uintptr_t)to % LINE == 0)
    fill_lines(to, job->line, lines);
  else
    for (size_t i = 0; i < lines; i += LINE) memcpy(to + i, job->line, LINE);
  memcpy(to + lines, job->line, bytes - lines);
}

/* ---- as grids -------------------------------------------------------------------------------------------------- */

static size_t piece_bytes(size_t bytes, unsigned long long piece) {
  size_t begin = (size_t)piece * PIECE;
  return bytes - begin < PIECE ? bytes - begin : PIECE;
}

static void copy_pieces(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  const cpu_op *op = grid->data;
  const bool past_cache = larger_than_cache(2 * op->copy.bytes);
  (void)worker;
  for (unsigned long long i = first; i < last; i++) {
    const size_t begin = (size_t)i * PIECE, bytes = piece_bytes(op->copy.bytes, i);
    if (past_cache)
      copy_past_cache(op->copy.to + begin, op->copy.from + begin, bytes);
    else
      memcpy(op->copy.to + begin, op->copy.from + begin, bytes);
  }
}

static void move_all(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  const cpu_op *op = grid->data;
  (void)worker, (void)first, (void)last;
  memmove(op->copy.to, op->copy.from, op->copy.bytes);
}

static void fill_pieces(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  const fill_job *job = grid->data;
  (void)worker;
  for (unsigned long long i = first; i < last; i++)
    fill_piece(job, job->to + (size_t)i * PIECE, piece_bytes(job->bytes, i));
}

static unsigned long long pieces(size_t bytes) {
  return (bytes + PIECE - 1) / PIECE;
}

static mw_status run_pieces(cpu_stream *stream, cpu_worker *me, cpu_grid_run_function *run, const void *job,
                            unsigned long long count, double seconds, mw_error *err) {
  cpu_grid grid;
  cpu_grid_begin_work(&grid, run, job, count, seconds, stream->base.priority);
  cpu_pool_run(&cpu_device_of(&stream->base)->pool, &grid, me);
  const int why = atomic_load(&grid.stop.why);
  if (why == CPU_GOING) return MW_OK;
  if (why == CPU_STOP_INTERRUPT) return mw_fail(err, MW_INTERRUPTED, "interrupted");
  return mw_fail(err, MW_FAULT, "a copy or fill accessed unmapped memory: address 0x%zx",
                 (size_t)grid.stop.fault.address);
}

static mw_status run_copy(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  const char *to = op->copy.to, *from = op->copy.from;
  const size_t bytes = op->copy.bytes;
  if (op->copy.shadow) cpu_shadow_copied(op->copy.shadow, (uintptr_t)to, (uintptr_t)from, bytes);
  if (to < from + bytes && from < to + bytes) return run_pieces(stream, me, move_all, op, 1, 0, err);
  return run_pieces(stream, me, copy_pieces, op, pieces(bytes), PIECE_SECONDS, err);
}

static mw_status run_fill(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  cpu_shadow *shadow = cpu_device_of(&stream->base)->memory->shadow;
  if (shadow) cpu_shadow_written(shadow, (uintptr_t)op->fill.to, op->fill.width * op->fill.count);
  fill_job job = {.to = op->fill.to, .bytes = op->fill.width * op->fill.count};
  for (size_t i = 0; i < LINE; i += op->fill.width) memcpy(job.line + i, &op->fill.pattern, op->fill.width);
  return run_pieces(stream, me, fill_pieces, &job, pieces(job.bytes), PIECE_SECONDS, err);
}

static void label_copy(const cpu_op *op, FILE *out) {
  fprintf(out, "copy\\n%zu bytes", op->copy.bytes);
}

static void label_fill(const cpu_op *op, FILE *out) {
  fprintf(out, "fill\\n%zu bytes", op->fill.width * op->fill.count);
}

static const cpu_op_type copy_op = {.run = run_copy, .label = label_copy};
static const cpu_op_type fill_op = {.run = run_fill, .label = label_fill};

/* ---- what the binding calls ------------------------------------------------------------------------------------ */

static char *host_address(mw_place place) {
  return place.buffer ? (char *)place.buffer->address + place.offset : place.host;
}

/* The stream may be one of another device, which does not share the checker. */
static cpu_shadow *shadow_of(mw_place place, const mw_backend *own) {
  const mw_device *device = place.buffer ? place.buffer->device : NULL;
  return device && device->backend == own ? ((const cpu_device *)device)->memory->shadow : NULL;
}

mw_status cpu_copy(mw_stream *base, mw_place to, mw_place from, size_t bytes, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  const bool plain = !to.buffer || !from.buffer;
  assert(!plain || !base->capturing);
  cpu_op op = {.type = &copy_op,
               .copy = {host_address(to), host_address(from), bytes, shadow_of(to, base->device->backend)}};
  mw_status status = cpu_stream_submit(stream, &op, err);
  if (status != MW_OK || !plain || !stream->worker) return status;
  status = cpu_stream_drain(stream, err);
  return status == MW_OK ? cpu_stream_take_error(stream, err) : status;
}

mw_status cpu_fill(mw_stream *base, mw_place place, const void *pattern, size_t width, size_t count, mw_error *err) {
  cpu_op op = {.type = &fill_op, .fill = {.to = host_address(place), .width = width, .count = count}};
  memcpy(&op.fill.pattern, pattern, width);
  return cpu_stream_submit((cpu_stream *)base, &op, err);
}
