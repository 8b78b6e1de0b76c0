-- SPDX-License-Identifier: MIT
--
-- The measured figures as data: docs/generate/measurements.lua checks them and makes docs/measurements.md of them.
--
-- A section is docs/measurements/<section>.lua:
--   title, text         the section's heading, and what all of its figures share
--   figures             in the order shown, one record per figure:
--     what              what was measured; "over" is a ratio, "the same" continues the figure before
--     value, unit       numbers; several in the order that `what` names; no unit: a ratio, a count, or a share
--     wanted            the target that was set before, with ": missed" if it was
--     device            a name in `devices`
--     date              yyyy-mm-dd
--     version           what was measured: "0.9.0", or "after 0.9.0" between two releases
--     command           what measures it again
--     record            the file under docs/records that has what was printed
--     note              at most two sentences: what limits the figure, how it was measured

return {
  title = "Measurements",
  text = [[
Every figure here comes from one command of this repository, and names its device and date. Most figures are ratios of
two things measured in turn in one process, because times of two runs differ by more than most of these ratios (other
processes, clocks, caches).

- `make bench` runs every script of tests/bench; each prints one line per figure with value and target. To run one:
  `build/moonwarp run tests/bench/launch.lua`; in an unpacked bundle `bin/moonwarp run tests/bench/launch.lua`.
- `./bench-gpu` in an unpacked bundle runs all that need a GPU, with every spec and study; it needs make, gcc and nvcc,
  not Lua.
- Contenders take turns sample by sample, so that a slow moment of the machine affects all of them. A figure is the ratio
  of the medians; the noise is the relative standard error of the median (1.2533 * 1.4826 * MAD / sqrt(n) / median).
- Times on a GPU are between two events on the device. Times on the CPU device are the host's monotonic clock around
  completed work.
- Nothing else ran on the machine; where this was not possible, the noise shows it.
- The hand-written C of tests/bench is compiled with the flags named in it. Its OpenMP threads wait passively, because
  spinning threads would take cores from the device under test.]],

  devices = {
    { "cpu2", [[2 virtual cores of an AMD EPYC (Zen 5), no GPU, Debian 12, g++ 12.2, clang++ 14.0.6, PoCL 3.1, CUDA toolkit
13.0; shared with other work, so times vary and only ratios are worth quoting]] },
    { "h200", [[NVIDIA H200 (two in the host), CUDA driver 13.0, NVRTC 13.0; host: Intel Xeon, 16 or 32 virtual cores,
g++ 13.3]] },
    { "h200-host", "the CPU device of h200's host" },
    { "h100", "NVIDIA H100 80GB HBM3, CUDA driver 13.0, NVRTC 13.0" },
  },

  sections = { "launches", "cpu", "check", "files", "splitter", "measuring", "mutants", "studies", "labs", "suites",
    "references", "known", "lectures", "tried", "gpu", "bench-gpu" },
}
