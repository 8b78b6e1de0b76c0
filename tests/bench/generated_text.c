/* SPDX-License-Identifier: MIT
 *
 * The C++ that the CPU device generates of .cu files: generated_text FOLDER FILE... A change of the translator that is
 * to leave it as it is writes it before and after, and compares the folders (diff -r). For each file FOLDER gets
 * NAME.FLAVOR.cpp of each flavor of a unit, and NAME.engines, a line per kernel: name, engine, why none is faster. What
 * the CPU device refuses leaves its message there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/translate/unit.h"
#include "core/base/file.h"
#include "core/base/memory.h"

enum { MOST_SOURCE = 1 << 20 };

static FILE *begin(const char *folder, const char *name, const char *end) {
  char *path = mw_format("%s/%s.%s", folder, name, end);
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "generated_text: cannot write %s\n", path);
    exit(1);
  }
  mw_free(path);
  return file;
}

static void flavors_put(cpu_program *program, bool checked, const char *folder, const char *name) {
  static const char *const ends[] = {"fast.cpp", "fiber.cpp", "check.cpp", "count.cpp"};
  const cpu_flavor first = checked ? CPU_CHECK : CPU_FAST;
  for (cpu_flavor flavor = first; flavor <= first + 1; flavor++) {
    char *text = cpu_unit_source(program, flavor, NULL);
    FILE *out = begin(folder, name, ends[flavor]);
    fputs(text, out);
    fclose(out);
    mw_free(text);
  }
}

static void engines_put(const cpu_program *program, FILE *out) {
  const cpu_declared *list;
  const int count = cpu_program_kernels(program, &list);
  for (int i = 0; i < count; i++)
    fprintf(out, "%s%s\t%s\t%s\n", list[i].scope, list[i].name, list[i].engine, list[i].engine_why);
}

static void generate(const mw_source *source, const char *folder, const char *name) {
  FILE *out = begin(folder, name, "engines");
  for (int checked = 0; checked < 2; checked++) {
    mw_error error = {0};
    cpu_program *program = NULL;
    if (cpu_program_parse(source, checked, &program, &error)) {
      fprintf(out, "%s\n", error.text);
      mw_error_clear(&error);
      continue;
    }
    if (!checked) engines_put(program, out);
    flavors_put(program, checked, folder, name);
    cpu_program_free(program);
  }
  fclose(out);
}

int main(int argc, char **argv) {
  for (int i = 2; i < argc; i++) {
    char *text = mw_file_read(argv[i], MOST_SOURCE, NULL), *slash = strrchr(argv[i], '/');
    char *folder = slash ? mw_format("%.*s", (int)(slash - argv[i]), argv[i]) : mw_format(".");
    if (!text) {
      fprintf(stderr, "generated_text: cannot read %s\n", argv[i]);
      return 1;
    }
    generate(&(mw_source){.name = argv[i], .text = text, .folder = folder, .no_cache = true}, argv[1],
             slash ? slash + 1 : argv[i]);
    mw_free(text);
    mw_free(folder);
  }
  return 0;
}
