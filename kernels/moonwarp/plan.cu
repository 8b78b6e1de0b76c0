// SPDX-License-Identifier: MIT
//
// The plan of a loop over an unstructured mesh, for lua/moonwarp/mesh/plan.lua: plain sequential code, one thread per
// element, target, or mini-partition (block). Everything counts from 0. A map of n elements has its columns one after
// the other: map[c * n + e]. Place c * n + e, a code, names an element and the column through which it leads to a target.

namespace moonwarp {

#define INDEX (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define AGAIN 0x80000000u // an element that is there already
#define MORE  0x40000000  // and further ones after it

// ---- the inverse of a map: codes of each target, in order --------------------------------------------------------------
__global__ void inverse_count(int codes, const int *map, int *degree) {
  if (INDEX < codes) atomicAdd(&degree[map[INDEX]], 1);
}

__global__ void inverse_start(int targets, const int *degree, int *start, int *end) {
  if (INDEX < targets) start[INDEX] = atomicAdd(end, degree[INDEX]);
}

__global__ void inverse_fill(int codes, const int *map, const int *start, int *filled, int *inverse) {
  if (INDEX < codes) inverse[start[map[INDEX]] + atomicAdd(&filled[map[INDEX]], 1)] = INDEX;
}

// The atomics leave them in any order; a plan is the same in each run.
__global__ void inverse_sort(int targets, const int *start, const int *degree, int *inverse) {
  if (INDEX >= targets) return;
  int *list = inverse + start[INDEX], count = degree[INDEX];
  for (int k = 1; k < count; k++) {
    int code = list[k], at = k;
    for (; at > 0 && list[at - 1] > code; at--) list[at] = list[at - 1];
    list[at] = code;
  }
}

// ---- a target's elements of one column ---------------------------------------------------------------------------------
__global__ void column_count(int targets, int n, int column, const int *start, const int *degree, const int *inverse,
                             int *count) {
  int t = INDEX;
  if (t >= targets) return;
  int have = 0;
  for (int k = 0; k < degree[t]; k++) have += inverse[start[t] + k] / n == column;
  count[t] = have;
}

// The elements of each target, or where `map`, a column of a map, leads from them; a row after the other, -1 after the
// last. Rows below `full` are filled up: the first element is there again, or one of another column, or 0; with `marks`
// that is marked AGAIN, and row full - 1 is marked MORE where further ones follow.
__global__ void column_rows(int targets, int n, int column, int rows, int full, bool marks, const int *start,
                            const int *degree, const int *inverse, const int *map, int *out) {
  int t = INDEX;
  if (t >= targets) return;
  int have = 0;
  for (int k = 0; k < degree[t]; k++) {
    int code = inverse[start[t] + k];
    if (code / n == column) out[have++ * targets + t] = map ? map[code % n] : code % n;
  }
  int other = degree[t] ? inverse[start[t]] % n : 0;
  int again = (have ? out[t] : map ? map[other] : other) | (marks ? (int)AGAIN : 0);
  if (marks && have > full) out[(full - 1) * targets + t] |= MORE;
  for (int k = have; k < rows; k++) out[k * targets + t] = k < full ? again : -1;
}

// Such a table as differences from the target in 16 bits, of which marks take two; far: whether one does not fit.
__global__ void differences(int values, int targets, bool marks, const int *rows, short *out, unsigned char *far) {
  if (INDEX >= values) return;
  int row = rows[INDEX], d = row == -1 ? 0 : (row & 0x3fffffff) - INDEX % targets, most = marks ? 0x2000 : 0x8000;
  far[INDEX] = d < -most || d >= most;
  out[INDEX] = marks ? (d & 0x3fff) | (row >> 16 & 0xc000) : d;
}

// ---- mini-partitions ---------------------------------------------------------------------------------------------------
// The elements that lead to the targets of a block, `own` in a row, through a column of `columns` (bits): each once.
__global__ void block_elements(int blocks, int own, int targets, int n, int columns, const int *start, const int *degree,
                               const int *inverse, const int *map, int part, int *elements, int *many) {
  int b = INDEX;
  if (b >= blocks) return;
  int first = b * own, end = min(first + own, targets), count = 0;
  for (int t = first; t < end; t++)
    for (int k = 0; k < degree[t]; k++) {
      int code = inverse[start[t] + k], e = code % n, is_new = columns >> code / n & 1;
      for (int c = 0; c < code / n; c++)
        if ((columns >> c & 1) && map[c * n + e] >= first && map[c * n + e] < end) is_new = 0;
      if (is_new) elements[b * part + count++] = e;
    }
  many[b] = count;
}

// Each target that a block's elements lead to, once, and where each element finds its targets in this list. Elements
// are at the places r * jump + b * width + i, r < rows, i < width. Targets that the block owns come first, and are not in
// the list. `table` has a hash table of `size` for each block, filled with -1.
__global__ void block_lists(int blocks, int n, int arity, int targets, const int *map, int width, int rows, int jump,
                            int all, const int *elements, int own, int stride, int *list, int *count,
                            unsigned short *slots, int *table, int size) {
  int b = INDEX;
  if (b >= blocks) return;
  int *mine = list + b * stride, *places = table + b * size, first = b * own, owned = min(own, targets - first), have = 0;
  for (int i = 0; i < rows * width; i++) {
    int place = i / width * jump + b * width + i % width;
    int e = place >= all || (rows > 1 && b * width + i % width >= jump) ? -1 : elements ? elements[place] : place;
    for (int c = 0; e >= 0 && e < n && c < arity; c++) {
      int t = map[c * n + e], slot = t - first;
      if (slot < 0 || slot >= owned) {
        int h = (unsigned)t * 2654435761u & (size - 1);
        while (places[h] >= 0 && mine[places[h]] != t) h = (h + 1) & (size - 1);
        if (places[h] < 0) {
          mine[have] = t;
          places[h] = have++;
        }
        slot = owned + places[h];
      }
      slots[c * all + place] = slot;
    }
  }
  count[b] = have;
}

// A colour for each element of a block: the smallest that no earlier one has which leads to the same target through a
// column of `columns`. 64 colours at most: used[b] is 65 where they do not suffice.
__global__ void block_threads(int blocks, int n, int arity, int columns, int part, const int *many, int own, int stride,
                              const unsigned short *slots, unsigned long long *taken, unsigned char *colour, int *used) {
  int b = INDEX;
  if (b >= blocks) return;
  unsigned long long *mask = taken + b * stride;
  int here = many ? many[b] : min(part, n - b * part), most = 0;
  for (int i = 0; i < here; i++) {
    unsigned long long all = 0;
    for (int c = 0; c < arity; c++) {
      int slot = slots[(c * blocks + b) * part + i];
      if ((columns >> c & 1) && (!own || slot < own)) all |= mask[slot];
    }
    int free = all + 1 == 0 ? 64 : __ffsll(~all) - 1;
    for (int c = 0; c < arity && free < 64; c++)
      if (columns >> c & 1) mask[slots[(c * blocks + b) * part + i]] |= 1ull << free;
    colour[b * part + i] = free;
    most = max(most, free + 1);
  }
  used[b] = most;
}

// The blocks of `part` elements before block b that have a target in common with it, by columns of `columns`; some
// more than once. Without `list` they are only counted.
__global__ void block_conflicts(int blocks, int part, int n, int arity, int columns, const int *map, const int *start,
                                const int *degree, const int *inverse, int stride, int *list, int *count) {
  int b = INDEX;
  if (b >= blocks) return;
  int have = 0, last[4] = { -1, -1, -1, -1 };
  for (int e = b * part; e < min(n, (b + 1) * part); e++)
    for (int c = 0; c < arity; c++) {
      if (!(columns >> c & 1)) continue;
      int t = map[c * n + e];
      for (int k = 0; k < degree[t]; k++) {
        int code = inverse[start[t] + k], other = code % n / part;
        if (other >= b || !(columns >> code / n & 1)) continue;
        if (other == last[0] || other == last[1] || other == last[2] || other == last[3]) continue;
        last[3] = last[2], last[2] = last[1], last[1] = last[0], last[0] = other;
        if (list) list[b * stride + have] = other;
        have++;
      }
    }
  count[b] = have;
}

// ---- several devices: the values of some elements, one after the other -------------------------------------------------
template <class T> __global__ void gather(int n, int dim, const int *places, const T *from, T *out) {
  if (INDEX < n) out[INDEX] = from[places[INDEX / dim] * dim + INDEX % dim];
}

} // namespace moonwarp
