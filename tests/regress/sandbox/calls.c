/* SPDX-License-Identifier: MIT
 *
 * Makes system calls as each kind of program that x86-64 runs, and prints a line for each that is not refused, "KIND
 * NAME: errno"; at last a line for each kind that the kernel has. What must work is tried as well. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { X32 = 0x40000000, IPC = 117 };

typedef struct call {
  const char *name;
  long wide, narrow, first; /* numbers for 64 and 32 bits, 0: none; the first argument */
} call;

static const call calls[] = {
    {"add_key", 248, 286, 0},
    {"request_key", 249, 287, 0},
    {"keyctl", 250, 288, 0},
    {"shmget", 29, 395, 0},
    {"semget", 64, 393, 0},
    {"msgget", 68, 399, 0},
    {"ipc shmget", 0, IPC, 23},
    {"ipc semget", 0, IPC, 2},
    {"ipc msgget", 0, IPC, 13},
    {"bpf", 321, 357, 0},
    {"userfaultfd", 323, 374, 0},
    {"io_uring_setup", 425, 425, 0},
    {"io_uring_enter", 426, 426, 0},
    {"io_uring_register", 427, 427, 0},
    {"memfd_secret", 447, 447, 0},
    {"mount", 165, 21, 0},
    {"umount", 0, 22, 0},
    {"umount2", 166, 52, 0},
    {"pivot_root", 155, 217, 0},
    {"move_mount", 429, 429, 0},
    {"open_tree", 428, 428, 0},
    {"fsopen", 430, 430, 0},
    {"fsconfig", 431, 431, 0},
    {"fsmount", 432, 432, 0},
    {"fspick", 433, 433, 0},
    {"mount_setattr", 442, 442, 0},
};

static long narrow_call(long number, long first) {
  long result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(number), "b"(first), "c"(0), "d"(0), "S"(0), "D"(0)
                   : "memory", "r8", "r9", "r10", "r11");
  return (int)result;
}

static int wide_problem(long number, long first) {
  errno = 0;
  syscall(number, first, 0L, 0L, 0L, 0L);
  return errno;
}

static void try_kind(const char *kind) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    const call *c = &calls[i];
    int narrow = strcmp(kind, "i386") == 0, problem;
    if (!(narrow ? c->narrow : c->wide)) continue;
    problem = narrow ? (int)-narrow_call(c->narrow, c->first)
                     : wide_problem(c->wide | (strcmp(kind, "x32") == 0 ? X32 : 0), c->first);
    if (problem != EPERM) printf("%s %s: %d\n", kind, c->name, problem);
  }
  printf("%s tried\n", kind);
  fflush(stdout);
}

/* A kernel may lack a kind, and end the process that asks. */
static void try_apart(const char *kind) {
  pid_t child = fork();
  if (child == 0) {
    try_kind(kind);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void need(const char *what, int works) {
  if (!works) printf("%s does not work: %d\n", what, errno);
}

static void try_needed(void) {
  char from[] = "text", to[8] = "";
  struct iovec here = {to, sizeof from}, there = {from, sizeof from};
  int how = 1;
  need("memfd_create", memfd_create("x", 0) >= 0);
  need("process_vm_readv", process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof from);
  pid_t child = fork();
  if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
  waitpid(child, &how, 0);
  need("ptrace", how == 0);
  int fd = shm_open("/moonwarp-needed", O_RDWR | O_CREAT, 0600);
  need("shm_open", fd >= 0 && ftruncate(fd, 4096) == 0);
  need("mmap of shared memory", mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
}

int main(void) {
  static const char *const kinds[] = {"x86-64", "x32", "i386"};
  for (int i = 0; i < 3; i++) try_apart(kinds[i]);
  try_needed();
  return 0;
}
