-- SPDX-License-Identifier: MIT
--
-- The names of counters: structural ones (core/backend/counters.h has them), those that only the hardware has, and the
-- figures that are computed from both. Data only, from which the documents are made as well. docs/counters.md explains
-- them.

local lists = require "moonwarp.base.lists"

local core = require "moonwarp.core"

local SECTOR <const> = 32 -- bytes

-- Those of a launch, and of a line: name, doc; title, of a column, if it is not the name; unit; most: of several
-- launches the greatest counts, not the sum.
local structural = core.counter_names()

-- Those that ncu alone counts: of metrics the sum, times `scale`. name, unit, most, doc as above. What a GPU or a
-- version of ncu does not have is left out of its launches.
local function of(name, unit, doc, metrics, scale)
  return { name = name, unit = unit, doc = doc, metrics = metrics, scale = scale }
end

local function operations(type, letter, doc)
  local list = {}
  for _, what in ipairs { "add", "mul", "fma" } do
    list[#list + 1] = of(("%s_%s"):format(type, what), nil, doc:format(what == "fma" and "multiply-adds" or
      what == "mul" and "products" or "sums"), { ("smsp__sass_thread_inst_executed_op_%s%s_pred_on.sum"):format(letter,
      what) })
  end
  return list
end

local function most(name, doc, metric)
  return { name = name, most = true, doc = doc, metrics = { metric } }
end

local hardware = {
  of("duration", "s", "time of the kernel under ncu", { "gpu__time_duration.sum" }, 1e-9),
  of("dram_read_bytes", "B", "bytes read from the device's memory", { "dram__bytes_read.sum" }),
  of("dram_write_bytes", "B", "bytes written to it", { "dram__bytes_write.sum" }),
  of("l2_read_bytes", "B", "bytes that multiprocessors read from the L2 cache",
    { "lts__t_sectors_srcunit_tex_op_read.sum" }, SECTOR),
  of("l2_write_bytes", "B", "bytes that they write to it, with those of atomics",
    { "lts__t_sectors_srcunit_tex_op_write.sum", "lts__t_sectors_srcunit_tex_op_red.sum",
      "lts__t_sectors_srcunit_tex_op_atom.sum" }, SECTOR),
  of("l1_bytes", "B", "bytes of global and local accesses through the L1 caches", { "l1tex__t_bytes.sum" }),
  of("instructions", nil, "instructions, one per warp", { "inst_executed" }),
  of("thread_instructions", nil, "the same, summed over the lanes that take part, with those that a predicate skips",
    { "smsp__thread_inst_executed.sum" }),
  of("special_instructions", nil, "instructions of the unit for special functions and conversions, one per warp",
    { "sm__inst_executed_pipe_xu.sum" }),
  of("tensor_f16", "flop", "operations of tensor cores on f16 and bf16",
    { "sm__ops_path_tensor_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
      "sm__ops_path_tensor_src_bf16_dst_fp32.sum" }),
  of("tensor_tf32", "flop", "the same on tf32", { "sm__ops_path_tensor_src_tf32_dst_fp32.sum" }),
  of("tensor_f64", "flop", "the same on f64", { "sm__ops_path_tensor_src_fp64_dst_fp64.sum" }),
  of("atomic_lanes", nil, "lanes that take part in them", {}),
  of("l2_atomic_sectors", nil, "sectors of atomic operations in the L2 cache",
    { "lts__t_sectors_srcunit_tex_op_red.sum", "lts__t_sectors_srcunit_tex_op_atom.sum" }),
  of("l2_slice_atomic_sectors", nil, "the same in the slice of the L2 cache that has the most",
    { "lts__t_sectors_srcunit_tex_op_red.max", "lts__t_sectors_srcunit_tex_op_atom.max" }),
  of("active_warps", nil, "warps on a multiprocessor, summed over its cycles", { "sm__warps_active.sum" }),
  of("active_cycles", nil, "cycles in which a multiprocessor has a warp", { "sm__cycles_active.sum" }),
  of("elapsed_cycles", nil, "cycles of all multiprocessors", { "sm__cycles_elapsed.sum" }),
  most("registers", "registers of a thread", "launch__registers_per_thread"),
  most("blocks_by_registers", "blocks that a multiprocessor has registers for", "launch__occupancy_limit_registers"),
  most("blocks_by_shared", "blocks that it has shared memory for", "launch__occupancy_limit_shared_mem"),
  most("blocks_by_warps", "blocks that it has room for by their warps", "launch__occupancy_limit_warps"),
}
lists.append(hardware, operations("f64", "d", "%s in f64, one per lane"))
lists.append(hardware, operations("f32", "f", "%s in f32"))
lists.append(hardware, operations("f16", "h", "%s in f16; those of two numbers at once count as ncu counts them"))

local list = lists.append(lists.append({}, structural), hardware)

-- Ratios of counters: name; title, of a column; over and under, names of counters that are added up, or with a "-"
-- taken away; scale, of what is under; unit; what, the accesses without which there is no such figure; doc.
local figures = {
  { name = "sectors_per_request", title = "sectors/request", over = "load_sectors store_sectors",
    under = "load_requests store_requests", what = "to global memory",
    doc = "sectors of a load or store of global memory: 4 if 32 lanes want 128 bytes that begin on a sector" },
  { name = "load_sectors_per_request", title = "sectors/load", over = "load_sectors", under = "load_requests",
    what = "that loads from global memory", doc = "the same of loads" },
  { name = "store_sectors_per_request", title = "sectors/store", over = "store_sectors", under = "store_requests",
    what = "that stores to global memory", doc = "the same of stores" },
  { name = "load_efficiency", title = "loaded bytes used", over = "load_bytes", under = "load_sectors", scale = SECTOR,
    unit = "%", what = "that loads from global memory",
    doc = "bytes that lanes ask for over those of the sectors, 1 is all" },
  { name = "store_efficiency", title = "stored bytes used", over = "store_bytes", under = "store_sectors",
    scale = SECTOR, unit = "%", what = "that stores to global memory", doc = "the same of stores" },
  { name = "shared_conflicts_per_request", title = "conflicts/request",
    over = "shared_load_conflicts shared_store_conflicts", under = "shared_load_requests shared_store_requests",
    what = "to shared memory", doc = "bank conflicts of a load or store of shared memory" },
  { name = "shared_load_conflicts_per_request", title = "conflicts/load", over = "shared_load_conflicts",
    under = "shared_load_requests", what = "that loads from shared memory", doc = "the same of loads" },
  { name = "shared_store_conflicts_per_request", title = "conflicts/store", over = "shared_store_conflicts",
    under = "shared_store_requests", what = "that stores to shared memory", doc = "the same of stores" },
  { name = "shared_efficiency", title = "passes needed",
    over = "shared_load_wavefronts shared_store_wavefronts -shared_load_conflicts -shared_store_conflicts",
    under = "shared_load_wavefronts shared_store_wavefronts", unit = "%", what = "to shared memory",
    doc = "passes over shared memory without bank conflicts over those that are taken, 1 is all" },
  { name = "addresses_per_atomic", title = "addresses/atomic", over = "atomic_addresses", under = "atomic_requests",
    what = "by atomics to global memory", doc = "distinct addresses of an atomic operation on global memory" },
  { name = "shared_addresses_per_atomic", title = "addresses/shared atomic", over = "shared_atomic_addresses",
    under = "shared_atomic_requests", what = "by atomics to shared memory", doc = "the same on shared memory" },
  { name = "dram_bytes", title = "DRAM", over = "dram_read_bytes dram_write_bytes", unit = "B",
    doc = "bytes between the device's memory and the L2 cache" },
  { name = "l2_bytes", title = "L2", over = "l2_read_bytes l2_write_bytes", unit = "B",
    doc = "bytes between the L2 cache and multiprocessors" },
  { name = "f64_operations", over = "f64_add f64_mul f64_fma f64_fma", unit = "flop",
    doc = "operations in f64, without those of tensor cores; a multiply-add is two" },
  { name = "f32_operations", over = "f32_add f32_mul f32_fma f32_fma", unit = "flop", doc = "the same in f32" },
  { name = "f16_operations", over = "f16_add f16_mul f16_fma f16_fma", unit = "flop",
    doc = "the same in f16, by which compilers also set constants" },
  { name = "lanes_per_instruction", title = "lanes/instruction", over = "thread_instructions", under = "instructions",
    what = "that is counted", doc = "lanes that take part in an instruction, of 32" },
  { name = "lanes_per_request", title = "lanes/request", over = "lanes", under = "requests", what = "to memory",
    doc = "active lanes of a request, of 32" },
}

return { list = list, hardware = hardware, figures = figures, SECTOR = SECTOR }
