/* SPDX-License-Identifier: MIT
 *
 * The cache of compiled code. It is opened once per process, so each case runs in its own child. */
#include "core/compile/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "core/backend/backend.h"
#include "tests/c/test.h"

enum { PROCESSES = 16, ROUNDS = 40, KEYS = 7 };

static char folder[256], cache_folder[300];

static int setup(void **state) {
  (void)state;
  scratch_folder(folder);
  snprintf(cache_folder, sizeof cache_folder, "%s/a/b", folder);
  setenv("MOONWARP_CACHE", cache_folder, 1);
  unsetenv("MOONWARP_CACHE_MAX");
  return 0;
}

static int teardown(void **state) {
  (void)state;
  scratch_remove(folder);
  return 0;
}

static mw_cache_key key_of(int number) {
  mw_cache_keymaker *maker = mw_cache_key_begin("test");
  mw_cache_key_add(maker, "number", &number, sizeof number);
  return mw_cache_key_end(maker);
}

static char *payload_of(int number, size_t size) {
  char *bytes = malloc(size);
  for (size_t i = 0; i < size; i++) bytes[i] = (char)(number + (int)(i * 31));
  return bytes;
}

static void put(int number, size_t size) {
  mw_cache_key key = key_of(number);
  char *bytes = payload_of(number, size);
  mw_cache_put(&key, bytes, size);
  free(bytes);
}

/* 1 found and right, 0 a miss, -1 wrong bytes. */
static int get(int number, size_t size) {
  mw_cache_key key = key_of(number);
  void *bytes;
  size_t got;
  if (!mw_cache_get(&key, &bytes, &got)) return 0;
  char *expected = payload_of(number, size);
  bool same = got == size && memcmp(bytes, expected, size) == 0;
  free(expected);
  mw_free(bytes);
  return same ? 1 : -1;
}

/* Runs body in a child; its standard error is collected. Returns the exit status. */
static int in_child(int (*body)(void), char *err, size_t size) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 2);
    close(ends[0]);
    _exit(body());
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t got; length + 1 < size && (got = read(ends[0], err + length, size - 1 - length)) > 0;)
    length += (size_t)got;
  err[length] = '\0';
  close(ends[0]);
  int how;
  assert_int_equal(waitpid(pid, &how, 0), pid);
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128;
}

static void expect_quiet(int (*body)(void)) {
  char err[4096];
  int status = in_child(body, err, sizeof err);
  assert_string_equal(err, "");
  assert_int_equal(status, 0);
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (; (text = strstr(text, part)); text += strlen(part)) count++;
  return count;
}

static void entry_path(int number, char *path, size_t size) {
  mw_cache_key key = key_of(number);
  int at = snprintf(path, size, "%s/%02x/", cache_folder, key.hash[0]);
  for (int i = 1; i < 16; i++) at += snprintf(path + at, size - (size_t)at, "%02x", key.hash[i]);
}

static void keys_separate_pieces(void **state) {
  (void)state;
  const char *pieces[][2] = {{"ab", "c"}, {"a", "bc"}, {"", "abc"}, {NULL, "abc"}, {"abc", NULL}, {"abc", ""}};
  mw_cache_key keys[6];
  for (int i = 0; i < 6; i++) {
    mw_cache_keymaker *maker = mw_cache_key_begin("test");
    mw_cache_key_text(maker, "x", pieces[i][0]);
    mw_cache_key_text(maker, "x", pieces[i][1]);
    keys[i] = mw_cache_key_end(maker);
    for (int j = 0; j < i; j++) assert_memory_not_equal(&keys[i], &keys[j], sizeof keys[i]);
  }
}

static int round_trip(void) {
  mw_cache_stats stats;
  if (get(1, 1000) != 0) return 1;
  put(1, 1000);
  put(2, 0);
  if (get(1, 1000) != 1 || get(2, 0) != 1) return 2;
  mw_cache_stat(&stats);
  if (stats.entries != 2 || stats.hits != 2 || stats.misses != 1 || stats.problem[0]) return 3;
  if (stats.bound != 1u << 30 || stats.bytes < 1000 || strcmp(stats.folder, cache_folder) != 0) return 4;
  return 0;
}

static int still_there(void) {
  mw_cache_stats stats;
  if (get(1, 1000) != 1) return 1;
  mw_cache_stat(&stats);
  if (stats.hits != 3) return 2;
  if (mw_cache_clear() != 2) return 3;
  mw_cache_stat(&stats);
  return stats.entries || stats.hits || stats.misses || stats.bytes;
}

static void entries_outlive_the_process(void **state) {
  (void)state;
  expect_quiet(round_trip);
  struct stat st;
  assert_int_equal(stat(cache_folder, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
  expect_quiet(still_there);
}

static int hammer(void) {
  for (int round = 0; round < ROUNDS; round++) {
    int number = round % KEYS;
    if (get(number, 20000) < 0) return 1;
    put(number, 20000);
    if (get(number, 20000) != 1) return 2;
  }
  return 0;
}

static int count_leftovers(void) {
  mw_cache_stats stats;
  mw_cache_stat(&stats);
  if (stats.entries != KEYS) return 1;
  return stats.hits + stats.misses == 2 * PROCESSES * ROUNDS ? 0 : 2;
}

static void at_once(int (*body)(void)) {
  pid_t pids[PROCESSES];
  fflush(NULL);
  for (int i = 0; i < PROCESSES; i++) {
    pids[i] = fork();
    if (pids[i] == 0) _exit(body());
  }
  for (int i = 0; i < PROCESSES; i++) {
    int how;
    waitpid(pids[i], &how, 0);
    assert_int_equal(how, 0);
  }
}

static void many_processes_at_once(void **state) {
  (void)state;
  at_once(hammer);
  expect_quiet(count_leftovers);
  char command[600];
  snprintf(command, sizeof command, "test -z \"$(find '%s' -name 'tmp.*')\"", cache_folder);
  assert_int_equal(system(command), 0); /* no half files */
}

static int fill(void) {
  for (int round = 0; round < 12; round++) {
    put(round, 20000);
    if (get(round % 3, 20000) < 0) return 1;
  }
  return 0;
}

/* One process at a time evicts, from a list that others may have added to meanwhile; the next entry makes up for it. */
static int is_within_its_bound(void) {
  mw_cache_stats stats;
  put(0, 20000);
  mw_cache_stat(&stats);
  return stats.bytes > 100000 && stats.bytes <= 200000 ? 0 : 1;
}

static void many_processes_keep_the_bound(void **state) {
  (void)state;
  setenv("MOONWARP_CACHE_MAX", "200000", 1);
  at_once(fill);
  expect_quiet(is_within_its_bound);
}

enum { DAMAGES = 4 };

static int put_some(void) {
  for (int i = 0; i < DAMAGES; i++) put(i, 5000);
  return 0;
}

static int rebuild_some(void) {
  for (int i = 0; i < DAMAGES; i++) {
    if (get(i, 5000) != 0) return 1 + i;
    put(i, 5000);
    if (get(i, 5000) != 1) return 11 + i;
  }
  return 0;
}

static void corrupt_entries_are_rebuilt(void **state) {
  (void)state;
  expect_quiet(put_some);
  char path[512];
  entry_path(0, path, sizeof path);
  int fd = open(path, O_WRONLY); /* a flipped byte */
  assert_int_equal(pwrite(fd, "!!", 2, 100), 2);
  close(fd);
  entry_path(1, path, sizeof path);
  assert_int_equal(truncate(path, 20), 0); /* cut short */
  entry_path(2, path, sizeof path);
  fd = open(path, O_WRONLY | O_TRUNC); /* empty */
  close(fd);
  entry_path(3, path, sizeof path);
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(truncate(path, 0), 0); /* zeros, as after a power cut */
  assert_int_equal(truncate(path, st.st_size), 0);
  expect_quiet(rebuild_some);
}

static int get_other(void) {
  return get(1, 5000) == 0 ? 0 : 1;
}

static void an_entry_under_another_name_is_rejected(void **state) {
  (void)state;
  expect_quiet(put_some);
  char path[512], other[512];
  entry_path(0, path, sizeof path);
  entry_path(1, other, sizeof other);
  assert_int_equal(rename(path, other), 0);
  expect_quiet(get_other);
}

static int fill_up(void) {
  for (int i = 0; i < 30; i++) {
    put(i, 10000);
    if (i >= 1 && get(0, 10000) != 1) return 1; /* in use, so it stays */
    usleep(12000);                              /* longer than the file system's clock tick */
  }
  mw_cache_stats stats;
  mw_cache_stat(&stats);
  if (stats.bytes > 100000 || stats.entries < 5) return 2;
  if (get(29, 10000) != 1 || get(1, 10000) != 0) return 3;
  put(99, 200000); /* larger than the bound: not kept */
  return get(99, 200000) == 0 ? 0 : 4;
}

static void the_least_recently_used_go(void **state) {
  (void)state;
  setenv("MOONWARP_CACHE_MAX", "100000", 1);
  expect_quiet(fill_up);
}

static int try_in_vain(void) {
  put(1, 100);
  put(2, 100);
  mw_cache_stats stats;
  mw_cache_stat(&stats);
  return get(1, 100) == 0 && stats.entries == 0 ? 0 : 1;
}

static void expect_warning(const char *words) {
  char err[4096];
  assert_int_equal(in_child(try_in_vain, err, sizeof err), 0);
  assert_int_equal(count_of(err, "warning: compiled code is not cached"), 1);
  if (!strstr(err, words)) fail_msg("no '%s' in: %s", words, err);
}

static void make_cache_folder(void) {
  char parent[300];
  snprintf(parent, sizeof parent, "%s/a", folder);
  mkdir(parent, 0700);
  assert_int_equal(mkdir(cache_folder, 0700), 0);
}

static void a_folder_others_write_to_is_rejected(void **state) {
  (void)state;
  make_cache_folder();
  assert_int_equal(chmod(cache_folder, 0777), 0);
  expect_warning("others may write to");
}

static void a_foreign_folder_is_rejected(void **state) {
  (void)state;
  if (geteuid() != 0) skip(); /* only root can give a folder away */
  make_cache_folder();
  assert_int_equal(chown(cache_folder, 12345, (gid_t)-1), 0);
  expect_warning("belongs to user 12345, not to you (user 0)");
}

static void an_unusable_folder_warns_once(void **state) {
  (void)state;
  scratch_write(folder, "file", "");
  snprintf(cache_folder, sizeof cache_folder, "%s/file/cache", folder);
  setenv("MOONWARP_CACHE", cache_folder, 1);
  expect_warning("Not a directory");
}

static int write_in_vain(void) {
  put(1, 100);
  char path[512];
  entry_path(1, path, sizeof path);
  unlink(path);
  *strrchr(path, '/') = '\0';
  if (rmdir(path) != 0) return 1;
  if (close(open(path, O_CREAT | O_WRONLY, 0600)) != 0) return 2; /* a file where the entry's folder has to be */
  put(1, 100);
  put(1, 100);
  return get(1, 100);
}

static void a_failing_write_warns_once(void **state) {
  (void)state;
  char err[4096];
  assert_int_equal(in_child(write_in_vain, err, sizeof err), 0);
  assert_int_equal(count_of(err, "warning"), 1);
}

static int bound_and_home(void) {
  mw_cache_stats stats;
  mw_cache_stat(&stats);
  return stats.bound == 1u << 30 && strstr(stats.folder, "/.cache/moonwarp") ? 0 : 1;
}

static void a_bad_bound_is_named(void **state) {
  (void)state;
  unsetenv("MOONWARP_CACHE");
  char *xdg = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL, *home = getenv("HOME");
  home = home ? strdup(home) : NULL;
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", folder, 1);
  setenv("MOONWARP_CACHE_MAX", "lots", 1);
  char err[4096];
  assert_int_equal(in_child(bound_and_home, err, sizeof err), 0);
  assert_non_null(strstr(err, "MOONWARP_CACHE_MAX is a number of bytes, not 'lots'"));
  if (xdg) setenv("XDG_CACHE_HOME", xdg, 1);
  if (home) setenv("HOME", home, 1);
  free(xdg);
  free(home);
}

/* What this process has read so far: bytes, calls. False where the kernel does not count. */
static bool count_reads(unsigned long long *bytes, unsigned long long *calls) {
  FILE *file = fopen("/proc/self/io", "r");
  if (!file) return false;
  bool found = fscanf(file, "rchar: %llu wchar: %*u syscr: %llu", bytes, calls) == 2;
  fclose(file);
  return found;
}

static int look_up_often(void) {
  enum { TIMES = 50, SIZE = 30000 };
  unsigned long long bytes, calls, bytes_then, calls_then;
  put(1, SIZE);
  for (int i = 2; i < 20; i++) put(i, SIZE);
  if (!count_reads(&bytes, &calls)) return 0;
  for (int i = 0; i < TIMES; i++)
    if (get(1, SIZE) != 1) return 1;
  count_reads(&bytes_then, &calls_then);
  return bytes_then - bytes < TIMES * (SIZE + 1000) && calls_then - calls < TIMES * 8 ? 0 : 2;
}

static void a_lookup_reads_its_entry_alone(void **state) {
  (void)state;
  expect_quiet(look_up_often);
}

static int find_in_base(void) {
  char path[512];
  mw_cache_stats stats;
  entry_path(1, path, sizeof path);
  if (get(1, 1000) != 1 || get(3, 100) != 0) return 1;
  put(3, 100);
  mw_cache_stat(&stats);
  return get(3, 100) == 1 && access(path, F_OK) != 0 && stats.entries == 1 ? 0 : 2;
}

static int nothing_is_there(void) {
  return get(1, 1000);
}

static void what_is_missing_is_in_the_base(void **state) {
  (void)state;
  char base[300];
  expect_quiet(round_trip);
  snprintf(base, sizeof base, "%s", cache_folder);
  snprintf(cache_folder, sizeof cache_folder, "%s/above", folder);
  setenv("MOONWARP_CACHE", cache_folder, 1);
  setenv("MOONWARP_CACHE_BASE", base, 1);
  expect_quiet(find_in_base);
  chmod(base, 0722); /* others may have put code there */
  scratch_remove(cache_folder);
  expect_quiet(nothing_is_there);
  unsetenv("MOONWARP_CACHE_BASE");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_separate_pieces), CASE(entries_outlive_the_process),
      CASE(many_processes_at_once),           CASE(many_processes_keep_the_bound),
      CASE(corrupt_entries_are_rebuilt),      CASE(an_entry_under_another_name_is_rejected),
      CASE(the_least_recently_used_go),       CASE(a_folder_others_write_to_is_rejected),
      CASE(a_foreign_folder_is_rejected),     CASE(an_unusable_folder_warns_once),
      CASE(a_failing_write_warns_once),       CASE(a_bad_bound_is_named),
      CASE(a_lookup_reads_its_entry_alone),   CASE(what_is_missing_is_in_the_base),
  };
  return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
