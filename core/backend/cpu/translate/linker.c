/* SPDX-License-Identifier: MIT
 *
 * The linker that clang++ would start, called without it: its driver starts a second clang++ where it has more to do
 * than to compile, which takes 25 ms longer. The driver is asked once for the command (-###); the cache keeps that. */
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/translate/translate.h"
#include "core/compile/cache.h"
#include "core/compile/process.h"

/* A unit needs nothing of the C++ library; leaving it and the linker's plugin out halves the time of linking. */
const char cpu_libraries[] = "-shared -nostartfiles -nodefaultlibs -Wl,--hash-style=sysv -lm -lgcc";

#define WRAPPED(name) ",--wrap=" name ",--wrap=" name "f"
const char cpu_check_linked[] =
    "-Wl" WRAPPED("sincos") WRAPPED("frexp") WRAPPED("modf") WRAPPED("remquo") WRAPPED("nan");

static const char object_word[] = "/dev/null", output_word[] = "moonwarp-unit.so";

/* The compiler and all that says where the linker and its libraries are looked for. */
static mw_cache_key linker_key(const cpu_toolchain *tools) {
  static const char *const variables[] = {"PATH", "COMPILER_PATH", "LIBRARY_PATH"};
  mw_cache_keymaker *maker = cpu_stamp_key("cpu linker", tools->path, false);
  mw_cache_key_text(maker, "options", cpu_libraries);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    mw_cache_key_text(maker, variables[i], getenv(variables[i]));
  return mw_cache_key_end(maker);
}

/* "a" "b \"c\"" -> a, b "c", with a NUL after each. */
static void words_read(mw_text *out, const char *at) {
  while ((at = strchr(at, '"'))) {
    for (at++; *at && *at != '"'; at++) {
      if (*at == '\\' && at[1]) at++;
      mw_text_add(out, at, 1);
    }
    if (!*at) break;
    mw_text_add(out, "", 1);
    at++;
  }
}

/* Of what the driver printed, the last line is the command. */
static void command_read(mw_text *out, char *log) {
  size_t size = strlen(log);
  while (size && log[size - 1] == '\n') log[--size] = 0;
  const char *line = strrchr(log, '\n');
  line = line ? line + 1 : log;
  if (!strncmp(line, " \"/", 3)) words_read(out, line);
}

static void command_ask(const cpu_toolchain *tools, mw_text *out) {
  mw_argv list = {0};
  mw_process_result result = {0};
  mw_argv_add(&list, "%s", tools->path);
  mw_argv_add_words(&list, "-### -fPIC -x none -o");
  mw_argv_add(&list, "%s", output_word);
  mw_argv_add(&list, "%s", object_word);
  mw_argv_add_words(&list, cpu_libraries);
  const mw_process process = {.argv = list.at, .locale = "C", .seconds = 20};
  if (!mw_process_run(&process, &result, NULL)) {
    if (!result.exit) command_read(out, result.err);
    mw_process_result_free(&result);
  }
  mw_argv_free(&list);
}

static bool command_put(mw_argv *list, const mw_text *command, const char *object, const char *output) {
  int places = 0;
  for (size_t i = 0; i < command->size; i += strlen(command->at + i) + 1) {
    const char *word = command->at + i;
    const char *place = !strcmp(word, object_word) ? object : !strcmp(word, output_word) ? output : NULL;
    places += place != NULL;
    mw_argv_add(list, "%s", place ? place : word);
  }
  return places == 2;
}

bool cpu_linker_find(const cpu_toolchain *tools, const char *object, const char *output, mw_argv *list) {
  const mw_cache_key key = linker_key(tools);
  mw_text command = {0};
  void *bytes;
  size_t size;
  if (mw_cache_get(&key, &bytes, &size)) {
    mw_text_add(&command, bytes, size);
    mw_free(bytes);
  } else {
    command_ask(tools, &command);
    if (command.size) mw_cache_put(&key, command.at, command.size);
  }
  char path[512];
  const bool whole = command.size && !command.at[command.size - 1];
  const bool found =
      whole && command_put(list, &command, object, output) && mw_process_find(list->at[0], path, sizeof path);
  mw_free(command.at);
  if (!found) mw_argv_free(list);
  return found;
}
