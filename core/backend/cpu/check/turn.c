/* SPDX-License-Identifier: MIT
 *
 * OS threads take turns in checked code: so no access to shadow memory needs an atomic operation, and a run finds the
 * same again. */
#include "core/backend/cpu/check/check.h"

enum { REST_ATOMICS = 256 };
enum { WAIT_RESTS = 64 }; /* a block that has rested so often seems to wait for others */

/* In the order in which they ask, so that a block that spins lets the one that it waits for go on. */
static void wait_for_turn(cpu_turns *turns) {
  pthread_mutex_lock(&turns->lock);
  const unsigned long long mine = turns->asked++;
  while (turns->served != mine) pthread_cond_wait(&turns->next, &turns->lock);
  pthread_mutex_unlock(&turns->lock);
}

static void end_turn(cpu_turns *turns) {
  pthread_mutex_lock(&turns->lock);
  turns->served++;
  pthread_cond_broadcast(&turns->next);
  pthread_mutex_unlock(&turns->lock);
}

void cpu_turn_take(cpu_grid *grid, cpu_worker *worker) {
  cpu_checker *checker = grid->checker;
  worker->busy++; /* not to be ended while it waits, nor with the turn half taken */
  if (checker->shuffle && ++worker->rests == WAIT_RESTS) cpu_shuffle_help(checker->shuffle);
  wait_for_turn(&checker->turns);
  checker->grid = grid;
  *grid->table->self() = worker->in_fibers ? &cpu_fibers_lane(worker->fibers)->thread : worker->plain;
  worker->busy--;
}

void cpu_turn_give(cpu_grid *grid, cpu_worker *worker) {
  cpu_checker *checker = grid->checker;
  worker->busy++;
  cpu_finding_settle(checker);
  end_turn(&checker->turns);
  worker->busy--;
}

void cpu_turn_preempt(void) {
  cpu_grid *grid = atomic_load_explicit(&cpu_current->grid, memory_order_relaxed);
  if (!grid->interleave) return;
  cpu_current->busy++;
  cpu_finding_settle(grid->checker);
  cpu_current->busy--;
  cpu_preempt(cpu_current->fibers, false);
}

void cpu_turn_rest(void) {
  cpu_checker *checker = cpu_checker_now();
  cpu_worker *worker = cpu_current;
  checker->atomics++;
  if (checker->grid->interleave) return cpu_turn_preempt();
  if (checker->atomics % REST_ATOMICS) return;
  if (worker->in_fibers) return cpu_fibers_yield(worker->fibers);
  cpu_turn_give(checker->grid, worker);
  cpu_turn_take(checker->grid, worker);
}
