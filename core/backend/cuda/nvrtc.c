/* SPDX-License-Identifier: MIT
 *
 * Compiling: CUDA C++ through NVRTC to a cubin for the device's own architecture, kept in the cache. Where NVRTC is
 * older than the device it makes PTX for the newest architecture that it knows, and the driver does the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cuda/assembler.h"
#include "core/backend/cuda/compilation.h"
#include "core/backend/cuda/headers.h"
#include "core/backend/cuda/objects.h"
#include "core/compile/cache.h"
#include "core/compile/front.h"
#include "core/compile/process.h"
#include "core/compile/source.h"
#include "core/compile/warnings.h"

typedef struct target {
  int arch; /* 90 */
  bool ptx;
} target;

/* ---- options --------------------------------------------------------------------------------------------------- */

/* Findings of check mode are about lines. */
static bool has_lines(const mw_device *device, const mw_source *source) {
  return source->line_info || device->info.checks;
}

/* Methods of the host that the device code only declares, and its constants, count as the device's. */
static void build_options(mw_argv *o, const mw_device *device, const mw_source *source, target t, bool device_code) {
  mw_argv_add(o, "--gpu-architecture=%s_%d", t.ptx ? "compute" : "sm", t.arch);
  mw_argv_add(o, "--std=%s", source->standard ? source->standard : "c++17");
  if (source->folder) mw_argv_add(o, "-I%s", source->folder);
  mw_argv_add_all(o, "-I", source->includes);
  mw_argv_add(o, "-DCUDA_VERSION=%d", cuda_nvrtc.major * 1000 + cuda_nvrtc.minor * 10);
  mw_argv_add(o, "-DCUDART_VERSION=%d", cuda_nvrtc.major * 1000 + cuda_nvrtc.minor * 10);
  mw_argv_add_all(o, "-D", source->defines);
  mw_argv_add(o, "-Dregister="); /* an error in C++17, which nvcc takes */
  if (*cuda_nvrtc.toolkit) {
    mw_argv_add(o, "-I%s", cuda_nvrtc.toolkit);
    mw_argv_add(o, "-I%s/cccl", cuda_nvrtc.toolkit);
  }
  mw_argv_add(o, "--diag-suppress=550"); /* variable "s" was set but never used */
  if (source->fast_math) mw_argv_add(o, "--use_fast_math");
  if (source->no_contract) mw_argv_add(o, "--fmad=false");
  if (has_lines(device, source)) mw_argv_add(o, "-lineinfo");
  if (device_code) mw_argv_add(o, "--device-as-default-execution-space");
  if (source->max_registers > 0) mw_argv_add(o, "--maxrregcount=%d", source->max_registers);
  if (t.ptx) return;
  mw_argv_add(o, "--ptxas-options=-v"); /* of spills only the log speaks */
  mw_argv_add_all(o, "--ptxas-options=", source->ptxas);
}

/* The device's own architecture, else the newest before it that NVRTC knows. */
static mw_status choose_target(const mw_device *device, target *out, mw_error *err) {
  int arch = device->info.capability_major * 10 + device->info.capability_minor, best = 0;
  for (int i = 0; i < cuda_nvrtc.narchs; i++)
    if (cuda_nvrtc.archs[i] <= arch && cuda_nvrtc.archs[i] > best) best = cuda_nvrtc.archs[i];
  *out = (target){.arch = best, .ptx = best != arch};
  if (best == arch || (best && !device->info.offline)) return MW_OK;
  return mw_fail(
      err, MW_UNSUPPORTED,
      "NVRTC %d.%d does not compile for sm_%d (it knows sm_%d to sm_%d): install another CUDA toolkit or set "
      "$MOONWARP_LIBNVRTC",
      cuda_nvrtc.major, cuda_nvrtc.minor, arch, cuda_nvrtc.narchs ? cuda_nvrtc.archs[0] : 0,
      cuda_nvrtc.narchs ? cuda_nvrtc.archs[cuda_nvrtc.narchs - 1] : 0);
}

/* ---- the compiler ---------------------------------------------------------------------------------------------- */

/* Lines of text that a program wrote, and the blanks up to the mark below them, are left out. */
static void long_lines_drop(char *log) {
  enum { MOST_LINE = 400 };
  char *to = log;
  for (const char *at = log; *at;) {
    const size_t size = strcspn(at, "\n"), whole = size + (at[size] == '\n');
    if (*at != ' ' || size <= MOST_LINE) to = (char *)memmove(to, at, whole) + whole;
    at += whole;
  }
  *to = 0;
}

static char *program_log(cuda_program program) {
  size_t size = 0;
  if (cuda_nvrtc.nvrtcGetProgramLogSize(program, &size) != 0) size = 0;
  char *log = mw_calloc(size + 1, 1);
  if (size) cuda_nvrtc.nvrtcGetProgramLog(program, log);
  long_lines_drop(log);
  return log;
}

/* The first line that reports an error; line is where to put it. */
static void first_error(const char *log, char *line, size_t size) {
  const char *error = strstr(log, "error:");
  if (!error) error = strstr(log, "fatal"); /* of ptxas */
  if (!error) error = strstr(log, "error");
  const char *start = error ? error : log;
  while (start > log && start[-1] != '\n') start--;
  snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
}

/* NVRTC names the option that it rejects, not the value. */
static void add_standard(const mw_source *source, char *line, size_t size) {
  size_t length = strlen(line);
  if (!source->standard || !strstr(line, "--std")) return;
  snprintf(line + length, size - length, ": '%.64s'", source->standard);
}

static mw_status fail_compile(const mw_device *device, const mw_source *source, unsigned code, char *log,
                              mw_error *err) {
  char line[512];
  bool missing_file = strstr(log, "open source file") != NULL;
  first_error(log, line, sizeof line);
  add_standard(source, line, sizeof line);
  mw_status status =
      mw_fail(err, MW_COMPILE, "compiling '%.128s' for %s failed: %s%s", source->name, device->info.arch,
              *line ? line : cuda_nvrtc.nvrtcGetErrorString(code),
              missing_file && !*cuda_nvrtc.toolkit
                  ? "; CUDA's own headers were not found beside NVRTC: install the CUDA toolkit or set CUDA_HOME"
                  : "");
  mw_error_log(err, log);
  return status;
}

/* A program that has been compiled; the caller destroys it. */
static mw_status build_program(const mw_device *device, const mw_source *source, target t, cuda_unit *unit,
                               cuda_program *program, mw_error *err) {
  const cuda_headers given = cuda_headers_given();
  unsigned code =
      cuda_nvrtc.nvrtcCreateProgram(program, source->text, source->name, given.count, given.texts, given.names);
  if (code != 0)
    return mw_fail(err, MW_COMPILE, "nvrtcCreateProgram: %s (%u)", cuda_nvrtc.nvrtcGetErrorString(code), code);
  mw_argv o = {0};
  build_options(&o, device, source, t, unit->device_code);
  for (const char *const *name = source->templates; name && *name; name++)
    cuda_nvrtc.nvrtcAddNameExpression(*program, *name);
  mw_status status = cuda_program_compile(program, &o, source->name, &code, err);
  mw_argv_free(&o);
  if (status != MW_OK) {
    if (*program) cuda_nvrtc.nvrtcDestroyProgram(program);
    return status;
  }
  char *log = program_log(*program);
  if (code == 0) {
    unit->log = log;
    return MW_OK;
  }
  cuda_nvrtc.nvrtcDestroyProgram(program);
  return fail_compile(device, source, code, log, err);
}

static void take_image(cuda_program program, bool ptx, cuda_unit *unit) {
  size_t size = 0;
  (ptx ? cuda_nvrtc.nvrtcGetPTXSize : cuda_nvrtc.nvrtcGetCUBINSize)(program, &size);
  unit->image = mw_calloc(size + 1, 1);
  unit->image_bytes = size;
  (ptx ? cuda_nvrtc.nvrtcGetPTX : cuda_nvrtc.nvrtcGetCUBIN)(program, unit->image);
}

static void add_lowered(cuda_unit *unit, char *expression, char *symbol) {
  unit->lowered = mw_realloc(unit->lowered, (size_t)(unit->nlowered + 1) * sizeof *unit->lowered);
  unit->lowered[unit->nlowered++] = (cuda_lowered){expression, symbol};
}

static void take_lowered(cuda_program program, const char *const *names, cuda_unit *unit) {
  for (; names && *names; names++) {
    const char *symbol = NULL;
    if (cuda_nvrtc.nvrtcGetLoweredName(program, *names, &symbol) == 0 && symbol)
      add_lowered(unit, mw_strdup(*names), mw_strdup(symbol));
  }
}

static mw_status build_unit(const mw_device *device, const mw_source *source, target t, cuda_unit *unit,
                            mw_error *err) {
  cuda_program program = NULL;
  mw_status status = build_program(device, source, t, unit, &program, err);
  if (status != MW_OK) return status;
  unit->ptx = t.ptx;
  take_image(program, t.ptx, unit);
  take_lowered(program, source->templates, unit);
  cuda_nvrtc.nvrtcDestroyProgram(&program);
  return MW_OK;
}

/* ---- host code ------------------------------------------------------------------------------------------------- */

static char *predefined(const mw_source *source, target t) {
  const char *standard = source->standard ? source->standard : "c++17";
  const char *when = strstr(standard, "14") ? "201402L" : strstr(standard, "20") ? "202002L" : "201703L";
  return mw_format("#define __cplusplus %s\n#define __CUDACC__ 1\n#define __CUDACC_RTC__ 1\n#define __NVCC__ 1\n"
                   "#define __CUDA_ARCH__ %d0\n#define __CUDACC_VER_MAJOR__ %d\n#define __CUDACC_VER_MINOR__ %d\n"
                   "#define CUDART_VERSION %d%02d0\n#define CUDA_VERSION %d%02d0\n"
                   "#define __x86_64__ 1\n#define __linux__ 1\n#define __const__ const\n",
                   when, t.arch, cuda_nvrtc.major, cuda_nvrtc.minor, cuda_nvrtc.major, cuda_nvrtc.minor,
                   cuda_nvrtc.major, cuda_nvrtc.minor);
}

/* The PTX of a source that ptxas rejects; it names source lines. NULL: it has none. */
static char *ptx_with_lines(const mw_device *device, const mw_source *source, target t, mw_error *rejected) {
  mw_source lined = *source;
  cuda_unit cubin = {.device_code = (char *)source->text}, ptx = cubin;
  lined.line_info = true;
  t.ptx = false;
  mw_error_clear(rejected);
  if (build_unit(device, &lined, t, &cubin, rejected) == MW_OK) mw_free(cubin.image), mw_free(cubin.log);
  t.ptx = true;
  mw_error ignored = {0};
  if (build_unit(device, &lined, t, &ptx, &ignored) == MW_OK) mw_free(ptx.log);
  mw_error_clear(&ignored);
  return ptx.image;
}

/* ptxas names symbols and lines of PTX: the error becomes one about the source. */
static void assembler_explain(const mw_device *device, const mw_source *source, const mw_source *reduced, target t,
                              const mw_front *front, mw_error *err) {
  char name[256];
  if (!err->log) return;
  if (cuda_assembler_undefined(err->log, name, sizeof name)) mw_front_undefined(front, source, name, err);
  if (!cuda_assembler_lines(err->log)) return;
  mw_error lined = {0};
  mw_text log = {0};
  char *ptx = ptx_with_lines(device, reduced, t, &lined);
  if (ptx && lined.log) cuda_assembler_place(lined.log, ptx, source, &log);
  mw_free(ptx);
  mw_error_clear(&lined);
  if (!log.at) return;
  mw_fail(err, MW_COMPILE, "compiling '%.128s' for %s failed: %.*s", source->name, device->info.arch,
          (int)strcspn(log.at, "\n"), log.at);
  mw_error_log(err, log.at);
}

/* What nvcc declares without an #include and NVRTC does not. */
static const char declared[] = "#include <cmath>\n"
                               "static inline __device__ void cudaTriggerProgrammaticLaunchCompletion() { "
                               "asm volatile(\"griddepcontrol.launch_dependents;\"); }\n"
                               "static inline __device__ void cudaGridDependencySynchronize() { "
                               "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\"); }\n";

static mw_front *front_read(const mw_source *source, target t, mw_error *err) {
  char *macros = predefined(source, t);
  const mw_dialect dialect = {.macros = macros,
                              .declared = declared,
                              .has_header = cuda_has_header,
                              .instead_of = cuda_instead_of,
                              .device_constants = true};
  mw_front *front = mw_front_read(source, &dialect, err);
  mw_free(macros);
  return front;
}

char *cuda_device_code(const mw_device *device, const mw_source *source, const cuda_image *image) {
  target t;
  mw_front *front = choose_target(device, &t, NULL) == MW_OK ? front_read(source, t, NULL) : NULL;
  for (int i = 0; front && i < image->nglobals; i++) mw_front_keep(front, image->globals[i].signature.plain);
  char *text = front ? mw_front_text(front) : NULL;
  mw_front_free(front);
  return text;
}

/* The device code of a source that NVRTC does not take as it is. The message of the second try counts: the first is
 * mostly about host code. */
static mw_status build_device_code(const mw_device *device, const mw_source *source, target t, cuda_unit *unit,
                                   mw_error *err) {
  mw_front *front = front_read(source, t, err);
  if (!front) return MW_COMPILE;
  mw_source reduced = *source;
  mw_status status;
  reduced.defines = NULL;
  do {
    mw_error_clear(err);
    mw_free(unit->device_code);
    reduced.text = unit->device_code = mw_front_text(front);
    status = build_unit(device, &reduced, t, unit, err);
    if (status == MW_COMPILE) assembler_explain(device, source, &reduced, t, front, err);
  } while (status == MW_COMPILE && mw_front_refuse(front, err, device->info.arch, &unit->refused));
  if (status == MW_COMPILE) mw_front_explain(front, err->text, sizeof err->text, &status);
  mw_front_free(front);
  return status;
}

/* ---- the cache: the sizes of the image and of the refused kernels, these, the log, what ptxas said, the device code,
 * then name pairs, each text with a zero -------------------------------------------------------------------------- */

enum { FORMAT = 8 };

static mw_status make_key(const mw_device *device, const mw_source *source, target t, mw_cache_key *key, bool *cached,
                          mw_error *err) {
  int numbers[] = {FORMAT, t.arch, t.ptx, cuda_nvrtc.major, cuda_nvrtc.minor, has_lines(device, source)};
  mw_cache_keymaker *maker = mw_cache_key_begin("cubin");
  mw_cache_key_add(maker, "target", numbers, sizeof numbers);
  mw_cache_key_text(maker, "nvrtc", cuda_nvrtc.path);
  mw_cache_key_text(maker, "toolkit", cuda_nvrtc.toolkit);
  mw_status status = mw_source_hash(source, maker, cached, err);
  *key = mw_cache_key_end(maker);
  *cached &= !source->no_cache;
  return status;
}

static void store(const cuda_unit *unit, const mw_cache_key *key) {
  const uint64_t sizes[] = {unit->image_bytes, unit->refused.size};
  char *bytes = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&bytes, &size);
  if (!out) return;
  fwrite(sizes, sizeof sizes, 1, out);
  fwrite(unit->image, unit->image_bytes, 1, out);
  if (unit->refused.size) fwrite(unit->refused.at, unit->refused.size, 1, out);
  fprintf(out, "%s%c%s%c", unit->log, '\0', unit->assembler_log, '\0');
  fprintf(out, "%s%c", unit->device_code ? unit->device_code : "", '\0');
  for (int i = 0; i < unit->nlowered; i++)
    fprintf(out, "%s%c%s%c", unit->lowered[i].expression, '\0', unit->lowered[i].symbol, '\0');
  if (fclose(out) == 0) mw_cache_put(key, bytes, size);
  free(bytes); /* open_memstream's own */
}

/* The next zero-ended text of the entry; NULL: it is not what store wrote. */
static char *take_text(const char **at, const char *end) {
  const char *zero = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;
  if (!zero) return NULL;
  char *text = mw_strdup(*at);
  *at = zero + 1;
  return text;
}

static bool take_entry(const char *bytes, size_t size, cuda_unit *unit) {
  uint64_t sizes[2];
  const char *at = bytes + sizeof sizes, *end = bytes + size;
  if (size < sizeof sizes) return false;
  memcpy(sizes, bytes, sizeof sizes);
  if (sizes[0] > (size_t)(end - at) || sizes[1] > (size_t)(end - at) - sizes[0]) return false;
  unit->image_bytes = sizes[0];
  unit->image = mw_calloc(sizes[0] + 1, 1);
  memcpy(unit->image, at, sizes[0]);
  at += sizes[0];
  if (!mw_refusals_copy(&unit->refused, at, sizes[1])) return false;
  at += sizes[1];
  unit->log = take_text(&at, end);
  unit->assembler_log = take_text(&at, end);
  unit->device_code = take_text(&at, end);
  while (at < end) {
    char *expression = take_text(&at, end), *symbol = take_text(&at, end);
    add_lowered(unit, expression, symbol);
    if (!symbol) return false;
  }
  return unit->device_code != NULL;
}

static bool read_image(cuda_unit *unit) {
  bool good = unit->ptx ? cuda_ptx_read(unit->image, &unit->read)
                        : cuda_cubin_read(unit->image, unit->image_bytes, &unit->read);
  cuda_image_read_names(&unit->read);
  cuda_assembler_spills(unit->assembler_log, &unit->read);
  return good;
}

static cuda_unit *fetch(const mw_cache_key *key, target t) {
  void *bytes;
  size_t size;
  if (!mw_cache_get(key, &bytes, &size)) return NULL;
  cuda_unit *unit = mw_calloc(1, sizeof *unit);
  unit->ptx = t.ptx;
  unit->from_cache = true;
  bool good = take_entry(bytes, size, unit) && read_image(unit);
  mw_free(bytes);
  if (good) return unit;
  cuda_unit_free(unit);
  return NULL;
}

/* Without a toolkit's headers nothing is a header of the device: those of headers.c are no files. */
static void keep_log(cuda_unit *unit, const mw_source *source) {
  unit->assembler_log = cuda_assembler_said(unit->log);
  char *warnings = mw_warnings_read(unit->log, source, cuda_nvrtc.toolkit);
  mw_free(unit->log);
  unit->log = warnings;
}

static mw_status reject_ptxas(const mw_device *device, const target *t, mw_error *err) {
  return mw_fail(
      err, MW_UNSUPPORTED,
      "option 'ptxas': NVRTC %d.%d makes PTX of compute_%d for %s, which the driver assembles: install a newer "
      "CUDA toolkit or set $MOONWARP_LIBNVRTC",
      cuda_nvrtc.major, cuda_nvrtc.minor, t->arch, device->info.arch);
}

/* ---- what module.c asks for ------------------------------------------------------------------------------------ */

mw_status cuda_compile_unit(const mw_device *device, const mw_source *source, bool reduced, cuda_unit **out,
                            mw_error *err) {
  char why[1024];
  target t;
  mw_cache_key key;
  if (!cuda_nvrtc_load(why, sizeof why)) return mw_fail(err, MW_UNSUPPORTED, "kernels cannot be compiled: %.900s", why);
  mw_status status = choose_target(device, &t, err);
  if (status != MW_OK) return status;
  if (t.ptx && source->ptxas && *source->ptxas) return reject_ptxas(device, &t, err);
  bool cached;
  status = make_key(device, source, t, &key, &cached, err);
  if (status != MW_OK) return status;
  if (cached && (*out = fetch(&key, t))) return MW_OK;
  cuda_unit *unit = mw_calloc(1, sizeof *unit);
  status = reduced ? MW_COMPILE : build_unit(device, source, t, unit, err);
  if (status == MW_COMPILE) status = build_device_code(device, source, t, unit, err);
  if (status == MW_OK) keep_log(unit, source);
  if (status == MW_OK && !read_image(unit))
    status = mw_fail(err, MW_COMPILE, "NVRTC %d.%d made code for '%.128s' that cannot be read", cuda_nvrtc.major,
                     cuda_nvrtc.minor, source->name);
  if (status == MW_OK) {
    if (cached) store(unit, &key);
    *out = unit;
  } else {
    cuda_unit_free(unit);
  }
  return status;
}

void cuda_unit_free(cuda_unit *unit) {
  cuda_image_free(&unit->read);
  for (int i = 0; i < unit->nlowered; i++) {
    mw_free(unit->lowered[i].expression);
    mw_free(unit->lowered[i].symbol);
  }
  mw_free(unit->lowered);
  mw_free(unit->image);
  mw_free(unit->log);
  mw_free(unit->assembler_log);
  mw_free(unit->device_code);
  mw_refusals_free(&unit->refused);
  mw_free(unit);
}

mw_status cuda_compile_ptx(const mw_device *device, const mw_source *source, bool reduced, char **out, mw_error *err) {
  target t;
  mw_status status = choose_target(device, &t, err);
  if (status != MW_OK) return status;
  cuda_unit *unit = mw_calloc(1, sizeof *unit);
  t.ptx = true;
  status = (reduced ? build_device_code : build_unit)(device, source, t, unit, err);
  if (status == MW_OK) *out = unit->image;
  unit->image = NULL;
  cuda_unit_free(unit);
  return status;
}
