/* SPDX-License-Identifier: MIT */
#include "core/compile/beside.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/memory.h"

enum { MOST = 1 << 20 }; /* bytes of a file that is read */

static bool has_kernels(const char *folder, const char *name) {
  const char *ending = strrchr(name, '.');
  if (!ending || (strcmp(ending, ".cu") && strcmp(ending, ".cuh"))) return false;
  char *path = mw_format("%s/%s", folder, name), *text = mw_file_read(path, MOST, NULL);
  const bool has = text && strstr(text, "__global__");
  mw_free(text);
  mw_free(path);
  return has;
}

void mw_beside_tell(const char *folder, mw_error *error) {
  struct dirent **list;
  const int count = scandir(folder, &list, NULL, alphasort);
  char names[256] = "";
  for (int i = 0; i < count; i++) {
    if (has_kernels(folder, list[i]->d_name)) mw_list_add(names, sizeof names, ", ", "'%s'", list[i]->d_name);
    free(list[i]);
  }
  if (count >= 0) free(list);
  const size_t used = strlen(error->text);
  if (*names) snprintf(error->text + used, sizeof error->text - used, "; kernels are in %s beside it", names);
}
