/* SPDX-License-Identifier: MIT
 *
 * What this machine is: cores, memory, name. Opens nothing. */
#include "core/backend/cpu/objects.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Usable cores, or $MOONWARP_CPU_WORKERS. */
static int workers(void) {
  const char *wish = getenv("MOONWARP_CPU_WORKERS");
  int wanted = wish ? atoi(wish) : 0;
  if (wanted > 0) return wanted < 1024 ? wanted : 1024;
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

/* ---- files under /proc and /sys -------------------------------------------------------------------------------- */

/* The text after "key :" on the first line of the file that begins with key; without a key the first line. False: there
 * is none, or nothing in it; out is then "". */
static bool look_up(const char *path, const char *key, char *out, size_t size) {
  FILE *file = fopen(path, "r");
  *out = '\0';
  if (!file) return false;
  char line[512];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':'), *text = key ? colon : line;
    if (key && (strncmp(line, key, strlen(key)) || !colon)) continue;
    if (key) text += 1 + strspn(colon + 1, " \t");
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
    found = true;
  }
  fclose(file);
  return found && *out;
}

static bool first_line(const char *path, char *out, size_t size) {
  return look_up(path, NULL, out, size);
}

static unsigned long long number_in(const char *path) { /* ULLONG_MAX: no such file, or "max" */
  char line[64], *end;
  if (!first_line(path, line, sizeof line)) return ~0ull;
  const unsigned long long number = strtoull(line, &end, 10);
  return end > line ? number : ~0ull;
}

static size_t meminfo(const char *key) {
  char text[64];
  return look_up("/proc/meminfo", key, text, sizeof text) ? (size_t)strtoull(text, NULL, 10) * 1024 : 0;
}

/* Bytes this process may use: the machine's or the control group's. */
static size_t system_memory(void) {
  const size_t machine = meminfo("MemTotal");
  const unsigned long long group = number_in("/sys/fs/cgroup/memory.max");
  return group < machine ? (size_t)group : machine;
}

size_t cpu_probe_available_memory(void) {
  const size_t machine = meminfo("MemAvailable");
  const unsigned long long most = number_in("/sys/fs/cgroup/memory.max");
  const unsigned long long now = number_in("/sys/fs/cgroup/memory.current");
  if (most == ~0ull || now == ~0ull) return machine;
  const unsigned long long left = most > now ? most - now : 0;
  return left < machine ? (size_t)left : machine;
}

/* ---- the properties -------------------------------------------------------------------------------------------- */

static double clock_hz(void) {
  char text[64];
  const unsigned long long khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  if (khz != ~0ull) return 1e3 * (double)khz;
  return look_up("/proc/cpuinfo", "cpu MHz", text, sizeof text) ? 1e6 * strtod(text, NULL) : 0;
}

#if defined(__x86_64__)
static const char architecture[] = "x86-64";
#else
static const char architecture[] = "aarch64";
#endif

static size_t l2_bytes(void) {
  long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? (size_t)bytes : 0;
}

/* Of one part of the third level, which the first core uses: sysconf adds up all parts. 0 if none. */
static size_t l3_bytes(void) {
  const unsigned long long kib = number_in("/sys/devices/system/cpu/cpu0/cache/index3/size"); /* "32768K" */
  return kib == ~0ull ? 0 : (size_t)kib * 1024;
}

void cpu_probe_info(mw_device_info *info) {
  mw_error error = {0};
  *info = (mw_device_info){
      .id = "cpu",
      .multiprocessors = workers(),
      .warp_size = 32,
      .max_threads_per_block = 1024,
      .max_threads_per_multiprocessor = 1024,
      .max_blocks_per_multiprocessor = 1,
      .max_block = {1024, 1024, 64},
      .max_grid = {2147483647, 65535, 65535},
      .shared_per_block = 48 << 10,
      .shared_per_block_optin = CPU_SHARED_MOST,
      .shared_per_multiprocessor = CPU_SHARED_MOST,
      .constant_bytes = 64 << 10,
      .l2_bytes = l2_bytes(),
      .cache_bytes = l3_bytes(),
      .memory_total = system_memory() / 4 * 3, /* the rest is the script's and the compiler's */
      .clock_hz = clock_hz(),
      .cooperative = true,
      .managed = true,
      .pageable_access = true,
      .concurrent_managed_access = true,
      .host_register = true,
  };
  if (info->cache_bytes < info->l2_bytes) info->cache_bytes = info->l2_bytes;
  info->async_engines = info->multiprocessors;
  snprintf(info->arch, sizeof info->arch, "%s", architecture);
  if (!look_up("/proc/cpuinfo", "model name", info->name, sizeof info->name))
    snprintf(info->name, sizeof info->name, "%s processor", architecture);
  if (cpu_compiler(info->driver, sizeof info->driver, &error) != MW_OK)
    snprintf(info->driver, sizeof info->driver, "no C++ compiler");
  mw_error_clear(&error);
}

/* ---- the state of a moment ------------------------------------------------------------------------------------- */

static double scaled_number(const char *path, double scale) {
  const unsigned long long number = number_in(path);
  return number == ~0ull ? -1 : scale * (double)number;
}

/* The processor's own sensor is called differently by each maker; a board's others say nothing of it. */
static double processor_temperature(void) {
  static const char *const sensors[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
  for (int i = 0; i < 16; i++) {
    char path[64], name[32];
    snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/name", i);
    if (!first_line(path, name, sizeof name)) continue;
    snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp1_input", i);
    for (size_t k = 0; k < sizeof sensors / sizeof *sensors; k++)
      if (!strcmp(name, sensors[k])) return scaled_number(path, 1e-3);
  }
  return -1;
}

static double current_clock(void) {
  char text[64];
  const double hz = scaled_number("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", 1e3);
  if (hz >= 0) return hz;
  return look_up("/proc/cpuinfo", "cpu MHz", text, sizeof text) ? 1e6 * strtod(text, NULL) : -1;
}

void cpu_probe_state(mw_device *device, mw_device_state *out) {
  double load[1];
  (void)device;
  out->clock_hz = current_clock();
  out->clock_max_hz = scaled_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", 1e3);
  out->temperature = processor_temperature();
  if (getloadavg(load, 1) == 1) out->load = load[0];
  first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", out->governor, sizeof out->governor);
}

void cpu_probe(mw_probe *out) {
  mw_error error = {0};
  *out = (mw_probe){.devices = 1};
  if (cpu_compiler(out->compiler, sizeof out->compiler, &error) == MW_OK)
    snprintf(out->reason, sizeof out->reason, "%d worker threads, kernels compiled by %s", workers(), out->compiler);
  else
    snprintf(out->reason, sizeof out->reason, "%d worker threads; kernels cannot be compiled: %.400s", workers(),
             error.text);
  mw_error_clear(&error);
}
