-- SPDX-License-Identifier: MIT
local STREAMS = { "streams", "stream[]", "one of each device", default = "the default streams" }
local OP = { "op", [["sum"|"prod"|"max"|"min"|"avg"]], "", default = [["sum"]] }
local ROOT = { "root", "integer", "a rank, from 0", default = "0" }
local function lists(name)
  return { name .. ": ins: a list of arrays expected, got options, which are the third argument",
           name .. ": outs[<i>] is an array of <id>, got <value>",
           name .. ": outs are <n> arrays, one for each of the <m> devices is wanted",
           name .. ": outs[<i>] is <array>, and outs[1] <array>: one type and length for all",
           name .. ": ins are <array>, and outs <array>: the type must be the same, and outs must have <n> elements",
           name .. ": unknown option '<name>'; did you mean '<nearest>'?",
           name .. ": streams are a list of one stream for each of the <n> devices" }
end
local function reductions(name)
  local errors = lists(name)
  errors[#errors + 1] = name .. ": f16 and bf16 are reduced only on CUDA devices, got <array>"
  return errors
end
local OUTS, INS = { "outs", "array[]", "written" }, { "ins", "array[]", "read" }

return {
  title = "nccl",
  owner = "communicator", self = "comm", common = false,
  about = [[
Collective operations of several devices: `require "moonwarp.nccl"`. On CUDA devices they are NCCL's, opened by the first
communicator; on CPU devices, such as `"cpu:0/2"` and `"cpu:1/2"`, the same is done in memory, so that scripts stay the same.
The ranks of an MPI job (docs/mpi.md) have a communicator as well: by NCCL where each has a GPU of its own, else by MPI.

- Each device of a communicator has a **rank**, its place in the list, from 0 on. A call takes a list of arrays, one of each device,
  all of one element type and length. Where `outs` and `ins` are two lists, an array may be in both,
  but not of `all_to_all`.
- A call is queued in a stream of each device, and the script goes on. It starts where every rank's stream has come to it. It can
  be captured into a graph, with streams of the other devices that have joined the capture.
- Element types: f32, f64, i8, u8, i32, u32, i64, u64; f16 and bf16 are reduced only on CUDA devices. Sums in memory are in the order of the
  ranks; NCCL's order is its own. On CPU devices a NaN loses against a number in "max" and "min", as in C's fmax.
- A table of options that is kept costs less than a new one for each call.]],
  setup = [[
local mw, nccl = require "moonwarp", require "moonwarp.nccl"
local a, b = mw.device "cpu:0/2", mw.device "cpu:1/2"
local comm = nccl.communicator { a, b }
local x = { a:array("f32", { 1, 2 }), b:array("f32", { 3, 4 }) }]],
  classes = {
    nccl_options = { about = "Of a call.", STREAMS },
    nccl_op_options = { about = "Of `all_reduce` and `reduce_scatter`.", OP, STREAMS },
    nccl_reduce_options = { about = "Of `reduce`.", OP, ROOT, STREAMS },
    nccl_root_options = { about = "Of `broadcast`.", ROOT, STREAMS },
    nccl_stream_option = { about = "Of `send` and `recv`.",
      { "stream", "stream", "of the array's device", default = "the default stream" } },
  },
  entries = {
    {
      name = "communicator", forms = { "nccl.communicator(devices)", "nccl.communicator()" },
      about = [[A communicator of devices of this process; without devices that of the ranks of an MPI job, each with the device that
`mw.device()` gives: its lists have one array. All ranks make it at once. By MPI a call waits for its stream, and is done when it
returns, a send or receive in a group with the group; no graph captures it.]],
      params = { { "devices", "device[]", "all of one kind, each once", optional = true, default = "those of the job's ranks" } },
      returns = { { "communicator", "", name = "comm" } }, since = "0.11.0", meta = false,
      errors = { "nccl.communicator: a list of devices expected, got <value>",
                 "nccl.communicator: devices of one kind expected, got <value> as number <i>",
                 "nccl.communicator: each device once expected, got <id> as number <i> and <k>",
                 [[nccl.communicator: <id> does not reach <id>; dev:peers() lists what it reaches]],
                 "moonwarp.nccl: libnccl.so.2 not found: looked in ...; apt-get install libnccl2, or pip install nvidia-nccl-cu13" },
    },
    {
      name = "all_reduce", forms = { "comm:all_reduce(outs[, ins[, options]])" },
      about = [[Each of `outs` becomes the sum, or another operation, of all `ins`. Without `ins` in place.]],
      params = { OUTS, { "ins", "array[]", "read", optional = true, default = "outs" },
                 { "options", "nccl_op_options", "", optional = true } },
      returns = { { "array[]", "outs" } }, since = "0.11.0", errors = reductions "all_reduce",
      example = [[
comm:all_reduce(x)
print(x[1]:get(1), x[2]:get(2)) --> 4.0  6.0]],
    },
    {
      name = "reduce", forms = { "comm:reduce(outs, ins[, options])" },
      about = [[The same for one rank: only its array of `outs` is written.]],
      params = { OUTS, INS, { "options", "nccl_reduce_options", "", optional = true } },
      returns = { { "array[]", "outs" } }, since = "0.11.0", errors = reductions "reduce",
    },
    {
      name = "broadcast", forms = { "comm:broadcast(xs[, options])" },
      about = [[Each array becomes what that of rank `root` is.]],
      params = { { "xs", "array[]", "read of the root, written of others" },
                 { "options", "nccl_root_options", "", optional = true } },
      returns = { { "array[]", "xs" } }, since = "0.11.0",
      errors = { "broadcast: root is a rank from 0 to <n>, got <value>" },
      example = [[
comm:broadcast(x, { root = 1 })
print(x[1]:get(1)) --> 3.0]],
    },
    {
      name = "all_gather", forms = { "comm:all_gather(outs, ins[, options])" },
      about = [[Each of `outs` becomes all `ins`, one after the other by rank.]],
      params = { { "outs", "array[]", "written; as many elements as all ins have" }, INS,
                 { "options", "nccl_options", "", optional = true } },
      returns = { { "array[]", "outs" } }, since = "0.11.0", errors = lists "all_gather",
      example = [[
local all = comm:all_gather({ a:zeros("f32", 4), b:zeros("f32", 4) }, x)
print(table.concat(all[2]:totable(), " ")) --> 1.0 2.0 3.0 4.0]],
    },
    {
      name = "reduce_scatter", forms = { "comm:reduce_scatter(outs, ins[, options])" },
      about = [[The sum of all `ins`, of which each rank gets its part.]],
      params = { { "outs", "array[]", "written" }, { "ins", "array[]", "read; as many elements as all outs have" },
                 { "options", "nccl_op_options", "", optional = true } },
      returns = { { "array[]", "outs" } }, since = "0.11.0", errors = reductions "reduce_scatter",
      example = [[
local part = comm:reduce_scatter({ a:zeros("f32", 1), b:zeros("f32", 1) }, x)
print(part[1]:get(1), part[2]:get(1)) --> 4.0  6.0]],
    },
    {
      name = "all_to_all", forms = { "comm:all_to_all(outs, ins[, options])" },
      about = [[Part i of the input of rank k becomes part k of the output of rank i.]],
      params = { { "outs", "array[]", "written; apart from `ins`" }, INS, { "options", "nccl_options", "", optional = true } },
      returns = { { "array[]", "outs" } }, since = "0.11.0",
      errors = { "all_to_all: outs[<i>] and ins[<i>] share memory: it does not work in place, give other arrays as outs",
                 "all_to_all: <n> elements are not a multiple of the <m> ranks" },
    },
    {
      name = "send", forms = { "comm:send(x, rank[, options])" },
      about = [[Sends an array to a rank, which receives it by `comm:recv`. Whose call it is says the array's device. Of several
devices of one process, both calls belong in one `comm:group`.]],
      params = { { "x", "array", "" }, { "rank", "integer", "from 0" },
                 { "options", "nccl_stream_option", "", optional = true } },
      returns = { { "array", "x" } }, since = "0.11.0",
      errors = { "send: of several devices of one process, a send and its receive belong in one comm:group(f)",
                 "send: a rank from 0 to <n> expected, got <value>",
                 "send: an array of one of the communicator's devices expected, got <value>",
                 "send: rank <i> sends <array> to rank <k>, which receives nothing of it in this group" },
      example = [[
comm:group(function()
  comm:send(x[1], 1)
  comm:recv(x[2], 0)
end)
print(x[2]:get(1)) --> 1.0]],
    },
    {
      name = "recv", forms = { "comm:recv(x, rank[, options])" },
      about = [[Receives an array from a rank.]],
      params = { { "x", "array", "written" }, { "rank", "integer", "from 0" },
                 { "options", "nccl_stream_option", "", optional = true } },
      returns = { { "array", "x" } }, since = "0.11.0",
      errors = { "recv: rank <i> expects <array> of rank <k>, which sends nothing in this group", "as for `send`" },
    },
    {
      name = "group", forms = { "comm:group(f)" },
      about = [[The calls that `f` makes start together when it returns: sends with their receives, or many small calls.]],
      params = { { "f", "fun()", "" } }, since = "0.11.0", errors = { "group: a function expected, got <type>" },
    },
    { name = "ranks", forms = { "comm:ranks()" }, about = [[How many there are.]], returns = { { "integer", "" } },
      since = "0.11.0" },
    { name = "rank", forms = { "comm:rank()" }, about = [[That of this process's first device.]], returns = { { "integer", "" } },
      since = "0.11.0" },
    { name = "devices", forms = { "comm:devices()" }, about = [[The devices of this process, by rank.]],
      returns = { { "device[]", "" } }, since = "0.11.0" },
    { name = "close", forms = { "comm:close()" },
      about = [[Ends the communicator; what is queued still runs. A second time it does nothing.]], since = "0.11.0" },
  },
}
