/* SPDX-License-Identifier: MIT
 *
 * The hooks of checked units (shim/check/hooks.cpp) as an object file: compiled once by each compiler, kept in the
 * cache. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/cpu/translate/translate.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/compile/cache.h"
#include "core/compile/process.h"

static mw_status hooks_compile(const cpu_toolchain *tools, cpu_flavor flavor, const char *source, const char *path,
                               mw_error *error) {
  static const char *const options[] = {
      "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-builtin", "-w", "-c", "-o", NULL};
  mw_argv list = {0};
  mw_process_result result = {0};
  mw_argv_add(&list, "%s", tools->path);
  if (flavor == CPU_COUNT) mw_argv_add(&list, "-DMW_COUNT=1");
  mw_argv_add_all(&list, "", options);
  mw_argv_add(&list, "%s", path);
  mw_argv_add(&list, "%s", source);
  const mw_process process = {.argv = list.at};
  mw_status status = mw_process_run(&process, &result, error);
  mw_argv_free(&list);
  if (status) return status;
  if (result.exit) status = mw_fail(error, MW_COMPILE, "check mode's hooks do not compile: %s", result.err);
  mw_process_result_free(&result);
  return status;
}

static bool file_put(const char *path, const void *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool whole = fd >= 0 && mw_file_write_fd(fd, bytes, size);
  if (fd >= 0) close(fd);
  return whole;
}

mw_status cpu_hooks_write(const cpu_toolchain *tools, cpu_flavor flavor, const char *path, mw_error *error) {
  char *source = mw_format("%s/check/hooks.cpp", mw_shim_folder());
  mw_cache_keymaker *maker = cpu_stamp_key("cpu hooks", tools->path, true);
  mw_cache_key_add(maker, "flavor", &flavor, sizeof flavor);
  const mw_cache_key key = mw_cache_key_end(maker);
  void *bytes = NULL;
  size_t size = 0;
  mw_status status = MW_OK;
  if (mw_cache_get(&key, &bytes, &size)) {
    if (!file_put(path, bytes, size)) status = mw_fail(error, MW_IO, "%s: %s", path, strerror(errno));
  } else {
    status = hooks_compile(tools, flavor, source, path, error);
    if (!status && (bytes = mw_file_read(path, SIZE_MAX, &size))) mw_cache_put(&key, bytes, size);
  }
  mw_free(bytes);
  mw_free(source);
  return status;
}
