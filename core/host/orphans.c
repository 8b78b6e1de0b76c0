/* SPDX-License-Identifier: MIT
 *
 * A process below a supervisor is in another session than ours and cannot come back into it, so the session tells what
 * came to us from what we started. What a shell started before it became us is older than the first supervisor. */
#include "core/host/orphans.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/host/process_tree.h"

static const double STUCK_SECONDS = 20; /* a process that a driver holds does not die of SIGKILL */

static process_tree older;

void orphans_adopt(void) {
  static bool begun;
  if (begun) return;
  begun = true;
  process_tree_children(&older, getpid());
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool is_older(pid_t pid) {
  for (size_t i = 0; i < older.count; i++)
    if (older.members[i] == pid) return true;
  return false;
}

static void end_one(pid_t pid) {
  static process_tree below;
  process_tree_find(&below, pid, PROCESS_TREE_MOST);
  kill(pid, SIGKILL);
  process_tree_kill(&below, SIGKILL);
  waitpid(pid, NULL, WNOHANG);
}

void orphans_end(bool (*is_supervisor)(pid_t)) {
  static process_tree children;
  double since = mw_clock();
  bool found = true;
  while (found && mw_clock() - since < STUCK_SECONDS) {
    found = false;
    process_tree_children(&children, getpid());
    for (size_t i = 0; i < children.count; i++) {
      pid_t pid = children.members[i];
      if (is_supervisor(pid) || is_older(pid) || getsid(pid) == getsid(0)) continue;
      end_one(pid);
      found = true;
    }
    if (found) usleep(1000);
  }
}
