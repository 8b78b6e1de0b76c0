/* SPDX-License-Identifier: MIT
 *
 * Which files a source includes, directly or not, for the key under which what is compiled of it is kept. */
#ifndef MW_SOURCE_INCLUDES_H
#define MW_SOURCE_INCLUDES_H

#include <stdbool.h>

/* Called with what the text depends on: ("include", path) for each file found, followed by ("text", its contents) the
 * first time, ("absent", name) for each that is nowhere, and ("special", path) for a pipe or a device, which is not read. */
typedef void mw_include_note(void *context, const char *label, const char *text);

/* Reads each #include and __has_include of "x" or <x>, under whatever #if, in the text and in the files that it
 * includes. "x" is looked for in the including file's folder, then, as <x>, in `folders` (NULL-terminated).
 * Conditions are not evaluated: a file that is never reached costs a needless compilation when it changes, a missed one
 * would serve stale code. Returns false where an #include could not be followed: it names its file by a macro, a file
 * cannot be read or has more than 64 MiB, or there are more than 2048 files. */
bool mw_includes_read(const char *text, const char *folder, const char *const *folders, mw_include_note *,
                      void *context);

#endif
