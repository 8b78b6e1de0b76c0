/* SPDX-License-Identifier: MIT
 *
 * Copies and fills: split in pieces for the pool. What is larger than the cache is stored past it, which saves reading
 * the target first (one third of a copy's traffic). */
#include "core/backend/cpu/graph.h"
#include "core/backend/cpu/stream.h"

#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { PIECE = 256 << 10, LINE = 64 };
static const double PIECE_SECONDS = 12e-6;

typedef struct copy_job {
  char *to;
  const char *from;
  size_t bytes;
  bool past_cache;
} copy_job;

typedef struct fill_job {
  char *to;
  size_t bytes;
  bool past_cache;
  _Alignas(LINE) unsigned char line[LINE]; /* the pattern, repeated */
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
    __m128i a = _mm_loadu_si128((const __m128i *)(from + i)), b = _mm_loadu_si128((const __m128i *)(from + i + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(from + i + 32)),
            d = _mm_loadu_si128((const __m128i *)(from + i + 48));
    _mm_stream_si128((__m128i *)(to + i), a);
    _mm_stream_si128((__m128i *)(to + i + 16), b);
    _mm_stream_si128((__m128i *)(to + i + 32), c);
    _mm_stream_si128((__m128i *)(to + i + 48), d);
  }
  _mm_sfence();
}

static void fill_lines(char *to, const unsigned char *line, size_t bytes) {
  const __m128i *part = (const __m128i *)line;
  __m128i a = _mm_load_si128(part), b = _mm_load_si128(part + 1), c = _mm_load_si128(part + 2),
          d = _mm_load_si128(part + 3);
  for (size_t i = 0; i < bytes; i += LINE) {
    _mm_stream_si128((__m128i *)(to + i), a);
    _mm_stream_si128((__m128i *)(to + i + 16), b);
    _mm_stream_si128((__m128i *)(to + i + 32), c);
    _mm_stream_si128((__m128i *)(to + i + 48), d);
  }
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
  if (job->past_cache && (uintptr_t)to % LINE == 0)
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
  const copy_job *job = grid->data;
  (void)worker;
  for (unsigned long long i = first; i < last; i++) {
    const size_t begin = (size_t)i * PIECE, bytes = piece_bytes(job->bytes, i);
    if (job->past_cache)
      copy_past_cache(job->to + begin, job->from + begin, bytes);
    else
      memcpy(job->to + begin, job->from + begin, bytes);
  }
}

static void move_all(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  const copy_job *job = grid->data;
  (void)worker, (void)first, (void)last;
  memmove(job->to, job->from, job->bytes);
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

mw_status cpu_transfer_run_copy(cpu_device *device, cpu_worker *worker, char *to, const char *from, size_t bytes,
                                int priority, mw_error *err) {
  copy_job job = {to, from, bytes, larger_than_cache(2 * bytes)};
  bool overlap = to < from + bytes && from < to + bytes;
  if (overlap) return cpu_grid_work(device, worker, move_all, &job, 1, 0, priority, err);
  return cpu_grid_work(device, worker, copy_pieces, &job, pieces(bytes), PIECE_SECONDS, priority, err);
}

mw_status cpu_transfer_run_fill(cpu_device *device, cpu_worker *worker, char *to, uint64_t pattern, size_t width,
                                size_t count, int priority, mw_error *err) {
  fill_job job = {.to = to, .bytes = width * count, .past_cache = larger_than_cache(width * count)};
  for (size_t i = 0; i < LINE; i += width) memcpy(job.line + i, &pattern, width);
  return cpu_grid_work(device, worker, fill_pieces, &job, pieces(job.bytes), PIECE_SECONDS, priority, err);
}

/* ---- what the binding calls ------------------------------------------------------------------------------------ */

static char *host_address(mw_place place) {
  return place.buffer ? (char *)place.buffer->address + place.offset : place.host;
}

mw_status cpu_transfer_copy(mw_stream *base, mw_place to, mw_place from, size_t bytes, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  const bool plain = !to.buffer || !from.buffer;
  const cpu_op op = {.kind = CPU_OP_COPY, .copy = {host_address(to), host_address(from), bytes}};
  mw_status status = cpu_stream_submit(stream, &op, 0, err);
  if (status != MW_OK || !plain || !stream->worker) return status;
  status = cpu_stream_drain(stream, err);
  return status == MW_OK ? cpu_stream_take_error(stream, err) : status;
}

mw_status cpu_transfer_fill(mw_stream *base, mw_place place, const void *pattern, size_t width, size_t count,
                            mw_error *err) {
  cpu_op op = {.kind = CPU_OP_FILL, .fill = {.to = host_address(place), .width = width, .count = count}};
  memcpy(&op.fill.pattern, pattern, width);
  return cpu_stream_submit((cpu_stream *)base, &op, 0, err);
}
