-- SPDX-License-Identifier: MIT
--
-- Launches of the pairs of kernels about CUDA's memory model: faulty_model.cu has each with one breach, legal_model.cu
-- as it is right.

local array = require("tests.check.cases").array

local function i32(n, value) return array("i32", n, value) end

return {
  { "shuffle_between", 1, 32, { i32(32) } },
  { "shuffle_down_between", 1, 32, { i32(32) } },
  { "ballot_between", 1, 32, { i32(32) } },
  { "any_between", 1, 32, { i32(32) } },
  { "all_between", 1, 32, { i32(64) } },
  { "match_any_between", 1, 32, { i32(32) } },
  { "match_all_between", 1, 32, { i32(64) } },
  { "reduce_between", 1, 32, { i32(32) } },
  { "write_after_shuffle", 1, 32, { i32(32) } },
  { "tile_shuffle_between", 1, 64, { i32(64) } },
  { "tile_reduce_between", 1, 64, { i32(64) } },
  { "half_shuffles_between", 1, 32, { i32(32) } },
  { "last_steps_in_a_warp", 1, 64, { i32(64, 1), i32(1) } },
  { "one_syncwarp_a_step", 1, 64, { i32(64, 1), i32(1) } },
  { "syncwarp_only_before_the_write", 1, 64, { i32(64, 1), i32(1) } },
  { "volatile_exchange", 1, 32, { i32(32, 1), i32(32) } },
  { "volatile_scan", 1, 32, { i32(32, 1), i32(32) } },
  { "volatile_in_global_memory", 1, 32, { i32(32, 1) } },
  { "volatile_behind_a_vote", 1, 32, { i32(32, 1), i32(32) } },
  { "message_without_second_fence", 2, 32, { i32(1, 0), i32(1, 0), i32(2, 0) } },
  { "last_block_of_the_guide", 4, 32, { i32(4), i32(1, 0), i32(1, 0) } },
  { "relaxed_load_of_a_flag", 2, 32, { i32(1, 0), i32(1, 0), i32(2, 0) } },
  { "flag_before_a_barrier", 2, 64, { i32(1, 0), i32(1, 0), i32(64, 0) } },
  { "second_message_without_fence", 2, 32, { i32(2, 0), i32(2, 0), i32(2, 0) } },
  { "fence_of_the_block_after_it", 2, 32, { i32(1, 0), i32(1, 0), i32(2, 0) } },
  { "fence_before_it_only", 2, 32, { i32(1, 0), i32(1, 0), i32(2, 0) } },
  { "copy_not_waited_for", 1, 64, { i32(64, 1), i32(64) } },
  { "own_copy_not_waited_for", 1, 64, { i32(64, 1), i32(64) } },
  { "last_copy_not_waited_for", 1, 64, { i32(128, 1), i32(128) } },
  { "copy_of_no_batch", 1, 64, { i32(64, 1), i32(64) } },
  { "barrier_before_the_wait", 1, 64, { i32(64, 1), i32(64) } },
  { "no_barrier_after_the_wait", 1, 64, { i32(64, 1), i32(64) } },
  { "source_overwritten_on_the_way", 1, 64, { i32(64, 1), i32(64) } },
  { "group_copy_not_waited_for", 1, 64, { i32(64, 1), i32(64) } },
  { "stage_too_early", 1, 64, { i32(128, 1), i32(64) } },
  { "sum_of_scope_block", 4, 32, { i32(1, 0) } },
  { "exchange_of_scope_block", 4, 32, { i32(1, 0) } },
  { "store_of_scope_block", 4, 32, { i32(1, 0) } },
  { "swap_of_scope_block", 4, 32, { i32(1, 0) } },
  { "load_of_scope_block", 4, 32, { i32(1, 0), i32(4, 0) } },
  { "release_of_scope_block", 2, 32, { i32(1, 0), i32(1, 0), i32(2, 0) } },
  { "acquire_that_should_release", 2, 32, { i32(1, 0), i32(1, 0), i32(2, 0) } },
}
