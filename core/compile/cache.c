/* SPDX-License-Identifier: MIT
 *
 * The on-disk cache: <folder>/<2 hex>/<30 hex>, each file the payload and then a trailer with its length and hash.
 * Everything goes through one descriptor of the folder, checked once per process. Readers need no lock: a file appears
 * whole by rename and stays readable while open. Counts live in a small file that every process maps and updates with
 * atomics; the byte count there is only a hint of when to look for entries to remove. */
#define XXH_INLINE_ALL
#include "core/compile/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/file.h"
#include "core/base/folder.h"
#include "core/base/memory.h"

#define MAGIC         0x315052574e4f4f4dULL /* "MOONWRP1" on disk */
#define COUNTERS_FILE "counters-1"
#define DEFAULT_BOUND (1ULL << 30)
#define IMPLAUSIBLE   (1ULL << 48) /* no counter gets there */
#define STALE_SECONDS 3600         /* a temporary file this old belongs to a process that died */

typedef struct trailer {
  uint64_t magic, length;
  uint8_t hash[16]; /* of the key, then the payload: an entry under another's name is rejected too */
} trailer;

typedef struct counters {
  _Atomic uint64_t hits, misses, bytes;
} counters;

static struct {
  pthread_once_t once;
  int folder_fd;        /* -1: the cache is off */
  int base_fd;          /* where to look next, and nothing is put; -1: nowhere */
  mw_cache_stats about; /* its folder, problem and bound */
  counters *shared;     /* mapped, or &fallback */
  counters fallback;
  atomic_bool warned;
  atomic_uint serial; /* makes temporary names of one process differ */
} cache = {.once = PTHREAD_ONCE_INIT, .folder_fd = -1, .base_fd = -1};

/* ---- keys ------------------------------------------------------------------------------------------------------ */

struct mw_cache_keymaker {
  XXH3_state_t hash;
};

mw_cache_keymaker *mw_cache_key_begin(const char *kind) {
  mw_cache_keymaker *maker = (mw_cache_keymaker *)XXH3_createState();
  if (!maker) {
    fputs("moonwarp: the system has no memory left\n", stderr);
    abort();
  }
  XXH3_128bits_reset(&maker->hash);
  mw_cache_key_text(maker, "kind", kind);
  return maker;
}

void mw_cache_key_add(mw_cache_keymaker *maker, const char *label, const void *bytes, size_t size) {
  uint64_t lengths[2] = {strlen(label), size};
  XXH3_128bits_update(&maker->hash, lengths, sizeof lengths);
  XXH3_128bits_update(&maker->hash, label, lengths[0]);
  if (size) XXH3_128bits_update(&maker->hash, bytes, size);
}

void mw_cache_key_text(mw_cache_keymaker *maker, const char *label, const char *text) {
  mw_cache_key_add(maker, label, text, text ? strlen(text) + 1 : 0);
}

static void hash_put(uint8_t out[16], XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  memcpy(out, canonical.digest, sizeof canonical.digest);
}

mw_cache_key mw_cache_key_end(mw_cache_keymaker *maker) {
  mw_cache_key key;
  hash_put(key.hash, XXH3_128bits_digest(&maker->hash));
  XXH3_freeState(&maker->hash);
  return key;
}

/* ---- the folder ------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 1, 2))) static void warn(const char *format, ...) {
  va_list args;
  if (atomic_exchange(&cache.warned, true)) return;
  va_start(args, format);
  char *text = mw_vformat(format, args);
  va_end(args);
  fprintf(stderr, "moonwarp: warning: compiled code is not cached: %s\n", text);
  mw_free(text);
}

static bool is_set(const char *text) {
  return text && *text;
}

static bool choose_folder(char *out, size_t size) {
  const char *own = getenv("MOONWARP_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length;
  if (is_set(own))
    length = snprintf(out, size, "%s", own);
  else if (is_set(xdg) && *xdg == '/') /* one that is not absolute is to be ignored (XDG base directories, 0.8) */
    length = snprintf(out, size, "%s/moonwarp", xdg);
  else {
    struct passwd *user = is_set(home) ? NULL : getpwuid(geteuid());
    if (user) home = user->pw_dir;
    length = is_set(home) ? snprintf(out, size, "%s/.cache/moonwarp", home) : 0;
  }
  return length > 0 && (size_t)length < size;
}

/* Code is loaded from there, so no other user may be able to write to it. */
static bool is_private(const struct stat *st) {
  return st->st_uid == geteuid() && !(st->st_mode & 022);
}

static bool folder_is_private(int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0) return false;
  if (is_private(&st)) return true;
  if (st.st_uid != geteuid())
    snprintf(cache.about.problem, sizeof cache.about.problem,
             "'%.120s' belongs to user %u, not to you (user %u); set MOONWARP_CACHE to a folder of your own",
             cache.about.folder, (unsigned)st.st_uid, (unsigned)geteuid());
  else
    snprintf(cache.about.problem, sizeof cache.about.problem,
             "others may write to '%.120s' (mode %03o); run chmod 700 on it or set MOONWARP_CACHE", cache.about.folder,
             (unsigned)(st.st_mode & 0777));
  return false;
}

static uint64_t read_bound(void) {
  const char *text = getenv("MOONWARP_CACHE_MAX");
  if (!is_set(text)) return DEFAULT_BOUND;
  char *end;
  unsigned long long bytes = strtoull(text, &end, 10);
  if (end != text && !*end) return bytes;
  fprintf(stderr, "moonwarp: warning: MOONWARP_CACHE_MAX is a number of bytes, not '%s'; using %llu\n", text,
          DEFAULT_BOUND);
  return DEFAULT_BOUND;
}

static uint64_t count_bytes(void);

static void counters_reset(uint64_t bytes) {
  atomic_store(&cache.shared->hits, 0);
  atomic_store(&cache.shared->misses, 0);
  atomic_store(&cache.shared->bytes, bytes);
}

/* Where the file is new, cut or damaged, counting begins again; the bytes can be counted. */
static void check_counters(bool whole) {
  counters *shared = cache.shared;
  if (!whole || atomic_load(&shared->hits) >= IMPLAUSIBLE || atomic_load(&shared->misses) >= IMPLAUSIBLE ||
      atomic_load(&shared->bytes) >= IMPLAUSIBLE)
    counters_reset(count_bytes());
}

/* False: another process keeps it locked, or is stopped while it does; this one then counts for itself. */
static bool lock_soon(int fd) {
  enum { TRIES = 1000, PAUSE = 1000 }; /* microseconds: a second in all */
  for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
    if (errno != EWOULDBLOCK || tries == TRIES) return errno != EWOULDBLOCK;
    usleep(PAUSE);
  }
  return true;
}

/* Space is reserved before mapping: a store to a hole would be SIGBUS on a full disk. */
static void map_counters(void) {
  struct stat st;
  int fd = openat(cache.folder_fd, COUNTERS_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return;
  if (!lock_soon(fd)) { /* no process takes a file that another is about to size for a damaged one */
    close(fd);
    return;
  }
  const bool whole = fstat(fd, &st) == 0 && (size_t)st.st_size == sizeof(counters);
  const bool sized = whole || ftruncate(fd, sizeof(counters)) == 0;
  if (sized && posix_fallocate(fd, 0, sizeof(counters)) == 0) {
    void *at = mmap(NULL, sizeof(counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) {
      cache.shared = at;
      check_counters(whole);
    }
  }
  flock(fd, LOCK_UN); /* closing would not do it: the mapping holds the file open */
  close(fd);
}

static void open_base(void) {
  const char *path = getenv("MOONWARP_CACHE_BASE");
  struct stat st;
  int fd = is_set(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  if (fstat(fd, &st) == 0 && is_private(&st))
    cache.base_fd = fd;
  else
    close(fd);
}

static void open_folder(void) {
  cache.shared = &cache.fallback;
  open_base();
  cache.about.bound = read_bound();
  if (!choose_folder(cache.about.folder, sizeof cache.about.folder)) {
    snprintf(cache.about.problem, sizeof cache.about.problem,
             "there is no home folder; set MOONWARP_CACHE to a folder");
    return;
  }
  int fd = mw_make_folders(cache.about.folder, MW_PRIVATE)
               ? open(cache.about.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
               : -1;
  if (fd < 0)
    snprintf(cache.about.problem, sizeof cache.about.problem,
             "cannot use '%.120s': %s; set MOONWARP_CACHE to a writable folder", cache.about.folder, strerror(errno));
  else if (folder_is_private(fd)) {
    cache.folder_fd = fd;
    map_counters();
    return;
  }
  if (fd >= 0) close(fd);
}

/* Stat only looks (quiet); otherwise a message says once why the cache is off. */
static bool ready(bool quiet) {
  pthread_once(&cache.once, open_folder);
  if (cache.folder_fd >= 0) return true;
  if (!quiet) warn("%s", cache.about.problem);
  return false;
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

typedef struct entry_name {
  char text[34]; /* "ab/cdef..." */
} entry_name;

static entry_name name_of(const mw_cache_key *key) {
  entry_name name;
  char *at = name.text;
  for (int i = 0; i < 16; i++) {
    at += snprintf(at, 3, "%02x", key->hash[i]);
    if (i == 0) *at++ = '/';
  }
  return name;
}

static trailer trailer_of(const mw_cache_key *key, const void *bytes, size_t size) {
  trailer out = {.magic = MAGIC, .length = size};
  uint64_t seed;
  memcpy(&seed, key->hash, sizeof seed);
  hash_put(out.hash, XXH3_128bits_withSeed(bytes, size, seed));
  return out;
}

/* The payload with the trailer still after it; NULL where the file is not what was written. */
static char *read_entry(int fd, const mw_cache_key *key, size_t *payload) {
  size_t whole;
  char *bytes = mw_file_read_fd(fd, cache.about.bound, &whole);
  if (bytes && whole >= sizeof(trailer)) {
    *payload = whole - sizeof(trailer);
    trailer expected = trailer_of(key, bytes, *payload);
    if (memcmp(bytes + *payload, &expected, sizeof expected) == 0) return bytes;
  }
  mw_free(bytes);
  return NULL;
}

static char *find(int folder, const mw_cache_key *key, size_t *size) {
  entry_name name = name_of(key);
  int fd = folder < 0 ? -1 : openat(folder, name.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return NULL;
  char *found = read_entry(fd, key, size);
  if (found)
    futimens(fd, NULL); /* the time of last use, for the bound */
  else
    unlinkat(folder, name.text, 0);
  close(fd);
  return found;
}

bool mw_cache_get(const mw_cache_key *key, void **bytes, size_t *size) {
  if (!ready(false)) return false;
  char *found = find(cache.folder_fd, key, size);
  if (!found) found = find(cache.base_fd, key, size);
  atomic_fetch_add(found ? &cache.shared->hits : &cache.shared->misses, 1);
  *bytes = found;
  return found != NULL;
}

static int create_temporary(const entry_name *name, char *path, size_t size) {
  for (int tries = 0; tries < 64; tries++) {
    snprintf(path, size, "%.2s/tmp.%d.%u", name->text, (int)getpid(), atomic_fetch_add(&cache.serial, 1));
    int fd = openat(cache.folder_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    if (errno == ENOENT) {
      char folder[3] = {name->text[0], name->text[1], '\0'};
      if (mkdirat(cache.folder_fd, folder, 0700) != 0 && errno != EEXIST) return -1;
    } else if (errno != EEXIST)
      return -1; /* EEXIST: another process with our number, in another container */
  }
  return -1;
}

static void evict(void);

void mw_cache_put(const mw_cache_key *key, const void *bytes, size_t size) {
  if (!ready(false) || size + sizeof(trailer) > cache.about.bound) return;
  entry_name name = name_of(key);
  char temporary[64];
  int fd = create_temporary(&name, temporary, sizeof temporary);
  trailer end = trailer_of(key, bytes, size);
  bool whole = fd >= 0 && mw_file_write_fd(fd, bytes, size) && mw_file_write_fd(fd, &end, sizeof end);
  if (fd >= 0 && close(fd) != 0) whole = false;
  if (!whole || renameat(cache.folder_fd, temporary, cache.folder_fd, name.text) != 0) {
    warn("cannot write to '%s': %s", cache.about.folder, strerror(errno));
    if (fd >= 0) unlinkat(cache.folder_fd, temporary, 0);
    return;
  }
  uint64_t total = atomic_fetch_add(&cache.shared->bytes, size + sizeof end) + size + sizeof end;
  if (total > cache.about.bound) evict();
}

/* ---- all entries ----------------------------------------------------------------------------------------------- */

typedef struct found_entry {
  entry_name name;
  uint64_t bytes;
  struct timespec used;
} found_entry;

typedef struct entry_list {
  found_entry *at;
  size_t count;
  uint64_t bytes;
} entry_list;

static bool is_hex(const char *text, size_t length) {
  return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

static void note_entry(entry_list *list, const char *folder, const char *file, const struct stat *st) {
  list->at = mw_grow(list->at, list->count, sizeof *list->at);
  found_entry *entry = &list->at[list->count++];
  snprintf(entry->name.text, sizeof entry->name.text, "%.2s/%.30s", folder, file);
  entry->bytes = (uint64_t)st->st_size;
  entry->used = st->st_mtim;
  list->bytes += entry->bytes;
}

static void list_folder(entry_list *list, const char *folder) {
  int fd = openat(cache.folder_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) {
    if (fd >= 0) close(fd);
    return;
  }
  for (struct dirent *item; (item = readdir(dir));) {
    struct stat st;
    if (fstatat(fd, item->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (is_hex(item->d_name, 30))
      note_entry(list, folder, item->d_name, &st);
    else if (strncmp(item->d_name, "tmp.", 4) == 0 && st.st_mtime + STALE_SECONDS < time(NULL))
      unlinkat(fd, item->d_name, 0);
  }
  closedir(dir);
}

static entry_list list_all(void) {
  entry_list list = {0};
  char folder[8];
  for (unsigned i = 0; i < 256; i++) {
    snprintf(folder, sizeof folder, "%02x", i);
    list_folder(&list, folder);
  }
  return list;
}

static uint64_t count_bytes(void) {
  entry_list list = list_all();
  mw_free(list.at);
  return list.bytes;
}

static int older_first(const void *a, const void *b) {
  const struct timespec *x = &((const found_entry *)a)->used, *y = &((const found_entry *)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Removes the least recently used entries until an eighth of the bound is free again. One process at a time does it;
 * the others go on, since their bytes are counted when the next one looks. */
static void evict(void) {
  int lock = openat(cache.folder_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (lock < 0) return;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
    entry_list list = list_all();
    if (list.bytes > cache.about.bound) {
      qsort(list.at, list.count, sizeof *list.at, older_first);
      for (size_t i = 0; i < list.count && list.bytes > cache.about.bound - cache.about.bound / 8; i++)
        if (unlinkat(cache.folder_fd, list.at[i].name.text, 0) == 0) list.bytes -= list.at[i].bytes;
    }
    atomic_store(&cache.shared->bytes, list.bytes);
    mw_free(list.at);
  }
  close(lock); /* releases it */
}

void mw_cache_stat(mw_cache_stats *out) {
  bool usable = ready(true);
  *out = cache.about;
  if (!usable) return;
  entry_list list = list_all();
  out->entries = list.count;
  out->bytes = list.bytes;
  mw_free(list.at);
  out->hits = atomic_load(&cache.shared->hits);
  out->misses = atomic_load(&cache.shared->misses);
}

int mw_cache_clear(void) {
  if (!ready(true)) return -1;
  entry_list list = list_all();
  int removed = 0;
  for (size_t i = 0; i < list.count; i++)
    if (unlinkat(cache.folder_fd, list.at[i].name.text, 0) == 0) removed++;
  mw_free(list.at);
  counters_reset(0);
  return removed;
}
