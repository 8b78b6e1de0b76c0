/* SPDX-License-Identifier: MIT
 *
 * What libseccomp makes of a list of names. */
#include "core/host/filter.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#if __has_include(<seccomp.h>)
#include <seccomp.h>

/* Kept by the user and not by a namespace (keys), or memory that no process holds (System V), or ways into the kernel
 * that no lab needs. Left alone, since compilers, debuggers, ncu, compute-sanitizer, MPI, NCCL and CUDA need them:
 * memfd_create, perf_event_open, ptrace, process_vm_readv, process_vm_writev, pidfd_getfd, kcmp, mbind, mlock,
 * sched_setaffinity, and shared memory by files of /dev/shm. */
static const char *const refused[] = {
    "add_key",
    "keyctl",
    "request_key",
    "shmget",
    "msgget",
    "semget",
    "bpf",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "memfd_secret",
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
};

/* 32-bit programs run on x86-64, and any program can make their calls. */
static int add_processors(scmp_filter_ctx filter) {
#ifdef __x86_64__
  static const uint32_t others[] = {SCMP_ARCH_X86, SCMP_ARCH_X32};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    int problem = seccomp_arch_add(filter, others[i]);
    if (problem) return problem;
  }
#endif
  return seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* few comparisons for each call */
}

static int add_rules(scmp_filter_ctx filter) {
  int problem = add_processors(filter);
  for (size_t i = 0; !problem && i < sizeof refused / sizeof *refused; i++) {
    int number = seccomp_syscall_resolve_name(refused[i]);
    if (number == __NR_SCMP_ERROR) continue; /* newer than the library */
    problem = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
  }
  return problem;
}

bool filter_is_built(void) {
  return true;
}

int filter_open(void) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  int fd = memfd_create("moonwarp filter", 0), problem = filter ? add_rules(filter) : -ENOMEM;
  if (!problem) problem = seccomp_export_bpf(filter, fd);
  if (!problem && lseek(fd, 0, SEEK_SET) != 0) problem = -errno;
  seccomp_release(filter);
  if (!problem) return fd;
  if (fd >= 0) close(fd);
  errno = -problem;
  return -1;
}
#else
bool filter_is_built(void) {
  return false;
}

int filter_open(void) {
  errno = ENOSYS;
  return -1;
}
#endif

int host_has_filter(lua_State *L) {
  lua_pushboolean(L, filter_is_built());
  return 1;
}
