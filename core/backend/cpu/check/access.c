/* SPDX-License-Identifier: MIT
 *
 * An access against the cells of its words: is memory there, does it hold a value, and is the last access of another
 * thread ordered before it? Called for what the hooks could not settle by themselves, and for atomics and volatile
 * accesses. In doubt an access is right: a finding is always a fault. */
#include "core/backend/cpu/check/check.h"

#include <stdio.h>
#include <string.h>

typedef struct access { /* that is judged */
  cpu_checker *checker;
  const mw_thread *thread;
  cpu_party party;
  bool reads;              /* what is there already */
  bool whole;              /* and all of it counts: it has no bytes between members */
  bool partly;             /* some of it was written, some not */
  uintptr_t address, word; /* word: of its words the one that is judged */
  unsigned site;
} access_t;

enum { RANK_BITS = 0x3ff, BLOCK_BITS = (1 << (MW_CELL_LAUNCH - MW_CELL_BLOCK)) - 1 };

static unsigned rank_of(mw_check_bits bits) {
  return bits >> MW_CELL_RANK & RANK_BITS;
}

static bool same_warp(mw_check_bits differs) {
  return !(differs >> MW_CELL_EPOCH) && !(rank_of(differs) >> 5);
}

/* ---- is the other access ordered before this one? -------------------------------------------------------------- */

static bool is_plain_read(const access_t *a) {
  return !a->party.write && a->party.how == MW_ACCESS_PLAIN;
}

static bool is_ordered(const access_t *a, mw_check_bits other) {
  const mw_check_bits mine = a->thread->stamp, differs = other ^ mine;
  if (differs >> MW_CELL_LAUNCH) return true; /* an earlier launch, or none */
  if (differs >> MW_CELL_BLOCK)
    return cpu_order_blocks(a->checker, other, a->thread, is_plain_read(a) ? CPU_RELY_ON_SETTLED : CPU_RELY_ON_ALL);
  if (differs >> MW_CELL_EPOCH || !rank_of(differs)) return true;
  if (same_warp(differs) &&
      (differs >> MW_CELL_WARP_EPOCH || cpu_order_within_warp(a->checker, a->thread, rank_of(other))))
    return true;
  return cpu_order_in_block(a->checker, other, a->thread);
}

/* Where several have read, the cell knows one of them. */
static bool readers_ordered(const access_t *a, mw_check_bits read) {
  const mw_check_bits differs = read ^ a->thread->stamp;
  const unsigned level = read >> MW_CELL_KIND & 3;
  if (differs >> MW_CELL_LAUNCH) return true;
  if (level == MW_READ_ALONE) return is_ordered(a, read);
  if (level == MW_READ_BY_GRID) return cpu_order_any(a->checker, a->thread);
  if (differs >> MW_CELL_BLOCK) return is_ordered(a, read);
  if (differs >> MW_CELL_EPOCH) return true;
  return level == MW_READ_BY_WARP && same_warp(differs) &&
         (differs >> MW_CELL_WARP_EPOCH || cpu_order_any_lane(a->checker, a->thread));
}

/* Of an access that is ordered: a plain read of what another block has published, without a fence after the atomic
 * operation that saw it. */
static bool lacks_fence(const access_t *a, mw_check_bits write) {
  const mw_check_bits differs = write ^ a->thread->stamp;
  return is_plain_read(a) && !(differs >> MW_CELL_LAUNCH) && differs >> MW_CELL_BLOCK &&
         !cpu_order_blocks(a->checker, write, a->thread, CPU_RELY_ON_FENCED);
}

/* ---- findings -------------------------------------------------------------------------------------------------- */

/* The other access of a cell, as far as the cell says. */
static cpu_party other_party(const access_t *a, mw_check_bits bits, bool write) {
  const unsigned block = (unsigned)(bits >> MW_CELL_BLOCK) & BLOCK_BITS;
  const unsigned long long here = a->thread->worker->block;
  const mw_check_site *site = &a->checker->sites[bits >> MW_CELL_SITE & (MW_CHECK_SITES - 1)];
  return (cpu_party){
      .known = true,
      .block_known = a->checker->grid->blocks <= BLOCK_BITS + 1ull || block == (here & BLOCK_BITS),
      .block = block == (here & BLOCK_BITS) ? here : block,
      .rank = rank_of(bits),
      .write = write || site->writes,
      .how = write ? (enum mw_access)(bits >> MW_CELL_KIND & 3) : MW_ACCESS_PLAIN,
      .bytes = (unsigned)__builtin_popcountll(bits >> MW_CELL_MASK & 15),
      .place = bits >> MW_CELL_SITE & (MW_CHECK_SITES - 1) ? site->place : NULL,
  };
}

bool cpu_is_shared(const cpu_grid *grid, const mw_worker *worker, uintptr_t address) {
  const mw_shared_layout *fixed = grid->table->shared;
  return address - (uintptr_t)worker->dynamic_shared < grid->abi.dynamic_shared ||
         (fixed && address - (uintptr_t)worker->static_shared < fixed->bytes);
}

static bool is_shared(const access_t *a, uintptr_t address) {
  return cpu_is_shared(a->checker->grid, a->thread->worker, address);
}

static cpu_finding_kind race_kind(const access_t *a, uintptr_t address) {
  return is_shared(a, address) ? CPU_FINDING_RACE_SHARED : CPU_FINDING_RACE_GLOBAL;
}

/* What the access is about to write is known when it has written. */
static void doubt(const access_t *a, cpu_noted *noted, uintptr_t address, mw_check_bits write) {
  cpu_doubt *it = &a->checker->doubt;
  if (it->open || a->party.bytes > sizeof it->before) return;
  *it = (cpu_doubt){
      true, noted, race_kind(a, address), a->address, a->party.bytes, "", {a->party, other_party(a, write, true)}};
  memcpy(it->before, (const void *)a->address, a->party.bytes);
}

static void note_race(const access_t *a, uintptr_t address, mw_check_bits other, bool other_writes) {
  cpu_party second = other_party(a, other, other_writes);
  const bool itself = second.rank == a->party.rank && second.block == a->party.block;
  if (itself) second.known = false; /* it has read as well; who else did is not kept */
  const char *remark = itself && (other >> MW_CELL_KIND & 3) == MW_READ_BY_GRID ? "read by several blocks"
                       : itself                                                 ? "read by several threads"
                                                                                : "";
  cpu_finding_note(a->checker, race_kind(a, address), address, &a->party, &second, remark);
  const bool one_word = (a->address & 3) + a->party.bytes <= 4; /* of more words some may lie outside */
  if (a->party.write && other_writes && one_word)
    doubt(a, a->checker->fault, address, other);
  else
    a->checker->fault->changed = true;
}

/* ---- a read that comes too early ------------------------------------------------------------------------------- */

static cpu_early *early_of(const access_t *a, uintptr_t word) {
  return &a->checker->early[word / 4 % CPU_EARLY];
}

/* Which of a word's bytes are accessed. */
static unsigned mask_of(const access_t *a, uintptr_t word) {
  const uintptr_t end = a->address + a->party.bytes;
  unsigned mask = 15;
  if (word < a->address) mask &= 15u << (a->address - word);
  if (word + 4 > end) mask &= 15u >> (word + 4 - end);
  return mask;
}

/* "bytes 4 to 7 of the 8 were never written": the first ones, where others were. */
static void name_unwritten(const access_t *a, uintptr_t from, char *out, size_t size) {
  unsigned first = a->party.bytes, end = 0;
  for (unsigned i = 0; i < a->party.bytes; i++) {
    const uintptr_t at = a->address + i;
    const mw_cell *cell = cpu_shadow_cell(&a->checker->shadow, at);
    if (!cell || cell->read >> (at & 3) & 1) continue;
    if (at < from || (end && end != i)) continue;
    if (first > i) first = i;
    end = i + 1;
  }
  *out = '\0';
  if (!a->partly) return;
  if (first + 1 == end)
    snprintf(out, size, "byte %u of the %u was never written", first, a->party.bytes);
  else
    snprintf(out, size, "bytes %u to %u of the %u were never written", first, end - 1, a->party.bytes);
}

static void note_early(const access_t *a, uintptr_t word, uintptr_t address) {
  char remark[64];
  cpu_party copy;
  if (cpu_flight_find(a->checker, address, &copy)) {
    cpu_finding_note(a->checker, race_kind(a, address), address, &a->party, &copy, cpu_in_flight);
    return;
  }
  if (a->checker->sampled && !is_shared(a, address)) return;
  name_unwritten(a, address, remark, sizeof remark);
  cpu_finding_note(a->checker, CPU_FINDING_UNINITIALISED, address, &a->party, NULL, remark);
  *early_of(a, word) = (cpu_early){word, a->thread->stamp, a->checker->fault};
}

/* The write of a race is what the read should have found. */
static void explain_early(const access_t *a, uintptr_t address) {
  cpu_early *early = early_of(a, address & ~(uintptr_t)3);
  if (!a->party.write || early->word != (address & ~(uintptr_t)3) || is_ordered(a, early->reader)) return;
  early->noted->explained++;
  early->word = 0;
}

/* ---- a word ---------------------------------------------------------------------------------------------------- */

static bool overlaps(mw_check_bits bits, unsigned mask) {
  return bits >> MW_CELL_MASK & mask;
}

static enum mw_access how_of(mw_check_bits write) {
  return (enum mw_access)(write >> MW_CELL_KIND & 3);
}

/* Two atomic operations are no race with each other, if both see the block of the other. */
static bool are_atomic(const access_t *a, mw_check_bits write) {
  const enum mw_access mine = a->party.how, other = how_of(write);
  if (mine == MW_ACCESS_PLAIN || other == MW_ACCESS_PLAIN) return false;
  return (mine != MW_ACCESS_BLOCK && other != MW_ACCESS_BLOCK) || !((write ^ a->thread->stamp) >> MW_CELL_BLOCK);
}

/* Two volatile accesses, or one and an atomic operation, not ordered. Of a flag they are right: of a word that a thread
 * waits for, and where all write the same. A read of data is a race where the two blocks have met at another place, by
 * a fence that does not reach. */
static void judge_volatile(const access_t *a, uintptr_t address, mw_check_bits write) {
  cpu_checker *checker = a->checker;
  const bool mine = a->party.how == MW_ACCESS_VOLATILE, other = how_of(write) == MW_ACCESS_VOLATILE;
  if (!mine && !other) return;
  if (a->party.write) {
    if (is_ordered(a, write) || cpu_order_is_flag(checker, a->address)) return;
    doubt(a, NULL, address, write);
  } else if (mine && other && (write ^ a->thread->stamp) >> MW_CELL_BLOCK && !is_ordered(a, write) &&
             !cpu_order_is_flag(checker, a->address) && cpu_order_have_met(checker, write, a->thread, a->address))
    note_race(a, address, write, true);
}

/* Against a write of some of the bytes. False: a race. */
static bool judge_write(const access_t *a, uintptr_t address, mw_check_bits write) {
  if (are_atomic(a, write)) {
    judge_volatile(a, address, write);
  } else if (!is_ordered(a, write)) {
    note_race(a, address, write, true);
    explain_early(a, address);
    return false;
  } else if (lacks_fence(a, write)) {
    const cpu_party writer = other_party(a, write, true);
    cpu_finding_note(a->checker, CPU_FINDING_FENCE, address, &a->party, &writer, "");
  }
  return true;
}

static void judge_race(const access_t *a, uintptr_t address, const mw_cell *cell, unsigned mask) {
  const unsigned others =
      mask & ~(unsigned)(cell->write >> MW_CELL_MASK); /* bytes that the last writer has not written */
  mw_check_bits part = others ? cpu_parts_find(a->checker, a->word, others) : 0;
  if ((part ^ a->thread->stamp) >> MW_CELL_BLOCK && is_shared(a, address)) part = 0; /* of a block before this one */
  if (overlaps(cell->write, mask) && !judge_write(a, address, cell->write)) return;
  if (part && !judge_write(a, address, part)) return;
  if (a->party.write && overlaps(cell->read, mask) && !readers_ordered(a, cell->read)) {
    note_race(a, address, cell->read, false);
    explain_early(a, address);
  }
}

/* Atomic operations of others may be ordered after this one of theirs, and not after the plain write before it. A read
 * that came after that write says as much. */
static void keep_plain_write(const access_t *a, mw_cell *cell, unsigned mask) {
  const mw_check_bits write = cell->write, differs = write ^ cell->read;
  const bool later = !(differs >> MW_CELL_BLOCK) && cell->read >> MW_CELL_WARP_EPOCH > write >> MW_CELL_WARP_EPOCH;
  if (a->party.how == MW_ACCESS_PLAIN || how_of(write) != MW_ACCESS_PLAIN || !overlaps(write, mask) ||
      (write ^ a->thread->stamp) >> MW_CELL_LAUNCH || later)
    return;
  cell->read = (write & ~(15ull | 3ull << MW_CELL_KIND)) | (cell->read & 15);
}

/* A plain write counts on where the same thread continues with atomic ones: with those of others both are a race. */
static void keep_write(const access_t *a, mw_cell *cell, unsigned mask) {
  const mw_check_bits same = (cell->write ^ a->thread->stamp) >> MW_CELL_FENCES ? 0 : cell->write & 15 << MW_CELL_MASK;
  const bool plain = same && (cell->write >> MW_CELL_KIND & 3) == MW_ACCESS_PLAIN;
  if (!same) keep_plain_write(a, cell, mask);
  if (!same && !((cell->write ^ a->thread->stamp) >> MW_CELL_LAUNCH))
    cpu_parts_keep(a->checker, a->word, cell->write, mask);
  const mw_check_bits site = plain && a->party.how != MW_ACCESS_PLAIN
                                 ? cell->write & (mw_check_bits)(MW_CHECK_SITES - 1) << MW_CELL_SITE
                                 : (mw_check_bits)a->site << MW_CELL_SITE;
  cell->write = a->thread->stamp | site | (mw_check_bits)mask << MW_CELL_MASK | same |
                (mw_check_bits)(plain ? MW_ACCESS_PLAIN : a->party.how) << MW_CELL_KIND | (cell->write & 15);
  cell->read |= mask;
}

static void keep_read(const access_t *a, mw_cell *cell, unsigned mask) {
  const mw_check_bits fresh = a->thread->stamp | (mw_check_bits)a->site << MW_CELL_SITE |
                              (mw_check_bits)mask << MW_CELL_MASK | (cell->read & 15);
  const mw_check_bits differs = cell->read ^ a->thread->stamp;
  if (a->party.how != MW_ACCESS_PLAIN) return; /* only a plain read is in the way of a later write */
  const mw_check_bits by_both = cell->read & (mw_check_bits)mask << MW_CELL_MASK;
  if (differs >> MW_CELL_LAUNCH || !by_both || readers_ordered(a, cell->read)) {
    cell->read = fresh; /* who has read which other byte is not kept */
    return;
  }
  const mw_check_bits level = differs >> MW_CELL_BLOCK ? MW_READ_BY_GRID
                              : rank_of(differs) >> 5  ? MW_READ_BY_BLOCK
                                                       : MW_READ_BY_WARP;
  const mw_check_bits before = cell->read >> MW_CELL_KIND & 3, others = 3ull << MW_CELL_KIND | 15ull << MW_CELL_MASK;
  cell->read = (cell->read & ~others) | (before < level ? level : before) << MW_CELL_KIND | by_both;
}

/* A word of a local variable, with bytes outside of it or without a value. Only a condition asks a single variable for
 * its value. */
static bool judge_local(const access_t *a, mw_cell *cell, uintptr_t word, unsigned mask) {
  const bool is_outside = mask & ~cell->write;
  const uintptr_t at = word + (uintptr_t)__builtin_ctzll(mask & ~(is_outside ? cell->write : cell->read));
  const mw_local *it = cpu_local_at(a->thread, at);
  if (!it || (it->kind != MW_LOCAL_ARRAY && !(is_outside && it->kind == MW_LOCAL_SET)) ||
      is_outside == (at - it->at < it->bytes))
    return true;
  const mw_object object = cpu_local_object(it, at);
  cpu_finding_tell(a->checker, is_outside ? CPU_FINDING_INDEX : CPU_FINDING_UNINITIALISED, &a->party, NULL, &object);
  if (!is_outside) cell->read |= mask; /* told once */
  return true;
}

/* False: memory is not there, and the access ends the launch. */
static bool judge_word(const access_t *a, mw_cell *cell, uintptr_t word, unsigned mask) {
  const uintptr_t address = word < a->address ? a->address : word;
  if (!cell || !((cell->write | cell->read) & 15)) return true;
  if ((mask & ~cell->write || (a->reads && mask & ~cell->read)) && cpu_is_on_stack(address))
    return judge_local(a, cell, word, mask);
  if (mask & ~cell->write) {
    cpu_finding_note(a->checker, CPU_FINDING_BOUNDS, address, &a->party, NULL, "");
    return false;
  }
  if (a->reads && mask & ~cell->read) {
    note_early(a, word, word + (uintptr_t)__builtin_ctzll(mask & ~cell->read));
    cell->read |= mask; /* told once */
  }
  judge_race(a, address, cell, mask);
  if (a->party.write)
    keep_write(a, cell, mask);
  else
    keep_read(a, cell, mask);
  return true;
}

/* ---- what the hooks call --------------------------------------------------------------------------------------- */

static access_t access_of(const void *address, unsigned bytes, bool write, enum mw_access how, const void *place,
                          unsigned site) {
  cpu_checker *checker = cpu_checker_now();
  const mw_thread *thread = cpu_checker_thread();
  return (access_t){checker,
                    thread,
                    {.known = true,
                     .block_known = true,
                     .block = thread->worker->block,
                     .rank = thread->rank,
                     .write = write,
                     .how = how,
                     .bytes = bytes,
                     .place = place},
                    !write,
                    false,
                    false,
                    (uintptr_t)address,
                    0,
                    site};
}

static bool finds_a_value(const access_t *a) {
  for (uintptr_t word = a->address & ~(uintptr_t)3; word < a->address + a->party.bytes; word += 4) {
    const mw_cell *cell = cpu_shadow_cell(&a->checker->shadow, word);
    if (cell && mask_of(a, word) & cell->read) return true;
  }
  return false;
}

static void judge(access_t *a) {
  a->partly = a->reads && finds_a_value(a);
  if (a->partly && !a->whole) a->reads = false;
  for (uintptr_t word = a->address & ~(uintptr_t)3; word < a->address + a->party.bytes; word += 4) {
    mw_cell *cell = cpu_shadow_cell(&a->checker->shadow, word);
    a->word = word;
    if (!judge_word(a, cell, word, mask_of(a, word))) cpu_finding_leave(a->checker);
  }
}

/* Those who wait look whether memory changes. */
static void note_write(const access_t *a) {
  cpu_interleave *interleave = a->checker->grid->interleave;
  const mw_cell *cell = cpu_shadow_cell(&a->checker->shadow, a->address);
  if (interleave && a->party.write && cell && cell->write & 15)
    cpu_preempt_written(interleave, (const void *)a->address, a->party.bytes);
}

void cpu_check_access(const void *address, unsigned bytes, int what, enum mw_access how, const void *place,
                      unsigned site) {
  cpu_turn_preempt();
  access_t a = access_of(address, bytes, what == MW_WRITE, how, place, site);
  a.whole = what == MW_READ_VALUE;
  cpu_current->busy++; /* not to be ended in the middle of an update */
  cpu_finding_settle(a.checker);
  judge(&a);
  note_write(&a);
  cpu_current->busy--;
}

/* For remedies: what the block knows of others by other means than barriers. */
static void note_meeting(const access_t *a) {
  const mw_cell *cell = cpu_shadow_cell(&a->checker->shadow, a->address);
  const mw_check_bits differs = cell ? cell->write ^ a->thread->stamp : 0;
  if (differs >> MW_CELL_LAUNCH || !(differs >> MW_CELL_RANK) || how_of(cell->write) == MW_ACCESS_PLAIN) return;
  cpu_worker *worker = cpu_current;
  worker->met_block |= differs >> MW_CELL_BLOCK != 0;
  worker->met_flag |= cpu_order_is_flag(a->checker, a->address);
}

void cpu_check_atomic(const void *address, unsigned bytes, int read, int write, enum mw_access how, const void *place,
                      unsigned site) {
  cpu_checker_now()->sites->place = cpu_checker_now()->waits_at = place;
  access_t a = access_of(address, bytes, write, how, place, site);
  a.reads = read;
  cpu_current->busy++;
  cpu_finding_settle(a.checker);
  const bool meets = how != MW_ACCESS_PLAIN; /* else it is atomic to its own thread only */
  if (read && meets) note_meeting(&a);
  if (read && meets) cpu_order_acquire(a.checker, a.address, a.thread, how == MW_ACCESS_VOLATILE);
  judge(&a);
  if (how == MW_ACCESS_VOLATILE && cpu_lanes_access(a.checker, a.address, a.thread, &a.party))
    explain_early(&a, a.address);
  if (write && meets) cpu_order_release(a.checker, a.address, a.thread, read == MW_READ_SWAP);
  note_write(&a);
  cpu_current->busy--;
}

void cpu_check_fence(int block_only) {
  cpu_turn_preempt();
  cpu_order_fence(cpu_checker_now(), cpu_checker_thread(), block_only);
}

static const char *const operators[] = {
    [MW_RULE_ADD] = "+", [MW_RULE_SUB] = "-", [MW_RULE_MUL] = "*", [MW_RULE_DIVREM] = "/", [MW_RULE_NEGATE] = "-"};

/* 'const struct float4', 'float [8]' by g++: 'const float4', 'float[8]'. The compilers quote the name. */
static void name_type(const char *type, char *out, size_t size) {
  size_t length = 0;
  for (const char *at = type; *at && length + 1 < size;) {
    if (strncmp(at, "struct ", 7) == 0)
      at += 7;
    else if (strncmp(at, " [", 2) == 0)
      at++;
    else
      out[length++] = *at++;
  }
  out[length] = 0;
}

static void name_rule(int what, long long value, long long other, const char *quoted, char *out, size_t size) {
  char type[128];
  name_type(quoted, type, sizeof type);
  if (what == MW_RULE_INDEX)
    snprintf(out, size, "index %lld of %s", value, type);
  else if (what == MW_RULE_OBJECT)
    snprintf(out, size, "%s beyond the end of its variable", type);
  else if (what == MW_RULE_ALIGNMENT)
    snprintf(out, size, "%s at an address that is no multiple of %lld", type, other);
  else
    snprintf(out, size, "%lld %s %lld of %s", value, operators[what], other, type);
}

void cpu_check_rule(int what, const char *file, unsigned line, long long value, long long other, const char *type) {
  const mw_thread *thread = cpu_checker_thread();
  const bool is_index = what == MW_RULE_INDEX;
  const cpu_finding_kind kind = is_index || what == MW_RULE_OBJECT ? CPU_FINDING_INDEX
                                : what == MW_RULE_ALIGNMENT        ? CPU_FINDING_MISALIGNED
                                                                   : CPU_FINDING_OVERFLOW;
  const cpu_party party = {.known = true,
                           .block_known = true,
                           .block = thread->worker->block,
                           .rank = thread->rank,
                           .verb = kind == CPU_FINDING_OVERFLOW ? "compute" : "access",
                           .file = file,
                           .line = line};
  mw_object object = {.kind = is_index ? "static array" : NULL, .indexed = is_index, .index = value};
  name_rule(what, value, other, type, object.text, sizeof object.text);
  cpu_finding_tell(cpu_checker_now(), kind, &party, NULL, &object);
}
