/* SPDX-License-Identifier: MIT
 *
 * The asynchronous copies that threads of the running blocks have not waited for (copy.c). */
#include "core/backend/cpu/check/check.h"

#include "core/base/memory.h"

struct cpu_flights { /* of the block that a worker runs */
  const cpu_worker *worker;
  cpu_flights_of_thread of[MW_CUDA_WARP * CPU_WARPS];
  struct cpu_flights *next;
};

static struct cpu_flights *flights_of(const cpu_checker *checker, const cpu_worker *worker) {
  struct cpu_flights *it = checker->flights;
  while (it && it->worker != worker) it = it->next;
  return it;
}

static struct cpu_flights *flights_make(cpu_checker *checker, const cpu_worker *worker) {
  struct cpu_flights *made = mw_calloc(1, sizeof *made);
  made->worker = worker;
  made->next = checker->flights;
  return checker->flights = made;
}

void cpu_flights_begin_block(cpu_checker *checker, const cpu_worker *worker) {
  struct cpu_flights *it = flights_of(checker, worker);
  for (unsigned i = 0; it && i < MW_CUDA_WARP * CPU_WARPS; i++)
    it->of[i].count = it->of[i].batches = it->of[i].waited = 0;
}

void cpu_flights_free(cpu_checker *checker) {
  for (struct cpu_flights *it = checker->flights, *next; it; it = next) {
    next = it->next;
    for (unsigned i = 0; i < MW_CUDA_WARP * CPU_WARPS; i++) mw_free(it->of[i].at);
    mw_free(it);
  }
  checker->flights = NULL;
}

bool cpu_flight_find(const cpu_checker *checker, uintptr_t address, cpu_party *out) {
  const struct cpu_flights *it = flights_of(checker, cpu_current);
  for (unsigned rank = 0; it && rank < MW_CUDA_WARP * CPU_WARPS; rank++)
    for (unsigned i = 0; i < it->of[rank].count; i++) {
      const cpu_flight *one = &it->of[rank].at[i];
      if (address - one->to < one->bytes) return *out = one->party, true;
    }
  return false;
}

void cpu_flights_end(cpu_checker *checker, const void *barrier, void (*end)(cpu_checker *, const cpu_flight *)) {
  struct cpu_flights *it = flights_of(checker, cpu_current);
  for (unsigned rank = 0; it && rank < MW_CUDA_WARP * CPU_WARPS; rank++) {
    cpu_flights_of_thread *of = &it->of[rank];
    unsigned left = 0;
    for (unsigned i = 0; i < of->count; i++) {
      if (of->at[i].barrier == barrier)
        end(checker, &of->at[i]);
      else
        of->at[left++] = of->at[i];
    }
    of->count = left;
  }
}

cpu_flights_of_thread *cpu_flights_now(cpu_checker *checker, unsigned rank) {
  struct cpu_flights *all = flights_of(checker, cpu_current);
  return &(all ? all : flights_make(checker, cpu_current))->of[rank];
}
