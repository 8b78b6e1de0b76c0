-- SPDX-License-Identifier: MIT
--
-- Pairs of kernels: tests/check/pairs/FILE.cu has for each name a faulty kernel and its legal twin. A row is
-- { kernel, grid, block, arguments, kind of the finding and its remedy (a pattern), options }. The argument
-- "i32 64 ramp" is a new array.
-- strict: a warning "missing fence" by default, an error with --check=strict; "only": found by that alone. exits: legal
-- without strict only. missed: why the fault is not found; with a name, by that compiler.

local files = {}

files.barrier_names = {
  { "gate_alias", 1, 96, { "i32 96" }, "race in shared" },
  { "typedef_split", 1, 64, { "f64 50", "f64 50 ramp", 50 }, "race in shared" },
  { "namespace_alias", 1, 32, { "i16 32" }, "." },
  { "template_alias", 1, 64, { "f32 64", 5 }, "race in shared" },
  { "specialised<float>", 1, 64, { "f32 128", "f32 128 ramp", 4 }, "race in shared" },
  { "block_alias", 1, { 16, 8 }, { "u8 128" }, "race in shared" },
  { "tile_alias", 1, 64, { "i32 64" }, "race in shared" },
  { "macro_gate", 1, { 16, 4 }, { "i32 32" }, "race in shared" },
  { "stage_class", 1, 48, { "i64 48" }, "race in shared" },
}

files.warp_volatile = {
  { "harris_tail", 3, 128, { "i32 384 ramp", "i32 3" }, "warp%-synchronous" },
  { "fold_all<64>", 1, 64, { "f32 64 ramp" }, "warp%-synchronous" },
  { "guarded_tree", 1, 32, { "f64 32 ramp" }, "warp%-synchronous", { shared = 256 } },
  { "warp_scan", 1, 64, { "u32 64 ramp", "u32 64" }, "warp%-synchronous" },
  { "leader_tells", 1, 128, { "i64 128", "i64 4 ramp" }, "warp%-synchronous", { missed = "may be a flag" } },
  { "fence_is_no_wait", 2, 64, { "i16 128", "i16 128" }, "warp%-synchronous" },
  { "two_rows", 1, { 32, 4 }, { "f32 128" }, "race in shared" },
  { "rotate_class", 1, 32, { "i32 32 ramp", 3 }, "warp%-synchronous" },
  { "half_warps", 1, 64, { "i8 64 ramp" }, "warp%-synchronous" },
  { "narrow_mask", 1, 32, { "i32 32 ramp" }, "warp%-synchronous" },
  { "odd_even", 1, 16, { "i32 32 down", 32 }, "warp%-synchronous", { shared = 128 } },
  { "last_writer", 1, 64, { "f32 1", "f32 64" }, ".", { never = "same value" } },
}

files.collectives = {
  { "after_shfl", 1, 32, { "f32 32" }, "race in shared" },
  { "after_ballot", 1, 64, { "u32 64", "i32 64 ramp" }, "race in shared" },
  { "loop_until_any", 1, 32, { "i32 32", "i32 32" }, "race in global" },
  { "block_vote", 1, 32, { "u8 32 1", "i32 32" }, "race in shared" },
  { "leader_by_match", 1, 32, { "i32 32 3", "i32 32" }, "race in shared" },
  { "after_match_all", 1, 32, { "f64 32" }, "race in global" },
  { "after_reduce", 1, 64, { "u32 64", "u32 64 ramp" }, "race in shared", { shared = 256 } },
  { "normalise", 3, 32, { "f32 150 1", "f32 3", 50 }, "race in global" },
  { "hand_down", 1, 32, { "i32 64" }, "race in shared" },
  { "tile_shfl", 1, 128, { "i16 128 ramp" }, "race in shared" },
  { "group_reduce", 1, 32, { "i32 32", "i32 32 ramp" }, "race in shared" },
  { "coalesced_vote", 1, 32, { "i32 32" }, "race in global" },
  { "active_mask", 1, { 16, 2 }, { "i64 32 ramp" }, "race in shared" },
  { "uneven_loop", 1, 8, { "i32 8 ramp", "i32 1" }, "barrier" },
}

files.fences = {
  { "message", 2, 32, { "f32 1", "i32 1", "f32 1" }, "race in global.*put __threadfence" },
  { "message_in", 3, 32, { "f64 2", "u32 1", "f64 6" }, "missing fence", { strict = true } },
  { "fence_too_late", 2, 32, { "i32 32", "i32 32", "i32 32" }, "race in global.*put __threadfence" },
  { "fence_of_block", 2, 32, { "i64 1", "i32 1", "i64 1" }, "race in global.*put __threadfence" },
  { "volatile_flag", 2, 32, { "i16 100 ramp", "i16 100", "i32 1", "i16 100", 100 }, "race in global" },
  { "speaks_too_early", 2, 64, { "f32 64", "u32 1", "f32 64" }, "race in global" },
  { "sum_last_block<64>", 5, 64, { "f32 1000 ramp", 1000, "f32 5" }, "race in global.*threadfence",
    { never = "own element" } },
  { "last_block_reads", 4, 48, { "i32 192", "u32 1", "i32 48" }, "missing fence", { strict = true } },
  { "lock_class", 4, 32, { "i32 1", "f64 1", "f64 4" }, "race in global" },
  { "lock_taken", 4, 32, { "i32 1", "i32 1" }, "race in global.*threadfence", { never = "own element" } },
  { "ticket_lock", 3, { 4, 2, 2 }, { "u32 1", "u32 1", "i64 1" }, "race in global" },
  { "chained_scan", 4, 32, { "i32 128 ramp", "i32 128", "i32 4", "i32 4" }, "race in global.*put __threadfence" },
  { "nv_release", 2, 32, { "i32 2", "i32 1", "i32 1" }, "race in global.*put __threadfence" },
  { "nv_acquire", 2, 32, { "f32 4", "i32 1", "f32 4" }, "missing fence", { strict = true } },
  { "nv_fence", 2, 64, { "u8 64", "u32 1", "u8 64" }, "race in global.*put __threadfence" },
  { "warps_by_flag", 1, 64, { "i32 32" }, "race in shared" },
  { "relay", 3, 1, { "i32 1", "i32 1", "i32 1", "i32 1" }, "." },
}

files.scopes = {
  { "count_block", 3, 64, { "i32 150 ramp", "i32 24", 150 }, "race in global" },
  { "nv_count", 4, 32, { "u32 1" }, "race in global.*device's scope" },
  { "row_most", { 3, 2 }, { 16, 4 }, { "i32 320 ramp", "i32 8", 40 }, "race in global.*device's scope" },
  { "mixed_scopes", 2, 32, { "u64 1" }, "race in global" },
  { "histogram_flush", 3, 64, { "u8 500 ramp", "u32 16", 500 }, "race in global" },
  { "push_front", 2, 32, { "i32 1", "i32 64" }, "race in global.*device's scope" },
  { "release_scope", 2, 1, { "f64 1", "i32 1", "f64 1" }, "race in global" },
  { "acquire_scope", 2, 1, { "i32 1", "u32 1", "i32 1" }, "." },
  { "thread_scope", 1, 64, { "i32 1" }, "race in shared" },
  { "first_comes", 3, { 8, 1, 4 }, { "i32 40", "i32 40", 40 }, "race in global" },
  { "plain_beside_atomic", 3, 32, { "i32 1", "i32 96" }, "race in global" },
  { "half_beside_word", 2, 1, { "u32 1", "u32 1" }, "race in global" },
  { "narrow_then_wide", 3, 32, { "i32 3", "i32 1" }, "race in global" },
  { "narrow_hop", 2, 64, { "f32 1", "i32 2", "f32 1" }, "race in global" },
  { "thread_scope_store", 1, 32, { "i32 1" }, "race in global" },
  { "paint", 2, 64, { "u32 2", "i16 200 3", 200 }, "race in global.*device's scope" },
}

files.copies = {
  { "no_wait", 1, 64, { "i32 64 ramp", "i32 64" }, "." },
  { "one_left", 1, 32, { "f32 256 ramp", "f32 128" }, "." },
  { "neighbours_copy", 1, 32, { "f64 50 ramp", "f64 50", 50 }, "race in shared", { shared = 400 } },
  { "barrier_first", 1, 48, { "i64 48 ramp", "i64 48" }, "race in shared" },
  { "source_again", 1, 32, { "i32 64 ramp" }, "." },
  { "target_again", 1, { 32, 4 }, { "u32 100 ramp", "u32 100", 100 }, "." },
  { "double_buffer", 1, 64, { "f32 320 ramp", "f32 64", 5 }, "race in shared" },
  { "tail_batch", 1, 32, { "i32 128 ramp", "i32 128", 4 }, "." },
  { "pipe_single", 1, 32, { "i32 96 ramp", "i32 96", 96 }, ".", { shared = 128 } },
  { "pipe_release", 1, 32, { "f32 160 ramp", "f32 160", 5 }, "race in shared" },
  { "group_copy", 1, 256, { "i16 256 ramp", "i16 256" }, "." },
  { "own_by_barrier", 1, 64, { "f32 64 ramp", "f32 64" }, "." },
  { "copy_by_barrier", 1, 32, { "f64 64 ramp", "f64 64", 64 }, "." },
}

files.memory = {
  { "next_array", 1, 32, { "i32 32" }, "index" },
  { "clear_too_much", 1, 8, { "f64 8" }, "index" },
  { "window_before", 1, 64, { "f32 64", "f32 64" }, "index" },
  { "local_by_pointer", 1, 32, { "i32 32", 7 }, "index" },
  { "small_stack", 1, 32, { { "i32", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 }, "i32 32" }, "index" },
  { "device_array", 1, 16, { "f32 16", 5 }, ".",
    { missed = { clang = "the bound behind the pointer is not known" } } },
  { "three_bytes", 1, 32, { "u32 32", "u8 128 ramp" }, "uninitialised" },
  { "member_unset", 1, 32, { "f32 32" }, "uninitialised" },
  { "fourth_part", 2, 32, { "f32 256 empty", "f32 64" }, "uninitialised" },
  { "unset_condition", 1, 64, { "i32 64 ramp", "i32 64" }, "uninitialised" },
  { "unset_flag", 1, 32, { "f32 20 ramp", 20, "i32 32" }, "uninitialised",
    { missed = "local variables are not followed" } },
  { "unset_minimum<float>", 1, 32, { "f32 100 down", "f32 32", 100 }, "uninitialised" },
  { "unset_switch", 1, 32, { "u8 32 ramp", "i32 32" }, "uninitialised" },
  { "unset_element", 1, 32, { "f64 32", 4 }, "uninitialised", { missed = "local variables are not followed" } },
  { "two_in_one", 1, 64, { "f32 64 ramp", "i32 64", 64 }, ".", { shared = 512 } },
}

files.grid = {
  { "guard_returns", 3, 32, { "i32 80 ramp", "i32 160", 80 }, "barrier", { cooperative = true, strict = "only" } },
  { "block_leaves", 3, 32, { "f32 192" }, "barrier", { cooperative = true } },
  { "uneven_turns", 3, 32, { "i32 8", { "i32", 4, 2, 3 } }, "barrier", { cooperative = true } },
  { "relax", 3, 32, { "f32 150 ramp", "f32 150", 150, 3 }, "race in global", { cooperative = true } },
  { "phases", 4, 32, { "f64 4 ramp", "f64 4", "f64 128" }, "race in global", { cooperative = true } },
  { "branch_of_block", { 3, 2 }, 1, { "i32 12" }, "barrier", { cooperative = true } },
  { "helper_meets", 2, 32, { "u32 2" }, "barrier", { cooperative = true, strict = "only" } },
  { "early_break", 3, 32, { { "i16", 3, 1, 2 }, "i16 3", 3 }, "barrier", { cooperative = true } },
  { "own_barrier", 3, 32, { "i32 96", "u32 1", "i32 96" }, "race in global.*put __threadfence",
    { cooperative = true } },
}

files.volatile_writes = {
  { "reports_place", 1, 96, { "i32 96 ramp", "i32 1" }, ".", { never = "same value" } },
  { "wide_value", 3, 32, { "f64 1" }, ".", { never = "same value" } },
  { "member_flag", 1, { 8, 8, 2 }, { "i32 1" }, ".", { never = "same value" } },
  { "byte_status", 2, 64, { "u8 4", "i8 128 ramp" }, ".", { never = "same value" } },
  { "wide_float4", 2, 1, { "f32 4" }, "race in global", { never = "same value" } },
  { "shared_best", 1, 64, { "i64 64 down", "i64 1" }, ".", { never = "same value" } },
}

files.mixed = {
  { "bytes_of_word", 1, 32, { "u8 32" }, "race in shared" },
  { "shorts_of_word", 4, 32, { "i16 8" }, "race in global" },
  { "read_only_load", 1, 64, { "f32 64", "f32 64" }, ".", { missed = "a load by __ldg is a plain load" } },
  { "reset_counter", 4, 32, { "u32 1", "u32 1" }, "race in global" },
  { "fence_by_one", 2, 64, { "i32 64", "i32 1", "i32 64" }, "race in global" },
  { "wide_and_narrow", 1, 32, { "f32 128", "f32 32" }, "race in global" },
  { "copy_of_struct", 1, 32, { "i32 256 ramp" }, "race in shared" },
  { "unset_sum", 1, 32, { "i32 1" }, "uninitialised" },
  { "halo", 1, 64, { "i32 64 ramp", "i32 64" }, ".", { shared = 256 } },
  { "constant_taps", 1, 32, { "f32 40 ramp", "f32 32" }, "." },
  { "vector_tail", 1, 8, { "f32 30 ramp", "f32 8", 30 }, "bounds" },
  { "others_local", 1, 32, { "i32 32" }, ".", { missed = "local variables are not followed" } },
  { "not_in_mask", 1, 32, { "i32 32" }, "." },
  { "two_masks", 1, 32, { "i32 32 ramp" }, "mask" },
  { "zero_fill", 1, 16, { "i32 60 ramp", "i32 16", 58 }, "uninitialised" },
  { "overlapping_tiles", 3, 32, { "f64 90 ramp", "f64 90", 90 }, "race in global" },
  { "device_maximum", 3, 32, { "i32 96 ramp" }, "race in global" },
  { "ring_of_two", 2, 32, { "i32 2", "i32 2", "i32 2", "i32 8", 8 }, "." },
  { "group_in_branch", 1, 64, { "f32 64 ramp" }, "barrier" },
  { "two_level_sum", 1, 128, { "f32 500 1", "f32 1", 500 }, "race in shared" },
  { "last_block_fences", 3, 64, { "i32 192", "u32 1", "i32 64" }, "race in global" },
  { "bit_fields", 1, 64, { "u32 1" }, "race in global" },
  { "broadcast_global", 1, 32, { "i32 1", "i32 32" }, "warp%-synchronous", { missed = "may be a flag" } },
}

files.tricky = {
  { "lane_waits", 1, 32, { "i32 1" }, "race in shared" },
  { "padded_copy", 1, 32, { "i32 64" }, "uninitialised",
    { missed = { clang = "a structure copied whole" } } },
  { "bytes_make_words", 1, 128, { "u32 8" }, "race in shared" },
  { "reverse_walk", 1, 4, { "i32 1024 ramp", "i32 4", 1024 }, "bounds" },
  { "settle", 1, 64, { "i32 64 ramp" }, "race in shared" },
  { "reused", 1, 64, { "f32 64 ramp", "f32 64" }, "race in shared" },
  { "seqlock", 2, 32, { "u32 1", "i32 2", "i32 2" }, "race in global" },
  { "compact<short>", 2, 32, { "i16 64 ramp", "i16 64", "i32 1", 20 }, "race in global" },
  { "number_of_thread", 1, { 4, 3, 2 }, { "i32 24" }, "race in shared" },
  { "ballot_mask", 1, 32, { "i32 32 ramp", "i32 32" }, "." },
  { "nv_lock", 3, 32, { "i32 1", "f64 1" }, "race in global.*threadfence", { never = "own element" } },
  { "out_parameter", 1, 16, { "i32 20 ramp", 20, "i32 16" }, "uninitialised",
    { missed = "local variables are not followed" } },
  { "part_of_struct", 1, 32, { "i32 32 ramp", "f32 32" }, "uninitialised",
    { missed = "a structure copied whole" } },
  { "warps_leave", 1, 96, { "i32 64", 64 }, "uninitialised", { exits = true } },
  { "count_then_read", 3, 32, { "u8 200 ramp", "i32 8", "i32 24", 200 }, "race in global", { cooperative = true } },
  { "set_in_loop", 1, 8, { "i32 10 ramp", "i32 8", 4 }, "uninitialised" },
  { "butterfly", 1, 32, { "f32 64 ramp" }, "race in shared" },
}

files.order = {
  { "two_warps_read", 1, 64, { "i32 64" }, "race in shared" },
  { "readers_and_writer", 3, 32, { "i64 1", "i32 1", "i64 3" }, "race in global" },
  { "third_block", 3, 1, { "f32 1", "i32 2", "f32 1" }, "race in global.*put __threadfence" },
  { "second_writer", 3, 1, { "i16 1", "i32 2", "i16 1" }, "race in global" },
  { "release_chain", 3, 1, { "i32 1", "i32 1", "i32 1" }, ".", { missed = "a chain over a third block" } },
  { "after_the_flag", 2, 1, { "f64 2", "i32 1", "f64 1" }, "race in global" },
  { "fence_before_loop", 2, 32, { "u64 1", "u32 1", "u64 1" }, "missing fence", { strict = true } },
  { "scopes_in_a_row", 2, 64, { "i32 1", "i32 1", "i32 1" }, "race in global" },
  { "overlapping_masks", 1, 32, { "i32 1" }, "race in shared" },
  { "write_after_read", 2, 1, { "f32 2", "i32 1", "f32 2" }, "race in global" },
  { "set_back", 1, 64, { "i32 1", "i32 3" }, "race in shared" },
  { "work_queue", 2, 64, { "i32 6 ramp", "i32 1", "i32 384", 6 }, "race in shared" },
}

files.grown = {
  { "two_reductions<int, 64>", 2, 64, { "i32 128 ramp", "i32 2" }, "race in shared" },
  { "jacobi", 3, 32, { "f32 96 ramp", "f32 96", 96 }, "missing fence", { cooperative = true, strict = true } },
  { "group_stages", 1, 64, { "i32 256 ramp", "i32 256", 4 }, "race in shared" },
  { "push_and_sum", 4, 32, { "i32 8", "i32 1", "i32 1", "i32 1" }, "race in global" },
  { "areas", 1, 32, { "f32 32" }, "uninitialised", { missed = "a member of a local object" } },
  { "warp_roles", 1, 64, { "i32 160 ramp", "i32 160", 5 }, "race in shared" },
  { "long_rows", 6, 32, { { "i32", 0, 100, 130, 200 }, "f64 200 ramp", "f64 3", 3 }, "race in global" },
  { "bitonic", 1, 64, { "i16 64 down" }, "race in shared", { shared = 128 } },
  { "sieve", 2, 32, { "u32 32", 1024 }, "race in global" },
}

return files
