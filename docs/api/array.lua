-- SPDX-License-Identifier: MIT
local READONLY = "the array is a read-only view"

return {
  title = "array",
  owner = "array",
  self = "a",
  about = [[
Elements of one type in one to four dimensions, in a device's or the host's memory. x is the fastest dimension:
element (i, j) of an nx x ny array is at `(j - 1) * nx + (i - 1)`, where a kernel finds it at `iy * nx + ix`.
`dev:array` and similar methods make arrays.

Element types: f16, bf16, f32, f64, i8 to i64, u8 to u64. An f16 or bf16 is a Lua number in scripts, rounded to
nearest even. A u64 above 2^63 - 1 is the Lua integer with the same bits.

A method that changes elements returns the array, so calls can be chained. Views share memory: `view`, `reshape`,
`slice` and `readonly` do not copy.

Reading and writing from the script waits for the default stream. It does not wait for streams made with
`blocking = false`, and does not wait at all for pinned and pageable arrays: synchronise first.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"]],

  classes = {
    copy_options = {
      about = "Which elements, and in which stream.",
      { "from", "integer", "the first element read", default = "1" },
      { "to", "integer", "the first element written", default = "1" },
      { "count", "integer", "number of elements", default = "all from `from` on" },
      { "stream", "stream", "queues the copy there and returns at once; synchronise before using the result" },
    },
    prefetch_options = {
      about = "In which stream.",
      { "stream", "stream", "the pages move after its earlier work", default = "the default stream" },
    },
    advice = {
      about = "What is not given stays as it is; false takes advice back.",
      { "read_mostly", "boolean", "device and host may each keep a copy of a page, until one of them writes it",
        optional = true },
      { "preferred_location", [["device"|"host"|false]], "where pages stay, if they can", optional = true },
      { "accessed_by", [["device"|"host"|false]],
        "keeps the pages mapped there, wherever they are, so that an access needs no fault", optional = true },
    },
    random_options = {
      about = "The distribution.",
      { "seed", "integer", "the same seed gives the same elements on every device", default = "0" },
      { "kind", [["uniform"|"normal"]], "the distribution", default = [["uniform"]] },
      { "min", "number", "uniform: the smallest value", default = "0" },
      { "max", "number", "uniform: floats are below it; integers include it", default = "1; 99 for integer types" },
      { "mean", "number", "normal", default = "0" },
      { "sd", "number", "normal: standard deviation", default = "1" },
      { "offset", "integer", "how many numbers of the sequence to skip", default = "0" },
    },
  },

  entries = {
    { heading = "Properties" },
    {
      name = "dtype", forms = { "a:dtype()" }, about = [[The element type.]],
      returns = { { "dtype", [[as in "f32"]] } }, since = "0.1.0",
    },
    {
      name = "shape", forms = { "a:shape()" }, about = [[The size along each dimension, x first.]],
      returns = { { "integer", "n1", name = "n1" },
        { "integer?", "n2, n3, n4: as many as there are dimensions", name = "..." } },
      since = "0.1.0",
      example = [[print(dev:zeros("f32", 4, 3):shape()) --> 4  3]],
    },
    { name = "dims", forms = { "a:dims()" }, about = [[Number of dimensions.]], returns = { { "integer", "1 to 4" } },
      since = "0.1.0" },
    {
      name = "__len", forms = { "#a" }, about = [[Number of elements, over all dimensions.]],
      returns = { { "integer", "" } }, meta = false, since = "0.1.0",
      example = [[print(#dev:zeros("f32", 4, 3)) --> 12]],
    },
    { name = "nbytes", forms = { "a:nbytes()" }, about = [[Size of the elements in bytes.]],
      returns = { { "integer", "bytes" } }, since = "0.1.0" },
    {
      name = "space", forms = { "a:space()" }, about = [[Where the memory is.]],
      returns = { { "space", [["global" is a variable of a module]] } }, since = "0.1.0",
      example = [[print(dev:pinned("f32", 4):space()) --> pinned]],
    },
    { name = "device", forms = { "a:device()" }, about = [[The device that it belongs to.]],
      returns = { { "device", "a handle of it" } }, since = "0.1.0" },
    { name = "address", forms = { "a:address()" },
      about = [[The address of the first element, as the device sees it. For messages, and for arrays of pointers (`T
**` takes an array of u64).]], returns = { { "integer", "" } }, since = "0.1.0" },
    { name = "is_readonly", forms = { "a:is_readonly()" }, about = [[True for a view made by `a:readonly()`.]],
      returns = { { "boolean", "" } }, since = "0.1.0" },
    {
      name = "__tostring", forms = { "tostring(a)" },
      about = [[Type, shape, device, and the space if it is not the device's memory: `array<f64>[4096 x 4096] cuda:0`.]],
      returns = { { "string", "" } }, meta = false, since = "0.1.0",
      example = [[print(dev:pageable("f64", 8, 2)) --> array<f64>[8 x 2] cpu, pageable]],
    },

    { heading = "Elements" },
    {
      name = "get", forms = { "a:get(i[, j[, k[, l]]])" },
      about = [[One element. Each call is a transfer: use `totable` or `bytes` for many elements. A single index counts
through the whole array, whatever its shape.]],
      params = { { "i", "integer", "along x" }, { "...", "integer", "j, k, l: as many as there are dimensions" } },
      returns = { { "number", "an integer for integer types" } },
      errors = { "the array has <n> dimensions, got <m> indices", "index from 1 to <n> expected, got <i>" },
      since = "0.1.0",
      example = [[
local a = dev:array("i32", { {1, 2, 3}, {4, 5, 6} })
print(a:get(2, 1), a:get(5)) --> 2  5]],
    },
    {
      name = "gather", forms = { "a:gather(places)" },
      about = [[Elements that do not lie side by side, in one transfer. A place counts through the whole array from 1, whatever its shape:
element (i, j) of an array of nx columns is number (j - 1) * nx + i.]],
      params = { { "places", "integer[]", "" } },
      returns = { { "number[]", "in the order of the places" } },
      errors = { "place <i> is an integer from 1 to <n>, got <place>",
                 "a list of places is wanted, got one with names or holes" },
      since = "0.11.0",
      example = [[
local a = dev:array("i32", { {1, 2, 3}, {4, 5, 6} })
print(table.concat(a:gather { 6, 1, 5 }, " ")) --> 6 1 5]],
    },
    {
      name = "set", forms = { "a:set(i[, j[, k[, l]]], value)" }, about = [[Writes one element.]],
      params = { { "i", "integer", "along x" }, { "...", "number", "j, k, l, and then the value" } },
      returns = { { "array", "the array itself" } },
      errors = { "set takes the indices and then the value", "as for `get`",
        "u8 holds an integer from 0 to 255, got 300",
                 "f32 holds a number, got string '<text>'", READONLY },
      since = "0.1.0",
      example = [[print(dev:zeros("f32", 2, 2):set(1, 2, 0.5):get(1, 2)) --> 0.5]],
    },
    {
      name = "__add", forms = { "a + b", "-a", "a * 2" },
      about = [[An error, as every operator of numbers: kernels compute with arrays.]], meta = false, rejects = true,
      errors = { "an array has no arithmetic in Lua: a kernel computes on the device, a:totable() gives the elements to the "
        .. "script" },
      since = "0.6.0",
    },
    {
      name = "__lt", forms = { "a < b", "a <= b" }, about = [[An error: `mw.check` compares elements.]], meta = false,
      rejects = true, errors = { "arrays have no order; mw.check(got, expected) compares their elements" }, since = "0.6.0",
    },
    {
      name = "__call", forms = { "a(i)" }, about = [[An error: `get` reads an element.]], meta = false, rejects = true,
      errors = { "an array is not a function: a:get(i) reads an element, a:totable() all of them" }, since = "0.6.0",
    },
    {
      name = "__pairs", forms = { "pairs(a)" }, about = [[An error: `totable` gives a table to loop over.]], meta = false,
      rejects = true, errors = { "an array is not a table: a:totable() gives one to loop over" }, since = "0.6.0",
    },
    {
      name = "totable", forms = { "a:totable()" },
      about = [[All elements as nested tables, the outermost for the slowest dimension, as `dev:array` takes them.]],
      returns = { { "table", "" } }, since = "0.1.0",
      example = [[print(table.concat(dev:array("u8", { 3, 1, 2 }):totable(), " ")) --> 3 1 2]],
    },
    {
      name = "bytes", forms = { "a:bytes()" }, about = [[All elements as a string of packed, little-endian bytes.]],
      returns = { { "string", "" } }, since = "0.1.0",
      example = [[print(string.unpack("<i4", dev:array("i32", { 258 }):bytes()))]],
    },
    {
      name = "upload", forms = { "a:upload(table)", "a:upload(bytes)" },
      about = [[Replaces all elements: from a table of the array's shape, a flat table, or a string of exactly as many bytes.]],
      params = { { "values", "table|string", "" } },
      returns = { { "array", "the array itself" } },
      errors = { "the table's shape is not the array's, nor is it flat with as many values",
        "<n> bytes expected, got <m>", READONLY },
      since = "0.1.0",
      example = [[print(dev:empty("f64", 2, 2):upload({ 1, 2, 3, 4 }):get(1, 2)) --> 3.0]],
    },

    { heading = "Filling" },
    {
      name = "fill", forms = { "a:fill(value)" }, about = [[Sets every element to a value.]],
      params = { { "value", "number", "checked against the element type, as in `set`" } },
      returns = { { "array", "the array itself" } },
      errors = { "number expected, got <type>", "u8 holds an integer from 0 to 255, got 300", READONLY },
      since = "0.1.0",
      example = [[print(dev:empty("i16", 5):fill(-3):get(5)) --> -3]],
    },
    {
      name = "linspace", forms = { "a:linspace(first, last)" },
      about = [[Evenly spaced values from `first` to `last`, both included, in memory order over all dimensions. A
single element is `first`. Integer types round the value towards zero.]],
      params = { { "first", "number", "" }, { "last", "number", "" } },
      returns = { { "array", "the array itself" } }, errors = { "number expected, got <type>", READONLY },
        since = "0.1.0",
      source = "first + (last - first) * i / (n - 1)",
      example = [[print(dev:empty("f64", 5):linspace(0, 1):get(4)) --> 0.75]],
    },
    {
      name = "random", forms = { "a:random(seed)", "a:random{ seed =, kind = \"uniform\", ... }" },
      about = [[Random numbers from a counter-based generator. An element depends only on the seed and its position, so the
same seed gives the same bits on every device, with any block size.]],
      params = { { "options", "integer|random_options", "a seed, or options; defaults to seed 0",
        optional = true } },
      returns = { { "array", "the array itself" } },
      errors = { "random: the seed must be an integer, got <n>",
        "random: option 'kind' must be 'uniform' or 'normal', got '<text>'",
        "random: option 'max' is 1000, i8 holds -128 to 127",
                 READONLY }, since = "0.1.0",
      source = "Philox 4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3 (2011); "
        .. "normal by G. Box and M. Muller (1958)",
      example = [[
local a, b = dev:empty("f64", 1000):random(42), dev:empty("f64", 1000):random(42)
print(mw.check(a, b, { exact = true })) -- true, and the report]],
    },

    { heading = "Copies" },
    {
      name = "copy", forms = { "a:copy(source[, options])" },
      about = [[Copies all or some elements of another array into this one, on one device or between two. Without a stream
the copy is complete when the call returns. With one, of either device, the script goes on, and the stream alone orders the
copy: what the other device does before and after it waits through events, `s:wait(event)`. Between GPUs that do not reach each
other's memory the copy goes through the host's; a warning says so once.]],
      params = { { "source", "array", "of the same element type, on any device" }, { "options", "copy_options", "",
        optional = true } },
      returns = { { "array", "the array itself" } },
      errors = {
        "array of <dtype> expected, got array of <dtype>",
        "copy of <n> elements to element <i> on does not fit: the array has room for <m>",
        "option 'stream' is a stream of <id>, the copy is between <id> and <id>", READONLY,
      },
      since = "0.1.0",
      example = [[
local a, b = dev:array("i32", { 1, 2, 3, 4 }), dev:zeros("i32", 4)
b:copy(a, { from = 3, to = 1, count = 2 })
print(b:get(1), b:get(2), b:get(3)) --> 3  4  0]],
    },
    {
      name = "clone", forms = { "a:clone()" },
        about = [[A new array with the same type, shape, space, device and contents.]],
      returns = { { "array", "a new array" } }, since = "0.1.0",
      example = [[
local a = dev:full(1, "f32", 3)
local b = a:clone():fill(2)
print(a:get(1), b:get(1)) --> 1.0  2.0]],
    },
    {
      name = "save", forms = { "a:save(path)" },
      about = [[Writes a NumPy .npy file (version 1.0, C order). NumPy sees the dimensions in reverse order: 3 x 2 here is (2, 3) in NumPy.]],
      params = { { "path", "string", "the file; replaced if it exists" } },
      returns = { { "array", "the array itself" } },
      errors = { "<path>: <reason>", "NumPy has no bf16; copy into an array of f32 first" }, since = "0.1.0",
    },

    { heading = "Pages" },
    {
      name = "prefetch", forms = { "a:prefetch([to[, { stream = }]])" },
      about = [[Moves the pages of a managed array, or of a view of one, to the device or to the host, in order with the
stream. It returns at once: synchronise before the host uses pages that move to it. On the CPU device, where both are
one, it only checks its arguments.]],
      params = { { "to", [["device"|"host"]], 'defaults to `"device"`', optional = true },
        { "options", "prefetch_options", "", optional = true } },
      returns = { { "array", "the array itself" } },
      errors = { '"device" or "host" expected, got <value>',
        "<array> is not a managed array, which prefetch needs: dev:managed makes one",
        "<id> has no concurrent managed access, which prefetch needs: its driver moves whole arrays at a launch",
        "a stream is being captured: you can prefetch an array after the capture has ended" },
      source = "cuMemPrefetchAsync (CUDA Driver API)", since = "0.8.0",
      example = [[
local a = dev:managed("f32", 1000):prefetch("host")
a:fill(1):prefetch("device", { stream = dev:stream() })
print(a:get(1000)) --> 1.0]],
    },
    {
      name = "advise", forms = { "a:advise{ read_mostly =, preferred_location =, accessed_by = }" },
      about = [[Advises the driver how a managed array, or a view of one, will be used. Advice moves no page and changes no
result; the CPU device only checks its arguments.]],
      params = { { "advice", "advice", "" } }, returns = { { "array", "the array itself" } },
      errors = { "option 'accessed_by' is \"device\", \"host\" or false, got <value>",
        "<array> is not a managed array, which advise needs: dev:managed makes one",
        "<id> has no concurrent managed access, which advise needs: its driver moves whole arrays at a launch" },
      source = "cuMemAdvise (CUDA Driver API)", since = "0.8.0",
      example = [[
local a = dev:managed("f32", { 1, 2, 3 }):advise { read_mostly = true, preferred_location = "device" }
a:advise { preferred_location = false }
print(a:get(3)) --> 3.0]],
    },
    {
      name = "register", forms = { "a:register()" },
      about = [[Pins the memory of a pageable array where it is, for all its views: it is then a pinned array, which kernels
access directly and copies move without a staging buffer. It stays pinned until it is freed.]],
      returns = { { "array", "the array itself" } },
      errors = { "<array> is not a pageable array, which register needs: dev:pageable makes one",
        "<id> cannot register host memory: dev:pinned makes an array that it reaches",
        "a stream is being captured: you can register an array after the capture has ended" },
      source = "cuMemHostRegister (CUDA Driver API)", since = "0.8.0",
      example = [[
local a = dev:pageable("f32", { 1, 2, 3 })
print(a:register()) --> array<f32>[3] cpu, pinned]],
    },

    { heading = "Views" },
    {
      name = "view", forms = { "a:view(first, n1[, n2[, n3[, n4]]])" },
      about = [[The elements from number `first` on, in the given shape. Shares the memory and keeps it alive.]],
      params = { { "first", "integer", "counts through the whole array" }, { "n1", "integer", "" },
                 { "...", "integer", "n2, n3, n4" } },
      returns = { { "array", "a view" } },
      errors = { "first element from 1 to <n> expected, got <i>",
                 "a view of <n> elements from element <i> on does not fit into the array's <m>" },
      since = "0.1.0",
      example = [[
local a = dev:array("i32", { 1, 2, 3, 4, 5, 6 })
a:view(3, 2, 2):fill(0)
print(table.concat(a:totable(), " ")) --> 1 2 0 0 0 0]],
    },
    {
      name = "reshape", forms = { "a:reshape(n1[, n2[, n3[, n4]]])" },
      about = [[The same elements in another shape. Shares the memory.]],
      params = { { "n1", "integer", "" }, { "...", "integer", "n2, n3, n4" } },
      returns = { { "array", "a view" } }, errors = { "the new shape has <n> elements, the array has <m>" },
        since = "0.1.0",
      example = [[print(dev:zeros("f32", 12):reshape(4, 3)) --> array<f32>[4 x 3] cpu]],
    },
    {
      name = "slice", forms = { "a:slice(k)" },
      about = [[The k-th part along the slowest dimension, with one dimension less: for 4 x 3, `slice(2)` is the
second row of 4. For one dimension it is a single element. Shares the memory.]],
      params = { { "k", "integer", "from 1 to the size of the slowest dimension" } },
      returns = { { "array", "a view" } }, errors = { "a slice from 1 to <n> expected, got <k>" }, since = "0.1.0",
      example = [[print(dev:array("i32", { {1, 2}, {3, 4}, {5, 6} }):slice(3):get(1)) --> 5]],
    },
    {
      name = "readonly", forms = { "a:readonly()" },
      about = [[A view that launches accept only for const parameters, and that the script cannot write. Shares the memory.]],
      returns = { { "array", "a view" } }, since = "0.1.0",
      example = [[print(pcall(function() dev:zeros("f32", 4):readonly():set(1, 5) end)) -- false: a read-only view]],
    },
  },
}
