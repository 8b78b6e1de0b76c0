/* SPDX-License-Identifier: MIT
 *
 * Asynchronous copies. Each is made when it is called, and what it has written counts as not there until the copy is
 * complete. Where source and copy differ by then, one of them was overwritten on the way.
 *
 * For those of __pipeline_memcpy_async, cg::memcpy_async and the pipeline of a thread their thread waits. Then they are
 * read and written once more, as judged accesses, so that a barrier must follow. Those of a cuda::barrier and of the
 * pipeline of a block are complete when the barrier's phase ends, which orders the block. */
#include "core/backend/cpu/check/check.h"

#include <string.h>

#include "core/base/memory.h"

static void compare(cpu_checker *checker, const cpu_flight *it) {
  cpu_party reader = it->party;
  reader.write = false;
  if (it->from && memcmp((const void *)it->to, (const void *)it->from, it->bytes))
    cpu_finding_note(checker, CPU_FINDING_RACE_GLOBAL, it->from, &reader, NULL,
                     "source or copy was overwritten before anybody had waited for it");
}

static void land(cpu_checker *checker, const cpu_flight *it) {
  compare(checker, it);
  if (it->from)
    cpu_check_access((const void *)it->from, it->bytes, MW_READ_BYTES, MW_ACCESS_PLAIN, it->party.place, it->site);
  cpu_check_access((const void *)it->to, it->bytes, MW_WRITE, MW_ACCESS_PLAIN, it->party.place, it->site);
}

static void wait_for(cpu_checker *checker, cpu_flights_of_thread *mine, unsigned batches) {
  unsigned left = 0;
  if (mine->waited < batches) mine->waited = batches;
  for (unsigned i = 0; i < mine->count; i++) {
    const cpu_flight it = mine->at[i];
    if (!it.barrier && it.batch < mine->waited)
      land(checker, &it);
    else
      mine->at[left++] = it;
  }
  mine->count = left;
}

static void set_there(cpu_checker *checker, const cpu_flight *it, bool there) {
  for (uintptr_t word = it->to & ~(uintptr_t)3; word < it->to + it->bytes; word += 4) {
    mw_cell *cell = cpu_shadow_cell(&checker->shadow, word);
    const unsigned front = word < it->to ? (unsigned)(it->to - word) : 0;
    const unsigned back = word + 4 > it->to + it->bytes ? (unsigned)(word + 4 - it->to - it->bytes) : 0;
    const mw_check_bits bytes = 15u << front & 15u >> back;
    if (cell) cell->read = there ? cell->read | bytes : cell->read & ~bytes;
  }
}

static void end_phase(cpu_checker *checker, const cpu_flight *it) {
  compare(checker, it);
  set_there(checker, it, true);
}

/* Where no shared memory is written the copy is none that needs waiting. */
static void begin(cpu_checker *checker, cpu_flights_of_thread *mine, const cpu_flight *it) {
  if (!it->bytes || !cpu_is_shared(checker->grid, cpu_checker_thread()->worker, it->to)) return;
  mine->at = mw_grow(mine->at, mine->count, sizeof *mine->at);
  mine->at[mine->count++] = *it;
  set_there(checker, it, false);
}

void cpu_check_copy(int what, const void *to, const void *from, unsigned bytes, const void *barrier, const void *place,
                    unsigned site) {
  cpu_checker *checker = cpu_checker_now();
  const mw_thread *thread = cpu_checker_thread();
  cpu_worker *worker = cpu_current;
  worker->busy++; /* not to be ended in the middle of an update */
  cpu_flights_of_thread *mine = cpu_flights_now(checker, thread->rank);
  const cpu_party party = {.known = true,
                           .block_known = true,
                           .block = thread->worker->block,
                           .rank = thread->rank,
                           .write = true,
                           .bytes = bytes,
                           .place = place};
  const cpu_flight it = {(uintptr_t)to, (uintptr_t)from, bytes, mine->batches, barrier, party, site};
  cpu_finding_settle(checker);
  if (what == MW_COPY_BEGIN)
    begin(checker, mine, &it);
  else if (what == MW_COPY_COMMIT)
    mine->batches++;
  else if (what == MW_COPY_PHASE)
    cpu_flights_end(checker, barrier, end_phase);
  else
    wait_for(checker, mine,
             what == MW_COPY_WAIT_OLDEST ? mine->waited + (mine->waited < mine->batches)
             : mine->batches > bytes     ? mine->batches - bytes
                                         : 0);
  worker->busy--;
}
