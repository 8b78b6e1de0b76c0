-- SPDX-License-Identifier: MIT
local SHAPE = { "n1", "integer", "elements along x, the fastest dimension" }
local MORE = { "...", "integer", "n2, n3, n4: further dimensions, up to 4 in all" }
local REDUCED_ERRORS = { "array expected, got <type>",
  "<array> is not on <id>: copy it there, or ask its own device" }
local DTYPE = { "dtype", "dtype", "the element type" }

local SIZE_ERRORS = {
  "no element type '<name>'; did you mean '<nearest>'?: f16, bf16, f32, ... expected",
  "an array needs its size: one to four integers, x first",
  "an array has at most 4 dimensions, got <n>",
  "a size of at least 1 expected, got <n>",
  "out of memory: wanted, free and total; after a collection and a second attempt",
}

local TABLE_FORM = "fun(self: moonwarp.device, dtype: moonwarp.dtype, values: table): moonwarp.array"
local BYTES_FORM = "fun(self: moonwarp.device, dtype: moonwarp.dtype, bytes: string, ...: integer): moonwarp.array"

local function host_array(name, what, more)
  return {
    name = name,
    forms = {
      ("dev:%s(dtype, n1[, n2[, n3[, n4]]])"):format(name), ("dev:%s(dtype, values)"):format(name),
      ("dev:%s(dtype, bytes[, n1, ...])"):format(name),
    },
    about = what .. "\n\n" .. more,
    params = { DTYPE, SHAPE, MORE },
    overloads = { TABLE_FORM, BYTES_FORM },
    returns = { { "array", "a new array" } },
    errors = { "as for `dev:array`" },
    since = "0.1.0",
  }
end

return {
  title = "device",
  owner = "device",
  self = "dev",
  about = [[
One GPU, or the CPU device. It makes arrays, modules, streams, events and graphs. Each of these keeps the device
alive, so closing the handle early is safe; the device itself is closed after the last of them.

Work without a stream goes to the device's default stream, which follows CUDA's legacy rule: it waits for earlier work
of blocking streams, and they wait for it.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"]],

  classes = {
    device_properties = {
      about = "What `dev:properties()` returns. An unknown property is absent or 0; something that the device does not have is 0, such as registers of the CPU device.",
      result = true,
      { "id", "string", [["cpu", "cuda:0", "cuda:sm_90"]] },
      { "kind", "string", [["gpu", or "cpu" for the processor that the script runs on]] },
      { "name", "string", "as the manufacturer names it" },
      { "arch", "string", [["sm_90", "x86-64"]] },
      { "compute_capability", "string", [["9.0"; GPUs only]], optional = true },
      { "driver", "string", "versions of the driver and NVRTC, or of the C++ compiler", optional = true },
      { "pci", "string", "bus address; GPUs only", optional = true },
      { "uuid", "string", "GPUs only", optional = true },
      { "multiprocessors", "integer", "on the CPU device: worker threads" },
      { "warp_size", "integer", "32" },
      { "max_threads_per_block", "integer", "" },
      { "max_threads_per_multiprocessor", "integer", "" },
      { "max_blocks_per_multiprocessor", "integer", "" },
      { "max_block", "integer[]", "largest block along x, y, z" },
      { "max_grid", "integer[]", "largest grid along x, y, z" },
      { "shared_per_block", "integer", "shared memory per block, by default", unit = "bytes" },
      { "shared_per_block_optin", "integer", "the most a block can request", unit = "bytes" },
      { "shared_per_multiprocessor", "integer", "", unit = "bytes" },
      { "registers_per_block", "integer", "" },
      { "registers_per_multiprocessor", "integer", "" },
      { "constant_bytes", "integer", "constant memory", unit = "bytes" },
      { "l2_bytes", "integer", "the L2 cache", unit = "bytes" },
      { "cache_bytes", "integer", "the last-level cache, in which data may stay from launch to launch", unit = "bytes" },
      { "memory_total", "integer", "", unit = "bytes" },
      { "clock", "number", "", unit = "Hz", optional = true },
      { "memory_clock", "number", "", unit = "Hz", optional = true },
      { "bus_bits", "number", "width of the memory bus", optional = true },
      { "peak_bandwidth", "number", "of the device's memory, computed from its clock and width", unit = "B/s", optional = true },
      { "async_engines", "integer", "copies that can run concurrently with kernels" },
      { "cooperative", "boolean", "cooperative launches are supported" },
      { "managed", "boolean", "managed memory is supported" },
      { "ecc", "boolean", "memory with error correction" },
      { "pageable_access", "boolean", "kernels can access pageable host memory" },
      { "concurrent_managed_access", "boolean", "pages of managed arrays move one by one, while kernels run; `a:prefetch` and `a:advise` need it" },
      { "host_register", "boolean", "`a:register` works" },
      { "queue_gate", "boolean", "launches can be queued behind a kernel that waits for the host, as `mw.bench` does" },
      { "checks", "boolean", "nothing is timed: every access of a kernel is judged (check mode), or launches are compared (`moonwarp run --engines`)" },
      { "offline", "boolean", "an offline target" },
    },
    module_options = {
      about = [[How a source is compiled: either `file` or `source` is needed. Or which compiled code is loaded: one of `cubin`,
`ptx` and `fatbin`, with `name`, `warnings`, and as declarations `file` or `source`; no other option goes with it.]],
      { "file", "string", [[a path, searched for in the working folder, beside the script, and in moonwarp's kernels/. A study of
moonwarp's own and a run that is run again have what is beside them first]] },
      { "source", "string", "the source itself" },
      { "name", "string", "its name in messages", default = [[the file's name, or "source"]] },
      { "defines", "table", [[macros: `{ N = 3, FAST = true, "B=2" }`; `false` omits one]] },
      { "includes", "string[]", "folders for #include, after the source's own" },
      { "std", "string", "the C++ standard", default = [["c++17"]] },
      { "fast_math", "boolean", "less accurate functions and reordered sums", default = "false" },
      { "contract", "boolean", "`a * b + c` may be rounded once", default = "true" },
      { "max_registers", "integer", "registers per thread, 0 to 255; 0: no limit; without effect on the CPU device", default = "0" },
      { "ptxas", "string[]", 'options of the assembler: `{ "-dlcm=cg" }`; without effect on the CPU device' },
      { "line_info", "boolean", "line numbers in the compiled code", default = "false" },
      { "engine", "engine", "selects an engine of the CPU device; ignored on other devices", default = [["auto"]] },
      { "templates", "string[]", [[kernels to instantiate at once: `{ "scale<float>" }`]] },
      { "cache", "boolean", "use the cache of compiled code", default = "true" },
      { "warnings", "boolean", "print the compiler's warnings, and keep them in the record", default = "true" },
      { "cubin", "string", "code of `nvcc -cubin`: a path, or the bytes themselves" },
      { "ptx", "string", "of `nvcc -ptx`, which the driver compiles: a path, or the text itself; not for offline targets" },
      { "fatbin", "string", "of `nvcc -fatbin`, of which the cubin for the device is loaded: a path, or the bytes" },
    },
    texture_options = {
      about = "How a texture reads; [texture](texture.md) has the rules.",
      { "filter", [["point"|"linear"]], "one texel, or a mix of neighbours: floats and normalised floats only", default = [["point"]] },
      { "address", "string|string[]", [[what is outside: "clamp", "border", "wrap" or "mirror", or one for each side; not of linear memory]],
        default = [["clamp"]] },
      { "normalised", "boolean", "coordinates from 0 to 1", default = "false; true of cube maps" },
      { "read", [["element"|"normalised float"]], "integers of 8 or 16 bits as numbers from 0 or -1 to 1", default = [["element"]] },
      { "kind", "string", [["linear", "pitched", "1d", "2d", "3d", "1d layered", "2d layered" or "cube"]],
        default = [["linear", "2d" or "3d", by the sides]] },
      { "components", "integer", "of a texel: 1, 2 or 4; the array's first side, if more than 1", default = "1" },
    },
    surface_options = {
      about = "What a surface is.",
      { "kind", "string", [["1d", "2d", "3d", "1d layered", "2d layered" or "cube"]], default = [["1d", "2d" or "3d", by the sides]] },
      { "components", "integer", "of a texel: 1, 2 or 4; the array's first side, if more than 1", default = "1" },
    },
    image_copy_options = {
      about = "A copy between an array and a texture or surface.",
      { "stream", "stream", "it is queued there", default = "none: complete when the call returns" },
    },
    stream_options = {
      about = "Properties of a new stream.",
      { "blocking", "boolean", "it and the default stream wait for each other", default = "true" },
      { "priority", "integer", "within the range of `dev:priorities()`; lower is more urgent",
        default = "the least urgent" },
    },
    device_state = {
      about = "The state at one moment. Unknown values are absent.",
      result = true,
      { "clock", "number", "of the multiprocessors, or of the first core", unit = "Hz", optional = true },
      { "clock_max", "number", "", unit = "Hz", optional = true },
      { "memory_clock", "number", "", unit = "Hz", optional = true },
      { "memory_clock_max", "number", "", unit = "Hz", optional = true },
      { "temperature", "number", "of the chip, degrees Celsius", optional = true },
      { "power", "number", "W", optional = true },
      { "power_limit", "number", "W", optional = true },
      { "energy", "number", "J that the device has used since some moment: the difference of two readings counts", optional = true },
      { "utilisation", "number", "0 to 1, over the last moments", optional = true },
      { "reasons", "string[]", [[why the clock is not higher: "idle", "application clocks", "power cap",
"hardware slowdown", "sync boost", "thermal", "power brake", "display clocks"]], optional = true },
      { "driver", "string", "the kernel driver's version", optional = true },
      { "load", "number", "CPU device: runnable processes, averaged over the last minute", optional = true },
      { "governor", "string", "CPU device: the operating system's frequency policy", optional = true },
    },
    event_options = {
      about = "Properties of a new event.",
      { "timing", "boolean", "false: cheaper, but `since` cannot use it", default = "true" },
    },
  },

  entries = {
    {
      name = "id", forms = { "dev:id()" }, about = [[The device's id, as `mw.device` takes it.]],
      returns = { { "string", [["cpu", "cuda:0", "cuda:sm_90"]] } }, since = "0.1.0",
      example = [[print(dev:id()) --> cpu]],
    },
    {
      name = "name", forms = { "dev:name()" }, about = [[The manufacturer's name of the device.]],
      returns = { { "string", [[as in "NVIDIA H200"]] } }, since = "0.1.0",
    },
    {
      name = "properties", forms = { "dev:properties()" },
      about = [[The properties of the device, as a new table. Sizes in bytes, clocks in Hz.]],
      returns = { { "device_properties", "see below" } }, since = "0.1.0",
      example = [[
local p = dev:properties()
print(p.warp_size, p.max_threads_per_block) --> 32  1024]],
    },
    {
      name = "state", forms = { "dev:state()" },
      about = [[The state of the device now: clocks, temperature, power. It is read through NVML on a GPU (libnvidia-ml.so.1, or
the file that $MOONWARP_LIBNVML names), and from /sys and /proc on the CPU device. No setting is changed.]],
      returns = { { "device_state", "see below" } }, since = "0.3.0",
      example = [[print(type(dev:state())) --> table]],
    },
    {
      name = "memory", forms = { "dev:memory()" }, about = [[Free and total memory.]],
      returns = { { "integer", "free, bytes", name = "free" }, { "integer", "total, bytes", name = "total" } },
      since = "0.1.0",
      example = [[
local free, total = dev:memory()
print(free > 0, free <= total) --> true  true]],
    },
    {
      name = "peak_bandwidth", forms = { "dev:peak_bandwidth()" },
      about = [[The memory's theoretical bandwidth: clock times width. Nil if it is unknown, as on the CPU device.]],
      returns = { { "number?", "bytes per second" } },
      source = "2 * memory clock * bus width / 8 (double data rate; CUDA C++ Best Practices Guide, theoretical bandwidth)",
      since = "0.1.0",
    },
    {
      name = "ceiling", forms = { "dev:ceiling(name)" },
      about = [[What the device gives at most, measured where it is first needed and kept for the user. [ceilings.md](../ceilings.md) has the names and
how they are measured: "triad", "read_l2", "f32", "launch" and others. Not in check mode.]],
      params = { { "name", "string", "" } },
      returns = { { "number?", "bytes, operations or blocks a second, or seconds; nil where the device has none" },
                  { "string", "the unit; else why there is none", name = "unit" } },
      errors = { "dev:ceiling: there is no ceiling '<name>'; did you mean '<nearest>'?",
                 "the ceiling '<name>' of <id>: its kernel computes what is wrong, so its time counts for nothing" },
      since = "0.11.0",
      example = [[print(dev:ceiling "tensor_f16") --> nil  it has no tensor cores that this is measured by]],
    },
    {
      name = "kind", forms = { "dev:kind()" },
      about = [["gpu", or "cpu" for the processor that the script runs on. `dev:properties()` says what the device supports.]],
      returns = { { "string", "" } }, since = "0.5.0",
      example = [[print(dev:kind()) --> cpu]],
    },
    {
      name = "is_offline", forms = { "dev:is_offline()" },
      about = [[True for an offline target (`mw.device "cuda:sm_90"`). It compiles kernels and reports their attributes and
occupancy; arrays and launches are errors.]],
      returns = { { "boolean", "" } }, since = "0.1.0",
      example = [[print(dev:is_offline()) --> false]],
    },
    {
      name = "synchronize", forms = { "dev:synchronize()" },
      about = [[Waits until all streams of the device have finished, then runs the callbacks that are due. An earlier error
of a kernel is raised here, at the latest.]],
      errors = { "the error of the first launch that failed since the last `synchronize`" },
      since = "0.1.0",
    },

    { heading = "Arrays" },
    {
      name = "array",
      forms = { "dev:array(dtype, n1[, n2[, n3[, n4]]])", "dev:array(dtype, values)",
        "dev:array(dtype, bytes[, n1, ...])" },
      about = [[A new array in the device's memory. From sizes: every byte is 0xFF, so floats are NaN and
signed integers -1, and elements that a kernel never wrote are visible. From a table: nested tables, the outermost
for the slowest dimension, so `{ {1, 2, 3}, {4, 5, 6} }` is 3 x 2. From a string: packed elements, little-endian.]],
      params = { DTYPE, SHAPE, MORE },
      overloads = { TABLE_FORM, BYTES_FORM },
      returns = { { "array", "a new array" } },
      errors = {
        SIZE_ERRORS[1], SIZE_ERRORS[2], SIZE_ERRORS[3], SIZE_ERRORS[4], SIZE_ERRORS[5],
        "element [<i>][<j>] of the table: <n> values expected as in the first one, got <m>",
        "element [<i>] of the table: u8 holds an integer from 0 to 255, got 300",
        "the string has <n> bytes, <m> elements of <dtype> need <k>",
        "<id> has no memory: it only compiles kernels and reports their occupancy",
      },
      since = "0.1.0",
      example = [[
local a = dev:array("i32", { {1, 2, 3}, {4, 5, 6} })
print(a)                              --> array<i32>[3 x 2] cpu
print(a:get(3, 2))                    --> 6
print(dev:array("i32", 4):get(1))     --> -1
print(dev:array("u16", "\1\0\2\0"))   --> array<u16>[2] cpu]],
    },
    {
      name = "empty", forms = { "dev:empty(dtype, n1[, ...])" },
      about = [[The same, uninitialised, for arrays that are completely written anyway. Also takes a table or a string.]],
      params = { DTYPE, SHAPE, MORE }, overloads = { TABLE_FORM, BYTES_FORM },
      returns = { { "array", "a new array" } }, errors = { "as for `dev:array`" }, since = "0.1.0",
    },
    {
      name = "zeros", forms = { "dev:zeros(dtype, n1[, ...])" },
      about = [[The same, all zero. Also takes a table or a string.]],
      params = { DTYPE, SHAPE, MORE }, overloads = { TABLE_FORM, BYTES_FORM },
      returns = { { "array", "a new array" } }, errors = { "as for `dev:array`" }, since = "0.1.0",
      example = [[print(dev:zeros("f64", 2, 2):get(2, 2)) --> 0.0]],
    },
    {
      name = "full", forms = { "dev:full(value, dtype, n1[, ...])" },
      about = [[A new array with one value in every element.]],
      params = { { "value", "number", "the value of every element" }, DTYPE, SHAPE, MORE },
      returns = { { "array", "a new array" } }, errors = { "as for `dev:array` and `a:fill`" }, since = "0.1.0",
      example = [[print(dev:full(7, "i32", 3):get(2)) --> 7]],
    },
    host_array("pinned",
      "An array in pinned host memory, from and to which the device copies directly, concurrently with other work.",
      [[Reading and writing its elements does not wait for the device: synchronise first. Pinned memory is scarce; use it
only for buffers.]]),
    host_array("pageable", "An array in pageable host memory.",
      [[Kernels on a GPU cannot access it unless the device's property `pageable_access` is true; copies go through a
staging buffer. Reading and writing its elements does not wait for the device. `a:register` pins it later.]]),
    host_array("managed", "An array with one address for the host and the device; the driver moves the pages.",
      [[Reading and writing elements waits for the device's default stream; the host then reads or writes the memory itself,
and the pages move to it. `a:prefetch` and `a:advise` say where pages are to be.]]),
    {
      name = "load", forms = { "dev:load(path)" },
      about = [[A new array from a NumPy .npy file, versions 1.0 to 3.0, in C order. The order of the dimensions
is reversed, because x is the fastest dimension here: shape (2, 3) in NumPy is 3 x 2 here.]],
      params = { { "path", "string", "the file" } },
      returns = { { "array", "a new array" } },
      errors = { "<path>: <reason>", "the array is in Fortran order; in NumPy: numpy.ascontiguousarray(a)",
                 "big-endian elements (<descr>); in NumPy: a.astype(a.dtype.newbyteorder('<'))" },
      source = "NumPy enhancement proposal 1, A simple file format for NumPy arrays",
      since = "0.1.0",
      example = [[
local name = os.tmpname()
dev:array("f32", { {1, 2, 3}, {4, 5, 6} }):save(name)
print(dev:load(name)) --> array<f32>[3 x 2] cpu
os.remove(name)]],
    },

    { heading = "Reductions" },
    {
      name = "sum", forms = { "dev:sum(a)" },
      about = [[The sum of all elements, over all dimensions. Floats are added in f64. Integers are added in 64 bits, where the
sum wraps; a sum of u64 above 2^63 - 1 is the Lua integer with the same bits. The order depends on the number of elements, the
type and the kind of device only, so a run gives the same bits each time. A NaN makes the sum NaN.

The rounding error of a sum of f64 is at most about (n / 131072 + 350) * 2^-53 * the sum of the absolute values; sums of f32, f16 and
bf16 have the same bound, in f64.

These functions work on the default stream and wait for it. The first call for a type and operation compiles a kernel, which the
cache keeps. Pageable arrays that a GPU does not reach are copied first.]],
      params = { { "a", "array", "on this device, of any element type" } },
      returns = { { "number", "an integer for integer types" } }, errors = REDUCED_ERRORS, since = "0.8.0",
      example = [[
local a = dev:array("f32", 1000):linspace(1, 1000)
print(dev:sum(a), dev:min(a), dev:max(a)) --> 500500.0  1.0  1000.0
print(dev:sum(dev:array("u8", { 200, 100 }))) --> 300]],
    },
    {
      name = "min", forms = { "dev:min(a)" },
      about = [[The least element. NaNs are skipped; if there is nothing else, it is inf.]],
      params = { { "a", "array", "on this device, of any element type" } },
      returns = { { "number", "an integer for integer types" } }, errors = REDUCED_ERRORS, since = "0.8.0",
      example = [[print(dev:min(dev:array("i32", { 3, -7, 5 }))) --> -7]],
    },
    {
      name = "max", forms = { "dev:max(a)" },
      about = [[The greatest element. NaNs are skipped; if there is nothing else, it is -inf.]],
      params = { { "a", "array", "on this device, of any element type" } },
      returns = { { "number", "an integer for integer types" } }, errors = REDUCED_ERRORS, since = "0.8.0",
      example = [[print(dev:max(dev:array("f64", { 3, -7, 0/0 }))) --> 3.0]],
    },
    {
      name = "norm", forms = { "dev:norm(a)" },
      about = [[The Euclidean norm: the square root of the sum of the squares, which are added in f64, also those of integers.
Elements beyond 1e154 give inf.]],
      params = { { "a", "array", "on this device, of any element type" } },
      returns = { { "number", "a float" } }, errors = REDUCED_ERRORS, since = "0.8.0",
      example = [[print(dev:norm(dev:array("i32", { 3, -4 }))) --> 5.0]],
    },
    {
      name = "dot", forms = { "dev:dot(a, b)" },
      about = [[The sum of the products of the elements of two arrays of one type and shape, added as in `dev:sum`.]],
      params = { { "a", "array", "on this device" }, { "b", "array", "of the same type and shape" } },
      returns = { { "number", "an integer for integer types" } },
      errors = { "array<f32>[4] expected, got array<f32>[5]", REDUCED_ERRORS[1], REDUCED_ERRORS[2] }, since = "0.8.0",
      example = [[
local a, b = dev:array("f32", { 1, 2, 3 }), dev:array("f32", { 4, 5, 6 })
print(dev:dot(a, b)) --> 32.0]],
    },

    { heading = "Modules, streams, events, graphs" },
    {
      name = "module", forms = { "dev:module(file)", "dev:module{ file | source =, ... }", "dev:module{ cubin | ptx | fatbin =, ... }" },
      about = [[Compiles CUDA C++ for this device, or loads the result from the cache. The source is ordinary CUDA C++, without
extern "C". An error has the compiler's full log, with the file and lines of the source. If only some kernels of the source
do not compile, the module has the others, and `mod:kernel` fails for those with their own message.

Code that nvcc has compiled is loaded on CUDA devices; on the CPU device, compile its source. A mangled name gives the types of
a kernel's parameters. The name of an `extern "C"` kernel gives none: the code only says that a parameter has 8 bytes, taken for
`void *`, or another size, for which `string.pack` makes the argument. Declarations give types and names:

    dev:module { cubin = "saxpy.cubin",
                 source = 'extern "C" __global__ void saxpy(int n, float a, const float *x, float *y);' }

or `file = "saxpy.cu"`, the source that it was compiled from. An instance of a template is found by the types in its mangled name,
`"scale<unsigned long>"`; `mod:kernels()` lists all.]],
      params = { { "options", "string|module_options", "a file's name, or options" } },
      returns = { { "module", "loaded, ready to give kernels" } },
      errors = {
        "cannot read the kernel file '<file>': looked in the working folder, beside the script and in <home>/kernels",
        "the kernel file '<file>' has more than 64 MiB, which is not a source",
        "a module is made from either 'file' or 'source': give one of them",
        "a module is loaded from one of 'cubin', 'ptx' and 'fatbin', got '<name>' and '<name>'",
        "option 'cubin': '<name>' is PTX: give it as 'ptx'",
        "'<name>' has code for <arch>, which <id> (<arch>) does not run: compile it with nvcc -arch=<arch>",
        "'<name>' is damaged: its code cannot be read",
        "<id> has no driver, which compiles PTX: compile '<name>' with ptxas -arch=<arch>",
        "'<name>' is code of a GPU, which cpu does not run: compile its source there, dev:module { file = ... }",
        "loading '<name>' for <arch> failed: <what the driver says>",
        "unknown option '<name>'; did you mean '<nearest>'?",
        "option 'ptxas' is a list such as { \"-dlcm=cg\" }, one option each, got '<text>'",
        "option 'ptxas': NVRTC <version> makes PTX of <arch> for <arch>, which the driver assembles: install a newer CUDA toolkit or set $MOONWARP_LIBNVRTC",
        "option 'engine' is auto, loop, split or fiber, got '<text>'",
        "option 'defines' holds NAME = value or \"NAME=value\", got a <type>",
        "option 'defines': macro '<name>' is more than one line, ends with a \\ or has a NUL",
        "the compiler's message, followed by its log",
        "on the CPU device: the name of a feature that it does not support (textures, inline PTX, ...)",
        "on the CPU device: <place>: variable '<name>' is not initialised by a constant, and no code of a module runs while it loads: use literals, constexpr functions and constructors, or set it in a kernel or by module:variable",
        "compiling '<name>' failed: <place>: error: '<function>' is declared (<place>) and not defined: no device code has its body",
        "on the CPU device: <place>: device code of '<name>' calls '<function>', which no device code defines: kernels cannot call functions of the host",
        "kernel '<kernel>' has <n> parameters, 1024 at most: pass a struct or an array",
        "the arguments of kernel '<kernel>' have <n> bytes, 32764 at most: pass an array",
        "module '<name>': the name of kernel '<beginning>...' has more than 254 characters",
      },
      since = "0.1.0",
      example = [[
local mod = dev:module { source = [=[
  __global__ void scale(double *x, double s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= FACTOR * s;
  }
]=], defines = { FACTOR = 2 } }
local x = dev:array("f64", { 1, 2, 3 })
mod.scale:launch(1, 32, x, 10, #x)
print(x:get(3)) --> 60.0]],
    },
    {
      name = "stream", forms = { "dev:stream{ blocking = true, priority = 0 }" },
      about = [[A new stream, which runs concurrently with other streams.]],
      params = { { "options", "stream_options", "", optional = true } },
      returns = { { "stream", "a new stream" } },
      errors = { "option 'priority' is an integer from <greatest> to <least>, got <n>" },
      since = "0.1.0",
      example = [[
local s <close> = dev:stream()
print(s:query()) --> true]],
    },
    {
      name = "default_stream", forms = { "dev:default_stream([kind])" },
      about = [[A default stream. `"legacy"` receives work without a stream; it and all blocking streams wait for each other.
`"per-thread"` is CUDA's `cudaStreamPerThread`, which receives such work in a program compiled with
`nvcc --default-stream per-thread`: it and the legacy stream wait for each other, and no other stream waits for it. A script
is one thread, so a device has one of them. Closing the returned value closes a handle, not the stream.]],
      params = { { "kind", "string", '`"legacy"` (the default) or `"per-thread"`', optional = true } },
      returns = { { "stream", "a handle of it" } },
      errors = { '"legacy" or "per-thread" expected, got "<kind>"' }, since = "0.1.0",
      example = [[
print(dev:default_stream()) --> default stream cpu
print(dev:default_stream "per-thread") --> per-thread default stream cpu]],
    },
    {
      name = "peers", forms = { "dev:peers()" },
      about = [[The other devices of its kind. With `access`, kernels here may be given arrays of that device: they load and store
there directly, and access is opened by the first launch that needs it. Without, a launch with such an array is an error, and
`a:copy` still works.]],
      returns = { { "table", "a list of `{ id =, access =, atomics = }`; `atomics`: atomic operations reach there too" } },
      since = "0.11.0",
      example = [[
for _, peer in ipairs(mw.device("cpu:0/2"):peers()) do
  print(peer.id, peer.access) --> cpu:1/2  true
end]],
    },
    {
      name = "priorities", forms = { "dev:priorities()" },
      about = [[The range of stream priorities. As in CUDA, a lower number is more urgent.]],
      returns = { { "integer", "the least urgent", name = "least" },
        { "integer", "the most urgent", name = "greatest" } },
      since = "0.1.0",
    },
    {
      name = "texture", forms = { "dev:texture(array[, options])" },
      about = [[A [texture](texture.md) of an array, for kernels' parameters of type `cudaTextureObject_t`. Of kind linear and pitched it reads the
array's memory; of every other it has a copy of the array's present values. Of a [surface](surface.md) it reads what kernels write there.
It keeps the memory alive, also after the array or surface is closed; launches and graphs keep it alive.]],
      params = { { "array", "array|moonwarp.surface", "of the device; not pageable" },
        { "options", "texture_options", "", optional = true } },
      returns = { { "texture", "" } },
      errors = {
        "an array in device, managed or pinned memory of <id> expected, got <array>",
        "an array of f16, f32, or integers of up to 32 bits expected, got one of <dtype>",
        "an array of one to three sides expected, the components not counted, got <n>",
        "kind '<kind>' takes an array of <n> sides, the components not counted, got <n>",
        "kind '<kind>': side <n> has <n> texels, GPUs allow <n>",
        "kind 'cube' takes six square faces, n x n x 6, got <x> x <y> x <z>",
        "kind 'pitched' takes rows of a multiple of 32 bytes, got <n>; kind '2d' takes any",
        "kind '<kind>' takes a view that begins at a multiple of 512 bytes of its array, got <n>",
        "components = <n>: a first side of <n> expected, got <n>",
        "option 'components' is 1, 2 or 4, got 3",
        "option 'address' is wrap, clamp, mirror, border or a list of them, got <value>",
        "option 'address': a list of <n> expected, got <value>",
        "option 'address': <wrap or mirror> needs normalised = true",
        "option 'address': a cube map's faces are clamped",
        "option 'address' is not of linear memory: outside of it is 0",
        "option 'read': integers of 8 or 16 bits are read as normalised floats, not <dtype>",
        "filter = \"linear\" mixes numbers: <dtype> elements need read = \"normalised float\"",
        "linear memory is read by the number of a texel: no filter and no normalised coordinates",
        "a cube map has normalised coordinates",
        "a texture of a surface has its kind and components",
        "a stream is being captured: you can make a texture or a surface after the capture has ended",
        "<id> has no textures: it is an architecture without a device",
      },
      source = [[CUDA C++ Programming Guide, "Texture Fetching"]],
      since = "0.11.0",
      example = [[
local m = dev:module { source = [=[
  __global__ void at(cudaTextureObject_t t, float x, float y, float *out) { out[0] = tex2D<float>(t, x, y); }
]=] }
local image, out = dev:array("f32", { { 0, 1 }, { 2, 3 } }), dev:array("f32", 1)
local t = dev:texture(image, { filter = "linear", address = "border" })
m.at:launch(1, 1, t, 1, 1, out)
print(out:get(1)) --> 1.5
m.at:launch(1, 1, t, 2, 1, out)
print(out:get(1)) --> 1.0]],
    },
    {
      name = "surface", forms = { "dev:surface(array[, options])" },
      about = [[A [surface](surface.md) with the array's shape and present values, for kernels' parameters of type `cudaSurfaceObject_t`; `s:copy_to`
brings back what kernels have written.]],
      params = { { "array", "array", "of the device; not pageable" },
        { "options", "surface_options", "", optional = true } },
      returns = { { "surface", "" } },
      errors = { "as those of `dev:texture`" },
      since = "0.11.0",
      example = [[
print(dev:surface(dev:zeros("u8", 4, 16, 8), { components = 4 })) --> surface<u8 x 4>[16 x 8 x 1] 2d cpu]],
    },
    {
      name = "event", forms = { "dev:event{ timing = true }" },
      about = [[A new event, which streams can record and wait for, and which takes times.]],
      params = { { "options", "event_options", "", optional = true } },
      returns = { { "event", "not recorded yet" } }, since = "0.1.0",
      example = [[
local e = dev:event()
print(pcall(e.query, e)) -- false: the event was never recorded]],
    },
    {
      name = "capture", forms = { "dev:capture(f)" },
      about = [[Runs `f(stream)` once and records its launches and copies instead of executing them. Launches and copies
without a stream go to the capturing stream. Other streams, of other devices as well, join the capture by waiting for an event recorded there, and the
capturing stream must wait for them before `f` returns. The stream is closed when `f` returns. The graph keeps every array and kernel it uses
alive.]],
      params = { { "f", "fun(stream: moonwarp.stream)", "launches and copies" } },
      returns = { { "graph", "ready to be launched" } },
      errors = { "capture: a capture is in progress; finish it first", "any error of `f`, which ends the capture",
                 "a stream is being captured: you can <what was tried> after the capture has ended" },
      since = "0.1.0",
      example = [[
local k = dev:module("triad.cu").triad
local a, b, c = dev:full(1, "f64", 8, 1), dev:zeros("f64", 8, 1), dev:full(2, "f64", 8, 1)
local graph = dev:capture(function() k:launch(1, 8, b, a, c, 10, 8, 1) end)
print(b:get(1))  --> 0.0
graph:launch()
print(b:get(1))  --> 21.0]],
    },
    {
      name = "findings", forms = { "dev:findings()" },
      about = [[What check mode has found on the device since it was opened first, and races between operations on its arrays, as
`mw.findings` has them.]],
      returns = { { "finding[]", "on a device that is not in check mode races between operations only" } }, since = "0.7.0",
      example = [[print(dev:findings()) --> no findings]],
    },
    {
      name = "counters", forms = { "dev:counters([first])" },
      about = [[What the launches asked of memory since the device was opened first, in order: those of modules that were compiled while
the device was in check mode with `counters`. Waits for the launches that are queued. The first 1000 are listed one by one. Of later
ones, those of a kernel with the same grid and block since the last call are one entry, their sum.]],
      params = { { "first", "integer", "entries whose first launch is this one or a later one", optional = true, default = "1" } },
      returns = { { "counters[]", "empty if the device does not count" } }, since = "0.8.0",
      example = [[print(#dev:counters()) --> 0]],
    },
    {
      name = "close", forms = { "dev:close()" },
      about = [[Closes the handle. The device itself is closed when no object that it made is left. `mw.device` with the
same id then makes a new handle.]],
      errors = { "attempt to use a closed device" }, since = "0.1.0",
    },

    { heading = "Metamethods" },
    {
      name = "__tostring", forms = { "tostring(dev)" },
        about = [[`device cuda:0 (NVIDIA H200)`, or `device (closed)`.]],
      returns = { { "string", "" } }, meta = false, since = "0.1.0",
    },
  },
}
