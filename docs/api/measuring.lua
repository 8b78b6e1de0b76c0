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
    },
    bench_result = {
      about = "Times in seconds a call. `tostring` gives `1.234 ms ± 0.4 % (n = 37)`.",
      result = true,
      { "median", "number", "half of the samples are below", unit = "s" },
      { "min", "number", "the fastest sample", unit = "s" },
      { "max", "number", "the slowest sample", unit = "s" },
      { "mean", "number", "the arithmetic mean", unit = "s" },
      { "sd", "number", "standard deviation", unit = "s" },
      { "mad", "number", "median distance from the median", unit = "s" },
      { "p05", "number", "5 per cent of the samples are below", unit = "s" },
      { "p95", "number", "95 per cent of the samples are below", unit = "s" },
      { "noise", "number", "relative standard error of the median" },
      { "n", "integer", "number of samples" },
      { "batch", "integer", "calls a sample" },
      { "first", "number", "the first call, with compilation and first touch", unit = "s" },
      { "samples", "number[]", "every sample, in order", unit = "s" },
      { "clock", "string", [["device events" or "host clock"]] },
      { "device", "string", "its id", optional = true },
      { "device_name", "string", "", optional = true },
      { "warnings", "table[]", "`{ cause =, remedy = }` each; tables print them" },
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
      { "points", "boolean", "false: lines alone", default = "true" },
      { "quiet", "boolean", "draw nothing in the terminal", default = "false" },
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
      { "spans", "table[]", "`{ lane =, kind =, from =, to = [, label =] }`: texts, and seconds of one clock",
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

`moonwarp run` reads the names out of the script's text and refuses any other before the script starts, with exit status
2; where a name is computed, or another file is loaded, it does so after the run. A value that does not fit is refused by
`mw.arg` itself, every value of a sweep in its first run: call it before the work.]],
      params = { { "name", "string", "" },
        { "default", "number|string|boolean|table", "its type is the parameter's" },
                 { "help", "string", "shown by `moonwarp list`", optional = true },
                 { "limits", "arg_limits", "what a value given with -p must fit", optional = true } },
      returns = { { "any", "the value" } },
      errors = { "parameter 'n' must be an integer, got 'many'",
                 "parameter 'n' must be a number from 1 to 4096, got '0'",
                 "parameter 'kind' must be one of random, sorted, got 'sortde'; did you mean 'sorted'?",
                 "unknown parameter 'nn'; did you mean 'n'?" }, since = "0.1.0",
      example = [[print(mw.arg("n", 4096, "edge of the array")) --> 4096]],
    },
    {
      name = "bench", forms = { "mw.bench(f[, options])" },
      about = [[Measures how long a function takes until the answer is steady: one call apart, warm-up, then samples
until noise, time and number are all reached, or the time limit is. On a GPU a sample lies between two events, so it
is the device's time and not the host's.]],
      params = { { "f", "function|launch", "called without arguments" }, { "options", "bench_options", "",
        optional = true } },
      returns = { { "bench_result", "see below" } },
      errors = { "mw.bench: a function is wanted, got <type>; as in mw.bench(function() go(x, n) end)", "mw.bench: option 'noise' must be at least 0, got <n>",
                 "mw.bench: unknown option '<name>'; did you mean '<nearest>'?", "interrupted" },
      source = "noise: sqrt(pi / 2) * 1.4826 * MAD / sqrt(n) / median, the standard error of a median of normal samples",
      since = "0.1.0",
      example = [[
local a, b = dev:full(1, "f32", 1000), dev:zeros("f32", 1000)
local t = mw.bench(function() b:copy(a) end, { samples = 5 })
print(t.n, t.min <= t.median) --> 5  true]],
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
      about = [[Writes one measurement as a line of JSON to OUT/SCRIPT.jsonl, and to the file given with `--json`:
what the script gives, and date, script, device, version and parameters. A benchmark result is written with its
statistics. Written at once, so nothing measured is lost.]],
      params = { { "values", "table", "as in `{ threads = 256, T_tot = bytes / t.median, t = t }`" } },
      returns = { { "table", "the record, completed" } },
      errors = { "mw.record: a table is wanted, got <type>", "mw.record: <path>: <reason>" }, since = "0.1.0",
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
      about = [[Draws records: a chart in the terminal, OUT/NAME.dat with a commented header, OUT/NAME.gp that draws
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
      name = "film", forms = { "mw.film([options])" },
      about = [[Begins a film of a 2-D field: an object with `film:add(array[, caption])`, which keeps the field as it
is now (2^18 elements at most), and `film:draw()`, which writes OUT/NAME.dat, OUT/NAME.gp and, where gnuplot is
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
      about = [[Draws who was busy when: rows of letters in the terminal, OUT/NAME.dat, OUT/NAME.gp, SVG and PNG where
gnuplot is installed, and OUT/NAME.trace.json, which Perfetto (ui.perfetto.dev) opens.]],
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
      name = "remark", forms = { "mw.remark(format, ...)" },
      about = [[Prints a paragraph, wrapped, and keeps it in OUT/SCRIPT.txt: what a study concludes, in words computed
from its numbers.]],
      params = { { "format", "string", "as string.format takes it" }, { "...", "any", "values" } },
      returns = { { "string", "the paragraph" } },
      errors = { "mw.remark: a text is wanted, got <type>", "mw.remark: value <i> of the text: <what is wrong>" },
      since = "0.2.0",
      example = [[mw.remark("The vector copy is %.0f %% faster.", 12.4)]],
    },
  },
}
