/* SPDX-License-Identifier: MIT
 *
 * Code that counts on the lanes of a warp to run in step: a lane reads, by a volatile access, what another lane writes
 * by one, and no __syncwarp() lies between, in either order:
 *
 *   volatile float *s = shared;  s[t] += s[t + 16];  s[t] += s[t + 8];         M. Harris, "Optimizing parallel reduction"
 *
 * Volatile accesses are relaxed, so this is no data race, and what a lane reads is any of the values. A flag is read so
 * by right: one that a thread waits for, and one of a lane that writes nothing else from what it has read. So a lane is
 * found that writes another word between the same two synchronisations. Of the lanes that read a word two are kept. */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { WORDS = 1 << 12, READERS = 2 };

typedef struct use {   /* how a lane used a word last */
  mw_check_bits stamp; /* 0: none */
  cpu_party party;
} use;

typedef struct word { /* by a hash of its address */
  uintptr_t address;
  use write, reads[READERS];
} word;

typedef struct lane { /* since its warp's last synchronisation */
  mw_check_bits stamp;
  uintptr_t wrote; /* a word; 0: none */
  bool wrote_several;
  struct { /* it has read this too early or too late, if it writes another word */
    uintptr_t address;
    cpu_party read, write;
  } doubt;
} lane;

struct cpu_lanes {
  word words[WORDS];
  lane lanes[MW_CUDA_WARP * CPU_WARPS];
  mw_check_bits told[CPU_WARPS]; /* in which of its epochs a warp has been found */
};

void cpu_lanes_forget(cpu_checker *checker) {
  if (checker->lanes) memset(checker->lanes, 0, sizeof *checker->lanes);
}

static lane *lane_of(cpu_checker *checker, const mw_thread *thread, unsigned rank) {
  lane *it = &checker->lanes->lanes[rank];
  if ((it->stamp ^ thread->stamp) >> MW_CELL_WARP_EPOCH) *it = (lane){.stamp = thread->stamp};
  return it;
}

static word *word_of(cpu_checker *checker, uintptr_t address) {
  word *it = &checker->lanes->words[(address * 0x9E3779B97F4A7C15ull >> 32) % WORDS];
  if (it->address != address) *it = (word){.address = address};
  return it;
}

/* Of another lane of the warp, and not ordered before the thread. */
static bool is_unordered(cpu_checker *checker, const mw_thread *thread, const use *other) {
  const mw_check_bits differs = other->stamp ^ thread->stamp;
  const unsigned rank = other->party.rank;
  return other->stamp && !(differs >> MW_CELL_WARP_EPOCH) && rank != thread->rank &&
         rank / MW_CUDA_WARP == thread->rank / MW_CUDA_WARP && !cpu_order_within_warp(checker, thread, rank) &&
         !cpu_order_in_block(checker, other->stamp, thread);
}

static bool has_written_beside(const lane *it, uintptr_t address) {
  return it->wrote_several || (it->wrote && it->wrote != address);
}

/* A finding, one for what a warp does between two synchronisations, or a doubt. False: only a doubt. */
static bool note(cpu_checker *checker, lane *reader, uintptr_t address, cpu_party read, cpu_party write) {
  mw_check_bits *told = &checker->lanes->told[read.rank / MW_CUDA_WARP];
  reader->doubt.address = address, reader->doubt.read = read, reader->doubt.write = write;
  if (!has_written_beside(reader, address)) return false;
  const bool again = *told && !((*told ^ reader->stamp) >> MW_CELL_WARP_EPOCH);
  *told = reader->stamp;
  if (!again) cpu_finding_note(checker, CPU_FINDING_WARP, address, &read, &write, "");
  return true;
}

static void keep_read(word *to, const use *read) {
  if (to->reads[0].party.rank != read->party.rank) to->reads[1] = to->reads[0];
  to->reads[0] = *read;
}

static void keep_write(cpu_checker *checker, lane *mine, word *to, const use *write) {
  to->write = *write;
  mine->wrote_several |= mine->wrote && mine->wrote != to->address;
  mine->wrote = to->address;
  if (mine->doubt.address) note(checker, mine, mine->doubt.address, mine->doubt.read, mine->doubt.write);
}

bool cpu_lanes_access(cpu_checker *checker, uintptr_t address, const mw_thread *thread, const cpu_party *party) {
  if (!checker->lanes) checker->lanes = mw_calloc(1, sizeof *checker->lanes);
  if (cpu_order_is_flag(checker, address)) return false;
  word *it = word_of(checker, address);
  lane *mine = lane_of(checker, thread, thread->rank);
  const use now = {thread->stamp, *party};
  bool too_late = false;
  if (!party->write) {
    if (is_unordered(checker, thread, &it->write)) note(checker, mine, address, *party, it->write.party);
    keep_read(it, &now);
    return false;
  }
  for (int i = 0; i < READERS; i++) {
    const use *read = &it->reads[i];
    if (is_unordered(checker, thread, read))
      too_late |= note(checker, lane_of(checker, thread, read->party.rank), address, read->party, *party);
  }
  keep_write(checker, mine, it, &now);
  return too_late;
}
