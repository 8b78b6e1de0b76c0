-- SPDX-License-Identifier: MIT
--
-- A random kernel's tree (cuda.lua) as host C++: a loop over the threads for each interval between barriers. Locals
-- that live across barriers are in a struct per thread, made and destroyed in place; control around barriers is taken
-- once, by what all threads must agree about. This has nothing of the CPU device: no shim, no translator.

local cuda = require "tests.generator.cuda"
local model = {}
local put_nodes

model.PRELUDE = [[
#include <cstdio>
#include <cstdlib>
#include <new>
#define __device__
#define __constant__
#define __forceinline__ inline
#define __noinline__
struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static uint3 threadIdx, blockIdx, blockDim, gridDim;
static unsigned lane, threads, gathered[1024];
static bool done[1024];
template <class T> struct Slot {
  alignas(T) char raw[sizeof(T)];
  T &ref() { return *reinterpret_cast<T *>(raw); }
  void end() { ref().~T(); }
};
static bool here() {
  threadIdx.x = lane % blockDim.x;
  threadIdx.y = lane / blockDim.x;
  return !done[lane];
}
#define EACH for (lane = 0; lane < threads; lane++) if (here())
// All threads of a block take the same way around a barrier.
static void agree(unsigned &all, bool &first, unsigned mine, const char *kernel) {
  if (!first && all != mine) { fprintf(stderr, "%s: threads disagree around a barrier\n", kernel); exit(3); }
  all = mine, first = false;
}
static unsigned shfl_xor(unsigned by) { return gathered[lane ^ by]; }
static unsigned shfl_down(unsigned by) { return gathered[lane % 32 + by < 32 ? lane + by : lane]; }
static unsigned shfl_up(unsigned by) { return gathered[lane % 32 >= by ? lane - by : lane]; }
static unsigned shfl(unsigned from) { return gathered[lane / 32 * 32 + from]; }
static unsigned ballot(unsigned) {
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; i++) bits |= (gathered[lane / 32 * 32 + i] ? 1u : 0u) << i;
  return bits;
}
static unsigned count(unsigned) {
  unsigned sum = 0;
  for (unsigned i = 0; i < threads; i++) sum += !done[i] && gathered[i];
  return sum;
}
]]

-- ---- a thread loop ------------------------------------------------------------------------------
-- in.visible: what the text of an interval may name. in.open: a thread loop is being written.

local function put(to, format, ...) to.lines[#to.lines + 1] = select("#", ...) > 0 and format:format(...) or format end

local function open(to)
  if to.open then return end
  put(to, "EACH { auto &L = th[lane];")
  for _, local_ in ipairs(to.visible) do put(to, local_.bind) end
  to.open = true
end

local function close(to)
  if to.open then put(to, "}") end
  to.open = false
end

local function slot(to, type)
  to.slots = to.slots + 1
  local name = ("s%d_"):format(to.slots)
  to.fields[#to.fields + 1] = ("Slot<%s> %s;"):format(type, name)
  return name
end

local function see(to, bind, destroy)
  to.visible[#to.visible + 1] = { bind = bind, destroy = destroy }
end

local function destroy(to, from)
  for i = #to.visible, from, -1 do
    if to.visible[i].destroy then
      open(to)
      put(to, to.visible[i].destroy)
    end
  end
end

local function end_scope(to, from)
  destroy(to, from)
  for i = #to.visible, from, -1 do to.visible[i] = nil end
end

-- Something of which every thread has the same, in a variable of its own.
local function agreed(to, expression, kind)
  close(to)
  to.slots = to.slots + 1
  local name = ("c%d_"):format(to.slots)
  to.heads[#to.heads + 1] = ("unsigned %s; bool f%s;"):format(name, name)
  put(to, "%s = 0; f%s = true;", name, name)
  open(to)
  put(to, kind == "switch" and "unsigned mine = %s; agree(%s, f%s, mine, %q);" or
    "bool mine = (%s) ? true : false; agree(%s, f%s, mine, %q);", expression, name, name, to.name)
  close(to)
  return name
end

-- ---- nodes --------------------------------------------------------------------------------------

local PUT = {}

local function initialised(init, form)
  return form == "=" and not init:find "^{" and "(" .. init .. ")" or init
end

function PUT.text(to, node)
  open(to)
  put(to, node.text)
end

local function declare(to, name, node)
  local type = node.type
  open(to)
  if node.again then
    put(to, node.again .. ";")
    return see(to, node.again .. ";")
  end
  if node.reference then
    local place = slot(to, type .. " *")
    put(to, "{ %s &q_ = %s; L.%s.ref() = &q_; }", type, node.init, place)
    local bind = ("auto &%s = *L.%s.ref();"):format(name, place)
    put(to, bind)
    return see(to, bind)
  end
  local count = node.elements and #node.elements or node.count
  local place = slot(to, count and ("%s[%d]"):format(type, count) or type)
  for i = 1, count or 1 do
    put(to, "new (L.%s.raw%s) %s%s;", place, count and (" + %d * sizeof(%s)"):format(i - 1, type) or "", type,
      node.elements and initialised(node.elements[i], "=") or node.count and "" or initialised(node.init, node.form))
  end
  local bind = ("auto &%s = L.%s.ref();"):format(name, place)
  put(to, bind)
  see(to, bind, node.destroys and ("L.%s.end();"):format(place))
end

function PUT.declare(to, node) declare(to, node.name, node) end

PUT["class"] = function(to, node) to.fronts[#to.fronts + 1] = node.text end

function PUT.shared(to, node)
  if to.shared[node.name] then return end
  to.shared[node.name] = true
  to.fronts[#to.fronts + 1] = ("static %s %s%s;"):format(node.type, node.name,
    node.count and ("[%d]"):format(node.count) or "")
end

function PUT.barrier(to) close(to) end

local function scoped(to, nodes)
  local from = #to.visible + 1
  put_nodes(to, nodes)
  end_scope(to, from)
end

function PUT.block(to, node)
  if node.group then return put_nodes(to, node.nodes) end
  scoped(to, node.nodes)
end

local function label(to)
  to.slots = to.slots + 1
  return ("l%d_"):format(to.slots)
end

function PUT.loop(to, node)
  local from = #to.visible + 1
  for _, declared in ipairs(node.before or { node.declare }) do declare(to, declared.name, declared) end
  local tests_last = node.form == "do" or node.form == "goto"
  local ending, next = label(to), label(to)
  local outer = to.loop
  to.loop = { ending = ending, next = next, visible = #to.visible + 1 }
  close(to)
  put(to, "for (;;) {")
  if not tests_last then put(to, "if (!%s) goto %s;", agreed(to, node.condition), ending) end
  local inner = #to.visible + 1
  for _, declared in ipairs(node.first or {}) do declare(to, declared.name, declared) end
  put_nodes(to, node.nodes)
  end_scope(to, inner)
  close(to)
  put(to, "%s: ;", next)
  if node.step and node.step ~= "" then PUT.text(to, { text = node.step .. ";" }) end
  close(to)
  if tests_last then put(to, "if (!%s) goto %s;", agreed(to, node.condition), ending) end
  put(to, "}\n%s: ;", ending)
  to.loop = outer
  end_scope(to, from)
end

function PUT.jump(to, node)
  put(to, "if (%s) {", agreed(to, node.condition))
  destroy(to, to.loop.visible)
  close(to)
  put(to, "goto %s; }", node.what == "break" and to.loop.ending or to.loop.next)
end

local function braced(to, nodes)
  put(to, "{")
  scoped(to, nodes)
  close(to)
  put(to, "}")
end

function PUT.branch(to, node)
  put(to, "if (%s)", agreed(to, node.condition))
  braced(to, node.yes)
  put(to, "else")
  braced(to, node.no)
end

PUT["switch"] = function(to, node)
  put(to, "switch (%s) {", agreed(to, node.head, "switch"))
  for _, case in ipairs(node.cases) do
    put(to, case.label .. ":")
    braced(to, case.nodes)
    if not case.falls then put(to, "break;") end
  end
  put(to, "}")
end

function PUT.leave(to, node)
  open(to)
  put(to, "if (%s) { %s", node.condition, node.text)
  destroy(to, 1)
  put(to, "done[lane] = true; continue; }")
end

function PUT.call(to, node)
  local caller, callee = to.visible, node.callee
  local seen = {}
  for i, p in ipairs(callee.parameters) do
    open(to)
    local place = slot(to, p.reference and p.type .. " *" or p.type)
    if p.reference then put(to, "L.%s.ref() = &(%s);", place, node.arguments[i])
    else put(to, "new (L.%s.raw) %s(%s);", place, p.type, node.arguments[i]) end
    seen[#seen + 1] = { bind = ("auto &%s = %sL.%s.ref();"):format(p.name, p.reference and "*" or "", place) }
  end
  close(to)
  to.visible = seen
  put_nodes(to, callee.nodes)
  open(to)
  local result = slot(to, "unsigned")
  put(to, "L.%s.ref() = %s;", result, callee.result)
  destroy(to, 1)
  close(to)
  to.visible = caller
  open(to)
  put(to, "%s %s L.%s.ref();", node.target, node.op, result)
end

function PUT.gather(to, node)
  close(to)
  open(to)
  put(to, "gathered[lane] = %s;", node.value)
  close(to)
  open(to)
  put(to, "%s %s %s;", node.target, node.op, node.rule)
  close(to)
end

function put_nodes(to, nodes)
  for _, node in ipairs(nodes) do PUT[node.kind](to, node) end
end

-- ---- a file -------------------------------------------------------------------------------------

function model.print(kernel)
  local to = { name = kernel.name, lines = {}, fronts = {}, fields = {}, heads = {}, shared = {}, slots = 0,
    visible = {} }
  for _, front in ipairs(kernel.fronts) do
    if type(front) == "string" then to.fronts[#to.fronts + 1] = front end
  end
  for parameter in (cuda.PARAMETERS .. ","):gmatch "([^,]+)," do
    local type, name = parameter:match "^%s*(.-)(%w+)$"
    to.heads[#to.heads + 1] = ("%s const a_%s = %s;"):format(type, name, name)
    declare(to, name, { type = type, init = "a_" .. name, form = "=" })
  end
  put_nodes(to, kernel.nodes)
  end_scope(to, 1)
  close(to)
  local name = to.name
  return table.concat({ table.concat(to.fronts, "\n"),
    ("struct Th_%s { %s };\nstatic Th_%s th_%s[128];"):format(name, table.concat(to.fields, " "), name, name),
    ("static void %s(%s) {\nauto &th = th_%s;"):format(name, cuda.PARAMETERS, name),
    table.concat(to.heads, "\n"), table.concat(to.lines, "\n"), "}\n" }, "\n")
end

local MAIN = [[
enum { SIZE = %d };
static unsigned out[SIZE], g[SIZE], h[SIZE], in[SIZE];
static void launch(void (*kernel)(%s), unsigned *second) {
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) {
    for (bool &d : done) d = false;
    kernel(out, g, second, in, 3, 1);
  }
}
static void run(void (*kernel)(%s), unsigned x, unsigned y, unsigned grid) {
  for (unsigned i = 0; i < SIZE; i++)
    out[i] = 0, g[i] = i * 40503u + 7u, h[i] = i * 48271u + 5u, in[i] = i * 2654435769u >> 7;
  blockDim = {x, y, 1}, gridDim = {grid, 1, 1}, threads = x * y;
  launch(kernel, h);
  fwrite(out, sizeof out, 1, stdout), fwrite(g, sizeof g, 1, stdout), fwrite(h, sizeof h, 1, stdout);
  launch(kernel, g);
  fwrite(out, sizeof out, 1, stdout), fwrite(g, sizeof g, 1, stdout);
}
int main() {
%s
}
]]

-- Elements of an array: 192 threads at most, with records of 4.
model.SIZE = 768

-- A program that prints what each kernel leaves in `out`, `g` and `h`; a second time with `g` under both names.
function model.program(kernels)
  local texts, calls = { model.PRELUDE }, {}
  for i, kernel in ipairs(kernels) do
    texts[#texts + 1] = model.print(kernel)
    calls[i] = ("  run(%s, %d, %d, %d);"):format(kernel.name, kernel.block[1], kernel.block[2], kernel.grid)
  end
  texts[#texts + 1] = MAIN:format(model.SIZE, cuda.PARAMETERS, cuda.PARAMETERS, table.concat(calls, "\n"))
  return table.concat(texts)
end

return model
