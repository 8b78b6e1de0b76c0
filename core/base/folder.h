/* SPDX-License-Identifier: MIT
 *
 * Folders that are made with all their parents. */
#ifndef MW_FOLDER_H
#define MW_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

enum { MW_PRIVATE = 0700, MW_SHARED = 0777 }; /* moonwarp's own data; results, as the umask has it */

bool mw_make_folders(const char *path, mode_t); /* true if it is a folder then; sets errno */

#endif
