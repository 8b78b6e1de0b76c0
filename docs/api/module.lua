-- SPDX-License-Identifier: MIT
return {
  title = "module",
  owner = "module",
  self = "mod",
  about = [[
A compiled source, loaded on one device. `dev:module` makes it. Its kernels are its fields: `mod.memcopy`. A kernel, a
variable or a launch keeps the code loaded after the module is closed.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local mod = dev:module { source = [=[
  __constant__ float factors[3];
  __device__ int calls;
  template <typename T> __global__ void scale(T *x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] *= (T)factors[i];
    if (i == 0) atomicAdd(&calls, 1);
  }
  __global__ void shift(float *x, float by) { x[threadIdx.x] += by; }
]=], templates = { "scale<float>", "scale<double>" } }]],

  entries = {
    {
      name = "kernel", forms = { "mod:kernel(name)" },
      about = [[The kernel of that name. A template is instantiated by its name with arguments: `"scale<float>"`. One of several
overloads is named by its whole signature: `"fill(float *, int)"`. The same name returns the same kernel. If the source has `__device__` or `__constant__` variables, its instances must be
listed in the option `templates`, so that all kernels share one copy of the variables. A kernel that does not compile
where others of the module do fails here, with its own message; the others are usable.]],
      params = { { "name", "string", "as the source has it, with template arguments if it is a template" } },
      returns = { { "kernel", "" } },
      errors = {
        "module '<name>' has no kernel '<kernel>'; it has: <names>: did you mean '<nearest>'?",
        "kernel '<kernel>' of module '<name>' is a template: name an instance, as in <kernel><float, 16>",
        "kernel '<kernel>' of module '<name>' is overloaded: give one whole signature: <signatures>",
        "module '<name>' has device variables, so '<instance>' must be compiled with it: list it in templates = {\"<instance>\"}",
        "the compiler's message for the instance",
        "kernel '<kernel>' cannot be compiled for <device>: <file>:<line>: <the compiler's message>",
      },
      since = "0.1.0",
      example = [[
print(mod:kernel "scale<double>" == mod:kernel "scale<double>") --> true]],
    },
    {
      name = "__index", forms = { "mod.name" },
      about = [[A method, else the kernel of that name. If a kernel has a method's name, use `mod:kernel`.]],
      returns = { { "kernel", "" } }, errors = { "as for `kernel`" }, meta = false, since = "0.1.0",
      example = [[print(mod.shift:name()) --> shift]],
    },
    {
      name = "kernels", forms = { "mod:kernels()" },
        about = [[The names of the kernels, without templates, in source order; last those that do not compile: `mod:kernel` says why.
Of compiled code also the instances of templates.]],
      returns = { { "string[]", "" } }, since = "0.1.0",
      example = [[print(table.concat(mod:kernels(), " ")) --> shift]],
    },
    {
      name = "variable", forms = { "mod:variable(name)" },
      about = [[A `__device__` or `__constant__` variable as an array of one dimension that shares its memory. If
its type is not an element type, the array is of u8. On a CUDA device a variable that no kernel uses does not exist.]],
      params = { { "name", "string", "as the source has it" } },
      returns = { { "array", [[in space "global"]] } }, errors = { "module '<name>' has no device variable '<variable>'; it has: <names>" }, since = "0.1.0",
      example = [[
mod:variable "factors":upload { 1, 10, 100 }
local x = dev:array("f32", { 1, 2, 3 })
mod:kernel "scale<float>":launch(1, 3, x, 3)
print(x:get(3), mod:variable "calls":get(1)) --> 300.0  1]],
    },
    {
      name = "get", forms = { "mod:get(name)" },
      about = [[The value of a variable: a number if it is one element, else a table.]],
      params = { { "name", "string", "" } }, returns = { { "number|table", "" } },
      errors = { "as for `variable`" }, since = "0.1.0",
      example = [[print(mod:get "calls") --> 0]],
    },
    {
      name = "set", forms = { "mod:set(name, value)" },
      about = [[Sets the value of a variable.]],
      params = { { "name", "string", "" },
        { "value", "number|table|string", "a number for one element, else a flat list or packed bytes" } },
      returns = { { "module", "the module itself" } },
      errors = { "as for `variable` and `a:set`",
        "variable '<name>' has <n> elements: a table of that many expected, got <type>",
        "variable '<name>' has <n> elements: a flat table of that many expected, got one of <m>",
        "variable '<name>' has <n> bytes: a string of that many expected, got one of <m>" },
        since = "0.1.0",
      example = [[
mod:set("factors", { 2, 2, 2 })
print(mod:get "factors"[3]) --> 2.0]],
    },
    {
      name = "log", forms = { "mod:log()" }, about = [[
The compiler's warnings about the source and the user's files that it includes, each with its file, line and text; "" if
there were none. They are printed on the standard error stream when the module is made, from the cache or not, once in a
process, and kept in the record; `warnings = false` of `dev:module` turns that off. They fail nothing.]],
      returns = { { "string", "" } }, since = "0.1.0",
    },
    {
      name = "ptx", forms = { "mod:ptx()" },
        about = [[The code in PTX, NVIDIA's virtual instruction set. CUDA devices only.]],
      returns = { { "string", "" } },
      errors = { "the cpu device has no ptx: compile the module on a cuda device, such as \"cuda:sm_90\"",
        "'<name>' was loaded as code of <arch>, which has no PTX" }, since = "0.1.0",
    },
    {
      name = "sass", forms = { "mod:sass()" },
      about = [[The code in SASS, the GPU's instructions. CUDA devices only; needs the toolkit's disassembler.]],
      returns = { { "string", "" } },
      errors = { "the cpu device has no sass: compile the module on a cuda device, such as \"cuda:sm_90\"",
        "SASS: the driver compiles the PTX of '<name>', and keeps the code to itself",
        "SASS needs nvdisasm or cuobjdump of the CUDA toolkit on the PATH (packages ...)" },
        since = "0.1.0",
    },
    {
      name = "cpp", forms = { "mod:cpp()" },
      about = [[What was compiled. On the CPU device the C++ that was generated from the source; on a CUDA device the source, or its
device code if it has host code that NVRTC does not take.]],
      returns = { { "string", "" } }, since = "0.1.0",
      example = [[print(mod:cpp():find("shift", 1, true) ~= nil) --> true]],
    },
    { name = "options", forms = { "mod:options()" },
      about = [[The options it was made from, as `dev:module` of this or another device takes them.]],
      returns = { { "module_options", "" } }, since = "0.1.0" },
    { name = "device", forms = { "mod:device()" }, about = [[The device that it is loaded on.]],
      returns = { { "device", "a handle of it" } }, since = "0.1.0" },
    { name = "from_cache", forms = { "mod:from_cache()" }, about = [[True if the compiled code came from the cache.]],
      returns = { { "boolean", "" } }, since = "0.1.0" },
  },
}
