/* SPDX-License-Identifier: MIT
 *
 * Making a folder and its parents. */
#include "core/base/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool mw_make_folders(const char *path) {
  char part[PATH_MAX];
  if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) {
    errno = ENAMETOOLONG;
    return false;
  }
  for (char *at = strchr(part + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = '\0';
    if (mkdir(part, 0700) != 0 && errno != EEXIST) return false;
    *at = '/';
  }
  return mkdir(part, 0700) == 0 || errno == EEXIST;
}
