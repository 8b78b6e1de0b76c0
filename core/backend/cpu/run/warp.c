/* SPDX-License-Identifier: MIT
 *
 * Warp operations: the lanes a mask names meet, then each gets its result. Groups of one warp with different masks are
 * independent of each other (CUDA since Volta). What a source lane outside the group gives is undefined in CUDA; here
 * it is 0, as on an H200. Shuffle arithmetic follows PTX ISA, "shfl.sync". */
#include "core/backend/cpu/run/machine.h"

#include <stdio.h>

static uint64_t significant(const mw_warp_request *request) {
  return request->bytes >= 8 ? request->value : request->value & ((1ull << 8 * request->bytes) - 1);
}

/* ---- what a lane gets ------------------------------------------------------------------------------------------ */

/* Of the part of `width` lanes that the reader is in; its own lane where the source would lie next to it. */
static int source_lane(const mw_warp_request *request, int lane) {
  const int first = lane & ~(request->width - 1), last = first | (request->width - 1), distance = request->arg & 31;
  const bool up = request->op == MW_WARP_SHFL_UP, down = request->op == MW_WARP_SHFL_DOWN;
  if (request->op == MW_WARP_SHFL) return first | (request->arg & (request->width - 1));
  const int source = up ? lane - distance : down ? lane + distance : lane ^ distance;
  return (up ? source < first : source > last) ? lane : source;
}

static uint64_t shuffle(const cpu_warp *warp, uint32_t members, int lane) {
  const mw_warp_request *own = warp->lanes[lane].request;
  int source = source_lane(own, lane);
  return members >> source & 1 ? warp->lanes[source].request->value : 0;
}

static uint32_t equal_lanes(const cpu_warp *warp, uint32_t members, uint64_t value) {
  uint32_t equal = 0;
  for (uint32_t rest = members; rest; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctz(rest);
    if (significant(warp->lanes[i].request) == value) equal |= 1u << i;
  }
  return equal;
}

static uint32_t ballot(const cpu_warp *warp, uint32_t members) {
  return members & ~equal_lanes(warp, members, 0);
}

static uint32_t combine(enum mw_warp_op op, uint32_t a, uint32_t b) {
  switch (op) {
  case MW_WARP_ADD:
    return a + b;
  case MW_WARP_MIN:
    return (int32_t)a < (int32_t)b ? a : b;
  case MW_WARP_MAX:
    return (int32_t)a > (int32_t)b ? a : b;
  case MW_WARP_UMIN:
    return a < b ? a : b;
  case MW_WARP_UMAX:
    return a > b ? a : b;
  case MW_WARP_AND:
    return a & b;
  case MW_WARP_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

static uint32_t reduce(const cpu_warp *warp, uint32_t members) {
  const mw_warp_request *first = warp->lanes[__builtin_ctz(members)].request;
  uint32_t value = (uint32_t)first->value;
  for (uint32_t rest = members & (members - 1); rest; rest &= rest - 1)
    value = combine(first->op, value, (uint32_t)warp->lanes[__builtin_ctz(rest)].request->value);
  return value;
}

static uint32_t match_all(const cpu_warp *warp, uint32_t members) {
  uint64_t value = significant(warp->lanes[__builtin_ctz(members)].request);
  bool all = equal_lanes(warp, members, value) == members;
  for (uint32_t rest = members; rest; rest &= rest - 1) {
    int *predicate = warp->lanes[__builtin_ctz(rest)].request->predicate;
    if (predicate) *predicate = all;
  }
  return all ? members : 0;
}

static uint64_t common_result(const cpu_warp *warp, uint32_t members, enum mw_warp_op op) {
  switch (op) {
  case MW_WARP_SYNC:
    return 0;
  case MW_WARP_BALLOT:
    return ballot(warp, members);
  case MW_WARP_ALL:
    return ballot(warp, members) == members;
  case MW_WARP_ANY:
    return ballot(warp, members) != 0;
  case MW_WARP_MATCH_ALL:
    return match_all(warp, members);
  default:
    return reduce(warp, members);
  }
}

static bool is_shuffle(enum mw_warp_op op) {
  return op >= MW_WARP_SHFL && op <= MW_WARP_SHFL_XOR;
}

static void give_results(cpu_warp *warp, uint32_t members) {
  const enum mw_warp_op op = warp->lanes[__builtin_ctz(members)].request->op;
  const bool apart = is_shuffle(op) || op == MW_WARP_MATCH_ANY;
  const uint64_t common = apart ? 0 : common_result(warp, members, op);
  for (uint32_t rest = members; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    cpu_lane *lane = &warp->lanes[i];
    lane->result = !apart           ? common
                   : is_shuffle(op) ? shuffle(warp, members, i)
                                    : equal_lanes(warp, members, significant(lane->request));
  }
}

/* ---- groups of lanes --------------------------------------------------------------------------------------------- */

static cpu_group *group_for(cpu_warp *warp, uint32_t mask) {
  for (unsigned i = 0; i < warp->ngroups; i++)
    if (warp->groups[i].mask == mask) return &warp->groups[i];
  cpu_group *group = &warp->groups[warp->ngroups++];
  *group = (cpu_group){.mask = mask};
  return group;
}

/* Lanes that have exited, or that the block does not have, are not waited for. */
static bool complete(const cpu_warp *warp, const cpu_group *group) {
  return group->arrived == (group->mask & cpu_warp_lanes(warp));
}

/* ---- breaches of rules, in check mode -------------------------------------------------------------------------- */

__attribute__((format(printf, 5, 6))) static void tell(cpu_block_fibers *fibers, const cpu_lane *lane,
                                                       const cpu_lane *other, const char *const verbs[2],
                                                       const char *format, ...) {
  char text[160];
  va_list args;
  if (!fibers->grid->observer) return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const cpu_breach breach = {.mask = true, .lanes = {lane, other}, .verbs = {verbs[0], verbs[1]}, .text = text};
  fibers->grid->observer->breach(fibers, &breach);
}

/* Legal since Volta. */
static void tell_exited(cpu_block_fibers *fibers, const cpu_warp *warp, const cpu_group *group) {
  const int waits = __builtin_ctz(group->arrived), exited = __builtin_ctz(group->mask & warp->exited);
  tell(fibers, &warp->lanes[waits], &warp->lanes[exited], (const char *[2]){"wait", "exit"},
       "%s with mask 0x%08x, of which lane %d has exited", warp->lanes[waits].request->what, group->mask, exited);
}

/* Of a lane that does not take part a shuffle gives an undefined value. */
static void tell_sources(cpu_block_fibers *fibers, const cpu_warp *warp, uint32_t members) {
  for (uint32_t rest = members; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest), source = source_lane(warp->lanes[lane].request, lane);
    if (members >> source & 1) continue;
    const bool exited = warp->exited >> source & 1;
    tell(fibers, &warp->lanes[lane], exited ? &warp->lanes[source] : NULL, (const char *[2]){"read", "exit"},
         "%s reads lane %d, which does not take part", warp->lanes[lane].request->what, source);
  }
}

static void look_at(cpu_block_fibers *fibers, const cpu_warp *warp, const cpu_group *group) {
  if (is_shuffle(warp->lanes[__builtin_ctz(group->arrived)].request->op)) tell_sources(fibers, warp, group->arrived);
  if (fibers->grid->strict && group->mask & warp->exited) tell_exited(fibers, warp, group);
}

/* ---- meeting --------------------------------------------------------------------------------------------------- */

static void release(cpu_block_fibers *fibers, unsigned w, cpu_group *group) {
  cpu_warp *warp = &fibers->warps[w];
  const uint32_t members = group->arrived;
  const bool orders = warp->lanes[__builtin_ctz(members)].request->op == MW_WARP_SYNC; /* others are no fences */
  if (fibers->grid->observer) look_at(fibers, warp, group);
  give_results(warp, members);
  for (uint32_t rest = members; rest; rest &= rest - 1) warp->lanes[__builtin_ctz(rest)].request = NULL;
  if (fibers->grid->observer) fibers->grid->observer->warp(fibers, w, members, orders);
  warp->at_warp &= ~members;
  cpu_fibers_wake(fibers, w, members);
  *group = warp->groups[--warp->ngroups];
}

void cpu_warp_settle(cpu_block_fibers *fibers, unsigned w) {
  cpu_warp *warp = &fibers->warps[w];
  for (unsigned i = warp->ngroups; i-- > 0;)
    if (complete(warp, &warp->groups[i])) release(fibers, w, &warp->groups[i]);
}

static const char *const calls[2] = {"call", "wait"};

static void check(cpu_block_fibers *fibers, const cpu_lane *own, const mw_warp_request *request, unsigned lane) {
  if (!(request->mask >> lane & 1)) {
    tell(fibers, own, NULL, calls, "%s with mask 0x%08x, which does not name the calling lane", request->what,
         request->mask);
    cpu_fibers_abandon(fibers, "%s at %s:%d: mask 0x%08x does not name the calling lane %u", request->what,
                       request->file, request->line, request->mask, lane);
  }
  if (!is_shuffle(request->op)) return;
  if (request->width < 1 || request->width > 32 || request->width & (request->width - 1)) {
    const cpu_breach breach = {.mask = true,
                               .lanes = {own},
                               .verbs = {"call"},
                               .text = "a width that is no power of two from 1 to 32",
                               .remedy = "give a power of two from 1 to 32"};
    if (fibers->grid->observer) fibers->grid->observer->breach(fibers, &breach);
    cpu_fibers_abandon(fibers, "%s at %s:%d: width is %d, wanted a power of two from 1 to 32", request->what,
                       request->file, request->line, request->width);
  }
}

static void check_company(cpu_block_fibers *fibers, const cpu_warp *warp, const cpu_group *group, const cpu_lane *lane,
                          const mw_warp_request *own) {
  if (!group->arrived) return;
  const cpu_lane *first = &warp->lanes[__builtin_ctz(group->arrived)];
  const mw_warp_request *other = first->request;
  if (other->op == own->op) return;
  tell(fibers, lane, first, calls, "%s and %s of one warp", own->what, other->what);
  cpu_fibers_abandon(fibers, "lanes of one warp meet in different operations: %s at %s:%d and %s at %s:%d", other->what,
                     other->file, other->line, own->what, own->file, own->line);
}

unsigned long long cpu_warp_meet(cpu_block_fibers *fibers, const mw_warp_request *request) {
  const unsigned w = fibers->current / MW_CUDA_WARP, i = fibers->current % MW_CUDA_WARP;
  cpu_warp *warp = &fibers->warps[w];
  cpu_lane *lane = cpu_fibers_stop(fibers, offsetof(cpu_warp, at_warp), request->what, request->file, request->line);
  check(fibers, lane, request, i);
  cpu_group *group = group_for(warp, request->mask);
  check_company(fibers, warp, group, lane, request);
  lane->request = request;
  group->arrived |= 1u << i;
  if (complete(warp, group)) {
    release(fibers, w, group);
    cpu_fibers_go_on(fibers, w);
  } else {
    cpu_fibers_wait(fibers);
  }
  return lane->result;
}
