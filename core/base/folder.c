/* SPDX-License-Identifier: MIT
 *
 * Making a folder and its parents. */
#include "core/base/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path) {
  struct stat st;
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return true;
  errno = EEXIST;
  return false;
}

bool mw_make_folders(const char *path, mode_t mode) {
  char part[PATH_MAX];
  if (!*path || snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) {
    errno = *path ? ENAMETOOLONG : ENOENT;
    return false;
  }
  for (char *at = strchr(part + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = '\0';
    if (mkdir(part, mode) != 0 && errno != EEXIST) return false;
    *at = '/';
  }
  return mkdir(part, mode) == 0 || (errno == EEXIST && is_folder(part));
}
