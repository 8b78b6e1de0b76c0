/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C. The handler notifies the backends (mw_interrupt) and sets a hook that raises "interrupted" at the next
 * instruction, in whichever coroutine runs. The hook stays, at a distance, until the error has reached the command
 * line: a script that catches it in a loop is interrupted again. A second Ctrl-C meanwhile ends the process; one that
 * comes too soon to be another is taken for the same, also where the first has been dealt with already. SIGTERM does
 * the same where it is asked for. */
#include "core/base/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "core/base/clock.h"
#include "core/bind/bind.h"
#include "core/host/host.h"

enum { GRACE = 100000 }; /* instructions that clean-up may take before a swallowed interruption comes back */

static const double ECHO_SECONDS = 0.1; /* a terminal and timeout(1) may both send what was one Ctrl-C */

static pthread_t script_thread;
static lua_State *volatile watched;
static int raised;                            /* how often the pending interruption was */
static volatile sig_atomic_t pending, caught; /* caught: the last one's number */
static volatile double taken = -1;            /* when the last one came that was no echo */

static void hook_all(lua_Hook hook, int mask, int count) {
  lua_sethook(watched, hook, mask, count);
  host_coroutines_hook(hook, mask, count);
}

/* Raised once, then after a grace for clean-up, then at every instruction: so no pcall in a loop outlasts it. */
static void stop(lua_State *L, lua_Debug *event) {
  (void)event;
  if (raised < 2) hook_all(stop, LUA_MASKCOUNT, raised == 0 ? GRACE : 1);
  if (raised++ == 0) mw_interrupt();    /* once more: the call that the signal met may have queued work after it */
  atomic_store(&mw_interrupted, false); /* it is the script's error now */
  bind_fail(L, MW_INTERRUPTED, "interrupted");
}

static void on_interrupt(int signal_number) {
  if (!pthread_equal(pthread_self(), script_thread)) {
    pthread_kill(script_thread, signal_number); /* a hook may only be set by the thread that runs the state */
    return;
  }
  double at = mw_clock();
  if (taken >= 0 && at - taken < ECHO_SECONDS) return;
  if (pending) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return;
  }
  pending = true;
  caught = signal_number;
  taken = at;
  mw_interrupt();
  hook_all(stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1); /* which one runs is unknown */
}

/* Not restarting: a read at the prompt has to return. All signals wait for the handler's end: the one by which a device
 * leaves a kernel would leave the handler too, and SIGINT would stay blocked. */
static void catch_signal(int number) {
  struct sigaction action = {.sa_handler = on_interrupt};
  sigfillset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

void host_interrupt_watch(lua_State *L) {
  script_thread = pthread_self();
  watched = L;
  catch_signal(SIGINT);
}

int host_catch_term(lua_State *L) {
  (void)L;
  catch_signal(SIGTERM);
  return 0;
}

int host_caught(lua_State *L) {
  if (!caught) return 0;
  lua_pushstring(L, caught == SIGTERM ? "SIGTERM" : "SIGINT");
  return 1;
}

bool host_interrupt_clear(void) {
  bool was_pending = pending;
  if (was_pending) hook_all(NULL, 0, 0);
  atomic_store(&mw_interrupted, false);
  pending = false;
  raised = 0;
  return was_pending;
}
