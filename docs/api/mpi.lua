-- SPDX-License-Identifier: MIT
local STREAM = { "stream", "stream", "of the array's device", default = "the default stream" }
local ROOT = { "root", "integer", "a rank, from 0", default = "0" }
local INTO = { "into", "array", "of arrays, and wanted then: what takes those of all ranks, one after the other" }
local TAG = { "tag", "integer", "which of several messages to the same rank, 0 to 32767", default = "0" }
local OPTIONS = "mpi_message_options"
local function options(class) return { "options", class, "", optional = true } end
local X, PEER = { "x", "array|value", "" }, { "rank", "integer", "from 0" }
local VALUE = "numbers, texts, truth values and tables of them are sent, got <type>"
local function number(name, about)
  return { name = name, forms = { ("mpi.%s()"):format(name) }, about = about, returns = { { "integer", "" } },
           since = "0.11.0" }
end

return {
  title = "mpi",
  owner = "mpi",
  about = [[
The ranks of an MPI job: `require "moonwarp.mpi"`, in a script that runs as `mpirun -n 4 moonwarp run FILE.lua --mpi`.
[mpi.md](../mpi.md) says how such a job runs.

- A **value** is a number, a text, a truth value, or a table of these. What arrives is data, and is never run.
- An **array** may be on any device. MPI reads and writes arrays of a CPU device directly. Arrays of a GPU go through pinned memory,
  unless MPI accepts device pointers: `mpi.how(dev)` says which.
- All ranks make the same collective calls (`barrier` to `all_reduce`) in the same order, with arrays of one type and length and the
  same options. They compare each call before it is made.
- A call on an array begins when its stream has reached it.
- A call that waits for a rank whose script has ended fails. Ctrl-C ends one that waits for ever.]],
  setup = [[local mpi = require "moonwarp.mpi"]],
  classes = {
    mpi_root_options = { about = "Of `broadcast`.", ROOT, STREAM },
    mpi_gather_options = { about = "Of `gather`.", ROOT, INTO, STREAM },
    mpi_all_gather_options = { about = "Of `all_gather`.", INTO, STREAM },
    mpi_op_options = { about = "Of `all_reduce`.",
      { "op", [["sum"|"prod"|"max"|"min"]], "", default = [["sum"]] }, STREAM },
    mpi_message_options = { about = "Of `send`, `recv`, `isend` and `irecv`.", TAG, STREAM },
  },
  entries = {
    { name = "rank", forms = { "mpi.rank()" }, about = [[This process's number, from 0.]], returns = { { "integer", "" } },
      since = "0.11.0",
      errors = { "mpi.rank: the run is no MPI job; start it with --mpi, as in mpirun -n 4 moonwarp run SCRIPT --mpi",
                 "MOONWARP_MPICC is '<value>', where there is no program: name the mpicc of the MPI to use, or unset it for "
                   .. "that on PATH",
                 "there is no mpicc on PATH, which compiles the shim over this machine's MPI at first use: load the site's "
                   .. "module of MPI, install one (apt-get install libopenmpi-dev openmpi-bin), or set MOONWARP_MPICC",
                 "mpirun has started <n> processes, which are no job of <MPI>: mpirun and mpicc are of two MPIs; put both of "
                   .. "one first on PATH, or set MOONWARP_MPICC to the mpicc of that mpirun" } },
    number("size", [[How many ranks there are.]]),
    number("local_rank", [[This process's number among those of its node, from 0.]]),
    number("local_size", [[How many ranks the node has.]]),
    { name = "version", forms = { "mpi.version()" }, about = [[Which MPI it is, in its own words.]],
      returns = { { "string", "" } }, since = "0.11.0" },
    { name = "how", forms = { "mpi.how(dev)" }, about = [[How MPI gets the arrays of a device.]],
      params = { { "dev", "device", "" } },
      returns = { { [["direct"|"staged"]], "staged: through pinned memory" } }, since = "0.11.0" },
    { name = "barrier", forms = { "mpi.barrier()" }, about = [[Returns when all ranks have called it.]], since = "0.11.0",
      errors = { "all ranks make the same collective calls in the same order: as number <n> rank 0 makes <call>, and rank <i> "
                   .. "<call>" } },
    { name = "broadcast", forms = { "mpi.broadcast(x[, options])" },
      about = [[What rank `root` gives, at all ranks. An array becomes it.]],
      params = { X, options "mpi_root_options" }, returns = { { "value|array", "" } }, since = "0.11.0",
      errors = { "mpi.broadcast: root is a rank from 0 to <n>, got <value>", "mpi.broadcast: " .. VALUE } },
    { name = "gather", forms = { "mpi.gather(x[, options])" },
      about = [[What all ranks give, at rank `root`: a list in the order of ranks, or the array `into`; nil elsewhere.]],
      params = { X, options "mpi_gather_options" }, returns = { { "value[]|array|nil", "" } }, since = "0.11.0",
      errors = { "mpi.gather: option 'into' must have <n> elements of <type>, got <array>" } },
    { name = "all_gather", forms = { "mpi.all_gather(x[, options])" }, about = [[The same at all ranks.]],
      params = { X, options "mpi_all_gather_options" }, returns = { { "value[]|array", "" } }, since = "0.11.0" },
    { name = "all_reduce", forms = { "mpi.all_reduce(x[, options])" },
      about = [[The sum, or another operation, of what all ranks give, at all ranks: of numbers, of tables of numbers with the same keys,
each by itself, in the order of ranks; an array becomes it, in MPI's order. In "max" and "min" a NaN loses against a number, as in C's fmax.]],
      params = { X, options "mpi_op_options" }, returns = { { "value|array", "" } }, since = "0.11.0",
      errors = { "mpi.all_reduce: there is no op '<name>'; did you mean '<nearest>'?",
                 "mpi.all_reduce: MPI has no f16; convert, or use moonwarp.nccl on CUDA devices",
                 "mpi.all_reduce: an array, a number, or a table of numbers is wanted, got <type>",
                 "mpi.all_reduce: numbers, or tables of numbers with the same keys, of all ranks expected, got <a> and <b>" } },
    { name = "send", forms = { "mpi.send(x, rank[, options])" },
      about = [[Sends a value or an array to a rank; returns when `x` may be changed.]],
      params = { X, PEER, options(OPTIONS) }, since = "0.11.0",
      errors = { "mpi.send: the peer is a rank from 0 to <n>, got <value>", "mpi.send: " .. VALUE,
                 "rank <i>: mpi.send to rank <k>: rank <k> has ended its script, and takes no part",
                 "rank <i>: mpi.send to rank <i>: the rank would wait for itself; begin both, with mpi.irecv and mpi.isend, "
                   .. "and wait after that" } },
    { name = "recv", forms = { "mpi.recv(rank[, options])", "mpi.recv(array, rank[, options])" },
      about = [[A value that a rank sends; or an array becomes what it sends, which has as many bytes.]],
      params = { PEER, options(OPTIONS) }, returns = { { "value|array", "" } },
      overloads = { "fun(array: array, rank: integer, options: mpi_message_options?): array" }, since = "0.11.0",
      errors = { "rank <i>: mpi.recv from rank <k>: <n> bytes came for <array>, which has <m>" } },
    { name = "isend", forms = { "mpi.isend(array, rank[, options])" },
      about = [[Begins to send an array, which is not changed until the request is done.]],
      params = { { "array", "array", "" }, PEER, options(OPTIONS) },
      returns = { { "mpi_request", "", name = "request" } }, since = "0.11.0", meta = false },
    { name = "irecv", forms = { "mpi.irecv(array, rank[, options])" },
      about = [[Begins to receive into an array, which is not used until the request is done.]],
      params = { { "array", "array", "" }, PEER, options(OPTIONS) },
      returns = { { "mpi_request", "", name = "request" } }, since = "0.11.0", meta = false },
    { name = "wait", owner = "mpi_request", forms = { "request:wait()" },
      about = [[Waits until it is done.]], returns = { { "array", "" } }, since = "0.11.0", meta = false,
      errors = { "rank <i>: mpi.irecv from rank <k>: its array was closed before it was done; close it after wait()" } },
    { name = "test", owner = "mpi_request", forms = { "request:test()" },
      about = [[Whether it is done.]], returns = { { "boolean", "" } }, since = "0.11.0", meta = false },
  },
}
