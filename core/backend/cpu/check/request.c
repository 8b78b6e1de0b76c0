/* SPDX-License-Identifier: MIT
 *
 * What one request of a warp costs. Global memory moves in aligned sectors of 32 bytes. Shared memory has 32 banks of 4
 * bytes: in a pass (wavefront) each bank serves one word, to any number of lanes. Requests of 8 bytes per lane go by
 * half warps, of 16 by quarters; two neighbours of these go together if lanes i and i xor 1, or lanes i and i xor 2,
 * want the same wherever both are active (CUDA C++ programming guide, "Shared memory" of compute capability 3.x; the
 * rest is known from measurements). */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { SECTOR = 32, BANKS = 32, WORD = 4 };

/* Whether all lanes take part, each so many bytes after the one before. Most requests are such rows, or broadcasts. */
static bool is_row(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP], unsigned bytes) {
  uint64_t differs = 0;
  if (lanes != ~0u) return false;
  for (unsigned i = 0; i < MW_CUDA_WARP; i++) differs |= addresses[i] ^ (addresses[0] + (uint64_t)i * bytes);
  return !differs;
}

static bool is_ascending(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP]) {
  bool falls = lanes != ~0u;
  for (unsigned i = 1; i < MW_CUDA_WARP && lanes == ~0u; i++) falls |= addresses[i] < addresses[i - 1];
  return !falls;
}

/* The addresses of the lanes that take part, in order: there already, or put into room. */
static const uint64_t *sorted(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP], uint64_t room[MW_CUDA_WARP]) {
  unsigned count = 0;
  if (is_ascending(lanes, addresses)) return addresses;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const uint64_t address = addresses[__builtin_ctz(rest)];
    unsigned at = count++;
    for (; at && room[at - 1] > address; at--) room[at] = room[at - 1];
    room[at] = address;
  }
  return room;
}

/* Each lane's bytes begin at a multiple of their number: those of two lanes are the same or apart. */
cpu_moved cpu_request_moved(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP], unsigned bytes) {
  uint64_t room[MW_CUDA_WARP];
  const uint64_t *at = sorted(lanes, addresses, room);
  const unsigned count = (unsigned)__builtin_popcount(lanes);
  cpu_moved moved = {1, bytes};
  for (unsigned i = 1; i < count; i++) {
    moved.sectors += at[i] / SECTOR != at[i - 1] / SECTOR;
    moved.bytes += at[i] != at[i - 1] ? bytes : 0;
  }
  return moved;
}

cpu_contention cpu_request_contention(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP]) {
  uint64_t room[MW_CUDA_WARP];
  const uint64_t *at = sorted(lanes, addresses, room);
  const unsigned count = (unsigned)__builtin_popcount(lanes);
  cpu_contention found = {0};
  for (unsigned i = 0, same = 0; i < count; i++) {
    same = i && at[i] == at[i - 1] ? same + 1 : 1;
    found.addresses += same == 1;
    if (same > found.most) found.most = same;
  }
  return found;
}

/* The most distinct words in one bank. */
static unsigned passes(const uint64_t addresses[MW_CUDA_WARP], uint32_t lanes, unsigned bytes) {
  uint64_t wanted[MW_CUDA_WARP * 4];
  unsigned count = 0, most = 0;
  unsigned char by_bank[BANKS] = {0};
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const uint64_t address = addresses[__builtin_ctz(rest)];
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
static bool are_pairs(const uint64_t addresses[MW_CUDA_WARP], uint32_t lanes, unsigned differs) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(rest), other = lane ^ differs;
    if (lanes >> other & 1 && addresses[lane] != addresses[other]) return false;
  }
  return true;
}

/* Lanes of one group, or of two that may go together. */
static void add_passes(const uint64_t addresses[MW_CUDA_WARP], uint32_t lanes, uint32_t group, unsigned bytes,
                       cpu_wavefronts *out) {
  const uint32_t low = lanes & group, high = lanes & ~group;
  if (low && high && !are_pairs(addresses, lanes, 1) && !are_pairs(addresses, lanes, 2)) {
    add_passes(addresses, low, low, bytes, out);
    add_passes(addresses, high, high, bytes, out);
  } else if (lanes) {
    const unsigned count = passes(addresses, lanes, bytes);
    out->all += count;
    out->conflicts += count - 1;
  }
}

cpu_wavefronts cpu_request_wavefronts(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP], unsigned bytes) {
  const uint32_t half = 0xffff, quarter = 0xff;
  cpu_wavefronts found = {0};
  if (is_row(lanes, addresses, 0))
    found.all = 1;
  else if (bytes >= WORD && is_row(lanes, addresses, bytes) && !(addresses[0] & (bytes - 1)))
    found.all = bytes / WORD;
  else if (bytes <= 4)
    add_passes(addresses, lanes, ~0u, bytes, &found);
  else if (bytes == 8)
    add_passes(addresses, lanes, half, bytes, &found);
  else {
    add_passes(addresses, lanes & half, quarter, bytes, &found);
    add_passes(addresses, lanes & ~half, quarter << MW_CUDA_WARP / 2, bytes, &found);
  }
  return found;
}
