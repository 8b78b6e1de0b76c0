-- SPDX-License-Identifier: MIT
return {
  title = "moonwarp.core",
  owner = "core",
  about = [[
The C half, which `require "moonwarp"` builds upon. Scripts do not need it; the command line, the Lua half and the tests do.
It may change in any version.]],
  setup = [[local core = require "moonwarp.core"]],
  classes = {
    cache_stats = {
      about = "The cache of compiled code.",
      result = true,
      { "folder", "string", "where it is" },
      { "problem", "string", "why it is off", optional = true },
      { "entries", "integer", "" },
      { "bytes", "integer", "on disk now" },
      { "bound", "integer", "on disk at most", unit = "bytes" },
      { "hits", "integer", "over all processes, since the last clear" },
      { "misses", "integer", "the same" },
    },
    core_options = {
      about = "What the command line leaves for the library, before a script runs.",
      { "device", "string", "what `mw.device()` opens" },
      { "params", "table<string, string[]>", "the values given with -p" },
      { "out", "string", "folder of results", default = [["out"]] },
      { "json", "string", "file of records" },
      { "quiet", "boolean", "print no tables and charts" },
      { "script", "string", "path of the running script" },
    },
  },
  entries = {
    { name = "version", forms = { "core.version" }, field = "string", about = [[As `mw.version`.]], since = "0.1.0" },
    { name = "options", forms = { "core.options" }, field = "moonwarp.core_options", about = [[What the command line chose; see below.]],
      returns = { { "core_options", "" } }, since = "0.1.0" },
    { name = "methods", forms = { "core.methods" }, field = "table<string, table>",
      about = [[The method table of each class, which the Lua half adds to: `core.methods.array.fill`.]], since = "0.1.0" },
    { name = "null", forms = { "core.null" }, field = "lightuserdata", about = [[As `mw.null`.]], since = "0.1.0" },
    { name = "device", forms = { "core.device([id])" }, about = [[As `mw.device`, without the command line's choice.]],
      params = { { "id", "string", "", optional = true } }, returns = { { "device", "" } }, since = "0.1.0" },
    { name = "devices", forms = { "core.devices()" }, about = [[As `mw.devices`.]], returns = { { "device_entry[]", "" } }, since = "0.1.0" },
    { name = "type", forms = { "core.type(value)" }, about = [[As `mw.type`.]], params = { { "value", "any", "" } },
      returns = { { "string?", "" } }, since = "0.1.0" },
    { name = "poll", forms = { "core.poll()" }, about = [[As `mw.poll`.]], returns = { { "integer", "" } }, since = "0.1.0" },
    {
      name = "allocations", forms = { "core.allocations()" },
      about = [[Calls of the Lua allocator and of the library's own so far: a test asserts that a launch makes none.]],
      returns = { { "integer", "of Lua", name = "lua" }, { "integer", "of the library", name = "c" } }, since = "0.1.0",
      example = [[
local lua, c = core.allocations()
print(lua > 0, math.type(c)) --> true  integer]],
    },
    { name = "cache_stat", forms = { "core.cache_stat()" }, about = [[The cache's state.]], returns = { { "cache_stats", "see below" } },
      since = "0.1.0", example = [[print(math.type(core.cache_stat().entries)) --> integer]] },
    { name = "cache_clear", forms = { "core.cache_clear()" }, about = [[Removes every entry.]],
      returns = { { "integer?", "entries removed; nil where it cannot" }, { "string?", "why not", name = "reason" } }, since = "0.1.0" },
    { name = "clock", forms = { "core.clock()" }, about = [[A clock that never goes back.]], returns = { { "number", "seconds" } },
      since = "0.1.0", example = [[print(core.clock() <= core.clock()) --> true]] },
    {
      name = "compare", forms = { "core.compare(got, expected, absolute, relative, most)" },
      about = [[Compares two arrays of one type and length, wherever they are; what `mw.check` is made of. An element is right
when |got - expected| <= absolute + relative * |expected|.]],
      params = { { "got", "array", "" }, { "expected", "array", "" }, { "absolute", "number", "" }, { "relative", "number", "" },
                 { "most", "integer", "wrong elements listed" } },
      returns = { { "table", "the count of wrong elements, the first of them by position from 0, and the largest errors" } },
      errors = { "compare: two arrays of one type and length expected" }, since = "0.1.0",
    },
    { name = "compiler", forms = { "core.compiler()" }, about = [[The C++ compiler that the CPU device uses.]],
      returns = { { "string?", [[as in "clang++ 14.0.6"; nil where there is none]] }, { "string?", "what was looked for", name = "reason" } },
      since = "0.1.0" },
    { name = "home", forms = { "core.home()" }, about = [[The folder with lua/, kernels/, experiments/ and plots/.]],
      returns = { { "string", "" } }, since = "0.1.0" },
    { name = "interrupted", forms = { "core.interrupted()" }, about = [[True after Ctrl-C, until it has become an error of the script.]],
      returns = { { "boolean", "" } }, since = "0.1.0", example = [[print(core.interrupted()) --> false]] },
    { name = "last_status", forms = { "core.last_status()" },
      about = [[The kind of the last error that a device call raised: the command line's exit code comes from it.]],
      returns = { { "string", [["ok", "invalid", "no_device", "no_memory", "compile", "unsupported", "fault", "lost", "interrupted", "io" or "driver"]] } },
      since = "0.1.0",
      example = [[
pcall(core.device, "nowhere")
print(core.last_status()) --> no_device]] },
    { name = "live", forms = { "core.live()" }, about = [[How many objects of each class are open: a test that leaves one open fails.]],
      returns = { { "table<moonwarp.class, integer>", "" } }, since = "0.1.0", example = [[print(core.live().graph) --> 0]] },
  },
}
