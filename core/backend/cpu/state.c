/* SPDX-License-Identifier: MIT
 *
 * What kernels can write: all arrays of the device, whatever their space, with the pages that they lie in, and the
 * variables of all modules. There is no heap in kernels: malloc does not compile here. */
#include "core/backend/cpu/objects.h"

#include <string.h>

static void add_region(cpu_state *state, const cpu_region *region) {
  state->regions = mw_grow(state->regions, state->count, sizeof *state->regions);
  state->regions[state->count++] = *region;
  state->bytes += region->room;
}

static void add_variable(void *owner, const mw_unit_variable *variable) {
  add_region(owner, &(cpu_region){.at = variable->address,
                                  .bytes = (size_t)variable->bytes,
                                  .from = variable->address,
                                  .room = (size_t)variable->bytes,
                                  .dtype = (mw_dtype)variable->dtype,
                                  .variable = variable});
}

cpu_state *cpu_state_open(cpu_device *device) {
  cpu_state *state = mw_calloc(1, sizeof *state);
  cpu_memory *memory = device->memory;
  pthread_mutex_lock(&memory->lock);
  for (size_t i = 0; i < memory->count; i++) {
    const cpu_buffer *array = memory->arrays[i];
    char *from;
    const size_t room = cpu_memory_pages(array, &from);
    add_region(
        state,
        &(cpu_region){
            .at = array->base.address, .bytes = array->base.bytes, .from = from, .room = room, .dtype = array->dtype});
  }
  pthread_mutex_unlock(&memory->lock);
  cpu_modules_variables(device, add_variable, state);
  return state;
}

void cpu_state_close(cpu_state *state) {
  if (!state) return;
  mw_free(state->regions);
  mw_free(state);
}

char *cpu_state_keep(const cpu_state *state) {
  char *kept = mw_malloc(state->bytes + 1), *to = kept;
  for (size_t i = 0; i < state->count; to += state->regions[i++].room)
    memcpy(to, state->regions[i].from, state->regions[i].room);
  return kept;
}

void cpu_state_put(const cpu_state *state, const char *kept) {
  for (size_t i = 0; i < state->count; kept += state->regions[i++].room)
    memcpy(state->regions[i].from, kept, state->regions[i].room);
}

void cpu_state_carry(const cpu_state *state, const cpu_twin *twin) {
  for (size_t i = 0; i < state->count; i++)
    if (!state->regions[i].variable) cpu_twin_carry(twin, state->regions[i].at, state->regions[i].bytes);
}
