/* SPDX-License-Identifier: MIT
 *
 * Other CPU devices: the list of all that are open, and those of a family, which reach each other's memory. */
#include "core/backend/cpu/objects.h"

cpu_device *cpu_open_devices;

void cpu_peer_enter(cpu_device *device) {
  device->next = cpu_open_devices;
  cpu_open_devices = device;
}

void cpu_peer_leave(const cpu_device *device) {
  cpu_device **at = &cpu_open_devices;
  while (*at != device) at = &(*at)->next;
  *at = device->next;
}

void cpu_peer_id(char *id, size_t size, bool check, int part, int parts) {
  snprintf(id, size, "cpu:%s%d/%d", check ? "check:" : "", part % CPU_MOST_PARTS, parts % (CPU_MOST_PARTS + 1));
}

bool cpu_peer(mw_device *base, int index, mw_peer *out) {
  const cpu_device *device = (const cpu_device *)base;
  const int parts = device->family->parts;
  if (index >= parts - 1) return false;
  *out = (mw_peer){.access = true, .atomics = true};
  cpu_peer_id(out->id, sizeof out->id, device->checker, index + (index >= device->part), parts);
  return true;
}

bool cpu_reaches(mw_device *device, mw_device *other) {
  return ((cpu_device *)device)->family == ((cpu_device *)other)->family;
}
