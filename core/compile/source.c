/* SPDX-License-Identifier: MIT
 *
 * The cache key of a source: its text, its options and every file it can include. Conditions are not evaluated; a
 * file that is never reached costs a needless rebuild when it changes, a missed one would serve stale code. */
#include "core/compile/source.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/compile/strip.h"

enum { MOST_FILES = 2048, PATH_SIZE = 4096, MOST_FOLDERS = 64 };

typedef struct scan {
  mw_cache_keymaker *key;
  const char *folders[MOST_FOLDERS]; /* searched for both forms of #include; NULL-terminated */
  char *environment;                 /* the compiler's own include variables, cut into folders */
  struct {
    dev_t device;
    ino_t inode;
  } seen[MOST_FILES];
  int files;
  bool complete; /* false once an #include could not be followed */
} scan;

static void scan_text(scan *, const char *text, const char *folder);

static char *read_file(const char *path, const struct stat *st) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  char *text = mw_malloc((size_t)st->st_size + 1);
  size_t size = 0;
  for (ssize_t got; size < (size_t)st->st_size; size += (size_t)got)
    if ((got = read(fd, text + size, (size_t)st->st_size - size)) <= 0) break;
  close(fd);
  text[size] = '\0';
  return text;
}

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
  int length = snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : folder, *name == '/' ? "" : "/", name);
  if ((size_t)length >= sizeof path || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
  mw_cache_key_text(s->key, "include", path);
  if (!is_new(s, &st)) return true;
  char *text = read_file(path, &st);
  if (!text) return false;
  mw_cache_key_text(s->key, "text", text);
  *strrchr(path, '/') = '\0';
  scan_text(s, text, path);
  mw_free(text);
  return true;
}

static void include(scan *s, const char *name, bool quoted, const char *folder) {
  if (quoted && folder && follow(s, folder, name)) return;
  for (int i = 0; s->folders[i]; i++)
    if (follow(s, s->folders[i], name)) return;
  mw_cache_key_text(s->key, "absent", name);
}

/* at is behind the word include or __has_include( : "x", <x> or a macro. */
static void include_operand(scan *s, const char *at, const char *folder) {
  char name[PATH_SIZE];
  at += strspn(at, " \t(");
  bool quoted = *at == '"';
  const char *end = quoted || *at == '<' ? strchr(at + 1, quoted ? '"' : '>') : NULL;
  if (!end || (size_t)(end - at) > sizeof name) {
    s->complete = false;
    return;
  }
  snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
  include(s, name, quoted, folder);
}

static void scan_directive(scan *s, char *line, const char *folder) {
  static const char asks[] = "__has_include";
  line += strspn(line, " \t");
  if (strncmp(line, "include", 7) == 0) {
    line += strncmp(line, "include_next", 12) == 0 ? 12 : 7;
    include_operand(s, line, folder);
    return;
  }
  for (char *at = line; (at = strstr(at, asks));) {
    at += sizeof asks - 1;
    at += strncmp(at, "_next", 5) == 0 ? 5 : 0;
    if (at[strspn(at, " \t")] == '(') include_operand(s, at, folder);
  }
}

static void scan_text(scan *s, const char *text, const char *folder) {
  char *clean = mw_strip_comments(text), *rest = clean;
  for (char *line; (line = strsep(&rest, "\n"));) {
    line += strspn(line, " \t");
    if (*line == '#') scan_directive(s, line + 1, folder);
  }
  mw_free(clean);
}

static void add_list(mw_cache_keymaker *key, const char *label, const char *const *list) {
  for (; list && *list; list++) mw_cache_key_text(key, label, *list);
}

static void add_options(const mw_source *source, mw_cache_keymaker *key) {
  int numbers[] = {source->fast_math, source->line_info, source->no_contract, source->max_registers};
  mw_cache_key_text(key, "name", source->name); /* messages and line directives hold it */
  mw_cache_key_text(key, "folder", source->folder);
  mw_cache_key_text(key, "source", source->text);
  add_list(key, "folder", source->includes);
  add_list(key, "define", source->defines);
  add_list(key, "template", source->templates);
  mw_cache_key_text(key, "standard", source->standard ? source->standard : "c++17");
  mw_cache_key_text(key, "engine", source->engine ? source->engine : "auto");
  mw_cache_key_add(key, "numbers", numbers, sizeof numbers);
}

static int add_folder(scan *s, int count, const char *folder) {
  if (count == MOST_FOLDERS - 1) {
    s->complete = false;
    return count;
  }
  s->folders[count] = folder;
  return count + 1;
}

/* source->folder, source->includes, then what the host compiler takes from its environment. */
static void set_folders(scan *s, const mw_source *source) {
  const char *cpath = getenv("CPATH"), *more = getenv("CPLUS_INCLUDE_PATH");
  int count = source->folder ? add_folder(s, 0, source->folder) : 0;
  for (const char *const *at = source->includes; at && *at; at++) count = add_folder(s, count, *at);
  s->environment = mw_format("%s:%s", cpath ? cpath : "", more ? more : "");
  char *rest = s->environment;
  for (char *folder; (folder = strsep(&rest, ":"));)
    if (*folder) count = add_folder(s, count, folder);
  s->folders[count] = NULL;
}

bool mw_source_hash(const mw_source *source, mw_cache_keymaker *key) {
  scan *s = mw_calloc(1, sizeof *s);
  s->key = key;
  s->complete = true;
  add_options(source, key);
  set_folders(s, source);
  scan_text(s, source->text, source->folder);
  bool complete = s->complete;
  mw_free(s->environment);
  mw_free(s);
  return complete;
}
