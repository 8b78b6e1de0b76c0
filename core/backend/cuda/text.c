/* SPDX-License-Identifier: MIT
 *
 * A module as text: PTX from NVRTC, SASS from the toolkit's disassembler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/cuda/objects.h"
#include "core/compile/process.h"

/* In the toolkit next to NVRTC's headers, else on the PATH. */
static bool find_tool(const char *name, char *path, size_t size) {
  char folder[512];
  snprintf(folder, sizeof folder, "%s", cuda_nvrtc.toolkit);
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  snprintf(path, size, "%.400s/bin/%s", folder, name);
  return (*folder && access(path, X_OK) == 0) || mw_process_find(name, path, size);
}

static bool write_temporary(const cuda_unit *unit, char *path, size_t size) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, size, "%s/moonwarp-XXXXXX", folder && *folder ? folder : "/tmp");
  int fd = mkstemp(path);
  if (fd < 0) return false;
  ssize_t written = write(fd, unit->image, unit->image_bytes);
  close(fd);
  if (written == (ssize_t)unit->image_bytes) return true;
  unlink(path);
  return false;
}

static mw_status run_tool(const char *const *argv, char **out, mw_error *err) {
  const mw_process process = {.argv = argv, .seconds = 60};
  mw_process_result result;
  mw_status status = mw_process_run(&process, &result, err);
  if (status != MW_OK) return status;
  if (result.exit == 0) {
    *out = result.out;
    result.out = NULL;
  } else {
    status = mw_fail(err, MW_IO, "%s failed with exit status %d: %.*s", argv[0], result.exit,
                     (int)strcspn(result.err, "\n"), result.err);
  }
  mw_process_result_free(&result);
  return status;
}

static mw_status sass(const cuda_module *module, char **out, mw_error *err) {
  char tool[512], file[512];
  const cuda_unit *unit = module->units;
  bool nvdisasm = find_tool("nvdisasm", tool, sizeof tool);
  if (unit->ptx)
    return mw_fail(err, MW_UNSUPPORTED, "SASS: the driver compiles the PTX of '%.128s', and keeps the code to itself",
                   module->base.name);
  if (!nvdisasm && !find_tool("cuobjdump", tool, sizeof tool))
    return mw_fail(err, MW_UNSUPPORTED,
                   "SASS needs nvdisasm or cuobjdump of the CUDA toolkit on the PATH (packages cuda-nvdisasm-*, "
                   "cuda-cuobjdump-*)");
  if (!write_temporary(unit, file, sizeof file)) return mw_fail(err, MW_IO, "%s: cannot be written", file);
  const char *const disassemble[] = {tool, "-c", file, NULL}, *const dump[] = {tool, "-sass", file, NULL};
  mw_status status = run_tool(nvdisasm ? disassemble : dump, out, err);
  unlink(file);
  return status;
}

static mw_status binary_ptx(const cuda_module *module, char **out, mw_error *err) {
  if (!module->units->ptx)
    return mw_fail(err, MW_UNSUPPORTED, "'%.128s' was loaded as code of %s, which has no PTX", module->base.name,
                   module->base.device->info.arch);
  *out = mw_strdup(module->units->image);
  return MW_OK;
}

mw_status cuda_text(mw_module *base, const char *kind, char **out, mw_error *err) {
  cuda_module *module = (cuda_module *)base;
  if (strcmp(kind, "ptx") == 0 && module->source.form) return binary_ptx(module, out, err);
  if (strcmp(kind, "ptx") == 0)
    return cuda_compile_ptx(base->device, &module->source, cuda_is_reduced(module->units), out, err);
  if (strcmp(kind, "sass") == 0) return sass(module, out, err);
  *out = mw_strdup(cuda_compiled_text(module));
  return MW_OK;
}
