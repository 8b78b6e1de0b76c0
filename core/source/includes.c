/* SPDX-License-Identifier: MIT
 *
 * The files that a source includes; see includes.h. Of
 *
 *   #if 0
 *   #  include "a.h"   // in folder/a.h: #include <missing.h>
 *   #endif
 *
 * is told: include "folder/a.h", text "#include <missing.h>...", absent "missing.h". */
#include "core/source/includes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/source/lexer.h"

enum { MOST_FILES = 2048, PATH_SIZE = 4096, MOST_BYTES = 64 << 20 };

typedef struct scan {
  mw_include_note *note;
  void *context;
  const char *const *folders;
  struct {
    dev_t device;
    ino_t inode;
  } seen[MOST_FILES];
  int files;
  bool complete; /* false once an #include could not be followed */
} scan;

static void text_scan(scan *, const char *text, const char *folder);

/* False where it was seen before: include guards and cycles end here. */
static bool is_new(scan *s, const struct stat *st) {
  for (int i = 0; i < s->files; i++)
    if (s->seen[i].inode == st->st_ino && s->seen[i].device == st->st_dev) return false;
  if (s->files == MOST_FILES) {
    s->complete = false;
    return false;
  }
  s->seen[s->files].device = st->st_dev;
  s->seen[s->files++].inode = st->st_ino;
  return true;
}

static bool follow(scan *s, const char *folder, const char *name) {
  char path[PATH_SIZE];
  struct stat st;
  int length = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
  if ((size_t)length >= sizeof path || stat(path, &st) != 0 || S_ISDIR(st.st_mode)) return false;
  if (!S_ISREG(st.st_mode)) s->note(s->context, "special", path);
  if (!S_ISREG(st.st_mode)) return false;
  s->note(s->context, "include", path);
  if (!is_new(s, &st)) return true;
  char *text = mw_file_read(path, MOST_BYTES, NULL);
  if (!text) {
    s->complete = false;
    return true;
  }
  s->note(s->context, "text", text);
  *strrchr(path, '/') = '\0';
  text_scan(s, text, path);
  mw_free(text);
  return true;
}

/* at is after the word include or __has_include: "x", <x> or a macro, of include_next all that go by the name. */
static void operand_read(scan *s, const char *at, const char *folder) {
  char name[PATH_SIZE];
  const bool next = strncmp(at, "_next", 5) == 0;
  at += next ? 5 : 0;
  at += strspn(at, " (");
  bool quoted = *at == '"';
  const char *end = quoted || *at == '<' ? strchr(at + 1, quoted ? '"' : '>') : NULL;
  if (!end || (size_t)(end - at) > sizeof name) {
    s->complete = false;
    return;
  }
  snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
  const bool absolute = *name == '/';
  bool found = absolute ? follow(s, "", name) : quoted && folder && follow(s, folder, name);
  for (const char *const *more = s->folders; *more && !absolute && (next || !found); more++)
    found |= follow(s, *more, name);
  if (!found) s->note(s->context, "absent", name);
}

/* line: # include <x> or %:import <x>, in which a run of blanks is one. */
static void directive_read(scan *s, const char *line, const char *folder) {
  static const char question[] = "__has_include";
  const char *at = line + strspn(line, "#%: ");
  for (const char *const *word = WORDS("include", "import"); *word; word++)
    if (strncmp(at, *word, strlen(*word)) == 0) {
      operand_read(s, at + strlen(*word), folder);
      return;
    }
  while ((at = strstr(at, question))) {
    at += strlen(question);
    if (at[strspn(at, "_next ")] == '(') operand_read(s, at, folder);
  }
}

static void text_scan(scan *s, const char *text, const char *folder) {
  mw_text line = {0};
  for (const char *at = text, *end; (at = mw_directive_next(at, &end)); at = end) {
    line.size = 0;
    mw_directive_text(&line, at, end);
    directive_read(s, line.at, folder);
  }
  mw_free(line.at);
}

bool mw_includes_read(const char *text, const char *folder, const char *const *folders, mw_include_note *note,
                      void *context) {
  scan *s = mw_calloc(1, sizeof *s);
  s->note = note;
  s->context = context;
  s->folders = folders;
  s->complete = true;
  text_scan(s, text, folder);
  bool complete = s->complete;
  mw_free(s);
  return complete;
}
