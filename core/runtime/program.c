/* SPDX-License-Identifier: MIT */
#include "core/runtime/program.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/leave.h"
#include "core/source/signature.h"

enum { FAILED = 1, ALTERNATE_STACK = 64 << 10 };

runtime_state runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- a program that crashes ------------------------------------------------------------------------------------- */

static const char *watched; /* its name */

static const char *signal_text(int number) {
  switch (number) {
  case SIGSEGV:
    return "SIGSEGV: it used memory that it does not have";
  case SIGBUS:
    return "SIGBUS: it used memory that is not there";
  case SIGFPE:
    return "SIGFPE: an integer was divided by zero";
  case SIGILL:
    return "SIGILL: it executed what is no instruction";
  default:
    return "SIGABRT";
  }
}

static void put(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

/* The signal then ends the process as usual: with its own status, and a core where the user wants one. */
static void on_crash(int number) {
  put("moonwarp: the host part of '");
  put(watched);
  put("' ended by ");
  put(signal_text(number));
  put("\n");
  signal(number, SIG_DFL);
  raise(number);
}

void runtime_crash_watch(const char *name) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  static char stack[ALTERNATE_STACK];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  const struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
  watched = mw_strdup(name);
  sigaltstack(&alternate, NULL);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
}

/* ---- its end ---------------------------------------------------------------------------------------------------- */

/* A program that does not look at errors ends well although a kernel failed. */
static void at_exit(int status, void *process) {
  if ((intptr_t)process != getpid() || status || !runtime.failed) return;
  const int worse = mw_leave ? mw_leave(FAILED) : FAILED;
  fflush(NULL);
  _exit(worse);
}

/* What the host part calls in place of abort, and where an assertion fails (ld's --wrap): what was found in kernels is told
 * before the process ends. */
void moonwarp_abort(void) __asm__("__wrap_abort") __attribute__((noreturn, visibility("default")));
void moonwarp_assert(const char *, const char *, unsigned, const char *) __asm__("__wrap___assert_fail")
    __attribute__((noreturn, visibility("default")));

void moonwarp_abort(void) {
  if (mw_leave) mw_leave(128 + SIGABRT);
  fflush(NULL);
  abort();
}

void moonwarp_assert(const char *condition, const char *file, unsigned line, const char *function) {
  fflush(stdout);
  fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
  moonwarp_abort();
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

void runtime_symbols_take(const void *object, size_t size) {
  runtime.symbols = runtime_symbols_read(object, size);
  runtime.kernels = mw_calloc(runtime.symbols.count + 1, sizeof *runtime.kernels);
  for (size_t i = 0; i < runtime.symbols.count; i++)
    if (runtime.symbols.at[i].source >= 0) runtime.kernels[runtime.nkernels++].symbol = &runtime.symbols.at[i];
}

const char **runtime_instances(int source) {
  const char **list = mw_calloc((size_t)runtime.nkernels + 1, sizeof *list);
  int count = 0;
  for (int i = 0; i < runtime.nkernels; i++) {
    const runtime_symbol *symbol = runtime.kernels[i].symbol;
    if (symbol->source == source && symbol->is_template) list[count++] = symbol->name;
  }
  return list;
}

/* "f(int *)" of the symbol at the end of what the loader says is often in a source that was not given. */
static mw_status load_failed(const char *why, mw_error *error) {
  static const char mark[] = "undefined symbol: ";
  const char *symbol = strstr(why, mark);
  mw_signature signature;
  if (!symbol) return mw_fail(error, MW_COMPILE, "the host part of '%s' does not load: %s", watched, why);
  symbol += strlen(mark);
  const bool read = mw_signature_parse(symbol, &signature);
  mw_fail(error, MW_COMPILE, "nothing defines '%s', which '%s' uses: give all sources of the program, libraries by -l",
          read ? signature.name : symbol, watched);
  if (read) mw_signature_free(&signature);
  return error->status;
}

/* An object from memory, with what it needs of other libraries. */
static void *load(const void *object, size_t size, mw_error *error) {
  char path[64];
  const int fd = memfd_create("moonwarp program", MFD_CLOEXEC);
  void *handle = NULL;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (fd < 0 || !mw_file_write_fd(fd, object, size))
    mw_fail(error, MW_IO, "no memory file for the host part of '%s'", watched);
  else if (!(handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
    load_failed(dlerror(), error);
  return handle;
}

static char *base_of(void *handle) {
  struct link_map *map = NULL;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) ? NULL : (char *)map->l_addr;
}

mw_status runtime_run(mw_device *device, mw_module **modules, int count, const void *object, size_t size, int argc,
                      char **argv, mw_error *error) {
  runtime.device = device;
  runtime.modules = modules;
  runtime.nmodules = count;
  on_exit(at_exit, (void *)(intptr_t)getpid()); /* after the program's static objects have ended */
  void *handle = load(object, size, error);
  if (!handle) return error->status;
  runtime.base = base_of(handle);
  void *symbol = dlsym(handle, "main");
  if (!symbol) return mw_fail(error, MW_INVALID, "'%s' has no main: give the source that has it as well", watched);
  int (*entry)(int, char **, char **);
  memcpy(&entry, &symbol, sizeof entry);
  signal(SIGINT, SIG_DFL);
  exit(entry(argc, argv, environ));
}
