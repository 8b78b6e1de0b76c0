/* SPDX-License-Identifier: MIT
 *
 * Cooperative groups in the words of barriers and warp operations. A variable that is a group goes, and what makes the
 * group stands in its place; what is asked of such an expression becomes what it means:
 *
 *   cg::thread_block cta = cg::this_thread_block();
 *   auto tile = cg::tiled_partition<32>(cta);
 *   cg::sync(cta);                                    __syncthreads();
 *   v += tile.shfl_down(v, 1);                        v += __shfl_down_sync(0xffffffff, v, 1, 32);
 *   if (tile.thread_rank() == 0)                      if (unsigned(mw_t & (32 - 1)) == 0)
 *
 * The block, tiles of it and the grid are understood; coalesced threads are left, and rejected by inline.c. Measured
 * by tests/bench/groups.lua: 330 to 390 times as fast as fibers for barriers of the block, 140 times for those of a
 * tile. */
#include "core/backend/cpu/split/split.h"

typedef struct group { /* an expression that makes a group: cg::tiled_partition<8>(cg::this_thread_block()) */
  mw_span all;
  mw_span size, outer; /* of a tile, and of the tile it is part of; empty: of the block */
  bool grid;
} group;

static bool is_empty(const mw_span *range) {
  return range->first == range->last;
}

/* tiled_partition<size>(parent) or tiled_partition(parent, size), `open` the parenthesis. */
static bool tile_read(const cpu_splitter *in, int open, mw_span size, group *out);

/* The group that is made at token i. */
static bool group_read(const cpu_splitter *in, int i, int last, group *out) {
  const mw_tokens *work = &in->work;
  const mw_token *at = work->at;
  *out = (group){.all.first = i};
  if (i + 2 < last && at[i].kind == MW_TOKEN_NAME && mw_token_is(&at[i + 1], "::")) i += 2;
  if (i + 2 >= last) return false;
  out->grid = mw_token_is(&at[i], "this_grid");
  if ((out->grid || mw_token_is(&at[i], "this_thread_block")) && mw_token_is(&at[i + 1], "(") &&
      at[i + 1].match == i + 2) {
    out->all.last = i + 3;
    return true;
  }
  if (!mw_token_is(&at[i], "tiled_partition")) return false;
  mw_span size = {0, 0};
  int open = i + 1;
  if (mw_token_is(&at[open], "<")) {
    open = mw_angle_end(work, i + 1, last);
    size = (mw_span){i + 2, open - 1};
  }
  return open < last && mw_token_is(&at[open], "(") && tile_read(in, open, size, out);
}

static bool tile_read(const cpu_splitter *in, int open, mw_span size, group *out) {
  mw_span arguments[2];
  group parent;
  const int count = mw_arguments(&in->work, open, arguments, 2);
  if (count != (is_empty(&size) ? 2 : 1)) return false;
  if (!group_read(in, arguments[0].first, arguments[0].last, &parent) || parent.all.last != arguments[0].last ||
      parent.grid)
    return false;
  out->size = count == 2 ? arguments[1] : size;
  out->outer = parent.size;
  out->all.last = in->work.at[open].match + 1;
  return true;
}

bool cpu_group_is(const cpu_splitter *in, const mw_span *range) {
  group made;
  return group_read(in, range->first, range->last, &made) && made.all.last == range->last;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

/* May a size among the tokens be another where the group is used, up to token `until`? */
static bool size_changes(cpu_splitter *in, const mw_span *made, int until) {
  const bool constant = mw_has(&in->work, made->first, made->last, "<"); /* tiled_partition<size>(b) */
  for (int i = made->first; i < made->last; i++) {
    const mw_token *name = &in->work.at[i];
    if (name->kind == MW_TOKEN_NAME && !mw_is_member(&in->work, i) &&
        cpu_declared_find(in, 0, in->work.count, name) >= 0 &&
        (cpu_declared_find(in, made->last, until, name) >= 0 ||
         (!constant && cpu_is_written(&in->body, 1, in->work.count - 1, name))))
      return true;
  }
  return false;
}

bool cpu_name_expand(cpu_splitter *in, const cpu_node *node, int i, const char *pattern, const mw_span *parts) {
  const mw_tokens *work = &in->work;
  const mw_token *name = &work->at[i];
  const int until = in->nodes[node->parent].last - 1;
  if (in->nodes[node->parent].kind != CPU_NODE_BLOCK) return false;
  const int other = cpu_declared_find(in, node->last, until, name);
  if (other >= 0) cpu_split_reject(in, other, "'%.*s' stands for two variables", TEXT(name));
  if (in->rejected) return false;
  mw_tokens part = {0};
  for (int k = node->last; k < until; k++)
    if (work->at[k].kind == MW_TOKEN_NAME && mw_same_text(&work->at[k], name) && !mw_is_member(work, k))
      mw_tokens_build(&part, work, &work->at[k], 0, pattern, parts);
    else
      mw_tokens_push(&part, &work->at[k]);
  cpu_edit(in, node->first, until, &part);
  return true;
}

/* cg::thread_block cta = cg::this_thread_block(); goes, and its name becomes what makes it. */
static void variable_expand(cpu_splitter *in, const cpu_node *node) {
  const mw_declared *one = node->kind == CPU_NODE_DECLARE ? cpu_declared_only(in, node) : NULL;
  const mw_span init = one ? (mw_span){one->value, one->value_last} : (mw_span){0};
  if (!one || !cpu_group_is(in, &init)) return;
  cpu_uses_need(in);
  if (size_changes(in, &init, in->nodes[node->parent].last - 1))
    cpu_split_reject(in, node->first, "the size of '%.*s' may change", TEXT(&in->work.at[one->name]));
  cpu_name_expand(in, node, one->name, "$0", &init);
}

/* ---- what is asked of a group ---------------------------------------------------------------------------------- */

typedef struct meaning {
  const char *name;
  int arguments;
  const char *pattern; /* $0 the size, $1 of the tile around it, $2 on the arguments */
} meaning;

#define BLOCK_THREADS "( blockDim . x * blockDim . y * blockDim . z )"
#define GRID_BLOCKS   "( gridDim . x * 1ull * gridDim . y * gridDim . z )"
#define BLOCK_RANK    "( blockIdx . x + gridDim . x * ( blockIdx . y + gridDim . y * 1ull * blockIdx . z ) )"
#define TILE_LANES    "mw_tile_lanes ( mw_t , $0 )"
#define TILE_FIRST    "( mw_t & 31 & ~ ( $0 - 1 ) )"

static const meaning of_block[] = {
    {"sync", 0, "__syncthreads ( )"},  {"thread_rank", 0, "unsigned ( mw_t )"}, {"size", 0, BLOCK_THREADS},
    {"num_threads", 0, BLOCK_THREADS}, {"group_index", 0, "blockIdx"},          {"thread_index", 0, "threadIdx"},
    {"group_dim", 0, "blockDim"},      {"dim_threads", 0, "blockDim"},          {NULL, 0, NULL}};

static const meaning of_grid[] = {{"sync", 0, "mw_grid_sync ( )"},
                                  {"thread_rank", 0, "( " BLOCK_RANK " * " BLOCK_THREADS " + mw_t )"},
                                  {"size", 0, "( " GRID_BLOCKS " * " BLOCK_THREADS " )"},
                                  {"num_threads", 0, "( " GRID_BLOCKS " * " BLOCK_THREADS " )"},
                                  {"num_blocks", 0, GRID_BLOCKS},
                                  {"block_rank", 0, BLOCK_RANK},
                                  {"block_index", 0, "blockIdx"},
                                  {"dim_blocks", 0, "gridDim"},
                                  {"group_dim", 0, "gridDim"},
                                  {"is_valid", 0, "true"},
                                  {NULL, 0, NULL}};

static const meaning of_tile[] = {{"sync", 0, "__syncwarp ( )"},
                                  {"thread_rank", 0, "unsigned ( mw_t & ( $0 - 1 ) )"},
                                  {"size", 0, "unsigned ( $0 )"},
                                  {"num_threads", 0, "unsigned ( $0 )"},
                                  {"shfl", 2, "__shfl_sync ( 0xffffffff , $2 , $3 , $0 )"},
                                  {"shfl_up", 2, "__shfl_up_sync ( 0xffffffff , $2 , $3 , $0 )"},
                                  {"shfl_down", 2, "__shfl_down_sync ( 0xffffffff , $2 , $3 , $0 )"},
                                  {"shfl_xor", 2, "__shfl_xor_sync ( 0xffffffff , $2 , $3 , $0 )"},
                                  {NULL, 0, NULL}};

static const meaning of_warp[] = {{"any", 1, "__any_sync ( 0xffffffff , $2 )"},
                                  {"all", 1, "__all_sync ( 0xffffffff , $2 )"},
                                  {"ballot", 1, "__ballot_sync ( 0xffffffff , $2 )"},
                                  {"match_any", 1, "__match_any_sync ( 0xffffffff , $2 )"},
                                  {NULL, 0, NULL}};

static const meaning of_part[] = {{"any", 1, "__any_sync ( " TILE_LANES " , $2 )"},
                                  {"all", 1, "__all_sync ( " TILE_LANES " , $2 )"},
                                  {"ballot", 1, "( __ballot_sync ( " TILE_LANES " , $2 ) >> " TILE_FIRST " )"},
                                  {"match_any", 1, "( __match_any_sync ( " TILE_LANES " , $2 ) >> " TILE_FIRST " )"},
                                  {NULL, 0, NULL}};

static const meaning of_first[] = {{"meta_group_rank", 0, "( unsigned ( mw_t ) / $0 )"},
                                   {"meta_group_size", 0, "( ( " BLOCK_THREADS " + $0 - 1 ) / $0 )"},
                                   {NULL, 0, NULL}};

static const meaning of_inner[] = {{"meta_group_rank", 0, "( unsigned ( mw_t & ( $1 - 1 ) ) / $0 )"},
                                   {"meta_group_size", 0, "unsigned ( $1 / $0 )"},
                                   {NULL, 0, NULL}};

static const meaning *meaning_of(const meaning *list, const mw_token *name, int arguments) {
  for (; list->name; list++)
    if (mw_token_is(name, list->name) && list->arguments == arguments) return list;
  return NULL;
}

static const meaning *member_find(const cpu_splitter *in, const group *it, const mw_token *name, int arguments) {
  const bool warp = it->size.last == it->size.first + 1 && mw_token_is(&in->work.at[it->size.first], "32");
  if (is_empty(&it->size)) return meaning_of(it->grid ? of_grid : of_block, name, arguments);
  const meaning *lists[] = {of_tile, warp ? of_warp : of_part, is_empty(&it->outer) ? of_first : of_inner};
  const meaning *found = NULL;
  for (int i = 0; i < 3 && !found; i++) found = meaning_of(lists[i], name, arguments);
  return found;
}

static void meaning_put(cpu_splitter *in, const group *it, const char *pattern, const mw_span *arguments, int count,
                        mw_tokens *next) {
  mw_span ranges[4] = {it->size, it->outer};
  for (int i = 0; i < count; i++) ranges[i + 2] = arguments[i];
  mw_tokens_build(next, &in->work, &in->work.at[it->all.first], 0, pattern, ranges);
}

/* tile.shfl(v, 0): returns its end, or 0. */
static int member_put(cpu_splitter *in, const group *it, mw_tokens *next) {
  const mw_tokens *work = &in->work;
  const int dot = it->all.last, open = dot + 2;
  mw_span arguments[2];
  if (open >= work->count || !mw_token_is(&work->at[dot], ".") || !mw_token_is(&work->at[open], "(")) return 0;
  const int count = mw_arguments(work, open, arguments, 2);
  const meaning *found = member_find(in, it, &work->at[dot + 1], count);
  if (!found) return 0;
  meaning_put(in, it, found->pattern, arguments, count, next);
  return work->at[open].match + 1;
}

/* cg::sync(cta), cg::reduce(tile, v, op), at the function's name: returns its end, or 0. */
static int function_put(cpu_splitter *in, int name, mw_tokens *next) {
  const mw_tokens *work = &in->work;
  static const mw_token sync_name = {.kind = MW_TOKEN_NAME, .text = "sync", .size = 4};
  const bool sync = mw_token_any(&work->at[name], WORDS("sync", "synchronize"));
  const bool reduce = mw_token_is(&work->at[name], "reduce");
  mw_span arguments[3];
  group it;
  if ((!sync && !reduce) || !mw_token_is(&work->at[name + 1], "(")) return 0;
  const int count = mw_arguments(work, name + 1, arguments, 3);
  if (count != (sync ? 1 : 3) || !group_read(in, arguments[0].first, arguments[0].last, &it)) return 0;
  if (it.all.last != arguments[0].last || (reduce && is_empty(&it.size))) return 0;
  if (sync)
    meaning_put(in, &it, member_find(in, &it, &sync_name, 0)->pattern, NULL, 0, next);
  else
    meaning_put(in, &it, "mw_tile_reduce ( $0 , $2 , $3 )", &arguments[1], 2, next);
  return work->at[name + 1].match + 1;
}

/* At the first token of a name. */
static int use_put(cpu_splitter *in, int i, mw_tokens *next) {
  const mw_tokens *work = &in->work;
  group it;
  if (work->at[i].kind != MW_TOKEN_NAME || mw_is_member(work, i)) return 0;
  const int end = function_put(in, mw_token_is(&work->at[i + 1], "::") ? i + 2 : i, next);
  return !end && group_read(in, i, work->count, &it) ? member_put(in, &it, next) : end;
}

bool cpu_group_expand(cpu_splitter *in) {
  for (const cpu_node *node = in->nodes; node < in->nodes + in->nnodes; node++)
    if (node->first >= in->edited) variable_expand(in, node);
  for (int i = 0, end; !in->edits && i < in->work.count; i = end ? end : i + 1) {
    mw_tokens part = {0};
    if ((end = use_put(in, i, &part))) cpu_edit(in, i, end, &part);
  }
  return !in->rejected && cpu_edits_make(in);
}
