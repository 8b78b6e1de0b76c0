/* SPDX-License-Identifier: MIT */
#include "core/compile/mpicc.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/memory.h"
#include "core/compile/cache.h"
#include "core/compile/process.h"
#include "core/compile/scratch.h"

enum { MOST_SOURCE = 1 << 20, MOST_SHIM = 64 << 20 };

static const double ASK_SECONDS = 20, COMPILE_SECONDS = 120;

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* Plugins of an MPI look for its symbols among those of the whole program. */
static const mw_mpi_calls *load(const char *path, mw_error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  const char *why = library ? NULL : dlerror();
  const mw_mpi_calls *calls = library ? dlsym(library, MW_MPI_SYMBOL) : NULL;
  if (calls && calls->version == MW_MPI_VERSION) return calls;
  mw_fail(err, MW_UNSUPPORTED, "the shim over MPI does not load: %s",
          why ? why : "it is of another version of moonwarp");
  return NULL;
}

static const mw_mpi_calls *load_bytes(const void *bytes, size_t size, mw_error *err) {
  char path[32];
  int fd = memfd_create("moonwarp mpi", MFD_CLOEXEC);
  const bool written = fd >= 0 && mw_file_write_fd(fd, bytes, size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (!written) mw_fail(err, MW_IO, "the shim over MPI cannot be written to memory");
  const mw_mpi_calls *calls = written ? load(path, err) : NULL;
  if (fd >= 0) close(fd);
  return calls;
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

static void add_answer(mw_cache_keymaker *maker, const char *mpicc, const char *question) {
  mw_process_result result;
  const char *const words[] = {mpicc, question, NULL};
  const mw_process process = {.argv = words, .locale = "C", .seconds = ASK_SECONDS};
  if (mw_process_run(&process, &result, NULL) != MW_OK) return;
  mw_cache_key_add(maker, question, result.out, result.out_size);
  mw_process_result_free(&result);
}

/* mpicc tells which MPI it is for: its folders and libraries, and the compiler. */
static mw_cache_key shim_key(const char *mpicc, const char *moonwarp_version) {
  mw_cache_keymaker *maker = mw_cache_key_begin("mpi shim");
  mw_cache_key_text(maker, "moonwarp", moonwarp_version);
  for (int i = 0; i < 2; i++) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/core/mpi/shim.%c", mw_home(), "ch"[i]);
    char *text = mw_file_read(path, MOST_SOURCE, NULL);
    mw_cache_key_text(maker, path + strlen(path) - 1, text);
    mw_free(text);
  }
  mw_cache_key_text(maker, "mpicc", mpicc);
  add_answer(maker, mpicc, "-show");
  add_answer(maker, mpicc, "--version");
  return mw_cache_key_end(maker);
}

static mw_status run_mpicc(const char *mpicc, const mw_scratch *scratch, const char *output, mw_error *err) {
  char source[PATH_MAX];
  mw_process_result result;
  snprintf(source, sizeof source, "%s/core/mpi/shim.c", mw_home());
  const char *const words[] = {mpicc, "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", output, source, NULL};
  const mw_process process = {.argv = words, .folder = scratch->temporary, .locale = "C", .seconds = COMPILE_SECONDS};
  mw_status status = mw_process_run(&process, &result, err);
  if (status != MW_OK) return status;
  if (result.exit)
    status = mw_fail(err, MW_COMPILE, "%s does not compile the shim over MPI (%s): %s", mpicc, source,
                     result.err_size ? result.err : "it says nothing");
  mw_process_result_free(&result);
  return status;
}

/* The bytes of the library, for mw_free. */
static char *compile(const char *mpicc, size_t *size, mw_error *err) {
  mw_scratch scratch;
  char output[sizeof scratch.path + sizeof MW_SCRATCH_FILE];
  char *bytes = NULL;
  if (!mw_scratch_make(&scratch)) {
    mw_fail(err, MW_IO, "the shim over MPI is compiled in a folder below %s, which cannot be made", scratch.path);
    return NULL;
  }
  snprintf(output, sizeof output, "%s/" MW_SCRATCH_FILE, scratch.path);
  if (run_mpicc(mpicc, &scratch, output, err) == MW_OK) {
    bytes = mw_file_read(output, MOST_SHIM, size);
    if (!bytes) mw_fail(err, MW_IO, "%s has left no library", mpicc);
  }
  mw_scratch_drop(&scratch);
  return bytes;
}

/* A cached shim that does not load belongs to an MPI that was replaced since. */
static const mw_mpi_calls *open_compiled(const char *mpicc, const char *moonwarp_version, mw_error *err) {
  const mw_cache_key key = shim_key(mpicc, moonwarp_version);
  const mw_mpi_calls *calls = NULL;
  void *bytes;
  size_t size;
  if (mw_cache_get(&key, &bytes, &size)) {
    calls = load_bytes(bytes, size, NULL);
    mw_free(bytes);
  }
  if (calls) return calls;
  bytes = compile(mpicc, &size, err);
  if (bytes) calls = load_bytes(bytes, size, err);
  if (calls) mw_cache_put(&key, bytes, size);
  mw_free(bytes);
  return calls;
}

/* ---- a bundle's -------------------------------------------------------------------------------------------------- */

/* OpenMPI sets that variable. With the library of another MPI, each process would be a job of one rank. */
static const mw_mpi_calls *open_bundled(void) {
  const bool is_openmpi = getenv("OMPI_COMM_WORLD_SIZE");
  const mw_mpi_calls *calls = NULL;
  char pattern[PATH_MAX];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/lib/mpi/%s", mw_home(), is_openmpi ? "openmpi*.so" : "*.so");
  if (glob(pattern, 0, NULL, &found) != 0) return NULL;
  for (size_t i = 0; i < found.gl_pathc && !calls; i++) calls = load(found.gl_pathv[i], NULL);
  globfree(&found);
  return calls;
}

const mw_mpi_calls *mw_mpicc_open(const char *moonwarp_version, mw_error *err) {
  const char *given = getenv("MOONWARP_MPICC"), *name = given && *given ? given : "mpicc";
  char mpicc[PATH_MAX];
  if (mw_process_find(name, mpicc, sizeof mpicc)) return open_compiled(mpicc, moonwarp_version, err);
  if (given && *given) {
    mw_fail(
        err, MW_UNSUPPORTED,
        "MOONWARP_MPICC is '%s', where there is no program: name the mpicc of the MPI to use, or unset it for that on "
        "PATH",
        given);
    return NULL;
  }
  const mw_mpi_calls *calls = open_bundled();
  if (!calls)
    mw_fail(err, MW_UNSUPPORTED,
            "there is no mpicc on PATH, which compiles the shim over this machine's MPI at first use: load the site's "
            "module of MPI, install one (apt-get install libopenmpi-dev openmpi-bin), or set MOONWARP_MPICC");
  return calls;
}
