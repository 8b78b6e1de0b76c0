-- SPDX-License-Identifier: MIT
--
-- The six studies as labs, for `moonwarp batch`: main memory first, then what needs more of the
-- machine. docs/lab.md says what may be written here.
--
-- Gates without devices hold on a GPU and on the CPU device, and are loose: they find a rung that is
-- broken, not one that is a little slower. Those for "cuda" are about a tenth below what one H200
-- reached (docs/measurements.md).

local GPU = "cuda"

local function rung(name, group)
  return { rung = name, group = group }
end

return {
  name = "studies",
  defaults = { time_limit = "10 min", memory_limit = "16 GiB", devices = { "cuda", "cpu" } },

  { name = "memcopy", title = "How fast is main memory?", study = "memcopy", tags = { "core", "memory" },
    gates = {
      { record = rung "block 32 x 8", field = "T_tot", at_least = 0.1, of = rung("library copy", "rungs") },
      { record = rung "block 32 x 8", field = "T_tot", at_least = 0.8, of = rung("library copy", "rungs"),
        devices = GPU },
      { record = rung "16 bytes a thread", field = "T_tot", at_least = 0.9,
        of = rung("library copy", "rungs"), devices = GPU },
    } },

  { name = "stencil", title = "How near to that is a diffusion step?", study = "stencil", needs = "memcopy",
    tags = { "core", "memory" },
    gates = {
      { record = rung "naive", field = "T_eff", at_least = 0.3, of = rung "triad: no derivatives" },
      { record = rung "naive", field = "T_eff", at_least = 0.85, of = rung "triad: no derivatives", devices = GPU },
      { record = rung "8 steps a pass", field = "T_eff", at_least = 3, of = rung "naive", devices = GPU },
    } },

  { name = "cumsum", title = "How does a running sum keep memory busy?", study = "cumsum", needs = "memcopy",
    tags = { "core", "memory", "cooperation" },
    gates = {
      { record = { rung = "dim 2, a register", type = "f64" }, field = "T_eff", at_least = 0.4,
        of = { rung = "copy along y", type = "f64" } },
      { record = { rung = "dim 3, blocks in pace", type = "f64", group = "ladder" }, field = "T_eff",
        at_least = 0.85, of = { rung = "copy, 16 bytes a thread", type = "f64", group = "ladder" }, devices = GPU },
    } },

  { name = "reduction", title = "How do a million threads agree on one number?", study = "reduction",
    needs = "memcopy", tags = { "core", "cooperation" },
    gates = {
      { record = { method = "16 bytes, last block", group = "over the grid", op = "sum", type = "f32" },
        field = "T_tot", at_least = 1, of = { method = "lock", group = "over the grid", op = "sum", type = "f32" } },
      { record = { method = "16 bytes, last block", group = "over the grid", op = "sum", type = "f32" },
        field = "T_tot", at_least = 1.6, devices = GPU,
        of = { method = "last block", group = "over the grid", op = "sum", type = "f32" } },
    } },

  { name = "nbody", title = "What limits arithmetic?", study = "nbody", tags = { "core", "arithmetic" },
    gates = {
      { record = rung("rsqrtf", "rungs"), field = "interactions", at_least = 1, of = rung("direct", "rungs") },
      { record = rung("rsqrtf", "rungs"), field = "interactions", at_least = 2, of = rung("direct", "rungs"),
        devices = GPU },
    } },

  { name = "streams", title = "How much of a copy can be hidden?", study = "streams", needs = "memcopy",
    tags = { "core", "transfer" },
    gates = {
      { record = { group = "host", series = "pinned, in" }, field = "T_tot", at_least = 0.2,
        of = { group = "host", series = "pageable, in" } },
      { record = { group = "host", series = "pinned, in" }, field = "T_tot", at_least = 2,
        of = { group = "host", series = "pageable, in" }, devices = GPU },
    } },
}
