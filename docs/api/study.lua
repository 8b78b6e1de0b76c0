-- SPDX-License-Identifier: MIT
return {
  title = "study",
  owner = "study", self = "study", common = false,
  about = [[
A study compares ways to compute the same thing. Its file describes them and returns the description; `moonwarp run`
measures. [docs/tutorial.md](../tutorial.md) leads to a first one; experiments/ has more. A study may be a folder, NAME/init.lua: its files
`require` each other by name, `require "mesh"` for NAME/mesh.lua and `require "sub.mesh"` for NAME/sub/mesh.lua, while it runs. Such a file hides
none of moonwarp, lfs and cjson; files of the working folder are not found. A run keeps all of them for `moonwarp rerun`.

| term | meaning |
|---|---|
| case | one size and type, with its arrays: `c` in every function of a description ([case](case.md)) |
| answer | what a rung computes, and what it is checked against |
| rung | one way to compute it; a variant is a rung in one of its blocks |
| part | cases and rungs that are measured together, with a table, charts and ratios |
| level | the fastest of some rungs within a case: the reference of shares |
| source | what others measured |

The runner does the following, in this order:

1. It reads and checks the parameters, chooses rungs and parts, and checks the description as a whole (`study:validate`). All
   kernels of a file are compiled at once.
2. It runs every rung of every part, in every block, on the small cases of `odd`, whose sides no block divides. The output is filled
   with NaN first, integers with 127, 32767 and so on, and every element is compared with the result that the host computes from the
   other arrays. Nothing has been timed yet. A wrong rung is not measured. Neither is a rung whose kernel reads or writes out of
   bounds; the CPU device stays usable after such an error.
3. For each case, it runs every variant once more and checks it at the measured size. The first of an answer is compared with
   68 samples (`cell`), with `spot`, or by `prove`. If it passes, it is the reference of the others, in every element.
4. It times all variants of the case in turn, each for `seconds` at least and three times that at most; a turn takes a fifth
   of `seconds`. After its last turn a variant runs and is checked once more; arrays of more than 2^24 elements are checked in
   three bands.
5. It computes rates, shares and the drift of the level, stores the records, and shows the table, the charts and the ratios of the
   part.
6. It calls the function of `study:finally`. Finally it lists what was not measured, and what no odd case could check, with the
   reasons.

A rung finds the caches as the rung before it left them, after one untimed call. For arrays in main memory this is the
fairer comparison; arrays that fit in a cache are slower in turn than alone. Each turn is written to the run's journal at once, so a
killed run keeps what it has measured ([record.md](../record.md)).

A wrong rung does not end the run: the others are measured, and the exit status is 3. The message names both sides:

```text
a loop (wrong: it differs from 'an element per thread', which 68 samples confirm)
```

A mistake in the description ends the run with status 1 and a line such as

```text
saxpy.lua:24: rung 3 'a loop': unknown option 'kernal'; did you mean 'kernel'?
saxpy.lua:24: rung 3 'a loop': kernel 'saxpy', parameter 3 'a': the case has no field of that name; it has eps, n, vector, x, y; give it with 'args'
saxpy.lua:31: part 'ladder', table: no record has a field 'blok'; did you mean 'block'?
```

An error inside a function of the description names the call and the field that it was given to, then the line of the error. So does a value of a
wrong kind that such a function returns. Names that records have of their own are neither parameters nor sides, fields or rates of parts.

A record of a study has `study`, `group` (the part), `number`, `rung`, `series`, `block`, `threads`, `type`, `bytes` (of the
output), the sides of its case, the result `t`, the rate, `share` (relative to the level), `of_peak` (relative to the peak, if it is
known), the fields of sources, counters, and the results of `fields`, `observe` and `derive`. The level's record also has `drift`: the median of its last
third of turns over that of the first third, minus 1.

In addition to its own parameters every study has `seconds` (unless nothing is timed), `rungs` (numbers or names) and, if it has several parts,
`parts`. `moonwarp list STUDY` shows them all, with the rungs.]],
  setup = [[
local mw = require "moonwarp"

local study, p = mw.study {
  question = "how near is a triad to a copy?",
  kernels = "triad.cu", rate = "T_tot", output = "B", level = "library copy", odd = { { nx = 67, ny = 33 } },
  params = { { "n", 256, "points along each side", gpu = 8192, min = 1 } },
  seconds = { 0.001, gpu = 0.2 },
}

function study.arrays(c)
  local function array(seed) return c.dev:array("f64", c.nx, c.ny):random(seed) end
  return { A = array(1), B = array(2), C = array(3), s = 2 }
end

study:library("A", "B")
study:answer("triad", {
  cell = function(c, at, i, j) return at.A(i, j) + c.s * at.C(i, j) end,
  tolerance = function(c) return { absolute = 4 * c.eps } end,
  bytes = "A B C",
})
study:rung { 1, "an element per thread", answer = "triad", kernel = "triad", blocks = { { 32, 4 }, { 32, 8 } },
             over = { "nx", "ny" } }]],

  classes = {
    study_spec = {
      about = "A study as a whole.",
      { "question", "string", "shown by `moonwarp list`", optional = false },
      { "course", "course_spec", "where a course has it; [docs/course.md](../course.md) is made of these", default = "in none" },
      { "params", "parameter_spec[]", "in the order of the help", default = "{}" },
      { "kernels", "string", "the .cu file, in kernels/ or beside the script, for rungs without `file`" },
      { "defines", "fun(type: string, p: table): table", [[macros of the modules, as in `{ REAL = "double" }`]] },
      { "rate", "string|table", [[the field of the records that is compared, in bytes per second; or `{ field, work = function(c,
rung) }`, where `work` returns the work of a call in the rate's unit]], default = [["T_eff"]] },
      { "units", "table", [[base units of fields of the records, as in `{ queued = "s" }`; see `mw.record`]] },
      { "seconds", "table|false", "`{ default, gpu = default }` of the parameter `seconds`: the minimum time of a measurement; false: there is none",
        default = "{ 0.1, gpu = 0.2 }", unit = "s" },
      { "output", "string", "the array that rungs write and checks read, unless the answer or the rung names one" },
      { "type", "string", "the element type, unless a side gives it", default = "that of the parameters `type`, `types`, else f64" },
      { "level", "string|string[]", "rungs or answers; shares are relative to the fastest of them in the same case" },
      { "odd", "table[]|fun(p: table): table[]", [[sides of the cases that are compared with the host in every element:
sizes that no block divides]] },
      { "peak", "fun(dev: device): table", "`{ value =, label = }`, a line in the charts",
        default = "the memory's peak, if the rate is computed from bytes" },
      { "counters", "table", [[structural counters and figures ([kernel_counters](moonwarp.md#kernel_counters)) beside the times, and the sides of a small
case, as in `{ "sectors_per_request", at = { n = 4096 } }`: before a variant is timed, it runs once with these sides instead of the measured
ones on the CPU device in check mode, which counts. `at` may be a function of the measured sides. They are fields of the records, and columns of tables. `moonwarp run --counters` runs these
cases instead of the odd ones, and of a study without `counters` its own with smaller sides]] },
      { "also", "string[]|fun(p: table): string[]", [[templates that no rung launches, as in `{ "peaks<%s>" }`: compiled together with the
others of `kernels`. Since 0.11.0]], default = "{}" },
      { "bound", "fun(c: case, rung: table, fields: table): number?, ...", [[ceilings of the rate, in its unit, as of the memory and of the
instructions: the least is `bound` of the record, and `of_bound` the rate's share of it. nil is none. `fields` is the record so far, with its
counters. A ladder has a mark at each bar, or a line where all bars have the same. Since 0.11.0]], default = "none" },
    },
    parameter_spec = {
      about = [[A parameter, as in `{ "n", 4096, "points along each side", gpu = 16384 }`. Default, `gpu`, `min` and `max` may be
functions of the previous parameters' values: `function(p) return p.n // 2 end`.]],
      { "[1]", "string", "its name: `-p NAME=value`, `p.NAME`", optional = false },
      { "[2]", "any", "its default, which determines the type; a list takes all values at once", optional = false },
      { "[3]", "string", "the help text", optional = false },
      { "gpu", "any", "the default on a GPU", default = "the same" },
      { "min", "number|fun(p: table): number", "the smallest number" },
      { "max", "number|fun(p: table): number", "the largest" },
      { "choices", "any[]", "the allowed values" },
      { "kind", [["blocks"]], "the texts are blocks, as in `32x8`; see `mw.arg`" },
      { "check", "fun(value: any): string?", "returns what is expected instead, if a value is wrong" },
    },
    answer_spec = {
      about = "The expected result. One of `equal`, `cell`, `host` and `steps` is needed.",
      { "equal", "string", "an array other than the output, which this must equal bit for bit" },
      { "cell", "fun(c: case, at: table, ...: integer): number", [[one element by its indices; `at.A(i, j)` reads the
case's array A, with as many indices as it has dimensions. Small cases are compared completely, the measured one in 68 samples]] },
      { "host", "fun(c: case, rung: table, out: array): table|function|array", [[all elements of a small case, as `mw.check` takes
them; also of the measured one, up to 2^22 elements, unless there is a `spot`, `prove` or `reference`. It is called once for each array `out` that rungs
write, with the first rung that does. An array is copied]] },
      { "spot", "fun(c: case): table[]", [[samples of the measured size, `{ i, j, value = }` each, if an element cannot be
computed separately]] },
      { "prove", "fun(c: case, go: function, check: function)",
        [[a special comparison at the measured size: `go` runs the rung, for example with an input whose result is known;
`check(got, expected[, options])` compares an array or a list of numbers, by default with the answer's tolerance, and must be called where there are no samples]] },
      { "reference", "fun(c: case, launcher: function): array", [[computes the reference on the device, after `start`;
`launcher(rung, c, block)` is `study:launcher`. The output itself is copied]] },
      { "needs", "string[]", [[the rungs that `reference` runs; they are checked on the odd cases even if `rungs` leaves
them out]] },
      { "tolerance", "fun(c: case, rung: table, first: table?): check_options", [[the tolerance; `first` is the rung whose
output is the reference]], default = "as `mw.check`" },
      { "bytes", "string|fun(c: case, rung: table): number", [[bytes moved by a call: the arrays that are read or written, as in
"A B C", or a function]], unit = "bytes" },
      { "work", "fun(c: case, rung: table): number", "work of a call in the unit of the rate, if that is not bytes",
        default = "the study's" },
      { "output", "string", "the array that its rungs write", default = "the study's" },
      { "start", "fun(c: case, out: array)", "initialises the output, if rungs add to it", default = "NaN; integers 127, 32767, ..." },
      { "restart", "boolean", [[`start` is also called before each timed sample, which then is one call: of what sorts in place, say.
Since 0.11.0]], default = "false" },
      { "also", "fun(c: case, check: function)", "further checks after each run: `check(got, expected[, options])`, of an array or a list" },
      { "steps", "integer", [[the answer `of` applied so many times: the host repeats its `cell`, where NaN leaves an element as
it was, and the device the rung `needs[1]`. The work is that of as many single steps. Since 0.8.0]] },
      { "of", "string", "an answer with `cell`, for `steps`" },
      { "from", "string", "the array that this cell reads, for `steps`" },
    },
    rung_spec = {
      about = [[One way to compute an answer: a kernel with `over` or `grid`, or `make`. A launch takes its arguments from the
case, by the names of the kernel's parameters.]],
      { "[1]", "integer", "its number, for `rungs`; without a number the name comes first" },
      { "[2]", "string", "its name, in tables, charts and ratios", optional = false },
      { "kernel", "string|string[]|fun(c: case, block: any): string", [[its name, "sum<%s>" with the case's type in C++
for %s; a list names the kernels that `make` launches, so that all are compiled at once]] },
      { "launches", "fun(c: case, block: any): table[]?, string?", [[several launches, one after the other, instead of `kernel`: a
list of `{ kernel, how, arguments }` as `c:launch` takes them, and of functions, such as a wait, an event or a step of the host; or nil and
the reason why the device cannot. The kernels are compiled with those of other rungs: the function is called before the case has arrays, too.
Then `c:array` and `c:full` are `mw.null`, and `c:resident` is 1; a function that fails then has its kernels compiled when it is
launched]] },
      { "graph", "boolean", [[what the rung queues is captured once, and replayed as one graph. With `stream` it may use further streams
that wait for `c:stream()`, and that this one waits for at the end. It is of one device, and what functions do or return when it is captured
stays: a replay calls neither functions of the list nor those that are arguments. Since 0.11.0]], default = "false" },
      { "file", "string", "its .cu file", default = "the study's `kernels`" },
      { "source", "string|fun(c: case, block: any): string", "its source as text, instead of a file: generated CUDA C++; with `make` a launch names it, as in\n`c:launch(name, { source =, ... })`. Since 0.11.0" },
      { "fast_math", "boolean", "compiled with fast math", default = "false" },
      { "compile", "table", "options of `dev:module` for its kernels, as in `{ max_registers = 32 }`" },
      { "device", "string", [[the id of another device that it runs on, with arrays of its own there: "cpu" beside a GPU, or "cpu:1", one thread
of the host. Its records have neither `share` nor `of_peak`. It is left out where that is the study's device or a GPU that there is not, as is a list
with such a launch, and runs on the study's where check mode looks. Since 0.11.0]] },
      { "answer", "string", "the answer it computes", default = [[the only one besides "copy"]] },
      { "block", "dims|fun(c: case): dims", "threads per block" },
      { "blocks", "dims[]", "several blocks; each is measured" },
      { "odd_blocks", "dims[]", "further blocks that are only checked, on the odd cases" },
      { "over", "table", [[what the grid covers: sides of the case or integers, one per dimension. The grid is that divided by the
block and `each`, rounded up. A block has no more dimensions; { "rows", 1 } is for a block of several rows of threads that share a row]] },
      { "each", "integer|table|fun(c: case, block: any): any", "elements per thread, or a list with one number per dimension",
        default = "1" },
      { "grid", "fun(c: case, block: any): dims", "the grid, instead of `over`" },
      { "shared", "fun(c: case, block: any): integer", "dynamic shared memory per block", unit = "bytes" },
      { "cooperative", "boolean", "all blocks run at once; the rung is left out, with the reason, if the device does not hold them",
        default = "false" },
      { "carveout", "integer", "as of `k:prepare`", unit = "per cent", default = "the driver's choice" },
      { "cache", [["none"|"shared"|"l1"|"equal"]], "as of `k:prepare`", default = [["none"]] },
      { "args", "table|fun(c: case, block: any): table", [[arguments by the names of the kernel's parameters, which take precedence over
the case; a function is called at every launch]] },
      { "make", "fun(c: case, block: any, rung: table): fun()?, any", [[returns a function that runs the rung once, and what
`fields` is to have of it; or nil and the reason why the device cannot]] },
      { "sides", "fun(c: case, block: any): table?", [[sides of a smaller case for a slow rung, whose records have no
`share`. nil: the case of the part]] },
      { "when", "fun(c: case): boolean", "whether it belongs to this case", default = "always" },
      { "output", "string", "the array that it writes", default = "the answer's" },
      { "bytes", "fun(c: case, rung: table): number", "bytes moved by a call", default = "the answer's", unit = "bytes" },
      { "always", "boolean", "measured even if `rungs` does not name it", default = "false" },
      { "fields", "table|fun(c: case, block: any, made: any): table", [[further fields of its records, as in `{ steps = 4 }`; `made`
is what `make` returned after its function, such as a plan]] },
      { "series", "string|fun(c: case, block: any): string", "its line in charts", default = "its name" },
      { "stream", "boolean", "the function of `make` works in `c:stream()`, so it is timed there", default = "false" },
      { "mistake", "boolean|string|string[]", [[it is wrong on purpose, as its source is. It may write anywhere, so its odd cases run on the
CPU device in check mode, also if the study's device is a GPU. At least one of them must show the mistake, by a wrong result, an error or a
finding, or the run fails. Names are kinds of findings, all of which check mode must have: "race in global memory"
([check.md](../check.md)). It is not measured without `measure`, and never in check mode]], default = "false" },
      { "measure", "boolean|number", [[a mistake is measured all the same, if check mode has found wrong results, races and memory that was
not written at most: no access out of bounds, no wait without an end. A number: seconds that a call may take, else it is left out; true: 10. The CPU device ends such a kernel and goes on; on
a GPU the run ends if the kernel is not over 10 s later, since only the end of the process ends it. On the CPU device it is also left out if it
faults.
Its records have `error` and `error_rms`; it is drawn as wrong, is no level and no best, and `observe` is not called.
Since 0.11.0]], default = "false" },
      { "counters", "boolean", [[false: its structural counters are not shown, as those of a kernel whose vectors the CPU device's compiler
accesses in parts]], default = "true" },
      { "bound", "fun(c: case, rung: table, fields: table): number?, ...", "ceilings of its rate. Since 0.11.0", default = "the study's" },
      { "space", "table", [[values of parameters, for `study:tune` and `moonwarp tune`: as of [mw.tune](measuring.md#tune). Runs of the study do not
change. Since 0.11.0]] },
      { "variant", "fun(v: table, c: case): table", [[with `space`: the fields of the rung that a variant changes, such as `kernel`, `block`,
`each`, `grid`, `shared`, `fast_math`, `compile`. Since 0.11.0]] },
      { "groups", "table", "of the space's parameters, as of `mw.tune`. Since 0.11.0" },
      { "where", "fun(v: table): boolean", "whether there is such a variant. Since 0.11.0", default = "all" },
      { "start", "table", "the variant that a search begins with: the rung as it is. Since 0.11.0", default = "the first one" },
      { "observe", "fun(c: case, go: function, rung: table, check: function): table", [[further values of its records, read from
the arrays after the check at the measured size; if a `check(got, expected[, options])` fails, the rung is not timed]] },
    },
    part_spec = {
      about = "Cases and rungs that are measured and shown together.",
      { "[1]", "string", "its name, the `group` of its records", optional = false },
      { "cases", "table[]|fun(dev: device): table[]", [[sides of each case, as in `{ { n = p.n, type = "f32" } }`; a side
that is a list gives one case for each of its values. Without `type` the type is the study's, else the parameter `type`, else the first
of `types`, else f64. A function is called again when the part begins, and may then call `study:fastest`]] },
      { "arrays", "fun(c: case): table", "arrays and numbers in addition to those of `study.arrays`" },
      { "rungs", "string[]|fun(rung: table): boolean", "names of rungs or answers", default = "all" },
      { "odd", "table[]|fun(p: table): table[]", "the small cases", default = "the study's" },
      { "blocks", [["best"]], "only the block of each rung that was best in the first part", default = "all" },
      { "level", "string|string[]", "", default = "the study's" },
      { "counters", "table", "", default = "the study's" },
      { "each", "string", "a side: a table and charts for each of its values" },
      { "table", "table", "columns as `mw.table` takes them; a column that no record has is left out", default = "no table" },
      { "rows", [["best"|"all"]], "the best block of each rung, or the rows of all cases", default = "all blocks of the first case" },
      { "charts", "chart_spec[]", "", default = "{}" },
      { "ratios", "string[]", [[ratios of rates, each with a 95 % interval: "naive / library copy", or of the fastest rung
of an answer, "best sum / best copy"]], default = "{}" },
      { "derive", "fun(records: table[], c: case)", "adds fields to the records of a case, before they are stored" },
      { "rate", "string|table", [[the field that is compared in this part, as of `mw.study`: from the bytes of the answers, or with a `work` of its own,
which answers do not replace. `bound` of the study and of rungs is in another unit, and does not count. Since 0.11.0]], default = "the study's" },
      { "bound", "fun(c: case, rung: table, fields: table): number?, ...", "ceilings of the rate in this part. Since 0.11.0",
        default = "the rung's or the study's; none if the part has a `rate`" },
      { "units", "table", "of fields of its records, beside the study's. Since 0.11.0" },
      { "clock", [["device"|"host"]], "as for `mw.bench`" },
      { "batch", "integer", "calls per sample, as for `mw.bench`" },
      { "error", "boolean", [[its records have `error` and `error_rms`, the greatest and the root mean square of the differences from what
the rung is compared with at the measured size, in the unit of the output; none of the rung that is the reference. A NaN counts as
infinite: "inf" in record.json. Since 0.11.0]], default = "false" },
      { "energy", "boolean", [[its records have `joules` of a call, `power` and `idle_power`, as by the option `energy` of
`mw.bench`: a second more for each variant. Without a counter of energy the part is not measured, and the run says so. Since
0.11.0]], default = "false" },
      { "shares", "boolean", [[also measures each launch of the lists of `launches` alone, equal ones once, and shows the time of each kernel's
launches together as a table and a ladder, with records of their own: `kernel`, `launches`, `t` (of one; the mean where they differ), `together`,
`share`. So each launch must be able to run again and again. What functions of the list do is not in it. Kernels on different devices may run side
by side. Since 0.11.0]], default = "false" },
      { "run", "fun(study: study)", "plain Lua that runs as this part, instead of `cases`" },
    },
    course_spec = {
      about = "The place of a study in a course.",
      { "week", "number", "behind the point its place in the week: 3.2", optional = false },
      { "level", "number", "1 needs nothing but the weeks before, 2 some thought, 3 is for projects", optional = false },
      { "hours", "number", "of a student", optional = false },
      { "about", "string", "what it teaches, in a few words", optional = false },
      { "without_gpu", "string", "what a run on the CPU device teaches", optional = false },
    },
    chart_spec = {
      about = [[A chart of a part: `{ kind = "ladder" }`, with one bar for each rung in its best block and the sources' marks, as by
`mw.ladder`; or the rate against a field, as by `mw.plot`, with the sources' points. Rates have the interval of their time.]],
      { "kind", "string", [["ladder", or another kind of chart of records]], default = [["plot"]] },
      { "x", "string", "the field along the x axis", default = "needed without `kind`" },
      { "y", "string", "the field that is shown", default = "the rate" },
      { "by", "string|fun(record: table): string", "the field that distinguishes lines", default = [["series"]] },
      { "of", "fun(record: table): boolean", "which records are shown", default = "all" },
      { "logx", "number|boolean", "base of a logarithmic axis; true is 10", default = "false" },
      { "logy", "number|boolean", "the same for y", default = "false" },
      { "xmin", "number", "limits of the axes, as for `mw.plot`; of a ladder `xmin` and `xmax`" }, { "xmax", "number", "" },
      { "ymin", "number", "" }, { "ymax", "number", "" },
      { "name", "string", "of the files, after STUDY-PART", default = "the field `x`" },
      { "title", "string", "after the names of study and part", default = "y against x" },
      { "xlabel", "string", "" }, { "ylabel", "string", "" },
      { "points", "boolean|string", "as for `mw.plot`", default = "true" },
      { "lines", "table[]", "as for `mw.plot`", default = "the level; none if its rung is itself a line over several cases" },
    },
    source_spec = {
      about = "What others measured.",
      { "[1]", "string", "who or where, as in \"H200\"; shown with \"source\" after it", optional = false },
      { "values", "table", [[by the name of a rung or an answer, in the rate's unit: a number, a table by block such as
`{ ["32 x 8"] = 525e9 }`, or `function(c, block)`]], optional = false },
      { "field", "string", "a field of the records, and thus a column of the table", default = "none" },
      { "when", "boolean|fun(c: case): boolean", "whether it is shown: on this device, for these parameters, for this case", default = "true" },
    },
    study_description = {
      about = "A description as plain data.",
      result = true,
      { "question", "string", "" },
      { "params", "table[]", "`name`, `default`, `gpu`, `help`, `list`, `min`, `max`, `choices` each" },
      { "rungs", "table[]", "`number`, `name`, `answer` each" },
      { "parts", "string[]", "their names" },
      { "course", "course_spec", "where a course has it", optional = true },
    },
  },

  entries = {
    {
      name = "study", owner = "mw", forms = { "mw.study{ question =, ... }" },
      about = [[Begins the description of a study. It opens the device, on which defaults depend, and reads the parameters, so
the rest of the file can use their values. The file ends with `return study`. While `moonwarp list` loads a file, no device is
open, and `gpu` is false.]],
      params = { { "spec", "study_spec", "" } },
      returns = { { "study", "", name = "study" }, { "table", "the parameters' values by name", name = "p" },
                  { "boolean", "whether the device is a GPU", name = "gpu" } },
      errors = { "mw.study: needs 'question', a text",
                 "mw.study: unknown option '<name>'; did you mean '<nearest>'?",
                 "mw.study: option 'odd' must be a list such as { { n = 1001 } }, got <what>",
                 "mw.study: option 'rate' must be a field as in \"T_eff\", or { \"rate\", work = function(c, rung) }",
                 "parameter '<name>': there is one of that name already",
                 "parameter '<name>': the runner has one of that name",
                 "parameter '<name>': records have a '<name>' of their own; take another name",
                 [[parameter <i> must be { name, default, help, ... }, such as { "n", 1024, "elements" }]],
                 "the file must end with 'return study'" },
      since = "0.4.0",
      example = [[print(p.n, study:describe().question) --> 256  how near is a triad to a copy?]],
    },
    {
      name = "run", owner = "mw", forms = { "mw.run(study)", "mw.run(path)" },
      about = [[Runs a study, or the file or folder of one, in a stock interpreter. Not needed with `moonwarp run`.]],
      params = { { "what", "study|string", "" } },
      returns = { { "boolean", "true if no check failed, as for `os.exit(mw.run \"mine.lua\")`", name = "is_right" } },
      errors = { "mw.run: a study or the path of one is wanted, got <type>", "mw.run: cannot open <path>: <reason>",
                 "mw.run: '<path>' returns no study" },
      since = "0.4.0",
      example = [[print((select(2, pcall(mw.run, 5))).text) --> mw.run: a study or the path of one is wanted, got number]],
    },
    {
      name = "arrays", given = true, forms = { "function study.arrays(c) ... end" },
      about = [[Defined by the file: returns the arrays and numbers of a case, by the names of the kernels' parameters. It may set
sides that follow from others, as in `c.rows = c.ny * c.nz`. The returned arrays are closed with the case.]],
      params = { { "c", "case", "with its sides, without arrays" } },
      returns = { { "table", "as in `{ A = array, B = array, s = 2 }`" } },
      errors = { "study.arrays: must return a table such as { x = array, a = 2 }, got <type>",
                 "study.arrays: '<name>' is a case's own; take another name" },
      since = "0.4.0",
    },
    {
      name = "answer", forms = { "study:answer(name, { cell =, bytes =, ... })" },
      about = [[Describes what rungs compute. Rungs of one answer are checked against each other.]],
      params = { { "name", "string", "" }, { "spec", "answer_spec", "" } },
      errors = { "answer '<name>': needs 'equal' (an array's name), 'cell' or 'host' (functions), or 'steps'",
                 "answer '<name>': 'steps' needs 'of' (an answer), 'from' (an array) and 'needs' (a rung of one step)",
                 "answer '<name>': there is an answer of that name already",
                 "answer '<name>': needs 'bytes', from which '<rate>' is made: names of arrays as \"A B\", or a function",
                 "answer '<name>': the case has no array '<name>'", "answer '<name>', cell: must return a number, got <type>" },
      since = "0.4.0",
      example = [[
study:answer("sum", {
  cell = function(c, at, i, j) return c.s + at.A(i, j) end,
  start = function(c) c.B:fill(2) end,      -- B is added to
  bytes = function(c) return 3 * c.A:nbytes() end,
})
print((select(2, pcall(study.answer, study, "none", {}))).text) --> answer 'none': needs 'equal' (an array's name), 'cell' or 'host' (functions), or 'steps']],
    },
    {
      name = "library", forms = { "study:library([number, ]from, to)" },
      about = [[Adds the library's copy as the rung "library copy", which is always measured, and the answer "copy": the array
`to` must equal `from`, and both are moved. Where the rate is not one of bytes, a ladder has no bar for it unless it is the
level.]],
      params = { { "number", "integer", "of the rung", optional = true }, { "from", "string", "an array of the case" },
                 { "to", "string", "" } },
      since = "0.4.0",
      example = [[print(study:describe().rungs[1].name) --> library copy]],
    },
    {
      name = "rung", forms = { "study:rung{ number, name, kernel =, over =, ... }" },
      about = [[Adds a way to compute an answer. The number is optional; several rungs may share one, and are selected together.]],
      params = { { "spec", "rung_spec", "" } },
      returns = { { "table", "the rung, with `number`, `name`, `answer`" } },
      errors = { "a rung begins with its number and its name, as in { 1, \"naive\", ... }, or with its name",
                 "rung <n> '<name>': there is a rung of that name already",
                 "rung <n> '<name>': needs 'kernel', 'launches' or 'make'", "rung <n> '<name>': needs 'over' or 'grid'",
                 "rung <n> '<name>': needs 'answer', the name of what it computes",
                 "rung <n> '<name>': a block is its threads as in 256 or { 32, 8 }, got <what>",
                 "rung <n> '<name>', over: side '<name>' must be an integer, got <what>",
                 "rung <n> '<name>', make: must return a function, or nil and why the device cannot, got <what>",
                 "rung <n> '<name>': there is no answer '<answer>'; did you mean '<nearest>'?" },
      since = "0.4.0",
      example = [[
study:rung { 2, "two launches", answer = "triad", kernel = { "triad" }, make = function(c)
  local how = { block = { 32, 4 }, grid = { mw.ceil_div(c.nx, 32), mw.ceil_div(c.ny, 4) } }
  local nothing, go = c:launch("triad", how, { s = 0 }), c:launch("triad", how)
  return function() nothing(); go() end
end, bytes = function(c) return 6 * c.A:nbytes() end }
print(study:describe().rungs[3].name) --> two launches]],
    },
    {
      name = "part", forms = { "study:part{ name, cases =, table =, charts =, ratios =, ... }" },
      about = [[Adds a measurement: which rungs, on which cases, and how the result is shown. Parts run in the order of the file.]],
      params = { { "spec", "part_spec", "" } },
      errors = { "part '<name>': needs 'cases', a list of sides such as { { n = p.n } }, or 'run', a function",
                 "part '<name>': has 'run', plain Lua, or 'cases', and not both",
                 "part '<name>': there is a part of that name already",
                 "part '<name>': option 'cases' must be a list such as { { n = p.n } }, got <what>",
                 "part '<name>', cases: '<name>' is a case's own; take another name",
                 "part '<name>', each: no case has a side '<name>'; did you mean '<nearest>'?",
                 "part '<name>', counters: no case has a side '<name>'; did you mean '<nearest>'?",
                 "part '<name>', rungs: there is no rung or answer '<name>'; did you mean '<nearest>'?",
                 "part '<name>', table: no record has a field '<field>'; did you mean '<nearest>'?",
                 "part '<name>', chart <i>: needs 'x', a field, or kind = \"ladder\"",
                 "part '<name>', ratios: '<text>' must be as \"naive / triad\"" },
      since = "0.4.0",
      example = [[
study:part { "ladder", cases = { { nx = p.n, ny = p.n } },
  table = { "rung", "block", "t", "T_tot", { "share", unit = "%" } },
  charts = { { kind = "ladder" }, { x = "threads", logx = 2 } },
  ratios = { "best triad / library copy" } }
study:run()]],
    },
    {
      name = "source", forms = { "study:source{ name, values =, ... }" },
      about = [[Adds what others measured: a column of the table, a point in charts, a mark in ladders. A value for an answer is
shown beside its best rung.]],
      params = { { "spec", "source_spec", "" } },
      errors = { "source '<name>': needs 'values', by a rung's or an answer's name",
                 "source '<name>', field: records have a '<field>' of their own",
                 "source '<name>': there is no rung or answer '<name>'; did you mean '<nearest>'?" },
      since = "0.4.0",
      example = [[
study:source { "H200", field = "h200", values = {
  ["library copy"] = 4270e9, ["an element per thread"] = { ["32 x 8"] = 3881e9 } } }]],
    },
    {
      name = "finally", forms = { "study:finally(f)" },
      about = [[Sets a function that runs after the parts: for a film, another kind of check, another chart.]],
      params = { { "f", "fun(study: study)", "" } },
      errors = { "finally: a function is wanted, got <type>" }, since = "0.4.0",
      example = [[study:finally(function() mw.remark("%d points along each side.", p.n) end)]],
    },
    {
      name = "case", forms = { "study:case(sides[, device])" },
      about = [[A case with its arrays, for `finally`. Close it: `local c <close> = study:case { ... }`.]],
      params = { { "sides", "table", "as in a part's cases" },
                 { "device", "string", "the id of another device, on which its arrays are", default = "the study's", optional = true } },
      returns = { { "case", "" } }, since = "0.4.0",
      example = [[
local c <close> = study:case { nx = 64, ny = 2 }
print(#c.A, c.type) --> 128  f64]],
    },
    {
      name = "launcher", forms = { "study:launcher(name, c[, block])" },
      about = [[Returns a function that runs a rung once on a case: for `prove`, `reference` and `finally`, while the study runs.]],
      params = { { "name", "string", "of a rung" }, { "c", "case", "" },
                 { "block", "dims", "", default = "the rung's first", optional = true } },
      returns = { { "fun()?", "", name = "go" }, { "string?", "why the device cannot", name = "reason" } },
      errors = { "launcher: there is no rung '<name>'; did you mean '<nearest>'?" }, since = "0.4.0",
      example = [[
study:part { "ladder", cases = { { nx = p.n, ny = p.n } } }
study:finally(function()
  local c <close> = study:case { nx = 64, ny = 64 }
  study:launcher("an element per thread", c)()
  print(c.B:get(5, 5) == c.A:get(5, 5) + 2 * c.C:get(5, 5)) --> true
end)
study:run()]],
    },
    {
      name = "advance", forms = { "study:advance(name, c, from, count)" },
      about = [[Returns the array `from` of a case after several launches of a rung, each of which reads what the one before it has
written. The case keeps it.]],
      params = { { "name", "string", "of a rung" }, { "c", "case", "" },
                 { "from", "string", "the array that the rung reads" }, { "count", "integer", "" } },
      returns = { { "array", "" } },
      errors = { "advance: there is no rung '<name>'; did you mean '<nearest>'?" }, since = "0.8.0",
      example = [[
study:part { "ladder", cases = { { nx = p.n, ny = p.n } } }
study:finally(function()
  local c <close> = study:case { nx = 64, ny = 64 }
  local after = study:advance("an element per thread", c, "A", 3)
  print(math.abs(after:get(5, 5) - (c.A:get(5, 5) + 6 * c.C:get(5, 5))) < 1e-12) --> true
end)
study:run()]],
    },
    {
      name = "tune", forms = { "study:tune(name, sides[, options])" },
      about = [[Tunes a rung that has a `space` on a case: for `finally` and a part's `run`. The rung itself is what its variants are compared
with, on the study's odd cases and at the measured size.]],
      params = { { "name", "string", "of a rung" }, { "sides", "table", "as in a part's cases" },
                 { "options", "table", "search, seed, most, objective, ... as of `mw.tune`", optional = true } },
      returns = { { "tune_result", "as of `mw.tune`" } },
      errors = { "tune: there is no rung '<name>'; did you mean '<nearest>'?", "tune: rung '<name>' has no 'space'" },
      since = "0.11.0",
      example = [[
study:rung { 7, "any block", kernel = "triad", answer = "triad", block = 32, over = { "nx", "ny" },
             space = { block = { 32, 64 } }, variant = function(v) return { block = v.block } end }
study:part { "ladder", cases = { { nx = p.n, ny = p.n } } }
study:finally(function()
  local result = study:tune("any block", { nx = 64, ny = 64 }, { quiet = true, min_time = 1e-4 })
  print(result.tried) --> 2
end)
study:run()]],
    },
    {
      name = "has", forms = { "study:has(name)" },
      about = [[Whether this run measures a rung, which `rungs` may leave out. For `finally`.]],
      params = { { "name", "string", "of a rung" } }, returns = { { "boolean", "" } },
      errors = { "has: there is no rung '<name>'; did you mean '<nearest>'?" }, since = "0.4.0",
    },
    {
      name = "fastest", forms = { "study:fastest(part, name)" },
      about = [[The record of the fastest variant of a rung, or of an answer's rungs, over all cases of a part that has been measured. A
later part whose `cases` is a function may depend on it: that function is called again when the part begins.]],
      params = { { "part", "string", "" }, { "name", "string", "of a rung or an answer" } },
      returns = { { "table?", "the record; nil if there is none" } }, since = "0.4.0",
    },
    {
      name = "describe", forms = { "study:describe()" },
      about = [[The data for `moonwarp list` and `--help`. Nothing runs.]],
      returns = { { "study_description", "see below" } }, since = "0.4.0",
      example = [[print(study:describe().params[1].name, study:describe().rungs[2].answer) --> n  triad]],
    },
    {
      name = "validate", forms = { "study:validate()" },
      about = [[Raises the first mistake that only shows in the whole description, with the line of the call that made it.
`study:run` and `moonwarp list` begin with it.]],
      errors = { "mw.study: the rungs are in no part; add study:part { \"ladder\", cases = { ... } }",
                 "mw.study: there are no rungs, and nothing is run at last",
                 "mw.study, level: there is no rung or answer '<name>'; did you mean '<nearest>'?" },
      since = "0.4.0",
      example = [[local _, e = pcall(study.validate, study)
print(e.text) --> mw.study: the rungs are in no part; add study:part { "ladder", cases = { ... } }]],
    },
    {
      name = "run", forms = { "study:run()" },
      about = [[Measures, in the order above. `moonwarp run` calls it for a file that returns its study; in a stock interpreter
`mw.run` does.]],
      since = "0.4.0",
    },
  },
}
