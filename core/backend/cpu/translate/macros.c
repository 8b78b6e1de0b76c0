/* SPDX-License-Identifier: MIT
 *
 * What the compiler would bring into a source: its own macros and the folders of its headers. It is asked once for each
 * compiler and standard, and the cache keeps the answer:
 *
 *   /usr/include/c++/12
 *   /usr/include
 *                                     an empty line
 *   #define __GNUC__ 12 */
#include <string.h>

#include "core/backend/cpu/translate/translate.h"
#include "core/compile/limits.h"

/* CUDA's, which no compiler of the host knows. */
static const char of_cuda[] = "#define MW_PREPROCESS 1\n#define __CUDACC__ 1\n#define __NVCC__ 1\n"
                              "#define __CUDA_ARCH__ 800\n#define __MOONWARP_CPU__ 1\n"
                              "#define CUDART_VERSION 13000\n#define CUDA_VERSION 13000\n"
                              "#define __CUDACC_VER_MAJOR__ 13\n#define __CUDACC_VER_MINOR__ 0\n"
                              "#define __CUDACC_VER_BUILD__ 0\n";

/* The lines between "#include <...> search starts here:" and "End of search list.", without the blank before each. */
static void folders_read(mw_text *out, const char *log) {
  const char *at = strstr(log, "#include <...>"), *end = at ? strstr(at, "End of search list") : NULL;
  while (at && end && (at = strchr(at, '\n')) && ++at < end)
    mw_text_format(out, "%.*s\n", (int)strcspn(at + 1, "\n"), at + 1);
  mw_text_put(out, "\n");
}

static mw_status compiler_ask(const cpu_toolchain *tools, const char *standard, mw_text *out, mw_error *error) {
  mw_argv list = {0};
  mw_process_result result = {0};
  mw_argv_add(&list, "%s", tools->path);
  mw_argv_add(&list, "-std=%s", standard);
  mw_argv_add_words(&list, "-x c++ -E -dM -v /dev/null");
  mw_process process = {.argv = list.at, .locale = "C"};
  mw_compile_limit(&process);
  mw_status status = mw_process_run(&process, &result, error);
  mw_argv_free(&list);
  if (status) return status;
  if (result.exit)
    status = mw_fail(error, MW_NO_DEVICE, "'%s' does not work as a C++ compiler: '-E -dM' failed", tools->path);
  folders_read(out, result.err);
  mw_text_put(out, result.out);
  mw_process_result_free(&result);
  return status;
}

mw_status cpu_macros_find(const cpu_toolchain *tools, const char *standard, char **out, mw_error *error) {
  mw_cache_keymaker *maker = cpu_stamp_key("cpu macros", tools->path, false);
  mw_cache_key_text(maker, "standard", standard);
  const mw_cache_key key = mw_cache_key_end(maker);
  mw_text found = {0};
  void *bytes;
  size_t size;
  mw_status status = MW_OK;
  if (mw_cache_get(&key, &bytes, &size)) {
    mw_text_add(&found, bytes, size);
    mw_free(bytes);
  } else {
    status = compiler_ask(tools, standard, &found, error);
    if (!status) mw_cache_put(&key, found.at, found.size);
  }
  mw_text_put(&found, of_cuda);
  *out = found.at;
  return status;
}

const char *cpu_macros_of(const char *found) {
  const char *at = *found == '\n' ? found + 1 : strstr(found, "\n\n");
  return *found == '\n' ? at : at ? at + 2 : "";
}
