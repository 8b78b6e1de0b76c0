/* SPDX-License-Identifier: MIT
 *
 * Lists of folders in the environment. An empty name in one is the working folder ("PATH=$PATH:" has one): there somebody
 * else may have put a git, or a header that the compiler takes for its own. What this program starts gets the absolute
 * folders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host/host.h"

/* "/usr/bin::bin:/bin" -> "/usr/bin:/bin"; a list without any is none. */
void host_variables_settle(void) {
  static const char *const names[] = {"PATH",  "LD_LIBRARY_PATH", "LIBRARY_PATH",       "COMPILER_PATH",
                                      "CPATH", "C_INCLUDE_PATH",  "CPLUS_INCLUDE_PATH", NULL};
  for (const char *const *name = names; *name; name++) {
    char *given = getenv(*name), *list = given ? strdup(given) : NULL, *rest = list, *end = given;
    for (char *one; end && (one = strsep(&rest, ":"));)
      if (*one == '/') end += sprintf(end, "%s%s", end == given ? "" : ":", one);
    if (end == given) unsetenv(*name);
    free(list);
  }
}
