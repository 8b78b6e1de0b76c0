/* SPDX-License-Identifier: MIT
 *
 * Holds memory in a way, says so, and stays for some seconds: hold WAY MIB SECONDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

static int filled(size_t bytes) {
  static char block[1 << 20];
  int fd = memfd_create("held", 0);
  memset(block, 1, sizeof block);
  for (size_t done = 0; done < bytes; done += sizeof block)
    if (write(fd, block, sizeof block) != (ssize_t)sizeof block) exit(3);
  return fd;
}

/* Into a socket that nobody reads: in no process's table. */
static void send_away(int fd) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof fd)];
  } control = {.head = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS}};
  struct iovec byte = {"x", 1};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int ends[2];
  memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0 || sendmsg(ends[0], &message, 0) != 1) exit(3);
  close(fd);
}

int main(int count, char **words) {
  if (count != 4) return 2;
  size_t bytes = (size_t)atol(words[2]) << 20;
  const char *way = words[1];
  if (strcmp(way, "file") == 0) filled(bytes);
  if (strcmp(way, "open") == 0) /* as many descriptors as there may be */
    while (dup(0) >= 0) continue;
  if (strcmp(way, "sent") == 0) send_away(filled(bytes));
  if (strcmp(way, "anonymous") == 0) { /* shared by a process with none, and out of its sight */
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t done = 0; done < bytes; done += 1 << 20) {
      memset(at + done, 1, 1 << 20);
      madvise(at + done, 1 << 20, MADV_DONTNEED);
    }
  }
  if (strcmp(way, "mapped") == 0 || strcmp(way, "unseen") == 0) { /* the latter: no descriptor, and never touched */
    int fd = filled(bytes);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (strcmp(way, "mapped") == 0)
      memset(at, 2, bytes);
    else
      close(fd);
  }
  if (strcmp(way, "shmget") == 0) {
    int id = shmget(IPC_PRIVATE, bytes, 0600);
    if (id < 0) return 4;
    char *at = shmat(id, NULL, 0);
    memset(at, 1, bytes);
    shmdt(at);
  }
  printf("held\n");
  fflush(stdout);
  usleep((useconds_t)(atof(words[3]) * 1e6));
  return 0;
}
