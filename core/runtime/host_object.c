/* SPDX-License-Identifier: MIT */
#include "core/runtime/host_object.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/translate/translate.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/memory.h"
#include "core/compile/excerpt.h"
#include "core/compile/limits.h"
#include "core/compile/scratch.h"
#include "core/runtime/host_text.h"

typedef struct host_source {
  char *file, *folder, *read; /* read: its text */
  bool is_cuda, is_c;
  runtime_text host; /* of one with CUDA */
} host_source;

struct runtime_host {
  host_source *sources;
  int nsources;
  mw_argv includes, defines, libraries;
  char *headers; /* the folder of our own */
  cpu_toolchain tools;
  mw_cache_key key;
  bool cacheable, running;
  pthread_t thread;
  char *object;
  size_t size;
  mw_status status;
  mw_error error;
};

static const char preprocess_words[] = "-E -D__CUDACC__=1 -D__NVCC__=1 -D__CUDACC_VER_MAJOR__=12 "
                                       "-D__CUDACC_VER_MINOR__=4 -D__CUDACC_VER_BUILD__=0 -D__MOONWARP_CPU__=1";
/* As forgiving as nvcc's host compiler, which does not optimise unless it is told to. */
static const char compile_words[] = "-O2 -fPIC -w -pthread -fno-strict-aliasing -fwrapv -c";
static const char link_words[] = "-shared -pthread -Wl,-Bsymbolic -Wl,--wrap=abort,--wrap=__assert_fail";

/* ---- messages --------------------------------------------------------------------------------------------------- */

/* Why the first candidate for a call is none, from clang++'s or g++'s notes on the first error; NULL: they do not say. */
static const char *unfit_of(const char *log) {
  static const char error[] = "error: ";
  static const char *const begins[] = {"not viable: ", "no known conversion", "candidate expects"};
  const char *next = strstr(strstr(log, error) + 1, error);
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    const char *at = strstr(log, begins[i]);
    if (at && !(next && next < at)) return i ? at : at + strlen(begins[i]);
  }
  return NULL;
}

/* Of the first error: what it does not say itself, or NULL. To be freed. */
static char *more_of(const host_source *source, const char *words, const char *log) {
  const bool is_unknown = strstr(words, "undeclared") || strstr(words, "not declared") ||
                          strstr(words, "unknown type") || strstr(words, "does not name");
  const char *name = strstr(words, "'cuda");
  if (is_unknown && name)
    return mw_format("'%.*s' is not among the runtime's calls that the CPU device has (docs/programs.md)",
                     (int)strcspn(name + 1, "'"), name + 1);
  if (is_unknown && strstr(words, "'__global__'") && !source->is_cuda)
    return mw_strdup("a source with kernels has a name that ends in .cu");
  if (strstr(words, "file not found") || strstr(words, "No such file"))
    return mw_strdup("-I names a folder of the program's headers; docs/programs.md says which of CUDA's are there");
  const char *unfit = strstr(words, "no matching function") ? unfit_of(log) : NULL;
  return unfit ? mw_format("%.*s", (int)strcspn(unfit, "\n"), unfit) : NULL;
}

static mw_status compile_failed(const host_source *source, const char *log, mw_error *error) {
  const mw_source about = {.name = source->file, .text = source->read, .folder = source->folder};
  const char *first = strstr(log, "error: ");
  mw_text text = {0};
  if (!first)
    return mw_fail(error, MW_COMPILE, "compiling the host part of '%s' failed: %s%s", source->file, log,
                   mw_compile_hint(log));
  const char *line = first;
  while (line > log && line[-1] != '\n') line--;
  const char *colon = strchr(line, ':');
  const int place = colon && colon < first ? (int)(colon - line) + 1 + (int)strspn(colon + 1, "0123456789") : 0;
  const char *words = first + strlen("error: ");
  char *message = mw_format("%.*s", (int)strcspn(words, "\n"), words), *more = more_of(source, message, log);
  mw_fail(error, MW_COMPILE, "compiling the host part of '%s' failed: %.*s: %s%s%s", source->file, place, line, message,
          more ? "; " : "", more ? more : "");
  mw_free(message);
  mw_free(more);
  for (const char *at = log, *next; *at; at = next) {
    const char *end = at + strcspn(at, "\n");
    next = end + (*end == '\n');
    if (!memmem(at, (size_t)(end - at), "error: ", 7)) continue;
    mw_excerpt_place(&text, at);
    mw_excerpt_error(&text, &about, at);
  }
  mw_error_log(error, text.at);
  return MW_COMPILE;
}

static mw_status link_failed(const runtime_host *host, const char *log, mw_error *error) {
  const char *library = strstr(log, "cannot find -l");
  if (library)
    return mw_fail(error, MW_COMPILE, "linking '%s' failed: there is no library %.*s", host->sources[0].file,
                   (int)strcspn(library + 12, " :\n"), library + 12);
  const char *twice = strstr(log, "multiple definition of `");
  if (twice)
    return mw_fail(error, MW_COMPILE, "linking '%s' failed: more than one source defines '%.*s'", host->sources[0].file,
                   (int)strcspn(twice + 24, "'\n"), twice + 24);
  return mw_fail(error, MW_COMPILE, "linking '%s' failed: %.*s", host->sources[0].file, (int)strcspn(log, "\n"), log);
}

/* ---- compilers -------------------------------------------------------------------------------------------------- */

static mw_status run(const mw_argv *list, const char *input, const mw_scratch *scratch, mw_process_result *result,
                     mw_error *error) {
  mw_process process = {.argv = list->at,
                        .input = input,
                        .input_size = input ? strlen(input) : 0,
                        .folder = scratch->temporary,
                        .locale = "C"};
  mw_compile_limit(&process);
  return mw_process_run(&process, result, error);
}

static void language_add(const runtime_host *host, const host_source *source, mw_argv *list) {
  mw_argv_add(list, "%s", host->tools.path);
  mw_argv_add_words(list, source->is_c ? "-std=gnu11" : "-std=gnu++17 -Wno-register");
  mw_argv_add_words(list,
                    host->tools.clang ? "-fno-caret-diagnostics -fno-strict-return" : "-fno-diagnostics-show-caret");
}

static void folders_add(const runtime_host *host, mw_argv *list) {
  mw_argv_add(list, "-isystem%s", host->headers);
  mw_argv_add_all(list, "-I", host->includes.at);
  mw_argv_add_all(list, "-D", host->defines.at);
}

static mw_status source_preprocess(const runtime_host *host, host_source *source, const mw_scratch *scratch,
                                   mw_error *error) {
  mw_argv list = {0};
  mw_process_result result = {0};
  language_add(host, source, &list);
  mw_argv_add_words(&list, preprocess_words);
  folders_add(host, &list);
  mw_argv_add_words(&list, "-include cuda_runtime.h -x c++");
  mw_argv_add(&list, "%s", source->file);
  mw_status status = run(&list, NULL, scratch, &result, error);
  mw_argv_free(&list);
  if (status) return status;
  if (result.exit)
    status = compile_failed(source, result.err, error);
  else
    source->host = runtime_host_text(result.out, (int)(source - host->sources));
  mw_process_result_free(&result);
  return status;
}

static mw_status source_compile(const runtime_host *host, const host_source *source, const char *object,
                                const mw_scratch *scratch, mw_error *error) {
  mw_argv list = {0};
  mw_process_result result = {0};
  language_add(host, source, &list);
  mw_argv_add_words(&list, compile_words);
  if (!source->is_cuda) folders_add(host, &list);
  mw_argv_add_words(&list, source->is_cuda ? "-x c++-cpp-output" : source->is_c ? "-x c" : "-x c++");
  mw_argv_add(&list, "%s", source->is_cuda ? "-" : source->file);
  mw_argv_add(&list, "-o");
  mw_argv_add(&list, "%s", object);
  mw_status status = run(&list, source->host.text, scratch, &result, error);
  mw_argv_free(&list);
  if (!status && result.exit) status = compile_failed(source, result.err, error);
  mw_process_result_free(&result);
  return status;
}

static mw_status link_all(runtime_host *host, const mw_scratch *scratch, mw_error *error) {
  mw_argv list = {0};
  mw_process_result result = {0};
  char *output = mw_format("%s/" MW_SCRATCH_FILE, scratch->path);
  mw_argv_add(&list, "%s", host->tools.path);
  mw_argv_add_words(&list, link_words);
  mw_argv_add(&list, "-o");
  mw_argv_add(&list, "%s", output);
  for (int i = 0; i < host->nsources; i++) mw_argv_add(&list, "%s/%d.o", scratch->temporary, i);
  mw_argv_add_all(&list, "-l", host->libraries.at);
  mw_argv_add(&list, "-lm");
  mw_status status = run(&list, NULL, scratch, &result, error);
  if (!status && result.exit) status = link_failed(host, result.err, error);
  mw_process_result_free(&result);
  mw_argv_free(&list);
  if (!status) host->object = mw_file_read(output, SIZE_MAX, &host->size);
  if (!status && !(host->object && cpu_object_is_whole(host->object, host->size)))
    status = mw_fail(error, MW_IO, "%s: the compiler wrote no whole program there; is the disk full?", output);
  mw_free(output);
  return status;
}

static mw_status scratch_make(mw_scratch *scratch, mw_error *error) {
  if (mw_scratch_make(scratch)) return MW_OK;
  return mw_fail(error, MW_IO, "%s: cannot make a folder for the compiler; set TMPDIR to one that can be written to",
                 scratch->path);
}

static void *compile(void *data) {
  runtime_host *host = data;
  mw_scratch scratch;
  host->status = scratch_make(&scratch, &host->error);
  if (host->status) return NULL;
  for (int i = 0; i < host->nsources && !host->status; i++) {
    char *object = mw_format("%s/%d.o", scratch.temporary, i);
    host->status = source_compile(host, &host->sources[i], object, &scratch, &host->error);
    mw_free(object);
  }
  if (!host->status) host->status = link_all(host, &scratch, &host->error);
  mw_scratch_drop(&scratch);
  return NULL;
}

/* ---- the cache: the object, which is read where it lies, then what is known of the sources ---------------------- */

/* Of each source two bytes: whether it has kernels, and templates among them. */
static void facts_put(const runtime_host *host, mw_text *out) {
  for (int i = 0; i < host->nsources; i++) {
    const char facts[] = {(char)host->sources[i].host.has_kernels, (char)host->sources[i].host.has_templates};
    mw_text_add(out, facts, sizeof facts);
  }
}

static bool cache_get(runtime_host *host) {
  char *bytes;
  size_t size, facts = 2 * (size_t)host->nsources;
  if (!host->cacheable || !mw_cache_get(&host->key, (void **)&bytes, &size)) return false;
  if (size <= facts || !cpu_object_is_whole(bytes, size - facts)) {
    mw_free(bytes);
    return false;
  }
  host->object = bytes;
  host->size = size - facts;
  for (int i = 0; i < host->nsources; i++) {
    host->sources[i].host.has_kernels = bytes[host->size + 2 * (size_t)i];
    host->sources[i].host.has_templates = bytes[host->size + 2 * (size_t)i + 1];
  }
  return true;
}

static void cache_put(const runtime_host *host) {
  mw_text text = {0};
  if (!host->cacheable) return;
  mw_text_add(&text, host->object, host->size);
  facts_put(host, &text);
  mw_cache_put(&host->key, text.at, text.size);
  mw_free(text.at);
}

static mw_status key_make(runtime_host *host, mw_error *error) {
  mw_cache_keymaker *maker = mw_cache_key_begin("program");
  mw_text stamp = {0};
  char identity[4096];
  mw_status status = MW_OK;
  host->cacheable = true;
  cpu_generator_stamp(&stamp);
  cpu_toolchain_identity(identity, sizeof identity);
  mw_cache_key_text(maker, "stamp", stamp.at);
  mw_cache_key_text(maker, "compiler", identity);
  mw_cache_key_text(maker, "options", compile_words);
  mw_free(stamp.at);
  for (int i = 0; i < host->libraries.count; i++) mw_cache_key_text(maker, "library", host->libraries.at[i]);
  mw_argv folders = {0};
  mw_argv_add_all(&folders, "", host->includes.at);
  mw_argv_add(&folders, "%s", host->headers);
  for (int i = 0; i < host->nsources && !status; i++) {
    const host_source *source = &host->sources[i];
    bool complete;
    char *text = mw_format("#include <cuda_runtime.h>\n%s", source->read);
    const mw_source all = {.name = source->file,
                           .text = text,
                           .folder = source->folder,
                           .includes = folders.at,
                           .defines = host->defines.at};
    status = mw_source_hash(&all, maker, &complete, error);
    mw_cache_key_text(maker, "file", source->file);
    host->cacheable &= complete;
    mw_free(text);
  }
  mw_argv_free(&folders);
  host->key = mw_cache_key_end(maker);
  return status;
}

/* ---- from the order to the object -------------------------------------------------------------------------------- */

static void list_copy(mw_argv *to, const char *const *from) {
  mw_argv_add_all(to, "", from);
}

static mw_status source_read(host_source *source, const char *file, mw_error *error) {
  const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
  source->file = mw_strdup(file);
  source->folder = slash ? mw_format("%.*s", (int)(slash - file + (slash == file)), file) : mw_strdup(".");
  source->is_cuda = dot && (!strcmp(dot, ".cu") || !strcmp(dot, ".cuh"));
  source->is_c = dot && !strcmp(dot, ".c");
  source->read = mw_file_read(file, MW_SOURCE_MOST, NULL);
  return source->read ? MW_OK : mw_fail(error, MW_IO, "cannot read '%s': %s", file, strerror(errno));
}

static mw_status begin(runtime_host *host, mw_error *error) {
  mw_scratch scratch;
  mw_status status = cpu_toolchain_find(&host->tools, error);
  if (!status) status = key_make(host, error);
  if (status || cache_get(host)) return status;
  status = scratch_make(&scratch, error);
  if (status) return status;
  for (int i = 0; i < host->nsources && !status; i++)
    if (host->sources[i].is_cuda) status = source_preprocess(host, &host->sources[i], &scratch, error);
  mw_scratch_drop(&scratch);
  if (status) return status;
  host->running = pthread_create(&host->thread, NULL, compile, host) == 0;
  if (!host->running) compile(host);
  return MW_OK;
}

mw_status runtime_host_begin(const runtime_order *order, runtime_host **out, mw_error *error) {
  runtime_host *host = mw_calloc(1, sizeof *host);
  mw_status status = MW_OK;
  while (order->files[host->nsources]) host->nsources++;
  host->sources = mw_calloc((size_t)host->nsources, sizeof *host->sources);
  host->headers = mw_format("%s/core/runtime/include", mw_home());
  list_copy(&host->includes, order->includes);
  list_copy(&host->defines, order->defines);
  list_copy(&host->libraries, order->libraries);
  for (int i = 0; i < host->nsources && !status; i++) status = source_read(&host->sources[i], order->files[i], error);
  if (!status) status = begin(host, error);
  if (status)
    runtime_host_free(host);
  else
    *out = host;
  return status;
}

bool runtime_host_has_kernels(const runtime_host *host, int source) {
  return host->sources[source].host.has_kernels;
}

bool runtime_host_has_templates(const runtime_host *host) {
  for (int i = 0; i < host->nsources; i++)
    if (host->sources[i].host.has_templates) return true;
  return false;
}

mw_status runtime_host_end(runtime_host *host, const void **object, size_t *size, mw_error *error) {
  const bool made = host->running || !host->object;
  if (host->running) pthread_join(host->thread, NULL);
  host->running = false;
  if (host->status) {
    *error = host->error;
    host->error = (mw_error){0};
    return host->status;
  }
  if (made && host->object) cache_put(host);
  *object = host->object;
  *size = host->size;
  return MW_OK;
}

void runtime_host_free(runtime_host *host) {
  if (host->running) pthread_join(host->thread, NULL);
  for (int i = 0; i < host->nsources; i++) {
    host_source *source = &host->sources[i];
    mw_free(source->file);
    mw_free(source->folder);
    mw_free(source->read);
    mw_free(source->host.text);
  }
  mw_argv_free(&host->includes);
  mw_argv_free(&host->defines);
  mw_argv_free(&host->libraries);
  mw_error_clear(&host->error);
  mw_free(host->sources);
  mw_free(host->headers);
  mw_free(host->object);
  mw_free(host);
}
