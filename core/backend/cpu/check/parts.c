/* SPDX-License-Identifier: MIT
 *
 * Words of which several threads write different bytes, none of them ordered before another:
 *
 *   __shared__ unsigned char s[4];   s[threadIdx.x % 4] = threadIdx.x;        threads 0 and 4 write one byte
 *
 * A cell knows who wrote its word last; the writes of other bytes that it had before are kept here, as many as there is
 * room for. */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { WORDS = 1 << 12, WRITES = 3 };

typedef struct part { /* by a hash of its word's address */
  uintptr_t word;
  mw_check_bits writes[WRITES]; /* as of cells; 0: none */
} part;

struct cpu_parts {
  part at[WORDS];
};

void cpu_parts_forget(cpu_checker *checker) {
  if (checker->parts) memset(checker->parts, 0, sizeof *checker->parts);
}

static part *part_of(cpu_checker *checker, uintptr_t word) {
  return &checker->parts->at[(word * 0x9E3779B97F4A7C15ull >> 32) % WORDS];
}

static mw_check_bits without(mw_check_bits write, unsigned mask) {
  const mw_check_bits left = write & ~((mw_check_bits)mask << MW_CELL_MASK);
  return left >> MW_CELL_MASK & 15 ? left : 0;
}

void cpu_parts_keep(cpu_checker *checker, uintptr_t word, mw_check_bits write, unsigned mask) {
  mw_check_bits others = without(write, mask);
  if (!checker->parts && !others) return;
  if (!checker->parts) checker->parts = mw_calloc(1, sizeof *checker->parts);
  part *it = part_of(checker, word);
  if (it->word != word) *it = (part){.word = word};
  for (int i = 0; i < WRITES; i++) {
    it->writes[i] = without(it->writes[i], mask);
    if (!it->writes[i]) it->writes[i] = others, others = 0;
  }
}

mw_check_bits cpu_parts_find(cpu_checker *checker, uintptr_t word, unsigned mask) {
  const part *it = checker->parts ? part_of(checker, word) : NULL;
  for (int i = 0; it && it->word == word && i < WRITES; i++)
    if (it->writes[i] >> MW_CELL_MASK & mask) return it->writes[i];
  return 0;
}
