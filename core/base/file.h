/* SPDX-License-Identifier: MIT
 *
 * Whole files. Interrupted calls are made again. */
#ifndef MW_FILE_H
#define MW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* The contents of a regular file and a NUL after them, freed by mw_free; *size (may be NULL) is theirs. NULL: there is
 * no such file, it cannot be read, or it has more than `most` bytes; errno says why. A pipe or a device is never waited
 * for. */
char *mw_file_read(const char *path, size_t most, size_t *size);
char *mw_file_read_fd(int fd, size_t most, size_t *size);   /* from where it stands */
char *mw_file_read_part(int fd, size_t most, size_t *size); /* the same, and no more than that */

/* Opens a plain file for reading that is below a folder, without a link on the way from there, and without waiting for a
 * pipe: somebody else may be changing the folder meanwhile. Fills in what the folder and the file are. -1: there is
 * none, or errno says why not. */
int mw_file_open_below(const char *folder, const char *name, struct stat *place, struct stat *found);

bool mw_file_write_fd(int fd, const void *bytes, size_t size); /* all of them; else errno says why not */

#endif
