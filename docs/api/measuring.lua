-- SPDX-License-Identifier: MIT
return {
  title = "measuring",
  owner = "mw",
  about = [[
Parameters, timing, checking, records and tables; [charts](charts.md) of the records.

Rates are computed from measured times. The rate of a memory-bound kernel is T_tot = bytes moved / time; that of a
stencil is T_eff = A_eff / time with A_eff = 2 x unknown fields + known fields. 1 GB is 1e9 bytes.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"]],

  classes = {
    bench_options = {
      about = "When to stop, and what a sample is. All are optional.",
      { "noise", "number", "target for the relative standard error of the median", default = "0.005" },
      { "min_time", "number", "minimum measured time", unit = "s", default = "0.5" },
      { "min_samples", "integer", "minimum number of samples", default = "10" },
      { "max_time", "number", "stop after this time in any case", unit = "s", default = "15" },
      { "samples", "integer", "exact number of samples, instead of the rule above" },
      { "batch", "integer", "calls per sample",
        default = "chosen so that a sample is well above the clock's resolution" },
      { "warmup", "integer", "calls before the first sample, in addition to those that determine the batch", default = "0" },
      { "setup", "fun()", "called before each sample, untimed; then a sample is one call" },
      { "flush", "boolean", "overwrite the device's caches before each sample", default = "false" },
      { "device", "device", "the device whose clock is used", default = "the last one opened" },
      { "stream", "stream", "where events are recorded", default = "the default stream" },
      { "clock", [["device"|"host"]], "device events, or the host's clock with a synchronisation",
        default = [["device", on the CPU device "host"]] },
      { "cold", "boolean", [[also measure with the caches overwritten before each call; a sample is one call, so short
kernels take long to reach `min_time`]], default = "false" },
      { "graph", "boolean", "also measure the function captured into a graph and replayed", default = "false" },
      { "bytes", "number", "bytes that a call reads and writes" },
      { "flops", "number", "floating-point operations of a call" },
      { "output", "array|array[]", "what each call writes completely, without reading it; checked by alarms" },
      { "input", "array|array[]", "what each call reads" },
      { "copies", "boolean", "the output may equal the input", default = "false" },
      { "peak", "number", "limit of the throughput", unit = "B/s", default = "the device's, for data beyond its cache" },
      { "peak_flops", "number", "limit of the rate", unit = "flop/s" },
      { "dtype", [["f32"|"f64"]], "type of the operations, for `mw.roofline`" },
      { "name", "string", "the function's name in alarms and in `mw.roofline`" },
      { "quiet", "boolean", "do not print alarms; they still count", default = "false" },
      { "energy", "boolean", [[also measure the energy of a call by the device's counter (NVML's, on a GPU), while it is
called for at least a second; power without work, over a second before, is subtracted. Clocks are not set. Without such a
counter, and with `setup`, a warning says so. Since 0.11.0]], default = "false" },
      { "collective", "boolean", [[in an MPI job: all ranks measure together, and a time is the greatest of theirs; false: this rank
alone. Since 0.11.0]], default = "true" },
    },
    bench_result = {
      about = [[Times in seconds per call. `tostring` gives `1.234 ms ± 0.4 % (n = 37)`: the median and half of its 95 % interval,
or the interval's ends, as in `1.234 ms (1.200 ms to 2.100 ms) (n = 37)`, where one is further than half of the median away.
`cold` and `graph` are results with the same fields, measured in turn with the main one.

In arithmetic with a number a result is its median with its interval: `bytes / t`, `1e3 * t` and `t / n` are [quantities](#quantity).
Tables and charts show the fields `t.throughput` and `t.rate` with their intervals.]],
      result = true,
      { "median", "number", "the median sample", unit = "s" },
      { "low", "number", "lower end of the median's 95 % interval: bootstrap over samples, of a contender also over its turns",
        unit = "s" },
      { "high", "number", "upper end", unit = "s" },
      { "min", "number", "the fastest sample", unit = "s" },
      { "max", "number", "the slowest sample", unit = "s" },
      { "mean", "number", "the arithmetic mean", unit = "s" },
      { "sd", "number", "standard deviation", unit = "s" },
      { "mad", "number", "median absolute deviation", unit = "s" },
      { "p05", "number", "5th percentile", unit = "s" },
      { "p25", "number", "first quartile", unit = "s" },
      { "p75", "number", "third quartile", unit = "s" },
      { "p95", "number", "95th percentile", unit = "s" },
      { "noise", "number", "relative standard error of the median" },
      { "n", "integer", "number of samples; 0 in check mode" },
      { "batch", "integer", "calls per sample" },
      { "first", "number", "time of the first call, with compilation and first touch", unit = "s" },
      { "samples", "number[]", "every sample, in order", unit = "s" },
      { "turns", "integer[]", "for contenders: where each turn begins in `samples`", optional = true },
      { "clock", "string", [["device events" or "host clock"]] },
      { "launch", "table", [[the host's time to issue a call: `median`, `low`, `high`, ... as here. On the CPU device's default stream a launch is
complete when it returns, so there this is the whole call]], unit = "s" },
      { "blocked", "boolean", [[on a CUDA device: whether samples were queued behind a gate, so that they do not include
launches; false, with a warning, if the function waits for the device]], optional = true },
      { "cost", "number", "share of the measurement that was not spent in samples" },
      { "state", "table", "`before` and `after` the samples: results of `dev:state()`", optional = true },
      { "launches", "table[]", [[what the first call launched, each with how often: `kernel` (its name), `grid`, `block`, `shared`
(bytes), `count`, and of launches outside of graphs `registers`, `blocks` (that a multiprocessor holds), `occupancy`, `limit`. Since 0.11.0]], optional = true },
      { "copies", "table", "bytes that it copied between host and device: `to_device`, `to_host`. Since 0.11.0", optional = true },
      { "flags", "string[]", [["noisy", "few samples", "outliers", "not blocked", "busy host", "shared node" (a job of Slurm that
has not all cores of its node), "throttled: <reason>", "clock fell", "alarm: <name>"; flagged results are kept]] },
      { "alarms", "table[]", "`{ name =, cause =, remedy = }` each, for impossible results" },
      { "bytes", "number", "as declared", optional = true },
      { "flops", "number", "as declared", optional = true },
      { "throughput", "number", "bytes / median", unit = "B/s", optional = true },
      { "rate", "number", "flops / median", unit = "flop/s", optional = true },
      { "intensity", "number", "flops / bytes", optional = true },
      { "peak_share", "number", "share of the nearer peak, if one is known", optional = true },
      { "cold", "bench_result", "with the caches overwritten before each call", optional = true },
      { "graph", "bench_result", "replayed as a graph; absent, with a warning, if that is not possible", optional = true },
      { "energy", "table", [[with the option `energy`: `joules` of a call without idle power, `power` (W) while it is called,
`idle_power` (W) without work, `calls` and `seconds` of the window. Since 0.11.0]], optional = true },
      { "name", "string", "as given", optional = true },
      { "dtype", "string", "as given", optional = true },
      { "device", "string", "its id", optional = true },
      { "device_name", "string", "", optional = true },
      { "warnings", "table[]", "`{ cause =, remedy = }` each; tables print them" },
    },
    bench_results = {
      about = [[Results of contenders, each with its `name`: as a list, `t[1]`, and by name, `t.tiled`. `tostring` gives one line
for each, with the ratio to the first.]],
      result = true,
      { "ratio", "fun(self: bench_results, over: string, under: string): quantity", [[`t:ratio("tiled", "naive")`: how many
times as fast one is as another, from the medians of their times. The interval covers the bootstrap over samples and the one over the
turns of both]] },
    },
    quantity = {
      about = [[A measured value with its 95 % interval, from `+ - * /` and unary minus of a benchmark's result or another quantity with a number.
`bytes / t` has the interval of the median of `t`: low and high change places, because the rate falls with the time. `tostring` gives
`4.31e12 ± 0.2 %`, half of the interval, or the ends of one that reaches beyond half of the value. `mw.type` of one is "quantity". Records store it as an object of the three fields, tables
print it as value ± x %, and charts draw it with error bars.

Arithmetic and comparisons of two quantities are errors: use `value`, or `ratio` of contenders, which has an interval.]],
      result = true,
      { "value", "number", "" }, { "low", "number", "lower end of its 95 % interval" },
      { "high", "number", "upper end" },
    },
    check_options = {
      about = "The tolerance. By default integers are compared exactly, floats within 4 eps of the value.",
      { "relative", "number", "relative to the expected value" },
      { "absolute", "number", "in addition" },
      { "sum", "integer", "number of terms, if each element is a sum: the tolerance grows with its square root" },
      { "exact", "boolean", "no tolerance", default = "false" },
      { "most", "integer", "number of wrong elements shown", default = "5" },
      { "name", "string", "the array's name in the report" },
      { "quiet", "boolean", "print nothing; a failed check still sets the exit status", default = "false" },
      { "rms", "boolean", "the report has `rms`. Since 0.11.0", default = "false" },
    },
    check_report = {
      about = "The result of `mw.check`. `tostring` gives it in words.",
      result = true,
      { "ok", "boolean", "" },
      { "wrong", "integer", "elements outside the tolerance" },
      { "count", "integer", "elements compared" },
      { "first", "table[]", "the first wrong ones: `{ index = {i, j}, expected =, got = }`" },
      { "max_abs", "number", "largest error; NaN if one side of an element is" },
      { "max_rel", "number", "largest error relative to the expected value" },
      { "rms", "number", "with the option `rms`: root mean square of the errors; infinite if one side of an element is NaN", optional = true },
      { "absolute", "number", "the tolerance: |got - expected| <= absolute + relative * |expected|" },
      { "relative", "number", "" },
      { "tolerance_why", "string", "how the tolerance was chosen" },
    },
    tune_spec = {
      about = [[What is tried, and how. A variant `v` is a table of values by the parameters' names, as in `{ bx = 32, by = 8 }`.]],
      { "space", "table", [[the values of each parameter, the simplest first: `{ bx = { 16, 32 }, by = { 4, 8 } }` in the order of the
names, `{ { "bx", { 16, 32 } }, { "by", { 4, 8 } } }` in an order of one's own. The first one is the slowest]] },
      { "launch", "fun(v: table, module: module?): function|launch?, string?", [[returns what launches the variant; or nil and why the
device cannot]] },
      { "compile", "fun(v: table): table", [[the options of `dev:module` for a variant, which is given to `launch`; such modules are compiled
ahead by other processes while a GPU measures, on the CPU device before it measures]] },
      { "where", "fun(v: table): boolean", "whether there is such a variant", default = "all" },
      { "output", "array|array[]", [[filled before each run that is checked: with NaN or the greatest integer, the second time with another number]] },
      { "check", "any", [[what the first `output` must equal, as `mw.check` takes it; or `function(v, look)`, which compares by
`look(got, expected, options)`, as `mw.check` but that nothing is printed and no check of the run fails, or returns whether the
variant is right]], default = "only errors of a variant leave it out" },
      { "objective", "string|string[]", [["t", "energy" (of a call, by `mw.bench`) or "error" (the greatest absolute one of what `check` compares); of
two also `front`, the variants that no other is better than in both; the first one is searched for]], default = '"t"' },
      { "within", "number", "slower variants do not count", unit = "s" },
      { "search", "string", [["brute force", "groups" (one group of parameters after the other, until none changes), "random", "local" (greedy steps to
a better neighbour, from several places), "annealing", "halving" (many in little time, the better half in twice the time)]],
        default = '"brute force"; with `groups` "groups"' },
      { "groups", "table", "lists of all parameters, which are tuned together: `{ { \"bx\", \"by\" }, { \"unroll\" } }`", default = "each by itself" },
      { "start", "table", "the variant that a search begins with", default = "the first one" },
      { "seed", "integer", "of the searches that draw lots; the same gives the same order", default = "1" },
      { "most", "integer", "variants that are tried", default = "a quarter of them; all of brute force and groups" },
      { "time_limit", "number", "no variant is begun after it", unit = "s", default = "none" },
      { "min_time", "number", "of measuring a variant in the search; the best ones are measured 21 times as long", unit = "s",
        default = "0.01, on the CPU device 0.02" },
      { "prefer", "fun(v: table): number", "the less, the simpler; of equal ones the first in the space's order is simpler" },
      { "bytes", "number|fun(v: table): number", "moved by a call, for alarms of `mw.bench`" },
      { "flops", "number|fun(v: table): number", "the same, operations" },
      { "device", "device", "whose clock is used", default = "that of `output`, else the last one opened" },
      { "kernel", "string", [[the kernel's file and a name, as in "stencil.cu:diffusion": the best values are kept for `mw.tuned`]],
        default = "they are not kept" },
      { "size", "number|table", "for which they are kept: `n`, or sides by name" },
      { "name", "string", "of the tuning in records and charts", default = '"tuning"' },
      { "resume", "boolean|string", [[take what a run that was killed, interrupted or failed has measured: the newest one that has variants of this tuning, or that of this
folder. Script, kernels, parameters and device must be the same; of a folder the script, and a parameter that is its name, may be others]], default = "false" },
      { "quiet", "boolean", "print and draw nothing; the words are kept", default = "false" },
    },
    tune_row = {
      about = "A variant that was tried.",
      result = true,
      { "v", "table", "its values by name" },
      { "number", "integer", "its place in the space" },
      { "value", "number", "of the objective; absent if it does not count", optional = true },
      { "t", "quantity", "its time", unit = "s", optional = true },
      { "energy", "number", "of a call", unit = "J", optional = true },
      { "error", "number", "the greatest absolute error", optional = true },
      { "reason", "string", "why it does not count", optional = true },
      { "ratio", "table", "of the best and its ties: `value`, `low`, `high`, how many times the least value its own is", optional = true },
    },
    tune_result = {
      about = "What a tuning has found.",
      result = true,
      { "best", "tune_row", "the winner; absent if no variant counts, and in check mode", optional = true },
      { "ties", "tune_row[]", "those that are not sure to be more than 1 % worse, but for the winner" },
      { "front", "tune_row[]", "of two objectives: those that no other is better than in both", optional = true },
      { "rows", "tune_row[]", "all that were tried, in order" },
      { "tried", "integer", "how many" },
      { "size", "integer", "variants of the space" },
      { "history", "table[]", "the records of the search" },
      { "searched", "number", "time of the search", unit = "s" },
      { "seconds", "number", "time of all", unit = "s" },
    },
    tuned_options = {
      about = "All are optional.",
      { "device", "device", "on which it was tuned", default = "the last one opened" },
      { "objective", "string", "for which", default = '"t"' },
      { "quiet", "boolean", "do not say that the size is another one", default = "false" },
    },
    arg_limits = {
      about = "The allowed values of a parameter.",
      { "min", "number", "smallest number" },
      { "max", "number", "largest number" },
      { "choices", "any[]", "list of allowed values" },
      { "check", "function", [[called with a value; returns nothing, or what is expected instead, as in "an even number"]] },
      { "kind", [["blocks"]], [[the texts are blocks of threads. The default is a list of texts; `32x4` and `8x8x4` are one
block each, `32` is every block of 32 x 2^k threads, from 32 to 1024 threads. The value is a list of blocks such as
{ 32, 4 }, without duplicates]] },
    },
    environment_result = {
      about = "Where a measurement comes from, as plain tables. Unknown values are absent.",
      result = true,
      { "date", "string", "UTC, ISO 8601" }, { "moonwarp", "string", "version" }, { "lua", "string", "version" },
      { "device", "table", [[`id`, `name`, `uuid`, `arch`, `driver` (with NVRTC, or the C++ compiler), `kernel_driver`,
`multiprocessors`, `memory`, `clock_max`, `memory_clock_max`, `peak_bandwidth`, `power_limit`, `governor`]],
        optional = true },
      { "machine", "table", "`cpu`, `cores`, `memory`, `kernel`, `os`; not the host name" },
      { "slurm", "table", [[in a job of Slurm: `job`, `node`, `cores` (that the job has), `of` (the node's), `shared` (true: not all
of them)]], optional = true, since = "0.8.0" },
      { "compiler", "string", "of the CPU device", optional = true },
      { "git", "table", "`revision` of the script's folder, and whether it is `dirty` (absent if git could not say)", optional = true },
      { "argv", "string[]", "the command line", optional = true },
    },
    roofline_spec = {
      about = "A roofline. Every field is optional.",
      { "device", "device", "the device whose ceilings are shown", default = "the last one opened" },
      { "records", "table[]", "records with bytes and flops", default = "all of this run, and unrecorded benchmarks" },
      { "by", "string", "the field that names a kernel", default = "kernel, series, rung, version, name or study" },
      { "dtype", [["f32"|"f64"]], "element type if a record does not name it", default = [["f32"]] },
      { "ceilings", "table", "`bandwidth`, `f32`, `f64`, and `l2` if it is known, instead of measured ones" },
      { "title", "string", "" }, { "name", "string", "of the files" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no SVG or PNG", default = "true" },
    },
    roofline_made = {
      about = "The kernels under the roofline, and the files written.",
      result = true,
      { "ceilings", "table", "`bandwidth` (B/s), `f32`, `f64` (flop/s)" },
      { "points", "table[]", "`kernel`, `dtype`, `intensity`, `rate`, `throughput`, `roof`, `share`, `bound` (\"memory\", \"L2\", \"compute\" or \"cache\") each" },
      { "words", "string", "the same in words, one line per kernel" },
      { "chart", "string", "the chart in the terminal" },
      { "dat", "string", "path of the data" }, { "gp", "string", "path of the gnuplot script" },
      { "svg", "string", "path", optional = true }, { "png", "string", "path", optional = true },
      { "reason", "string", "why there are no pictures", optional = true },
    },
    table_spec = {
      about = "The list of columns, and options. A column is a field's name or `{ field, title =, unit =, digits = }`; `unit` is for "
        .. "fields without one in the records. A list in a cell is written as the sizes of a block are, 32 x 8.",
      { "title", "string", "", default = [["records"]] },
      { "records", "table[]", "the rows", default = "all of this run" },
      { "quiet", "boolean", "print nothing", default = "false" },
    },
  },

  entries = {
    {
      name = "arg", forms = { "mw.arg(name, default[, help[, limits]])" },
      about = [[A parameter of the script that the command line can set: `-p n=8192`. The text is converted to the
default's type; `1e6` and `2^20` are integers. `-p n=1,2,4` runs the script once for each value; if the default is a
list, it takes all values at once.

A script asks for all of its parameters before its first `mw.bench` or `mw.record`. There, or at the end of the script,
`moonwarp run` reports names that the script did not ask for, with exit status 2. `mw.arg` reports a wrong value; all values
of a sweep are checked in its first pass.

Records keep the parameters, and a parameter is a field of theirs wherever a field is named: `mw.plot { x = "n" }`, `mw.table { "n" }`. A
record's own field of that name wins. A parameter that is swept is a column of `mw.table` without being named.

In a sweep an error that a value can be the cause of ends only its pass: one with the status "invalid", "not_found", "no_memory",
"compile", "unsupported", "fault" or "driver", such as a block that the device does not take. Tables of the sweep say why in the pass's row, and the
exit status is 3; it is that of the error if no pass came to its end. Any other error, such as a message of Lua's, ends the sweep.]],
      params = { { "name", "string", "" },
        { "default", "number|string|boolean|table", "determines the parameter's type" },
                 { "help", "string", "what it means", optional = true },
                 { "limits", "arg_limits", "the allowed values", optional = true } },
      returns = { { "any", "the value" } },
      errors = { "parameter 'n' must be an integer, got 'many'",
                 "parameter 'n' must be a number from 1 to 4096, got '0'",
                 "parameter 'kind' must be one of random, sorted, got 'sortde'; did you mean 'sorted'?",
                 "parameter 'b' must be a block of 1 to 1024 threads such as 32x4, or a width such as 32, got '32x64'",
                 "unknown parameter 'nn'; did you mean 'n'?; a script asks for its parameters before its first measurement, at <file>:<line>",
               }, since = "0.1.0",
      example = [[print(mw.arg("n", 4096, "edge of the array")) --> 4096]],
    },
    {
      name = "bench", forms = { "mw.bench(f[, options])", "mw.bench({ naive = f, tiled = g }[, options])" },
      about = [[Measures the time of a function: first one separate call, then warm-up, then samples until the targets for
noise, time and number of samples are all met, or the time limit is reached.

On a GPU a sample is the time between two events on the device. It is queued behind a gate that opens when the host is far
enough ahead, so a sample does not include launches; `launch` has their time. A function that waits for the device, or queues
for more than 50 ms, is measured without the gate (`blocked` is false). To time a whole phase use `{ clock = "host" }`: the
host's time with the device synchronised.

An impossible result raises an alarm: it is printed on standard error, listed in `alarms`, and the program ends with
exit status 3, as after a failed `mw.check`.

| alarm | when |
|---|---|
| above_peak | `bytes` over the time exceed the device's peak, for data larger than twice its L2 cache, or `peak`; `flops` over the time exceed `peak_flops` |
| too_fast | the function declares work and takes less than half the time of an empty launch |
| not_synchronised | the device is still working when the measured stream is done |
| not_written | parts of `output` still have a pattern that was written after `setup`, before a run; their contents are restored |
| copied | `output` equals `input`, which is not a single value throughout |

The last two run the function again, at least twice.

On a device in check mode nothing is timed and no alarm is raised: the function runs once. The result has no samples, its
`n` is 0, and its times and rates are NaN, as is what arithmetic makes of them; `tostring` and tables say "not timed". Charts
and rooflines of such records are not drawn; what is returned has `reason`. A record keeps `{ n = 0 }`.

A table of functions is measured in turn: `{ naive = f, tiled = g }` in the order of the names, `{ { "naive", f }, { "tiled", g } }`
in the order given. The limits apply to each; `cold` and `graph` are not available. A turn takes a fifth of `min_time`, and turns
continue until all have met their targets, so that a change of the machine's speed affects all of them. A contender finds the caches as
the previous one left them, after one untimed call. The result is a list of results; record each one separately.]],
      params = { { "f", "function|launch|table", "called without arguments; or a table of contenders" }, { "options", "bench_options", "",
        optional = true } },
      returns = { { "bench_result", "see below; for contenders a `bench_results`" } },
      overloads = { "fun(contenders: table, options?: moonwarp.bench_options): moonwarp.bench_results" },
      errors = { "mw.bench: a function is wanted, got <type>; as in mw.bench(function() go(x, n) end)", "mw.bench: option 'noise' must be at least 0, got <n>",
                 "mw.bench: unknown option '<name>'; did you mean '<nearest>'?",
                 "mw.bench: contender '<name>' must be a function, got <type>; as in mw.bench { naive = f, tiled = g }",
                 "mw.bench: there are two contenders named '<name>'",
                 "mw.bench: option 'cold' is for one function; contenders are measured hot",
                 "ratio: there is no contender '<name>'; there are <names>", "interrupted" },
      source = "noise: sqrt(pi / 2) * 1.4826 * MAD / sqrt(n) / median, the standard error of a median of normal samples; "
        .. "low, high: the ideal bootstrap of the median, B. Efron, The Jackknife, the Bootstrap and Other Resampling Plans "
        .. "(1982), chapter 10; the gate: nvbench's blocking kernel",
      since = "0.1.0",
      example = [[
local a, b = dev:full(1, "f32", 1000), dev:zeros("f32", 1000)
local t = mw.bench(function() b:copy(a) end, { samples = 5 })
print(t.n, t.min <= t.median) --> 5  true
local rate = 2 * a:nbytes() / t
print(mw.type(rate), rate.low <= rate.value) --> quantity  true

local two = mw.bench({ copy = function() b:copy(a) end, fill = function() b:fill(1) end }, { samples = 5 })
print(two[1].name, two.fill.n, two:ratio("fill", "copy").value > 0) --> copy  5  true]],
    },
    {
      name = "tune", forms = { "mw.tune{ space =, launch =, output =, check =, ... }" },
      about = [[Finds the best variant of a kernel over a space of parameters. [tuning.md](../tuning.md) explains it.

Each variant is compiled, timed, and checked on outputs that hold NaN. One that fails is a row with
its reason, and so is one whose time is impossible (alarms of `mw.bench`). Then those that may be within 5 % of the best, a tenth of the space and
twelve at most, are measured in turn until each is more than 1 % slower than the best or is not, and checked once more. Those that are not sure to be slower are its
ties. Of those within 0.5 % the simplest is the winner.

Every variant is a record: the parameters, `tuning` (the name), `variant`, `stage` ("search" or "final"), `t`, `best` (so far), `evaluation`,
`elapsed`, `reason`. Charts show the best so far against variants and against time, and two parameters as a map.

In check mode nothing is timed: each variant runs once. What is found is its reason, and fails the run.]],
      params = { { "spec", "tune_spec", "" } },
      returns = { { "tune_result", "" } },
      errors = { "mw.tune: needs 'launch', a function of a variant that returns one that launches it",
                 "mw.tune: needs 'space', as in { bx = { 16, 32 }, by = { 4, 8 } }",
                 "mw.tune: 'space' is empty; give it values, as in { bx = { 16, 32 } }",
                 "mw.tune: 'where' leaves none of the <n> combinations of 'space'",
                 "mw.tune: parameter '<name>': records have a '<name>' of their own; take another name",
                 "mw.tune: 'launch' must return a function that launches, or nil and why the device cannot, got <type>",
                 "mw.tune: option 'objective': there is no '<name>'; there is t, energy, error",
                 "mw.tune: option 'search': there is no '<name>'; did you mean '<nearest>'?",
                 "mw.tune: 'groups' leaves out '<name>', which would never change; give it a group: { \"<name>\" }",
                 "mw.tune: 'prefer' must give a number, got nil for <variant>",
                 "mw.tune: a size is a number or its sides by name, as in { nx = 1024, ny = 1024 }, got n = nan",
                 "mw.tune: there is no kernel file '<name>'; a kernel is its file, and its name after a colon: \"stencil.cu:diffusion\"",
                 "mw.tune: cannot resume: <folder>: <reason>" },
      source = "B. van Werkhoven, Kernel Tuner (2019); Oxford's course on CUDA, practical 10",
      since = "0.11.0",
      example = [[
local x, y = dev:full(1, "f32", 1000), dev:array("f32", 1000)
local m = dev:module { source = "__global__ void scale(float *y, const float *x, int n) {"
  .. "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i]; }" }
local result = mw.tune { space = { block = { 32, 64, 2048 } }, output = y, check = 2, min_time = 1e-4, quiet = true,
  launch = function(v)
    local go = m.scale:prepare { grid = 4, block = v.block }
    return function() go(y, x, 1000) end
  end }
print(result.tried, result.best.v.block < 2048, result.rows[3].reason ~= nil) --> 3  true  true]],
    },
    {
      name = "tuned", forms = { "mw.tuned(kernel, size[, options])" },
      about = [[The best values that a tuning has found for a kernel on the device, for the nearest size, which is said: the sum of the
logarithms of the sides' ratios is least. Sides that are no numbers must be equal. What was tuned with another source of the kernel (its file,
and the headers beside it) or on another device does not count.

The values are in a JSON file: `$MOONWARP_TUNED`, else `$XDG_CONFIG_HOME/moonwarp/tuned.json`, else `~/.config/moonwarp/tuned.json`.
`moonwarp tuned list` shows them, `forget` removes some.]],
      params = { { "kernel", "string", "as `mw.tune` was given it" }, { "size", "number|table", "the same" },
                 { "options", "tuned_options", "", optional = true } },
      returns = { { "table?", "values by the parameters' names; nil if there are none" },
                  { "table|string", "what is kept, with `size`, `value`, `tried` and `date`; or why there is nothing" } },
      errors = { "mw.tuned: a kernel is its file and its name, as in \"stencil.cu:diffusion\", got <type>",
                 "mw.tuned: a size is a number or its sides, as in { nx = 1024, ny = 1024 }, got <type>",
                 "mw.tuned: there is no kernel file '<file>'; a kernel is its file, and its name after a colon: \"stencil.cu:diffusion\"" },
      since = "0.11.0",
      example = [[print(mw.tuned("stencil.cu:none", { nx = 64, ny = 64 })) --> nil  it has not been tuned]],
    },
    {
      name = "ceil_div", forms = { "mw.ceil_div(a, b)" },
      about = [[a / b, rounded up: the number of blocks of b threads for a elements.]],
      params = { { "a", "integer", "" }, { "b", "integer", "not 0" } },
      returns = { { "integer", "" } },
      errors = { "mw.ceil_div: argument <i> must be an integer, got <value>", "mw.ceil_div: division by 0" },
      since = "0.4.0",
      example = [[print(mw.ceil_div(1000, 256)) --> 4]],
    },
    {
      name = "geometric", forms = { "mw.geometric(first, last[, factor])" },
      about = [[The sizes from `first` to `last`, each `factor` times the previous one; if `last` is smaller, each is divided by
`factor` and rounded down. For the cases of a sweep.]],
      params = { { "first", "integer", "at least 1" }, { "last", "integer", "at least 1; the list does not go beyond it" },
                 { "factor", "integer", "at least 2", default = "2", optional = true } },
      returns = { { "integer[]", "" } },
      errors = { "mw.geometric: argument <i> must be an integer, got <value>", "mw.geometric: sizes of at least 1 are wanted, got <n>",
                 "mw.geometric: a factor of at least 2 is wanted, got <n>" },
      since = "0.4.0",
      example = [[
print(table.concat(mw.geometric(64, 512), " ")) --> 64 128 256 512
print(table.concat(mw.geometric(1000, 10, 8), " ")) --> 1000 125 15]],
    },
    {
      name = "bank_conflict", forms = { "mw.bank_conflict(address[, bytes])" },
      about = [[How many passes of shared memory the access of a warp takes, where one without conflicts takes one: computed from the
addresses by CUDA's rule, not measured. There are 32 banks of 4 bytes, and words that are 32 words apart share a bank. A pass
serves one word of each bank, to all lanes that want it. Accesses of 8 and 16 bytes go by half and by quarter warps; the number is
that of the worst of them.]],
      params = { { "address", "fun(lane: integer): integer?",
                   "the first byte that lane 0 to 31 accesses, from the beginning of shared memory; nil: it does not" },
                 { "bytes", "integer", "of a lane's access: 1, 2, 4, 8 or 16", default = "4", optional = true } },
      returns = { { "integer", "1 without conflicts, 32 at worst" } },
      errors = { "mw.bank_conflict: a function of the lane is wanted, got <type>",
                 "mw.bank_conflict: lane <n> has no address: an integer of at least 0, or nil, is wanted, got <value>",
                 "mw.bank_conflict: an access has 1, 2, 4, 8 or 16 bytes, got <n>" },
      source = "CUDA C++ Programming Guide, shared memory of compute capability 5.0 and later",
      since = "0.8.0",
      example = [[
print(mw.bank_conflict(function(lane) return lane * 32 * 4 end)) --> 32
print(mw.bank_conflict(function(lane) return lane * 33 * 4 end)) --> 1]],
    },
    {
      name = "environment", forms = { "mw.environment([device])" },
      about = [[The environment of a measurement: device, driver, machine, compiler, revision, command line, date. No setting
is changed.]],
      params = { { "device", "device", "", optional = true } },
      returns = { { "environment_result", "see below" } }, since = "0.3.0",
      example = [[print(mw.environment(dev).device.id) --> cpu]],
    },
    {
      name = "roofline", forms = { "mw.roofline([options])" },
      about = [[Takes the device's [ceilings](../ceilings.md), which are measured once (main memory by the triad, multiply-adds in f32 and f64), and places under them
every benchmark of the run that declared bytes and flops, and every record with `bytes`, `flops` and `t`: in a table, in one line
of words each (memory- or compute-bound, share of its roof; a kernel faster than memory has its data from a cache, and its roof is
that of the L2 cache, whose triad is then measured, or beyond it the arithmetic), and in a chart with the names at the points. [`moonwarp roofline`](../explain.md#rooflines) draws
it of stored runs, by the bytes that were counted.]],
      params = { { "options", "roofline_spec", "", optional = true } },
      returns = { { "roofline_made", "see below" } },
      errors = { "mw.roofline: nothing here declares both bytes and flops; give them to mw.bench",
                 "mw.roofline: option 'dtype' must be 'f32' or 'f64', got '<text>'",
                 "mw.roofline: option 'ceilings': <name> must be a number above 0, got <value>; leave ceilings out to measure them",
                 "mw.roofline: no device is open; mw.device() opens one" },
      source = "S. Williams, A. Waterman and D. Patterson, Roofline: an insightful visual performance model for multicore "
        .. "architectures (2009)", since = "0.3.0",
      example = [[
local records = { { kernel = "copy-like", bytes = 8e6, flops = 1e6, t = 1e-3 } }
local made = mw.roofline { records = records, ceilings = { bandwidth = 1e10, f32 = 1e11, f64 = 5e10 }, quiet = true,
                           pictures = false, name = "example-roofline" }
print(made.points[1].bound, made.points[1].share) --> memory  0.8]],
    },
    {
      name = "check", forms = { "mw.check(got, expected[, options])" },
      about = [[Compares an array with the expected result. The tolerance follows the rounding of the element type and the
length of sums. Wrong elements are reported on standard error, and the program ends with exit status 3. NaN equals NaN. The run's record
keeps every check; a script that `moonwarp` runs leaves one if it only checks.

Whether something holds is a check too, with a name: `mw.check(at == 40, nil, { name = "the pulsar at its trial" })`.]],
      params = {
        { "got", "array|boolean", "on any device" },
        { "expected", "array|table|number|function?",
          "of the same type and shape; a number is every element; a function "
          .. "gets the indices i[, j, ...]" },
        { "options", "check_options", "", optional = true },
      },
      returns = { { "boolean", "", name = "ok" }, { "check_report", "see below", name = "report" } },
      errors = { "mw.check: an array or a truth value is wanted, got <type>",
        'mw.check: a truth value needs a name, as in { name = "it is found" }',
        "mw.check: got an array of <dtype>, expected one of <dtype>",
        "mw.check: the shapes differ: got <n>, expected <m>",
        "mw.check: the function must return a number, got nil for [<i>, <j>]" },
      source = "N. Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 4; N. Higham and T. Mary, A new "
        .. "approach to probabilistic rounding error analysis (2019)",
      since = "0.1.0",
      example = [[
local a = dev:array("i32", { {1, 2}, {3, 40} })
local ok, report = mw.check(a, function(i, j) return i + 2 * (j - 1) end, { quiet = true })
print(ok, report.wrong)                             --> false  1
print(table.concat(report.first[1].index, ", "))    --> 2, 2]],
    },
    {
      name = "record", forms = { "mw.record{ ... }" },
      about = [[Stores one measurement in the run's record ([docs/record.md](../record.md)), and as a line of JSON in the file given with `--json`:
the given fields, and date, script, device, version and parameters. A benchmark result is stored with its statistics. It is
written at once, so no measurement is lost.

Fields are numbers, texts, booleans, quantities, and lists or tables of them; other values are errors, and so are the results of several
contenders together. Texts, integers, booleans, and blocks and grids such as { 32, 8 } count as chosen, not measured: `compare` uses them to identify the measurement.

Numbers are in base units, which tables, charts, reports and exports show with prefixes. `units` gives the unit of a field, as in
`units = { rate = "flop/s" }`: "s", "B", "iB" (bytes, shown in KiB, MiB, ...), "B/s", "1/s", "flop/s", "Hz", "%" (1 is 100 %); any other
text is shown without prefixes. These fields need no unit: `T_tot`, `T_eff` and `bandwidth` are in B/s, `bytes` and `nbytes` in iB,
`t` and `seconds` in s, and the fields of a benchmark, such as `t.median` and `t.rate`, have those of `bench_result`. No other name
has a unit.]],
      params = { { "values", "table", [[as in `{ threads = 256, T_tot = bytes / t, t = t }`; `units`: a table of base units by
the names of fields]] } },
      returns = { { "table", "the record, with the added fields" } },
      errors = { "mw.record: a table is wanted, got <type>", "mw.record: <path>: <reason>",
                 "mw.record: field '<name>' is of type function; numbers, texts, truth values, and lists or tables of them are kept",
                 "mw.record: field '<name>' is the results of several contenders: keep one per record, as in for _, r in ipairs(t) do "
                   .. "mw.record { kernel = r.name, t = r } end",
                 "mw.record: field 'date' is moonwarp's own and must be a string, got <type>",
                 "mw.record: 'units' has '<name>', which is no field of the record; did you mean '<nearest>'?" }, since = "0.1.0",
      example = [[
local r = mw.record { threads = 256, t = 0.5, rate = 4e9, units = { rate = "flop/s" } }
print(r.device, r.threads) --> cpu  256]],
    },
    {
      name = "table", forms = { "mw.table{ \"threads\", \"T_tot\", ..., title = }" },
      about = [[Prints records as an aligned table: one unit per column, the device in the title, and the warnings of
the benchmarks below, each with the noisiest row that has it. A benchmark or a quantity is printed as value ± x %, half of its 95 % interval,
or as value (low to high) where an end is further than half of the value away.]],
      params = { { "spec", "table_spec", "columns in a list, and options" } },
      returns = { { "string", "what was printed" } },
      errors = { "mw.table: at least one column is needed, got none" }, since = "0.1.0",
      example = [[
local records = { { threads = 32, T_tot = 1.5e9 }, { threads = 64, T_tot = 20e9 } }
mw.table { "threads", "T_tot", records = records }]],
    },
    {
      name = "skip", forms = { "mw.skip(reason)" },
      about = [[Ends a script, or a pass of a sweep, that cannot run on this machine. This is not a failure: `moonwarp run`
prints the reason, stores it with the remarks if the run has results, continues with the next pass, and exits with status 0.
`moonwarp batch` shows a lab that only skips as skipped and does not evaluate its gates. In a stock interpreter it is an error with
that text.]],
      params = { { "reason", "string", "why" } },
      errors = { "mw.skip: the reason must be a text, got nil" }, since = "0.4.0",
      example = [[print(pcall(mw.skip, "no GPU")) --> false  skipped: no GPU]],
    },
    {
      name = "remark", forms = { "mw.remark(format, ...)" },
      about = [[Prints a wrapped paragraph and stores it in RUN/remarks.txt: a conclusion in words, computed from the
numbers.]],
      params = { { "format", "string", "as string.format takes it" }, { "...", "any", "values" } },
      returns = { { "string", "the paragraph" } },
      errors = { "mw.remark: a text is wanted, got <type>", "mw.remark: bad argument #<i> to 'string.format' (number expected, got string)" },
      since = "0.2.0",
      example = [[mw.remark("The vector copy is %.0f %% faster.", 12.4)]],
    },
  },
}
