-- SPDX-License-Identifier: MIT
return {
  title = "measuring",
  owner = "mw",
  about = [[
The half of the library that turns a kernel into a number to trust: parameters, timing, checking, records, tables,
charts.

Rates are always derived from measured times. A memory-bound kernel is judged by T_tot = bytes moved / time, a
stencil by T_eff = A_eff / time with A_eff = 2 x unknown fields + known fields. 1 GB is 1e9 bytes.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"]],

  classes = {
    bench_options = {
      about = "When to stop, and what a sample is.",
      { "noise", "number", "relative standard error of the median to reach", default = "0.005" },
      { "min_time", "number", "measured time to reach", unit = "s", default = "0.5" },
      { "min_samples", "integer", "samples to reach", default = "10" },
      { "max_time", "number", "stop after this whatever is reached", unit = "s", default = "15" },
      { "samples", "integer", "exactly so many samples instead of the rule above" },
      { "batch", "integer", "calls a sample",
        default = "chosen so that a sample is well above the clock's resolution" },
      { "warmup", "integer", "calls before the first sample, beside those that find the batch", default = "0" },
      { "setup", "fun()", "called before each sample, not timed; a sample is then one call" },
      { "flush", "boolean", "overwrite the device's caches before each sample", default = "false" },
      { "device", "device", "whose clock is taken", default = "the last one opened" },
      { "stream", "stream", "where events are recorded", default = "the default stream" },
      { "clock", [["device"|"host"]], "device events, or the host's clock with a synchronisation",
        default = [["device", on the CPU device "host"]] },
      { "cold", "boolean", [[measure beside that with the caches overwritten before each call; a sample is one call, so short
kernels take long to reach `min_time`]], default = "false" },
      { "graph", "boolean", "measure beside that the function captured into a graph and replayed", default = "false" },
      { "bytes", "number", "that a call reads and writes" },
      { "flops", "number", "operations of a call" },
      { "output", "array|array[]", "what each call writes whole, without reading it: alarms look at it" },
      { "input", "array|array[]", "what each call reads" },
      { "copies", "boolean", "the output may hold what the input holds", default = "false" },
      { "peak", "number", "no call can move more", unit = "B/s", default = "the device's, for data beyond its cache" },
      { "peak_flops", "number", "no call can compute more", unit = "flop/s" },
      { "dtype", [["f32"|"f64"]], "of the operations, for `mw.roofline`" },
      { "name", "string", "what alarms and `mw.roofline` call the function" },
      { "quiet", "boolean", "alarms are not printed; they still count", default = "false" },
    },
    bench_result = {
      about = [[Times in seconds a call. `tostring` gives `1.234 ms ± 0.4 % (n = 37)`. `cold` and `graph` are results
with the same fields, measured in turn with the main one.]],
      result = true,
      { "median", "number", "half of the samples are below", unit = "s" },
      { "low", "number", "where the median's 95 % bootstrap interval begins", unit = "s" },
      { "high", "number", "where it ends", unit = "s" },
      { "min", "number", "the fastest sample", unit = "s" },
      { "max", "number", "the slowest sample", unit = "s" },
      { "mean", "number", "the arithmetic mean", unit = "s" },
      { "sd", "number", "standard deviation", unit = "s" },
      { "mad", "number", "median distance from the median", unit = "s" },
      { "p05", "number", "5 per cent of the samples are below", unit = "s" },
      { "p25", "number", "a quarter of the samples is below", unit = "s" },
      { "p75", "number", "three quarters of the samples are below", unit = "s" },
      { "p95", "number", "95 per cent of the samples are below", unit = "s" },
      { "noise", "number", "relative standard error of the median" },
      { "n", "integer", "number of samples" },
      { "batch", "integer", "calls a sample" },
      { "first", "number", "the first call, with compilation and first touch", unit = "s" },
      { "samples", "number[]", "every sample, in order", unit = "s" },
      { "turns", "integer[]", "of contenders: where each turn begins in `samples`", optional = true },
      { "clock", "string", [["device events" or "host clock"]] },
      { "launch", "table", [[the host's time to issue a call: `median`, `low`, `high`, ... as here. A launch on the CPU
device's default stream is complete when it returns, so there it is the whole call]], unit = "s" },
      { "blocked", "boolean", [[on a CUDA device: whether samples were queued behind a gate, so that launches are not in
them; false with a warning where the function waits for the device]], optional = true },
      { "cost", "number", "the share of the whole measurement that was not spent in samples" },
      { "state", "table", "`before` and `after` the samples: what `dev:state()` told", optional = true },
      { "flags", "string[]", [["noisy", "few samples", "outliers", "not blocked", "busy host", "throttled: <reason>",
"clock fell", "alarm: <name>"; a flagged row stays a row]] },
      { "alarms", "table[]", "`{ name =, cause =, remedy = }` each: results that cannot be" },
      { "bytes", "number", "as declared", optional = true },
      { "flops", "number", "as declared", optional = true },
      { "throughput", "number", "bytes / median", unit = "B/s", optional = true },
      { "rate", "number", "flops / median", unit = "flop/s", optional = true },
      { "intensity", "number", "flops / bytes", optional = true },
      { "peak_share", "number", "of the nearer peak, where one is known", optional = true },
      { "cold", "bench_result", "with the caches overwritten before each call", optional = true },
      { "graph", "bench_result", "replayed as a graph; absent, with a warning, where it cannot be", optional = true },
      { "name", "string", "as given", optional = true },
      { "dtype", "string", "as given", optional = true },
      { "device", "string", "its id", optional = true },
      { "device_name", "string", "", optional = true },
      { "warnings", "table[]", "`{ cause =, remedy = }` each; tables print them" },
    },
    bench_results = {
      about = [[Results of contenders, each with its `name`: a list, `t[1]`, and by name, `t.tiled`. `tostring` gives a line each,
the others beside the first.]],
      result = true,
      { "ratio", "fun(self: bench_results, over: string, under: string): bench_ratio", [[`t:ratio("tiled", "naive")`: how many
times as fast one is as another]] },
    },
    bench_ratio = {
      about = [[A ratio of speeds: of the medians of their times. The interval holds that of the bootstrap over samples and that
over the turns that both had.]],
      result = true,
      { "value", "number", "" }, { "low", "number", "where its 95 % interval begins" },
      { "high", "number", "where it ends" },
    },
    check_options = {
      about = "How near is right. Without any: integers exactly, floats within 4 eps of the value.",
      { "relative", "number", "of the expected value" },
      { "absolute", "number", "beside that" },
      { "sum", "integer", "each element is a sum of so many terms: the tolerance grows with its square root" },
      { "exact", "boolean", "no tolerance at all", default = "false" },
      { "most", "integer", "wrong elements shown", default = "5" },
      { "name", "string", "what the report calls the array" },
      { "quiet", "boolean", "print nothing; a failed check still counts for the exit code", default = "false" },
    },
    check_report = {
      about = "What `mw.check` found. `tostring` gives it in words.",
      result = true,
      { "ok", "boolean", "" },
      { "wrong", "integer", "elements outside the tolerance" },
      { "count", "integer", "elements compared" },
      { "first", "table[]", "the first wrong ones: `{ index = {i, j}, expected =, got = }`" },
      { "max_abs", "number", "largest error" },
      { "max_rel", "number", "largest error relative to the expected value" },
      { "absolute", "number", "the tolerance: |got - expected| <= absolute + relative * |expected|" },
      { "relative", "number", "" },
      { "tolerance_why", "string", "where the tolerance is from" },
    },
    plot_spec = {
      about = "What to draw.",
      { "x", "string", [[the field along the x axis; a path such as "t.median" reaches into a benchmark]],
        optional = false },
      { "y", "string|string[]", "the field, or fields, to show", optional = false },
      { "by", "string", "a field: one series for each of its values" },
      { "logx", "number|boolean", "base of a logarithmic axis; true is 10", default = "false" },
      { "logy", "number|boolean", "the same for y", default = "false" },
      { "peak", "number|table", "a dashed level: a number, or `{ value =, label = }`" },
      { "lines", "table[]", "more levels" },
      { "title", "string", "" }, { "xlabel", "string", "" }, { "ylabel", "string", "" },
      { "name", "string", "of the files, without ending", default = "SCRIPT-Y-X" },
      { "unit", "string", [[of y: "s", "B", "B/s", "1/s", "flop/s", "Hz", "%"]], default = "by the field's name" },
      { "xunit", "string", "of x", default = "by the field's name" },
      { "records", "table[]", "what to draw", default = "all of this run" },
      { "low", "string", "field of an error bar's lower end" }, { "high", "string", "and of its upper end" },
      { "square", "boolean", "a path in a plane: points in the order of the records, one scale for both axes",
        default = "false" },
      { "points", "boolean|string", [[false: lines alone; "alone": no lines between them, for an x that is no scale]],
        default = "true" },
      { "quiet", "boolean", "draw nothing in the terminal", default = "false" },
      { "pictures", "boolean", "false: no SVG and PNG", default = "true" },
    },
    ladder_spec = {
      about = "What to draw.",
      { "x", "string", [[the field that a bar's length shows; a path such as "t.median" reaches into a benchmark]],
        optional = false },
      { "by", "string|string[]", [[the field that names a bar; of several, those that a record has are joined by ", "]],
        optional = false },
      { "low", "string", "field of the lower end of a bar's interval" }, { "high", "string", "and of its upper end" },
      { "share", "string", "a field that is shown in percent at a bar's end" },
      { "level", "number|table", "what shares are of, a dashed line: a number, or `{ value =, label = }`" },
      { "lines", "table[]", "more lines" },
      { "marks", "table[]", "`{ bar =, value =, label = }`: points beside bars, one symbol a label" },
      { "logx", "number|boolean", "base of a logarithmic axis; true is 10", default = "false" },
      { "title", "string", "" }, { "xlabel", "string", "" },
      { "name", "string", "of the files, without ending", default = "SCRIPT-X-BY" },
      { "unit", "string", [[of x: "s", "B", "B/s", "1/s", "flop/s", "Hz", "%"]], default = "by the field's name" },
      { "records", "table[]", "what to draw", default = "all of this run" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no SVG and PNG", default = "true" },
    },
    film_spec = {
      about = "How a field is shown.",
      { "name", "string", "of the files, without ending", default = "SCRIPT-film" },
      { "title", "string", "" }, { "xlabel", "string", "", default = [["ix"]] },
      { "ylabel", "string", "", default = [["iy"]] },
      { "label", "string", "of the colours, with unit" },
      { "low", "number", "where the colours begin", default = "the smallest value of all frames" },
      { "high", "number", "where they end", default = "the largest" },
      { "delay", "number", "between frames", unit = "s", default = "0.08" },
      { "device", "device", "named in the title", default = "the last one opened" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no GIF, SVG and PNG", default = "true" },
    },
    timeline_spec = {
      about = "Spans of time in lanes.",
      { "engines", "boolean", [[one engine serves each kind, as a GPU's copies: a span begins where the one before of its kind ended,
since an event tells when its stream got so far, not when an engine took up the work]], default = "false" },
      { "spans", "table[]", "`{ lane =, kind =, from =, to = [, label =] }`: texts, and seconds of one clock, or events that have been reached",
        optional = false },
      { "name", "string", "of the files, without ending", default = "SCRIPT-timeline" },
      { "title", "string", "" },
      { "device", "device", "named in the title", default = "the last one opened" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no SVG and PNG", default = "true" },
    },
    plot_made = {
      about = "What was written.",
      result = true,
      { "chart", "string", "the chart in the terminal" },
      { "dat", "string", "path of the data" },
        { "gp", "string", "path of the gnuplot script, which needs nothing beside it" },
      { "svg", "string", "path", optional = true }, { "png", "string", "path", optional = true },
      { "reason", "string", "why there are no pictures", optional = true },
    },
    arg_limits = {
      about = "What values of a parameter are allowed.",
      { "min", "number", "the least number" },
      { "max", "number", "the greatest number" },
      { "choices", "any[]", "the only values" },
      { "check", "function", [[given a value, it returns nothing, or what is wanted instead, as in "an even number"]] },
      { "kind", [["blocks"]], [[what the texts stand for: blocks of threads. The default is a list of texts; `32x4` and
`8x8x4` are a block each, `32` all blocks of 32 x 2^k threads, from 32 threads to 1024. The value is a list of blocks such as
{ 32, 4 }, each once]] },
    },
    environment_result = {
      about = "Where a measurement comes from, as plain tables. What cannot be found out is absent.",
      { "date", "string", "UTC, ISO 8601" }, { "moonwarp", "string", "version" }, { "lua", "string", "version" },
      { "device", "table", [[`id`, `name`, `uuid`, `arch`, `driver` (with NVRTC, or the C++ compiler), `kernel_driver`,
`multiprocessors`, `memory`, `clock_max`, `memory_clock_max`, `peak_bandwidth`, `power_limit`, `governor`]],
        optional = true },
      { "machine", "table", "`cpu`, `cores`, `memory`, `kernel`, `os`; not its name" },
      { "compiler", "string", "of the CPU device", optional = true },
      { "git", "table", "`revision` and `dirty` of the script's folder", optional = true },
      { "argv", "string[]", "the command line", optional = true },
    },
    roofline_spec = {
      about = "What a roofline shows. Every field may be left out.",
      { "device", "device", "whose ceilings", default = "the last one opened" },
      { "records", "table[]", "those with bytes and flops", default = "all of this run, and benchmarks not recorded" },
      { "by", "string", "the field that names a kernel", default = "kernel, series, rung, version, name or study" },
      { "dtype", [["f32"|"f64"]], "whose arithmetic counts where nothing says which", default = [["f32"]] },
      { "ceilings", "table", "`bandwidth`, `f32`, `f64` instead of measured ones" },
      { "title", "string", "" }, { "name", "string", "of the files" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no SVG and PNG", default = "true" },
    },
    roofline_made = {
      about = "Where the kernels stand, and what was written.",
      result = true,
      { "ceilings", "table", "`bandwidth` (B/s), `f32`, `f64` (flop/s)" },
      { "points", "table[]", "`kernel`, `dtype`, `intensity`, `rate`, `throughput`, `roof`, `share`, `bound` each" },
      { "words", "string", "the same in a line a kernel" },
      { "chart", "string", "the chart in the terminal" },
      { "dat", "string", "path of the data" }, { "gp", "string", "path of the gnuplot script" },
      { "svg", "string", "path", optional = true }, { "png", "string", "path", optional = true },
      { "reason", "string", "why there are no pictures", optional = true },
    },
    table_spec = {
      about = "The list of columns, and options. A column is a field's name or `{ field, title =, unit =, digits = }`.",
      { "title", "string", "", default = [["records"]] },
      { "records", "table[]", "the rows", default = "all of this run" },
      { "quiet", "boolean", "print nothing", default = "false" },
    },
  },

  entries = {
    {
      name = "arg", forms = { "mw.arg(name, default[, help[, limits]])" },
      about = [[A parameter of the script that the command line can set: `-p n=8192`. The text is converted to the
default's type; `1e6` and `2^20` are integers. `-p n=1,2,4` runs the script for each value; a default that is a list
takes all values at once.

A script asks for all of its parameters before its first `mw.bench` or `mw.record`: there, else at the end of the script,
`moonwarp run` refuses names that nothing asked for, with exit status 2. A value that does not fit is refused by `mw.arg`
itself, every value of a sweep in its first pass.]],
      params = { { "name", "string", "" },
        { "default", "number|string|boolean|table", "its type is the parameter's" },
                 { "help", "string", "what it means", optional = true },
                 { "limits", "arg_limits", "what a value given with -p must fit", optional = true } },
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
      about = [[Measures how long a function takes until the answer is steady: one call apart, warm-up, then samples
until noise, time and number are all reached, or the time limit is.

On a GPU a sample lies between two events, so it is the device's time and not the host's, and it is queued behind a gate
that opens when the host is far enough ahead, so that launches are not in it; `launch` tells what they cost. A function
that waits for the device, or queues for more than 50 ms, is measured without the gate (`blocked` is false). For a whole
phase take `{ clock = "host" }`: the host's time with the device synchronised.

A result that cannot be raises an alarm: it is printed on standard error, listed in `alarms`, and the program ends with
exit code 3, as after a failed `mw.check`.

| alarm | when |
|---|---|
| above_peak | `bytes` over the time exceed the device's peak, for data of more than twice its L2 cache, or `peak`; `flops` exceed `peak_flops` |
| too_fast | the function declares work and takes less than half of an empty launch |
| not_synchronised | the device is still at work when the measured stream is done |
| not_written | parts of `output` hold a pattern that was laid over it behind `setup`, before a run; they get back what they held |
| copied | `output` holds what `input` holds, which is not one value throughout |

The last two run the function again, twice or more.

A table of functions is measured in turn: `{ naive = f, tiled = g }` in the order of the names, `{ { "naive", f }, { "tiled", g } }`
in the order given. Each has its own limits, but no `cold` and `graph`; a turn takes a fifth of `min_time`, and turns go round until all
have enough, so that a change of the machine's pace meets all of them. A contender finds the caches as the one before left them, after one call that is not
timed. The result is a list of results; keep one a record.]],
      params = { { "f", "function|launch|table", "called without arguments; or contenders" }, { "options", "bench_options", "",
        optional = true } },
      returns = { { "bench_result", "see below; of contenders a `bench_results`" } },
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

local two = mw.bench({ copy = function() b:copy(a) end, fill = function() b:fill(1) end }, { samples = 5 })
print(two[1].name, two.fill.n, two:ratio("fill", "copy").value > 0) --> copy  5  true]],
    },
    {
      name = "ceil_div", forms = { "mw.ceil_div(a, b)" },
      about = [[a / b, rounded up: the blocks of b threads that a elements need.]],
      params = { { "a", "integer", "" }, { "b", "integer", "not 0" } },
      returns = { { "integer", "" } },
      errors = { "mw.ceil_div: argument <i> must be an integer, got <value>", "mw.ceil_div: division by 0" },
      since = "0.4.0",
      example = [[print(mw.ceil_div(1000, 256)) --> 4]],
    },
    {
      name = "geometric", forms = { "mw.geometric(first, last[, factor])" },
      about = [[The sizes from one to another, each `factor` times the one before; where the last is the smaller one, that part of it,
rounded down. For the cases of a sweep.]],
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
      name = "environment", forms = { "mw.environment([device])" },
      about = [[What a measurement was made on and by: device, driver, machine, compiler, revision, command line, date.
Everything is read, no setting is changed.]],
      params = { { "device", "device", "", optional = true } },
      returns = { { "environment_result", "see below" } }, since = "0.3.0",
      example = [[print(mw.environment(dev).device.id) --> cpu]],
    },
    {
      name = "roofline", forms = { "mw.roofline([options])" },
      about = [[Measures what the device gives at most (main memory by the triad, multiply-adds in f32 and f64) and places
under it every benchmark of the run that declared bytes and flops, and every record with `bytes`, `flops` and `t`: a
table, a line in words for each (memory- or compute-bound, share of its roof), and a chart as `mw.plot` draws it.]],
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
      about = [[Compares an array with what is expected, within a tolerance that knows the element type and the
length of sums. Where elements are wrong it says which, on standard error, and the program ends with exit code 3. NaN
equals NaN.]],
      params = {
        { "got", "array", "on any device" },
        { "expected", "array|table|number|function",
          "of the same type and shape; a number is every element; a function "
          .. "gets the indices i[, j, ...]" },
        { "options", "check_options", "", optional = true },
      },
      returns = { { "boolean", "", name = "ok" }, { "check_report", "see below", name = "report" } },
      errors = { "mw.check: got an array of <dtype>, expected one of <dtype>",
        "mw.check: the shapes differ: got <n>, expected <m>" },
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
      about = [[Keeps one measurement in the run's record ([docs/record.md](../record.md)), and as a line of JSON in the file given with `--json`:
what the script gives, and date, script, device, version and parameters. A benchmark result is written with its
statistics. Written at once, so nothing measured is lost.

Numbers, texts, truth values, and lists or tables of them are kept; a field of another kind is refused, and so are the results of several
contenders together. Texts, whole numbers and truth values count as chosen, not measured: they tell this measurement from others in
`compare`.]],
      params = { { "values", "table", "as in `{ threads = 256, T_tot = bytes / t.median, t = t }`" } },
      returns = { { "table", "the record, completed" } },
      errors = { "mw.record: a table is wanted, got <type>", "mw.record: <path>: <reason>",
                 "mw.record: field '<name>' is of type function; numbers, texts, truth values, and lists or tables of them are kept",
                 "mw.record: field '<name>' is the results of several contenders: keep one a record, as in for _, r in ipairs(t) do "
                   .. "mw.record { kernel = r.name, t = r } end",
                 "mw.record: field 'date' is moonwarp's own and must be a string, got <type>" }, since = "0.1.0",
      example = [[
local r = mw.record { threads = 256, t = 0.5 }
print(r.device, r.threads) --> cpu  256]],
    },
    {
      name = "table", forms = { "mw.table{ \"threads\", \"T_tot\", ..., title = }" },
      about = [[Prints records as an aligned table: one unit a column, the device in the title, and the warnings of
the benchmarks below.]],
      params = { { "spec", "table_spec", "columns in a list, and options" } },
      returns = { { "string", "what was printed" } },
      errors = { "mw.table: at least one column is needed, got none" }, since = "0.1.0",
      example = [[
local records = { { threads = 32, T_tot = 1.5e9 }, { threads = 64, T_tot = 20e9 } }
mw.table { "threads", "T_tot", records = records }]],
    },
    {
      name = "plot", forms = { "mw.plot{ x =, y =, ... }" },
      about = [[Draws records: a chart in the terminal, RUN/NAME.dat with a commented header, RUN/NAME.gp that draws
by itself, and SVG and PNG where gnuplot is installed. Without gnuplot everything but the pictures is written, and it
says so. In a sweep (`-p n=1024,2048`) the session's records are drawn in the last pass, and each combination of the
parameters that no axis and no `by` shows is a series of its own, within each group of `by` too. A chart of `records` is
drawn in every pass, with the pass in its title and file name: NAME-n-1024.]],
      params = { { "spec", "plot_spec", "" } },
      returns = { { "plot_made", "see below" } },
      errors = { "mw.plot: option 'x' is needed: the field along the x axis",
                 "mw.plot: no record has both '<x>' and '<y>' as numbers" }, since = "0.1.0",
      example = [[
local records = {}
for i = 1, 4 do records[i] = { threads = 2^(i + 4), T_tot = i * 1e9 } end
mw.plot { x = "threads", y = "T_tot", logx = 2, peak = 5e9, records = records, pictures = false, name = "example" }]],
    },
    {
      name = "ladder", forms = { "mw.ladder{ x =, by =, ... }" },
      about = [[Draws records that have names and no order along an axis, as the rungs of a study: a horizontal bar a
record, the first on top, in the terminal and in the files that `mw.plot` writes. Beside a bar stand its value in a unit
of its own, so that one thread's 100 MB/s can be read beside 4 TB/s, and its share. The terminal writes half of the
interval in percent of the value, pictures draw the interval; marks are letters in the terminal, points in pictures.

Bars begin at 0, and their lengths compare as their values do. With `logx` they begin at a power of the base below the
least value: a bar's end still stands at its value, but twice the length is not twice the value. Take it where values
differ by powers of ten, and leave it out where lengths are to be compared. Records without a name, or whose value is no number, is below 0, or is 0
with `logx`, are left out.

A mark whose `bar` is the name of no bar is an error. In a sweep ladders are drawn as by `mw.plot`: a combination of the
parameters that no field of `by` shows is a bar of its own, "naive, n = 1024", and a mark for "naive" stands beside each.]],
      params = { { "spec", "ladder_spec", "" } },
      returns = { { "plot_made", "see below" } },
      errors = { "mw.ladder: option 'x' is needed: the field that a bar's length shows",
                 "mw.ladder: option 'by' is needed: the field, or list of fields, that names a bar",
                 "mw.ladder: no record has '<x>' as a number of at least 0",
                 "mw.ladder: no record has '<by>', which names a bar",
                 "mw.ladder: a mark names no bar: '<name>'; did you mean '<nearest>'?" }, since = "0.4.0",
      example = [[
local records = { { rung = "copy", T_eff = 4.2e9, share = 1 }, { rung = "naive", T_eff = 0.9e9, share = 0.21 } }
mw.ladder { x = "T_eff", by = "rung", share = "share", level = { value = 4.2e9, label = "copy" },
            marks = { { bar = "naive", value = 0.5e9, label = "a paper's" } }, records = records,
            pictures = false, name = "example-ladder" }]],
    },
    {
      name = "film", forms = { "mw.film([options])" },
      about = [[Begins a film of a 2-D field: an object with `film:add(array[, caption])`, which keeps the field as it
is now (2^18 elements at most), and `film:draw()`, which writes RUN/NAME.dat, RUN/NAME.gp and, where gnuplot is
installed, NAME.gif with all frames and NAME.svg and NAME.png with the last one.]],
      params = { { "options", "film_spec", "", optional = true } },
      returns = { { "table", "the film: `add` returns it again, `draw` the paths of what was written" } },
      errors = { "mw.film: option 'high' must be above 'low', got <a> and <b>",
        "film:add: a 2-D array is wanted",
        "film:add: the array has <n> x <m> elements, a picture needs 2 x 2 at least",
        "film:add: the array has <n> x <m> elements, a picture needs 2 x 2 at least",
        "mw.film: option 'high' must be above 'low', got <a> and <b>",
        "film:add: the array has <n> x <m> elements, a frame shows 262144 at most; film a smaller field or a view",
        "film:draw: there is no frame; film:add(array) adds one" }, since = "0.2.0",
      example = [[
local film = mw.film { name = "example-film", pictures = false, quiet = true }
film:add(dev:array("f64", 8, 8):random(1), "noise")
print(film:draw().dat ~= nil) --> true]],
    },
    {
      name = "timeline", forms = { "mw.timeline{ spans = ... }" },
      about = [[Draws who was busy when: rows of letters in the terminal, RUN/NAME.dat, RUN/NAME.gp, SVG and PNG where
gnuplot is installed, and RUN/NAME.trace.json, which Perfetto (ui.perfetto.dev) opens.]],
      params = { { "spec", "timeline_spec", "" } },
      returns = { { "table", "paths of what was written, and the chart's text" } },
      errors = { "mw.timeline: option 'spans' is needed: a list of { lane =, kind =, from =, to = }",
        "mw.timeline: span <i> has no '<field>'",
        "mw.timeline: span <i> ends before it begins: from <a> to <b> s",
        "mw.timeline: span <i>: '<field>' must be a finite time",
        "mw.timeline: <n> kinds of spans, a chart shows 6 at most" },
      source = "Trace Event Format, complete events", since = "0.2.0",
      example = [[
local spans = { { lane = "stream 1", kind = "copy in", from = 0, to = 1e-3 },
                { lane = "stream 1", kind = "kernel", from = 1e-3, to = 3e-3 },
                { lane = "stream 2", kind = "copy in", from = 1e-3, to = 2e-3 } }
mw.timeline { spans = spans, name = "example-timeline", pictures = false }]],
    },
    {
      name = "skip", forms = { "mw.skip(reason)" },
      about = [[Ends the script, or the pass of a sweep, which cannot do its work here. That is no failure: `moonwarp run`
says the reason, keeps it with the remarks where the run has results, goes on with the next pass, and ends with status 0.
`moonwarp batch` shows a lab that did nothing but skip as skipped and does not judge its gates. In a stock interpreter it is an
error of that text.]],
      params = { { "reason", "string", "why" } },
      errors = { "mw.skip: the reason must be a text, got nil" }, since = "0.4.0",
      example = [[print(pcall(mw.skip, "no GPU")) --> false  skipped: no GPU]],
    },
    {
      name = "remark", forms = { "mw.remark(format, ...)" },
      about = [[Prints a paragraph, wrapped, and keeps it in RUN/remarks.txt: what a study concludes, in words computed
from its numbers.]],
      params = { { "format", "string", "as string.format takes it" }, { "...", "any", "values" } },
      returns = { { "string", "the paragraph" } },
      errors = { "mw.remark: a text is wanted, got <type>", "mw.remark: value <i> of the text: <what is wrong>" },
      since = "0.2.0",
      example = [[mw.remark("The vector copy is %.0f %% faster.", 12.4)]],
    },
  },
}
