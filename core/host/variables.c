/* SPDX-License-Identifier: MIT
 *
 * Lists of folders in the environment. An empty name in one is the working folder ("PATH=$PATH:" has one): there somebody
 * else may have put a git, or a header that the compiler takes for its own. What this program starts gets the absolute
 * folders. */
#include <stdlib.h>
#include <string.h>

#include "core/host/host.h"

/* "/usr/bin::bin:/bin" -> "/usr/bin:/bin" */
static void keep_absolute(char *list) {
  char *end = list;
  for (const char *at = list; *at;) {
    const size_t size = strcspn(at, ":"), whole = size + (at[size] == ':');
    if (*at == '/') {
      if (end != list) *end++ = ':';
      memmove(end, at, size);
      end += size;
    }
    at += whole;
  }
  *end = '\0';
}

void host_variables_settle(void) {
  static const char *const names[] = {"PATH",  "LD_LIBRARY_PATH", "LIBRARY_PATH",       "COMPILER_PATH",
                                      "CPATH", "C_INCLUDE_PATH",  "CPLUS_INCLUDE_PATH", NULL};
  for (const char *const *name = names; *name; name++) {
    const char *given = getenv(*name);
    char *list = given ? strdup(given) : NULL;
    if (!list) continue;
    keep_absolute(list);
    if (!*list)
      unsetenv(*name);
    else if (strcmp(list, given) != 0)
      setenv(*name, list, 1);
    free(list);
  }
}
