/* SPDX-License-Identifier: MIT
 *
 * The processes below one: who they are, how much memory they hold, and their end. */
#ifndef MW_HOST_PROCESS_TREE_H
#define MW_HOST_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_TREE_MOST = 4096 };

typedef struct process_tree {
  pid_t  members[PROCESS_TREE_MOST];
  size_t count;
} process_tree;

/* Of the whole machine, threads too. */
typedef struct process_tree_census {
  uint64_t alive;
  uint64_t births; /* changes when one begins */
} process_tree_census;

void     process_tree_find(process_tree *, pid_t above, size_t most); /* those below, at most `most` */
void     process_tree_children(process_tree *, pid_t of); /* only those that it is the parent of */
uint64_t process_tree_memory(const process_tree *); /* resident bytes; what forks share counts once where it is much */
void     process_tree_kill(const process_tree *, int signal_number);
process_tree_census process_tree_count(void); /* cheap: one small file of /proc */

#endif
