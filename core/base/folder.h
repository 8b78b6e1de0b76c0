/* SPDX-License-Identifier: MIT
 *
 * The user's folders that hold moonwarp's own data: the cache of compiled code, the history of the prompt. */
#ifndef MW_FOLDER_H
#define MW_FOLDER_H

#include <stdbool.h>

bool mw_make_folders(const char *path); /* with all its parents, mode 0700; true if it exists; sets errno */

#endif
