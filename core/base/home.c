/* SPDX-License-Identifier: MIT
 *
 * Finds moonwarp's own files: upwards from the program or module this code was loaded from. A checkout and a bundle
 * have lua/ in a folder above it, an installation has it in <prefix>/share/moonwarp. */
#include "core/base/home.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[PATH_MAX + 32], shim[PATH_MAX + 64];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Takes <folder><sub> as home where our Lua files are in it. */
static bool take(const char *folder, const char *sub) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s%s/lua/moonwarp/init.lua", folder, sub);
  if (access(path, R_OK) != 0) return false;
  snprintf(home, sizeof home, "%s%s", folder, sub);
  return true;
}

/* The file this function is in. A program's name in the link map is empty. */
static bool own_path(char *out) {
  Dl_info info;
  struct link_map *map = NULL;
  bool module = dladdr1((const void *)&mw_home, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0];
  return realpath(module ? map->l_name : "/proc/self/exe", out) != NULL;
}

static void search_upwards(void) {
  char folder[PATH_MAX];
  if (!own_path(folder)) return;
  for (char *slash; (slash = strrchr(folder, '/'));) {
    *slash = '\0';
    if (take(folder, "") || take(folder, "/share/moonwarp")) return;
  }
}

static void search(void) {
  const char *given = getenv("MOONWARP_HOME");
  if (given && *given) {
    if (!realpath(given, home)) snprintf(home, sizeof home, "%s", given);
  } else
    search_upwards();
  snprintf(shim, sizeof shim, "%s/core/backend/cpu/shim", home);
}

const char *mw_home(void) {
  pthread_once(&once, search);
  return home;
}

const char *mw_shim_folder(void) {
  pthread_once(&once, search);
  return shim;
}
