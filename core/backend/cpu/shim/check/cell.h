/* SPDX-License-Identifier: MIT
 *
 * Check mode's shadow of memory, shared by the hooks of a checked unit (hooks.cpp next to this file) and the checker
 * (core/backend/cpu/check). Every aligned 4-byte word of an array, of shared memory and of device variables has a cell
 * of 16 bytes: who wrote the word last, and who read it last.
 *
 *   bits   write                          read
 *   60-63  launch, modulo 16; 0: none     launch; 0: none
 *   44-59  block, modulo 2^16             block
 *   34-43  epoch                          epoch
 *   30-33  warp epoch                     warp epoch
 *   20-29  thread, its rank in the block  thread
 *   18-19  its fences in the epoch        its fences
 *   10-17  site; 0: unknown               site
 *    6-9   which of the four bytes        which bytes
 *    4-5   how: see mw_access             who else read since the last barrier: see MW_READ_*
 *    0-3   which bytes are memory         which bytes hold a value
 *
 * A word of which no byte is memory is unknown (a local variable, the launch's arguments), unless bits 0-3 of read are
 * set: then it lies next to an array, and no access is right.
 *
 * The epoch of a block counts its barriers, that of a warp the synchronisations of all its threads since the block's
 * last barrier. Of a thread's fences three are counted. Bits 18 to 63 of a running thread are its stamp. */
#ifndef MW_CHECK_CELL_H
#define MW_CHECK_CELL_H

typedef unsigned long long mw_check_bits;

typedef struct mw_cell {
  mw_check_bits write, read;
} mw_cell;

enum {
  MW_CELL_MASK = 6,
  MW_CELL_KIND = 4,
  MW_CELL_SITE = 10,
  MW_CELL_FENCES = 18,
  MW_CELL_RANK = 20,
  MW_CELL_WARP_EPOCH = 30,
  MW_CELL_EPOCH = 34,
  MW_CELL_BLOCK = 44,
  MW_CELL_LAUNCH = 60,
};
enum { MW_CHECK_LAUNCHES = 16, MW_CHECK_EPOCHS = 1 << 10, MW_CHECK_WARP_EPOCHS = 1 << 4, MW_CHECK_SITES = 256 };

enum mw_access { MW_ACCESS_PLAIN, MW_ACCESS_ATOMIC, MW_ACCESS_VOLATILE, MW_ACCESS_BLOCK /* atomic in its block */ };

/* Who has read the word next to the thread in the cell, none of them ordered before it. A plain write on which others
 * have gone on by atomic operations is kept as a read: to any other atomic operation it is what a plain read is. */
enum { MW_READ_ALONE, MW_READ_BY_WARP, MW_READ_BY_BLOCK, MW_READ_BY_GRID };

/* Shadow memory comes in chunks, one for each 64 MiB of address space that holds something checked. */
enum { MW_CHUNK_SHIFT = 26, MW_CHUNK_BYTES = 1 << MW_CHUNK_SHIFT };
enum { MW_CHUNKS = 1 << (47 - MW_CHUNK_SHIFT) }; /* no other addresses are a process's */

/* Where code accesses memory; its index is the site of a cell. Site 0 stands for places that have none; its own place
 * is not NULL once the running block has accessed memory. */
typedef struct mw_check_site {
  const void *place; /* the return address of a hook */
  bool writes;
} mw_check_site;

/* What the checker gives a unit when it is bound. */
typedef struct mw_check {
  mw_cell *const *chunks; /* by address >> MW_CHUNK_SHIFT; NULL: nothing checked is there */
  /* An access that is not simply right, see MW_READ_*: judges it and notes it in the cells. */
  void (*access)(const void *address, unsigned bytes, int what, enum mw_access, const void *place, unsigned site);
  /* Before what other threads see: they may run first. */
  void (*rest)(void);
  /* Before an atomic operation or a volatile access: the same, and what it orders. read: MW_READ_SWAP for an atomicCAS
   * that swaps. */
  void (*atomic)(const void *address, unsigned bytes, int read, int write, enum mw_access, const void *place,
                 unsigned site);
  void (*fence)(int block_only);
  /* Of the running thread's asynchronous copies, see MW_COPY_*: bytes of one that has begun, or how many batches need
   * not be waited for. barrier: the end of whose phase tells of the copy; NULL: its thread waits for it. */
  void (*copy)(int what, const void *to, const void *from, unsigned bytes, const void *barrier, const void *place,
               unsigned site);
  /* In a counted unit: an access that is not what the lane before has done next; see counter.h. */
  void (*count)(unsigned long long what, const void *address);
  /* An index beyond its bound, an access beyond its variable, an address that is no multiple of its type's alignment
   * (other), an operation of two integers that overflowed; the type's name. */
  void (*rule)(int what, const char *file, unsigned line, long long value, long long other, const char *type);
  /* A local variable begins or ends; a condition names one. */
  void (*local)(struct mw_local *, int begins);
  void (*used)(const void *, const char *file, unsigned line);
} mw_check;

/* A local variable that is followed, or an array with what is closed around it. */
typedef enum mw_local_kind { MW_LOCAL_SET, MW_LOCAL_ARRAY, MW_LOCAL_SCALAR } mw_local_kind; /* SET: it holds a value */
typedef struct mw_local {
  const char *name;
  unsigned long from, at, bytes, end; /* its own bytes lie between those from ... end - 1 */
  unsigned element;
  mw_local_kind kind;
  struct mw_local *outer;
} mw_local;

enum { MW_READ_SWAP = 2 };
enum { MW_READ_BYTES, MW_WRITE, MW_READ_VALUE /* all of its bytes count */ };
enum { MW_COPY_BEGIN, MW_COPY_COMMIT, MW_COPY_WAIT, MW_COPY_WAIT_OLDEST, MW_COPY_PHASE /* of the barrier ends */ };
/* Of the next atomic operation: its scope is the block, or the thread; atomicCAS. */
enum { MW_NEXT_BLOCK = 1, MW_NEXT_SWAP = 2, MW_NEXT_THREAD = 4 };
enum {
  MW_RULE_INDEX,
  MW_RULE_OBJECT,
  MW_RULE_ALIGNMENT,
  MW_RULE_ADD,
  MW_RULE_SUB,
  MW_RULE_MUL,
  MW_RULE_DIVREM,
  MW_RULE_NEGATE
};

#endif
