/* SPDX-License-Identifier: MIT
 *
 * The system's C++ compiler: which one, and its version. clang++ is preferred, g++ is used without it; $MOONWARP_CXX
 * forces one. Versions are asked for once and kept in the cache under the program's path, time and size, so that a later
 * process need not start it. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#include "core/backend/cpu/translate/translate.h"
#include "core/base/home.h"
#include "core/compile/cache.h"
#include "core/compile/process.h"

bool cpu_file_stamp(mw_text *out, const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) return false;
  if (S_ISDIR(st.st_mode)) return true;
  mw_text_format(out, "%s %lld %lld.%09ld\n", path, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                 st.st_mtim.tv_nsec);
  return false;
}

static int is_shown(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

/* Names, sizes and times of the files below a folder: the shim changes only with moonwarp itself. */
static void folder_stamp(mw_text *out, const char *folder, int depth) {
  struct dirent **list;
  int count = scandir(folder, &list, is_shown, alphasort);
  for (int i = 0; i < count; i++) {
    char *path = mw_format("%s/%s", folder, list[i]->d_name);
    if (cpu_file_stamp(out, path) && depth < 4) folder_stamp(out, path, depth + 1);
    mw_free(path);
    free(list[i]);
  }
  if (count >= 0) free(list);
}

void cpu_generator_stamp(mw_text *out) {
  static const int here;
  Dl_info info; /* of the file this code was loaded from: another generator may write other text */
  if (dladdr(&here, &info)) cpu_file_stamp(out, info.dli_fname);
  folder_stamp(out, mw_shim_folder(), 0);
}

mw_cache_keymaker *cpu_stamp_key(const char *kind, const char *path, bool generator) {
  mw_text stamp = {0};
  cpu_file_stamp(&stamp, path);
  if (generator) cpu_generator_stamp(&stamp);
  mw_cache_keymaker *maker = mw_cache_key_begin(kind);
  mw_cache_key_text(maker, "stamp", stamp.at);
  mw_free(stamp.at);
  return maker;
}

static void cpu_features_put(mw_text *out) {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a, b, c, d;
  static const unsigned leaves[] = {0, 1, 7, 0xd, 0x80000001u, 0x80000002u, 0x80000003u, 0x80000004u};
  for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
    if (__get_cpuid_count(leaves[i], 0, &a, &b, &c, &d))
      mw_text_format(out, "%x:%x.%x.%x.%x\n", leaves[i], a, leaves[i] == 1 ? b & 0xffffff : b,
                     leaves[i] == 1 ? c & ~(1u << 27) : c, d);
#else
  mw_text_format(out, "%lx %lx\n", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
#endif
}

void cpu_toolchain_identity(char *out, size_t size) {
  static const char *const programs[] = {"clang++", "g++", NULL};
  const char *forced = getenv("MOONWARP_CXX");
  char path[512];
  mw_text text = {0};
  mw_text_format(&text, "forced %s\n", forced && *forced ? forced : "none");
  if (forced && *forced && mw_process_find(forced, path, sizeof path)) cpu_file_stamp(&text, path);
  for (int i = 0; programs[i]; i++)
    if (mw_process_find(programs[i], path, sizeof path)) cpu_file_stamp(&text, path);
  cpu_features_put(&text);
  snprintf(out, size, "%s", text.at);
  mw_free(text.at);
}

/* "Debian clang version 14.0.6" -> "clang++ 14.0.6", "g++ (Debian 12.2.0-14) 12.2.0" -> "g++ 12.2.0". */
static void version_read(const char *text, cpu_toolchain *out) {
  static const char mark[] = "clang version ";
  const char *end = text + strcspn(text, "\n"), *at = strstr(text, mark);
  bool clang = at && at < end;
  if (clang)
    at += strlen(mark);
  else
    for (at = end; at > text && at[-1] != ' ';) at--;
  snprintf(out->version, sizeof out->version, "%s %.*s", clang ? "clang++" : "g++", (int)strcspn(at, " -\n"), at);
}

static mw_status version_ask(cpu_toolchain *out, mw_error *error) {
  const char *argv[] = {out->path, "--version", NULL};
  const mw_process process = {.argv = argv, .seconds = 20};
  mw_process_result result = {0};
  mw_status status = mw_process_run(&process, &result, error);
  if (status) return status;
  if (result.exit == 0)
    version_read(result.out, out);
  else
    status = mw_fail(error, MW_NO_DEVICE, "'%s' does not work as a C++ compiler: '--version' failed", out->path);
  mw_process_result_free(&result);
  return status;
}

static mw_status version_find(cpu_toolchain *out, mw_error *error) {
  const mw_cache_key key = mw_cache_key_end(cpu_stamp_key("cpu compiler", out->path, false));
  void *bytes = NULL;
  size_t size = 0;
  mw_status status = MW_OK;
  if (mw_cache_get(&key, &bytes, &size) && size == sizeof out->version)
    memcpy(out->version, bytes, size);
  else {
    status = version_ask(out, error);
    if (!status) mw_cache_put(&key, out->version, sizeof out->version);
  }
  mw_free(bytes);
  out->clang = strncmp(out->version, "clang", 5) == 0;
  return status;
}

mw_status cpu_toolchain_find(cpu_toolchain *out, mw_error *error) {
  const char *forced = getenv("MOONWARP_CXX");
  *out = (cpu_toolchain){0};
  if (forced && *forced) {
    if (!mw_process_find(forced, out->path, sizeof out->path))
      return mw_fail(error, MW_NO_DEVICE, "MOONWARP_CXX names '%s', which is not found", forced);
  } else if (!mw_process_find("clang++", out->path, sizeof out->path) &&
             !mw_process_find("g++", out->path, sizeof out->path)) {
    return mw_fail(
        error, MW_NO_DEVICE,
        "the CPU device needs a C++ compiler: neither clang++ nor g++ is on the PATH; install one (apt install "
        "g++), or name one in MOONWARP_CXX");
  }
  return version_find(out, error);
}

mw_status cpu_compiler(char *out, size_t size, mw_error *error) {
  cpu_toolchain tools;
  mw_status status = cpu_toolchain_find(&tools, error);
  if (!status) snprintf(out, size, "%s", tools.version);
  return status;
}
