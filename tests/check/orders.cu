// SPDX-License-Identifier: MIT
//
// Pairs of kernels: the first is wrong, and one order of its threads does not show it; the second is legal. Each counts
// what went wrong in errors[0], unless it hangs.

#include <cooperative_groups.h>

// ---- a ring whose slots are used again too early: the producer is one item ahead of what the ring holds ----

enum { SLOTS = 4, ITEMS = 24 };

__device__ void ring(int *slots, unsigned *made, unsigned *taken, int *errors, unsigned ahead) {
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < ITEMS; i++) {
      while (i - atomicAdd(taken, 0) >= ahead) {}
      __threadfence();
      atomicExch(&slots[i % SLOTS], (int)i);
      __threadfence();
      atomicAdd(made, 1);
    }
  if (threadIdx.x == 32)
    for (unsigned i = 0; i < ITEMS; i++) {
      while (atomicAdd(made, 0) <= i) {}
      __threadfence();
      if (atomicAdd(&slots[i % SLOTS], 0) != (int)i) errors[0]++;
      __threadfence();
      atomicAdd(taken, 1);
    }
}

__global__ void ring_too_early(int *slots, unsigned *made, unsigned *taken, int *errors) {
  ring(slots, made, taken, errors, SLOTS + 1);
}
__global__ void ring_in_time(int *slots, unsigned *made, unsigned *taken, int *errors) {
  ring(slots, made, taken, errors, SLOTS);
}

// ---- a stack of free nodes, of which two threads get the same one: ABA; the legal one counts its changes ----

enum { NODE = 0xff, NONE = 0xff, STEP = 0x100 };

__device__ unsigned pop(unsigned *head, unsigned *next, unsigned step) {
  unsigned top = atomicAdd(head, 0);
  while ((top & NODE) != NONE) {
    const unsigned after = atomicAdd(&next[top & NODE], 0);
    const unsigned seen = atomicCAS(head, top, ((top & ~NODE) + step) | after);
    if (seen == top) break;
    top = seen;
  }
  return top & NODE;
}

__device__ void push(unsigned *head, unsigned *next, unsigned step, unsigned node) {
  unsigned top = atomicAdd(head, 0);
  for (;;) {
    atomicExch(&next[node], top & NODE);
    const unsigned seen = atomicCAS(head, top, ((top & ~NODE) + step) | node);
    if (seen == top) return;
    top = seen;
  }
}

__device__ unsigned take(unsigned *head, unsigned *next, unsigned step, int *owners) {
  const unsigned node = pop(head, next, step);
  if (node != NONE) atomicAdd(&owners[node], 1);
  return node;
}

__device__ void give(unsigned *head, unsigned *next, unsigned step, int *owners, unsigned node) {
  if (node == NONE) return;
  atomicSub(&owners[node], 1);
  push(head, next, step, node);
}

__device__ void use(int *owners, int *errors, unsigned node) {
  for (int k = 0; node != NONE && k < 8; k++)
    if (atomicAdd(&owners[node], 0) != 1) atomicAdd(errors, 1);
}

__device__ void use_nodes(unsigned *head, unsigned *next, unsigned step, int *owners, int *errors) {
  for (int round = 0; round < 4; round++) {
    const unsigned first = take(head, next, step, owners), second = take(head, next, step, owners);
    give(head, next, step, owners, first);
    use(owners, errors, second);
    give(head, next, step, owners, second);
  }
}

__global__ void stack_with_aba(unsigned *head, unsigned *next, int *owners, int *errors) {
  use_nodes(head, next, 0, owners, errors);
}
__global__ void stack_with_count(unsigned *head, unsigned *next, int *owners, int *errors) {
  use_nodes(head, next, STEP, owners, errors);
}

// ---- a scan by look-back whose blocks tell of their sums before these are there ----

enum { EMPTY, SUM, TOTAL };

__device__ void publish(int *state, int *value, int what, int number, bool early) {
  if (early) atomicExch(state, what);
  atomicExch(value, number);
  __threadfence();
  if (!early) atomicExch(state, what);
}

__device__ void look_back(int *states, int *sums, int *totals, int *errors, bool early) {
  if (threadIdx.x) return;
  const int b = blockIdx.x, own = b + 1;
  publish(&states[b], &sums[b], SUM, own, early);
  int total = own;
  for (int k = b - 1; k >= 0; k--) {
    int state;
    while ((state = atomicAdd(&states[k], 0)) == EMPTY) {}
    __threadfence();
    total += atomicAdd(state == TOTAL ? &totals[k] : &sums[k], 0);
    if (state == TOTAL) break;
  }
  publish(&states[b], &totals[b], TOTAL, total, early);
  if (total != (b + 1) * (b + 2) / 2) atomicAdd(errors, 1);
}

__global__ void flag_before_value(int *states, int *sums, int *totals, int *errors) {
  look_back(states, sums, totals, errors, true);
}
__global__ void flag_after_value(int *states, int *sums, int *totals, int *errors) {
  look_back(states, sums, totals, errors, false);
}

// ---- a wake-up that is lost: who sleeps looks whether there is work before it says that it sleeps ----

__device__ void work(int *ready, int *asleep, int *woken) {
  atomicExch(ready, 1);
  __threadfence();
  if (atomicAdd(asleep, 0)) atomicExch(woken, 1);
}

__global__ void wake_up_lost(int *ready, int *asleep, int *woken, int *errors) {
  if (threadIdx.x)
    work(ready, asleep, woken);
  else if (atomicAdd(ready, 0) == 0) {
    atomicExch(asleep, 1);
    while (atomicAdd(woken, 0) == 0) {}
  }
}
__global__ void wake_up(int *ready, int *asleep, int *woken, int *errors) {
  if (threadIdx.x)
    work(ready, asleep, woken);
  else {
    atomicExch(asleep, 1);
    __threadfence();
    while (atomicAdd(ready, 0) == 0 && atomicAdd(woken, 0) == 0) {}
  }
}

// ---- an addition in two steps ----

__global__ void sum_in_two_steps(int *sum, int *unused, int *count, int *errors) {
  atomicExch(sum, atomicAdd(sum, 0) + 1);
  __threadfence();
  if (atomicAdd(count, 1) == (int)(gridDim.x * blockDim.x) - 1) errors[0] = atomicAdd(sum, 0) != count[0];
}
__global__ void sum_in_one_step(int *sum, int *unused, int *count, int *errors) {
  atomicAdd(sum, 1);
  __threadfence();
  if (atomicAdd(count, 1) == (int)(gridDim.x * blockDim.x) - 1) {
    __threadfence();
    errors[0] = atomicAdd(sum, 0) != atomicAdd(count, 0);
  }
}

// ---- what orders are ----

__global__ void tickets(int *count, int *places) {
  places[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}
__global__ void says(int *count) {
  if (atomicAdd(count, 1) == 0) printf("said\n");
}
__global__ void meets(int *a, int skip) {
  if (threadIdx.x == 0) a[blockIdx.x] = 1;
  if (blockIdx.x != skip) cooperative_groups::this_grid().sync();
  atomicAdd(&a[(blockIdx.x + 1) % gridDim.x], 1);
}
