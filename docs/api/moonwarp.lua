-- SPDX-License-Identifier: MIT
local counter_names = require "moonwarp.measure.counter_names"

-- A class with the structural counters after its own fields, and the figures if it has them.
local function with_counters(class, has_figures)
  for _, one in ipairs(counter_names.list) do
    local unit = one.unit == "B" and "bytes" or one.unit == "flop" and "operations" or one.unit
    local doc = one.doc .. (one.metrics and "; by ncu only" or "")
    class[#class + 1] = { one.name, one.unit == "s" and "number" or "integer", doc, unit = unit, optional = true }
  end
  for _, one in ipairs(has_figures and counter_names.figures or {}) do
    class[#class + 1] = { one.name, "number", one.doc, optional = true }
  end
  return class
end

return {
  title = "moonwarp",
  owner = "mw",
  about = [[
`require "moonwarp"` returns one table. Nothing is loaded or started before a script opens a device: no driver, no thread.

Conventions of the whole library: indices count from 1; sizes are elements unless the name says bytes; times are
seconds; bandwidths are bytes per second; x is the fastest dimension, as threadIdx.x is. Misuse raises an error that
begins with the script's file and line. An unknown option is an error that names the nearest known one.

An error of the library is a table; `mw.type` of it is "error". `tostring` and `..` give its message, and
`error(e, 0)` raises it again. Programs test its `status`, not its text:

    local ok, e = pcall(mw.device, "cuda")
    if not ok and e.status == "no_device" then ... end]],
  setup = [[local mw = require "moonwarp"]],

  classes = {
    error = {
      about = [[An error of the library, as `pcall` returns it. `tostring` gives `where: text`, with the log below it.]],
      { "status", "string", [["invalid" (misuse, found before anything reached a device), "not_found" (no such kernel or variable), "no_device",
"no_memory", "compile",
"unsupported", "fault" (an error inside a kernel; the device stays usable), "lost" (the device is unusable for the rest of
the process), "interrupted" (Ctrl-C), "io", "driver" (any other failing call of the driver), "usage" (wrong use of the
command line), "skipped" (`mw.skip`), "script" (raised by a function of a study)]] },
      { "text", "string", "one message, without the place" },
      { "where", "string", [[the line of the script, as in "copy.lua:7"; nil if there is none]], optional = true },
      { "log", "string", "the compiler's full log", optional = true },
      { "reason", "string", "the reason given to `mw.skip`", optional = true },
    },
    device_entry = {
      about = "One entry of `mw.devices()`.",
      result = true,
      { "id", "string", [[as `mw.device` takes it: "cuda:0", "cpu"; "cuda" without a number if no CUDA device is usable]] },
      { "usable", "boolean", "whether it can be opened" },
      { "reason", "string", "why it is usable or not: what was searched for, and where" },
    },
    device_options = {
      about = "Options of `mw.device`.",
      { "check", "boolean|string|check_mode", "check mode; `\"strict,seed:7\"` or a table: how it judges",
        default = "false, with `--check` true" },
    },
    check_mode = {
      about = "How check mode judges, as the words of `--check=strict,seed:7,blocks:64` do.",
      { "strict", "boolean", "what GPUs since Volta permit is found as well", default = "false" },
      { "schedule", "integer", "in how many orders each launch is run, with threads that are preempted, 1 to 1000", default = "one, without" },
      { "seed", "integer", "of the order in which blocks and the threads of a block run, from 1; with `schedule` of the first of these, default 1", default = "they run in order" },
      { "blocks", "integer", "how many blocks of a launch are run: the first one, the last one and others", default = "all" },
      { "counters", "boolean", "what warps ask of memory is counted, for `dev:counters`; by modules that are compiled after it", default = "false" },
    },
    counters = with_counters {
      about = [[What the warps of a launch ask of memory, in all and by line. On the CPU device in check mode the figures follow from the
source and do not depend on the machine. A figure that is not known is absent.]],
      result = true,
      { "kernel", "string", "its name" },
      { "launch", "integer", "which launch of the device, counted from 1; of several the first" },
      { "launches", "integer", "how many launches this is the sum of; 1, but see `dev:counters`" },
      { "device", "string", "the device's id" },
      { "source", "string", [["cpu": counted by the CPU device]] },
      { "grid", "integer[]", "blocks, {x, y, z}" },
      { "block", "integer[]", "threads per block, {x, y, z}" },
      { "blocks", "integer", "of the grid" },
      { "blocks_run", "integer", "whose accesses were counted: fewer of a sample, and of a launch that failed" },
      { "lines", "counters_line[]", "the same by file and line" },
    },
    counters_line = with_counters {
      about = "What a line of a kernel's source asks of memory.",
      result = true,
      { "file", "string", "" },
      { "line", "integer", "0: of code whose line is not known" },
      { "text", "string", [[of the line; "" if it is not known]], optional = true },
    },
    findings_options = {
      about = "Options of `mw.findings`.",
      { "expected", "boolean", "the findings are expected", default = "false" },
    },
    finding = {
      about = "What check mode found: an error, or a race that its source marks as intended. Or a race between operations, on any device.",
      result = true,
      { "kind", "string", [["race in shared memory", "race in global memory", "warp-synchronous", "bounds", "uninitialised", "index", "misaligned", "barrier", "mask", "race between operations"; on a GPU "fault"; of warnings "missing fence", "overflow", "idle blocks", "unused array", "sampled", "depends on order"; with `schedule` "hang"]] },
      { "kernel", "string", "its name; nil for a race between operations", optional = true },
      { "launch", "integer", "which launch of the device found it first, counted from 1; of a kernel's findings on the CPU device", optional = true },
      { "object", "string", [[what was accessed, as in "parameter 1 'c', index 0" or "shared variable 's', index 1"]], optional = true },
      { "memory", "finding_memory", "the same as data", optional = true },
      { "parties", "finding_party[]", "the access; of a race both, if the other one is known; none if it is about a launch" },
      { "count", "integer", "how often it was found" },
      { "intended", "boolean", "a line of it has `// moonwarp: race-ok REASON`, or the script expected it" },
      { "warning", "boolean", "it may be meant, and fails nothing; so are races between operations outside check mode, which are printed when they are met", optional = true },
      { "remedy", "string", "what to do, in one sentence" },
      { "remark", "string", "what else is known", optional = true },
      { "seed", "integer", "with `schedule`: of the first order that has it; nil if the one without preemption has", optional = true },
      { "device", "string", "the device's id" },
    },
    finding_memory = {
      about = "What a finding is about. A GPU's tools may know less of it.",
      result = true,
      { "kind", "string", [["array", "shared" (a `__shared__` variable), "dynamic shared" (`extern __shared__`), "variable" (`__device__`), "static array" (a shared or local one that an index left)]] },
      { "name", "string", "of the variable; of an array the parameter's that points to it", optional = true },
      { "parameter", "integer", "of an array: which parameter of the kernel, counted from 1", optional = true },
      { "index", "integer", "of the element, counted from 0 as in the kernel: of an array from where the parameter points to; of a table of rows as in one row", optional = true },
      { "elements", "integer", "how many, from that one on: of a race between operations", optional = true },
    },
    finding_party = {
      about = "An access of a finding: who, and where.",
      result = true,
      { "verb", "string", [["read", "write", "atomic"; "access" if it is not known; at barriers and masks "wait", "exit" (the thread has ended) or "call"; "compute"; of an operation as in "written by a copy"; of a fault "instruction"]] },
      { "thread", "integer[]", "threadIdx; of a kernel's access, but of a race on a GPU", optional = true },
      { "block", "integer[]", "blockIdx", optional = true },
      { "bytes", "integer", "", unit = "bytes", optional = true },
      { "file", "string", "of the source; \"source\" of one that is given as text", optional = true },
      { "line", "integer", "", optional = true },
      { "text", "string", "of that line", optional = true },
      { "stream", "string", "of an operation that a stream runs: which one; nil if the script itself made the access", optional = true },
    },
    kernel_counters = with_counters({
      about = [[What the launches of a kernel in one configuration are made of, summed: requests of warps to memory, the sectors and
passes that these take, and figures computed from them. They depend on the kernel, its launch and its data, but not on the machine. A
counter that is not known is absent, and so is a figure of accesses that the kernel does not make.
[docs/counters.md](../counters.md) explains them.]],
      result = true,
      { "kernel", "string", "" },
      { "device", "string", "the device's id" },
      { "source", "string", [[who counted: "cpu", the CPU device in check mode, or "ncu", on a GPU]] },
      { "grid", "integer[]", "" },
      { "block", "integer[]", "" },
      { "launches", "integer", "how many there were" },
      { "varies", "boolean", "true: they do different things, by their instructions", optional = true },
      { "metrics", "table", "those of `--counters=METRICS`, by name", optional = true },
      { "lines", "counters_line[]", "the same by line of the source, sorted by file and line" },
    }, true),
    occupancy_question = {
      about = "Options of `mw.occupancy`.",
      { "[1]", "kernel", "of any device; its module's source and options are compiled for `arch`", optional = false },
      { "arch", "string", [[the GPU, as in "sm_90"]], default = "the kernel's own device" },
      { "block", "integer", "threads per block", default = "the size that fills the GPU best" },
      { "shared", "integer", "dynamic shared memory per block", unit = "bytes", default = "0" },
    },
  },

  entries = {
    {
      name = "version",
      forms = { "mw.version" },
      field = "string",
      about = [[The version of the library, as in "0.10.0".]],
      since = "0.1.0",
      example = [[print(mw.version) --> 0.10.0]],
    },
    {
      name = "grid", forms = { "mw.grid { nx[, ny[, nz]], ... }" },
      about = [[A box of cells divided over devices, or over the ranks of a communicator, for stencils: [grid](grid.md).]],
      params = { { "spec", "grid_options", "sizes and options" } }, returns = { { "grid", "" } }, since = "0.11.0",
      errors = {
        "mw.grid: a table is wanted, as in mw.grid { 64, 64 }, got <type>",
        "mw.grid: one to three sizes are wanted, as in mw.grid { 512, 512, 512 }, got <n>",
        "mw.grid: size <k> must be a number of cells, got <value>",
        "mw.grid: '<name>' has <n> values, the grid <m> dimensions",
        "mw.grid: '<name>' of dimension <k> must be <what>, got <value>",
        "mw.grid: dims <a> x <b> make <n> parts, there are <m> devices or ranks",
        "mw.grid: <n> cells along <axis> are too few for <m> parts; 'dims' says how many there are along each side",
        "mw.grid: a halo of <n> is wider than a part, which has <m> cells along <axis>",
        "mw.grid: a list of devices is wanted, got none", "mw.grid: device <i> must be one that runs kernels, got <value>",
        "mw.grid: either 'devices' or 'comm', which has its own",
        "mw.grid: the job has <n> ranks: comm = nccl.communicator() divides the grid over them, and devices = { "
          .. "mw.device() } gives each rank a whole one",
        "mw.grid: option 'comm' is a communicator of moonwarp.nccl, got <value>",
        [[mw.grid: option 'via' is "copies", or with a communicator "comm", got '<value>']],
        "mw.grid: unknown option '<name>'; did you mean '<nearest>'?",
      },
      example = [[
local grid = mw.grid { 9, 4, devices = { mw.device "cpu:0/2", mw.device "cpu:1/2" }, dims = { 2, 1 } }
print(grid, grid.parts[2].size[1]) --> grid of 9 x 4 cells in 2 x 1 parts  5]],
    },
    {
      name = "device",
      forms = { "mw.device([id[, options]])" },
      about = [[Opens a device. Without an id, the device that `--device` or `$MOONWARP_DEVICE` names, else the first
usable CUDA device, else the CPU device. The same id returns the same handle as long as it is open.

With `{ check = true }`, and in `moonwarp run --check` always, the device is in check mode: it judges every access of a
kernel to memory by CUDA's rules, and `mw.findings` has what is wrong. It is slower, nothing is timed on it, and its id
is `"cpu:check"`. On a GPU, whose id is `"cuda:check"` then, the first such call in a script of `moonwarp run` runs the
whole script under each tool of NVIDIA's compute-sanitizer first. Without an id, check mode takes the GPU if
compute-sanitizer is there and how it judges is not given, else the CPU device.

With `{ check = { counters = true } }`, and in `moonwarp run --counters` always, a device also counts what the accesses are made
of. On a GPU NVIDIA's ncu counts instead: it runs the whole script first, and the script then runs on a device that is not in
check mode. Without an id, counting takes the GPU if ncu is there, else the CPU device.

| id | device |
|---|---|
| `"cpu"` | the CPU device: follows CUDA's rules on the cores of this machine |
| `"cpu:1"`, `"cpu:4"` | the same with so many threads, from 1 to 1024; a device of its own |
| `"cpu:0/2"`, `"cpu:1/2"` | two devices that share its threads and memory, up to 64 are possible: for scripts of several GPUs. Since 0.11.0 |
| `"cuda"`, `"cuda:1"` | an NVIDIA GPU, counted from 0 as the driver does |
| `"cuda:sm_90"` | an offline target: compiles kernels for the architecture and reports their occupancy, without a GPU; it runs nothing |]],
      params = { { "id", "string", "which device", optional = true },
        { "options", "device_options", "", optional = true } },
      returns = { { "device", "the device, open" } },
      errors = {
        "check mode of device '<id>' needs compute-sanitizer, which is neither on $PATH nor in bin of $CUDA_HOME, $CUDA_PATH or /usr/local/cuda: ...",
        "check mode of device '<id>' runs a whole script under compute-sanitizer: write one, and start it by moonwarp run --check FILE; ...",
        "check mode of device '<id>' has no strict, schedule, seed or blocks; use --device cpu",
        "counters of device '<id>' need ncu, which is neither on $PATH nor in bin of $CUDA_HOME, $CUDA_PATH or /usr/local/cuda, ...",
        "counters of device '<id>' are of a whole script under ncu: write one, and start it by moonwarp run --counters FILE; ...",
        "counters: ncu may not read the counters of the GPU (ERR_NVGPUCTRPERM): ...", "counters: ncu could not run (<why>): ...",
        "device '<id>': check mode is of the first device; set CUDA_VISIBLE_DEVICES=<number> and use '<backend>'",
        "no device '<id>': cuda, cuda:N, cuda:sm_NN (offline) or cpu expected",
        "<id> is not usable: <reason>", "no usable device: <reason>",
      },
      since = "0.1.0",
      example = [[
local dev = mw.device "cpu"
print(dev:id())                  --> cpu
print(dev == mw.device "cpu")    --> true]],
    },
    {
      name = "findings",
      forms = { "mw.findings([options])" },
      about = [[What check mode has found since the program or the prompt began, on all devices, also on closed ones, in
order; then the races between operations, which are found on every device, in check mode or not. `tostring` of the list, or of one finding, gives the text that is printed when the run ends. Accesses of one kind
at the same lines of a kernel are one finding with a count.

With `{ expected = true }`, only what no such call has returned before. These findings are not printed, fail no run, and
are `intended` in the record: a test or a grader judges them itself.]],
      params = { { "options", "findings_options", "", optional = true } },
      returns = { { "finding[]", "empty if nothing was found, or no device is in check mode" } },
      since = "0.7.0",
      example = [[
local dev = mw.device("cpu", { check = true })
local m = dev:module { source = [=[
__global__ void next(float *a) {
  if (threadIdx.x > 0) a[threadIdx.x] = a[threadIdx.x - 1]; // moonwarp: race-ok an example
}]=] }
m.next:launch(1, 64, dev:zeros("f32", 64))
local one = mw.findings()[1]
print(one.kind, one.parties[1].line, one.intended) --> race in global memory	2	true]],
    },
    {
      name = "counters",
      forms = { "mw.counters()" },
      about = [[What launches were made of since the program or the prompt began, by kernel and configuration, on all devices that
count: those opened with `{ check = { counters = true } }`, and in `moonwarp run --counters` all. On a GPU ncu counts. `tostring` of the
list is the table that `--counters` prints, with the lines that cost most.]],
      returns = { { "kernel_counters[]", "empty if no device counts" } },
      since = "0.8.0",
      example = [[
local dev = mw.device("cpu", { check = { counters = true } })
local m = dev:module { source = [=[
__global__ void column(float *y, const float *x) {
  y[threadIdx.x] = x[32 * threadIdx.x];
}]=] }
m.column:launch(1, 32, dev:zeros("f32", 32), dev:zeros("f32", 1024))
local one = mw.counters()[1]
print(one.kernel, one.load_sectors_per_request, one.store_sectors_per_request) --> column	32.0	4.0]],
    },
    {
      name = "devices",
      forms = { "mw.devices()" },
      about = [[Lists the devices, best first: one entry for each device that can be opened, and one with the reason for each
kind that cannot.]],
      returns = { { "device_entry[]",
        "as in `{ { id = \"cuda\", usable = false, reason = \"...\" }, { id = \"cpu\", ... } }`" } },
      since = "0.1.0",
      example = [[
for _, d in ipairs(mw.devices()) do
  if d.usable and d.id == "cpu" then print(d.id) end --> cpu
end]],
    },
    {
      name = "type",
      forms = { "mw.type(value)" },
      about = [[The class of an object of the library, as `io.type` for files.]],
      params = { { "value", "any", "anything" } },
      returns = { { "string?",
        [["device", "array", "module", "kernel", "launch", "texture", "surface", "stream", "event" or "graph"; with "closed " before it for a closed object; "error" for an error of the library; nil for any other value]] } },
      since = "0.1.0",
      example = [[
local a = mw.device "cpu":zeros("f32", 4)
print(mw.type(a))      --> array
a:close()
print(mw.type(a))      --> closed array
print(mw.type "text")  --> nil]],
    },
    {
      name = "null",
      forms = { "mw.null" },
      field = "lightuserdata",
      about = [[The null pointer, for an optional pointer parameter of a kernel. `nil` is an error there, because it is usually
a misspelled variable.]],
      since = "0.1.0",
      example = [[
local mod = mw.device "cpu":module { source = [=[
  __global__ void probe(int *out, const float *maybe) { *out = maybe ? 1 : 0; }
]=] }
local out = mw.device "cpu":zeros("i32", 1)
mod.probe:launch(1, 1, out, mw.null)
print(out:get(1)) --> 0]],
    },
    {
      name = "range", forms = { "mw.range(name, f, ...)" },
      about = [[Calls `f(...)` within a named range of time, which Nsight Systems and Nsight Compute show and filter by
([docs/profilers.md](../profilers.md)). Ranges nest. They show what the host does: launches that `f` queues may run later. Without a
profiler nothing happens besides the call. Studies have ranges of their own.]],
      params = { { "name", "string", "what profilers show" }, { "f", "function|launch", "" },
        { "...", "any", "its arguments" } },
      returns = { { "any", "what `f` returns", name = "..." } },
      errors = { "string expected, got <type>", "function expected, got <type>", "any error of `f`, which ends the range" },
      source = "NVIDIA Tools Extension (NVTX) 3", since = "0.8.0",
      example = [[print(mw.range("answer", function(a, b) return a * b end, 6, 7)) --> 42]],
    },
    {
      name = "poll",
      forms = { "mw.poll()" },
      about = [[Runs the stream callbacks that are due. Every method that synchronises or queries also does so. A
script that does other work for a long time calls this occasionally. An error in a callback is raised here.]],
      returns = { { "integer", "number of callbacks that ran" } },
      since = "0.1.0",
      example = [[print(mw.poll()) --> 0]],
    },
    {
      name = "clock",
      forms = { "mw.clock()" },
      about = [[The time by the host's clock, of which only differences mean something: for what a script itself does, such as a plan. Work that
is queued is not waited for; `mw.bench` measures kernels.]],
      returns = { { "number", "seconds" } },
      since = "0.11.0",
      example = [[
local start = mw.clock()
print(mw.clock() - start >= 0) --> true]],
    },
    {
      name = "occupancy",
      forms = { "mw.occupancy{ kernel, arch = \"sm_90\", block =, shared = 0 }" },
      about = [[Occupancy of a kernel on an offline target: the source is compiled for the architecture with NVRTC, and the
architecture's rules are applied. Needs the CUDA toolkit, but no GPU. Without `arch`, the occupancy on the kernel's
device, as `k:occupancy`.]],
      params = { { "question", "occupancy_question", "see below" } },
      returns = { { "occupancy_answer", "threads, blocks, occupancy and what limits it; see `k:occupancy`" } },
      errors = { "mw.occupancy: a table with a kernel in it is wanted, as in { kernel, arch = 'sm_90' }",
        "<why NVRTC is not usable>" },
      source = "NVIDIA's cuda_occupancy.h",
      since = "0.1.0",
      example = [[
local k = mw.device "cpu":module("triad.cu").triad
print(mw.occupancy { k, block = 256 }.threads) --> 256
-- mw.occupancy { k, arch = "sm_90", block = 256 } needs no GPU]],
    },
  },
}
