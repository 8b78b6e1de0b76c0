-- SPDX-License-Identifier: MIT
return {
  title = "moonwarp",
  owner = "mw",
  about = [[
`require "moonwarp"` gives one table. Nothing happens before a device is asked for: no driver is loaded, no thread
is started.

Conventions of the whole library: indices count from 1; sizes are elements unless a name says bytes; times are
seconds; bandwidths are bytes a second; x is the fastest dimension, as `threadIdx.x` is. Misuse raises an error that
begins with the script's own file and line. An option that does not exist is refused, with the nearest one that
does.

An error of the library is a table, of which `mw.type` is "error". `tostring` and `..` make its message of it, and
`error(e, 0)` raises it again; a program looks at its `status`, never at its text:

    local ok, e = pcall(mw.device, "cuda")
    if not ok and e.status == "no_device" then ... end]],
  setup = [[local mw = require "moonwarp"]],

  classes = {
    error = {
      about = [[An error of the library, as `pcall` returns it. Its text is `where: text`, with the log below it.]],
      { "status", "string", [["invalid" (misuse, found before anything reached a device), "not_found" (no such kernel or variable), "no_device",
"no_memory", "compile",
"unsupported", "fault" (a kernel broke a rule; the device stays usable), "lost" (the device is unusable for the rest of
the process), "interrupted" (Ctrl-C), "io", "driver" (any other failing call of the driver), "usage" (a mistake on the
command line), "skipped" (`mw.skip`), "script" (what a function of a study has raised by itself)]] },
      { "text", "string", "one message, without the place" },
      { "where", "string", [[the script's own line, as in "copy.lua:7"; nil where there is none]], optional = true },
      { "log", "string", "the compiler's whole log", optional = true },
      { "reason", "string", "of `mw.skip`", optional = true },
    },
    device_entry = {
      about = "One line of `mw.devices()`.",
      result = true,
      { "id", "string", [[what `mw.device` takes: "cuda:0", "cpu"; the bare "cuda" where no such device is usable]] },
      { "usable", "boolean", "whether it can be opened" },
      { "reason", "string", "why it is usable or not: what was looked for, and where" },
    },
    occupancy_question = {
      about = "What `mw.occupancy` is asked.",
      { "[1]", "kernel", "of any device; its module's source and options are compiled for `arch`", optional = false },
      { "arch", "string", [[the GPU, as in "sm_90"]], default = "the kernel's own device" },
      { "block", "integer", "threads a block", default = "the size that fills the GPU best" },
      { "shared", "integer", "dynamic shared memory a block", unit = "bytes", default = "0" },
    },
  },

  entries = {
    {
      name = "version",
      forms = { "mw.version" },
      field = "string",
      about = [[The version of the library, as in "0.4.0".]],
      since = "0.1.0",
      example = [[print(mw.version) --> 0.4.0]],
    },
    {
      name = "device",
      forms = { "mw.device([id])" },
      about = [[Opens a device. Without an id: the one that `--device` or `$MOONWARP_DEVICE` names, else the first
usable CUDA device, else the CPU device. The same id gives the same handle again as long as it is open.

| id | device |
|---|---|
| `"cpu"` | the CPU device: CUDA's rules on the cores of this machine |
| `"cuda"`, `"cuda:1"` | an NVIDIA GPU, counted from 0 as the driver does |
| `"cuda:sm_90"` | an architecture without a GPU: compiles and tells occupancy, cannot run anything |]],
      params = { { "id", "string", "which device", optional = true } },
      returns = { { "device", "the device, open" } },
      errors = {
        "no device '<id>': cuda, cuda:N, cuda:sm_NN (offline) or cpu expected",
        "no usable device: <reason>",
      },
      since = "0.1.0",
      example = [[
local dev = mw.device "cpu"
print(dev:id())                  --> cpu
print(dev == mw.device "cpu")    --> true]],
    },
    {
      name = "devices",
      forms = { "mw.devices()" },
      about = [[Lists what there is: one entry for each device that can be opened, and one for each kind that cannot,
with the reason. Best first.]],
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
      about = [[Tells the library's objects apart, as `io.type` does for files.]],
      params = { { "value", "any", "anything" } },
      returns = { { "string?",
        [["device", "array", "module", "kernel", "launch", "stream", "event" or "graph"; with "closed " before it for a closed object; "error" for an error of the library; nil for what is not ours]] } },
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
      about = [[The null pointer, for a pointer parameter of a kernel that may have none. `nil` is refused there,
since it is more often a mistake in a variable's name.]],
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
      name = "poll",
      forms = { "mw.poll()" },
      about = [[Runs the stream callbacks that are due. Every method that synchronises or queries does so too; a
script that does other work for long calls this now and then. An error in a callback is raised here.]],
      returns = { { "integer", "how many ran" } },
      since = "0.1.0",
      example = [[print(mw.poll()) --> 0]],
    },
    {
      name = "occupancy",
      forms = { "mw.occupancy{ kernel, arch = \"sm_90\", block =, shared = 0 }" },
      about = [[Occupancy of a kernel on a GPU that need not be there: the source is compiled for the architecture
with NVRTC, and the rules of that architecture are applied. Needs the CUDA toolkit, no GPU. Without `arch` it asks
the kernel's own device, as `k:occupancy` does.]],
      params = { { "question", "occupancy_question", "see below" } },
      returns = { { "occupancy_answer", "threads, blocks, occupancy and what limits it; see `k:occupancy`" } },
      errors = { "mw.occupancy: a table with a kernel in it is wanted, as in { kernel, arch = 'sm_90' }",
        "<why NVRTC is not usable>" },
      source = "NVIDIA's cuda_occupancy.h",
      since = "0.1.0",
      example = [[
local k = mw.device "cpu":module("triad.cu").triad
print(mw.occupancy { k, block = 256 }.threads) --> 256
-- mw.occupancy { k, arch = "sm_90", block = 256 } asks for a GPU that is not there]],
    },
  },
}
