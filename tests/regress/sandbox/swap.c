/* SPDX-License-Identifier: MIT
 *
 * Swaps pairs of files, one after the other, until it is ended, 15 minutes at most: swap A B [C D]... */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words) {
  if (count < 3) return 2;
  alarm(900);
  for (;;)
    for (int i = 1; i + 1 < count; i += 2)
      if (renameat2(AT_FDCWD, words[i], AT_FDCWD, words[i + 1], RENAME_EXCHANGE) != 0) return 3;
}
