/* SPDX-License-Identifier: MIT
 *
 * What atomics and fences order. A thread that has fenced publishes, by its next atomic or volatile write, what its
 * block did before the fence; a thread that reads the place by an atomic or volatile access sees it from then on, and
 * its block from its next barrier on. So:
 *
 *   block 0:  partial[0] = sum;  __threadfence();  atomicAdd(&count, 1);
 *   block 1:  if (atomicAdd(&count, 1) == 1) total = partial[0] + ...;         ordered: no race
 *
 * A thread that takes a lock by atomicCAS and gives it back by another operation fences twice: after the one, before the
 * other. What is done between is in order then; else its release orders nothing.
 *
 * A thread that has read a flag by a volatile access fences before it reads, by a plain access, what the flag
 * announces; a barrier or a synchronisation of its warp will do as well. By the letter of the model they do not, and a read
 * by an atomic operation needs the fence, too: that is asked for apart.
 *
 * Blocks are known by the bits that cells keep of them; the latest release of a block at a place stands for all of
 * them. Both err to the side of "ordered". */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { BLOCK_BITS = (1 << (MW_CELL_LAUNCH - MW_CELL_BLOCK)) - 1, EPOCH_BITS = MW_CHECK_EPOCHS - 1, DEEP = 4 };
enum { MOST_FENCES = (1 << (MW_CELL_RANK - MW_CELL_FENCES)) - 1 }; /* that are counted */

typedef struct seen { /* of a place, so many of its releases */
  struct place *place;
  unsigned count;
  unsigned rank, epoch; /* who has seen it, and when */
  bool by_several;
  unsigned at;              /* so many fences of the device had the block made */
  unsigned settled, fenced; /* so many of the releases before it fenced or met others; before somebody fenced */
  mw_check_bits stamp;      /* of the thread, without its fences; 0: all are settled */
} seen;

typedef struct seen_list {
  seen *at;
  unsigned count;
} seen_list;

typedef struct release { /* of a block at a place */
  unsigned block, turn;  /* index of the block to release there */
  unsigned epoch, rank;
  unsigned fences; /* of the thread in that epoch, when it fenced last */
  bool by_several;
  bool within_block; /* after fences of the block only */
  bool unfenced;     /* of a lock, with a fence missing */
  seen_list before;  /* what the block had seen at other places */
} release_t;

typedef struct place {
  uintptr_t address;
  release_t *table; /* by block, open addressing; turn 0: free */
  unsigned room, count;
  bool passes_on; /* some release has seen another place */
  bool is_flag;   /* a thread waits for it */
} place;

typedef struct taken { /* the place of a thread's last swap, and its fences since */
  uintptr_t place;
  unsigned epoch, fences, device_fences;
} taken;

typedef struct state { /* of the block that a worker runs */
  cpu_worker *worker;
  uint16_t fenced[MW_CUDA_WARP * CPU_WARPS];   /* by thread: 1 + the epoch of its last fence; 0: none */
  bool fenced_block[MW_CUDA_WARP * CPU_WARPS]; /* that was one of the block only */
  taken taken[MW_CUDA_WARP * CPU_WARPS];
  bool waits[MW_CUDA_WARP * CPU_WARPS];         /* by thread: what it reads next is a flag */
  uint8_t fences[MW_CUDA_WARP * CPU_WARPS];     /* the thread's count after it */
  unsigned device_fences;                       /* of all its threads */
  unsigned fenced_at[MW_CUDA_WARP * CPU_WARPS]; /* by thread: which of them was its last */
  seen_list acquired;
  uint32_t met[CPU_WARPS][MW_CUDA_WARP]; /* lanes that a lane has met in the warp's epoch */
  bool any_fence, any_met;
  struct { /* the epoch of the latest fence, and whether several threads have fenced in it */
    unsigned epoch, rank;
    bool by_several;
  } last;
} state;

struct cpu_order {
  state **states;
  unsigned nstates;
  place **places; /* by address, open addressing */
  unsigned room, count;
};

/* ---- lists ----------------------------------------------------------------------------------------------------- */

static state *state_of(cpu_checker *checker, const cpu_worker *worker) {
  if (!checker->order) checker->order = mw_calloc(1, sizeof *checker->order);
  struct cpu_order *order = checker->order;
  for (unsigned i = 0; i < order->nstates; i++)
    if (order->states[i]->worker == worker) return order->states[i];
  order->states = mw_grow(order->states, order->nstates, sizeof *order->states);
  state *made = order->states[order->nstates++] = mw_calloc(1, sizeof *made);
  made->worker = (cpu_worker *)(uintptr_t)worker;
  return made;
}

static state *state_now(cpu_checker *checker) {
  return state_of(checker, cpu_current);
}

static unsigned slot_of(uint64_t key, unsigned room) {
  return (unsigned)(key * 0x9E3779B97F4A7C15ull >> 32) & (room - 1);
}

static place **find_place(struct cpu_order *order, uintptr_t address) {
  unsigned slot = slot_of(address >> 2, order->room);
  while (order->places[slot] && order->places[slot]->address != address) slot = (slot + 1) & (order->room - 1);
  return &order->places[slot];
}

static void grow_places(struct cpu_order *order) {
  place **old = order->places;
  const unsigned room = order->room;
  order->room = room ? 2 * room : 64;
  order->places = mw_calloc(order->room, sizeof *order->places);
  for (unsigned i = 0; i < room; i++)
    if (old[i]) *find_place(order, old[i]->address) = old[i];
  mw_free(old);
}

/* make: else NULL if none. */
static place *place_at(cpu_checker *checker, uintptr_t address, bool make) {
  if (!checker->order) checker->order = mw_calloc(1, sizeof *checker->order);
  struct cpu_order *order = checker->order;
  if (order->count * 2 >= order->room) grow_places(order);
  place **found = find_place(order, address);
  if (*found || !make) return *found;
  *found = mw_calloc(1, sizeof **found);
  (*found)->address = address;
  order->count++;
  return *found;
}

static release_t *release_slot(const place *p, unsigned block) {
  unsigned slot = slot_of(block, p->room);
  while (p->table[slot].turn && p->table[slot].block != block) slot = (slot + 1) & (p->room - 1);
  return &p->table[slot];
}

static release_t *release_of(place *p, unsigned block) {
  if (p->count * 2 >= p->room) {
    release_t *old = p->table;
    const unsigned room = p->room;
    p->room = room ? 2 * room : 16;
    p->table = mw_calloc(p->room, sizeof *p->table);
    for (unsigned i = 0; i < room; i++)
      if (old[i].turn) *release_slot(p, old[i].block) = old[i];
    mw_free(old);
  }
  return release_slot(p, block);
}

static seen_list copy_list(const seen_list *from, const place *but) {
  seen_list copy = {0};
  for (unsigned i = 0; i < from->count; i++) {
    if (from->at[i].place == but) continue;
    copy.at = mw_grow(copy.at, copy.count, sizeof *copy.at);
    copy.at[copy.count++] = from->at[i];
  }
  return copy;
}

static void free_place(place *p) {
  if (!p) return;
  for (unsigned i = 0; i < p->room; i++) mw_free(p->table[i].before.at);
  mw_free(p->table);
  mw_free(p);
}

/* ---- lanes ----------------------------------------------------------------------------------------------------- */

void cpu_order_lanes(cpu_block_fibers *fibers, unsigned w, uint32_t lanes) {
  state *now = state_of(fibers->grid->checker, fibers->worker);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) now->met[w][__builtin_ctz(rest)] |= lanes;
  for (unsigned lane = 0; lane < MW_CUDA_WARP; lane++) /* what these have met before, they pass on */
    if (now->met[w][lane] & lanes) now->met[w][lane] |= lanes;
  now->any_met = true;
}

void cpu_order_next_epoch(cpu_checker *checker, cpu_worker *worker) {
  if (!checker->order) return;
  state *now = state_of(checker, worker);
  if (now->any_met) memset(now->met, 0, sizeof now->met);
  now->any_met = false;
}

bool cpu_order_within_warp(cpu_checker *checker, const mw_thread *thread, unsigned other) {
  return checker->order &&
         state_now(checker)->met[thread->rank / MW_CUDA_WARP][other % MW_CUDA_WARP] >> thread->rank % MW_CUDA_WARP & 1;
}

bool cpu_order_any_lane(cpu_checker *checker, const mw_thread *thread) {
  return checker->order && state_now(checker)->met[thread->rank / MW_CUDA_WARP][thread->rank % MW_CUDA_WARP];
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

void cpu_order_begin_block(cpu_checker *checker, cpu_worker *worker) {
  if (!checker->order) return;
  state *now = state_of(checker, worker);
  cpu_order_next_epoch(checker, worker);
  if (now->any_fence) memset(now->fenced, 0, sizeof now->fenced);
  now->any_fence = false;
  memset(now->taken, 0, sizeof now->taken);
  memset(now->waits, 0, sizeof now->waits);
  now->acquired.count = 0;
}

void cpu_order_end_launch(cpu_checker *checker) {
  struct cpu_order *order = checker->order;
  if (!order) return;
  for (unsigned i = 0; i < order->room; i++) free_place(order->places[i]);
  for (unsigned i = 0; i < order->nstates; i++) {
    mw_free(order->states[i]->acquired.at);
    mw_free(order->states[i]);
  }
  mw_free(order->states);
  mw_free(order->places);
  mw_free(order);
  checker->order = NULL;
}

static void fold_release(place *p, unsigned block) {
  release_t *r = p && p->room ? release_slot(p, block) : NULL;
  if (!r || !r->turn) return;
  r->epoch = 0;
  r->by_several = true; /* it stands for all before */
}

void cpu_order_fold(cpu_checker *checker, cpu_worker *worker) {
  struct cpu_order *order = checker->order;
  if (!order) return;
  state *now = state_of(checker, worker);
  for (unsigned i = 0; i < order->room; i++) fold_release(order->places[i], worker->ctx.block & BLOCK_BITS);
  for (unsigned i = 0; i < now->acquired.count; i++) now->acquired.at[i].epoch = now->acquired.at[i].stamp = 0;
  for (unsigned i = 0; i < MW_CUDA_WARP * CPU_WARPS; i++) {
    now->fenced[i] = now->fenced[i] != 0;
    now->fences[i] = MOST_FENCES; /* it is no longer known what came after them */
    now->taken[i].epoch = 0;
  }
  now->last.epoch = 0;
}

static unsigned fences_of(mw_check_bits stamp) {
  return stamp >> MW_CELL_FENCES & MOST_FENCES;
}

static unsigned epoch_of(const mw_thread *thread) {
  return thread->stamp >> MW_CELL_EPOCH & EPOCH_BITS;
}

/* What the thread does from now on is told by its stamp from what it did before the fence. */
static unsigned count_fence(mw_thread *thread) {
  const unsigned count = fences_of(thread->stamp);
  if (count < MOST_FENCES) thread->stamp += 1ull << MW_CELL_FENCES;
  return fences_of(thread->stamp);
}

void cpu_order_fence(cpu_checker *checker, mw_thread *thread, bool block_only) {
  state *now = state_now(checker);
  const unsigned epoch = epoch_of(thread);
  now->taken[thread->rank].fences++;
  now->taken[thread->rank].device_fences += !block_only;
  if (!block_only) now->fenced_at[thread->rank] = ++now->device_fences;
  if (block_only && now->fenced[thread->rank] && !now->fenced_block[thread->rank]) return; /* adds nothing to it */
  const bool again = now->any_fence && now->last.epoch == epoch;
  now->last.by_several = again && (now->last.by_several || now->last.rank != thread->rank);
  now->last.epoch = epoch;
  now->last.rank = thread->rank;
  now->fenced_block[thread->rank] = block_only;
  now->fenced[thread->rank] = (uint16_t)(1 + epoch);
  now->fences[thread->rank] = (uint8_t)count_fence(thread);
  now->any_fence = true;
}

/* How many fences are missing about a lock that the thread gives back; none where it is no lock, or where a barrier lies
 * between. */
static void fences_missing(taken *lock, uintptr_t address, unsigned epoch, bool *device, bool *block) {
  const bool is_lock = lock->place == address && lock->epoch == epoch;
  *device = is_lock && lock->device_fences < 2;
  *block = is_lock && lock->fences < 2;
  if (is_lock) lock->place = 0;
}

static void release(cpu_checker *checker, state *now, uintptr_t address, const mw_thread *thread, bool no_device,
                    bool no_block) {
  const unsigned block = (unsigned)(thread->stamp >> MW_CELL_BLOCK) & BLOCK_BITS;
  place *p = place_at(checker, address, true);
  release_t *r = release_of(p, block);
  const bool again = r->turn;
  const unsigned epoch = now->fenced[thread->rank] - 1u; /* of the fences: a barrier after them joins them */
  const bool joined = now->last.by_several && now->last.epoch == epoch && epoch != epoch_of(thread);
  mw_free(r->before.at);
  *r = (release_t){.block = block,
                   .turn = again ? r->turn : ++p->count,
                   .epoch = epoch,
                   .rank = thread->rank,
                   .fences = now->fences[thread->rank],
                   .by_several = joined || (again && (r->by_several || r->rank != thread->rank)),
                   .within_block = no_device || (now->fenced_block[thread->rank] && (!again || r->within_block)),
                   .unfenced = no_block,
                   .before = copy_list(&now->acquired, p)};
  p->passes_on |= r->before.count > 0;
}

void cpu_order_release(cpu_checker *checker, uintptr_t address, const mw_thread *thread, bool swaps) {
  state *now = checker->order || swaps ? state_now(checker) : NULL;
  if (!now) return;
  bool no_device = false, no_block = false;
  taken *lock = &now->taken[thread->rank];
  if (!swaps) fences_missing(lock, address, epoch_of(thread), &no_device, &no_block);
  if (now->fenced[thread->rank]) release(checker, now, address, thread, no_device, no_block);
  if (swaps) *lock = (taken){address, epoch_of(thread), 0, 0};
}

void cpu_order_wait(cpu_checker *checker, const mw_thread *thread) {
  state_now(checker)->waits[thread->rank] = true;
}

bool cpu_order_has_lock(cpu_checker *checker, const mw_thread *thread) {
  if (!checker->order) return false;
  const taken *lock = &state_now(checker)->taken[thread->rank];
  return lock->place && lock->epoch == epoch_of(thread);
}

bool cpu_order_is_flag(cpu_checker *checker, uintptr_t address) {
  const place *p = checker->order ? place_at(checker, address, false) : NULL;
  return p && p->is_flag;
}

/* How many of the releases that it has seen a thread may rely on where it reads by plain accesses: a barrier settles them
 * as well as a fence. */
static unsigned settled_of(const state *now, const seen *s, const mw_thread *thread) {
  const bool fresh =
      s->rank == thread->rank && s->stamp == thread->stamp >> MW_CELL_WARP_EPOCH && now->fenced_at[s->rank] <= s->at;
  return fresh && !s->by_several ? s->settled : s->count;
}

/* The same by the letter of the memory model: only a fence, by who has read the place or by the thread itself. */
static unsigned fenced_of(const state *now, const seen *s, const mw_thread *thread) {
  return now->fenced_at[s->rank] > s->at || now->fenced_at[thread->rank] > s->at ? s->count : s->fenced;
}

void cpu_order_acquire(cpu_checker *checker, uintptr_t address, const mw_thread *thread, bool by_volatile) {
  state *now = checker->order ? state_now(checker) : NULL;
  if (!now) return;
  place *p = place_at(checker, address, now->waits[thread->rank]);
  if (now->waits[thread->rank]) p->is_flag = true;
  now->waits[thread->rank] = false;
  if (!p || !p->count) return;
  seen_list *list = &now->acquired;
  const unsigned epoch = epoch_of(thread);
  unsigned i = 0;
  while (i < list->count && list->at[i].place != p) i++;
  const bool known = i < list->count;
  if (!known) {
    list->at = mw_grow(list->at, list->count, sizeof *list->at);
    list->count++;
  }
  const bool several = known && (list->at[i].by_several || list->at[i].rank != thread->rank);
  list->at[i] = (seen){.place = p,
                       .count = p->count,
                       .rank = thread->rank,
                       .epoch = epoch,
                       .by_several = several,
                       .settled = known ? settled_of(now, &list->at[i], thread) : 0,
                       .fenced = known ? fenced_of(now, &list->at[i], thread) : 0,
                       .at = now->device_fences,
                       .stamp = by_volatile ? thread->stamp >> MW_CELL_WARP_EPOCH : 0};
}

/* By the thread itself, or by one of its warp; by its block from the next barrier on. */
static bool is_visible(const seen *s, const mw_thread *thread) {
  return s->by_several || s->rank / MW_CUDA_WARP == thread->rank / MW_CUDA_WARP || s->epoch != epoch_of(thread);
}

/* What the releasing thread did itself, it did before its last fence. */
static bool covers(const release_t *r, mw_check_bits other) {
  const unsigned epoch = other >> MW_CELL_EPOCH & EPOCH_BITS, rank = other >> MW_CELL_RANK & 0x3ff;
  if (r->epoch != epoch) return r->epoch > epoch;
  if (r->by_several) return true;
  if (r->rank == rank) return fences_of(other) < r->fences || r->fences == MOST_FENCES;
  return r->rank / MW_CUDA_WARP == rank / MW_CUDA_WARP;
}

/* within: so far only the block itself, whose bits these are, had to see it; -1: others do. */
static bool is_published(const seen *s, mw_check_bits other, int within, int depth) {
  const place *p = s->place;
  const release_t *r = release_slot(p, (unsigned)(other >> MW_CELL_BLOCK) & BLOCK_BITS);
  const bool reaches = !r->within_block || (int)r->block == within;
  if (r->turn && r->turn <= s->count && reaches && covers(r, other)) return true;
  if (!p->passes_on) return false;
  if (depth == DEEP) return true;
  for (unsigned i = 0; i < p->room; i++) {
    const release_t *by = &p->table[i];
    if (!by->turn || by->turn > s->count || (by->within_block && (int)by->block != within)) continue;
    for (unsigned k = 0; k < by->before.count; k++)
      if (is_published(&by->before.at[k], other, (int)by->block, depth + 1)) return true;
  }
  return false;
}

bool cpu_order_blocks(cpu_checker *checker, mw_check_bits other, const mw_thread *thread, cpu_reliance reliance) {
  if (!checker->order) return false;
  const state *now = state_now(checker);
  for (unsigned i = 0; i < now->acquired.count; i++) {
    seen s = now->acquired.at[i];
    if (reliance != CPU_RELY_ON_ALL)
      s.count = reliance == CPU_RELY_ON_SETTLED ? settled_of(now, &s, thread) : fenced_of(now, &s, thread);
    if (is_visible(&s, thread) && is_published(&s, other, -1, 0)) return true;
  }
  return false;
}

/* Whether one thread stands for the other: itself, and to another warp any of its own. */
static bool stands_for(unsigned rank, unsigned other, bool same_warp) {
  return same_warp ? rank == other : rank / MW_CUDA_WARP == other / MW_CUDA_WARP;
}

bool cpu_order_in_block(cpu_checker *checker, mw_check_bits other, const mw_thread *thread) {
  if (!checker->order) return false;
  const seen_list *list = &state_now(checker)->acquired;
  const unsigned block = (unsigned)(other >> MW_CELL_BLOCK) & BLOCK_BITS, rank = other >> MW_CELL_RANK & 0x3ff;
  const bool same_warp = rank / MW_CUDA_WARP == thread->rank / MW_CUDA_WARP;
  for (unsigned i = 0; i < list->count; i++) {
    const seen *s = &list->at[i];
    const release_t *r = release_slot(s->place, block);
    if (r->turn && r->turn <= s->count && !r->unfenced &&
        (s->by_several || stands_for(s->rank, thread->rank, same_warp)) &&
        (r->by_several || stands_for(r->rank, rank, same_warp)))
      return true;
  }
  return false;
}

bool cpu_order_any(cpu_checker *checker, const mw_thread *thread) {
  if (!checker->order) return false;
  const seen_list *list = &state_now(checker)->acquired;
  for (unsigned i = 0; i < list->count; i++)
    if (is_visible(&list->at[i], thread)) return true;
  return false;
}

bool cpu_order_have_met(cpu_checker *checker, mw_check_bits other, const mw_thread *thread, uintptr_t but) {
  if (!checker->order) return false;
  const seen_list *list = &state_now(checker)->acquired;
  for (unsigned i = 0; i < list->count; i++) {
    const seen *s = &list->at[i];
    if (s->place->address == but) return false; /* it is one of those by which they meet */
    const release_t *r = release_slot(s->place, (unsigned)(other >> MW_CELL_BLOCK) & BLOCK_BITS);
    if (is_visible(s, thread) && r->turn && r->turn <= s->count) return true;
  }
  return false;
}
