-- SPDX-License-Identifier: MIT
--
-- The studies as labs, for `moonwarp batch`: main memory first, then what needs more of the machine.
-- docs/lab.md says what may be written here.
--
-- Gates without devices hold on a GPU and on the CPU device, and find a rung that is broken, not one that is
-- a little slower. Those for "cuda" are about a tenth below what one H200 reached (docs/measurements.md), and
-- lower over a rung of many launches, whose time is the host's: hosts differ in it by a factor of almost 2.
-- Those of a kernel are on its structural counters, which the CPU device counts in check mode: on a machine without a
-- GPU they hold or fail as on any other.

-- The rate `field` of one rung is at least so many times that of another; `where`: what both records have.
local function gate(field, rung, at_least, other, where, devices)
  local record, of = { rung = rung }, { rung = other }
  for key, value in pairs(where) do record[key], of[key] = value, value end
  return { field = field, record = record, at_least = at_least, of = of, devices = devices }
end

-- A counter of a kernel is at most a number in every launch.
local function counts(kernel, field, at_most) return { kernel = kernel, field = field, at_most = at_most } end

local LADDER, F64 = { group = "ladder" }, { group = "ladder", type = "f64" }
local TURNED = { group = "ladder", type = "f32" }
local RANDOM = { group = "ladder", data = "uniform" }
local FLIGHT = { group = "flight", shared = 0 }
local SUM = { group = "grid", op = "sum", type = "f32" }

return {
  name = "studies",
  defaults = { time_limit = "10 min", memory_limit = "16 GiB", devices = { "cuda", "cpu" } },
  { name = "first-kernels", title = "What does a first program need?", study = "first-kernels",
    tags = { "lectures" }, checks = 4 },
  { name = "memcopy", title = "How fast is main memory?", study = "memcopy", tags = { "core", "memory" },
    gates = { gate("T_tot", "an element a thread", 0.1, "library copy", LADDER),
              gate("T_tot", "an element a thread", 0.8, "library copy", LADDER, "cuda"),
              gate("T_tot", "16 bytes a thread", 0.9, "library copy", LADDER, "cuda") } },
  { name = "access", title = "What does it cost to reach an element?", study = "access", needs = "memcopy",
    tags = { "lectures", "memory" },
    gates = { counts("shifted", "sectors_per_request", 5), counts("by<float>", "sectors_per_request", 4),
              counts("product_shared<false>", "shared_conflicts_per_request", 0),
              gate("T_tot", "registers", 0.9, "local memory", { group = "local" }),
              gate("T_tot", "16 bytes a thread", 0.9, "library copy", { group = "width" }, "cuda"),
              gate("T_tot", "constant", 2, "constant, each lane its own", { group = "constants" }, "cuda"),
              gate("T_tot", "four loads first", 2.5, "four in order", { group = "loads", per = 1 }, "cuda") } },
  { name = "transpose", title = "What does the order of memory cost?", study = "transpose", needs = "memcopy",
    tags = { "lectures", "memory", "cooperation" },
    gates = { counts("transpose_tile", "sectors_per_request", 4),
              counts("transpose_tile<float,1>", "shared_conflicts_per_request", 0),
              counts("transpose_swizzled", "shared_conflicts_per_request", 0),
              gate("T_tot", "16 bytes, along B's rows", 1, "rows to columns", TURNED),
              gate("T_tot", "16 bytes, along B's rows", 0.87, "library copy", TURNED, "cuda"),
              gate("T_tot", "16 bytes, along B's rows", 0.9, "copy, pieces of 512 B", TURNED, "cuda"),
              gate("T_tot", "a tile, padded", 1.8, "a tile", TURNED, "cuda") } },
  { name = "divergence", title = "What do different ways cost?", study = "divergence", needs = "access",
    tags = { "lectures", "cooperation" },
    gates = { gate("elements", "two kernels", 0.8, "one kernel", { group = "boundary" }),
              gate("elements", "warps differ", 22, "threads differ", { group = "ways", ways = 32 }, "cuda"),
              gate("elements", "a list, by block", 3.1, "a branch", { group = "list", fraction = 0.03 }, "cuda"),
              gate("elements", "count by block", 0.9, "count by shared", { group = "count" }, "cuda") } },
  { name = "balance", title = "How many operations are free?", study = "balance", needs = "memcopy",
    tags = { "lectures", "memory", "arithmetic" },
    gates = { { field = "T_eff", record = { rung = "an element a thread", steps = 1 }, at_least = 2,
                of = { rung = "an element a thread", steps = 400 } },
              gate("balance", "this ladder's knee", 0.9, "measured ceilings", { type = "f32" }, "cuda"),
              gate("balance", "measured ceilings", 0.9, "this ladder's knee", { type = "f32" }, "cuda"),
              gate("T_eff", "one pass, 8 rows a thread", 2.6, "two passes", {}, "cuda") } },
  { name = "histogram", title = "How do threads count in the same places?", study = "histogram", needs = "memcopy",
    tags = { "lectures", "memory", "cooperation" },
    gates = { counts("histogram_copies<32>", "shared_atomic_contention", 1),
              counts("histogram_merged", "shared_atomic_contention", 1),
              gate("T_tot", "8 bits per thread", 1, "a table per lane", RANDOM, "cpu"),
              gate("T_tot", "a table, 16 bytes", 0.49, "library copy", RANDOM, "cuda"),
              gate("T_tot", "a table per lane", 0.9, "library copy", RANDOM, "cuda"),
              { name = "skewed over uniform", field = "T_tot", at_least = 0.9, devices = "cuda",
                record = { rung = "a table per lane", group = "ladder", data = "skewed" },
                of = { rung = "a table per lane", group = "ladder", data = "uniform" } } } },
  { name = "pattern", title = "How fast can a text be searched?", study = "pattern", needs = "memcopy",
    tags = { "lectures", "memory", "arithmetic" },
    gates = { gate("T_tot", "is there any?", 1, "a byte a thread", LADDER),
              gate("T_tot", "two words at once", 0.85, "library copy", LADDER, "cuda"),
              gate("T_tot", "two words at once", 1.8, "is there any?", LADDER, "cuda") } },
  { name = "occupancy", title = "How many threads must a multiprocessor hold?", study = "occupancy",
    needs = "memcopy", tags = { "lectures", "memory", "arithmetic" }, checks = 6, -- of blocks at once, and each rung's
    gates = { gate("T_tot", "1 load", 0.02, "library copy", FLIGHT),
              gate("T_tot", "4 loads", 0.9, "library copy", FLIGHT, "cuda"),
              gate("T_tot", "as compiled", 4.6, "at most 24 registers", { group = "registers" }, "cuda"),
              gate("T_tot", "4 x 128, fat threads", 2, "12 x 128", { group = "cases" }, "cuda") } },
  { name = "stencil", title = "How near to that is a diffusion step?", study = "stencil", needs = "memcopy",
    tags = { "core", "memory" },
    gates = { gate("T_eff", "naive", 0.3, "triad", {}),
              gate("T_eff", "naive", 0.85, "triad", {}, "cuda"),
              gate("T_eff", "8 steps a pass", 3, "naive", {}, "cuda") } },
  { name = "laplace", title = "What does the shape of a block cost a Jacobi step?",
    study = "laplace", needs = "stencil", tags = { "lectures", "memory" },
    gates = { gate("T_eff", "a cell a thread", 0.01, "triad", { group = "square" }),
              gate("T_eff", "4 steps a pass", 2.6, "16 bytes a thread", { group = "square" }, "cuda") } },
  { name = "laplace3", title = "Columns or 3-D blocks for a Jacobi step?",
    study = "laplace3", needs = "laplace", tags = { "lectures", "memory" },
    gates = { gate("T_eff", "3-D blocks", 0.01, "triad", {}),
              gate("T_eff", "columns, 16 bytes", 0.88, "triad", {}, "cuda"),
              gate("T_eff", "3 steps, two rows a thread", 1.5, "columns, 16 bytes", {}, "cuda") } },
  { name = "cumsum", title = "How does a running sum keep memory busy?", study = "cumsum", needs = "memcopy",
    tags = { "core", "memory", "cooperation" },
    gates = { gate("T_eff", "dim 2, a register", 0.4, "copy along y", F64),
              gate("T_eff", "dim 3, blocks in pace", 0.85, "copy, 16 bytes a thread", F64, "cuda") } },
  { name = "scan", title = "Can one long array be summed up at the rate of a copy?", study = "scan",
    needs = "cumsum", tags = { "core", "memory", "cooperation" },
    gates = { gate("T_eff", "one pass, in rounds", 0.77, "library copy", { type = "f64" }, "cuda") } },
  { name = "recurrence", title = "Can a recurrence be computed at the rate of a running sum?", study = "recurrence",
    needs = "scan", tags = { "memory", "cooperation" },
    gates = { gate("T_eff", "recurrence, in rounds", 0.2, "sum, in rounds", LADDER),
              gate("T_eff", "recurrence, in rounds", 0.85, "sum, in rounds", LADDER, "cuda") } },
  { name = "reduction", title = "How do a million threads agree on one number?", study = "reduction",
    needs = "memcopy", tags = { "core", "cooperation" },
    gates = { gate("T_tot", "16 bytes, last block", 1, "lock", SUM),
              gate("T_tot", "16 bytes, last block", 1.6, "last block", SUM, "cuda") } },
  { name = "nbody", title = "What limits arithmetic?", study = "nbody", tags = { "core", "arithmetic" },
    gates = { gate("interactions", "rsqrtf", 1, "direct", LADDER),
              gate("interactions", "rsqrtf", 2, "direct", LADDER, "cuda") } },
  { name = "orbits", title = "How do bodies keep their energy?", study = "orbits", needs = "nbody",
    tags = { "core", "arithmetic" },
    gates = { gate("energy_error", "Euler", 100, "leapfrog", { system = "two bodies" }) } },
  { name = "montecarlo", title = "Where do random paths get their numbers from?", study = "montecarlo",
    needs = "balance", tags = { "lectures", "arithmetic" },
    gates = { gate("half", "fused, Box-Muller, fast", 8, "Sobol", { group = "error", paths = 1 << 14 }),
              gate("normals", "Box-Muller, fast", 1.5, "Box-Muller", { group = "normals" }, "cuda"),
              gate("normals", "fused, Box-Muller, fast", 1.5, "stored by step, fast", { group = "paths" }, "cuda") } },
  { name = "streams", title = "How much of a copy can be hidden?", study = "streams", needs = "memcopy",
    tags = { "core", "transfer" },
    gates = { gate("T_tot", "pinned, in", 0.2, "pageable, in", { group = "copies" }),
              gate("T_tot", "pinned, in", 2, "pageable, in", { group = "copies" }, "cuda") } },
  { name = "concurrency", title = "When do small kernels run at once?", study = "concurrency", needs = "streams",
    tags = { "core", "transfer" },
    gates = { gate("kernels", "a stream a piece", 0.2, "one stream", { group = "streams" }),
              gate("kernels", "a stream a piece", 6, "one stream", { group = "streams" }, "cuda"),
              gate("kernels", "per-thread default stream between", 6, "legacy default stream between",
                   { group = "streams" }, "cuda") } },
  { name = "managed", title = "What does memory cost that moves by itself?", study = "managed", needs = "streams",
    tags = { "memory", "transfer" },
    gates = { gate("T_tot", "managed, prefetched", 0.5, "explicit, pinned", { group = "trip" }, "cpu"),
              gate("T_tot", "managed, prefetched", 0.3, "explicit, pinned", { group = "trip" }, "cuda"),
              gate("T_tot", "zero-copy, pinned", 1.4, "explicit, pinned", { group = "trip" }, "cuda") } },
  { name = "graphs", title = "What does starting a kernel cost?", study = "graphs", needs = "streams",
    tags = { "launches" },
    gates = { gate("launches", "a graph", 0.5, "queued", { group = "short" }),
              gate("launches", "queued", 2, "each waited for", { group = "short" }, "cuda"),
              gate("launches", "a graph", 1.8, "queued", { group = "short" }, "cuda"),
              gate("launches", "one launch, a block", 3.7, "a graph", { group = "short" }, "cuda") } },
  { name = "small-problems", title = "How should a thousand small problems be solved?", study = "small-problems",
    needs = "graphs", tags = { "launches", "cooperation" },
    gates = { gate("cells", "all implicit steps in a launch", 0.5, "a launch an implicit step", { group = "implicit" }),
              gate("cells", "all steps in registers", 3000, "a launch a step and problem",
                   { group = "Jacobi" }, "cuda"),
              gate("cells", "all steps in registers", 18, "a launch a step", { group = "Jacobi" }, "cuda"),
              gate("cells", "all implicit steps in a launch", 4.7, "a launch an implicit step", { group = "implicit" },
                   "cuda") } },
  { name = "build", title = "What can g++ and nvcc make of one file?", study = "build", needs = "first-kernels",
    tags = { "lectures" }, checks = 1 }, -- without nvcc only the source is compiled
  { name = "mistakes", title = "Which mistakes does a check of the result find?", study = "mistakes",
    tags = { "core", "cooperation" }, checks = 44 }, -- each mended twin on its device and in check mode
}
