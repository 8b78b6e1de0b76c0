-- SPDX-License-Identifier: MIT
--
-- Kernels with one mistake each, which check mode must find. A list of files, each with its cases (see cases.lua); what
-- must come is marked in the files. missed: what check mode does not see so far.

local array = require("tests.check.cases").array

local function f32(n, value) return array("f32", n, value) end
local function i32(n, value) return array("i32", n, value) end
local function u32(n, value) return array("u32", n, value) end

local SHARED <const> = {
  { "no_barrier_after_load", 1, 64, { f32(64, 1), f32(64) } },
  { "no_barrier_in_tree", 1, 128, { f32(128, 1), f32(1) } },
  { "no_barrier_before_the_tree", 1, 128, { f32(128, 1), f32(1) } },
  { "no_barrier_at_end_of_loop", 1, 64, { f32(192, 1), f32(64), 192 } },
  { "double_buffer_of_one", 1, 64, { f32(64, 1) } },
  { "one_writes_nobody_waits", 1, 64, { f32(64, 1), f32(64) } },
  { "result_read_too_early", 1, 64, { f32(64, 1), f32(1) } },
  { "scan_in_place", 1, 64, { i32(64, 1) } },
  { "transpose_without_barrier", 1, { 8, 8 }, { f32(64, 1), f32(64) } },
  { "halo_without_barrier", 1, 64, { f32(64, 1), f32(64) } },
  { "histogram_not_cleared_in_time", 1, 64, { i32(64, "ramp"), i32(64) } },
  { "histogram_read_too_early", 1, 64, { i32(64, "ramp"), i32(64) } },
  { "halves_overlap", 1, 32, { f32(32, 1), 32 }, shared = 256 },
  { "global_within_block", 1, 64, { f32(128) } },
  { "union_without_barrier", 1, 64, { i32(64) } },
  { "no_syncwarp", 1, 32, { f32(32, 1), f32(1) } },
  { "syncwarp_once", 1, 32, { f32(32, 1), f32(1) } },
  { "syncwarp_for_a_block", 1, 64, { i32(64) } },
  { "masks_that_do_not_meet", 1, 32, { i32(32) } },
  { "small_tile_for_a_warp", 1, 32, { i32(32) } },
  { "lane_zero_tells_nobody", 1, 32, { i32(64, 1) } },
  { "all_write_one", 1, 64, { f32(64) } },
  { "neighbours_write_one", 1, 64, { i32(64) } },
  { "plain_counter", 1, 64, { i32(64) } },
  { "plain_beside_atomic", 1, 64, { i32(64) } },
  { "word_over_bytes", 1, 64, { array("u8", 64) } },
}

local BLOCK <const> = {
  { "shared_not_set", 1, 64, { f32(64) } },
  { "shared_sum_not_cleared", 1, 64, { i32(64) } },
  { "last_tile_not_set", 2, 64, { f32(100, 1), f32(2), 100 } },
  { "global_not_set", 1, 64, { f32(64, 1), f32(64) } },
  { "half_a_word_set", 1, 32, { array("i16", 64), i32(32) } },
  { "one_too_many", 2, 64, { f32(100, 1), 100 } },
  { "one_too_few", 1, 64, { f32(64, 1), f32(64), 64 } },
  { "no_guard", 2, 64, { f32(100, 1), f32(100), 100 } },
  { "far_outside", 1, 64, { f32(1000), 1000 } },
  { "last_byte_outside", 1, 64, { array("u8", 37), 37 } },
  { "vector_half_outside", 1, 64, { f32(32), 32 } },
  { "row_of_another_width", 1, { 8, 8 }, { f32(64), 8, 8 } },
  { "static_index", 1, 32, { f32(32), 32 } },
  { "static_row_index", 1, 32, { f32(32), 10 } },
  { "dynamic_index", 1, 32, { f32(32, 1), 32 }, shared = 128 },
  { "local_index", 1, 32, { f32(32), 8 } },
  { "misaligned_vector", 1, 8, { f32(64, 1) } },
  { "misaligned_word", 1, 8, { array("i8", 64, 1), i32(8) } },
  { "misaligned_double", 1, 8, { f32(64, 1), array("f64", 8) } },
  { "barrier_of_a_half", 1, 32, { f32(32) } },
  { "barrier_in_a_guard", 1, 64, { f32(64, 1), 40 } },
  { "barriers_of_two_branches", 1, 64, { f32(64, 1) } },
  { "mask_without_caller", 1, 32, { i32(32) } },
  { "mask_of_absent", 1, 32, { i32(32) }, missed = "lanes that a mask names and that do not arrive" },
}

local GRID <const> = {
  { "plain_sum", 4, 32, { f32(1, 0) } },
  { "neighbour_block", 4, 32, { f32(128, 1), 128 } },
  { "overlapping_blocks", 4, 32, { i32(128) } },
  { "same_element_of_all", 4, 32, { i32(32) } },
  { "same_value_by_all", 4, 32, { i32(1) } },
  { "plain_histogram", 4, 32, { i32(100, "ramp"), i32(8, 0), 100 } },
  { "plain_max", 4, 32, { i32(4, "ramp"), i32(1, 0) } },
  { "plain_then_atomic", 4, 32, { i32(1, 0) } },
  { "atomic_then_plain", 4, 32, { i32(1, 0), i32(4) } },
  { "compaction_without_atomic", 4, 32, { i32(1, 0), i32(128), 100 } },
  { "stencil_in_place", 4, 32, { f32(100, 1), 100 } },
  { "transpose_in_place", { 2, 2 }, { 8, 8 }, { f32(225, 1), 15 } },
  { "bytes_as_words", 4, 32, { array("u8", 128, 0) } },
  { "device_variable_sum", 4, 32, { i32(32) } },
  { "last_block_without_fence", 8, 32, { f32(8), f32(1) } },
  { "last_block_without_barrier", 8, 64, { f32(512), f32(1, 0) } },
  { "last_block_fence_too_late", 8, 32, { f32(8), f32(1) } },
  { "last_block_fence_of_block", 8, 32, { f32(8), f32(1) } },
  { "chain_without_fence", 8, 32, { u32(1, 0), u32(8, 0), i32(8) } },
  { "plain_flag", 4, 32, { u32(1, 0), i32(1, 0), i32(4) } },
  { "lock_without_fences", 8, 32, { i32(1, 0) } },
  { "write_outside_the_lock", 8, 32, { i32(1, 0) }, missed = "a write after a release, before the next barrier" },
  { "no_grid_sync", 4, 64, { i32(512), 256 } },
  { "block_sync_for_grid", 4, 64, { i32(256), 256 }, cooperative = true },
  { "barrier_by_hand_without_fence", 4, 64, { u32(1, 0), i32(512), 256 }, cooperative = true },
  { "barrier_by_hand_without_wait", 4, 64, { u32(1, 0), i32(512), 256 }, cooperative = true },
  { "look_back_without_fence", 8, 32, { u32(1, 0), u32(8, 0), i32(8), i32(8) } },
  { "odd_and_even", 4, 32, { f32(129, 1), 128 } },
}

return {
  { file = "faulty_shared.cu", cases = SHARED },
  { file = "faulty_block.cu", cases = BLOCK },
  { file = "faulty_grid.cu", cases = GRID },
}
