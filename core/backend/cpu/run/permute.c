/* SPDX-License-Identifier: MIT
 *
 * Orders of numbers by a seed, without a list of them. */
#include "core/backend/cpu/run/machine.h"

enum { ROUNDS = 4 };

/* The finalizer of G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators" (2014). */
uint64_t cpu_mixed(uint64_t bits) {
  bits += 0x9E3779B97F4A7C15;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  return bits ^ bits >> 31;
}

/* A Feistel network permutes the numbers below a power of 4; those not below count are sent on, as in J. Black and
 * P. Rogaway, "Ciphers with arbitrary finite domains" (2002). */
unsigned long long cpu_permuted(uint64_t seed, unsigned long long count, unsigned long long place) {
  if (seed == CPU_REVERSED) return count - 1 - place;
  unsigned half = 1;
  while (half < 32 && (count - 1) >> 2 * half) half++;
  const uint64_t mask = ((uint64_t)1 << half) - 1;
  do {
    uint64_t left = place >> half, right = place & mask;
    for (uint64_t round = 0; round < ROUNDS; round++) {
      const uint64_t mixed = left ^ (cpu_mixed(seed ^ cpu_mixed(round << 32 | right)) & mask);
      left = right;
      right = mixed;
    }
    place = left << half | right;
  } while (place >= count);
  return place;
}

uint64_t cpu_block_seed(uint64_t seed, unsigned long long block) {
  return seed == 0 || seed == CPU_REVERSED ? seed : cpu_mixed(seed + block);
}
