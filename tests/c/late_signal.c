/* SPDX-License-Identifier: MIT
 *
 * A library to be loaded before the program: after os.remove("SIGINT") the next mutex that the same thread locks meets
 * a Ctrl-C. So a test has it come in the middle of a call. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static __thread bool due;

__attribute__((visibility("default"))) int remove(const char *path) {
  due = strcmp(path, "SIGINT") == 0;
  errno = ENOENT;
  return -1;
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*lock)(pthread_mutex_t *);
  if (!lock) *(void **)&lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  if (due) {
    due = false;
    raise(SIGINT);
  }
  return lock(mutex);
}
