/* SPDX-License-Identifier: MIT
 *
 * A launch in check mode in several orders, each from the memory before the launch: first without preemption, then by
 * seeds. Findings and errors of any order count. What an order has left is for the script to judge: so, where some leave
 * other values than the first one, the most unusual of them is run again at the end, and the script continues with
 * that. Not unusual are the same values at other places, as atomicAdd hands them out, and floats added in
 * another order. */
#include "core/backend/cpu/objects.h"

#include <stdio.h>
#include <string.h>

typedef struct left {     /* of a region by an order */
  uint64_t exact, values; /* a hash of its bytes; the same of rounded values at any places */
} left;

struct cpu_orders {
  cpu_device *device;
  cpu_state *state;
  char *before;
  unsigned char *with_values; /* before the launch: which bytes hold one */
  uint64_t first, seed, last; /* of the first order by a seed, that runs, of the last one */
  uint64_t unusual;           /* 0: none */
  bool begun, again;
  size_t ran; /* orders that have ended */
  left *left; /* by order, by region */
};

/* ---- the memory ------------------------------------------------------------------------------------------------ */

cpu_orders *cpu_orders_begin(cpu_device *device, const char *kernel, mw_error *err) {
  const mw_check_mode *mode = cpu_checker_mode(device->checker);
  cpu_state *state = cpu_state_open(device);
  const size_t wanted = state->bytes + state->bytes / 4, available = cpu_probe_available_memory();
  if (wanted > available) {
    mw_fail(
        err, MW_NO_MEMORY,
        "kernel '%s': --check=schedule keeps a copy of all arrays, %zu bytes, and %zu are free: close arrays, or make "
        "them smaller",
        kernel, wanted, available);
    cpu_state_close(state);
    return NULL;
  }
  cpu_orders *orders = mw_calloc(1, sizeof *orders);
  *orders = (cpu_orders){
      .device = device, .state = state, .first = mode->seed, .last = mode->seed + mode->orders - 1, .seed = 0};
  orders->before = cpu_state_keep(state);
  orders->with_values = cpu_shadow_keep(cpu_checker_shadow(device->checker));
  orders->left = mw_calloc((mode->orders + 1) * (state->count + 1), sizeof *orders->left);
  return orders;
}

/* False: all have run, and what they have left is there. */
static bool next_seed(cpu_orders *orders) {
  if (orders->seed != orders->last) {
    orders->seed = orders->seed ? orders->seed + 1 : orders->first;
    return true;
  }
  if (orders->again || !orders->unusual || orders->unusual == orders->last) return false;
  orders->seed = orders->unusual;
  return orders->again = true;
}

bool cpu_orders_next(cpu_orders *orders) {
  const bool begins = !orders->begun;
  orders->begun = true;
  if (begins) return true;
  if (orders->again || !next_seed(orders)) return false;
  cpu_state_put(orders->state, orders->before);
  cpu_shadow_put(cpu_checker_shadow(orders->device->checker), orders->with_values);
  return true;
}

uint64_t cpu_orders_seed(const cpu_orders *orders) {
  return orders->seed;
}

static void name_seed(const cpu_orders *orders, mw_error *err) {
  const unsigned long long seed = orders->seed;
  const size_t used = strlen(err->text);
  snprintf(err->text + used, sizeof err->text - used,
           "; in the order of seed %llu, which --check=schedule:1,seed:%llu runs again", seed, seed);
}

mw_status cpu_orders_end(cpu_orders *orders, mw_status status, mw_error *err) {
  if (status == MW_FAULT && orders->seed) name_seed(orders, err);
  mw_free(orders->before);
  mw_free(orders->with_values);
  mw_free(orders->left);
  cpu_state_close(orders->state);
  mw_free(orders);
  return status;
}

/* ---- what an order has left ------------------------------------------------------------------------------------ */

/* Of floats those of about three digits, as sums in another order agree in them. */
static uint64_t rounded(mw_dtype dtype, const char *element) {
  enum { DROPPED = 13 };
  uint64_t bits = 0;
  if (!mw_dtype_is_float(dtype)) {
    memcpy(&bits, element, cpu_element_bytes(dtype));
    return bits;
  }
  const float number = (float)cpu_element_number(dtype, element);
  memcpy(&bits, &number, sizeof number);
  return (bits + (1 << (DROPPED - 1))) >> DROPPED;
}

static left left_of(const cpu_region *region) {
  const size_t width = cpu_element_bytes(region->dtype);
  left it = {0};
  for (size_t at = 0; at + width <= region->bytes; at += width) {
    uint64_t bits = 0;
    memcpy(&bits, region->at + at, width);
    it.exact = cpu_mixed(it.exact ^ bits);
    it.values += cpu_mixed(rounded(region->dtype, region->at + at));
  }
  return it;
}

static const left *left_by(const cpu_orders *orders, size_t order, size_t region) {
  return &orders->left[order * orders->state->count + region];
}

/* How many orders by seeds leave what this one leaves. */
static size_t alike(const cpu_orders *orders, size_t order, size_t region) {
  size_t count = 0;
  for (size_t other = 1; other < orders->ran; other++)
    count += left_by(orders, other, region)->values == left_by(orders, order, region)->values;
  return count;
}

/* The fewer leave the same, the more. */
static size_t unusual_by(const cpu_orders *orders, size_t order) {
  size_t sum = 0;
  for (size_t i = 0; i < orders->state->count; i++)
    if (left_by(orders, order, i)->values != left_by(orders, 0, i)->values)
      sum += orders->ran - alike(orders, order, i);
  return sum;
}

static void choose(cpu_orders *orders) {
  size_t most = 0;
  for (size_t order = 1; order < orders->ran; order++) {
    const size_t much = unusual_by(orders, order);
    if (much <= most) continue;
    most = much;
    orders->unusual = orders->first + order - 1;
  }
}

/* ---- telling --------------------------------------------------------------------------------------------------- */

/* An array as the parameter that it was given for, without its element: of all launches alike. */
static void tell_region(const cpu_orders *orders, const cpu_launched *at, const cpu_region *region) {
  const uintptr_t address = (uintptr_t)region->at;
  mw_object object = {0};
  if (!(region->variable ? cpu_locate_variable(region->variable, address, &object)
                         : cpu_locate_element(at, address, &object)))
    cpu_locate_array(at, address, &object);
  char *element = strstr(object.text, ", index");
  if (element) *element = '\0';
  cpu_checker_depends(orders->device->checker, &object, orders->unusual ? orders->unusual : orders->last);
}

static bool depends(const cpu_orders *orders, size_t region) {
  for (size_t order = 1; order < orders->ran; order++)
    if (left_by(orders, order, region)->exact != left_by(orders, 0, region)->exact) return true;
  return false;
}

void cpu_orders_look(cpu_orders *orders, const cpu_launched *at) {
  const cpu_state *state = orders->state;
  if (orders->again) return;
  for (size_t i = 0; i < state->count; i++) orders->left[orders->ran * state->count + i] = left_of(&state->regions[i]);
  orders->ran++;
  if (orders->seed != orders->last) return;
  choose(orders);
  for (size_t i = 0; i < state->count; i++)
    if (depends(orders, i)) tell_region(orders, at, &state->regions[i]);
}
