/* SPDX-License-Identifier: MIT
 *
 * An array's mapping: guard, slack, array, slack, guard. The slack behind fills the array up to its alignment, that in
 * front fills up the first page; an array that is a multiple of these has none. The slack holds a pattern. Freed arrays
 * are unmapped at once if no stream has work, else when all work queued before the free is done. */
#include "core/backend/cpu/objects.h"

#include "core/backend/refs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A multiple of a cache line lets vectors keep off the borders of lines (a third faster in the second-level cache).
 * Arrays that fit the first level lose little; there CUDA's widest vector decides, and fewer bytes hide from the
 * guard. */
enum { LINE = 64, VECTOR = 16, SMALL = 64 << 10 };
/* In check mode arrays begin as in CUDA, and accesses have the sectors that they have there; the shadow is the guard. */
enum { CUDA_ALIGNMENT = 256 };
enum { UNWRITTEN = 0xff }; /* NaN as a float: in check mode, where filling an array would count as writing to it */
enum { GUARD = 64 << 10, HUGE_PAGE = 2 << 20 };
enum { WATCHED = 512 }; /* bytes of the slack in front that are looked at after a launch */

static size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/* ---- far apart ------------------------------------------------------------------------------------------------- */

/* In check mode each array has 64 GiB of address space to itself, its middle: an index of 32 bits reaches no other. */
enum { FAR_SHIFT = 36, FAR_MOST = 512, FAR_LEAST = 16 };

struct mw_span {
  char *base;
  size_t slots, next;
  bool taken[FAR_MOST];
};

static mw_span *range_open(void) {
  for (size_t slots = FAR_MOST; slots >= FAR_LEAST; slots /= 2) {
    char *base = mmap(NULL, slots << FAR_SHIFT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    mw_span *range = mw_calloc(1, sizeof *range);
    range->base = base;
    range->slots = slots;
    return range;
  }
  return NULL;
}

static void range_close(mw_span *range) {
  if (range) munmap(range->base, range->slots << FAR_SHIFT);
  mw_free(range);
}

/* Place for a mapping; NULL: none is left, or it is too large. */
static char *range_take(mw_span *range, size_t bytes) {
  if (!range || bytes > (size_t)1 << (FAR_SHIFT - 1)) return NULL;
  for (size_t i = 0; i < range->slots; i++, range->next++) {
    const size_t slot = range->next % range->slots;
    if (range->taken[slot]) continue;
    range->taken[slot] = true;
    range->next++;
    return range->base + (slot << FAR_SHIFT) + ((size_t)1 << (FAR_SHIFT - 1));
  }
  return NULL;
}

/* False: it is not the range's. */
static bool range_give(mw_span *range, char *map, size_t bytes) {
  if (!range || (size_t)(map - range->base) >> FAR_SHIFT >= range->slots) return false;
  mmap(map, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  range->taken[(size_t)(map - range->base) >> FAR_SHIFT] = false;
  return true;
}

static void give_mapping(cpu_memory *memory, char *map, size_t bytes) {
  if (!range_give(memory->range, map, bytes)) munmap(map, bytes);
}

void cpu_memory_open(cpu_memory *memory, cpu_shadow *shadow) {
  memory->shadow = shadow;
  memory->range = shadow ? range_open() : NULL;
  pthread_mutex_init(&memory->lock, NULL);
}

static cpu_found found(const cpu_buffer *buffer) {
  return buffer ? (cpu_found){true, (uintptr_t)buffer->base.address, buffer->base.bytes} : (cpu_found){0};
}

/* In check mode: the array's pages, and one of each guard. */
static cpu_shadow_range shadowed(const cpu_buffer *buffer) {
  const size_t beside = GUARD - cpu_page_bytes();
  return (cpu_shadow_range){(uintptr_t)buffer->map + beside, buffer->map_bytes - 2 * beside};
}

static void forget(cpu_memory *memory, const cpu_buffer *buffer) {
  const cpu_shadow_range all = shadowed(buffer);
  cpu_shadow_remove(memory->shadow, all.from, all.bytes);
  pthread_mutex_lock(&memory->lock);
  memory->freed[memory->nfreed++ % CPU_FREED] = found(buffer);
  pthread_mutex_unlock(&memory->lock);
}

static void unmap(cpu_deferred *deferred) {
  cpu_buffer *buffer = (cpu_buffer *)((char *)deferred - offsetof(cpu_buffer, unmap));
  cpu_memory *memory = ((cpu_device *)buffer->base.device)->memory;
  if (memory->shadow) forget(memory, buffer);
  give_mapping(memory, buffer->map, buffer->map_bytes);
  ((cpu_device *)buffer->base.device)->used -= buffer->base.bytes;
  mw_free(buffer);
}

void cpu_memory_close(cpu_memory *memory) {
  range_close(memory->range);
  mw_free(memory->arrays);
  pthread_mutex_destroy(&memory->lock);
}

/* ---- the bytes next to an array --------------------------------------------------------------------------------- */

/* A signalling NaN of the type: a result computed from it is quiet, so that an update in place changes it, too. */
static uint16_t pattern_of(mw_dtype type) {
  return type == MW_F16 ? 0x7d5a : type == MW_BF16 || type == MW_F32 ? 0x7fa5 : type == MW_F64 ? 0x7ff5 : 0xc5c5;
}

static void put_pattern(char *to, const char *end, uint16_t pattern) {
  const uint64_t four = pattern * 0x0001000100010001u;
  for (; end - to >= 8; to += 8) memcpy(to, &four, 8);
  memcpy(to, &four, (size_t)(end - to));
}

size_t cpu_memory_pages(const cpu_buffer *buffer, char **from) {
  *from = buffer->map + GUARD;
  return buffer->map_bytes - 2 * (size_t)GUARD;
}

static void fill_slack(const cpu_buffer *buffer) {
  char *start = buffer->base.address, *end = start + buffer->base.bytes;
  put_pattern(buffer->map + GUARD, start, buffer->redzone.pattern);
  put_pattern(end, end + buffer->redzone.after, buffer->redzone.pattern);
}

static bool has_redzone(const cpu_buffer *buffer) {
  return buffer->redzone.before || buffer->redzone.after;
}

/* ---- the list of live arrays ----------------------------------------------------------------------------------- */

/* With the lock: how many arrays begin at or below the address. */
static size_t rank_of(const cpu_memory *memory, uintptr_t address) {
  size_t low = 0, high = memory->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((uintptr_t)memory->arrays[middle]->base.address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void enlist(cpu_memory *memory, cpu_buffer *buffer) {
  pthread_mutex_lock(&memory->lock);
  memory->arrays = mw_grow(memory->arrays, memory->count, sizeof *memory->arrays);
  size_t at = rank_of(memory, (uintptr_t)buffer->base.address);
  memmove(memory->arrays + at + 1, memory->arrays + at, (memory->count - at) * sizeof *memory->arrays);
  memory->arrays[at] = buffer;
  memory->count++;
  pthread_mutex_unlock(&memory->lock);
  if (has_redzone(buffer)) atomic_fetch_add(&memory->redzones, 1);
}

static void strike(cpu_memory *memory, cpu_buffer *buffer) {
  pthread_mutex_lock(&memory->lock);
  size_t at = rank_of(memory, (uintptr_t)buffer->base.address) - 1;
  memmove(memory->arrays + at, memory->arrays + at + 1, (memory->count - at - 1) * sizeof *memory->arrays);
  memory->count--;
  pthread_mutex_unlock(&memory->lock);
  if (has_redzone(buffer)) atomic_fetch_sub(&memory->redzones, 1);
}

uintptr_t cpu_found_distance(const cpu_found *array, uintptr_t address) {
  const uintptr_t end = array->start + array->bytes;
  if (!array->found) return UINTPTR_MAX;
  return address < array->start ? array->start - address : address < end ? 0 : address - end;
}

cpu_neighbours cpu_memory_neighbours(cpu_memory *memory, uintptr_t address) {
  pthread_mutex_lock(&memory->lock);
  const size_t above = rank_of(memory, address);
  const cpu_found low = found(above ? memory->arrays[above - 1] : NULL);
  const cpu_found high = found(above < memory->count ? memory->arrays[above] : NULL);
  pthread_mutex_unlock(&memory->lock);
  const bool is_high = cpu_found_distance(&high, address) < cpu_found_distance(&low, address);
  return is_high ? (cpu_neighbours){high, low} : (cpu_neighbours){low, high};
}

cpu_found cpu_memory_nearest(cpu_memory *memory, uintptr_t address) {
  return cpu_memory_neighbours(memory, address).nearest;
}

cpu_found cpu_memory_freed(cpu_memory *memory, uintptr_t address) {
  cpu_found freed = {0};
  pthread_mutex_lock(&memory->lock);
  for (size_t i = memory->nfreed; !freed.found && i > 0 && i + CPU_FREED > memory->nfreed; i--)
    if (cpu_found_distance(&memory->freed[(i - 1) % CPU_FREED], address) < GUARD)
      freed = memory->freed[(i - 1) % CPU_FREED];
  pthread_mutex_unlock(&memory->lock);
  return freed;
}

/* With the lock, as above. */
static uintptr_t overrun(const cpu_memory *memory, uintptr_t address, cpu_redzone *out) {
  const size_t above = rank_of(memory, address);
  const cpu_buffer *buffer = above ? memory->arrays[above - 1] : NULL;
  if (!buffer || address - (uintptr_t)buffer->base.address >= buffer->base.bytes) return 0;
  const uintptr_t written = cpu_redzone_written(&buffer->redzone);
  if (!written) return 0;
  *out = buffer->redzone;
  fill_slack(buffer);
  return written;
}

int cpu_memory_overrun(cpu_memory *memory, const mw_kernel *kernel, const void *args, int first, cpu_redzone *out,
                       uintptr_t *byte) {
  *byte = 0;
  pthread_mutex_lock(&memory->lock);
  int i = first;
  for (; i < kernel->nparams; i++) {
    uintptr_t address;
    if (!kernel->params[i].pointer) continue;
    memcpy(&address, (const char *)args + kernel->params[i].offset, sizeof address);
    if ((*byte = overrun(memory, address, out))) break;
  }
  pthread_mutex_unlock(&memory->lock);
  return *byte ? i : -1;
}

/* ---- making and freeing ---------------------------------------------------------------------------------------- */

mw_status cpu_memory_info(mw_device *base, size_t *free, size_t *total, mw_error *err) {
  cpu_device *device = (cpu_device *)base;
  (void)err;
  cpu_streams_reap(device);
  const size_t used = device->used, available = cpu_probe_available_memory();
  *total = base->info.memory_total;
  *free = used < *total ? *total - used : 0;
  const size_t most = device->checker ? available / (1 + CPU_SHADOW_BYTES) : available;
  if (*free > most) *free = most;
  return MW_OK;
}

static mw_status fail_memory(mw_device *device, size_t wanted, const char *why, mw_error *err) {
  char a[32], b[32], c[32];
  size_t left, total;
  cpu_memory_info(device, &left, &total, err);
  return mw_fail(err, MW_NO_MEMORY, "out of memory on %s: wanted %s, free %s of %s%s", device->info.id,
                 mw_bytes_text(a, (double)wanted), mw_bytes_text(b, (double)left), mw_bytes_text(c, (double)total),
                 why);
}

/* Next to an array no access is right. What the host may write to at any time holds values. */
static bool shadow_array(cpu_shadow *shadow, const cpu_buffer *buffer) {
  const cpu_shadow_range memory = {(uintptr_t)buffer->base.address, buffer->base.bytes};
  return cpu_shadow_add(shadow, memory, shadowed(buffer), buffer->base.space != MW_SPACE_DEVICE);
}

/* The mapping, inaccessible but for the array's pages; the array ends where they end but for its alignment. */
static bool map_array(cpu_memory *memory, cpu_buffer *buffer, size_t bytes, size_t align, mw_dtype type) {
  const size_t taken = round_up(bytes, align), body = round_up(taken, cpu_page_bytes());
  buffer->map_bytes = body + 2 * GUARD;
  char *map = range_take(memory->range, buffer->map_bytes);
  if (!map) map = mmap(NULL, buffer->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return false;
  if (mprotect(map + GUARD, body, PROT_READ | PROT_WRITE)) {
    give_mapping(memory, map, buffer->map_bytes);
    return false;
  }
  if (body >= 2 * (size_t)HUGE_PAGE) madvise(map + GUARD, body, MADV_HUGEPAGE);
  buffer->map = map;
  buffer->base.address = map + GUARD + body - taken;
  const unsigned char *start = buffer->base.address;
  const size_t before = body - taken;
  buffer->redzone = (cpu_redzone){.start = start, .end = start + bytes, .after = taken - bytes};
  buffer->redzone.before = before < WATCHED ? before : WATCHED;
  buffer->redzone.pattern = pattern_of(type);
  buffer->dtype = type;
  fill_slack(buffer);
  if (!memory->shadow) return true;
  if (!shadow_array(memory->shadow, buffer)) {
    give_mapping(memory, map, buffer->map_bytes);
    return false;
  }
  memset(buffer->base.address, UNWRITTEN, bytes); /* the binding leaves it as it is */
  return true;
}

static size_t alignment_of(const cpu_memory *memory, size_t bytes) {
  if (memory->shadow) return CUDA_ALIGNMENT;
  return bytes < SMALL ? VECTOR : LINE;
}

static bool fits(const cpu_device *device, size_t bytes) {
  const size_t total = device->base.info.memory_total;
  return bytes <= total && device->used <= total - bytes;
}

mw_status cpu_memory_alloc(mw_stream *stream, size_t bytes, mw_space space, mw_dtype type, mw_buffer **out,
                           mw_error *err) {
  mw_device *device = stream->device;
  cpu_device *cpu = (cpu_device *)device;
  cpu_streams_reap(cpu);
  if (!fits(cpu, bytes) && cpu->deferred) {
    mw_status status = cpu_streams_drain(cpu, false, err);
    if (status != MW_OK) return status;
    cpu_streams_reap(cpu);
  }
  if (!fits(cpu, bytes)) return fail_memory(device, bytes, "", err);
  cpu_buffer *buffer = mw_calloc(1, sizeof *buffer);
  buffer->base = (mw_buffer){.device = device, .bytes = bytes, .space = space, .host = true, .stream = stream};
  atomic_init(&buffer->base.refs, 1);
  if (!map_array(cpu->memory, buffer, bytes, alignment_of(cpu->memory, bytes), type)) {
    mw_free(buffer);
    return fail_memory(device, bytes, errno == ENOMEM && bytes < GUARD ? " (or too many arrays for one process)" : "",
                       err);
  }
  cpu->used += bytes;
  enlist(cpu->memory, buffer);
  mw_device_retain(device);
  *out = &buffer->base;
  return MW_OK;
}

static void forget_image(cpu_deferred *deferred) {
  mw_free((char *)deferred - offsetof(cpu_buffer, unmap));
}

void cpu_memory_free(mw_buffer *base) {
  cpu_buffer *buffer = (cpu_buffer *)base;
  cpu_device *device = (cpu_device *)base->device;
  if (base->space == MW_SPACE_GLOBAL) {
    mw_free(buffer);
    return;
  }
  if (base->abroad)
    for (cpu_device *other = cpu_open_devices; other; other = other->next)
      if (other != device) cpu_streams_drain(other, false, &(mw_error){0}); /* what failed its own next use reports */
  const bool image = base->space == MW_SPACE_IMAGE;
  if (!image) strike(device->memory, buffer);
  buffer->unmap.run = image ? forget_image : unmap;
  cpu_streams_defer(device, &buffer->unmap);
}

/* ---- pages: device and host are one ---------------------------------------------------------------------------- */

mw_status cpu_prefetch(mw_stream *stream, mw_place place, size_t bytes, bool to_host, mw_error *err) {
  (void)stream, (void)place, (void)bytes, (void)to_host, (void)err;
  return MW_OK;
}

mw_status cpu_advise(mw_place place, size_t bytes, mw_advice advice, bool set, bool by_host, mw_error *err) {
  (void)place, (void)bytes, (void)advice, (void)set, (void)by_host, (void)err;
  return MW_OK;
}

mw_status cpu_pin(mw_buffer *buffer, mw_error *err) {
  (void)err;
  buffer->space = MW_SPACE_PINNED;
  return MW_OK;
}
