/* SPDX-License-Identifier: MIT
 *
 * What one request of a warp costs. Global memory moves in aligned sectors of 32 bytes. Shared memory has 32 banks of 4
 * bytes: in a pass (wavefront) each bank serves one word, to any number of lanes. Requests of 8 bytes a lane go by half
 * warps, of 16 by quarters; two neighbours of these go together if lanes i and i xor 1, or lanes i and i xor 2, want the
 * same wherever both are active (CUDA C++ programming guide, "Shared memory" of compute capability 3.x; the rest is known
 * from measurements). */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { SECTOR = 32, BANKS = 32, WORD = 4 };

/* The addresses of the lanes that take part, in order. Most requests have them so. */
static unsigned sorted(const mw_request *request, uint64_t out[CPU_WARP]) {
  unsigned count = 0;
  for (uint32_t rest = request->lanes; rest; rest &= rest - 1) {
    const uint64_t address = request->addresses[__builtin_ctz(rest)];
    unsigned at = count++;
    for (; at && out[at - 1] > address; at--) out[at] = out[at - 1];
    out[at] = address;
  }
  return count;
}

cpu_moved cpu_request_moved(const mw_request *request, unsigned bytes) {
  uint64_t at[CPU_WARP], end = 0, sector = 0; /* before both all is counted */
  const unsigned count = sorted(request, at);
  cpu_moved moved = {0};
  for (unsigned i = 0; i < count; i++) {
    const uint64_t from = at[i] > end ? at[i] : end, first = at[i] / SECTOR, last = (at[i] + bytes - 1) / SECTOR;
    end = at[i] + bytes > end ? at[i] + bytes : end;
    moved.bytes += end - from;
    if (last < sector) continue;
    moved.sectors += last + 1 - (first > sector ? first : sector);
    sector = last + 1;
  }
  return moved;
}

cpu_contention cpu_request_contention(const mw_request *request) {
  uint64_t at[CPU_WARP];
  const unsigned count = sorted(request, at);
  cpu_contention found = {0};
  for (unsigned i = 0, same = 0; i < count; i++) {
    same = i && at[i] == at[i - 1] ? same + 1 : 1;
    found.addresses += same == 1;
    if (same > found.most) found.most = same;
  }
  return found;
}

/* The most distinct words in one bank. */
static unsigned passes(const mw_request *request, uint32_t lanes, unsigned bytes) {
  uint64_t wanted[CPU_WARP * 4];
  unsigned count = 0, most = 0;
  unsigned char by_bank[BANKS] = {0};
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const uint64_t address = request->addresses[__builtin_ctz(rest)];
    for (uint64_t word = address / WORD; word <= (address + bytes - 1) / WORD; word++) {
      unsigned at = by_bank[word % BANKS] ? count : 0;
      while (at && wanted[at - 1] != word) at--;
      if (at) continue;
      wanted[count++] = word;
      if (++by_bank[word % BANKS] > most) most = by_bank[word % BANKS];
    }
  }
  return most;
}

/* Whether lanes want the same as those whose number differs in one bit, wherever both are among them. */
static bool are_pairs(const mw_request *request, uint32_t lanes, unsigned differs) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(rest), other = lane ^ differs;
    if (lanes >> other & 1 && request->addresses[lane] != request->addresses[other]) return false;
  }
  return true;
}

/* Lanes of one group, or of two that may go together. */
static void add_passes(const mw_request *request, uint32_t lanes, uint32_t group, unsigned bytes, cpu_wavefronts *out) {
  const uint32_t low = lanes & group, high = lanes & ~group;
  if (low && high && !are_pairs(request, lanes, 1) && !are_pairs(request, lanes, 2)) {
    add_passes(request, low, low, bytes, out);
    add_passes(request, high, high, bytes, out);
  } else if (lanes) {
    const unsigned count = passes(request, lanes, bytes);
    out->all += count;
    out->conflicts += count - 1;
  }
}

cpu_wavefronts cpu_request_wavefronts(const mw_request *request, unsigned bytes) {
  const uint32_t lanes = request->lanes, half = 0xffff, quarter = 0xff;
  cpu_wavefronts found = {0};
  if (bytes <= 4)
    add_passes(request, lanes, ~0u, bytes, &found);
  else if (bytes == 8)
    add_passes(request, lanes, half, bytes, &found);
  else {
    add_passes(request, lanes & half, quarter, bytes, &found);
    add_passes(request, lanes & ~half, quarter << CPU_WARP / 2, bytes, &found);
  }
  return found;
}
