-- SPDX-License-Identifier: MIT
--
-- Legal kernels that look dangerous: check mode must find nothing. A list of files, each with its cases, as cases.lua
-- takes them.

local array = require("tests.check.cases").array

local function f32(n, value) return array("f32", n, value) end
local function i32(n, value) return array("i32", n, value) end
local function u32(n, value) return array("u32", n, value) end

-- Red and black points in turn, with a copy to the host and back in between.
local function red_black(dev, module, _, list)
  local kernel = module.red_black:prepare { grid = 2, block = 32 }
  for step = 1, 20 do kernel(list[1], 100, step % 2) end
  dev:synchronize()
  list[1]:upload(list[1]:totable())
  for step = 1, 4 do kernel(list[1], 100, step % 2) end
  dev:synchronize()
end

-- Two arrays in turn; each launch reads what the last wrote.
local function to_and_fro(dev, module, _, list)
  local kernel = module.shift:prepare { grid = 2, block = 64 }
  for _ = 1, 20 do
    kernel(list[1], list[2], 100)
    kernel(list[2], list[1], 100)
  end
  dev:synchronize()
end

-- A fill and a copy between launches give an array its values.
local function filled_between(dev, module, _, list)
  local kernel = module.shift:prepare { grid = 2, block = 64 }
  list[1]:fill(3)
  kernel(list[1], list[2], 100)
  list[1]:copy(list[2])
  kernel(list[1], list[2], 100)
  dev:synchronize()
end

local function two_halves(dev, module, _, list)
  for _ = 1, 3 do
    module.half_each:prepare { grid = 1, block = 50 }(list[1], 0)
    module.half_each:prepare { grid = 1, block = 50 }(list[1], 50)
  end
  dev:synchronize()
end

local GRID <const> = {
  { "last_block", 20, 64, { f32(20), f32(1, 0) }, gives = { { 2, 0, 190 } }, launches = 3 },
  { "last_block_all_fence", 8, 64, { f32(512), f32(1, 0) }, gives = { { 2, 0, 512 } } },
  { "last_block_one_fence", 8, 64, { f32(512), f32(1, 0) }, gives = { { 2, 0, 512 } } },
  { "last_block_inc", 20, 32, { f32(20), f32(1, 0) }, gives = { { 2, 0, 60 } }, launches = 3 },
  { "pairs_go_on", 16, 32, { u32(16, 0), f32(32), f32(1) }, gives = { { 3, 0, 16 } } },
  { "ticket_order", 20, 32, { u32(1, 0), i32(640) }, gives = { { 2, 639, 19 } } },
  { "chained_scan", 20, 32, { u32(1, 0), u32(20, 0), i32(20) }, gives = { { 3, 19, 20 } } },
  { "look_back", 20, 32, { u32(1, 0), u32(20, 0), i32(20), i32(20) }, gives = { { 4, 19, 20 } } },
  { "look_back_atomics", 20, 32, { u32(1, 0), u32(20, 0), i32(20), i32(20) }, gives = { { 4, 19, 20 } } },
  { "look_back_packed", 20, 32, { u32(1, 0), array("u64", 20, 0) } },
  { "spin_lock", 20, 32, { i32(1, 0) }, gives = { { 1, 0, 20 } } },
  { "spin_lock_volatile_unlock", 20, 32, { i32(1, 0) }, gives = { { 1, 0, 20 } } },
  { "spin_lock_by_all", 3, 40, { i32(1, 0) }, gives = { { 1, 0, 120 } } },
  { "ticket_lock", 20, 32, { u32(1, 0), u32(1, 0), i32(1, 0) }, gives = { { 3, 0, 20 } } },
  { "block_in_lock", 10, 64, { i32(64, 0) }, gives = { { 1, 63, 10 } } },
  { "messages_one_by_one", 4, 32, { i32(6), u32(6, 0), i32(1, 0) }, gives = { { 3, 0, 45 } } },
  { "lock_of_each_bin", 12, 32, { u32(3, 0), i32(3, 0) }, gives = { { 2, 2, 4 } } },
  { "fence_after_many_barriers", 2, 64, { i32(64), u32(1, 0), i32(64), 700 }, gives = { { 3, 63, 63 } } },
  { "fence_after_many_barriers", 2, 64, { i32(64), u32(1, 0), i32(64), 2500 }, gives = { { 3, 63, 63 } } },
  { "grid_sync", 4, 64, { i32(256), 256 }, cooperative = true },
  { "grid_barrier_by_hand", 4, 64, { u32(1, 0), i32(256), 256 }, cooperative = true, gives = { { 2, 0, 64 } } },
  { "grid_barrier_atomics", 4, 64, { u32(1, 0), i32(512), 256 }, cooperative = true, gives = { { 2, 256, 64 } } },
  { "message", 4, 64, { i32(64), i32(1, 0), i32(192) }, cooperative = true, gives = { { 3, 191, 63 } } },
  { "message_to_each_thread", 4, 64, { i32(64), i32(64, 0), i32(192) }, cooperative = true,
    gives = { { 3, 191, 63 } } },
  { "flag_read_again", 2, 32, { i32(2), i32(1, 0), i32(1) }, cooperative = true, gives = { { 3, 0, 3 } } },
  { "atomics_of_all_types", 3, 40, { i32(4, 0), u32(7, 0), array("u64", 3, 0), f32(2, 0), array("f64", 1, 0) },
    gives = { { 1, 0, 120 }, { 5, 0, 120 } } },
  { "compaction", 3, 64, { u32(1, 0), i32(64), 150 }, gives = { { 1, 0, 50 } } },
  { "work_queue", 4, 32, { u32(1, 0), i32(500, 0), 500 }, gives = { { 2, 499, 1 } } },
  { "list_by_exchange", 3, 33, { i32(1, -1), i32(99) } },
  { "float_max", 3, 33, { f32(1, -1) }, gives = { { 1, 0, 98 } } },
  { "histogram", 3, 64, { i32(1000, "ramp"), u32(16, 0), 1000 }, gives = { { 2, 0, 63 } } },
  { "labels", 3, 33, { i32(90, "ramp"), 90 } },
  { "bytes_of_one_word", 3, 33, { array("u8", 99) } },
  { "shorts_of_one_word", 3, 33, { array("i16", 99) } },
  { "same_read_only", 5, 64, { f32(8, 1), f32(320) }, gives = { { 2, 319, 8 } } },
  { "found_by_several", 4, 32, { i32(100, "ramp"), i32(1, 0), 100 }, gives = { { 2, 0, 1 } } },
  { "ping_pong", 2, 32, { i32(1, 0), i32(1, 0) }, cooperative = true, gives = { { 1, 0, 10 }, { 2, 0, 341 } } },
  { "counters_of_blocks", 4, 64, { i32(4, 0), i32(1, 0) }, gives = { { 2, 0, 256 } } },
  { "tickets_by_swap", 8, 32, { u32(1, 0), i32(16), i32(1, 0) }, gives = { { 3, 0, 120 } } },
  { "warps_in_lock", 3, 128, { i32(3, 0) }, gives = { { 1, 2, 4 } } },
  { "constant_memory", 1, 64, { f32(64) }, gives = { { 1, 0, 3 } } },
  { "device_variable", 1, 32, { i32(1) }, launches = 20, gives = { { 1, 0, 20 } } },
  { "shift", nil, nil, { i32(100, "ramp"), i32(100) }, run = to_and_fro, gives = { { 1, 0, 40 } } },
  { "shift", nil, nil, { i32(100), i32(100) }, run = filled_between, gives = { { 2, 0, 3 } } },
  { "red_black", nil, nil, { f32(100, "ramp") }, run = red_black },
  { "half_each", nil, nil, { i32(100, 0) }, run = two_halves, gives = { { 1, 99, 3 } } },
}

local BLOCK <const> = {
  { "variables_side_by_side", 1, 32, { i32(32) } },
  { "tree_reduction", 3, 128, { f32(300, 1), f32(3), 300 }, gives = { { 2, 2, 44 } } },
  { "double_buffer", 1, 64, { f32(64, "ramp"), 9 }, gives = { { 1, 0, 9 } } },
  { "swapped_pointers", 1, 64, { f32(64, "ramp"), 9 }, gives = { { 1, 0, 63 } } },
  { "read_then_write", 1, 64, { f32(64, "ramp") }, gives = { { 1, 0, 1 } } },
  { "one_writes_all_read", 1, 64, { f32(128, "ramp"), 64 }, gives = { { 1, 127, 6 } } },
  { "reused_in_loop", 1, 32, { f32(100, 1), f32(32), 100 }, gives = { { 2, 31, 100 } } },
  { "many_barriers", 3, 64, { i32(192), 1100 }, gives = { { 1, 0, 1100 % 64 } } },
  { "hillis_steele", 1, 100, { i32(100, 1) }, gives = { { 1, 99, 100 } } },
  { "hillis_steele_in_place", 1, 100, { i32(100, 1) }, gives = { { 1, 99, 100 } } },
  { "blelloch", 1, 64, { i32(128, 1) }, gives = { { 1, 127, 127 } } },
  { "bitonic_sort", 1, 64, { i32(64, "ramp") }, gives = { { 1, 63, 63 } } },
  { "transpose", { 3, 2 }, { 16, 16 }, { f32(37 * 29, "ramp"), f32(37 * 29), 37, 29 }, gives = { { 2, 1, 37 } } },
  { "stencil", 3, 64, { f32(150, 1), f32(150), 150 }, gives = { { 2, 149, 2 } } },
  { "stencil_2d", { 3, 2 }, { 8, 8 }, { f32(21 * 13, 1), f32(21 * 13), 21, 13 }, gives = { { 2, 0, 2 } } },
  { "product", { 3, 3 }, { 8, 8 }, { f32(361, 1), f32(361, 1), f32(361), 19 }, gives = { { 3, 360, 19 } } },
  { "odd_block_3d", { 2, 2 }, { 3, 5, 7 }, { i32(420) }, gives = { { 1, 0, 104 } } },
  { "dynamic_split_in_two", 1, 50, { f32(50, "ramp"), 50 }, shared = 400, gives = { { 1, 0, 49 } } },
  { "bytes_in_shared", 1, 67, { array("u8", 67, "ramp") }, gives = { { 1, 0, 66 } } },
  { "byte_counts", 1, 48, { array("u8", 4), 203 }, gives = { { 1, 0, 59 }, { 1, 3, 48 } } },
  { "shorts_in_shared", 1, 33, { array("i16", 33) }, gives = { { 1, 0, 32 } } },
  { "structs", 1, 32, { f32(128, 1), f32(32) }, gives = { { 2, 31, 3 } } },
  { "members_by_different_threads", 1, 32, { f32(32) } },
  { "vectors", 1, 32, { f32(128, "ramp"), array("f64", 64, 1) }, gives = { { 1, 0, 127 }, { 2, 0, 2 } } },
  { "loose_structs", 1, 32, { f32(32), f32(160, 1) }, gives = { { 1, 31, 3 } } },
  { "names_of_pointers", 1, 32, { f32(32), f32(80, 1), 3 }, gives = { { 1, 0, 3 } } },
  { "vector_by_components", 1, 64, { f32(64) }, gives = { { 1, 63, 63 } } },
  { "union_in_shared", 1, 32, { i32(32) }, gives = { { 1, 0, 0x3f800000 } } },
  { "unnamed_struct", 1, 64, { i32(64) }, gives = { { 1, 0, 65 } } },
  { "union_for_two_phases", 1, 64, { i32(64) }, gives = { { 1, 0, 63 } } },
  { "local_array_and_recursion", 1, 64, { i32(64) } },
  { "partly_set", 1, 64, { f32(64), 40 }, gives = { { 1, 39, 2 } } },
  { "guarded_ends", 3, 64, { f32(150, 1), f32(150), 150 } },
  { "pointer_past_the_end", 1, 64, { f32(150, 1), f32(64), 150 }, gives = { { 2, 63, 2 } } },
  { "block_leaves_early", 5, 32, { f32(96, "ramp"), 96 }, gives = { { 1, 0, 31 } } },
  { "threads_leave_early", 1, 64, { f32(50, "ramp"), 50 }, gives = { { 1, 0, 49 } } },
  { "barrier_in_uniform_branch", 2, 32, { f32(64, "ramp") }, gives = { { 1, 32, 63 } } },
  { "barriers_that_count", 1, 64, { i32(64) }, gives = { { 1, 0, 56 } } },
  { "group_sync", 1, 64, { i32(64) }, gives = { { 1, 0, 63 } } },
  { "shared_atomics", 1, 64, { i32(64) }, gives = { { 1, 0, 197 } } },
  { "shared_compaction", 1, 64, { i32(1, 0) }, gives = { { 1, 0, 693 } } },
  { "padding_copied", 1, 32, { f32(192) } },
  { "short_padding_copied", 1, 32, { f32(64) }, gives = { { 1, 0, 31 } } },
  { "bytes_copied", 1, 4, { array("i8", 40, 1), array("i8", 164) }, gives = { { 2, 0, 3 }, { 2, 1, 1 } } },
  { "private_columns", 1, 32, { i32(100, "ramp"), i32(8), 100 }, gives = { { 2, 7, 12 } } },
}

local WARP <const> = {
  { "warp_reduction", 1, 32, { f32(32, 1) }, gives = { { 1, 0, 32 } } },
  { "last_warp", 1, 128, { f32(128, 1), f32(1) }, gives = { { 2, 0, 128 } } },
  { "half_masks", 1, 32, { i32(32) }, gives = { { 1, 0, 15 } } },
  { "mask_by_ballot", 1, 32, { i32(32) }, gives = { { 1, 0, 30 } } },
  { "many_warp_syncs", 1, 96, { i32(96), 100 }, gives = { { 1, 0, 100 % 32 } } },
  { "warp_for_itself", 1, 128, { f32(128, 1), f32(4) }, gives = { { 2, 3, 32 } } },
  { "lane_zero_writes", 1, 64, { i32(64, 0) }, gives = { { 1, 0, 10 } } },
  { "global_between_lanes", 1, 32, { i32(32) }, gives = { { 1, 0, 31 } } },
  { "volatile_with_syncwarp", 1, 32, { f32(32, 1) }, gives = { { 1, 0, 32 } } },
  { "part_of_a_warp", 1, 40, { i32(40) }, gives = { { 1, 39, 32 } } },
  { "warp_transpose", 1, 32, { i32(1024, "ramp"), i32(1024) }, gives = { { 2, 1, 32 } } },
  { "shuffle_reduction", 1, 128, { i32(128, 1), i32(1) }, gives = { { 2, 0, 128 } } },
  { "votes", 1, 32, { i32(32) }, gives = { { 1, 0, 18 } } },
  { "aggregated_atomics", 1, 64, { i32(1, 0), i32(22) }, gives = { { 1, 0, 22 } } },
  { "set_by_one_lane", 3, 64, { i32(150, "ramp"), 150, i32(1, 0), i32(50) }, gives = { { 3, 0, 50 } } },
  { "match", 1, 64, { i32(64, "ramp"), i32(4, 0) }, gives = { { 2, 3, 16 } } },
  { "tiles_of_32", 1, 96, { i32(96) }, gives = { { 1, 32, 35 } } },
  { "tiles_of_16", 1, 96, { i32(96) }, gives = { { 1, 16, 19 } } },
  { "tiles_of_4", 1, 96, { i32(96) }, gives = { { 1, 4, 7 } } },
  { "coalesced", 1, 32, { i32(32) }, gives = { { 1, 0, 30 } } },
  { "group_reduction", 1, 64, { i32(64, 1), i32(1, 0) }, gives = { { 2, 0, 64 } } },
  { "producer_and_consumer", 1, 64, { i32(32) }, gives = { { 1, 0, 31 } } },
  { "last_warp_counts", 1, 128, { i32(1) }, gives = { { 1, 0, 192 } } },
  { "lock_in_shared", 1, 128, { i32(1) }, gives = { { 1, 0, 4 } } },
}

local ASYNC <const> = {
  { "group_copy", 1, 64, { i32(64, "ramp"), i32(64) }, gives = { { 2, 0, 63 } } },
  { "copies_of_tiles", 1, 64, { i32(32, "ramp"), i32(64) }, gives = { { 2, 32, 31 } } },
  { "own_pipeline", 1, 64, { i32(64, "ramp"), i32(64) }, gives = { { 2, 0, 252 } } },
  { "warps_with_roles", 1, 64, { i32(32, "ramp"), i32(32) }, gives = { { 2, 1, 150 } } },
  { "work_between_arrival_and_wait", 1, 64, { i32(64, "ramp"), i32(64) }, gives = { { 2, 1, 64 } } },
  { "reused_after_a_phase", 1, 64, { i32(64, "ramp"), i32(64) }, gives = { { 2, 1, 189 } } },
}

local MODEL <const> = {
  { "copies_in_two_stages", 1, 64, { i32(192, "ramp"), i32(192), 3 }, gives = { { 2, 64, 127 }, { 2, 127, 0 } } },
  { "fence_behind_the_barrier", 4, 32, { i32(128), i32(1, 0), i32(1, 0) }, gives = { { 3, 0, 128 } } },
  { "volatile_halves", 1, 32, { i32(32, 1), i32(32) } },
  { "found_by_lanes", 1, 32, { i32(32, "ramp"), i32(32) }, gives = { { 2, 31, 1 } } },
  { "lane_after_lane", 1, 32, { i32(32, "ramp"), i32(32) }, gives = { { 2, 31, 465 } } },
  { "own_word_and_a_table", 1, 32, { i32(32, "ramp"), i32(32) }, gives = { { 2, 0, 6 } } },
  { "lanes_of_other_warps", 1, 64, { i32(64, "ramp"), i32(64) }, gives = { { 2, 0, 32 } } },
}

local VALUE <const> = {
  { "bytes_of_a_buffer", 1, 32, { array("i8", 256), array("i8", 256) } },
  { "handed_over", 1, 32, { i32(32) }, gives = { { 1, 31, 3 } } },
  { "many_local_variables", 1, 32, { i32(32), 4 } },
  { "arrays_in_turn", 1, 32, { array("f32", 32), 3 }, gives = { { 1, 31, 0 } } },
}

local RANDOM <const> = { { "generator_in_memory", 1, 32, { array("i8", 64 * 32), array("f32", 32) } } }

return {
  { file = "legal_model.cu", cases = MODEL },
  { file = "legal_value.cu", cases = VALUE },
  { file = "legal_random.cu", cases = RANDOM },
  { file = "legal_grid.cu", cases = GRID },
  { file = "legal_block.cu", cases = BLOCK },
  { file = "legal_warp.cu", cases = WARP },
  { file = "legal_async.cu", cases = ASYNC },
  { file = "legal_model.cu", cases = require "tests.check.model" },
  { file = "legal_value.cu", cases = require "tests.check.values" },
}
