-- SPDX-License-Identifier: MIT
return {
  title = "module",
  owner = "module",
  self = "mod",
  about = [[
A compiled source, loaded on one device. `dev:module` makes it. Its kernels are its fields: `mod.memcopy`. A kernel, a
variable or a launch keeps the code loaded after the module's own handle is closed.]],
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
      about = [[The kernel of that name. A template is instantiated by naming it: `"scale<float>"`. The same name
gives the same kernel again. Where the source has `__device__` or `__constant__` variables, its templates must be
listed in the option `templates`, so that all kernels share one copy of the variables.]],
      params = { { "name", "string", "as the source has it, with template arguments if it is a template" } },
      returns = { { "kernel", "" } },
      errors = {
        "module '<name>' has no kernel '<kernel>'; it has: <names>: did you mean '<nearest>'?",
        "kernel '<kernel>' of module '<name>' is a template: name an instance, as in <kernel><float>",
        "module '<name>' has device variables, so '<instance>' must be compiled with it: list it in templates = {\"<instance>\"}",
        "what the compiler says of the instance",
      },
      since = "0.1.0",
      example = [[
print(mod:kernel "scale<double>" == mod:kernel "scale<double>") --> true]],
    },
    {
      name = "__index", forms = { "mod.name" },
      about = [[A method, else the kernel of that name. A kernel that has a method's name is reached with `mod:kernel`.]],
      returns = { { "kernel", "" } }, errors = { "as for `kernel`" }, meta = false, since = "0.1.0",
      example = [[print(mod.shift:name()) --> shift]],
    },
    {
      name = "kernels", forms = { "mod:kernels()" },
        about = [[The names of the kernels that are no templates, in source order.]],
      returns = { { "string[]", "" } }, since = "0.1.0",
      example = [[print(table.concat(mod:kernels(), " ")) --> shift]],
    },
    {
      name = "variable", forms = { "mod:variable(name)" },
      about = [[A `__device__` or `__constant__` variable as an array of one dimension that shares its memory. A
variable whose type is no element type is an array of u8. A CUDA device does not know a variable that no kernel uses.]],
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
      about = [[The value of a variable: a number where it is one element, else a table.]],
      params = { { "name", "string", "" } }, returns = { { "number|table", "" } },
      errors = { "as for `variable`" }, since = "0.1.0",
      example = [[print(mod:get "calls") --> 0]],
    },
    {
      name = "set", forms = { "mod:set(name, value)" },
      about = [[Gives a variable a new value.]],
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
      name = "log", forms = { "mod:log()" }, about = [[The compiler's warnings; "" where there were none.]],
      returns = { { "string", "" } }, since = "0.1.0",
    },
    {
      name = "ptx", forms = { "mod:ptx()" },
        about = [[The code in NVIDIA's virtual instruction set. CUDA devices only.]],
      returns = { { "string", "" } },
      errors = { "the cpu device has no ptx: compile the module on a cuda device, such as \"cuda:sm_90\"" }, since = "0.1.0",
    },
    {
      name = "sass", forms = { "mod:sass()" },
      about = [[The code in the GPU's own instructions. CUDA devices only, where the toolkit's disassembler is installed.]],
      returns = { { "string", "" } },
      errors = { "the cpu device has no sass: compile the module on a cuda device, such as \"cuda:sm_90\"",
        "SASS needs nvdisasm or cuobjdump of the CUDA toolkit on the PATH (packages ...)" },
        since = "0.1.0",
    },
    {
      name = "cpp", forms = { "mod:cpp()" },
      about = [[The C++ that the CPU device made of the source. CPU device only.]],
      returns = { { "string", "" } }, errors = { "the CUDA device compiles the source itself: generated C++ is the CPU device's" }, since = "0.1.0",
      example = [[print(mod:cpp():find("shift", 1, true) ~= nil) --> true]],
    },
    { name = "options", forms = { "mod:options()" },
      about = [[What it was made from: a table that `dev:module` takes, of this or another device.]],
      returns = { { "module_options", "" } }, since = "0.1.0" },
    { name = "device", forms = { "mod:device()" }, about = [[The device that it is loaded on.]],
      returns = { { "device", "a handle of it" } }, since = "0.1.0" },
    { name = "from_cache", forms = { "mod:from_cache()" }, about = [[True when nothing had to be compiled.]],
      returns = { { "boolean", "" } }, since = "0.1.0" },
  },
}
