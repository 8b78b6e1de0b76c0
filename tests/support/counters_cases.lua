-- SPDX-License-Identifier: MIT
--
-- The kernels of tests/kernels/counters.cu with their launches, and the structural counters that follow for each by
-- arithmetic. W is the number of warps; a sector has 32 bytes; arrays begin at one.

local SECTOR <const>, WARP <const> = 32, 32
local N <const>, BLOCK <const> = 8192, 256 -- threads, in blocks of 8 warps
local W <const>, BLOCKS <const> = N // WARP, N // BLOCK
local SIDE <const> = 256 -- of a matrix

local lists = require "moonwarp.base.lists"

local NONE <const> = {
  load_requests = 0, load_sectors = 0, load_bytes = 0, load_lane_bytes = 0,
  store_requests = 0, store_sectors = 0, store_bytes = 0, store_lane_bytes = 0,
  shared_load_requests = 0, shared_load_wavefronts = 0, shared_load_conflicts = 0,
  shared_store_requests = 0, shared_store_wavefronts = 0, shared_store_conflicts = 0,
  atomic_requests = 0, atomic_addresses = 0, atomic_contention = 0,
  shared_atomic_requests = 0, shared_atomic_addresses = 0, shared_atomic_contention = 0, barriers = 0,
}

local cases = {}

-- Adds a case; counters that are not given are 0.
local function case(name, kernel, launch, given)
  local expected = lists.merged(NONE, given)
  cases[#cases + 1] = { name = name, kernel = kernel, grid = launch.grid or BLOCKS, block = launch.block or BLOCK,
                        arguments = launch.arguments, expected = expected,
                        is_divergent = launch.is_divergent or false }
end

local function gcd(a, b)
  while b > 0 do a, b = b, a % b end
  return a
end

-- Arrays of consecutive elements, and whole numbers.
local function arrays(...)
  local specs = { ... }
  return function(dev)
    local list = {}
    for i, spec in ipairs(specs) do
      list[i] = type(spec) == "table" and dev:zeros(spec[1], spec[2]) or spec
    end
    return list
  end
end

local function floats(n) return { "f32", n } end

-- The sectors of consecutive bytes.
local function sectors(first, bytes)
  return (first + bytes - 1) // SECTOR - first // SECTOR + 1
end

-- Loads and stores of global memory by whole warps: requests, sectors, bytes, and those of all lanes, of each.
local function global(loads, stores, more)
  local e = { load_requests = loads[1], load_sectors = loads[2], load_bytes = loads[3], store_requests = stores[1],
              store_sectors = stores[2], store_bytes = stores[3] }
  e.load_lane_bytes, e.store_lane_bytes = loads[4] or loads[3], stores[4] or stores[3]
  e.requests = loads[1] + stores[1]
  e.lanes = WARP * e.requests
  return lists.merged(e, more)
end

-- ---- global memory ------------------------------------------------------------------------------

-- A warp that reads or writes all bytes of consecutive elements.
local function whole(size)
  return { W, W * WARP * size // SECTOR, W * WARP * size }
end

for kernel, spec in pairs { copy = { "f32", 1, 4 }, copy_bytes = { "i8", 1, 1 }, copy_double = { "f64", 1, 8 },
                            copy_float2 = { "f32", 2, 8 }, copy_float4 = { "f32", 4, 16 } } do
  local dtype, per_thread, size = table.unpack(spec)
  case(kernel, kernel, { arguments = arrays({ dtype, per_thread * N }, { dtype, per_thread * N }) },
    global(whole(size), whole(size)))
end

for shift = 1, 9 do
  local moved = { W, W * sectors(4 * shift, 128), W * 128 }
  case(("copy_shifted by %d"):format(shift), "copy_shifted",
    { arguments = arrays(floats(N + 16), floats(N + 16), shift) }, global(moved, moved))
end

case("copy_reversed", "copy_reversed", { arguments = arrays(floats(N), floats(N), N) }, global(whole(4), whole(4)))

case("broadcast", "broadcast", { arguments = arrays(floats(N), floats(N)) }, global({ W, W, W * 4, W * 128 }, whole(4)))

-- From 8 words on, each lane has a sector of its own.
for stride = 1, 33 do
  local each = math.min(WARP, (WARP - 1) * stride // 8 + 1)
  case(("strided by %d"):format(stride), "strided", { arguments = arrays(floats(N), floats(33 * N), stride) },
    global({ W, W * each, W * 128 }, whole(4)))
end

-- Lane k of warp w has element 32 k + w.
local function scattered(dev)
  local at = {}
  for i = 0, N - 1 do at[i + 1] = i % WARP * W + i // WARP end
  return { dev:zeros("f32", N), dev:zeros("f32", N), dev:array("i32", at) }
end
case("gather", "gather", { arguments = scattered },
  global({ 2 * W, W * (4 + 32), 2 * W * 128 }, whole(4)))
case("scatter", "scatter", { arguments = scattered },
  global({ 2 * W, W * (4 + 4), 2 * W * 128 }, { W, W * 32, W * 128 }))

-- A warp's 32 structs of 12 bytes are 12 sectors, of which each member touches all.
case("structs", "structs", { arguments = arrays(floats(N), floats(3 * N)) },
  global({ 3 * W, 3 * W * 12, 3 * W * 128 }, whole(4)))
case("struct_of_arrays", "struct_of_arrays", { arguments = arrays(floats(N), floats(N), floats(N), floats(N)) },
  global({ 3 * W, 3 * W * 4, 3 * W * 128 }, whole(4)))

case("stencil_1d", "stencil_1d", { arguments = arrays(floats(N), floats(N + 2)) },
  global({ 3 * W, W * (4 + 5 + 5), 3 * W * 128 }, whole(4)))

-- Rows begin at a sector; an inner row begins one element later. Above, left, centre, right, below.
local PITCH <const> = SIDE + 32
case("stencil_2d", "stencil_2d", { grid = { SIDE // 32, SIDE // 8 }, block = { 32, 8 },
  arguments = arrays(floats((SIDE + 2) * PITCH), floats((SIDE + 2) * PITCH), PITCH) },
  (function()
    local warps = SIDE * SIDE // WARP
    return global({ 5 * warps, warps * (5 + 4 + 5 + 5 + 5), 5 * warps * 128 }, { warps, warps * 5, warps * 128 })
  end)())

-- ---- transposes ---------------------------------------------------------------------------------

local MATRIX_WARPS <const> = SIDE * SIDE // WARP
local matrices = arrays(floats(SIDE * SIDE), floats(SIDE * SIDE), SIDE)
local rows = { MATRIX_WARPS, MATRIX_WARPS * 4, MATRIX_WARPS * 128 }

case("transpose_plain", "transpose_plain",
  { grid = { SIDE // 32, SIDE // 8 }, block = { 32, 8 }, arguments = matrices },
  global(rows, { MATRIX_WARPS, MATRIX_WARPS * 32, MATRIX_WARPS * 128 }))

-- A column of 32 x 32 words is in one bank.
for layout, conflicts in pairs { in_rows = 31, padded = 0, swizzled = 0 } do
  local kernel = ("transpose<%s>"):format(layout)
  case(kernel, kernel, { grid = { SIDE // 32, SIDE // 32 }, block = { 32, 8 }, arguments = matrices },
    global(rows, rows, {
      shared_store_requests = MATRIX_WARPS, shared_store_wavefronts = MATRIX_WARPS,
      shared_load_requests = MATRIX_WARPS, shared_load_wavefronts = MATRIX_WARPS * (1 + conflicts),
      shared_load_conflicts = MATRIX_WARPS * conflicts, barriers = (SIDE // 32) * (SIDE // 32) * 8,
      requests = 4 * MATRIX_WARPS, lanes = 4 * MATRIX_WARPS * WARP }))
end

-- ---- shared memory ------------------------------------------------------------------------------

-- Of 32 banks, words s apart come to every gcd(s, 32)th.
for stride = 1, 33 do
  local ways = gcd(stride, 32)
  case(("shared_strided by %d"):format(stride), "shared_strided",
    { grid = W, block = WARP, arguments = arrays(floats(N), stride) },
    global({ 0, 0, 0 }, whole(4), {
      shared_store_requests = W, shared_store_wavefronts = W * ways, shared_store_conflicts = W * (ways - 1),
      shared_load_requests = W, shared_load_wavefronts = W * ways, shared_load_conflicts = W * (ways - 1),
      barriers = W, requests = 3 * W, lanes = 3 * N }))
end

-- Elements of 8 bytes are accessed by halves of a warp, of 16 bytes by quarters: 16 and 8 elements fill the banks.
for kernel, spec in pairs { ["shared_wide<double>"] = { "f64", 1, 8 }, ["shared_wide<float2>"] = { "f32", 2, 8 },
                            ["shared_wide<float4>"] = { "f32", 4, 16 } } do
  local dtype, per_thread, size = table.unpack(spec)
  for stride = 1, 4 do
    local parts, ways = size // 4, gcd(stride, 128 // size)
    case(("%s by %d"):format(kernel, stride), kernel, { grid = W, block = WARP,
      arguments = arrays({ dtype, per_thread * N }, { dtype, per_thread * N }, stride) },
      global(whole(size), whole(size), {
        shared_store_requests = W, shared_store_wavefronts = W * parts * ways,
        shared_store_conflicts = W * parts * (ways - 1), shared_load_requests = W,
        shared_load_wavefronts = W * parts * ways, shared_load_conflicts = W * parts * (ways - 1), barriers = W,
        requests = 4 * W, lanes = 4 * N }))
  end
end

case("shared_broadcast", "shared_broadcast", { grid = N // 64, block = 64, arguments = arrays(floats(N), 7) },
  global({ 0, 0, 0 }, whole(4), {
    shared_store_requests = W, shared_store_wavefronts = W, shared_load_requests = W, shared_load_wavefronts = W,
    barriers = W, requests = 3 * W, lanes = 3 * N }))

-- The first and the last thread of a block fetch one more element each.
case("stencil_shared", "stencil_shared", { arguments = arrays(floats(N), floats(N + 2)) },
  global({ W + 2 * BLOCKS, W * 5 + 2 * BLOCKS, W * 128 + 2 * BLOCKS * 4 }, whole(4), {
    shared_store_requests = W + 2 * BLOCKS, shared_store_wavefronts = W + 2 * BLOCKS, shared_load_requests = 3 * W,
    shared_load_wavefronts = 3 * W, barriers = W, requests = 6 * W + 4 * BLOCKS, lanes = 6 * N + 4 * BLOCKS }))

-- ---- tree reductions ----------------------------------------------------------------------------

-- The warps with a thread that adds, and the passes that they take, summed over the eight steps of a block. Each step
-- loads twice and stores once, but for the first store and the last load of the sum.
local function tree(kernel, warps, passes)
  local threads = BLOCK - 1 -- that add
  case(kernel, kernel, { arguments = arrays(floats(BLOCKS), floats(N)) },
    global(whole(4), { BLOCKS, BLOCKS, BLOCKS * 4 }, {
      shared_load_requests = BLOCKS * (2 * warps + 1), shared_load_wavefronts = BLOCKS * (2 * passes + 1),
      shared_load_conflicts = BLOCKS * 2 * (passes - warps), shared_store_requests = BLOCKS * (warps + 8),
      shared_store_wavefronts = BLOCKS * (passes + 8), shared_store_conflicts = BLOCKS * (passes - warps),
      barriers = BLOCKS * 8 * 9, requests = BLOCKS * (8 + 1 + 3 * warps + 9),
      lanes = BLOCKS * (BLOCK + 1 + 3 * threads + 1 + BLOCK) }))
end

-- Every 2nd, 4th, ... thread: up to 32 threads apart all 8 warps take part.
tree("tree_interleaved", 5 * 8 + 4 + 2 + 1, 5 * 8 + 4 + 2 + 1)
-- The first 128, 64, ... threads, whose words are 2, 4, ... apart: in 2, 4, 8 ways, and then as many as there are.
tree("tree_strided", 4 + 2 + 6, 4 * 2 + 2 * 4 + 8 + 8 + 8 + 4 + 2 + 1)
tree("tree_halved", 4 + 2 + 6, 4 + 2 + 6)

case("tree_shuffled", "tree_shuffled", { arguments = arrays(floats(W), floats(N)) },
  global(whole(4), { W, W, W * 4 }, { lanes = N + W }))

-- ---- histograms ---------------------------------------------------------------------------------

for name, bin_of in pairs { ["32 bins"] = function(i) return i % 32 end, ["one bin"] = function() return 7 end,
                            ["8 bins"] = function(i) return i % 32 // 4 end } do
  local seen, addresses, most = {}, 0, 0
  for lane = 0, WARP - 1 do
    local bin = bin_of(lane)
    addresses = addresses + (seen[bin] and 0 or 1)
    seen[bin] = (seen[bin] or 0) + 1
    most = math.max(most, seen[bin])
  end
  local function arguments(dev)
    local values = {}
    for i = 1, N do values[i] = bin_of(i - 1) end
    return { dev:zeros("u32", 32), dev:array("i32", values) }
  end
  case("histogram_global, " .. name, "histogram_global", { arguments = arguments },
    global(whole(4), { 0, 0, 0 }, { atomic_requests = W, atomic_addresses = W * addresses, atomic_contention = most,
                                    requests = 2 * W, lanes = 2 * N }))
  case("histogram_shared, " .. name, "histogram_shared", { arguments = arguments },
    global(whole(4), { 0, 0, 0 }, {
      shared_atomic_requests = W, shared_atomic_addresses = W * addresses, shared_atomic_contention = most,
      shared_store_requests = BLOCKS, shared_store_wavefronts = BLOCKS, shared_load_requests = BLOCKS,
      shared_load_wavefronts = BLOCKS, atomic_requests = BLOCKS, atomic_addresses = BLOCKS * 32, atomic_contention = 1,
      barriers = 2 * W, requests = 2 * W + 3 * BLOCKS, lanes = 2 * N + 3 * BLOCKS * WARP }))
end

-- ---- divergence: one warp -----------------------------------------------------------------------

local function divergent(kernel, arguments, loads, stores, lanes)
  case(kernel, kernel, { grid = 1, block = WARP, arguments = arguments, is_divergent = true },
    global(loads, stores, { lanes = lanes }))
end

local SUM_TO_32 <const> = 32 * 33 // 2
local ROW <const> = { 1, 4, 128 }

-- Row r is read by lanes r to 31: by 32 lanes to 25 of them 4 sectors, to 17 of them 3, ...
local triangle = { 32, 8 * (4 + 3 + 2 + 1), 4 * SUM_TO_32 }
for _, kernel in ipairs { "loop_unequal", "loop_left" } do
  divergent(kernel, arrays(floats(32), floats(N)), triangle, ROW, SUM_TO_32 + 32)
end

-- 21 of 32 lanes are left.
divergent("early_return", arrays(floats(32), floats(32), floats(32)), { 1, 4, 84 }, { 2, 8, 128 + 84 }, 21 + 32 + 21)

-- Row r is copied by lanes r + 1 to 31, and the last row by none.
local below = { 31, 8 * (4 + 3 + 2 + 1) - 4, 4 * (SUM_TO_32 - 32) }
divergent("returns_in_turn", arrays(floats(N), floats(N)), below, below, 2 * (SUM_TO_32 - 32))

divergent("two_sides", arrays(floats(32), floats(33)), { 2, 8, 128 }, ROW, 64)
divergent("four_ways", arrays(floats(32), floats(128)), { 4, 4, 128 }, ROW, 64)
divergent("loop_skipping", arrays(floats(32), floats(N)), { 32, 32 * 4, 32 * 64 }, ROW, 32 * 16 + 32)
divergent("calls_in_loop", arrays(floats(32), floats(N)), { 4, 4 + 3 + 2 + 1, 4 * (32 + 24 + 16 + 8) }, ROW, 80 + 32)
-- The second call is by odd lanes, for elements 2, 4, ..., 32.
divergent("calls_nested", arrays(floats(32), floats(33)), { 2, 4 + 5, 128 + 64 }, ROW, 32 + 16 + 32)
divergent("calls_two_sides", arrays(floats(32), floats(33)), { 2, 8, 128 }, ROW, 64)

table.sort(cases, function(a, b) return a.name < b.name end)

return cases
